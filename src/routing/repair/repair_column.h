/* One column of the tables: all switches' entries for one LID, and the repair of those that do not
 * arrive any more. Internal to repair.c. */
#ifndef WEFT_ROUTING_REPAIR_REPAIR_COLUMN_H
#define WEFT_ROUTING_REPAIR_REPAIR_COLUMN_H

#include "routing/repair/repair.h"
#include "routing/repair/repair_block.h"
#include "routing/repair/repair_near.h"

enum { STATE_NEW, STATE_OPEN, STATE_BROKEN, STATE_VOID, STATE_SETTLED };
enum { LANES_UNKNOWN = 0x8000, LEVEL_NONE = UINT16_MAX };

/* A switch's place in the column; it means something where `epoch` is the column's own. */
struct repair_cell {
    uint32_t epoch;
    uint32_t changed; /* its index in repair->entries, or NETWORK_NONE */
    uint16_t hops;    /* to the destination's switch, if it arrives */
    uint16_t level;   /* how near it could be, if it is broken and noted there */
    uint16_t lanes;   /* on which traffic leaves by the old entry; or not asked yet */
    uint8_t state;
    uint8_t old;     /* the entry as it was */
    bool told : 1;   /* it was said to be broken */
    bool fed : 1;    /* somebody sends here, by an old entry */
    bool steady : 1; /* it arrives by old entries all the way */
};

struct repair_column {
    const struct network *network;
    struct routes *routes;
    struct repair *repair;
    uint32_t *part;   /* by switch: its connected part; NULL: there is one */
    uint64_t *weight; /* by switch: pairs that one of its entries stands for, about; 0: not asked */
    struct repair_near distances;
    struct repair_block block;

    const uint8_t *entries; /* of the LID: one in every `stride` */
    uint32_t lid, at;       /* the LID and its switch */
    uint8_t last_port;      /* from there */
    uint32_t offset;        /* from its owner's base LID */
    bool to_switch;
    bool uncounted; /* old entries of this column may not be in the graph … */
    bool hopeless;  /* … and cannot be, though they carry traffic */
    uint32_t epoch;
    struct repair_cell *cells; /* by switch */
    const uint8_t *near;       /* by switch: how many hops it takes at least; NULL: not known */
    bool brief;                /* what follows the next hop of a switch that arrives is counted */
    uint64_t bit;              /* its place in the block; 0: it is not taken from there */

    VEC(uint32_t) broken;
    VEC(uint32_t) stack;
    VEC(struct repair_wait) late; /* entry: here; first: a switch, whose entry must go first */
    VEC(uint32_t) * level;        /* by hops: switches that could be that near */
    uint32_t top_level, now;      /* the last that has any; the one that is looked at */
    size_t left;                  /* switches that are broken */
    bool settling;                /* that has begun */
    bool failed;                  /* somebody could not be as near as was hoped */
    bool detours;                 /* somebody who arrived goes another way now */
    bool strange; /* hops that do not agree with the order of channels may be tried … */
    bool drains;  /* … and those that need a drain */
    bool refused; /* some hop would have been near enough */
};

void repair_column_init(struct repair_column *column, const struct network *network,
                        struct routes *routes, struct repair *repair);
void repair_column_release(struct repair_column *column);

/* Whether any traffic that counts leaves a switch for the LID. */
bool repair_column_carries(struct repair_column *column, uint32_t lid, uint32_t at);

/* Turns to the column of a LID that somebody has, to ask things; nothing is changed. */
void repair_column_aim(struct repair_column *column, uint32_t lid);
/* Begins with a LID that somebody has; then its broken ends are told and what leads to them is
 * taken from the block, or all are looked for; an address that is new has routes that nobody knows
 * the dependencies of. */
void repair_column_begin(struct repair_column *column, uint32_t lid);
void repair_column_tell(struct repair_column *column, uint32_t at);
void repair_column_take(struct repair_column *column);
void repair_column_look(struct repair_column *column);
void repair_column_search(struct repair_column *column);
/* False if a switch that should arrive cannot. If its destination's switch is none of the goals of
 * `distances`, neighbours are asked in place of that. */
bool repair_column_mend(struct repair_column *column);

/* Writes an entry and notes it. */
uint32_t repair_change_entry(struct repair_column *column, uint32_t at, uint32_t lid, uint8_t port);
/* The same for a terminal's LID, with the load of the switch's links in this row. */
uint32_t repair_change_entry_in(struct repair_column *column, uint32_t at, uint32_t lid,
                                uint8_t port, uint64_t *load);
/* Moves the load of a terminal's LID from one of the switch's links to another. */
void repair_shift_load(struct repair_column *column, uint32_t at, uint8_t from, uint8_t to,
                       uint64_t *load);
/* Finds out what an entry of each switch stands for, before somebody has to ask. */
void repair_weigh_all(struct repair_column *column);

static inline uint8_t repair_column_port(const struct repair_column *column, uint32_t at)
{
    return column->entries[(size_t)at * column->routes->stride];
}

static inline struct repair_cell *repair_column_cell(struct repair_column *column, uint32_t at)
{
    struct repair_cell *cell = &column->cells[at];
    if (cell->epoch != column->epoch)
        *cell = (struct repair_cell){.epoch = column->epoch,
                                     .state = STATE_NEW,
                                     .old = repair_column_port(column, at),
                                     .changed = NETWORK_NONE,
                                     .level = LEVEL_NONE,
                                     .lanes = LANES_UNKNOWN};
    return cell;
}

/* What arrives at a switch that is to be settled: by old entries only, those who send here by new
 * ones are settled after it. */
struct repair_arrivals {
    unsigned count;
    uint16_t together; /* lanes, with those of its own traffic */
    struct {
        uint32_t from;
        uint16_t lanes;
        uint8_t in;
    } items[256];
};

/* repair_hop.c */
void repair_find_arrivals(struct repair_column *column, uint32_t at,
                          struct repair_arrivals *arrivals);
/* By old entries or new ones, for a switch that arrives itself. */
void repair_find_flow(struct repair_column *column, uint32_t at, struct repair_arrivals *arrivals);
bool repair_try_hop(struct repair_column *column, uint32_t at, const struct network_edge *hop,
                    const struct repair_arrivals *arrivals);
bool repair_try_hop_late(struct repair_column *column, uint32_t at, const struct network_edge *hop,
                         const struct repair_arrivals *arrivals);
bool repair_count_traffic(struct repair_column *column);
bool repair_goes_with_order(const struct repair_column *column, const struct network_edge *hop,
                            uint16_t lanes);
bool repair_comes_with_order(const struct repair_column *column, uint32_t at, uint8_t out,
                             const struct repair_arrivals *arrivals);
void repair_find_waits(struct repair_column *column, uint32_t at,
                       const struct repair_arrivals *arrivals, bool arrived);

#endif
