/* A sweep as it is written: a scenario, and what is varied over it (weft-sweep(5)).
 *
 * The language is that of scenarios: one statement a line, words with their places. A parameter is
 * either a placeholder, {NAME}, in the scenario's text, or else a setting as `weft sim --set` takes
 * it. The points of a sweep are the product of its `vary` lines; they are numbered, the last line
 * varying fastest, and made when they are asked for. */
#ifndef WEFT_EXPERIMENT_SWEEP_SWEEP_H
#define WEFT_EXPERIMENT_SWEEP_SWEEP_H

#include "base/line_reader.h"
#include "experiment/store/result_store.h"

enum { SWEEP_MOST_RUNS = 1000000, SWEEP_MOST_PARAMETERS = 64 };

/* One `vary` line: one or more names that go in step. */
struct sweep_axis {
    struct word word; /* the names as written */
    const char **names;
    bool *in_text; /* by name: a placeholder, not a setting */
    size_t name_count;
    const char **values; /* value_count rows of name_count */
    size_t value_count;
};

/* Names of results, '*' standing for anything. */
struct name_patterns {
    VEC(const char *);
};

struct sweep {
    const char *file;
    const char *scenario; /* path */
    const char *template; /* its text */
    const char *store;    /* path */
    VEC(struct sweep_axis) axes;
    size_t parameter_count;
    uint64_t repeat, seed;
    uint64_t timeout;                     /* ps of wall clock a run may take; 0: any */
    uint64_t memory;                      /* bytes; 0: any */
    struct name_patterns figures, series; /* to keep; no figures: all, no series: none */
    struct arena arena;
};

/* On error nothing needs to be released. Reads the scenario's text too, but does not check it. */
int sweep_read(struct sweep *sweep, struct line_reader *lines);
void sweep_release(struct sweep *sweep);

size_t sweep_point_count(const struct sweep *sweep);
/* The sweep's parameter_count parameters at a point, in the order of the file. */
void sweep_parameters(const struct sweep *sweep, size_t point, struct result_parameter *parameters);
/* Which of an axis's values it is. */
size_t sweep_value(const struct sweep *sweep, size_t point, size_t axis);
/* Appends the scenario's text at a point. */
void sweep_render(const struct sweep *sweep, size_t point, struct text *out);
/* The point's settings for the fabric and its managers ("key=value"), in the arena. */
size_t sweep_settings(const struct sweep *sweep, size_t point, const char ***settings,
                      struct arena *arena);
/* Finds out which parameters are placeholders; an error if the text has one that nothing varies. */
int sweep_bind_template(struct sweep *sweep, struct err *err);

#endif
