/* Recognises the kind of a network: trees by their levels, grids by their coordinates (grid.h),
 * dragonflies by their groups. A small network can be of several kinds (a 4x4 torus is a
 * hypercube): all are named. Parallel links count as one; their number is part of the result. */
#include "topology/analysis/summary.h"

#include "base/mem.h"
#include "base/text.h"
#include "topology/analysis/grid.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct recogniser {
    const struct graph *graph;
    struct simple simple;
    struct text *names; /* the result */
};

/* Adds a name to the result. */
__attribute__((format(printf, 2, 3))) static void add_name(struct recogniser *search,
                                                           const char *format, ...)
{
    if (search->names->length)
        text_puts(search->names, ", ");
    text_put_arguments(search->names, format);
}

/* Children and parents of the switches of a level; false if they differ. */
static bool measure_level(const struct recogniser *search, const uint32_t *level, uint32_t which,
                          uint32_t *down, uint32_t *up)
{
    const struct graph *graph = search->graph;
    const struct simple *simple = &search->simple;
    bool first = true;
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        if (level[i] != which)
            continue;
        uint32_t below = which ? 0 : graph->first_host[i + 1] - graph->first_host[i], above = 0;
        for (uint32_t e = simple->first[i]; e < simple->first[i + 1]; e++) {
            below += level[simple->neighbour[e]] < which;
            above += level[simple->neighbour[e]] > which;
        }
        if (!first && (below != *down || above != *up))
            return false;
        *down = below;
        *up = above;
        first = false;
    }
    return true;
}

static void name_fat_tree(struct recogniser *search, const uint32_t *m, const uint32_t *w,
                          uint32_t levels)
{
    bool is_kary = true;
    for (uint32_t i = 0; i < levels; i++)
        is_kary &= m[i] == m[0] && (i == 0 || w[i] == m[0]);
    add_name(search, "fat tree XGFT(%u; ", levels);
    for (uint32_t i = 0; i < levels; i++)
        text_printf(search->names, "%s%u", i ? "," : "", m[i]);
    text_puts(search->names, "; 1");
    for (uint32_t i = 1; i < levels; i++)
        text_printf(search->names, ",%u", w[i]);
    text_putc(search->names, ')');
    if (is_kary)
        add_name(search, "%u-ary %u-tree", m[0], levels);
    if (levels == 2 && w[1] * m[1] == search->simple.first[search->simple.count] / 2)
        add_name(search, "folded Clos (%u,%u,%u)", w[1], m[0], m[1]);
}

static bool recognise_tree(struct recogniser *search)
{
    const struct graph *graph = search->graph;
    uint32_t *level = arena_alloc(&search->simple.memory, graph->switch_count * sizeof *level);
    uint32_t levels = topology_levels(graph, level);
    uint32_t m[SUMMARY_LEVELS] = {0}, w[SUMMARY_LEVELS + 1] = {0};
    bool layered = topology_is_layered(graph, level, levels);
    bool uniform = layered && levels <= SUMMARY_LEVELS;
    for (uint32_t i = 0; uniform && i < levels; i++)
        uniform = measure_level(search, level, i, &m[i], &w[i + 1]);
    if (layered && search->simple.first[search->simple.count] / 2 == graph->switch_count - 1)
        add_name(search, "tree of %u levels", levels);
    else if (uniform)
        name_fat_tree(search, m, w, levels);
    else if (layered)
        add_name(search, "fat tree of %u levels, not regular", levels);
    return layered;
}

/* Names a grid of these sizes, unless it has another name: lines, full meshes and hypercubes have,
 * and a 2x2 torus is a ring. */
static void add_grid(struct recogniser *search, const char *kind, uint32_t *sizes, uint32_t count)
{
    bool is_torus = strcmp(kind, "torus") == 0;
    if (count)
        sort_u32(sizes, count);
    if (count < 2 || sizes[count - 1] == 2 || (is_torus && sizes[1] == 2))
        return;
    add_name(search, "%s ", kind);
    for (uint32_t i = 0; i < count; i++)
        text_printf(search->names, "%s%u", i ? "x" : "", sizes[i]);
}

/* A line of two and a ring of three are full meshes, a ring of four is two lines of two: a grid can
 * have several names. */
static void recognise_grid(struct recogniser *search)
{
    struct grid grid;
    uint32_t sizes[GRID_DIMENSIONS], twos = 0, count = 0, shapes[GRID_FULL + 1] = {0};
    if (grid_recognise(&grid, &search->simple, NULL))
        return;
    bool complete = grid_is_complete(&grid, &search->simple);
    for (unsigned d = 0; complete && d < grid.dimensions; d++) {
        uint32_t size = grid.dimension[d].size;
        bool both = size == 3 && grid.dimension[d].shape == GRID_FULL; /* mesh and ring */
        twos += size == 2;
        shapes[grid.dimension[d].shape] += size > 2 && !both;
        if (size > 2)
            sizes[count++] = size;
    }
    if (complete && twos >= 2 && twos == grid.dimensions)
        add_name(search, "hypercube of %u dimensions", twos);
    uint32_t larger = count;
    if (complete && !shapes[GRID_LINE] && !shapes[GRID_FULL]) {
        for (uint32_t i = 0; i < (twos + 1) / 2; i++)
            sizes[count++] = 2 * i + 1 < twos ? 4 : 2;
        add_grid(search, "torus", sizes, count);
    }
    count = 0;
    for (unsigned d = 0; d < grid.dimensions; d++)
        sizes[count++] = grid.dimension[d].size;
    if (complete && !shapes[GRID_RING] && !shapes[GRID_FULL] && shapes[GRID_LINE] == larger)
        add_grid(search, "mesh", sizes, count);
    if (complete && !shapes[GRID_LINE] && !shapes[GRID_RING])
        add_grid(search, "HyperX", sizes, count);
    grid_release(&grid);
}

static uint32_t common_neighbours(const struct simple *simple, uint32_t a, uint32_t b)
{
    uint32_t i = simple->first[a], j = simple->first[b], count = 0;
    while (i < simple->first[a + 1] && j < simple->first[b + 1]) {
        uint32_t x = simple->neighbour[i], y = simple->neighbour[j];
        count += x == y;
        i += x <= y;
        j += y <= x;
    }
    return count;
}

/* Members of a group have all its other members as neighbours. Finds the group of `node` and checks
 * that it is a full mesh of `size`. */
static bool take_group(const struct simple *simple, uint32_t node, uint32_t size, uint32_t group,
                       uint32_t *group_of)
{
    assert(size >= 2 && group_of[node] == TOPOLOGY_NONE);
    uint32_t members[TOPOLOGY_PORTS_PER_NODE + 2], count = 0;
    members[count++] = node;
    for (uint32_t e = simple->first[node]; e < simple->first[node + 1]; e++)
        if (common_neighbours(simple, node, simple->neighbour[e]) >= size - 2)
            members[count++] = simple->neighbour[e];
    if (count != size)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (group_of[members[i]] != TOPOLOGY_NONE)
            return false;
        for (uint32_t j = 0; j < i; j++)
            if (!bsearch(&members[j], simple->neighbour + simple->first[members[i]],
                         simple->first[members[i] + 1] - simple->first[members[i]], sizeof *members,
                         compare_u32))
                return false;
        group_of[members[i]] = group;
    }
    return true;
}

/* Every group must have the same number of links to every other group. */
static bool groups_are_meshed(const struct simple *simple, const uint32_t *group_of,
                              uint32_t groups)
{
    uint32_t *links = mem_zalloc((size_t)groups * groups, sizeof *links);
    for (uint32_t i = 0; i < simple->count; i++)
        for (uint32_t e = simple->first[i]; e < simple->first[i + 1]; e++)
            links[group_of[i] * groups + group_of[simple->neighbour[e]]]++;
    bool valid = links[1] > 0;
    for (uint32_t i = 0; valid && i < groups; i++)
        for (uint32_t j = 0; valid && j < groups; j++)
            valid = i == j || links[i * groups + j] == links[1];
    mem_free(links);
    return valid;
}

/* Groups of equal size whose members are fully meshed, with links between all groups. */
static uint32_t find_groups(const struct simple *simple, uint32_t *group_of)
{
    for (uint32_t size = 3; size <= simple->degree_most && size <= simple->count / 2; size++) {
        uint32_t groups = simple->count / size, next = 0;
        if (simple->count % size || groups < 3 || groups > 4096)
            continue;
        memset(group_of, 0xff, simple->count * sizeof *group_of);
        bool valid = true;
        for (uint32_t i = 0; valid && i < simple->count; i++)
            if (group_of[i] == TOPOLOGY_NONE)
                valid = take_group(simple, i, size, next++, group_of);
        if (valid && groups_are_meshed(simple, group_of, groups))
            return groups;
    }
    return 0;
}

uint32_t topology_find_groups(const struct graph *graph, uint32_t *group_of)
{
    struct simple simple;
    simple_init(&simple, graph->switch_count, graph->first_edge, graph->neighbour);
    uint32_t groups = find_groups(&simple, group_of);
    simple_release(&simple);
    return groups;
}

static void recognise_dragonfly(struct recogniser *search)
{
    uint32_t count = search->simple.count;
    uint32_t *group_of = arena_alloc(&search->simple.memory, count * sizeof *group_of);
    uint32_t groups = find_groups(&search->simple, group_of);
    if (groups)
        add_name(search, "dragonfly of %u groups of %u", groups, count / groups);
}

static void recognise_direct(struct recogniser *search)
{
    const struct simple *simple = &search->simple;
    uint32_t count = simple->count;
    bool regular = simple->degree_least == simple->degree_most;
    if (regular && simple->degree_most == count - 1)
        add_name(search, count == 2 ? "two switches" : "full mesh");
    if (regular && simple->degree_most == 2 && count > 3)
        add_name(search, "ring");
    if (count > 2 && simple->degree_most == 2 && simple->degree_least == 1)
        add_name(search, "line");
    recognise_grid(search);
    if (!search->names->length)
        recognise_dragonfly(search);
    if (!search->names->length && regular && simple->degree_most > 2)
        add_name(search, "regular of degree %u, jellyfish-like", simple->degree_most);
}

void topology_recognise(const struct graph *graph, char *name, size_t size)
{
    struct text text = {0};
    struct recogniser search = {.graph = graph, .names = &text};
    simple_init(&search.simple, graph->switch_count, graph->first_edge, graph->neighbour);
    if (graph->switch_count == 0)
        add_name(&search, "no switches");
    else if (graph->switch_count == 1)
        add_name(&search, "single switch");
    else if (simple_count_parts(&search.simple) > 1)
        add_name(&search, "separate parts");
    else if (!recognise_tree(&search))
        recognise_direct(&search);
    if (!text.length)
        add_name(&search, "irregular");
    if (graph->edge_count && search.simple.copies > 1)
        text_printf(&text, ", every link %u-fold", search.simple.copies);
    snprintf(name, size, "%s", text.data);
    text_release(&text);
    simple_release(&search.simple);
}
