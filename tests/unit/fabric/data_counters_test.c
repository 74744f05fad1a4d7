/* Data packets in the performance counters, read by MAD and from the fabric. */
#include "data_fixture.h"

enum { WORDS = (282 - 2) / 4 }; /* of a packet of 256 bytes, without its last checksum */

static void make_star(struct net *net, unsigned hosts)
{
    net_star(net, hosts);
    net_begin(net, 5);
    net_route_shortest(net);
    net_bring_up(net);
}

static uint64_t counter(const struct net *net, uint32_t node, unsigned port,
                        enum port_counter which)
{
    return fabric_counters(net->fabric, net_port(net, node, port))->total[which];
}

/* Get or Set of PortCounters or their extended shape, as perfquery sends them, from an adapter to
 * the node with this LID. */
static void request(struct net *net, uint32_t from, uint16_t lid, unsigned method,
                    unsigned attribute, unsigned port, uint8_t *data)
{
    struct fabric_delivery answer;
    uint8_t mad[MAD_BYTES] = {0};
    struct packet_header header = {
        .dlid = lid, .dest_qp = QP_GSI, .p_key = P_KEY_DEFAULT, .q_key = Q_KEY_GSI};
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_PERFORMANCE);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, method);
    wire_set(mad, MAD_ATTRIBUTE_ID, attribute);
    wire_set(mad + GMP_DATA_OFFSET, PORT_COUNTERS_PORT_SELECT, port);
    wire_set(mad + GMP_DATA_OFFSET, PORT_COUNTERS_COUNTER_SELECT, 0xFFFF);
    fabric_attach(net->fabric, from);
    fabric_send(net->fabric, from, &header, mad);
    assert_true(fabric_run(net->fabric, net_now(net) + TIME_S));
    assert_true(fabric_next_delivery(net->fabric, &answer));
    assert_int_equal(wire_get(answer.mad, MAD_STATUS), 0);
    memcpy(data, answer.mad + GMP_DATA_OFFSET, MAD_BYTES - GMP_DATA_OFFSET);
    fabric_detach(net->fabric, from);
}

static void both_ends_count_what_a_link_carried(void **state)
{
    enum { PACKETS = 1000 };
    struct net net;
    (void)state;
    net_init(&net);
    make_star(&net, 3);
    for (unsigned i = 0; i < PACKETS; i++) {
        net_packet(&net, net_port(&net, 1, 1), net_port(&net, 2, 1), 256, i % 2);
        net_run(&net, 2 * TIME_US);
    }
    net_run(&net, TIME_MS);
    static const struct {
        uint32_t node;
        unsigned port;
        bool sends;
    } ends[] = {{1, 1, true}, {0, 1, false}, {0, 2, true}, {2, 1, false}};
    for (unsigned i = 0; i < 4; i++) {
        bool sends = ends[i].sends;
        uint32_t node = ends[i].node;
        unsigned port = ends[i].port;
        assert_int_equal(counter(&net, node, port, COUNTER_TRANSMIT_PACKETS), sends ? PACKETS : 0);
        assert_int_equal(counter(&net, node, port, COUNTER_RECEIVE_PACKETS), sends ? 0 : PACKETS);
        assert_int_equal(counter(&net, node, port, COUNTER_TRANSMIT_DATA),
                         sends ? PACKETS * WORDS : 0);
        assert_int_equal(counter(&net, node, port, COUNTER_RECEIVE_DATA),
                         sends ? 0 : PACKETS * WORDS);
        assert_int_equal(counter(&net, node, port, COUNTER_TRANSMIT_UNICAST_PACKETS),
                         sends ? PACKETS : 0);
        assert_int_equal(counter(&net, node, port, COUNTER_RECEIVE_UNICAST_PACKETS),
                         sends ? 0 : PACKETS);
        assert_int_equal(counter(&net, node, port, COUNTER_TRANSMIT_WAIT), 0);
    }
    assert_int_equal(counter(&net, 0, 3, COUNTER_TRANSMIT_PACKETS), 0);
    net_end(&net);
}

/* Read by MAD while packets are in flight; clearing works, and no packet counts twice. */
static void counters_are_read_and_cleared_by_mad(void **state)
{
    struct net net;
    uint8_t data[MAD_BYTES];
    (void)state;
    net_init(&net);
    make_star(&net, 3);
    uint32_t a = net_port(&net, 1, 1), b = net_port(&net, 2, 1);
    net_flow(&net, a, b, 256, 0);
    net_run(&net, TIME_MS);
    uint64_t before = 0;
    for (unsigned i = 0; i < 10; i++) {
        net_run(&net, 100 * TIME_US);
        request(&net, a, net.lids[a], METHOD_GET, ATTRIBUTE_PORT_COUNTERS, 1, data);
        uint64_t sent = wire_get(data, PORT_COUNTERS_TRANSMIT_PACKETS);
        /* The link carries a packet in 1.128 us; the MAD stays in the node. */
        assert_true(i == 0 || (sent - before > 80 && sent - before < 100));
        before = sent;
    }
    /* The receiver, queried over the fabric: only the MADs differ. */
    request(&net, a, net.lids[b], METHOD_GET, ATTRIBUTE_PORT_COUNTERS_EXT, 1, data);
    uint64_t received = wire_get(data, PORT_COUNTERS_EXT_RECEIVE_PACKETS);
    assert_true(received >= net.received[b] && received <= net.received[b] + 12 + 2);
    request(&net, a, net.lids[a], METHOD_SET, ATTRIBUTE_PORT_COUNTERS, 1, data);
    net_stop_all(&net);
    net_run(&net, TIME_MS);
    request(&net, a, net.lids[a], METHOD_GET, ATTRIBUTE_PORT_COUNTERS, 1, data);
    uint64_t left = wire_get(data, PORT_COUNTERS_TRANSMIT_PACKETS);
    assert_true(left > 0 && left < 20);
    net_end(&net);
}

/* The output stops: its VL has a packet and no credits. */
static void time_without_credits_is_time_waited(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net.options.node.agent.data_vls = 1;
    make_star(&net, 4);
    /* Two senders share one receiver: each waits half of the time, once the buffers are full. */
    net_flow(&net, net_port(&net, 1, 1), net_port(&net, 3, 1), 256, 0);
    net_flow(&net, net_port(&net, 2, 1), net_port(&net, 3, 1), 256, 0);
    net_run(&net, TIME_MS);
    uint64_t before[3], span = 10 * TIME_MS;
    for (unsigned i = 1; i <= 2; i++)
        before[i] = counter(&net, i, 1, COUNTER_TRANSMIT_WAIT);
    net_run(&net, span);
    for (unsigned i = 1; i <= 2; i++) {
        double wait =
            (double)(counter(&net, i, 1, COUNTER_TRANSMIT_WAIT) - before[i]) * 16 * TIME_NS;
        print_message("sender %u waited %.4f of the time\n", i, wait / (double)span);
        assert_true(wait > 0.49 * (double)span && wait < 0.51 * (double)span);
    }
    assert_int_equal(counter(&net, 0, 3, COUNTER_TRANSMIT_WAIT),
                     0); /* the bottleneck never waits */
    net_end(&net);
}

static void a_wait_counts_before_it_ends(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net.options.node.agent.data_vls = 1;
    net.options.node.agent.vl_arbitration = 8;
    make_star(&net, 2);
    net_arbitrate(&net, 0, 2, false, "1:0"); /* the switch sends nothing any more */
    net_flow(&net, net_port(&net, 1, 1), net_port(&net, 2, 1), 256, 0);
    net_run(&net, TIME_MS);
    uint64_t before = counter(&net, 1, 1, COUNTER_TRANSMIT_WAIT);
    net_run(&net, 16 * TIME_US);
    assert_int_equal(counter(&net, 1, 1, COUNTER_TRANSMIT_WAIT), before + 1000);
    net_end(&net);
}

static void packets_lost_on_the_link_do_not_count_as_received(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net.options.bit_error_rate = (UINT64_C(1) << 60) / (282 * 8); /* one in 16 */
    net_chain(&net, 0);
    net_begin(&net, 5);
    net_bring_up(&net);
    net_flow(&net, net_port(&net, 0, 1), net_port(&net, 1, 1), 256, 0);
    net_run(&net, 10 * TIME_MS);
    net_drain(&net, TIME_MS);
    struct data_totals totals = net_totals(&net);
    assert_int_equal(counter(&net, 0, 1, COUNTER_TRANSMIT_PACKETS), totals.made);
    assert_int_equal(counter(&net, 1, 1, COUNTER_RECEIVE_PACKETS), totals.delivered);
    assert_int_equal(counter(&net, 1, 1, COUNTER_RECEIVE_DATA), totals.delivered * WORDS);
    assert_int_equal(counter(&net, 1, 1, COUNTER_RECEIVE_ERRORS), totals.lost[LOSS_BIT_ERROR]);
    net_end(&net);
}

static void refusals_are_counted_where_they_happen(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    make_star(&net, 3);
    uint32_t a = net_port(&net, 1, 1), b = net_port(&net, 2, 1);
    net_route(&net, 0, b, NET_NOWHERE);
    net_write_table(&net, 0);
    net_packet(&net, a, b, 256, 0);
    net_run(&net, TIME_MS);
    assert_int_equal(counter(&net, 0, 1, COUNTER_RECEIVE_SWITCH_RELAY_ERRORS), 1);
    net_route(&net, 0, b, 2);
    net_write_table(&net, 0);
    net_set_port(&net, 0, 2, PORT_INFO_PORT_STATE, PORT_STATE_INIT);
    net_packet(&net, a, b, 256, 0);
    net_run(&net, TIME_MS);
    assert_int_equal(counter(&net, 0, 2, COUNTER_TRANSMIT_DISCARDS), 1);
    net_set_port(&net, 0, 2, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    net_p_key(&net, 0, 1, 0x8001);
    net_p_key(&net, 0, 2, 0x8001);
    net_set_port(&net, 0, 2, PORT_INFO_PARTITION_ENFORCEMENT_OUTBOUND, 1);
    net_packet(&net, a, b, 256, 0);
    net_run(&net, TIME_MS);
    assert_int_equal(counter(&net, 0, 2, COUNTER_TRANSMIT_CONSTRAINT_ERRORS), 1);
    net_set_port(&net, 0, 1, PORT_INFO_PARTITION_ENFORCEMENT_INBOUND, 1);
    net_packet(&net, a, b, 256, 0);
    net_run(&net, TIME_MS);
    assert_int_equal(counter(&net, 0, 1, COUNTER_RECEIVE_CONSTRAINT_ERRORS), 1);
    net_end(&net);
}

static void multicasts_are_counted_apart(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    make_star(&net, 3);
    net_multicast(&net, 0, LID_MULTICAST_FIRST, 1 << 1 | 1 << 2 | 1 << 3);
    net_packet(&net, net_port(&net, 1, 1), net_port(&net, 2, 1), 256, 0);
    net_run(&net, 100 * TIME_US);
    net.multicast = LID_MULTICAST_FIRST;
    net_packet(&net, net_port(&net, 1, 1), net_port(&net, 2, 1), 256, 0);
    net_run(&net, 100 * TIME_US);
    assert_int_equal(counter(&net, 1, 1, COUNTER_TRANSMIT_MULTICAST_PACKETS), 1);
    assert_int_equal(counter(&net, 1, 1, COUNTER_TRANSMIT_UNICAST_PACKETS), 1);
    assert_int_equal(counter(&net, 0, 1, COUNTER_RECEIVE_MULTICAST_PACKETS), 1);
    assert_int_equal(counter(&net, 0, 3, COUNTER_TRANSMIT_MULTICAST_PACKETS), 1);
    assert_int_equal(counter(&net, 0, 3, COUNTER_TRANSMIT_UNICAST_PACKETS), 0);
    assert_int_equal(counter(&net, 2, 1, COUNTER_RECEIVE_MULTICAST_PACKETS), 1);
    assert_int_equal(counter(&net, 2, 1, COUNTER_RECEIVE_PACKETS), 2);
    assert_int_equal(counter(&net, 3, 1, COUNTER_RECEIVE_PACKETS), 1);
    net_end(&net);
}

/* A node that comes back counts from 0, its neighbours go on. */
static void a_restarted_node_counts_from_zero(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net.options.training_ps = 10 * TIME_US;
    make_star(&net, 2);
    net_flow(&net, net_port(&net, 1, 1), net_port(&net, 2, 1), 256, 0);
    net_run(&net, TIME_MS);
    fabric_set_node(net.fabric, 0, false, NULL);
    net_drain(&net, TIME_MS);
    uint64_t sent = counter(&net, 1, 1, COUNTER_TRANSMIT_PACKETS);
    uint64_t received = counter(&net, 2, 1, COUNTER_RECEIVE_PACKETS);
    assert_int_equal(received, net_totals(&net).delivered);
    fabric_set_node(net.fabric, 0, true, NULL);
    net_run(&net, TIME_MS);
    for (uint32_t node = 0; node < 3; node++)
        net_program(&net, node);
    net_run(&net, TIME_MS);
    assert_int_equal(counter(&net, 0, 1, COUNTER_RECEIVE_PACKETS), 0);
    net_packet(&net, net_port(&net, 1, 1), net_port(&net, 2, 1), 256, 0);
    net_run(&net, TIME_MS);
    assert_int_equal(counter(&net, 0, 1, COUNTER_RECEIVE_PACKETS), 1);
    assert_int_equal(counter(&net, 0, 2, COUNTER_TRANSMIT_PACKETS), 1);
    assert_int_equal(counter(&net, 1, 1, COUNTER_TRANSMIT_PACKETS), sent + 1);
    assert_int_equal(counter(&net, 2, 1, COUNTER_RECEIVE_PACKETS), received + 1);
    net_end(&net);
}

/* Links that break under load, read at every step. */
static void counters_never_go_back(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net.options.training_ps = 10 * TIME_US;
    net_star(&net, 2);
    for (uint32_t port = 0; port < net.topology.ports.count; port++)
        net.topology.ports.items[port].length_mm = 1000000; /* several packets in flight */
    net_begin(&net, 5);
    net_route_shortest(&net);
    net_bring_up(&net);
    net_flow(&net, net_port(&net, 1, 1), net_port(&net, 2, 1), 256, 0);
    uint64_t before = 0;
    for (unsigned i = 0; i < 2000; i++) {
        net_run(&net, TIME_US);
        uint64_t now = counter(&net, 0, 1, COUNTER_RECEIVE_PACKETS);
        assert_true(now >= before);
        before = now;
        if (i % 100 == 50)
            fabric_flap_port(net.fabric, net_port(&net, 1, 1), NULL);
        if (i % 100 == 70) {
            net_program(&net, 0);
            net_program(&net, 1);
        }
    }
    net_drain(&net, TIME_MS);
    struct data_totals totals = net_totals(&net);
    assert_true(totals.lost[LOSS_DEAD_LINK] > 0);
    assert_int_equal(counter(&net, 2, 1, COUNTER_RECEIVE_PACKETS), totals.delivered);
    assert_int_equal(counter(&net, 0, 2, COUNTER_TRANSMIT_PACKETS), totals.delivered);
    net_end(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_count_what_a_link_carried),
        cmocka_unit_test(counters_are_read_and_cleared_by_mad),
        cmocka_unit_test(time_without_credits_is_time_waited),
        cmocka_unit_test(a_wait_counts_before_it_ends),
        cmocka_unit_test(packets_lost_on_the_link_do_not_count_as_received),
        cmocka_unit_test(refusals_are_counted_where_they_happen),
        cmocka_unit_test(multicasts_are_counted_apart),
        cmocka_unit_test(a_restarted_node_counts_from_zero),
        cmocka_unit_test(counters_never_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
