/* Chooses pivots greedily: each next one is below most roots that are above no other. */
#include "routing/search/down_up_pivots.h"

#include <string.h>

/* Bottom switches that are considered, evenly spaced: they are much alike. */
enum { CANDIDATES = 64 };

struct pivot_choice {
    size_t words;
    uint64_t *above[CANDIDATES]; /* as in down_up_pivots; NULL: chosen */
    uint64_t *roots;             /* bits by switch: no switch is above it */
    uint32_t *distance, *queue;
    unsigned candidates;
    struct arena memory;
};

static bool leads_up(const void *rank, uint32_t at, uint32_t to)
{
    return ((const uint32_t *)rank)[to] <= ((const uint32_t *)rank)[at];
}

static uint32_t count_common(const uint64_t *a, const uint64_t *b, size_t words)
{
    uint32_t count = 0;
    for (size_t word = 0; word < words; word++)
        count += (uint32_t)__builtin_popcountll(a[word] & b[word]);
    return count;
}

/* The candidate that adds most to the chosen ones; CANDIDATES if none adds anything. */
static unsigned best_candidate(const struct pivot_choice *choice, const uint64_t *missing)
{
    unsigned best = CANDIDATES;
    uint64_t most = 0;
    for (unsigned i = 0; i < choice->candidates; i++) {
        if (!choice->above[i])
            continue;
        uint64_t gain = count_common(choice->above[i], missing, choice->words);
        uint64_t all = count_common(choice->above[i], choice->above[i], choice->words);
        if (gain && (gain << 32 | all) > most) {
            most = gain << 32 | all;
            best = i;
        }
    }
    return best;
}

void down_up_pivots_choose(struct down_up_pivots *down_up_pivots, const struct network *network,
                           const uint32_t *rank)
{
    uint32_t switches = (uint32_t)network->switches.count;
    struct pivot_choice choice = {.words = BITSET_WORDS(switches)};
    *down_up_pivots = (struct down_up_pivots){0};
    choice.roots = arena_alloc(&choice.memory, choice.words * sizeof *choice.roots);
    choice.distance = arena_alloc(&choice.memory, switches * sizeof *choice.distance);
    choice.queue = arena_alloc(&choice.memory, switches * sizeof *choice.queue);
    uint32_t *bottom = arena_alloc(&choice.memory, switches * sizeof *bottom), bottoms = 0;
    for (uint32_t at = 0; at < switches; at++) {
        uint32_t up = 0, all = network->first_edge[at + 1] - network->first_edge[at];
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
            up += rank[network->edges[e].to] < rank[at];
        if (up == 0 && all)
            bitset_add(choice.roots, at);
        else if (up == all && all)
            bottom[bottoms++] = at;
    }
    choice.candidates = bottoms < CANDIDATES ? bottoms : CANDIDATES;
    for (uint32_t i = 0; i < choice.candidates; i++) {
        uint32_t start = bottom[(uint64_t)i * bottoms / choice.candidates];
        uint32_t count =
            network_distances_if(network, start, choice.distance, choice.queue, leads_up, rank);
        choice.above[i] = mem_zalloc(choice.words, sizeof *choice.above[i]);
        while (count-- > 0)
            bitset_add(choice.above[i], choice.queue[count]);
    }
    uint64_t *missing = choice.roots; /* roots that lead down to no pivot so far */
    while (down_up_pivots->count < DOWN_UP_PIVOTS_TOP) {
        unsigned best = best_candidate(&choice, missing);
        if (best == CANDIDATES)
            break;
        for (size_t word = 0; word < choice.words; word++)
            missing[word] &= ~choice.above[best][word];
        down_up_pivots->above[down_up_pivots->count++] = choice.above[best];
        choice.above[best] = NULL;
    }
    for (unsigned i = 0; i < choice.candidates; i++)
        mem_free(choice.above[i]);
    arena_release(&choice.memory);
}

void down_up_pivots_release(struct down_up_pivots *down_up_pivots)
{
    for (unsigned i = 0; i < down_up_pivots->count; i++)
        mem_free(down_up_pivots->above[i]);
    *down_up_pivots = (struct down_up_pivots){0};
}
