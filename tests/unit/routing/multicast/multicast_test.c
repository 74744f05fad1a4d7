/* Trees of multicast groups on thousands of networks, whole and broken, and the check that passes
 * them: what it is for is shown by trees that were spoiled on purpose.
 *
 * WEFT_FULL=1 takes ten times as many networks. */
#include "effort.h"
#include "networks.h"

#include "base/map.h"
#include "routing/check/verify_multicast.h"
#include "routing/multicast/multicast_base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { GROUPS = 6, MLID = 0xC000 };

struct world {
    struct network network;
    struct routes routes;
    unsigned vl;
    bool *usable;
    struct multicast_base *base;
    struct multicast_check *check;
};

static unsigned scale(void)
{
    return (unsigned)effort(10, 1, 1);
}

/* Groups have a separate VL if the engine uses several, else its first one. */
enum vl_choice { VL_FIRST, VL_OWN };

/* False if the engine has no routes for this network. */
static bool begin(struct world *world, const char *engine, enum vl_choice vl, unsigned unusable_in,
                  uint64_t seed)
{
    struct err err;
    struct rng rng;
    struct engine_options options = {.allow_cycles = false};
    world->routes = (struct routes){0};
    if (engine_find(engine)->compute(&world->network, &options, &world->routes, &err))
        return false;
    world->vl = vl == VL_OWN ? world->routes.vls : 0;
    world->usable = mem_alloc(world->network.switches.count + 1);
    rng_seed(&rng, seed, 77);
    for (uint32_t at = 0; at < world->network.switches.count; at++)
        world->usable[at] = !unusable_in || rng_below(&rng, unusable_in);
    world->base = multicast_base_new(&world->network, &world->routes, world->vl, world->usable);
    world->check = multicast_check_new(&world->network, &world->routes);
    return true;
}

static void end(struct world *world)
{
    multicast_base_free(world->base);
    multicast_check_free(world->check);
    routes_release(&world->routes);
    mem_free(world->usable);
}

struct members {
    VEC(struct multicast_member) list;
};

/* Terminals first, then ports 0 of switches. */
static void draw_members(const struct network *network, struct rng *rng, struct members *members)
{
    uint64_t terminals = network->terminals.count, switches = network->switches.count;
    uint64_t one_in = 1 + rng_below(rng, rng_below(rng, 2) ? terminals + 1 : 8);
    members->list.count = 0;
    for (uint32_t i = 0; i < terminals; i++)
        if (!rng_below(rng, one_in))
            vec_push(&members->list, ((struct multicast_member){i, rng_below(rng, 5) != 0}));
    for (uint32_t i = 0; i < switches; i++)
        if (!rng_below(rng, 10))
            vec_push(&members->list,
                     ((struct multicast_member){i | NETWORK_SWITCH, rng_below(rng, 3) != 0}));
}

static int check_tree(struct world *world, const struct members *members,
                      const struct multicast_tree *tree, struct err *err)
{
    return multicast_check_tree(world->check, world->vl, world->usable, members->list.items,
                                members->list.count, tree, err);
}

static void assert_same(const struct multicast_tree *a, const struct multicast_tree *b)
{
    assert_int_equal(a->arms.count, b->arms.count);
    for (size_t i = 0; i < a->arms.count; i++) {
        assert_int_equal(a->arms.items[i].at, b->arms.items[i].at);
        assert_int_equal(a->arms.items[i].position, b->arms.items[i].position);
        assert_int_equal(a->arms.items[i].mask, b->arms.items[i].mask);
    }
}

/* Parts of what is connected through switches that can be used. */
static uint32_t *find_parts(const struct world *world)
{
    const struct network *network = &world->network;
    uint32_t *part = mem_alloc((network->switches.count + 1) * sizeof *part);
    bool changed = true;
    for (uint32_t at = 0; at < network->switches.count; at++)
        part[at] = world->usable[at] ? at : NETWORK_NONE;
    while (changed) {
        changed = false;
        for (uint32_t at = 0; at < network->switches.count; at++)
            for (uint32_t i = network->first_edge[at]; i < network->first_edge[at + 1]; i++) {
                uint32_t to = network->edges[i].to;
                if (part[at] == NETWORK_NONE || part[to] == NETWORK_NONE || part[to] >= part[at])
                    continue;
                part[at] = part[to];
                changed = true;
            }
    }
    return part;
}

static uint32_t place_of(const struct network *network, uint32_t end_point)
{
    return end_point & NETWORK_SWITCH ? end_point ^ NETWORK_SWITCH
                                      : network->terminals.items[end_point].at;
}

/* How many members are missed although they are connected with the most of the others. */
static size_t missed_in_vain(const struct world *world, const struct members *members,
                             const struct multicast_tree *tree)
{
    uint32_t *part = find_parts(world);
    uint32_t *sizes = mem_zalloc(world->network.switches.count + 1, sizeof *sizes), most = 0;
    for (size_t i = 0; i < members->list.count; i++) {
        uint32_t at = part[place_of(&world->network, members->list.items[i].end_point)];
        if (at != NETWORK_NONE && ++sizes[at] > most)
            most = sizes[at];
    }
    mem_free(part);
    mem_free(sizes);
    return most - (members->list.count - tree->missed.count);
}

static struct {
    uint64_t trees, ordered, missed, operations_before, networks;
} tally;

/* Groups of a network: each tree is right, all of them together are, and the same again. */
static void assert_trees_hold(struct world *world, const char *engine, uint64_t seed)
{
    struct rng rng;
    struct err err;
    struct members members = {0};
    struct multicast_tree tree = {0}, again = {0};
    rng_seed(&rng, seed, 1);
    struct multicast_base *other =
        multicast_base_new(&world->network, &world->routes, world->vl, world->usable);
    for (unsigned group = 0; group < GROUPS; group++) {
        draw_members(&world->network, &rng, &members);
        multicast_tree_make(world->base, MLID + group, members.list.items, members.list.count,
                            &tree);
        if (check_tree(world, &members, &tree, &err))
            fail_msg("%s, seed %llu: %s", engine, (unsigned long long)seed, err.message);
        for (size_t i = members.list.count; i-- > 1;) { /* in another order */
            size_t j = rng_below(&rng, i + 1);
            struct multicast_member swap = members.list.items[i];
            members.list.items[i] = members.list.items[j];
            members.list.items[j] = swap;
        }
        multicast_tree_make(other, MLID + group, members.list.items, members.list.count, &again);
        assert_same(&tree, &again);
        tally.trees++;
        tally.ordered += world->base->ordered;
        tally.missed += tree.missed.count;
        tally.operations_before += missed_in_vain(world, &members, &again);
    }
    if (multicast_check_vls(world->check, &err))
        fail_msg("%s, seed %llu: %s", engine, (unsigned long long)seed, err.message);
    tally.networks++;
    multicast_base_free(other);
    multicast_tree_release(&tree);
    multicast_tree_release(&again);
    vec_release(&members.list);
}

static const char *const engines[] = {"updn",   "minhop", "ftree", "fera", "pira",
                                      "dfsssp", "lash",   "nue",   "dor",  "sssp"};

static void try_network(struct network *network, const char *engine, enum vl_choice vl,
                        unsigned unusable_in, uint64_t seed)
{
    struct world world = {.network = *network};
    if (begin(&world, engine, vl, unusable_in, seed)) {
        assert_trees_hold(&world, engine, seed);
        end(&world);
    }
    *network = world.network;
}

static void tell(const char *what)
{
    print_message("%s: %llu networks, %llu trees (%llu in order), %llu members missed, %llu of "
                  "them connected\n",
                  what, (unsigned long long)tally.networks, (unsigned long long)tally.trees,
                  (unsigned long long)tally.ordered, (unsigned long long)tally.missed,
                  (unsigned long long)tally.operations_before);
    memset(&tally, 0, sizeof tally);
}

/* ---- claims ---- */

static void every_member_of_a_whole_network_is_reached_once(void **state)
{
    for (uint64_t seed = 1; seed <= 1000 * scale(); seed++) {
        struct draft draft = {0};
        struct network network;
        draft_random(&draft, seed, 24);
        draft_build(&draft, (uint8_t)(seed % 2), &network);
        try_network(&network, engines[seed % 2 ? 0 : seed / 2 % 10], VL_OWN, 0, seed);
        network_release(&network);
        draft_release(&draft);
    }
    assert_true(tally.trees > 4000);
    assert_int_equal(tally.missed, 0);
    tell("whole");
}

static void broken_networks_have_correct_trees(void **state)
{
    for (uint64_t seed = 1; seed <= 1500 * scale(); seed++) {
        struct draft draft = {0};
        struct network network;
        draft_random(&draft, seed, 24);
        draft_break(&draft, seed, (unsigned)(seed % 9), (unsigned)(seed % 4));
        draft_build(&draft, 0, &network);
        try_network(&network, engines[seed % 10], VL_FIRST, seed % 3 ? 0 : 4, seed);
        network_release(&network);
        draft_release(&draft);
    }
    assert_true(tally.trees > 5000);
    tell("broken");
}

/* On a VL that unicast uses as well, with links and switches lost, but none without multicast:
 * multicast reaches every member that unicast reaches on one VL. */
static void lost_links_disconnect_no_reachable_member(void **state)
{
    static const char *const one_lane[] = {"updn", "fera", "pira"};
    for (uint64_t seed = 1; seed <= 600 * scale(); seed++) {
        struct draft draft = {0};
        struct network network;
        draft_random(&draft, seed, 24);
        draft_break(&draft, seed, (unsigned)(seed % 9), (unsigned)(seed % 4));
        draft_build(&draft, 0, &network);
        try_network(&network, one_lane[seed % 3], VL_FIRST, 0, seed);
        network_release(&network);
        draft_release(&draft);
    }
    assert_true(tally.trees > 3000);
    assert_int_equal(tally.operations_before, 0);
    tell("damaged");
}

static void unusual_networks_are_handled(void **state)
{
    for (uint64_t seed = 1; seed <= 1000 * scale(); seed++) {
        struct network network;
        build_odd(&network, seed, 1 + (uint32_t)(seed % 14));
        try_network(&network, engines[seed % 10], VL_FIRST, seed % 2 ? 3 : 0, seed);
        network_release(&network);
    }
    tell("odd");
}

static void regular_networks_with_cut_links_have_correct_trees(void **state)
{
    static const struct {
        const char *name, *words[3];
        size_t count;
    } kinds[] = {
        {"fattree", {"m=4,8", "w=1,4"}, 2},
        {"fattree", {"m=3,4,3", "w=1,2,3", "parallel=2"}, 3},
        {"torus", {"dims=4x4", "hosts=1"}, 2},
        {"mesh", {"dims=5x4", "hosts=1"}, 2},
        {"ring", {"switches=7", "hosts=2"}, 2},
    };
    for (uint64_t seed = 1; seed <= 60 * scale(); seed++)
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
            struct network network;
            build_kind(&network, kinds[kind].name, kinds[kind].words, kinds[kind].count, 0, 1);
            if (seed > 2)
                cut_links(&network, seed, (unsigned)(2 + seed % 20));
            for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
                if ((seed + i) % 3 == 0)
                    try_network(&network, engines[i], seed % 2 ? VL_OWN : VL_FIRST,
                                seed % 4 ? 0 : 6, seed);
            network_release(&network);
        }
    assert_true(tally.trees > 2000);
    tell("regular");
}

/* ---- the root ---- */

/* Links down from `from` to every switch, by brute force. */
static void walk_down(const struct world *world, uint32_t from, uint32_t *hops)
{
    const struct network *network = &world->network;
    const uint32_t *rank = world->routes.ranks;
    bool changed = true;
    memset(hops, 0xFF, network->switches.count * sizeof *hops);
    hops[from] = 0;
    while (changed) {
        changed = false;
        for (uint32_t at = 0; at < network->switches.count; at++)
            for (uint32_t i = network->first_edge[at]; i < network->first_edge[at + 1]; i++) {
                uint32_t to = network->edges[i].to;
                if (hops[at] == UINT32_MAX || rank[to] < rank[at] || hops[to] <= hops[at] + 1)
                    continue;
                hops[to] = hops[at] + 1;
                changed = true;
            }
    }
}

static void the_root_has_the_least_distance_to_all_members(void **state)
{
    for (uint64_t seed = 1; seed <= 100 * scale(); seed++) {
        struct draft draft = {0};
        struct world world = {0};
        struct members members = {0};
        struct multicast_tree tree = {0};
        struct rng rng;
        draft_random(&draft, seed, 20);
        draft_build(&draft, 0, &world.network);
        assert_true(begin(&world, "updn", VL_FIRST, 0, seed));
        rng_seed(&rng, seed, 5);
        draw_members(&world.network, &rng, &members);
        multicast_tree_make(world.base, MLID, members.list.items, members.list.count, &tree);
        uint32_t *hops = mem_alloc(world.network.switches.count * sizeof *hops);
        uint64_t least = UINT64_MAX, chosen = UINT64_MAX;
        for (uint32_t root = 0; root < world.network.switches.count; root++) {
            uint64_t sum = 0;
            walk_down(&world, root, hops);
            for (size_t i = 0; i < members.list.count && sum != UINT64_MAX; i++) {
                uint32_t far = hops[place_of(&world.network, members.list.items[i].end_point)];
                sum = far == UINT32_MAX ? UINT64_MAX : sum + far;
            }
            least = sum < least ? sum : least;
            chosen = root == tree.root ? sum : chosen;
        }
        if (members.list.count && least != UINT64_MAX)
            assert_int_equal(chosen, least);
        mem_free(hops);
        multicast_tree_release(&tree);
        vec_release(&members.list);
        end(&world);
        network_release(&world.network);
        draft_release(&draft);
    }
}

static void groups_are_balanced_over_equal_roots(void **state)
{
    struct world world = {0};
    struct members members = {0};
    struct multicast_tree tree = {0};
    unsigned roots = 0;
    bool used[64] = {0};
    build_kind(&world.network, "fattree", (const char *const[]){"m=4,8", "w=1,4"}, 2, 0, 1);
    assert_true(begin(&world, "updn", VL_FIRST, 0, 1));
    for (uint32_t i = 0; i < world.network.terminals.count; i++)
        vec_push(&members.list, ((struct multicast_member){i, true}));
    for (unsigned group = 0; group < 64; group++) {
        multicast_tree_make(world.base, MLID + group, members.list.items, members.list.count,
                            &tree);
        assert_true(tree.root < 64);
        roots += !used[tree.root];
        used[tree.root] = true;
    }
    assert_int_equal(roots, 4); /* all that are on top */
    multicast_tree_release(&tree);
    vec_release(&members.list);
    end(&world);
    network_release(&world.network);
}

/* ---- what the check is for ---- */

static void begin_spoiling(struct world *world, struct members *members,
                           struct multicast_tree *tree)
{
    *world = (struct world){0};
    build_kind(&world->network, "torus", (const char *const[]){"dims=3x3", "hosts=2"}, 2, 0, 1);
    assert_true(begin(world, "updn", VL_FIRST, 0, 1));
    for (uint32_t i = 0; i < world->network.terminals.count; i += 2)
        vec_push(&members->list, ((struct multicast_member){i, true}));
    multicast_tree_make(world->base, MLID, members->list.items, members->list.count, tree);
    assert_int_equal(check_tree(world, members, tree, NULL), 0);
}

static void end_spoiling(struct world *world, struct members *members, struct multicast_tree *tree)
{
    multicast_tree_release(tree);
    vec_release(&members->list);
    end(world);
    network_release(&world->network);
}

/* Every bit that a tree has is needed, and none more may be there. */
static void the_check_finds_every_wrong_mask_bit(void **state)
{
    struct world world;
    struct members members = {0};
    struct multicast_tree tree = {0};
    begin_spoiling(&world, &members, &tree);
    for (size_t i = 0; i < tree.arms.count; i++)
        for (unsigned bit = 0; bit < 16; bit++) {
            tree.arms.items[i].mask ^= (uint16_t)(1u << bit);
            assert_int_not_equal(check_tree(&world, &members, &tree, NULL), 0);
            tree.arms.items[i].mask ^= (uint16_t)(1u << bit);
        }
    assert_int_equal(check_tree(&world, &members, &tree, NULL), 0);
    end_spoiling(&world, &members, &tree);
}

static void the_check_finds_loops_wrong_members_and_unusable_switches(void **state)
{
    struct world world;
    struct members members = {0};
    struct multicast_tree tree = {0};
    struct err err;
    begin_spoiling(&world, &members, &tree);
    /* Both ends of a link that is not in the tree: now it has a loop. */
    struct multicast_tree looped = {0};
    for (size_t i = 0; i < tree.arms.count; i++)
        vec_push(&looped.arms, tree.arms.items[i]);
    const struct network_edge *edge = NULL;
    uint32_t at = 0; /* every switch has an arm, and one only */
    for (; at < looped.arms.count && !edge; at += !edge)
        for (uint32_t i = world.network.first_edge[at]; i < world.network.first_edge[at + 1]; i++)
            if (!(looped.arms.items[at].mask >> world.network.edges[i].port & 1))
                edge = &world.network.edges[i];
    if (!edge) {
        fail_msg("there is no edge outside the tree");
        return;
    }
    looped.arms.items[at].mask |= (uint16_t)(1u << edge->port);
    looped.arms.items[edge->to].mask |= (uint16_t)(1u << edge->to_port);
    assert_int_not_equal(check_tree(&world, &members, &looped, &err), 0);
    assert_non_null(strstr(err.message, "twice"));
    multicast_tree_release(&looped);
    /* A reached member is listed as missed, and vice versa. */
    vec_push(&tree.missed, 3);
    assert_int_not_equal(check_tree(&world, &members, &tree, &err), 0);
    assert_non_null(strstr(err.message, "said not to be"));
    tree.missed.count = 0;
    vec_push(&members.list, ((struct multicast_member){1, true}));
    assert_int_not_equal(check_tree(&world, &members, &tree, &err), 0);
    members.list.count--;
    world.usable[tree.root] = false;
    assert_int_not_equal(check_tree(&world, &members, &tree, &err), 0);
    end_spoiling(&world, &members, &tree);
}

/* On a ring two correct trees that leave out different links: packets could form a cycle. */
static void the_check_finds_cycles_of_several_trees(void **state)
{
    struct world world = {0};
    struct err err;
    build_ring(&world.network, 6);
    assert_true(begin(&world, "updn", VL_FIRST, 0, 1));
    unsigned refused = 0;
    for (uint32_t gap = 0; gap < 6; gap++) {
        struct members members = {0};
        struct multicast_tree tree = {0};
        for (uint32_t at = 0; at < 6; at++) {
            const struct network_edge *edges = world.network.edges + world.network.first_edge[at];
            uint16_t mask = (uint16_t)(1u << world.network.terminals.items[at].port);
            vec_push(&members.list, ((struct multicast_member){at, true}));
            for (unsigned i = 0; i < 2; i++)
                if (!(at == gap && edges[i].to == (gap + 1) % 6) &&
                    !(at == (gap + 1) % 6 && edges[i].to == gap))
                    mask |= (uint16_t)(1u << edges[i].port);
            vec_push(&tree.arms, ((struct multicast_arm){at, 0, mask}));
        }
        assert_int_equal(check_tree(&world, &members, &tree, &err), 0);
        refused += multicast_check_vls(world.check, &err) != 0;
        multicast_tree_release(&tree);
        vec_release(&members.list);
    }
    assert_true(refused >= 4);
    assert_non_null(strstr(err.message, "wait for each other"));
    end(&world);
    network_release(&world.network);
}

/* ---- time ---- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Generous bounds: it is the order of magnitude that must not be lost. */
static void measure(const char *hosts, unsigned groups, double limit)
{
    struct world world = {0};
    struct members members = {0};
    struct multicast_tree tree = {0};
    struct rng rng;
    build_kind(&world.network, "fattree", &hosts, 1, 0, 1);
    double start = seconds();
    assert_true(begin(&world, "updn", VL_FIRST, 0, 1));
    double routed = seconds();
    multicast_base_free(world.base);
    multicast_check_free(world.check);
    double first = seconds();
    world.base = multicast_base_new(&world.network, &world.routes, 0, world.usable);
    double base = seconds();
    world.check = multicast_check_new(&world.network, &world.routes);
    double check = seconds();
    rng_seed(&rng, 1, 1);
    double making = 0, checking = 0;
    for (unsigned group = 0; group < groups; group++) {
        draw_members(&world.network, &rng, &members);
        while (members.list.count &&
               members.list.items[members.list.count - 1].end_point & NETWORK_SWITCH)
            members.list.count--; /* of hosts */
        double before = seconds();
        multicast_tree_make(world.base, MLID + group, members.list.items, members.list.count,
                            &tree);
        double made = seconds();
        assert_int_equal(check_tree(&world, &members, &tree, NULL), 0);
        making += made - before;
        checking += seconds() - made;
    }
    double last = seconds();
    assert_int_equal(multicast_check_vls(world.check, NULL), 0);
    double vls = seconds() - last;
    print_message("%s hosts, %u groups: routes %.0f ms, terrain %.1f ms, trees %.1f ms; check: "
                  "unicast %.1f ms, trees %.1f ms, lanes %.1f ms\n",
                  hosts, groups, 1e3 * (routed - start), 1e3 * (base - first), 1e3 * making,
                  1e3 * (check - base), 1e3 * checking, 1e3 * vls);
    assert_true(base - first + making + (check - base) + checking + vls < limit);
    multicast_tree_release(&tree);
    vec_release(&members.list);
    end(&world);
    network_release(&world.network);
}

static void a_thousand_groups_are_computed_quickly(void **state)
{
    measure("648", 1000, 5.0);
    if (getenv("WEFT_FULL"))
        measure("11664", 100, 20.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_of_a_whole_network_is_reached_once),
        cmocka_unit_test(broken_networks_have_correct_trees),
        cmocka_unit_test(lost_links_disconnect_no_reachable_member),
        cmocka_unit_test(unusual_networks_are_handled),
        cmocka_unit_test(regular_networks_with_cut_links_have_correct_trees),
        cmocka_unit_test(the_root_has_the_least_distance_to_all_members),
        cmocka_unit_test(groups_are_balanced_over_equal_roots),
        cmocka_unit_test(the_check_finds_every_wrong_mask_bit),
        cmocka_unit_test(the_check_finds_loops_wrong_members_and_unusable_switches),
        cmocka_unit_test(the_check_finds_cycles_of_several_trees),
        cmocka_unit_test(a_thousand_groups_are_computed_quickly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
