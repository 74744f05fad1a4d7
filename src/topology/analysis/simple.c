/* Removes parallel links, and numbers the rest. */
#include "topology/analysis/simple.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

uint32_t simple_find_link(const struct simple *simple, uint32_t a, uint32_t b)
{
    const uint32_t *row = simple->neighbour + simple->first[a];
    const uint32_t *found =
        bsearch(&b, row, simple->first[a + 1] - simple->first[a], sizeof b, compare_u32);
    return found ? simple->link[found - simple->neighbour] : TOPOLOGY_NONE;
}

/* Keeps one of each run of equal neighbours; returns how many. */
static uint32_t remove_copies(struct simple *simple, uint32_t *row, uint32_t count, bool first_row)
{
    uint32_t kept = 0;
    for (uint32_t i = 0, run = 0; i < count; i++) {
        run++;
        if (i + 1 < count && row[i + 1] == row[i])
            continue;
        row[kept++] = row[i];
        if (first_row && kept == 1)
            simple->copies = run;
        if (run != simple->copies)
            simple->copies = 0;
        run = 0;
    }
    return kept;
}

void simple_init(struct simple *simple, uint32_t count, const uint32_t *first_edge,
                 const uint32_t *neighbour)
{
    uint32_t kept = 0;
    *simple = (struct simple){.count = count, .degree_least = UINT32_MAX, .copies = 1};
    simple->first = arena_alloc(&simple->memory, (count + 1) * sizeof *simple->first);
    simple->neighbour = arena_alloc(&simple->memory, first_edge[count] * sizeof *simple->neighbour);
    simple->link = arena_alloc(&simple->memory, first_edge[count] * sizeof *simple->link);
    for (uint32_t at = 0; at < count; at++) {
        uint32_t *row = simple->neighbour + kept, all = first_edge[at + 1] - first_edge[at];
        simple->first[at] = kept;
        if (all) {
            memcpy(row, neighbour + first_edge[at], all * sizeof *row);
            sort_u32(row, all);
        }
        uint32_t degree = remove_copies(simple, row, all, kept == 0);
        simple->degree_least = degree < simple->degree_least ? degree : simple->degree_least;
        simple->degree_most = degree > simple->degree_most ? degree : simple->degree_most;
        kept += degree;
    }
    simple->first[count] = kept;
    for (uint32_t at = 0; at < count; at++)
        for (uint32_t i = simple->first[at]; i < simple->first[at + 1]; i++)
            simple->link[i] = simple->neighbour[i] > at
                                  ? simple->link_count++
                                  : simple_find_link(simple, simple->neighbour[i], at);
}

void simple_release(struct simple *simple)
{
    arena_release(&simple->memory);
}

uint32_t simple_find_parts(const struct simple *simple, const uint32_t *kind, uint32_t without,
                           uint32_t *part)
{
    uint32_t parts = 0, *stack = mem_alloc((simple->count + 1) * sizeof *stack);
    memset(part, 0xff, simple->count * sizeof *part);
    for (uint32_t start = 0; start < simple->count; start++) {
        uint32_t depth = 0;
        if (part[start] != TOPOLOGY_NONE)
            continue;
        part[start] = parts;
        for (stack[depth++] = start; depth;) {
            uint32_t at = stack[--depth];
            for (uint32_t i = simple->first[at]; i < simple->first[at + 1]; i++) {
                uint32_t to = simple->neighbour[i];
                if (part[to] != TOPOLOGY_NONE || (kind && kind[simple->link[i]] == without))
                    continue;
                part[to] = parts;
                stack[depth++] = to;
            }
        }
        parts++;
    }
    mem_free(stack);
    return parts;
}

uint32_t simple_count_parts(const struct simple *simple)
{
    uint32_t *part = mem_alloc((simple->count + 1) * sizeof *part);
    uint32_t parts = simple_find_parts(simple, NULL, 0, part);
    mem_free(part);
    return parts;
}
