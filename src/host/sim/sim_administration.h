/* The subnet administration of a simulated manager. It receives queries and sends answers as
 * packets of the fabric, through the MAD layer (host/mad/mad_layer.h). Times are picoseconds. */
#ifndef WEFT_HOST_SIM_SIM_ADMINISTRATION_H
#define WEFT_HOST_SIM_SIM_ADMINISTRATION_H

#include "host/mad/mad_layer.h"
#include "sa/sa.h"
#include "sm/sm.h"

struct sim_administration_options {
    struct sa_config config; /* without `instance` */
    uint64_t query_ps;       /* processing time of a query */
    bool synchronised;       /* standbys copy the registrations of the master */
    /* It uses another port than its manager; the manager's port redirects clients there. */
    bool elsewhere;
    uint32_t port; /* of the fabric */
    bool kept;     /* a manager at the port of a killed one reads its registrations */
};
void sim_administration_options_init(struct sim_administration_options *options);

struct sim_administration;

/* For the manager at `port`. `file`: registrations of a killed manager at that port, or NULL. */
struct sim_administration *sim_administration_new(const struct sim_administration_options *options,
                                                  struct fabric *fabric, struct mad_layer *mads,
                                                  uint32_t port, struct sm *sm, uint64_t now_ps,
                                                  const struct text *file);
void sim_administration_free(struct sim_administration *administration); /* accepts NULL */
struct sa *sim_administration_sa(struct sim_administration *administration);

/* Runs the administration at the present time; the manager may have outputs afterwards. */
void sim_administration_run(struct sim_administration *administration, uint64_t now_ps,
                            struct sm *sm);
uint64_t sim_administration_deadline(const struct sim_administration *administration,
                                     uint64_t now_ps);
void sim_administration_notice(struct sim_administration *administration, uint64_t now_ps,
                               struct sm *sm, const uint8_t *notice);

#endif
