/* Simulated hosts that use the subnet administration: they join groups, ask for paths, subscribe.
 *
 * A host asks whoever its port says is master, and follows a redirection from there; it remembers
 * where it was sent to until another one is master or nobody answers there. A question without an
 * answer is repeated, and asked of the new master if there is one; BUSY waits a little. Reports are
 * acknowledged and counted. All of it happens while the simulation runs; there may be one such
 * crowd in a simulation. */
#ifndef WEFT_HOST_SIM_SIM_CLIENTS_H
#define WEFT_HOST_SIM_SIM_CLIENTS_H

#include "host/sim/sim.h"
#include "wire/redirect.h"

struct sim_clients;
/* The simulation must have an administration (sim_administer()) and outlive this. */
struct sim_clients *sim_clients_new(struct sim *sim, struct fabric *fabric);
void sim_clients_free(struct sim_clients *clients); /* accepts NULL */

/* A question's state. The answer lasts as long as the question. */
struct sim_question {
    enum { SIM_OPEN, SIM_ANSWERED, SIM_UNANSWERED } state;
    uint32_t port;
    uint64_t asked, answered; /* times */
    unsigned tries, busy;     /* how often it was sent, and how often the answer was BUSY */
    unsigned status;          /* of the answer */
    char *trouble;            /* why it was given up, if a redirection led nowhere; or NULL */
    struct redirect_trail trail;
    uint8_t mad[MAD_BYTES]; /* the question */
    uint8_t *answer;        /* the whole of it */
    size_t bytes;
};
/* Asks from a port of a host; the question's number. The MAD needs method, attribute, mask, data.
 */
uint32_t sim_clients_ask(struct sim_clients *clients, uint32_t port, const uint8_t mad[MAD_BYTES]);
const struct sim_question *sim_clients_question(const struct sim_clients *clients, uint32_t number);
/* Runs until none is open, or `limit` has passed; true if none is. */
bool sim_clients_run(struct sim_clients *clients, uint64_t limit);

/* Asks for the path between two ports of the fabric. */
uint32_t sim_clients_path(struct sim_clients *clients, uint32_t port, uint32_t to);

/* Reports that came to the host at this port. */
uint64_t sim_clients_reports(const struct sim_clients *clients, uint32_t port);
/* The last one's notice; NULL: none came. */
const uint8_t *sim_clients_last_notice(const struct sim_clients *clients, uint32_t port);

#endif
