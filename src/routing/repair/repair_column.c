/* The repair of one column.
 *
 * Every switch's entry leads to one other switch, so a column is a forest. Its roots are the
 * destination and the ends: switches whose entry does not lead to where it led.
 *
 * First each end gets a hop that keeps its distance to the destination, if possible: switches that
 * send to it do not change then. If an end is left, the tree behind it is broken: its switches are
 * found by following the entries of neighbours. They then get hops in order of their distance, as
 * in Dijkstra's algorithm, starting from neighbours whose routes arrive. The first hop that the
 * dependency graph accepts is taken.
 *
 * If the engine has directions, hops that agree with them come first, at any distance, then those
 * that need a drain, and last hops against the directions: each of these makes the next ones harder
 * to find. Engines without directions promise shortest routes or the like, so every hop is tried at
 * its own distance. */
#include "routing/repair/repair_column.h"

#include <assert.h>

void repair_column_init(struct repair_column *column, const struct network *network,
                        struct routes *routes, struct repair *repair)
{
    uint32_t switches = (uint32_t)network->switches.count;
    *column = (struct repair_column){
        .network = network, .routes = routes, .repair = repair, .cdg = &repair->state.cdg};
    column->cells = arena_alloc(&column->memory, switches * sizeof *column->cells);
    column->level = arena_alloc(&column->memory, (switches + 2) * sizeof *column->level);
    column->part = arena_alloc(&column->memory, switches * sizeof *column->part);
    network_parts(network, column->part);
}

void repair_column_release(struct repair_column *column)
{
    for (size_t i = 0; i < column->network->switches.count + 2; i++)
        vec_release(&column->level[i]);
    arena_release(&column->memory);
    vec_release(&column->broken);
    vec_release(&column->behind);
    vec_release(&column->stack);
    vec_release(&column->late);
}

/* ---- entries ---- */

uint32_t repair_change_entry(struct repair_column *column, uint32_t at, uint32_t lid, uint8_t port)
{
    assert(at < column->routes->switch_count && lid < column->routes->stride);
    uint8_t *entry = routes_row(column->routes, at) + lid;
    struct table_change change = {at, (uint16_t)lid, *entry, port};
    *entry = port;
    vec_push(&column->repair->entries, change);
    return (uint32_t)column->repair->entries.count - 1;
}

void repair_column_begin(struct repair_column *column, uint32_t lid)
{
    assert(network_owner(column->network, lid) != NETWORK_NONE);
    const struct network *network = column->network;
    uint32_t owner = network->owner[lid], index = owner & ~NETWORK_SWITCH;
    column->epoch++;
    column->broken.count = column->behind.count = column->late.count = 0;
    column->deps_missing = column->old_routes_cyclic = column->keep = false;
    column->first_entry = column->repair->entries.count;
    column->first_wait = column->repair->waits.count;
    column->lid = lid;
    column->to_switch = owner & NETWORK_SWITCH;
    column->at = network_switch_of(network, owner);
    column->last_port = column->to_switch ? 0 : network->terminals.items[index].port;
    column->deps_counted = !column->to_switch && column->cdg->count == 1;
    column->offset = lid - (column->to_switch ? network->switches.items[index].lid
                                              : network->terminals.items[index].lid);
    struct repair_cell *cell = repair_column_cell(column, column->at);
    cell->state = CELL_ARRIVES;
    if (cell->old != column->last_port) {
        column->repair->broken++;
        cell->changed = repair_change_entry(column, column->at, lid, column->last_port);
    }
}

/* ---- what is broken ---- */

/* Whether terminals of this switch, or the switch itself, use this LID. */
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
        cell->state = CELL_UNUSED;
        return;
    }
    cell->state = CELL_BROKEN;
    vec_push(&column->broken, at);
}

void repair_column_add_end(struct repair_column *column, const struct repair_end *end)
{
    struct repair_cell *cell = repair_column_cell(column, end->at);
    if (cell->state == CELL_NEW) {
        cell->hops = end->hops;
        mark_broken(column, end->at);
    }
    cell->is_end = true;
    cell->beyond = end->beyond;
}

/* Follows the entries until a switch whose state is known. */
static void resolve_route(struct repair_column *column, uint32_t at)
{
    column->stack.count = 0;
    while (repair_column_cell(column, at)->state == CELL_NEW) {
        uint32_t channel = cdg_leaving(column->cdg, at, repair_column_port(column, at));
        column->cells[at].state = CELL_OPEN;
        vec_push(&column->stack, at);
        if (channel == NETWORK_NONE)
            break;
        at = column->network->edges[channel].to;
    }
    bool arrives = column->cells[at].state == CELL_ARRIVES;
    uint32_t hops = arrives ? column->cells[at].hops : 0;
    column->repair->operations += column->stack.count;
    while (column->stack.count) {
        uint32_t back = column->stack.items[--column->stack.count];
        if (arrives) {
            column->cells[back].state = CELL_ARRIVES;
            column->cells[back].hops = (uint16_t)++hops;
        } else if (column->keep) {
            column->cells[back].state = CELL_BEHIND;
            vec_push(&column->behind, back);
        } else {
            mark_broken(column, back);
        }
    }
}

/* Hops from a switch to the destination's, or NETWORK_NONE if its route does not arrive. */
static uint32_t hops_from(struct repair_column *column, uint32_t at)
{
    struct repair_cell *cell = repair_column_cell(column, at);
    if (cell->state == CELL_NEW)
        resolve_route(column, at);
    return cell->state == CELL_ARRIVES ? cell->hops : NETWORK_NONE;
}

/* Lists a switch by its possible distance, unless it is listed with a smaller one. */
static void put_level(struct repair_column *column, uint32_t hops, uint32_t at)
{
    if (column->cells[at].level <= hops)
        return;
    column->cells[at].level = (uint16_t)hops;
    vec_push(&column->level[hops], at);
    if (hops > column->top_level)
        column->top_level = hops;
}

static void clear_levels(struct repair_column *column)
{
    for (; column->top_level; column->top_level--)
        column->level[column->top_level].count = 0;
}

/* ---- what is not counted ---- */

void repair_column_look(struct repair_column *column)
{
    for (uint32_t at = 0; at < column->network->switches.count; at++)
        if (repair_column_cell(column, at)->state == CELL_NEW)
            resolve_route(column, at);
}

void repair_column_search(struct repair_column *column)
{
    uint32_t switches = (uint32_t)column->network->switches.count;
    struct repair_arrivals arrivals;
    repair_column_look(column);
    if (column->repair->live && bitset_has(column->repair->live, column->lid)) {
        column->old_routes_cyclic = !repair_count_traffic(column);
        return;
    }
    column->deps_missing = true;
    column->deps_counted = false;
    for (uint32_t at = 0; at < switches; at++)
        if (column->cells[at].state == CELL_ARRIVES && at != column->at)
            put_level(column, column->cells[at].hops, at);
    /* The dependencies of a route that arrives may be missing in the graph, if its LID was unused
     * meanwhile. The nearest switches come first: a switch that sends to a broken one is broken. */
    for (uint32_t hops = 1; hops <= column->top_level; hops++)
        for (size_t i = 0; i < column->level[hops].count; i++) {
            uint32_t at = column->level[hops].items[i];
            uint32_t hop = cdg_leaving(column->cdg, at, column->cells[at].old);
            repair_find_arrivals(column, at, &arrivals);
            if (column->cells[column->network->edges[hop].to].state != CELL_ARRIVES ||
                !repair_try_hop(column, at, hop, &arrivals))
                mark_broken(column, at);
        }
    clear_levels(column);
}

/* ---- choosing ---- */

static void take_hop(struct repair_column *column, uint32_t at, uint32_t hop,
                     const struct repair_arrivals *arrivals, uint32_t hops)
{
    const struct network *network = column->network;
    struct repair_cell *cell = &column->cells[at];
    uint8_t port = network->edges[hop].port;
    bool moves = port != cell->old || cell->is_end;
    if (moves)
        repair_load_remove(column, at);
    cell->state = CELL_ARRIVES;
    if (port != cell->old) {
        cell->changed = repair_change_entry(column, at, column->lid, port);
        repair_find_waits(column, at, arrivals, false);
    }
    if (moves)
        repair_load_add(column, at);
    cell->hops = (uint16_t)hops;
    for (uint32_t e = network->first_edge[at]; !column->keep && e < network->first_edge[at + 1];
         e++) {
        uint32_t to = network->edges[e].to;
        if (column->cells[to].epoch == column->epoch && column->cells[to].state == CELL_BROKEN)
            put_level(column, hops + 1, to);
    }
}

/* AT_ONCE: by the neighbours' entries as they are. DETOUR: a neighbour takes another hop. LATE:
 * after a drain. */
enum how { AT_ONCE, DETOUR, LATE };

/* A candidate hop and its rating. Less is better: hops that agree with the order of channels, hops
 * that agree with the channels that arrive at the switch, the old port, paths with less load, lower
 * ports. */
struct hop_choice {
    uint32_t hop;    /* NETWORK_NONE: there is none */
    uint64_t rating; /* in bits: CLASS_BIT and above the class, 9 to 60 the load, 1 to 8 the port */
    bool weighed;    /* the load is that of the whole path, else that of the first link */
};
enum { CLASS_BIT = 61 };
#define CHOICE_NONE ((struct hop_choice){NETWORK_NONE, UINT64_MAX, true})

static void weigh_path(struct repair_column *column, struct hop_choice *choice)
{
    if (!choice->weighed)
        choice->rating += repair_load_of_hop(column, choice->hop) << 9;
    choice->weighed = true;
}

/* Rates a hop at this distance that agrees with the order or not, by its first link. False if it is
 * not one, or if it cannot be better than `best`. The most expensive test comes last. */
static bool rate_hop(struct repair_column *column, uint32_t at, uint32_t hop, uint32_t hops,
                     const struct repair_arrivals *arrivals, bool agreeing,
                     const struct hop_choice *best, struct hop_choice *choice)
{
    const struct network *network = column->network;
    const struct network_edge *edge = &network->edges[hop];
    const struct repair_cell *cell = &column->cells[edge->to];
    if (cell->epoch == column->epoch && cell->state != CELL_NEW &&
        (cell->state != CELL_ARRIVES || cell->hops != hops - 1))
        return false;
    uint64_t load = column->repair->state.load[network->switches.items[at].first_port + edge->port];
    uint64_t against = !agreeing, other = edge->port != column->cells[at].old;
    uint64_t rating = 1 | against << 63 | other << CLASS_BIT | (load & (UINT64_MAX >> 12)) << 9 |
                      (uint64_t)edge->port << 1;
    uint64_t limit = best->weighed ? best->rating : best->rating | ((UINT64_C(1) << CLASS_BIT) - 1);
    if (rating >= limit || repair_goes_with_order(column, hop, arrivals->together) != agreeing ||
        hops_from(column, edge->to) != hops - 1)
        return false;
    uint64_t late = !repair_comes_with_order(column, hop, arrivals);
    *choice = (struct hop_choice){hop, rating | late << 62, false};
    return true;
}

/* The best hop at this distance. The only one of its class is not weighed. */
static struct hop_choice best_choice(struct repair_column *column, uint32_t at, uint32_t hops,
                                     const struct repair_arrivals *arrivals)
{
    const struct network *network = column->network;
    uint32_t first = network->first_edge[at], end = network->first_edge[at + 1];
    struct hop_choice best = CHOICE_NONE, choice;
    for (int against = 0; against <= column->reorder && best.hop == NETWORK_NONE; against++) {
        column->repair->operations += end - first;
        for (uint32_t hop = first; hop < end; hop++) {
            if (!rate_hop(column, at, hop, hops, arrivals, !against, &best, &choice))
                continue;
            if (choice.rating >> CLASS_BIT == best.rating >> CLASS_BIT) {
                weigh_path(column, &choice);
                weigh_path(column, &best);
            }
            if (choice.rating < best.rating)
                best = choice;
        }
    }
    return best;
}

/* All hops at this distance, the best first. Returns their number. */
static unsigned list_choices(struct repair_column *column, uint32_t at, uint32_t hops,
                             const struct repair_arrivals *arrivals, struct hop_choice *choices)
{
    const struct network *network = column->network;
    const struct hop_choice none = CHOICE_NONE;
    struct hop_choice choice;
    uint32_t first = network->first_edge[at], end = network->first_edge[at + 1];
    unsigned count = 0;
    column->repair->operations += end - first;
    for (uint32_t hop = first; hop < end; hop++) {
        if (!rate_hop(column, at, hop, hops, arrivals, true, &none, &choice) &&
            !(column->reorder && rate_hop(column, at, hop, hops, arrivals, false, &none, &choice)))
            continue;
        weigh_path(column, &choice);
        unsigned place = count++;
        for (; place && choices[place - 1].rating > choice.rating; place--)
            choices[place] = choices[place - 1];
        choices[place] = choice;
    }
    return count;
}

/* Tries to give a neighbour whose route arrives another hop at the same distance, so that this
 * switch may send to it. */
static bool try_detour(struct repair_column *column, uint32_t at, uint32_t hop,
                       const struct repair_arrivals *arrivals)
{
    const struct network *network = column->network;
    uint32_t by = network->edges[hop].to, near = column->cells[by].hops;
    uint8_t *entry = routes_row(column->routes, by) + column->lid, present = *entry;
    struct repair_cell *cell = &column->cells[by];
    struct repair_arrivals flow;
    repair_find_flow(column, by, &flow);
    for (uint32_t e = network->first_edge[by]; e < network->first_edge[by + 1]; e++) {
        const struct network_edge *other = &network->edges[e];
        if (other->port == present || other->port == cell->old || other->to == at ||
            hops_from(column, other->to) != near - 1 || !repair_try_hop(column, by, e, &flow))
            continue;
        *entry = other->port;
        bool fine = repair_try_hop(column, at, hop, arrivals);
        *entry = present;
        if (!fine)
            continue;
        repair_load_remove(column, by);
        if (cell->changed == NETWORK_NONE)
            cell->changed = repair_change_entry(column, by, column->lid, other->port);
        else
            column->repair->entries.items[cell->changed].after = *entry = other->port;
        repair_load_add(column, by);
        repair_find_waits(column, by, &flow, true);
        return true;
    }
    return false;
}

/* The smallest distance above `hops` through a neighbour whose route arrives; NETWORK_NONE if there
 * is none. */
static uint32_t next_distance(struct repair_column *column, uint32_t at, uint32_t hops)
{
    const struct network *network = column->network;
    uint32_t later = NETWORK_NONE;
    column->repair->operations += network->first_edge[at + 1] - network->first_edge[at];
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t near = hops_from(column, network->edges[e].to);
        if (near != NETWORK_NONE && near + 1 > hops && near + 1 < later)
            later = near + 1;
    }
    return later;
}

static bool try_choice(struct repair_column *column, uint32_t at, uint32_t hop, uint32_t hops,
                       const struct repair_arrivals *arrivals, enum how how)
{
    bool fine = how == AT_ONCE  ? repair_try_hop(column, at, hop, arrivals)
                : how == DETOUR ? try_detour(column, at, hop, arrivals)
                                : repair_try_hop_late(column, at, hop, arrivals);
    if (fine)
        take_hop(column, at, hop, arrivals, hops);
    return fine;
}

/* Tries the hops at this distance, the best first; true if one was taken. In most cases the graph
 * accepts the best, so that the others need not be rated. */
static bool try_level(struct repair_column *column, uint32_t at, uint32_t hops)
{
    struct repair_arrivals arrivals;
    struct hop_choice choices[NETWORK_TOP_PORT + 1];
    repair_find_arrivals(column, at, &arrivals);
    struct hop_choice best = best_choice(column, at, hops, &arrivals);
    if (best.hop == NETWORK_NONE)
        return false;
    if (try_choice(column, at, best.hop, hops, &arrivals, AT_ONCE))
        return true;
    unsigned count = list_choices(column, at, hops, &arrivals, choices);
    for (enum how how = AT_ONCE; how <= LATE; how++) {
        if ((how == DETOUR && (!column->reorder || column->keep || hops == 1)) ||
            (how == LATE && !column->drains))
            continue;
        for (unsigned i = 0; i < count; i++)
            if ((how != AT_ONCE || choices[i].hop != best.hop) &&
                try_choice(column, at, choices[i].hop, hops, &arrivals, how))
                return true;
    }
    column->refused = true;
    return false;
}

/* Lists each broken switch by its possible distance. The search may find further broken switches.
 * Returns the number of broken switches. */
static size_t list_broken(struct repair_column *column)
{
    size_t left = 0;
    for (size_t i = 0; i < column->broken.count; i++) {
        uint32_t at = column->broken.items[i];
        struct repair_cell *cell = &column->cells[at];
        if (cell->state != CELL_BROKEN)
            continue;
        left++;
        cell->level = LEVEL_NONE;
        uint32_t hops = column->keep ? cell->hops : next_distance(column, at, 0);
        if (hops != 0 && hops != NETWORK_NONE)
            put_level(column, hops, at);
    }
    return left;
}

/* One round; false if a switch is left. */
static bool repair_broken(struct repair_column *column, bool reorder, bool drains)
{
    size_t left = list_broken(column);
    column->reorder = reorder;
    column->drains = drains;
    column->refused = false;
    for (uint32_t hops = 1; hops <= column->top_level && left; hops++) {
        for (size_t i = 0; i < column->level[hops].count; i++) {
            uint32_t at = column->level[hops].items[i], later;
            if (column->cells[at].state != CELL_BROKEN)
                continue;
            column->cells[at].level = LEVEL_NONE;
            if (try_level(column, at, hops))
                left--;
            else if (!column->keep && (later = next_distance(column, at, hops)) != NETWORK_NONE)
                put_level(column, later, at);
        }
    }
    clear_levels(column);
    return left == 0;
}

/* Switches that are left: not connected, or without traffic to this LID; else the repair fails. */
static bool is_repaired(struct repair_column *column)
{
    bool repaired = true;
    for (size_t i = 0; i < column->broken.count; i++) {
        uint32_t at = column->broken.items[i];
        struct repair_cell *cell = &column->cells[at];
        if (cell->state == CELL_ARRIVES)
            continue;
        bool reachable = column->part[at] == column->part[column->at];
        if (reachable && !is_wanted(column, at)) {
            if (cell->old != PORT_NONE)
                cell->changed = repair_change_entry(column, at, column->lid, PORT_NONE);
            continue;
        }
        column->repair->whole = false;
        column->repair->left += reachable;
        if (reachable)
            repair_explain_refusal(column, at);
        repaired &= !reachable;
    }
    return repaired;
}

/* Writes the waits of late hops. False if the switch whose packets they wait for keeps its
 * entry. */
static bool note_late(struct repair_column *column)
{
    for (size_t i = 0; i < column->late.count; i++) {
        struct update_wait wait = column->late.items[i];
        wait.entry = column->cells[wait.entry].changed;
        wait.first = column->cells[wait.first].changed;
        if (wait.first == NETWORK_NONE || wait.entry == NETWORK_NONE)
            return false;
        vec_push(&column->repair->waits, wait);
    }
    return true;
}

/* Restores all entries of the column. Its dependencies stay in the graph, which is safe. */
static bool leave_column(struct repair_column *column)
{
    struct repair *repair = column->repair;
    for (; repair->entries.count > column->first_entry; repair->entries.count--) {
        const struct table_change *entry = &repair->entries.items[repair->entries.count - 1];
        repair_load_remove(column, entry->at);
        column->cells[entry->at].state = CELL_BROKEN;
        routes_row(column->routes, entry->at)[entry->lid] = entry->before;
        repair_load_add(column, entry->at);
    }
    repair->waits.count = column->first_wait;
    repair->left += column->broken.count + 1;
    repair->whole = false;
    return false;
}

bool repair_column_finish(struct repair_column *column)
{
    if (column->old_routes_cyclic)
        return false;
    column->keep = true;
    bool settled = repair_broken(column, false, false); /* the ends, at their old distance */
    column->keep = false;
    for (size_t i = 0; i < column->behind.count; i++)
        column->cells[column->behind.items[i]].state = CELL_NEW;
    if (!settled) {
        if (!column->repair->state.directed)
            repair_broken(column, true, true);
        else if (!repair_broken(column, false, false) &&
                 !(column->refused && repair_broken(column, false, true)))
            repair_broken(column, true, true);
    }
    column->repair->broken += column->broken.count;
    bool repaired = is_repaired(column);
    return note_late(column) ? repaired : leave_column(column);
}
