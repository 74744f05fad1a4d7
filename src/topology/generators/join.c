/* Joins networks into one fabric of several subnets: copies the parts beside each other, and links
 * routers to switches of each. */
#include "topology/generators/join.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool join_shape_parse(const char *text, enum join_shape *shape)
{
    static const char *const names[] = {
        [JOIN_STAR] = "star", [JOIN_CHAIN] = "chain", [JOIN_RING] = "ring"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(text, names[i]) == 0) {
            *shape = (enum join_shape)i;
            return true;
        }
    return false;
}

static bool guids_are_free(const struct topology *topology, const struct topology *part,
                           const struct topology_node *node)
{
    if (map_get(&topology->by_guid, node->guid) != MAP_NONE)
        return false;
    for (unsigned i = 0; i <= node->port_count; i++) {
        uint64_t guid = part->ports.items[node->first_port + i].guid;
        if (guid && map_get(&topology->by_guid, guid) != MAP_NONE)
            return false;
    }
    return true;
}

/* The node with its own GUIDs, or with new ones if an earlier node has one of them. */
static int copy_node(struct topology *topology, const struct topology *part, uint32_t number,
                     char letter, struct err *err)
{
    const struct topology_node *from = &part->nodes.items[number];
    char name[TOPOLOGY_DESCRIPTION_BYTES + 4];
    bool keeps = guids_are_free(topology, part, from);
    uint32_t at;
    int status = keeps ? topology_add_bare_node(topology, (enum node_kind)from->kind, NULL,
                                                from->port_count, from->guid, &at, err)
                       : topology_add_node(topology, (enum node_kind)from->kind, NULL,
                                           from->port_count, 0, &at, err);
    if (status)
        return status;
    struct topology_node *node = &topology->nodes.items[at];
    snprintf(name, sizeof name, "%c.%s", letter, from->description);
    topology_set_description(topology, at, name, strlen(name));
    if (keeps)
        node->system_guid = from->system_guid;
    node->vendor_id = from->vendor_id;
    node->device_id = from->device_id;
    node->enhanced_port0 = from->enhanced_port0;
    for (unsigned i = 0; i <= from->port_count && status == 0; i++) {
        const struct topology_port *old = &part->ports.items[from->first_port + i];
        struct topology_port *port = &topology->ports.items[node->first_port + i];
        port->lmc = old->lmc;
        port->width = old->width;
        port->speed = old->speed;
        port->width_assumed = old->width_assumed;
        port->speed_assumed = old->speed_assumed;
        if (keeps && old->guid)
            status = topology_claim_guid(topology, node->first_port + i, old->guid, err);
    }
    return status;
}

static int copy_part(struct topology *topology, const struct topology *part, char letter,
                     struct err *err)
{
    uint32_t first = (uint32_t)topology->ports.count;
    for (uint32_t i = 0; i < part->ports.count; i++)
        if (part->ports.items[i].shares != TOPOLOGY_NONE)
            return err_set(err, EINVAL, "join: parts with shared ports cannot be joined");
    for (uint32_t i = 0; i < part->nodes.count; i++) {
        int status = copy_node(topology, part, i, letter, err);
        if (status)
            return status;
    }
    for (uint32_t i = 0; i < part->ports.count; i++) {
        const struct topology_port *old = &part->ports.items[i];
        if (old->peer == TOPOLOGY_NONE || old->peer < i)
            continue;
        int status = topology_link(topology, first + i, first + old->peer, err);
        if (status)
            return status;
        topology->ports.items[first + i].length_mm = old->length_mm;
        topology->ports.items[first + old->peer].length_mm = old->length_mm;
    }
    return 0;
}

/* ---- places for routers ---- */

struct site {
    uint32_t node;
    bool has_hosts;
};

/* The switches of a part that have a free port; only those with hosts, if any of these has one. */
struct sites {
    VEC(struct site) items;
    uint32_t taken;
};

static bool has_host(const struct topology *topology, const struct topology_node *node)
{
    for (unsigned i = 1; i <= node->port_count; i++) {
        uint32_t peer = topology->ports.items[node->first_port + i].peer;
        if (peer != TOPOLOGY_NONE &&
            topology->nodes.items[topology->ports.items[peer].node].kind == NODE_ADAPTER)
            return true;
    }
    return false;
}

static unsigned free_port(const struct topology *topology, uint32_t node)
{
    const struct topology_node *at = &topology->nodes.items[node];
    for (unsigned i = 1; i <= at->port_count; i++)
        if (topology->ports.items[at->first_port + i].peer == TOPOLOGY_NONE)
            return i;
    return 0;
}

static void find_sites(const struct topology *topology, uint32_t first, uint32_t end,
                       struct sites *sites)
{
    bool hosts = false;
    size_t kept = 0;
    for (uint32_t node = first; node < end; node++)
        if (topology->nodes.items[node].kind == NODE_SWITCH && free_port(topology, node)) {
            struct site site = {node, has_host(topology, &topology->nodes.items[node])};
            hosts |= site.has_hosts;
            vec_push(&sites->items, site);
        }
    for (size_t i = 0; i < sites->items.count; i++)
        if (sites->items.items[i].has_hosts || !hosts)
            sites->items.items[kept++] = sites->items.items[i];
    sites->items.count = kept;
}

/* A free port for the next of `total` routers, which are spread over the sites. */
static uint32_t take_site(const struct topology *topology, struct sites *sites, uint32_t total)
{
    size_t count = sites->items.count;
    if (!count)
        return TOPOLOGY_NONE;
    size_t wanted = (size_t)((uint64_t)sites->taken++ * count / total);
    for (size_t i = 0; i < count; i++) {
        uint32_t node = sites->items.items[(wanted + i) % count].node;
        unsigned port = free_port(topology, node);
        if (port)
            return topology_port_index(topology, node, port);
    }
    return TOPOLOGY_NONE;
}

/* Links are as wide and fast as the first link of the switch. */
static int link_router(struct topology *topology, uint32_t router, uint32_t at, struct err *err)
{
    const struct topology_node *node = &topology->nodes.items[topology->ports.items[at].node];
    int status = topology_link(topology, router, at, err);
    for (unsigned i = 1; i <= node->port_count && status == 0; i++) {
        const struct topology_port *model = &topology->ports.items[node->first_port + i];
        if (model->peer == TOPOLOGY_NONE || node->first_port + i == at)
            continue;
        uint8_t width = model->width, speed = model->speed;
        uint32_t ends[] = {router, at};
        for (unsigned end = 0; end < 2; end++) {
            topology->ports.items[ends[end]].width = width;
            topology->ports.items[ends[end]].speed = speed;
        }
        break;
    }
    return status;
}

/* One router with a port in each of the subnets `first`, `first` + 1 … (modulo `count`). */
static int add_router(struct topology *topology, struct sites *sites, size_t count, size_t first,
                      unsigned ports, uint32_t total, unsigned number, struct err *err)
{
    char name[32];
    uint32_t router;
    int status = topology_add_node(topology, NODE_ROUTER, NULL, ports, 0, &router, err);
    if (status)
        return status;
    snprintf(name, sizeof name, "R%u", number);
    topology_set_description(topology, router, name, strlen(name));
    for (unsigned i = 0; i < ports && status == 0; i++) {
        size_t part = (first + i) % count;
        uint32_t at = take_site(topology, &sites[part], total);
        if (at == TOPOLOGY_NONE)
            return err_set(err, EINVAL,
                           "join: no switch of part %zu has a free port for router %u (ports= "
                           "gives switches more ports)",
                           part + 1, number);
        status = link_router(topology, topology_port_index(topology, router, i + 1), at, err);
    }
    return status;
}

static int add_routers(struct topology *topology, struct sites *sites, size_t count,
                       enum join_shape shape, unsigned routers, struct err *err)
{
    size_t bundles = shape == JOIN_STAR ? 1 : shape == JOIN_CHAIN ? count - 1 : count;
    unsigned ports = shape == JOIN_STAR ? (unsigned)count : 2, number = 0;
    uint32_t total = shape == JOIN_STAR ? routers : 2 * routers;
    for (size_t bundle = 0; bundle < bundles; bundle++)
        for (unsigned i = 0; i < routers; i++) {
            int status = add_router(topology, sites, count, bundle, ports, total, number++, err);
            if (status)
                return status;
        }
    return 0;
}

int topology_join(struct topology *topology, const struct topology *parts, size_t count,
                  enum join_shape shape, unsigned routers, struct err *err)
{
    struct topology joined;
    struct sites sites[JOIN_PARTS] = {0};
    if (count < 2 || count > JOIN_PARTS)
        return err_set(err, EINVAL, "join: expected 2 to %d net files", JOIN_PARTS);
    if (shape == JOIN_RING && count < 3)
        return err_set(err, EINVAL, "join: a ring has at least three subnets");
    topology_init(&joined);
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        uint32_t first = (uint32_t)joined.nodes.count;
        status = copy_part(&joined, &parts[i], (char)('a' + (int)i), err);
        find_sites(&joined, first, (uint32_t)joined.nodes.count, &sites[i]);
    }
    if (status == 0)
        status = add_routers(&joined, sites, count, shape, routers, err);
    for (size_t i = 0; i < count; i++)
        vec_release(&sites[i].items);
    if (status) {
        topology_release(&joined);
        return status;
    }
    topology_release(topology);
    *topology = joined;
    return 0;
}
