/* What happened in a run: the timeline, the managers' changes, and what was checked. */
#ifndef WEFT_EXPERIMENT_MEASURE_STORY_H
#define WEFT_EXPERIMENT_MEASURE_STORY_H

#include "base/mem.h"
#include "base/text.h"
#include "experiment/measure/results.h"

#include <stdbool.h>
#include <stdint.h>

enum story_kind {
    STORY_ACTION, /* somebody did something to the fabric */
    STORY_EVENT,  /* a manager said something … */
    STORY_ALARM,  /* … that it is unhappy with */
    STORY_CHECK,  /* a check was made */
    STORY_KINDS,
};
extern const char *const story_kind_names[STORY_KINDS]; /* "action", "event" … */

struct story_event {
    enum story_kind kind;
    uint64_t time;
    const char *who, *text;
};

/* From the first sign to "the subnet is as wanted". */
struct story_change {
    const char *who, *cause;
    uint64_t begin, routed, end; /* routed: the last routes were there, or 0: none were needed */
    uint64_t gets, sets, blocks; /* SMPs that asked, that wrote, and of these table blocks */
    bool finished;               /* else given up: the manager died, or was not master any more */
    bool tied;                   /* to a fault, and the first change after it */
    uint64_t fault;              /* when that was */
    uint64_t routing, computing; /* when routes were computed first (0: not known); how long */
};

struct story_check {
    const char *line; /* the statement */
    unsigned number;  /* its line */
    uint64_t time;
    bool holds;
    const char *finding; /* what is wrong, or what was measured; may be "" */
};

/* A virtual machine that the scenario names; costs are those of its last move, or its start. */
struct story_machine {
    const char *name;
    unsigned lid, moves, switches, table_smps; /* lid 0: it was stopped */
    uint64_t time_ps;
    bool has_traffic; /* then also: */
    uint64_t downtime_ps, lost;
};

struct story {
    VEC(struct story_event) events;
    VEC(struct story_change) changes;
    VEC(struct story_check) checks;
    VEC(struct story_machine) machines;
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
    void (*tell)(void *context, const struct story_event *event);
    void *context;
};

void story_release(struct story *story);
void story_tell(struct story *story, enum story_kind kind, uint64_t time, const char *who,
                const char *format, ...) __attribute__((format(printf, 5, 6)));
/* When the computing of routes began; if there were none, the end. */
uint64_t story_routing(const struct story_change *change);
unsigned story_failures(const struct story *story); /* checks that do not hold */

#endif
