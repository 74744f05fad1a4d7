#include "experiment/live/cabling_view.h"

#include "topology/analysis/diff.h"

/* A copy of the topology with the links that are up. Nodes and ports keep their numbers. */
static void describe_fabric(struct topology *actual, const struct setup *setup)
{
    const struct topology *topology = &setup->topology;
    topology_init(actual);
    for (uint32_t i = 0; i < topology->nodes.count; i++) {
        const struct topology_node *node = &topology->nodes.items[i];
        uint32_t index;
        if (topology_add_node(actual, node->kind, node->name, node->port_count, node->guid, &index,
                              NULL) == 0 &&
            node->description)
            topology_set_description(actual, index, node->description, strlen(node->description));
    }
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        uint32_t peer = topology->ports.items[port].peer;
        if (peer == TOPOLOGY_NONE || peer < port || !fabric_link_is_up(setup->fabric, port))
            continue;
        topology_link(actual, port, peer, NULL);
        actual->ports.items[port].width = actual->ports.items[peer].width =
            topology->ports.items[port].width;
        actual->ports.items[port].speed = actual->ports.items[peer].speed =
            topology->ports.items[port].speed;
    }
}

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

/* The port of the session's network that a difference is about, or TOPOLOGY_NONE. */
static uint32_t place_of(const struct topology *topology, const struct topology_diff *diff,
                         const struct topology_difference *difference)
{
    if (difference->actual[0] != TOPOLOGY_NONE)
        return difference->actual[0];
    if (difference->planned[0] == TOPOLOGY_NONE)
        return TOPOLOGY_NONE;
    const struct topology_port *port = &diff->plan->ports.items[difference->planned[0]];
    const struct topology_node *node = &diff->plan->nodes.items[port->node];
    uint32_t found = topology_find(topology, node->description ? node->description : node->name);
    unsigned number = topology_port_number(diff->plan, difference->planned[0]);
    return found != TOPOLOGY_NONE && number <= topology->nodes.items[found].port_count
               ? topology->nodes.items[found].first_port + number
               : TOPOLOGY_NONE;
}

static void write_difference(const struct watch *watch, const struct topology_diff *diff,
                             const struct topology_difference *difference, struct json *json)
{
    const struct topology *topology = &live_session_setup(watch->session)->topology;
    struct text text = {0};
    uint32_t port = place_of(topology, diff, difference);
    uint32_t link = port == TOPOLOGY_NONE ? TOPOLOGY_NONE : watch->view.links.of_port[port];
    topology_diff_print(diff, difference, &text);
    json_begin_object(json, NULL);
    json_string(json, "kind", kind_name(difference->kind));
    json_stringf(json, "text", "%s: %s", difference_kind_name(difference->kind),
                 text.data ? text.data : "");
    if (port == TOPOLOGY_NONE)
        json_null(json, "node");
    else
        json_unsigned(json, "node", topology->ports.items[port].node);
    if (link == TOPOLOGY_NONE)
        json_null(json, "link");
    else
        json_unsigned(json, "link", link);
    json_end_object(json);
    text_release(&text);
}

void cabling_write(const struct watch *watch, const struct topology *plan, struct text *out)
{
    const struct setup *setup = live_session_setup(watch->session);
    struct json json = {.out = out};
    struct topology actual;
    struct topology_diff diff;
    describe_fabric(&actual, setup);
    topology_diff(&diff, plan ? plan : &setup->topology, &actual);
    json_begin_object(&json, NULL);
    json_string(&json, "plan", plan ? "the plan" : "the network as it began");
    json_begin_array(&json, "differences");
    for (size_t i = 0; i < diff.items.count; i++)
        write_difference(watch, &diff, &diff.items.items[i], &json);
    json_end_array(&json);
    json_end_object(&json);
    topology_diff_release(&diff);
    topology_release(&actual);
}
