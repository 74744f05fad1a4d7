/* Each switch has one next hop, so every walk ends in the tree of earlier walks. */
#include "routing/engines/column.h"

#include "routing/engines/sssp.h"

#include <assert.h>
#include <string.h>

enum { COLUMN_NEW, COLUMN_OPEN, COLUMN_IN, COLUMN_OUT };

void column_init(struct column *column, const struct network *network)
{
    size_t switches = network->switches.count;
    *column = (struct column){0};
    column->order = arena_alloc(&column->memory, (switches + 1) * sizeof *column->order);
    column->out = arena_alloc(&column->memory, switches * sizeof *column->out);
    column->next = arena_alloc(&column->memory, switches * sizeof *column->next);
    column->path = arena_alloc(&column->memory, switches * sizeof *column->path);
    column->state = arena_alloc(&column->memory, switches);
}

void column_release(struct column *column)
{
    arena_release(&column->memory);
}

static bool find_target(struct column *column, const struct network *network, uint32_t lid)
{
    uint32_t owner = network->owner[lid];
    if (owner == NETWORK_NONE)
        return false;
    column->lid = lid;
    column->to_terminal = !(owner & NETWORK_SWITCH);
    if (column->to_terminal) {
        column->target = network->terminals.items[owner].at;
        return true;
    }
    column->target = owner & ~NETWORK_SWITCH;
    return network->switches.items[column->target].lid == lid &&
           !sssp_first_lid(network, column->target);
}

/* Walks to a switch that is resolved, and resolves all switches on the path. */
static void resolve_path(struct column *column, const struct cdg *cdg, const struct routes *routes,
                         uint32_t at)
{
    const struct network *network = cdg->network;
    uint32_t length = 0;
    while (column->state[at] == COLUMN_NEW) {
        uint32_t out = cdg_leaving(cdg, at, routes_port(routes, at, column->lid));
        if (out == NETWORK_NONE) {
            column->state[at] = COLUMN_OUT;
            break;
        }
        column->state[at] = COLUMN_OPEN;
        column->path[length++] = at;
        column->out[at] = out;
        column->next[at] = network->edges[out].to;
        at = column->next[at];
    }
    bool in = column->state[at] == COLUMN_IN;
    while (length) {
        at = column->path[--length];
        column->state[at] = in ? COLUMN_IN : COLUMN_OUT;
        if (in)
            column->order[column->count++] = at;
    }
}

bool column_read(struct column *column, const struct cdg *cdg, const struct routes *routes,
                 uint32_t lid)
{
    assert(lid > 0 && lid <= cdg->network->top_lid);
    uint32_t switches = (uint32_t)cdg->network->switches.count;
    if (!find_target(column, cdg->network, lid))
        return false;
    memset(column->state, COLUMN_NEW, switches);
    column->state[column->target] = COLUMN_IN;
    column->order[0] = column->target;
    column->count = 1;
    for (uint32_t at = 0; at < switches; at++)
        if (column->state[at] == COLUMN_NEW)
            resolve_path(column, cdg, routes, at);
    return true;
}
