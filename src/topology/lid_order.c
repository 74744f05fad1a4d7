/* Orders end ports breadth first, from the lowest GUID of a switch. */
#include "topology/lid_order.h"

#include "base/map.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

struct start {
    uint64_t guid;
    uint32_t end;
    bool is_late; /* not a switch */
};

static int compare_starts(const void *a, const void *b)
{
    const struct start *x = a, *y = b;
    if (x->is_late != y->is_late)
        return x->is_late ? 1 : -1;
    if (x->guid != y->guid)
        return x->guid < y->guid ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

void lid_order(const struct lid_order_end *ends, uint32_t count, const uint32_t *links,
               uint32_t *order)
{
    struct start *starts = mem_alloc(count * sizeof *starts + 1);
    uint64_t *seen = mem_zalloc(BITSET_WORDS(count) + 1, sizeof *seen);
    uint32_t head = 0, tail = 0;
    for (uint32_t i = 0; i < count; i++)
        starts[i] = (struct start){ends[i].guid, i, !ends[i].starts};
    qsort(starts, count, sizeof *starts, compare_starts);
    for (uint32_t i = 0; i < count; i++) {
        if (bitset_has(seen, starts[i].end))
            continue;
        bitset_add(seen, starts[i].end);
        order[tail++] = starts[i].end;
        while (head < tail) {
            const struct lid_order_end *at = &ends[order[head++]];
            for (uint32_t link = at->first_link; link < at->first_link + at->link_count; link++) {
                assert(links[link] < count);
                if (bitset_has(seen, links[link]))
                    continue;
                bitset_add(seen, links[link]);
                order[tail++] = links[link];
            }
        }
    }
    assert(tail == count);
    mem_free(seen);
    mem_free(starts);
}
