/* The commands of `weft ctl` for a session.
 *
 * A session has two control sockets, as a fabric and its manager have: commands that both have
 * (status, counters) are answered by the one that is asked, all others at either. Reports read the
 * run as it is now. Actions become statements of the session, as those of the page. Requests are
 * answered between two parts of the run, also during a pause. */
#include "experiment/live/control.h"
#include "experiment/live/live.h"
#include "experiment/live/managers_view.h"
#include "experiment/live/path.h"

#include "base/time.h"
#include "host/manager_view/machine_control.h"
#include "host/manager_view/manager_view.h"

#include <errno.h>

enum { EVENTS_SHOWN = 256 };

/* ---- sockets ---- */

int live_ctl_open(struct live *live, const char *path, struct err *err)
{
    struct text manager = {0};
    text_printf(&manager, "%s.sm", path);
    int status = control_socket_open(&live->sockets[LIVE_FABRIC], path, err);
    if (status == 0)
        status = control_socket_open(&live->sockets[LIVE_MANAGER], manager.data, err);
    if (status < 0)
        live_ctl_close(live);
    text_release(&manager);
    return status;
}

void live_ctl_close(struct live *live)
{
    for (unsigned i = 0; i < LIVE_SOCKETS; i++) {
        control_socket_close(live->sockets[i]);
        live->sockets[i] = NULL;
    }
}

uint64_t live_ctl_deadline(const struct live *live)
{
    uint64_t fabric = control_socket_deadline(live->sockets[LIVE_FABRIC]);
    uint64_t manager = control_socket_deadline(live->sockets[LIVE_MANAGER]);
    return fabric < manager ? fabric : manager;
}

void live_ctl_serve(struct live *live, uint64_t now_ns)
{
    struct control_request request;
    for (unsigned i = 0; i < LIVE_SOCKETS; i++)
        while (live->sockets[i] && control_socket_next(live->sockets[i], now_ns, &request)) {
            struct control_reply *reply = mem_zalloc(1, sizeof *reply);
            reply->fd = request.fd;
            live_ctl_run(live, (enum live_socket)i, &request, reply);
            (live->stopped ? control_reply_send_now : control_reply_start)(reply);
        }
}

/* ---- the command ---- */

struct call {
    struct live *live;
    const struct setup *setup;
    const struct control_request *request;
    struct control_reply *reply;
};

static int refuse(const struct call *call, const char *why)
{
    text_clear(&call->reply->text);
    text_puts(&call->reply->text, why);
    return -EINVAL;
}

/* Applies statements, one a line, and shows the result to those who watch. */
static int act(struct live *live, char *lines, struct err *err)
{
    int status = live_apply(live, lines, NULL, err);
    live_refresh(live);
    return status;
}

/* ---- the fabric ---- */

static int apply_fault(void *context, const struct fabric_command *fault, struct err *err)
{
    struct live *live = context;
    struct text line = {0};
    control_put_fault(&live_session_setup(&live->session)->topology, fault, &line);
    int status = act(live, line.data, err);
    text_release(&line);
    return status;
}

static void put_session(void *context, struct record *record)
{
    const struct live *live = context;
    const char *halted = live_session_halted(&live->session);
    record_begin(record, "session");
    record_flag(record, "running", NULL, live->running);
    record_text(record, "session   %s", live->running ? "runs" : "is paused");
    record_number(record, "seed", ", seed %llu", live_session_setup(&live->session)->record->seed);
    record_number(record, "actions", ", %llu actions", live->session.next_action);
    record_number(record, "generation", NULL, live->session.generation);
    record_string(record, "halted", halted ? "; it has ended: %s\n" : "\n", halted ? halted : "");
    record_end(record);
}

static struct data_path find_path(void *context, uint32_t source, uint32_t target)
{
    const struct live *live = context;
    return path_look_up(live_session_setup(&live->session), source, target);
}

static void stop_session(void *context)
{
    struct live *live = context;
    live->stopped = true;
}

static int run_fabric_command(const struct call *call)
{
    struct live *live = call->live;
    const struct control_request *request = call->request;
    char pace[32];
    const struct fabric_access access = {
        .fabric = call->setup->fabric,
        .wall_ps = (live->options.clock_ns() - live->begin_wall_ns) * TIME_NS,
        .pace = pace,
        .context = live,
        .apply = apply_fault,
        .put_status = put_session,
        .find_path = find_path,
        .stop = stop_session};
    snprintf(pace, sizeof pace, "%g", live->pace);
    return fabric_control_run(&access, request->words, request->count, request->json,
                              &call->reply->text);
}

/* ---- the session ---- */

/* Any action of the scenario language. */
static int act_by_statement(const struct call *call)
{
    const struct control_request *request = call->request;
    struct text line = {0};
    struct err err = {0};
    bool fine = request->count > 1;
    const char *word = request->words[0];
    for (word += strlen(word) + 1; fine && *word; word += strlen(word) + 1) {
        for (const char *c = word; *c; c++)
            fine &= (unsigned char)*c >= ' ';
        text_printf(&line, strchr(word, ' ') ? "%s\"%s\"" : "%s%s", line.length ? " " : "", word);
    }
    int status = fine ? act(call->live, line.data, &err)
                      : err_set(&err, EINVAL, "usage: weft ctl act ACTION: see weft-scenario(5)");
    text_release(&line);
    return status < 0 ? refuse(call, err.message) : 0;
}

static void put_events(const struct call *call)
{
    const struct run_record *run = call->setup->record;
    struct record record = record_to(&call->reply->text, call->request->json, false);
    size_t count = run->events.count;
    record_begin_list(&record, NULL);
    for (size_t i = count > EVENTS_SHOWN ? count - EVENTS_SHOWN : 0; i < count; i++) {
        const struct run_record_event *event = &run->events.items[i];
        char when[32];
        snprintf(when, sizeof when, "%.6fms", (double)event->time / TIME_MS);
        record_begin(&record, NULL);
        record_string(&record, "time", "%14s", when);
        record_string(&record, "event", " %-6s", run_record_kind_names[event->kind]);
        record_string(&record, "who", " %s:", event->who);
        record_string(&record, "text", " %s\n", event->text);
        record_end(&record);
    }
    record_end_list(&record);
}

/* Reports of the whole session. -ENOENT: the command is none of these. */
static int run_session_command(const struct call *call)
{
    const char *name = call->request->words[0];
    struct record record = record_to(&call->reply->text, call->request->json, false);
    if (strcmp(name, "act") == 0)
        return act_by_statement(call);
    if (call->request->count != 1)
        return -ENOENT;
    if (strcmp(name, "managers") == 0)
        managers_view_put(call->setup, &record);
    else if (strcmp(name, "changes") == 0)
        managers_view_put_changes(call->setup, &record);
    else if (strcmp(name, "versions") == 0)
        versions_put(&call->live->versions, NULL, &record);
    else if (strcmp(name, "events") == 0)
        put_events(call);
    else
        return -ENOENT;
    return 0;
}

/* ---- the manager ---- */

/* vm list, vm show: the manager's; the others are statements, which take effect as time advances */
static int run_vm_command(const struct call *call, size_t manager)
{
    const char *const *words = call->request->words + 1;
    unsigned count = call->request->count - 1;
    const char *verb = count ? words[0] : "";
    struct text *out = &call->reply->text;
    struct text line = {0};
    struct err err = {0};
    if (strcmp(verb, "list") == 0 || strcmp(verb, "show") == 0)
        return machine_control_answer(
            sim_machines(call->setup->sim, call->setup->places.items[manager].manager),
            setup_manager(call->setup, manager), sim_now_ns(call->setup->sim), words, count,
            call->request->json, out);
    if (strcmp(verb, "ticket") == 0)
        return refuse(call, "weft live has no tickets: 'vm list' shows the machines");
    int status = control_put_vm(&call->setup->topology, words, count, &line, &err);
    if (status == 0)
        status = act(call->live, line.data, &err);
    if (status < 0) {
        text_release(&line);
        return refuse(call, err.message);
    }
    struct record record = record_to(out, call->request->json, false);
    record_begin(&record, NULL);
    record_string(&record, "statement", "%s: takes effect as time advances\n", line.data);
    record_end(&record);
    text_release(&line);
    return 0;
}

static void print_view(const struct call *call, size_t manager,
                       void (*print)(const struct manager_view *view, bool json, struct text *out))
{
    const struct setup *setup = call->setup;
    struct problems problems = {0};
    char place[40];
    struct sm *sm = setup_manager(setup, manager);
    const struct config *config = &setup->instances.items[manager]->config;
    const struct manager_view view = {
        .sm = sm,
        .engine = config->sm.engine->name,
        .place = fabric_control_label(&setup->topology, setup->places.items[manager].port, place),
        .problems = &problems,
        .virtual_time = true,
        .partitions = config->sm.partitions,
        .groups = setup->groups};
    managers_view_list_problems(setup, &problems);
    for (size_t i = 0; i < problems.items.count; i++)
        problems.items.items[i].since =
            (time_t)watch_problem_since(&call->live->watch, &problems.items.items[i]);
    print(&view, call->request->json, &call->reply->text);
    problems_release(&problems);
}

static int reroute(const struct call *call, size_t manager)
{
    struct text line = {0};
    struct err err = {0};
    if (sm_state(setup_manager(call->setup, manager)) != SM_MASTER)
        return refuse(call, "only a master can do that, and there is none");
    control_put_reroute(call->setup, manager, &line);
    int status = act(call->live, line.data, &err);
    text_release(&line);
    return status < 0 ? refuse(call, err.message) : 0;
}

static const struct {
    const char *name;
    void (*print)(const struct manager_view *view, bool json, struct text *out);
} views[] = {{"status", manager_view_status},
             {"problems", manager_view_problems},
             {"partitions", manager_view_partitions},
             {"groups", manager_view_groups}};

/* Commands that only weft sm has, and what to do instead. */
static const struct {
    const char *name, *why;
} refused[] = {
    {"counters", "managers of weft live read no counters: without --manager, 'counters' shows "
                 "those of the fabric"},
    {"top", "managers of weft live read no counters: the page colours links by load"},
    {"sweep", "weft live has no such action; 'reroute' computes all routes again"},
    {"handover", "weft live has no such action; 'act stop sm NODE' makes the master hand over"},
    {"port", "weft live has no such action; 'link down NODE PORT' disconnects a cable"},
    {"dump", "weft live has no directory for dumps; 'routes' prints the tables"},
};

static int run_manager_command(const struct call *call)
{
    const struct control_request *request = call->request;
    const char *name = request->words[0];
    size_t manager = managers_view_choose(call->setup);
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(name, refused[i].name) == 0)
            return refuse(call, refused[i].why);
    if (strcmp(name, "events") == 0)
        return refuse(call, "weft live has no followers of events: the API pushes them");
    if (manager == call->setup->instances.count)
        return refuse(call, "no manager runs");
    if (strcmp(name, "vm") == 0)
        return run_vm_command(call, manager);
    for (unsigned i = 0; i < sizeof views / sizeof *views && request->count == 1; i++)
        if (strcmp(name, views[i].name) == 0) {
            print_view(call, manager, views[i].print);
            return 0;
        }
    if (strcmp(name, "topology") == 0 && request->count == 1) {
        manager_view_end_ports(setup_manager(call->setup, manager), request->json,
                               &call->reply->text);
        return 0;
    }
    if (strcmp(name, "routes") == 0 && request->count == 1) {
        manager_view_tables(setup_manager(call->setup, manager), call->reply);
        return 0;
    }
    if (strcmp(name, "reroute") == 0 && request->count == 1)
        return reroute(call, manager);
    return refuse(call, "no such command of weft live: 'weft ctl --help' lists them");
}

void live_ctl_run(struct live *live, enum live_socket at, const struct control_request *request,
                  struct control_reply *reply)
{
    const struct call call = {live, live_session_setup(&live->session), request, reply};
    const char *name = request->count ? request->words[0] : "";
    bool common = strcmp(name, "status") == 0 || strcmp(name, "counters") == 0;
    reply->json = request->json;
    reply->result = request->count ? run_session_command(&call) : refuse(&call, "no command");
    if (reply->result != -ENOENT)
        return;
    bool of_fabric = fabric_control_has(name) && (at == LIVE_FABRIC || !common);
    reply->result = of_fabric ? run_fabric_command(&call) : run_manager_command(&call);
}
