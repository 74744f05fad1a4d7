/* Traffic patterns: the destination of each packet.
 *
 * There are four kinds. Permutations of the members (the bit patterns, shifts) give a sender the
 * same partner for all packets, found once when the source is made. All-to-all walks through the
 * members in the order of a linear-shift exchange: at step s member i sends to member i + s, so
 * that, if they stay in step, no two send to the same. Uniform and hot spot draw a receiver for
 * each packet, and again while the receiver has no path (sender.c), which leaves the active ones. A
 * hot spot receives its own share and a uniform share of the rest; if the hot receiver itself
 * sends, it sends only the rest. A permutation or a matrix is given as pairs of members.
 * Definitions as in Dally and Towles, Principles and Practices of Interconnection Networks,
 * section 3.2. */
#include "fabric/traffic/internal.h"

#include <assert.h>

const char *const traffic_pattern_names[TRAFFIC_PATTERNS] = {
    [PATTERN_UNIFORM] = "uniform",
    [PATTERN_BIT_REVERSAL] = "bit-reversal",
    [PATTERN_TRANSPOSE] = "transpose",
    [PATTERN_SHUFFLE] = "shuffle",
    [PATTERN_HOT_SPOT] = "hot-spot",
    [PATTERN_ALL_TO_ALL] = "all-to-all",
    [PATTERN_SHIFT] = "shift",
    [PATTERN_RING] = "ring",
    [PATTERN_GATHER] = "gather",
    [PATTERN_TRACE] = "trace",
    [PATTERN_PERMUTATION] = "permutation",
    [PATTERN_MATRIX] = "matrix",
};

bool pattern_maps_members(enum traffic_pattern pattern)
{
    static const bool maps[TRAFFIC_PATTERNS] = {
        [PATTERN_BIT_REVERSAL] = true, [PATTERN_TRANSPOSE] = true, [PATTERN_SHUFFLE] = true,
        [PATTERN_ALL_TO_ALL] = true,   [PATTERN_SHIFT] = true,     [PATTERN_RING] = true,
    };
    return maps[pattern];
}

static uint32_t rotate_bits_left(uint32_t number, unsigned bits, unsigned places)
{
    uint64_t wide = (uint64_t)number << places;
    return (uint32_t)((wide | wide >> bits) & ((UINT64_C(1) << bits) - 1));
}

/* TRAFFIC_NONE if there is no such member. */
static uint32_t find_partner(const struct traffic *traffic, uint32_t sender)
{
    uint32_t members = (uint32_t)traffic->receivers.count, partner;
    unsigned bits = 0;
    while (bits < 32 && UINT64_C(1) << bits < members)
        bits++;
    switch (traffic->pattern) {
    case PATTERN_BIT_REVERSAL:
        partner = 0;
        for (unsigned i = 0; i < bits; i++)
            partner |= (sender >> i & 1) << (bits - 1 - i);
        break;
    case PATTERN_TRANSPOSE: partner = rotate_bits_left(sender, bits, bits / 2); break;
    case PATTERN_SHUFFLE: partner = rotate_bits_left(sender, bits, 1); break;
    case PATTERN_SHIFT: partner = (uint32_t)(((uint64_t)sender + traffic->shift) % members); break;
    case PATTERN_RING: partner = sender + 1 < members ? sender + 1 : 0; break;
    case PATTERN_GATHER: partner = traffic->hot; break;
    default: partner = TRAFFIC_NONE; break;
    }
    return partner < members ? partner : TRAFFIC_NONE;
}

static uint32_t find_self(const struct traffic *traffic, uint32_t sender)
{
    uint32_t port = traffic->senders.items[sender];
    if (sender < traffic->receivers.count && traffic->receivers.items[sender] == port)
        return sender;
    for (uint32_t i = 0; i < traffic->receivers.count; i++)
        if (traffic->receivers.items[i] == port)
            return i;
    return TRAFFIC_NONE;
}

/* Finds the row of the sender. False: it sends nothing. */
static bool find_row(const struct traffic *traffic, struct traffic_source *source)
{
    const struct traffic_pair *pairs = traffic->pairs.items;
    size_t first, end;
    lower_bound(first, traffic->pairs.count, pairs[first].sender < source->sender);
    lower_bound(end, traffic->pairs.count, pairs[end].sender <= source->sender);
    source->turn = (uint32_t)first;
    source->row_end = (uint32_t)end;
    if (first < end)
        source->partner = pairs[first].receiver;
    return first < end;
}

static uint32_t draw_of_row(const struct traffic *traffic, struct traffic_source *source)
{
    const struct traffic_pair *row = &traffic->pairs.items[source->turn];
    size_t count = source->row_end - source->turn, chosen;
    uint64_t number = rng_below(&source->rng, row[count - 1].weight_until);
    lower_bound(chosen, count, row[chosen].weight_until <= number);
    return row[chosen].receiver;
}

bool pattern_prepare(const struct traffic *traffic, struct traffic_source *source)
{
    size_t entry;
    assert(source->sender < traffic->senders.count);
    source->self = find_self(traffic, source->sender);
    source->partner = find_partner(traffic, source->sender);
    switch (traffic->pattern) {
    case PATTERN_TRACE:
        lower_bound(entry, traffic->trace.count,
                    traffic->trace.items[entry].sender < source->sender);
        source->turn = (uint32_t)entry;
        return source->turn < traffic->trace.count &&
               traffic->trace.items[source->turn].sender == source->sender;
    case PATTERN_PERMUTATION:
    case PATTERN_MATRIX: return find_row(traffic, source);
    case PATTERN_UNIFORM:
    case PATTERN_HOT_SPOT:
    case PATTERN_ALL_TO_ALL:
        return traffic->receivers.count > (source->self == TRAFFIC_NONE ? 0 : 1);
    default: return source->partner != TRAFFIC_NONE && source->partner != source->self;
    }
}

static uint32_t draw_uniform(const struct traffic *traffic, struct traffic_source *source)
{
    uint32_t others = (uint32_t)traffic->receivers.count - (source->self != TRAFFIC_NONE);
    uint32_t receiver = draw_below(&source->rng, others);
    return receiver + (receiver >= source->self);
}

uint32_t traffic_redraw(const struct traffic *traffic, const struct traffic_source *source,
                        const struct traffic_packet *packet, uint64_t random)
{
    bool uniform = traffic->pattern == PATTERN_UNIFORM ||
                   (traffic->pattern == PATTERN_HOT_SPOT && packet->receiver != traffic->hot);
    if (!uniform || traffic->among_all || packet->continues)
        return TRAFFIC_NONE;
    uint32_t others = (uint32_t)traffic->receivers.count - (source->self != TRAFFIC_NONE);
    uint32_t receiver = (uint32_t)((random >> 32) * others >> 32);
    return receiver + (receiver >= source->self);
}

uint32_t pattern_draw_receiver(const struct traffic *traffic, struct traffic_source *source)
{
    uint32_t members = (uint32_t)traffic->receivers.count, step;
    switch (traffic->pattern) {
    case PATTERN_UNIFORM: return draw_uniform(traffic, source);
    case PATTERN_HOT_SPOT:
        if (traffic->hot != source->self && rng_chance(&source->rng, traffic->hot_parts))
            return traffic->hot;
        return draw_uniform(traffic, source);
    case PATTERN_MATRIX: return draw_of_row(traffic, source);
    case PATTERN_ALL_TO_ALL:
        step = source->turn + 1;
        source->turn = step < members - 1 ? step : 0;
        return step < members - source->sender ? source->sender + step
                                               : source->sender - (members - step);
    default: return source->partner;
    }
}
