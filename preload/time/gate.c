/* The clock of each thread, and the place where threads wait for simulated time.
 *
 * Everything here may be called in a signal handler, and by threads that are about to be forked:
 * there are no locks. A thread gets a slot of the shared page when it first needs one, and the
 * server frees the slots of threads that have ended. */
#include "preload/time/gate.h"

#include "host/socket/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum {
    SPINS = 400,        /* looks at the futex before a thread sleeps */
    WATCH_S = 1,        /* wall-clock time after which a waiting thread looks for the server */
    SOCKET_FIRST = 700, /* descriptor, so that programs find the low ones as ever */
    VAIN_LOOKS = 8,     /* before a thread waits that does nothing else */
    QUIET_SHARE = 8,    /* a poller waits an eighth of the time that it has waited, within: */
};
#define RUN_AHEAD   (10 * 1000 * 1000 * PS_PER_NS) /* of a thread before the simulated time */
#define SOME_CALLS  (1000 * PS_PER_NS)
#define QUIET_LEAST (5 * 1000 * PS_PER_NS)
#define QUIET_MOST  (100 * 1000 * PS_PER_NS)

struct self {
    struct time_slot *slot;
    uint64_t local, processor_ns;
    unsigned vain;  /* looks at descriptors in vain, since a CQ was polled */
    uint64_t quiet; /* time that this thread has polled in vain */
    int socket;
    ino_t socket_inode;
};

struct time_page *gate_page;
static __thread struct self self __attribute__((tls_model("initial-exec"))) = {.socket = -1};
static struct time_slot *alarm_slot;
static pthread_key_t socket_key; /* of threads that have one: closes it at their end */
static bool has_socket_key;

/* ---- the page ---- */

static void forget_thread(void)
{
    /* The socket stays open: closing it here could close a descriptor that the program has
     * reused. It is of no use in a child, which shares its address with the parent. */
    self = (struct self){.socket = -1, .local = self.local};
    alarm_slot = NULL;
}

/* Programs may have closed its descriptor, and used it for something else. */
static bool has_socket(void)
{
    struct stat status;
    return self.socket >= 0 && fstat(self.socket, &status) == 0 &&
           status.st_ino == self.socket_inode && S_ISSOCK(status.st_mode);
}

static void close_socket(void *value)
{
    (void)value;
    if (!has_socket())
        return;
    self.slot->address = 0;
    syscall(SYS_close, self.socket);
    self.socket = -1;
}

/* getenv() for a time at which the C library does not know the environment. */
static const char *variable(char *const environment[], const char *name)
{
    size_t length = strlen(name);
    for (; environment && *environment; environment++)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

/* The linker's option initfirst makes it the first constructor of the program: those of other
 * libraries measure clocks (UCX). */
static __attribute__((constructor)) void attach(int count, char **arguments, char **environment)
{
    (void)count, (void)arguments;
    const char *path = variable(environment, WEFT_TIME_VARIABLE);
    struct stat status;
    if (!path || !*path)
        return;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *at = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &status) == 0 && (size_t)status.st_size >= sizeof(struct time_page))
        at = mmap(NULL, sizeof(struct time_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    struct time_page *page = at == MAP_FAILED ? NULL : at;
    /* The server finds threads by their IDs, which other namespaces number anew. */
    if (page &&
        (stat("/proc/self/ns/pid", &status) < 0 || status.st_ino != page->process_namespace))
        page = NULL;
    if (!page || page->version != TIME_VERSION) {
        fprintf(stderr, "weft: no simulated time at '%s': this program sees the wall clock\n",
                path);
        return;
    }
    gate_page = page;
    pthread_atfork(NULL, NULL, forget_thread);
    has_socket_key = pthread_key_create(&socket_key, close_socket) == 0;
    cycles_start();
}

/* ---- slots ---- */

static uint32_t thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

static bool take_slot(struct time_slot *slot, uint32_t thread)
{
    uint32_t nobody = 0;
    return __atomic_compare_exchange_n(&slot->thread, &nobody, thread, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

/* A slot of this ID may be left of a program that has executed this one. NULL: all are in use. */
static struct time_slot *find_slot(uint32_t thread)
{
    struct time_page *page = gate_page;
    uint32_t count = __atomic_load_n(&page->slot_count, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < count && i < TIME_SLOTS; i++)
        if (__atomic_load_n(&page->slots[i].thread, __ATOMIC_SEQ_CST) == thread)
            return &page->slots[i];
    for (uint32_t i = 0; i < TIME_SLOTS; i++) {
        if (!take_slot(&page->slots[i], thread))
            continue;
        while (count <= i && !__atomic_compare_exchange_n(&page->slot_count, &count, i + 1, false,
                                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            ;
        return &page->slots[i];
    }
    return NULL;
}

static struct time_slot *own_slot(uint32_t thread, enum time_state state)
{
    struct time_slot *slot = find_slot(thread);
    if (!slot) {
        static const char text[] = "weft: too many threads for simulated time\n";
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        abort();
    }
    slot->process = (uint32_t)getpid();
    slot->deadline = TIME_FOREVER;
    slot->completion = slot->expired = slot->address = 0;
    __atomic_store_n(&slot->state, state, __ATOMIC_SEQ_CST);
    return slot;
}

static struct time_slot *own(void)
{
    if (!self.slot)
        self.slot = own_slot(thread_id(), TIME_RUNS);
    return self.slot;
}

struct time_slot *gate_alarm(void)
{
    if (!alarm_slot)
        alarm_slot = own_slot((uint32_t)getpid() | 1u << 31, TIME_ALARM);
    return alarm_slot;
}

/* ---- the clock ---- */

static uint64_t simulated(void)
{
    return __atomic_load_n(&gate_page->now, __ATOMIC_ACQUIRE);
}

static uint64_t processor_ns(void)
{
    struct timespec time;
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void charge(void)
{
    uint64_t used = processor_ns();
    if (self.processor_ns)
        self.local +=
            (uint64_t)((double)(used - self.processor_ns) * (double)gate_page->charge / 1e3);
    self.processor_ns = used;
}

uint64_t gate_local(void)
{
    uint64_t now = simulated();
    if (self.local < now)
        self.local = now;
    if (gate_page->charge)
        charge();
    return self.local;
}

uint64_t gate_spend(enum time_price price)
{
    struct time_slot *slot = own();
    __atomic_store_n(&slot->calls, slot->calls + 1, __ATOMIC_RELAXED);
    gate_local();
    self.local += gate_page->prices[price];
    if (self.local > simulated() + RUN_AHEAD)
        gate_sync();
    return self.local;
}

/* ---- waiting ---- */

void gate_note_signal(void)
{
    __atomic_add_fetch(&gate_page->signals, 1, __ATOMIC_SEQ_CST);
}

void gate_kick(void)
{
    __atomic_add_fetch(&gate_page->kicks, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&gate_page->sleeping, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &gate_page->kicks, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* A program that outlives the server must not wait for it. */
static void check_server(void)
{
    if (kill((pid_t)gate_page->server, 0) < 0 && errno == ESRCH)
        _exit(127);
}

/* False: a signal came first. */
static bool wait_in_slot(uint64_t deadline, bool completion)
{
    struct time_slot *slot = own();
    const struct timespec watch = {.tv_sec = WATCH_S};
    uint32_t wake = __atomic_load_n(&slot->wake, __ATOMIC_SEQ_CST), waits = TIME_WAITS;
    bool woken = true;
    slot->deadline = deadline;
    slot->completion = completion;
    slot->calls++;
    __atomic_store_n(&slot->state, TIME_WAITS, __ATOMIC_SEQ_CST);
    gate_kick();
    for (int i = 0; i < SPINS && __atomic_load_n(&slot->wake, __ATOMIC_SEQ_CST) == wake; i++)
        __builtin_ia32_pause();
    while (__atomic_load_n(&slot->wake, __ATOMIC_SEQ_CST) == wake) {
        if (syscall(SYS_futex, &slot->wake, FUTEX_WAIT, wake, &watch, NULL, 0) == 0)
            continue;
        if (errno == ETIMEDOUT)
            check_server();
        if (errno == EINTR && __atomic_compare_exchange_n(&slot->state, &waits, TIME_RUNS, false,
                                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            woken = false;
            break;
        }
    }
    __atomic_store_n(&slot->calls, slot->calls + 1,
                     __ATOMIC_RELAXED); /* the return is not computing */
    if (gate_page->charge)
        self.processor_ns = processor_ns(); /* waiting is not computing */
    gate_woken();
    return woken;
}

void gate_woken(void)
{
    uint64_t now = simulated();
    if (self.local < now)
        self.local = now;
}

bool gate_is_ahead(void)
{
    return self.slot && self.local > simulated() + SOME_CALLS;
}

void gate_sync(void)
{
    while (simulated() < self.local)
        wait_in_slot(self.local, false);
}

bool gate_sleep(uint64_t deadline)
{
    int error = errno;
    bool whole = true;
    while (whole && simulated() < deadline)
        whole = wait_in_slot(deadline, false);
    errno = error;
    return whole || simulated() >= deadline;
}

/* Programs that poll until a time has come must see time pass. The longer they poll in vain, the
 * less often. */
static void wait_a_while(void)
{
    int error = errno;
    uint64_t begin = gate_local(), pause = self.quiet / QUIET_SHARE;
    pause = pause < QUIET_LEAST ? QUIET_LEAST : pause > QUIET_MOST ? QUIET_MOST : pause;
    wait_in_slot(begin + pause, true);
    self.quiet += gate_local() - begin;
    errno = error;
}

void gate_look_in_vain(void)
{
    gate_spend(TIME_CALL);
    if (++self.vain > VAIN_LOOKS)
        wait_a_while();
}

void gate_wait_completion(void)
{
    self.vain = 0;
    wait_a_while();
}

void gate_found_completion(void)
{
    self.vain = 0;
    self.quiet = 0;
}

/* ---- system calls with a deadline ---- */

/* A socket at which the server's datagrams arrive. */
static int own_socket(void)
{
    struct stat status;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = sizeof address;
    if (has_socket())
        return self.socket;
    self.socket = -1;
    int low = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (low < 0)
        return -1;
    int fd = fcntl(low, F_DUPFD_CLOEXEC, SOCKET_FIRST);
    if (fd >= 0)
        close(low);
    fd = fd >= 0 ? fd : low;
    uint32_t handle;
    if (bind(fd, (struct sockaddr *)&address, sizeof address.sun_family) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) < 0 ||
        !endpoint_handle(&address, length, &handle) || fstat(fd, &status) < 0) {
        close(fd);
        return -1;
    }
    own()->address = handle + 1;
    self.socket_inode = status.st_ino;
    if (has_socket_key)
        pthread_setspecific(socket_key, &self);
    return self.socket = fd;
}

int gate_begin_block(uint64_t deadline, bool with_socket)
{
    struct time_slot *slot = own();
    int fd = with_socket ? own_socket() : -1;
    slot->deadline = deadline;
    slot->completion = 0;
    slot->calls++;
    __atomic_store_n(&slot->expired, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&slot->state, TIME_BLOCKS, __ATOMIC_SEQ_CST);
    gate_kick();
    return fd;
}

bool gate_expired(void)
{
    return __atomic_load_n(&own()->expired, __ATOMIC_SEQ_CST);
}

bool gate_end_block(int socket)
{
    struct time_slot *slot = own();
    int error = errno;
    char byte;
    __atomic_store_n(&slot->state, TIME_RUNS, __ATOMIC_SEQ_CST);
    slot->deadline = TIME_FOREVER;
    while (socket >= 0 && syscall(SYS_recvfrom, socket, &byte, 1, MSG_DONTWAIT, NULL, NULL) >= 0)
        ;
    gate_woken();
    errno = error;
    return gate_expired();
}

uint32_t *gate_wake_word(uint32_t *value)
{
    struct time_slot *slot = own();
    *value = __atomic_load_n(&slot->wake, __ATOMIC_SEQ_CST);
    return &slot->wake;
}

/* ---- for the stand-in for libibverbs ---- */

uint64_t weft_time_spend(uint32_t price);
void weft_time_wait_completion(void);
void weft_time_found_completion(void);
void weft_time_sync(void);
void weft_time_kick(void);
bool weft_time_is_simulated(void);

WEFT_EXPORT bool weft_time_is_simulated(void)
{
    return gate_page != NULL;
}

WEFT_EXPORT uint64_t weft_time_spend(uint32_t price)
{
    return gate_spend((enum time_price)price);
}

WEFT_EXPORT void weft_time_wait_completion(void)
{
    gate_wait_completion();
}

WEFT_EXPORT void weft_time_found_completion(void)
{
    gate_found_completion();
}

WEFT_EXPORT void weft_time_sync(void)
{
    gate_local();
    gate_sync();
}

WEFT_EXPORT void weft_time_kick(void)
{
    gate_kick();
}
