/* The stage of a scenario: a fabric as its statements describe it, with managers at their seats.
 *
 * Statements that say what there is (topology, preset, seed, set, sm) hold for the whole run
 * wherever in the file they stand; all names are bound here, so that nothing happens unless
 * everything can. */
#ifndef WEFT_EXPERIMENT_RUN_STAGE_H
#define WEFT_EXPERIMENT_RUN_STAGE_H

#include "experiment/measure/changes.h"
#include "experiment/measure/story.h"
#include "experiment/run/flows.h"
#include "experiment/run/machines.h"
#include "experiment/scenario/scenario.h"
#include "host/manager/config.h"
#include "host/sim/sim.h"
#include "host/sim/sim_paths.h"

struct metrics;
struct unaffected;

struct stage_seat {
    const char *name;
    struct config config;
    bool stopped; /* is started by an action */
    /* of the change under way */
    bool open;
    size_t change; /* in the story */
    struct change_book book;
};

struct stage {
    struct scenario *scenario;
    struct story *story;
    struct topology topology;
    struct fabric_options options;
    struct fabric *fabric;
    struct sim *sim;
    VEC(struct stage_seat *) seats;
    VEC(struct check_seat) places; /* beside the seats */
    VEC(uint32_t) owner;           /* by manager of the simulator: its seat */
    bool *silent;                  /* by node */
    struct sent sent;              /* during the last run */
    size_t said;                   /* events of the story before the last run */
    uint64_t disturbed, settled;   /* the last action, and when a change ended last */
    uint64_t trained;              /* when the last link that was mended is up */
    uint64_t fault;                /* that no change has been tied to yet; TIME_NEVER */
    VEC(struct flow) flows;
    struct machines machines;
    bool stop_on_deadlock;
    struct sim_paths *paths;
    struct metrics *metrics;
    struct unaffected *unaffected; /* NULL: nobody asks */
};

/* On error nothing is left to release. Both must outlive the stage. */
int stage_build(struct stage *stage, struct scenario *scenario, struct story *story,
                struct err *err);
void stage_release(struct stage *stage);

/* The seat at a node, or -1. */
int stage_find_seat(const struct stage *stage, uint32_t node);
void stage_start_manager(struct stage *stage, size_t seat);
void stage_kill_manager(struct stage *stage, size_t seat);
struct sm *stage_manager(const struct stage *stage, size_t seat); /* NULL: not running */
struct check_view stage_view(const struct stage *stage);
const char *stage_node_name(const struct stage *stage, uint32_t node);

#endif
