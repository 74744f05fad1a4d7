/* Costs of computing routes: the operations of the engines. */
#include "networks.h"

#include "routing/check/verify.h"
#include "routing/update/make_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>

enum { LMC = 5 }; /* enough for dr on the small networks here */

/* As large as those of the papers. */
static const struct size {
    const char *switches, *hosts;
} sizes[] = {
    {"switches=8", "hosts=7"},   {"switches=16", "hosts=14"}, {"switches=24", "hosts=22"},
    {"switches=32", "hosts=40"}, {"switches=48", "hosts=64"}, {"switches=64", "hosts=82"},
};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static void build_irregular(struct network *network, size_t size, uint8_t lmc, uint64_t seed)
{
    const char *words[] = {sizes[size].switches, sizes[size].hosts, "ports=4"};
    struct topology topology;
    struct err err = {0};
    topology_init(&topology);
    assert_int_equal(topology_generate(&topology, "irregular", words, 3, seed, &err), 0);
    assert_int_equal(network_from_topology_lmc(network, &topology, lmc, &err), 0);
    topology_release(&topology);
}

/* 0 if the engine has no answer to this kind of network. */
static uint64_t operations_of(const struct network *network, const struct engine *engine,
                              const struct workers *workers)
{
    struct engine_options options = {.workers = workers, .allow_cycles = true};
    struct routes routes;
    struct err err = {0};
    int rc = engine->compute(network, &options, &routes, &err);
    if (rc == -EMEDIUMTYPE)
        return 0;
    assert_int_equal(rc, 0);
    uint64_t operations = routes.operations;
    routes_release(&routes);
    return operations;
}

static void every_engine_counts_the_same_for_any_number_of_threads(void **state)
{
    const struct engine *engine;
    struct network network;
    build_irregular(&network, 2, LMC, 1);
    for (size_t i = 0; (engine = engine_at(i)); i++) {
        uint64_t alone = operations_of(&network, engine, NULL);
        assert_true(alone == 0 || alone >= network.switches.count * network.terminals.count);
        assert_int_equal(operations_of(&network, engine, &backwards), alone);
    }
    network_release(&network);
}

/* Three switches in a row with a host each, the root in the middle. */
static void build_row(struct network *network)
{
    network_init(network);
    for (unsigned i = 0; i < 3; i++)
        network_add_switch(network, 1 + i, (uint16_t)(1 + i), 0, 3);
    network->manager = 1;
    network_link(network, 0, 1, 1, 1);
    network_link(network, 1, 2, 2, 1);
    for (unsigned i = 0; i < 3; i++)
        network_add_terminal(network, 10 + i, (uint16_t)(10 + i), 0, i, 3);
    assert_int_equal(network_finish(network), 0);
}

/* Four edges, each in one row of distances relaxed and one compared, 15 rows more to prepare them;
 * six times a neighbour is the next hop; nine times a switch's entry and its host's. */
static void the_operations_of_a_small_network_can_be_counted_by_hand(void **state)
{
    struct network network;
    build_row(&network);
    uint64_t fera = 8 * (4 + 4 + 15) + 6 + 9 * 2;
    assert_int_equal(operations_of(&network, &engine_fera, NULL), fera);
    /* For each destination, distances and the completion of a table read four edges and three
     * switches twice, and the entries of three switches are written and counted. A path costs the
     * edges of its switches and its hops, both to compare and to write: 2 * 3 from the root, 2 * 5
     * from one end of the row to the other, 2 * 2 to the root. The path of the root is written
     * first. */
    uint64_t paths = 2 * (3 + 2 * 3 + 2 * 5) + 2 * (2 * 2);
    assert_int_equal(operations_of(&network, &engine_dr, NULL),
                     fera + 3 * (2 * 2 * (4 + 3) + 2 * 3) + paths);
    /* Two switches below the root: one vector each to copy, three looks at their edge. Then the
     * entries. */
    assert_int_equal(operations_of(&network, &engine_pira, NULL), 2 * (1 + 3) + 9 * 2);
    network_release(&network);
}

static void a_larger_network_takes_more_operations_with_every_engine(void **state)
{
    const struct engine *engine;
    for (size_t i = 0; (engine = engine_at(i)); i++) {
        uint64_t before = 0;
        for (size_t size = 0; size < SIZES; size++) {
            struct network network;
            build_irregular(&network, size, LMC, 1);
            uint64_t operations = operations_of(&network, engine, NULL);
            assert_true(operations > before || (operations == 0 && before == 0));
            before = operations;
            network_release(&network);
        }
    }
}

static void more_lids_take_more_operations(void **state)
{
    const struct engine *spreading[] = {&engine_pira, &engine_updn, &engine_minhop};
    struct network one, many;
    build_irregular(&one, 1, 0, 1);
    build_irregular(&many, 1, 3, 1);
    for (size_t i = 0; i < 3; i++)
        assert_true(operations_of(&many, spreading[i], NULL) >
                    2 * operations_of(&one, spreading[i], NULL));
    network_release(&one);
    network_release(&many);
}

static void a_refusal_counts_its_operations(void **state)
{
    struct network network;
    struct routes routes;
    struct err err = {0};
    build_ring(&network, 6);
    assert_true(engine_minhop.compute(&network, &(struct engine_options){0}, &routes, &err) < 0);
    assert_true(routes.operations > verify_operations(&network, &routes));
    assert_null(routes.ports);
    network_release(&network);
}

static void a_second_attempt_counts_the_operations_of_both(void **state)
{
    /* Two spines, each without a link to one of the leaves: the top stage as roots is of no use. */
    struct network network;
    build_torn_tree(&network);
    uint64_t with_second_try = operations_of(&network, &engine_updn, NULL);
    struct engine_options centre = {.root = ROOT_CENTRE};
    struct routes routes;
    struct err err = {0};
    assert_int_equal(engine_updn.compute(&network, &centre, &routes, &err), 0);
    /* The first try filled tables, too. */
    assert_true(with_second_try > routes.operations + 5 * (5 + 3));
    routes_release(&routes);
    network_release(&network);
}

static void a_check_counts_every_entry_in_use(void **state)
{
    struct network network;
    struct routes routes = {.vls = 1};
    build_figure1(&network);
    assert_int_equal(verify_operations(&network, &routes), 5 * 15 * 8);
    routes.vls = 2;
    assert_int_equal(verify_operations(&network, &routes), 6 * 15 * 8);
    network_release(&network);
}

static void planning_an_update_counts_all_attempts(void **state)
{
    struct network network;
    struct routes pira, fera;
    struct update_plan there, back, nothing;
    struct err err = {0};
    build_irregular(&network, 5, 0, 1);
    assert_int_equal(engine_pira.compute(&network, &(struct engine_options){0}, &pira, &err), 0);
    assert_int_equal(engine_fera.compute(&network, &(struct engine_options){0}, &fera, &err), 0);
    update_plan_make(&nothing, &network, &fera, &fera);
    update_plan_make(&there, &network, &pira, &fera);
    update_plan_make(&back, &network, &fera, &pira);
    assert_int_equal(update_plan_drains(&there), 0);
    assert_true(update_plan_drains(&back) > 0); /* so that every strategy was tried */
    uint64_t entries = routes_compare(&pira, &fera).entries;
    assert_true(there.operations > nothing.operations + there.work + entries); /* and the graph's */
    assert_true(back.operations > 6 * there.operations);
    update_plan_release(&there);
    update_plan_release(&back);
    update_plan_release(&nothing);
    routes_release(&pira);
    routes_release(&fera);
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_engine_counts_the_same_for_any_number_of_threads),
        cmocka_unit_test(the_operations_of_a_small_network_can_be_counted_by_hand),
        cmocka_unit_test(a_larger_network_takes_more_operations_with_every_engine),
        cmocka_unit_test(more_lids_take_more_operations),
        cmocka_unit_test(a_refusal_counts_its_operations),
        cmocka_unit_test(a_second_attempt_counts_the_operations_of_both),
        cmocka_unit_test(a_check_counts_every_entry_in_use),
        cmocka_unit_test(planning_an_update_counts_all_attempts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
