/* Looks for nodes that did not answer, between sweeps.
 *
 * A port whose node did not answer, or that was not read, is avoided until a sweep. Sweeps are far
 * apart. So the master sends one request to each such port every second, without repetitions: as
 * soon as there is an answer, discovery reads the port again. Discovery does not wait for these
 * requests. While GUIDs are in doubt, all links are verified as often. A node with a duplicate GUID
 * answers, too; it is read again when its GUID changes. */
#include "sm/guard/recheck.h"
#include "sm/discovery/discovery.h"
#include "sm/faults/faults.h"
#include "sm/internal.h"
#include "sm/tables/program_ports.h"
#include "sm/transactions.h"

#include <string.h>

struct recheck {
    uint64_t next; /* time of the next requests */
};

static void init_recheck(struct sm *sm)
{
    sm->recheck->next = TIME_NEVER;
}

static request_outcome absent_node_answered, avoided_port_read;
static request_adjust_effort recheck_effort;
static const struct request_kind probe_absent_node = {
    .attribute = ATTRIBUTE_NODE_INFO,
    .answered = absent_node_answered,
    .effort = recheck_effort,
};
static const struct request_kind read_avoided_port = {
    .attribute = ATTRIBUTE_PORT_INFO,
    .answered = avoided_port_read,
    .effort = recheck_effort,
};

static void recheck_effort(const struct sm *sm, const struct request *request,
                           struct request_effort *effort)
{
    (void)sm;
    (void)request;
    effort->retries = 0;
    effort->ignores_loss = effort->is_expected = true;
}

static uint64_t recheck_deadline(const struct sm *sm)
{
    return sm->recheck->next;
}

/* Longer in large subnets, where more ports may be avoided. */
void recheck_schedule(struct sm *sm)
{
    const uint64_t per_port = 50 * NS_PER_US;
    uint64_t at = sm->now + NS_PER_S + sm->subnet.ports.count * per_port;
    if (sm->config.policy->chases_losses && at < sm->recheck->next)
        sm->recheck->next = at;
}

static bool is_to_be_rechecked(const struct sm *sm, uint32_t port)
{
    return node_at(sm, port_at(sm, port)->node)->present &&
           (sm_is_avoiding_port(sm, port) || discovery_has_unread_port(sm, port));
}

void recheck_resume(struct sm *sm)
{
    bool due = faults_doubt_links(sm);
    for (uint32_t port = 0; port < sm->subnet.ports.count && !due; port++)
        due = is_to_be_rechecked(sm, port);
    if (due)
        recheck_schedule(sm);
}

static void recheck_port(struct sm *sm, uint32_t port)
{
    const struct subnet_port *p = port_at(sm, port);
    const struct subnet_node *node = node_at(sm, p->node);
    bool leads = node->kind == SUBNET_SWITCH ? p->number != 0 : port == sm->subnet.own_port;
    bool probes = leads && p->known && !program_port_is_refused(sm, port);
    struct request *request =
        sm_request(sm, probes ? &probe_absent_node : &read_avoided_port,
                   (union request_subject){.port = port}, subnet_end_port(&sm->subnet, port));
    if (probes)
        request->through = port;
    else
        request->modifier = sm_port_info_modifier(sm, port);
    sm_submit(sm, request, PRIORITY_NONE);
}

static void recheck_expire(struct sm *sm)
{
    if (sm->now < sm->recheck->next)
        return;
    sm->recheck->next = TIME_NEVER;
    bool again = sm_state(sm) == SM_DISCOVERING || !discovery_is_complete(sm);
    if (sm_state(sm) == SM_MASTER && !again) {
        again = faults_probe_links(sm);
        for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
            if (!is_to_be_rechecked(sm, port))
                continue;
            recheck_port(sm, port);
            again = true;
        }
    }
    if (again)
        recheck_schedule(sm);
}

static void absent_node_answered(struct sm *sm, const struct request *request)
{
    uint32_t port = request->about.port;
    uint64_t guid = wire_get(request->answer, NODE_INFO_NODE_GUID);
    if (!faults_is_damped(sm, port) && !faults_has_excluded(sm, port, guid))
        discovery_retry_port(sm, port);
}

static void avoided_port_read(struct sm *sm, const struct request *request)
{
    uint32_t port = request->about.port;
    const struct subnet_port *p = port_at(sm, port);
    if (!p->known || memcmp(p->info, request->answer, sizeof p->info) != 0)
        discovery_retry_port(sm, port);
}

SM_PART(recheck, .init = init_recheck, .expire = recheck_expire, .deadline = recheck_deadline);
