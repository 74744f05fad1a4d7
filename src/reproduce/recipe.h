/* A recipe: one figure of a paper, as a folder under experiments/ describes it.
 *
 * The folder holds a README.md (what the paper did, what is done here, what differs), scenarios and
 * sweeps, and a file called `figure`, which this module reads. It has one statement a line, in the
 * words of scenarios (experiments/README.md describes them):
 *
 *   title  "One and two virtual lanes"
 *   sweep  lanes.sweep [as NAME=VALUE ...] [quick NAME=VALUE,... ...]
 *   compute NAME
 *   plot   NAME KIND "TITLE" [x NAME] [y NAME ...] [by NAME] [where NAME=VALUE ...] [from T to T]
 *   label  NAME "WORDS"
 *
 * The claims about a figure are C (claims.h): they compare numbers, and every one is different. */
#ifndef WEFT_REPRODUCE_RECIPE_H
#define WEFT_REPRODUCE_RECIPE_H

#include "base/err.h"
#include "reproduce/conditions.h"

#include <stdint.h>

struct recipe_sweep {
    const char *path;        /* of the sweep's file */
    const char *store;       /* name of its result store: "000-fig07-removal" */
    struct conditions as;    /* what its runs are known by beside their parameters */
    struct conditions quick; /* which runs a quick look takes */
};

enum plot_kind {
    PLOT_LINES,   /* a curve for each value of `by` */
    PLOT_POINTS,  /* the same without lines */
    PLOT_BARS,    /* a bar for each value of `by`, or each y, side by side */
    PLOT_STACKED, /* the y's on top of each other */
    PLOT_TIME,    /* series over time, one panel each */
    PLOT_KINDS,
};

enum { PLOT_YS = 8 };
struct plot {
    const char *name, *title;
    enum plot_kind kind;
    const char *x, *by; /* NULL: none */
    const char *y[PLOT_YS];
    size_t y_count;
    struct conditions where;
    uint64_t from, to; /* of PLOT_TIME, and of the x axis there */
};

struct recipe_label {
    const char *name, *text;
};

struct recipe {
    const char *name;   /* the folder's: "001-fig26" */
    const char *folder; /* its path */
    const char *title;
    VEC(struct recipe_sweep) sweeps;
    VEC(const char *) computations;
    VEC(struct plot) plots;
    VEC(struct recipe_label) labels;
    struct arena arena;
};

/* Reads FOLDER/figure. On error nothing needs to be released. */
int recipe_read(struct recipe *recipe, const char *folder, struct err *err);
void recipe_release(struct recipe *recipe);
/* What a figure or parameter is called in plots: its label, or its name. */
const char *recipe_label(const struct recipe *recipe, const char *name);

/* All folders under `path` that have a `figure`, by name. */
struct recipes {
    VEC(struct recipe);
};
int recipes_read(struct recipes *recipes, const char *path, struct err *err);
void recipes_release(struct recipes *recipes);

#endif
