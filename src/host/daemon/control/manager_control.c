/* The control socket of a manager, and its recent events. */
#include "host/daemon/control/manager_control.h"

#include "base/time.h"
#include "host/control/control_socket.h"
#include "host/daemon/control/event_stream.h"

#include <string.h>
#include <time.h>

enum { EVENTS_KEPT = 256 };

struct past_event {
    time_t when;
    char kind[12];
    char *text;
};

struct manager_control {
    struct control_socket *socket;
    struct past_event events[EVENTS_KEPT]; /* a ring */
    uint64_t event_count;
    struct event_stream followers;
};

int manager_control_open(struct manager_control **result, const char *path, struct err *err)
{
    struct control_socket *socket;
    int status = control_socket_open(&socket, path, err);
    if (status < 0)
        return status;
    *result = mem_zalloc(1, sizeof **result);
    (*result)->socket = socket;
    return 0;
}

void manager_control_close(struct manager_control *control)
{
    if (!control)
        return;
    control_socket_close(control->socket);
    event_stream_close(&control->followers);
    for (size_t i = 0; i < EVENTS_KEPT; i++)
        mem_free(control->events[i].text);
    mem_free(control);
}

int manager_control_fd(const struct manager_control *control)
{
    return control_socket_fd(control->socket);
}

void manager_control_note(void *context, const struct event_record *record)
{
    struct manager_control *control = context;
    if (strcmp(record->event, "debug") != 0) { /* they would replace all others */
        struct past_event *past = &control->events[control->event_count++ % EVENTS_KEPT];
        past->when = time(NULL);
        snprintf(past->kind, sizeof past->kind, "%s", record->event);
        mem_free(past->text);
        past->text = mem_strdup(record->text);
    }
    event_stream_send(&control->followers, record);
}

/* ---- answers ---- */

static int answer_events(struct control_call *call)
{
    const struct manager_access *access = call->subject;
    const struct manager_control *control = access->control;
    uint64_t first = control->event_count > EVENTS_KEPT ? control->event_count - EVENTS_KEPT : 0;
    struct record record = control_record(call);
    record_begin_list(&record, NULL);
    for (uint64_t i = first; i < control->event_count; i++) {
        const struct past_event *past = &control->events[i % EVENTS_KEPT];
        char when[32];
        manager_view_clock(past->when, "%Y-%m-%d %H:%M:%S", when);
        record_begin(&record, NULL);
        record_string(&record, "time", "%s", when);
        record_string(&record, "event", " %-8s", past->kind);
        record_string(&record, "text", " %s\n", past->text);
        record_end(&record);
    }
    record_end_list(&record);
    return 0;
}

static int follow_events(struct control_call *call)
{
    const struct manager_access *access = call->subject;
    event_stream_add(&access->control->followers, call->client, call->answer->json);
    call->client = -1;
    return 0;
}

const struct control_command manager_event_commands[] = {
    {"events", "[--follow]", 0, 0, CONTROL_PROCESS,
     "recent events; with --follow each new event until interrupted, with --json one object a line",
     answer_events},
    {"events follow", "", 0, 0, CONTROL_PROCESS, NULL, follow_events}, /* what the client sends */
    {0}};

/* ---- requests ---- */

uint64_t manager_control_deadline(const struct manager_control *control)
{
    return control ? control_socket_deadline(control->socket) : TIME_NEVER;
}

bool manager_control_serve(struct manager_control *control, uint64_t now,
                           struct manager_access *access)
{
    struct control_request request;
    while (control_socket_next(control->socket, now, &request)) {
        struct control_reply *reply = mem_zalloc(1, sizeof *reply);
        reply->answer.json = request.json;
        reply->result = manager_command_run(access, now, request.words, request.count,
                                            &reply->answer, &request.fd);
        reply->fd = request.fd;
        if (reply->fd < 0)
            mem_free(reply);
        else
            control_reply_start(reply);
    }
    return access->dump;
}
