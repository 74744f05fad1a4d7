/* Chooses the new entries of a LID that moves, and what they wait for by the ranks. */
#include "routing/update/columns.h"

#include "base/map.h"
#include "routing/update/entry_order.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { COLUMN_WAVES = 32 }; /* dropping the LIDs for one drain is faster than more waves */

struct moved_column {
    uint16_t lid;
    const uint8_t *before, *like; /* by switch */
    uint8_t *after;
    uint32_t *change; /* by switch: number of the entry that changes, or NETWORK_NONE */
};

struct columns {
    const struct network *network;
    const uint32_t *ranks; /* or NULL */
    uint32_t count;
    struct arena memory;
    uint32_t *hops; /* by switch: switches on the path of `like` */
    uint32_t *path; /* scratch: switches on a path */
    uint32_t most_hops;
    VEC(struct table_change) entries; /* by switch and LID */
    VEC(struct update_wait) waits;
};

/* ---- paths ---- */

/* Counts the switches on the path of a column from each switch; NETWORK_NONE if the path is broken
 * or has a loop. Returns the highest count. */
static uint32_t count_hops(struct columns *columns, const uint8_t *column)
{
    const uint32_t on_path = NETWORK_NONE - 1, unvisited = NETWORK_NONE - 2;
    uint32_t *hops = columns->hops, *path = columns->path, longest = 0;
    for (uint32_t at = 0; at < columns->count; at++)
        hops[at] = unvisited;
    for (uint32_t start = 0; start < columns->count; start++) {
        uint32_t steps = 0, at = start, known = NETWORK_NONE;
        while (hops[at] == unvisited) {
            uint32_t next = network_next(columns->network, at, column[at]);
            hops[at] = on_path;
            path[steps++] = at;
            if (next == NETWORK_NONE) {
                known = column[at] == PORT_NONE ? NETWORK_NONE : 0;
                break;
            }
            at = next;
            known = hops[at] == on_path ? NETWORK_NONE : hops[at];
        }
        while (steps) {
            known = known == NETWORK_NONE ? known : known + 1;
            hops[path[--steps]] = known;
            if (known != NETWORK_NONE && known > longest)
                longest = known;
        }
    }
    return longest;
}

enum slope { LEVEL, UP, DOWN };

static enum slope slope_of(const struct columns *columns, uint32_t at, uint8_t port)
{
    uint32_t to = network_next(columns->network, at, port);
    if (to == NETWORK_NONE || columns->ranks[to] == columns->ranks[at])
        return LEVEL;
    return columns->ranks[to] < columns->ranks[at] ? UP : DOWN;
}

/* ---- the new column ---- */

/* True if a switch may keep its entry: the next switch is settled, and no packet goes up after it
 * went down. */
static bool may_keep(const struct columns *columns, const struct moved_column *column,
                     const uint8_t *settled, uint32_t at)
{
    uint32_t to = network_next(columns->network, at, column->before[at]);
    if (to == NETWORK_NONE)
        return column->before[at] == column->like[at];
    if (!settled[to])
        return false;
    if (!columns->ranks)
        return true;
    enum slope slope = slope_of(columns, at, column->before[at]);
    /* New paths may come down to this switch: it must not send their packets up. */
    if (slope == UP)
        return slope_of(columns, at, column->like[at]) == UP;
    return slope != DOWN || slope_of(columns, to, column->after[to]) != UP;
}

/* Settles the switches in the order of their distance. */
static void choose_minimal(struct columns *columns, struct moved_column *column, uint32_t longest)
{
    uint8_t *settled = mem_zalloc(columns->count + 1, 1);
    memcpy(column->after, column->before, columns->count);
    for (uint32_t hops = 1; hops <= longest; hops++)
        for (uint32_t at = 0; at < columns->count; at++) {
            if (columns->hops[at] != hops)
                continue;
            if (!may_keep(columns, column, settled, at))
                column->after[at] = column->like[at];
            settled[at] = 1;
        }
    mem_free(settled);
}

static int choose_entries(struct columns *columns, struct moved_column *column, bool minimal)
{
    uint32_t longest = count_hops(columns, column->before);
    uint32_t longest_like = count_hops(columns, column->like);
    /* A switch that has a path to the LID must keep one. */
    for (uint32_t at = 0; at < columns->count; at++)
        if (columns->hops[at] == NETWORK_NONE && column->before[at] != PORT_NONE)
            return -EHOSTUNREACH;
    if (minimal)
        choose_minimal(columns, column, longest_like);
    else
        for (uint32_t at = 0; at < columns->count; at++)
            column->after[at] =
                columns->hops[at] == NETWORK_NONE ? column->before[at] : column->like[at];
    if (longest + longest_like > columns->most_hops)
        columns->most_hops = longest + longest_like;
    return 0;
}

/* ---- order of writes ---- */

static void find_waits(struct columns *columns, const struct moved_column *column)
{
    for (uint32_t at = 0; columns->ranks && at < columns->count; at++) {
        if (column->change[at] == NETWORK_NONE)
            continue;
        uint32_t below = network_next(columns->network, at, column->after[at]);
        /* The new entry sends down to a switch that still sends up. */
        if (below != NETWORK_NONE && column->change[below] != NETWORK_NONE &&
            slope_of(columns, at, column->after[at]) == DOWN &&
            slope_of(columns, below, column->before[below]) == UP)
            vec_push(&columns->waits,
                     ((struct update_wait){column->change[at], column->change[below], false}));
        below = network_next(columns->network, at, column->before[at]);
        /* The old entry sends down to a switch that will send up. */
        if (below != NETWORK_NONE && column->change[below] != NETWORK_NONE &&
            slope_of(columns, at, column->before[at]) == DOWN &&
            slope_of(columns, below, column->after[below]) == UP)
            vec_push(&columns->waits,
                     ((struct update_wait){column->change[below], column->change[at], true}));
    }
}

static void order_entries(struct columns *columns, const struct moved_column *column,
                          uint32_t count, const struct column_move *move, struct update_plan *plan,
                          bool *ranked)
{
    struct entry_order order = {.entries = columns->entries.items,
                                .count = columns->entries.count,
                                .waits = columns->waits.items,
                                .wait_count = columns->waits.count,
                                .drain_hops = columns->most_hops};
    *ranked = columns->ranks && entry_order_plan(&order, plan);
    if (*ranked && plan->waves.count > COLUMN_WAVES) {
        update_plan_release(plan);
        *ranked = false;
    }
    order.wait_count = 0;
    if (!*ranked)
        entry_order_plan(&order, plan);
    plan->stuck_hops = columns->most_hops;
    for (size_t i = 0; i < plan->updates.count; i++) {
        const struct table_update *update = &plan->updates.items[i];
        uint32_t number = (uint32_t)update->first_lid - move->lid;
        if (number >= move->span)
            number = move->span + update->first_lid - move->like;
        assert(number < count);
        vec_push(&plan->ports, column[number].after[update->at]);
    }
}

static uint8_t *read_column(struct columns *columns, const struct routes *routes, uint32_t lid)
{
    uint8_t *column = arena_alloc(&columns->memory, columns->count);
    for (uint32_t at = 0; at < columns->count; at++)
        column[at] = routes_port(routes, at, lid);
    return column;
}

int columns_plan(struct update_plan *plan, const struct network *network,
                 const struct routes *routes, const struct column_move *move, bool naive,
                 bool *ranked)
{
    uint32_t switches = (uint32_t)network->switches.count;
    uint32_t span = move->span, count = move->swap ? 2 * span : span;
    assert(span > 0 && switches == routes->switch_count);
    struct columns columns = {.network = network, .ranks = routes->ranks, .count = switches};
    int status = 0;
    *plan = (struct update_plan){0};
    columns.hops = arena_alloc(&columns.memory, (switches + 1) * sizeof *columns.hops);
    columns.path = arena_alloc(&columns.memory, (switches + 1) * sizeof *columns.path);
    struct moved_column *column = arena_alloc(&columns.memory, count * sizeof *column);
    for (uint32_t i = 0; i < span; i++) {
        column[i].lid = (uint16_t)(move->lid + i);
        column[i].before = read_column(&columns, routes, move->lid + i);
        column[i].like = read_column(&columns, routes, move->like + i);
        if (move->swap)
            column[span + i] = (struct moved_column){(uint16_t)(move->like + i), column[i].like,
                                                     column[i].before, NULL, NULL};
    }
    for (uint32_t i = 0; i < count && status == 0; i++) {
        column[i].after = arena_alloc(&columns.memory, switches + 1);
        column[i].change = arena_alloc(&columns.memory, (switches + 1) * sizeof *column[i].change);
        status = choose_entries(&columns, &column[i], move->minimal);
    }
    if (status == 0) {
        /* `first`: the column with the lowest LID. */
        for (uint32_t at = 0; at < columns.count; at++)
            for (uint32_t i = 0; i < count; i++) {
                struct moved_column *one =
                    &column[((move->swap && move->like < move->lid ? span : 0) + i) % count];
                one->change[at] = NETWORK_NONE;
                if (one->before[at] == one->after[at])
                    continue;
                one->change[at] = (uint32_t)columns.entries.count;
                vec_push(&columns.entries,
                         ((struct table_change){at, one->lid, one->before[at], one->after[at]}));
            }
        for (uint32_t i = 0; i < count && !naive; i++)
            find_waits(&columns, &column[i]);
        order_entries(&columns, column, count, move, plan, ranked);
    }
    vec_release(&columns.entries);
    vec_release(&columns.waits);
    arena_release(&columns.memory);
    return status;
}

/* ---- cost ---- */

uint32_t columns_switches(const struct update_plan *plan)
{
    struct map switches = {0};
    for (size_t i = 0; i < plan->updates.count; i++)
        map_set(&switches, plan->updates.items[i].at, 1);
    for (size_t i = 0; i < plan->stuck.count; i++)
        map_set(&switches, plan->stuck.items[i].at, 1);
    uint32_t count = (uint32_t)switches.count;
    map_release(&switches);
    return count;
}

static uint32_t count_blocks(const struct table_update *updates, size_t count)
{
    uint32_t blocks = 0;
    for (size_t i = 0; i < count; i++)
        blocks += i == 0 || updates[i - 1].at != updates[i].at ||
                  updates[i - 1].first_lid / ROUTES_BLOCK != updates[i].first_lid / ROUTES_BLOCK;
    return blocks;
}

/* Stuck entries are written twice. */
uint32_t columns_blocks(const struct update_plan *plan)
{
    uint32_t blocks = 2 * count_blocks(plan->stuck.items, plan->stuck.count);
    for (size_t i = 0; i < plan->waves.count; i++)
        blocks += count_blocks(plan->updates.items + plan->waves.items[i].first,
                               plan->waves.items[i].count);
    return blocks;
}
