/* `check machines`: every machine is at one place with the LID it was given, no LID got lost, and
 * whoever has a function has its own partition keys and nobody else's. Asked of the fabric: what
 * agents hold. */
#ifndef WEFT_EXPERIMENT_CHECK_MACHINES_CHECK_H
#define WEFT_EXPERIMENT_CHECK_MACHINES_CHECK_H

#include "experiment/check/checks.h"

struct partitions;

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

bool check_machines(const struct check_view *view, const struct expected_machines *expected,
                    struct complaint *complaint);

#endif
