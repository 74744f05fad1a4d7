/* Compares cables port by port. Cables of the plan that do not exist and cables that the plan does
 * not have are paired if they share an end: such a cable was moved, and two cables that exchanged
 * ends were swapped.
 *
 * Both fabrics use one numbering of ports here: ports of nodes that the plan has are numbered as in
 * the plan; the others follow. */
#include "topology/analysis/diff.h"

#include <string.h>

enum { AMBIGUOUS = UINT32_MAX - 1 };

struct cable {
    uint32_t port;    /* in its own fabric */
    uint32_t ends[2]; /* in the common numbering */
    bool paired;
};

struct cable_comparison {
    struct topology_diff *diff;
    uint32_t *actual_of; /* by node of the plan: the same actual node, or TOPOLOGY_NONE */
    uint32_t *planned_of;
    struct cables {
        VEC(struct cable) list;
        uint32_t *at; /* by port in the common numbering: the cable */
    } missing, extra;
};

/* ---- nodes ---- */

static void index_names(struct name_map *names, const struct topology *topology)
{
    VEC(uint8_t) repeated = {0};
    for (uint32_t i = 0; i < topology->nodes.count; i++) {
        const char *name = topology->nodes.items[i].description;
        uint32_t first = name && *name ? name_map_add(names, name, i) : i;
        if (first != i)
            *vec_at(&repeated, first) = 1;
    }
    /* A name map cannot change a value: it is built again. */
    struct name_map result = {0};
    for (uint32_t i = 0; i < topology->nodes.count; i++) {
        const char *name = topology->nodes.items[i].description;
        if (!name || !*name || name_map_get(names, name) != i)
            continue;
        bool several = i < repeated.count && repeated.items[i];
        name_map_add(&result, name, several ? (uint32_t)AMBIGUOUS : i);
    }
    name_map_release(names);
    *names = result;
    vec_release(&repeated);
}

static void match_nodes(struct cable_comparison *work)
{
    const struct topology *plan = work->diff->plan, *actual = work->diff->actual;
    for (uint32_t i = 0; i < actual->nodes.count; i++)
        work->planned_of[i] = TOPOLOGY_NONE;
    for (uint32_t i = 0; i < plan->nodes.count; i++) {
        const struct topology_node *node = &plan->nodes.items[i];
        uint32_t found = MAP_NONE;
        work->actual_of[i] = TOPOLOGY_NONE;
        if (name_map_get(&work->diff->plan_names, node->description) == i)
            found = name_map_get(&work->diff->actual_names, node->description);
        if (found >= AMBIGUOUS || actual->nodes.items[found].kind != node->kind)
            continue;
        work->actual_of[i] = found;
        work->planned_of[found] = i;
    }
    for (uint32_t i = 0; i < plan->nodes.count; i++) {
        const struct topology_node *node = &plan->nodes.items[i];
        uint32_t found = map_get(&actual->by_guid, node->guid);
        if (work->actual_of[i] != TOPOLOGY_NONE || found == MAP_NONE ||
            work->planned_of[found] != TOPOLOGY_NONE ||
            actual->nodes.items[found].kind != node->kind)
            continue;
        work->actual_of[i] = found;
        work->planned_of[found] = i;
    }
}

/* The same port of the same node in the other fabric, or TOPOLOGY_NONE. */
static uint32_t same_port(const struct topology *from, const struct topology *to,
                          const uint32_t *nodes, uint32_t port)
{
    uint32_t node = nodes[from->ports.items[port].node];
    unsigned number = topology_port_number(from, port);
    if (node == TOPOLOGY_NONE || number > to->nodes.items[node].port_count)
        return TOPOLOGY_NONE;
    return topology_port_index(to, node, number);
}

static uint32_t common_number(const struct cable_comparison *work, uint32_t actual_port)
{
    const struct topology_diff *diff = work->diff;
    uint32_t port = same_port(diff->actual, diff->plan, work->planned_of, actual_port);
    return port != TOPOLOGY_NONE ? port : (uint32_t)diff->plan->ports.count + actual_port;
}

static struct topology_difference *add_difference(struct cable_comparison *work,
                                                  enum difference_kind kind, uint32_t planned,
                                                  uint32_t actual)
{
    struct topology_difference difference = {
        kind, {planned, TOPOLOGY_NONE}, {actual, TOPOLOGY_NONE}};
    vec_push(&work->diff->items, difference);
    return &work->diff->items.items[work->diff->items.count - 1];
}

static unsigned count_cables(const struct topology *topology, uint32_t node)
{
    unsigned count = 0;
    if (node == TOPOLOGY_NONE)
        return 0;
    const struct topology_node *n = &topology->nodes.items[node];
    for (unsigned port = 1; port <= n->port_count; port++)
        count += topology->ports.items[n->first_port + port].peer != TOPOLOGY_NONE;
    return count;
}

/* Whether the node has several cables here and none in the other fabric: then its cables are not
 * listed one by one. */
static bool is_whole_node(const struct topology *here, uint32_t node, const struct topology *there,
                          const uint32_t *same)
{
    return count_cables(here, node) > 1 && count_cables(there, same[node]) == 0;
}

static void compare_nodes(struct cable_comparison *work)
{
    const struct topology *plan = work->diff->plan, *actual = work->diff->actual;
    for (uint32_t i = 0; i < plan->nodes.count; i++)
        if (is_whole_node(plan, i, actual, work->actual_of))
            add_difference(work, DIFFERENCE_NODE_MISSING, plan->nodes.items[i].first_port,
                           TOPOLOGY_NONE);
    for (uint32_t i = 0; i < actual->nodes.count; i++)
        if (is_whole_node(actual, i, plan, work->planned_of))
            add_difference(work, DIFFERENCE_NODE_EXTRA, TOPOLOGY_NONE,
                           actual->nodes.items[i].first_port);
}

/* ---- cables ---- */

/* Whether a cable ends at a node that is reported as a whole. */
static bool ends_at_whole_node(const struct topology *here, uint32_t port,
                               const struct topology *there, const uint32_t *same)
{
    uint32_t peer = here->ports.items[port].peer;
    return is_whole_node(here, here->ports.items[port].node, there, same) ||
           is_whole_node(here, here->ports.items[peer].node, there, same);
}

static bool is_cable(const struct topology *topology, uint32_t port)
{
    uint32_t peer = topology->ports.items[port].peer;
    return peer != TOPOLOGY_NONE && peer > port;
}

/* Finds cables of the plan that do not exist, or existing ones that the plan does not have. */
static void find_cables(const struct cable_comparison *work, const struct topology *here,
                        const struct topology *there, const uint32_t *same, struct cables *found)
{
    for (uint32_t port = 0; port < here->ports.count; port++) {
        if (!is_cable(here, port))
            continue;
        uint32_t peer = here->ports.items[port].peer;
        uint32_t near = same_port(here, there, same, port);
        uint32_t far = same_port(here, there, same, peer);
        if ((near != TOPOLOGY_NONE && far != TOPOLOGY_NONE &&
             there->ports.items[near].peer == far) ||
            ends_at_whole_node(here, port, there, same))
            continue;
        struct cable cable = {port, {port, peer}, false};
        for (unsigned end = 0; end < 2 && here == work->diff->actual; end++)
            cable.ends[end] = common_number(work, cable.ends[end]);
        found->at[cable.ends[0]] = found->at[cable.ends[1]] = (uint32_t)found->list.count;
        vec_push(&found->list, cable);
    }
}

static uint32_t other_end(const struct cable *cable, uint32_t end)
{
    return cable->ends[cable->ends[0] == end];
}

static struct cable *unpaired(const struct cables *cables, uint32_t end)
{
    uint32_t at = cables->at[end];
    return at == TOPOLOGY_NONE || cables->list.items[at].paired ? NULL : &cables->list.items[at];
}

/* Two missing cables a-b and c-d, and two extra ones a-d and b-c. */
static void pair_swapped(struct cable_comparison *work)
{
    for (size_t i = 0; i < work->extra.list.count; i++) {
        struct cable *one = &work->extra.list.items[i];
        struct cable *a = unpaired(&work->missing, one->ends[0]);
        struct cable *b = unpaired(&work->missing, one->ends[1]);
        if (one->paired || !a || !b)
            continue;
        uint32_t end = other_end(a, one->ends[0]);
        struct cable *two = unpaired(&work->extra, end);
        if (!two || other_end(two, end) != other_end(b, one->ends[1]))
            continue;
        one->paired = two->paired = a->paired = b->paired = true;
        struct topology_difference *swapped =
            add_difference(work, DIFFERENCE_CABLE_SWAPPED, a->port, one->port);
        swapped->planned[1] = b->port;
        swapped->actual[1] = two->port;
    }
}

static void pair_moved(struct cable_comparison *work)
{
    for (size_t i = 0; i < work->extra.list.count; i++) {
        struct cable *extra = &work->extra.list.items[i];
        for (unsigned end = 0; end < 2 && !extra->paired; end++) {
            struct cable *missing = unpaired(&work->missing, extra->ends[end]);
            if (!missing)
                continue;
            missing->paired = extra->paired = true;
            add_difference(work, DIFFERENCE_CABLE_MOVED, missing->port, extra->port);
        }
    }
}

static void compare_rates(struct cable_comparison *work)
{
    const struct topology *plan = work->diff->plan, *actual = work->diff->actual;
    for (uint32_t port = 0; port < plan->ports.count; port++) {
        const struct topology_port *p = &plan->ports.items[port];
        uint32_t same = same_port(plan, actual, work->actual_of, port);
        if (!is_cable(plan, port) || same == TOPOLOGY_NONE)
            continue;
        const struct topology_port *a = &actual->ports.items[same];
        if (a->peer == TOPOLOGY_NONE || common_number(work, a->peer) != p->peer)
            continue;
        if ((p->width == a->width || p->width_assumed || a->width_assumed) &&
            (p->speed == a->speed || p->speed_assumed || a->speed_assumed))
            continue;
        add_difference(work, DIFFERENCE_RATE, port, same);
    }
}

void topology_diff(struct topology_diff *diff, const struct topology *plan,
                   const struct topology *actual)
{
    size_t ports = plan->ports.count + actual->ports.count;
    struct cable_comparison work = {.diff = diff};
    *diff = (struct topology_diff){.plan = plan, .actual = actual};
    index_names(&diff->plan_names, plan);
    index_names(&diff->actual_names, actual);
    work.actual_of = mem_alloc((plan->nodes.count + 1) * sizeof *work.actual_of);
    work.planned_of = mem_alloc((actual->nodes.count + 1) * sizeof *work.planned_of);
    work.missing.at = mem_alloc((ports + 1) * sizeof *work.missing.at);
    work.extra.at = mem_alloc((ports + 1) * sizeof *work.extra.at);
    memset(work.missing.at, 0xFF, ports * sizeof *work.missing.at);
    memset(work.extra.at, 0xFF, ports * sizeof *work.extra.at);
    match_nodes(&work);
    compare_nodes(&work);
    find_cables(&work, plan, actual, work.actual_of, &work.missing);
    find_cables(&work, actual, plan, work.planned_of, &work.extra);
    pair_swapped(&work);
    pair_moved(&work);
    for (size_t i = 0; i < work.missing.list.count; i++)
        if (!work.missing.list.items[i].paired)
            add_difference(&work, DIFFERENCE_CABLE_MISSING, work.missing.list.items[i].port,
                           TOPOLOGY_NONE);
    for (size_t i = 0; i < work.extra.list.count; i++)
        if (!work.extra.list.items[i].paired)
            add_difference(&work, DIFFERENCE_CABLE_EXTRA, TOPOLOGY_NONE,
                           work.extra.list.items[i].port);
    compare_rates(&work);
    mem_free(work.actual_of);
    mem_free(work.planned_of);
    mem_free(work.missing.at);
    mem_free(work.extra.at);
    vec_release(&work.missing.list);
    vec_release(&work.extra.list);
}

void topology_diff_release(struct topology_diff *diff)
{
    vec_release(&diff->items);
    name_map_release(&diff->plan_names);
    name_map_release(&diff->actual_names);
}

/* ---- text ---- */

const char *difference_kind_name(enum difference_kind kind)
{
    static const char *const names[] = {
        [DIFFERENCE_NODE_MISSING] = "missing node",
        [DIFFERENCE_NODE_EXTRA] = "extra node",
        [DIFFERENCE_CABLE_SWAPPED] = "swapped cables",
        [DIFFERENCE_CABLE_MOVED] = "moved cable",
        [DIFFERENCE_CABLE_MISSING] = "missing cable",
        [DIFFERENCE_CABLE_EXTRA] = "extra cable",
        [DIFFERENCE_RATE] = "wrong rate",
    };
    return names[kind];
}

/* The description, with the GUID where another node has the same one. */
static void put_node(const struct topology *topology, const struct name_map *names, uint32_t index,
                     struct text *out)
{
    const struct topology_node *node = &topology->nodes.items[index];
    bool named = node->description && *node->description;
    if (named)
        text_puts(out, node->description);
    if (!named || name_map_get(names, node->description) != index)
        text_printf(out, named ? " (0x%016llx)" : "0x%016llx", (unsigned long long)node->guid);
}

/* The order of the ends of a cable: a switch first, else by description. */
static bool is_behind(const struct topology *topology, uint32_t a, uint32_t b)
{
    const struct topology_node *near = &topology->nodes.items[topology->ports.items[a].node];
    const struct topology_node *far = &topology->nodes.items[topology->ports.items[b].node];
    if ((near->kind == NODE_SWITCH) != (far->kind == NODE_SWITCH))
        return far->kind == NODE_SWITCH;
    return near->description && far->description && strcmp(near->description, far->description) > 0;
}

static void put_cable(const struct topology *topology, const struct name_map *names, uint32_t port,
                      struct text *out)
{
    uint32_t ends[2] = {port, topology->ports.items[port].peer};
    if (is_behind(topology, ends[0], ends[1])) {
        ends[0] = ends[1];
        ends[1] = port;
    }
    for (unsigned i = 0; i < 2; i++) {
        put_node(topology, names, topology->ports.items[ends[i]].node, out);
        text_printf(out, " port %u%s", topology_port_number(topology, ends[i]), i ? "" : " <-> ");
    }
}

static void put_cables(const struct topology *topology, const struct name_map *names,
                       const uint32_t ports[2], struct text *out)
{
    put_cable(topology, names, ports[0], out);
    if (ports[1] == TOPOLOGY_NONE)
        return;
    text_puts(out, " and ");
    put_cable(topology, names, ports[1], out);
}

static void put_whole_node(const struct topology *topology, const struct name_map *names,
                           uint32_t port, struct text *out)
{
    static const char *const kinds[] = {
        [NODE_ADAPTER] = "adapter", [NODE_SWITCH] = "switch", [NODE_ROUTER] = "router"};
    uint32_t node = topology->ports.items[port].node;
    text_printf(out, "%s ", kinds[topology->nodes.items[node].kind]);
    put_node(topology, names, node, out);
    text_printf(out, " with %u cables", count_cables(topology, node));
}

void topology_diff_print(const struct topology_diff *diff,
                         const struct topology_difference *difference, struct text *out)
{
    const struct topology *plan = diff->plan, *actual = diff->actual;
    const uint32_t *planned = difference->planned, *found = difference->actual;
    switch (difference->kind) {
    case DIFFERENCE_NODE_MISSING: put_whole_node(plan, &diff->plan_names, planned[0], out); break;
    case DIFFERENCE_NODE_EXTRA: put_whole_node(actual, &diff->actual_names, found[0], out); break;
    case DIFFERENCE_CABLE_MISSING: put_cables(plan, &diff->plan_names, planned, out); break;
    case DIFFERENCE_CABLE_EXTRA: put_cables(actual, &diff->actual_names, found, out); break;
    case DIFFERENCE_CABLE_SWAPPED:
    case DIFFERENCE_CABLE_MOVED:
        put_cables(actual, &diff->actual_names, found, out);
        text_puts(out, "; the plan has ");
        put_cables(plan, &diff->plan_names, planned, out);
        break;
    case DIFFERENCE_RATE: {
        const struct topology_port *p = &plan->ports.items[planned[0]];
        const struct topology_port *a = &actual->ports.items[found[0]];
        put_cables(actual, &diff->actual_names, found, out);
        text_printf(out, " runs at %uX %s; the plan has %uX %s", link_width_multiple(a->width),
                    link_speed_name(a->speed), link_width_multiple(p->width),
                    link_speed_name(p->speed));
        break;
    }
    }
}
