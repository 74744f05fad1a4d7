/* Orders on rows of bits.
 *
 * The first order is up*-down*: with stages counted from the hosts, all channels that lead up come
 * first, from the hosts to the top, then all that lead down. On trees in stages no dependency of a
 * shortest route ever points backwards in it. */
#include "routing/cdg/layers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Distances from the nearest switch with terminals; 0 where there is none. */
static uint32_t *find_stages(const struct network *network)
{
    uint32_t switches = (uint32_t)network->switches.count, tail = 0;
    uint32_t *stage = mem_alloc((switches + 1) * sizeof *stage);
    uint32_t *queue = mem_alloc((switches + 1) * sizeof *queue);
    for (uint32_t at = 0; at < switches; at++) {
        stage[at] = network_terminal_count(network, at) ? 0 : NETWORK_NONE;
        if (stage[at] == 0)
            queue[tail++] = at;
    }
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t at = queue[head];
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint32_t to = network->edges[e].to;
            if (stage[to] != NETWORK_NONE)
                continue;
            stage[to] = stage[at] + 1;
            queue[tail++] = to;
        }
    }
    for (uint32_t at = 0; at < switches; at++)
        if (stage[at] == NETWORK_NONE)
            stage[at] = 0;
    mem_free(queue);
    return stage;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* A switch lies above another with a lower stage, or with the same and a lower index. */
static void find_first_order(struct layers *layers)
{
    const struct network *network = layers->network;
    uint32_t switches = (uint32_t)network->switches.count, top = 0;
    uint32_t *stage = find_stages(network);
    uint64_t *keys = mem_alloc((layers->channels + 1) * sizeof *keys);
    for (uint32_t at = 0; at < switches; at++)
        top = stage[at] > top ? stage[at] : top;
    for (uint32_t e = 0; e < layers->channels; e++) {
        uint32_t from = network->edges[layers->twin[e]].to, to = network->edges[e].to;
        bool up = stage[to] != stage[from] ? stage[to] > stage[from] : to > from;
        uint64_t height = (uint64_t)stage[from] * switches + from;
        uint64_t whole = (uint64_t)(top + 1) * switches;
        keys[e] = (up ? height : 2 * whole - height) << 32 | e;
    }
    if (layers->channels)
        qsort(keys, layers->channels, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < layers->channels; i++)
        layers->first_order[i] = (uint32_t)keys[i];
    mem_free(keys);
    mem_free(stage);
}

void layers_init(struct layers *layers, const struct network *network)
{
    uint32_t switches = (uint32_t)network->switches.count, most = 1;
    *layers = (struct layers){.network = network, .channels = network->first_edge[switches]};
    layers->of_port = mem_alloc((network->ports.count + 1) * sizeof *layers->of_port);
    memset(layers->of_port, 0xFF, network->ports.count * sizeof *layers->of_port);
    for (uint32_t at = 0; at < switches; at++) {
        uint32_t degree = network->first_edge[at + 1] - network->first_edge[at];
        most = degree > most ? degree : most;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
            layers->of_port[network->switches.items[at].first_port + network->edges[e].port] = e;
    }
    layers->words = (most + 63) / 64;
    layers->twin = mem_alloc((layers->channels + 1) * sizeof *layers->twin);
    layers->first_order = mem_alloc((layers->channels + 1) * sizeof *layers->first_order);
    layers->seen = mem_zalloc(layers->channels + 1, 1);
    layers->trial = mem_zalloc(layers_row(layers, layers->channels) + 1, sizeof *layers->trial);
    for (uint32_t e = 0; e < layers->channels; e++) {
        const struct network_edge *edge = &network->edges[e];
        layers->twin[e] =
            layers->of_port[network->switches.items[edge->to].first_port + edge->to_port];
    }
    find_first_order(layers);
}

/* A layer is one piece of memory: three rows of words for each channel, and the order. */
static size_t layer_bytes(const struct layers *layers)
{
    const struct layer *any = NULL;
    size_t order = sizeof *any->place + sizeof *any->next + sizeof *any->last;
    return 3 * layers_row(layers, layers->channels) * sizeof *any->after +
           (layers->channels + (size_t)1) * order;
}

static void layer_release(const struct layers *layers, struct layer *layer)
{
    mem_unmap(layer->after, layer_bytes(layers));
    *layer = (struct layer){0};
}

void layers_close(struct layers *layers, unsigned left)
{
    while (layers->count > left)
        layer_release(layers, &layers->layer[--layers->count]);
}

void layers_release(struct layers *layers)
{
    for (unsigned i = 0; i < layers->count; i++)
        layer_release(layers, &layers->layer[i]);
    mem_free(layers->of_port);
    mem_free(layers->twin);
    mem_free(layers->first_order);
    mem_free(layers->seen);
    mem_free(layers->trial);
    vec_release(&layers->try.added);
    vec_release(&layers->try.refused);
    vec_release(&layers->ahead);
    vec_release(&layers->behind);
    vec_release(&layers->moved);
    *layers = (struct layers){0};
}

void layers_open(struct layers *layers)
{
    size_t words = layers_row(layers, layers->channels);
    struct layer *layer = &layers->layer[layers->count++];
    layer->after = mem_map(layer_bytes(layers));
    layer->before = layer->after + words;
    layer->refused = layer->before + words;
    layer->place = layer->refused + words;
    layer->next = (uint32_t *)(layer->place + layers->channels + 1);
    layer->last = layer->next + layers->channels + 1;
    layers_clear(layers, layers->count - 1);
}

/* Numbers with the same gap everywhere. */
static void number_order(const struct layers *layers, struct layer *layer)
{
    uint64_t gap = UINT64_MAX / (layers->channels + UINT64_C(1)), place = 0;
    for (uint32_t at = layer->next[layers->channels]; at != layers->channels; at = layer->next[at])
        layer->place[at] = place += gap;
}

static void link_behind(struct layer *layer, uint32_t channel, uint32_t last)
{
    layer->next[channel] = layer->next[last];
    layer->last[channel] = last;
    layer->last[layer->next[last]] = channel;
    layer->next[last] = channel;
}

static void set_order(const struct layers *layers, struct layer *layer, const uint32_t *order)
{
    uint32_t end = layers->channels;
    layer->next[end] = layer->last[end] = end;
    for (uint32_t i = 0; i < layers->channels; i++)
        link_behind(layer, order[i], layer->last[end]);
    number_order(layers, layer);
}

void layers_clear(struct layers *layers, unsigned index)
{
    size_t words = layers_row(layers, layers->channels);
    struct layer *layer = &layers->layer[index];
    memset(layer->after, 0, words * sizeof *layer->after);
    memset(layer->before, 0, words * sizeof *layer->before);
    memset(layer->refused, 0, words * sizeof *layer->refused);
    set_order(layers, layer, layers->first_order);
}

static void flip(const struct layers *layers, uint64_t *rows, uint32_t row, uint32_t bit)
{
    rows[layers_row(layers, row) + bit / 64] ^= UINT64_C(1) << (bit % 64);
}

/* Where `in` and `out` meet. */
static void flip_dependency(const struct layers *layers, struct layer *layer, uint32_t in,
                            uint32_t out)
{
    uint32_t first = layers->network->first_edge[layers->network->edges[in].to];
    flip(layers, layer->after, layers->twin[in], out - first);
    flip(layers, layer->before, out, layers->twin[in] - first);
}

void layers_note(struct layers *layers, unsigned index, uint32_t in, uint32_t out)
{
    uint32_t bit = layers_offset(layers, in, out);
    size_t row = layers_row(layers, layers->twin[in]);
    layers->layer[index].after[row + bit / 64] |= UINT64_C(1) << (bit % 64);
}

/* Mirrors `after` in `before`, and counts for each channel how many lead to it. */
static void note_before(const struct layers *layers, struct layer *layer, uint32_t *leading)
{
    const struct network *network = layers->network;
    for (uint32_t in = 0; in < layers->channels; in++) {
        uint32_t first = network->first_edge[network->edges[in].to];
        uint32_t offset = layers->twin[in] - first;
        const uint64_t *row = layer->after + layers_row(layers, layers->twin[in]);
        for (uint32_t word = 0; word < layers->words; word++) {
            for (uint64_t bits = row[word]; bits; bits &= bits - 1) {
                uint32_t out = first + word * 64 + (uint32_t)__builtin_ctzll(bits);
                layer->before[layers_row(layers, out) + offset / 64] |= UINT64_C(1)
                                                                        << (offset % 64);
                leading[out]++;
            }
        }
    }
}

bool layers_sort(struct layers *layers, unsigned index)
{
    const struct network *network = layers->network;
    struct layer *layer = &layers->layer[index];
    uint32_t *leading = mem_zalloc(layers->channels + 1, sizeof *leading);
    uint32_t *queue = mem_alloc((layers->channels + 1) * sizeof *queue);
    uint32_t tail = 0;
    note_before(layers, layer, leading);
    for (uint32_t channel = 0; channel < layers->channels; channel++)
        if (leading[channel] == 0)
            queue[tail++] = channel;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t first = network->first_edge[network->edges[queue[head]].to];
        const uint64_t *row = layer->after + layers_row(layers, layers->twin[queue[head]]);
        for (uint32_t word = 0; word < layers->words; word++, first += 64) {
            for (uint64_t bits = row[word]; bits; bits &= bits - 1) {
                uint32_t out = first + (uint32_t)__builtin_ctzll(bits);
                layers->operations++;
                if (--leading[out] == 0)
                    queue[tail++] = out;
            }
        }
    }
    if (tail == layers->channels)
        set_order(layers, layer, queue);
    mem_free(leading);
    mem_free(queue);
    return tail == layers->channels;
}

/* How a channel was found: on a way from the one end of a new dependency, or to the other; and was
 * anything on the way that is on trial? */
enum { AHEAD = 1, BEHIND = 2, ON_TRIAL = 4 };

/* Takes a channel that was found into the list of its side. True if the other side has found it,
 * too: then the two ends are connected, and `seen` of the channel tells whether without a trial. */
static bool take_found(struct layers *layers, uint32_t channel, uint8_t how)
{
    uint8_t *seen = &layers->seen[channel];
    layers->operations++;
    if (*seen & how & (AHEAD | BEHIND))
        return false;
    if (*seen) {
        *seen |= how;
        return true;
    }
    *seen = how;
    if (how & AHEAD)
        vec_push(&layers->ahead, channel);
    else
        vec_push(&layers->behind, channel);
    return false;
}

/* All that a channel leads to up to the place `limit`. */
static bool look_ahead(struct layers *layers, const struct layer *layer, uint32_t channel,
                       uint64_t limit, uint32_t *met)
{
    uint32_t first = layers->network->first_edge[layers->network->edges[channel].to];
    size_t row = layers_row(layers, layers->twin[channel]);
    for (uint32_t word = 0; word < layers->words; word++, first += 64) {
        uint64_t trial = layers->trial[row + word];
        for (uint64_t bits = layer->after[row + word]; bits; bits &= bits - 1) {
            uint32_t next = first + (uint32_t)__builtin_ctzll(bits);
            uint8_t how = layers->seen[channel] | (bits & -bits & trial ? ON_TRIAL : 0);
            if (layer->place[next] > limit || !take_found(layers, next, how))
                continue;
            *met = next;
            return true;
        }
    }
    return false;
}

/* All that leads to a channel from the place `limit` on. */
static bool look_behind(struct layers *layers, const struct layer *layer, uint32_t channel,
                        uint64_t limit, uint32_t *met)
{
    uint32_t first = layers->network->first_edge[layers->network->edges[layers->twin[channel]].to];
    uint32_t offset = channel - first;
    size_t row = layers_row(layers, channel);
    for (uint32_t word = 0; word < layers->words; word++, first += 64) {
        for (uint64_t bits = layer->before[row + word]; bits; bits &= bits - 1) {
            uint32_t twin = first + (uint32_t)__builtin_ctzll(bits), next = layers->twin[twin];
            uint64_t trial = layers->trial[layers_row(layers, twin) + offset / 64];
            uint8_t how = layers->seen[channel] | (trial >> (offset % 64) & 1 ? ON_TRIAL : 0);
            if (layer->place[next] < limit || !take_found(layers, next, how))
                continue;
            *met = next;
            return true;
        }
    }
    return false;
}

/* Looks from both ends of a new dependency, always where there is less so far, for a way from `out`
 * to `in`, which must lie between their places. If there is none, one of the two has found all that
 * lies ahead of `out` or behind `in` there: returns which, or 0 if there is a way. */
static unsigned search(struct layers *layers, const struct layer *layer, uint32_t in, uint32_t out,
                       uint32_t *met)
{
    uint64_t low = layer->place[out], high = layer->place[in];
    size_t ahead = 0, behind = 0;
    layers->ahead.count = layers->behind.count = 0;
    *met = in;
    if (take_found(layers, out, AHEAD) || take_found(layers, in, BEHIND))
        return 0;
    for (;;) {
        if (ahead == layers->ahead.count)
            return AHEAD;
        if (behind == layers->behind.count)
            return BEHIND;
        if (layers->ahead.count <= layers->behind.count
                ? look_ahead(layers, layer, layers->ahead.items[ahead++], high, met)
                : look_behind(layers, layer, layers->behind.items[behind++], low, met))
            return 0;
    }
}

static void forget_search(struct layers *layers)
{
    for (size_t i = 0; i < layers->ahead.count; i++)
        layers->seen[layers->ahead.items[i]] = 0;
    for (size_t i = 0; i < layers->behind.count; i++)
        layers->seen[layers->behind.items[i]] = 0;
}

static int compare_places(const void *a, const void *b)
{
    uint64_t left = ((const struct layers_place *)a)->place;
    uint64_t right = ((const struct layers_place *)b)->place;
    return (left > right) - (left < right);
}

/* In the order that they have now. Mostly there are a handful. */
static void sort_moved(struct layers_place *moved, size_t count)
{
    if (count > 32) {
        qsort(moved, count, sizeof *moved, compare_places);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        struct layers_place one = moved[i];
        size_t hole = i;
        for (; hole && moved[hole - 1].place > one.place; hole--)
            moved[hole] = moved[hole - 1];
        moved[hole] = one;
    }
}

/* Takes channels out of the order and puts them in again behind `last`. */
static void move_behind(struct layers *layers, struct layer *layer, uint32_t last)
{
    const struct layers_place *moved = layers->moved.items;
    size_t count = layers->moved.count;
    uint32_t end = layers->channels, next = layer->next[last];
    uint64_t place = last == end ? 0 : layer->place[last];
    uint64_t gap = ((next == end ? UINT64_MAX : layer->place[next]) - place) / (count + 1);
    for (size_t i = 0; i < count; i++) {
        uint32_t channel = moved[i].channel;
        layer->next[layer->last[channel]] = layer->next[channel];
        layer->last[layer->next[channel]] = layer->last[channel];
        link_behind(layer, channel, last);
        layer->place[channel] = place += gap;
        last = channel;
    }
    if (gap == 0)
        number_order(layers, layer);
    layers->operations += gap ? count : end;
}

/* What lies ahead of `out` goes to just behind `in`, or what lies behind `in` to before `out`. */
static void reorder(struct layers *layers, struct layer *layer, uint32_t in, uint32_t out,
                    unsigned side)
{
    size_t count = side == AHEAD ? layers->ahead.count : layers->behind.count;
    const uint32_t *found = side == AHEAD ? layers->ahead.items : layers->behind.items;
    layers->moved.count = 0;
    for (size_t i = 0; i < count; i++)
        vec_push(&layers->moved, ((struct layers_place){layer->place[found[i]], found[i]}));
    sort_moved(layers->moved.items, count);
    move_behind(layers, layer, side == AHEAD ? in : layer->last[out]);
}

enum layers_answer layers_add(struct layers *layers, unsigned index, uint32_t in, uint32_t out)
{
    struct layer *layer = &layers->layer[index];
    struct layers_dependency dependency = {.in = in, .out = out};
    uint32_t met;
    layers->operations++;
    if (layers_row_has(layers, layer->after, in, out))
        return LAYERS_HAD;
    if (layers_row_has(layers, layer->refused, in, out))
        return LAYERS_REFUSED;
    if (layer->place[in] >= layer->place[out]) {
        unsigned side = search(layers, layer, in, out, &met);
        /* A cycle that needs a dependency on trial is no reason to refuse for ever. */
        if (!side && layers->seen[met] & ON_TRIAL)
            vec_push(&layers->try.refused, dependency);
        forget_search(layers);
        if (!side) {
            flip(layers, layer->refused, layers->twin[in], layers_offset(layers, in, out));
            return LAYERS_REFUSED;
        }
        reorder(layers, layer, in, out, side);
    }
    flip_dependency(layers, layer, in, out);
    if (layers->try.running) {
        flip(layers, layers->trial, layers->twin[in], layers_offset(layers, in, out));
        vec_push(&layers->try.added, dependency);
    }
    return LAYERS_ADDED;
}

void layers_begin(struct layers *layers, unsigned layer)
{
    layers->try.layer = layer;
    layers->try.running = true;
    layers->try.added.count = layers->try.refused.count = 0;
}

void layers_keep_if(struct layers *layers,
                    bool (*wanted)(const void *context, struct layers_dependency added),
                    const void *context)
{
    struct layer *layer = &layers->layer[layers->try.layer];
    bool all = true;
    for (size_t i = 0; i < layers->try.added.count; i++) {
        struct layers_dependency added = layers->try.added.items[i];
        flip(layers, layers->trial, layers->twin[added.in],
             layers_offset(layers, added.in, added.out));
        if (wanted(context, added))
            continue;
        flip_dependency(layers, layer, added.in, added.out);
        all = false;
    }
    for (size_t i = 0; !all && i < layers->try.refused.count; i++) {
        struct layers_dependency refused = layers->try.refused.items[i];
        flip(layers, layer->refused, layers->twin[refused.in],
             layers_offset(layers, refused.in, refused.out));
    }
    layers->try.running = false;
}

static bool keep_all(const void *context, struct layers_dependency added)
{
    (void)context;
    (void)added;
    return true;
}

static bool keep_none(const void *context, struct layers_dependency added)
{
    (void)context;
    (void)added;
    return false;
}

void layers_keep(struct layers *layers)
{
    layers_keep_if(layers, keep_all, NULL);
}

void layers_undo(struct layers *layers)
{
    layers_keep_if(layers, keep_none, NULL);
}

void layers_share(struct layers_share *share, const uint64_t *weight, unsigned layers,
                  unsigned lanes)
{
    for (unsigned i = 0; i < layers; i++)
        share[i].count = 1;
    for (unsigned lane = layers; lane < lanes; lane++) {
        unsigned most = 0;
        for (unsigned i = 1; i < layers; i++)
            if (weight[i] * share[most].count > weight[most] * share[i].count)
                most = i;
        share[most].count++;
    }
    for (unsigned i = 0, first = 0; i < layers; first += share[i++].count)
        share[i].first = first;
}

int layers_refusal(const char *engine, unsigned layers, unsigned lanes, struct err *err)
{
    if (layers > LAYERS_LIMIT)
        return err_set(err, ENOSPC, "%s: needs more than %d lanes, has %u", engine, LAYERS_LIMIT,
                       lanes);
    return err_set(err, ENOSPC, "%s: needs %u lanes, has %u", engine, layers, lanes);
}

void layers_describe(struct routes *routes, unsigned layers, unsigned lanes)
{
    size_t length = strlen(routes->note);
    routes->vls = (uint8_t)lanes;
    snprintf(routes->note + length, sizeof routes->note - length, "%u layer%s over %u lane%s",
             layers, layers == 1 ? "" : "s", lanes, lanes == 1 ? "" : "s");
}

void layers_describe_one_way(struct routes *routes)
{
    size_t length = strlen(routes->note);
    snprintf(routes->note + length, sizeof routes->note - length,
             "; too few to have both directions of a pair on one: reversible paths are not proved");
}
