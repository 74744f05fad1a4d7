/* The stage of a scenario: a fabric as its statements describe it, with managers at their seats.
 *
 * Statements that say what there is (topology, preset, seed, set, sm) hold for the whole run
 * wherever in the file they stand; all names are bound here, so that nothing happens unless
 * everything can. */
#ifndef WEFT_EXPERIMENT_RUN_SETUP_H
#define WEFT_EXPERIMENT_RUN_SETUP_H

#include "experiment/measure/changes.h"
#include "experiment/measure/run_record.h"
#include "experiment/run/flows.h"
#include "experiment/run/machines.h"
#include "experiment/scenario/scenario.h"
#include "host/manager/config.h"
#include "host/sim/sim.h"
#include "host/sim/sim_paths.h"

struct metrics;
struct unaffected;

struct setup_seat {
    const char *name;
    struct config config;
    bool stopped; /* is started by an action */
    /* of the change under way */
    bool open;
    size_t change; /* in the story */
    struct change_record book;
};

struct setup {
    struct scenario *scenario;
    struct run_record *record;
    struct cursor cursor; /* without words: takes errors about words of the scenario */
    struct topology topology;
    struct fabric_options options;
    struct fabric *fabric;
    struct sim *sim;
    VEC(struct setup_seat *) seats;
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

/* ---- setup.c ---- */

/* On error nothing is left to release. Both must outlive the stage. */
int setup_build(struct setup *setup, struct scenario *scenario, struct run_record *record,
                struct err *err);
void setup_release(struct setup *setup);

/* The seat at a node, or -1. */
int setup_find_seat(const struct setup *setup, uint32_t node);
void setup_start_manager(struct setup *setup, size_t seat);
void setup_kill_manager(struct setup *setup, size_t seat);
struct sm *setup_manager(const struct setup *setup, size_t seat); /* NULL: not running */
struct check_view setup_view(const struct setup *setup);
const char *setup_node_name(const struct setup *setup, uint32_t node);
/* For errors about a setting, which may be one of the command line. */
struct cursor setup_setting_cursor(const struct setup *setup, const struct statement *setting);

/* ---- apply.c ---- */

/* Carries an action out, now. */
int apply_action(struct setup *setup, const struct statement *statement);

/* ---- change_log.c: what managers do, as the record of the run keeps it ---- */

void change_log_listen(struct setup *setup);
/* A `run` statement begins: its counts start at 0. */
void change_log_begin_run(struct setup *setup);
/* Ends the change that the manager at a seat is working on, if there is one. */
void change_log_close(struct setup *setup, size_t seat, bool finished);
/* Requests sent during the last run; 0 means any. */
uint64_t change_log_sent(const struct setup *setup, unsigned method, unsigned attribute);
/* Whether the text of an event of the last run contains `text`. */
bool change_log_said(const struct setup *setup, const char *text);

/* ---- measuring.c ---- */

/* An error if two statements collect something under the same name. */
int measuring_check_names(struct setup *setup);
void measuring_begin(struct setup *setup);
/* Brings the results up to date. */
void measuring_publish(struct setup *setup, uint64_t now);

/* ---- check_eval.c ---- */

/* Whether a `check` statement holds now; the complaint says what is wrong, or what was measured. */
bool check_evaluate(struct setup *setup, const struct check_statement *check,
                    struct complaint *complaint);

#endif
