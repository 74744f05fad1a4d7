/* An estimate of the bisection: the fewest links between two halves of the hosts.
 *
 * Finding the minimum is NP-hard, so this is a search, after Fiduccia and Mattheyses: start with a
 * partition along a breadth-first order, then in passes move one switch after another to the other
 * side, always the one with the largest gain, even if it is negative, and keep the best partition.
 * A few starts are tried. The weight of a switch is its number of hosts; switches without hosts
 * move freely. The result is an upper bound, usually exact on regular networks of some hundred
 * switches.
 *
 * The choice of a move scans all switches, so a pass takes the square of their number; beyond
 * `refined_switches` only the switches without hosts are moved. */
#include "topology/analysis/summary.h"

#include <assert.h>
#include <stdlib.h>

static const uint32_t refined_switches = 4096;
enum { MAX_PASSES = 16 };

struct halves {
    const struct graph *graph;
    const uint32_t *weight;
    uint8_t *side;
    int32_t *gain; /* links saved by moving the switch over */
    bool *moved;
    uint32_t *trail; /* moves of this pass */
    int64_t excess;  /* weight of side 0 minus that of side 1 */
    int64_t slack;   /* allowed excess of a result */
    int64_t heaviest;
    uint32_t cut;
};

static void move_over(struct halves *halves, uint32_t node)
{
    const struct graph *graph = halves->graph;
    halves->cut = (uint32_t)((int64_t)halves->cut - halves->gain[node]);
    assert(halves->cut <= graph->edge_count / 2);
    halves->gain[node] = -halves->gain[node];
    halves->excess += (halves->side[node] ? 2 : -2) * (int64_t)halves->weight[node];
    halves->side[node] ^= 1;
    for (uint32_t e = graph->first_edge[node]; e < graph->first_edge[node + 1]; e++) {
        uint32_t other = graph->neighbour[e];
        halves->gain[other] += halves->side[other] == halves->side[node] ? -2 : 2;
    }
}

/* The switch with the largest gain whose move keeps the balance within a limit. */
static uint32_t choose_move(const struct halves *halves)
{
    uint32_t best = TOPOLOGY_NONE;
    int64_t limit = halves->slack + 2 * halves->heaviest;
    for (uint32_t i = 0; i < halves->graph->switch_count; i++) {
        if (halves->moved[i] || (best != TOPOLOGY_NONE && halves->gain[i] <= halves->gain[best]))
            continue;
        int64_t after = halves->excess + (halves->side[i] ? 2 : -2) * (int64_t)halves->weight[i];
        if (llabs(after) <= limit || llabs(after) < llabs(halves->excess))
            best = i;
    }
    return best;
}

/* One pass; true if it found a better partition, which is then in place. */
static bool improve(struct halves *halves)
{
    uint32_t count = 0, keep = 0, best = halves->cut;
    bool was_balanced = llabs(halves->excess) <= halves->slack;
    for (uint32_t i = 0; i < halves->graph->switch_count; i++)
        halves->moved[i] = false;
    for (uint32_t node; (node = choose_move(halves)) != TOPOLOGY_NONE;) {
        move_over(halves, node);
        halves->moved[node] = true;
        halves->trail[count++] = node;
        if (llabs(halves->excess) <= halves->slack && (!was_balanced || halves->cut < best)) {
            was_balanced = true;
            best = halves->cut;
            keep = count;
        }
    }
    while (count > keep)
        move_over(halves, halves->trail[--count]);
    return keep > 0;
}

/* Side 0 takes switches in the given order until it has half of the weight. */
static uint32_t search_from(struct halves *halves, const uint32_t *order, uint64_t total)
{
    uint64_t taken = 0;
    for (uint32_t i = 0; i < halves->graph->switch_count; i++) {
        uint32_t node = order[i];
        halves->side[node] = 2 * taken + halves->weight[node] > total;
        taken += halves->side[node] ? 0 : halves->weight[node];
    }
    const struct graph *graph = halves->graph;
    uint32_t ends = 0;
    halves->excess = 0;
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        halves->gain[i] = 0;
        halves->excess += halves->side[i] ? -(int64_t)halves->weight[i] : halves->weight[i];
        for (uint32_t e = graph->first_edge[i]; e < graph->first_edge[i + 1]; e++) {
            bool crosses = halves->side[graph->neighbour[e]] != halves->side[i];
            halves->gain[i] += crosses ? 1 : -1;
            ends += crosses;
        }
    }
    halves->cut = ends / 2;
    for (uint32_t i = 0; i < halves->graph->switch_count; i++)
        if (halves->weight[i] == 0 && halves->gain[i] > 0)
            move_over(halves, i); /* without hosts: to the side of most of its links */
    if (halves->graph->switch_count <= refined_switches)
        for (int pass = 0; pass < MAX_PASSES && improve(halves); pass++)
            ;
    return halves->cut;
}

/* The halves are equal if an even number of switches has hosts, all the same number; else they may
 * differ by one switch. */
static uint64_t set_weights(const struct graph *graph, uint32_t *weight, struct halves *halves)
{
    uint64_t total = 0;
    uint32_t with_hosts = 0;
    bool alike = true;
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        weight[i] = graph->host_count ? graph->first_host[i + 1] - graph->first_host[i] : 1;
        total += weight[i];
        if (!weight[i])
            continue;
        with_hosts++;
        alike &= halves->heaviest == 0 || halves->heaviest == weight[i];
        if (weight[i] > halves->heaviest)
            halves->heaviest = weight[i];
    }
    halves->slack = alike && with_hosts % 2 == 0 ? 0 : halves->heaviest;
    return total;
}

uint32_t topology_bisection(const struct graph *graph)
{
    uint32_t count = graph->switch_count, best = UINT32_MAX;
    struct arena memory = {0};
    if (count < 2)
        return 0;
    uint32_t *weight = arena_alloc(&memory, count * sizeof *weight);
    struct halves halves = {
        .graph = graph,
        .weight = weight,
        .side = arena_alloc(&memory, count),
        .gain = arena_alloc(&memory, count * sizeof *halves.gain),
        .moved = arena_alloc(&memory, count * sizeof *halves.moved),
        .trail = arena_alloc(&memory, count * sizeof *halves.trail),
    };
    uint32_t *order = arena_alloc(&memory, count * sizeof *order);
    uint32_t *distance = arena_alloc(&memory, count * sizeof *distance);
    uint64_t total = set_weights(graph, weight, &halves);
    for (uint32_t begin = 0, source = 0; begin < 4; begin++) {
        for (uint32_t i = 0; i < count; i++)
            order[i] = i;
        if (begin > 0) {
            uint32_t reached = graph_distances(graph, &source, 1, distance, order);
            for (uint32_t i = 0; i < count; i++)
                if (distance[i] == GRAPH_FAR)
                    order[reached++] = i;
            source = order[begin == 1 ? count - 1 : count / 2];
        }
        uint32_t cut = search_from(&halves, order, total);
        best = cut < best ? cut : best;
    }
    arena_release(&memory);
    return best;
}
