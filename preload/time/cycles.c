/* The time stamp counter shows simulated time.
 *
 * Programs read it by the instructions RDTSC and RDTSCP. With PR_SET_TSC they raise SIGSEGV in the
 * thread, and the handler here executes them. Other faults are passed to the program's own handler,
 * which it sets by sigaction(2) or signal(2) as ever; SIGSEGV stays unblocked. The kernel's clock
 * functions (vDSO) use the counter as well: called by the C library itself, they get the real one.
 *
 * Programs take the frequency of the counter from /proc/cpuinfo, which shows that of the simulated
 * one.
 *
 * The setting survives execve(2), but the handler does not: it is removed before, and the library
 * sets it again in the new program. */
#undef _FILE_OFFSET_BITS /* fopen and fopen64 must be different functions here */

#include "preload/time/gate.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __x86_64__

static struct sigaction program; /* what the program has set for SIGSEGV */
static uintptr_t vdso, vdso_end;
static bool trapping;

static uint64_t real_cycles(void)
{
    uint32_t low, high;
    prctl(PR_SET_TSC, PR_TSC_ENABLE);
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    return (uint64_t)high << 32 | low;
}

static uint64_t cycles(uintptr_t at)
{
    if (at >= vdso && at < vdso_end)
        return real_cycles();
    return (uint64_t)((unsigned __int128)(gate_spend(TIME_CYCLES) + GATE_MONOTONIC_S * PS_PER_S) *
                      gate_page->cycles_mhz / 1000000);
}

/* Executes the instruction, if it is one of the two. */
static bool execute(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    const uint8_t *at = (const uint8_t *)registers[REG_RIP];
    unsigned length = at[0] == 0x0F && at[1] == 0x31                    ? 2
                      : at[0] == 0x0F && at[1] == 0x01 && at[2] == 0xF9 ? 3
                                                                        : 0;
    if (!length)
        return false;
    uint64_t value = cycles((uintptr_t)at);
    registers[REG_RAX] = (greg_t)(value & UINT32_MAX);
    registers[REG_RDX] = (greg_t)(value >> 32);
    if (length == 3)
        registers[REG_RCX] = 0; /* the processor's number */
    registers[REG_RIP] += length;
    return true;
}

/* The program's own handler, or the end of the program. */
static void pass_on(int signal, siginfo_t *info, void *context)
{
    if (program.sa_flags & SA_SIGINFO) {
        program.sa_sigaction(signal, info, context);
    } else if (program.sa_handler == SIG_DFL || program.sa_handler == SIG_IGN) {
        struct sigaction standard = {.sa_handler = SIG_DFL};
        NEXT(sigaction);
        next(SIGSEGV, &standard, NULL); /* the instruction faults again */
        if (info->si_code <= 0)
            raise(signal); /* it was sent */
    } else {
        program.sa_handler(signal);
    }
}

/* A fault of the counter has the code SI_KERNEL and no address, which those of memory have. */
static void handle(int signal, siginfo_t *info, void *context)
{
    int error = errno;
    if (info->si_code != SI_KERNEL || !execute(context))
        pass_on(signal, info, context);
    errno = error;
}

static int install(void)
{
    struct sigaction ours = {.sa_sigaction = handle,
                             .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    NEXT(sigaction);
    return next(SIGSEGV, &ours, NULL);
}

void cycles_start(void)
{
    struct sigaction before;
    NEXT(sigaction);
    vdso = getauxval(AT_SYSINFO_EHDR);
    vdso_end = vdso + 0x4000;
    if (next(SIGSEGV, NULL, &before) == 0)
        program = before;
    if (install() == 0 && prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0)
        trapping = true;
}

/* ---- its frequency ---- */

/* A copy of the file with another frequency; NULL: there is none. */
static FILE *open_cpuinfo(FILE *from)
{
    char line[4096];
    FILE *to = tmpfile();
    while (to && fgets(line, sizeof line, from)) {
        if (strncmp(line, "cpu MHz", 7) == 0)
            snprintf(line, sizeof line, "cpu MHz\t\t: %u.000\n", gate_page->cycles_mhz);
        fputs(line, to);
    }
    if (to)
        rewind(to);
    return to;
}

static FILE *replace_cpuinfo(const char *path, FILE *file)
{
    if (!trapping || !file || !path || strcmp(path, "/proc/cpuinfo") != 0)
        return file;
    FILE *copy = open_cpuinfo(file);
    if (!copy) {
        rewind(file);
        return file;
    }
    fclose(file);
    return copy;
}

WEFT_EXPORT FILE *fopen(const char *path, const char *mode)
{
    NEXT(fopen);
    return replace_cpuinfo(path, next(path, mode));
}

WEFT_EXPORT FILE *fopen64(const char *path, const char *mode)
{
    NEXT(fopen64);
    return replace_cpuinfo(path, next(path, mode));
}

/* ---- the program's handler ---- */

WEFT_EXPORT int sigaction(int signal, const struct sigaction *restrict wanted,
                          struct sigaction *restrict before)
{
    NEXT(sigaction);
    if (!trapping)
        return next(signal, wanted, before);
    if (signal == SIGSEGV) {
        if (before)
            *before = program;
        if (wanted)
            program = *wanted;
        return 0;
    }
    if (!wanted)
        return next(signal, wanted, before);
    struct sigaction copy = *wanted;
    sigdelset(&copy.sa_mask, SIGSEGV);
    return next(signal, &copy, before);
}

typedef void signal_handler(int);

static signal_handler *set_handler(int signal, signal_handler *handler, int flags)
{
    struct sigaction wanted = {.sa_handler = handler, .sa_flags = flags}, before;
    return sigaction(signal, &wanted, &before) < 0 ? SIG_ERR : before.sa_handler;
}

WEFT_EXPORT signal_handler *signal(int number, signal_handler *handler)
{
    return set_handler(number, handler, SA_RESTART);
}

static const sigset_t *unblocked(int how, const sigset_t *set, sigset_t *room)
{
    if (!trapping || !set || how == SIG_UNBLOCK)
        return set;
    *room = *set;
    sigdelset(room, SIGSEGV);
    return room;
}

WEFT_EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict before)
{
    NEXT(sigprocmask);
    sigset_t room;
    return next(how, unblocked(how, set, &room), before);
}

WEFT_EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict before)
{
    NEXT(pthread_sigmask);
    sigset_t room;
    return next(how, unblocked(how, set, &room), before);
}

/* ---- new programs ---- */

static void release(void)
{
    if (trapping)
        prctl(PR_SET_TSC, PR_TSC_ENABLE);
}

static void trap_again(void)
{
    int error = errno;
    if (trapping)
        prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    errno = error;
}

WEFT_EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
    NEXT(execve);
    release();
    next(path, arguments, environment);
    trap_again();
    return -1;
}

WEFT_EXPORT int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

WEFT_EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    NEXT(execvpe);
    release();
    next(file, arguments, environment);
    trap_again();
    return -1;
}

WEFT_EXPORT int execvp(const char *file, char *const arguments[])
{
    return execvpe(file, arguments, environ);
}

WEFT_EXPORT int fexecve(int fd, char *const arguments[], char *const environment[])
{
    NEXT(fexecve);
    release();
    next(fd, arguments, environment);
    trap_again();
    return -1;
}

/* Collects the arguments of execl() and its like; the environment may follow them. */
enum { ARGUMENTS = 4096 };
#define COLLECT_ARGUMENTS(first, environment)                                                      \
    char *arguments[ARGUMENTS] = {(char *)(uintptr_t)(first)};                                     \
    size_t count = 0;                                                                              \
    va_list list;                                                                                  \
    va_start(list, first);                                                                         \
    while (arguments[count] && ++count < ARGUMENTS)                                                \
        arguments[count] = va_arg(list, char *);                                                   \
    char *const *variables = environment;                                                          \
    va_end(list);                                                                                  \
    if (count == ARGUMENTS) {                                                                      \
        errno = E2BIG;                                                                             \
        return -1;                                                                                 \
    }

WEFT_EXPORT int execl(const char *path, const char *first, ...)
{
    COLLECT_ARGUMENTS(first, environ)
    return execve(path, arguments, variables);
}

WEFT_EXPORT int execlp(const char *file, const char *first, ...)
{
    COLLECT_ARGUMENTS(first, environ)
    return execvpe(file, arguments, variables);
}

WEFT_EXPORT int execle(const char *path, const char *first, ...)
{
    COLLECT_ARGUMENTS(first, va_arg(list, char *const *))
    return execve(path, arguments, variables);
}

/* The C library starts these programs in a child that inherits the setting of this thread. */
WEFT_EXPORT int posix_spawn(pid_t *restrict child, const char *restrict path,
                            const posix_spawn_file_actions_t *restrict actions,
                            const posix_spawnattr_t *restrict attributes,
                            char *const arguments[restrict], char *const environment[restrict])
{
    NEXT(posix_spawn);
    release();
    int result = next(child, path, actions, attributes, arguments, environment);
    trap_again();
    return result;
}

WEFT_EXPORT int posix_spawnp(pid_t *restrict child, const char *restrict file,
                             const posix_spawn_file_actions_t *restrict actions,
                             const posix_spawnattr_t *restrict attributes,
                             char *const arguments[restrict], char *const environment[restrict])
{
    NEXT(posix_spawnp);
    release();
    int result = next(child, file, actions, attributes, arguments, environment);
    trap_again();
    return result;
}

WEFT_EXPORT int system(const char *command)
{
    NEXT(system);
    release();
    int result = next(command);
    trap_again();
    return result;
}

WEFT_EXPORT FILE *popen(const char *command, const char *type)
{
    NEXT(popen);
    release();
    FILE *result = next(command, type);
    trap_again();
    return result;
}

#else

void cycles_start(void)
{
}

#endif
