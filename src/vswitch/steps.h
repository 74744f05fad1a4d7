/* Which functions are told what, and in which order, when a machine starts, ends or moves (paper
 * 004, algorithm 1; docs/decisions/015-vswitch.md has the reasons).
 *
 * Pure: a plan is made once, before anything is written, and then followed step by step. Each step
 * makes something wanted of one function; the next one waits for the outcome. */
#ifndef WEFT_VSWITCH_STEPS_H
#define WEFT_VSWITCH_STEPS_H

#include "subnet/subnet.h"

enum step_kind {
    STEP_OPEN,   /* the new place gets a LID, so that keys can be written there */
    STEP_KEYS,   /* the machine's partition keys are written to the new place */
    STEP_ATTACH, /* the new place gets the machine */
    STEP_DETACH, /* the old place lets the machine go */
    STEP_UNDO,   /* the new place gets back what it had */
    STEP_KINDS,
};
struct step {
    enum step_kind kind;
    uint32_t socket;
    struct function_setting wanted; /* but of keys */
};

struct steps {
    struct step items[4];
    unsigned count, at;
};

struct steps_request {
    uint64_t guid;           /* of the machine */
    uint32_t source, target; /* sockets; SUBNET_NONE: it starts, it ends */
    uint16_t lid;            /* of the machine */
    uint16_t left;           /* what the old place has afterwards; 0: none */
    bool keys;               /* partition keys go first … */
    uint16_t open;           /* … to a function that gets this LID before; 0: it has one */
};
void steps_plan(struct steps *steps, const struct subnet *subnet,
                const struct steps_request *request);
/* The new place is to have this LID again, and no machine. */
void steps_plan_undo(struct steps *steps, const struct subnet *subnet, uint32_t target,
                     uint16_t lid);

/* What follows from the outcome of a step, and why. */
struct step_verdict {
    enum { STEPS_GO_ON, STEPS_FAIL, STEPS_UNDO } what;
    const char *why; /* NULL: that was said before */
    bool by_name;    /* the hypervisor's name goes before it */
};
struct step_verdict steps_judge(enum step_kind kind, enum function_outcome outcome);

#endif
