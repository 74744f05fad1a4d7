/* Adapters in shared-port mode: one LID for all functions, GUIDs of their own, QP0 barred to
 * virtual functions, QP1 a proxy. */
#include "fixture.h"

#include "topology/virtual.h"

enum { FUNCTIONS = 9, VM_GUID = 0x777 };

/* S - M (the manager), S - A (a hypervisor). */
struct shared {
    struct world world;
    uint32_t s, m, a;
};

static void begin(struct shared *shared)
{
    struct world *world = &shared->world;
    memset(shared, 0, sizeof *shared);
    world_init(world);
    shared->s = world_switch(world, 4);
    shared->a = world_adapter(world, 1);
    shared->m = world_adapter(world, 1);
    world_link(world, shared->s, 1, shared->a, 1);
    world_link(world, shared->s, 2, shared->m, 1);
    assert_int_equal(topology_virtualise(&world->topology, FUNCTIONS, 1, NULL), 0);
    topology_share_ports(&world->topology);
    world_begin(world, 1);
    world_bring_up(world, world_port(world, shared->m, 1));
}

static uint32_t function_port(const struct shared *shared, unsigned number)
{
    return world_port(&shared->world, shared->m + number, 1);
}

static void functions_have_the_lid_of_their_adapter(void **state)
{
    (void)state;
    struct shared shared;
    begin(&shared);
    assert_int_equal(shared.world.topology.nodes.count, 3 + FUNCTIONS);
    assert_int_equal(world_totals(&shared.world).links_up, 2);
    uint16_t lid = world_lid(&shared.world, shared.a);
    assert_int_not_equal(lid, 0);
    for (unsigned v = 1; v <= FUNCTIONS; v++) {
        const uint8_t *info = fabric_port_info(shared.world.fabric, function_port(&shared, v));
        assert_int_equal(wire_get(info, PORT_INFO_LID), lid);
    }
    world_end(&shared.world);
}

static void an_smp_of_a_virtual_function_is_discarded_and_counted(void **state)
{
    (void)state;
    struct shared shared;
    struct path one_hop = path_of(1, 1);
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery answer;
    begin(&shared);
    uint32_t pf = world_port(&shared.world, shared.a, 1);
    for (unsigned i = 0; i < 2; i++)
        fabric_attach(shared.world.fabric, i ? pf : function_port(&shared, 1));
    mad_fill(mad, CLASS_SUBN_DIRECTED, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    mad_direct(mad, &one_hop);
    uint64_t before = world_totals(&shared.world).smps_sent;
    assert_false(
        world_exchange(&shared.world, function_port(&shared, 1), LID_PERMISSIVE, mad, &answer));
    assert_int_equal(world_totals(&shared.world).smps_sent, before);
    assert_int_equal(world_totals(&shared.world).smps_barred, 1);
    mad_fill(mad, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    assert_false(world_exchange(&shared.world, function_port(&shared, 2),
                                world_lid(&shared.world, shared.m), mad, &answer));
    assert_int_equal(world_totals(&shared.world).smps_barred, 2);
    /* The physical function may send it. */
    mad_fill(mad, CLASS_SUBN_DIRECTED, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    mad_direct(mad, &one_hop);
    assert_true(world_exchange(&shared.world, pf, LID_PERMISSIVE, mad, &answer));
    assert_int_equal(answer.port, pf);
    assert_int_equal(world_totals(&shared.world).smps_barred, 2);
    world_end(&shared.world);
}

static void answers_to_qp1_return_to_the_function_that_asked(void **state)
{
    (void)state;
    struct shared shared;
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery answer;
    begin(&shared);
    for (unsigned v = 1; v <= 2; v++)
        fabric_attach(shared.world.fabric, function_port(&shared, v));
    for (unsigned v = 1; v <= 2; v++) {
        mad_fill(mad, CLASS_PERFORMANCE, METHOD_GET, ATTRIBUTE_PORT_COUNTERS, 0);
        assert_true(world_exchange(&shared.world, function_port(&shared, v),
                                   world_lid(&shared.world, shared.m), mad, &answer));
        assert_int_equal(answer.port, function_port(&shared, v));
        assert_int_equal(answer.header.dlid, world_lid(&shared.world, shared.a));
    }
    world_end(&shared.world);
}

static uint64_t guid_in_table(struct shared *shared, unsigned index)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    struct path path = path_of(2, 1, 1);
    assert_int_equal(
        world_ask(&shared->world, &path, METHOD_GET, ATTRIBUTE_GUID_INFO, index / 8, data), 0);
    return wire_get_bits(data, index % 8 * 64, 64);
}

static void every_function_has_a_guid_in_the_table_of_the_port(void **state)
{
    (void)state;
    struct shared shared;
    begin(&shared);
    struct fabric *fabric = shared.world.fabric;
    for (unsigned v = 0; v <= FUNCTIONS; v++) {
        uint32_t port = v ? function_port(&shared, v) : world_port(&shared.world, shared.a, 1);
        assert_int_equal(guid_in_table(&shared, v), fabric_port_guid(fabric, port, 0));
        assert_int_equal(guid_in_table(&shared, v), shared.world.topology.ports.items[port].guid);
    }
    uint64_t own = guid_in_table(&shared, FUNCTIONS);
    fabric_set_function_guid(fabric, function_port(&shared, FUNCTIONS), VM_GUID);
    assert_int_equal(guid_in_table(&shared, FUNCTIONS), VM_GUID);
    fabric_set_function_guid(fabric, function_port(&shared, FUNCTIONS), 0);
    assert_int_equal(guid_in_table(&shared, FUNCTIONS), own);
    world_end(&shared.world);
}

static void guids_of_functions_survive_a_restart_of_the_adapter(void **state)
{
    (void)state;
    struct shared shared;
    begin(&shared);
    struct fabric *fabric = shared.world.fabric;
    fabric_set_function_guid(fabric, function_port(&shared, 9), VM_GUID);
    assert_int_equal(fabric_set_node(fabric, shared.a, false, NULL), 0);
    assert_int_equal(fabric_set_node(fabric, shared.a, true, NULL), 0);
    world_settle(&shared.world);
    assert_int_equal(guid_in_table(&shared, 9), VM_GUID);
    world_end(&shared.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_the_lid_of_their_adapter),
        cmocka_unit_test(an_smp_of_a_virtual_function_is_discarded_and_counted),
        cmocka_unit_test(answers_to_qp1_return_to_the_function_that_asked),
        cmocka_unit_test(every_function_has_a_guid_in_the_table_of_the_port),
        cmocka_unit_test(guids_of_functions_survive_a_restart_of_the_adapter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
