/* The manager's loop on libibumad.
 *
 * One thread owns the core: MADs, signals and the time go in, and what the core wants done is
 * pulled out. It never waits for anything but new input: routes are computed by one worker thread
 * (with helpers of its own if there are processors for them), files are written by another, and
 * both report through descriptors that the loop watches. While MADs keep coming it does not sleep
 * or ask the kernel for events: receiving is tried first, and only when nothing is there does it
 * wait.
 *
 *   SIGTERM, SIGINT  hand over to a standby if there is one, then end; a second one ends at once
 *   SIGHUP           read the configuration again, open the log again
 *   SIGUSR1          look at the whole subnet again */
#include "host/daemon/daemon.h"

#include "base/time.h"
#include "host/daemon/device_port.h"
#include "host/daemon/dumps.h"
#include "host/daemon/event_log.h"
#include "host/daemon/file_task.h"
#include "host/daemon/manager_control.h"
#include "host/daemon/readiness.h"
#include "host/daemon/registrations.h"
#include "host/daemon/store.h"
#include "host/daemon/worker.h"
#include "host/manager/administration.h"
#include "host/manager/config.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum {
    BATCH = 256,       /* MADs taken before the core's outputs are looked at … */
    FLOOD = 2048,      /* … and queries, of which more may come than can be answered */
    DMODK_BLIND = 256, /* turns of a busy loop between looks at the other descriptors */
};
static const uint64_t stop_patience = 2 * NS_PER_S; /* for a handover */
static const uint64_t file_pause = 5 * NS_PER_S;    /* before a file that failed is tried again */

/* What the loop watches beside the port; poll(2) passes over a descriptor of -1. */
enum { WATCH_SIGNALS, WATCH_ROUTER, WATCH_WRITER, WATCH_CONTROL, WATCH_COUNT };

struct daemon {
    const struct daemon_options *options;
    struct config *config;
    VEC(struct config *) retired; /* a job under way may still point into them */
    struct device_port *port;
    struct sm *sm;
    struct sa *sa;
    struct vswitch *machines;
    struct workers workers; /* lent to engines */
    struct worker *router, *writer;
    struct event_log log;
    struct manager_control *control; /* NULL: none */
    struct store store;
    struct registrations registrations;
    struct pollfd watched[WATCH_COUNT];
    bool facts_due, dump_due, ready;
    bool files_failed;       /* the last time, which was told */
    uint64_t files_again_at; /* no sooner if they did */
    bool refused;            /* the last job gave no routes */
    bool ending;
    int status; /* to end with */
    uint64_t stop_at;
    uint64_t send_failures;
    uint64_t groups_generation; /* that the manager was last told of */
    struct sm_counts counted;
};

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void end(struct daemon *daemon, int status)
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

static void give_job(struct daemon *daemon, struct sm_job *job)
{
    struct route_task *task = mem_zalloc(1, sizeof *task);
    task->job = job;
    worker_give(daemon->router, compute_routes, task);
}

static void take_routes(struct daemon *daemon)
{
    for (struct route_task *task; (task = worker_take(daemon->router)) != NULL;) {
        daemon->refused = task->status < 0;
        sm_computed(daemon->sm, clock_ns(), task->job, task->status < 0 ? &task->err : NULL);
        mem_free(task);
    }
}

/* ---- files ---- */

/* What failed is due again. Trouble is told once, and so is its end. */
static void take_files(struct daemon *daemon, uint64_t now)
{
    char text[1024];
    for (struct file_task *task; (task = worker_take(daemon->writer)) != NULL;) {
        bool failed = task->dump_failed || task->facts_failed || task->registrations_failed;
        if (failed && (!daemon->files_failed || daemon->ending))
            event_log_write(&daemon->log, "error", "%s%s", err_text(&task->err, text, sizeof text),
                            daemon->ending ? "" : "; it is tried again");
        else if (!failed && daemon->files_failed)
            event_log_write(&daemon->log, "files", "written as they should be, at last");
        daemon->files_failed = failed;
        daemon->files_again_at = failed ? now + file_pause : 0;
        daemon->dump_due |= task->dump_failed;
        daemon->facts_due |= task->facts_failed;
        daemon->registrations.lost |= task->registrations_failed;
        file_task_free(task);
    }
}

/* Dumps and addresses wait until a change is through; addresses not beyond the end. */
static bool wants_dump(const struct daemon *daemon)
{
    return daemon->dump_due && daemon->config->dump && sm_is_settled(daemon->sm);
}

static bool wants_facts(const struct daemon *daemon)
{
    return daemon->facts_due && daemon->config->state &&
           (daemon->ending || sm_is_settled(daemon->sm));
}

static uint64_t files_deadline(const struct daemon *daemon)
{
    uint64_t due = registrations_deadline(&daemon->registrations, daemon->sa);
    if (worker_is_busy(daemon->writer))
        return TIME_NEVER;
    if (wants_dump(daemon) || wants_facts(daemon))
        due = 0;
    return due < daemon->files_again_at ? daemon->files_again_at : due;
}

/* One task at a time: what changes meanwhile goes into the next. */
static void give_files(struct daemon *daemon, uint64_t now)
{
    if (worker_is_busy(daemon->writer) || (!daemon->ending && files_deadline(daemon) > now))
        return;
    bool dump = wants_dump(daemon), facts = wants_facts(daemon);
    struct file_task *task = mem_zalloc(1, sizeof *task);
    if (dump) {
        task->picture = dump_picture_take(sm_subnet(daemon->sm));
        task->dump_directory = mem_strdup(daemon->config->dump);
    }
    if (facts)
        store_print(&daemon->store, &task->facts);
    if (daemon->ending || registrations_deadline(&daemon->registrations, daemon->sa) <= now)
        registrations_take(&daemon->registrations, now, daemon->sa, &task->registrations);
    if (daemon->config->state)
        task->state_directory = mem_strdup(daemon->config->state);
    daemon->dump_due &= !dump;
    daemon->facts_due &= !facts;
    worker_give(daemon->writer, file_task_run, task);
}

/* ---- events ---- */

static void tell_up(struct daemon *daemon, const struct sm_event *event)
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

static void tell(struct daemon *daemon, const struct sm_event *event)
{
    static const char *const words[] = {
        [SM_EVENT_STATE] = "state",     [SM_EVENT_NODE_IN] = "in",  [SM_EVENT_NODE_OUT] = "out",
        [SM_EVENT_CHANGE] = "change",   [SM_EVENT_UP] = "up",       [SM_EVENT_TRAP] = "trap",
        [SM_EVENT_WARNING] = "warning", [SM_EVENT_ERROR] = "error",
    };
    if (daemon->control)
        manager_control_note(daemon->control, words[event->kind], event->text);
    bool serving = event->kind == SM_EVENT_UP || sm_state(daemon->sm) == SM_STANDBY;
    if (sm_state(daemon->sm) == SM_STANDBY)
        sm_counts(daemon->sm, &daemon->counted); /* its copy is no part of the next change */
    if (event->kind == SM_EVENT_UP)
        tell_up(daemon, event);
    else
        event_log_write(&daemon->log, words[event->kind], "%s", event->text);
    if (serving && !daemon->ready) {
        daemon->ready = true;
        readiness_tell("READY=1");
    }
    if (event->kind == SM_EVENT_UP || event->kind == SM_EVENT_STATE)
        readiness_tell("STATUS=%s", event->text);
}

static void send_message(struct daemon *daemon, const struct sm_message *message)
{
    int status = device_port_send(daemon->port, message);
    if (status < 0 && daemon->send_failures++ == 0)
        event_log_write(&daemon->log, "warning", "cannot send: %s", strerror(-status));
    else if (status == 0)
        daemon->send_failures = 0;
}

static void drain(struct daemon *daemon, uint64_t now)
{
    struct sm_output output;
    while (sm_next_output(daemon->sm, now, &output)) {
        switch (output.kind) {
        case SM_SEND: send_message(daemon, &output.message); break;
        case SM_COMPUTE: give_job(daemon, output.job); break;
        case SM_EVENT: tell(daemon, &output.event); break;
        case SM_PERSIST:
            store_add(&daemon->store, &output.fact);
            daemon->facts_due = true;
            break;
        }
    }
}

/* ---- subnet administration ---- */

static void look(struct daemon *daemon, uint64_t now)
{
    administration_look(daemon->sa, now, daemon->sm, daemon->config->sm.priority);
}

/* One turn of it: what is left waits until the manager has had its turn. */
static void administer(struct daemon *daemon, uint64_t now)
{
    struct sa_message message;
    look(daemon, now);
    registrations_mind(&daemon->registrations, now, daemon->sm, daemon->sa);
    if (sa_deadline(daemon->sa) > now)
        return;
    sa_expire(daemon->sa, now);
    do { /* those who registered are answered when that is written down */
        while (sa_next_output(daemon->sa, now, &message)) {
            int status = device_port_answer(daemon->port, &message);
            if (status < 0 && daemon->send_failures++ == 0)
                event_log_write(&daemon->log, "warning", "cannot answer: %s", strerror(-status));
        }
    } while (registrations_commit(&daemon->registrations, daemon->sa));
    if (sa_groups(daemon->sa)->generation != daemon->groups_generation) {
        daemon->groups_generation = sa_groups(daemon->sa)->generation;
        sm_groups_changed(daemon->sm, now);
    }
}

/* ---- configuration ---- */

static int make_config(const struct daemon_options *options, struct config **result,
                       struct err *err)
{
    struct config *config = mem_zalloc(1, sizeof *config);
    const char *directory = getenv("STATE_DIRECTORY"); /* systemd's */
    config_init(config);
    int status = directory && *directory ? config_set(config, "state", directory, err) : 0;
    if (status == 0 && options->config)
        status = config_read(config, options->config, err);
    for (size_t i = 0; i < options->setting_count && status == 0; i++)
        status = config_set(config, options->settings[i].key, options->settings[i].value, err);
    if (status == 0)
        status = config_finish(config, err);
    if (status < 0) {
        config_release(config);
        mem_free(config);
        return status;
    }
    *result = config;
    return 0;
}

static void tell_difference(void *context, const char *key, const char *from, const char *to,
                            bool live)
{
    struct daemon *daemon = context;
    if (live)
        event_log_write(&daemon->log, "config", "%s %s (was %s)", key, to, from);
    else
        event_log_write(&daemon->log, "warning", "%s stays %s: it takes a restart to make it %s",
                        key, from, to);
}

/* What stands in a policy and is not heeded. */
static void tell_remarks(struct daemon *daemon)
{
    for (size_t i = 0; i < daemon->config->qos.warnings.count; i++)
        event_log_write(&daemon->log, "warning", "%s", daemon->config->qos.warnings.items[i].text);
}

static void free_retired(struct daemon *daemon)
{
    for (size_t i = 0; i < daemon->retired.count; i++) {
        config_release(daemon->retired.items[i]);
        mem_free(daemon->retired.items[i]);
    }
    daemon->retired.count = 0;
}

static void reload(struct daemon *daemon, uint64_t now)
{
    struct err err = {0};
    struct config *fresh = NULL;
    char text[1024];
    readiness_tell("RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_ns() / NS_PER_US);
    int status = make_config(daemon->options, &fresh, &err);
    if (status == 0) {
        config_compare(daemon->config, fresh, tell_difference, daemon);
        config_keep_fixed(daemon->config, fresh);
        status = config_finish(fresh, &err);
        vec_push(&daemon->retired, fresh); /* swapped below if it is taken */
    }
    if (status == 0)
        status = event_log_open(&daemon->log, fresh->log, fresh->json, &err);
    if (status < 0) {
        event_log_write(&daemon->log, "error", "the configuration stays as it was: %s",
                        err_text(&err, text, sizeof text));
    } else {
        daemon->retired.items[daemon->retired.count - 1] = daemon->config;
        daemon->config = fresh;
        fresh->sm.engine_options.workers = &daemon->workers;
        sm_configure(daemon->sm, now, &fresh->sm);
        sa_set_partitions(daemon->sa, fresh->sm.partitions);
        sa_set_subnet_timeout(daemon->sa, fresh->sm.subnet_timeout);
        daemon->dump_due |= fresh->dump != NULL;
        event_log_write(&daemon->log, "config", "read again");
        tell_remarks(daemon);
    }
    readiness_tell("READY=1");
}

/* ---- signals ---- */

static void stop(struct daemon *daemon, uint64_t now)
{
    if (daemon->stop_at != TIME_NEVER) {
        end(daemon, 0);
        return;
    }
    readiness_tell("STOPPING=1");
    event_log_write(&daemon->log, "stop", "asked to end");
    daemon->stop_at = now + stop_patience;
    sm_stop(daemon->sm, now);
}

static void take_signals(struct daemon *daemon, uint64_t now)
{
    struct signalfd_siginfo info;
    while (read(daemon->watched[WATCH_SIGNALS].fd, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGHUP)
            reload(daemon, now);
        else if (info.ssi_signo == SIGUSR1)
            sm_look_again(daemon->sm, now);
        else
            stop(daemon, now);
    }
}

static int watch_signals(void)
{
    sigset_t signals;
    signal(SIGPIPE, SIG_IGN); /* a log may be a pipe */
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* ---- the core ---- */

static void make_core(struct daemon *daemon)
{
    struct config *config = daemon->config;
    struct sa_config administration;
    sa_config_init(&administration);
    administration.key = config->sm.sm_key;
    administration.prefix = config->sm.subnet_prefix;
    administration.subnet_timeout = config->sm.subnet_timeout;
    administration.partitions = config->sm.partitions;
    administration.instance = registrations_new_instance();
    daemon->stop_at = TIME_NEVER;
    daemon->sm = sm_new(&config->sm, device_port_guid(daemon->port));
    daemon->machines = vswitch_new(daemon->sm);
    daemon->sa = sa_new(&administration, device_port_guid(daemon->port));
    sm_use_groups(daemon->sm, sa_groups(daemon->sa));
    for (size_t i = 0; i < daemon->store.facts.count; i++)
        sm_remember(daemon->sm, &daemon->store.facts.items[i]);
}

/* ---- the loop ---- */

/* Whether there is nothing more to wait for. */
static void consider_ending(struct daemon *daemon, uint64_t now)
{
    enum sm_state state = sm_state(daemon->sm);
    if (daemon->stop_at != TIME_NEVER) {
        if (state == SM_NOT_ACTIVE || now >= daemon->stop_at)
            end(daemon, 0);
        return;
    }
    if (device_port_is_gone(daemon->port)) {
        event_log_write(&daemon->log, "error", "the port is gone");
        end(daemon, 1);
        return;
    }
    if (!daemon->options->once)
        return;
    if (sm_is_settled(daemon->sm)) {
        end(daemon, daemon->refused ? 1 : 0);
    } else if (state == SM_STANDBY) {
        event_log_write(&daemon->log, "error", "another manager is master here");
        end(daemon, 1);
    } else if (sm_deadline(daemon->sm) == TIME_NEVER && !worker_is_busy(daemon->router)) {
        event_log_write(&daemon->log, "error", "the port does not answer");
        end(daemon, 1);
    }
}

static void rest(struct daemon *daemon, uint64_t now)
{
    uint64_t until = sm_deadline(daemon->sm);
    if (vswitch_deadline(daemon->machines) < until)
        until = vswitch_deadline(daemon->machines);
    if (sa_deadline(daemon->sa) < until)
        until = sa_deadline(daemon->sa);
    if (files_deadline(daemon) < until)
        until = files_deadline(daemon);
    if (daemon->stop_at < until)
        until = daemon->stop_at;
    fflush(daemon->log.file);
    device_port_wait(daemon->port, daemon->watched, WATCH_COUNT,
                     until == TIME_NEVER ? TIME_NEVER
                     : until > now       ? until - now
                                         : 0);
}

static unsigned receive(struct daemon *daemon, uint64_t now)
{
    struct sm_message message;
    struct sa_message query;
    unsigned ours = 0, queries = 0;
    /* Queries are taken out of the kernel's queue, where all clients wait in one row, into the
     * administration's, where each has a row of its own. */
    while (ours < BATCH && queries < FLOOD)
        switch (device_port_receive(daemon->port, &message, &query)) {
        case MAD_NONE: return ours + queries;
        case MAD_FOR_MANAGER:
            sm_receive(daemon->sm, now, &message);
            if (wire_get(message.mad, MAD_METHOD) == METHOD_TRAP &&
                wire_get(message.mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_NOTICE) {
                look(daemon, now);
                sa_notice(daemon->sa, now, message.mad + SMP_DATA_OFFSET);
            }
            ours++;
            break;
        case MAD_FOR_ADMINISTRATION:
            sa_receive(daemon->sa, now, &query);
            queries++;
            break;
        }
    return ours + queries;
}

static void serve(struct daemon *daemon)
{
    sm_start(daemon->sm, clock_ns());
    for (unsigned turn = 0; !daemon->ending; turn++) {
        uint64_t now = clock_ns();
        unsigned received = receive(daemon, now);
        if (received && turn % DMODK_BLIND == 0) {
            fflush(daemon->log.file);
            poll(daemon->watched, WATCH_COUNT, 0);
        }
        if (daemon->watched[WATCH_SIGNALS].revents) {
            daemon->watched[WATCH_SIGNALS].revents = 0;
            take_signals(daemon, now);
        }
        if (daemon->watched[WATCH_CONTROL].revents) {
            daemon->watched[WATCH_CONTROL].revents = 0;
            daemon->dump_due |= manager_control_serve(
                daemon->control, now, daemon->sm, daemon->machines, daemon->config->sm.engine->name,
                device_port_name(daemon->port), daemon->config->dump != NULL);
        }
        take_routes(daemon);
        take_files(daemon, now);
        if (sm_deadline(daemon->sm) <= now)
            sm_expire(daemon->sm, now);
        vswitch_advance(daemon->machines, now);
        drain(daemon, now);
        administer(daemon, now);
        if (received && turn % DMODK_BLIND)
            continue;
        give_files(daemon, now);
        consider_ending(daemon, now);
        if (daemon->retired.count && !worker_is_busy(daemon->router))
            free_retired(daemon);
        if (!daemon->ending && !received)
            rest(daemon, now);
    }
    readiness_tell("STOPPING=1");
}

/* ---- birth and end ---- */

static struct event_log *failure_log; /* mem_on_failure() passes no context */

/* Whatever was acknowledged is on disk already (registrations.h), so the process can end at any
 * time; the service manager starts it again. */
static void end_without_memory(void)
{
    event_log_write_last(failure_log, "out of memory; the manager ends, nothing on disk is lost");
    _exit(2);
}

static int open_all(struct daemon *daemon, struct err *err)
{
    struct config *config = daemon->config;
    daemon->watched[WATCH_SIGNALS].fd = watch_signals();
    int status = event_log_open(&daemon->log, config->log, config->json, err);
    if (status == 0) {
        failure_log = &daemon->log;
        mem_on_failure(end_without_memory);
    }
    if (status == 0 && config->state)
        status = store_open(&daemon->store, config->state, err);
    if (status == 0 && config->control)
        status = manager_control_open(&daemon->control, config->control, err);
    if (status == 0)
        status = device_port_open(&daemon->port, &config->port, err);
    if (status < 0)
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
    make_core(daemon);
    daemon->registrations = (struct registrations){
        .directory = config->state ? mem_strdup(config->state) : NULL,
        .log = &daemon->log,
        .silent = daemon->options->once,
    };
    registrations_open(&daemon->registrations, daemon->sa, clock_ns());
    return 0;
}

static void close_all(struct daemon *daemon)
{
    if (daemon->router) {
        /* A job that is still computed is of no use to anybody, but has to come to its end. */
        while (worker_is_busy(daemon->router)) {
            poll(&daemon->watched[WATCH_ROUTER], 1, -1);
            take_routes(daemon);
        }
        for (unsigned round = 0; round < 2; round++) { /* one may have been under way */
            while (worker_is_busy(daemon->writer)) {
                poll(&daemon->watched[WATCH_WRITER], 1, -1);
                take_files(daemon, clock_ns());
            }
            if (round == 0)
                give_files(daemon, clock_ns());
        }
    }
    worker_free(daemon->router);
    worker_free(daemon->writer);
    sa_free(daemon->sa);
    vswitch_free(daemon->machines);
    sm_free(daemon->sm);
    manager_control_close(daemon->control);
    device_port_close(daemon->port);
    store_close(&daemon->store);
    registrations_close(&daemon->registrations);
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
    int status = make_config(options, &daemon.config, err);
    if (status < 0)
        return status;
    status = open_all(&daemon, err);
    if (status == 0) {
        event_log_write(&daemon.log, "start", "engine %s at %s", daemon.config->sm.engine->name,
                        device_port_name(daemon.port));
        tell_remarks(&daemon);
        serve(&daemon);
        status = daemon.status;
    }
    close_all(&daemon);
    return status == 0 && options->once && daemon.files_failed ? 1 : status;
}
