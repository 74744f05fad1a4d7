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
    /* Set by a signal handler: the run stops after the present event and its results are partial.
     * May be NULL. */
    const volatile sig_atomic_t *interrupt;
};

/* Fills the record, also up to an error. Failed checks are no error; an error concerns the
 * scenario. */
int run_scenario(struct scenario *scenario, const struct run_options *options,
                 struct run_record *record, struct err *err);

#endif
