#include "host/daemon/manager_control.h"

#include "base/parse.h"
#include "base/record.h"

#include "base/time.h"
#include "host/control/control_socket.h"
#include "host/daemon/event_stream.h"
#include "host/manager_view/machine_control.h"
#include "host/manager_view/manager_view.h"
#include "perf/commands.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum { EVENTS_KEPT = 256 };

struct past_event {
    time_t when;
    char kind[12];
    char text[sizeof((struct sm_event){0}.text)];
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
    snprintf(past->text, sizeof past->text, "%s", record->text);
    event_stream_send(&control->followers, record);
}

/* ---- answers ---- */

struct call {
    struct manager_control *control;
    const struct manager_access *access;
    struct sm *sm;
    uint64_t now;
    bool json;
    const char *const *words;
    unsigned count;
    bool dump; /* the daemon shall write its dump */
    struct control_reply *reply;
};

/* What needs the list of problems, or the rules of the daemon. */
static void answer_view(const struct call *call, struct text *out,
                        void (*print)(const struct manager_view *view, bool json, struct text *out))
{
    const struct manager_access *access = call->access;
    struct problems problems = {0};
    const struct manager_view view = {.sm = call->sm,
                                      .engine = access->engine,
                                      .place = access->place,
                                      .problems = &problems,
                                      .partitions = access->partitions,
                                      .groups = access->groups};
    access->list_problems(access->daemon, call->now, &problems);
    print(&view, call->json, out);
    problems_release(&problems);
}

static void answer_events(struct call *call, struct text *out)
{
    const struct manager_control *control = call->control;
    uint64_t first = control->event_count > EVENTS_KEPT ? control->event_count - EVENTS_KEPT : 0;
    struct record record = record_to(out, call->json, false);
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

static int refuse_command(struct text *out, const char *why)
{
    text_puts(out, why);
    return -EINVAL;
}

/* The client asks again ("handover status") until the handover is done. */
static int answer_handover(const struct call *call, struct text *out)
{
    char text[512];
    enum sm_handover state = sm_handover_state(call->sm, text, sizeof text);
    struct record record = record_to(out, call->json, false);
    record_begin(&record, NULL);
    record_string(&record, "handover", NULL,
                  state == SM_HANDOVER_DONE      ? "done"
                  : state == SM_HANDOVER_PENDING ? "pending"
                                                 : "none");
    record_string(&record, "text", "%s\n", text);
    record_end(&record);
    return state == SM_HANDOVER_PENDING ? CTL_PENDING : 0;
}

/* port disable|enable NODE PORT */
static int answer_port(const struct call *call, struct text *out)
{
    struct err err = {0};
    uint64_t number = 0;
    bool enable = call->count == 4 && strcmp(call->words[1], "enable") == 0;
    if (call->count != 4 || (!enable && strcmp(call->words[1], "disable") != 0) ||
        !parse_bounded(call->words[3], 1, 254, &number))
        return refuse_command(out, "expected: port disable|enable NODE PORT");
    if (sm_state(call->sm) != SM_MASTER)
        return refuse_command(out, "only the master can do that; this manager is not master");
    int status = sm_set_port(call->sm, call->now, call->words[2], (unsigned)number, enable, &err);
    return status < 0 ? refuse_command(out, err.message) : 0;
}

static int answer_page(const struct call *call, struct text *out)
{
    struct record record = record_to(out, call->json, false);
    struct err err = {0};
    char url[512];
    if (call->access->page_url(call->access->daemon, url, sizeof url, &err) < 0)
        return refuse_command(out, err.message);
    record_begin(&record, NULL);
    record_string(&record, "url", "%s\n", url);
    record_end(&record);
    return 0;
}

static struct perf_command perf_command_of(const struct call *call)
{
    return (struct perf_command){.perf = call->access->perf,
                                 .subnet = sm_subnet(call->sm),
                                 .now = call->now,
                                 .json = call->json,
                                 .words = call->words,
                                 .count = call->count};
}

static void print_counters(const void *snapshot, bool json, struct text *out)
{
    counter_snapshot_print(snapshot, json, out);
}

static void release_counters(void *snapshot)
{
    counter_snapshot_free(snapshot);
}

static int answer_counters(const struct call *call, const struct perf_command *perf,
                           struct text *out)
{
    struct counter_snapshot *snapshot = NULL;
    int status = perf_command_counters(perf, &snapshot, out);
    call->reply->data = snapshot;
    call->reply->print = print_counters;
    call->reply->release = release_counters;
    return status;
}

static int run_command(struct call *call, struct text *out)
{
    const char *command = call->count ? call->words[0] : "";
    if (call->count == 1 && strcmp(command, "page") == 0)
        return answer_page(call, out);
    if (!call->sm)
        return refuse_command(out, "the manager has no port yet: it waits for the first link");
    if (strcmp(command, "vm") == 0)
        return machine_control_answer(call->access->machines, call->sm, call->now, call->words + 1,
                                      call->count - 1, call->json, out);
    if (strcmp(command, "port") == 0)
        return answer_port(call, out);
    if (call->count == 2 && strcmp(command, "handover") == 0 &&
        strcmp(call->words[1], "status") == 0)
        return answer_handover(call, out);
    bool master = sm_state(call->sm) == SM_MASTER;
    bool counters = strcmp(command, "counters") == 0, top = strcmp(command, "top") == 0;
    struct perf_command perf = perf_command_of(call);
    if ((counters || top) && !master)
        return refuse_command(out, "only the master reads counters; this manager is not master");
    if (counters)
        return answer_counters(call, &perf, out);
    if (top)
        return perf_command_top(&perf, out);
    if (call->count != 1)
        return refuse_command(
            out, "the manager's commands are single words: status, problems, topology, "
                 "routes, partitions, groups, events, page, reroute, sweep, handover, dump; and "
                 "counters ..., top ..., port ..., vm ...");
    if (strcmp(command, "status") == 0) {
        answer_view(call, out, manager_view_status);
    } else if (strcmp(command, "problems") == 0) {
        answer_view(call, out, manager_view_problems);
    } else if (strcmp(command, "partitions") == 0) {
        answer_view(call, out, manager_view_partitions);
    } else if (strcmp(command, "groups") == 0) {
        answer_view(call, out, manager_view_groups);
    } else if (strcmp(command, "topology") == 0) {
        manager_view_end_ports(call->sm, call->json, out);
    } else if (strcmp(command, "routes") == 0) {
        manager_view_tables(call->sm, call->reply);
    } else if (strcmp(command, "events") == 0) {
        answer_events(call, out);
    } else if (strcmp(command, "dump") == 0) {
        if (!call->access->can_dump)
            return refuse_command(
                out, "this manager has no directory for dumps: start it with --dump DIR, "
                     "or put 'dump DIR' into its configuration and send it SIGHUP");
        call->dump = true;
    } else if (!master) {
        return refuse_command(out, "only the master can do that; this manager is not master");
    } else if (strcmp(command, "reroute") == 0) {
        sm_reroute(call->sm, call->now);
    } else if (strcmp(command, "sweep") == 0) {
        sm_rediscover(call->sm, call->now);
    } else if (strcmp(command, "handover") == 0) {
        if (!sm_hand_over(call->sm, call->now))
            return refuse_command(out, "there is no standby to hand over to");
        return answer_handover(call, out);
    } else {
        return refuse_command(
            out, "no such command: status, problems, topology, routes, partitions, groups, "
                 "events, page, reroute, sweep, handover, dump, counters, top, port, vm");
    }
    return 0;
}

/* ---- requests ---- */

static void answer_request(struct call *call, const struct control_request *request)
{
    struct manager_control *control = call->control;
    call->json = request->json;
    call->words = request->words;
    call->count = request->count;
    if (call->count == 2 && strcmp(call->words[0], "events") == 0 &&
        strcmp(call->words[1], "follow") == 0) {
        event_stream_add(&control->followers, request->fd, call->json);
        return;
    }
    struct control_reply *reply = mem_zalloc(1, sizeof *reply);
    reply->fd = request->fd;
    reply->json = call->json;
    call->reply = reply;
    reply->result = run_command(call, &reply->text);
    control_reply_start(reply);
}

uint64_t manager_control_deadline(const struct manager_control *control)
{
    return control ? control_socket_deadline(control->socket) : TIME_NEVER;
}

bool manager_control_serve(struct manager_control *control, uint64_t now,
                           const struct manager_access *access)
{
    struct call call = {.control = control, .access = access, .sm = access->sm, .now = now};
    struct control_request request;
    while (control_socket_next(control->socket, now, &request))
        answer_request(&call, &request);
    return call.dump;
}
