/* A queue of tasks with one POSIX thread; an eventfd(2) wakes the event loop when a task is
 * finished. The list has given tasks in order, with counts of those finished and taken back, and is
 * reused once all were taken. */
#include "host/files/worker.h"

#include "base/mem.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct piece {
    void (*work)(void *task);
    void *task;
};

struct worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more;
    VEC(struct piece) pieces; /* of which the first `done` are finished */
    atomic_size_t done;
    size_t taken;
    bool ending;
    int fd;
};

/* Runs tasks until worker_free() is called and none is left. */
static void *run_tasks(void *argument)
{
    struct worker *worker = argument;
    pthread_mutex_lock(&worker->lock);
    for (;;) {
        while (worker->done == worker->pieces.count && !worker->ending)
            pthread_cond_wait(&worker->more, &worker->lock);
        if (worker->done == worker->pieces.count)
            break;
        struct piece piece = worker->pieces.items[worker->done];
        pthread_mutex_unlock(&worker->lock);
        piece.work(piece.task);
        pthread_mutex_lock(&worker->lock);
        worker->done++;
        eventfd_write(worker->fd, 1);
    }
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

struct worker *worker_new(void)
{
    struct worker *worker = mem_zalloc(1, sizeof *worker);
    worker->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->more, NULL);
    if (worker->fd < 0 || pthread_create(&worker->thread, NULL, run_tasks, worker) != 0)
        mem_fail("a thread");
    return worker;
}

void worker_free(struct worker *worker)
{
    if (!worker)
        return;
    pthread_mutex_lock(&worker->lock);
    worker->ending = true;
    pthread_cond_signal(&worker->more);
    pthread_mutex_unlock(&worker->lock);
    pthread_join(worker->thread, NULL);
    pthread_cond_destroy(&worker->more);
    pthread_mutex_destroy(&worker->lock);
    close(worker->fd);
    vec_release(&worker->pieces);
    mem_free(worker);
}

int worker_fd(const struct worker *worker)
{
    return worker->fd;
}

void worker_give(struct worker *worker, void (*work)(void *task), void *task)
{
    pthread_mutex_lock(&worker->lock);
    assert(!worker->ending && worker->taken <= worker->done);
    if (worker->taken == worker->pieces.count)
        worker->done = worker->taken = worker->pieces.count = 0;
    vec_push(&worker->pieces, ((struct piece){work, task}));
    pthread_cond_signal(&worker->more);
    pthread_mutex_unlock(&worker->lock);
}

/* Called in every iteration of the loop: takes no lock if no task is finished. */
void *worker_take(struct worker *worker)
{
    if (worker->taken == atomic_load(&worker->done))
        return NULL;
    pthread_mutex_lock(&worker->lock); /* waits until the eventfd is written */
    eventfd_read(worker->fd, &(eventfd_t){0});
    void *task = worker->pieces.items[worker->taken++].task;
    assert(worker->taken <= worker->done && worker->done <= worker->pieces.count);
    if (worker->taken < worker->done)
        eventfd_write(worker->fd, 1);
    pthread_mutex_unlock(&worker->lock);
    return task;
}

bool worker_is_busy(const struct worker *worker)
{
    return worker->taken < worker->pieces.count; /* only the caller's thread changes these */
}
