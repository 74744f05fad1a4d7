/* The VL that a packet takes: service levels by path, and SL-to-VL tables. */
#ifndef WEFT_ROUTING_MODEL_VL_MAP_H
#define WEFT_ROUTING_MODEL_VL_MAP_H

#include "routing/model/network.h"

enum { VL_MAP_SLS = 16, VL_MAP_DISCARD = 15 };

struct vl_map {
    const struct network *network;
    struct arena memory;
    unsigned count;      /* VLs in use: 1 + the highest */
    uint8_t **sl_rows;   /* by source, terminals and then switches: by DLID, or NULL: SL 0 */
    uint8_t **vl_tables; /* by switch: [(in * ports + out) * 16 + sl], or NULL: VL = SL */
};

void vl_map_init(struct vl_map *lanes, const struct network *network);
void vl_map_release(struct vl_map *lanes);

/* The row of `sl_rows` for an end point. */
size_t vl_map_source_index(const struct vl_map *lanes, uint32_t end_point);
uint8_t vl_map_sl(const struct vl_map *lanes, uint32_t end_point, uint16_t dlid);
/* VL_MAP_DISCARD for ports that the switch does not have, such as PORT_NONE. */
uint8_t vl_map_vl(const struct vl_map *lanes, uint32_t at, uint8_t in, uint8_t out, uint8_t sl);

#endif
