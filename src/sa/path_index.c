/* End points by GUID, and MTU and rate of links.
 *
 * Built once for each generation of routes, from the network of the routes and the PortInfo of that
 * moment. Path records do not read the live subnet: a link that fails keeps its MTU and rate until
 * new routes are in force. */
#include "sa/internal.h"

#include <assert.h>

enum { HOP_LIMIT = 64 };

static struct path_quality minimum(struct path_quality a, struct path_quality b)
{
    return (struct path_quality){
        .mtu = a.mtu < b.mtu ? a.mtu : b.mtu,
        .rate = a.rate == b.rate || rate_order(a.rate) < rate_order(b.rate) ? a.rate : b.rate,
    };
}

static struct path_quality quality_of(const uint8_t *info)
{
    return (struct path_quality){.mtu = (uint8_t)wire_get(info, PORT_INFO_MTU_CAP),
                                 .rate = rate_of_port(info)};
}

static void add_end_point(struct path_index *index, uint64_t guid, uint32_t end_point)
{
    if (map_add(&index->by_guid, guid, end_point) == end_point)
        vec_push(&index->guids, guid);
}

/* MTU and rate of a link are the minimum of both ends. */
static void add_switch_links(struct path_index *index, const struct sa_view *view, uint32_t at)
{
    const struct network_switch *from = &view->network->switches.items[at];
    uint32_t node = map_get(&view->subnet->by_guid, from->guid);
    if (node == MAP_NONE)
        return;
    const struct subnet_node *known = &view->subnet->nodes.items[node];
    const struct subnet_port *ports = view->subnet->ports.items;
    for (unsigned number = 0; number <= from->port_count && number <= known->port_count; number++) {
        const struct subnet_port *port = &ports[known->first_port + number];
        uint32_t peer = view->network->ports.items[from->first_port + number].peer;
        struct path_quality *link = &index->links[from->first_port + number];
        *link = quality_of(port->info);
        if (port->peer != SUBNET_NONE)
            *link = minimum(*link, quality_of(ports[port->peer].info));
        if (peer == NETWORK_NONE || peer & NETWORK_SWITCH)
            continue;
        struct path_quality end =
            port->peer == SUBNET_NONE ? *link : quality_of(ports[port->peer].info);
        for (; peer != NETWORK_NONE; peer = view->network->terminals.items[peer].sharer)
            index->terminals[peer] = end;
    }
    unsigned capacity = (unsigned)wire_get(known->switch_info, SWITCH_INFO_MULTICAST_FDB_CAP);
    if (capacity && LID_MULTICAST_FIRST + capacity - 1 < index->last_mlid)
        index->last_mlid = (uint16_t)(LID_MULTICAST_FIRST + capacity - 1);
    index->switch_guids[at] = ports[known->first_port].guid;
    add_end_point(index, index->switch_guids[at], at | NETWORK_SWITCH);
}

static void find_policy_groups(struct path_index *index, const struct sa_view *view)
{
    const struct network *network = view->network;
    size_t terminals = network->terminals.count;
    if (!view->qos || !view->qos->on || !view->qos->members.count)
        return;
    index->groups =
        arena_alloc(&index->arena, (terminals + network->switches.count) * sizeof *index->groups);
    for (size_t i = 0; i < terminals; i++)
        index->groups[i] = qos_groups_at(view->qos, view->subnet, network->terminals.items[i].guid,
                                         network->terminals.items[i].lid);
    for (size_t i = 0; i < network->switches.count; i++)
        index->groups[terminals + i] = qos_groups_at(
            view->qos, view->subnet, index->switch_guids[i], network->switches.items[i].lid);
}

void path_index_build(struct path_index *index, const struct sa_view *view)
{
    const struct network *network = view->network;
    assert(!index->links && network->switches.count <= network->ports.count);
    index->links = arena_alloc(&index->arena, network->ports.count * sizeof *index->links);
    index->terminals =
        arena_alloc(&index->arena, network->terminals.count * sizeof *index->terminals);
    index->switch_guids =
        arena_alloc(&index->arena, network->switches.count * sizeof *index->switch_guids);
    index->clients =
        arena_alloc(&index->arena,
                    (network->terminals.count + network->switches.count) * sizeof *index->clients);
    index->last_mlid = LID_MULTICAST_LAST;
    for (uint32_t at = 0; at < network->switches.count; at++)
        add_switch_links(index, view, at);
    for (uint32_t i = 0; i < network->terminals.count; i++) {
        const struct network_terminal *terminal = &network->terminals.items[i];
        uint32_t port = view->subnet->by_lid[terminal->lid];
        if (terminal->at == NETWORK_NONE && port != SUBNET_NONE)
            index->terminals[i] = quality_of(view->subnet->ports.items[port].info);
        add_end_point(index, terminal->guid, i);
    }
    find_policy_groups(index, view);
}

void path_index_release(struct path_index *index)
{
    map_release(&index->by_guid);
    vec_release(&index->guids);
    arena_release(&index->arena);
    *index = (struct path_index){0};
}

uint64_t path_index_guid(const struct sa *sa, uint32_t end_point)
{
    return end_point & NETWORK_SWITCH ? sa->index.switch_guids[end_point & ~NETWORK_SWITCH]
                                      : sa->view.network->terminals.items[end_point].guid;
}

size_t path_index_place(const struct sa *sa, uint32_t end_point)
{
    return end_point & NETWORK_SWITCH
               ? sa->view.network->terminals.count + (end_point & ~NETWORK_SWITCH)
               : end_point;
}

/* MTU and rate of the end point itself: the port of a terminal, port 0 of a switch. */
static struct path_quality own_quality(const struct sa *sa, uint32_t end_point)
{
    const struct network *network = sa->view.network;
    return end_point & NETWORK_SWITCH
               ? sa->index.links[network->switches.items[end_point & ~NETWORK_SWITCH].first_port]
               : sa->index.terminals[end_point];
}

enum walk_state { WALKING, ARRIVED, LOST };

/* A walk along the tables to a LID of the destination. */
struct walk {
    uint32_t at, destination;
    unsigned dlid, hops;
    struct path_quality worst;
    enum walk_state state;
};

static inline struct walk walk_begin(const struct sa *sa, uint32_t source, uint32_t destination,
                                     unsigned dlid)
{
    const struct network *network = sa->view.network;
    assert(source != NETWORK_NONE && destination != NETWORK_NONE);
    struct walk walk = {
        .at = source, .destination = destination, .dlid = dlid, .worst = own_quality(sa, source)};
    if (network_switch_of(network, source) == NETWORK_NONE)
        walk.at = destination;
    if (walk.at == source && source != destination && !(source & NETWORK_SWITCH)) {
        const struct network_terminal *terminal = &network->terminals.items[source];
        const struct network_switch *first = &network->switches.items[terminal->at];
        walk.at = terminal->at | NETWORK_SWITCH;
        walk.worst = minimum(walk.worst, sa->index.links[first->first_port + terminal->port]);
        walk.hops = 1;
    }
    walk.state = walk.at == destination ? ARRIVED : WALKING;
    return walk;
}

static inline void walk_hop(const struct sa *sa, struct walk *walk)
{
    const struct network *network = sa->view.network;
    uint32_t at = walk->at & ~NETWORK_SWITCH;
    walk->state = LOST;
    if (!(walk->at & NETWORK_SWITCH) || walk->hops++ >= HOP_LIMIT)
        return;
    const struct network_switch *here = &network->switches.items[at];
    unsigned port = routes_port(sa->view.routes, at, walk->dlid);
    if (port == 0 || port > here->port_count)
        return;
    walk->worst = minimum(walk->worst, sa->index.links[here->first_port + port]);
    walk->at = network->ports.items[here->first_port + port].peer;
    if (network_leads_to(network, at, port, walk->destination))
        walk->state = ARRIVED;
    else if (walk->at != NETWORK_NONE)
        walk->state = WALKING;
}

static bool walk_end(const struct sa *sa, const struct walk *walk, struct path_quality *quality)
{
    *quality = walk->worst;
    if (walk->state == ARRIVED)
        *quality = minimum(walk->worst, own_quality(sa, walk->destination));
    return walk->state == ARRIVED;
}

bool path_index_follow(const struct sa *sa, uint32_t source, uint32_t destination, unsigned dlid,
                       struct path_quality *quality)
{
    struct walk walk = walk_begin(sa, source, destination, dlid);
    while (walk.state == WALKING)
        walk_hop(sa, &walk);
    return walk_end(sa, &walk, quality);
}

/* Most of the time of a walk is waiting for entries of tables, which are too large for the caches
 * of a processor. So both walks take turns: the processor reads an entry of each at a time. */
bool path_index_follow_both(const struct sa *sa, uint32_t source, unsigned slid,
                            uint32_t destination, unsigned dlid, struct path_quality *there,
                            bool *returns, struct path_quality *back)
{
    struct walk forth = walk_begin(sa, source, destination, dlid);
    struct walk home = walk_begin(sa, destination, source, slid);
    while (forth.state == WALKING || home.state == WALKING) {
        if (forth.state == WALKING)
            walk_hop(sa, &forth);
        if (home.state == WALKING)
            walk_hop(sa, &home);
    }
    *returns = walk_end(sa, &home, back);
    return walk_end(sa, &forth, there);
}
