/* Breadth-first search over the links between switches. */
#include "routing/model/network.h"

#include <assert.h>
#include <string.h>

static inline uint32_t spread_distances(const struct network *network, uint32_t *distance,
                                        uint32_t *queue, uint32_t count,
                                        bool (*may)(const void *context, uint32_t at, uint32_t to),
                                        const void *context)
{
    for (uint32_t head = 0; head < count; head++) {
        uint32_t at = queue[head], next = distance[at] + 1;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint32_t to = network->edges[e].to;
            if (distance[to] != NETWORK_NONE || (may && !may(context, at, to)))
                continue;
            distance[to] = next;
            queue[count++] = to;
        }
    }
    return count;
}

uint32_t network_spread(const struct network *network, uint32_t *distance, uint32_t *queue,
                        uint32_t count)
{
    return spread_distances(network, distance, queue, count, NULL, NULL);
}

static void clear_distances(const struct network *network, uint32_t *distance)
{
    if (network->switches.count)
        memset(distance, 0xFF, network->switches.count * sizeof *distance);
}

uint32_t network_distances(const struct network *network, uint32_t from, uint32_t *distance,
                           uint32_t *queue)
{
    return network_distances_if(network, from, distance, queue, NULL, NULL);
}

uint32_t network_distances_if(const struct network *network, uint32_t from, uint32_t *distance,
                              uint32_t *queue,
                              bool (*may)(const void *context, uint32_t at, uint32_t to),
                              const void *context)
{
    assert(from < network->switches.count);
    clear_distances(network, distance);
    distance[from] = 0;
    queue[0] = from;
    return may ? spread_distances(network, distance, queue, 1, may, context)
               : network_spread(network, distance, queue, 1);
}

uint32_t network_stages(const struct network *network, uint32_t *stage, uint32_t *queue)
{
    uint32_t count = 0;
    clear_distances(network, stage);
    for (uint32_t at = 0; at < network->switches.count; at++)
        if (network_terminal_count(network, at)) {
            stage[at] = 0;
            queue[count++] = at;
        }
    return network_spread(network, stage, queue, count);
}

uint32_t network_parts(const struct network *network, uint32_t *part)
{
    uint32_t switches = (uint32_t)network->switches.count, parts = 0;
    uint32_t *queue = mem_alloc((switches + 1) * sizeof *queue);
    uint32_t *distance = mem_alloc((switches + 1) * sizeof *distance);
    clear_distances(network, distance);
    for (uint32_t start = 0; start < switches; start++) {
        if (distance[start] != NETWORK_NONE)
            continue;
        distance[start] = 0;
        queue[0] = start;
        for (uint32_t count = network_spread(network, distance, queue, 1); count-- > 0;)
            part[queue[count]] = parts;
        parts++;
    }
    mem_free(queue);
    mem_free(distance);
    return parts;
}

uint64_t network_count_edges(const struct network *network, const uint32_t *switches,
                             uint32_t count)
{
    uint64_t edges = 0;
    for (uint32_t i = 0; i < count; i++)
        edges += network->first_edge[switches[i] + 1] - network->first_edge[switches[i]];
    return edges;
}
