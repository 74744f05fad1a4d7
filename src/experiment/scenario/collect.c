/* The table of measures, and the parser of the statements that collect them. Forms that a measure
 * does not allow are refused while reading; places (node, port, VL) are looked up in the topology
 * later, by collect_bind(). The values themselves are kept by collector.c. */
#include "experiment/scenario/collect.h"

#include "base/text.h"
#include "base/time.h"
#include "console/names.h"
#include "fabric/data.h"
#include "wire/mad.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define SAMPLE_EVERY (100 * TIME_US) /* default */
enum { ANYWHERE = PLACE_FABRIC | PLACE_NODE | PLACE_PORT | PLACE_VL };
enum { AT_PORTS = PLACE_FABRIC | PLACE_NODE | PLACE_PORT };
enum { ALL_KEYS = (1 << PACKET_KEYS) - 1, OF_SENDERS = 1 << PACKET_TRAFFIC | 1 << PACKET_SENDER };

const struct measure_info measures[MEASURES] = {
    [MEASURE_LATENCY] = {"latency", "s", MEASURE_OF_PACKETS, AT_PORTS, 1e12, ALL_KEYS},
    [MEASURE_NETWORK_LATENCY] = {"network-latency", "s", MEASURE_OF_PACKETS, AT_PORTS, 1e12,
                                 ALL_KEYS},
    [MEASURE_HOPS] = {"hops", "hops", MEASURE_OF_PACKETS, AT_PORTS, 1, ALL_KEYS},
    [MEASURE_DELIVERED] = {"delivered", "packets", MEASURE_OF_EVENTS, AT_PORTS, 1, ALL_KEYS},
    [MEASURE_THROUGHPUT] = {"throughput", "packets", MEASURE_OF_EVENTS, AT_PORTS, 1, ALL_KEYS},
    [MEASURE_DELIVERED_BITS] = {"delivered-bits", "bits", MEASURE_OF_EVENTS, AT_PORTS, 1, ALL_KEYS},
    [MEASURE_DELIVERED_PAYLOAD] = {"delivered-payload", "bits", MEASURE_OF_EVENTS, AT_PORTS, 1,
                                   ALL_KEYS},
    [MEASURE_LOST] = {"lost", "packets", MEASURE_OF_EVENTS, AT_PORTS, 1, ALL_KEYS},
    [MEASURE_MADE] = {"made", "packets", MEASURE_COUNTER, PLACE_FABRIC, 1, OF_SENDERS},
    [MEASURE_UNROUTABLE] = {"unroutable", "packets", MEASURE_COUNTER, PLACE_FABRIC, 1},
    [MEASURE_RETRIED] = {"retried", "packets", MEASURE_COUNTER, PLACE_FABRIC, 1},
    [MEASURE_WAITING] = {"waiting", "packets", MEASURE_GAUGE, PLACE_FABRIC, 1},
    [MEASURE_TRAVELLING] = {"travelling", "packets", MEASURE_GAUGE, PLACE_FABRIC, 1},
    [MEASURE_SENT] = {"sent", "packets", MEASURE_COUNTER, ANYWHERE, 1},
    [MEASURE_SENT_BITS] = {"sent-bits", "bits", MEASURE_COUNTER, ANYWHERE, 1},
    [MEASURE_RECEIVED] = {"received", "packets", MEASURE_COUNTER, ANYWHERE, 1},
    [MEASURE_RECEIVED_BITS] = {"received-bits", "bits", MEASURE_COUNTER, ANYWHERE, 1},
    [MEASURE_INPUT] = {"input", "bytes", MEASURE_GAUGE, ANYWHERE, 1},
    [MEASURE_OUTPUT] = {"output", "bytes", MEASURE_GAUGE, ANYWHERE, 1},
    [MEASURE_CREDITS] = {"credits", "blocks", MEASURE_GAUGE, ANYWHERE, 1},
    /* Counts busy time: its rate is a share. */
    [MEASURE_UTILISATION] = {"utilisation", "share", MEASURE_COUNTER, AT_PORTS, 1e12},
    [MEASURE_OPEN] = {"open", "ports", MEASURE_LEVEL, PLACE_FABRIC, 1},
    [MEASURE_SMPS] = {"smps", "SMPs", MEASURE_OF_EVENTS, PLACE_FABRIC | PLACE_NODE, 1},
    [MEASURE_MACHINES_RUNNING] = {"vm.running", "machines", MEASURE_LEVEL, PLACE_FABRIC, 1},
    [MEASURE_MACHINES_WAITING] = {"vm.waiting", "orders", MEASURE_LEVEL, PLACE_FABRIC, 1},
    [MEASURE_MACHINES_STARTS] = {"vm.starts", "starts", MEASURE_OF_EVENTS, PLACE_FABRIC, 1},
    [MEASURE_MACHINES_STOPS] = {"vm.stops", "stops", MEASURE_OF_EVENTS, PLACE_FABRIC, 1},
    [MEASURE_MACHINES_MOVES] = {"vm.moves", "moves", MEASURE_OF_EVENTS, PLACE_FABRIC, 1},
    [MEASURE_MACHINES_FAILED] = {"vm.failed", "orders", MEASURE_OF_EVENTS, PLACE_FABRIC, 1},
    [MEASURE_MACHINES_SMPS] = {"vm.smps", "SMPs", MEASURE_OF_EVENTS, PLACE_FABRIC, 1},
    [MEASURE_MACHINES_TIME] = {"vm.time", "s", MEASURE_OF_PACKETS, PLACE_FABRIC, 1e12},
    [MEASURE_MACHINES_PAUSE] = {"vm.pause", "s", MEASURE_OF_PACKETS, PLACE_FABRIC, 1e12},
};

static const char *const hows[COLLECT_HOWS] = {"all",      "samples",    "buckets", "total",
                                               "mean",     "min",        "max",     "deviation",
                                               "interval", "percentile", "summary"};
const char *const packet_key_names[PACKET_KEYS] = {"traffic", "sl", "vl", "sender", "receiver"};

static const char *const options[] = {"every", "from", "to", "called"};
enum { OPTIONS = sizeof options / sizeof options[0] };

/* ---- what ---- */

const char *collect_loss_name(unsigned cause, char buffer[LOSS_NAME_BYTES])
{
    assert(cause < LOSS_CAUSES);
    snprintf(buffer, LOSS_NAME_BYTES, "lost.%s", loss_names[cause]);
    size_t length = 5;
    for (const char *at = buffer + length; *at; at++)
        if (isalnum((unsigned char)*at) || *at == '_')
            buffer[length++] = (char)tolower((unsigned char)*at);
        else if (buffer[length - 1] != '-')
            buffer[length++] = '-'; /* one for a run of other characters */
    buffer[length] = 0;
    return buffer;
}

/* Some measures have parts: "lost.no-route", "smps.set". */
struct measure_name {
    char text[48];
    enum measure what;
    uint32_t part;
};
enum { NAMES_MOST = MEASURES + LOSS_CAUSES + 2 };

static size_t list_names(struct measure_name names[NAMES_MOST])
{
    size_t count = 0;
    for (unsigned i = 0; i < MEASURES; i++) {
        names[count] = (struct measure_name){.what = (enum measure)i, .part = COLLECT_ANY};
        snprintf(names[count++].text, sizeof names->text, "%s", measures[i].name);
    }
    for (unsigned i = 0; i < LOSS_CAUSES; i++) {
        char name[LOSS_NAME_BYTES];
        names[count] = (struct measure_name){.what = MEASURE_LOST, .part = i};
        snprintf(names[count++].text, sizeof names->text, "%s", collect_loss_name(i, name));
    }
    names[count++] = (struct measure_name){"smps.get", MEASURE_SMPS, METHOD_GET};
    names[count++] = (struct measure_name){"smps.set", MEASURE_SMPS, METHOD_SET};
    return count;
}

static void read_what(struct collection *collection, struct cursor *cursor)
{
    struct measure_name names[NAMES_MOST];
    const char *texts[NAMES_MOST];
    size_t count = list_names(names);
    struct word word;
    cursor_take(cursor, "what to measure, such as latency or delivered", &word);
    for (size_t i = 0; i < count; i++) {
        texts[i] = names[i].text;
        if (strcmp(names[i].text, word.text) == 0) {
            collection->what = names[i].what;
            collection->part = names[i].part;
            return;
        }
    }
    word_unknown(cursor, &word, "measure", texts, count);
}

static enum packet_key find_key(const char *name)
{
    unsigned key = 0;
    while (key < PACKET_KEYS && strcmp(packet_key_names[key], name) != 0)
        key++;
    return (enum packet_key)key;
}

static void check_key(const struct collection *collection, enum packet_key key,
                      struct cursor *cursor, const struct word *word)
{
    if (!(measures[collection->what].keys >> key & 1))
        word_error(cursor, word, "'%s' is not known by %s", measures[collection->what].name,
                   packet_key_names[key]);
}

/* [of PLACE] [of KEY VALUE …]; a node that is called like a key is given by its GUID. */
static void read_places(struct collection *collection, struct cursor *cursor)
{
    while (cursor_accept(cursor, "of")) {
        struct word word;
        cursor_take(cursor, "NODE, NODE:PORT, NODE:PORT:VL, or traffic, sl, vl, sender or receiver",
                    &word);
        enum packet_key key = find_key(word.text);
        struct word *kept =
            key < PACKET_KEYS ? &collection->limits[key].word : &collection->place_word;
        if (kept->text)
            word_error(cursor, &word, "there is a second '%s'",
                       key < PACKET_KEYS ? word.text : "of PLACE");
        if (key == PACKET_KEYS) {
            *kept = word;
            continue;
        }
        check_key(collection, key, cursor, &word);
        cursor_take(cursor, key < PACKET_SENDER ? "a number" : "NODE or NODE:PORT", kept);
    }
}

static void read_division(struct collection *collection, struct cursor *cursor)
{
    unsigned key;
    struct word word;
    if (!cursor_accept(cursor, "by"))
        return;
    word = cursor_next(cursor);
    cursor_take_choice(cursor, "key of packets", packet_key_names, PACKET_KEYS, &key);
    if (cursor->status == 0)
        check_key(collection, (enum packet_key)key, cursor, &word);
    collection->by = (enum packet_key)key;
    if (cursor->status == 0 && collection->limits[key].word.text)
        word_error(cursor, &word, "the packets are of one %s only", word.text);
}

/* ---- how ---- */

static void read_how(struct collection *collection, struct cursor *cursor)
{
    const struct measure_info *info = &measures[collection->what];
    unsigned how;
    struct word next = cursor_next(cursor);
    collection->how = COLLECT_SUMMARY;
    for (unsigned i = 0; i < OPTIONS; i++)
        if (cursor_is_done(cursor) || strcmp(options[i], next.text) == 0)
            return;
    cursor_take_exact(cursor, "as");
    cursor_take_choice(cursor, "way to keep it", hows, COLLECT_HOWS, &how);
    const struct word *word = &cursor->words[cursor->at - 1];
    collection->how = (enum collect_how)how;
    if (how == COLLECT_ALL && (info->kind == MEASURE_COUNTER || info->kind == MEASURE_GAUGE))
        word_error(cursor, word,
                   "'%s' has to be sampled: as samples T, as buckets T or as one figure",
                   info->name);
    if (how == COLLECT_TOTAL &&
        (!measure_counts(collection->what) || collection->what == MEASURE_UTILISATION))
        word_error(cursor, word, "'%s' does not count anything: there is no total of it",
                   info->name);
    if (how == COLLECT_SAMPLES || how == COLLECT_BUCKETS)
        cursor_take_time(cursor, &collection->every);
    if (how == COLLECT_PERCENTILE)
        cursor_take_decimal(cursor, "a percentage", 100, &collection->percent);
}

/* Whether a single figure needs samples. Totals and means of counters need only their values at the
 * start and at the end. */
static bool needs_samples(const struct collection *collection)
{
    if (collect_is_series(collection->how) || measures[collection->what].kind == MEASURE_OF_PACKETS)
        return false;
    return !(measure_counts(collection->what) &&
             (collection->how == COLLECT_TOTAL || collection->how == COLLECT_MEAN ||
              collection->how == COLLECT_SUMMARY));
}

static void read_option(struct collection *collection, struct cursor *cursor)
{
    struct word word = cursor_next(cursor), name;
    unsigned index;
    cursor_take_choice(cursor, "option", options, OPTIONS, &index);
    if (index == 0 && !needs_samples(collection))
        word_error(cursor, &word, "'every' is for single figures that need samples");
    if (index == 0) {
        cursor_take_time(cursor, &collection->every);
    } else if (index < 3) {
        moment_take(cursor, index == 1 ? &collection->from : &collection->to);
    } else {
        cursor_take(cursor, "a name", &name);
        collection->name = name.text;
        collection->called = true;
    }
}

/* ---- names ---- */

static void put_name(struct text *name, const char *word)
{
    for (const char *at = word; *at; at++)
        text_putc(name, isspace((unsigned char)*at) ? '-' : *at);
}

/* WHAT[.PLACE][.KEY.VALUE …][.HOW] */
static const char *make_name(const struct collection *collection, const char *part_value,
                             struct arena *arena)
{
    struct text name = {0};
    char part[LOSS_NAME_BYTES];
    if (collection->what == MEASURE_LOST && collection->part != COLLECT_ANY)
        text_puts(&name, collect_loss_name(collection->part, part));
    else
        text_puts(&name, measures[collection->what].name);
    if (collection->what == MEASURE_SMPS && collection->part != COLLECT_ANY)
        text_puts(&name, collection->part == METHOD_GET ? ".get" : ".set");
    if (collection->place_word.text) {
        text_putc(&name, '.');
        put_name(&name, collection->place_word.text);
    }
    for (unsigned key = 0; key < PACKET_KEYS; key++) {
        const char *value = key == collection->by ? part_value : collection->limits[key].word.text;
        if (!value)
            continue;
        text_printf(&name, ".%s.", packet_key_names[key]);
        put_name(&name, value);
    }
    if (collection->how == COLLECT_PERCENTILE)
        text_printf(&name, ".p%g", collection->percent);
    else if (!collect_is_series(collection->how) && collection->how != COLLECT_SUMMARY)
        text_printf(&name, ".%s", hows[collection->how]);
    if (collection->by != PACKET_KEYS && !part_value) /* of the whole: no figure has this name */
        text_printf(&name, " by %s", packet_key_names[collection->by]);
    const char *kept = arena_strdup(arena, name.data);
    text_release(&name);
    return kept;
}

const char *collect_name_part(const struct collection *collection, const char *value,
                              struct arena *arena)
{
    struct text name = {0};
    if (!collection->called)
        return make_name(collection, value, arena);
    text_printf(&name, "%s.", collection->name);
    put_name(&name, value);
    const char *kept = arena_strdup(arena, name.data);
    text_release(&name);
    return kept;
}

/* ---- statements ---- */

static struct collection new_collection(const struct word *word)
{
    return (struct collection){.word = *word,
                               .from.ps = TIME_NEVER,
                               .to.ps = TIME_NEVER,
                               .node = TOPOLOGY_NONE,
                               .port = TOPOLOGY_NONE,
                               .vl = COLLECT_ANY,
                               .by = PACKET_KEYS};
}

void collect_read(struct collection *collection, struct cursor *cursor)
{
    *collection = new_collection(&cursor->words[0]);
    read_what(collection, cursor);
    read_places(collection, cursor);
    read_division(collection, cursor);
    read_how(collection, cursor);
    while (!cursor_is_done(cursor))
        read_option(collection, cursor);
    if (needs_samples(collection) && collection->every == 0)
        collection->every = SAMPLE_EVERY;
    if (collection->to.ps != TIME_NEVER && collection->from.ps != TIME_NEVER &&
        collection->to.settled == collection->from.settled &&
        collection->to.ps <= collection->from.ps)
        word_error(cursor, &collection->word, "the end is not after the beginning");
    if (!collection->name)
        collection->name = make_name(collection, NULL, cursor->arena);
}

void collect_read_samples(struct collection **collections, size_t *count, struct cursor *cursor)
{
    uint64_t every;
    *count = 0;
    *collections = arena_alloc(cursor->arena, cursor->count * sizeof **collections);
    cursor_take_time(cursor, &every);
    cursor_take_exact(cursor, "sample");
    do {
        struct word word = cursor_next(cursor);
        struct collection *one = &(*collections)[(*count)++];
        *one = new_collection(&word);
        one->how = COLLECT_SAMPLES;
        one->every = every;
        read_what(one, cursor);
        read_places(one, cursor);
        read_division(one, cursor);
        one->name = make_name(one, NULL, cursor->arena);
    } while (!cursor_is_done(cursor));
}

/* ---- places ---- */

/* The values of a key that the statement is limited to. */
static int bind_limit(struct collect_limit *limit, enum packet_key key,
                      const struct topology *topology, size_t traffic_count, struct cursor *cursor)
{
    uint64_t lowest = key == PACKET_TRAFFIC, highest = key == PACKET_TRAFFIC ? traffic_count
                                                       : key == PACKET_SL    ? 15
                                                                             : 14;
    struct named_place place;
    uint64_t number;
    if (key < PACKET_SENDER) {
        if (!parse_bounded(limit->word.text, lowest, highest, &number))
            return key == PACKET_TRAFFIC
                       ? word_error(cursor, &limit->word,
                                    "there are %zu 'traffic' statements, numbered from 1",
                                    traffic_count)
                       : word_error(cursor, &limit->word, "'%.80s': expected a number from 0 to %u",
                                    limit->word.text, (unsigned)highest);
        limit->first = limit->last = (uint32_t)(number - lowest);
        return 0;
    }
    int status = bind_place(&limit->word, topology, cursor, 1, &place);
    if (status)
        return status;
    const struct topology_node *node = &topology->nodes.items[place.node];
    limit->first = node->first_port;
    limit->last = node->first_port + node->port_count;
    if (node->kind == NODE_SWITCH)
        return word_error(cursor, &limit->word, "'%.80s' is a switch: %ss of packets are adapters",
                          limit->word.text, packet_key_names[key]);
    if (place.count > 0)
        status = bind_port_number(&limit->word, place.node, place.numbers[0], topology, cursor,
                                  &limit->first);
    if (place.count > 0)
        limit->last = limit->first;
    return status;
}

int collect_bind(struct collection *collection, const struct topology *topology,
                 size_t traffic_count, struct cursor *cursor)
{
    static const char *const places[] = {"a node", "a port", "a VL"};
    const struct measure_info *info = &measures[collection->what];
    const struct word *word = &collection->place_word;
    struct named_place place;
    collection->place = PLACE_FABRIC;
    for (unsigned key = 0; key < PACKET_KEYS; key++) {
        struct collect_limit *limit = &collection->limits[key];
        limit->last = UINT32_MAX;
        int bound = limit->word.text
                        ? bind_limit(limit, (enum packet_key)key, topology, traffic_count, cursor)
                        : 0;
        if (bound)
            return bound;
    }
    if (!word->text)
        return 0;
    int status = bind_place(word, topology, cursor, 2, &place);
    collection->node = place.node;
    collection->place = PLACE_NODE << place.count;
    if (status == 0 && place.count > 0)
        status = bind_port_number(word, place.node, place.numbers[0], topology, cursor,
                                  &collection->port);
    if (status)
        return status;
    if (place.count > 0 && place.numbers[0] == 0)
        return word_error(cursor, word, "port 0 carries no data");
    if (place.count > 1 && place.numbers[1] > 14)
        return word_error(cursor, word, "data VLs are 0 to 14");
    if (place.count > 1)
        collection->vl = (uint32_t)place.numbers[1];
    if (!(info->places & collection->place))
        return word_error(cursor, word, "there is no '%s' of %s", info->name, places[place.count]);
    return 0;
}
