/* Inside of the SVG writer: the frame of one panel, and pens. */
#ifndef WEFT_EXPERIMENT_CHART_CHART_SVG_INTERNAL_H
#define WEFT_EXPERIMENT_CHART_CHART_SVG_INTERNAL_H

#include "experiment/chart/chart_svg.h"

enum { SVG_WIDTH = 760, SVG_LINE = 16 /* of text */, SVG_LABEL_LETTERS = 24 };

struct frame {
    const struct chart *chart;
    struct chart_range x, y;
    double left, top, width, height; /* of the data's area */
    struct text *out;
};

double frame_x(const struct frame *frame, double value);
double frame_y(const struct frame *frame, double value);
bool frame_shows(const struct frame *frame, double x, double y);

/* Width of a text in the chart's letters, more or less. */
double svg_text_width(const char *text);
/* `class` may hold several; anchor: "start", "middle" or "end". Long texts are cut. */
void svg_put_text(struct text *out, double x, double y, const char *anchor, const char *class,
                  const char *text);
/* The mark of a group: a shape of its own beside its colour. The title may be NULL. */
void svg_put_marker(struct text *out, double x, double y, const struct chart_group *group,
                    bool hollow, const char *title);
/* chart_svg_data.c */
void frame_draw_groups(const struct frame *frame);
void frame_draw_labels(const struct frame *frame);
/* Whether groups are named beside the ends of their lines, and how much room that takes. */
bool frame_labels_fit(const struct chart *chart, const struct chart_range *x, double height);
double frame_label_room(const struct chart *chart);

#endif
