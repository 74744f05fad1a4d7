#include "sa_world.h"

#include "topology/generators/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int status, const struct err *err)
{
    if (status == 0)
        return;
    fprintf(stderr, "sa_world: %s\n", err->message);
    abort();
}

static void fill_port(const struct topology_port *from, struct subnet_port *port)
{
    static const uint8_t speeds[SPEED_COUNT] = {1, 2, 4, 4, 4, 4, 4, 4, 4};
    static const uint8_t extended[SPEED_COUNT] = {
        [SPEED_FDR] = 1, [SPEED_EDR] = 2, [SPEED_HDR] = 4, [SPEED_NDR] = 8};
    uint8_t *info = port->info;
    bool linked = from->peer != TOPOLOGY_NONE;
    port->known = true;
    port->guid = from->guid;
    wire_set(info, PORT_INFO_GID_PREFIX, UINT64_C(0xFE80000000000000));
    wire_set(info, PORT_INFO_M_KEY, 0x1234);
    wire_set(info, PORT_INFO_MTU_CAP, 5);
    wire_set(info, PORT_INFO_NEIGHBOR_MTU, 5);
    wire_set(info, PORT_INFO_LOCAL_PORT_NUM, port->number);
    wire_set(info, PORT_INFO_LINK_WIDTH_ACTIVE, linked ? from->width : 0);
    wire_set(info, PORT_INFO_LINK_SPEED_ACTIVE, linked ? speeds[from->speed] : 0);
    wire_set(info, PORT_INFO_LINK_SPEED_EXT_ACTIVE, linked ? extended[from->speed] : 0);
    wire_set(info, PORT_INFO_LINK_SPEED_EXT2_ACTIVE, linked && from->speed == SPEED_XDR);
    wire_set(info, PORT_INFO_PORT_STATE, linked ? PORT_STATE_ACTIVE : PORT_STATE_DOWN);
    wire_set(info, PORT_INFO_GUID_CAP, 8);
}

static void fill_node(struct sa_world *world, const struct topology_node *from)
{
    struct subnet *subnet = world->subnet;
    uint32_t index = subnet_add_node(subnet, from->guid, from->kind, from->port_count);
    struct subnet_node *node = &subnet->nodes.items[index];
    node->system_guid = from->system_guid;
    node->partition_cap = 64;
    snprintf(node->description, sizeof node->description, "%s", from->description);
    for (unsigned number = 0; number <= from->port_count; number++)
        fill_port(&world->topology.ports.items[from->first_port + number],
                  &subnet->ports.items[node->first_port + number]);
    if (from->kind != NODE_SWITCH)
        return;
    wire_set(node->switch_info, SWITCH_INFO_MULTICAST_FDB_CAP, 1024);
    wire_set(node->switch_info, SWITCH_INFO_LINEAR_FDB_TOP, world->network.top_lid);
}

/* Sets LIDs and tables as a manager does. */
static void fill_addresses(struct sa_world *world)
{
    struct subnet *subnet = world->subnet;
    struct map by_guid = {0};
    for (uint32_t i = 0; i < subnet->ports.count; i++)
        if (subnet_is_end_port(subnet, i) && subnet->ports.items[i].guid)
            map_add(&by_guid, subnet->ports.items[i].guid, i);
    for (size_t i = 0; i < world->network.terminals.count; i++) {
        const struct network_terminal *terminal = &world->network.terminals.items[i];
        uint32_t port = map_get(&by_guid, terminal->guid);
        subnet_set_lid(subnet, port, terminal->lid, terminal->lmc);
        wire_set(subnet->ports.items[port].info, PORT_INFO_LID, terminal->lid);
    }
    for (uint32_t i = 0; i < world->network.switches.count; i++) {
        const struct network_switch *one = &world->network.switches.items[i];
        uint32_t node = map_get(&subnet->by_guid, one->guid);
        struct subnet_tables *tables = subnet->nodes.items[node].tables;
        subnet_set_lid(subnet, subnet->nodes.items[node].first_port, one->lid, 0);
        subnet_extend_tables(tables, LFT_ENTRIES);
        memcpy(tables->actual, routes_row(&world->routes, i), world->routes.stride);
        memset(tables->known, 0xFF, sizeof tables->known);
    }
    map_release(&by_guid);
}

static void fill_subnet(struct sa_world *world)
{
    const struct topology *topology = &world->topology;
    struct subnet *subnet = world->subnet;
    subnet_init(subnet);
    for (size_t i = 0; i < topology->nodes.count; i++)
        fill_node(world, &topology->nodes.items[i]);
    for (uint32_t i = 0; i < topology->ports.count; i++) /* rows are the same in both */
        if (topology->ports.items[i].peer != TOPOLOGY_NONE)
            subnet_link(subnet, i, topology->ports.items[i].peer);
    for (uint32_t i = 0; subnet->own_port == SUBNET_NONE && i < topology->nodes.count; i++)
        if (topology->nodes.items[i].kind == NODE_ADAPTER)
            subnet->own_port = topology->nodes.items[i].first_port + 1;
    fill_addresses(world);
}

static void start_sa(struct sa_world *world, const struct sa_config *config)
{
    const struct subnet_port *own = &world->subnet->ports.items[world->subnet->own_port];
    world->from = own->lid;
    world->sa = sa_new(config, own->guid);
    world->now = NS_PER_S;
    world_update_view(world);
}

/* The first so many hosts are in the network. */
static void link_hosts(struct sa_world *world, size_t count)
{
    struct network *network = &world->network;
    network->terminals.count = count;
    for (uint32_t i = 0; i < world->hosts; i++) {
        const struct network_terminal *terminal = &network->terminals.items[i];
        uint32_t row = network->switches.items[terminal->at].first_port;
        network->ports.items[row + terminal->port].peer = i < count ? i : NETWORK_NONE;
    }
    network_finish(network);
}

void world_open(struct sa_world *world, const struct sa_world_shape *shape)
{
    struct err err = {0};
    struct sa_config config;
    struct engine_options options = {0};
    const char *words[4] = {"speed=SDR"};
    size_t count = 1;
    for (unsigned i = 0; i < 3 && shape->words[i]; i++)
        words[count++] = shape->words[i];
    memset(world, 0, sizeof *world);
    topology_init(&world->topology);
    must(topology_generate(&world->topology, shape->kind, words, count, 1, &err), &err);
    must(network_from_topology_lmc(&world->network, &world->topology, shape->lmc, &err), &err);
    world->hosts = world->network.terminals.count;
    const struct engine *engine = shape->engine ? shape->engine : &engine_updn;
    must(engine->compute(&world->network, &options, &world->routes, &err), &err);
    world->subnet = mem_zalloc(1, sizeof *world->subnet);
    fill_subnet(world);
    sa_config_init(&config);
    start_sa(world, shape->config ? shape->config : &config);
}

void world_reset(struct sa_world *world, const struct sa_config *config)
{
    sa_free(world->sa);
    link_hosts(world, world->hosts);
    world->view = (struct sa_view){0};
    start_sa(world, config);
}

void world_close(struct sa_world *world)
{
    sa_free(world->sa);
    subnet_release(world->subnet);
    mem_free(world->subnet);
    routes_release(&world->routes);
    network_release(&world->network);
    topology_release(&world->topology);
}

void world_update_view(struct sa_world *world)
{
    world->view = (struct sa_view){.subnet = world->subnet,
                                   .network = &world->network,
                                   .routes = &world->routes,
                                   .qos = world->view.qos,
                                   .layout = world->view.layout,
                                   .generation = world->view.generation + 1};
    sa_update_view(world->sa, world->now, &world->view);
}

void world_miss_hosts(struct sa_world *world, unsigned missing)
{
    link_hosts(world, world->hosts - missing);
    world_update_view(world);
}

struct subnet_port *world_port(struct sa_world *world, const char *name, unsigned number)
{
    uint32_t node = topology_find(&world->topology, name);
    if (node == TOPOLOGY_NONE)
        abort();
    return &world->subnet->ports.items[topology_port_index(&world->topology, node, number)];
}

uint16_t world_lid(const struct sa_world *world, const char *name)
{
    return world_port((struct sa_world *)world, name, 1)->lid;
}

uint64_t world_guid(const struct sa_world *world, const char *name)
{
    return world_port((struct sa_world *)world, name, 1)->guid;
}

const char *world_last_host(const struct sa_world *world)
{
    const struct topology *topology = &world->topology;
    uint64_t guid = world->network.terminals.items[world->hosts - 1].guid;
    for (size_t i = 0; i < topology->nodes.count; i++)
        if (topology->ports.items[topology->nodes.items[i].first_port + 1].guid == guid)
            return topology->nodes.items[i].name;
    abort();
}

uint8_t *world_query(struct sa_world *world, unsigned method, unsigned attribute, uint64_t mask)
{
    uint8_t *mad = world->query;
    memset(mad, 0, MAD_BYTES);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_ADM);
    wire_set(mad, MAD_CLASS_VERSION, 2);
    wire_set(mad, MAD_METHOD, method);
    wire_set(mad, MAD_TID, 0x1234);
    wire_set(mad, MAD_ATTRIBUTE_ID, attribute);
    wire_set(mad, SA_COMPONENT_MASK, mask);
    world->query_bytes = MAD_BYTES;
    return mad + SA_DATA_OFFSET;
}

unsigned world_send(struct sa_world *world)
{
    struct sa_message message = {.address = {.lid = world->from, .qp = 1},
                                 .data = world->query,
                                 .bytes = world->query_bytes};
    sa_receive(world->sa, world->now, &message);
    for (unsigned turns = 0; turns < 100000; turns++) {
        sa_expire(world->sa, world->now);
        while (sa_next_output(world->sa, world->now, &world->answer))
            if (wire_get(world->answer.data, MAD_METHOD) & METHOD_RESPONSE)
                return (unsigned)wire_get(world->answer.data, MAD_STATUS);
        if (sa_deadline(world->sa) > world->now)
            break;
    }
    return NO_ANSWER;
}

unsigned world_record_count(const struct sa_world *world)
{
    size_t bytes = 8 * (size_t)wire_get(world->answer.data, SA_ATTRIBUTE_OFFSET);
    return bytes ? (unsigned)((world->answer.bytes - SA_DATA_OFFSET) / bytes) : 0;
}

const uint8_t *world_record(const struct sa_world *world, unsigned index)
{
    size_t bytes = 8 * (size_t)wire_get(world->answer.data, SA_ATTRIBUTE_OFFSET);
    return world->answer.data + SA_DATA_OFFSET + index * bytes;
}
