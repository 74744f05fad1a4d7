/* Every way to lose a packet, provoked; where it is lost, and that the rest of the fabric does not
 * mind. */
#include "data_fixture.h"

/* Adapters (nodes 1, 2, …) at a switch (node 0). */
static void begin_star(struct net *net, unsigned adapters)
{
    net_star(net, adapters);
    net_begin(net, 5);
    net_route_shortest(net);
    net_bring_up(net);
}

static void make_star(struct net *net)
{
    net_init(net);
    begin_star(net, 3);
}

/* One packet from adapter 1 to adapter 2 is lost for this reason at this port, and for no other. */
static void expect_loss(struct net *net, enum loss cause, uint32_t port)
{
    uint64_t lost = net_lost(net);
    net_forget(net);
    net_packet(net, net_port(net, 1, 1), net_port(net, 2, 1), 256, 0);
    net_run(net, TIME_MS);
    if (net->lost[cause] != 1)
        for (unsigned i = 0; i < LOSS_CAUSES; i++)
            print_message("%s: %llu\n", loss_names[i], (unsigned long long)net->lost[i]);
    assert_int_equal(net->lost[cause], 1);
    assert_int_equal(net_lost(net), lost + 1);
    assert_int_equal(net->lost_at, port);
    assert_int_equal(net_totals(net).travelling, 0);
}

static void expect_delivery(struct net *net)
{
    uint64_t lost = net_lost(net);
    net_forget(net);
    net_packet(net, net_port(net, 1, 1), net_port(net, 2, 1), 256, 0);
    net_run(net, TIME_MS);
    assert_int_equal(net->received[net_port(net, 2, 1)], 1);
    assert_int_equal(net_lost(net), lost);
}

/* ---- port states ---- */

static void closed_ports_pass_nothing(void **state)
{
    struct net net;
    (void)state;
    make_star(&net);
    /* The sender's own port, the switch's input, its output, the receiver. */
    static const struct {
        uint32_t node;
        unsigned port;
    } places[] = {{1, 1}, {0, 1}, {0, 2}, {2, 1}};
    for (unsigned i = 0; i < 4; i++) {
        net_set_port(&net, places[i].node, places[i].port, PORT_INFO_PORT_STATE, PORT_STATE_INIT);
        uint32_t at = net_port(&net, places[i].node, places[i].port);
        expect_loss(&net, LOSS_INACTIVE_PORT, at);
        net_set_port(&net, places[i].node, places[i].port, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
        expect_delivery(&net);
    }
    net_end(&net);
}

/* 7.2.7.3: a port that is armed opens with the first packet from outside, but sends none itself. */
static void an_armed_port_opens_when_data_arrives(void **state)
{
    struct net net;
    (void)state;
    make_star(&net);
    net_set_port(&net, 2, 1, PORT_INFO_PORT_STATE, PORT_STATE_INIT);
    net_set_port(&net, 2, 1, PORT_INFO_PORT_STATE, PORT_STATE_ARMED);
    net_packet(&net, net_port(&net, 2, 1), net_port(&net, 1, 1), 256, 0);
    net_run(&net, TIME_MS);
    assert_int_equal(net.lost[LOSS_INACTIVE_PORT], 1);
    expect_delivery(&net);
    net_packet(&net, net_port(&net, 2, 1), net_port(&net, 1, 1), 256, 0);
    net_run(&net, TIME_MS);
    assert_int_equal(net.received[net_port(&net, 1, 1)], 1);
    net_end(&net);
}

/* Packets that wait at an output when it closes are lost; packets on the link arrive. */
static void closing_a_port_loses_what_waits_there(void **state)
{
    struct net net;
    (void)state;
    make_star(&net);
    for (unsigned sender = 1; sender <= 2; sender++)
        net_flow(&net, net_port(&net, sender, 1), net_port(&net, 3, 1), 256, 0);
    net_run(&net, TIME_MS);
    uint64_t waiting = fabric_vl(net.fabric, net_port(&net, 0, 3), 0).output_bytes / 320;
    assert_true(waiting > 0);
    net_set_port(&net, 0, 3, PORT_INFO_PORT_STATE, PORT_STATE_INIT);
    net_check(&net);
    assert_true(net.lost[LOSS_INACTIVE_PORT] >= waiting);
    assert_true(fabric_vl(net.fabric, net_port(&net, 0, 3), 0).output_bytes <= 320);
    /* The senders' links go on at full rate, all of it lost in the switch. */
    net_forget(&net);
    net_run(&net, TIME_MS);
    assert_true(net.lost[LOSS_INACTIVE_PORT] > 2 * 880);
    net_set_port(&net, 0, 3, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    net_run(&net, 10 * TIME_US);
    net_forget(&net);
    uint64_t since = net_now(&net);
    net_run(&net, TIME_MS);
    assert_true(net_share(&net, net_port(&net, 3, 1), since) > 0.99);
    assert_int_equal(net_lost(&net), net_lost(&net));
    net_end(&net);
}

/* A saturated sender behind its own closed port loses packets, but takes its time over it. */
static void a_saturated_sender_survives_its_own_closed_port(void **state)
{
    struct net net;
    (void)state;
    make_star(&net);
    net_flow(&net, net_port(&net, 1, 1), net_port(&net, 2, 1), 256, 0);
    net_flow(&net, net_port(&net, 1, 1), net_port(&net, 3, 1), 256, 1);
    net_run(&net, TIME_MS);
    net_set_port(&net, 1, 1, PORT_INFO_PORT_STATE, PORT_STATE_INIT);
    net_forget(&net);
    net_run(&net, TIME_MS);
    assert_true(net.lost[LOSS_INACTIVE_PORT] > 0 && net.lost[LOSS_INACTIVE_PORT] < 4000);
    net_set_port(&net, 1, 1, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    net_run(&net, 10 * TIME_US);
    net_forget(&net);
    uint64_t since = net_now(&net);
    net_run(&net, TIME_MS);
    assert_true(net_share(&net, net_port(&net, 2, 1), since) +
                    net_share(&net, net_port(&net, 3, 1), since) >
                0.99);
    net_end(&net);
}

/* ---- links and nodes ---- */

static void a_failed_link_loses_queued_packets_and_packets_in_flight(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net_chain(&net, 2);
    net_begin(&net, 5);
    net_route_shortest(&net);
    net_bring_up(&net);
    uint32_t link = net_port(&net, 2, 2), sender = net_port(&net, 0, 1);
    /* In flight: its header has not arrived yet. */
    net_packet(&net, sender, net_port(&net, 1, 1), 256, 0);
    net_run(&net, 300 * TIME_NS); /* 180 to the switch, 100 in it */
    assert_int_equal(fabric_set_link(net.fabric, link, false, NULL), 0);
    net_run(&net, 10 * TIME_US);
    assert_int_equal(net.lost[LOSS_DEAD_LINK], 1);
    /* Refused while it is down. */
    net_packet(&net, sender, net_port(&net, 1, 1), 256, 0);
    net_run(&net, 10 * TIME_US);
    assert_int_equal(net.lost[LOSS_DEAD_LINK], 2);
    assert_int_equal(net_lost(&net), 2);
    net_end(&net);
}

/* Links of a star, or its nodes (both kinds, in the middle of everything), fail and return. */
static void fail_and_return(bool nodes)
{
    struct net net;
    net_init(&net);
    net.options.training_ps = 100 * TIME_US;
    begin_star(&net, 3);
    net_flow(&net, net_port(&net, 1, 1), net_port(&net, 3, 1), 256, 0);
    net_flow(&net, net_port(&net, 2, 1), net_port(&net, 3, 1), 256, 1);
    for (unsigned round = 0; round < 20; round++) {
        uint32_t link = net_port(&net, round % 3 + 1, 1);
        net_run(&net, 50 * TIME_US + round * 77777);
        for (unsigned up = 0; up < 2; up++) {
            assert_int_equal(nodes ? fabric_set_node(net.fabric, round % 4, up, NULL)
                                   : fabric_set_link(net.fabric, link, up, NULL),
                             0);
            net_check(&net);
            net_run(&net, up ? 150 * TIME_US : 50 * TIME_US);
        }
        for (uint32_t node = 0; node <= 3; node++)
            net_program(&net, node);
        net_run(&net, 100 * TIME_US);
        net_forget(&net);
        uint64_t since = net_now(&net);
        net_run(&net, 500 * TIME_US);
        assert_true(net_share(&net, net_port(&net, 3, 1), since) > 0.99);
        assert_true(net.vl_bytes[0] > 0 && net.vl_bytes[1] > 0);
    }
    assert_true(net_totals(&net).lost[nodes ? LOSS_DEAD_NODE : LOSS_DEAD_LINK] > 0);
    net_drain(&net, 10 * TIME_MS);
    net_end(&net);
}

static void links_that_come_back_carry_as_much_as_before(void **state)
{
    (void)state;
    fail_and_return(false);
}

static void nodes_that_come_back_carry_as_much_as_before(void **state)
{
    (void)state;
    fail_and_return(true);
}

static void a_failed_switch_loses_packets_in_it_and_on_the_way_to_it(void **state)
{
    struct net net;
    (void)state;
    make_star(&net);
    net_flow(&net, net_port(&net, 1, 1), net_port(&net, 3, 1), 256, 0);
    net_flow(&net, net_port(&net, 2, 1), net_port(&net, 3, 1), 256, 0);
    net_run(&net, TIME_MS);
    uint64_t travelling = net_totals(&net).travelling;
    assert_true(travelling > 10);
    fabric_set_node(net.fabric, 0, false, NULL);
    net_check(&net);
    net_drain(&net, TIME_MS);
    /* All packets except those that had left the switch entirely. */
    assert_true(net.lost[LOSS_DEAD_NODE] >= travelling - 1);
    assert_int_equal(net_lost(&net), net.lost[LOSS_DEAD_NODE]);
    net_end(&net);
}

/* ---- tables ---- */

static void packets_without_a_route_are_lost_in_the_switch(void **state)
{
    struct net net;
    (void)state;
    make_star(&net);
    uint32_t target = net_port(&net, 2, 1), input = net_port(&net, 0, 1);
    static const unsigned bad[] = {NET_NOWHERE, 0, 4, 200};
    for (unsigned i = 0; i < 4; i++) {
        net_route(&net, 0, target, bad[i]);
        net_write_table(&net, 0);
        expect_loss(&net, LOSS_NO_ROUTE, input);
    }
    net_route(&net, 0, target, 1);
    net_write_table(&net, 0);
    expect_loss(&net, LOSS_OUTPUT_IS_INPUT, input);
    /* To the wrong adapter. */
    net_route(&net, 0, target, 3);
    net_write_table(&net, 0);
    expect_loss(&net, LOSS_NO_ROUTE, net_port(&net, 3, 1));
    net_route(&net, 0, target, 2);
    net_write_table(&net, 0);
    expect_delivery(&net);
    net_end(&net);
}

static void a_table_that_ends_before_the_lid_has_no_route(void **state)
{
    struct net net;
    (void)state;
    make_star(&net);
    uint8_t data[SMP_DATA_BYTES] = {0};
    wire_set(data, SWITCH_INFO_LINEAR_FDB_TOP, 1);
    wire_set(data, SWITCH_INFO_LIFE_TIME_VALUE, 31);
    net_set(&net, 0, 0, ATTRIBUTE_SWITCH_INFO, 0, data);
    expect_loss(&net, LOSS_NO_ROUTE, net_port(&net, 0, 1));
    wire_set(data, SWITCH_INFO_LINEAR_FDB_TOP, 3);
    net_set(&net, 0, 0, ATTRIBUTE_SWITCH_INFO, 0, data);
    expect_delivery(&net);
    net_end(&net);
}

static void packets_for_missing_vls_are_lost(void **state)
{
    struct net net;
    (void)state;
    make_star(&net);
    net_map(&net, 0, 1, 2, 0, 15);
    expect_loss(&net, LOSS_NO_VL, net_port(&net, 0, 1));
    net_map(&net, 0, 1, 2, 0, 2); /* there are two */
    expect_loss(&net, LOSS_NO_VL, net_port(&net, 0, 1));
    net_map(&net, 0, 1, 2, 0, 1);
    expect_delivery(&net);
    net_set_port(&net, 0, 2, PORT_INFO_OPERATIONAL_VLS, 1); /* now there is one */
    expect_loss(&net, LOSS_NO_VL, net_port(&net, 0, 1));
    net_map(&net, 0, 1, 2, 0, 0);
    expect_delivery(&net);
    /* At the adapter. */
    net_map(&net, 1, 0, 1, 0, 15);
    expect_loss(&net, LOSS_NO_VL, net_port(&net, 1, 1));
    net_end(&net);
}

/* When a manager removes a VL of an open port, its packets are lost. */
static void a_removed_vl_keeps_no_packets(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    begin_star(&net, 4);
    net_flow(&net, net_port(&net, 1, 1), net_port(&net, 2, 1), 256, 1);
    net_flow(&net, net_port(&net, 3, 1), net_port(&net, 2, 1), 256, 1);
    net_flow(&net, net_port(&net, 4, 1), net_port(&net, 2, 1), 256, 1); /* some always wait */
    net_flow(&net, net_port(&net, 3, 1), net_port(&net, 1, 1), 256, 0);
    net_run(&net, TIME_MS);
    net_set_port(&net, 0, 2, PORT_INFO_OPERATIONAL_VLS, 1);
    net_check(&net);
    assert_true(net.lost[LOSS_NO_VL] > 0);
    assert_true(fabric_vl(net.fabric, net_port(&net, 0, 2), 1).output_bytes <= 320);
    net_set_port(&net, 1, 1, PORT_INFO_OPERATIONAL_VLS, 1); /* and from an adapter */
    net_run(&net, TIME_MS);
    net_forget(&net);
    uint64_t since = net_now(&net);
    net_run(&net, TIME_MS);
    /* The other VL of the other sender is as good as ever. */
    assert_true(net_share(&net, net_port(&net, 1, 1), since) > 0.49);
    net_drain(&net, TIME_MS);
    net_end(&net);
}

/* ---- partitions ---- */

static void foreign_partitions_are_refused_at_the_adapter(void **state)
{
    struct net net;
    (void)state;
    make_star(&net);
    net_p_key(&net, 2, 1, 0x8001);
    expect_loss(&net, LOSS_P_KEY, net_port(&net, 2, 1));
    net_p_key(&net, 2, 1, 0xFFFF);
    expect_delivery(&net);
    net_end(&net);
}

static void foreign_partitions_are_refused_in_the_switch_where_it_enforces_them(void **state)
{
    struct net net;
    (void)state;
    make_star(&net);
    net_p_key(&net, 0, 1, 0x8001);
    net_p_key(&net, 0, 2, 0x8001);
    expect_delivery(&net); /* not enforced */
    net_set_port(&net, 0, 1, PORT_INFO_PARTITION_ENFORCEMENT_INBOUND, 1);
    expect_loss(&net, LOSS_P_KEY, net_port(&net, 0, 1));
    net_set_port(&net, 0, 1, PORT_INFO_PARTITION_ENFORCEMENT_INBOUND, 0);
    net_set_port(&net, 0, 2, PORT_INFO_PARTITION_ENFORCEMENT_OUTBOUND, 1);
    expect_loss(&net, LOSS_P_KEY, net_port(&net, 0, 2));
    net_p_key(&net, 0, 2, 0xFFFF);
    expect_delivery(&net);
    net_end(&net);
}

/* At a time at which only data packets move. */
static void a_trap_for_a_wrong_p_key_is_repeated_after_its_time(void **state)
{
    struct net net;
    struct fabric_totals before, after;
    (void)state;
    make_star(&net);
    net_p_key(&net, 2, 1, 0x8001);
    net_set_port(&net, 2, 1, PORT_INFO_SUBNET_TIME_OUT, 8); /* 1.05 ms */
    net_set_port(&net, 2, 1, PORT_INFO_MASTER_SM_LID, net.lids[net_port(&net, 3, 1)]);
    struct traffic traffic = net_traffic(&net);
    net_member(&traffic, net_port(&net, 1, 1), net_port(&net, 2, 1));
    traffic.pattern = PATTERN_TRACE;
    vec_push(&traffic.trace,
             ((struct traffic_trace_entry){.time = 10 * TIME_MS, .payload_bytes = 256}));
    net_start(&net, &traffic);
    fabric_totals(net.fabric, &before);
    net_run(&net, 10 * TIME_MS + 500 * TIME_US);
    fabric_totals(net.fabric, &after);
    assert_int_equal(net.lost[LOSS_P_KEY], 1);
    assert_int_equal(after.traps - before.traps, 1);
    net_run(&net, TIME_MS);
    fabric_totals(net.fabric, &after);
    assert_int_equal(after.traps - before.traps, 2);
    net_end(&net);
}

/* Credits of refused packets are returned: the link continues at full rate. */
static void refused_packets_cost_no_credits(void **state)
{
    struct net net;
    (void)state;
    make_star(&net);
    net_p_key(&net, 0, 1, 0x8001);
    net_set_port(&net, 0, 1, PORT_INFO_PARTITION_ENFORCEMENT_INBOUND, 1);
    net_flow(&net, net_port(&net, 1, 1), net_port(&net, 2, 1), 256, 0);
    net_run(&net, 10 * TIME_MS);
    /* 1.128 us each. */
    assert_true(net.lost[LOSS_P_KEY] > 8800);
    net_end(&net);
}

/* ---- time limits ---- */

/* The output cannot send: its VL is in no arbitration table. Lifetime 0 is 4.096 us. */
static void packets_that_stay_too_long_are_lost(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 2; kind++) {
        struct net net;
        net_init(&net);
        if (kind == 0)
            net.options.node.agent.life_time = 0;
        else
            net.options.node.agent.queue_life = 0;
        begin_star(&net, 3);
        net_arbitrate(&net, 0, 2, false, "1:4");
        uint32_t output = net_port(&net, 0, 2);
        expect_loss(&net, kind == 0 ? LOSS_LIFETIME : LOSS_HEAD_OF_QUEUE, output);
        /* Those behind it wait in the input VL, too, and nothing is stuck. */
        net_flow(&net, net_port(&net, 1, 1), net_port(&net, 2, 1), 256, 0);
        net_run(&net, 10 * TIME_MS);
        assert_int_equal(net_lost(&net), net.lost[LOSS_LIFETIME] + net.lost[LOSS_HEAD_OF_QUEUE]);
        assert_true(net.lost[LOSS_LIFETIME] + net.lost[LOSS_HEAD_OF_QUEUE] > 1000);
        net_arbitrate(&net, 0, 2, false, "0:4 1:4");
        net_run(&net, 100 * TIME_US);
        net_forget(&net);
        uint64_t since = net_now(&net);
        net_run(&net, TIME_MS);
        assert_true(net_share(&net, net_port(&net, 2, 1), since) > 0.99);
        net_drain(&net, TIME_MS);
        net_end(&net);
    }
}

/* It is discarded when its time is over, not at the next opportunity. */
static void a_lifetime_is_kept_to_the_picosecond(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net.options.node.agent.life_time = 1; /* 8.192 us in the switch */
    begin_star(&net, 3);
    net_arbitrate(&net, 0, 2, false, "1:4");
    net_packet(&net, net_port(&net, 1, 1), net_port(&net, 2, 1), 256, 0);
    uint64_t in_switch = net_now(&net) + 180 * TIME_NS; /* header and flight */
    net_run_until(&net, in_switch + 8192 * TIME_NS - 1);
    assert_int_equal(net_lost(&net), 0);
    net_run(&net, 1);
    assert_int_equal(net.lost[LOSS_LIFETIME], 1);
    net_end(&net);
}

/* ---- bit errors ---- */

/* The rate is met, and thousands of lost packets do not use up the credits: when the errors stop,
 * nothing has been leaked. */
static void bit_errors_lose_packets_but_no_credits(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    /* One packet in 16: 2^64 / 16 / (282 * 8). */
    net.options.bit_error_rate = (UINT64_C(1) << 60) / (282 * 8);
    net_chain(&net, 0);
    net_begin(&net, 5);
    net_bring_up(&net);
    net_flow(&net, net_port(&net, 0, 1), net_port(&net, 1, 1), 256, 0);
    net_run(&net, 100 * TIME_MS);
    struct data_totals totals = net_totals(&net);
    double rate = (double)totals.lost[LOSS_BIT_ERROR] /
                  (double)(totals.delivered + totals.lost[LOSS_BIT_ERROR]);
    print_message("%llu packets lost of %llu: %.4f\n",
                  (unsigned long long)totals.lost[LOSS_BIT_ERROR], (unsigned long long)totals.made,
                  rate);
    assert_true(rate > 0.058 && rate < 0.067);
    assert_true(totals.lost[LOSS_BIT_ERROR] > 1000);
    net_drain(&net, 10 * TIME_MS);
    /* Quiet now; the repetition of the limits has put everything right. */
    net_run(&net, TIME_MS);
    assert_int_equal(fabric_vl(net.fabric, net_port(&net, 0, 1), 0).credit_blocks, 64);
    net_end(&net);
}

static void a_link_with_few_errors_keeps_its_rate(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net.options.bit_error_rate = (UINT64_C(1) << 54) / (282 * 8); /* one packet in 1024 */
    net_chain(&net, 1);
    net_begin(&net, 5);
    net_route_shortest(&net);
    net_bring_up(&net);
    net_flow(&net, net_port(&net, 0, 1), net_port(&net, 1, 1), 256, 0);
    uint64_t since = net_now(&net);
    net_run(&net, 1000 * TIME_MS);
    struct data_totals totals = net_totals(&net);
    assert_true(totals.lost[LOSS_BIT_ERROR] > 1000);
    double all = net_share(&net, net_port(&net, 1, 1), since) *
                 (double)(totals.delivered + totals.lost[LOSS_BIT_ERROR]) /
                 (double)totals.delivered;
    print_message("%llu lost; %.4f of the rate, the lost ones counted\n",
                  (unsigned long long)totals.lost[LOSS_BIT_ERROR], all);
    assert_true(all > 0.99);
    net_end(&net);
}

/* ---- credits ---- */

/* The counters are 12 bits wide, the largest buffers 2047 blocks: half of their range. */
static void the_largest_buffers_fill_and_empty_without_overflow(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net.options.node.buffer_bytes = 131008;
    begin_star(&net, 3);
    net_arbitrate(&net, 0, 2, false, "1:4"); /* VL 0 stops at the output */
    net_flow(&net, net_port(&net, 1, 1), net_port(&net, 2, 1), 256, 0);
    for (unsigned round = 0; round < 5; round++) {
        net_run(&net, 3 * TIME_MS);
        assert_true(fabric_vl(net.fabric, net_port(&net, 0, 1), 0).input_bytes > 130000);
        assert_true(fabric_vl(net.fabric, net_port(&net, 1, 1), 0).credit_blocks < 5);
        net_arbitrate(&net, 0, 2, false, "0:4 1:4");
        net_forget(&net);
        uint64_t since = net_now(&net);
        net_run(&net, 2 * TIME_MS);
        assert_true(net_share(&net, net_port(&net, 2, 1), since) > 0.99);
        net_arbitrate(&net, 0, 2, false, "1:4");
    }
    assert_int_equal(net_lost(&net), 0);
    net_arbitrate(&net, 0, 2, false, "0:4");
    net_drain(&net, 10 * TIME_MS);
    net_end(&net);
}

/* A limit that small packets did not need is sent when larger ones come. */
static void larger_packets_that_come_later_get_their_credits(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net.options.node.agent.mtu = 2048;
    net.options.node.buffer_bytes = 2112; /* 33 blocks: one of the largest, and no more */
    net_chain(&net, 0);
    net_begin(&net, 5);
    net_bring_up(&net);
    for (unsigned packets = 1; packets < 20; packets++) {
        for (unsigned i = 0; i < packets; i++)
            net_packet(&net, net_port(&net, 0, 1), net_port(&net, 1, 1), 38, 0); /* one block */
        net_run(&net, TIME_MS);
    }
    net_forget(&net);
    net_packet(&net, net_port(&net, 0, 1), net_port(&net, 1, 1), 2048, 0);
    net_run(&net, TIME_MS);
    assert_int_equal(net.received[net_port(&net, 1, 1)], 1);
    net_end(&net);
}

/* Whoever has its turn in the line and finds that its packet has no path any more puts nothing into
 * the VL, and may have to wait with the next; the others must not wait for that. */
static void senders_that_cannot_send_do_not_block_the_queue(void **state)
{
    enum { SENDERS = 6, DUE = 40 };
    struct net net;
    (void)state;
    net_init(&net);
    net.options.node.buffer_bytes = 512; /* one packet, or none would be the last of its VL */
    begin_star(&net, 3);
    uint32_t here = net_port(&net, 1, 1), there = net_port(&net, 2, 1);
    for (unsigned i = 0; i < SENDERS; i++) {
        struct traffic traffic;
        traffic_init(&traffic, 256);
        traffic.arrival = ARRIVAL_CONSTANT;
        traffic.among_all = true;
        traffic.interval_ps = TIME_NS; /* far more than the link carries, all at once */
        traffic.start_ps = fabric_network_time(net.fabric);
        traffic.stop_ps = traffic.start_ps + DUE * TIME_NS;
        vec_push(&traffic.senders, here);
        vec_push(&traffic.receivers, there);
        vec_push(&traffic.receivers, net_port(&net, 3, 1));
        fabric_add_traffic(net.fabric, &traffic);
        traffic_release(&traffic);
    }
    net_run(&net, 10 * TIME_US);
    net.lids[net_port(&net, 3, 1)] = 0;
    net_run(&net, 10 * TIME_MS);
    struct data_totals totals = net_totals(&net);
    assert_int_equal(totals.waiting, 0);
    assert_int_equal(totals.delivered + totals.unroutable, SENDERS * DUE);
    assert_true(totals.delivered > 50 && totals.unroutable > 50);
    net_end(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_ports_pass_nothing),
        cmocka_unit_test(an_armed_port_opens_when_data_arrives),
        cmocka_unit_test(closing_a_port_loses_what_waits_there),
        cmocka_unit_test(a_saturated_sender_survives_its_own_closed_port),
        cmocka_unit_test(a_failed_link_loses_queued_packets_and_packets_in_flight),
        cmocka_unit_test(links_that_come_back_carry_as_much_as_before),
        cmocka_unit_test(nodes_that_come_back_carry_as_much_as_before),
        cmocka_unit_test(a_failed_switch_loses_packets_in_it_and_on_the_way_to_it),
        cmocka_unit_test(packets_without_a_route_are_lost_in_the_switch),
        cmocka_unit_test(a_table_that_ends_before_the_lid_has_no_route),
        cmocka_unit_test(packets_for_missing_vls_are_lost),
        cmocka_unit_test(a_removed_vl_keeps_no_packets),
        cmocka_unit_test(foreign_partitions_are_refused_at_the_adapter),
        cmocka_unit_test(foreign_partitions_are_refused_in_the_switch_where_it_enforces_them),
        cmocka_unit_test(a_trap_for_a_wrong_p_key_is_repeated_after_its_time),
        cmocka_unit_test(refused_packets_cost_no_credits),
        cmocka_unit_test(packets_that_stay_too_long_are_lost),
        cmocka_unit_test(a_lifetime_is_kept_to_the_picosecond),
        cmocka_unit_test(bit_errors_lose_packets_but_no_credits),
        cmocka_unit_test(a_link_with_few_errors_keeps_its_rate),
        cmocka_unit_test(the_largest_buffers_fill_and_empty_without_overflow),
        cmocka_unit_test(larger_packets_that_come_later_get_their_credits),
        cmocka_unit_test(senders_that_cannot_send_do_not_block_the_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
