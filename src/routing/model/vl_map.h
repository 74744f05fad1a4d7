/* The VL that a packet takes: service levels by path, and SL-to-VL tables. */
#ifndef WEFT_ROUTING_MODEL_VL_MAP_H
#define WEFT_ROUTING_MODEL_VL_MAP_H

#include "routing/model/network.h"

enum {
    VL_MAP_SLS = 16,
    VL_MAP_DISCARD = 15,   /* a VL */
    VL_MAP_NO_PATH = 0xFE, /* instead of an SL: the source sends nothing to this DLID */
    VL_MAP_UNSET = 0xFF,   /* nothing is known about this DLID */
};

struct vl_map {
    const struct network *network;
    struct arena memory;
    unsigned count;      /* VLs in use: 1 + the highest */
    uint8_t **sl_rows;   /* by source, terminals and then switches: by DLID, or NULL: unset */
    uint8_t **vl_tables; /* by switch: [(in * ports + out) * 16 + sl], or NULL: VL = SL */
};

void vl_map_init(struct vl_map *map, const struct network *network);
void vl_map_release(struct vl_map *map);

/* Sets the SL (or VL_MAP_NO_PATH) from an end point to a DLID, which must not be above the
 * network's top LID. */
void vl_map_set_sl(struct vl_map *map, uint32_t end_point, uint16_t dlid, uint8_t sl);
/* Sets the table for packets of a switch from port `in` to port `out`, both of which exist. */
void vl_map_set_vls(struct vl_map *map, uint32_t at, uint8_t in, uint8_t out,
                    const uint8_t vl_of_sl[VL_MAP_SLS]);

bool vl_map_is_set(const struct vl_map *map, uint32_t end_point, uint16_t dlid);
/* Unset DLIDs have SL 0. */
uint8_t vl_map_sl(const struct vl_map *map, uint32_t end_point, uint16_t dlid);
/* VL_MAP_DISCARD for ports that the switch does not have, such as PORT_NONE. */
uint8_t vl_map_vl(const struct vl_map *map, uint32_t at, uint8_t in, uint8_t out, uint8_t sl);

/* Paths whose SL is unset, or that do not exist. */
struct vl_map_gaps {
    uint64_t paths, unset, none;
    uint32_t source; /* of the first path that is unset, or else does not exist */
    uint16_t dlid;
};
/* Counts the paths with an adapter port at one end, or at both ends if `adapters`. */
struct vl_map_gaps vl_map_find_gaps(const struct vl_map *map, bool adapters);

#endif
