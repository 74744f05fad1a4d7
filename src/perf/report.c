/* Prints counters and rankings, as text or as JSON from the same code (base/record.h). The commands
 * that ask for these reports are in perf/commands.c. */
#include "perf/report.h"

#include "base/record.h"
#include "subnet/names.h"

#include <string.h>

enum { COLUMN = 18 }; /* of a port's name */

/* A port and its node, as printed. */
struct port_place {
    const char *node;
    uint64_t guid;
    unsigned number;
};

struct counter_row {
    uint32_t node, peer_node; /* of the subnet; SUBNET_NONE: no peer */
    uint8_t number, peer_number;
    struct port_counters counters;
    struct history_sample hour; /* of a report of one node */
};

struct counter_snapshot {
    uint64_t now;
    bool alone; /* of one port */
    bool hour;  /* rows have the last hour */
    VEC(struct counter_row) rows;
    VEC(uint64_t) guids;     /* by node of the subnet */
    VEC(const char *) names; /* the same */
    struct arena memory;
};

/* ---- snapshots ---- */

static void add_row(struct counter_snapshot *snapshot, const struct perf *perf,
                    const struct subnet *subnet, uint32_t port)
{
    const struct port_counters *counters = perf_port_counters(perf, port);
    const struct subnet_port *p = &subnet->ports.items[port];
    if (!counters || !perf_reads_port(perf, subnet, port))
        return;
    struct counter_row row = {.node = p->node,
                              .number = p->number,
                              .peer_node = subnet->ports.items[p->peer].node,
                              .peer_number = subnet->ports.items[p->peer].number,
                              .counters = *counters};
    if (snapshot->hour)
        row.hour = history_sum(perf_port_history(perf, port), snapshot->now);
    vec_push(&snapshot->rows, row);
}

struct counter_snapshot *counter_snapshot_take(const struct perf *perf, const struct subnet *subnet,
                                               uint64_t now, uint32_t node, unsigned number)
{
    struct counter_snapshot *snapshot = mem_zalloc(1, sizeof *snapshot);
    snapshot->now = now;
    snapshot->alone = number != 0;
    snapshot->hour = node != SUBNET_NONE;
    for (uint32_t i = 0; i < subnet->nodes.count; i++) {
        const struct subnet_node *of = &subnet->nodes.items[i];
        vec_push(&snapshot->guids, of->guid);
        vec_push(&snapshot->names, arena_strdup(&snapshot->memory, subnet_node_label(subnet, of)));
        for (unsigned n = 1; (node == SUBNET_NONE || node == i) && n <= of->port_count; n++)
            if (!number || n == number)
                add_row(snapshot, perf, subnet, of->first_port + n);
    }
    return snapshot;
}

void counter_snapshot_free(struct counter_snapshot *snapshot)
{
    if (!snapshot)
        return;
    vec_release(&snapshot->rows);
    vec_release(&snapshot->guids);
    vec_release(&snapshot->names);
    arena_release(&snapshot->memory);
    mem_free(snapshot);
}

/* ---- counters ---- */

static struct port_place place_in(const struct counter_snapshot *snapshot, uint32_t node,
                                  unsigned number)
{
    return (struct port_place){snapshot->names.items[node], snapshot->guids.items[node], number};
}

/* "leaf12/7" in a column. */
static void put_place(struct record *record, const char *prefix, const struct port_place *place)
{
    char key[32], text[300];
    struct text cell = {0};
    snprintf(key, sizeof key, "%snode", prefix);
    record_string(record, key, NULL, place->node);
    snprintf(key, sizeof key, "%sguid", prefix);
    record_guid(record, key, NULL, place->guid);
    snprintf(key, sizeof key, "%sport", prefix);
    record_number(record, key, NULL, place->number);
    if (record->as_json)
        return;
    if (*place->node)
        snprintf(text, sizeof text, "%s/%u", place->node, place->number);
    else
        snprintf(text, sizeof text, "0x%016llx/%u", (unsigned long long)place->guid, place->number);
    text_put_shortened(&cell, text, COLUMN);
    text_put_padded(record->out, cell.data, COLUMN, false);
    text_release(&cell);
}

static void put_hour(struct record *record, const struct history_sample *hour)
{
    double seconds = hour->covered_ms / 1e3, per = seconds > 0 ? seconds : 1;
    record_begin(record, "hour");
    record_real(record, "seconds", "the last %.0f s:", seconds);
    record_real(record, "transmit_bits_per_second", NULL, hour->transmit_bytes * 8 / per);
    record_real(record, "receive_bits_per_second", NULL, hour->receive_bytes * 8 / per);
    record_text(record, " %.3f Gb/s out, %.3f Gb/s in", hour->transmit_bytes * 8e-9 / per,
                hour->receive_bytes * 8e-9 / per);
    record_real(record, "transmit_packets_per_second", NULL, hour->transmit_packets / per);
    record_real(record, "receive_packets_per_second", NULL, hour->receive_packets / per);
    record_real(record, "transmit_wait", ", %.0f ticks of wait", hour->wait_ticks);
    record_number(record, "errors", ", %llu errors", hour->errors);
    record_number(record, "discards", ", %llu discards\n", hour->discards);
    record_end(record);
}

/* All counters of a port. As text: a line for each, if it is the only port. */
static void put_counters(struct record *record, const struct counter_snapshot *snapshot,
                         const struct port_counters *counters)
{
    bool lines = snapshot->alone && !record->as_json;
    if (lines)
        record_text(record, "  %-30s %20s %16s\n", "COUNTER", "TOTAL", "PER SECOND");
    record_begin(record, "totals");
    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        const struct port_counter_info *info = &port_counter_infos[i];
        if (!port_counter_is_known(counters, i))
            continue;
        record_number(record, info->metric, NULL, counters->value[i]);
        if (lines)
            record_text(record, "  %-30s %20llu %16.1f%s%s\n", info->name,
                        (unsigned long long)counters->value[i], port_counter_rate(counters, i),
                        info->unit > 1 ? " bytes" : "",
                        counters->stuck >> i & 1 ? " at the largest value" : "");
    }
    record_end(record);
    record_begin(record, "rates");
    for (unsigned i = 0; i < COUNTER_COUNT; i++)
        if (port_counter_is_known(counters, i))
            record_real(record, port_counter_infos[i].metric, NULL, port_counter_rate(counters, i));
    record_end(record);
}

static void put_row(struct record *record, const struct counter_snapshot *snapshot,
                    const struct counter_row *row)
{
    const struct port_counters *counters = &row->counters;
    struct port_place place = place_in(snapshot, row->node, row->number);
    struct port_place peer = place_in(snapshot, row->peer_node, row->peer_number);
    struct history_sample last = history_sample_of(counters);
    record_begin(record, NULL);
    put_place(record, "", &place);
    record_text(record, " ");
    put_place(record, "peer_", &peer);
    record_real(record, "age_seconds", NULL,
                (double)(snapshot->now - counters->read_at) / NS_PER_S);
    record_real(record, "interval_seconds", NULL, (double)counters->interval_ns / NS_PER_S);
    record_number(record, "resets", NULL, counters->resets);
    record_flag(record, "stuck", NULL, counters->stuck != 0);
    record_text(record, " %9.3f %9.3f %10u %9u%s\n",
                port_counter_rate(counters, COUNTER_TRANSMIT_DATA) * 8e-9,
                port_counter_rate(counters, COUNTER_RECEIVE_DATA) * 8e-9, last.errors,
                last.discards, counters->stuck ? " *" : "");
    if (snapshot->alone || record->as_json)
        put_counters(record, snapshot, counters);
    if (snapshot->hour && (snapshot->alone || record->as_json))
        put_hour(record, &row->hour);
    record_end(record);
}

void counter_snapshot_print(const struct counter_snapshot *snapshot, bool json, struct text *out)
{
    struct record record = record_to(out, json, false);
    bool stuck = false;
    record_text(&record, "%-*s %-*s %9s %9s %10s %9s\n", COLUMN, "PORT", COLUMN, "PEER", "OUT Gb/s",
                "IN Gb/s", "NEW ERRORS", "DISCARDS");
    record_begin_list(&record, NULL);
    for (size_t i = 0; i < snapshot->rows.count; i++) {
        put_row(&record, snapshot, &snapshot->rows.items[i]);
        stuck |= snapshot->rows.items[i].counters.stuck != 0;
    }
    record_end_list(&record);
    if (stuck)
        record_text(&record, "* a counter is at its largest value and counts no further\n");
}

/* ---- top ---- */

static struct port_place place_of(const struct subnet *subnet, uint32_t port)
{
    const struct subnet_port *p = &subnet->ports.items[port];
    const struct subnet_node *node = &subnet->nodes.items[p->node];
    return (struct port_place){subnet_node_label(subnet, node), node->guid, p->number};
}

static void put_summary(struct record *record, const struct perf *perf, uint64_t now, double sent)
{
    struct perf_counts counts;
    perf_counts(perf, &counts);
    double age =
        counts.began_at ? (double)(now - counts.began_at - counts.duration_ns) / NS_PER_S : 0;
    record_number(record, "rounds", NULL, counts.rounds);
    record_number(record, "ports", "%llu ports", counts.ports);
    record_real(record, "round_seconds", " read in %.2f s", (double)counts.duration_ns / NS_PER_S);
    record_real(record, "age_seconds", ", %.0f s ago", age);
    record_number(record, "requests", NULL, counts.requests);
    record_number(record, "time_outs", "; %llu time-outs", counts.timeouts);
    record_number(record, "silent_nodes", ", %llu silent nodes", counts.silent_nodes);
    record_real(record, "adapters_send_bits_per_second", NULL, sent * 8);
    record_text(record, "\nadapters send %.3f Gb/s\n", sent * 8e-9);
}

static void put_stages(struct record *record, const struct subnet *subnet,
                       const struct stage *stages, size_t count)
{
    record_text(record, "\n%-9s %6s %10s %9s %9s  %s\n", "STAGE", "LINKS", "MEAN LOAD", "MAX LOAD",
                "MAX/MEAN", "BUSIEST");
    record_begin_list(record, "stages");
    for (size_t i = 0; i < count; i++) {
        const struct stage *stage = &stages[i];
        struct port_place busiest = place_of(subnet, stage->busiest);
        record_begin(record, NULL);
        record_number(record, "from_level", "%4llu", stage->from);
        record_number(record, "to_level", " > %-2llu", stage->to);
        record_number(record, "links", " %6llu", stage->links);
        record_real(record, "mean_load", NULL, stage->mean);
        record_real(record, "max_load", NULL, stage->max);
        record_text(record, " %8.2f %% %7.2f %%", stage->mean * 100, stage->max * 100);
        record_real(record, "imbalance", " %9.2f  ", stage_imbalance(stage));
        put_place(record, "busiest_", &busiest);
        record_text(record, "\n");
        record_end(record);
    }
    record_end_list(record);
}

static void put_load(struct record *record, const struct subnet *subnet,
                     const struct port_load *load)
{
    struct port_place place = place_of(subnet, load->port);
    struct port_place peer = place_of(subnet, subnet->ports.items[load->port].peer);
    record_begin(record, NULL);
    put_place(record, "", &place);
    record_text(record, " ");
    put_place(record, "peer_", &peer);
    record_real(record, "transmit_bits_per_second", NULL, load->transmit * 8);
    record_real(record, "receive_bits_per_second", NULL, load->receive * 8);
    record_text(record, " %7.2f %7.2f", load->transmit * 8e-9, load->receive * 8e-9);
    record_real(record, "load", NULL, load->load);
    record_real(record, "wait", NULL, load->wait);
    record_text(record, " %5.1f %5.1f", load->load * 100, load->wait * 100);
    record_number(record, "errors", " %6llu", load->errors);
    record_number(record, "discards", " %6llu\n", load->discards);
    record_end(record);
}

void top_print(const struct perf *perf, const struct subnet *subnet, uint64_t now,
               const struct top_options *options, bool json, struct text *out)
{
    struct record record = record_to(out, json, false);
    struct stage stages[STAGES_MOST];
    double sent = 0;
    struct port_load *rows = mem_zalloc(options->rows, sizeof *rows);
    size_t stage_count = ranking_stages(perf, subnet, now, options->hour, stages, &sent);
    size_t count =
        ranking_make(perf, subnet, now, options->key, options->hour, rows, options->rows);
    record_begin(&record, NULL);
    put_summary(&record, perf, now, sent);
    put_stages(&record, subnet, stages, stage_count);
    record_string(&record, "sort", "\nports by %s", rank_key_names[options->key]);
    record_string(&record, "period", " in the last %s\n", options->hour ? "hour" : "interval");
    record_text(&record, "%-*s %-*s %7s %7s %5s %5s %6s %6s\n", COLUMN, "PORT", COLUMN, "PEER",
                "Gb/s", "IN", "LOAD%", "WAIT%", "ERRORS", "DISC.");
    record_begin_list(&record, "rows");
    for (size_t i = 0; i < count; i++)
        put_load(&record, subnet, &rows[i]);
    record_end_list(&record);
    record_end(&record);
    mem_free(rows);
}
