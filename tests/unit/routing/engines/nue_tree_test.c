/* One destination on one vl, with vls that are as full of dependencies as can be. */
#include "networks.h"

#include "routing/engines/nue_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct bed {
    struct network network;
    struct cdg cdg;
    struct nue_tree tree;
    uint32_t *up, *weight;
    uint8_t *preferred;
};

/* A vl with an escape tree and as many other dependencies as it takes. */
static void bed_init(struct bed *bed, uint64_t seed, unsigned draws)
{
    struct draft draft;
    struct rng rng;
    draft_random(&draft, seed, 40);
    if (seed % 3 == 0)
        draft_break(&draft, seed, 6, 2);
    draft_build(&draft, 0, &bed->network);
    draft_release(&draft);
    size_t switches = bed->network.switches.count;
    cdg_init(&bed->cdg, &bed->network);
    cdg_open(&bed->cdg);
    bed->up = mem_alloc(switches * sizeof *bed->up);
    bed->preferred = mem_zalloc(switches, 1);
    bed->weight = mem_zalloc(bed->cdg.channels + 1, sizeof *bed->weight);
    nue_divide(&bed->network, 1, bed->preferred);
    nue_add_escape_trees(&bed->cdg, bed->preferred, bed->up);
    rng_seed(&rng, seed, 3);
    for (unsigned i = 0; i < draws * bed->cdg.channels; i++) {
        uint32_t in = (uint32_t)rng_below(&rng, bed->cdg.channels);
        uint32_t at = bed->network.edges[in].to, first = bed->network.first_edge[at];
        uint32_t degree = bed->network.first_edge[at + 1] - first;
        cdg_insert(&bed->cdg, 0, in, first + (uint32_t)rng_below(&rng, degree));
    }
    nue_tree_init(&bed->tree, &bed->network, &bed->cdg);
    bed->tree.weight = bed->weight;
    bed->tree.limit = UINT64_MAX;
}

static void bed_release(struct bed *bed)
{
    nue_tree_release(&bed->tree);
    cdg_release(&bed->cdg);
    network_release(&bed->network);
    mem_free(bed->up);
    mem_free(bed->preferred);
    mem_free(bed->weight);
}

/* Every switch that can reach the target has a route; those that count have their dependencies. */
static void assert_routes_fit(const struct bed *bed, uint64_t seed)
{
    const struct nue_tree *tree = &bed->tree;
    const struct network_edge *edges = bed->network.edges;
    for (uint32_t start = 0; start < bed->network.switches.count; start++) {
        bool counts = network_terminal_count(&bed->network, start) > 0;
        uint32_t at = start, hops = 0;
        if (tree->distance[start] == NETWORK_NONE) {
            assert_int_equal(tree->choice[start], NETWORK_NONE);
            continue;
        }
        for (; at != tree->target; at = edges[tree->choice[at]].to) {
            if (tree->choice[at] == NETWORK_NONE || hops++ > bed->network.switches.count)
                fail_msg("seed %llu: no way from %u", (unsigned long long)seed, start);
            uint32_t next = edges[tree->choice[at]].to;
            if (counts && next != tree->target &&
                !cdg_has(&bed->cdg, 0, tree->choice[at], tree->choice[next]))
                fail_msg("seed %llu: a dependency is missing", (unsigned long long)seed);
        }
        assert_true(hops >= tree->distance[start]);
    }
}

static void with_an_escape_tree_there_is_always_a_path(void **state)
{
    unsigned stuck = 0, detours = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct bed bed;
        bed_init(&bed, seed, 1 + seed % 20);
        for (uint32_t target = 0; target < bed.network.switches.count; target++) {
            nue_tree_aim(&bed.tree, target);
            bed.tree.up = NULL;
            if (nue_tree_grow(&bed.tree) != NUE_STUCK) {
                assert_routes_fit(&bed, seed);
                cdg_end(bed.tree.cdg, false);
                continue;
            }
            stuck++;
            bed.tree.up = bed.up;
            assert_int_not_equal(nue_tree_grow(&bed.tree), NUE_STUCK);
            nue_tree_keep(&bed.tree);
            assert_routes_fit(&bed, seed);
            detours += bed.tree.detour > 0;
        }
        bed_release(&bed);
    }
    assert_true(stuck > 100 && detours > 100);
}

static void a_limit_of_detours_is_kept(void **state)
{
    unsigned limited = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct bed bed;
        bed_init(&bed, seed, 10);
        for (uint32_t target = 0; target < bed.network.switches.count; target++) {
            nue_tree_aim(&bed.tree, target);
            bed.tree.up = bed.up;
            bed.tree.limit = UINT64_MAX;
            if (nue_tree_grow(&bed.tree) == NUE_SHORTEST) {
                nue_tree_keep(&bed.tree);
                continue;
            }
            cdg_end(bed.tree.cdg, false);
            /* Dependencies that stay refused may lead it to a better tree. */
            bed.tree.limit = bed.tree.detour;
            enum nue_result result = nue_tree_grow(&bed.tree);
            limited += result == NUE_STUCK;
            if (result == NUE_STUCK)
                continue;
            assert_true(bed.tree.detour < bed.tree.limit);
            cdg_end(bed.tree.cdg, false);
        }
        bed_release(&bed);
    }
    assert_true(limited > 10);
}

static void neighbours_share_a_vl_and_vls_have_equal_numbers_of_terminals(void **state)
{
    struct topology topology;
    struct network network;
    struct err err;
    unsigned terminals[8] = {0}, within = 0;
    topology_init(&topology);
    assert_int_equal(topology_generate(&topology, "torus",
                                       (const char *const[]){"dims=8x8", "hosts=2"}, 2, 1, &err),
                     0);
    assert_int_equal(network_from_topology(&network, &topology, &err), 0);
    topology_release(&topology);
    uint8_t *preferred = mem_zalloc(network.switches.count, 1);
    nue_divide(&network, 8, preferred);
    for (uint32_t at = 0; at < network.switches.count; at++) {
        terminals[preferred[at]] += network_terminal_count(&network, at);
        for (uint32_t e = network.first_edge[at]; e < network.first_edge[at + 1]; e++)
            within += preferred[network.edges[e].to] == preferred[at];
    }
    for (unsigned vl = 0; vl < 8; vl++)
        assert_int_equal(terminals[vl], 16);
    assert_true(within > 256 / 3); /* by chance it would be one of eight */
    mem_free(preferred);
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_an_escape_tree_there_is_always_a_path),
        cmocka_unit_test(a_limit_of_detours_is_kept),
        cmocka_unit_test(neighbours_share_a_vl_and_vls_have_equal_numbers_of_terminals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
