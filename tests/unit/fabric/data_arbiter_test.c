/* Who gets how much of a link: arbitration tables between VLs, crossbars between inputs, senders
 * at one port. Shares are measured where several want all of it. */
#include "data_fixture.h"

/* Four senders at ports 1 … 4 of a switch, each with a service level of its own (0 … 3, which are
 * the VLs), one receiver at port 5. */
enum { SENDERS = 4, OUTPUT = 5 };

static void begin_funnel(struct net *net)
{
    net_init(net);
    net->options.node.agent.data_vls = 4;
    net->options.node.agent.mtu = 4096;
    net->options.node.buffer_bytes = 32768;
    net->options.node.agent.vl_arbitration = 64;
    net_star(net, SENDERS + 1);
    net_begin(net, 3);
    net_route_shortest(net);
    net_bring_up(net);
}

static void start_funnel(struct net *net, const unsigned payloads[SENDERS])
{
    for (unsigned i = 0; i < SENDERS; i++)
        if (payloads[i])
            net_flow(net, net_port(net, 1 + i, 1), net_port(net, OUTPUT, 1), payloads[i], i);
}

/* Shares of the bytes that each service level got, after a warm-up; the link must be full. */
static void measure_shares(struct net *net, double shares[SENDERS])
{
    uint32_t receiver = net_port(net, OUTPUT, 1);
    net_run(net, 2 * TIME_MS);
    net_forget(net);
    uint64_t since = net_now(net);
    net_run(net, 30 * TIME_MS);
    assert_true(net_share(net, receiver, since) > 0.999);
    for (unsigned i = 0; i < SENDERS; i++)
        shares[i] = (double)net->vl_bytes[i] / (double)net->received_bytes[receiver];
}

static void expect_shares(struct net *net, const double expected[SENDERS])
{
    double shares[SENDERS];
    measure_shares(net, shares);
    for (unsigned i = 0; i < SENDERS; i++)
        if (shares[i] < expected[i] - 0.02 || shares[i] > expected[i] + 0.02)
            fail_msg("VL %u has %.4f of the link, not %.4f", i, shares[i], expected[i]);
}

/* Sizes on the wire that are whole blocks: 230 + 26 = 4 * 64. */
static const unsigned same_size[SENDERS] = {230, 230, 230, 230};

static void the_low_table_shares_by_weight(void **state)
{
    struct net net;
    (void)state;
    begin_funnel(&net);
    net_arbitrate(&net, 0, OUTPUT, false, "0:100 1:60 2:32 3:8");
    start_funnel(&net, same_size);
    expect_shares(&net, (double[]){0.5, 0.3, 0.16, 0.04});
    net_end(&net);
}

static void new_ports_serve_their_vls_round_robin(void **state)
{
    struct net net;
    (void)state;
    begin_funnel(&net);
    start_funnel(&net, same_size);
    expect_shares(&net, (double[]){0.25, 0.25, 0.25, 0.25});
    net_end(&net);
}

static void weights_count_bytes_not_packets(void **state)
{
    struct net net;
    (void)state;
    begin_funnel(&net);
    net_arbitrate(&net, 0, OUTPUT, false, "0:128 1:128 2:128 3:128");
    /* 64, 256, 1024 and 4096 bytes on the wire: 2, 8, 32 and 1 times in a weight of 128. */
    start_funnel(&net, (unsigned[]){38, 230, 998, 4070});
    expect_shares(&net, (double[]){0.25, 0.25, 0.25, 0.25});
    net_end(&net);
}

/* A weight smaller than a packet still lets one packet go. */
static void the_last_packet_may_overdraw_its_weight(void **state)
{
    struct net net;
    (void)state;
    begin_funnel(&net);
    net_arbitrate(&net, 0, OUTPUT, false, "0:1 1:4");
    start_funnel(&net, (unsigned[]){998, 230, 0, 0}); /* 16 blocks; 4 blocks */
    expect_shares(&net, (double[]){0.8, 0.2, 0, 0});
    net_end(&net);
}

static void several_entries_of_a_vl_add_up(void **state)
{
    struct net net;
    (void)state;
    begin_funnel(&net);
    net_arbitrate(&net, 0, OUTPUT, false, "0:4 1:4 0:4 2:4 0:4 3:4");
    start_funnel(&net, same_size);
    expect_shares(&net, (double[]){0.5, 1 / 6.0, 1 / 6.0, 1 / 6.0});
    net_end(&net);
}

static void a_vl_in_no_table_never_sends(void **state)
{
    struct net net;
    (void)state;
    begin_funnel(&net);
    net_arbitrate(&net, 0, OUTPUT, false, "0:4 1:4 2:0");
    start_funnel(&net, same_size);
    expect_shares(&net, (double[]){0.5, 0.5, 0, 0});
    assert_int_equal(net.vl_bytes[2] + net.vl_bytes[3], 0);
    /* And is fed again once it is in one. */
    net_arbitrate(&net, 0, OUTPUT, false, "0:4 1:4 2:4 3:4");
    expect_shares(&net, (double[]){0.25, 0.25, 0.25, 0.25});
    net_end(&net);
}

/* ---- two priorities ---- */

static void begin_priorities(struct net *net, unsigned limit)
{
    begin_funnel(net);
    net_set_port(net, 0, OUTPUT, PORT_INFO_VL_HIGH_LIMIT, limit);
    net_arbitrate(net, 0, OUTPUT, true, "2:12 3:4");
    net_arbitrate(net, 0, OUTPUT, false, "0:8 1:8");
    start_funnel(net, same_size);
}

/* One packet of high priority, one of low. */
static void a_limit_of_0_lets_low_priority_go_after_each_packet(void **state)
{
    struct net net;
    (void)state;
    begin_priorities(&net, 0);
    expect_shares(&net, (double[]){0.25, 0.25, 0.375, 0.125});
    net_end(&net);
}

/* 10 * 4096 bytes are 160 packets of high priority, then one of low. */
static void a_limit_of_10_lets_40_kib_go_first(void **state)
{
    struct net net;
    (void)state;
    begin_priorities(&net, 10);
    double shares[SENDERS], low = 1 / 161.0;
    measure_shares(&net, shares);
    assert_true(shares[0] + shares[1] > low * 0.98 && shares[0] + shares[1] < low * 1.02);
    assert_true(shares[2] > 0.75 * (1 - low) - 0.02 && shares[2] < 0.75 * (1 - low) + 0.02);
    net_end(&net);
}

static void a_limit_of_255_is_none(void **state)
{
    struct net net;
    (void)state;
    begin_priorities(&net, 255);
    expect_shares(&net, (double[]){0, 0, 0.75, 0.25});
    assert_int_equal(net.vl_bytes[0] + net.vl_bytes[1], 0);
    net_end(&net);
}

/* Low priority gets the rest. */
static void low_priority_fills_the_gaps(void **state)
{
    struct net net;
    (void)state;
    begin_funnel(&net);
    net_set_port(&net, 0, OUTPUT, PORT_INFO_VL_HIGH_LIMIT, 255);
    net_arbitrate(&net, 0, OUTPUT, true, "3:4");
    net_arbitrate(&net, 0, OUTPUT, false, "0:4 1:4");
    struct traffic traffic = net_traffic(&net);
    net_member(&traffic, net_port(&net, 4, 1), net_port(&net, OUTPUT, 1));
    traffic.arrival = ARRIVAL_CONSTANT;
    traffic.interval_ps = 4 * net_wire(&net, net_port(&net, OUTPUT, 1), 256);
    traffic.sizes[0].payload_bytes = 230;
    traffic.sl = 3;
    net_start(&net, &traffic);
    start_funnel(&net, (unsigned[]){230, 230, 0, 0});
    expect_shares(&net, (double[]){0.375, 0.375, 0, 0.25});
    net_end(&net);
}

/* An adapter arbitrates, too: four flows of one sender. */
static void adapters_arbitrate_like_switches(void **state)
{
    struct net net;
    (void)state;
    begin_funnel(&net);
    net_arbitrate(&net, 1, 1, false, "0:100 1:60 2:32 3:8");
    for (unsigned sl = 0; sl < SENDERS; sl++)
        net_flow(&net, net_port(&net, 1, 1), net_port(&net, OUTPUT, 1), 230, sl);
    expect_shares(&net, (double[]){0.5, 0.3, 0.16, 0.04});
    net_end(&net);
}

/* ---- without tables of one's own ---- */

static void inputs_share_an_output_evenly(void **state)
{
    (void)state;
    for (unsigned multiplexed = 0; multiplexed < 2; multiplexed++) {
        struct net net;
        net_init(&net);
        net.options.multiplexed = multiplexed;
        net_star(&net, 9);
        net_begin(&net, 3);
        net_route_shortest(&net);
        net_bring_up(&net);
        for (unsigned i = 1; i <= 8; i++)
            net_flow(&net, net_port(&net, i, 1), net_port(&net, 9, 1), 256, 0);
        net_run(&net, 2 * TIME_MS);
        net_forget(&net);
        net_run(&net, 20 * TIME_MS);
        for (unsigned i = 0; i < 8; i++) {
            double share =
                (double)net.traffic_packets[i] / (double)net.received[net_port(&net, 9, 1)];
            assert_true(share > 0.12 && share < 0.13);
        }
        net_end(&net);
    }
}

/* Four slow links into a fast one: slow inputs must not block the fast output. */
static void slow_inputs_together_fill_a_fast_output(void **state)
{
    (void)state;
    for (unsigned multiplexed = 0; multiplexed < 2; multiplexed++) {
        struct net net;
        net_init(&net);
        net.options.node.agent.data_vls = 1;
        net.options.multiplexed = multiplexed;
        uint32_t centre = net_switch(&net, 5);
        for (unsigned i = 1; i <= 4; i++)
            net_link(&net, net_adapter(&net, 1), 1, centre, i);
        net_cable(&net, net_adapter(&net, 1), 1, centre, 5, WIDTH_4X, SPEED_SDR, 20);
        net_begin(&net, 3);
        net_route_shortest(&net);
        net_bring_up(&net);
        for (unsigned i = 1; i <= 4; i++)
            net_flow(&net, net_port(&net, i, 1), net_port(&net, 5, 1), 256, 0);
        net_run(&net, TIME_MS);
        net_forget(&net);
        uint64_t since = net_now(&net);
        net_run(&net, 10 * TIME_MS);
        assert_true(net_share(&net, net_port(&net, 5, 1), since) > 0.99);
        net_end(&net);
    }
}

/* A fast input and a slow one: while a packet drips in, the output is the other's. */
static void a_slow_input_does_not_hold_up_a_fast_one(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net.options.node.agent.data_vls = 1;
    uint32_t centre = net_switch(&net, 3);
    net_link(&net, net_adapter(&net, 1), 1, centre, 1);
    net_cable(&net, net_adapter(&net, 1), 1, centre, 2, WIDTH_4X, SPEED_SDR, 20);
    net_cable(&net, net_adapter(&net, 1), 1, centre, 3, WIDTH_4X, SPEED_SDR, 20);
    net_begin(&net, 3);
    net_route_shortest(&net);
    net_bring_up(&net);
    net_flow(&net, net_port(&net, 1, 1), net_port(&net, 3, 1), 256, 0);
    net_flow(&net, net_port(&net, 2, 1), net_port(&net, 3, 1), 256, 0);
    net_run(&net, TIME_MS);
    net_forget(&net);
    uint64_t since = net_now(&net);
    net_run(&net, 10 * TIME_MS);
    assert_true(net_share(&net, net_port(&net, 3, 1), since) > 0.99);
    /* The slow one has its quarter. */
    assert_true(net.traffic_packets[0] * 4 > net.received[net_port(&net, 3, 1)] * 99 / 100);
    net_end(&net);
}

static void several_traffics_share_a_port_evenly(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net_star(&net, 4);
    net_begin(&net, 3);
    net_route_shortest(&net);
    net_bring_up(&net);
    for (unsigned i = 0; i < 3; i++)
        net_flow(&net, net_port(&net, 1, 1), net_port(&net, 2 + i, 1), 256, 0);
    net_run(&net, 20 * TIME_MS);
    uint64_t all = net.traffic_packets[0] + net.traffic_packets[1] + net.traffic_packets[2];
    for (unsigned i = 0; i < 3; i++)
        assert_true(net.traffic_packets[i] * 3 + 30 > all && net.traffic_packets[i] * 3 < all + 30);
    net_end(&net);
}

/* ---- a multiplexed crossbar ---- */

static void begin_crossbar(struct net *net, unsigned hosts)
{
    net_init(net);
    net->options.multiplexed = true;
    net_star(net, hosts);
    net_begin(net, 3);
    net_route_shortest(net);
    net_bring_up(net);
}

/* Two VLs of one output, from two inputs that never pause. */
static void vls_to_one_output_share_the_crossbar_round_robin(void **state)
{
    struct net net;
    (void)state;
    begin_crossbar(&net, 3);
    net_flow(&net, net_port(&net, 1, 1), net_port(&net, 3, 1), 256, 0);
    net_flow(&net, net_port(&net, 2, 1), net_port(&net, 3, 1), 256, 1);
    net_run(&net, 20 * TIME_MS);
    double first = (double)net.vl_bytes[0], second = (double)net.vl_bytes[1];
    print_message("VLs of one output: %.3f and %.3f\n", first / (first + second),
                  second / (first + second));
    assert_true(first > 0.45 * (first + second) && second > 0.45 * (first + second));
    net_end(&net);
}

/* Two VLs of one input, to different outputs without other traffic. */
static void vls_of_one_input_share_the_crossbar_round_robin(void **state)
{
    struct net net;
    (void)state;
    begin_crossbar(&net, 3);
    net_flow(&net, net_port(&net, 1, 1), net_port(&net, 2, 1), 256, 0);
    net_flow(&net, net_port(&net, 1, 1), net_port(&net, 3, 1), 256, 1);
    net_run(&net, 20 * TIME_MS);
    double first = (double)net.vl_bytes[0], second = (double)net.vl_bytes[1];
    print_message("VLs of one input: %.3f and %.3f\n", first / (first + second),
                  second / (first + second));
    assert_true(first > 0.45 * (first + second) && second > 0.45 * (first + second));
    net_end(&net);
}

/* Input 1 sends to output 3 on VL 0 and to output 4 on VL 1; input 2 sends to output 4 only.
 * Lane 1 of input 1 needs a moment in which both its input and its output are free; the crossbar is
 * slower than the links, so that neither ever pauses by itself. */
static void start_tangle(struct net *net, unsigned phase)
{
    net_flow(net, net_port(net, 1, 1), net_port(net, 3, 1), 256, 0);
    net_run(net, TIME_US + phase * 282 * TIME_NS);
    net_flow(net, net_port(net, 2, 1), net_port(net, 4, 1), 256, 1);
    net_run(net, 100 * TIME_US);
    net_flow(net, net_port(net, 1, 1), net_port(net, 4, 1), 256, 1);
    net_run(net, TIME_MS);
}

static void begin_tangle(struct net *net, unsigned hosts)
{
    net_init(net);
    net->options.multiplexed = true;
    net->options.node.internal_percent = 60;
    net_star(net, hosts);
    net_begin(net, 3);
    net_route_shortest(net);
    net_bring_up(net);
}

static void no_vl_starves_between_a_busy_input_and_a_busy_output(void **state)
{
    (void)state;
    for (unsigned phase = 0; phase < 8; phase++) {
        struct net net;
        begin_tangle(&net, 4);
        start_tangle(&net, phase);
        net_forget(&net);
        net_run(&net, 10 * TIME_MS);
        uint64_t sum = net.traffic_packets[0] + net.traffic_packets[1] + net.traffic_packets[2];
        print_message("phase %u: %.3f %.3f, and between them %.3f\n", phase,
                      (double)net.traffic_packets[0] / (double)sum,
                      (double)net.traffic_packets[1] / (double)sum,
                      (double)net.traffic_packets[2] / (double)sum);
        assert_true(net.traffic_packets[2] > sum / 20);
        net_end(&net);
    }
}

/* A third input sends to output 4 on VL 0. When VL 1 of that output is stopped, or the output
 * closes, no reservation may remain there. */
static void an_output_is_not_reserved_for_a_blocked_input(void **state)
{
    struct net net;
    (void)state;
    begin_tangle(&net, 5);
    net_flow(&net, net_port(&net, 5, 1), net_port(&net, 4, 1), 256, 0);
    start_tangle(&net, 0);
    for (unsigned round = 0; round < 60; round++) {
        net_run(&net, 50 * TIME_US + round * 123457);
        if (round % 2)
            net_arbitrate(&net, 0, 4, false, "0:4");
        else
            net_set_port(&net, 0, 4, PORT_INFO_PORT_STATE, PORT_STATE_INIT);
        net_run(&net, 100 * TIME_US);
        if (round % 2 == 0)
            net_set_port(&net, 0, 4, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
        net_run(&net, 20 * TIME_US);
        net_forget(&net);
        net_run(&net, 100 * TIME_US);
        assert_true(net.vl_bytes[0] > 0 && net.traffic_packets[0] > 10);
        net_arbitrate(&net, 0, 4, false, "0:4 1:4");
    }
    net_drain(&net, TIME_MS);
    net_end(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_low_table_shares_by_weight),
        cmocka_unit_test(new_ports_serve_their_vls_round_robin),
        cmocka_unit_test(weights_count_bytes_not_packets),
        cmocka_unit_test(the_last_packet_may_overdraw_its_weight),
        cmocka_unit_test(several_entries_of_a_vl_add_up),
        cmocka_unit_test(a_vl_in_no_table_never_sends),
        cmocka_unit_test(a_limit_of_0_lets_low_priority_go_after_each_packet),
        cmocka_unit_test(a_limit_of_10_lets_40_kib_go_first),
        cmocka_unit_test(a_limit_of_255_is_none),
        cmocka_unit_test(low_priority_fills_the_gaps),
        cmocka_unit_test(adapters_arbitrate_like_switches),
        cmocka_unit_test(inputs_share_an_output_evenly),
        cmocka_unit_test(slow_inputs_together_fill_a_fast_output),
        cmocka_unit_test(a_slow_input_does_not_hold_up_a_fast_one),
        cmocka_unit_test(several_traffics_share_a_port_evenly),
        cmocka_unit_test(vls_to_one_output_share_the_crossbar_round_robin),
        cmocka_unit_test(vls_of_one_input_share_the_crossbar_round_robin),
        cmocka_unit_test(no_vl_starves_between_a_busy_input_and_a_busy_output),
        cmocka_unit_test(an_output_is_not_reserved_for_a_blocked_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
