/* Hypervisors in the fabric: functions that come and go with their addresses, the LID that a
 * virtual switch shares with its physical function, and faults. */
#include "vswitch_fixture.h"

enum { VM_GUID = 0x777 };

static unsigned state_at(struct cloud *cloud, unsigned host, unsigned number)
{
    struct world *world = &cloud->world;
    unsigned inside = world_state(world, cloud->hosts[host].vswitch, VSWITCH_PF + number);
    assert_int_equal(inside, world_state(world, cloud->hosts[host].functions[number], 1));
    return inside;
}

static uint64_t node_guid(const struct cloud *cloud, uint32_t node)
{
    return cloud->world.topology.nodes.items[node].guid;
}

/* A general service's message between two ports; where it was delivered, or TOPOLOGY_NONE. */
static uint32_t message(struct cloud *cloud, uint32_t from, uint16_t lid)
{
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery delivery;
    mad_fill(mad, 3, METHOD_TRAP, 0x10, 0); /* an attribute that agents do not answer */
    if (!world_exchange(&cloud->world, from, lid, mad, &delivery))
        return TOPOLOGY_NONE;
    assert_int_equal(wire_get(delivery.mad, MAD_TID), wire_get(mad, MAD_TID));
    return delivery.port;
}

static void a_function_without_a_lid_has_no_link(void **state)
{
    (void)state;
    struct cloud cloud;
    struct path vf = path_of(3, 1, 1, VSWITCH_PF + 1);
    cloud_begin(&cloud);
    assert_int_equal(state_at(&cloud, 0, 1), PORT_STATE_DOWN);
    assert_int_equal(world_ask(&cloud.world, &vf, METHOD_GET, ATTRIBUTE_NODE_INFO, 0, NULL), -1);
    assert_int_equal(world_totals(&cloud.world).links_up, 5);
    assert_int_equal(world_totals(&cloud.world).links_down, 0);
    cloud_end(&cloud);
}

static void a_function_with_a_lid_is_up_at_once_without_a_trap(void **state)
{
    (void)state;
    struct cloud cloud;
    struct path vf = path_of(3, 1, 1, VSWITCH_PF + 1);
    uint8_t data[SMP_DATA_BYTES] = {0};
    cloud_begin(&cloud);
    uint64_t traps = world_totals(&cloud.world).traps, before;
    before = fabric_network_time(cloud.world.fabric);
    assert_int_equal(cloud_set_function(&cloud, 0, 1, 30, VM_GUID), 0);
    assert_true(fabric_network_time(cloud.world.fabric) - before < TIME_MS); /* training: 10 ms */
    assert_int_equal(state_at(&cloud, 0, 1), PORT_STATE_ACTIVE);
    assert_int_equal(world_totals(&cloud.world).links_up, 6);
    assert_int_equal(world_ask(&cloud.world, &vf, METHOD_GET, ATTRIBUTE_NODE_INFO, 0, data), 0);
    assert_int_equal(wire_get(data, NODE_INFO_PORT_GUID), VM_GUID);
    assert_int_equal(wire_get(data, NODE_INFO_NODE_GUID),
                     node_guid(&cloud, cloud.hosts[0].functions[1]));
    cloud_route(&cloud, 30, 1);
    memset(data, 0, sizeof data);
    assert_int_equal(cloud_ask(&cloud, 30, METHOD_GET, ATTRIBUTE_NODE_INFO, 0, data), 0);
    assert_int_equal(wire_get(data, NODE_INFO_PORT_GUID), VM_GUID);
    /* And gone at once. */
    assert_int_equal(cloud_set_function(&cloud, 0, 1, 0, 0), 0);
    assert_int_equal(state_at(&cloud, 0, 1), PORT_STATE_DOWN);
    assert_int_equal(world_ask(&cloud.world, &vf, METHOD_GET, ATTRIBUTE_NODE_INFO, 0, NULL), -1);
    assert_int_equal(world_totals(&cloud.world).links_up, 5);
    assert_int_equal(world_totals(&cloud.world).traps, traps);
    assert_int_equal(
        world_ask(&cloud.world, &cloud.hosts[0].path, METHOD_GET, ATTRIBUTE_SWITCH_INFO, 0, data),
        0);
    assert_int_equal(wire_get(data, SWITCH_INFO_PORT_STATE_CHANGE), 0);
    cloud_end(&cloud);
}

static void one_smp_by_lid_to_the_hypervisor_is_enough(void **state)
{
    (void)state;
    struct cloud cloud;
    uint8_t data[SMP_DATA_BYTES] = {0};
    cloud_begin(&cloud);
    uint64_t before = world_totals(&cloud.world).smps_sent;
    wire_set(data, VIRTUAL_FUNCTION_LID, 30);
    assert_int_equal(cloud_ask(&cloud, LID_B, METHOD_SET, ATTRIBUTE_VIRTUAL_FUNCTION, 2, data), 0);
    assert_int_equal(world_totals(&cloud.world).smps_sent - before, 2); /* and its response */
    assert_int_equal(state_at(&cloud, 1, 2), PORT_STATE_ACTIVE);
    assert_int_equal(
        world_info(&cloud.world, cloud.hosts[1].functions[2], 1, PORT_INFO_MASTER_SM_LID), LID_M);
    cloud_end(&cloud);
}

static void requests_to_the_shared_lid_reach_the_switch_and_other_mads_the_function(void **state)
{
    (void)state;
    struct cloud cloud;
    uint8_t data[SMP_DATA_BYTES] = {0};
    cloud_begin(&cloud);
    assert_int_equal(cloud_ask(&cloud, LID_A, METHOD_GET, ATTRIBUTE_NODE_INFO, 0, data), 0);
    assert_int_equal(wire_get(data, NODE_INFO_NODE_GUID),
                     node_guid(&cloud, cloud.hosts[0].vswitch));
    uint32_t pf = cloud_port(&cloud, 0, 0);
    fabric_attach(cloud.world.fabric, pf);
    assert_int_equal(message(&cloud, cloud.world.manager, LID_A), pf);
    /* A request of the function to its own LID reaches the switch, and the response comes back. */
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery answer;
    mad_fill(mad, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    assert_true(world_exchange(&cloud.world, pf, LID_A, mad, &answer));
    assert_int_equal(answer.port, pf);
    assert_int_equal(wire_get(answer.mad + SMP_DATA_OFFSET, NODE_INFO_NODE_GUID),
                     node_guid(&cloud, cloud.hosts[0].vswitch));
    /* A message to itself stays where it is. */
    assert_int_equal(message(&cloud, pf, LID_A), pf);
    cloud_end(&cloud);
}

static void a_manager_can_run_at_a_physical_function(void **state)
{
    (void)state;
    struct cloud cloud;
    struct fabric_delivery delivery;
    struct path path = path_of(3, 1, 1, VSWITCH_PF), s = path_of(1, 1);
    cloud_begin(&cloud);
    uint32_t pf = cloud_port(&cloud, 0, 0);
    fabric_attach(cloud.world.fabric, pf);
    assert_int_equal(world_set_port(&cloud.world, &s, 0, PORT_INFO_MASTER_SM_LID, LID_A), 0);
    assert_int_equal(
        world_set_port(&cloud.world, &cloud.hosts[0].path, 0, PORT_INFO_MASTER_SM_LID, LID_A), 0);
    /* SMInfo and traps from outside … */
    uint8_t mad[MAD_BYTES];
    mad_fill(mad, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_SM_INFO, 0);
    assert_true(world_exchange(&cloud.world, cloud.world.manager, LID_A, mad, &delivery));
    assert_int_equal(delivery.port, pf);
    assert_int_equal(
        fabric_flap_port(cloud.world.fabric, world_port(&cloud.world, cloud.s, 2), NULL), 0);
    assert_true(world_take(&cloud.world, &delivery));
    assert_int_equal(delivery.port, pf);
    assert_int_equal(wire_get(delivery.mad, MAD_METHOD), METHOD_TRAP);
    /* … and from its own switch, in response to requests by LID. */
    world_settle(&cloud.world);
    mad_fill(mad, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    assert_true(world_exchange(&cloud.world, pf, LID_S, mad, &delivery));
    assert_int_equal(delivery.port, pf);
    assert_int_equal(wire_get(delivery.mad + SMP_DATA_OFFSET, NODE_INFO_NODE_GUID),
                     node_guid(&cloud, cloud.s));
    assert_int_equal(cloud_set_function(&cloud, 0, 1, 30, 0), 0);
    assert_int_equal(
        fabric_flap_port(cloud.world.fabric,
                         world_port(&cloud.world, cloud.hosts[0].vswitch, VSWITCH_PF + 1), NULL),
        0);
    assert_true(world_take(&cloud.world, &delivery));
    assert_int_equal(delivery.port, pf);
    assert_int_equal(wire_get(delivery.mad, MAD_METHOD), METHOD_TRAP);
    assert_int_equal(world_ask(&cloud.world, &path, METHOD_GET, ATTRIBUTE_NODE_INFO, 0, NULL), 0);
    cloud_end(&cloud);
}

static void functions_reach_each_other_within_and_across(void **state)
{
    (void)state;
    struct cloud cloud;
    cloud_begin(&cloud);
    cloud_place(&cloud, 30, 0, 1);
    cloud_place(&cloud, 31, 0, 2);
    cloud_place(&cloud, 32, 1, 1);
    for (unsigned host = 0; host < 2; host++)
        for (unsigned number = 0; number <= VFS; number++)
            fabric_attach(cloud.world.fabric, cloud_port(&cloud, host, number));
    assert_int_equal(message(&cloud, cloud_port(&cloud, 0, 1), 31), cloud_port(&cloud, 0, 2));
    assert_int_equal(message(&cloud, cloud_port(&cloud, 0, 1), LID_A), cloud_port(&cloud, 0, 0));
    assert_int_equal(message(&cloud, cloud_port(&cloud, 0, 1), 32), cloud_port(&cloud, 1, 1));
    assert_int_equal(message(&cloud, cloud_port(&cloud, 1, 1), 30), cloud_port(&cloud, 0, 1));
    assert_int_equal(message(&cloud, cloud_port(&cloud, 1, 0), 31), cloud_port(&cloud, 0, 2));
    /* A LID that is at no function goes out, and comes back from nowhere. */
    assert_int_equal(message(&cloud, cloud_port(&cloud, 0, 1), 40), TOPOLOGY_NONE);
    cloud_end(&cloud);
}

static void a_lid_moves_with_its_vm(void **state)
{
    (void)state;
    struct cloud cloud;
    cloud_begin(&cloud);
    cloud_place(&cloud, 30, 0, 1);
    fabric_attach(cloud.world.fabric, cloud_port(&cloud, 0, 1));
    fabric_attach(cloud.world.fabric, cloud_port(&cloud, 1, 2));
    assert_int_equal(message(&cloud, cloud.world.manager, 30), cloud_port(&cloud, 0, 1));
    assert_int_equal(cloud_set_function(&cloud, 0, 1, 0, 0), 0);
    assert_int_equal(message(&cloud, cloud.world.manager, 30), TOPOLOGY_NONE);
    cloud_place(&cloud, 30, 1, 2);
    assert_int_equal(message(&cloud, cloud.world.manager, 30), cloud_port(&cloud, 1, 2));
    assert_int_equal(message(&cloud, cloud_port(&cloud, 1, 2), LID_M), cloud.world.manager);
    cloud_end(&cloud);
}

static void groups_reach_virtual_functions(void **state)
{
    (void)state;
    struct cloud cloud;
    enum { GROUP = 0xC003 };
    uint8_t data[SMP_DATA_BYTES] = {0};
    struct path s = path_of(1, 1);
    cloud_begin(&cloud);
    cloud_place(&cloud, 30, 0, 1);
    fabric_attach(cloud.world.fabric, cloud_port(&cloud, 0, 1));
    wire_set_at(data, MULTICAST_FORWARDING_TABLE_PORT_MASK, GROUP & 31, 1 << 3 | 1 << 1);
    assert_int_equal(
        world_ask(&cloud.world, &s, METHOD_SET, ATTRIBUTE_MULTICAST_FORWARDING_TABLE, 0, data), 0);
    wire_set_at(data, MULTICAST_FORWARDING_TABLE_PORT_MASK, GROUP & 31,
                1 << VSWITCH_UPLINK | 1 << (VSWITCH_PF + 1));
    assert_int_equal(world_ask(&cloud.world, &cloud.hosts[0].path, METHOD_SET,
                               ATTRIBUTE_MULTICAST_FORWARDING_TABLE, 0, data),
                     0);
    assert_int_equal(message(&cloud, cloud.world.manager, GROUP), cloud_port(&cloud, 0, 1));
    assert_int_equal(message(&cloud, cloud_port(&cloud, 0, 1), GROUP), cloud.world.manager);
    cloud_end(&cloud);
}

static void a_hypervisor_fails_as_a_whole_and_restarts_without_settings(void **state)
{
    (void)state;
    struct cloud cloud;
    for (unsigned by_function = 0; by_function < 2; by_function++) {
        cloud_begin(&cloud);
        cloud_place(&cloud, 30, 0, 1);
        uint32_t taken = by_function ? cloud.hosts[0].functions[0] : cloud.hosts[0].vswitch;
        assert_int_equal(fabric_set_node(cloud.world.fabric, taken, false, NULL), 0);
        assert_int_equal(world_totals(&cloud.world).nodes_down, VFS + 2);
        for (unsigned number = 0; number <= VFS; number++)
            assert_false(fabric_node_is_up(cloud.world.fabric, cloud.hosts[0].functions[number]));
        assert_true(fabric_node_is_up(cloud.world.fabric, cloud.hosts[1].vswitch));
        world_settle(&cloud.world);
        assert_int_equal(fabric_set_node(cloud.world.fabric, taken, true, NULL), 0);
        world_settle(&cloud.world);
        assert_int_equal(world_totals(&cloud.world).nodes_down, 0);
        assert_int_equal(state_at(&cloud, 0, 0), PORT_STATE_INIT);
        assert_int_equal(state_at(&cloud, 0, 1), PORT_STATE_DOWN);
        assert_int_equal(world_totals(&cloud.world).links_down, 0);
        /* And is a hypervisor again. */
        cloud_bring_up(&cloud);
        cloud_place(&cloud, 31, 0, 1);
        assert_int_equal(state_at(&cloud, 0, 1), PORT_STATE_ACTIVE);
        cloud_end(&cloud);
    }
}

static void a_function_that_fails_does_not_affect_the_others(void **state)
{
    (void)state;
    struct cloud cloud;
    cloud_begin(&cloud);
    cloud_place(&cloud, 30, 0, 1);
    cloud_place(&cloud, 31, 0, 2);
    uint32_t vf = cloud.hosts[0].functions[1];
    assert_int_equal(fabric_set_node(cloud.world.fabric, vf, false, NULL), 0);
    assert_int_equal(world_totals(&cloud.world).nodes_down, 1);
    assert_int_equal(state_at(&cloud, 0, 2), PORT_STATE_ACTIVE);
    assert_int_equal(fabric_set_node(cloud.world.fabric, vf, true, NULL), 0);
    world_settle(&cloud.world);
    assert_int_equal(state_at(&cloud, 0, 1), PORT_STATE_DOWN); /* it has forgotten its LID */
    assert_int_equal(cloud_set_function(&cloud, 0, 1, 30, 0), 0);
    assert_int_equal(state_at(&cloud, 0, 1), PORT_STATE_ACTIVE);
    cloud_end(&cloud);
}

static void an_alias_guid_leads_to_the_port_that_has_it(void **state)
{
    (void)state;
    struct cloud cloud;
    uint8_t data[SMP_DATA_BYTES] = {0}, mad[MAD_BYTES];
    struct path pf = path_of(3, 1, 1, VSWITCH_PF);
    struct fabric_delivery delivery;
    cloud_begin(&cloud);
    fabric_attach(cloud.world.fabric, cloud_port(&cloud, 0, 0));
    wire_set_at(data, GUID_INFO_GUID, 3, VM_GUID);
    assert_int_equal(world_ask(&cloud.world, &pf, METHOD_SET, ATTRIBUTE_GUID_INFO, 0, data), 0);
    assert_int_equal(fabric_port_guid(cloud.world.fabric, cloud_port(&cloud, 0, 0), 3), VM_GUID);
    mad_fill(mad, 3, METHOD_TRAP, 0x10, 0);
    struct packet_header header = header_to(&cloud.world, mad, LID_A);
    header.global = true;
    header.dgid[15] = VM_GUID & 0xFF;
    header.dgid[14] = VM_GUID >> 8;
    fabric_send(cloud.world.fabric, cloud.world.manager, &header, mad);
    assert_true(world_take(&cloud.world, &delivery));
    assert_int_equal(delivery.port, cloud_port(&cloud, 0, 0));
    assert_memory_equal(delivery.header.dgid, header.dgid, sizeof header.dgid);
    cloud_end(&cloud);
}

/* A file may describe invalid nodes behind a virtual switch. */
static void odd_devices_do_no_harm(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    uint32_t s = world_switch(&world, 4), odd = world_switch(&world, 5),
             twin = world_switch(&world, 30);
    uint32_t tiny = world_switch(&world, 1), h = world_adapter(&world, 1),
             two = world_adapter(&world, 2);
    uint32_t ends[] = {odd, twin, tiny};
    for (unsigned i = 0; i < 3; i++)
        world.topology.nodes.items[ends[i]].device_id = VSWITCH_DEVICE_ID;
    world_link(&world, h, 1, s, 1);
    world_link(&world, s, 2, odd, 2); /* a switch where the physical function belongs */
    world_link(&world, odd, 1, twin, 1);
    world_link(&world, twin, 3, odd, 3);
    world_link(&world, two, 1, odd, 4); /* one adapter at two places */
    world_link(&world, two, 2, twin, 29);
    world_link(&world, tiny, 1, s, 3);
    world_begin(&world, 1);
    world_find_paths(&world, world_port(&world, h, 1));
    uint8_t data[SMP_DATA_BYTES] = {0};
    wire_set(data, VIRTUAL_FUNCTION_LID, 9);
    for (unsigned i = 0; i < 3; i++)
        for (unsigned number = 0; number < 5; number++)
            world_ask(&world, world_path(&world, ends[i]), METHOD_SET, ATTRIBUTE_VIRTUAL_FUNCTION,
                      number, data);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(fabric_set_node(world.fabric, ends[i], false, NULL), 0);
        assert_int_equal(fabric_set_node(world.fabric, ends[i], true, NULL), 0);
    }
    world_settle(&world);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_without_a_lid_has_no_link),
        cmocka_unit_test(a_function_with_a_lid_is_up_at_once_without_a_trap),
        cmocka_unit_test(one_smp_by_lid_to_the_hypervisor_is_enough),
        cmocka_unit_test(requests_to_the_shared_lid_reach_the_switch_and_other_mads_the_function),
        cmocka_unit_test(a_manager_can_run_at_a_physical_function),
        cmocka_unit_test(functions_reach_each_other_within_and_across),
        cmocka_unit_test(a_lid_moves_with_its_vm),
        cmocka_unit_test(groups_reach_virtual_functions),
        cmocka_unit_test(a_hypervisor_fails_as_a_whole_and_restarts_without_settings),
        cmocka_unit_test(a_function_that_fails_does_not_affect_the_others),
        cmocka_unit_test(an_alias_guid_leads_to_the_port_that_has_it),
        cmocka_unit_test(odd_devices_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
