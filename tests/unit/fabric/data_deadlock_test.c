/* Rings that wait for themselves, and rings that do not. */
#include "data_fixture.h"

#include <stdio.h>
#include <stdlib.h>

enum { RING = 6 };

/* Each adapter sends to the one three switches ahead, on one VL, with buffers of three packets;
 * with minimal routes the switches wait for each other. */
static void begin_ring(struct net *net, bool up_down)
{
    net->options.node.agent.data_vls = 1;
    net->options.node.buffer_bytes = 1024;
    net_ring(net, RING);
    net_begin(net, 11);
    if (up_down)
        net_route_up_down(net, 0);
    else
        net_route_shortest(net);
    net_bring_up(net);
}

static void start_shift(struct net *net)
{
    struct traffic traffic = net_traffic(net);
    for (unsigned i = 0; i < RING; i++)
        net_member(&traffic, net_port(net, RING + i, 1), net_port(net, RING + i, 1));
    traffic.pattern = PATTERN_SHIFT;
    traffic.shift = 3;
    net_start(net, &traffic);
}

/* "S1 port 1 VL 0 -> S2 port 2": a channel of the network, and where the next line must begin. */
static void expect_circle(const struct net *net, const char *cycle)
{
    unsigned lines = 0, first = 0, before = 0, from, port, vl, to, back;
    int used;
    while (sscanf(cycle, "S%u port %u VL %u -> S%u port %u\n%n", &from, &port, &vl, &to, &back,
                  &used) == 5) {
        assert_true(from < RING && to < RING);
        assert_int_equal(net->topology.ports.items[net_port(net, from, port)].peer,
                         net_port(net, to, back));
        assert_int_equal(vl, 0);
        if (lines++ == 0)
            first = from;
        else
            assert_int_equal(from, before);
        before = to;
        cycle += used;
    }
    assert_int_equal(*cycle, 0); /* nothing else in the text */
    assert_int_equal(before, first);
    assert_int_equal(lines, RING);
}

static void a_ring_with_minimal_routes_deadlocks_and_reports_it_once(void **state)
{
    struct net net;
    struct text cycle = {0};
    (void)state;
    net_init(&net);
    begin_ring(&net, false);
    assert_false(fabric_find_deadlock(net.fabric, &cycle));
    start_shift(&net);
    net_run(&net, 20 * TIME_MS);
    assert_int_equal(net.deadlocks, 1);
    assert_int_equal(net_totals(&net).deadlocks, 1);
    expect_circle(&net, net.cycle);
    assert_true(fabric_find_deadlock(net.fabric, &cycle));
    assert_string_equal(cycle.data, net.cycle);
    assert_true(fabric_find_deadlock(net.fabric, NULL));
    /* And nothing moves. */
    uint64_t delivered = net_totals(&net).delivered;
    net_run(&net, 20 * TIME_MS);
    assert_int_equal(net_totals(&net).delivered, delivered);
    text_release(&cycle);
    net_end(&net);
}

static void deadlock_checks_run_only_if_enabled(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net.options.deadlock_check_ps = 0;
    begin_ring(&net, false);
    start_shift(&net);
    net_run(&net, 20 * TIME_MS);
    assert_int_equal(net.deadlocks, 0);
    assert_true(fabric_find_deadlock(net.fabric, NULL));
    net_end(&net);
}

static void a_ring_with_up_down_routes_does_not_deadlock(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net.options.deadlock_check_ps = 10 * TIME_US;
    begin_ring(&net, true);
    start_shift(&net);
    net_run(&net, 20 * TIME_MS);
    assert_int_equal(net.deadlocks, 0);
    for (unsigned i = 0; i < RING; i++)
        assert_true(net.received[net_port(&net, RING + i, 1)] > 1000);
    net_drain(&net, 10 * TIME_MS);
    net_end(&net);
}

/* Many packets wait for each other without any cycle: a hot spot. */
static void congestion_is_no_deadlock(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net.options.deadlock_check_ps = 10 * TIME_US;
    net.options.node.buffer_bytes = 512;
    begin_ring(&net, true);
    struct traffic traffic = net_traffic(&net);
    net_everybody(&net, &traffic);
    traffic.pattern = PATTERN_GATHER;
    net_start(&net, &traffic);
    net_run(&net, 10 * TIME_MS);
    assert_int_equal(net.deadlocks, 0);
    net_drain(&net, 10 * TIME_MS);
    net_end(&net);
}

/* Packets that are given up make room: the ring stutters on, and every loss is counted. */
static void lifetimes_break_deadlocks(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 2; kind++) {
        struct net net;
        net_init(&net);
        if (kind == 0)
            net.options.node.agent.life_time = 6; /* 262 us */
        else
            net.options.node.agent.queue_life = 6;
        net.options.deadlock_check_ps = 50 * TIME_US;
        begin_ring(&net, false);
        start_shift(&net);
        net_run(&net, 50 * TIME_MS);
        enum loss cause = kind == 0 ? LOSS_LIFETIME : LOSS_HEAD_OF_QUEUE;
        assert_true(net.deadlocks > 0);
        print_message("%u deadlocks, %llu lost, %llu delivered\n", net.deadlocks,
                      (unsigned long long)net.lost[cause],
                      (unsigned long long)net_totals(&net).delivered);
        assert_true(net.lost[cause] > 0);
        assert_int_equal(net_lost(&net), net.lost[cause]);
        for (unsigned i = 0; i < RING; i++)
            assert_true(net.received[net_port(&net, RING + i, 1)] > 100);
        net_drain(&net, 10 * TIME_MS);
        net_end(&net);
    }
}

static void set_life_time(struct net *net, unsigned value)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    wire_set(data, SWITCH_INFO_LINEAR_FDB_TOP, 63);
    wire_set(data, SWITCH_INFO_LIFE_TIME_VALUE, value);
    for (uint32_t node = 0; node < RING; node++)
        net_set(net, node, 0, ATTRIBUTE_SWITCH_INFO, 0, data);
}

/* A manager that finds a deadlock can set the limit then. */
static void a_lifetime_limit_set_later_breaks_a_deadlock(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 2; kind++) {
        struct net net;
        net_init(&net);
        begin_ring(&net, false);
        start_shift(&net);
        net_run(&net, 20 * TIME_MS);
        assert_true(fabric_find_deadlock(net.fabric, NULL));
        if (kind == 0)
            set_life_time(&net, 4);
        else
            net_set_port(&net, 2, 1, PORT_INFO_HOQ_LIFE, 4);
        net_drain(&net, 10 * TIME_MS);
        assert_true(net.lost[kind == 0 ? LOSS_LIFETIME : LOSS_HEAD_OF_QUEUE] > 0);
        net_end(&net);
    }
}

/* New tables do not end a deadlock; the failure of a switch does. */
static void a_failed_switch_ends_its_deadlock(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    begin_ring(&net, false);
    start_shift(&net);
    net_run(&net, 20 * TIME_MS);
    net_stop_all(&net);
    net_route_up_down(&net, 0);
    for (uint32_t node = 0; node < RING; node++)
        net_write_table(&net, node);
    net_run(&net, TIME_MS);
    assert_true(fabric_find_deadlock(net.fabric, NULL));
    fabric_set_node(net.fabric, 3, false, NULL);
    net_drain(&net, 10 * TIME_MS);
    assert_false(fabric_find_deadlock(net.fabric, NULL));
    net_end(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_with_minimal_routes_deadlocks_and_reports_it_once),
        cmocka_unit_test(deadlock_checks_run_only_if_enabled),
        cmocka_unit_test(a_ring_with_up_down_routes_does_not_deadlock),
        cmocka_unit_test(congestion_is_no_deadlock),
        cmocka_unit_test(lifetimes_break_deadlocks),
        cmocka_unit_test(a_lifetime_limit_set_later_breaks_a_deadlock),
        cmocka_unit_test(a_failed_switch_ends_its_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
