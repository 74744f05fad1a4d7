/* A thread that runs tasks in order, so that the event loop need not wait for them.
 *
 * A task is a function and its argument. The descriptor is readable when a task is finished. */
#ifndef WEFT_HOST_FILES_WORKER_H
#define WEFT_HOST_FILES_WORKER_H

#include <stdbool.h>

struct worker;

struct worker *worker_new(void);
void worker_free(struct worker *worker); /* runs the remaining tasks first; accepts NULL */
int worker_fd(const struct worker *worker);

void worker_give(struct worker *worker, void (*work)(void *task), void *task);
/* Returns the argument of the next finished task, in order; NULL: none. */
void *worker_take(struct worker *worker);
/* Whether a task was given and not taken back yet. */
bool worker_is_busy(const struct worker *worker);

#endif
