/* Moving a graph to a changed network. */
#include "routing/cdg/cdg.h"

#include <assert.h>
#include <string.h>

/* The number that each old channel has in the changed network; NETWORK_NONE: its link is gone. */
static uint32_t *map_channels(const struct cdg *cdg, const struct cdg *from, const uint32_t *to_new)
{
    const struct network *old = from->network;
    uint32_t *map = mem_alloc((from->channels + 1) * sizeof *map);
    for (uint32_t at = 0; at < old->switches.count; at++)
        for (uint32_t e = old->first_edge[at]; e < old->first_edge[at + 1]; e++) {
            const struct network_edge *edge = &old->edges[e];
            uint32_t channel = to_new[at] == NETWORK_NONE
                                   ? NETWORK_NONE
                                   : cdg_leaving(cdg, to_new[at], edge->port);
            bool same = channel != NETWORK_NONE &&
                        cdg->network->edges[channel].to == to_new[edge->to] &&
                        cdg->network->edges[channel].to_port == edge->to_port;
            map[e] = same ? channel : NETWORK_NONE;
        }
    return map;
}

/* Whether a switch has all the links that it had, and no others. */
static bool is_unchanged(const struct cdg *cdg, const struct cdg *from, const uint32_t *map,
                         uint32_t old, uint32_t at)
{
    const uint32_t *first_edge = from->network->first_edge;
    uint32_t first = cdg->network->first_edge[at], degree = first_edge[old + 1] - first_edge[old];
    if (cdg->network->first_edge[at + 1] - first != degree || cdg->words != from->words)
        return false;
    for (uint32_t i = 0; i < degree; i++)
        if (map[first_edge[old] + i] != first + i)
            return false;
    return true;
}

/* The rows of a switch in `after` or `before`, bit by bit. */
static void move_bits(const struct cdg *cdg, const struct cdg *from, const uint32_t *map,
                      uint32_t old, uint64_t *rows, const uint64_t *old_rows)
{
    uint32_t first = from->network->first_edge[old], end = from->network->first_edge[old + 1];
    for (uint32_t e = first; e < end; e++) {
        if (map[e] == NETWORK_NONE)
            continue;
        uint32_t at = cdg->network->edges[cdg->reverse[map[e]]].to;
        for (uint32_t bit = 0; bit < end - first; bit++)
            if (map[first + bit] != NETWORK_NONE && bitset_has(old_rows + cdg_row(from, e), bit))
                bitset_add(rows + cdg_row(cdg, map[e]),
                           map[first + bit] - cdg->network->first_edge[at]);
    }
}

static void move_rows(const struct cdg *cdg, const struct cdg *from, const uint32_t *map,
                      const uint32_t *to_new, struct cdg_layer *layer,
                      const struct cdg_layer *old_layer)
{
    const uint32_t *first_edge = from->network->first_edge;
    for (uint32_t old = 0; old < from->network->switches.count; old++) {
        uint32_t at = to_new[old];
        if (at == NETWORK_NONE)
            continue;
        if (!is_unchanged(cdg, from, map, old, at)) {
            move_bits(cdg, from, map, old, layer->after, old_layer->after);
            move_bits(cdg, from, map, old, layer->before, old_layer->before);
            continue;
        }
        size_t row = cdg_row(cdg, cdg->network->first_edge[at]);
        size_t old_row = cdg_row(from, first_edge[old]);
        size_t bytes = cdg_row(from, first_edge[old + 1] - first_edge[old]) * sizeof(uint64_t);
        memcpy(layer->after + row, old_layer->after + old_row, bytes);
        memcpy(layer->before + row, old_layer->before + old_row, bytes);
    }
}

/* Channels of the old network keep their order. A new channel has no dependencies and can have any
 * place: it follows the channel that precedes it in the order of an empty layer, so that later
 * dependencies mostly agree with its place. */
static void move_order(struct cdg *cdg, unsigned index, const struct cdg *from, const uint32_t *map)
{
    const struct cdg_layer *old = &from->layer[index];
    uint32_t end = cdg->channels, before = end, count = 0;
    uint32_t *order = mem_alloc((cdg->channels + 1) * sizeof *order);
    uint32_t *follower = mem_alloc((cdg->channels + 1) * sizeof *follower);
    uint8_t *kept = mem_zalloc(cdg->channels + 1, 1);
    for (uint32_t e = 0; e < from->channels; e++)
        if (map[e] != NETWORK_NONE)
            kept[map[e]] = 1;
    memset(follower, 0xFF, (cdg->channels + 1) * sizeof *follower);
    for (uint32_t i = 0; i < cdg->channels; before = cdg->first_order[i++])
        if (!kept[cdg->first_order[i]])
            follower[before] = cdg->first_order[i];
    for (uint32_t new = follower[end]; new != NETWORK_NONE; new = follower[new])
        order[count++] = new;
    for (uint32_t e = old->next[from->channels]; e != from->channels; e = old->next[e])
        for (uint32_t new = map[e]; new != NETWORK_NONE; new = follower[new])
            order[count++] = new;
    cdg_set_order(cdg, index, order);
    mem_free(order);
    mem_free(follower);
    mem_free(kept);
}

void cdg_move(struct cdg *cdg, const struct cdg *from, const struct network *network,
              const uint32_t *to_new)
{
    assert(!from->on_trial);
    cdg_init(cdg, network);
    uint32_t *map = map_channels(cdg, from, to_new);
    while (cdg->count < from->count) {
        unsigned index = cdg->count;
        cdg_open_without_order(cdg);
        move_rows(cdg, from, map, to_new, &cdg->layer[index], &from->layer[index]);
        move_order(cdg, index, from, map);
    }
    mem_free(map);
}
