#include "host/daemon/manager_control.h"

#include "base/record.h"

#include "base/time.h"
#include "host/daemon/dumps.h"
#include "host/daemon/machine_control.h"
#include "host/socket/listener.h"
#include "host/socket/protocol.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS_KEPT = 256, CLIENTS_MOST = 32, WORDS_MOST = 8, CHUNK = 32 * 1024 };

struct past_event {
    time_t when;
    char kind[12];
    char text[240];
};

struct manager_control {
    int listener, epoll;
    unsigned clients; /* connected, their question not here yet */
    char *path;
    struct past_event events[EVENTS_KEPT]; /* a ring */
    uint64_t event_count;
};

int manager_control_open(struct manager_control **result, const char *path, struct err *err)
{
    int listener = listener_open(path, true, err);
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
    close(control->listener);
    close(control->epoll);
    mem_free(control->path);
    mem_free(control);
}

int manager_control_fd(const struct manager_control *control)
{
    return control->epoll;
}

void manager_control_note(struct manager_control *control, const char *event, const char *text)
{
    struct past_event *past = &control->events[control->event_count++ % EVENTS_KEPT];
    past->when = time(NULL);
    snprintf(past->kind, sizeof past->kind, "%s", event);
    snprintf(past->text, sizeof past->text, "%s", text);
}

/* ---- answers ---- */

struct question {
    struct manager_control *control;
    struct sm *sm;
    struct vswitch *machines;
    uint64_t now;
    const char *engine, *place;
    bool can_dump, json;
    const char *words[WORDS_MOST];
    unsigned count;
    bool dump;                    /* is wanted */
    struct dump_picture *picture; /* tables to be printed in place of words; or NULL */
};

static const char *const state_names[] = {"not active", "discovering", "standby", "master"};

static void answer_status(struct question *question, struct text *out)
{
    const struct subnet *subnet = sm_subnet(question->sm);
    struct sm_counts counts;
    unsigned switches = 0, adapters = 0, links = 0;
    sm_counts(question->sm, &counts);
    for (size_t i = 0; i < subnet->nodes.count; i++)
        if (subnet->nodes.items[i].present)
            (*(subnet->nodes.items[i].kind == SUBNET_SWITCH ? &switches : &adapters))++;
    for (size_t i = 0; i < subnet->ports.count; i++)
        links += subnet->ports.items[i].peer != SUBNET_NONE;
    struct record record = record_to(out, question->json, false);
    record_begin(&record, NULL);
    record_string(&record, "state", "state     %s", state_names[sm_state(question->sm)]);
    record_flag(&record, "settled", ", nothing to do", sm_is_settled(question->sm));
    record_flag(&record, "copy", ", its copy is up to date", sm_has_copy(question->sm));
    record_string(&record, "port", "\nport      %s", question->place);
    record_string(&record, "engine", "\nengine    %s", question->engine);
    record_number(&record, "switches", "\nsubnet    %llu switches", switches);
    record_number(&record, "adapters", ", %llu adapters", adapters);
    record_number(&record, "links", ", %llu links\n", links / 2);
    record_number(&record, "smps_sent", "SMPs      %llu sent", counts.sent);
    record_number(&record, "smps_answered", ", %llu answered", counts.answered);
    record_number(&record, "time_outs", ", %llu time-outs", counts.timeouts);
    record_number(&record, "given_up", ", %llu given up\n", counts.gave_up);
    record_end(&record);
}

static void put_port(struct record *record, const struct subnet_node *node,
                     const struct subnet_port *port)
{
    if (!port->known)
        return;
    record_begin(record, NULL);
    record_string(record, "kind", "%-7s", node->kind == SUBNET_SWITCH ? "switch" : "adapter");
    record_guid(record, "guid", " 0x%016llx", port->guid);
    record_number(record, "port", " port %-3llu", port->number);
    record_number(record, "lid", " LID %5llu", port->lid);
    record_number(record, "hops", "  %2llu hops", port->hops);
    record_string(record, "description", "  %s\n", node->description);
    record_end(record);
}

static void answer_topology(struct question *question, struct text *out)
{
    const struct subnet *subnet = sm_subnet(question->sm);
    struct record record = record_to(out, question->json, false);
    record_begin_list(&record, NULL);
    for (size_t i = 0; i < subnet->nodes.count; i++) {
        const struct subnet_node *node = &subnet->nodes.items[i];
        bool is_switch = node->kind == SUBNET_SWITCH;
        for (unsigned n = is_switch ? 0 : 1;
             node->present && n <= (is_switch ? 0 : node->port_count); n++)
            put_port(&record, node, &subnet->ports.items[node->first_port + n]);
    }
    record_end_list(&record);
}

static void answer_events(struct question *question, struct text *out)
{
    const struct manager_control *control = question->control;
    uint64_t first = control->event_count > EVENTS_KEPT ? control->event_count - EVENTS_KEPT : 0;
    struct record record = record_to(out, question->json, false);
    record_begin_list(&record, NULL);
    for (uint64_t i = first; i < control->event_count; i++) {
        const struct past_event *past = &control->events[i % EVENTS_KEPT];
        char when[32];
        struct tm local;
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&past->when, &local));
        record_begin(&record, NULL);
        record_string(&record, "time", "%s", when);
        record_string(&record, "event", " %-8s", past->kind);
        record_string(&record, "text", " %s\n", past->text);
        record_end(&record);
    }
    record_end_list(&record);
}

static int refuse(struct text *out, const char *why)
{
    text_puts(out, why);
    return -EINVAL;
}

static int answer(struct question *question, struct text *out)
{
    const char *command = question->count ? question->words[0] : "";
    if (strcmp(command, "vm") == 0)
        return machine_control_answer(question->machines, question->sm, question->now,
                                      question->words + 1, question->count - 1, question->json,
                                      out);
    if (question->count != 1)
        return refuse(out, "the manager's commands are single words: status, topology, routes, "
                           "events, reroute, sweep, handover, dump; and vm ...");
    bool master = sm_state(question->sm) == SM_MASTER;
    if (strcmp(command, "status") == 0) {
        answer_status(question, out);
    } else if (strcmp(command, "topology") == 0) {
        answer_topology(question, out);
    } else if (strcmp(command, "routes") == 0) {
        question->picture = dump_picture_take(sm_subnet(question->sm));
    } else if (strcmp(command, "events") == 0) {
        answer_events(question, out);
    } else if (strcmp(command, "dump") == 0) {
        if (!question->can_dump)
            return refuse(out, "this manager has no directory for dumps: start it with --dump DIR, "
                               "or put 'dump DIR' into its configuration and send it SIGHUP");
        question->dump = true;
    } else if (!master) {
        return refuse(out, "only a master can do that, and this manager is none");
    } else if (strcmp(command, "reroute") == 0) {
        sm_reroute(question->sm, question->now);
    } else if (strcmp(command, "sweep") == 0) {
        sm_look_again(question->sm, question->now);
    } else if (strcmp(command, "handover") == 0) {
        if (!sm_hand_over(question->sm, question->now))
            return refuse(out, "there is no other manager to hand over to");
    } else {
        return refuse(out, "no such command: status, topology, routes, events, reroute, sweep, "
                           "handover, dump, vm");
    }
    return 0;
}

/* ---- connections ---- */

/* An answer on its way, which a thread prints and sends: that may take seconds. */
struct reply_task {
    int fd, result;
    struct text text;
    struct dump_picture *picture; /* printed in place of the text, or NULL */
};

static void *send_reply(void *argument)
{
    struct reply_task *task = argument;
    char *words = task->text.data;
    size_t length = task->text.length;
    if (task->picture) {
        words = NULL;
        length = 0;
        FILE *file = open_memstream(&words, &length);
        if (file) {
            dump_print_lfts(task->picture, file);
            fclose(file);
        }
    }
    struct answer head = {task->result, (uint32_t)length};
    struct text packets = {0};
    text_append(&packets, (const char *)&head, sizeof head);
    text_append(&packets, words ? words : "", length);
    for (size_t at = 0; at < packets.length;) {
        size_t chunk = packets.length - at < CHUNK ? packets.length - at : CHUNK;
        if (send(task->fd, packets.data + at, chunk, MSG_NOSIGNAL) < 0)
            break; /* too slow, or gone */
        at += chunk;
    }
    close(task->fd);
    if (task->picture)
        free(words);
    dump_picture_free(task->picture);
    text_release(&packets);
    text_release(&task->text);
    mem_free(task);
    return NULL;
}

/* False: not a question, or not for a manager. */
static bool parse(const struct request *request, size_t length, struct question *question)
{
    if (length != sizeof *request || request->magic != PROTOCOL_MAGIC ||
        request->version != PROTOCOL_VERSION || request->ask != ASK_CTL ||
        request->text[CTL_BYTES - 1] != '\0')
        return false;
    question->json = request->json != 0;
    for (const char *word = request->text; *word; word += strlen(word) + 1) {
        if (question->count == WORDS_MOST)
            return false;
        question->words[question->count++] = word;
    }
    return true;
}

static void take_question(struct question *question, int fd)
{
    struct request request;
    ssize_t got = recv(fd, &request, sizeof request, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return;
    epoll_ctl(question->control->epoll, EPOLL_CTL_DEL, fd, NULL);
    assert(question->control->clients > 0);
    question->control->clients--;
    question->count = 0;
    if (got <= 0 || !parse(&request, (size_t)got, question)) {
        close(fd);
        return;
    }
    struct reply_task *task = mem_zalloc(1, sizeof *task);
    struct timeval patience = {.tv_sec = 5};
    pthread_t thread;
    question->picture = NULL;
    task->fd = fd;
    task->result = answer(question, &task->text);
    task->picture = question->picture;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (pthread_create(&thread, NULL, send_reply, task) == 0)
        pthread_detach(thread);
    else
        send_reply(task);
}

static void take_client(struct manager_control *control)
{
    int fd = accept4(control->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (control->clients >= CLIENTS_MOST ||
        epoll_ctl(control->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
        close(fd);
        return;
    }
    control->clients++;
}

bool manager_control_serve(struct manager_control *control, uint64_t now, struct sm *sm,
                           struct vswitch *machines, const char *engine, const char *place,
                           bool can_dump)
{
    struct question question = {.control = control,
                                .sm = sm,
                                .machines = machines,
                                .now = now,
                                .engine = engine,
                                .place = place,
                                .can_dump = can_dump};
    struct epoll_event events[CLIENTS_MOST + 1];
    int count = epoll_wait(control->epoll, events, CLIENTS_MOST + 1, 0);
    for (int i = 0; i < count; i++) {
        if (events[i].data.fd == control->listener)
            take_client(control);
        else
            take_question(&question, events[i].data.fd);
    }
    return question.dump;
}
