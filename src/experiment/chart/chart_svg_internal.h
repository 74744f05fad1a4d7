/* Internal to the SVG writer: the frame of a panel, and drawing functions. */
#ifndef WEFT_EXPERIMENT_CHART_CHART_SVG_INTERNAL_H
#define WEFT_EXPERIMENT_CHART_CHART_SVG_INTERNAL_H

#include "experiment/chart/chart_svg.h"

enum { SVG_WIDTH = 760, SVG_LINE = 16 /* of text */, SVG_LABEL_LETTERS = 24 };

/* The width of a letter in DejaVu Sans, the widest font of the list in chart_svg.c. */
#define SVG_LETTER 7.3

struct frame {
    const struct chart *chart;
    struct chart_range x, y;
    double left, top, width, height; /* of the data area */
    struct text *out;
};

/* The width of a picture of these panels. */
double svg_picture_width(const struct chart *first);
double frame_x(const struct frame *frame, double value);
double frame_y(const struct frame *frame, double value);
bool frame_shows(const struct frame *frame, double x, double y);

/* Approximate width of a text. */
double svg_text_width(const char *text);
/* `class` may have several names; anchor: "start", "middle" or "end". Long texts are cut. */
void svg_put_text(struct text *out, double x, double y, const char *anchor, const char *class,
                  const char *text);
/* The marker of a group: colour and shape. The title may be NULL. */
void svg_put_marker(struct text *out, double x, double y, const struct chart_group *group,
                    bool hollow, const char *title);
/* chart_svg_data.c */
void frame_draw_groups(const struct frame *frame);
void frame_draw_labels(const struct frame *frame);
/* Whether names of groups fit at the ends of lines, and the room that they need. */
bool frame_labels_fit(const struct chart *chart, const struct chart_range *x, double height);
double frame_label_room(const struct chart *chart);

#endif
