/* The live page of a simulated fabric (`weft fabric --web`): the API of docs/api/openapi.yaml.
 *
 * Handlers run in the loop of the server. Actions are the commands of `weft ctl`. */
#ifndef WEFT_HOST_SERVER_FABRIC_WEB_H
#define WEFT_HOST_SERVER_FABRIC_WEB_H

#include "host/http/http.h"
#include "host/server/session.h"

struct fabric_web;

/* The clients must outlive the page. */
struct fabric_web *fabric_web_new(struct clients *clients);
void fabric_web_free(struct fabric_web *web); /* after the HTTP server has stopped; accepts NULL */
/* Adds the routes of the page; returns their number, at most `room`. */
size_t fabric_web_add_routes(struct fabric_web *web, struct http_route *routes, size_t room);
/* Publishes a tick if somebody watches and it is time; returns when to call again. Both times are
 * those of clients->now. */
uint64_t fabric_web_step(struct fabric_web *web);

#endif
