/* What a hop gives rise to: which traffic comes to a switch, on which lanes, and what it waits for
 * when it leaves by the hop and goes on to the destination. */
#include "routing/repair/repair_column.h"

/* The lanes on which traffic to the LID that counts begins at a switch. */
static uint16_t own_lanes(const struct repair_column *column, uint32_t at)
{
    const struct routes *routes = column->routes;
    if (column->to_switch && network_terminal_count(column->network, at) == 0)
        return 0;
    if (!routes->service_levels || column->repair->standing.graph.vls == 1)
        return 1;
    return (
        uint16_t)(1u << (routes->service_levels[(size_t)at * routes->stride + column->lid] & 15));
}

/* The lanes of all traffic that leaves a switch by its old entry. */
static uint16_t lanes_from(struct repair_column *column, uint32_t at)
{
    const struct network *network = column->network;
    uint16_t all = (uint16_t)((1u << column->repair->standing.graph.vls) - 1);
    if (repair_column_cell(column, at)->lanes != LANES_UNKNOWN)
        return column->cells[at].lanes;
    column->cells[at].lanes = 0; /* old tables may go in circles that nobody is sent into */
    uint16_t lanes = own_lanes(column, at);
    for (uint32_t e = network->first_edge[at]; lanes != all && e < network->first_edge[at + 1];
         e++) {
        const struct network_edge *edge = &network->edges[e];
        if (repair_column_cell(column, edge->to)->old == edge->to_port)
            lanes |= lanes_from(column, edge->to);
    }
    column->cells[at].lanes = lanes & all;
    return lanes & all;
}

bool repair_column_carries(struct repair_column *column, uint32_t lid, uint32_t at)
{
    repair_column_aim(column, lid);
    return own_lanes(column, at) || lanes_from(column, at);
}

void repair_find_arrivals(struct repair_column *column, uint32_t at,
                          struct repair_arrivals *arrivals)
{
    const struct network *network = column->network;
    arrivals->count = 0;
    arrivals->together = own_lanes(column, at);
    if (!column->cells[at].fed || column->repair->patient)
        return;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        if (repair_column_cell(column, edge->to)->old != edge->to_port)
            continue;
        uint16_t lanes = lanes_from(column, edge->to);
        arrivals->together |= lanes;
        arrivals->items[arrivals->count].from = edge->to;
        arrivals->items[arrivals->count].in = edge->port;
        arrivals->items[arrivals->count++].lanes = lanes;
    }
}

static bool add_on_lanes(struct repair_column *column, uint32_t at, uint8_t in, uint8_t out,
                         uint16_t lanes)
{
    for (unsigned left = lanes; left; left &= left - 1)
        if (!standing_put(&column->repair->standing,
                          (struct standing_edge){at, in, out, (uint8_t)__builtin_ctz(left)}))
            return false;
    return true;
}

/* All that follows a hop, on these lanes, up to the destination. */
static bool add_onwards(struct repair_column *column, const struct network_edge *hop,
                        uint16_t lanes)
{
    uint32_t next = hop->to;
    uint8_t in = hop->to_port, onward_in = 0;
    bool fine = true;
    while (fine && next != column->at) {
        uint8_t port = repair_column_port(column, next);
        uint32_t onward = standing_next(column->network, next, port, &onward_in);
        fine = onward != NETWORK_NONE && add_on_lanes(column, next, in, port, lanes);
        next = column->brief ? column->at : onward;
        in = onward_in;
        column->repair->operations++;
    }
    return fine;
}

/* Everything that the hop gives rise to; false, and nothing has happened, if it closes a circle. */
bool repair_try_hop(struct repair_column *column, uint32_t at, const struct network_edge *hop,
                    const struct repair_arrivals *arrivals)
{
    const struct repair_cell *cell = &column->cells[at];
    /* What arrives and leaves by old entries has been counted. */
    bool fine = true, counted = hop->port == cell->old && !column->uncounted && !cell->told;
    for (unsigned i = 0; fine && !counted && i < arrivals->count; i++)
        fine = add_on_lanes(column, at, arrivals->items[i].in, hop->port, arrivals->items[i].lanes);
    fine = fine && add_onwards(column, hop, arrivals->together);
    if (fine)
        standing_keep(&column->repair->standing);
    else
        standing_undo(&column->repair->standing);
    return fine;
}

/* The same, but what an old entry may have sent here and must not go on this way is waited for. Its
 * sender cannot keep that entry then. */
bool repair_try_hop_late(struct repair_column *column, uint32_t at, const struct network_edge *hop,
                         const struct repair_arrivals *arrivals)
{
    struct standing *standing = &column->repair->standing;
    if (!add_onwards(column, hop, arrivals->together)) {
        standing_undo(standing);
        return false;
    }
    standing_keep(standing);
    for (unsigned i = 0; i < arrivals->count; i++) {
        if (add_on_lanes(column, at, arrivals->items[i].in, hop->port, arrivals->items[i].lanes)) {
            standing_keep(standing);
            continue;
        }
        standing_undo(standing);
        vec_push(&column->late, ((struct repair_wait){at, arrivals->items[i].from, true}));
    }
    return true;
}

/* What arrives at a switch by old entries or new ones, for one that arrives itself. */
void repair_find_flow(struct repair_column *column, uint32_t at, struct repair_arrivals *arrivals)
{
    const struct network *network = column->network;
    uint16_t all = (uint16_t)((1u << column->repair->standing.graph.vls) - 1);
    arrivals->count = 0;
    arrivals->together = all;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        if (repair_column_port(column, edge->to) != edge->to_port &&
            repair_column_cell(column, edge->to)->old != edge->to_port)
            continue;
        arrivals->items[arrivals->count].from = edge->to;
        arrivals->items[arrivals->count].in = edge->port;
        arrivals->items[arrivals->count++].lanes = all;
    }
}

/* Adds what the entries give rise to as they are, whether they arrive or not: they carry traffic
 * that nobody has counted. False if that closes a circle. */
bool repair_count_traffic(struct repair_column *column)
{
    const struct network *network = column->network;
    bool fine = true;
    uint8_t unused;
    column->repair->operations += network->switches.count;
    for (uint32_t at = 0; fine && at < network->switches.count; at++) {
        uint8_t port = repair_column_cell(column, at)->old, in;
        uint32_t to = standing_next(network, at, port, &in);
        if (to == NETWORK_NONE ||
            column->repair->fresh[network->switches.items[at].first_port + port])
            continue;
        uint8_t out = repair_column_cell(column, to)->old;
        fine = standing_next(network, to, out, &unused) == NETWORK_NONE ||
               add_on_lanes(column, to, in, out, lanes_from(column, at));
    }
    standing_keep(&column->repair->standing);
    return fine;
}

static inline bool fits_on_lanes(const struct repair_column *column, uint32_t at, uint8_t in,
                                 uint8_t out, uint16_t lanes)
{
    for (unsigned left = lanes; left; left &= left - 1)
        if (!standing_fits(&column->repair->standing,
                           (struct standing_edge){at, in, out, (uint8_t)__builtin_ctz(left)}))
            return false;
    return true;
}

/* Whether what follows the hop agrees with the order of channels. */
bool repair_goes_with_order(const struct repair_column *column, const struct network_edge *hop,
                            uint16_t lanes)
{
    uint8_t out = repair_column_port(column, hop->to), in;
    return standing_next(column->network, hop->to, out, &in) == NETWORK_NONE ||
           fits_on_lanes(column, hop->to, hop->to_port, out, lanes);
}

bool repair_comes_with_order(const struct repair_column *column, uint32_t at, uint8_t out,
                             const struct repair_arrivals *arrivals)
{
    for (unsigned i = 0; i < arrivals->count; i++)
        if (!fits_on_lanes(column, at, arrivals->items[i].in, out, arrivals->items[i].lanes))
            return false;
    return true;
}

/* Switches on the way that get a new entry forward by the old one until it is there. That is no
 * matter if it agrees with the order, or leads out of a dead link (unless this traffic `arrived` so
 * far); otherwise this entry has to wait. */
void repair_find_waits(struct repair_column *column, uint32_t at,
                       const struct repair_arrivals *arrivals, bool arrived)
{
    struct repair_wait wait = {.entry = column->cells[at].changed};
    uint8_t in = 0, unused;
    while (at != column->at) {
        at = standing_next(column->network, at, repair_column_port(column, at), &in);
        struct repair_cell *cell = repair_column_cell(column, at);
        if (cell->steady && !column->detours)
            return;
        wait.first = cell->changed;
        uint32_t first_port = column->network->switches.items[at].first_port;
        bool dead = standing_next(column->network, at, cell->old, &unused) == NETWORK_NONE ||
                    column->repair->fresh[first_port + cell->old];
        if (wait.first == NETWORK_NONE || (dead && !arrived))
            continue;
        bool counted = !dead && !(arrivals->together & ~lanes_from(column, at));
        if (counted && fits_on_lanes(column, at, in, cell->old, arrivals->together)) {
            add_on_lanes(column, at, in, cell->old, arrivals->together);
            standing_keep(&column->repair->standing);
        } else {
            vec_push(&column->repair->waits, wait);
        }
    }
}
