/* Lists the faults that are present as problems: bad links, disabled ports, nodes that are gone or
 * do not answer, duplicate GUIDs. */
#include "base/text.h"
#include "sm/faults/faults.h"
#include "sm/faults/recorded.h"
#include "sm/guard/examine.h"
#include "sm/internal.h"
#include "subnet/absent.h"

#include <stdio.h>

/* A port of a switch that leads to no node, although its link is up. */
static bool is_open_end(struct sm *sm, uint32_t port)
{
    const struct subnet_port *p = port_at(sm, port);
    const struct subnet_node *node = node_at(sm, p->node);
    return node->present && node->kind == SUBNET_SWITCH && p->number && p->known &&
           wire_get(p->info, PORT_INFO_PORT_STATE) >= PORT_STATE_INIT && p->peer == SUBNET_NONE &&
           !node->vswitch && !faults_at(sm, port)->down_at_peer;
}

static void explain_link(const struct sm *sm, uint32_t port, struct problems *problems)
{
    problems_explain(problems, port);
    if (port_at(sm, port)->last_peer != SUBNET_NONE)
        problems_explain(problems, port_at(sm, port)->last_peer);
}

/* A link is listed at the lower of its two ports. */
static void list_link(struct sm *sm, uint32_t port, struct problems *problems)
{
    const struct subnet_port *p = port_at(sm, port);
    if (p->last_peer < port)
        return;
    const struct port_faults *faults = faults_at(sm, port);
    char text[64];
    bool flaps = history_is_recent(&faults->losses, sm->now) && faults->losses.count > 1;
    bool errors = history_is_recent(&faults->errors, sm->now);
    bool slow = faults_is_slow(sm, port, text);
    if (!flaps && !errors && !slow)
        return;
    struct subnet_place place = subnet_at_link(&sm->subnet, port);
    if (flaps)
        problems_add(problems, PROBLEM_FLAPPING_LINK, place,
                     "the link went down %u times in %d min%s", faults->losses.count, HISTORY_MIN,
                     faults_is_damped(sm, port) ? "; it is ignored for now"
                     : p->peer == SUBNET_NONE   ? "; it is down"
                                                : "");
    if (errors && faults->error.trap)
        problems_add(problems, PROBLEM_BAD_CABLE, place,
                     "its ports reported link errors %u time%s in %d min (trap %u)",
                     faults->errors.count, faults->errors.count == 1 ? "" : "s", HISTORY_MIN,
                     faults->error.trap);
    else if (errors)
        problems_add(problems, PROBLEM_BAD_CABLE, place, "%s",
                     faults_describe_errors(sm, &faults->error).text);
    if (slow || (flaps && p->peer == SUBNET_NONE))
        explain_link(sm, port, problems);
    if (slow)
        problems_add(problems, PROBLEM_SLOW_LINK, place, "the link runs at %s", text);
}

/* A port may also have been disabled by another manager or by ibportstate. */
static void list_disabled_port(struct sm *sm, uint32_t port, struct problems *problems)
{
    const struct subnet_port *p = port_at(sm, port);
    if (!node_at(sm, p->node)->present || !p->number || !faults_is_disabled(p))
        return;
    uint64_t until = faults_at(sm, port)->disabled_until;
    struct subnet_place place = subnet_at_link(&sm->subnet, port);
    explain_link(sm, port, problems);
    if (until && until != TIME_NEVER)
        problems_add(problems, PROBLEM_DISABLED_PORT, place,
                     "the manager isolated this link; it tries it again in %u s",
                     (unsigned)(until > sm->now ? (until - sm->now) / NS_PER_S : 0));
    else
        problems_add(problems, PROBLEM_DISABLED_PORT, place,
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
                 known ? subnet_at_link(&sm->subnet, port) : subnet_at_port(&sm->subnet, port),
                 "%s has the GUID 0x%016llx of %s (%s)%s; %s is left out, %s "
                 "keeps the GUID",
                 name.text, (unsigned long long)guid, keeper_name.text,
                 faults_place_of_guid(sm, guid).text, change, name.text, keeper_name.text);
}

/* Links that are up, with a node behind them that is not in the subnet. */
static void list_open_end(struct sm *sm, uint32_t port, const struct absent *absent,
                          struct problems *problems)
{
    if (!is_open_end(sm, port))
        return;
    const struct port_faults *faults = faults_at(sm, port);
    bool explained = problems_is_explained(problems, port);
    explain_link(sm, port, problems);
    if (faults->excluded)
        list_duplicate(sm, port, absent, problems);
    else if (!explained && !faults_is_damped(sm, port) && !examine_explains(sm, port))
        problems_add(problems, PROBLEM_DEAD_AGENT, subnet_at_port(&sm->subnet, port),
                     "the link is up, but the node behind it does not answer SMPs");
}

/* A link that was there and is down, between nodes that are present; at the lower of its ports. */
static void list_lost_link(struct sm *sm, uint32_t port, struct problems *problems)
{
    uint32_t peer = subnet_last_neighbor(&sm->subnet, port);
    if (peer == SUBNET_NONE || peer < port || port_at(sm, port)->peer == peer ||
        !node_at(sm, port_at(sm, port)->node)->present ||
        !node_at(sm, port_at(sm, peer)->node)->present || problems_is_explained(problems, port) ||
        problems_is_explained(problems, peer))
        return;
    explain_link(sm, port, problems);
    problems_add(problems, PROBLEM_LOST_LINK, subnet_at_link(&sm->subnet, port),
                 "the link is down; both ends answer by other paths");
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

/* The link of this port, at which a group is connected, is up. */
static bool leads_to_dead_agent(struct sm *sm, uint32_t port)
{
    return is_open_end(sm, port) && !faults_at(sm, port)->excluded && !faults_is_damped(sm, port);
}

bool faults_agent_is_dead(struct sm *sm, const struct absent_group *group)
{
    for (size_t i = 0; i < group->entries.count; i++)
        if (leads_to_dead_agent(sm, group->entries.items[i]))
            return true;
    return false;
}

/* The node was lost over a link that loses SMPs, and sweeps may find it by another path yet. */
static bool is_lost_by_lossy_link(struct sm *sm, uint32_t node)
{
    enum { SWEEPS = 3, LEAST_S = 10 };
    const struct node_faults *faults = faults_of(sm, node);
    uint64_t sweeps = sm->config.sweep_ns == TIME_NEVER ? 0 : SWEEPS * sm->config.sweep_ns;
    uint64_t least = LEAST_S * NS_PER_S;
    if (!faults->silent_since || sm->now > faults->silent_since + (sweeps > least ? sweeps : least))
        return false;
    for (unsigned i = 0; i < PATH_KEPT; i++)
        if (faults->path[i] != SUBNET_NONE && examine_link_loses(sm, faults->path[i]))
            return true;
    return false;
}

/* One line for a node that is gone or does not answer, and for all nodes that it cuts off. */
static void list_group(struct sm *sm, const struct absent_group *group, struct problems *problems)
{
    VEC(uint32_t) up = {0};
    struct text text = {0};
    bool listed = (entries_are_listed(sm, group, problems) && !group->cut_off.count) ||
                  is_lost_by_lossy_link(sm, group->root);
    for (size_t i = 0; i < group->entries.count; i++)
        listed |= examine_explains(sm, group->entries.items[i]);
    for (size_t i = 0; i < group->entries.count; i++)
        if (leads_to_dead_agent(sm, group->entries.items[i]))
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
        text_printf(&text, "; %zu node%s behind it %s%s: ", group->cut_off.count,
                    group->cut_off.count == 1 ? "" : "s", group->cut_off.count == 1 ? "is" : "are",
                    up.count ? " out of reach, but packets may still pass" : " cut off");
        put_names(sm, &text, group->cut_off.items, group->cut_off.count, subnet_node_name);
    }
    struct subnet_place place = subnet_at_node(&sm->subnet, group->root);
    if (links) { /* the link by which it was reached */
        uint32_t entry = up.count ? up.items[0] : group->entries.items[0];
        place.peer_guid = node_at(sm, port_at(sm, entry)->node)->guid;
        place.peer_port = port_at(sm, entry)->number;
    }
    bool host = node_at(sm, group->root)->kind == SUBNET_ADAPTER && links && !group->cut_off.count;
    if (!listed)
        problems_add(problems,
                     up.count ? PROBLEM_DEAD_AGENT
                     : host   ? PROBLEM_HOST_GONE
                              : PROBLEM_NODE_GONE,
                     place, "%s", text.data);
    vec_release(&up);
    text_release(&text);
}

void faults_list_problems(struct sm *sm, struct problems *problems)
{
    struct absent absent;
    if (sm_state(sm) != SM_MASTER)
        return;
    absent_find(&absent, &sm->subnet);
    faults_compare_rates(sm);
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        list_link(sm, port, problems);
        list_disabled_port(sm, port, problems);
    }
    for (size_t i = 0; i < absent.groups.count; i++)
        list_group(sm, &absent.groups.items[i], problems);
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
        list_open_end(sm, port, &absent, problems);
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
        list_lost_link(sm, port, problems);
    absent_release(&absent);
}
