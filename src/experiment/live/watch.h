/* What a session shows: reads fabric, managers and record of a run into a tick of the API.
 *
 *   watch.c           traffic, events and tables that are written; fabric_view.h has the rest
 *   watch_sections.c  problems, deadlock, flows, machines; managers_view.h has the rest
 *
 * Watching changes nothing in the run. */
#ifndef WEFT_EXPERIMENT_LIVE_WATCH_H
#define WEFT_EXPERIMENT_LIVE_WATCH_H

#include "experiment/live/session.h"
#include "host/fabric_view/fabric_view.h"

struct watch {
    const struct live_session *session;
    struct fabric_view view;
    struct api_publisher *publisher; /* the owner's */
    size_t events_read;              /* of the record */
    bool *touched;                   /* by node: its table was to change in the present change */
    struct fabric_latency latency;   /* since the last reading */
    uint64_t deadlock_since;         /* TIME_NEVER: none */
    struct problems problems;        /* of the last tick */
    struct data_observer observer;
};

/* The observer is valid before watch_begin(). */
void watch_init(struct watch *watch, struct api_publisher *publisher);
/* A run of the session begins, or begins anew. */
void watch_begin(struct watch *watch, const struct live_session *session);
void watch_release(struct watch *watch);
/* Reads the present state into the tick and the log of the publisher. */
void watch_read(struct watch *watch);

/* watch_sections.c */
void watch_sections(struct watch *watch);
/* The present problems, with the times at which they were first seen. */
void watch_list_problems(struct watch *watch, struct problems *problems);

#endif
