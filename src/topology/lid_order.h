/* The order in which end ports without a LID get the lowest free LIDs.
 *
 * The manager and all commands that compute tables from a file number ports in this order: breadth
 * first from the switch with the lowest node GUID, the ports of each switch in ascending order. It
 * depends on the fabric only, not on the node of the manager, the order of its answers or the order
 * of a file. Ports of one switch get adjacent LIDs, so that few LFT blocks change with them.
 *
 * Parts that are not connected follow each other in the order of their lowest switch GUIDs; parts
 * without a switch are last and start at their lowest port GUID. */
#ifndef WEFT_TOPOLOGY_LID_ORDER_H
#define WEFT_TOPOLOGY_LID_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* An end port: port 0 of a switch, or a port of an adapter or router. */
struct lid_order_end {
    uint64_t guid; /* of a switch: its node GUID */
    /* In `links`: the end ports at the other ends of a switch's links, by ascending port, or the
     * one at the other end of an adapter port. */
    uint32_t first_link, link_count;
    bool starts; /* a switch, except a vSwitch: the search starts at one of these if there is any */
};

/* Writes the indices of all end ports to `order`. */
void lid_order(const struct lid_order_end *ends, uint32_t count, const uint32_t *links,
               uint32_t *order);

#endif
