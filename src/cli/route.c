/* weft route: computes forwarding tables and measures their quality.
 *
 * Time and memory are those of the engine alone. All tables are checked before they are written.
 * route_compare.c compares engines. */
#include "cli/route.h"
#include "base/line_reader.h"
#include "base/record.h"
#include "cli/command.h"
#include "cli/routing.h"
#include "cli/workers.h"
#include "experiment/chart/chart_gnuplot.h"
#include "routing/files/lfts.h"
#include "routing/files/path_levels.h"
#include "routing/files/update_plan_text.h"
#include "routing/update/make_plan.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "weft route: compute forwarding tables\n"
    "\n"
    "usage: weft route NET --engine E[,E ...] [option ...]\n"
    "       weft route NET --compare E[,E ...] [option ...]\n"
    "       weft route --engines\n"
    "\n"
    "NET is a dump of ibnetdiscover, iblinkinfo or OpenSM (opensm-subnet.lst), or a\n"
    "net file of ibsim; '-' is standard input. LIDs are those of the file; ports\n"
    "without a LID get the lowest free one, as 'weft sm' assigns them: breadth-first\n"
    "from the switch with the lowest GUID. The manager is at the first node.\n"
    "\n"
    "  --engine E          the engine, or several: the first that does not refuse;\n"
    "                      --engines lists them\n"
    "  --lfts FILE         write the tables as OpenSM dumps them (opensm-lfts.dump)\n"
    "  --path-sl FILE      write the SLs of paths, as ibdmchk reads them\n"
    "  --provisional FILE  write the first tables of a hybrid engine\n"
    "  --threads N         compute with N threads; the tables are the same for any N\n"
    "  --root R            up*-down* roots, and the top of ftree: GUIDs\n"
    "                      (0x...,0x...), manager, centre or detect\n"
    "  --lmc N             give every adapter port 2^N LIDs, new ones (dr and\n"
    "                      pira+dr: default 2)\n"
    "  --max-vls N         VLs that engines may use (default 8)\n"
    "  --first FILE        GUIDs of adapter ports that are routed before all others\n"
    "                      (minhop, updn), or numbered without counting the others\n"
    "                      (ftree)\n"
    "  --scatter SEED      order of equal next hops at each switch (sssp, dfsssp,\n"
    "                      nue: of destinations)\n"
    "  --weights FILE      lines \"SWITCH PORT WEIGHT\"; weight 2 gets half the load\n"
    "                      of weight 1\n"
    "  --user-routes FILE  replace table entries by those in FILE: lines \"SWITCH\n"
    "                      DESTINATION PORT\", nodes by GUID, LID or name\n"
    "  --seed-balance      count user routes as load before balancing\n"
    "  --allow-cycles      minhop: accept tables that could deadlock\n"
    "  --reversible        dfsssp, nue: both directions of every pair on one VL, or\n"
    "                      no tables\n"
    "  --from FILE         plan the update from these tables to the new ones\n"
    "  --from-path-sl FILE\n"
    "                      the SLs of the tables of --from (default: SL 0)\n"
    "  --first-path-sl FILE\n"
    "                      let SLs change before the tables, and write these SLs\n"
    "  --order FILE        write the plan, for 'weft verify --transition'\n"
    "  --json              print JSON\n"
    "\n"
    "  --compare E,...     one line for each engine: time, memory, VLs, hops, link\n"
    "                      load, effective bisection bandwidth, contention in shift\n"
    "                      permutations\n"
    "  --lfts FILE         with --compare: also measure these tables, as OpenSM dumps\n"
    "                      them\n"
    "  --samples N         number of random pairings, and of shifts at most (default\n"
    "                      1000)\n"
    "  --seed N            seed of the pairings (default 1)\n"
    "  --plot FILE         also plot the comparison (.svg or .png)\n"
    "  --repeat N          compute and check N times, report the best times (default\n"
    "                      1)\n"
    "\n"
    "Exit status 1: the engine refuses, because its tables would not deliver or could\n"
    "deadlock, or because it does not support the network.\n"
    "\n"
    "examples:\n"
    "  weft route net --engine updn --lfts net.lfts\n"
    "  weft route net --engine ftree,updn\n"
    "  weft route net --compare minhop,updn,ftree --lfts opensm-lfts.dump\n"
    "  weft route net --engine pira+dr --lmc 3 --json\n"
    "  weft route net --engine fera --from pira.lfts --lfts fera.lfts --order plan\n";

struct options {
    const char *engine, *compare, *plot, *lfts, *provisional, *root, *lmc;
    const char *first, *weights, *user, *from, *from_path_sl, *first_path_sl, *order, *path_sl;
    uint64_t threads, scatter, vls, seed, samples, repeat;
    bool seed_balance, allow_cycles, reversible, json, engines;
};

struct result {
    const struct engine *engine; /* that computed the tables */
    const struct network *network;
    unsigned threads;
    struct routes routes;
    struct route_cost cost;
    struct routes provisional; /* of a hybrid */
    struct route_cost provisional_cost;
    struct verify_report report;
    struct update_plan plan; /* with --from */
    struct routes_difference difference;
    bool planned;
};

static void put_result(struct record *record, const struct result *result)
{
    const struct verify_report *report = &result->report;
    const struct network *network = result->network;
    const struct routes *routes = &result->routes;
    const struct update_plan *plan = &result->plan;
    struct route_entries entries = route_count_entries(network, routes);
    assert(result->engine && routes->ports);
    record_begin(record, NULL);
    record_string(record, "engine", "engine        %s", result->engine->name);
    record_text(record, routes->note[0] ? " (%s)\n" : "%s\n", routes->note);
    record_text(record, "network       %zu switches, %zu adapter ports, LIDs up to %u\n",
                network->switches.count, network->terminals.count, network->top_lid);
    put_parts(record, network, report);
    if (result->engine->provisional)
        record_text(record, "provisional   %s, in %.3f ms\n", result->engine->provisional->name,
                    result->provisional_cost.seconds * 1e3);
    record_text(record, "computed      in %.3f ms, %u thread%s, %.1f MiB\n",
                result->cost.seconds * 1e3, result->threads, result->threads == 1 ? "" : "s",
                (double)result->cost.peak_bytes / 1048576);
    record_text(record, "entries       %" PRIu64, entries.all);
    if (routes->default_ports)
        record_text(record, " (%" PRIu64 " explicit, %" PRIu64 " default ports)", entries.explicit,
                    entries.defaults);
    record_number(record, "threads", NULL, result->threads);
    record_real(record, "compute_s", NULL, result->cost.seconds);
    record_real(record, "verify_s", NULL, result->cost.verify_seconds);
    record_number(record, "peak_bytes", NULL, result->cost.peak_bytes);
    record_number(record, "vls", "\nVLs           %llu\n", report->vls);
    if (result->engine->renames)
        record_text(record, "LMC needed    %u\n", routes->lmc_needed);
    record_real(record, "hops_mean", "hops          %.3f on average",
                route_ratio(report->hops_sum, report->pairs));
    record_number(record, "hops_max", ", %llu at most\n", report->hops_max);
    record_number(record, "link_load_max", "link load     %llu pairs at most", report->load_max);
    record_real(record, "link_load_mean", ", %.1f on average\n",
                route_ratio(report->load_sum, report->channels));
    record_number(record, "table_hops_sum", NULL, report->table_hops_sum);
    record_number(record, "switches", NULL, network->switches.count);
    record_number(record, "terminals", NULL, network->terminals.count);
    record_number(record, "top_lid", NULL, network->top_lid);
    record_number(record, "entries", NULL, entries.all);
    if (routes->default_ports) {
        record_number(record, "explicit_entries", NULL, entries.explicit);
        record_number(record, "default_ports", NULL, entries.defaults);
    }
    if (result->engine->renames)
        record_number(record, "lmc_needed", NULL, routes->lmc_needed);
    record_string(record, "note", NULL, routes->note);
    record_flag(record, "verified", NULL, verify_passes(report));
    record_text(record, "verified      %s, in %.3f ms\n", verify_passes(report) ? "yes" : "NO",
                result->cost.verify_seconds * 1e3);
    for (size_t i = 0; i < report->findings.count; i++)
        record_text(record, "              %s\n", report->findings.items[i]);
    if (result->engine->provisional)
        record_real(record, "provisional_compute_s", NULL, result->provisional_cost.seconds);
    if (result->planned) {
        record_number(record, "changed_entries", "update        %llu entries",
                      result->difference.entries);
        record_number(record, "changed_blocks", " in %llu blocks", result->difference.blocks);
        record_number(record, "waves", ": %llu waves", plan->waves.count);
        record_number(record, "drains", ", %llu drains", update_plan_drains(plan));
        record_text(record, "%s\n", plan->stuck_vls ? "; NO safe order unless VLs are held" : "");
        record_number(record, "stuck", NULL, plan->stuck.count);
        record_number(record, "held_lanes", NULL, plan->stuck_vls);
    }
    record_end(record);
}

static int write_lfts(const char *path, const struct routes *routes, const struct network *network,
                      struct err *err)
{
    struct text text = {0};
    if (!path || !routes->ports)
        return 0;
    lfts_write(routes, network, &text);
    return command_write(path, &text, err);
}

static int write_levels(const char *path, const struct routes *routes,
                        const struct network *network, struct err *err)
{
    struct text text = {0};
    if (!path)
        return 0;
    path_levels_write(routes, network, &text);
    return command_write(path, &text, err);
}

static int plan_update(struct result *result, const struct options *options, struct err *err)
{
    struct routes before;
    struct text text = {0};
    if (!options->from)
        return 0;
    int rc = lfts_read(&before, result->network, from_file(options->from, err));
    if (!rc && options->from_path_sl)
        rc = path_levels_read(&before, result->network, from_file(options->from_path_sl, err));
    if (rc) {
        routes_release(&before);
        return rc;
    }
    if (options->first_path_sl) {
        update_plan_make_with_levels(&result->plan, result->network, &before, &result->routes);
    } else {
        update_plan_keep_levels(result->network, &before, &result->routes);
        update_plan_make(&result->plan, result->network, &before, &result->routes);
    }
    if (before.service_levels) { /* the plan may have changed the new SLs */
        verify_report_release(&result->report);
        verify_routes(result->network, &result->routes,
                      &(struct verify_options){.reversible = result->routes.reversible},
                      &result->report);
    }
    result->difference = routes_compare(&before, &result->routes);
    result->planned = true;
    if (options->order) {
        update_plan_write(&result->plan, result->network, &text);
        rc = command_write(options->order, &text, err);
    }
    if (result->plan.first_levels) {
        mem_free(before.service_levels);
        before.service_levels = result->plan.first_levels;
        result->plan.first_levels = NULL;
    }
    if (!rc)
        rc = write_levels(options->first_path_sl, &before, result->network, err);
    routes_release(&before);
    return rc;
}

static int route(const struct network *network, const struct engine_list *engines,
                 const struct engine_options *wanted, const struct options *options)
{
    struct result result = {.network = network,
                            .threads = workers_count(wanted->workers),
                            .cost.repeat = options->repeat};
    const struct engine_list provisional = {.count = 1, .items = {engines->items[0]->provisional}};
    struct verify_report ignored = {0};
    struct text text = {0};
    struct err err;
    int rc = 0, status = EXIT_HOLDS;
    if (provisional.items[0]) /* the first tables of a hybrid engine */
        rc = route_compute(&provisional, network, wanted, &result.provisional, NULL,
                           &result.provisional_cost, &ignored, &err);
    verify_report_release(&ignored);
    if (!rc)
        rc = route_compute(engines, network, wanted, &result.routes, &result.engine, &result.cost,
                           &result.report, &err);
    if (!rc)
        rc = plan_update(&result, options, &err);
    if (!rc)
        rc = write_lfts(options->provisional, &result.provisional, network, &err);
    if (!rc)
        rc = write_lfts(options->lfts, &result.routes, network, &err);
    if (!rc)
        rc = write_levels(options->path_sl, &result.routes, network, &err);
    if (rc) {
        command_error("route", &err);
        status = route_exit_status(rc);
    } else {
        struct record record = record_to(&text, options->json, true);
        put_result(&record, &result);
        command_print("route", &text);
    }
    verify_report_release(&result.report);
    update_plan_release(&result.plan);
    routes_release(&result.provisional);
    routes_release(&result.routes);
    return status;
}

/* The content of files that options name. */
struct inputs {
    struct root_list roots;
    struct user_routes user;
    struct guid_list first;
    struct port_weights weights;
};

static int read_inputs(const struct options *options, struct inputs *inputs,
                       struct engine_options *wanted)
{
    struct err err;
    if ((options->user && user_routes_read(&inputs->user, from_file(options->user, &err))) ||
        (options->first && guid_list_read(&inputs->first, from_file(options->first, &err))) ||
        (options->weights &&
         port_weights_read(&inputs->weights, from_file(options->weights, &err))))
        return command_error("route", &err);
    wanted->root = inputs->roots.choice;
    wanted->root_guids = inputs->roots.guids.items;
    wanted->root_count = inputs->roots.guids.count;
    wanted->user = &inputs->user;
    wanted->first = options->first ? &inputs->first : NULL;
    wanted->weights = options->weights ? &inputs->weights : NULL;
    return EXIT_HOLDS;
}

/* Rejects invalid combinations. */
static int check_options(const struct options *options, struct engine_list *engines,
                         struct root_list *roots)
{
    struct err err;
    enum chart_format format;
    const char *names = options->compare ? options->compare : options->engine;
    if (options->compare && options->engine)
        return command_usage("route", "--engine and --compare: expected one of them");
    if (!names)
        return command_usage("route", "expected an engine, --engine E; --engines lists them");
    if (engine_list_parse(engines, names, &err))
        return command_usage("route", "%s; --engines lists them", err.message);
    if ((options->order || options->from_path_sl || options->first_path_sl) && !options->from)
        return command_usage("route", "%s needs --from, the present tables",
                             options->order          ? "--order"
                             : options->from_path_sl ? "--from-path-sl"
                                                     : "--first-path-sl");
    if (options->plot && !options->compare)
        return command_usage("route", "--plot needs --compare");
    if (options->plot && !chart_format_of(options->plot, &format))
        return command_usage("route", "--plot %s: expected a name that ends in .svg or .png",
                             options->plot);
    if (!root_list_parse(roots, options->root))
        return command_usage("route", "--root %s: expected GUIDs, manager, centre or detect",
                             options->root);
    return EXIT_HOLDS;
}

static int route_file(const char *net, const struct options *options)
{
    struct engine_options wanted = {.seed_balance = options->seed_balance,
                                    .allow_cycles = options->allow_cycles,
                                    .reversible = options->reversible,
                                    .scatter = options->scatter,
                                    .max_vls = (unsigned)options->vls};
    struct compare_options compare = {.lfts = options->lfts,
                                      .plot = options->plot,
                                      .json = options->json,
                                      .seed = options->seed,
                                      .samples = options->samples,
                                      .repeat = options->repeat};
    struct engine_list engines = {0};
    struct inputs inputs = {0};
    struct network network;
    bool renames = false;
    network_init(&network);
    int status = check_options(options, &engines, &inputs.roots);
    if (status == EXIT_HOLDS)
        status = read_inputs(options, &inputs, &wanted);
    for (size_t i = 0; status == EXIT_HOLDS && i < engines.count; i++)
        renames |= engines.items[i]->renames;
    if (status == EXIT_HOLDS)
        status = load_network("route", net, options->lmc, renames, NULL, &network);
    struct err err;
    if (status == EXIT_HOLDS && user_routes_check(&inputs.user, &network, options->user, &err))
        status = command_error("route", &err);
    if (status == EXIT_HOLDS) {
        struct workers workers = workers_of_threads((unsigned)options->threads);
        wanted.workers = &workers;
        status = options->compare ? route_compare(&engines, &network, &wanted, &compare)
                                  : route(&network, &engines, &wanted, options);
    }
    vec_release(&inputs.roots.guids);
    user_routes_release(&inputs.user);
    guid_list_release(&inputs.first);
    port_weights_release(&inputs.weights);
    network_release(&network);
    return status;
}

static int run_route(int argc, char **argv)
{
    struct options options = {.threads = 1, .seed = 1, .samples = 1000, .repeat = 1};
    const struct option_spec specs[] = {
        {.name = "engine", .value = &options.engine},
        {.name = "compare", .value = &options.compare},
        {.name = "plot", .value = &options.plot},
        {.name = "seed", .number = &options.seed},
        {.name = "samples", .number = &options.samples, .low = 1, .high = 1000000},
        {.name = "repeat", .number = &options.repeat, .low = 1, .high = 1000000},
        {.name = "lfts", .value = &options.lfts},
        {.name = "provisional", .value = &options.provisional},
        {.name = "threads", .number = &options.threads, .low = 1, .high = WORKERS_LIMIT},
        {.name = "root", .value = &options.root},
        {.name = "lmc", .value = &options.lmc},
        {.name = "first", .value = &options.first},
        {.name = "scatter", .number = &options.scatter},
        {.name = "weights", .value = &options.weights},
        {.name = "max-vls", .number = &options.vls, .low = 1, .high = VL_MAP_DISCARD},
        {.name = "user-routes", .value = &options.user},
        {.name = "from", .value = &options.from},
        {.name = "from-path-sl", .value = &options.from_path_sl},
        {.name = "first-path-sl", .value = &options.first_path_sl},
        {.name = "path-sl", .value = &options.path_sl},
        {.name = "order", .value = &options.order},
        {.name = "seed-balance", .flag = &options.seed_balance},
        {.name = "allow-cycles", .flag = &options.allow_cycles},
        {.name = "reversible", .flag = &options.reversible},
        {.name = "json", .flag = &options.json},
        {.name = "engines", .flag = &options.engines},
        {0},
    };
    argc = command_options("route", argc, argv, specs);
    if (argc < 0)
        return EXIT_USAGE;
    if (options.engines) {
        print_engines(stdout, 0);
        return EXIT_HOLDS;
    }
    if (argc != 2)
        return command_usage("route", "expected one net file");
    return route_file(argv[1], &options);
}

const struct command command_route = {
    .name = "route",
    .summary = "compute forwarding tables and measure their quality",
    .help = help,
    .run = run_route,
};
