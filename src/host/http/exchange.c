/* One request: libmicrohttpd calls these functions when the request line, the head, parts of the
 * body and the end were received, in the server's thread.
 *
 * A request is judged when its head is complete: a refused one is answered before its body arrives.
 * A request for a route with `in_loop` is suspended until http_server_serve() has answered it;
 * libmicrohttpd then calls http_exchange_continue() again. */
#include "host/http/internal.h"

#include "base/mem.h"
#include "base/time.h"
#include "host/http/guard.h"
#include "host/http/stream.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

const char *http_parameter(const struct http_request *request, const char *name)
{
    return http_fields_get(request->fields, name);
}

const char *http_parameter_at(const struct http_request *request, size_t at, const char **value)
{
    if (at >= request->fields->count)
        return NULL;
    *value = request->fields->items[at].value;
    return request->fields->items[at].name;
}

void *http_exchange_begin(void *context, const char *uri, struct MHD_Connection *connection)
{
    const struct http_listener *listener = context;
    struct http_exchange *exchange = mem_zalloc(1, sizeof *exchange);
    const union MHD_ConnectionInfo *info =
        mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    exchange->server = listener->server;
    exchange->listener = listener;
    exchange->connection = connection;
    exchange->client = info ? info->socket_context : NULL;
    exchange->received = uri;
    exchange->uri = mem_strdup(uri);
    exchange->uri_bytes = strlen(uri);
    exchange->query = strchr(exchange->uri, '?');
    if (exchange->query)
        *exchange->query++ = 0;
    return exchange;
}

void http_exchange_end(void *context, struct MHD_Connection *connection, void **data,
                       enum MHD_RequestTerminationCode code)
{
    const struct http_listener *listener = context;
    struct http_server *server = listener->server;
    struct http_exchange *exchange = *data;
    (void)connection;
    (void)code;
    if (!exchange)
        return;
    pthread_mutex_lock(&server->lock);
    if (exchange->client)
        http_client_enter(&server->clients, exchange->client, HTTP_CLIENT_WAITS,
                          time_monotonic_ns());
    pthread_mutex_unlock(&server->lock);
    if (exchange->response.release)
        exchange->response.release(exchange->response.source);
    text_release(&exchange->response.body);
    text_release(&exchange->body);
    mem_free(exchange->uri);
    mem_free(exchange);
    *data = NULL;
}

const char *http_header(const struct http_exchange *exchange, const char *name)
{
    return mhd.lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

/* Headers that decide what a request may do, and where it ends. */
enum { HEADER_LENGTH, HEADER_ENCODING };
static const char *const decisive[] = {[HEADER_LENGTH] = "Content-Length",
                                       [HEADER_ENCODING] = "Transfer-Encoding",
                                       "Host",
                                       "Origin",
                                       "X-Weft-Token",
                                       "Sec-Fetch-Site"};
enum { DECISIVE = sizeof decisive / sizeof decisive[0] };

struct head {
    unsigned counts[DECISIVE];
    uintptr_t at; /* where the next line begins if all lines so far end in CR LF */
    bool plain;   /* all lines do, and are whole */
    bool tokens;  /* all names are tokens: no blank before the colon, no control character */
};

static enum MHD_Result read_header(void *context, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    struct head *head = context;
    (void)kind;
    for (unsigned i = 0; i < DECISIVE; i++)
        head->counts[i] += strcasecmp(name, decisive[i]) == 0;
    value = value ? value : "";
    for (const char *c = name; *c; c++)
        head->tokens &= *c > ' ' && *c < 127;
    head->plain &= (uintptr_t)name == head->at && !strchr(value, '\r');
    head->at = (uintptr_t)value + strlen(value) + 2;
    return MHD_YES;
}

/* libmicrohttpd before 0.9.76 takes a bare LF for the end of a line, cuts a value at a NUL, and
 * appends a folded line (obs-fold) to the name before it. The strings that it gives are in its
 * buffer, one after the other as they were received, so that the distances of their addresses show
 * each of these. Later versions refuse them. */
static bool library_is_lenient(void)
{
    return strncmp(mhd.get_version(), "0.9.7", 5) == 0 && mhd.get_version()[5] <= '5';
}

/* A proxy before this server could read another meaning out of an ambiguous head (RFC
 * 9112, 2.2, 5.1 and 5.2; RFC 9110, 5.5). */
static bool check_headers(struct http_exchange *exchange, const char *version)
{
    struct head head = {.plain = true, .tokens = true};
    head.at = (uintptr_t)exchange->received + exchange->uri_bytes + 1 + strlen(version) + 2;
    uintptr_t begin = (uintptr_t)exchange->received - strlen(exchange->request.method) - 1;
    mhd.get_connection_values(exchange->connection, MHD_HEADER_KIND, read_header, &head);
    const union MHD_ConnectionInfo *size =
        mhd.get_connection_info(exchange->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    bool clear = head.tokens && (!head.counts[HEADER_LENGTH] || !head.counts[HEADER_ENCODING]);
    if (library_is_lenient())
        clear &= head.plain && size && begin + size->header_size == head.at + 2;
    for (unsigned i = 0; i < DECISIVE; i++)
        clear &= head.counts[i] <= 1;
    if (!clear)
        http_refuse(&exchange->response, 400, "ambiguous headers");
    return clear;
}

/* A pattern that ends in "*" matches every path that begins so. */
static bool match_path(const char *pattern, const char *path)
{
    size_t length = strlen(pattern);
    return length && pattern[length - 1] == '*' ? strncmp(pattern, path, length - 1) == 0
                                                : strcmp(pattern, path) == 0;
}

/* Returns false after a refusal: no such path, or another method. */
static bool find_route(struct http_exchange *exchange)
{
    const struct http_server *server = exchange->server;
    struct http_request *request = &exchange->request;
    bool known_path = false;
    for (size_t i = 0; i < server->route_count; i++) {
        const struct http_route *route = &server->routes[i];
        if (!match_path(route->path, request->path) ||
            (exchange->listener->restricted && !route->everywhere))
            continue;
        known_path = true;
        if (strcmp(route->method, request->method) != 0)
            continue;
        exchange->route = route;
        return true;
    }
    if (known_path)
        http_refuse(&exchange->response, 405, "method not allowed");
    else
        http_refuse(&exchange->response, 404, "not found");
    return false;
}

static bool is_own_peer(const struct http_exchange *exchange)
{
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    return http_listener_is_local(exchange->listener) && exchange->client &&
           getsockopt(exchange->client->fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

static bool check_origin(struct http_exchange *exchange)
{
    const struct http_server *server = exchange->server;
    const char *const names[] = {server->own_names[0], server->own_names[1]};
    const char *host = http_header(exchange, "Host"), *site;
    if (!http_listener_is_local(exchange->listener) && !http_guard_host(host, names, 2)) {
        http_refuse(&exchange->response, 421, "this server does not answer for that Host");
        return false;
    }
    site = http_header(exchange, "Sec-Fetch-Site");
    bool foreign = site && strcmp(site, "cross-site") == 0 && !exchange->route->file;
    if (foreign || !http_guard_origin(http_header(exchange, "Origin"), host)) {
        http_refuse(&exchange->response, 403, "requests of other sites are refused");
        return false;
    }
    return true;
}

static bool check_size(struct http_exchange *exchange)
{
    const char *length = http_header(exchange, "Content-Length");
    if (!length || strtoull(length, NULL, 10) <= exchange->server->limits.body_bytes)
        return true;
    http_refuse(&exchange->response, 413, "the limit of a request is %zu bytes",
                exchange->server->limits.body_bytes);
    return false;
}

static bool check_rate(struct http_exchange *exchange)
{
    struct http_server *server = exchange->server;
    pthread_mutex_lock(&server->lock);
    bool allowed = !exchange->client ||
                   http_client_may_ask(&server->clients, exchange->client, time_monotonic_ns());
    pthread_mutex_unlock(&server->lock);
    if (!allowed)
        http_refuse(&exchange->response, 429, "too many requests");
    return allowed;
}

/* Judges the head of a request; false after a refusal. */
static bool accept_head(struct http_exchange *exchange, const char *method, const char *version)
{
    exchange->request.method = method;
    exchange->request.path = exchange->uri;
    exchange->request.fields = &exchange->fields;
    if (!check_rate(exchange) || !check_headers(exchange, version))
        return false;
    if (strcmp(method, "HEAD") == 0)
        exchange->request.method = "GET";
    if (!http_decode(exchange->uri, false) ||
        (exchange->query && !http_fields_add(&exchange->fields, exchange->query))) {
        http_refuse(&exchange->response, 400, "malformed URL");
        return false;
    }
    if (!find_route(exchange) || !check_origin(exchange) || !check_size(exchange))
        return false;
    exchange->request.trusted =
        is_own_peer(exchange) ||
        http_token_matches(http_header(exchange, "X-Weft-Token"), exchange->server->token);
    if (exchange->route->changes && !exchange->request.trusted) {
        http_refuse(&exchange->response, 401, "this request needs the token in X-Weft-Token");
        return false;
    }
    return true;
}

/* The time is charged like that of the loop. */
static void make_answer(struct http_exchange *exchange)
{
    struct http_server *server = exchange->server;
    struct http_response *response = &exchange->response;
    uint64_t begin = time_monotonic_ns();
    response->make(response->source, response);
    response->release(response->source);
    response->release = NULL;
    uint64_t end = time_monotonic_ns();
    pthread_mutex_lock(&server->lock);
    if (exchange->client)
        http_clients_charge(&server->clients, exchange->client, exchange->request.trusted, end,
                            end - begin);
    pthread_mutex_unlock(&server->lock);
}

static enum MHD_Result answer(struct http_exchange *exchange)
{
    struct http_server *server = exchange->server;
    exchange->state = HTTP_ANSWERED;
    if (exchange->response.make)
        make_answer(exchange);
    pthread_mutex_lock(&server->lock);
    if (exchange->client)
        http_client_enter(&server->clients, exchange->client, HTTP_CLIENT_READS,
                          time_monotonic_ns());
    pthread_mutex_unlock(&server->lock);
    return http_send(exchange);
}

static enum MHD_Result answer_with_stream(struct http_exchange *exchange)
{
    struct http_server *server = exchange->server;
    struct MHD_Response *response =
        http_stream_subscribe(exchange->route->stream, exchange->connection);
    if (!response) {
        http_refuse(&exchange->response, 503, "the server stops");
        return answer(exchange);
    }
    exchange->state = HTTP_ANSWERED;
    pthread_mutex_lock(&server->lock);
    bool closed = exchange->client && http_client_enter_stream(&server->clients, exchange->client);
    pthread_mutex_unlock(&server->lock);
    if (closed)
        http_ping_streams(server);
    return http_queue(exchange, 200, "text/event-stream", "no-store", response);
}

/* Hands the request to http_server_serve(). */
static enum MHD_Result defer(struct http_exchange *exchange)
{
    struct http_server *server = exchange->server;
    pthread_mutex_lock(&server->lock);
    bool full =
        server->stopping || !exchange->client ||
        !http_clients_begin_wait(&server->clients, http_listener_is_local(exchange->listener));
    if (!full) {
        exchange->state = HTTP_PENDING;
        http_client_enter(&server->clients, exchange->client, HTTP_CLIENT_READS,
                          time_monotonic_ns());
        mhd.suspend_connection(exchange->connection);
        http_wait_for_loop(exchange);
    }
    pthread_mutex_unlock(&server->lock);
    if (!full)
        return MHD_YES;
    http_refuse(&exchange->response, 503, "too many requests wait");
    return answer(exchange);
}

void http_exchange_handle(struct http_exchange *exchange)
{
    const struct http_route *route = exchange->route;
    if (route->write) {
        exchange->response.type = route->type;
        route->write(route->context, &exchange->response.body);
    } else {
        route->handler(route->context, &exchange->request, &exchange->response);
    }
}

static enum MHD_Result execute(struct http_exchange *exchange)
{
    const struct http_route *route = exchange->route;
    const char *type = http_header(exchange, "Content-Type");
    char *form = exchange->body.data;
    if (type && strncmp(type, "application/x-www-form-urlencoded", 33) == 0 && form &&
        (strlen(form) != exchange->body.length || !http_fields_add(&exchange->fields, form))) {
        http_refuse(&exchange->response, 400, "malformed form");
        return answer(exchange);
    }
    if (route->stream)
        return answer_with_stream(exchange);
    if (route->in_loop)
        return defer(exchange);
    if (route->file)
        exchange->response.file = route->file;
    else
        http_exchange_handle(exchange);
    return answer(exchange);
}

enum MHD_Result http_exchange_continue(void *listener, struct MHD_Connection *connection,
                                       const char *url, const char *method, const char *version,
                                       const char *data, size_t *bytes, void **context)
{
    struct http_exchange *exchange = *context;
    (void)listener;
    (void)connection;
    (void)url;
    if (!exchange)
        return MHD_NO;
    if (exchange->state == HTTP_PENDING) /* http_server_serve() has answered it */
        return answer(exchange);
    if (!exchange->request.method) /* the first call, before the body */
        return accept_head(exchange, method, version) ? MHD_YES : answer(exchange);
    if (*bytes) {
        if (exchange->body.length + *bytes > exchange->server->limits.body_bytes)
            return MHD_NO; /* longer than announced, or chunked: an answer is not possible here */
        text_append(&exchange->body, data, *bytes);
        *bytes = 0;
        return MHD_YES;
    }
    return execute(exchange);
}
