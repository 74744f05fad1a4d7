/* The VL that a packet takes: service levels by path, and SL-to-VL tables. */
#ifndef WEFT_ROUTING_MODEL_LANES_H
#define WEFT_ROUTING_MODEL_LANES_H

#include "routing/model/network.h"

enum { LANES_SLS = 16, VL_DISCARD = 15 };

struct lanes {
    const struct network *network;
    struct arena memory;
    unsigned count;      /* VLs in use: 1 + the highest */
    uint8_t **sl_rows;   /* by source, terminals and then switches: by DLID, or NULL: SL 0 */
    uint8_t **vl_tables; /* by switch: [(in * ports + out) * 16 + sl], or NULL: VL = SL */
};

void lanes_init(struct lanes *lanes, const struct network *network);
void lanes_release(struct lanes *lanes);

/* The row of `sl_rows` for an end point. */
size_t lanes_source_index(const struct lanes *lanes, uint32_t end_point);
uint8_t lanes_sl(const struct lanes *lanes, uint32_t end_point, uint16_t dlid);
/* VL_DISCARD for ports that the switch does not have, such as PORT_NONE. */
uint8_t lanes_vl(const struct lanes *lanes, uint32_t at, uint8_t in, uint8_t out, uint8_t sl);

#endif
