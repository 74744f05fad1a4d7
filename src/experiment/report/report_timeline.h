/* A run over time: phases of the manager as bands behind the curves of the traffic.
 *
 * One window shows the whole run. Each change, or group of overlapping changes, has a window of its
 * own, with time relative to the fault. */
#ifndef WEFT_EXPERIMENT_REPORT_REPORT_TIMELINE_H
#define WEFT_EXPERIMENT_REPORT_REPORT_TIMELINE_H

#include "experiment/chart/chart.h"
#include "experiment/measure/results.h"
#include "experiment/measure/run_record.h"

struct timeline {
    const struct run_record *record;
    const struct results *results;
};

/* The action that caused a change, or NULL. */
const struct run_record_event *timeline_cause(const struct run_record *record, size_t change);
/* Replaces separators of a name: "lost.dead-switch" becomes "lost dead switch". */
void timeline_words(const char *name, char *buffer, size_t size);

struct window {
    uint64_t from, to;
    uint64_t origin;    /* time that is shown as 0 */
    size_t first, last; /* range of changes in the window */
    const char *moment; /* event at the origin; "" for the whole run */
};
struct windows {
    VEC(struct window);
};
/* The whole run first (from the start of late traffic), then at most `most` changes; changes with
 * an action are preferred. The caller calls vec_release(). */
void timeline_windows(const struct timeline *timeline, size_t most, struct windows *windows);

/* Panels of one window, at least one. `charts` has room for TIMELINE_PANELS; the caller releases
 * each. *left_out counts series without room. */
enum { TIMELINE_PANELS = 4, TIMELINE_SERIES = 6 };
size_t timeline_charts(const struct timeline *timeline, const struct window *window,
                       struct chart *charts, size_t *left_out);

#endif
