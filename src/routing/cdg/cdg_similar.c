/* Insertions that resemble each other.
 *
 * After the loss of a switch, a repair routes hundreds of LIDs around it by similar hops. The
 * result of one search then serves the next insertions:
 * - If the order changes, channels move as far as their other dependencies allow, not just beyond
 *   the other end of the new one. Then similar insertions agree with the order.
 * - If a path closes a cycle, most of it closes a cycle with similar insertions, too. It is stored
 *   without its two ends. */
#include "routing/cdg/cdg.h"

/* The switch where a channel begins. */
static uint32_t origin(const struct cdg *cdg, uint32_t channel)
{
    return cdg->network->edges[cdg->reverse[channel]].to;
}

/* Of the channels that a channel depends on (`ahead`), or that depend on it, the one with the
 * first place among those that a search marked `seen` (0: did not find); NETWORK_NONE if there
 * is none. */
static uint32_t find_neighbour(const struct cdg *cdg, const struct cdg_layer *layer,
                               uint32_t channel, bool ahead, uint8_t seen)
{
    uint32_t at = ahead ? cdg->network->edges[channel].to : origin(cdg, channel);
    const uint64_t *row =
        ahead ? layer->after + cdg_row_of(cdg, channel) : layer->before + cdg_row(cdg, channel);
    uint32_t best = NETWORK_NONE;
    for (uint32_t word = 0; word < cdg->words; word++)
        for (uint64_t bits = row[word]; bits; bits &= bits - 1) {
            uint32_t edge =
                cdg->network->first_edge[at] + word * 64 + (uint32_t)__builtin_ctzll(bits);
            uint32_t next = ahead ? edge : cdg->reverse[edge];
            if (seen ? !(cdg->seen[next] & seen) : cdg->seen[next])
                continue;
            if (best == NETWORK_NONE || (layer->place[next] < layer->place[best]) == ahead)
                best = next;
        }
    return best;
}

uint32_t cdg_far_place(const struct cdg *cdg, const struct cdg_layer *layer, unsigned side)
{
    bool ahead = side == CDG_AHEAD;
    size_t count = ahead ? cdg->ahead.count : cdg->behind.count;
    const uint32_t *found = ahead ? cdg->ahead.items : cdg->behind.items;
    uint32_t best = NETWORK_NONE, end = cdg->channels;
    for (size_t i = 0; i < count; i++) {
        uint32_t next = find_neighbour(cdg, layer, found[i], ahead, 0);
        if (next != NETWORK_NONE &&
            (best == NETWORK_NONE || (layer->place[next] < layer->place[best]) == ahead))
            best = next;
    }
    if (best == NETWORK_NONE)
        return ahead ? layer->last[end] : end;
    return ahead ? layer->last[best] : best;
}

/* A channel found ahead of `out` can be reached from `out`; a channel found behind `in` leads to
 * `in`. So the path is followed from the meeting point to both sides. */
void cdg_note_path(struct cdg *cdg, struct cdg_dependency refused, uint32_t met)
{
    const struct cdg_layer *layer = &cdg->layer[refused.layer];
    struct cdg_path path = {refused.layer, met, met};
    if (cdg->on_trial && cdg->added.count)
        return; /* the trial may end without this path */
    if (met == refused.out)
        path.first = find_neighbour(cdg, layer, met, true, CDG_BEHIND);
    if (met == refused.in)
        path.last = find_neighbour(cdg, layer, met, false, CDG_AHEAD);
    if (path.first == NETWORK_NONE || path.first == refused.in || path.last == NETWORK_NONE ||
        path.last == refused.out)
        return; /* the path is too short */
    for (uint32_t next = path.first; met != refused.out && next != refused.out;
         next = find_neighbour(cdg, layer, next, false, CDG_AHEAD))
        path.first = next;
    for (uint32_t next = path.last; met != refused.in && next != refused.in;
         next = find_neighbour(cdg, layer, next, true, CDG_BEHIND))
        path.last = next;
    cdg->paths[cdg->path_count++ % CDG_PATHS] = path;
}

bool cdg_path_closes(const struct cdg *cdg, struct cdg_dependency new)
{
    const struct network *network = cdg->network;
    for (unsigned i = 0; i < cdg->path_count && i < CDG_PATHS; i++) {
        const struct cdg_path *path = &cdg->paths[i];
        if (path->layer == new.layer && origin(cdg, path->first) == network->edges[new.out].to &&
            network->edges[path->last].to == origin(cdg, new.in) &&
            cdg_has(cdg, new.layer, new.out, path->first) &&
            cdg_has(cdg, new.layer, path->last, new.in))
            return true;
    }
    return false;
}
