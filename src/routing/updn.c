/* updn: FERa's rule for operators: several roots, balanced ties.
 *
 * With one root at a leaf, a fat tree has most of its spines below the leaves and its traffic on
 * one of them. Here the roots are all switches of the top stage, if the network is a tree in
 * stages, or the given ones, or else the centre; equal ways share the terminals.
 *
 * Several roots can leave pairs without a legal route. Between terminals that is an error for roots
 * that were given, and the reason to take the centre for roots that were detected. Between a
 * terminal and a switch (a root that lost a link) the tables lead to a legal route all the same,
 * and are then proved free of cycles. */
#include "routing/fera.h"
#include "routing/paper_cost.h"
#include "routing/roots.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int compute_with(const struct network *network, const struct engine_options *options,
                        enum root_choice choice, struct routes *routes, struct err *err)
{
    struct engine_options chosen = *options;
    struct roots roots;
    struct updown updown;
    bool strays;
    chosen.root = choice;
    *routes = (struct routes){0};
    int rc = roots_choose(&roots, network, &chosen, ROOT_DETECT, err);
    if (rc)
        return rc;
    updown_init(&updown, network, roots.switches.items, roots.switches.count);
    routes_init(routes, network, "updn");
    memcpy(routes->note, roots.note, sizeof roots.note);
    routes->operations = roots.operations;
    rc = fera_tables(network, &updown, options, SPREAD_BALANCED, routes, &strays, err);
    updown_release(&updown);
    roots_release(&roots);
    if (rc) {
        engine_refuse(routes);
        return rc;
    }
    return engine_settle(network, options, strays, routes, err);
}

static int updn_compute(const struct network *network, const struct engine_options *options,
                        struct routes *routes, struct err *err)
{
    enum root_choice choice = options->root == ROOT_DEFAULT ? ROOT_DETECT : options->root;
    int rc = compute_with(network, options, choice, routes, err);
    if (choice != ROOT_DETECT || (rc != -ENETUNREACH && rc != -EDEADLK))
        return rc;
    uint64_t in_vain = routes->operations;
    rc = compute_with(network, options, ROOT_CENTRE, routes, err);
    routes->operations += in_vain;
    if (rc)
        return rc;
    size_t length = strlen(routes->note);
    snprintf(routes->note + length, sizeof routes->note - length,
             " (the top stage as roots leaves pairs without a legal route)");
    return 0;
}

const struct engine engine_updn = {
    .name = "updn",
    .summary = "up*-down* with detected or given roots, balanced over equal ways",
    .compute = updn_compute,
    .paper_steps = paper_steps_fera,
};
