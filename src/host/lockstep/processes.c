/* Reads /proc.
 *
 * The threads are listed again when the kernel has given a new ID to any process of the machine.
 * For each thread three files stay open. Its state alone does not say that it is asleep: a thread
 * is in that state before it leaves the processor, when it looks for the last time whether it must
 * wait, and in wait4(2) it even releases a child then. The kernel shows the system call of a thread
 * only when it has left the processor, but also while it is being woken on another one, which takes
 * longer than the call that wakes it: its state is that of a running thread then. The third file
 * says how often it has begun to run. One look at all threads is not enough: a thread that was seen
 * asleep may have been woken by one that was looked at later. If no thread has begun to run since
 * the look before, nobody was there to do that. */
#include "host/lockstep/processes.h"

#include "base/time.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void processes_init(struct processes *processes)
{
    *processes = (struct processes){0};
}

static void close_thread(struct process_thread *thread)
{
    const int files[] = {thread->call, thread->state, thread->schedule};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] >= 0)
            close(files[i]);
}

void processes_release(struct processes *processes)
{
    for (size_t i = 0; i < processes->threads.count; i++)
        close_thread(&processes->threads.items[i]);
    vec_release(&processes->threads);
}

static size_t position(const struct processes *processes, uint32_t thread)
{
    size_t at;
    lower_bound(at, processes->threads.count, processes->threads.items[at].thread < thread);
    return at;
}

struct process_thread *processes_find(const struct processes *processes, uint32_t thread)
{
    size_t at = position(processes, thread);
    return at < processes->threads.count && processes->threads.items[at].thread == thread
               ? &processes->threads.items[at]
               : NULL;
}

/* ---- listing ---- */

static ssize_t read_text(int fd, char *text, size_t size)
{
    ssize_t got = pread(fd, text, size - 1, 0);
    text[got > 0 ? got : 0] = 0;
    return got;
}

/* The last field of /proc/loadavg. */
static uint64_t last_id(void)
{
    static int fd = -1;
    char text[128];
    if (fd < 0)
        fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read_text(fd, text, sizeof text) <= 0)
        return UINT64_MAX;
    const char *last = strrchr(text, ' ');
    return last ? strtoull(last, NULL, 10) : UINT64_MAX;
}

static int open_file(uint32_t process, uint32_t thread, const char *name)
{
    char path[96];
    snprintf(path, sizeof path, "/proc/%u/task/%u/%s", process, thread, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void add_thread(struct processes *processes, uint32_t process, uint32_t thread)
{
    size_t at = position(processes, thread);
    struct process_thread *known = processes_find(processes, thread);
    if (known && known->process == process)
        return;
    if (known) { /* the ID was used again */
        close_thread(known);
        vec_remove(&processes->threads, at);
    }
    struct process_thread new = {.thread = thread,
                                 .process = process,
                                 .call = open_file(process, thread, "syscall"),
                                 .state = open_file(process, thread, "stat"),
                                 .schedule = open_file(process, thread, "schedstat"),
                                 .switches = UINT64_MAX};
    if (new.state < 0) {
        close_thread(&new);
        return;
    }
    vec_insert(&processes->threads, at, new);
    processes->added = true;
}

static void list_process(struct processes *processes, uint32_t process, unsigned depth);

/* The children of each thread of a process, and all that is below them. */
static void list_children(struct processes *processes, uint32_t process, uint32_t thread,
                          unsigned depth)
{
    char text[16384];
    int fd = open_file(process, thread, "children");
    if (fd < 0)
        return;
    ssize_t got = read_text(fd, text, sizeof text);
    close(fd);
    for (char *at = text, *end; got > 0; at = end) {
        unsigned long child = strtoul(at, &end, 10);
        if (end == at)
            return;
        list_process(processes, (uint32_t)child, depth + 1);
    }
}

static void list_process(struct processes *processes, uint32_t process, unsigned depth)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task", process);
    DIR *directory = depth < 64 ? opendir(path) : NULL;
    if (!directory)
        return;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        uint32_t thread = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (thread && depth)
            add_thread(processes, process, thread);
        if (thread)
            list_children(processes, process, thread, depth);
    }
    closedir(directory);
}

enum processes_news processes_refresh(struct processes *processes)
{
    uint64_t last = last_id();
    if (processes->listed && last != UINT64_MAX && last == processes->last_id)
        return PROCESSES_SAME;
    processes->last_id = last;
    processes->listed = true;
    processes->added = false;
    list_process(processes, (uint32_t)getpid(), 0);
    return processes->added ? PROCESSES_NEW : PROCESSES_LISTED;
}

/* ---- states ---- */

/* The letter behind the name, which is in parentheses and may contain any character; 0: gone. */
static char read_letter(const struct process_thread *thread)
{
    char text[512];
    if (read_text(thread->state, text, sizeof text) <= 0)
        return 0;
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' ? end[2] : 0;
}

/* Calls in which a thread waits for nothing but messages, or other threads. In others it may wait
 * for a disk. */
static bool is_message_wait(long call)
{
    switch (call) {
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_connect:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4:
#ifdef __x86_64__
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
#endif
        return true;
    default: return false;
    }
}

/* vfork(2) and the like wait for a child, which is looked at itself. */
static bool is_wait(long call)
{
    switch (call) {
    case SYS_clone:
    case SYS_clone3:
    case SYS_futex:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
    case SYS_clock_nanosleep:
#ifdef __x86_64__
    case SYS_vfork:
    case SYS_pause:
#endif
        return true;
    default: return is_message_wait(call);
    }
}

enum state { STATE_GONE, STATE_RUNS, STATE_HELD, STATE_SLEEPS, STATE_ENDED };
#define HELD_MOST_NS UINT64_C(10000000000) /* a disk should have answered by then */

/* A stopped program is asleep, but not one that a debugger holds: it should find the time at which
 * it was stopped. */
static enum state read_state(const struct process_thread *thread, bool *messages)
{
    char text[256];
    ssize_t got = thread->call < 0 ? 0 : read_text(thread->call, text, sizeof text);
    if (got > 0 && text[0] == 'r') /* "running" */
        return STATE_RUNS;
    long call = got > 0 ? strtol(text, NULL, 10) : SYS_read;
    *messages |= call == SYS_read || is_message_wait(call);
    char letter = read_letter(thread);
    if (letter == 0 || letter == 'X')
        return STATE_GONE;
    if (letter == 'Z')
        return STATE_ENDED;
    if (letter == 'R')
        return STATE_RUNS;
    if (is_wait(call))
        return STATE_SLEEPS;
    if (letter == 'D')
        return STATE_HELD;
    return letter == 'S' || letter == 'T' || letter == 'I' ? STATE_SLEEPS : STATE_RUNS;
}

/* The third number. Kernels without it: the look is not repeated. */
static uint64_t read_switches(const struct process_thread *thread)
{
    char text[96];
    if (thread->schedule < 0 || read_text(thread->schedule, text, sizeof text) <= 0)
        return 0;
    const char *last = strrchr(text, ' ');
    return last ? strtoull(last, NULL, 10) : 0;
}

bool processes_runs(const struct process_thread *thread)
{
    bool messages = false;
    enum state state = read_state(thread, &messages);
    return state == STATE_RUNS || state == STATE_HELD;
}

/* Whether a thread may still wait for a disk, and not for another program. */
static bool is_held(struct process_thread *thread, uint64_t switches)
{
    uint64_t now = time_monotonic_ns();
    if (thread->held_since_ns == 0 || switches != thread->switches)
        thread->held_since_ns = now;
    return now - thread->held_since_ns < HELD_MOST_NS;
}

/* When a thread has ended, others of its process may be ending, wherever they waited before. */
static bool doubt_others(struct processes *processes, uint32_t process)
{
    bool doubted = false;
    for (size_t i = 0; i < processes->threads.count; i++) {
        struct process_thread *thread = &processes->threads.items[i];
        if (thread->process != process || !thread->trusted)
            continue;
        thread->trusted = false;
        doubted = thread->doubted = true;
    }
    return doubted;
}

struct process_thread *processes_running(struct processes *processes, bool *again)
{
    *again = processes->messages = false;
    for (size_t i = 0; i < processes->threads.count; i++) {
        struct process_thread *thread = &processes->threads.items[i];
        if (thread->trusted || thread->ignored)
            continue;
        enum state state = read_state(thread, &processes->messages);
        if (state == STATE_GONE || state == STATE_ENDED)
            *again |= doubt_others(processes, thread->process);
        if (state == STATE_GONE) {
            close_thread(thread);
            vec_remove(&processes->threads, i);
            i--;
            processes->listed = false; /* its children have another parent now */
            *again = true;
            continue;
        }
        if (state == STATE_RUNS)
            return thread;
        uint64_t switches = read_switches(thread);
        if (state == STATE_HELD && is_held(thread, switches)) {
            thread->switches = switches;
            return thread;
        }
        if (state != STATE_HELD)
            thread->held_since_ns = 0;
        *again |= switches != thread->switches;
        thread->switches = switches;
    }
    return NULL;
}

/* The field of each processor's line that counts packets in its queue is the twelfth. */
bool processes_in_flight(void)
{
    enum { QUEUE = 11 * 9 };
    static int fd = -1;
    static char text[65536];
    if (fd < 0)
        fd = open("/proc/net/softnet_stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read_text(fd, text, sizeof text) <= 0)
        return false;
    for (const char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        if (end - line > QUEUE + 8 && strncmp(line + QUEUE, "00000000", 8) != 0)
            return true;
    return false;
}

uint64_t processes_time(uint32_t process)
{
    struct timespec time;
    if (clock_gettime((clockid_t)(~process << 3 | 2), &time) < 0)
        return 0;
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}
