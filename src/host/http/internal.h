/* What the files of the HTTP server share. */
#ifndef WEFT_HOST_HTTP_INTERNAL_H
#define WEFT_HOST_HTTP_INTERNAL_H

#include "host/http/address.h"
#include "host/http/clients.h"
#include "host/http/fields.h"
#include "host/http/http.h"
#include "host/http/library.h"

#include <pthread.h>

enum { HTTP_LISTENERS_MOST = 2 };

/* An address at which the server listens, with the thread of libmicrohttpd for its connections. */
struct http_listener {
    struct http_server *server;
    struct MHD_Daemon *daemon;
    struct http_address address;
    char url[160];
    bool restricted; /* only routes with `everywhere` are served here */
};

static inline bool http_listener_is_local(const struct http_listener *listener)
{
    return *listener->address.unix_path != 0;
}

/* One request and its answer. */
struct http_exchange {
    struct http_server *server;
    const struct http_listener *listener;
    struct http_client *client;
    struct MHD_Connection *connection;
    struct http_exchange *next; /* in the queue of http_server_serve() */
    const char *received;       /* the URI in the library's buffer; only its address counts */
    char *uri;                  /* a copy, decoded in place; path and fields point into it */
    size_t uri_bytes;
    char *query; /* in `uri`; NULL: none */
    const struct http_route *route;
    struct http_request request;
    struct http_fields fields;
    struct text body;
    struct http_response response;
    enum { HTTP_RECEIVES, HTTP_PENDING, HTTP_ANSWERED } state;
};

/* NULL: the request has no such header. */
const char *http_header(const struct http_exchange *exchange, const char *name);

struct http_server {
    struct http_listener listeners[HTTP_LISTENERS_MOST];
    unsigned listener_count;
    const struct http_route *routes;
    size_t route_count;
    struct http_limits limits;
    char token[HTTP_TOKEN_MOST + 1];
    char own_names[2][256];
    int wake; /* eventfd: readable while a request may run in the owner's loop */
    pthread_t clock;
    pthread_cond_t ticked;

    pthread_mutex_t lock; /* of what follows */
    struct http_clients clients;
    struct http_exchange *pending, **pending_end;
    uint64_t
        wake_at; /* when one of them may run; TIME_NEVER: `wake` is readable, or there is none */
    bool stopping;
};

/* Sends a comment on every stream. libmicrohttpd sees the end of a suspended connection when it is
 * resumed: call this after a stream was closed. */
void http_ping_streams(const struct http_server *server);

/* exchange.c: the callbacks of libmicrohttpd for one request. */
void *http_exchange_begin(void *listener, const char *uri, struct MHD_Connection *connection);
enum MHD_Result http_exchange_continue(void *listener, struct MHD_Connection *connection,
                                       const char *url, const char *method, const char *version,
                                       const char *data, size_t *bytes, void **exchange);
void http_exchange_end(void *listener, struct MHD_Connection *connection, void **exchange,
                       enum MHD_RequestTerminationCode code);

/* Adds it to those that http_server_serve() takes. The caller locks. */
void http_wait_for_loop(struct http_exchange *exchange);
/* Calls the function of the route. */
void http_exchange_handle(struct http_exchange *exchange);

/* response.c */
enum MHD_Result http_send(struct http_exchange *exchange);
/* Adds the headers that every answer has, and queues the response. Consumes it. */
enum MHD_Result http_queue(struct http_exchange *exchange, unsigned status, const char *type,
                           const char *cache, struct MHD_Response *response);

#endif
