/* Faults: nodes that do not answer, ports that flap, link errors, duplicate GUIDs, slow links. A
 * fault must not delay the rest of the subnet or flood the log. faults_list_problems() lists those
 * that are present. */
#include "base/text.h"
#include "sm/discovery.h"
#include "subnet/absent.h"
#include "subnet/names.h"
#include "wire/link_rate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Losses and errors of a link are counted for this long. */
enum { HISTORY_MIN = 10 };
static const uint64_t history_ns = HISTORY_MIN * 60 * NS_PER_S;

/* Events of the last HISTORY_MIN minutes, approximately: the count starts again when the first one
 * is older. */
struct history {
    uint64_t since, last;
    uint32_t count;
};

struct port_faults {
    bool slow;                /* runs below the width or speed of both ends; logged */
    uint64_t suspected_until; /* it is not read again for a suspicion before */
    uint8_t timeouts;         /* of a port of the manager's own adapter */
    uint8_t flaps;            /* since `flaps_since` */
    uint64_t flaps_since, damped_until;
    bool loss_seen;   /* the port at the other end has shown the last loss of the link */
    bool return_seen; /* the same for its return */
    struct history losses, errors; /* of the link; kept at the lower of its two ports */
    struct sm_link_errors error;   /* of the link, the last ones */
    uint64_t disabled_until;       /* this port; TIME_NEVER: by hand; 0: not disabled */
    struct history spared;         /* it was not isolated, and this was logged */
    uint64_t enabled_at;           /* the last time that the manager enabled it */
    uint64_t excluded;             /* duplicate GUID of the node behind it; logged; 0: none */
    uint32_t claimant;             /* another port with the same node behind it; 0: none */
};

struct node_faults {
    uint8_t timeouts;       /* since the last change ended */
    uint64_t ignored_until; /* discovery ignores the node */
};

struct faults {
    unsigned doubtful_sweeps;      /* that verify links: see faults_verify_links() */
    unsigned shared;               /* reports of shared GUIDs since the last sweep or restart */
    unsigned restarts;             /* because of them, in a row */
    uint64_t restart_at;           /* TIME_NEVER: none is scheduled */
    VEC(struct port_faults) ports; /* by port of the subnet */
    VEC(struct node_faults) nodes; /* by node */
};

static void release_faults(struct sm *sm)
{
    vec_release(&sm->faults->ports);
    vec_release(&sm->faults->nodes);
}

static void init_faults(struct sm *sm)
{
    sm->faults->restart_at = TIME_NEVER;
}

SM_PART(faults, init_faults, release_faults, NULL);

static struct port_faults *faults_at(struct sm *sm, uint32_t port)
{
    assert(port < sm->subnet.ports.count);
    return vec_at(&sm->faults->ports, port);
}

static struct node_faults *faults_of(struct sm *sm, uint32_t node)
{
    assert(node < sm->subnet.nodes.count);
    return vec_at(&sm->faults->nodes, node);
}

static void history_add(struct history *history, uint64_t now)
{
    if (!history->count || now > history->since + history_ns)
        *history = (struct history){.since = now};
    history->count++;
    history->last = now;
}

static bool history_is_recent(const struct history *history, uint64_t now)
{
    return history->count && now <= history->last + history_ns;
}

static struct port_faults *link_faults(struct sm *sm, uint32_t port)
{
    uint32_t peer = port_at(sm, port)->last_peer;
    return faults_at(sm, peer < port ? peer : port);
}

bool faults_is_ignored(struct sm *sm, uint32_t node)
{
    return sm->now < faults_of(sm, node)->ignored_until;
}

bool faults_is_damped(struct sm *sm, uint32_t port)
{
    return sm->now < faults_at(sm, port)->damped_until;
}

void faults_port_answered(struct sm *sm, uint32_t port)
{
    faults_at(sm, port)->timeouts = 0;
}

void faults_forget_claims(struct sm *sm)
{
    for (size_t port = 0; port < sm->faults->ports.count; port++)
        sm->faults->ports.items[port].claimant = 0;
    if (sm_state(sm) != SM_MASTER)
        sm->faults->doubtful_sweeps = 0; /* everything is read again */
}

bool faults_doubt_links(const struct sm *sm)
{
    return sm->faults->doubtful_sweeps != 0;
}

/* ---- time-outs ---- */

/* Another port of the manager's own adapter does not answer; the adapter stays present. */
static void lose_own_port(struct sm *sm, uint32_t end)
{
    enum { MOST_STEPS = 6 };
    struct subnet_port *port = port_at(sm, end);
    if (port->peer == SUBNET_NONE && !port->known)
        return; /* lost before */
    sm_begin_change(sm, "port %u of the manager's own adapter does not answer", port->number);
    if (port->peer != SUBNET_NONE) {
        uint8_t *timeouts = &faults_at(sm, end)->timeouts;
        *timeouts += *timeouts < MOST_STEPS;
        uint64_t until = sm->now + (NS_PER_S << *timeouts);
        discovery_avoid_port(sm, port->peer, true);
        faults_at(sm, port->peer)->damped_until = until;
    }
    subnet_unlink(&sm->subnet, end);
    discovery_forget_port(sm, end);
    mastership_forget_rival(sm, end);
    discovery_lost_path(sm);
}

/* Removes a node that does not answer. The next sweep reads its neighbors' ports again and finds
 * the node by another path if only the path failed. */
void discovery_lost_contact(struct sm *sm, uint32_t end)
{
    enum { TIMEOUTS_ALLOWED = 2, MOST_STEPS = 4 };
    uint32_t index = port_at(sm, end)->node;
    const struct subnet_node *node = node_at(sm, index);
    if (!node->present || end == sm->subnet.own_port)
        return;
    if (sm->subnet.own_port != SUBNET_NONE && index == port_at(sm, sm->subnet.own_port)->node) {
        lose_own_port(sm, end);
        return;
    }
    struct subnet_name name = subnet_node_name(&sm->subnet, index);
    uint32_t via = port_at(sm, end)->via;
    report_loss(sm, "%s %s does not answer%s%s", subnet_kind_name(node), name.text,
                via == SUBNET_NONE ? "" : " behind ",
                via == SUBNET_NONE ? "" : subnet_port_name(&sm->subnet, via).text);
    for (unsigned number = 1; number <= node->port_count; number++) {
        uint32_t peer = port_at(sm, node->first_port + number)->peer;
        if (peer != SUBNET_NONE)
            discovery_avoid_port(sm, peer, true);
    }
    /* A node that answers only some requests would appear and vanish for ever. */
    struct node_faults *faults = faults_of(sm, index);
    faults->timeouts += faults->timeouts < TIMEOUTS_ALLOWED + MOST_STEPS;
    if (faults->timeouts > TIMEOUTS_ALLOWED) {
        unsigned steps = faults->timeouts - (unsigned)TIMEOUTS_ALLOWED;
        faults->ignored_until = sm->now + (NS_PER_S << steps);
        sm_log(sm, SM_EVENT_WARNING, "%s %s does not answer some requests; it is ignored for %u s",
               subnet_kind_name(node), name.text, 1u << steps);
    }
    subnet_remove_node(&sm->subnet, index);
    discovery_lost_path(sm);
}

/* Reads the state of a port at once, but not more often than once in a time-out. */
static void suspect_port(struct sm *sm, uint32_t port)
{
    struct port_faults *faults = faults_at(sm, port);
    if (faults->suspected_until > sm->now)
        return;
    faults->suspected_until = sm->now + sm->config.timeout_ns;
    discovery_read_port_now(sm, port);
}

/* A link to this switch is down: the switch may have failed. Reads the ports of its other neighbors
 * at once, because their traps may be lost on paths through the switch. */
void discovery_suspect_switch(struct sm *sm, uint32_t index)
{
    const struct subnet_node *node = node_at(sm, index);
    if (!sm->config.policy->chases_losses || sm_state(sm) != SM_MASTER ||
        node->kind != SUBNET_SWITCH)
        return;
    for (unsigned number = 1; number <= node->port_count; number++) {
        uint32_t peer = port_at(sm, node->first_port + number)->peer;
        if (peer != SUBNET_NONE && port_at(sm, peer)->node != index &&
            node_at(sm, port_at(sm, peer)->node)->kind == SUBNET_SWITCH)
            suspect_port(sm, peer);
    }
}

/* A request timed out: a link on its path may be down. Reads every port on the path at once, so
 * that the nodes behind a broken link do not time out one by one. */
void discovery_suspect(struct sm *sm, uint32_t end, uint32_t through)
{
    uint32_t port = through;
    if (!sm->config.policy->chases_losses || end == SUBNET_NONE)
        return;
    for (unsigned hop = 0; hop <= SMP_MAX_HOPS; hop++) {
        if (port != SUBNET_NONE)
            suspect_port(sm, port);
        if (end == sm->subnet.own_port || port_at(sm, end)->via == SUBNET_NONE)
            return;
        port = port_at(sm, end)->via;
        end = subnet_end_port(&sm->subnet, port);
    }
}

/* ---- ports ---- */

static const char *ordinal_suffix(unsigned n)
{
    unsigned last = n % 100 / 10 == 1 ? 0 : n % 10;
    return last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
}

static void isolate(struct sm *sm, uint32_t port, enum sm_isolate reason);

/* A link that went down and up again is found at each of its ports, one after the other: this is
 * one loss. */
static bool loss_is_new(struct sm *sm, uint32_t port, bool down)
{
    bool seen = faults_at(sm, port)->loss_seen && !down;
    faults_at(sm, port)->loss_seen = false;
    faults_at(sm, port)->return_seen = seen;
    faults_at(sm, port_at(sm, port)->peer)->loss_seen = !seen;
    return !seen;
}

void faults_forget_loss(struct sm *sm, uint32_t port)
{
    faults_at(sm, port)->loss_seen = false;
}

/* Logs that a link went down, and how often it did so recently. False: the port at its other end
 * has shown this loss before. */
bool faults_report_link(struct sm *sm, uint32_t port, bool down)
{
    enum { LOSSES_ALLOWED = 4 };
    char times[48] = "";
    if (!loss_is_new(sm, port, down)) {
        sm_begin_change(sm, "link was down: %s", subnet_link_name(&sm->subnet, port).text);
        return false;
    }
    struct history *losses = &link_faults(sm, port)->losses;
    history_add(losses, sm->now);
    if (losses->count > 1)
        snprintf(times, sizeof times, " (%u%s time in %d min)", losses->count,
                 ordinal_suffix(losses->count), HISTORY_MIN);
    report_loss(sm, "link %s: %s%s", down ? "down" : "was down",
                subnet_link_name(&sm->subnet, port).text, times);
    if (losses->count > LOSSES_ALLOWED)
        isolate(sm, port, SM_ISOLATE_FLAPPING);
    return true;
}

void faults_report_return(struct sm *sm, uint32_t port)
{
    bool seen = faults_at(sm, port)->return_seen;
    faults_at(sm, port)->return_seen = false;
    if (sm_state(sm) == SM_MASTER && plan_current(sm) && !seen)
        report_loss(sm, "link up: %s", subnet_link_name(&sm->subnet, port).text);
}

/* Damps both ports of a link that flaps, twice as long each time. */
void faults_note_flap(struct sm *sm, uint32_t port, uint32_t peer)
{
    enum { FLAPS_ALLOWED = 5, FLAP_WINDOW_S = 10 };
    struct port_faults *work = faults_at(sm, port < peer ? port : peer);
    if (sm->now > work->flaps_since + FLAP_WINDOW_S * NS_PER_S) {
        work->flaps = 0;
        work->flaps_since = sm->now;
    }
    work->flaps += work->flaps < UINT8_MAX;
    if (work->flaps <= FLAPS_ALLOWED)
        return;
    unsigned beyond = work->flaps - (unsigned)FLAPS_ALLOWED;
    unsigned steps = beyond < 6 ? beyond : 6;
    work->flaps_since = sm->now;
    faults_at(sm, port)->damped_until = sm->now + (NS_PER_S << steps);
    faults_at(sm, peer)->damped_until = sm->now + (NS_PER_S << steps);
    sm_log_listed(sm, SM_EVENT_WARNING, "link flaps: %s: ignored for %u s",
                  subnet_link_name(&sm->subnet, port).text, 1u << steps);
}

void faults_note_errors(struct sm *sm, uint32_t port, unsigned trap)
{
    enum { TRAPS_ALLOWED = 2 };
    struct port_faults *link = link_faults(sm, port);
    link->error = (struct sm_link_errors){.trap = (uint8_t)trap};
    history_add(&link->errors, sm->now);
    if (link->errors.count > TRAPS_ALLOWED)
        isolate(sm, port, SM_ISOLATE_ERRORS);
}

/* "L3 port 2 counted 160 symbol errors in 10 s (limit: 60 a minute)" */
static struct subnet_name describe_errors(const struct sm *sm, const struct sm_link_errors *errors)
{
    struct subnet_name text;
    snprintf(text.text, sizeof text.text, "%.120s counted %llu %s in %llu s (limit: %u a minute)",
             subnet_port_name(&sm->subnet, errors->port).text, (unsigned long long)errors->count,
             errors->what, (unsigned long long)((errors->period_ns + NS_PER_S / 2) / NS_PER_S),
             errors->limit);
    return text;
}

void sm_note_error_rate(struct sm *sm, uint64_t now, const struct sm_link_errors *errors)
{
    sm->now = now;
    struct port_faults *link = link_faults(sm, errors->port);
    bool logged = history_is_recent(&link->errors, now) && !link->error.trap;
    link->error = *errors;
    history_add(&link->errors, now);
    if (!logged)
        sm_log_listed(sm, SM_EVENT_WARNING, "bad cable: %.190s: %s",
                      subnet_link_name(&sm->subnet, errors->port).text,
                      describe_errors(sm, errors).text);
    isolate(sm, errors->port, SM_ISOLATE_ERRORS);
}

/* ---- isolation ---- */

/* The port of a switch at the link of this port, also of the last link; SUBNET_NONE: none. */
static uint32_t switch_side(const struct sm *sm, uint32_t port)
{
    uint32_t peer = port_at(sm, port)->last_peer;
    if (node_at(sm, port_at(sm, port)->node)->kind == SUBNET_SWITCH)
        return port;
    return peer != SUBNET_NONE && node_at(sm, port_at(sm, peer)->node)->kind == SUBNET_SWITCH
               ? peer
               : SUBNET_NONE;
}

/* Disables a link that went down or reported errors too often, if `isolate` says so. */
static void isolate(struct sm *sm, uint32_t port, enum sm_isolate reason)
{
    static const char *const causes[] = {[SM_ISOLATE_FLAPPING] = "flaps",
                                         [SM_ISOLATE_ERRORS] = "reports link errors",
                                         [SM_ISOLATE_BABBLING] = "sends too many traps"};
    unsigned wanted =
        sm->config.isolate | (sm->config.isolate_babbling ? (unsigned)SM_ISOLATE_BABBLING : 0);
    uint32_t at = switch_side(sm, port);
    if (!(wanted & reason) || at == SUBNET_NONE || sm_state(sm) != SM_MASTER ||
        faults_at(sm, at)->disabled_until)
        return;
    struct subnet_name link = subnet_link_name(&sm->subnet, at);
    if (port_at(sm, at)->peer == sm->subnet.own_port || subnet_is_bridge(&sm->subnet, at)) {
        if (!history_is_recent(&faults_at(sm, at)->spared, sm->now)) {
            sm_log(sm, SM_EVENT_WARNING,
                   "not isolated: %s: a switch or the manager has no other path", link.text);
            history_add(&faults_at(sm, at)->spared, sm->now);
        }
        return;
    }
    faults_at(sm, at)->disabled_until = sm->now + sm->config.isolate_ns;
    sm_log(sm, SM_EVENT_WARNING, "isolated: %s %s; it is disabled and tried again in %u s",
           link.text, causes[reason], (unsigned)(sm->config.isolate_ns / NS_PER_S));
    program_switch_port(sm, at, PORT_ISOLATE);
}

void faults_isolate_babbling(struct sm *sm, uint32_t port)
{
    if (node_at(sm, port_at(sm, port)->node)->kind != SUBNET_SWITCH)
        isolate(sm, port, SM_ISOLATE_BABBLING);
}

static void enable_again(struct sm *sm, uint32_t port)
{
    faults_at(sm, port)->disabled_until = faults_at(sm, port)->damped_until = 0;
    faults_at(sm, port)->enabled_at = sm->now;
    link_faults(sm, port)->losses = link_faults(sm, port)->errors = (struct history){0};
    sm_log(sm, SM_EVENT_LINK, "enabled: %s", subnet_link_name(&sm->subnet, port).text);
    program_switch_port(sm, port, PORT_ENABLE);
}

static bool is_disabled(const struct subnet_port *p)
{
    return p->known && wire_get(p->info, PORT_INFO_PORT_PHYSICAL_STATE) == PHYSICAL_DISABLED;
}

/* A port with the mark of isolation (program_ports.c) that this manager did not isolate: an earlier
 * master did, or ibportstate has enabled the port since. */
static void adopt_marked_port(struct sm *sm, uint32_t port)
{
    enum { SETTLE_S = 5 };
    struct port_faults *faults = faults_at(sm, port);
    if (faults->disabled_until ||
        (faults->enabled_at && sm->now < faults->enabled_at + SETTLE_S * NS_PER_S))
        return;
    if (!is_disabled(port_at(sm, port))) {
        faults->enabled_at = sm->now;
        program_switch_port(sm, port, PORT_UNMARK);
        return;
    }
    faults->disabled_until = sm->now + sm->config.isolate_ns;
    sm_log(sm, SM_EVENT_WARNING, "%s was isolated by an earlier master; it is tried again in %u s",
           subnet_link_name(&sm->subnet, port).text, (unsigned)(sm->config.isolate_ns / NS_PER_S));
}

void faults_retry_disabled(struct sm *sm)
{
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        const struct subnet_port *p = port_at(sm, port);
        const struct subnet_node *node = node_at(sm, p->node);
        if (!node->present || node->kind != SUBNET_SWITCH || !p->number)
            continue;
        uint64_t until = faults_at(sm, port)->disabled_until;
        if (p->known && program_port_is_marked(p->info))
            adopt_marked_port(sm, port);
        if (!until || until > sm->now)
            continue;
        if (is_disabled(p))
            enable_again(sm, port);
        else /* somebody has enabled it */
            faults_at(sm, port)->disabled_until = 0;
    }
}

int sm_set_port(struct sm *sm, uint64_t now, const char *name, unsigned number, bool enable,
                struct err *err)
{
    sm->now = now;
    uint32_t node = subnet_find_node(&sm->subnet, name);
    if (node == SUBNET_NONE)
        return err_set(err, EINVAL, "'%s' is not the name of exactly one node", name);
    if (!number || number > node_at(sm, node)->port_count)
        return err_set(err, EINVAL, "%s has ports 1 to %u", name, node_at(sm, node)->port_count);
    uint32_t at = switch_side(sm, node_at(sm, node)->first_port + number);
    if (at == SUBNET_NONE || !node_at(sm, port_at(sm, at)->node)->present)
        return err_set(err, EINVAL, "no switch is at this link");
    if (port_at(sm, at)->peer != SUBNET_NONE && port_at(sm, at)->peer == sm->subnet.own_port)
        return err_set(err, EINVAL, "this is the link of the manager");
    if (enable) {
        enable_again(sm, at);
        return 0;
    }
    faults_at(sm, at)->disabled_until = TIME_NEVER;
    sm_log(sm, SM_EVENT_LINK, "disabled on request: %s", subnet_link_name(&sm->subnet, at).text);
    program_switch_port(sm, at, PORT_DISABLE);
    return 0;
}

/* ---- links ---- */

/* Whether a link runs below the width or speed of both ends; `text`: "1X SDR; both ends support 4X
 * HDR". */
static bool is_slow(const struct sm *sm, uint32_t port, char text[64])
{
    const struct subnet_port *p = port_at(sm, port);
    if (p->peer == SUBNET_NONE || !p->known || !port_at(sm, p->peer)->known)
        return false;
    const uint8_t *far = port_at(sm, p->peer)->info;
    snprintf(text, 64, "%uX %s; both ends support %uX %s", link_lanes(p->info),
             link_lane_rate_name(link_lane_rate(p->info)), link_best_lanes(p->info, far),
             link_lane_rate_name(link_best_lane_rate(p->info, far)));
    return link_rate(p->info) < link_best_rate(p->info, far);
}

/* Logs links that are slow, which often means a bad cable, once. */
void faults_change_ended(struct sm *sm)
{
    enum { LOGGED_MOST = 20 };
    unsigned found = 0;
    char text[64];
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++)
        if (node_at(sm, node)->present)
            faults_of(sm, node)->timeouts = 0;
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        if (port_at(sm, port)->peer < port)
            continue;
        bool slow = is_slow(sm, port, text);
        if (slow && !faults_at(sm, port)->slow && found++ < LOGGED_MOST)
            sm_log_listed(sm, SM_EVENT_WARNING, "slow link: %s runs at %s",
                          subnet_link_name(&sm->subnet, port).text, text);
        faults_at(sm, port)->slow = slow;
    }
    if (found > LOGGED_MOST)
        sm_log_listed(sm, SM_EVENT_WARNING, "%u more links are slow", found - LOGGED_MOST);
}

/* ---- duplicate GUIDs ---- */

/* The place of the node with this GUID that is in the subnet: "host7 port 1 <-> leaf2 port 5". */
static struct subnet_name place_of_guid(const struct sm *sm, uint64_t guid)
{
    uint32_t index = map_get(&sm->subnet.by_guid, guid);
    struct subnet_name name = {"this manager's subnet"};
    if (index == MAP_NONE)
        return name;
    const struct subnet_node *node = node_at(sm, index);
    for (unsigned number = 1; number <= node->port_count; number++)
        if (port_at(sm, node->first_port + number)->peer != SUBNET_NONE)
            return subnet_link_name(&sm->subnet, node->first_port + number);
    return subnet_node_name(&sm->subnet, index);
}

/* The manager may confuse nodes with the same GUID: it may have taken an answer of one for an
 * answer of the other, even if the GUID was corrected meanwhile. Until this is ruled out, every
 * sweep probes all links and compares the node at the other end with the known one. */
static void doubt_links(struct sm *sm)
{
    enum { SWEEPS = 8 };
    sm->faults->doubtful_sweeps = SWEEPS;
    recheck_schedule(sm);
}

static request_outcome link_verified;
static request_adjust_effort verify_effort;
static const struct request_kind verify_link = {
    .attribute = ATTRIBUTE_NODE_INFO,
    .answered = link_verified,
    .effort = verify_effort,
};

/* It is repeated soon. */
static void verify_effort(const struct sm *sm, const struct request *request,
                          struct request_effort *effort)
{
    (void)sm;
    (void)request;
    effort->retries = 0;
    effort->ignores_loss = true;
}

bool faults_probe_links(struct sm *sm)
{
    if (!sm->faults->doubtful_sweeps || !sm->config.policy->reads_whole_nodes)
        return false;
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        const struct subnet_port *p = port_at(sm, port);
        const struct subnet_node *node = node_at(sm, p->node);
        bool leads = node->kind == SUBNET_SWITCH ? p->number != 0 && !node->vswitch
                                                 : port == sm->subnet.own_port;
        if (!node->present || p->peer == SUBNET_NONE || !leads || sm_is_avoiding_port(sm, port))
            continue;
        struct request *request =
            sm_request(sm, &verify_link, (union request_subject){.port = port},
                       subnet_end_port(&sm->subnet, port));
        request->through = port;
        sm_submit(sm, request, PRIORITY_NONE);
    }
    return true;
}

void faults_verify_links(struct sm *sm)
{
    if (sm->faults->restart_at == TIME_NEVER)
        sm->faults->shared = 0; /* counted per sweep: confused nodes change links often */
    for (uint32_t port = 0; port < sm->faults->ports.count; port++)
        if (sm->faults->ports.items[port].excluded)
            doubt_links(sm);
    if (!faults_probe_links(sm))
        return;
    sm->faults->doubtful_sweeps--;
    if (sm->faults->doubtful_sweeps == 0)
        sm->faults->restarts = 0;
}

bool faults_has_excluded(struct sm *sm, uint32_t port, uint64_t guid)
{
    return faults_at(sm, port)->excluded == guid;
}

/* Nodes were confused: data of one node, including its tables, may have been stored for another. So
 * discovery starts from scratch, after a delay that doubles each time. */
static void schedule_restart(struct sm *sm)
{
    enum { MOST_STEPS = 6, FIRST_MS = 100 };
    struct faults *faults = sm->faults;
    unsigned steps = faults->restarts < MOST_STEPS ? faults->restarts : MOST_STEPS;
    doubt_links(sm);
    if (faults->restart_at == TIME_NEVER)
        faults->restart_at = sm->now + (FIRST_MS * NS_PER_MS << steps);
}

/* Nodes with the same GUID may be found at each other's links alternately. */
enum { SHARED_ALLOWED = 20 };

static void count_shared_guid(struct sm *sm)
{
    struct faults *faults = sm->faults;
    doubt_links(sm);
    if (++faults->shared == SHARED_ALLOWED)
        schedule_restart(sm);
}

static void link_verified(struct sm *sm, const struct request *request)
{
    uint32_t port = request->about.port, peer = port_at(sm, port)->peer;
    if (!node_at(sm, port_at(sm, port)->node)->present || peer == SUBNET_NONE)
        return; /* lost meanwhile */
    uint64_t guid = wire_get(request->answer, NODE_INFO_NODE_GUID);
    unsigned number = (unsigned)wire_get(request->answer, NODE_INFO_LOCAL_PORT_NUM);
    if (node_at(sm, port_at(sm, peer)->node)->guid == guid && port_at(sm, peer)->number == number)
        return;
    report_loss(sm, "the link at %.80s leads to 0x%016llx port %u",
                subnet_port_name(&sm->subnet, port).text, (unsigned long long)guid, number);
    schedule_restart(sm);
}

uint64_t faults_restart_deadline(const struct sm *sm)
{
    return sm->faults->restart_at;
}

bool faults_take_restart(struct sm *sm)
{
    struct faults *faults = sm->faults;
    if (sm->now < faults->restart_at)
        return false;
    faults->restart_at = TIME_NEVER;
    faults->shared = 0;
    faults->restarts++;
    for (size_t port = 0; port < faults->ports.count; port++) { /* these links did not flap */
        faults->ports.items[port].damped_until = 0;
        faults->ports.items[port].flaps = 0;
    }
    return true;
}

/* `second`: the port that leads to the second node, or SUBNET_NONE. */
static void report_shared_guid(struct sm *sm, uint64_t guid, uint32_t second)
{
    count_shared_guid(sm);
    if (sm->faults->shared > SHARED_ALLOWED)
        return;
    sm_log_listed(
        sm, SM_EVENT_ERROR,
        "two nodes share the GUID 0x%016llx: one is at %.150s, the second at %.150s; the second "
        "is ignored",
        (unsigned long long)guid, place_of_guid(sm, guid).text,
        second == SUBNET_NONE ? "this manager's port" : subnet_port_name(&sm->subnet, second).text);
}

/* A node has another GUID than when it was read. It is removed and found again as a new node. */
void faults_guid_changed(struct sm *sm, uint32_t index, uint64_t guid)
{
    const struct subnet_node *node = node_at(sm, index);
    VEC(uint32_t) neighbors = {0};
    schedule_restart(sm);
    report_loss(sm, "GUID change: %s has the GUID 0x%016llx now; it had 0x%016llx",
                place_of_guid(sm, node->guid).text, (unsigned long long)guid,
                (unsigned long long)node->guid);
    for (unsigned number = 1; number <= node->port_count; number++) {
        uint32_t peer = port_at(sm, node->first_port + number)->peer;
        if (peer != SUBNET_NONE)
            vec_push(&neighbors, peer);
    }
    subnet_remove_node(&sm->subnet, index);
    discovery_lost_path(sm);
    for (size_t i = 0; i < neighbors.count; i++)
        discovery_read_port(sm, neighbors.items[i]);
    vec_release(&neighbors);
}

/* The node behind this port has the GUID of another node. Sweeps probe the port again, since the
 * other node may vanish. Logged once. */
void faults_exclude(struct sm *sm, uint32_t through, uint64_t guid)
{
    doubt_links(sm);
    if (through != SUBNET_NONE) {
        struct port_faults *work = faults_at(sm, through);
        discovery_avoid_port(sm, through, true);
        if (work->excluded == guid) {
            count_shared_guid(sm);
            return;
        }
        work->excluded = guid;
    }
    report_shared_guid(sm, guid, through);
}

/* Returns true if the node behind a port is known at another port. Either there are two nodes with
 * this GUID, or the node was moved and its old port was not read yet: reads the old port. */
bool faults_check_claim(struct sm *sm, uint32_t through, uint32_t far)
{
    uint32_t known = port_at(sm, far)->peer;
    if (known == SUBNET_NONE || known == through || sm_is_avoiding_port(sm, known) ||
        wire_get(port_at(sm, known)->info, PORT_INFO_PORT_STATE) == PORT_STATE_DOWN ||
        !port_at(sm, known)->known)
        return false;
    faults_at(sm, known)->claimant = through;
    discovery_read_port(sm, known);
    return true;
}

/* The old port was read, or does not answer. */
void faults_resolve_claim(struct sm *sm, uint32_t port)
{
    uint32_t claimant = faults_at(sm, port)->claimant;
    if (!claimant)
        return;
    faults_at(sm, port)->claimant = 0;
    const struct subnet_port *p = port_at(sm, claimant);
    uint32_t peer = port_at(sm, port)->peer;
    if (!node_at(sm, p->node)->present || p->peer != SUBNET_NONE ||
        wire_get(p->info, PORT_INFO_PORT_STATE) < PORT_STATE_INIT)
        return; /* there is no node at the other port any more */
    if (peer != SUBNET_NONE)
        faults_exclude(sm, claimant, node_at(sm, port_at(sm, peer)->node)->guid);
    else
        discovery_probe(sm, claimant);
}

/* A new link was found at a port. If another node was known there, two nodes have the same GUID.
 * The answer to a direct request counts; the other node is excluded. */
void faults_link_found(struct sm *sm, uint32_t through)
{
    uint32_t claimed = port_at(sm, through)->peer;
    faults_at(sm, through)->excluded = 0;
    if (claimed == SUBNET_NONE)
        return;
    discovery_avoid_port(sm, claimed, true);
    report_shared_guid(sm, node_at(sm, port_at(sm, through)->node)->guid, claimed);
}

/* ---- problems ---- */

static bool is_up(const struct subnet_port *p)
{
    return p->known && wire_get(p->info, PORT_INFO_PORT_STATE) >= PORT_STATE_INIT;
}

/* A port of a switch that leads to no node, although its link is up. */
static bool is_open_end(const struct sm *sm, uint32_t port)
{
    const struct subnet_port *p = port_at(sm, port);
    const struct subnet_node *node = node_at(sm, p->node);
    return node->present && node->kind == SUBNET_SWITCH && p->number && is_up(p) &&
           p->peer == SUBNET_NONE && !node->vswitch;
}

static void explain_link(const struct sm *sm, uint32_t port, struct problems *problems)
{
    problems_explain(problems, port);
    if (port_at(sm, port)->last_peer != SUBNET_NONE)
        problems_explain(problems, port_at(sm, port)->last_peer);
}

/* A link is listed at the lower of its two ports. Names take a search, so they are made last. */
static void list_link(struct sm *sm, uint32_t port, struct problems *problems)
{
    const struct port_faults *faults = faults_at(sm, port);
    const struct subnet_port *p = port_at(sm, port);
    char text[64];
    bool flaps = history_is_recent(&faults->losses, sm->now) && faults->losses.count > 1;
    bool errors = history_is_recent(&faults->errors, sm->now), slow = is_slow(sm, port, text);
    if (p->last_peer < port || (!flaps && !errors && !slow))
        return;
    struct subnet_name place = subnet_link_name(&sm->subnet, port);
    if (flaps)
        problems_add(problems, PROBLEM_FLAPPING_LINK, place.text,
                     "the link went down %u times in %d min%s", faults->losses.count, HISTORY_MIN,
                     faults_is_damped(sm, port) ? "; it is ignored for now"
                     : p->peer == SUBNET_NONE   ? "; it is down"
                                                : "");
    if (errors && faults->error.trap)
        problems_add(problems, PROBLEM_BAD_CABLE, place.text,
                     "its ports reported link errors %u time%s in %d min (trap %u)",
                     faults->errors.count, faults->errors.count == 1 ? "" : "s", HISTORY_MIN,
                     faults->error.trap);
    else if (errors)
        problems_add(problems, PROBLEM_BAD_CABLE, place.text, "%s",
                     describe_errors(sm, &faults->error).text);
    if (slow || (flaps && p->peer == SUBNET_NONE))
        explain_link(sm, port, problems);
    if (slow)
        problems_add(problems, PROBLEM_SLOW_LINK, place.text, "the link runs at %s", text);
}

/* A port may also have been disabled by another manager or by ibportstate. */
static void list_disabled_port(struct sm *sm, uint32_t port, struct problems *problems)
{
    const struct subnet_port *p = port_at(sm, port);
    uint64_t until = faults_at(sm, port)->disabled_until;
    if (!node_at(sm, p->node)->present || !p->number || !is_disabled(p))
        return;
    struct subnet_name place = subnet_link_name(&sm->subnet, port);
    explain_link(sm, port, problems);
    if (until && until != TIME_NEVER)
        problems_add(problems, PROBLEM_DISABLED_PORT, place.text,
                     "the manager isolated this link; it tries it again in %u s",
                     (unsigned)(until > sm->now ? (until - sm->now) / NS_PER_S : 0));
    else
        problems_add(problems, PROBLEM_DISABLED_PORT, place.text,
                     "the port is disabled%s: 'weft ctl port enable' enables it",
                     until ? " on request" : "");
}

/* The node behind this port has the GUID of another node. */
static void list_duplicate(struct sm *sm, uint32_t port, const struct absent *absent,
                           struct problems *problems)
{
    uint64_t guid = faults_at(sm, port)->excluded;
    uint32_t last = port_at(sm, port)->last_peer,
             index = last == SUBNET_NONE ? SUBNET_NONE : port_at(sm, last)->node,
             keeper = map_get(&sm->subnet.by_guid, guid);
    bool known = index != SUBNET_NONE && absent->group_of.items[index] != SUBNET_NONE &&
                 node_at(sm, index)->guid != guid;
    struct subnet_name name = {"the node behind this port"}, keeper_name = {"another node"};
    char change[96] = "";
    if (keeper != MAP_NONE)
        keeper_name = subnet_node_name(&sm->subnet, keeper);
    if (known) {
        name = subnet_node_name(&sm->subnet, index);
        snprintf(change, sizeof change, ", and changed its GUID: it was 0x%016llx",
                 (unsigned long long)node_at(sm, index)->guid);
    }
    problems_add(problems, PROBLEM_DUPLICATE_GUID,
                 known ? subnet_link_name(&sm->subnet, port).text
                       : subnet_port_name(&sm->subnet, port).text,
                 "%.100s has the GUID 0x%016llx of %.100s (%.220s)%s; %.100s is left out, %.100s "
                 "keeps the GUID",
                 name.text, (unsigned long long)guid, keeper_name.text,
                 place_of_guid(sm, guid).text, change, name.text, keeper_name.text);
}

/* Links that are up, with a node behind them that is not in the subnet. */
static void list_open_end(struct sm *sm, uint32_t port, const struct absent *absent,
                          struct problems *problems)
{
    const struct port_faults *faults = faults_at(sm, port);
    if (!is_open_end(sm, port))
        return;
    bool explained = problems_is_explained(problems, port);
    explain_link(sm, port, problems);
    if (faults->excluded)
        list_duplicate(sm, port, absent, problems);
    else if (!explained && !faults_is_damped(sm, port))
        problems_add(problems, PROBLEM_DEAD_AGENT, subnet_port_name(&sm->subnet, port).text,
                     "the link is up, but the node behind it does not answer SMPs");
}

/* Appends the names of ports or nodes: "leaf1, leaf2, …, and 3 more". */
static void put_names(struct sm *sm, struct text *out, const uint32_t *items, size_t count,
                      struct subnet_name (*name)(const struct subnet *, uint32_t))
{
    enum { NAMED_MOST = 8 };
    for (size_t i = 0; i < count && i < NAMED_MOST; i++)
        text_printf(out, "%s%s", i ? ", " : "", name(&sm->subnet, items[i]).text);
    if (count > NAMED_MOST)
        text_printf(out, " and %zu more", count - NAMED_MOST);
}

static void explain_node(const struct sm *sm, uint32_t index, struct problems *problems)
{
    const struct subnet_node *node = node_at(sm, index);
    for (unsigned number = 1; number <= node->port_count; number++)
        explain_link(sm, node->first_port + number, problems);
}

/* Whether all entries to a group are listed: disabled ports, flapping links, duplicate GUIDs. */
static bool entries_are_listed(struct sm *sm, const struct absent_group *group,
                               const struct problems *problems)
{
    for (size_t i = 0; i < group->entries.count; i++) {
        uint32_t port = group->entries.items[i];
        if (!problems_is_explained(problems, port) && !faults_at(sm, port)->excluded)
            return false;
    }
    return group->entries.count > 0;
}

/* One line for a node that is gone or does not answer, and for all nodes that it cuts off. */
static void list_group(struct sm *sm, const struct absent_group *group, struct problems *problems)
{
    VEC(uint32_t) up = {0};
    struct text text = {0};
    bool listed = entries_are_listed(sm, group, problems) && !group->cut_off.count;
    for (size_t i = 0; i < group->entries.count; i++)
        if (is_open_end(sm, group->entries.items[i]) &&
            !faults_at(sm, group->entries.items[i])->excluded &&
            !faults_is_damped(sm, group->entries.items[i]))
            vec_push(&up, group->entries.items[i]);
    explain_node(sm, group->root, problems);
    for (size_t i = 0; i < group->cut_off.count; i++)
        explain_node(sm, group->cut_off.items[i], problems);
    size_t links = up.count ? up.count : group->entries.count;
    text_printf(&text, "%s",
                !links      ? "it cannot be reached"
                : links > 1 ? "its links are "
                            : "its link is ");
    if (links) {
        text_puts(&text, up.count ? "up (" : "down (");
        put_names(sm, &text, up.count ? up.items : group->entries.items, links, subnet_port_name);
        text_puts(&text, up.count ? "), but it does not answer SMPs" : ")");
    }
    if (group->cut_off.count) {
        text_printf(&text, "; %zu node%s behind it %s cut off: ", group->cut_off.count,
                    group->cut_off.count == 1 ? "" : "s", group->cut_off.count == 1 ? "is" : "are");
        put_names(sm, &text, group->cut_off.items, group->cut_off.count, subnet_node_name);
    }
    if (!listed)
        problems_add(problems, up.count ? PROBLEM_DEAD_AGENT : PROBLEM_NODE_GONE,
                     subnet_node_name(&sm->subnet, group->root).text, "%s", text.data);
    vec_release(&up);
    text_release(&text);
}

void faults_list_problems(struct sm *sm, struct problems *problems)
{
    struct absent absent;
    absent_find(&absent, &sm->subnet);
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        list_link(sm, port, problems);
        list_disabled_port(sm, port, problems);
    }
    for (size_t i = 0; i < absent.groups.count; i++)
        list_group(sm, &absent.groups.items[i], problems);
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
        list_open_end(sm, port, &absent, problems);
    absent_release(&absent);
}
