/* The shared page: who waits for what, and who is woken.
 *
 * Programs can write anything into it, so nothing that is read there is trusted: a slot can only
 * delay or wake threads of the programs themselves.
 *
 * A program may also wait without telling anybody, by reading memory again and again until the
 * fabric has written it. It looks like one that computes. A thread that has used much processor
 * time without a call is silent: the clock goes on without it, not faster than the processor time
 * that it uses, and stands still again when the fabric has written into that program. If the
 * thread makes a call before, it was computing, and what it sees then depends on this machine: it
 * was late, which is counted. */
#include "host/lockstep/lockstep.h"

#include "base/mem.h"
#include "base/time.h"
#include "host/lockstep/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOKS = 300,          /* at the count of kicks, before a sleep */
    NAP_LEAST_NS = 20000, /* a sleep */
    NAP_MOST_NS = 1000000,
    SPINNER_NS = 500000, /* processor time after which a thread that has spun before spins again */
    REACTION_NS = 1000000,       /* in which such a thread reacts to the write */
    REACTIONS = 2,               /* that show that it has spun */
    PATIENCE_MOST = 16,          /* for programs that compute */
    CYCLES_MHZ = 1000,           /* of the simulated time stamp counter */
    HELD_UP_MOST_NS = 200000000, /* wall-clock time */
    ROUNDS = 5,                  /* of looks at all threads */
    NO_DEVICE = 500,             /* programs without a device have so many times the limit */
};
#define EPOCH UINT64_C(1767225600) /* 2026-01-01 */

/* A process that was found running, or has a device. */
struct program {
    uint32_t process;
    bool device, silent;
    bool written;          /* it was silent, and its memory has changed */
    uint32_t reactions;    /* to that, one after the other */
    uint32_t patience;     /* factor of the time after which it counts as silent */
    uint64_t calls;        /* when it was last heard of, */
    uint64_t processor_ns; /* and its processor time then */
    uint64_t silent_since; /* simulated time */
};

struct lockstep {
    struct lockstep_options options;
    struct time_page *page;
    int file, socket;
    uint32_t server; /* the ID of this process */
    char path[64];
    uint64_t now;
    struct processes processes;
    VEC(struct program) programs;
    uint32_t kicks, signals; /* when it was last looked */
    uint64_t nap_ns;
    uint64_t held_up_since_ns; /* wall-clock time; 0: not */
    bool completed[TIME_SLOTS];
    struct lockstep_counts counts;
};

const char *const lockstep_price_names[TIME_PRICES + 1] = {
    [TIME_CLOCK] = "clock",         [TIME_CYCLES] = "cycles",
    [TIME_POLL] = "poll",           [TIME_EMPTY_POLL] = "empty-poll",
    [TIME_POST_SEND] = "post-send", [TIME_POST_RECEIVE] = "post-receive",
    [TIME_CALL] = "system-call",
};

void lockstep_options_init(struct lockstep_options *options)
{
    static const uint64_t prices_ns[TIME_PRICES] = {
        [TIME_CLOCK] = 20,     [TIME_CYCLES] = 10,       [TIME_POLL] = 40, [TIME_EMPTY_POLL] = 20,
        [TIME_POST_SEND] = 60, [TIME_POST_RECEIVE] = 30, [TIME_CALL] = 200};
    *options = (struct lockstep_options){.silent_ns = 50000000};
    for (unsigned i = 0; i < TIME_PRICES; i++)
        options->prices[i] = prices_ns[i] * 1000;
}

/* ---- making ---- */

static int make_page(struct lockstep *lockstep, struct err *err)
{
    struct stat status;
    lockstep->file = memfd_create("weft-time", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (lockstep->file < 0 || ftruncate(lockstep->file, sizeof(struct time_page)) < 0 ||
        fcntl(lockstep->file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        return err_set(err, errno, "cannot share the time with programs: %s", strerror(errno));
    void *at =
        mmap(NULL, sizeof(struct time_page), PROT_READ | PROT_WRITE, MAP_SHARED, lockstep->file, 0);
    if (at == MAP_FAILED)
        return err_set(err, errno, "cannot share the time with programs: %s", strerror(errno));
    lockstep->page = at;
    lockstep->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (lockstep->socket < 0 || stat("/proc/self/ns/pid", &status) < 0)
        return err_set(err, errno, "cannot share the time with programs: %s", strerror(errno));
    lockstep->page->process_namespace = status.st_ino;
    return 0;
}

int lockstep_new(struct lockstep **result, const struct lockstep_options *options, struct err *err)
{
    struct lockstep *lockstep = mem_zalloc(1, sizeof *lockstep);
    lockstep->options = *options;
    lockstep->socket = -1;
    lockstep->nap_ns = NAP_LEAST_NS;
    processes_init(&lockstep->processes);
    int status = make_page(lockstep, err);
    if (status) {
        lockstep_free(lockstep);
        return status;
    }
    struct time_page *page = lockstep->page;
    page->cycles_mhz = CYCLES_MHZ;
    page->charge = options->charge;
    page->epoch = EPOCH;
    page->server = lockstep->server = (uint32_t)getpid();
    memcpy(page->prices, options->prices, sizeof page->prices);
    page->version = TIME_VERSION;
    snprintf(lockstep->path, sizeof lockstep->path, "/proc/%d/fd/%d", (int)getpid(),
             lockstep->file);
    *result = lockstep;
    return 0;
}

void lockstep_free(struct lockstep *lockstep)
{
    if (!lockstep)
        return;
    if (lockstep->page)
        munmap(lockstep->page, sizeof *lockstep->page);
    if (lockstep->file >= 0)
        close(lockstep->file);
    if (lockstep->socket >= 0)
        close(lockstep->socket);
    processes_release(&lockstep->processes);
    vec_release(&lockstep->programs);
    mem_free(lockstep);
}

const char *lockstep_path(const struct lockstep *lockstep)
{
    return lockstep->path;
}

/* ---- slots ---- */

static uint32_t slot_count(const struct lockstep *lockstep)
{
    uint32_t count = __atomic_load_n(&lockstep->page->slot_count, __ATOMIC_SEQ_CST);
    return count < TIME_SLOTS ? count : TIME_SLOTS;
}

static uint32_t load(const uint32_t *from)
{
    return __atomic_load_n(from, __ATOMIC_SEQ_CST);
}

/* The thread, or for an alarm the process. */
static uint32_t thread_of(const struct time_slot *slot)
{
    return load(&slot->thread) & ~(1u << 31);
}

/* Whether its deadline wakes somebody. */
static bool has_deadline(const struct time_slot *slot)
{
    if (load(&slot->thread) == 0)
        return false;
    switch (load(&slot->state)) {
    case TIME_WAITS:
    case TIME_ALARM: return true;
    case TIME_BLOCKS: return !load(&slot->expired);
    default: return false;
    }
}

static bool is_due(const struct lockstep *lockstep, uint32_t at)
{
    const struct time_slot *slot = &lockstep->page->slots[at];
    if (!has_deadline(slot))
        return false;
    return __atomic_load_n(&slot->deadline, __ATOMIC_SEQ_CST) <= lockstep->now ||
           (lockstep->completed[at] && load(&slot->state) == TIME_WAITS);
}

uint64_t lockstep_deadline(const struct lockstep *lockstep)
{
    uint64_t first = TIME_FOREVER;
    for (uint32_t i = 0, count = slot_count(lockstep); i < count; i++) {
        const struct time_slot *slot = &lockstep->page->slots[i];
        uint64_t deadline = __atomic_load_n(&slot->deadline, __ATOMIC_SEQ_CST);
        if (deadline < first && has_deadline(slot))
            first = deadline;
    }
    return first;
}

/* ---- who runs ---- */

static struct program *program_of(struct lockstep *lockstep, uint32_t process)
{
    for (size_t i = 0; i < lockstep->programs.count; i++)
        if (lockstep->programs.items[i].process == process)
            return &lockstep->programs.items[i];
    return NULL;
}

static struct program *add_program(struct lockstep *lockstep, uint32_t process)
{
    struct program *known = program_of(lockstep, process);
    if (known)
        return known;
    vec_push(&lockstep->programs, ((struct program){.process = process, .patience = 1}));
    return &lockstep->programs.items[lockstep->programs.count - 1];
}

static uint64_t count_calls(const struct lockstep *lockstep, uint32_t process)
{
    uint64_t calls = 0;
    for (uint32_t i = 0, count = slot_count(lockstep); i < count; i++)
        if (load(&lockstep->page->slots[i].process) == process)
            calls += load(&lockstep->page->slots[i].calls);
    return calls;
}

/* From now on it is listened for again. */
static void listen_to(struct lockstep *lockstep, struct program *program)
{
    for (size_t i = 0; i < lockstep->processes.threads.count && program->silent; i++)
        if (lockstep->processes.threads.items[i].process == program->process)
            lockstep->processes.threads.items[i].ignored = false;
    program->silent = program->written = false;
    program->calls = count_calls(lockstep, program->process);
    program->processor_ns = processes_time(program->process);
}

/* Processor time since it was last heard of. */
static uint64_t used_ns(const struct program *program)
{
    uint64_t now = processes_time(program->process); /* 0: it has ended */
    return now > program->processor_ns ? now - program->processor_ns : 0;
}

/* It has made calls since, or waits. A thread that spins on memory sees a write at once. */
static void hear(struct lockstep *lockstep, struct program *program)
{
    if (program->written)
        program->reactions = used_ns(program) < REACTION_NS ? program->reactions + 1 : 0;
    if (program->silent) {
        lockstep->counts.late += lockstep->now > program->silent_since;
        lockstep->counts.late_ps += lockstep->now - program->silent_since;
        program->reactions = 0;
        program->patience =
            program->patience < PATIENCE_MOST ? 2 * program->patience : PATIENCE_MOST;
    }
    listen_to(lockstep, program);
}

static uint64_t silent_ns(const struct lockstep *lockstep, const struct program *program)
{
    if (program->reactions >= REACTIONS)
        return (uint64_t)SPINNER_NS * program->patience;
    return lockstep->options.silent_ns * (program->device ? program->patience : NO_DEVICE);
}

static void watch(struct lockstep *lockstep, struct process_thread *thread)
{
    struct program *program = add_program(lockstep, thread->process);
    if (program->processor_ns == 0) {
        listen_to(lockstep, program);
    } else if (program->calls != count_calls(lockstep, program->process)) {
        hear(lockstep, program);
    } else if (program->silent || used_ns(program) > silent_ns(lockstep, program)) {
        if (!program->silent)
            program->silent_since = lockstep->now;
        program->silent = thread->ignored = true;
    }
}

/* Whether a silent program still computes, or spins: it may have begun to wait in the kernel, or
 * have ended. */
static bool computes(const struct lockstep *lockstep, const struct program *program)
{
    for (size_t i = 0; i < lockstep->processes.threads.count; i++) {
        const struct process_thread *thread = &lockstep->processes.threads.items[i];
        if (thread->process == program->process && thread->ignored && processes_runs(thread))
            return true;
    }
    return false;
}

/* Those that have made calls in the meantime, or sleep. */
static void check_silent(struct lockstep *lockstep)
{
    for (size_t i = 0; i < lockstep->programs.count; i++) {
        struct program *program = &lockstep->programs.items[i];
        if (!program->silent && !program->written)
            continue;
        if (program->calls != count_calls(lockstep, program->process) ||
            (program->silent && !computes(lockstep, program)))
            hear(lockstep, program);
    }
}

uint64_t lockstep_limit(struct lockstep *lockstep)
{
    uint64_t limit = TIME_FOREVER;
    for (size_t i = 0; i < lockstep->programs.count; i++) {
        const struct program *program = &lockstep->programs.items[i];
        if (!program->silent)
            continue;
        uint64_t until = program->silent_since + used_ns(program) * 1000;
        limit = until < limit ? until : limit;
    }
    return limit;
}

/* Slots of threads that had ended before the threads were listed. */
static void free_slots(struct lockstep *lockstep, const uint32_t *threads, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct time_slot *slot = &lockstep->page->slots[i];
        uint32_t expected = threads[i];
        if (expected && !processes_find(&lockstep->processes, expected & ~(1u << 31))) {
            __atomic_store_n(&slot->state, TIME_RUNS, __ATOMIC_SEQ_CST);
            lockstep->completed[i] = false;
            __atomic_compare_exchange_n(&slot->thread, &expected, 0, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST);
        }
    }
    for (size_t i = lockstep->programs.count; i-- > 0;)
        if (!processes_find(&lockstep->processes, lockstep->programs.items[i].process))
            vec_remove(&lockstep->programs, i);
}

static enum processes_news refresh(struct lockstep *lockstep)
{
    static uint32_t threads[TIME_SLOTS];
    uint32_t count = slot_count(lockstep);
    for (uint32_t i = 0; i < count; i++)
        threads[i] = load(&lockstep->page->slots[i].thread);
    enum processes_news news = processes_refresh(&lockstep->processes);
    if (news != PROCESSES_SAME)
        free_slots(lockstep, threads, count);
    return news;
}

/* Threads that wait in their slots were seen there before others are looked at: what they did
 * before is visible now. A thread that a signal has reached runs, whatever its slot says. */
static void trust_slots(struct lockstep *lockstep)
{
    struct processes *processes = &lockstep->processes;
    uint32_t signals = load(&lockstep->page->signals);
    for (size_t i = 0; i < processes->threads.count; i++) {
        processes->threads.items[i].trusted = false;
        processes->threads.items[i].doubted |= signals != lockstep->signals;
    }
    lockstep->signals = signals;
    for (uint32_t i = 0, count = slot_count(lockstep); i < count; i++) {
        const struct time_slot *slot = &lockstep->page->slots[i];
        if (load(&slot->state) != TIME_WAITS)
            continue;
        struct process_thread *thread = processes_find(processes, load(&slot->thread));
        if (thread)
            thread->trusted = !thread->doubted;
    }
}

/* Whether messages between programs are on the way. On a machine with much traffic of others there
 * may always be some. */
static bool is_held_up(struct lockstep *lockstep)
{
    if (!lockstep->processes.messages || !processes_in_flight()) {
        lockstep->held_up_since_ns = 0;
        return false;
    }
    uint64_t now_ns = time_monotonic_ns();
    if (lockstep->held_up_since_ns == 0)
        lockstep->held_up_since_ns = now_ns;
    return now_ns - lockstep->held_up_since_ns < HELD_UP_MOST_NS;
}

bool lockstep_quiet(struct lockstep *lockstep)
{
    struct processes *processes = &lockstep->processes;
    lockstep->kicks = load(&lockstep->page->kicks);
    check_silent(lockstep);
    bool complete = false; /* the list, if nobody has run since */
    for (int i = 0; i < ROUNDS; i++) {
        bool again;
        trust_slots(lockstep);
        struct process_thread *running = processes_running(processes, &again);
        if (running) {
            watch(lockstep, running);
            return false;
        }
        if (again) {
            complete = false;
            continue;
        }
        if (!complete) {
            enum processes_news news = refresh(lockstep);
            complete = news == PROCESSES_LISTED;
            if (news != PROCESSES_SAME)
                continue;
        }
        if (is_held_up(lockstep))
            return false;
        for (size_t k = 0; k < processes->threads.count; k++)
            processes->threads.items[k].doubted = false;
        return true;
    }
    return false;
}

bool lockstep_waits_for_messages(const struct lockstep *lockstep)
{
    return lockstep->processes.messages;
}

void lockstep_stir(struct lockstep *lockstep)
{
    lockstep->nap_ns = NAP_LEAST_NS;
}

void lockstep_pause(struct lockstep *lockstep)
{
    struct time_page *page = lockstep->page;
    struct timespec nap = {.tv_nsec = (long)lockstep->nap_ns};
    for (int i = 0; i < LOOKS; i++) {
        if (load(&page->kicks) != lockstep->kicks)
            return;
        __builtin_ia32_pause();
    }
    __atomic_store_n(&page->sleeping, 1, __ATOMIC_SEQ_CST);
    if (syscall(SYS_futex, &page->kicks, FUTEX_WAIT, lockstep->kicks, &nap, NULL, 0) == 0)
        lockstep->nap_ns = NAP_LEAST_NS;
    else if (lockstep->nap_ns < NAP_MOST_NS)
        lockstep->nap_ns *= 2;
    __atomic_store_n(&page->sleeping, 0, __ATOMIC_SEQ_CST);
}

/* ---- waking ---- */

static void send_datagram(const struct lockstep *lockstep, uint32_t address)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int length = snprintf(to.sun_path + 1, sizeof to.sun_path - 1, "%05x", address - 1);
    ssize_t sent =
        sendto(lockstep->socket, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&to,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length));
    (void)sent; /* the thread looks for its deadline now and then */
}

/* SIGALRM for a process, whose threads may leave their slots now. */
static void alarm_process(struct lockstep *lockstep, struct time_slot *slot)
{
    uint32_t process = thread_of(slot);
    uint64_t interval = slot->interval, deadline = lockstep->now + interval;
    bool again = interval && deadline > lockstep->now;
    __atomic_store_n(&slot->deadline, again ? deadline : TIME_FOREVER, __ATOMIC_SEQ_CST);
    for (size_t i = 0; i < lockstep->processes.threads.count; i++)
        if (lockstep->processes.threads.items[i].process == process)
            lockstep->processes.threads.items[i].doubted = true;
    if (processes_find(&lockstep->processes, process))
        kill((pid_t)process, SIGALRM);
}

static void wake_slot(struct lockstep *lockstep, uint32_t at)
{
    struct time_slot *slot = &lockstep->page->slots[at];
    uint32_t state = load(&slot->state), waits = TIME_WAITS;
    lockstep->completed[at] = false;
    if (state == TIME_ALARM) {
        alarm_process(lockstep, slot);
        return;
    }
    if (state == TIME_WAITS)
        __atomic_compare_exchange_n(&slot->state, &waits, TIME_RUNS, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST);
    __atomic_store_n(&slot->expired, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&slot->wake, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &slot->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    if (state == TIME_BLOCKS && load(&slot->address))
        send_datagram(lockstep, load(&slot->address));
}

/* The kernel gives IDs in ascending order, and begins again with low ones at its limit: all threads
 * are younger than this process. */
static uint32_t place(const struct lockstep *lockstep, uint32_t thread)
{
    return thread - lockstep->server;
}

bool lockstep_wake(struct lockstep *lockstep)
{
    uint32_t best = TIME_SLOTS, first = 0;
    for (uint32_t i = 0, count = slot_count(lockstep); i < count; i++) {
        uint32_t began = place(lockstep, thread_of(&lockstep->page->slots[i]));
        if ((best == TIME_SLOTS || began < first) && is_due(lockstep, i)) {
            best = i;
            first = began;
        }
    }
    if (best == TIME_SLOTS)
        return false;
    wake_slot(lockstep, best);
    lockstep->counts.wakes++;
    lockstep_stir(lockstep);
    return true;
}

uint64_t lockstep_now(const struct lockstep *lockstep)
{
    return lockstep->now;
}

void lockstep_advance(struct lockstep *lockstep, uint64_t now)
{
    lockstep->now = now;
    __atomic_store_n(&lockstep->page->now, now, __ATOMIC_RELEASE);
}

/* ---- devices ---- */

void lockstep_add_device(struct lockstep *lockstep, uint32_t process)
{
    add_program(lockstep, process)->device = true;
}

void lockstep_completed(struct lockstep *lockstep, uint32_t process)
{
    for (uint32_t i = 0, count = slot_count(lockstep); i < count; i++) {
        const struct time_slot *slot = &lockstep->page->slots[i];
        if (load(&slot->process) == process && load(&slot->completion) &&
            load(&slot->state) == TIME_WAITS)
            lockstep->completed[i] = true;
    }
}

bool lockstep_written(struct lockstep *lockstep, uint32_t process)
{
    struct program *program = program_of(lockstep, process);
    if (!program || !program->silent)
        return false;
    lockstep->counts.spins++;
    listen_to(lockstep, program);
    program->written = true;
    return true;
}

void lockstep_counts(const struct lockstep *lockstep, struct lockstep_counts *counts)
{
    *counts = lockstep->counts;
}
