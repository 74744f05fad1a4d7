/* Directed graphs for up*-down* routing, and random fathers: every order makes legal tables. */
#include "networks.h"

#include "routing/check/verify.h"
#include "routing/search/updown.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 12 };

static void build_irregular(struct network *network, uint64_t seed)
{
    const char *words[] = {"switches=32", "hosts=40", "rule=paper"};
    build_kind(network, "irregular", words, 3, 2, seed);
}

/* Every switch but the root has a neighbour before it. */
static void every_order_has_one_sink(void **state)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct network network;
        build_irregular(&network, seed);
        for (unsigned tree = 0; tree < TREE_COUNT; tree++) {
            struct updown updown;
            updown_init(&updown, &network, &network.manager, 1, (enum updown_tree)tree);
            assert_int_equal(updown.rank[network.manager], 0);
            for (uint32_t at = 0; at < network.switches.count; at++) {
                assert_int_equal(updown.order[updown.rank[at]], at);
                bool has_father = at == network.manager;
                for (uint32_t e = network.first_edge[at]; e < network.first_edge[at + 1]; e++)
                    has_father |= updown_is_up(&updown, at, network.edges[e].to);
                assert_true(has_father);
            }
            updown_release(&updown);
        }
        network_release(&network);
    }
}

/* In a depth-first order a link that is not in the tree leads to an ancestor, so the switches of a
 * ring follow each other; the other orders go both ways around. */
static void a_ring_shows_the_orders(void **state)
{
    struct network network;
    build_ring(&network, 6);
    network.manager = 0;
    for (unsigned tree = 0; tree < TREE_COUNT; tree++) {
        struct updown updown;
        updown_init(&updown, &network, &network.manager, 1, (enum updown_tree)tree);
        unsigned in_turn = 0;
        for (uint32_t at = 0; at < 6; at++)
            in_turn += updown.rank[(at + 1) % 6] == updown.rank[at] + 1 ||
                       updown.rank[(at + 5) % 6] == updown.rank[at] + 1;
        assert_int_equal(in_turn == 5, tree == TREE_DFS);
        updown_release(&updown);
    }
    network_release(&network);
}

static struct routes compute(const struct network *network, const char *engine,
                             struct engine_options options)
{
    struct routes routes;
    struct err err;
    if (engine_find(engine)->compute(network, &options, &routes, &err))
        fail_msg("%s: %s", engine, err.message);
    struct verify_report report;
    verify_routes(network, &routes, &(struct verify_options){0}, &report);
    if (!verify_passes(&report))
        fail_msg("%s: %s", engine, report.findings.items[0]);
    verify_report_release(&report);
    return routes;
}

static uint64_t all_hops(const struct network *network, const struct routes *routes)
{
    struct verify_report report;
    verify_routes(network, routes, &(struct verify_options){0}, &report);
    uint64_t hops = report.hops_sum;
    verify_report_release(&report);
    return hops;
}

static void tables_of_every_order_deliver_without_deadlock(void **state)
{
    static const char *const engines[] = {"fera", "pira", "dr", "updn"};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct network network;
        build_irregular(&network, seed);
        for (unsigned tree = 0; tree < TREE_COUNT; tree++)
            for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++) {
                struct routes routes =
                    compute(&network, engines[i], (struct engine_options){.tree = tree});
                routes_release(&routes);
            }
        network_release(&network);
    }
}

/* TPDS 2006, section 2.3: FERa's routes are not always the shortest legal ones, DR's are. */
static void renaming_gains_more_on_depth_first_graphs(void **state)
{
    uint64_t gain[TREE_COUNT] = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct network network;
        build_irregular(&network, seed);
        for (unsigned tree = 0; tree < TREE_COUNT; tree++) {
            struct engine_options options = {.tree = tree};
            struct routes fera = compute(&network, "fera", options);
            struct routes dr = compute(&network, "dr", options);
            assert_true(all_hops(&network, &dr) <= all_hops(&network, &fera));
            gain[tree] += all_hops(&network, &fera) - all_hops(&network, &dr);
            routes_release(&fera);
            routes_release(&dr);
        }
        network_release(&network);
    }
    assert_true(gain[TREE_DFS] > 10 * (gain[TREE_BFS] + 1));
}

static void random_fathers_depend_on_the_seed_only(void **state)
{
    unsigned differ = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct network network;
        build_irregular(&network, seed);
        size_t ports = network.switches.count;
        struct routes standard = compute(&network, "pira", (struct engine_options){0});
        struct routes one = compute(&network, "pira", (struct engine_options){.father_seed = seed});
        struct routes same = compute(
            &network, "pira", (struct engine_options){.father_seed = seed, .workers = &backwards});
        struct routes other =
            compute(&network, "pira", (struct engine_options){.father_seed = seed + 100});
        assert_memory_equal(one.default_ports, same.default_ports, ports);
        differ += memcmp(one.default_ports, other.default_ports, ports) != 0;
        differ += memcmp(one.default_ports, standard.default_ports, ports) != 0;
        routes_release(&standard);
        routes_release(&one);
        routes_release(&same);
        routes_release(&other);
        network_release(&network);
    }
    /* A switch with one up-neighbour has no choice: some draws agree. */
    assert_true(differ > 3 * SEEDS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_has_one_sink),
        cmocka_unit_test(a_ring_shows_the_orders),
        cmocka_unit_test(tables_of_every_order_deliver_without_deadlock),
        cmocka_unit_test(renaming_gains_more_on_depth_first_graphs),
        cmocka_unit_test(random_fathers_depend_on_the_seed_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
