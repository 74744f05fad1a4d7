/* PIRa as published: the formal definition of TPDS 2006, section 3.2, step by step.
 *
 * PREV(x), the neighbours of x over links that lead up from x, are its ports with `up`. The sink is
 * the only node with none. Where several nodes could be next, it is the one with the lowest LID;
 * the father, which the paper selects at random, is the neighbour with the highest. Both choices
 * are those of Fig. 8. */
#include "routing/paper/published.h"

/* PREV(x) is a subset of X. */
static bool is_next(struct published *published, uint32_t x)
{
    const struct published_node *node = &published->nodes[x];
    uint32_t i = node->first_port;
    while (i < node->end_port &&
           (!published->ports[i].up || published->marks[published->ports[i].to]))
        i++;
    published->steps += i - node->first_port + (i < node->end_port);
    return i == node->end_port;
}

/* The default port of x, and the entries of x and its neighbours in PREV(x) for each other. Returns
 * the father. */
static uint32_t connect_node(struct published *published, uint32_t x)
{
    struct published_node *node = &published->nodes[x];
    uint32_t father = NETWORK_NONE;
    published->steps += 2 * (node->end_port - node->first_port);
    for (uint32_t i = node->first_port; i < node->end_port; i++) {
        const struct published_port *port = &published->ports[i];
        if (port->up && (father == NETWORK_NONE || port->to > father)) {
            father = port->to;
            node->default_port = port->number;
        }
    }
    for (uint32_t i = node->first_port; i < node->end_port; i++) {
        const struct published_port *port = &published->ports[i];
        if (!port->up)
            continue;
        if (node->table && port->to != father && node->table[port->to] == PORT_NONE)
            node->table[port->to] = port->number;
        /* Of parallel links, which the paper does not have, the lowest port. */
        if (port->to_number < published->nodes[port->to].table[x])
            published->nodes[port->to].table[x] = port->to_number;
    }
    return father;
}

void published_pira(struct published *published)
{
    struct published_node *nodes = published->nodes;
    bool *explored = published->marks;
    published_clear(published);
    published->queue.count = 0;
    for (uint32_t step = 0; step < published->count; step++) {
        uint32_t x = 0;
        while (explored[x] || !is_next(published, x))
            x++;
        nodes[x].default_port = PORT_NONE;
        uint32_t father = connect_node(published, x);
        published->steps += father == NETWORK_NONE ? 0 : published->queue.count;
        for (size_t i = 0; father != NETWORK_NONE && i < published->queue.count; i++) {
            uint8_t *table = nodes[published->queue.items[i]].table;
            if (table[x] == PORT_NONE)
                table[x] = table[father];
        }
        explored[x] = true;
        if (nodes[x].table) {
            nodes[x].table[x] = 0;
            vec_push(&published->queue, x);
        }
    }
}
