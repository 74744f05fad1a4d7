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
#include "host/daemon/daemon.h"

#include "base/time.h"
#include "host/daemon/cabling.h"
#include "host/daemon/device_port.h"
#include "host/daemon/dumps.h"
#include "host/daemon/event_log.h"
#include "host/daemon/file_task.h"
#include "host/daemon/link_errors.h"
#include "host/daemon/manager_control.h"
#include "host/daemon/port_key_files.h"
#include "host/daemon/problem_log.h"
#include "host/daemon/readiness.h"
#include "host/daemon/registrations.h"
#include "host/daemon/store.h"
#include "host/daemon/worker.h"
#include "host/manager/administration.h"
#include "host/manager/config.h"
#include "host/manager/key_file.h"
#include "host/socket/listener.h"
#include "host/socket/protocol.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum {
    SMP_BATCH = 256,    /* SMPs received before outputs are executed */
    QUERY_BATCH = 2048, /* SA queries received before that, unless there are SMPs */
    SOME_QUERIES = 256, /* if there are */
    WATCH_PORTS = 64,   /* default of watch_ports; simulations watch none */
    BUSY_TURNS = 256,   /* iterations of a busy loop between polls of the other descriptors */
};
static const uint64_t handover_timeout = 2 * NS_PER_S;
static const uint64_t file_retry_interval = 5 * NS_PER_S;
static const uint64_t problems_interval = 10 * NS_PER_S; /* of comparisons, if nothing happens */
static const uint64_t problems_delay = NS_PER_S;         /* between two of them, at least */
static const uint64_t problems_patience = 5 * NS_PER_S;  /* a change may delay one */
static const uint64_t link_poll_interval = 100 * NS_PER_MS;
enum { PORT_RETRY_MS = 200 };

/* Descriptors that the loop polls beside the port; -1: none. */
enum { WATCH_SIGNALS, WATCH_ROUTER, WATCH_WRITER, WATCH_SAVER, WATCH_CONTROL, WATCH_COUNT };

struct daemon {
    const struct daemon_options *options;
    struct config *config;
    VEC(struct config *) retired; /* a running job may still refer to them */
    struct device_port *port;
    struct sm *sm;
    struct sa *sa;
    struct vswitch *machines;
    struct counter_reader *counters;
    struct workers workers; /* for engines */
    struct worker *router, *writer;
    struct event_log log;
    struct manager_control *control; /* NULL: none */
    struct store store;
    struct registrations registrations;
    struct pollfd watched[WATCH_COUNT];
    bool lids_due, dump_due, ready;
    bool files_failed;       /* the last time; it was logged */
    uint64_t files_again_at; /* the time of the next attempt, after a failure */
    struct err files_error;  /* why files could not be written */
    bool refused;            /* the last job computed no routes */
    struct err refusal;      /* the reason of that */
    struct problem_log problems;
    uint64_t problems_at, problems_last; /* the next and the last comparison */
    bool ending;
    int status; /* exit status */
    uint64_t stop_at;
    uint64_t watchdog_interval, watchdog_at; /* of systemd; 0: none */
    uint64_t send_failures;
    uint64_t fabric_generation; /* last passed to the manager */
    struct sm_counts counted;
};

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void end_daemon(struct daemon *daemon, int status)
{
    daemon->ending = true;
    daemon->status = status;
}

/* After an event: problems may have appeared or ended. */
static void expect_problems(struct daemon *daemon, uint64_t now)
{
    uint64_t at = daemon->problems_last + problems_delay;
    at = at < now ? now : at;
    daemon->problems_at = at < daemon->problems_at ? at : daemon->problems_at;
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

static void finish_jobs(struct daemon *daemon)
{
    for (struct route_task *task; (task = worker_take(daemon->router)) != NULL;) {
        daemon->refused = task->status < 0;
        daemon->refusal = task->err;
        sm_computed(daemon->sm, clock_ns(), task->job, task->status < 0 ? &task->err : NULL);
        mem_free(task);
    }
}

/* ---- files ---- */

/* Files that could not be written become due again. */
static void finish_file_tasks(struct daemon *daemon, uint64_t now)
{
    char text[1024];
    for (struct file_task *task; (task = worker_take(daemon->writer)) != NULL;) {
        bool failed = task->dump_failed || task->lids_failed || task->registrations_failed;
        if (failed && daemon->ending)
            event_log_write(&daemon->log, "error", "%s", err_text(&task->err, text, sizeof text));
        if (failed != daemon->files_failed)
            expect_problems(daemon, now);
        daemon->files_failed = failed;
        daemon->files_error = task->err;
        daemon->files_again_at = failed ? now + file_retry_interval : 0;
        daemon->dump_due |= task->dump_failed;
        daemon->lids_due |= task->lids_failed;
        daemon->registrations.lost |= task->registrations_failed;
        file_task_free(task);
    }
}

/* Dumps and LIDs are written when the subnet is settled; LIDs also when the daemon ends. */
static bool dump_is_due(const struct daemon *daemon)
{
    return daemon->dump_due && daemon->config->dump && sm_is_settled(daemon->sm);
}

static bool lids_are_due(const struct daemon *daemon)
{
    return daemon->lids_due && daemon->config->state &&
           (daemon->ending || sm_is_settled(daemon->sm));
}

static uint64_t files_deadline(const struct daemon *daemon)
{
    uint64_t due = registrations_deadline(&daemon->registrations, daemon->sa);
    if (worker_is_busy(daemon->writer))
        return TIME_NEVER;
    if (dump_is_due(daemon) || lids_are_due(daemon))
        due = 0;
    return due < daemon->files_again_at ? daemon->files_again_at : due;
}

/* One task at a time: later changes are written by the next one. */
static void submit_file_task(struct daemon *daemon, uint64_t now)
{
    if (worker_is_busy(daemon->writer) || (!daemon->ending && files_deadline(daemon) > now))
        return;
    bool dump = dump_is_due(daemon), lids = lids_are_due(daemon);
    struct file_task *task = mem_zalloc(1, sizeof *task);
    if (dump) {
        task->snapshot = dump_snapshot_take(sm_subnet(daemon->sm));
        task->dump_directory = mem_strdup(daemon->config->dump);
    }
    if (lids)
        store_print(&daemon->store, &task->lids);
    if (lids && daemon->config->sm.m_key_per_port) {
        port_keys_print(daemon->sm, &task->port_keys);
        neighbours_print(daemon->sm, &task->neighbours);
    }
    if (daemon->ending || registrations_deadline(&daemon->registrations, daemon->sa) <= now)
        registrations_take(&daemon->registrations, now, daemon->sa, &task->registrations);
    if (daemon->config->state)
        task->state_directory = mem_strdup(daemon->config->state);
    daemon->dump_due &= !dump;
    daemon->lids_due &= !lids;
    worker_give(daemon->writer, file_task_run, task);
}

/* ---- events ---- */

static void log_up(struct daemon *daemon, const struct sm_event *event)
{
    struct sm_counts now, *before = &daemon->counted;
    sm_counts(daemon->sm, &now);
    const struct event_figure figures[] = {
        {"NodeInfo", now.node_info - before->node_info},
        {"PortInfo", now.port_info_get - before->port_info_get},
        {"PortInfo set", now.port_info_set - before->port_info_set},
        {"SwitchInfo", now.switch_info - before->switch_info},
        {"tables", now.tables - before->tables},
        {"other", now.other - before->other},
        {"time-outs", now.timeouts - before->timeouts},
        {"given up", now.gave_up - before->gave_up},
    };
    event_log_write_figures(&daemon->log, "up", event->text, figures,
                            sizeof figures / sizeof *figures);
    daemon->counted = now;
    daemon->dump_due = true;
}

static void log_event(struct daemon *daemon, uint64_t now, const struct sm_event *event)
{
    static const char *const words[] = {
        [SM_EVENT_STATE] = "state",   [SM_EVENT_NODE_IN] = "in",      [SM_EVENT_NODE_OUT] = "out",
        [SM_EVENT_CHANGE] = "change", [SM_EVENT_UP] = "up",           [SM_EVENT_TRAP] = "trap",
        [SM_EVENT_LINK] = "link",     [SM_EVENT_WARNING] = "warning", [SM_EVENT_ERROR] = "error",
    };
    expect_problems(daemon, now);
    if (event->listed)
        return; /* watch_problems() logs it */
    if (daemon->control)
        manager_control_note(daemon->control, words[event->kind], event->text);
    bool serving = event->kind == SM_EVENT_UP || sm_state(daemon->sm) == SM_STANDBY;
    if (sm_state(daemon->sm) == SM_STANDBY)
        sm_counts(daemon->sm, &daemon->counted); /* the SMPs of its copy do not count */
    daemon->lids_due |= event->kind == SM_EVENT_UP && daemon->config->sm.m_key_per_port;
    if (event->kind == SM_EVENT_UP)
        log_up(daemon, event);
    else
        event_log_write(&daemon->log, words[event->kind], "%s", event->text);
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

/* ---- problems ---- */

/* A directory or file of the daemon on a full or read-only file system: writing will fail. */
static bool is_full(const char *path, const char **why)
{
    enum { LEAST_BYTES = 64 * 1024 };
    struct statvfs status;
    if (!path || statvfs(path, &status) < 0)
        return false;
    *why = status.f_flag & ST_RDONLY ? "the file system is read-only" : "the file system is full";
    return status.f_flag & ST_RDONLY || (uint64_t)status.f_bavail * status.f_frsize < LEAST_BYTES;
}

static void list_files(struct daemon *daemon, struct problems *problems)
{
    const char *paths[] = {daemon->config->state, daemon->config->dump, daemon->log.options.path};
    static const char *const meanings[] = {
        "LIDs and registrations are not saved: after a restart hosts may get other LIDs",
        "dumps are not written", "the log is incomplete"};
    for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++) {
        const char *why = daemon->files_error.message;
        bool failed = daemon->files_failed && paths[i] &&
                      strncmp(paths[i], daemon->files_error.file, strlen(paths[i])) == 0;
        if (failed || is_full(paths[i], &why))
            problems_add(problems, PROBLEM_FILES, paths[i], "%s (%.300s); weft keeps trying",
                         meanings[i], why);
    }
}

/* The present problems that the manager and the daemon know. */
static void list_problems(struct daemon *daemon, uint64_t now, struct problems *problems)
{
    sm_problems(daemon->sm, now, problems);
    if (sm_state(daemon->sm) == SM_MASTER && daemon->config->has_plan)
        cabling_list_problems(&daemon->config->plan, sm_subnet(daemon->sm), problems);
    if (sm_state(daemon->sm) == SM_MASTER && daemon->refused)
        problems_add(problems, PROBLEM_NO_ROUTES, "", "%.200s", daemon->refusal.message);
    list_files(daemon, problems);
}

static void list_problems_for_client(void *context, uint64_t now, struct problems *problems)
{
    struct daemon *daemon = context;
    list_problems(daemon, now, problems);
    problem_log_set_times(&daemon->problems, problems);
}

static void write_problem(void *context, const char *event, const char *text)
{
    struct daemon *daemon = context;
    event_log_write_figures(&daemon->log, event, text, NULL, 0);
    if (daemon->control)
        manager_control_note(daemon->control, event, text);
}

/* A standby does not see the other problems. */
static bool is_over_for_standby(enum problem_kind kind)
{
    return kind == PROBLEM_FILES;
}

/* During a change the list would be incomplete. */
static uint64_t problems_deadline(const struct daemon *daemon)
{
    enum sm_state state = sm_state(daemon->sm);
    if (state != SM_MASTER && state != SM_STANDBY)
        return TIME_NEVER;
    bool wait = state == SM_MASTER && !sm_is_settled(daemon->sm);
    return daemon->problems_at == TIME_NEVER ? TIME_NEVER
                                             : daemon->problems_at + (wait ? problems_patience : 0);
}

/* Logs problems that appeared or ended. */
static void watch_problems(struct daemon *daemon, uint64_t now)
{
    struct problems problems = {0};
    if (problems_deadline(daemon) > now)
        return;
    list_problems(daemon, now, &problems);
    problem_log_update(&daemon->problems, &problems,
                       sm_state(daemon->sm) == SM_MASTER ? NULL : is_over_for_standby,
                       write_problem, daemon);
    daemon->problems_last = now;
    daemon->problems_at = now + problems_interval;
}

/* ---- subnet administration ---- */

static void update_sa_view(struct daemon *daemon, uint64_t now)
{
    administration_update_view(daemon->sa, now, daemon->sm, daemon->config->sm.priority);
}

/* Runs the subnet administration for one iteration of the loop. */
static void run_administration(struct daemon *daemon, uint64_t now)
{
    struct sa_message message;
    update_sa_view(daemon, now);
    registrations_sync(&daemon->registrations, now, daemon->sm, daemon->sa);
    registrations_commit(&daemon->registrations, now, daemon->sa); /* a save may be finished */
    if (sa_deadline(daemon->sa) > now)
        return;
    sa_expire(daemon->sa, now);
    do { /* registrations are answered after they are saved */
        while (sa_next_output(daemon->sa, now, &message)) {
            int status = device_port_answer(daemon->port, &message);
            if (status < 0 && daemon->send_failures++ == 0)
                event_log_write(&daemon->log, "warning", "cannot answer: %s", strerror(-status));
        }
    } while (registrations_commit(&daemon->registrations, now, daemon->sa));
    if (sa_fabric_generation(daemon->sa) != daemon->fabric_generation) {
        daemon->fabric_generation = sa_fabric_generation(daemon->sa);
        sm_registrations_changed(daemon->sm, now);
    }
}

/* ---- configuration ---- */

/* Errors of a configuration, except for the last one, which the caller reports. */
typedef void report_error(struct daemon *daemon, const struct err *err);

static void print_config_error(struct daemon *daemon, const struct err *err)
{
    if (daemon->options->print_error)
        daemon->options->print_error(err);
}

static void log_config_error(struct daemon *daemon, const struct err *err)
{
    char text[1024];
    event_log_write(&daemon->log, "error", "%s", err_text(err, text, sizeof text));
}

static int make_config(struct daemon *daemon, report_error *report, struct config **result,
                       struct err *err)
{
    const struct daemon_options *options = daemon->options;
    struct config *config = mem_zalloc(1, sizeof *config);
    const char *directory = getenv("STATE_DIRECTORY"); /* systemd's */
    config_init(config);
    config->sm.watch_ports = WATCH_PORTS;
    int status = directory && *directory ? config_set(config, "state", directory, err) : 0;
    if (status == 0 && options->config)
        status = config_read(config, options->config, err);
    for (size_t i = 0; i < options->setting_count && status == 0; i++)
        status = config_set(config, options->settings[i].key, options->settings[i].value, err);
    if (status == 0)
        status = config_finish(config, err);
    config->sm.link_poll_ns = options->once ? TIME_NEVER : link_poll_interval;
    for (size_t i = 0; i + 1 < config->errors.count; i++)
        report(daemon, &config->errors.items[i]);
    if (status < 0) {
        config_release(config);
        mem_free(config);
        return status;
    }
    *result = config;
    return 0;
}

static void log_difference(void *context, const char *key, const char *from, const char *to,
                           bool live)
{
    struct daemon *daemon = context;
    if (live)
        event_log_write(&daemon->log, "config", "%s %s (was %s)", key, to, from);
    else
        event_log_write(&daemon->log, "warning",
                        "%s stays %s: it takes a restart to change it to %s", key, from, to);
}

/* Logs the parts of the QoS policy that are ignored. */
static void log_qos_warnings(struct daemon *daemon)
{
    for (size_t i = 0; i < daemon->config->qos.warnings.count; i++)
        event_log_write(&daemon->log, "warning", "%s", daemon->config->qos.warnings.items[i].text);
}

/* Logs lines of the configuration that are not in force as they are written, once each. */
static void log_config_lines(struct daemon *daemon)
{
    unsigned defaults = 0;
    for (size_t i = 0; i < daemon->config->lines.count; i++) {
        const struct config_line *line = &daemon->config->lines.items[i];
        bool none = line->effect == CONFIG_NO_EFFECT;
        defaults += none && line->standard;
        if ((none && !line->standard) || line->effect == CONFIG_PARTLY)
            event_log_write(&daemon->log, "config", "%s:%u: %s %s%s: %s", line->file, line->line,
                            line->key, line->value, none ? " has no effect" : "", line->text);
    }
    if (defaults)
        event_log_write(&daemon->log, "config",
                        "%u keys have OpenSM's defaults and no effect here: weft sm --check-config "
                        "lists them",
                        defaults);
}

static void free_retired(struct daemon *daemon)
{
    for (size_t i = 0; i < daemon->retired.count; i++) {
        config_release(daemon->retired.items[i]);
        mem_free(daemon->retired.items[i]);
    }
    daemon->retired.count = 0;
}

/* OpenSM's configuration may name a log file where weft may not write. */
static int open_log(struct daemon *daemon, const struct config *config, struct err *err)
{
    struct log_options options = config->log;
    char text[1024];
    int status = event_log_open(&daemon->log, &options, err);
    if (status == 0 || !config->log_optional)
        return status;
    options.path = NULL;
    status = event_log_open(&daemon->log, &options, NULL);
    event_log_write(&daemon->log, "warning", "%s; the log is standard output",
                    err_text(err, text, sizeof text));
    return status;
}

static void reload_config(struct daemon *daemon, uint64_t now)
{
    struct err err = {0};
    struct config *fresh = NULL;
    char text[1024];
    if (daemon->ready) /* READY=1 ends a reload, and must not come before the first one */
        readiness_notify("RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_ns() / NS_PER_US);
    int status = make_config(daemon, log_config_error, &fresh, &err);
    if (status == 0) {
        config_compare(daemon->config, fresh, log_difference, daemon);
        config_keep_fixed(daemon->config, fresh);
        status = config_finish(fresh, &err);
        vec_push(&daemon->retired, fresh); /* swapped below if it is used */
    }
    if (status == 0)
        status = open_log(daemon, fresh, &err);
    if (status < 0) {
        event_log_write(&daemon->log, "error", "the configuration stays as it was: %s",
                        err_text(&err, text, sizeof text));
    } else {
        daemon->retired.items[daemon->retired.count - 1] = daemon->config;
        daemon->config = fresh;
        fresh->sm.engine_options.workers = &daemon->workers;
        sm_configure(daemon->sm, now, &fresh->sm);
        counter_reader_configure(daemon->counters, &fresh->counters);
        sa_set_partitions(daemon->sa, fresh->sm.partitions);
        sa_set_subnet_timeout(daemon->sa, fresh->sm.subnet_timeout);
        sa_set_limits(daemon->sa, &fresh->sa);
        daemon->dump_due |= fresh->dump != NULL;
        event_log_write(&daemon->log, "config", "read again");
        log_config_lines(daemon);
        log_qos_warnings(daemon);
    }
    if (daemon->ready)
        readiness_notify("READY=1");
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
            reload_config(daemon, now);
        else if (info.ssi_signo == SIGUSR1)
            sm_rediscover(daemon->sm, now);
        else
            begin_stop(daemon, now);
    }
}

static int open_signal_fd(void)
{
    sigset_t signals;
    signal(SIGPIPE, SIG_IGN); /* a log may be a pipe */
    signal(SIGXFSZ, SIG_IGN); /* beyond the file size limit write(2) fails, as on a full disk */
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* ---- the core ---- */

/* If each port has its own M_Key, a manager must know which node is where to reach it. */
static void restore_neighbours(struct daemon *daemon)
{
    struct text content = {0};
    if (daemon->config->sm.m_key_per_port && daemon->config->state &&
        store_read(daemon->config->state, NEIGHBOURS_FILE, &content) == 0 && content.data)
        neighbours_read(daemon->sm, content.data);
    text_release(&content);
}

static void create_core(struct daemon *daemon)
{
    struct config *config = daemon->config;
    struct sa_config administration = config->sa;
    assert(daemon->port && !daemon->sm && config->sm.engine);
    administration.key = config->sa_key;
    administration.sm_key = config->sm.sm_key;
    administration.check_sgid_spoofing = config->check_sgid_spoofing;
    administration.enhanced_trust = config->enhanced_trust;
    config->sm.salt = administration.salt = key_random();
    administration.prefix = config->sm.subnet_prefix;
    administration.subnet_timeout = config->sm.subnet_timeout;
    administration.partitions = config->sm.partitions;
    administration.instance = registrations_new_instance();
    daemon->stop_at = daemon->problems_at = TIME_NEVER;
    daemon->sm = sm_new(&config->sm, device_port_guid(daemon->port));
    daemon->machines = vswitch_new(daemon->sm);
    daemon->counters = counter_reader_new(&config->counters);
    daemon->sa = sa_new(&administration, device_port_guid(daemon->port));
    sm_set_groups(daemon->sm, sa_groups(daemon->sa));
    sm_set_alias_guids(daemon->sm, sa_alias_guids(daemon->sa));
    for (size_t i = 0; i < daemon->store.facts.count; i++)
        sm_restore_lid(daemon->sm, &daemon->store.facts.items[i]);
    restore_neighbours(daemon);
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
        end_daemon(daemon, daemon->refused ? 1 : whole ? 0 : DAEMON_INCOMPLETE);
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

static void wait_for_input(struct daemon *daemon, uint64_t now)
{
    uint64_t until = sm_deadline(daemon->sm);
    if (vswitch_deadline(daemon->machines) < until)
        until = vswitch_deadline(daemon->machines);
    if (link_errors_deadline(daemon->counters, daemon->sm) < until)
        until = link_errors_deadline(daemon->counters, daemon->sm);
    if (sa_deadline(daemon->sa) < until)
        until = sa_deadline(daemon->sa);
    if (files_deadline(daemon) < until)
        until = files_deadline(daemon);
    if (problems_deadline(daemon) < until)
        until = problems_deadline(daemon);
    if (daemon->stop_at < until)
        until = daemon->stop_at;
    if (manager_control_deadline(daemon->control) < until)
        until = manager_control_deadline(daemon->control);
    if (daemon->watchdog_interval && daemon->watchdog_at < until)
        until = daemon->watchdog_at;
    fflush(daemon->log.file);
    device_port_wait(daemon->port, daemon->watched, WATCH_COUNT,
                     until == TIME_NEVER ? TIME_NEVER
                     : until > now       ? until - now
                                         : 0);
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
            if (sm_receive(daemon->sm, now, &message)) {
                update_sa_view(daemon, now);
                sa_notice(daemon->sa, now, message.mad + SMP_DATA_OFFSET);
            }
            stale = true;
            ours++;
            break;
        case MAD_FOR_COUNTERS:
            counter_reader_receive(daemon->counters, now, sm_subnet(daemon->sm), message.mad);
            ours++;
            break;
        case MAD_FOR_ADMINISTRATION:
            if (stale)
                update_sa_view(daemon, now);
            stale = false;
            sa_receive(daemon->sa, now, &query);
            queries++;
            break;
        }
    return ours + queries;
}

/* Only the main loop notifies the watchdog: if the loop hangs, systemd restarts the manager. */
static void feed_watchdog(struct daemon *daemon, uint64_t now)
{
    if (!daemon->watchdog_interval || now < daemon->watchdog_at)
        return;
    readiness_notify("WATCHDOG=1");
    daemon->watchdog_at = now + daemon->watchdog_interval;
}

static void serve_control(struct daemon *daemon, uint64_t now)
{
    const struct manager_access access = {
        .sm = daemon->sm,
        .machines = daemon->machines,
        .engine = daemon->config->sm.engine->name,
        .place = device_port_name(daemon->port),
        .can_dump = daemon->config->dump != NULL,
        .list_problems = list_problems_for_client,
        .daemon = daemon,
    };
    daemon->dump_due |= manager_control_serve(daemon->control, now, &access);
}

static void run_loop(struct daemon *daemon)
{
    daemon->watchdog_interval = readiness_watchdog_interval_ns();
    sm_start(daemon->sm, clock_ns());
    for (unsigned turn = 0; !daemon->ending; turn++) {
        uint64_t now = clock_ns();
        unsigned received = receive_mads(daemon, now);
        if (received && turn % BUSY_TURNS == 0) {
            fflush(daemon->log.file);
            poll(daemon->watched, WATCH_COUNT, 0);
        }
        if (daemon->watched[WATCH_SIGNALS].revents) {
            daemon->watched[WATCH_SIGNALS].revents = 0;
            take_signals(daemon, now);
        }
        if (daemon->watched[WATCH_CONTROL].revents ||
            manager_control_deadline(daemon->control) <= now) {
            daemon->watched[WATCH_CONTROL].revents = 0;
            serve_control(daemon, now);
        }
        finish_jobs(daemon);
        finish_file_tasks(daemon, now);
        if (sm_deadline(daemon->sm) <= now)
            sm_expire(daemon->sm, now);
        vswitch_advance(daemon->machines, now);
        link_errors_run(daemon->counters, now, daemon->sm, daemon->port);
        execute_outputs(daemon, now);
        run_administration(daemon, now);
        feed_watchdog(daemon, now);
        if (received && turn % BUSY_TURNS)
            continue;
        submit_file_task(daemon, now);
        watch_problems(daemon, now);
        check_end(daemon, now);
        if (daemon->retired.count && !worker_is_busy(daemon->router))
            free_retired(daemon);
        if (!daemon->ending && !received)
            wait_for_input(daemon, now);
    }
    readiness_notify("STOPPING=1");
}

/* ---- start and end ---- */

static struct event_log *failure_log; /* mem_on_failure() passes no context */

/* All acknowledged registrations are on disk (registrations.h), so the process can end at
 * any time; the service manager starts it again. */
static void end_without_memory(void)
{
    event_log_write_last(failure_log, "out of memory; the manager ends, nothing on disk is lost");
    _exit(2);
}

/* The manager also runs without the default socket, which another manager may be using. */
static int open_control(struct daemon *daemon, struct err *err)
{
    const char *path = daemon->config->control;
    const char *service = getenv("RUNTIME_DIRECTORY"); /* systemd's */
    char standard[PATH_MAX];
    struct err reason;
    if (!path || (daemon->options->once && strcmp(path, CONFIG_CONTROL_AUTO) == 0))
        return 0;
    if (strcmp(path, CONFIG_CONTROL_AUTO) != 0)
        return manager_control_open(&daemon->control, path, err);
    protocol_manager_path(standard, sizeof standard);
    if (service && *service && !getenv(WEFT_SOCKET_VARIABLE) && !getenv(WEFT_MANAGER_VARIABLE))
        snprintf(standard, sizeof standard, "%s/sm.sock", service);
    bool made = getenv(WEFT_SOCKET_VARIABLE) || listener_make_directory(standard, &reason) == 0;
    if (!made || manager_control_open(&daemon->control, standard, &reason) < 0)
        event_log_write(&daemon->log, "control", "no control socket: %s", reason.message);
    return 0;
}

/* Opens the port. If there are several and none has a link, waits for the first one: 0 without a
 * port if a signal ends the daemon before. */
static int open_port(struct daemon *daemon, struct err *err)
{
    bool logged = false;
    char text[1024];
    for (;;) {
        int status =
            device_port_open(&daemon->port, &daemon->config->port, !daemon->options->once, err);
        if (status != -ENETDOWN)
            return status;
        if (!logged) {
            err_text(err, text, sizeof text);
            event_log_write(&daemon->log, "warning", "%s; the manager waits for one", text);
            readiness_notify("STATUS=%s; the manager waits for one", text);
        }
        logged = true;
        fflush(daemon->log.file);
        struct pollfd inputs[] = {
            {.fd = daemon->watched[WATCH_SIGNALS].fd, .events = POLLIN},
            {.fd = daemon->control ? manager_control_fd(daemon->control) : -1, .events = POLLIN}};
        struct signalfd_siginfo info;
        poll(inputs, 2, PORT_RETRY_MS);
        while (read(inputs[0].fd, &info, sizeof info) == sizeof info)
            if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
                return 0;
        if (daemon->control)
            manager_control_serve(daemon->control, clock_ns(), &(struct manager_access){0});
    }
}

/* A state directory that cannot be written or read is logged and does not prevent the start: the
 * subnet needs a manager. */
static int open_store(struct daemon *daemon, const char *directory, struct err *err)
{
    struct store *store = &daemon->store;
    char text[1024];
    int status = store_open(store, directory, err);
    if (status == -EBUSY)
        return status;
    if (status < 0)
        event_log_write(&daemon->log, "error",
                        "%s; a restart may change LIDs and lose registrations", err->message);
    if (store_read_lids(store, err) == 0)
        return 0;
    err_text(err, text, sizeof text);
    status = store_set_aside(directory, STORE_LIDS_FILE);
    event_log_write(&daemon->log, "warning", "%s; the file %s; %zu of its lines are used", text,
                    status < 0 ? "cannot be set aside" : "is set aside", store->facts.count);
    daemon->lids_due = store->facts.count > 0;
    return 0;
}

static int open_all(struct daemon *daemon, struct err *err)
{
    struct config *config = daemon->config;
    daemon->watched[WATCH_SIGNALS].fd = open_signal_fd();
    int status = open_log(daemon, config, err);
    if (status == 0) {
        failure_log = &daemon->log;
        mem_on_failure(end_without_memory);
    }
    if (status == 0 && config->state)
        status = open_store(daemon, config->state, err);
    if (status == 0)
        status = open_control(daemon, err);
    if (status == 0)
        status = open_port(daemon, err);
    if (status < 0 || !daemon->port)
        return status;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    daemon->workers = daemon->options->make_workers(config->threads  ? config->threads
                                                    : processors > 1 ? (unsigned)processors
                                                                     : 1);
    daemon->router = worker_new();
    daemon->writer = worker_new();
    daemon->watched[WATCH_ROUTER].fd = worker_fd(daemon->router);
    daemon->watched[WATCH_WRITER].fd = worker_fd(daemon->writer);
    daemon->watched[WATCH_CONTROL].fd = daemon->control ? manager_control_fd(daemon->control) : -1;
    for (int i = 0; i < WATCH_COUNT; i++)
        daemon->watched[i].events = POLLIN;
    config->sm.engine_options.workers = &daemon->workers;
    create_core(daemon);
    daemon->registrations = (struct registrations){
        .directory = config->state ? mem_strdup(config->state) : NULL,
        .log = &daemon->log,
        .silent = daemon->options->once,
        .saver = config->state ? worker_new() : NULL,
    };
    daemon->watched[WATCH_SAVER] = (struct pollfd){
        daemon->registrations.saver ? worker_fd(daemon->registrations.saver) : -1, POLLIN, 0};
    registrations_open(&daemon->registrations, daemon->sa, clock_ns());
    return 0;
}

static void close_all(struct daemon *daemon)
{
    if (daemon->router) {
        /* The result of a running job is not used, but the job has to end. */
        while (worker_is_busy(daemon->router)) {
            poll(&daemon->watched[WATCH_ROUTER], 1, -1);
            finish_jobs(daemon);
        }
        for (unsigned round = 0; round < 2; round++) { /* a running task first, then the last one */
            while (worker_is_busy(daemon->writer)) {
                poll(&daemon->watched[WATCH_WRITER], 1, -1);
                finish_file_tasks(daemon, clock_ns());
            }
            if (round == 0)
                submit_file_task(daemon, clock_ns());
        }
    }
    worker_free(daemon->router);
    worker_free(daemon->writer);
    sa_free(daemon->sa);
    vswitch_free(daemon->machines);
    counter_reader_free(daemon->counters);
    sm_free(daemon->sm);
    manager_control_close(daemon->control);
    device_port_close(daemon->port);
    store_close(&daemon->store);
    registrations_close(&daemon->registrations);
    problem_log_release(&daemon->problems);
    mem_on_failure(NULL);
    event_log_close(&daemon->log);
    close(daemon->watched[WATCH_SIGNALS].fd);
    free_retired(daemon);
    vec_release(&daemon->retired);
    config_release(daemon->config);
    mem_free(daemon->config);
}

int daemon_run(const struct daemon_options *options, struct err *err)
{
    struct daemon daemon = {.options = options, .store.lock = -1};
    int status = make_config(&daemon, print_config_error, &daemon.config, err);
    if (status < 0)
        return status;
    status = open_all(&daemon, err);
    if (status == 0 && daemon.port) {
        event_log_write(&daemon.log, "start", "engine %s at %s", daemon.config->sm.engine->name,
                        device_port_name(daemon.port));
        log_config_lines(&daemon);
        log_qos_warnings(&daemon);
        run_loop(&daemon);
        status = daemon.status;
    }
    close_all(&daemon);
    return status == 0 && options->once && daemon.files_failed ? 1 : status;
}
