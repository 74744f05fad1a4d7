/* Mastership: generates the events of the state machine in mastership_table.c from SMInfo requests
 * and answers (14.4.1), polls and calls of the owner, performs its actions, and informs the other
 * parts of a new state.
 *
 * A standby that yielded sets a mark in the upper bits of its ActCount, which are unused in a
 * standby. A master that reads the mark does not hand back to it for its GUID alone. */
#include "sm/mastership/mastership.h"
#include "sm/discovery/discovery.h"
#include "sm/discovery/sweeps.h"
#include "sm/guard/peers.h"
#include "sm/guard/recheck.h"
#include "sm/internal.h"
#include "sm/mastership/mastership_table.h"
#include "sm/mastership/standby_copy.h"
#include "sm/reconfigure.h"
#include "sm/report.h"
#include "sm/tables/multicast.h"
#include "sm/tables/partitions.h"
#include "sm/tables/reregister.h"
#include "sm/transactions.h"
#include "subnet/names.h"

#include <stdio.h>
#include <string.h>

enum sm_control { /* attribute modifiers of Set(SMInfo) */
                  CONTROL_HANDOVER = 1,
                  CONTROL_ACKNOWLEDGE,
                  CONTROL_DISABLE,
                  CONTROL_STANDBY,
                  CONTROL_DISCOVER,
                  CONTROL_COUNT,
};

struct other {
    uint8_t unanswered; /* queries in a row */
    uint8_t skipped;    /* polls by a master */
    bool polled;        /* by a master; the answer is outstanding */
    uint64_t no_hint_before;
    uint64_t prompt_at; /* time of the next prompt_rival(); 0: it is not master */
};

enum {
    UNANSWERED_LIMIT = 2, /* queries of a manager before sweeps skip it */
    DENIED_LIMIT = 2,     /* polls that a standby repeats if its master is not master any more */
    AWAITED_LIMIT = 15,   /* the same if it never was */
    POLLS_SKIPPED = 9,    /* polls of a manager that does not answer, by a master */
    SWEEPS_SKIPPED = 3,   /* sweeps without a query of such a manager */
    SYNC_LIMIT_S = 2, /* longest time for which a standby refuses a handover: sm_set_syncing() */
};

struct mastership {
    struct mastership_core core; /* managers are known by their ports */
    uint32_t given_up;           /* port of a master that was given up; SUBNET_NONE: none */
    uint64_t next_poll;          /* of its master by a standby, of other managers by a master */
    bool syncing;                /* see sm_set_syncing() */
    uint64_t refuses_until;      /* limit for that; 0: no handover was refused */
    bool has_yielded;            /* the manager yielded once: its priority is 0 */
    uint32_t last_successor;     /* port that got the last HANDOVER, or SUBNET_NONE */
    bool refused;                /* it did not take over; `refusal` is the status of its answer */
    unsigned refusal;            /* 0: it did not answer */
    bool has_candidates;         /* other managers were queried for a handover */
    bool reading_port;           /* of the master */
    uint32_t smps;               /* SMPs received */
    uint32_t number;             /* of masterships of this manager */
    VEC(struct other) others;    /* by port of another manager */
    VEC(uint32_t) known;         /* ports at which another manager was found */
};

static void init_mastership(struct sm *sm)
{
    mastership_core_init(&sm->mastership->core);
    sm->mastership->given_up = sm->mastership->last_successor = SUBNET_NONE;
    sm->mastership->next_poll = TIME_NEVER;
}

static void release_mastership(struct sm *sm)
{
    vec_release(&sm->mastership->others);
    vec_release(&sm->mastership->known);
}

/* The outcome of a handover stays unknown; it may be repeated. */
static void drop_mastership(struct sm *sm)
{
    struct mastership *m = sm->mastership;
    m->core.successor = MASTERSHIP_NOBODY;
    m->reading_port = false;
    for (size_t i = 0; i < m->others.count; i++)
        m->others.items[i].polled = false;
}

static struct other *other_at(struct sm *sm, uint32_t port)
{
    return vec_at(&sm->mastership->others, port);
}

static struct mastership_limits limits_of(const struct sm *sm)
{
    return (struct mastership_limits){
        .unanswered = sm->config.poll_retries, .denied = DENIED_LIMIT, .awaited = AWAITED_LIMIT};
}

/* ---- SMInfo ---- */

/* 24 bits that another manager's ActCount is unlikely to have. */
static uint32_t yielded_mark(uint64_t guid)
{
    return (uint32_t)hash_mix(~guid) & 0xFFFFFF00;
}

uint32_t sm_act_count(const struct sm *sm)
{
    return standby_copy_act_count_bits(sm) | (sm->mastership->smps & 0xFF);
}

static struct mastership_peer own_rank(const struct sm *sm)
{
    return (struct mastership_peer){
        .guid = sm->guid,
        .priority = sm->mastership->has_yielded ? 0 : sm->config.priority,
        .state = sm->mastership->core.state,
        .yielded = sm->mastership->has_yielded && sm->mastership->core.state == SM_STANDBY,
    };
}

static struct mastership_peer read_info(const uint8_t *info)
{
    uint64_t guid = wire_get(info, SM_INFO_GUID);
    return (struct mastership_peer){
        .guid = guid,
        .priority = (unsigned)wire_get(info, SM_INFO_PRIORITY),
        .state = (enum sm_state)wire_get(info, SM_INFO_STATE),
        .yielded = wire_get(info, SM_INFO_STATE) == SM_STANDBY &&
                   (wire_get(info, SM_INFO_ACT_COUNT) & 0xFFFFFF00) == yielded_mark(guid),
    };
}

static void fill_info(const struct sm *sm, uint8_t *data)
{
    struct mastership_peer us = own_rank(sm);
    uint32_t mark = us.yielded ? yielded_mark(us.guid) : 0;
    memset(data, 0, SMP_DATA_BYTES);
    wire_set(data, SM_INFO_GUID, us.guid);
    wire_set(data, SM_INFO_ACT_COUNT, sm_act_count(sm) | mark);
    wire_set(data, SM_INFO_PRIORITY, us.priority);
    wire_set(data, SM_INFO_STATE, us.state);
}

/* ---- requests to other managers ---- */

static request_outcome manager_is_alive, manager_answered, poll_answered, handover_accepted;
static request_outcome manager_unanswered, poll_unanswered, handover_unanswered;
static request_outcome master_port_ended, master_port_read, master_port_unanswered;
static request_outcome other_ended, other_answered;
static request_adjust_effort manager_effort, poll_effort, master_port_effort;
#define QUERY_MANAGER(of)                                                                          \
    {                                                                                              \
        .attribute = ATTRIBUTE_SM_INFO, .group = (of), .answered = manager_answered,               \
        .unanswered = manager_unanswered, .effort = manager_effort                                 \
    }
static const struct request_kind query_manager = QUERY_MANAGER(GROUP_DISCOVERY);
static const struct request_kind sweep_manager = QUERY_MANAGER(GROUP_SWEEP);
static const struct request_kind poll_master = {
    .attribute = ATTRIBUTE_SM_INFO,
    .answered = poll_answered,
    .unanswered = poll_unanswered,
    .effort = poll_effort,
};
/* After a poll without answer: whether IsSM is still set, and whether the port answers at all. */
static const struct request_kind read_master_port = {
    .attribute = ATTRIBUTE_PORT_INFO,
    .ended = master_port_ended,
    .answered = master_port_read,
    .unanswered = master_port_unanswered,
    .effort = master_port_effort,
};
/* A master polls other managers, so that it notices another master soon. */
static const struct request_kind poll_other = {
    .attribute = ATTRIBUTE_SM_INFO,
    .ended = other_ended,
    .answered = other_answered,
    .unanswered = manager_unanswered,
    .effort = poll_effort,
};
/* Announces a change: Get(SMInfo) carries the SMInfo of its sender. */
static const struct request_kind notify_manager = {
    .attribute = ATTRIBUTE_SM_INFO,
    .answered = manager_is_alive,
};
static const struct request_kind set_handover = {
    .attribute = ATTRIBUTE_SM_INFO,
    .writes = true,
    .answered = handover_accepted,
    .unanswered = handover_unanswered,
};

static void send_info(struct sm *sm, const struct request_kind *kind, uint32_t port,
                      uint32_t modifier, enum request_priority priority)
{
    struct request *request = sm_request(sm, kind, (union request_subject){0}, port);
    request->modifier = modifier;
    fill_info(sm, request->data);
    sm_submit(sm, request, priority);
}

/* The manager at this port is polled from now on. */
static void note_manager(struct sm *sm, uint32_t port)
{
    for (size_t i = 0; i < sm->mastership->known.count; i++)
        if (sm->mastership->known.items[i] == port)
            return;
    vec_push(&sm->mastership->known, port);
}

void mastership_query(struct sm *sm, uint32_t port)
{
    note_manager(sm, port);
    send_info(sm, &query_manager, port, 0, PRIORITY_URGENT);
}

/* Sweeps skip a manager that does not answer most of the time, so that its time-outs do not keep
 * every sweep under way. */
void mastership_query_in_sweep(struct sm *sm, uint32_t port)
{
    uint8_t *unanswered = &other_at(sm, port)->unanswered;
    if (*unanswered >= UNANSWERED_LIMIT && *unanswered < UNANSWERED_LIMIT + SWEEPS_SKIPPED)
        (*unanswered)++;
    else
        send_info(sm, &sweep_manager, port, 0, PRIORITY_URGENT);
}

void mastership_notify(struct sm *sm, uint32_t port)
{
    if (port != sm->mastership->given_up && other_at(sm, port)->unanswered < UNANSWERED_LIMIT)
        send_info(sm, &notify_manager, port, 0, PRIORITY_IMMEDIATE);
}

static bool has_manager(const struct sm *sm, uint32_t port)
{
    return port_at(sm, port)->manager && node_at(sm, port_at(sm, port)->node)->present;
}

static void poll_other_manager(struct sm *sm, uint32_t port)
{
    struct other *other = other_at(sm, port);
    if (other->polled)
        return;
    other->polled = true;
    send_info(sm, &poll_other, port, 0, PRIORITY_IMMEDIATE);
}

/* Of a master. */
static void poll_other_managers(struct sm *sm)
{
    struct mastership *m = sm->mastership;
    m->next_poll = sm->now + sm->config.poll_ns;
    for (size_t i = 0; i < m->known.count; i++) {
        struct other *other = other_at(sm, m->known.items[i]);
        if (!has_manager(sm, m->known.items[i]))
            continue;
        if (other->unanswered >= UNANSWERED_LIMIT && other->skipped < POLLS_SKIPPED) {
            other->skipped++;
            continue;
        }
        other->skipped = 0;
        poll_other_manager(sm, m->known.items[i]);
    }
}

/* ---- actions ---- */

struct event_details {
    uint32_t port;                    /* of the other manager, or SUBNET_NONE */
    const uint8_t *info;              /* its SMInfo, or NULL */
    const struct sm_message *message; /* the Set that it sent, or NULL */
};

static void seek_successor(struct sm *sm)
{
    sm->mastership->has_candidates = false;
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        const struct subnet_port *p = port_at(sm, port);
        if (!p->manager || !node_at(sm, p->node)->present)
            continue;
        mastership_query(sm, port);
        sm->mastership->has_candidates = true;
    }
}

static void send_handover(struct sm *sm, const struct event_details *details)
{
    assert(sm_state(sm) == SM_MASTER && details->info && details->port != SUBNET_NONE);
    struct mastership_peer us = own_rank(sm), them = read_info(details->info);
    sm->mastership->last_successor = details->port;
    sm->mastership->refused = false;
    sm_log_at(sm, SM_EVENT_STATE, details->port,
              "handing over to the manager at %s (0x%016llx, priority %u)%s",
              subnet_link_name(&sm->subnet, details->port).text, (unsigned long long)them.guid,
              them.priority, mastership_outranks(&them, &us) ? ", which has a higher rank" : "");
    send_info(sm, &set_handover, details->port, CONTROL_HANDOVER, PRIORITY_URGENT);
}

/* Returns by the path of the handover, since the sender may be unknown. It is sent once: if it is
 * lost, the other manager sends HANDOVER again. */
static void acknowledge_handover(struct sm *sm, const struct event_details *details)
{
    assert(details->message && details->info);
    const struct sm_message *handover = details->message;
    struct sm_message message = *handover;
    standby_copy_receive_info(sm, details->info);
    uint8_t *mad = message.mad;
    unsigned hops = (unsigned)wire_get(mad, SMP_HOP_COUNT);
    wire_set(mad, MAD_STATUS, 0);
    wire_set(mad, MAD_METHOD, METHOD_SET);
    wire_set(mad, MAD_TID, UINT32_MAX); /* matches no request: the answer is ignored */
    wire_set(mad, MAD_ATTRIBUTE_MODIFIER, CONTROL_ACKNOWLEDGE);
    wire_set(mad, SMP_M_KEY, 0); /* its receiver is a manager, which needs none */
    if (mad_is_directed(mad)) {
        wire_set(mad, SMP_HOP_POINTER, 0);
        wire_set(mad, SMP_HOP_COUNT, hops);
        for (unsigned i = 1; i <= hops && hops <= SMP_MAX_HOPS; i++)
            wire_set_at(mad, SMP_INITIAL_PATH, i,
                        wire_get_at(handover->mad, SMP_RETURN_PATH, hops + 1 - i));
        memset(wire_bytes(mad, SMP_RETURN_PATH), 0, 64);
    }
    fill_info(sm, mad + SMP_DATA_OFFSET);
    wire_set(mad + SMP_DATA_OFFSET, SM_INFO_SM_KEY, sm->config.sm_key);
    sm_reply(sm, &message);
}

/* Another master may have written anything. */
static void forget_settings_written(struct sm *sm)
{
    partitions_forget(sm);
    multicast_forget(sm);
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
        blocks_forget(&sm->subnet.blocks, port);
}

/* Another master was in the subnet: it has changed settings and registered clients. */
static void start_discovery_again(struct sm *sm, const char *why)
{
    sm_begin_change(sm, SM_CAUSE(SM_CAUSE_MASTERSHIP, SUBNET_NONE, .why = why));
    forget_settings_written(sm);
    reregister_doubt(sm);
    discovery_restart(sm);
    reconfigure_request(sm, REASON_TOPOLOGY);
}

/* A trap 144 that reports a changed rank, by a directed route: two masters have written LIDs and
 * tables. Nobody waits for its TrapRepress. */
static void send_rank_trap(struct sm *sm, uint32_t port)
{
    enum { TYPE_INFORMATION = 4, PRODUCER_ADAPTER = 1, PRODUCER_SWITCH = 2 };
    const struct subnet_port *own = port_at(sm, sm->subnet.own_port);
    bool is_switch = node_at(sm, own->node)->kind == SUBNET_SWITCH;
    struct sm_message message = {.lid = LID_PERMISSIVE};
    uint8_t *mad = message.mad, *notice = mad + SMP_DATA_OFFSET;
    uint8_t *details = wire_bytes(notice, NOTICE_DATA);
    int hops = subnet_route(&sm->subnet, port, wire_bytes(mad, SMP_INITIAL_PATH));
    if (hops < 0)
        return;
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_DIRECTED);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, METHOD_TRAP);
    wire_set(mad, MAD_TID, UINT32_MAX); /* matches no request */
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_NOTICE);
    wire_set(mad, SMP_HOP_COUNT, (unsigned)hops);
    wire_set(mad, SMP_DR_SLID, LID_PERMISSIVE);
    wire_set(mad, SMP_DR_DLID, LID_PERMISSIVE);
    wire_set(notice, NOTICE_IS_GENERIC, 1);
    wire_set(notice, NOTICE_TYPE, TYPE_INFORMATION);
    wire_set(notice, NOTICE_PRODUCER_TYPE, is_switch ? PRODUCER_SWITCH : PRODUCER_ADAPTER);
    wire_set(notice, NOTICE_TRAP_NUMBER, ATTRIBUTE_TRAP_LOCAL_CHANGES);
    wire_set(notice, NOTICE_ISSUER_LID, own->lid);
    wire_set(details, TRAP_LOCAL_CHANGES_LID, own->lid);
    wire_set(details, TRAP_LOCAL_CHANGES_OTHER, 1);
    wire_set(details, TRAP_LOCAL_CHANGES_SM_PRIORITY, 1);
    wire_set(details, TRAP_LOCAL_CHANGES_CAPABILITY_MASK,
             wire_get(own->info, PORT_INFO_CAPABILITY_MASK));
    sm_reply(sm, &message);
}

/* Makes a master of lower rank look for other masters. A weft SM does so because of the SMInfo in
 * every poll, and gets time for that. OpenSM does so only when it sweeps the whole subnet, which it
 * does after trap 144. The trap is repeated slowly: OpenSM ignores frequent ones. */
static void prompt_rival(struct sm *sm, uint32_t port)
{
    struct other *other = other_at(sm, port);
    bool due = other->prompt_at && sm->now >= other->prompt_at;
    if (due)
        send_rank_trap(sm, port);
    if (due || !other->prompt_at)
        other->prompt_at = sm->now + (due ? NS_PER_S : 2 * sm->config.poll_ns);
}

static void poll_master_now(struct sm *sm)
{
    struct mastership *m = sm->mastership;
    assert(m->core.master != SUBNET_NONE);
    m->next_poll = sm->now + sm->config.poll_ns;
    sm_submit(sm, sm_request(sm, &poll_master, (union request_subject){0}, m->core.master),
              PRIORITY_IMMEDIATE);
}

static void read_port_of_master(struct sm *sm)
{
    struct mastership *m = sm->mastership;
    if (m->reading_port)
        return;
    m->reading_port = true;
    struct request *request =
        sm_request(sm, &read_master_port, (union request_subject){0}, m->core.master);
    request->modifier = sm_port_info_modifier(sm, m->core.master);
    sm_submit(sm, request, PRIORITY_IMMEDIATE);
}

/* Sends the messages of an action, before the core takes it. */
static void perform(struct sm *sm, enum mastership_action action,
                    const struct event_details *details)
{
    struct mastership *m = sm->mastership;
    switch (action) {
    case DO_SEEK_SUCCESSOR: seek_successor(sm); break;
    case DO_SEEK_SUCCESSOR_AND_YIELD:
        seek_successor(sm);
        m->has_yielded |= m->has_candidates; /* else the new master would hand back at once */
        break;
    case DO_SEND_HANDOVER: send_handover(sm, details); break;
    case DO_ACKNOWLEDGE_HANDOVER: acknowledge_handover(sm, details); break;
    case DO_MERGE_SUBNETS:
        acknowledge_handover(sm, details);
        start_discovery_again(sm, "another master handed over: two subnets become one");
        break;
    case DO_REDISCOVER: start_discovery_again(sm, "the other master left"); break;
    case DO_PROMPT_RIVAL: prompt_rival(sm, details->port); break;
    case DO_SEND_POLL: poll_master_now(sm); break;
    case DO_RECORD_MASTER: standby_copy_receive_info(sm, details->info); break;
    case DO_COUNT_UNANSWERED_POLL: read_port_of_master(sm); break;
    case DO_GIVE_UP_MASTER: m->given_up = m->core.master; break;
    default: break; /* only the core changes */
    }
}

/* ---- states ---- */

static void enter_master(struct sm *sm, const char *why)
{
    sm->mastership->number++;
    reconfigure_request(sm, REASON_START);
    forget_settings_written(sm);
    sm_begin_change(sm, SM_CAUSE(SM_CAUSE_MASTERSHIP, SUBNET_NONE, .why = why));
    sweep_schedule(sm);
    recheck_resume(sm);
}

/* The core has entered a state. `has_copy`: a standby's copy is of the last master. */
static void enter(struct sm *sm, enum sm_state before, const char *why, bool has_copy)
{
    struct mastership *m = sm->mastership;
    enum sm_state state = m->core.state;
    bool polls = state == SM_STANDBY || (state == SM_MASTER && !sm->config.policy->alone);
    assert(state != before && state <= SM_MASTER);
    bool works = state == SM_DISCOVERING || state == SM_MASTER;
    sm_log_change(sm, SM_EVENT_STATE, works ? NULL : report_abandon(sm), "%s (%s)",
                  mastership_state_names[state], why);
    m->next_poll = polls ? sm->now + sm->config.poll_ns : TIME_NEVER;
    m->refuses_until = 0;
    sweep_stop(sm);
    switch (state) {
    case SM_NOT_ACTIVE:
        reconfigure_stop(sm);
        sm_drop_requests(sm);
        break;
    case SM_DISCOVERING:
        sm_begin_change(sm, SM_CAUSE(SM_CAUSE_MASTERSHIP, SUBNET_NONE, .why = why));
        break;
    case SM_STANDBY:
        reconfigure_stand_by(sm);
        sm_drop_requests(sm);
        standby_copy_watch(sm,
                           m->core.master == SUBNET_NONE ? 0 : port_at(sm, m->core.master)->guid);
        break;
    case SM_MASTER: enter_master(sm, why); break;
    }
    /* The subnet may have changed under another master. */
    if (works && before != SM_DISCOVERING && !(has_copy && standby_copy_take_over(sm)))
        discovery_restart(sm);
}

/* ---- events ---- */

/* Returns false if the state ignores the event. */
static bool handle_event(struct sm *sm, enum mastership_event event,
                         const struct event_details *details)
{
    struct mastership *m = sm->mastership;
    if (event == ON_HANDOVER && m->syncing && !m->refuses_until)
        m->refuses_until = sm->now + SYNC_LIMIT_S * NS_PER_S;
    m->core.syncing = m->syncing && sm->now < m->refuses_until;
    enum sm_state before = m->core.state;
    struct mastership_transition step = mastership_step(&m->core, event, details->port);
    sm_debug(sm, PART_MASTERSHIP, "%s, %s%s%s: %s%s%s", mastership_state_names[before],
             mastership_event_names[event], details->port == SUBNET_NONE ? "" : ", manager at ",
             details->port == SUBNET_NONE ? "" : subnet_port_name(&sm->subnet, details->port).text,
             step.action == DO_NOTHING ? "ignored" : mastership_state_names[step.next],
             step.why ? ", " : "", step.why ? step.why : "");
    if (step.action == DO_NOTHING)
        return false;
    perform(sm, step.action, details);
    assert(m->core.state == before);
    mastership_take(&m->core, step, details->port);
    if (m->core.state != before)
        enter(sm, before, step.why,
              step.action == DO_GIVE_UP_MASTER || step.action == DO_ACKNOWLEDGE_HANDOVER);
    return true;
}

bool mastership_handle(struct sm *sm, enum mastership_event event)
{
    return handle_event(sm, event, &(struct event_details){.port = SUBNET_NONE});
}

void mastership_complete_discovery(struct sm *sm)
{
    mastership_handle(sm, mastership_discovered(&sm->mastership->core));
}

bool mastership_yield(struct sm *sm)
{
    struct mastership *m = sm->mastership;
    mastership_handle(sm, ON_YIELD);
    m->core.yielding &= m->has_candidates;
    return m->core.yielding;
}

/* Queries other managers for a handover; without one the manager becomes inactive at once. */
void mastership_end(struct sm *sm)
{
    struct mastership *m = sm->mastership;
    m->core.ending = true;
    m->has_candidates = false;
    mastership_handle(sm, ON_END);
    if (!m->has_candidates || sm_own_link_is_down(sm))
        mastership_handle(sm, ON_NO_SUCCESSOR);
}

void mastership_rival_gone(struct sm *sm, uint32_t port)
{
    port_at(sm, port)->rival = false;
    mastership_handle(sm, ON_RIVAL_GONE);
}

static void mastership_expire(struct sm *sm)
{
    if (sm->now < sm->mastership->next_poll)
        return;
    if (sm_state(sm) == SM_MASTER)
        poll_other_managers(sm);
    else
        mastership_handle(sm, mastership_poll(&sm->mastership->core));
}

static uint64_t mastership_deadline(const struct sm *sm)
{
    const struct mastership *m = sm->mastership;
    bool polls = sm_state(sm) != SM_MASTER;
    for (size_t i = 0; i < m->known.count && !polls; i++)
        polls = has_manager(sm, m->known.items[i]);
    return polls ? m->next_poll : TIME_NEVER;
}

/* ---- other managers' answers ---- */

static void manager_is_alive(struct sm *sm, const struct request *request)
{
    if (request->target == sm->mastership->given_up)
        sm->mastership->given_up = SUBNET_NONE;
    other_at(sm, request->target)->unanswered = 0;
}

static void manager_answered(struct sm *sm, const struct request *request)
{
    uint32_t port = request->target;
    struct mastership_peer us = own_rank(sm), them = read_info(request->answer);
    enum mastership_event event = mastership_classify(&us, &them);
    struct subnet_port *peer = port_at(sm, port);
    manager_is_alive(sm, request);
    peer->manager_priority = (uint8_t)them.priority;
    peer->manager_state = (uint8_t)them.state;
    peer->manager_act_count = (uint32_t)wire_get(request->answer, SM_INFO_ACT_COUNT);
    if (us.state == SM_MASTER && peer->rival && them.state != SM_MASTER)
        event = ON_RIVAL_GONE;
    if (us.state == SM_MASTER)
        peer->rival = them.state == SM_MASTER;
    if (!peer->rival)
        other_at(sm, port)->prompt_at = 0;
    handle_event(sm, event, &(struct event_details){.port = port, .info = request->answer});
}

static void manager_unanswered(struct sm *sm, const struct request *request)
{
    uint8_t *unanswered = &other_at(sm, request->target)->unanswered;
    *unanswered = *unanswered < UNANSWERED_LIMIT ? *unanswered + 1 : UNANSWERED_LIMIT;
}

/* All polls must time out before the master is given up. */
static void limit_to_half_poll(const struct sm *sm, struct request_effort *effort)
{
    if (sm->config.poll_ns / 2 < effort->timeout_ns)
        effort->timeout_ns = sm->config.poll_ns / 2;
}

/* A master that was given up gets more tries, since only the polls may have been lost. A sweep
 * tries once, and a time-out of it is not a sign of congestion. */
static void manager_effort(const struct sm *sm, const struct request *request,
                           struct request_effort *effort)
{
    if (request->target == sm->mastership->given_up) {
        limit_to_half_poll(sm, effort);
        effort->retries *= 2;
    }
    if (request->kind == &sweep_manager) {
        effort->retries = 0;
        effort->ignores_loss = true;
    }
}

/* ---- a master's polls of other managers ---- */

static void other_ended(struct sm *sm, const struct request *request)
{
    other_at(sm, request->target)->polled = false;
}

/* Only the start or end of another master matters here. Handovers to standbys wait for a sweep,
 * since a standby that has just started has no copy of the subnet yet. */
static void other_answered(struct sm *sm, const struct request *request)
{
    bool master = read_info(request->answer).state == SM_MASTER;
    if (sm_state(sm) == SM_MASTER && (master || port_at(sm, request->target)->rival))
        manager_answered(sm, request);
    else
        manager_is_alive(sm, request);
}

/* ---- a standby's polls of its master ---- */

static void check_polls(struct sm *sm, const struct event_details *details)
{
    struct mastership_limits limits = limits_of(sm);
    handle_event(sm, mastership_polled(&sm->mastership->core, &limits), details);
}

static bool is_polled(const struct sm *sm, const struct request *request)
{
    return sm_state(sm) == SM_STANDBY && request->target == sm->mastership->core.master;
}

static void poll_answered(struct sm *sm, const struct request *request)
{
    struct event_details details = {.port = request->target, .info = request->answer};
    bool master = read_info(request->answer).state == SM_MASTER;
    manager_is_alive(sm, request);
    if (!is_polled(sm, request))
        return;
    handle_event(sm, master ? ON_POLL_ANSWERED : ON_POLL_DENIED, &details);
    check_polls(sm, &details);
}

static void poll_unanswered(struct sm *sm, const struct request *request)
{
    struct event_details details = {.port = request->target};
    if (!is_polled(sm, request))
        return;
    handle_event(sm, ON_POLL_UNANSWERED, &details);
    check_polls(sm, &details);
}

static void master_port_ended(struct sm *sm, const struct request *request)
{
    (void)request;
    sm->mastership->reading_port = false;
}

static void master_port_read(struct sm *sm, const struct request *request)
{
    if (!is_polled(sm, request) ||
        (wire_get(request->answer, PORT_INFO_CAPABILITY_MASK) & CAPABILITY_IS_SM) != 0)
        return;                                    /* it may have been stopped for a while */
    port_at(sm, request->target)->manager = false; /* it is not queried any more */
    mastership_handle(sm, ON_MASTER_ENDED);
}

static void master_port_unanswered(struct sm *sm, const struct request *request)
{
    if (is_polled(sm, request))
        mastership_handle(sm, ON_MASTER_LOST);
}

static void master_port_effort(const struct sm *sm, const struct request *request,
                               struct request_effort *effort)
{
    (void)request;
    limit_to_half_poll(sm, effort);
    effort->retries = 2;
    effort->ignores_loss = true;
}

static void poll_effort(const struct sm *sm, const struct request *request,
                        struct request_effort *effort)
{
    (void)request;
    limit_to_half_poll(sm, effort);
    effort->retries = 0;
}

/* Does not wait for ACKNOWLEDGE: OpenSM sends none, and waits or hands back while it sees another
 * master. */
static void handover_accepted(struct sm *sm, const struct request *request)
{
    manager_is_alive(sm, request);
    handle_event(sm, ON_HANDOVER_ACCEPTED,
                 &(struct event_details){.port = request->target, .info = request->answer});
}

static void handover_unanswered(struct sm *sm, const struct request *request)
{
    sm->mastership->refused = true;
    sm->mastership->refusal = request->status;
    mastership_handle(sm, ON_HANDOVER_FAILED);
}

/* ---- other managers' requests ---- */

static uint32_t find_manager(const struct sm *sm, uint64_t guid)
{
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
        if (port_at(sm, port)->guid == guid && node_at(sm, port_at(sm, port)->node)->present)
            return port;
    return SUBNET_NONE;
}

/* A Set of this manager's SMInfo; false: it is refused. */
static bool handle_control(struct sm *sm, const struct sm_message *message)
{
    static const uint8_t events[CONTROL_COUNT] = {
        [CONTROL_HANDOVER] = ON_HANDOVER, [CONTROL_ACKNOWLEDGE] = ON_ACKNOWLEDGE,
        [CONTROL_DISABLE] = ON_DISABLE,   [CONTROL_STANDBY] = ON_STANDBY,
        [CONTROL_DISCOVER] = ON_DISCOVER,
    };
    const uint8_t *info = message->mad + SMP_DATA_OFFSET;
    unsigned control = (unsigned)wire_get(message->mad, MAD_ATTRIBUTE_MODIFIER);
    struct event_details details = {
        .port = find_manager(sm, wire_get(info, SM_INFO_GUID)), .info = info, .message = message};
    return control < CONTROL_COUNT && events[control] &&
           peers_may_control(sm, (enum mastership_event)events[control], message) &&
           handle_event(sm, (enum mastership_event)events[control], &details);
}

/* The SMInfo in a Get of another weft SM. It is only a hint, and only from a peer: another master
 * is polled at once, but not for each of its own polls. */
static void receive_hint(struct sm *sm, const struct sm_message *message)
{
    const uint8_t *info = message->mad + SMP_DATA_OFFSET;
    uint32_t port = SUBNET_NONE;
    uint32_t master = sm->mastership->core.master;
    if (!peers_believe_request(sm, message))
        return;
    if (master != SUBNET_NONE && port_at(sm, master)->guid == wire_get(info, SM_INFO_GUID))
        standby_copy_receive_info(sm, info);
    if (sm_state(sm) == SM_MASTER && read_info(info).state == SM_MASTER)
        port = find_manager(sm, wire_get(info, SM_INFO_GUID));
    if (port == SUBNET_NONE || port == sm->subnet.own_port ||
        sm->now < other_at(sm, port)->no_hint_before)
        return;
    other_at(sm, port)->no_hint_before = sm->now + sm->config.poll_ns;
    if (has_manager(sm, port))
        poll_other_manager(sm, port);
    else /* it started after its port was read */
        discovery_read_port(sm, port);
}

/* Get and Set of this manager's SMInfo. */
void mastership_receive(struct sm *sm, const struct sm_message *message)
{
    struct sm_message answer = *message;
    const uint8_t *request = message->mad + SMP_DATA_OFFSET;
    uint8_t *data = answer.mad + SMP_DATA_OFFSET;
    unsigned status = STATUS_OK;
    if (wire_get(answer.mad, MAD_METHOD) == METHOD_SET && !handle_control(sm, message))
        status = STATUS_BAD_VALUE;
    if (wire_get(answer.mad, MAD_METHOD) == METHOD_GET)
        receive_hint(sm, message);
    fill_info(sm, data);
    peers_seal_answer(sm, request, data);
    wire_set(answer.mad, MAD_METHOD, METHOD_GET_RESP);
    wire_set(answer.mad, MAD_STATUS, status);
    if (mad_is_directed(answer.mad))
        wire_set(answer.mad, SMP_DIRECTION, 1);
    sm_reply(sm, &answer);
}

void mastership_count_smp(struct sm *sm)
{
    sm->mastership->smps++;
}

/* ---- queries ---- */

void sm_set_syncing(struct sm *sm, bool syncing)
{
    sm->mastership->syncing = syncing;
    if (!syncing)
        sm->mastership->refuses_until = 0;
}

enum sm_state sm_state(const struct sm *sm)
{
    return sm->mastership->core.state;
}

void mastership_forget_rival(struct sm *sm, uint32_t port)
{
    port_at(sm, port)->rival = false;
}

enum sm_handover sm_handover_state(const struct sm *sm, char *text, size_t size)
{
    const struct mastership *m = sm->mastership;
    struct subnet_name who = {"a standby"};
    if (m->last_successor != SUBNET_NONE)
        who = subnet_link_name(&sm->subnet, m->last_successor);
    if (m->has_yielded && m->core.state != SM_MASTER) {
        snprintf(text, size, "handed over to the manager at %s; this manager is %s", who.text,
                 m->core.state == SM_STANDBY ? "standby" : "not master");
        return SM_HANDOVER_DONE;
    }
    if (!m->core.yielding) {
        snprintf(text, size, "no handover is under way");
        return SM_HANDOVER_NONE;
    }
    if (m->last_successor == SUBNET_NONE)
        snprintf(text, size, "no standby has answered; every sweep asks again");
    else if (!m->refused)
        snprintf(text, size, "waiting for the manager at %s", who.text);
    else if (m->refusal)
        snprintf(text, size, "the manager at %s refuses (status 0x%x); every sweep asks again",
                 who.text, m->refusal);
    else
        snprintf(text, size, "the manager at %s does not answer; every sweep asks again", who.text);
    return SM_HANDOVER_PENDING;
}

/* Another master in the subnet of a master, or a master that is not a weft SM. */
static void mastership_list_problems(struct sm *sm, struct problems *problems)
{
    uint32_t master = sm->mastership->core.master;
    bool weft = false;
    if (sm_state(sm) == SM_STANDBY && master != SUBNET_NONE &&
        standby_copy_master_answered(sm, &weft) && !weft)
        problems_add(problems, PROBLEM_FOREIGN_MANAGER, subnet_at_link(&sm->subnet, master),
                     "an SM that is not weft is master (priority %u; this manager's is %u); this "
                     "manager is standby",
                     port_at(sm, master)->manager_priority, own_rank(sm).priority);
    for (uint32_t port = 0; sm_state(sm) == SM_MASTER && port < sm->subnet.ports.count; port++) {
        const struct subnet_port *p = port_at(sm, port);
        if (p->manager && p->rival && node_at(sm, p->node)->present)
            problems_add(problems, PROBLEM_FOREIGN_MANAGER, subnet_at_link(&sm->subnet, port),
                         "a second SM is master, too (priority %u; this manager's is %u)",
                         p->manager_priority, own_rank(sm).priority);
    }
}

uint32_t mastership_number(const struct sm *sm)
{
    return sm->mastership->number;
}

bool sm_master(const struct sm *sm, struct sm_master *master)
{
    uint32_t at = sm->mastership->core.master;
    if (sm_state(sm) != SM_STANDBY || at == SUBNET_NONE)
        return false;
    const struct subnet_port *port = port_at(sm, at);
    *master = (struct sm_master){.lid = (uint16_t)wire_get(port->info, PORT_INFO_LID)};
    return standby_copy_master_answered(sm, &master->weft) && master->lid != 0;
}

SM_PART(mastership, .init = init_mastership, .release = release_mastership,
        .requests_dropped = drop_mastership, .expire = mastership_expire,
        .deadline = mastership_deadline, .problems = mastership_list_problems);
