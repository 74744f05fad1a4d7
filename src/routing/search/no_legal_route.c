/* Directions with several roots cannot serve everybody: in a tree of three levels that lost the
 * link between a leaf and a middle switch, hosts at that leaf can only reach that switch (its own
 * LID, for management) by going down and up again, and it them. Such packets have their tables,
 * which lead to a switch that has a legal route and where they may turn (down_up_pivots.h); but
 * together with all others they could close a circle. So they get lanes of their own, by service
 * levels from 1 on: the legal routes stay among themselves on lane 0, as safe as ever, and of the
 * strays each is put, with its way back, on the first lane where they close no circle with those
 * before (the idea of layers, as in Skeie, Lysne and Theiss, "Layered shortest path (LASH) routing
 * in irregular system area networks", 2002). That is tried out, not assumed: two or three lanes are
 * enough for fat trees.
 *
 * Where there is one lane only, all stays on it, and is proved or refused. */
#include "routing/search/no_legal_route.h"

#include "routing/cdg/cdg.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct strays {
    const struct network *network;
    struct routes *routes;
    struct cdg cdg;                    /* a layer for each lane but the first */
    unsigned lane_limit;               /* of layers */
    VEC(struct cdg_dependency) needed; /* of a pair, in both directions */
    uint64_t operations;
};

/* What a packet from a switch to a LID waits for on its way. */
static void trace_way(struct strays *strays, uint32_t at, uint32_t lid)
{
    const struct network *network = strays->network;
    uint32_t in = NETWORK_NONE;
    for (uint32_t hops = 0; hops < network->switches.count; hops++) {
        uint32_t out = cdg_leaving(&strays->cdg, at, routes_port(strays->routes, at, lid));
        if (out == NETWORK_NONE)
            break;
        if (in != NETWORK_NONE)
            vec_push(&strays->needed, ((struct cdg_dependency){.in = in, .out = out}));
        in = out;
        at = network->edges[out].to;
        strays->operations++;
    }
}

/* All that the pair needs on a lane, or nothing. */
static bool fits_lane(struct strays *strays, unsigned lane)
{
    bool fits = true;
    cdg_begin(&strays->cdg);
    for (size_t i = 0; i < strays->needed.count && fits; i++)
        fits = cdg_insert(&strays->cdg, lane, strays->needed.items[i].in,
                          strays->needed.items[i].out) != CDG_REFUSED;
    if (fits)
        cdg_commit(&strays->cdg);
    else
        cdg_undo(&strays->cdg);
    return fits;
}

/* For all LIDs at a switch, its own and those of its terminals. */
static void each_lid(struct strays *strays, uint32_t from, uint32_t to,
                     void (*visit)(struct strays *, uint32_t from, uint32_t lid, unsigned lane),
                     unsigned lane)
{
    const struct network *network = strays->network;
    const struct network_switch *target = &network->switches.items[to];
    for (uint32_t k = 0; target->lid && k < UINT32_C(1) << target->lmc; k++)
        visit(strays, from, target->lid + k, lane);
    for (uint32_t i = network->first_terminal[to]; i < network->first_terminal[to + 1]; i++) {
        const struct network_terminal *terminal =
            &network->terminals.items[network->terminals_at[i]];
        for (uint32_t k = 0; terminal->lid && k < UINT32_C(1) << terminal->lmc; k++)
            visit(strays, from, terminal->lid + k, lane);
    }
}

/* What two switches say to each other does not count as traffic. */
static void trace_lid(struct strays *strays, uint32_t from, uint32_t lid, unsigned lane)
{
    (void)lane;
    if (!(strays->network->owner[lid] & NETWORK_SWITCH) ||
        network_terminal_count(strays->network, from))
        trace_way(strays, from, lid);
}

static void write_level(struct strays *strays, uint32_t from, uint32_t lid, unsigned lane)
{
    strays->routes->service_levels[(size_t)from * strays->routes->stride + lid] = (uint8_t)lane;
}

/* Both directions of a pair go to the same lane; false if there is none left. */
static bool place_pair(struct strays *strays, uint32_t a, uint32_t b)
{
    strays->needed.count = 0;
    each_lid(strays, a, b, trace_lid, 0);
    each_lid(strays, b, a, trace_lid, 0);
    for (unsigned lane = 0; lane < strays->lane_limit; lane++) {
        if (lane == strays->cdg.count) {
            cdg_open(&strays->cdg);
            cdg_order_by_rank(&strays->cdg, lane, strays->routes->ranks);
        }
        if (!fits_lane(strays, lane))
            continue;
        each_lid(strays, a, b, write_level, lane + 1);
        each_lid(strays, b, a, write_level, lane + 1);
        return true;
    }
    return false;
}

/* A way without a legal order has none backwards either, so the list has every pair twice: the one
 * from the switch with terminals is taken. */
static bool place_stray(struct strays *strays, const struct next_hops_stray *stray)
{
    return !network_terminal_count(strays->network, stray->from) ||
           place_pair(strays, stray->from, stray->to);
}

static int find_lanes(const struct network *network, unsigned lanes,
                      const struct next_hops_strays *list, struct routes *routes, struct err *err)
{
    struct strays strays = {.network = network, .routes = routes, .lane_limit = lanes - 1};
    bool placed = true;
    cdg_init(&strays.cdg, network);
    routes->service_levels = mem_zalloc((size_t)routes->switch_count * routes->stride, 1);
    for (size_t i = 0; i < list->items.count && placed; i++)
        placed = place_stray(&strays, &list->items.items[i]);
    routes->operations += strays.operations;
    routes->vls = (uint8_t)(1 + strays.cdg.count);
    routes->reversible = true;
    size_t length = strlen(routes->note);
    snprintf(routes->note + length, sizeof routes->note - length,
             "; %zu pairs of a switch with and one without hosts have no route up and down: they "
             "go by lanes from 1 on",
             list->items.count);
    cdg_release(&strays.cdg);
    vec_release(&strays.needed);
    return placed ? 0
                  : err_set(err, EDEADLK,
                            "%s: %zu pairs of a switch with and one without hosts have no route up "
                            "and down, and %u virtual lanes are too few to keep them apart",
                            routes->engine, list->items.count, lanes);
}

int no_legal_route_settle(const struct network *network, const struct engine_options *options,
                          const struct next_hops_gaps *gaps, struct routes *routes, struct err *err)
{
    unsigned lanes = engine_vls(options);
    struct engine_options proved = *options;
    proved.leave_proof = false;
    int rc = 0;
    if (gaps->stray_count == 0) {
        rc = engine_settle(network, options, false, routes, err);
    } else if (lanes == 1 || gaps->stray_count > NEXT_HOPS_STRAYS_TOP) {
        rc = engine_settle(network, &proved, true, routes, err);
    } else {
        rc = find_lanes(network, lanes, &gaps->strays, routes, err);
        if (rc)
            engine_refuse(routes);
        else
            rc = engine_settle(network, options, false, routes, err);
    }
    return rc;
}
