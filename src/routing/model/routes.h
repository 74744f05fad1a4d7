/* The result of a routing engine: forwarding tables and the choice of path for every pair.
 *
 * Tables are linear and flat, one byte an entry, a row of `stride` LIDs for every switch of the
 * network they were computed for. PIRa's tables are also meaningful as random forwarding tables:
 * entries marked explicit, and a default port for the rest.
 *
 * path_lookup() is the only source of paths: traffic, path records and checks all use it, since
 * engines may give each pair its own DLID (destination renaming) or SL. */
#ifndef WEFT_ROUTING_MODEL_ROUTES_H
#define WEFT_ROUTING_MODEL_ROUTES_H

#include "base/map.h"
#include "routing/model/network.h"

#include <string.h>

enum { ROUTES_BLOCK = 64 }; /* entries of a linear forwarding table block */

struct routes {
    const char *engine;
    uint64_t generation; /* of the network they were computed for */
    uint32_t switch_count;
    uint32_t stride; /* a multiple of ROUTES_BLOCK, above top_lid */
    uint16_t top_lid;
    uint8_t vls;             /* VLs that the tables need */
    uint8_t *ports;          /* [switch * stride + LID]; PORT_NONE drops */
    uint8_t *default_ports;  /* by switch, or NULL: only explicit entries */
    uint64_t *explicit_bits; /* [(switch * stride + LID)], or NULL: all that are not PORT_NONE */
    uint8_t *offsets;        /* [destination switch * switch_count + source switch]: offset that the
                                source's terminals add to a terminal's base LID; NULL: 0 */
    uint8_t *service_levels; /* [source switch * stride + DLID]; NULL: 0 */
    uint32_t *ranks;         /* the engine's up*-down* order by switch: lower is up; or NULL */
    bool reversible;         /* a pair of switches has one SL for all packets between them, and both
                                directions were proved with it. A change of one direction's SL must change
                                the other's, too */
    uint8_t lmc_needed;      /* by destination renaming */
    uint64_t operations;     /* of the computation, see engine.h; 0: not computed */
    char note[512];          /* for the user: roots chosen, fall-backs taken */
};

/* Empty tables (all PORT_NONE) for the network. */
void routes_init(struct routes *routes, const struct network *network, const char *engine);
/* Tables with undefined entries: every entry must be written before it is read. */
void routes_reserve(struct routes *routes, const struct network *network, const char *engine);
void routes_release(struct routes *routes); /* accepts NULL and a released one */

/* Extends the tables: LIDs up to this one (and some more) drop until routes_set(). */
void routes_grow(struct routes *routes, uint16_t top_lid);
/* One entry; the LID must be within the tables. */
void routes_set(struct routes *routes, uint32_t at, uint32_t lid, uint8_t port);
/* One value for all LIDs of a switch and of its terminals; in a row of ports or of service levels.
 */
void routes_fill_switch(uint8_t *row, const struct network *network, uint32_t at, uint8_t value);
/* Entries of a switch for itself and for its terminals. */
void routes_fill_own(struct routes *routes, const struct network *network, uint32_t at);
/* Adds to the note. */
void routes_add_note(struct routes *routes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Packets to `lid` get the SLs of packets to `like`. */
void routes_copy_levels(struct routes *routes, uint16_t lid, uint16_t like);

static inline uint8_t *routes_row(const struct routes *routes, uint32_t at)
{
    return routes->ports + (size_t)at * routes->stride;
}
/* One value for all LIDs of an end point, if it has any; in a row of ports or of service levels. */
static inline void routes_fill(uint8_t *row, uint16_t lid, uint8_t lmc, uint8_t value)
{
    if (lid && !lmc)
        row[lid] = value; /* most end points, and faster */
    else if (lid)
        memset(row + lid, value, (size_t)1 << lmc);
}
/* PORT_NONE beyond the table. */
static inline uint8_t routes_port(const struct routes *routes, uint32_t at, uint32_t lid)
{
    return lid < routes->stride ? routes->ports[(size_t)at * routes->stride + lid] : PORT_NONE;
}
/* The service level of packets from a switch and its terminals to a DLID; 0: not assigned. */
static inline uint8_t routes_level(const struct routes *routes, uint32_t from, uint32_t dlid)
{
    bool known = routes->service_levels && dlid < routes->stride;
    return known ? routes->service_levels[(size_t)from * routes->stride + dlid] : 0;
}
static inline bool routes_is_explicit(const struct routes *routes, uint32_t at, uint32_t lid)
{
    size_t bit = (size_t)at * routes->stride + lid;
    return routes->explicit_bits ? bitset_has(routes->explicit_bits, bit)
                                 : routes->ports[bit] != PORT_NONE;
}

struct path {
    uint16_t dlid; /* 0: no path */
    uint8_t sl;
};
/* Source and destination are end points of network.h. */
struct path path_lookup(const struct routes *routes, const struct network *network, uint32_t source,
                        uint32_t destination);

/* The most switches that a packet passes by these tables. A path into a loop ends where it
 * closes. */
uint32_t routes_longest(const struct routes *routes, const struct network *network);

/* How two tables of the same network differ. */
struct routes_difference {
    uint64_t entries, blocks, switches;
};
struct routes_difference routes_compare(const struct routes *before, const struct routes *after);

#endif
