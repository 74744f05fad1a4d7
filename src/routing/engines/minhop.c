/* minhop: minimum-hop routes, as OpenSM's (Villar, "Estudio y puesta en marcha de una subred
 * InfiniBand", 2004, section 6.4.5), balanced over equal paths.
 *
 * The original propagates LID/port/hops from neighbour to neighbour; breadth-first distances are
 * its fixed point. It does not prevent deadlock: here the tables are proved free of dependency
 * cycles, or refused with the cycle, unless cycles are explicitly allowed.
 *
 * In a tree the terminals take equal next hops in turn, in any other network the one with the least
 * load. */
#include "routing/engines/dmodk.h"
#include "routing/search/least_loaded.h"

static int minhop_compute(const struct network *network, const struct engine_options *options,
                          struct routes *routes, struct err *err)
{
    struct engine_options detect = {.root = ROOT_DETECT};
    struct next_hops_gaps gaps;
    struct tree tree;
    struct err ignored;
    routes_reserve(routes, network, "minhop");
    if (!least_loaded_is_wanted(options) &&
        tree_recognise(&tree, network, &detect, &ignored) == 0) {
        routes->operations = tree.operations;
        dmodk_tables(network, &tree, NULL, options, DMODK_LIST, routes, &gaps);
        tree_release(&tree);
    } else {
        least_loaded_tables(network, NULL, options, routes, &gaps);
    }
    return engine_settle(network, options, true, routes, err);
}

const struct engine engine_minhop = {
    .name = "minhop",
    .summary = "minimum hops, balanced; refused where it could deadlock",
    .compute = minhop_compute,
};
