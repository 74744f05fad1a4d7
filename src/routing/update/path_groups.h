/* What must have one service level: a source switch and a LID, or, with reversible routes, all that
 * two switches and their terminals send each other. For those who lay paths on lanes. */
#ifndef WEFT_ROUTING_UPDATE_PATH_GROUPS_H
#define WEFT_ROUTING_UPDATE_PATH_GROUPS_H

#include "routing/cdg/cdg.h"
#include "routing/model/routes.h"

/* From a switch to a LID; with reversible routes, between two switches, the lower one first. */
struct path_group {
    uint32_t from, to;
};

struct path_groups {
    const struct network *network;
    bool reversible;
    uint32_t *first_lid; /* by switch, one more at the end: rows of lids */
    uint16_t *lids;      /* of the switch and its terminals */
};

void path_groups_init(struct path_groups *groups, const struct network *network, bool reversible);
void path_groups_release(struct path_groups *groups);

/* All of them, whose packets can pass from one switch to another. */
void path_groups_each(const struct path_groups *groups,
                      void (*visit)(void *context, struct path_group group), void *context);
/* All paths of one: from a switch to a LID. Stops, and returns false, where `visit` does. */
bool path_group_each(const struct path_groups *groups, struct path_group group,
                     bool (*visit)(void *context, uint32_t from, uint32_t lid), void *context);

/* Notes the dependencies of a path in a layer; with `check` inserts them, and false if one closes a
 * cycle. Paths between switches without terminals are management, and none
 * (verify.h). */
bool update_lay_path(struct cdg *cdg, unsigned layer, const struct routes *tables, uint32_t from,
                     uint32_t lid, bool check);
/* Whether packets go the same way by both tables. */
bool update_path_stays(const struct cdg *cdg, const struct routes *before,
                       const struct routes *after, uint32_t from, uint32_t lid);

#endif
