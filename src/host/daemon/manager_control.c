#include "host/daemon/manager_control.h"

#include "base/record.h"

#include "base/time.h"
#include "host/control/control_socket.h"
#include "host/daemon/event_stream.h"
#include "host/manager_view/manager_view.h"

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
    struct past_event *past = &control->events[control->event_count++ % EVENTS_KEPT];
    past->when = time(NULL);
    snprintf(past->kind, sizeof past->kind, "%s", record->event);
    mem_free(past->text);
    past->text = mem_strdup(record->text);
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
        manager_view_clock(past->when, "%Y-%m-%d %H:%M:%S", when);
        record_begin(&record, NULL);
        record_string(&record, "time", "%s", when);
        record_string(&record, "event", " %-8s", past->kind);
        record_string(&record, "text", " %s\n", past->text);
        record_end(&record);
    }
    record_end_list(&record);
}

/* ---- requests ---- */

static void answer_request(struct manager_control *control, struct manager_command *call,
                           const struct control_request *request)
{
    bool events = request->count && strcmp(request->words[0], "events") == 0;
    if (events && request->count == 2 && strcmp(request->words[1], "follow") == 0) {
        event_stream_add(&control->followers, request->fd, request->json);
        return;
    }
    struct control_reply *reply = mem_zalloc(1, sizeof *reply);
    reply->fd = request->fd;
    reply->json = request->json;
    call->json = request->json;
    call->words = request->words;
    call->count = request->count;
    call->reply = reply;
    if (events && request->count == 1)
        answer_events(control, request->json, &reply->text);
    else
        reply->result = manager_command_run(call, &reply->text);
    control_reply_start(reply);
}

uint64_t manager_control_deadline(const struct manager_control *control)
{
    return control ? control_socket_deadline(control->socket) : TIME_NEVER;
}

bool manager_control_serve(struct manager_control *control, uint64_t now,
                           const struct manager_access *access)
{
    struct manager_command call = {.access = access, .sm = access->sm, .now = now};
    struct control_request request;
    while (control_socket_next(control->socket, now, &request))
        answer_request(control, &call, &request);
    return call.dump;
}
