#include "fixture.h"

#include <stdio.h>

void world_init(struct world *world)
{
    memset(world, 0, sizeof *world);
    topology_init(&world->topology);
    assert_int_equal(fabric_options_preset(&world->options, "today", NULL), 0);
}

static uint32_t add_node(struct world *world, enum node_kind kind, unsigned ports)
{
    char name[16];
    uint32_t index;
    snprintf(name, sizeof name, "%c%zu", kind == NODE_SWITCH ? 'S' : 'H',
             world->topology.nodes.count);
    assert_int_equal(topology_add_node(&world->topology, kind, name, ports, 0, &index, NULL), 0);
    assert_true(world->topology.ports.count <= WORLD_PORTS);
    return index;
}

uint32_t world_switch(struct world *world, unsigned ports)
{
    return add_node(world, NODE_SWITCH, ports);
}

uint32_t world_adapter(struct world *world, unsigned ports)
{
    return add_node(world, NODE_ADAPTER, ports);
}

uint32_t world_port(const struct world *world, uint32_t node, unsigned port)
{
    return topology_port_index(&world->topology, node, port);
}

void world_link(struct world *world, uint32_t a, unsigned port_a, uint32_t b, unsigned port_b)
{
    assert_int_equal(topology_link(&world->topology, world_port(world, a, port_a),
                                   world_port(world, b, port_b), NULL),
                     0);
}

void world_begin(struct world *world, uint64_t seed)
{
    world->fabric = fabric_new(&world->topology, &world->options, seed);
}

void world_end(struct world *world)
{
    fabric_free(world->fabric);
    topology_release(&world->topology);
}

/* MADs */

void mad_fill(uint8_t mad[MAD_BYTES], unsigned class, unsigned method, unsigned attribute,
              uint32_t modifier)
{
    static uint64_t tid = 0x1000;
    memset(mad, 0, MAD_BYTES);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, class);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, method);
    wire_set(mad, MAD_TID, tid++);
    wire_set(mad, MAD_ATTRIBUTE_ID, attribute);
    wire_set(mad, MAD_ATTRIBUTE_MODIFIER, modifier);
}

void mad_direct(uint8_t mad[MAD_BYTES], const struct path *path)
{
    wire_set(mad, MAD_CLASS, CLASS_SUBN_DIRECTED);
    wire_set(mad, SMP_DR_SLID, LID_PERMISSIVE);
    wire_set(mad, SMP_DR_DLID, LID_PERMISSIVE);
    wire_set(mad, SMP_HOP_COUNT, path->hops);
    for (unsigned i = 1; i <= path->hops; i++)
        wire_set_at(mad, SMP_INITIAL_PATH, i, path->ports[i]);
}

struct path path_of(unsigned hops, ...)
{
    struct path path = {.known = true, .hops = (uint8_t)hops};
    va_list ports;
    va_start(ports, hops);
    for (unsigned i = 1; i <= hops; i++)
        path.ports[i] = (uint8_t)va_arg(ports, unsigned);
    va_end(ports);
    return path;
}

struct packet_header header_to(const struct world *world, const uint8_t *mad, uint16_t dlid)
{
    (void)world;
    bool smp = mad_is_smp(mad);
    return (struct packet_header){.dlid = dlid,
                                  .p_key = P_KEY_DEFAULT,
                                  .dest_qp = smp ? QP_SMI : QP_GSI,
                                  .q_key = smp ? 0 : Q_KEY_GSI};
}

bool world_take(struct world *world, struct fabric_delivery *delivery)
{
    fabric_run_network(world->fabric, TIME_NEVER);
    return fabric_next_delivery(world->fabric, delivery);
}

bool world_exchange(struct world *world, uint32_t from, uint16_t dlid, const uint8_t mad[MAD_BYTES],
                    struct fabric_delivery *answer)
{
    struct packet_header header = header_to(world, mad, dlid);
    fabric_send(world->fabric, from, &header, mad);
    return world_take(world, answer);
}

int world_ask(struct world *world, const struct path *path, unsigned method, unsigned attribute,
              uint32_t modifier, uint8_t *data)
{
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery answer;
    assert_true(path->known);
    mad_fill(mad, CLASS_SUBN_DIRECTED, method, attribute, modifier);
    mad_direct(mad, path);
    if (data)
        memcpy(mad + SMP_DATA_OFFSET, data, SMP_DATA_BYTES);
    struct packet_header header = header_to(world, mad, LID_PERMISSIVE);
    fabric_send(world->fabric, world->manager, &header, mad);
    while (world_take(world, &answer)) {
        if (wire_get(answer.mad, MAD_TID) != wire_get(mad, MAD_TID))
            continue; /* a trap, perhaps */
        assert_int_equal(answer.port, world->manager);
        assert_int_equal(wire_get(answer.mad, MAD_METHOD), METHOD_GET_RESP);
        assert_int_equal(wire_get(answer.mad, SMP_HOP_POINTER), 0);
        if (data)
            memcpy(data, answer.mad + SMP_DATA_OFFSET, SMP_DATA_BYTES);
        return (int)wire_get(answer.mad, SMP_STATUS);
    }
    return -1;
}

int world_set_port(struct world *world, const struct path *path, unsigned port,
                   enum wire_field field, uint64_t value)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    int status = world_ask(world, path, METHOD_GET, ATTRIBUTE_PORT_INFO, port, data);
    if (status)
        return status;
    wire_set(data, PORT_INFO_PORT_STATE, PORT_STATE_NO_CHANGE);
    wire_set(data, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_NO_CHANGE);
    wire_set(data, field, value);
    return world_ask(world, path, METHOD_SET, ATTRIBUTE_PORT_INFO, port, data);
}

/* The manager */

static bool is_switch(const struct world *world, uint32_t node)
{
    return world->topology.nodes.items[node].kind == NODE_SWITCH;
}

static unsigned port_count(const struct world *world, uint32_t node)
{
    return world->topology.nodes.items[node].port_count;
}

/* The end port behind the link at this port: itself, or port 0 of a switch. */
static uint32_t end_port_behind(const struct world *world, uint32_t port)
{
    uint32_t peer = world->topology.ports.items[port].peer;
    if (peer == TOPOLOGY_NONE)
        return TOPOLOGY_NONE;
    uint32_t node = world->topology.ports.items[peer].node;
    return is_switch(world, node) ? world_port(world, node, 0) : peer;
}

static bool extend(struct world *world, uint32_t from, uint32_t out)
{
    uint32_t to = end_port_behind(world, out);
    if (to == TOPOLOGY_NONE || world->paths[to].known || world->paths[from].hops == SMP_MAX_HOPS)
        return false;
    struct path path = world->paths[from];
    path.ports[++path.hops] = (uint8_t)topology_port_number(&world->topology, out);
    world->paths[to] = path;
    return true;
}

void line_init(struct line *line)
{
    struct world *world = &line->world;
    world_init(world);
    line->manager = world_adapter(world, 1);
    line->a = world_switch(world, 4);
    line->b = world_switch(world, 4);
    line->target = world_adapter(world, 1);
    world_link(world, line->manager, 1, line->a, 1);
    world_link(world, line->a, 2, line->b, 1);
    world_link(world, line->b, 2, line->target, 1);
}

void world_find_paths(struct world *world, uint32_t manager)
{
    uint32_t queue[WORLD_PORTS], tail = 0;
    if (!world->manager)
        fabric_attach(world->fabric, manager);
    world->manager = manager;
    memset(world->paths, 0, sizeof world->paths);
    memset(world->lids, 0, sizeof world->lids);
    world->paths[manager].known = true;
    queue[tail++] = manager;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t port = queue[head], node = world->topology.ports.items[port].node;
        world->lids[port] = (uint16_t)(head + 1);
        bool through = is_switch(world, node);
        if (!through && head > 0)
            continue; /* adapters pass nothing on */
        unsigned first = through ? 1 : topology_port_number(&world->topology, port);
        unsigned last = through ? port_count(world, node) : first;
        for (unsigned number = first; number <= last; number++)
            if (extend(world, port, world_port(world, node, number)))
                queue[tail++] = end_port_behind(world, world_port(world, node, number));
    }
}

const struct path *world_path(const struct world *world, uint32_t node)
{
    for (unsigned number = 0; number <= port_count(world, node); number++)
        if (world->paths[world_port(world, node, number)].known)
            return &world->paths[world_port(world, node, number)];
    return &world->paths[world_port(world, node, 0)];
}

uint16_t world_lid(const struct world *world, uint32_t node)
{
    for (unsigned number = 0; number <= port_count(world, node); number++)
        if (world->lids[world_port(world, node, number)])
            return world->lids[world_port(world, node, number)];
    return 0;
}

static void give_lid(struct world *world, uint32_t port)
{
    unsigned number = topology_port_number(&world->topology, port);
    const struct path *path = &world->paths[port];
    assert_int_equal(world_set_port(world, path, number, PORT_INFO_LID, world->lids[port]), 0);
    assert_int_equal(
        world_set_port(world, path, number, PORT_INFO_MASTER_SM_LID, world->lids[world->manager]),
        0);
}

/* Fills `towards`: of every switch the port that leads to `target`, by breadth-first search. */
static void find_routes(const struct world *world, uint32_t target, uint8_t towards[WORLD_PORTS])
{
    uint32_t queue[WORLD_PORTS], tail = 0;
    bool seen[WORLD_PORTS] = {false};
    memset(towards, 0xFF, WORLD_PORTS);
    queue[tail++] = target;
    seen[target] = true;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t node = world->topology.ports.items[queue[head]].node;
        if (!is_switch(world, node) && head > 0)
            continue;
        unsigned first = is_switch(world, node) ? 1 : queue[head] - world_port(world, node, 0);
        unsigned last = is_switch(world, node) ? port_count(world, node) : first;
        for (unsigned number = first; number <= last; number++) {
            uint32_t next = end_port_behind(world, world_port(world, node, number));
            if (next == TOPOLOGY_NONE || seen[next])
                continue;
            seen[next] = true;
            uint32_t peer = world->topology.ports.items[world_port(world, node, number)].peer;
            towards[next] = (uint8_t)topology_port_number(&world->topology, peer);
            queue[tail++] = next;
        }
    }
    towards[target] = 0;
}

static void program_tables(struct world *world)
{
    static uint8_t tables[WORLD_PORTS][WORLD_PORTS]; /* [switch port 0][LID] */
    unsigned top = 0;
    memset(tables, 0xFF, sizeof tables);
    for (uint32_t target = 0; target < world->topology.ports.count; target++) {
        uint8_t towards[WORLD_PORTS];
        if (!world->lids[target])
            continue;
        find_routes(world, target, towards);
        for (uint32_t port = 0; port < world->topology.ports.count; port++)
            tables[port][world->lids[target]] = towards[port];
        top = world->lids[target] > top ? world->lids[target] : top;
    }
    for (uint32_t node = 0; node < world->topology.nodes.count; node++) {
        uint32_t port = world_port(world, node, 0);
        uint8_t data[SMP_DATA_BYTES] = {0};
        if (!is_switch(world, node) || !world->paths[port].known)
            continue;
        wire_set(data, SWITCH_INFO_LINEAR_FDB_TOP, top);
        wire_set(data, SWITCH_INFO_LIFE_TIME_VALUE, 18);
        wire_set(data, SWITCH_INFO_PORT_STATE_CHANGE, 1);
        assert_int_equal(
            world_ask(world, &world->paths[port], METHOD_SET, ATTRIBUTE_SWITCH_INFO, 0, data), 0);
        for (unsigned block = 0; block <= top / 64; block++) {
            memcpy(data, tables[port] + block * 64, sizeof data);
            assert_int_equal(world_ask(world, &world->paths[port], METHOD_SET,
                                       ATTRIBUTE_LINEAR_FORWARDING_TABLE, block, data),
                             0);
        }
    }
}

static void set_all_links(struct world *world, unsigned state)
{
    for (uint32_t port = 0; port < world->topology.ports.count; port++) {
        uint32_t node = world->topology.ports.items[port].node;
        uint32_t end = is_switch(world, node) ? world_port(world, node, 0) : port;
        if (world->topology.ports.items[port].peer == TOPOLOGY_NONE || !world->paths[end].known)
            continue;
        assert_int_equal(world_set_port(world, &world->paths[end],
                                        topology_port_number(&world->topology, port),
                                        PORT_INFO_PORT_STATE, state),
                         0);
    }
}

void world_bring_up(struct world *world, uint32_t manager)
{
    world_find_paths(world, manager);
    for (uint32_t port = 0; port < world->topology.ports.count; port++)
        if (world->paths[port].known)
            give_lid(world, port);
    program_tables(world);
    set_all_links(world, PORT_STATE_ARMED);
    set_all_links(world, PORT_STATE_ACTIVE);
    world_settle(world);
}

void chain_begin(struct chain *chain, unsigned switches)
{
    struct world *world = &chain->world;
    world_init(world);
    chain->manager = world_adapter(world, 1);
    uint32_t before = chain->manager, port = 1;
    for (unsigned i = 0; i < switches; i++) {
        chain->switches[i] = world_switch(world, 4);
        world_link(world, before, port, chain->switches[i], 1);
        before = chain->switches[i];
        port = 2;
    }
    chain->target = world_adapter(world, 2);
    world_link(world, before, port, chain->target, 1);
    world_begin(world, 1);
}

/* From outside */

uint64_t world_info(const struct world *world, uint32_t node, unsigned port, enum wire_field field)
{
    return wire_get(fabric_port_info(world->fabric, world_port(world, node, port)), field);
}

unsigned world_state(const struct world *world, uint32_t node, unsigned port)
{
    return (unsigned)world_info(world, node, port, PORT_INFO_PORT_STATE);
}

unsigned world_physical(const struct world *world, uint32_t node, unsigned port)
{
    return (unsigned)world_info(world, node, port, PORT_INFO_PORT_PHYSICAL_STATE);
}

uint64_t world_counter(const struct world *world, uint32_t node, unsigned port, unsigned counter)
{
    return fabric_counters(world->fabric, world_port(world, node, port))->total[counter];
}

struct fabric_totals world_totals(const struct world *world)
{
    struct fabric_totals totals;
    fabric_totals(world->fabric, &totals);
    return totals;
}

void world_settle(struct world *world)
{
    struct fabric_delivery delivery;
    while (world_take(world, &delivery)) {
    }
}
