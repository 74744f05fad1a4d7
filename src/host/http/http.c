/* The server: its socket, its threads and the queue of requests for the owner's loop. */
#include "host/http/internal.h"

#include "base/mem.h"
#include "base/time.h"
#include "host/http/stream.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { PING_SECONDS = 10 };

const struct http_limits http_default_limits = {
    .connections = 128,
    .connections_per_address = 64,
    .streams_per_address = 16,
    .requests_per_second = 200,
    .pending = 32,
    .loop_percent = 50,
    .header_bytes = 16 * 1024,
    .body_bytes = 64 * 1024,
    .request_seconds = 10,
    .response_seconds = 60,
};

void http_ping_streams(const struct http_server *server)
{
    for (size_t i = 0; i < server->route_count; i++)
        if (server->routes[i].stream)
            http_stream_ping(server->routes[i].stream);
}

static void connection_changed(void *context, struct MHD_Connection *connection,
                               void **socket_context, enum MHD_ConnectionNotificationCode code)
{
    const struct http_listener *listener = context;
    struct http_server *server = listener->server;
    bool stream_closed = false;
    pthread_mutex_lock(&server->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *fd =
            mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        const union MHD_ConnectionInfo *peer =
            mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
        *socket_context =
            http_clients_add(&server->clients, fd->connect_fd,
                             http_listener_is_local(listener) ? NULL : peer->client_addr,
                             time_monotonic_ns(), &stream_closed);
        pthread_cond_signal(&server->ticked);
    } else {
        http_clients_remove(&server->clients, *socket_context);
        *socket_context = NULL;
    }
    pthread_mutex_unlock(&server->lock);
    if (stream_closed)
        http_ping_streams(server);
}

/* Closes connections that are too slow, and pings streams. Sleeps while there is no connection. */
static void *run_clock(void *context)
{
    struct http_server *server = context;
    uint64_t next_ping_ns = 0;
    pthread_mutex_lock(&server->lock);
    while (!server->stopping) {
        uint64_t until_ns = time_first(time_monotonic_ns() + NS_PER_S, server->wake_at);
        const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S),
                                       .tv_nsec = (long)(until_ns % NS_PER_S)};
        if (server->clients.count || server->wake_at != TIME_NEVER)
            pthread_cond_timedwait(&server->ticked, &server->lock, &until);
        else
            pthread_cond_wait(&server->ticked, &server->lock);
        uint64_t now_ns = time_monotonic_ns();
        if (server->wake_at <= now_ns) {
            server->wake_at = TIME_NEVER;
            eventfd_write(server->wake, 1);
        }
        http_clients_expire(&server->clients, now_ns);
        if (now_ns < next_ping_ns || server->stopping)
            continue;
        next_ping_ns = now_ns + PING_SECONDS * NS_PER_S;
        pthread_mutex_unlock(&server->lock);
        http_ping_streams(server);
        pthread_mutex_lock(&server->lock);
    }
    pthread_mutex_unlock(&server->lock);
    return NULL;
}

static void learn_names(struct http_server *server)
{
    char *full = server->own_names[0], *brief = server->own_names[1];
    if (gethostname(full, sizeof server->own_names[0] - 1) < 0)
        *full = 0;
    strcpy(brief, full);
    brief[strcspn(brief, ".")] = 0;
}

/* Signals are for the owner's threads. */
static sigset_t block_signals(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    return before;
}

int http_server_new(struct http_server **result, const struct http_options *options,
                    struct err *err)
{
    int status = options->token ? http_token_check_format(options->token, err) : 0;
    if (status == 0)
        status = http_library_open(err);
    if (status < 0)
        return status;
    struct http_server *server = mem_zalloc(1, sizeof *server);
    pthread_condattr_t monotonic;
    server->routes = options->routes;
    server->route_count = options->route_count;
    server->limits = options->limits.connections ? options->limits : http_default_limits;
    server->clients.limits = server->limits;
    server->pending_end = &server->pending;
    server->wake_at = TIME_NEVER;
    if (getrandom(&server->clients.seed, sizeof server->clients.seed, 0) < 0)
        mem_fail("random bytes");
    pthread_mutex_init(&server->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&server->ticked, &monotonic);
    pthread_condattr_destroy(&monotonic);
    server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (options->token)
        strcpy(server->token, options->token);
    else
        http_token_make(server->token);
    learn_names(server);
    sigset_t before = block_signals();
    if (pthread_create(&server->clock, NULL, run_clock, server) != 0)
        mem_fail("a thread");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    *result = server;
    return 0;
}

int http_server_listen(struct http_server *server, const char *address, bool restricted,
                       struct err *err)
{
    assert(server->listener_count < HTTP_LISTENERS_MOST);
    struct http_listener *listener = &server->listeners[server->listener_count];
    *listener = (struct http_listener){.server = server, .restricted = restricted};
    int fd = http_address_parse(address, &listener->address, err);
    if (fd == 0)
        fd = http_address_listen(&listener->address, err);
    if (fd < 0)
        return fd;
    http_address_url(&listener->address, fd, listener->url, sizeof listener->url);
    sigset_t before = block_signals();
    listener->daemon = mhd.start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
        http_exchange_continue, listener, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
        server->limits.connections + 16, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        2 * server->limits.header_bytes, MHD_OPTION_URI_LOG_CALLBACK, http_exchange_begin, listener,
        MHD_OPTION_NOTIFY_COMPLETED, http_exchange_end, listener, MHD_OPTION_NOTIFY_CONNECTION,
        connection_changed, listener, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!listener->daemon) {
        close(fd);
        return err_set(err, EIO, "cannot start the HTTP server");
    }
    return (int)server->listener_count++;
}

int http_server_start(struct http_server **result, const struct http_options *options,
                      struct err *err)
{
    struct http_server *server;
    int status = http_server_new(&server, options, err);
    if (status < 0)
        return status;
    status = http_server_listen(server, options->listen, false, err);
    if (status < 0) {
        http_server_stop(server);
        return status;
    }
    *result = server;
    return 0;
}

/* Suspended connections are resumed, so that libmicrohttpd can close them. */
void http_server_stop(struct http_server *server)
{
    if (!server)
        return;
    pthread_mutex_lock(&server->lock);
    server->stopping = true;
    pthread_cond_signal(&server->ticked);
    for (struct http_exchange *at = server->pending; at; at = at->next) {
        http_refuse(&at->response, 503, "the server stops");
        mhd.resume_connection(at->connection);
    }
    server->pending = NULL;
    pthread_mutex_unlock(&server->lock);
    pthread_join(server->clock, NULL);
    for (size_t i = 0; i < server->route_count; i++)
        if (server->routes[i].stream)
            http_stream_close(server->routes[i].stream);
    for (unsigned i = 0; i < server->listener_count; i++) {
        mhd.stop_daemon(server->listeners[i].daemon);
        if (http_listener_is_local(&server->listeners[i]))
            unlink(server->listeners[i].address.unix_path);
    }
    if (server->wake >= 0)
        close(server->wake);
    pthread_cond_destroy(&server->ticked);
    pthread_mutex_destroy(&server->lock);
    explicit_bzero(server->token, sizeof server->token);
    mem_free(server);
}

const char *http_server_address(const struct http_server *server)
{
    return http_listener_address(server, 0);
}

const char *http_listener_address(const struct http_server *server, unsigned listener)
{
    return listener < server->listener_count ? server->listeners[listener].url : "";
}

void http_page_url(const struct http_server *server, unsigned listener, char *url, size_t size)
{
    snprintf(url, size, "%s/#token=%s", http_listener_address(server, listener), server->token);
}

const char *http_server_token(const struct http_server *server)
{
    return server->token;
}

int http_server_fd(const struct http_server *server)
{
    return server->wake;
}

/* The place of the request that is next in the loop, or NULL: none may run yet. */
static struct http_exchange **find_next(struct http_server *server, uint64_t now_ns)
{
    struct http_exchange **best = NULL;
    uint64_t least = UINT64_MAX;
    for (struct http_exchange **at = &server->pending; *at; at = &(*at)->next) {
        uint64_t rank = http_clients_rank(&server->clients, (*at)->client);
        uint64_t run_at = http_clients_run_at(&server->clients, (*at)->request.trusted);
        if (run_at > now_ns) {
            server->wake_at = run_at;
        } else if (rank < least) {
            best = at;
            least = rank;
        }
    }
    return best;
}

/* Removes and returns the next request for the loop; NULL: none, for the present. */
static struct http_exchange *take_next(struct http_server *server, uint64_t now_ns)
{
    eventfd_t ignored;
    pthread_mutex_lock(&server->lock);
    server->wake_at = TIME_NEVER;
    struct http_exchange **at = find_next(server, now_ns), *next = at ? *at : NULL;
    if (next) {
        http_clients_end_wait(&server->clients, http_listener_is_local(next->listener));
        *at = next->next;
        if (server->pending_end == &next->next)
            server->pending_end = at;
    }
    if (next && server->pending) {
        server->wake_at = TIME_NEVER; /* the next call looks again */
    } else {
        eventfd_read(server->wake, &ignored);
        pthread_cond_signal(&server->ticked);
    }
    pthread_mutex_unlock(&server->lock);
    return next;
}

void http_wait_for_loop(struct http_exchange *exchange)
{
    struct http_server *server = exchange->server;
    exchange->next = NULL;
    *server->pending_end = exchange;
    server->pending_end = &exchange->next;
    eventfd_write(server->wake, 1);
}

bool http_server_serve(struct http_server *server)
{
    uint64_t begin = time_monotonic_ns();
    struct http_exchange *exchange = take_next(server, begin);
    if (!exchange)
        return false;
    exchange->response.again = false;
    http_exchange_handle(exchange);
    uint64_t end = time_monotonic_ns();
    pthread_mutex_lock(&server->lock);
    http_clients_charge(&server->clients, exchange->client, exchange->request.trusted, end,
                        end - begin);
    bool again = exchange->response.again;
    if (again) {
        server->clients.waiting[http_listener_is_local(exchange->listener)]++;
        http_wait_for_loop(exchange);
    }
    pthread_mutex_unlock(&server->lock);
    if (!again)
        mhd.resume_connection(exchange->connection);
    return true;
}
