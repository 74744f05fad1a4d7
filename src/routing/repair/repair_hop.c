/* The dependencies of a hop: the packets that arrive at a switch, their VLs, and the channels that
 * they wait for on the path by this hop to the destination. */
#include "routing/repair/repair_column.h"

static uint16_t all_vls(const struct repair_column *column)
{
    return (uint16_t)((1u << column->cdg->count) - 1);
}

/* The channel by which a switch forwards the LID, or NETWORK_NONE. */
static uint32_t channel_from(const struct repair_column *column, uint32_t at)
{
    return cdg_leaving(column->cdg, at, repair_column_port(column, at));
}

/* The VLs of packets to the LID that begin at a switch and count. */
static uint16_t own_vls(const struct repair_column *column, uint32_t at)
{
    if (column->to_switch && network_terminal_count(column->network, at) == 0)
        return 0;
    if (column->cdg->count == 1)
        return 1;
    return (uint16_t)(1u << (routes_level(column->routes, at, column->lid) & 15)) & all_vls(column);
}

/* The VLs of all packets that leave a switch by its old entry. */
static uint16_t vls_from(struct repair_column *column, uint32_t at)
{
    const struct network *network = column->network;
    if (repair_column_cell(column, at)->vls != VLS_UNKNOWN)
        return column->cells[at].vls;
    column->cells[at].vls = 0; /* old tables may have loops that no packet enters */
    uint16_t vls = own_vls(column, at);
    for (uint32_t e = network->first_edge[at];
         vls != all_vls(column) && e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        if (repair_column_cell(column, edge->to)->old == edge->to_port)
            vls |= vls_from(column, edge->to);
    }
    column->cells[at].vls = vls;
    return vls;
}

static void add_arrival(struct repair_column *column, uint32_t edge, uint16_t vls,
                        struct repair_arrivals *arrivals)
{
    arrivals->together |= vls;
    arrivals->items[arrivals->count].from = column->network->edges[edge].to;
    arrivals->items[arrivals->count].channel = column->cdg->reverse[edge];
    arrivals->items[arrivals->count++].vls = vls;
}

void repair_find_arrivals(struct repair_column *column, uint32_t at,
                          struct repair_arrivals *arrivals)
{
    const struct network *network = column->network;
    arrivals->count = 0;
    arrivals->together = own_vls(column, at);
    if (column->repair->may_drain)
        return;
    column->repair->operations += network->first_edge[at + 1] - network->first_edge[at];
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        if (repair_column_cell(column, edge->to)->old == edge->to_port)
            add_arrival(column, e, vls_from(column, edge->to), arrivals);
    }
}

void repair_find_flow(struct repair_column *column, uint32_t at, struct repair_arrivals *arrivals)
{
    const struct network *network = column->network;
    arrivals->count = 0;
    arrivals->together = all_vls(column);
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        if (repair_column_port(column, edge->to) == edge->to_port ||
            repair_column_cell(column, edge->to)->old == edge->to_port)
            add_arrival(column, e, all_vls(column), arrivals);
    }
}

static bool insert_on_vls(struct repair_column *column, uint32_t in, uint32_t out, uint16_t vls)
{
    for (unsigned left = vls; left; left &= left - 1) {
        unsigned vl = (unsigned)__builtin_ctz(left);
        if (!cdg_has(column->cdg, vl, in, out) &&
            cdg_insert(column->cdg, vl, in, out) == CDG_REFUSED)
            return false;
    }
    return true;
}

/* Inserts all dependencies behind a hop, on these VLs, up to the destination. */
static bool insert_onwards(struct repair_column *column, uint32_t hop, uint16_t vls)
{
    uint32_t at = column->network->edges[hop].to;
    bool fine = true;
    while (fine && at != column->at) {
        uint32_t next = channel_from(column, at);
        fine = next != NETWORK_NONE && insert_on_vls(column, hop, next, vls);
        at = fine && !column->deps_counted ? column->network->edges[next].to : column->at;
        hop = next;
        column->repair->operations++;
    }
    return fine;
}

/* Whether the old entries lead from a switch to the destination. */
static bool was_delivered(struct repair_column *column, uint32_t at)
{
    const struct network *network = column->network;
    for (size_t hops = 0; at != column->at && hops <= network->switches.count; hops++) {
        uint8_t port = repair_column_cell(column, at)->old;
        uint32_t channel = cdg_leaving(column->cdg, at, port);
        column->repair->operations++;
        if (channel == NETWORK_NONE ||
            column->repair->is_new[network->switches.items[at].first_port + port])
            return false;
        at = network->edges[channel].to;
    }
    return at == column->at && repair_column_cell(column, at)->old == column->last_port;
}

/* Whether packets that `from` sends by `in` leave the next switch by the port on which they arrive.
 * Switches discard such packets (PortLoopingErrors counts them), so they wait for no channel. False
 * for packets that the old tables deliver: they must not be discarded. False if the graph may lack
 * dependencies of old entries: the packets leave by these before. */
static bool is_sent_back(struct repair_column *column, uint32_t from, uint32_t in, uint32_t out)
{
    return out == column->cdg->reverse[in] && !column->deps_missing && !was_delivered(column, from);
}

/* Inserts the dependency of packets that arrive by old entries and leave by a hop. */
static bool insert_arrival(struct repair_column *column, uint32_t hop,
                           const struct repair_arrivals *arrivals, unsigned i)
{
    uint32_t in = arrivals->items[i].channel;
    return is_sent_back(column, arrivals->items[i].from, in, hop) ||
           insert_on_vls(column, in, hop, arrivals->items[i].vls);
}

bool repair_try_hop(struct repair_column *column, uint32_t at, uint32_t hop,
                    const struct repair_arrivals *arrivals)
{
    const struct repair_cell *cell = &column->cells[at];
    /* dependencies between old entries are in the graph */
    bool counted =
        column->network->edges[hop].port == cell->old && !column->deps_missing && !cell->is_end;
    cdg_begin(column->cdg);
    bool fine = insert_onwards(column, hop, arrivals->together);
    for (unsigned i = 0; fine && !counted && i < arrivals->count; i++)
        fine = insert_arrival(column, hop, arrivals, i);
    return cdg_end(column->cdg, fine);
}

/* repair_try_hop(), but packets of old entries that must not use this hop are drained first: their
 * sender must get another entry. */
bool repair_try_hop_late(struct repair_column *column, uint32_t at, uint32_t hop,
                         const struct repair_arrivals *arrivals)
{
    cdg_begin(column->cdg);
    if (!cdg_end(column->cdg, insert_onwards(column, hop, arrivals->together)))
        return false;
    for (unsigned i = 0; i < arrivals->count; i++) {
        cdg_begin(column->cdg);
        if (!cdg_end(column->cdg, insert_arrival(column, hop, arrivals, i)))
            vec_push(&column->late, ((struct update_wait){at, arrivals->items[i].from, true}));
    }
    return true;
}

/* Inserts the dependencies of the old entries, whether they arrive or not: their packets are not in
 * the graph. False if one closes a cycle. */
bool repair_count_traffic(struct repair_column *column)
{
    const struct network *network = column->network;
    bool fine = true;
    column->repair->operations += network->switches.count;
    for (uint32_t at = 0; fine && at < network->switches.count; at++) {
        uint8_t port = repair_column_cell(column, at)->old;
        uint32_t in = cdg_leaving(column->cdg, at, port);
        if (in == NETWORK_NONE ||
            column->repair->is_new[network->switches.items[at].first_port + port])
            continue;
        uint32_t to = network->edges[in].to;
        uint32_t out = cdg_leaving(column->cdg, to, repair_column_cell(column, to)->old);
        fine = out == NETWORK_NONE || insert_on_vls(column, in, out, vls_from(column, at));
    }
    return fine;
}

static bool agrees_on_vls(const struct repair_column *column, uint32_t in, uint32_t out,
                          uint16_t vls)
{
    for (unsigned left = vls; left; left &= left - 1)
        if (!cdg_agrees(column->cdg, (unsigned)__builtin_ctz(left), in, out))
            return false;
    return true;
}

bool repair_goes_with_order(const struct repair_column *column, uint32_t hop, uint16_t vls)
{
    uint32_t out = channel_from(column, column->network->edges[hop].to);
    return out == NETWORK_NONE || agrees_on_vls(column, hop, out, vls);
}

bool repair_comes_with_order(const struct repair_column *column, uint32_t hop,
                             const struct repair_arrivals *arrivals)
{
    for (unsigned i = 0; i < arrivals->count; i++)
        if (arrivals->items[i].channel != column->cdg->reverse[hop] &&
            !agrees_on_vls(column, arrivals->items[i].channel, hop, arrivals->items[i].vls))
            return false;
    return true;
}

/* A switch on the route that gets a new entry forwards by its old one until then. That is safe if
 * it agrees with the order, or if the old one leads to a dead link or back (unless these packets
 * `arrived` so far); otherwise this entry must wait. */
void repair_find_waits(struct repair_column *column, uint32_t at,
                       const struct repair_arrivals *arrivals, bool arrived)
{
    const struct network *network = column->network;
    struct update_wait wait = {.entry = column->cells[at].changed};
    while (at != column->at) {
        uint32_t in = channel_from(column, at), from = at;
        at = network->edges[in].to;
        const struct repair_cell *cell = repair_column_cell(column, at);
        wait.first = cell->changed;
        uint32_t out = cdg_leaving(column->cdg, at, cell->old);
        bool dead = out == NETWORK_NONE || is_sent_back(column, from, in, out) ||
                    column->repair->is_new[network->switches.items[at].first_port + cell->old];
        if (wait.first == NETWORK_NONE || (dead && !arrived))
            continue;
        bool counted = !dead && !(arrivals->together & ~vls_from(column, at));
        if (counted && agrees_on_vls(column, in, out, arrivals->together))
            insert_on_vls(column, in, out, arrivals->together);
        else
            vec_push(&column->repair->waits, wait);
    }
}
