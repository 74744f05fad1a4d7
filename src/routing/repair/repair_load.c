/* The load of links while a repair moves routes: the ordered pairs of terminals that use each, as
 * routing/check/verify.h counts them.
 *
 * All switches that send to a lost spine choose a port for the same LIDs, and they see the same
 * loads of their own links. A choice by these alone sends all of them to one other spine, whose
 * link to the destination then carries the share of two. So a hop is rated by the load of the whole
 * path behind it, and each choice adds its pairs to all links of its path: the sum of the squares
 * of all loads grows least.
 *
 * Left out: pairs of terminals that were lost with their switch stay in the loads. */
#include "routing/repair/repair_column.h"

enum { PATH_LIMIT = 64 }; /* hops: old tables may have loops */

static uint32_t own_pairs(const struct repair_column *column, uint32_t at)
{
    const struct routes *routes = column->routes;
    uint32_t offset =
        routes->offsets ? routes->offsets[(size_t)column->at * routes->switch_count + at] : 0;
    return offset == column->offset
               ? network_terminal_count(column->network, at) - (at == column->at)
               : 0;
}

/* The pairs that leave a switch by its present entry. */
static uint32_t pairs_leaving(struct repair_column *column, uint32_t at)
{
    const struct network *network = column->network;
    struct repair_cell *cell = repair_column_cell(column, at);
    if (cell->pairs != PAIRS_UNKNOWN)
        return cell->pairs;
    cell->pairs = 0; /* old tables may have loops */
    uint32_t pairs = own_pairs(column, at), first = network->first_edge[at], end = first;
    if (column->repair->forwards && column->repair->forwards[at])
        end = network->first_edge[at + 1];
    for (uint32_t e = first; e < end; e++)
        if (repair_column_port(column, network->edges[e].to) == network->edges[e].to_port)
            pairs += pairs_leaving(column, network->edges[e].to);
    column->repair->operations += end - first;
    return cell->pairs = pairs;
}

/* Adds pairs that begin at a switch to the links of their path. The path of an end that has no hop
 * yet goes on behind what was lost. */
static void add_to_path(struct repair_column *column, uint32_t at, int64_t pairs)
{
    const struct network *network = column->network;
    for (unsigned hops = 0; at != column->at && hops < PATH_LIMIT; hops++) {
        const struct network_switch *node = &network->switches.items[at];
        const struct repair_cell *cell = repair_column_cell(column, at);
        uint8_t port = repair_column_port(column, at);
        bool lost = cell->is_end && cell->state != CELL_ARRIVES;
        if (!lost && port > node->port_count)
            return;
        if (!lost) {
            uint64_t *load = &column->repair->state.load[node->first_port + port];
            *load = pairs < 0 && *load < (uint64_t)-pairs ? 0 : *load + (uint64_t)pairs;
        }
        at = lost ? cell->beyond : network_next(network, at, port);
        if (at == NETWORK_NONE)
            return;
        struct repair_cell *next = repair_column_cell(column, at);
        if (next->pairs != PAIRS_UNKNOWN)
            next->pairs += (uint32_t)pairs;
    }
}

void repair_load_remove(struct repair_column *column, uint32_t at)
{
    if (!column->to_switch)
        add_to_path(column, at, -(int64_t)pairs_leaving(column, at));
}

void repair_load_add(struct repair_column *column, uint32_t at)
{
    if (!column->to_switch)
        add_to_path(column, at, pairs_leaving(column, at));
}

uint64_t repair_load_of_hop(const struct repair_column *column, uint32_t hop)
{
    const struct network *network = column->network;
    const uint64_t *load = column->repair->state.load;
    const struct network_edge *edge = &network->edges[hop];
    uint64_t sum = 0;
    uint32_t at = edge->to;
    while (!column->to_switch && at != column->at) {
        uint8_t port = repair_column_port(column, at);
        sum += load[network->switches.items[at].first_port + port];
        at = network_next(network, at, port);
        column->repair->operations++;
    }
    return sum;
}
