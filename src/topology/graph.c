/* Builds the switch graph in two passes over the ports: count, then fill. */
#include "topology/graph.h"

#include <assert.h>
#include <string.h>

/* Adds the links of one switch to its rows, or only counts them. */
static void add_links(struct graph *graph, const struct topology *topology, uint32_t node,
                      bool fill)
{
    const struct topology_node *from = &topology->nodes.items[node];
    for (unsigned p = 1; p <= from->port_count; p++) {
        uint32_t peer = topology->ports.items[from->first_port + p].peer;
        if (peer == TOPOLOGY_NONE)
            continue;
        uint32_t other = topology->ports.items[peer].node;
        uint32_t to = graph->switch_of[other];
        if (to == TOPOLOGY_NONE) {
            if (fill) {
                graph->host[graph->host_count] = peer;
                graph->host_port[graph->host_count] = (uint8_t)p;
            }
            graph->host_count++;
        } else if (other != node) {
            if (fill) {
                graph->neighbour[graph->edge_count] = to;
                graph->port[graph->edge_count] = (uint8_t)p;
                graph->peer_port[graph->edge_count] =
                    (uint8_t)(peer - topology->nodes.items[other].first_port);
            }
            graph->edge_count++;
        }
    }
}

void graph_init(struct graph *graph, const struct topology *topology)
{
    size_t nodes = topology->nodes.count;
    *graph = (struct graph){0};
    graph->node = arena_alloc(&graph->memory, nodes * sizeof *graph->node);
    graph->switch_of = arena_alloc(&graph->memory, nodes * sizeof *graph->switch_of);
    for (uint32_t i = 0; i < nodes; i++) {
        bool is_switch = topology->nodes.items[i].kind == NODE_SWITCH;
        graph->switch_of[i] = is_switch ? graph->switch_count : TOPOLOGY_NONE;
        if (is_switch)
            graph->node[graph->switch_count++] = i;
    }
    for (uint32_t i = 0; i < graph->switch_count; i++)
        add_links(graph, topology, graph->node[i], false);
    graph->first_edge =
        arena_alloc(&graph->memory, (graph->switch_count + 1) * sizeof *graph->first_edge);
    graph->first_host =
        arena_alloc(&graph->memory, (graph->switch_count + 1) * sizeof *graph->first_host);
    graph->neighbour = arena_alloc(&graph->memory, graph->edge_count * sizeof *graph->neighbour);
    graph->port = arena_alloc(&graph->memory, graph->edge_count);
    graph->peer_port = arena_alloc(&graph->memory, graph->edge_count);
    graph->host = arena_alloc(&graph->memory, graph->host_count * sizeof *graph->host);
    graph->host_port = arena_alloc(&graph->memory, graph->host_count);
    const uint32_t edges = graph->edge_count, hosts = graph->host_count;
    graph->edge_count = graph->host_count = 0;
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        graph->first_edge[i] = graph->edge_count;
        graph->first_host[i] = graph->host_count;
        add_links(graph, topology, graph->node[i], true);
    }
    assert(graph->edge_count == edges && graph->host_count == hosts && edges % 2 == 0);
    graph->first_edge[graph->switch_count] = graph->edge_count;
    graph->first_host[graph->switch_count] = graph->host_count;
}

void graph_release(struct graph *graph)
{
    arena_release(&graph->memory);
    *graph = (struct graph){0};
}

uint32_t graph_distances(const struct graph *graph, const uint32_t *sources, uint32_t source_count,
                         uint32_t *distance, uint32_t *queue)
{
    uint32_t head = 0, tail = 0;
    memset(distance, 0xff, graph->switch_count * sizeof *distance);
    for (uint32_t i = 0; i < source_count; i++) {
        assert(sources[i] < graph->switch_count);
        if (distance[sources[i]] == 0)
            continue;
        distance[sources[i]] = 0;
        queue[tail++] = sources[i];
    }
    while (head < tail) {
        uint32_t at = queue[head++];
        for (uint32_t e = graph->first_edge[at]; e < graph->first_edge[at + 1]; e++) {
            uint32_t to = graph->neighbour[e];
            if (distance[to] != GRAPH_FAR)
                continue;
            distance[to] = distance[at] + 1;
            queue[tail++] = to;
        }
    }
    assert(tail <= graph->switch_count);
    return tail;
}

uint32_t graph_components(const struct graph *graph, const uint32_t *level, uint32_t end,
                          uint32_t *part)
{
    assert(level || !end);
    uint32_t *stack = mem_alloc((graph->switch_count + 1) * sizeof *stack), count = 0;
    memset(part, 0xff, graph->switch_count * sizeof *part);
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint32_t depth = 0;
        if (part[i] != TOPOLOGY_NONE || (level && level[i] >= end))
            continue;
        part[i] = count;
        for (stack[depth++] = i; depth;) {
            uint32_t at = stack[--depth];
            for (uint32_t e = graph->first_edge[at]; e < graph->first_edge[at + 1]; e++) {
                uint32_t to = graph->neighbour[e];
                if (part[to] != TOPOLOGY_NONE || (level && level[to] >= end))
                    continue;
                part[to] = count;
                stack[depth++] = to;
            }
        }
        count++;
    }
    mem_free(stack);
    return count;
}
