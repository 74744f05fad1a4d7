/* The hops of a path are those of the tables in the switches, which may differ from the paths of
 * the manager while tables are written. Shortest paths are counted over links that are up. */
#include "host/fabric_view/fabric_view.h"

#include "base/time.h"

enum { HOPS_MOST = 64, ALTERNATIVES = 8, PATHS_COUNTED = 1000000, PAIR_KEYS = 128 };

struct hop {
    uint32_t port; /* that the packet leaves by */
    unsigned vl;
};

struct path_view {
    const struct fabric_view *fabric;
    const struct topology *topology;
    const struct api_tick *tick;
    uint32_t source, target; /* ports */
    struct data_path path;
    VEC(struct hop) hops;
    char reason[200]; /* "": the packet arrives */
};

/* ---- the end points ---- */

uint32_t path_view_port(const struct topology *topology, uint32_t node)
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

/* Adds the hop from a port; false: the link does not pass data. */
static bool add_hop(struct path_view *view, unsigned input, uint32_t port)
{
    const struct fabric *fabric = view->fabric->fabric;
    const struct topology_port *at = &view->topology->ports.items[port];
    unsigned output = topology_port_number(view->topology, port);
    struct hop hop = {port, fabric_map_sl(fabric, at->node, input, output, view->path.sl)};
    vec_push(&view->hops, hop);
    if (at->peer != TOPOLOGY_NONE && fabric_port_passes_data(fabric, port) &&
        fabric_port_passes_data(fabric, at->peer))
        return true;
    snprintf(view->reason, sizeof view->reason, "port %u of %.80s does not pass data", output,
             topology_label(view->topology, at->node));
    return false;
}

static void follow(struct path_view *view)
{
    const struct topology *topology = view->topology;
    uint32_t port = view->source;
    unsigned input = 0;
    while (add_hop(view, input, port)) {
        uint32_t peer = topology->ports.items[port].peer, node = topology->ports.items[peer].node;
        const struct topology_node *entry = &topology->nodes.items[node];
        if (peer == view->target ||
            (entry->kind == NODE_SWITCH && entry->first_port == view->target))
            return;
        const char *label = topology_label(topology, node);
        if (entry->kind != NODE_SWITCH || view->hops.count == HOPS_MOST) {
            snprintf(view->reason, sizeof view->reason,
                     entry->kind == NODE_SWITCH ? "the tables have a loop at %.80s"
                                                : "the tables lead to %.80s",
                     label);
            return;
        }
        unsigned output = fabric_route(view->fabric->fabric, node, view->path.dlid);
        if (output == 0 || output > entry->port_count ||
            topology->ports.items[entry->first_port + output].peer == TOPOLOGY_NONE) {
            snprintf(view->reason, sizeof view->reason, "%.80s has no route for LID %u", label,
                     view->path.dlid);
            return;
        }
        input = topology_port_number(topology, peer);
        port = entry->first_port + output;
    }
}

/* ---- shortest paths ---- */

/* Hops to the target over links that are up, by node; breadth first. */
static uint32_t *find_distances(const struct path_view *view)
{
    const struct topology *topology = view->topology;
    uint32_t *distance = mem_alloc(topology->nodes.count * sizeof *distance);
    VEC(uint32_t) queue = {0};
    memset(distance, 0xFF, topology->nodes.count * sizeof *distance);
    uint32_t target = topology->ports.items[view->target].node;
    uint32_t source = topology->ports.items[view->source].node;
    distance[target] = 0;
    vec_push(&queue, target);
    for (size_t i = 0; i < queue.count; i++) {
        const struct topology_node *node = &topology->nodes.items[queue.items[i]];
        if (node->kind != NODE_SWITCH && queue.items[i] != target)
            continue; /* adapters do not forward */
        for (unsigned number = 1; number <= node->port_count; number++) {
            uint32_t port = node->first_port + number, peer = topology->ports.items[port].peer;
            uint32_t next = peer == TOPOLOGY_NONE ? source : topology->ports.items[peer].node;
            if (peer == TOPOLOGY_NONE || distance[next] != TOPOLOGY_NONE ||
                !fabric_link_is_up(view->fabric->fabric, port))
                continue;
            distance[next] = distance[queue.items[i]] + 1;
            vec_push(&queue, next);
        }
    }
    vec_release(&queue);
    return distance;
}

struct enumeration {
    const struct path_view *view;
    const uint32_t *distance;
    uint32_t ports[HOPS_MOST];
    uint64_t count;   /* of complete paths */
    uint32_t written; /* alternatives */
    struct json *json;
};

static void write_alternative(struct enumeration *all, unsigned length)
{
    const struct path_view *view = all->view;
    bool same = view->hops.count == length;
    for (unsigned i = 0; i < length && same; i++)
        same = view->hops.items[i].port == all->ports[i];
    if (same || all->written == ALTERNATIVES)
        return;
    all->written++;
    json_begin_array(all->json, NULL);
    for (unsigned i = 0; i < length; i++)
        json_unsigned(all->json, NULL, view->fabric->links.of_port[all->ports[i]]);
    json_end_array(all->json);
}

/* The number of shortest paths from a node; the first ones are written. */
static void enumerate_from(struct enumeration *all, uint32_t node, unsigned length)
{
    const struct topology *topology = all->view->topology;
    const struct topology_node *entry = &topology->nodes.items[node];
    if (all->distance[node] == 0) {
        all->count++;
        write_alternative(all, length);
        return;
    }
    for (unsigned number = 1; number <= entry->port_count && all->count < PATHS_COUNTED; number++) {
        uint32_t port = entry->first_port + number, peer = topology->ports.items[port].peer;
        if (peer == TOPOLOGY_NONE || !fabric_link_is_up(all->view->fabric->fabric, port))
            continue;
        uint32_t next = topology->ports.items[peer].node;
        if (length == HOPS_MOST || all->distance[next] + 1 != all->distance[node])
            continue;
        all->ports[length] = port;
        enumerate_from(all, next, length + 1);
    }
}

static void write_alternatives(const struct path_view *view, struct json *json)
{
    uint32_t *distance = find_distances(view);
    struct enumeration all = {.view = view, .distance = distance, .json = json};
    uint32_t source = view->topology->ports.items[view->source].node;
    json_begin_array(json, "alternatives");
    if (distance[source] != TOPOLOGY_NONE)
        enumerate_from(&all, source, 0);
    json_end_array(json);
    json_unsigned(json, "shortest", all.count);
    mem_free(distance);
}

/* ---- partitions of the pair ---- */

/* A P_Key of both ports of which one has full membership; 0: none. */
static uint16_t common_key(const struct fabric *fabric, uint32_t source, uint32_t target)
{
    uint16_t ours[PAIR_KEYS], theirs[PAIR_KEYS];
    unsigned own = fabric_p_keys(fabric, source, ours, PAIR_KEYS);
    unsigned other = fabric_p_keys(fabric, target, theirs, PAIR_KEYS);
    for (unsigned i = 0; i < own; i++)
        for (unsigned j = 0; j < other; j++)
            if ((ours[i] & 0x7FFF) && ((ours[i] ^ theirs[j]) & 0x7FFF) == 0 &&
                ((ours[i] | theirs[j]) & 0x8000))
                return ours[i];
    return 0;
}

/* ---- JSON ---- */

static void write_hops(const struct path_view *view, struct json *json)
{
    const struct topology *topology = view->topology;
    const struct api_links *links = &view->fabric->links;
    json_begin_array(json, "hops");
    for (size_t i = 0; i < view->hops.count; i++) {
        const struct hop *hop = &view->hops.items[i];
        uint32_t link = links->of_port[hop->port];
        unsigned direction = api_link_direction(links, hop->port);
        json_begin_object(json, NULL);
        json_unsigned(json, "node", topology->ports.items[hop->port].node);
        json_unsigned(json, "port", topology_port_number(topology, hop->port));
        json_unsigned(json, "link", link);
        json_unsigned(json, "dir", direction);
        json_unsigned(json, "vl", hop->vl);
        json_unsigned(json, "load", view->tick->load[2 * (size_t)link + direction]);
        json_end_object(json);
    }
    json_end_array(json);
}

void path_view_write(const struct fabric_view *fabric, const struct api_tick *tick, uint32_t from,
                     uint32_t to, struct data_path path, struct text *out)
{
    const struct topology *topology = fabric_topology(fabric->fabric);
    struct path_view view = {.fabric = fabric, .topology = topology, .tick = tick, .path = path};
    struct json json = {.out = out};
    view.source = path_view_port(topology, from);
    view.target = path_view_port(topology, to);
    bool linked = view.source != TOPOLOGY_NONE && view.target != TOPOLOGY_NONE &&
                  topology->nodes.items[from].kind != NODE_SWITCH && from != to;
    if (!linked)
        snprintf(view.reason, sizeof view.reason, "a path is between two nodes, from an adapter");
    else if (!view.path.dlid)
        snprintf(view.reason, sizeof view.reason, "no manager has a path for this pair");
    else
        follow(&view);
    json_begin_object(&json, NULL);
    json_unsigned(&json, "from", from);
    json_unsigned(&json, "to", to);
    if (view.reason[0])
        json_string(&json, "reason", view.reason);
    else
        json_null(&json, "reason");
    json_unsigned(&json, "dlid", view.path.dlid);
    json_unsigned(&json, "sl", view.path.sl);
    uint16_t key = linked ? common_key(fabric->fabric, view.source, view.target) : 0;
    json_bool(&json, "allowed", key != 0);
    if (key)
        json_unsigned(&json, "pkey", key & 0x7FFF);
    else
        json_null(&json, "pkey");
    write_hops(&view, &json);
    if (linked)
        write_alternatives(&view, &json);
    json_end_object(&json);
    vec_release(&view.hops);
}
