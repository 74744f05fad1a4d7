/* weft route: computes forwarding tables for a fabric and says how good they are.
 *
 * Time and memory are those of the engine alone; quality comes from the independent checker, which
 * runs afterwards, so every set of tables that this command writes has been verified. */
#include "cli/command.h"

#include "cli/routing.h"
#include "cli/workers.h"
#include "routing/engine.h"
#include "routing/lfts.h"
#include "routing/order.h"
#include "routing/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "weft route: compute forwarding tables\n"
    "\n"
    "usage: weft route NET --engine E [option ...]\n"
    "       weft route --engines\n"
    "\n"
    "NET is the output of ibnetdiscover or a net file of ibsim; '-' is standard input. LIDs are "
    "those\n"
    "of the file; ports without one get the next free, breadth first from the first node, where "
    "the\n"
    "manager sits.\n"
    "\n"
    "  --engine E          the engine; --engines lists them\n"
    "  --lfts FILE         write the tables as OpenSM dumps them (opensm-lfts.dump)\n"
    "  --provisional FILE  write the first tables of a hybrid engine\n"
    "  --threads N         compute with N threads; the tables are the same for any N\n"
    "  --root R            up*-down* roots: GUIDs (0x...,0x...), manager, centre or detect\n"
    "  --lmc N             give every adapter port 2^N LIDs, new ones (dr and pira+dr: default 2)\n"
    "  --user-routes FILE  lay entries \"SWITCH LID PORT\" over the tables\n"
    "  --seed-balance      and count them as load before the engine spreads its own\n"
    "  --allow-cycles      minhop: accept tables that could deadlock\n"
    "  --from FILE         plan the update from these tables to the new ones\n"
    "  --order FILE        and write the plan, for 'weft verify --transition'\n"
    "  --json              for programs\n"
    "\n"
    "Exit status 1: the engine refuses, because its tables would not deliver or could deadlock.\n"
    "\n"
    "examples:\n"
    "  weft route net --engine updn --lfts net.lfts\n"
    "  weft route net --engine pira+dr --lmc 3 --json\n"
    "  weft route net --engine fera --from pira.lfts --lfts fera.lfts --order plan\n";

struct options {
    const char *engine, *lfts, *provisional, *threads, *root, *lmc, *user, *from, *order;
    bool seed_balance, allow_cycles, json, engines;
};

/* What one computation cost. */
struct cost {
    double seconds;
    uint64_t peak_bytes;
};

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* A line of /proc/self/status, in bytes; 0 if it is not there. */
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

/* Lets the kernel's peak start again from here. */
static void reset_memory_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "we");
    if (!file)
        return;
    fputs("5", file);
    fclose(file);
}

static int compute(const struct engine *engine, const struct network *network,
                   const struct engine_options *options, struct routes *routes, struct cost *cost,
                   struct err *err)
{
    reset_memory_peak();
    uint64_t before = memory_status("VmRSS:");
    double start = now_seconds();
    int rc = engine->compute(network, options, routes, err);
    cost->seconds = now_seconds() - start;
    uint64_t peak = memory_status("VmHWM:");
    cost->peak_bytes = peak > before ? peak - before : 0;
    return rc;
}

static void count_entries(const struct network *network, const struct routes *routes,
                          uint64_t *entries, uint64_t *explicit_entries, uint64_t *defaults)
{
    *entries = *explicit_entries = *defaults = 0;
    for (uint32_t at = 0; at < routes->switch_count; at++) {
        *defaults += routes->default_ports && routes->default_ports[at] != PORT_NONE;
        for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
            *entries += routes_port(routes, at, lid) != PORT_NONE;
            *explicit_entries += routes_is_explicit(routes, at, lid);
        }
    }
}

static double ratio(uint64_t sum, uint64_t count)
{
    return count ? (double)sum / (double)count : 0;
}

struct result {
    const struct engine *engine;
    const struct network *network;
    unsigned threads;
    struct routes routes;
    struct cost cost;
    struct routes provisional; /* of a hybrid */
    struct cost provisional_cost;
    struct verify_report report;
    struct order_plan plan; /* with --from */
    struct routes_difference difference;
    bool planned;
};

static void print_json(const struct result *result)
{
    struct text text = {0};
    struct json json = {.out = &text, .pretty = true};
    const struct verify_report *report = &result->report;
    uint64_t entries, explicit_entries, defaults;
    count_entries(result->network, &result->routes, &entries, &explicit_entries, &defaults);
    json_begin_object(&json, NULL);
    json_string(&json, "engine", result->engine->name);
    json_unsigned(&json, "threads", result->threads);
    json_double(&json, "compute_s", result->cost.seconds);
    json_unsigned(&json, "peak_bytes", result->cost.peak_bytes);
    json_unsigned(&json, "vls", report->vls);
    json_double(&json, "hops_mean", ratio(report->hops_sum, report->pairs));
    json_unsigned(&json, "hops_max", report->hops_max);
    json_unsigned(&json, "link_load_max", report->load_max);
    json_double(&json, "link_load_mean", ratio(report->load_sum, report->channels));
    json_unsigned(&json, "table_hops_sum", report->table_hops_sum);
    json_unsigned(&json, "switches", result->network->switches.count);
    json_unsigned(&json, "terminals", result->network->terminals.count);
    json_unsigned(&json, "top_lid", result->network->top_lid);
    json_unsigned(&json, "entries", entries);
    if (result->routes.default_ports) {
        json_unsigned(&json, "explicit_entries", explicit_entries);
        json_unsigned(&json, "default_ports", defaults);
    }
    if (result->engine->renames)
        json_unsigned(&json, "lmc_needed", result->routes.lmc_needed);
    json_string(&json, "note", result->routes.note);
    json_bool(&json, "verified", verify_holds(report));
    if (result->engine->provisional)
        json_double(&json, "provisional_compute_s", result->provisional_cost.seconds);
    if (result->planned) {
        json_unsigned(&json, "changed_entries", result->difference.entries);
        json_unsigned(&json, "changed_blocks", result->difference.blocks);
        json_unsigned(&json, "waves", result->plan.waves.count);
        json_unsigned(&json, "drains", order_drains(&result->plan));
        json_unsigned(&json, "stuck", result->plan.stuck.count);
    }
    json_end_object(&json);
    fputs(text.data, stdout);
    text_release(&text);
}

static void print_table(const struct result *result)
{
    const struct verify_report *report = &result->report;
    uint64_t entries, explicit_entries, defaults;
    count_entries(result->network, &result->routes, &entries, &explicit_entries, &defaults);
    printf("engine        %s%s%s%s\n", result->engine->name, result->routes.note[0] ? " (" : "",
           result->routes.note, result->routes.note[0] ? ")" : "");
    printf("network       %zu switches, %zu adapter ports, LIDs up to %u\n",
           result->network->switches.count, result->network->terminals.count,
           result->network->top_lid);
    if (result->engine->provisional)
        printf("provisional   %s, in %.3f ms\n", result->engine->provisional->name,
               result->provisional_cost.seconds * 1e3);
    printf("computed      in %.3f ms, %u thread%s, %.1f MiB\n", result->cost.seconds * 1e3,
           result->threads, result->threads == 1 ? "" : "s",
           (double)result->cost.peak_bytes / 1048576);
    printf("entries       %" PRIu64, entries);
    if (result->routes.default_ports)
        printf(" (%" PRIu64 " explicit, %" PRIu64 " default ports)", explicit_entries, defaults);
    printf("\nlanes         %u\n", report->vls);
    if (result->engine->renames)
        printf("LMC needed    %u\n", result->routes.lmc_needed);
    printf("hops          %.3f on average, %" PRIu64 " at most\n",
           ratio(report->hops_sum, report->pairs), report->hops_max);
    printf("link load     %" PRIu64 " pairs at most, %.1f on average\n", report->load_max,
           ratio(report->load_sum, report->channels));
    printf("verified      %s\n", verify_holds(report) ? "yes" : "NO");
    for (size_t i = 0; i < report->findings.count; i++)
        printf("              %s\n", report->findings.items[i]);
    if (result->planned)
        printf("update        %" PRIu64 " entries in %" PRIu64 " blocks: %zu waves, %u drains%s\n",
               result->difference.entries, result->difference.blocks, result->plan.waves.count,
               order_drains(&result->plan),
               result->plan.stuck.count ? "; NO safe order for some" : "");
}

static int write_text(const char *path, const struct text *text, struct err *err)
{
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (!file)
        return err_at(err, errno, path, 0, "%s", strerror(errno));
    size_t put = text->length ? fwrite(text->data, 1, text->length, file) : 0;
    int code = put != text->length || fflush(file) ? errno : 0;
    if (file != stdout && fclose(file) && !code)
        code = errno;
    return code ? err_at(err, code, path, 0, "%s", strerror(code)) : 0;
}

static int write_lfts(const char *path, const struct routes *routes, const struct network *network,
                      struct err *err)
{
    struct text text = {0};
    if (!path || !routes->ports)
        return 0;
    lfts_write(routes, network, &text);
    int rc = write_text(path, &text, err);
    text_release(&text);
    return rc;
}

static int plan_update(struct result *result, const struct options *options, struct err *err)
{
    struct routes before;
    struct text text = {0};
    if (!options->from)
        return 0;
    int rc = lfts_read(&before, result->network, options->from, err);
    if (rc)
        return rc;
    order_make(&result->plan, result->network, &before, &result->routes);
    result->difference = routes_compare(&before, &result->routes);
    result->planned = true;
    if (options->order) {
        order_write(&result->plan, result->network, &text);
        rc = write_text(options->order, &text, err);
        text_release(&text);
    }
    routes_release(&before);
    return rc;
}

/* Refusals are answers (1), all else is bad input (2). */
static int exit_status(int rc)
{
    return rc == -EDEADLK || rc == -EHOSTUNREACH || rc == -ENETUNREACH || rc == -ENOSPC
               ? EXIT_FAILS
               : EXIT_USAGE;
}

static int compute_all(struct result *result, const struct engine_options *wanted,
                       const struct options *options, struct err *err)
{
    int rc = 0;
    if (result->engine->provisional)
        rc = compute(result->engine->provisional, result->network, wanted, &result->provisional,
                     &result->provisional_cost, err);
    if (!rc)
        rc = compute(result->engine, result->network, wanted, &result->routes, &result->cost, err);
    if (rc)
        return rc;
    struct verify_options check = {.workers = wanted->workers};
    verify_routes(result->network, &result->routes, &check, &result->report);
    rc = plan_update(result, options, err);
    if (!rc)
        rc = write_lfts(options->provisional, &result->provisional, result->network, err);
    if (!rc)
        rc = write_lfts(options->lfts, &result->routes, result->network, err);
    return rc;
}

static int route(const struct network *network, const struct engine *engine,
                 const struct engine_options *wanted, const struct options *options)
{
    struct result result = {
        .engine = engine, .network = network, .threads = workers_count(wanted->workers)};
    struct err err;
    int rc = compute_all(&result, wanted, options, &err);
    int status = EXIT_HOLDS;
    if (rc) {
        command_error("route", &err);
        status = exit_status(rc);
    } else if (options->json) {
        print_json(&result);
    } else {
        print_table(&result);
    }
    verify_report_release(&result.report);
    order_release(&result.plan);
    routes_release(&result.provisional);
    routes_release(&result.routes);
    return status;
}

static int run_with(const char *net, const struct options *options)
{
    const struct engine *engine = options->engine ? engine_find(options->engine) : NULL;
    struct engine_options wanted = {.seed_balance = options->seed_balance,
                                    .allow_cycles = options->allow_cycles};
    struct workers workers;
    struct root_list roots = {0};
    struct user_routes user = {0};
    struct network network;
    struct err err;
    uint64_t threads = 1;
    if (!engine)
        return command_usage("route", "%s%s: expected an engine; --engines lists them", "--engine ",
                             options->engine ? options->engine : "");
    if (options->threads && !parse_unsigned(options->threads, 1, WORKERS_LIMIT, &threads))
        return command_usage("route", "--threads %s: expected 1 to %d", options->threads,
                             WORKERS_LIMIT);
    if (options->order && !options->from)
        return command_usage("route", "--order needs --from: the tables that are in place");
    if (!root_list_parse(&roots, options->root))
        return command_usage("route", "--root %s: expected GUIDs, manager, centre or detect",
                             options->root);
    workers = workers_of_threads((unsigned)threads);
    wanted.workers = &workers;
    wanted.root = roots.choice;
    wanted.root_guids = roots.guids.items;
    wanted.root_count = roots.guids.count;
    int status = load_network("route", net, options->lmc, engine->renames, &network);
    if (status == EXIT_HOLDS && options->user && user_routes_read(&user, options->user, &err))
        status = command_error("route", &err);
    if (status == EXIT_HOLDS) {
        wanted.user = &user;
        status = route(&network, engine, &wanted, options);
    }
    user_routes_release(&user);
    vec_release(&roots.guids);
    network_release(&network);
    return status;
}

static int run_route(int argc, char **argv)
{
    struct options options = {0};
    const struct option_spec specs[] = {
        {.name = "engine", .value = &options.engine},
        {.name = "lfts", .value = &options.lfts},
        {.name = "provisional", .value = &options.provisional},
        {.name = "threads", .value = &options.threads},
        {.name = "root", .value = &options.root},
        {.name = "lmc", .value = &options.lmc},
        {.name = "user-routes", .value = &options.user},
        {.name = "from", .value = &options.from},
        {.name = "order", .value = &options.order},
        {.name = "seed-balance", .flag = &options.seed_balance},
        {.name = "allow-cycles", .flag = &options.allow_cycles},
        {.name = "json", .flag = &options.json},
        {.name = "engines", .flag = &options.engines},
        {0},
    };
    argc = command_options("route", argc, argv, specs);
    if (argc < 0)
        return EXIT_USAGE;
    if (options.engines) {
        for (size_t i = 0; engine_at(i); i++)
            printf("%-10s %s\n", engine_at(i)->name, engine_at(i)->summary);
        return EXIT_HOLDS;
    }
    if (argc != 2)
        return command_usage("route", "expected one net file");
    return run_with(argv[1], &options);
}

const struct command command_route = {
    .name = "route",
    .summary = "compute forwarding tables and say how good they are",
    .help = help,
    .run = run_route,
};
