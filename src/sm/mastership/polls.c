/* Queries and polls of other managers.
 *
 * Discovery and sweeps query managers. A master polls the others, so that it notices another master
 * soon, and prompts one of lower rank to hand over. A standby polls its master; if a poll is not
 * answered, it reads PortInfo of the master's port: whether IsSM is still set, and whether the port
 * answers at all. */
#include "sm/discovery/discovery.h"
#include "sm/mastership/mastership_internal.h"

enum {
    UNANSWERED_LIMIT = 2, /* queries of a manager before sweeps skip it */
    DENIED_LIMIT = 2,     /* polls that a standby repeats if its master is not master any more */
    AWAITED_LIMIT = 15,   /* the same if it never was */
    POLLS_SKIPPED = 9,    /* polls of a manager that does not answer, by a master */
    SWEEPS_SKIPPED = 3,   /* sweeps without a query of such a manager */
};
#define COPY_NS_PER_NODE NS_PER_MS /* in which a standby copies the subnet */

static request_outcome manager_answered, poll_answered;
static request_outcome manager_unanswered, poll_unanswered;
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
    .answered = mastership_is_alive,
};

bool mastership_is_silent(struct sm *sm, uint32_t port)
{
    uint64_t since = other_at(sm, port)->silent_since;
    return since && sm->now >= since + 10 * NS_PER_S;
}

void mastership_query(struct sm *sm, uint32_t port)
{
    size_t i = 0;
    while (i < sm->mastership->known.count && sm->mastership->known.items[i] != port)
        i++;
    if (i == sm->mastership->known.count)
        vec_push(&sm->mastership->known, port); /* it is polled from now on */
    mastership_send_info(sm, &query_manager, port, 0, PRIORITY_URGENT);
}

/* Sweeps skip a manager that does not answer most of the time, so that its time-outs do not keep
 * every sweep under way. */
void mastership_query_in_sweep(struct sm *sm, uint32_t port)
{
    uint8_t *unanswered = &other_at(sm, port)->unanswered;
    if (*unanswered >= UNANSWERED_LIMIT && *unanswered < UNANSWERED_LIMIT + SWEEPS_SKIPPED)
        (*unanswered)++;
    else
        mastership_send_info(sm, &sweep_manager, port, 0, PRIORITY_URGENT);
}

void mastership_notify(struct sm *sm, uint32_t port)
{
    if (port != sm->mastership->given_up && other_at(sm, port)->unanswered < UNANSWERED_LIMIT)
        mastership_send_info(sm, &notify_manager, port, 0, PRIORITY_IMMEDIATE);
}

bool mastership_has_manager(const struct sm *sm, uint32_t port)
{
    return port_at(sm, port)->manager && node_at(sm, port_at(sm, port)->node)->present;
}

void mastership_poll_other(struct sm *sm, uint32_t port)
{
    struct other *other = other_at(sm, port);
    if (other->polled)
        return;
    other->polled = true;
    mastership_send_info(sm, &poll_other, port, 0, PRIORITY_IMMEDIATE);
}

/* Of a master. */
static void poll_other_managers(struct sm *sm)
{
    struct mastership *m = sm->mastership;
    m->next_poll = sm->now + sm->config.poll_ns;
    for (size_t i = 0; i < m->known.count; i++) {
        struct other *other = other_at(sm, m->known.items[i]);
        if (!mastership_has_manager(sm, m->known.items[i]))
            continue;
        if (other->unanswered >= UNANSWERED_LIMIT && other->skipped < POLLS_SKIPPED) {
            other->skipped++;
            continue;
        }
        other->skipped = 0;
        mastership_poll_other(sm, m->known.items[i]);
    }
}

/* Makes a master of lower rank look for other masters. A weft SM does so because of the SMInfo in
 * every poll, and gets time for that. OpenSM does so only when it sweeps the whole subnet, which it
 * does after trap 144. The trap is repeated slowly: OpenSM ignores frequent ones. */
void mastership_prompt_rival(struct sm *sm, uint32_t port)
{
    struct other *other = other_at(sm, port);
    bool due = other->prompt_at && sm->now >= other->prompt_at;
    if (due)
        mastership_send_rank_trap(sm, port);
    if (due || !other->prompt_at)
        other->prompt_at = sm->now + (due ? NS_PER_S : 2 * sm->config.poll_ns);
}

void mastership_poll_master(struct sm *sm)
{
    struct mastership *m = sm->mastership;
    assert(m->core.master != SUBNET_NONE);
    m->next_poll = sm->now + sm->config.poll_ns;
    sm_submit(sm, sm_request(sm, &poll_master, (union request_subject){0}, m->core.master),
              PRIORITY_IMMEDIATE);
}

void mastership_read_master_port(struct sm *sm)
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

void mastership_expire(struct sm *sm)
{
    if (sm->now < sm->mastership->next_poll)
        return;
    if (sm_state(sm) == SM_MASTER)
        poll_other_managers(sm);
    else
        mastership_handle(sm, mastership_poll(&sm->mastership->core));
}

uint64_t mastership_deadline(const struct sm *sm)
{
    const struct mastership *m = sm->mastership;
    bool polls = sm_state(sm) != SM_MASTER;
    for (size_t i = 0; i < m->known.count && !polls; i++)
        polls = mastership_has_manager(sm, m->known.items[i]);
    return polls ? m->next_poll : TIME_NEVER;
}

/* ---- answers ---- */

void mastership_is_alive(struct sm *sm, const struct request *request)
{
    if (request->target == sm->mastership->given_up)
        sm->mastership->given_up = SUBNET_NONE;
    other_at(sm, request->target)->unanswered = 0;
    other_at(sm, request->target)->silent_since = 0;
}

static void manager_answered(struct sm *sm, const struct request *request)
{
    uint32_t port = request->target;
    struct mastership_peer us = mastership_rank(sm), them = mastership_read_info(request->answer);
    enum mastership_event event = mastership_classify(&us, &them);
    struct subnet_port *peer = port_at(sm, port);
    mastership_is_alive(sm, request);
    peer->manager_priority = (uint8_t)them.priority;
    peer->manager_state = (uint8_t)them.state;
    peer->manager_act_count = (uint32_t)wire_get(request->answer, SM_INFO_ACT_COUNT);
    if (us.state == SM_MASTER && peer->rival && them.state != SM_MASTER)
        event = ON_RIVAL_GONE;
    if (us.state == SM_MASTER)
        peer->rival = them.state == SM_MASTER;
    if (!peer->rival)
        other_at(sm, port)->prompt_at = 0;
    mastership_handle_from(sm, event,
                           &(struct event_details){.port = port, .info = request->answer});
}

static void manager_unanswered(struct sm *sm, const struct request *request)
{
    struct other *other = other_at(sm, request->target);
    other->unanswered =
        other->unanswered < UNANSWERED_LIMIT ? other->unanswered + 1 : UNANSWERED_LIMIT;
    if (!other->silent_since)
        other->silent_since = sm->now;
}

/* All polls must time out before the master is given up. */
static void limit_to_half_poll(const struct sm *sm, struct request_effort *effort)
{
    if (sm->config.poll_ns / 2 < effort->timeout_ns)
        effort->timeout_ns = sm->config.poll_ns / 2;
}

/* A master that was given up gets more tries, since only the polls may have been lost. While this
 * manager takes over, so do all others: they may have failed with the master, as behind one switch.
 * A sweep tries once. A manager that has ended or hangs is not a sign of congestion. */
static void manager_effort(const struct sm *sm, const struct request *request,
                           struct request_effort *effort)
{
    const struct mastership *m = sm->mastership;
    bool takes_over = sm_state(sm) == SM_DISCOVERING && m->given_up != SUBNET_NONE;
    if (takes_over || request->target == m->given_up) {
        limit_to_half_poll(sm, effort);
        effort->retries *= 2;
    }
    if (request->kind == &sweep_manager)
        effort->retries = 0;
    effort->ignores_loss = true;
}

/* ---- a master's polls of other managers ---- */

static void other_ended(struct sm *sm, const struct request *request)
{
    other_at(sm, request->target)->polled = false;
}

/* Whether it is time to hand over to this standby, if it has a higher rank: once after it has
 * become one, when it had the time to copy the subnet. Sweeps try again. */
static bool offers_handover(struct sm *sm, struct other *other, bool standby)
{
    if (!standby)
        other->offer_at = 0;
    else if (!other->offer_at)
        other->offer_at = sm->now + NS_PER_S + sm->subnet.nodes.count * COPY_NS_PER_NODE;
    if (!standby || sm->now < other->offer_at)
        return false;
    other->offer_at = TIME_NEVER;
    return true;
}

/* The start and end of other masters matter here, and standbys of higher rank. */
static void other_answered(struct sm *sm, const struct request *request)
{
    struct mastership_peer them = mastership_read_info(request->answer);
    struct subnet_port *port = port_at(sm, request->target);
    bool offers = offers_handover(sm, other_at(sm, request->target), them.state == SM_STANDBY);
    if (sm_state(sm) == SM_MASTER && (them.state == SM_MASTER || port->rival || offers)) {
        manager_answered(sm, request);
        return;
    }
    port->manager_state = (uint8_t)them.state;
    mastership_is_alive(sm, request);
}

/* ---- a standby's polls of its master ---- */

static void check_polls(struct sm *sm, const struct event_details *details)
{
    const struct mastership_limits limits = {
        .unanswered = sm->config.poll_retries, .denied = DENIED_LIMIT, .awaited = AWAITED_LIMIT};
    mastership_handle_from(sm, mastership_polled(&sm->mastership->core, &limits), details);
}

static bool is_polled(const struct sm *sm, const struct request *request)
{
    return sm_state(sm) == SM_STANDBY && request->target == sm->mastership->core.master;
}

static void poll_answered(struct sm *sm, const struct request *request)
{
    struct event_details details = {.port = request->target, .info = request->answer};
    bool master = mastership_read_info(request->answer).state == SM_MASTER;
    mastership_is_alive(sm, request);
    if (!is_polled(sm, request))
        return;
    mastership_handle_from(sm, master ? ON_POLL_ANSWERED : ON_POLL_DENIED, &details);
    check_polls(sm, &details);
}

static void poll_unanswered(struct sm *sm, const struct request *request)
{
    struct event_details details = {.port = request->target};
    if (!is_polled(sm, request))
        return;
    mastership_handle_from(sm, ON_POLL_UNANSWERED, &details);
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
    request_try_once(sm, request, effort);
    limit_to_half_poll(sm, effort);
}
