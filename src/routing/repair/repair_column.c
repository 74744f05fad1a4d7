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
#include "routing/repair/repair_column.h"

#include <string.h>

void repair_column_init(struct repair_column *column, const struct network *network,
                        struct routes *routes, struct repair *repair)
{
    uint32_t switches = (uint32_t)network->switches.count;
    *column = (struct repair_column){.network = network, .routes = routes, .repair = repair};
    column->cells = mem_zalloc(switches + 1, sizeof *column->cells);
    column->weight = mem_zalloc(switches + 1, sizeof *column->weight);
    column->level = mem_zalloc(switches + 2, sizeof *column->level);
    repair_near_init(&column->distances, network);
    repair_block_init(&column->block, network, routes, &repair->standing, repair->fresh);
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
    repair_near_release(&column->distances);
    repair_block_release(&column->block);
    for (size_t i = 0; i < column->network->switches.count + 2; i++)
        vec_release(&column->level[i]);
    mem_free(column->level);
    vec_release(&column->broken);
    vec_release(&column->stack);
    vec_release(&column->late);
}

/* ---- cells and entries ---- */

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

void repair_weigh_all(struct repair_column *column)
{
    for (uint32_t at = 0; at < column->network->switches.count; at++)
        weight_of(column, at);
}

void repair_shift_load(struct repair_column *column, uint32_t at, uint8_t from, uint8_t to,
                       uint64_t *load)
{
    const struct network_switch *node = &column->network->switches.items[at];
    uint64_t weight = weight_of(column, at);
    if (from <= node->port_count)
        load[from] -= load[from] < weight ? load[from] : weight;
    if (to <= node->port_count)
        load[to] += weight;
}

/* Where load of the LID counts, or NULL. */
static uint64_t *load_row(struct repair_column *column, uint32_t at, uint32_t lid)
{
    const struct network *network = column->network;
    uint32_t owner = lid <= network->top_lid ? network->owner[lid] : NETWORK_NONE;
    if (owner == NETWORK_NONE || (owner & NETWORK_SWITCH))
        return NULL;
    return column->repair->standing.load + network->switches.items[at].first_port;
}

uint32_t repair_change_entry_in(struct repair_column *column, uint32_t at, uint32_t lid,
                                uint8_t port, uint64_t *load)
{
    uint8_t *entry = routes_row(column->routes, at) + lid;
    struct repair_entry change = {at, (uint16_t)lid, *entry, port};
    if (load)
        repair_shift_load(column, at, *entry, port, load);
    *entry = port;
    vec_push(&column->repair->entries, change);
    return (uint32_t)column->repair->entries.count - 1;
}

uint32_t repair_change_entry(struct repair_column *column, uint32_t at, uint32_t lid, uint8_t port)
{
    return repair_change_entry_in(column, at, lid, port, load_row(column, at, lid));
}

void repair_column_aim(struct repair_column *column, uint32_t lid)
{
    const struct network *network = column->network;
    uint32_t owner = network->owner[lid], index = owner & ~NETWORK_SWITCH;
    column->epoch++;
    column->broken.count = column->late.count = 0;
    column->bit = 0;
    column->uncounted = column->hopeless = column->settling = column->detours = false;
    column->lid = lid;
    column->entries = column->routes->ports + lid;
    column->to_switch = owner & NETWORK_SWITCH;
    column->at = column->to_switch ? index : network->terminals.items[index].at;
    column->last_port = column->to_switch ? 0 : network->terminals.items[index].port;
    column->brief = !column->to_switch && column->repair->standing.graph.vls == 1;
    column->offset = lid - (column->to_switch ? network->switches.items[index].lid
                                              : network->terminals.items[index].lid);
    repair_column_cell(column, column->at)->state = STATE_SETTLED;
}

void repair_column_begin(struct repair_column *column, uint32_t lid)
{
    repair_column_aim(column, lid);
    struct repair_cell *cell = repair_column_cell(column, column->at);
    if (repair_column_port(column, column->at) != column->last_port) {
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

static uint32_t hops_from(struct repair_column *column, uint32_t at);

/* It could be that near; noted once, the nearest. */
static void put_level(struct repair_column *column, uint32_t hops, uint32_t at)
{
    uint32_t level = hops > column->now ? hops : column->now;
    if (column->cells[at].level <= hops)
        return;
    column->cells[at].level = (uint16_t)hops;
    vec_push(&column->level[level], at);
    if (level > column->top_level)
        column->top_level = level;
}

static void clear_levels(struct repair_column *column)
{
    for (; column->top_level; column->top_level--)
        column->level[column->top_level].count = 0;
}

/* How near a switch is at least. */
static uint32_t least_from(const struct repair_column *column, uint32_t at)
{
    return column->near ? column->near[at] : 0;
}

/* The nearest that a broken switch could be. */
static void offer_level(struct repair_column *column, uint32_t at, uint32_t least)
{
    column->cells[at].level = LEVEL_NONE;
    column->left++;
    if (least != NEAR_NONE && least != NETWORK_NONE)
        put_level(column, least ? least : 1, at);
}

static bool is_fed(struct repair_column *column, uint32_t at)
{
    const struct network *network = column->network;
    bool fed = false;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1] && !fed; e++)
        fed = repair_column_cell(column, network->edges[e].to)->old == network->edges[e].to_port;
    column->repair->operations += network->first_edge[at + 1] - network->first_edge[at];
    return fed;
}

/* How near it could be, through a neighbour that arrives, if that is more than `hops`; NETWORK_NONE
 * as things are. */
static uint32_t later_than(struct repair_column *column, uint32_t at, uint32_t hops)
{
    const struct network *network = column->network;
    uint32_t later = NETWORK_NONE;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t to = network->edges[e].to;
        if (least_from(column, to) + 1 >= later)
            continue;
        uint32_t near = hops_from(column, to);
        if (near != NETWORK_NONE && near + 1 > hops && near + 1 < later)
            later = near + 1;
    }
    return later;
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
    if (repair_column_cell(column, at)->state == STATE_NEW)
        mark_broken(column, at);
    column->cells[at].told = true;
}

void repair_column_take(struct repair_column *column)
{
    const struct repair_block *block = &column->block;
    uint64_t bit = UINT64_C(1) << block->bit[column->lid];
    column->bit = bit;
    for (size_t i = 0; i < block->met.count; i++) {
        uint32_t at = block->met.items[i];
        if (!(block->broken[at] & bit))
            continue;
        if (repair_column_cell(column, at)->state == STATE_NEW)
            mark_broken(column, at);
        column->cells[at].fed = block->fed[at] & bit;
    }
}

/* Follows the entries until it is clear whether they arrive. */
static void resolve(struct repair_column *column, uint32_t at)
{
    uint8_t in;
    column->stack.count = 0;
    while (repair_column_cell(column, at)->state == STATE_NEW) {
        column->cells[at].state = STATE_OPEN;
        vec_push(&column->stack, at);
        uint32_t to = standing_next(column->network, at, repair_column_port(column, at), &in);
        if (to == NETWORK_NONE)
            break;
        at = to;
    }
    bool arrives = column->cells[at].state == STATE_SETTLED;
    bool steady = at == column->at || column->cells[at].steady;
    uint32_t hops = arrives ? column->cells[at].hops : 0;
    column->repair->operations += column->stack.count;
    while (column->stack.count) {
        uint32_t back = column->stack.items[--column->stack.count];
        if (!arrives) {
            mark_broken(column, back);
            if (column->settling && column->cells[back].state == STATE_BROKEN) {
                column->cells[back].fed = is_fed(column, back);
                offer_level(column, back, least_from(column, back));
            }
            continue;
        }
        column->cells[back].state = STATE_SETTLED;
        column->cells[back].hops = (uint16_t)++hops;
        column->cells[back].steady = steady;
    }
}

/* Hops from a switch to the destination's, or NETWORK_NONE as long as it does not arrive. */
static uint32_t hops_from(struct repair_column *column, uint32_t at)
{
    struct repair_cell *cell = repair_column_cell(column, at);
    if (cell->state == STATE_NEW)
        resolve(column, at);
    return cell->state == STATE_SETTLED ? cell->hops : NETWORK_NONE;
}

/* ---- what is not counted ---- */

/* A route that arrives may still be one that nobody has counted: its address was gone meanwhile.
 * The nearest switches come first, so that whoever leads to a refused one is refused, too. */
static void confirm(struct repair_column *column, uint32_t at)
{
    struct repair_arrivals arrivals;
    struct network_edge hop = {.port = column->cells[at].old};
    hop.to = standing_next(column->network, at, hop.port, &hop.to_port);
    column->cells[at].fed = true;
    repair_find_arrivals(column, at, &arrivals);
    if (column->cells[hop.to].state != STATE_SETTLED ||
        !repair_try_hop(column, at, &hop, &arrivals))
        mark_broken(column, at);
}

void repair_column_look(struct repair_column *column)
{
    for (uint32_t at = 0; at < column->network->switches.count; at++)
        if (repair_column_cell(column, at)->state == STATE_NEW)
            resolve(column, at);
}

void repair_column_search(struct repair_column *column)
{
    uint32_t switches = (uint32_t)column->network->switches.count;
    repair_column_look(column);
    if (column->repair->live && bitset_has(column->repair->live, column->lid)) {
        column->hopeless = !repair_count_traffic(column);
        return;
    }
    column->uncounted = true;
    column->brief = false;
    column->now = 0;
    for (uint32_t at = 0; at < switches; at++)
        if (column->cells[at].state == STATE_SETTLED && at != column->at)
            put_level(column, column->cells[at].hops, at);
    for (uint32_t hops = 1; hops <= column->top_level; hops++)
        for (size_t i = 0; i < column->level[hops].count; i++)
            confirm(column, column->level[hops].items[i]);
    clear_levels(column);
}

/* ---- choosing ---- */

static void settle(struct repair_column *column, uint32_t at, const struct network_edge *hop,
                   const struct repair_arrivals *arrivals, uint32_t hops)
{
    const struct network *network = column->network;
    struct repair_cell *cell = &column->cells[at];
    if (hop->port != cell->old) {
        cell->changed = repair_change_entry(column, at, column->lid, hop->port);
        repair_find_waits(column, at, arrivals, false);
    }
    cell->state = STATE_SETTLED;
    cell->hops = (uint16_t)hops;
    /* Those who are still waiting at the least that they can do need not hear of it. */
    for (uint32_t e = network->first_edge[at]; column->failed && e < network->first_edge[at + 1];
         e++) {
        uint32_t to = network->edges[e].to;
        if (column->cells[to].epoch == column->epoch && column->cells[to].state == STATE_BROKEN)
            put_level(column, hops + 1, to);
    }
}

/* Hops that may make a switch as near as is wanted. Less is better: what agrees with the order, the
 * old port, links with less use, lower ports. */
struct choices {
    unsigned count;
    struct choice {
        uint64_t rating;
        const struct network_edge *hop;
    } items[NETWORK_TOP_PORT + 1];
};

enum { RATING_OLD = 61, RATING_COMES = 62, RATING_GOES = 63 }; /* bits that say that it does not */
#define RATING_ASKED UINT64_C(1)

/* AT_ONCE: by the neighbours' entries as they are. DETOUR: a neighbour takes another way, a
 * FAMILIAR one if there is any. LATE: after a drain. */
enum how { AT_ONCE, FAMILIAR, DETOUR, LATE };

static bool was_refused(const struct repair_column *column, const struct network_edge *hop)
{
    uint8_t out = repair_column_port(column, hop->to);
    return out <= column->network->switches.items[hop->to].port_count &&
           standing_refused(&column->repair->standing,
                            (struct standing_edge){hop->to, hop->to_port, out, 0});
}

static bool is_worth_a_try(const struct repair_column *column, const struct network_edge *hop,
                           enum how how)
{
    return how == AT_ONCE ? !was_refused(column, hop)
           : how == FAMILIAR
               ? dependency_has_other(&column->repair->standing.graph, hop->to, hop->to_port,
                                      repair_column_port(column, hop->to))
               : true;
}

/* For switches that have their old entry it is known for all LIDs of the block whether it agrees
 * with the order; others are asked later. */
static void find_choices(struct repair_column *column, uint32_t at, uint32_t hops, uint16_t lanes,
                         enum how how, struct choices *choices)
{
    const struct network *network = column->network;
    struct repair_block *block = &column->block;
    uint32_t first_port = network->switches.items[at].first_port;
    const uint64_t *load = column->repair->standing.load + first_port;
    uint8_t old = column->cells[at].old;
    uint64_t bit = lanes == 1 && !column->detours && block->counted ? column->bit : 0;
    struct choice *next = choices->items;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *hop = &network->edges[e];
        uint64_t against = 0, other = hop->port != old;
        if (column->near ? column->near[hop->to] >= hops : hops_from(column, hop->to) != hops - 1)
            continue;
        if (bit & ~block->broken[hop->to])
            against = !repair_block_fitting(block, first_port + hop->port, hop, bit);
        if ((against && !column->strange) || (lanes == 1 && !is_worth_a_try(column, hop, how)))
            continue;
        next->rating = against << RATING_GOES | other << RATING_OLD |
                       (load[hop->port] & (UINT64_MAX >> 11)) << 9 | (uint64_t)hop->port << 1;
        next++->hop = hop;
    }
    choices->count = (unsigned)(next - choices->items);
    column->repair->operations += network->first_edge[at + 1] - network->first_edge[at];
}

/* How far a hop disagrees with the order, as bits of its rating; all of them if it does not lead to
 * somebody who is near enough. */
static uint64_t ask_choice(struct repair_column *column, uint32_t at, uint32_t hops,
                           const struct network_edge *hop, const struct repair_arrivals *arrivals)
{
    if (hops_from(column, hop->to) != hops - 1)
        return UINT64_MAX;
    uint64_t against = !repair_goes_with_order(column, hop, arrivals->together);
    if (against && !column->strange)
        return UINT64_MAX;
    uint64_t comes = !repair_comes_with_order(column, at, hop->port, arrivals);
    return against << RATING_GOES | comes << RATING_COMES;
}

/* The best that is left, which is taken out, or NULL. What takes long to tell is asked only of
 * those whose turn it is. */
static const struct network_edge *next_choice(struct repair_column *column, uint32_t at,
                                              uint32_t hops, const struct repair_arrivals *arrivals,
                                              struct choices *choices)
{
    while (choices->count) {
        struct choice *best = choices->items;
        for (struct choice *other = best + 1; other < choices->items + choices->count; other++)
            best = other->rating < best->rating ? other : best;
        struct choice choice = *best;
        uint64_t against =
            choice.rating & RATING_ASKED ? 0 : ask_choice(column, at, hops, choice.hop, arrivals);
        if (against != UINT64_MAX && (choice.rating | against) != choice.rating) {
            best->rating |= against | RATING_ASKED;
            continue;
        }
        *best = choices->items[--choices->count];
        if (against != UINT64_MAX)
            return choice.hop;
    }
    return NULL;
}

/* Lets a neighbour that arrives take another hop that is as near, so that this one may follow it.
 * `familiar`: only one that others take. */
static bool try_detour(struct repair_column *column, uint32_t at, const struct network_edge *hop,
                       const struct repair_arrivals *arrivals, bool familiar)
{
    const struct network *network = column->network;
    uint32_t by = hop->to, near = column->cells[by].hops;
    uint8_t *entry = routes_row(column->routes, by) + column->lid, present = *entry;
    struct repair_cell *cell = &column->cells[by];
    struct repair_arrivals flow;
    repair_find_flow(column, by, &flow);
    for (uint32_t e = network->first_edge[by]; e < network->first_edge[by + 1]; e++) {
        const struct network_edge *other = &network->edges[e];
        struct standing_edge turn = {by, hop->to_port, other->port, 0};
        if (other->port == present || other->port == cell->old || other->to == at ||
            (familiar && !standing_has(&column->repair->standing, turn)) ||
            least_from(column, other->to) >= near || hops_from(column, other->to) != near - 1 ||
            !repair_try_hop(column, by, other, &flow))
            continue;
        *entry = other->port;
        bool fine = repair_try_hop(column, at, hop, arrivals);
        *entry = present;
        if (!fine)
            continue;
        if (cell->changed == NETWORK_NONE) {
            cell->changed = repair_change_entry(column, by, column->lid, other->port);
        } else {
            uint64_t *load = load_row(column, by, column->lid);
            if (load)
                repair_shift_load(column, by, present, other->port, load);
            column->repair->entries.items[cell->changed].after = *entry = other->port;
        }
        column->detours = true;
        repair_find_waits(column, by, &flow, true);
        return true;
    }
    return false;
}

/* Tries the next hops that make it this near, the best first. Else it will be tried again when
 * there are others; returns how near it could be then. */
static uint32_t try_level(struct repair_column *column, uint32_t at, uint32_t hops)
{
    struct repair_arrivals arrivals;
    struct choices choices;
    const struct network_edge *hop;
    bool refused = column->refused;
    repair_find_arrivals(column, at, &arrivals);
    for (enum how how = AT_ONCE; how <= LATE; how++) {
        bool detour = how == FAMILIAR || how == DETOUR;
        if ((detour && (!column->strange || hops == 1)) || (how == LATE && !column->drains))
            continue;
        find_choices(column, at, hops, arrivals.together, how, &choices);
        while ((hop = next_choice(column, at, hops, &arrivals, &choices)) != NULL) {
            column->refused = true;
            if (how == AT_ONCE ? repair_try_hop(column, at, hop, &arrivals)
                : detour       ? try_detour(column, at, hop, &arrivals, how == FAMILIAR)
                               : repair_try_hop_late(column, at, hop, &arrivals)) {
                settle(column, at, hop, &arrivals, hops);
                column->refused = refused;
                return 0;
            }
        }
    }
    column->failed = true;
    return later_than(column, at, hops);
}

/* Neighbours that are asked how near they are may turn out to be broken themselves. */
static void offer_levels(struct repair_column *column)
{
    column->left = column->now = 0;
    column->settling = false;
    for (size_t i = 0; i < column->broken.count; i++) {
        uint32_t at = column->broken.items[i];
        if (column->cells[at].state != STATE_BROKEN)
            continue;
        if (!(column->block.broken[at] & column->bit))
            column->cells[at].fed = is_fed(column, at);
        offer_level(column, at, column->near ? column->near[at] : later_than(column, at, 0));
    }
    column->settling = true;
}

/* One round; false if somebody is left. */
static bool settle_broken(struct repair_column *column, bool strange, bool drains)
{
    offer_levels(column);
    column->failed = !column->near;
    column->refused = false;
    column->strange = strange;
    column->drains = drains;
    for (column->now = 1; column->now <= column->top_level && column->left; column->now++) {
        for (size_t i = 0; i < column->level[column->now].count; i++) {
            uint32_t at = column->level[column->now].items[i];
            struct repair_cell *cell = &column->cells[at];
            uint32_t hops = cell->level;
            if (cell->state != STATE_BROKEN || hops > column->now)
                continue;
            cell->level = LEVEL_NONE;
            uint32_t later = try_level(column, at, hops);
            column->left -= later == 0;
            if (later != 0 && later != NETWORK_NONE)
                put_level(column, later, at);
        }
    }
    clear_levels(column);
    return column->left == 0;
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
    if (column->hopeless)
        return false;
    column->near = repair_near_to(&column->distances, column->at);
    if (!column->repair->standing.directed)
        settle_broken(column, true, true);
    else if (!settle_broken(column, false, false) &&
             !(column->refused && settle_broken(column, false, true)))
        settle_broken(column, true, true);
    column->repair->broken += column->broken.count;
    return is_mended(column) && note_late(column);
}
