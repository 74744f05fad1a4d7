/* poll(2), select(2) and epoll_wait(2) with time-outs of simulated time.
 *
 * Without a time-out they wait in the kernel, where the server sees them asleep. With one they also
 * wait for a socket of the thread, to which the server sends a datagram at the deadline. */
#include "preload/time/gate.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    ON_STACK = 64,  /* descriptors */
    LOOK_MS = 1000, /* wall-clock time after which a waiting thread looks for its deadline itself */
};

/* The result of a call that does not wait. */
static int in_vain(int result)
{
    if (result == 0)
        gate_look_in_vain();
    return result;
}

/* ---- poll ---- */

/* A time-out that the kernel would refuse. */
static int refuse(void)
{
    errno = EINVAL;
    return -1;
}

static int poll_now(struct pollfd *set, nfds_t count, const sigset_t *mask)
{
    static const struct timespec none;
    NEXT(ppoll);
    return next(set, count, &none, mask);
}

/* `set` has room for one more. */
static int wait_for_one(struct pollfd *set, nfds_t count, uint64_t deadline, const sigset_t *mask)
{
    NEXT(ppoll);
    static const struct timespec look = {.tv_sec = LOOK_MS / 1000};
    int socket = gate_begin_block(deadline, true), result;
    set[count] = (struct pollfd){.fd = socket, .events = POLLIN};
    do
        result = next(set, count + 1, &look, mask);
    while (result == 0 && !gate_expired());
    gate_end_block(socket);
    if (result > 0 && set[count].revents)
        result--;
    return result;
}

/* TIME_FOREVER: no deadline. */
static int poll_until(struct pollfd *set, nfds_t count, uint64_t deadline, const sigset_t *mask)
{
    struct pollfd room[ON_STACK + 1], *copy = room;
    int result = poll_now(set, count, mask);
    if (result != 0)
        return result;
    if (deadline == TIME_FOREVER) {
        NEXT(ppoll);
        result = next(set, count, NULL, mask);
        gate_woken();
        return result;
    }
    if (count > ON_STACK)
        copy = malloc((count + 1) * sizeof *copy);
    if (!copy) {
        errno = ENOMEM;
        return -1;
    }
    if (count)
        memcpy(copy, set, count * sizeof *copy);
    while (result == 0 && gate_local() < deadline)
        result = wait_for_one(copy, count, deadline, mask);
    if (result > 0)
        memcpy(set, copy, count * sizeof *copy);
    else if (result == 0)
        result = poll_now(set, count, mask);
    int error = errno;
    if (copy != room)
        free(copy);
    errno = error;
    return result;
}

static uint64_t after_ms(int ms)
{
    return ms < 0 ? TIME_FOREVER : gate_after((uint64_t)ms * 1000000 * PS_PER_NS);
}

WEFT_EXPORT int poll(struct pollfd *set, nfds_t count, int ms)
{
    NEXT(poll);
    if (!gate_page)
        return next(set, count, ms);
    if (ms == 0)
        return in_vain(next(set, count, 0));
    gate_spend(TIME_CALL);
    return poll_until(set, count, after_ms(ms), NULL);
}

WEFT_EXPORT int ppoll(struct pollfd *set, nfds_t count, const struct timespec *time,
                      const sigset_t *mask)
{
    NEXT(ppoll);
    if (!gate_page)
        return next(set, count, time, mask);
    if (time && !gate_is_valid(time))
        return refuse();
    gate_spend(TIME_CALL);
    return poll_until(set, count, time ? gate_after(gate_from_timespec(time)) : TIME_FOREVER, mask);
}

/* The C library declares it only with _FORTIFY_SOURCE, which a sanitized build does not have.
 * NOLINTNEXTLINE(readability-redundant-declaration) */
int __poll_chk(struct pollfd *set, nfds_t count, int ms, size_t bytes);
WEFT_EXPORT int __poll_chk(struct pollfd *set, nfds_t count, int ms, size_t bytes)
{
    if (bytes / sizeof *set < count)
        abort();
    return poll(set, count, ms);
}

/* ---- select ---- */

static nfds_t to_poll(int count, const fd_set *in, const fd_set *out, const fd_set *urgent,
                      struct pollfd *set)
{
    nfds_t used = 0;
    for (int fd = 0; fd < count; fd++) {
        short events = (short)((in && FD_ISSET(fd, in) ? POLLIN : 0) |
                               (out && FD_ISSET(fd, out) ? POLLOUT : 0) |
                               (urgent && FD_ISSET(fd, urgent) ? POLLPRI : 0));
        if (events)
            set[used++] = (struct pollfd){.fd = fd, .events = events};
    }
    return used;
}

static int from_poll(const struct pollfd *set, nfds_t used, fd_set *in, fd_set *out, fd_set *urgent)
{
    int count = 0;
    for (nfds_t i = 0; i < used; i++) {
        int fd = set[i].fd;
        if (set[i].events & POLLIN && set[i].revents & (POLLIN | POLLHUP | POLLERR))
            count++;
        else if (in)
            FD_CLR(fd, in);
        if (set[i].events & POLLOUT && set[i].revents & (POLLOUT | POLLERR))
            count++;
        else if (out)
            FD_CLR(fd, out);
        if (set[i].events & POLLPRI && set[i].revents & POLLPRI)
            count++;
        else if (urgent)
            FD_CLR(fd, urgent);
    }
    return count;
}

static int select_until(int count, fd_set *in, fd_set *out, fd_set *urgent, uint64_t deadline,
                        const sigset_t *mask)
{
    struct pollfd set[FD_SETSIZE];
    if (count < 0 || count > FD_SETSIZE) {
        errno = EINVAL;
        return -1;
    }
    nfds_t used = to_poll(count, in, out, urgent, set);
    for (;;) {
        int result = poll_until(set, used, deadline, mask);
        for (nfds_t i = 0; i < used && result > 0; i++)
            if (set[i].revents & POLLNVAL) {
                errno = EBADF;
                return -1;
            }
        if (result < 0)
            return result;
        int ready = from_poll(set, used, in, out, urgent);
        if (ready || result == 0)
            return ready;
        used = to_poll(count, in, out, urgent, set); /* a hang-up that nobody asked for */
    }
}

WEFT_EXPORT int select(int count, fd_set *restrict in, fd_set *restrict out,
                       fd_set *restrict urgent, struct timeval *restrict time)
{
    NEXT(select);
    if (!gate_page || !time)
        return next(count, in, out, urgent, time);
    if (time->tv_sec < 0 || time->tv_usec < 0)
        return refuse();
    gate_spend(TIME_CALL);
    uint64_t ps = (uint64_t)time->tv_sec * PS_PER_S + (uint64_t)time->tv_usec * 1000 * PS_PER_NS;
    if (ps == 0)
        return in_vain(next(count, in, out, urgent, time));
    uint64_t deadline = gate_after(ps);
    int result = select_until(count, in, out, urgent, deadline, NULL);
    uint64_t now = gate_local(), left = deadline > now ? deadline - now : 0;
    *time = (struct timeval){(time_t)(left / PS_PER_S), (suseconds_t)(left % PS_PER_S / 1000000)};
    return result;
}

WEFT_EXPORT int pselect(int count, fd_set *restrict in, fd_set *restrict out,
                        fd_set *restrict urgent, const struct timespec *restrict time,
                        const sigset_t *restrict mask)
{
    NEXT(pselect);
    if (!gate_page || !time)
        return next(count, in, out, urgent, time, mask);
    if (!gate_is_valid(time))
        return refuse();
    gate_spend(TIME_CALL);
    return select_until(count, in, out, urgent, gate_after(gate_from_timespec(time)), mask);
}

/* ---- epoll ---- */

static int epoll_until(int set, struct epoll_event *events, int room, uint64_t deadline,
                       const sigset_t *mask)
{
    NEXT(epoll_pwait);
    for (;;) {
        int result = next(set, events, room, 0, mask);
        if (result != 0)
            return result;
        struct pollfd one[2] = {{.fd = set, .events = POLLIN}};
        if (gate_local() >= deadline)
            return 0;
        result = wait_for_one(one, 1, deadline, mask);
        if (result < 0)
            return result;
    }
}

static int epoll_call(int set, struct epoll_event *events, int room, uint64_t timeout,
                      const sigset_t *mask)
{
    NEXT(epoll_pwait);
    if (timeout)
        gate_spend(TIME_CALL);
    if (timeout != 0 && timeout != TIME_FOREVER)
        return epoll_until(set, events, room, gate_after(timeout), mask);
    if (timeout == 0)
        return in_vain(next(set, events, room, 0, mask));
    int result = next(set, events, room, -1, mask);
    gate_woken();
    return result;
}

WEFT_EXPORT int epoll_pwait(int set, struct epoll_event *events, int room, int ms,
                            const sigset_t *mask)
{
    NEXT(epoll_pwait);
    if (!gate_page)
        return next(set, events, room, ms, mask);
    return epoll_call(set, events, room, ms < 0 ? TIME_FOREVER : (uint64_t)ms * 1000000 * PS_PER_NS,
                      mask);
}

WEFT_EXPORT int epoll_wait(int set, struct epoll_event *events, int room, int ms)
{
    return epoll_pwait(set, events, room, ms, NULL);
}

WEFT_EXPORT int epoll_pwait2(int set, struct epoll_event *events, int room,
                             const struct timespec *time, const sigset_t *mask)
{
    NEXT(epoll_pwait2);
    if (!gate_page)
        return next(set, events, room, time, mask);
    if (time && !gate_is_valid(time))
        return refuse();
    return epoll_call(set, events, room, time ? gate_from_timespec(time) : TIME_FOREVER, mask);
}

/* ---- messages ---- */

/* A thread that is ahead of the simulated time sends nothing before it has come. */
#define DEFINE_SEND(type, name, parameters, ...)                                                   \
    WEFT_EXPORT type name parameters                                                               \
    {                                                                                              \
        NEXT(name);                                                                                \
        if (gate_page && gate_is_ahead())                                                          \
            gate_sync();                                                                           \
        return next(__VA_ARGS__);                                                                  \
    }

DEFINE_SEND(ssize_t, write, (int fd, const void *data, size_t bytes), fd, data, bytes)
DEFINE_SEND(ssize_t, writev, (int fd, const struct iovec *list, int count), fd, list, count)
DEFINE_SEND(ssize_t, send, (int fd, const void *data, size_t bytes, int flags), fd, data, bytes,
            flags)
DEFINE_SEND(ssize_t, sendto,
            (int fd, const void *data, size_t bytes, int flags, const struct sockaddr *to,
             socklen_t length),
            fd, data, bytes, flags, to, length)
DEFINE_SEND(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), fd, message, flags)

/* A loop that asks for a message again and again must see time pass. */
#define DEFINE_RECEIVE(name, parameters, ...)                                                      \
    WEFT_EXPORT ssize_t name parameters                                                            \
    {                                                                                              \
        NEXT(name);                                                                                \
        ssize_t result = next(__VA_ARGS__);                                                        \
        if (gate_page && result < 0 && errno == EAGAIN) {                                          \
            gate_look_in_vain();                                                                   \
            errno = EAGAIN;                                                                        \
        }                                                                                          \
        return result;                                                                             \
    }

DEFINE_RECEIVE(read, (int fd, void *data, size_t bytes), fd, data, bytes)
DEFINE_RECEIVE(recv, (int fd, void *data, size_t bytes, int flags), fd, data, bytes, flags)
DEFINE_RECEIVE(recvmsg, (int fd, struct msghdr *message, int flags), fd, message, flags)
DEFINE_RECEIVE(recvfrom,
               (int fd, void *restrict data, size_t bytes, int flags,
                struct sockaddr *restrict from, socklen_t *restrict length),
               fd, data, bytes, flags, from, length)

/* Small messages over TCP must not wait for a timer of the kernel, which is not simulated. Accepted
 * sockets inherit the option. */
WEFT_EXPORT int socket(int domain, int type, int protocol)
{
    NEXT(socket);
    static const int on = 1;
    int fd = next(domain, type, protocol), error = errno;
    if (gate_page && fd >= 0 && (domain == AF_INET || domain == AF_INET6) &&
        (type & 0xF) == SOCK_STREAM)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    errno = error;
    return fd;
}
