/* A recipe: one figure of a paper, described by a folder under experiments/.
 *
 * The folder has a README.md, scenarios and sweeps, and a file `figure`, which this module reads.
 * Each line has one statement (experiments/README.md describes them):
 *
 *   title  "One and two virtual lanes"
 *   sweep  lanes.sweep [as NAME=VALUE ...] [quick NAME=VALUE,... ...]
 *   compute NAME
 *   plot   NAME KIND "TITLE" [x NAME] [y NAME ...] [by NAME] [where NAME=VALUE ...] [from T to T]
 *   label  NAME "WORDS"
 *
 * The claims about a figure are C functions (claims.h). */
#ifndef WEFT_REPRODUCE_RECIPE_H
#define WEFT_REPRODUCE_RECIPE_H

#include "base/err.h"
#include "reproduce/conditions.h"

#include <stdint.h>

struct recipe_sweep {
    const char *path;        /* file of the sweep */
    const char *store;       /* name of its result store: "000-fig07-removal" */
    struct conditions as;    /* parameters that it adds to its runs */
    struct conditions quick; /* runs of a quick run */
};

enum plot_kind {
    PLOT_LINES,   /* a curve for each value of `by` */
    PLOT_POINTS,  /* the same without lines */
    PLOT_BARS,    /* a bar for each value of `by`, or each y, side by side */
    PLOT_STACKED, /* figures stacked */
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
    const char *name;   /* name of the folder: "001-fig26" */
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
/* The label of a figure or parameter in plots, by default its name. */
const char *recipe_label(const struct recipe *recipe, const char *name);

/* Recipes of all folders under `path` with a file `figure`, sorted by name. */
struct recipes {
    VEC(struct recipe);
};
int recipes_read(struct recipes *recipes, const char *path, struct err *err);
void recipes_release(struct recipes *recipes);

#endif
