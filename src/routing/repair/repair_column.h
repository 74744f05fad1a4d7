/* One column of the tables: the entries of all switches for one LID, and the repair of those that
 * do not arrive any more. Internal to repair.c. */
#ifndef WEFT_ROUTING_REPAIR_REPAIR_COLUMN_H
#define WEFT_ROUTING_REPAIR_REPAIR_COLUMN_H

#include "routing/model/routes.h"
#include "routing/repair/repair.h"

enum repair_cell_state {
    CELL_NEW,     /* not looked at yet */
    CELL_OPEN,    /* on the walk that is going on */
    CELL_ARRIVES, /* its route arrives */
    CELL_BEHIND,  /* its route leads to a broken switch, and may arrive when that is repaired */
    CELL_BROKEN,  /* it needs another entry, or the same one again */
    CELL_UNUSED,  /* it has no route, and nobody needs one */
};
enum { LANES_UNKNOWN = 0x8000, LEVEL_NONE = UINT16_MAX };

/* A switch's place in the column; it means something where `epoch` is the column's own. */
struct repair_cell {
    uint32_t epoch;
    uint32_t changed; /* its index in repair->entries, or NETWORK_NONE */
    uint16_t hops;    /* to the destination's switch if it arrives, or as it did */
    uint16_t level;   /* how near it could be, if it is broken and noted there */
    uint16_t lanes;   /* on which traffic leaves by the old entry; or not asked yet */
    uint8_t state;    /* enum repair_cell_state */
    uint8_t old;      /* the entry as it was */
    bool is_end;      /* its entry does not lead where it did */
};

struct repair_column {
    const struct network *network;
    struct routes *routes;
    struct repair *repair;
    struct cdg *cdg;
    struct arena memory;
    uint32_t *part;   /* by switch: its connected part */
    uint64_t *weight; /* by switch: pairs that one of its entries stands for, about; 0: not asked */

    uint32_t lid, at;  /* the LID and its switch */
    uint8_t last_port; /* from there */
    uint32_t offset;   /* from its owner's base LID */
    bool to_switch;
    bool brief;     /* if a switch arrives, what follows its next hop is counted already */
    bool uncounted; /* old entries of this column may not be in the graph, */
    bool hopeless;  /* and cannot be, though they carry traffic */
    uint32_t epoch;
    struct repair_cell *cells; /* by switch */

    VEC(uint32_t) broken;
    VEC(uint32_t) behind;
    VEC(uint32_t) stack;
    VEC(struct repair_wait) late; /* entry: a switch; first: one whose entry must go first */
    VEC(uint32_t) * level;        /* by hops: switches that could be that near */
    uint32_t top_level;
    bool keep;    /* ends are settled as near as they were, and nothing else is looked at */
    bool reorder; /* hops that do not agree with the order of channels may be tried, */
    bool drains;  /* and those that need a drain */
    bool refused; /* some hop would have been near enough */
};

void repair_column_init(struct repair_column *column, const struct network *network,
                        struct routes *routes, struct repair *repair);
void repair_column_release(struct repair_column *column);

/* Begins with a LID that somebody has. Then its ends are named, or all switches are looked at, or,
 * for an address that is new, all routes are that nobody knows the dependencies of. */
void repair_column_begin(struct repair_column *column, uint32_t lid);
void repair_column_add_end(struct repair_column *column, const struct repair_end *end);
void repair_column_look(struct repair_column *column);
void repair_column_search(struct repair_column *column);
/* False if a switch that should arrive cannot. */
bool repair_column_finish(struct repair_column *column);

/* Writes an entry and notes it; returns its number. */
uint32_t repair_change_entry(struct repair_column *column, uint32_t at, uint32_t lid, uint8_t port);

static inline uint8_t repair_column_port(const struct repair_column *column, uint32_t at)
{
    return routes_row(column->routes, at)[column->lid];
}

static inline struct repair_cell *repair_column_cell(struct repair_column *column, uint32_t at)
{
    struct repair_cell *cell = &column->cells[at];
    if (cell->epoch != column->epoch)
        *cell = (struct repair_cell){.epoch = column->epoch,
                                     .old = repair_column_port(column, at),
                                     .changed = NETWORK_NONE,
                                     .level = LEVEL_NONE,
                                     .lanes = LANES_UNKNOWN};
    return cell;
}

/* What comes to a switch that is to be settled, by old entries: those that send here by new ones
 * are settled after it. */
struct repair_arrivals {
    unsigned count;
    uint16_t together; /* lanes, with those of its own traffic */
    struct {
        uint32_t from, channel;
        uint16_t lanes;
    } items[NETWORK_TOP_PORT + 1];
};

/* repair_hop.c. A hop is a channel: an edge of the network. */
void repair_find_arrivals(struct repair_column *column, uint32_t at,
                          struct repair_arrivals *arrivals);
/* The same by old entries and new ones, on any lane, for a switch that arrives itself. */
void repair_find_flow(struct repair_column *column, uint32_t at, struct repair_arrivals *arrivals);
/* Inserts all dependencies of a hop; false, and nothing is inserted, if one closes a cycle. */
bool repair_try_hop(struct repair_column *column, uint32_t at, uint32_t hop,
                    const struct repair_arrivals *arrivals);
bool repair_try_hop_late(struct repair_column *column, uint32_t at, uint32_t hop,
                         const struct repair_arrivals *arrivals);
bool repair_count_traffic(struct repair_column *column);
bool repair_goes_with_order(const struct repair_column *column, uint32_t hop, uint16_t lanes);
bool repair_comes_with_order(const struct repair_column *column, uint32_t hop,
                             const struct repair_arrivals *arrivals);
void repair_find_waits(struct repair_column *column, uint32_t at,
                       const struct repair_arrivals *arrivals, bool arrived);

#endif
