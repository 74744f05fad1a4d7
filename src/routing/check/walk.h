/* The quick part of the check: LIDs that every switch delivers, which are nearly all of them.
 *
 * Tables are read in blocks of LIDs, turned so that a LID's entries stand side by side. Switches
 * are gone through in the order of their distance from the LID's owner, known from the LID before:
 * whoever a switch sends to has been met already, or there is something to say about this LID, and
 * then the careful walk of verify.c says it. */
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

struct walk {
    const struct network *network;
    const struct routes *routes;
    unsigned vls;
    const uint16_t *back; /* [to * switches + from]: service levels from `to` to the terminals at
                             `from`, by which these may send to it; or NULL */
    uint32_t switch_count, first_lid; /* of the block in `columns` */
    uint8_t *columns;                 /* [(LID - first_lid) * switch_count + switch] */
    uint32_t *order;                  /* switches by distance from the owner of the last LID */
    uint32_t *next;                   /* by switch: where its entry leads */
    uint32_t *channel;                /* by switch: by which channel */
    uint32_t *hops;                   /* by switch */
    uint32_t *weight;                 /* by switch: terminals whose packets leave it */
    uint32_t *terminals;              /* by switch: how many it has */
    uint16_t *levels;                 /* by switch: service levels of these packets */
    uint32_t *load;                   /* by channel: pairs of terminals */
    uint32_t *count_by_hops, *sorted; /* scratch */
    struct arena memory;
};

/* For networks in one piece, and routes that neither rename destinations nor have lanes given from
 * outside (service levels of their own are fine). */
void walk_init(struct walk *walk, const struct network *network, const struct routes *routes,
               unsigned vls, const uint16_t *back);
/* What `back` is for tables whose service levels are used in both directions; the caller frees it.
 */
uint16_t *walk_levels_back(const struct network *network, const struct routes *routes);
void walk_release(struct walk *walk);
/* Adds the LID to the sums, and what it makes channels wait for to the graph, unless that is left
 * to walk_scan_dependencies(). False if some switch does not deliver it: then nothing was added. */
bool walk_take_lid(struct walk *walk, const struct verify_target *target, struct verify_report *sum,
                   struct dependency_graph *graph);

/* With one lane, what terminals' LIDs make channels wait for does not depend on walks, since every
 * switch may send them: two entries, one behind the other, are a dependency. All those of packets
 * out of one switch; rows of the graph that belong to other switches' packets are not touched. */
void walk_scan_dependencies(const struct network *network, const struct routes *routes,
                            uint32_t from, struct dependency_graph *graph);

#endif
