/* Traffic: its description, its checks, and drawing packets.
 *
 * traffic_draw() is called for every packet of a simulation: it neither allocates nor divides.
 * traffic_check() rejects everything invalid, so that drawing needs no checks. */
#include "fabric/traffic/internal.h"

#include "base/map.h"

#include <errno.h>
#include <string.h>

const char *const traffic_arrival_names[TRAFFIC_ARRIVALS] = {
    [ARRIVAL_POISSON] = "poisson",     [ARRIVAL_CONSTANT] = "constant",
    [ARRIVAL_UNIFORM] = "uniform",     [ARRIVAL_BURSTY] = "bursty",
    [ARRIVAL_EMPIRICAL] = "empirical", [ARRIVAL_SATURATED] = "saturated",
};

void traffic_init(struct traffic *traffic, uint32_t payload_bytes)
{
    *traffic = (struct traffic){
        .pattern = PATTERN_UNIFORM,
        .arrival = ARRIVAL_POISSON,
        .stop_ps = TIME_NEVER,
        .shift = 1,
        .burst = 1,
        .sizes = {{.payload_bytes = payload_bytes, .weight = 1}},
        .size_count = 1,
        .p_key = 0xffff,
    };
}

uint32_t traffic_largest_payload(const struct traffic *traffic)
{
    uint32_t largest = 0;
    if (traffic->pattern == PATTERN_TRACE)
        for (size_t i = 0; i < traffic->trace.count; i++)
            if (traffic->trace.items[i].payload_bytes > largest)
                largest = traffic->trace.items[i].payload_bytes;
    for (unsigned i = 0; i < traffic->size_count && traffic->pattern != PATTERN_TRACE; i++)
        if (traffic->sizes[i].payload_bytes > largest)
            largest = traffic->sizes[i].payload_bytes;
    return largest;
}

static void *duplicate(const void *items, size_t count, size_t bytes)
{
    return count ? memcpy(mem_realloc(NULL, count, bytes), items, count * bytes) : NULL;
}

void traffic_copy(struct traffic *to, const struct traffic *from)
{
    *to = *from;
#define DUPLICATE(vec)                                                                             \
    (to->vec.items = duplicate(from->vec.items, from->vec.count, sizeof *from->vec.items),         \
     to->vec.capacity = from->vec.count)
    DUPLICATE(senders);
    DUPLICATE(receivers);
    DUPLICATE(intervals_ps);
    DUPLICATE(trace);
    DUPLICATE(pairs);
    DUPLICATE(density);
#undef DUPLICATE
}

void traffic_release(struct traffic *traffic)
{
    vec_release(&traffic->senders);
    vec_release(&traffic->receivers);
    vec_release(&traffic->intervals_ps);
    vec_release(&traffic->trace);
    vec_release(&traffic->pairs);
    vec_release(&traffic->density);
}

static int check_distinct(const uint32_t *ports, size_t count, const char *what, struct err *err)
{
    struct map seen = {0};
    int status = 0;
    if (count == 0)
        return err_set(err, EINVAL, "traffic has no %ss", what);
    if (count > UINT32_MAX / 2)
        return err_set(err, EFBIG, "traffic has more than %u %ss", UINT32_MAX / 2, what);
    for (uint32_t i = 0; i < count && !status; i++) {
        uint32_t first = map_add(&seen, ports[i], i);
        if (first != i)
            status = err_set(err, EINVAL, "%ss %u and %u of the traffic are the same port", what,
                             first, i);
    }
    map_release(&seen);
    return status;
}

static int check_pattern(const struct traffic *traffic, struct err *err)
{
    if ((unsigned)traffic->pattern >= TRAFFIC_PATTERNS)
        return err_set(err, EINVAL, "there is no traffic pattern %u", (unsigned)traffic->pattern);
    int status = check_distinct(traffic->senders.items, traffic->senders.count, "sender", err);
    if (!status)
        status =
            check_distinct(traffic->receivers.items, traffic->receivers.count, "receiver", err);
    if (status)
        return status;
    if (pattern_maps_members(traffic->pattern) &&
        (traffic->senders.count != traffic->receivers.count ||
         memcmp(traffic->senders.items, traffic->receivers.items,
                traffic->senders.count * sizeof *traffic->senders.items) != 0))
        return err_set(err, EINVAL, "%s traffic needs the same senders and receivers, in one order",
                       traffic_pattern_names[traffic->pattern]);
    if ((traffic->pattern == PATTERN_HOT_SPOT || traffic->pattern == PATTERN_GATHER) &&
        traffic->hot >= traffic->receivers.count)
        return err_set(err, EINVAL, "%s traffic to receiver %u, but there are only %zu",
                       traffic_pattern_names[traffic->pattern], traffic->hot,
                       traffic->receivers.count);
    if (traffic->pattern == PATTERN_HOT_SPOT && traffic->hot_parts > RNG_CERTAIN)
        return err_set(err, EINVAL, "a hot spot cannot have more than all of the traffic");
    return 0;
}

static int check_times(const struct traffic *traffic, struct err *err)
{
    if ((unsigned)traffic->arrival >= TRAFFIC_ARRIVALS)
        return err_set(err, EINVAL, "there is no arrival process %u", (unsigned)traffic->arrival);
    if (traffic->start_ps > TIME_LONGEST)
        return err_set(err, EINVAL, "traffic starts after more than 100 days");
    if (traffic->stop_ps <= traffic->start_ps)
        return err_set(err, EINVAL, "traffic stops before it starts");
    if (traffic->pattern == PATTERN_TRACE || traffic->arrival == ARRIVAL_SATURATED)
        return 0;
    if ((traffic->arrival == ARRIVAL_EMPIRICAL) != (traffic->density.count > 0))
        return err_set(err, EINVAL, "empirical arrivals and a density need each other");
    if (traffic->interval_ps == 0)
        return err_set(err, EINVAL, "traffic without a rate");
    if (traffic->interval_ps > TIME_LONGEST)
        return err_set(err, EINVAL, "traffic with less than a packet in 100 days");
    if (traffic->arrival != ARRIVAL_BURSTY)
        return 0;
    if (traffic->burst == 0)
        return err_set(err, EINVAL, "bursty traffic with bursts of 0 packets");
    if (traffic->burst > TIME_LONGEST / traffic->interval_ps)
        return err_set(err, EINVAL, "bursty traffic with less than a burst in 100 days");
    return 0;
}

static int check_sizes(const struct traffic *traffic, struct err *err)
{
    if (traffic->size_count == 0 || traffic->size_count > TRAFFIC_SIZES)
        return err_set(err, EINVAL, "traffic with %u packet sizes: 1 … %d are possible",
                       traffic->size_count, TRAFFIC_SIZES);
    for (unsigned i = 0; i < traffic->size_count; i++) {
        const struct traffic_size *size = &traffic->sizes[i];
        if (size->payload_bytes == 0 || size->payload_bytes > TRAFFIC_LARGEST_PAYLOAD)
            return err_set(err, EINVAL, "packets of %u bytes: 1 … %d are possible",
                           size->payload_bytes, TRAFFIC_LARGEST_PAYLOAD);
        if (size->weight == 0 || size->weight > UINT32_MAX / TRAFFIC_SIZES)
            return err_set(err, EINVAL, "a packet size with weight %u: 1 … %u are possible",
                           size->weight, UINT32_MAX / TRAFFIC_SIZES);
    }
    return 0;
}

static int check_messages(const struct traffic *traffic, struct err *err)
{
    if (traffic->message_bytes == 0)
        return 0;
    if (traffic->message_bytes > TRAFFIC_LARGEST_MESSAGE)
        return err_set(err, EINVAL, "messages of %u bytes: at most %d are possible",
                       traffic->message_bytes, TRAFFIC_LARGEST_MESSAGE);
    if (traffic->size_count != 1 || traffic->pattern == PATTERN_TRACE)
        return err_set(err, EINVAL, "messages need packets of one size, and no trace");
    return 0;
}

static int check_service(const struct traffic *traffic, struct err *err)
{
    if (traffic->sl > TRAFFIC_RANDOM_SL)
        return err_set(err, EINVAL, "there is no service level %u", traffic->sl);
    if ((traffic->p_key & 0x7fff) == 0)
        return err_set(err, EINVAL, "0x%04x is not a partition key", traffic->p_key);
    if (traffic->limit_ps_per_8_bytes > TIME_S)
        return err_set(err, EINVAL, "a rate limit below 8 bytes per second");
    if ((traffic->retries == 0) != (traffic->retry_ps == 0))
        return err_set(err, EINVAL,
                       "reliable traffic needs both a number of retries and the time before one");
    if (traffic->retry_ps > TIME_LONGEST)
        return err_set(err, EINVAL, "a retry after more than 100 days");
    return 0;
}

static int check_trace(const struct traffic *traffic, struct err *err)
{
    const struct traffic_trace_entry *entries = traffic->trace.items;
    if (traffic->pattern != PATTERN_TRACE)
        return 0;
    if (traffic->trace.count == 0)
        return err_set(err, EINVAL, "trace traffic without a trace");
    if (traffic->trace.count >= UINT32_MAX)
        return err_set(err, EFBIG, "a trace of more than %u packets", UINT32_MAX - 1);
    for (size_t i = 0; i < traffic->trace.count; i++) {
        const struct traffic_trace_entry *entry = &entries[i];
        if (entry->sender >= traffic->senders.count || entry->receiver >= traffic->receivers.count)
            return err_set(
                err, EINVAL, "a trace from %u to %u: there are %zu senders, %zu receivers",
                entry->sender, entry->receiver, traffic->senders.count, traffic->receivers.count);
        if (traffic->senders.items[entry->sender] == traffic->receivers.items[entry->receiver])
            return err_set(err, EINVAL, "packet %zu of the trace goes to its own sender", i);
        if (entry->time > TIME_LONGEST || entry->payload_bytes == 0 ||
            entry->payload_bytes > TRAFFIC_LARGEST_PAYLOAD)
            return err_set(err, EINVAL, "packet %zu of the trace: time or size out of range", i);
        if (i > 0 && (entry[-1].sender > entry->sender ||
                      (entry[-1].sender == entry->sender && entry[-1].time > entry->time)))
            return err_set(err, EINVAL, "the trace is not sorted by sender and time");
    }
    return 0;
}

static int check_pairs(const struct traffic *traffic, struct err *err)
{
    const struct traffic_pair *pairs = traffic->pairs.items;
    if (traffic->pattern != PATTERN_PERMUTATION && traffic->pattern != PATTERN_MATRIX)
        return 0;
    if (traffic->pairs.count == 0 || traffic->pairs.count >= UINT32_MAX)
        return err_set(err, EINVAL, "%s traffic with %zu pairs",
                       traffic_pattern_names[traffic->pattern], traffic->pairs.count);
    for (size_t i = 0; i < traffic->pairs.count; i++) {
        bool first = i == 0 || pairs[i - 1].sender != pairs[i].sender;
        if (pairs[i].sender >= traffic->senders.count ||
            pairs[i].receiver >= traffic->receivers.count ||
            traffic->senders.items[pairs[i].sender] == traffic->receivers.items[pairs[i].receiver])
            return err_set(err, EINVAL, "pair %zu: no such members, or one port", i);
        if ((i > 0 && pairs[i - 1].sender > pairs[i].sender) ||
            (!first && pairs[i - 1].weight_until >= pairs[i].weight_until) ||
            pairs[i].weight_until == 0)
            return err_set(err, EINVAL, "pair %zu: not sorted, or without weight", i);
        if (!first && traffic->pattern == PATTERN_PERMUTATION)
            return err_set(err, EINVAL, "sender %u of a permutation has two receivers",
                           pairs[i].sender);
    }
    return 0;
}

int traffic_check(const struct traffic *traffic, struct err *err)
{
    static int (*const checks[])(const struct traffic *, struct err *) = {
        check_pattern, check_times, check_sizes, check_messages,
        check_service, check_trace, check_pairs,
    };
    int status = 0;
    for (unsigned i = 0; i < sizeof checks / sizeof checks[0] && !status; i++)
        status = checks[i](traffic, err);
    for (uint32_t i = 0; i < traffic->senders.count && !status; i++)
        if (pattern_prepare(traffic, &(struct traffic_source){.sender = i}))
            return 0;
    return status ? status
                  : err_set(err, EINVAL, "%s traffic in which no sender has a receiver",
                            traffic_pattern_names[traffic->pattern]);
}

void traffic_source_init(struct traffic_source *source, const struct traffic *traffic,
                         uint32_t sender, uint64_t seed, uint64_t stream)
{
    *source = (struct traffic_source){.sender = sender};
    rng_seed(&source->rng, seed, stream);
    source->time = pattern_prepare(traffic, source) ? traffic->start_ps : TIME_NEVER;
}

static uint32_t draw_size(const struct traffic *traffic, struct rng *rng)
{
    uint32_t total = 0, chosen = 0;
    if (traffic->size_count == 1)
        return traffic->sizes[0].payload_bytes;
    for (unsigned i = 0; i < traffic->size_count; i++)
        total += traffic->sizes[i].weight;
    uint32_t number = draw_below(rng, total);
    while (number >= traffic->sizes[chosen].weight)
        number -= traffic->sizes[chosen++].weight;
    return traffic->sizes[chosen].payload_bytes;
}

static uint8_t draw_sl(const struct traffic *traffic, struct rng *rng)
{
    return traffic->sl == TRAFFIC_RANDOM_SL ? (uint8_t)(rng_next(rng) >> 60) : traffic->sl;
}

static struct traffic_packet end_of_packets(struct traffic_source *source)
{
    source->time = TIME_NEVER;
    return (struct traffic_packet){.time = TIME_NEVER, .receiver = TRAFFIC_NONE};
}

static struct traffic_packet next_of_trace(const struct traffic *traffic,
                                           struct traffic_source *source)
{
    const struct traffic_trace_entry *entry = &traffic->trace.items[source->turn];
    if (source->turn == traffic->trace.count || entry->sender != source->sender ||
        entry->time >= traffic->stop_ps - traffic->start_ps)
        return end_of_packets(source);
    source->turn++;
    source->time = traffic->start_ps + entry->time;
    return (struct traffic_packet){
        .time = source->time,
        .receiver = entry->receiver,
        .payload_bytes = entry->payload_bytes,
        .sl = draw_sl(traffic, &source->rng),
    };
}

/* The next packet of a message that has bytes left. */
static struct traffic_packet next_of_message(const struct traffic *traffic,
                                             struct traffic_source *source)
{
    struct traffic_packet packet = source->message;
    uint32_t size = traffic->sizes[0].payload_bytes;
    packet.payload_bytes = source->message_left < size ? source->message_left : size;
    source->message_left -= packet.payload_bytes;
    source->message.continues = true;
    return packet;
}

struct traffic_packet traffic_draw(const struct traffic *traffic, struct traffic_source *source)
{
    if (source->time == TIME_NEVER)
        return end_of_packets(source);
    if (traffic->pattern == PATTERN_TRACE)
        return next_of_trace(traffic, source);
    if (source->message_left)
        return next_of_message(traffic, source);
    arrival_draw_time(traffic, source);
    if (source->time >= traffic->stop_ps)
        return end_of_packets(source);
    struct traffic_packet packet = {
        .time = source->time,
        .receiver = pattern_draw_receiver(traffic, source),
        .payload_bytes = draw_size(traffic, &source->rng),
        .sl = draw_sl(traffic, &source->rng),
    };
    if (!traffic->message_bytes)
        return packet;
    source->message = packet;
    source->message_left = traffic->message_bytes;
    return next_of_message(traffic, source);
}
