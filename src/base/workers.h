/* Threads of the caller. Routing and the fabric own none: the host provides a function that runs
 * jobs in parallel.
 *
 * Jobs must not depend on their order, so that results are the same for any number of threads. */
#ifndef WEFT_BASE_WORKERS_H
#define WEFT_BASE_WORKERS_H

#include <stddef.h>

struct workers {
    unsigned count;
    /* Runs job(context, 0 … jobs-1), each once, and returns when all are done. */
    void (*run)(const struct workers *workers, size_t jobs,
                void (*job)(void *context, size_t index), void *context);
};

/* `workers` may be NULL: then in this thread, one after the other. */
static inline void workers_run(const struct workers *workers, size_t jobs,
                               void (*job)(void *context, size_t index), void *context)
{
    if (workers && workers->count > 1) {
        workers->run(workers, jobs, job, context);
        return;
    }
    for (size_t i = 0; i < jobs; i++)
        job(context, i);
}

static inline unsigned workers_count(const struct workers *workers)
{
    return workers && workers->count > 1 ? workers->count : 1;
}

#endif
