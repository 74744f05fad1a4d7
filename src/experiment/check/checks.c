/* Finds the parts of a partitioned fabric, runs a check for each, and has the checks of managers,
 * of the master's database, of LIDs and of port states. Those of the forwarding tables
 * (reachability, deadlock) are in checks_tables.c. */
#include "experiment/check/checks.h"

#include "console/names.h"
#include "experiment/check/checks_tables.h"
#include "topology/virtual.h"

#include <assert.h>
#include <string.h>

bool check_fail(struct check_failure *failure, const char *format, ...)
{
    if (!failure)
        return false;
    text_print_arguments(failure->text, sizeof failure->text, format);
    return false;
}

const char *part_node_name(const struct part *part, uint32_t port)
{
    return node_label(part->topology, part->topology->ports.items[port].node);
}

bool part_is_switch(const struct part *part, uint32_t port)
{
    uint32_t node = part->topology->ports.items[port].node;
    return part->topology->nodes.items[node].kind == NODE_SWITCH;
}

/* Port 0 of a switch, or a port of an adapter with a link: no manager can reach one without. */
static bool is_end_port(const struct part *part, uint32_t port)
{
    if (!part->has[port])
        return false;
    return part_is_switch(part, port) ? topology_port_number(part->topology, port) == 0
                                      : fabric_link_is_up(part->view->fabric, port);
}

uint32_t part_peer(const struct part *part, uint32_t port)
{
    if (!part->has[port] || !fabric_link_is_up(part->view->fabric, port))
        return TOPOLOGY_NONE;
    uint32_t peer = part->topology->ports.items[port].peer;
    return peer != TOPOLOGY_NONE && part->has[peer] ? peer : TOPOLOGY_NONE;
}

unsigned part_field(const struct part *part, uint32_t port, enum wire_field field)
{
    return (unsigned)wire_get(fabric_port_info(part->view->fabric, port), field);
}

/* ---- parts ---- */

struct part_search {
    uint32_t *stack; /* switches whose links are still to be followed */
    size_t depth;
};

static void reach_port(struct part *part, struct part_search *search, uint32_t port)
{
    uint32_t index = part->topology->ports.items[port].node;
    const struct topology_node *node = &part->topology->nodes.items[index];
    if (part->has[port] || (part->view->silent && part->view->silent[index]))
        return;
    part->has[port] = true;
    if (node->kind != NODE_SWITCH)
        return;
    for (unsigned number = 0; number <= node->port_count; number++)
        part->has[node->first_port + number] = true;
    search->stack[search->depth++] = index;
}

static void reach_through(struct part *part, struct part_search *search, uint32_t port)
{
    uint32_t peer = part->topology->ports.items[port].peer;
    if (peer != TOPOLOGY_NONE && fabric_link_is_up(part->view->fabric, port))
        reach_port(part, search, peer);
}

/* Marks the ports that cables connect with part->from. All ports of a switch belong to its part,
 * but an adapter only with the ports that are reached: another may be in another subnet. */
static void mark_part(struct part *part)
{
    struct part_search search = {mem_alloc(part->topology->nodes.count * sizeof *search.stack), 0};
    reach_port(part, &search, part->from);
    if (part->has[part->from] && !part_is_switch(part, part->from))
        reach_through(part, &search, part->from);
    while (search.depth) {
        const struct topology_node *node =
            &part->topology->nodes.items[search.stack[--search.depth]];
        for (unsigned number = 1; number <= node->port_count; number++)
            reach_through(part, &search, node->first_port + number);
    }
    mem_free(search.stack);
}

/* ---- managers ---- */

static struct sm *manager_at(const struct check_view *view, size_t instance)
{
    uint32_t manager = view->instances[instance].manager;
    return manager == NO_MANAGER ? NULL : sim_manager(view->sim, manager);
}

/* Counts the masters of the part; `instances` receives the first two. */
static unsigned count_masters(const struct part *part, size_t instances[2])
{
    const struct check_view *view = part->view;
    unsigned count = 0;
    for (size_t i = 0; i < view->instance_count; i++) {
        struct sm *sm = manager_at(view, i);
        if (!sm || !part->has[view->instances[i].port] || sm_state(sm) != SM_MASTER)
            continue;
        if (count < 2)
            instances[count] = i;
        count++;
    }
    return count;
}

struct sm *part_master(const struct part *part)
{
    size_t instances[2];
    return count_masters(part, instances) == 1 ? manager_at(part->view, instances[0]) : NULL;
}

/* As part_master(), and complains if there is not exactly one. */
static struct sm *find_master(struct part *part, uint32_t *at)
{
    const struct check_view *view = part->view;
    size_t instances[2];
    unsigned count = count_masters(part, instances);
    if (count == 0)
        check_fail(part->failure, "no master in the part of '%s'",
                   part_node_name(part, part->from));
    else if (count > 1)
        check_fail(part->failure, "two masters: at '%s' and at '%s'",
                   part_node_name(part, view->instances[instances[0]].port),
                   part_node_name(part, view->instances[instances[1]].port));
    if (count != 1)
        return NULL;
    *at = view->instances[instances[0]].port;
    return manager_at(view, instances[0]);
}

static bool part_has_one_master(struct part *part)
{
    uint32_t at = TOPOLOGY_NONE;
    if (!find_master(part, &at))
        return false;
    unsigned lid = part_field(part, at, PORT_INFO_LID);
    for (uint32_t port = 0; port < part->topology->ports.count; port++)
        if (is_end_port(part, port) && part_field(part, port, PORT_INFO_MASTER_SM_LID) != lid)
            return check_fail(part->failure, "'%s' has MasterSMLID %u, but the master has LID %u",
                              part_node_name(part, port),
                              part_field(part, port, PORT_INFO_MASTER_SM_LID), lid);
    return true;
}

static bool part_is_settled(struct part *part)
{
    uint32_t at = TOPOLOGY_NONE;
    const struct check_view *view = part->view;
    struct sm *master = find_master(part, &at);
    if (!master)
        return false;
    if (!sm_is_settled(master))
        return check_fail(part->failure, "the master at '%s' is still at work",
                          part_node_name(part, at));
    for (size_t i = 0; i < view->instance_count; i++) {
        struct sm *sm = manager_at(view, i);
        if (sm && part->has[view->instances[i].port] && sm_state(sm) == SM_DISCOVERING)
            return check_fail(part->failure, "the manager at '%s' is still discovering",
                              part_node_name(part, view->instances[i].port));
    }
    return true;
}

/* ---- the database of the master ---- */

static const struct subnet_port *discovered_port(const struct part *part,
                                                 const struct subnet *subnet, uint32_t port)
{
    unsigned number = topology_port_number(part->topology, port);
    uint32_t node = map_get(
        &subnet->by_guid,
        wire_get(fabric_node_info(part->view->fabric, part->topology->ports.items[port].node),
                 NODE_INFO_NODE_GUID));
    if (node == MAP_NONE || !subnet->nodes.items[node].present ||
        number > subnet->nodes.items[node].port_count)
        return NULL;
    return &subnet->ports.items[subnet->nodes.items[node].first_port + number];
}

static bool has_discovered_link(struct part *part, const struct subnet *subnet, uint32_t port,
                                uint32_t peer)
{
    const struct subnet_port *near = discovered_port(part, subnet, port);
    const struct subnet_port *far =
        peer == TOPOLOGY_NONE ? NULL : discovered_port(part, subnet, peer);
    const struct subnet_port *found =
        !near || near->peer == SUBNET_NONE ? NULL : &subnet->ports.items[near->peer];
    if (!near)
        return check_fail(part->failure, "the master has not discovered '%s'",
                          part_node_name(part, port));
    if (found == far || (peer == TOPOLOGY_NONE && fabric_link_is_up(part->view->fabric, port)))
        return true;
    return check_fail(part->failure, "the master %s at '%s' port %u",
                      !found ? "misses the link"
                      : far  ? "has a wrong link"
                             : "has a failed link",
                      part_node_name(part, port), topology_port_number(part->topology, port));
}

/* An end port without PortInfo was never configured. */
static bool has_read_port(struct part *part, const struct subnet *subnet, uint32_t port)
{
    const struct subnet_port *found = discovered_port(part, subnet, port);
    return !is_end_port(part, port) || (found && found->known) ||
           check_fail(part->failure, "the master has not read port %u of '%s'",
                      topology_port_number(part->topology, port), part_node_name(part, port));
}

static bool part_is_discovered(struct part *part)
{
    uint32_t at = TOPOLOGY_NONE;
    struct sm *master = find_master(part, &at);
    if (!master)
        return false;
    const struct subnet *subnet = sm_subnet(master);
    uint32_t nodes = 0, present = 0, last = TOPOLOGY_NONE;
    for (uint32_t port = 0; port < part->topology->ports.count; port++) {
        if (!part->has[port])
            continue;
        nodes += part->topology->ports.items[port].node != last;
        last = part->topology->ports.items[port].node;
        if (!has_discovered_link(part, subnet, port, part_peer(part, port)) ||
            !has_read_port(part, subnet, port))
            return false;
    }
    for (size_t i = 0; i < subnet->nodes.count; i++)
        present += subnet->nodes.items[i].present;
    return present == nodes ||
           check_fail(part->failure, "the master has %u nodes, the fabric has %u", present, nodes);
}

/* ---- attributes of agents ---- */

static bool part_has_unique_lids(struct part *part)
{
    uint32_t *owner = mem_alloc((LID_UNICAST_LAST + 1) * sizeof *owner);
    bool fine = true;
    for (unsigned lid = 0; lid <= LID_UNICAST_LAST; lid++)
        owner[lid] = TOPOLOGY_NONE;
    for (uint32_t port = 0; fine && port < part->topology->ports.count; port++) {
        if (!is_end_port(part, port) ||
            topology_is_vswitch(part->topology, part->topology->ports.items[port].node))
            continue; /* a virtual switch has the LID of its physical function */
        unsigned first = part_field(part, port, PORT_INFO_LID);
        unsigned last = first + (1u << part_field(part, port, PORT_INFO_LMC)) - 1;
        if (first == 0 || last > LID_UNICAST_LAST)
            fine = check_fail(part->failure, "'%s' has no LID", part_node_name(part, port));
        for (unsigned lid = first; fine && lid <= last; lid++) {
            if (owner[lid] != TOPOLOGY_NONE)
                fine =
                    check_fail(part->failure, "'%s' and '%s' both have LID %u",
                               part_node_name(part, owner[lid]), part_node_name(part, port), lid);
            owner[lid] = port;
        }
    }
    mem_free(owner);
    return fine;
}

static bool part_is_active(struct part *part)
{
    static const char *const states[] = {"no state", "Down", "Init", "Armed", "Active"};
    for (uint32_t port = 0; port < part->topology->ports.count; port++) {
        unsigned state = part_field(part, port, PORT_INFO_PORT_STATE);
        if (part_peer(part, port) != TOPOLOGY_NONE && state != PORT_STATE_ACTIVE)
            return check_fail(part->failure, "'%s' port %u is %s", part_node_name(part, port),
                              topology_port_number(part->topology, port),
                              states[state <= PORT_STATE_ACTIVE ? state : 0]);
    }
    return true;
}

/* ---- all checks ---- */

static bool (*const checks[CHECK_KINDS])(struct part *part) = {
    [CHECK_ONE_MASTER] = part_has_one_master,
    [CHECK_SETTLED] = part_is_settled,
    [CHECK_DISCOVERED] = part_is_discovered,
    [CHECK_LIDS_UNIQUE] = part_has_unique_lids,
    [CHECK_ACTIVE] = part_is_active,
    [CHECK_REACHABLE] = part_is_reachable,
    [CHECK_DEADLOCK_FREE] = part_is_deadlock_free,
};

bool check_holds(const struct check_view *view, enum check_kind kind, struct check_failure *failure)
{
    assert(kind < CHECK_KINDS);
    const struct topology *topology = fabric_topology(view->fabric);
    bool *seen =
        mem_zalloc(topology->ports.count + 1, sizeof *seen); /* ports of parts that were checked */
    bool *has = mem_zalloc(topology->ports.count + 1, sizeof *has);
    bool holds = true, any = false, waiting = false;
    if (failure)
        failure->text[0] = 0;
    for (size_t i = 0; holds && i < view->instance_count; i++) {
        uint32_t port = view->instances[i].port;
        if (!manager_at(view, i) || seen[port])
            continue;
        struct part part = {view, topology, port, has, failure};
        if (sm_own_link_is_down(manager_at(view, i))) { /* it manages nothing now */
            waiting = true;
            if (fabric_link_is_up(view->fabric, port))
                holds = check_fail(failure, "the manager at '%s' waits for its link, which is up",
                                   part_node_name(&part, port));
            continue;
        }
        memset(has, 0, topology->ports.count * sizeof *has);
        mark_part(&part);
        for (size_t j = 0; j < topology->ports.count; j++)
            seen[j] |= has[j];
        any = true;
        holds = checks[kind](&part);
    }
    mem_free(seen);
    mem_free(has);
    if (!any && holds && !(waiting && view->may_wait))
        holds = check_fail(failure, waiting ? "every manager waits for its own link"
                                            : "no manager is running");
    return holds;
}

struct cut_off check_cut_off(const struct check_view *view)
{
    const struct topology *topology = fabric_topology(view->fabric);
    bool *has = mem_zalloc(topology->ports.count + 1, sizeof *has);
    struct cut_off cut = {0};
    for (size_t i = 0; i < view->instance_count; i++)
        if (manager_at(view, i) && !has[view->instances[i].port])
            mark_part(&(struct part){view, topology, view->instances[i].port, has, NULL});
    for (uint32_t i = 0; i < topology->nodes.count; i++) {
        const struct topology_node *node = &topology->nodes.items[i];
        bool reached = false;
        for (unsigned number = 0; number <= node->port_count; number++)
            reached |= has[node->first_port + number];
        if (!reached && fabric_node_is_up(view->fabric, i))
            (*(node->kind == NODE_SWITCH ? &cut.switches : &cut.adapters))++;
    }
    mem_free(has);
    return cut;
}

bool check_in_order(const struct check_view *view, struct check_failure *failure)
{
    for (enum check_kind kind = 0; kind < CHECK_KINDS; kind++)
        if (!check_holds(view, kind, failure))
            return false;
    return true;
}
