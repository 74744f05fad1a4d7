/* Terminals that share a port of their switch: every engine routes them, the checks support them,
 * and they can be added, removed and moved in a network that is in use. */
#include "networks.h"

#include "routing/check/quality.h"
#include "routing/check/verify.h"
#include "routing/update/make_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

enum { SHARERS = 3 };

struct kind {
    const char *kind, *words[3];
    size_t count;
};
static const struct kind kinds[] = {
    {"kary", {"3", "2"}, 2},
    {"torus", {"3x3", "hosts=1"}, 2},
    {"irregular", {"10", "hosts=10", "ports=6"}, 3},
};

/* LIDs of terminals that share a port come after all others. */
static void build_shared(const struct kind *kind, uint8_t lmc, struct network *network)
{
    build_kind(network, kind->kind, kind->words, kind->count, lmc, 1);
    uint32_t hosts = (uint32_t)network->terminals.count;
    uint32_t span = UINT32_C(1) << lmc, lid = (network->top_lid / span + 1u) * span;
    for (uint32_t host = 0; host < hosts; host++)
        for (unsigned i = 0; i < SHARERS; i++, lid += span)
            assert_int_not_equal(
                network_share_terminal(network, 0x5000 + lid, (uint16_t)lid, lmc, host),
                NETWORK_NONE);
    assert_int_equal(network_finish(network), 0);
}

static void must_hold(const struct network *network, const struct routes *routes, const char *what)
{
    struct verify_report report;
    verify_routes(network, routes, &(struct verify_options){0}, &report);
    if (!verify_passes(&report))
        fail_msg("%s: %s", what, report.findings.count ? report.findings.items[0] : "?");
    uint64_t terminals = network->terminals.count;
    assert_int_equal(report.pairs, terminals * (terminals - 1));
    verify_report_release(&report);
}

static void every_engine_serves_terminals_that_share_a_port(void **state)
{
    unsigned served = 0;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t e = 0; engine_at(e); e++) {
            const struct engine *engine = engine_at(e);
            struct network network;
            struct routes routes = {0};
            struct engine_options options = {0};
            struct err err = {0};
            build_shared(&kinds[i], engine->renames ? 3 : 0, &network);
            int status = engine->compute(&network, &options, &routes, &err);
            if (status == 0) {
                must_hold(&network, &routes, engine->name);
                served++;
            } else if (status != -EDEADLK) { /* that depends on how many LIDs there are to spread */
                /* Whoever cannot serve this fabric cannot without sharers either. */
                struct network plain;
                build_kind(&plain, kinds[i].kind, kinds[i].words, kinds[i].count,
                           engine->renames ? 3 : 0, 1);
                if (engine->compute(&plain, &options, &routes, &err) == 0)
                    fail_msg("%s serves a %s, but not with shared ports: %s", engine->name,
                             kinds[i].kind, err.message);
                network_release(&plain);
            }
            routes_release(&routes);
            network_release(&network);
        }
    assert_true(served > 20);
}

/* Each is a separate destination: they do not all have the same path. */
static void terminals_at_one_port_are_balanced_over_uplinks(void **state)
{
    static const char *const engines[] = {"minhop", "updn", "ftree", "sssp"};
    for (unsigned e = 0; e < sizeof engines / sizeof *engines; e++) {
        struct network network;
        struct routes routes;
        struct engine_options options = {0};
        struct err err = {0};
        build_shared(&kinds[0], 0, &network);
        assert_int_equal(engine_find(engines[e])->compute(&network, &options, &routes, &err), 0);
        uint32_t hosts = (uint32_t)network.terminals.count / (SHARERS + 1);
        uint32_t at = network.terminals.items[hosts - 1].at; /* another leaf than host 0's */
        assert_int_not_equal(at, network.terminals.items[0].at);
        unsigned first = routes_port(&routes, at, network.terminals.items[0].lid), others = 0;
        for (unsigned i = 0; i < SHARERS; i++)
            others += routes_port(&routes, at, network.terminals.items[hosts + i].lid) != first;
        if (!others)
            fail_msg("%s sends all functions of a hypervisor the same way", engines[e]);
        routes_release(&routes);
        network_release(&network);
    }
}

static void hops_and_load_count_all_terminals_of_a_port(void **state)
{
    struct network network;
    struct routes routes;
    struct engine_options options = {0};
    struct err err = {0};
    struct verify_report report;
    build_shared(&kinds[0], 0, &network);
    assert_int_equal(engine_find("updn")->compute(&network, &options, &routes, &err), 0);
    verify_routes(&network, &routes, &(struct verify_options){0}, &report);
    /* Two levels: 1 hop inside a leaf, 3 across. 3 leaves with 3 hosts of 4 terminals each. */
    assert_int_equal(report.hops_sum, 36 * (11 * 1 + 24 * 3));
    verify_report_release(&report);
    routes_release(&routes);
    network_release(&network);
}

/* Other roots, other tables: updates between them never confuse terminals of one port. */
static void tables_with_shared_ports_have_safe_update_plans(void **state)
{
    struct network network;
    struct routes before, after;
    struct engine_options first = {.root = ROOT_MANAGER}, second = {.root = ROOT_CENTRE};
    struct err err = {0};
    struct update_plan plan;
    build_shared(&kinds[2], 0, &network);
    assert_int_equal(engine_find("updn")->compute(&network, &first, &before, &err), 0);
    assert_int_equal(engine_find("updn")->compute(&network, &second, &after, &err), 0);
    struct routes_difference difference = routes_compare(&before, &after);
    assert_true(difference.entries > 0);
    update_plan_make(&plan, &network, &before, &after);
    assert_true(plan.updates.count + plan.stuck.count >= difference.switches);
    update_plan_release(&plan);
    routes_release(&before);
    routes_release(&after);
    network_release(&network);
}

/* ---- changes ---- */

static void rows_are_right(const struct network *network)
{
    uint32_t listed = 0;
    for (uint32_t at = 0; at < network->switches.count; at++)
        for (uint32_t i = network->first_terminal[at]; i < network->first_terminal[at + 1]; i++) {
            assert_int_equal(network->terminals.items[network->terminals_at[i]].at, at);
            listed++;
        }
    assert_int_equal(listed, network->terminals.count);
    for (uint32_t i = 0; i < network->terminals.count; i++) {
        const struct network_terminal *terminal = &network->terminals.items[i];
        const struct network_switch *at = &network->switches.items[terminal->at];
        uint32_t seen = 0, row = 0;
        for (uint32_t t = network->ports.items[at->first_port + terminal->port].peer;
             t != NETWORK_NONE; t = network->terminals.items[t].sharer)
            seen += t == i;
        for (uint32_t j = network->first_terminal[terminal->at];
             j < network->first_terminal[terminal->at + 1]; j++)
            row += network->terminals_at[j] == i;
        assert_int_equal(seen, 1);
        assert_int_equal(row, 1);
        assert_int_equal(network->owner[terminal->lid], i);
    }
}

static void terminals_are_added_removed_and_moved(void **state)
{
    struct network network;
    struct rng rng;
    unsigned joined = 0, dropped = 0, moved = 0;
    build_shared(&kinds[0], 0, &network);
    uint32_t hosts = (uint32_t)network.terminals.count / (SHARERS + 1);
    rng_seed(&rng, 1, 1);
    for (unsigned i = 0; i < 2000; i++) {
        uint32_t count = (uint32_t)network.terminals.count;
        uint32_t a = (uint32_t)rng_below(&rng, count), b = (uint32_t)rng_below(&rng, count);
        switch (rng_below(&rng, 3)) {
        case 0: {
            uint16_t lid = (uint16_t)(1 + rng_below(&rng, 400));
            bool is_free = lid > network.top_lid || network.owner[lid] == NETWORK_NONE;
            uint32_t made = network_join_terminal(&network, 0x9000 + i, lid, 0, a);
            assert_int_equal(made != NETWORK_NONE, is_free);
            joined += is_free;
            break;
        }
        case 1:
            if (a < hosts)
                continue; /* the port would be empty, and no terminal could be added there again */
            network_drop_terminal(&network, a);
            dropped++;
            break;
        default: /* hosts themselves stay */
            if (a < hosts)
                continue;
            network_move_terminal(&network, a, b);
            moved++;
        }
        if (i % 50 == 0)
            rows_are_right(&network);
    }
    rows_are_right(&network);
    assert_true(joined > 100 && dropped > 100 && moved > 100);
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_engine_serves_terminals_that_share_a_port),
        cmocka_unit_test(terminals_at_one_port_are_balanced_over_uplinks),
        cmocka_unit_test(hops_and_load_count_all_terminals_of_a_port),
        cmocka_unit_test(tables_with_shared_ports_have_safe_update_plans),
        cmocka_unit_test(terminals_are_added_removed_and_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
