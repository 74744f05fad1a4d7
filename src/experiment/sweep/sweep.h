/* A sweep: a scenario and the parameters that are varied over it (weft-sweep(5)).
 *
 * A parameter is either a placeholder {NAME} in the text of the scenario or a setting as for `weft
 * sim --set`. The points of a sweep are the product of its `vary` lines, numbered with the last
 * line varying fastest. */
#ifndef WEFT_EXPERIMENT_SWEEP_SWEEP_H
#define WEFT_EXPERIMENT_SWEEP_SWEEP_H

#include "base/line_reader.h"
#include "experiment/store/result_store.h"

enum { SWEEP_MOST_RUNS = 1000000, SWEEP_MOST_PARAMETERS = 64 };

/* One `vary` line: one or more names that vary together. */
struct sweep_axis {
    struct word word; /* the names as written */
    const char **names;
    size_t name_count;
    const char **values; /* value_count rows of name_count */
    size_t value_count;
};

/* Shell patterns of names of results. */
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
    bool in_text[SWEEP_MOST_PARAMETERS]; /* by parameter: a placeholder, not a setting */
    uint64_t repeat, seed;
    uint64_t timeout;                     /* wall-clock limit of a run in ps; 0: none */
    uint64_t memory;                      /* memory limit of a run in bytes; 0: none */
    struct name_patterns figures, series; /* to keep; by default all figures, no series */
    struct arena arena;
};

/* On error nothing needs to be released. The text of the scenario is read, but not checked. */
int sweep_read(struct sweep *sweep, struct line_reader *lines);
void sweep_release(struct sweep *sweep);

size_t sweep_point_count(const struct sweep *sweep);
/* The parameters at a point (parameter_count of them), in the order of the file. */
void sweep_parameters(const struct sweep *sweep, size_t point, struct result_parameter *parameters);
/* The index of the value of an axis at a point. */
size_t sweep_value(const struct sweep *sweep, size_t point, size_t axis);
/* Appends the scenario's text at a point. */
void sweep_render(const struct sweep *sweep, size_t point, struct text *out);
/* The point's settings for the fabric and its managers ("key=value"), in the arena. */
size_t sweep_settings(const struct sweep *sweep, size_t point, const char ***settings,
                      struct arena *arena);
/* Finds out which parameters are placeholders; an error if the text has one that nothing varies. */
int sweep_bind_template(struct sweep *sweep, struct err *err);

#endif
