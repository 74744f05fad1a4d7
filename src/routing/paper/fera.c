/* FERa: fully explicit routing (Bermudez, Casado, Quiles and Duato, "Fast routing computation on
 * InfiniBand networks", 2006, section 2.3), with one root.
 *
 * The reference form: distances as distance.c computes them, ties to the lowest port. It gives the
 * entries and hops of the paper's Fig. 6. The order in which the paper's own flooding finds them is
 * in flood.c. */
#include "routing/paper/fera.h"

#include "routing/paper/paper_cost.h"
#include "routing/search/roots.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int fera_tables(const struct network *network, const struct updown *updown,
                const struct engine_options *options, struct routes *routes, bool *strays,
                struct err *err)
{
    struct distance_gaps gaps;
    char from[NETWORK_LABEL_BYTES], to[NETWORK_LABEL_BYTES];
    spread_tables(network, updown, options, routes, &gaps);
    routes->ranks = mem_alloc(network->switches.count * sizeof *routes->ranks);
    if (network->switches.count)
        memcpy(routes->ranks, updown->rank, network->switches.count * sizeof *routes->ranks);
    *strays = gaps.other_pairs > 0;
    if (gaps.terminal_pairs == 0)
        return 0;
    return err_set(err, ENETUNREACH,
                   "%llu pairs of ports have no up*-down* route with these roots (the first from "
                   "%.80s to %.80s)",
                   (unsigned long long)gaps.terminal_pairs,
                   network_label(network, NETWORK_SWITCH | gaps.from, from),
                   network_label(network, NETWORK_SWITCH | gaps.to, to));
}

static int fera_compute(const struct network *network, const struct engine_options *options,
                        struct routes *routes, struct err *err)
{
    struct roots roots;
    struct updown updown;
    bool strays;
    *routes = (struct routes){0};
    int rc = roots_choose(&roots, network, options, ROOT_MANAGER, err);
    if (rc)
        return rc;
    updown_init(&updown, network, roots.switches.items, roots.switches.count);
    routes_init(routes, network, "fera");
    memcpy(routes->note, roots.note, sizeof roots.note);
    routes->operations = roots.operations;
    rc = fera_tables(network, &updown, options, routes, &strays, err);
    updown_release(&updown);
    roots_release(&roots);
    if (rc) {
        engine_refuse(routes);
        return rc;
    }
    return engine_settle(network, options, strays, routes, err);
}

const struct engine engine_fera = {
    .name = "fera",
    .summary = "fully explicit up*-down* routes, lowest ports",
    .compute = fera_compute,
    .paper_steps = paper_steps_fera,
};
