/* minhop: minimum-hop routes (seed 003 section 6.4.5), spread over equal ways.
 *
 * The seed's algorithm propagates LID/port/hops from neighbour to neighbour; breadth-first
 * distances are its fixed point. Nothing about it prevents deadlock, and its users have been
 * bitten: here the tables are proved free of dependency cycles before anybody gets them, or refused
 * with the cycle, unless cycles are explicitly allowed. */
#include "routing/paper_cost.h"
#include "routing/spread.h"

static int minhop_compute(const struct network *network, const struct engine_options *options,
                          struct routes *routes, struct err *err)
{
    routes_init(routes, network, "minhop");
    spread_tables(network, NULL, options, SPREAD_BALANCED, routes, NULL);
    return engine_settle(network, options, true, routes, err);
}

const struct engine engine_minhop = {
    .name = "minhop",
    .summary = "minimum hops, balanced; refused where it could deadlock (seed 003)",
    .compute = minhop_compute,
    .paper_steps = paper_steps_minhop,
};
