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
 *   point  PLOT X Y ["TEXT"]
 *   claim  NAME "TEXT" [result | fitted | check] paper "VALUE AS PRINTED" at "PLACE" [unit UNIT]
 *          [from N | above N] [to N | below N] because "WHY THIS TOLERANCE"
 *   measure EXPRESSION [explain "TEXT"]         of the claim above
 *   let    NAME = EXPRESSION                    for the measures below
 *   table  NAME PARAMETER VALUE=NUMBER ...
 *
 * A claim states what the paper prints and which values count as the same, its measure how a value
 * follows from the evidence (measure.h). */
#ifndef WEFT_REPRODUCE_RECIPE_H
#define WEFT_REPRODUCE_RECIPE_H

#include "base/err.h"
#include "reproduce/conditions.h"

#include <stdint.h>

struct recipe_sweep {
    const char *path;        /* file of the sweep */
    const char *store;       /* name of its result store: "icpp03-fig07-removal" */
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

/* A value that the paper prints, to be drawn in a plot. */
struct printed_point {
    const char *plot;
    const char *x; /* a number, or the name of a category */
    double y;
    const char *text; /* in the legend; "paper" by default */
};

/* The unit of a claim's bounds and of its shown value. Figures are in seconds, shares and bits/s;
 * `factor` is the value of one unit in those. */
struct claim_unit {
    const char *name; /* "": none */
    double factor;
};

struct claim_bound {
    double value; /* in the claim's unit; NaN: no bound */
    bool excluded;
};

/* What it means that a claim holds. */
enum claim_kind {
    CLAIM_RESULT, /* the measurement confirms a result of the paper */
    CLAIM_FITTED, /* the model was fitted to this value, or the set-up chooses it */
    CLAIM_CHECK,  /* the experiment works: true by construction, or not printed by the paper */
    CLAIM_KINDS,
};
extern const char *const claim_kind_names[]; /* "result", "fitted", "check" */

/* How the value of a claim is measured (measure.h). */
struct measure {
    const struct term *value; /* NULL: not stated */
    const struct piece *explanation;
};
struct definition {
    const char *name;
    const struct term *term;
};

/* What belongs to each value of a parameter: "table nodes switches 8=15 16=30". */
struct recipe_table {
    const char *name, *parameter;
    struct conditions rows;
};

struct claim {
    const char *experiment, *name; /* identified as EXPERIMENT/NAME */
    const char *text, *paper;      /* the claim in one line, and the value as printed */
    const char *place;             /* section or figure of the paper */
    const char *why;               /* the reason for the tolerance */
    enum claim_kind kind;
    const struct claim_unit *unit;
    struct claim_bound low, high;
    struct measure measure;
    const char *file; /* of the statement */
    unsigned line;
};

struct recipe_label {
    const char *name, *text;
};

struct recipe {
    const char *name;   /* name of the folder: "san03-fig26" */
    const char *folder; /* its path */
    const char *title;
    VEC(struct recipe_sweep) sweeps;
    VEC(const char *) computations;
    VEC(struct plot) plots;
    VEC(struct recipe_label) labels;
    VEC(struct printed_point) points;
    VEC(struct claim) claims;
    VEC(struct definition) definitions;
    VEC(struct recipe_table) tables;
    struct arena arena;
};

/* Reads FOLDER/figure. On error nothing needs to be released. */
int recipe_read(struct recipe *recipe, const char *folder, struct err *err);
void recipe_release(struct recipe *recipe);
/* The label of a figure or parameter in plots, by default its name. */
const char *recipe_label(const struct recipe *recipe, const char *name);
/* What belongs to that value of the parameter, or "". */
const char *recipe_table_find(const struct recipe_table *table, const char *value);

/* Recipes of all folders under `path` with a file `figure`, sorted by name. */
struct recipes {
    VEC(struct recipe);
};
int recipes_read(struct recipes *recipes, const char *path, struct err *err);
void recipes_release(struct recipes *recipes);
/* The claim EXPERIMENT/NAME of that name, or NULL. */
const struct claim *recipes_find_claim(const struct recipes *recipes, const char *name);

#endif
