/* Reversible paths: what clients send back takes the service level of what they got.
 *
 * Engines that promise it (routes.reversible) must give one level to a pair, and be free of
 * deadlock with both directions on it; the checker must see where that is not so. */
#include "networks.h"

#include "routing/check/verify.h"
#include "routing/files/vl_map_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

enum { RING = 6 };

static uint8_t *level_of(const struct routes *routes, uint32_t from, uint32_t lid)
{
    return &routes->service_levels[(size_t)from * routes->stride + lid];
}

/* Dependencies, or 0 if there is a cycle. With roots the checker takes its careful walk. */
static uint64_t check(const struct network *network, const struct routes *routes, bool reversible,
                      bool careful)
{
    static const uint32_t root = 0;
    struct verify_report report;
    struct verify_options options = {.reversible = reversible,
                                     .roots = &root,
                                     .root_count = careful && network->switches.count ? 1 : 0};
    verify_routes(network, routes, &options, &report);
    assert_true(verify_delivers(&report));
    uint64_t dependencies = report.cycle.count ? 0 : report.dependencies + 1;
    verify_report_release(&report);
    return dependencies;
}

/* The ring with two VLs: clockwise, VL 1 is for packets that cross the link between the last switch
 * and the first, as `there` says; counter-clockwise, as `back` says. */
static void lay_ring(const struct network *network, struct routes *routes, uint8_t there,
                     uint8_t back)
{
    routes->vls = 2;
    routes->service_levels = mem_zalloc((size_t)routes->switch_count, routes->stride);
    for (uint32_t from = 0; from < RING; from++) {
        for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
            uint32_t owner = network->owner[lid];
            uint32_t to = owner & NETWORK_SWITCH ? owner & ~NETWORK_SWITCH
                                                 : network->terminals.items[owner].at;
            const struct network_switch *node = &network->switches.items[from];
            uint8_t port = routes_port(routes, from, lid);
            if (from == to)
                continue;
            uint32_t next =
                network->ports.items[node->first_port + port].peer & ~(uint32_t)NETWORK_SWITCH;
            bool clockwise = next == (from + 1) % RING;
            bool crosses = clockwise ? to < from : to > from;
            *level_of(routes, from, lid) = crosses == (clockwise ? there : back);
        }
    }
}

static void build_laid_ring(struct network *network, struct routes *routes, uint8_t there,
                            uint8_t back)
{
    struct err err;
    build_ring(network, RING);
    assert_int_equal(engine_minhop.compute(network, &(struct engine_options){.allow_cycles = true},
                                           routes, &err),
                     0);
    lay_ring(network, routes, there, back);
}

static void vls_that_are_safe_in_one_direction_only_are_found(void **state)
{
    struct network network;
    struct routes routes;
    build_laid_ring(&network, &routes, 1, 0);
    for (int careful = 0; careful < 2; careful++) {
        assert_true(check(&network, &routes, false, careful) > 0);
        assert_int_equal(check(&network, &routes, true, careful), 0);
    }
    routes_release(&routes);
    network_release(&network);
}

/* Without LIDs of switches only what hosts send to each other is left to find it by. */
static void hosts_alone_are_enough_to_find_such_vls(void **state)
{
    struct network network;
    struct routes routes;
    struct err err;
    network_init(&network);
    for (uint32_t at = 0; at < RING; at++)
        network_add_switch(&network, 0x1000 + at, 0, 0, 3);
    for (uint32_t at = 0; at < RING; at++) {
        network_link(&network, at, 1, (at + 1) % RING, 2);
        network_add_terminal(&network, 0x2000 + at, (uint16_t)(1 + at), 0, at, 3);
    }
    network_finish(&network);
    assert_int_equal(engine_minhop.compute(&network, &(struct engine_options){.allow_cycles = true},
                                           &routes, &err),
                     0);
    lay_ring(&network, &routes, 1, 0);
    for (int careful = 0; careful < 2; careful++) {
        assert_true(check(&network, &routes, false, careful) > 0);
        assert_int_equal(check(&network, &routes, true, careful), 0);
    }
    routes_release(&routes);
    network_release(&network);
}

/* Routes over half the ring may use the same side in both directions or not: these are two
 * levels. */
static void vls_that_are_equal_in_both_directions_stay_safe(void **state)
{
    struct network network;
    struct routes routes;
    build_laid_ring(&network, &routes, 1, 1);
    for (uint32_t from = 0; from < RING; from++)
        for (uint32_t to = 0; to < RING; to++)
            if ((to + RING - from) % RING == RING / 2)
                for (uint32_t lid = 1; lid <= network.top_lid; lid++)
                    if (network.owner[lid] == (NETWORK_SWITCH | to) || network.owner[lid] == to)
                        *level_of(&routes, from, lid) = 1;
    uint64_t one_way = check(&network, &routes, false, false);
    for (int careful = 0; careful < 2; careful++)
        assert_int_equal(check(&network, &routes, true, careful), one_way);
    routes_release(&routes);
    network_release(&network);
}

/* Levels at random, in a tree, where no VL has a cycle and all dependencies can be counted. */
static void the_quick_and_the_full_walk_agree_on_reversed_levels(void **state)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct network network;
        struct routes routes;
        struct rng rng;
        struct err err;
        build_kind(&network, "kary", (const char *const[]){"k=3", "n=3"}, 2, seed % 2, seed);
        assert_int_equal(engine_ftree.compute(&network, &(struct engine_options){0}, &routes, &err),
                         0);
        rng_seed(&rng, seed, 5);
        routes.vls = 8;
        routes.service_levels = mem_zalloc((size_t)routes.switch_count, routes.stride);
        for (size_t i = 0; i < (size_t)routes.switch_count * routes.stride; i++)
            routes.service_levels[i] = (uint8_t)(rng_below(&rng, 8) * (rng_below(&rng, 8) == 0));
        uint64_t quick = check(&network, &routes, true, false);
        assert_int_equal(quick, check(&network, &routes, true, true));
        assert_true(quick > check(&network, &routes, false, false));
        routes_release(&routes);
        network_release(&network);
    }
}

/* The same from files, where every end point has its own levels: one host of the ring uses the VL
 * on which its opposite direction is not safe. */
static void levels_from_files_are_reversed_end_point_by_end_point(void **state)
{
    struct network network;
    struct routes routes;
    struct vl_map lanes;
    struct err err;
    struct verify_report report;
    struct text text = {0};
    build_laid_ring(&network, &routes, 1, 0);
    vl_map_init(&lanes, &network);
    for (uint32_t i = 0; i < network.terminals.count; i++)
        for (uint32_t lid = 1; lid <= network.top_lid; lid++)
            text_printf(&text, "0x%llx %u %u\n",
                        (unsigned long long)network.terminals.items[i].guid, lid,
                        *level_of(&routes, network.terminals.items[i].at, lid));
    for (uint32_t i = 0; i < network.switches.count; i++)
        for (uint32_t lid = 1; lid <= network.top_lid; lid++)
            text_printf(&text, "0x%llx %u %u\n", (unsigned long long)network.switches.items[i].guid,
                        lid, *level_of(&routes, i, lid));
    assert_int_equal(
        vl_map_read_path_sl(&lanes, from_bytes("levels", text.data, text.length, &err)), 0);
    for (int reversible = 0; reversible < 2; reversible++) {
        verify_routes(&network, &routes,
                      &(struct verify_options){.vl_map = &lanes, .reversible = reversible},
                      &report);
        assert_int_equal(report.cycle.count > 0, reversible);
        verify_report_release(&report);
    }
    text_release(&text);
    vl_map_release(&lanes);
    routes_release(&routes);
    network_release(&network);
}

/* All pairs with a terminal at one end, by every LID. */
static void assert_same_both_ways(const struct network *network, const struct routes *routes)
{
    for (uint32_t a = 1; routes->service_levels && a <= network->top_lid; a++) {
        for (uint32_t b = 1; b <= network->top_lid; b++) {
            uint32_t first = network->owner[a], second = network->owner[b];
            if (first & NETWORK_SWITCH || second == NETWORK_NONE)
                continue;
            uint32_t from = network->terminals.items[first].at;
            uint32_t to = second & NETWORK_SWITCH ? second & ~NETWORK_SWITCH
                                                  : network->terminals.items[second].at;
            assert_int_equal(*level_of(routes, from, b), *level_of(routes, to, a));
        }
    }
}

/* Returns 1 if the routes are reversible on several VLs, 0 on one VL, -1 if they are not
 * reversible. */
static int assert_promise_kept(const struct network *network, const struct routes *routes)
{
    uint64_t one_way = check(network, routes, false, false);
    assert_true(one_way > 0);
    if (routes->reversible) {
        assert_same_both_ways(network, routes);
        assert_int_equal(check(network, routes, true, false), one_way);
    } else if (routes->vls > 1) {
        assert_non_null(strstr(routes->note, "reversible paths are not proved"));
        assert_true(check(network, routes, true, false) == check(network, routes, true, true));
        return -1;
    }
    return routes->vls > 1;
}

static int compute(const struct network *network, const char *engine, unsigned lanes,
                   bool reversible, struct routes *routes)
{
    struct engine_options options = {.max_vls = lanes, .reversible = reversible};
    struct err err;
    return engine_find(engine)->compute(network, &options, routes, &err);
}

/* Small networks of all kinds, and sparse ones that need many VLs. */
static void build_any(struct network *network, uint64_t seed)
{
    struct draft draft;
    if (seed % 4 == 0) {
        build_kind(network, "irregular", (const char *const[]){"switches=40", "ports=6"}, 2, 0,
                   seed);
        return;
    }
    draft_random(&draft, seed, 16);
    if (seed % 3 == 0)
        draft_break(&draft, seed, 2, 1);
    draft_build(&draft, seed % 5 ? 0 : 1, network);
    draft_release(&draft);
}

static void reversible_routes_have_equal_levels_in_both_directions(void **state)
{
    static const char *const engines[] = {"dfsssp", "nue", "lash"};
    unsigned kept = 0, one_way = 0, refused = 0;
    for (uint64_t seed = 1; seed <= 120; seed++) {
        struct network network;
        unsigned lanes = (unsigned)(seed % 4 ? 1 + seed % 7 : 2 + seed / 4 % 3);
        build_any(&network, seed);
        for (size_t i = 0; i < 6; i++) {
            struct routes routes;
            bool strict = i >= 3;
            if (compute(&network, engines[i % 3], lanes, strict, &routes)) {
                assert_string_not_equal(engines[i % 3], "nue");
                refused += strict;
                continue;
            }
            int promise = assert_promise_kept(&network, &routes);
            kept += promise > 0;
            one_way += promise < 0;
            assert_true(promise >= 0 || (!strict && i % 3 < 2));
            routes_release(&routes);
        }
        network_release(&network);
    }
    /* None of the cases is left out. */
    assert_true(kept > 100 && one_way > 10 && refused > 10);
}

/* At opposite places of a ring of four or eight both ends choose the direction separately, unless
 * the routes must be reversible. */
static void opposite_places_of_a_ring_use_one_side_if_reversible(void **state)
{
    static const char *const tori[] = {"dims=8x8", "dims=8x3", "dims=12x5", "dims=8", "dims=6x5"};
    for (size_t i = 0; i < sizeof tori / sizeof tori[0]; i++) {
        struct network network;
        struct routes routes;
        build_kind(&network, "torus", (const char *const[]){tori[i], "hosts=2"}, 2, 0, 1);
        assert_int_equal(compute(&network, "dor", 8, false, &routes), 0);
        assert_int_equal(assert_promise_kept(&network, &routes), i < 4 ? -1 : 1);
        if (i < 4)
            assert_int_equal(check(&network, &routes, true, false), 0);
        routes_release(&routes);
        assert_int_equal(compute(&network, "dor", 8, true, &routes), 0);
        assert_int_equal(assert_promise_kept(&network, &routes), 1);
        routes_release(&routes);
        network_release(&network);
    }
}

static void damaged_trees_and_tori_are_reversible(void **state)
{
    static const char *const engines[] = {"ftree", "updn", "dor"};
    unsigned kept = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct network network;
        struct routes routes;
        if (seed % 3 == 2)
            build_kind(&network, "torus", (const char *const[]){"dims=5x3", "hosts=2"}, 2, seed % 2,
                       seed);
        else
            build_kind(&network, "kary", (const char *const[]){"k=3", "n=3"}, 2, seed % 2, seed);
        if (seed % 3 < 2)
            cut_links(&network, seed, 10 + (unsigned)seed);
        if (compute(&network, engines[seed % 3], 8, false, &routes) == 0) {
            kept += assert_promise_kept(&network, &routes) > 0;
            routes_release(&routes);
        }
        network_release(&network);
    }
    assert_true(kept > 30);
}

/* The number of VLs decides: with enough of them dfsssp assigns VLs by pairs, with fewer it does
 * not, and refuses if it must; nue does not refuse. */
static void the_number_of_vls_decides_whether_dfsssp_is_reversible(void **state)
{
    struct network network;
    struct routes routes;
    build_kind(&network, "irregular", (const char *const[]){"switches=40", "ports=6"}, 2, 0, 2);
    assert_int_equal(compute(&network, "dfsssp", 15, false, &routes), 0);
    assert_int_equal(assert_promise_kept(&network, &routes), 1);
    routes_release(&routes);
    unsigned lanes = 14;
    while (compute(&network, "dfsssp", lanes, true, &routes) == 0) {
        assert_int_equal(assert_promise_kept(&network, &routes), 1);
        routes_release(&routes);
        lanes--;
    }
    assert_in_range(lanes, 2, 8);
    assert_int_equal(compute(&network, "dfsssp", lanes, false, &routes), 0);
    assert_int_equal(assert_promise_kept(&network, &routes), -1);
    routes_release(&routes);
    for (; lanes > 0; lanes--) {
        assert_int_equal(compute(&network, "nue", lanes, true, &routes), 0);
        assert_int_equal(assert_promise_kept(&network, &routes), lanes > 1);
        routes_release(&routes);
    }
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vls_that_are_safe_in_one_direction_only_are_found),
        cmocka_unit_test(hosts_alone_are_enough_to_find_such_vls),
        cmocka_unit_test(vls_that_are_equal_in_both_directions_stay_safe),
        cmocka_unit_test(the_quick_and_the_full_walk_agree_on_reversed_levels),
        cmocka_unit_test(levels_from_files_are_reversed_end_point_by_end_point),
        cmocka_unit_test(reversible_routes_have_equal_levels_in_both_directions),
        cmocka_unit_test(opposite_places_of_a_ring_use_one_side_if_reversible),
        cmocka_unit_test(damaged_trees_and_tori_are_reversible),
        cmocka_unit_test(the_number_of_vls_decides_whether_dfsssp_is_reversible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
