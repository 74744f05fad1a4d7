/* The server of `weft live`: a session at a pace, and the API on it.
 *
 * One thread owns all of it. It calls live_step() again and again; the HTTP server has a thread of
 * its own and hands over requests, which are answered between two parts of the run.
 *
 *   live.c        pace, ticks, the loop's step
 *   handlers.c    the routes of the API
 *   session.c     the run and what was done by hand
 *   watch.c       the state that is shown (watch_sections.c: the rest of it)
 *   control.c     actions as statements
 *   path.c        paths
 *   memberships.c partitions and multicast groups
 *   cabling_view.c the plan and the links that are up
 *   versions.c    tables of the past
 *   engine_view.c the tables of another engine */
#ifndef WEFT_EXPERIMENT_LIVE_LIVE_H
#define WEFT_EXPERIMENT_LIVE_LIVE_H

#include "experiment/live/versions.h"
#include "host/http/http.h"

enum { LIVE_ROUTES = 64 };

struct live_options {
    const char *name, *text; /* of the scenario */
    const uint64_t *seed;    /* NULL: that of the scenario */
    double pace;             /* virtual seconds for one second of wall time */
    const char *listen, *token, *version;
    const struct topology *plan; /* of the cabling; NULL: the network itself */
    bool settle;                 /* begin when the managers have settled */
    bool paused;
    uint64_t (*clock_ns)(void); /* wall time, monotonic */
};

struct live {
    struct live_options options;
    struct live_session session;
    struct watch watch;
    struct versions versions;
    struct api_publisher publisher;
    struct http_server *server;
    struct http_route routes[LIVE_ROUTES];
    size_t route_count;
    bool running, until_event, dirty;
    double pace;
    uint64_t anchor_wall_ns, anchor_ps; /* virtual time is this at that wall time */
    uint64_t next_tick_ns;
    uint64_t step_ps; /* a part of the run that takes some milliseconds */
    uint64_t events_mark;
};

/* On error nothing needs to be ended. The object must not be moved. */
int live_begin(struct live *live, const struct live_options *options, struct err *err);
void live_end(struct live *live);
/* Answers requests, advances the run, publishes ticks. Returns for how many milliseconds there is
 * nothing to do unless http_server_fd() becomes readable; -1: for ever. */
int live_step(struct live *live);

/* ---- between the files ---- */

void live_add_routes(struct live *live);
void live_run(struct live *live, bool running); /* begins or ends a pause */
void live_set_pace(struct live *live, double pace);
/* Advances without pace, at most to this time. */
void live_advance(struct live *live, uint64_t until);
/* Goes to a time, perhaps in the past. */
int live_seek(struct live *live, uint64_t time, struct err *err);
int live_restart(struct live *live, const uint64_t *seed, struct err *err);
/* Reads the state now, so that an answer shows what an action did. */
void live_refresh(struct live *live);

#endif
