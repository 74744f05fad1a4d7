/* Next hops to 64 destinations at once.
 *
 * Destinations are the switches in order of index, cut into tiles of 64, with one bit for each
 * in a word. A link of a switch is a slot; the slots of a switch form one row, and bit k of a
 * slot's word says that this link is a next hop to destination k of the tile: the first link of
 * a shortest route, of any kind or legal by FERa's rule (TPDS 2006, section 2.3). Distances are
 * not stored: tables need only these words. Tiles do not depend on each other and may be
 * computed in parallel. */
#ifndef WEFT_ROUTING_SEARCH_NEXT_HOPS_H
#define WEFT_ROUTING_SEARCH_NEXT_HOPS_H

#include "base/workers.h"
#include "routing/search/down_up_pivots.h"
#include "routing/search/updown.h"

enum { NEXT_HOPS_TILE = 64 };

/* Switches without a legal route, one with and one without terminals. */
struct unroutable_pair {
    uint32_t from, to;
};
enum { NEXT_HOPS_UNROUTABLE_TOP = 1 << 20 }; /* more are counted, but not listed */

struct next_hops_gaps {
    struct updown_gaps pairs;
    uint64_t unroutable_count;              /* pairs of switches among pairs.other_pairs */
    VEC(struct unroutable_pair) unroutable; /* unroutable pairs, destination by destination */
};

struct next_hops {
    const struct network *network;
    const struct updown *updown; /* NULL: minimal routes, any direction */
    uint32_t switch_count, slot_count;
    struct arena memory;

    /* Slots: a row for each switch, at network->first_edge; those that lead up come first. */
    uint32_t *edge;       /* by slot: the edge of the network */
    uint32_t *to;         /* by slot: the switch at the other end */
    uint8_t *port;        /* by slot */
    uint32_t *first_down; /* by switch; without directions all slots count as leading up */
    uint32_t *by_rank;    /* rows as above, of slots, the farthest up first; or NULL */

    uint32_t first_tile, tile_count;      /* tiles in memory */
    uint32_t tile_limit;                  /* how many tiles fit */
    uint64_t *targets;                    /* [tile * slot_count + slot] */
    struct next_hops_gaps *gaps;          /* by tile; all zero without directions */
    uint64_t operations;                  /* of all tiles computed so far */
    struct down_up_pivots down_up_pivots; /* chosen when terminals have unroutable pairs */
    bool turn_anywhere;    /* unroutable switches send to any switch that has a route */
    uint64_t **unfinished; /* by tile, while it has unroutable switches: the destinations settled,
                              by switch */
};

/* Slots in the same direction are in the order of their edges' keys, then of ports; `keys` may be
 * NULL. */
void next_hops_init(struct next_hops *next_hops, const struct network *network,
                    const struct updown *updown, const struct workers *workers, size_t memory_bytes,
                    const uint64_t *keys);
/* For next_hops_init(): fills `edge` and the arrays after it. */
void next_hops_lay_slots(struct next_hops *next_hops, const struct workers *workers,
                         const uint64_t *keys);
/* Keys for a pseudo-random order of slots at each switch; the caller frees them. */
uint64_t *next_hops_scatter(const struct network *network, uint64_t seed);
/* Keys for the order of ports, from another port on at each switch; the caller frees them. */
uint64_t *next_hops_shift(const struct network *network);
void next_hops_release(struct next_hops *next_hops);
static inline uint32_t next_hops_tiles(const struct next_hops *next_hops) /* in all */
{
    return (next_hops->switch_count + NEXT_HOPS_TILE - 1) / NEXT_HOPS_TILE;
}
/* Computes the tiles from first_tile on, as many as fit. */
void next_hops_compute(struct next_hops *next_hops, const struct workers *workers,
                       uint32_t first_tile);
/* Adds up the pairs without a legal route of the tiles in memory. */
void next_hops_add_gaps(const struct next_hops *next_hops, struct next_hops_gaps *sum);
void next_hops_gaps_release(struct next_hops_gaps *gaps);

/* Destinations of a tile that have the same next hops at a switch. */
enum { FANS_LIMIT = NEXT_HOPS_TILE, FAN_WORDS = (NETWORK_TOP_PORT + 63) / 64 };
struct fan {
    uint64_t targets;
    uint64_t slots[FAN_WORDS]; /* bits: places in the switch's row of slots */
};
struct fans {
    unsigned count;
    struct fan items[FANS_LIMIT];
};
/* For the wanted destinations. */
void next_hops_gather_fans(const struct next_hops *next_hops, uint32_t tile, uint32_t at,
                           uint64_t wanted, struct fans *fans);
/* The places in the row, ascending. Returns their number. */
unsigned fan_places(const struct fan *fan, uint8_t places[NETWORK_TOP_PORT + 1]);

#endif
