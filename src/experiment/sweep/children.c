/* A child has ended when the pipe of its standard error is closed, so that one poll() waits for all
 * of them. */
#include "experiment/sweep/children.h"

#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct child {
    size_t job;
    pid_t pid;
    int pipe;
    double start;
    bool timed_out;
    struct text output;
};

struct children {
    struct child_limits limits;
    VEC(struct child) running;
    sigset_t before; /* signal mask of the caller */
    struct sigaction old_interrupt, old_terminate;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

double children_clock(void)
{
    return (double)time_monotonic_ns() / NS_PER_S;
}

/* ---- all ---- */

struct children *children_new(const struct child_limits *limits)
{
    struct children *children = mem_zalloc(1, sizeof *children);
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t blocked;
    children->limits = *limits;
    interrupted = 0;
    /* Signals are delivered only inside ppoll(): none can be missed before it. */
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, &children->before);
    sigaction(SIGINT, &action, &children->old_interrupt);
    sigaction(SIGTERM, &action, &children->old_terminate);
    return children;
}

static void remove_child(struct children *children, size_t index)
{
    assert(index < children->running.count);
    struct child *child = &children->running.items[index];
    close(child->pipe);
    text_release(&child->output);
    *child = children->running.items[--children->running.count];
}

void children_free(struct children *children)
{
    while (children->running.count) {
        pid_t pid = children->running.items[0].pid;
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
        remove_child(children, 0);
    }
    sigaction(SIGINT, &children->old_interrupt, NULL);
    sigaction(SIGTERM, &children->old_terminate, NULL);
    sigprocmask(SIG_SETMASK, &children->before, NULL);
    vec_release(&children->running);
    mem_free(children);
}

unsigned children_running(const struct children *children)
{
    return (unsigned)children->running.count;
}

bool children_interrupted(const struct children *children)
{
    (void)children;
    return interrupted != 0;
}

/* ---- the child's side ---- */

static void set_up_child(const struct children *children, pid_t parent, int output)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the parent died before prctl() */
        _exit(1);
    /* The parent handles interrupts, and ends its children. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    sigprocmask(SIG_SETMASK, &children->before, NULL);
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
#if !defined __SANITIZE_ADDRESS__ /* ASan maps terabytes */
    struct rlimit limit = {children->limits.memory, children->limits.memory};
    if (limit.rlim_cur)
        setrlimit(RLIMIT_AS, &limit);
#endif
}

int children_start(struct children *children, size_t job, int (*work)(void *context), void *context)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    fflush(NULL); /* else the child would write buffered output again */
    pid_t pid = fork();
    if (pid == 0) {
        set_up_child(children, parent, ends[1]);
        int status = work(context);
        fflush(stderr);
        _exit(status);
    }
    int failure = pid < 0 ? -errno : 0;
    close(ends[1]);
    if (failure) {
        close(ends[0]);
        return failure;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    vec_push(&children->running, ((struct child){
                                     .job = job,
                                     .pid = pid,
                                     .pipe = ends[0],
                                     .start = children_clock(),
                                 }));
    return 0;
}

/* ---- the parent's side ---- */

/* Reads what a child writes; true at the end of the pipe. */
static bool read_output(struct child *child)
{
    char buffer[4096];
    enum { KEPT = sizeof((struct child_end){0}.output) };
    for (;;) {
        ssize_t got = read(child->pipe, buffer, sizeof buffer);
        if (got < 0)
            return errno != EAGAIN && errno != EINTR;
        if (got == 0)
            return true;
        if (child->output.length < KEPT)
            text_append(&child->output, buffer, (size_t)got);
    }
}

/* Kills children past the time limit. Returns the seconds until the next deadline, at most `wait`.
 */
static double check_deadlines(struct children *children, double wait)
{
    double limit = (double)children->limits.time / (double)TIME_S, now = children_clock();
    for (size_t i = 0; i < children->running.count && children->limits.time; i++) {
        struct child *child = &children->running.items[i];
        double left = child->start + limit - now;
        if (left <= 0 && !child->timed_out) {
            kill(child->pid, SIGKILL);
            child->timed_out = true;
        } else if (left < wait && !child->timed_out) {
            wait = left;
        }
    }
    return wait;
}

/* Waits for the end of a child, at most `wait` seconds. */
static bool poll_once(struct children *children, double wait, struct child_end *end)
{
    size_t count = children->running.count, ended = count;
    struct pollfd *polled = mem_zalloc(count + 1, sizeof *polled);
    sigset_t while_waiting = children->before;
    sigdelset(&while_waiting, SIGINT);
    sigdelset(&while_waiting, SIGTERM);
    for (size_t i = 0; i < count; i++)
        polled[i] = (struct pollfd){.fd = children->running.items[i].pipe, .events = POLLIN};
    struct timespec time = {(time_t)wait, (long)((wait - (double)(time_t)wait) * 1e9)};
    if (ppoll(polled, count, &time, &while_waiting) > 0)
        for (size_t i = 0; i < count && ended == count; i++)
            if (polled[i].revents && read_output(&children->running.items[i]))
                ended = i;
    mem_free(polled);
    if (ended == count)
        return false;
    struct child *child = &children->running.items[ended];
    int status = 0;
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
    }
    *end = (struct child_end){.job = child->job,
                              .timed_out = child->timed_out,
                              .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                              .exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                              .seconds = children_clock() - child->start};
    snprintf(end->output, sizeof end->output, "%s", child->output.data ? child->output.data : "");
    remove_child(children, ended);
    return true;
}

bool children_wait(struct children *children, unsigned milliseconds, struct child_end *end)
{
    double until = children_clock() + milliseconds / 1e3;
    for (;;) {
        double left = until - children_clock();
        if (poll_once(children, check_deadlines(children, left > 0 ? left : 0), end))
            return true;
        if (interrupted || left <= 0)
            return false;
    }
}

/* ---- messages ---- */

const char *child_end_text(const struct child_end *end, const struct child_limits *limits,
                           char *buffer, size_t size)
{
    char time[TIME_TEXT_BYTES];
    int length = (int)strcspn(end->output, "\n");
    bool memory = strstr(end->output, "out of memory") != NULL;
    if (end->timed_out)
        snprintf(buffer, size, "took longer than %s", time_text(limits->time, time));
    else if (end->signal)
        snprintf(buffer, size, "killed by signal %d (%s)%s%.*s", end->signal,
                 strsignal(end->signal), length ? ": " : "", length, end->output);
    else if (memory && limits->memory)
        snprintf(buffer, size, "%.*s; its limit is %llu MiB", length, end->output,
                 (unsigned long long)(limits->memory >> 20));
    else if (length)
        snprintf(buffer, size, "%.*s", length, end->output);
    else
        snprintf(buffer, size, "ended with status %d", end->exit_status);
    return buffer;
}
