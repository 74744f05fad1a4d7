/* Turns the plan of a generator into a topology. */
#include "topology/generators/plan.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

uint64_t plan_times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

int plan_check_size(const struct fabric_plan *plan, uint64_t switches, uint64_t hosts,
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

uint32_t plan_add_node(struct fabric_plan *plan, bool is_switch, unsigned port_count,
                       const char *format, ...)
{
    struct plan_node node = {.port_count = (uint16_t)port_count, .is_switch = is_switch};
    text_print_arguments(node.description, sizeof node.description, format);
    vec_push(&plan->nodes, node);
    return (uint32_t)plan->nodes.count - 1;
}

void plan_link(struct fabric_plan *plan, uint32_t a, unsigned a_port, uint32_t b, unsigned b_port)
{
    assert(a < plan->nodes.count && b < plan->nodes.count && a_port > 0 && b_port > 0);
    vec_push(&plan->links, ((struct plan_link){a, b, (uint16_t)a_port, (uint16_t)b_port}));
}

void plan_attach_host(struct fabric_plan *plan, uint32_t node, unsigned port, uint64_t number)
{
    uint32_t host = plan_add_host(plan, 1, "H%llu", (unsigned long long)number);
    plan_link(plan, node, port, host, 1);
}

/* Adds the manager's adapter, then the switches, then the other adapters. */
static int build_nodes(const struct fabric_plan *plan, struct topology *topology, uint32_t *built)
{
    enum { MANAGER, SWITCHES, ADAPTERS, ROUNDS };
    size_t manager = 0;
    while (manager < plan->nodes.count &&
           (plan->manager_at_switch || plan->nodes.items[manager].is_switch))
        manager++;
    for (int round = MANAGER; round < ROUNDS; round++)
        for (size_t i = 0; i < plan->nodes.count; i++) {
            const struct plan_node *node = &plan->nodes.items[i];
            int wanted = i == manager ? MANAGER : node->is_switch ? SWITCHES : ADAPTERS;
            if (wanted != round)
                continue;
            int error = topology_add_node(topology, node->is_switch ? NODE_SWITCH : NODE_ADAPTER,
                                          NULL, node->port_count, node->guid, &built[i], plan->err);
            if (error)
                return error;
            topology_set_description(topology, built[i], node->description,
                                     strlen(node->description));
            unsigned end_port = node->is_switch ? 0 : 1;
            topology->ports.items[topology_port_index(topology, built[i], end_port)].lid =
                node->lid;
        }
    return 0;
}

int plan_build(const struct fabric_plan *plan, struct topology *topology)
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

void plan_release(struct fabric_plan *plan)
{
    vec_release(&plan->nodes);
    vec_release(&plan->links);
}
