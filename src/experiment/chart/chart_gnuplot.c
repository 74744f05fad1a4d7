/* Writes gnuplot scripts and runs them. */
#include "experiment/chart/chart.h"

#include "base/file.h"
#include "base/quantity.h"
#include "experiment/chart/program.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { POINTS_PER_LINE = 2000, Y_TICKS = 5 };

static const char *const colours[CHART_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                   "#56b4e9", "#e69f00", "#000000", "#6b6b00"};
static const char *const bands[CHART_BAND_COLOURS] = {"#6f7782", "#1f7fbf", "#b87a00", "#00825f"};
/* Point types of gnuplot: circle, square, triangle, diamond, inverted triangle. */
static const unsigned filled[CHART_SHAPES] = {7, 5, 9, 13, 11};
static const unsigned open_shapes[CHART_SHAPES] = {6, 4, 8, 12, 10};

/* gnuplot does not expand or execute text in single quotes. */
static void put_quoted(struct text *out, const char *text)
{
    text_putc(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            text_putc(out, '\'');
        text_putc(out, (unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text);
    }
    text_putc(out, '\'');
}

/* ---- data ---- */

static bool is_bar(const struct chart_group *group)
{
    return group->style >= CHART_BARS;
}

/* One bar a line: its four sides, and the error bar. `piles` has the height that stacked bars have
 * reached, by category. */
static void put_bars(const struct chart *chart, const struct chart_group *group,
                     struct chart_bars of, unsigned column, double *piles,
                     const struct chart_range *x, const struct chart_range *y, struct text *out)
{
    double room = of.gap * (chart->categories.count ? 0.76 : 1);
    double width = room / of.columns;
    for (size_t i = 0; i < group->points.count; i++) {
        const struct chart_point *point = &group->points.items[i];
        bool inside = point->x >= 0 && point->x < (double)chart->categories.count;
        if (!isfinite(point->x) || !isfinite(point->y) || (chart->categories.count && !inside))
            continue;
        double *pile = group->style == CHART_STACKED && inside ? &piles[(size_t)point->x] : NULL;
        double left = point->x - room / 2 + column * width, bottom = pile ? *pile : 0;
        double low = y->log && bottom <= 0 ? y->low : bottom;
        bool error = !pile && isfinite(point->low) && isfinite(point->high);
        text_printf(out, "%.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g\n",
                    (left + width / 2) / x->factor, (bottom + point->y) / y->factor,
                    left / x->factor, (left + width * 0.94) / x->factor, low / y->factor,
                    (bottom + point->y) / y->factor, (error ? point->low : NAN) / y->factor,
                    (error ? point->high : NAN) / y->factor);
        if (pile)
            *pile += point->y;
    }
}

static void put_data(const struct chart *chart, size_t panel, const struct chart_range *x,
                     const struct chart_range *y, struct text *out)
{
    struct chart_bars of = chart_measure_bars(chart);
    double *piles = mem_zalloc(chart->categories.count + 1, sizeof *piles);
    unsigned column = 0;
    for (size_t g = 0; g < chart->groups.count; g++) {
        const struct chart_group *group = &chart->groups.items[g];
        text_printf(out, "$p%zug%zu << EOD\n", panel, g);
        if (is_bar(group)) {
            bool stacked = group->style == CHART_STACKED;
            put_bars(chart, group, of, stacked ? of.columns - 1 : column, piles, x, y, out);
            column += !stacked;
        } else {
            struct chart_points points = {0};
            chart_thin(group, x, POINTS_PER_LINE, &points);
            for (size_t i = 0; i < points.count; i++) {
                const struct chart_point *point = &points.items[i];
                bool error = isfinite(point->low) && isfinite(point->high);
                if (!isfinite(point->x) || !isfinite(point->y) || (y->log && point->y <= 0) ||
                    (x->log && point->x <= 0))
                    text_putc(out, '\n'); /* an empty line is a gap */
                else
                    text_printf(out, "%.9g %.9g %.9g %.9g %d\n", point->x / x->factor,
                                point->y / y->factor, (error ? point->low : point->y) / y->factor,
                                (error ? point->high : point->y) / y->factor, point->hollow);
            }
            vec_release(&points);
        }
        text_puts(out, "EOD\n");
    }
    mem_free(piles);
}

/* ---- axes ---- */

static void put_range(struct text *out, const char *axis, const struct chart_range *range)
{
    text_printf(out, "%sset logscale %s\n", range->log ? "" : "un", axis);
    text_printf(out, "set %srange [%.9g:%.9g]\n", axis, range->low / range->factor,
                range->high / range->factor);
}

static void put_axes(const struct chart *chart, const struct chart_range *x,
                     const struct chart_range *y, bool last, struct text *out)
{
    char title[160];
    put_range(out, "x", x);
    put_range(out, "y", y);
    chart_axis_title(&chart->y, y, title, sizeof title);
    text_puts(out, "set ylabel ");
    put_quoted(out, title);
    chart_axis_title(&chart->x, x, title, sizeof title);
    text_puts(out, "\nset xlabel ");
    put_quoted(out, last ? title : "");
    text_printf(out, "\nset format x '%s'\nset format y '%s'\n",
                !last    ? ""
                : x->log ? "%.0s%c"
                         : "%g",
                y->log ? "%.0s%c" : "%g");
    if (!chart->categories.count)
        return;
    text_puts(out, "set xtics (");
    for (size_t i = 0; i < chart->categories.count; i++) {
        text_puts(out, i ? ", " : "");
        put_quoted(out, chart->categories.items[i]);
        text_printf(out, " %zu", i);
    }
    text_puts(out, ") scale 0\n");
}

/* Bands and marks cross all panels; the first panel has their labels. */
static void put_moments(const struct chart *first, const struct chart_range *x, bool named,
                        struct text *out)
{
    text_puts(out, "unset object\nunset arrow\nunset label\n");
    for (size_t i = 0; i < first->bands.count; i++)
        text_printf(out,
                    "set object rectangle from %.9g, graph 0 to %.9g, graph 1 behind "
                    "fillcolor rgb '%s' fillstyle solid 0.2 noborder\n",
                    fmax(first->bands.items[i].from, x->low) / x->factor,
                    fmin(first->bands.items[i].to, x->high) / x->factor,
                    bands[first->bands.items[i].colour % CHART_BAND_COLOURS]);
    for (size_t i = 0; i < first->marks.count; i++) {
        double at = first->marks.items[i].x;
        if (!(at >= x->low && at <= x->high))
            continue;
        text_printf(out,
                    "set arrow from %.9g, graph 0 to %.9g, graph 1 nohead dashtype 2 "
                    "linecolor rgb '#b00020'\n",
                    at / x->factor, at / x->factor);
        if (!named)
            continue;
        text_puts(out, "set label ");
        put_quoted(out, first->marks.items[i].label);
        text_printf(out, " at %.9g, graph 1.06 textcolor rgb '#b00020'\n", at / x->factor);
    }
    for (size_t i = 0; named && i < first->bands.count; i++) {
        const struct chart_band *band = &first->bands.items[i];
        double share = (band->to - band->from) / (x->high - x->low);
        if (share < 0.12 || band->from < x->low || band->to > x->high)
            continue; /* no room for the label */
        text_puts(out, "set label ");
        put_quoted(out, band->name);
        text_printf(out, " at %.9g, graph 0.06 center textcolor rgb '%s'\n",
                    (band->from + band->to) / 2 / x->factor,
                    bands[band->colour % CHART_BAND_COLOURS]);
    }
}

/* ---- plots ---- */

static void put_plot_of(const struct chart_group *group, const char *data, struct text *out)
{
    const char *colour = colours[group->colour];
    static const char *const with[] = {[CHART_LINES_POINTS] = "linespoints",
                                       [CHART_LINES] = "lines",
                                       [CHART_STEPS] = "steps",
                                       [CHART_POINTS] = "points"};
    if (is_bar(group)) {
        text_printf(
            out,
            "%s using 1:2:3:4:5:6 with boxxyerror fillstyle solid 0.9 noborder linecolor rgb '%s'",
            data, colour);
    } else {
        text_printf(out, "%s using 1:2 with %s linewidth 1.6 linecolor rgb '%s'", data,
                    with[group->style], colour);
        if (group->style == CHART_LINES_POINTS || group->style == CHART_POINTS)
            text_printf(out, " pointtype %u pointsize 0.9", filled[group->shape]);
    }
    text_puts(out, group->name[0] ? " title " : " notitle");
    if (group->name[0])
        put_quoted(out, group->name);
}

static void put_extras_of(const struct chart_group *group, const char *data, struct text *out)
{
    bool error = false, hollow = false;
    for (size_t i = 0; i < group->points.count; i++) {
        error |= isfinite(group->points.items[i].low) && isfinite(group->points.items[i].high);
        hollow |= group->points.items[i].hollow;
    }
    if (error && group->style != CHART_STACKED) /* yerrorbars would hide the points */
        text_printf(out,
                    ", \\\n  %s using 1:%s with vectors heads size screen 0.004,90 fixed "
                    "linecolor rgb '%s' notitle",
                    data, is_bar(group) ? "7:(0):($8-$7)" : "3:(0):($4-$3)",
                    is_bar(group) ? "#000000" : colours[group->colour]);
    if (!hollow || is_bar(group))
        return;
    /* A white point below makes the open point empty. */
    text_printf(out,
                ", \\\n  %s using 1:($5 == 1 ? $2 : NaN) with points pointtype %u pointsize 0.9 "
                "linecolor rgb '#ffffff' notitle",
                data, filled[group->shape]);
    text_printf(out,
                ", \\\n  %s using 1:($5 == 1 ? $2 : NaN) with points pointtype %u pointsize 0.9 "
                "linewidth 1.6 linecolor rgb '%s' notitle",
                data, open_shapes[group->shape], colours[group->colour]);
}

static void put_plot(const struct chart *chart, size_t panel, struct text *out)
{
    char data[64];
    bool any = false, hollow = false;
    for (size_t g = 0; g < chart->groups.count; g++)
        for (size_t i = 0; i < chart->groups.items[g].points.count; i++) {
            const struct chart_point *point = &chart->groups.items[g].points.items[i];
            any |= isfinite(point->x) && isfinite(point->y);
            hollow |= point->hollow;
        }
    text_puts(out, any ? "plot " : "plot NaN notitle"); /* empty axes */
    for (size_t g = 0; any && g < chart->groups.count; g++) {
        snprintf(data, sizeof data, "$p%zug%zu", panel, g);
        text_puts(out, g ? ", \\\n  " : "");
        put_plot_of(&chart->groups.items[g], data, out);
        put_extras_of(&chart->groups.items[g], data, out);
    }
    if (hollow && chart->hollow_note[0]) {
        text_puts(out, ", \\\n  NaN with points pointtype 6 linecolor rgb '#000000' title ");
        put_quoted(out, chart->hollow_note);
    }
    text_putc(out, '\n');
}

static void put_head(const struct chart *charts, size_t count, enum chart_format format,
                     struct text *out)
{
    unsigned height = count > 1 ? 120 + 230 * (unsigned)count : 440;
    text_puts(out, "# gnuplot SCRIPT >PICTURE\nset encoding utf8\n");
    if (format == CHART_SVG)
        text_printf(out,
                    "set terminal svg noenhanced size 760,%u font 'Helvetica,13' background "
                    "rgb 'white'\n",
                    height);
    else
        text_printf(out,
                    "set terminal pngcairo noenhanced size 1520,%u font 'Helvetica,20' "
                    "linewidth 2 pointscale 1.6\n",
                    2 * height);
    text_puts(out, "set border 3 linecolor rgb '#333333'\nset tics nomirror out\n"
                   "set grid ytics linecolor rgb '#dddddd' linetype 1\n"
                   "set key outside right center vertical Left reverse noopaque samplen 2\n");
    if (charts[0].title[0]) {
        text_puts(out, count > 1 ? "set multiplot title " : "set title ");
        put_quoted(out, charts[0].title);
        text_putc(out, '\n');
    } else if (count > 1) {
        text_puts(out, "set multiplot\n");
    }
}

void chart_gnuplot_script(const struct chart *charts, size_t count, enum chart_format format,
                          struct text *out)
{
    struct chart_range x = chart_x_range(charts, count);
    const struct chart *first = &charts[0];
    size_t longest = 0; /* name of a group */
    for (size_t i = 0; i < count; i++)
        for (size_t g = 0; g < charts[i].groups.count; g++) {
            size_t length = text_width(charts[i].groups.items[g].name);
            longest = length > longest ? length : longest;
        }
    /* The right end of the panels, as a share of the width: the key beside them has room for the
     * longest name. */
    double end = fmin(fmax(0.87 - 0.0105 * (double)longest, 0.4), 0.82);
    put_head(charts, count, format, out);
    for (size_t i = 0; i < count; i++) {
        struct chart_range y = chart_y_range(&charts[i], &x, Y_TICKS);
        put_data(&charts[i], i, &x, &y, out);
        if (count > 1) { /* all panels have the same width */
            double share = 0.84 / (double)count;
            text_printf(out,
                        "set lmargin at screen 0.11\nset rmargin at screen %.4f\n"
                        "set tmargin at screen %.4f\nset bmargin at screen %.4f\n",
                        end, 0.93 - share * (double)i, 0.93 - share * (double)(i + 1) + 0.03);
        }
        bool same_names = i > 0 && first->groups.count == charts[i].groups.count;
        for (size_t g = 0; g < first->groups.count && same_names; g++)
            same_names = strcmp(first->groups.items[g].name, charts[i].groups.items[g].name) == 0;
        if (same_names) /* one key is enough */
            text_puts(out, "unset key\n");
        put_axes(&charts[i], &x, &y, i + 1 == count, out);
        put_moments(first, &x, i == 0, out);
        put_plot(&charts[i], i, out);
    }
    if (count > 1)
        text_puts(out, "unset multiplot\n");
}

bool chart_format_of(const char *path, enum chart_format *format)
{
    const char *end = strrchr(path, '.');
    if (!end || (strcmp(end, ".svg") != 0 && strcmp(end, ".png") != 0))
        return false;
    *format = strcmp(end, ".svg") == 0 ? CHART_SVG : CHART_PNG;
    return true;
}

int chart_gnuplot(const struct chart *charts, size_t count, const char *path, bool keep,
                  struct err *err)
{
    struct text script = {0}, picture = {0};
    enum chart_format format;
    if (!chart_format_of(path, &format))
        return err_at(err, EINVAL, path, 0, "expected a name in .svg or .png");
    chart_gnuplot_script(charts, count, format, &script);
    int status = program_filter((const char *const[]){"gnuplot", "-", NULL}, "gnuplot-nox", &script,
                                &picture, err);
    if (status == 0)
        status = file_write(path, &picture, err);
    if (status == 0 && keep) {
        struct text name = {0};
        text_printf(&name, "%s.gp", path);
        status = file_write(name.data, &script, err);
        text_release(&name);
    }
    text_release(&script);
    text_release(&picture);
    return status;
}
