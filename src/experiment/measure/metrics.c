/* The counting side of the measurements: passes each report of the fabric to the statistics of the
 * window, the timeline and the collectors, and looks for new deadlocks every millisecond. The
 * figures made from it are in metrics_figures.c. */
#include "experiment/measure/metrics_internal.h"

#include "base/time.h"

#include <assert.h>
#include <string.h>

#define TIMELINE_WIDTH TIME_US       /* initial width of a bucket */
#define WATCH_EVERY    (TIME_MS)     /* interval of the deadlock check */
#define STEADY_EVERY   (5 * TIME_US) /* interval whose throughput is one value */

/* ---- reports of the fabric ---- */

static struct packet_keys keys_of(const struct metrics *metrics, const struct packet_view *packet)
{
    const struct collect_world *world = &metrics->world;
    bool known = packet->traffic < world->statements.count;
    return (struct packet_keys){
        {[PACKET_TRAFFIC] = known ? world->statements.items[packet->traffic] : COLLECT_ANY,
         [PACKET_SL] = packet->sl,
         [PACKET_VL] = packet->vl,
         [PACKET_SENDER] = packet->source,
         [PACKET_RECEIVER] = packet->destination}};
}

void metrics_delivered(struct metrics *metrics, uint64_t now, const struct packet_view *packet)
{
    uint64_t latency = now - packet->made, network = now - packet->entered;
    if (metrics->window.begun && !metrics->window.ended) {
        distribution_add(&metrics->latency, latency);
        distribution_add(&metrics->network, network);
        summary_add(&metrics->hops, packet->hops);
    }
    if (packet->message_bytes)
        messages_ended(&metrics->messages, now, packet, false,
                       metrics->window.begun && !metrics->window.ended);
    buckets_add(&metrics->timeline, now, TIMELINE_DELIVERED, 1);
    buckets_add(&metrics->timeline, now, TIMELINE_BITS, 8.0 * packet->bytes);
    buckets_add(&metrics->timeline, now, TIMELINE_LATENCY, (double)latency);
    struct packet_keys keys = keys_of(metrics, packet);
    for (size_t i = 0; i < metrics->collectors.count; i++)
        collector_delivered(&metrics->collectors.items[i], now, packet, &keys);
}

void metrics_lost(struct metrics *metrics, uint64_t now, const struct packet_view *packet,
                  enum loss cause, uint32_t port)
{
    if (packet->message_bytes)
        messages_ended(&metrics->messages, now, packet, true, false);
    buckets_add(&metrics->timeline, now, TIMELINE_LOST + cause, 1);
    struct packet_keys keys = keys_of(metrics, packet);
    for (size_t i = 0; i < metrics->collectors.count; i++)
        collector_lost(&metrics->collectors.items[i], now, cause, port, &keys);
}

static bool is_open(const struct metrics *metrics, uint32_t port)
{
    return metrics->open[port] && !metrics->barred[port];
}

/* A port of an adapter, or the switch port that it is cabled to: closing either stops the adapter.
 */
void metrics_port_changed(struct metrics *metrics, uint64_t now, uint32_t port, bool open)
{
    const struct topology *topology = fabric_topology(metrics->fabric);
    assert(port < topology->ports.count);
    bool at_switch = topology->nodes.items[topology->ports.items[port].node].kind == NODE_SWITCH;
    uint32_t end = at_switch ? topology->ports.items[port].peer : port;
    if (end == TOPOLOGY_NONE)
        return;
    bool before = is_open(metrics, end);
    if (at_switch)
        metrics->barred[end] = !open;
    else
        metrics->open[end] = open;
    if (is_open(metrics, end) == before)
        return;
    metrics->open_ports += before ? -1u : 1u;
    if (metrics->sends[end])
        stoppage_change(&metrics->stoppage, now, !before);
    metrics_report(metrics, now, MEASURE_OPEN, metrics->open_ports);
}

void metrics_sent_smp(struct metrics *metrics, uint64_t now, uint32_t node, unsigned method)
{
    for (size_t i = 0; i < metrics->collectors.count; i++)
        collector_sent_smp(&metrics->collectors.items[i], now, node, method);
}

void metrics_report(struct metrics *metrics, uint64_t now, enum measure what, uint64_t value)
{
    for (size_t i = 0; i < metrics->collectors.count; i++)
        collector_report(&metrics->collectors.items[i], now, what, value);
}

/* ---- life ---- */

struct metrics *metrics_new(struct fabric *fabric, const struct fabric_options *options,
                            struct run_record *record)
{
    struct metrics *metrics = mem_zalloc(1, sizeof *metrics);
    const struct topology *topology = fabric_topology(fabric);
    size_t ports = topology->ports.count;
    metrics->fabric = fabric;
    metrics->record = record;
    metrics->data_vls = mem_zalloc(topology->nodes.count + 1, sizeof *metrics->data_vls);
    for (size_t i = 0; i < topology->nodes.count; i++) {
        const struct topology_node *node = &topology->nodes.items[i];
        struct node_options own =
            fabric_options_for(options, node->name, node->description, node->kind == NODE_SWITCH);
        metrics->data_vls[i] = own.agent.data_vls;
    }
    metrics->world.fabric = fabric;
    metrics->world.data_vls = metrics->data_vls;
    metrics->sends = mem_zalloc(ports + 1, sizeof *metrics->sends);
    metrics->open = mem_zalloc(ports + 1, sizeof *metrics->open);
    metrics->barred = mem_zalloc(ports + 1, sizeof *metrics->barred);
    metrics->start = metrics->next_watch = TIME_NEVER;
    metrics->window = (struct metrics_window){.from = TIME_NEVER, .to = TIME_NEVER};
    return metrics;
}

void metrics_know_traffic(struct metrics *metrics, const struct traffic *const *traffics,
                          size_t count)
{
    metrics->world.traffics = traffics;
    metrics->world.traffic_count = count;
}

static void set_windows_of_collectors(struct metrics *metrics)
{
    for (size_t i = 0; i < metrics->collectors.count; i++)
        collector_set_window(&metrics->collectors.items[i], metrics->window.from,
                             metrics->window.to);
}

void metrics_set_window(struct metrics *metrics, uint64_t from, uint64_t to)
{
    metrics->window.given = true;
    metrics->window.from = from;
    metrics->window.to = to;
    set_windows_of_collectors(metrics);
}

void metrics_free(struct metrics *metrics)
{
    if (!metrics)
        return;
    for (size_t i = 0; i < metrics->collectors.count; i++)
        collector_release(&metrics->collectors.items[i]);
    vec_release(&metrics->collectors);
    histogram_release(&metrics->latency.histogram);
    histogram_release(&metrics->network.histogram);
    buckets_release(&metrics->timeline);
    messages_release(&metrics->messages);
    vec_release(&metrics->world.statements);
    mem_free(metrics->data_vls);
    mem_free(metrics->sends);
    mem_free(metrics->open);
    mem_free(metrics->barred);
    mem_free(metrics);
}

void metrics_collect(struct metrics *metrics, const struct collection *collection)
{
    struct collector collector;
    collector_init(&collector, collection, &metrics->world, &metrics->record->results);
    collector_set_window(&collector, metrics->window.from, metrics->window.to);
    vec_push(&metrics->collectors, collector);
}

bool metrics_set_settled(struct metrics *metrics, const struct collection *collection,
                         uint64_t settled)
{
    for (size_t i = 0; i < metrics->collectors.count; i++) {
        struct collector *collector = &metrics->collectors.items[i];
        if (collector->collection != collection)
            continue;
        collector_set_settled(collector, settled);
        return collector->from == TIME_NEVER || collector->from < collector->to;
    }
    return true;
}

static uint32_t count_closed_senders(const struct metrics *metrics)
{
    uint32_t closed = 0;
    for (size_t i = 0; i < fabric_topology(metrics->fabric)->ports.count; i++)
        closed += metrics->sends[i] && !is_open(metrics, (uint32_t)i);
    return closed;
}

void metrics_add_traffic(struct metrics *metrics, const struct traffic *traffic, uint64_t start,
                         unsigned number, uint32_t statement)
{
    *vec_at(&metrics->world.statements, number) = statement;
    for (size_t i = 0; i < traffic->senders.count; i++) {
        uint32_t port = traffic->senders.items[i];
        if (port >= DATA_VM) { /* a machine has no port of its own */
            metrics->senders++;
            continue;
        }
        metrics->senders += !metrics->sends[port];
        metrics->sends[port] = true;
    }
    metrics->any = true;
    metrics->always |= traffic->arrival == ARRIVAL_SATURATED && traffic->pattern != PATTERN_TRACE;
    if (start < metrics->start) {
        metrics->start = metrics->next_watch = start;
        buckets_release(&metrics->timeline);
        buckets_init(&metrics->timeline, start, TIMELINE_WIDTH, TIMELINE_COLUMNS);
        if (!metrics->window.given && !metrics->window.begun)
            metrics->window.from = start; /* by default the window begins with the first traffic */
        set_windows_of_collectors(metrics);
    }
    if (metrics->stoppage.counting)
        stoppage_begin(&metrics->stoppage, fabric_network_time(metrics->fabric), metrics->senders,
                       count_closed_senders(metrics));
}

bool metrics_has_traffic(const struct metrics *metrics)
{
    return metrics->any;
}

bool metrics_saw_deadlock(const struct metrics *metrics)
{
    return metrics->deadlocks > 0;
}

void metrics_stop_when_steady(struct metrics *metrics, double share)
{
    metrics->steady.share = share;
    metrics->steady.judged_at = BATCHES;
    metrics->steady.next = TIME_NEVER;
}

bool metrics_is_steady(const struct metrics *metrics)
{
    return metrics->steady.reached;
}

/* Whether the figures of the window are known. */
static bool judge_steady(const struct metrics *metrics, const struct data_totals *totals)
{
    struct steady_window window = metrics_steady_window(metrics, totals);
    enum steady_verdict verdict = steady_judge(&window);
    const struct value_distribution *latency =
        metrics->always ? &metrics->network : &metrics->latency;
    double bytes = (double)(totals->delivered_bytes - metrics->window.before.delivered_bytes);
    return verdict != STEADY_UNKNOWN && metrics_window_is_steady(metrics, verdict) &&
           steady_is_known(&latency->batches, latency->summary.mean, metrics->steady.share) &&
           steady_is_known(&metrics->steady.throughput, bytes / (double)metrics->steady.count,
                           metrics->steady.share);
}

/* A test at each interval would end a run as soon as chance makes an interval narrow. So the time
 * between tests grows with the run: each has a quarter more intervals than the last one. */
static void update_steady(struct metrics *metrics, uint64_t now)
{
    struct data_totals totals;
    if (metrics->steady.next > now || metrics->window.ended || metrics->steady.reached)
        return;
    fabric_data_totals(metrics->fabric, &totals);
    batches_add(&metrics->steady.throughput,
                (double)(totals.delivered_bytes - metrics->steady.bytes));
    metrics->steady.bytes = totals.delivered_bytes;
    metrics->steady.next = now + STEADY_EVERY;
    if (++metrics->steady.count < metrics->steady.judged_at)
        return;
    metrics->steady.judged_at += metrics->steady.judged_at / 4;
    metrics->steady.reached = judge_steady(metrics, &totals);
}

/* ---- sampling ---- */

uint64_t metrics_next(const struct metrics *metrics)
{
    const struct metrics_window *window = &metrics->window;
    uint64_t next = metrics->next_watch;
    if (metrics->any && !window->begun && window->from < next)
        next = window->from;
    if (window->begun && !window->ended && window->to < next)
        next = window->to;
    if (metrics->steady.share > 0 && window->begun && !window->ended && metrics->steady.next < next)
        next = metrics->steady.next;
    for (size_t i = 0; i < metrics->collectors.count; i++) {
        uint64_t wanted = collector_next(&metrics->collectors.items[i]);
        next = wanted < next ? wanted : next;
    }
    return next;
}

static void update_window(struct metrics *metrics, uint64_t now)
{
    struct metrics_window *window = &metrics->window;
    if (!metrics->any || window->ended)
        return;
    if (!window->begun && now >= window->from) {
        window->begun = true;
        window->begun_at = now;
        fabric_data_totals(metrics->fabric, &window->before);
        metrics->steady.bytes = window->before.delivered_bytes;
        metrics->steady.next = now + STEADY_EVERY;
    }
    if (window->begun && now >= window->to) {
        window->ended = true;
        window->ended_at = now;
        fabric_data_totals(metrics->fabric, &window->after);
    }
}

/* The fabric detects cycles of waiting packets; this function records them. */
static void record_deadlock(struct metrics *metrics, uint64_t now)
{
    struct run_record *record = metrics->record;
    struct text cycle = {0};
    if (!fabric_find_deadlock(metrics->fabric, &cycle)) {
        run_record_add_event(record, RUN_RECORD_ALARM, now, "fabric",
                             "deadlock: packets waited for each other in a cycle for a while");
    } else {
        run_record_add_event(record, RUN_RECORD_ALARM, now, "fabric",
                             "deadlock: packets wait for each other in a cycle:");
        for (char *line = cycle.data, *next; line && *line; line = next) {
            next = strchrnul(line, '\n');
            if (*next)
                *next++ = 0;
            run_record_add_event(record, RUN_RECORD_ALARM, now, "fabric", "%s", line);
        }
    }
    text_release(&cycle);
}

void metrics_update(struct metrics *metrics, uint64_t now)
{
    if (metrics->any && now >= metrics->start && !metrics->stoppage.counting)
        stoppage_begin(&metrics->stoppage, now, metrics->senders, count_closed_senders(metrics));
    update_window(metrics, now);
    if (metrics->steady.share > 0)
        update_steady(metrics, now);
    for (size_t i = 0; i < metrics->collectors.count; i++)
        while (collector_next(&metrics->collectors.items[i]) <= now)
            collector_sample(&metrics->collectors.items[i], now);
    if (now >= metrics->next_watch) {
        struct data_totals totals;
        fabric_data_totals(metrics->fabric, &totals);
        if (totals.deadlocks > metrics->deadlocks)
            record_deadlock(metrics, now);
        metrics->deadlocks = totals.deadlocks;
        metrics->next_watch = now + WATCH_EVERY;
    }
}

void metrics_fault(struct metrics *metrics, uint64_t now)
{
    if (metrics && metrics->any)
        recovery_fault(&metrics->recovery, now, metrics->fabric);
}

void metrics_settled(struct metrics *metrics, uint64_t now)
{
    if (metrics && metrics->any)
        recovery_settled(&metrics->recovery, now, metrics->fabric);
}

void metrics_publish_collected(struct metrics *metrics, uint64_t now)
{
    for (size_t i = 0; i < metrics->collectors.count; i++)
        collector_publish(&metrics->collectors.items[i], now);
}
