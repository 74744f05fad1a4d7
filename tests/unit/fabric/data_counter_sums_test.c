/* The counters that performance agents return agree with what the fabric itself counted, port by
 * port: several networks with several loads, bit errors, time limits, a link that fails, a switch
 * that fails, and tables without an entry. Each node is read by a MAD to itself, so that the
 * reading adds no packets to the links. */
#include "data_fixture.h"
#include "effort.h"

enum { FIRST_SWITCH_LID = 3000, VCRC_BYTES = 2, WORD_BYTES = 4 };

/* What an observer saw at each port. */
struct seen {
    uint64_t delivered, lost[LOSS_CAUSES];
};

/* What the agent of a port returned. */
struct read {
    uint8_t extended[MAD_BYTES], details[MAD_BYTES], discards[MAD_BYTES];
};

struct bench {
    struct net net;
    struct seen *seen;
    struct read *read;
};

static void note_delivered(void *context, uint64_t now, const struct packet_view *packet)
{
    struct bench *bench = context;
    (void)now;
    bench->seen[packet->destination].delivered++;
}

static void note_lost(void *context, uint64_t now, const struct packet_view *packet,
                      enum loss cause, uint32_t port)
{
    struct bench *bench = context;
    (void)now, (void)packet;
    bench->seen[port].lost[cause]++;
}

static bool is_switch(const struct net *net, uint32_t node)
{
    return net->topology.nodes.items[node].kind == NODE_SWITCH;
}

static uint16_t switch_lid(uint32_t node)
{
    return (uint16_t)(FIRST_SWITCH_LID + node);
}

/* Switches get LIDs, so that they can be read. */
static void address_switches(struct net *net)
{
    for (uint32_t node = 0; node < net->topology.nodes.count; node++) {
        unsigned lid = switch_lid(node);
        if (!is_switch(net, node))
            continue;
        net->tables[node][lid] = 0;
        net_set_port(net, node, 0, PORT_INFO_LID, lid);
        net_set(net, node, 0, ATTRIBUTE_LINEAR_FORWARDING_TABLE, lid / 64,
                net->tables[node] + lid / 64 * 64);
    }
}

static void begin(struct bench *bench, const char *kind, const char *words)
{
    struct net *net = &bench->net;
    uint32_t root = 0;
    net->options.node.agent.linear_entries = 4096;
    net_generate(net, kind, words, 1);
    net_begin(net, 7);
    while (!is_switch(net, root))
        root++;
    net_route_up_down(net, root);
    net_bring_up(net);
    address_switches(net);
    bench->seen = mem_zalloc(net->topology.ports.count, sizeof *bench->seen);
    bench->read = mem_zalloc(net->topology.ports.count, sizeof *bench->read);
    fabric_observe_data(
        net->fabric,
        &(struct data_observer){.context = bench, .delivered = note_delivered, .lost = note_lost});
}

static void end(struct bench *bench)
{
    mem_free(bench->seen);
    mem_free(bench->read);
    net_end(&bench->net);
}

/* Uniform traffic of all adapters: a packet of 256 bytes every `interval`, or always (0). */
static void start_traffic(struct bench *bench, uint64_t interval)
{
    struct traffic traffic = net_traffic(&bench->net);
    net_everybody(&bench->net, &traffic);
    if (interval) {
        traffic.arrival = ARRIVAL_POISSON;
        traffic.interval_ps = interval;
    }
    net_start(&bench->net, &traffic);
}

static void get(struct net *net, uint32_t node, unsigned number, unsigned attribute, uint8_t *data)
{
    bool to_switch = is_switch(net, node);
    uint32_t from = net_port(net, node, to_switch ? 0 : number);
    struct fabric_delivery answer;
    uint8_t mad[MAD_BYTES] = {0};
    struct packet_header header = {.dlid = to_switch ? switch_lid(node) : net->lids[from],
                                   .dest_qp = QP_GSI,
                                   .p_key = P_KEY_DEFAULT,
                                   .q_key = Q_KEY_GSI};
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_PERFORMANCE);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, METHOD_GET);
    wire_set(mad, MAD_ATTRIBUTE_ID, attribute);
    wire_set(mad + GMP_DATA_OFFSET, PORT_COUNTERS_PORT_SELECT, number);
    fabric_attach(net->fabric, from);
    fabric_send(net->fabric, from, &header, mad);
    assert_true(fabric_run(net->fabric, net_now(net) + TIME_S));
    assert_true(fabric_next_delivery(net->fabric, &answer));
    assert_int_equal(wire_get(answer.mad, MAD_STATUS), 0);
    memcpy(data, answer.mad + GMP_DATA_OFFSET, MAD_BYTES - GMP_DATA_OFFSET);
    fabric_detach(net->fabric, from);
}

static void read_all(struct bench *bench)
{
    struct net *net = &bench->net;
    for (uint32_t node = 0; node < net->topology.nodes.count; node++)
        for (unsigned n = 1; n <= net->topology.nodes.items[node].port_count; n++) {
            struct read *read = &bench->read[net_port(net, node, n)];
            if (!is_switch(net, node) && !net->lids[net_port(net, node, n)])
                continue;
            get(net, node, n, ATTRIBUTE_PORT_COUNTERS_EXT, read->extended);
            get(net, node, n, ATTRIBUTE_PORT_RCV_ERROR_DETAILS, read->details);
            get(net, node, n, ATTRIBUTE_PORT_XMIT_DISCARD_DETAILS, read->discards);
        }
}

static uint64_t extended(const struct bench *bench, uint32_t port, enum wire_field field)
{
    return wire_get(bench->read[port].extended, field);
}

static uint64_t detail(const struct bench *bench, uint32_t port, enum wire_field field)
{
    return wire_get(bench->read[port].details, field);
}

static uint64_t discard(const struct bench *bench, uint32_t port, enum wire_field field)
{
    return wire_get(bench->read[port].discards, field);
}

static uint64_t lost_at(const struct bench *bench, uint32_t port)
{
    uint64_t sum = 0;
    for (unsigned cause = 0; cause < LOSS_CAUSES; cause++)
        sum += bench->seen[port].lost[cause];
    return sum;
}

static void check_sent(const struct bench *bench, uint32_t port)
{
    uint64_t packets = 0, bytes = 0;
    for (unsigned vl = 0; vl < 15; vl++) {
        struct vl_view view = fabric_vl(bench->net.fabric, port, vl);
        packets += view.sent_packets;
        bytes += view.sent_bytes;
    }
    assert_int_equal(extended(bench, port, PORT_COUNTERS_EXT_TRANSMIT_PACKETS), packets);
    assert_int_equal(extended(bench, port, PORT_COUNTERS_EXT_TRANSMIT_UNICAST_PACKETS), packets);
    assert_int_equal(extended(bench, port, PORT_COUNTERS_EXT_TRANSMIT_DATA),
                     (bytes - VCRC_BYTES * packets) / WORD_BYTES);
}

/* Every packet that the peer sent was received, or lost on the link; every lost packet is counted
 * once. */
static void check_losses(const struct bench *bench, uint32_t port, uint32_t peer)
{
    const uint64_t *lost = bench->seen[port].lost;
    uint64_t sent = extended(bench, peer, PORT_COUNTERS_EXT_TRANSMIT_PACKETS);
    uint64_t received = extended(bench, port, PORT_COUNTERS_EXT_RECEIVE_PACKETS);
    uint64_t discards = extended(bench, port, PORT_COUNTERS_EXT_TRANSMIT_DISCARDS);
    uint64_t relay = extended(bench, port, PORT_COUNTERS_EXT_RECEIVE_SWITCH_RELAY_ERRORS);
    assert_true(received <= sent);
    assert_int_equal(lost_at(bench, port), sent - received + discards + relay);
    assert_int_equal(extended(bench, port, PORT_COUNTERS_EXT_RECEIVE_ERRORS), lost[LOSS_BIT_ERROR]);
    assert_int_equal(detail(bench, port, PORT_RCV_ERROR_DETAILS_LOCAL_PHYSICAL_ERRORS),
                     lost[LOSS_BIT_ERROR]);
    assert_int_equal(detail(bench, port, PORT_RCV_ERROR_DETAILS_DLID_MAPPING_ERRORS),
                     lost[LOSS_NO_ROUTE]);
    assert_int_equal(detail(bench, port, PORT_RCV_ERROR_DETAILS_LOOPING_ERRORS),
                     lost[LOSS_OUTPUT_IS_INPUT]);
    assert_int_equal(relay, lost[LOSS_NO_ROUTE] + lost[LOSS_OUTPUT_IS_INPUT] + lost[LOSS_NO_VL]);
    assert_int_equal(discard(bench, port, PORT_XMIT_DISCARD_DETAILS_LIFETIME_DISCARDS),
                     lost[LOSS_LIFETIME]);
    assert_int_equal(discard(bench, port, PORT_XMIT_DISCARD_DETAILS_HEAD_OF_QUEUE_DISCARDS),
                     lost[LOSS_HEAD_OF_QUEUE]);
    uint64_t inactive = discard(bench, port, PORT_XMIT_DISCARD_DETAILS_INACTIVE_DISCARDS);
    assert_true(discards >= inactive + lost[LOSS_LIFETIME] + lost[LOSS_HEAD_OF_QUEUE]);
    assert_true(inactive <= lost[LOSS_INACTIVE_PORT] + lost[LOSS_DEAD_LINK]);
}

/* Drains the fabric, reads all ports and compares. `lossless`: nothing was lost. */
static void check_all(struct bench *bench, bool lossless)
{
    struct net *net = &bench->net;
    uint64_t hops = 0, delivered = 0, lost = 0;
    net_drain(net, 100 * TIME_MS);
    read_all(bench);
    for (uint32_t port = 0; port < net->topology.ports.count; port++) {
        uint32_t peer = net->topology.ports.items[port].peer;
        if (peer == TOPOLOGY_NONE)
            continue;
        check_sent(bench, port);
        check_losses(bench, port, peer);
        hops += extended(bench, port, PORT_COUNTERS_EXT_TRANSMIT_PACKETS);
        lost += lost_at(bench, port);
        delivered += bench->seen[port].delivered;
        if (!is_switch(net, net->topology.ports.items[port].node))
            assert_int_equal(extended(bench, port, PORT_COUNTERS_EXT_RECEIVE_PACKETS),
                             bench->seen[port].delivered);
    }
    struct data_totals totals = net_totals(net);
    for (unsigned cause = 0; cause < LOSS_CAUSES; cause++)
        if (totals.lost[cause])
            print_message("%llu lost: %s\n", (unsigned long long)totals.lost[cause],
                          loss_names[cause]);
    assert_true(totals.delivered > 1000);
    assert_int_equal(hops, totals.hops);
    assert_int_equal(delivered, totals.delivered);
    assert_int_equal(lost, data_totals_lost(&totals));
    assert_true(lossless ? lost == 0 : lost > 0);
}

static void sums_agree_on_all_networks_and_loads(void **state)
{
    static const char *const networks[][2] = {
        {"kary", "k=4 n=2"},
        {"fattree", "324"},
        {"torus", "3 3 3"},
        {"dragonfly", "72"},
        {"irregular", "switches=16 ports=8"},
    };
    static const uint64_t intervals[] = {100 * TIME_US, 5 * TIME_US, 0};
    (void)state;
    for (unsigned i = 0; i < sizeof networks / sizeof *networks; i++)
        for (unsigned load = 0; load < sizeof intervals / sizeof *intervals; load++) {
            struct bench bench = {0};
            net_init(&bench.net);
            begin(&bench, networks[i][0], networks[i][1]);
            start_traffic(&bench, intervals[load]);
            const uint64_t part = load ? effort(1000, 1000, 250) * TIME_US : 10 * TIME_MS;
            net_run(&bench.net, load ? 2 * part : part);
            read_all(&bench); /* a reading in between changes nothing */
            net_run(&bench.net, part);
            check_all(&bench, true);
            end(&bench);
        }
}

static void packets_with_bit_errors_are_receive_errors(void **state)
{
    struct bench bench = {0};
    (void)state;
    net_init(&bench.net);
    bench.net.options.bit_error_rate = (UINT64_C(1) << 56) / (282 * 8); /* one in 256 */
    begin(&bench, "kary", "k=4 n=2");
    start_traffic(&bench, 10 * TIME_US);
    net_run(&bench.net, 5 * TIME_MS);
    check_all(&bench, false);
    end(&bench);
}

static void packets_that_wait_too_long_are_discards(void **state)
{
    struct bench bench = {0};
    (void)state;
    net_init(&bench.net);
    bench.net.options.node.agent.life_time = 0; /* 4.096 us in a switch */
    begin(&bench, "kary", "k=4 n=2");
    struct traffic traffic = net_traffic(&bench.net);
    for (uint32_t port = 0, receiver = TOPOLOGY_NONE; port < bench.net.topology.ports.count; port++)
        if (bench.net.lids[port]) {
            net_member(&traffic, receiver == TOPOLOGY_NONE ? TOPOLOGY_NONE : port,
                       receiver == TOPOLOGY_NONE ? port : TOPOLOGY_NONE);
            receiver = port;
        }
    net_start(&bench.net, &traffic);
    net_run(&bench.net, 5 * TIME_MS);
    check_all(&bench, false);
    end(&bench);
}

/* The first link between switches. */
static uint32_t first_trunk(const struct net *net)
{
    for (uint32_t port = 0; port < net->topology.ports.count; port++) {
        uint32_t peer = net->topology.ports.items[port].peer;
        if (peer != TOPOLOGY_NONE && is_switch(net, net->topology.ports.items[port].node) &&
            is_switch(net, net->topology.ports.items[peer].node))
            return port;
    }
    return TOPOLOGY_NONE;
}

static void packets_of_a_failed_link_are_counted_once(void **state)
{
    struct bench bench = {0};
    (void)state;
    net_init(&bench.net);
    begin(&bench, "kary", "k=4 n=2");
    uint32_t trunk = first_trunk(&bench.net), peer = bench.net.topology.ports.items[trunk].peer;
    start_traffic(&bench, 2 * TIME_US);
    net_run(&bench.net, 2 * TIME_MS);
    read_all(&bench);
    net_run(&bench.net, TIME_MS);
    fabric_set_link(bench.net.fabric, trunk, false, NULL);
    net_run(&bench.net, 2 * TIME_MS);
    check_all(&bench, false);
    assert_int_equal(extended(&bench, trunk, PORT_COUNTERS_EXT_LINK_DOWNED), 1);
    assert_int_equal(extended(&bench, peer, PORT_COUNTERS_EXT_LINK_DOWNED), 1);
    assert_true(discard(&bench, trunk, PORT_XMIT_DISCARD_DETAILS_INACTIVE_DISCARDS) > 0);
    end(&bench);
}

static void packets_to_an_adapter_without_a_link_are_discards(void **state)
{
    struct bench bench = {0};
    uint32_t port = 0;
    (void)state;
    net_init(&bench.net);
    begin(&bench, "kary", "k=4 n=2");
    while (!bench.net.lids[port])
        port++;
    uint32_t peer = bench.net.topology.ports.items[port].peer;
    start_traffic(&bench, 10 * TIME_US);
    net_run(&bench.net, TIME_MS);
    fabric_set_link(bench.net.fabric, port, false, NULL);
    net_run(&bench.net, TIME_MS);
    check_all(&bench, false);
    assert_true(extended(&bench, peer, PORT_COUNTERS_EXT_TRANSMIT_DISCARDS) > 50);
    end(&bench);
}

static void packets_without_a_table_entry_are_relay_errors(void **state)
{
    struct bench bench = {0};
    (void)state;
    net_init(&bench.net);
    begin(&bench, "kary", "k=4 n=2");
    uint32_t trunk = first_trunk(&bench.net);
    uint32_t node = bench.net.topology.ports.items[trunk].node;
    bench.net.tables[node][1] = NET_NOWHERE;
    bench.net.tables[node][2] = (uint8_t)topology_port_number(&bench.net.topology, trunk);
    net_write_table(&bench.net, node);
    start_traffic(&bench, 10 * TIME_US);
    net_run(&bench.net, 5 * TIME_MS);
    check_all(&bench, false);
    end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_agree_on_all_networks_and_loads),
        cmocka_unit_test(packets_with_bit_errors_are_receive_errors),
        cmocka_unit_test(packets_that_wait_too_long_are_discards),
        cmocka_unit_test(packets_of_a_failed_link_are_counted_once),
        cmocka_unit_test(packets_to_an_adapter_without_a_link_are_discards),
        cmocka_unit_test(packets_without_a_table_entry_are_relay_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
