/* A thread that does one piece of work after the other, so that the loop never has to wait for one.
 *
 * What to do and with what is given as a function and its task; the task comes back when it is
 * done. The descriptor becomes readable then. */
#ifndef WEFT_HOST_DAEMON_WORKER_H
#define WEFT_HOST_DAEMON_WORKER_H

#include <stdbool.h>

struct worker;

struct worker *worker_new(void);
void worker_free(struct worker *worker); /* finishes what was given; NULL is fine */
int worker_fd(const struct worker *worker);

void worker_give(struct worker *worker, void (*work)(void *task), void *task);
/* The next task that is done, in the order given; NULL: none yet. */
void *worker_take(struct worker *worker);
/* Given and not taken back yet. */
bool worker_is_busy(const struct worker *worker);

#endif
