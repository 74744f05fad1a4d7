/* Breadth first from 64 goals at once, a bit each: rings that overlap are walked together (Then et
 * al., "The More the Merrier", 2014). Only switches that a ring has just reached are looked at. */
#include "routing/repair/repair_near.h"

#include <string.h>

enum { TILE = 64 };

void repair_near_init(struct repair_near *near, const struct network *network)
{
    size_t switches = network->switches.count + 1;
    *near = (struct repair_near){.network = network};
    near->place = mem_alloc(switches * sizeof *near->place);
    memset(near->place, 0xFF, switches * sizeof *near->place);
    near->seen = mem_alloc(switches * sizeof *near->seen);
    near->ring.goals = mem_zalloc(switches, sizeof *near->ring.goals);
    near->wider.goals = mem_zalloc(switches, sizeof *near->wider.goals);
}

void repair_near_release(struct repair_near *near)
{
    for (size_t i = 0; i < near->tiles.count; i++)
        mem_free(near->tiles.items[i]);
    vec_release(&near->tiles);
    vec_release(&near->goals);
    vec_release(&near->ring.switches);
    vec_release(&near->wider.switches);
    mem_free(near->ring.goals);
    mem_free(near->wider.goals);
    mem_free(near->place);
    mem_free(near->seen);
}

void repair_near_want(struct repair_near *near, uint32_t goal)
{
    if (near->place[goal] != NETWORK_NONE)
        return;
    near->place[goal] = (uint32_t)near->goals.count;
    if (near->goals.count % TILE == 0)
        vec_push(&near->tiles, NULL);
    vec_push(&near->goals, goal);
}

static inline void put_on_ring(struct repair_ring *ring, uint32_t at, uint64_t goals)
{
    if (!ring->goals[at])
        vec_push(&ring->switches, at);
    ring->goals[at] |= goals;
}

/* Notes the distance of all on the ring, and finds the next one. */
static void widen(struct repair_near *near, uint8_t *tile, uint8_t hops)
{
    const struct network *network = near->network;
    struct repair_ring ring = near->ring;
    for (size_t i = 0; i < ring.switches.count; i++) {
        uint32_t at = ring.switches.items[i];
        near->seen[at] |= ring.goals[at];
        near->unseen -= (size_t)__builtin_popcountll(ring.goals[at]);
        for (uint64_t left = ring.goals[at]; left; left &= left - 1, near->operations++)
            tile[(size_t)__builtin_ctzll(left) * network->switches.count + at] = hops;
    }
    for (size_t i = 0; i < ring.switches.count; i++) {
        uint32_t at = ring.switches.items[i];
        uint64_t goals = ring.goals[at];
        ring.goals[at] = 0;
        if (!near->unseen)
            continue;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint64_t fresh = goals & ~near->seen[network->edges[e].to];
            if (fresh)
                put_on_ring(&near->wider, network->edges[e].to, fresh);
        }
        near->operations += network->first_edge[at + 1] - network->first_edge[at];
    }
    ring.switches.count = 0;
    near->ring = near->wider;
    near->wider = ring;
}

static uint8_t *measure(struct repair_near *near, size_t first)
{
    size_t switches = near->network->switches.count, count = near->goals.count - first;
    count = count < TILE ? count : TILE;
    uint8_t *tile = mem_alloc(count * switches + 1);
    memset(tile, NEAR_NONE, count * switches);
    memset(near->seen, 0, switches * sizeof *near->seen);
    near->unseen = count * switches;
    for (size_t i = 0; i < count; i++)
        put_on_ring(&near->ring, near->goals.items[first + i], UINT64_C(1) << i);
    for (uint8_t hops = 0; near->ring.switches.count; hops += hops < NEAR_FAR)
        widen(near, tile, hops);
    return tile;
}

const uint8_t *repair_near_to(struct repair_near *near, uint32_t goal)
{
    size_t place = near->place[goal], tile = place / TILE;
    if (near->place[goal] == NETWORK_NONE)
        return NULL;
    if (!near->tiles.items[tile])
        near->tiles.items[tile] = measure(near, tile * TILE);
    return near->tiles.items[tile] + place % TILE * near->network->switches.count;
}

void repair_near_measure(struct repair_near *near)
{
    for (size_t i = 0; i < near->goals.count; i++)
        repair_near_to(near, near->goals.items[i]);
}
