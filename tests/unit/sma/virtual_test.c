/* The agent of a virtual switch: Get and Set(VirtualFunction), its computed LFT, and its shared
 * LID. */
#include "fixture.h"
#include "wire/vswitch.h"

enum { VFS = 3, PORTS = VSWITCH_PF + VFS, FUNCTION_GUIDS = 0x5000, MANAGER = 9 };

/* A switch and its functions: [0] is the physical one. */
struct device {
    struct sma vswitch, functions[VFS + 1];
};

static struct device *a_device(const struct sma_options *options)
{
    struct device *device = test_malloc(sizeof *device);
    sma_init(&device->vswitch,
             &(struct sma_identity){.kind = SWITCH,
                                    .port_count = PORTS,
                                    .guid = SWITCH_GUID,
                                    .system_guid = SWITCH_GUID,
                                    .device_id = VSWITCH_DEVICE_ID,
                                    .description = "a virtual switch"},
             options);
    for (unsigned port = 0; port <= PORTS; port++)
        sma_set_link_support(&device->vswitch, port, WIDTHS, SPEEDS, SPEEDS_EXT, false);
    for (unsigned i = 0; i <= VFS; i++) {
        make_adapter(&device->functions[i], 1, options);
        sma_set_port_guid(&device->functions[i], 1, FUNCTION_GUIDS + i);
        sma_join_device(&device->vswitch, VSWITCH_PF + i, &device->functions[i], 1);
    }
    return device;
}

static struct device *a_plain_device(void)
{
    struct sma_options options = plain_options();
    return a_device(&options);
}

static void release(struct device *device)
{
    sma_release(&device->vswitch);
    for (unsigned i = 0; i <= VFS; i++)
        sma_release(&device->functions[i]);
    test_free(device);
}

static unsigned set_function(struct device *device, unsigned number, unsigned lid, unsigned lmc,
                             uint64_t guid, bool attached)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    wire_set(data, VIRTUAL_FUNCTION_LID, lid);
    wire_set(data, VIRTUAL_FUNCTION_LMC, lmc);
    wire_set(data, VIRTUAL_FUNCTION_PORT_GUID, guid);
    wire_set(data, VIRTUAL_FUNCTION_ATTACHED, attached);
    if (attached)
        memset(wire_bytes(data, VIRTUAL_FUNCTION_NAME), 'n', VSWITCH_NAME_BYTES);
    return set_through(&device->vswitch, 1, ATTRIBUTE_VIRTUAL_FUNCTION, number, data);
}

static uint64_t function_field(struct device *device, unsigned number, enum wire_field field)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(get_through(&device->vswitch, 1, ATTRIBUTE_VIRTUAL_FUNCTION, number, data),
                     STATUS_OK);
    return wire_get(data, field);
}

/* All bytes of the name that a function reports. */
static void check_name(struct device *device, unsigned number, char byte)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(get_through(&device->vswitch, 1, ATTRIBUTE_VIRTUAL_FUNCTION, number, data),
                     STATUS_OK);
    for (unsigned i = 0; i < VSWITCH_NAME_BYTES; i++)
        assert_int_equal(wire_bytes(data, VIRTUAL_FUNCTION_NAME)[i], byte);
}

static unsigned entry(struct device *device, unsigned lid)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(
        get_through(&device->vswitch, 1, ATTRIBUTE_LINEAR_FORWARDING_TABLE, lid / 64, data),
        STATUS_OK);
    return data[lid % 64];
}

static void only_virtual_switches_have_functions(void **state)
{
    struct sma plain = a_switch(), adapter = an_adapter();
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(get_through(&plain, 1, ATTRIBUTE_VIRTUAL_FUNCTION, 0, data),
                     STATUS_BAD_ATTRIBUTE);
    assert_int_equal(get_through(&adapter, 1, ATTRIBUTE_VIRTUAL_FUNCTION, 0, data),
                     STATUS_BAD_ATTRIBUTE);
    sma_release(&plain);
    sma_release(&adapter);
}

static void get_virtual_function_returns_the_state_of_a_function(void **state)
{
    struct device *device = a_plain_device();
    uint8_t data[SMP_DATA_BYTES] = {0};
    for (unsigned i = 0; i <= VFS; i++) {
        assert_int_equal(function_field(device, i, VIRTUAL_FUNCTION_COUNT), VFS);
        assert_int_equal(function_field(device, i, VIRTUAL_FUNCTION_PORT_GUID), FUNCTION_GUIDS + i);
        assert_int_equal(function_field(device, i, VIRTUAL_FUNCTION_NODE_GUID), ADAPTER_GUID);
        assert_int_equal(function_field(device, i, VIRTUAL_FUNCTION_LID), 0);
        assert_int_equal(function_field(device, i, VIRTUAL_FUNCTION_ATTACHED), i == 0);
    }
    assert_int_equal(get_through(&device->vswitch, 1, ATTRIBUTE_VIRTUAL_FUNCTION, VFS + 1, data),
                     STATUS_BAD_VALUE);
    assert_int_equal(get_through(&device->vswitch, 1, ATTRIBUTE_VIRTUAL_FUNCTION, UINT32_MAX, data),
                     STATUS_BAD_VALUE);
    release(device);
}

static void one_set_configures_lid_and_guid_of_a_function(void **state)
{
    struct device *device = a_plain_device();
    struct sma *function = &device->functions[2];
    struct sma_output output;
    assert_false(sma_needs_link(function));
    assert_int_equal(set_function(device, 2, 40, 1, 0xABC, true), STATUS_OK);
    assert_int_equal(port_field(function, 1, PORT_INFO_LID), 40);
    assert_int_equal(port_field(function, 1, PORT_INFO_LMC), 1);
    assert_int_equal(function->ports[1].guids[0], 0xABC);
    assert_int_equal(function_field(device, 2, VIRTUAL_FUNCTION_LID), 40);
    assert_int_equal(function_field(device, 2, VIRTUAL_FUNCTION_PORT_GUID), 0xABC);
    assert_int_equal(function_field(device, 2, VIRTUAL_FUNCTION_ATTACHED), 1);
    check_name(device, 2, 'n');
    check_name(device, 1, 0);
    assert_true(sma_needs_link(function));
    assert_true(sma_next_output(&device->vswitch, 0, &output));
    assert_int_equal(output.kind, SMA_FUNCTION);
    assert_int_equal(output.port, VSWITCH_PF + 2);
    no_output(&device->vswitch, 0);
    /* One Set removes them: the initial GUID is back. */
    assert_int_equal(set_function(device, 2, 0, 0, 0, false), STATUS_OK);
    assert_int_equal(port_field(function, 1, PORT_INFO_LID), 0);
    assert_int_equal(port_field(function, 1, PORT_INFO_LMC), 0);
    assert_int_equal(function->ports[1].guids[0], FUNCTION_GUIDS + 2);
    assert_int_equal(function_field(device, 2, VIRTUAL_FUNCTION_ATTACHED), 0);
    check_name(device, 2, 0);
    assert_false(sma_needs_link(function));
    assert_true(sma_next_output(&device->vswitch, 0, &output));
    assert_int_equal(output.kind, SMA_FUNCTION);
    no_output(&device->vswitch, 0);
    release(device);
}

static void invalid_settings_are_refused_and_change_nothing(void **state)
{
    struct device *device = a_plain_device();
    set_lids(&device->functions[0], 1, 8, MANAGER);
    assert_int_equal(set_function(device, 1, 16, 2, 0x111, true), STATUS_OK);
    struct sma_output output;
    while (sma_next_output(&device->vswitch, 0, &output))
        ;
    const struct {
        unsigned number, lid, lmc;
    } bad[] = {
        {0, 50, 0},       /* set by PortInfo of the physical function */
        {VFS + 1, 50, 0}, /* no such function */
        {2, 0xC000, 0},   /* multicast */
        {2, 50, 2},       /* not a multiple of four */
        {2, 8, 0},        /* LID of the physical function */
        {2, 18, 0},       /* within the range of another function */
        {2, 16, 4},       /* its range contains another one */
    };
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(set_function(device, bad[i].number, bad[i].lid, bad[i].lmc, 0x222, true),
                         STATUS_BAD_VALUE);
        for (unsigned f = 0; f <= VFS; f++) {
            assert_int_equal(port_field(&device->functions[f], 1, PORT_INFO_LID), f == 0   ? 8
                                                                                  : f == 1 ? 16
                                                                                           : 0);
            assert_int_equal(device->functions[f].ports[1].guids[0],
                             f == 1 ? 0x111 : FUNCTION_GUIDS + f);
        }
        no_output(&device->vswitch, 0);
    }
    assert_int_equal(set_function(device, 1, 16, 0, 0x111, true),
                     STATUS_OK); /* the same LID again */
    assert_int_equal(set_function(device, 2, 18, 1, 0x222, true), STATUS_OK);
    release(device);
}

static void the_lft_follows_the_lids_of_the_functions(void **state)
{
    struct device *device = a_plain_device();
    uint8_t block[SMP_DATA_BYTES];
    set_lids(&device->functions[0], 1, 100, MANAGER);
    assert_int_equal(set_function(device, 1, 64, 2, 0, true), STATUS_OK);
    assert_int_equal(set_function(device, 3, 7, 0, 0, true), STATUS_OK);
    for (unsigned lid = 1; lid < 49152; lid++) {
        unsigned expected = lid == 100              ? VSWITCH_PF
                            : lid >= 64 && lid < 68 ? VSWITCH_PF + 1
                            : lid == 7              ? VSWITCH_PF + 3
                                                    : VSWITCH_UPLINK;
        assert_int_equal(sma_route_unicast(&device->vswitch, lid), expected);
        assert_int_equal(sma_linear_table(&device->vswitch)[lid], expected);
        if (lid < 256)
            assert_int_equal(entry(device, lid), expected);
    }
    assert_int_equal(entry(device, 0), 0xFF);
    assert_int_equal(sma_route_unicast(&device->vswitch, 0xC001), 0xFF);
    /* A write has no effect, and the response has the current entries. */
    memset(block, 5, sizeof block);
    assert_int_equal(set_through(&device->vswitch, 1, ATTRIBUTE_LINEAR_FORWARDING_TABLE, 1, block),
                     STATUS_OK);
    assert_int_equal(block[0], VSWITCH_PF + 1);
    assert_int_equal(block[4], VSWITCH_UPLINK);
    assert_int_equal(entry(device, 64), VSWITCH_PF + 1);
    /* A LID that is removed, and one that is set by PortInfo. */
    assert_int_equal(set_function(device, 1, 0, 0, 0, false), STATUS_OK);
    assert_int_equal(entry(device, 65), VSWITCH_UPLINK);
    assert_int_equal(set_port_field(&device->functions[3], 1, PORT_INFO_LID, 65), STATUS_OK);
    assert_int_equal(entry(device, 65), VSWITCH_PF + 3);
    assert_int_equal(entry(device, 7), VSWITCH_UPLINK);
    assert_int_equal(sma_linear_table(&device->vswitch)[65], VSWITCH_PF + 3);
    release(device);
}

static void multicast_reaches_every_function_with_a_link(void **state)
{
    struct device *device = a_plain_device();
    sma_link_up(&device->vswitch, VSWITCH_UPLINK, 2, 4, 8, false);
    sma_link_up(&device->vswitch, VSWITCH_PF, 2, 4, 8, false);
    assert_int_equal(set_function(device, 2, 64, 0, 0, true), STATUS_OK);
    sma_link_up(&device->vswitch, VSWITCH_PF + 2, 2, 4, 8, false);
    for (unsigned port = 0; port <= PORTS; port++) {
        assert_int_equal(sma_route_multicast(&device->vswitch, LID_MULTICAST_FIRST + 5, port),
                         port == VSWITCH_UPLINK || port == VSWITCH_PF || port == VSWITCH_PF + 2);
        assert_false(sma_route_multicast(&device->vswitch, 64, port));
    }
    release(device);
}

static void a_virtual_switch_ignores_writes_to_its_lft(void **state)
{
    struct sma_options options = plain_options();
    options.linear_entries = 0; /* other switches would have a random table */
    struct device *device = a_device(&options);
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_null(device->vswitch.linear);
    assert_int_equal(get_through(&device->vswitch, 1, ATTRIBUTE_SWITCH_INFO, 0, data), STATUS_OK);
    assert_int_equal(wire_get(data, SWITCH_INFO_LINEAR_FDB_CAP), 49152);
    assert_int_equal(wire_get(data, SWITCH_INFO_LINEAR_FDB_TOP), 49151);
    wire_set(data, SWITCH_INFO_LINEAR_FDB_TOP, 10);
    assert_int_equal(set_through(&device->vswitch, 1, ATTRIBUTE_SWITCH_INFO, 0, data), STATUS_OK);
    assert_int_equal(wire_get(data, SWITCH_INFO_LINEAR_FDB_TOP), 10);
    assert_int_equal(sma_route_unicast(&device->vswitch, 11), VSWITCH_UPLINK);
    assert_int_equal(get_through(&device->vswitch, 1, ATTRIBUTE_RANDOM_FORWARDING_TABLE, 0, data),
                     STATUS_BAD_VALUE);
    release(device);
}

static void the_switch_and_the_physical_function_share_a_lid(void **state)
{
    struct device *device = a_plain_device();
    struct sma *vswitch = &device->vswitch, *pf = &device->functions[0];
    assert_int_equal(set_port_field(pf, 1, PORT_INFO_LID, 12), STATUS_OK);
    assert_int_equal(port_field(vswitch, 0, PORT_INFO_LID), 12);
    assert_int_equal(set_port_field(vswitch, 0, PORT_INFO_LID, 24), STATUS_OK);
    assert_int_equal(port_field(pf, 1, PORT_INFO_LID), 24);
    assert_int_equal(entry(device, 24), VSWITCH_PF);
    assert_int_equal(entry(device, 12), VSWITCH_UPLINK);
    /* Only the physical function has an LMC, of which the shared LID must be a multiple. */
    assert_int_equal(set_port_field(pf, 1, PORT_INFO_LMC, 2), STATUS_OK);
    assert_int_equal(port_field(vswitch, 0, PORT_INFO_LMC), 0);
    assert_int_equal(entry(device, 27), VSWITCH_PF);
    assert_int_equal(set_port_field(vswitch, 0, PORT_INFO_LID, 26), STATUS_BAD_VALUE);
    assert_int_equal(port_field(pf, 1, PORT_INFO_LID), 24);
    assert_int_equal(set_port_field(vswitch, 0, PORT_INFO_LID, 28), STATUS_OK);
    assert_int_equal(entry(device, 31), VSWITCH_PF);
    release(device);
}

static void a_function_comes_up_with_the_settings_of_the_pf(void **state)
{
    struct device *device = a_plain_device();
    struct sma *pf = &device->functions[0], *vf = &device->functions[1];
    uint8_t keys[SMP_DATA_BYTES] = {0}, map[SMP_DATA_BYTES] = {0};
    set_lids(pf, 1, 5, MANAGER);
    set_port_field(pf, 1, PORT_INFO_SUBNET_TIME_OUT, 11);
    set_port_field(pf, 1, PORT_INFO_M_KEY_LEASE_PERIOD, 33);
    set_port_field(pf, 1, PORT_INFO_NEIGHBOR_MTU, 3);
    set_port_field(pf, 1, PORT_INFO_OPERATIONAL_VLS, 2);
    set_port_field(&device->vswitch, VSWITCH_PF, PORT_INFO_OPERATIONAL_VLS, 2);
    wire_set_at(keys, P_KEY_TABLE_P_KEY, 0, 0x7FFF);
    wire_set_at(keys, P_KEY_TABLE_P_KEY, 1, 0x8123);
    assert_int_equal(set_through(pf, 1, ATTRIBUTE_P_KEY_TABLE, 0, keys), STATUS_OK);
    wire_set_at(map, SL2VL_TABLE_VL, 3, 1);
    assert_int_equal(set_through(pf, 1, ATTRIBUTE_SL2VL_TABLE, 0, map), STATUS_OK);
    assert_int_equal(
        set_through(&device->vswitch, 1, ATTRIBUTE_SL2VL_TABLE, 1 << 8 | VSWITCH_PF, map),
        STATUS_OK);
    set_port_field(pf, 1, PORT_INFO_M_KEY, 0x1234);
    assert_int_equal(set_function(device, 1, 6, 0, 0, true), STATUS_OK);
    assert_int_equal(port_field(vf, 1, PORT_INFO_MASTER_SM_LID), MANAGER);
    assert_int_equal(port_field(vf, 1, PORT_INFO_SUBNET_TIME_OUT), 11);
    assert_int_equal(port_field(vf, 1, PORT_INFO_M_KEY), 0x1234);
    assert_int_equal(port_field(vf, 1, PORT_INFO_M_KEY_LEASE_PERIOD), 33);
    assert_int_equal(port_field(vf, 1, PORT_INFO_NEIGHBOR_MTU), 3);
    assert_int_equal(port_field(vf, 1, PORT_INFO_OPERATIONAL_VLS), 2);
    assert_int_equal(port_field(&device->vswitch, VSWITCH_PF + 1, PORT_INFO_OPERATIONAL_VLS), 2);
    assert_true(sma_accepts_p_key(vf, 1, 0x8123));
    assert_false(sma_accepts_p_key(vf, 1, 0x7FFF));
    assert_int_equal(sma_map_sl(vf, 0, 1, 3), 1);
    assert_int_equal(sma_map_sl(&device->vswitch, 1, VSWITCH_PF + 1, 3), 1);
    assert_int_equal(sma_map_sl(&device->vswitch, 1, VSWITCH_PF + 2, 3), 3);
    /* A new address does not change that. */
    wire_set(vf->ports[1].info, PORT_INFO_SUBNET_TIME_OUT, 12);
    assert_int_equal(set_function(device, 1, 7, 0, 0, true), STATUS_OK);
    assert_int_equal(port_field(vf, 1, PORT_INFO_SUBNET_TIME_OUT), 12);
    release(device);
}

static void functions_come_up_and_go_down_without_a_trap(void **state)
{
    struct device *device = a_plain_device();
    struct sma *vswitch = &device->vswitch, *vf = &device->functions[1];
    struct sma_output output;
    set_lids(vswitch, 0, 5, MANAGER);
    assert_int_equal(set_function(device, 1, 6, 0, 0, true), STATUS_OK);
    assert_true(sma_next_output(vswitch, 0, &output));
    sma_function_up(vswitch, output.port, 2, 1, 0, false);
    sma_function_up(vf, 1, 2, 1, 0, false);
    assert_int_equal(sma_port_state(vswitch, VSWITCH_PF + 1), PORT_STATE_ACTIVE);
    assert_int_equal(sma_port_state(vf, 1), PORT_STATE_ACTIVE);
    assert_int_equal(set_function(device, 1, 0, 0, 0, false), STATUS_OK);
    assert_true(sma_next_output(vswitch, 0, &output));
    sma_link_down(vswitch, output.port, PHYSICAL_POLLING);
    sma_link_down(vf, 1, PHYSICAL_POLLING);
    assert_int_equal(sma_port_state(vswitch, VSWITCH_PF + 1), PORT_STATE_DOWN);
    no_output(vswitch, 0);
    assert_int_equal(wire_get(vswitch->switch_info, SWITCH_INFO_PORT_STATE_CHANGE), 0);
    /* A failure of the link raises a trap. */
    assert_int_equal(set_function(device, 1, 6, 0, 0, true), STATUS_OK);
    assert_true(sma_next_output(vswitch, 0, &output));
    sma_function_up(vswitch, output.port, 2, 1, 0, false);
    sma_link_down(vswitch, output.port, PHYSICAL_POLLING);
    assert_int_equal(wire_get(vswitch->switch_info, SWITCH_INFO_PORT_STATE_CHANGE), 1);
    next_trap(vswitch, 0, &output);
    release(device);
}

static void a_repress_at_the_shared_lid_reaches_both_agents(void **state)
{
    struct device *device = a_plain_device();
    struct sma_output output;
    uint8_t mad[MAD_BYTES];
    set_lids(&device->functions[0], 1, 5, MANAGER);
    sma_report_capability(&device->functions[0], 1, 2, 0);
    next_trap(&device->functions[0], 0, &output);
    memcpy(mad, output.mad, sizeof mad);
    wire_set(mad, MAD_METHOD, METHOD_TRAP_REPRESS);
    assert_int_equal(sma_receive(&device->vswitch, 0, 1, SENDER, mad), SMA_DROP);
    assert_int_equal(sma_deadline(&device->functions[0]), TIME_NEVER);
    release(device);
}

static void at_the_shared_lid_requests_to_agents_reach_the_switch(void **state)
{
    uint8_t mad[MAD_BYTES];
    smp_fill(mad, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    assert_true(sma_is_for_switch(mad));
    smp_fill(mad, METHOD_GET, ATTRIBUTE_SM_INFO, 0);
    assert_false(sma_is_for_switch(mad));
    smp_fill(mad, METHOD_TRAP, ATTRIBUTE_NOTICE, 0);
    assert_false(sma_is_for_switch(mad));
    smp_fill(mad, METHOD_GET_RESP, ATTRIBUTE_NODE_INFO, 0);
    assert_false(sma_is_for_switch(mad));
    smp_fill(mad, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    wire_set(mad, MAD_CLASS, CLASS_PERFORMANCE);
    assert_false(sma_is_for_switch(mad));
    smp_fill(mad, METHOD_GET, ATTRIBUTE_SM_INFO, 0); /* the directed part begins here */
    wire_set(mad, MAD_CLASS, CLASS_SUBN_DIRECTED);
    wire_set(mad, SMP_HOP_COUNT, 1);
    assert_true(sma_is_for_switch(mad));
    wire_set(mad, SMP_HOP_POINTER, 2); /* the directed part ends here */
    assert_false(sma_is_for_switch(mad));
}

static void a_device_without_functions_refuses_requests(void **state)
{
    struct sma sma;
    struct sma_options options = plain_options();
    uint8_t data[SMP_DATA_BYTES] = {0};
    for (uint8_t ports = 1; ports <= 3; ports++) {
        sma_init(&sma,
                 &(struct sma_identity){.kind = SWITCH,
                                        .port_count = ports,
                                        .device_id = VSWITCH_DEVICE_ID,
                                        .description = ""},
                 &options);
        assert_int_equal(get_through(&sma, 1, ATTRIBUTE_VIRTUAL_FUNCTION, 0, data),
                         STATUS_BAD_VALUE);
        assert_int_equal(set_through(&sma, 1, ATTRIBUTE_VIRTUAL_FUNCTION, 1, data),
                         STATUS_BAD_VALUE);
        assert_int_equal(set_port_field(&sma, 0, PORT_INFO_LID, 3), STATUS_OK);
        assert_int_equal(sma_route_unicast(&sma, 3), VSWITCH_UPLINK);
        sma_release(&sma);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_virtual_switches_have_functions),
        cmocka_unit_test(get_virtual_function_returns_the_state_of_a_function),
        cmocka_unit_test(one_set_configures_lid_and_guid_of_a_function),
        cmocka_unit_test(invalid_settings_are_refused_and_change_nothing),
        cmocka_unit_test(the_lft_follows_the_lids_of_the_functions),
        cmocka_unit_test(multicast_reaches_every_function_with_a_link),
        cmocka_unit_test(a_virtual_switch_ignores_writes_to_its_lft),
        cmocka_unit_test(the_switch_and_the_physical_function_share_a_lid),
        cmocka_unit_test(a_function_comes_up_with_the_settings_of_the_pf),
        cmocka_unit_test(functions_come_up_and_go_down_without_a_trap),
        cmocka_unit_test(a_repress_at_the_shared_lid_reaches_both_agents),
        cmocka_unit_test(at_the_shared_lid_requests_to_agents_reach_the_switch),
        cmocka_unit_test(a_device_without_functions_refuses_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
