#include "vswitch/columns.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct columns {
    const struct network *network;
    const uint32_t *ranks; /* or NULL */
    uint32_t count;
    uint8_t *before, *like, *after; /* by switch */
    uint32_t *hops;                 /* by switch: switches on the path of `like` */
    uint32_t *path;                 /* scratch: switches on a path */
    uint8_t *wave;
    bool too_long; /* the plan needs more than COLUMN_WAVES waves */
};

void columns_plan_release(struct column_plan *plan)
{
    vec_release(&plan->changes);
    *plan = (struct column_plan){0};
}

void columns_read(const struct routes *routes, uint32_t lid, uint8_t *column)
{
    for (uint32_t at = 0; at < routes->switch_count; at++)
        column[at] = routes_port(routes, at, lid);
}

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
static bool may_keep(const struct columns *columns, const uint8_t *settled, uint32_t at)
{
    uint32_t to = network_next(columns->network, at, columns->before[at]);
    if (to == NETWORK_NONE)
        return columns->before[at] == columns->like[at];
    if (!settled[to])
        return false;
    if (!columns->ranks)
        return true;
    enum slope slope = slope_of(columns, at, columns->before[at]);
    /* New paths may come down to this switch: it must not send their packets up. */
    if (slope == UP)
        return slope_of(columns, at, columns->like[at]) == UP;
    return slope != DOWN || slope_of(columns, to, columns->after[to]) != UP;
}

/* Settles the switches in the order of their distance. */
static void choose_minimal(struct columns *columns, uint32_t longest)
{
    uint8_t *settled = mem_zalloc(columns->count + 1, 1);
    memcpy(columns->after, columns->before, columns->count);
    for (uint32_t hops = 1; hops <= longest; hops++)
        for (uint32_t at = 0; at < columns->count; at++) {
            if (columns->hops[at] != hops)
                continue;
            if (!may_keep(columns, settled, at))
                columns->after[at] = columns->like[at];
            settled[at] = 1;
        }
    mem_free(settled);
}

/* ---- order of writes ---- */

static bool changes(const struct columns *columns, uint32_t at)
{
    return columns->before[at] != columns->after[at];
}

/* Puts a switch into the wave after that of another switch, up to the last wave. */
static void set_wave_after(struct columns *columns, uint32_t at, uint32_t other)
{
    assert(at != other && columns->wave[at] <= columns->wave[other]);
    if (columns->wave[other] + 1 >= COLUMN_WAVES)
        columns->too_long = true;
    else
        columns->wave[at] = (uint8_t)(columns->wave[other] + 1);
}

/* Delays switches that must be written after another one. True if a wave changed. */
static bool delay_switches(struct columns *columns, uint32_t *drains)
{
    bool delayed = false;
    for (uint32_t at = 0; at < columns->count; at++) {
        if (!changes(columns, at))
            continue;
        uint32_t below = network_next(columns->network, at, columns->after[at]);
        /* The new entry sends down to a switch that still sends up. */
        if (below != NETWORK_NONE && changes(columns, below) &&
            slope_of(columns, at, columns->after[at]) == DOWN &&
            slope_of(columns, below, columns->before[below]) == UP &&
            columns->wave[at] <= columns->wave[below]) {
            set_wave_after(columns, at, below);
            delayed = true;
        }
        below = network_next(columns->network, at, columns->before[at]);
        /* The old entry sends down to a switch that will send up. */
        if (below != NETWORK_NONE && changes(columns, below) &&
            slope_of(columns, at, columns->before[at]) == DOWN &&
            slope_of(columns, below, columns->after[below]) == UP) {
            if (columns->wave[below] <= columns->wave[at]) {
                set_wave_after(columns, below, at);
                delayed = true;
            }
            *drains |= UINT32_C(1) << columns->wave[below];
        }
    }
    return delayed;
}

static bool find_waves(struct columns *columns, uint32_t *drains)
{
    memset(columns->wave, 0, columns->count);
    *drains = 0;
    columns->too_long = false;
    if (!columns->ranks)
        return false;
    for (unsigned turn = 0; turn < COLUMN_WAVES && !columns->too_long; turn++) {
        *drains = 0;
        if (!delay_switches(columns, drains))
            return true;
    }
    return false;
}

/* ---- the plan ---- */

static int plan_column(struct column_plan *plan, struct columns *columns, uint16_t lid,
                       enum vswitch_mode mode)
{
    uint32_t longest = count_hops(columns, columns->before), drains;
    uint32_t longest_like = count_hops(columns, columns->like);
    /* A switch that has a path to the LID must keep one. */
    for (uint32_t at = 0; at < columns->count; at++)
        if (columns->hops[at] == NETWORK_NONE && columns->before[at] != PORT_NONE)
            return -EHOSTUNREACH;
    if (mode == VSWITCH_MINIMAL)
        choose_minimal(columns, longest_like);
    else
        for (uint32_t at = 0; at < columns->count; at++)
            columns->after[at] =
                columns->hops[at] == NETWORK_NONE ? columns->before[at] : columns->like[at];
    if (longest + longest_like > plan->hops)
        plan->hops = longest + longest_like;
    plan->ranked &= find_waves(columns, &drains);
    plan->drains |= drains;
    for (uint32_t at = 0; at < columns->count; at++) {
        if (!changes(columns, at))
            continue;
        struct column_change change = {at, lid, columns->before[at], columns->after[at],
                                       columns->wave[at]};
        vec_push(&plan->changes, change);
        if (change.wave + 1u > plan->waves)
            plan->waves = change.wave + 1u;
    }
    return 0;
}

static int compare_changes(const void *left, const void *right)
{
    const struct column_change *a = left, *b = right;
    if (a->wave != b->wave)
        return a->wave < b->wave ? -1 : 1;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->lid > b->lid) - (a->lid < b->lid);
}

/* Sorts the changes by wave and switch, and counts switches and blocks. */
static void finish_plan(struct column_plan *plan, uint32_t switches)
{
    uint8_t *seen = mem_zalloc(switches + 1, 1);
    plan->switches = plan->blocks = 0;
    if (plan->changes.count)
        qsort(plan->changes.items, plan->changes.count, sizeof *plan->changes.items,
              compare_changes);
    for (size_t i = 0; i < plan->changes.count; i++) {
        const struct column_change *change = &plan->changes.items[i], *last = change - 1;
        plan->switches += !seen[change->at];
        seen[change->at] = 1;
        plan->blocks += i == 0 || last->wave != change->wave || last->at != change->at ||
                        last->lid / ROUTES_BLOCK != change->lid / ROUTES_BLOCK;
    }
    mem_free(seen);
}

void columns_join_waves(struct column_plan *plan, uint32_t switches)
{
    for (size_t i = 0; i < plan->changes.count; i++)
        plan->changes.items[i].wave = 0;
    plan->waves = plan->changes.count > 0;
    plan->drains = 0;
    finish_plan(plan, switches);
}

int columns_plan(struct column_plan *plan, const struct network *network,
                 const struct routes *routes, uint16_t lid, uint16_t like, unsigned span, bool swap,
                 enum vswitch_mode mode)
{
    uint32_t count = (uint32_t)network->switches.count;
    assert(span > 0 && count == routes->switch_count);
    struct columns columns = {.network = network, .ranks = routes->ranks, .count = count};
    int status = 0;
    *plan = (struct column_plan){
        .ranked = true, .lid = lid, .like = like, .span = (uint16_t)span, .swap = swap};
    columns.hops = mem_alloc((count + 1) * (2 * sizeof *columns.hops + 4)); /* one allocation */
    columns.path = columns.hops + count + 1;
    columns.before = (uint8_t *)(columns.path + count + 1);
    columns.like = columns.before + count + 1;
    columns.after = columns.like + count + 1;
    columns.wave = columns.after + count + 1;
    for (unsigned i = 0; i < span && status == 0; i++) {
        columns_read(routes, lid + i, columns.before);
        columns_read(routes, like + i, columns.like);
        status = plan_column(plan, &columns, (uint16_t)(lid + i), mode);
        if (status || !swap)
            continue;
        uint8_t *before = columns.before;
        columns.before = columns.like;
        columns.like = before;
        status = plan_column(plan, &columns, (uint16_t)(like + i), mode);
    }
    mem_free(columns.hops);
    if (status)
        columns_plan_release(plan);
    else
        finish_plan(plan, count);
    return status;
}
