/* Computes tables and measures the cost. */
#include "cli/route.h"

#include "cli/command.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of a line of /proc/self/status in bytes; 0: no such line. */
static uint64_t memory_status(const char *key)
{
    char line[128];
    uint64_t bytes = 0;
    FILE *file = fopen("/proc/self/status", "re");
    if (!file)
        return 0;
    while (!bytes && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            bytes = strtoull(line + strlen(key), NULL, 10) * 1024;
    fclose(file);
    return bytes;
}

/* Resets the kernel's peak of the resident memory, after freed memory was returned. */
static void reset_memory_peak(void)
{
    malloc_trim(0);
    FILE *file = fopen("/proc/self/clear_refs", "we");
    if (!file)
        return;
    fputs("5", file);
    fclose(file);
}

void route_verify(const struct network *network, const struct routes *routes,
                  const struct workers *workers, struct route_cost *cost,
                  struct verify_report *report)
{
    struct verify_options options = {.workers = workers, .reversible = routes->reversible};
    double start = clock_seconds();
    verify_routes(network, routes, &options, report);
    cost->verify_seconds = clock_seconds() - start;
}

/* Repeats the computation to find its best time. */
static void repeat_tables(const struct engine_list *engines, const struct network *network,
                          const struct engine_options *options, struct route_cost *cost)
{
    for (uint64_t i = 1; i < cost->repeat; i++) {
        struct routes routes;
        struct err ignored;
        double start = clock_seconds();
        int rc = engine_list_compute(engines, network, options, &routes, NULL, &ignored);
        double seconds = clock_seconds() - start;
        if (!rc && seconds < cost->seconds)
            cost->seconds = seconds;
        routes_release(&routes);
    }
}

static void repeat_check(const struct network *network, const struct routes *routes,
                         const struct workers *workers, struct route_cost *cost)
{
    for (uint64_t i = 1; i < cost->repeat; i++) {
        struct route_cost again = {0};
        struct verify_report report;
        route_verify(network, routes, workers, &again, &report);
        if (again.verify_seconds < cost->verify_seconds)
            cost->verify_seconds = again.verify_seconds;
        verify_report_release(&report);
    }
}

int route_compute(const struct engine_list *engines, const struct network *network,
                  const struct engine_options *options, struct routes *routes,
                  const struct engine **chosen, struct route_cost *cost,
                  struct verify_report *report, struct err *err)
{
    struct engine_options wanted = *options;
    wanted.caller_verifies = true;
    *report = (struct verify_report){0};
    *cost = (struct route_cost){.repeat = cost->repeat};
    reset_memory_peak();
    uint64_t before = memory_status("VmRSS:");
    double start = clock_seconds();
    int rc = engine_list_compute(engines, network, &wanted, routes, chosen, err);
    cost->seconds = clock_seconds() - start;
    uint64_t peak = memory_status("VmHWM:");
    cost->peak_bytes = peak > before ? peak - before : 0;
    if (rc)
        return rc;
    route_verify(network, routes, options->workers, cost, report);
    rc = engine_judge(report, options, routes, err);
    if (!rc) {
        repeat_tables(engines, network, &wanted, cost);
        repeat_check(network, routes, options->workers, cost);
        return 0;
    }
    if (engines->count > 1) { /* the note has the engines that refused before */
        struct err last = *err;
        err_set(err, -rc, "%.200s, refused: %.400s", routes->note, last.message);
    }
    routes_release(routes);
    return rc;
}

struct route_entries route_count_entries(const struct network *network, const struct routes *routes)
{
    struct route_entries entries = {0};
    for (uint32_t at = 0; at < routes->switch_count; at++) {
        entries.defaults += routes->default_ports && routes->default_ports[at] != PORT_NONE;
        for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
            entries.all += routes_port(routes, at, lid) != PORT_NONE;
            entries.explicit += routes_is_explicit(routes, at, lid);
        }
    }
    return entries;
}

double route_ratio(uint64_t sum, uint64_t count)
{
    return count ? (double)sum / (double)count : 0;
}

int route_exit_status(int rc)
{
    return engine_refused(rc) ? EXIT_FAILS : EXIT_USAGE;
}
