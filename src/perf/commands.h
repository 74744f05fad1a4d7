/* The commands of `weft ctl` that read counters: `counters` and `top`. */
#ifndef WEFT_PERF_COMMANDS_H
#define WEFT_PERF_COMMANDS_H

#include "base/control_command.h"
#include "perf/report.h"

struct perf_access {
    const struct perf *perf;
    const struct subnet *subnet;
};

extern const struct control_command perf_commands[];

#endif
