/* The quick part of the check: LIDs that every switch delivers, which are nearly all of them.
 *
 * Tables are read in blocks of LIDs, transposed so that the entries of a LID are adjacent. Switches
 * are visited in the order of their distance from the owner of the LID, taken from the previous
 * LID: if a switch sends to one that was not visited yet, the order is computed again. A LID that
 * some switch does not deliver is left to verify.c. */
#ifndef WEFT_ROUTING_CHECK_WALK_H
#define WEFT_ROUTING_CHECK_WALK_H

#include "routing/check/dependency.h"
#include "routing/model/routes.h"

/* The LID under check. */
struct verify_target {
    uint16_t lid;
    uint32_t owner, at; /* end point, and its switch */
    uint32_t offset;    /* from the owner's base LID */
    bool is_switch;
};

struct quick_walk {
    const struct network *network;
    const struct routes *routes;
    unsigned vls;
    const uint16_t *back; /* [to * switches + from]: service levels from `to` to the terminals at
                             `from`, by which these may send to it; or NULL */
    uint32_t switch_count, first_lid; /* of the block in `columns` */
    uint8_t *columns;                 /* [(LID - first_lid) * switch_count + switch] */
    uint32_t *order;                  /* switches by distance from the owner of the last LID */
    uint32_t *next;                   /* by switch: where its entry leads */
    uint32_t *channel;                /* by switch: the channel of its entry */
    uint32_t *hops;                   /* by switch */
    uint32_t *weight;                 /* by switch: terminals whose packets leave it */
    uint32_t *terminals;              /* by switch: how many it has */
    uint16_t *levels;                 /* by switch: service levels of these packets */
    uint32_t *load;                   /* by channel: pairs of terminals */
    uint32_t *count_by_hops, *sorted; /* scratch */
    struct arena memory;
};

/* For connected networks, and routes without renamed destinations and without VLs from files. */
void walk_init(struct quick_walk *walk, const struct network *network, const struct routes *routes,
               unsigned vls, const uint16_t *back);
/* Makes `back` for tables whose SLs are used in both directions; the caller frees it. */
uint16_t *walk_levels_back(const struct network *network, const struct routes *routes);
void walk_release(struct quick_walk *walk);
/* Adds the LID to the sums and its dependencies to the graph, except those that
 * walk_scan_dependencies() adds. False if some switch does not deliver it: then nothing is
 * added. */
bool walk_take_lid(struct quick_walk *walk, const struct verify_target *target,
                   struct verify_report *sum, struct dependency_graph *graph);

/* With one VL, the dependencies of terminals' LIDs follow from pairs of entries, one behind the
 * other, since every switch may send to terminals. Adds those of packets that leave one switch; it
 * writes only to rows of these packets. */
void walk_scan_dependencies(const struct network *network, const struct routes *routes,
                            uint32_t from, struct dependency_graph *graph);

#endif
