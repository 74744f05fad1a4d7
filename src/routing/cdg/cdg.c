/* Layers, their orders, and insertion. */
#include "routing/cdg/cdg.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- up*-down* orders ---- */

/* All channels that lead up come first, from the bottom to the top, then all that lead down.
 * Switches with a higher key are above; of those with equal keys the one with the higher index. */
static void order_by_height(const struct cdg *cdg, const uint32_t *key, uint32_t *order)
{
    const struct network *network = cdg->network;
    uint32_t switches = (uint32_t)network->switches.count, count = 0;
    uint64_t *bottom_up = mem_alloc((switches + 1) * sizeof *bottom_up);
    for (uint32_t at = 0; at < switches; at++)
        bottom_up[at] = (uint64_t)key[at] << 32 | at;
    sort_u64(bottom_up, switches);
    for (uint32_t i = 0; i < 2 * switches; i++) {
        bool up = i < switches;
        uint64_t height = bottom_up[up ? i : 2 * switches - 1 - i];
        uint32_t at = (uint32_t)height;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint32_t to = network->edges[e].to;
            if (up == (((uint64_t)key[to] << 32 | to) > height))
                order[count++] = e;
        }
    }
    mem_free(bottom_up);
}

/* ---- layers ---- */

void cdg_init(struct cdg *cdg, const struct network *network)
{
    uint32_t switches = (uint32_t)network->switches.count, most = 1;
    *cdg = (struct cdg){.network = network, .channels = network->first_edge[switches]};
    cdg->of_port = arena_alloc(&cdg->memory, network->ports.count * sizeof *cdg->of_port);
    memset(cdg->of_port, 0xFF, network->ports.count * sizeof *cdg->of_port);
    for (uint32_t at = 0; at < switches; at++) {
        uint32_t degree = network->first_edge[at + 1] - network->first_edge[at];
        most = degree > most ? degree : most;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
            cdg->of_port[network->switches.items[at].first_port + network->edges[e].port] = e;
    }
    cdg->words = BITSET_WORDS(most);
    cdg->reverse = arena_alloc(&cdg->memory, cdg->channels * sizeof *cdg->reverse);
    cdg->first_order = arena_alloc(&cdg->memory, cdg->channels * sizeof *cdg->first_order);
    cdg->seen = arena_alloc(&cdg->memory, cdg->channels);
    for (uint32_t e = 0; e < cdg->channels; e++)
        cdg->reverse[e] = cdg_leaving(cdg, network->edges[e].to, network->edges[e].to_port);
    uint32_t *stage = mem_alloc(2 * (switches + 1) * sizeof *stage);
    network_stages(network, stage, stage + switches);
    for (uint32_t at = 0; at < switches; at++)
        stage[at] = stage[at] == NETWORK_NONE ? 0 : stage[at];
    order_by_height(cdg, stage, cdg->first_order);
    mem_free(stage);
}

/* A layer is one piece of memory: four rows of words for each channel, and the order. */
static size_t layer_bytes(const struct cdg *cdg)
{
    const struct cdg_layer *any = NULL;
    size_t order = sizeof *any->place + sizeof *any->next + sizeof *any->last;
    return 4 * cdg_row(cdg, cdg->channels) * sizeof *any->after +
           (cdg->channels + (size_t)1) * order;
}

void cdg_close(struct cdg *cdg, unsigned left)
{
    while (cdg->count > left) {
        struct cdg_layer *layer = &cdg->layer[--cdg->count];
        mem_unmap(layer->after, layer_bytes(cdg));
        *layer = (struct cdg_layer){0};
    }
}

void cdg_release(struct cdg *cdg)
{
    cdg_close(cdg, 0);
    arena_release(&cdg->memory);
    vec_release(&cdg->added);
    vec_release(&cdg->blocked);
    vec_release(&cdg->ahead);
    vec_release(&cdg->behind);
    vec_release(&cdg->moved);
    *cdg = (struct cdg){0};
}

void cdg_open_without_order(struct cdg *cdg)
{
    assert(cdg->count < CDG_LAYERS_MAX);
    size_t words = cdg_row(cdg, cdg->channels);
    struct cdg_layer *layer = &cdg->layer[cdg->count++];
    layer->after = mem_map(layer_bytes(cdg));
    layer->before = layer->after + words;
    layer->refused = layer->before + words;
    layer->trial = layer->refused + words;
    layer->place = layer->trial + words;
    layer->next = (uint32_t *)(layer->place + cdg->channels + 1);
    layer->last = layer->next + cdg->channels + 1;
}

void cdg_open(struct cdg *cdg)
{
    cdg_open_without_order(cdg);
    cdg_set_order(cdg, cdg->count - 1, cdg->first_order);
}

/* Labels with the same gap everywhere. */
static void label_order(const struct cdg *cdg, struct cdg_layer *layer)
{
    uint64_t gap = UINT64_MAX / (cdg->channels + UINT64_C(1)), place = 0;
    for (uint32_t at = layer->next[cdg->channels]; at != cdg->channels; at = layer->next[at])
        layer->place[at] = place += gap;
}

void cdg_set_order(struct cdg *cdg, unsigned index, const uint32_t *channels)
{
    struct cdg_layer *layer = &cdg->layer[index];
    uint32_t last = cdg->channels;
    for (uint32_t i = 0; i < cdg->channels; i++) {
        layer->next[last] = channels[i];
        layer->last[channels[i]] = last;
        last = channels[i];
    }
    layer->next[last] = cdg->channels;
    layer->last[cdg->channels] = last;
    label_order(cdg, layer);
}

void cdg_order_by_rank(struct cdg *cdg, unsigned layer, const uint32_t *ranks)
{
    size_t switches = cdg->network->switches.count;
    uint32_t *height = mem_alloc((switches + 1) * sizeof *height);
    uint32_t *order = mem_alloc((cdg->channels + 1) * sizeof *order);
    for (size_t at = 0; at < switches; at++)
        height[at] = UINT32_MAX - ranks[at];
    order_by_height(cdg, height, order);
    cdg_set_order(cdg, layer, order);
    mem_free(height);
    mem_free(order);
}

void cdg_clear(struct cdg *cdg, unsigned index)
{
    assert(index < cdg->count && !cdg->on_trial);
    size_t bytes = cdg_row(cdg, cdg->channels) * sizeof(uint64_t);
    struct cdg_layer *layer = &cdg->layer[index];
    memset(layer->after, 0, bytes);
    memset(layer->before, 0, bytes);
    memset(layer->refused, 0, bytes);
    cdg->path_count = 0;
    cdg_set_order(cdg, index, cdg->first_order);
}

/* ---- many at once ---- */

/* Mirrors `after` in `before`, and counts for each channel how many depend on it. Returns whether
 * the order agrees with all of them. */
static bool fill_before_rows(const struct cdg *cdg, struct cdg_layer *layer, uint32_t *dependents,
                             uint64_t *count)
{
    const struct network *network = cdg->network;
    bool agrees = true;
    for (uint32_t in = 0; in < cdg->channels; in++) {
        uint32_t first = network->first_edge[network->edges[in].to];
        const uint64_t *row = layer->after + cdg_row_of(cdg, in);
        for (uint32_t word = 0; word < cdg->words; word++) {
            for (uint64_t bits = row[word]; bits; bits &= bits - 1) {
                uint32_t out = first + word * 64 + (uint32_t)__builtin_ctzll(bits);
                bitset_add(layer->before + cdg_row(cdg, out), cdg->reverse[in] - first);
                agrees &= layer->place[in] < layer->place[out];
                dependents[out]++;
                ++*count;
            }
        }
    }
    return agrees;
}

/* Kahn's algorithm; false if there is a cycle. */
static bool sort_channels(struct cdg *cdg, unsigned index, uint32_t *dependents)
{
    const struct network *network = cdg->network;
    uint32_t *queue = mem_alloc((cdg->channels + 1) * sizeof *queue), tail = 0;
    for (uint32_t channel = 0; channel < cdg->channels; channel++)
        if (dependents[channel] == 0)
            queue[tail++] = channel;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t first = network->first_edge[network->edges[queue[head]].to];
        const uint64_t *row = cdg->layer[index].after + cdg_row_of(cdg, queue[head]);
        for (uint32_t word = 0; word < cdg->words; word++, first += 64) {
            for (uint64_t bits = row[word]; bits; bits &= bits - 1) {
                uint32_t out = first + (uint32_t)__builtin_ctzll(bits);
                cdg->insertions++;
                if (--dependents[out] == 0)
                    queue[tail++] = out;
            }
        }
    }
    if (tail == cdg->channels)
        cdg_set_order(cdg, index, queue);
    mem_free(queue);
    return tail == cdg->channels;
}

bool cdg_sort(struct cdg *cdg, unsigned index)
{
    assert(index < cdg->count && !cdg->on_trial);
    uint32_t *dependents = mem_zalloc(cdg->channels + 1, sizeof *dependents);
    uint64_t count = 0;
    bool sorted = fill_before_rows(cdg, &cdg->layer[index], dependents, &count);
    if (sorted)
        cdg->insertions += count;
    else
        sorted = sort_channels(cdg, index, dependents);
    mem_free(dependents);
    return sorted;
}

/* ---- one at a time ---- */

/* Adds a channel that a search found to the list of its side. True if the search from the other
 * side found it, too: then a path leads from `out` to `in`, and `seen` of the channel says whether
 * that path needs the trial. */
static bool take_found(struct cdg *cdg, uint32_t channel, uint8_t how)
{
    uint8_t *seen = &cdg->seen[channel];
    cdg->reordering++;
    if (*seen & how & (CDG_AHEAD | CDG_BEHIND))
        return false;
    if (*seen) {
        *seen |= how;
        return true;
    }
    *seen = how;
    if (how & CDG_AHEAD)
        vec_push(&cdg->ahead, channel);
    else
        vec_push(&cdg->behind, channel);
    return false;
}

/* Adds all channels that a channel depends on, up to the place `limit`. */
static bool look_ahead(struct cdg *cdg, const struct cdg_layer *layer, uint32_t channel,
                       uint64_t limit, uint32_t *met)
{
    uint32_t first = cdg->network->first_edge[cdg->network->edges[channel].to];
    size_t row = cdg_row_of(cdg, channel);
    for (uint32_t word = 0; word < cdg->words; word++, first += 64) {
        uint64_t trial = layer->trial[row + word];
        for (uint64_t bits = layer->after[row + word]; bits; bits &= bits - 1) {
            uint32_t next = first + (uint32_t)__builtin_ctzll(bits);
            if (layer->place[next] > limit)
                continue;
            uint8_t how = cdg->seen[channel] | (bits & -bits & trial ? CDG_ON_TRIAL : 0);
            if (!take_found(cdg, next, how))
                continue;
            *met = next;
            return true;
        }
    }
    return false;
}

/* Adds all channels that depend on a channel, from the place `limit` on. */
static bool look_behind(struct cdg *cdg, const struct cdg_layer *layer, uint32_t channel,
                        uint64_t limit, uint32_t *met)
{
    uint32_t first = cdg->network->first_edge[cdg->network->edges[cdg->reverse[channel]].to];
    uint32_t bit = channel - first;
    size_t row = cdg_row(cdg, channel);
    for (uint32_t word = 0; word < cdg->words; word++, first += 64) {
        for (uint64_t bits = layer->before[row + word]; bits; bits &= bits - 1) {
            uint32_t reverse = first + (uint32_t)__builtin_ctzll(bits);
            uint32_t next = cdg->reverse[reverse];
            if (layer->place[next] < limit)
                continue;
            bool trial = bitset_has(layer->trial + cdg_row(cdg, reverse), bit);
            uint8_t how = cdg->seen[channel] | (trial ? CDG_ON_TRIAL : 0);
            if (!take_found(cdg, next, how))
                continue;
            *met = next;
            return true;
        }
    }
    return false;
}

/* Searches for a path from `out` to `in`, which must lie between their places, from both ends in
 * turns, the smaller search first. Returns 0 if there is one, else the side whose search is
 * complete. */
static unsigned search_path(struct cdg *cdg, const struct cdg_layer *layer, uint32_t in,
                            uint32_t out, uint32_t *met)
{
    uint64_t low = layer->place[out], high = layer->place[in];
    size_t ahead = 0, behind = 0;
    cdg->ahead.count = cdg->behind.count = 0;
    *met = in;
    if (take_found(cdg, out, CDG_AHEAD) || take_found(cdg, in, CDG_BEHIND))
        return 0;
    for (;;) {
        if (ahead == cdg->ahead.count)
            return CDG_AHEAD;
        if (behind == cdg->behind.count)
            return CDG_BEHIND;
        if (cdg->ahead.count <= cdg->behind.count
                ? look_ahead(cdg, layer, cdg->ahead.items[ahead++], high, met)
                : look_behind(cdg, layer, cdg->behind.items[behind++], low, met))
            return 0;
    }
}

static int compare_places(const void *a, const void *b)
{
    uint64_t left = ((const struct cdg_place *)a)->place;
    uint64_t right = ((const struct cdg_place *)b)->place;
    return (left > right) - (left < right);
}

/* Sorts by place. Most lists are short. */
static void sort_moved(struct cdg_place *moved, size_t count)
{
    if (count > 128) {
        qsort(moved, count, sizeof *moved, compare_places);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        struct cdg_place one = moved[i];
        size_t hole = i;
        for (; hole && moved[hole - 1].place > one.place; hole--)
            moved[hole] = moved[hole - 1];
        moved[hole] = one;
    }
}

/* Moves channels behind `last`. If insertions are similar, more channels will move to the same
 * place: a gap stays free behind those ahead of `out`, and before the others. */
static void move_behind(struct cdg *cdg, struct cdg_layer *layer, uint32_t last, unsigned side)
{
    const uint64_t narrow = UINT64_C(1) << 20;
    const struct cdg_place *moved = cdg->moved.items;
    size_t count = cdg->moved.count;
    uint32_t end = cdg->channels, next = layer->next[last];
    uint64_t place = last == end ? 0 : layer->place[last];
    uint64_t limit = next == end ? UINT64_MAX : layer->place[next];
    uint64_t gap = (limit - place) / (count + 1);
    if (cdg->similar && gap > narrow) {
        gap = narrow;
        if (side == CDG_BEHIND)
            place = limit - (count + 1) * gap;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t channel = moved[i].channel;
        layer->next[layer->last[channel]] = layer->next[channel];
        layer->last[layer->next[channel]] = layer->last[channel];
        layer->next[channel] = layer->next[last];
        layer->last[channel] = last;
        layer->last[layer->next[last]] = channel;
        layer->next[last] = channel;
        layer->place[channel] = place += gap;
        last = channel;
    }
    if (gap == 0)
        label_order(cdg, layer);
    cdg->reordering += gap ? count : end;
}

/* Moves the channels ahead of `out` to just behind `in`, or those behind `in` to before `out`. */
static void reorder(struct cdg *cdg, struct cdg_layer *layer, uint32_t in, uint32_t out,
                    unsigned side)
{
    size_t count = side == CDG_AHEAD ? cdg->ahead.count : cdg->behind.count;
    const uint32_t *found = side == CDG_AHEAD ? cdg->ahead.items : cdg->behind.items;
    cdg->moved.count = 0;
    for (size_t i = 0; i < count; i++)
        vec_push(&cdg->moved, ((struct cdg_place){layer->place[found[i]], found[i]}));
    sort_moved(cdg->moved.items, count);
    uint32_t last = cdg->similar        ? cdg_far_place(cdg, layer, side)
                    : side == CDG_AHEAD ? in
                                        : layer->last[out];
    move_behind(cdg, layer, last, side);
}

static void flip_bit(uint64_t *row, uint32_t bit)
{
    row[bit / 64] ^= UINT64_C(1) << (bit % 64);
}

static void flip_dependency(const struct cdg *cdg, struct cdg_layer *layer, uint32_t in,
                            uint32_t out)
{
    uint32_t first = cdg->network->first_edge[cdg->network->edges[in].to];
    flip_bit(layer->after + cdg_row_of(cdg, in), out - first);
    flip_bit(layer->before + cdg_row(cdg, out), cdg->reverse[in] - first);
}

/* Makes the order agree with a new dependency; false if it would close a cycle. */
static bool make_order_agree(struct cdg *cdg, struct cdg_layer *layer, struct cdg_dependency new)
{
    uint32_t met;
    unsigned side = 0;
    bool on_trial = cdg->on_trial && cdg->added.count;
    if (layer->place[new.in] < layer->place[new.out])
        return true;
    if (!cdg->similar || !cdg_path_closes(cdg, new)) {
        side = search_path(cdg, layer, new.in, new.out, &met);
        if (side)
            reorder(cdg, layer, new.in, new.out, side);
        else
            on_trial = cdg->seen[met] & CDG_ON_TRIAL;
        if (!side && cdg->similar)
            cdg_note_path(cdg, new, met);
        for (size_t i = 0; i < cdg->ahead.count; i++)
            cdg->seen[cdg->ahead.items[i]] = 0;
        for (size_t i = 0; i < cdg->behind.count; i++)
            cdg->seen[cdg->behind.items[i]] = 0;
    }
    if (!side)
        cdg_set_add(cdg, layer->refused, new.in, new.out);
    /* If the cycle contains a dependency on trial, the refusal ends with the trial. */
    if (!side && on_trial)
        vec_push(&cdg->blocked, new);
    return side;
}

enum cdg_answer cdg_insert(struct cdg *cdg, unsigned index, uint32_t in, uint32_t out)
{
    struct cdg_layer *layer = &cdg->layer[index];
    struct cdg_dependency new = {.in = in, .out = out, .layer = index};
    cdg->insertions++;
    if (cdg_set_has(cdg, layer->after, in, out))
        return CDG_HAD;
    if (cdg_set_has(cdg, layer->refused, in, out) || !make_order_agree(cdg, layer, new))
        return CDG_REFUSED;
    flip_dependency(cdg, layer, in, out);
    if (cdg->on_trial) {
        cdg_set_add(cdg, layer->trial, in, out);
        vec_push(&cdg->added, new);
    }
    return CDG_ADDED;
}

bool cdg_lay_path(struct cdg *cdg, unsigned layer, const struct routes *tables, uint32_t from,
                  uint32_t lid, bool check)
{
    const struct network *network = cdg->network;
    uint32_t at = from, in = NETWORK_NONE;
    if ((network->owner[lid] & NETWORK_SWITCH) && network_terminal_count(network, from) == 0)
        return true;
    for (size_t hops = 0; hops <= network->switches.count; hops++) {
        uint32_t out = cdg_leaving(cdg, at, routes_port(tables, at, lid));
        if (out == NETWORK_NONE)
            return true;
        if (in != NETWORK_NONE && !check)
            cdg_note(cdg, layer, in, out);
        else if (in != NETWORK_NONE && cdg_insert(cdg, layer, in, out) == CDG_REFUSED)
            return false;
        at = network->edges[out].to;
        in = out;
    }
    return false;
}

/* ---- trials ---- */

void cdg_begin(struct cdg *cdg)
{
    assert(!cdg->on_trial);
    cdg->on_trial = true;
    cdg->added.count = cdg->blocked.count = 0;
}

static void end_trial(struct cdg *cdg, bool keep,
                      bool (*wanted)(const void *context, struct cdg_dependency added),
                      const void *context)
{
    assert(cdg->on_trial);
    bool all = true;
    for (size_t i = 0; i < cdg->added.count; i++) {
        struct cdg_dependency added = cdg->added.items[i];
        struct cdg_layer *layer = &cdg->layer[added.layer];
        flip_bit(layer->trial + cdg_row_of(cdg, added.in), cdg_bit(cdg, added.in, added.out));
        if (wanted ? wanted(context, added) : keep)
            continue;
        flip_dependency(cdg, layer, added.in, added.out);
        all = false;
    }
    for (size_t i = 0; !all && i < cdg->blocked.count; i++) {
        struct cdg_dependency blocked = cdg->blocked.items[i];
        flip_bit(cdg->layer[blocked.layer].refused + cdg_row_of(cdg, blocked.in),
                 cdg_bit(cdg, blocked.in, blocked.out));
    }
    cdg->on_trial = false;
}

void cdg_commit_if(struct cdg *cdg,
                   bool (*wanted)(const void *context, struct cdg_dependency added),
                   const void *context)
{
    end_trial(cdg, true, wanted, context);
}

bool cdg_end(struct cdg *cdg, bool keep)
{
    end_trial(cdg, keep, NULL, NULL);
    return keep;
}
