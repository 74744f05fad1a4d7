/* The commands of `weft ctl` for a session.
 *
 * A session has two control sockets, as a fabric and its manager have: commands that both have
 * (status, counters) are answered by the one that is asked, all others at either. Reports read the
 * run as it is now. Actions become statements of the session, as those of the page. Requests are
 * answered between two parts of the run, also during a pause. */
#include "experiment/live/live.h"
#include "host/fabric_control/fabric_control.h"

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

/* ---- the fabric ---- */

/* Applies an action and shows the result to those who watch. */
static int apply(struct live *live, const struct action *action, struct err *err)
{
    int status = live_apply(live, action, 1, NULL, err);
    live_refresh(live);
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
    return sim_paths_show(live_session_setup(&live->session)->paths, source, target);
}

static void stop_session(void *context)
{
    struct live *live = context;
    live->stopped = true;
}

/* ---- the session ---- */

/* The words of an action. Actions on machines take effect as time advances. */
static int act(struct live *live, const char *const *words, unsigned count,
               struct control_answer *answer, struct err *err)
{
    const struct topology *topology = &live_session_setup(&live->session)->topology;
    struct action action;
    int status = action_read_words(&action, words, count, topology, err);
    if (status == 0)
        status = apply(live, &action, err);
    if (status == 0 && action_row(&action)->owner == OWNER_MACHINES) {
        struct record record = record_to(&answer->text, answer->json, false);
        struct text line = {0};
        action_print(&action, topology, &line);
        record_begin(&record, NULL);
        record_string(&record, "statement", "%s: takes effect as time advances\n", line.data);
        record_end(&record);
        text_release(&line);
    }
    return status;
}

static int answer_act(struct control_call *call)
{
    return act(call->subject, call->words, call->count, call->answer, &call->err);
}

static int answer_managers(struct control_call *call)
{
    const struct live *live = call->subject;
    struct record record = control_record(call);
    watch_put_managers(&live->watch, &record);
    return 0;
}

static int answer_changes(struct control_call *call)
{
    const struct live *live = call->subject;
    struct record record = control_record(call);
    watch_put_changes(&live->watch, &record);
    return 0;
}

static int answer_connections(struct control_call *call)
{
    const struct live *live = call->subject;
    struct record record = control_record(call);
    connections_put(live_session_setup(&live->session), NULL, SIZE_MAX, &record);
    return 0;
}

static int answer_versions(struct control_call *call)
{
    const struct live *live = call->subject;
    struct record record = control_record(call);
    api_versions_put(&live->watch.versions, NULL, &record);
    return 0;
}

static int answer_events(struct control_call *call)
{
    const struct live *live = call->subject;
    const struct run_record *run = live_session_setup(&live->session)->record;
    struct record record = control_record(call);
    size_t count = run->events.count;
    if (call->count)
        return err_set(&call->err, EINVAL,
                       "weft live has no followers of events: the API pushes them");
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
    return 0;
}

static const struct control_command session_commands[] = {
    {"managers", "", 0, 0, CONTROL_SESSION, "states of managers", answer_managers},
    {"changes", "", 0, 0, CONTROL_SESSION, "last changes of the subnet", answer_changes},
    {"connections", "", 0, 0, CONTROL_SESSION, "connections: state, rate, retries, outage",
     answer_connections},
    {"versions", "", 0, 0, CONTROL_SESSION, "versions of the tables", answer_versions},
    {"events", "", 0, 1, CONTROL_SESSION, "recent events", answer_events},
    {"act", "ACTION", 1, UINT8_MAX, CONTROL_SESSION,
     "an action of weft-scenario(5), such as kill sm H0", answer_act},
    {0}};

/* ---- the manager ---- */

static void list_problems(void *context, uint64_t now, struct problems *problems)
{
    struct live *live = context;
    (void)now;
    watch_list_problems(&live->watch, problems);
}

static int reroute(struct control_call *call)
{
    struct live *live = call->subject;
    const struct setup *setup = live_session_setup(&live->session);
    size_t manager = watch_choose_manager(&live->watch);
    if (manager == setup->instances.count || sm_state(setup_manager(setup, manager)) != SM_MASTER)
        return err_set(&call->err, EINVAL, "only a master can do that, and there is none");
    const struct action action = {
        .kind = ACTION_REROUTE, .node = watch_manager_node(setup, manager), .port = TOPOLOGY_NONE};
    return apply(live, &action, &call->err);
}

static const struct control_command session_actions[] = {
    {"reroute", "", 0, 0, CONTROL_SESSION, "", reroute}, {0}};

/* Commands that only weft sm has; instead of help, what to do instead. */
static int refuse(struct control_call *call)
{
    return err_set(&call->err, EINVAL, "%s", call->command->help);
}

static const struct control_command absent_commands[] = {
    {"counters", "", 0, UINT8_MAX, CONTROL_SESSION,
     "managers of weft live read no counters: without --manager, 'counters' shows those of the "
     "fabric",
     refuse},
    {"top", "", 0, UINT8_MAX, CONTROL_SESSION,
     "managers of weft live read no counters: the page colours links by load", refuse},
    {"sweep", "", 0, UINT8_MAX, CONTROL_SESSION,
     "weft live has no such action; 'reroute' computes all routes again", refuse},
    {"handover", "", 0, UINT8_MAX, CONTROL_SESSION,
     "weft live has no such action; 'stop sm NODE' makes the master hand over", refuse},
    {"port", "", 0, UINT8_MAX, CONTROL_SESSION,
     "weft live has no such action; 'fail link NODE PORT' disconnects a cable", refuse},
    {"dump", "", 0, UINT8_MAX, CONTROL_SESSION,
     "weft live has no directory for dumps; 'routes' prints the tables", refuse},
    {"vm ticket", "", 0, UINT8_MAX, CONTROL_SESSION,
     "weft live has no tickets: 'vm list' shows the machines", refuse},
    {0}};

/* ---- the command ---- */

const struct control_command *const live_control_tables[] = {
    session_commands, fabric_commands, manager_view_commands, machine_report_commands, NULL};

/* `status` and `counters` are commands of both: those of the socket come first. */
static const struct control_command *const socket_tables[LIVE_SOCKETS][7] = {
    [LIVE_FABRIC] = {session_commands, fabric_commands, manager_view_commands,
                     machine_report_commands, session_actions, absent_commands},
    [LIVE_MANAGER] = {session_commands, manager_view_commands, machine_report_commands,
                      session_actions, absent_commands, fabric_commands},
};

void live_ctl_run(struct live *live, enum live_socket at, const struct control_request *request,
                  struct control_reply *reply)
{
    const struct setup *setup = live_session_setup(&live->session);
    char pace[32], place[40] = "";
    struct fabric_access fabric = {.fabric = setup->fabric,
                                   .wall_ps =
                                       (live->options.clock_ns() - live->begin_wall_ns) * TIME_NS,
                                   .pace = pace,
                                   .context = live,
                                   .put_status = put_session,
                                   .find_path = find_path,
                                   .stop = stop_session};
    snprintf(pace, sizeof pace, "%g", live->pace);
    struct manager_view view = {
        .list_problems = list_problems, .context = live, .virtual_time = true};
    struct machine_access machines = {0};
    size_t manager = watch_choose_manager(&live->watch);
    bool manages = manager < setup->instances.count;
    if (manages) {
        const struct config *config = &setup->instances.items[manager]->config;
        uint32_t port = setup->places.items[manager].port;
        view.sm = machines.sm = setup_manager(setup, manager);
        view.engine = config->sm.engine->name;
        view.place = fabric_control_label(&setup->topology, port, place);
        view.partitions = config->sm.partitions;
        view.groups = setup->groups;
        machines.machines = sim_machines(setup->sim, setup->places.items[manager].manager);
    }
    struct control_call call = {
        .subjects = {[CONTROL_SESSION] = live,
                     [CONTROL_FABRIC] = &fabric,
                     [CONTROL_MANAGER] = manages ? &view : NULL,
                     [CONTROL_MACHINES] = manages ? &machines : NULL},
        .missing = {[CONTROL_MANAGER] = "no manager runs", [CONTROL_MACHINES] = "no manager runs"},
        .now = sim_now_ns(setup->sim),
        .answer = &reply->answer,
        .client = -1};
    const struct control_command *found =
        control_find(socket_tables[at], request->words, request->count);
    reply->answer.json = request->json;
    if (action_is_meant(socket_tables[at], request->words, request->count)) {
        struct err err = {0};
        reply->result = act(live, request->words, request->count, &reply->answer, &err);
        if (reply->result < 0)
            text_puts(&reply->answer.text, err.message);
    } else if (found)
        reply->result = control_run(found, &call, request->words, request->count);
    else
        reply->result =
            control_refuse("weft live", live_control_tables, &call, request->words, request->count);
}
