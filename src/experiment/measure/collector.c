/* Turns counters, gauges, levels, packets and events into the points of a series or into one
 * figure. Counters are read at sample times, and packets and events are counted as they are
 * reported; rates are differences divided by time. */
#include "experiment/measure/collector.h"

#include "base/time.h"

#include <math.h>

enum { SAMPLES_A_BUCKET = 10 };

static bool is_counter(const struct collector *collector)
{
    return measure_counts(collector->collection->what);
}

/* ---- reading values ---- */

static uint64_t read_vl(const struct collector *collector, uint32_t port, unsigned vl)
{
    struct vl_view view = fabric_vl(collector->fabric, port, vl);
    switch (collector->collection->what) {
    case MEASURE_SENT:
    case MEASURE_RECEIVED: return view.sent_packets;
    case MEASURE_SENT_BITS:
    case MEASURE_RECEIVED_BITS: return 8 * view.sent_bytes;
    case MEASURE_INPUT: return view.input_bytes;
    case MEASURE_OUTPUT: return view.output_bytes;
    case MEASURE_CREDITS: return view.credit_blocks > 0 ? (uint64_t)view.credit_blocks : 0;
    default: return 0;
    }
}

/* A port receives what its peer has sent. */
static uint64_t read_port(const struct collector *collector, uint32_t port)
{
    const struct topology *topology = fabric_topology(collector->fabric);
    const struct collection *collection = collector->collection;
    uint32_t peer = topology->ports.items[port].peer;
    uint64_t sum = 0;
    if (peer == TOPOLOGY_NONE)
        return 0;
    if (collection->what == MEASURE_UTILISATION)
        return fabric_busy_ps(collector->fabric, port);
    if (collection->what == MEASURE_RECEIVED || collection->what == MEASURE_RECEIVED_BITS)
        port = peer;
    if (collection->vl != COLLECT_ANY)
        return read_vl(collector, port, collection->vl);
    unsigned data_vls = collector->world->data_vls[topology->ports.items[port].node];
    for (unsigned vl = 0; vl < data_vls; vl++)
        sum += read_vl(collector, port, vl);
    return sum;
}

/* The sum over ports; for a share the mean over ports with a cable. */
static uint64_t read_ports(const struct collector *collector, uint32_t first, uint32_t last)
{
    const struct topology *topology = fabric_topology(collector->fabric);
    uint64_t sum = 0, cables = 0;
    for (uint32_t port = first; port <= last; port++) {
        cables += topology->ports.items[port].peer != TOPOLOGY_NONE;
        sum += read_port(collector, port);
    }
    return collector->collection->what == MEASURE_UTILISATION && cables ? sum / cables : sum;
}

static uint64_t read_place(const struct collector *collector)
{
    const struct topology *topology = fabric_topology(collector->fabric);
    const struct collection *collection = collector->collection;
    if (collection->port != TOPOLOGY_NONE)
        return read_port(collector, collection->port);
    if (collection->node == TOPOLOGY_NONE)
        return read_ports(collector, 0, (uint32_t)topology->ports.count - 1);
    const struct topology_node *node = &topology->nodes.items[collection->node];
    return read_ports(collector, node->first_port, node->first_port + node->port_count);
}

/* Packets made by the senders and the traffic of a statement. */
static uint64_t read_made(const struct collector *collector)
{
    const struct collect_limit *limits = collector->collection->limits;
    const struct collect_limit *traffic = &limits[PACKET_TRAFFIC];
    const struct collect_limit *sender = &limits[PACKET_SENDER];
    const struct collect_world *world = collector->world;
    uint64_t made = 0;
    for (uint32_t number = 0; number < world->statements.count; number++)
        if (world->statements.items[number] >= traffic->first &&
            world->statements.items[number] <= traffic->last)
            made += fabric_packets_made(collector->fabric, number, sender->first, sender->last);
    return made;
}

static uint64_t read_totals(const struct collector *collector)
{
    struct data_totals totals;
    if (collector->collection->what == MEASURE_MADE)
        return read_made(collector);
    fabric_data_totals(collector->fabric, &totals);
    switch (collector->collection->what) {
    case MEASURE_UNROUTABLE: return totals.unroutable;
    case MEASURE_RETRIED: return totals.retried;
    case MEASURE_WAITING: return totals.waiting;
    case MEASURE_TRAVELLING: return totals.travelling;
    default: return 0;
    }
}

static uint64_t read_value(const struct collector *collector)
{
    switch (collector->info->kind) {
    case MEASURE_OF_PACKETS: return collector->latest;
    case MEASURE_OF_EVENTS: return collector->count;
    case MEASURE_LEVEL: return collector->level;
    case MEASURE_COUNTER:
    case MEASURE_GAUGE: break;
    }
    return collector->info->places == PLACE_FABRIC ? read_totals(collector) : read_place(collector);
}

/* ---- sampling ---- */

/* Two buckets become one with the mean of both; of two samples the later one stays. The time of a
 * point is its end. */
static void halve_series(struct collector *collector)
{
    struct series *series = &collector->results->series.items[collector->series];
    struct point *points = series->points.items;
    bool means = collector->collection->how == COLLECT_BUCKETS;
    series->points.count /= 2;
    for (size_t i = 0; i < series->points.count; i++) {
        double mean = (points[2 * i].value + points[2 * i + 1].value) / 2;
        points[i] = points[2 * i + 1];
        points[i].value = means ? mean : points[i].value;
    }
    collector->step *= 2;
}

static void add_point(struct collector *collector, uint64_t now, double value)
{
    results_add_point(collector->results, collector->series, now, value);
    if (collector->results->series.items[collector->series].points.count == SERIES_POINTS)
        halve_series(collector);
}

/* Counted integers for one unit of a sample; counters become rates. */
static double sample_scale(const struct collector *collector)
{
    if (!is_counter(collector))
        return collector->info->scale;
    return collector->collection->what == MEASURE_UTILISATION ? 1e9 : 1;
}

static double rate_between(const struct collector *collector, uint64_t from, uint64_t to,
                           uint64_t time)
{
    return time ? (double)(to - from) / collector->info->scale / ((double)time / 1e12) : 0;
}

static void add_value(struct collector *collector, double value)
{
    uint64_t integer = value <= 0 ? 0 : (uint64_t)(value + 0.5);
    enum collect_how how = collector->collection->how;
    summary_add(&collector->values.summary, integer);
    if (how == COLLECT_PERCENTILE || how == COLLECT_SUMMARY)
        histogram_add(&collector->values.histogram, integer);
    if (how == COLLECT_INTERVAL || how == COLLECT_SUMMARY)
        batches_add(&collector->values.batches, value);
}

static void sample_packets(struct collector *collector, uint64_t now)
{
    double scale = collector->info->scale;
    if (collector->collection->how == COLLECT_SAMPLES && collector->fresh)
        add_point(collector, now, (double)collector->latest / scale);
    if (collector->collection->how == COLLECT_BUCKETS && collector->summed)
        add_point(collector, now, collector->sum / (double)collector->summed / scale);
    collector->fresh = false;
    collector->sum = 0;
    collector->summed = 0;
}

static void sample_counter(struct collector *collector, uint64_t now)
{
    uint64_t value = read_value(collector);
    double rate = rate_between(collector, collector->last, value, collector->step);
    bool share = collector->collection->what == MEASURE_UTILISATION;
    if (!collect_is_series(collector->collection->how))
        add_value(collector, rate * sample_scale(collector));
    else if (collector->collection->how == COLLECT_SAMPLES && !share)
        add_point(collector, now, (double)value);
    else
        add_point(collector, now, rate);
    collector->last = value;
}

static void sample_level(struct collector *collector, uint64_t now)
{
    double value = (double)read_value(collector);
    if (!collect_is_series(collector->collection->how)) {
        add_value(collector, value);
    } else if (collector->collection->how == COLLECT_SAMPLES) {
        add_point(collector, now, value);
    } else {
        collector->sum += value;
        if (++collector->samples < SAMPLES_A_BUCKET)
            return;
        add_point(collector, now, collector->sum / SAMPLES_A_BUCKET);
        collector->sum = 0;
        collector->samples = 0;
    }
}

/* ---- sample times ---- */

uint64_t collector_next(const struct collector *collector)
{
    if (!collector->begun)
        return collector->from;
    if (collector->ended)
        return TIME_NEVER;
    return collector->step && collector->next < collector->to ? collector->next : collector->to;
}

void collector_sample(struct collector *collector, uint64_t now)
{
    for (size_t i = 0; i < collector->parts.count; i++)
        collector_sample(collector->parts.items[i], now);
    if (!collector->begun && now >= collector->from) {
        collector->begun = true;
        collector->begun_at = now;
        collector->base = collector->last = read_value(collector);
        collector->next = now + collector->step;
    }
    if (!collector->begun || collector->ended)
        return;
    if (collector->step && now >= collector->next) {
        if (collector_is_divided(collector))
            ; /* the parts have the values */
        else if (collector->info->kind == MEASURE_OF_PACKETS)
            sample_packets(collector, now);
        else if (is_counter(collector))
            sample_counter(collector, now);
        else
            sample_level(collector, now);
        collector->next += collector->step;
    }
    if (now >= collector->to) {
        collector->final = read_value(collector);
        collector->ended_at = now;
        collector->ended = true;
    }
}

/* ---- reports of the fabric ---- */

static bool is_active(const struct collector *collector)
{
    return collector->begun && !collector->ended;
}

static bool covers_port(const struct collector *collector, uint32_t port)
{
    const struct collection *collection = collector->collection;
    if (collection->port != TOPOLOGY_NONE)
        return port == collection->port;
    const struct topology *topology = fabric_topology(collector->fabric);
    return collection->node == TOPOLOGY_NONE ||
           (port < topology->ports.count && topology->ports.items[port].node == collection->node);
}

static void add_packet(struct collector *collector, uint64_t now, uint64_t value)
{
    collector->latest = value;
    collector->fresh = true;
    switch (collector->collection->how) {
    case COLLECT_ALL: add_point(collector, now, (double)value / collector->info->scale); break;
    case COLLECT_SAMPLES: break;
    case COLLECT_BUCKETS:
        collector->sum += (double)value;
        collector->summed++;
        break;
    default: add_value(collector, (double)value); break;
    }
}

static void add_events(struct collector *collector, uint64_t now, uint64_t amount)
{
    collector->count += amount;
    if (collector->collection->how == COLLECT_ALL)
        add_point(collector, now, (double)collector->count);
}

static bool covers_keys(const struct collector *collector, const struct packet_keys *keys)
{
    const struct collect_limit *limits = collector->collection->limits;
    for (unsigned key = 0; key < PACKET_KEYS; key++)
        if (keys->values[key] < limits[key].first || keys->values[key] > limits[key].last)
            return false;
    return true;
}

void collector_delivered(struct collector *collector, uint64_t now,
                         const struct packet_view *packet, const struct packet_keys *keys)
{
    if (!is_active(collector) || !covers_port(collector, packet->destination) ||
        !covers_keys(collector, keys))
        return;
    if (collector_is_divided(collector)) {
        collector_delivered(division_part(collector, keys), now, packet, keys);
        return;
    }
    switch (collector->collection->what) {
    case MEASURE_LATENCY: add_packet(collector, now, now - packet->made); break;
    case MEASURE_NETWORK_LATENCY: add_packet(collector, now, now - packet->entered); break;
    case MEASURE_HOPS: add_packet(collector, now, packet->hops); break;
    case MEASURE_DELIVERED:
    case MEASURE_THROUGHPUT: add_events(collector, now, 1); break;
    case MEASURE_DELIVERED_BITS: add_events(collector, now, 8ull * packet->bytes); break;
    case MEASURE_DELIVERED_PAYLOAD: add_events(collector, now, 8ull * packet->payload_bytes); break;
    default: break;
    }
}

void collector_lost(struct collector *collector, uint64_t now, enum loss cause, uint32_t port,
                    const struct packet_keys *keys)
{
    const struct collection *collection = collector->collection;
    if (collection->what != MEASURE_LOST || !is_active(collector) ||
        !covers_port(collector, port) || !covers_keys(collector, keys) ||
        (collection->part != COLLECT_ANY && collection->part != cause))
        return;
    if (collector_is_divided(collector)) {
        collector_lost(division_part(collector, keys), now, cause, port, keys);
        return;
    }
    add_events(collector, now, 1);
}

void collector_sent_smp(struct collector *collector, uint64_t now, uint32_t node, unsigned method)
{
    const struct collection *collection = collector->collection;
    if (collection->what == MEASURE_SMPS && is_active(collector) &&
        (collection->node == TOPOLOGY_NONE || collection->node == node) &&
        (collection->part == COLLECT_ANY || collection->part == method))
        add_events(collector, now, 1);
}

void collector_report(struct collector *collector, uint64_t now, enum measure what, uint64_t value)
{
    if (collector->collection->what != what)
        return;
    if (measures[what].kind == MEASURE_LEVEL)
        collector->level = value;
    if (!is_active(collector))
        return;
    if (measures[what].kind == MEASURE_OF_PACKETS)
        add_packet(collector, now, value);
    else if (measures[what].kind == MEASURE_OF_EVENTS)
        add_events(collector, now, value);
    else if (collector->collection->how == COLLECT_ALL)
        add_point(collector, now, (double)value);
}

/* ---- life and figures ---- */

static void make_series(struct collector *collector)
{
    const struct collection *collection = collector->collection;
    char unit[32];
    bool rate = measure_counts(collection->what) && collection->how == COLLECT_BUCKETS &&
                collection->what != MEASURE_UTILISATION;
    snprintf(unit, sizeof unit, "%s%s", collector->info->unit, rate ? "/s" : "");
    collector->series = results_series(collector->results, collection->name, unit);
}

void collector_init(struct collector *collector, const struct collection *collection,
                    const struct collect_world *world, struct results *results)
{
    bool series = collect_is_series(collection->how);
    *collector = (struct collector){.collection = collection,
                                    .info = &measures[collection->what],
                                    .world = world,
                                    .fabric = world->fabric,
                                    .results = results,
                                    .from = moment_time(&collection->from, TIME_NEVER),
                                    .to = moment_time(&collection->to, TIME_NEVER),
                                    .step = collection->every};
    if (series && collection->from.ps == TIME_NEVER)
        collector->from = 0;
    enum measure_kind kind = collector->info->kind;
    if (collection->how == COLLECT_BUCKETS && (kind == MEASURE_GAUGE || kind == MEASURE_LEVEL))
        collector->step =
            collection->every < SAMPLES_A_BUCKET ? 1 : collection->every / SAMPLES_A_BUCKET;
    if (collector_is_divided(collector)) {
        collector->group = collection->name;
        if (collection->called)
            collector->group = arena_printf(&results->arena, "%s by %s", collection->name,
                                            packet_key_names[collection->by]);
        division_make(collector);
    } else if (series) {
        make_series(collector);
    }
}

void collector_release(struct collector *collector)
{
    for (size_t i = 0; i < collector->parts.count; i++) {
        collector_release(collector->parts.items[i]);
        mem_free(collector->parts.items[i]);
    }
    vec_release(&collector->parts);
    map_release(&collector->part_of);
    histogram_release(&collector->values.histogram);
}

void collector_set_window(struct collector *collector, uint64_t from, uint64_t to)
{
    const struct collection *collection = collector->collection;
    for (size_t i = 0; i < collector->parts.count; i++)
        collector_set_window(collector->parts.items[i], from, to);
    if (collect_is_series(collection->how) || collector->begun)
        return;
    if (collection->from.ps == TIME_NEVER)
        collector->from = from;
    if (collection->to.ps == TIME_NEVER)
        collector->to = to;
}

void collector_set_settled(struct collector *collector, uint64_t settled)
{
    for (size_t i = 0; i < collector->parts.count; i++)
        collector_set_settled(collector->parts.items[i], settled);
    if (collector->collection->from.settled)
        collector->from = moment_time(&collector->collection->from, settled);
    if (collector->collection->to.settled)
        collector->to = moment_time(&collector->collection->to, settled);
}

static double figure_of_values(const struct collector *collector)
{
    const struct value_distribution *values = &collector->values;
    const struct summary *summary = &values->summary;
    double scale = sample_scale(collector);
    switch (collector->collection->how) {
    case COLLECT_MEAN: return summary->mean / scale;
    case COLLECT_MIN: return (double)summary->min / scale;
    case COLLECT_MAX: return (double)summary->max / scale;
    case COLLECT_DEVIATION: return summary_deviation(summary) / scale;
    case COLLECT_INTERVAL: return batches_half_width(&values->batches) / scale;
    case COLLECT_PERCENTILE:
        return (double)histogram_percentile(&values->histogram, collector->collection->percent) /
               scale;
    default: return NAN;
    }
}

/* Adds it once to the list of what was collected. */
static void list(struct collector *collector, const char *name, enum collected_form form)
{
    struct collected one = {
        .name = name, .group = collector->group, .label = collector->label, .form = form};
    if (collector->listed)
        return;
    collector->listed = true;
    vec_push(&collector->results->collected, one);
}

static double total_of(const struct collector *collector)
{
    uint64_t last = collector->ended ? collector->final : read_value(collector);
    return (double)(last - collector->base);
}

static double rate_of(const struct collector *collector, uint64_t now)
{
    uint64_t last = collector->ended ? collector->final : read_value(collector);
    uint64_t end = collector->ended ? collector->ended_at : now;
    return rate_between(collector, collector->base, last, end - collector->begun_at);
}

static void set_part(struct collector *collector, const char *part, double value, const char *unit)
{
    struct text name = {0};
    text_printf(&name, "%s.%s", collector->collection->name, part);
    results_set(collector->results, name.data, value, unit);
    text_release(&name);
}

static void publish_summary(struct collector *collector, uint64_t now, const char *rate_unit)
{
    const char *unit = collector->info->unit, *name = collector->collection->name;
    bool share = collector->collection->what == MEASURE_UTILISATION;
    if (is_counter(collector)) {
        set_part(collector, "mean", rate_of(collector, now), rate_unit);
        if (!share)
            set_part(collector, "total", total_of(collector), unit);
        if (share) /* busy time in all says nothing */
            list(collector, arena_printf(&collector->results->arena, "%s.mean", name),
                 COLLECTED_FIGURE);
        else
            list(collector, name, COLLECTED_RATE);
        return;
    }
    set_part(collector, "count", (double)collector->values.summary.count, "");
    if (collector->values.summary.count)
        results_set_distribution(collector->results, name, &collector->values,
                                 sample_scale(collector), unit);
    list(collector, name, COLLECTED_DISTRIBUTION);
}

void collector_publish(struct collector *collector, uint64_t now)
{
    const struct collection *collection = collector->collection;
    bool total = collection->how == COLLECT_TOTAL;
    char unit[32];
    double value;
    if (collection->by == PACKET_SL || collection->by == PACKET_VL) { /* in order */
        for (uint32_t key = 0, found; key < 16; key++)
            if ((found = map_get(&collector->part_of, key)) != MAP_NONE)
                collector_publish(collector->parts.items[found], now);
    } else {
        for (size_t i = 0; i < collector->parts.count; i++)
            collector_publish(collector->parts.items[i], now);
    }
    if (collect_is_series(collection->how) || !collector->begun || collector_is_divided(collector))
        return;
    bool rate = is_counter(collector) && !total && collection->what != MEASURE_UTILISATION;
    snprintf(unit, sizeof unit, "%s%s", collector->info->unit, rate ? "/s" : "");
    if (collection->how == COLLECT_SUMMARY) {
        publish_summary(collector, now, unit);
        return;
    }
    if (is_counter(collector) && (total || collection->how == COLLECT_MEAN))
        value = total ? total_of(collector) : rate_of(collector, now);
    else if (collector->values.summary.count)
        value = figure_of_values(collector);
    else
        return;
    results_set(collector->results, collection->name, value, unit);
    list(collector, collection->name, COLLECTED_FIGURE);
}
