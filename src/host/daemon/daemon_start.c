/* Start and end of the daemon: opens the log, the port, the files and the control socket, creates
 * the manager and the administration, and closes all of it in reverse order. */
#include "host/daemon/daemon_internal.h"

#include "base/time.h"
#include "host/daemon/readiness.h"
#include "host/files/store.h"
#include "host/manager/key_file.h"
#include "host/socket/listener.h"
#include "host/socket/protocol.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { PORT_RETRY_MS = 200 };

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

static void create_core(struct daemon *daemon)
{
    struct config *config = daemon->config;
    struct sa_config administration = config->sa;
    assert(daemon->port && !daemon->sm && config->sm.engine);
    administration.sm_key = config->sm.sm_key;
    config->sm.salt = administration.salt = key_random();
    administration.prefix = config->sm.subnet_prefix;
    administration.subnet_timeout = config->sm.subnet_timeout;
    administration.partitions = config->sm.partitions;
    administration.instance = registrations_new_instance();
    daemon->stop_at = daemon->problems_at = TIME_NEVER;
    daemon->sm = sm_new(&config->sm, device_port_guid(daemon->port));
    daemon->perf = perf_new(&config->perf);
    daemon->sa = sa_new(&administration, device_port_guid(daemon->port));
    daemon->machines = vswitch_new(daemon->sm, sa_machines(daemon->sa));
    sm_set_groups(daemon->sm, sa_groups(daemon->sa));
    sm_set_alias_guids(daemon->sm, sa_alias_guids(daemon->sa));
    for (size_t i = 0; i < daemon->store.facts.count; i++)
        sm_restore_lid(daemon->sm, &daemon->store.facts.items[i]);
    /* If each port has its own M_Key, a manager must know which node is where to reach it. */
    struct text neighbours = {0}, links = {0};
    const char *state = daemon->config->state;
    if (state && daemon->config->sm.m_key_per_port &&
        store_read(state, NEIGHBOURS_FILE, &neighbours) == 0 && neighbours.data)
        neighbours_read(daemon->sm, neighbours.data);
    if (state && store_read(state, LINKS_FILE, &links) == 0 && links.data)
        links_read(daemon->sm, links.data);
    text_release(&neighbours);
    text_release(&links);
}

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
            {.fd = daemon->control ? manager_control_fd(daemon->control) : -1, .events = POLLIN},
            {.fd = daemon->watched[WATCH_HTTP].fd, .events = POLLIN}};
        struct signalfd_siginfo info;
        poll(inputs, 3, PORT_RETRY_MS);
        while (read(inputs[0].fd, &info, sizeof info) == sizeof info)
            if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
                return 0;
        if (daemon->control)
            daemon_serve_control(daemon, time_monotonic_ns());
        daemon_serve_http(daemon, time_monotonic_ns());
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

int daemon_open_all(struct daemon *daemon, struct err *err)
{
    struct config *config = daemon->config;
    daemon->watched[WATCH_SIGNALS].fd = open_signal_fd();
    int status = daemon_open_log(daemon, config, err);
    if (status == 0) {
        failure_log = &daemon->log;
        mem_on_failure(end_without_memory);
    }
    if (status == 0 && config->state)
        status = open_store(daemon, config->state, err);
    if (status == 0)
        status = open_control(daemon, err);
    if (daemon->control) {
        daemon->log.observe = manager_control_note;
        daemon->log.observer = daemon->control;
    }
    daemon->watched[WATCH_HTTP].fd = -1;
    if (status == 0)
        daemon_open_http(daemon, time_monotonic_ns());
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
    registrations_open(&daemon->registrations, daemon->sa, time_monotonic_ns());
    return 0;
}

void daemon_close_all(struct daemon *daemon)
{
    if (daemon->router) {
        /* The result of a running job is not used, but the job has to end. */
        while (worker_is_busy(daemon->router)) {
            poll(&daemon->watched[WATCH_ROUTER], 1, -1);
            daemon_finish_jobs(daemon);
        }
        for (unsigned round = 0; round < 2; round++) { /* a running task first, then the last one */
            while (worker_is_busy(daemon->writer)) {
                poll(&daemon->watched[WATCH_WRITER], 1, -1);
                daemon_finish_files(daemon, time_monotonic_ns());
            }
            if (round == 0)
                daemon_submit_files(daemon, time_monotonic_ns());
        }
    }
    daemon_close_http(daemon);
    worker_free(daemon->router);
    worker_free(daemon->writer);
    sa_free(daemon->sa);
    vswitch_free(daemon->machines);
    perf_free(daemon->perf);
    sm_free(daemon->sm);
    daemon->log.observe = NULL;
    manager_control_close(daemon->control);
    device_port_close(daemon->port);
    store_close(&daemon->store);
    registrations_close(&daemon->registrations);
    problems_release(&daemon->problems);
    mem_on_failure(NULL);
    event_log_close(&daemon->log);
    close(daemon->watched[WATCH_SIGNALS].fd);
    daemon_free_retired(daemon);
    vec_release(&daemon->retired);
    config_release(daemon->config);
    mem_free(daemon->config);
}
