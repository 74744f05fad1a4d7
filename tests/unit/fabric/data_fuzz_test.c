/* Thousands of random faults and settings under random traffic on random networks. The books are
 * checked after each; at the end everything is repaired, drains, and runs as if nothing had been.
 */
#include "data_fixture.h"

#include "base/rng.h"

#include <stdlib.h>

enum { FAULTS = 60 };

static unsigned draw(struct rng *rng, unsigned bound)
{
    return (unsigned)rng_below(rng, bound);
}

static const char *const networks[][2] = {
    {"irregular", "switches=8 ports=6 hosts=16 width=1x speed=sdr"},
    {"irregular", "switches=16 ports=8 width=4x speed=sdr"},
    {"kary", "k=2 n=3 width=1x speed=sdr"},
    {"kary", "k=4 n=2 width=4x speed=qdr"},
};

/* Some cables are faster than others; both ends of one must agree. */
static void vary_speeds(struct net *net, struct rng *rng)
{
    for (uint32_t port = 0; port < net->topology.ports.count; port++) {
        struct topology_port *a = &net->topology.ports.items[port];
        if (a->peer == TOPOLOGY_NONE || a->peer < port)
            continue;
        struct topology_port *b = &net->topology.ports.items[a->peer];
        a->width = b->width = draw(rng, 2) ? WIDTH_1X : WIDTH_4X;
        a->length_mm = b->length_mm = 1000 + draw(rng, 50000);
    }
}

static void vary_options(struct net *net, struct rng *rng)
{
    static const uint8_t vl_counts[] = {1, 2, 4, 8, 15};
    static const uint32_t buffers[] = {640, 1024, 4096, 65536};
    struct fabric_options *options = &net->options;
    options->node.agent.data_vls = vl_counts[draw(rng, 5)];
    options->node.agent.vl_arbitration = 16;
    options->node.buffer_bytes = buffers[draw(rng, 4)];
    options->node.internal_percent = 50 + draw(rng, 4) * 50;
    options->multiplexed = draw(rng, 2);
    options->routing_shared = draw(rng, 2);
    options->routing.base_ps = draw(rng, 3) * 100 * TIME_NS;
    options->channel_ps = draw(rng, 2) * 10 * TIME_NS;
    options->training_ps = draw(rng, 3) * 20 * TIME_US;
    options->bit_error_rate = draw(rng, 3) ? 0 : UINT64_C(1) << 40;
    if (draw(rng, 3) == 0)
        options->node.agent.life_time = (uint8_t)(2 + draw(rng, 6));
    if (draw(rng, 3) == 0)
        options->node.agent.queue_life = (uint8_t)(2 + draw(rng, 6));
    if (draw(rng, 3) == 0) { /* PCI-X 66 and faster ones, which are shared by both directions */
        options->node.bus = 1 + draw(rng, 6);
        options->node.adapter_packet_ps = draw(rng, 3) * 500 * TIME_NS;
    }
}

/* A multicast group of all adapters, along the paths to and from one of them, which form a tree.
 * Packets to that one go to all. */
static void make_group(struct net *net)
{
    uint32_t root_port = 0;
    while (!net->lids[root_port])
        root_port++;
    net->multicast = LID_MULTICAST_FIRST;
    net->multicast_for = root_port;
    uint16_t *masks = mem_zalloc(net->topology.nodes.count, sizeof *masks);
    for (uint32_t port = 0; port < net->topology.ports.count; port++) {
        const struct topology_port *described = &net->topology.ports.items[port];
        uint32_t node = described->node;
        uint8_t *table = net->tables[node];
        if (!table || described->peer == TOPOLOGY_NONE)
            continue;
        unsigned number = topology_port_number(&net->topology, port);
        uint32_t other = net->topology.ports.items[described->peer].node;
        if (table[net->lids[root_port]] == number) {
            masks[node] |= (uint16_t)(1u << number);
            if (net->tables[other])
                masks[other] |=
                    (uint16_t)(1u << topology_port_number(&net->topology, described->peer));
        } else if (!net->tables[other]) {
            masks[node] |= (uint16_t)(1u << number);
        }
    }
    for (uint32_t node = 0; node < net->topology.nodes.count; node++)
        if (net->tables[node])
            net_multicast(net, node, LID_MULTICAST_FIRST, masks[node]);
    mem_free(masks);
}

static void begin_random(struct net *net, struct rng *rng, uint64_t seed)
{
    unsigned kind = draw(rng, 4);
    net_init(net);
    vary_options(net, rng);
    net_generate(net, networks[kind][0], networks[kind][1], seed);
    if (draw(rng, 3) == 0)
        vary_speeds(net, rng);
    net_begin(net, seed);
    uint32_t root = 0;
    while (net->topology.nodes.items[root].kind != NODE_SWITCH)
        root++;
    net_route_up_down(net, root);
    net_bring_up(net);
    if (draw(rng, 2))
        make_group(net);
}

static void start_random(struct net *net, struct rng *rng)
{
    struct traffic traffic = net_traffic(net);
    net_everybody(net, &traffic);
    traffic.pattern = draw(rng, 2) ? PATTERN_UNIFORM : PATTERN_HOT_SPOT;
    traffic.hot_parts = RNG_CERTAIN / 4;
    traffic.arrival = (enum traffic_arrival)draw(rng, TRAFFIC_ARRIVALS);
    if (traffic.arrival == ARRIVAL_EMPIRICAL) { /* half or one and a half of the mean */
        vec_push(&traffic.density, ((struct traffic_interval){1, UINT64_C(1) << 31}));
        vec_push(&traffic.density, ((struct traffic_interval){2, UINT64_C(3) << 31}));
    }
    traffic.interval_ps = (1 + draw(rng, 8)) * TIME_US;
    traffic.burst = 1 + draw(rng, 5);
    traffic.sl = draw(rng, 2) ? TRAFFIC_RANDOM_SL : (uint8_t)draw(rng, 16);
    traffic.size_count = 2;
    traffic.sizes[0] = (struct traffic_size){1 + draw(rng, 256), 1};
    traffic.sizes[1] = (struct traffic_size){1 + draw(rng, 256), 1 + draw(rng, 3)};
    if (draw(rng, 3) == 0) {
        traffic.retry_ps = (1 + draw(rng, 50)) * TIME_US;
        traffic.retries = 1 + draw(rng, 10);
    }
    if (draw(rng, 4) == 0)
        traffic.limit_ps_per_8_bytes = (1 + draw(rng, 10)) * 10 * TIME_NS;
    net_start(net, &traffic);
}

/* A port with a cable. */
static uint32_t some_port(const struct net *net, struct rng *rng)
{
    for (;;) {
        uint32_t port = draw(rng, (unsigned)net->topology.ports.count);
        if (net->topology.ports.items[port].peer != TOPOLOGY_NONE)
            return port;
    }
}

static void send_tables(struct net *net, struct rng *rng, uint32_t node, unsigned port, bool random)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    unsigned vls = net->options.node.agent.data_vls;
    for (unsigned i = 0; i < 16; i++)
        wire_set_at(data, SL2VL_TABLE_VL, i, random ? draw(rng, 16) : i % vls);
    unsigned input = random ? draw(rng, net->topology.nodes.items[node].port_count + 1u) : 0;
    for (; input <= net->topology.nodes.items[node].port_count; input++) {
        net_post(net, node, port, ATTRIBUTE_SL2VL_TABLE, input << 8 | port, data);
        if (random)
            break;
    }
    memset(data, 0, sizeof data);
    for (unsigned i = 0; i < 16; i++) {
        wire_set_at(data, VL_ARBITRATION_TABLE_VL, i, random ? draw(rng, vls) : i % vls);
        wire_set_at(data, VL_ARBITRATION_TABLE_WEIGHT, i, random ? draw(rng, 20) : 4);
    }
    net_post(net, node, port, ATTRIBUTE_VL_ARBITRATION_TABLE, 1u << 16 | port, data);
}

static void set_port_randomly(struct net *net, struct rng *rng, uint32_t node, unsigned port)
{
    switch (draw(rng, 6)) {
    case 0: net_post_port(net, node, port, PORT_INFO_PORT_STATE, PORT_STATE_INIT); break;
    case 1: net_post_port(net, node, port, PORT_INFO_PORT_STATE, PORT_STATE_ARMED); break;
    case 2: net_post_port(net, node, port, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE); break;
    case 3: net_post_port(net, node, port, PORT_INFO_HOQ_LIFE, draw(rng, 21)); break;
    case 4: net_post_port(net, node, port, PORT_INFO_PORT_STATE, PORT_STATE_DOWN); break;
    case 5: {
        unsigned most = (unsigned)wire_get(fabric_port_info(net->fabric, net_port(net, node, port)),
                                           PORT_INFO_VL_CAP);
        net_post_port(net, node, port, PORT_INFO_OPERATIONAL_VLS, 1 + draw(rng, most));
        break;
    }
    }
}

static void do_something(struct net *net, struct rng *rng)
{
    uint32_t port = some_port(net, rng), node = net->topology.ports.items[port].node;
    unsigned number = topology_port_number(&net->topology, port);
    switch (draw(rng, 9)) {
    case 0: fabric_set_link(net->fabric, port, draw(rng, 2), NULL); break;
    case 1: fabric_flap_port(net->fabric, port, NULL); break;
    case 2: fabric_set_node(net->fabric, node, false, NULL); break;
    case 3:
    case 4:
        fabric_set_link(net->fabric, port, true, NULL);
        fabric_set_node(net->fabric, node, true, NULL);
        break;
    case 5: net_program(net, node); break;
    case 6: set_port_randomly(net, rng, node, number); break;
    case 7: send_tables(net, rng, node, number, true); break;
    case 8:
        if (net->traffics < 6)
            start_random(net, rng);
        else
            fabric_stop_traffic(net->fabric, draw(rng, net->traffics));
        break;
    }
}

static void repair_everything(struct net *net, struct rng *rng)
{
    for (uint32_t node = 0; node < net->topology.nodes.count; node++)
        fabric_set_node(net->fabric, node, true, NULL);
    for (uint32_t port = 0; port < net->topology.ports.count; port++)
        fabric_set_link(net->fabric, port, true, NULL);
    for (uint32_t port = 0; port < net->topology.ports.count; port++)
        if (net->topology.ports.items[port].peer != TOPOLOGY_NONE)
            net_post_port(net, net->topology.ports.items[port].node,
                          topology_port_number(&net->topology, port), PORT_INFO_PORT_PHYSICAL_STATE,
                          PHYSICAL_POLLING);
    net_run(net, TIME_MS);
    for (uint32_t port = 0; port < net->topology.ports.count; port++) {
        uint32_t node = net->topology.ports.items[port].node;
        unsigned number = topology_port_number(&net->topology, port);
        if (net->topology.ports.items[port].peer == TOPOLOGY_NONE)
            continue;
        assert_true(fabric_link_is_up(net->fabric, port));
        net_post_port(net, node, number, PORT_INFO_OPERATIONAL_VLS,
                      wire_get(fabric_port_info(net->fabric, port), PORT_INFO_VL_CAP));
        net_run(net, 100 * TIME_US);
        net_post_port(net, node, number, PORT_INFO_HOQ_LIFE, 31);
        net_run(net, 100 * TIME_US);
        send_tables(net, rng, node, number, false);
        net_run(net, 200 * TIME_US);
    }
    for (uint32_t node = 0; node < net->topology.nodes.count; node++) {
        net_program(net, node);
        net_run(net, 400 * TIME_US);
    }
}

/* Everybody to everybody, a packet at a time: all of them arrive. */
static void expect_health(struct net *net)
{
    uint64_t lost = net_lost(net), delivered = net_totals(net).delivered;
    uint64_t errors = net_totals(net).lost[LOSS_BIT_ERROR] + net_totals(net).lost[LOSS_LIFETIME];
    struct traffic traffic = net_traffic(net);
    net_everybody(net, &traffic);
    uint64_t hosts = traffic.senders.count;
    traffic.pattern = PATTERN_ALL_TO_ALL;
    traffic.arrival = ARRIVAL_CONSTANT;
    traffic.interval_ps = 20 * TIME_US;
    traffic.stop_ps = traffic.start_ps + traffic.interval_ps * (hosts - 1);
    traffic.sl = TRAFFIC_RANDOM_SL;
    net_start(net, &traffic);
    net_run(net, 20 * TIME_US * hosts + TIME_MS);
    struct data_totals totals = net_totals(net);
    errors = totals.lost[LOSS_BIT_ERROR] + totals.lost[LOSS_LIFETIME] - errors;
    assert_int_equal(net_lost(net), lost + errors);
    assert_int_equal(totals.delivered + errors, delivered + hosts * (hosts - 1));
}

static void add_up(struct data_totals *sum, const struct data_totals *totals)
{
    for (unsigned cause = 0; cause < LOSS_CAUSES; cause++)
        sum->lost[cause] += totals->lost[cause];
    sum->delivered += totals->delivered;
    sum->duplicates += totals->duplicates;
    sum->retried += totals->retried;
}

static void run_one(uint64_t seed, struct data_totals *sum)
{
    struct rng rng;
    struct net net;
    rng_seed(&rng, seed, 0);
    begin_random(&net, &rng, seed);
    start_random(&net, &rng);
    for (unsigned i = 0; i < FAULTS; i++) {
        net_run(&net, rng_below(&rng, 50 * TIME_US));
        do_something(&net, &rng);
        net_check(&net);
    }
    net_stop_all(&net);
    repair_everything(&net, &rng);
    net.multicast = 0;
    net_drain(&net, 100 * TIME_MS);
    expect_health(&net);
    assert_int_equal(net_totals(&net).lost[LOSS_OVERFLOW], 0);
    net_drain(&net, 10 * TIME_MS);
    struct data_totals totals = net_totals(&net);
    add_up(sum, &totals);
    net_end(&net);
}

/* Everything that can happen has happened. */
static void expect_variety(const struct data_totals *sum)
{
    static const enum loss causes[] = {LOSS_INACTIVE_PORT, LOSS_DEAD_LINK, LOSS_DEAD_NODE,
                                       LOSS_NO_ROUTE,      LOSS_NO_VL,     LOSS_LIFETIME,
                                       LOSS_HEAD_OF_QUEUE, LOSS_BIT_ERROR};
    for (unsigned i = 0; i < sizeof causes / sizeof causes[0]; i++)
        if (!sum->lost[causes[i]])
            fail_msg("%s never happened", loss_names[causes[i]]);
    assert_true(sum->delivered > 10000 && sum->duplicates > 1000 && sum->retried > 1000);
}

/* FUZZ_FIRST and FUZZ_COUNT choose other seeds. */
static void faults_leave_no_packet_and_no_credit_behind(void **state)
{
    const char *first = getenv("FUZZ_FIRST"), *count = getenv("FUZZ_COUNT");
    uint64_t begin = first ? strtoull(first, NULL, 10) : 1;
    uint64_t seeds = count ? strtoull(count, NULL, 10) : 60;
    struct data_totals sum = {0};
    (void)state;
    for (uint64_t seed = begin; seed < begin + seeds; seed++) {
        if (first)
            print_message("seed %llu\n", (unsigned long long)seed);
        run_one(seed, &sum);
    }
    if (!first)
        expect_variety(&sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_leave_no_packet_and_no_credit_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
