/* The order of a repair's updates.
 *
 * Entries wait only for entries of their own LID. An entry that needs no drain never waits for one:
 * packets of a broken route are lost until its entries are written, and a drain takes far longer
 * than one more write. So a block is written once between two drains, with all of its entries that
 * may be written there, after all entries that any of these waits for. Waiting for these responses
 * takes little time. If blocks wait for each other in a cycle, entries are ordered one by one. */
#include "routing/repair/repair.h"

#include "base/map.h"

#include <string.h>

enum {
    MOST_WAVES = 128,
    DRAIN = 1 << 16, /* number of the first wave after a drain; multiples after further drains */
    DRAIN_HOPS = 1,  /* such a packet is already in the channel to its last switch */
};

/* Finds the wave of each entry, if entries of one group are written together; false if groups wait
 * for each other in a cycle. `group` has a number below `groups` for every entry. */
static bool find_waves(const struct repair *repair, const uint32_t *group, size_t groups,
                       uint32_t *wave)
{
    uint32_t *of_group = mem_zalloc(groups + 1, sizeof *of_group);
    bool moved = true;
    unsigned rounds = 0;
    for (; moved && rounds < MOST_WAVES; rounds++) {
        moved = false;
        for (size_t i = 0; i < repair->waits.count; i++) {
            const struct repair_wait *wait = &repair->waits.items[i];
            uint32_t *own = &of_group[group[wait->entry]], other = of_group[group[wait->first]];
            uint32_t least = wait->drain ? (other / DRAIN + 1) * DRAIN : other + 1;
            moved |= *own < least;
            *own = *own < least ? least : *own;
        }
    }
    for (size_t i = 0; i < repair->entries.count; i++)
        wave[i] = of_group[group[i]];
    mem_free(of_group);
    return !moved;
}

/* The lowest number from `least` on, or UINT32_MAX. */
static uint32_t lowest_from(const uint32_t *wave, size_t count, uint32_t least)
{
    uint32_t lowest = UINT32_MAX;
    for (size_t i = 0; i < count; i++)
        if (wave[i] >= least && wave[i] < lowest)
            lowest = wave[i];
    return lowest;
}

/* Makes one wave for every number in use. */
static void push_waves(const struct repair *repair, const uint32_t *wave, struct update_plan *plan)
{
    size_t count = repair->entries.count;
    uint32_t last = 0;
    vec_reserve(&plan->updates, count);
    for (uint32_t number = lowest_from(wave, count, 0); number != UINT32_MAX;
         number = lowest_from(wave, count, number + 1)) {
        struct update_wave next = {.first = (uint32_t)plan->updates.count};
        next.drain = next.first && number / DRAIN > last / DRAIN;
        next.drain_hops = next.drain ? DRAIN_HOPS : 0;
        for (size_t i = 0; i < count; i++)
            if (wave[i] == number)
                vec_push(&plan->updates, ((struct table_update){repair->entries.items[i].at,
                                                                repair->entries.items[i].lid, 1}));
        next.count = (uint32_t)plan->updates.count - next.first;
        vec_push(&plan->waves, next);
        last = number;
    }
}

/* Numbers the groups: entries of one block, in the same time between two drains. `wave` has the
 * wave of each entry if it were written alone. Returns the number of groups. */
static size_t group_by_block(const struct repair *repair, const struct routes *routes,
                             const uint32_t *wave, uint32_t *group)
{
    size_t count = repair->entries.count, row = routes->stride / ROUTES_BLOCK, stretches = 1;
    for (size_t i = 0; i < count; i++)
        if (wave[i] / DRAIN + 1 > stretches)
            stretches = wave[i] / DRAIN + 1;
    for (size_t i = 0; i < count; i++) {
        const struct table_change *entry = &repair->entries.items[i];
        group[i] =
            (uint32_t)((entry->at * row + entry->lid / ROUTES_BLOCK) * stretches + wave[i] / DRAIN);
    }
    return routes->switch_count * row * stretches;
}

bool repair_plan(const struct repair *repair, const struct routes *routes, struct update_plan *plan)
{
    size_t count = repair->entries.count;
    *plan = (struct update_plan){.operations = count, .relies_on_discards = true};
    if (count == 0)
        return true;
    uint32_t *wave = mem_zalloc(count, sizeof *wave), *together = mem_alloc(count * sizeof *wave);
    uint32_t *group = mem_alloc(count * sizeof *group);
    for (size_t i = 0; i < count; i++)
        group[i] = (uint32_t)i;
    bool fine = repair->waits.count == 0 || find_waves(repair, group, count, wave);
    if (fine && repair->waits.count) {
        size_t groups = group_by_block(repair, routes, wave, group);
        if (find_waves(repair, group, groups, together))
            memcpy(wave, together, count * sizeof *wave);
    }
    if (fine)
        push_waves(repair, wave, plan);
    mem_free(together);
    mem_free(wave);
    mem_free(group);
    return fine;
}

void repair_leave_drains(struct repair *repair, struct routes *routes, struct update_plan *plan)
{
    size_t waves = 0, kept = 0;
    while (waves < plan->waves.count && !plan->waves.items[waves].drain)
        waves++;
    if (waves == plan->waves.count)
        return;
    uint32_t first = plan->waves.items[waves].first;
    struct map late = {0};
    for (size_t i = first; i < plan->updates.count; i++)
        map_add(&late, (uint64_t)plan->updates.items[i].at << 16 | plan->updates.items[i].first_lid,
                1);
    for (size_t i = 0; i < repair->entries.count; i++) {
        struct table_change entry = repair->entries.items[i];
        if (map_get(&late, (uint64_t)entry.at << 16 | entry.lid) == MAP_NONE)
            repair->entries.items[kept++] = entry;
        else
            routes_row(routes, entry.at)[entry.lid] = entry.before;
    }
    map_release(&late);
    repair->left += repair->entries.count - kept;
    repair->whole = repair->state.known = false;
    repair->entries.count = kept;
    repair->waits.count = 0;
    plan->waves.count = waves;
    plan->updates.count = first;
}
