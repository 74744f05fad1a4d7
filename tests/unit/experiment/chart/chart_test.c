/* Escaping for markup, and charts as JSON. */
#include "experiment/chart/chart.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char hostile[] = "<script>alert('x')</script> & \"`touch x`\" \x01\xff\n\xc3\xa9";

/* ---- markup ---- */

static void special_characters_are_escaped(void **state)
{
    struct text out = {0};
    (void)state;
    text_put_markup(&out, hostile);
    assert_string_equal(out.data, "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; "
                                  "&quot;`touch x`&quot; \xef\xbf\xbd\xef\xbf\xbd\n\xc3\xa9");
    text_release(&out);
}

static void invalid_utf8_is_replaced(void **state)
{
    static const char *const broken[] = {
        "\x80",         "\xc3",         "\xc0\xaf",         "\xe0\x80\xaf",
        "\xed\xa0\x80", "\xef\xbf\xbf", "\xf5\x80\x80\x80", "\xf0\x9f\x98"};
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        struct text out = {0};
        text_put_markup(&out, broken[i]);
        assert_non_null(strstr(out.data, "\xef\xbf\xbd"));
        assert_null(strstr(out.data, broken[i]));
        text_release(&out);
    }
}

/* ---- charts ---- */

static void thinning_keeps_the_extremes(void **state)
{
    struct chart chart;
    struct text json = {0};
    struct chart_points kept = {0};
    double least = 0, most = 0;
    (void)state;
    chart_init(&chart);
    chart_add_group(&chart, "", CHART_LINES);
    for (int i = 0; i < 200000; i++)
        chart_add_point(&chart, 0, i, i == 77777 ? 900 : i == 123456 ? -900 : i % 7);
    struct chart_range x = chart_x_range(&chart, 1);
    chart_thin(&chart.groups.items[0], &x, 300, &kept);
    for (size_t i = 0; i < kept.count; i++) {
        least = fmin(least, kept.items[i].y);
        most = fmax(most, kept.items[i].y);
        assert_true(i == 0 || kept.items[i].x > kept.items[i - 1].x);
    }
    assert_true(kept.count <= 4 * 302);
    assert_true(least == -900 && most == 900);
    chart_json_write(&(struct json){.out = &json, .pretty = true}, NULL, &chart, 1,
                     CHART_PAGE_COLUMNS);
    assert_true(json.length < 60000);
    vec_release(&kept);
    chart_release(&chart);
    text_release(&json);
}

static void stacked_bars_reach_their_sum(void **state)
{
    struct chart chart;
    (void)state;
    chart_init(&chart);
    chart_add_category(&chart, "one");
    chart_add_category(&chart, "two");
    for (unsigned g = 0; g < 3; g++) {
        chart_add_group(&chart, "part", CHART_STACKED);
        chart_add_point(&chart, g, 0, 13);
        chart_add_point(&chart, g, 1, g == 1 ? NAN : 21);
    }
    struct chart_range x = chart_x_range(&chart, 1), y = chart_y_range(&chart, &x, 5);
    assert_true(y.low == 0 && y.high >= 42);
    chart_release(&chart);
}

static void panels_share_the_x_axis(void **state)
{
    struct chart charts[2];
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        chart_init(&charts[i]);
        chart_add_group(&charts[i], "", CHART_STEPS);
        chart_add_point(&charts[i], 0, i, 1);
        chart_add_point(&charts[i], 0, 5 + i, 2);
    }
    struct chart_range x = chart_x_range(charts, 2);
    assert_true(x.low == 0 && x.high == 6);
    chart_release(&charts[0]);
    chart_release(&charts[1]);
}

static void a_large_error_bar_does_not_flatten_the_data(void **state)
{
    struct chart chart;
    (void)state;
    chart_init(&chart);
    chart_add_group(&chart, "", CHART_LINES_POINTS);
    chart_add_measured(&chart, 0, 1, 10, 1000, false);
    chart_add_measured(&chart, 0, 2, 20, 1, false);
    struct chart_range x = chart_x_range(&chart, 1), y = chart_y_range(&chart, &x, 5);
    assert_true(y.low == 0 && y.high <= 40);
    chart_release(&chart);
}

static void an_axis_names_its_unit_once(void **state)
{
    static const struct {
        const char *label, *unit, *title;
        double most;
    } axes[] = {
        {"discarded packets", "packets", "discarded packets", 500},
        {"entries", "entries", "entries (k)", 9000},
        {"SMPs", "SMPs", "SMPs (k)", 300000},
        {"traffic sent", "packets/s", "traffic sent (k packets/s)", 9000},
        {"SMPs", "s", "SMPs (s)", 9},
    };
    (void)state;
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        struct chart chart;
        char title[128];
        chart_init(&chart);
        chart_set_axis(&chart, &chart.y, axes[i].label, axes[i].unit);
        chart_add_group(&chart, "", CHART_LINES_POINTS);
        chart_add_point(&chart, 0, 1, axes[i].most / 3);
        chart_add_point(&chart, 0, 2, axes[i].most);
        struct chart_range x = chart_x_range(&chart, 1), y = chart_y_range(&chart, &x, 5);
        chart_axis_title(&chart.y, &y, title, sizeof title);
        assert_string_equal(title, axes[i].title);
        chart_release(&chart);
    }
}

static void plots_are_svg_png_or_pdf(void **state)
{
    (void)state;
    assert_string_equal(chart_format_of("a/b.c.svg"), "svg");
    assert_string_equal(chart_format_of("x.png"), "png");
    assert_string_equal(chart_format_of("x.pdf"), "pdf");
    assert_null(chart_format_of("x.eps"));
    assert_null(chart_format_of("svg"));
}

/* ---- JSON ---- */

static void json_is(const struct chart *charts, size_t count, const char *wanted)
{
    struct text json = {0}, bare = {0};
    chart_json_write(&(struct json){.out = &json, .pretty = true}, NULL, charts, count,
                     CHART_PAGE_COLUMNS);
    bool quoted = false;
    for (const char *at = json.data; *at; at++) { /* without blanks between words */
        quoted ^= *at == '"';
        if (quoted || (*at != ' ' && *at != '\n'))
            text_putc(&bare, *at);
    }
    assert_string_equal(bare.data, wanted);
    text_release(&json);
    text_release(&bare);
}

static void json_has_null_for_what_is_not_finite(void **state)
{
    struct chart chart;
    (void)state;
    chart_init(&chart);
    chart.hollow_note = "saturated";
    chart_set_axis(&chart, &chart.x, "x", "");
    chart_set_axis(&chart, &chart.y, "y", "");
    chart_add_group(&chart, "a", CHART_LINES_POINTS);
    chart_add_point(&chart, 0, 0, 3);
    chart_add_point(&chart, 0, 1, NAN);
    chart_add_point(&chart, 0, 2, INFINITY);
    chart_add_measured(&chart, 0, 4, 2, 0.5, false);
    chart_add_measured(&chart, 0, 4, 3, NAN, true);
    json_is(&chart, 1,
            "{\"hollow\":\"saturated\","
            "\"x\":{\"title\":\"x\",\"label\":\"x\",\"unit\":\"\",\"scale\":\"\",\"low\""
            ":0,\"high\":4,\"factor\":1},"
            "\"categories\":[],\"bands\":[],\"marks\":[],\"panels\":[{\"height\":0,"
            "\"y\":{\"title\":\"y\",\"label\":\"y\",\"unit\":\"\",\"scale\":\"\",\"low\""
            ":0,\"high\":4,\"factor\":1},"
            "\"groups\":[{\"name\":\"a\",\"style\":\"lines+points\",\"colour\":0,\"shape\":0,"
            "\"points\":[[0,3],[1,null],[2,null],[4,2,1.5,2.5],[4,3,null,null,true]]}]}]}");
    chart_release(&chart);
}

static void json_has_categories_bands_and_marks_of_the_first_panel(void **state)
{
    struct chart charts[2];
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        chart_init(&charts[i]);
        charts[i].height = 90;
        chart_add_category(&charts[i], "one");
        chart_add_group(&charts[i], "", i ? CHART_STACKED : CHART_BARS);
        chart_add_point(&charts[i], 0, 0, 8);
    }
    chart_add_group(&charts[1], "more", CHART_POINTS);
    chart_add_band(&charts[0], 1, 2, "compute", "1 s", 2);
    chart_add_mark(&charts[0], 1, "fault");
    json_is(
        charts, 2,
        "{\"hollow\":\"\","
        "\"x\":{\"title\":\"\",\"label\":\"\",\"unit\":\"\",\"scale\":\"\",\"low\":-"
        "0.5,\"high\":0.5,\"factor\":1},"
        "\"categories\":[\"one\"],"
        "\"bands\":[{\"from\":1,\"to\":2,\"name\":\"compute\",\"detail\":\"1 s\",\"colour\":2}],"
        "\"marks\":[{\"x\":1,\"label\":\"fault\"}],"
        "\"panels\":[{\"height\":90,"
        "\"y\":{\"title\":\"\",\"label\":\"\",\"unit\":\"\",\"scale\":\"\",\"low\":0"
        ",\"high\":10,\"factor\":1},"
        "\"groups\":[{\"name\":\"\",\"style\":\"bars\",\"colour\":0,\"shape\":0,\"points\":[[0,8]]}"
        "]},"
        "{\"height\":90,"
        "\"y\":{\"title\":\"\",\"label\":\"\",\"unit\":\"\",\"scale\":\"\",\"low\":0"
        ",\"high\":10,\"factor\":1},"
        "\"groups\":[{\"name\":\"\",\"style\":\"stacked\",\"colour\":0,\"shape\":0,\"points\":[[0,"
        "8]]},"
        "{\"name\":\"more\",\"style\":\"points\",\"colour\":1,\"shape\":1,\"points\":[]}]}]}");
    chart_release(&charts[0]);
    chart_release(&charts[1]);
}

static void names_in_json_are_escaped(void **state)
{
    struct chart chart;
    struct text json = {0}, markup = {0};
    (void)state;
    chart_init(&chart);
    chart_set_axis(&chart, &chart.x, hostile, hostile);
    chart_add_category(&chart, hostile);
    chart_add_group(&chart, hostile, CHART_BARS);
    chart_add_band(&chart, 0, 1, hostile, "]]>", 0);
    chart_add_mark(&chart, 0, "\";}\\");
    chart_json_write(&(struct json){.out = &json, .pretty = true}, NULL, &chart, 1,
                     CHART_PAGE_COLUMNS);
    assert_non_null(
        strstr(json.data, "('x')</script> & \\\"`touch x`\\\" \\u0001\\ufffd\\u000a\xc3\xa9\""));
    assert_non_null(strstr(json.data, "\"\\\";}\\\\\""));
    text_put_markup(&markup, json.data); /* as a page contains it */
    assert_null(strpbrk(markup.data, "<>"));
    chart_release(&chart);
    text_release(&json);
    text_release(&markup);
}

static void a_chart_without_data_has_axes(void **state)
{
    struct chart chart;
    (void)state;
    chart_init(&chart);
    json_is(&chart, 1,
            "{\"hollow\":\"\","
            "\"x\":{\"title\":\"\",\"label\":\"\",\"unit\":\"\",\"scale\":\"\",\"low\":0"
            ",\"high\":1,\"factor\":1},"
            "\"categories\":[],\"bands\":[],\"marks\":[],\"panels\":[{\"height\":0,"
            "\"y\":{\"title\":\"\",\"label\":\"\",\"unit\":\"\",\"scale\":\"\",\"low\":0"
            ",\"high\":1,\"factor\":1},"
            "\"groups\":[]}]}");
    chart_release(&chart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_characters_are_escaped),
        cmocka_unit_test(invalid_utf8_is_replaced),
        cmocka_unit_test(a_chart_without_data_has_axes),
        cmocka_unit_test(json_has_null_for_what_is_not_finite),
        cmocka_unit_test(json_has_categories_bands_and_marks_of_the_first_panel),
        cmocka_unit_test(names_in_json_are_escaped),
        cmocka_unit_test(thinning_keeps_the_extremes),
        cmocka_unit_test(stacked_bars_reach_their_sum),
        cmocka_unit_test(panels_share_the_x_axis),
        cmocka_unit_test(a_large_error_bar_does_not_flatten_the_data),
        cmocka_unit_test(an_axis_names_its_unit_once),
        cmocka_unit_test(plots_are_svg_png_or_pdf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
