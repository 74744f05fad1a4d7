/* Routers are switches of a network of all subnets, so that dependency.h finds the cycle.
 *
 * A state is (port by which a packet enters a router, prefix that it goes to). The states of a
 * prefix are visited depth first; each visit notes by which ports the packets leave the router, and
 * to which routers they go from there. From these notes come the dependencies at routers. */
#include "routing/check/across.h"

#include <errno.h>
#include <inttypes.h>

enum { WEIGHT_NONE = 256, CROSSINGS_MOST = 64, FAILED = -1, OPEN = -2, NEW = -3 };

/* A port of a router in one of the subnets. */
struct gate {
    uint32_t subnet, router; /* `router`: a switch of the whole network */
    uint32_t terminal;       /* of the subnet's network */
    uint8_t number;
    uint64_t guid;
    bool taken;   /* end ports of the subnet send packets to it */
    bool arrives; /* packets that leave by it are in their subnet */
};
struct hop { /* from one gate to another */
    uint32_t from, to;
};

struct across {
    const struct across_subnet *subnets;
    size_t count;
    struct across_report *report;
    struct network whole;
    uint32_t *base; /* by subnet: its first switch in `whole` */
    VEC(struct gate) gates;
    VEC(struct hop) through; /* routers, from the gate that is entered to the one that is left */
    VEC(struct hop) between; /* routers, within a subnet */
    struct map gate_by_guid;
    int *state; /* by gate, for the present prefix: crossings that remain, or an enum */
    struct dependency_graph graph;
};

static void note_finding(struct across *across, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void note_finding(struct across *across, const char *format, ...)
{
    char message[512];
    if (across->report->findings.count >= VERIFY_FINDINGS)
        return;
    text_print_arguments(message, sizeof message, format);
    vec_push(&across->report->findings, arena_strdup(&across->report->strings, message));
}

static const char *gate_label(const struct across *across, const struct gate *gate, char *label)
{
    return network_label(&across->whole, NETWORK_SWITCH | gate->router, label);
}

/* ---- the network of all subnets ---- */

static void add_switches(struct across *across)
{
    for (uint32_t i = 0; i < across->count; i++) {
        const struct network *network = across->subnets[i].network;
        across->base[i] = (uint32_t)across->whole.switches.count;
        for (uint32_t at = 0; at < network->switches.count; at++) {
            const struct network_switch *node = &network->switches.items[at];
            const char *name = network_name_of(network, NETWORK_SWITCH | at);
            network_add_switch(&across->whole, node->guid, 0, 0, node->port_count);
            if (name)
                network_name(&across->whole, NETWORK_SWITCH | (across->base[i] + at), name);
        }
    }
    for (uint32_t i = 0; i < across->count; i++) {
        const struct network *network = across->subnets[i].network;
        for (uint32_t at = 0; at < network->switches.count; at++)
            for (unsigned port = 1; port <= network->switches.items[at].port_count; port++) {
                const struct network_port *link = network_link_at(network, at, port);
                if (link)
                    network_link(&across->whole, across->base[i] + at, port,
                                 across->base[i] + (link->peer & ~NETWORK_SWITCH), link->peer_port);
            }
    }
}

static uint32_t find_terminal(const struct network *network, uint64_t guid)
{
    for (uint32_t i = 0; i < network->terminals.count; i++)
        if (network->terminals.items[i].guid == guid)
            return i;
    return NETWORK_NONE;
}

static int add_gate(struct across *across, struct map *routers, uint32_t subnet,
                    const struct border_port *port, struct err *err)
{
    const struct network *network = across->subnets[subnet].network;
    uint32_t router = map_get(routers, port->node);
    uint32_t terminal = find_terminal(network, port->guid);
    if (terminal == NETWORK_NONE || network->terminals.items[terminal].at == NETWORK_NONE)
        return err_set(err, EINVAL,
                       "the subnet 0x%016" PRIx64 " has no link to the router's port 0x%016" PRIx64,
                       across->subnets[subnet].border->prefix, port->guid);
    if (map_get(&across->gate_by_guid, port->guid) != MAP_NONE)
        return err_set(err, EINVAL, "the router's port 0x%016" PRIx64 " is in two subnets",
                       port->guid);
    if (router == MAP_NONE) {
        const char *name = network_name_of(network, terminal);
        router = network_add_switch(&across->whole, port->node, 0, 0, NETWORK_TOP_PORT);
        if (name)
            network_name(&across->whole, NETWORK_SWITCH | router, name);
        map_set(routers, port->node, router);
    }
    const struct network_terminal *end = &network->terminals.items[terminal];
    if (network_link(&across->whole, across->base[subnet] + end->at, end->port, router,
                     port->number) < 0)
        return err_set(err, EINVAL, "two ports of router 0x%016" PRIx64 " have the number %u",
                       port->node, port->number);
    map_set(&across->gate_by_guid, port->guid, (uint32_t)across->gates.count);
    vec_push(&across->gates, ((struct gate){.subnet = subnet,
                                            .router = router,
                                            .terminal = terminal,
                                            .number = port->number,
                                            .guid = port->guid}));
    return 0;
}

static int build_whole(struct across *across, struct err *err)
{
    struct map routers = {0};
    int status = 0;
    for (size_t i = 0; i < across->count; i++)
        for (size_t j = 0; j < i; j++)
            if (across->subnets[i].border->prefix == across->subnets[j].border->prefix)
                return err_set(err, EINVAL, "two subnets have the prefix 0x%016" PRIx64,
                               across->subnets[i].border->prefix);
    add_switches(across);
    for (uint32_t i = 0; i < across->count; i++) {
        const struct border *border = across->subnets[i].border;
        for (size_t j = 0; j < border->ports.count && status == 0; j++)
            status = add_gate(across, &routers, i, &border->ports.items[j], err);
    }
    map_release(&routers);
    if (status == 0)
        network_finish(&across->whole);
    return status;
}

/* ---- ways of packets ---- */

static void add_hop(struct across *across, bool within, uint32_t from, uint32_t to)
{
    const struct hop hop = {from, to};
    for (size_t i = 0; i < (within ? across->between.count : across->through.count); i++) {
        const struct hop *other = within ? &across->between.items[i] : &across->through.items[i];
        if (other->from == from && other->to == to)
            return;
    }
    if (within)
        vec_push(&across->between, hop);
    else
        vec_push(&across->through, hop);
}

/* As routers weigh their ports (src/sma/router.c). */
static unsigned weight_by(const struct across *across, const struct gate *gate, uint64_t prefix)
{
    const struct border *border = across->subnets[gate->subnet].border;
    unsigned least = WEIGHT_NONE;
    if (border->prefix == prefix)
        return 0;
    for (size_t i = 0; i < border->choices.count; i++) {
        const struct border_choice *choice = &border->choices.items[i];
        if (choice->from == gate->guid && choice->prefix == prefix && choice->weight < least)
            least = choice->weight;
    }
    return least;
}

static int enter_router(struct across *across, uint32_t entered, uint64_t prefix, unsigned depth);

/* The packets leave a router for the next one. Returns the crossings that remain, or FAILED. */
static int go_on(struct across *across, uint32_t left, uint64_t prefix, unsigned depth)
{
    const struct gate *gate = &across->gates.items[left];
    const struct border *border = across->subnets[gate->subnet].border;
    int most = 0;
    for (size_t i = 0; i < border->choices.count; i++) {
        const struct border_choice *choice = &border->choices.items[i];
        if (choice->from != gate->guid || choice->prefix != prefix)
            continue;
        uint32_t next = map_get(&across->gate_by_guid, choice->to);
        add_hop(across, true, left, next);
        int crossings = enter_router(across, next, prefix, depth + 1);
        most = most == FAILED || crossings < 0 ? FAILED : crossings > most ? crossings : most;
    }
    return most;
}

/* Returns how many routers packets to the prefix cross from here at most, or FAILED. */
static int enter_router(struct across *across, uint32_t entered, uint64_t prefix, unsigned depth)
{
    char label[NETWORK_LABEL_BYTES];
    const struct gate *gate = &across->gates.items[entered];
    unsigned least = WEIGHT_NONE;
    int most = 0;
    if (across->state[entered] == OPEN || depth > CROSSINGS_MOST) {
        across->report->loops++;
        note_finding(across, "loop: packets to 0x%016" PRIx64 " come back to %s port %u", prefix,
                     gate_label(across, gate, label), gate->number);
        return FAILED;
    }
    if (across->state[entered] != NEW)
        return across->state[entered];
    across->state[entered] = OPEN;
    for (uint32_t i = 0; i < across->gates.count; i++)
        if (i != entered && across->gates.items[i].router == gate->router &&
            weight_by(across, &across->gates.items[i], prefix) < least)
            least = weight_by(across, &across->gates.items[i], prefix);
    for (uint32_t i = 0; i < across->gates.count && least < WEIGHT_NONE; i++) {
        struct gate *left = &across->gates.items[i];
        if (i == entered || left->router != gate->router ||
            weight_by(across, left, prefix) != least)
            continue;
        add_hop(across, false, entered, i);
        if (least == 0)
            left->arrives = true;
        int crossings = least == 0 ? 0 : go_on(across, i, prefix, depth);
        most = most == FAILED || crossings < 0 ? FAILED : crossings > most ? crossings : most;
    }
    if (least == WEIGHT_NONE) {
        note_finding(across, "not delivered: %s port %u has no way to 0x%016" PRIx64,
                     gate_label(across, gate, label), gate->number, prefix);
        most = FAILED;
    }
    across->state[entered] = most == FAILED ? FAILED : most + 1;
    return across->state[entered];
}

static void follow_pair(struct across *across, uint32_t from, uint64_t prefix)
{
    const struct border *border = across->subnets[from].border;
    unsigned choices = 0;
    bool delivered = true;
    across->report->pairs++;
    for (size_t i = 0; i < border->choices.count; i++) {
        const struct border_choice *choice = &border->choices.items[i];
        if (choice->from || choice->prefix != prefix)
            continue;
        uint32_t gate = map_get(&across->gate_by_guid, choice->to);
        across->gates.items[gate].taken = true;
        int crossings = enter_router(across, gate, prefix, 1);
        delivered &= crossings > 0;
        if (crossings > (int)across->report->crossings_max)
            across->report->crossings_max = (unsigned)crossings;
        choices++;
    }
    if (!choices)
        note_finding(across, "not delivered: no router of 0x%016" PRIx64 " leads to 0x%016" PRIx64,
                     border->prefix, prefix);
    across->report->undelivered += !choices || !delivered;
}

static void follow_all(struct across *across)
{
    for (size_t to = 0; to < across->count; to++) {
        for (size_t i = 0; i < across->gates.count; i++)
            across->state[i] = NEW;
        for (uint32_t from = 0; from < across->count; from++)
            if (from != to)
                follow_pair(across, from, across->subnets[to].border->prefix);
    }
}

/* ---- dependencies ---- */

static void add_dependency(struct across *across, uint32_t at, unsigned in, unsigned out,
                           unsigned vl)
{
    if (in && out <= across->whole.switches.items[at].port_count &&
        network_next(&across->whole, at, out) != NETWORK_NONE)
        dependency_add(&across->graph, at, in, vl, out, vl);
}

struct copy {
    struct across *across;
    uint32_t base;
};

static void copy_dependency(void *context, uint32_t at, unsigned in, unsigned out, unsigned vl)
{
    const struct copy *copy = context;
    add_dependency(copy->across, copy->base + at, in, out, vl);
}

/* A packet that enters a switch by a port (0: from an end port) goes to a LID. */
static void walk_to(struct across *across, uint32_t subnet, uint32_t at, unsigned in, uint32_t lid)
{
    const struct across_subnet *tables = &across->subnets[subnet];
    for (size_t steps = 0; steps <= tables->network->switches.count; steps++) {
        unsigned out = routes_port(tables->routes, at, lid);
        if (out == 0 || out > tables->network->switches.items[at].port_count)
            return;
        add_dependency(across, across->base[subnet] + at, in, out, 0);
        const struct network_port *link = network_link_at(tables->network, at, out);
        if (!link)
            return;
        at = link->peer & ~NETWORK_SWITCH;
        in = link->peer_port;
    }
}

static void walk_to_terminal(struct across *across, uint32_t subnet, uint32_t at, unsigned in,
                             uint32_t terminal)
{
    const struct network_terminal *to = &across->subnets[subnet].network->terminals.items[terminal];
    for (uint32_t k = 0; to->lid && k < UINT32_C(1) << to->lmc; k++)
        walk_to(across, subnet, at, in, to->lid + k);
}

/* The links of a router's port in its subnet. */
static void add_gate_dependencies(struct across *across, uint32_t index)
{
    const struct gate *gate = &across->gates.items[index];
    const struct network *network = across->subnets[gate->subnet].network;
    const struct network_terminal *own = &network->terminals.items[gate->terminal];
    for (uint32_t at = 0; gate->taken && at < network->switches.count; at++)
        if (network_terminal_count(network, at))
            walk_to_terminal(across, gate->subnet, at, 0, gate->terminal);
    for (uint32_t i = 0; gate->arrives && i < network->terminals.count; i++)
        if (i != gate->terminal &&
            map_get(&across->gate_by_guid, network->terminals.items[i].guid) == MAP_NONE)
            walk_to_terminal(across, gate->subnet, own->at, own->port, i);
}

static void find_cycle_across(struct across *across)
{
    struct verify_report found = {0};
    struct text text = {0};
    unsigned vls = 1;
    for (size_t i = 0; i < across->count; i++)
        vls =
            across->subnets[i].dependencies->vls > vls ? across->subnets[i].dependencies->vls : vls;
    dependency_init(&across->graph, &across->whole, vls);
    for (uint32_t i = 0; i < across->count; i++)
        dependency_each(across->subnets[i].dependencies, copy_dependency,
                        &(struct copy){across, across->base[i]});
    for (uint32_t i = 0; i < across->gates.count; i++)
        add_gate_dependencies(across, i);
    for (size_t i = 0; i < across->between.count; i++) {
        const struct gate *from = &across->gates.items[across->between.items[i].from];
        const struct gate *to = &across->gates.items[across->between.items[i].to];
        const struct network_terminal *end =
            &across->subnets[from->subnet].network->terminals.items[from->terminal];
        walk_to_terminal(across, from->subnet, end->at, end->port, to->terminal);
    }
    for (size_t i = 0; i < across->through.count; i++) {
        const struct gate *in = &across->gates.items[across->through.items[i].from];
        add_dependency(across, in->router, in->number,
                       across->gates.items[across->through.items[i].to].number, 0);
        across->report->dependencies++;
    }
    across->report->cycle = dependency_find_cycle(&across->graph, &found);
    if (across->report->cycle) {
        verify_write_cycle(&across->whole, found.cycle.items, found.cycle.count, &text);
        across->report->cycle_text = arena_strdup(&across->report->strings, text.data);
    }
    text_release(&text);
    vec_release(&found.cycle);
    dependency_release(&across->graph);
}

int across_check(const struct across_subnet *subnets, size_t count, bool discards,
                 struct across_report *report, struct err *err)
{
    struct across across = {.subnets = subnets, .count = count, .report = report};
    *report = (struct across_report){0};
    network_init(&across.whole);
    across.base = mem_alloc((count + 1) * sizeof *across.base);
    int status = build_whole(&across, err);
    across.state = mem_alloc((across.gates.count + 1) * sizeof *across.state);
    if (status == 0)
        follow_all(&across);
    if (status == 0 && !discards)
        find_cycle_across(&across);
    network_release(&across.whole);
    vec_release(&across.gates);
    vec_release(&across.through);
    vec_release(&across.between);
    map_release(&across.gate_by_guid);
    mem_free(across.base);
    mem_free(across.state);
    return status;
}

void across_release(struct across_report *report)
{
    vec_release(&report->findings);
    arena_release(&report->strings);
}
