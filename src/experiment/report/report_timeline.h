/* A run over time: the manager's phases as bands behind the traffic's curves, on one time axis.
 *
 * The whole run is one picture; what matters happens in a small part of it, so each change (or
 * changes that run into each other) gets a picture of its own, with time counted from the fault. */
#ifndef WEFT_EXPERIMENT_REPORT_REPORT_TIMELINE_H
#define WEFT_EXPERIMENT_REPORT_REPORT_TIMELINE_H

#include "experiment/chart/chart.h"
#include "experiment/measure/results.h"
#include "experiment/measure/run_record.h"

struct timeline {
    const struct run_record *record;
    const struct results *results;
};

/* The action that a change answers, or NULL. */
const struct run_record_event *timeline_cause(const struct run_record *record, size_t change);
/* The words of a name: "lost.dead-switch" becomes "lost dead switch". */
void timeline_words(const char *name, char *buffer, size_t size);

struct window {
    uint64_t from, to;
    uint64_t origin;    /* shown as 0 */
    size_t first, last; /* changes it shows; whole run: all */
    const char *moment; /* what happened at the origin; "" for the whole run */
};
struct windows {
    VEC(struct window);
};
/* The whole run first (without what comes before a late traffic), then the changes, at most `most`
 * of these: those with an action before those without. Releasing is the caller's (vec_release). */
void timeline_windows(const struct timeline *timeline, size_t most, struct windows *windows);

/* Panels of one window, at least one. `charts` has room for TIMELINE_PANELS; each must be released.
 * *left_out counts series that found no room. */
enum { TIMELINE_PANELS = 4, TIMELINE_SERIES = 6 };
size_t timeline_charts(const struct timeline *timeline, const struct window *window,
                       struct chart *charts, size_t *left_out);

#endif
