/* Fat trees: no contention in whole ones, even shares in all others, and a clear answer to what is
 * not a tree. */
#include "networks.h"

#include "routing/check/quality.h"
#include "routing/check/verify.h"
#include "routing/search/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

static void compute(const struct network *network, const struct engine_options *options,
                    struct routes *routes)
{
    struct verify_report report;
    struct err err = {0};
    if (engine_ftree.compute(network, options, routes, &err))
        fail_msg("%s", err.message);
    verify_routes(network, routes, &(struct verify_options){0}, &report);
    if (!verify_passes(&report))
        fail_msg("%s", report.findings.count ? report.findings.items[0] : "does not hold");
    verify_report_release(&report);
}

static void measure_shifts(const struct network *network, const struct routes *routes,
                           uint32_t shifts, struct quality *quality)
{
    uint32_t *order = tree_shift_order(network);
    struct quality_options options = {.shifts = shifts, .order = order};
    quality_measure(network, routes, &options, quality);
    mem_free(order);
}

static uint32_t worst_shift(const struct network *network, const struct routes *routes)
{
    struct quality quality;
    measure_shifts(network, routes, UINT32_MAX, &quality);
    assert_int_equal(quality.shifts, network->terminals.count - 1);
    assert_int_equal(quality.hops_over_max, 0);
    return quality.shift_load_max;
}

static uint32_t worst_shift_of_kind(const char *kind, const char *const *words, size_t count)
{
    struct network network;
    struct routes routes;
    build_kind(&network, kind, words, count, 0, 1);
    compute(&network, &(struct engine_options){0}, &routes);
    uint32_t worst = worst_shift(&network, &routes);
    routes_release(&routes);
    network_release(&network);
    return worst;
}

static void whole_trees_have_no_contention_in_any_shift(void **state)
{
    assert_int_equal(worst_shift_of_kind("fattree", (const char *const[]){"324"}, 1), 1);
    assert_int_equal(worst_shift_of_kind("fattree", (const char *const[]){"648"}, 1), 1);
    assert_int_equal(worst_shift_of_kind("kary", (const char *const[]){"k=4", "n=3"}, 2), 1);
    assert_int_equal(worst_shift_of_kind("kary", (const char *const[]){"k=3", "n=4"}, 2), 1);
    assert_int_equal(worst_shift_of_kind("kary", (const char *const[]){"k=2", "n=6"}, 2), 1);
}

static void parallel_links_count_as_separate_next_hops(void **state)
{
    /* Six hosts at a leaf, three spines with two cables each. */
    const char *const words[] = {"m=6,5", "w=1,3", "parallel=2"};
    assert_int_equal(worst_shift_of_kind("fattree", words, 3), 1);
}

static void twice_as_many_hosts_as_links_up_share_them_two_by_two(void **state)
{
    const char *const words[] = {"m=8,6", "w=1,4"};
    assert_int_equal(worst_shift_of_kind("fattree", words, 2), 2);
}

/* The same tree with LIDs and cables at random: the order of the tree is still found. */
static void build_shuffled(struct network *network, uint64_t seed)
{
    enum { K = 4, LEAVES = K * K, PORTS = 2 * K };
    struct rng rng;
    uint8_t used[3 * LEAVES] = {0}, ports[3 * LEAVES][PORTS];
    uint16_t lids[3 * LEAVES + K * LEAVES];
    rng_seed(&rng, seed, 0);
    for (size_t i = 0; i < sizeof lids / sizeof lids[0]; i++)
        lids[i] = (uint16_t)(i + 1);
    for (uint64_t i = sizeof lids / sizeof lids[0]; i > 1; i--) {
        uint64_t other = rng_below(&rng, i);
        uint16_t lid = lids[i - 1];
        lids[i - 1] = lids[other];
        lids[other] = lid;
    }
    network_init(network);
    for (uint32_t at = 0; at < 3 * LEAVES; at++) {
        network_add_switch(network, 1 + at, lids[at], 0, PORTS);
        for (unsigned port = 0; port < PORTS; port++)
            ports[at][port] = (uint8_t)(port + 1);
        for (uint64_t i = PORTS; i > 1; i--) {
            uint64_t other = rng_below(&rng, i);
            uint8_t port = ports[at][i - 1];
            ports[at][i - 1] = ports[at][other];
            ports[at][other] = port;
        }
    }
#define PORT(at) ports[at][used[at]++]
    for (uint32_t pod = 0; pod < K; pod++)
        for (uint32_t a = 0; a < K; a++)
            for (uint32_t b = 0; b < K; b++) {
                uint32_t leaf = pod * K + a, middle = LEAVES + pod * K + b;
                uint32_t top = 2 * LEAVES + b * K + a;
                network_link(network, leaf, PORT(leaf), middle, PORT(middle));
                network_link(network, middle, PORT(middle), top, PORT(top));
            }
    for (uint32_t i = 0; i < K * LEAVES; i++) {
        uint8_t port = PORT(i / K);
        network_add_terminal(network, 1000 + i, lids[3 * LEAVES + i], 0, i / K, port);
    }
#undef PORT
    assert_int_equal(network_finish(network), 0);
}

static void lids_and_cables_at_random_change_nothing(void **state)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct network network;
        struct routes routes;
        build_shuffled(&network, seed);
        compute(&network, &(struct engine_options){0}, &routes);
        assert_int_equal(worst_shift(&network, &routes), 1);
        routes_release(&routes);
        network_release(&network);
    }
}

static void the_order_of_the_tree_is_that_of_lids_assigned_breadth_first(void **state)
{
    struct network network;
    struct tree tree;
    struct err err;
    build_kind(&network, "kary", (const char *const[]){"k=3", "n=3"}, 2, 0, 1);
    assert_int_equal(tree_recognise(&tree, &network, &(struct engine_options){0}, &err), 0);
    assert_int_equal(tree.levels, 3);
    assert_int_equal(tree.tops, 9);
    uint32_t *order = tree_terminals(&tree, &network);
    for (size_t i = 1; i < network.terminals.count; i++)
        assert_true(network.terminals.items[order[i - 1]].lid <
                    network.terminals.items[order[i]].lid);
    mem_free(order);
    tree_release(&tree);
    network_release(&network);
}

/* Leaves with six, five, four and three hosts, and two spines, one of which has a host. */
static void build_uneven(struct network *network)
{
    network_init(network);
    for (unsigned i = 0; i < 6; i++)
        network_add_switch(network, 1 + i, (uint16_t)(1 + i), 0, 12);
    for (unsigned leaf = 0; leaf < 4; leaf++)
        for (unsigned spine = 0; spine < 2; spine++)
            network_link(network, leaf, 1 + spine, 4 + spine, 1 + leaf);
    uint16_t lid = 10;
    for (unsigned leaf = 0; leaf < 4; leaf++)
        for (unsigned host = 0; host < 6 - leaf; host++, lid++)
            network_add_terminal(network, lid, lid, 0, leaf, 3 + host);
    network_add_terminal(network, lid, lid, 0, 4, 9);
    assert_int_equal(network_finish(network), 0);
}

/* Like any two-level tree, but switches and hosts have their LIDs from the last to the first. */
static void the_order_of_the_tree_begins_with_the_lowest_lid(void **state)
{
    struct network network;
    struct tree tree;
    struct err err;
    network_init(&network);
    for (unsigned i = 0; i < 6; i++)
        network_add_switch(&network, 1 + i, (uint16_t)(6 - i), 0, 4);
    for (unsigned leaf = 0; leaf < 4; leaf++) {
        network_link(&network, leaf, 1, 4, 1 + leaf);
        network_link(&network, leaf, 2, 5, 1 + leaf);
        for (unsigned host = 0; host < 2; host++)
            network_add_terminal(&network, 10 + leaf, (uint16_t)(20 - 2 * leaf + host), 0, leaf,
                                 3 + host);
    }
    assert_int_equal(network_finish(&network), 0);
    assert_int_equal(tree_recognise(&tree, &network, &(struct engine_options){0}, &err), 0);
    uint32_t *order = tree_terminals(&tree, &network);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(network.terminals.items[order[i]].lid, 14 + i);
    mem_free(order);
    tree_release(&tree);
    network_release(&network);
}

static void hosts_may_be_at_any_level_in_any_number(void **state)
{
    struct network network;
    struct routes routes;
    struct verify_report report;
    build_uneven(&network);
    compute(&network, &(struct engine_options){0}, &routes);
    assert_non_null(strstr(routes.note, "2 levels with 2 roots"));
    verify_routes(&network, &routes, &(struct verify_options){0}, &report);
    /* Down to the leaf of five: three of them for 13 others, and all for the host at this spine. */
    assert_int_equal(report.load_max, 3 * 13 + 5);
    verify_report_release(&report);
    routes_release(&routes);
    network_release(&network);
}

static void a_network_that_is_no_tree_is_refused_with_a_wrong_link(void **state)
{
    struct network network;
    struct routes routes;
    struct err err = {0};
    build_ring(&network, 6);
    assert_int_equal(engine_ftree.compute(&network, &(struct engine_options){0}, &routes, &err),
                     -EMEDIUMTYPE);
    assert_non_null(strstr(err.message, "'ring0' port 1 to 'ring1' port 2 joins levels 0 and 0"));
    assert_null(routes.ports);
    network_release(&network);
    build_kind(&network, "torus", (const char *const[]){"dims=4x4x4"}, 1, 0, 1);
    assert_int_equal(engine_ftree.compute(&network, &(struct engine_options){0}, &routes, &err),
                     -EMEDIUMTYPE);
    network_release(&network);
    build_torn_tree(&network);
    assert_int_equal(engine_ftree.compute(&network, &(struct engine_options){0}, &routes, &err),
                     -ENETUNREACH);
    assert_non_null(strstr(err.message, "too much of the tree is missing"));
    network_release(&network);
}

static void given_roots_are_the_top_level(void **state)
{
    struct network network;
    struct routes routes;
    struct err err = {0};
    uint64_t roots[] = {0, 0x77};
    struct engine_options options = {.root = ROOT_LIST, .root_guids = roots, .root_count = 2};
    /* A row of three switches with hosts is a tree only if the roots are given. */
    network_init(&network);
    for (unsigned i = 0; i < 3; i++) {
        network_add_switch(&network, 1 + i, (uint16_t)(1 + i), 0, 3);
        network_add_terminal(&network, 10 + i, (uint16_t)(10 + i), 0, i, 3);
    }
    network_link(&network, 0, 1, 1, 1);
    network_link(&network, 1, 2, 2, 1);
    assert_int_equal(network_finish(&network), 0);
    roots[0] = 1;
    compute(&network, &options, &routes);
    assert_non_null(strstr(routes.note, "3 levels with 1 roots"));
    routes_release(&routes);
    options.root_guids = roots + 1;
    options.root_count = 1;
    assert_int_equal(engine_ftree.compute(&network, &options, &routes, &err), -ENOENT);
    network_release(&network);
}

/* In every leaf of eight the even hosts are listed; the odd ones are not. */
static void listed_hosts_keep_their_balance(void **state)
{
    struct network network, listed_only;
    struct routes with_list, without;
    struct guid_list list = {0};
    struct engine_options options = {.first = &list};
    build_kind(&network, "fattree", (const char *const[]){"m=8,6", "w=1,4"}, 2, 0, 1);
    for (uint32_t i = 0; i < network.terminals.count; i++)
        if (network.terminals.items[i].port % 2)
            vec_push(&list.items, network.terminals.items[i].guid);
    compute(&network, &options, &with_list);
    compute(&network, &(struct engine_options){0}, &without);
    /* A network of the listed ones alone, with the same tables, has no contention. */
    build_kind(&listed_only, "fattree", (const char *const[]){"m=8,6", "w=1,4"}, 2, 0, 1);
    for (uint32_t i = 0; i < listed_only.terminals.count; i++)
        if (listed_only.terminals.items[i].port % 2 == 0)
            listed_only.terminals.items[i].lid = 0;
    struct quality quality;
    measure_shifts(&listed_only, &with_list, UINT32_MAX, &quality);
    assert_int_equal(quality.shift_load_max, 1);
    measure_shifts(&listed_only, &without, UINT32_MAX, &quality);
    assert_int_equal(quality.shift_load_max, 2);
    routes_release(&with_list);
    routes_release(&without);
    guid_list_release(&list);
    network_release(&network);
    network_release(&listed_only);
}

static void routes_of_lost_links_are_balanced_over_the_others(void **state)
{
    struct network network;
    struct routes routes;
    struct verify_report report;
    for (uint64_t seed = 1; seed < 6; seed++) {
        build_kind(&network, "fattree", (const char *const[]){"324"}, 1, 0, 1);
        cut_links(&network, seed, 20);
        compute(&network, &(struct engine_options){0}, &routes);
        verify_routes(&network, &routes, &(struct verify_options){0}, &report);
        /* 306 in the whole tree; some leaves have lost two or three of their 18 links. */
        assert_true(report.load_max <= 2 * 306 + 18);
        verify_report_release(&report);
        routes_release(&routes);
        network_release(&network);
    }
}

static void cut_first_link(struct network *network, uint32_t at)
{
    const struct network_edge *edge = &network->edges[network->first_edge[at]];
    network->ports.items[network->switches.items[at].first_port + edge->port].peer = NETWORK_NONE;
    network->ports.items[network->switches.items[edge->to].first_port + edge->to_port].peer =
        NETWORK_NONE;
    network_finish(network);
}

/* A leaf that lost a link does not change the entries of middle switches. */
static void one_lost_link_changes_few_entries(void **state)
{
    struct network network;
    struct routes routes;
    struct quality quality;
    build_kind(&network, "kary", (const char *const[]){"k=4", "n=3"}, 2, 0, 1);
    uint32_t leaf = 0;
    while (!network_terminal_count(&network, leaf))
        leaf++;
    cut_first_link(&network, leaf);
    compute(&network, &(struct engine_options){0}, &routes);
    measure_shifts(&network, &routes, 100, &quality);
    assert_int_equal(quality.shift_load_max, 2);
    routes_release(&routes);
    network_release(&network);
}

/* The first leaf loses its first link: from there to the switch at the other end, and back,
 * packets must go down and up again; the same for all switches above the leaves that are
 * connected with it. */
static void routes_down_and_up_have_a_separate_vl(void **state)
{
    struct network network;
    struct routes routes;
    build_kind(&network, "kary", (const char *const[]){"k=4", "n=3"}, 2, 0, 1);
    uint32_t leaf = 0, unroutable = 0;
    while (!network_terminal_count(&network, leaf))
        leaf++;
    cut_first_link(&network, leaf);
    compute(&network, &(struct engine_options){0}, &routes);
    assert_int_equal(routes.vls, 2);
    for (uint32_t from = 0; from < network.switches.count; from++) {
        for (uint32_t lid = 1; lid <= network.top_lid; lid++) {
            uint8_t level = routes.service_levels[(size_t)from * routes.stride + lid];
            uint32_t owner = network.owner[lid], to = owner & ~NETWORK_SWITCH;
            if (!(owner & NETWORK_SWITCH))
                to = network.terminals.items[owner].at;
            unroutable += level == 1;
            assert_true(level == 0 || (from == leaf && !network_terminal_count(&network, to)) ||
                        (to == leaf && !network_terminal_count(&network, from)));
        }
    }
    /* Four switches in the middle and four above them; their LIDs in one direction, those of the
     * leaf and of its four hosts in the other. */
    assert_int_equal(unroutable, 8 * (1 + 1 + 4));
    routes_release(&routes);
    network_release(&network);
}

/* 1,024 hosts, and one link in sixteen is missing: hundreds of pairs need routes down and up. */
static void routes_that_turn_at_the_same_pivot_share_a_vl(void **state)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct network network;
        struct routes routes;
        struct verify_report report;
        build_kind(&network, "fattree", (const char *const[]){"m=16,8,8", "w=1,8,8"}, 2, 0, 1);
        cut_links(&network, seed, 16);
        compute(&network, &(struct engine_options){0}, &routes);
        assert_in_range(routes.vls, 2, 3);
        verify_routes(&network, &routes, &(struct verify_options){.reversible = true}, &report);
        assert_true(verify_passes(&report));
        verify_report_release(&report);
        routes_release(&routes);
        network_release(&network);
    }
}

static void badly_damaged_trees_take_vls_or_are_refused(void **state)
{
    struct network network;
    struct routes routes;
    struct err err = {0};
    build_kind(&network, "kary", (const char *const[]){"k=6", "n=3"}, 2, 0, 1);
    cut_links(&network, 1, 10);
    compute(&network, &(struct engine_options){0}, &routes);
    assert_true(routes.vls > 1);
    routes_release(&routes);
    assert_int_equal(
        engine_ftree.compute(&network, &(struct engine_options){.max_vls = 1}, &routes, &err),
        -EDEADLK);
    assert_null(routes.ports);
    network_release(&network);
}

/* The links from a switch to a LID, as channels. */
static size_t trace(const struct network *network, const struct routes *routes, uint32_t at,
                    uint32_t lid, uint32_t *channels)
{
    size_t count = 0;
    for (;;) {
        uint32_t channel = network->switches.items[at].first_port + routes_port(routes, at, lid);
        uint32_t peer = network->ports.items[channel].peer;
        if (!(peer & NETWORK_SWITCH))
            return count;
        channels[count++] = channel;
        at = peer & ~NETWORK_SWITCH;
    }
}

static void assert_disjoint(const struct network *network, const struct routes *routes,
                            uint32_t from, const struct network_terminal *target)
{
    uint32_t at = network->terminals.items[from].at, channels[4][16];
    size_t count[4];
    for (uint32_t offset = 0; offset < 4; offset++) {
        count[offset] = trace(network, routes, at, target->lid + offset, channels[offset]);
        for (uint32_t other = 0; other < offset; other++)
            for (size_t i = 0; i < count[offset]; i++)
                for (size_t k = 0; k < count[other]; k++)
                    if (channels[offset][i] == channels[other][k])
                        fail_msg("%s: from switch %u, LIDs %u and %u meet", routes->engine, at,
                                 target->lid + offset, target->lid + other);
    }
}

/* Four uplinks everywhere, and four LIDs. */
static void lids_of_one_port_have_no_link_in_common(void **state)
{
    static const char *const engines[] = {"ftree", "updn", "minhop", "sssp", "dfsssp"};
    struct network network;
    build_kind(&network, "kary", (const char *const[]){"k=4", "n=3"}, 2, 2, 1);
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++) {
        struct routes routes;
        struct err err = {0};
        if (engine_find(engines[i])->compute(&network, &(struct engine_options){0}, &routes, &err))
            fail_msg("%s", err.message);
        for (uint32_t from = 0; from < network.terminals.count; from += 3)
            for (uint32_t to = 0; to < network.terminals.count; to++)
                if (network.terminals.items[from].at != network.terminals.items[to].at)
                    assert_disjoint(&network, &routes, from, &network.terminals.items[to]);
        routes_release(&routes);
    }
    network_release(&network);
}

static const char *const by_turns[] = {"ftree", "updn", "minhop"};

static void compute_with(const struct network *network, const char *name,
                         const struct engine_options *options, struct routes *routes)
{
    struct err err = {0};
    if (engine_find(name)->compute(network, options, routes, &err))
        fail_msg("%s: %s", name, err.message);
}

static void little_memory_changes_nothing(void **state)
{
    struct network network;
    build_kind(&network, "kary", (const char *const[]){"k=4", "n=4"}, 2, 0, 1);
    cut_first_link(&network, 200);
    for (size_t i = 0; i < sizeof by_turns / sizeof by_turns[0]; i++) {
        struct routes much, little;
        compute_with(&network, by_turns[i], &(struct engine_options){.caller_verifies = true},
                     &much);
        compute_with(&network, by_turns[i],
                     &(struct engine_options){.caller_verifies = true, .scratch_bytes = 1},
                     &little);
        assert_int_equal(routes_compare(&much, &little).entries, 0);
        routes_release(&much);
        routes_release(&little);
    }
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_trees_have_no_contention_in_any_shift),
        cmocka_unit_test(parallel_links_count_as_separate_next_hops),
        cmocka_unit_test(twice_as_many_hosts_as_links_up_share_them_two_by_two),
        cmocka_unit_test(lids_and_cables_at_random_change_nothing),
        cmocka_unit_test(the_order_of_the_tree_is_that_of_lids_assigned_breadth_first),
        cmocka_unit_test(the_order_of_the_tree_begins_with_the_lowest_lid),
        cmocka_unit_test(hosts_may_be_at_any_level_in_any_number),
        cmocka_unit_test(a_network_that_is_no_tree_is_refused_with_a_wrong_link),
        cmocka_unit_test(given_roots_are_the_top_level),
        cmocka_unit_test(listed_hosts_keep_their_balance),
        cmocka_unit_test(routes_of_lost_links_are_balanced_over_the_others),
        cmocka_unit_test(one_lost_link_changes_few_entries),
        cmocka_unit_test(routes_down_and_up_have_a_separate_vl),
        cmocka_unit_test(routes_that_turn_at_the_same_pivot_share_a_vl),
        cmocka_unit_test(badly_damaged_trees_take_vls_or_are_refused),
        cmocka_unit_test(little_memory_changes_nothing),
        cmocka_unit_test(lids_of_one_port_have_no_link_in_common),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
