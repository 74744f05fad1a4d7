#include "experiment/report/run_text.h"

#include "base/time.h"
#include "experiment/report/run_text_traffic.h"
#include "experiment/report/series_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 80, TIME_WIDTH = 12, WHO_WIDTH = 12, TEXT_COLUMN = TIME_WIDTH + WHO_WIDTH + 4 };

/* ---- for people ---- */

void run_record_write_event(const struct run_record_event *event, struct text *out)
{
    static const char marks[] = {[RUN_RECORD_ACTION] = '>',
                                 [RUN_RECORD_EVENT] = ' ',
                                 [RUN_RECORD_ALARM] = '!',
                                 [RUN_RECORD_CHECK] = '?'};
    char time[TIME_TEXT_BYTES];
    text_printf(out, "%*s %c %-*s ", TIME_WIDTH, time_text(event->time, time), marks[event->kind],
                WHO_WIDTH, event->who);
    unsigned column = TEXT_COLUMN;
    if (strlen(event->who) > WHO_WIDTH)
        text_printf(out, "\n%*s", (int)column, "");
    text_put_wrapped(out, column, "%s", event->text);
}

static void write_change(const struct run_record_change *change, struct text *out)
{
    char at[TIME_TEXT_BYTES], took[TIME_TEXT_BYTES], discovery[TIME_TEXT_BYTES],
        compute[TIME_TEXT_BYTES], tables[TIME_TEXT_BYTES];
    uint64_t routing = run_record_routing(change);
    time_text(change->begin, at);
    if (change->finished) {
        time_text(change->end - change->begin, took);
        time_text(routing - change->begin, discovery);
        time_text(change->computing, compute);
        time_text(change->end - routing - change->computing, tables);
    } else {
        strcpy(took, "given up");
        strcpy(discovery, "-");
        strcpy(compute, "-");
        strcpy(tables, "-");
    }
    text_printf(out, "%12s %10s %10s %10s %10s %6llu %6llu %6llu\n", at, took, discovery, compute,
                tables, (unsigned long long)change->gets, (unsigned long long)change->sets,
                (unsigned long long)change->blocks);
    text_printf(out, "%*s", 13, "");
    text_put_wrapped(out, 13, "%s: %s", change->who, change->cause);
}

/* Of each virtual machine that a scenario names: where it ended, and what its last move cost. */
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

void run_record_write_summary(const struct run_record *record, struct text *out)
{
    char time[TIME_TEXT_BYTES];
    if (record->changes.count) {
        text_printf(out, "\n%12s %10s %10s %10s %10s %6s %6s %6s\n", "change at", "took",
                    "discovery", "compute", "tables", "gets", "sets", "blocks");
        for (size_t i = 0; i < record->changes.count; i++)
            write_change(&record->changes.items[i], out);
    }
    run_record_write_pictures(record, out);
    write_machines(record, out);
    run_record_write_traffic(record, out);
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
    text_printf(out, "%zu checks, %u failed; seed %llu, trace %016llx\n", record->checks.count,
                failures, (unsigned long long)record->seed, (unsigned long long)record->hash);
}

/* ---- for programs ---- */

static void write_json_events(const struct run_record *record, struct json *json)
{
    json_begin_array(json, "timeline");
    for (size_t i = 0; i < record->events.count; i++) {
        const struct run_record_event *event = &record->events.items[i];
        json_begin_object(json, NULL);
        json_unsigned(json, "time_ps", event->time);
        json_string(json, "kind", run_record_kind_names[event->kind]);
        json_string(json, "who", event->who);
        json_string(json, "text", event->text);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_json_changes(const struct run_record *record, struct json *json)
{
    json_begin_array(json, "changes");
    for (size_t i = 0; i < record->changes.count; i++) {
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

static void write_json_checks(const struct run_record *record, struct json *json)
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
    write_json_changes(record, &json);
    write_json_checks(record, &json);
    json_unsigned(&json, "failed", run_record_failures(record));
    json_stringf(&json, "trace_hash", "%016llx", (unsigned long long)record->hash);
    figures_write_json(&record->results, &json);
    series_write_json(&record->results, &json);
    write_json_events(record, &json);
    json_end_object(&json);
    text_putc(out, '\n');
}
