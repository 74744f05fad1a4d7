/* Plans of generators, and how they become a topology. See plan.h. */
#include "topology/plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

uint64_t plan_times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

int plan_check_size(const struct plan *plan, uint64_t switches, uint64_t hosts,
                    uint64_t ports_per_switch)
{
    if (ports_per_switch < 1 || ports_per_switch > TOPOLOGY_PORTS_PER_NODE)
        return err_set(plan->err, EINVAL, "switches would need %llu ports; they have 1 to %d",
                       (unsigned long long)ports_per_switch, TOPOLOGY_PORTS_PER_NODE);
    if (switches > TOPOLOGY_MAX_NODES || hosts > TOPOLOGY_MAX_NODES ||
        switches + hosts > TOPOLOGY_MAX_NODES)
        return err_set(plan->err, EFBIG, "the fabric would have more than %d nodes",
                       TOPOLOGY_MAX_NODES);
    if (switches * (ports_per_switch + 1) + hosts * 2 > TOPOLOGY_MAX_PORTS)
        return err_set(plan->err, EFBIG, "the fabric would have more than %d ports",
                       TOPOLOGY_MAX_PORTS);
    return 0;
}

static uint32_t add_node(struct plan *plan, bool is_switch, unsigned port_count, const char *format,
                         va_list arguments)
{
    struct plan_node node = {.port_count = (uint16_t)port_count, .is_switch = is_switch};
    vsnprintf(node.description, sizeof node.description, format, arguments);
    vec_push(&plan->nodes, node);
    return (uint32_t)plan->nodes.count - 1;
}

uint32_t plan_add_switch(struct plan *plan, unsigned port_count, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    uint32_t node = add_node(plan, true, port_count, format, arguments);
    va_end(arguments);
    return node;
}

uint32_t plan_add_host(struct plan *plan, unsigned port_count, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    uint32_t node = add_node(plan, false, port_count, format, arguments);
    va_end(arguments);
    return node;
}

void plan_link(struct plan *plan, uint32_t a, unsigned a_port, uint32_t b, unsigned b_port)
{
    struct plan_link link = {a, b, (uint16_t)a_port, (uint16_t)b_port};
    vec_push(&plan->links, link);
}

void plan_attach_host(struct plan *plan, uint32_t node, unsigned port, uint64_t number)
{
    uint32_t host = plan_add_host(plan, 1, "H%llu", (unsigned long long)number);
    plan_link(plan, node, port, host, 1);
}

static int build_node(const struct plan *plan, uint32_t at, struct topology *topology,
                      uint32_t *built)
{
    const struct plan_node *node = &plan->nodes.items[at];
    enum node_kind kind = node->is_switch ? NODE_SWITCH : NODE_ADAPTER;
    int error = topology_add_node(topology, kind, NULL, node->port_count, node->guid, &built[at],
                                  plan->err);
    if (error)
        return error;
    size_t length = 0;
    while (node->description[length])
        length++;
    topology_set_description(topology, built[at], node->description, length);
    return 0;
}

/* Adds the manager's adapter, then the switches, then the other adapters. */
static int build_nodes(const struct plan *plan, struct topology *topology, uint32_t *built)
{
    uint32_t first_host = TOPOLOGY_NONE;
    int error = 0;
    for (uint32_t i = 0; i < plan->nodes.count && first_host == TOPOLOGY_NONE; i++)
        if (!plan->nodes.items[i].is_switch)
            first_host = i;
    if (plan->manager_at_switch)
        first_host = TOPOLOGY_NONE;
    if (first_host != TOPOLOGY_NONE)
        error = build_node(plan, first_host, topology, built);
    for (uint32_t i = 0; !error && i < plan->nodes.count; i++)
        if (plan->nodes.items[i].is_switch)
            error = build_node(plan, i, topology, built);
    for (uint32_t i = 0; !error && i < plan->nodes.count; i++)
        if (!plan->nodes.items[i].is_switch && i != first_host)
            error = build_node(plan, i, topology, built);
    return error;
}

int plan_build(const struct plan *plan, struct topology *topology)
{
    uint32_t *built = mem_zalloc(plan->nodes.count, sizeof *built);
    int error = build_nodes(plan, topology, built);
    for (size_t i = 0; !error && i < plan->links.count; i++) {
        const struct plan_link *link = &plan->links.items[i];
        error =
            topology_link(topology, topology_port_index(topology, built[link->a], link->a_port),
                          topology_port_index(topology, built[link->b], link->b_port), plan->err);
    }
    mem_free(built);
    return error;
}

void plan_release(struct plan *plan)
{
    vec_release(&plan->nodes);
    vec_release(&plan->links);
}
