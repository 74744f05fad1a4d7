/* The threads of all descendants of this process, and whether one of them runs.
 *
 * The kernel decides that: a thread that waits for a socket, a lock or another process is asleep,
 * whatever function it called, and the call that wakes it makes it running before that call
 * returns. So nobody who waits must be told apart, and programs need not cooperate. */
#ifndef WEFT_HOST_LOCKSTEP_PROCESSES_H
#define WEFT_HOST_LOCKSTEP_PROCESSES_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct process_thread {
    uint32_t thread, process;
    int call, state, schedule; /* descriptors of files in /proc */
    uint64_t switches;         /* how often it had begun to run when it was last looked at */
    uint64_t held_since_ns;    /* wall-clock time; 0: it does not wait for a disk */
    bool trusted;              /* by its owner: it waits, the kernel need not be asked */
    bool ignored;              /* by its owner: it counts as asleep */
    bool doubted;              /* its owner's: it must not be trusted before it was seen asleep */
};

struct processes {
    VEC(struct process_thread) threads; /* by ID */
    uint64_t last_id;                   /* that the kernel had given when they were listed */
    bool listed, added;
    bool messages; /* a thread that was seen asleep waits for messages */
};

void processes_init(struct processes *processes);
void processes_release(struct processes *processes);
enum processes_news {
    PROCESSES_SAME,   /* no process of the machine has started since */
    PROCESSES_LISTED, /* none that is new; if no known one runs before the next look, there is none
                       */
    PROCESSES_NEW,
};
/* Lists the threads again if there may be new ones, while none that is known runs: a process that
 * is being started can be missing in the list of its parent. */
enum processes_news processes_refresh(struct processes *processes);
/* A thread that runs and is neither trusted nor ignored; NULL: none has run since the last call
 * that returned NULL, other than those that are trusted now. `again`: not known yet. */
struct process_thread *processes_running(struct processes *processes, bool *again);
bool processes_runs(const struct process_thread *thread);
/* Whether messages between processes of this machine are on the way: the kernel may deliver them
 * later than in the call that sends them, when it is busy. */
bool processes_in_flight(void);
struct process_thread *processes_find(const struct processes *processes, uint32_t thread);
/* Processor time of a process, ns. */
uint64_t processes_time(uint32_t process);

#endif
