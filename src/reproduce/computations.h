/* Evidence that is computed, not simulated. */
#ifndef WEFT_REPRODUCE_COMPUTATIONS_H
#define WEFT_REPRODUCE_COMPUTATIONS_H

#include "reproduce/evidence.h"

/* Adds what the computation of that name finds. */
int compute_evidence(struct evidence *evidence, const char *name, const struct recipe *recipe,
                     struct err *err);

#endif
