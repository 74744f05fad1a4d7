/* Which other managers this one obeys, hands over to and polls (subnet/trust.h).
 *
 * transactions.c passes every Get and Set of SMInfo and every answer through this file. The answer
 * of a manager that is not a peer counts as no answer: such a manager is neither obeyed as a
 * master, nor handed over to, nor counted as a second master. It is logged once. A Set(SMInfo) is
 * obeyed only if its sender has the SM_Key and the state from which the specification (14.4.1) lets
 * it send that Set; mastership_table.c has further conditions. */
#include "sm/guard/peers.h"
#include "base/rate_limit.h"
#include "sm/admission.h"
#include "sm/internal.h"
#include "sm/mastership/mastership_table.h"
#include "sm/transactions.h"
#include "subnet/names.h"
#include "subnet/trust.h"

#include <string.h>

enum { REFUSAL_LOG_S = 10 }; /* between log lines about refused Sets */

struct peers {
    uint64_t sealed;          /* requests so far: each has its own nonce */
    VEC(uint8_t) verdicts;    /* enum trust_verdict of the last answer, by port */
    uint32_t refused;         /* Sets, since the last log line */
    struct rate_window lines; /* about them: one in REFUSAL_LOG_S */
};

static struct trust trust_of(const struct sm *sm)
{
    return (struct trust){.sm_key = sm->config.sm_key,
                          .salt = sm->config.salt,
                          .allowed = sm->config.allowed_sm_guids,
                          .allowed_count = sm->config.allowed_sm_guid_count};
}

void peers_seal_request(struct sm *sm, struct request *request)
{
    struct trust trust = trust_of(sm);
    if (request->kind->writes)
        wire_set(request->data, SM_INFO_SM_KEY, sm->config.sm_key); /* its target is a peer */
    else
        trust_seal_request(&trust,
                           request->target == SUBNET_NONE ? 0 : port_at(sm, request->target)->guid,
                           hash_mix(sm->now) ^ ++sm->peers->sealed, request->data);
}

bool peers_accept(struct sm *sm, const struct request *request)
{
    struct trust trust = trust_of(sm);
    if (request->target == SUBNET_NONE) /* asked by LID: it names its port itself */
        return trust_judge_answer(&trust, wire_get(request->answer, SM_INFO_GUID), request->data,
                                  request->answer) == TRUST_PEER;
    struct subnet_port *port = port_at(sm, request->target);
    uint8_t *last = vec_at(&sm->peers->verdicts, request->target);
    if (request->kind->writes)
        return true;
    enum trust_verdict verdict =
        trust_judge_answer(&trust, port->guid, request->data, request->answer);
    port->peer_manager = verdict == TRUST_PEER;
    if (verdict != *last && verdict != TRUST_PEER)
        sm_log_at(sm, SM_EVENT_WARNING, request->target, "the manager at %s is ignored: %s",
                  subnet_link_name(&sm->subnet, request->target).text, trust_reason(verdict));
    *last = (uint8_t)verdict;
    return verdict == TRUST_PEER;
}

void peers_seal_answer(struct sm *sm, const uint8_t *request, uint8_t *answer)
{
    struct trust trust = trust_of(sm);
    trust_seal_answer(&trust, sm->guid, request, answer);
}

/* Whether the request comes from the port that it names. A secret key proves it; with a key that
 * everybody knows, allowed_sm_guids is worth nothing without this. Without either, a manager may be
 * at a port that is not known yet. */
static bool names_its_port(const struct sm *sm, const struct sm_message *message)
{
    const uint8_t *info = message->mad + SMP_DATA_OFFSET;
    if (key_is_secret(sm->config.sm_key))
        return true;
    uint32_t origin = admission_origin(sm, message);
    if (origin == SUBNET_NONE)
        return !sm->config.allowed_sm_guid_count;
    return port_at(sm, origin)->guid == wire_get(info, SM_INFO_GUID);
}

bool peers_believe_request(const struct sm *sm, const struct sm_message *message)
{
    struct trust trust = trust_of(sm);
    const uint8_t *info = message->mad + SMP_DATA_OFFSET;
    return key_is_secret(trust.sm_key)
               ? trust_request_is_sealed(&trust, sm->guid, info)
               : trust_judge_set(&trust, info) == TRUST_PEER && names_its_port(sm, message);
}

static void log_refused_set(struct sm *sm, const uint8_t *info, const char *reason)
{
    struct peers *peers = sm->peers;
    peers->refused++;
    if (rate_window_add(&peers->lines, sm->now, REFUSAL_LOG_S * NS_PER_S) > 1)
        return;
    sm_log(sm, SM_EVENT_WARNING,
           "refused %u Set(SMInfo); the last one claims to be from the manager at 0x%016llx: %s",
           peers->refused, (unsigned long long)wire_get(info, SM_INFO_GUID), reason);
    peers->refused = 0;
}

bool peers_may_control(struct sm *sm, enum mastership_event event, const struct sm_message *message)
{
    struct trust trust = trust_of(sm);
    const uint8_t *info = message->mad + SMP_DATA_OFFSET;
    enum trust_verdict verdict = trust_judge_set(&trust, info);
    uint64_t guid = wire_get(info, SM_INFO_GUID);
    const char *reason = NULL;
    if (verdict != TRUST_PEER)
        reason = trust_reason(verdict);
    else if (guid == sm->guid)
        reason = "its GUID is that of this manager";
    else if (!names_its_port(sm, message))
        reason = "it comes from another port";
    else if (event != ON_ACKNOWLEDGE && wire_get(info, SM_INFO_STATE) != SM_MASTER)
        reason = "only a master may send it";
    if (reason)
        log_refused_set(sm, info, reason);
    return !reason;
}

static void peers_list_problems(struct sm *sm, struct problems *problems)
{
    for (uint32_t port = 0; port < sm->peers->verdicts.count; port++) {
        enum trust_verdict verdict = (enum trust_verdict)sm->peers->verdicts.items[port];
        const struct subnet_port *p = port_at(sm, port);
        if (verdict != TRUST_PEER && p->manager && node_at(sm, p->node)->present)
            problems_add(problems, PROBLEM_FOREIGN_MANAGER, subnet_at_link(&sm->subnet, port),
                         "a manager at this port (GUID 0x%016llx) is ignored: %s",
                         (unsigned long long)p->guid, trust_reason(verdict));
    }
}

SM_PART(peers, .vectors = {VECTOR(peers, verdicts)}, .problems = peers_list_problems);
