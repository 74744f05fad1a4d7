/* Directed routes: hop pointers, return paths, paths that lead nowhere, and routes that begin or
 * end by LID. */
#include "fixture.h"

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

static void smps_with_an_invalid_path_are_dropped(void **state)
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
    assert_int_equal(world_counter(world, chain.switches[0], 3, COUNTER_TRANSMIT_DISCARDS), 1);
    assert_int_equal(world_counter(world, chain.switches[0], 3, COUNTER_VL15_DROPPED), 0);
    world_end(world);
}

static void hop_counts_and_pointers_out_of_range_are_dropped(void **state)
{
    (void)state;
    struct chain chain;
    chain_begin(&chain, 2);
    struct world *world = &chain.world;
    world_find_paths(world, world_port(world, chain.manager, 1));
    uint32_t at_switch = world_port(world, chain.switches[0], 0);
    fabric_attach(world->fabric, at_switch);
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
            assert_false(world_exchange(world, at_switch, LID_PERMISSIVE, mad, &answer));
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

static void send_combined(struct world *world, uint16_t first_lid, uint16_t last_lid,
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
    send_combined(world, middle, LID_PERMISSIVE, &onwards, chain.switches[3]);
    send_combined(world, middle, LID_PERMISSIVE, &nowhere, chain.switches[1]);
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
    send_combined(world, LID_PERMISSIVE, world_lid(world, chain.target), &start, chain.target);
    send_combined(world, LID_PERMISSIVE, world_lid(world, chain.switches[3]), &one,
                  chain.switches[3]);
    send_combined(world, LID_PERMISSIVE, world_lid(world, chain.switches[1]), &start,
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
    send_combined(world, world_lid(world, chain.switches[1]), world_lid(world, chain.target),
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
    send_combined(world, world_lid(world, chain.switches[0]), LID_PERMISSIVE, &onwards,
                  chain.switches[2]);
    world_end(world);
}

static void a_combined_route_whose_directed_part_ends_at_an_adapter_is_dropped(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directed_route_of_no_hops_stays_in_the_node),
        cmocka_unit_test(directed_routes_of_1_to_63_hops_reach_and_return),
        cmocka_unit_test(the_return_path_records_the_arrival_ports),
        cmocka_unit_test(smps_with_an_invalid_path_are_dropped),
        cmocka_unit_test(hop_counts_and_pointers_out_of_range_are_dropped),
        cmocka_unit_test(a_path_may_pass_a_switch_twice),
        cmocka_unit_test(a_manager_at_a_switch_can_send_both_kinds_of_smp),
        cmocka_unit_test(a_route_may_begin_by_lid),
        cmocka_unit_test(a_route_may_end_by_lid),
        cmocka_unit_test(a_route_may_be_directed_only_in_the_middle),
        cmocka_unit_test(a_manager_at_a_switch_may_begin_at_its_own_lid),
        cmocka_unit_test(a_combined_route_whose_directed_part_ends_at_an_adapter_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
