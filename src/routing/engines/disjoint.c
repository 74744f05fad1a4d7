/* See disjoint.h. Sources are switches: their terminals share all routes. */
#include "routing/engines/disjoint.h"

#include "routing/cdg/cdg.h"
#include "routing/search/independent_trees.h"

#include <string.h>

enum { NO_VL = 255 };
/* Variants of trees are compared in networks of so many switches, so many times. */
enum { SEARCHED_MOST = 128, SEARCH_ROUNDS = 2 };

struct disjoint {
    const struct network *network;
    struct routes *routes;
    struct arena memory;
    struct independent_trees trees;
    struct cdg cdg;
    uint8_t *chosen;                    /* by switch: its terminals get trees */
    uint8_t *vl[INDEPENDENT_TREES];     /* [source * switches + destination] */
    uint8_t *failed[INDEPENDENT_TREES]; /* by destination: a route fits into no VL */
    uint8_t *ports;                     /* the tables of the engine */
    uint32_t lids, kept;                /* of terminals: with trees, and without */
    /* Cables and switches of the paths to the LIDs of one terminal, by stamps. */
    uint32_t *cable_seen, *switch_seen;
    uint32_t stamp;
};

/* The offset of the LID that a tree gets. */
static unsigned offset_of(unsigned lmc, unsigned tree)
{
    return tree + (lmc > 1);
}

/* ---- which switches get trees ---- */

static uint32_t cable_of(const struct disjoint *disjoint, uint32_t edge)
{
    uint32_t reverse = disjoint->trees.reverse[edge];
    return edge < reverse ? edge : reverse;
}

/* Marks what the route to a LID passes. */
static void mark_route(struct disjoint *disjoint, uint32_t from, uint32_t target, uint32_t lid)
{
    const struct network *network = disjoint->network;
    disjoint->stamp++;
    for (uint32_t at = from, hops = 0; at != target && hops < network->switches.count; hops++) {
        uint32_t edge = cdg_leaving(&disjoint->cdg, at, routes_port(disjoint->routes, at, lid));
        if (edge == NETWORK_NONE)
            return;
        disjoint->cable_seen[cable_of(disjoint, edge)] = disjoint->stamp;
        at = network->edges[edge].to;
        disjoint->switch_seen[at] = disjoint->stamp;
    }
}

/* What the route to a LID shares with the one that was marked, cables and switches; UINT32_MAX: it
 * does not deliver. */
static uint32_t count_shared(const struct disjoint *disjoint, uint32_t from, uint32_t target,
                             uint32_t lid)
{
    const struct network *network = disjoint->network;
    uint32_t shared = 0, hops = 0;
    for (uint32_t at = from; at != target; hops++) {
        uint32_t edge = cdg_leaving(&disjoint->cdg, at, routes_port(disjoint->routes, at, lid));
        if (edge == NETWORK_NONE || hops == network->switches.count)
            return UINT32_MAX;
        shared += disjoint->cable_seen[cable_of(disjoint, edge)] == disjoint->stamp;
        at = network->edges[edge].to;
        shared += at != target && disjoint->switch_seen[at] == disjoint->stamp;
    }
    return shared;
}

/* The least that two routes from a switch to the LIDs of a terminal share. */
static uint32_t least_shared(struct disjoint *disjoint, uint32_t from,
                             const struct network_terminal *terminal)
{
    uint32_t least = UINT32_MAX, lids = 1u << terminal->lmc;
    for (uint32_t i = 0; i + 1 < lids && least; i++) {
        mark_route(disjoint, from, terminal->at, terminal->lid + i);
        for (uint32_t j = i + 1; j < lids && least; j++) {
            uint32_t shared = count_shared(disjoint, from, terminal->at, terminal->lid + j);
            least = shared < least ? shared : least;
        }
    }
    return least;
}

/* The same for the two trees that have been grown. */
static uint32_t shared_of_trees(struct disjoint *disjoint, uint32_t from)
{
    const struct independent_trees *trees = &disjoint->trees;
    const struct network *network = disjoint->network;
    uint32_t shared = 0;
    disjoint->stamp++;
    for (uint32_t at = from; at != trees->root;) {
        uint32_t edge = trees->choice[0][at];
        disjoint->cable_seen[cable_of(disjoint, edge)] = disjoint->stamp;
        at = network->edges[edge].to;
        disjoint->switch_seen[at] = disjoint->stamp;
    }
    for (uint32_t at = from; at != trees->root;) {
        uint32_t edge = trees->choice[1][at];
        shared += disjoint->cable_seen[cable_of(disjoint, edge)] == disjoint->stamp;
        at = network->edges[edge].to;
        shared += at != trees->root && disjoint->switch_seen[at] == disjoint->stamp;
    }
    return shared;
}

/* Terminals at the switch have routes that share more than those of trees. */
static bool needs_trees(struct disjoint *disjoint, uint32_t target)
{
    const struct network *network = disjoint->network;
    bool grown = false;
    for (uint32_t i = network->first_terminal[target]; i < network->first_terminal[target + 1];
         i++) {
        const struct network_terminal *terminal = network_terminal_at(network, i);
        for (uint32_t from = 0; terminal->lid && terminal->lmc && from < network->switches.count;
             from++) {
            if (from == target || !network_terminal_count(network, from))
                continue;
            uint32_t shared = least_shared(disjoint, from, terminal);
            disjoint->routes->operations += 1u << terminal->lmc;
            if (!shared)
                continue;
            if (!grown)
                independent_trees_grow(&disjoint->trees, target, 0);
            grown = true;
            if (disjoint->trees.choice[0][from] != NETWORK_NONE &&
                shared_of_trees(disjoint, from) < shared)
                return true;
        }
    }
    return false;
}

static void write_tree(struct disjoint *disjoint, uint32_t target)
{
    const struct network *network = disjoint->network;
    const struct independent_trees *trees = &disjoint->trees;
    for (uint32_t i = network->first_terminal[target]; i < network->first_terminal[target + 1];
         i++) {
        const struct network_terminal *terminal = network_terminal_at(network, i);
        for (unsigned tree = 0; terminal->lid && terminal->lmc && tree < INDEPENDENT_TREES; tree++)
            for (uint32_t k = 1; k < trees->count; k++) {
                uint32_t at = trees->order[k];
                routes_row(disjoint->routes, at)[terminal->lid + offset_of(terminal->lmc, tree)] =
                    network->edges[trees->choice[tree][at]].port;
            }
    }
    disjoint->routes->operations += trees->count;
}

/* ---- VLs ---- */

/* All routes of the engine, on its VLs. False: they have a cycle. */
static bool lay_engine(struct disjoint *disjoint, const struct routes *routes, unsigned vls)
{
    const struct network *network = disjoint->network;
    cdg_close(&disjoint->cdg, 0);
    for (unsigned vl = 0; vl < vls; vl++) {
        cdg_open(&disjoint->cdg);
        if (routes->ranks)
            cdg_order_by_rank(&disjoint->cdg, vl, routes->ranks);
    }
    for (uint32_t from = 0; from < network->switches.count; from++)
        for (uint32_t lid = 1; lid <= network->top_lid; lid++)
            if (network->owner[lid] != NETWORK_NONE &&
                !cdg_lay_path(&disjoint->cdg, routes_level(routes, from, lid), routes, from, lid,
                              true))
                return false;
    return true;
}

/* The LID of a terminal of the switch that follows a tree; 0: none. */
static uint32_t lid_of_tree(const struct network *network, uint32_t target, unsigned tree)
{
    for (uint32_t i = network->first_terminal[target]; i < network->first_terminal[target + 1];
         i++) {
        const struct network_terminal *terminal = network_terminal_at(network, i);
        if (terminal->lid && terminal->lmc)
            return terminal->lid + offset_of(terminal->lmc, tree);
    }
    return 0;
}

/* The first VL that takes the routes from a to b, and from b to a if `both`. */
static uint8_t find_vl(struct disjoint *disjoint, unsigned tree, uint32_t a, uint32_t b, bool both,
                       unsigned vls)
{
    const struct network *network = disjoint->network;
    uint32_t forth = lid_of_tree(network, b, tree), back = lid_of_tree(network, a, tree);
    for (unsigned vl = 0; vl < vls; vl++) {
        cdg_begin(&disjoint->cdg);
        bool fits = cdg_lay_path(&disjoint->cdg, vl, disjoint->routes, a, forth, true) &&
                    (!both || cdg_lay_path(&disjoint->cdg, vl, disjoint->routes, b, back, true));
        if (cdg_end(&disjoint->cdg, fits))
            return (uint8_t)vl;
    }
    return NO_VL;
}

static uint8_t *vl_at(const struct disjoint *disjoint, unsigned tree, uint32_t from, uint32_t to)
{
    return &disjoint->vl[tree][(size_t)from * disjoint->network->switches.count + to];
}

static bool is_served(const struct disjoint *disjoint, uint32_t target, uint32_t from)
{
    return disjoint->chosen[target] &&
           cdg_leaving(&disjoint->cdg, from,
                       routes_port(disjoint->routes, from,
                                   lid_of_tree(disjoint->network, target, 0))) != NETWORK_NONE;
}

static void assign_pair(struct disjoint *disjoint, unsigned tree, uint32_t a, uint32_t b,
                        unsigned vls, bool one_way)
{
    bool forth = is_served(disjoint, b, a), back = is_served(disjoint, a, b);
    uint8_t both = forth && back && !one_way ? find_vl(disjoint, tree, a, b, true, vls) : NO_VL;
    if (forth)
        *vl_at(disjoint, tree, a, b) =
            both != NO_VL ? both : find_vl(disjoint, tree, a, b, false, vls);
    if (back)
        *vl_at(disjoint, tree, b, a) =
            both != NO_VL ? both : find_vl(disjoint, tree, b, a, false, vls);
    disjoint->failed[tree][b] |= forth && *vl_at(disjoint, tree, a, b) == NO_VL;
    disjoint->failed[tree][a] |= back && *vl_at(disjoint, tree, b, a) == NO_VL;
}

/* A LID of a terminal gets the VLs of its tree, or the routes of the engine back. */
static void settle_lid(struct disjoint *disjoint, uint32_t target, unsigned tree, uint32_t lid)
{
    struct routes *routes = disjoint->routes;
    bool failed = disjoint->failed[tree][target];
    for (uint32_t from = 0; from < routes->switch_count; from++) {
        size_t entry = (size_t)from * routes->stride + lid;
        if (failed)
            routes->ports[entry] = disjoint->ports[entry];
        else if (from != target && is_served(disjoint, target, from))
            routes->service_levels[entry] = *vl_at(disjoint, tree, from, target);
        if (routes->service_levels[entry] >= routes->vls)
            routes->vls = (uint8_t)(routes->service_levels[entry] + 1);
    }
    disjoint->kept += failed;
    disjoint->lids += !failed;
}

/* Returns how many trees do not fit. */
static uint32_t assign_pairs(struct disjoint *disjoint, unsigned vls, bool one_way)
{
    uint32_t switches = (uint32_t)disjoint->network->switches.count, failed = 0;
    for (unsigned tree = 0; tree < INDEPENDENT_TREES; tree++) {
        memset(disjoint->failed[tree], 0, switches);
        for (uint32_t a = 0; a < switches; a++)
            for (uint32_t b = a + 1; b < switches; b++)
                assign_pair(disjoint, tree, a, b, vls, one_way);
        for (uint32_t at = 0; at < switches; at++)
            failed += disjoint->failed[tree][at];
    }
    return failed;
}

static void assign_vls(struct disjoint *disjoint, unsigned vls)
{
    const struct network *network = disjoint->network;
    struct routes *routes = disjoint->routes;
    uint32_t switches = (uint32_t)network->switches.count;
    if (assign_pairs(disjoint, vls, false)) {
        struct routes before = *routes;
        before.ports = disjoint->ports;
        lay_engine(disjoint, &before, vls);
        assign_pairs(disjoint, vls, true);
    }
    if (!routes->service_levels)
        routes->service_levels = mem_zalloc(routes->switch_count, routes->stride);
    for (uint32_t target = 0; target < switches; target++)
        for (uint32_t i = network->first_terminal[target];
             disjoint->chosen[target] && i < network->first_terminal[target + 1]; i++) {
            const struct network_terminal *terminal = network_terminal_at(network, i);
            for (unsigned tree = 0; terminal->lid && terminal->lmc && tree < INDEPENDENT_TREES;
                 tree++)
                settle_lid(disjoint, target, tree, terminal->lid + offset_of(terminal->lmc, tree));
        }
    mem_free(routes->ranks); /* the trees do not follow them */
    routes->ranks = NULL;
    routes->reversible = false;
}

/* ---- both directions ---- */

/* Marks the path from a switch in a tree that has been grown. */
static void mark_tree(struct disjoint *disjoint, unsigned tree, uint32_t from)
{
    const struct independent_trees *trees = &disjoint->trees;
    disjoint->stamp++;
    for (uint32_t at = from; at != trees->root;) {
        uint32_t edge = trees->choice[tree][at];
        disjoint->cable_seen[cable_of(disjoint, edge)] = disjoint->stamp;
        at = disjoint->network->edges[edge].to;
        disjoint->switch_seen[at] = disjoint->stamp;
    }
    disjoint->switch_seen[trees->root] = 0;
}

/* Whether a connection between the root and a switch with trees has two pairs of paths that share
 * nothing: the first tree forth with one of the trees back, the second with the other. */
static bool has_disjoint_pairs(struct disjoint *disjoint, uint32_t from)
{
    const struct network *network = disjoint->network;
    bool meets[INDEPENDENT_TREES][INDEPENDENT_TREES];
    for (unsigned forth = 0; forth < INDEPENDENT_TREES; forth++) {
        mark_tree(disjoint, forth, from);
        for (unsigned back = 0; back < INDEPENDENT_TREES; back++)
            meets[forth][back] = count_shared(disjoint, disjoint->trees.root, from,
                                              lid_of_tree(network, from, back)) != 0;
    }
    return (!meets[0][1] && !meets[1][0]) || (!meets[0][0] && !meets[1][1]);
}

/* Switches with such a connection. In the first round, those whose trees are known. */
static uint32_t count_disjoint_pairs(struct disjoint *disjoint, unsigned round)
{
    uint32_t count = 0, root = disjoint->trees.root;
    uint32_t end = round ? (uint32_t)disjoint->network->switches.count : root;
    for (uint32_t from = 0; from < end; from++)
        count += from != root && disjoint->chosen[from] &&
                 disjoint->trees.choice[0][from] != NETWORK_NONE &&
                 has_disjoint_pairs(disjoint, from);
    return count;
}

static void choose_tree(struct disjoint *disjoint, uint32_t at, unsigned round)
{
    const struct network *network = disjoint->network;
    struct independent_trees *trees = &disjoint->trees;
    bool search = network->switches.count <= SEARCHED_MOST;
    uint32_t variants = search ? network->first_edge[at + 1] - network->first_edge[at] : 0;
    uint32_t best = 0, most = 0;
    for (uint32_t variant = 0; search && variant <= variants; variant++) {
        independent_trees_grow(trees, at, variant);
        uint32_t count = count_disjoint_pairs(disjoint, round);
        if (count <= most)
            continue;
        most = count;
        best = variant;
    }
    independent_trees_grow(trees, at, best);
    if (round == 0)
        independent_trees_load(trees);
    write_tree(disjoint, at);
}

/* ---- all of it ---- */

static void prepare(struct disjoint *disjoint)
{
    const struct network *network = disjoint->network;
    size_t switches = network->switches.count, edges = network->first_edge[switches];
    struct arena *memory = &disjoint->memory;
    disjoint->chosen = arena_alloc(memory, switches + 1);
    disjoint->cable_seen = arena_alloc(memory, (edges + 1) * sizeof(uint32_t));
    disjoint->switch_seen = arena_alloc(memory, (switches + 1) * sizeof(uint32_t));
    cdg_init(&disjoint->cdg, network);
    independent_trees_init(&disjoint->trees, network);
}

/* The number of switches that get trees. */
static uint32_t choose_switches(struct disjoint *disjoint)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < disjoint->network->switches.count; at++) {
        disjoint->chosen[at] = needs_trees(disjoint, at);
        count += disjoint->chosen[at];
    }
    return count;
}

static void add_trees(struct disjoint *disjoint, unsigned vls)
{
    const struct network *network = disjoint->network;
    struct routes *routes = disjoint->routes;
    size_t switches = network->switches.count, entries = switches * routes->stride;
    if (!lay_engine(disjoint, routes, vls)) {
        routes_add_note(routes, "; no disjoint routes: those of the engine could deadlock");
        return;
    }
    for (unsigned tree = 0; tree < INDEPENDENT_TREES; tree++) {
        disjoint->vl[tree] = arena_alloc(&disjoint->memory, switches * switches + 1);
        disjoint->failed[tree] = arena_alloc(&disjoint->memory, switches + 1);
    }
    disjoint->ports = arena_alloc(&disjoint->memory, entries + 1);
    memcpy(disjoint->ports, routes->ports, entries);
    for (unsigned round = 0; round < (switches <= SEARCHED_MOST ? SEARCH_ROUNDS : 1); round++)
        for (uint32_t at = 0; at < switches; at++)
            if (disjoint->chosen[at])
                choose_tree(disjoint, at, round);
    assign_vls(disjoint, vls);
    routes_add_note(routes, "; %u LIDs have disjoint routes", disjoint->lids);
    if (disjoint->kept)
        routes_add_note(routes, ", %u do not: too few VLs", disjoint->kept);
}

void disjoint_apply(const struct network *network, const struct engine_options *options,
                    struct routes *routes)
{
    struct disjoint disjoint = {.network = network, .routes = routes};
    unsigned vls = engine_vls(options);
    prepare(&disjoint);
    if (choose_switches(&disjoint))
        add_trees(&disjoint, vls > routes->vls ? vls : routes->vls);
    routes->operations += cdg_operations(&disjoint.cdg) + disjoint.trees.operations;
    independent_trees_release(&disjoint.trees);
    cdg_release(&disjoint.cdg);
    arena_release(&disjoint.memory);
}
