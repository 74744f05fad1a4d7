/* Follows the masks of a group from one member, and adds its dependencies to those of unicast. */
#include "routing/check/verify_multicast.h"

#include "routing/check/dependency.h"
#include "routing/check/walk.h"

#include <errno.h>
#include <string.h>

struct multicast_check {
    const struct network *network;
    const struct routes *routes;
    struct dependency_graph graph;
    struct arena memory;
    bool layered;
    bool cyclic;     /* unicast alone has a cycle: VLs are not checked */
    bool fresh;      /* a tree was added since the last check of VLs */
    uint16_t *masks; /* [switch * positions + position] of the tree under check */
    uint8_t *seen;   /* by port of the network: a packet left by it */
    uint32_t *queue; /* switch << 8 | port of entry */
    bool *visited;   /* by switch */
    uint32_t *met;   /* [switch * VLs + vl]: the LID that was last followed there */
};

/* ---- unicast ---- */

/* Follows a LID from a switch, up to one where this LID was followed on this VL before. */
static void add_unicast_path(struct multicast_check *check, uint32_t from, uint32_t lid,
                             unsigned vl)
{
    const struct network *network = check->network;
    uint32_t at = from;
    const struct network_port *link =
        network_link_at(network, at, routes_port(check->routes, at, lid));
    while (link && check->met[at * check->graph.vls + vl] != lid) {
        check->met[at * check->graph.vls + vl] = lid;
        at = link->peer & ~NETWORK_SWITCH;
        unsigned in = link->peer_port, out = routes_port(check->routes, at, lid);
        link = network_link_at(network, at, out);
        if (link)
            dependency_add(&check->graph, at, in, vl, out, vl);
    }
}

/* Adds packets with a terminal at one end at least. With one VL, walk_scan_dependencies() adds
 * those to terminals. */
static void add_unicast(struct multicast_check *check)
{
    const struct network *network = check->network;
    const struct routes *routes = check->routes;
    uint32_t switches = (uint32_t)network->switches.count;
    check->met = mem_zalloc((size_t)switches * check->graph.vls + 1, sizeof *check->met);
    for (uint32_t from = 0; !check->layered && from < switches; from++)
        walk_scan_dependencies(network, routes, from, &check->graph);
    for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
        uint32_t owner = network->owner[lid];
        if (owner == NETWORK_NONE || (!check->layered && !(owner & NETWORK_SWITCH)))
            continue;
        for (uint32_t from = 0; from < switches; from++)
            if (network_terminal_count(network, from))
                add_unicast_path(check, from, lid,
                                 check->layered ? routes_level(routes, from, lid) : 0);
    }
    mem_free(check->met);
    check->met = NULL;
}

static bool find_vl_cycle(struct multicast_check *check, struct err *err)
{
    struct verify_report report = {0};
    bool found = dependency_find_cycle(&check->graph, &report);
    if (found && err) {
        struct text text = {0};
        verify_write_cycle(check->network, report.cycle.items, report.cycle.count, &text);
        err_set(err, EDEADLK, "multicast and unicast could wait for each other: %.400s", text.data);
        text_release(&text);
    }
    verify_report_release(&report);
    return found;
}

struct multicast_check *multicast_check_new(const struct network *network,
                                            const struct routes *routes)
{
    struct multicast_check *check = mem_zalloc(1, sizeof *check);
    size_t switches = network->switches.count;
    check->network = network;
    check->routes = routes;
    check->layered = routes->vls > 1 && routes->service_levels;
    /* One VL more, for groups whose VL unicast does not use. */
    dependency_init(&check->graph, network, check->layered ? routes->vls + 1u : 1);
    check->masks =
        arena_alloc(&check->memory, switches * MULTICAST_POSITIONS * sizeof *check->masks);
    check->seen = arena_alloc(&check->memory, network->ports.count);
    check->queue = arena_alloc(&check->memory, switches * sizeof *check->queue);
    check->visited = arena_alloc(&check->memory, switches * sizeof *check->visited);
    add_unicast(check);
    check->cyclic = find_vl_cycle(check, NULL);
    return check;
}

void multicast_check_free(struct multicast_check *check)
{
    if (!check)
        return;
    dependency_release(&check->graph);
    arena_release(&check->memory);
    mem_free(check);
}

/* ---- one group ---- */

static bool is_marked(const struct multicast_check *check, uint32_t at, unsigned port)
{
    return check->masks[(size_t)at * MULTICAST_POSITIONS + port / MULTICAST_POSITION_PORTS] >>
               port % MULTICAST_POSITION_PORTS &
           1;
}

/* Follows a packet that enters a switch by a port (its sender's, or port 0) to wherever masks
 * lead. */
static int follow_masks(struct multicast_check *check, uint32_t first, unsigned entry,
                        struct err *err)
{
    const struct network *network = check->network;
    char label[NETWORK_LABEL_BYTES];
    uint32_t head = 0, tail = 0;
    check->visited[first] = true;
    check->queue[tail++] = first << 8 | entry;
    while (head < tail) {
        uint32_t at = check->queue[head] >> 8;
        unsigned from = check->queue[head++] & 0xFF;
        const struct network_switch *node = &network->switches.items[at];
        for (unsigned port = 0; port < MULTICAST_POSITIONS * MULTICAST_POSITION_PORTS; port++) {
            if (!is_marked(check, at, port) || (port == from && head > 1))
                continue;
            if (port > node->port_count)
                return err_set(err, EINVAL, "%s has no port %u",
                               network_label(network, at | NETWORK_SWITCH, label), port);
            const struct network_port *link = network_link_at(network, at, port);
            check->seen[node->first_port + port] = 1;
            if (!link)
                continue;
            uint32_t to = link->peer & ~NETWORK_SWITCH;
            if (check->visited[to])
                return err_set(err, EINVAL, "a packet comes twice to %s",
                               network_label(network, link->peer, label));
            if (!is_marked(check, to, link->peer_port))
                return err_set(err, EINVAL, "%s does not lead back to where packets come from",
                               network_label(network, link->peer, label));
            check->visited[to] = true;
            check->queue[tail++] = to << 8 | link->peer_port;
        }
    }
    return 0;
}

static uint32_t port_of(const struct multicast_check *check, uint32_t end_point, uint32_t *at)
{
    const struct network *network = check->network;
    *at = network_switch_of(network, end_point);
    return network->switches.items[*at].first_port +
           (end_point & NETWORK_SWITCH ? 0 : network->terminals.items[end_point].port);
}

/* Masks are the same at both ends of each link in use. So a packet from any member reaches the same
 * ports by the same links. */
static int compare_members(struct multicast_check *check, const struct multicast_member *members,
                           size_t count, const struct multicast_tree *tree, struct err *err)
{
    const struct network *network = check->network;
    char label[NETWORK_LABEL_BYTES];
    size_t missed = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t at, port = port_of(check, members[i].end_point, &at);
        bool is_missed = missed < tree->missed.count && tree->missed.items[missed] == i;
        bool reached = check->visited[at] && (!members[i].receives || check->seen[port]);
        missed += is_missed;
        if (is_missed == reached)
            return err_set(err, EINVAL, "%s is %s",
                           network_label(network, members[i].end_point, label),
                           reached ? "reached, and said not to be" : "not reached");
    }
    for (size_t i = 0; i < count;
         i++) { /* ports that stay marked belong to no member; several members may share a port */
        uint32_t at, port = port_of(check, members[i].end_point, &at);
        check->seen[port] &= !members[i].receives;
    }
    for (size_t i = 0; i < tree->arms.count; i++) {
        const struct network_switch *node = &network->switches.items[tree->arms.items[i].at];
        if (!check->visited[tree->arms.items[i].at])
            return err_set(err, EINVAL, "a tree is in two pieces");
        for (unsigned port = 0; port <= node->port_count; port++)
            if (check->seen[node->first_port + port] &&
                !network_link_at(network, tree->arms.items[i].at, port))
                return err_set(err, EINVAL, "port %u of 0x%016llx gets packets but is not a member",
                               port, (unsigned long long)node->guid);
    }
    return 0;
}

/* At every switch, packets that arrive by a link of the tree can wait for each other link of it. */
static void add_waits(struct multicast_check *check, unsigned vl, const struct multicast_tree *tree)
{
    const struct network *network = check->network;
    for (size_t i = 0; i < tree->arms.count; i++) {
        uint32_t at = tree->arms.items[i].at;
        if (i && tree->arms.items[i - 1].at == at)
            continue;
        uint8_t links[NETWORK_TOP_PORT + 1];
        unsigned count = 0;
        for (unsigned port = 1; port <= network->switches.items[at].port_count; port++)
            if (is_marked(check, at, port) && network_link_at(network, at, port))
                links[count++] = (uint8_t)port;
        for (unsigned in = 0; in < count; in++)
            for (unsigned out = 0; out < count; out++)
                if (in != out)
                    dependency_add(&check->graph, at, links[in], vl, links[out], vl);
    }
}

/* The first member that is not missed sends. */
static int check_masks(struct multicast_check *check, const bool *usable,
                       const struct multicast_member *members, size_t count,
                       const struct multicast_tree *tree, struct err *err)
{
    size_t sender = 0;
    int status = 0;
    for (size_t i = 0; i < tree->arms.count; i++) {
        const struct multicast_arm *arm = &tree->arms.items[i];
        if (arm->at >= check->network->switches.count || arm->position >= MULTICAST_POSITIONS ||
            !usable[arm->at])
            return err_set(err, EINVAL, "a tree passes a switch that has no multicast");
        check->masks[(size_t)arm->at * MULTICAST_POSITIONS + arm->position] |= arm->mask;
    }
    while (sender < tree->missed.count && tree->missed.items[sender] == sender)
        sender++;
    if (sender < count) {
        uint32_t at, port = port_of(check, members[sender].end_point, &at);
        status = follow_masks(check, at, port - check->network->switches.items[at].first_port, err);
    }
    return status ? status : compare_members(check, members, count, tree, err);
}

int multicast_check_tree(struct multicast_check *check, unsigned vl, const bool *usable,
                         const struct multicast_member *members, size_t count,
                         const struct multicast_tree *tree, struct err *err)
{
    unsigned own = check->layered ? check->routes->vls : 0; /* no unicast is on this VL */
    int status = check_masks(check, usable, members, count, tree, err);
    if (!status) {
        add_waits(check, check->layered && vl < own ? vl : own, tree);
        check->fresh = true;
    }
    const struct network *network = check->network;
    for (size_t i = 0; i < tree->arms.count; i++) {
        uint32_t at = tree->arms.items[i].at;
        if (at >= network->switches.count)
            continue;
        memset(check->masks + (size_t)at * MULTICAST_POSITIONS, 0,
               MULTICAST_POSITIONS * sizeof *check->masks);
        memset(check->seen + network->switches.items[at].first_port, 0,
               network->switches.items[at].port_count + 1u);
    }
    memset(check->visited, 0, network->switches.count * sizeof *check->visited);
    return status;
}

int multicast_check_vls(struct multicast_check *check, struct err *err)
{
    bool look = check->fresh && !check->cyclic;
    check->fresh = false;
    return look && find_vl_cycle(check, err) ? -EDEADLK : 0;
}
