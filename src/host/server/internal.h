/* The private side of the server: its state, and what the loops of both clocks use. */
#ifndef WEFT_HOST_SERVER_INTERNAL_H
#define WEFT_HOST_SERVER_INTERNAL_H

#include "host/lockstep/lockstep.h"
#include "host/server/connection.h"
#include "host/server/server.h"

enum { SERVER_EVENTS = 64 };

struct server {
    struct clients clients;
    struct fabric *fabric;
    uint64_t pace_millionths;
    char pace[32];
    char *path; /* of the listening socket */
    int epoll, listener, signals, reserve;
    pid_t child;
    int child_status;
    bool ended, lingering;
    uint64_t linger_since, linger_since_ns; /* the second is wall-clock time */
    VEC(pid_t) orphans;                     /* which got SIGTERM */
    uint64_t start_ns;
    uint64_t spin;             /* time to poll before sleeping */
    uint64_t lag_ps;           /* network time lost because this machine is too slow; modulo 2^64 */
    struct connection *closed; /* to be freed after this iteration */
    struct fabric_http *http;  /* NULL: none */
    struct lockstep *lockstep; /* NULL: the wall clock */
    bool patient;              /* it has waited before the step that comes next */
    bool stirred;              /* programs were given something */
};

/* server.c: handles what epoll_wait() has returned. */
void server_handle(struct server *server, const struct epoll_event *events, int count);
/* Writes MADs to their programs, and frees what has ended. True: something was written. */
bool server_finish(struct server *server);
/* Closes the connections of programs that have broken the rules. */
void server_close_failed(struct server *server);

/* simulated.c: serves as server_run() does, in simulated time. */
void simulated_start(struct server *server);
void simulated_run(struct server *server);

#endif
