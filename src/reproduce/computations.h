/* What the computations share (computations.c, routing_computations.c). */
#ifndef WEFT_REPRODUCE_COMPUTATIONS_H
#define WEFT_REPRODUCE_COMPUTATIONS_H

#include "reproduce/evidence.h"
#include "routing/model/network.h"
#include "routing/model/routes.h"

/* Adds the results for both presets, and releases them. */
void computation_add(struct evidence *evidence, const char *parameters, struct results *found);
/* A generated network. With an LMC above 0 all LIDs are new, 2^lmc for each adapter port. */
int computation_network(struct network *network, const char *kind, const char *const *words,
                        size_t count, uint8_t lmc, uint64_t seed, struct err *err);
int computation_routes(const struct network *network, const char *engine, struct routes *routes,
                       struct err *err);

/* The networks of TPDS 2006: Fig. 1 (number 0), and irregular ones of the other sizes. */
enum { PAPER_SIZES = 6 };
int computation_paper_network(struct network *network, size_t size, uint8_t lmc, uint64_t seed,
                              struct err *err);

/* A computation by its name, on the networks of a seed. */
typedef int computation(struct evidence *evidence, const struct recipe *recipe, const char *engine,
                        uint64_t seed, struct err *err);
computation compute_pira_steps, compute_pira_routes, compute_dr_routes, compute_mixed_tables;

#endif
