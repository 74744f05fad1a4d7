/* auto: chooses an engine by the topology.
 *
 * Trees get ftree, grids dor; for anything else engines that break cycles with VLs come first,
 * unless the network is so large that they would take minutes. updn is last everywhere: it never
 * refuses a connected network. The note has the topology, the engines that were tried and the
 * reasons of their refusals. */
#include "routing/engines/engine_fallback.h"
#include "routing/search/network_grid.h"
#include "routing/search/roots.h"
#include "routing/search/tree.h"

#include <stdio.h>
#include <string.h>

enum {
    SEEN_BYTES = 128,
    ENTRIES_TOP =
        32000000, /* of all tables; beyond that, engines that weigh every path take minutes */
};

/* Describes the network in `seen` and lists the engines to try. */
static void pick_engines(struct engine_list *list, const struct network *network,
                         const struct engine_options *options, char seen[SEEN_BYTES])
{
    struct tree tree;
    struct grid grid;
    struct err ignored;
    bool staged = tree_recognise(&tree, network, options, &ignored) == 0;
    if (staged) {
        snprintf(seen, SEEN_BYTES, "a tree of %u levels", tree.levels);
        staged = tree.levels > 1 && tree.tops > 0;
        tree_release(&tree);
    }
    if (staged) {
        engine_list_add(list, "ftree");
    } else if (network_grid(&grid, network, engine_vls(options), &ignored) == 0) {
        snprintf(seen, SEEN_BYTES, "a %s", grid.name);
        grid_release(&grid);
        engine_list_add(list, "dor");
    } else if ((uint64_t)network->switches.count * network->top_lid > ENTRIES_TOP) {
        snprintf(seen, SEEN_BYTES, "neither a tree nor a grid, and too large for dfsssp and nue");
    } else {
        snprintf(seen, SEEN_BYTES, "neither a tree nor a grid");
        engine_list_add(list, "dfsssp");
        engine_list_add(list, "nue");
    }
    engine_list_add(list, "updn");
}

static int auto_compute(const struct network *network, const struct engine_options *options,
                        struct routes *routes, struct err *err)
{
    struct engine_list list = {0};
    const struct engine *chosen;
    char seen[SEEN_BYTES], note[sizeof routes->note];
    pick_engines(&list, network, options, seen);
    int rc = engine_list_compute(&list, network, options, routes, &chosen, err);
    if (rc)
        return rc;
    snprintf(note, sizeof note, "%s, because this is %s%s%.300s", chosen->name, seen,
             routes->note[0] ? "; " : "", routes->note);
    memcpy(routes->note, note, sizeof note);
    return 0;
}

const struct engine engine_auto = {
    .name = "auto",
    .summary = "chooses by the topology: ftree, dor, dfsssp, nue or updn",
    .compute = auto_compute,
    .ranks = roots_ranks,
};
