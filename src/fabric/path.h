/* A packet that follows the tables of the switches without being sent: the one way to find where
 * packets go by the tables that are in force. */
#ifndef WEFT_FABRIC_PATH_H
#define WEFT_FABRIC_PATH_H

#include "fabric/fabric.h"

struct fabric_path {
    const struct fabric *fabric;
    unsigned dlid;
    uint32_t out;  /* the port that it leaves by next */
    uint32_t in;   /* the port at which it has arrived; TOPOLOGY_NONE: none */
    unsigned hops; /* links that it has crossed */
};

enum fabric_step {
    PATH_GOES_ON,
    PATH_IS_CUT,      /* at `out` */
    PATH_AT_END,      /* at an adapter or a router */
    PATH_HAS_NO_ROUTE /* at a switch */
};

/* Chooses the output port of a node. */
enum fabric_step fabric_path_enter(struct fabric_path *path, uint32_t node);
/* Crosses a link, if `passes` holds at both ends (NULL: any cable), and enters the node there. */
enum fabric_step fabric_path_step(struct fabric_path *path,
                                  bool (*passes)(const struct fabric *fabric, uint32_t port));

#endif
