/* SMInfo: the rank of managers, and messages to and from them: handover, its acknowledgement,
 * requests that other managers send.
 *
 * A standby that yielded sets a mark in the upper bits of its ActCount, which are unused in a
 * standby. A master that reads the mark does not hand back to it for its GUID alone. */
#include "sm/discovery/discovery.h"
#include "sm/guard/peers.h"
#include "sm/mastership/mastership_internal.h"
#include "sm/mastership/standby_copy.h"
#include "subnet/names.h"

#include <string.h>

enum sm_control { /* attribute modifiers of Set(SMInfo) */
                  CONTROL_HANDOVER = 1,
                  CONTROL_ACKNOWLEDGE,
                  CONTROL_DISABLE,
                  CONTROL_STANDBY,
                  CONTROL_DISCOVER,
                  CONTROL_COUNT,
};

/* ---- rank and state ---- */

/* 24 bits that another manager's ActCount is unlikely to have. */
static uint32_t yielded_mark(uint64_t guid)
{
    return (uint32_t)hash_mix(~guid) & 0xFFFFFF00;
}

uint32_t sm_act_count(const struct sm *sm)
{
    return standby_copy_act_count_bits(sm) | (sm->mastership->smps & 0xFF);
}

struct mastership_peer mastership_rank(const struct sm *sm)
{
    return (struct mastership_peer){
        .guid = sm->guid,
        .priority = sm->mastership->has_yielded ? 0 : sm->config.priority,
        .state = sm->mastership->core.state,
        .yielded = sm->mastership->has_yielded && sm->mastership->core.state == SM_STANDBY,
    };
}

struct mastership_peer mastership_read_info(const uint8_t *info)
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
    struct mastership_peer us = mastership_rank(sm);
    uint32_t mark = us.yielded ? yielded_mark(us.guid) : 0;
    memset(data, 0, SMP_DATA_BYTES);
    wire_set(data, SM_INFO_GUID, us.guid);
    wire_set(data, SM_INFO_ACT_COUNT, sm_act_count(sm) | mark);
    wire_set(data, SM_INFO_PRIORITY, us.priority);
    wire_set(data, SM_INFO_STATE, us.state);
}

/* ---- messages to other managers ---- */

static request_outcome handover_accepted, handover_unanswered;
static const struct request_kind set_handover = {
    .attribute = ATTRIBUTE_SM_INFO,
    .writes = true,
    .answered = handover_accepted,
    .unanswered = handover_unanswered,
};

void mastership_send_info(struct sm *sm, const struct request_kind *kind, uint32_t port,
                          uint32_t modifier, enum request_priority priority)
{
    struct request *request = sm_request(sm, kind, (union request_subject){0}, port);
    request->modifier = modifier;
    fill_info(sm, request->data);
    sm_submit(sm, request, priority);
}

void mastership_send_handover(struct sm *sm, const struct event_details *details)
{
    assert(sm_state(sm) == SM_MASTER && details->info && details->port != SUBNET_NONE);
    struct mastership_peer us = mastership_rank(sm), them = mastership_read_info(details->info);
    sm->mastership->last_successor = details->port;
    sm->mastership->refused = false;
    sm_log_at(sm, SM_EVENT_STATE, details->port,
              "handing over to the manager at %s (0x%016llx, priority %u)%s",
              subnet_link_name(&sm->subnet, details->port).text, (unsigned long long)them.guid,
              them.priority, mastership_outranks(&them, &us) ? ", which has a higher rank" : "");
    mastership_send_info(sm, &set_handover, details->port, CONTROL_HANDOVER, PRIORITY_URGENT);
}

/* Returns by the path of the handover, since the sender may be unknown. It is sent once: if it is
 * lost, the other manager sends HANDOVER again. */
void mastership_acknowledge(struct sm *sm, const struct event_details *details)
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

/* A trap 144 that reports a changed rank, by a directed route: two masters have written LIDs and
 * tables. Nobody waits for its TrapRepress. */
void mastership_send_rank_trap(struct sm *sm, uint32_t port)
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

/* Does not wait for ACKNOWLEDGE: OpenSM sends none, and waits or hands back while it sees another
 * master. */
static void handover_accepted(struct sm *sm, const struct request *request)
{
    mastership_is_alive(sm, request);
    mastership_handle_from(
        sm, ON_HANDOVER_ACCEPTED,
        &(struct event_details){.port = request->target, .info = request->answer});
}

static void handover_unanswered(struct sm *sm, const struct request *request)
{
    sm->mastership->refused = true;
    sm->mastership->refusal = request->status;
    mastership_handle(sm, ON_HANDOVER_FAILED);
}

/* ---- messages from other managers ---- */

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
           mastership_handle_from(sm, (enum mastership_event)events[control], &details);
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
    if (sm_state(sm) == SM_MASTER && mastership_read_info(info).state == SM_MASTER)
        port = find_manager(sm, wire_get(info, SM_INFO_GUID));
    if (port == SUBNET_NONE || port == sm->subnet.own_port ||
        sm->now < other_at(sm, port)->no_hint_before)
        return;
    other_at(sm, port)->no_hint_before = sm->now + sm->config.poll_ns;
    if (mastership_has_manager(sm, port))
        mastership_poll_other(sm, port);
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
