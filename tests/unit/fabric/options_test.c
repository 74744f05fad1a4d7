/* Attributes: presets, values by name, patterns, and error messages. */
#include "fixture.h"

static struct fabric_options preset(const char *name)
{
    struct fabric_options options;
    assert_int_equal(fabric_options_preset(&options, name, NULL), 0);
    return options;
}

static void refused(const char *key, const char *value, const char *part_of_message)
{
    struct fabric_options options = preset("today"), before = options;
    struct err err = {0};
    assert_true(fabric_options_set(&options, key, value, &err) < 0);
    if (!strstr(err.message, part_of_message))
        fail_msg("\"%s\" does not contain \"%s\"", err.message, part_of_message);
    assert_memory_equal(&options, &before, sizeof options);
}

static void there_are_two_presets(void **state)
{
    (void)state;
    struct fabric_options today = preset("today"), paper = preset("paper");
    assert_int_equal(today.node.agent.data_vls, 8);
    assert_int_equal(today.node.agent.linear_entries, 49152);
    assert_true(today.node.agent.traps);
    assert_false(today.node.agent.port_init);
    assert_int_equal(paper.node.agent.data_vls, 2);
    assert_int_equal(paper.node.agent.linear_entries, 1024);
    assert_int_equal(paper.node.agent.mtu, 256);
    assert_false(paper.node.agent.traps);
    assert_true(paper.node.agent.port_init);
    struct err err = {0};
    struct fabric_options untouched = today;
    assert_true(fabric_options_preset(&untouched, "tomorrow", &err) < 0);
    assert_non_null(strstr(err.message, "tomorrow"));
    assert_memory_equal(&untouched, &today, sizeof today);
}

static void values_are_set_by_name(void **state)
{
    (void)state;
    struct fabric_options options = preset("today");
    assert_int_equal(fabric_options_set(&options, "mtu", "2048", NULL), 0);
    assert_int_equal(fabric_options_set(&options, "data_vls", "15", NULL), 0);
    assert_int_equal(fabric_options_set(&options, "traps", "no", NULL), 0);
    assert_int_equal(fabric_options_set(&options, "vl15_buffer", "3", NULL), 0);
    assert_int_equal(fabric_options_set(&options, "sma", "1.5us", NULL), 0);
    assert_int_equal(fabric_options_set(&options, "smi_per_node", "20ps", NULL), 0);
    assert_int_equal(fabric_options_set(&options, "training", "0", NULL), 0);
    assert_int_equal(fabric_options_set(&options, "bus", "pcie4x16", NULL), 0);
    assert_int_equal(fabric_options_set(&options, "adapters:adapter_packet", "50ns", NULL), 0);
    assert_string_equal(host_bus_name(options.node.bus), "pcie4x16");
    assert_int_equal(fabric_options_for(&options, "H1", NULL, false).adapter_packet_ps, 50000);
    assert_int_equal(options.node.agent.mtu, 2048);
    assert_int_equal(options.node.agent.data_vls, 15);
    assert_false(options.node.agent.traps);
    assert_int_equal(options.node.vl15_buffer, 3);
    assert_int_equal(options.sma.base_ps, 1500 * TIME_NS);
    assert_int_equal(options.smi.per_node_ps, 20);
    assert_int_equal(options.training_ps, 0);
}

static void values_that_do_not_fit_are_refused_with_the_reason(void **state)
{
    (void)state;
    refused("bus", "pcie9x9", "pcie1x1 to pcie5x16");
    refused("colour", "red",
            "'colour' is not an attribute of a fabric; 'weft fabric --attributes' lists them");
    refused(
        "mut", "2048",
        "'mut' is not an attribute of a fabric; did you mean 'mtu'? 'weft fabric --attributes'");
    refused("bus", "pcie9x9", "pcie1x1 to pcie5x16");
    refused("mtu", "1000", "mtu: '1000' does not fit: expected 256, 512, 1024, 2048 or 4096 (");
    refused("mtu", "128", "mtu");
    refused("mtu", "8192", "mtu");
    refused("mtu", "", "mtu");
    refused("mtu", "2048x", "2048x");
    refused("data_vls", "3", "expected 1, 2, 4, 8 or 15 (");
    refused("data_vls", "16", "data_vls");
    refused("data_vls", "-1", "data_vls");
    refused("linear_entries", "65536", "linear_entries");
    refused("linear_entries", "100", "linear_entries");
    refused("p_keys", "0", "expected 32 to 4096 in steps of 32 (");
    refused("response_time", "32", "expected 0 to 31 (");
    refused("traps", "maybe", "expected yes or no (");
    refused("sma", "5", "expected a time such as 5us, up to 1s (");
    refused("sma", "5 us", "sma");
    refused("sma", "-1us", "sma");
    refused("sma", "2000000s", "sma");
    refused("vl15_buffer", "99999999999999999999", "vl15_buffer");
}

static void patterns_name_nodes_and_later_ones_win(void **state)
{
    (void)state;
    struct fabric_options options = preset("today");
    assert_int_equal(fabric_options_set(&options, "switches:mtu", "1024", NULL), 0);
    assert_int_equal(fabric_options_set(&options, "S1*:mtu", "512", NULL), 0);
    assert_int_equal(fabric_options_set(&options, "adapters:data_vls", "1", NULL), 0);
    assert_int_equal(fabric_options_set(&options, "S10:traps", "no", NULL), 0);
    assert_int_equal(fabric_options_for(&options, "S2", NULL, true).agent.mtu, 1024);
    assert_int_equal(fabric_options_for(&options, "S1", NULL, true).agent.mtu, 512);
    assert_int_equal(fabric_options_for(&options, "S10", NULL, true).agent.mtu, 512);
    assert_int_equal(fabric_options_for(&options, "H1", NULL, false).agent.mtu, 4096);
    assert_int_equal(fabric_options_for(&options, "H1", NULL, false).agent.data_vls, 1);
    assert_int_equal(fabric_options_for(&options, "S1", NULL, true).agent.data_vls, 8);
    assert_true(fabric_options_for(&options, "S1", NULL, true).agent.traps);
    assert_false(fabric_options_for(&options, "S10", NULL, true).agent.traps);
    assert_false(fabric_options_for(&options, "S-0000000000200000", "S10", true).agent.traps);
    assert_int_equal(fabric_options_set(&options, "switches:mtu", "256", NULL), 0);
    assert_int_equal(fabric_options_for(&options, "S1", NULL, true).agent.mtu, 256);
}

static void attributes_of_the_whole_fabric_take_no_pattern(void **state)
{
    (void)state;
    refused("switches:sma", "1us", "whole fabric");
    refused("switches:flight", "5ns", "whole fabric");
    refused("S1:colour", "red", "colour");
    refused("S1:mtu", "3", "mtu");
}

static void patterns_are_bounded(void **state)
{
    (void)state;
    char key[200];
    struct fabric_options options = preset("today");
    struct err err = {0};
    memset(key, 'x', sizeof key);
    strcpy(key + 150, ":mtu");
    assert_true(fabric_options_set(&options, key, "256", &err) < 0);
    for (unsigned i = 0; i < OVERRIDE_LIMIT; i++)
        assert_int_equal(fabric_options_set(&options, "S1:mtu", "256", NULL), 0);
    assert_true(fabric_options_set(&options, "S1:mtu", "256", &err) < 0);
}

static void every_attribute_is_listed(void **state)
{
    (void)state;
    struct fabric_options options = preset("paper");
    struct text text = {0};
    fabric_options_list(&options, &text);
    static const char *const some[] = {"data_vls",     "linear_entries", "response_time", "smi",
                                       "sma_per_node", "training",       "agent_buffer"};
    for (unsigned i = 0; i < sizeof some / sizeof some[0]; i++)
        assert_non_null(strstr(text.data, some[i]));
    assert_non_null(strstr(text.data,
                           "\nmtu                       256  256, 512, 1024, 2048 or 4096\n"
                           "    largest payload in bytes\n"));
    assert_non_null(strstr(text.data, "\ntraps                      no  yes or no\n"));
    text_release(&text);
}

static void attributes_of_a_node_appear_in_its_responses(void **state)
{
    (void)state;
    struct world world;
    uint8_t data[SMP_DATA_BYTES] = {0};
    world_init(&world);
    uint32_t manager = world_adapter(&world, 1), a = world_switch(&world, 4);
    world_link(&world, manager, 1, a, 1);
    static const char *const wanted[][2] = {{"switches:linear_entries", "0"},
                                            {"switches:random_entries", "512"},
                                            {"switches:multicast_entries", "64"},
                                            {"switches:p_keys", "96"},
                                            {"switches:mtu", "1024"},
                                            {"switches:data_vls", "4"},
                                            {"switches:response_time", "7"},
                                            {"switches:vl_arbitration", "16"},
                                            {"switches:guids", "16"}};
    for (unsigned i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        assert_int_equal(fabric_options_set(&world.options, wanted[i][0], wanted[i][1], NULL), 0);
    world_begin(&world, 1);
    world_find_paths(&world, world_port(&world, manager, 1));
    const struct path *path = world_path(&world, a);
    assert_int_equal(world_ask(&world, path, METHOD_GET, ATTRIBUTE_SWITCH_INFO, 0, data), 0);
    assert_int_equal(wire_get(data, SWITCH_INFO_LINEAR_FDB_CAP), 0);
    assert_int_equal(wire_get(data, SWITCH_INFO_RANDOM_FDB_CAP), 512);
    assert_int_equal(wire_get(data, SWITCH_INFO_MULTICAST_FDB_CAP), 64);
    assert_int_equal(wire_get(data, SWITCH_INFO_PARTITION_ENFORCEMENT_CAP), 96);
    assert_int_equal(world_ask(&world, path, METHOD_GET, ATTRIBUTE_PORT_INFO, 0, data), 0);
    assert_int_equal(wire_get(data, PORT_INFO_MTU_CAP), 3);
    assert_int_equal(wire_get(data, PORT_INFO_VL_CAP), 3);
    assert_int_equal(wire_get(data, PORT_INFO_RESP_TIME_VALUE), 7);
    assert_int_equal(wire_get(data, PORT_INFO_VL_ARBITRATION_HIGH_CAP), 16);
    assert_int_equal(wire_get(data, PORT_INFO_GUID_CAP), 16);
    assert_int_equal(world_info(&world, manager, 1, PORT_INFO_MTU_CAP), 5);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_are_two_presets),
        cmocka_unit_test(values_are_set_by_name),
        cmocka_unit_test(values_that_do_not_fit_are_refused_with_the_reason),
        cmocka_unit_test(patterns_name_nodes_and_later_ones_win),
        cmocka_unit_test(attributes_of_the_whole_fabric_take_no_pattern),
        cmocka_unit_test(patterns_are_bounded),
        cmocka_unit_test(every_attribute_is_listed),
        cmocka_unit_test(attributes_of_a_node_appear_in_its_responses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
