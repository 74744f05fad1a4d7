/* The algorithms of TPDS 2006 as the paper describes them, in plain C.
 *
 * The engines fera, pira and dr give the same kinds of routes by faster methods. The papers'
 * figures show the time of the published methods, so these are here too: to time them
 * (`weft route --published`) and to count their steps, which preset `paper` charges a
 * simulated manager for.
 *
 * Section 3.1 has the notation: the nodes of the directed graph are switches and hosts, FT(x, y) is
 * the port of switch x for destination y, and DEF(x) its default port.
 *
 * A step is one pass of an innermost loop: a port of a node examined, a switch considered for an
 * entry, a switch of a path compared or written. All steps have one price. Loops add their steps
 * once, so that counting takes no time worth mentioning. */
#ifndef WEFT_ROUTING_PAPER_PUBLISHED_H
#define WEFT_ROUTING_PAPER_PUBLISHED_H

#include "routing/engine/engine.h"
#include "routing/search/updown.h"

enum { PUBLISHED_NO_PATH = 0xFFFF };

struct published_port {
    uint32_t to; /* node */
    uint8_t number, to_number;
    bool up; /* the link leads up from here */
};
struct published_node {
    uint32_t end_point;            /* of the network */
    uint32_t first_port, end_port; /* ports in use, in ascending order */
    uint8_t *table;                /* FT(x, ...) by node; PORT_NONE: not assigned; NULL: a host */
    uint16_t *hops;                /* FERa: the length of each route; NULL: a host */
    uint8_t default_port;          /* PIRa: DEF(x) */
};

struct published {
    uint32_t count, switch_count;
    struct published_node *nodes; /* in ascending order of LIDs */
    struct published_port *ports;
    uint8_t *tables; /* of all nodes */
    uint64_t steps;  /* of the last run */

    /* DR: tables as large as `tables`, one after the other, and the one that a pair of hosts uses:
     * [source * count + destination], PUBLISHED_NO_PATH if there is no path. */
    VEC(uint8_t) renamed;
    uint32_t renamed_count;
    VEC(uint16_t) table_of_pair;

    VEC(uint32_t) queue; /* FERa: visited nodes; PIRa: explored switches; DR: states */
    bool *marks;         /* by node. FERa: the entry leads down; PIRa: explored */
    struct arena memory;
};

void published_init(struct published *published, const struct network *network,
                    const struct updown *updown);
void published_release(struct published *published);

/* Each fills the tables anew and sets `steps`. */
void published_fera(struct published *published);
void published_pira(struct published *published);
void published_dr(struct published *published);

/* The part of FERa for one destination. `queue` then has the visited nodes in order, some several
 * times. Adds to `steps`. */
void published_flood(struct published *published, uint32_t destination);
/* The entry of a switch for a destination in DR's table of that number. */
static inline uint8_t *published_renamed(struct published *published, uint32_t table, uint32_t at,
                                         uint32_t destination)
{
    size_t row = (size_t)(published->nodes[at].table - published->tables);
    return published->renamed.items + (size_t)table * published->switch_count * published->count +
           row + destination;
}

/* For the algorithms: no entry is assigned, no step counted. */
void published_clear(struct published *published);

/* The published algorithm of an engine. Engines that the papers do not have run as FERa. */
void published_run(struct published *published, const struct engine *engine);
/* The steps of an engine's published algorithm, with directions from the root that the papers use:
 * the options' if they name any, else the manager's switch. */
uint64_t published_steps(const struct network *network, const struct engine *engine,
                         const struct engine_options *options);

#endif
