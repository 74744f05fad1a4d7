#include "vswitch/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct columns {
    const struct network *network;
    const uint32_t *ranks; /* or NULL */
    uint32_t count;
    uint8_t *before, *like, *after; /* by switch */
    uint32_t *hops;                 /* by switch: switches passed on the way by `like` */
    uint32_t *path;                 /* scratch: switches passed */
    uint8_t *wave;
    bool too_long; /* more waves than a plan can have */
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

/* ---- ways ---- */

/* Switches passed from everywhere to where the column ends; NETWORK_NONE where it leads nowhere.
 * Returns the most. */
static uint32_t count_hops(struct columns *columns, const uint8_t *column)
{
    const uint32_t on_the_way = NETWORK_NONE - 1, not_yet = NETWORK_NONE - 2;
    uint32_t *hops = columns->hops, *path = columns->path, most = 0;
    for (uint32_t at = 0; at < columns->count; at++)
        hops[at] = not_yet;
    for (uint32_t start = 0; start < columns->count; start++) {
        uint32_t steps = 0, at = start, known = NETWORK_NONE;
        while (hops[at] == not_yet) {
            uint32_t next = network_next(columns->network, at, column[at]);
            hops[at] = on_the_way;
            path[steps++] = at;
            if (next == NETWORK_NONE) {
                known = column[at] == PORT_NONE ? NETWORK_NONE : 0;
                break;
            }
            at = next;
            known = hops[at] == on_the_way ? NETWORK_NONE : hops[at];
        }
        while (steps) {
            known = known == NETWORK_NONE ? known : known + 1;
            hops[path[--steps]] = known;
            if (known != NETWORK_NONE && known > most)
                most = known;
        }
    }
    return most;
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

/* Whether a switch may keep its entry: it leads to one whose way is known to end well. */
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
    /* Others may come down to it on their new ways: it must not send them up again. */
    if (slope == UP)
        return slope_of(columns, at, columns->like[at]) == UP;
    return slope != DOWN || slope_of(columns, to, columns->after[to]) != UP;
}

/* Nearest first. */
static void choose_minimal(struct columns *columns, uint32_t most)
{
    uint8_t *settled = mem_zalloc(columns->count + 1, 1);
    memcpy(columns->after, columns->before, columns->count);
    for (uint32_t hops = 1; hops <= most; hops++)
        for (uint32_t at = 0; at < columns->count; at++) {
            if (columns->hops[at] != hops)
                continue;
            if (!may_keep(columns, settled, at))
                columns->after[at] = columns->like[at];
            settled[at] = 1;
        }
    mem_free(settled);
}

/* ---- order ---- */

static bool changes(const struct columns *columns, uint32_t at)
{
    return columns->before[at] != columns->after[at];
}

/* Behind the wave of another; past the last one it stays where it is, and the order is none. */
static void put_behind(struct columns *columns, uint32_t at, uint32_t other)
{
    if (columns->wave[other] + 1 >= COLUMN_WAVES)
        columns->too_long = true;
    else
        columns->wave[at] = (uint8_t)(columns->wave[other] + 1);
}

/* One more wave for those that have to wait; true if anybody has. */
static bool push_back(struct columns *columns, uint32_t *drains)
{
    bool pushed = false;
    for (uint32_t at = 0; at < columns->count; at++) {
        if (!changes(columns, at))
            continue;
        uint32_t below = network_next(columns->network, at, columns->after[at]);
        /* It will send down to one that still sends up. */
        if (below != NETWORK_NONE && changes(columns, below) &&
            slope_of(columns, at, columns->after[at]) == DOWN &&
            slope_of(columns, below, columns->before[below]) == UP &&
            columns->wave[at] <= columns->wave[below]) {
            put_behind(columns, at, below);
            pushed = true;
        }
        below = network_next(columns->network, at, columns->before[at]);
        /* It sends down to one that is going to send up. */
        if (below != NETWORK_NONE && changes(columns, below) &&
            slope_of(columns, at, columns->before[at]) == DOWN &&
            slope_of(columns, below, columns->after[below]) == UP) {
            if (columns->wave[below] <= columns->wave[at]) {
                put_behind(columns, below, at);
                pushed = true;
            }
            *drains |= UINT32_C(1) << columns->wave[below];
        }
    }
    return pushed;
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
        if (!push_back(columns, drains))
            return true;
    }
    return false;
}

/* ---- the plan ---- */

static int plan_column(struct column_plan *plan, struct columns *columns, uint16_t lid,
                       enum vswitch_mode mode)
{
    uint32_t most = count_hops(columns, columns->before), drains;
    uint32_t most_like = count_hops(columns, columns->like);
    /* A switch that has a path to the LID must keep one. */
    for (uint32_t at = 0; at < columns->count; at++)
        if (columns->hops[at] == NETWORK_NONE && columns->before[at] != PORT_NONE)
            return -EHOSTUNREACH;
    if (mode == VSWITCH_MINIMAL)
        choose_minimal(columns, most_like);
    else
        for (uint32_t at = 0; at < columns->count; at++)
            columns->after[at] =
                columns->hops[at] == NETWORK_NONE ? columns->before[at] : columns->like[at];
    if (most + most_like > plan->hops)
        plan->hops = most + most_like;
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

/* In the order of waves and switches, whose blocks are counted. */
static void finish(struct column_plan *plan, uint32_t switches)
{
    uint8_t *seen = mem_zalloc(switches + 1, 1);
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

int columns_plan(struct column_plan *plan, const struct network *network,
                 const struct routes *routes, uint16_t lid, uint16_t like, unsigned span, bool swap,
                 enum vswitch_mode mode)
{
    uint32_t count = (uint32_t)network->switches.count;
    struct columns columns = {.network = network, .ranks = routes->ranks, .count = count};
    int status = 0;
    *plan = (struct column_plan){
        .ranked = true, .lid = lid, .like = like, .span = (uint16_t)span, .swap = swap};
    columns.hops = mem_alloc((count + 1) * (2 * sizeof *columns.hops + 4)); /* all in one */
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
        finish(plan, count);
    return status;
}
