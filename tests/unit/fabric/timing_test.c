/* Time to the picosecond, worked out by hand, and buffers that overflow.
 *
 * A 1X link at SDR carries 2 Gb/s after line coding, 4 ns a byte. An SMP on the wire has 290 bytes:
 * 1,160 ns. A cable of 20 m takes 100 ns. The `today` preset's agents take 5 us, a directed hop
 * through a switch 500 ns, a look-up 100 ns. */
#include "fixture.h"

#define SMP_NS    UINT64_C(1160)
#define HEADER_NS UINT64_C(80) /* 20 bytes: enough for a switch to route by */
#define FLIGHT_NS UINT64_C(100)
#define AGENT_NS  UINT64_C(5000)
#define SMI_NS    UINT64_C(500)
#define LOOKUP_NS UINT64_C(100)

/* All links are 1X SDR of 20 m. */
static void line_build(struct line *line)
{
    struct world *world = &line->world;
    line_init(line);
    for (unsigned i = 0; i < world->topology.ports.count; i++)
        world->topology.ports.items[i].width = WIDTH_1X;
    world->options.sma = (struct cost){.base_ps = AGENT_NS * TIME_NS};
    world->options.smi = (struct cost){.base_ps = SMI_NS * TIME_NS};
    world->options.routing = (struct cost){.base_ps = LOOKUP_NS * TIME_NS};
    world->options.flight_ps_per_m = 5 * TIME_NS;
}

static void line_up(struct line *line)
{
    line_build(line);
    world_begin(&line->world, 1);
    world_bring_up(&line->world, world_port(&line->world, line->manager, 1));
}

static uint64_t directed_ps(struct line *line, uint32_t node)
{
    uint64_t start = fabric_network_time(line->world.fabric);
    assert_int_equal(world_ask(&line->world, world_path(&line->world, node), METHOD_GET,
                               ATTRIBUTE_NODE_INFO, 0, NULL),
                     0);
    return fabric_network_time(line->world.fabric) - start;
}

static uint64_t lid_routed_ps(struct line *line, unsigned class, unsigned attribute, uint32_t node)
{
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery answer;
    uint64_t start = fabric_network_time(line->world.fabric);
    mad_fill(mad, class, METHOD_GET, attribute, 0);
    assert_true(world_exchange(&line->world, line->world.manager, world_lid(&line->world, node),
                               mad, &answer));
    return fabric_network_time(line->world.fabric) - start;
}

static void a_request_to_the_own_node_takes_the_agents_time(void **state)
{
    (void)state;
    struct line line;
    line_up(&line);
    assert_int_equal(directed_ps(&line, line.manager), AGENT_NS * TIME_NS);
    world_end(&line.world);
}

static void a_directed_smp_is_stored_at_every_switch(void **state)
{
    (void)state;
    struct line line;
    line_up(&line);
    uint64_t hop = SMP_NS + FLIGHT_NS;
    assert_int_equal(hop, 1260);
    assert_int_equal(directed_ps(&line, line.a), (2 * hop + AGENT_NS) * TIME_NS);
    assert_int_equal(directed_ps(&line, line.b), (4 * hop + 2 * SMI_NS + AGENT_NS) * TIME_NS);
    assert_int_equal(directed_ps(&line, line.target), (6 * hop + 4 * SMI_NS + AGENT_NS) * TIME_NS);
    world_end(&line.world);
}

static void a_lid_routed_packet_cuts_through(void **state)
{
    (void)state;
    struct line line;
    line_up(&line);
    uint64_t through = HEADER_NS + FLIGHT_NS + LOOKUP_NS, last = SMP_NS + FLIGHT_NS;
    assert_int_equal(2 * through + last, 1820);
    assert_int_equal(lid_routed_ps(&line, CLASS_SUBN_LID, ATTRIBUTE_NODE_INFO, line.target),
                     (2 * (2 * through + last) + AGENT_NS) * TIME_NS);
    assert_int_equal(
        lid_routed_ps(&line, CLASS_PERFORMANCE, ATTRIBUTE_CLASS_PORT_INFO, line.target),
        (2 * (2 * through + last) + AGENT_NS) * TIME_NS);
    /* A packet to the switch itself must arrive as a whole; its response needs a look-up first. */
    assert_int_equal(lid_routed_ps(&line, CLASS_SUBN_LID, ATTRIBUTE_NODE_INFO, line.a),
                     (last + AGENT_NS + LOOKUP_NS + last) * TIME_NS);
    world_end(&line.world);
}

static void faster_links_and_longer_cables_count(void **state)
{
    (void)state;
    struct line line;
    line_build(&line);
    for (unsigned i = 0; i < line.world.topology.ports.count; i++) {
        line.world.topology.ports.items[i].width = WIDTH_4X;
        line.world.topology.ports.items[i].speed = SPEED_EDR; /* 100 Gb/s: 80 ps a byte */
        line.world.topology.ports.items[i].length_mm = 1500;
    }
    world_begin(&line.world, 1);
    world_find_paths(&line.world, world_port(&line.world, line.manager, 1));
    assert_int_equal(directed_ps(&line, line.a), 2 * (290 * 80 + 7500) + AGENT_NS * TIME_NS);
    world_end(&line.world);
}

static void costs_may_grow_with_the_subnet(void **state)
{
    (void)state;
    struct line line;
    line_build(&line);
    line.world.options.sma.per_node_ps = 10 * TIME_NS;
    line.world.options.smi.per_node_ps = 1 * TIME_NS;
    world_begin(&line.world, 1);
    world_find_paths(&line.world, world_port(&line.world, line.manager, 1));
    uint64_t hop = SMP_NS + FLIGHT_NS, nodes = 4;
    assert_int_equal(directed_ps(&line, line.b),
                     (4 * hop + 2 * (SMI_NS + nodes) + AGENT_NS + 10 * nodes) * TIME_NS);
    world_end(&line.world);
}

static void post(struct line *line, const struct path *path)
{
    uint8_t mad[MAD_BYTES];
    mad_fill(mad, CLASS_SUBN_DIRECTED, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    mad_direct(mad, path);
    struct packet_header header = header_to(&line->world, mad, LID_PERMISSIVE);
    fabric_send(line->world.fabric, line->world.manager, &header, mad);
}

static void packets_wait_for_the_wire_and_for_the_agent(void **state)
{
    (void)state;
    struct line line;
    line_up(&line);
    struct fabric_delivery answer;
    uint64_t start = fabric_network_time(line.world.fabric);
    for (unsigned i = 0; i < 3; i++)
        post(&line, world_path(&line.world, line.a));
    /* They arrive 1,160 ns apart, and the agent takes 5,000 over each. */
    for (uint64_t i = 1; i <= 3; i++) {
        assert_true(world_take(&line.world, &answer));
        assert_int_equal(fabric_network_time(line.world.fabric) - start,
                         (2 * (SMP_NS + FLIGHT_NS) + i * AGENT_NS) * TIME_NS);
    }
    world_end(&line.world);
}

static void a_link_that_was_lost_while_sending_sends_one_at_a_time_again(void **state)
{
    (void)state;
    struct line line;
    line_build(&line);
    line.world.options.training_ps = 0;
    world_begin(&line.world, 1);
    world_find_paths(&line.world, world_port(&line.world, line.manager, 1));
    struct fabric *fabric = line.world.fabric;
    post(&line, world_path(&line.world, line.a));
    fabric_run_network(fabric, SMP_NS * TIME_NS / 2);
    fabric_flap_port(fabric, line.world.manager, NULL);
    fabric_run_network(fabric, SMP_NS * TIME_NS / 2);
    post(&line, world_path(&line.world, line.a));
    post(&line, world_path(&line.world, line.a));
    /* The end of the first, lost, one must not let the third go before the second is through. */
    fabric_run_network(fabric, SMP_NS * TIME_NS + 1);
    assert_int_equal(world_counter(&line.world, line.manager, 1, COUNTER_TRANSMIT_PACKETS), 2);
    fabric_run_network(fabric, SMP_NS * TIME_NS * 3 / 2);
    assert_int_equal(world_counter(&line.world, line.manager, 1, COUNTER_TRANSMIT_PACKETS), 3);
    world_end(&line.world);
}

static unsigned answers_to_burst(struct line *line, uint32_t node, unsigned burst)
{
    struct fabric_delivery answer;
    unsigned answers = 0;
    for (unsigned i = 0; i < burst; i++)
        post(line, world_path(&line->world, node));
    while (world_take(&line->world, &answer))
        answers++;
    return answers;
}

static void a_full_vl15_buffer_drops_silently_and_counts(void **state)
{
    (void)state;
    struct line line;
    line_build(&line);
    line.world.options.node.vl15_buffer = 4;
    world_begin(&line.world, 1);
    world_find_paths(&line.world, world_port(&line.world, line.manager, 1));
    /* One is on the wire, four wait, the other five are gone. */
    assert_int_equal(answers_to_burst(&line, line.a, 10), 5);
    assert_int_equal(world_counter(&line.world, line.manager, 1, COUNTER_VL15_DROPPED), 5);
    assert_int_equal(world_counter(&line.world, line.manager, 1, COUNTER_TRANSMIT_DISCARDS), 0);
    assert_int_equal(world_counter(&line.world, line.manager, 1, COUNTER_TRANSMIT_PACKETS), 5);
    world_end(&line.world);
}

static void a_full_agent_drops_silently_and_counts(void **state)
{
    (void)state;
    struct line line;
    line_build(&line);
    line.world.options.node.agent_buffer = 2;
    world_begin(&line.world, 1);
    world_find_paths(&line.world, world_port(&line.world, line.manager, 1));
    assert_int_equal(answers_to_burst(&line, line.manager, 10), 2);
    assert_int_equal(world_counter(&line.world, line.manager, 1, COUNTER_VL15_DROPPED), 8);
    world_end(&line.world);
}

static void a_full_agent_counts_general_mads_apart(void **state)
{
    (void)state;
    struct line line;
    line_up(&line);
    struct world *world = &line.world;
    unsigned room = world->options.node.agent_buffer;
    for (unsigned i = 0; i < 4 * room; i++) {
        uint8_t mad[MAD_BYTES];
        mad_fill(mad, CLASS_PERFORMANCE, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0);
        struct packet_header header = header_to(world, mad, world_lid(world, line.manager));
        fabric_send(world->fabric, world->manager, &header, mad);
    }
    assert_int_equal(world_counter(world, line.manager, 1, COUNTER_QP1_DROPPED), 3 * room);
    assert_int_equal(world_counter(world, line.manager, 1, COUNTER_VL15_DROPPED), 0);
    world_end(world);
}

static void smps_overtake_data_that_waits(void **state)
{
    (void)state;
    struct line line;
    line_up(&line);
    struct world *world = &line.world;
    fabric_attach(world->fabric, world_port(world, line.target, 1));
    for (unsigned i = 0; i < 4; i++) {
        uint8_t mad[MAD_BYTES];
        bool smp = i == 3;
        mad_fill(mad, smp ? CLASS_SUBN_LID : CLASS_SUBN_ADM, METHOD_GET, ATTRIBUTE_SM_INFO, i);
        struct packet_header header = header_to(world, mad, world_lid(world, line.target));
        fabric_send(world->fabric, world->manager, &header, mad);
    }
    static const unsigned order[] = {0, 3, 1, 2}; /* the first is on the wire already */
    for (unsigned i = 0; i < 4; i++) {
        struct fabric_delivery delivery;
        assert_true(world_take(world, &delivery));
        assert_int_equal(wire_get(delivery.mad, MAD_ATTRIBUTE_MODIFIER), order[i]);
    }
    world_end(world);
}

static void counters_cover_all_vls(void **state)
{
    (void)state;
    struct line line;
    line_up(&line);
    const struct world *world = &line.world;
    uint64_t packets = world_counter(world, line.target, 1, COUNTER_RECEIVE_PACKETS);
    uint64_t data = world_counter(world, line.target, 1, COUNTER_RECEIVE_DATA);
    lid_routed_ps(&line, CLASS_SUBN_LID, ATTRIBUTE_NODE_INFO, line.target);
    lid_routed_ps(&line, CLASS_PERFORMANCE, ATTRIBUTE_CLASS_PORT_INFO, line.target);
    assert_int_equal(world_counter(world, line.target, 1, COUNTER_RECEIVE_PACKETS), packets + 2);
    assert_int_equal(world_counter(world, line.target, 1, COUNTER_RECEIVE_DATA),
                     data + 2 * 288 / 4);
    assert_int_equal(world_counter(world, line.target, 1, COUNTER_RECEIVE_UNICAST_PACKETS),
                     packets + 2);
    assert_int_equal(world_counter(world, line.target, 1, COUNTER_TRANSMIT_PACKETS),
                     world_counter(world, line.b, 2, COUNTER_RECEIVE_PACKETS));
    assert_int_equal(world_counter(world, line.b, 2, COUNTER_TRANSMIT_PACKETS), packets + 2);
    world_end(&line.world);
}

static void the_network_stops_at_the_given_time(void **state)
{
    (void)state;
    struct line line;
    line_up(&line);
    struct fabric *fabric = line.world.fabric;
    uint64_t whole = directed_ps(&line, line.a);
    uint64_t start = fabric_network_time(fabric);
    post(&line, world_path(&line.world, line.a));
    assert_false(fabric_run_network(fabric, start + whole - 1));
    assert_int_equal(fabric_network_time(fabric), start + whole - 1);
    assert_int_equal(fabric_next_network_event(fabric), start + whole);
    assert_true(fabric_run_network(fabric, start + whole));
    world_end(&line.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_to_the_own_node_takes_the_agents_time),
        cmocka_unit_test(a_directed_smp_is_stored_at_every_switch),
        cmocka_unit_test(a_lid_routed_packet_cuts_through),
        cmocka_unit_test(faster_links_and_longer_cables_count),
        cmocka_unit_test(costs_may_grow_with_the_subnet),
        cmocka_unit_test(packets_wait_for_the_wire_and_for_the_agent),
        cmocka_unit_test(a_link_that_was_lost_while_sending_sends_one_at_a_time_again),
        cmocka_unit_test(a_full_vl15_buffer_drops_silently_and_counts),
        cmocka_unit_test(a_full_agent_drops_silently_and_counts),
        cmocka_unit_test(a_full_agent_counts_general_mads_apart),
        cmocka_unit_test(smps_overtake_data_that_waits),
        cmocka_unit_test(counters_cover_all_vls),
        cmocka_unit_test(the_network_stops_at_the_given_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
