/* FERa's distances (paper 002 section 2.3).
 *
 * FERa's rule for tables that do not look at the input port: a switch that can reach the
 * destination by going down all the way must do so, even where a route up would be shorter; all
 * others go up along a shortest such route. Ranks order the directed graph, so both distances are
 * one sweep over the edges: pure-down distances from the highest rank to the lowest (children
 * first), the others from the lowest to the highest (parents first). That is O(links) for a
 * destination, where the seed's form is O(n^2).
 *
 * With several roots some switches may have no legal route (root to root in a fat tree, say). These
 * are strays: they are sent towards the nearest switch that has one. */
#include "routing/search/distance.h"

#include <string.h>

enum { CHUNK_BYTES = 32 << 20 };

void distances_init(struct distances *distances, const struct network *network,
                    const struct updown *updown, const struct workers *workers)
{
    uint32_t switches = (uint32_t)network->switches.count;
    uint32_t tiles = (switches + TILE_LANES - 1) / TILE_LANES;
    size_t tile_bytes = (size_t)switches * TILE_LANES * sizeof(uint16_t);
    size_t limit = tile_bytes ? CHUNK_BYTES / tile_bytes : 1;
    if (limit < workers_count(workers))
        limit = workers_count(workers);
    if (limit > tiles)
        limit = tiles;
    *distances = (struct distances){
        .network = network,
        .updown = updown,
        .switch_count = switches,
        .tile_limit = (uint32_t)limit,
        .hops = mem_alloc(limit * tile_bytes),
        .descends = mem_alloc(limit * switches * sizeof(uint64_t)),
        .strays = mem_alloc(limit * switches * sizeof(uint64_t)),
        .gaps = mem_alloc(limit * sizeof *distances->gaps),
    };
}

void distances_release(struct distances *distances)
{
    mem_free(distances->hops);
    mem_free(distances->descends);
    mem_free(distances->strays);
    mem_free(distances->gaps);
    *distances = (struct distances){0};
}

static uint32_t lane_count(const struct distances *distances, uint32_t tile)
{
    uint32_t left = distances->switch_count - (distances->first_tile + tile) * TILE_LANES;
    return left < TILE_LANES ? left : TILE_LANES;
}

static void clear_tile(struct distances *distances, uint32_t tile)
{
    uint16_t *hops = distances_row(distances, tile, 0);
    for (size_t i = 0; i < (size_t)distances->switch_count * TILE_LANES; i++)
        hops[i] = HOPS_NONE;
    uint32_t first = (distances->first_tile + tile) * TILE_LANES;
    for (uint32_t lane = 0; lane < lane_count(distances, tile); lane++)
        distances_row(distances, tile, first + lane)[lane] = 0;
}

/* best = min(best, other + 1) in every lane. HOPS_NONE + 1 is larger than HOPS_NONE, so nothing
 * spreads from where there is no route. */
static void relax_row(uint16_t *restrict best, const uint16_t *restrict other)
{
    for (int lane = 0; lane < TILE_LANES; lane++) {
        uint16_t longer = (uint16_t)(other[lane] + 1);
        best[lane] = longer < best[lane] ? longer : best[lane];
    }
}

static uint64_t reached_lanes(const uint16_t *row)
{
    uint64_t lanes = 0;
    for (int lane = 0; lane < TILE_LANES; lane++)
        lanes |= (uint64_t)(row[lane] != HOPS_NONE) << lane;
    return lanes;
}

static void sweep_down(struct distances *distances, uint32_t tile)
{
    const struct network *network = distances->network;
    const struct updown *updown = distances->updown;
    uint64_t *descends = distances->descends + (size_t)tile * distances->switch_count;
    for (uint32_t rank = distances->switch_count; rank-- > 0;) {
        uint32_t at = updown->order[rank];
        uint16_t *row = distances_row(distances, tile, at);
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
            if (updown->rank[network->edges[e].to] > rank)
                relax_row(row, distances_row(distances, tile, network->edges[e].to));
        descends[at] = reached_lanes(row);
    }
}

static void sweep_up(struct distances *distances, uint32_t tile)
{
    const struct network *network = distances->network;
    const struct updown *updown = distances->updown;
    for (uint32_t rank = 0; rank < distances->switch_count; rank++) {
        uint32_t at = updown->order[rank];
        uint16_t *row = distances_row(distances, tile, at);
        uint16_t best[TILE_LANES];
        for (int lane = 0; lane < TILE_LANES; lane++)
            best[lane] = HOPS_NONE;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
            if (updown->rank[network->edges[e].to] < rank)
                relax_row(best, distances_row(distances, tile, network->edges[e].to));
        for (int lane = 0; lane < TILE_LANES; lane++)
            row[lane] = row[lane] == HOPS_NONE ? best[lane] : row[lane];
    }
}

static void count_gap(struct distances *distances, uint32_t tile, uint32_t from, uint32_t to)
{
    struct distance_gaps *gaps = &distances->gaps[tile];
    uint64_t sources = network_terminal_count(distances->network, from);
    uint64_t targets = network_terminal_count(distances->network, to);
    if (sources && targets) {
        if (!gaps->terminal_pairs) {
            gaps->from = from;
            gaps->to = to;
        }
        gaps->terminal_pairs += sources * targets;
    } else {
        gaps->other_pairs += sources + targets;
    }
}

/* Sends the strays of one lane, which are in `left`, ring by ring to those that have a route. */
static uint64_t place_strays(struct distances *distances, uint32_t tile, uint32_t lane,
                             uint32_t *left, uint32_t left_count)
{
    const struct network *network = distances->network;
    uint64_t *strays = distances->strays + (size_t)tile * distances->switch_count;
    uint64_t bit = UINT64_C(1) << lane, operations = 0;
    for (uint16_t ring = 1; left_count; ring++) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < left_count; i++) {
            uint32_t at = left[i];
            bool beside = false;
            for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
                uint32_t to = network->edges[e].to;
                uint16_t other = distances_row(distances, tile, to)[lane];
                beside |= strays[to] & bit ? other < ring : other != HOPS_NONE;
            }
            operations += network->first_edge[at + 1] - network->first_edge[at];
            if (beside) {
                distances_row(distances, tile, at)[lane] = ring;
                strays[at] |= bit;
            } else {
                left[kept++] = at;
            }
        }
        left_count = kept;
    }
    return operations;
}

static uint64_t gather_strays(struct distances *distances, uint32_t tile)
{
    const uint32_t *part = distances->updown->part;
    uint32_t switches = distances->switch_count;
    uint32_t first = (distances->first_tile + tile) * TILE_LANES;
    uint64_t *reached = mem_alloc(switches * sizeof *reached);
    uint32_t *left = mem_alloc(switches * sizeof *left);
    uint64_t gaps = 0, operations = 0;
    for (uint32_t at = 0; at < switches; at++) {
        reached[at] = reached_lanes(distances_row(distances, tile, at));
        gaps |= ~reached[at];
    }
    for (uint32_t lane = 0; lane < lane_count(distances, tile); lane++) {
        uint32_t count = 0;
        if (!(gaps >> lane & 1))
            continue;
        for (uint32_t at = 0; at < switches; at++) {
            if (reached[at] >> lane & 1 || part[at] != part[first + lane])
                continue;
            count_gap(distances, tile, at, first + lane);
            left[count++] = at;
        }
        operations += switches + place_strays(distances, tile, lane, left, count);
    }
    mem_free(reached);
    mem_free(left);
    return operations;
}

/* Rows: each is cleared, its reached lanes are gathered twice, and going up fills and merges one
 * more; and one is relaxed over every edge, either down or up. */
static uint64_t sweep_operations(const struct distances *distances)
{
    uint64_t switches = distances->switch_count;
    return (5 * switches + distances->network->first_edge[switches]) * ROW_OPERATIONS;
}

static void compute_tile(void *context, size_t tile)
{
    struct distances *distances = context;
    uint64_t operations;
    clear_tile(distances, (uint32_t)tile);
    memset(distances->strays + tile * distances->switch_count, 0,
           distances->switch_count * sizeof *distances->strays);
    distances->gaps[tile] = (struct distance_gaps){0};
    sweep_down(distances, (uint32_t)tile);
    sweep_up(distances, (uint32_t)tile);
    operations = sweep_operations(distances) + gather_strays(distances, (uint32_t)tile);
    __atomic_fetch_add(&distances->operations, operations, __ATOMIC_RELAXED);
}

void distances_compute(struct distances *distances, const struct workers *workers,
                       uint32_t first_tile)
{
    uint32_t tiles = (distances->switch_count + TILE_LANES - 1) / TILE_LANES;
    distances->first_tile = first_tile;
    distances->tile_count = tiles - first_tile;
    if (distances->tile_count > distances->tile_limit)
        distances->tile_count = distances->tile_limit;
    workers_run(workers, distances->tile_count, compute_tile, distances);
}
