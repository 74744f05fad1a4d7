/* Who is master: the SMInfo state machine (14.4.1).
 *
 * Four states; what moves between them is in the table below. A manager that starts discovers, and
 * asks every other manager that it finds; if one is master or outranks it, it stands by and watches
 * that one, else it becomes master. A master that meets one that outranks it hands over: HANDOVER,
 * then the other's ACKNOWLEDGE. Rank is priority first, then the lower GUID. A manager that was
 * asked to give way has the lowest priority from then on; if that is all the others have, its GUID
 * may still be the lowest. So it says that it gave way, in the upper bits of its ActCount, which a
 * standby has no other use for, and is not handed back to. */
#include "sm/internal.h"

#include <assert.h>
#include <string.h>

enum sm_control { /* attribute modifiers of Set(SMInfo) */
                  CONTROL_HANDOVER = 1,
                  CONTROL_ACKNOWLEDGE,
                  CONTROL_DISABLE,
                  CONTROL_STANDBY,
                  CONTROL_DISCOVER,
                  CONTROL_COUNT,
};

/* What a Set(SMInfo) does in each state; the rest is refused. */
enum reaction { REFUSE, TAKE_OVER, LET_GO, GO_NOT_ACTIVE, GO_STANDBY, GO_DISCOVERING };
static const uint8_t reactions[4][CONTROL_COUNT] = {
    [SM_NOT_ACTIVE] = {[CONTROL_STANDBY] = GO_STANDBY},
    [SM_DISCOVERING] = {REFUSE},
    [SM_STANDBY] = {[CONTROL_HANDOVER] = TAKE_OVER,
                    [CONTROL_DISABLE] = GO_NOT_ACTIVE,
                    [CONTROL_DISCOVER] = GO_DISCOVERING},
    [SM_MASTER] = {[CONTROL_HANDOVER] = TAKE_OVER, [CONTROL_ACKNOWLEDGE] = LET_GO},
};

/* All four are SMInfo of the manager at a port. */
static request_answered manager_answered, poll_answered, notice_answered, handover_accepted;
static request_unanswered manager_silent, poll_unanswered, handover_unanswered;
static request_adjust_effort manager_effort, poll_effort;
static const struct request_kind ask_manager = {
    .name = "SMInfo",
    .attribute = ATTRIBUTE_SM_INFO,
    .method = METHOD_GET,
    .answered = manager_answered,
    .unanswered = manager_silent,
    .effort = manager_effort,
};
static const struct request_kind poll_master = {
    .name = "SMInfo",
    .attribute = ATTRIBUTE_SM_INFO,
    .method = METHOD_GET,
    .answered = poll_answered,
    .unanswered = poll_unanswered,
    .effort = poll_effort,
};
/* Tells a manager that a change begins: a Get(SMInfo) carries that of its sender. */
static const struct request_kind give_notice = {
    .name = "SMInfo",
    .attribute = ATTRIBUTE_SM_INFO,
    .method = METHOD_GET,
    .answered = notice_answered,
};
static const struct request_kind set_handover = {
    .name = "SMInfo",
    .attribute = ATTRIBUTE_SM_INFO,
    .method = METHOD_SET,
    .answered = handover_accepted,
    .unanswered = handover_unanswered,
};

/* After so many questions without an answer, a manager is not asked by so many sweeps. */
enum { MUTE = 2, SWEEPS_LEFT_OUT = 3 };
enum { LESSON_S = 2 }; /* so long a standby may take to learn what was registered */

static const char *const state_names[] = {"not active", "discovering", "standby", "master"};

/* As unlikely to be another manager's count as 24 bits make it. */
static uint32_t mark_of_one_that_gave_way(uint64_t guid)
{
    return (uint32_t)hash_mix(~guid) & 0xFFFFFF00;
}

static bool gave_way(const uint8_t *info)
{
    uint32_t mark = mark_of_one_that_gave_way(wire_get(info, SM_INFO_GUID));
    return wire_get(info, SM_INFO_STATE) == SM_STANDBY &&
           (wire_get(info, SM_INFO_ACT_COUNT) & 0xFFFFFF00) == mark;
}

static unsigned own_priority(const struct sm *sm)
{
    return sm->gave_way ? 0 : sm->config.priority;
}

static void fill_info(const struct sm *sm, uint8_t *data)
{
    uint32_t acts = mirror_act_count(sm);
    if (sm->gave_way && sm->state == SM_STANDBY)
        acts |= mark_of_one_that_gave_way(sm->guid);
    memset(data, 0, SMP_DATA_BYTES);
    wire_set(data, SM_INFO_GUID, sm->guid);
    wire_set(data, SM_INFO_SM_KEY, sm->config.sm_key);
    wire_set(data, SM_INFO_ACT_COUNT, acts);
    wire_set(data, SM_INFO_PRIORITY, own_priority(sm));
    wire_set(data, SM_INFO_STATE, sm->state);
}

static bool outranks_us(const struct sm *sm, const uint8_t *info)
{
    unsigned priority = (unsigned)wire_get(info, SM_INFO_PRIORITY);
    return priority != own_priority(sm) ? priority > own_priority(sm)
                                        : wire_get(info, SM_INFO_GUID) < sm->guid;
}

void mastership_become(struct sm *sm, uint64_t now, enum sm_state state, const char *why)
{
    if (sm->state == state)
        return;
    sm_say(sm, SM_EVENT_STATE, "%s (%s)", state_names[state], why);
    enum sm_state before = sm->state;
    sm->state = state;
    sm->handing_over = false;
    sm->yielding = false;
    sm->polls_failed = 0;
    sm->next_poll = state == SM_STANDBY ? now + sm->config.poll_ns : TIME_NEVER;
    sm->stood_by = now;
    sm->next_sweep = TIME_NEVER;
    sm->computing = false;
    if (state == SM_STANDBY || state == SM_NOT_ACTIVE)
        sm->change.open = false;
    if (before == SM_MASTER)
        plan_drop(sm);
    if (state == SM_DISCOVERING) {
        sm->master_port = SUBNET_NONE;
        sm_begin_change(sm, now, "%s", why);
    }
    if (state == SM_MASTER) {
        sm->planned_generation = 0;
        sm->masterships++;
        partitions_forget(sm);
        multicast_forget(sm);
        for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
            blocks_forget(&sm->subnet.blocks, port); /* another one may have written them */
        sm_begin_change(sm, now, "%s", why);
        sm->next_sweep = sm->config.sweep_ns == TIME_NEVER ? TIME_NEVER : now + sm->config.sweep_ns;
    }
    if (state == SM_STANDBY) {
        sm->was_standby = true;
        transactions_flush(sm);
        mirror_watch(
            sm, sm->master_port == SUBNET_NONE ? 0 : sm->subnet.ports.items[sm->master_port].guid);
    } else if (state != SM_NOT_ACTIVE && before != SM_DISCOVERING &&
               !(before == SM_STANDBY && mirror_take_over(sm))) {
        discovery_restart(sm); /* what was known may have changed while another one was master */
    }
}

static void ask(struct sm *sm, uint32_t port, bool wait)
{
    struct request *request = sm_request(
        sm, &ask_manager,
        (union request_subject){.manager = {.port = port, .discovery_waits = wait}}, port);
    fill_info(sm, request->data);
    (*(wait ? &sm->discovering : &sm->sweeping))++;
    sm_submit(sm, request, HASTE_URGENT);
}

void mastership_ask(struct sm *sm, uint32_t port)
{
    ask(sm, port, true);
}

/* Who it is was said once, or is not said at all: that is no reason to put anything off. One that
 * hangs is asked now and then, so that there are times without a question under way. */
void mastership_ask_again(struct sm *sm, uint32_t port)
{
    struct port_work *work = sm_port_work(sm, port);
    if (work->mute >= MUTE && work->mute < MUTE + SWEEPS_LEFT_OUT)
        work->mute++;
    else
        ask(sm, port, false);
}

void mastership_notify(struct sm *sm, uint32_t port)
{
    if (port == sm->given_up || sm_port_work(sm, port)->mute >= MUTE)
        return;
    struct request *request =
        sm_request(sm, &give_notice, (union request_subject){.port = port}, port);
    fill_info(sm, request->data);
    sm_submit(sm, request, HASTE_PRESSING);
}

static void hand_over(struct sm *sm, uint32_t port)
{
    struct request *request =
        sm_request(sm, &set_handover, (union request_subject){.port = port}, port);
    request->modifier = CONTROL_HANDOVER;
    fill_info(sm, request->data);
    sm_submit(sm, request, HASTE_URGENT);
}

/* Goes back the way the handover came, whether we know its sender or not. Sent once: if it is lost,
 * the other one hands over again. */
static void acknowledge(struct sm *sm, const struct sm_message *handover)
{
    struct sm_message message = *handover;
    uint8_t *mad = message.mad;
    unsigned hops = (unsigned)wire_get(mad, SMP_HOP_COUNT);
    wire_set(mad, MAD_STATUS, 0);
    wire_set(mad, MAD_METHOD, METHOD_SET);
    wire_set(mad, MAD_TID, UINT32_MAX); /* nobody waits for the answer */
    wire_set(mad, MAD_ATTRIBUTE_MODIFIER, CONTROL_ACKNOWLEDGE);
    wire_set(mad, SMP_M_KEY, sm->config.m_key);
    if (mad_is_directed(mad)) {
        wire_set(mad, SMP_HOP_POINTER, 0);
        wire_set(mad, SMP_HOP_COUNT, hops);
        for (unsigned i = 1; i <= hops && hops <= SMP_MAX_HOPS; i++)
            wire_set_at(mad, SMP_INITIAL_PATH, i,
                        wire_get_at(handover->mad, SMP_RETURN_PATH, hops + 1 - i));
        memset(wire_bytes(mad, SMP_RETURN_PATH), 0, 64);
    }
    fill_info(sm, mad + SMP_DATA_OFFSET);
    sm_reply(sm, &message);
}

/* There were two masters for a while: what we believe to be written may have been overwritten. */
void mastership_rival_gone(struct sm *sm, uint64_t now, uint32_t port)
{
    sm->subnet.ports.items[port].rival = false;
    if (sm->state != SM_MASTER)
        return;
    sm_begin_change(sm, now, "the other master is gone");
    discovery_restart(sm);
    sm->planned_generation = 0;
}

static void begin_hand_over(struct sm *sm, uint32_t port, const uint8_t *info)
{
    sm->handing_over = true;
    sm_say(sm, SM_EVENT_STATE, "handing over to 0x%016llx%s",
           (unsigned long long)wire_get(info, SM_INFO_GUID),
           outranks_us(sm, info) ? ", which outranks us" : "");
    hand_over(sm, port);
}

static void meet_manager(struct sm *sm, uint64_t now, uint32_t port, const uint8_t *info)
{
    enum sm_state theirs = (enum sm_state)wire_get(info, SM_INFO_STATE);
    bool outranked = outranks_us(sm, info);
    struct subnet_port *seat = port_at(sm, port);
    seat->manager_priority = (uint8_t)wire_get(info, SM_INFO_PRIORITY);
    seat->manager_state = (uint8_t)theirs;
    seat->manager_acts = (uint32_t)wire_get(info, SM_INFO_ACT_COUNT);
    if (sm->state == SM_DISCOVERING) {
        if (theirs == SM_MASTER || (theirs != SM_NOT_ACTIVE && outranked)) {
            sm->master_port = port;
            mastership_become(sm, now, SM_STANDBY,
                              theirs == SM_MASTER ? "there is a master"
                                                  : "another one outranks us");
        }
        return;
    }
    if (sm->state != SM_MASTER)
        return;
    bool was_rival = seat->rival;
    seat->rival = theirs == SM_MASTER;
    bool has_claim = outranked && !(gave_way(info) && seat->manager_priority == own_priority(sm));
    bool succeeds = theirs == SM_STANDBY && !sm->handing_over;
    if (was_rival && theirs != SM_MASTER)
        mastership_rival_gone(sm, now, port);
    else if ((outranked && theirs == SM_MASTER) ||
             (succeeds && (has_claim || sm->stopped || sm->yielding)))
        begin_hand_over(sm, port, info);
}

static void polled(struct sm *sm, uint64_t now, const uint8_t *info)
{
    if (sm->state != SM_STANDBY)
        return;
    if (wire_get(info, SM_INFO_STATE) == SM_MASTER) {
        sm->polls_failed = 0;
        mirror_hear(sm, now, info);
        return;
    }
    if (++sm->polls_failed > sm->config.poll_retries)
        mastership_become(sm, now, SM_DISCOVERING, "the manager we watched is not master");
}

/* The next poll does not wait for its time: if the master is dead, every moment counts. */
static void poll_failed(struct sm *sm, uint64_t now)
{
    sm->next_poll = now + sm->config.poll_ns / 8;
    if (++sm->polls_failed <= sm->config.poll_retries)
        return;
    sm->given_up = sm->master_port;
    mastership_become(sm, now, SM_DISCOVERING, "the master does not answer");
}

static void count_off(struct sm *sm, const struct request *request)
{
    uint32_t *count = request->about.manager.discovery_waits ? &sm->discovering : &sm->sweeping;
    assert(*count);
    (*count)--;
}

static void is_alive(struct sm *sm, uint32_t port)
{
    if (port == sm->given_up)
        sm->given_up = SUBNET_NONE;
    sm_port_work(sm, port)->mute = 0;
}

static void manager_answered(struct sm *sm, uint64_t now, const struct request *request,
                             const uint8_t *data)
{
    is_alive(sm, request->about.manager.port);
    count_off(sm, request);
    meet_manager(sm, now, request->about.manager.port, data);
}

/* A later sweep asks again. */
static void manager_silent(struct sm *sm, uint64_t now, const struct request *request)
{
    struct port_work *work = sm_port_work(sm, request->about.manager.port);
    (void)now;
    count_off(sm, request);
    work->mute = work->mute < MUTE ? work->mute + 1 : MUTE;
}

/* A standby gives up on its master after several polls; each of them is sent once, and waited for
 * no longer than it takes to have time for the others. */
static void wait_half_a_poll(const struct sm *sm, struct request_effort *effort)
{
    if (sm->config.poll_ns / 2 < effort->timeout_ns)
        effort->timeout_ns = sm->config.poll_ns / 2;
}

/* A master that has been given up is asked once more, in case that the polls were lost. Sweeps ask
 * other managers who they are: whoever hangs does not say so, ever; the next sweep asks again, and
 * it tells nothing of the way. */
static void manager_effort(const struct sm *sm, const struct request *request,
                           struct request_effort *effort)
{
    if (request->about.manager.port == sm->given_up) {
        wait_half_a_poll(sm, effort);
        effort->retries *= 2;
    }
    if (!request->about.manager.discovery_waits) {
        effort->retries = 0;
        effort->ignores_loss = true;
    }
}

static void poll_answered(struct sm *sm, uint64_t now, const struct request *request,
                          const uint8_t *data)
{
    is_alive(sm, request->about.port);
    polled(sm, now, data);
}

static void poll_unanswered(struct sm *sm, uint64_t now, const struct request *request)
{
    (void)request;
    if (sm->state == SM_STANDBY)
        poll_failed(sm, now);
}

static void poll_effort(const struct sm *sm, const struct request *request,
                        struct request_effort *effort)
{
    (void)request;
    wait_half_a_poll(sm, effort);
    effort->retries = 0;
}

static void notice_answered(struct sm *sm, uint64_t now, const struct request *request,
                            const uint8_t *data)
{
    (void)now, (void)data;
    is_alive(sm, request->about.port);
}

/* It has accepted. Its acknowledgement should follow, but OpenSM sends none, and as long as it saw
 * a master here it would wait, or hand back. */
static void handover_accepted(struct sm *sm, uint64_t now, const struct request *request,
                              const uint8_t *data)
{
    (void)data;
    is_alive(sm, request->about.port);
    if (sm->state != SM_MASTER)
        return;
    sm->master_port = request->about.port;
    mastership_become(sm, now, sm->stopped ? SM_NOT_ACTIVE : SM_STANDBY, "handed over");
}

static void handover_unanswered(struct sm *sm, uint64_t now, const struct request *request)
{
    (void)now, (void)request;
    sm->handing_over = false;
}

/* Everything that can be found has been found, and no manager that outranks us. */
void mastership_discovered(struct sm *sm, uint64_t now)
{
    if (sm->state == SM_DISCOVERING && sm->subnet.own_port != SUBNET_NONE)
        mastership_become(sm, now, SM_MASTER, "no manager outranks us");
}

static uint32_t find_manager(const struct sm *sm, uint64_t guid)
{
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
        if (sm->subnet.ports.items[port].guid == guid &&
            sm->subnet.nodes.items[sm->subnet.ports.items[port].node].present)
            return port;
    return SUBNET_NONE;
}

static bool react(struct sm *sm, uint64_t now, const struct sm_message *message)
{
    unsigned command = (unsigned)wire_get(message->mad, MAD_ATTRIBUTE_MODIFIER);
    if (command >= CONTROL_COUNT)
        return false;
    switch ((enum reaction)reactions[sm->state][command]) {
    case REFUSE: return false;
    case TAKE_OVER:
        if (sm->state == SM_STANDBY && sm->learns && now < sm->stood_by + LESSON_S * NS_PER_S)
            return false;
        mirror_hear(sm, now, message->mad + SMP_DATA_OFFSET);
        acknowledge(sm, message);
        if (sm->state == SM_MASTER) {
            sm_begin_change(sm, now, "another master handed over: two subnets become one");
            discovery_restart(sm);
            sm->planned_generation = 0;
        } else {
            mastership_become(sm, now, SM_MASTER, "the master handed over");
        }
        return true;
    case LET_GO:
        if (!sm->handing_over)
            return false;
        sm->master_port = find_manager(sm, wire_get(message->mad + SMP_DATA_OFFSET, SM_INFO_GUID));
        mastership_become(sm, now, sm->stopped ? SM_NOT_ACTIVE : SM_STANDBY,
                          "the new master acknowledged");
        return true;
    case GO_NOT_ACTIVE:
        mastership_become(sm, now, SM_NOT_ACTIVE, "disabled by the master");
        return true;
    case GO_STANDBY:
        if (sm->stopped)
            return false;
        sm->master_port = find_manager(sm, wire_get(message->mad + SMP_DATA_OFFSET, SM_INFO_GUID));
        mastership_become(sm, now, SM_STANDBY, "enabled by the master");
        return true;
    case GO_DISCOVERING:
        mastership_become(sm, now, SM_DISCOVERING, "told to discover");
        return true;
    }
    return false;
}

/* Get and Set of our own SMInfo. */
void mastership_receive(struct sm *sm, uint64_t now, const struct sm_message *message)
{
    struct sm_message answer = *message;
    uint8_t *data = answer.mad + SMP_DATA_OFFSET;
    unsigned status = STATUS_OK;
    if (wire_get(answer.mad, MAD_METHOD) == METHOD_SET && !react(sm, now, message))
        status = STATUS_BAD_VALUE;
    if (wire_get(answer.mad, MAD_METHOD) == METHOD_GET)
        mirror_hear(sm, now, data);
    fill_info(sm, data);
    wire_set(answer.mad, MAD_METHOD, METHOD_GET_RESP);
    wire_set(answer.mad, MAD_STATUS, status);
    if (mad_is_directed(answer.mad))
        wire_set(answer.mad, SMP_DIRECTION, 1);
    sm_reply(sm, &answer);
}

void mastership_expire(struct sm *sm, uint64_t now)
{
    if (sm->state != SM_STANDBY || now < sm->next_poll)
        return;
    sm->next_poll = now + sm->config.poll_ns;
    if (sm->master_port == SUBNET_NONE) {
        mastership_become(sm, now, SM_DISCOVERING, "no master is known");
        return;
    }
    struct request *request = sm_request(
        sm, &poll_master, (union request_subject){.port = sm->master_port}, sm->master_port);
    sm_submit(sm, request, HASTE_PRESSING);
}
