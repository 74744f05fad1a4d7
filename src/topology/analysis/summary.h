/* Properties of a topology. */
#ifndef WEFT_TOPOLOGY_SUMMARY_H
#define WEFT_TOPOLOGY_SUMMARY_H

#include "topology/graph.h"

enum { SUMMARY_LEVELS = 16 };

struct topology_summary {
    uint32_t switches, adapters, routers;
    uint32_t switch_links;              /* between two switches */
    uint32_t host_links;                /* between a switch and an end port */
    uint32_t other_links;               /* between two end ports, or from a switch to itself */
    uint32_t parallel_links;            /* switch links that repeat another one */
    uint32_t free_ports;                /* of switches */
    uint32_t loose_nodes;               /* adapters and routers without any link */
    uint32_t parts;                     /* connected components of the switch graph */
    uint32_t degree_least, degree_most; /* of switches: links to other switches */
    /* Switches by hops from the nearest switch with hosts: leaves, then the level above… */
    uint32_t level_count, level[SUMMARY_LEVELS]; /* the last item includes all higher levels */
    bool layered;                                /* topology_is_layered() */
    uint32_t diameter;                           /* hops between switches, within a part */
    bool diameter_is_exact;                      /* else a lower bound */
    double distance_mean;                        /* over pairs of different switches */
    uint32_t bisection; /* links; the best cut into halves that was found */
    char kind[160];     /* recognised kind of network */
};

void topology_summarise(const struct topology *topology, const struct graph *graph,
                        struct topology_summary *summary);

/* The level of every switch, as above. Without hosts, level 0 is the first switch; unreachable
 * switches get level 0. Returns the number of levels. */
uint32_t topology_levels(const struct graph *graph, uint32_t *level);

/* The fewest links found that cut the switches into two halves with the same number of hosts, or of
 * switches if there are no hosts. An upper bound, found by search. */
uint32_t topology_bisection(const struct graph *graph);

/* True if hosts are at the lowest level only and every link joins neighbouring levels. */
bool topology_is_layered(const struct graph *graph, const uint32_t *level, uint32_t level_count);

/* A name for the network, such as "fat tree XGFT(2; 18,36; 1,18)" or "irregular". */
void topology_recognise(const struct graph *graph, char *name, size_t size);

/* The groups of a dragonfly, by switch. Returns their number; 0: the network is none. */
uint32_t topology_find_groups(const struct graph *graph, uint32_t *group_of);

/* The links of each width and speed that occurs, by width, then by speed. */
struct link_count {
    uint8_t width, speed; /* enum link_width, enum link_speed */
    uint32_t links;
};
enum { LINK_COUNTS = 5 * SPEED_COUNT };
size_t topology_count_links(const struct topology *topology, struct link_count *counts);

#endif
