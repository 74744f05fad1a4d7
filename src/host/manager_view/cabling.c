/* Compares the cables of the subnet with a plan (topology/diff.h). */
#include "host/manager_view/manager_page.h"
#include "subnet/names.h"
#include "topology/analysis/diff.h"
#include "topology/virtual.h"

#include <string.h>

/* The subnet without virtual switches and functions. */
static void describe_cables(struct topology *result, const struct subnet *subnet)
{
    struct topology whole;
    struct virtual_counts counts;
    topology_init(&whole);
    topology_init(result);
    subnet_describe(subnet, false, &whole);
    topology_without_functions(result, &whole, &counts);
    topology_release(&whole);
}

/* ---- problems ---- */

/* The port of the subnet that corresponds to a port of a topology, also of a node that is gone; by
 * description, else by GUID. SUBNET_NONE: there is none. */
static uint32_t port_in_subnet(const struct subnet *subnet, const struct topology *topology,
                               uint32_t port)
{
    const struct topology_node *node = &topology->nodes.items[topology->ports.items[port].node];
    unsigned number = topology_port_number(topology, port);
    uint32_t found = node->description ? subnet_find_node(subnet, node->description) : SUBNET_NONE;
    if (found == SUBNET_NONE)
        found = map_get(&subnet->by_guid, node->guid);
    return found < subnet->nodes.count && number <= subnet->nodes.items[found].port_count
               ? subnet->nodes.items[found].first_port + number
               : SUBNET_NONE;
}

/* Whether a listed problem explains a missing node or cable, or a wrong rate. */
static bool is_explained(const struct topology_diff *diff,
                         const struct topology_difference *difference, const struct subnet *subnet,
                         const struct problems *problems)
{
    const struct topology *plan = diff->plan;
    uint32_t port = difference->planned[0];
    const struct topology_node *node = NULL;
    switch (difference->kind) {
    case DIFFERENCE_NODE_MISSING:
        node = &plan->nodes.items[plan->ports.items[port].node];
        for (unsigned number = 1; number <= node->port_count; number++)
            if (problems_is_explained(problems,
                                      port_in_subnet(subnet, plan, node->first_port + number)))
                return true;
        return false;
    case DIFFERENCE_CABLE_MISSING:
        return problems_is_explained(problems, port_in_subnet(subnet, plan, port)) ||
               problems_is_explained(problems,
                                     port_in_subnet(subnet, plan, plan->ports.items[port].peer));
    case DIFFERENCE_RATE:
        return problems_is_explained(problems,
                                     port_in_subnet(subnet, diff->actual, difference->actual[0]));
    default: return false;
    }
}

void cabling_list_problems(const struct topology *plan, const struct subnet *subnet,
                           struct problems *problems)
{
    struct topology actual;
    struct topology_diff diff;
    describe_cables(&actual, subnet);
    topology_diff(&diff, plan, &actual);
    for (size_t i = 0; i < diff.items.count; i++) {
        struct text text = {0};
        if (is_explained(&diff, &diff.items.items[i], subnet, problems))
            continue;
        topology_diff_print(&diff, &diff.items.items[i], &text);
        problems_add_object(problems, PROBLEM_WRONG_CABLE,
                            difference_kind_name(diff.items.items[i].kind), "%s", text.data);
        text_release(&text);
    }
    topology_diff_release(&diff);
    topology_release(&actual);
}

/* ---- the page ---- */

static const char *kind_name(enum difference_kind kind)
{
    switch (kind) {
    case DIFFERENCE_NODE_MISSING:
    case DIFFERENCE_CABLE_MISSING: return "missing";
    case DIFFERENCE_NODE_EXTRA:
    case DIFFERENCE_CABLE_EXTRA: return "extra";
    case DIFFERENCE_RATE: return "slow";
    default: return "wrong";
    }
}

static void put_difference(const struct manager_page *page, const struct topology_diff *diff,
                           const struct topology_difference *difference, struct json *json)
{
    bool exists = difference->actual[0] != TOPOLOGY_NONE;
    const struct topology *topology = exists ? diff->actual : diff->plan;
    uint32_t port = exists ? difference->actual[0] : difference->planned[0];
    const struct topology_node *place = &topology->nodes.items[topology->ports.items[port].node];
    uint32_t node = exists ? TOPOLOGY_NONE : topology_find(page->topology, place->description);
    struct text text = {0};
    if (node == TOPOLOGY_NONE)
        node = api_node_of(page->topology, place->guid);
    topology_diff_print(diff, difference, &text);
    if (difference->kind == DIFFERENCE_CABLE_SWAPPED) { /* whichever was discovered first */
        struct topology_difference other = *difference;
        struct text turned = {0};
        other.actual[0] = difference->actual[1];
        other.actual[1] = difference->actual[0];
        topology_diff_print(diff, &other, &turned);
        if (strcmp(turned.data, text.data) < 0) {
            text_clear(&text);
            text_puts(&text, turned.data);
        }
        text_release(&turned);
    }
    json_begin_object(json, NULL);
    json_string(json, "kind", kind_name(difference->kind));
    json_stringf(json, "text", "%s: %s", difference_kind_name(difference->kind),
                 text.data ? text.data : "");
    api_put_id(json, "node", node);
    api_put_id(json, "link",
               node == TOPOLOGY_NONE ? TOPOLOGY_NONE
                                     : api_link_of(page->topology, page->links,
                                                   page->topology->nodes.items[node].guid,
                                                   topology_port_number(topology, port)));
    json_end_object(json);
    text_release(&text);
}

void manager_page_put_cabling(const struct manager_page *page, const struct topology *plan,
                              const char *name, struct text *out)
{
    struct json json = {.out = out};
    struct topology actual, planned;
    struct topology_diff diff = {0};
    struct virtual_counts counts;
    topology_init(&planned);
    topology_without_functions(&planned, plan, &counts);
    json_begin_object(&json, NULL);
    json_string(&json, "plan", name);
    json_begin_array(&json, "differences");
    if (page->sm) {
        describe_cables(&actual, sm_subnet(page->sm));
        topology_diff(&diff, &planned, &actual);
        for (size_t i = 0; i < diff.items.count; i++)
            put_difference(page, &diff, &diff.items.items[i], &json);
        topology_diff_release(&diff);
        topology_release(&actual);
    }
    json_end_array(&json);
    json_end_object(&json);
    topology_release(&planned);
}
