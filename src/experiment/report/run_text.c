/* The record of a run as text of 80 columns, and as JSON. */
#include "experiment/report/run_text.h"

#include "base/quantity.h"
#include "base/time.h"
#include "experiment/report/drawing.h"
#include "experiment/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TIME_WIDTH = 12, WHO_WIDTH = 12, TEXT_COLUMN = TIME_WIDTH + WHO_WIDTH + 4 };
enum { LABEL = 12, AMOUNT = 11, CURVE = 80 - LABEL - AMOUNT, PICTURES = 6 };
enum { CONNECTION_ROWS = 20 };

/* ---- events and changes ---- */

void run_record_write_event(const struct run_record_event *event, struct text *out)
{
    static const char marks[] = {[RUN_RECORD_ACTION] = '>',
                                 [RUN_RECORD_EVENT] = ' ',
                                 [RUN_RECORD_ALARM] = '!',
                                 [RUN_RECORD_CHECK] = '?'};
    char time[TIME_TEXT_BYTES];
    text_printf(out, "%*s %c %-*s ", TIME_WIDTH, time_text(event->time, time), marks[event->kind],
                WHO_WIDTH, event->who);
    if (strlen(event->who) > WHO_WIDTH)
        text_printf(out, "\n%*s", TEXT_COLUMN, "");
    text_put_wrapped(out, TEXT_COLUMN, "%s", event->text);
}

static void write_change(const struct run_record_change *change, struct text *out)
{
    uint64_t routing = run_record_routing(change);
    const uint64_t times[] = {change->end - change->begin, routing - change->begin,
                              change->computing, change->end - routing - change->computing};
    char time[TIME_TEXT_BYTES];
    text_printf(out, "%12s", time_text(change->begin, time));
    for (unsigned i = 0; i < 4; i++)
        text_printf(out, " %10s",
                    change->finished ? time_text(times[i], time)
                    : i == 0         ? "given up"
                                     : "-");
    text_printf(out, " %6" PRIu64 " %6" PRIu64 " %6" PRIu64 "\n%13s", change->gets, change->sets,
                change->blocks, "");
    text_put_wrapped(out, 13, "%s: %s", change->who, change->cause);
}

/* ---- figures ---- */

static double figure(const struct run_record *record, const char *name)
{
    return results_value(&record->results, name);
}

static void put_quantity(const struct run_record *record, double value, const char *unit,
                         unsigned width, struct text *out)
{
    char text[QUANTITY_BYTES];
    quantity_text(value, unit, text);
    char *mu = strstr(text, "µ");
    if (mu && record->plain) {
        *mu = 'u';
        memmove(mu + 1, mu + strlen("µ"), strlen(mu + strlen("µ")) + 1);
    }
    text_put_padded(out, isnan(value) ? "-" : text, width, true);
}

static void put_figure(const struct run_record *record, const char *name, const char *unit,
                       unsigned width, struct text *out)
{
    put_quantity(record, figure(record, name), unit, width, out);
}

/* ---- pictures ---- */

static void write_curve(const struct run_record *record, const struct canvas *canvas,
                        const char *label, const char *name, enum curve curve, struct text *out)
{
    const struct series *found = results_find_series(&record->results, name);
    double shown = found ? drawing_amount(canvas, found, curve) : 0;
    if (!(shown > 0))
        return;
    text_printf(out, "  %-*s", LABEL - 2, label);
    put_quantity(record, shown, "", AMOUNT - 1, out);
    text_putc(out, ' ');
    drawing_curve(canvas, found, curve, out);
    text_putc(out, '\n');
}

static void write_curves(const struct run_record *record, const struct canvas *canvas,
                         struct text *out)
{
    write_curve(record, canvas, "packets/s", "accepted", CURVE_RATE, out);
    write_curve(record, canvas, "lost", "lost", CURVE_TOTAL, out);
    text_printf(out, "%*s", LABEL + AMOUNT, "");
    drawing_axis(canvas, out);
    text_putc(out, '\n');
}

static void write_phase(const struct canvas *canvas, const char *label, uint64_t from, uint64_t to,
                        struct text *out)
{
    char time[TIME_TEXT_BYTES];
    text_printf(out, "  %-*s%*s ", LABEL - 2, label, AMOUNT - 1, time_text(to - from, time));
    drawing_bar(canvas, from, to, out);
    text_putc(out, '\n');
}

static void write_picture(const struct run_record *record, size_t index, struct text *out)
{
    const struct run_record_change *change = &record->changes.items[index];
    uint64_t routing = run_record_routing(change);
    uint64_t first = change->tied ? change->fault : change->begin;
    uint64_t margin = (change->end - first) / 8 + 1;
    struct canvas canvas = {.from = first > margin ? first - margin : 0,
                            .to = change->end + margin,
                            .columns = CURVE,
                            .plain = record->plain};
    text_printf(out, "\nchange %zu of %s%s\n", index + 1, change->who,
                change->finished ? "" : " (given up)");
    if (change->tied)
        write_phase(&canvas, "detect", change->fault, change->begin, out);
    write_phase(&canvas, "discover", change->begin, routing, out);
    if (change->routed) {
        write_phase(&canvas, "compute", routing, change->routed, out);
        write_phase(&canvas, "distribute", change->routed, change->end, out);
    }
    write_curves(record, &canvas, out);
}

/* ---- tables ---- */

static void write_rates(const struct run_record *record, struct text *out)
{
    char from[TIME_TEXT_BYTES], to[TIME_TEXT_BYTES];
    if (isnan(figure(record, "window.from")))
        return;
    text_printf(out, "\nmeasured from %s to %s: %s\n\n",
                time_text((uint64_t)(figure(record, "window.from") * 1e12 + 0.5), from),
                time_text((uint64_t)(figure(record, "window.to") * 1e12 + 0.5), to),
                record->verdict ? record->verdict : "");
    text_printf(out, "%*s%20s%22s%18s\n", LABEL, "", "in all", "for each sender", "on the wire");
    text_printf(out, "  %-*s", LABEL - 2, "offered");
    put_figure(record, "offered", "packets/s", 20, out);
    put_figure(record, "offered.node", "packets/s", 22, out);
    text_printf(out, "\n  %-*s", LABEL - 2, "accepted");
    put_figure(record, "accepted", "packets/s", 20, out);
    put_figure(record, "accepted.node", "packets/s", 22, out);
    put_figure(record, "accepted.bits", "bits/s", 18, out);
    text_putc(out, '\n');
}

static void write_latency(const struct run_record *record, const char *label, const char *name,
                          struct text *out)
{
    static const char *const parts[] = {"mean", "ci", "p50", "p99", "p99.9", "max"};
    text_printf(out, "  %-*s", LABEL - 2, label);
    for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char full[64];
        snprintf(full, sizeof full, "%s.%s", name, parts[i]);
        put_figure(record, full, "s", 11, out);
    }
    text_putc(out, '\n');
}

static void write_count(const struct run_record *record, const char *label, const char *name,
                        bool always, struct text *out)
{
    double value = figure(record, name);
    if (isnan(value) || (value == 0 && !always))
        return;
    text_printf(out, "  %-*s", 22, label);
    put_quantity(record, value, "", 20, out);
    text_putc(out, '\n');
}

static void write_traffic(const struct run_record *record, struct text *out)
{
    if (isnan(figure(record, "made")))
        return;
    const struct series *accepted = results_find_series(&record->results, "accepted");
    if (accepted && accepted->points.count && accepted->points.items[0].time < record->end) {
        struct canvas canvas = {.from = accepted->points.items[0].time,
                                .to = record->end,
                                .columns = CURVE,
                                .plain = record->plain};
        text_puts(out, "\ntraffic\n");
        write_curves(record, &canvas, out);
    }
    write_rates(record, out);
    if (!isnan(figure(record, "latency.mean"))) {
        text_printf(out, "\n%*s%11s%11s%11s%11s%11s%11s\n", LABEL, "", "mean", "+/- 95 %", "p50",
                    "p99", "p99.9", "max");
        write_latency(record, "latency", "latency", out);
        write_latency(record, "in fabric", "network-latency", out);
        if (!isnan(figure(record, "message-latency.mean")))
            write_latency(record, "messages", "message-latency", out);
    }
    text_putc(out, '\n');
    write_count(record, "packets made", "made", true, out);
    write_count(record, "delivered", "delivered", true, out);
    write_count(record, "lost", "lost", true, out);
    for (size_t i = 0; i < record->results.figures.count; i++) {
        const struct figure *loss = &record->results.figures.items[i];
        char label[64];
        if (strncmp(loss->name, "lost.", 5) != 0 || strcmp(loss->unit, "packets") != 0)
            continue;
        snprintf(label, sizeof label, "  %.40s", loss->name + 5);
        write_count(record, label, loss->name, false, out);
    }
    write_count(record, "  of unaffected pairs", "unaffected.lost", true, out);
    write_count(record, "still in the fabric", "travelling", true, out);
    write_count(record, "waiting at senders", "waiting", true, out);
    write_count(record, "sent again", "retried", false, out);
    write_count(record, "without a path", "unroutable", false, out);
    write_count(record, "deadlocks", "deadlocks", false, out);
    if (figure(record, "traffic.stopped.any") > 0) {
        text_puts(out, "\n  senders stopped: ");
        put_figure(record, "traffic.stopped.any", "s", 0, out);
        text_puts(out, " at least one, ");
        put_figure(record, "traffic.stopped.all", "s", 0, out);
        text_puts(out, " all of them\n");
    }
}

/* ---- what was collected ---- */

enum { ROWS_OF_GROUP = 40 }; /* at most, of a collection divided by senders or receivers */

static void put_heading(const struct collected *first, struct text *out)
{
    static const char *const columns[][6] = {
        [COLLECTED_FIGURE] = {NULL},
        [COLLECTED_DISTRIBUTION] = {"mean", "+/- 95 %", "p50", "p99", "p99.9", "max"},
        [COLLECTED_RATE] = {"rate", "total", NULL},
    };
    size_t width = text_width(first->group ? first->group : "collected");
    text_printf(out, "\n%s", first->group ? first->group : "collected");
    if (first->form != COLLECTED_FIGURE && width >= LABEL) {
        text_putc(out, '\n');
        width = 0;
    }
    for (unsigned i = 0; i < 6 && columns[first->form][i]; i++, width = LABEL)
        text_printf(out, "%*s", i == 0 ? (int)(LABEL - width) + 11 : 11, columns[first->form][i]);
    text_putc(out, '\n');
}

/* A name that is too long for its column has a line of its own. */
static void put_row(const struct run_record *record, const struct collected *row, struct text *out)
{
    static const char *const parts[][7] = {
        [COLLECTED_FIGURE] = {"", NULL},
        [COLLECTED_DISTRIBUTION] = {".mean", ".ci", ".p50", ".p99", ".p99.9", ".max", NULL},
        [COLLECTED_RATE] = {".mean", ".total", NULL},
    };
    const char *label = row->label ? row->label : row->name;
    unsigned column = row->form == COLLECTED_FIGURE && !row->group ? 40 : LABEL;
    struct text name = {0};
    text_printf(out, "  %s", label);
    if (text_width(label) + 3 > column)
        text_printf(out, "\n%*s", (int)column, "");
    else
        text_printf(out, "%*s", (int)(column - 2 - text_width(label)), "");
    for (unsigned i = 0; parts[row->form][i]; i++) {
        text_clear(&name);
        text_printf(&name, "%s%s", row->name, parts[row->form][i]);
        const struct figure *found = results_find(&record->results, name.data);
        put_quantity(record, found ? found->value : NAN, found ? found->unit : "",
                     row->form == COLLECTED_DISTRIBUTION ? 11 : 18, out);
    }
    text_putc(out, '\n');
    text_release(&name);
}

static bool is_same_table(const struct collected *a, const struct collected *b)
{
    return a->form == b->form &&
           (a->group ? b->group && strcmp(a->group, b->group) == 0 : !b->group);
}

static void write_collected(const struct run_record *record, struct text *out)
{
    const struct collected *items = record->results.collected.items;
    size_t count = record->results.collected.count;
    for (size_t i = 0, next; i < count; i = next) {
        next = i;
        while (next < count && is_same_table(&items[i], &items[next]))
            next++;
        put_heading(&items[i], out);
        for (size_t j = i; j < next && j < i + ROWS_OF_GROUP; j++)
            put_row(record, &items[j], out);
        if (next - i > ROWS_OF_GROUP)
            text_printf(out, "  and %zu more in JSON and CSV\n", next - i - ROWS_OF_GROUP);
    }
}

/* ---- all of it ---- */

/* The machines that the scenario names, with the costs of their last move. */
static void write_machines(const struct run_record *record, struct text *out)
{
    if (record->machines.count == 0)
        return;
    text_printf(out, "\n  %-12s %6s %6s %8s %7s %11s %11s %8s\n", "machine", "LID", "moves",
                "switches", "tables", "took", "downtime", "lost");
    for (size_t i = 0; i < record->machines.count; i++) {
        const struct run_record_machine *machine = &record->machines.items[i];
        char took[TIME_TEXT_BYTES], downtime[TIME_TEXT_BYTES] = "-", lost[24] = "-";
        time_text(machine->time_ps, took);
        if (machine->has_traffic) {
            time_text(machine->downtime_ps, downtime);
            snprintf(lost, sizeof lost, "%" PRIu64, machine->lost);
        }
        text_printf(out, "  %-12.12s %6u %6u %8u %7u %11s %11s %8s\n", machine->name, machine->lid,
                    machine->moves, machine->switches, machine->table_smps, took, downtime, lost);
    }
}

static void write_connections(const struct run_record *record, struct text *out)
{
    size_t count = record->connections.count;
    if (count)
        text_printf(out, "\n  %-18s %-8s %9s %11s %9s %9s %8s\n", "connection", "", "messages",
                    "goodput", "median", "p99", "outage");
    for (size_t i = 0; i < count && i < CONNECTION_ROWS; i++) {
        const struct run_record_connection *row = &record->connections.items[i];
        text_printf(out, "  %-18.18s %-2s %-5.5s %9" PRIu64, row->name, row->service,
                    row->operation, row->messages);
        put_quantity(record, row->goodput, "bits/s", 12, out);
        put_quantity(record, time_seconds((double)row->median_ps), "s", 10, out);
        put_quantity(record, time_seconds((double)row->p99_ps), "s", 10, out);
        put_quantity(record, time_seconds((double)row->outage_ps), "s", 9, out);
        text_putc(out, '\n');
        if (row->timeouts + row->sequence_naks + row->rnr_naks)
            text_printf(out,
                        "    after %u time-outs, %u sequence NAKs and %u RNR NAKs %u packets were "
                        "sent again\n",
                        row->timeouts, row->sequence_naks, row->rnr_naks, row->resent_packets);
        if (row->reconnections)
            text_printf(out, "    it broke and was connected again %u time%s\n", row->reconnections,
                        row->reconnections == 1 ? "" : "s");
        if (row->migrations)
            text_printf(out, "    it changed to its alternate path %u time%s\n", row->migrations,
                        row->migrations == 1 ? "" : "s");
        if (row->lost)
            text_printf(out, "    %" PRIu64 " messages were lost\n", row->lost);
        if (row->broken)
            text_printf(out, "    BROKEN: %s\n", row->broken);
    }
    if (count > CONNECTION_ROWS)
        text_printf(out, "  and %zu more in JSON and CSV\n", count - CONNECTION_ROWS);
}

/* The sentence that the report begins with, too. */
static bool judge(const struct run_record *record, struct text *sentence)
{
    struct report_run report = {.record = *record, .results = record->results};
    return report_run_verdict(&report, sentence);
}

static bool is_partial(const struct run_record *record)
{
    return figure(record, "partial") > 0;
}

void run_record_write_summary(const struct run_record *record, struct text *out)
{
    struct text sentence = {0};
    char time[TIME_TEXT_BYTES];
    size_t count = record->changes.count, first = count > PICTURES ? count - PICTURES : 0;
    judge(record, &sentence);
    text_put_wrapped(out, 0, "%s", sentence.data);
    text_putc(out, '\n');
    text_release(&sentence);
    if (count) {
        text_printf(out, "\n%12s %10s %10s %10s %10s %6s %6s %6s\n", "change at", "took",
                    "discovery", "compute", "tables", "gets", "sets", "blocks");
        for (size_t i = 0; i < count; i++)
            write_change(&record->changes.items[i], out);
    }
    if (first)
        text_printf(out, "\nthe last %d of %zu changes:\n", PICTURES, count);
    for (size_t i = first; i < count; i++)
        write_picture(record, i, out);
    write_machines(record, out);
    write_connections(record, out);
    write_traffic(record, out);
    write_collected(record, out);
    if (record->checks.count) {
        text_printf(out, "\n%12s\n", "checked at");
        for (size_t i = 0; i < record->checks.count; i++) {
            const struct run_record_check *check = &record->checks.items[i];
            text_printf(out, "%12s %-7s", time_text(check->time, time),
                        check->holds ? "ok" : "FAILED");
            text_put_wrapped(out, 20, "%s%s%s%s", check->line, check->finding[0] ? " (" : "",
                             check->finding, check->finding[0] ? ")" : "");
        }
    }
    text_printf(out,
                "\n%u switches, %u adapters, %s simulated, %llu SMPs (%llu dropped by faults)\n",
                record->switches, record->adapters, time_text(record->end, time),
                (unsigned long long)record->smps, (unsigned long long)record->lost);
    unsigned failures = run_record_failures(record);
    text_printf(out, "%s%zu check%s, %u failed; seed %llu, trace %016llx\n",
                is_partial(record) ? "PARTIAL: " : "", record->checks.count,
                record->checks.count == 1 ? "" : "s", failures, (unsigned long long)record->seed,
                (unsigned long long)record->hash);
}

/* ---- for programs ---- */

void run_record_json_events(const struct run_record *record, size_t most, struct json *json)
{
    json_begin_array(json, "timeline");
    for (size_t i = 0; i < record->events.count; i++) {
        const struct run_record_event *event = &record->events.items[i];
        if (i >= most && event->kind != RUN_RECORD_ACTION && event->kind != RUN_RECORD_ALARM)
            continue;
        json_begin_object(json, NULL);
        json_unsigned(json, "time_ps", event->time);
        json_string(json, "kind", run_record_kind_names[event->kind]);
        json_string(json, "who", event->who);
        json_string(json, "text", event->text);
        json_end_object(json);
    }
    json_end_array(json);
}

void run_record_json_changes(const struct run_record *record, size_t most, struct json *json)
{
    json_begin_array(json, "changes");
    for (size_t i = 0; i < record->changes.count && i < most; i++) {
        const struct run_record_change *change = &record->changes.items[i];
        json_begin_object(json, NULL);
        json_string(json, "manager", change->who);
        json_string(json, "cause", change->cause);
        json_bool(json, "finished", change->finished);
        json_unsigned(json, "begin_ps", change->begin);
        if (change->tied)
            json_unsigned(json, "fault_ps", change->fault);
        if (change->routed) {
            json_unsigned(json, "routing_ps", run_record_routing(change));
            json_unsigned(json, "computing_ps", change->computing);
            json_unsigned(json, "routed_ps", change->routed);
        }
        json_unsigned(json, "end_ps", change->end);
        json_unsigned(json, "gets", change->gets);
        json_unsigned(json, "sets", change->sets);
        json_unsigned(json, "blocks", change->blocks);
        json_end_object(json);
    }
    json_end_array(json);
}

void run_record_json_checks(const struct run_record *record, struct json *json)
{
    json_begin_array(json, "checks");
    for (size_t i = 0; i < record->checks.count; i++) {
        const struct run_record_check *check = &record->checks.items[i];
        json_begin_object(json, NULL);
        json_unsigned(json, "line", check->number);
        json_string(json, "statement", check->line);
        json_unsigned(json, "time_ps", check->time);
        json_bool(json, "holds", check->holds);
        json_string(json, "finding", check->finding);
        json_end_object(json);
    }
    json_end_array(json);
}

void run_record_write_json(const struct run_record *record, struct text *out)
{
    struct json json = {.out = out, .pretty = true};
    json_begin_object(&json, NULL);
    json_string(&json, "scenario", record->file);
    json_unsigned(&json, "seed", record->seed);
    json_unsigned(&json, "end_ps", record->end);
    json_unsigned(&json, "switches", record->switches);
    json_unsigned(&json, "adapters", record->adapters);
    json_unsigned(&json, "smps", record->smps);
    json_unsigned(&json, "smps_lost", record->lost);
    json_unsigned(&json, "hops", record->hops);
    if (record->verdict)
        json_string(&json, "verdict", record->verdict);
    struct text sentence = {0};
    json_bool(&json, "partial", is_partial(record));
    json_bool(&json, "good", judge(record, &sentence));
    json_string(&json, "summary", sentence.data);
    text_release(&sentence);
    run_record_json_changes(record, SIZE_MAX, &json);
    run_record_json_checks(record, &json);
    json_unsigned(&json, "failed", run_record_failures(record));
    json_stringf(&json, "trace_hash", "%016llx", (unsigned long long)record->hash);
    figures_write_json(&record->results, &json);
    series_write_json(&record->results, &json);
    run_record_json_events(record, SIZE_MAX, &json);
    json_end_object(&json);
    text_putc(out, '\n');
}
