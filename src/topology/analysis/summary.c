/* Counts, levels and distances of a fabric. */
#include "topology/analysis/summary.h"

#include <string.h>

/* A breadth-first search from every switch takes switches × edges steps. Beyond this limit only
 * some switches are sources, and the diameter is a lower bound. */
static const uint64_t exact_steps = 500000000;

static void count_nodes_and_links(const struct topology *topology, struct topology_summary *summary)
{
    for (size_t i = 0; i < topology->nodes.count; i++) {
        const struct topology_node *node = &topology->nodes.items[i];
        unsigned linked = 0;
        for (unsigned p = 1; p <= node->port_count; p++) {
            uint32_t port = node->first_port + p, peer = topology->ports.items[port].peer;
            if (peer == TOPOLOGY_NONE)
                continue;
            linked++;
            if (peer < port)
                continue;
            uint32_t other = topology->ports.items[peer].node;
            int switches =
                (node->kind == NODE_SWITCH) + (topology->nodes.items[other].kind == NODE_SWITCH);
            if (switches == 2 && other != i)
                summary->switch_links++;
            else if (switches == 1)
                summary->host_links++;
            else
                summary->other_links++;
        }
        summary->switches += node->kind == NODE_SWITCH;
        summary->adapters += node->kind == NODE_ADAPTER;
        summary->routers += node->kind == NODE_ROUTER;
        if (node->kind == NODE_SWITCH)
            summary->free_ports += node->port_count - linked;
        else
            summary->loose_nodes += linked == 0;
    }
}

static void count_degrees(const struct graph *graph, struct topology_summary *summary)
{
    uint32_t *seen = mem_alloc(graph->switch_count * sizeof *seen);
    memset(seen, 0xff, graph->switch_count * sizeof *seen);
    uint32_t repeats = 0;
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint32_t degree = graph->first_edge[i + 1] - graph->first_edge[i];
        if (i == 0 || degree < summary->degree_least)
            summary->degree_least = degree;
        if (degree > summary->degree_most)
            summary->degree_most = degree;
        for (uint32_t e = graph->first_edge[i]; e < graph->first_edge[i + 1]; e++) {
            repeats += seen[graph->neighbour[e]] == i;
            seen[graph->neighbour[e]] = i;
        }
    }
    summary->parallel_links = repeats / 2;
    mem_free(seen);
}

uint32_t topology_levels(const struct graph *graph, uint32_t *level)
{
    uint32_t *queue = mem_alloc(graph->switch_count * sizeof *queue);
    uint32_t *sources = mem_alloc((graph->switch_count + 1) * sizeof *sources), count = 0;
    for (uint32_t i = 0; i < graph->switch_count; i++)
        if (graph->first_host[i + 1] > graph->first_host[i])
            sources[count++] = i;
    if (!count && graph->switch_count)
        sources[count++] = 0;
    uint32_t reached = graph_distances(graph, sources, count, level, queue);
    for (uint32_t i = 0; i < graph->switch_count; i++)
        if (level[i] == GRAPH_FAR)
            level[i] = 0;
    uint32_t levels = reached ? level[queue[reached - 1]] + 1 : 0;
    mem_free(sources);
    mem_free(queue);
    return levels;
}

bool topology_is_layered(const struct graph *graph, const uint32_t *level, uint32_t level_count)
{
    if (level_count < 2 || !graph->host_count)
        return false;
    for (uint32_t i = 0; i < graph->switch_count; i++)
        for (uint32_t e = graph->first_edge[i]; e < graph->first_edge[i + 1]; e++) {
            uint32_t to = level[graph->neighbour[e]];
            if (to + 1 != level[i] && level[i] + 1 != to)
                return false;
        }
    return true;
}

void topology_summarise(const struct topology *topology, const struct graph *graph,
                        struct topology_summary *summary)
{
    *summary = (struct topology_summary){.diameter_is_exact = true};
    uint32_t *distance = mem_alloc(graph->switch_count * sizeof *distance);
    uint32_t *queue = mem_alloc(graph->switch_count * sizeof *queue);
    count_nodes_and_links(topology, summary);
    count_degrees(graph, summary);
    summary->parts = graph_components(graph, NULL, 0, distance);
    uint64_t steps = (uint64_t)graph->switch_count * (graph->edge_count + graph->switch_count);
    uint32_t stride = (uint32_t)(steps / exact_steps) + 1;
    uint64_t sum = 0, pairs = 0;
    for (uint32_t i = 0; i < graph->switch_count; i += stride) {
        uint32_t count = graph_distances(graph, &i, 1, distance, queue);
        for (uint32_t j = 1; j < count; j++)
            sum += distance[queue[j]];
        pairs += count - 1;
        if (distance[queue[count - 1]] > summary->diameter)
            summary->diameter = distance[queue[count - 1]];
    }
    summary->diameter_is_exact = stride == 1;
    summary->distance_mean = pairs ? (double)sum / (double)pairs : 0;
    summary->level_count = topology_levels(graph, distance);
    summary->layered = topology_is_layered(graph, distance, summary->level_count);
    for (uint32_t i = 0; i < graph->switch_count; i++)
        summary->level[distance[i] < SUMMARY_LEVELS ? distance[i] : SUMMARY_LEVELS - 1]++;
    mem_free(distance);
    mem_free(queue);
    summary->bisection = topology_bisection(graph);
    topology_recognise(graph, summary->kind, sizeof summary->kind);
}

size_t topology_count_links(const struct topology *topology, struct link_count *counts)
{
    static const uint8_t widths[] = {WIDTH_1X, WIDTH_2X, WIDTH_4X, WIDTH_8X, WIDTH_12X};
    uint32_t links[WIDTH_2X + 1][SPEED_COUNT] = {0};
    size_t count = 0;
    for (uint32_t i = 0; i < topology->ports.count; i++) {
        const struct topology_port *port = &topology->ports.items[i];
        if (port->peer != TOPOLOGY_NONE && port->peer > i)
            links[port->width][port->speed]++;
    }
    for (size_t w = 0; w < sizeof widths; w++)
        for (unsigned s = 0; s < SPEED_COUNT; s++)
            if (links[widths[w]][s])
                counts[count++] = (struct link_count){widths[w], (uint8_t)s, links[widths[w]][s]};
    return count;
}
