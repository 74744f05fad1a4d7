/* Walking tables of which some entries changed, 64 LIDs at a time. Internal to verify_change.c. */
#ifndef WEFT_ROUTING_REPAIR_CHANGE_WALK_H
#define WEFT_ROUTING_REPAIR_CHANGE_WALK_H

#include "routing/check/dependency.h"
#include "routing/repair/repair.h"

struct change_walk {
    const struct network *network;
    const struct routes *routes;
    const uint8_t *fresh; /* by channel: its link is another one */
    const uint32_t *part;
    bool few_ports; /* all switches have less than 64 */
    const struct dependency_loss *losses;
    uint32_t *first_loss; /* by switch: one more than its first of them, or 0 */
    size_t loss_count;
    struct dependency_graph *graph;
    bool self_link; /* an entry leads a switch to itself */
    uint64_t operations;

    /* The LIDs that are looked at, a bit each. */
    uint32_t first;
    const uint8_t *ports; /* their entries: [switch * row + LID - first] */
    uint32_t row;
    uint8_t *copy;      /* close together, where many have changed */
    uint64_t *changed;  /* by switch: LIDs whose entry there changed, … */
    uint8_t *old;       /* … and what it was: [switch * 64 + LID - first] */
    uint64_t *kept;     /* by switch: those whose entry has to be looked at as if it was new */
    uint64_t *arriving; /* by switch: those that are known to arrive from there */
    uint64_t whole;     /* those whose old entries may be ones that nobody has seen */
    VEC(uint32_t) met;  /* switches where something has changed or has to be looked at */

    /* change_rows.c */
    uint64_t *unknown; /* by channel, if it was asked: inputs that … */
    uint8_t *asked;    /* … are not known to be followed by it */

    /* change_column.c */
    uint32_t column;
    struct change_place *places; /* by switch */
};

void change_walk_init(struct change_walk *walk, const struct routes *routes,
                      const struct dependency_graph *before, const uint8_t *fresh);
void change_walk_release(struct change_walk *walk);

/* Begins with other LIDs, of which nothing has changed so far. */
void change_walk_begin(struct change_walk *walk, uint32_t first, bool dense);
void change_walk_note(struct change_walk *walk, const struct repair_entry *entry);
void change_walk_keep(struct change_walk *walk, uint32_t at, uint32_t lid);

/* An error unless a switch reaches the LID, or need not. */
int change_check_arrival(struct change_walk *walk, uint32_t from, uint32_t lid, struct err *err);
/* What comes in by one port and leaves by another waits for it, on these lanes. */
void change_put(struct change_walk *walk, uint32_t at, uint8_t in, uint8_t out, uint16_t lanes);

/* change_rows.c: all entries for terminals, which everybody sends to, on one lane; switch after
 * switch. */
int change_check_rows(struct change_walk *walk, uint64_t lids, struct err *err);

/* change_column.c: entries of one LID, whoever sends there. `waited_for`: switches whose packets
 * are gone before this entry is written. */
void change_begin_column(struct change_walk *walk);
int change_check_entry(struct change_walk *walk, const struct repair_entry *entry,
                       const uint32_t *waited_for, size_t waited_for_count, struct err *err);
/* What the old entries of a LID give rise to. */
void change_put_old(struct change_walk *walk, uint32_t lid);

static inline uint8_t change_port(const struct change_walk *walk, uint32_t at, uint32_t lid)
{
    return walk->ports[(size_t)at * walk->row + lid - walk->first];
}

static inline uint8_t change_old_port(const struct change_walk *walk, uint32_t at, uint32_t lid)
{
    uint32_t bit = lid - walk->first;
    return walk->changed[at] >> bit & 1 ? walk->old[(size_t)at * ROUTES_BLOCK + bit]
                                        : change_port(walk, at, lid);
}

static inline uint32_t change_owner(const struct change_walk *walk, uint32_t lid)
{
    return lid <= walk->network->top_lid ? walk->network->owner[lid] : NETWORK_NONE;
}

/* The link behind a port that leads to a switch, or NULL. */
static inline const struct network_port *change_link(const struct change_walk *walk, uint32_t at,
                                                     uint8_t port)
{
    const struct network_switch *node = &walk->network->switches.items[at];
    if (port == 0 || port > node->port_count)
        return NULL;
    const struct network_port *link = &walk->network->ports.items[node->first_port + port];
    return link->peer != NETWORK_NONE && (link->peer & NETWORK_SWITCH) ? link : NULL;
}

#endif
