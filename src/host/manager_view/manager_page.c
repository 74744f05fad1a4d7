/* Maps the manager's subnet to the nodes and links of the page by GUID: their states, loads from
 * port counters, the progress of the distribution of LFTs, and the hops of a path by confirmed
 * LFTs. */
#include "host/manager_view/manager_page.h"

#include "wire/link_rate.h"

#include <math.h>
#include <string.h>

enum { HOPS_MOST = 64 };

uint32_t manager_page_node(const struct manager_page *page, uint32_t row)
{
    return api_node_of(page->topology, sm_subnet(page->sm)->nodes.items[row].guid);
}

/* The row of a node of the page, or SUBNET_NONE. */
static uint32_t row_of(const struct manager_page *page, uint32_t node)
{
    uint32_t row = map_get(&sm_subnet(page->sm)->by_guid, page->topology->nodes.items[node].guid);
    return row == MAP_NONE ? SUBNET_NONE : row;
}

/* ---- states ---- */

/* The port of the subnet for a port of the page. SUBNET_NONE: the node has changed since its
 * topology was described. */
static uint32_t subnet_port_of(const struct manager_page *page, uint32_t port)
{
    const struct subnet *subnet = sm_subnet(page->sm);
    uint32_t row = row_of(page, page->topology->ports.items[port].node);
    unsigned number = topology_port_number(page->topology, port);
    return row != SUBNET_NONE && number <= subnet->nodes.items[row].port_count
               ? subnet->nodes.items[row].first_port + number
               : SUBNET_NONE;
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

void manager_page_read(const struct manager_page *page, const struct perf *perf,
                       struct api_tick *tick)
{
    const struct subnet *subnet = sm_subnet(page->sm);
    for (uint32_t i = 0; i < tick->nodes_n; i++) {
        uint32_t row = row_of(page, i);
        bool present = row != SUBNET_NONE && subnet->nodes.items[row].present;
        tick->nodes[i] = present ? API_NODE_UP : API_NODE_DOWN;
    }
    memset(tick->wait, API_UNKNOWN, 2 * (size_t)tick->links_n);
    for (uint32_t i = 0; i < page->links->count; i++) {
        uint32_t port = page->links->ports[i];
        uint32_t a = subnet_port_of(page, port);
        uint32_t b = subnet_port_of(page, page->topology->ports.items[port].peer);
        tick->links[i] = API_LINK_DOWN;
        if (a == SUBNET_NONE || b == SUBNET_NONE)
            continue;
        tick->links[i] = link_state(&subnet->ports.items[a], &subnet->ports.items[b]);
        tick->load[2 * (size_t)i] = port_load(perf, subnet, a);
        tick->load[2 * (size_t)i + 1] = port_load(perf, subnet, b);
        tick->errors[i] = port_counters_link_errors(port_values(perf, a), port_values(perf, b));
    }
}

void manager_page_read_waves(const struct manager_page *page, bool *touched, uint8_t *waves)
{
    const struct subnet *subnet = sm_subnet(page->sm);
    bool idle = sm_progress(page->sm).phase == SM_PHASE_IDLE;
    for (uint32_t row = 0; row < subnet->nodes.count; row++) {
        const struct subnet_node *entry = &subnet->nodes.items[row];
        uint32_t node = entry->kind == SUBNET_SWITCH && entry->present
                            ? manager_page_node(page, row)
                            : TOPOLOGY_NONE;
        if (node == TOPOLOGY_NONE)
            continue;
        enum sm_table_progress progress = sm_table_progress(page->sm, row);
        touched[node] = !idle && (touched[node] || progress != SM_TABLE_IN_FORCE);
        waves[node] = progress == SM_TABLE_WAITS     ? API_WAVE_WAITS
                      : progress == SM_TABLE_WRITTEN ? API_WAVE_WRITTEN
                      : touched[node]                ? API_WAVE_CONFIRMED
                                                     : API_WAVE_NONE;
    }
}

/* ---- paths ---- */

/* The end port of a node: port 0 of a switch, else the first port with a LID. */
static uint32_t end_port(const struct manager_page *page, uint32_t of)
{
    const struct subnet *subnet = sm_subnet(page->sm);
    uint32_t row = row_of(page, of);
    if (row == SUBNET_NONE)
        return SUBNET_NONE;
    const struct subnet_node *node = &subnet->nodes.items[row];
    if (node->kind == SUBNET_SWITCH)
        return node->first_port;
    for (unsigned number = 1; number <= node->port_count; number++)
        if (subnet->ports.items[node->first_port + number].lid)
            return node->first_port + number;
    return SUBNET_NONE;
}

static void put_hop(const struct manager_page *page, const struct subnet_port *port,
                    struct json *json)
{
    uint32_t node = manager_page_node(page, port->node);
    uint32_t own =
        node == TOPOLOGY_NONE ? 0 : topology_port_index(page->topology, node, port->number);
    if (node == TOPOLOGY_NONE || page->links->of_port[own] == TOPOLOGY_NONE)
        return;
    json_begin_object(json, NULL);
    api_put_output(json, page->topology, page->links, own);
    json_unsigned(json, "vl", 0);
    json_unsigned(json, "load", API_UNKNOWN);
    json_end_object(json);
}

/* Writes the hops; returns why the path does not arrive, or NULL. */
static const char *put_hops(const struct manager_page *page, uint32_t port, uint32_t target,
                            uint16_t lid, struct json *json)
{
    const struct subnet *subnet = sm_subnet(page->sm);
    for (unsigned hops = 0; hops < HOPS_MOST; hops++) {
        uint32_t peer = subnet->ports.items[port].peer;
        put_hop(page, &subnet->ports.items[port], json);
        if (peer == SUBNET_NONE)
            return "a link of the path is down";
        if (subnet_end_port(subnet, peer) == target)
            return NULL;
        const struct subnet_node *node = &subnet->nodes.items[subnet->ports.items[peer].node];
        unsigned output = node->tables ? subnet_actual_port(node->tables, lid) : 0;
        if (output == 0 || output > node->port_count)
            return "a switch has no route for the LID";
        port = node->first_port + output;
    }
    return "the tables have a loop";
}

void manager_page_put_path(const struct manager_page *page, uint32_t from, uint32_t to,
                           struct text *out)
{
    uint32_t source = end_port(page, from), target = end_port(page, to);
    struct sm_path path = {0};
    const char *reason = "no path is known for this pair";
    if (source != SUBNET_NONE && target != SUBNET_NONE && from != to)
        path = sm_path_between(page->sm, source, target);
    struct json json = {.out = out};
    json_begin_object(&json, NULL);
    json_unsigned(&json, "from", from);
    json_unsigned(&json, "to", to);
    json_unsigned(&json, "dlid", path.dlid);
    json_unsigned(&json, "sl", path.sl);
    json_begin_array(&json, "hops");
    if (path.dlid && page->topology->nodes.items[from].kind != NODE_SWITCH)
        reason = put_hops(page, source, target, path.dlid, &json);
    json_end_array(&json);
    json_string(&json, "reason", reason);
    json_end_object(&json);
}
