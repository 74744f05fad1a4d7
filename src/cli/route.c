/* weft route: computes forwarding tables and measures their quality.
 *
 * Time and memory are those of the engine alone. All tables are checked before they are written.
 * route_compare.c compares engines. */
#include "base/line_reader.h"
#include "base/record.h"
#include "cli/command.h"
#include "cli/routing.h"
#include "cli/workers.h"
#include "experiment/chart/chart.h"
#include "routing/files/lfts.h"
#include "routing/files/path_levels.h"
#include "routing/files/update_plan_text.h"
#include "routing/update/make_plan.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct {
    const char *engine, *compare, *published, *plot, *lfts, *provisional, *root, *tree, *lmc;
    const char *first, *weights, *user, *from, *from_path_sl, *first_path_sl, *order, *path_sl;
    uint64_t threads, scatter, father_seed, vls, seed, samples, repeat, moves;
    bool seed_balance, allow_cycles, reversible, disjoint, json, engines, lengths;
} given = {.threads = 1, .seed = 1, .samples = 1000, .repeat = 1};

static const struct option_spec options[] = {
    {"--engine E", "the engine, or several: the first that does not refuse; --engines lists them",
     .value = &given.engine},
    {"--lfts FILE", "write the tables as OpenSM dumps them (opensm-lfts.dump)",
     .value = &given.lfts},
    {"--path-sl FILE", "write the SLs of paths, as ibdmchk reads them", .value = &given.path_sl},
    {"--provisional FILE", "write the first tables of a hybrid engine",
     .value = &given.provisional},
    {"--threads N", "compute with N threads; the tables are the same for any N",
     .number = &given.threads, .low = 1, .high = WORKERS_LIMIT},
    {"--root R",
     "up*-down* roots, and the top of ftree: GUIDs (0x...,0x...), manager, centre or detect",
     .value = &given.root},
    {"--tree W", "graph of up*-down* engines: bfs (the default), dfs, post or mdst",
     .value = &given.tree},
    {"--father-seed N", "pira: random fathers; without it the highest LIDs",
     .number = &given.father_seed},
    {"--lmc N", "give every adapter port 2^N LIDs, new ones (dr and pira+dr: default 2)",
     .value = &given.lmc},
    {"--disjoint", "with --lmc: routes to the LIDs of a port that share the least",
     .flag = &given.disjoint},
    {"--max-vls N", "VLs that engines may use (default 8)", .number = &given.vls, .low = 1,
     .high = VL_MAP_DISCARD},
    {"--first FILE",
     "GUIDs of adapter ports that are routed before all others (minhop, updn), or numbered "
     "without counting the others (ftree)",
     .value = &given.first},
    {"--scatter SEED",
     "order of equal next hops at each switch (sssp, dfsssp, nue: of destinations)",
     .number = &given.scatter},
    {"--weights FILE", "lines \"SWITCH PORT WEIGHT\"; weight 2 gets half the load of weight 1",
     .value = &given.weights},
    {"--user-routes FILE",
     "replace table entries by those in FILE: lines \"SWITCH DESTINATION PORT\", nodes by GUID, "
     "LID or name",
     .value = &given.user},
    {"--seed-balance", "count user routes as load before balancing", .flag = &given.seed_balance},
    {"--allow-cycles", "minhop: accept tables that could deadlock", .flag = &given.allow_cycles},
    {"--reversible", "dfsssp, nue: both directions of every pair on one VL, or no tables",
     .flag = &given.reversible},
    {"--from FILE", "plan the update from these tables to the new ones", .value = &given.from},
    {"--lengths", "with --from: how many paths between adapters get longer or shorter",
     .flag = &given.lengths},
    {"--from-path-sl FILE", "the SLs of the tables of --from (default: SL 0)",
     .value = &given.from_path_sl},
    {"--first-path-sl FILE", "let SLs change before the tables, and write these SLs",
     .value = &given.first_path_sl},
    {"--order FILE", "write the plan, for 'weft verify --transition'", .value = &given.order},
    {"--moves N",
     "also count the blocks that change if virtual machines move with their LIDs: N random pairs "
     "of "
     "adapters, and as many neighbours",
     .number = &given.moves, .low = 1, .high = 1000000},
    {"--json", "print JSON", .flag = &given.json},
    {.usage = "", .help = ""},
    {"--compare E,...",
     "one line for each engine: time, memory, VLs, hops, link load, effective bisection bandwidth, "
     "contention in shift permutations",
     .value = &given.compare},
    {.usage = "--lfts FILE",
     .help = "with --compare: also measure these tables, as OpenSM dumps them"},
    {"--samples N", "number of random pairings, and of shifts at most (default 1000)",
     .number = &given.samples, .low = 1, .high = 1000000},
    {"--seed N", "seed of the pairings, and of --moves (default 1)", .number = &given.seed},
    {"--plot FILE", "also plot the comparison (.svg, .png or .pdf)", .value = &given.plot},
    {"--published E,...",
     "the algorithms as TPDS 2006 describes them, on one or more networks in turn: steps, and the "
     "median CPU time of --repeat runs (engines that it does not have: as fera)",
     .value = &given.published},
    {"--repeat N", "compute and check N times, report the best times (default 1)",
     .number = &given.repeat, .low = 1, .high = 1000000},
    {"--engines", NULL, .flag = &given.engines},
    {0}};

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
    uint64_t longer, shorter; /* paths, than before */
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
        if (given.lengths) {
            record_number(record, "longer_paths", "paths         %llu longer", result->longer);
            record_number(record, "shorter_paths", ", %llu shorter\n", result->shorter);
        }
    }
    if (given.moves)
        route_put_moves(record, network, routes, given.moves, given.seed);
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

/* Links between switches on the path between two adapters. */
static unsigned count_hops(const struct network *network, const struct routes *routes,
                           uint32_t source, uint32_t destination)
{
    struct path path = path_lookup(routes, network, source, destination);
    uint32_t at = network->terminals.items[source].at;
    unsigned hops = 0;
    for (; at != NETWORK_NONE && at != network->terminals.items[destination].at &&
           hops <= network->switches.count;
         hops++)
        at = network_next(network, at, routes_port(routes, at, path.dlid));
    return hops;
}

static void compare_lengths(struct result *result, const struct routes *before)
{
    uint32_t count = (uint32_t)result->network->terminals.count;
    for (uint32_t from = 0; from < count; from++)
        for (uint32_t to = 0; to < count; to++) {
            unsigned old = count_hops(result->network, before, from, to);
            unsigned new = count_hops(result->network, &result->routes, from, to);
            result->longer += new > old;
            result->shorter += new < old;
        }
}

static int plan_update(struct result *result, struct err *err)
{
    struct routes before;
    struct text text = {0};
    if (!given.from)
        return 0;
    int rc = lfts_read(&before, result->network, from_file(given.from, err));
    if (!rc && given.from_path_sl)
        rc = path_levels_read(&before, result->network, from_file(given.from_path_sl, err));
    if (rc) {
        routes_release(&before);
        return rc;
    }
    if (given.first_path_sl) {
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
    if (given.lengths)
        compare_lengths(result, &before);
    if (given.order) {
        update_plan_write(&result->plan, result->network, &text);
        rc = command_write(given.order, &text, err);
    }
    if (result->plan.first_levels) {
        mem_free(before.service_levels);
        before.service_levels = result->plan.first_levels;
        result->plan.first_levels = NULL;
    }
    if (!rc)
        rc = write_levels(given.first_path_sl, &before, result->network, err);
    routes_release(&before);
    return rc;
}

static int route(const struct network *network, const struct engine_list *engines,
                 const struct engine_options *wanted, struct err *err)
{
    struct result result = {
        .network = network, .threads = workers_count(wanted->workers), .cost.repeat = given.repeat};
    const struct engine_list provisional = {.count = 1, .items = {engines->items[0]->provisional}};
    struct verify_report ignored = {0};
    int rc = 0;
    if (provisional.items[0]) /* the first tables of a hybrid engine */
        rc = route_compute(&provisional, network, wanted, &result.provisional, NULL,
                           &result.provisional_cost, &ignored, err);
    verify_report_release(&ignored);
    if (!rc)
        rc = route_compute(engines, network, wanted, &result.routes, &result.engine, &result.cost,
                           &result.report, err);
    if (!rc)
        rc = plan_update(&result, err);
    if (!rc)
        rc = write_lfts(given.provisional, &result.provisional, network, err);
    if (!rc)
        rc = write_lfts(given.lfts, &result.routes, network, err);
    if (!rc)
        rc = write_levels(given.path_sl, &result.routes, network, err);
    if (!rc) {
        struct text text = {0};
        struct record record = record_to(&text, given.json, true);
        put_result(&record, &result);
        rc = command_print(&text);
    }
    verify_report_release(&result.report);
    update_plan_release(&result.plan);
    routes_release(&result.provisional);
    routes_release(&result.routes);
    return rc;
}

/* Rejects invalid combinations. */
static int check_options(struct engine_list *engines, struct root_list *roots)
{
    struct err err;
    const char *names = given.compare ? given.compare : given.engine;
    if (given.compare && given.engine)
        return command_usage("--engine and --compare: expected one of them");
    if (!names)
        return command_usage("expected an engine, --engine E; --engines lists them");
    if (engine_list_parse(engines, names, &err))
        return command_usage("%s; --engines lists them", err.message);
    if ((given.order || given.lengths || given.from_path_sl || given.first_path_sl) && !given.from)
        return command_usage("%s needs --from, the present tables", given.order     ? "--order"
                                                                    : given.lengths ? "--lengths"
                                                                    : given.from_path_sl
                                                                        ? "--from-path-sl"
                                                                        : "--first-path-sl");
    if (given.plot && !given.compare)
        return command_usage("--plot needs --compare");
    if (given.moves && given.compare)
        return command_usage("--moves needs --engine");
    if (given.plot && !chart_format_of(given.plot))
        return command_usage("--plot %s: expected a name that ends in .svg, .png or .pdf",
                             given.plot);
    return root_list_parse(roots, given.root);
}

static int route_file(const char *net, struct err *err)
{
    struct workers workers = workers_of_threads((unsigned)given.threads);
    struct compare_options compare = {given.lfts,    given.plot,   given.seed,
                                      given.samples, given.repeat, given.json};
    struct engine_list engines = {0};
    struct root_list roots = {0};
    struct user_routes user = {0};
    enum updown_tree tree = TREE_BFS;
    struct guid_list first = {0};
    struct port_weights weights = {0};
    struct network network;
    bool renames = false;
    network_init(&network);
    int status = check_options(&engines, &roots);
    if (status == 0)
        status = updown_tree_parse(&tree, given.tree);
    if (status == 0 && given.user)
        status = user_routes_read(&user, from_file(given.user, err));
    if (status == 0 && given.first)
        status = guid_list_read(&first, from_file(given.first, err));
    if (status == 0 && given.weights)
        status = port_weights_read(&weights, from_file(given.weights, err));
    for (size_t i = 0; i < engines.count; i++)
        renames |= engines.items[i]->renames;
    if (status == 0)
        status = load_network(net, given.lmc, renames, NULL, &network, err);
    if (status == 0)
        status = user_routes_check(&user, &network, given.user, err);
    if (status == 0) {
        struct engine_options wanted = {.root = roots.choice,
                                        .root_guids = roots.guids.items,
                                        .root_count = roots.guids.count,
                                        .tree = tree,
                                        .father_seed = given.father_seed,
                                        .user = &user,
                                        .first = given.first ? &first : NULL,
                                        .weights = given.weights ? &weights : NULL,
                                        .seed_balance = given.seed_balance,
                                        .allow_cycles = given.allow_cycles,
                                        .reversible = given.reversible,
                                        .disjoint = given.disjoint,
                                        .scatter = given.scatter,
                                        .max_vls = (unsigned)given.vls,
                                        .workers = &workers};
        status = given.compare ? route_compare(&engines, &network, &wanted, &compare, err)
                               : route(&network, &engines, &wanted, err);
        if (engine_refused(status)) {
            command_error(err);
            status = EXIT_FAILS;
        }
    }
    vec_release(&roots.guids);
    user_routes_release(&user);
    guid_list_release(&first);
    port_weights_release(&weights);
    network_release(&network);
    return status;
}

static int time_files(char **nets, struct err *err)
{
    const struct published_options wanted = {given.lmc, given.repeat, given.json};
    struct engine_list engines = {0};
    struct root_list roots = {0};
    if (given.engine || given.compare || !*nets)
        return command_usage("--published: expected net files, and neither --engine nor --compare");
    if (engine_list_parse(&engines, given.published, err))
        return command_usage("%s; --engines lists them", err->message);
    int status = root_list_parse(&roots, given.root);
    struct engine_options directions = {
        .root = roots.choice, .root_guids = roots.guids.items, .root_count = roots.guids.count};
    if (status == 0)
        status = updown_tree_parse(&directions.tree, given.tree);
    if (status == 0)
        status = route_published(&engines, &directions, &wanted, nets, err);
    vec_release(&roots.guids);
    return status;
}

static int run_route(int argc, char **argv, struct err *err)
{
    if (given.engines) {
        print_engines(stdout, 0);
        return EXIT_HOLDS;
    }
    if (given.published)
        return time_files(argv + 1, err);
    return argc == 2 ? route_file(argv[1], err) : command_usage("expected one net file");
}

const struct command command_route = {
    .name = "route",
    .summary = "compute forwarding tables and measure their quality",
    .usage = "weft route: compute forwarding tables\n"
             "\n"
             "usage: weft route NET --engine E[,E ...] [option ...]\n"
             "       weft route NET --compare E[,E ...] [option ...]\n"
             "       weft route NET ... --published E[,E ...] [option ...]\n"
             "       weft route --engines\n"
             "\n"
             "NET is a dump of ibnetdiscover, iblinkinfo or OpenSM (opensm-subnet.lst), or a\n"
             "net file of ibsim; '-' is standard input. LIDs are those of the file; ports\n"
             "without a LID get the lowest free one, as 'weft sm' assigns them: breadth-first\n"
             "from the switch with the lowest GUID. The manager is at the first node.\n"
             "\n",
    .column = 22,
    .options = options,
    .more = "\n"
            "Exit status 1: the engine refuses, because its tables would not deliver or could\n"
            "deadlock, or because it does not support the network.\n"
            "\n"
            "examples:\n"
            "  weft route net --engine updn --lfts net.lfts\n"
            "  weft route net --engine ftree,updn\n"
            "  weft route net --compare minhop,updn,ftree --lfts opensm-lfts.dump\n"
            "  weft route net --engine pira+dr --lmc 3 --json\n"
            "  weft route net --engine fera --from pira.lfts --lfts fera.lfts --order plan\n",
    .run = run_route,
};
