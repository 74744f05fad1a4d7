/* Links that lose SMPs, and agents that answer late.
 *
 * An answer that is late, or that needed a repetition, does not tell which link of its path is bad,
 * or whether its agent is slow. So each link of the path is examined: Get(NodeInfo) is sent over it
 * PROBES times, one after the other, without repetitions and with a time-out that slow agents meet.
 * What is found is listed and examined again after each sweep interval until nothing is found. If
 * several links of a path lose SMPs, the first one is listed: SMPs to the others pass it. */
#include "sm/guard/examine.h"
#include "sm/faults/faults.h"
#include "sm/internal.h"
#include "sm/reconfigure.h"
#include "sm/transactions.h"
#include "subnet/names.h"

enum { PROBES = 30, LOSSES = 3, LINKS_MOST = 64 };
static const uint64_t late = 50 * NS_PER_MS;
static const uint64_t probe_timeout = NS_PER_S;

struct probes {
    unsigned sent, lost;
    uint64_t fastest_ns; /* of the answers */
};

struct examined_link {
    uint32_t through;            /* the port of its near end */
    uint64_t again_at;           /* TIME_NEVER: probes are under way */
    struct probes probes, shown; /* of this examination; those that are listed */
};

struct examine {
    VEC(struct examined_link) links;
};

static void forget_all(struct sm *sm)
{
    sm->examine->links.count = 0;
}

static struct examined_link *find_link(struct sm *sm, uint32_t through)
{
    for (size_t i = 0; i < sm->examine->links.count; i++)
        if (sm->examine->links.items[i].through == through)
            return &sm->examine->links.items[i];
    return NULL;
}

static bool is_slow(const struct probes *probes)
{
    return probes->sent - probes->lost >= LOSSES && probes->fastest_ns >= late;
}

/* Late answers of a slow agent count as lost. */
static bool is_lossy(const struct probes *probes)
{
    return probes->lost >= LOSSES && probes->sent - probes->lost >= LOSSES && !is_slow(probes);
}

static void probe_effort(const struct sm *sm, const struct request *request,
                         struct request_effort *effort)
{
    (void)sm;
    (void)request;
    *effort = (struct request_effort){
        .timeout_ns = probe_timeout, .ignores_loss = true, .is_expected = true};
}

static request_outcome probe_answered, probe_lost;
static const struct request_kind probe = {
    .attribute = ATTRIBUTE_NODE_INFO,
    .answered = probe_answered,
    .refused = probe_answered,
    .unanswered = probe_lost,
    .effort = probe_effort,
};

static void send_probe(struct sm *sm, struct examined_link *link)
{
    struct request *request = sm_request(sm, &probe, (union request_subject){.port = link->through},
                                         subnet_end_port(&sm->subnet, link->through));
    request->through = link->through;
    sm_submit(sm, request, PRIORITY_NONE);
}

static void begin(struct sm *sm, struct examined_link *link)
{
    link->probes = (struct probes){.fastest_ns = TIME_NEVER};
    link->again_at = TIME_NEVER;
    send_probe(sm, link);
}

/* The link is down, or leads nowhere. A node that does not answer may be behind it. */
static bool is_gone(const struct sm *sm, uint32_t port)
{
    const struct subnet_port *p = port_at(sm, port);
    return !node_at(sm, p->node)->present || p->last_peer == SUBNET_NONE ||
           wire_get(p->info, PORT_INFO_PORT_STATE) < PORT_STATE_INIT;
}

/* A probe has ended: sends the next one, or ends the examination. */
static void go_on(struct sm *sm, struct examined_link *link)
{
    bool found = is_lossy(&link->probes) || is_slow(&link->probes);
    bool gone = is_gone(sm, link->through);
    bool silent = link->shown.sent && link->probes.sent - link->probes.lost < LOSSES;
    if (found)
        link->shown = link->probes;
    if (link->probes.sent < PROBES && !gone)
        send_probe(sm, link);
    else if ((found || silent) && !gone) /* a slow agent whose queue is too long is silent */
        link->again_at =
            sm->now + (sm->config.sweep_ns == TIME_NEVER ? NS_PER_S : sm->config.sweep_ns);
    else
        vec_remove(&sm->examine->links, (size_t)(link - sm->examine->links.items));
}

static void probe_answered(struct sm *sm, const struct request *request)
{
    struct examined_link *link = find_link(sm, request->about.port);
    if (!link)
        return;
    uint64_t took = sm->now - request->sent_at;
    link->probes.sent++;
    link->probes.fastest_ns = took < link->probes.fastest_ns ? took : link->probes.fastest_ns;
    go_on(sm, link);
}

static void probe_lost(struct sm *sm, const struct request *request)
{
    struct examined_link *link = find_link(sm, request->about.port);
    if (!link)
        return;
    link->probes.sent++;
    link->probes.lost++;
    go_on(sm, link);
}

static void examine_link(struct sm *sm, uint32_t port)
{
    if (is_gone(sm, port) || find_link(sm, port) || sm->examine->links.count == LINKS_MOST)
        return;
    vec_push(&sm->examine->links, (struct examined_link){.through = port});
    begin(sm, &sm->examine->links.items[sm->examine->links.count - 1]);
}

/* The link before this one on the path from the manager, or SUBNET_NONE. */
static uint32_t link_before(const struct sm *sm, uint32_t through)
{
    uint32_t end = subnet_end_port(&sm->subnet, through);
    return end == sm->subnet.own_port ? SUBNET_NONE : port_at(sm, end)->via;
}

void examine_answer(struct sm *sm, const struct request *request)
{
    if ((request->tries < 2 && sm->now - request->sent_at < late) || request->kind == &probe ||
        request->target == SUBNET_NONE || !sm->config.policy->chases_losses ||
        !reconfigure_is_at_rest(sm))
        return;
    uint32_t port = request->through;
    if (port == SUBNET_NONE && request->target != sm->subnet.own_port)
        port = port_at(sm, request->target)->via;
    for (unsigned hop = 0; hop <= SMP_MAX_HOPS && port != SUBNET_NONE; hop++) {
        examine_link(sm, port);
        port = link_before(sm, port);
    }
}

static uint64_t examine_deadline(const struct sm *sm)
{
    uint64_t first = TIME_NEVER;
    for (size_t i = 0; i < sm->examine->links.count; i++)
        first = time_first(first, sm->examine->links.items[i].again_at);
    return first;
}

static void examine_expire(struct sm *sm)
{
    for (size_t i = sm->examine->links.count; i-- > 0;) {
        struct examined_link *link = &sm->examine->links.items[i];
        if (sm->now >= link->again_at)
            begin(sm, link);
    }
}

static bool loses(struct sm *sm, uint32_t port)
{
    const struct examined_link *link = find_link(sm, port);
    return (link && is_lossy(&link->shown)) || faults_has_errors(sm, port);
}

static bool leads_to_slow_agent(struct sm *sm, uint32_t port)
{
    const struct examined_link *link = find_link(sm, port);
    return link && is_slow(&link->shown);
}

static bool is_behind_lossy_link(struct sm *sm, uint32_t port)
{
    for (unsigned hop = 0; hop <= SMP_MAX_HOPS; hop++) {
        port = link_before(sm, port);
        if (port == SUBNET_NONE)
            return false;
        if (loses(sm, port))
            return true;
    }
    return false;
}

bool examine_link_loses(struct sm *sm, uint32_t port)
{
    uint32_t last = port_at(sm, port)->last_peer;
    return loses(sm, port) || (last != SUBNET_NONE && loses(sm, last));
}

bool examine_explains(struct sm *sm, uint32_t port)
{
    uint32_t last = port_at(sm, port)->last_peer;
    return loses(sm, port) || leads_to_slow_agent(sm, port) || is_behind_lossy_link(sm, port) ||
           (last != SUBNET_NONE && (loses(sm, last) || is_behind_lossy_link(sm, last)));
}

static void list_examined(struct sm *sm, struct problems *problems)
{
    for (size_t i = 0; i < sm->examine->links.count; i++) {
        const struct examined_link *link = &sm->examine->links.items[i];
        if (is_gone(sm, link->through))
            continue;
        uint32_t far = port_at(sm, port_at(sm, link->through)->last_peer)->node;
        if (is_lossy(&link->shown) && !is_behind_lossy_link(sm, link->through))
            problems_add(problems, PROBLEM_LOSSY_LINK, subnet_at_link(&sm->subnet, link->through),
                         "of %u SMPs that were sent over it, %u were not answered",
                         link->shown.sent, link->shown.lost);
        if (is_slow(&link->shown))
            problems_add(problems, PROBLEM_SLOW_AGENT, subnet_at_node(&sm->subnet, far),
                         "its agent takes %llu ms or more to answer an SMP",
                         (unsigned long long)(link->shown.fastest_ns / NS_PER_MS));
    }
}

SM_PART(examine, .vectors = {VECTOR(examine, links)}, .requests_dropped = forget_all,
        .expire = examine_expire, .deadline = examine_deadline, .problems = list_examined,
        .as_master = true);
