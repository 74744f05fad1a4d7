/* Reads a run and makes the data of its page. report_timeline.c makes curves over time,
 * report_picture.c draws the fabric, report_data.c writes CSV and JSON. */
#include "experiment/report/report.h"

#include "base/line_reader.h"
#include "base/quantity.h"
#include "base/time.h"
#include "experiment/chart/chart_gnuplot.h"
#include "experiment/chart/chart_json.h"
#include "experiment/report/report_timeline.h"
#include "experiment/report/run_text.h"
#include "experiment/report/series_text.h"
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

static void put_picture(const struct report_run *report, struct page *page)
{
    struct topology topology;
    struct err err = {0};
    const char *text = report->run.topology;
    if (!text || !text[0])
        return;
    topology_init(&topology);
    int status = topology_read(&topology, from_text("topology", text, &err));
    if (status == 0)
        status = report_picture(&topology, &report->record, &page->svg, &err);
    json_string(&page->json, "no_picture", status ? err.message : "");
    topology_release(&topology);
}

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
        chart_json_write(json, "chart", charts, count);
        json_end_object(json);
        for (size_t c = 0; c < count; c++)
            chart_release(&charts[c]);
    }
    json_end_array(json);
    vec_release(&windows);
}

static void put_results(const struct report_run *report, struct json *json)
{
    size_t answered = 0;
    uint64_t recovery = report_healing(report, &answered);
    json_double(json, "lost", report_lost(report));
    json_double(json, "recovery", answered ? time_seconds(recovery) : NAN);
    json_unsigned(json, "smps", report->record.smps);
    json_unsigned(json, "end_ps", report->record.end);
    json_unsigned(json, "changes_made", report->record.changes.count);
    run_record_json_changes(&report->record, CHANGES_SHOWN, json);
    run_record_json_checks(&report->record, json);
    run_record_json_events(&report->record, EVENTS_SHOWN, json);
    figures_write_json(&report->results, json);
    put_windows(report, json);
}

void report_run_page(const struct report_run *report, struct page *page)
{
    const struct run_record *record = &report->record;
    const struct result_run *run = &report->run;
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
    put_picture(report, page);
    if (!run->failed)
        put_results(report, &page->json);
    bool brief = run->scenario && strlen(run->scenario) <= SCENARIO_BYTES;
    json_string(&page->json, "scenario", brief ? run->scenario : "");
    report_put_origin(run, &page->json);
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

int report_run_plot(const struct report_run *report, const char *path, bool keep, struct err *err)
{
    struct timeline timeline = {&report->record, &report->results};
    struct windows windows = {0};
    struct chart charts[TIMELINE_PANELS];
    size_t left_out;
    timeline_windows(&timeline, 1, &windows);
    size_t count = timeline_charts(&timeline, &windows.items[windows.count - 1], charts, &left_out);
    int status = chart_gnuplot(charts, count, path, keep, err);
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
