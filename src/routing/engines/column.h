/* The routes to one LID as a tree: a column of the forwarding tables. */
#ifndef WEFT_ROUTING_ENGINES_COLUMN_H
#define WEFT_ROUTING_ENGINES_COLUMN_H

#include "routing/cdg/cdg.h"
#include "routing/model/routes.h"

struct column {
    uint32_t lid;
    uint32_t target;  /* the switch where it ends */
    bool to_terminal; /* then every switch is a source, else only those with terminals */
    uint32_t count;   /* switches that it delivers from */
    uint32_t *order;  /* switches that deliver, each after its next hop; the target comes first */
    uint32_t *out, *next; /* by switch in `order` except the target: its channel and its next hop */
    uint32_t *path;
    uint8_t *state;
    struct arena memory;
};

void column_init(struct column *column, const struct network *network);
void column_release(struct column *column);
/* False if the LID is unused, or has the same paths as another LID: LIDs of a switch with terminals
 * (see sssp.h), and all but the first LID of a switch. */
bool column_read(struct column *column, const struct cdg *cdg, const struct routes *routes,
                 uint32_t lid);
#endif
