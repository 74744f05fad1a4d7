/* Injected faults: reports, losses, recovery. */
#include "base/rng.h"
#include "fabric/internal.h"
#include "fixture.h"

static void line_up(struct line *line, uint64_t seed)
{
    line_init(line);
    world_begin(&line->world, seed);
    world_bring_up(&line->world, world_port(&line->world, line->manager, 1));
}

static uint64_t state_change(struct world *world, uint32_t node)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(
        world_ask(world, world_path(world, node), METHOD_GET, ATTRIBUTE_SWITCH_INFO, 0, data), 0);
    return wire_get(data, SWITCH_INFO_PORT_STATE_CHANGE);
}

static bool answers_get(struct line *line, uint32_t node)
{
    return world_ask(&line->world, world_path(&line->world, node), METHOD_GET, ATTRIBUTE_NODE_INFO,
                     0, NULL) == 0;
}

static void assert_trap(const struct fabric_delivery *delivery, unsigned number, uint16_t lid)
{
    const uint8_t *notice = delivery->mad + SMP_DATA_OFFSET;
    assert_int_equal(wire_get(delivery->mad, MAD_METHOD), METHOD_TRAP);
    assert_int_equal(wire_get(notice, NOTICE_TRAP_NUMBER), number);
    assert_int_equal(wire_get(notice, NOTICE_ISSUER_LID), lid);
}

static void repress(struct world *world, const struct fabric_delivery *trap)
{
    uint8_t mad[MAD_BYTES];
    memcpy(mad, trap->mad, sizeof mad);
    wire_set(mad, MAD_METHOD, METHOD_TRAP_REPRESS);
    struct packet_header header = header_to(world, mad, trap->header.slid);
    fabric_send(world->fabric, world->manager, &header, mad);
}

static void a_cut_link_is_down_at_both_ends_and_reported_to_the_manager(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 1);
    struct world *world = &line.world;
    struct fabric_delivery delivery;
    assert_int_equal(state_change(world, line.a), 0);
    assert_int_equal(fabric_set_link(world->fabric, world_port(world, line.b, 1), false, NULL), 0);
    assert_int_equal(world_state(world, line.a, 2), PORT_STATE_DOWN);
    assert_int_equal(world_state(world, line.b, 1), PORT_STATE_DOWN);
    assert_int_equal(world_counter(world, line.a, 2, COUNTER_LINK_DOWNED), 1);
    assert_true(world_take(world, &delivery));
    assert_trap(&delivery, 128, world_lid(world, line.a)); /* B's way to the manager is cut */
    assert_int_equal(delivery.port, world->manager);
    assert_int_equal(delivery.header.slid, world_lid(world, line.a));
    assert_int_equal(delivery.header.dlid, world_lid(world, line.manager));
    assert_false(world_take(world, &delivery));
    assert_int_equal(state_change(world, line.a), 1);
    assert_false(answers_get(&line, line.b));
    assert_int_equal(world_totals(world).links_down, 1);
    world_end(world);
}

static void a_repaired_link_comes_up_in_init(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 1);
    struct world *world = &line.world;
    uint32_t port = world_port(world, line.a, 2);
    fabric_set_link(world->fabric, port, false, NULL);
    world_settle(world);
    uint64_t before = fabric_network_time(world->fabric);
    assert_int_equal(fabric_set_link(world->fabric, port, true, NULL), 0);
    assert_false(fabric_link_is_up(world->fabric, port));
    world_settle(world);
    assert_true(fabric_link_is_up(world->fabric, port));
    assert_true(fabric_network_time(world->fabric) - before >= world->options.training_ps);
    assert_int_equal(world_state(world, line.a, 2), PORT_STATE_INIT);
    assert_int_equal(world_state(world, line.b, 1), PORT_STATE_INIT);
    assert_int_equal(world_info(world, line.b, 0, PORT_INFO_LID), world_lid(world, line.b));
    assert_true(answers_get(&line, line.target));
    world_end(world);
}

static void cutting_a_cut_link_or_repairing_an_intact_one_does_nothing(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 1);
    struct world *world = &line.world;
    uint32_t port = world_port(world, line.a, 2);
    uint64_t hash = fabric_trace_hash(world->fabric);
    assert_int_equal(fabric_set_link(world->fabric, port, true, NULL), 0);
    world_settle(world);
    assert_int_equal(world_state(world, line.a, 2), PORT_STATE_ACTIVE);
    assert_int_equal(fabric_trace_hash(world->fabric), hash);
    fabric_set_link(world->fabric, port, false, NULL);
    fabric_set_link(world->fabric, world_port(world, line.b, 1), false, NULL);
    assert_int_equal(world_counter(world, line.a, 2, COUNTER_LINK_DOWNED), 1);
    assert_int_equal(world_totals(world).links_up, 2);
    world_end(world);
}

static void a_link_cut_while_it_trains_stays_down(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 1);
    struct world *world = &line.world;
    uint32_t port = world_port(world, line.a, 2);
    fabric_set_link(world->fabric, port, false, NULL);
    fabric_set_link(world->fabric, port, true, NULL);
    fabric_set_link(world->fabric, port, false, NULL);
    world_settle(world);
    assert_false(fabric_link_is_up(world->fabric, port));
    fabric_set_link(world->fabric, port, true, NULL);
    world_settle(world);
    assert_true(fabric_link_is_up(world->fabric, port));
    world_end(world);
}

static void a_packet_in_flight_when_its_link_is_cut_is_lost(void **state)
{
    (void)state;
    struct line line;
    line_init(&line);
    line.world.options.training_ps = 0; /* back at once: only packets in flight are affected */
    world_begin(&line.world, 1);
    world_bring_up(&line.world, world_port(&line.world, line.manager, 1));
    struct world *world = &line.world;
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery delivery;
    mad_fill(mad, CLASS_SUBN_DIRECTED, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    mad_direct(mad, world_path(world, line.a));
    struct packet_header header = header_to(world, mad, LID_PERMISSIVE);
    fabric_send(world->fabric, world->manager, &header, mad);
    fabric_flap_port(world->fabric, world_port(world, line.manager, 1), NULL);
    while (world_take(world, &delivery))
        assert_true(wire_get(delivery.mad, MAD_METHOD) == METHOD_TRAP);
    assert_true(answers_get(&line, line.a));
    world_end(world);
}

static void trap_128_is_repeated_until_the_manager_represses_it(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 1);
    struct world *world = &line.world;
    struct fabric_delivery first, again;
    uint64_t interval = 4096 * TIME_NS << world_info(world, line.a, 0, PORT_INFO_SUBNET_TIME_OUT);
    assert_int_equal(fabric_next_timer(world->fabric), TIME_NEVER);
    fabric_run(world->fabric, TIME_S);
    uint64_t start = fabric_network_time(world->fabric);
    fabric_set_link(world->fabric, world_port(world, line.b, 2), false, NULL);
    assert_true(fabric_run(world->fabric, start + interval / 2));
    assert_true(fabric_next_delivery(world->fabric, &first));
    assert_trap(&first, 128, world_lid(world, line.b));
    for (unsigned i = 1; i <= 3; i++) {
        assert_int_equal(fabric_next_timer(world->fabric), start + i * interval);
        assert_false(fabric_run(world->fabric, start + i * interval - 1));
        assert_true(fabric_run(world->fabric, start + (i + 1) * interval - 1));
        assert_true(fabric_next_delivery(world->fabric, &again));
        assert_memory_equal(first.mad, again.mad, MAD_BYTES);
    }
    repress(world, &first);
    assert_false(fabric_run(world->fabric, start + 100 * interval));
    assert_int_equal(fabric_next_timer(world->fabric), TIME_NEVER);
    assert_int_equal(world_totals(world).traps, 4);
    world_end(world);
}

static void switches_without_traps_only_set_port_state_change(void **state)
{
    (void)state;
    struct line line;
    line_init(&line);
    assert_int_equal(fabric_options_set(&line.world.options, "switches:traps", "no", NULL), 0);
    world_begin(&line.world, 1);
    world_bring_up(&line.world, world_port(&line.world, line.manager, 1));
    struct fabric_delivery delivery;
    fabric_set_link(line.world.fabric, world_port(&line.world, line.b, 2), false, NULL);
    assert_false(world_take(&line.world, &delivery));
    assert_int_equal(state_change(&line.world, line.b), 1);
    world_end(&line.world);
}

static void a_flapping_port_goes_down_and_comes_back(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 1);
    struct world *world = &line.world;
    uint32_t port = world_port(world, line.b, 2);
    for (unsigned i = 1; i <= 3; i++) {
        assert_int_equal(fabric_flap_port(world->fabric, port, NULL), 0);
        assert_false(fabric_link_is_up(world->fabric, port));
        assert_int_equal(fabric_flap_port(world->fabric, port, NULL), 0); /* is down already */
        world_settle(world);
        assert_int_equal(world_state(world, line.b, 2), PORT_STATE_INIT);
        assert_int_equal(world_counter(world, line.b, 2, COUNTER_LINK_DOWNED), i);
    }
    world_end(world);
}

/* Nodes */

static void a_failed_node_is_silent_and_its_neighbours_report_it(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 1);
    struct world *world = &line.world;
    struct fabric_delivery delivery;
    assert_int_equal(fabric_set_node(world->fabric, line.b, false, NULL), 0);
    assert_false(fabric_node_is_up(world->fabric, line.b));
    assert_int_equal(world_state(world, line.a, 2), PORT_STATE_DOWN);
    assert_int_equal(world_state(world, line.target, 1), PORT_STATE_DOWN);
    assert_true(world_take(world, &delivery));
    assert_trap(&delivery, 128, world_lid(world, line.a));
    assert_false(answers_get(&line, line.b));
    assert_true(answers_get(&line, line.a));
    assert_int_equal(world_totals(world).nodes_down, 1);
    assert_int_equal(world_totals(world).links_up, 1);
    world_end(world);
}

static void a_restarted_node_has_no_settings(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 1);
    struct world *world = &line.world;
    uint8_t data[SMP_DATA_BYTES] = {0};
    fabric_set_node(world->fabric, line.b, false, NULL);
    world_settle(world);
    assert_int_equal(fabric_set_node(world->fabric, line.b, true, NULL), 0);
    world_settle(world);
    assert_int_equal(world_totals(world).nodes_down, 0);
    assert_int_equal(world_totals(world).links_up, 3);
    assert_true(answers_get(&line, line.b));
    assert_int_equal(world_info(world, line.b, 0, PORT_INFO_LID), 0);
    assert_int_equal(world_state(world, line.b, 1), PORT_STATE_INIT);
    assert_int_equal(world_ask(world, world_path(world, line.b), METHOD_GET,
                               ATTRIBUTE_LINEAR_FORWARDING_TABLE, 0, data),
                     0);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(data[i], 0xFF);
    assert_int_equal(state_change(world, line.b), 1);
    assert_int_equal(world_counter(world, line.b, 1, COUNTER_LINK_DOWNED), 0);
    assert_int_equal(world_info(world, line.target, 1, PORT_INFO_LID),
                     world_lid(world, line.target)); /* the neighbour remembers */
    world_end(world);
}

static void post_to_itself(struct world *world)
{
    uint8_t mad[MAD_BYTES];
    const struct path here = path_of(0);
    mad_fill(mad, CLASS_SUBN_DIRECTED, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    mad_direct(mad, &here);
    struct packet_header header = header_to(world, mad, LID_PERMISSIVE);
    fabric_send(world->fabric, world->manager, &header, mad);
}

static void a_node_that_fails_with_queued_requests_restarts_empty(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 1);
    struct world *world = &line.world;
    struct fabric_delivery delivery;
    uint64_t start = fabric_network_time(world->fabric), agent = world->options.sma.base_ps;
    for (unsigned i = 0; i < 3; i++)
        post_to_itself(world);
    assert_false(fabric_run_network(world->fabric, start + agent / 2));
    fabric_set_node(world->fabric, line.manager, false, NULL);
    fabric_set_node(world->fabric, line.manager, true, NULL);
    post_to_itself(world);
    /* One response after the full time of the agent: no event of the earlier life counts. */
    assert_true(fabric_run_network(world->fabric, TIME_NEVER));
    assert_int_equal(fabric_network_time(world->fabric), start + agent / 2 + agent);
    assert_true(fabric_next_delivery(world->fabric, &delivery));
    while (world_take(world, &delivery))
        assert_int_equal(wire_get(delivery.mad, MAD_METHOD), METHOD_TRAP);
    world_end(world);
}

static void a_repaired_link_of_a_failed_node_waits_for_the_node(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 1);
    struct world *world = &line.world;
    uint32_t port = world_port(world, line.b, 1);
    fabric_set_link(world->fabric, port, false, NULL);
    fabric_set_node(world->fabric, line.b, false, NULL);
    fabric_set_link(world->fabric, port, true, NULL);
    world_settle(world);
    assert_false(fabric_link_is_up(world->fabric, port));
    fabric_set_node(world->fabric, line.b, true, NULL);
    world_settle(world);
    assert_true(fabric_link_is_up(world->fabric, port));
    world_end(world);
}

static void a_failed_node_sends_nothing(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 1);
    struct world *world = &line.world;
    fabric_set_node(world->fabric, line.manager, false, NULL);
    struct path here = path_of(0);
    assert_int_equal(world_ask(world, &here, METHOD_GET, ATTRIBUTE_NODE_INFO, 0, NULL), -1);
    world_end(world);
}

/* Losses */

static unsigned answers_of(struct line *line, uint32_t node, unsigned requests)
{
    unsigned answers = 0;
    for (unsigned i = 0; i < requests; i++)
        answers += answers_get(line, node);
    return answers;
}

static void a_lossy_link_loses_its_share_in_both_directions(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 7);
    struct world *world = &line.world;
    /* A quarter lost at each of two crossings: 9/16 come back. */
    assert_int_equal(
        fabric_set_loss(world->fabric, world_port(world, line.a, 2), 0, RNG_CERTAIN / 4, NULL), 0);
    assert_in_range(answers_of(&line, line.b, 1000), 500, 625);
    assert_in_range(world_totals(world).smps_lost, 380, 500);
    assert_int_equal(answers_of(&line, line.a, 100), 100); /* not on this link */
    assert_int_equal(fabric_set_loss(world->fabric, world_port(world, line.b, 1), 0, 0, NULL), 0);
    assert_int_equal(answers_of(&line, line.b, 100), 100);
    world_end(world);
}

static void losses_can_be_of_one_attribute_everywhere(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 7);
    struct world *world = &line.world;
    assert_int_equal(fabric_set_loss(world->fabric, TOPOLOGY_NONE, ATTRIBUTE_NODE_DESCRIPTION,
                                     RNG_CERTAIN, NULL),
                     0);
    assert_true(answers_get(&line, line.b));
    assert_int_equal(world_ask(world, world_path(world, line.b), METHOD_GET,
                               ATTRIBUTE_NODE_DESCRIPTION, 0, NULL),
                     -1);
    fabric_set_loss(world->fabric, TOPOLOGY_NONE, ATTRIBUTE_NODE_DESCRIPTION, 0, NULL);
    assert_int_equal(world_ask(world, world_path(world, line.b), METHOD_GET,
                               ATTRIBUTE_NODE_DESCRIPTION, 0, NULL),
                     0);
    world_end(world);
}

static void only_smps_are_lost(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 7);
    struct world *world = &line.world;
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery answer;
    fabric_set_loss(world->fabric, TOPOLOGY_NONE, 0, RNG_CERTAIN, NULL);
    mad_fill(mad, CLASS_PERFORMANCE, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0);
    assert_true(world_exchange(world, world->manager, world_lid(world, line.target), mad, &answer));
    assert_false(answers_get(&line, line.a));
    world_end(world);
}

/* One run: the same requests over a lossy fabric. */
static uint64_t hash_of_a_run(uint64_t seed, uint64_t loss, unsigned *answers)
{
    struct line line;
    line_init(&line);
    world_begin(&line.world, seed);
    world_find_paths(&line.world, world_port(&line.world, line.manager, 1));
    fabric_set_loss(line.world.fabric, TOPOLOGY_NONE, 0, loss, NULL);
    *answers = 0;
    for (unsigned i = 0; i < 200; i++) {
        uint8_t mad[MAD_BYTES];
        struct fabric_delivery answer;
        mad_fill(mad, CLASS_SUBN_DIRECTED, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
        mad_direct(mad, world_path(&line.world, line.target));
        wire_set(mad, MAD_TID, i + 1); /* the same in every run */
        *answers += world_exchange(&line.world, line.world.manager, LID_PERMISSIVE, mad, &answer);
    }
    uint64_t hash = fabric_trace_hash(line.world.fabric);
    world_end(&line.world);
    return hash;
}

static void a_seed_decides_what_is_lost_and_nothing_else(void **state)
{
    (void)state;
    unsigned first, second, other, whole;
    uint64_t hash = hash_of_a_run(5, RNG_CERTAIN / 10, &first);
    assert_int_equal(hash_of_a_run(5, RNG_CERTAIN / 10, &second), hash);
    assert_int_equal(first, second);
    assert_int_not_equal(hash_of_a_run(6, RNG_CERTAIN / 10, &other), hash);
    assert_in_range(first, 60, 160);
    assert_in_range(other, 60, 160);
    hash = hash_of_a_run(5, 0, &whole);
    assert_int_equal(hash_of_a_run(6, 0, &other), hash);
    assert_int_equal(whole, 200);
}

/* Agents */

static void a_slow_agent_answers_late_and_a_silent_one_never(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 1);
    struct world *world = &line.world;
    uint64_t start = fabric_network_time(world->fabric);
    assert_true(answers_get(&line, line.b));
    uint64_t usual = fabric_network_time(world->fabric) - start;
    assert_int_equal(fabric_set_agent_delay(world->fabric, line.b, 3 * TIME_MS, NULL), 0);
    start = fabric_network_time(world->fabric);
    assert_true(answers_get(&line, line.b));
    assert_int_equal(fabric_network_time(world->fabric) - start, usual + 3 * TIME_MS);
    assert_int_equal(fabric_set_agent_delay(world->fabric, line.b, TIME_NEVER, NULL), 0);
    assert_false(answers_get(&line, line.b));
    assert_true(answers_get(&line, line.target)); /* it still forwards */
    assert_int_equal(fabric_set_agent_delay(world->fabric, line.b, 0, NULL), 0);
    assert_true(answers_get(&line, line.b));
    world_end(world);
}

static void two_nodes_may_have_one_guid(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 1);
    struct world *world = &line.world;
    uint64_t guid = world->topology.nodes.items[line.a].guid;
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(fabric_set_guid(world->fabric, line.b, guid, NULL), 0);
    assert_int_equal(
        world_ask(world, world_path(world, line.b), METHOD_GET, ATTRIBUTE_NODE_INFO, 0, data), 0);
    assert_int_equal(wire_get(data, NODE_INFO_NODE_GUID), guid);
    assert_int_equal(wire_get(data, NODE_INFO_PORT_GUID), guid);
    assert_int_equal(fabric_port_guid(world->fabric, world_port(world, line.b, 0), 0), guid);
    assert_int_equal(fabric_set_guid(world->fabric, line.target, 0x77, NULL), 0);
    assert_int_equal(fabric_port_guid(world->fabric, world_port(world, line.target, 1), 0), 0x78);
    world_end(world);
}

static void bit_errors_are_counted_and_reported_above_a_threshold(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 1);
    struct world *world = &line.world;
    struct fabric_delivery delivery;
    uint32_t port = world_port(world, line.a, 2);
    unsigned threshold = (unsigned)world_info(world, line.a, 2, PORT_INFO_LOCAL_PHY_ERRORS);
    assert_int_equal(fabric_add_bit_errors(world->fabric, port, threshold - 1, NULL), 0);
    assert_int_equal(world_counter(world, line.a, 2, COUNTER_SYMBOL_ERRORS), threshold - 1);
    assert_false(world_take(world, &delivery));
    assert_int_equal(fabric_add_bit_errors(world->fabric, port, threshold, NULL), 0);
    assert_int_equal(world_counter(world, line.a, 2, COUNTER_SYMBOL_ERRORS), 2 * threshold - 1);
    assert_int_equal(world_counter(world, line.a, 2, COUNTER_LOCAL_LINK_INTEGRITY_ERRORS), 1);
    assert_true(world_take(world, &delivery));
    assert_trap(&delivery, 129, world_lid(world, line.a));
    const uint8_t *details = delivery.mad + SMP_DATA_OFFSET + NOTICE_AT_DETAILS;
    assert_int_equal(wire_get(details, TRAP_LINK_INTEGRITY_PORT), 2);
    assert_int_equal(
        world_set_port(world, world_path(world, line.b), 1, PORT_INFO_LOCAL_PHY_ERRORS, 0), 0);
    assert_int_equal(fabric_add_bit_errors(world->fabric, world_port(world, line.b, 1), 0, NULL),
                     0);
    assert_int_equal(world_counter(world, line.b, 1, COUNTER_LOCAL_LINK_INTEGRITY_ERRORS), 0);
    world_end(world);
}

static void a_bad_cable_causes_errors_at_both_ports_until_it_is_replaced(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 1);
    struct world *world = &line.world;
    struct fabric *fabric = world->fabric;
    uint32_t port = world_port(world, line.a, 2);
    uint32_t peer = world->topology.ports.items[port].peer;
    unsigned far = topology_port_number(&world->topology, peer);
    uint32_t far_node = world->topology.ports.items[peer].node;
    assert_int_equal(fabric_set_bit_error_rate(fabric, port, 5, NULL), 0);
    assert_int_equal(fabric_set_bit_error_rate(fabric, peer, 3, NULL), 0); /* the same cable */
    fabric_run(fabric, fabric_network_time(fabric) + 4 * TIME_S + 1);
    assert_int_equal(world_counter(world, line.a, 2, COUNTER_SYMBOL_ERRORS), 12);
    assert_int_equal(world_counter(world, far_node, far, COUNTER_SYMBOL_ERRORS), 12);
    assert_int_equal(fabric_set_bit_error_rate(fabric, port, 0, NULL), 0);
    fabric_run(fabric, fabric_network_time(fabric) + 4 * TIME_S + 1);
    assert_int_equal(world_counter(world, line.a, 2, COUNTER_SYMBOL_ERRORS), 12);
    world_end(world);
}

/* A fault of one port: LocalPhyErrors 1. */
static int lower_threshold(struct fabric *fabric, const struct fabric_fault *fault, struct err *err)
{
    const struct topology_port *port = &fabric_topology(fabric)->ports.items[fault->port];
    struct sma *sma = &fabric->nodes[port->node].sma;
    (void)err;
    wire_set(sma->ports[fabric->ports[fault->port].number].info, PORT_INFO_LOCAL_PHY_ERRORS,
             fault->ends ? 8 : 1);
    return 0;
}

static void a_fault_of_a_port_lasts_until_it_is_undone_there(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 1);
    struct world *world = &line.world;
    struct fabric_fault fault = {.effect = lower_threshold,
                                 .node = TOPOLOGY_NONE,
                                 .port = world_port(world, line.a, 2),
                                 .sets = "threshold"};
    assert_int_equal(fabric_cause(world->fabric, &fault, NULL), 0);
    fabric_set_node(world->fabric, line.a, false, NULL);
    world_settle(world);
    fabric_set_node(world->fabric, line.a, true, NULL);
    world_settle(world);
    assert_int_equal(fabric_faults(world->fabric)->count, 1);
    assert_int_equal(world_info(world, line.a, 2, PORT_INFO_LOCAL_PHY_ERRORS), 1);
    fault.port = world_port(world, line.b, 1); /* the other end */
    fault.ends = true;
    assert_int_equal(fabric_cause(world->fabric, &fault, NULL), 0);
    assert_int_equal(fabric_faults(world->fabric)->count, 0);
    assert_int_equal(world_info(world, line.a, 2, PORT_INFO_LOCAL_PHY_ERRORS), 8);
    world_end(world);
}

static void faults_at_places_that_are_not_there_are_errors(void **state)
{
    (void)state;
    struct line line;
    line_up(&line, 1);
    struct fabric *fabric = line.world.fabric;
    struct err err = {0};
    uint32_t free_port = world_port(&line.world, line.a, 4);
    assert_true(fabric_set_link(fabric, 9999, false, &err) < 0 && err.message[0]);
    assert_true(fabric_set_link(fabric, free_port, false, &err) < 0);
    assert_true(fabric_flap_port(fabric, free_port, &err) < 0);
    assert_true(fabric_set_loss(fabric, free_port, 0, 1, &err) < 0);
    assert_true(fabric_set_loss(fabric, TOPOLOGY_NONE, 0, RNG_CERTAIN + 1, &err) < 0);
    assert_true(fabric_set_node(fabric, 9999, false, &err) < 0);
    assert_true(fabric_set_node(fabric, TOPOLOGY_NONE, false, &err) < 0);
    assert_true(fabric_set_agent_delay(fabric, 9999, 0, &err) < 0);
    assert_true(fabric_set_agent_delay(fabric, line.a, TIME_NEVER - 1, &err) < 0);
    assert_true(fabric_set_guid(fabric, 9999, 1, &err) < 0);
    assert_true(fabric_add_bit_errors(fabric, free_port, 1, &err) < 0);
    assert_true(answers_get(&line, line.target)); /* and nothing has changed */
    world_end(&line.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_link_is_down_at_both_ends_and_reported_to_the_manager),
        cmocka_unit_test(a_repaired_link_comes_up_in_init),
        cmocka_unit_test(cutting_a_cut_link_or_repairing_an_intact_one_does_nothing),
        cmocka_unit_test(a_link_cut_while_it_trains_stays_down),
        cmocka_unit_test(a_packet_in_flight_when_its_link_is_cut_is_lost),
        cmocka_unit_test(trap_128_is_repeated_until_the_manager_represses_it),
        cmocka_unit_test(switches_without_traps_only_set_port_state_change),
        cmocka_unit_test(a_flapping_port_goes_down_and_comes_back),
        cmocka_unit_test(a_failed_node_is_silent_and_its_neighbours_report_it),
        cmocka_unit_test(a_restarted_node_has_no_settings),
        cmocka_unit_test(a_node_that_fails_with_queued_requests_restarts_empty),
        cmocka_unit_test(a_repaired_link_of_a_failed_node_waits_for_the_node),
        cmocka_unit_test(a_failed_node_sends_nothing),
        cmocka_unit_test(a_lossy_link_loses_its_share_in_both_directions),
        cmocka_unit_test(losses_can_be_of_one_attribute_everywhere),
        cmocka_unit_test(only_smps_are_lost),
        cmocka_unit_test(a_seed_decides_what_is_lost_and_nothing_else),
        cmocka_unit_test(a_slow_agent_answers_late_and_a_silent_one_never),
        cmocka_unit_test(two_nodes_may_have_one_guid),
        cmocka_unit_test(bit_errors_are_counted_and_reported_above_a_threshold),
        cmocka_unit_test(a_bad_cable_causes_errors_at_both_ports_until_it_is_replaced),
        cmocka_unit_test(a_fault_of_a_port_lasts_until_it_is_undone_there),
        cmocka_unit_test(faults_at_places_that_are_not_there_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
