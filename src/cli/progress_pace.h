/* The time that is left of a run, at the pace of its last seconds. A mean since the start would be
 * wrong after a bring-up, which is much faster or slower than what follows. */
#ifndef WEFT_CLI_PROGRESS_PACE_H
#define WEFT_CLI_PROGRESS_PACE_H

#include <stddef.h>

enum { PROGRESS_PACE_MARKS = 16 };

/* What was done by when; all zero at the start. */
struct progress_pace {
    struct {
        double clock, done;
    } marks[PROGRESS_PACE_MARKS]; /* a ring */
    size_t count;
};

/* A mark is at least half a second after the one before; values in between are ignored. */
static inline void progress_pace_add(struct progress_pace *pace, double clock, double done)
{
    size_t last = (pace->count + PROGRESS_PACE_MARKS - 1) % PROGRESS_PACE_MARKS;
    if (pace->count && clock < pace->marks[last].clock + 0.5)
        return;
    pace->marks[pace->count % PROGRESS_PACE_MARKS].clock = clock;
    pace->marks[pace->count++ % PROGRESS_PACE_MARKS].done = done;
}

/* Seconds from the last mark until `end` is done; -1: not known yet, or nothing is being done. */
static inline double progress_pace_left(const struct progress_pace *pace, double end)
{
    if (pace->count < 3)
        return -1;
    size_t first = pace->count > PROGRESS_PACE_MARKS ? pace->count - PROGRESS_PACE_MARKS : 0;
    size_t from = first % PROGRESS_PACE_MARKS, to = (pace->count - 1) % PROGRESS_PACE_MARKS;
    double done = pace->marks[to].done - pace->marks[from].done;
    double seconds = pace->marks[to].clock - pace->marks[from].clock;
    return done > 0 ? (end - pace->marks[to].done) * seconds / done : -1;
}

#endif
