/* weft verify --disjoint: how far the routes to the LIDs of each port are independent. */
#ifndef WEFT_CLI_VERIFY_DISJOINT_H
#define WEFT_CLI_VERIFY_DISJOINT_H

#include "base/record.h"
#include "routing/model/routes.h"
#include "routing/model/workers.h"

/* Prints sums and the `worst` pairs. */
void verify_put_disjoint(struct record *record, const struct network *network,
                         const struct routes *routes, const struct workers *workers,
                         unsigned worst);

#endif
