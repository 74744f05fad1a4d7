/* Runs jobs in child processes: a crash, an endless loop or excessive memory use ends one job only.
 *
 * A child is a fork of this process; it has to store its results itself. Its standard error is
 * kept. Children ignore SIGINT and SIGTERM; the parent receives them, stops waiting and kills its
 * children. Children do not outlive the parent. */
#ifndef WEFT_EXPERIMENT_SWEEP_CHILDREN_H
#define WEFT_EXPERIMENT_SWEEP_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct child_limits {
    uint64_t time;   /* ps of wall-clock time; 0: unlimited */
    uint64_t memory; /* bytes of address space; 0: unlimited (always with ASan) */
};

struct child_end {
    size_t job;
    bool timed_out;
    int signal;        /* signal that killed it, or 0 */
    int exit_status;   /* valid without a signal */
    double seconds;    /* wall-clock time */
    char output[1024]; /* beginning of its standard error */
};

struct children;

/* Catches SIGINT and SIGTERM until children_free(). Only one may exist at a time. */
struct children *children_new(const struct child_limits *limits);
/* Kills the children that still run. */
void children_free(struct children *children);

/* Forks a child whose exit status is work(context). 0 or -errno. */
int children_start(struct children *children, size_t job, int (*work)(void *context),
                   void *context);
unsigned children_running(const struct children *children);
/* True if a child has ended, with *end filled in; false at the time-out or after an interrupt. */
bool children_wait(struct children *children, unsigned milliseconds, struct child_end *end);
bool children_interrupted(const struct children *children);

/* Monotonic seconds, valid in parent and child. */
double children_clock(void);

/* Why a child failed, in one line: "killed by signal 11 (Segmentation fault)". */
const char *child_end_text(const struct child_end *end, const struct child_limits *limits,
                           char *buffer, size_t size);

#endif
