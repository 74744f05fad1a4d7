/* Directions with several roots can leave pairs without a legal route: in a tree of three levels
 * that lost the link between a leaf and a middle switch, hosts at that leaf can only reach that
 * switch (its own LID, for management) by going down and up again, and vice versa. The tables lead
 * packets of such unroutable pairs to a switch that has a legal route and where they may turn
 * (down_up_pivots.h); but together with all other packets they could form a cycle. So they get
 * separate VLs, by SLs from 1 on: legal routes stay on VL 0, and both directions of each unroutable
 * pair go to the first VL where they close no cycle with those before (the idea of layers, as in
 * Skeie, Lysne and Theiss, "Layered shortest path (LASH) routing in irregular system area
 * networks", 2002). Two or three VLs are enough for fat trees.
 *
 * With one VL, all routes stay on it, and are proved or refused. */
#include "routing/search/no_legal_route.h"

#include "routing/cdg/cdg.h"

#include <assert.h>
#include <errno.h>

struct placement {
    const struct network *network;
    struct routes *routes;
    struct cdg cdg;                    /* a layer for each VL but VL 0 */
    VEC(struct cdg_dependency) needed; /* of a pair, in both directions */
    uint64_t operations;
};

/* Adds the dependencies of a path from a switch to a LID. */
static void trace_path(struct placement *placement, uint32_t at, uint32_t lid)
{
    const struct network *network = placement->network;
    uint32_t in = NETWORK_NONE;
    for (uint32_t hops = 0; hops < network->switches.count; hops++) {
        uint32_t out = cdg_leaving(&placement->cdg, at, routes_port(placement->routes, at, lid));
        if (out == NETWORK_NONE)
            break;
        if (in != NETWORK_NONE)
            vec_push(&placement->needed, ((struct cdg_dependency){.in = in, .out = out}));
        in = out;
        at = network->edges[out].to;
        placement->operations++;
    }
}

/* Paths to all LIDs at a switch. Packets from one switch to another are management and do not
 * count. */
static void trace_paths(struct placement *placement, uint32_t from, uint32_t to)
{
    const struct network *network = placement->network;
    const struct network_switch *target = &network->switches.items[to];
    bool counts = target->lid && network_terminal_count(network, from);
    for (uint32_t k = 0; counts && k < UINT32_C(1) << target->lmc; k++)
        trace_path(placement, from, target->lid + k);
    for (uint32_t i = network->first_terminal[to]; i < network->first_terminal[to + 1]; i++) {
        const struct network_terminal *terminal = network_terminal_at(network, i);
        for (uint32_t k = 0; terminal->lid && k < UINT32_C(1) << terminal->lmc; k++)
            trace_path(placement, from, terminal->lid + k);
    }
}

/* Puts both directions of a pair on the first VL that takes them; false if none below `vls` does.
 */
static bool place_pair(struct placement *placement, unsigned vls, uint32_t a, uint32_t b)
{
    struct routes *routes = placement->routes;
    bool fits = false;
    placement->needed.count = 0;
    trace_paths(placement, a, b);
    trace_paths(placement, b, a);
    for (unsigned layer = 0; layer + 1 < vls && !fits; layer++) {
        if (layer == placement->cdg.count) {
            cdg_open(&placement->cdg);
            cdg_order_by_rank(&placement->cdg, layer, routes->ranks);
        }
        fits = true;
        cdg_begin(&placement->cdg);
        for (size_t i = 0; i < placement->needed.count && fits; i++)
            fits = cdg_insert(&placement->cdg, layer, placement->needed.items[i].in,
                              placement->needed.items[i].out) != CDG_REFUSED;
        if (!cdg_end(&placement->cdg, fits))
            continue;
        uint8_t *levels = routes->service_levels, sl = (uint8_t)(layer + 1);
        routes_fill_switch(levels + (size_t)a * routes->stride, placement->network, b, sl);
        routes_fill_switch(levels + (size_t)b * routes->stride, placement->network, a, sl);
    }
    return fits;
}

static int find_vls(const struct network *network, unsigned vls, const struct next_hops_gaps *gaps,
                    struct routes *routes, struct err *err)
{
    struct placement placement = {.network = network, .routes = routes};
    bool placed = true;
    cdg_init(&placement.cdg, network);
    routes->service_levels = mem_zalloc((size_t)routes->switch_count * routes->stride, 1);
    for (size_t i = 0; i < gaps->unroutable.count && placed; i++) {
        /* A pair has no legal route back either, so the list has it twice. */
        const struct unroutable_pair *pair = &gaps->unroutable.items[i];
        if (network_terminal_count(network, pair->from))
            placed = place_pair(&placement, vls, pair->from, pair->to);
    }
    routes->operations += placement.operations;
    routes->vls = (uint8_t)(1 + placement.cdg.count);
    routes->reversible = true;
    routes_add_note(routes, "; %zu switch pairs have no up*/down* route and use VL 1 and above",
                    gaps->unroutable.count);
    cdg_release(&placement.cdg);
    vec_release(&placement.needed);
    return placed ? 0
                  : err_set(err, EDEADLK,
                            "%s: %zu switch pairs have no up*/down* route, and %u VLs are too few "
                            "to keep them apart",
                            routes->engine, gaps->unroutable.count, vls);
}

int no_legal_route_settle(const struct network *network, const struct engine_options *options,
                          const struct next_hops_gaps *gaps, struct routes *routes, struct err *err)
{
    assert(routes->ranks || gaps->unroutable_count == 0);
    unsigned vls = engine_vls(options);
    struct engine_options proved = *options;
    proved.caller_verifies = false;
    if (gaps->unroutable_count && (vls == 1 || gaps->unroutable_count > NEXT_HOPS_UNROUTABLE_TOP))
        return engine_settle(network, &proved, true, routes, err);
    int rc = gaps->unroutable_count ? find_vls(network, vls, gaps, routes, err) : 0;
    if (!rc)
        return engine_settle(network, options, false, routes, err);
    engine_refuse(routes);
    return rc;
}
