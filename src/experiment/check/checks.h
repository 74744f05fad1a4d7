/* Checks of the fabric itself, independent of its managers.
 *
 * A fabric may be partitioned, so each check runs for each part: the ports that cables connect with
 * the port of a running manager. Nodes whose agents do not answer belong to no part. The checks
 * read the attributes of agents and the tables of switches; from managers they read only the state
 * and, for `discovered`, the subnet database. */
#ifndef WEFT_EXPERIMENT_CHECK_CHECKS_H
#define WEFT_EXPERIMENT_CHECK_CHECKS_H

#include "experiment/scenario/check_parse.h"
#include "host/sim/sim.h"

#define NO_MANAGER UINT32_MAX

struct partitions;

struct manager_instance {
    uint32_t port;    /* of the fabric */
    uint32_t manager; /* index in the simulator; NO_MANAGER: not running, or killed */
};

struct check_view {
    const struct fabric *fabric;
    struct sim *sim;
    const struct manager_instance *instances;
    size_t instance_count;
    const bool *silent; /* by node: its agent does not answer; NULL: all do */
    bool may_wait;      /* all links of managers may be down */
};

struct check_failure {
    char text[4096];
};
/* Formats what is wrong; returns false, so that a check can return it. A failure may be NULL,
 * here and below: its text is not wanted. */
bool check_fail(struct check_failure *failure, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* True if it holds for every part, and there is one; else the failure has the first violation. */
bool check_holds(const struct check_view *view, enum check_kind kind,
                 struct check_failure *failure);
/* Nodes that are on, but in no part that has a running manager. */
struct cut_off {
    uint32_t switches, adapters;
};
struct cut_off check_cut_off(const struct check_view *view);
/* All of these checks. */
bool check_in_order(const struct check_view *view, struct check_failure *failure);

/* ---- machines (machines_check.c) ---- */

struct expected_machine {
    const char *name;
    uint64_t guid;
    uint16_t lid;
    bool wanted; /* false: it must not exist */
};

struct expected_machines {
    const struct expected_machine *items;
    size_t count;
    bool dynamic_lids;                   /* only machines have LIDs; else every function has one */
    const struct partitions *partitions; /* NULL: keys are not checked */
};

/* `check machines`: every machine exists once with its LID, no LID is lost, and every function has
 * the partition keys of its machine and no others. */
bool check_machines(const struct check_view *view, const struct expected_machines *expected,
                    struct check_failure *failure);

#endif
