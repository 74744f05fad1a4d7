/* Is the fabric in order? Asked of the fabric itself, not of those who manage it.
 *
 * A fabric may have come apart, so everything is asked for each part that a living manager sits in:
 * what cables connect with its port now. Agents that are known not to answer (mute ones) are not
 * part of anything. What is looked at is what is really there: the states and addresses that agents
 * hold, the tables that switches use; of managers only their state and, for `discovered`, what they
 * know. */
#ifndef WEFT_EXPERIMENT_CHECK_CHECKS_H
#define WEFT_EXPERIMENT_CHECK_CHECKS_H

#include "experiment/scenario/check_parse.h"
#include "host/sim/sim.h"

#define NO_MANAGER UINT32_MAX

struct partitions;

struct check_seat {
    uint32_t port;    /* of the fabric */
    uint32_t manager; /* of the simulator, or NO_MANAGER; killed ones count as none */
};

struct check_view {
    const struct fabric *fabric;
    struct sim *sim;
    const struct check_seat *seats;
    size_t seat_count;
    const bool *silent; /* by node: does not answer; NULL: all do */
};

struct complaint {
    char text[256];
};
/* Says what is wrong; false, so that a check can end with it. */
bool complain(struct complaint *complaint, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* True if it holds for every part with a living manager, and there is one; else what is wrong
 * first. */
bool check_holds(const struct check_view *view, enum check_kind kind, struct complaint *complaint);
/* All of them. */
bool check_in_order(const struct check_view *view, struct complaint *complaint);

/* ---- machines (machines_check.c) ---- */

struct expected_machine {
    const char *name;
    uint64_t guid;
    uint16_t lid;
    bool wanted; /* else it must be nowhere */
};

struct expected_machines {
    const struct expected_machine *items;
    size_t count;
    bool dynamic_lids;                   /* only machines have LIDs; else every function has one */
    const struct partitions *partitions; /* NULL: keys are not checked */
};

/* `check machines`: every machine is at one place with the LID it was given, no LID got lost, and
 * whoever has a function has its own partition keys and nobody else's. */
bool check_machines(const struct check_view *view, const struct expected_machines *expected,
                    struct complaint *complaint);

#endif
