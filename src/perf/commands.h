/* The words of `weft ctl counters` and `weft ctl top`, and their answers. */
#ifndef WEFT_PERF_COMMANDS_H
#define WEFT_PERF_COMMANDS_H

#include "perf/report.h"

struct perf_command {
    const struct perf *perf;
    const struct subnet *subnet;
    uint64_t now;
    bool json;
    const char *const *words; /* the first one is the name of the command */
    unsigned count;
};

/* 0 with a snapshot to print, or -EINVAL with the reason in `out`. */
int perf_command_counters(const struct perf_command *command, struct counter_snapshot **snapshot,
                          struct text *out);
/* 0, or -EINVAL, with the answer or the reason in `out`. */
int perf_command_top(const struct perf_command *command, struct text *out);

#endif
