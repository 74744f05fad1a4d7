/* FERa: fully explicit routing (Bermudez, Casado, Quiles and Duato, "Fast routing computation on
 * InfiniBand networks", 2006, section 2.3), with one root.
 *
 * fera_tables.c computes the tables: the entries and hops of the paper's Fig. 6. The order in which
 * the paper's own flooding finds them is in published_fera.c. */
#include "routing/paper/fera.h"

#include "routing/search/roots.h"

#include <string.h>

int fera_tables(const struct network *network, const struct updown *updown,
                const struct engine_options *options, struct routes *routes, bool *unproved,
                struct err *err)
{
    struct updown_gaps gaps;
    fera_fill_tables(network, updown, options, routes, &gaps);
    *unproved = gaps.other_pairs > 0;
    return gaps.terminal_pairs ? updown_refuse(network, &gaps, err) : 0;
}

int paper_compute(const struct network *network, const struct engine_options *options,
                  const char *engine,
                  int (*tables)(const struct network *network, const struct updown *updown,
                                const struct engine_options *options, struct routes *routes,
                                bool *unproved, struct err *err),
                  struct routes *routes, struct err *err)
{
    struct roots roots;
    struct updown updown;
    bool unproved = false;
    *routes = (struct routes){0};
    int rc = roots_choose(&roots, network, options, ROOT_MANAGER, err);
    if (rc)
        return rc;
    updown_init(&updown, network, roots.switches.items, roots.switches.count);
    routes_init(routes, network, engine);
    memcpy(routes->note, roots.note, sizeof roots.note);
    routes->operations = roots.operations;
    rc = tables(network, &updown, options, routes, &unproved, err);
    routes->ranks = updown.rank;
    updown.rank = NULL;
    updown_release(&updown);
    roots_release(&roots);
    if (rc) {
        engine_refuse(routes);
        return rc;
    }
    return engine_settle(network, options, unproved, routes, err);
}

int fera_compute(const struct network *network, const struct engine_options *options,
                 struct routes *routes, struct err *err)
{
    return paper_compute(network, options, "fera", fera_tables, routes, err);
}

const struct engine engine_fera = {
    .name = "fera",
    .summary = "fully explicit up*-down* routes, lowest ports",
    .compute = fera_compute,
};
