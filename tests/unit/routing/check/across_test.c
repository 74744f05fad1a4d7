/* Several subnets, built by hand: packets across, loops of routers, and cycles that no subnet has
 * alone. */
#include "routing/check/across.h"
#include "routing/check/verify.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { LINES = 3, HOST_LID = 10, ROUTER_LID = 20 };

/* A line of two switches with a host each, and a router at one of them or at both. */
struct line {
    struct network network;
    struct routes routes;
    struct border border;
    struct dependency_graph dependencies;
    struct verify_report report;
};

static uint64_t prefix_of(unsigned subnet)
{
    return UINT64_C(0xfec0000000000000) + subnet + 1;
}
static uint64_t port_of(unsigned router, unsigned subnet)
{
    return 0x300000 + router * 16 + subnet + 1;
}

static void open_line(struct line *line, unsigned subnet)
{
    *line = (struct line){.border.prefix = prefix_of(subnet)};
    network_init(&line->network);
    for (unsigned at = 0; at < 2; at++) {
        network_add_switch(&line->network, 0x200000 + subnet * 2 + at, (uint16_t)(at + 1), 0, 8);
        network_add_terminal(&line->network, 0x100000 + subnet * 2 + at, (uint16_t)(HOST_LID + at),
                             0, at, 2);
    }
    network_link(&line->network, 0, 1, 1, 1);
}

/* A router's port 1 + subnet at a switch. */
static void add_router(struct line *line, unsigned subnet, unsigned router, uint32_t at)
{
    uint64_t guid = port_of(router, subnet);
    network_add_terminal(&line->network, guid, (uint16_t)(ROUTER_LID + router), 0, at, 3 + router);
    vec_push(&line->border.ports,
             ((struct border_port){0x300000 + router * 16, guid, (uint8_t)(1 + subnet)}));
}

/* Packets of end ports (`from` 0), or of a router, to the prefix of a subnet go to a router. */
static void add_choice(struct line *line, uint64_t from, unsigned to, uint64_t by, uint8_t weight)
{
    vec_push(&line->border.choices, ((struct border_choice){prefix_of(to), from, by, weight}));
}

static void close_line(struct line *line)
{
    assert_int_equal(network_finish(&line->network), 0);
    routes_init(&line->routes, &line->network, "by hand");
    for (uint32_t lid = 1; lid <= line->network.top_lid; lid++) {
        uint32_t owner = network_owner(&line->network, lid);
        if (owner == NETWORK_NONE)
            continue;
        for (uint32_t at = 0; at < 2; at++) {
            bool home = network_switch_of(&line->network, owner) == at;
            uint8_t port = !home                    ? 1
                           : owner & NETWORK_SWITCH ? 0
                                                    : line->network.terminals.items[owner].port;
            routes_set(&line->routes, at, lid, port);
        }
    }
    verify_routes(&line->network, &line->routes,
                  &(struct verify_options){.keep = &line->dependencies}, &line->report);
    assert_true(verify_passes(&line->report));
}

static void check_lines(struct line *lines, size_t count, bool discards,
                        struct across_report *report)
{
    struct across_subnet subnets[LINES];
    struct err err = {0};
    for (size_t i = 0; i < count; i++) {
        close_line(&lines[i]);
        subnets[i] = (struct across_subnet){&lines[i].network, &lines[i].routes, &lines[i].border,
                                            &lines[i].dependencies};
    }
    if (across_check(subnets, count, discards, report, &err) < 0)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < count; i++) {
        dependency_release(&lines[i].dependencies);
        verify_report_release(&lines[i].report);
        routes_release(&lines[i].routes);
        border_release(&lines[i].border);
        network_release(&lines[i].network);
    }
}

/* Two subnets and two routers, the second one at switch `at` of each. */
static void join_two(struct line lines[2], uint32_t at)
{
    for (unsigned subnet = 0; subnet < 2; subnet++) {
        open_line(&lines[subnet], subnet);
        add_router(&lines[subnet], subnet, 0, 0);
        add_router(&lines[subnet], subnet, 1, at);
        for (unsigned router = 0; router < 2; router++)
            add_choice(&lines[subnet], 0, 1 - subnet, port_of(router, subnet), 0);
    }
}

static void routers_at_different_switches_close_a_cycle(void **state)
{
    struct line lines[2];
    struct across_report report;
    join_two(lines, 1);
    check_lines(lines, 2, false, &report);
    assert_int_equal(report.pairs, 2);
    assert_int_equal(report.undelivered, 0);
    assert_int_equal(report.crossings_max, 1);
    assert_true(report.cycle);
    across_release(&report);
    join_two(lines, 1);
    check_lines(lines, 2, true, &report);
    assert_false(report.cycle);
    across_release(&report);
}

static void routers_at_one_switch_close_none(void **state)
{
    struct line lines[2];
    struct across_report report;
    join_two(lines, 0);
    check_lines(lines, 2, false, &report);
    assert_int_equal(report.undelivered, 0);
    assert_false(report.cycle);
    across_release(&report);
}

/* Tables send packets to a third subnet, which no router is in, around through both routers. */
static void tables_that_lead_around_are_a_loop(void **state)
{
    struct line lines[3];
    struct across_report report;
    join_two(lines, 1);
    open_line(&lines[2], 2);
    add_choice(&lines[0], 0, 2, port_of(0, 0), 0);
    add_choice(&lines[1], port_of(0, 1), 2, port_of(1, 1), 1);
    add_choice(&lines[0], port_of(1, 0), 2, port_of(0, 0), 1);
    check_lines(lines, 3, true, &report);
    assert_int_equal(report.pairs, 6);
    assert_int_equal(report.loops, 1);
    assert_int_equal(report.undelivered, 4); /* to and from the third one */
    across_release(&report);
}

static void ports_that_no_link_has_are_an_error(void **state)
{
    struct line lines[2];
    struct across_subnet subnets[2];
    struct across_report report;
    struct err err = {0};
    join_two(lines, 1);
    vec_push(&lines[0].border.ports, ((struct border_port){0x400000, 0x400001, 1}));
    for (size_t i = 0; i < 2; i++) {
        close_line(&lines[i]);
        subnets[i] = (struct across_subnet){&lines[i].network, &lines[i].routes, &lines[i].border,
                                            &lines[i].dependencies};
    }
    assert_true(across_check(subnets, 2, false, &report, &err) < 0);
    assert_non_null(strstr(err.message, "no link to the router's port 0x0000000000400001"));
    across_release(&report);
    for (size_t i = 0; i < 2; i++) {
        dependency_release(&lines[i].dependencies);
        verify_report_release(&lines[i].report);
        routes_release(&lines[i].routes);
        border_release(&lines[i].border);
        network_release(&lines[i].network);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routers_at_different_switches_close_a_cycle),
        cmocka_unit_test(routers_at_one_switch_close_none),
        cmocka_unit_test(tables_that_lead_around_are_a_loop),
        cmocka_unit_test(ports_that_no_link_has_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
