/* Metrics of the daemon at /metrics (Prometheus).
 *
 * A scrape is answered in two steps. The loop copies what it needs: its own figures, and the ports
 * with their counters if these have changed since the last scrape. The thread of the HTTP server
 * prints the copy and sends it. So a scrape costs the loop a bounded time, however slowly its
 * client reads, and printing never delays a MAD. Ports are copied at
 * most once a second, and every 5 s while a change is under way, some thousands in a turn of the
 * loop. If nodes or links change meanwhile, the copy begins anew, and is made at once at the third
 * attempt. */
#include "host/daemon/daemon_internal.h"

#include "base/time.h"
#include "host/metrics/format.h"
#include "host/metrics/metrics_page.h"
#include "subnet/names.h"
#include "wire/link_rate.h"

#include <string.h>

static const uint64_t ports_interval = NS_PER_S;
static const uint64_t change_interval = 5 * NS_PER_S; /* while a change is under way */
enum { PORTS_IN_A_TURN = 2500, ATTEMPTS_MOST = 3 };

struct daemon_metrics {
    struct port_metrics *ports; /* the last copy */
    struct ports_version {
        uint64_t master, generation, paths, begun, rounds, lids;
    } version; /* of that copy */
    uint64_t copied_at, copy_ns;
    struct ports_copy {
        struct port_metrics *ports; /* NULL: none is being made */
        struct ports_version version;
        uint32_t *rows; /* of the copy, by port of the subnet */
        uint32_t node, port, port_count;
        unsigned attempts;
        uint64_t spent_ns;
    } copy;
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

static void drop_copy(struct ports_copy *copy)
{
    port_metrics_release(copy->ports);
    mem_free(copy->rows);
    copy->ports = NULL;
    copy->rows = NULL;
}

static struct ports_version present_version(const struct daemon *daemon)
{
    struct perf_counts counts;
    struct sm_counts smps;
    perf_counts(daemon->perf, &counts);
    sm_counts(daemon->sm, &smps);
    return (struct ports_version){
        .master = sm_state(daemon->sm) == SM_MASTER,
        .generation = sm_subnet(daemon->sm)->generation,
        .paths = sm_paths(daemon->sm).generation,
        .begun = perf_has_begun(daemon->perf), /* false: values were forgotten */
        .rounds = counts.rounds,
        .lids = smps.port_info_set, /* new LIDs, rates and states follow Sets and Gets */
    };
}

static void begin_copy(const struct daemon *daemon, struct ports_copy *copy)
{
    const struct subnet *subnet = sm_subnet(daemon->sm);
    struct perf_counts counts;
    perf_counts(daemon->perf, &counts);
    copy->version = present_version(daemon);
    copy->node = copy->port = 0;
    copy->port_count = (uint32_t)subnet->ports.count;
    copy->ports = port_metrics_new();
    copy->rows = mem_alloc(subnet->ports.count * sizeof *copy->rows + 1);
    memset(copy->rows, 0xff, subnet->ports.count * sizeof *copy->rows);
    vec_reserve(&copy->ports->ports, subnet->ports.count);
    vec_reserve(&copy->ports->values, counts.ports * COUNTER_COUNT);
    copy->attempts++;
}

/* Whether rows of the copy do not fit the subnet any more. */
static bool copy_is_outdated(const struct daemon *daemon, const struct ports_copy *copy)
{
    const struct subnet *subnet = sm_subnet(daemon->sm);
    return copy->version.generation != subnet->generation ||
           copy->port_count != subnet->ports.count ||
           copy->version.master != (sm_state(daemon->sm) == SM_MASTER) ||
           copy->version.begun != perf_has_begun(daemon->perf);
}

/* Copies ports of the nodes that are next, then links; false: not all yet. */
static bool advance_copy(const struct daemon *daemon, struct ports_copy *copy, uint32_t most)
{
    const struct subnet *subnet = sm_subnet(daemon->sm);
    struct port_metrics *metrics = copy->ports;
    uint32_t done = 0;
    for (; copy->node < subnet->nodes.count && done < most; copy->node++) {
        const struct subnet_node *node = &subnet->nodes.items[copy->node];
        done += node->port_count + 1u;
        if (node->present)
            copy_node(daemon, metrics, node, copy->rows);
    }
    if (copy->node < subnet->nodes.count)
        return false;
    for (; copy->port < copy->port_count && done < most; copy->port++, done++) {
        uint32_t peer = subnet->ports.items[copy->port].peer, *rows = copy->rows;
        if (rows[copy->port] == NO_METRIC_PORT || peer == SUBNET_NONE ||
            rows[peer] == NO_METRIC_PORT)
            continue;
        metrics->ports.items[rows[copy->port]].peer = rows[peer];
        metrics->links += peer > copy->port;
    }
    return copy->port == copy->port_count;
}

/* A standby only counts nodes and links: joins by (guid, port) fail if the ports of the master
 * appear a second time. */
static void end_copy(struct daemon_metrics *metrics)
{
    struct ports_copy *copy = &metrics->copy;
    if (!copy->version.master)
        copy->ports->devices.count = copy->ports->ports.count = 0;
    port_metrics_release(metrics->ports);
    metrics->ports = copy->ports;
    metrics->version = copy->version;
    metrics->copied_at = time_monotonic_ns();
    metrics->copy_ns = copy->spent_ns;
    copy->ports = NULL;
    drop_copy(copy);
    copy->attempts = 0;
    copy->spent_ns = 0;
}

/* False: they are not all copied yet. */
static bool update_ports(struct daemon *daemon)
{
    struct daemon_metrics *metrics = daemon->metrics;
    struct ports_copy *copy = &metrics->copy;
    uint64_t now = time_monotonic_ns();
    struct ports_version version = present_version(daemon);
    uint64_t interval = sm_is_settled(daemon->sm) ? ports_interval : change_interval;
    if (!copy->ports && metrics->ports &&
        (now < metrics->copied_at + interval ||
         memcmp(&version, &metrics->version, sizeof version) == 0))
        return true;
    if (copy->ports && copy_is_outdated(daemon, copy))
        drop_copy(copy);
    if (!copy->ports)
        begin_copy(daemon, copy);
    bool over =
        advance_copy(daemon, copy, copy->attempts < ATTEMPTS_MOST ? PORTS_IN_A_TURN : UINT32_MAX);
    copy->spent_ns += time_monotonic_ns() - now;
    if (over)
        end_copy(metrics);
    return over;
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
    response->again = !update_ports(daemon);
    if (response->again)
        return;
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
    drop_copy(&daemon->metrics->copy);
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
