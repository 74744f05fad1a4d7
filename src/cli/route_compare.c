/* weft route --compare: compares engines on one network, one line for each.
 *
 * The tables of every engine are checked, and their quality is measured (routing/check/quality.h).
 * For an engine that refuses, the line has the reason. */
#include "cli/command.h"
#include "cli/routing.h"
#include "experiment/chart/chart.h"
#include "routing/check/quality.h"
#include "routing/files/lfts.h"
#include "routing/search/roots.h"
#include "routing/search/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* One engine's line. */
struct compared {
    const char *name;
    bool refused, given; /* given: the tables are from a file */
    int rc;
    struct route_cost cost;
    struct route_entries entries;
    struct verify_report report;
    struct quality quality;
    unsigned vls;
    uint64_t table_bytes, digest; /* of the tables and SLs */
    uint64_t down_up; /* with --root; and the share of the load that the links of the roots have */
    double root_load;
    char note[sizeof((struct routes *)0)->note];
    char reason[sizeof((struct err *)0)->message];
};

struct engine_comparison {
    const struct network *network;
    const struct engine_options *options;
    const struct compare_options *wanted;
    VEC(struct compared) lines;
};

/* FNV-1a over tables and SLs. */
static uint64_t digest_of(const struct routes *routes)
{
    size_t bytes = (size_t)routes->switch_count * routes->stride;
    uint64_t digest = bytes;
    for (size_t i = 0; i < bytes; i++)
        digest = (digest ^ routes->ports[i]) * UINT64_C(0x100000001B3);
    for (size_t i = 0; routes->service_levels && i < bytes; i++)
        digest = (digest ^ routes->service_levels[i]) * UINT64_C(0x100000001B3);
    return digest;
}

static void measure_quality(const struct engine_comparison *comparison, const struct routes *routes,
                            struct compared *line)
{
    uint32_t *order = tree_shift_order(comparison->network);
    struct quality_options options = {
        .seed = comparison->wanted->seed,
        .pairings = (uint32_t)comparison->wanted->samples,
        .shifts = (uint32_t)comparison->wanted->samples,
        .order = order,
        .workers = comparison->options->workers,
    };
    line->vls = line->report.vls;
    line->entries = route_count_entries(comparison->network, routes);
    memcpy(line->note, routes->note, sizeof line->note);
    line->table_bytes = (uint64_t)routes->switch_count * routes->stride;
    line->digest = digest_of(routes);
    quality_measure(comparison->network, routes, &options, &line->quality);
    mem_free(order);
}

/* Down-up transitions, and the load of the roots. */
static void measure_roots(const struct engine_comparison *comparison, const struct routes *routes,
                          struct compared *line)
{
    const struct network *network = comparison->network;
    struct verify_report report;
    struct roots roots;
    struct err unfit;
    uint64_t load = 0;
    if (roots_choose(&roots, network, comparison->options, ROOT_MANAGER, &unfit) == 0) {
        struct verify_options options = {.roots = roots.switches.items,
                                         .root_count = roots.switches.count};
        verify_routes(network, routes, &options, &report);
        for (uint32_t at = 0; at < network->switches.count; at++)
            for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
                const struct network_edge *edge = &network->edges[e];
                bool at_root = false;
                for (size_t i = 0; i < roots.switches.count; i++)
                    at_root |= roots.switches.items[i] == at || roots.switches.items[i] == edge->to;
                if (at_root)
                    load += report.load[network->switches.items[at].first_port + edge->port];
            }
        line->down_up = report.down_up;
        line->root_load = route_ratio(load, report.load_sum);
        verify_report_release(&report);
    }
    roots_release(&roots);
}

static void compare_engine(struct engine_comparison *comparison, const struct engine *engine)
{
    struct engine_list alone = {.count = 1, .items = {engine}};
    struct compared line = {.name = engine->name, .cost.repeat = comparison->wanted->repeat};
    struct routes routes = {0};
    struct err err = {0};
    line.rc = route_compute(&alone, comparison->network, comparison->options, &routes, NULL,
                            &line.cost, &line.report, &err);
    line.refused = line.rc != 0;
    if (line.refused)
        memcpy(line.reason, err.message, sizeof line.reason);
    else
        measure_quality(comparison, &routes, &line);
    if (!line.refused && comparison->options->root != ROOT_DEFAULT)
        measure_roots(comparison, &routes, &line);
    routes_release(&routes);
    vec_push(&comparison->lines, line);
}

static int compare_file(struct engine_comparison *comparison, struct err *err)
{
    struct compared line = {.name = "lfts", .given = true};
    struct routes routes;
    int status = lfts_read(&routes, comparison->network, from_file(comparison->wanted->lfts, err));
    if (status)
        return status;
    route_verify(comparison->network, &routes, comparison->options->workers, &line.cost,
                 &line.report);
    measure_quality(comparison, &routes, &line);
    snprintf(line.note, sizeof line.note, "%s", comparison->wanted->lfts);
    routes_release(&routes);
    vec_push(&comparison->lines, line);
    return 0;
}

static void put_compared(struct json *json, const struct engine_comparison *comparison,
                         const struct compared *line)
{
    const struct quality *quality = &line->quality;
    json_begin_object(json, NULL);
    json_string(json, "engine", line->name);
    json_bool(json, "refused", line->refused);
    if (line->refused) {
        json_string(json, "reason", line->reason);
        json_end_object(json);
        return;
    }
    if (!line->given) {
        json_double(json, "compute_s", line->cost.seconds);
        json_unsigned(json, "peak_bytes", line->cost.peak_bytes);
    }
    json_double(json, "verify_s", line->cost.verify_seconds);
    json_bool(json, "verified", verify_passes(&line->report));
    json_unsigned(json, "vls", line->vls);
    json_double(json, "hops_mean", route_ratio(quality->hops_sum, quality->pairs));
    json_unsigned(json, "hops_max", line->report.hops_max);
    json_double(json, "hops_over_mean",
                route_ratio(quality->hops_sum - quality->hops_least_sum, quality->pairs));
    json_unsigned(json, "hops_over_max", quality->hops_over_max);
    json_unsigned(json, "link_load_max", line->report.load_max);
    json_double(json, "link_load_mean", route_ratio(line->report.load_sum, line->report.channels));
    json_double(json, "ebb_mean", quality->bandwidth_mean);
    json_double(json, "ebb_p5", quality->bandwidth_low);
    json_unsigned(json, "shifts", quality->shifts);
    json_unsigned(json, "shift_load_max", quality->shift_load_max);
    json_double(json, "shift_load_mean", quality->shift_load_mean);
    json_unsigned(json, "entries", line->entries.all);
    json_unsigned(json, "explicit_entries", line->entries.explicit);
    json_unsigned(json, "table_bytes", line->table_bytes);
    if (comparison->options->root != ROOT_DEFAULT) {
        json_unsigned(json, "down_up_transitions", line->down_up);
        json_double(json, "root_load_share", line->root_load);
    }
    json_stringf(json, "digest", "%016" PRIx64, line->digest);
    json_string(json, "note", line->note);
    json_end_object(json);
}

static void print_comparison_json(const struct engine_comparison *comparison)
{
    struct text text = {0};
    struct json json = {.out = &text, .pretty = true};
    json_begin_object(&json, NULL);
    json_unsigned(&json, "switches", comparison->network->switches.count);
    json_unsigned(&json, "terminals", comparison->network->terminals.count);
    json_unsigned(&json, "threads", workers_count(comparison->options->workers));
    json_unsigned(&json, "seed", comparison->wanted->seed);
    json_unsigned(&json, "pairings", comparison->wanted->samples);
    json_begin_array(&json, "engines");
    for (size_t i = 0; i < comparison->lines.count; i++)
        put_compared(&json, comparison, &comparison->lines.items[i]);
    json_end_array(&json);
    json_end_object(&json);
    command_print(&text);
}

static void print_compared(const struct compared *line)
{
    const struct quality *quality = &line->quality;
    if (line->refused) {
        printf("%-9s refused: %s\n", line->name, line->reason);
        return;
    }
    if (line->given)
        printf("%-9s %9s %9.1f %7s", line->name, "-", line->cost.verify_seconds * 1e3, "-");
    else
        printf("%-9s %9.1f %9.1f %7.1f", line->name, line->cost.seconds * 1e3,
               line->cost.verify_seconds * 1e3, (double)line->cost.peak_bytes / 1048576);
    printf(" %3u %6.2f %3" PRIu64 " %5.2f %3u %9" PRIu64 " %9.1f %5.3f %5.3f %4u %6.1f %9" PRIu64
           "  %s%s%s\n",
           line->vls, route_ratio(quality->hops_sum, quality->pairs), line->report.hops_max,
           route_ratio(quality->hops_sum - quality->hops_least_sum, quality->pairs),
           quality->hops_over_max, line->report.load_max,
           route_ratio(line->report.load_sum, line->report.channels), quality->bandwidth_mean,
           quality->bandwidth_low, quality->shift_load_max, quality->shift_load_mean,
           line->entries.all, verify_passes(&line->report) ? "" : "DOES NOT HOLD",
           verify_passes(&line->report) || !line->note[0] ? "" : "; ", line->note);
}

static void print_comparison(const struct engine_comparison *comparison)
{
    printf("%zu switches, %zu adapter ports; %" PRIu64 " random pairings, seed %" PRIu64 "\n\n",
           comparison->network->switches.count, comparison->network->terminals.count,
           comparison->wanted->samples, comparison->wanted->seed);
    printf("%-9s %9s %9s %7s %3s %10s %9s %19s %11s %11s %9s\n", "", "tables", "check", "memory",
           "", "hops", "over min.", "link load", "bandwidth", "shifts", "");
    printf("%-9s %9s %9s %7s %3s %6s %3s %5s %3s %9s %9s %5s %5s %4s %6s %9s\n", "engine", "ms",
           "ms", "MiB", "VLs", "mean", "max", "mean", "max", "max", "mean", "mean", "5%", "max",
           "mean", "entries");
    for (size_t i = 0; i < comparison->lines.count; i++)
        print_compared(&comparison->lines.items[i]);
}

/* Three bar charts with a bar for each engine. */
static int write_plot(const struct engine_comparison *comparison, struct err *err)
{
    static const struct {
        const char *label, *unit;
    } panels[] = {{"time of the tables", "s"},
                  {"largest link load (pairs)", ""},
                  {"effective bisection bandwidth", ""}};
    enum { PANELS = sizeof panels / sizeof *panels };
    struct chart charts[PANELS];
    for (int p = 0; p < PANELS; p++) {
        chart_init(&charts[p]);
        chart_set_axis(&charts[p], &charts[p].x, "", "");
        chart_set_axis(&charts[p], &charts[p].y, panels[p].label, panels[p].unit);
        size_t group = chart_add_group(&charts[p], panels[p].label, CHART_BARS);
        for (size_t i = 0; i < comparison->lines.count; i++) {
            const struct compared *line = &comparison->lines.items[i];
            const double values[PANELS] = {line->cost.seconds, (double)line->report.load_max,
                                           line->quality.bandwidth_mean};
            if (!line->refused)
                chart_add_point(&charts[p], group,
                                (double)chart_add_category(&charts[p], line->name), values[p]);
        }
    }
    struct arena arena = {0};
    struct chart_plot plot = {.path = comparison->wanted->plot,
                              .experiments = command_find_experiments(&arena)};
    int status = chart_draw(charts, PANELS, &plot, err);
    arena_release(&arena);
    for (int p = 0; p < PANELS; p++)
        chart_release(&charts[p]);
    return status;
}

int route_compare(const struct engine_list *engines, const struct network *network,
                  const struct engine_options *options, const struct compare_options *wanted,
                  struct err *err)
{
    struct engine_comparison comparison = {
        .network = network, .options = options, .wanted = wanted};
    int status = 0;
    for (size_t i = 0; i < engines->count; i++)
        compare_engine(&comparison, engines->items[i]);
    for (size_t i = 0; i < comparison.lines.count && status == 0; i++) {
        const struct compared *line = &comparison.lines.items[i];
        if (line->rc &&
            !engine_refused(line->rc)) /* an error in the input, such as unknown roots */
            status = err_set(err, -line->rc, "%s", line->reason);
    }
    if (status == 0 && wanted->lfts)
        status = compare_file(&comparison, err);
    if (status == 0 && wanted->plot)
        status = write_plot(&comparison, err);
    if (status == 0 && wanted->json)
        print_comparison_json(&comparison);
    else if (status == 0)
        print_comparison(&comparison);
    for (size_t i = 0; i < comparison.lines.count; i++)
        verify_report_release(&comparison.lines.items[i].report);
    vec_release(&comparison.lines);
    return status;
}
