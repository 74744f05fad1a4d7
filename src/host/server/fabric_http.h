/* The HTTP server of a simulated fabric: metrics and the live page. */
#ifndef WEFT_HOST_SERVER_FABRIC_HTTP_H
#define WEFT_HOST_SERVER_FABRIC_HTTP_H

#include "base/err.h"
#include "host/server/session.h"

struct fabric_http;

/* Addresses as in http_options.listen; NULL: not served. The page's address serves /metrics too. */
struct fabric_http_options {
    const char *metrics, *web;
    const char *token_file; /* NULL: a random token */
};
/* The clients must outlive it. */
int fabric_http_open(struct fabric_http **result, struct clients *clients,
                     const struct fabric_http_options *options, struct err *err);
void fabric_http_close(struct fabric_http *http);   /* accepts NULL */
int fabric_http_fd(const struct fabric_http *http); /* readable: call fabric_http_serve() */
void fabric_http_serve(struct fabric_http *http);
/* The URL of the metrics without the path, and that of the page with the token; NULL: not served.
 */
const char *fabric_http_metrics(const struct fabric_http *http);
const char *fabric_http_page(const struct fabric_http *http);
/* fabric_web_step(); TIME_NEVER without a page. */
uint64_t fabric_http_step(struct fabric_http *http);

#endif
