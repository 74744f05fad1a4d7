/* Reads a run and makes its page. report_timeline.c draws curves over time, report_picture.c the
 * fabric, report_data.c writes CSV and JSON. */
#include "experiment/report/report.h"

#include "base/line_reader.h"
#include "base/quantity.h"
#include "base/time.h"
#include "experiment/chart/chart_gnuplot.h"
#include "experiment/report/report_timeline.h"
#include "topology/topology.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum {
    ZOOMS = 6,
    EVENTS_SHOWN = 200,
    SIMULTANEOUS_SHOWN = 3,
    CHANGES_SHOWN = 60,
    SCENARIO_BYTES = 20000
};

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

/* ---- the top of the page ---- */

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}

static void put_tiles(const struct report_run *report, struct page *page)
{
    static const struct {
        const char *figure, *label;
    } known[] = {{"throughput", "throughput"},
                 {"throughput.received", "received"},
                 {"delivered", "packets delivered"},
                 {"latency.mean", "mean latency"},
                 {"latency.p99", "latency, 99th percentile"}};
    char number[QUANTITY_BYTES];
    const struct run_record *record = &report->record;
    size_t answered = 0;
    uint64_t healing = report_healing(report, &answered);
    double lost = report_lost(report);
    page_begin_tiles(page);
    if (answered)
        page_tile(page, quantity_text(time_seconds(healing), "s", number), "longest recovery");
    if (isfinite(lost))
        page_tile(page, quantity_text(lost, "", number), "packets lost");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct figure *figure = results_find(&report->results, known[i].figure);
        if (figure)
            page_tile(page,
                      quantity_text(figure->value,
                                    strcmp(figure->unit, "packets") == 0 ? "" : figure->unit,
                                    number),
                      known[i].label);
    }
    page_tile(page, quantity_text((double)record->smps, "", number), "SMPs sent");
    page_tile(page, quantity_text(time_seconds(record->end), "s", number), "simulated");
    page_end_tiles(page);
}

static void put_top(const struct report_run *report, struct page *page)
{
    const struct run_record *record = &report->record;
    struct text lead = {0}, verdict = {0};
    char time[QUANTITY_BYTES];
    text_printf(&lead, "%u switches, %u adapters, %s simulated", record->switches, record->adapters,
                quantity_moment(record->end, time));
    if (report->run.point && report->run.point[0])
        text_printf(&lead, "; %s", report->run.point);
    if (report->run.repetition > 1)
        text_printf(&lead, "; repetition %u", report->run.repetition);
    page_begin(page, base_name(report->run.name), lead.data);
    bool good = report_run_verdict(report, &verdict);
    page_verdict(page,
                 !good                  ? PAGE_BAD
                 : record->checks.count ? PAGE_GOOD
                                        : PAGE_PLAIN,
                 verdict.data);
    if (!report->run.failed)
        put_tiles(report, page);
    text_release(&lead);
    text_release(&verdict);
}

static void put_picture(const struct report_run *report, struct page *page)
{
    struct topology topology;
    struct text svg = {0};
    struct err err = {0};
    const char *text = report->run.topology;
    if (!text || !text[0])
        return;
    page_section(page, "The fabric");
    topology_init(&topology);
    int status = topology_read(&topology, from_text("topology", text, &err));
    if (status == 0)
        status = report_picture(&topology, &report->record, &svg, &err);
    if (status == 0)
        page_picture(page, svg.data, "As the run began. Red dashes: what the scenario touched.");
    else
        page_note(page, "There is no picture: %s.", err.message);
    text_release(&svg);
    topology_release(&topology);
}

/* ---- time ---- */

static void put_window(const struct timeline *timeline, const struct window *window,
                       struct page *page)
{
    struct chart charts[TIMELINE_PANELS];
    size_t left_out, count = timeline_charts(timeline, window, charts, &left_out);
    char caption[80] = "";
    if (left_out)
        snprintf(caption, sizeof caption, "Not shown: %zu more series of the store.", left_out);
    page_chart(page, charts, count, caption);
    for (size_t i = 0; i < count; i++)
        chart_release(&charts[i]);
}

static void put_timeline(const struct report_run *report, struct page *page)
{
    struct timeline timeline = {&report->record, &report->results};
    struct windows windows = {0};
    char at[QUANTITY_BYTES];
    timeline_windows(&timeline, ZOOMS, &windows);
    page_section(page, "Timeline");
    page_subsection(page, windows.items[0].from > 0 ? "While traffic flowed" : "The whole run");
    put_window(&timeline, &windows.items[0], page);
    for (size_t i = 1; i < windows.count; i++) {
        char heading[640];
        snprintf(heading, sizeof heading, "%s, at %s", windows.items[i].moment,
                 quantity_moment(windows.items[i].origin, at));
        page_subsection(page, heading);
        put_window(&timeline, &windows.items[i], page);
    }
    vec_release(&windows);
}

static void put_changes(const struct report_run *report, struct page *page)
{
    static const char *const headings[] = {">at",      "cause",       ">detect", ">discover",
                                           ">compute", ">distribute", ">in all", ">gets",
                                           ">sets",    ">blocks"};
    const struct run_record *record = &report->record;
    char at[QUANTITY_BYTES], number[QUANTITY_BYTES];
    if (!record->changes.count)
        return;
    page_section(page, "Changes of the managers");
    page_begin_table(page, headings, sizeof headings / sizeof headings[0]);
    for (size_t i = 0; i < record->changes.count && i < CHANGES_SHOWN; i++) {
        const struct run_record_change *change = &record->changes.items[i];
        uint64_t total = change->end - change->begin;
        page_cell(page, "%s", quantity_moment(change->begin, at));
        page_cell(page, "%s%s", change->cause, change->finished ? "" : " (given up)");
        for (enum phase_kind kind = 0; kind < PHASE_KINDS; kind++) {
            uint64_t from, to;
            bool has = run_record_phase(change, kind, &from, &to);
            total += has && kind == PHASE_DETECT ? to - from : 0;
            page_cell(page, "%s",
                      has ? quantity_text(time_seconds((double)(to - from)), "s", number) : "–");
        }
        page_cell(page, "%s", quantity_text(time_seconds(total), "s", number));
        page_cell(page, "%s", quantity_text((double)change->gets, "", number));
        page_cell(page, "%s", quantity_text((double)change->sets, "", number));
        page_cell(page, "%s", quantity_text((double)change->blocks, "", number));
    }
    page_end_table(page);
    page_note(page, "Gets and sets are SMPs; blocks are sets of forwarding tables.");
    if (record->changes.count > CHANGES_SHOWN)
        page_note(page, "%zu more are in the store.", record->changes.count - CHANGES_SHOWN);
}

/* ---- numbers ---- */

static void put_losses(const struct report_run *report, struct page *page)
{
    static const char *const headings[] = {"cause", ">packets", ">of all lost", ""};
    const struct results *results = &report->results;
    double total = report_lost(report), most = 0;
    char words[96], number[QUANTITY_BYTES];
    if (!isfinite(total))
        return;
    page_section(page, "Packets lost, by cause");
    if (total == 0) {
        page_paragraph(page, "None.");
        return;
    }
    for (size_t i = 0; i < results->figures.count; i++)
        if (strncmp(results->figures.items[i].name, "lost.", 5) == 0)
            most = fmax(most, results->figures.items[i].value);
    page_begin_table(page, headings, 4);
    for (size_t i = 0; i < results->figures.count; i++) {
        const struct figure *figure = &results->figures.items[i];
        if (strncmp(figure->name, "lost.", 5) != 0 || strcmp(figure->unit, "packets") != 0 ||
            strcmp(figure->name, "lost.total") == 0 || !(figure->value > 0))
            continue;
        timeline_words(figure->name + 5, words, sizeof words);
        page_cell(page, "%s", words);
        page_cell(page, "%s", quantity_text(figure->value, "", number));
        page_cell(page, "%s", quantity_text(figure->value / total, "share", number));
        page_bar_cell(page, figure->value / most, 1);
    }
    page_end_table(page);
}

static bool has_prefix(const struct figure *figure, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(figure->name, prefix, length) == 0 &&
           (figure->name[length] == '.' || figure->name[length] == '\0');
}

/* Figures that another section of the page shows. */
static bool is_shown_elsewhere(const struct figure *figure)
{
    static const char *const prefixes[] = {"lost",     "latency", "network-latency", "throughput",
                                           "accepted", "offered", "traffic"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (has_prefix(figure, prefixes[i]))
            return true;
    return strncmp(figure->name, "change.", 7) == 0;
}

struct figure_group {
    const char *heading;
    const char *prefixes[4]; /* none: figures of no other section */
};

static bool is_in(const struct figure *figure, const struct figure_group *group)
{
    for (size_t i = 0; i < 4 && group->prefixes[i]; i++)
        if (has_prefix(figure, group->prefixes[i]))
            return true;
    return !group->prefixes[0] && !is_shown_elsewhere(figure);
}

static void put_figures(const struct report_run *report, const struct figure_group *group,
                        struct page *page)
{
    static const char *const headings[] = {"figure", ">value"};
    char number[QUANTITY_BYTES];
    bool any = false;
    for (size_t i = 0; i < report->results.figures.count; i++) {
        const struct figure *figure = &report->results.figures.items[i];
        if (!is_in(figure, group))
            continue;
        if (!any) {
            page_subsection(page, group->heading);
            page_begin_table(page, headings, 2);
        }
        any = true;
        page_cell(page, "%s", figure->name);
        page_cell(page, "%s", quantity_text(figure->value, figure->unit, number));
    }
    if (any)
        page_end_table(page);
}

static void put_numbers(const struct report_run *report, struct page *page)
{
    static const struct figure_group groups[] = {
        {"Latency", {"latency"}},
        {"Network latency", {"network-latency"}},
        {"Throughput", {"throughput", "offered", "accepted"}},
        {"Traffic stopped", {"traffic"}},
        {"Other figures", {0}},
    };
    if (!report->results.figures.count)
        return;
    page_section(page, "Latency, throughput and the rest");
    page_begin_columns(page);
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (i > 0)
            page_next_column(page);
        put_figures(report, &groups[i], page);
    }
    page_end_columns(page);
}

/* ---- checks, events, reproduction ---- */

static void put_checks(const struct report_run *report, struct page *page)
{
    static const char *const headings[] = {">at", "", "check", "found"};
    const struct run_record *record = &report->record;
    char at[QUANTITY_BYTES];
    if (!record->checks.count)
        return;
    page_section(page, "Checks");
    page_begin_table(page, headings, 4);
    for (size_t i = 0; i < record->checks.count; i++) {
        const struct run_record_check *check = &record->checks.items[i];
        page_cell(page, "%s", quantity_moment(check->time, at));
        page_toned_cell(page, check->holds ? PAGE_GOOD : PAGE_BAD,
                        check->holds ? "holds" : "FAILS");
        page_cell(page, "%s", check->line);
        page_cell(page, "%s", check->finding);
    }
    page_end_table(page);
}

/* The number of consecutive events of the same manager at the same time. */
static size_t count_simultaneous(const struct run_record *record, size_t first)
{
    const struct run_record_event *events = record->events.items;
    size_t count = 1;
    while (events[first].kind == RUN_RECORD_EVENT && first + count < record->events.count &&
           events[first + count].kind == RUN_RECORD_EVENT &&
           events[first + count].time == events[first].time &&
           strcmp(events[first + count].who, events[first].who) == 0)
        count++;
    return count;
}

static void put_event(const struct run_record_event *event, enum page_tone tone, const char *text,
                      struct page *page)
{
    char at[QUANTITY_BYTES];
    page_cell(page, "%s", quantity_moment(event->time, at));
    page_cell(page, "%s", event->who);
    page_toned_cell(page, tone, text);
}

/* Checks have a table of their own. Many events at the same time are abbreviated; in a long
 * timeline only actions and alarms continue. */
static void put_events(const struct run_record *record, struct page *page)
{
    static const char *const headings[] = {">at", "who", "what"};
    static const enum page_tone tones[] = {
        [RUN_RECORD_ACTION] = PAGE_STRONG, [RUN_RECORD_ALARM] = PAGE_BAD};
    size_t rows = 0;
    if (!record->events.count)
        return;
    page_section(page, "Events");
    page_begin_table(page, headings, 3);
    for (size_t i = 0, same; i < record->events.count && rows < 2 * EVENTS_SHOWN; i += same) {
        const struct run_record_event *event = &record->events.items[i];
        bool important = event->kind == RUN_RECORD_ACTION || event->kind == RUN_RECORD_ALARM;
        same = count_simultaneous(record, i);
        size_t shown = same > SIMULTANEOUS_SHOWN + 1 ? SIMULTANEOUS_SHOWN : same;
        if (event->kind == RUN_RECORD_CHECK || (rows >= EVENTS_SHOWN && !important))
            continue;
        for (size_t e = 0; e < shown; e++)
            put_event(&event[e], important ? tones[event->kind] : PAGE_PLAIN, event[e].text, page);
        if (shown < same) {
            char more[64];
            snprintf(more, sizeof more, "… and %zu more at this moment", same - shown);
            put_event(event, PAGE_PLAIN, more, page);
        }
        rows += shown + (shown < same);
    }
    if (rows >= EVENTS_SHOWN)
        put_event(&record->events.items[record->events.count - 1], PAGE_PLAIN,
                  "(events were left out; all are in the store)", page);
    page_end_table(page);
}

static void put_reproduction(const struct report_run *report, struct page *page)
{
    const struct result_run *run = &report->run;
    page_section(page, "How to run it again");
    if (run->replay && run->replay[0])
        page_code(page, run->replay);
    page_paragraph(page,
                   "Seed %llu, weft %s. Trace hash %016llx; identical runs have the same hash.",
                   (unsigned long long)run->seed, run->version ? run->version : "",
                   (unsigned long long)run->hash);
    if (!run->scenario || !run->scenario[0])
        return;
    page_paragraph(page, "The scenario:");
    if (strlen(run->scenario) <= SCENARIO_BYTES)
        page_code(page, run->scenario);
    else
        page_note(page, "It is long; the store has it.");
}

void report_run_page(const struct report_run *report, struct page *page)
{
    put_top(report, page);
    put_picture(report, page);
    if (!report->run.failed) {
        put_timeline(report, page);
        put_changes(report, page);
        put_losses(report, page);
        put_numbers(report, page);
        put_checks(report, page);
        put_events(&report->record, page);
    }
    put_reproduction(report, page);
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
