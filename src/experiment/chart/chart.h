/* Charts: curves, steps and bars, for HTML pages and for gnuplot.
 *
 * A chart is data: two axes with units, groups of points, bands and marks along the x axis.
 * chart_json.c writes it as JSON, which the script of an HTML page draws, and gnuplot.py of
 * experiments/reproduce, in the style of papers.
 *
 * Values that are not finite are gaps in lines and missing points elsewhere. Points keep their
 * order: a curve of latency over accepted traffic may turn back. */
#ifndef WEFT_EXPERIMENT_CHART_CHART_H
#define WEFT_EXPERIMENT_CHART_CHART_H

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdbool.h>

enum chart_style {
    CHART_LINES_POINTS, /* points joined by lines */
    CHART_LINES,
    CHART_STEPS, /* a value is valid until the next point */
    CHART_POINTS,
    CHART_BARS,    /* side by side in each category; without categories a histogram */
    CHART_STACKED, /* bars on top of each other */
};

struct chart_point {
    double x, y;      /* x: index of the category, if there are categories */
    double low, high; /* ends of the error bar; NaN: none */
    bool hollow;      /* saturated, or not reliable for another reason */
};

struct chart_group {
    const char *name;
    enum chart_style style;
    unsigned colour; /* 0 … CHART_COLOURS-1 */
    unsigned shape;  /* of its points: 0 … CHART_SHAPES-1 */
    VEC(struct chart_point) points;
};

struct chart_axis {
    const char *label, *unit; /* unit as in results.h */
    double low, high;         /* NaN: from the data; an axis of positive data begins at 0 */
};

struct chart_band { /* a part of the x axis, such as a phase of the manager */
    double from, to;
    const char *name, *detail; /* "compute", "105 ms" */
    unsigned colour;           /* 0 … CHART_BAND_COLOURS-1 */
};
struct chart_mark { /* a point in time, such as a fault */
    double x;
    const char *label;
};

/* Colours of Okabe and Ito, which colour-blind readers can tell apart. */
enum { CHART_COLOURS = 8, CHART_SHAPES = 5, CHART_BAND_COLOURS = 4 };

struct chart {
    const char *hollow_note; /* meaning of hollow points; "": not shown */
    struct chart_axis x, y;
    double height; /* of the data area; 0: default */
    VEC(const char *) categories;
    VEC(struct chart_group) groups;
    VEC(struct chart_band) bands;
    VEC(struct chart_mark) marks;
    struct arena arena; /* owns the texts */
};

/* The functions below copy texts. */
void chart_init(struct chart *chart);
void chart_release(struct chart *chart);
void chart_set_axis(struct chart *chart, struct chart_axis *axis, const char *label,
                    const char *unit);
size_t chart_add_category(struct chart *chart, const char *name);
size_t chart_add_group(struct chart *chart, const char *name, enum chart_style style);
void chart_add_point(struct chart *chart, size_t group, double x, double y);
/* With an error bar y ± half_width, unless that is NaN. */
void chart_add_measured(struct chart *chart, size_t group, double x, double y, double half_width,
                        bool hollow);
void chart_add_band(struct chart *chart, double from, double to, const char *name,
                    const char *detail, unsigned colour);
void chart_add_mark(struct chart *chart, double x, const char *label);

/* ---- JSON (web/src/report/data.ts has the types) ---- */

/* Columns of a page: series with more points are thinned out, so that a page stays small. */
enum { CHART_PAGE_COLUMNS = 400 };

/* Writes one object. Values that are not finite are null; lines have the points that show at a
 * resolution of `columns`. Several charts become panels with the x axis, categories, bands and
 * marks of the first. `key` is NULL in an array. */
void chart_json_write(struct json *json, const char *key, const struct chart *charts, size_t count,
                      unsigned columns);

/* ---- gnuplot: points joined by lines, key outside the data ---- */

struct chart_plot {
    const char *path;        /* ends in .svg, .png or .pdf */
    const char *log;         /* logarithmic axes: "x", "y", "xy"; NULL: none */
    const char *experiments; /* the folder experiments/ */
    bool keep;               /* keep the script as PATH.gp */
};

/* "svg", "png" or "pdf" by the end of the name; NULL: another. */
const char *chart_format_of(const char *path);
/* Several charts become panels, one above the other. Without python3 or gnuplot the error names the
 * package, and no file is written. */
int chart_draw(const struct chart *charts, size_t count, const struct chart_plot *plot,
               struct err *err);

/* ---- for the writer ---- */

/* The range of an axis, and the scale of its numbers. */
struct chart_range {
    double low, high, factor;
    char unit[64]; /* with its prefix */
};
/* The x range of several charts that share it. */
struct chart_range chart_x_range(const struct chart *charts, size_t count);
/* The range of the points inside the x range, rounded up for that number of ticks. */
struct chart_range chart_y_range(const struct chart *chart, const struct chart_range *x,
                                 unsigned ticks);
/* "throughput (Gbit/s)" */
void chart_axis_title(const struct chart_axis *axis, const struct chart_range *range, char *buffer,
                      size_t size);
/* The points to draw at a resolution of `columns`: the first, least, greatest and last point of
 * each column, and one outside on each side. Points that are not sorted by x are only thinned out.
 * The caller releases them. */
struct chart_points {
    VEC(struct chart_point);
};
void chart_thin(const struct chart_group *group, const struct chart_range *x, unsigned columns,
                struct chart_points *points);

#endif
