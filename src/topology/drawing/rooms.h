/* Rooms, rows and racks, by the names of the switches.
 *
 * Names such as `r12-leaf3`, `rack07-sw1` or `dc1-row2-rack3-node4` begin with the place of the
 * node. A place ends before a separator (any ASCII character that is neither a letter nor a digit),
 * or between a digit and a letter (`a01u12`). */
#ifndef WEFT_TOPOLOGY_ROOMS_H
#define WEFT_TOPOLOGY_ROOMS_H

#include "topology/graph.h"

struct rooms {
    uint32_t count;    /* 0: the names have no such pattern */
    const char **name; /* by room; sorted, numbers by value */
    int32_t *of;       /* by switch of the graph; -1: the name does not begin with a room */
    uint32_t *order;   /* switches by room, then by name; those without a room last */
    struct arena memory;
};

/* Names can begin with several nested places: the rooms are those whose number is nearest to the
 * square root of the number of switches. At least half of the switches are in a room, and a room
 * has two switches on average. */
void rooms_find(struct rooms *rooms, const struct topology *topology, const struct graph *graph);
void rooms_release(struct rooms *rooms);

#endif
