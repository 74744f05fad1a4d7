/* Networks without a structure that another layout knows.
 *
 * Small ones: springs between neighbours, repulsion between all switches (Fruchterman and Reingold,
 * 1991), from a ring as the start. Large ones: circles of equal distance from a switch in the
 * middle of the network. */
#include "topology/drawing/layout.h"

#include <math.h>

enum { SPRING_LIMIT = 300, SPRING_ROUNDS = 200 };

/* The displacement of one switch by all others. */
static struct layout_point spring_force(const struct graph *graph, uint32_t at,
                                        const struct layout_point *places)
{
    struct layout_point force = {0, 0};
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        double x = places[at].x - places[i].x, y = places[at].y - places[i].y;
        double square = x * x + y * y + 1e-6;
        force.x += i == at ? 0 : x / square;
        force.y += i == at ? 0 : y / square;
    }
    for (uint32_t e = graph->first_edge[at]; e < graph->first_edge[at + 1]; e++) {
        uint32_t to = graph->neighbour[e];
        double x = places[to].x - places[at].x, y = places[to].y - places[at].y;
        double length = sqrt(x * x + y * y);
        force.x += x * length;
        force.y += y * length;
    }
    return force;
}

void layout_free(const struct graph *graph, struct layout_point *places)
{
    if (graph->switch_count > SPRING_LIMIT) {
        /* Rings around the switch half way through a search from the first one. */
        uint32_t count = graph->switch_count, from = 0;
        uint32_t *distance = mem_alloc(count * sizeof *distance);
        uint32_t *queue = mem_alloc(count * sizeof *queue);
        uint32_t found = graph_distances(graph, &from, 1, distance, queue);
        from = queue[found / 2];
        found = graph_distances(graph, &from, 1, distance, queue);
        for (uint32_t first = 0, next; first < found; first = next) {
            uint32_t hops = distance[queue[first]];
            for (next = first; next < found && distance[queue[next]] == hops; next++)
                ;
            double radius = (next - first) / 6.3 > 2.0 * hops ? (next - first) / 6.3 : 2.0 * hops;
            for (uint32_t i = first; i < next; i++) {
                double turn = 6.283185307179586 * (i - first) / (next - first);
                places[queue[i]] = (struct layout_point){radius * sin(turn), radius * cos(turn)};
            }
        }
        for (uint32_t i = 0; i < count; i++) { /* other parts of the network */
            uint32_t row = i / 50;
            if (distance[i] == GRAPH_FAR)
                places[i] = (struct layout_point){i % 50, -10.0 - row};
        }
        mem_free(distance);
        mem_free(queue);
        return;
    }
    layout_ring(graph, (struct layout_point){0.5, 0.5}, places);
    for (unsigned round = 0; round < SPRING_ROUNDS; round++) {
        double most = sqrt(graph->switch_count) * 0.2 * (1 - (double)round / SPRING_ROUNDS);
        for (uint32_t i = 0; i < graph->switch_count; i++) {
            struct layout_point force = spring_force(graph, i, places);
            double length = sqrt(force.x * force.x + force.y * force.y);
            double scale = length > most ? most / length : 1;
            places[i].x += force.x * scale;
            places[i].y += force.y * scale;
        }
    }
    for (uint32_t i = 0; i < graph->switch_count; i++) { /* edges of about 1 are too short */
        places[i].x *= 1.6;
        places[i].y *= 1.6;
    }
}
