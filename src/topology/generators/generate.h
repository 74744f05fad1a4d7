/* Generates fabrics: kinds that are in use, and those of papers.
 *
 * A kind has named parameters; words are "name=value" or bare values in the table's order, so that
 * "clos 3 1 4" and "clos m=3 n=1 r=4" are the same. Every kind also takes width=, speed= and
 * length= for its links, and vfs= (with hypervisors=) to turn hosts into hypervisors
 * (topology/virtual.h). The same kind, words and seed give the same fabric on every machine. */
#ifndef WEFT_TOPOLOGY_GENERATE_H
#define WEFT_TOPOLOGY_GENERATE_H

#include "topology/topology.h"

/* Replaces the old contents; an error changes nothing. */
int topology_generate(struct topology *topology, const char *kind, const char *const *words,
                      size_t count, uint64_t seed, struct err *err);

/* Appends all kinds and their parameters, for help texts. */
void topology_describe_kinds(struct text *out);

#endif
