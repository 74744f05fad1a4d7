/* Recognises the kind of a network.
 *
 * Trees (by their levels), full meshes, rings and hypercubes are recognised with certainty. Grids
 * (mesh, torus, HyperX) are recognised by the degree of the switches and the number of switches at
 * each distance, from a few sources; other networks with the same numbers are unlikely. Dragonflies
 * are recognised by their groups. A small network can be of several kinds (a 4x4 torus is a
 * hypercube): all are named. Parallel links count as one; their number is part of the result. */
#include "topology/summary.h"

#include "base/sort.h"
#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIMENSIONS = 20, MAX_DISTANCE = 4096, SOURCES = 8 };

/* The graph without parallel links. */
struct simple {
    uint32_t count, *first, *neighbour;
    uint32_t degree_least, degree_most;
    uint32_t copies; /* links between two adjacent switches; 0 if that varies */
};

struct recogniser {
    const struct graph *graph;
    struct simple simple;
    uint32_t *distance, *queue; /* scratch */
    struct arena memory;
    struct text *names; /* the result */
};

static void simplify(struct recogniser *search)
{
    const struct graph *graph = search->graph;
    struct simple *simple = &search->simple;
    uint32_t edges = 0;
    simple->count = graph->switch_count;
    simple->first = arena_alloc(&search->memory, (graph->switch_count + 1) * sizeof *simple->first);
    simple->neighbour = arena_alloc(&search->memory, graph->edge_count * sizeof *simple->neighbour);
    simple->degree_least = UINT32_MAX;
    simple->copies = 1;
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint32_t begin = graph->first_edge[i], all = graph->first_edge[i + 1] - begin, kept = 0;
        uint32_t *row = simple->neighbour + edges;
        simple->first[i] = edges;
        memcpy(row, graph->neighbour + begin, all * sizeof *row);
        sort_u32(row, all);
        for (uint32_t j = 0, run = 0; j < all; j++) {
            run++;
            if (j + 1 < all && row[j + 1] == row[j])
                continue;
            row[kept++] = row[j];
            if (edges == 0 && kept == 1)
                simple->copies = run;
            if (run != simple->copies)
                simple->copies = 0;
            run = 0;
        }
        edges += kept;
        simple->degree_least = kept < simple->degree_least ? kept : simple->degree_least;
        simple->degree_most = kept > simple->degree_most ? kept : simple->degree_most;
    }
    simple->first[graph->switch_count] = edges;
}

/* Adds a name to the result. */
__attribute__((format(printf, 2, 3))) static void add_name(struct recogniser *search,
                                                           const char *format, ...)
{
    va_list arguments;
    if (search->names->length)
        text_puts(search->names, ", ");
    va_start(arguments, format);
    text_vprintf(search->names, format, arguments);
    va_end(arguments);
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
    uint32_t *level = arena_alloc(&search->memory, graph->switch_count * sizeof *level);
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

/* Labels all switches from the first one: its neighbours get the unit vectors, every other switch
 * the union of its neighbours that are nearer. In a hypercube every link changes one bit. */
static void recognise_hypercube(struct recogniser *search)
{
    const struct simple *simple = &search->simple;
    uint32_t dimensions = simple->degree_most, zero = 0;
    if (dimensions < 2 || dimensions > 19 || simple->degree_least != dimensions ||
        simple->count != 1u << dimensions)
        return;
    uint32_t *label = arena_alloc(&search->memory, simple->count * sizeof *label);
    bool *taken = arena_alloc(&search->memory, simple->count * sizeof *taken), valid = true;
    graph_distances(search->graph, &zero, 1, search->distance, search->queue);
    for (uint32_t i = 0; i < dimensions; i++)
        label[simple->neighbour[simple->first[0] + i]] = 1u << i;
    for (uint32_t i = 0; valid && i < simple->count; i++) {
        uint32_t at = search->queue[i];
        for (uint32_t e = simple->first[at]; search->distance[at] > 1 && e < simple->first[at + 1];
             e++)
            if (search->distance[simple->neighbour[e]] < search->distance[at])
                label[at] |= label[simple->neighbour[e]];
        valid = label[at] < simple->count && !taken[label[at]];
        if (valid)
            taken[label[at]] = true;
    }
    for (uint32_t i = 0; valid && i < simple->count; i++)
        for (uint32_t e = simple->first[i]; valid && e < simple->first[i + 1]; e++)
            valid = __builtin_popcount(label[i] ^ label[simple->neighbour[e]]) == 1;
    if (valid)
        add_name(search, "hypercube of %u dimensions", dimensions);
}

/* The number of switches at each distance. */
struct histogram {
    uint32_t length;
    uint64_t at[MAX_DISTANCE];
};

enum grid_kind { GRID_TORUS, GRID_MESH, GRID_HYPERX, GRID_KINDS };
static const char *const grid_names[] = {"torus", "mesh", "HyperX"};

/* Adds a dimension to the histogram of a box, seen from a corner. */
static bool add_dimension(struct histogram *histogram, enum grid_kind kind, uint32_t size)
{
    assert(size >= 2);
    struct histogram sum = {0};
    uint32_t reach = kind == GRID_TORUS ? size / 2 : kind == GRID_MESH ? size - 1 : size > 1;
    if (histogram->length + reach > MAX_DISTANCE)
        return false;
    for (uint32_t i = 0; i < histogram->length; i++)
        for (uint32_t d = 0; d <= reach; d++) {
            uint64_t points = 1;
            if (kind == GRID_TORUS && d > 0 && 2 * d < size)
                points = 2;
            if (kind == GRID_HYPERX && d == 1)
                points = size - 1;
            sum.at[i + d] += histogram->at[i] * points;
        }
    sum.length = histogram->length + reach;
    *histogram = sum;
    return true;
}

static uint32_t box_degree(enum grid_kind kind, uint32_t size)
{
    if (kind == GRID_HYPERX)
        return size - 1;
    return kind == GRID_TORUS && size > 2 ? 2 : 1; /* of a corner */
}

static bool matches_box(struct recogniser *search, enum grid_kind kind, const uint32_t *dims,
                        uint32_t count)
{
    struct histogram wanted = {.length = 1, .at = {1}};
    uint64_t seen[MAX_DISTANCE];
    const struct simple *simple = &search->simple;
    uint32_t degree = 0, most = 0, seen_from = 0;
    for (uint32_t i = 0; i < count; i++) {
        degree += box_degree(kind, dims[i]);
        most += kind == GRID_MESH ? (dims[i] > 2 ? 2 : 1) : box_degree(kind, dims[i]);
    }
    if (degree != simple->degree_least || most != simple->degree_most)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!add_dimension(&wanted, kind, dims[i]))
            return false;
    for (uint32_t i = 0; i < simple->count && seen_from < SOURCES; i++) {
        if (simple->first[i + 1] - simple->first[i] != degree)
            continue;
        uint32_t reached = graph_distances(search->graph, &i, 1, search->distance, search->queue);
        if (search->distance[search->queue[reached - 1]] + 1 != wanted.length)
            return false;
        memset(seen, 0, sizeof seen);
        for (uint32_t j = 0; j < reached; j++)
            seen[search->distance[search->queue[j]]]++;
        if (memcmp(seen, wanted.at, wanted.length * sizeof *seen) != 0)
            return false;
        seen_from++;
    }
    return true;
}

/* Tries all products of ascending factors that equal the number of switches. */
static void try_boxes(struct recogniser *search, enum grid_kind kind, uint32_t left, uint32_t *dims,
                      uint32_t count)
{
    uint32_t least = count ? dims[count - 1] : 2;
    if (left == 1 || count == MAX_DIMENSIONS) {
        /* lines, full meshes and hypercubes have other names; a 2x2 torus is a ring */
        bool plain =
            left == 1 && count >= 2 && dims[count - 1] > 2 && (kind != GRID_TORUS || dims[1] > 2);
        if (plain && matches_box(search, kind, dims, count)) {
            add_name(search, "%s ", grid_names[kind]);
            for (uint32_t i = 0; i < count; i++)
                text_printf(search->names, "%s%u", i ? "x" : "", dims[i]);
        }
        return;
    }
    for (uint32_t factor = least; factor <= left; factor++) {
        if (left % factor || (left != factor && left / factor < factor))
            continue;
        dims[count] = factor;
        try_boxes(search, kind, left / factor, dims, count + 1);
    }
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
    struct recogniser search = {.graph = graph};
    simplify(&search);
    uint32_t groups = find_groups(&search.simple, group_of);
    arena_release(&search.memory);
    return groups;
}

static void recognise_dragonfly(struct recogniser *search)
{
    uint32_t count = search->simple.count;
    uint32_t *group_of = arena_alloc(&search->memory, count * sizeof *group_of);
    uint32_t groups = find_groups(&search->simple, group_of);
    if (groups)
        add_name(search, "dragonfly of %u groups of %u", groups, count / groups);
}

static void recognise_direct(struct recogniser *search)
{
    const struct simple *simple = &search->simple;
    uint32_t count = simple->count, dims[MAX_DIMENSIONS];
    bool regular = simple->degree_least == simple->degree_most;
    if (regular && simple->degree_most == count - 1)
        add_name(search, count == 2 ? "two switches" : "full mesh");
    if (regular && simple->degree_most == 2 && count > 3)
        add_name(search, "ring");
    if (count > 2 && simple->degree_most == 2 && simple->degree_least == 1)
        add_name(search, "line");
    recognise_hypercube(search);
    for (enum grid_kind kind = 0; kind < GRID_KINDS; kind++)
        if (kind == GRID_MESH || regular)
            try_boxes(search, kind, count, dims, 0);
    if (!search->names->length)
        recognise_dragonfly(search);
    if (!search->names->length && regular && simple->degree_most > 2)
        add_name(search, "regular of degree %u, jellyfish-like", simple->degree_most);
}

void topology_recognise(const struct graph *graph, char *name, size_t size)
{
    struct text text = {0};
    struct recogniser search = {.graph = graph, .names = &text};
    uint32_t zero = 0;
    search.distance = arena_alloc(&search.memory, graph->switch_count * sizeof *search.distance);
    search.queue = arena_alloc(&search.memory, graph->switch_count * sizeof *search.queue);
    simplify(&search);
    if (graph->switch_count == 0)
        add_name(&search, "no switches");
    else if (graph->switch_count == 1)
        add_name(&search, "single switch");
    else if (graph_distances(graph, &zero, 1, search.distance, search.queue) < graph->switch_count)
        add_name(&search, "separate parts");
    else if (!recognise_tree(&search))
        recognise_direct(&search);
    if (!text.length)
        add_name(&search, "irregular");
    if (graph->edge_count && search.simple.copies > 1)
        text_printf(&text, ", every link %u-fold", search.simple.copies);
    snprintf(name, size, "%s", text.data);
    text_release(&text);
    arena_release(&search.memory);
}
