/* A team of threads that stay: a batch of jobs may take less than starting a thread does.
 *
 * A member that has nothing to do looks for the next batch for some microseconds before it goes to
 * sleep, since batches mostly follow each other closely. Whoever brings a batch works on it too,
 * and once all jobs are handed out waits for those members only that took some: one that the
 * scheduler lets sleep delays nobody.
 *
 * There is one team in a process, for one batch at a time; a batch that finds it busy (a job that
 * brings jobs of its own, or another thread of the program) is done by its own thread alone. */
#include "cli/workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { LOOKS = 10000, RUNS = 16, APART = 128 };

/* Every thread has a share of the jobs, always the same part of them: what one batch leaves in its
 * cache is what it needs in the next. Who has finished his own helps the others. Jobs are taken in
 * runs, so that short ones do not spend their time on the counter, which has a cache line of its
 * own. */
struct share {
    _Alignas(APART) atomic_size_t next;
    size_t end;
};

struct batch {
    void (*job)(void *context, size_t index);
    void *context;
    size_t run;
    unsigned threads;
    struct share *shares;
};

static struct team {
    pthread_mutex_t busy; /* held by who has a batch */
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t more, done;
    struct batch *batch; /* NULL: none that is open */
    struct share shares[WORKERS_LIMIT];
    unsigned members;  /* threads that were started */
    unsigned places;   /* how many of them may still join the batch */
    atomic_uint round; /* counts batches */
    atomic_uint at_work;
} team = {.busy = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .more = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

static void take_a_breath(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void work_on(const struct batch *batch, struct share *share)
{
    for (;;) {
        size_t first = atomic_fetch_add(&share->next, batch->run);
        if (first >= share->end)
            return;
        size_t end = share->end - first < batch->run ? share->end : first + batch->run;
        for (size_t i = first; i < end; i++)
            batch->job(batch->context, i);
    }
}

static void work(const struct batch *batch, unsigned thread)
{
    for (unsigned i = 0; i < batch->threads; i++)
        work_on(batch, &batch->shares[(thread + i) % batch->threads]);
}

/* Returns the batch to work on, and as which of its threads, or NULL if it is over or full. */
static struct batch *join_round(unsigned *seen, unsigned *thread)
{
    for (unsigned i = 0; i < LOOKS && atomic_load(&team.round) == *seen; i++)
        take_a_breath();
    pthread_mutex_lock(&team.lock);
    while (atomic_load(&team.round) == *seen)
        pthread_cond_wait(&team.more, &team.lock);
    *seen = atomic_load(&team.round);
    struct batch *batch = team.places ? team.batch : NULL;
    if (batch) {
        *thread = team.places--;
        atomic_fetch_add(&team.at_work, 1);
    }
    pthread_mutex_unlock(&team.lock);
    return batch;
}

static void *be_member(void *argument)
{
    (void)argument;
    unsigned thread,
        seen = 0; /* before the first: what is under way when it starts is meant for it, too */
    while (true) {
        struct batch *batch = join_round(&seen, &thread);
        if (batch) {
            work(batch, thread);
            pthread_mutex_lock(&team.lock);
            if (atomic_fetch_sub(&team.at_work, 1) == 1)
                pthread_cond_signal(&team.done);
            pthread_mutex_unlock(&team.lock);
        }
    }
    return NULL;
}

static void open_round(struct batch *batch, unsigned helpers)
{
    pthread_mutex_lock(&team.lock);
    team.batch = batch;
    team.places = helpers;
    atomic_fetch_add(&team.round, 1);
    pthread_cond_broadcast(&team.more);
    pthread_mutex_unlock(&team.lock);
    pthread_attr_t detached;
    pthread_t thread;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    while (team.members < helpers && pthread_create(&thread, &detached, be_member, NULL) == 0)
        team.members++;
    pthread_attr_destroy(&detached);
}

static void close_round(void)
{
    pthread_mutex_lock(&team.lock);
    team.batch = NULL;
    pthread_mutex_unlock(&team.lock);
    for (unsigned i = 0; i < LOOKS && atomic_load(&team.at_work); i++)
        take_a_breath();
    pthread_mutex_lock(&team.lock);
    while (atomic_load(&team.at_work))
        pthread_cond_wait(&team.done, &team.lock);
    pthread_mutex_unlock(&team.lock);
}

static void run_threads(const struct workers *workers, size_t jobs,
                        void (*job)(void *context, size_t index), void *context)
{
    struct batch batch = {.job = job, .context = context, .shares = team.shares};
    batch.threads = workers->count < jobs ? workers->count : (unsigned)jobs;
    if (batch.threads < 2 || pthread_mutex_trylock(&team.busy) != 0) {
        for (size_t i = 0; i < jobs; i++)
            job(context, i);
        return;
    }
    batch.run = 1 + jobs / batch.threads / RUNS;
    for (unsigned i = 0; i < batch.threads; i++) {
        atomic_store(&batch.shares[i].next, jobs * i / batch.threads);
        batch.shares[i].end = jobs * (i + 1) / batch.threads;
    }
    open_round(&batch, batch.threads - 1);
    work(&batch, 0);
    close_round();
    pthread_mutex_unlock(&team.busy);
}

struct workers workers_of_threads(unsigned count)
{
    return (struct workers){.count = count < WORKERS_LIMIT ? count : WORKERS_LIMIT,
                            .run = run_threads};
}
