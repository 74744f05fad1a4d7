/* Positions of the switches in drawings.
 *
 * Each layout but that of rooms recognises its structure in the graph alone, so that it works with
 * any names and any order of the switches. Positions are in inches; `box` is the size of the
 * largest label. */
#ifndef WEFT_TOPOLOGY_LAYOUT_H
#define WEFT_TOPOLOGY_LAYOUT_H

#include "topology/drawing/rooms.h"

struct layout_point {
    double x, y;
};
struct layout_box {
    double left, bottom, right, top;
};

/* Mesh, torus, hypercube and HyperX: rows and columns, further dimensions along a diagonal. False:
 * the network is not a grid of two or more dimensions. layout_grid.c */
bool layout_grid(const struct graph *graph, struct layout_point box, struct layout_point *places);

/* Dragonfly: groups on a ring, the switches of a group on a smaller ring. False: the network has no
 * such groups. layout_ring.c */
bool layout_dragonfly(const struct graph *graph, struct layout_point box,
                      struct layout_point *places);
/* All switches on one ring, in the order of the links if the network is a ring, else in file order.
 * layout_ring.c */
void layout_ring(const struct graph *graph, struct layout_point box, struct layout_point *places);

/* Networks with levels: the order within each row, as positions from 0 to LAYOUT_ROW. `order` gets
 * the switches by level, then by position. layout_rows.c */
enum { LAYOUT_ROW = 1 << 20 };
void layout_rows(const struct graph *graph, const uint32_t *level, uint32_t level_count,
                 uint64_t *place, uint32_t *order);

/* Other networks: a spring model, or circles of equal distance if they are large. layout_free.c */
void layout_free(const struct graph *graph, struct layout_point *places);

/* The switches of a room side by side, whatever links they have. layout_rooms.c */
void layout_rooms(const struct rooms *rooms, uint32_t switches, struct layout_point box,
                  struct layout_point *places);
/* By room: the frame around the places of its switches, with space for its name. */
void layout_room_boxes(const struct rooms *rooms, uint32_t switches, struct layout_point box,
                       const struct layout_point *places, struct layout_box *frames);

/* ---- layout_network.c: the layout that fits, with all nodes ---- */

enum layout_kind {
    LAYOUT_TREE,
    LAYOUT_GRID,
    LAYOUT_DRAGONFLY,
    LAYOUT_RINGS,
    LAYOUT_ROOMS, /* no structure, and names with rooms */
    LAYOUT_FREE,
};
extern const char *const layout_kind_names[]; /* "tree", "grid" … */

/* By node of the topology. Neighbours are about 1 apart; y grows downwards. */
extern const struct layout_point layout_box_size; /* of a switch with its hosts */
struct layout {
    enum layout_kind kind;
    struct layout_point *places;
    int32_t *level;  /* of switches as in summary.h; -1: other nodes */
    int32_t *group;  /* of a dragonfly, or part of a tree below its top; -1: none */
    int32_t *parent; /* of other nodes: the first switch that they are connected to; -1: none,
                      * or a router between subnets */
    uint32_t subnets;
    int32_t *subnet;    /* of switches, and of other nodes with a parent; -1: none, or several */
    struct rooms rooms; /* also if another layout fits */
    struct layout_point *room_places; /* by switch, if there are rooms */
};
void layout_network(const struct topology *topology, const struct graph *graph,
                    struct layout *layout);
void layout_release(struct layout *layout);

#endif
