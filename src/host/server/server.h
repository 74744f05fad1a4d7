/* The fabric server: serves a simulated fabric to programs that use libibumad. */
#ifndef WEFT_HOST_SERVER_SERVER_H
#define WEFT_HOST_SERVER_SERVER_H

#include "fabric/traffic/traffic.h"
#include "host/lockstep/lockstep.h"
#include "host/server/attach.h"
#include "host/server/fabric_http.h"

#include <sys/types.h>

struct server_options {
    const char *socket_path;
    const char *directory; /* private to the server; NULL: no replacement of /sys/class */
    struct attachment attachment;
    const char *ip; /* which IP addresses hosts have (read_addresses.h); NULL: the standard */
    /* Network time per wall-clock time, in millionths (1,000,000 is real time). 0: network delays
     * take no time. Agents' timers and time-outs always run on the wall clock. */
    uint64_t pace_millionths;
    struct lockstep *lockstep; /* simulated time for programs, instead of a pace; NULL: none */
    struct fabric_http_options http; /* metrics and the live page */
    /* Data traffic, which needs a pace; the owner keeps it. Times count from the start. */
    const struct traffic *traffics;
    size_t traffic_count;
};

struct server;

/* Starts to listen; the fabric must outlive the server. 0 or -errno. */
int server_new(struct server **result, struct fabric *fabric, const struct server_options *options,
               struct err *err);
void server_free(struct server *server);
/* The URL of the metrics; NULL: they are not served. */
const char *server_metrics_address(const struct server *server);
/* The URL of the live page, with the token; NULL: it is not served. */
const char *server_web_url(const struct server *server);
/* The server ends when this process ends. */
void server_watch_child(struct server *server, pid_t child);
/* Serves until the child ends, or without a child until SIGINT, SIGTERM or SIGHUP, or until a
 * client sends `stop`. SIGTERM and SIGHUP are passed to a child. Returns the child's exit status in
 * the encoding of shells, or 0. These signals and SIGCHLD must be blocked before the child is
 * started. */
int server_run(struct server *server);

#endif
