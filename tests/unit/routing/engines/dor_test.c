/* Grids: coordinates from the network alone, routes in the order of dimensions, VLs for rings. */
#include "networks.h"

#include "routing/check/verify.h"
#include "routing/search/network_grid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

static void assert_grid(const char *kind, const char *const *words, size_t count, const char *name,
                        unsigned vls)
{
    struct network network;
    struct grid grid;
    struct routes routes;
    struct verify_report report;
    struct err err = {0};
    build_kind(&network, kind, words, count, 0, 1);
    if (network_grid(&grid, &network, ENGINE_VLS_DEFAULT, &err))
        fail_msg("%s: %s", name, err.message);
    assert_string_equal(grid.name, name);
    grid_release(&grid);
    if (engine_dor.compute(&network, &(struct engine_options){0}, &routes, &err))
        fail_msg("%s: %s", name, err.message);
    assert_int_equal(routes.vls, vls);
    verify_routes(&network, &routes, &(struct verify_options){0}, &report);
    if (!verify_passes(&report))
        fail_msg("%s: %s", name, report.findings.items[0]);
    verify_report_release(&report);
    routes_release(&routes);
    network_release(&network);
}

#define WORDS(...)                                                                                 \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)

static void grids_are_recognised_by_their_links(void **state)
{
    assert_grid("mesh", WORDS("dims=4x5x3"), "mesh 4x5x3", 1);
    assert_grid("mesh", WORDS("dims=7"), "mesh 7", 1);
    assert_grid("torus", WORDS("dims=5x6", "hosts=2", "parallel=2"), "torus 5x6", 4);
    assert_grid("torus", WORDS("dims=8x8x8"), "torus 8x8x8", 8);
    assert_grid("ring", WORDS("switches=6"), "torus 6", 2);
    assert_grid("hypercube", WORDS("n=5"), "hypercube 2x2x2x2x2", 1);
    assert_grid("hyperx", WORDS("dims=5x6", "hosts=1"), "HyperX 5x6", 1);
    /* A ring of four is also two by two, and one of three is a full mesh: the cables tell. */
    assert_grid("torus", WORDS("dims=4x4"), "torus 4x4", 4);
    assert_grid("torus", WORDS("dims=4x4x4", "parallel=2"), "torus 4x4x4", 8);
    assert_grid("torus", WORDS("dims=2x4x6"), "torus 2x4x6", 4);
    assert_grid("torus", WORDS("dims=4x3"), "torus 4x3", 2);
    assert_grid("ring", WORDS("switches=4"), "torus 4", 2);
    assert_grid("hypercube", WORDS("n=4"), "hypercube 2x2x2x2", 1);
    assert_grid("mesh", WORDS("dims=2x2x5"), "mesh 2x2x5", 1);
}

static void other_networks_are_refused(void **state)
{
    struct network network;
    struct routes routes;
    struct err err = {0};
    static const char *const kinds[] = {"irregular", "jellyfish", "dragonfly", "kary", "figure1"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        build_kind(&network, kinds[i], NULL, 0, 0, 1);
        if (engine_dor.compute(&network, &(struct engine_options){0}, &routes, &err) !=
            -EMEDIUMTYPE)
            fail_msg("%s is taken for a grid", kinds[i]);
        assert_non_null(strstr(err.message, "not a grid"));
        assert_null(routes.ports);
        network_release(&network);
    }
}

static void routes_are_minimal_and_loads_even(void **state)
{
    struct network network;
    struct routes routes;
    struct verify_report report;
    struct err err;
    build_kind(&network, "torus", WORDS("dims=6x6"), 0, 1);
    assert_int_equal(engine_dor.compute(&network, &(struct engine_options){0}, &routes, &err), 0);
    verify_routes(&network, &routes, &(struct verify_options){0}, &report);
    /* On a ring of six the others are 1, 1, 2, 2 and 3 hops away: 9 of 6, twice; and the host. */
    assert_int_equal(report.hops_sum, 36 * (35 + 2 * 6 * 9));
    assert_int_equal(report.hops_max, 7);
    /* 36 * 2 * 6 * 9 hops over 36 * 4 links, but a switch sends all packets to the opposite place
     * in one direction. */
    assert_true(report.load_max <= 30);
    verify_report_release(&report);
    routes_release(&routes);
    network_release(&network);
}

static void too_few_vls_are_an_error_with_the_number(void **state)
{
    struct network network;
    struct routes routes;
    struct err err = {0};
    struct engine_options four = {.max_vls = 4}, eight = {.max_vls = 8};
    build_kind(&network, "torus", WORDS("dims=5x5x5"), 0, 1);
    assert_int_equal(engine_dor.compute(&network, &four, &routes, &err), -ENOSPC);
    assert_non_null(strstr(err.message, "takes 8 VLs, and there are 4"));
    assert_int_equal(engine_dor.compute(&network, &eight, &routes, &err), 0);
    routes_release(&routes);
    network_release(&network);
}

static void cut(struct network *network, uint32_t at, unsigned port)
{
    struct network_port *near =
        &network->ports.items[network->switches.items[at].first_port + port];
    struct network_port *far =
        &network->ports.items[network->switches.items[near->peer & ~NETWORK_SWITCH].first_port +
                              near->peer_port];
    near->peer = far->peer = NETWORK_NONE;
    network_finish(network);
}

static void a_ring_that_lost_a_link_uses_the_other_direction(void **state)
{
    struct network network;
    struct routes routes;
    struct verify_report report;
    struct err err = {0};
    build_kind(&network, "torus", WORDS("dims=6x5"), 0, 1);
    cut(&network, 0, 1);
    if (engine_dor.compute(&network, &(struct engine_options){0}, &routes, &err))
        fail_msg("%s", err.message);
    assert_non_null(strstr(routes.note, "links missing"));
    verify_routes(&network, &routes, &(struct verify_options){0}, &report);
    assert_true(verify_passes(&report));
    assert_int_equal(report.hops_max, 1 + 5 + 2);
    verify_report_release(&report);
    routes_release(&routes);
    network_release(&network);
}

static void a_mesh_that_lost_a_link_is_refused_by_name(void **state)
{
    struct network network;
    struct routes routes;
    struct err err = {0};
    build_kind(&network, "mesh", WORDS("dims=4x4x4"), 0, 1);
    uint32_t inner = 0; /* at the edge the lost link would leave a doubt */
    while (strcmp(network_name_of(&network, NETWORK_SWITCH | inner), "S1_1_1") != 0)
        inner++;
    cut(&network, inner, 1);
    assert_int_equal(engine_dor.compute(&network, &(struct engine_options){0}, &routes, &err),
                     -EMEDIUMTYPE);
    assert_non_null(strstr(err.message, "mesh 4x4x4 lacks a link: the next step from 'S"));
    assert_null(routes.ports);
    network_release(&network);
}

static void parallel_links_share_the_hosts(void **state)
{
    struct network network;
    struct routes routes;
    struct err err;
    build_kind(&network, "mesh", WORDS("dims=2x3", "hosts=4", "parallel=2"), 0, 1);
    assert_int_equal(engine_dor.compute(&network, &(struct engine_options){0}, &routes, &err), 0);
    for (uint32_t to = 1; to < network.switches.count; to++) {
        unsigned used[256] = {0};
        for (uint32_t i = network.first_terminal[to]; i < network.first_terminal[to + 1]; i++)
            used[routes_port(&routes, 0, network.terminals.items[network.terminals_at[i]].lid)]++;
        for (unsigned port = 0; port < 256; port++)
            assert_true(used[port] == 0 || used[port] == 2);
    }
    routes_release(&routes);
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_are_recognised_by_their_links),
        cmocka_unit_test(other_networks_are_refused),
        cmocka_unit_test(routes_are_minimal_and_loads_even),
        cmocka_unit_test(too_few_vls_are_an_error_with_the_number),
        cmocka_unit_test(a_ring_that_lost_a_link_uses_the_other_direction),
        cmocka_unit_test(a_mesh_that_lost_a_link_is_refused_by_name),
        cmocka_unit_test(parallel_links_share_the_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
