/* Simulated hosts that send requests to the subnet administration.
 *
 * A host sends to the master SM LID of its port and follows redirections. It uses a redirection
 * until the master changes or the address does not answer. A request without an answer is repeated,
 * to the new master if there is one; after BUSY it is repeated with a delay. Reports are
 * acknowledged and counted. A simulation can have one struct sim_clients. */
#ifndef WEFT_HOST_SIM_SIM_CLIENTS_H
#define WEFT_HOST_SIM_SIM_CLIENTS_H

#include "host/sim/sim.h"
#include "wire/redirect.h"

struct sim_clients;
/* The simulation must have an administration (sim_add_administrations()) and outlive it. */
struct sim_clients *sim_clients_new(struct sim *sim, struct fabric *fabric);
void sim_clients_free(struct sim_clients *clients); /* accepts NULL */

/* A request and its answer. */
struct sim_query {
    enum { SIM_OPEN, SIM_ANSWERED, SIM_UNANSWERED } state;
    uint32_t port;
    uint64_t asked, answered; /* times */
    unsigned tries, busy;     /* transmissions, and answers with BUSY */
    unsigned status;          /* of the answer */
    char *trouble;            /* the error of a redirection, or NULL */
    struct redirect_trail trail;
    uint8_t mad[MAD_BYTES]; /* the request */
    uint8_t *answer;        /* of `bytes` bytes */
    size_t bytes;
};
/* Sends a request from a port of a host. The MAD must have method, attribute, component mask and
 * data. Returns the number of the request. */
uint32_t sim_clients_send(struct sim_clients *clients, uint32_t port, const uint8_t mad[MAD_BYTES]);
const struct sim_query *sim_clients_query(const struct sim_clients *clients, uint32_t number);
/* The requests that are finished, in that order: the number of one of them. UINT32_MAX: there are
 * not so many. */
uint32_t sim_clients_finished(const struct sim_clients *clients, size_t index);
/* Runs until all requests are finished, or until `limit`. Returns whether all are finished. */
bool sim_clients_run(struct sim_clients *clients, uint64_t limit);

/* Requests the PathRecord of two ports of the fabric. p_key 0: of any partition. */
uint32_t sim_clients_path(struct sim_clients *clients, uint32_t port, uint32_t to, uint16_t p_key);

/* Requests at most `most` paths between some ports and others, by MultiPathRecord: of the first two
 * that share least (weft-sa(7)). `ports` has the sources, then the destinations. */
struct sim_multi_path {
    uint32_t ports[4];
    unsigned sources, destinations;
    unsigned most;
    uint16_t p_key; /* 0: of any partition */
};
uint32_t sim_clients_multi_path(struct sim_clients *clients, uint32_t port,
                                const struct sim_multi_path *wanted);

/* The number of reports that the host at this port received. */
uint64_t sim_clients_reports(const struct sim_clients *clients, uint32_t port);
/* The notice of the last report; NULL: none. */
const uint8_t *sim_clients_last_notice(const struct sim_clients *clients, uint32_t port);

#endif
