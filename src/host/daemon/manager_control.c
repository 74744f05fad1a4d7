#include "host/daemon/manager_control.h"

#include "base/parse.h"
#include "base/record.h"

#include "base/time.h"
#include "host/daemon/control_reply.h"
#include "host/daemon/event_stream.h"
#include "host/daemon/machine_control.h"
#include "host/files/dumps.h"
#include "host/socket/listener.h"
#include "host/socket/protocol.h"
#include "perf/commands.h"
#include "subnet/names.h"

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
    WORDS_MOST = 8,
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

struct call {
    struct manager_control *control;
    const struct manager_access *access;
    struct sm *sm;
    uint64_t now;
    bool json;
    const char *words[WORDS_MOST];
    unsigned count;
    bool dump;                         /* the daemon shall write its dump */
    struct dump_snapshot *snapshot;    /* tables to print instead of text, or NULL */
    struct counter_snapshot *counters; /* or counters */
};

static const char *const state_names[] = {"not active", "discovering", "standby", "master"};

static const char *clock_text(time_t when, const char *format, char text[32])
{
    struct tm local;
    strftime(text, 32, format, localtime_r(&when, &local));
    return text;
}

/* "12:50:49", or with the date if it is older than a day */
static const char *since_text(const struct call *call, time_t since, char text[32])
{
    enum { DAY_S = 24 * 60 * 60 };
    return clock_text(since,
                      call->json                   ? "%Y-%m-%dT%H:%M:%S%z"
                      : time(NULL) - since < DAY_S ? "%H:%M:%S"
                                                   : "%Y-%m-%d %H:%M:%S",
                      text);
}

static void put_problems(struct record *record, const struct call *call,
                         const struct problems *problems, const char *key)
{
    char when[32];
    record_begin_list(record, key);
    for (size_t i = 0; i < problems->items.count; i++) {
        const struct problem *problem = &problems->items.items[i];
        record_begin(record, NULL);
        record_string(record, "problem", "%s", problem_kind_name(problem->kind));
        record_string(record, "place", *problem->place ? ": %s" : "", problem->place);
        record_string(record, "text", ": %s", problem->text);
        record_string(record, "since", " (since %s)\n", since_text(call, problem->since, when));
        record_end(record);
    }
    record_end_list(record);
}

static void answer_status(struct call *call, struct text *out)
{
    const struct subnet *subnet = sm_subnet(call->sm);
    struct sm_counts counts;
    struct problems problems = {0};
    unsigned switches = 0, adapters = 0, links = 0;
    sm_counts(call->sm, &counts);
    for (size_t i = 0; i < subnet->nodes.count; i++)
        if (subnet->nodes.items[i].present)
            (*(subnet->nodes.items[i].kind == SUBNET_SWITCH ? &switches : &adapters))++;
    for (size_t i = 0; i < subnet->ports.count; i++)
        links += subnet->ports.items[i].peer != SUBNET_NONE;
    struct record record = record_to(out, call->json, false);
    record_begin(&record, NULL);
    record_string(&record, "state", "state     %s", state_names[sm_state(call->sm)]);
    record_flag(&record, "settled", ", idle", sm_is_settled(call->sm));
    if (sm_state(call->sm) == SM_MASTER && !sm_is_settled(call->sm))
        record_text(&record, ", a change is under way");
    record_flag(&record, "copy", ", its copy is up to date", sm_has_copy(call->sm));
    record_string(&record, "port", "\nport      %s", call->access->place);
    record_flag(&record, "link_down", ", its link is down", sm_own_link_is_down(call->sm));
    record_string(&record, "engine", "\nengine    %s", call->access->engine);
    record_number(&record, "switches", "\nsubnet    %llu switches", switches);
    record_number(&record, "adapters", ", %llu adapters", adapters);
    record_number(&record, "links", ", %llu links\n", links / 2);
    record_number(&record, "smps_sent", "SMPs      %llu sent", counts.sent);
    record_number(&record, "smps_answered", ", %llu answered", counts.answered);
    record_number(&record, "time_outs", ", %llu time-outs", counts.timeouts);
    record_number(&record, "given_up", ", %llu given up\n", counts.gave_up);
    call->access->list_problems(call->access->daemon, call->now, &problems);
    if (call->json)
        put_problems(&record, call, &problems, "problems");
    else if (!problems.items.count)
        text_puts(out, "problems  none\n");
    else
        text_printf(out, "problems  %zu: see 'weft ctl problems'\n", problems.items.count);
    record_end(&record);
    problems_release(&problems);
}

static void answer_problems(struct call *call, struct text *out)
{
    struct record record = record_to(out, call->json, false);
    struct problems problems = {0};
    call->access->list_problems(call->access->daemon, call->now, &problems);
    put_problems(&record, call, &problems, NULL);
    if (!problems.items.count)
        record_text(&record, "problems: none\n");
    problems_release(&problems);
}

static void put_end_port(struct record *record, const struct subnet *subnet,
                         const struct subnet_node *node, const struct subnet_port *port)
{
    if (!port->known)
        return;
    record_begin(record, NULL);
    record_string(record, "kind", "%-7s", node->kind == SUBNET_SWITCH ? "switch" : "adapter");
    record_guid(record, "guid", " 0x%016llx", port->guid);
    record_number(record, "port", " port %-3llu", port->number);
    record_number(record, "lid", " LID %5llu", port->lid);
    record_number(record, "hops", "  %2llu hops", port->hops);
    record_string(record, "description", "  %s\n", subnet_node_label(subnet, node));
    record_end(record);
}

static void answer_topology(struct call *call, struct text *out)
{
    const struct subnet *subnet = sm_subnet(call->sm);
    struct record record = record_to(out, call->json, false);
    record_begin_list(&record, NULL);
    for (size_t i = 0; i < subnet->nodes.count; i++) {
        const struct subnet_node *node = &subnet->nodes.items[i];
        bool is_switch = node->kind == SUBNET_SWITCH;
        for (unsigned n = is_switch ? 0 : 1;
             node->present && n <= (is_switch ? 0 : node->port_count); n++)
            put_end_port(&record, subnet, node, &subnet->ports.items[node->first_port + n]);
    }
    record_end_list(&record);
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
        clock_text(past->when, "%Y-%m-%d %H:%M:%S", when);
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
        return perf_command_counters(&perf, &call->counters, out);
    if (top)
        return perf_command_top(&perf, out);
    if (call->count != 1)
        return refuse_command(
            out, "the manager's commands are single words: status, problems, topology, "
                 "routes, events, page, reroute, sweep, handover, dump; and counters ..., top "
                 "..., port ..., vm ...");
    if (strcmp(command, "status") == 0) {
        answer_status(call, out);
    } else if (strcmp(command, "problems") == 0) {
        answer_problems(call, out);
    } else if (strcmp(command, "topology") == 0) {
        answer_topology(call, out);
    } else if (strcmp(command, "routes") == 0) {
        call->snapshot = dump_snapshot_take(sm_subnet(call->sm));
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
        return refuse_command(out,
                              "no such command: status, problems, topology, routes, events, page, "
                              "reroute, sweep, handover, dump, counters, top, port, vm");
    }
    return 0;
}

/* ---- connections ---- */

/* Returns false if this is no valid request to a manager. */
static bool parse_request(const struct request *request, size_t length, struct call *call)
{
    if (length != sizeof *request || request->magic != PROTOCOL_MAGIC ||
        request->version != PROTOCOL_VERSION || request->kind != REQUEST_CTL ||
        request->text[CTL_BYTES - 1] != '\0')
        return false;
    call->json = request->json != 0;
    for (const char *word = request->text; *word; word += strlen(word) + 1) {
        if (call->count == WORDS_MOST)
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

static void receive_command(struct call *call, int fd)
{
    struct manager_control *control = call->control;
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
    if (call->count == 2 && strcmp(call->words[0], "events") == 0 &&
        strcmp(call->words[1], "follow") == 0) {
        event_stream_add(&control->followers, fd, call->json);
        return;
    }
    struct control_reply *task = mem_zalloc(1, sizeof *task);
    call->snapshot = NULL;
    call->counters = NULL;
    task->fd = fd;
    task->json = call->json;
    task->result = run_command(call, &task->text);
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
    struct call call = {.control = control, .access = access, .sm = access->sm, .now = now};
    struct epoll_event events[CLIENTS_MOST + 1];
    int count = epoll_wait(control->epoll, events, CLIENTS_MOST + 1, 0);
    for (int i = 0; i < count; i++) {
        if (events[i].data.fd == control->listener)
            accept_client(control, now);
        else
            receive_command(&call, events[i].data.fd);
    }
    while (manager_control_deadline(control) <= now)
        close_oldest_client(control);
    return call.dump;
}
