/* The order of channels that is kept while dependencies are added, against a plain search. */
#include "networks.h"

#include "routing/cdg/standing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Standing with no dependencies at all. */
static void begin_empty(struct standing *standing, const struct network *network)
{
    struct dependency_graph graph;
    struct verify_report report = {0};
    dependency_init(&graph, network, 1);
    report.load = mem_zalloc(network->ports.count + 1, sizeof *report.load);
    assert_true(standing_take(standing, &graph, &report, NULL));
    standing_begin(standing);
}

static bool closes_circle(const struct standing *standing, const struct network *network,
                          struct standing_edge edge)
{
    struct dependency_graph copy;
    struct verify_report report = {0};
    dependency_copy(&copy, &standing->graph);
    dependency_add(&copy, edge.at, edge.in, 0, edge.out, 0);
    bool circle = dependency_find_cycle(&copy, &report) ||
                  standing_tail(standing, edge) == standing_head(standing, edge);
    vec_release(&report.cycle);
    dependency_release(&copy);
    (void)network;
    return circle;
}

static bool order_holds(const struct standing *standing, const struct network *network)
{
    for (uint32_t at = 0; at < network->switches.count; at++)
        for (uint32_t in = network->first_edge[at]; in < network->first_edge[at + 1]; in++)
            for (uint32_t out = network->first_edge[at]; out < network->first_edge[at + 1]; out++) {
                struct standing_edge edge = {at, network->edges[in].port, network->edges[out].port,
                                             0};
                if (standing_has(standing, edge) &&
                    standing->label[standing_tail(standing, edge)] >=
                        standing->label[standing_head(standing, edge)])
                    return false;
            }
    return true;
}

static void an_edge_is_refused_only_if_it_closes_a_circle(void **state)
{
    unsigned refused = 0, taken = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct draft draft;
        struct network network;
        struct standing standing;
        struct rng rng;
        rng_seed(&rng, seed, 7);
        draft_random(&draft, seed, 14);
        draft_build(&draft, 0, &network);
        begin_empty(&standing, &network);
        for (unsigned i = 0; i < 300; i++) {
            uint32_t at = (uint32_t)rng_below(&rng, network.switches.count);
            uint32_t first = network.first_edge[at], count = network.first_edge[at + 1] - first;
            if (count == 0)
                continue;
            struct standing_edge edge = {at, network.edges[first + rng_below(&rng, count)].port,
                                         network.edges[first + rng_below(&rng, count)].port, 0};
            bool circle = closes_circle(&standing, &network, edge);
            assert_int_equal(standing_add(&standing, edge), !circle);
            refused += circle;
            taken += !circle;
            if (i % 7)
                standing_keep(&standing);
            else
                standing_undo(&standing);
        }
        assert_true(order_holds(&standing, &network));
        standing_end(&standing);
        standing_release(&standing);
        network_release(&network);
        draft_release(&draft);
    }
    assert_true(refused > 500 && taken > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edge_is_refused_only_if_it_closes_a_circle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
