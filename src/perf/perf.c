/* Rounds and their requests.
 *
 * A round is a queue of nodes. A node at the head of the queue gets the requests of its next port
 * and returns to the tail, so that consecutive requests go to different agents; a node with
 * NODE_WINDOW outstanding requests returns when one is answered. A slot reads one port, with one
 * request at a time: ClassPortInfo first if it is not known, then each attribute that the agent
 * has. Each transmission has a transaction ID of its own.
 *
 * Requests are paced. While the owner serves others (perf_yield()), the rate is only as high as the
 * round needs to end in nine tenths of the interval, but no pause outlasts a yield. */
#include "perf/perf.h"

#include "base/outstanding.h"
#include "base/pool.h"
#include "base/rate_limit.h"
#include "perf/agent.h"

#include <string.h>

enum {
    TRIES = 3,         /* of one request */
    SILENT_ROUNDS = 6, /* in which a node that does not answer is not read */
    ROUNDS_MISSED = 3, /* after which a difference is not a rate */
    NODE_WINDOW = 2,
    YIELD_WINDOW = 4,
};
static const uint64_t request_timeout = NS_PER_S;
static const uint64_t burst = NS_PER_MS;           /* pacing makes up for delays up to this */
static const uint64_t yield_time = 10 * NS_PER_MS; /* after the owner has served others */

struct perf_node {
    struct agent agent;
    uint64_t silent_until;    /* it did not answer; it is read again then */
    struct redirect redirect; /* where requests go; LID 0: to the node itself */
    uint8_t next_port, outstanding;
    bool queued;
};

struct slot {
    uint32_t next;       /* in the free list */
    uint32_t port;       /* of the subnet */
    uint8_t step, tries; /* the attribute to read; transmissions of this request */
    bool begun;          /* the reading of the port: the first values have arrived */
    struct redirect_trail trail;
};

struct perf {
    struct perf_config config;
    VEC(struct port_reading *) ports; /* NULL: never read */
    VEC(struct perf_node) nodes;
    VEC(uint32_t) queue; /* nodes of this round with ports to read */
    size_t queue_taken;
    POOL(struct slot) slots;
    VEC(uint32_t) unsent;    /* slots with a request to send */
    struct outstanding sent; /* the other slots in use */
    uint32_t transaction;    /* the last transaction ID */
    VEC(struct perf_finding) findings;
    bool in_round;
    uint64_t round_at;      /* when this round began */
    uint64_t next_round_at; /* when the next round begins, after the last port of this one */
    uint64_t round_ports, round_read;
    struct rate_flow pace; /* of requests */
    uint64_t yield_until;  /* the owner serves others */
    struct perf_counts counts;
};

void perf_config_init(struct perf_config *config)
{
    *config = (struct perf_config){.interval_ns = 30 * NS_PER_S, .window = 64, .rate = 100000};
    config->limits[COUNTER_SYMBOL_ERRORS] = 60;
    config->limits[COUNTER_LINK_ERROR_RECOVERIES] = 5;
    config->limits[COUNTER_LINK_DOWNED] = 5;
}

struct perf *perf_new(const struct perf_config *config)
{
    struct perf *perf = mem_zalloc(1, sizeof *perf);
    perf->config = *config;
    return perf;
}

void perf_reset(struct perf *perf)
{
    struct perf_config config = perf->config;
    struct perf_counts counts = perf->counts;
    uint32_t transaction = perf->transaction;
    counts.began_at = counts.duration_ns = counts.ports = 0;
    counts.silent_nodes = counts.stuck_ports = 0;
    for (size_t i = 0; i < perf->ports.count; i++)
        mem_free(perf->ports.items[i]);
    vec_release(&perf->ports);
    vec_release(&perf->nodes);
    vec_release(&perf->queue);
    pool_release(&perf->slots);
    vec_release(&perf->unsent);
    outstanding_release(&perf->sent);
    vec_release(&perf->findings);
    *perf = (struct perf){.config = config, .counts = counts, .transaction = transaction};
}

void perf_free(struct perf *perf)
{
    if (!perf)
        return;
    perf_reset(perf);
    mem_free(perf);
}

void perf_configure(struct perf *perf, const struct perf_config *config)
{
    perf->config = *config;
    perf->next_round_at = 0;
    if (!perf_is_on(perf))
        perf_reset(perf);
}

bool perf_is_on(const struct perf *perf)
{
    return perf->config.interval_ns != TIME_NEVER;
}

bool perf_has_begun(const struct perf *perf)
{
    return perf->round_at != 0;
}

void perf_yield(struct perf *perf, uint64_t now)
{
    perf->yield_until = now + yield_time;
}

const struct port_counters *perf_port_counters(const struct perf *perf, uint32_t port)
{
    return port < perf->ports.count && perf->ports.items[port] ? &perf->ports.items[port]->counters
                                                               : NULL;
}

const struct history *perf_port_history(const struct perf *perf, uint32_t port)
{
    return port < perf->ports.count && perf->ports.items[port] ? &perf->ports.items[port]->history
                                                               : NULL;
}

void perf_counts(const struct perf *perf, struct perf_counts *counts)
{
    *counts = perf->counts;
}

/* ---- readings ---- */

static struct port_reading *reading_of(struct perf *perf, uint32_t port)
{
    struct port_reading **reading = vec_at(&perf->ports, port);
    if (!*reading)
        *reading = mem_zalloc(1, sizeof **reading);
    return *reading;
}

static void take_values(struct perf *perf, struct slot *slot, struct perf_node *node,
                        const uint8_t *data, uint64_t now)
{
    struct port_counters *counters = &reading_of(perf, slot->port)->counters;
    bool was_stuck = counters->stuck != 0;
    if (!slot->begun)
        port_counters_begin(counters, now,
                            now - counters->read_at > ROUNDS_MISSED * perf->config.interval_ns);
    slot->begun = true;
    port_counters_take(counters, slot->step, data, node->agent.valid[slot->step]);
    perf->counts.stuck_ports += (uint64_t)(counters->stuck != 0) - (uint64_t)was_stuck;
}

static void end_reading(struct perf *perf, const struct slot *slot, const struct perf_node *node)
{
    struct port_reading *reading = reading_of(perf, slot->port);
    uint32_t errors[COUNTER_COUNT];
    uint64_t elapsed = 0;
    agent_end_reading(&node->agent, &reading->counters);
    perf->round_read++;
    uint64_t found = reading_end(reading, perf->config.limits, &elapsed, errors);
    for (unsigned i = 0; i < COUNTER_COUNT; i++)
        if (found >> i & 1)
            vec_push(&perf->findings,
                     ((struct perf_finding){slot->port, (enum port_counter)i, errors[i], elapsed,
                                            perf->config.limits[i]}));
}

/* ---- slots ---- */

static struct perf_node *node_of(struct perf *perf, const struct subnet *subnet, uint32_t port)
{
    return vec_at(&perf->nodes, subnet->ports.items[port].node);
}

static uint16_t lid_of_port(const struct subnet *subnet, uint32_t port)
{
    return subnet->ports.items[subnet_end_port(subnet, port)].lid;
}

static void queue_node(struct perf *perf, struct perf_node *node, uint32_t index, unsigned ports)
{
    if (node->queued || node->next_port > ports || node->outstanding >= NODE_WINDOW)
        return;
    node->queued = true;
    vec_push(&perf->queue, index);
}

/* The port of this slot is finished. */
static void finish_slot(struct perf *perf, uint32_t index, const struct subnet *subnet)
{
    uint32_t at = subnet->ports.items[perf->slots.items[index].port].node;
    struct perf_node *node = vec_at(&perf->nodes, at);
    pool_give(&perf->slots, index);
    node->outstanding--;
    queue_node(perf, node, at, subnet->nodes.items[at].port_count);
}

static void occupy_slot(struct perf *perf, const struct subnet *subnet, uint32_t port)
{
    struct perf_node *node = node_of(perf, subnet, port);
    uint32_t index = pool_take(&perf->slots);
    struct slot *slot = &perf->slots.items[index];
    *slot = (struct slot){.port = port, .step = (uint8_t)agent_first_step(&node->agent)};
    vec_push(&perf->unsent, index);
    struct redirect direct = redirect_to(lid_of_port(subnet, port), 0);
    redirect_begin(&slot->trail, node->redirect.lid ? &node->redirect : &direct);
    node->outstanding++;
}

static void write_request(struct perf *perf, const struct slot *slot, const struct subnet *subnet,
                          struct perf_request *result)
{
    static const struct {
        uint16_t attribute;
        enum wire_field port_select;
    } steps[] = {
        [SET_BASIC] = {ATTRIBUTE_PORT_COUNTERS, PORT_COUNTERS_PORT_SELECT},
        [SET_EXTENDED] = {ATTRIBUTE_PORT_COUNTERS_EXT, PORT_COUNTERS_EXT_PORT_SELECT},
        [SET_ERROR_DETAILS] = {ATTRIBUTE_PORT_RCV_ERROR_DETAILS,
                               PORT_RCV_ERROR_DETAILS_PORT_SELECT},
        [STEP_CLASS_INFO] = {ATTRIBUTE_CLASS_PORT_INFO, 0},
    };
    const struct perf_node *node = node_of(perf, subnet, slot->port);
    *result = (struct perf_request){.to = *redirect_target(&slot->trail),
                                    .redirected = slot->trail.count > 1 || node->redirect.lid,
                                    .timeout_ns = request_timeout};
    wire_set(result->mad, MAD_BASE_VERSION, 1);
    wire_set(result->mad, MAD_CLASS, CLASS_PERFORMANCE);
    wire_set(result->mad, MAD_CLASS_VERSION, 1);
    wire_set(result->mad, MAD_METHOD, METHOD_GET);
    wire_set(result->mad, MAD_TID, perf->transaction);
    wire_set(result->mad, MAD_ATTRIBUTE_ID, steps[slot->step].attribute);
    if (slot->step != STEP_CLASS_INFO)
        wire_set(result->mad + GMP_DATA_OFFSET, steps[slot->step].port_select,
                 subnet->ports.items[slot->port].number);
}

/* ---- rounds ---- */

bool perf_reads_port(const struct perf *perf, const struct subnet *subnet, uint32_t port)
{
    const struct subnet_port *p = &subnet->ports.items[port];
    const struct subnet_node *node = &subnet->nodes.items[p->node];
    return node->present && !node->vswitch && !node->virtual_function && p->number &&
           !(perf->config.ignore_adapters && node->kind != SUBNET_SWITCH) &&
           p->peer != SUBNET_NONE && p->known &&
           wire_get(p->info, PORT_INFO_PORT_STATE) == PORT_STATE_ACTIVE &&
           lid_of_port(subnet, port);
}

/* The capabilities of a node that left are read again: it may return with other firmware. */
static void begin_round(struct perf *perf, uint64_t now, const struct subnet *subnet)
{
    perf->in_round = true;
    perf->round_at = now;
    perf->next_round_at = now + perf->config.interval_ns;
    perf->round_ports = perf->round_read = 0;
    perf->counts.silent_nodes = 0;
    perf->queue.count = perf->queue_taken = 0;
    for (uint32_t i = 0; i < subnet->nodes.count; i++) {
        const struct subnet_node *of = &subnet->nodes.items[i];
        struct perf_node *node = vec_at(&perf->nodes, i);
        if (!of->present)
            node->agent = (struct agent){0};
        node->next_port = 1;
        node->queued = false;
        perf->round_ports += of->present ? of->port_count : 0;
        if (of->present && node->silent_until <= now)
            queue_node(perf, node, i, of->port_count);
        perf->counts.silent_nodes += of->present && node->silent_until > now;
    }
}

/* Occupies a slot for the next port of this round; false: there is none now. */
static bool start_next_port(struct perf *perf, uint64_t now, const struct subnet *subnet)
{
    while (perf->queue_taken < perf->queue.count) {
        uint32_t at = perf->queue.items[perf->queue_taken++];
        const struct subnet_node *of = &subnet->nodes.items[at];
        struct perf_node *node = vec_at(&perf->nodes, at);
        perf->queue_taken = vec_drop_taken(&perf->queue, perf->queue_taken);
        node->queued = false;
        if (node->silent_until > now)
            continue;
        while (node->next_port <= of->port_count &&
               !perf_reads_port(perf, subnet, of->first_port + node->next_port))
            node->next_port++;
        if (node->next_port > of->port_count)
            continue;
        occupy_slot(perf, subnet, of->first_port + node->next_port++);
        if (node->agent.known)
            queue_node(perf, node, at, of->port_count);
        return true;
    }
    return false;
}

/* A node that does not answer is not read for SILENT_ROUNDS rounds, so that it does not delay
 * others. */
static void silence_node(struct perf *perf, uint64_t now, struct perf_node *node)
{
    node->silent_until = now + SILENT_ROUNDS * perf->config.interval_ns;
    node->agent = (struct agent){0};
    node->redirect = (struct redirect){0};
}

static void expire_requests(struct perf *perf, uint64_t now, const struct subnet *subnet)
{
    uint32_t index;
    while ((index = outstanding_expire(&perf->sent, now)) != OUTSTANDING_NONE) {
        struct slot *slot = &perf->slots.items[index];
        perf->counts.timeouts++;
        if (slot->tries < TRIES) {
            vec_push(&perf->unsent, index);
            continue;
        }
        struct perf_node *node = node_of(perf, subnet, slot->port);
        if (slot->step == SET_ERROR_DETAILS) { /* some agents do not refuse what they lack */
            node->agent.details = SUPPORT_NO;
            end_reading(perf, slot, node);
        } else {
            silence_node(perf, now, node);
        }
        finish_slot(perf, index, subnet);
    }
}

/* ---- pacing ---- */

static uint64_t gap_between_requests(const struct perf *perf, uint64_t now)
{
    uint64_t gap = NS_PER_S / perf->config.rate;
    uint64_t slow = perf->config.interval_ns / 10 * 9 / (perf->round_ports ? perf->round_ports : 1);
    if (slow > yield_time)
        slow = yield_time;
    return now < perf->yield_until && slow > gap ? slow : gap;
}

static uint32_t window_now(const struct perf *perf, uint64_t now)
{
    uint32_t window = perf->config.window;
    return now < perf->yield_until && window > YIELD_WINDOW ? YIELD_WINDOW : window;
}

bool perf_next_request(struct perf *perf, uint64_t now, const struct subnet *subnet,
                       struct perf_request *result)
{
    if (!perf_is_on(perf))
        return false;
    expire_requests(perf, now, subnet);
    if (!perf->in_round && now >= perf->next_round_at)
        begin_round(perf, now, subnet);
    if (!perf->in_round || !rate_flow_is_open(&perf->pace, now))
        return false;
    if (!perf->unsent.count && perf->sent.count < window_now(perf, now))
        start_next_port(perf, now, subnet);
    if (!perf->unsent.count) {
        if (!perf->sent.count && perf->queue_taken == perf->queue.count) {
            perf->in_round = false;
            perf->counts.rounds++;
            perf->counts.began_at = perf->round_at;
            perf->counts.duration_ns = now - perf->round_at;
            perf->counts.ports = perf->round_read;
        }
        return false;
    }
    uint64_t gap = gap_between_requests(perf, now);
    rate_flow_add(&perf->pace, now, gap, gap > burst ? 0 : burst);
    perf->counts.requests++;
    uint32_t index = perf->unsent.items[--perf->unsent.count];
    perf->slots.items[index].tries++;
    outstanding_add(&perf->sent, index, ++perf->transaction, now + request_timeout);
    write_request(perf, &perf->slots.items[index], subnet, result);
    return true;
}

uint64_t perf_deadline(const struct perf *perf)
{
    if (!perf_is_on(perf))
        return TIME_NEVER;
    if (!perf->in_round)
        return perf->next_round_at;
    uint64_t expiry = outstanding_deadline(&perf->sent), next = rate_flow_next(&perf->pace);
    bool more = perf->unsent.count || perf->queue_taken < perf->queue.count || !perf->sent.count;
    bool room = perf->unsent.count || perf->sent.count < window_now(perf, next);
    return more && room && next < expiry ? next : expiry;
}

/* ---- responses ---- */

/* Follows a redirection, which holds for further requests to the node if it has one address. */
static bool follow(struct perf_node *node, struct slot *slot, const struct subnet_node *of,
                   const uint8_t *mad)
{
    bool follows = redirect_follow(&slot->trail, mad, MAD_BYTES, GMP_DATA_OFFSET, NULL) == 0;
    bool one = of->kind == SUBNET_SWITCH || of->port_count == 1;
    node->redirect = follows && one ? *redirect_target(&slot->trail) : (struct redirect){0};
    return follows;
}

/* Whether the slot has another request: to another address, or for other data. */
static bool continue_reading(struct perf *perf, uint64_t now, struct slot *slot,
                             const struct subnet *subnet, const uint8_t *mad)
{
    struct perf_node *node = node_of(perf, subnet, slot->port);
    uint64_t status = wire_get(mad, MAD_STATUS);
    const uint8_t *data = mad + GMP_DATA_OFFSET;
    bool answered = status == STATUS_OK;
    if (status & STATUS_REDIRECT)
        return follow(node, slot, &subnet->nodes.items[subnet->ports.items[slot->port].node], mad);
    if (status & STATUS_BUSY)
        return false; /* the next round reads it */
    if (slot->step == STEP_CLASS_INFO) {
        agent_learn(&node->agent, answered ? data : NULL);
    } else if (answered) {
        take_values(perf, slot, node, data, now);
    } else if (slot->step != SET_ERROR_DETAILS) {
        silence_node(perf, now, node);
        return false;
    }
    if (slot->step == SET_ERROR_DETAILS)
        node->agent.details = answered ? SUPPORT_YES : SUPPORT_NO;
    slot->step =
        (uint8_t)agent_next_step(&node->agent, slot->step, &reading_of(perf, slot->port)->counters);
    if (slot->step != STEP_NONE)
        return true;
    end_reading(perf, slot, node);
    return false;
}

void perf_receive(struct perf *perf, uint64_t now, const struct subnet *subnet,
                  const uint8_t mad[MAD_BYTES])
{
    /* The kernel uses the upper half of the transaction ID. */
    uint32_t index = outstanding_find(&perf->sent, (uint32_t)wire_get(mad, MAD_TID));
    if (wire_get(mad, MAD_CLASS) != CLASS_PERFORMANCE || !mad_is_response(mad) ||
        index == OUTSTANDING_NONE)
        return;
    struct slot *slot = &perf->slots.items[index];
    outstanding_remove(&perf->sent, index);
    perf->counts.responses++;
    if (continue_reading(perf, now, slot, subnet, mad)) {
        slot->tries = 0;
        vec_push(&perf->unsent, index);
    } else {
        finish_slot(perf, index, subnet);
    }
}

bool perf_next_finding(struct perf *perf, struct perf_finding *finding)
{
    if (!perf->findings.count)
        return false;
    *finding = perf->findings.items[0];
    vec_remove(&perf->findings, 0);
    return true;
}
