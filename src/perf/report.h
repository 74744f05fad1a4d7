/* Counters for people and programs: the answers to `weft ctl counters` and `weft ctl top`.
 *
 * A report of all ports takes long to print, so it is printed from a snapshot that is independent
 * of the manager. */
#ifndef WEFT_PERF_REPORT_H
#define WEFT_PERF_REPORT_H

#include "base/control_command.h"
#include "base/text.h"
#include "perf/ranking.h"

/* The commands, and what they need. */
struct perf_access {
    const struct perf *perf;
    const struct subnet *subnet;
};
extern const struct control_command perf_commands[];

struct counter_snapshot;

/* The ports that are read of a node, or of all (SUBNET_NONE); `number`: of this port only, or 0. */
struct counter_snapshot *counter_snapshot_take(const struct perf *perf, const struct subnet *subnet,
                                               uint64_t now, uint32_t node, unsigned number);
void counter_snapshot_free(struct counter_snapshot *snapshot); /* accepts NULL */
void counter_snapshot_print(const struct counter_snapshot *snapshot, bool json, struct text *out);

struct top_options {
    enum rank_key key;
    bool hour;     /* the last hour instead of the last interval */
    unsigned rows; /* at most */
};
enum { TOP_ROWS = 20, TOP_ROWS_MOST = 1000 };
void top_print(const struct perf *perf, const struct subnet *subnet, uint64_t now,
               const struct top_options *options, bool json, struct text *out);

#endif
