/* FERa as published: a controlled flooding from every destination (TPDS 2006, section 2.3).
 *
 * From the destination outwards, in FIFO order, ports in ascending order. A visited switch gets an
 * entry for the port towards the node that visited it, with the length of the route, unless the
 * route would have a down-up transition. A later route replaces an entry if it leads down where the
 * entry leads up, or if it is shorter in the same direction. Hosts are visited, but forward
 * nothing.
 *
 * If an entry is replaced by a longer one that leads down, the lengths that were flooded from it
 * stay as they are: these routes are legal, but may not be the shortest. The engine (fera.c)
 * has no such entries. */
#include "routing/paper/published.h"

static void visit(struct published *published, uint32_t destination, uint32_t from)
{
    const struct published_node *node = &published->nodes[from];
    bool *descends = published->marks;
    unsigned hops = from == destination ? 1 : node->hops[destination] + 1u;
    published->steps += node->end_port - node->first_port;
    for (uint32_t i = node->first_port; i < node->end_port; i++) {
        const struct published_port *port = &published->ports[i];
        const struct published_node *to = &published->nodes[port->to];
        bool down = port->up; /* as seen by the visited node */
        if (!to->table || (down && !descends[from]))
            continue;
        if (to->table[destination] != PORT_NONE &&
            (down == descends[port->to] ? hops >= to->hops[destination] : !down))
            continue;
        to->table[destination] = port->to_number;
        to->hops[destination] = (uint16_t)hops;
        descends[port->to] = down;
        vec_push(&published->queue, port->to);
    }
}

void published_flood(struct published *published, uint32_t destination)
{
    const struct published_node *node = &published->nodes[destination];
    published->queue.count = 0;
    published->marks[destination] = true;
    if (node->table) {
        node->table[destination] = 0;
        node->hops[destination] = 0;
    }
    vec_push(&published->queue, destination);
    for (size_t head = 0; head < published->queue.count; head++)
        visit(published, destination, published->queue.items[head]);
}

void published_fera(struct published *published)
{
    published_clear(published);
    for (uint32_t destination = 0; destination < published->count; destination++)
        published_flood(published, destination);
}
