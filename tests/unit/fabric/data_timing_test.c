/* Single packets and single links, compared with manual calculations to the picosecond. 1X SDR
 * carries a byte in 4 ns; 20 m of cable take 100 ns; a packet of 256 bytes has 282 bytes on the
 * wire; the default look-up takes 100 ns. */
#include "data_fixture.h"

enum { OVERHEAD = 26, HEADER = 20 };
static const uint64_t byte_ps = 4 * TIME_NS, flight_ps = 100 * TIME_NS, routing_ps = 100 * TIME_NS;

/* From the first adapter to the second; made to delivered. */
static uint64_t latency_of_one(struct net *net, unsigned payload)
{
    net->recording = true;
    net_forget(net);
    net_packet(net, net_port(net, 0, 1), net_port(net, 1, 1), payload, 0);
    net_run(net, TIME_MS);
    assert_int_equal(net->deliveries.count, 1);
    const struct net_end *end = &net->deliveries.items[0];
    assert_int_equal(end->packet.source, net_port(net, 0, 1));
    assert_int_equal(end->packet.destination, net_port(net, 1, 1));
    assert_int_equal(end->packet.payload_bytes, payload);
    assert_int_equal(end->packet.bytes, payload + OVERHEAD);
    return end->time - end->packet.made;
}

static void begin_chain(struct net *net)
{
    net_begin(net, 1);
    net_route_shortest(net);
    net_bring_up(net);
}

static void a_packet_over_one_link_takes_its_bytes_and_the_flight(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net_chain(&net, 0);
    begin_chain(&net);
    assert_int_equal(latency_of_one(&net, 256), 282 * byte_ps + flight_ps);
    assert_int_equal(net.deliveries.items[0].packet.hops, 0);
    assert_int_equal(latency_of_one(&net, 1), 27 * byte_ps + flight_ps);
    net_end(&net);
}

/* Each switch adds header, flight and look-up; the body overlaps. */
static void each_switch_adds_a_header_a_flight_and_a_look_up(void **state)
{
    (void)state;
    for (unsigned switches = 1; switches <= 3; switches++) {
        struct net net;
        net_init(&net);
        net_chain(&net, switches);
        begin_chain(&net);
        uint64_t hop = HEADER * byte_ps + flight_ps + routing_ps;
        assert_int_equal(latency_of_one(&net, 256), switches * hop + 282 * byte_ps + flight_ps);
        assert_int_equal(net.deliveries.items[0].packet.hops, switches);
        net_end(&net);
    }
}

static void the_times_of_all_units_add_up(void **state)
{
    (void)state;
    for (unsigned switches = 0; switches <= 3; switches++) {
        struct net net;
        net_init(&net);
        net_chain(&net, switches);
        net.options.routing.base_ps = 12345;
        net.options.mapping_ps = 1111;
        net.options.crossbar_ps = 777;
        net.options.channel_ps = 53;
        begin_chain(&net);
        uint64_t hop = 53 + HEADER * byte_ps + flight_ps + 12345 + 1111 + 777;
        assert_int_equal(latency_of_one(&net, 256),
                         switches * hop + 53 + 282 * byte_ps + flight_ps);
        net_end(&net);
    }
}

/* Without any of them the switch begins to send as soon as the header is there. */
static void units_that_take_no_time_add_none(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net_chain(&net, 3);
    net.options.routing.base_ps = 0;
    begin_chain(&net);
    assert_int_equal(latency_of_one(&net, 256),
                     3 * (HEADER * byte_ps + flight_ps) + 282 * byte_ps + flight_ps);
    net_end(&net);
}

static void one_routing_unit_or_one_for_each_input_is_the_same_to_a_lonely_packet(void **state)
{
    (void)state;
    for (unsigned shared = 0; shared < 2; shared++) {
        struct net net;
        net_init(&net);
        net_chain(&net, 2);
        net.options.routing_shared = shared;
        begin_chain(&net);
        assert_int_equal(latency_of_one(&net, 256),
                         2 * (HEADER * byte_ps + flight_ps + routing_ps) + 282 * byte_ps +
                             flight_ps);
        net_end(&net);
    }
}

/* Adapter - switch - adapter with links of different kinds and lengths. */
static void begin_pair(struct net *net, enum link_width width_in, enum link_speed speed_in,
                       unsigned metres_in, enum link_width width_out, enum link_speed speed_out,
                       unsigned metres_out)
{
    net_init(net);
    net_adapter(net, 1);
    net_adapter(net, 1);
    net_switch(net, 2);
    net_cable(net, 0, 1, 2, 1, width_in, speed_in, metres_in);
    net_cable(net, 2, 2, 1, 1, width_out, speed_out, metres_out);
    begin_chain(net);
}

/* 4X QDR: 32 Gb/s, 250 ps a byte. */
static void speed_and_length_count(void **state)
{
    struct net net;
    (void)state;
    begin_pair(&net, WIDTH_4X, SPEED_QDR, 3, WIDTH_4X, SPEED_QDR, 200);
    assert_int_equal(latency_of_one(&net, 256),
                     20 * 250 + 15 * TIME_NS + routing_ps + 282 * 250 + 1000 * TIME_NS);
    net_end(&net);
}

/* The header is routed early, but the output waits until the slow input cannot let it run dry: both
 * end at the same time. */
static void a_faster_output_never_underruns(void **state)
{
    struct net net;
    (void)state;
    begin_pair(&net, WIDTH_1X, SPEED_SDR, 20, WIDTH_4X, SPEED_QDR, 20);
    assert_int_equal(latency_of_one(&net, 256), 282 * byte_ps + flight_ps + flight_ps);
    net_end(&net);
}

/* Unless the look-up takes longer than the body: then the output starts right after it. */
static void a_slow_look_up_delays_a_faster_output(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net_adapter(&net, 1);
    net_adapter(&net, 1);
    net_switch(&net, 2);
    net_cable(&net, 0, 1, 2, 1, WIDTH_1X, SPEED_SDR, 20);
    net_cable(&net, 2, 2, 1, 1, WIDTH_4X, SPEED_QDR, 20);
    net.options.routing.base_ps = 2 * TIME_US;
    begin_chain(&net);
    assert_int_equal(latency_of_one(&net, 256),
                     HEADER * byte_ps + flight_ps + 2 * TIME_US + 282 * 250 + flight_ps);
    net_end(&net);
}

static void a_slower_output_takes_its_own_time(void **state)
{
    struct net net;
    (void)state;
    begin_pair(&net, WIDTH_4X, SPEED_QDR, 20, WIDTH_1X, SPEED_SDR, 20);
    assert_int_equal(latency_of_one(&net, 256),
                     20 * 250 + flight_ps + routing_ps + 282 * byte_ps + flight_ps);
    net_end(&net);
}

/* Half the link's rate inside: the output waits until the rest comes through in time. */
static void the_output_of_a_slow_crossbar_never_underruns(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net_chain(&net, 1);
    net.options.node.internal_percent = 50;
    begin_chain(&net);
    assert_int_equal(latency_of_one(&net, 256),
                     HEADER * byte_ps + flight_ps + routing_ps + 2 * 282 * byte_ps + flight_ps);
    net_end(&net);
}

/* Ten times the link's rate inside: no gain for a packet that is still coming in, and its place in
 * the input buffer is taken until it is all there. */
static void a_fast_crossbar_waits_for_the_bytes_of_a_packet(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net_chain(&net, 1);
    net.options.node.internal_percent = 1000;
    begin_chain(&net);
    uint64_t begin = net_now(&net), tail = begin + 282 * byte_ps + flight_ps;
    net.recording = true;
    net_packet(&net, net_port(&net, 0, 1), net_port(&net, 1, 1), 256, 0);
    net_run_until(&net, tail - 1);
    assert_int_equal(fabric_vl(net.fabric, net_port(&net, 2, 1), 0).input_bytes, 5 * 64);
    net_run(&net, 1);
    assert_int_equal(fabric_vl(net.fabric, net_port(&net, 2, 1), 0).input_bytes, 0);
    net_run(&net, TIME_MS);
    assert_int_equal(net.deliveries.items[0].time - begin,
                     HEADER * byte_ps + flight_ps + routing_ps + 282 * byte_ps + flight_ps);
    net_end(&net);
}

/* Rates that are no whole number of picoseconds are rounded up for each packet. */
static void times_on_odd_rates_are_rounded_up(void **state)
{
    struct net net;
    (void)state;
    begin_pair(&net, WIDTH_12X, SPEED_FDR, 20, WIDTH_12X, SPEED_FDR, 20);
    uint64_t each = 64 * TIME_S / link_data_rate(WIDTH_12X, SPEED_FDR);
    assert_true(each * 282 % 8 != 0);
    assert_int_equal(latency_of_one(&net, 256), (20 * each + 7) / 8 + flight_ps + routing_ps +
                                                    (282 * each + 7) / 8 + flight_ps);
    net_end(&net);
}

/* ---- saturated links ---- */

/* N packets leave one after the other without a gap: the last is there after N wire times. */
static void a_saturated_link_has_no_gaps(void **state)
{
    (void)state;
    for (unsigned switches = 0; switches <= 2; switches++) {
        enum { PACKETS = 5000 };
        struct net net;
        net_init(&net);
        net_chain(&net, switches);
        begin_chain(&net);
        uint64_t begin = net_now(&net),
                 first = switches * (HEADER * byte_ps + flight_ps + routing_ps) + flight_ps;
        net.recording = true;
        net_flow(&net, net_port(&net, 0, 1), net_port(&net, 1, 1), 256, 0);
        net_run(&net, first + PACKETS * 282 * byte_ps);
        assert_int_equal(net.deliveries.count, PACKETS);
        for (unsigned i = 0; i < PACKETS; i++)
            assert_int_equal(net.deliveries.items[i].time, begin + first + (i + 1) * 282 * byte_ps);
        assert_int_equal(fabric_busy_ps(net.fabric, net_port(&net, 0, 1)) % (282 * byte_ps), 0);
        net_end(&net);
    }
}

/* The time of the arbitration is time in which nothing is sent. */
static void channel_arbitration_costs_bandwidth(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net_chain(&net, 0);
    net.options.channel_ps = 100 * TIME_NS;
    begin_chain(&net);
    uint64_t begin = net_now(&net);
    net.recording = true;
    net_flow(&net, net_port(&net, 0, 1), net_port(&net, 1, 1), 256, 0);
    net_run(&net, TIME_MS);
    for (unsigned i = 0; i < net.deliveries.count; i++)
        assert_int_equal(net.deliveries.items[i].time,
                         begin + flight_ps + (i + 1) * (282 * byte_ps + 100 * TIME_NS));
    net_end(&net);
}

/* Both directions are saturated: the link carries the data of one and the flow control of the
 * other, 6 bytes a packet, and nothing is left over. */
static void flow_control_takes_its_bytes_from_the_link(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net_chain(&net, 0);
    begin_chain(&net);
    uint32_t a = net_port(&net, 0, 1), b = net_port(&net, 1, 1);
    uint64_t begin = net_now(&net), span = 10 * TIME_MS;
    net_flow(&net, a, b, 256, 0);
    net_flow(&net, b, a, 256, 0);
    uint64_t busy = fabric_busy_ps(net.fabric, a) + fabric_busy_ps(net.fabric, b);
    net_run_until(&net, begin + span);
    busy = fabric_busy_ps(net.fabric, a) + fabric_busy_ps(net.fabric, b) - busy;
    struct data_totals totals = net_totals(&net);
    assert_true(totals.credit_packets > 0);
    assert_int_equal(busy, totals.hops * 282 * byte_ps + totals.credit_packets * 6 * byte_ps);
    /* Never idle: at the end, at most one packet a direction reaches beyond. */
    assert_true(busy >= 2 * span && busy <= 2 * span + 2 * (282 + 6) * byte_ps);
    net_end(&net);
}

/* A buffer of two packets and a long cable: credits limit the rate, not the link. */
static void a_small_buffer_on_a_long_cable_limits_the_rate(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net_adapter(&net, 1);
    net_adapter(&net, 1);
    net_cable(&net, 0, 1, 1, 1, WIDTH_1X, SPEED_SDR, 2000); /* 10 us */
    net.options.node.buffer_bytes = 640;                    /* two packets of five blocks */
    begin_chain(&net);
    uint64_t begin = net_now(&net);
    net.recording = true;
    net_flow(&net, net_port(&net, 0, 1), net_port(&net, 1, 1), 256, 0);
    net_run(&net, TIME_MS);
    /* Each packet may go when the word that the one two before it has left the buffer is back. */
    uint64_t round = 282 * byte_ps + 10 * TIME_US + 6 * byte_ps + 10 * TIME_US;
    for (unsigned i = 2; i < net.deliveries.count; i++)
        assert_int_equal(net.deliveries.items[i].time - net.deliveries.items[i - 2].time, round);
    assert_int_equal(net.deliveries.items[0].time, begin + 282 * byte_ps + 10 * TIME_US);
    assert_true(net.deliveries.count > 80);
    net_end(&net);
}

/* Room for two packets: the third gets in when the last byte of the first is out. */
static void room_in_a_buffer_is_free_when_the_last_byte_has_left(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net_chain(&net, 0);
    net.options.node.buffer_bytes = 640;
    begin_chain(&net);
    uint64_t begin = net_now(&net);
    net.recording = true;
    net_flow(&net, net_port(&net, 0, 1), net_port(&net, 1, 1), 256, 0);
    net_run(&net, 10 * 282 * byte_ps);
    for (unsigned i = 0; i < net.deliveries.count; i++)
        assert_int_equal(net.deliveries.items[i].packet.entered,
                         begin + (i < 2 ? 0 : (i - 1) * 282 * byte_ps));
    assert_true(net.deliveries.count > 5);
    net_end(&net);
}

/* ---- the routing unit ---- */

enum { INPUTS = 6 };

/* Each of six adapters sends to one of six others; a look-up takes two microseconds. */
static void begin_slow_unit(struct net *net, bool shared)
{
    net_init(net);
    net->options.routing.base_ps = 2 * TIME_US;
    net->options.routing_shared = shared;
    net_star(net, 2 * INPUTS);
    begin_chain(net);
    for (unsigned i = 1; i <= INPUTS; i++)
        net_flow(net, net_port(net, i, 1), net_port(net, INPUTS + i, 1), 256, i % 2);
    net_run(net, TIME_MS);
    net_forget(net);
    net_run(net, 12 * TIME_MS);
}

static void one_routing_unit_serves_its_inputs_in_turn(void **state)
{
    struct net net;
    (void)state;
    begin_slow_unit(&net, true);
    for (unsigned i = 1; i <= INPUTS; i++) {
        uint64_t received = net.received[net_port(&net, INPUTS + i, 1)];
        assert_true(received >= 999 && received <= 1001); /* a sixth of 12 ms / 2 us each */
    }
    net_end(&net);
}

/* The look-up is a latency: links of 2 Gbit/s are full with packets of 282 bytes. */
static void a_pipelined_look_up_limits_no_rate(void **state)
{
    struct net net;
    (void)state;
    begin_slow_unit(&net, false);
    for (unsigned i = 1; i <= INPUTS; i++) {
        uint64_t received = net.received[net_port(&net, INPUTS + i, 1)];
        assert_true(received >= 10636 && received <= 10640);
    }
    net_end(&net);
}

static void send_mad(struct net *net, uint32_t from, uint32_t to)
{
    uint8_t mad[MAD_BYTES] = {0};
    struct packet_header header = {
        .dlid = net->lids[to], .dest_qp = QP_GSI, .p_key = P_KEY_DEFAULT, .q_key = Q_KEY_GSI};
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_PERFORMANCE);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, METHOD_GET_RESP);
    fabric_send(net->fabric, from, &header, mad);
}

/* The unit has a packet of adapter 1 and a request of adapter 2 when a management packet of adapter
 * 3 arrives: that is next, and adapter 2 after it. */
static void management_packets_are_routed_first(void **state)
{
    struct net net;
    (void)state;
    net_init(&net);
    net.options.routing.base_ps = 2 * TIME_US;
    net_star(&net, 6);
    begin_chain(&net);
    uint64_t begin = net_now(&net), first = begin + HEADER * byte_ps + flight_ps;
    net.recording = true;
    net_packet(&net, net_port(&net, 1, 1), net_port(&net, 4, 1), 256, 0);
    net_run(&net, 50 * TIME_NS);
    net_packet(&net, net_port(&net, 2, 1), net_port(&net, 5, 1), 256, 0);
    net_run(&net, 50 * TIME_NS);
    send_mad(&net, net_port(&net, 3, 1), net_port(&net, 6, 1));
    net_run(&net, TIME_MS);
    uint64_t rest = 282 * byte_ps + flight_ps;
    assert_int_equal(net.deliveries.count, 2);
    assert_int_equal(net.deliveries.items[0].time, first + 2 * TIME_US + rest);
    assert_int_equal(net.deliveries.items[1].time, first + 3 * 2 * TIME_US + rest);
    net_end(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_over_one_link_takes_its_bytes_and_the_flight),
        cmocka_unit_test(each_switch_adds_a_header_a_flight_and_a_look_up),
        cmocka_unit_test(the_times_of_all_units_add_up),
        cmocka_unit_test(units_that_take_no_time_add_none),
        cmocka_unit_test(one_routing_unit_or_one_for_each_input_is_the_same_to_a_lonely_packet),
        cmocka_unit_test(speed_and_length_count),
        cmocka_unit_test(a_faster_output_never_underruns),
        cmocka_unit_test(a_slow_look_up_delays_a_faster_output),
        cmocka_unit_test(a_slower_output_takes_its_own_time),
        cmocka_unit_test(the_output_of_a_slow_crossbar_never_underruns),
        cmocka_unit_test(a_fast_crossbar_waits_for_the_bytes_of_a_packet),
        cmocka_unit_test(times_on_odd_rates_are_rounded_up),
        cmocka_unit_test(a_saturated_link_has_no_gaps),
        cmocka_unit_test(channel_arbitration_costs_bandwidth),
        cmocka_unit_test(flow_control_takes_its_bytes_from_the_link),
        cmocka_unit_test(a_small_buffer_on_a_long_cable_limits_the_rate),
        cmocka_unit_test(room_in_a_buffer_is_free_when_the_last_byte_has_left),
        cmocka_unit_test(one_routing_unit_serves_its_inputs_in_turn),
        cmocka_unit_test(a_pipelined_look_up_limits_no_rate),
        cmocka_unit_test(management_packets_are_routed_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
