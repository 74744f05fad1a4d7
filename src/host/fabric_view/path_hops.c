/* The hops of a path are those of the tables in the switches, which may differ from the paths of
 * the manager while tables are written. */
#include "host/fabric_view/fabric_view.h"

/* A packet on its path. */
struct walk {
    const struct fabric *fabric;
    const struct topology *topology;
    struct path_hops *hops;
};

/* ---- the end points ---- */

uint32_t path_end_port(const struct topology *topology, uint32_t node)
{
    const struct topology_node *entry = &topology->nodes.items[node];
    if (entry->kind == NODE_SWITCH)
        return entry->first_port;
    for (unsigned number = 1; number <= entry->port_count; number++)
        if (topology->ports.items[entry->first_port + number].peer != TOPOLOGY_NONE)
            return entry->first_port + number;
    return TOPOLOGY_NONE;
}

/* ---- the path ---- */

static void set_reason(struct walk *walk, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void set_reason(struct walk *walk, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(walk->hops->reason, sizeof walk->hops->reason, format, arguments);
    va_end(arguments);
}

/* Adds the hop from a port; false: the link does not pass data. */
static bool add_hop(struct walk *walk, unsigned input, uint32_t port)
{
    const struct topology_port *at = &walk->topology->ports.items[port];
    unsigned output = topology_port_number(walk->topology, port);
    struct path_hop hop = {
        port, fabric_map_sl(walk->fabric, at->node, input, output, walk->hops->path.sl)};
    vec_push(&walk->hops->items, hop);
    if (at->peer != TOPOLOGY_NONE && fabric_port_passes_data(walk->fabric, port) &&
        fabric_port_passes_data(walk->fabric, at->peer))
        return true;
    set_reason(walk, "port %u of %.80s does not pass data", output,
               topology_label(walk->topology, at->node));
    return false;
}

static void follow(struct walk *walk, uint32_t port)
{
    const struct topology *topology = walk->topology;
    unsigned input = 0;
    while (add_hop(walk, input, port)) {
        uint32_t peer = topology->ports.items[port].peer, node = topology->ports.items[peer].node;
        const struct topology_node *entry = &topology->nodes.items[node];
        if (peer == walk->hops->target ||
            (entry->kind == NODE_SWITCH && entry->first_port == walk->hops->target))
            return;
        const char *label = topology_label(topology, node);
        if (entry->kind != NODE_SWITCH) {
            set_reason(walk, "the tables lead to %.80s", label);
            return;
        }
        if (walk->hops->items.count == PATH_HOPS_MOST) {
            set_reason(walk, "the tables have a loop at %.80s", label);
            return;
        }
        unsigned output = fabric_route(walk->fabric, node, walk->hops->path.dlid);
        if (output == 0 || output > entry->port_count ||
            topology->ports.items[entry->first_port + output].peer == TOPOLOGY_NONE) {
            set_reason(walk, "%.80s has no route for LID %u", label, walk->hops->path.dlid);
            return;
        }
        input = topology_port_number(topology, peer);
        port = entry->first_port + output;
    }
}

void path_hops_find(struct path_hops *hops, const struct fabric *fabric, uint32_t from, uint32_t to,
                    path_finder *find, void *context)
{
    const struct topology *topology = fabric_topology(fabric);
    struct walk walk = {fabric, topology, hops};
    *hops = (struct path_hops){.source = path_end_port(topology, from),
                               .target = path_end_port(topology, to)};
    bool exist = hops->source != TOPOLOGY_NONE && hops->target != TOPOLOGY_NONE;
    if (exist && find)
        hops->path = find(context, hops->source, hops->target);
    else if (hops->target != TOPOLOGY_NONE)
        hops->path.dlid = (uint16_t)wire_get(fabric_port_info(fabric, hops->target), PORT_INFO_LID);
    hops->has_ends = exist && topology->nodes.items[from].kind != NODE_SWITCH && from != to;
    if (!hops->has_ends)
        set_reason(&walk, "a path is between two nodes, from an adapter");
    else if (!hops->path.dlid)
        set_reason(&walk, "no manager has a path for this pair");
    else
        follow(&walk, hops->source);
}

void path_hops_release(struct path_hops *hops)
{
    vec_release(&hops->items);
}
