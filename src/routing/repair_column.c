/* Mending one column.
 *
 * Every switch's entry leads to one other switch, so a column is a forest whose roots are the
 * destination and the broken ends. From each broken end the tree above it is found by asking
 * neighbours whether their entry points here. Its switches are then settled in order of their
 * distance, as Dijkstra's algorithm does it, starting from neighbours that still arrive; the first
 * choice that the dependency graph accepts is taken.
 *
 * Where the engine gave directions, hops that agree with them come first, at any distance, then
 * those that need a drain, and only then hops against the directions: each of these makes the next
 * ones harder to find. Engines without directions promise shortest routes or the like, so there
 * every hop is tried at its own distance. */
#include "routing/repair_column.h"

#include <string.h>

enum { STATE_NEW, STATE_OPEN, STATE_BROKEN, STATE_VOID, STATE_SETTLED };
enum { LANES_UNKNOWN = 0x8000 };

void repair_column_init(struct repair_column *column, const struct network *network,
                        struct routes *routes, struct repair *repair)
{
    uint32_t switches = (uint32_t)network->switches.count;
    *column = (struct repair_column){.network = network, .routes = routes, .repair = repair};
    column->cells = mem_zalloc(switches + 1, sizeof *column->cells);
    column->weight = mem_zalloc(switches + 1, sizeof *column->weight);
    column->level = mem_zalloc(switches + 2, sizeof *column->level);
    column->part = mem_alloc((switches + 1) * sizeof *column->part);
    if (network_parts(network, column->part) <= 1) {
        mem_free(column->part);
        column->part = NULL;
    }
}

void repair_column_release(struct repair_column *column)
{
    mem_free(column->cells);
    mem_free(column->weight);
    mem_free(column->part);
    for (size_t i = 0; i < column->network->switches.count + 2; i++)
        vec_release(&column->level[i]);
    mem_free(column->level);
    vec_release(&column->broken);
    vec_release(&column->stack);
    vec_release(&column->late);
}

/* ---- cells and entries ---- */

static inline uint8_t port_of(const struct repair_column *column, uint32_t at)
{
    return column->entries[(size_t)at * column->routes->stride];
}

static inline struct repair_cell *cell_of(struct repair_column *column, uint32_t at)
{
    struct repair_cell *cell = &column->cells[at];
    if (cell->epoch != column->epoch)
        *cell = (struct repair_cell){.epoch = column->epoch,
                                     .state = STATE_NEW,
                                     .old = port_of(column, at),
                                     .changed = NETWORK_NONE,
                                     .level = NETWORK_NONE,
                                     .lanes = LANES_UNKNOWN};
    return cell;
}

static uint64_t weight_of(struct repair_column *column, uint32_t at)
{
    const struct network *network = column->network;
    const uint64_t *load = column->repair->standing.load + network->switches.items[at].first_port;
    if (column->weight[at] == 0) {
        uint64_t sum = 0;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
            sum += load[network->edges[e].port];
        column->weight[at] = 1 + sum / (network->terminals.count + 1);
    }
    return column->weight[at];
}

static void shift_load(struct repair_column *column, uint32_t at, uint32_t lid, uint8_t port)
{
    const struct network *network = column->network;
    const struct network_switch *node = &network->switches.items[at];
    uint32_t owner = lid <= network->top_lid ? network->owner[lid] : NETWORK_NONE;
    if (owner == NETWORK_NONE || (owner & NETWORK_SWITCH))
        return;
    uint64_t *load = column->repair->standing.load + node->first_port;
    uint64_t weight = weight_of(column, at);
    uint8_t old = routes_port(column->routes, at, lid);
    if (old <= node->port_count)
        load[old] -= load[old] < weight ? load[old] : weight;
    if (port <= node->port_count)
        load[port] += weight;
}

uint32_t repair_change_entry(struct repair_column *column, uint32_t at, uint32_t lid, uint8_t port)
{
    uint8_t *entry = routes_row(column->routes, at) + lid;
    struct repair_entry change = {at, (uint16_t)lid, *entry, port};
    shift_load(column, at, lid, port);
    *entry = port;
    vec_push(&column->repair->entries, change);
    return (uint32_t)column->repair->entries.count - 1;
}

void repair_column_begin(struct repair_column *column, uint32_t lid)
{
    const struct network *network = column->network;
    uint32_t owner = network->owner[lid], index = owner & ~NETWORK_SWITCH;
    column->epoch++;
    column->broken.count = column->late.count = 0;
    column->uncounted = false;
    column->lid = lid;
    column->entries = column->routes->ports + lid;
    column->to_switch = owner & NETWORK_SWITCH;
    column->at = column->to_switch ? index : network->terminals.items[index].at;
    column->last_port = column->to_switch ? 0 : network->terminals.items[index].port;
    column->offset = lid - (column->to_switch ? network->switches.items[index].lid
                                              : network->terminals.items[index].lid);
    struct repair_cell *cell = cell_of(column, column->at);
    cell->state = STATE_SETTLED;
    if (port_of(column, column->at) != column->last_port) {
        column->repair->broken++;
        cell->changed = repair_change_entry(column, column->at, lid, column->last_port);
    }
}

/* ---- what is broken ---- */

/* Does anybody send to this very LID from here, or through here? */
static bool is_wanted(const struct repair_column *column, uint32_t at)
{
    const struct routes *routes = column->routes;
    uint32_t offset = 0;
    if (!column->to_switch && routes->offsets)
        offset = routes->offsets[(size_t)column->at * routes->switch_count + at];
    return column->offset == 0 || column->offset == offset;
}

static void mark_broken(struct repair_column *column, uint32_t at)
{
    struct repair_cell *cell = &column->cells[at];
    if (cell->old == PORT_NONE && !is_wanted(column, at)) {
        cell->state = STATE_VOID;
        return;
    }
    cell->state = STATE_BROKEN;
    vec_push(&column->broken, at);
}

void repair_column_tell(struct repair_column *column, uint32_t at)
{
    if (cell_of(column, at)->state == STATE_NEW)
        mark_broken(column, at);
    column->cells[at].told = true;
}

/* Follows the entries until it is clear whether they arrive. */
static void resolve(struct repair_column *column, uint32_t at)
{
    uint8_t in;
    column->stack.count = 0;
    while (cell_of(column, at)->state == STATE_NEW) {
        column->cells[at].state = STATE_OPEN;
        vec_push(&column->stack, at);
        uint32_t to = standing_next(column->network, at, port_of(column, at), &in);
        if (to == NETWORK_NONE)
            break;
        at = to;
    }
    bool arrives = column->cells[at].state == STATE_SETTLED;
    uint32_t hops = arrives ? column->cells[at].hops : 0;
    column->repair->operations += column->stack.count;
    while (column->stack.count) {
        uint32_t back = column->stack.items[--column->stack.count];
        if (!arrives) {
            mark_broken(column, back);
            continue;
        }
        column->cells[back].state = STATE_SETTLED;
        column->cells[back].hops = ++hops;
    }
}

/* Hops from a switch to the destination's, or NETWORK_NONE as long as it does not arrive. */
static uint32_t hops_from(struct repair_column *column, uint32_t at)
{
    struct repair_cell *cell = cell_of(column, at);
    if (cell->state == STATE_NEW)
        resolve(column, at);
    return cell->state == STATE_SETTLED ? cell->hops : NETWORK_NONE;
}

/* It could be that near; noted once, the nearest. */
static void put_level(struct repair_column *column, uint32_t hops, uint32_t at)
{
    if (column->cells[at].level <= hops)
        return;
    column->cells[at].level = hops;
    vec_push(&column->level[hops], at);
    if (hops > column->top_level)
        column->top_level = hops;
}

static void clear_levels(struct repair_column *column)
{
    for (; column->top_level; column->top_level--)
        column->level[column->top_level].count = 0;
}

/* ---- what a hop gives rise to ---- */

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
    if (cell_of(column, at)->lanes != LANES_UNKNOWN)
        return column->cells[at].lanes;
    column->cells[at].lanes = 0; /* old tables may go in circles that nobody is sent into */
    uint16_t lanes = own_lanes(column, at);
    for (uint32_t e = network->first_edge[at]; lanes != all && e < network->first_edge[at + 1];
         e++) {
        const struct network_edge *edge = &network->edges[e];
        if (cell_of(column, edge->to)->old == edge->to_port)
            lanes |= lanes_from(column, edge->to);
    }
    column->cells[at].lanes = lanes & all;
    return lanes & all;
}

/* What arrives at a switch that is to be settled: by old entries only, those who send here by new
 * ones are settled after it. */
struct arrivals {
    unsigned count;
    uint16_t together; /* lanes, with those of its own traffic */
    struct {
        uint32_t from;
        uint16_t lanes;
        uint8_t in;
    } items[256];
};

static void find_arrivals(struct repair_column *column, uint32_t at, struct arrivals *arrivals)
{
    const struct network *network = column->network;
    arrivals->count = 0;
    arrivals->together = own_lanes(column, at);
    if (!column->cells[at].fed || column->repair->patient)
        return;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        if (cell_of(column, edge->to)->old != edge->to_port)
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
        if (!standing_add(&column->repair->standing,
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
        uint8_t port = port_of(column, next);
        uint32_t onward = standing_next(column->network, next, port, &onward_in);
        fine = onward != NETWORK_NONE && add_on_lanes(column, next, in, port, lanes);
        next = onward;
        in = onward_in;
        column->repair->operations++;
    }
    return fine;
}

/* Everything that the hop gives rise to; false, and nothing has happened, if it closes a circle. */
static bool try_hop(struct repair_column *column, uint32_t at, const struct network_edge *hop,
                    const struct arrivals *arrivals)
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
static bool try_hop_late(struct repair_column *column, uint32_t at, const struct network_edge *hop,
                         const struct arrivals *arrivals)
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

/* A route that arrives may still be one that nobody has counted: its address was gone meanwhile.
 * The nearest switches come first, so that whoever leads to a refused one is refused, too. */
static void confirm(struct repair_column *column, uint32_t at)
{
    struct arrivals arrivals;
    struct network_edge hop = {.port = column->cells[at].old};
    hop.to = standing_next(column->network, at, hop.port, &hop.to_port);
    column->cells[at].fed = true;
    find_arrivals(column, at, &arrivals);
    if (column->cells[hop.to].state != STATE_SETTLED || !try_hop(column, at, &hop, &arrivals))
        mark_broken(column, at);
}

void repair_column_look(struct repair_column *column)
{
    for (uint32_t at = 0; at < column->network->switches.count; at++)
        if (cell_of(column, at)->state == STATE_NEW)
            resolve(column, at);
}

void repair_column_search(struct repair_column *column)
{
    uint32_t switches = (uint32_t)column->network->switches.count;
    repair_column_look(column);
    column->uncounted = true;
    for (uint32_t at = 0; at < switches; at++)
        if (column->cells[at].state == STATE_SETTLED && at != column->at)
            put_level(column, column->cells[at].hops, at);
    for (uint32_t hops = 1; hops <= column->top_level; hops++)
        for (size_t i = 0; i < column->level[hops].count; i++)
            confirm(column, column->level[hops].items[i]);
    clear_levels(column);
}

/* ---- choosing ---- */

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
static bool goes_with_order(const struct repair_column *column, const struct network_edge *hop,
                            uint16_t lanes)
{
    uint8_t out = port_of(column, hop->to), in;
    return standing_next(column->network, hop->to, out, &in) == NETWORK_NONE ||
           fits_on_lanes(column, hop->to, hop->to_port, out, lanes);
}

static bool comes_with_order(const struct repair_column *column, uint32_t at, uint8_t out,
                             const struct arrivals *arrivals)
{
    for (unsigned i = 0; i < arrivals->count; i++)
        if (!fits_on_lanes(column, at, arrivals->items[i].in, out, arrivals->items[i].lanes))
            return false;
    return true;
}

/* Switches on the way that get a new entry forward by the old one until it is there. That is no
 * matter if it agrees with the order, or leads out of a dead link (unless this traffic `arrived` so
 * far); otherwise this entry has to wait. */
static void find_waits(struct repair_column *column, uint32_t at, const struct arrivals *arrivals,
                       bool arrived)
{
    struct repair_wait wait = {.entry = column->cells[at].changed};
    uint8_t in = 0, unused;
    while (at != column->at) {
        at = standing_next(column->network, at, port_of(column, at), &in);
        struct repair_cell *cell = cell_of(column, at);
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

static void settle(struct repair_column *column, uint32_t at, const struct network_edge *hop,
                   const struct arrivals *arrivals, uint32_t hops)
{
    const struct network *network = column->network;
    struct repair_cell *cell = &column->cells[at];
    if (hop->port != cell->old) {
        cell->changed = repair_change_entry(column, at, column->lid, hop->port);
        find_waits(column, at, arrivals, false);
    }
    cell->state = STATE_SETTLED;
    cell->hops = hops;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t to = network->edges[e].to;
        if (column->cells[to].epoch == column->epoch && column->cells[to].state == STATE_BROKEN)
            put_level(column, hops + 1, to);
    }
}

/* The best hop of those that make a switch this near and come after `after`, which becomes its
 * rating; NULL: none. Less is better: what agrees with the order, the old port, links with less
 * use, lower ports. What agrees takes longest to tell, so it is asked last. */
static const struct network_edge *next_choice(struct repair_column *column, uint32_t at,
                                              uint32_t hops, const struct arrivals *arrivals,
                                              uint64_t *after)
{
    const struct network *network = column->network;
    const uint64_t *load = column->repair->standing.load + network->switches.items[at].first_port;
    const struct network_edge *best = NULL;
    uint64_t least = UINT64_MAX;
    column->repair->operations += network->first_edge[at + 1] - network->first_edge[at];
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *hop = &network->edges[e];
        if (hops_from(column, hop->to) != hops - 1)
            continue;
        uint64_t other = hop->port != column->cells[at].old, strange = 0;
        uint64_t rating = 1 | other << 61 | (load[hop->port] & (UINT64_MAX >> 11)) << 9 |
                          (uint64_t)hop->port << 1;
        if (rating >= least)
            continue;
        if (!goes_with_order(column, hop, arrivals->together))
            strange = 2;
        if (strange && !column->strange)
            continue;
        strange += !comes_with_order(column, at, hop->port, arrivals);
        rating |= strange << 62;
        if (rating < least && rating > *after) {
            least = rating;
            best = hop;
        }
    }
    *after = least;
    return best;
}

/* What arrives at a switch by old entries or new ones, for one that arrives itself. */
static void find_flow(struct repair_column *column, uint32_t at, struct arrivals *arrivals)
{
    const struct network *network = column->network;
    uint16_t all = (uint16_t)((1u << column->repair->standing.graph.vls) - 1);
    arrivals->count = 0;
    arrivals->together = all;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        if (port_of(column, edge->to) != edge->to_port &&
            cell_of(column, edge->to)->old != edge->to_port)
            continue;
        arrivals->items[arrivals->count].from = edge->to;
        arrivals->items[arrivals->count].in = edge->port;
        arrivals->items[arrivals->count++].lanes = all;
    }
}

/* Lets a neighbour that arrives take another hop that is as near, so that this one may follow it.
 */
static bool try_detour(struct repair_column *column, uint32_t at, const struct network_edge *hop,
                       const struct arrivals *arrivals)
{
    const struct network *network = column->network;
    uint32_t by = hop->to, near = column->cells[by].hops;
    uint8_t *entry = routes_row(column->routes, by) + column->lid, present = *entry;
    struct repair_cell *cell = &column->cells[by];
    struct arrivals flow;
    find_flow(column, by, &flow);
    for (uint32_t e = network->first_edge[by]; e < network->first_edge[by + 1]; e++) {
        const struct network_edge *other = &network->edges[e];
        if (other->port == present || other->port == cell->old || other->to == at ||
            hops_from(column, other->to) != near - 1 || !try_hop(column, by, other, &flow))
            continue;
        *entry = other->port;
        bool fine = try_hop(column, at, hop, arrivals);
        *entry = present;
        if (!fine)
            continue;
        if (cell->changed == NETWORK_NONE) {
            cell->changed = repair_change_entry(column, by, column->lid, other->port);
        } else {
            shift_load(column, by, column->lid, other->port);
            column->repair->entries.items[cell->changed].after = *entry = other->port;
        }
        find_waits(column, by, &flow, true);
        return true;
    }
    return false;
}

/* How near it could be next, or NETWORK_NONE as things are. */
static uint32_t later_than(struct repair_column *column, uint32_t at, uint32_t hops)
{
    const struct network *network = column->network;
    uint32_t later = NETWORK_NONE;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t near = hops_from(column, network->edges[e].to);
        if (near != NETWORK_NONE && near + 1 > hops && near + 1 < later)
            later = near + 1;
    }
    return later;
}

enum how { AT_ONCE, DETOUR, LATE };

/* Tries the next hops that make it this near, the best first. Else it will be tried again when
 * there are others; returns how near it could be then. */
static uint32_t try_level(struct repair_column *column, uint32_t at, uint32_t hops)
{
    struct arrivals arrivals;
    const struct network_edge *hop;
    bool refused = column->refused;
    find_arrivals(column, at, &arrivals);
    for (enum how how = AT_ONCE; how <= LATE; how++) {
        if ((how == DETOUR && (!column->strange || hops == 1)) || (how == LATE && !column->drains))
            continue;
        uint64_t rating = 0;
        while ((hop = next_choice(column, at, hops, &arrivals, &rating)) != NULL) {
            column->refused = true;
            if (how == AT_ONCE  ? try_hop(column, at, hop, &arrivals)
                : how == DETOUR ? try_detour(column, at, hop, &arrivals)
                                : try_hop_late(column, at, hop, &arrivals)) {
                settle(column, at, hop, &arrivals, hops);
                column->refused = refused;
                return 0;
            }
        }
    }
    return later_than(column, at, hops);
}

/* The nearest that each broken switch could be, through a neighbour that arrives. Neighbours that
 * do not are found to be broken on the way, and so everybody whose entries lead to a broken end. */
static size_t offer_levels(struct repair_column *column)
{
    const struct network *network = column->network;
    size_t left = 0;
    for (size_t i = 0; i < column->broken.count; i++) {
        uint32_t at = column->broken.items[i], nearest = NETWORK_NONE;
        if (column->cells[at].state != STATE_BROKEN)
            continue;
        left++;
        column->cells[at].level = NETWORK_NONE;
        bool fed = false;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            const struct network_edge *edge = &network->edges[e];
            uint32_t near = hops_from(column, edge->to);
            nearest = near < nearest ? near : nearest;
            fed |= column->cells[edge->to].old == edge->to_port;
        }
        column->cells[at].fed = fed;
        if (nearest != NETWORK_NONE)
            put_level(column, nearest + 1, at);
        column->repair->operations += network->first_edge[at + 1] - network->first_edge[at];
    }
    return left;
}

/* One round; false if somebody is left. */
static bool settle_broken(struct repair_column *column, bool strange, bool drains)
{
    size_t left = offer_levels(column);
    column->strange = strange;
    column->drains = drains;
    column->refused = false;
    for (uint32_t hops = 1; hops <= column->top_level && left; hops++) {
        for (size_t i = 0; i < column->level[hops].count; i++) {
            uint32_t at = column->level[hops].items[i];
            if (column->cells[at].state != STATE_BROKEN)
                continue;
            column->cells[at].level = NETWORK_NONE;
            uint32_t later = try_level(column, at, hops);
            left -= later == 0;
            if (later != 0 && later != NETWORK_NONE)
                put_level(column, later, at);
        }
    }
    clear_levels(column);
    return left == 0;
}

/* What could not be settled: not connected, or not wanted, or a failure. */
static bool is_mended(struct repair_column *column)
{
    bool mended = true;
    for (size_t i = 0; i < column->broken.count; i++) {
        uint32_t at = column->broken.items[i];
        struct repair_cell *cell = &column->cells[at];
        if (cell->state == STATE_SETTLED)
            continue;
        bool reachable = !column->part || column->part[at] == column->part[column->at];
        if (reachable && !is_wanted(column, at)) {
            if (cell->old != PORT_NONE)
                cell->changed = repair_change_entry(column, at, column->lid, PORT_NONE);
            continue;
        }
        column->repair->whole = false;
        mended &= !reachable;
    }
    return mended;
}

/* Those whose packets are waited for have another entry now, or it was for nothing. */
static bool note_late(struct repair_column *column)
{
    for (size_t i = 0; i < column->late.count; i++) {
        struct repair_wait wait = column->late.items[i];
        wait.entry = column->cells[wait.entry].changed;
        wait.first = column->cells[wait.first].changed;
        if (wait.first == NETWORK_NONE || wait.entry == NETWORK_NONE)
            return false;
        vec_push(&column->repair->waits, wait);
    }
    return true;
}

bool repair_column_mend(struct repair_column *column)
{
    if (!column->repair->standing.directed)
        settle_broken(column, true, true);
    else if (!settle_broken(column, false, false) &&
             !(column->refused && settle_broken(column, false, true)))
        settle_broken(column, true, true);
    column->repair->broken += column->broken.count;
    return is_mended(column) && note_late(column);
}
