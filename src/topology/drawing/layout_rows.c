/* The order of switches within the rows of a network with levels.
 *
 * It determines how many lines cross. Leaves that are connected below the top level are adjacent;
 * each row above is sorted by the mean position of its neighbours below (the barycentre method of
 * Sugiyama), ties in file order. Integer arithmetic makes a drawing the same everywhere. */
#include "topology/drawing/layout.h"

#include <stdlib.h>

struct row_item {
    uint64_t key; /* rows are sorted by this */
    uint32_t node;
};

static int compare_row_items(const void *a, const void *b)
{
    const struct row_item *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

void layout_rows(const struct graph *graph, const uint32_t *level, uint32_t level_count,
                 uint64_t *place, uint32_t *order)
{
    struct arena memory = {0};
    struct row_item *row = arena_alloc(&memory, graph->switch_count * sizeof *row);
    uint32_t *group = arena_alloc(&memory, graph->switch_count * sizeof *group), placed = 0;
    graph_components(graph, level, level_count - 1, group); /* connected below the top level */
    for (uint32_t which = 0; which < level_count; which++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < graph->switch_count; i++) {
            uint64_t sum = 0, below = 0; /* of the neighbours one level below */
            if (level[i] != which)
                continue;
            for (uint32_t e = graph->first_edge[i]; e < graph->first_edge[i + 1]; e++)
                if (level[graph->neighbour[e]] + 1 == which) {
                    sum += place[graph->neighbour[e]];
                    below++;
                }
            row[count++] = (struct row_item){!which ? group[i] : below ? sum / below : 0, i};
        }
        qsort(row, count, sizeof *row, compare_row_items);
        for (uint32_t i = 0; i < count; i++) {
            place[row[i].node] = (2 * (uint64_t)i + 1) * LAYOUT_ROW / 2 / count;
            order[placed++] = row[i].node;
        }
    }
    arena_release(&memory);
}
