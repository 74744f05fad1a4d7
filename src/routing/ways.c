/* Breadth-first search for 64 destinations at once, in three rounds.
 *
 * A switch settles a lane in the first ring where a neighbour of the ring before has that lane; all
 * such neighbours are ways. Each ring is pulled: only switches beside the last ring look at their
 * links, so the work never exceeds that of 64 separate searches.
 *
 * With directions (FERa's rule for tables that do not look at the input port): who can reach the
 * destination by going down all the way must do so, even where a route up would be shorter; all
 * others go up along a shortest such route. Hence first a search along links down, whose rings are
 * kept, and then one along links up that takes up those rings as it meets them.
 *
 * With several roots some switches have no legal route (root to root in a fat tree, say). These are
 * strays: they are sent towards the nearest switch that has one, in a third round. */
#include "routing/ways.h"

#include "base/map.h"

#include <string.h>

enum { DENSE = 4 }; /* from 1/DENSE of all switches on, looking for neighbours does not pay */

/* One tile's scratch; words by switch. */
struct search {
    struct ways *ways;
    uint64_t *lanes;   /* the tile's words, by slot */
    uint64_t *settled; /* lanes that have their ways */
    uint64_t *front;   /* lanes settled in the last ring */
    uint64_t *fresh;   /* lanes settled in this ring, of those in `touched` */
    uint32_t *active;  /* switches with a front */
    uint32_t *touched; /* switches that look for a front beside them */
    uint32_t *mark;    /* the ring in which a switch was touched last */
    uint32_t active_count, touched_count, ring;
    uint64_t all;                    /* lanes in use */
    VEC(struct ring_entry) descents; /* the rings of the search along links down, one by one */
    VEC(size_t) first_descent;       /* by ring, one more at the end */
    uint64_t operations;
};
struct ring_entry {
    uint32_t at;
    uint64_t lanes;
};

/* A range of a switch's slots: those up, those down, or all. */
enum side { SIDE_UP = 1, SIDE_DOWN = 2, SIDE_BOTH = 3 };
struct range {
    uint32_t first, end;
};

static struct range slots_of(const struct ways *ways, uint32_t at, enum side side)
{
    return (struct range){
        side & SIDE_UP ? ways->network->first_edge[at] : ways->first_down[at],
        side & SIDE_DOWN ? ways->network->first_edge[at + 1] : ways->first_down[at],
    };
}

static uint32_t lane_count(const struct ways *ways, uint32_t tile)
{
    uint32_t left = ways->switch_count - (ways->first_tile + tile) * WAYS_LANES;
    return left < WAYS_LANES ? left : WAYS_LANES;
}

/* Whoever may find something new: the neighbours, on this side, of those in front. */
static void touch_neighbours(struct search *search, enum side side)
{
    const struct ways *ways = search->ways;
    search->touched_count = 0;
    search->ring++;
    if (search->active_count > ways->switch_count / DENSE) {
        for (uint32_t at = 0; at < ways->switch_count; at++)
            if (search->settled[at] != search->all)
                search->touched[search->touched_count++] = at;
        return;
    }
    for (uint32_t i = 0; i < search->active_count; i++) {
        struct range slots = slots_of(ways, search->active[i], side);
        for (uint32_t slot = slots.first; slot < slots.end; slot++) {
            uint32_t to = ways->to[slot];
            if (search->mark[to] == search->ring || search->settled[to] == search->all)
                continue;
            search->mark[to] = search->ring;
            search->touched[search->touched_count++] = to;
        }
        search->operations += slots.end - slots.first;
    }
}

/* Each touched switch takes what its neighbours on this side have. */
static void pull_front(struct search *search, enum side side)
{
    const struct ways *ways = search->ways;
    const uint64_t *front = search->front;
    for (uint32_t i = 0; i < search->touched_count; i++) {
        uint32_t at = search->touched[i];
        struct range slots = slots_of(ways, at, side);
        uint64_t open = ~search->settled[at], fresh = 0;
        for (uint32_t slot = slots.first; slot < slots.end; slot++) {
            uint64_t found = front[ways->to[slot]] & open;
            search->lanes[slot] |= found;
            fresh |= found;
        }
        search->fresh[i] = fresh;
        search->operations += slots.end - slots.first;
    }
}

/* The ring is complete: it becomes the front. */
static void settle_ring(struct search *search)
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

static void start_at_destinations(struct search *search, uint32_t tile)
{
    uint32_t first = (search->ways->first_tile + tile) * WAYS_LANES;
    for (uint32_t lane = 0; lane < lane_count(search->ways, tile); lane++) {
        search->settled[first + lane] = search->front[first + lane] = UINT64_C(1) << lane;
        search->active[search->active_count++] = first + lane;
        search->all |= UINT64_C(1) << lane;
    }
}

static void search_any_way(struct search *search)
{
    while (search->active_count) {
        touch_neighbours(search, SIDE_BOTH);
        pull_front(search, SIDE_BOTH);
        settle_ring(search);
    }
}

static void keep_ring(struct search *search)
{
    vec_push(&search->first_descent, search->descents.count);
    for (uint32_t i = 0; i < search->active_count; i++) {
        uint32_t at = search->active[i];
        vec_push(&search->descents, ((struct ring_entry){at, search->front[at]}));
    }
}

/* Those that go down lie above what they have found, and the other way round. */
static void search_down(struct search *search)
{
    while (search->active_count) {
        keep_ring(search);
        touch_neighbours(search, SIDE_UP);
        pull_front(search, SIDE_DOWN);
        settle_ring(search);
    }
    vec_push(&search->first_descent, search->descents.count);
}

static void join_descents(struct search *search, size_t ring)
{
    if (ring + 1 >= search->first_descent.count)
        return;
    for (size_t i = search->first_descent.items[ring]; i < search->first_descent.items[ring + 1];
         i++) {
        struct ring_entry *entry = &search->descents.items[i];
        if (!search->front[entry->at])
            search->active[search->active_count++] = entry->at;
        search->front[entry->at] |= entry->lanes;
    }
}

static void search_up(struct search *search)
{
    size_t rings = search->first_descent.count - 1;
    for (size_t ring = 0; search->active_count || ring < rings; ring++) {
        join_descents(search, ring);
        touch_neighbours(search, SIDE_DOWN);
        pull_front(search, SIDE_UP);
        settle_ring(search);
    }
}

/* Strays. */

static void count_gap(const struct ways *ways, struct ways_gaps *gaps, uint32_t from, uint32_t to)
{
    uint64_t sources = network_terminal_count(ways->network, from);
    uint64_t targets = network_terminal_count(ways->network, to);
    if (sources && targets) {
        if (!gaps->terminal_pairs) {
            gaps->from = from;
            gaps->to = to;
        }
        gaps->terminal_pairs += sources * targets;
    } else {
        gaps->other_pairs += sources + targets;
        if (gaps->stray_count++ < WAYS_STRAYS_TOP)
            vec_push(&gaps->strays.items, ((struct ways_stray){from, to}));
    }
}

/* The lanes in which a switch is a stray: connected by cables, but without a legal route. */
static void find_strays(struct search *search, uint32_t tile, uint64_t *stray)
{
    const struct ways *ways = search->ways;
    const struct updown *updown = ways->updown;
    uint32_t first = (ways->first_tile + tile) * WAYS_LANES;
    uint64_t *lanes_of_part = mem_zalloc(updown->part_count, sizeof *lanes_of_part);
    uint64_t terminals = 0; /* lanes of destinations that have some */
    for (uint32_t lane = 0; lane < lane_count(ways, tile); lane++) {
        lanes_of_part[updown->part[first + lane]] |= UINT64_C(1) << lane;
        terminals |= (uint64_t)(network_terminal_count(ways->network, first + lane) > 0) << lane;
    }
    search->active_count = 0;
    for (uint32_t at = 0; at < ways->switch_count; at++) {
        stray[at] = lanes_of_part[updown->part[at]] & ~search->settled[at];
        if (!stray[at])
            continue;
        search->active[search->active_count++] = at;
        uint64_t left =
            network_terminal_count(ways->network, at) ? stray[at] : stray[at] & terminals;
        for (; left; left &= left - 1)
            count_gap(ways, &ways->gaps[tile], at, first + (unsigned)__builtin_ctzll(left));
    }
    search->operations += ways->switch_count;
    mem_free(lanes_of_part);
}

/* A stray goes to a neighbour that is one ring nearer, of several to the one farthest up. Returns
 * the lanes for which there is one. */
static uint64_t place_stray(struct search *search, uint32_t at, uint64_t open)
{
    const struct ways *ways = search->ways;
    struct range slots = slots_of(ways, at, SIDE_BOTH);
    uint64_t left = open;
    uint32_t i = slots.first;
    for (; left && i < slots.end; i++) {
        uint32_t slot = ways->by_rank[i];
        uint64_t found = search->front[ways->to[slot]] & left;
        search->lanes[slot] |= found;
        left &= ~found;
    }
    search->operations += i - slots.first;
    return open & ~left;
}

static void place_strays(struct search *search, uint32_t tile)
{
    const struct ways *ways = search->ways;
    uint64_t *stray = mem_alloc(ways->switch_count * sizeof *stray);
    find_strays(search, tile, stray);
    memcpy(search->front, search->settled, ways->switch_count * sizeof *search->front);
    while (search->active_count) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < search->active_count; i++)
            search->fresh[i] = place_stray(search, search->active[i], stray[search->active[i]]);
        memset(search->front, 0, ways->switch_count * sizeof *search->front);
        for (uint32_t i = 0; i < search->active_count; i++) {
            uint32_t at = search->active[i];
            search->front[at] = search->fresh[i];
            stray[at] &= ~search->fresh[i];
            if (stray[at])
                search->active[kept++] = at;
        }
        search->active_count = kept;
    }
    mem_free(stray);
}

static void compute_tile(void *context, size_t index)
{
    struct ways *ways = context;
    uint32_t tile = (uint32_t)index, switches = ways->switch_count;
    struct search search = {
        .ways = ways,
        .lanes = ways->lanes + (size_t)tile * ways->slot_count,
        .settled = mem_zalloc(switches, sizeof(uint64_t)),
        .front = mem_zalloc(switches, sizeof(uint64_t)),
        .fresh = mem_alloc(switches * sizeof(uint64_t)),
        .active = mem_alloc(switches * sizeof(uint32_t)),
        .touched = mem_alloc(switches * sizeof(uint32_t)),
        .mark = mem_zalloc(switches, sizeof(uint32_t)),
    };
    memset(search.lanes, 0, ways->slot_count * sizeof *search.lanes);
    ways_gaps_release(&ways->gaps[tile]);
    start_at_destinations(&search, tile);
    if (ways->updown) {
        search_down(&search);
        search_up(&search);
        place_strays(&search, tile);
    } else {
        search_any_way(&search);
    }
    __atomic_fetch_add(&ways->operations, search.operations, __ATOMIC_RELAXED);
    vec_release(&search.descents);
    vec_release(&search.first_descent);
    mem_free(search.settled);
    mem_free(search.front);
    mem_free(search.fresh);
    mem_free(search.active);
    mem_free(search.touched);
    mem_free(search.mark);
}

void ways_compute(struct ways *ways, const struct workers *workers, uint32_t first_tile)
{
    ways->first_tile = first_tile;
    ways->tile_count = ways_tiles(ways) - first_tile;
    if (ways->tile_count > ways->tile_limit)
        ways->tile_count = ways->tile_limit;
    workers_run(workers, ways->tile_count, compute_tile, ways);
}

void ways_add_gaps(const struct ways *ways, struct ways_gaps *sum)
{
    for (uint32_t tile = 0; tile < ways->tile_count; tile++) {
        const struct ways_gaps *gaps = &ways->gaps[tile];
        if (!sum->terminal_pairs && gaps->terminal_pairs) {
            sum->from = gaps->from;
            sum->to = gaps->to;
        }
        sum->terminal_pairs += gaps->terminal_pairs;
        sum->other_pairs += gaps->other_pairs;
        sum->stray_count += gaps->stray_count;
        for (size_t i = 0; i < gaps->strays.items.count; i++)
            if (sum->strays.items.count < WAYS_STRAYS_TOP)
                vec_push(&sum->strays.items, gaps->strays.items.items[i]);
    }
}

void ways_gaps_release(struct ways_gaps *gaps)
{
    vec_release(&gaps->strays.items);
    *gaps = (struct ways_gaps){0};
}

/* Slots. */

/* One side of a row, sorted by insertion: rows are short, and mostly in order already. */
static uint32_t add_slots(struct ways *ways, uint32_t at, bool up, uint32_t slot,
                          const uint64_t *keys)
{
    const struct network *network = ways->network;
    uint32_t first = slot;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t to = network->edges[e].to, place = slot;
        if (ways->updown ? updown_is_up(ways->updown, at, to) != up : !up)
            continue;
        for (; keys && place > first && keys[ways->edge[place - 1]] > keys[e]; place--)
            ways->edge[place] = ways->edge[place - 1];
        ways->edge[place] = e;
        slot++;
    }
    return slot;
}

/* The slots of each switch, the farthest up first: by insertion, since they are so nearly. */
static void rank_slots(struct ways *ways)
{
    const uint32_t *first = ways->network->first_edge, *rank = ways->updown->rank;
    ways->by_rank = mem_alloc(ways->slot_count * sizeof *ways->by_rank);
    for (uint32_t at = 0; at < ways->switch_count; at++) {
        for (uint32_t slot = first[at]; slot < first[at + 1]; slot++) {
            uint32_t place = slot;
            for (; place > first[at] &&
                   rank[ways->to[ways->by_rank[place - 1]]] > rank[ways->to[slot]];
                 place--)
                ways->by_rank[place] = ways->by_rank[place - 1];
            ways->by_rank[place] = slot;
        }
    }
}

void ways_init(struct ways *ways, const struct network *network, const struct updown *updown,
               const struct workers *workers, size_t memory_bytes, const uint64_t *keys)
{
    uint32_t switches = (uint32_t)network->switches.count, slots = network->first_edge[switches];
    *ways = (struct ways){.network = network,
                          .updown = updown,
                          .switch_count = switches,
                          .slot_count = slots,
                          .edge = mem_alloc(slots * sizeof *ways->edge),
                          .to = mem_alloc(slots * sizeof *ways->to),
                          .first_down = mem_alloc(switches * sizeof *ways->first_down)};
    for (uint32_t at = 0; at < switches; at++) {
        ways->first_down[at] = add_slots(ways, at, true, network->first_edge[at], keys);
        add_slots(ways, at, false, ways->first_down[at], keys);
    }
    for (uint32_t slot = 0; slot < slots; slot++)
        ways->to[slot] = network->edges[ways->edge[slot]].to;
    if (updown)
        rank_slots(ways);
    size_t tile_bytes = slots * sizeof *ways->lanes;
    size_t limit = tile_bytes ? memory_bytes / tile_bytes : 1;
    if (limit < workers_count(workers))
        limit = workers_count(workers);
    if (limit > ways_tiles(ways))
        limit = ways_tiles(ways);
    ways->tile_limit = (uint32_t)limit;
    ways->lanes = mem_alloc(limit * tile_bytes);
    ways->gaps = mem_zalloc(limit, sizeof *ways->gaps);
}

uint64_t *ways_scatter(const struct network *network, uint64_t seed)
{
    uint32_t switches = (uint32_t)network->switches.count;
    uint64_t *keys = mem_alloc(network->first_edge[switches] * sizeof *keys);
    for (uint32_t at = 0; at < switches; at++)
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
            keys[e] = hash_mix(hash_mix(seed ^ network->switches.items[at].guid) +
                               network->edges[e].port);
    return keys;
}

void ways_release(struct ways *ways)
{
    mem_free(ways->edge);
    mem_free(ways->to);
    mem_free(ways->first_down);
    mem_free(ways->by_rank);
    mem_free(ways->lanes);
    for (uint32_t tile = 0; tile < ways->tile_limit; tile++)
        ways_gaps_release(&ways->gaps[tile]);
    mem_free(ways->gaps);
    *ways = (struct ways){0};
}

uint32_t ways_tiles(const struct ways *ways)
{
    return (ways->switch_count + WAYS_LANES - 1) / WAYS_LANES;
}

/* Fans. */

/* Adds slots that all have the same lanes: fans that these cut in two are split. */
static void refine_fans(struct fans *fans, uint64_t lanes, const uint64_t *slots)
{
    unsigned before = fans->count;
    for (unsigned i = 0; i < before && lanes; i++) {
        struct fan *fan = &fans->items[i];
        uint64_t common = fan->lanes & lanes;
        if (!common)
            continue;
        lanes &= ~common;
        if (common != fan->lanes) {
            fan->lanes &= ~common;
            fans->items[fans->count] = *fan;
            fan = &fans->items[fans->count++];
            fan->lanes = common;
        }
        for (int word = 0; word < FAN_WORDS; word++)
            fan->slots[word] |= slots[word];
    }
    if (!lanes)
        return;
    fans->items[fans->count].lanes = lanes;
    memcpy(fans->items[fans->count].slots, slots, sizeof fans->items->slots);
    fans->count++;
}

void ways_gather_fans(const struct ways *ways, uint32_t tile, uint32_t at, struct fans *fans)
{
    uint32_t first = ways->network->first_edge[at], end = ways->network->first_edge[at + 1];
    const uint64_t *lanes = ways->lanes + (size_t)tile * ways->slot_count;
    fans->count = 0;
    for (uint32_t slot = first; slot < end;) {
        uint64_t slots[FAN_WORDS] = {0}, same = lanes[slot];
        for (; slot < end && lanes[slot] == same; slot++)
            slots[(slot - first) / 64] |= UINT64_C(1) << (slot - first) % 64;
        if (same)
            refine_fans(fans, same, slots);
    }
}

unsigned fan_places(const struct fan *fan, uint8_t places[NETWORK_TOP_PORT + 1])
{
    unsigned count = 0;
    for (unsigned word = 0; word < FAN_WORDS; word++)
        for (uint64_t left = fan->slots[word]; left; left &= left - 1)
            places[count++] = (uint8_t)(word * 64 + (unsigned)__builtin_ctzll(left));
    return count;
}
