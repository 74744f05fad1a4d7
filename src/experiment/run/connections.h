/* Connections: `connection` statements, bound to the fabric and measured. */
#ifndef WEFT_EXPERIMENT_RUN_CONNECTIONS_H
#define WEFT_EXPERIMENT_RUN_CONNECTIONS_H

#include "experiment/measure/statistics.h"
#include "host/sim/sim_connections.h"

struct record;
struct setup;
struct action;
struct connection_spec;
struct statement;

/* In the order of their statements. */
struct run_connection {
    const struct statement *statement; /* NULL: an action */
    const struct connection_spec *spec;
    struct connection_config config;
    uint32_t number; /* in the simulation; UINT32_MAX: its statement was not executed yet */
    struct value_distribution latency;
};
struct run_connections {
    struct sim_connections *sim; /* NULL: there are none */
    struct sim_clients *clients; /* NULL: no connection is set up by messages */
    bool by_cm;
    uint32_t unreachable; /* pairs of `connect all` without a path */
    VEC(struct run_connection) items;
    VEC(uint32_t) started;             /* by number in the simulation: index of `items` */
    struct value_distribution latency; /* of all */
};

int connections_bind(struct setup *setup);   /* names; setup->cursor receives the error */
void connections_begin(struct setup *setup); /* there is a fabric */
void connections_release(struct setup *setup);
/* The run has reached the statement. */
int connections_start(struct setup *setup, const struct statement *statement);
/* An action: both ends are ready at once. */
int connections_connect(struct setup *setup, const struct action *action, struct err *err);
int connections_set_alternate(struct setup *setup, const struct statement *statement);
/* The list of those that have begun, each with its state and figures; of more than `most` the last.
 */
void connections_put(const struct setup *setup, const char *key, size_t most,
                     struct record *record);
void connections_publish(struct setup *setup);

#endif
