/* Groups of paths that must have one SL: the paths from a switch to a LID or, with reversible
 * routes, all paths between two switches and their terminals. */
#ifndef WEFT_ROUTING_UPDATE_PATH_GROUPS_H
#define WEFT_ROUTING_UPDATE_PATH_GROUPS_H

#include "routing/cdg/cdg.h"
#include "routing/model/update_plan.h"

/* From a switch to a LID; with reversible routes, between two switches, the lower one first. */
struct path_group {
    uint32_t from, to;
};

struct path_groups {
    const struct network *network;
    bool reversible;
    uint32_t *first_lid; /* by switch, one more at the end: rows of lids */
    uint16_t *lids;      /* of the switch and its terminals */
    struct group_path {
        uint32_t from, lid;
    } * paths;    /* of the group that was read last */
    size_t count; /* number of paths; at least one */
};

void path_groups_init(struct path_groups *groups, const struct network *network, bool reversible);
void path_groups_release(struct path_groups *groups);

/* All groups whose packets can pass from one switch to another, one after the other: the first call
 * gets {0, 0}. False after the last one. */
bool path_groups_next(const struct path_groups *groups, struct path_group *group);
void path_groups_read(struct path_groups *groups, struct path_group group);

/* For the group that was read. Adds the dependencies of its paths to a layer; with `check`, false
 * if one closes a cycle. */
bool path_groups_lay(const struct path_groups *groups, struct cdg *cdg, unsigned layer,
                     const struct routes *tables, bool check);
/* The VLs (bits) of its paths by the service levels of the routes. */
uint16_t path_groups_vls(const struct path_groups *groups, const struct routes *routes);
/* Sets the level of its paths in `levels`, which has the layout of routes->service_levels. */
void path_groups_set(const struct path_groups *groups, const struct routes *routes, uint8_t *levels,
                     unsigned vl);

/* Adds the dependencies of all paths by the tables, each on the VL of its service level in
 * `levels`. Counts the paths of each VL. */
void update_lay_all(struct cdg *cdg, const struct routes *levels, const struct routes *tables,
                    uint64_t pairs[UPDATE_PLAN_VLS]);

#endif
