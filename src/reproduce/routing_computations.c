/* Properties of the routes that TPDS 2006 describes, on its Fig. 1 and on irregular networks.
 *
 *   pira-steps    Fig. 1: the node that each step of PIRa explores, and how many of its neighbours
 *                 were explored before (PREV); all of them must have been
 *   pira-routes   PIRa on 100 networks of each size: failures of an independent check (lost pairs,
 *                 loops, down-up transitions), entries against FERa, and load at the root
 *   dr-routes     DR and FERa on 10 networks of each size, for every pair of hosts: the length of
 *                 the route, and whether any entry differs
 *   mixed-tables  random sets of switches have FERa's tables while the others still have PIRa's, as
 *                 when the tables of a hybrid are written one after the other: mixtures with a
 *                 down-up transition or a loop, and mixtures that could deadlock; and whether the
 *                 update is safe in the order that weft writes the tables */
#include "reproduce/computations.h"

#include "base/rng.h"
#include "routing/check/transition.h"
#include "routing/paper/published.h"
#include "routing/update/make_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- steps of PIRa ---- */

/* The exploration of published_pira() is not visible in its tables: this follows the rule of
 * section 3.2 on the same graph. A node is next if all its neighbours over up links are explored;
 * of several the one with the lowest LID. */
static void explore(struct computing *c, const struct network *network,
                    const struct published *published)
{
    bool explored[64] = {false};
    for (uint32_t step = 1; step <= published->count; step++) {
        struct results found = {0};
        uint32_t x = 0, before = 0, all = 0;
        for (bool next = false; !next; x += !next) {
            const struct published_node *node = &published->nodes[x];
            before = all = 0;
            for (uint32_t i = node->first_port; i < node->end_port; i++) {
                all += published->ports[i].up;
                before += published->ports[i].up && explored[published->ports[i].to];
            }
            next = !explored[x] && before == all;
        }
        explored[x] = true;
        results_set(&found, "lid", network_lid(network, published->nodes[x].end_point), "LID");
        results_set(&found, "prev", all, "nodes");
        results_set(&found, "interactions", step - 1, "nodes");
        computation_add(c, &found, "step=%" PRIu32, step);
    }
}

int compute_pira_steps(struct computing *c)
{
    struct network network;
    struct updown updown;
    struct published published;
    int status = computation_paper_network(&network, 0, 0, c->seed, 1, c->err);
    if (status)
        return status;
    updown_init(&updown, &network, &network.manager, 1);
    published_init(&published, &network, &updown);
    explore(c, &network, &published);
    published_release(&published);
    updown_release(&updown);
    network_release(&network);
    return 0;
}

/* ---- tables, compared with those of FERa ---- */

struct tables {
    struct routes fera, other;
};

/* Of FERa, and of the computation's engine. */
static int open_tables(struct tables *tables, struct computing *c, const struct network *network)
{
    int status = computation_routes(network, "fera", &tables->fera, c->err);
    if (status)
        return status;
    status = computation_routes(network, c->engine, &tables->other, c->err);
    if (status)
        routes_release(&tables->fera);
    return status;
}

/* Adds what was found, too. */
static void close_tables(struct tables *tables, struct computing *c, const struct network *network,
                         uint32_t repetition, struct results *found)
{
    computation_add(c, found, "switches=%zu seed=%" PRIu32, network->switches.count, repetition);
    routes_release(&tables->fera);
    routes_release(&tables->other);
}

static double count_entries(const struct network *network, const struct routes *routes)
{
    uint64_t entries = 0;
    for (uint32_t at = 0; at < routes->switch_count; at++)
        for (uint32_t lid = 1; lid <= network->top_lid; lid++)
            entries += routes_is_explicit(routes, at, lid);
    return (double)entries;
}

/* The share of the load of all links between switches that the links of the root carry. */
static double root_share(const struct network *network, const struct verify_report *report)
{
    uint64_t load = 0;
    for (uint32_t at = 0; at < network->switches.count; at++)
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            const struct network_edge *edge = &network->edges[e];
            if (at == network->manager || edge->to == network->manager)
                load += report->load[network->switches.items[at].first_port + edge->port];
        }
    return (double)load / (double)report->load_sum;
}

static void check(const struct network *network, const struct routes *routes,
                  struct verify_report *report)
{
    verify_routes(network, routes,
                  &(struct verify_options){.roots = &network->manager, .root_count = 1}, report);
}

int compute_pira_routes(struct computing *c, const struct network *network, uint32_t repetition)
{
    struct tables tables;
    struct verify_report fera, pira;
    struct results found = {0};
    int status = open_tables(&tables, c, network);
    if (status)
        return status;
    check(network, &tables.fera, &fera);
    check(network, &tables.other, &pira);
    results_set(&found, "failures",
                (double)(pira.undelivered + pira.switch_undelivered + pira.loops + pira.down_up),
                "failures");
    results_set(&found, "entries.pira", count_entries(network, &tables.other), "entries");
    results_set(&found, "entries.fera", count_entries(network, &tables.fera), "entries");
    results_set(&found, "root.pira", root_share(network, &pira), "share");
    results_set(&found, "root.fera", root_share(network, &fera), "share");
    verify_report_release(&fera);
    verify_report_release(&pira);
    close_tables(&tables, c, network, repetition, &found);
    return 0;
}

/* ---- routes of DR ---- */

/* Links between switches on the route of a pair of hosts. */
static unsigned count_hops(const struct network *network, const struct routes *routes,
                           uint32_t source, uint32_t destination)
{
    struct path path = path_lookup(routes, network, source, destination);
    uint32_t at = network->terminals.items[source].at;
    unsigned hops = 0;
    while (at != network->terminals.items[destination].at && hops <= network->switches.count) {
        at = network_next(network, at, routes_port(routes, at, path.dlid));
        hops++;
    }
    return hops;
}

int compute_dr_routes(struct computing *c, const struct network *network, uint32_t repetition)
{
    struct tables tables;
    struct verify_report report;
    struct results found = {0};
    uint64_t longer = 0, shorter = 0;
    int status = open_tables(&tables, c, network);
    if (status)
        return status;
    for (uint32_t from = 0; from < network->terminals.count; from++)
        for (uint32_t to = 0; to < network->terminals.count; to++) {
            unsigned fera = count_hops(network, &tables.fera, from, to);
            unsigned dr = count_hops(network, &tables.other, from, to);
            longer += dr > fera;
            shorter += dr < fera;
        }
    check(network, &tables.other, &report);
    double different = (double)routes_compare(&tables.fera, &tables.other).entries;
    results_set(&found, "differs", different > 0, "");
    results_set(&found, "different", different / count_entries(network, &tables.fera), "share");
    results_set(&found, "longer", (double)longer, "routes");
    results_set(&found, "shorter", (double)shorter, "routes");
    results_set(&found, "passes", verify_passes(&report), "");
    verify_report_release(&report);
    close_tables(&tables, c, network, repetition, &found);
    return 0;
}

/* ---- mixed tables ---- */

enum { MIXTURES = 20 };

/* Whether no state of the update can deadlock or loop if weft plans it. */
static bool plan_is_safe(const struct network *network, const struct routes *before,
                         const struct routes *after)
{
    struct update_plan plan;
    struct transition_report report;
    update_plan_make(&plan, network, before, after);
    verify_transition(network, before, after, &plan, &report);
    bool safe = report.safe;
    transition_report_release(&report);
    update_plan_release(&plan);
    return safe;
}

int compute_mixed_tables(struct computing *c, const struct network *network, uint32_t repetition)
{
    struct tables tables;
    struct routes mixed;
    struct results found = {0};
    struct rng rng;
    unsigned unsafe = 0, cycles = 0;
    int status = open_tables(&tables, c, network);
    if (status)
        return status;
    routes_init(&mixed, network, "mixed");
    rng_seed(&rng, repetition, network->switches.count);
    for (unsigned i = 0; i < MIXTURES; i++) {
        struct verify_report report;
        for (uint32_t at = 0; at < network->switches.count; at++) {
            const struct routes *one = rng_below(&rng, 2) ? &tables.fera : &tables.other;
            memcpy(routes_row(&mixed, at), routes_row(one, at), mixed.stride);
        }
        check(network, &mixed, &report);
        unsafe += report.down_up > 0 || report.loops > 0;
        cycles += report.cycle.count > 0;
        verify_report_release(&report);
    }
    results_set(&found, "unsafe", (double)unsafe / MIXTURES, "share");
    results_set(&found, "deadlock", (double)cycles / MIXTURES, "share");
    results_set(&found, "planned", plan_is_safe(network, &tables.other, &tables.fera), "");
    routes_release(&mixed);
    close_tables(&tables, c, network, repetition, &found);
    return 0;
}
