/* One column of the tables: all switches' entries for one LID, and the repair of those that do not
 * arrive any more. Internal to repair.c. */
#ifndef WEFT_ROUTING_REPAIR_COLUMN_H
#define WEFT_ROUTING_REPAIR_COLUMN_H

#include "routing/repair.h"

/* A switch's place in the column; it means something where `epoch` is the column's own. */
struct repair_cell {
    uint32_t epoch;
    uint32_t hops;    /* to the destination's switch, if it arrives */
    uint32_t level;   /* how near it could be, if it is broken and noted there */
    uint32_t changed; /* its index in repair->entries, or NETWORK_NONE */
    uint16_t lanes;   /* on which traffic leaves by the old entry; or not asked yet */
    uint8_t state;
    uint8_t old; /* the entry as it was */
    bool told;   /* it was said to be broken */
    bool fed;    /* somebody sends here, by an old entry */
};

struct repair_column {
    const struct network *network;
    struct routes *routes;
    struct repair *repair;
    uint32_t *part;   /* by switch: its connected part; NULL: there is one */
    uint64_t *weight; /* by switch: pairs that one of its entries stands for, about; 0: not asked */

    const uint8_t *entries; /* of the LID: one in every `stride` */
    uint32_t lid, at;       /* the LID and its switch */
    uint8_t last_port;      /* from there */
    uint32_t offset;        /* from its owner's base LID */
    bool to_switch;
    bool uncounted; /* old entries of this column may not be in the graph */
    uint32_t epoch;
    struct repair_cell *cells; /* by switch */

    VEC(uint32_t) broken;
    VEC(uint32_t) stack;
    VEC(struct repair_wait) late; /* entry: here; first: a switch, whose entry must go first */
    VEC(uint32_t) * level;        /* by hops: switches that could be that near */
    uint32_t top_level;
    bool strange; /* hops that do not agree with the order of channels may be tried … */
    bool drains;  /* … and those that need a drain */
    bool refused; /* some hop would have been near enough */
};

void repair_column_init(struct repair_column *column, const struct network *network,
                        struct routes *routes, struct repair *repair);
void repair_column_release(struct repair_column *column);

/* Begins with a LID that somebody has; then its broken ends are told, or all are looked for; an
 * address that is new has routes that nobody knows the dependencies of. */
void repair_column_begin(struct repair_column *column, uint32_t lid);
void repair_column_tell(struct repair_column *column, uint32_t at);
void repair_column_look(struct repair_column *column);
void repair_column_search(struct repair_column *column);
/* False if a switch that should arrive cannot. */
bool repair_column_mend(struct repair_column *column);

/* Writes an entry and notes it. */
uint32_t repair_change_entry(struct repair_column *column, uint32_t at, uint32_t lid, uint8_t port);

#endif
