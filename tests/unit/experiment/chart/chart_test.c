/* Escaping for markup, and charts as SVG and as gnuplot scripts. */
#include "base/file.h"
#include "experiment/chart/chart_gnuplot.h"
#include "experiment/chart/chart_svg.h"
#include "experiment/chart/markup.h"
#include "experiment/chart/program.h"

#include "base/time.h"
#include "markup_check.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const char hostile[] = "<script>alert('x')</script> & \"`touch x`\" \x01\xff\n\xc3\xa9";

/* ---- markup ---- */

static void special_characters_are_escaped(void **state)
{
    struct text out = {0};
    (void)state;
    markup_put(&out, hostile);
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
        markup_put(&out, broken[i]);
        assert_non_null(strstr(out.data, "\xef\xbf\xbd"));
        assert_null(strstr(out.data, broken[i]));
        text_release(&out);
    }
}

static void long_text_loses_its_middle(void **state)
{
    struct text out = {0};
    (void)state;
    markup_put_short(&out, "é<é<é", 3);
    assert_string_equal(out.data, "é…é");
    assert_int_equal(markup_length("é<é"), 3);
    text_release(&out);
}

/* ---- charts ---- */

static void draw(const struct chart *charts, size_t count, struct text *svg)
{
    chart_svg_write(charts, count, svg);
    assert_true(markup_is_well_formed(svg->data));
    assert_null(strstr(svg->data, "nan"));
    assert_null(strstr(svg->data, "inf"));
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

static void a_chart_without_data_has_axes(void **state)
{
    struct chart chart;
    struct text svg = {0};
    (void)state;
    chart_init(&chart, "nothing");
    chart_set_axis(&chart, &chart.y, "y", "s");
    chart_add_group(&chart, "a", CHART_LINES);
    draw(&chart, 1, &svg);
    assert_non_null(strstr(svg.data, "class=\"axis\""));
    chart_release(&chart);
    text_release(&svg);
}

static void one_point_is_drawn_and_nan_is_not(void **state)
{
    static const enum chart_style styles[] = {CHART_LINES_POINTS, CHART_POINTS};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct chart chart;
        struct text svg = {0};
        chart_init(&chart, "");
        chart_add_group(&chart, "", styles[i]);
        chart_add_point(&chart, 0, 3, 5);
        chart_add_point(&chart, 0, NAN, 5);
        chart_add_point(&chart, 0, 4, NAN);
        chart_add_point(&chart, 0, 4, INFINITY);
        draw(&chart, 1, &svg);
        assert_int_equal(occurrences(svg.data, "class=\"dot"), 1);
        chart_release(&chart);
        text_release(&svg);
    }
}

static void a_gap_breaks_a_line(void **state)
{
    struct chart chart;
    struct text svg = {0};
    (void)state;
    chart_init(&chart, "");
    chart_add_group(&chart, "", CHART_LINES);
    for (int i = 0; i < 5; i++)
        chart_add_point(&chart, 0, i, i == 2 ? NAN : 1);
    draw(&chart, 1, &svg);
    const char *line = strstr(svg.data, "class=\"line k0\"");
    assert_non_null(line);
    const char *end = strchr(line, '>');
    size_t moves = 0;
    for (; line < end; line++)
        moves += *line == 'M';
    assert_int_equal(moves, 2);
    chart_release(&chart);
    text_release(&svg);
}

static void thinning_keeps_the_extremes(void **state)
{
    struct chart chart;
    struct text svg = {0};
    struct chart_points kept = {0};
    double least = 0, most = 0;
    (void)state;
    chart_init(&chart, "");
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
    draw(&chart, 1, &svg);
    assert_true(svg.length < 60000);
    vec_release(&kept);
    chart_release(&chart);
    text_release(&svg);
}

static void stacked_bars_reach_their_sum(void **state)
{
    struct chart chart;
    struct text svg = {0};
    (void)state;
    chart_init(&chart, "");
    chart_add_category(&chart, "one");
    chart_add_category(&chart, hostile);
    for (unsigned g = 0; g < 3; g++) {
        chart_add_group(&chart, "part", CHART_STACKED);
        chart_add_point(&chart, g, 0, 13);
        chart_add_point(&chart, g, 1, g == 1 ? NAN : 21);
    }
    struct chart_range x = chart_x_range(&chart, 1), y = chart_y_range(&chart, &x, 5);
    assert_true(y.low == 0 && y.high >= 42);
    draw(&chart, 1, &svg);
    assert_int_equal(occurrences(svg.data, "<rect class=\"bar k"), 5 + 3 /* of the key */);
    assert_non_null(strstr(svg.data, ">42</text>"));
    chart_release(&chart);
    text_release(&svg);
}

static void panels_share_the_x_axis_bands_and_marks(void **state)
{
    struct chart charts[2];
    struct text svg = {0};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        chart_init(&charts[i], "");
        chart_add_group(&charts[i], hostile, CHART_STEPS);
        chart_add_point(&charts[i], 0, i, 1);
        chart_add_point(&charts[i], 0, 5 + i, 2);
    }
    chart_add_band(&charts[0], 1, 2, "compute", "1 s", 2);
    chart_add_mark(&charts[0], 1, hostile);
    struct chart_range x = chart_x_range(charts, 2);
    assert_true(x.low == 0 && x.high == 6);
    draw(charts, 2, &svg);
    assert_int_equal(occurrences(svg.data, "class=\"tint b2\""), 2);
    assert_int_equal(occurrences(svg.data, "class=\"strip b2\""), 1);
    assert_non_null(strstr(svg.data, "phase: compute"));
    chart_release(&charts[0]);
    chart_release(&charts[1]);
    text_release(&svg);
}

static void the_key_explains_hollow_points(void **state)
{
    struct chart chart;
    struct text svg = {0};
    (void)state;
    chart_init(&chart, "");
    chart.hollow_note = "saturated";
    chart_add_group(&chart, "", CHART_LINES_POINTS);
    chart_add_measured(&chart, 0, 1, 2, 0.5, false);
    chart_add_measured(&chart, 0, 2, 2, 0.5, true);
    draw(&chart, 1, &svg);
    assert_int_equal(occurrences(svg.data, "class=\"hollow k"), 2);
    assert_int_equal(occurrences(svg.data, "class=\"whisker k"), 2);
    assert_non_null(strstr(svg.data, ">saturated</text>"));
    chart_release(&chart);
    text_release(&svg);
}

static void a_large_error_bar_does_not_flatten_the_data(void **state)
{
    struct chart chart;
    (void)state;
    chart_init(&chart, "");
    chart_add_group(&chart, "", CHART_LINES_POINTS);
    chart_add_measured(&chart, 0, 1, 10, 1000, false);
    chart_add_measured(&chart, 0, 2, 20, 1, false);
    struct chart_range x = chart_x_range(&chart, 1), y = chart_y_range(&chart, &x, 5);
    assert_true(y.low == 0 && y.high <= 40);
    struct text svg = {0};
    draw(&chart, 1, &svg); /* a bar without ends has no caps, which would be ends */
    assert_int_equal(occurrences(svg.data, "class=\"whisker endless k"), 1);
    assert_int_equal(occurrences(svg.data, "class=\"whisker k"), 1);
    const char *endless = strstr(svg.data, "class=\"whisker endless k");
    const char *cap = endless ? strstr(endless, "h7") : NULL;
    assert_true(cap && cap > strchr(endless, '>'));
    text_release(&svg);
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
        chart_init(&chart, "");
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

/* ---- gnuplot ---- */

/* Removes text in single quotes; the rest must not come from a name. */
static void strip_quoted(const char *script, struct text *out)
{
    bool quoted = false;
    for (; *script; script++) {
        quoted ^= *script == '\'';
        if (!quoted)
            text_putc(out, *script);
        else
            assert_true(*script != '\n');
    }
    assert_false(quoted);
}

static void a_name_cannot_escape_its_quotes(void **state)
{
    static const char name[] = "a'; system('touch x'); '`touch y`\n!touch z";
    struct chart chart;
    struct text script = {0}, bare = {0};
    (void)state;
    chart_init(&chart, name);
    chart_set_axis(&chart, &chart.x, name, "");
    chart_add_category(&chart, name);
    chart_add_group(&chart, name, CHART_BARS);
    chart_add_point(&chart, 0, 0, 1);
    chart_add_mark(&chart, 0, name);
    chart_add_band(&chart, 0, 1, name, name, 0);
    chart_gnuplot_script(&chart, 1, CHART_SVG, &script);
    strip_quoted(script.data, &bare);
    text_putc(&bare, '\n');
    assert_null(strstr(bare.data, "touch"));
    assert_non_null(strstr(script.data, "touch"));
    chart_release(&chart);
    text_release(&script);
    text_release(&bare);
}

static void plots_are_svg_or_png(void **state)
{
    enum chart_format format;
    struct chart chart;
    struct err err;
    (void)state;
    assert_true(chart_format_of("a/b.c.svg", &format) && format == CHART_SVG);
    assert_true(chart_format_of("x.png", &format) && format == CHART_PNG);
    assert_false(chart_format_of("x.pdf", &format));
    assert_false(chart_format_of("svg", &format));
    chart_init(&chart, "");
    assert_int_equal(chart_gnuplot(&chart, 1, "x.pdf", false, &err), -EINVAL);
    chart_release(&chart);
}

static void the_error_for_a_missing_program_names_its_package(void **state)
{
    static const char *const argv[] = {"there-is-no-such-program", NULL};
    struct text in = {0}, out = {0};
    struct err err;
    (void)state;
    assert_int_equal(program_run(argv, "some-package", &in, 100, &out, &err), -ENOENT);
    assert_non_null(strstr(err.message, "some-package"));
}

static void a_program_reads_its_input_and_its_failure_is_an_error(void **state)
{
    static const char *const cat[] = {"cat", NULL};
    static const char *const fail[] = {"sh", "-c", "echo >&2; echo no good >&2; exit 3", NULL};
    struct text in = {0}, out = {0};
    struct err err;
    (void)state;
    text_puts(&in, "hello");
    assert_int_equal(program_run(cat, "coreutils", &in, 100, &out, &err), 0);
    assert_string_equal(out.data, "hello");
    assert_int_equal(program_run(cat, "coreutils", &in, 3, &out, &err), -EFBIG);
    assert_int_equal(program_run(fail, "dash", &in, 100, &out, &err), -EIO);
    assert_string_equal(err.message, "sh failed: no good");
    text_release(&in);
    text_release(&out);
}

/* ---- labels ---- */

struct label_box {
    double left, top, right, bottom;
    char text[128];
};

/* The texts of a picture with estimated sizes, a little below those of a browser. */
static size_t read_labels(const char *svg, struct label_box *boxes, size_t room)
{
    size_t count = 0;
    for (const char *at = svg; (at = strstr(at, "<text x=")) && count < room; at++) {
        double x, y;
        char anchor[8], class[16];
        struct label_box *box = &boxes[count++];
        assert_int_equal(sscanf(at,
                                "<text x=\"%lf\" y=\"%lf\" text-anchor=\"%7[a-z]\" "
                                "class=\"%15[^\"]\">%127[^<]",
                                &x, &y, anchor, class, box->text),
                         5);
        double letter = strcmp(class, "title") == 0      ? 8.4
                        : strncmp(class, "name", 4) == 0 ? 7.6
                        : strcmp(class, "tick") == 0     ? 6.6
                                                         : 7;
        double width = letter * (double)markup_length(box->text);
        box->left = x - (anchor[0] == 'm' ? width / 2 : anchor[0] == 'e' ? width : 0);
        box->right = box->left + width;
        box->top = y - 9;
        box->bottom = y + 2;
    }
    return count;
}

/* No label is cut by the edge of the picture, and no two labels overlap. */
static void check_labels(const struct chart *charts, size_t count)
{
    static struct label_box boxes[500];
    struct text svg = {0};
    double width, height;
    draw(charts, count, &svg);
    assert_int_equal(
        sscanf(svg.data, "<svg class=\"chart\" viewBox=\"0 0 %lf %lf", &width, &height), 2);
    size_t labels = read_labels(svg.data, boxes, 500);
    assert_true(labels > 2);
    for (size_t i = 0; i < labels; i++) {
        const struct label_box *a = &boxes[i];
        if (a->left < 0 || a->right > width || a->top < 0 || a->bottom > height)
            fail_msg("cut: %s", a->text);
        for (size_t j = 0; j < i; j++) {
            const struct label_box *b = &boxes[j];
            if (a->left < b->right && b->left < a->right && a->top < b->bottom &&
                b->top < a->bottom)
                fail_msg("overlap: %s, %s", a->text, b->text);
        }
    }
    text_release(&svg);
}

static const char endless[] =
    "a text that is much longer than any picture is wide, with more words "
    "than anybody would read in the title of a plot, and then some more";

static void labels_of_lines_are_neither_cut_nor_overlap(void **state)
{
    (void)state;
    static const double widths[] = {0, 600, 400};
    static const double reaches[] = {1, 300000, 1e7, 1e12};
    for (size_t w = 0; w < 3; w++)
        for (size_t r = 0; r < 8; r++) {
            struct chart chart;
            chart_init(&chart, endless);
            chart.width = widths[w];
            chart.x.log = chart.y.log = r >= 4;
            chart.hollow_note = "a note on hollow points that is quite long itself";
            chart_set_axis(&chart, &chart.x, endless, r % 2 ? "" : "packets/s");
            chart_set_axis(&chart, &chart.y, endless, r % 2 ? "packets" : "ps");
            for (size_t g = 0; g < 12; g++) {
                size_t group = chart_add_group(&chart, endless + g, CHART_LINES_POINTS);
                for (size_t i = 1; i <= 4; i++)
                    chart_add_measured(&chart, group, reaches[r % 4] * (double)i / 4,
                                       reaches[r % 4] * (double)(i + g) / 7, NAN, i == 4);
            }
            for (size_t m = 0; m < 6; m++)
                chart_add_mark(&chart, reaches[r % 4] * (0.4 + 0.12 * (double)m), endless + m);
            check_labels(&chart, 1);
            chart_release(&chart);
        }
}

static void labels_of_bars_are_neither_cut_nor_overlap(void **state)
{
    (void)state;
    static const size_t categories[] = {1, 5, 12, 40, 150};
    for (size_t c = 0; c < 5; c++)
        for (size_t groups = 1; groups <= 4; groups++) {
            struct chart chart;
            chart_init(&chart, "");
            chart.width = 600;
            chart_set_axis(&chart, &chart.y, "time", groups % 2 ? "ps" : "packets");
            for (size_t i = 0; i < categories[c]; i++)
                chart_add_category(&chart, endless + i % 40);
            for (size_t g = 0; g < groups; g++) {
                size_t group = chart_add_group(&chart, endless + g, CHART_BARS);
                for (size_t i = 0; i < categories[c]; i++)
                    chart_add_measured(&chart, group, (double)i, 123456789.0 - (double)(g + i),
                                       g ? 1e7 : NAN, false);
            }
            check_labels(&chart, 1);
            chart_release(&chart);
        }
}

static void the_key_of_a_plot_is_beside_its_panels(void **state)
{
    (void)state;
    struct chart charts[2];
    struct text script = {0};
    double end = 1;
    for (size_t i = 0; i < 2; i++) {
        chart_init(&charts[i], "");
        chart_add_group(&charts[i], "engine=fera, rate=380000", CHART_LINES_POINTS);
    }
    chart_gnuplot_script(charts, 2, CHART_SVG, &script);
    const char *at = strstr(script.data, "set rmargin at screen ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "set rmargin at screen %lf", &end), 1);
    assert_true(760 * (1 - end) > 7.3 * 24 + 90); /* letters, a sample of the line, margins */
    text_release(&script);
    for (size_t i = 0; i < 2; i++)
        chart_release(&charts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_characters_are_escaped),
        cmocka_unit_test(invalid_utf8_is_replaced),
        cmocka_unit_test(long_text_loses_its_middle),
        cmocka_unit_test(the_key_of_a_plot_is_beside_its_panels),
        cmocka_unit_test(labels_of_lines_are_neither_cut_nor_overlap),
        cmocka_unit_test(labels_of_bars_are_neither_cut_nor_overlap),
        cmocka_unit_test(a_chart_without_data_has_axes),
        cmocka_unit_test(one_point_is_drawn_and_nan_is_not),
        cmocka_unit_test(a_gap_breaks_a_line),
        cmocka_unit_test(thinning_keeps_the_extremes),
        cmocka_unit_test(stacked_bars_reach_their_sum),
        cmocka_unit_test(panels_share_the_x_axis_bands_and_marks),
        cmocka_unit_test(the_key_explains_hollow_points),
        cmocka_unit_test(a_large_error_bar_does_not_flatten_the_data),
        cmocka_unit_test(an_axis_names_its_unit_once),
        cmocka_unit_test(a_name_cannot_escape_its_quotes),
        cmocka_unit_test(plots_are_svg_or_png),
        cmocka_unit_test(the_error_for_a_missing_program_names_its_package),
        cmocka_unit_test(a_program_reads_its_input_and_its_failure_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
