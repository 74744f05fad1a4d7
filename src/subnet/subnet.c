/* Keeps the rows of nodes, ports, links and LIDs consistent, and counts their changes in
 * `generation`. Breadth-first search from the manager's port finds the directed routes (14.2.2) and
 * removes the nodes that are no longer reachable. */
#include "subnet/subnet.h"

#include "base/map.h"

#include <assert.h>
#include <string.h>

void subnet_init(struct subnet *subnet)
{
    memset(subnet, 0, sizeof *subnet);
    subnet->own_port = SUBNET_NONE;
    for (unsigned lid = 0; lid < LFT_ENTRIES; lid++)
        subnet->by_lid[lid] = SUBNET_NONE;
}

static void free_tables(struct subnet_node *node)
{
    if (!node->tables)
        return;
    mem_free(node->tables->actual);
    mem_free(node->tables->wanted);
    mem_free(node->tables->random);
    mem_free(node->tables);
    node->tables = NULL;
}

void subnet_release(struct subnet *subnet)
{
    for (size_t i = 0; i < subnet->nodes.count; i++)
        free_tables(&subnet->nodes.items[i]);
    vec_release(&subnet->nodes);
    vec_release(&subnet->ports);
    map_release(&subnet->by_guid);
    blocks_release(&subnet->blocks);
    functions_release(&subnet->functions);
    prefix_routes_release(&subnet->prefix_routes);
}

void subnet_forget_blocks(struct subnet *subnet, uint32_t index)
{
    assert(index < subnet->nodes.count);
    const struct subnet_node *node = &subnet->nodes.items[index];
    for (unsigned number = 0; number <= node->port_count; number++)
        blocks_forget(&subnet->blocks, node->first_port + number);
}

uint32_t subnet_add_node(struct subnet *subnet, uint64_t guid, unsigned kind, unsigned port_count)
{
    uint32_t index = map_get(&subnet->by_guid, guid);
    if (index != MAP_NONE) {
        struct subnet_node *node = &subnet->nodes.items[index];
        bool same = node->kind == kind && node->port_count == port_count;
        if (node->present)
            return same ? index : SUBNET_NONE;
        if (same) {
            subnet->generation++;
            subnet_forget_blocks(subnet, index);
            node->present = true;
            return index;
        }
    }
    if (subnet->nodes.count >= SUBNET_NODE_LIMIT)
        return SUBNET_NONE;
    if (index != MAP_NONE) { /* the kind or port count changed: the old row is unused from now on */
        const struct subnet_node *node = &subnet->nodes.items[index];
        for (unsigned number = 0; number <= node->port_count; number++) {
            subnet_set_lid(subnet, node->first_port + number, 0, 0);
            subnet->ports.items[node->first_port + number].guid = 0;
        }
        map_remove(&subnet->by_guid, guid);
    }
    index = (uint32_t)subnet->nodes.count;
    map_set(&subnet->by_guid, guid, index);
    vec_push(&subnet->nodes, ((struct subnet_node){.guid = guid,
                                                   .kind = (uint8_t)kind,
                                                   .port_count = (uint8_t)port_count,
                                                   .present = true}));
    subnet->nodes.items[index].first_port = (uint32_t)subnet->ports.count;
    subnet->routers += kind == SUBNET_ROUTER;
    for (unsigned number = 0; number <= port_count; number++)
        vec_push(&subnet->ports, ((struct subnet_port){.node = index,
                                                       .peer = SUBNET_NONE,
                                                       .last_peer = SUBNET_NONE,
                                                       .via = SUBNET_NONE,
                                                       .number = (uint8_t)number}));
    if (kind == SUBNET_SWITCH) {
        subnet->nodes.items[index].tables = mem_zalloc(1, sizeof(struct subnet_tables));
        subnet_extend_tables(subnet->nodes.items[index].tables, LFT_BLOCK);
    }
    subnet->generation++;
    return index;
}

/* Doubles the room at least: discovery reads one block after the other. */
void subnet_extend_tables(struct subnet_tables *tables, unsigned length)
{
    uint32_t old = tables->length, room = (length + LFT_BLOCK - 1) / LFT_BLOCK * LFT_BLOCK;
    assert(length <= LFT_ENTRIES);
    if (length <= old)
        return;
    if (room < 2 * old)
        room = 2 * old < LFT_ENTRIES ? 2 * old : LFT_ENTRIES;
    tables->actual = mem_realloc(tables->actual, room, sizeof *tables->actual);
    tables->wanted = mem_realloc(tables->wanted, room, sizeof *tables->wanted);
    memset(tables->actual + old, 0, room - old);
    memset(tables->wanted + old, 0xFF, room - old); /* PORT_NONE */
    tables->length = room;
}

void subnet_mark_vswitch(struct subnet *subnet, uint32_t index)
{
    struct subnet_node *node = &subnet->nodes.items[index];
    assert(node->kind == SUBNET_SWITCH);
    if (node->vswitch || node->port_count < VSWITCH_PF)
        return;
    node->vswitch = true;
    free_tables(node);
    functions_add(subnet, index);
}

void subnet_unlink(struct subnet *subnet, uint32_t port)
{
    assert(port < subnet->ports.count);
    uint32_t peer = subnet->ports.items[port].peer;
    if (peer == SUBNET_NONE)
        return;
    assert(subnet->ports.items[peer].peer == port);
    subnet->ports.items[port].peer = SUBNET_NONE;
    subnet->ports.items[peer].peer = SUBNET_NONE;
    subnet->generation++;
}

void subnet_link(struct subnet *subnet, uint32_t a, uint32_t b)
{
    assert(a != b && a < subnet->ports.count && b < subnet->ports.count);
    if (subnet->ports.items[a].peer == b)
        return;
    subnet_unlink(subnet, a);
    subnet_unlink(subnet, b);
    if (subnet_last_neighbor(subnet, a) != b)
        subnet->cabling++;
    subnet->ports.items[a].peer = subnet->ports.items[a].last_peer = b;
    subnet->ports.items[b].peer = subnet->ports.items[b].last_peer = a;
    subnet->generation++;
}

void subnet_expect_link(struct subnet *subnet, uint32_t a, uint32_t b)
{
    assert(a != b && a < subnet->ports.count && b < subnet->ports.count);
    subnet->ports.items[a].last_peer = b;
    subnet->ports.items[b].last_peer = a;
    subnet->cabling++;
}

void subnet_remove_node(struct subnet *subnet, uint32_t index)
{
    assert(index < subnet->nodes.count);
    struct subnet_node *node = &subnet->nodes.items[index];
    if (!node->present)
        return;
    for (unsigned number = 0; number <= node->port_count; number++) {
        uint32_t port = node->first_port + number;
        subnet_unlink(subnet, port);
        subnet->ports.items[port].known = false;
        subnet->ports.items[port].manager = false;
        subnet->ports.items[port].rival = false;
        subnet->ports.items[port].via = SUBNET_NONE;
    }
    if (node->tables)
        memset(node->tables->known, 0, sizeof node->tables->known);
    subnet_forget_blocks(subnet, index);
    node->present = false;
    subnet->generation++;
}

/* Records the path to an end port and queues it, unless it was reached before. */
static void reach_end_port(struct subnet *subnet, uint32_t end, uint32_t via, unsigned hops,
                           uint32_t *queue, size_t *tail, uint64_t *seen)
{
    if (bitset_has(seen, end))
        return;
    bitset_add(seen, end);
    subnet->ports.items[end].via = via;
    subnet->ports.items[end].hops = (uint8_t)hops;
    queue[(*tail)++] = end;
}

unsigned subnet_find_paths(struct subnet *subnet)
{
    assert(subnet->own_port == SUBNET_NONE || subnet->own_port < subnet->ports.count);
    uint64_t *seen = mem_zalloc(BITSET_WORDS(subnet->ports.count), sizeof *seen);
    uint32_t *queue = mem_alloc(subnet->ports.count * sizeof *queue + 1);
    size_t head = 0, tail = 0;
    if (subnet->own_port != SUBNET_NONE)
        reach_end_port(subnet, subnet->own_port, SUBNET_NONE, 0, queue, &tail, seen);
    while (head < tail) {
        uint32_t from = queue[head++];
        const struct subnet_port *port = &subnet->ports.items[from];
        const struct subnet_node *node = &subnet->nodes.items[port->node];
        bool is_switch = node->kind == SUBNET_SWITCH;
        /* Adapters forward nothing. The search starts at the port of the manager. */
        if (!is_switch && from != subnet->own_port)
            continue;
        if (port->hops >= SMP_MAX_HOPS)
            continue;
        for (unsigned number = is_switch ? 1 : port->number;
             number <= (is_switch ? node->port_count : port->number); number++) {
            uint32_t out = node->first_port + number;
            uint32_t peer = subnet->ports.items[out].peer;
            if (peer != SUBNET_NONE)
                reach_end_port(subnet, subnet_end_port(subnet, peer), out, port->hops + 1u, queue,
                               &tail, seen);
        }
    }
    unsigned removed = 0;
    for (uint32_t i = 0; i < subnet->nodes.count; i++) {
        const struct subnet_node *node = &subnet->nodes.items[i];
        bool reached = false;
        for (unsigned n = 0; n <= node->port_count; n++)
            reached |= bitset_has(seen, node->first_port + n);
        if (node->present && !reached) {
            subnet_remove_node(subnet, i);
            removed++;
        }
    }
    mem_free(queue);
    mem_free(seen);
    return removed;
}

bool subnet_is_bridge(const struct subnet *subnet, uint32_t port)
{
    const struct subnet_port *ports = subnet->ports.items;
    uint32_t peer = ports[port].peer, reached = 0, switches = 0;
    VEC(uint32_t) queue = {0};
    if (peer == SUBNET_NONE)
        return true;
    for (uint32_t i = 0; i < subnet->nodes.count; i++)
        switches += subnet->nodes.items[i].present && subnet->nodes.items[i].kind == SUBNET_SWITCH;
    uint32_t own = ports[subnet->own_port].node;
    bool *seen = mem_zalloc(subnet->nodes.count, sizeof *seen);
    seen[own] = true;
    vec_push(&queue, own);
    for (size_t head = 0; head < queue.count; head++) {
        const struct subnet_node *node = &subnet->nodes.items[queue.items[head]];
        reached += node->kind == SUBNET_SWITCH;
        for (unsigned n = 1; n <= node->port_count; n++) {
            uint32_t at = node->first_port + n, far = ports[at].peer;
            if (far == SUBNET_NONE || at == port || at == peer)
                continue;
            uint32_t next = ports[far].node;
            if (subnet->nodes.items[next].kind != SUBNET_SWITCH || seen[next])
                continue;
            seen[next] = true;
            vec_push(&queue, next);
        }
    }
    vec_release(&queue);
    mem_free(seen);
    return reached != switches;
}

int subnet_route(const struct subnet *subnet, uint32_t end, uint8_t path[64])
{
    assert(end < subnet->ports.count && subnet->ports.items[end].hops < 64);
    unsigned hops = subnet->ports.items[end].hops;
    unsigned at = hops;
    while (end != subnet->own_port) {
        uint32_t via = subnet->ports.items[end].via;
        if (via == SUBNET_NONE || at == 0)
            return -1;
        path[at--] = subnet->ports.items[via].number;
        end = subnet_end_port(subnet, via);
    }
    path[0] = 0;
    return at == 0 ? (int)hops : -1;
}

static void set_lid_range(struct subnet *subnet, unsigned lid, unsigned lmc, uint32_t from,
                          uint32_t to)
{
    for (unsigned l = lid; lid && l < lid + (1u << lmc) && l < LFT_ENTRIES; l++)
        if (subnet->by_lid[l] == from)
            subnet->by_lid[l] = to;
}

void subnet_set_lid(struct subnet *subnet, uint32_t port, uint16_t lid, unsigned lmc)
{
    struct subnet_port *p = &subnet->ports.items[port];
    assert(port < subnet->ports.count && lid <= LID_UNICAST_LAST && lmc <= 7);
    if (p->lid == lid && p->lmc == lmc)
        return;
    set_lid_range(subnet, p->lid, p->lmc, port, SUBNET_NONE);
    p->lid = lid;
    p->lmc = (uint8_t)lmc;
    set_lid_range(subnet, lid, lmc, SUBNET_NONE, port);
    for (unsigned l = lid; lid && l < lid + (1u << lmc) && l < LFT_ENTRIES; l++)
        bitset_drop(subnet->reserved_lids, l);
    subnet->generation++;
}

bool subnet_lid_range_free(const struct subnet *subnet, uint32_t for_port, unsigned lid,
                           unsigned lmc)
{
    unsigned span = 1u << lmc;
    if (lid == 0 || lid % span || lid + span - 1 > LID_UNICAST_LAST)
        return false;
    for (unsigned l = lid; l < lid + span; l++)
        if (subnet->by_lid[l] != SUBNET_NONE && subnet->by_lid[l] != for_port)
            return false;
    return true;
}

void subnet_reserve_lids(struct subnet *subnet, unsigned lid, unsigned lmc)
{
    for (unsigned l = lid; l < lid + (1u << lmc) && l < LFT_ENTRIES; l++)
        bitset_add(subnet->reserved_lids, l);
}

bool subnet_lid_range_reserved(const struct subnet *subnet, unsigned lid, unsigned lmc)
{
    for (unsigned l = lid; l < lid + (1u << lmc) && l < LFT_ENTRIES; l++)
        if (bitset_has(subnet->reserved_lids, l))
            return true;
    return false;
}

struct subnet_node_counts subnet_count_nodes(const struct subnet *subnet)
{
    struct subnet_node_counts counts = {0};
    for (size_t i = 0; i < subnet->nodes.count; i++)
        if (subnet->nodes.items[i].present)
            ++*(subnet->nodes.items[i].kind == SUBNET_SWITCH ? &counts.switches : &counts.adapters);
    return counts;
}

uint32_t subnet_follow_back(const struct subnet *subnet, uint32_t from, const uint8_t *mad,
                            enum wire_field path, unsigned hops)
{
    for (unsigned hop = hops; hop > 0; hop--) {
        const struct subnet_node *node = &subnet->nodes.items[subnet->ports.items[from].node];
        unsigned out = (unsigned)wire_get_at(mad, path, hop);
        if (!out || out > node->port_count)
            return SUBNET_NONE;
        from = subnet->ports.items[node->first_port + out].peer;
        if (from == SUBNET_NONE)
            return SUBNET_NONE;
    }
    return subnet_end_port(subnet, from);
}
