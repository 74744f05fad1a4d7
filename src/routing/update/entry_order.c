/* Finds the earliest wave of each entry.
 *
 * Where entries are joined, a block is written once between two drains, with all of its entries
 * that may be written there, after all entries that any of these waits for. Waiting for these
 * responses takes little time. If blocks wait for each other in a cycle, entries are ordered one by
 * one. */
#include "routing/update/entry_order.h"

#include <string.h>

enum {
    MOST_WAVES = 128,
    DRAIN = 1 << 16, /* number of the first wave after a drain; multiples after further drains */
};

/* Finds the wave of each entry, if entries of one group are written together; false if groups wait
 * for each other in a cycle. `group` has a number below `groups` for every entry. */
static bool find_waves(const struct entry_order *order, const uint32_t *group, size_t groups,
                       uint32_t *wave)
{
    uint32_t *of_group = mem_zalloc(groups + 1, sizeof *of_group);
    bool moved = true;
    for (unsigned rounds = 0; moved && rounds < MOST_WAVES; rounds++) {
        moved = false;
        for (size_t i = 0; i < order->wait_count; i++) {
            const struct update_wait *wait = &order->waits[i];
            uint32_t *own = &of_group[group[wait->entry]], other = of_group[group[wait->first]];
            uint32_t least = wait->drain ? (other / DRAIN + 1) * DRAIN : other + 1;
            moved |= *own < least;
            *own = *own < least ? least : *own;
        }
    }
    for (size_t i = 0; i < order->count; i++)
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
static void push_waves(const struct entry_order *order, const uint32_t *wave,
                       struct update_plan *plan)
{
    uint32_t last = 0;
    vec_reserve(&plan->updates, order->count);
    for (uint32_t number = lowest_from(wave, order->count, 0); number != UINT32_MAX;
         number = lowest_from(wave, order->count, number + 1)) {
        struct update_wave next = {.first = (uint32_t)plan->updates.count};
        next.drain = next.first && number / DRAIN > last / DRAIN;
        next.drain_hops = next.drain ? order->drain_hops : 0;
        for (size_t i = 0; i < order->count; i++)
            if (wave[i] == number)
                vec_push(&plan->updates,
                         ((struct table_update){order->entries[i].at, order->entries[i].lid, 1}));
        next.count = (uint32_t)plan->updates.count - next.first;
        vec_push(&plan->waves, next);
        last = number;
    }
}

bool entry_order_plan(const struct entry_order *order, struct update_plan *plan)
{
    size_t count = order->count;
    *plan = (struct update_plan){.operations = count};
    if (count == 0)
        return true;
    uint32_t *wave = mem_zalloc(count, sizeof *wave), *together = mem_alloc(count * sizeof *wave);
    uint32_t *group = mem_alloc(count * sizeof *group);
    for (size_t i = 0; i < count; i++)
        group[i] = (uint32_t)i;
    bool fine = order->wait_count == 0 || find_waves(order, group, count, wave);
    if (fine && order->wait_count && order->joined) {
        /* Numbers the groups: entries of one block, in the same time between two drains. `wave` has
         * the wave of each entry if it were written alone. Returns the number of groups. */
        size_t row = order->joined->stride / ROUTES_BLOCK, stretches = 1;
        for (size_t i = 0; i < order->count; i++)
            if (wave[i] / DRAIN + 1 > stretches)
                stretches = wave[i] / DRAIN + 1;
        for (size_t i = 0; i < order->count; i++) {
            const struct table_change *entry = &order->entries[i];
            group[i] = (uint32_t)((entry->at * row + entry->lid / ROUTES_BLOCK) * stretches +
                                  wave[i] / DRAIN);
        }
        size_t groups = order->joined->switch_count * row * stretches;
        if (find_waves(order, group, groups, together))
            memcpy(wave, together, count * sizeof *wave);
    }
    if (fine)
        push_waves(order, wave, plan);
    mem_free(together);
    mem_free(wave);
    mem_free(group);
    return fine;
}
