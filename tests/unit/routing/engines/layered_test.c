/* Properties of sssp, dfsssp, lash and nue, on random networks of all unusual kinds.
 *
 * WEFT_FULL=1 takes ten times as many. */
#include "effort.h"
#include "networks.h"

#include "routing/check/verify.h"
#include "routing/engines/layers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t count_networks(void)
{
    return effort(20000, 2000, 500);
}

/* Chains, stars and rings of switches with one port too few, cables from a switch to itself,
 * switches without LID or links, parts, hosts in one place or nowhere. */
static void make_odd(struct network *network, struct rng *rng, uint8_t lmc)
{
    uint32_t switches = (uint32_t)rng_below(rng, 12), step = UINT32_C(1) << lmc;
    uint32_t lid = 1 + (uint32_t)rng_below(rng, 70);
    network_init(network);
    for (uint32_t at = 0; at < switches; at++) {
        unsigned ports = 1 + (unsigned)rng_below(rng, rng_below(rng, 3) ? 6 : 100);
        uint16_t own = rng_below(rng, 10) ? (uint16_t)lid++ : 0;
        network_add_switch(network, 0x1000 + at, own, 0, ports);
    }
    for (uint32_t i = 0; switches && i < 2 * switches; i++) {
        uint32_t a = (uint32_t)rng_below(rng, switches), b = (uint32_t)rng_below(rng, switches);
        if (rng_below(rng, 2))
            b = (a + 1) % switches;
        /* Ports that are taken or not there are left alone. */
        network_link(network, a, 1 + (unsigned)rng_below(rng, 6), b,
                     1 + (unsigned)rng_below(rng, 6));
    }
    uint32_t hosts = switches ? (uint32_t)rng_below(rng, 2 * switches) : 0;
    uint32_t crowded = switches ? (uint32_t)rng_below(rng, switches) : 0;
    lid = (lid / step + 1) * step;
    for (uint32_t i = 0; i < hosts; i++, lid += step) {
        uint32_t at = rng_below(rng, 3) ? (uint32_t)rng_below(rng, switches) : crowded;
        uint8_t own = (uint8_t)rng_below(rng, lmc + 1u);
        network_add_terminal(network, 0x100000 + i, rng_below(rng, 12) ? (uint16_t)lid : 0, own, at,
                             1 + (unsigned)rng_below(rng, 8));
    }
    network_finish(network);
}

/* The network of a seed: unusual ones, larger whole ones, larger ones with failures. */
static void make_network(uint64_t seed, struct network *network)
{
    struct draft draft;
    struct rng rng;
    uint8_t lmc = seed % 7 == 0 ? 2 : 0;
    if (seed % 4) {
        rng_seed(&rng, seed, 2);
        make_odd(network, &rng, lmc);
        return;
    }
    draft_random(&draft, seed, seed % 32 ? 24 : 64);
    if (seed % 8)
        draft_break(&draft, seed, 1 + (unsigned)(seed % 9), (unsigned)(seed % 5));
    draft_build(&draft, lmc, network);
    draft_release(&draft);
}

static int compute(const struct network *network, const char *engine, unsigned vls,
                   struct routes *routes, struct err *err)
{
    struct engine_options options = {.max_vls = vls, .allow_cycles = true};
    return engine_find(engine)->compute(network, &options, routes, err);
}

/* Returns the hops of all tables together. */
static uint64_t assert_routes_hold(const struct network *network, const struct routes *routes,
                                   bool acyclic, uint64_t seed)
{
    struct verify_report report;
    verify_routes(network, routes, &(struct verify_options){0}, &report);
    if (!(acyclic ? verify_passes(&report) : verify_delivers(&report)))
        fail_msg("%s, seed %llu: %s", routes->engine, (unsigned long long)seed,
                 report.findings.count ? report.findings.items[0] : "pairs of switches");
    uint64_t hops = report.table_hops_sum;
    verify_report_release(&report);
    for (size_t i = 0; routes->service_levels && i < (size_t)routes->switch_count * routes->stride;
         i++)
        assert_true(routes->service_levels[i] < routes->vls);
    return hops;
}

/* Tables of shortest routes, or a reason. Returns false with a reason. */
static bool check_shortest(const struct network *network, const char *engine, unsigned vls,
                           uint64_t shortest, uint64_t seed)
{
    struct routes routes;
    struct err err = {0};
    int rc = compute(network, engine, vls, &routes, &err);
    if (rc) {
        assert_int_equal(rc, -ENOSPC);
        assert_non_null(strstr(err.message, "needs "));
        assert_non_null(strstr(err.message, vls == 1 ? "VLs, has 1" : "VLs, has"));
        assert_null(routes.ports);
        return false;
    }
    assert_int_equal(routes.vls, vls);
    assert_int_equal(assert_routes_hold(network, &routes, true, seed), shortest);
    routes_release(&routes);
    return true;
}

static void all_pairs_are_reachable_and_no_vl_can_deadlock(void **state)
{
    static const unsigned vls_of[] = {1, 2, 3, 8, 15};
    unsigned refusals = 0, laid = 0, detours = 0;
    for (uint64_t seed = 0; seed < count_networks(); seed++) {
        struct network network;
        struct routes routes;
        struct err err = {0};
        unsigned vls = vls_of[seed % 5];
        make_network(seed, &network);
        assert_int_equal(compute(&network, "sssp", 0, &routes, &err), 0);
        uint64_t shortest = assert_routes_hold(&network, &routes, false, seed);
        routes_release(&routes);
        assert_int_equal(compute(&network, "minhop", 0, &routes, &err), 0);
        assert_int_equal(assert_routes_hold(&network, &routes, false, seed), shortest);
        routes_release(&routes);
        refusals += !check_shortest(&network, "dfsssp", vls, shortest, seed);
        refusals += !check_shortest(&network, "lash", vls, shortest, seed);
        laid += check_shortest(&network, "dfsssp", 15, shortest, seed);
        assert_int_equal(compute(&network, "nue", vls, &routes, &err), 0);
        assert_true(routes.vls <= vls);
        uint64_t hops = assert_routes_hold(&network, &routes, true, seed);
        assert_true(hops >= shortest);
        detours += hops > shortest;
        routes_release(&routes);
        network_release(&network);
    }
    /* Each kind of result occurred. */
    assert_true(refusals > 0 && laid > 0 && detours > 0);
}

static void tables_and_vls_do_not_depend_on_the_order_of_jobs(void **state)
{
    static const char *const engines[] = {"sssp", "dfsssp", "lash", "nue"};
    for (uint64_t seed = 0; seed < 40; seed += 4) {
        for (size_t i = 0; i < 4; i++) {
            struct engine_options alone = {.allow_cycles = true, .max_vls = 15};
            struct engine_options side_by_side = alone;
            struct network network;
            struct routes a, b;
            struct err err;
            side_by_side.workers = &backwards;
            make_network(seed, &network);
            assert_int_equal(engine_find(engines[i])->compute(&network, &alone, &a, &err), 0);
            assert_int_equal(engine_find(engines[i])->compute(&network, &side_by_side, &b, &err),
                             0);
            size_t bytes = (size_t)a.switch_count * a.stride;
            assert_memory_equal(a.ports, b.ports, bytes);
            assert_int_equal(a.vls, b.vls);
            assert_int_equal(a.operations, b.operations);
            if (a.service_levels)
                assert_memory_equal(a.service_levels, b.service_levels, bytes);
            routes_release(&a);
            routes_release(&b);
            network_release(&network);
        }
    }
}

static void a_ring_shows_what_each_engine_does_about_cycles(void **state)
{
    struct network network;
    struct routes routes;
    struct err err = {0};
    struct engine_options plain = {0};
    build_ring(&network, 6);
    assert_int_equal(engine_sssp.compute(&network, &plain, &routes, &err), -EDEADLK);
    assert_non_null(strstr(err.message, "'ring1' port 2 -> 'ring0' port 2"));
    assert_null(routes.ports);
    for (unsigned vls = 1; vls <= 3; vls++) {
        for (int i = 0; i < 2; i++) {
            int rc = compute(&network, i ? "lash" : "dfsssp", vls, &routes, &err);
            assert_int_equal(rc, vls == 1 ? -ENOSPC : 0);
            if (rc)
                assert_string_equal(err.message,
                                    i ? "lash: needs 2 VLs, has 1" : "dfsssp: needs 2 VLs, has 1");
            routes_release(&routes);
        }
    }
    assert_int_equal(compute(&network, "nue", 1, &routes, &err), 0);
    assert_null(routes.service_levels);
    assert_routes_hold(&network, &routes, true, 0);
    routes_release(&routes);
    network_release(&network);
}

static void load_network(struct network *network, const char *kind, const char *const *words,
                         size_t count)
{
    struct topology topology;
    struct err err;
    topology_init(&topology);
    if (topology_generate(&topology, kind, words, count, 1, &err))
        fail_msg("%s", err.message);
    assert_int_equal(network_from_topology(network, &topology, &err), 0);
    topology_release(&topology);
}

static uint64_t largest_load(const struct network *network, const char *engine, unsigned vls)
{
    struct routes routes;
    struct verify_report report;
    struct err err = {0};
    if (compute(network, engine, vls, &routes, &err))
        fail_msg("%s: %s", engine, err.message);
    verify_routes(network, &routes, &(struct verify_options){0}, &report);
    assert_true(verify_delivers(&report));
    uint64_t load = report.load_max;
    verify_report_release(&report);
    routes_release(&routes);
    return load;
}

static void all_links_of_a_fat_tree_carry_the_same(void **state)
{
    struct network network;
    load_network(&network, "fattree", (const char *const[]){"324"}, 1);
    assert_int_equal(largest_load(&network, "sssp", 0), 306);
    assert_int_equal(largest_load(&network, "dfsssp", 8), 306);
    assert_int_equal(largest_load(&network, "nue", 1), 306);
    assert_int_equal(largest_load(&network, "nue", 8), 306);
    network_release(&network);
}

/* 17 links for 18 hosts: one of them must not carry twice as much as the others. */
static void a_leaf_that_lost_a_link_shares_the_others(void **state)
{
    struct network network;
    load_network(&network, "fattree", (const char *const[]){"324"}, 1);
    uint32_t leaf = network.terminals.items[0].at;
    struct network_edge gone = network.edges[network.first_edge[leaf]];
    network.ports.items[network.switches.items[leaf].first_port + gone.port].peer = NETWORK_NONE;
    network.ports.items[network.switches.items[gone.to].first_port + gone.to_port].peer =
        NETWORK_NONE;
    assert_int_equal(network_finish(&network), 0);
    assert_true(largest_load(&network, "sssp", 0) < 400);
    assert_true(largest_load(&network, "dfsssp", 8) < 400);
    assert_true(largest_load(&network, "nue", 8) < 400);
    assert_true(largest_load(&network, "nue", 1) < 400);
    network_release(&network);
}

/* OpenSM's engines of the same names have 1470, 2808 and 7638 here. */
static void loads_are_balanced_on_irregular_networks(void **state)
{
    struct network network;
    load_network(&network, "jellyfish",
                 (const char *const[]){"switches=128", "ports=16", "degree=10"}, 3);
    assert_true(largest_load(&network, "sssp", 0) < 1300);
    assert_true(largest_load(&network, "dfsssp", 8) < 1300);
    assert_true(largest_load(&network, "lash", 8) < 2000);
    assert_true(largest_load(&network, "nue", 8) < 1300);
    network_release(&network);
}

/* In dimension order a hypercube needs one VL, and its links carry equal loads. */
static void lash_finds_the_order_in_regular_cables(void **state)
{
    struct network network;
    struct routes routes;
    struct err err = {0};
    load_network(&network, "hypercube", (const char *const[]){"n=6", "hosts=2"}, 2);
    assert_int_equal(compute(&network, "lash", 1, &routes, &err), 0);
    routes_release(&routes);
    assert_int_equal(largest_load(&network, "lash", 1), 128);
    network_release(&network);
}

static void dfsssp_takes_lowest_ports_if_balance_takes_too_many_vls(void **state)
{
    struct network network;
    struct routes routes;
    struct err err = {0};
    load_network(&network, "torus", (const char *const[]){"dims=8x8", "hosts=2"}, 2);
    assert_int_equal(compute(&network, "dfsssp", 8, &routes, &err), 0);
    assert_null(strstr(routes.note, "lowest ports"));
    routes_release(&routes);
    assert_int_equal(compute(&network, "dfsssp", 4, &routes, &err), 0);
    assert_non_null(strstr(routes.note, "lowest ports"));
    assert_routes_hold(&network, &routes, true, 0);
    routes_release(&routes);
    network_release(&network);
    /* Where these routes fit into one layer, nothing is left of the first attempt. */
    load_network(&network, "hypercube", (const char *const[]){"n=6", "hosts=2"}, 2);
    assert_int_equal(compute(&network, "dfsssp", 3, &routes, &err), 0);
    assert_non_null(strstr(routes.note, "lowest ports"));
    assert_non_null(strstr(routes.note, "1 layer over 3 VLs"));
    assert_routes_hold(&network, &routes, true, 0);
    routes_release(&routes);
    network_release(&network);
}

static void both_directions_of_a_lash_pair_use_one_vl(void **state)
{
    struct network network;
    struct routes routes;
    struct err err = {0};
    unsigned used = 0;
    load_network(&network, "irregular", (const char *const[]){"switches=24", "ports=6"}, 2);
    assert_int_equal(compute(&network, "lash", 8, &routes, &err), 0);
    for (uint32_t a = 0; a < network.terminals.count; a++) {
        for (uint32_t b = 0; b < network.terminals.count; b++) {
            struct path there = path_lookup(&routes, &network, a, b);
            struct path back = path_lookup(&routes, &network, b, a);
            assert_int_equal(there.sl, back.sl);
            used |= 1u << there.sl;
        }
    }
    assert_true(__builtin_popcount(used) >= 6); /* three layers, spread over all VLs */
    routes_release(&routes);
    network_release(&network);
}

static void lids_of_one_port_take_different_links(void **state)
{
    static const char *const engines[] = {"sssp", "dfsssp", "nue"};
    for (size_t i = 0; i < 3; i++) {
        struct network network;
        struct routes routes;
        struct err err;
        unsigned used = 0;
        network_init(&network);
        network_add_switch(&network, 1, 1, 0, 8);
        network_add_switch(&network, 2, 2, 0, 8);
        for (unsigned port = 1; port <= 4; port++)
            network_link(&network, 0, port, 1, port);
        network_add_terminal(&network, 3, 4, 2, 0, 5);
        network_add_terminal(&network, 4, 8, 2, 1, 5);
        assert_int_equal(network_finish(&network), 0);
        assert_int_equal(compute(&network, engines[i], 2, &routes, &err), 0);
        for (unsigned offset = 0; offset < 4; offset++)
            used |= 1u << routes_port(&routes, 0, 8 + offset);
        assert_int_equal(used, 0x1E);
        routes_release(&routes);
        network_release(&network);
    }
}

/* After the first LIDs of all, the lighter link is that of the second terminal itself. */
static void further_lids_avoid_links_in_use_whatever_their_load(void **state)
{
    static const char *const engines[] = {"sssp", "dfsssp", "nue"};
    for (size_t i = 0; i < 3; i++) {
        struct network network;
        struct routes routes;
        struct err err;
        network_init(&network);
        network_add_switch(&network, 1, 1, 0, 8);
        network_add_switch(&network, 2, 2, 0, 8);
        network_link(&network, 0, 1, 1, 1);
        network_link(&network, 0, 2, 1, 2);
        network_add_terminal(&network, 3, 3, 0, 0, 3);
        network_add_terminal(&network, 4, 4, 0, 1, 3);
        network_add_terminal(&network, 5, 6, 1, 1, 4);
        network_add_terminal(&network, 6, 8, 0, 1, 5);
        assert_int_equal(network_finish(&network), 0);
        assert_int_equal(compute(&network, engines[i], 1, &routes, &err), 0);
        assert_int_equal(routes_port(&routes, 0, 4), 1);
        assert_int_equal(routes_port(&routes, 0, 6), 2);
        assert_int_equal(routes_port(&routes, 0, 8), 1);
        assert_int_equal(routes_port(&routes, 0, 7), 1);
        routes_release(&routes);
        network_release(&network);
    }
}

static void nue_finds_paths_on_one_vl_of_difficult_networks(void **state)
{
    static const struct {
        const char *kind, *words[3];
        size_t count;
    } kinds[] = {
        {"torus", {"dims=6x6x4"}, 1},
        {"irregular", {"switches=160"}, 1},
        {"irregular", {"switches=60", "ports=10", "hosts=100"}, 3},
        {"dragonfly", {"a=6"}, 1},
        {"jellyfish", {"switches=60"}, 1},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        for (unsigned vls = 1; vls <= 2; vls++) {
            struct network network;
            struct routes routes;
            struct err err = {0};
            load_network(&network, kinds[i].kind, kinds[i].words, kinds[i].count);
            assert_int_equal(compute(&network, "nue", vls, &routes, &err), 0);
            assert_true(vls > 1 || strstr(routes.note, "escape"));
            assert_routes_hold(&network, &routes, true, i);
            routes_release(&routes);
            network_release(&network);
        }
    }
}

/* Packets between switches without hosts must not restrict a tree's routes. */
static void nue_needs_no_detours_on_a_tree(void **state)
{
    struct network network;
    struct routes routes;
    struct err err = {0};
    load_network(&network, "kary", (const char *const[]){"k=4", "n=3"}, 2);
    assert_int_equal(compute(&network, "nue", 1, &routes, &err), 0);
    assert_string_equal(routes.note, "1 VL, 0 hops of detours");
    routes_release(&routes);
    network_release(&network);
}

static void a_port_with_more_weight_gets_fewer_routes(void **state)
{
    static const char *const engines[] = {"sssp", "dfsssp", "nue"};
    struct port_weight heavy = {.guid = 1, .port = 1, .weight = 3};
    const struct port_weights weights = {.items = {.items = &heavy, .count = 1}};
    for (size_t i = 0; i < 3; i++) {
        struct engine_options options = {.weights = &weights, .max_vls = 1};
        struct network network;
        struct routes routes;
        struct err err;
        unsigned by_port[3] = {0};
        network_init(&network);
        network_add_switch(&network, 1, 1, 0, 8);
        network_add_switch(&network, 2, 2, 0, 12);
        network_link(&network, 0, 1, 1, 1);
        network_link(&network, 0, 2, 1, 2);
        network_add_terminal(&network, 3, 3, 0, 0, 3);
        for (unsigned k = 0; k < 8; k++)
            network_add_terminal(&network, 4 + k, (uint16_t)(4 + k), 0, 1, 3 + k);
        assert_int_equal(network_finish(&network), 0);
        assert_int_equal(engine_find(engines[i])->compute(&network, &options, &routes, &err), 0);
        for (unsigned lid = 4; lid < 12; lid++)
            by_port[routes_port(&routes, 0, lid)]++;
        assert_int_equal(by_port[1], 2);
        assert_int_equal(by_port[2], 6);
        routes_release(&routes);
        network_release(&network);
    }
}

static void a_seed_and_a_list_change_the_order_of_destinations(void **state)
{
    static const char *const engines[] = {"sssp", "dfsssp", "nue"};
    struct network network;
    struct err err;
    load_network(&network, "jellyfish", (const char *const[]){"switches=20"}, 1);
    uint64_t last = network.terminals.items[network.terminals.count - 1].guid;
    uint64_t guids[] = {0xDEAD, last, last};
    const struct guid_list list = {.items = {.items = guids, .count = 3}};
    for (size_t i = 0; i < 3; i++) {
        const struct engine *engine = engine_find(engines[i]);
        struct engine_options plain = {.allow_cycles = true}, scattered = plain, listed = plain;
        struct routes a, b, c;
        scattered.scatter = 7;
        listed.first = &list;
        assert_int_equal(engine->compute(&network, &plain, &a, &err), 0);
        assert_int_equal(engine->compute(&network, &scattered, &b, &err), 0);
        assert_int_equal(engine->compute(&network, &listed, &c, &err), 0);
        assert_true(routes_compare(&a, &b).entries > 0);
        assert_true(routes_compare(&a, &c).entries > 0);
        assert_routes_hold(&network, &b, i > 0, 0);
        assert_routes_hold(&network, &c, i > 0, 0);
        routes_release(&a);
        routes_release(&b);
        routes_release(&c);
    }
    network_release(&network);
}

static uint64_t load_of_nue(const struct network *network, uint64_t scatter)
{
    struct engine_options options = {.max_vls = 1, .scatter = scatter};
    struct verify_report report;
    struct routes routes;
    struct err err = {0};
    assert_int_equal(engine_nue.compute(network, &options, &routes, &err), 0);
    verify_routes(network, &routes, &(struct verify_options){0}, &report);
    assert_true(verify_passes(&report));
    uint64_t load = report.load_max;
    verify_report_release(&report);
    routes_release(&routes);
    return load;
}

static void nue_takes_the_best_of_four_orders_on_one_vl(void **state)
{
    struct network network;
    uint64_t least = UINT64_MAX, most = 0;
    build_kind(&network, "irregular", (const char *const[]){"switches=40", "ports=8", "hosts=60"},
               3, 0, 2);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        uint64_t load = load_of_nue(&network, seed);
        least = load < least ? load : least;
        most = load > most ? load : most;
    }
    assert_true(least < load_of_nue(&network, 4)); /* not the last */
    assert_true(least < most);
    assert_int_equal(load_of_nue(&network, 0), least);
    network_release(&network);
}

static void spare_vls_go_to_the_heaviest_layers(void **state)
{
    struct layers_share share[3];
    layers_share(share, (const uint64_t[]){100, 60, 1}, 3, 8);
    assert_int_equal(share[0].count, 4);
    assert_int_equal(share[1].count, 3);
    assert_int_equal(share[2].count, 1);
    assert_int_equal(share[0].first, 0);
    assert_int_equal(share[1].first, 4);
    assert_int_equal(share[2].first, 7);
    assert_int_equal(layers_lightest(&share[1], (const uint64_t[]){0, 0, 0, 0, 5, 4, 4, 0}), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs_are_reachable_and_no_vl_can_deadlock),
        cmocka_unit_test(tables_and_vls_do_not_depend_on_the_order_of_jobs),
        cmocka_unit_test(a_ring_shows_what_each_engine_does_about_cycles),
        cmocka_unit_test(all_links_of_a_fat_tree_carry_the_same),
        cmocka_unit_test(a_leaf_that_lost_a_link_shares_the_others),
        cmocka_unit_test(loads_are_balanced_on_irregular_networks),
        cmocka_unit_test(lash_finds_the_order_in_regular_cables),
        cmocka_unit_test(dfsssp_takes_lowest_ports_if_balance_takes_too_many_vls),
        cmocka_unit_test(both_directions_of_a_lash_pair_use_one_vl),
        cmocka_unit_test(lids_of_one_port_take_different_links),
        cmocka_unit_test(further_lids_avoid_links_in_use_whatever_their_load),
        cmocka_unit_test(nue_finds_paths_on_one_vl_of_difficult_networks),
        cmocka_unit_test(nue_needs_no_detours_on_a_tree),
        cmocka_unit_test(nue_takes_the_best_of_four_orders_on_one_vl),
        cmocka_unit_test(a_port_with_more_weight_gets_fewer_routes),
        cmocka_unit_test(a_seed_and_a_list_change_the_order_of_destinations),
        cmocka_unit_test(spare_vls_go_to_the_heaviest_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
