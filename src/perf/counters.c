#include "perf/counters.h"

#include "base/mem.h"

#include <string.h>

enum {
    OUTSTANDING_MOST = 8,
    TRIES = 2,         /* of one request */
    SILENT_ROUNDS = 6, /* in which a node that does not answer is not read */
};
static const uint64_t request_timeout = NS_PER_S;
static const uint64_t minute = 60 * NS_PER_S;

/* ClassPortInfo.CapabilityMask2: PortCountersExtended has error counters. */
enum { CAPABILITY2_EXTENDED_ERRORS = 1 << 1 };
#define Q_KEY_GENERAL UINT32_C(0x80010000)

static const struct {
    const char *name;
    enum wire_field basic, extended;
    uint8_t select_bit; /* of PortCounters.CounterSelect */
} counters[ERROR_COUNTERS] = {
    [ERROR_SYMBOL] = {"symbol errors", PORT_COUNTERS_SYMBOL_ERRORS, PORT_COUNTERS_EXT_SYMBOL_ERRORS,
                      0},
    [ERROR_LINK_RECOVERY] = {"link error recoveries", PORT_COUNTERS_LINK_ERROR_RECOVERIES,
                             PORT_COUNTERS_EXT_LINK_ERROR_RECOVERIES, 1},
    [ERROR_LINK_DOWNED] = {"losses of the link", PORT_COUNTERS_LINK_DOWNED,
                           PORT_COUNTERS_EXT_LINK_DOWNED, 2},
};

/* What the last readings of a port returned. */
struct port_reading {
    uint64_t read_at; /* 0: it was not read yet */
    uint64_t values[ERROR_COUNTERS];
    uint64_t since; /* the errors below were counted since then */
    uint64_t errors[ERROR_COUNTERS];
};

/* Which set of counters a node has. */
enum counter_set { SET_UNKNOWN, SET_BASIC, SET_EXTENDED };
struct node_reading {
    enum counter_set set;
    uint64_t silent_until; /* it did not answer; it is read again then */
};

struct outstanding {
    uint32_t transaction;
    uint32_t port;
    enum counter_set set; /* to read or clear; SET_UNKNOWN: read ClassPortInfo */
    unsigned clear;       /* counters to clear, by bit; 0: read */
    unsigned tries;       /* requests sent */
    uint64_t until;       /* time-out; 0: it is to be sent */
    struct redirect_trail trail;
};

struct counter_reader {
    struct counter_config config;
    VEC(struct port_reading) ports;
    VEC(struct node_reading) nodes;
    VEC(struct outstanding) outstanding;
    VEC(struct counter_finding) findings;
    uint32_t transaction;   /* the last one */
    uint32_t next_port;     /* of this round */
    uint64_t next_round_at; /* when the next round begins, after the last port of this one */
    bool in_round;
};

const char *error_counter_name(enum error_counter counter)
{
    return counters[counter].name;
}

struct counter_reader *counter_reader_new(const struct counter_config *config)
{
    struct counter_reader *reader = mem_zalloc(1, sizeof *reader);
    reader->config = *config;
    return reader;
}

void counter_reader_reset(struct counter_reader *reader)
{
    struct counter_config config = reader->config;
    uint32_t transaction = reader->transaction;
    vec_release(&reader->ports);
    vec_release(&reader->nodes);
    vec_release(&reader->outstanding);
    vec_release(&reader->findings);
    *reader = (struct counter_reader){.config = config, .transaction = transaction};
}

void counter_reader_free(struct counter_reader *reader)
{
    if (!reader)
        return;
    counter_reader_reset(reader);
    mem_free(reader);
}

void counter_reader_configure(struct counter_reader *reader, const struct counter_config *config)
{
    reader->config = *config;
    reader->next_round_at = 0;
}

/* ---- readings ---- */

static uint64_t largest_value(enum wire_field field)
{
    unsigned width = wire_fields[field].width;
    return width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* Adds what was counted since the last reading, and looks for findings. A limit is for one minute:
 * a few errors in a shorter time are not a high rate. */
static void judge_reading(struct counter_reader *reader, uint32_t port,
                          const uint64_t values[ERROR_COUNTERS], uint64_t now)
{
    struct port_reading *reading = vec_at(&reader->ports, port);
    uint64_t elapsed = now - reading->since, time = elapsed > minute ? elapsed : minute;
    bool found = false;
    for (unsigned i = 0; i < ERROR_COUNTERS; i++) {
        uint64_t before = reading->values[i], limit = reader->config.limits[i];
        reading->errors[i] += values[i] >= before ? values[i] - before : values[i];
        if (!limit || reading->errors[i] <= limit * (time / NS_PER_MS) / (minute / NS_PER_MS))
            continue;
        found = true;
        vec_push(&reader->findings,
                 ((struct counter_finding){port, (enum error_counter)i, reading->errors[i], elapsed,
                                           (uint32_t)limit}));
    }
    if (found || elapsed >= minute) {
        reading->since = now;
        memset(reading->errors, 0, sizeof reading->errors);
    }
}

/* Takes the values of a port. Returns the counters that are at their largest value, by bit. */
static unsigned take_values(struct counter_reader *reader, const struct outstanding *request,
                            const uint8_t *data, uint64_t now)
{
    enum { ROUNDS_MISSED = 3 };
    struct port_reading *reading = vec_at(&reader->ports, request->port);
    uint64_t values[ERROR_COUNTERS];
    unsigned full = 0;
    bool extended = request->set == SET_EXTENDED;
    for (unsigned i = 0; i < ERROR_COUNTERS; i++) {
        enum wire_field field = extended ? counters[i].extended : counters[i].basic;
        values[i] = wire_get(data, field);
        full |= (unsigned)(!extended && values[i] == largest_value(field)) << i;
    }
    /* After a long interval, in which the link may have been down, the difference is not a rate. */
    bool first =
        !reading->read_at || now - reading->read_at > ROUNDS_MISSED * reader->config.interval_ns;
    if (first)
        *reading = (struct port_reading){.since = now};
    else
        judge_reading(reader, request->port, values, now);
    reading->read_at = now;
    memcpy(reading->values, values, sizeof values);
    return full;
}

/* ---- requests ---- */

static const struct subnet_node *node_of_port(const struct subnet *subnet, uint32_t port)
{
    return &subnet->nodes.items[subnet->ports.items[port].node];
}

static uint16_t lid_of_port(const struct subnet *subnet, uint32_t port)
{
    return subnet->ports.items[subnet_end_port(subnet, port)].lid;
}

static bool is_to_be_read(struct counter_reader *reader, uint64_t now, const struct subnet *subnet,
                          uint32_t port)
{
    const struct subnet_port *p = &subnet->ports.items[port];
    const struct subnet_node *node = node_of_port(subnet, port);
    return node->present && !node->vswitch && !node->virtual_function && p->number &&
           p->peer != SUBNET_NONE && p->known &&
           wire_get(p->info, PORT_INFO_PORT_STATE) == PORT_STATE_ACTIVE &&
           lid_of_port(subnet, port) && vec_at(&reader->nodes, p->node)->silent_until <= now;
}

static void add_request(struct counter_reader *reader, const struct subnet *subnet, uint32_t port,
                        enum counter_set set, unsigned clear)
{
    struct outstanding request = {
        .transaction = ++reader->transaction, .port = port, .set = set, .clear = clear};
    redirect_begin(&request.trail, &(struct redirect){.lid = lid_of_port(subnet, port),
                                                      .p_key = 0xFFFF,
                                                      .qp = 1,
                                                      .q_key = Q_KEY_GENERAL});
    vec_push(&reader->outstanding, request);
}

static void write_request(const struct outstanding *request, unsigned number,
                          struct counter_request *result)
{
    uint8_t *data = result->mad + GMP_DATA_OFFSET;
    bool extended = request->set == SET_EXTENDED;
    *result = (struct counter_request){.to = *redirect_target(&request->trail),
                                       .redirected = request->trail.count > 1,
                                       .timeout_ns = request_timeout};
    wire_set(result->mad, MAD_BASE_VERSION, 1);
    wire_set(result->mad, MAD_CLASS, CLASS_PERFORMANCE);
    wire_set(result->mad, MAD_CLASS_VERSION, 1);
    wire_set(result->mad, MAD_METHOD, request->clear ? METHOD_SET : METHOD_GET);
    wire_set(result->mad, MAD_TID, request->transaction);
    wire_set(result->mad, MAD_ATTRIBUTE_ID,
             request->set == SET_UNKNOWN ? ATTRIBUTE_CLASS_PORT_INFO
             : extended                  ? ATTRIBUTE_PORT_COUNTERS_EXT
                                         : ATTRIBUTE_PORT_COUNTERS);
    if (request->set == SET_UNKNOWN)
        return;
    wire_set(data, extended ? PORT_COUNTERS_EXT_PORT_SELECT : PORT_COUNTERS_PORT_SELECT, number);
    for (unsigned i = 0; i < ERROR_COUNTERS; i++)
        if (request->clear >> i & 1)
            wire_set(data, PORT_COUNTERS_COUNTER_SELECT,
                     wire_get(data, PORT_COUNTERS_COUNTER_SELECT) | 1u << counters[i].select_bit);
}

/* Adds the request for the next port of this round; false: the round is over. */
static bool read_next_port(struct counter_reader *reader, uint64_t now, const struct subnet *subnet)
{
    for (; reader->next_port < subnet->ports.count; reader->next_port++) {
        uint32_t port = reader->next_port;
        if (!is_to_be_read(reader, now, subnet, port))
            continue;
        struct node_reading *node = vec_at(&reader->nodes, subnet->ports.items[port].node);
        reader->next_port++;
        add_request(reader, subnet, port, node->set, 0);
        return true;
    }
    reader->in_round = false;
    return false;
}

/* Removes requests that have timed out too often. A node that does not answer is not read for
 * SILENT_ROUNDS rounds, so that it does not delay others. */
static void expire_requests(struct counter_reader *reader, uint64_t now,
                            const struct subnet *subnet)
{
    for (size_t i = reader->outstanding.count; i-- > 0;) {
        struct outstanding *request = &reader->outstanding.items[i];
        if (request->until > now)
            continue;
        request->until = 0;
        if (request->tries < TRIES)
            continue;
        vec_at(&reader->nodes, subnet->ports.items[request->port].node)->silent_until =
            now + SILENT_ROUNDS * reader->config.interval_ns;
        vec_remove(&reader->outstanding, i);
    }
}

bool counter_reader_next_request(struct counter_reader *reader, uint64_t now,
                                 const struct subnet *subnet, struct counter_request *result)
{
    if (reader->config.interval_ns == TIME_NEVER)
        return false;
    expire_requests(reader, now, subnet);
    if (!reader->in_round && now >= reader->next_round_at) {
        reader->in_round = true;
        reader->next_port = 0;
        reader->next_round_at = now + reader->config.interval_ns;
    }
    for (;;) {
        for (size_t i = 0; i < reader->outstanding.count; i++) {
            struct outstanding *request = &reader->outstanding.items[i];
            if (request->until)
                continue;
            request->tries++;
            request->until = now + request_timeout;
            write_request(request, subnet->ports.items[request->port].number, result);
            return true;
        }
        if (reader->outstanding.count >= OUTSTANDING_MOST || !reader->in_round ||
            !read_next_port(reader, now, subnet))
            return false;
    }
}

uint64_t counter_reader_deadline(const struct counter_reader *reader)
{
    uint64_t deadline = reader->in_round ? TIME_NEVER : reader->next_round_at;
    if (reader->config.interval_ns == TIME_NEVER)
        return TIME_NEVER;
    if (reader->in_round && reader->outstanding.count < OUTSTANDING_MOST)
        return 0;
    for (size_t i = 0; i < reader->outstanding.count; i++)
        if (reader->outstanding.items[i].until < deadline)
            deadline = reader->outstanding.items[i].until;
    return deadline;
}

/* ---- responses ---- */

/* Whether the request at this place has to be sent again, to another address or for other data. */
static bool continue_request(struct counter_reader *reader, uint64_t now, size_t index,
                             const struct subnet *subnet, const uint8_t *mad)
{
    struct outstanding *request = &reader->outstanding.items[index];
    struct node_reading *node = vec_at(&reader->nodes, subnet->ports.items[request->port].node);
    uint64_t status = wire_get(mad, MAD_STATUS);
    const uint8_t *data = mad + GMP_DATA_OFFSET;
    if (status & STATUS_REDIRECT)
        return redirect_follow(&request->trail, mad, MAD_BYTES, GMP_DATA_OFFSET, NULL) == 0;
    if (status & STATUS_BUSY)
        return false;                  /* the next round reads it */
    if (request->set == SET_UNKNOWN) { /* an agent without ClassPortInfo may have counters */
        bool extended = status == STATUS_OK && (wire_get(data, CLASS_PORT_INFO_CAPABILITY_MASK2) &
                                                CAPABILITY2_EXTENDED_ERRORS);
        request->set = node->set = extended ? SET_EXTENDED : SET_BASIC;
        return true;
    }
    if (request->clear) {
        for (unsigned i = 0; i < ERROR_COUNTERS && status == STATUS_OK; i++)
            if (request->clear >> i & 1)
                vec_at(&reader->ports, request->port)->values[i] = 0;
        return false;
    }
    if (status != STATUS_OK) {
        *node =
            (struct node_reading){.silent_until = now + SILENT_ROUNDS * reader->config.interval_ns};
        return false;
    }
    request->clear = take_values(reader, request, data, now);
    return request->clear != 0;
}

void counter_reader_receive(struct counter_reader *reader, uint64_t now,
                            const struct subnet *subnet, const uint8_t mad[MAD_BYTES])
{
    /* The kernel uses the upper half of the transaction ID. */
    uint32_t transaction = (uint32_t)wire_get(mad, MAD_TID);
    if (wire_get(mad, MAD_CLASS) != CLASS_PERFORMANCE || !mad_is_response(mad))
        return;
    for (size_t i = 0; i < reader->outstanding.count; i++) {
        struct outstanding *request = &reader->outstanding.items[i];
        if (request->transaction != transaction || !request->until)
            continue;
        bool again = continue_request(reader, now, i, subnet, mad);
        request->transaction = ++reader->transaction;
        request->until = 0;
        request->tries = 0;
        if (!again)
            vec_remove(&reader->outstanding, i);
        return;
    }
}

bool counter_reader_next_finding(struct counter_reader *reader, struct counter_finding *finding)
{
    if (!reader->findings.count)
        return false;
    *finding = reader->findings.items[0];
    vec_remove(&reader->findings, 0);
    return true;
}
