/* The fabric server: a simulated fabric on a socket, for programs that take it for a real one. */
#ifndef WEFT_HOST_SERVER_SERVER_H
#define WEFT_HOST_SERVER_SERVER_H

#include "host/server/attach.h"

#include <sys/types.h>

struct server_options {
    const char *socket_path;
    const char *directory; /* private to the server; NULL: no stand-in for /sys/class */
    struct attachment attachment;
    /* How network time follows the wall clock: in millionths (1,000,000 is real time); 0 collapses
     * all delays. Agents' timers and time-outs always run on the wall clock. */
    uint64_t pace_millionths;
};

struct server;

/* Listens; the fabric must outlive the server. 0 or -errno with the reason in *err. */
int server_new(struct server **result, struct fabric *fabric, const struct server_options *options,
               struct err *err);
void server_free(struct server *server);
/* A command whose end is the server's end. */
void server_watch_child(struct server *server, pid_t child);
/* Serves until the child ends, a signal asks for the end (SIGINT or SIGTERM; with a child, only its
 * end counts and SIGTERM is passed on) or a client says so. Returns the child's exit status, as a
 * shell would have it, or 0. Those signals
 * and SIGCHLD must be blocked since before the child was started. */
int server_run(struct server *server);

#endif
