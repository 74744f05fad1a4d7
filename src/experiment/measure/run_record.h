/* What happened in a run: the timeline, the managers' changes, and what was checked. */
#ifndef WEFT_EXPERIMENT_MEASURE_RUN_RECORD_H
#define WEFT_EXPERIMENT_MEASURE_RUN_RECORD_H

#include "base/mem.h"
#include "base/text.h"
#include "experiment/measure/results.h"

#include <stdbool.h>
#include <stdint.h>

enum run_record_kind {
    RUN_RECORD_ACTION, /* somebody did something to the fabric */
    RUN_RECORD_EVENT,  /* a manager said something … */
    RUN_RECORD_ALARM,  /* … that it is unhappy with */
    RUN_RECORD_CHECK,  /* a check was made */
    RUN_RECORD_KINDS,
};
extern const char *const run_record_kind_names[RUN_RECORD_KINDS]; /* "action", "event" … */

struct run_record_event {
    enum run_record_kind kind;
    uint64_t time;
    const char *who, *text;
};

/* From the first sign to "the subnet is as wanted". */
struct run_record_change {
    const char *who, *cause;
    uint64_t begin, routed, end; /* routed: the last routes were there, or 0: none were needed */
    uint64_t gets, sets, blocks; /* SMPs that asked, that wrote, and of these table blocks */
    bool finished;               /* else given up: the manager died, or was not master any more */
    bool tied;                   /* to a fault, and the first change after it */
    uint64_t fault;              /* when that was */
    uint64_t routing, computing; /* when routes were computed first (0: not known); how long */
};

struct run_record_check {
    const char *line; /* the statement */
    unsigned number;  /* its line */
    uint64_t time;
    bool holds;
    const char *finding; /* what is wrong, or what was measured; may be "" */
};

/* A virtual machine that the scenario names; costs are those of its last move, or its start. */
struct run_record_machine {
    const char *name;
    unsigned lid, moves, switches, table_smps; /* lid 0: it was stopped */
    uint64_t time_ps;
    bool has_traffic; /* then also: */
    uint64_t downtime_ps, lost;
};

struct run_record {
    VEC(struct run_record_event) events;
    VEC(struct run_record_change) changes;
    VEC(struct run_record_check) checks;
    VEC(struct run_record_machine) machines;
    const char *file;
    uint64_t seed, end, hash;
    uint64_t smps, lost,
        hops; /* of the fabric: SMPs that entered it, were dropped by faults, links crossed */
    uint32_t switches, adapters;
    struct results results; /* what was measured */
    const char *verdict;    /* on the traffic: "steady", "saturated: …"; NULL: there was none */
    bool plain;             /* pictures in ASCII */
    struct arena arena;
    /* Hears of each event as it comes; may be NULL. */
    void (*tell)(void *context, const struct run_record_event *event);
    void *context;
};

void run_record_release(struct run_record *record);
void run_record_tell(struct run_record *record, enum run_record_kind kind, uint64_t time,
                     const char *who, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* A change's phases follow each other (changes.h). False if there is no such phase. */
enum phase_kind { PHASE_DETECT, PHASE_DISCOVER, PHASE_COMPUTE, PHASE_DISTRIBUTE, PHASE_KINDS };
extern const char *const phase_names[PHASE_KINDS];
bool run_record_phase(const struct run_record_change *change, enum phase_kind kind, uint64_t *from,
                      uint64_t *to);
/* When the computing of routes began; if there were none, the end. */
uint64_t run_record_routing(const struct run_record_change *change);
unsigned run_record_failures(const struct run_record *record); /* checks that do not hold */

#endif
