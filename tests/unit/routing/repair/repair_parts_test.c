/* What a repair is made of: distances, what is broken in a block of LIDs, and LIDs that are mended
 * together. */
#include "networks.h"

#include "routing/check/verify.h"
#include "routing/repair/repair.h"
#include "routing/repair/repair_block.h"
#include "routing/repair/repair_near.h"
#include "routing/repair/verify_change.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static void plain_search(const struct network *network, uint32_t goal, uint32_t *hops)
{
    bool found = true;
    for (uint32_t at = 0; at < network->switches.count; at++)
        hops[at] = at == goal ? 0 : NEAR_NONE;
    for (uint32_t ring = 0; found; ring++) {
        found = false;
        for (uint32_t at = 0; at < network->switches.count; at++)
            for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
                if (hops[at] == ring && hops[network->edges[e].to] == NEAR_NONE) {
                    hops[network->edges[e].to] = ring + 1;
                    found = true;
                }
    }
}

static void distances_are_those_of_a_plain_search(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct network network;
        struct repair_near near;
        build_odd(&network, seed, 90);
        uint32_t *hops = mem_alloc((network.switches.count + 1) * sizeof *hops);
        repair_near_init(&near, &network);
        for (uint32_t goal = 0; goal < network.switches.count; goal++)
            repair_near_want(&near, goal * 7 % (uint32_t)network.switches.count);
        for (uint32_t i = 0; i < near.goals.count; i++) {
            uint32_t goal = near.goals.items[i];
            const uint8_t *measured = repair_near_to(&near, goal);
            plain_search(&network, goal, hops);
            for (uint32_t at = 0; at < network.switches.count; at++)
                assert_int_equal(measured[at], hops[at]);
        }
        repair_near_release(&near);
        mem_free(hops);
        network_release(&network);
    }
}

/* ---- a tree that loses a switch ---- */

struct tree {
    struct network before, after;
    struct routes routes, held;
    struct standing standing;
    struct dependency_graph graph;
    uint32_t *to_new;
};

static void tree_init(struct tree *tree, const char *engine, const char *arity)
{
    const char *words[] = {arity, "n=3"};
    struct engine_options options = {.leave_proof = true};
    struct dependency_graph found;
    struct verify_report report;
    struct err err;
    build_kind(&tree->before, "kary", words, 2, 0, 1);
    assert_int_equal(engine_find(engine)->compute(&tree->before, &options, &tree->routes, &err), 0);
    verify_routes(&tree->before, &tree->routes, &(struct verify_options){.keep = &found}, &report);
    assert_true(verify_holds(&report));
    dependency_copy(&tree->graph, &found);
    assert_true(standing_take(&tree->standing, &found, &report, tree->routes.ranks));
    tree->standing.known = true;
    verify_report_release(&report);
}

/* The first two cables from a switch, exchanged at its own end. */
static uint8_t exchanged_port(const struct network *network, uint32_t at, uint32_t tangled,
                              uint8_t port)
{
    const struct network_edge *first = &network->edges[network->first_edge[at]];
    if (at != tangled || (port != first[0].port && port != first[1].port))
        return port;
    return port == first[0].port ? first[1].port : first[0].port;
}

/* What the switches have that are left. */
static void tree_hold(struct tree *tree)
{
    routes_init(&tree->held, &tree->after, tree->routes.engine);
    tree->held.vls = tree->routes.vls;
    for (uint32_t at = 0; at < tree->before.switches.count; at++)
        if (tree->to_new[at] != NETWORK_NONE)
            memcpy(routes_row(&tree->held, tree->to_new[at]), routes_row(&tree->routes, at),
                   tree->held.stride);
}

/* The network without a switch, and with two cables of another exchanged; NETWORK_NONE: none. The
 * tables are those of before. */
static void tree_change(struct tree *tree, uint32_t lost, uint32_t tangled)
{
    const struct network *before = &tree->before;
    tree->to_new = mem_alloc(before->switches.count * sizeof *tree->to_new);
    network_init(&tree->after);
    for (uint32_t at = 0; at < before->switches.count; at++) {
        const struct network_switch *node = &before->switches.items[at];
        tree->to_new[at] = at == lost ? NETWORK_NONE
                                      : network_add_switch(&tree->after, node->guid, node->lid, 0,
                                                           node->port_count);
    }
    for (uint32_t at = 0; at < before->switches.count; at++)
        for (uint32_t e = before->first_edge[at]; e < before->first_edge[at + 1]; e++) {
            const struct network_edge *edge = &before->edges[e];
            if (at < edge->to && at != lost && edge->to != lost)
                network_link(&tree->after, tree->to_new[at],
                             exchanged_port(before, at, tangled, edge->port),
                             tree->to_new[edge->to],
                             exchanged_port(before, edge->to, tangled, edge->to_port));
        }
    for (size_t i = 0; i < before->terminals.count; i++) {
        const struct network_terminal *terminal = &before->terminals.items[i];
        if (terminal->at != lost)
            network_add_terminal(&tree->after, terminal->guid, terminal->lid, 0,
                                 tree->to_new[terminal->at], terminal->port);
    }
    network_finish(&tree->after);
    tree_hold(tree);
}

static void tree_release(struct tree *tree)
{
    dependency_release(&tree->graph);
    standing_release(&tree->standing);
    routes_release(&tree->routes);
    routes_release(&tree->held);
    network_release(&tree->before);
    network_release(&tree->after);
    mem_free(tree->to_new);
}

/* Whether an entry arrives, by a plain walk. */
static bool arrives(const struct tree *tree, uint32_t at, uint32_t lid)
{
    const struct network *network = &tree->after;
    uint8_t in;
    for (size_t hops = 0; hops <= network->switches.count; hops++) {
        uint8_t port = routes_port(&tree->held, at, lid);
        if (port <= network->switches.items[at].port_count &&
            network_leads_to(network, at, port, network->owner[lid]))
            return true;
        at = standing_next(network, at, port, &in);
        if (at == NETWORK_NONE)
            return false;
    }
    return false;
}

/* A switch of the middle of the tree: it has no terminals, and a neighbour that has. */
static uint32_t middle_switch(const struct network *network)
{
    uint32_t leaf = network->terminals.items[network->terminals.count - 1].at;
    return network->edges[network->first_edge[leaf + 1] - 1].to;
}

static void all_that_leads_to_a_broken_end_is_found(void **state)
{
    const char *names[] = {"ftree", "minhop"};
    unsigned broken = 0, fed = 0;
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct tree tree = {0};
        struct repair repair = {0};
        struct repair_block block;
        tree_init(&tree, names[i], "k=6");
        tree_change(&tree, middle_switch(&tree.before), NETWORK_NONE);
        assert_true(repair_compare(&repair, &tree.standing, &tree.before, &tree.routes, &tree.after,
                                   &tree.held, tree.to_new, NULL));
        repair_block_init(&block, &tree.after, &tree.held, &repair.standing, repair.fresh);
        uint32_t lid = 1;
        while (lid <= tree.after.top_lid) { /* with gaps, so that not all follow each other */
            uint16_t lids[ROUTES_BLOCK];
            size_t count = 0;
            for (; lid <= tree.after.top_lid && count < ROUTES_BLOCK; lid += lid % 16 ? 1 : 3)
                if (tree.after.owner[lid] != NETWORK_NONE &&
                    !(tree.after.owner[lid] & NETWORK_SWITCH))
                    lids[count++] = (uint16_t)lid;
            repair_block_begin(&block, lids, count);
            for (size_t e = 0; e < repair.ends.count; e++)
                for (size_t k = 0; k < count; k++)
                    if (repair.ends.items[e].lid == lids[k])
                        repair_block_tell(&block, lids[k], repair.ends.items[e].at);
            repair_block_spread(&block);
            for (unsigned bit = 0; bit < count; bit++)
                for (uint32_t at = 0; at < tree.after.switches.count; at++) {
                    bool is_broken = block.broken[at] >> bit & 1;
                    assert_int_equal(is_broken, !arrives(&tree, at, lids[bit]));
                    broken += is_broken;
                    fed += block.fed[at] >> bit & 1;
                }
        }
        repair_block_release(&block);
        repair_release(&repair);
        tree_release(&tree);
    }
    assert_true(broken > 500 && fed > 50);
}

/* A repair of the tables, which the switches hold then. */
static void repair_by(struct tree *tree, const struct workers *workers, struct repair *repair,
                      struct dependency_graph *graph)
{
    struct err err;
    assert_true(repair_compare(repair, &tree->standing, &tree->before, &tree->routes, &tree->after,
                               &tree->held, tree->to_new, workers));
    dependency_move(graph, &tree->graph, &tree->after, tree->to_new, repair->fresh);
    assert_int_equal(repair_tables(repair, &tree->after, &tree->held, workers, &err), 0);
}

/* One after the other, or side by side: the same dependencies, and the same complaint. */
static void assert_checks_agree(struct tree *tree, const struct repair *repair,
                                struct dependency_graph *graph, int expected)
{
    struct dependency_graph other;
    struct err err = {0}, other_err = {0};
    uint64_t operations = 0;
    size_t words = graph->first_word[tree->after.switches.count];
    assert_true(repair->entries.count > words / 16); /* enough to be worth it */
    dependency_copy(&other, graph);
    assert_int_equal(
        verify_change(&tree->after, &tree->held, repair, NULL, graph, &operations, &err), expected);
    assert_int_equal(verify_change(&tree->after, &tree->held, repair, &backwards, &other,
                                   &operations, &other_err),
                     expected);
    assert_string_equal(err.message, other_err.message);
    if (!expected)
        assert_memory_equal(graph->bits, other.bits, words * sizeof *graph->bits);
    dependency_release(&other);
}

static void a_lost_middle_switch_costs_the_broken_entries_only(void **state)
{
    const char *names[] = {"ftree", "updn", "minhop"};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct tree tree = {0};
        struct repair repair = {0};
        struct dependency_graph graph;
        struct verify_report report;
        uint64_t broken = 0;
        tree_init(&tree, names[i], "k=6");
        tree_change(&tree, middle_switch(&tree.before), NETWORK_NONE);
        for (uint32_t lid = 1; lid <= tree.after.top_lid; lid++)
            for (uint32_t at = 0; at < tree.after.switches.count; at++)
                broken += tree.after.owner[lid] != NETWORK_NONE && !arrives(&tree, at, lid);
        repair_by(&tree, NULL, &repair, &graph);
        assert_checks_agree(&tree, &repair, &graph, 0);
        verify_routes(&tree.after, &tree.held, &(struct verify_options){0}, &report);
        assert_true(verify_holds(&report));
        /* Some keep their port, because somebody else goes another way; few move aside for them. */
        assert_true(repair.entries.count * 100 <= broken * 105);
        verify_report_release(&report);
        for (size_t e = repair.entries.count; e-- > 0; e /= 2) /* in every slice */
            routes_row(&tree.held, repair.entries.items[e].at)[repair.entries.items[e].lid] =
                PORT_NONE;
        assert_checks_agree(&tree, &repair, &graph, -EHOSTUNREACH);
        dependency_release(&graph);
        repair_release(&repair);
        tree_release(&tree);
    }
}

/* ---- side by side ---- */

struct round {
    atomic_size_t next;
    size_t jobs;
    void (*job)(void *context, size_t index);
    void *context;
};

static void *take_jobs(void *argument)
{
    struct round *round = argument;
    size_t index;
    while ((index = atomic_fetch_add(&round->next, 1)) < round->jobs)
        round->job(round->context, round->jobs - 1 - index);
    return NULL;
}

static void run_side_by_side(const struct workers *workers, size_t jobs,
                             void (*job)(void *context, size_t index), void *context)
{
    struct round round = {.jobs = jobs, .job = job, .context = context};
    pthread_t threads[4];
    for (unsigned i = 0; i < workers->count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_jobs, &round), 0);
    for (unsigned i = 0; i < workers->count; i++)
        pthread_join(threads[i], NULL);
}

static const struct workers side_by_side = {.count = 4, .run = run_side_by_side};

static void assert_repairs_agree(const struct repair *one, const struct repair *other,
                                 const struct network *network)
{
    assert_int_equal(one->entries.count, other->entries.count);
    for (size_t i = 0; i < one->entries.count; i++) {
        const struct repair_entry *a = &one->entries.items[i], *b = &other->entries.items[i];
        assert_true(a->at == b->at && a->lid == b->lid && a->before == b->before &&
                    a->after == b->after);
    }
    assert_int_equal(one->waits.count, other->waits.count);
    for (size_t i = 0; i < one->waits.count; i++)
        assert_true(one->waits.items[i].entry == other->waits.items[i].entry &&
                    one->waits.items[i].first == other->waits.items[i].first &&
                    one->waits.items[i].drain == other->waits.items[i].drain);
    assert_int_equal(one->broken, other->broken);
    assert_int_equal(one->operations, other->operations);
    for (size_t channel = 0; channel < network->ports.count; channel++) {
        assert_int_equal(one->standing.load[channel], other->standing.load[channel]);
        assert_int_equal(one->standing.label[channel], other->standing.label[channel]);
    }
    size_t words = one->standing.graph.first_word[network->switches.count];
    assert_memory_equal(one->standing.graph.bits, other->standing.graph.bits, words * 8);
    assert_memory_equal(one->standing.behind.bits, other->standing.behind.bits, words * 8);
}

/* There are 144 LIDs in the part that lost a switch: more than are mended at a time. */
static void groups_are_mended_alike_by_any_number_of_workers(void **state)
{
    const char *names[] = {"ftree", "updn", "minhop"};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct tree tree = {0};
        struct repair one = {0}, other = {0};
        struct dependency_graph graph, other_graph;
        uint64_t operations = 0;
        struct err err;
        tree_init(&tree, names[i], "k=12");
        tree_change(&tree, middle_switch(&tree.before), NETWORK_NONE);
        repair_by(&tree, NULL, &one, &graph);
        assert_int_equal(
            verify_change(&tree.after, &tree.held, &one, NULL, &graph, &operations, &err), 0);
        struct routes mended = tree.held;
        tree_hold(&tree);
        repair_by(&tree, &side_by_side, &other, &other_graph);
        assert_repairs_agree(&one, &other, &tree.after);
        for (uint32_t at = 0; at < tree.after.switches.count; at++)
            assert_memory_equal(routes_row(&mended, at), routes_row(&tree.held, at), mended.stride);
        dependency_release(&graph);
        dependency_release(&other_graph);
        routes_release(&mended);
        repair_release(&one);
        repair_release(&other);
        tree_release(&tree);
    }
}

/* What went up by the lost switch goes up by all the others, and about as much by each. */
static void what_led_to_a_lost_switch_is_spread_evenly(void **state)
{
    const char *names[] = {"ftree", "updn", "minhop"};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct tree tree = {0};
        struct repair repair = {0};
        struct dependency_graph graph;
        tree_init(&tree, names[i], "k=12");
        uint32_t leaf = tree.before.terminals.items[tree.before.terminals.count - 1].at;
        tree_change(&tree, middle_switch(&tree.before), NETWORK_NONE);
        repair_by(&tree, NULL, &repair, &graph);
        unsigned moved[256] = {0}, least = UINT_MAX, most = 0;
        for (size_t e = 0; e < repair.entries.count; e++)
            if (repair.entries.items[e].at == tree.to_new[leaf] &&
                !(tree.after.owner[repair.entries.items[e].lid] & NETWORK_SWITCH))
                moved[repair.entries.items[e].after]++;
        uint32_t at = tree.to_new[leaf];
        for (uint32_t e = tree.after.first_edge[at]; e < tree.after.first_edge[at + 1]; e++) {
            unsigned count = moved[tree.after.edges[e].port];
            least = count < least ? count : least;
            most = count > most ? count : most;
        }
        assert_true(most >= 10 && most <= least + 3);
        dependency_release(&graph);
        repair_release(&repair);
        tree_release(&tree);
    }
}

/* Whether a graph has all that a full check of the tables finds. */
static bool covers(const struct dependency_graph *graph, const struct tree *tree)
{
    struct dependency_graph found;
    struct verify_report report;
    bool all = true;
    verify_routes(&tree->after, &tree->held, &(struct verify_options){.keep = &found}, &report);
    assert_true(verify_holds(&report));
    for (size_t i = 0; i < found.first_word[tree->after.switches.count]; i++)
        all &= (found.bits[i] & ~graph->bits[i]) == 0;
    verify_report_release(&report);
    dependency_release(&found);
    return all;
}

/* Two cables are exchanged at a switch, and so are its entries; then everybody else's are right as
 * they were, but what they lead to is none of what was checked. */
static void the_check_counts_entries_that_stay_but_lead_elsewhere(void **state)
{
    const char *names[] = {"ftree", "updn", "minhop"};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct tree tree = {0};
        struct repair repair = {0};
        struct dependency_graph graph;
        struct err err;
        uint64_t operations = 0;
        tree_init(&tree, names[i], "k=6");
        uint32_t at = middle_switch(&tree.before);
        tree_change(&tree, NETWORK_NONE, at);
        assert_true(repair_compare(&repair, &tree.standing, &tree.before, &tree.routes, &tree.after,
                                   &tree.held, tree.to_new, NULL));
        dependency_move(&graph, &tree.graph, &tree.after, tree.to_new, repair.fresh);
        for (uint32_t lid = 1; lid <= tree.after.top_lid; lid++) {
            uint8_t port = routes_port(&tree.held, at, lid);
            uint8_t other = exchanged_port(&tree.before, at, at, port);
            if (other != port)
                vec_push(&repair.entries, ((struct repair_entry){at, (uint16_t)lid, port, other}));
            routes_row(&tree.held, at)[lid] = other;
        }
        assert_true(repair.entries.count > 0);
        /* Nobody has looked for an order of the new channels. */
        assert_int_equal(
            verify_change(&tree.after, &tree.held, &repair, NULL, &graph, &operations, &err),
            -EDEADLK);
        assert_true(covers(&graph, &tree));
        dependency_release(&graph);
        repair_release(&repair);
        tree_release(&tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_those_of_a_plain_search),
        cmocka_unit_test(all_that_leads_to_a_broken_end_is_found),
        cmocka_unit_test(a_lost_middle_switch_costs_the_broken_entries_only),
        cmocka_unit_test(groups_are_mended_alike_by_any_number_of_workers),
        cmocka_unit_test(what_led_to_a_lost_switch_is_spread_evenly),
        cmocka_unit_test(the_check_counts_entries_that_stay_but_lead_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
