/* Finding the factors of a product of graphs from its squares.
 *
 * In a product, two links at a switch that lie in different dimensions span exactly one square, and
 * opposite sides of a square lie in the same dimension; two links in the same dimension span none,
 * or a triangle if the dimension is a full mesh (Sabidussi, "Graph multiplication", 1960; Imrich
 * and Peterin, "Recognizing Cartesian products in linear time", 2007, without its optimizations).
 * So sides of triangles and opposite sides of squares are joined; that gives one class of links for
 * each step along each dimension. Two classes that meet but span no square anywhere are steps of
 * the same dimension, provided that they meet as often as neighbouring steps do: at an end of every
 * link, or of most of them. Missing links only mean fewer squares.
 *
 * The place of a switch in a dimension is then the part it is in when the links of that dimension
 * are taken away, and the order of the places follows from the links between them. */
#include "topology/analysis/grid.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct grid_search {
    struct arena memory;
    const struct simple *simple;
    uint32_t *class;        /* by link: union-find, the lower number leads */
    struct map spanned;     /* pairs of classes that span a square */
    struct map met;         /* by pair of classes that span none: at how many switches they meet */
    VEC(uint64_t) meetings; /* such pairs, as they were found */
    uint32_t *dimension;    /* by link */
    unsigned dimensions;
};

static uint32_t class_of(const struct grid_search *search, uint32_t link)
{
    while (search->class[link] != link) {
        search->class[link] = search->class[search->class[link]];
        link = search->class[link];
    }
    return link;
}

static void join_classes(struct grid_search *search, uint32_t a, uint32_t b)
{
    a = class_of(search, a);
    b = class_of(search, b);
    search->class[a > b ? a : b] = a > b ? b : a;
}

static uint64_t pair_key(uint32_t a, uint32_t b)
{
    return (uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a);
}

/* The corner opposite to `at` in the only square over b and c, or TOPOLOGY_NONE. */
static uint32_t square_corner(const struct simple *simple, uint32_t at, uint32_t b, uint32_t c)
{
    uint32_t i = simple->first[b], j = simple->first[c], corner = TOPOLOGY_NONE;
    while (i < simple->first[b + 1] && j < simple->first[c + 1]) {
        uint32_t x = simple->neighbour[i], y = simple->neighbour[j];
        if (x == y && x != at) {
            if (corner != TOPOLOGY_NONE)
                return TOPOLOGY_NONE;
            corner = x;
        }
        i += x <= y;
        j += y <= x;
    }
    return corner;
}

/* Two links at a switch, i and j in its row. */
typedef void visit_pair(struct grid_search *search, uint32_t at, uint32_t i, uint32_t j);

static void each_pair(struct grid_search *search, visit_pair *visit)
{
    const struct simple *simple = search->simple;
    for (uint32_t at = 0; at < simple->count; at++)
        for (uint32_t i = simple->first[at]; i < simple->first[at + 1]; i++)
            for (uint32_t j = simple->first[at]; j < i; j++)
                visit(search, at, i, j);
}

static void join_opposite_sides(struct grid_search *search, uint32_t at, uint32_t i, uint32_t j)
{
    const struct simple *simple = search->simple;
    uint32_t b = simple->neighbour[i], c = simple->neighbour[j],
             third = simple_find_link(simple, b, c);
    if (third != TOPOLOGY_NONE) {
        join_classes(search, simple->link[i], simple->link[j]);
        join_classes(search, simple->link[i], third);
        return;
    }
    uint32_t corner = square_corner(simple, at, b, c);
    if (corner == TOPOLOGY_NONE)
        return;
    join_classes(search, simple->link[i], simple_find_link(simple, c, corner));
    join_classes(search, simple->link[j], simple_find_link(simple, b, corner));
}

static void note_square(struct grid_search *search, uint32_t at, uint32_t i, uint32_t j)
{
    const struct simple *simple = search->simple;
    uint32_t a = class_of(search, simple->link[i]), b = class_of(search, simple->link[j]);
    if (a != b && map_get(&search->spanned, pair_key(a, b)) == MAP_NONE &&
        square_corner(simple, at, simple->neighbour[i], simple->neighbour[j]) != TOPOLOGY_NONE)
        map_add(&search->spanned, pair_key(a, b), 1);
}

static void count_meeting(struct grid_search *search, uint32_t at, uint32_t i, uint32_t j)
{
    const struct simple *simple = search->simple;
    uint32_t a = class_of(search, simple->link[i]), b = class_of(search, simple->link[j]);
    (void)at;
    if (a == b || map_get(&search->spanned, pair_key(a, b)) != MAP_NONE)
        return;
    uint32_t before = map_get(&search->met, pair_key(a, b));
    map_set(&search->met, pair_key(a, b), before == MAP_NONE ? 1 : before + 1);
    if (before == MAP_NONE)
        vec_push(&search->meetings, pair_key(a, b));
}

static int number_dimensions(struct grid_search *search, struct err *err)
{
    const struct simple *simple = search->simple;
    for (uint32_t link = 0; link < simple->link_count; link++) {
        uint32_t leader = class_of(search, link);
        if (leader != link) {
            search->dimension[link] = search->dimension[leader];
            continue;
        }
        if (search->dimensions == GRID_DIMENSIONS)
            return err_set(err, EMEDIUMTYPE, "the network is not a grid of up to %d dimensions",
                           GRID_DIMENSIONS);
        search->dimension[link] = search->dimensions++;
    }
    return 0;
}

/* Which places of a dimension are linked, each pair once from both ends. */
struct places {
    uint32_t count;
    VEC(uint64_t) links; /* from << 32 | to, ascending */
    uint32_t *first;     /* by place, one more at the end */
};

static void link_places(const struct grid_search *search, const struct grid *grid,
                        unsigned dimension, struct places *places)
{
    const struct simple *simple = search->simple;
    struct map seen = {0};
    for (uint32_t at = 0; at < simple->count; at++) {
        for (uint32_t i = simple->first[at]; i < simple->first[at + 1]; i++) {
            uint64_t from = grid_place(grid, at, dimension);
            uint64_t to = grid_place(grid, simple->neighbour[i], dimension);
            if (from == to || map_get(&seen, from << 32 | to) != MAP_NONE)
                continue;
            map_add(&seen, from << 32 | to, 1);
            vec_push(&places->links, from << 32 | to);
        }
    }
    map_release(&seen);
    sort_u64(places->links.items, places->links.count);
    places->first = mem_zalloc(places->count + 1, sizeof *places->first);
    for (size_t i = 0; i < places->links.count; i++)
        places->first[(places->links.items[i] >> 32) + 1]++;
    for (uint32_t i = 0; i < places->count; i++)
        places->first[i + 1] += places->first[i];
}

static uint32_t degree_of(const struct places *places, uint32_t place)
{
    return places->first[place + 1] - places->first[place];
}

/* Whether every place has `inner` neighbours, except for `ends` places that have one. */
static bool has_degrees(const struct places *places, uint32_t inner, uint32_t ends)
{
    uint32_t ends_found = 0;
    for (uint32_t place = 0; place < places->count; place++) {
        uint32_t degree = degree_of(places, place);
        ends_found += degree == 1 && inner != 1;
        if (degree != inner && degree != 1)
            return false;
    }
    return ends_found == ends;
}

/* Numbers the places along a line or ring; false if they are not all on it. */
static bool walk_along(const struct places *places, uint32_t start, uint32_t *number)
{
    uint32_t at = start, count = 0;
    assert(start < places->count && places->links.items);
    for (uint32_t place = 0; place < places->count; place++)
        number[place] = TOPOLOGY_NONE;
    while (number[at] == TOPOLOGY_NONE) {
        number[at] = count++;
        for (uint32_t i = places->first[at]; i < places->first[at + 1]; i++) {
            uint32_t to = (uint32_t)places->links.items[i];
            if (number[to] == TOPOLOGY_NONE) {
                at = to;
                break;
            }
        }
    }
    return count == places->count;
}

/* Finds the shape of a dimension, and numbers its places in order. */
static int order_places(struct grid *grid, unsigned dimension, const struct places *places,
                        struct err *err)
{
    uint32_t *number = mem_alloc(places->count * sizeof *number);
    struct grid_dimension *found = &grid->dimension[dimension];
    uint32_t end = 0; /* of a line */
    int rc = 0;
    while (end + 1 < places->count && degree_of(places, end) != 1)
        end++;
    found->size = places->count;
    if (has_degrees(places, places->count - 1, 0)) {
        found->shape = GRID_FULL;
        for (uint32_t place = 0; place < places->count; place++)
            number[place] = place;
    } else if (has_degrees(places, 2, 2) && walk_along(places, end, number)) {
        found->shape = GRID_LINE;
    } else if (has_degrees(places, 2, 0) && walk_along(places, 0, number)) {
        found->shape = GRID_RING;
    } else {
        rc = err_set(err, EMEDIUMTYPE,
                     "the network is not a grid: along one of its directions the switches form "
                     "neither a line nor a ring nor a full mesh");
    }
    for (uint32_t at = 0; !rc && at < grid->switch_count; at++) {
        uint32_t *place = &grid->place[(size_t)at * grid->dimensions + dimension];
        *place = number[*place];
    }
    mem_free(number);
    return rc;
}

/* Fails if two switches have the same coordinates. */
static int check_places(const struct grid *grid, struct err *err)
{
    struct map taken = {0};
    uint64_t points = 1;
    int rc = 0;
    for (unsigned d = 0; d < grid->dimensions && points <= UINT32_MAX; d++)
        points *= grid->dimension[d].size;
    /* Less than half of a grid may be missing. */
    if (grid->switch_count && points > 2 * (uint64_t)grid->switch_count)
        rc = err_set(err, EMEDIUMTYPE,
                     "the network is not a grid: its switches would fill less than "
                     "half of it");
    for (uint32_t at = 0; !rc && at < grid->switch_count; at++) {
        uint64_t key = 0;
        for (unsigned d = 0; d < grid->dimensions; d++)
            key = key * grid->dimension[d].size + grid_place(grid, at, d);
        if (map_get(&taken, key) != MAP_NONE)
            rc = err_set(err, EMEDIUMTYPE,
                         "the network is not a grid: two switches have the same coordinates");
        map_add(&taken, key, at);
    }
    map_release(&taken);
    return rc;
}

static void name_grid(struct grid *grid)
{
    bool uses[GRID_FULL + 1] = {false}, twos = true, threes = false;
    struct text text = {0};
    for (unsigned d = 0; d < grid->dimensions; d++) {
        bool both = grid->dimension[d].size == 3 && grid->dimension[d].shape == GRID_FULL;
        twos &= grid->dimension[d].size == 2;
        threes |= both;
        uses[grid->dimension[d].shape] |= grid->dimension[d].size > 2 && !both;
    }
    uses[GRID_FULL] |= threes && !uses[GRID_RING]; /* a ring of three is a full mesh, too */
    const char *kind = grid->dimensions == 0                                     ? "single switch"
                       : twos                                                    ? "hypercube"
                       : uses[GRID_FULL] + uses[GRID_LINE] + uses[GRID_RING] > 1 ? "grid"
                       : uses[GRID_RING]                                         ? "torus"
                       : uses[GRID_LINE]                                         ? "mesh"
                                                                                 : "HyperX";
    text_puts(&text, kind);
    for (unsigned d = 0; d < grid->dimensions; d++)
        text_printf(&text, "%s%u", d ? "x" : " ", grid->dimension[d].size);
    snprintf(grid->name, sizeof grid->name, "%s", text.data);
    text_release(&text);
}

void grid_join_twos(struct grid *grid, unsigned a, unsigned b)
{
    assert(a < b && b < grid->dimensions && grid->dimension[a].size == 2 &&
           grid->dimension[b].size == 2);
    unsigned before = grid->dimensions, after = before - 1;
    for (size_t at = 0; at < grid->switch_count; at++) {
        uint32_t *from = grid->place + at * before, *to = grid->place + at * after;
        uint32_t around = from[b] ? 3 - from[a] : from[a];
        for (unsigned d = 0; d < before; d++)
            if (d != b)
                to[d - (d > b)] = d == a ? around : from[d];
    }
    grid->dimension[a] = (struct grid_dimension){GRID_RING, 4};
    for (unsigned d = b; d < after; d++)
        grid->dimension[d] = grid->dimension[d + 1];
    grid->dimensions = after;
    name_grid(grid);
}

static int find_dimensions(struct grid_search *search, struct grid *grid, struct err *err)
{
    each_pair(search, join_opposite_sides);
    each_pair(search, note_square);
    uint32_t links = search->simple->link_count;
    uint32_t *size = mem_zalloc(links, sizeof *size);
    for (uint32_t link = 0; link < links; link++)
        size[class_of(search, link)]++;
    each_pair(search, count_meeting);
    for (size_t i = 0; i < search->meetings.count; i++) {
        uint64_t pair = search->meetings.items[i];
        uint32_t a = (uint32_t)(pair >> 32), b = (uint32_t)pair;
        uint32_t least = size[a] < size[b] ? size[a] : size[b];
        if (2 * map_get(&search->met, pair) > least)
            join_classes(search, a, b);
    }
    mem_free(size);
    int rc = number_dimensions(search, err);
    uint32_t *part = arena_alloc(&search->memory, grid->switch_count * sizeof *part);
    grid->dimensions = search->dimensions;
    grid->place = mem_alloc((size_t)grid->switch_count * grid->dimensions * sizeof *grid->place);
    for (unsigned d = 0; d < grid->dimensions && !rc; d++) {
        struct places places = {.count =
                                    simple_find_parts(search->simple, search->dimension, d, part)};
        for (uint32_t at = 0; at < grid->switch_count; at++)
            grid->place[(size_t)at * grid->dimensions + d] = part[at];
        link_places(search, grid, d, &places);
        rc = order_places(grid, d, &places, err);
        vec_release(&places.links);
        mem_free(places.first);
    }
    return rc;
}

int grid_recognise(struct grid *grid, const struct simple *simple, struct err *err)
{
    struct grid_search search = {.simple = simple};
    uint32_t links = simple->link_count, parts = simple_count_parts(simple);
    *grid = (struct grid){.switch_count = simple->count};
    if (parts > 1)
        return err_set(err, EMEDIUMTYPE, "the network is in %u separate parts", parts);
    search.class = arena_alloc(&search.memory, links * sizeof *search.class);
    search.dimension = arena_alloc(&search.memory, links * sizeof *search.dimension);
    for (uint32_t link = 0; link < links; link++)
        search.class[link] = link;
    int rc = find_dimensions(&search, grid, err);
    if (!rc)
        rc = check_places(grid, err);
    if (!rc)
        name_grid(grid);
    map_release(&search.spanned);
    map_release(&search.met);
    vec_release(&search.meetings);
    arena_release(&search.memory);
    if (rc)
        grid_release(grid);
    return rc;
}

bool grid_is_complete(const struct grid *grid, const struct simple *simple)
{
    uint64_t points = 1, links = 0;
    for (unsigned d = 0; d < grid->dimensions && points <= simple->count; d++)
        points *= grid->dimension[d].size;
    for (unsigned d = 0; d < grid->dimensions; d++) {
        uint64_t size = grid->dimension[d].size;
        uint64_t of_line = grid->dimension[d].shape == GRID_FULL   ? size * (size - 1) / 2
                           : grid->dimension[d].shape == GRID_LINE ? size - 1
                                                                   : size;
        links += points / size * of_line;
    }
    return points == simple->count && links == simple->link_count;
}

void grid_release(struct grid *grid)
{
    mem_free(grid->place);
    grid->place = NULL;
}
