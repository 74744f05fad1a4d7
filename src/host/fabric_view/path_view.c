/* The path of a pair with its alternatives, as the API has it. Shortest paths are counted over
 * links that are up. */
#include "host/fabric_view/fabric_view.h"

enum { HOPS_MOST = PATH_HOPS_MOST, ALTERNATIVES = 8, PATHS_COUNTED = 1000000, PAIR_KEYS = 128 };

struct path_view {
    const struct fabric_view *fabric;
    const struct topology *topology;
    const struct api_tick *tick;
    struct path_hops hops;
};

/* ---- shortest paths ---- */

/* Hops to the target over links that are up, by node; breadth first. */
static uint32_t *find_distances(const struct path_view *view)
{
    const struct topology *topology = view->topology;
    uint32_t *distance = mem_alloc(topology->nodes.count * sizeof *distance);
    VEC(uint32_t) queue = {0};
    memset(distance, 0xFF, topology->nodes.count * sizeof *distance);
    uint32_t target = topology->ports.items[view->hops.target].node;
    uint32_t source = topology->ports.items[view->hops.source].node;
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
    bool same = view->hops.items.count == length;
    for (unsigned i = 0; i < length && same; i++)
        same = view->hops.items.items[i].port == all->ports[i];
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
    uint32_t source = view->topology->ports.items[view->hops.source].node;
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
    const struct api_links *links = &view->fabric->links;
    json_begin_array(json, "hops");
    for (size_t i = 0; i < view->hops.items.count; i++) {
        const struct path_hop *hop = &view->hops.items.items[i];
        json_begin_object(json, NULL);
        api_put_output(json, view->topology, links, hop->port);
        json_unsigned(json, "vl", hop->vl);
        json_unsigned(json, "load",
                      view->tick->load[2 * (size_t)links->of_port[hop->port] +
                                       api_link_direction(links, hop->port)]);
        json_end_object(json);
    }
    json_end_array(json);
}

void path_view_write(const struct fabric_view *fabric, const struct api_tick *tick, uint32_t from,
                     uint32_t to, path_finder *find, void *context, struct text *out)
{
    const struct topology *topology = fabric_topology(fabric->fabric);
    struct path_view view = {.fabric = fabric, .topology = topology, .tick = tick};
    struct json json = {.out = out};
    path_hops_find(&view.hops, fabric->fabric, from, to, find, context);
    json_begin_object(&json, NULL);
    json_unsigned(&json, "from", from);
    json_unsigned(&json, "to", to);
    json_string(&json, "reason", view.hops.reason[0] ? view.hops.reason : NULL);
    json_unsigned(&json, "dlid", view.hops.path.dlid);
    json_unsigned(&json, "sl", view.hops.path.sl);
    uint16_t key =
        view.hops.has_ends ? common_key(fabric->fabric, view.hops.source, view.hops.target) : 0;
    json_bool(&json, "allowed", key != 0);
    if (key)
        json_unsigned(&json, "pkey", key & 0x7FFF);
    else
        json_null(&json, "pkey");
    write_hops(&view, &json);
    if (view.hops.has_ends)
        write_alternatives(&view, &json);
    json_end_object(&json);
    path_hops_release(&view.hops);
}
