/* Turns hosts into hypervisors, as in "Towards the InfiniBand SR-IOV vSwitch Architecture": the
 * cable of the adapter leads to a small switch; behind it are the adapter itself, now the physical
 * function, and virtual functions, each an adapter with one port. wire/vswitch.h defines the port
 * numbers and the device ID of such a switch, which the ibnetdiscover format preserves.
 *
 * The links inside have the width and speed of the cable, and the least length of the format. */
#include "topology/virtual.h"

#include "wire/vswitch.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { INSIDE_MM = 1, SUFFIX_BYTES = 32 };

bool topology_is_vswitch(const struct topology *topology, uint32_t node)
{
    assert(node < topology->nodes.count);
    const struct topology_node *at = &topology->nodes.items[node];
    return at->kind == NODE_SWITCH && at->device_id == VSWITCH_DEVICE_ID;
}

int topology_function(const struct topology *topology, uint32_t port)
{
    assert(port < topology->ports.count);
    const struct topology_port *at = &topology->ports.items[port];
    if (topology->nodes.items[at->node].kind != NODE_ADAPTER || at->peer == TOPOLOGY_NONE ||
        !topology_is_vswitch(topology, topology->ports.items[at->peer].node))
        return -1;
    return (int)topology_port_number(topology, at->peer) - VSWITCH_PF;
}

/* The only linked port of an adapter that can become a hypervisor, or TOPOLOGY_NONE. */
static uint32_t cabled_port(const struct topology *topology, uint32_t node)
{
    const struct topology_node *at = &topology->nodes.items[node];
    uint32_t found = TOPOLOGY_NONE;
    if (at->kind != NODE_ADAPTER)
        return TOPOLOGY_NONE;
    for (uint32_t port = at->first_port + 1; port <= at->first_port + at->port_count; port++) {
        if (topology->ports.items[port].peer == TOPOLOGY_NONE)
            continue;
        if (found != TOPOLOGY_NONE)
            return TOPOLOGY_NONE;
        found = port;
    }
    return found != TOPOLOGY_NONE && topology_function(topology, found) < 0 ? found : TOPOLOGY_NONE;
}

/* Joins "base" and "-suffix" in no more than `room` bytes by cutting the base. */
static size_t join_name(char *buffer, size_t room, const char *base, const char *suffix)
{
    size_t tail = strlen(suffix), head = strlen(base);
    if (head > room - tail)
        head = room - tail;
    while (head && head < strlen(base) && ((unsigned char)base[head] & 0xc0) == 0x80)
        head--; /* not within a UTF-8 character */
    memcpy(buffer, base, head);
    memcpy(buffer + head, suffix, tail + 1);
    return head + tail;
}

/* Adds a node of the hypervisor whose physical function is `pf`, with a unique name. The caller has
 * checked the sizes, so that this cannot fail. */
static uint32_t add_part(struct topology *topology, uint32_t pf, enum node_kind kind,
                         unsigned ports, const char *suffix)
{
    char name[TOPOLOGY_NAME_BYTES + 1], description[TOPOLOGY_DESCRIPTION_BYTES + 1];
    char other[SUFFIX_BYTES];
    uint32_t node = TOPOLOGY_NONE;
    join_name(name, TOPOLOGY_NAME_BYTES, topology->nodes.items[pf].name, suffix);
    for (unsigned i = 2; name_map_get(&topology->by_name, name) != MAP_NONE; i++) {
        snprintf(other, sizeof other, "%s.%u", suffix, i);
        join_name(name, TOPOLOGY_NAME_BYTES, topology->nodes.items[pf].name, other);
    }
    topology_add_node(topology, kind, name, ports, 0, &node, NULL);
    assert(node != TOPOLOGY_NONE);
    size_t length = join_name(description, TOPOLOGY_DESCRIPTION_BYTES,
                              topology->nodes.items[pf].description, suffix);
    topology_set_description(topology, node, description, length);
    const struct topology_node *of = &topology->nodes.items[pf];
    struct topology_node *made = &topology->nodes.items[node];
    made->vendor_id = of->vendor_id;
    made->device_id = kind == NODE_SWITCH ? VSWITCH_DEVICE_ID : of->device_id;
    made->system_guid = of->system_guid;
    return node;
}

static void link_like(struct topology *topology, uint32_t a, uint32_t b, uint32_t length_mm,
                      const struct topology_port *like)
{
    uint32_t ends[2] = {a, b};
    topology_link(topology, a, b, NULL);
    assert(topology->ports.items[a].peer == b);
    for (unsigned i = 0; i < 2; i++) {
        struct topology_port *port = &topology->ports.items[ends[i]];
        port->width = like->width;
        port->speed = like->speed;
        port->width_assumed = like->width_assumed;
        port->speed_assumed = like->speed_assumed;
        port->length_mm = length_mm;
    }
}

static void make_hypervisor(struct topology *topology, uint32_t port, unsigned vfs)
{
    struct topology_port cable = topology->ports.items[port];
    assert(cable.peer != TOPOLOGY_NONE);
    char suffix[SUFFIX_BYTES];
    topology->ports.items[port].peer = topology->ports.items[cable.peer].peer = TOPOLOGY_NONE;
    uint32_t node = add_part(topology, cable.node, NODE_SWITCH, VSWITCH_PF + vfs, "-vswitch");
    uint32_t first = topology->nodes.items[node].first_port;
    topology->ports.items[first].lid = cable.lid; /* which it shares with the physical function */
    link_like(topology, cable.peer, first + VSWITCH_UPLINK, cable.length_mm, &cable);
    link_like(topology, first + VSWITCH_PF, port, INSIDE_MM, &cable);
    for (unsigned v = 1; v <= vfs; v++) {
        snprintf(suffix, sizeof suffix, "-vf%u", v);
        uint32_t function = add_part(topology, cable.node, NODE_ADAPTER, 1, suffix);
        link_like(topology, first + VSWITCH_PF + v, topology_port_index(topology, function, 1),
                  INSIDE_MM, &cable);
    }
}

int topology_virtualise(struct topology *topology, unsigned vfs, uint32_t limit, struct err *err)
{
    uint32_t count = (uint32_t)topology->nodes.count, hypervisors = 0;
    for (uint32_t node = 0; node < count && hypervisors < limit; node++)
        hypervisors += cabled_port(topology, node) != TOPOLOGY_NONE;
    uint64_t nodes = topology->nodes.count + (uint64_t)hypervisors * (1 + vfs);
    uint64_t ports =
        topology->ports.count + (uint64_t)hypervisors * (VSWITCH_PF + vfs + 1 + 2 * vfs);
    if (vfs < 1 || vfs > VSWITCH_VFS_LIMIT)
        return err_set(err, EINVAL, "a hypervisor has 1 to %d virtual functions, not %u",
                       VSWITCH_VFS_LIMIT, vfs);
    if (nodes > TOPOLOGY_MAX_NODES || ports > TOPOLOGY_MAX_PORTS)
        return err_set(err, EFBIG,
                       "%u hypervisors with %u virtual functions each are more than %d nodes or "
                       "%d ports",
                       hypervisors, vfs, TOPOLOGY_MAX_NODES, TOPOLOGY_MAX_PORTS);
    for (uint32_t node = 0; hypervisors; node++) {
        uint32_t port = cabled_port(topology, node);
        if (port == TOPOLOGY_NONE)
            continue;
        make_hypervisor(topology, port, vfs);
        hypervisors--;
    }
    return 0;
}

/* ---- removal ---- */

/* The other end of the link at a port, across virtual switches. */
static uint32_t real_peer(const struct topology *topology, uint32_t port)
{
    uint32_t peer = topology->ports.items[port].peer;
    if (peer == TOPOLOGY_NONE || !topology_is_vswitch(topology, topology->ports.items[peer].node))
        return peer;
    const struct topology_node *vswitch = &topology->nodes.items[topology->ports.items[peer].node];
    unsigned number = topology_port_number(topology, peer);
    unsigned other = number == VSWITCH_UPLINK ? VSWITCH_PF : VSWITCH_UPLINK;
    return number > VSWITCH_PF || other > vswitch->port_count
               ? TOPOLOGY_NONE
               : topology->ports.items[vswitch->first_port + other].peer;
}

void topology_without_functions(struct topology *plain, const struct topology *topology,
                                struct virtual_counts *counts)
{
    uint32_t *moved = mem_alloc((topology->nodes.count + 1) * sizeof *moved);
    *counts = (struct virtual_counts){0};
    for (uint32_t node = 0; node < topology->nodes.count; node++) {
        const struct topology_node *at = &topology->nodes.items[node];
        bool is_vswitch = topology_is_vswitch(topology, node);
        bool is_function = at->kind == NODE_ADAPTER && at->port_count == 1 &&
                           topology_function(topology, at->first_port + 1) > 0;
        counts->hypervisors += is_vswitch;
        counts->functions += is_function;
        moved[node] = TOPOLOGY_NONE;
        if (is_vswitch || is_function)
            continue;
        topology_add_bare_node(plain, at->kind, at->name, at->port_count, at->guid, &moved[node],
                               NULL);
        topology_set_description(plain, moved[node], at->description, strlen(at->description));
    }
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        uint32_t peer = real_peer(topology, port);
        if (peer == TOPOLOGY_NONE || peer < port)
            continue;
        uint32_t node = moved[topology->ports.items[port].node];
        uint32_t other = moved[topology->ports.items[peer].node];
        if (node != TOPOLOGY_NONE && other != TOPOLOGY_NONE)
            link_like(plain, topology_port_index(plain, node, topology_port_number(topology, port)),
                      topology_port_index(plain, other, topology_port_number(topology, peer)),
                      topology->ports.items[port].length_mm, &topology->ports.items[port]);
    }
    mem_free(moved);
}
