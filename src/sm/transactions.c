/* One bounded window of outstanding SMPs.
 *
 * Requests wait in a queue for each priority. The window grows by one for every full window of
 * answers (by one for each answer until the first loss), and halves after a loss, at most once in a
 * time-out. An unanswered request is sent again, each time with twice the time-out, and then given
 * up. A node that has not answered is late: it gets no further request while one is outstanding;
 * those are outside the window, and their time-outs do not shrink it. Once it is silent
 * (faults/timeouts.c), each request gets one try, and discovery does not wait for it, unless other
 * nodes answer repeated requests only (loses_some()). When a link is found to be down, requests
 * that were sent over it do not wait for their time-out: they are sent by another path at once, or
 * given up if there is none.
 *
 * Each request has another transaction ID, so that late or duplicate answers are ignored. Any host
 * can send an answer, and nothing shows that an answer by a directed route comes from the port that
 * was asked. So the IDs are pseudo-random, with a key that no other process knows: a host that sees
 * the IDs of requests to its own port cannot guess those of others. */
#include "sm/transactions.h"
#include "base/outstanding.h"
#include "base/pool.h"
#include "sm/debug.h"
#include "sm/faults/faults.h"
#include "sm/guard/examine.h"
#include "sm/guard/peers.h"
#include "sm/guard/port_keys.h"
#include "sm/internal.h"
#include "sm/mastership/neighbor.h"
#include "sm/mastership/standby_copy.h"
#include "sm/reconfigure.h"

#include <nettle/sha2.h>
#include <string.h>

enum { IDS_AT_ONCE = SHA256_DIGEST_SIZE / 4 };
enum { WINDOW_UNIT = 256, WINDOW_START = 16 * WINDOW_UNIT, TIMEOUTS_SUSPECT = 4 };

struct request_queue {
    uint32_t head, tail, count;
};

struct transactions {
    POOL(struct request) requests;
    struct request_queue queues[PRIORITY_COUNT];
    struct request_queue parked;     /* until the one request to a late node has ended */
    uint32_t under_way[GROUP_COUNT]; /* queued or outstanding */
    struct outstanding sent;         /* slots, by transaction ID */
    uint32_t aside;                  /* of these, not in the window */
    uint64_t ids_made;
    uint8_t ids[SHA256_DIGEST_SIZE]; /* the next IDs */
    uint32_t window_256;             /* in 1/256 SMPs */
    uint64_t shrunk_at;
    uint32_t timeouts;    /* time-outs since the last answer */
    uint64_t repeated_at; /* an answer to a request that had been sent again; 0: none yet */
    bool dropped;         /* see transactions_have_dropped() */
    struct sm_counts counts;
};

static void init_transactions(struct sm *sm)
{
    sm->transactions->window_256 = WINDOW_START;
}

static void release_transactions(struct sm *sm)
{
    pool_release(&sm->transactions->requests);
    outstanding_release(&sm->transactions->sent);
}

struct request *sm_request(struct sm *sm, const struct request_kind *kind,
                           union request_subject about, uint32_t target)
{
    struct transactions *t = sm->transactions;
    uint32_t slot = pool_take(&t->requests);
    struct request *request = &t->requests.items[slot];
    assert(kind->answered && kind->group < GROUP_COUNT);
    t->under_way[kind->group]++;
    *request = (struct request){.kind = kind,
                                .about = about,
                                .target = target,
                                .through = SUBNET_NONE,
                                .group = kind->group};
    return request;
}

static void enqueue(struct transactions *t, struct request_queue *queue, uint32_t slot)
{
    t->requests.items[slot].next = SUBNET_NONE;
    if (queue->count++)
        t->requests.items[queue->tail].next = slot;
    else
        queue->head = slot;
    queue->tail = slot;
}

static uint32_t dequeue(struct transactions *t, struct request_queue *queue)
{
    if (!queue->count)
        return SUBNET_NONE;
    uint32_t slot = queue->head;
    queue->head = t->requests.items[slot].next;
    queue->count--;
    return slot;
}

/* Without any time-out so far, no node is late. */
static bool has_lost(const struct sm *sm)
{
    return sm->transactions->counts.timeouts != 0;
}

/* Requests are answered when they are sent again: SMPs get lost, and a node that is late may be
 * well. Then every request gets all its tries, and discovery waits for them. */
static bool loses_some(const struct sm *sm)
{
    uint64_t at = sm->transactions->repeated_at;
    return at && sm->now - at < 10 * NS_PER_S;
}

/* Discovery does not wait for silent nodes. That of a manager that takes over does not wait long
 * for any node: a late answer is a change. It waits for managers, one of which may be master. */
static void regroup(struct sm *sm, struct request *request)
{
    if (!has_lost(sm) || loses_some(sm) || request->group != GROUP_DISCOVERY ||
        request->kind->attribute == ATTRIBUTE_SM_INFO ||
        !(faults_is_silent(sm, request) ||
          faults_is_missing(sm, request, standby_copy_patience_ns(sm))))
        return;
    sm->transactions->under_way[GROUP_DISCOVERY]--;
    sm->transactions->under_way[GROUP_OTHER]++;
    request->group = GROUP_OTHER;
}

void sm_submit(struct sm *sm, struct request *request, enum request_priority priority)
{
    struct transactions *t = sm->transactions;
    uint32_t slot = (uint32_t)(request - t->requests.items);
    assert(slot < t->requests.count && priority < PRIORITY_COUNT);
    assert(!outstanding_has(&t->sent, slot));
    request->priority = (uint8_t)priority;
    if (request->kind->attribute == ATTRIBUTE_SM_INFO)
        peers_seal_request(sm, request);
    regroup(sm, request);
    if (request->kind->writes && request->kind->attribute != ATTRIBUTE_SM_INFO)
        standby_copy_begin_change(sm); /* may reallocate `requests` */
    enqueue(t, &t->queues[priority], slot);
}

void sm_send(struct sm *sm, const struct request_kind *kind, union request_subject about,
             uint32_t target, uint32_t modifier, const uint8_t *data)
{
    struct request *request = sm_request(sm, kind, about, target);
    request->modifier = modifier;
    if (data)
        memcpy(request->data, data, SMP_DATA_BYTES);
    sm_submit(sm, request, PRIORITY_NONE);
}

static void retire(struct transactions *t, uint32_t slot)
{
    struct request *request = &t->requests.items[slot];
    assert(t->under_way[request->group]);
    t->under_way[request->group]--;
    pool_give(&t->requests, slot);
}

static void count_sent(struct sm *sm, const struct request_kind *kind)
{
    struct sm_counts *counts = &sm->transactions->counts;
    counts->sent++;
    ++*(kind->writes ? &counts->sets : &counts->gets);
    switch (kind->attribute) {
    case ATTRIBUTE_NODE_INFO: counts->node_info++; break;
    case ATTRIBUTE_PORT_INFO:
        ++*(kind->writes ? &counts->port_info_set : &counts->port_info_get);
        break;
    case ATTRIBUTE_SWITCH_INFO: counts->switch_info++; break;
    case ATTRIBUTE_LINEAR_FORWARDING_TABLE:
    case ATTRIBUTE_RANDOM_FORWARDING_TABLE:
        counts->tables++;
        counts->tables_read += !kind->writes;
        break;
    case ATTRIBUTE_VIRTUAL_FUNCTION: counts->functions++; break;
    default: counts->other++;
    }
}

/* Routes by LID to the last switch before the target, which then needs one directed hop. Retries
 * and immediate requests, which examine links, use the directed route. */
static void route_by_lid(const struct sm *sm, const struct request *request, unsigned hops,
                         struct sm_message *message)
{
    const struct subnet_port *ports = sm->subnet.ports.items;
    if (!sm->config.lid_route || request->tries || request->priority == PRIORITY_IMMEDIATE ||
        hops < 2 || !reconfigure_is_at_rest(sm))
        return;
    uint32_t out = request->through != SUBNET_NONE ? request->through : ports[request->target].via;
    const struct subnet_port *from = &ports[subnet_end_port(&sm->subnet, out)];
    const struct subnet_port *own = &ports[sm->subnet.own_port];
    if (!from->lid || wire_get(from->info, PORT_INFO_LID) != from->lid ||
        wire_get(own->info, PORT_INFO_LID) != own->lid)
        return;
    wire_set_at(message->mad, SMP_INITIAL_PATH, 1, ports[out].number);
    wire_set(message->mad, SMP_HOP_COUNT, 1);
    wire_set(message->mad, SMP_DR_SLID, own->lid);
    message->lid = from->lid;
}

/* Puts the directed route to the target; false: there is no path. */
static bool put_route(struct sm *sm, const struct request *request, struct sm_message *message)
{
    uint8_t *mad = message->mad;
    int hops = 0;
    if (request->target != SUBNET_NONE) {
        hops = subnet_route(&sm->subnet, request->target, wire_bytes(mad, SMP_INITIAL_PATH));
        if (hops < 0)
            return false;
    }
    if (request->through != SUBNET_NONE) {
        if (hops >= SMP_MAX_HOPS)
            return false;
        wire_bytes(mad, SMP_INITIAL_PATH)[++hops] = port_at(sm, request->through)->number;
    }
    wire_set(mad, SMP_HOP_COUNT, (unsigned)hops);
    wire_set(mad, SMP_DR_SLID, LID_PERMISSIVE);
    wire_set(mad, SMP_DR_DLID, LID_PERMISSIVE);
    route_by_lid(sm, request, (unsigned)hops, message);
    return true;
}

/* False: there is no path to the target. */
static bool build_mad(struct sm *sm, const struct request *request, struct sm_message *message)
{
    uint8_t *mad = message->mad;
    uint64_t m_key = 0;
    uint16_t lid = neighbor_lid(sm, request, &m_key);
    memset(mad, 0, MAD_BYTES);
    message->lid = lid ? lid : LID_PERMISSIVE;
    message->sl = 0;
    if (!lid && !put_route(sm, request, message))
        return false;
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, lid ? CLASS_SUBN_LID : CLASS_SUBN_DIRECTED);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, request->kind->writes ? METHOD_SET : METHOD_GET);
    wire_set(mad, MAD_TID, request->id); /* the kernel uses the upper half */
    wire_set(mad, MAD_ATTRIBUTE_ID, request->kind->attribute);
    wire_set(mad, MAD_ATTRIBUTE_MODIFIER, request->modifier);
    wire_set(mad, SMP_M_KEY, lid ? m_key : port_keys_for_request(sm, request));
    memcpy(mad + SMP_DATA_OFFSET, request->data, SMP_DATA_BYTES);
    return true;
}

static uint32_t dequeue_next(struct sm *sm)
{
    struct transactions *t = sm->transactions;
    uint32_t slot = dequeue(t, &t->queues[PRIORITY_IMMEDIATE]);
    if (slot != SUBNET_NONE || sm_own_link_is_down(sm) ||
        (t->sent.count - t->aside >= t->window_256 / WINDOW_UNIT && !sm->config.policy->no_window))
        return slot;
    slot = dequeue(t, &t->queues[PRIORITY_URGENT]);
    if (slot == SUBNET_NONE && t->queues[PRIORITY_NONE].count && standby_copy_may_send(sm))
        slot = dequeue(t, &t->queues[PRIORITY_NONE]);
    return slot;
}

static uint32_t next_slot(struct sm *sm)
{
    struct transactions *t = sm->transactions;
    uint32_t slot;
    while ((slot = dequeue_next(sm)) != SUBNET_NONE && !t->requests.items[slot].tries &&
           t->requests.items[slot].priority != PRIORITY_IMMEDIATE && has_lost(sm) &&
           faults_is_waited_for(sm, &t->requests.items[slot])) {
        regroup(sm, &t->requests.items[slot]);
        enqueue(t, &t->parked, slot);
    }
    return slot;
}

/* A request is not outstanding any more. */
static void take_back(struct sm *sm, uint32_t slot)
{
    struct transactions *t = sm->transactions;
    struct request *request = &t->requests.items[slot];
    uint32_t parked;
    if (!request->aside)
        return;
    request->aside = false;
    t->aside--;
    faults_end_wait(sm, request);
    while ((parked = dequeue(t, &t->parked)) != SUBNET_NONE)
        enqueue(t, &t->queues[t->requests.items[parked].priority], parked);
}

/* Identifies a directed route; never 0. */
static uint64_t hash_path(const uint8_t *path, int hops)
{
    uint64_t hash = hash_fnv1a(path + 1, (size_t)hops);
    return hash ? hash : 1;
}

/* The hash of the route to the target of a request that was built; 0: it goes by LID. */
static uint64_t path_of(const struct request *request, const struct sm_message *message)
{
    int hops = (int)wire_get(message->mad, SMP_HOP_COUNT) - (request->through != SUBNET_NONE);
    return message->lid == LID_PERMISSIVE
               ? hash_path(wire_bytes_const(message->mad, SMP_INITIAL_PATH), hops)
               : 0;
}

/* The configured time-out, or the response time that the agent's PortInfo contains if this is
 * longer: 4.096 us * 2^value. */
static uint64_t fixed_timeout(const struct sm *sm, const struct request *request)
{
    enum { LONGEST = 20 };
    if (request->target == SUBNET_NONE)
        return sm->config.timeout_ns;
    uint64_t value = wire_get(port_at(sm, request->target)->info, PORT_INFO_RESP_TIME_VALUE);
    uint64_t response_ns = UINT64_C(4096) << (value < LONGEST ? value : LONGEST);
    return response_ns > sm->config.timeout_ns ? response_ns : sm->config.timeout_ns;
}

void request_try_once(const struct sm *sm, const struct request *request,
                      struct request_effort *effort)
{
    (void)sm;
    (void)request;
    effort->retries = 0;
    effort->ignores_loss = true;
}

static struct request_effort effort_of(const struct sm *sm, const struct request *request)
{
    bool fixed = sm->config.policy->fixed_timeouts;
    /* A manager that takes over repeats sooner, to tell a mute node from lost SMPs. */
    bool hurries = request->tries && standby_copy_patience_ns(sm) != TIME_NEVER;
    unsigned doublings = request->tries - (unsigned)hurries;
    struct request_effort effort = {.retries = sm->config.retries,
                                    .timeout_ns = fixed ? fixed_timeout(sm, request)
                                                        : sm->config.timeout_ns << doublings};
    if (request->kind->effort)
        request->kind->effort(sm, request, &effort);
    if (has_lost(sm) && !loses_some(sm) && faults_is_silent(sm, request)) {
        request_try_once(sm, request, &effort);
        effort.is_expected = true;
    }
    return effort;
}

/* Releases the slot and returns a copy: the outcome may drop all requests. */
static struct request end(struct sm *sm, uint32_t slot)
{
    struct request request = sm->transactions->requests.items[slot];
    retire(sm->transactions, slot);
    if (request.kind->ended)
        request.kind->ended(sm, &request);
    return request;
}

void transactions_fail(struct sm *sm, const struct request *request)
{
    if (request->kind->unanswered)
        request->kind->unanswered(sm, request);
    if (request->kind->loses_contact)
        discovery_lost_contact(sm, request->target);
}

static void end_unanswered(struct sm *sm, uint32_t slot)
{
    struct request gone = end(sm, slot);
    transactions_fail(sm, &gone);
}

static void draw_ids(struct sm *sm)
{
    static const uint8_t label[] = "transactions";
    uint8_t input[16];
    struct sha256_ctx hash;
    wire_set_bits(input, 0, 64, sm->config.salt);
    wire_set_bits(input, 64, 64, sm->transactions->ids_made);
    sha256_init(&hash);
    sha256_update(&hash, sizeof label, label);
    sha256_update(&hash, sizeof input, input);
    sha256_digest(&hash, sizeof sm->transactions->ids, sm->transactions->ids);
}

/* An ID that no outstanding request has; neither 0 nor UINT32_MAX, which others use (sm_info.c).
 */
static uint32_t make_id(struct sm *sm)
{
    struct transactions *t = sm->transactions;
    uint32_t id;
    do {
        unsigned at = (unsigned)(t->ids_made % IDS_AT_ONCE);
        if (at == 0)
            draw_ids(sm);
        id = (uint32_t)wire_get_bits(t->ids, at * 32, 32);
        t->ids_made++;
    } while (!id || id == UINT32_MAX || outstanding_find(&t->sent, id) != OUTSTANDING_NONE);
    return id;
}

bool transactions_next(struct sm *sm, struct sm_message *message)
{
    struct transactions *t = sm->transactions;
    for (uint32_t slot; (slot = next_slot(sm)) != SUBNET_NONE;) {
        struct request *request = &t->requests.items[slot];
        if (!request->id || outstanding_find(&t->sent, request->id) != OUTSTANDING_NONE)
            request->id = make_id(sm);
        if (!build_mad(sm, request, message)) {
            debug_request(sm, request, NULL, "not sent, there is no path");
            t->dropped = true;
            end_unanswered(sm, slot);
            continue;
        }
        message->request_timeout_ns = effort_of(sm, request).timeout_ns;
        request->path = path_of(request, message);
        request->tries++;
        request->sent_at = sm->now;
        outstanding_add(&t->sent, slot, request->id, sm->now + message->request_timeout_ns);
        request->aside = has_lost(sm) && faults_begin_wait(sm, request);
        t->aside += request->aside;
        count_sent(sm, request->kind);
        debug_request(sm, request, message, "try %u, time-out %llu us, %zu outstanding",
                      request->tries, (unsigned long long)message->request_timeout_ns / NS_PER_US,
                      t->sent.count);
        return true;
    }
    return false;
}

static void grow_window(struct sm *sm)
{
    struct transactions *t = sm->transactions;
    uint32_t limit = sm->config.window * WINDOW_UNIT;
    uint32_t step = t->shrunk_at ? WINDOW_UNIT * WINDOW_UNIT / t->window_256 + 1 : WINDOW_UNIT;
    t->window_256 = t->window_256 + step < limit ? t->window_256 + step : limit;
}

static void shrink_window(struct sm *sm)
{
    struct transactions *t = sm->transactions;
    if (t->shrunk_at && sm->now < t->shrunk_at + sm->config.timeout_ns)
        return;
    t->shrunk_at = sm->now;
    t->window_256 = t->window_256 / 2 > WINDOW_UNIT ? t->window_256 / 2 : WINDOW_UNIT;
}

void transactions_receive(struct sm *sm, const struct sm_message *message)
{
    struct transactions *t = sm->transactions;
    uint32_t slot = outstanding_find(&t->sent, (uint32_t)wire_get(message->mad, MAD_TID));
    if (slot == OUTSTANDING_NONE)
        return; /* late, or a duplicate */
    struct request *request = &t->requests.items[slot];
    if (request->kind->attribute != wire_get(message->mad, MAD_ATTRIBUTE_ID) ||
        request->modifier != wire_get(message->mad, MAD_ATTRIBUTE_MODIFIER)) {
        debug_request(sm, request, NULL, "unexpected answer: ignored");
        return;
    }
    debug_request(sm, request, NULL, "answered after %u tries, status 0x%x", request->tries,
                  (unsigned)wire_get(message->mad, SMP_STATUS));
    outstanding_remove(&t->sent, slot);
    if (has_lost(sm))
        faults_end_silence(sm, request);
    take_back(sm, slot);
    if (request->tries > 1)
        t->repeated_at = sm->now;
    grow_window(sm);
    t->timeouts = 0;
    t->counts.answered++;
    struct request answered = end(sm, slot);
    answered.answer = message->mad + SMP_DATA_OFFSET;
    answered.status = (uint16_t)wire_get(message->mad, SMP_STATUS);
    examine_answer(sm, &answered);
    if (!answered.status && answered.kind->attribute == ATTRIBUTE_SM_INFO &&
        !peers_accept(sm, &answered))
        transactions_fail(sm, &answered);
    else if (!answered.status)
        answered.kind->answered(sm, &answered);
    else if (answered.kind->refused)
        answered.kind->refused(sm, &answered);
    else
        transactions_fail(sm, &answered);
}

/* A second time-out of a request, or several time-outs in a row, cast suspicion on the path. The
 * port of a probe that is given up is excluded: reading it would start another probe. */
static void time_out(struct sm *sm, uint32_t slot)
{
    struct transactions *t = sm->transactions;
    bool first = faults_note_timeout(sm, &t->requests.items[slot]);
    take_back(sm, slot);
    struct request late = t->requests.items[slot];
    struct request_effort effort = effort_of(sm, &late);
    bool last = late.tries > effort.retries;
    debug_request(sm, &late, NULL, "no answer to try %u of %u%s", late.tries, effort.retries + 1,
                  last ? ": given up" : "");
    if (!effort.ignores_loss && first)
        shrink_window(sm);
    t->counts.timeouts++;
    if (!effort.is_expected && (last || late.tries == 2 || ++t->timeouts >= TIMEOUTS_SUSPECT))
        discovery_suspect(sm, late.target, last ? SUBNET_NONE : late.through);
    if (last) {
        t->counts.gave_up++;
        end_unanswered(sm, slot);
    } else {
        regroup(sm, &t->requests.items[slot]);
        enqueue(t, &t->queues[late.priority], slot);
    }
}

static void transactions_expire(struct sm *sm)
{
    uint32_t slot;
    while ((slot = outstanding_expire(&sm->transactions->sent, sm->now)) != OUTSTANDING_NONE)
        time_out(sm, slot);
}

/* The hash of the present route to the target; 0: there is none. */
static uint64_t present_path(const struct sm *sm, const struct request *request)
{
    uint8_t path[SMP_MAX_HOPS + 1];
    if (request->target == SUBNET_NONE)
        return hash_path(path, 0);
    if (request->through != SUBNET_NONE &&
        wire_get(port_at(sm, request->through)->info, PORT_INFO_PORT_STATE) == PORT_STATE_DOWN)
        return 0;
    int hops = subnet_route(&sm->subnet, request->target, path);
    return hops < 0 ? 0 : hash_path(path, hops);
}

/* A request that is sent again does not use up a try: it was not late. It gets another ID, since
 * the kernel refuses one that it still waits for. Queued requests get their path in
 * transactions_next(), or are ended there. */
void transactions_follow_paths(struct sm *sm)
{
    struct transactions *t = sm->transactions;
    for (uint32_t slot = 0; slot < t->requests.count; slot++) {
        struct request *request = &t->requests.items[slot];
        uint64_t m_key;
        if (!outstanding_has(&t->sent, slot) || neighbor_lid(sm, request, &m_key))
            continue;
        uint64_t path = present_path(sm, request);
        if (path && request->path == path)
            continue;
        debug_request(sm, request, NULL,
                      path ? "the path changed: sent again" : "its path is lost: given up");
        outstanding_remove(&t->sent, slot);
        take_back(sm, slot);
        if (path) {
            request->tries--;
            request->id = 0;
            enqueue(t, &t->queues[request->priority], slot);
        } else {
            t->counts.gave_up++;
            end_unanswered(sm, slot);
        }
    }
}

static uint64_t transactions_deadline(const struct sm *sm)
{
    return outstanding_deadline(&sm->transactions->sent);
}

bool transactions_idle(const struct sm *sm)
{
    const struct transactions *t = sm->transactions;
    size_t waiting = t->sent.count + t->parked.count;
    for (unsigned i = 0; i < PRIORITY_COUNT; i++)
        waiting += t->queues[i].count;
    return waiting == 0;
}

uint32_t transactions_under_way(const struct sm *sm, enum request_group group)
{
    assert(group < GROUP_COUNT);
    return sm->transactions->under_way[group];
}

bool transactions_have_dropped(struct sm *sm)
{
    bool dropped = sm->transactions->dropped;
    sm->transactions->dropped = false;
    return dropped;
}

void sm_counts(const struct sm *sm, struct sm_counts *counts)
{
    *counts = sm->transactions->counts;
}

uint32_t transactions_waiting(const struct sm *sm)
{
    return sm->transactions->queues[PRIORITY_NONE].count;
}

static void flush(struct sm *sm)
{
    struct transactions *t = sm->transactions;
    uint32_t slot;
    while ((slot = outstanding_expire(&t->sent, TIME_NEVER)) != OUTSTANDING_NONE) {
        take_back(sm, slot);
        retire(t, slot);
    }
    for (unsigned i = 0; i < PRIORITY_COUNT; i++)
        while ((slot = dequeue(t, &t->queues[i])) != SUBNET_NONE)
            retire(t, slot);
}

SM_PART(transactions, .init = init_transactions, .release = release_transactions,
        .requests_dropped = flush, .expire = transactions_expire, .deadline = transactions_deadline,
        .while_down = true);
