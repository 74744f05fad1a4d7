/* Places a network with levels: one row per level, each spread over the whole width.
 *
 * The order within a row determines how many lines cross. Leaves that are connected below the top
 * level are adjacent; each row above is sorted by the mean position of its neighbours below (the
 * barycentre method of Sugiyama), ties in file order. Hosts are below their switch. Integer
 * arithmetic makes a drawing the same everywhere. */
#include "topology/draw.h"

#include <stdlib.h>
#include <string.h>

/* A switch with what its row is sorted by. */
struct seat {
    uint64_t key;
    uint32_t node;
};

static int compare_row_items(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

enum { UNIT = 1 << 20 }; /* the width of a row in position units */

/* Mean position of the neighbours one level below. */
static uint64_t barycentre(const struct graph *graph, const uint32_t *level, const uint64_t *place,
                           uint32_t at)
{
    uint64_t sum = 0, count = 0;
    for (uint32_t e = graph->first_edge[at]; e < graph->first_edge[at + 1]; e++) {
        if (level[graph->neighbour[e]] + 1 != level[at])
            continue;
        sum += place[graph->neighbour[e]];
        count++;
    }
    return count ? sum / count : 0;
}

/* Fills `row` with the switches of one level in drawing order, and their positions. */
static uint32_t order_row(const struct graph *graph, const uint32_t *level, uint32_t which,
                          const uint32_t *group, uint64_t *place, struct seat *row)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->switch_count; i++)
        if (level[i] == which)
            row[count++] = (struct seat){
                which ? barycentre(graph, level, place, i) : group[i],
                i,
            };
    qsort(row, count, sizeof *row, compare_row_items);
    for (uint32_t i = 0; i < count; i++)
        place[row[i].node] = (2 * (uint64_t)i + 1) * UNIT / 2 / count;
    return count;
}

/* Positions are in hundredths of an inch. */
static void put_place(struct text *out, char letter, uint32_t node, uint64_t x, uint64_t y)
{
    text_printf(out, "  %c%u [pos=\"%llu.%02llu,%llu.%02llu!\"]\n", letter, node,
                (unsigned long long)x / 100, (unsigned long long)x % 100,
                (unsigned long long)y / 100, (unsigned long long)y % 100);
}

static void place_hosts(const struct topology *topology, const struct graph *graph,
                        const struct seat *row, uint32_t count, uint64_t width, struct text *out)
{
    bool *placed = mem_zalloc(topology->nodes.count, sizeof *placed);
    uint64_t seat = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = row[i].node;
        for (uint32_t h = graph->first_host[at]; h < graph->first_host[at + 1]; h++, seat++) {
            uint32_t node = topology->ports.items[graph->host[h]].node;
            if (!placed[node])
                put_place(out, 'h', node, (2 * seat + 1) * width / (2 * graph->host_count), 0);
            placed[node] = true;
        }
    }
    mem_free(placed);
}

void drawing_place_rows(const struct topology *topology, const struct graph *graph,
                        const uint32_t *level, uint32_t level_count, bool hosts, struct text *out)
{
    struct seat *row = mem_alloc(graph->switch_count * sizeof *row);
    uint64_t *place = mem_zalloc(graph->switch_count, sizeof *place);
    uint32_t *group = mem_alloc(graph->switch_count * sizeof *group), widest = 0;
    uint32_t *size = mem_zalloc(level_count, sizeof *size);
    for (uint32_t i = 0; i < graph->switch_count; i++)
        if (++size[level[i]] > widest)
            widest = size[level[i]];
    uint64_t width = widest * UINT64_C(90);
    if (hosts && graph->host_count * UINT64_C(62) > width)
        width = graph->host_count * UINT64_C(62);
    uint64_t gap = width / 7 < 130 ? 130 : width / 7 > 420 ? 420 : width / 7;
    graph_parts(graph, level, level_count - 1, group); /* connected below the top level */
    for (uint32_t which = 0; which < level_count; which++) {
        uint32_t count = order_row(graph, level, which, group, place, row);
        if (which == 0 && hosts)
            place_hosts(topology, graph, row, count, width, out);
        uint64_t y = which * gap + (hosts ? 110 : 0);
        for (uint32_t i = 0; i < count; i++)
            put_place(out, 's', row[i].node, place[row[i].node] * width / UNIT, y);
    }
    mem_free(row);
    mem_free(place);
    mem_free(group);
    mem_free(size);
}
