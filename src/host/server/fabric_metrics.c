/* The handler of /metrics on a simulated fabric: it copies totals and port counters straight from
 * the model, not through performance agents as a manager must, and prints the totals. */
#include "host/server/fabric_metrics.h"

#include "base/time.h"
#include "fabric/data.h"
#include "host/metrics/format.h"
#include "host/metrics/metrics_page.h"
#include "wire/link_rate.h"

struct fabric_summary {
    struct fabric_totals totals;
    bool has_data; /* there is data traffic */
    struct data_totals data;
    uint64_t network_ps;
};

static struct metric_port make_port(const struct fabric *fabric, struct port_metrics *metrics,
                                    uint32_t index)
{
    const uint64_t *total = fabric_counters(fabric, index)->total;
    struct metric_port port = {
        .device = (uint32_t)metrics->devices.count - 1,
        .peer = NO_METRIC_PORT,
        .number = (uint8_t)topology_port_number(fabric_topology(fabric), index),
        .known = (UINT64_C(1) << COUNTER_COUNT) - 1,
    };
    if (fabric_link_is_up(fabric, index))
        port.rate = (uint64_t)link_rate(fabric_port_info(fabric, index)) * 1000000 / 8;
    uint64_t *values = port_metrics_add_values(metrics, &port);
    for (unsigned i = 0; i < COUNTER_COUNT; i++)
        values[i] = total[i] * port_counter_infos[i].unit;
    return port;
}

static bool has_routers(const struct topology *topology)
{
    for (size_t i = 0; i < topology->nodes.count; i++)
        if (topology->nodes.items[i].kind == NODE_ROUTER)
            return true;
    return false;
}

static void add_device(const struct fabric *fabric, struct port_metrics *metrics,
                       const struct topology_node *node, uint32_t end_port, bool routed)
{
    const struct topology_port *port = &fabric_topology(fabric)->ports.items[end_port];
    struct metric_device device = {
        .guid = port->guid ? port->guid : node->guid,
        .lid = (uint16_t)wire_get(fabric_port_info(fabric, end_port), PORT_INFO_LID),
        .is_switch = node->kind == NODE_SWITCH,
        .subnet = routed ? wire_get(fabric_port_info(fabric, end_port), PORT_INFO_GID_PREFIX) : 0,
    };
    snprintf(device.name, sizeof device.name, "%s",
             node->description && *node->description ? node->description : node->name);
    vec_push(&metrics->devices, device);
}

static struct port_metrics *copy_ports(const struct fabric *fabric)
{
    const struct topology *topology = fabric_topology(fabric);
    struct port_metrics *metrics = port_metrics_new();
    bool routed = has_routers(topology);
    uint32_t *rows = mem_alloc((topology->ports.count + 1) * sizeof *rows);
    memset(rows, 0xff, topology->ports.count * sizeof *rows);
    vec_reserve(&metrics->ports, topology->ports.count);
    for (uint32_t n = 0; n < topology->nodes.count; n++) {
        const struct topology_node *node = &topology->nodes.items[n];
        bool is_switch = node->kind == NODE_SWITCH;
        *(is_switch ? &metrics->switches : &metrics->adapters) += 1;
        for (unsigned number = is_switch ? 0 : 1; number <= node->port_count; number++) {
            uint32_t index = node->first_port + number;
            if (number == 0 || !is_switch)
                add_device(fabric, metrics, node, index, routed);
            if (number == 0 || topology->ports.items[index].peer == TOPOLOGY_NONE)
                continue;
            rows[index] = (uint32_t)metrics->ports.count;
            vec_push(&metrics->ports, make_port(fabric, metrics, index));
        }
    }
    for (uint32_t i = 0; i < topology->ports.count; i++)
        if (rows[i] != NO_METRIC_PORT && fabric_link_is_up(fabric, i))
            metrics->ports.items[rows[i]].peer = rows[topology->ports.items[i].peer];
    mem_free(rows);
    return metrics;
}

static void print_data(const struct data_totals *data, struct text *out)
{
    static const char lost[] = "weft_fabric_data_packets_lost_total";
    metric_counter(out, "weft_fabric_data_packets_total", "Data packets made.", data->made);
    metric_counter(out, "weft_fabric_data_packets_delivered_total", "Data packets delivered.",
                   data->delivered);
    metric_counter(out, "weft_fabric_data_bytes_delivered_total", "Bytes of these packets.",
                   data->delivered_bytes);
    metric_family(out, lost, "counter", "Data packets lost, by cause.");
    for (unsigned i = 0; i < LOSS_CAUSES; i++) {
        metric_begin(out, lost);
        metric_label(out, "cause", loss_names[i]);
        metric_end(out, data->lost[i]);
    }
}

static void print_summary(const void *context, const struct port_metrics *ports, struct text *out)
{
    const struct fabric_summary *summary = context;
    const struct fabric_totals *t = &summary->totals;
    metric_family(out, "weft_build_info", "gauge", "Version of weft.");
    metric_begin(out, "weft_build_info");
    metric_label(out, "version", WEFT_VERSION);
    metric_end(out, 1);
    metric_gauge(out, "weft_fabric_switches", "Switches of the fabric.", ports->switches);
    metric_gauge(out, "weft_fabric_adapters", "Adapters of the fabric.", ports->adapters);
    metric_gauge(out, "weft_fabric_nodes_down", "Nodes that are switched off.", t->nodes_down);
    metric_gauge(out, "weft_fabric_links_up", "Links that are up.", t->links_up);
    metric_gauge(out, "weft_fabric_links_down", "Links that are down.", t->links_down);
    metric_gauge(out, "weft_fabric_managers", "Ports with IsSM set.", t->managers);
    metric_counter(out, "weft_fabric_packets_sent_total", "Packets sent.", t->packets_sent);
    metric_counter(out, "weft_fabric_smps_sent_total", "SMPs among them.", t->smps_sent);
    metric_counter(out, "weft_fabric_smps_lost_total", "SMPs that were lost.", t->smps_lost);
    metric_counter(out, "weft_fabric_hops_total", "Links that packets have passed.", t->hops);
    metric_counter(out, "weft_fabric_traps_total", "Traps sent by agents.", t->traps);
    metric_counter(out, "weft_fabric_events_total", "Events that were simulated.", t->events);
    if (summary->has_data)
        print_data(&summary->data, out);
    metric_family(out, "weft_fabric_network_seconds_total", "counter",
                  "Simulated time of the network.");
    metric_begin(out, "weft_fabric_network_seconds_total");
    metric_end_double(out, time_seconds((double)summary->network_ps));
}

static void answer_scrape(void *context, const struct http_request *request,
                          struct http_response *response)
{
    struct fabric *fabric = context;
    struct metrics_choice choice = {0};
    struct err err = {0};
    const char *name, *value;
    for (size_t i = 0; (name = http_parameter_at(request, i, &value)) != NULL; i++)
        if (metrics_choice_add(&choice, name, value, &err) < 0) {
            http_refuse(response, 400, "%s", err.message);
            return;
        }
    struct fabric_summary *summary = mem_zalloc(1, sizeof *summary);
    fabric_totals(fabric, &summary->totals);
    summary->has_data = fabric_vls(fabric) > 0;
    if (summary->has_data)
        fabric_data_totals(fabric, &summary->data);
    summary->network_ps = fabric_network_time(fabric);
    response->type = METRICS_CONTENT_TYPE;
    response->generate = metrics_page_generate;
    response->release = metrics_page_free;
    response->source =
        metrics_page_new(&choice, copy_ports(fabric), summary, print_summary, mem_free);
}

struct http_route fabric_metrics_route(struct fabric *fabric)
{
    return (struct http_route){.method = "GET",
                               .path = "/metrics",
                               .in_loop = true,
                               .everywhere = true,
                               .handler = answer_scrape,
                               .context = fabric};
}
