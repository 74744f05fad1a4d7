/* An HTTP server for metrics and for the live page, on libmicrohttpd (decision 017).
 *
 * The server has a thread of its own. The thread of a manager or a fabric never reads from or
 * writes to a connection, so a slow client cannot delay it. A handler runs in the server's thread;
 * it must not wait, and it reads only data that it may share. A route with `in_loop` is the
 * exception: its handler runs in the thread that calls http_server_serve(), and only for a request
 * that was received completely and accepted. It copies what the answer needs, in several turns if
 * that is much (`again`); what takes long, such as the text of a large answer, is made in the
 * server's thread (`make`, `generate`).
 *
 * Requests that change something need the token of the server in the header X-Weft-Token, which a
 * page of another origin cannot send, or come over a Unix socket from the same user. Requests with
 * a foreign Host or Origin are refused (DNS rebinding, RFC 6454). The limits of `struct
 * http_limits` apply to all requests. Requests carry their parameters as a query or as a form
 * (application/x-www-form-urlencoded): there is no parser for JSON. */
#ifndef WEFT_HOST_HTTP_HTTP_H
#define WEFT_HOST_HTTP_HTTP_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_server;
struct http_stream;

/* ---- token.c ---- */

enum { HTTP_TOKEN_LEAST = 8, HTTP_TOKEN_MOST = 128 };
/* A token consists of letters, digits, "-", "_", "." and "~", so that it can be part of a URL. */
int http_token_check_format(const char *token, struct err *err);
/* Reads the first line of a file as a token. */
int http_token_read(const char *path, char token[HTTP_TOKEN_MOST + 1], struct err *err);
void http_token_make(char token[HTTP_TOKEN_MOST + 1]); /* a random one */
/* Whether the token of a request (NULL: it has none) is that of the server. */
bool http_token_matches(const char *given, const char *token);

/* ---- the server ---- */

/* A resource that never changes, such as the bundle of the live page. */
struct http_file {
    const char *type;
    const void *data;
    size_t bytes;
    const char *etag; /* without quotes: a digest of the content */
};

struct http_request {
    const char *method; /* "GET" also for HEAD */
    const char *path;   /* percent-decoded, without the query */
    const struct http_fields *fields;
    bool trusted; /* it has the token, or comes from the same user */
};
/* The value of a parameter in the query or in the form; NULL if it is absent. */
const char *http_parameter(const struct http_request *request, const char *name);

/* The parameter at this place and its value; NULL: no more. */
const char *http_parameter_at(const struct http_request *request, size_t at, const char **value);

/* The answer: a file, a generator, or `body`, which `make` may fill in. */
struct http_response {
    unsigned status;  /* 200 unless set */
    const char *type; /* "application/json" unless set; a constant */
    struct text body; /* the server releases it */
    const struct http_file *file;
    /* Writes the next bytes of the content; returns 0 at its end. It runs in the server's thread.
     */
    size_t (*generate)(void *source, char *buffer, size_t size);
    /* Fills in the body in the server's thread, from copies that the handler has made: for answers
     * that take longer than a loop may wait. */
    void (*make)(void *source, struct http_response *response);
    void (*release)(void *source); /* called once, with or without the end being reached */
    void *source;
    bool again; /* nothing is answered yet: the loop has its turn, then the handler has its next */
};
/* Answers with a status and one line of text. */
void http_refuse(struct http_response *response, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

typedef void http_handler(void *context, const struct http_request *request,
                          struct http_response *response);

/* A request is answered by the first route that matches: with a file, a stream, what `write`
 * appends or what `handler` fills in. */
struct http_route {
    const char *method; /* "GET" or "POST" */
    const char *path;   /* one that ends in "*" matches every path that begins so */
    bool changes;       /* needs the token */
    bool in_loop;       /* `write` or `handler` runs in http_server_serve() */
    bool everywhere;    /* also served by restricted listeners */
    const struct http_file *file;
    struct http_stream *stream;
    void (*write)(void *context, struct text *out);
    const char *type; /* of what `write` appends; NULL: application/json */
    http_handler *handler;
    void *context;
};

struct http_limits {
    unsigned connections, connections_per_address, streams_per_address;
    unsigned requests_per_second; /* of one address; twice as many in a burst */
    unsigned pending;             /* requests that wait for http_server_serve() */
    unsigned loop_percent;        /* of the time of that loop, for all requests without the token */
    size_t header_bytes, body_bytes;
    unsigned request_seconds;  /* to send a request completely */
    unsigned response_seconds; /* to read an answer completely, except a stream */
};
extern const struct http_limits http_default_limits;

struct http_options {
    /* [ADDRESS:]PORT, [IPV6]:PORT or unix:PATH. The loopback address unless given; "*" is every
     * address; port 0 is any free port. */
    const char *listen; /* of http_server_start() */
    const char *token;  /* as http_token_check_format() accepts it; NULL: a random one */
    const struct http_route *routes; /* must outlive the server */
    size_t route_count;
    struct http_limits limits; /* zero: http_default_limits */
};

/* Makes a server and listens at one address. */
int http_server_start(struct http_server **server, const struct http_options *options,
                      struct err *err);
void http_server_stop(struct http_server *server); /* accepts NULL */

/* The two steps of http_server_start(), for an owner with several addresses (at most two) or one
 * that tries again. All listeners share routes, limits, token and descriptor. */
int http_server_new(struct http_server **server, const struct http_options *options,
                    struct err *err);
/* Listens at a further address. `restricted`: only routes with `everywhere` are served there.
 * Returns the number of the listener, from 0, or -errno. */
int http_server_listen(struct http_server *server, const char *address, bool restricted,
                       struct err *err);

/* For messages: "http://127.0.0.1:9090" or "unix:/path". The first listener; or any. */
const char *http_server_address(const struct http_server *server);
const char *http_listener_address(const struct http_server *server, unsigned listener);
const char *http_server_token(const struct http_server *server);
/* The address with the token, which a page reads from its fragment. */
void http_page_url(const struct http_server *server, unsigned listener, char *url, size_t size);

/* Readable when a request for a route with `in_loop` waits. */
int http_server_fd(const struct http_server *server);
/* Answers at most one such request; returns false if none waits. */
bool http_server_serve(struct http_server *server);

/* A stream of server-sent events (text/event-stream). Any thread may publish. Each subscriber has a
 * queue of bounded size: one that reads too slowly loses the queued events and receives an event
 * "lost" with their number, {"events":N}. */
struct http_stream *http_stream_new(void);
void http_stream_free(struct http_stream *stream); /* after http_server_stop(); accepts NULL */
/* `data` may have several lines. */
void http_stream_publish(struct http_stream *stream, const char *event, const char *data);
unsigned http_stream_subscribers(struct http_stream *stream);

#endif
