/* Text graphics, and figures as JSON and CSV. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time.h"
#include "experiment/report/drawing.h"
#include "experiment/report/run_text.h"

#include <math.h>
#include <string.h>

static const struct canvas canvas = {
    .from = 100 * TIME_MS, .to = 200 * TIME_MS, .columns = 10, .plain = true};

static void assert_drawn(struct text *out, const char *expected)
{
    assert_string_equal(out->data ? out->data : "", expected);
    text_clear(out);
}

static void bars_cover_their_time(void **state)
{
    struct text out = {0};
    (void)state;
    drawing_bar(&canvas, 120 * TIME_MS, 150 * TIME_MS, &out);
    assert_drawn(&out, "  ###");
    drawing_bar(&canvas, 100 * TIME_MS, 200 * TIME_MS, &out);
    assert_drawn(&out, "##########");
    drawing_bar(&canvas, 155 * TIME_MS, 155 * TIME_MS, &out); /* an empty interval is visible */
    assert_drawn(&out, "     #");
    drawing_bar(&canvas, 0, 110 * TIME_MS, &out);
    assert_drawn(&out, "#");
    drawing_bar(&canvas, 300 * TIME_MS, 400 * TIME_MS, &out);
    assert_drawn(&out, "         #");
    drawing_axis(&canvas, &out);
    assert_drawn(&out, "100ms 200ms");
    text_release(&out);
}

static void make_series(struct results *results, const double *values, size_t count)
{
    size_t series = results_series(results, "x", "packets/s");
    for (size_t i = 0; i < count; i++)
        results_add_point(results, series, (100 + 10 * i) * TIME_MS, values[i]);
}

static void rates_have_proportional_heights(void **state)
{
    static const double values[] = {0, 1, 2, 4, 8, 8, 6, 0.1, 0, 4};
    struct results results = {0};
    struct text out = {0};
    (void)state;
    make_series(&results, values, 10);
    const struct series *series = &results.series.items[0];
    drawing_curve(&canvas, series, CURVE_RATE, &out);
    assert_drawn(&out, " .:=@@*. =");
    assert_true(drawing_amount(&canvas, series, CURVE_RATE) == 8);
    struct canvas half = canvas;
    half.columns = 5; /* the larger of two */
    drawing_curve(&half, series, CURVE_RATE, &out);
    assert_drawn(&out, ".=@*=");
    text_release(&out);
    results_release(&results);
}

static void running_totals_show_their_increase(void **state)
{
    static const double values[] = {0, 0, 10, 10, 20, 60, 60, 60, 60, 60};
    struct results results = {0};
    struct text out = {0};
    (void)state;
    make_series(&results, values, 10);
    const struct series *series = &results.series.items[0];
    drawing_curve(&canvas, series, CURVE_TOTAL, &out);
    assert_drawn(&out, " : :@     ");
    assert_true(drawing_amount(&canvas, series, CURVE_TOTAL) == 60);
    text_release(&out);
    results_release(&results);
}

static void figures_and_series_become_json_and_csv(void **state)
{
    struct results results = {0};
    struct text out = {0};
    struct json json = {.out = &out};
    (void)state;
    results_set(&results, "latency.mean", 1.25e-6, "s");
    results_set(&results, "made", 123456789012, "packets");
    results_set(&results, "nothing", NAN, "");
    size_t series = results_series(&results, "a, \"b\"", "s");
    results_add_point(&results, series, 61 * TIME_S + 5, 0.5);
    figures_write_csv(&results, &out);
    assert_drawn(&out, "name,value,unit\nlatency.mean,1.25e-06,s\nmade,123456789012,packets\n"
                       "nothing,,\n");
    series_write_csv(&results, &out);
    assert_drawn(&out, "name,unit,time_s,value\n\"a, \"\"b\"\"\",s,61.000000000005,0.5\n");
    json_begin_object(&json, NULL);
    figures_write_json(&results, &json);
    series_write_json(&results, &json);
    json_end_object(&json);
    assert_non_null(strstr(out.data, "123456789012"));
    assert_non_null(strstr(out.data, "null"));
    assert_non_null(strstr(out.data, "61000000000005"));
    text_release(&out);
    results_release(&results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars_cover_their_time),
        cmocka_unit_test(rates_have_proportional_heights),
        cmocka_unit_test(running_totals_show_their_increase),
        cmocka_unit_test(figures_and_series_become_json_and_csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
