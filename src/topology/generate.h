/* Makes fabrics of the kinds that people build and that papers measure.
 *
 * A kind has named parameters; words are "name=value" or bare values in the table's order, so that
 * "clos 3 1 4" and "clos m=3 n=1 r=4" are the same. Every kind also takes width=, speed= and
 * length= for its links, and vfs= (with hypervisors=) to make hypervisors of its hosts
 * (topology/virtual.h). The same kind, words and seed give the same fabric everywhere. */
#ifndef WEFT_TOPOLOGY_GENERATE_H
#define WEFT_TOPOLOGY_GENERATE_H

#include "topology/topology.h"

/* On error nothing is changed; on success the old contents are replaced. */
int topology_generate(struct topology *topology, const char *kind, const char *const *words,
                      size_t count, uint64_t seed, struct err *err);

/* Appends all kinds and their parameters, for a person to read. */
void topology_describe_kinds(struct text *out);

#endif
