/* Alias GUIDs: each is at one place, and the blocks of a port are wanted of it. */
#include "subnet/alias_guids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct world {
    struct subnet subnet;
    struct alias_guids aliases;
    struct alias_plan plan;
    uint32_t port;
};

/* One adapter with two ports; port 1 has GUID 0x11 and 16 places. */
static int open_world(void **state)
{
    struct world *world = mem_zalloc(1, sizeof *world);
    subnet_init(&world->subnet);
    uint32_t node = subnet_add_node(&world->subnet, 0x10, SUBNET_ADAPTER, 2);
    world->port = world->subnet.nodes.items[node].first_port + 1;
    struct subnet_port *port = &world->subnet.ports.items[world->port];
    port->guid = 0x11;
    port->known = true;
    wire_set(port->info, PORT_INFO_GUID_CAP, 16);
    *state = world;
    return 0;
}

static int close_world(void **state)
{
    struct world *world = *state;
    alias_plan_release(&world->plan);
    alias_guids_release(&world->aliases);
    subnet_release(&world->subnet);
    mem_free(world);
    return 0;
}

static void set(struct world *world, uint64_t port_guid, unsigned place, uint64_t guid)
{
    struct alias_guids *aliases = &world->aliases;
    alias_guids_set(aliases, alias_guids_add(aliases, port_guid, place / ALIAS_PLACES),
                    place % ALIAS_PLACES, guid);
    alias_plan_update(&world->plan, aliases, &world->subnet);
}

static uint64_t wanted(const struct world *world, uint32_t port, unsigned place)
{
    const uint8_t *block =
        blocks_wanted(&world->subnet.blocks, port, BLOCK_GUIDS, place / ALIAS_PLACES);
    return block ? wire_get_at(block, GUID_INFO_GUID, place % ALIAS_PLACES) : UINT64_MAX;
}

static void a_guid_is_at_one_place(void **state)
{
    struct world *world = *state;
    set(world, 0x11, 1, 0xA1);
    set(world, 0x11, 9, 0xA9);
    set(world, 0x12, 1, 0xB1);
    assert_int_equal(alias_guids_count(&world->aliases, 0x11), 2);
    assert_int_equal(alias_guids_port(&world->aliases, 0xA9), 0x11);
    set(world, 0x12, 2, 0xA9);
    assert_int_equal(alias_guids_port(&world->aliases, 0xA9), 0x12);
    assert_int_equal(alias_guids_find(&world->aliases, 0x11, 1)->guids[1], 0);
    assert_int_equal(alias_guids_count(&world->aliases, 0x11), 1);
    set(world, 0x11, 1, 0xA2);
    assert_int_equal(alias_guids_port(&world->aliases, 0xA1), 0);
    assert_int_equal(alias_guids_port(&world->aliases, 0xA2), 0x11);
    assert_null(alias_guids_find(&world->aliases, 0x12, 1));
}

static void blocks_are_wanted_of_the_port(void **state)
{
    struct world *world = *state;
    set(world, 0x11, 3, 0xA3);
    assert_int_equal(wanted(world, world->port, 0), 0x11);
    assert_int_equal(wanted(world, world->port, 3), 0xA3);
    assert_int_equal(wanted(world, world->port, 8), UINT64_MAX); /* not touched */
    assert_true(blocks_port_is_settled(&world->subnet.blocks, world->port));
    set(world, 0x11, 8, 0xA8);
    assert_int_equal(wanted(world, world->port, 8), 0xA8);
    set(world, 0x11, 16, 0xAF); /* beyond GUIDCap */
    assert_int_equal(wanted(world, world->port, 16), UINT64_MAX);
    set(world, 0x11, 3, 0);
    assert_int_equal(wanted(world, world->port, 0), 0x11);
    assert_int_equal(wanted(world, world->port, 3), 0);
}

static void blocks_follow_the_guid_of_the_port(void **state)
{
    struct world *world = *state;
    struct subnet_port *ports = world->subnet.ports.items;
    uint32_t other = world->port + 1;
    set(world, 0x11, 1, 0xA1);
    ports[world->port].guid = 0x99;
    ports[other].guid = 0x11;
    world->subnet.generation++;
    alias_plan_update(&world->plan, &world->aliases, &world->subnet);
    assert_int_equal(wanted(world, world->port, 1), UINT64_MAX);
    assert_int_equal(wanted(world, other, 1), UINT64_MAX); /* GUIDCap is not known yet */
    wire_set(ports[other].info, PORT_INFO_GUID_CAP, 8);
    ports[other].known = true;
    alias_plan_update(&world->plan, &world->aliases, &world->subnet);
    assert_int_equal(wanted(world, other, 1), 0xA1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_guid_is_at_one_place),
        TEST(blocks_are_wanted_of_the_port),
        TEST(blocks_follow_the_guid_of_the_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
