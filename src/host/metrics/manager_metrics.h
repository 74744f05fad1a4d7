/* Metrics of the manager itself: weft_….
 *
 * The thread of the manager fills `struct manager_metrics` for a scrape. That is a copy of counters
 * and takes some microseconds. The thread of the HTTP server prints it. `struct manager_totals` are
 * the counters that the daemon itself keeps. weft-metrics(7) lists all metrics. */
#ifndef WEFT_HOST_METRICS_MANAGER_METRICS_H
#define WEFT_HOST_METRICS_MANAGER_METRICS_H

#include "host/metrics/duration_counts.h"
#include "host/metrics/trap_counts.h"
#include "perf/perf.h"
#include "sa/sa.h"
#include "sm/sm.h"

enum { METRIC_ENGINES = 64 }; /* at least the number of engines */

struct manager_totals {
    uint64_t jobs_computed, jobs_repaired, jobs_refused; /* refused: no tables resulted */
    uint64_t proofs_passed, proofs_failed;
    uint64_t refusals[METRIC_ENGINES]; /* by engine_at() */
    uint64_t warnings, errors;         /* logged */
    uint64_t files_failed;
    struct duration_counts sa_latency;
    struct trap_counts traps;
};

struct manager_metrics {
    const char *version;
    enum sm_state state;
    uint64_t subnet; /* prefix */
    bool settled, copy_is_complete, own_link_is_down;
    uint8_t priority;
    char engine[32], configured[32];
    uint32_t vls;
    struct sm_counts smps;
    struct sm_totals changes;
    uint64_t m_key_violations;
    struct sa_counts sa;
    struct perf_counts perf;
    uint32_t problems[PROBLEM_KINDS];
    uint32_t machines, machine_requests;
    uint64_t snapshot_ns, ports_snapshot_ns; /* time that the manager spent on the last copies */
    struct manager_totals totals;
};

/* Counts a job that has ended; `refused`: it has no tables. */
void manager_totals_add_job(struct manager_totals *totals, const struct sm_job *job, bool refused);

/* Fills what the manager, the administration and the reader of counters know. */
void manager_metrics_read(struct manager_metrics *metrics, const struct sm *sm, const struct sa *sa,
                          const struct perf *perf);
/* `switches`, `adapters` and `links` are those of the subnet. */
struct subnet_size {
    uint32_t switches, adapters, links;
};
void manager_metrics_print(const struct manager_metrics *metrics, const struct subnet_size *size,
                           struct text *out);

#endif
