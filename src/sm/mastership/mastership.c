/* Mastership (14.4.1): passes events from messages (sm_info.c), polls (polls.c) and calls of the
 * owner to the state machine in mastership_table.c, performs its actions, and informs the other
 * parts of a new state. */
#include "sm/discovery/discovery.h"
#include "sm/discovery/sweeps.h"
#include "sm/guard/recheck.h"
#include "sm/mastership/mastership_internal.h"
#include "sm/mastership/neighbor.h"
#include "sm/mastership/standby_copy.h"
#include "sm/reconfigure.h"
#include "sm/report.h"
#include "sm/tables/multicast.h"
#include "sm/tables/partitions.h"
#include "sm/tables/program_ports.h"
#include "sm/tables/reregister.h"
#include "subnet/names.h"

#include <stdio.h>

/* The longest time for which a standby refuses a handover: sm_set_syncing(). */
enum { SYNC_LIMIT_S = 2 };

static void init_mastership(struct sm *sm)
{
    mastership_core_init(&sm->mastership->core);
    sm->mastership->given_up = sm->mastership->last_successor = SUBNET_NONE;
    sm->mastership->next_poll = TIME_NEVER;
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

/* ---- actions ---- */

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
    case DO_SEND_HANDOVER: mastership_send_handover(sm, details); break;
    case DO_ACKNOWLEDGE_HANDOVER: mastership_acknowledge(sm, details); break;
    case DO_MERGE_SUBNETS:
        mastership_acknowledge(sm, details);
        start_discovery_again(sm, "another master handed over: two subnets become one");
        break;
    case DO_REDISCOVER: start_discovery_again(sm, "the other master left"); break;
    case DO_PROMPT_RIVAL: mastership_prompt_rival(sm, details->port); break;
    case DO_SEND_POLL: mastership_poll_master(sm); break;
    case DO_RECORD_MASTER: standby_copy_receive_info(sm, details->info); break;
    case DO_COUNT_UNANSWERED_POLL: mastership_read_master_port(sm); break;
    case DO_GIVE_UP_MASTER: m->given_up = m->core.master; break;
    default: break; /* only the core changes */
    }
}

/* ---- states ---- */

/* The core has entered a state. `has_copy`: a standby's copy is of the last master. */
static void enter(struct sm *sm, enum sm_state before, const char *why, bool has_copy)
{
    struct mastership *m = sm->mastership;
    enum sm_state state = m->core.state;
    bool polls = state == SM_STANDBY || (state == SM_MASTER && !sm->config.alone);
    assert(state != before && state <= SM_MASTER);
    bool works = state == SM_DISCOVERING || state == SM_MASTER;
    const struct sm_event event = {
        .kind = SM_EVENT_STATE, .at = SUBNET_NONE, .change = works ? NULL : report_abandon(sm)};
    sm_log_event(sm, event, "%s (%s)", sm_state_names[state], why);
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
    case SM_MASTER:
        m->number++;
        reconfigure_request(sm, REASON_START);
        forget_settings_written(sm);
        sm_begin_change(sm, SM_CAUSE(SM_CAUSE_MASTERSHIP, SUBNET_NONE, .why = why));
        sweep_schedule(sm);
        recheck_resume(sm);
        break;
    }
    /* The subnet may have changed under another master; ports that are written when they are read
     * were not. */
    if (works && before != SM_DISCOVERING && has_copy)
        standby_copy_take_over(sm);
    else if (works && (before != SM_DISCOVERING || program_writes_ports_once(sm)))
        discovery_restart(sm);
}

/* ---- events ---- */

/* Returns false if the state ignores the event. */
bool mastership_handle_from(struct sm *sm, enum mastership_event event,
                            const struct event_details *details)
{
    struct mastership *m = sm->mastership;
    if (event == ON_HANDOVER && m->syncing && !m->refuses_until)
        m->refuses_until = sm->now + SYNC_LIMIT_S * NS_PER_S;
    m->core.syncing = (m->syncing && sm->now < m->refuses_until) || neighbor_stands_by(sm);
    enum sm_state before = m->core.state;
    struct mastership_transition step = mastership_step(&m->core, event, details->port);
    sm_debug(sm, PART_MASTERSHIP, "%s, %s%s%s: %s%s%s", sm_state_names[before],
             mastership_event_names[event], details->port == SUBNET_NONE ? "" : ", manager at ",
             details->port == SUBNET_NONE ? "" : subnet_port_name(&sm->subnet, details->port).text,
             step.action == DO_NOTHING ? "ignored" : sm_state_names[step.next],
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
    return mastership_handle_from(sm, event, &(struct event_details){.port = SUBNET_NONE});
}

void mastership_complete_discovery(struct sm *sm)
{
    enum mastership_event event = mastership_discovered(&sm->mastership->core);
    if (event != ON_DISCOVERED || !neighbor_prevents_mastership(sm))
        mastership_handle(sm, event);
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

/* As far as this manager knows, nobody is master. */
static void list_no_master(struct sm *sm, struct problems *problems)
{
    const struct mastership *m = sm->mastership;
    uint32_t own = sm->subnet.own_port, master = m->core.master;
    struct subnet_place place = {0};
    const char *why = m->core.state == SM_NOT_ACTIVE ? "this manager is not active"
                      : m->core.state == SM_DISCOVERING
                          ? "this manager discovers the subnet, and has found no master yet"
                      : master == SUBNET_NONE ? "this standby knows none"
                                              : NULL;
    if (own != SUBNET_NONE)
        place = subnet_at_link(&sm->subnet, own);
    if (sm_own_link_is_down(sm))
        problems_add(problems, PROBLEM_NO_MASTER, place,
                     "the link of this manager is down: it reaches no other one");
    else if (sm_own_port_is_silent(sm))
        problems_add(problems, PROBLEM_NO_MASTER, place,
                     "the port of this manager does not answer");
    else if (why)
        problems_add(problems, PROBLEM_NO_MASTER, place, "%s", why);
    else if (m->core.unanswered)
        problems_add(problems, PROBLEM_NO_MASTER, subnet_at_link(&sm->subnet, master),
                     "the master at %s does not answer%s",
                     subnet_port_name(&sm->subnet, master).text,
                     neighbor_stands_by(sm) ? "" : "; this standby takes over if it stays so");
}

/* No master, another one in the subnet of a master, or a master that is not a weft SM. */
static void mastership_list_problems(struct sm *sm, struct problems *problems)
{
    uint32_t master = sm->mastership->core.master;
    bool weft = false;
    if (sm_state(sm) != SM_MASTER || sm_own_link_is_down(sm))
        list_no_master(sm, problems);
    if (sm_state(sm) == SM_STANDBY && master != SUBNET_NONE &&
        standby_copy_master_answered(sm, &weft) && !weft)
        problems_add(problems, PROBLEM_FOREIGN_MANAGER, subnet_at_link(&sm->subnet, master),
                     "an SM that is not weft is master (priority %u; this manager's is %u); this "
                     "manager is standby",
                     port_at(sm, master)->manager_priority, mastership_rank(sm).priority);
    for (uint32_t port = 0; sm_state(sm) == SM_MASTER && port < sm->subnet.ports.count; port++) {
        const struct subnet_port *p = port_at(sm, port);
        if (p->manager && p->rival && node_at(sm, p->node)->present)
            problems_add(problems, PROBLEM_FOREIGN_MANAGER, subnet_at_link(&sm->subnet, port),
                         "a second SM is master, too (priority %u; this manager's is %u)",
                         p->manager_priority, mastership_rank(sm).priority);
        if (p->peer_manager && node_at(sm, p->node)->present && port != sm->subnet.own_port &&
            (!p->manager || mastership_is_silent(sm, port)))
            problems_add(problems, PROBLEM_STANDBY_GONE, subnet_at_link(&sm->subnet, port),
                         "the manager at %s %s", subnet_port_name(&sm->subnet, port).text,
                         p->manager ? "does not answer" : "has ended");
    }
}

bool sm_next_other(const struct sm *sm, uint32_t *cursor, struct sm_other *other)
{
    const struct mastership *m = sm->mastership;
    for (; *cursor < m->known.count; ++*cursor) {
        uint32_t at = m->known.items[*cursor];
        const struct subnet_port *port = port_at(sm, at);
        if (!node_at(sm, port->node)->present || (!port->manager && !port->peer_manager))
            continue;
        *other = (struct sm_other){
            .port = at,
            .priority = port->manager_priority,
            .state = port->manager_state <= SM_MASTER ? (enum sm_state)port->manager_state
                                                      : SM_NOT_ACTIVE,
            .ended = !port->manager,
            .peer = port->peer_manager,
            .silent_since = at < m->others.count ? m->others.items[at].silent_since : 0,
        };
        ++*cursor;
        return true;
    }
    return false;
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
    *master = (struct sm_master){.port = at, .lid = (uint16_t)wire_get(port->info, PORT_INFO_LID)};
    return standby_copy_master_answered(sm, &master->weft) && master->lid != 0;
}

SM_PART(mastership, .init = init_mastership,
        .vectors = {VECTOR(mastership, others), VECTOR(mastership, known)},
        .requests_dropped = drop_mastership, .expire = mastership_expire,
        .deadline = mastership_deadline, .problems = mastership_list_problems);
