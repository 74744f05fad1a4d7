/* Reads a run and makes the data of its page. report_timeline.c makes curves over time,
 * report_picture.c draws the fabric. */
#include "experiment/report/report.h"

#include "base/line_reader.h"
#include "base/quantity.h"
#include "base/time.h"
#include "experiment/chart/chart.h"
#include "experiment/report/report_timeline.h"
#include "experiment/report/run_text.h"
#include "topology/topology.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { ZOOMS = 6, EVENTS_SHOWN = 2000, CHANGES_SHOWN = 60, SCENARIO_BYTES = 20000 };

/* ---- reading ---- */

int report_run_read(struct report_run *report, struct result_store *store,
                    const struct result_run *run, struct err *err)
{
    *report = (struct report_run){.run = *run};
    int status = result_store_read_texts(store, &report->run, &report->arena, err);
    if (status == 0)
        status = result_store_read_results(store, run->id, &report->results, err);
    if (status == 0)
        status = result_store_read_record(store, run->id, &report->record, err);
    if (status)
        report_run_release(report);
    return status;
}

void report_run_release(struct report_run *report)
{
    run_record_release(&report->record);
    results_release(&report->results);
    arena_release(&report->arena);
}

/* ---- the page ---- */

/* The plots: the whole run, then the changes. */
static void put_windows(const struct report_run *report, struct json *json)
{
    struct timeline timeline = {&report->record, &report->results};
    struct windows windows = {0};
    struct chart charts[TIMELINE_PANELS];
    timeline_windows(&timeline, ZOOMS, &windows);
    json_begin_array(json, "windows");
    for (size_t i = 0; i < windows.count; i++) {
        const struct window *window = &windows.items[i];
        size_t left_out, count = timeline_charts(&timeline, window, charts, &left_out);
        json_begin_object(json, NULL);
        json_unsigned(json, "from_ps", window->from);
        json_unsigned(json, "origin_ps", window->origin);
        json_string(json, "moment", window->moment);
        json_unsigned(json, "left_out", left_out);
        chart_json_write(json, "chart", charts, count, CHART_PAGE_COLUMNS);
        json_end_object(json);
        for (size_t c = 0; c < count; c++)
            chart_release(&charts[c]);
    }
    json_end_array(json);
    vec_release(&windows);
}

void report_run_page(const struct report_run *report, struct page *page)
{
    const struct run_record *record = &report->record;
    const struct result_run *run = &report->run;
    struct json *json = &page->json;
    struct text lead = {0};
    char time[QUANTITY_BYTES];
    text_printf(&lead, "%u switches, %u adapters, %s simulated", record->switches, record->adapters,
                quantity_moment(record->end, time));
    if (run->point && run->point[0])
        text_printf(&lead, "; %s", run->point);
    if (run->repetition > 1)
        text_printf(&lead, "; repetition %u", run->repetition);
    page_begin(page, "run", report_base_name(run->name), lead.data);
    text_release(&lead);
    page->bad = !report_run_verdict(report, &page->verdict);
    page->good = !page->bad && record->checks.count > 0;
    if (run->topology && run->topology[0]) {
        struct topology topology;
        struct err err = {0};
        topology_init(&topology);
        int status = topology_read(&topology, from_text("topology", run->topology, &err));
        if (status == 0)
            status = report_picture(&topology, record, &page->svg, &err);
        json_string(json, "no_picture", status ? err.message : "");
        topology_release(&topology);
    }
    if (!run->failed) {
        size_t answered = 0;
        uint64_t recovery = report_healing(report, &answered);
        json_double(json, "lost", report_lost(report));
        json_double(json, "recovery", answered ? time_seconds(recovery) : NAN);
        json_unsigned(json, "smps", record->smps);
        json_unsigned(json, "end_ps", record->end);
        json_unsigned(json, "changes_made", record->changes.count);
        run_record_json_changes(record, CHANGES_SHOWN, json);
        run_record_json_checks(record, json);
        run_record_json_events(record, EVENTS_SHOWN, json);
        figures_write_json(&report->results, json);
        put_windows(report, json);
    }
    bool brief = run->scenario && strlen(run->scenario) <= SCENARIO_BYTES;
    json_string(json, "scenario", brief ? run->scenario : "");
    report_put_origin(run, json);
}

const char *report_base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}

void report_put_origin(const struct result_run *run, struct json *json)
{
    json_string(json, "replay", run->replay ? run->replay : "");
    json_unsigned(json, "seed", run->seed);
    json_string(json, "version", run->version ? run->version : "");
    json_stringf(json, "trace_hash", "%016llx", (unsigned long long)run->hash);
}

/* ---- files ---- */

void report_run_csv(const struct report_run *report, struct text *out)
{
    const struct results *results = &report->results;
    text_puts(out, "name,unit,time_s,value\n");
    for (size_t i = 0; i < results->figures.count; i++) {
        csv_put(out, results->figures.items[i].name, ",");
        csv_put(out, results->figures.items[i].unit, ",,");
        csv_put_number(out, results->figures.items[i].value, "\n");
    }
    for (size_t s = 0; s < results->series.count; s++) {
        const struct series *series = &results->series.items[s];
        for (size_t i = 0; i < series->points.count; i++) {
            csv_put(out, series->name, ",");
            csv_put(out, series->unit, ",");
            csv_put_number(out, (double)series->points.items[i].time / 1e12, ",");
            csv_put_number(out, series->points.items[i].value, "\n");
        }
    }
}

void report_run_json(const struct report_run *report, struct text *out)
{
    struct json json = {.out = out, .pretty = true};
    const struct result_run *run = &report->run;
    const struct results *results = &report->results;
    struct text verdict = {0};
    bool good = report_run_verdict(report, &verdict);
    json_begin_object(&json, NULL);
    json_string(&json, "scenario", run->name ? run->name : "");
    json_string(&json, "point", run->point ? run->point : "");
    json_unsigned(&json, "repetition", run->repetition);
    json_unsigned(&json, "seed", run->seed);
    json_stringf(&json, "trace_hash", "%016llx", (unsigned long long)run->hash);
    json_string(&json, "replay", run->replay ? run->replay : "");
    json_bool(&json, "good", good);
    json_string(&json, "verdict", verdict.data);
    json_unsigned(&json, "checks", report->record.checks.count);
    json_unsigned(&json, "checks_failed", run_record_failures(&report->record));
    json_begin_object(&json, "figures");
    for (size_t i = 0; i < results->figures.count; i++) {
        json_begin_object(&json, results->figures.items[i].name);
        json_double(&json, "value", results->figures.items[i].value);
        json_string(&json, "unit", results->figures.items[i].unit);
        json_end_object(&json);
    }
    json_end_object(&json);
    json_end_object(&json);
    text_release(&verdict);
}

int report_run_plot(const struct report_run *report, const struct chart_plot *plot, struct err *err)
{
    struct timeline timeline = {&report->record, &report->results};
    struct windows windows = {0};
    struct chart charts[TIMELINE_PANELS];
    size_t left_out;
    timeline_windows(&timeline, 1, &windows);
    size_t count = timeline_charts(&timeline, &windows.items[windows.count - 1], charts, &left_out);
    int status = chart_draw(charts, count, plot, err);
    for (size_t i = 0; i < count; i++)
        chart_release(&charts[i]);
    vec_release(&windows);
    return status;
}

int report_write_run(const char *dir, struct err *err)
{
    struct arena arena = {0};
    struct result_store *store;
    struct result_runs runs = {0};
    struct report_run report;
    struct page page;
    int status =
        result_store_open(&store, arena_printf(&arena, "%s/run.db", dir), RESULT_STORE_READ, err);
    if (status == 0)
        status = result_store_read_runs(store, &runs, err);
    if (status == 0 && runs.items.count != 1)
        status = err_at(err, EINVAL, result_store_path(store), 0, "holds %zu runs, not one",
                        runs.items.count);
    if (status == 0)
        status = report_run_read(&report, store, &runs.items.items[0], err);
    if (status == 0) {
        report_run_page(&report, &page);
        status = page_write(&page, arena_printf(&arena, "%s/report.html", dir), err);
        page_release(&page);
        report_run_release(&report);
    }
    result_runs_release(&runs);
    result_store_close(store);
    arena_release(&arena);
    return status;
}
