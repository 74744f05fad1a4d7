/* The event loop: one thread, epoll, the wall clock.
 *
 * Each iteration reads the clients' packets, runs the fabric's network (until it is idle, or as far
 * as the pace allows), passes deliveries to the MAD layer and writes received MADs to the clients.
 * Discovery consists of round trips of MADs, and waking a sleeping thread costs more than the rest
 * of a round trip. So after an iteration with events the loop polls for a short time before it
 * sleeps. That time doubles when polling found events and halves when it did not. */
#include "host/server/server.h"
#include "base/time.h"
#include "host/server/internal.h"
#include "host/server/read_addresses.h"
#include "host/socket/listener.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    DELIVERIES = 256,       /* before the clients are served again */
    SIGNAL_EXIT_BASE = 128, /* as in shells */
};
/* With data traffic there is always a next event. */
#define DATA_SLICE  (5 * TIME_US)   /* network time between two readings of the clock */
#define DATA_BUDGET (2 * TIME_MS)   /* wall-clock time before the clients are served again */
#define DATA_PAUSE  (100 * TIME_US) /* wall-clock time between two runs of the network */
/* While packets of programs are on the way, the network may be so far ahead of the wall clock: they
 * arrive without a pause, and a stream of them is as fast as its links. */
#define VERBS_LEAD  (200 * TIME_US)
#define VERBS_PAUSE (1 * TIME_MS) /* instead of DATA_PAUSE, while there is nothing on the way */
#define SPIN_MOST   (60 * TIME_US)
#define SPIN_LEAST  (2 * TIME_US)
#define LINGER_TERM (3 * TIME_S) /* daemons that a command left get SIGKILL after this time */
#define LINGER_KILL (4 * TIME_S) /* the server ends */

static void update_clock(struct server *server)
{
    server->clients.now = (time_monotonic_ns() - server->start_ns) * TIME_NS;
}

/* ---- setting up ---- */

static int watch_descriptor(struct server *server, int fd, void *what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};
    return epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int open_descriptors(struct server *server, const char *path, struct err *err)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGCHLD);
    server->listener = listener_open(path, SOCK_SEQPACKET, false, err);
    if (server->listener < 0)
        return server->listener;
    server->path = mem_strdup(path);
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    server->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    server->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (server->epoll < 0 || server->signals < 0 || server->reserve < 0 ||
        watch_descriptor(server, server->listener, &server->listener) < 0 ||
        watch_descriptor(server, server->signals, &server->signals) < 0)
        return err_set(err, errno, "cannot set up the event loop: %s", strerror(errno));
    return 0;
}

int server_new(struct server **result, struct fabric *fabric, const struct server_options *options,
               struct err *err)
{
    struct server *server = mem_zalloc(1, sizeof *server);
    server->fabric = fabric;
    server->epoll = server->listener = server->signals = server->reserve = -1;
    server->pace_millionths = options->pace_millionths;
    server->start_ns = time_monotonic_ns();
    server->spin = SPIN_LEAST;
    clients_init(&server->clients, fabric, &options->attachment);
    if (options->pace_millionths == 1000000)
        server->clients.pace = "real";
    else if (options->pace_millionths != 0) {
        snprintf(server->pace, sizeof server->pace, "%g", (double)options->pace_millionths / 1e6);
        server->clients.pace = server->pace;
    }
    server->lockstep = options->lockstep;
    if (server->lockstep)
        simulated_start(server);
    server->clients.directory = options->directory;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    server->clients.traffics = options->traffics;
    server->clients.traffic_count = options->traffic_count;
    int error = addresses_read(&server->clients.addresses, fabric_topology(fabric),
                               options->ip ? options->ip : ADDRESSES_STANDARD, err);
    if (error == 0 && options->traffic_count)
        error = data_traffic_start(&server->clients, err);
    if (error == 0)
        error = open_descriptors(server, options->socket_path, err);
    if (error == 0 && (options->http.metrics || options->http.web))
        error = fabric_http_open(&server->http, &server->clients, &options->http, err);
    if (error == 0 && server->http)
        watch_descriptor(server, fabric_http_fd(server->http), server->http);
    if (error < 0) {
        server_free(server);
        return error;
    }
    *result = server;
    return 0;
}

const char *server_metrics_address(const struct server *server)
{
    return server->http ? fabric_http_metrics(server->http) : NULL;
}

const char *server_web_url(const struct server *server)
{
    return server->http ? fabric_http_page(server->http) : NULL;
}

static void close_descriptor(int fd)
{
    if (fd >= 0)
        close(fd);
}

void server_free(struct server *server)
{
    if (!server)
        return;
    fabric_http_close(server->http);
    while (server->clients.first)
        connection_free(server->clients.first->owner);
    vec_release(&server->orphans);
    clients_release(&server->clients);
    if (server->path)
        unlink(server->path);
    mem_free(server->path);
    close_descriptor(server->listener);
    close_descriptor(server->signals);
    close_descriptor(server->reserve);
    close_descriptor(server->epoll);
    mem_free(server);
}

/* ---- the child and the daemons it leaves ---- */

void server_watch_child(struct server *server, pid_t child)
{
    server->child = child;
}

/* Daemons that a command leaves running (opensm -B) are reparented to this process. Clients that
 * were started elsewhere are not ended. */
static bool is_our_orphan(uint32_t pid)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t length = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[length] = 0;
    const char *end = strrchr(line, ')'); /* the name before it may contain any character */
    int parent = 0;
    return end && sscanf(end + 1, " %*c %d", &parent) == 1 && parent == (int)getpid();
}

static void terminate_orphans(struct server *server)
{
    for (struct session *session = server->clients.first; session; session = session->after) {
        pid_t pid = (pid_t)session->pid;
        bool known = false;
        for (size_t i = 0; i < server->orphans.count; i++)
            known = known || server->orphans.items[i] == pid;
        if (known || session->state != SESSION_OPEN || !is_our_orphan(session->pid))
            continue;
        vec_push(&server->orphans, pid);
        kill(pid, SIGTERM);
    }
}

/* Reaps the command and orphans. */
static void reap_children(struct server *server)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != server->child)
            continue;
        server->child_status =
            WIFSIGNALED(status) ? SIGNAL_EXIT_BASE + WTERMSIG(status) : WEXITSTATUS(status);
        server->lingering = true;
        server->linger_since = server->clients.now;
        server->linger_since_ns = time_monotonic_ns();
    }
}

/* Serves daemons while they end, and kills those that do not end in time. Simulated time stands
 * still while one of them computes: then that of the wall clock counts. */
static void end_orphans(struct server *server)
{
    uint64_t waited = server->clients.now - server->linger_since;
    uint64_t wall = (time_monotonic_ns() - server->linger_since_ns) * TIME_NS;
    waited = wall > waited ? wall : waited;
    size_t kept = 0;
    reap_children(server);
    terminate_orphans(server);
    for (size_t i = 0; i < server->orphans.count; i++) {
        pid_t pid = server->orphans.items[i];
        if (kill(pid, 0) < 0)
            continue;
        if (waited >= LINGER_TERM)
            kill(pid, SIGKILL);
        server->orphans.items[kept++] = pid;
    }
    server->orphans.count = kept;
    if (kept == 0 || waited >= LINGER_KILL)
        server->ended = true;
}

static void handle_signals(struct server *server)
{
    struct signalfd_siginfo info;
    while (read(server->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            reap_children(server);
        else if (!server->child)
            server->ended = true;
        else if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP)
            kill(server->child, (int)info.ssi_signo);
        /* SIGINT from a terminal reaches the command directly. */
    }
}

/* ---- connections ---- */

/* Updates the events that epoll watches. A dead connection is freed later, since a pending event of
 * this iteration may refer to it. */
static void update_interest(struct server *server, struct connection *connection)
{
    assert(connection->dead || connection->session);
    if (connection->dead) {
        connection->next = server->closed;
        server->closed = connection;
        return;
    }
    uint32_t interest = connection_interest(connection);
    if (interest == connection->interest)
        return;
    struct epoll_event event = {.events = interest, .data.ptr = connection};
    epoll_ctl(server->epoll, connection->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, connection->fd,
              &event);
    connection->watched = true;
    connection->interest = interest;
}

static void accept_clients(struct server *server)
{
    for (int i = 0; i < SERVER_EVENTS; i++) {
        struct connection *connection = connection_accept(server->listener, &server->clients);
        if (!connection) {
            if (errno == EMFILE || errno == ENFILE) {
                /* No descriptor is left: the reserved one is used to accept and close the
                 * connection, which would otherwise stay in the queue and wake the loop. */
                close(server->reserve);
                close_descriptor(accept4(server->listener, NULL, NULL, SOCK_CLOEXEC));
                server->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
            }
            return;
        }
        /* The request has usually arrived already. */
        connection_read(connection);
        if (!connection->dead)
            connection_write(connection);
        update_interest(server, connection);
    }
}

static void handle_connection(struct server *server, struct connection *connection, uint32_t events)
{
    if (connection->dead)
        return;
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        connection_read(connection);
    if (!connection->dead && ((events & EPOLLOUT) || connection_has_answer(connection)))
        connection_write(connection);
    update_interest(server, connection);
}

/* ---- the fabric ---- */

static bool has_data(const struct server *server)
{
    return server->clients.traffic_count > 0 || verbs_started(server->clients.verbs);
}

static uint64_t lead(const struct server *server)
{
    return verbs_busy(server->clients.verbs) ? VERBS_LEAD : 0;
}

/* The data path needs time: from the first program that opens a device on, delays are real. */
static void check_pace(struct server *server)
{
    if (server->pace_millionths || !verbs_started(server->clients.verbs))
        return;
    uint64_t reached = fabric_network_time(server->fabric);
    server->pace_millionths = 1000000;
    server->clients.pace = "real";
    /* Without delays the network may have got ahead of the wall clock: it stays so far ahead. */
    if (reached > server->clients.now)
        server->lag_ps = server->clients.now - reached;
}

/* The network time that corresponds to the present wall-clock time; TIME_NEVER: until it is idle.
 */
static uint64_t network_target(const struct server *server)
{
    if (!server->pace_millionths)
        return TIME_NEVER;
    unsigned __int128 now = (unsigned __int128)server->clients.now * server->pace_millionths;
    return (uint64_t)(now / 1000000) - server->lag_ps + lead(server);
}

/* True: there is more to run. A fabric whose data packets take longer than their time falls behind
 * the wall clock, and its clients do not wait for it. */
static bool may_go_on(struct server *server, uint64_t until)
{
    uint64_t reached = fabric_network_time(server->fabric), began = server->clients.now;
    if (reached >= until)
        return false;
    if ((time_monotonic_ns() - server->start_ns) * TIME_NS < began + DATA_BUDGET)
        return true;
    server->lag_ps += until - reached;
    return false;
}

/* Runs until the network is idle, but for at most DELIVERIES deliveries, so that other clients are
 * served: the transfer of a long table causes tens of thousands. */
static void run_network(struct server *server)
{
    struct fabric_delivery delivery;
    unsigned deliveries = 0;
    uint64_t until = network_target(server);
    bool waiting;
    do {
        uint64_t slice = fabric_network_time(server->fabric) + DATA_SLICE;
        waiting =
            fabric_run_network(server->fabric, has_data(server) && slice < until ? slice : until);
        while (fabric_next_delivery(server->fabric, &delivery)) {
            mad_layer_deliver(server->clients.mads, server->clients.now, &delivery);
            waiting = ++deliveries < DELIVERIES;
        }
        if (!waiting && has_data(server) && deliveries < DELIVERIES)
            waiting = may_go_on(server, until);
    } while (waiting);
    if (!server->pace_millionths) /* the pauses between packets are those of the programs */
        fabric_advance_network(server->fabric, server->clients.now);
}

bool server_finish(struct server *server)
{
    bool written = false;
    for (struct mad_file *file; (file = mad_layer_next_ready(server->clients.mads)) != NULL;) {
        const struct session *session = mad_file_owner(file);
        if (!session) /* of connection management */
            continue;
        struct connection *connection = session->owner;
        written = true;
        connection_write(connection);
        update_interest(server, connection);
    }
    for (size_t i = 0; i < server->clients.opened.count; i++) {
        struct connection *connection = server->clients.opened.items[i]->owner;
        if (!(connection->interest & EPOLLIN)) /* its file was full */
            update_interest(server, connection);
    }
    while (server->closed) {
        struct connection *connection = server->closed;
        server->closed = connection->next;
        connection_free(connection);
    }
    if (server->lingering)
        end_orphans(server);
    if (server->clients.stop)
        server->ended = true;
    return written;
}

static void run_fabric(struct server *server)
{
    update_clock(server);
    if (mad_layer_deadline(server->clients.mads) <= server->clients.now)
        mad_layer_expire(server->clients.mads, server->clients.now);
    verbs_run_connections(server->clients.verbs, server->clients.now);
    run_network(server);
    verbs_run_connections(server->clients.verbs, server->clients.now);
    server_finish(server);
}

/* ---- the loop ---- */

/* The wall-clock time of the next event. */
static uint64_t next_deadline(struct server *server)
{
    uint64_t next = mad_layer_deadline(server->clients.mads);
    uint64_t timer = fabric_next_timer(server->fabric);
    if (timer < next)
        next = timer;
    uint64_t network = fabric_next_network_event(server->fabric);
    if (network != TIME_NEVER && server->pace_millionths == 0)
        next = server->clients.now; /* run_network() stopped at its limit */
    if (network != TIME_NEVER && server->pace_millionths != 0) {
        unsigned __int128 wall =
            (unsigned __int128)(network + server->lag_ps) * 1000000 / server->pace_millionths + 1;
        uint64_t pause = server->clients.traffic_count || lead(server) ? DATA_PAUSE : VERBS_PAUSE;
        wall = wall > lead(server) ? wall - lead(server) : 0;
        if (has_data(server) && wall < server->clients.now + pause)
            wall = server->clients.now + pause;
        if (wall < next)
            next = (uint64_t)wall;
    }
    uint64_t page = server->http ? fabric_http_step(server->http) : TIME_NEVER;
    next = page < next ? page : next;
    uint64_t tick = server->clients.now + 20 * TIME_MS;
    return server->lingering && tick < next ? tick : next;
}

static int wait_for_events(struct server *server, uint64_t deadline, struct epoll_event *events)
{
    if (deadline == TIME_NEVER)
        return epoll_wait(server->epoll, events, SERVER_EVENTS, -1);
    uint64_t left = deadline > server->clients.now ? deadline - server->clients.now : 0;
    struct timespec timeout = {.tv_sec = (time_t)(left / TIME_S),
                               .tv_nsec = (long)(left % TIME_S / TIME_NS)};
    int count = epoll_pwait2(server->epoll, events, SERVER_EVENTS, &timeout, NULL);
    if (count >= 0 || errno != ENOSYS)
        return count;
    uint64_t milliseconds = left / TIME_MS + 1;
    return epoll_wait(server->epoll, events, SERVER_EVENTS,
                      milliseconds < 60000 ? (int)milliseconds : 60000);
}

/* Polls for events without sleeping. */
static int poll_events(struct server *server, uint64_t deadline, struct epoll_event *events)
{
    uint64_t start = server->clients.now;
    uint64_t until = start + server->spin < deadline ? start + server->spin : deadline;
    int count = 0;
    bool posted = false;
    do {
        count = epoll_wait(server->epoll, events, SERVER_EVENTS, 0);
        update_clock(server);
        posted = verbs_has_work(server->clients.verbs);
    } while (count == 0 && !posted && server->clients.now < until);
    if (count > 0 || posted)
        server->spin = server->spin * 2 < SPIN_MOST ? server->spin * 2 : SPIN_MOST;
    else
        server->spin = server->spin / 2 > SPIN_LEAST ? server->spin / 2 : SPIN_LEAST;
    return count;
}

/* Sleeps until there is something to do, unless programs have posted work already. */
static int sleep_for_events(struct server *server, uint64_t deadline, struct epoll_event *events)
{
    if (verbs_prepare_sleep(server->clients.verbs))
        deadline = server->clients.now;
    int count = wait_for_events(server, deadline, events);
    verbs_end_sleep(server->clients.verbs);
    return count;
}

void server_close_failed(struct server *server)
{
    struct connection *failed;
    while ((failed = verbs_next_failed(server->clients.verbs)) != NULL) {
        connection_close(failed);
        update_interest(server, failed);
    }
}

static bool serve_verbs(struct server *server)
{
    struct verbs *verbs = server->clients.verbs;
    bool worked = verbs_has_work(verbs);
    if (worked)
        verbs_serve(verbs);
    server_close_failed(server);
    check_pace(server);
    return worked;
}

void server_handle(struct server *server, const struct epoll_event *events, int count)
{
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == &server->listener)
            accept_clients(server);
        else if (events[i].data.ptr == &server->signals)
            handle_signals(server);
        else if (events[i].data.ptr == server->http)
            fabric_http_serve(server->http);
        else
            handle_connection(server, events[i].data.ptr, events[i].events);
    }
}

int server_run(struct server *server)
{
    struct epoll_event events[SERVER_EVENTS];
    bool worked = false;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (server->lockstep)
        simulated_run(server);
    while (!server->ended) {
        uint64_t deadline = next_deadline(server);
        int count = worked ? poll_events(server, deadline, events) : 0;
        if (count == 0 && !verbs_has_work(server->clients.verbs))
            count = sleep_for_events(server, deadline, events);
        /* Advances the fabric's clocks first: a request acts at the time at which it arrives. */
        update_clock(server);
        fabric_run_timers(server->fabric, server->clients.now);
        run_network(server);
        server_handle(server, events, count);
        worked = serve_verbs(server) || count > 0;
        run_fabric(server);
    }
    return server->child_status;
}
