/* Accepts clients and receives one request of each, by epoll and without waiting. */
#include "host/control/control_socket.h"

#include "base/mem.h"
#include "base/time.h"
#include "host/socket/listener.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS_MOST = 32 }; /* connected, without a request yet */
static const uint64_t request_timeout = 5 * NS_PER_S;

struct waiting_client {
    int fd;
    uint64_t until; /* the time to send the request */
};

struct control_socket {
    int listener, epoll;
    char *path;
    struct waiting_client clients[CLIENTS_MOST]; /* without a request yet; the oldest first */
    size_t client_count;
    struct epoll_event events[CLIENTS_MOST + 1]; /* of the last wait */
    int event_at, event_count;
};

int control_socket_open(struct control_socket **result, const char *path, struct err *err)
{
    int listener = listener_open(path, SOCK_SEQPACKET, true, err);
    if (listener < 0)
        return listener;
    struct control_socket *control = mem_zalloc(1, sizeof *control);
    control->listener = listener;
    control->path = mem_strdup(path);
    control->epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = control->listener};
    epoll_ctl(control->epoll, EPOLL_CTL_ADD, control->listener, &event);
    *result = control;
    return 0;
}

void control_socket_close(struct control_socket *control)
{
    if (!control)
        return;
    unlink(control->path);
    while (control->client_count)
        close(control->clients[--control->client_count].fd);
    close(control->listener);
    close(control->epoll);
    mem_free(control->path);
    mem_free(control);
}

int control_socket_fd(const struct control_socket *control)
{
    return control->epoll;
}

uint64_t control_socket_deadline(const struct control_socket *control)
{
    return control && control->client_count ? control->clients[0].until : TIME_NEVER;
}

/* ---- clients ---- */

/* Stops waiting for the client's request. The connection stays open. */
static void forget_client(struct control_socket *control, size_t at)
{
    assert(at < control->client_count);
    epoll_ctl(control->epoll, EPOLL_CTL_DEL, control->clients[at].fd, NULL);
    mem_shift(control->clients, &control->client_count, at, sizeof *control->clients, false);
}

static void close_oldest_client(struct control_socket *control)
{
    int fd = control->clients[0].fd;
    forget_client(control, 0);
    close(fd);
}

/* Checked in addition to the mode of the socket, which somebody may have changed. */
static bool is_owner_or_root(int fd)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid());
}

/* A new client replaces the one that has been idle for the longest time. */
static void accept_client(struct control_socket *control, uint64_t now)
{
    int fd = accept4(control->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (!is_owner_or_root(fd) || epoll_ctl(control->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
        close(fd);
        return;
    }
    if (control->client_count == CLIENTS_MOST)
        close_oldest_client(control);
    control->clients[control->client_count++] = (struct waiting_client){fd, now + request_timeout};
}

/* ---- requests ---- */

/* Returns false if this is not a valid request. */
static bool parse_request(const struct request *from, size_t length, struct control_request *to)
{
    if (length != sizeof *from || from->magic != PROTOCOL_MAGIC ||
        from->version != PROTOCOL_VERSION || from->kind != REQUEST_CTL ||
        from->text[CTL_BYTES - 1] != '\0')
        return false;
    *to = (struct control_request){.json = from->json != 0};
    memcpy(to->text, from->text, sizeof to->text);
    for (const char *word = to->text; *word && to->count < CONTROL_WORDS; word += strlen(word) + 1)
        to->words[to->count++] = word;
    return true;
}

static bool receive_request(struct control_socket *control, int fd, struct control_request *request)
{
    struct request packet;
    size_t at = 0;
    while (at < control->client_count && control->clients[at].fd != fd)
        at++;
    if (at == control->client_count)
        return false; /* closed meanwhile to make room */
    ssize_t got = recv(fd, &packet, sizeof packet, MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0 && errno == EAGAIN)
        return false;
    forget_client(control, at);
    if (got <= 0 || !parse_request(&packet, (size_t)got, request)) {
        close(fd);
        return false;
    }
    request->fd = fd;
    return true;
}

bool control_socket_next(struct control_socket *control, uint64_t now,
                         struct control_request *request)
{
    if (control->event_at == 0) {
        int count = epoll_wait(control->epoll, control->events, CLIENTS_MOST + 1, 0);
        control->event_count = count < 0 ? 0 : count;
    }
    while (control->event_at < control->event_count) {
        int fd = control->events[control->event_at++].data.fd;
        if (fd == control->listener)
            accept_client(control, now);
        else if (receive_request(control, fd, request))
            return true;
    }
    control->event_at = 0;
    while (control_socket_deadline(control) <= now)
        close_oldest_client(control);
    return false;
}
