/* Plays a scenario: one deterministic run in virtual time. */
#ifndef WEFT_EXPERIMENT_RUN_RUN_H
#define WEFT_EXPERIMENT_RUN_RUN_H

#include "experiment/measure/run_record.h"
#include "experiment/run/setup.h"
#include "experiment/scenario/scenario.h"

struct pcap;

struct run_options {
    struct pcap *pcap;     /* NULL: none */
    struct text *topology; /* gets the fabric as the run began, in ibnetdiscover's words; or NULL */
    /* Hears now and then how far the run has come; `until` is where the present `run` statement
     * ends, TIME_NEVER if that is not known. May be NULL. */
    void (*progress)(void *context, uint64_t now, uint64_t until);
    void *context;
};

/* The story is filled as far as things went; whether its checks hold is its business. An error is
 * one of the scenario itself. */
int run_scenario(struct scenario *scenario, const struct run_options *options,
                 struct run_record *record, struct err *err);

#endif
