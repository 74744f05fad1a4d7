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
    if (at->shares != TOPOLOGY_NONE)
        return at->function;
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

static uint32_t copy_node(struct topology *to, const struct topology *from, uint32_t node)
{
    const struct topology_node *at = &from->nodes.items[node];
    uint32_t index = TOPOLOGY_NONE;
    topology_add_bare_node(to, at->kind, at->name, at->port_count, at->guid, &index, NULL);
    assert(index != TOPOLOGY_NONE);
    topology_set_description(to, index, at->description, strlen(at->description));
    struct topology_node *copy = &to->nodes.items[index];
    copy->system_guid = at->system_guid;
    copy->vendor_id = at->vendor_id;
    copy->device_id = at->device_id;
    copy->enhanced_port0 = at->enhanced_port0;
    for (unsigned number = 0; number <= at->port_count; number++) {
        const struct topology_port *port = &from->ports.items[at->first_port + number];
        if (port->guid)
            topology_claim_guid(to, copy->first_port + number, port->guid, NULL);
        to->ports.items[copy->first_port + number].lid = port->lid;
        to->ports.items[copy->first_port + number].lmc = port->lmc;
    }
    return index;
}

static bool is_virtual_function(const struct topology *topology, uint32_t node)
{
    const struct topology_node *at = &topology->nodes.items[node];
    return at->kind == NODE_ADAPTER && at->port_count == 1 &&
           topology_function(topology, at->first_port + 1) > 0;
}

/* Copies nodes and links without virtual switches. moved[]: the new index of each node that is
 * copied, else TOPOLOGY_NONE. */
static void copy_physical(struct topology *to, const struct topology *from, bool with_functions,
                          uint32_t *moved)
{
    for (uint32_t node = 0; node < from->nodes.count; node++) {
        bool leave =
            topology_is_vswitch(from, node) || (!with_functions && is_virtual_function(from, node));
        moved[node] = leave ? TOPOLOGY_NONE : copy_node(to, from, node);
    }
    for (uint32_t port = 0; port < from->ports.count; port++) {
        uint32_t peer = real_peer(from, port);
        if (peer == TOPOLOGY_NONE || peer < port)
            continue;
        uint32_t node = moved[from->ports.items[port].node];
        uint32_t other = moved[from->ports.items[peer].node];
        if (node == TOPOLOGY_NONE || other == TOPOLOGY_NONE)
            continue;
        /* The link of a physical function inside its device is shorter than the cable. */
        uint32_t near_mm = from->ports.items[port].length_mm;
        uint32_t far_mm = from->ports.items[peer].length_mm;
        link_like(to, topology_port_index(to, node, topology_port_number(from, port)),
                  topology_port_index(to, other, topology_port_number(from, peer)),
                  near_mm > far_mm ? near_mm : far_mm, &from->ports.items[port]);
    }
}

void topology_without_functions(struct topology *plain, const struct topology *topology,
                                struct virtual_counts *counts)
{
    uint32_t *moved = mem_alloc((topology->nodes.count + 1) * sizeof *moved);
    *counts = (struct virtual_counts){0};
    for (uint32_t node = 0; node < topology->nodes.count; node++) {
        counts->hypervisors += topology_is_vswitch(topology, node);
        counts->functions += is_virtual_function(topology, node);
    }
    copy_physical(plain, topology, false, moved);
    mem_free(moved);
}

void topology_share_ports(struct topology *topology)
{
    struct topology shared;
    uint32_t *moved = mem_alloc((topology->nodes.count + 1) * sizeof *moved);
    topology_init(&shared);
    copy_physical(&shared, topology, true, moved);
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        int function = topology_function(topology, port);
        uint32_t vf_port = topology->ports.items[port].peer;
        if (function < 0 || vf_port == TOPOLOGY_NONE)
            continue;
        uint32_t pf = topology->ports.items[vf_port - (unsigned)function].peer;
        if (pf == TOPOLOGY_NONE)
            continue;
        const struct topology_port *own = &topology->ports.items[port];
        const struct topology_port *physical = &topology->ports.items[pf];
        struct topology_port *copy = &shared.ports.items[topology_port_index(
            &shared, moved[own->node], topology_port_number(topology, port))];
        copy->function = (uint8_t)function;
        copy->shares =
            topology_port_index(&shared, moved[physical->node], topology_port_number(topology, pf));
    }
    mem_free(moved);
    topology_release(topology);
    *topology = shared;
}
