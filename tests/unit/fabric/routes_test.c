/* How packets find their way: directed routes, routes with LID-routed ends, tables, loops, groups. */
#include "fixture.h"

/* manager - S1 - S2 - … - target, `switches` of them; each switch has port 1 towards the manager
 * and port 2 towards the target. */
struct chain {
    struct world world;
    uint32_t manager, target, switches[SMP_MAX_HOPS];
};

static void chain_begin(struct chain *chain, unsigned switches)
{
    struct world *world = &chain->world;
    world_init(world);
    chain->manager = world_adapter(world, 1);
    uint32_t before = chain->manager, port = 1;
    for (unsigned i = 0; i < switches; i++) {
        chain->switches[i] = world_switch(world, 4);
        world_link(world, before, port, chain->switches[i], 1);
        before = chain->switches[i];
        port = 2;
    }
    chain->target = world_adapter(world, 2);
    world_link(world, before, port, chain->target, 1);
    world_begin(world, 1);
}

static void a_directed_route_of_no_hops_stays_in_the_node(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 1);
    world_find_paths(&chain.world, world_port(&chain.world, chain.manager, 1));
    uint8_t data[SMP_DATA_BYTES] = {0};
    struct path here = path_of(0);
    assert_int_equal(world_ask(&chain.world, &here, METHOD_GET, ATTRIBUTE_NODE_INFO, 0, data), 0);
    assert_int_equal(wire_get(data, NODE_INFO_NODE_GUID),
                     chain.world.topology.nodes.items[chain.manager].guid);
    assert_int_equal(world_totals(&chain.world).hops, 0);
    world_end(&chain.world);
}

static void directed_routes_of_1_to_63_hops_reach_and_return(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 62);
    struct world *world = &chain.world;
    world_find_paths(world, world_port(world, chain.manager, 1));
    for (unsigned hops = 1; hops <= 63; hops++) {
        uint32_t node = hops == 63 ? chain.target : chain.switches[hops - 1];
        struct path path = {.known = true, .hops = (uint8_t)hops};
        uint8_t mad[MAD_BYTES];
        struct fabric_delivery answer;
        path.ports[1] = 1;
        for (unsigned i = 2; i <= hops; i++)
            path.ports[i] = 2;
        mad_fill(mad, CLASS_SUBN_DIRECTED, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
        mad_direct(mad, &path);
        assert_true(world_exchange(world, world->manager, LID_PERMISSIVE, mad, &answer));
        assert_int_equal(wire_get(answer.mad + SMP_DATA_OFFSET, NODE_INFO_NODE_GUID),
                         world->topology.nodes.items[node].guid);
        assert_int_equal(wire_get(answer.mad + SMP_DATA_OFFSET, NODE_INFO_LOCAL_PORT_NUM), 1);
        assert_int_equal(wire_get(answer.mad, SMP_HOP_POINTER), 0);
        assert_int_equal(wire_get(answer.mad, SMP_HOP_COUNT), hops);
        assert_int_equal(wire_get(answer.mad, SMP_DIRECTION), 1);
        assert_int_equal(answer.header.slid, LID_PERMISSIVE);
        for (unsigned i = 1; i <= hops; i++) {
            assert_int_equal(wire_get_at(answer.mad, SMP_INITIAL_PATH, i), path.ports[i]);
            assert_int_equal(wire_get_at(answer.mad, SMP_RETURN_PATH, i), 1);
        }
    }
    world_end(world);
}

static void the_return_path_records_the_arrival_ports(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    uint32_t manager = world_adapter(&world, 1), a = world_switch(&world, 8),
             b = world_switch(&world, 8), target = world_adapter(&world, 2);
    world_link(&world, manager, 1, a, 5);
    world_link(&world, a, 3, b, 7);
    world_link(&world, b, 2, target, 2);
    world_begin(&world, 1);
    world_find_paths(&world, world_port(&world, manager, 1));
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery answer;
    struct path path = path_of(3, 1, 3, 2);
    mad_fill(mad, CLASS_SUBN_DIRECTED, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    mad_direct(mad, &path);
    assert_true(world_exchange(&world, world.manager, LID_PERMISSIVE, mad, &answer));
    assert_int_equal(wire_get_at(answer.mad, SMP_RETURN_PATH, 1), 5);
    assert_int_equal(wire_get_at(answer.mad, SMP_RETURN_PATH, 2), 7);
    assert_int_equal(wire_get_at(answer.mad, SMP_RETURN_PATH, 3), 2);
    assert_int_equal(wire_get(answer.mad + SMP_DATA_OFFSET, NODE_INFO_LOCAL_PORT_NUM), 2);
    world_end(&world);
}

static void paths_that_lead_nowhere_vanish(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 2);
    struct world *world = &chain.world;
    world_find_paths(world, world_port(world, chain.manager, 1));
    const struct path bad[] = {
        path_of(1, 2),          /* the adapter has no port 2 */
        path_of(1, 0),          /* port 0 is not an output */
        path_of(2, 1, 3),       /* nothing is connected there */
        path_of(2, 1, 200),     /* no such port */
        path_of(2, 1, 0),       /* a switch's own port */
        path_of(4, 1, 2, 2, 1), /* adapters do not forward */
        path_of(4, 1, 2, 2, 2),
    };
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(world_ask(world, &bad[i], METHOD_GET, ATTRIBUTE_NODE_INFO, 0, NULL), -1);
    assert_int_equal(fabric_next_network_event(world->fabric), TIME_NEVER);
    world_end(world);
}

static void hop_counts_and_pointers_out_of_range_vanish(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 2);
    struct world *world = &chain.world;
    world_find_paths(world, world_port(world, chain.manager, 1));
    static const uint8_t pairs[][2] = {{0, 64}, {0, 255}, {65, 63}, {255, 255}, {2, 3}, {200, 2}};
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        for (unsigned back = 0; back < 2; back++) {
            uint8_t mad[MAD_BYTES];
            struct fabric_delivery answer;
            mad_fill(mad, CLASS_SUBN_DIRECTED, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
            mad_direct(mad, &(struct path){.hops = 0});
            memset(mad + wire_fields[SMP_INITIAL_PATH].offset / 8, 1, 128);
            wire_set(mad, SMP_HOP_POINTER, pairs[i][0]);
            wire_set(mad, SMP_HOP_COUNT, pairs[i][1]);
            wire_set(mad, SMP_DIRECTION, back);
            assert_false(world_exchange(world, world->manager, LID_PERMISSIVE, mad, &answer));
        }
    world_end(world);
}

static void a_path_may_pass_a_switch_twice(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 2);
    world_find_paths(&chain.world, world_port(&chain.world, chain.manager, 1));
    uint8_t data[SMP_DATA_BYTES] = {0};
    struct path path = path_of(5, 1, 2, 1, 2, 2); /* there, back, there again and on */
    assert_int_equal(world_ask(&chain.world, &path, METHOD_GET, ATTRIBUTE_NODE_INFO, 0, data), 0);
    assert_int_equal(wire_get(data, NODE_INFO_NODE_GUID),
                     chain.world.topology.nodes.items[chain.target].guid);
    world_end(&chain.world);
}

static void a_manager_at_a_switch_can_send_both_kinds_of_smp(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 3);
    struct world *world = &chain.world;
    world_bring_up(world, world_port(world, chain.switches[1], 0));
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery answer;
    uint8_t data[SMP_DATA_BYTES] = {0};
    struct path ways[] = {path_of(0), path_of(2, 2, 2), path_of(2, 1, 1)};
    uint32_t nodes[] = {chain.switches[1], chain.target, chain.manager};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(world_ask(world, &ways[i], METHOD_GET, ATTRIBUTE_NODE_INFO, 0, data), 0);
        assert_int_equal(wire_get(data, NODE_INFO_NODE_GUID),
                         world->topology.nodes.items[nodes[i]].guid);
        mad_fill(mad, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
        assert_true(
            world_exchange(world, world->manager, world_lid(world, nodes[i]), mad, &answer));
        assert_int_equal(wire_get(answer.mad + SMP_DATA_OFFSET, NODE_INFO_NODE_GUID),
                         world->topology.nodes.items[nodes[i]].guid);
        assert_int_equal(answer.header.slid, world_lid(world, nodes[i]));
    }
    world_end(world);
}

/* Combined routes */

static void ask_combined(struct world *world, uint16_t first_lid, uint16_t last_lid,
                         const struct path *path, uint32_t node)
{
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery answer;
    mad_fill(mad, CLASS_SUBN_DIRECTED, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    mad_direct(mad, path);
    if (first_lid != LID_PERMISSIVE)
        wire_set(mad, SMP_DR_SLID, world->lids[world->manager]);
    wire_set(mad, SMP_DR_DLID, last_lid);
    assert_true(world_exchange(world, world->manager, first_lid, mad, &answer));
    assert_int_equal(wire_get(answer.mad, MAD_TID), wire_get(mad, MAD_TID));
    assert_int_equal(wire_get(answer.mad, SMP_STATUS), 0);
    assert_int_equal(wire_get(answer.mad + SMP_DATA_OFFSET, NODE_INFO_NODE_GUID),
                     world->topology.nodes.items[node].guid);
    assert_int_equal(wire_get(answer.mad, SMP_HOP_POINTER), 0);
}

static void a_route_may_begin_by_lid(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 4);
    struct world *world = &chain.world;
    world_bring_up(world, world_port(world, chain.manager, 1));
    struct path onwards = path_of(2, 2, 2), nowhere = path_of(0);
    uint16_t middle = world_lid(world, chain.switches[1]);
    ask_combined(world, middle, LID_PERMISSIVE, &onwards, chain.switches[3]);
    ask_combined(world, middle, LID_PERMISSIVE, &nowhere, chain.switches[1]);
    world_end(world);
}

static void a_route_may_end_by_lid(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 4);
    struct world *world = &chain.world;
    world_bring_up(world, world_port(world, chain.manager, 1));
    struct path start = path_of(2, 1, 2), one = path_of(1, 1);
    ask_combined(world, LID_PERMISSIVE, world_lid(world, chain.target), &start, chain.target);
    ask_combined(world, LID_PERMISSIVE, world_lid(world, chain.switches[3]), &one,
                 chain.switches[3]);
    ask_combined(world, LID_PERMISSIVE, world_lid(world, chain.switches[1]), &start,
                 chain.switches[1]); /* it is there already */
    world_end(world);
}

static void a_route_may_be_directed_only_in_the_middle(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 4);
    struct world *world = &chain.world;
    world_bring_up(world, world_port(world, chain.manager, 1));
    struct path middle = path_of(1, 2);
    ask_combined(world, world_lid(world, chain.switches[1]), world_lid(world, chain.target),
                 &middle, chain.target);
    world_end(world);
}

static void a_manager_at_a_switch_may_begin_at_its_own_lid(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 4);
    struct world *world = &chain.world;
    world_bring_up(world, world_port(world, chain.switches[0], 0));
    struct path onwards = path_of(2, 2, 2);
    ask_combined(world, world_lid(world, chain.switches[0]), LID_PERMISSIVE, &onwards,
                 chain.switches[2]);
    world_end(world);
}

static void a_combined_route_whose_directed_part_ends_at_an_adapter_vanishes(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 1);
    struct world *world = &chain.world;
    world_bring_up(world, world_port(world, chain.manager, 1));
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery answer;
    struct path path = path_of(2, 1, 2);
    mad_fill(mad, CLASS_SUBN_DIRECTED, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    mad_direct(mad, &path);
    wire_set(mad, SMP_DR_DLID, world_lid(world, chain.switches[0]));
    assert_false(world_exchange(world, world->manager, LID_PERMISSIVE, mad, &answer));
    static const uint16_t no_lids[] = {0, LID_MULTICAST_FIRST, LID_MULTICAST_LAST};
    for (unsigned i = 0; i < 3; i++) {
        path = path_of(1, 1);
        mad_direct(mad, &path);
        wire_set(mad, SMP_DR_DLID, no_lids[i]);
        assert_false(world_exchange(world, world->manager, LID_PERMISSIVE, mad, &answer));
    }
    world_end(world);
}

/* By LID */

static void set_route(struct world *world, uint32_t node, unsigned lid, unsigned port)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    const struct path *path = world_path(world, node);
    assert_int_equal(world_ask(world, path, METHOD_GET, ATTRIBUTE_LINEAR_FORWARDING_TABLE,
                               lid / 64, data),
                     0);
    data[lid % 64] = (uint8_t)port;
    assert_int_equal(world_ask(world, path, METHOD_SET, ATTRIBUTE_LINEAR_FORWARDING_TABLE,
                               lid / 64, data),
                     0);
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
    /* Two ways from A to B: directly (ports 2 and 2), and through C. */
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
    uint64_t through_c = world_counter(&world, c, 1, COUNTER_RCV_PACKETS);
    assert_true(lid_answers(&world, lid));
    assert_int_equal(world_counter(&world, c, 1, COUNTER_RCV_PACKETS), through_c);
    set_route(&world, a, lid, 3);
    through_c = world_counter(&world, c, 1, COUNTER_RCV_PACKETS);
    assert_true(lid_answers(&world, lid));
    assert_int_equal(world_counter(&world, c, 1, COUNTER_RCV_PACKETS), through_c + 1);
    set_route(&world, a, lid, 0xFF);
    assert_false(lid_answers(&world, lid));
    set_route(&world, a, lid, 1); /* back where it came from */
    assert_false(lid_answers(&world, lid));
    set_route(&world, a, lid, 0); /* not the switch's own LID */
    assert_false(lid_answers(&world, lid));
    assert_int_equal(world_counter(&world, a, 1, COUNTER_RCV_SWITCH_RELAY), 3);
    set_route(&world, a, lid, 2);
    assert_true(lid_answers(&world, lid));
    world_end(&world);
}

static void a_switch_hears_its_own_lid_only_if_its_table_says_so(void **state)
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

static void lids_that_are_nobodys_vanish(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 1);
    struct world *world = &chain.world;
    world_bring_up(world, world_port(world, chain.manager, 1));
    static const uint16_t nobody[] = {0, 40, LID_UNICAST_LAST, LID_MULTICAST_FIRST,
                                      LID_MULTICAST_LAST};
    for (unsigned i = 0; i < sizeof nobody / sizeof nobody[0]; i++)
        assert_false(lid_answers(world, nobody[i]));
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
    assert_true(lid_answers(world, lid)); /* and a loop that is mended is no loop */
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

/* A group's MAD, which no agent answers: a consumer's report. */
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
    /* Members: hosts 0, 1, 4 and the second switch itself. */
    set_group(&world, s[0], 5, 1 << 1 | 1 << 2 | 1 << 8);
    set_group(&world, s[1], 5, 1 << 0 | 1 << 2 | 1 << 7);
    send_to_group(&world, world.manager, 5);
    unsigned got[WORLD_PORTS] = {0}, copies = 0;
    struct fabric_delivery delivery;
    while (world_take(&world, &delivery)) {
        got[delivery.port]++;
        copies++;
        assert_int_equal(delivery.header.slid, world.lids[world.manager]);
    }
    assert_int_equal(copies, 3);
    assert_int_equal(got[world_port(&world, hosts[1], 1)], 1);
    assert_int_equal(got[world_port(&world, hosts[4], 1)], 1);
    assert_int_equal(got[world_port(&world, s[1], 0)], 1);
    assert_int_equal(world_counter(&world, s[0], 8, COUNTER_MULTICAST_XMIT), 1);
    assert_int_equal(world_counter(&world, s[1], 7, COUNTER_MULTICAST_RCV), 1);
    send_to_group(&world, world.manager, 6); /* a group nobody made */
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
    send_to_group(world, world_port(world, chain.switches[0], 0), 0);
    assert_true(world_take(world, &delivery));
    assert_int_equal(delivery.port, world_port(world, chain.target, 1));
    assert_false(world_take(world, &delivery));
    world_end(world);
}

static void a_question_to_a_group_is_answered_from_the_members_own_lid(void **state)
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
    /* Eight switches, each linked with every other, all flooding: copies multiply at every hop. */
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
    assert_false(
        world_exchange(&world, world_port(&world, twin, 1), LID_PERMISSIVE, mad, &answer));
    mad_direct(mad, &right);
    assert_true(
        world_exchange(&world, world_port(&world, twin, 1), LID_PERMISSIVE, mad, &answer));
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directed_route_of_no_hops_stays_in_the_node),
        cmocka_unit_test(directed_routes_of_1_to_63_hops_reach_and_return),
        cmocka_unit_test(the_return_path_records_the_arrival_ports),
        cmocka_unit_test(paths_that_lead_nowhere_vanish),
        cmocka_unit_test(hop_counts_and_pointers_out_of_range_vanish),
        cmocka_unit_test(a_path_may_pass_a_switch_twice),
        cmocka_unit_test(a_manager_at_a_switch_can_send_both_kinds_of_smp),
        cmocka_unit_test(a_route_may_begin_by_lid),
        cmocka_unit_test(a_route_may_end_by_lid),
        cmocka_unit_test(a_route_may_be_directed_only_in_the_middle),
        cmocka_unit_test(a_manager_at_a_switch_may_begin_at_its_own_lid),
        cmocka_unit_test(a_combined_route_whose_directed_part_ends_at_an_adapter_vanishes),
        cmocka_unit_test(lid_routed_smps_follow_the_programmed_tables),
        cmocka_unit_test(a_switch_hears_its_own_lid_only_if_its_table_says_so),
        cmocka_unit_test(every_lid_of_a_range_reaches_its_port),
        cmocka_unit_test(lids_that_are_nobodys_vanish),
        cmocka_unit_test(adapters_back_to_back_need_no_switch),
        cmocka_unit_test(a_loop_in_the_tables_ends),
        cmocka_unit_test(a_group_gets_one_copy_a_member_and_the_sender_none),
        cmocka_unit_test(a_switch_can_send_to_a_group),
        cmocka_unit_test(a_question_to_a_group_is_answered_from_the_members_own_lid),
        cmocka_unit_test(a_loop_in_multicast_tables_ends_however_much_it_copies),
        cmocka_unit_test(a_node_alone_answers_itself),
        cmocka_unit_test(a_switch_linked_with_itself_works),
        cmocka_unit_test(an_adapter_linked_with_itself_works),
        cmocka_unit_test(each_port_of_an_adapter_is_an_end_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
