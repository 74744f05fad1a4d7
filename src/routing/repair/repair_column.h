/* One column of the tables: the entries of all switches for one LID, and the repair of those that
 * do not arrive. Internal to repair.c. */
#ifndef WEFT_ROUTING_REPAIR_REPAIR_COLUMN_H
#define WEFT_ROUTING_REPAIR_REPAIR_COLUMN_H

#include "routing/model/routes.h"
#include "routing/repair/repair.h"

enum repair_cell_state {
    CELL_NEW,     /* not visited yet */
    CELL_OPEN,    /* on the path that is followed */
    CELL_ARRIVES, /* its route arrives */
    CELL_BEHIND,  /* its route leads to a broken switch, and may arrive when that is repaired */
    CELL_BROKEN,  /* it needs another entry, or the same one again */
    CELL_UNUSED,  /* it has no route and needs none */
};
enum { VLS_UNKNOWN = 0x8000, LEVEL_NONE = UINT16_MAX };
#define PAIRS_UNKNOWN UINT32_MAX

/* A switch's cell of the column; valid if `epoch` is the column's. */
struct repair_cell {
    uint32_t epoch;
    uint32_t changed; /* its index in repair->entries, or NETWORK_NONE */
    uint16_t hops;    /* to the destination's switch if its route arrives, else before the change */
    uint16_t level;   /* the possible distance by which it is listed, if it is broken */
    uint16_t vls;     /* VLs of packets that leave by the old entry, or VLS_UNKNOWN */
    uint8_t state;    /* enum repair_cell_state */
    uint8_t old;      /* the old entry */
    bool is_end;      /* its entry does not lead to where it led */
    uint32_t beyond;  /* of an end: where its old path goes on behind what was lost */
    uint32_t pairs;   /* pairs of terminals that leave by its entry, or PAIRS_UNKNOWN */
};

struct repair_column {
    const struct network *network;
    struct routes *routes;
    struct repair *repair;
    struct cdg *cdg;
    struct arena memory;
    uint32_t *part; /* by switch: its connected part */

    size_t first_entry, first_wait; /* of the column, in the repair's lists */
    uint32_t lid, at;               /* the LID and its switch */
    uint8_t last_port;              /* output port at switch `at` */
    uint32_t offset;                /* from its owner's base LID */
    bool to_switch;
    bool deps_counted; /* the dependencies behind the next hop of a switch that arrives are in the
                          graph */
    bool deps_missing; /* dependencies of old entries of this column may be missing in the graph */
    bool old_routes_cyclic; /* dependencies of old entries that carry traffic close a cycle */
    uint32_t epoch;
    struct repair_cell *cells; /* by switch */

    VEC(uint32_t) broken;
    VEC(uint32_t) behind;
    VEC(uint32_t) stack;
    VEC(struct update_wait) late; /* `entry` and `first` are switches */
    VEC(uint32_t) * level;        /* by hops: switches with this possible distance */
    uint32_t top_level;
    bool keep;    /* ends keep their distance, and no other switch is visited */
    bool reorder; /* hops that disagree with the order of channels may be tried */
    bool drains;  /* hops that need a drain may be tried */
    bool refused; /* a hop was refused by the graph */
};

void repair_column_init(struct repair_column *column, const struct network *network,
                        struct routes *routes, struct repair *repair);
void repair_column_release(struct repair_column *column);

/* Begins a column; the LID must be in use. Its ends are added, or all switches are followed, or,
 * for a new LID, the dependencies of all its routes are inserted. */
void repair_column_begin(struct repair_column *column, uint32_t lid);
void repair_column_add_end(struct repair_column *column, const struct repair_end *end);
void repair_column_look(struct repair_column *column);
void repair_column_search(struct repair_column *column);
/* False if a switch that needs a route gets none. Its old entry stays then. */
bool repair_column_finish(struct repair_column *column);

/* Writes an entry and adds it to repair->entries; returns its index. */
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
                                     .beyond = NETWORK_NONE,
                                     .pairs = PAIRS_UNKNOWN,
                                     .vls = VLS_UNKNOWN};
    return cell;
}

/* Packets that arrive by old entries at a switch that gets a hop. Switches that send to it by new
 * entries get theirs later. */
struct repair_arrivals {
    unsigned count;
    uint16_t together; /* VLs, with those of the switch's own packets */
    struct {
        uint32_t from, channel;
        uint16_t vls;
    } items[NETWORK_TOP_PORT + 1];
};

/* repair_hop.c. A hop is a channel: an edge of the network. */
void repair_find_arrivals(struct repair_column *column, uint32_t at,
                          struct repair_arrivals *arrivals);
/* Packets that arrive by old or new entries, on any VL, for a switch whose route arrives. */
void repair_find_flow(struct repair_column *column, uint32_t at, struct repair_arrivals *arrivals);
/* Inserts all dependencies of a hop; false, and nothing is inserted, if one closes a cycle. */
bool repair_try_hop(struct repair_column *column, uint32_t at, uint32_t hop,
                    const struct repair_arrivals *arrivals);
bool repair_try_hop_late(struct repair_column *column, uint32_t at, uint32_t hop,
                         const struct repair_arrivals *arrivals);
bool repair_count_traffic(struct repair_column *column);
bool repair_goes_with_order(const struct repair_column *column, uint32_t hop, uint16_t vls);
bool repair_comes_with_order(const struct repair_column *column, uint32_t hop,
                             const struct repair_arrivals *arrivals);
/* repair_load.c. Removes the pairs of terminals that leave a switch from the load of their path,
 * before its entry changes, and adds them after that. */
void repair_load_remove(struct repair_column *column, uint32_t at);
void repair_load_add(struct repair_column *column, uint32_t at);
/* The sum of the loads behind a hop, up to the destination of a terminal's LID. */
uint64_t repair_load_of_hop(const struct repair_column *column, uint32_t hop);
/* repair_cycle.c. Stores the cycle that prevents a route from this switch in the repair. */
void repair_explain_refusal(struct repair_column *column, uint32_t at);
void repair_find_waits(struct repair_column *column, uint32_t at,
                       const struct repair_arrivals *arrivals, bool arrived);

#endif
