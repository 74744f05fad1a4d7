/* updn: FERa's rule for operators: several roots, balanced ties.
 *
 * With one root at a leaf, a fat tree has most of its spines below the leaves and its traffic on
 * one of them. Here the directions follow the levels, if the network is a tree in stages, or the
 * given roots, or else the centre. In a tree the terminals take equal next hops in turn, in any
 * other network the one with the least load.
 *
 * Several roots can leave pairs without a legal route. Between terminals that is an error for given
 * roots; detected roots are then replaced by the centre. Between a terminal and a switch (a root
 * that lost a link) the tables lead to a switch with a legal route, on separate VLs
 * (no_legal_route.c). */
#include "routing/engines/dmodk.h"
#include "routing/search/least_loaded.h"
#include "routing/search/no_legal_route.h"
#include "routing/search/roots.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The directions and their source. */
struct directions {
    struct updown updown; /* not yet made if the tree has them */
    struct tree tree;     /* valid if its levels are not NULL */
    char note[sizeof((struct roots *)0)->note];
    uint64_t operations;
};

/* False if the network is not a tree with more than one level, or not with these roots. */
static bool use_tree_levels(struct directions *directions, const struct network *network,
                            const struct engine_options *options)
{
    struct err ignored;
    struct tree *tree = &directions->tree;
    if (options->tree != TREE_BFS || (options->root != ROOT_DETECT && options->root != ROOT_LIST) ||
        tree_recognise(tree, network, options, &ignored))
        return false;
    directions->operations += tree->operations;
    if (tree->tops == 0 || tree->levels == 1) {
        tree_release(tree);
        return false;
    }
    snprintf(directions->note, sizeof directions->note,
             options->root == ROOT_LIST ? "%u roots, the top of a tree by the roots given"
                                        : "%u roots, the top stage of a tree",
             tree->tops);
    return true;
}

static int find_directions(struct directions *directions, const struct network *network,
                           const struct engine_options *options, struct err *err)
{
    struct roots roots;
    *directions = (struct directions){0};
    if (use_tree_levels(directions, network, options))
        return 0;
    int rc = roots_choose(&roots, network, options, ROOT_DETECT, err);
    if (rc)
        return rc;
    updown_init(&directions->updown, network, roots.switches.items, roots.switches.count,
                options->tree);
    memcpy(directions->note, roots.note, sizeof roots.note);
    directions->operations += roots.operations;
    roots_release(&roots);
    return 0;
}

uint32_t *roots_ranks(const struct network *network, const struct engine_options *options)
{
    struct engine_options chosen = *options;
    struct directions directions;
    struct err ignored;
    if (chosen.root == ROOT_DEFAULT)
        chosen.root = ROOT_DETECT;
    if (find_directions(&directions, network, &chosen, &ignored))
        return NULL;
    if (directions.tree.level)
        tree_directions(&directions.tree, network, &directions.updown);
    uint32_t *ranks = directions.updown.rank;
    directions.updown.rank = NULL;
    updown_release(&directions.updown);
    tree_release(&directions.tree);
    return ranks;
}

static int compute_with(const struct network *network, const struct engine_options *options,
                        enum root_choice choice, struct routes *routes, struct err *err)
{
    struct engine_options chosen = *options;
    struct directions directions;
    struct next_hops_gaps gaps;
    chosen.root = choice;
    *routes = (struct routes){0};
    int rc = find_directions(&directions, network, &chosen, err);
    if (rc)
        return rc;
    routes_reserve(routes, network, "updn");
    memcpy(routes->note, directions.note, sizeof directions.note);
    routes->operations = directions.operations;
    if (directions.tree.level && !least_loaded_is_wanted(options)) {
        dmodk_tables(network, &directions.tree, &directions.updown, options, DMODK_LIST, routes,
                     &gaps);
    } else {
        if (directions.tree.level)
            tree_directions(&directions.tree, network, &directions.updown);
        least_loaded_tables(network, &directions.updown, options, routes, &gaps);
    }
    routes->ranks = directions.updown.rank;
    directions.updown.rank = NULL;
    updown_release(&directions.updown);
    tree_release(&directions.tree);
    if (gaps.pairs.terminal_pairs) {
        engine_refuse(routes);
        rc = updown_refuse(network, &gaps.pairs, err);
    } else {
        /* The proof is not left to the caller for detected roots, since there is a fall-back if it
         * fails. */
        chosen.caller_verifies &= choice != ROOT_DETECT;
        rc = no_legal_route_settle(network, &chosen, &gaps, routes, err);
    }
    next_hops_gaps_release(&gaps);
    return rc;
}

static int updn_compute(const struct network *network, const struct engine_options *options,
                        struct routes *routes, struct err *err)
{
    enum root_choice choice = options->root == ROOT_DEFAULT ? ROOT_DETECT : options->root;
    int rc = compute_with(network, options, choice, routes, err);
    if (choice != ROOT_DETECT || (rc != -ENETUNREACH && rc != -EDEADLK))
        return rc;
    uint64_t operations_before = routes->operations;
    rc = compute_with(network, options, ROOT_CENTRE, routes, err);
    routes->operations += operations_before;
    if (rc)
        return rc;
    routes_add_note(routes, " (the top stage as roots leaves pairs without a legal route)");
    return 0;
}

const struct engine engine_updn = {
    .name = "updn",
    .summary = "up*-down* with detected or given roots, balanced over equal paths",
    .compute = updn_compute,
    .ranks = roots_ranks,
};
