/* Hosts that become hypervisors: their parts, unchanged nodes, and refused input. */
#include "support.h"

#include "topology/virtual.h"
#include "wire/vswitch.h"

#include <errno.h>

static struct topology generate(const char *words)
{
    struct topology topology;
    must_generate(&topology, words, 1);
    return topology;
}

static const struct topology_node *named(const struct topology *topology, const char *name)
{
    return &topology->nodes.items[must_find(topology, name)];
}

static const struct topology_port *peer_of(const struct topology *topology,
                                           const struct topology_node *node, unsigned port)
{
    const struct topology_port *at = &topology->ports.items[node->first_port + port];
    assert_int_not_equal(at->peer, TOPOLOGY_NONE);
    return &topology->ports.items[at->peer];
}

static void a_host_becomes_a_switch_with_functions_behind_it(void **state)
{
    struct topology before = generate("clos 3 2 4 speed=HDR length=7m");
    struct topology topology = generate("clos 3 2 4 speed=HDR length=7m");
    assert_int_equal(topology_virtualise(&topology, 3, UINT32_MAX, NULL), 0);
    assert_int_equal(topology.nodes.count, before.nodes.count + 8 * 4);
    for (uint32_t i = 0; i < before.nodes.count; i++) {
        const struct topology_node *old = &before.nodes.items[i], *new = &topology.nodes.items[i];
        char name[80];
        assert_string_equal(new->name, old->name);
        assert_string_equal(new->description, old->description);
        assert_int_equal(new->guid, old->guid);
        assert_int_equal(new->first_port, old->first_port);
        assert_int_equal(topology.ports.items[new->first_port + 1].guid,
                         before.ports.items[old->first_port + 1].guid);
        if (old->kind != NODE_ADAPTER)
            continue;
        snprintf(name, sizeof name, "%s-vswitch", old->name);
        const struct topology_node *vswitch = named(&topology, name);
        assert_int_equal(vswitch->kind, NODE_SWITCH);
        assert_int_equal(vswitch->device_id, VSWITCH_DEVICE_ID);
        assert_int_equal(vswitch->port_count, 5);
        assert_int_equal(vswitch->system_guid, old->system_guid);
        /* The cable as it was; inside short and as fast. */
        const struct topology_port *far = peer_of(&topology, vswitch, VSWITCH_UPLINK);
        uint32_t cable = before.ports.items[old->first_port + 1].peer;
        assert_int_equal(far - topology.ports.items, cable);
        assert_int_equal(far->length_mm, 7000);
        assert_int_equal(far->speed, SPEED_HDR);
        assert_int_equal(peer_of(&topology, vswitch, VSWITCH_PF)->node, i);
        for (unsigned v = 0; v <= 3; v++) {
            const struct topology_port *inside = peer_of(&topology, vswitch, VSWITCH_PF + v);
            const struct topology_node *function = &topology.nodes.items[inside->node];
            snprintf(name, sizeof name, "%s-vf%u", old->name, v);
            assert_string_equal(function->name, v ? name : old->name);
            assert_int_equal(function->kind, NODE_ADAPTER);
            assert_int_equal(inside->speed, SPEED_HDR);
            assert_in_range(inside->length_mm, 0, 10);
            assert_int_equal(topology_function(&topology, function->first_port + 1), v);
        }
    }
    topology_release(&before);
    topology_release(&topology);
}

static void a_hypervisor_is_written_and_read_without_loss(void **state)
{
    struct topology topology = generate("irregular 8 hosts=6 vfs=5"), copy;
    struct text text = {0};
    assert_survives_writing(&topology);
    topology_write_ibnetdiscover(&topology, &text);
    must_read(&copy, text.data);
    uint32_t vswitches = 0, functions = 0;
    for (uint32_t i = 0; i < copy.nodes.count; i++)
        vswitches += topology_is_vswitch(&copy, i);
    for (uint32_t i = 0; i < copy.ports.count; i++)
        functions += topology_function(&copy, i) >= 0;
    assert_int_equal(vswitches, 6);
    assert_int_equal(functions, 36);
    text_release(&text);
    topology_release(&topology);
    topology_release(&copy);
}

static void at_a_shared_port_functions_have_no_link(void **state)
{
    struct topology plain = generate("clos 3 2 4 speed=HDR length=7m");
    struct topology topology = generate("clos 3 2 4 speed=HDR length=7m vfs=3");
    uint64_t guid = named(&topology, "H2-vf1")->guid;
    topology_share_ports(&topology);
    assert_int_equal(topology.nodes.count, plain.nodes.count + 8 * 3);
    for (uint32_t port = 0; port < plain.ports.count;
         port++) { /* the network is that of plain hosts */
        const struct topology_port *a = &plain.ports.items[port], *b = &topology.ports.items[port];
        assert_int_equal(a->peer, b->peer);
        assert_int_equal(a->guid, b->guid);
        assert_int_equal(a->length_mm, b->length_mm);
        assert_int_equal(a->speed, b->speed);
    }
    const struct topology_node *pf = named(&topology, "H2"), *vf = named(&topology, "H2-vf3");
    assert_int_equal(topology_function(&topology, pf->first_port + 1), 0);
    assert_int_equal(topology_function(&topology, vf->first_port + 1), 3);
    assert_int_equal(topology.ports.items[vf->first_port + 1].peer, TOPOLOGY_NONE);
    assert_int_equal(topology.ports.items[vf->first_port + 1].shares, pf->first_port + 1);
    assert_int_equal(topology_function(&topology, named(&topology, "S0")->first_port + 1), -1);
    assert_int_equal(named(&topology, "H2-vf1")->guid, guid);
    topology_release(&plain);
    topology_release(&topology);
}

static void hypervisors_stay_as_they_are(void **state)
{
    struct topology topology = generate("ring 4 hosts=2 vfs=2 hypervisors=3");
    size_t count = topology.nodes.count;
    assert_int_equal(count, 4 + 8 + 3 * 3);
    assert_int_equal(topology_virtualise(&topology, 1, 0, NULL), 0);
    assert_int_equal(topology.nodes.count, count);
    assert_int_equal(topology_virtualise(&topology, 1, UINT32_MAX, NULL), 0); /* the other five */
    assert_int_equal(topology.nodes.count, count + 5 * 2);
    assert_int_equal(topology_virtualise(&topology, 1, UINT32_MAX, NULL), 0);
    assert_int_equal(topology.nodes.count, count + 5 * 2);
    topology_release(&topology);
}

static void only_adapters_with_one_cable_become_hypervisors(void **state)
{
    struct topology topology;
    uint32_t s, two, one, none;
    topology_init(&topology);
    assert_int_equal(topology_add_node(&topology, NODE_SWITCH, "s", 8, 0, &s, NULL), 0);
    assert_int_equal(topology_add_node(&topology, NODE_ADAPTER, "two", 2, 0, &two, NULL), 0);
    assert_int_equal(topology_add_node(&topology, NODE_ADAPTER, "one", 2, 0, &one, NULL), 0);
    assert_int_equal(topology_add_node(&topology, NODE_ADAPTER, "none", 1, 0, &none, NULL), 0);
    assert_int_equal(topology_link(&topology, topology_port_index(&topology, s, 1),
                                   topology_port_index(&topology, two, 1), NULL),
                     0);
    assert_int_equal(topology_link(&topology, topology_port_index(&topology, s, 2),
                                   topology_port_index(&topology, two, 2), NULL),
                     0);
    assert_int_equal(topology_link(&topology, topology_port_index(&topology, s, 3),
                                   topology_port_index(&topology, one, 2), NULL),
                     0);
    assert_int_equal(topology_virtualise(&topology, 1, UINT32_MAX, NULL), 0);
    assert_int_equal(topology.nodes.count, 4 + 2);
    assert_int_equal(topology_function(&topology, topology_port_index(&topology, one, 2)), 0);
    assert_int_equal(topology_function(&topology, topology_port_index(&topology, two, 1)), -1);
    topology_release(&topology);
}

static void names_that_are_in_use_or_too_long_are_changed(void **state)
{
    struct topology topology;
    uint32_t s, h, other;
    char name[TOPOLOGY_NAME_BYTES + 1];
    memset(name, 'x', TOPOLOGY_NAME_BYTES);
    name[TOPOLOGY_NAME_BYTES] = '\0';
    topology_init(&topology);
    assert_int_equal(topology_add_node(&topology, NODE_SWITCH, "s", 8, 0, &s, NULL), 0);
    assert_int_equal(topology_add_node(&topology, NODE_ADAPTER, name, 1, 0, &h, NULL), 0);
    assert_int_equal(topology_link(&topology, topology_port_index(&topology, s, 1),
                                   topology_port_index(&topology, h, 1), NULL),
                     0);
    assert_int_equal(topology_add_node(&topology, NODE_ADAPTER, "h", 1, 0, &h, NULL), 0);
    assert_int_equal(topology_link(&topology, topology_port_index(&topology, s, 2),
                                   topology_port_index(&topology, h, 1), NULL),
                     0);
    assert_int_equal(topology_add_node(&topology, NODE_ADAPTER, "h-vf1", 1, 0, &other, NULL), 0);
    assert_int_equal(topology_virtualise(&topology, 2, UINT32_MAX, NULL), 0);
    assert_int_equal(topology.nodes.count, 4 + 2 * 3);
    assert_int_equal(named(&topology, "h-vf1") - topology.nodes.items, other);
    named(&topology, "h-vf1.2");
    named(&topology, "h-vf2");
    for (uint32_t i = 4; i < 7; i++) {
        assert_int_equal(strlen(topology.nodes.items[i].name), TOPOLOGY_NAME_BYTES);
        assert_int_equal(strlen(topology.nodes.items[i].description), TOPOLOGY_DESCRIPTION_BYTES);
    }
    topology_release(&topology);
}

static void too_many_and_too_few_functions_are_refused(void **state)
{
    struct topology topology = generate("fattree 11664");
    size_t nodes = topology.nodes.count, ports = topology.ports.count;
    struct err err = {0};
    assert_int_equal(topology_virtualise(&topology, 0, UINT32_MAX, &err), -EINVAL);
    assert_int_equal(topology_virtualise(&topology, VSWITCH_VFS_LIMIT + 1, UINT32_MAX, &err),
                     -EINVAL);
    assert_int_equal(topology_virtualise(&topology, VSWITCH_VFS_LIMIT, UINT32_MAX, &err), -EFBIG);
    assert_non_null(strstr(err.message, "11664 hypervisors"));
    assert_int_equal(topology.nodes.count, nodes);
    assert_int_equal(topology.ports.count, ports);
    assert_int_equal(topology_virtualise(&topology, VSWITCH_VFS_LIMIT, 10, &err), 0);
    assert_int_equal(topology.nodes.count, nodes + 10 * (VSWITCH_VFS_LIMIT + 1));
    topology_release(&topology);
}

static void switch_and_physical_function_keep_the_lid_of_the_file(void **state)
{
    struct topology topology = generate("ring 3");
    uint32_t host = must_find(&topology, "H0");
    topology.ports.items[topology_port_index(&topology, host, 1)].lid = 44;
    assert_int_equal(topology_virtualise(&topology, 1, UINT32_MAX, NULL), 0);
    assert_int_equal(topology.ports.items[named(&topology, "H0-vswitch")->first_port].lid, 44);
    assert_int_equal(topology.ports.items[topology_port_index(&topology, host, 1)].lid, 44);
    assert_int_equal(topology.ports.items[named(&topology, "H0-vf1")->first_port + 1].lid, 0);
    topology_release(&topology);
}

static void removing_functions_restores_the_network(void **state)
{
    struct topology before = generate("clos 3 2 4 speed=HDR length=7m");
    struct topology topology = generate("clos 3 2 4 speed=HDR length=7m"), plain;
    struct virtual_counts counts;
    assert_int_equal(topology_virtualise(&topology, 3, 5, NULL), 0);
    topology_init(&plain);
    topology_without_functions(&plain, &topology, &counts);
    assert_int_equal(counts.hypervisors, 5);
    assert_int_equal(counts.functions, 15);
    assert_int_equal(plain.nodes.count, before.nodes.count);
    assert_int_equal(plain.ports.count, before.ports.count);
    for (uint32_t i = 0; i < plain.ports.count; i++) {
        assert_int_equal(plain.ports.items[i].peer, before.ports.items[i].peer);
        assert_int_equal(plain.ports.items[i].speed, before.ports.items[i].speed);
        if (before.nodes.items[before.ports.items[i].node].kind == NODE_SWITCH)
            assert_int_equal(plain.ports.items[i].length_mm, before.ports.items[i].length_mm);
    }
    topology_release(&plain);
    topology_release(&topology);
    topology_release(&before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_becomes_a_switch_with_functions_behind_it),
        cmocka_unit_test(a_hypervisor_is_written_and_read_without_loss),
        cmocka_unit_test(at_a_shared_port_functions_have_no_link),
        cmocka_unit_test(hypervisors_stay_as_they_are),
        cmocka_unit_test(only_adapters_with_one_cable_become_hypervisors),
        cmocka_unit_test(names_that_are_in_use_or_too_long_are_changed),
        cmocka_unit_test(too_many_and_too_few_functions_are_refused),
        cmocka_unit_test(switch_and_physical_function_keep_the_lid_of_the_file),
        cmocka_unit_test(removing_functions_restores_the_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
