/* A pool of persistent threads: a batch of jobs may be shorter than the start of a thread.
 *
 * An idle thread polls for the next batch for some microseconds before it sleeps, since batches
 * usually follow each other closely. The caller works on its batch too, and then waits only for
 * threads that took jobs: a thread that is not scheduled delays no batch.
 *
 * A process has one pool, which runs one batch at a time. A batch that finds the pool busy (of a
 * nested job, or of another thread) is run by its caller alone. */
#include "cli/workers.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { POLLS = 10000, RUNS = 16, APART = 128 };

/* Each thread has a share of the jobs, the same part in every batch, so that its cache stays
 * useful. A thread that has finished its share continues with the others'. Jobs are taken in runs,
 * to reduce contention for the counter, which has its own cache line. */
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

static struct pool {
    pthread_mutex_t busy; /* held while a batch runs */
    pthread_mutex_t lock; /* protects the other fields */
    pthread_cond_t more, done;
    struct batch *batch; /* NULL: none */
    struct share shares[WORKERS_LIMIT];
    unsigned members;  /* started threads */
    unsigned places;   /* threads that may still join the batch */
    atomic_uint round; /* number of batches */
    atomic_uint at_work;
} pool = {.busy = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .more = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

static void cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void run_shares(const struct batch *batch, unsigned thread)
{
    for (unsigned i = 0; i < batch->threads; i++) {
        struct share *share = &batch->shares[(thread + i) % batch->threads];
        size_t first;
        while ((first = atomic_fetch_add(&share->next, batch->run)) < share->end) {
            size_t end = share->end - first < batch->run ? share->end : first + batch->run;
            for (size_t job = first; job < end; job++)
                batch->job(batch->context, job);
        }
    }
}

/* Waits for the next batch. Returns it with the number of this thread in it, or NULL if it has
 * ended or has enough threads. */
static struct batch *join_batch(unsigned *seen, unsigned *thread)
{
    for (unsigned i = 0; i < POLLS && atomic_load(&pool.round) == *seen; i++)
        cpu_relax();
    pthread_mutex_lock(&pool.lock);
    while (atomic_load(&pool.round) == *seen)
        pthread_cond_wait(&pool.more, &pool.lock);
    *seen = atomic_load(&pool.round);
    struct batch *batch = pool.places ? pool.batch : NULL;
    if (batch) {
        *thread = pool.places--;
        atomic_fetch_add(&pool.at_work, 1);
    }
    pthread_mutex_unlock(&pool.lock);
    return batch;
}

static void *run_thread(void *argument)
{
    (void)argument;
    unsigned thread, seen = 0; /* joins also a batch that runs when the thread starts */
    while (true) {
        struct batch *batch = join_batch(&seen, &thread);
        if (batch) {
            run_shares(batch, thread);
            pthread_mutex_lock(&pool.lock);
            if (atomic_fetch_sub(&pool.at_work, 1) == 1)
                pthread_cond_signal(&pool.done);
            pthread_mutex_unlock(&pool.lock);
        }
    }
    return NULL;
}

static void start_batch(struct batch *batch, unsigned helpers)
{
    pthread_mutex_lock(&pool.lock);
    assert(!pool.batch && helpers < WORKERS_LIMIT);
    pool.batch = batch;
    pool.places = helpers;
    atomic_fetch_add(&pool.round, 1);
    pthread_cond_broadcast(&pool.more);
    pthread_mutex_unlock(&pool.lock);
    pthread_attr_t detached;
    pthread_t thread;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    while (pool.members < helpers && pthread_create(&thread, &detached, run_thread, NULL) == 0)
        pool.members++;
    pthread_attr_destroy(&detached);
}

static void finish_batch(void)
{
    pthread_mutex_lock(&pool.lock);
    pool.batch = NULL;
    pthread_mutex_unlock(&pool.lock);
    for (unsigned i = 0; i < POLLS && atomic_load(&pool.at_work); i++)
        cpu_relax();
    pthread_mutex_lock(&pool.lock);
    while (atomic_load(&pool.at_work))
        pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

static void run_threads(const struct workers *workers, size_t jobs,
                        void (*job)(void *context, size_t index), void *context)
{
    struct batch batch = {.job = job, .context = context, .shares = pool.shares};
    batch.threads = workers->count < jobs ? workers->count : (unsigned)jobs;
    if (batch.threads < 2 || pthread_mutex_trylock(&pool.busy) != 0) {
        for (size_t i = 0; i < jobs; i++)
            job(context, i);
        return;
    }
    batch.run = 1 + jobs / batch.threads / RUNS;
    for (unsigned i = 0; i < batch.threads; i++) {
        atomic_store(&batch.shares[i].next, jobs * i / batch.threads);
        batch.shares[i].end = jobs * (i + 1) / batch.threads;
    }
    start_batch(&batch, batch.threads - 1);
    run_shares(&batch, 0);
    finish_batch();
    pthread_mutex_unlock(&pool.busy);
}

struct workers workers_of_threads(unsigned count)
{
    return (struct workers){.count = count < WORKERS_LIMIT ? count : WORKERS_LIMIT,
                            .run = run_threads};
}
