/* Reports on runs and sweeps: their content, and escaping of everything that a store contains. */
#include "experiment/report/report.h"

#include "base/time.h"
#include "experiment/report/report_sweep.h"
#include "experiment/report/report_timeline.h"
#include "experiment/report/run_text.h"
#include "markup_check.h"
#include "report_samples.h"
#include "web/files.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const char hostile[] = "</style><script>alert('x')</script> & \"\x01\xff`'";
static char folder[] = "/tmp/weft-report-XXXXXX";
static char store_path[64];

/* A store with its runs, and the first run. */
struct opened {
    struct result_store *store;
    struct result_runs runs;
};

static void open_store(struct opened *opened)
{
    struct err err;
    assert_int_equal(result_store_open(&opened->store, store_path, RESULT_STORE_READ, &err), 0);
    assert_int_equal(result_store_read_runs(opened->store, &opened->runs, &err), 0);
}

static void close_store(struct opened *opened)
{
    result_runs_release(&opened->runs);
    result_store_close(opened->store);
}

static void page_of_run(struct text *html)
{
    struct opened opened;
    struct report_run report;
    struct page page;
    struct err err;
    open_store(&opened);
    assert_int_equal(report_run_read(&report, opened.store, &opened.runs.items.items[0], &err), 0);
    report_run_page(&report, &page);
    page_finish(&page, html);
    page_release(&page);
    report_run_release(&report);
    close_store(&opened);
    assert_true(markup_is_well_formed(html->data));
}

static struct report_sweep *read_sweep(struct opened *opened, const struct report_choice *choice)
{
    struct report_sweep *sweep;
    struct err err;
    sample_sweep(store_path);
    open_store(opened);
    assert_int_equal(report_sweep_read(&sweep, opened->store, &opened->runs, choice, &err), 0);
    return sweep;
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

/* ---- a run ---- */

static void the_verdict_is_one_sentence(void **state)
{
    struct text html = {0};
    (void)state;
    sample_run(store_path, 500, NULL);
    page_of_run(&html);
    assert_non_null(strstr(
        html.data, "Both checks hold; after “fail switch S15” at 60.1 s the subnet recovered "
                   "within 203 ms of simulated time; 13,106 of 418,220 packets were lost "
                   "(3.13 %)."));
    text_release(&html);
}

static void a_page_has_the_data_of_all_sections(void **state)
{
    static const char *const parts[] = {
        "class=\"verdict",        "&quot;kind&quot;: &quot;run&quot;",
        "&quot;windows&quot;",    "&quot;detail&quot;:&quot;105 ms&quot;",
        "lost.dead-node",         "latency.p99",
        "check lost &lt;= 20000", "weft sim death.weft --seed 7",
        "1234567890abcdef",       "at 60.1s fail switch S15"};
    struct text html = {0};
    (void)state;
    sample_run(store_path, 500, NULL);
    page_of_run(&html);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!strstr(html.data, parts[i]))
            fail_msg("'%s' is missing", parts[i]);
    text_release(&html);
}

static void a_page_is_self_contained(void **state)
{
    struct text html = {0};
    (void)state;
    sample_run(store_path, 500, NULL);
    page_of_run(&html);
    assert_int_equal(occurrences(html.data, "<script"), web_plots.script ? 1 : 0);
    assert_null(strstr(html.data, "<link"));
    assert_null(strstr(html.data, "<img"));
    assert_null(strstr(html.data, "@import"));
    assert_null(strstr(html.data, "url("));
    assert_non_null(strstr(html.data, "default-src 'none'"));
    assert_true(!web_plots.script || strstr(html.data, web_plots.script_hash));
    text_release(&html);
}

static void an_empty_page_is_well_formed(void **state)
{
    struct page page;
    struct text html = {0};
    (void)state;
    page_begin(&page, "sweep", "empty", "");
    page_finish(&page, &html);
    assert_true(markup_is_well_formed(html.data));
    assert_non_null(strstr(html.data, "<title>empty</title>"));
    assert_null(strstr(html.data, "class=\"lead\""));
    page_release(&page);
    text_release(&html);
}

static void a_frame_has_a_place_for_each_part_of_a_page(void **state)
{
    static const char *const parts[] = {
        "<title>{{title}}</title>", "<p class=\"lead\">{{lead}}</p>",
        "<p class=\"verdict {{tone}}\">{{verdict}}</p>", "<pre class=\"data\">{{data}}</pre>"};
    struct text html = {0};
    (void)state;
    page_put_frame(&html);
    assert_true(markup_is_well_formed(html.data));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        assert_non_null(strstr(html.data, parts[i]));
    text_release(&html);
}

static void the_same_store_gives_the_same_bytes(void **state)
{
    struct text one = {0}, two = {0};
    (void)state;
    sample_run(store_path, 500, NULL);
    page_of_run(&one);
    sample_run(store_path, 500, NULL);
    page_of_run(&two);
    assert_string_equal(one.data, two.data);
    text_release(&one);
    text_release(&two);
}

static void names_are_escaped(void **state)
{
    struct text html = {0};
    (void)state;
    sample_run(store_path, 500, hostile);
    page_of_run(&html);
    assert_int_equal(occurrences(html.data, "<script"), web_plots.script ? 1 : 0);
    assert_int_equal(occurrences(html.data, "</style>"), 2); /* of the page and of the picture */
    assert_true(occurrences(html.data, "&lt;script&gt;") > 5);
    assert_non_null(strstr(html.data, "1 of 2 checks fails"));
    text_release(&html);
}

static void many_points_do_not_make_a_large_page(void **state)
{
    struct text html = {0};
    (void)state;
    sample_run(store_path, 30000, NULL);
    page_of_run(&html);
    assert_true(html.length < 1000000);
    text_release(&html);
}

static void a_run_without_results_has_a_page(void **state)
{
    struct text html = {0};
    (void)state;
    sample_empty_run(store_path);
    page_of_run(&html);
    assert_non_null(strstr(html.data, "Nothing was checked."));
    text_release(&html);
}

static void a_failed_run_shows_its_error(void **state)
{
    struct result_store *store;
    struct text html = {0};
    struct err err;
    struct result_run run = {.error = "out of <memory>", .replay = "weft sim x", .name = "x"};
    (void)state;
    remove(store_path);
    assert_int_equal(result_store_open(&store, store_path, RESULT_STORE_WRITE, &err), 0);
    assert_int_equal(result_store_add(store, &run, NULL, NULL, &err), 0);
    result_store_close(store);
    page_of_run(&html);
    assert_non_null(strstr(html.data, "The run failed: out of &lt;memory&gt;"));
    text_release(&html);
}

static void report_write_run_writes_the_page(void **state)
{
    char path[80];
    struct err err;
    (void)state;
    sample_run(store_path, 100, NULL);
    assert_int_equal(report_write_run(folder, &err), 0);
    snprintf(path, sizeof path, "%s/report.html", folder);
    assert_int_equal(access(path, R_OK), 0);
    unlink(path);
    sample_sweep(store_path);
    assert_int_equal(report_write_run(folder, &err), -EINVAL);
    assert_non_null(strstr(err.message, "72 runs"));
    assert_int_not_equal(access(path, R_OK), 0);
    assert_true(report_write_run("/nonexistent", &err) < 0);
}

static void csv_has_figures_and_points(void **state)
{
    struct opened opened;
    struct report_run report;
    struct text csv = {0};
    struct err err;
    (void)state;
    sample_run(store_path, 100, NULL);
    open_store(&opened);
    assert_int_equal(report_run_read(&report, opened.store, &opened.runs.items.items[0], &err), 0);
    report_run_csv(&report, &csv);
    assert_non_null(strstr(csv.data, "\nlost.dead-node,packets,,9120\n"));
    assert_non_null(strstr(csv.data, "\nbroken,s,,\n"));
    assert_int_equal(occurrences(csv.data, "\nlatency,s,"), 100);
    text_release(&csv);
    report_run_release(&report);
    close_store(&opened);
}

static void csv_fields_are_quoted_if_needed(void **state)
{
    struct text out = {0};
    (void)state;
    csv_put(&out, "plain", "");
    csv_put(&out, "a,\"b\"\n", "");
    assert_string_equal(out.data, "plain\"a,\"\"b\"\"\n\"");
    text_release(&out);
}

/* ---- time ---- */

struct told {
    struct run_record record;
    struct results results;
    struct timeline timeline;
};

static void tell(struct told *told)
{
    *told = (struct told){0};
    told->record.end = 100 * TIME_MS;
    run_record_add_event(&told->record, RUN_RECORD_ACTION, 40 * TIME_MS, "scenario",
                         "fail switch S3");
    struct run_record_change changes[] = {
        {.who = "S0", .cause = "start", .begin = 0, .routed = 2 * TIME_MS, .end = 3 * TIME_MS},
        {.who = "S0",
         .cause = "trap",
         .tied = true,
         .fault = 40 * TIME_MS,
         .begin = 45 * TIME_MS,
         .routing = 47 * TIME_MS,
         .computing = 8 * TIME_MS,
         .routed = 55 * TIME_MS,
         .end = 57 * TIME_MS}};
    vec_push(&told->record.changes, changes[0]);
    vec_push(&told->record.changes, changes[1]);
    told->timeline = (struct timeline){&told->record, &told->results};
}

static void untell(struct told *told)
{
    results_release(&told->results);
    run_record_release(&told->record);
}

static void phases_are_contiguous(void **state)
{
    static const uint64_t expected[SM_STEPS] = {5 * TIME_MS, 2 * TIME_MS, 8 * TIME_MS, 2 * TIME_MS};
    struct told told;
    uint64_t from, to, last = 40 * TIME_MS;
    (void)state;
    tell(&told);
    const struct run_record_change *changes = told.record.changes.items;
    for (enum sm_step kind = 0; kind < SM_STEPS; kind++) {
        assert_true(run_record_step(&changes[1], kind, &from, &to));
        assert_int_equal(from, last);
        assert_int_equal(to - from, expected[kind]);
        last = to;
    }
    assert_null(timeline_cause(&told.record, 0));
    assert_string_equal(timeline_cause(&told.record, 1)->text, "fail switch S3");
    assert_false(run_record_step(&changes[0], SM_STEP_DETECT, &from, &to)); /* no fault */
    untell(&told);
}

static void windows_show_a_change_with_a_margin(void **state)
{
    struct told told;
    struct windows windows = {0};
    (void)state;
    tell(&told);
    timeline_windows(&told.timeline, 1, &windows);
    assert_int_equal(windows.count, 2); /* the one with an action is preferred */
    assert_true(windows.items[0].from == 0 && windows.items[0].to == 100 * TIME_MS);
    assert_true(windows.items[1].from < 40 * TIME_MS && windows.items[1].to > 57 * TIME_MS);
    assert_int_equal(windows.items[1].origin, 40 * TIME_MS);
    vec_release(&windows);
    untell(&told);
}

static void the_window_begins_with_late_traffic(void **state)
{
    struct told told;
    struct windows windows = {0};
    (void)state;
    tell(&told);
    size_t updated = results_series(&told.results, "change.1.updated", "share");
    size_t accepted = results_series(&told.results, "accepted", "packets/s");
    results_add_point(&told.results, updated, 2 * TIME_MS, 1);
    results_add_point(&told.results, accepted, 35 * TIME_MS, 1000);
    timeline_windows(&told.timeline, 1, &windows);
    assert_int_equal(windows.items[0].from, 35 * TIME_MS);
    assert_int_equal(windows.items[0].to, 100 * TIME_MS);
    vec_release(&windows);
    untell(&told);
}

static void a_long_pause_is_a_gap(void **state)
{
    struct told told;
    struct chart charts[TIMELINE_PANELS];
    struct window window = {.to = 100 * TIME_MS, .moment = ""};
    size_t left_out, gaps = 0;
    (void)state;
    tell(&told);
    size_t latency = results_series(&told.results, "latency", "s");
    for (unsigned i = 0; i < 90; i++)
        if (i < 70 || i > 80)
            results_add_point(&told.results, latency, i * TIME_MS, 1e-6);
    assert_int_equal(timeline_charts(&told.timeline, &window, charts, &left_out), 1);
    for (size_t i = 0; i < charts[0].groups.items[0].points.count; i++)
        gaps += isnan(charts[0].groups.items[0].points.items[i].y);
    assert_int_equal(gaps, 1);
    chart_release(&charts[0]);
    untell(&told);
}

static void sampled_losses_become_a_running_total(void **state)
{
    struct told told;
    struct chart charts[TIMELINE_PANELS];
    struct window window = {.to = 100 * TIME_MS, .moment = ""};
    size_t left_out;
    (void)state;
    tell(&told);
    size_t lost = results_series(&told.results, "lost", "packets");
    for (unsigned i = 0; i < 4; i++)
        results_add_point(&told.results, lost, i * TIME_MS, i == 3 ? 2 : 5);
    assert_int_equal(timeline_charts(&told.timeline, &window, charts, &left_out), 1);
    assert_true(charts[0].groups.items[0].points.items[3].y == 17);
    assert_int_equal(charts[0].marks.count, 1);
    chart_release(&charts[0]);
    untell(&told);
}

/* ---- a sweep ---- */

static void the_default_choice_is_what_varies(void **state)
{
    struct opened opened;
    struct report_sweep *sweep = read_sweep(&opened, &(struct report_choice){0});
    (void)state;
    assert_string_equal(sweep->parameters.items[sweep->x_parameter].name, "rate");
    assert_int_equal(sweep->by.count, 1);
    assert_string_equal(sweep->parameters.items[sweep->by.items[0]].name, "engine");
    for (size_t i = 0; i < sweep->y.count; i++) /* constant figures have no curve */
        assert_string_not_equal(sweep->figures.items[sweep->y.items[i]].name, "adapters");
    assert_int_equal(sweep->points.count, 24);
    assert_int_equal(sweep->finished.count, 71);
    report_sweep_free(sweep);
    close_store(&opened);
}

static void curves_have_means_intervals_and_saturation(void **state)
{
    struct opened opened;
    const char *const y[] = {"latency.mean"};
    struct report_choice choice = {.x = "rate", .y = y, .y_count = 1, .by = "engine"};
    struct report_sweep *sweep = read_sweep(&opened, &choice);
    struct chart chart;
    (void)state;
    sweep_chart(sweep, sweep->y.items[0], &chart);
    assert_int_equal(chart.groups.count, 3);
    for (size_t g = 0; g < 3; g++) {
        const struct chart_group *group = &chart.groups.items[g];
        assert_int_equal(group->points.count, 8);
        assert_true(group->points.items[0].x == 25000 && group->points.items[7].x == 200000);
        assert_false(group->points.items[0].hollow);
        assert_true(group->points.items[7].hollow);
        assert_true(group->points.items[0].high > group->points.items[0].y);
        assert_true(group->points.items[7].y > group->points.items[0].y);
    }
    chart_release(&chart);
    report_sweep_free(sweep);
    close_store(&opened);
}

static void a_figure_can_be_the_x_axis(void **state)
{
    struct opened opened;
    const char *const y[] = {"latency.mean"};
    struct report_choice choice = {.x = "throughput.received", .y = y, .y_count = 1};
    struct report_sweep *sweep = read_sweep(&opened, &choice);
    struct chart chart;
    (void)state;
    sweep_chart(sweep, sweep->y.items[0], &chart);
    assert_int_equal(chart.groups.count, 3); /* by engine, along the rate */
    assert_string_equal(chart.x.unit, "packets/s");
    assert_true(fabs(chart.groups.items[0].points.items[1].x - 50000) < 2000);
    chart_release(&chart);
    report_sweep_free(sweep);
    close_store(&opened);
}

static void words_on_the_x_axis_become_categories(void **state)
{
    struct opened opened;
    const char *const y[] = {"latency.mean"};
    struct report_choice choice = {.x = "engine", .y = y, .y_count = 1, .by = "vls"};
    struct report_sweep *sweep = read_sweep(&opened, &choice);
    struct chart chart;
    (void)state;
    sweep_chart(sweep, sweep->y.items[0], &chart);
    assert_int_equal(chart.categories.count, 3);
    assert_int_equal(chart.groups.count, 1);
    assert_int_equal(chart.groups.items[0].points.count, 3); /* the rates are pooled */
    assert_int_equal(sweep->pooled.count, 1);
    assert_int_equal(chart.groups.items[0].style, CHART_BARS);
    chart_release(&chart);
    report_sweep_free(sweep);
    close_store(&opened);
}

static void an_unknown_name_suggests_the_nearest(void **state)
{
    struct opened opened;
    struct report_sweep *sweep;
    struct err err;
    const char *const y[] = {"latency.maen"};
    const struct report_choice wrong[] = {
        {.y = y, .y_count = 1}, {.x = "rte"}, {.by = "latency.mean"}};
    static const char *const told[] = {"did you mean 'latency.mean'?", "did you mean 'rate'?",
                                       "no parameter 'latency.mean'"};
    (void)state;
    sample_sweep(store_path);
    open_store(&opened);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(report_sweep_read(&sweep, opened.store, &opened.runs, &wrong[i], &err),
                         -EINVAL);
        if (!strstr(err.message, told[i]))
            fail_msg("'%s' does not say '%s'", err.message, told[i]);
    }
    close_store(&opened);
}

static void a_sweeps_page_lists_failures_with_their_replay(void **state)
{
    struct opened opened;
    struct report_sweep *sweep = read_sweep(&opened, &(struct report_choice){0});
    struct page page;
    struct text html = {0};
    (void)state;
    report_sweep_page(sweep, &page);
    page_finish(&page, &html);
    assert_true(markup_is_well_formed(html.data));
    assert_non_null(strstr(html.data, "1 of 72 runs failed"));
    assert_non_null(strstr(html.data, "it took more than 60s"));
    assert_non_null(strstr(html.data, "weft sim load.weft --set sm.engine=fera"));
    assert_int_equal(occurrences(html.data, "&quot;panels&quot;"), sweep->y.count);
    page_release(&page);
    text_release(&html);
    report_sweep_free(sweep);
    close_store(&opened);
}

static void a_sweeps_table_fits_a_terminal(void **state)
{
    struct opened opened;
    struct report_sweep *sweep = read_sweep(&opened, &(struct report_choice){0});
    struct text text = {0};
    size_t column = 0;
    (void)state;
    report_sweep_text(sweep, &text);
    for (const char *at = text.data; *at; at++) {
        column = *at == '\n' ? 0 : column + (((unsigned char)*at & 0xc0) != 0x80);
        assert_true(column <= 80);
    }
    assert_non_null(strstr(text.data, "* saturated"));
    text_release(&text);
    report_sweep_free(sweep);
    close_store(&opened);
}

static void the_csv_of_a_sweep_has_one_line_for_each_point(void **state)
{
    struct opened opened;
    struct report_sweep *sweep = read_sweep(&opened, &(struct report_choice){0});
    struct text csv = {0};
    (void)state;
    report_sweep_csv(sweep, &csv);
    assert_int_equal(occurrences(csv.data, "\n"), 25);
    assert_int_equal(strncmp(csv.data, "engine,rate,vls,runs,throughput.received,", 41), 0);
    assert_non_null(strstr(csv.data, "\ndr,200000,2,2,"));
    text_release(&csv);
    report_sweep_free(sweep);
    close_store(&opened);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(store_path, sizeof store_path, "%s/run.db", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(store_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdict_is_one_sentence),
        cmocka_unit_test(a_page_has_the_data_of_all_sections),
        cmocka_unit_test(a_page_is_self_contained),
        cmocka_unit_test(an_empty_page_is_well_formed),
        cmocka_unit_test(a_frame_has_a_place_for_each_part_of_a_page),
        cmocka_unit_test(the_same_store_gives_the_same_bytes),
        cmocka_unit_test(names_are_escaped),
        cmocka_unit_test(many_points_do_not_make_a_large_page),
        cmocka_unit_test(a_run_without_results_has_a_page),
        cmocka_unit_test(a_failed_run_shows_its_error),
        cmocka_unit_test(report_write_run_writes_the_page),
        cmocka_unit_test(csv_has_figures_and_points),
        cmocka_unit_test(csv_fields_are_quoted_if_needed),
        cmocka_unit_test(phases_are_contiguous),
        cmocka_unit_test(windows_show_a_change_with_a_margin),
        cmocka_unit_test(the_window_begins_with_late_traffic),
        cmocka_unit_test(a_long_pause_is_a_gap),
        cmocka_unit_test(sampled_losses_become_a_running_total),
        cmocka_unit_test(the_default_choice_is_what_varies),
        cmocka_unit_test(curves_have_means_intervals_and_saturation),
        cmocka_unit_test(a_figure_can_be_the_x_axis),
        cmocka_unit_test(words_on_the_x_axis_become_categories),
        cmocka_unit_test(an_unknown_name_suggests_the_nearest),
        cmocka_unit_test(a_sweeps_page_lists_failures_with_their_replay),
        cmocka_unit_test(a_sweeps_table_fits_a_terminal),
        cmocka_unit_test(the_csv_of_a_sweep_has_one_line_for_each_point),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
