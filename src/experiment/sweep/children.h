/* Work in child processes, several at a time: a crash, a hang or a glutton ends one piece of work
 * and leaves the rest alone.
 *
 * A child is a fork of this process: it has all that the caller knew when it was started, and what
 * it finds out it must write down somewhere itself. What it says on standard error is kept.
 * Children do not hear the terminal's interrupts; their parent does, stops waiting, and ends them.
 * They do not outlive it. */
#ifndef WEFT_EXPERIMENT_SWEEP_CHILDREN_H
#define WEFT_EXPERIMENT_SWEEP_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct child_limits {
    uint64_t time;   /* ps of wall clock; 0: any */
    uint64_t memory; /* bytes of address space; 0: any (always so in a sanitized build) */
};

struct child_end {
    size_t job;
    bool timed_out;
    int signal;      /* that killed it, or 0 */
    int exit_status; /* if none did */
    double seconds;  /* of wall clock */
    char said[1024]; /* the first of it, in one piece */
};

struct children;

/* Also catches SIGINT and SIGTERM until children_free(); one at a time. */
struct children *children_new(const struct child_limits *limits);
/* Ends those that still run. */
void children_free(struct children *children);

/* Starts one: work(context) becomes its exit status. 0 or -errno. */
int children_start(struct children *children, size_t job, int (*work)(void *context),
                   void *context);
unsigned children_running(const struct children *children);
/* True and *end if one has ended; false if none has within that time, or the user interrupts. */
bool children_wait(struct children *children, unsigned milliseconds, struct child_end *end);
bool children_interrupted(const struct children *children);

/* Seconds of a clock that is the same in parent and child. */
double children_clock(void);

/* Why a child came to no good end, in one line: "killed by signal 11 (Segmentation fault)". */
const char *child_end_text(const struct child_end *end, const struct child_limits *limits,
                           char *buffer, size_t size);

#endif
