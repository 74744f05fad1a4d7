/* The hops of a path are those of the tables in the switches, which may differ from the paths of
 * the manager while tables are written. */
#include "host/fabric_view/fabric_view.h"

#include "fabric/path.h"

/* A packet on its path. */
struct hop_walk {
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

static void set_reason(struct hop_walk *walk, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void set_reason(struct hop_walk *walk, const char *format, ...)
{
    text_print_arguments(walk->hops->reason, sizeof walk->hops->reason, format);
}

static void add_hop(struct hop_walk *walk, const struct fabric_path *path)
{
    const struct topology *topology = walk->topology;
    unsigned input = path->in == TOPOLOGY_NONE ? 0 : topology_port_number(topology, path->in);
    struct path_hop hop = {
        path->out, fabric_map_sl(walk->fabric, topology->ports.items[path->out].node, input,
                                 topology_port_number(topology, path->out), walk->hops->path.sl)};
    vec_push(&walk->hops->items, hop);
}

/* The target may be port 0 of a switch. */
static bool is_target(const struct hop_walk *walk, uint32_t port)
{
    const struct topology *topology = walk->topology;
    return port == walk->hops->target ||
           topology->nodes.items[topology->ports.items[port].node].first_port == walk->hops->target;
}

static void follow(struct hop_walk *walk)
{
    const struct topology *topology = walk->topology;
    struct path_hops *hops = walk->hops;
    struct fabric_path path = {
        .fabric = walk->fabric, .dlid = hops->path.dlid, .out = hops->source, .in = TOPOLOGY_NONE};
    enum fabric_step step = PATH_GOES_ON;
    while (step == PATH_GOES_ON && hops->items.count < PATH_HOPS_MOST) {
        add_hop(walk, &path);
        step = fabric_path_step(&path, fabric_port_passes_data);
        if (step != PATH_IS_CUT && is_target(walk, path.in))
            return;
    }
    uint32_t port = path.in == TOPOLOGY_NONE ? path.out : path.in;
    const char *label = topology_label(topology, topology->ports.items[port].node);
    if (step == PATH_IS_CUT)
        set_reason(walk, "port %u of %.80s does not pass data",
                   topology_port_number(topology, port), label);
    else if (step == PATH_AT_END)
        set_reason(walk, "the tables lead to %.80s", label);
    else if (step == PATH_GOES_ON)
        set_reason(walk, "the tables have a loop at %.80s", label);
    else
        set_reason(walk, "%.80s has no route for LID %u", label, path.dlid);
}

void path_hops_find(struct path_hops *hops, const struct fabric *fabric, uint32_t from, uint32_t to,
                    path_finder *find, void *context)
{
    const struct topology *topology = fabric_topology(fabric);
    struct hop_walk walk = {fabric, topology, hops};
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
        follow(&walk);
}

void path_hops_release(struct path_hops *hops)
{
    vec_release(&hops->items);
}
