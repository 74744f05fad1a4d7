/* The traffic of a stage: `traffic` statements, bound to its fabric and running on it. */
#ifndef WEFT_EXPERIMENT_RUN_FLOWS_H
#define WEFT_EXPERIMENT_RUN_FLOWS_H

#include "base/err.h"
#include "experiment/scenario/traffic_spec.h"

struct setup;
struct statement;

/* Flows are numbered from 1 on, as their statements stand in the file. */
struct flow {
    struct traffic traffic;
    bool stopped; /* is started by an action */
    bool running;
    unsigned number; /* as the fabric numbers it */
};

/* The command line's settings about traffic: traffic.KEY for all, traffic.N.KEY for one. */
bool flows_is_setting(const struct statement *statement);
int flows_bind(struct setup *setup);
void flows_release(struct setup *setup);

/* Those that are not started by an action. */
void flows_begin(struct setup *setup);
int flows_start(struct setup *setup, uint64_t flow, struct err *err);
int flows_stop(struct setup *setup, uint64_t flow, struct err *err);

#endif
