/* Metrics of the daemon at /metrics (Prometheus).
 *
 * A scrape is answered in two steps. The loop copies what it needs: its own figures, and the ports
 * with their counters if these have changed since the last scrape. The thread of the HTTP server
 * prints the copy and sends it. So a scrape costs the loop a bounded time, however slowly its
 * client reads, and printing never delays a MAD. Ports are copied at
 * most once a second, and every 5 s while a change is under way. */
#include "host/daemon/daemon_internal.h"

#include "base/time.h"
#include "host/metrics/format.h"
#include "host/metrics/metrics_page.h"
#include "subnet/names.h"
#include "wire/link_rate.h"

#include <string.h>

static const uint64_t ports_interval = NS_PER_S;
static const uint64_t change_interval = 5 * NS_PER_S; /* while a change is under way */

struct daemon_metrics {
    struct port_metrics *ports; /* the last copy */
    struct ports_version {
        uint64_t master, generation, paths, begun, rounds, lids;
    } version; /* of that copy */
    uint64_t copied_at, copy_ns;
};

/* ---- ports ---- */

static struct metric_device make_device(const struct subnet *subnet, const struct subnet_node *node,
                                        const struct subnet_port *end_port)
{
    struct metric_device device = {.guid = end_port->guid ? end_port->guid : node->guid,
                                   .lid = end_port->lid,
                                   .subnet = subnet->routers ? subnet->prefix_routes.own : 0,
                                   .is_switch = node->kind == SUBNET_SWITCH};
    snprintf(device.name, sizeof device.name, "%s", subnet_node_label(subnet, node));
    return device;
}

static struct metric_port make_port(const struct daemon *daemon, struct port_metrics *metrics,
                                    uint32_t index)
{
    const struct subnet *subnet = sm_subnet(daemon->sm);
    const struct subnet_port *port = &subnet->ports.items[index];
    struct metric_port result = {.device = (uint32_t)metrics->devices.count - 1,
                                 .peer = NO_METRIC_PORT,
                                 .number = port->number};
    const struct port_counters *counters = perf_port_counters(daemon->perf, index);
    if (port->peer != SUBNET_NONE && port->known)
        result.rate = (uint64_t)link_rate(port->info) * 1000000 / 8;
    if (counters && perf_reads_port(daemon->perf, subnet, index)) {
        result.known = counters->known;
        memcpy(port_metrics_add_values(metrics, &result), counters->value, sizeof counters->value);
    }
    return result;
}

/* `rows` are the rows of the copy by port of the subnet. */
static void copy_node(const struct daemon *daemon, struct port_metrics *metrics,
                      const struct subnet_node *node, uint32_t *rows)
{
    const struct subnet *subnet = sm_subnet(daemon->sm);
    bool is_switch = node->kind == SUBNET_SWITCH;
    for (unsigned number = is_switch ? 0 : 1; number <= node->port_count; number++) {
        uint32_t index = node->first_port + number;
        const struct subnet_port *port = &subnet->ports.items[index];
        if (number == 0 || (!is_switch && port->known))
            vec_push(&metrics->devices, make_device(subnet, node, port));
        if (number == 0 || (!is_switch && !port->known))
            continue;
        rows[index] = (uint32_t)metrics->ports.count;
        vec_push(&metrics->ports, make_port(daemon, metrics, index));
    }
    *(is_switch ? &metrics->switches : &metrics->adapters) += 1;
}

/* A standby only counts nodes and links: joins by (guid, port) fail if the ports of the master
 * appear a second time. */
static struct port_metrics *copy_ports(const struct daemon *daemon)
{
    const struct subnet *subnet = sm_subnet(daemon->sm);
    struct port_metrics *metrics = port_metrics_new();
    struct perf_counts counts;
    uint32_t *rows = mem_alloc(subnet->ports.count * sizeof *rows);
    memset(rows, 0xff, subnet->ports.count * sizeof *rows);
    perf_counts(daemon->perf, &counts);
    vec_reserve(&metrics->ports, subnet->ports.count);
    vec_reserve(&metrics->values, counts.ports * COUNTER_COUNT);
    for (size_t i = 0; i < subnet->nodes.count; i++)
        if (subnet->nodes.items[i].present)
            copy_node(daemon, metrics, &subnet->nodes.items[i], rows);
    for (size_t i = 0; i < subnet->ports.count; i++) {
        uint32_t peer = subnet->ports.items[i].peer;
        if (rows[i] == NO_METRIC_PORT || peer == SUBNET_NONE || rows[peer] == NO_METRIC_PORT)
            continue;
        metrics->ports.items[rows[i]].peer = rows[peer];
        metrics->links += peer > i;
    }
    mem_free(rows);
    if (sm_state(daemon->sm) != SM_MASTER)
        metrics->devices.count = metrics->ports.count = 0;
    return metrics;
}

static void update_ports(struct daemon *daemon)
{
    struct daemon_metrics *metrics = daemon->metrics;
    struct perf_counts counts;
    struct sm_counts smps;
    uint64_t now = time_monotonic_ns();
    perf_counts(daemon->perf, &counts);
    sm_counts(daemon->sm, &smps);
    struct ports_version version = {
        .master = sm_state(daemon->sm) == SM_MASTER,
        .generation = sm_subnet(daemon->sm)->generation,
        .paths = sm_paths(daemon->sm).generation,
        .begun = perf_has_begun(daemon->perf), /* false: values were forgotten */
        .rounds = counts.rounds,
        .lids = smps.port_info_set, /* new LIDs, rates and states follow Sets and Gets */
    };
    uint64_t interval = sm_is_settled(daemon->sm) ? ports_interval : change_interval;
    if (metrics->ports && (now < metrics->copied_at + interval ||
                           memcmp(&version, &metrics->version, sizeof version) == 0))
        return;
    port_metrics_release(metrics->ports);
    metrics->ports = copy_ports(daemon);
    metrics->version = version;
    metrics->copied_at = time_monotonic_ns();
    metrics->copy_ns = metrics->copied_at - now;
}

/* ---- the manager ---- */

static void print_summary(const void *summary, const struct port_metrics *ports, struct text *out)
{
    struct subnet_size size = {ports->switches, ports->adapters, ports->links};
    manager_metrics_print(summary, &size, out);
}

static struct manager_metrics *copy_manager(struct daemon *daemon)
{
    struct manager_metrics *metrics = mem_zalloc(1, sizeof *metrics);
    uint64_t began = time_monotonic_ns();
    struct vswitch_vm machine;
    manager_metrics_read(metrics, daemon->sm, daemon->sa, daemon->perf);
    metrics->version = WEFT_VERSION;
    metrics->priority = daemon->config->sm.priority;
    snprintf(metrics->configured, sizeof metrics->configured, "%s",
             daemon->config->sm.engine->name);
    for (size_t i = 0; i < daemon->problems.items.count; i++)
        metrics->problems[daemon->problems.items.items[i].kind]++;
    for (uint32_t cursor = 0; vswitch_next_vm(daemon->machines, &cursor, &machine);)
        metrics->machines += !machine.removed;
    metrics->machine_requests = vswitch_pending(daemon->machines);
    metrics->totals = daemon->totals;
    metrics->totals.warnings = daemon->log.warnings;
    metrics->totals.errors = daemon->log.errors;
    metrics->ports_snapshot_ns = daemon->metrics->copy_ns;
    metrics->snapshot_ns = time_monotonic_ns() - began;
    return metrics;
}

/* Runs in the loop. */
static void answer_scrape(void *context, const struct http_request *request,
                          struct http_response *response)
{
    struct daemon *daemon = context;
    struct metrics_choice choice = {0};
    struct err err = {0};
    const char *name, *value;
    for (size_t i = 0; (name = http_parameter_at(request, i, &value)) != NULL; i++)
        if (metrics_choice_add(&choice, name, value, &err) < 0) {
            http_refuse(response, 400, "%s", err.message);
            return;
        }
    if (!daemon->sm) {
        http_refuse(response, 503, "the manager has no port yet: it waits for the first link");
        return;
    }
    update_ports(daemon);
    response->type = METRICS_CONTENT_TYPE;
    response->generate = metrics_page_generate;
    response->release = metrics_page_free;
    response->source = metrics_page_new(&choice, port_metrics_hold(daemon->metrics->ports),
                                        copy_manager(daemon), print_summary, mem_free);
}

static void answer_root(void *context, const struct http_request *request,
                        struct http_response *response)
{
    (void)context;
    (void)request;
    response->type = "text/plain; charset=utf-8";
    text_puts(&response->body, "weft sm: metrics are at /metrics\n");
}

size_t daemon_open_metrics(struct daemon *daemon, struct http_route routes[2])
{
    daemon->metrics = mem_zalloc(1, sizeof *daemon->metrics);
    routes[0] = (struct http_route){.method = "GET",
                                    .path = "/metrics",
                                    .in_loop = true,
                                    .everywhere = true,
                                    .handler = answer_scrape,
                                    .context = daemon};
    routes[1] = (struct http_route){
        .method = "GET", .path = "/", .everywhere = true, .handler = answer_root};
    return 2;
}

void daemon_close_metrics(struct daemon *daemon)
{
    port_metrics_release(daemon->metrics->ports);
    mem_free(daemon->metrics);
    daemon->metrics = NULL;
}

void daemon_count_trap(struct daemon *daemon, const struct sm_message *message)
{
    const struct subnet *subnet = sm_subnet(daemon->sm);
    const uint8_t *notice = message->mad + SMP_DATA_OFFSET;
    if (wire_get(message->mad, MAD_METHOD) != METHOD_TRAP ||
        wire_get(message->mad, MAD_ATTRIBUTE_ID) != ATTRIBUTE_NOTICE)
        return;
    uint16_t trap = (uint16_t)wire_get(notice, NOTICE_TRAP_NUMBER);
    uint32_t from = message->lid < LFT_ENTRIES ? subnet->by_lid[message->lid] : SUBNET_NONE;
    bool names_port = trap >= 129 && trap <= 131;
    const uint8_t *details = wire_bytes_const(notice, NOTICE_DATA);
    trap_counts_add(&daemon->totals.traps, from == SUBNET_NONE ? 0 : subnet->ports.items[from].guid,
                    names_port ? (uint8_t)wire_get(details, TRAP_LINK_INTEGRITY_PORT) : 0, trap);
}
