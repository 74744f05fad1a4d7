/* What the files of the daemon share: daemon.c has the loop, daemon_config.c the configuration,
 * daemon_files.c the files that it writes, daemon_start.c start and end, performance.c the reading
 * of counters.
 *
 *   control/   the control socket and its commands; followers of events
 *   page/      the HTTP server: metrics and the live page
 *   problems/  the list of problems, and the lines of the log about them */
#ifndef WEFT_HOST_DAEMON_DAEMON_INTERNAL_H
#define WEFT_HOST_DAEMON_DAEMON_INTERNAL_H

#include "host/daemon/control/manager_control.h"
#include "host/daemon/daemon.h"
#include "host/daemon/device_port.h"
#include "host/files/event_log.h"
#include "host/files/registrations.h"
#include "host/files/store.h"
#include "host/files/worker.h"
#include "host/http/http.h"
#include "host/manager/config.h"
#include "host/metrics/manager_metrics.h"
#include "perf/perf.h"

#include <poll.h>

/* Descriptors that the loop polls beside the port; -1: none. */
enum {
    WATCH_SIGNALS,
    WATCH_ROUTER,
    WATCH_WRITER,
    WATCH_SAVER,
    WATCH_CONTROL,
    WATCH_HTTP,
    WATCH_COUNT
};

struct daemon {
    const struct daemon_options *options;
    struct config *config;
    VEC(struct config *) retired; /* a running job may still refer to them */
    struct device_port *port;
    struct sm *sm;
    struct sa *sa;
    struct vswitch *machines;
    struct perf *perf;
    struct workers workers; /* for engines */
    struct worker *router, *writer;
    struct event_log log;
    struct manager_control *control; /* NULL: none */
    struct store store;
    struct registrations registrations;
    struct pollfd watched[WATCH_COUNT];
    bool lids_due, dump_due, ready;
    uint64_t links_kept;                 /* `cabling` of the subnet that was written last */
    bool files_failed;                   /* the last time; it was logged */
    uint64_t files_again_at;             /* the time of the next attempt, after a failure */
    struct err files_error;              /* why files could not be written */
    struct problems problems;            /* at the last comparison */
    uint64_t problems_at, problems_last; /* the next and the last comparison */
    bool ending;
    int status; /* exit status */
    uint64_t stop_at;
    uint64_t watchdog_interval, watchdog_at; /* of systemd; 0 and TIME_NEVER: none */
    uint64_t page_at;                        /* the next tick of the page */
    uint64_t send_failures;
    uint64_t fabric_generation;     /* last passed to the manager */
    struct daemon_http *http;       /* NULL: neither metrics nor page */
    struct daemon_metrics *metrics; /* NULL: not served */
    struct daemon_web *web;         /* NULL: not served */
    struct manager_totals totals;
};

void daemon_finish_jobs(struct daemon *daemon); /* takes computed routes */
/* What commands of `weft ctl` and of the page see and change. */
struct manager_access daemon_access(struct daemon *daemon);
void daemon_serve_control(struct daemon *daemon, uint64_t now);

/* 0 without a port: a signal has ended the daemon before a port had a link. */
int daemon_open_all(struct daemon *daemon, struct err *err);
void daemon_close_all(struct daemon *daemon);

/* Reads the configuration for the first time. */
int daemon_read_config(struct daemon *daemon, struct err *err);
/* Reads it again. A configuration with an error changes nothing. */
void daemon_reload_config(struct daemon *daemon, uint64_t now);
/* Logs the lines that are not in force as they are written. */
void daemon_log_config(struct daemon *daemon);
int daemon_open_log(struct daemon *daemon, const struct config *config, struct err *err);
/* Frees old configurations; no job may be running. */
void daemon_free_retired(struct daemon *daemon);

/* Makes the HTTP server, if the configuration asks for metrics or the page. An address that cannot
 * be used is logged and tried again later. */
void daemon_open_http(struct daemon *daemon, uint64_t now);
void daemon_close_http(struct daemon *daemon);
/* Adds the addresses that are not open. */
void daemon_list_listeners(const struct daemon *daemon, struct problems *problems);
uint64_t daemon_http_deadline(const struct daemon *daemon); /* of the next attempt */
/* Answers one request that waits, and tries to listen if it is time. */
void daemon_serve_http(struct daemon *daemon, uint64_t now);
/* manager_access.page_url */
int daemon_page_url(void *daemon, char *url, size_t size, struct err *err);

/* Adds their routes, and returns the number of them. */
size_t daemon_open_metrics(struct daemon *daemon, struct http_route routes[2]);
void daemon_close_metrics(struct daemon *daemon);
/* Counts a trap that was received. */
void daemon_count_trap(struct daemon *daemon, const struct sm_message *message);

size_t daemon_open_web(struct daemon *daemon, struct http_route *routes, size_t room);
void daemon_close_web(struct daemon *daemon);
/* Publishes the state if it is time; returns the next time. */
uint64_t daemon_web_step(struct daemon *daemon, uint64_t now);
/* For its log, and for its versions of tables. */
void daemon_web_event(struct daemon *daemon, const struct event_record *record);
void daemon_web_note(struct daemon *daemon, const struct sm_event *event);

void daemon_read_counters(struct daemon *daemon, uint64_t now);
uint64_t daemon_counters_deadline(const struct daemon *daemon);

/* Takes finished tasks of the writer. Files that could not be written become due again. */
void daemon_finish_files(struct daemon *daemon, uint64_t now);
uint64_t daemon_files_deadline(const struct daemon *daemon);
/* Gives the files that are due to the writer, if it is idle. */
void daemon_submit_files(struct daemon *daemon, uint64_t now);

/* After an event: problems may have appeared or ended. */
void daemon_expect_problems(struct daemon *daemon, uint64_t now);
uint64_t daemon_problems_deadline(const struct daemon *daemon);
/* Logs problems that appeared or ended. */
void daemon_watch_problems(struct daemon *daemon, uint64_t now);
/* manager_access.list_problems */
void daemon_list_problems(void *daemon, uint64_t now, struct problems *problems);

#endif
