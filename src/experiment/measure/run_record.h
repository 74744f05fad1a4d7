/* The record of a run: its events, the changes of its managers, and its checks. */
#ifndef WEFT_EXPERIMENT_MEASURE_RUN_RECORD_H
#define WEFT_EXPERIMENT_MEASURE_RUN_RECORD_H

#include "base/mem.h"
#include "base/text.h"
#include "experiment/measure/results.h"
#include "sm/change.h"
#include "topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

enum run_record_kind {
    RUN_RECORD_ACTION, /* an action of the scenario */
    RUN_RECORD_EVENT,  /* an event of a manager */
    RUN_RECORD_ALARM,  /* a warning or an error of a manager or of the fabric */
    RUN_RECORD_CHECK,  /* the result of a check */
    RUN_RECORD_KINDS,
};
extern const char *const run_record_kind_names[RUN_RECORD_KINDS]; /* "action", "event" … */

struct run_record_event {
    enum run_record_kind kind;
    uint64_t time;
    uint32_t node; /* that it is about, or TOPOLOGY_NONE */
    const char *who, *text;
    bool note; /* of a manager about its work: nothing has happened in the subnet. Not stored */
};

/* A change: from the first sign to "the subnet is as wanted". */
struct run_record_change {
    const char *who, *cause;
    uint64_t begin, routed, end; /* routed: end of the last computation; 0: none */
    uint64_t gets, sets, blocks; /* Gets, Sets, and Sets of LFT blocks */
    bool finished;               /* else no routes, or the manager died or lost mastership */
    const char *refusal;         /* why tables were refused; NULL: they were not. Not stored */
    bool tied;                   /* the first change after a fault */
    uint64_t fault;              /* time of the fault */
    uint64_t draining;           /* time that the manager waited for packets to drain */
    uint64_t stopped;            /* when the manager stopped all sources; 0: never. Not stored */
    uint64_t routing, computing; /* start of the first computation (0: unknown); time of all */
};

struct run_record_check {
    const char *line; /* the statement */
    unsigned number;  /* its line */
    uint64_t time;
    bool holds;
    const char *finding; /* what is wrong, or the measured value; may be "" */
};

/* A virtual machine that the scenario names; costs of its last move, or of its start. */
struct run_record_machine {
    const char *name;
    unsigned lid, moves, switches, table_smps; /* lid 0: it is stopped */
    uint64_t time_ps;
    bool has_traffic; /* the next line is valid */
    uint64_t downtime_ps, lost;
};

/* A connection that has begun. */
struct run_record_connection {
    const char *name, *service, *operation;
    uint64_t messages, lost;
    double goodput; /* bits/s */
    uint32_t timeouts, sequence_naks, rnr_naks, resent_packets, migrations;
    uint32_t reconnections;
    uint64_t median_ps, p99_ps, outage_ps;
    const char *broken; /* the reason; NULL: it is not broken */
};

struct run_record {
    VEC(struct run_record_event) events;
    VEC(struct run_record_change) changes;
    VEC(struct run_record_check) checks;
    VEC(struct run_record_machine) machines;
    VEC(struct run_record_connection) connections;
    const char *file;
    uint64_t seed, end, hash;
    uint64_t smps, lost, hops; /* SMPs sent, SMPs dropped by faults, links crossed */
    uint32_t switches, adapters;
    struct results results; /* figures and series */
    const char *verdict;    /* "steady", "saturated: …"; NULL: there was no traffic */
    bool plain;             /* draw in ASCII */
    struct arena arena;
    /* Called for each event; may be NULL. */
    void (*tell)(void *context, const struct run_record_event *event);
    void *context;
};

void run_record_release(struct run_record *record);
/* `node`: that the event is about; or TOPOLOGY_NONE. */
void run_record_add_event_at(struct run_record *record, enum run_record_kind kind, uint64_t time,
                             uint32_t node, const char *who, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
#define run_record_add_event(record, kind, time, ...)                                              \
    run_record_add_event_at(record, kind, time, TOPOLOGY_NONE, __VA_ARGS__)
/* The interval of a step; false if the change has no such step. */
bool run_record_step(const struct run_record_change *change, enum sm_step kind, uint64_t *from,
                     uint64_t *to);
/* The start of the route computation; without one the end of the change. */
uint64_t run_record_routing(const struct run_record_change *change);
unsigned run_record_failures(const struct run_record *record); /* checks that do not hold */

#endif
