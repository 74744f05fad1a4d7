/* Links that go down often, report errors or run slowly. The manager damps a link that flaps, and
 * disables links for a while if the configuration says so. */
#include "sm/faults/faults.h"
#include "sm/faults/recorded.h"
#include "sm/guard/data_keys.h"
#include "sm/guard/port_keys.h"
#include "sm/internal.h"
#include "sm/plan.h"
#include "sm/report.h"
#include "sm/tables/program_ports.h"
#include "subnet/absent.h"
#include "wire/link_rate.h"

#include <errno.h>
#include <stdio.h>

static const uint64_t history_ns = HISTORY_MIN * 60 * NS_PER_S;

bool history_is_recent(const struct rate_window *history, uint64_t now)
{
    return history->count && now <= history->last + history_ns;
}

static struct port_faults *link_faults(struct sm *sm, uint32_t port)
{
    uint32_t peer = port_at(sm, port)->last_peer;
    return faults_at(sm, peer < port ? peer : port);
}

bool faults_is_damped(struct sm *sm, uint32_t port)
{
    return sm->now < faults_at(sm, port)->damped_until;
}

/* ---- losses and errors ---- */

static void isolate(struct sm *sm, uint32_t port, enum sm_isolate reason);

void faults_forget_loss(struct sm *sm, uint32_t port)
{
    faults_at(sm, port)->loss_seen = false;
}

void faults_port_read(struct sm *sm, uint32_t port, bool down)
{
    faults_at(sm, port)->down_at_peer = false;
    if (down)
        faults_at(sm, port)->missing_since = 0; /* another node may be connected */
}

/* Logs that a link went down, and how often it did so recently. False: the port at its other end
 * has shown this loss before. */
bool faults_report_link(struct sm *sm, uint32_t port, bool down)
{
    enum { LOSSES_ALLOWED = 4 };
    uint32_t peer = port_at(sm, port)->peer;
    faults_at(sm, peer)->down_at_peer = down;
    /* A link that went down and up again is found at each of its ports, one after the other: this
     * is one loss. */
    bool seen = faults_at(sm, port)->loss_seen && !down;
    faults_at(sm, port)->loss_seen = false;
    faults_at(sm, port)->return_seen = seen;
    faults_at(sm, peer)->loss_seen = !seen;
    if (seen) {
        sm_begin_change(sm, SM_CAUSE(SM_CAUSE_LINK_SEEN_DOWN, port));
        return false;
    }
    struct rate_window *losses = &link_faults(sm, port)->losses;
    rate_window_add(losses, sm->now, history_ns);
    sm_begin_change(sm, SM_CAUSE(down ? SM_CAUSE_LINK_DOWN : SM_CAUSE_LINK_WAS_DOWN, port,
                                 .number = losses->count));
    if (losses->count > LOSSES_ALLOWED)
        isolate(sm, port, SM_ISOLATE_FLAPPING);
    return true;
}

bool faults_has_errors(struct sm *sm, uint32_t port)
{
    return history_is_recent(&link_faults(sm, port)->errors, sm->now);
}

/* A switch that was switched off takes all its links down: none of them flaps. */
void faults_node_left(struct sm *sm, uint32_t index)
{
    const struct subnet_node *node = node_at(sm, index);
    for (unsigned number = 1; node->kind == SUBNET_SWITCH && number <= node->port_count; number++) {
        struct rate_window *losses = &link_faults(sm, node->first_port + number)->losses;
        losses->count -= losses->count != 0;
    }
}

void faults_discovery_restarts(struct sm *sm)
{
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
        if (port_at(sm, port)->peer != SUBNET_NONE)
            faults_at(sm, port)->kept = true;
}

/* A switch that joins the subnet at this link; SUBNET_NONE: none. */
static uint32_t joining_switch(const struct sm *sm, uint32_t port)
{
    const uint32_t ends[] = {port_at(sm, port)->node, port_at(sm, port_at(sm, port)->peer)->node};
    for (unsigned i = 0; i < 2; i++)
        if (node_at(sm, ends[i])->kind == SUBNET_SWITCH && !report_is_announced(sm, ends[i]))
            return ends[i];
    return SUBNET_NONE;
}

/* All links of a switch return with it: only the switch is logged. */
void faults_report_return(struct sm *sm, uint32_t port)
{
    struct port_faults *near = faults_at(sm, port), *far = faults_at(sm, port_at(sm, port)->peer);
    bool seen = near->return_seen || near->kept;
    near->return_seen = near->kept = far->kept = false;
    if (sm_state(sm) != SM_MASTER || !plan_current(sm) || seen)
        return;
    uint32_t joining = joining_switch(sm, port);
    if (joining == SUBNET_NONE)
        sm_begin_change(sm, SM_CAUSE(SM_CAUSE_LINK_UP, port));
    else
        sm_begin_change(sm, SM_CAUSE(SM_CAUSE_NODE_BACK, node_at(sm, joining)->first_port));
}

/* Damps both ports of a link that flaps, twice as long each time. */
void faults_note_flap(struct sm *sm, uint32_t port, uint32_t peer)
{
    enum { FLAPS_ALLOWED = 5, FLAP_WINDOW_S = 10 };
    struct port_faults *work = faults_at(sm, port < peer ? port : peer);
    uint32_t flaps = rate_window_add(&work->flaps, sm->now, FLAP_WINDOW_S * NS_PER_S);
    if (flaps <= FLAPS_ALLOWED)
        return;
    unsigned beyond = flaps - (unsigned)FLAPS_ALLOWED;
    unsigned steps = beyond < 6 ? beyond : 6;
    work->flaps.since = sm->now; /* as long as it flaps */
    faults_at(sm, port)->damped_until = sm->now + (NS_PER_S << steps);
    faults_at(sm, peer)->damped_until = sm->now + (NS_PER_S << steps);
    sm_log_listed(sm, SM_EVENT_WARNING, port, "link flaps: %s: ignored for %u s",
                  subnet_link_name(&sm->subnet, port).text, 1u << steps);
}

void faults_note_errors(struct sm *sm, uint32_t port, unsigned trap)
{
    enum { TRAPS_ALLOWED = 2 };
    struct port_faults *link = link_faults(sm, port);
    link->error = (struct sm_link_errors){.trap = (uint8_t)trap};
    rate_window_add(&link->errors, sm->now, history_ns);
    if (link->errors.count > TRAPS_ALLOWED)
        isolate(sm, port, SM_ISOLATE_ERRORS);
}

struct subnet_name faults_describe_errors(const struct sm *sm, const struct sm_link_errors *errors)
{
    struct subnet_name text;
    snprintf(text.text, sizeof text.text, "%.105s counted %llu %s in %llu s (limit: %u a minute)",
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
    rate_window_add(&link->errors, now, history_ns);
    if (!logged)
        sm_log_listed(sm, SM_EVENT_WARNING, errors->port, "bad cable: %s: %s",
                      subnet_link_name(&sm->subnet, errors->port).text,
                      faults_describe_errors(sm, errors).text);
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
            sm_log_at(sm, SM_EVENT_WARNING, at,
                      "not isolated: %s: a switch or the manager has no other path", link.text);
            rate_window_add(&faults_at(sm, at)->spared, sm->now, history_ns);
        }
        return;
    }
    faults_at(sm, at)->disabled_until = sm->now + sm->config.isolate_ns;
    sm_log_at(sm, SM_EVENT_WARNING, at, "isolated: %s %s; it is disabled and tried again in %u s",
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
    link_faults(sm, port)->losses = link_faults(sm, port)->errors = (struct rate_window){0};
    sm_log_at(sm, SM_EVENT_LINK, port, "enabled: %s", subnet_link_name(&sm->subnet, port).text);
    program_switch_port(sm, port, PORT_ENABLE);
}

bool faults_is_disabled(const struct subnet_port *p)
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
    if (!faults_is_disabled(port_at(sm, port))) {
        faults->enabled_at = sm->now;
        program_switch_port(sm, port, PORT_UNMARK);
        return;
    }
    faults->disabled_until = sm->now + sm->config.isolate_ns;
    sm_log_at(sm, SM_EVENT_WARNING, port,
              "%s was isolated by an earlier master; it is tried again in %u s",
              subnet_link_name(&sm->subnet, port).text,
              (unsigned)(sm->config.isolate_ns / NS_PER_S));
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
        if (faults_is_disabled(p))
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
        return err_set(err, EINVAL, "'%.80s' is not a node of this subnet", name);
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
    sm_log_at(sm, SM_EVENT_LINK, at, "disabled on request: %s",
              subnet_link_name(&sm->subnet, at).text);
    program_switch_port(sm, at, PORT_DISABLE);
    return 0;
}

/* Returns whether the port had something to clear. */
static bool clear_port(struct sm *sm, uint32_t port)
{
    uint32_t last = subnet_last_neighbor(&sm->subnet, port);
    bool cleared = port_keys_forget_violations(sm, port);
    cleared |= data_keys_forget(sm, port);
    if (port_at(sm, port)->peer_manager && !port_at(sm, port)->manager) {
        port_at(sm, port)->peer_manager = false;
        cleared = true;
    }
    if (last == SUBNET_NONE)
        return cleared;
    struct port_faults *link = link_faults(sm, port);
    bool lost = port_at(sm, port)->peer == SUBNET_NONE;
    bool counted =
        history_is_recent(&link->losses, sm->now) || history_is_recent(&link->errors, sm->now);
    link->losses = link->errors = (struct rate_window){0};
    if (lost) {
        port_at(sm, port)->last_peer = port_at(sm, last)->last_peer = SUBNET_NONE;
        sm->subnet.cabling++;
    }
    return lost || counted || cleared;
}

int sm_clear_problems(struct sm *sm, uint64_t now, const char *name, unsigned number,
                      struct err *err)
{
    sm->now = now;
    uint32_t index = subnet_find_node(&sm->subnet, name);
    if (index == SUBNET_NONE)
        return err_set(err, EINVAL, "'%.80s' is not a node of this subnet", name);
    if (number > node_at(sm, index)->port_count)
        return err_set(err, EINVAL, "%s has ports 1 to %u", name, node_at(sm, index)->port_count);
    struct absent absent;
    absent_find(&absent, &sm->subnet);
    uint32_t group = number ? SUBNET_NONE : absent.group_of.items[index];
    bool cleared = false;
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        const struct subnet_port *p = port_at(sm, port);
        if (p->node == index ? !number || p->number == number
                             : group != SUBNET_NONE && absent.group_of.items[p->node] == group)
            cleared |= clear_port(sm, port);
    }
    absent_release(&absent);
    if (!cleared)
        return err_set(
            err, EINVAL,
            "%s has nothing to clear: no lost link, loss, error, key violation, refused packet or "
            "ended standby",
            name);
    sm_log(sm, SM_EVENT_LINK, "problems of %s%s are cleared on request", name,
           group != SUBNET_NONE ? " and of the nodes behind it" : "");
    return 0;
}

/* ---- slow links ---- */

/* Whether a link between switches, or of an adapter. */
static unsigned kind_of_link(const struct sm *sm, uint32_t port)
{
    return node_at(sm, port_at(sm, port)->node)->kind == SUBNET_SWITCH &&
           node_at(sm, port_at(sm, port_at(sm, port)->peer)->node)->kind == SUBNET_SWITCH;
}

/* If all links of a kind run at the same rate, below that of their ports, their cables were chosen
 * so. */
void faults_compare_rates(struct sm *sm)
{
    enum { CHOICE_LEAST = 8 };
    struct {
        uint32_t links;
        uint64_t slowest, fastest;
    } kinds[2] = {{0}};
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        const struct subnet_port *p = port_at(sm, port);
        if (p->peer == SUBNET_NONE || p->peer < port || !p->known)
            continue;
        unsigned kind = kind_of_link(sm, port);
        uint64_t rate = link_rate(p->info);
        if (!kinds[kind].links++ || rate < kinds[kind].slowest)
            kinds[kind].slowest = rate;
        if (rate > kinds[kind].fastest)
            kinds[kind].fastest = rate;
    }
    for (unsigned kind = 0; kind < 2; kind++)
        sm->faults->slow_by_choice[kind] =
            kinds[kind].links >= CHOICE_LEAST && kinds[kind].slowest == kinds[kind].fastest;
}

bool faults_is_slow(const struct sm *sm, uint32_t port, char text[64])
{
    const struct subnet_port *p = port_at(sm, port);
    if (p->peer == SUBNET_NONE || !p->known || !port_at(sm, p->peer)->known ||
        link_settings_limit_rates(&sm->config.links) ||
        sm->faults->slow_by_choice[kind_of_link(sm, port)])
        return false;
    const uint8_t *far = port_at(sm, p->peer)->info;
    if (link_rate(p->info) >= link_best_rate(p->info, far))
        return false;
    snprintf(text, 64, "%uX %s; both ends support %uX %s", link_lanes(p->info),
             link_lane_rate_name(link_lane_rate(p->info)), link_best_lanes(p->info, far),
             link_lane_rate_name(link_best_lane_rate(p->info, far)));
    return true;
}

/* Logs links that are slow, which often means a bad cable, once. */
/* ---- links of an earlier run ---- */

void sm_restore_link(struct sm *sm, const struct sm_neighbour *link)
{
    vec_push(&sm->faults->expected, *link);
}

static uint32_t find_port(const struct sm *sm, uint64_t guid, unsigned number)
{
    uint32_t node = map_get(&sm->subnet.by_guid, guid);
    return node == MAP_NONE || number > node_at(sm, node)->port_count
               ? SUBNET_NONE
               : node_at(sm, node)->first_port + number;
}

/* A link whose two ports have no other cable is lost. Those of absent nodes are forgotten. */
static void find_expected_links(struct sm *sm)
{
    uint32_t found = 0;
    if (sm_state(sm) != SM_MASTER)
        return;
    for (size_t i = 0; i < sm->faults->expected.count; i++) {
        const struct sm_neighbour *link = &sm->faults->expected.items[i];
        uint32_t a = find_port(sm, link->guid, link->number);
        uint32_t b = find_port(sm, link->peer_guid, link->peer_number);
        if (a == SUBNET_NONE || b == SUBNET_NONE || a == b ||
            port_at(sm, a)->last_peer != SUBNET_NONE || port_at(sm, b)->last_peer != SUBNET_NONE)
            continue;
        subnet_expect_link(&sm->subnet, a, b);
        if (log_list_take(&found))
            sm_log_listed(sm, SM_EVENT_WARNING, a, "lost link: %s: it was up in the last run",
                          subnet_link_name(&sm->subnet, a).text);
    }
    if (log_list_others(found))
        sm_log_listed(sm, SM_EVENT_WARNING, SUBNET_NONE, "%u more links are lost",
                      log_list_others(found));
    sm->faults->expected.count = 0;
}

/* ---- end of a change ---- */

void faults_change_ended(struct sm *sm)
{
    uint32_t found = 0;
    char text[64];
    find_expected_links(sm);
    faults_compare_rates(sm);
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++)
        if (node_at(sm, node)->present)
            faults_of(sm, node)->timeouts = 0;
    for (size_t port = 0; port < sm->faults->ports.count; port++)
        sm->faults->ports.items[port].kept = false;
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        if (port_at(sm, port)->peer < port)
            continue;
        bool slow = faults_is_slow(sm, port, text);
        struct port_faults *faults = faults_at(sm, port);
        bool is_news = slow && !faults->slow;
        faults->slow = slow;
        if (is_news && log_list_take(&found))
            sm_log_listed(sm, SM_EVENT_WARNING, port, "slow link: %s runs at %s",
                          subnet_link_name(&sm->subnet, port).text, text);
    }
    if (log_list_others(found))
        sm_log_listed(sm, SM_EVENT_WARNING, SUBNET_NONE, "%u more links are slow",
                      log_list_others(found));
}
