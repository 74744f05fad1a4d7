/* ftree: fat trees in closed form, whole or damaged.
 *
 * Routes go up and down again by the levels of the tree (tree.h), so they cannot deadlock, and
 * every terminal takes one of several next hops by its number (dmodk.c has the formula and the
 * papers). Whenever consecutive numbers send to consecutive numbers (a shift permutation), a whole
 * tree that is not oversubscribed has no link with two of them; numbers follow the order of the
 * tree, which is the order of LIDs where those were given out switch by switch.
 *
 * Listed hosts are numbered first, so that the others do not affect their balance. Listed roots are
 * the top level. */
#include "routing/engines/dmodk.h"
#include "routing/search/no_legal_route.h"
#include "routing/search/roots.h"

#include <errno.h>

static int ftree_compute(const struct network *network, const struct engine_options *options,
                         struct routes *routes, struct err *err)
{
    struct tree tree;
    struct updown updown;
    struct next_hops_gaps gaps;
    struct err reason;
    *routes = (struct routes){0};
    int rc = tree_recognise(&tree, network, options, &reason);
    if (rc) {
        routes->operations = tree.operations;
        return err_set(err, -rc, "ftree: %s", reason.message);
    }
    routes_reserve(routes, network, "ftree");
    routes->operations = tree.operations;
    routes_add_note(routes, "a tree of %u levels with %u roots", tree.levels, tree.tops);
    dmodk_tables(network, &tree, &updown, options, DMODK_TREE, routes, &gaps);
    routes->ranks = updown.rank;
    updown.rank = NULL;
    updown_release(&updown);
    tree_release(&tree);
    if (gaps.pairs.terminal_pairs) {
        char from[NETWORK_LABEL_BYTES], to[NETWORK_LABEL_BYTES];
        engine_refuse(routes);
        rc = err_set(err, ENETUNREACH,
                     "ftree: too much of the tree is missing: %llu pairs of ports have no path up "
                     "and down again (the first from %s to %s)",
                     (unsigned long long)gaps.pairs.terminal_pairs,
                     network_label(network, NETWORK_SWITCH | gaps.pairs.from, from),
                     network_label(network, NETWORK_SWITCH | gaps.pairs.to, to));
    } else {
        rc = no_legal_route_settle(network, options, &gaps, routes, err);
    }
    next_hops_gaps_release(&gaps);
    return rc;
}

const struct engine engine_ftree = {
    .name = "ftree",
    .summary = "fat trees in closed form, also damaged ones; refused where there is no tree",
    .compute = ftree_compute,
    .ranks = roots_ranks,
};
