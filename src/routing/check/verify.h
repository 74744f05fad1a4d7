/* An independent check of forwarding tables.
 *
 * It follows the tables as packets do and shares no code with the engines. It checks that:
 * - every pair of end points that cables connect is delivered (terminals to terminals by the DLID
 *   of path_lookup(), terminals to switches and back, switches to switches);
 * - no entry leads into a loop;
 * - on no VL can packets wait for each other in a cycle (the channel dependency graph of Dally and
 *   Seitz has no cycle). All traffic with a terminal at one end counts; traffic between switches is
 *   management and is only checked for delivery. With `adapters`, traffic between terminals and
 *   switches is also checked for delivery only. Clients of a reversible path use one SL for both
 *   directions: with `reversible`, packets to a terminal (or from it) also count with every SL of
 *   the opposite direction.
 *
 * It also counts down-up transitions where roots are given, hops, and the load of each link: the
 * ordered pairs of terminals whose route crosses it in one direction. */
#ifndef WEFT_ROUTING_CHECK_VERIFY_H
#define WEFT_ROUTING_CHECK_VERIFY_H

#include "base/workers.h"
#include "routing/model/routes.h"
#include "routing/model/vl_map.h"

enum { VERIFY_FINDINGS = 16 };

struct dependency_graph;

struct verify_options {
    const struct vl_map *vl_map; /* NULL: those of the routes */
    const uint32_t *roots;       /* switches; their up*-down* directions are checked too */
    size_t root_count;
    const struct workers *workers; /* NULL: one thread */
    bool reversible;               /* both directions of a pair may use one SL, see above */
    bool adapters;                 /* only traffic between terminals can close a cycle */
    struct dependency_graph *keep; /* receives the graph of all dependencies; or NULL */
};

/* A channel of a cycle: out of this port of this switch, on this VL. */
struct verify_channel {
    uint32_t at;
    uint8_t port, vl;
};

struct verify_report {
    uint64_t pairs;              /* ordered pairs of terminals, connected by cables */
    uint64_t undelivered;        /* pairs with a terminal at one end at least */
    uint64_t switch_undelivered; /* pairs of switches */
    uint64_t loops;              /* entries that lead into a loop */
    uint64_t alias_holes; /* entries without a route for LIDs of a terminal that no pair uses */
    uint64_t down_up;     /* transitions, counted by entry */
    uint64_t dependencies;
    unsigned vls;
    uint64_t hops_sum, hops_max; /* pairs of terminals; hops as TPDS 2006 counts them, from the
                                    source's switch to the destination port */
    uint64_t table_hops_sum;     /* hops from every switch to every LID */
    uint64_t *load;              /* by channel: switch.first_port + port; links of switches only */
    uint64_t load_max, load_sum, channels;
    VEC(struct verify_channel) cycle; /* empty if there is none; the last leads to the first */
    VEC(const char *) findings;       /* the first few, as text; the cycle comes first */
    struct arena strings;
};

void verify_routes(const struct network *network, const struct routes *routes,
                   const struct verify_options *options, struct verify_report *report);
void verify_report_release(struct verify_report *report);
/* The cost of the check, in operations as engine.h counts them. */
uint64_t verify_operations(const struct network *network, const struct routes *routes);

static inline bool verify_delivers(const struct verify_report *report)
{
    return !report->undelivered && !report->switch_undelivered && !report->loops;
}
static inline bool verify_passes(const struct verify_report *report)
{
    return verify_delivers(report) && report->cycle.count == 0;
}

/* The cycle as a path of names and ports: "VL 0: 'a' port 1 -> 'b' port 2 -> 'a'". */
void verify_write_cycle(const struct network *network, const struct verify_channel *cycle,
                        size_t count, struct text *out);

#endif
