/* Controlled flooding (paper 002 section 2.3), kept to reproduce the printed sequence of Fig. 6.
 *
 * From the destination outwards, in FIFO order, ports in ascending order. A visited switch takes
 * the port towards the one that visited it, unless that makes a down-up transition. Later offers
 * replace an entry if they lead down where it led up, or if they are shorter in the same direction.
 * Entries that were flooded from the replaced one stay, so on dense networks hop counts can be
 * stale; engines use fera_tables.c, which has no such flaw. */
#include "routing/paper/flood.h"

struct flood {
    const struct network *network;
    const struct updown *updown;
    uint16_t lid;
    uint32_t *place; /* by switch: index into `out`, or NETWORK_NONE */
    bool *down;      /* by switch: its entry leads down (or is the destination) */
    struct flood_entries *out;
    VEC(uint32_t) queue;
};

static void offer(struct flood *flood, uint32_t at, uint8_t port, uint16_t hops, bool down)
{
    struct flood_entry entry = {.at = at, .lid = flood->lid, .port = port, .hops = hops};
    if (flood->place[at] == NETWORK_NONE) {
        flood->place[at] = (uint32_t)flood->out->entries.count;
        vec_push(&flood->out->entries, entry);
    } else {
        struct flood_entry *old = &flood->out->entries.items[flood->place[at]];
        bool better = down != flood->down[at] ? down : hops < old->hops;
        if (!better)
            return;
        *old = entry;
    }
    flood->down[at] = down;
    vec_push(&flood->queue, at);
}

static void flood_neighbours(struct flood *flood, uint32_t at)
{
    const struct network *network = flood->network;
    flood->out->steps +=
        network->first_edge[at + 1] - network->first_edge[at] + network_terminal_count(network, at);
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        bool down = updown_is_up(flood->updown, at, edge->to);
        if (down && !flood->down[at])
            continue;
        uint16_t hops = flood->out->entries.items[flood->place[at]].hops;
        offer(flood, edge->to, edge->to_port, (uint16_t)(hops + 1), down);
    }
}

void flood_from(const struct network *network, const struct updown *updown, uint16_t lid,
                struct flood_entries *out)
{
    uint32_t owner = lid <= network->top_lid ? network->owner[lid] : NETWORK_NONE;
    uint32_t switches = (uint32_t)network->switches.count;
    if (owner == NETWORK_NONE)
        return;
    struct flood flood = {
        .network = network,
        .updown = updown,
        .lid = lid,
        .place = mem_alloc(switches * sizeof *flood.place),
        .down = mem_zalloc(switches, sizeof *flood.down),
        .out = out,
    };
    for (uint32_t at = 0; at < switches; at++)
        flood.place[at] = NETWORK_NONE;
    if (owner & NETWORK_SWITCH)
        offer(&flood, owner & ~NETWORK_SWITCH, 0, 0, true);
    else
        offer(&flood, network->terminals.items[owner].at, network->terminals.items[owner].port, 1,
              true);
    for (size_t head = 0; head < flood.queue.count; head++)
        flood_neighbours(&flood, flood.queue.items[head]);
    vec_release(&flood.queue);
    mem_free(flood.place);
    mem_free(flood.down);
}
