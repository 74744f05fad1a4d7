#include "cli/workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Jobs are handed out in runs, so that short ones do not spend their time on the counter. */
struct batch {
    void (*job)(void *context, size_t index);
    void *context;
    size_t jobs, run;
    atomic_size_t next;
};

static void *work(void *argument)
{
    struct batch *batch = argument;
    for (;;) {
        size_t first = atomic_fetch_add(&batch->next, batch->run);
        if (first >= batch->jobs)
            return NULL;
        size_t end = batch->jobs - first < batch->run ? batch->jobs : first + batch->run;
        for (size_t i = first; i < end; i++)
            batch->job(batch->context, i);
    }
}

static void run_threads(const struct workers *workers, size_t jobs,
                        void (*job)(void *context, size_t index), void *context)
{
    struct batch batch = {.job = job, .context = context, .jobs = jobs};
    pthread_t threads[WORKERS_LIMIT];
    unsigned wanted = workers->count < jobs ? workers->count : (unsigned)jobs, started = 0;
    batch.run = jobs / (wanted ? wanted * 8 : 1);
    if (batch.run == 0)
        batch.run = 1;
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, work, &batch) == 0)
        started++;
    work(&batch);
    while (started--)
        pthread_join(threads[started], NULL);
}

struct workers workers_of_threads(unsigned count)
{
    return (struct workers){.count = count < WORKERS_LIMIT ? count : WORKERS_LIMIT,
                            .run = run_threads};
}
