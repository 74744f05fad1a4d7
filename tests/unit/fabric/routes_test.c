/* How packets find their way: directed routes, routes with LID-routed ends, tables, loops, groups.
 */
#include "fixture.h"

/* By LID */

static void set_route(struct world *world, uint32_t node, unsigned lid, unsigned port)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    const struct path *path = world_path(world, node);
    assert_int_equal(
        world_ask(world, path, METHOD_GET, ATTRIBUTE_LINEAR_FORWARDING_TABLE, lid / 64, data), 0);
    data[lid % 64] = (uint8_t)port;
    assert_int_equal(
        world_ask(world, path, METHOD_SET, ATTRIBUTE_LINEAR_FORWARDING_TABLE, lid / 64, data), 0);
}

static bool lid_answers(struct world *world, uint16_t lid)
{
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery answer;
    mad_fill(mad, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    return world_exchange(world, world->manager, lid, mad, &answer) &&
           wire_get(answer.mad, MAD_TID) == wire_get(mad, MAD_TID);
}

static void lid_routed_smps_follow_the_programmed_tables(void **state)
{
    (void)state;
    /* Two paths from A to B: directly (ports 2 and 2), and through C. */
    struct world world;
    world_init(&world);
    uint32_t manager = world_adapter(&world, 1), a = world_switch(&world, 4),
             b = world_switch(&world, 4), c = world_switch(&world, 4),
             target = world_adapter(&world, 1);
    world_link(&world, manager, 1, a, 1);
    world_link(&world, a, 2, b, 2);
    world_link(&world, a, 3, c, 1);
    world_link(&world, c, 2, b, 3);
    world_link(&world, b, 1, target, 1);
    world_begin(&world, 1);
    world_bring_up(&world, world_port(&world, manager, 1));
    uint16_t lid = world_lid(&world, target);
    uint64_t through_c = world_counter(&world, c, 1, COUNTER_RECEIVE_PACKETS);
    assert_true(lid_answers(&world, lid));
    assert_int_equal(world_counter(&world, c, 1, COUNTER_RECEIVE_PACKETS), through_c);
    set_route(&world, a, lid, 3);
    through_c = world_counter(&world, c, 1, COUNTER_RECEIVE_PACKETS);
    assert_true(lid_answers(&world, lid));
    assert_int_equal(world_counter(&world, c, 1, COUNTER_RECEIVE_PACKETS), through_c + 1);
    set_route(&world, a, lid, 0xFF);
    assert_false(lid_answers(&world, lid));
    set_route(&world, a, lid, 1); /* back where it came from */
    assert_false(lid_answers(&world, lid));
    set_route(&world, a, lid, 0); /* not the switch's own LID */
    assert_false(lid_answers(&world, lid));
    assert_int_equal(world_counter(&world, a, 1, COUNTER_RECEIVE_SWITCH_RELAY_ERRORS), 3);
    set_route(&world, a, lid, 2);
    assert_true(lid_answers(&world, lid));
    world_end(&world);
}

static void a_switch_receives_its_own_lid_only_by_its_table(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 2);
    struct world *world = &chain.world;
    world_bring_up(world, world_port(world, chain.manager, 1));
    uint16_t lid = world_lid(world, chain.switches[1]);
    assert_true(lid_answers(world, lid));
    set_route(world, chain.switches[1], lid, 0xFF);
    assert_false(lid_answers(world, lid));
    /* Its own port 0 needs no table to reach itself. */
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery answer;
    uint32_t own = world_port(world, chain.switches[1], 0);
    fabric_attach(world->fabric, own);
    mad_fill(mad, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    assert_true(world_exchange(world, own, lid, mad, &answer));
    assert_int_equal(answer.port, own);
    world_end(world);
}

static void every_lid_of_a_range_reaches_its_port(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 1);
    struct world *world = &chain.world;
    world_bring_up(world, world_port(world, chain.manager, 1));
    const struct path *path = world_path(world, chain.target);
    uint8_t data[SMP_DATA_BYTES] = {0};
    wire_set(data, SWITCH_INFO_LINEAR_FDB_TOP, 15);
    assert_int_equal(world_ask(world, world_path(world, chain.switches[0]), METHOD_SET,
                               ATTRIBUTE_SWITCH_INFO, 0, data),
                     0);
    assert_int_equal(world_set_port(world, path, 1, PORT_INFO_LID, 8), 0);
    assert_int_equal(world_set_port(world, path, 1, PORT_INFO_LMC, 2), 0);
    for (unsigned lid = 7; lid <= 12; lid++) {
        set_route(world, chain.switches[0], lid, 2);
        assert_int_equal(lid_answers(world, (uint16_t)lid), lid >= 8 && lid < 12);
    }
    world_end(world);
}

static void packets_to_unassigned_lids_are_dropped(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 1);
    struct world *world = &chain.world;
    world_bring_up(world, world_port(world, chain.manager, 1));
    static const uint16_t unused_lids[] = {0, 40, LID_UNICAST_LAST, LID_MULTICAST_FIRST,
                                           LID_MULTICAST_LAST};
    for (unsigned i = 0; i < sizeof unused_lids / sizeof unused_lids[0]; i++)
        assert_false(lid_answers(world, unused_lids[i]));
    world_end(world);
}

static void adapters_back_to_back_need_no_switch(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    uint32_t a = world_adapter(&world, 1), b = world_adapter(&world, 2);
    world_link(&world, a, 1, b, 2);
    world_begin(&world, 1);
    world_bring_up(&world, world_port(&world, a, 1));
    assert_true(lid_answers(&world, world_lid(&world, b)));
    assert_true(lid_answers(&world, world_lid(&world, a)));
    world_end(&world);
}

/* Random tables: one explicit entry and a default port. */

static void set_random(struct world *world, uint32_t node, unsigned lid, unsigned port,
                       unsigned default_port)
{
    uint8_t entries[SMP_DATA_BYTES] = {0}, info[SMP_DATA_BYTES] = {0};
    wire_set_at(entries, RANDOM_FORWARDING_TABLE_LID, 3, lid);
    wire_set_at(entries, RANDOM_FORWARDING_TABLE_VALID, 3, 1);
    wire_set_at(entries, RANDOM_FORWARDING_TABLE_PORT, 3, port);
    wire_set(info, SWITCH_INFO_DEFAULT_PORT, default_port);
    assert_int_equal(world_ask(world, world_path(world, node), METHOD_SET,
                               ATTRIBUTE_RANDOM_FORWARDING_TABLE, 0, entries),
                     0);
    assert_int_equal(
        world_ask(world, world_path(world, node), METHOD_SET, ATTRIBUTE_SWITCH_INFO, 0, info), 0);
}

static void random_tables_route_by_entries_and_default_ports(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    uint32_t manager = world_adapter(&world, 1), a = world_switch(&world, 4),
             b = world_switch(&world, 4), target = world_adapter(&world, 1);
    world_link(&world, manager, 1, a, 1);
    world_link(&world, a, 2, b, 1);
    world_link(&world, b, 2, target, 1);
    assert_int_equal(fabric_options_set(&world.options, "linear_entries", "0", NULL), 0);
    assert_int_equal(fabric_options_set(&world.options, "random_entries", "16", NULL), 0);
    world_begin(&world, 1);
    world_find_paths(&world, world_port(&world, manager, 1));
    const struct path here = path_of(0);
    assert_int_equal(world_set_port(&world, &here, 1, PORT_INFO_LID, 1), 0);
    assert_int_equal(world_set_port(&world, world_path(&world, target), 1, PORT_INFO_LID, 9), 0);
    set_random(&world, a, 1, 1, 2);
    set_random(&world, b, 9, 2, 1);
    assert_true(lid_answers(&world, 9));
    /* Each sends unknown LIDs to the other. */
    assert_false(lid_answers(&world, 10));
    assert_int_equal(world_counter(&world, b, 1, COUNTER_RECEIVE_SWITCH_RELAY_ERRORS), 1);
    world_end(&world);
}

/* Loops */

static void a_loop_in_the_tables_ends(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 3);
    struct world *world = &chain.world;
    world_bring_up(world, world_port(world, chain.manager, 1));
    uint16_t lid = world_lid(world, chain.target);
    set_route(world, chain.switches[2], lid, 1);
    set_route(world, chain.switches[1], lid, 2); /* as it is: S2 sends up, S3 sends back */
    /* S3 returns it to S2 through the port it came from: not relayed, no loop yet. */
    assert_false(lid_answers(world, lid));
    assert_int_equal(world_totals(world).looped, 0);
    world_end(world);

    /* A triangle: each switch sends to the next. */
    world_init(world);
    uint32_t manager = world_adapter(world, 1), s[3];
    for (unsigned i = 0; i < 3; i++)
        s[i] = world_switch(world, 3);
    world_link(world, manager, 1, s[0], 3);
    for (unsigned i = 0; i < 3; i++)
        world_link(world, s[i], 1, s[(i + 1) % 3], 2);
    uint32_t target = world_adapter(world, 1);
    world_link(world, s[2], 3, target, 1);
    world_begin(world, 1);
    world_bring_up(world, world_port(world, manager, 1));
    lid = world_lid(world, target);
    for (unsigned i = 0; i < 3; i++)
        set_route(world, s[i], lid, 1);
    uint64_t before = fabric_network_time(world->fabric);
    assert_false(lid_answers(world, lid));
    assert_int_equal(world_totals(world).looped, 1);
    assert_int_equal(fabric_next_network_event(world->fabric), TIME_NEVER);
    assert_true(fabric_network_time(world->fabric) - before < TIME_MS);
    set_route(world, s[2], lid, 3);
    assert_true(lid_answers(world, lid)); /* and a loop that is repaired is not a loop */
    world_end(world);
}

static void set_group(struct world *world, uint32_t node, unsigned index, unsigned mask)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    wire_set_at(data, MULTICAST_FORWARDING_TABLE_PORT_MASK, index, mask);
    assert_int_equal(world_ask(world, world_path(world, node), METHOD_SET,
                               ATTRIBUTE_MULTICAST_FORWARDING_TABLE, 0, data),
                     0);
}

/* A multicast MAD that agents do not answer: a report for consumers. */
static void send_to_group(struct world *world, uint32_t from, unsigned index)
{
    uint8_t mad[MAD_BYTES];
    mad_fill(mad, CLASS_SUBN_ADM, METHOD_REPORT, ATTRIBUTE_NOTICE, 0);
    struct packet_header header = header_to(world, mad, (uint16_t)(LID_MULTICAST_FIRST + index));
    fabric_send(world->fabric, from, &header, mad);
}

static void a_group_gets_one_copy_a_member_and_the_sender_none(void **state)
{
    (void)state;
    /* Two switches with three adapters each. */
    struct world world;
    world_init(&world);
    uint32_t s[2] = {world_switch(&world, 8), world_switch(&world, 8)}, hosts[6];
    world_link(&world, s[0], 8, s[1], 7);
    for (unsigned i = 0; i < 6; i++) {
        hosts[i] = world_adapter(&world, 1);
        world_link(&world, s[i / 3], i % 3 + 1, hosts[i], 1);
    }
    world_begin(&world, 1);
    world_bring_up(&world, world_port(&world, hosts[0], 1));
    for (unsigned i = 1; i < 6; i++)
        fabric_attach(world.fabric, world_port(&world, hosts[i], 1));
    fabric_attach(world.fabric, world_port(&world, s[1], 0));
    /* Members: all hosts but 3, and the second switch itself. */
    set_group(&world, s[0], 5, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 8);
    set_group(&world, s[1], 5, 1 << 0 | 1 << 2 | 1 << 3 | 1 << 7);
    send_to_group(&world, world.manager, 5);
    unsigned got[WORLD_PORTS] = {0}, copies = 0;
    struct fabric_delivery delivery;
    while (world_take(&world, &delivery)) {
        got[delivery.port]++;
        copies++;
        assert_int_equal(delivery.header.slid, world.lids[world.manager]);
    }
    assert_int_equal(copies, 5);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(got[world_port(&world, hosts[i], 1)], i != 0 && i != 3);
    assert_int_equal(got[world_port(&world, s[1], 0)], 1);
    assert_int_equal(world_counter(&world, s[0], 8, COUNTER_TRANSMIT_MULTICAST_PACKETS), 1);
    assert_int_equal(world_counter(&world, s[1], 7, COUNTER_RECEIVE_MULTICAST_PACKETS), 1);
    send_to_group(&world, world.manager, 6); /* a group without members */
    assert_false(world_take(&world, &delivery));
    world_end(&world);
}

static void a_switch_can_send_to_a_group(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 1);
    struct world *world = &chain.world;
    struct fabric_delivery delivery;
    world_bring_up(world, world_port(world, chain.manager, 1));
    fabric_attach(world->fabric, world_port(world, chain.target, 1));
    set_group(world, chain.switches[0], 0, 1 << 0 | 1 << 2);
    uint8_t mad[MAD_BYTES];
    struct path one = path_of(1, 1);
    mad_fill(mad, CLASS_SUBN_DIRECTED, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    mad_direct(mad, &one);
    wire_set(mad, SMP_DR_DLID, LID_MULTICAST_FIRST); /* but no SMP, however it gets there */
    assert_false(world_exchange(world, world->manager, LID_PERMISSIVE, mad, &delivery));
    send_to_group(world, world_port(world, chain.switches[0], 0), 0);
    assert_true(world_take(world, &delivery));
    assert_int_equal(delivery.port, world_port(world, chain.target, 1));
    assert_false(world_take(world, &delivery));
    world_end(world);
}

static void a_request_to_a_group_is_answered_from_the_members_lid(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 1);
    struct world *world = &chain.world;
    world_bring_up(world, world_port(world, chain.manager, 1));
    set_group(world, chain.switches[0], 0, 1 << 1 | 1 << 2);
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery answer;
    mad_fill(mad, CLASS_PERFORMANCE, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0);
    assert_true(world_exchange(world, world->manager, LID_MULTICAST_FIRST, mad, &answer));
    assert_int_equal(answer.header.slid, world_lid(world, chain.target));
    assert_int_equal(answer.header.dlid, world_lid(world, chain.manager));
    world_end(world);
}

static void a_loop_in_multicast_tables_ends_however_much_it_copies(void **state)
{
    (void)state;
    /* Eight switches, each linked with every other, all forwarding to all ports: copies multiply at
     * every hop. */
    enum { SWITCHES = 8 };
    struct world world;
    world_init(&world);
    uint32_t manager = world_adapter(&world, 1), s[SWITCHES];
    for (unsigned i = 0; i < SWITCHES; i++)
        s[i] = world_switch(&world, SWITCHES);
    world_link(&world, manager, 1, s[0], SWITCHES);
    for (unsigned i = 0; i < SWITCHES; i++)
        for (unsigned j = i + 1; j < SWITCHES; j++)
            world_link(&world, s[i], j, s[j], i + 1);
    world_begin(&world, 1);
    world_bring_up(&world, world_port(&world, manager, 1));
    for (unsigned i = 0; i < SWITCHES; i++)
        set_group(&world, s[i], 0, 0x1FE);
    uint64_t hops = world_totals(&world).hops;
    for (unsigned i = 0; i < 10; i++)
        send_to_group(&world, world.manager, 0);
    world_settle(&world);
    assert_int_equal(fabric_next_network_event(world.fabric), TIME_NEVER);
    assert_true(world_totals(&world).looped > 0);
    assert_true(world_totals(&world).hops - hops <= 10 * (world.topology.ports.count + 1));
    world_end(&world);
}

/* Odd networks */

static void a_node_alone_answers_itself(void **state)
{
    (void)state;
    for (unsigned kind = NODE_ADAPTER; kind <= NODE_SWITCH; kind++) {
        struct world world;
        world_init(&world);
        uint32_t node = kind == NODE_SWITCH ? world_switch(&world, 4) : world_adapter(&world, 1);
        world_begin(&world, 1);
        world_bring_up(&world, world_port(&world, node, kind == NODE_SWITCH ? 0 : 1));
        assert_true(lid_answers(&world, 1));
        struct path out = path_of(1, 1);
        assert_int_equal(world_ask(&world, &out, METHOD_GET, ATTRIBUTE_NODE_INFO, 0, NULL), -1);
        assert_int_equal(world_totals(&world).links_up, 0);
        world_end(&world);
    }
}

static void a_switch_linked_with_itself_works(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    uint32_t manager = world_adapter(&world, 1), s = world_switch(&world, 4);
    world_link(&world, manager, 1, s, 1);
    world_link(&world, s, 2, s, 3);
    world_begin(&world, 1);
    world_bring_up(&world, world_port(&world, manager, 1));
    uint8_t data[SMP_DATA_BYTES] = {0};
    struct path around = path_of(2, 1, 2);
    assert_int_equal(world_ask(&world, &around, METHOD_GET, ATTRIBUTE_NODE_INFO, 0, data), 0);
    assert_int_equal(wire_get(data, NODE_INFO_LOCAL_PORT_NUM), 3);
    assert_int_equal(world_state(&world, s, 2), PORT_STATE_ACTIVE);
    assert_int_equal(fabric_set_link(world.fabric, world_port(&world, s, 3), false, NULL), 0);
    assert_int_equal(world_state(&world, s, 2), PORT_STATE_DOWN);
    assert_int_equal(world_state(&world, s, 3), PORT_STATE_DOWN);
    assert_int_equal(fabric_set_link(world.fabric, world_port(&world, s, 2), true, NULL), 0);
    world_settle(&world);
    assert_int_equal(world_state(&world, s, 2), PORT_STATE_INIT);
    assert_int_equal(world_state(&world, s, 3), PORT_STATE_INIT);
    assert_int_equal(fabric_set_node(world.fabric, s, false, NULL), 0);
    assert_int_equal(world_totals(&world).links_up, 0);
    assert_int_equal(fabric_set_node(world.fabric, s, true, NULL), 0);
    world_settle(&world);
    assert_int_equal(world_totals(&world).links_up, 2);
    world_end(&world);
}

static void an_adapter_linked_with_itself_works(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    uint32_t node = world_adapter(&world, 2);
    world_link(&world, node, 1, node, 2);
    world_begin(&world, 1);
    world_bring_up(&world, world_port(&world, node, 1));
    assert_int_equal(world_lid(&world, node), 1);
    assert_true(lid_answers(&world, 2));
    world_end(&world);
}

static void each_port_of_an_adapter_is_an_end_of_its_own(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    uint32_t manager = world_adapter(&world, 1), a = world_switch(&world, 4),
             b = world_switch(&world, 4), twin = world_adapter(&world, 2);
    world_link(&world, manager, 1, a, 1);
    world_link(&world, a, 2, b, 1);
    world_link(&world, a, 3, twin, 2);
    world_link(&world, b, 2, twin, 1);
    world_begin(&world, 1);
    world_bring_up(&world, world_port(&world, manager, 1));
    for (unsigned number = 1; number <= 2; number++) {
        uint32_t port = world_port(&world, twin, number);
        uint8_t mad[MAD_BYTES];
        struct fabric_delivery answer;
        mad_fill(mad, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
        assert_true(world_exchange(&world, world.manager, world.lids[port], mad, &answer));
        const uint8_t *info = answer.mad + SMP_DATA_OFFSET;
        assert_int_equal(wire_get(info, NODE_INFO_LOCAL_PORT_NUM), number);
        assert_int_equal(wire_get(info, NODE_INFO_PORT_GUID),
                         world.topology.ports.items[port].guid);
        fabric_attach(world.fabric, port);
        mad_fill(mad, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_SM_INFO, 0);
        assert_true(world_exchange(&world, world.manager, world.lids[port], mad, &answer));
        assert_int_equal(answer.port, port);
    }
    /* Out of port 1 a directed route cannot leave through port 2. */
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery answer;
    struct path wrong = path_of(1, 2), right = path_of(1, 1);
    mad_fill(mad, CLASS_SUBN_DIRECTED, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    mad_direct(mad, &wrong);
    assert_false(world_exchange(&world, world_port(&world, twin, 1), LID_PERMISSIVE, mad, &answer));
    mad_direct(mad, &right);
    assert_true(world_exchange(&world, world_port(&world, twin, 1), LID_PERMISSIVE, mad, &answer));
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lid_routed_smps_follow_the_programmed_tables),
        cmocka_unit_test(a_switch_receives_its_own_lid_only_by_its_table),
        cmocka_unit_test(every_lid_of_a_range_reaches_its_port),
        cmocka_unit_test(packets_to_unassigned_lids_are_dropped),
        cmocka_unit_test(adapters_back_to_back_need_no_switch),
        cmocka_unit_test(random_tables_route_by_entries_and_default_ports),
        cmocka_unit_test(a_loop_in_the_tables_ends),
        cmocka_unit_test(a_group_gets_one_copy_a_member_and_the_sender_none),
        cmocka_unit_test(a_switch_can_send_to_a_group),
        cmocka_unit_test(a_request_to_a_group_is_answered_from_the_members_lid),
        cmocka_unit_test(a_loop_in_multicast_tables_ends_however_much_it_copies),
        cmocka_unit_test(a_node_alone_answers_itself),
        cmocka_unit_test(a_switch_linked_with_itself_works),
        cmocka_unit_test(an_adapter_linked_with_itself_works),
        cmocka_unit_test(each_port_of_an_adapter_is_an_end_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
