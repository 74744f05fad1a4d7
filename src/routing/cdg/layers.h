/* Channel dependency graphs that grow one dependency at a time and never get a cycle.
 *
 * For engines that lay routes over virtual lanes: each lane is a layer with a graph of its own
 * (Dally and Seitz: no deadlock as long as it has no cycle). A channel is one direction of a link
 * between switches and has the number of its edge in the network; a dependency leads from a channel
 * that arrives at a switch to one that leaves it. The dependencies of a switch are rows of bits,
 * one row for each of its links.
 *
 * Every layer keeps its channels in a topological order and repairs it when a dependency points
 * backwards: most additions cost one look at two places in the order. What would close a cycle is
 * refused, and remembered, because a graph that only grows will refuse it for ever.
 *
 * A repair looks from both ends of the new dependency at what lies between them in the order, as
 * Pearce and Kelly do ("A dynamic topological sort algorithm for directed acyclic graphs", 2006);
 * but it stops as soon as one end has seen everything, and moves only that to beyond the other end.
 * Mostly one of the two has a few channels to look at and the other hundreds. For that the order is
 * a list whose members have ascending numbers with gaps between them (Dietz and Sleator, "Two
 * algorithms for maintaining order in a list", 1987, in its simplest form). */
#ifndef WEFT_ROUTING_CDG_LAYERS_H
#define WEFT_ROUTING_CDG_LAYERS_H

#include "routing/model/routes.h"

enum {
    LAYERS_LIMIT = 15,  /* data lanes of InfiniBand: VL 15 is the managers' */
    LAYERS_DEFAULT = 8, /* lanes that an engine may use if nobody says otherwise */
};

struct layers_dependency {
    uint32_t in, out;
};
enum layers_answer { LAYERS_HAD, LAYERS_ADDED, LAYERS_REFUSED };

struct layer {
    uint64_t *after;   /* rows by the twin of an arriving channel: those that it leads to */
    uint64_t *before;  /* rows by leaving channel: twins of those that lead to it */
    uint64_t *refused; /* as `after` */
    uint64_t *place;   /* by channel: a number that ascends along the topological order */
    uint32_t *next;    /* the order as a ring, which begins and ends at `channels` */
    uint32_t *last;    /* the same backwards */
};

struct layers_place {
    uint64_t place;
    uint32_t channel;
};

struct layers {
    const struct network *network;
    uint32_t channels;
    uint32_t words;        /* of a row */
    uint32_t *twin;        /* by channel: the other direction of its link */
    uint32_t *of_port;     /* by entry of the network's ports: the channel out of it, or NONE */
    uint32_t *first_order; /* channels: up towards the stages without hosts, then down */
    unsigned count;
    struct layer layer[LAYERS_LIMIT];
    uint64_t operations; /* as engine.h counts them */
    uint64_t *trial;     /* as layer.after: what may be taken back */
    struct layers_trial {
        unsigned layer;
        bool running;
        VEC(struct layers_dependency) added;
        VEC(struct layers_dependency) refused; /* on account of what was added */
    } try;

    /* Of one search. */
    uint8_t *seen; /* by channel: 0, or how it was found */
    VEC(uint32_t) ahead;
    VEC(uint32_t) behind;
    VEC(struct layers_place) moved;
};

/* Lanes to use, as engine options have them. */
static inline unsigned layers_wanted(unsigned max_vls)
{
    if (max_vls == 0)
        return LAYERS_DEFAULT;
    return max_vls < LAYERS_LIMIT ? max_vls : LAYERS_LIMIT;
}

void layers_init(struct layers *layers, const struct network *network);
void layers_release(struct layers *layers);
void layers_open(struct layers *layers);                  /* one more, empty */
void layers_close(struct layers *layers, unsigned left);  /* gives up all but the first few */
void layers_clear(struct layers *layers, unsigned layer); /* empty again */

/* Many dependencies at once: notes them without a look at the order, then finds an order for all;
 * false if there is none, and then the layer is of no further use. */
void layers_note(struct layers *layers, unsigned layer, uint32_t in, uint32_t out);
bool layers_sort(struct layers *layers, unsigned layer);

/* A packet that came in by `in` may wait for `out`; both are channels of the same switch. */
enum layers_answer layers_add(struct layers *layers, unsigned layer, uint32_t in, uint32_t out);

/* A trial: what is added to the layer from here on can be taken back, with all that was refused
 * only because of it. One at a time. */
void layers_begin(struct layers *layers, unsigned layer);
void layers_keep(struct layers *layers); /* the trial was a success */
void layers_undo(struct layers *layers); /* the layer is as it was */
/* Ends the trial with a part of what was added. */
void layers_keep_if(struct layers *layers,
                    bool (*wanted)(const void *context, struct layers_dependency added),
                    const void *context);

/* Which lanes the routes of a layer are spread over: a part of them has no cycle either. */
struct layers_share {
    unsigned first, count;
};
/* Every layer gets a lane; of those that are left each goes where a lane has the most weight. */
void layers_share(struct layers_share *share, const uint64_t *weight, unsigned layers,
                  unsigned lanes);
/* The lane of a share with the least load. */
static inline unsigned layers_lightest(const struct layers_share *share, const uint64_t *load)
{
    unsigned best = share->first;
    for (unsigned lane = share->first + 1; lane < share->first + share->count; lane++)
        best = load[lane] < load[best] ? lane : best;
    return best;
}

/* "dfsssp: needs 9 lanes, has 8"; more than LAYERS_LIMIT means that nobody counted. */
int layers_refusal(const char *engine, unsigned layers, unsigned lanes, struct err *err);
/* Notes in the routes how many lanes they use, and why. */
void layers_describe(struct routes *routes, unsigned layers, unsigned lanes);
/* And that a pair's two directions may differ in them. */
void layers_describe_one_way(struct routes *routes);

static inline size_t layers_row(const struct layers *layers, uint32_t channel)
{
    return (size_t)channel * layers->words;
}
/* The number of `out` among the channels that leave its switch, where `in` arrives. */
static inline uint32_t layers_offset(const struct layers *layers, uint32_t in, uint32_t out)
{
    return out - layers->network->first_edge[layers->network->edges[in].to];
}
static inline bool layers_row_has(const struct layers *layers, const uint64_t *rows, uint32_t in,
                                  uint32_t out)
{
    uint32_t bit = layers_offset(layers, in, out);
    return rows[layers_row(layers, layers->twin[in]) + bit / 64] >> (bit % 64) & 1;
}
static inline bool layers_has(const struct layers *layers, unsigned layer, uint32_t in,
                              uint32_t out)
{
    return layers_row_has(layers, layers->layer[layer].after, in, out);
}
static inline bool layers_refuses(const struct layers *layers, unsigned layer, uint32_t in,
                                  uint32_t out)
{
    return layers_row_has(layers, layers->layer[layer].refused, in, out);
}

#endif
