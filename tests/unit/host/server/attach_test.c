/* Attachments: the port of a name. */
#include "host/server/attach.h"
#include "two_switches.h"

#include <errno.h>

static int make(void **state)
{
    struct two_switches *world = mem_zalloc(1, sizeof *world);
    two_switches_make(world);
    *state = world;
    return 0;
}

static int end(void **state)
{
    two_switches_end(*state);
    mem_free(*state);
    return 0;
}

static struct attachment find(struct two_switches *world, const char *text)
{
    struct attachment attachment;
    struct err err = {0};
    if (attach_find(&world->topology, text, &attachment, &err) != 0)
        fail_msg("%s: %s", text, err.message);
    return attachment;
}

static void assert_not_found(struct two_switches *world, const char *text)
{
    struct attachment attachment;
    struct err err = {0};
    assert_int_equal(attach_find(&world->topology, text, &attachment, &err), -ENODEV);
    assert_true(err.message[0] != 0);
}

static void the_first_adapter_is_the_default(void **state)
{
    struct two_switches *world = *state;
    struct attachment attachment = find(world, "");
    assert_int_equal(attachment.node, world->a);
    assert_int_equal(find(world, NULL).node, world->a);
    assert_int_equal(attach_port(world->fabric, &attachment, 0),
                     two_switches_port(world, world->a, 1));
}

static void without_adapters_the_first_node_is_the_default(void **state)
{
    (void)state;
    struct topology topology;
    struct attachment attachment = {.node = 9};
    struct err err;
    topology_init(&topology);
    assert_int_equal(attach_find(&topology, "", &attachment, &err), -ENODEV);
    topology_add_node(&topology, NODE_SWITCH, "S", 2, 0, NULL, &err);
    assert_int_equal(attach_find(&topology, "", &attachment, &err), 0);
    assert_int_equal(attachment.node, 0);
    topology_release(&topology);
}

static void a_node_is_found_by_name_or_guid_and_a_port_by_its_number(void **state)
{
    struct two_switches *world = *state;
    char guid[32];
    snprintf(guid, sizeof guid, "0x%llx",
             (unsigned long long)world->topology.nodes.items[world->b].guid);
    assert_int_equal(find(world, "B").node, world->b);
    assert_int_equal(find(world, guid).node, world->b);
    struct attachment second = find(world, "A:2");
    assert_int_equal(attach_port(world->fabric, &second, 0), two_switches_port(world, world->a, 2));
    assert_int_equal(attach_port(world->fabric, &second, 1), two_switches_port(world, world->a, 1));
    assert_int_equal(attach_port(world->fabric, &second, 3), TOPOLOGY_NONE);
}

static void a_colon_can_be_part_of_a_name(void **state)
{
    (void)state;
    struct topology topology;
    struct attachment attachment;
    struct err err;
    topology_init(&topology);
    topology_add_node(&topology, NODE_ADAPTER, "rack:7", 2, 0, NULL, &err);
    assert_int_equal(attach_find(&topology, "rack:7", &attachment, &err), 0);
    assert_int_equal(attachment.port, 0);
    assert_int_equal(attach_find(&topology, "rack:7:2", &attachment, &err), 0);
    assert_int_equal(attachment.port, 2);
    topology_release(&topology);
}

static void of_a_switch_only_port_0_can_be_attached_to(void **state)
{
    struct two_switches *world = *state;
    struct attachment attachment = find(world, "S1");
    assert_int_equal(attach_port(world->fabric, &attachment, 0),
                     two_switches_port(world, world->s1, 0));
    assert_int_equal(attach_port(world->fabric, &attachment, 1), TOPOLOGY_NONE);
    assert_int_equal(find(world, "S1:0").node, world->s1);
    assert_not_found(world, "S1:1");
}

static void an_unknown_node_or_port_is_an_error(void **state)
{
    struct two_switches *world = *state;
    assert_not_found(world, "C");
    assert_not_found(world, "A:0");
    assert_not_found(world, "A:3");
    assert_not_found(world, "A:x");
    assert_not_found(world, ":1");
    assert_not_found(world, "A:1000000000000000000000");
}

static void the_best_port_is_the_one_that_is_up(void **state)
{
    struct two_switches *world = *state;
    struct attachment attachment = find(world, "A");
    struct answer_port answer;
    struct err err;
    uint32_t port = attach_port(world->fabric, &attachment, 0);
    attach_describe_port(world->fabric, port, &answer);
    assert_int_equal(answer.number, 1);
    assert_int_equal(answer.physical_state, PHYSICAL_LINK_UP);
    assert_int_equal(answer.rate, 10);
    assert_int_equal(fabric_set_link(world->fabric, port, false, &err), 0);
    attach_describe_port(world->fabric, port, &answer);
    assert_int_equal(answer.state, PORT_STATE_DOWN);
}

static void an_adapter_is_described_as_its_agent_would(void **state)
{
    struct two_switches *world = *state;
    struct answer_ca answer;
    attach_describe_ca(world->fabric, world->a, &answer);
    assert_int_equal(answer.node_type, NODE_ADAPTER);
    assert_int_equal(answer.port_count, 2);
    assert_true(answer.node_guid == world->topology.nodes.items[world->a].guid);
    attach_describe_ca(world->fabric, world->s0, &answer);
    assert_int_equal(answer.node_type, NODE_SWITCH);
    assert_int_equal(answer.port_count, 0);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, make, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM(the_first_adapter_is_the_default),
        CLAIM(without_adapters_the_first_node_is_the_default),
        CLAIM(a_node_is_found_by_name_or_guid_and_a_port_by_its_number),
        CLAIM(a_colon_can_be_part_of_a_name),
        CLAIM(of_a_switch_only_port_0_can_be_attached_to),
        CLAIM(an_unknown_node_or_port_is_an_error),
        CLAIM(the_best_port_is_the_one_that_is_up),
        CLAIM(an_adapter_is_described_as_its_agent_would),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
