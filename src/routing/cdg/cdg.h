/* The channel dependency graph (CDG): routes are free of deadlock while it has no cycle.
 *
 * W. Dally and C. Seitz, "Deadlock-free message routing in multiprocessor interconnection networks"
 * (1987). A *channel* is one direction of a link between two switches. A *dependency* in -> out
 * says that a packet which holds a buffer of channel `in` may wait for one of channel `out`, which
 * leaves the switch where `in` arrives. A *layer* is the graph of one VL: packets do not change
 * their VL on the way, so layers are independent of each other.
 *
 * Channels have the numbers of the network's edges (network.h), everywhere. The dependencies of a
 * layer are rows of bits: one row for each channel that arrives at a switch, one bit for each
 * channel that leaves it. A row is found by the *reverse* of the arriving channel, which leaves the
 * switch: so all rows of a switch lie side by side, in the order of its edges, as the bits of a row
 * do.
 *
 * Dependencies are inserted one at a time, and one that would close a cycle is refused. For that
 * every layer keeps its channels in a topological order. An insertion that agrees with the order
 * compares two places in it. For any other one, the order is searched from both ends of the new
 * dependency, as in D. Pearce and P. Kelly, "A dynamic topological sort algorithm for directed
 * acyclic graphs" (2006). The two searches advance in turns, the smaller one first; when one of
 * them has seen everything between the two places, what it has seen moves to beyond the other end.
 * Mostly that is a handful of channels. To make moves cheap the order is a linked list with
 * ascending labels that have gaps between them (P. Dietz and D. Sleator, "Two algorithms for
 * maintaining order in a list", 1987, in its simplest form).
 *
 * Refusals are stored until a dependency is removed: a second attempt reads one bit. Removing
 * dependencies, or undoing a trial, never invalidates an order: the order stays.
 *
 * A graph can follow its network through changes: cdg_move() carries it over to a network that has
 * lost or gained links and switches. Old dependencies stay: packets that old tables sent may still
 * be in flight. */
#ifndef WEFT_ROUTING_CDG_CDG_H
#define WEFT_ROUTING_CDG_CDG_H

#include "base/map.h"
#include "routing/model/routes.h"

enum { CDG_LAYERS_MAX = 16 }; /* one for each VL */

struct cdg_dependency {
    uint32_t in, out;
    unsigned layer;
};
enum cdg_answer { CDG_HAD, CDG_ADDED, CDG_REFUSED };

struct cdg_layer {
    uint64_t *after;   /* set (see cdg_set_new()): dependencies of the layer */
    uint64_t *refused; /* set: dependencies that would close a cycle */
    uint64_t *trial;   /* set: dependencies that the running trial has added */
    uint64_t *before;  /* row of channel `out`, a bit for each `in` that depends on it */
    uint64_t *place;   /* by channel: a label that ascends along the order */
    uint32_t *next;    /* by channel: the order as a ring that begins and ends at `channels` */
    uint32_t *last;    /* by channel: the order backwards */
};

struct cdg_place {
    uint64_t place;
    uint32_t channel;
};

/* How a channel was found by a search: ahead of `out`, or behind `in`; and whether a dependency on
 * the path to it is on trial. */
enum { CDG_AHEAD = 1, CDG_BEHIND = 2, CDG_ON_TRIAL = 4 };

/* A path that closed a cycle: `first` leads to `last`. */
struct cdg_path {
    unsigned layer;
    uint32_t first, last;
};
enum { CDG_PATHS = 8 };

struct cdg {
    const struct network *network;
    struct arena memory; /* memory of all arrays below */
    uint32_t channels;
    uint32_t words;        /* of a row */
    uint32_t *reverse;     /* by channel: the other direction of its link */
    uint32_t *of_port;     /* by entry of the network's ports: the channel out of it, or NONE */
    uint32_t *first_order; /* the order of an empty layer, see cdg_open() */
    unsigned count;        /* of layers */
    struct cdg_layer layer[CDG_LAYERS_MAX];
    /* Work so far, as engine.h counts operations. */
    uint64_t insertions; /* dependencies inserted or sorted */
    uint64_t reordering; /* channels visited or moved to keep the order */

    bool similar; /* insertions resemble each other, see cdg_similar.c; set by the client */
    struct cdg_path paths[CDG_PATHS];
    unsigned path_count; /* paths stored so far, in a ring */

    bool on_trial;
    VEC(struct cdg_dependency) added;   /* by the trial */
    VEC(struct cdg_dependency) blocked; /* refused because of dependencies of the trial */

    /* Scratch of one insertion. */
    uint8_t *seen; /* by channel: 0, or CDG_AHEAD or CDG_BEHIND, with CDG_ON_TRIAL or without */
    VEC(uint32_t) ahead;
    VEC(uint32_t) behind;
    VEC(struct cdg_place) moved;
};

/* A graph without layers. The network must outlive it. */
void cdg_init(struct cdg *cdg, const struct network *network);
void cdg_release(struct cdg *cdg); /* accepts a released one */

/* Opens one more layer, without dependencies. Its order is up*-down*, with stages counted from the
 * switches that have terminals: on trees no dependency of a shortest path disagrees with it. */
void cdg_open(struct cdg *cdg);
void cdg_open_without_order(struct cdg *cdg);    /* cdg_set_order() must follow */
void cdg_close(struct cdg *cdg, unsigned left);  /* closes all layers but the first `left` */
void cdg_clear(struct cdg *cdg, unsigned layer); /* as after cdg_open() */
/* Sets the order of a layer that has no dependencies yet: all channels, first to last. */
void cdg_set_order(struct cdg *cdg, unsigned layer, const uint32_t *channels);
/* Sets the order of a layer to the up*-down* order of an engine: `ranks` by switch, lower is up. */
void cdg_order_by_rank(struct cdg *cdg, unsigned layer, const uint32_t *ranks);

/* Many dependencies at once: cdg_note() stores them without a check, cdg_sort() then keeps the
 * order of the layer if it agrees with all of them, or finds another one. False if they have a
 * cycle; the layer must be cleared then. */
static inline void cdg_note(struct cdg *cdg, unsigned layer, uint32_t in, uint32_t out);
bool cdg_sort(struct cdg *cdg, unsigned layer);

/* Inserts one dependency, unless it would close a cycle. `out` leaves where `in` arrives. */
enum cdg_answer cdg_insert(struct cdg *cdg, unsigned layer, uint32_t in, uint32_t out);

/* Adds the dependencies of packets from a switch to a LID; with `check`, false if one closes a
 * cycle or the tables have a loop. A path between switches without terminals is management and has
 * none (verify.h). */
bool cdg_lay_path(struct cdg *cdg, unsigned layer, const struct routes *tables, uint32_t from,
                  uint32_t lid, bool check);

/* A trial: dependencies inserted from cdg_begin() on, into any layer, can be removed again,
 * together with the refusals that they caused. Trials are not nested. */
void cdg_begin(struct cdg *cdg);
/* Ends the trial: keeps all dependencies that it inserted, or removes them. Returns `keep`. */
bool cdg_end(struct cdg *cdg, bool keep);
/* Ends the trial and keeps the `wanted` dependencies. */
void cdg_commit_if(struct cdg *cdg,
                   bool (*wanted)(const void *context, struct cdg_dependency added),
                   const void *context);

/* cdg_move.c. The same graph for a changed network: `to_new` has the new index of each old switch,
 * or NETWORK_NONE. A link that is the same in both networks (same switches, same ports) keeps its
 * dependencies and its place in every order. Lost links are dropped, and new links have no
 * dependencies. `cdg` need not be initialized; `from` must have no trial running. */
void cdg_move(struct cdg *cdg, const struct cdg *from, const struct network *network,
              const uint32_t *to_new);

/* cdg_similar.c, for insertion. After a search that ended with `side`: the channel behind which the
 * channels that it found go. */
uint32_t cdg_far_place(const struct cdg *cdg, const struct cdg_layer *layer, unsigned side);
/* After a search that met in `met`: stores the path from `out` to `in`. */
void cdg_note_path(struct cdg *cdg, struct cdg_dependency refused, uint32_t met);
/* Whether a stored path closes a cycle with a dependency. */
bool cdg_path_closes(const struct cdg *cdg, struct cdg_dependency new);

static inline uint64_t cdg_operations(const struct cdg *cdg)
{
    return cdg->insertions + cdg->reordering;
}
static inline size_t cdg_row(const struct cdg *cdg, uint32_t channel)
{
    return (size_t)channel * cdg->words;
}
/* The row of channel `in`, in `after` or in any other set. */
static inline size_t cdg_row_of(const struct cdg *cdg, uint32_t in)
{
    return cdg_row(cdg, cdg->reverse[in]);
}
/* The bit of `out` in the row of `in`. */
static inline uint32_t cdg_bit(const struct cdg *cdg, uint32_t in, uint32_t out)
{
    return out - cdg->network->first_edge[cdg->network->edges[in].to];
}
static inline bool cdg_set_has(const struct cdg *cdg, const uint64_t *set, uint32_t in,
                               uint32_t out)
{
    return bitset_has(set + cdg_row_of(cdg, in), cdg_bit(cdg, in, out));
}
static inline void cdg_set_add(const struct cdg *cdg, uint64_t *set, uint32_t in, uint32_t out)
{
    bitset_add(set + cdg_row_of(cdg, in), cdg_bit(cdg, in, out));
}
/* A set of dependencies, in the layout of cdg_layer.after; freed with mem_free(). */
static inline uint64_t *cdg_set_new(const struct cdg *cdg)
{
    return mem_zalloc(cdg_row(cdg, cdg->channels) + 1, sizeof(uint64_t));
}
static inline void cdg_note(struct cdg *cdg, unsigned layer, uint32_t in, uint32_t out)
{
    cdg_set_add(cdg, cdg->layer[layer].after, in, out);
}
static inline bool cdg_has(const struct cdg *cdg, unsigned layer, uint32_t in, uint32_t out)
{
    return cdg_set_has(cdg, cdg->layer[layer].after, in, out);
}
/* Whether the dependency was refused before, and the refusal still holds. */
static inline bool cdg_refuses(const struct cdg *cdg, unsigned layer, uint32_t in, uint32_t out)
{
    return cdg_set_has(cdg, cdg->layer[layer].refused, in, out);
}
/* Whether the dependency is in the layer, or can be inserted without a change of the order. */
static inline bool cdg_agrees(const struct cdg *cdg, unsigned layer, uint32_t in, uint32_t out)
{
    const uint64_t *place = cdg->layer[layer].place;
    return place[in] < place[out];
}
/* The channel that leaves a switch by a port, and the one that arrives there; NETWORK_NONE if the
 * port does not lead to another switch. */
static inline uint32_t cdg_leaving(const struct cdg *cdg, uint32_t at, unsigned port)
{
    const struct network_switch *node = &cdg->network->switches.items[at];
    return port <= node->port_count ? cdg->of_port[node->first_port + port] : NETWORK_NONE;
}
static inline uint32_t cdg_arriving(const struct cdg *cdg, uint32_t at, unsigned port)
{
    uint32_t leaving = cdg_leaving(cdg, at, port);
    return leaving == NETWORK_NONE ? NETWORK_NONE : cdg->reverse[leaving];
}

#endif
