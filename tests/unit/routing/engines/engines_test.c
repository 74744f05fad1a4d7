/* Properties of every engine, on random networks and on unusual ones.
 *
 * WEFT_FULL=1 takes all 200 random networks; otherwise every fifteenth. */
#include "effort.h"
#include "networks.h"

#include "routing/check/verify.h"
#include "routing/engines/engine_fallback.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NETWORKS = 200, DR_LMC = 7 };

static const char *const promising[] = {"fera", "pira", "updn", "dr", "pira+fera", "pira+dr"};
enum { PROMISING = sizeof promising / sizeof promising[0] };

static uint64_t step_through_seeds(void)
{
    return effort(1, 15, 30);
}

/* A slice that has whole and broken networks, and one that needs routes to stay down once they went
 * down. */
static uint64_t first_seed(void)
{
    return effort(0, 7, 7);
}

static int compute(const struct network *network, const char *engine, struct routes *routes,
                   struct err *err)
{
    struct engine_options options = {0};
    return engine_find(engine)->compute(network, &options, routes, err);
}

static void assert_routes_hold(const struct network *network, const struct routes *routes,
                               const char *engine, uint64_t seed)
{
    struct verify_report report;
    verify_routes(network, routes, &(struct verify_options){0}, &report);
    if (!verify_passes(&report))
        fail_msg("%s, seed %llu: %s", engine, (unsigned long long)seed,
                 report.findings.count ? report.findings.items[0] : "pairs of switches");
    assert_true(report.pairs > 0 || network->terminals.count < 2);
    verify_report_release(&report);
}

/* The network of a seed: whole for even seeds, with failures for odd ones. */
static void make_network(uint64_t seed, uint8_t lmc, struct network *network)
{
    struct draft draft;
    draft_random(&draft, seed, 128);
    if (seed % 2)
        draft_break(&draft, seed, 1 + (unsigned)(seed % 7), (unsigned)(seed % 4));
    draft_build(&draft, lmc, network);
    draft_release(&draft);
}

static void all_pairs_are_reachable_and_nothing_can_deadlock(void **state)
{
    struct network network;
    struct routes routes;
    struct err err = {0};
    for (uint64_t seed = first_seed(); seed < NETWORKS; seed += step_through_seeds()) {
        for (size_t i = 0; i < PROMISING; i++) {
            const struct engine *engine = engine_find(promising[i]);
            make_network(seed, engine->renames ? DR_LMC : 0, &network);
            if (compute(&network, promising[i], &routes, &err))
                fail_msg("%s, seed %llu: %s", promising[i], (unsigned long long)seed, err.message);
            assert_routes_hold(&network, &routes, promising[i], seed);
            assert_true(routes.lmc_needed <= DR_LMC);
            routes_release(&routes);
            network_release(&network);
        }
    }
}

/* Hops from every switch with terminals to every terminal, by the DLID that a source is given. */
static uint64_t sum_of_hops(const struct network *network, const char *engine)
{
    struct routes routes;
    struct verify_report report;
    struct err err;
    assert_int_equal(compute(network, engine, &routes, &err), 0);
    verify_routes(network, &routes, &(struct verify_options){0}, &report);
    uint64_t sum = report.hops_sum;
    verify_report_release(&report);
    routes_release(&routes);
    return sum;
}

static void renaming_never_makes_routes_longer_and_sometimes_shorter(void **state)
{
    unsigned shorter = 0;
    for (uint64_t seed = 0; seed < NETWORKS; seed += 15) {
        struct network network;
        make_network(seed, DR_LMC, &network);
        uint64_t fera = sum_of_hops(&network, "fera"), dr = sum_of_hops(&network, "dr");
        assert_true(dr <= fera);
        shorter += dr < fera;
        network_release(&network);
    }
    assert_true(shorter > 0);
}

/* True if the path between two terminals is another one. */
static bool path_differs(const struct network *network, const struct routes *one,
                         const struct routes *other, uint32_t source, uint32_t destination)
{
    uint16_t lid = path_lookup(one, network, source, destination).dlid;
    uint16_t other_lid = path_lookup(other, network, source, destination).dlid;
    uint32_t at = network_switch_of(network, source);
    while (at != network_switch_of(network, destination)) {
        uint8_t port = routes_port(one, at, lid);
        if (port != routes_port(other, at, other_lid))
            return true;
        at = network_next(network, at, port);
        assert_int_not_equal(at, NETWORK_NONE);
    }
    return false;
}

/* TPDS 2006, section 2.4: paths of DR come from an algorithm of their own, not from FERa's tables.
 */
static void renamed_paths_are_not_those_of_fera(void **state)
{
    unsigned networks = 0, different = 0;
    for (unsigned size = 8; size <= 64; size += 8)
        for (uint64_t seed = 1; seed <= 3; seed++, networks++) {
            struct network network;
            struct routes fera, dr;
            struct err err;
            char switches[16];
            unsigned pairs = 0;
            snprintf(switches, sizeof switches, "switches=%u", size);
            build_kind(&network, "irregular", (const char *[]){switches, "ports=4"}, 2, DR_LMC,
                       seed);
            assert_int_equal(compute(&network, "fera", &fera, &err), 0);
            assert_int_equal(compute(&network, "dr", &dr, &err), 0);
            for (uint32_t a = 0; a < network.terminals.count; a++)
                for (uint32_t b = 0; b < network.terminals.count; b++)
                    pairs += path_differs(&network, &fera, &dr, a, b);
            different += pairs > 0;
            routes_release(&fera);
            routes_release(&dr);
            network_release(&network);
        }
    assert_true(2 * different >= networks);
}

/* A destination with pure-down routes of three different lengths, all longer than the legal one. */
static void too_few_lids_for_renaming_are_an_error(void **state)
{
    struct err err = {0};
    unsigned refused = 0;
    for (uint64_t seed = 0; seed < NETWORKS; seed += 15) {
        struct network network;
        struct routes routes;
        make_network(seed, 0, &network);
        int rc = compute(&network, "dr", &routes, &err);
        if (rc == 0) {
            assert_int_equal(routes.lmc_needed, 0);
            routes_release(&routes);
        } else {
            assert_int_equal(rc, -ENOSPC);
            assert_non_null(strstr(err.message, "LMC"));
            assert_null(routes.ports);
            refused++;
        }
        network_release(&network);
    }
    assert_true(refused > 0);
}

static void tables_do_not_depend_on_the_order_of_jobs(void **state)
{
    struct engine_options side_by_side = {.workers = &backwards, .allow_cycles = true};
    struct engine_options alone = {.allow_cycles = true};
    for (uint64_t seed = 0; seed < 10; seed++) {
        for (size_t i = 0; engine_at(i); i++) {
            struct network network;
            struct routes a, b;
            struct err err;
            make_network(seed, engine_at(i)->renames ? DR_LMC : 1, &network);
            int rc = engine_at(i)->compute(&network, &alone, &a, &err);
            struct err other;
            assert_int_equal(engine_at(i)->compute(&network, &side_by_side, &b, &other), rc);
            if (rc) {
                assert_true(engine_refused(rc));
                assert_string_equal(err.message, other.message);
            } else {
                assert_int_equal(routes_compare(&a, &b).entries, 0);
                assert_string_equal(a.note, b.note);
            }
            routes_release(&a);
            routes_release(&b);
            network_release(&network);
        }
    }
}

/* The number of switches on the way; fails if the tables do not lead there. */
static unsigned walk(const struct network *network, const struct routes *routes, uint32_t from,
                     uint32_t to)
{
    unsigned hops = 0;
    while (from != to) {
        unsigned port = routes_port(routes, from, network_lid(network, NETWORK_SWITCH | to));
        uint32_t next = network_next(network, from, port);
        assert_true(next != NETWORK_NONE && ++hops <= 8);
        from = next;
    }
    return hops;
}

/* What OpenSM does only with connect_roots. */
static void every_engine_connects_the_roots_of_a_tree(void **state)
{
    static const char *const words[] = {"m=4,4", "w=1,3"};
    unsigned tried = 0;
    for (size_t i = 0; engine_at(i); i++) {
        struct network network;
        struct routes routes;
        struct err err = {0};
        build_kind(&network, "fattree", words, 2, engine_at(i)->renames ? DR_LMC : 0, 1);
        uint32_t first = (uint32_t)network.switches.count - 3; /* spines follow leaves */
        int rc = engine_at(i)->compute(&network, &(struct engine_options){0}, &routes, &err);
        for (uint32_t a = first; rc == 0 && a < network.switches.count; a++)
            for (uint32_t b = first; b < network.switches.count; b++)
                assert_int_equal(walk(&network, &routes, a, b), a == b ? 0 : 2);
        assert_true(rc == 0 || engine_at(i) == &engine_dor);
        tried += rc == 0;
        routes_release(&routes);
        network_release(&network);
    }
    assert_true(tried >= 13);
}

static void minhop_on_a_ring_is_refused_with_the_cycle(void **state)
{
    struct network network;
    struct routes routes;
    struct err err = {0};
    struct engine_options allowed = {.allow_cycles = true};
    build_ring(&network, 6);
    assert_int_equal(compute(&network, "minhop", &routes, &err), -EDEADLK);
    /* Around the whole ring, each switch after its neighbour. */
    assert_non_null(strstr(err.message, "'ring1' port 2 -> 'ring0' port 2 -> 'ring5' port 2"));
    assert_non_null(strstr(err.message, "'ring4' port 2 -> 'ring3' port 2 -> 'ring2' port 2"));
    assert_null(routes.ports);
    assert_int_equal(engine_minhop.compute(&network, &allowed, &routes, &err), 0);
    assert_non_null(strstr(routes.note, "COULD DEADLOCK"));
    routes_release(&routes);
    network_release(&network);
}

/* Elsewhere updn has been seen to give up on this ring, and to leave minimum hops with a cycle. */
static void updn_on_a_ring_stays_updn(void **state)
{
    struct network network;
    struct routes routes;
    struct err err = {0};
    struct verify_report report;
    uint32_t root = 0;
    build_ring(&network, 6);
    assert_int_equal(compute(&network, "updn", &routes, &err), 0);
    assert_string_equal(routes.engine, "updn");
    assert_non_null(strstr(routes.note, "root 'ring0'"));
    struct verify_options options = {.roots = &root, .root_count = 1};
    verify_routes(&network, &routes, &options, &report);
    assert_true(verify_passes(&report));
    assert_int_equal(report.cycle.count, 0);
    assert_int_equal(report.down_up, 0);
    /* From one neighbour of the opposite switch to the other, through the root. */
    assert_int_equal(report.hops_max, 4 + 1);
    verify_report_release(&report);
    routes_release(&routes);
    network_release(&network);
}

static void separate_parts_are_routed_separately(void **state)
{
    struct network network;
    network_init(&network);
    for (unsigned i = 0; i < 6; i++) {
        network_add_switch(&network, 1 + i, (uint16_t)(1 + i), 0, 4);
        network_add_terminal(&network, 0x100 + i, (uint16_t)(16 + 4 * i), 2, i, 4);
    }
    network_link(&network, 0, 1, 1, 1);
    network_link(&network, 2, 1, 3, 1);
    network_link(&network, 3, 2, 4, 2);
    network_link(&network, 4, 1, 2, 2);
    assert_int_equal(network_finish(&network), 0);
    for (size_t i = 0; i < PROMISING; i++) {
        struct routes routes;
        struct err err = {0};
        if (compute(&network, promising[i], &routes, &err))
            fail_msg("%s: %s", promising[i], err.message);
        assert_routes_hold(&network, &routes, promising[i], 0);
        assert_int_equal(routes_port(&routes, 0, 3), PORT_NONE);
        assert_int_equal(path_lookup(&routes, &network, 0, 3).dlid, 0);
        assert_int_equal(path_lookup(&routes, &network, 0, 1).dlid, 20);
        assert_int_equal(path_lookup(&routes, &network, 0, NETWORK_SWITCH | 1).dlid, 2);
        routes_release(&routes);
    }
    network_release(&network);
}

static void small_networks_are_handled(void **state)
{
    for (unsigned switches = 0; switches < 3; switches++) {
        for (size_t i = 0; engine_at(i); i++) {
            struct network network;
            struct routes routes;
            struct err err = {0};
            network_init(&network);
            for (unsigned at = 0; at < switches; at++)
                network_add_switch(&network, 1 + at, (uint16_t)(1 + at), 0, 3);
            if (switches) {
                network_link(&network, 0, 1, 0, 2); /* a cable from a switch to itself */
                network_link(&network, 0, 3, switches - 1, 1);
            }
            assert_int_equal(network_finish(&network), 0);
            if (compute(&network, engine_at(i)->name, &routes, &err))
                fail_msg("%s: %s", engine_at(i)->name, err.message);
            assert_routes_hold(&network, &routes, engine_at(i)->name, switches);
            routes_release(&routes);
            network_release(&network);
        }
    }
}

static void load_network(struct network *network, const char *kind, const char *const *words,
                         size_t count, uint8_t lmc)
{
    struct topology topology;
    struct err err;
    topology_init(&topology);
    if (topology_generate(&topology, kind, words, count, 1, &err))
        fail_msg("%s", err.message);
    assert_int_equal(network_from_topology_lmc(network, &topology, lmc, &err), 0);
    topology_release(&topology);
}

static uint64_t largest_load(const struct network *network, const char *engine)
{
    struct routes routes;
    struct verify_report report;
    struct err err = {0};
    if (compute(network, engine, &routes, &err))
        fail_msg("%s: %s", engine, err.message);
    verify_routes(network, &routes, &(struct verify_options){0}, &report);
    assert_true(verify_passes(&report));
    uint64_t load = report.load_max;
    verify_report_release(&report);
    routes_release(&routes);
    return load;
}

static void balanced_engines_load_all_links_of_a_fat_tree_equally(void **state)
{
    struct network network;
    load_network(&network, "fattree", (const char *const[]){"324"}, 1, 0);
    assert_int_equal(largest_load(&network, "updn"), 306);
    assert_int_equal(largest_load(&network, "minhop"), 306);
    assert_int_equal(largest_load(&network, "fera"), 5508); /* one root, at a leaf */
    network_release(&network);
    /* Three stages: 64 hosts, 16 leaves; a link up carries 4 of the 48 hosts of other pods. */
    load_network(&network, "kary", (const char *const[]){"k=4", "n=3"}, 2, 0);
    assert_true(largest_load(&network, "updn") <= 63);
    network_release(&network);
}

static void lids_of_one_port_take_different_links(void **state)
{
    struct network network;
    struct routes routes;
    struct err err;
    bool used[5] = {0};
    network_init(&network);
    network_add_switch(&network, 1, 1, 0, 8);
    network_add_switch(&network, 2, 2, 0, 8);
    for (unsigned port = 1; port <= 4; port++)
        network_link(&network, 0, port, 1, port);
    network_add_terminal(&network, 3, 4, 2, 0, 5);
    network_add_terminal(&network, 4, 8, 2, 1, 5);
    assert_int_equal(network_finish(&network), 0);
    assert_int_equal(compute(&network, "updn", &routes, &err), 0);
    for (unsigned offset = 0; offset < 4; offset++) {
        uint8_t port = routes_port(&routes, 0, 8 + offset);
        assert_in_range(port, 1, 4);
        assert_false(used[port]);
        used[port] = true;
    }
    routes_release(&routes);
    network_release(&network);
}

static void roots_that_leave_a_pair_without_a_route_are_refused(void **state)
{
    /* A line r1 - a - b - r2 with both ends as roots: from r2 only down, then up to a is illegal.
     */
    struct network network;
    struct routes routes;
    struct err err = {0};
    const uint64_t both[] = {1, 4}, one[] = {4, 99};
    struct engine_options options = {
        .root = ROOT_LIST, .root_guids = both, .root_count = 2, .allow_cycles = false};
    network_init(&network);
    for (unsigned i = 0; i < 4; i++) {
        network_add_switch(&network, 1 + i, (uint16_t)(1 + i), 0, 3);
        network_add_terminal(&network, 0x10 + i, (uint16_t)(8 + i), 0, i, 3);
    }
    for (unsigned i = 0; i < 3; i++)
        network_link(&network, i, 2, i + 1, 1);
    assert_int_equal(network_finish(&network), 0);
    assert_int_equal(engine_updn.compute(&network, &options, &routes, &err), -ENETUNREACH);
    assert_int_equal(engine_fera.compute(&network, &options, &routes, &err), -ENETUNREACH);
    assert_int_equal(engine_pira.compute(&network, &options, &routes, &err), -EINVAL);
    options.root_guids = one; /* 99 is not there now */
    assert_int_equal(engine_updn.compute(&network, &options, &routes, &err), 0);
    routes_release(&routes);
    options.root_guids = one + 1;
    options.root_count = 1;
    assert_int_equal(engine_updn.compute(&network, &options, &routes, &err), -ENOENT);
    network_release(&network);
}

static void a_fat_tree_that_lost_links_keeps_its_roots(void **state)
{
    struct network network;
    struct routes routes;
    struct err err = {0};
    load_network(&network, "kary", (const char *const[]){"k=4", "n=3"}, 2, 0);
    /* Cut the first link of each of the first three switches without terminals. */
    for (uint32_t at = 0, cut = 0; at < network.switches.count && cut < 3; at++) {
        if (network_terminal_count(&network, at))
            continue;
        const struct network_edge *edge = &network.edges[network.first_edge[at]];
        uint32_t far = network.switches.items[edge->to].first_port + edge->to_port;
        network.ports.items[far].peer = NETWORK_NONE;
        network.ports.items[network.switches.items[at].first_port + edge->port].peer = NETWORK_NONE;
        network_finish(&network);
        cut++;
    }
    if (compute(&network, "updn", &routes, &err))
        fail_msg("%s", err.message);
    assert_routes_hold(&network, &routes, "updn", 0);
    assert_non_null(strstr(routes.note, "top stage"));
    routes_release(&routes);
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs_are_reachable_and_nothing_can_deadlock),
        cmocka_unit_test(renamed_paths_are_not_those_of_fera),
        cmocka_unit_test(renaming_never_makes_routes_longer_and_sometimes_shorter),
        cmocka_unit_test(too_few_lids_for_renaming_are_an_error),
        cmocka_unit_test(tables_do_not_depend_on_the_order_of_jobs),
        cmocka_unit_test(every_engine_connects_the_roots_of_a_tree),
        cmocka_unit_test(minhop_on_a_ring_is_refused_with_the_cycle),
        cmocka_unit_test(updn_on_a_ring_stays_updn),
        cmocka_unit_test(separate_parts_are_routed_separately),
        cmocka_unit_test(small_networks_are_handled),
        cmocka_unit_test(balanced_engines_load_all_links_of_a_fat_tree_equally),
        cmocka_unit_test(lids_of_one_port_take_different_links),
        cmocka_unit_test(roots_that_leave_a_pair_without_a_route_are_refused),
        cmocka_unit_test(a_fat_tree_that_lost_links_keeps_its_roots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
