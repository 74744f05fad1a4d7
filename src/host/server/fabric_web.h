/* The live page of a simulated fabric (`weft fabric --web`): the API of docs/api/openapi.yaml.
 *
 * Handlers run in the loop of the server. Actions are the commands of `weft ctl`. */
#ifndef WEFT_HOST_SERVER_FABRIC_WEB_H
#define WEFT_HOST_SERVER_FABRIC_WEB_H

#include "base/err.h"
#include "host/server/session.h"

struct fabric_web;

/* Serves the page at an address as in http_options.listen. The clients must outlive it. */
int fabric_web_open(struct fabric_web **result, struct clients *clients, const char *listen,
                    struct err *err);
void fabric_web_close(struct fabric_web *web);            /* accepts NULL */
const char *fabric_web_url(const struct fabric_web *web); /* with the token */
int fabric_web_fd(const struct fabric_web *web);          /* readable: call fabric_web_serve() */
void fabric_web_serve(struct fabric_web *web);
/* Publishes a tick if somebody watches and it is time; returns when to call again. Both times are
 * those of clients->now. */
uint64_t fabric_web_step(struct fabric_web *web);

#endif
