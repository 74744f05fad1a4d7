#include "support.h"

#include <errno.h>

static void a_link_is_the_same_from_both_ends(void **state)
{
    struct topology topology;
    uint32_t a, b;
    topology_init(&topology);
    assert_int_equal(topology_add_node(&topology, NODE_SWITCH, "a", 4, 0, &a, NULL), 0);
    assert_int_equal(topology_add_node(&topology, NODE_ADAPTER, "b", 2, 0, &b, NULL), 0);
    uint32_t x = topology_port_index(&topology, a, 3), y = topology_port_index(&topology, b, 2);
    assert_int_equal(topology_link(&topology, x, y, NULL), 0);
    assert_linked(&topology, "a", 3, "b", 2);
    assert_int_equal(topology_port_number(&topology, x), 3);
    assert_int_equal(topology.ports.items[x].node, a);
    topology_release(&topology);
}

static void a_port_takes_one_link_and_port_0_none(void **state)
{
    struct topology topology;
    struct err err;
    uint32_t a, b;
    topology_init(&topology);
    topology_add_node(&topology, NODE_SWITCH, "a", 2, 0, &a, NULL);
    topology_add_node(&topology, NODE_SWITCH, "b", 2, 0, &b, NULL);
    uint32_t a0 = topology_port_index(&topology, a, 0), a1 = a0 + 1, a2 = a0 + 2;
    uint32_t b1 = topology_port_index(&topology, b, 1), b2 = b1 + 1;
    assert_int_equal(topology_link(&topology, a1, b1, &err), 0);
    assert_int_equal(topology_link(&topology, a1, b2, &err), -EBUSY);
    assert_int_equal(topology_link(&topology, a2, b1, &err), -EBUSY);
    assert_int_equal(topology_link(&topology, a0, b2, &err), -EINVAL);
    assert_int_equal(topology_link(&topology, a2, a2, &err), -EINVAL);
    assert_int_equal(topology_link(&topology, a2, 1000, &err), -EINVAL);
    assert_int_equal(topology.ports.items[a2].peer, TOPOLOGY_NONE);
    assert_int_equal(topology.ports.items[b2].peer, TOPOLOGY_NONE);
    topology_release(&topology);
}

static void names_and_guids_are_unique(void **state)
{
    struct topology topology;
    struct err err;
    topology_init(&topology);
    assert_int_equal(topology_add_node(&topology, NODE_ADAPTER, "a", 2, 0x10, NULL, &err), 0);
    assert_int_equal(topology_add_node(&topology, NODE_ADAPTER, "a", 2, 0x20, NULL, &err), -EEXIST);
    assert_int_equal(topology_add_node(&topology, NODE_SWITCH, "b", 2, 0x10, NULL, &err), -EEXIST);
    assert_int_equal(topology_add_node(&topology, NODE_SWITCH, "b", 2, 0x12, NULL, &err), -EEXIST);
    assert_int_equal(topology_add_node(&topology, NODE_ADAPTER, "b", 2, 0xe, NULL, &err), -EEXIST);
    assert_int_equal(topology.nodes.count, 1);
    assert_int_equal(topology.ports.count, 3);
    assert_int_equal(topology_add_node(&topology, NODE_SWITCH, "b", 2, 0x13, NULL, &err), 0);
    topology_release(&topology);
}

static void unnamed_guids_follow_ibsim(void **state)
{
    struct topology topology;
    topology_init(&topology);
    topology_add_node(&topology, NODE_SWITCH, "s0", 8, 0, NULL, NULL);
    topology_add_node(&topology, NODE_ADAPTER, "h0", 2, 0, NULL, NULL);
    topology_add_node(&topology, NODE_SWITCH, "s1", 8, 0, NULL, NULL);
    topology_add_node(&topology, NODE_ADAPTER, "h1", 1, 0, NULL, NULL);
    topology_add_node(&topology, NODE_ADAPTER, NULL, 1, 0, NULL, NULL);
    assert_int_equal(topology.nodes.items[0].guid, 0x200000);
    assert_int_equal(port_of(&topology, "s0", 0)->guid, 0x200000);
    assert_int_equal(topology.nodes.items[1].guid, 0x100000);
    assert_int_equal(port_of(&topology, "h0", 2)->guid, 0x100002);
    assert_int_equal(topology.nodes.items[2].guid, 0x200001);
    assert_int_equal(topology.nodes.items[3].guid, 0x100003);
    assert_string_equal(topology.nodes.items[4].name, "H-0000000000100005");
    topology_release(&topology);
}

static void nodes_are_found_by_name_guid_and_description(void **state)
{
    struct topology topology;
    uint32_t a, b;
    topology_init(&topology);
    topology_add_node(&topology, NODE_SWITCH, "a", 2, 0x77, &a, NULL);
    topology_add_node(&topology, NODE_ADAPTER, "b", 2, 0x88, &b, NULL);
    topology_set_description(&topology, a, "leaf", 4);
    assert_int_equal(topology_find(&topology, "a"), a);
    assert_int_equal(topology_find(&topology, "0x77"), a);
    assert_int_equal(topology_find(&topology, "0x8a"), b);
    assert_int_equal(topology_find(&topology, "leaf"), a);
    assert_int_equal(topology_find(&topology, "0x99"), TOPOLOGY_NONE);
    topology_set_description(&topology, b, "leaf", 4);
    assert_int_equal(topology_find(&topology, "leaf"), TOPOLOGY_NONE);
    topology_release(&topology);
}

static void all_labels_are_those_of_single_nodes(void **state)
{
    static const char *const descriptions[] = {"leaf", "leaf", "spine", "",
                                               "n5",   "leaf", "0x101", "0xzz"};
    enum { NODES = sizeof descriptions / sizeof *descriptions };
    struct topology topology;
    topology_init(&topology);
    for (uint32_t i = 0; i < NODES; i++) {
        char name[8];
        uint32_t node;
        snprintf(name, sizeof name, "n%u", i);
        topology_add_node(&topology, NODE_SWITCH, name, 2, 0x100 + i, &node, NULL);
        topology_set_description(&topology, node, descriptions[i], strlen(descriptions[i]));
    }
    const char **labels = topology_labels(&topology);
    for (uint32_t i = 0; i < NODES; i++)
        assert_string_equal(labels[i], topology_label(&topology, i));
    assert_string_equal(labels[1], "n1");
    assert_string_equal(labels[2], "spine");
    mem_free(labels);
    topology_release(&topology);
}

static void descriptions_keep_64_bytes_and_whole_characters(void **state)
{
    struct topology topology;
    uint32_t a;
    char text[80];
    memset(text, 'x', sizeof text);
    memcpy(text + 62, "\xe2\x82\xac", 3);
    topology_init(&topology);
    topology_add_node(&topology, NODE_SWITCH, "a", 2, 0, &a, NULL);
    topology_set_description(&topology, a, text, sizeof text);
    assert_int_equal(strlen(topology.nodes.items[a].description), 62);
    text[62] = text[63] = text[64] = 'y';
    topology_set_description(&topology, a, text, sizeof text);
    assert_int_equal(strlen(topology.nodes.items[a].description), 64);
    topology_set_description(&topology, a, "a\nb\tc", 5);
    assert_string_equal(topology.nodes.items[a].description, "a?b?c");
    topology_release(&topology);
}

static void limits_are_enforced(void **state)
{
    struct topology topology;
    struct err err;
    char name[300];
    memset(name, 'n', sizeof name);
    name[256] = '\0';
    topology_init(&topology);
    assert_int_equal(topology_add_node(&topology, NODE_SWITCH, "a", 255, 0, NULL, &err), -EINVAL);
    assert_int_equal(topology_add_node(&topology, NODE_SWITCH, "a", 0, 0, NULL, &err), -EINVAL);
    assert_int_equal(topology_add_node(&topology, NODE_SWITCH, "", 4, 0, NULL, &err), -EINVAL);
    assert_int_equal(topology_add_node(&topology, NODE_SWITCH, "a\"b", 4, 0, NULL, &err), -EINVAL);
    assert_int_equal(topology_add_node(&topology, NODE_SWITCH, name, 4, 0, NULL, &err), -EINVAL);
    assert_int_equal(topology.nodes.count, 0);
    name[255] = '\0';
    assert_int_equal(topology_add_node(&topology, NODE_SWITCH, name, 254, 0, NULL, &err), 0);
    topology_release(&topology);
}

static void link_rates_are_those_of_the_specification(void **state)
{
    enum link_width width;
    enum link_speed speed;
    assert_int_equal(link_data_rate(WIDTH_1X, SPEED_SDR), 2000000000);
    assert_int_equal(link_data_rate(WIDTH_4X, SPEED_QDR), 32000000000);
    assert_int_equal(link_data_rate(WIDTH_4X, SPEED_EDR), 100000000000);
    assert_int_equal(link_data_rate(WIDTH_2X, SPEED_NDR), 200000000000);
    assert_int_equal(link_data_rate(WIDTH_12X, SPEED_FDR10), 120000000000);
    assert_true(link_width_parse("12X", &width) && width == WIDTH_12X);
    assert_true(link_speed_parse("hdr", &speed) && speed == SPEED_HDR);
    assert_false(link_width_parse("3x", &width));
    assert_false(link_speed_parse("", &speed));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_is_the_same_from_both_ends),
        cmocka_unit_test(a_port_takes_one_link_and_port_0_none),
        cmocka_unit_test(names_and_guids_are_unique),
        cmocka_unit_test(unnamed_guids_follow_ibsim),
        cmocka_unit_test(nodes_are_found_by_name_guid_and_description),
        cmocka_unit_test(all_labels_are_those_of_single_nodes),
        cmocka_unit_test(descriptions_keep_64_bytes_and_whole_characters),
        cmocka_unit_test(limits_are_enforced),
        cmocka_unit_test(link_rates_are_those_of_the_specification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
