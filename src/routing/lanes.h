/* Which virtual lane a packet takes: service levels by path, and SL-to-VL tables.
 *
 * Read from the two kinds of files that ibdmchk reads, each in both of its forms:
 *   path SL:  "0x<node guid> <dlid> <sl>", or blocks "Channel Adapter 0x<port guid>, …" (or
 * "Switch") followed by "0x<dlid> : <sl>" lines; SL2VL:    "0x<node guid> <in> <out> 0x01 0x23 …"
 * (eight bytes, a nibble for each SL), or blocks as above followed by "<in> <out> : <vl0> … <vl15>"
 * lines. Lines of any other shape are remarks, as they are to ibdmchk. */
#ifndef WEFT_ROUTING_LANES_H
#define WEFT_ROUTING_LANES_H

#include "routing/network.h"

enum { LANES_SLS = 16, LANES_DISCARD = 15 };

struct lanes {
    const struct network *network;
    unsigned count;      /* lanes in use: 1 + the highest */
    uint8_t **sl_rows;   /* by source, terminals and then switches: by DLID, or NULL: SL 0 */
    uint8_t **vl_tables; /* by switch: [(in * ports + out) * 16 + sl], or NULL: VL = SL */
};

void lanes_init(struct lanes *lanes, const struct network *network);
void lanes_release(struct lanes *lanes);

int lanes_read_path_sl(struct lanes *lanes, const char *path, struct err *err);
int lanes_read_sl2vl(struct lanes *lanes, const char *path, struct err *err);
/* From memory; `name` is for messages. */
int lanes_parse_path_sl(struct lanes *lanes, const char *name, char *text, struct err *err);
int lanes_parse_sl2vl(struct lanes *lanes, const char *name, char *text, struct err *err);

uint8_t lanes_sl(const struct lanes *lanes, uint32_t end_point, uint16_t dlid);
/* LANES_DISCARD for ports that the switch does not have, such as PORT_NONE. */
uint8_t lanes_vl(const struct lanes *lanes, uint32_t at, uint8_t in, uint8_t out, uint8_t sl);

#endif
