/* The option `disjoint`: with two LIDs a port, routes reach the bound of the cables wherever the
 * VLs suffice, and the tables are free of deadlock. Both are measured by the checks, which know
 * nothing of trees. */
#include "networks.h"

#include "routing/check/disjoint.h"
#include "routing/check/overlap.h"
#include "routing/check/verify.h"
#include "routing/engines/engine_fallback.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int compute(const char *engine, const struct network *network,
                   const struct engine_options *options, struct routes *routes)
{
    struct engine_list list = {.count = 1, .items = {engine_find(engine)}};
    struct err err = {0};
    int status = engine_list_compute(&list, network, options, routes, NULL, &err);
    if (status && status != -EMEDIUMTYPE)
        print_message("%s\n", err.message);
    return status;
}

static void assert_proved(const struct network *network, const struct routes *routes)
{
    struct verify_report report;
    verify_routes(network, routes, &(struct verify_options){0}, &report);
    assert_true(verify_delivers(&report));
    assert_int_equal(report.cycle.count, 0);
    verify_report_release(&report);
}

/* Pairs below their bound, in cables and in switches together. */
static uint64_t below_bound(const struct network *network, const struct routes *routes,
                            uint64_t *needless)
{
    struct disjoint_report report;
    disjoint_measure(network, routes, NULL, 0, &report);
    uint64_t below = report.sums[DISJOINT_LINKS].below + report.sums[DISJOINT_SWITCHES].below;
    *needless = report.sums[DISJOINT_LINKS].needless + report.sums[DISJOINT_SWITCHES].needless;
    assert_int_equal(report.undelivered, 0);
    disjoint_report_release(&report);
    return below;
}

/* Without the option this many pairs, at least, are below their bound; with it none is. */
static void assert_improves(const char *engine, const char *kind, const char *const *words,
                            size_t count, uint64_t least_before)
{
    struct network network;
    struct routes routes;
    for (uint8_t lmc = 1; lmc <= 2; lmc++) {
        uint64_t needless;
        build_kind(&network, kind, words, count, lmc, 1);
        assert_int_equal(compute(engine, &network, &(struct engine_options){0}, &routes), 0);
        uint64_t before = below_bound(&network, &routes, &needless);
        if (lmc == 1 && before < least_before)
            fail_msg("%s on %s: only %llu pairs", engine, kind, (unsigned long long)before);
        routes_release(&routes);
        assert_int_equal(
            compute(engine, &network, &(struct engine_options){.disjoint = true}, &routes), 0);
        assert_proved(&network, &routes);
        uint64_t after = below_bound(&network, &routes, &needless);
        assert_int_equal(needless, 0);
        if (lmc == 1)
            assert_int_equal(after, 0);
        routes_release(&routes);
        network_release(&network);
    }
}

static void grids_and_irregular_networks_reach_their_bound(void **state)
{
    static const char *const torus[] = {"dims=4x4"}, *const mesh[] = {"dims=4x3"},
                             *const irregular[] = {"16", "hosts=16"}, *const ring[] = {"7"};
    static const char *const engines[] = {"updn", "dfsssp"};
    for (size_t i = 0; i < 2; i++) {
        assert_improves(engines[i], "torus", torus, 1, 100);
        assert_improves(engines[i], "mesh", mesh, 1, 100);
        assert_improves(engines[i], "irregular", irregular, 2, 100);
        assert_improves(engines[i], "ring", ring, 1, 40);
    }
}

static struct route_pair pair_at(const struct network *network, uint32_t from, uint32_t to,
                                 unsigned bits)
{
    const struct network_terminal *terminals = network->terminals.items;
    return (struct route_pair){{from, to},
                               {(uint16_t)(terminals[from].lid + (bits & 1)),
                                (uint16_t)(terminals[to].lid + (bits >> 1))}};
}

/* Whether two pairs of paths share only the cables of the hosts: with equal path bits, or not. */
static bool survives(const struct network *network, const struct routes *routes, uint32_t from,
                     uint32_t to)
{
    bool survives = false;
    for (unsigned bits = 0; bits < 2; bits++) {
        struct route_pair a = pair_at(network, from, to, bits);
        struct route_pair b = pair_at(network, from, to, 3 - bits);
        struct route_overlap overlap = route_pairs_overlap(network, routes, &a, &b);
        assert_true(overlap.delivers);
        survives |= overlap.cables == 2 && overlap.switches == 0;
    }
    return survives;
}

/* A failure in either direction ends a path: connections need disjoint pairs of paths. */
static void assert_connections_survive(const char *kind, const char *const *words, size_t count,
                                       unsigned least, unsigned bound)
{
    struct network network;
    struct routes routes;
    unsigned pairs = 0, surviving = 0;
    build_kind(&network, kind, words, count, 1, 1);
    assert_int_equal(compute("updn", &network, &(struct engine_options){.disjoint = true}, &routes),
                     0);
    for (uint32_t from = 0; from < network.terminals.count; from++)
        for (uint32_t to = 0; to < network.terminals.count; to++) {
            if (from == to)
                continue;
            pairs++;
            surviving += survives(&network, &routes, from, to);
        }
    print_message("%s: %u of %u pairs, %u possible\n", kind, surviving, pairs, bound);
    assert_in_range(surviving, least, bound);
    routes_release(&routes);
    network_release(&network);
}

static void connections_survive_a_failure_in_either_direction(void **state)
{
    static const char *const torus[] = {"dims=4x4"}, *const mesh[] = {"dims=4x3"},
                             *const irregular[] = {"16", "hosts=16"}, *const ring[] = {"7"};
    assert_connections_survive("ring", ring, 1, 42, 42);
    assert_connections_survive("mesh", mesh, 1, 132, 132);
    assert_connections_survive("torus", torus, 1, 235, 240);
    /* 58 pairs have a bridge or a switch between them. */
    assert_connections_survive("irregular", irregular, 2, 182, 182);
}

static void trees_keep_the_routes_of_the_engine(void **state)
{
    static const char *const words[] = {"4", "3"};
    static const char *const engines[] = {"updn", "ftree", "dfsssp"};
    struct network network;
    struct routes plain, disjoint;
    uint64_t needless;
    for (size_t i = 0; i < 3; i++) {
        build_kind(&network, "kary", words, 2, 1, 1);
        assert_int_equal(
            compute(engines[i], &network, &(struct engine_options){.max_vls = 4}, &plain), 0);
        assert_int_equal(compute(engines[i], &network,
                                 &(struct engine_options){.disjoint = true, .max_vls = 8},
                                 &disjoint),
                         0);
        assert_int_equal(routes_compare(&plain, &disjoint).entries, 0);
        assert_int_equal(below_bound(&network, &disjoint, &needless), 0);
        routes_release(&plain);
        routes_release(&disjoint);
        network_release(&network);
    }
}

static void a_damaged_tree_reaches_its_bound(void **state)
{
    static const char *const words[] = {"2", "3"};
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct network network;
        struct routes routes;
        uint64_t needless;
        build_kind(&network, "kary", words, 2, 1, 1);
        cut_links(&network, seed, 12);
        if (compute("updn", &network, &(struct engine_options){.disjoint = true}, &routes) == 0) {
            assert_proved(&network, &routes);
            assert_int_equal(below_bound(&network, &routes, &needless), 0);
            routes_release(&routes);
        }
        network_release(&network);
    }
}

/* Random networks with bridges and parallel links: whatever the VLs, the tables are right. */
static void random_networks_are_free_of_deadlock(void **state)
{
    unsigned improved = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct draft draft;
        struct network network;
        struct routes routes;
        uint64_t needless, needless_before;
        struct engine_options options = {.max_vls = 1 + (unsigned)(seed % 8)};
        draft_random(&draft, seed, 24);
        draft_build(&draft, 1 + seed % 2, &network);
        assert_int_equal(compute("updn", &network, &options, &routes), 0);
        below_bound(&network, &routes, &needless_before);
        routes_release(&routes);
        options.disjoint = true;
        assert_int_equal(compute("updn", &network, &options, &routes), 0);
        assert_proved(&network, &routes);
        assert_true(routes.vls <= options.max_vls);
        below_bound(&network, &routes, &needless);
        improved += needless < needless_before;
        if (options.max_vls == 8)
            assert_int_equal(needless, 0);
        routes_release(&routes);
        network_release(&network);
        draft_release(&draft);
    }
    assert_true(improved >= 15);
}

static void engines_that_rename_refuse(void **state)
{
    struct network network;
    struct routes routes;
    build_ring(&network, 4);
    assert_int_equal(compute("dr", &network, &(struct engine_options){.disjoint = true}, &routes),
                     -EMEDIUMTYPE);
    assert_int_equal(compute("dfsssp", &network,
                             &(struct engine_options){.disjoint = true, .reversible = true},
                             &routes),
                     -EMEDIUMTYPE);
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_and_irregular_networks_reach_their_bound),
        cmocka_unit_test(connections_survive_a_failure_in_either_direction),
        cmocka_unit_test(trees_keep_the_routes_of_the_engine),
        cmocka_unit_test(a_damaged_tree_reaches_its_bound),
        cmocka_unit_test(random_networks_are_free_of_deadlock),
        cmocka_unit_test(engines_that_rename_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
