/* Disjoint routes on networks where they can be counted by hand. */
#include "networks.h"

#include "routing/check/disjoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Two hosts with two LIDs each, at switches 0 and 3; switches 1 and 2 are between them. Cables:
 * 0-1, 0-2, 1-3, 2-3, and a second one 0-1. LIDs: switches 1 to 4, hosts 10 and 12. */
static void build_square(struct network *network)
{
    network_init(network);
    for (unsigned i = 0; i < 4; i++)
        network_add_switch(network, 1 + i, (uint16_t)(1 + i), 0, 8);
    network_link(network, 0, 1, 1, 1);
    network_link(network, 0, 2, 2, 1);
    network_link(network, 1, 2, 3, 1);
    network_link(network, 2, 2, 3, 2);
    network_link(network, 0, 3, 1, 3);
    network_add_terminal(network, 0x10, 10, 1, 0, 8);
    network_add_terminal(network, 0x11, 12, 1, 3, 8);
    assert_int_equal(network_finish(network), 0);
}

/* Towards both hosts: over switch 1, the second LID by `port` of the source's switch. */
static void fill(struct network *network, struct routes *routes, uint8_t port)
{
    routes_init(routes, network, "hand");
    for (uint32_t at = 0; at < 4; at++)
        routes_fill_own(routes, network, at);
    for (uint16_t lid = 12; lid < 14; lid++) {
        routes_set(routes, 0, lid, lid == 12 ? 1 : port);
        routes_set(routes, 1, lid, 2);
        routes_set(routes, 2, lid, 2);
    }
    for (uint16_t lid = 10; lid < 12; lid++) {
        routes_set(routes, 3, lid, lid == 10 || port != 2 ? 1 : 2);
        routes_set(routes, 1, lid, lid == 10 || port != 3 ? 1 : 3);
        routes_set(routes, 2, lid, 1);
    }
}

static void routes_over_different_switches_are_disjoint(void **state)
{
    struct network network;
    struct routes routes;
    struct disjoint_report report;
    build_square(&network);
    fill(&network, &routes, 2);
    disjoint_measure(&network, &routes, NULL, 10, &report);
    assert_int_equal(report.pairs, 2);
    for (unsigned kind = 0; kind < DISJOINT_KINDS; kind++) {
        assert_int_equal(report.sums[kind].routes, 4);
        assert_int_equal(report.sums[kind].bound, 4);
        assert_int_equal(report.sums[kind].below, 0);
        assert_int_equal(report.sums[kind].exposed, 0);
    }
    assert_int_equal(report.worst.count, 0);
    disjoint_report_release(&report);
    routes_release(&routes);
    network_release(&network);
}

/* The second route takes another cable to the same switch: both need switch 1 and cable 1-3. */
static void what_all_routes_share_is_named(void **state)
{
    struct network network;
    struct routes routes;
    struct disjoint_report report;
    build_square(&network);
    fill(&network, &routes, 3);
    disjoint_measure(&network, &routes, NULL, 1, &report);
    for (unsigned kind = 0; kind < DISJOINT_KINDS; kind++) {
        assert_int_equal(report.sums[kind].routes, 2);
        assert_int_equal(report.sums[kind].below, 2);
        assert_int_equal(report.sums[kind].needless, 2);
        assert_int_equal(report.sums[kind].shared, 2);
    }
    assert_int_equal(report.worst.count, 1);
    const struct disjoint_pair *pair = &report.worst.items[0];
    const uint32_t *shared = report.shared.items + pair->first_shared;
    assert_int_equal(pair->shared[DISJOINT_LINKS], 1);
    assert_int_equal(shared[0], network.switches.items[1].first_port + 2);
    assert_int_equal(pair->shared[DISJOINT_SWITCHES], 1);
    assert_int_equal(shared[1], 1);
    disjoint_report_release(&report);
    routes_release(&routes);
    network_release(&network);
}

/* Without switch 2 the cables permit no more than the tables have; a second cable between the
 * switches of the hosts would. */
static void a_bridge_is_no_fault_of_the_tables(void **state)
{
    struct network network;
    struct routes routes;
    struct disjoint_report report;
    network_init(&network);
    for (unsigned i = 0; i < 3; i++)
        network_add_switch(&network, 1 + i, (uint16_t)(1 + i), 0, 8);
    network_link(&network, 0, 1, 1, 1);
    network_link(&network, 0, 3, 1, 3);
    network_link(&network, 1, 2, 2, 1);
    network_add_terminal(&network, 0x10, 10, 0, 0, 8);
    network_add_terminal(&network, 0x11, 12, 1, 2, 8);
    assert_int_equal(network_finish(&network), 0);
    routes_init(&routes, &network, "hand");
    for (uint32_t at = 0; at < 3; at++)
        routes_fill_own(&routes, &network, at);
    for (uint16_t lid = 12; lid < 14; lid++) {
        routes_set(&routes, 0, lid, 1);
        routes_set(&routes, 1, lid, 2);
    }
    routes_set(&routes, 2, 10, 1);
    routes_set(&routes, 1, 10, 1);
    disjoint_measure(&network, &routes, NULL, 10, &report);
    assert_int_equal(report.pairs, 1);
    assert_int_equal(report.single, 1);
    assert_int_equal(report.sums[DISJOINT_LINKS].bound, 1);
    assert_int_equal(report.sums[DISJOINT_LINKS].below, 0);
    assert_int_equal(report.sums[DISJOINT_LINKS].exposed, 1);
    assert_int_equal(report.sums[DISJOINT_LINKS].needless, 0);
    assert_int_equal(report.worst.count, 0);
    disjoint_report_release(&report);
    routes_release(&routes);
    network_release(&network);
}

/* The number of routes without a common cable never exceeds the flow, and a lost entry takes its
 * pair out. */
static void random_tables_keep_to_the_bound(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct draft draft;
        struct network network;
        struct routes routes;
        struct disjoint_report report, other;
        struct err err;
        draft_random(&draft, seed, 12);
        draft_build(&draft, 2, &network);
        if (engine_minhop.compute(&network, &(struct engine_options){.allow_cycles = true}, &routes,
                                  &err))
            fail_msg("%s", err.message);
        disjoint_measure(&network, &routes, NULL, 4, &report);
        for (unsigned kind = 0; kind < DISJOINT_KINDS; kind++)
            assert_true(report.sums[kind].routes <= report.sums[kind].bound);
        for (size_t i = 0; i < report.worst.count; i++)
            for (unsigned kind = 0; kind < DISJOINT_KINDS; kind++)
                assert_true(report.worst.items[i].routes[kind] <=
                            report.worst.items[i].bound[kind]);
        disjoint_measure(&network, &routes, &backwards, 4, &other);
        assert_memory_equal(report.sums, other.sums, sizeof report.sums);
        assert_int_equal(report.worst.count, other.worst.count);
        if (report.worst.count)
            assert_memory_equal(report.worst.items, other.worst.items,
                                report.worst.count * sizeof *report.worst.items);
        disjoint_report_release(&report);
        disjoint_report_release(&other);
        routes_release(&routes);
        network_release(&network);
        draft_release(&draft);
    }
}

static void a_route_that_does_not_deliver_does_not_count(void **state)
{
    struct network network;
    struct routes routes;
    struct disjoint_report report;
    build_square(&network);
    fill(&network, &routes, 2);
    routes_set(&routes, 2, 13, PORT_NONE);
    disjoint_measure(&network, &routes, NULL, 10, &report);
    assert_int_equal(report.pairs, 1);
    assert_int_equal(report.undelivered, 1);
    disjoint_report_release(&report);
    routes_release(&routes);
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_over_different_switches_are_disjoint),
        cmocka_unit_test(what_all_routes_share_is_named),
        cmocka_unit_test(a_bridge_is_no_fault_of_the_tables),
        cmocka_unit_test(random_tables_keep_to_the_bound),
        cmocka_unit_test(a_route_that_does_not_deliver_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
