/* Runs a scenario: one deterministic simulation in virtual time. */
#ifndef WEFT_EXPERIMENT_RUN_RUN_H
#define WEFT_EXPERIMENT_RUN_RUN_H

#include "experiment/measure/run_record.h"
#include "experiment/run/setup.h"
#include "experiment/scenario/scenario.h"

#include <signal.h>

struct pcap;

struct run_options {
    struct pcap *pcap;     /* NULL: none */
    struct text *topology; /* receives the initial fabric in ibnetdiscover format; or NULL */
    /* Called at intervals; `until` is the end of the present `run` statement, or TIME_NEVER if
     * unknown. May be NULL. */
    void (*progress)(void *context, uint64_t now, uint64_t until);
    /* Called after each `run` statement; must not change anything. May be NULL. */
    void (*inspect)(void *context, const struct setup *setup);
    void *context;
    /* Also receives the reports of the fabric about packets; must outlive the run. May be NULL. */
    const struct data_observer *observer;
    /* Set by a signal handler: the run stops after the present event and its results are partial.
     * May be NULL. */
    const volatile sig_atomic_t *interrupt;
    /* Threads for data packets, with the same results as one; must outlive the run. May be NULL. */
    const struct workers *workers;
    struct partition_figures *parallel; /* receives what the threads did; may be NULL */
};

/* Fills the record, also up to an error. A failed check is not an error; an error concerns the
 * scenario. */
int run_scenario(struct scenario *scenario, const struct run_options *options,
                 struct run_record *record, struct err *err);

/* The same in parts, for a run that a person watches. All but options must outlive the run. On
 * error nothing needs to be ended. */
struct scenario_run;
int scenario_run_begin(struct scenario_run **run, struct scenario *scenario,
                       const struct run_options *options, struct run_record *record,
                       struct err *err);
/* Executes statements up to this time. After the last statement time advances without them, unless
 * `until` is TIME_NEVER. The parts in which time advances do not change the run. */
int scenario_run_advance(struct scenario_run *run, uint64_t until);
/* The same, but ends when a `run until settled` has ended, before traffic that starts then. */
int scenario_run_settle(struct scenario_run *run, uint64_t until);
void scenario_run_end(struct scenario_run *run);
const struct setup *scenario_run_setup(const struct scenario_run *run);
/* A `run until settled` is under way. */
bool scenario_run_is_settling(const struct scenario_run *run);
/* The end of the run at a deadlock, if the scenario demands it. */
bool scenario_run_is_halted(const struct scenario_run *run);

/* ---- run_by_hand.c: actions that are not in the scenario ---- */

/* Applies an action now. Time must be a whole number of nanoseconds, so that the exported scenario
 * can state it. On error nothing has changed. */
int scenario_run_act(struct scenario_run *run, const struct action *action, struct err *err);
/* Writes the scenario that repeats the run so far, with the actions at their times: its trace hash
 * is that of this run. Actions and statements that were not executed yet are left out.
 * `paths`: with absolute paths of files. */
void scenario_run_export(const struct scenario_run *run, bool paths, struct text *out);

#endif
