/* What the computations share (computations.c, routing_computations.c). */
#ifndef WEFT_REPRODUCE_COMPUTATIONS_H
#define WEFT_REPRODUCE_COMPUTATIONS_H

#include "reproduce/evidence.h"
#include "routing/model/network.h"
#include "routing/model/routes.h"

/* What a computation gets, and where it puts its results. */
struct computing {
    struct evidence *evidence;
    const struct recipe *recipe;
    const char *engine;
    uint64_t seed; /* of the networks */
    struct err *err;
};

/* Adds the results for both presets, and releases them. The parameters are a format. */
void computation_add(struct computing *c, struct results *found, const char *parameters, ...)
    __attribute__((format(printf, 3, 4)));
/* A generated network. With an LMC above 0 all LIDs are new, 2^lmc for each adapter port. */
int computation_network(struct network *network, const char *kind, const char *const *words,
                        size_t count, uint8_t lmc, uint64_t seed, struct err *err);
int computation_routes(const struct network *network, const char *engine, struct routes *routes,
                       struct err *err);

/* The networks of TPDS 2006: Fig. 1 (number 0), and irregular ones of the other sizes. That of a
 * repetition is that of the simulations with the same number. */
enum { PAPER_SIZES = 6 };
int computation_paper_network(struct network *network, size_t size, uint8_t lmc, uint64_t seed,
                              uint32_t repetition, struct err *err);

int compute_pira_steps(struct computing *c);
/* On each of these networks. */
int compute_pira_routes(struct computing *c, const struct network *network, uint32_t repetition);
int compute_dr_routes(struct computing *c, const struct network *network, uint32_t repetition);
int compute_mixed_tables(struct computing *c, const struct network *network, uint32_t repetition);

#endif
