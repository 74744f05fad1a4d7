/* Parses the settings of a traffic, then resolves them for one topology: senders and receivers, the
 * hot spot, mean packet intervals from the rates of links, the default payload, and files of pairs
 * or traces. Making packets is left to src/fabric. */
#include "experiment/scenario/traffic_spec.h"

#include "base/time.h"
#include "console/names.h"
#include "console/pace.h"
#include "experiment/scenario/traffic_pairs.h"
#include "fabric/data.h"
#include "topology/virtual.h"

#include <arpa/inet.h>
#include <assert.h>
#include <fnmatch.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RETRIES = 7,        /* default, as in most adapters */
    PAYLOAD_OF_MTU = 0, /* no size was given */
};

/* ---- values ---- */

static int set_rate(struct traffic_spec *spec, struct cursor *value)
{
    double rate = 0;
    cursor_take_decimal(value, "packets per second", 1e12, &rate);
    if (rate < 1e-6)
        return word_error(value, &value->words[0],
                          "'%.80s': the rate is below one packet in 11 days", value->words[0].text);
    spec->traffic.interval_ps = (uint64_t)(1e12 / rate + 0.5);
    spec->load = 0;
    spec->timed = true;
    return value->status;
}

static int set_load(struct traffic_spec *spec, struct cursor *value)
{
    spec->timed = true;
    return cursor_take_load(value, &spec->load);
}

static int set_size(struct traffic_spec *spec, struct cursor *value)
{
    uint64_t bytes;
    int status = cursor_take_number(value, "a payload in bytes", 1, 4096, &bytes);
    spec->traffic.sizes[0] = (struct traffic_size){(uint32_t)bytes, 1};
    spec->traffic.size_count = 1;
    return status;
}

static int set_message(struct traffic_spec *spec, struct cursor *value)
{
    uint64_t bytes;
    int status =
        cursor_take_number(value, "a message in bytes", 1, TRAFFIC_LARGEST_MESSAGE, &bytes);
    spec->traffic.message_bytes = (uint32_t)bytes;
    return status;
}

/* BYTES:WEIGHT,… */
static int set_sizes(struct traffic_spec *spec, struct cursor *value)
{
    const struct word *word = &value->words[value->at++];
    struct traffic *traffic = &spec->traffic;
    const char *at = word->text;
    unsigned count = 0;
    for (;; at++) {
        char *end;
        unsigned long bytes = strtoul(at, &end, 10), weight = 1;
        bool digits = strspn(at, "0123456789") > 0;
        if (digits && *end == ':') {
            digits = strspn(end + 1, "0123456789") > 0;
            weight = strtoul(end + 1, &end, 10);
        }
        if (!digits || bytes < 1 || bytes > 4096 || weight < 1 || weight > 1000000 ||
            (*end && *end != ','))
            return word_error(value, word,
                              "'%.80s': expected sizes and weights such as 256:3,2048:1",
                              word->text);
        if (count == TRAFFIC_SIZES)
            return word_error(value, word, "more than %d sizes", TRAFFIC_SIZES);
        traffic->sizes[count++] = (struct traffic_size){(uint32_t)bytes, (uint32_t)weight};
        at = end;
        if (!*at)
            break;
    }
    traffic->size_count = count;
    return 0;
}

static int set_sl(struct traffic_spec *spec, struct cursor *value)
{
    uint64_t sl = TRAFFIC_RANDOM_SL;
    if (!cursor_accept(value, "random"))
        cursor_take_number(value, "'random', or a service level", 0, 15, &sl);
    spec->traffic.sl = (uint8_t)sl;
    return value->status;
}

static int set_arrivals(struct traffic_spec *spec, struct cursor *value)
{
    unsigned index;
    int status = cursor_take_choice(value, "arrival process", traffic_arrival_names,
                                    TRAFFIC_ARRIVALS, &index);
    spec->traffic.arrival = (enum traffic_arrival)index;
    return status;
}

static int set_retry(struct traffic_spec *spec, struct cursor *value)
{
    if (spec->traffic.retries == 0)
        spec->traffic.retries = RETRIES;
    return cursor_take_time(value, &spec->traffic.retry_ps);
}

static int set_among(struct traffic_spec *spec, struct cursor *value)
{
    static const char *const names[] = {"active", "all"};
    unsigned index;
    int status = cursor_take_choice(value, "set of receivers", names, 2, &index);
    spec->traffic.among_all = status == 0 && index == 1;
    return status;
}

/* Gbit/s, with or without the unit. */
static int set_limit(struct traffic_spec *spec, struct cursor *value)
{
    const struct word *word = &value->words[value->at++];
    const char *rest;
    double rate;
    if (!parse_decimal(word->text, &rate, &rest) ||
        (*rest && strcmp(rest, "Gbit/s") != 0 && strcmp(rest, "Gb/s") != 0) || rate < 1e-6 ||
        rate > 64000)
        return word_error(value, word, "'%.80s': expected a rate in Gbit/s, such as 2.5",
                          word->text);
    spec->traffic.limit_ps_per_8_bytes = (uint64_t)(64000 / rate + 0.5);
    return 0;
}

static int set_path_rate(struct traffic_spec *spec, struct cursor *value)
{
    static const char *const answers[] = {"yes", "no"};
    unsigned index;
    int status = cursor_take_choice(value, "answer", answers, 2, &index);
    spec->traffic.ignores_path_rate = index == 1;
    return status;
}

static int set_hop_limit(struct traffic_spec *spec, struct cursor *value)
{
    uint64_t limit = 0;
    int status = cursor_take_number(value, "a hop limit", 1, UINT8_MAX, &limit);
    spec->traffic.hop_limit = (uint8_t)limit;
    return status;
}

static int set_prefix(struct traffic_spec *spec, struct cursor *value)
{
    return cursor_take_number(value, "a subnet prefix", 1, UINT64_MAX, &spec->traffic.prefix);
}

static bool pattern_has_file(enum traffic_pattern pattern)
{
    return pattern == PATTERN_TRACE || pattern == PATTERN_PERMUTATION || pattern == PATTERN_MATRIX;
}

static int set_pattern(struct traffic_spec *spec, struct cursor *value)
{
    unsigned index;
    spec->pattern_word = cursor_next(value);
    int status = cursor_take_choice(value, "traffic pattern", traffic_pattern_names,
                                    TRAFFIC_PATTERNS, &index);
    spec->traffic.pattern = (enum traffic_pattern)index;
    return status;
}

/* ---- keys ---- */

#define AT(member) offsetof(struct traffic_spec, member)
static const struct traffic_key {
    const char *name;
    int (*set)(struct traffic_spec *spec, struct cursor *value); /* NULL: by kind */
    enum { KEY_WORD, KEY_COUNT, KEY_P_KEY, KEY_SHARE, KEY_MOMENT } kind;
    size_t member;
    const char *what; /* of a word */
} keys[] = {
    {.name = "rate", .set = set_rate},
    {.name = "load", .set = set_load},
    {.name = "size", .set = set_size},
    {.name = "sizes", .set = set_sizes},
    {.name = "message", .set = set_message},
    {.name = "sl", .set = set_sl},
    {.name = "arrivals", .set = set_arrivals},
    {"start", NULL, KEY_MOMENT, AT(start), NULL},
    {"stop", NULL, KEY_MOMENT, AT(stop), NULL},
    {"from", NULL, KEY_WORD, AT(from_word), "a pattern"},
    {"to", NULL, KEY_WORD, AT(to_word), "a pattern"},
    {"hot", NULL, KEY_WORD, AT(hot_word), "an adapter"},
    {"share", NULL, KEY_SHARE, AT(traffic.hot_parts), NULL},
    {"shift", NULL, KEY_COUNT, AT(traffic.shift), NULL},
    {"burst", NULL, KEY_COUNT, AT(traffic.burst), NULL},
    {.name = "among", .set = set_among},
    {"density", NULL, KEY_WORD, AT(density_word), "a file"},
    {.name = "limit", .set = set_limit},
    {.name = "path_rate", .set = set_path_rate},
    {.name = "retry", .set = set_retry},
    {"retries", NULL, KEY_COUNT, AT(traffic.retries), NULL},
    {"p_key", NULL, KEY_P_KEY, AT(traffic.p_key), NULL},
    {.name = "hop_limit", .set = set_hop_limit},
    {.name = "prefix", .set = set_prefix},
    {"file", NULL, KEY_WORD, AT(file_word), "a file"},
    {.name = "pattern", .set = set_pattern},
};
enum { KEYS = sizeof keys / sizeof keys[0], RATE = 0, LOAD = 1, PATTERN = KEYS - 1 };

static int find_key(const struct word *key, struct cursor *cursor, unsigned *index)
{
    const char *names[KEYS];
    for (*index = 0; *index < KEYS; ++*index) {
        names[*index] = keys[*index].name;
        if (strcmp(names[*index], key->text) == 0)
            return 0;
    }
    return word_unknown(cursor, key, "setting of traffic", names, KEYS);
}

int traffic_spec_set(struct traffic_spec *spec, const struct word *key, const struct word *value,
                     struct cursor *cursor)
{
    struct cursor one = {.file = cursor->file, .err = cursor->err, .words = value, .count = 1};
    unsigned index;
    uint64_t number;
    int status = find_key(key, cursor, &index);
    if (status)
        return status;
    if (keys[index].set)
        return keys[index].set(spec, &one);
    void *member = (char *)spec + keys[index].member;
    switch (keys[index].kind) {
    case KEY_WORD: return cursor_take(&one, keys[index].what, member);
    case KEY_SHARE: return cursor_take_percent(&one, member);
    case KEY_MOMENT: return moment_take(&one, member);
    case KEY_COUNT:
        cursor_take_number(&one, "a number", 1, UINT32_MAX, &number);
        *(uint32_t *)member = (uint32_t)number;
        break;
    case KEY_P_KEY:
        cursor_take_number(&one, "a P_Key", 1, UINT16_MAX, &number);
        *(uint16_t *)member = (uint16_t)number;
        break;
    }
    return one.status;
}

/* KEY VALUE, once each. */
static int read_setting(struct traffic_spec *spec, struct cursor *cursor, const struct word *key,
                        bool *given)
{
    struct word value;
    unsigned index;
    if (find_key(key, cursor, &index))
        return cursor->status;
    if (given[index])
        return word_error(cursor, key, "'%s' is given twice", key->text);
    given[index] = true;
    if (given[RATE] && given[LOAD])
        return word_error(cursor, key, "either a rate or a load");
    int status = cursor_take(cursor, "a value", &value);
    if (status == 0 && strcmp(key->text, "to") == 0 && strcmp(value.text, "group") == 0)
        return cursor_take(cursor, "an MGID", &spec->group_word);
    return status ? status : traffic_spec_set(spec, key, &value, cursor);
}

void traffic_spec_read(struct traffic_spec *spec, struct cursor *cursor)
{
    bool given[KEYS] = {[PATTERN] = true}; /* the pattern comes first */
    struct word word;
    *spec = (struct traffic_spec){.word = cursor->words[0], .stop.ps = TIME_NEVER};
    traffic_init(&spec->traffic, PAYLOAD_OF_MTU);
    spec->traffic.hot_parts = RNG_CERTAIN / 10;
    set_pattern(spec, cursor);
    if (pattern_has_file(spec->traffic.pattern))
        cursor_take(cursor, "a file", &spec->file_word);
    while (!cursor_is_done(cursor)) {
        cursor_take(cursor, "a setting", &word);
        spec->stopped = strcmp(word.text, "stopped") == 0;
        if (spec->stopped)
            return;
        cursor->status = read_setting(spec, cursor, &word, given);
    }
}

/* ---- members ---- */

static bool is_member(const struct topology *topology, uint32_t port, const char *pattern)
{
    const struct topology_port *p = &topology->ports.items[port];
    const struct topology_node *node = &topology->nodes.items[p->node];
    if (node->kind != NODE_ADAPTER || p->peer == TOPOLOGY_NONE ||
        topology_function(topology, port) > 0) /* a virtual function belongs to its machine */
        return false;
    return !pattern || fnmatch(pattern, node->name, 0) == 0 ||
           (node->description && fnmatch(pattern, node->description, 0) == 0);
}

static int bind_members(const struct traffic_spec *spec, const struct traffic_spec_world *world,
                        struct cursor *cursor, struct traffic *traffic)
{
    const struct word *const patterns[] = {&spec->from_word, &spec->to_word};
    __typeof__(traffic->senders) *const members[] = {&traffic->senders, &traffic->receivers};
    for (unsigned side = 0; side < 2; side++) {
        const char *pattern = patterns[side]->text;
        for (uint32_t port = 0; port < world->topology->ports.count; port++)
            if (is_member(world->topology, port, pattern))
                vec_push(members[side], port);
        for (uint32_t i = 0; pattern && i < world->machine_count; i++)
            if (fnmatch(pattern, world->machines[i], 0) == 0)
                vec_push(members[side], DATA_VM + i);
        if (pattern && members[side]->count == 0)
            return word_error(cursor, patterns[side], "no adapter with a cable matches '%.80s'%s",
                              pattern, world->machine_count ? ", and no machine" : "");
    }
    return 0;
}

/* The group is the only receiver. Its number is not known before the run. */
static int bind_group(const struct traffic_spec *spec, const struct traffic_spec_world *world,
                      struct cursor *cursor, struct traffic *traffic)
{
    const struct word *word = &spec->group_word;
    if (inet_pton(AF_INET6, word->text, traffic->mgid) != 1 || traffic->mgid[0] != 0xFF)
        return word_error(cursor, word, "'%.80s' is not an MGID such as ff12:401b::1", word->text);
    if (!world->has_groups)
        return word_error(cursor, word, "only the traffic of scenarios goes to groups");
    if (traffic->pattern != PATTERN_UNIFORM)
        return word_error(cursor, &spec->pattern_word, "traffic to a group has pattern uniform");
    if (traffic->message_bytes)
        return word_error(cursor, &spec->word, "messages are not sent to groups");
    traffic->receivers.count = 0;
    vec_push(&traffic->receivers, DATA_GROUP);
    return 0;
}

/* NODE[:PORT], one of the receivers. */
static int bind_hot(const struct word *word, const struct topology *topology, struct cursor *cursor,
                    struct traffic *traffic)
{
    struct named_place place;
    int status = bind_place(word, topology, cursor, 1, &place);
    if (status)
        return status;
    const uint32_t *receivers = traffic->receivers.items;
    for (uint32_t i = 0; receivers && i < traffic->receivers.count; i++) {
        uint32_t port = receivers[i];
        if (port < DATA_VM && topology->ports.items[port].node == place.node &&
            (place.numbers[0] == 0 || topology_port_number(topology, port) == place.numbers[0])) {
            traffic->hot = i;
            return 0;
        }
    }
    return word_error(cursor, word, "'%.80s' is none of the receivers", word->text);
}

/* ---- rates and sizes ---- */

/* Each sender makes packets at its share of its own link. */
static int bind_load(const struct traffic_spec *spec, const struct topology *topology,
                     struct cursor *cursor, struct traffic *traffic)
{
    assert(spec->load > 0 && traffic->size_count > 0);
    const uint32_t *senders = traffic->senders.items;
    double bytes = 0, weights = 0;
    for (size_t i = 0; i < traffic->senders.count; i++)
        if (senders[i] >= DATA_VM)
            return word_error(cursor, &spec->word,
                              "machines have no link of their own: use 'rate', not 'load'");
    for (unsigned i = 0; i < traffic->size_count; i++) {
        double weight = traffic->sizes[i].weight;
        bytes += weight * (traffic->sizes[i].payload_bytes + DATA_OVERHEAD_BYTES);
        weights += weight;
    }
    traffic->interval_ps = 0;
    for (size_t i = 0; i < traffic->senders.count; i++) {
        double rate = (double)topology_link_rate(topology, senders[i]);
        double mean = bytes / weights * 8e12 / (rate * spec->load);
        uint64_t interval = mean < 1 ? 1 : (uint64_t)(mean + 0.5);
        if (interval > traffic->interval_ps)
            traffic->interval_ps = interval;
        vec_push(&traffic->intervals_ps, interval);
    }
    return 0;
}

/* bind_load() gives the interval of packets: converts it to that of messages. */
static void scale_to_messages(struct traffic *traffic)
{
    uint32_t payload = traffic->sizes[0].payload_bytes;
    uint64_t packets = (traffic->message_bytes + payload - 1) / payload;
    double message = (double)(traffic->message_bytes + packets * DATA_OVERHEAD_BYTES);
    double ratio = message / (payload + DATA_OVERHEAD_BYTES);
    traffic->interval_ps = (uint64_t)((double)traffic->interval_ps * ratio + 0.5);
    for (size_t i = 0; i < traffic->intervals_ps.count; i++)
        traffic->intervals_ps.items[i] =
            (uint64_t)((double)traffic->intervals_ps.items[i] * ratio + 0.5);
}

static struct node_options node_options_at(const struct traffic_spec_world *world, size_t at)
{
    const struct topology_node *node = &world->topology->nodes.items[at];
    return fabric_options_for(world->options, node->name, node->description,
                              node->kind == NODE_SWITCH);
}

static int check_sizes(const struct traffic_spec *spec, const struct traffic_spec_world *world,
                       struct cursor *cursor, const struct traffic *traffic)
{
    struct err reason = {0};
    unsigned grh_bytes = 0;
    for (size_t i = 0; i < world->topology->nodes.count; i++)
        if (world->topology->nodes.items[i].kind == NODE_ROUTER)
            grh_bytes = WIRE_BYTES_GRH;
    for (size_t i = 0; i < world->topology->nodes.count; i++) {
        struct node_options options = node_options_at(world, i);
        if (fabric_check_payload(&options, world->topology->nodes.items[i].name,
                                 traffic_largest_payload(traffic), grh_bytes, &reason) < 0)
            return word_error(cursor, &spec->word, "%.400s", reason.message);
    }
    return 0;
}

/* A relative path is relative to the scenario. */
static void find_file(const struct traffic_spec_world *world, const struct word *word, char *path,
                      size_t size)
{
    bool absolute = word->text[0] == '/';
    snprintf(path, size, "%s%s%s", absolute ? "" : world->folder, absolute ? "" : "/", word->text);
}

static int read_density(const struct traffic_spec *spec, const struct traffic_spec_world *world,
                        struct cursor *cursor, struct traffic *traffic)
{
    char path[8192], text[1024];
    struct err reason = {0};
    traffic->arrival = ARRIVAL_EMPIRICAL;
    find_file(world, &spec->density_word, path, sizeof path);
    if (traffic_read_density(traffic, path, &reason) == 0)
        return 0;
    return word_error(cursor, &spec->density_word, "%.400s", err_text(&reason, text, sizeof text));
}

/* Reads the trace, permutation or matrix. */
static int read_pattern_file(const struct traffic_spec *spec,
                             const struct traffic_spec_world *world, struct cursor *cursor,
                             struct traffic *traffic)
{
    char path[8192], text[1024];
    struct err reason = {0};
    if (!spec->file_word.text)
        return word_error(cursor, &spec->word, "%s traffic needs a file",
                          traffic_pattern_names[traffic->pattern]);
    find_file(world, &spec->file_word, path, sizeof path);
    int status = traffic->pattern == PATTERN_TRACE
                     ? traffic_read_trace(traffic, path, &reason)
                     : traffic_pairs_read(traffic, world, path, &reason);
    if (status == 0)
        return 0;
    return word_error(cursor, &spec->file_word, "%.400s", err_text(&reason, text, sizeof text));
}

/* ---- all of it ---- */

static int bind_pattern(const struct traffic_spec *spec, const struct traffic_spec_world *world,
                        struct cursor *cursor, struct traffic *traffic)
{
    enum traffic_pattern pattern = traffic->pattern;
    int status = pattern_has_file(pattern) ? read_pattern_file(spec, world, cursor, traffic) : 0;
    if (status == 0 && spec->density_word.text)
        status = read_density(spec, world, cursor, traffic);
    if (status || pattern == PATTERN_TRACE)
        return status;
    if (pattern == PATTERN_HOT_SPOT || pattern == PATTERN_GATHER) {
        if (!spec->hot_word.text)
            return word_error(cursor, &spec->word, "%s traffic needs 'hot NODE'",
                              traffic_pattern_names[pattern]);
        status = bind_hot(&spec->hot_word, world->topology, cursor, traffic);
        if (status)
            return status;
    }
    if (traffic->arrival == ARRIVAL_SATURATED)
        return 0;
    if (!spec->timed)
        return word_error(
            cursor, &spec->word,
            "no rate: expected 'rate N' (packets per second of each sender), 'load SHARE' (of "
            "its link) or 'arrivals saturated'");
    status = spec->load > 0 ? bind_load(spec, world->topology, cursor, traffic) : 0;
    if (status == 0 && spec->load > 0 && traffic->message_bytes)
        scale_to_messages(traffic);
    if (status == 0 && pattern == PATTERN_MATRIX)
        traffic_pairs_scale(traffic);
    return status;
}

/* Both times of a traffic have the same origin: the fabric gets them when that is known. */
static int bind_times(const struct traffic_spec *spec, struct cursor *cursor,
                      struct traffic *traffic)
{
    traffic->start_ps = spec->start.ps;
    traffic->stop_ps = spec->stop.ps;
    if (spec->stop.ps != TIME_NEVER && spec->start.settled != spec->stop.settled)
        return word_error(cursor, &spec->word,
                          "either both 'start' and 'stop' count from 'settled', or none");
    if (spec->start.settled && spec->stopped)
        return word_error(cursor, &spec->word,
                          "either 'stopped', or a start that counts from 'settled'");
    return 0;
}

int traffic_spec_bind(const struct traffic_spec *spec, const struct traffic_spec_world *world,
                      struct cursor *cursor, struct traffic *traffic)
{
    struct err reason = {0};
    *traffic = spec->traffic;
    /* The default payload: the smallest MTU of the fabric, which every path has. */
    uint32_t mtu = TRAFFIC_LARGEST_PAYLOAD;
    for (size_t i = 0; i < world->topology->nodes.count; i++) {
        struct node_options options = node_options_at(world, i);
        mtu = options.agent.mtu < mtu ? options.agent.mtu : mtu;
    }
    if (traffic->sizes[0].payload_bytes == PAYLOAD_OF_MTU)
        traffic->sizes[0].payload_bytes = mtu;
    int status = bind_times(spec, cursor, traffic);
    if (status == 0)
        status = bind_members(spec, world, cursor, traffic);
    if (status == 0 && spec->group_word.text)
        status = bind_group(spec, world, cursor, traffic);
    if (status == 0 && (!traffic->senders.items || !traffic->receivers.items))
        status = word_error(cursor, &spec->word, "no adapter has a cable");
    if (status == 0)
        status = bind_pattern(spec, world, cursor, traffic);
    if (status == 0 && traffic_check(traffic, &reason) < 0)
        status = word_error(cursor, &spec->word, "%.400s", reason.message);
    if (status == 0)
        status = check_sizes(spec, world, cursor, traffic);
    if (status)
        traffic_release(traffic);
    return status;
}
