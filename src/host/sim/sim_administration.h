/* The subnet administration beside a simulated manager: its queries come in and its answers go out
 * through the fabric's packets, by a MAD layer as every operating system has it (mad_layer.h). It
 * is told the simulator's time, in picoseconds, and returns its deadlines so. */
#ifndef WEFT_HOST_SIM_SIM_ADMINISTRATION_H
#define WEFT_HOST_SIM_SIM_ADMINISTRATION_H

#include "host/mad/mad_layer.h"
#include "sa/sa.h"
#include "sm/sm.h"

struct sim_administration_options {
    struct sa_config config; /* but for the instance */
    uint64_t query_ps;       /* what the administration's processor spends on one query */
    bool synchronised;       /* standbys learn from their master */
    /* It sits at another port than its manager, where clients are redirected from. */
    bool elsewhere;
    uint32_t port; /* of the fabric */
    bool kept;     /* a manager that is seated where another one died finds its file */
};
void sim_administration_options_init(struct sim_administration_options *options);

struct sim_administration;

/* At a port with a manager. `file` is what was left by another one there, or NULL. */
struct sim_administration *sim_administration_new(const struct sim_administration_options *options,
                                                  struct fabric *fabric, struct mad_layer *mads,
                                                  uint32_t port, struct sm *sm, uint64_t now_ps,
                                                  const struct text *file);
void sim_administration_free(struct sim_administration *administration); /* accepts NULL */
struct sa *sim_administration_sa(struct sim_administration *administration);

/* Everything that it has to do now; the manager may have something to do because of it. */
void sim_administration_attend(struct sim_administration *administration, uint64_t now_ps,
                               struct sm *sm);
uint64_t sim_administration_deadline(const struct sim_administration *administration,
                                     uint64_t now_ps);
void sim_administration_notice(struct sim_administration *administration, uint64_t now_ps,
                               struct sm *sm, const uint8_t *notice);

#endif
