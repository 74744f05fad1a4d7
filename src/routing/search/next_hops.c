/* Breadth-first search for 64 destinations at once, in three rounds.
 *
 * A switch settles a destination in the first ring where a neighbour of the ring before has it; all
 * such neighbours are next hops. Each ring is pulled: only switches next to the last ring visit
 * their links, so the work never exceeds that of 64 separate searches.
 *
 * With directions (FERa's rule for tables without regard to the input port), a switch that can
 * reach the destination by going down all the way must do so, even where a route up would be
 * shorter; all others go up along a shortest such route. Hence first a search along links down,
 * whose rings are stored, and then one along links up that merges these rings at their distance.
 *
 * With several roots some switches have no legal route (root to root in a fat tree, for example).
 * In a third round these unroutable switches send towards the nearest switch that has one; if
 * terminals are concerned, to a switch where they may turn (down_up_pivots.h). */
#include "routing/search/next_hops.h"

#include <assert.h>
#include <string.h>

enum { DENSE = 4 }; /* from 1/DENSE of all switches on, all switches are visited */

/* Scratch of one tile. Words have one bit for each destination of the tile, by switch. */
struct tile_search {
    struct next_hops *next_hops;
    struct arena memory;
    uint64_t *targets; /* the tile's words, by slot */
    uint64_t *settled; /* destinations that have their next hops */
    uint64_t *front;   /* destinations settled in the last ring */
    uint64_t *fresh;   /* destinations settled in this ring, by index in `touched` */
    uint32_t *active;  /* switches with bits in `front` */
    uint32_t *touched; /* switches next to those */
    uint32_t *mark;    /* the ring in which a switch was touched last */
    uint32_t active_count, touched_count, ring;
    uint64_t all;                    /* all destinations of the tile */
    VEC(struct ring_entry) descents; /* the rings of the search along links down */
    VEC(size_t) first_descent;       /* by ring, one more at the end */
    uint64_t operations;
};
struct ring_entry {
    uint32_t at;
    uint64_t targets;
};

/* A range of a switch's slots: those up, those down, or all. */
enum side { SIDE_UP = 1, SIDE_DOWN = 2, SIDE_BOTH = 3 };
struct slot_range {
    uint32_t first, end;
};

static inline struct slot_range slots_of(const struct next_hops *next_hops, uint32_t at,
                                         enum side side)
{
    return (struct slot_range){
        side & SIDE_UP ? next_hops->network->first_edge[at] : next_hops->first_down[at],
        side & SIDE_DOWN ? next_hops->network->first_edge[at + 1] : next_hops->first_down[at],
    };
}

static uint32_t target_count(const struct next_hops *next_hops, uint32_t tile)
{
    uint32_t left = next_hops->switch_count - (next_hops->first_tile + tile) * NEXT_HOPS_TILE;
    return left < NEXT_HOPS_TILE ? left : NEXT_HOPS_TILE;
}

/* Lists the neighbours, on this side, of the last ring: only these can settle destinations. */
static void touch_neighbours(struct tile_search *search, enum side side)
{
    const struct next_hops *next_hops = search->next_hops;
    search->touched_count = 0;
    search->ring++;
    if (search->active_count > next_hops->switch_count / DENSE) {
        for (uint32_t at = 0; at < next_hops->switch_count; at++)
            if (search->settled[at] != search->all)
                search->touched[search->touched_count++] = at;
        return;
    }
    for (uint32_t i = 0; i < search->active_count; i++) {
        struct slot_range slots = slots_of(next_hops, search->active[i], side);
        for (uint32_t slot = slots.first; slot < slots.end; slot++) {
            uint32_t to = next_hops->to[slot];
            if (search->mark[to] == search->ring || search->settled[to] == search->all)
                continue;
            search->mark[to] = search->ring;
            search->touched[search->touched_count++] = to;
        }
        search->operations += slots.end - slots.first;
    }
}

/* Each touched switch settles the destinations of its neighbours on this side. */
static void pull_front(struct tile_search *search, enum side side)
{
    const struct next_hops *next_hops = search->next_hops;
    const uint64_t *front = search->front;
    for (uint32_t i = 0; i < search->touched_count; i++) {
        uint32_t at = search->touched[i];
        struct slot_range slots = slots_of(next_hops, at, side);
        uint64_t open = ~search->settled[at], fresh = 0;
        for (uint32_t slot = slots.first; slot < slots.end; slot++) {
            uint64_t found = front[next_hops->to[slot]] & open;
            search->targets[slot] |= found;
            fresh |= found;
        }
        search->fresh[i] = fresh;
        search->operations += slots.end - slots.first;
    }
}

/* The touched switches become the front. */
static void settle_ring(struct tile_search *search)
{
    for (uint32_t i = 0; i < search->active_count; i++)
        search->front[search->active[i]] = 0;
    search->active_count = 0;
    for (uint32_t i = 0; i < search->touched_count; i++) {
        uint32_t at = search->touched[i];
        if (!search->fresh[i])
            continue;
        search->settled[at] |= search->fresh[i];
        search->front[at] = search->fresh[i];
        search->active[search->active_count++] = at;
    }
    search->operations += search->touched_count;
}

/* Along links down, from destinations upwards. The rings are kept for search_up(). */
static void search_down(struct tile_search *search)
{
    while (search->active_count) {
        vec_push(&search->first_descent, search->descents.count);
        for (uint32_t i = 0; i < search->active_count; i++) {
            uint32_t at = search->active[i];
            vec_push(&search->descents, ((struct ring_entry){at, search->front[at]}));
        }
        touch_neighbours(search, SIDE_UP);
        pull_front(search, SIDE_DOWN);
        settle_ring(search);
    }
    vec_push(&search->first_descent, search->descents.count);
}

/* Along links up. Each ring takes up the ring of the search down at the same distance. */
static void search_up(struct tile_search *search)
{
    size_t rings = search->first_descent.count - 1;
    for (size_t ring = 0; search->active_count || ring < rings; ring++) {
        size_t i = search->first_descent.items[ring < rings ? ring : rings];
        size_t end = search->first_descent.items[ring < rings ? ring + 1 : rings];
        for (; i < end; i++) {
            struct ring_entry *entry = &search->descents.items[i];
            if (!search->front[entry->at])
                search->active[search->active_count++] = entry->at;
            search->front[entry->at] |= entry->targets;
        }
        touch_neighbours(search, SIDE_DOWN);
        pull_front(search, SIDE_UP);
        settle_ring(search);
    }
}

/* Unroutable switches. */

/* By switch the destinations for which it is unroutable: connected, but without a legal route. Such
 * switches are listed as active. */
static uint64_t *find_unroutable(struct tile_search *search, uint32_t tile)
{
    const struct next_hops *next_hops = search->next_hops;
    const struct updown *updown = next_hops->updown;
    uint32_t first = (next_hops->first_tile + tile) * NEXT_HOPS_TILE;
    uint64_t *unroutable = mem_alloc(next_hops->switch_count * sizeof *unroutable);
    uint64_t *targets_of_part = mem_zalloc(updown->part_count, sizeof *targets_of_part);
    for (uint32_t bit = 0; bit < target_count(next_hops, tile); bit++)
        targets_of_part[updown->part[first + bit]] |= UINT64_C(1) << bit;
    search->active_count = 0;
    for (uint32_t at = 0; at < next_hops->switch_count; at++) {
        unroutable[at] = targets_of_part[updown->part[at]] & ~search->settled[at];
        if (unroutable[at])
            search->active[search->active_count++] = at;
    }
    search->operations += next_hops->switch_count;
    mem_free(targets_of_part);
    return unroutable;
}

static void count_gaps(const struct tile_search *search, uint32_t tile, const uint64_t *unroutable)
{
    const struct next_hops *next_hops = search->next_hops;
    uint32_t first = (next_hops->first_tile + tile) * NEXT_HOPS_TILE;
    struct next_hops_gaps *gaps = &next_hops->gaps[tile];
    uint64_t terminals = 0; /* destinations with terminals */
    for (uint32_t bit = 0; bit < target_count(next_hops, tile); bit++)
        terminals |= (uint64_t)(network_terminal_count(next_hops->network, first + bit) > 0) << bit;
    for (uint32_t i = 0; i < search->active_count; i++) {
        uint32_t at = search->active[i];
        uint64_t left = network_terminal_count(next_hops->network, at) ? unroutable[at]
                                                                       : unroutable[at] & terminals;
        for (; left; left &= left - 1) {
            uint32_t to = first + (unsigned)__builtin_ctzll(left);
            uint64_t before = gaps->pairs.other_pairs;
            updown_count_gap(&gaps->pairs, next_hops->network, at, to);
            if (gaps->pairs.other_pairs > before &&
                gaps->unroutable_count++ < NEXT_HOPS_UNROUTABLE_TOP)
                vec_push(&gaps->unroutable, ((struct unroutable_pair){at, to}));
        }
    }
}

/* Sets next hops for open destinations that a neighbour on this side has, each by the first such
 * neighbour: in the order of slots, or in that of by_rank. Returns these destinations. */
static uint64_t follow_first(struct tile_search *search, uint32_t at, enum side side, uint64_t open,
                             const uint64_t *have, const uint32_t *by_rank)
{
    const struct next_hops *next_hops = search->next_hops;
    struct slot_range slots = slots_of(next_hops, at, side);
    uint64_t left = open;
    uint32_t i = slots.first;
    for (; left && i < slots.end; i++) {
        uint32_t slot = by_rank ? by_rank[i] : i;
        uint64_t found = have[next_hops->to[slot]] & left;
        search->targets[slot] |= found;
        left &= ~found;
    }
    search->operations += i - slots.first;
    return open & ~left;
}

/* Ring by ring to switches that have a route, of several to the one farthest up. */
static void place_rings(struct tile_search *search, uint64_t *unroutable)
{
    const struct next_hops *next_hops = search->next_hops;
    memcpy(search->front, search->settled, next_hops->switch_count * sizeof *search->front);
    while (search->active_count) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < search->active_count; i++)
            search->fresh[i] =
                follow_first(search, search->active[i], SIDE_BOTH, unroutable[search->active[i]],
                             search->front, next_hops->by_rank);
        memset(search->front, 0, next_hops->switch_count * sizeof *search->front);
        for (uint32_t i = 0; i < search->active_count; i++) {
            uint32_t at = search->active[i];
            search->front[at] = search->fresh[i];
            unroutable[at] &= ~search->fresh[i];
            if (unroutable[at])
                search->active[kept++] = at;
        }
        search->active_count = kept;
    }
}

/* Places unroutable switches that can go up to a switch above the pivot, and then down to one there
 * that has a legal route. */
static void place_by_pivot(struct tile_search *search, unsigned index, uint64_t *unroutable)
{
    const struct next_hops *next_hops = search->next_hops;
    const struct updown *updown = next_hops->updown;
    uint64_t *have = search->front, *placed = search->fresh;
    for (uint32_t at = 0; at < next_hops->switch_count; at++) {
        have[at] =
            down_up_pivots_has(&next_hops->down_up_pivots, index, at) ? search->settled[at] : 0;
        placed[at] = 0;
    }
    for (uint32_t rank = next_hops->switch_count; rank-- > 0;) {
        uint32_t at = updown->order[rank];
        if (!unroutable[at] || !down_up_pivots_has(&next_hops->down_up_pivots, index, at))
            continue;
        placed[at] = follow_first(search, at, SIDE_DOWN, unroutable[at], have, NULL);
        have[at] |= placed[at];
    }
    for (uint32_t rank = 0; rank < next_hops->switch_count; rank++) {
        uint32_t at = updown->order[rank];
        if (unroutable[at] && !down_up_pivots_has(&next_hops->down_up_pivots, index, at))
            placed[at] = follow_first(search, at, SIDE_UP, unroutable[at], placed, NULL);
    }
    for (uint32_t at = 0; at < next_hops->switch_count; at++)
        unroutable[at] &= ~placed[at];
}

/* `settled` has room for all switches and becomes the search's own. */
static void tile_search_init(struct tile_search *search, struct next_hops *next_hops, uint32_t tile,
                             uint64_t *settled)
{
    uint32_t switches = next_hops->switch_count;
    *search = (struct tile_search){
        .next_hops = next_hops,
        .targets = next_hops->targets + (size_t)tile * next_hops->slot_count,
        .settled = settled,
    };
    search->front = arena_alloc(&search->memory, switches * sizeof *search->front);
    search->fresh = arena_alloc(&search->memory, switches * sizeof *search->fresh);
    search->active = arena_alloc(&search->memory, switches * sizeof *search->active);
    search->touched = arena_alloc(&search->memory, switches * sizeof *search->touched);
    search->mark = arena_alloc(&search->memory, switches * sizeof *search->mark);
}

static void tile_search_release(struct tile_search *search)
{
    __atomic_fetch_add(&search->next_hops->operations, search->operations, __ATOMIC_RELAXED);
    vec_release(&search->descents);
    vec_release(&search->first_descent);
    mem_free(search->settled);
    arena_release(&search->memory);
}

static void compute_next_hops_tile(void *context, size_t index)
{
    struct next_hops *next_hops = context;
    uint32_t tile = (uint32_t)index, first = (next_hops->first_tile + tile) * NEXT_HOPS_TILE;
    struct tile_search search;
    tile_search_init(&search, next_hops, tile,
                     mem_zalloc(next_hops->switch_count, sizeof(uint64_t)));
    memset(search.targets, 0, next_hops->slot_count * sizeof *search.targets);
    next_hops_gaps_release(&next_hops->gaps[tile]);
    for (uint32_t bit = 0; bit < target_count(next_hops, tile); bit++) {
        search.settled[first + bit] = search.front[first + bit] = UINT64_C(1) << bit;
        search.active[search.active_count++] = first + bit;
        search.all |= UINT64_C(1) << bit;
    }
    if (next_hops->updown) {
        search_down(&search);
        search_up(&search);
        uint64_t *unroutable = find_unroutable(&search, tile);
        count_gaps(&search, tile, unroutable);
        /* If no terminal is concerned, any path will do. Else unroutable switches are left for
         * finish_tile(): the pivots must be known. */
        if (next_hops->gaps[tile].unroutable_count == 0 || next_hops->turn_anywhere) {
            place_rings(&search, unroutable);
        } else {
            next_hops->unfinished[tile] = search.settled;
            search.settled = NULL;
        }
        mem_free(unroutable);
    }
    while (!next_hops->updown && search.active_count) {
        touch_neighbours(&search, SIDE_BOTH);
        pull_front(&search, SIDE_BOTH);
        settle_ring(&search);
    }
    tile_search_release(&search);
}

static void finish_tile(void *context, size_t index)
{
    struct next_hops *next_hops = context;
    struct tile_search search;
    if (!next_hops->unfinished[index])
        return;
    tile_search_init(&search, next_hops, (uint32_t)index, next_hops->unfinished[index]);
    next_hops->unfinished[index] = NULL;
    uint64_t *unroutable = find_unroutable(&search, (uint32_t)index);
    for (unsigned i = 0; i < next_hops->down_up_pivots.count; i++)
        place_by_pivot(&search, i, unroutable);
    mem_free(unroutable);
    /* The rest go to any switch that has a route by now. */
    for (uint32_t slot = 0, at = 0; slot < next_hops->slot_count; slot++) {
        while (slot == next_hops->network->first_edge[at + 1])
            at++;
        search.settled[at] |= search.targets[slot];
    }
    unroutable = find_unroutable(&search, (uint32_t)index);
    place_rings(&search, unroutable);
    mem_free(unroutable);
    tile_search_release(&search);
}

void next_hops_compute(struct next_hops *next_hops, const struct workers *workers,
                       uint32_t first_tile)
{
    assert(first_tile <= next_hops_tiles(next_hops));
    bool finished = true;
    next_hops->first_tile = first_tile;
    next_hops->tile_count = next_hops_tiles(next_hops) - first_tile;
    if (next_hops->tile_count > next_hops->tile_limit)
        next_hops->tile_count = next_hops->tile_limit;
    workers_run(workers, next_hops->tile_count, compute_next_hops_tile, next_hops);
    for (uint32_t tile = 0; tile < next_hops->tile_count; tile++)
        finished &= !next_hops->unfinished[tile];
    if (finished)
        return;
    if (!next_hops->down_up_pivots.count)
        down_up_pivots_choose(&next_hops->down_up_pivots, next_hops->network,
                              next_hops->updown->rank);
    workers_run(workers, next_hops->tile_count, finish_tile, next_hops);
}

void next_hops_add_gaps(const struct next_hops *next_hops, struct next_hops_gaps *sum)
{
    for (uint32_t tile = 0; tile < next_hops->tile_count; tile++) {
        const struct next_hops_gaps *gaps = &next_hops->gaps[tile];
        updown_add_gaps(&sum->pairs, &gaps->pairs);
        sum->unroutable_count += gaps->unroutable_count;
        for (size_t i = 0; i < gaps->unroutable.count; i++)
            if (sum->unroutable.count < NEXT_HOPS_UNROUTABLE_TOP)
                vec_push(&sum->unroutable, gaps->unroutable.items[i]);
    }
}

void next_hops_gaps_release(struct next_hops_gaps *gaps)
{
    vec_release(&gaps->unroutable);
    *gaps = (struct next_hops_gaps){0};
}

void next_hops_init(struct next_hops *next_hops, const struct network *network,
                    const struct updown *updown, const struct workers *workers, size_t memory_bytes,
                    const uint64_t *keys)
{
    uint32_t switches = (uint32_t)network->switches.count, slots = network->first_edge[switches];
    *next_hops = (struct next_hops){
        .network = network, .updown = updown, .switch_count = switches, .slot_count = slots};
    struct arena *memory = &next_hops->memory;
    next_hops->edge = arena_alloc(memory, slots * sizeof *next_hops->edge);
    next_hops->to = arena_alloc(memory, slots * sizeof *next_hops->to);
    next_hops->port = arena_alloc(memory, slots);
    next_hops->first_down = arena_alloc(memory, switches * sizeof *next_hops->first_down);
    next_hops->by_rank = arena_alloc(memory, updown ? slots * sizeof *next_hops->by_rank : 0);
    next_hops_lay_slots(next_hops, workers, keys);
    size_t tile_bytes = slots * sizeof *next_hops->targets;
    size_t limit = tile_bytes ? memory_bytes / tile_bytes : 1;
    if (limit < workers_count(workers))
        limit = workers_count(workers);
    if (limit > next_hops_tiles(next_hops))
        limit = next_hops_tiles(next_hops);
    next_hops->tile_limit = (uint32_t)limit;
    next_hops->targets = mem_alloc_large(limit * tile_bytes);
    next_hops->gaps = arena_alloc(memory, limit * sizeof *next_hops->gaps);
    next_hops->unfinished = arena_alloc(memory, limit * sizeof *next_hops->unfinished);
}

void next_hops_release(struct next_hops *next_hops)
{
    mem_free(next_hops->targets);
    for (uint32_t tile = 0; tile < next_hops->tile_limit; tile++)
        next_hops_gaps_release(&next_hops->gaps[tile]);
    arena_release(&next_hops->memory);
    down_up_pivots_release(&next_hops->down_up_pivots);
    *next_hops = (struct next_hops){0};
}
