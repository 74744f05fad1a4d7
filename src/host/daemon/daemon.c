/* The event loop of the manager on libibumad.
 *
 * One thread owns the core: it passes MADs, signals and the time to the core and executes the
 * core's outputs. It blocks only to wait for input. One worker thread computes routes (with further
 * threads if there are processors for them), two write files; they report through descriptors
 * that the loop polls. While MADs arrive the loop neither sleeps nor polls: it receives first, and
 * waits only if nothing was received.
 *
 *   SIGTERM, SIGINT  hand over to a standby, then end; a second signal ends at once
 *   SIGHUP           read the configuration and open the log file again
 *   SIGUSR1          sweep the whole subnet */
#include "host/daemon/daemon_internal.h"

#include "base/time.h"
#include "host/daemon/readiness.h"
#include "host/manager/administration.h"
#include "subnet/names.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    SMP_BATCH = 256,    /* SMPs received before outputs are executed */
    QUERY_BATCH = 2048, /* SA queries received before that, unless there are SMPs */
    SOME_QUERIES = 256, /* if there are */
    BUSY_TURNS = 256,   /* iterations of a busy loop between polls of the other descriptors */
};
static const uint64_t handover_timeout = 2 * NS_PER_S;

static void end_daemon(struct daemon *daemon, int status)
{
    daemon->ending = true;
    daemon->status = status;
}

/* ---- routes ---- */

struct route_task {
    struct sm_job *job;
    int status;
    struct err err;
};

static void compute_routes(void *task)
{
    struct route_task *routes = task;
    routes->status = sm_job_run(routes->job, &routes->err);
}

static void start_job(struct daemon *daemon, struct sm_job *job)
{
    assert(job);
    struct route_task *task = mem_zalloc(1, sizeof *task);
    task->job = job;
    worker_give(daemon->router, compute_routes, task);
}

void daemon_finish_jobs(struct daemon *daemon)
{
    for (struct route_task *task; (task = worker_take(daemon->router)) != NULL;) {
        manager_totals_add_job(&daemon->totals, task->job, task->status < 0);
        sm_computed(daemon->sm, time_monotonic_ns(), task->job,
                    task->status < 0 ? &task->err : NULL);
        mem_free(task);
    }
}

/* ---- events ---- */

static void log_up(struct daemon *daemon, const struct sm_change *change,
                   struct event_record *record)
{
    const struct sm_counts *sent = &change->requests;
    const struct event_figure figures[] = {
        {"NodeInfo", sent->node_info},
        {"PortInfo", sent->port_info_get},
        {"PortInfo set", sent->port_info_set},
        {"SwitchInfo", sent->switch_info},
        {"tables", sent->tables},
        {"other", sent->other},
        {"time-outs", sent->timeouts},
        {"given up", sent->gave_up},
    };
    record->figures = figures;
    record->figure_count = sizeof figures / sizeof *figures;
    event_log_put(&daemon->log, record);
    daemon->dump_due = true;
}

static void locate_event(const struct daemon *daemon, const struct sm_event *event,
                         struct event_record *record)
{
    const struct subnet *subnet = sm_subnet(daemon->sm);
    if (event->at >= subnet->ports.count)
        return;
    const struct subnet_port *port = &subnet->ports.items[event->at];
    const struct subnet_node *node = &subnet->nodes.items[port->node];
    record->node = subnet_node_label(subnet, node);
    record->guid = node->guid;
    record->port = port->number;
}

static void log_event(struct daemon *daemon, uint64_t now, const struct sm_event *event)
{
    static const char *const words[] = {
        [SM_EVENT_STATE] = "state",   [SM_EVENT_NODE_IN] = "in",      [SM_EVENT_NODE_OUT] = "out",
        [SM_EVENT_CHANGE] = "change", [SM_EVENT_UP] = "up",           [SM_EVENT_TRAP] = "trap",
        [SM_EVENT_LINK] = "link",     [SM_EVENT_WARNING] = "warning", [SM_EVENT_ERROR] = "error",
    };
    static const enum log_part parts[] = {
        [SM_EVENT_STATE] = PART_MASTERSHIP,   [SM_EVENT_NODE_IN] = PART_DISCOVERY,
        [SM_EVENT_NODE_OUT] = PART_DISCOVERY, [SM_EVENT_CHANGE] = PART_ROUTING,
        [SM_EVENT_UP] = PART_ROUTING,         [SM_EVENT_TRAP] = PART_DISCOVERY,
        [SM_EVENT_LINK] = PART_DISCOVERY,     [SM_EVENT_WARNING] = PART_WHOLE,
        [SM_EVENT_ERROR] = PART_WHOLE,
    };
    if (event->kind == SM_EVENT_DEBUG) { /* for the log and those who follow it */
        event_log_debug(&daemon->log, event->part, "%s", event->text);
        return;
    }
    daemon_expect_problems(daemon, now);
    daemon_web_note(daemon, event);
    if (event->listed)
        return; /* daemon_watch_problems() logs it */
    struct event_record record = {
        .event = words[event->kind], .text = event->text, .part = parts[event->kind]};
    locate_event(daemon, event, &record);
    daemon_web_event(daemon, &record);
    bool serving = event->kind == SM_EVENT_UP || sm_state(daemon->sm) == SM_STANDBY;
    daemon->lids_due |= event->kind == SM_EVENT_UP && daemon->config->sm.m_key_per_port;
    if (event->kind == SM_EVENT_UP)
        log_up(daemon, event->change, &record);
    else
        event_log_put(&daemon->log, &record);
    if (serving && !daemon->ready) {
        daemon->ready = true;
        readiness_notify("READY=1");
    }
    if (event->kind == SM_EVENT_UP || event->kind == SM_EVENT_STATE ||
        sm_own_link_is_down(daemon->sm))
        readiness_notify("STATUS=%s", event->text);
}

static void send_message(struct daemon *daemon, const struct sm_message *message)
{
    int status = device_port_send(daemon->port, message);
    if (status < 0 && daemon->send_failures++ == 0)
        event_log_write(&daemon->log, "warning", "cannot send: %s", strerror(-status));
    else if (status == 0)
        daemon->send_failures = 0;
}

static void execute_outputs(struct daemon *daemon, uint64_t now)
{
    struct sm_output output;
    while (sm_next_output(daemon->sm, now, &output)) {
        switch (output.kind) {
        case SM_SEND: send_message(daemon, &output.message); break;
        case SM_COMPUTE: start_job(daemon, output.job); break;
        case SM_EVENT: log_event(daemon, now, &output.event); break;
        case SM_PERSIST:
            store_add(&daemon->store, &output.fact);
            daemon->lids_due = true;
            break;
        }
    }
}

/* ---- subnet administration ---- */

static void update_sa_view(struct daemon *daemon, uint64_t now)
{
    administration_update_view(daemon->sa, now, daemon->sm, daemon->config->sm.priority);
}

/* A query, an answer, or a report to a subscriber. */
static void debug_sa(struct daemon *daemon, const char *direction, const struct sa_message *message)
{
    const char *name = "unknown attribute";
    if (daemon->log.options.levels.of[PART_SA] != LEVEL_DEBUG)
        return;
    unsigned id = (unsigned)wire_get(message->data, MAD_ATTRIBUTE_ID);
    for (unsigned i = 0; i < WIRE_ATTRIBUTE_COUNT; i++)
        if ((wire_attributes[i].class == WIRE_CLASS_SA ||
             wire_attributes[i].class == WIRE_CLASS_COMMON) &&
            wire_attributes[i].id == id)
            name = wire_attributes[i].name;
    event_log_debug(&daemon->log, PART_SA,
                    "method 0x%x, %s %s LID %u QP %u, TID 0x%llx, modifier 0x%x, status 0x%x, %zu "
                    "bytes",
                    (unsigned)wire_get(message->data, MAD_METHOD), name, direction,
                    message->address.lid, message->address.qp,
                    (unsigned long long)wire_get(message->data, MAD_TID),
                    (unsigned)wire_get(message->data, MAD_ATTRIBUTE_MODIFIER),
                    (unsigned)wire_get(message->data, MAD_STATUS), message->bytes);
}

/* Runs the subnet administration for one iteration of the loop. */
static void run_administration(struct daemon *daemon, uint64_t now)
{
    struct sa_message message;
    update_sa_view(daemon, now);
    registrations_sync(&daemon->registrations, now, daemon->sm, daemon->sa);
    registrations_commit(&daemon->registrations, now, daemon->sa); /* a save may be finished */
    sa_update_kept(daemon->sa, now);
    if (sa_deadline(daemon->sa) > now)
        return;
    sa_expire(daemon->sa, now);
    do { /* registrations are answered after they are saved */
        while (sa_next_output(daemon->sa, now, &message)) {
            debug_sa(daemon, "to", &message);
            int status = device_port_answer(daemon->port, &message);
            if (message.asked_at)
                duration_counts_add(&daemon->totals.sa_latency,
                                    time_monotonic_ns() - message.asked_at);
            if (status < 0 && daemon->send_failures++ == 0)
                event_log_write(&daemon->log, "warning", "cannot answer: %s", strerror(-status));
        }
    } while (registrations_commit(&daemon->registrations, now, daemon->sa));
    if (sa_fabric_generation(daemon->sa) != daemon->fabric_generation) {
        daemon->fabric_generation = sa_fabric_generation(daemon->sa);
        sm_registrations_changed(daemon->sm, now);
    }
}

/* ---- signals ---- */

static void begin_stop(struct daemon *daemon, uint64_t now)
{
    if (daemon->stop_at != TIME_NEVER) {
        end_daemon(daemon, 0);
        return;
    }
    readiness_notify("STOPPING=1");
    event_log_write(&daemon->log, "stop", "the manager ends");
    daemon->stop_at = now + handover_timeout;
    sm_stop(daemon->sm, now);
}

static void take_signals(struct daemon *daemon, uint64_t now)
{
    struct signalfd_siginfo info;
    while (read(daemon->watched[WATCH_SIGNALS].fd, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGHUP)
            daemon_reload_config(daemon, now);
        else if (info.ssi_signo == SIGUSR1)
            sm_rediscover(daemon->sm, now);
        else
            begin_stop(daemon, now);
    }
}

/* ---- the loop ---- */

/* Ends the daemon if it has nothing more to wait for. */
static void check_end(struct daemon *daemon, uint64_t now)
{
    enum sm_state state = sm_state(daemon->sm);
    if (daemon->stop_at != TIME_NEVER) {
        if (state == SM_NOT_ACTIVE || now >= daemon->stop_at)
            end_daemon(daemon, 0);
        return;
    }
    if (device_port_is_gone(daemon->port)) {
        event_log_write(&daemon->log, "error", "the port is gone");
        end_daemon(daemon, 1);
        return;
    }
    if (!daemon->options->once)
        return;
    if (sm_is_settled(daemon->sm)) {
        bool whole = sm_exceptions(daemon->sm, now, NULL) == 0;
        end_daemon(daemon, sm_refusal(daemon->sm) ? 1 : whole ? 0 : DAEMON_INCOMPLETE);
    } else if (state == SM_STANDBY) {
        event_log_write(&daemon->log, "error", "another manager is master of this subnet");
        end_daemon(daemon, 1);
    } else if (sm_own_link_is_down(daemon->sm)) {
        end_daemon(daemon, 1); /* the core has logged it */
    } else if (sm_own_port_is_silent(daemon->sm)) {
        event_log_write(&daemon->log, "error", "the port does not answer");
        end_daemon(daemon, 1);
    }
}

static unsigned receive_mads(struct daemon *daemon, uint64_t now)
{
    struct sm_message message;
    struct sa_message query;
    unsigned ours = 0, queries = 0;
    bool stale = true; /* the manager may have replaced the tables that the administration sees */
    /* The kernel has one queue for all clients; the administration has one for each. */
    while (ours < SMP_BATCH && queries < (ours ? SOME_QUERIES : QUERY_BATCH))
        switch (device_port_receive(daemon->port, &message, &query)) {
        case MAD_NONE: return ours + queries;
        case MAD_FOR_MANAGER:
            perf_yield(daemon->perf, now);
            daemon_count_trap(daemon, &message);
            if (sm_receive(daemon->sm, now, &message)) {
                update_sa_view(daemon, now);
                sa_notice(daemon->sa, now, message.mad + SMP_DATA_OFFSET);
            }
            stale = true;
            ours++;
            break;
        case MAD_FOR_COUNTERS:
            event_log_debug(&daemon->log, PART_PERF,
                            "answer: attribute 0x%x, TID 0x%llx, status 0x%x, from LID %u",
                            (unsigned)wire_get(message.mad, MAD_ATTRIBUTE_ID),
                            (unsigned long long)wire_get(message.mad, MAD_TID),
                            (unsigned)wire_get(message.mad, MAD_STATUS), message.lid);
            perf_receive(daemon->perf, now, sm_subnet(daemon->sm), message.mad);
            ours++;
            break;
        case MAD_FOR_ADMINISTRATION:
            if (stale)
                update_sa_view(daemon, now);
            stale = false;
            perf_yield(daemon->perf, now);
            debug_sa(daemon, "from", &query);
            sa_receive(daemon->sa, now, &query);
            queries++;
            break;
        }
    return ours + queries;
}

static bool find_copy(void *context, uint64_t now, uint64_t guid, struct manager_view_copy *copy)
{
    const struct daemon *daemon = context;
    struct sa_standby standby;
    if (!daemon->sa || !sa_standby(daemon->sa, now, guid, &standby))
        return false;
    *copy = (struct manager_view_copy){standby.lag, standby.age_ns};
    return true;
}

struct manager_access daemon_access(struct daemon *daemon)
{
    return (struct manager_access){
        .view = {.sm = daemon->sm,
                 .engine = daemon->config->sm.engine->name,
                 .place = daemon->port ? device_port_name(daemon->port) : "",
                 .list_problems = daemon_list_problems,
                 .context = daemon,
                 .partitions = daemon->config->sm.partitions,
                 .groups = daemon->sa ? sa_groups(daemon->sa) : NULL,
                 .find_copy = find_copy},
        .sm = daemon->sm,
        .machines = daemon->machines,
        .perf = daemon->perf,
        .control = daemon->control,
        .log = &daemon->log,
        .can_dump = daemon->config->dump != NULL,
        .page_url = daemon_page_url,
        .daemon = daemon,
    };
}

void daemon_serve_control(struct daemon *daemon, uint64_t now)
{
    struct manager_access access = daemon_access(daemon);
    daemon->dump_due |= manager_control_serve(daemon->control, now, &access);
}

/* ---- the parts of the loop ---- */

static uint64_t control_deadline(const struct daemon *daemon)
{
    return manager_control_deadline(daemon->control);
}

static uint64_t manager_deadline(const struct daemon *daemon)
{
    return sm_deadline(daemon->sm);
}

static void run_manager(struct daemon *daemon, uint64_t now)
{
    sm_expire(daemon->sm, now);
}

static void run_machines(struct daemon *daemon, uint64_t now)
{
    vswitch_advance(daemon->machines, now);
}

static uint64_t administration_deadline(const struct daemon *daemon)
{
    return sa_deadline(daemon->sa);
}

static void finish_jobs(struct daemon *daemon, uint64_t now)
{
    (void)now;
    daemon_finish_jobs(daemon);
}

static uint64_t page_deadline(const struct daemon *daemon)
{
    return daemon->page_at;
}

static void run_page(struct daemon *daemon, uint64_t now)
{
    daemon->page_at = daemon_web_step(daemon, now);
}

static uint64_t watchdog_deadline(const struct daemon *daemon)
{
    return daemon->watchdog_at;
}

/* Only the main loop notifies the watchdog: if the loop hangs, systemd restarts the manager. */
static void feed_watchdog(struct daemon *daemon, uint64_t now)
{
    readiness_notify("WATCHDOG=1");
    daemon->watchdog_at = now + daemon->watchdog_interval;
}

static uint64_t stop_deadline(const struct daemon *daemon)
{
    return daemon->stop_at;
}

/* In the order in which they run. */
static const struct loop_part {
    void (*run)(struct daemon *daemon, uint64_t now);
    uint64_t (*deadline)(const struct daemon *daemon); /* NULL: it waits for no time */
    enum { WHEN_DUE, EVERY_TURN, WHEN_IDLE } when; /* idle: before a wait, and from time to time */
    unsigned watched; /* its descriptor makes it due, too; WATCH_COUNT: none */
} loop_parts[] = {
    {take_signals, NULL, WHEN_DUE, WATCH_SIGNALS},
    {daemon_serve_control, control_deadline, WHEN_DUE, WATCH_CONTROL},
    {daemon_serve_http, daemon_http_deadline, WHEN_DUE, WATCH_HTTP},
    {finish_jobs, NULL, EVERY_TURN, WATCH_COUNT},
    {daemon_finish_files, NULL, EVERY_TURN, WATCH_COUNT},
    {run_manager, manager_deadline, WHEN_DUE, WATCH_COUNT},
    {run_machines, NULL, EVERY_TURN, WATCH_COUNT},
    {daemon_read_counters, daemon_counters_deadline, EVERY_TURN, WATCH_COUNT},
    {execute_outputs, NULL, EVERY_TURN, WATCH_COUNT},
    {run_administration, administration_deadline, EVERY_TURN, WATCH_COUNT},
    {feed_watchdog, watchdog_deadline, WHEN_DUE, WATCH_COUNT},
    {run_page, page_deadline, EVERY_TURN, WATCH_COUNT},
    {daemon_submit_files, daemon_files_deadline, WHEN_IDLE, WATCH_COUNT},
    {daemon_watch_problems, daemon_problems_deadline, WHEN_IDLE, WATCH_COUNT},
    {check_end, stop_deadline, WHEN_IDLE, WATCH_COUNT},
};
enum { LOOP_PARTS = sizeof loop_parts / sizeof *loop_parts };

static bool is_due(struct daemon *daemon, uint64_t now, const struct loop_part *part)
{
    bool watched = part->watched != WATCH_COUNT && daemon->watched[part->watched].revents;
    if (watched)
        daemon->watched[part->watched].revents = 0;
    return watched || (part->deadline && part->deadline(daemon) <= now);
}

static void wait_for_input(struct daemon *daemon, uint64_t now)
{
    uint64_t until = TIME_NEVER;
    for (size_t i = 0; i < LOOP_PARTS; i++)
        if (loop_parts[i].deadline)
            until = time_first(until, loop_parts[i].deadline(daemon));
    fflush(daemon->log.file);
    device_port_wait(daemon->port, daemon->watched, WATCH_COUNT,
                     until == TIME_NEVER ? TIME_NEVER
                     : until > now       ? until - now
                                         : 0);
}

static void run_loop(struct daemon *daemon)
{
    daemon->watchdog_interval = readiness_watchdog_interval_ns();
    daemon->watchdog_at = daemon->watchdog_interval ? 0 : TIME_NEVER;
    sm_start(daemon->sm, time_monotonic_ns());
    for (unsigned turn = 0; !daemon->ending; turn++) {
        uint64_t now = time_monotonic_ns();
        unsigned received = receive_mads(daemon, now);
        bool busy = received && turn % BUSY_TURNS;
        if (received && !busy) {
            fflush(daemon->log.file);
            poll(daemon->watched, WATCH_COUNT, 0);
        }
        for (size_t i = 0; i < LOOP_PARTS; i++) {
            const struct loop_part *part = &loop_parts[i];
            if (part->when == WHEN_DUE     ? is_due(daemon, now, part)
                : part->when == EVERY_TURN ? true
                                           : !busy)
                part->run(daemon, now);
        }
        if (busy)
            continue;
        if (daemon->retired.count && !worker_is_busy(daemon->router))
            daemon_free_retired(daemon);
        if (!daemon->ending && !received)
            wait_for_input(daemon, now);
    }
    readiness_notify("STOPPING=1");
}

int daemon_run(const struct daemon_options *options, struct err *err)
{
    struct daemon daemon = {.options = options, .store.lock = -1};
    int status = daemon_read_config(&daemon, err);
    if (status < 0)
        return status;
    status = daemon_open_all(&daemon, err);
    if (status == 0 && daemon.port) {
        event_log_write(&daemon.log, "start", "engine %s at %s", daemon.config->sm.engine->name,
                        device_port_name(daemon.port));
        daemon_log_config(&daemon);
        run_loop(&daemon);
        status = daemon.status;
    }
    daemon_close_all(&daemon);
    return status == 0 && options->once && daemon.files_failed ? 1 : status;
}
