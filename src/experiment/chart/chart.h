/* Charts: named curves, steps and bars from arrays, drawn as SVG by our own hand or by gnuplot.
 *
 * A chart is data and words, no drawing: two axes with units, groups of points, bands and marks
 * along the x axis. Two writers turn it into a picture. chart_svg.h makes SVG to be put into a page
 * (light and dark, with hover titles); chart_gnuplot.h runs gnuplot for the style of papers. Both
 * scale units alike.
 *
 * Values that are no numbers are gaps in lines and missing points elsewhere. Points keep their
 * order: a curve of latency over accepted traffic may turn back. */
#ifndef WEFT_EXPERIMENT_CHART_CHART_H
#define WEFT_EXPERIMENT_CHART_CHART_H

#include "base/mem.h"

#include <stdbool.h>

enum chart_style {
    CHART_LINES_POINTS, /* as in papers: measured points, joined */
    CHART_LINES,
    CHART_STEPS, /* a value holds until the next */
    CHART_POINTS,
    CHART_BARS,    /* side by side in each category; without categories a histogram */
    CHART_STACKED, /* bars on top of each other */
};

struct chart_point {
    double x, y;      /* x: the category's number where there are categories */
    double low, high; /* ends of the error bar; NaN: none */
    bool hollow;      /* saturated, or not to be taken at face value for another reason */
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
    bool log;
    double low, high; /* NaN: from the data; linear ones begin at 0 where the data is positive */
};

struct chart_band { /* a part of the x axis, such as a phase of the manager */
    double from, to;
    const char *name, *detail; /* "compute", "105 ms" */
    unsigned colour;           /* 0 … CHART_BAND_COLOURS-1 */
};
struct chart_mark { /* a moment, such as a fault */
    double x;
    const char *label;
};

/* Colours of Okabe and Ito, told apart by most eyes, on paper too. */
enum { CHART_COLOURS = 8, CHART_SHAPES = 5, CHART_BAND_COLOURS = 4 };

struct chart {
    const char *title;       /* "": none */
    const char *hollow_note; /* what hollow points mean; "": nothing is said */
    struct chart_axis x, y;
    double height; /* of the data's area; 0: the usual */
    VEC(const char *) categories;
    VEC(struct chart_group) groups;
    VEC(struct chart_band) bands;
    VEC(struct chart_mark) marks;
    struct arena arena; /* of all texts */
};

/* Texts are copied everywhere below. */
void chart_init(struct chart *chart, const char *title);
void chart_release(struct chart *chart);
void chart_set_axis(struct chart *chart, struct chart_axis *axis, const char *label,
                    const char *unit);
size_t chart_add_category(struct chart *chart, const char *name);
size_t chart_add_group(struct chart *chart, const char *name, enum chart_style style);
void chart_add_point(struct chart *chart, size_t group, double x, double y);
/* With an error bar: y ± half_width, none if that is no number. */
void chart_add_measured(struct chart *chart, size_t group, double x, double y, double half_width,
                        bool hollow);
void chart_add_band(struct chart *chart, double from, double to, const char *name,
                    const char *detail, unsigned colour);
void chart_add_mark(struct chart *chart, double x, const char *label);

/* ---- for the writers ---- */

/* What an axis shows: its ends, and how numbers on it are shown. */
struct chart_range {
    double low, high, factor;
    bool log;
    char unit[64]; /* with its prefix */
};
struct chart_bars {
    double gap;       /* between the middles of neighbours, on the x axis */
    unsigned columns; /* bars side by side; 0: the chart has none */
};
struct chart_bars chart_measure_bars(const struct chart *chart);
/* The x range of several charts that share it. */
struct chart_range chart_x_range(const struct chart *charts, size_t count);
/* Of the points within the x range, up to a round number where there is room for so many ticks. */
struct chart_range chart_y_range(const struct chart *chart, const struct chart_range *x,
                                 unsigned ticks);
/* "throughput (Gbit/s)" */
void chart_axis_title(const struct chart_axis *axis, const struct chart_range *range, char *buffer,
                      size_t size);
/* The points to draw where only `columns` can be told apart: the first, the least, the greatest and
 * the last of each column, and those just outside. Points in another order than that of x are only
 * thinned out. Releasing is the caller's. */
struct chart_points {
    VEC(struct chart_point);
};
void chart_thin(const struct chart_group *group, const struct chart_range *x, unsigned columns,
                struct chart_points *points);

#endif
