/* What a session shows: reads fabric, managers and record of a run into a tick of the API.
 *
 *   watch.c           states of nodes and links, loads, tables that are written
 *   watch_sections.c  managers, changes, problems, deadlock, flows, machines
 *
 * Watching changes nothing in the run. */
#ifndef WEFT_EXPERIMENT_LIVE_WATCH_H
#define WEFT_EXPERIMENT_LIVE_WATCH_H

#include "experiment/live/session.h"
#include "host/api/api.h"

struct watch_problem { /* when a problem was first seen */
    char *text;
    uint64_t since_ns;
    bool present;
};

struct watch {
    const struct live_session *session;
    struct api_links links;
    struct api_places places;
    struct api_log log;
    struct api_tick tick;
    size_t events_read;          /* of the record */
    uint64_t time;               /* of the last reading, ps */
    uint64_t *busy_ps, *packets; /* at the last reading: by port; by port and VL */
    unsigned vls;
    bool *touched;             /* by node: its table was to change in the present change */
    uint64_t *lost;            /* by port: packets lost there */
    struct data_totals totals; /* at the last reading */
    uint64_t delivered, latency_sum, latency_most; /* since the last reading */
    uint64_t deadlock_since;                       /* TIME_NEVER: none */
    VEC(struct watch_problem) problems;
    struct data_observer observer;
};

/* The observer is valid before watch_begin(). */
void watch_init(struct watch *watch);
/* A run of the session begins, or begins anew. */
void watch_begin(struct watch *watch, const struct live_session *session);
void watch_release(struct watch *watch);
/* Reads the present state into watch->tick and the log. */
void watch_read(struct watch *watch);

/* watch_sections.c */
void watch_sections(struct watch *watch);

#endif
