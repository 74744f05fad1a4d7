/* weft verify A B ...: the tables of several subnets that routers join. Each file is a dump of one
 * subnet (`weft ctl subnet`): its routers, links and forwarding tables. */
#include "base/line_reader.h"
#include "cli/command.h"
#include "cli/routing.h"
#include "cli/verify/verify.h"
#include "routing/check/across.h"
#include "routing/files/border_read.h"
#include "routing/files/lfts.h"

#include <inttypes.h>

struct verified_subnet {
    const char *file;
    struct network network;
    struct routes routes;
    struct border border;
    struct dependency_graph dependencies;
    struct verify_report report;
};

static int read_subnet(struct verified_subnet *subnet, struct err *err)
{
    int status = border_read(&subnet->border, from_file(subnet->file, err));
    if (status == 0)
        status = load_network_of_dump(subnet->file, &subnet->network, err);
    if (status == 0)
        status = lfts_read(&subnet->routes, &subnet->network, from_file(subnet->file, err));
    return status;
}

static void release_subnet(struct verified_subnet *subnet)
{
    if (subnet->dependencies.network)
        dependency_release(&subnet->dependencies);
    verify_report_release(&subnet->report);
    routes_release(&subnet->routes);
    border_release(&subnet->border);
    network_release(&subnet->network);
}

static void put_subnet(struct record *record, const struct verified_subnet *subnet)
{
    const struct verify_report *report = &subnet->report;
    record_begin(record, NULL);
    record_string(record, "file", NULL, subnet->file);
    record_guid(record, "prefix", "0x%016llx", subnet->border.prefix);
    record_text(record, "  %s:", subnet->file);
    record_number(record, "switches", " %llu switches", subnet->network.switches.count);
    record_number(record, "ports", ", %llu end ports", subnet->network.terminals.count);
    record_number(record, "router_ports", ", %llu of routers", subnet->border.ports.count);
    record_flag(record, "holds", NULL, verify_passes(report));
    record_text(record, "%s", verify_delivers(report) ? ", delivered all" : ", NOT DELIVERED");
    record_number(record, "undelivered", NULL, report->undelivered + report->switch_undelivered);
    record_number(record, "loops", NULL, report->loops);
    record_text(record, ", credit loops %s\n", report->cycle.count ? "YES" : "none");
    record_flag(record, "cycle", NULL, report->cycle.count);
    verify_put_findings(record, report);
    record_end(record);
}

static void put_across(struct record *record, const struct across_report *across, bool discards)
{
    record_number(record, "pairs", "across        %llu ordered pairs of subnets", across->pairs);
    record_number(record, "undelivered", across->undelivered ? ", %llu NOT DELIVERED" : NULL,
                  across->undelivered);
    record_text(record, "%s", across->undelivered ? "" : ", delivered all");
    record_number(record, "loops", across->loops ? ", %llu loops of routers" : NULL, across->loops);
    record_number(record, "crossings_max", ", routers on the way: %llu at most\n",
                  across->crossings_max);
    record_flag(record, "routers_discard", NULL, discards);
    if (discards)
        record_text(record, "credit loops  none across: routers discard what they have no room "
                            "for, so no packet waits behind one\n");
    else
        record_text(record,
                    "credit loops  %s, if a packet waits in a router until its next link "
                    "has room\n",
                    across->cycle ? "YES, through routers" : "none across");
    record_flag(record, "cycle", NULL, across->cycle);
    record_string(record, "cycle_path", across->cycle ? "              %s\n" : NULL,
                  across->cycle ? across->cycle_text : "");
    record_begin_list(record, "findings");
    for (size_t i = 0; i < across->findings.count; i++) {
        if (record->as_json)
            json_string(&record->json, NULL, across->findings.items[i]);
        record_text(record, "              %s\n", across->findings.items[i]);
    }
    record_end_list(record);
}

static int check_all(struct verified_subnet *subnets, size_t count,
                     const struct verify_subnets *wanted, struct err *err)
{
    struct across_subnet *across = mem_alloc(count * sizeof *across);
    struct across_report report = {0};
    struct text text = {0};
    bool alone = true;
    for (size_t i = 0; i < count; i++) {
        struct verify_options options = {.workers = wanted->workers,
                                         .adapters = wanted->adapters,
                                         .keep = &subnets[i].dependencies};
        verify_routes(&subnets[i].network, &subnets[i].routes, &options, &subnets[i].report);
        alone &= verify_passes(&subnets[i].report);
        across[i] = (struct across_subnet){&subnets[i].network, &subnets[i].routes,
                                           &subnets[i].border, &subnets[i].dependencies};
    }
    int status = across_check(across, count, wanted->discards, &report, err);
    if (status == 0) {
        struct record record = record_to(&text, wanted->json, true);
        bool holds = alone && !report.undelivered && !report.cycle;
        record_begin(&record, NULL);
        record_flag(&record, "holds", NULL, holds);
        record_begin_list(&record, "subnets");
        for (size_t i = 0; i < count; i++)
            put_subnet(&record, &subnets[i]);
        record_end_list(&record);
        put_across(&record, &report, wanted->discards);
        record_end(&record);
        command_print(&text);
        status = holds ? EXIT_HOLDS : EXIT_FAILS;
    }
    across_release(&report);
    mem_free(across);
    return status;
}

int verify_subnets(char **files, size_t count, const struct verify_subnets *wanted, struct err *err)
{
    struct verified_subnet *subnets = mem_zalloc(count, sizeof *subnets);
    int status = 0;
    for (size_t i = 0; i < count; i++)
        network_init(&subnets[i].network);
    for (size_t i = 0; i < count && status == 0; i++) {
        subnets[i].file = files[i];
        status = read_subnet(&subnets[i], err);
    }
    if (status == 0)
        status = check_all(subnets, count, wanted, err);
    for (size_t i = 0; i < count; i++)
        release_subnet(&subnets[i]);
    mem_free(subnets);
    return status;
}
