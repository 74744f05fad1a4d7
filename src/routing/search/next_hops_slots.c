/* The order of a switch's slots, and sets of destinations with the same next hops. */
#include "base/map.h"
#include "routing/search/next_hops.h"

#include <string.h>

/* One direction of a row, sorted by insertion: rows are short, and mostly in order. */
static uint32_t add_slots(struct next_hops *next_hops, uint32_t at, bool up, uint32_t slot,
                          const uint64_t *keys)
{
    const struct network *network = next_hops->network;
    uint64_t sorted[NETWORK_TOP_PORT + 1];
    uint32_t *edges = next_hops->edge + slot, count = 0;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t to = network->edges[e].to, place = count;
        if (next_hops->updown ? updown_is_up(next_hops->updown, at, to) != up : !up)
            continue;
        uint64_t key = keys ? keys[e] : 0;
        for (; place > 0 && sorted[place - 1] > key; place--) {
            edges[place] = edges[place - 1];
            sorted[place] = sorted[place - 1];
        }
        edges[place] = e;
        sorted[place] = key;
        count++;
    }
    return slot + count;
}

/* Sorts the slots of a switch, the farthest up first; mostly they are in order. */
static void rank_slots(struct next_hops *next_hops, uint32_t at)
{
    const uint32_t *first = next_hops->network->first_edge, *rank = next_hops->updown->rank;
    for (uint32_t slot = first[at]; slot < first[at + 1]; slot++) {
        uint32_t place = slot;
        for (; place > first[at] &&
               rank[next_hops->to[next_hops->by_rank[place - 1]]] > rank[next_hops->to[slot]];
             place--)
            next_hops->by_rank[place] = next_hops->by_rank[place - 1];
        next_hops->by_rank[place] = slot;
    }
}

/* Parallel jobs fill this many rows each. */
enum { ROWS_TOGETHER = 64 };
struct laying {
    struct next_hops *next_hops;
    const uint64_t *keys;
};

static void lay_rows(void *context, size_t index)
{
    const struct laying *laying = context;
    struct next_hops *next_hops = laying->next_hops;
    const struct network *network = next_hops->network;
    uint32_t start = (uint32_t)index * ROWS_TOGETHER, left = next_hops->switch_count - start;
    uint32_t end = start + (left < ROWS_TOGETHER ? left : ROWS_TOGETHER);
    for (uint32_t at = start; at < end; at++) {
        next_hops->first_down[at] =
            add_slots(next_hops, at, true, network->first_edge[at], laying->keys);
        add_slots(next_hops, at, false, next_hops->first_down[at], laying->keys);
        for (uint32_t slot = network->first_edge[at]; slot < network->first_edge[at + 1]; slot++) {
            next_hops->to[slot] = network->edges[next_hops->edge[slot]].to;
            next_hops->port[slot] = network->edges[next_hops->edge[slot]].port;
        }
        if (next_hops->updown)
            rank_slots(next_hops, at);
    }
}

void next_hops_lay_slots(struct next_hops *next_hops, const struct workers *workers,
                         const uint64_t *keys)
{
    struct laying laying = {.next_hops = next_hops, .keys = keys};
    workers_run(workers, (next_hops->switch_count + ROWS_TOGETHER - 1) / ROWS_TOGETHER, lay_rows,
                &laying);
}

uint64_t *next_hops_shift(const struct network *network)
{
    uint32_t switches = (uint32_t)network->switches.count;
    uint64_t *keys = mem_alloc(network->first_edge[switches] * sizeof *keys);
    for (uint32_t at = 0; at < switches; at++) {
        uint32_t first = network->first_edge[at], count = network->first_edge[at + 1] - first;
        for (uint32_t i = 0; i < count; i++)
            keys[first + i] = (i + at) % count;
    }
    return keys;
}

uint64_t *next_hops_scatter(const struct network *network, uint64_t seed)
{
    uint32_t switches = (uint32_t)network->switches.count;
    uint64_t *keys = mem_alloc(network->first_edge[switches] * sizeof *keys);
    for (uint32_t at = 0; at < switches; at++)
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
            keys[e] = hash_mix(hash_mix(seed ^ network->switches.items[at].guid) +
                               network->edges[e].port);
    return keys;
}

/* Adds slots that all have the same destinations: a fan with some of these is split. */
static void refine_fans(struct fans *fans, uint64_t targets, const uint64_t *slots)
{
    unsigned before = fans->count;
    for (unsigned i = 0; i < before && targets; i++) {
        struct fan *fan = &fans->items[i];
        uint64_t common = fan->targets & targets;
        if (!common)
            continue;
        targets &= ~common;
        if (common != fan->targets) {
            fan->targets &= ~common;
            fans->items[fans->count] = *fan;
            fan = &fans->items[fans->count++];
            fan->targets = common;
        }
        for (int word = 0; word < FAN_WORDS; word++)
            fan->slots[word] |= slots[word];
    }
    if (!targets)
        return;
    fans->items[fans->count].targets = targets;
    memcpy(fans->items[fans->count].slots, slots, sizeof fans->items->slots);
    fans->count++;
}

void next_hops_gather_fans(const struct next_hops *next_hops, uint32_t tile, uint32_t at,
                           uint64_t wanted, struct fans *fans)
{
    uint32_t first = next_hops->network->first_edge[at],
             end = next_hops->network->first_edge[at + 1];
    const uint64_t *targets = next_hops->targets + (size_t)tile * next_hops->slot_count;
    fans->count = 0;
    for (uint32_t slot = first; slot < end;) {
        uint64_t slots[FAN_WORDS] = {0}, same = targets[slot] & wanted;
        for (; slot < end && (targets[slot] & wanted) == same; slot++)
            slots[(slot - first) / 64] |= UINT64_C(1) << (slot - first) % 64;
        if (same)
            refine_fans(fans, same, slots);
    }
}

unsigned fan_places(const struct fan *fan, uint8_t places[NETWORK_TOP_PORT + 1])
{
    unsigned count = 0;
    for (unsigned word = 0; word < FAN_WORDS; word++)
        for (uint64_t left = fan->slots[word]; left; left &= left - 1)
            places[count++] = (uint8_t)(word * 64 + (unsigned)__builtin_ctzll(left));
    return count;
}
