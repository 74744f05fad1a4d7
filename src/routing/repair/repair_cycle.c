/* Why an entry finds no next hop: a cycle of channels that the first possible hop would close. It
 * is only for the log, so that an operator sees what prevents a repair. */
#include "routing/repair/repair_column.h"

struct cycle_refusal {
    uint32_t in, out;
    unsigned vl;
};

/* Inserts a dependency on trial. True if it is refused. */
static bool is_refused(struct repair_column *column, uint32_t in, uint32_t out, uint16_t vls,
                       struct cycle_refusal *refusal)
{
    for (unsigned left = vls; left; left &= left - 1) {
        unsigned vl = (unsigned)__builtin_ctz(left);
        *refusal = (struct cycle_refusal){in, out, vl};
        if (!cdg_has(column->cdg, vl, in, out) &&
            cdg_insert(column->cdg, vl, in, out) == CDG_REFUSED)
            return true;
    }
    return false;
}

/* Finds the first dependency of a hop that the graph refuses. */
static bool find_refusal(struct repair_column *column, uint32_t hop,
                         const struct repair_arrivals *arrivals, struct cycle_refusal *refusal)
{
    uint32_t in = hop, at = column->network->edges[hop].to;
    for (size_t hops = 0; at != column->at && hops < column->network->switches.count; hops++) {
        uint32_t out = cdg_leaving(column->cdg, at, repair_column_port(column, at));
        if (out == NETWORK_NONE)
            return false;
        if (is_refused(column, in, out, arrivals->together, refusal))
            return true;
        in = out;
        at = column->network->edges[out].to;
    }
    for (unsigned i = 0; i < arrivals->count; i++)
        if (is_refused(column, arrivals->items[i].channel, hop, arrivals->items[i].vls, refusal))
            return true;
    return false;
}

/* Stores the switches on the shortest path of dependencies from refusal->out to refusal->in. */
static void store_cycle(struct repair_column *column, const struct cycle_refusal *refusal)
{
    const struct network *network = column->network;
    uint32_t channels = column->cdg->channels, tail = 0;
    uint32_t *next = mem_alloc((channels + 1) * sizeof *next); /* towards refusal->in */
    uint32_t *queue = mem_alloc((channels + 1) * sizeof *queue);
    for (uint32_t c = 0; c < channels; c++)
        next[c] = NETWORK_NONE;
    queue[tail++] = refusal->in;
    next[refusal->in] = refusal->in;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t out = queue[head], at = network->edges[column->cdg->reverse[out]].to;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint32_t in = column->cdg->reverse[e];
            if (next[in] != NETWORK_NONE || !cdg_has(column->cdg, refusal->vl, in, out))
                continue;
            next[in] = out;
            queue[tail++] = in;
        }
    }
    uint32_t channel = refusal->out;
    while (next[channel] != NETWORK_NONE) {
        vec_push(&column->repair->cycle, network->edges[channel].to);
        if (channel == refusal->in)
            break;
        channel = next[channel];
    }
    mem_free(next);
    mem_free(queue);
}

void repair_explain_refusal(struct repair_column *column, uint32_t at)
{
    const struct network *network = column->network;
    struct repair *repair = column->repair;
    struct repair_arrivals arrivals;
    if (repair->cycle.count)
        return; /* one is enough */
    repair->stuck = (struct repair_end){at, (uint16_t)column->lid, 0, NETWORK_NONE};
    repair_find_arrivals(column, at, &arrivals);
    for (uint32_t hop = network->first_edge[at];
         hop < network->first_edge[at + 1] && !repair->cycle.count; hop++) {
        struct cycle_refusal refusal;
        if (repair_column_cell(column, network->edges[hop].to)->state != CELL_ARRIVES)
            continue;
        cdg_begin(column->cdg);
        if (find_refusal(column, hop, &arrivals, &refusal))
            store_cycle(column, &refusal);
        cdg_end(column->cdg, false);
    }
}
