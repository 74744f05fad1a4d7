/* The order of a repair's updates.
 *
 * A block is written once, with all of its new entries, after all entries that any of them waits
 * for. If blocks wait for each other in a cycle, entries are ordered one by one, and a block may be
 * written more than once. */
#include "routing/repair/repair.h"

enum {
    MOST_WAVES = 128,
    DRAIN = 1 << 16, /* number of the first wave after a drain; multiples after further drains */
    DRAIN_HOPS = 1,  /* such a packet is already in the channel to its last switch */
};

/* The wave of each entry, if entries of one group are written together; false if groups wait for
 * each other in a cycle. `group` has a number below `groups` for every entry. */
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

bool repair_plan(const struct repair *repair, const struct routes *routes, struct update_plan *plan)
{
    size_t count = repair->entries.count, row = routes->stride / ROUTES_BLOCK;
    *plan = (struct update_plan){.operations = count};
    if (count == 0)
        return true;
    uint32_t *wave = mem_zalloc(count, sizeof *wave);
    uint32_t *group = mem_alloc(count * sizeof *group);
    bool fine = repair->waits.count == 0;
    for (size_t i = 0; i < count; i++)
        group[i] = (uint32_t)(repair->entries.items[i].at * row +
                              repair->entries.items[i].lid / ROUTES_BLOCK);
    fine = fine || find_waves(repair, group, routes->switch_count * row, wave);
    for (size_t i = 0; i < count; i++)
        group[i] = (uint32_t)i;
    fine = fine || find_waves(repair, group, count, wave);
    if (fine)
        push_waves(repair, wave, plan);
    mem_free(wave);
    mem_free(group);
    return fine;
}
