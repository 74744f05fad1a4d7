/* A drawing as boxes and lines, and its forms as text. Positions are in inches, y grows upwards. */
#ifndef WEFT_TOPOLOGY_PICTURE_H
#define WEFT_TOPOLOGY_PICTURE_H

#include "base/mem.h"
#include "topology/analysis/summary.h"

enum { PICTURE_COLOURS = 12 };

enum picture_shape { SHAPE_BOX, SHAPE_ROUND, SHAPE_POINT, SHAPE_FRAME };

struct picture_box {
    char letter; /* s: switch, h: host, g: group, r: room */
    uint32_t number;
    enum picture_shape shape;
    double x, y, width, height; /* of the middle, and of all */
    const char *label, *detail; /* detail: a second line; "": none */
    const char *name;           /* in full */
    unsigned colour;            /* of switches and groups: the level, or the subnet */
    bool thick, marked;
};

struct picture_line {
    uint32_t from, to;                /* boxes */
    const struct topology_port *port; /* its width and speed; NULL: between groups */
    unsigned from_port, to_port;      /* numbers at the ends; 0: none */
    uint32_t count;                   /* a number in the middle; 0: none */
    double shift;                     /* of parallel lines, in points */
    bool bent, marked;                /* bent: both boxes are in the same row */
};

struct picture {
    char title[160], subtitle[64];
    VEC(struct picture_box) boxes;
    VEC(struct picture_line) lines;
    struct link_count counts[LINK_COUNTS];
    size_t count_count;
    unsigned rank[SPEED_COUNT]; /* 0: the fastest speed of the fabric */
    bool dense;                 /* thin, transparent lines */
    uint32_t levels, subnets;   /* in the legend, one of them at most; 0: none */
    bool has_manager;           /* the legend explains the thick frame */
    struct arena arena;
};

void picture_write_svg(const struct picture *picture, struct text *out);
/* For Graphviz: the same boxes and lines, at the same places ("neato -n2" keeps them). */
void picture_write_dot(const struct picture *picture, struct text *out);

#endif
