/* The server of `weft live`: a session at a pace, and the API on it.
 *
 * One thread owns all of it. It calls live_step() again and again; the HTTP server has a thread of
 * its own and hands over requests, which are answered between two parts of the run.
 *
 *   live.c        pace, ticks, the loop's step
 *   handlers.c    the routes of the API
 *   session.c     the run and what was done by hand
 *   watch.c       the state that is shown (watch_managers.c, watch_sections.c: the rest of it)
 *   control.c     actions of the API
 *   ctl.c         the commands of weft ctl, at control sockets
 *   engine_view.c the tables of another engine */
#ifndef WEFT_EXPERIMENT_LIVE_LIVE_H
#define WEFT_EXPERIMENT_LIVE_LIVE_H

#include "experiment/live/watch.h"
#include "host/control/control_reply.h"
#include "host/control/control_socket.h"
#include "host/http/http.h"

enum { LIVE_ROUTES = 64, LIVE_DESCRIPTORS = 3 };
enum live_socket { LIVE_FABRIC, LIVE_MANAGER, LIVE_SOCKETS }; /* whose commands come first */

struct live_options {
    const char *name, *text; /* of the scenario */
    const uint64_t *seed;    /* NULL: that of the scenario */
    double pace;             /* virtual seconds for one second of wall time */
    const char *listen, *token, *version;
    const struct topology *plan;   /* of the cabling; NULL: the network itself */
    const struct workers *workers; /* threads for data packets; NULL: one */
    bool settle;                   /* without pace until the managers have settled */
    bool paused;
    uint64_t (*clock_ns)(void);             /* wall time, monotonic */
    const volatile sig_atomic_t *interrupt; /* ends long computations; NULL: none */
};

struct live {
    struct live_options options;
    struct live_session session;
    struct live_watch watch;
    struct api_publisher publisher;
    struct http_server *server;
    struct http_route routes[LIVE_ROUTES];
    struct control_socket *sockets[LIVE_SOCKETS]; /* NULL: none */
    bool running, until_event, dirty;
    bool starting; /* the managers bring the subnet up, without pace */
    bool stopped;  /* a client sent `stop` */
    double pace;
    uint64_t begin_wall_ns;
    uint64_t anchor_wall_ns, anchor_ps; /* virtual time is this at that wall time */
    uint64_t next_tick_ns;
    uint64_t goal_ps; /* the run goes on to this time without pace; 0: none */
    uint64_t step_ps; /* a part of the run that takes some milliseconds */
    uint64_t events_mark;
};

/* On error nothing needs to be ended. The object must not be moved. */
int live_begin(struct live *live, const struct live_options *options, struct err *err);
void live_end(struct live *live);
/* Answers requests, advances the run, publishes ticks. Returns for how many milliseconds there is
 * nothing to do unless one of live_descriptors() becomes readable; -1: without limit. */
int live_step(struct live *live);
/* How far the start is, or how it ended. */
void live_progress(const struct live *live, struct text *out);
void live_descriptors(const struct live *live, int fds[LIVE_DESCRIPTORS]); /* -1: none */

/* ---- between the files ---- */

size_t live_add_routes(struct live *live);      /* returns their number */
void live_run(struct live *live, bool running); /* begins or ends a pause */
void live_set_pace(struct live *live, double pace);
/* Advances to this time without pace. If that takes more than some seconds, the rest follows in
 * parts, so that other clients are served. */
void live_advance(struct live *live, uint64_t until);
/* Goes to a time, perhaps in the past. */
int live_seek(struct live *live, uint64_t time, struct err *err);
/* Applies actions until one is refused; lists those that were applied (NULL: does not). */
int live_apply(struct live *live, const struct action *actions, size_t count, struct json *json,
               struct err *err);
int live_restart(struct live *live, const uint64_t *seed, struct err *err);
/* Reads the state now, so that an answer shows what an action did. */
void live_refresh(struct live *live);

/* ---- ctl.c ---- */

/* Listens for `weft ctl` there, and at the path with .sm for the commands of managers. */
int live_ctl_open(struct live *live, const char *path, struct err *err);
void live_ctl_close(struct live *live);
void live_ctl_serve(struct live *live, uint64_t now_ns); /* answers requests that have arrived */
uint64_t live_ctl_deadline(const struct live *live);     /* to serve at the latest */
/* All commands that answer, of `weft live`. */
extern const struct control_command *const live_control_tables[];
/* Runs a command and fills in the reply. */
void live_ctl_run(struct live *live, enum live_socket at, const struct control_request *request,
                  struct control_reply *reply);

#endif
