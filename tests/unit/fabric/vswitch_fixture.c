#include "vswitch_fixture.h"

#include "topology/virtual.h"

static void make_topology(struct cloud *cloud)
{
    struct world *world = &cloud->world;
    cloud->s = world_switch(world, 4);
    for (unsigned i = 0; i < 2; i++) {
        cloud->hosts[i].functions[0] = world_adapter(world, 1);
        world_link(world, cloud->s, i + 1, cloud->hosts[i].functions[0], 1);
    }
    cloud->m = world_adapter(world, 1);
    world_link(world, cloud->s, 3, cloud->m, 1);
    uint32_t next = (uint32_t)world->topology.nodes.count;
    assert_int_equal(topology_virtualise(&world->topology, VFS, 2, NULL), 0);
    for (unsigned i = 0; i < 2; i++) {
        cloud->hosts[i].vswitch = next++;
        for (unsigned v = 1; v <= VFS; v++)
            cloud->hosts[i].functions[v] = next++;
        cloud->hosts[i].path = path_of(2, 1, i + 1);
    }
}

static void activate(struct cloud *cloud, const struct path *path, unsigned port)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(world_ask(&cloud->world, path, METHOD_GET, ATTRIBUTE_PORT_INFO, port, data),
                     0);
    if (wire_get(data, PORT_INFO_PORT_STATE) == PORT_STATE_ACTIVE)
        return;
    assert_int_equal(
        world_set_port(&cloud->world, path, port, PORT_INFO_PORT_STATE, PORT_STATE_ARMED), 0);
    assert_int_equal(
        world_set_port(&cloud->world, path, port, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE), 0);
}

static void give(struct cloud *cloud, const struct path *path, unsigned port, unsigned lid)
{
    assert_int_equal(world_set_port(&cloud->world, path, port, PORT_INFO_LID, lid), 0);
    assert_int_equal(world_set_port(&cloud->world, path, port, PORT_INFO_MASTER_SM_LID, LID_M), 0);
}

void cloud_route(struct cloud *cloud, unsigned lid, unsigned port)
{
    struct path path = path_of(1, 1);
    uint8_t data[SMP_DATA_BYTES];
    assert_int_equal(world_ask(&cloud->world, &path, METHOD_GET, ATTRIBUTE_LINEAR_FORWARDING_TABLE,
                               lid / 64, data),
                     0);
    data[lid % 64] = (uint8_t)port;
    assert_int_equal(world_ask(&cloud->world, &path, METHOD_SET, ATTRIBUTE_LINEAR_FORWARDING_TABLE,
                               lid / 64, data),
                     0);
}

void cloud_bring_up(struct cloud *cloud)
{
    struct world *world = &cloud->world;
    struct path self = path_of(0), s = path_of(1, 1);
    uint8_t data[SMP_DATA_BYTES] = {0};
    give(cloud, &self, 1, LID_M);
    give(cloud, &s, 0, LID_S);
    assert_int_equal(world_ask(world, &s, METHOD_GET, ATTRIBUTE_SWITCH_INFO, 0, data), 0);
    wire_set(data, SWITCH_INFO_LINEAR_FDB_TOP, 0xBFFF);
    assert_int_equal(world_ask(world, &s, METHOD_SET, ATTRIBUTE_SWITCH_INFO, 0, data), 0);
    cloud_route(cloud, LID_S, 0);
    cloud_route(cloud, LID_M, 3);
    cloud_route(cloud, LID_A, 1);
    cloud_route(cloud, LID_B, 2);
    activate(cloud, &self, 1);
    for (unsigned port = 1; port <= 3; port++)
        activate(cloud, &s, port);
    for (unsigned i = 0; i < 2; i++) {
        struct path pf = path_of(3, 1, i + 1, VSWITCH_PF);
        give(cloud, &pf, 1, i ? LID_B : LID_A);
        activate(cloud, &cloud->hosts[i].path, VSWITCH_UPLINK);
        activate(cloud, &cloud->hosts[i].path, VSWITCH_PF);
        activate(cloud, &pf, 1);
    }
    /* What the links' coming up has stirred is over, and is not a claim of these tests. */
    for (unsigned i = 0; i < 3; i++) {
        struct path path = i < 2 ? cloud->hosts[i].path : s;
        assert_int_equal(world_ask(world, &path, METHOD_GET, ATTRIBUTE_SWITCH_INFO, 0, data), 0);
        wire_set(data, SWITCH_INFO_PORT_STATE_CHANGE, 1);
        assert_int_equal(world_ask(world, &path, METHOD_SET, ATTRIBUTE_SWITCH_INFO, 0, data), 0);
    }
    world_settle(world);
}

void cloud_begin(struct cloud *cloud)
{
    memset(cloud, 0, sizeof *cloud);
    world_init(&cloud->world);
    cloud_begin_with(cloud);
}

void cloud_begin_with(struct cloud *cloud)
{
    make_topology(cloud);
    world_begin(&cloud->world, 1);
    cloud->world.manager = world_port(&cloud->world, cloud->m, 1);
    fabric_attach(cloud->world.fabric, cloud->world.manager);
    cloud_bring_up(cloud);
}

void cloud_end(struct cloud *cloud)
{
    world_end(&cloud->world);
}

int cloud_set_function(struct cloud *cloud, unsigned host, unsigned number, unsigned lid,
                       uint64_t guid)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    wire_set(data, VIRTUAL_FUNCTION_LID, lid);
    wire_set(data, VIRTUAL_FUNCTION_PORT_GUID, guid);
    wire_set(data, VIRTUAL_FUNCTION_ATTACHED, lid != 0);
    return world_ask(&cloud->world, &cloud->hosts[host].path, METHOD_SET,
                     ATTRIBUTE_VIRTUAL_FUNCTION, number, data);
}

void cloud_place(struct cloud *cloud, unsigned lid, unsigned host, unsigned number)
{
    assert_int_equal(cloud_set_function(cloud, host, number, lid, 0), 0);
    cloud_route(cloud, lid, host + 1);
}

uint32_t cloud_port(const struct cloud *cloud, unsigned host, unsigned number)
{
    return world_port(&cloud->world, cloud->hosts[host].functions[number], 1);
}

int cloud_ask(struct cloud *cloud, uint16_t lid, unsigned method, unsigned attribute,
              uint32_t modifier, uint8_t *data)
{
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery answer;
    mad_fill(mad, CLASS_SUBN_LID, method, attribute, modifier);
    memcpy(mad + SMP_DATA_OFFSET, data, SMP_DATA_BYTES);
    if (!world_exchange(&cloud->world, cloud->world.manager, lid, mad, &answer))
        return -1;
    assert_int_equal(answer.port, cloud->world.manager);
    assert_int_equal(wire_get(answer.mad, MAD_TID), wire_get(mad, MAD_TID));
    memcpy(data, answer.mad + SMP_DATA_OFFSET, SMP_DATA_BYTES);
    return (int)wire_get(answer.mad, MAD_STATUS);
}
