#include "host/daemon/manager_control.h"

#include "base/record.h"

#include "base/time.h"
#include "host/daemon/control_reply.h"
#include "host/daemon/event_stream.h"
#include "host/socket/listener.h"
#include "host/socket/protocol.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    EVENTS_KEPT = 256,
    CLIENTS_MOST = 32, /* connected, without a request yet */
};
static const uint64_t request_timeout = 5 * NS_PER_S;

struct past_event {
    time_t when;
    char kind[12];
    char text[sizeof((struct sm_event){0}.text)];
};

struct client {
    int fd;
    uint64_t until; /* the time to send the request */
};

struct manager_control {
    int listener, epoll;
    struct client clients[CLIENTS_MOST]; /* without a request yet; the oldest first */
    size_t client_count;
    char *path;
    struct past_event events[EVENTS_KEPT]; /* a ring */
    uint64_t event_count;
    struct event_stream followers;
};

int manager_control_open(struct manager_control **result, const char *path, struct err *err)
{
    int listener = listener_open(path, SOCK_SEQPACKET, true, err);
    if (listener < 0)
        return listener;
    struct manager_control *control = mem_zalloc(1, sizeof *control);
    control->listener = listener;
    control->path = mem_strdup(path);
    control->epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = control->listener};
    epoll_ctl(control->epoll, EPOLL_CTL_ADD, control->listener, &event);
    *result = control;
    return 0;
}

void manager_control_close(struct manager_control *control)
{
    if (!control)
        return;
    unlink(control->path);
    event_stream_close(&control->followers);
    while (control->client_count)
        close(control->clients[--control->client_count].fd);
    close(control->listener);
    close(control->epoll);
    mem_free(control->path);
    mem_free(control);
}

int manager_control_fd(const struct manager_control *control)
{
    return control->epoll;
}

void manager_control_note(void *context, const struct event_record *record)
{
    struct manager_control *control = context;
    struct past_event *past = &control->events[control->event_count++ % EVENTS_KEPT];
    past->when = time(NULL);
    snprintf(past->kind, sizeof past->kind, "%s", record->event);
    snprintf(past->text, sizeof past->text, "%s", record->text);
    event_stream_send(&control->followers, record);
}

/* ---- answers ---- */

static void answer_events(const struct manager_control *control, bool json, struct text *out)
{
    uint64_t first = control->event_count > EVENTS_KEPT ? control->event_count - EVENTS_KEPT : 0;
    struct record record = record_to(out, json, false);
    record_begin_list(&record, NULL);
    for (uint64_t i = first; i < control->event_count; i++) {
        const struct past_event *past = &control->events[i % EVENTS_KEPT];
        char when[32];
        manager_clock_text(past->when, "%Y-%m-%d %H:%M:%S", when);
        record_begin(&record, NULL);
        record_string(&record, "time", "%s", when);
        record_string(&record, "event", " %-8s", past->kind);
        record_string(&record, "text", " %s\n", past->text);
        record_end(&record);
    }
    record_end_list(&record);
}

/* ---- connections ---- */

/* Returns false if this is no valid request to a manager. */
static bool parse_request(const struct request *request, size_t length,
                          struct manager_command *call)
{
    if (length != sizeof *request || request->magic != PROTOCOL_MAGIC ||
        request->version != PROTOCOL_VERSION || request->kind != REQUEST_CTL ||
        request->text[CTL_BYTES - 1] != '\0')
        return false;
    call->json = request->json != 0;
    for (const char *word = request->text; *word; word += strlen(word) + 1) {
        if (call->count == COMMAND_WORDS_MOST)
            return false;
        call->words[call->count++] = word;
    }
    return true;
}

/* Stops waiting for the client's request. The connection stays open. */
static void forget_client(struct manager_control *control, size_t at)
{
    assert(at < control->client_count);
    epoll_ctl(control->epoll, EPOLL_CTL_DEL, control->clients[at].fd, NULL);
    mem_shift(control->clients, &control->client_count, at, sizeof *control->clients, false);
}

static void close_oldest_client(struct manager_control *control)
{
    int fd = control->clients[0].fd;
    forget_client(control, 0);
    close(fd);
}

static void receive_command(struct manager_control *control, struct manager_command *call, int fd)
{
    struct request request;
    size_t at = 0;
    while (at < control->client_count && control->clients[at].fd != fd)
        at++;
    if (at == control->client_count)
        return; /* closed meanwhile to make room */
    ssize_t got = recv(fd, &request, sizeof request, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return;
    forget_client(control, at);
    call->count = 0;
    if (got <= 0 || !parse_request(&request, (size_t)got, call)) {
        close(fd);
        return;
    }
    bool events = call->count && strcmp(call->words[0], "events") == 0;
    if (events && call->count == 2 && strcmp(call->words[1], "follow") == 0) {
        event_stream_add(&control->followers, fd, call->json);
        return;
    }
    struct control_reply *task = mem_zalloc(1, sizeof *task);
    call->snapshot = NULL;
    call->counters = NULL;
    task->fd = fd;
    task->json = call->json;
    if (events && call->count == 1)
        answer_events(control, call->json, &task->text);
    else
        task->result = manager_command_run(call, &task->text);
    task->snapshot = call->snapshot;
    task->counters = call->counters;
    control_reply_start(task);
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
static void accept_client(struct manager_control *control, uint64_t now)
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
    control->clients[control->client_count++] = (struct client){fd, now + request_timeout};
}

uint64_t manager_control_deadline(const struct manager_control *control)
{
    return control && control->client_count ? control->clients[0].until : TIME_NEVER;
}

bool manager_control_serve(struct manager_control *control, uint64_t now,
                           const struct manager_access *access)
{
    struct manager_command call = {.access = access, .sm = access->sm, .now = now};
    struct epoll_event events[CLIENTS_MOST + 1];
    int count = epoll_wait(control->epoll, events, CLIENTS_MOST + 1, 0);
    for (int i = 0; i < count; i++) {
        if (events[i].data.fd == control->listener)
            accept_client(control, now);
        else
            receive_command(control, &call, events[i].data.fd);
    }
    while (manager_control_deadline(control) <= now)
        close_oldest_client(control);
    return call.dump;
}
