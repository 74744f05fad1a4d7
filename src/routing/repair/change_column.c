/* Which lanes traffic uses, and whether there is any, depends on who sends: what arrives at a
 * switch is asked of its neighbours, and a route is walked to the end. */
#include "routing/repair/change_walk.h"

enum age { OLD, NEW };

/* A switch in the column; each part means something where its number is the column's own. */
struct change_place {
    uint32_t asked[2];
    uint32_t waited_for; /* … in which somebody waits for its packets to be gone */
    uint16_t lanes[2];
};

void change_begin_column(struct change_walk *walk)
{
    if (!walk->places)
        walk->places = mem_zalloc(walk->network->switches.count + 1, sizeof *walk->places);
    walk->column++;
}

/* The lanes on which traffic that counts begins at a switch. */
static uint16_t lanes_of(const struct change_walk *walk, uint32_t at, uint32_t lid)
{
    const struct routes *routes = walk->routes;
    uint32_t owner = change_owner(walk, lid);
    if (owner != NETWORK_NONE && (owner & NETWORK_SWITCH) &&
        network_terminal_count(walk->network, at) == 0)
        return 0;
    return walk->graph->vls == 1 || !routes->service_levels
               ? 1
               : (uint16_t)(1u << routes->service_levels[(size_t)at * routes->stride + lid]);
}

/* The lanes of traffic that counts and that leaves a switch: [OLD] by its old entry, if everybody
 * above it has the old one too, [NEW] by its new one, whatever those above it have. A new entry
 * that sends to an old one is a matter of the order of updates. */
static uint16_t lanes_from(struct change_walk *walk, uint32_t at, uint32_t lid, enum age age)
{
    const struct network *network = walk->network;
    struct change_place *place = &walk->places[at];
    uint16_t all = (uint16_t)((1u << walk->graph->vls) - 1);
    if (place->asked[age] == walk->column)
        return place->lanes[age];
    place->asked[age] = walk->column;
    place->lanes[age] = 0;
    uint16_t lanes = lanes_of(walk, at, lid) & all;
    for (uint32_t e = network->first_edge[at]; lanes != all && e < network->first_edge[at + 1];
         e++) {
        const struct network_edge *edge = &network->edges[e];
        if (change_old_port(walk, edge->to, lid) == edge->to_port)
            lanes |= lanes_from(walk, edge->to, lid, OLD);
        if (age == NEW && change_port(walk, edge->to, lid) == edge->to_port)
            lanes |= lanes_from(walk, edge->to, lid, NEW);
    }
    place->lanes[age] = lanes;
    return lanes;
}

/* What comes to a switch from one neighbour and leaves by the changed entry. Those who are waited
 * for send nothing here any more. */
static void gather_from(struct change_walk *walk, const struct repair_entry *entry,
                        const struct network_edge *edge)
{
    uint32_t lid = entry->lid;
    if (change_port(walk, edge->to, lid) == edge->to_port)
        change_put(walk, entry->at, edge->port, entry->after, lanes_from(walk, edge->to, lid, NEW));
    if (walk->places[edge->to].waited_for != walk->column &&
        change_old_port(walk, edge->to, lid) == edge->to_port)
        change_put(walk, entry->at, edge->port, entry->after, lanes_from(walk, edge->to, lid, OLD));
}

/* The same for all of them, and how that goes on. */
static void gather(struct change_walk *walk, const struct repair_entry *entry)
{
    const struct network *network = walk->network;
    uint32_t at = entry->at, lid = entry->lid;
    uint32_t first = network->first_edge[at], end = network->first_edge[at + 1];
    for (uint32_t e = first; e < end; e++)
        gather_from(walk, entry, &network->edges[e]);
    walk->operations += end - first;
    uint16_t lanes = lanes_from(walk, at, lid, NEW);
    const struct network_port *link;
    uint8_t port = entry->after;
    for (uint32_t hops = 0; hops < network->switches.count; hops++) {
        if (!(link = change_link(walk, at, port)))
            return;
        at = link->peer & ~NETWORK_SWITCH;
        port = change_port(walk, at, lid);
        change_put(walk, at, link->peer_port, port, lanes);
    }
}

int change_check_entry(struct change_walk *walk, const struct repair_entry *entry,
                       const uint32_t *waited_for, size_t waited_for_count, struct err *err)
{
    for (size_t i = 0; i < waited_for_count; i++)
        walk->places[waited_for[i]].waited_for = walk->column;
    int rc = change_check_arrival(walk, entry->at, entry->lid, err);
    if (!rc)
        gather(walk, entry);
    for (size_t i = 0; i < waited_for_count; i++)
        walk->places[waited_for[i]].waited_for = 0;
    return rc;
}

void change_put_old(struct change_walk *walk, uint32_t lid)
{
    const struct network *network = walk->network;
    for (uint32_t at = 0; at < network->switches.count; at++) {
        uint8_t port = change_old_port(walk, at, lid);
        const struct network_port *link = change_link(walk, at, port);
        if (!link || walk->fresh[network->switches.items[at].first_port + port])
            continue;
        uint32_t to = link->peer & ~NETWORK_SWITCH;
        change_put(walk, to, link->peer_port, change_old_port(walk, to, lid),
                   lanes_from(walk, at, lid, OLD));
    }
}
