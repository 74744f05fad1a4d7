/* Flows: `traffic` statements, bound to the fabric and running on it. */
#ifndef WEFT_EXPERIMENT_RUN_FLOWS_H
#define WEFT_EXPERIMENT_RUN_FLOWS_H

#include "base/err.h"
#include "experiment/scenario/traffic_spec.h"

struct setup;
struct statement;

/* Flows are numbered from 1 in the order of their statements. */
struct flow {
    struct traffic traffic;
    bool stopped;                        /* an action starts it */
    const struct statement *settled_run; /* the times count from its end; NULL: they are absolute */
    bool running;
    unsigned number; /* number of the traffic in the fabric */
};

/* Whether it is a setting of the command line: traffic.KEY for all flows, traffic.N.KEY for one. */
bool flows_is_setting(const struct statement *statement);
int flows_bind(struct setup *setup);
/* An error if no packet of a flow can ever have a path: no manager, or none that is connected. */
int flows_check_managers(struct setup *setup);
void flows_release(struct setup *setup);

/* Starts the flows that no action starts. */
void flows_begin(struct setup *setup);
/* A `run until settled` has ended: starts the flows whose times count from its end. */
void flows_settled(struct setup *setup, const struct statement *run);
int flows_start(struct setup *setup, uint64_t flow, struct err *err);
int flows_stop(struct setup *setup, uint64_t flow, struct err *err);

#endif
