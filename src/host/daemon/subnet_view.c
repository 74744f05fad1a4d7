#include "host/daemon/subnet_view.h"

#include "host/daemon/cabling.h"
#include "subnet/names.h"
#include "wire/link_rate.h"

#include <math.h>
#include <string.h>

enum { HOPS_MOST = 64 };

/* ---- the topology ---- */

/* The port at the other end of the present or the last link, or SUBNET_NONE. */
static uint32_t link_peer(const struct subnet *subnet, uint32_t index)
{
    const struct subnet_port *port = &subnet->ports.items[index];
    if (port->peer != SUBNET_NONE)
        return port->peer;
    if (port->last_peer == SUBNET_NONE)
        return SUBNET_NONE;
    const struct subnet_port *last = &subnet->ports.items[port->last_peer];
    return last->peer == SUBNET_NONE && last->last_peer == index ? port->last_peer : SUBNET_NONE;
}

static uint64_t sign(const struct subnet *subnet)
{
    uint64_t signature = hash_mix(subnet->nodes.count + 1);
    for (uint32_t i = 0; i < subnet->ports.count; i++) {
        uint32_t peer = link_peer(subnet, i);
        if (peer != SUBNET_NONE && peer > i)
            signature = hash_mix(signature ^ ((uint64_t)i << 32 | peer));
    }
    return signature;
}

static void add_nodes(struct subnet_view *view, const struct subnet *subnet, uint32_t *place)
{
    for (uint32_t i = 0; i < subnet->nodes.count; i++) {
        const struct subnet_node *node = &subnet->nodes.items[i];
        place[i] = TOPOLOGY_NONE;
        if (topology_add_bare_node(&view->topology, (enum node_kind)node->kind, NULL,
                                   node->port_count, node->guid, &place[i], NULL))
            continue; /* an older row of the same node */
        const char *label = subnet_node_label(subnet, node);
        topology_set_description(&view->topology, place[i], label,
                                 strnlen(label, TOPOLOGY_DESCRIPTION_BYTES));
        view->rows[place[i]] = i;
    }
}

static void add_links(struct subnet_view *view, const struct subnet *subnet, const uint32_t *place)
{
    struct topology *topology = &view->topology;
    for (uint32_t i = 0; i < subnet->ports.count; i++) {
        const struct subnet_port *port = &subnet->ports.items[i];
        uint32_t other = link_peer(subnet, i);
        if (other == SUBNET_NONE || other < i || place[port->node] == TOPOLOGY_NONE ||
            place[subnet->ports.items[other].node] == TOPOLOGY_NONE)
            continue;
        const struct subnet_port *peer = &subnet->ports.items[other];
        uint32_t a = topology_port_index(topology, place[port->node], port->number);
        uint32_t b = topology_port_index(topology, place[peer->node], peer->number);
        if (topology_link(topology, a, b, NULL) == 0) {
            cabling_set_rate(&topology->ports.items[a], port);
            cabling_set_rate(&topology->ports.items[b], port);
        }
    }
}

void subnet_view_release(struct subnet_view *view)
{
    if (!view->rows)
        return;
    api_links_release(&view->links);
    topology_release(&view->topology);
    mem_free(view->rows);
    mem_free(view->touched);
    view->rows = NULL;
    view->touched = NULL;
}

bool subnet_view_update(struct subnet_view *view, const struct subnet *subnet)
{
    uint64_t signature = sign(subnet);
    if (view->rows && signature == view->signature)
        return false;
    subnet_view_release(view);
    view->signature = signature;
    view->generation++;
    uint32_t *place = mem_alloc((subnet->nodes.count + 1) * sizeof *place);
    view->rows = mem_zalloc(subnet->nodes.count + 1, sizeof *view->rows);
    view->touched = mem_zalloc(subnet->nodes.count + 1, sizeof *view->touched);
    topology_init(&view->topology);
    add_nodes(view, subnet, place);
    add_links(view, subnet, place);
    mem_free(place);
    api_links_init(&view->links, &view->topology);
    return true;
}

/* ---- states ---- */

static uint32_t row_of_port(const struct subnet_view *view, const struct subnet *subnet,
                            uint32_t port)
{
    uint32_t node = view->topology.ports.items[port].node;
    return subnet->nodes.items[view->rows[node]].first_port +
           topology_port_number(&view->topology, port);
}

static bool port_is_active(const struct subnet_port *port)
{
    return port->known && wire_get(port->info, PORT_INFO_PORT_STATE) == PORT_STATE_ACTIVE;
}

/* By the manager or by hand. */
static bool port_is_disabled(const struct subnet_port *port)
{
    return port->known && wire_get(port->info, PORT_INFO_PORT_PHYSICAL_STATE) == PHYSICAL_DISABLED;
}

static enum api_link_state link_state(const struct subnet_port *a, const struct subnet_port *b)
{
    if (a->peer == SUBNET_NONE)
        return port_is_disabled(a) || port_is_disabled(b) ? API_LINK_CUT : API_LINK_DOWN;
    return port_is_active(a) && port_is_active(b) ? API_LINK_ACTIVE : API_LINK_NOT_ACTIVE;
}

static const uint64_t *port_values(const struct perf *perf, uint32_t port)
{
    const struct port_counters *counters = perf_port_counters(perf, port);
    return counters ? counters->value : NULL;
}

/* The load between the last two readings of the counters; API_UNKNOWN: not known. */
static uint8_t port_load(const struct perf *perf, const struct subnet *subnet, uint32_t index)
{
    const struct port_counters *counters = perf_port_counters(perf, index);
    uint64_t rate = (uint64_t)link_rate(subnet->ports.items[index].info) * 1000000 / 8;
    if (!counters || !counters->interval_ns || !rate ||
        !port_counter_is_known(counters, COUNTER_TRANSMIT_DATA))
        return API_UNKNOWN;
    double load = 100 * port_counter_rate(counters, COUNTER_TRANSMIT_DATA) / (double)rate;
    return load > 100 ? 100 : (uint8_t)lround(load);
}

static void read_links(const struct subnet_view *view, const struct subnet *subnet,
                       const struct perf *perf, struct api_tick *tick)
{
    memset(tick->wait, API_UNKNOWN, 2 * (size_t)tick->links_n);
    for (uint32_t i = 0; i < view->links.count; i++) {
        uint32_t a = row_of_port(view, subnet, view->links.ports[i]);
        uint32_t b =
            row_of_port(view, subnet, view->topology.ports.items[view->links.ports[i]].peer);
        tick->links[i] = link_state(&subnet->ports.items[a], &subnet->ports.items[b]);
        tick->load[2 * (size_t)i] = port_load(perf, subnet, a);
        tick->load[2 * (size_t)i + 1] = port_load(perf, subnet, b);
        tick->errors[i] = port_counters_link_errors(port_values(perf, a), port_values(perf, b));
    }
}

void subnet_view_read(struct subnet_view *view, const struct sm *sm, const struct perf *perf,
                      struct api_tick *tick)
{
    const struct subnet *subnet = sm_subnet(sm);
    bool idle = sm_progress(sm).phase == SM_PHASE_IDLE;
    for (uint32_t i = 0; i < tick->nodes_n; i++) {
        enum sm_table_progress progress = sm_table_progress(sm, view->rows[i]);
        tick->nodes[i] = subnet->nodes.items[view->rows[i]].present ? API_NODE_UP : API_NODE_DOWN;
        view->touched[i] = !idle && (view->touched[i] || progress != SM_TABLE_IN_FORCE);
        tick->waves[i] = progress == SM_TABLE_WAITS     ? API_WAVE_WAITS
                         : progress == SM_TABLE_WRITTEN ? API_WAVE_WRITTEN
                         : view->touched[i]             ? API_WAVE_CONFIRMED
                                                        : API_WAVE_NONE;
    }
    read_links(view, subnet, perf, tick);
}

/* ---- paths ---- */

/* The end port of a node: port 0 of a switch, else the first port with a LID. */
static uint32_t end_port(const struct subnet *subnet, uint32_t row)
{
    const struct subnet_node *node = &subnet->nodes.items[row];
    if (node->kind == SUBNET_SWITCH)
        return node->first_port;
    for (unsigned number = 1; number <= node->port_count; number++)
        if (subnet->ports.items[node->first_port + number].lid)
            return node->first_port + number;
    return SUBNET_NONE;
}

static void write_hop(const struct subnet_view *view, const struct subnet *subnet, uint32_t port,
                      struct json *json)
{
    uint32_t row = subnet->ports.items[port].node;
    uint32_t node = map_get(&view->topology.by_guid, subnet->nodes.items[row].guid);
    if (node == MAP_NONE)
        return;
    uint32_t own = topology_port_index(&view->topology, node, subnet->ports.items[port].number);
    if (view->links.of_port[own] == TOPOLOGY_NONE)
        return;
    json_begin_object(json, NULL);
    json_unsigned(json, "node", node);
    json_unsigned(json, "port", subnet->ports.items[port].number);
    json_unsigned(json, "link", view->links.of_port[own]);
    json_unsigned(json, "dir", api_link_direction(&view->links, own));
    json_unsigned(json, "vl", 0);
    json_unsigned(json, "load", API_UNKNOWN);
    json_end_object(json);
}

/* Writes the hops; returns why the path does not arrive, or NULL. */
static const char *write_hops(const struct subnet_view *view, const struct subnet *subnet,
                              uint32_t port, uint32_t target, uint16_t lid, struct json *json)
{
    for (unsigned hops = 0; hops < HOPS_MOST; hops++) {
        uint32_t peer = subnet->ports.items[port].peer;
        write_hop(view, subnet, port, json);
        if (peer == SUBNET_NONE)
            return "a link of the path is down";
        if (subnet_end_port(subnet, peer) == target)
            return NULL;
        const struct subnet_node *node = &subnet->nodes.items[subnet->ports.items[peer].node];
        unsigned output = node->tables && lid < LFT_ENTRIES ? node->tables->actual[lid] : 0;
        if (output == 0 || output > node->port_count)
            return "a switch has no route for the LID";
        port = node->first_port + output;
    }
    return "the tables have a loop";
}

void subnet_view_path(const struct subnet_view *view, const struct sm *sm, uint32_t from,
                      uint32_t to, struct text *out)
{
    const struct subnet *subnet = sm_subnet(sm);
    uint32_t source = end_port(subnet, view->rows[from]);
    uint32_t target = end_port(subnet, view->rows[to]);
    struct sm_path path = {0};
    const char *reason = "no path is known for this pair";
    if (source != SUBNET_NONE && target != SUBNET_NONE && from != to)
        path = sm_path_between(sm, source, target);
    struct json json = {.out = out};
    json_begin_object(&json, NULL);
    json_unsigned(&json, "from", from);
    json_unsigned(&json, "to", to);
    json_unsigned(&json, "dlid", path.dlid);
    json_unsigned(&json, "sl", path.sl);
    json_begin_array(&json, "hops");
    bool from_adapter = subnet->nodes.items[view->rows[from]].kind != SUBNET_SWITCH;
    if (path.dlid && from_adapter)
        reason = write_hops(view, subnet, source, target, path.dlid, &json);
    json_end_array(&json);
    if (reason)
        json_string(&json, "reason", reason);
    else
        json_null(&json, "reason");
    json_end_object(&json);
}
