/* Plots: observations become points, curves and panels. */
#include "reproduce/draw.h"

#include "base/time.h"
#include "experiment/chart/chart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

static struct observation *add(struct evidence *evidence, const char *parameters, double x,
                               double y)
{
    struct observation *observation = evidence_add(evidence, parameters);
    results_set(&observation->results, "offered", x, "packets/s");
    results_set(&observation->results, "latency", y, "s");
    return observation;
}

static struct charts draw(const struct plot *plot, const struct evidence *evidence,
                          const char *preset)
{
    struct recipe recipe = {.name = "x"};
    struct charts charts = {0};
    vec_push(&recipe.labels, ((struct recipe_label){"fera", "FERa"}));
    vec_push(&recipe.points, ((struct printed_point){"other", "8", 1, "paper"}));
    vec_push(&recipe.points, ((struct printed_point){"printed", "8", 6, "paper"}));
    vec_push(&recipe.points, ((struct printed_point){"printed", "16", 12, "paper"}));
    vec_push(&recipe.points, ((struct printed_point){"printed", "many", 12, "paper"}));
    draw_plot(&recipe, plot, evidence, preset, &charts);
    vec_release(&recipe.points);
    vec_release(&recipe.labels);
    return charts;
}

static void runs_with_the_same_parameter_become_their_mean(void **state)
{
    struct evidence evidence = {0};
    struct plot plot = {.name = "p",
                        .kind = PLOT_LINES,
                        .x = "size",
                        .by = "engine",
                        .y = {"latency"},
                        .y_count = 1};
    (void)state;
    add(&evidence, "preset=paper size=16 switch=1 engine=fera", 1, 10);
    add(&evidence, "preset=paper size=16 switch=2 engine=fera", 1, 20);
    add(&evidence, "preset=paper size=8 switch=1 engine=fera", 1, 5);
    add(&evidence, "preset=paper size=8 switch=1 engine=dr", 1, 7);
    add(&evidence, "preset=today size=8 switch=1 engine=fera", 1, 1000);
    struct charts charts = draw(&plot, &evidence, "paper");
    assert_int_equal(charts.count, 1);
    assert_int_equal(charts.items[0].groups.count, 2);
    const struct chart_group *fera = &charts.items[0].groups.items[0];
    assert_string_equal(fera->name, "FERa");
    assert_int_equal(fera->points.count, 2);
    assert_true(fera->points.items[0].x == 8 && fera->points.items[0].y == 5);
    assert_true(fera->points.items[1].x == 16 && fera->points.items[1].y == 15);
    assert_true(isnan(fera->points.items[1].low)); /* one network */
    charts_release(&charts);
    evidence_release(&evidence);
}

static void several_networks_have_a_confidence_interval(void **state)
{
    static const enum plot_kind kinds[] = {PLOT_LINES, PLOT_POINTS, PLOT_BARS};
    struct evidence evidence = {0};
    (void)state;
    add(&evidence, "size=8 seed=1 switch=1", 1, 10);
    add(&evidence, "size=8 seed=1 switch=2", 1, 20); /* mean of this network: 15 */
    add(&evidence, "size=8 seed=2 switch=1", 1, 17);
    for (unsigned i = 0; i < 3; i++) {
        struct plot plot = {
            .name = "p", .kind = kinds[i], .x = "size", .y = {"latency"}, .y_count = 1};
        struct charts charts = draw(&plot, &evidence, NULL);
        const struct chart_point *point = &charts.items[0].groups.items[0].points.items[0];
        assert_true(point->y == 16);
        assert_true(fabs(point->high - 16 - 12.706) < 0.01); /* t(1) times the standard error */
        charts_release(&charts);
    }
    struct plot over_figure = {
        .name = "p", .kind = PLOT_LINES, .x = "offered", .y = {"latency"}, .y_count = 1};
    struct charts charts = draw(&over_figure, &evidence, NULL);
    assert_int_equal(charts.items[0].groups.items[0].points.count, 2); /* switch=1, switch=2 */
    charts_release(&charts);
    add(&evidence, "size=9 switch=3 repetition=1", 1, 10);
    add(&evidence, "size=9 switch=3 repetition=2", 1, 10);
    charts = draw(&over_figure, &evidence, NULL);
    assert_int_equal(charts.items[0].groups.items[0].points.count, 3); /* and switch=3 */
    charts_release(&charts);
    evidence_release(&evidence);
}

static void printed_values_are_stars(void **state)
{
    static const enum plot_kind kinds[] = {PLOT_LINES, PLOT_BARS};
    struct evidence evidence = {0};
    (void)state;
    add(&evidence, "size=8", 1, 5);
    add(&evidence, "size=16", 1, 10);
    for (unsigned i = 0; i < 2; i++) {
        struct plot plot = {
            .name = "printed", .kind = kinds[i], .x = "size", .y = {"latency"}, .y_count = 1};
        struct charts charts = draw(&plot, &evidence, NULL);
        struct text out = {0};
        assert_int_equal(charts.items[0].groups.count, 2);
        const struct chart_group *paper = &charts.items[0].groups.items[1];
        assert_string_equal(charts.items[0].groups.items[0].name, "weft");
        assert_string_equal(paper->name, "paper");
        assert_int_equal(paper->style, CHART_POINTS);
        assert_int_equal(paper->shape, CHART_STAR);
        assert_int_equal(paper->points.count, 2); /* there is no size "many" */
        assert_true(paper->points.items[1].y == 12);
        assert_true(paper->points.items[1].x == (i ? 1 : 16)); /* bars: the second category */
        chart_gnuplot_script(charts.items, charts.count, CHART_SVG, &out);
        assert_non_null(strstr(out.data, "pointtype 3"));
        assert_non_null(strstr(out.data, "title 'paper'"));
        text_release(&out);
        charts_release(&charts);
    }
    evidence_release(&evidence);
}

static void a_curve_over_a_figure_keeps_the_order_of_the_sweep(void **state)
{
    struct evidence evidence = {0};
    struct plot plot = {
        .name = "p", .kind = PLOT_LINES, .x = "offered", .y = {"latency"}, .y_count = 1};
    (void)state;
    add(&evidence, "rate=1", 100, 1);
    add(&evidence, "rate=2", 200, 2);
    struct observation *last = add(&evidence, "rate=3", 150, 9); /* the curve turns back */
    results_set(&last->results, "saturated", 1, "");
    struct charts charts = draw(&plot, &evidence, NULL);
    const struct chart_group *group = &charts.items[0].groups.items[0];
    assert_int_equal(group->points.count, 3);
    assert_true(group->points.items[2].x == 150);
    assert_true(group->points.items[2].hollow && !group->points.items[1].hollow);
    charts_release(&charts);
    evidence_release(&evidence);
}

static void bars_are_sorted_by_number(void **state)
{
    struct evidence evidence = {0};
    struct plot plot = {
        .name = "p", .kind = PLOT_STACKED, .x = "size", .y = {"offered", "latency"}, .y_count = 2};
    (void)state;
    add(&evidence, "size=16", 1, 2);
    add(&evidence, "size=8", 3, 4);
    struct charts charts = draw(&plot, &evidence, NULL);
    assert_int_equal(charts.items[0].categories.count, 2);
    assert_string_equal(charts.items[0].categories.items[0], "8");
    assert_int_equal(charts.items[0].groups.count, 2);
    assert_string_equal(charts.items[0].groups.items[1].name, "latency");
    charts_release(&charts);
    evidence_release(&evidence);
}

static void without_evidence_there_is_no_chart(void **state)
{
    struct evidence evidence = {0};
    struct plot lines = {
        .name = "p", .kind = PLOT_LINES, .x = "size", .y = {"latency"}, .y_count = 1};
    struct plot run = {
        .name = "p", .kind = PLOT_TIME, .y = {"smps"}, .y_count = 1, .to = TIME_NEVER};
    (void)state;
    struct charts charts = draw(&lines, &evidence, NULL);
    assert_int_equal(charts.count, 0);
    charts = draw(&run, &evidence, NULL);
    assert_int_equal(charts.count, 0);
    add(&evidence, "size=1", 1, 1); /* has no series */
    charts = draw(&run, &evidence, NULL);
    assert_int_equal(charts.count, 0);
    evidence_release(&evidence);
}

static void counters_keep_their_value_between_points(void **state)
{
    struct evidence evidence = {0};
    struct plot plot = {.name = "p",
                        .kind = PLOT_TIME,
                        .y = {"smps", "latency"},
                        .y_count = 2,
                        .from = TIME_S,
                        .to = 2 * TIME_S};
    (void)state;
    struct results *results = &evidence_add(&evidence, "")->results;
    size_t smps = results_series(results, "smps", "SMPs");
    size_t latency = results_series(results, "latency", "s");
    results_add_point(results, smps, TIME_S / 2, 100); /* before the plot */
    results_add_point(results, smps, 3 * TIME_S / 2, 101);
    results_add_point(results, latency, 3 * TIME_S / 2, 0.5);
    results_set(results, "fault.begin", 1.5, "s");
    results_set(results, "fault.detect.time", 0.25, "s");
    results_set(results, "fault.compute.time", 0.125, "s");
    struct charts charts = draw(&plot, &evidence, NULL);
    assert_int_equal(charts.count, 2);
    assert_int_equal(charts.items[0].groups.items[0].points.count, 3);
    assert_true(charts.items[0].groups.items[0].points.items[0].x == 1);
    assert_true(charts.items[0].groups.items[0].points.items[0].y == 100);
    assert_true(charts.items[0].groups.items[0].points.items[2].x == 2);
    assert_int_equal(charts.items[1].groups.items[0].points.count, 1);
    assert_int_equal(charts.items[0].bands.count, 2);
    assert_true(charts.items[0].bands.items[1].from == 1.5);
    charts_release(&charts);
    evidence_release(&evidence);
}

static void a_series_of_many_packets_is_visible(void **state)
{
    struct evidence evidence = {0};
    struct plot plot = {
        .name = "p", .kind = PLOT_TIME, .y = {"latency"}, .y_count = 1, .to = TIME_NEVER};
    struct text out = {0};
    size_t dots = 0;
    (void)state;
    struct results *results = &evidence_add(&evidence, "")->results;
    size_t series = results_series(results, "latency", "s");
    for (unsigned i = 0; i < 1000; i++)
        results_add_point(results, series, i * TIME_MS, 1 + i % 7);
    struct charts charts = draw(&plot, &evidence, NULL);
    chart_json_write(&(struct json){.out = &out, .pretty = true}, NULL, charts.items, charts.count);
    for (const char *at = out.data; (at = strstr(at, "],[")); at++)
        dots++;
    assert_int_equal(dots, 999);
    text_release(&out);
    charts_release(&charts);
    evidence_release(&evidence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_with_the_same_parameter_become_their_mean),
        cmocka_unit_test(several_networks_have_a_confidence_interval),
        cmocka_unit_test(printed_values_are_stars),
        cmocka_unit_test(a_curve_over_a_figure_keeps_the_order_of_the_sweep),
        cmocka_unit_test(bars_are_sorted_by_number),
        cmocka_unit_test(without_evidence_there_is_no_chart),
        cmocka_unit_test(a_series_of_many_packets_is_visible),
        cmocka_unit_test(counters_keep_their_value_between_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
