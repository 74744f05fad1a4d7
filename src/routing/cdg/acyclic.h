/* A graph of channels that wait for channels, which grows and never gets a cycle.
 *
 * Edges are added one by one; one that would close a cycle is refused. An order of all channels in
 * which every edge leads forwards is kept up to date: only what lies between the ends of a new edge
 * that leads backwards is looked at (Pearce and Kelly, "A dynamic topological sort algorithm for
 * directed acyclic graphs", 2006). */
#ifndef WEFT_ROUTING_CDG_ACYCLIC_H
#define WEFT_ROUTING_CDG_ACYCLIC_H

#include "routing/model/network.h"

struct acyclic {
    const struct network *network;
    unsigned row_words; /* of `bits` */
    uint64_t *bits;     /* [channel * row_words + …]: ports of the switch where it arrives */
    uint64_t *refused;  /* the same: edges that would have closed a cycle */
    struct acyclic_list {
        VEC(uint32_t) items;
    } * before;      /* by channel: those that wait for it */
    uint32_t *place; /* by channel: in the order */
    uint32_t *mark;  /* by channel: the search that met it last */
    uint32_t search;
    VEC(uint32_t) ahead; /* scratch */
    VEC(uint32_t) behind;
    VEC(uint32_t) places;
};

/* A channel is named by where it starts, switch.first_port + port. `rank` (by switch, lower is up)
 * gives the order to begin with: up, then down. */
void acyclic_init(struct acyclic *graph, const struct network *network, const uint32_t *rank);
/* The same with another order: for each channel a number, with the channel in the lower 32 bits. It
 * is sorted. */
void acyclic_init_order(struct acyclic *graph, const struct network *network, uint64_t *order);
void acyclic_release(struct acyclic *graph);

bool acyclic_has(const struct acyclic *graph, uint32_t from, uint32_t to);
/* False, and nothing is added, if it would close a cycle; from then on it is refused without
 * looking again, even if something was taken out. `to` starts where `from` arrives. */
bool acyclic_add(struct acyclic *graph, uint32_t from, uint32_t to);
/* Takes out one that was added. */
void acyclic_remove(struct acyclic *graph, uint32_t from, uint32_t to);

#endif
