/* What a session shows: reads fabric, managers and record of a run into a tick of the API.
 *
 *   watch.c           traffic, events and tables that are written; fabric_view.h has the rest
 *   watch_managers.c  managers, changes, problems, tables of the past; manager_page.h has the rest
 *   watch_sections.c  deadlock, flows, machines
 *
 * Watching changes nothing in the run. */
#ifndef WEFT_EXPERIMENT_LIVE_WATCH_H
#define WEFT_EXPERIMENT_LIVE_WATCH_H

#include "experiment/live/session.h"
#include "host/fabric_view/fabric_view.h"
#include "host/manager_view/manager_page.h"

struct live_watch {
    const struct live_session *session;
    struct fabric_view view;
    struct api_publisher *publisher; /* the owner's */
    size_t events_read;              /* of the record */
    bool *touched;                   /* by node: its table was to change in the present change */
    struct fabric_latency latency;   /* since the last reading */
    uint64_t deadlock_since;         /* TIME_NEVER: none */
    struct problems problems;        /* of the last tick */
    struct api_versions versions;    /* of the tables in the switches */
    uint64_t changes_seen;           /* end of the last change with tables of its own, ns */
    uint64_t machines_seen;          /* end of the last request about a virtual machine, ns */
    struct data_observer observer;
};

/* The observer is valid before watch_begin(). */
void watch_init(struct live_watch *watch, struct api_publisher *publisher);
/* A run of the session begins, or begins anew. */
void watch_begin(struct live_watch *watch, const struct live_session *session);
void watch_release(struct live_watch *watch);
/* Reads the present state into the tick and the log of the publisher. */
void watch_read(struct live_watch *watch);
/* DLID and SL are those that packets use. */
void watch_put_path(const struct live_watch *watch, uint32_t from, uint32_t to, struct text *out);

/* ---- watch_sections.c ---- */

void watch_sections(struct live_watch *watch);

/* ---- watch_managers.c ---- */

void watch_read_managers(struct live_watch *watch);
/* The master; else any manager that runs; else the number of managers. */
size_t watch_choose_manager(const struct live_watch *watch);
/* What a manager shows; without a number below that of managers, nothing. */
struct manager_page watch_page(const struct live_watch *watch, size_t manager);
uint32_t watch_manager_node(const struct setup *setup, size_t manager);
void watch_put_managers(const struct live_watch *watch, struct record *record);
void watch_put_changes(const struct live_watch *watch, struct record *record); /* the last ones */
/* The present problems with the times at which they were first seen, sorted: those that masters
 * know; without a master, those of the chosen manager. */
void watch_list_problems(const struct live_watch *watch, struct problems *problems);
/* Keeps the tables if a change or a request has ended since the last call. */
void watch_keep_tables(struct live_watch *watch);

#endif
