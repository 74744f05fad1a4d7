/* FERa as the paper describes it: a controlled flooding from each destination. */
#ifndef WEFT_ROUTING_PAPER_FLOOD_H
#define WEFT_ROUTING_PAPER_FLOOD_H

#include "routing/search/updown.h"

struct flood_entry {
    uint32_t at; /* switch */
    uint16_t lid;
    uint8_t port;
    uint16_t hops;
};
struct flood_entries {
    VEC(struct flood_entry) entries;
    uint64_t steps; /* ports examined so far, those to terminals included */
};

/* Appends the entries for one LID's owner in the order in which the flooding first visits the
 * switches. */
void flood_from(const struct network *network, const struct updown *updown, uint16_t lid,
                struct flood_entries *out);

#endif
