/* weft verify: checks forwarding tables, or the update from one set to another. */
#include "routing/check/verify.h"
#include "base/line_reader.h"
#include "base/record.h"
#include "base/rng.h"
#include "cli/command.h"
#include "cli/routing.h"
#include "cli/verify/verify.h"
#include "cli/workers.h"
#include "routing/check/transition.h"
#include "routing/files/lfts.h"
#include "routing/files/path_levels.h"
#include "routing/files/update_plan_text.h"
#include "routing/files/vl_map_read.h"
#include "routing/search/roots.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static struct {
    const char *lfts, *path_sl, *old_path_sl, *first_path_sl, *sl2vl, *root, *lmc;
    const char *ca, *guid, *port; /* of --sa */
    uint64_t threads, mixtures, seed, worst;
    bool sa, transition, adapters, reversible, links, disjoint, discards, json;
} given = {.threads = 1, .seed = 1, .worst = 10};

static const struct option_spec options[] = {
    {"--lfts FILE", NULL, .value = &given.lfts},
    {"--transition", NULL, .flag = &given.transition},
    {"--path-sl FILE", "SLs of paths, in the format that ibdmchk reads (default: SL 0)",
     .value = &given.path_sl},
    {"--sl2vl FILE", "SL-to-VL tables, in the format that ibdmchk reads (default: VL=SL)",
     .value = &given.sl2vl},
    {"--sa",
     "query the SLs from the SA of the running subnet, and read the SL-to-VL tables from its "
     "switches",
     .flag = &given.sa},
    {.usage = "--guid G, --ca NAME, --port N",
     .help = "the port for --sa (default: the first one that is up)"},
    {"--guid G", NULL, .value = &given.guid},
    {"--ca NAME", NULL, .value = &given.ca},
    {"--port N", NULL, .value = &given.port},
    {"--old-path-sl FILE", "SLs of OLD; --path-sl has those of NEW then",
     .value = &given.old_path_sl},
    {"--first-path-sl FILE",
     "SLs that sources use before the first update, instead of those of OLD",
     .value = &given.first_path_sl},
    {"--adapters",
     "only traffic between adapter ports counts for credit loops, as in ibdmchk without -a",
     .flag = &given.adapters},
    {"--reversible",
     "packets may also use the SL of the opposite direction, as on a reversible path",
     .flag = &given.reversible},
    {"--discarding-routers",
     "routers take every packet and discard it if they have no room, so no packet waits behind one",
     .flag = &given.discards},
    {"--root R",
     "also count down-up transitions with these roots: GUIDs (0x...,0x...), manager, centre or "
     "detect",
     .value = &given.root},
    {"--mixtures N",
     "with --transition: check N random mixtures of OLD and NEW, as of updates without an order",
     .number = &given.mixtures, .low = 1, .high = 1000000},
    {"--seed N", "seed of the mixtures (default 1)", .number = &given.seed},
    {"--lmc N", "LIDs as 'weft route --lmc N' assigns them", .value = &given.lmc},
    {"--threads N", "use N threads", .number = &given.threads, .low = 1, .high = WORKERS_LIMIT},
    {"--links", "print the load of every link between switches", .flag = &given.links},
    {"--disjoint",
     "print how many routes to the LIDs of each port share no link or switch, against the most "
     "that the cables permit, and name the worst pairs",
     .flag = &given.disjoint},
    {"--worst N", "with --disjoint: name N pairs (default 10)", .number = &given.worst, .low = 0,
     .high = 1000000},
    {"--json", "print JSON", .flag = &given.json},
    {0}};

void verify_put_findings(struct record *record, const struct verify_report *report)
{
    record_begin_list(record, "findings");
    for (size_t i = 0; i < report->findings.count; i++) {
        if (record->as_json)
            json_string(&record->json, NULL, report->findings.items[i]);
        record_text(record, "              %s\n", report->findings.items[i]);
    }
    record_end_list(record);
}

static void put_cycle(struct record *record, const struct network *network,
                      const struct verify_report *report)
{
    record_begin_list(record, "cycle");
    for (size_t i = 0; i < report->cycle.count; i++) {
        record_begin(record, NULL);
        record_guid(record, "switch", NULL,
                    network->switches.items[report->cycle.items[i].at].guid);
        record_number(record, "port", NULL, report->cycle.items[i].port);
        record_number(record, "vl", NULL, report->cycle.items[i].vl);
        record_end(record);
    }
    record_end_list(record);
}

/* Every link between switches, in both directions. */
static void put_links(struct record *record, const struct network *network,
                      const struct verify_report *report)
{
    char from[NETWORK_LABEL_BYTES], to[NETWORK_LABEL_BYTES];
    record_begin_list(record, "links");
    for (uint32_t at = 0; at < network->switches.count; at++) {
        const struct network_switch *node = &network->switches.items[at];
        for (unsigned port = 1; port <= node->port_count; port++) {
            const struct network_port *link = &network->ports.items[node->first_port + port];
            if (link->peer == NETWORK_NONE || !(link->peer & NETWORK_SWITCH))
                continue;
            record_begin(record, NULL);
            record_guid(record, "switch", NULL, node->guid);
            record_number(record, "port", NULL, port);
            record_number(record, "load", "%10llu", report->load[node->first_port + port]);
            record_text(record, "  %s port %u -> %s port %u\n",
                        network_label(network, NETWORK_SWITCH | at, from), port,
                        network_label(network, link->peer, to), link->peer_port);
            record_end(record);
        }
    }
    record_end_list(record);
}

/* Results of the check that are not in the report. */
struct verdict {
    struct vl_map_gaps gaps;    /* of the path SLs */
    bool only_through_switches; /* without traffic of switches there is no credit loop */
    uint16_t sm_lid;            /* of --sa */
};

static void put_levels(struct record *record, const struct verdict *verdict)
{
    if (given.sa)
        record_number(record, "sa_lid", "SL            from the SA at LID %llu\n", verdict->sm_lid);
    else if (!given.path_sl)
        record_number(record, "assumed_sl",
                      "SL            %llu on every path, assumed without --path-sl or --sa\n", 0);
    if (given.path_sl && !given.sl2vl)
        record_text(record, "VL            as the SL, assumed without --sl2vl\n");
    if (verdict->gaps.none) {
        record_number(record, "no_path", "no path       %llu", verdict->gaps.none);
        record_text(record, " of %" PRIu64 " pairs, which do not count for credit loops\n",
                    verdict->gaps.paths);
    }
}

static void put_report(struct record *record, const struct network *network,
                       const struct routes *routes, const struct workers *workers,
                       const struct verify_report *report, const struct verdict *verdict)
{
    bool delivers = verify_delivers(report);
    record_begin(record, NULL);
    record_flag(record, "holds", NULL, verify_passes(report));
    record_number(record, "pairs", "pairs         %llu of adapter ports\n", report->pairs);
    put_parts(record, network, report);
    record_text(record, "delivered     %s", delivers ? "all\n" : "NO: ");
    record_number(record, "undelivered", delivers ? NULL : "%llu pairs", report->undelivered);
    record_number(record, "switch_undelivered", delivers ? NULL : " and %llu pairs of switches not",
                  report->switch_undelivered);
    record_number(record, "loops", delivers ? NULL : ", %llu entries into loops\n", report->loops);
    record_number(record, "alias_holes", NULL, report->alias_holes);
    record_text(record, "credit loops  %s", report->cycle.count ? "YES" : "none");
    record_number(record, "vls", report->vls == 1 ? ", %llu VL" : ", %llu VLs", report->vls);
    record_number(record, "dependencies", ", %llu dependencies\n", report->dependencies);
    if (given.adapters)
        record_text(record, "              of traffic between adapter ports only\n");
    if (verdict->only_through_switches)
        record_text(record, "              none between adapter ports (--adapters): the loop needs "
                            "packets from or to switches\n");
    if (report->cycle.count)
        record_flag(record, "cycle_between_adapters", NULL, !verdict->only_through_switches);
    put_levels(record, verdict);
    put_cycle(record, network, report);
    if (given.root)
        record_number(record, "down_up_transitions", "down-up       %llu transitions\n",
                      report->down_up);
    if (report->alias_holes)
        record_text(record,
                    "aliases       %" PRIu64 " entries missing for LIDs that no pair uses\n",
                    report->alias_holes);
    record_real(record, "hops_mean", "hops          %.3f on average",
                route_ratio(report->hops_sum, report->pairs));
    record_number(record, "hops_max", ", %llu at most\n", report->hops_max);
    record_number(record, "table_hops_sum", NULL, report->table_hops_sum);
    record_number(record, "link_load_max", "link load     %llu pairs at most", report->load_max);
    record_real(record, "link_load_mean", ", %.1f on average\n",
                route_ratio(report->load_sum, report->channels));
    verify_put_findings(record, report);
    if (given.links)
        put_links(record, network, report);
    if (given.disjoint)
        verify_put_disjoint(record, network, routes, workers, (unsigned)given.worst);
    record_end(record);
}

/* Refuses SLs that do not cover the network: an assumed SL could hide a credit loop, or show one
 * that does not exist. */
static int check_coverage(const struct vl_map *map, struct verdict *verdict, struct err *err)
{
    const struct network *network = map->network;
    char from[NETWORK_LABEL_BYTES], to[NETWORK_LABEL_BYTES];
    struct vl_map_gaps gaps = {0};
    if (given.path_sl || given.sa)
        verdict->gaps = gaps = vl_map_find_gaps(map, given.adapters);
    if (gaps.unset)
        return err_set(
            err, EINVAL,
            "%s has no SL from %s to LID %u (%s): %" PRIu64 " of %" PRIu64 " pairs are missing%s",
            given.path_sl, network_label(network, gaps.source, from), gaps.dlid,
            network_label(network, network->owner[gaps.dlid], to), gaps.unset, gaps.paths,
            vl_map_find_gaps(map, true).unset
                ? ""
                : "; --adapters needs only those between adapter ports, which it has");
    for (uint32_t at = 0; at < network->switches.count && given.sl2vl; at++)
        if (!map->vl_tables[at])
            return err_set(err, EINVAL, "%s has no SL-to-VL table of %s", given.sl2vl,
                           network_label(network, NETWORK_SWITCH | at, from));
    return 0;
}

static int read_from_sa(struct vl_map *map, struct verdict *verdict, struct err *err)
{
    struct verify_sa live = {
        .port = {.ca = given.ca, .number = PORT_ANY},
        .adapters = given.adapters,
        .has_tables = given.sl2vl,
    };
    uint64_t number;
    if (given.guid && !parse_number(given.guid, &live.port.guid))
        return err_set(err, EINVAL, "--guid %s: expected a GUID (0x...)", given.guid);
    if (given.port && !parse_bounded(given.port, 0, NETWORK_TOP_PORT, &number))
        return err_set(err, EINVAL, "--port %s: expected 0 to %d", given.port, NETWORK_TOP_PORT);
    if (given.port)
        live.port.number = (int)number;
    int rc = verify_sa_read(map, &live, err);
    verdict->sm_lid = live.sm_lid;
    return rc;
}

static int check_tables(const struct network *network, struct verify_options wanted,
                        struct err *err)
{
    struct routes routes;
    struct vl_map map;
    struct verify_report report;
    struct verdict verdict = {0};
    struct text text = {0};
    int status = lfts_read(&routes, network, from_file(given.lfts, err));
    if (status)
        return status;
    vl_map_init(&map, network);
    if (given.path_sl)
        status = vl_map_read_path_sl(&map, from_file(given.path_sl, err));
    if (status == 0 && given.sl2vl)
        status = vl_map_read_sl2vl(&map, from_file(given.sl2vl, err));
    if (status == 0 && given.sa)
        status = read_from_sa(&map, &verdict, err);
    if (status == 0)
        status = check_coverage(&map, &verdict, err);
    if (status == 0) {
        wanted.vl_map = given.path_sl || given.sl2vl || given.sa ? &map : NULL;
        verify_routes(network, &routes, &wanted, &report);
        if (report.cycle.count && !wanted.adapters) { /* few engines keep switches free of cycles */
            struct verify_report between;
            wanted.adapters = true;
            verify_routes(network, &routes, &wanted, &between);
            verdict.only_through_switches = between.cycle.count == 0;
            verify_report_release(&between);
        }
        struct record record = record_to(&text, given.json, true);
        put_report(&record, network, &routes, wanted.workers, &report, &verdict);
        command_print(&text);
        status = verify_passes(&report) ? EXIT_HOLDS : EXIT_FAILS;
        verify_report_release(&report);
    }
    vl_map_release(&map);
    routes_release(&routes);
    return status;
}

static void print_transition(const struct network *network, const struct transition_report *report,
                             const struct update_plan *plan)
{
    struct text text = {0};
    struct record record = record_to(&text, given.json, true);
    record_begin(&record, NULL);
    record_flag(&record, "safe", NULL, report->safe);
    record_flag(&record, "complete", NULL, report->left_out == 0);
    record_number(&record, "updates", "update        %llu writes", plan->updates.count);
    record_number(&record, "waves", " in %llu waves", plan->waves.count);
    record_number(&record, "drains", ", %llu drains\n", report->drains);
    if (plan->stuck_vls)
        record_text(&record, "hold          VLs");
    for (unsigned vl = 0; vl < UPDATE_PLAN_VLS; vl++)
        if (plan->stuck_vls >> vl & 1)
            record_text(&record, " %u", vl);
    record_number(&record, "held_lanes", NULL, plan->stuck_vls);
    record_number(&record, "held_updates", plan->stuck_vls ? ", for %llu writes\n" : NULL,
                  plan->stuck.count);
    record_text(&record, "safe          %s\n", report->safe ? "in every state" : "NO");
    record_number(&record, "left_out",
                  report->left_out
                      ? "incomplete    %llu entries differ that the order does not write\n"
                      : NULL,
                  report->left_out);
    if (!report->safe)
        record_number(&record, "wave", NULL, report->wave + 1);
    put_cycle(&record, network, &report->cycle);
    verify_put_findings(&record, &report->cycle);
    record_end(&record);
    command_print(&text);
}

/* Each switch has its table of OLD or of NEW. */
static int check_mixtures(const struct network *network, char **files,
                          const struct verify_options *wanted, struct err *err)
{
    struct routes both[2] = {0}, mixed;
    struct text text = {0};
    struct rng rng;
    uint64_t loops = 0, down_up = 0, either = 0, cycles = 0;
    int status = lfts_read(&both[0], network, from_file(files[0], err));
    if (status == 0)
        status = lfts_read(&both[1], network, from_file(files[1], err));
    routes_init(&mixed, network, "mixed");
    rng_seed(&rng, given.seed, network->switches.count);
    for (uint64_t i = 0; i < given.mixtures && status == 0; i++) {
        struct verify_report report;
        for (uint32_t at = 0; at < network->switches.count; at++)
            memcpy(routes_row(&mixed, at), routes_row(&both[rng_below(&rng, 2)], at), mixed.stride);
        verify_routes(network, &mixed, wanted, &report);
        loops += report.loops > 0;
        down_up += report.down_up > 0;
        either += report.loops > 0 || report.down_up > 0;
        cycles += report.cycle.count > 0;
        verify_report_release(&report);
    }
    if (status == 0) {
        struct record record = record_to(&text, given.json, true);
        record_begin(&record, NULL);
        record_number(&record, "mixtures", "mixtures      %llu of both tables\n", given.mixtures);
        record_number(&record, "loop", "loops         in %llu\n", loops);
        record_number(&record, "down_up", given.root ? "down-up       in %llu\n" : NULL, down_up);
        record_number(&record, "loop_or_down_up", NULL, either);
        record_number(&record, "deadlock", "credit loops  in %llu\n", cycles);
        record_end(&record);
        command_print(&text);
        status = either || cycles ? EXIT_FAILS : EXIT_HOLDS;
    }
    routes_release(&both[0]);
    routes_release(&both[1]);
    routes_release(&mixed);
    return status;
}

static int check_transition(const struct network *network, char **files, struct err *err)
{
    struct routes before = {0}, after = {0}, first = {0};
    struct update_plan plan = {0};
    struct transition_report report;
    int status = lfts_read(&before, network, from_file(files[0], err));
    if (status == 0)
        status = lfts_read(&after, network, from_file(files[1], err));
    if (status == 0 && given.old_path_sl)
        status = path_levels_read(&before, network, from_file(given.old_path_sl, err));
    if (status == 0 && given.path_sl)
        status = path_levels_read(&after, network, from_file(given.path_sl, err));
    if (status == 0)
        status = update_plan_read(&plan, network, from_file(files[2], err));
    if (status == 0 && given.first_path_sl) {
        first.switch_count = before.switch_count;
        first.stride = before.stride;
        status = path_levels_read(&first, network, from_file(given.first_path_sl, err));
        plan.first_levels = first.service_levels;
    }
    if (status == 0) {
        verify_transition(network, &before, &after, &plan, &report);
        print_transition(network, &report, &plan);
        status = report.safe && report.left_out == 0 ? EXIT_HOLDS : EXIT_FAILS;
        transition_report_release(&report);
    }
    routes_release(&before);
    routes_release(&after);
    update_plan_release(&plan);
    return status;
}

/* Options that do not go together: prints an error, and returns an exit status. */
static int check_options(int operands)
{
    const struct {
        bool given;
        const char *name;
    } for_tables[] = {{given.reversible, "--reversible"},
                      {given.sl2vl, "--sl2vl"},
                      {given.adapters, "--adapters"},
                      {given.sa, "--sa"},
                      {given.disjoint, "--disjoint"}};
    const bool across = operands > 1 && !given.transition && !given.lfts;
    const char *one = given.path_sl ? "--path-sl"
                      : given.root  ? "--root"
                      : given.lmc   ? "--lmc"
                      : given.links ? "--links"
                                    : NULL;
    for (size_t i = 0; i < sizeof for_tables / sizeof *for_tables && !one; i++)
        if (for_tables[i].given && strcmp(for_tables[i].name, "--adapters") != 0)
            one = for_tables[i].name;
    if (across && one)
        return command_usage("%s is for the tables of one subnet", one);
    if (given.discards && !across)
        return command_usage("--discarding-routers needs dumps of two subnets at least");
    if (across)
        return EXIT_HOLDS;
    if (given.mixtures && !given.transition)
        return command_usage("--mixtures needs --transition");
    if (operands != (given.mixtures ? 3 : given.transition ? 4 : 1))
        return command_usage(given.mixtures     ? "expected NET --transition OLD NEW --mixtures N"
                             : given.transition ? "expected NET --transition OLD NEW ORDER"
                                                : "expected one net file");
    if (!given.transition && !given.lfts)
        return command_usage("expected --lfts FILE, or --transition OLD NEW ORDER");
    for (size_t i = 0; i < sizeof for_tables / sizeof *for_tables; i++)
        if (given.transition && for_tables[i].given)
            return command_usage("%s needs --lfts", for_tables[i].name);
    if (!given.transition && (given.old_path_sl || given.first_path_sl))
        return command_usage("%s needs --transition",
                             given.old_path_sl ? "--old-path-sl" : "--first-path-sl");
    if (given.sa && given.path_sl)
        return command_usage("--sa and --path-sl: expected one of them");
    if (!given.sa && (given.ca || given.port || given.guid))
        return command_usage("--guid, --ca and --port need --sa");
    return EXIT_HOLDS;
}

static int run_verify(int argc, char **argv, struct err *err)
{
    struct network network;
    struct workers workers = workers_of_threads((unsigned)given.threads);
    struct verify_options wanted = {
        .workers = &workers, .reversible = given.reversible, .adapters = given.adapters};
    struct roots roots = {0};
    struct root_list list;
    int status = check_options(argc - 1);
    if (status)
        return status;
    if (argc > 2 && !given.transition && !given.lfts)
        return verify_subnets(argv + 1, (size_t)argc - 1,
                              &(struct verify_subnets){.workers = &workers,
                                                       .adapters = given.adapters,
                                                       .discards = given.discards,
                                                       .json = given.json},
                              err);
    status = load_network(argv[1], given.lmc, false, given.transition ? argv[2] : given.lfts,
                          &network, err);
    if (status == 0 && given.root)
        status = root_list_parse(&list, given.root);
    if (status == 0 && given.root) {
        struct engine_options named = {
            .root = list.choice, .root_guids = list.guids.items, .root_count = list.guids.count};
        status = roots_choose(&roots, &network, &named, ROOT_MANAGER, err);
        vec_release(&list.guids);
    }
    wanted.roots = roots.switches.items;
    wanted.root_count = roots.switches.count;
    if (status == 0)
        status = given.mixtures     ? check_mixtures(&network, argv + 2, &wanted, err)
                 : given.transition ? check_transition(&network, argv + 2, err)
                                    : check_tables(&network, wanted, err);
    roots_release(&roots);
    network_release(&network);
    return status;
}

const struct command command_verify = {
    .name = "verify",
    .summary = "check forwarding tables: delivery, loops, deadlock, load",
    .usage = "weft verify: check forwarding tables\n"
             "\n"
             "usage: weft verify NET --lfts FILE [option ...]\n"
             "       weft verify NET --transition OLD NEW ORDER [option ...]\n"
             "       weft verify NET --transition OLD NEW --mixtures N [option ...]\n"
             "       weft verify DUMP DUMP ... [--discarding-routers] [--adapters] [--json]\n"
             "\n"
             "Checks that packets between all pairs of ports are delivered, that no entry\n"
             "leads into a loop, and that no VL has a cycle of channel dependencies. With\n"
             "--transition, checks for cycles in every state of the update from the tables OLD\n"
             "to NEW, written in the given ORDER.\n"
             "\n"
             "NET is the output of ibnetdiscover or a net file of ibsim. Tables are in the\n"
             "format of OpenSM's opensm-lfts.dump. LIDs are those that the tables name for\n"
             "port GUIDs; without GUIDs those of NET, or as 'weft route' assigns them. Tables\n"
             "of another fabric are refused.\n"
             "\n"
             "Each DUMP is the output of 'weft ctl subnet' for one of several subnets that\n"
             "routers join. Each is checked, then the ways of packets across and the\n"
             "dependencies through routers.\n"
             "\n",
    .column = 18,
    .options = options,
    .more = "\n"
            "ORDER has one statement per line: 'update SWITCH-GUID [LID[-LID]]' writes\n"
            "entries, 'wait' waits for all acknowledgements, 'drain' also until no earlier\n"
            "packet is left in the fabric. After 'hold VL ...' sources do not send on these\n"
            "VLs until all entries are written. 'weft route --from OLD --order ORDER' makes\n"
            "such a file.\n"
            "\n"
            "Exit status: 0 all checks passed, 1 a check failed, 2 bad usage or input.\n"
            "\n"
            "examples:\n"
            "  weft verify net --lfts opensm-lfts.dump\n"
            "  weft verify net --lfts t --path-sl t.psl --sl2vl t.slvl --json\n"
            "  weft verify net --lfts t --disjoint\n"
            "  ibnetdiscover >net; weft verify net --lfts opensm-lfts.dump --sa\n"
            "  weft sim two-subnets.weft --dump d; weft verify d/*.dump\n"
            "  weft verify net --transition old.lfts new.lfts plan\n"
            "  weft verify net --transition old.lfts new.lfts plan \\\n"
            "      --old-path-sl old.psl --path-sl new.psl\n",
    .run = run_verify,
};
