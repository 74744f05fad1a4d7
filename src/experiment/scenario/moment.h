/* Times of statements: TIME since the beginning of the run, or settled[+TIME].
 *
 * `settled` is the end of the last `run until settled` before the statement. Statements of the
 * set-up (traffic, measure, collect) usually precede all runs: there it is the end of the first
 * one. */
#ifndef WEFT_EXPERIMENT_SCENARIO_MOMENT_H
#define WEFT_EXPERIMENT_SCENARIO_MOMENT_H

#include "base/line_reader.h"
#include "base/time.h"

struct moment {
    uint64_t ps; /* since the beginning of the run, or with `settled` since the subnet settled */
    bool settled;
};

int moment_take(struct cursor *cursor, struct moment *moment);

/* The time of the run, if the subnet settled at `settled`; TIME_NEVER: not known yet. */
static inline uint64_t moment_time(const struct moment *moment, uint64_t settled)
{
    if (!moment->settled)
        return moment->ps;
    return settled == TIME_NEVER || moment->ps == TIME_NEVER ? TIME_NEVER : settled + moment->ps;
}

#endif
