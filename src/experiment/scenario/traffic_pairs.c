/* Reads the sender-receiver pairs of permutation and matrix traffic. Pairs are sorted, and the
 * weights of each sender are cumulative sums of integers. The intervals of the senders follow from
 * the sums. */
#include "experiment/scenario/traffic_pairs.h"

#include "base/map.h"
#include "console/names.h"
#include "fabric/data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS_LIMIT = 10 * 1000 * 1000, WEIGHT_MOST = 1000000 };
#define WEIGHT_UNIT 1e-6 /* weights are integers in this unit: a run has no rounding of its own */

struct pairs_reader {
    struct traffic *traffic;
    const struct traffic_spec_world *world;
    struct map members[2]; /* senders and receivers: index by port */
};

/* ---- members ---- */

/* The port of NODE[:PORT]; without a port, the first one that is a member. */
static uint32_t find_port(const struct pairs_reader *reader, unsigned side,
                          const struct named_place *place)
{
    const struct topology *topology = reader->world->topology;
    unsigned last = topology->nodes.items[place->node].port_count;
    for (unsigned port = 1; port <= last; port++) {
        uint32_t member =
            map_get(&reader->members[side], topology_port_index(topology, place->node, port));
        if (member != MAP_NONE && (place->count == 0 || place->numbers[0] == port))
            return member;
    }
    return MAP_NONE;
}

static int take_member(const struct pairs_reader *reader, struct cursor *cursor, unsigned side,
                       uint32_t *member)
{
    static const char *const names[] = {"sender", "receiver"};
    size_t count = reader->members[side].count;
    struct named_place place;
    struct word word;
    uint64_t number;
    int status = cursor_take(cursor, "a member: a number, NODE[:PORT] or a machine", &word);
    if (status)
        return status;
    *member = MAP_NONE;
    if (parse_number(word.text, &number) && strncmp(word.text, "0x", 2) != 0) {
        *member = number < count ? (uint32_t)number : MAP_NONE;
        return *member != MAP_NONE
                   ? 0
                   : word_error(cursor, &word, "there are %zu %ss, from 0 on", count, names[side]);
    }
    for (uint32_t i = 0; i < reader->world->machine_count && *member == MAP_NONE; i++)
        if (strcmp(reader->world->machines[i], word.text) == 0)
            *member = map_get(&reader->members[side], DATA_VM + i);
    if (*member != MAP_NONE)
        return 0;
    status = bind_place(&word, reader->world->topology, cursor, 1, &place);
    if (status == 0 && (*member = find_port(reader, side, &place)) == MAP_NONE)
        return word_error(cursor, &word, "'%.80s' is not a %s of this traffic", word.text,
                          names[side]);
    return status;
}

/* ---- lines ---- */

static int take_weight(struct cursor *cursor, uint64_t *weight)
{
    struct word word;
    const char *rest;
    double value = 0;
    int status = cursor_take(cursor, "a weight", &word);
    if (status == 0 &&
        (!parse_decimal(word.text, &value, &rest) || *rest || value < 0 || value > WEIGHT_MOST))
        return word_error(cursor, &word, "'%.80s': expected a weight from 0 to %d", word.text,
                          WEIGHT_MOST);
    *weight = (uint64_t)(value / WEIGHT_UNIT + 0.5);
    return status;
}

static int read_pair(const struct pairs_reader *reader, struct cursor *cursor)
{
    struct traffic *traffic = reader->traffic;
    struct word word = cursor_next(cursor);
    struct traffic_pair pair = {.weight_until = 1};
    take_member(reader, cursor, 0, &pair.sender);
    take_member(reader, cursor, 1, &pair.receiver);
    if (traffic->pattern == PATTERN_MATRIX)
        take_weight(cursor, &pair.weight_until);
    if (cursor_take_end(cursor) < 0 || pair.weight_until == 0)
        return cursor->status;
    if (traffic->senders.items[pair.sender] == traffic->receivers.items[pair.receiver])
        return word_error(cursor, &word, "sender and receiver are the same port");
    if (traffic->pairs.count == PAIRS_LIMIT)
        return word_error(cursor, &word, "more than %d pairs", PAIRS_LIMIT);
    vec_push(&traffic->pairs, pair);
    return 0;
}

static int compare_pairs(const void *a, const void *b)
{
    const struct traffic_pair *x = a, *y = b;
    if (x->sender != y->sender)
        return x->sender < y->sender ? -1 : 1;
    return x->receiver < y->receiver ? -1 : x->receiver > y->receiver;
}

/* Adds up the weights of each row. An error if a pair is given twice, or if a permutation gives a
 * member twice. */
static int add_up(struct traffic *traffic, const char *path, struct err *err)
{
    struct traffic_pair *pairs = traffic->pairs.items;
    struct map receivers = {0};
    int status = 0;
    for (uint32_t i = 0; i < traffic->pairs.count && status == 0; i++) {
        bool same_row = i > 0 && pairs[i - 1].sender == pairs[i].sender;
        bool permutation = traffic->pattern == PATTERN_PERMUTATION;
        if (same_row && (permutation || pairs[i - 1].receiver == pairs[i].receiver))
            status = err_at(err, EINVAL, path, 0, "sender %u has two lines%s", pairs[i].sender,
                            permutation ? "" : " for the same receiver");
        else if (permutation && map_add(&receivers, pairs[i].receiver, i) != i)
            status = err_at(err, EINVAL, path, 0,
                            "receiver %u has two lines: a permutation has one for each member",
                            pairs[i].receiver);
        if (same_row)
            pairs[i].weight_until += pairs[i - 1].weight_until;
    }
    map_release(&receivers);
    return status;
}

int traffic_pairs_read(struct traffic *traffic, const struct traffic_spec_world *world,
                       const char *path, struct err *err)
{
    struct line_reader *lines = from_file(path, err);
    struct pairs_reader reader = {.traffic = traffic, .world = world};
    struct cursor cursor;
    for (uint32_t i = 0; i < traffic->senders.count; i++)
        map_add(&reader.members[0], traffic->senders.items[i], i);
    for (uint32_t i = 0; i < traffic->receivers.count; i++)
        map_add(&reader.members[1], traffic->receivers.items[i], i);
    while (line_reader_next(lines, &cursor))
        lines->status = read_pair(&reader, &cursor);
    if (lines->status == 0 && traffic->pairs.count == 0)
        lines->status = err_at(err, EINVAL, path, 0, "there is no pair in this file");
    if (lines->status == 0) {
        qsort(traffic->pairs.items, traffic->pairs.count, sizeof *traffic->pairs.items,
              compare_pairs);
        lines->status = add_up(traffic, path, err);
    }
    map_release(&reader.members[0]);
    map_release(&reader.members[1]);
    return lines->status;
}

/* ---- rates ---- */

void traffic_pairs_scale(struct traffic *traffic)
{
    const struct traffic_pair *pairs = traffic->pairs.items;
    uint64_t *sums = mem_zalloc(traffic->senders.count + 1, sizeof *sums), most = 0;
    for (size_t i = 0; i < traffic->pairs.count; i++) {
        sums[pairs[i].sender] = pairs[i].weight_until; /* the last one of a row has the sum */
        most = pairs[i].weight_until > most ? pairs[i].weight_until : most;
    }
    while (traffic->intervals_ps.count < traffic->senders.count)
        vec_push(&traffic->intervals_ps, traffic->interval_ps);
    for (size_t i = 0; i < traffic->senders.count; i++) {
        uint64_t *interval = &traffic->intervals_ps.items[i];
        if (sums[i])
            *interval = (uint64_t)((double)*interval * ((double)most / (double)sums[i]) + 0.5);
        if (*interval > traffic->interval_ps)
            traffic->interval_ps = *interval; /* the longest one */
    }
    mem_free(sums);
}
