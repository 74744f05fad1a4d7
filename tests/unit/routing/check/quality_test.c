/* Figures of quality on networks where they can be counted by hand; and hints of the user. */
#include "networks.h"

#include "routing/check/quality.h"
#include "routing/check/verify.h"
#include "routing/engine/hints.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

/* Two switches with `hosts` each and `links` between them. */
static void build_pair(struct network *network, unsigned hosts, unsigned links)
{
    network_init(network);
    for (unsigned i = 0; i < 2; i++) {
        network_add_switch(network, 1 + i, (uint16_t)(1 + i), 0, 16);
        for (unsigned host = 0; host < hosts; host++)
            network_add_terminal(network, 0x10 + i * hosts + host,
                                 (uint16_t)(10 + i * hosts + host), 0, i, 16 - host);
    }
    for (unsigned link = 1; link <= links; link++)
        network_link(network, 0, link, 1, link);
    assert_int_equal(network_finish(network), 0);
}

static void compute(const struct network *network, const struct engine_options *options,
                    struct routes *routes)
{
    struct err err = {0};
    if (engine_updn.compute(network, options, routes, &err))
        fail_msg("%s", err.message);
}

static void a_single_link_is_shared_by_all_its_flows(void **state)
{
    struct network network;
    struct routes routes;
    struct quality quality;
    struct quality_options options = {.seed = 1, .pairings = 3000, .shifts = 100};
    build_pair(&network, 2, 1);
    compute(&network, &(struct engine_options){0}, &routes);
    quality_measure(&network, &routes, &options, &quality);
    /* Of the three pairings of four hosts one stays at home and has all, two share the link. */
    assert_true(quality.bandwidth_mean > 0.64 && quality.bandwidth_mean < 0.69);
    assert_true(quality.bandwidth_low > 0.4999 && quality.bandwidth_low < 0.5001);
    /* LIDs 10 to 13: a shift by two sends both hosts across. */
    assert_int_equal(quality.shifts, 3);
    assert_int_equal(quality.shift_load_max, 2);
    assert_true(quality.shift_load_mean > 1.33 && quality.shift_load_mean < 1.34);
    assert_int_equal(quality.pairs, 12);
    assert_int_equal(quality.hops_sum, 4 * 1 + 8 * 2);
    assert_int_equal(quality.hops_least_sum, quality.hops_sum);
    routes_release(&routes);
    network_release(&network);
}

static void enough_links_give_full_bandwidth(void **state)
{
    struct network network;
    struct routes routes;
    struct quality quality;
    struct quality_options options = {.seed = 1, .pairings = 100, .shifts = 100};
    build_pair(&network, 2, 2);
    compute(&network, &(struct engine_options){0}, &routes);
    quality_measure(&network, &routes, &options, &quality);
    assert_true(quality.bandwidth_low > 0.9999);
    assert_int_equal(quality.shift_load_max, 1);
    routes_release(&routes);
    network_release(&network);
}

static void detours_and_losses_are_counted(void **state)
{
    struct network network;
    struct routes routes;
    struct quality quality;
    struct quality_options options = {.seed = 1, .pairings = 10, .shifts = 10};
    build_ring(&network, 5);
    compute(&network, &(struct engine_options){0}, &routes);
    quality_measure(&network, &routes, &options, &quality);
    /* The link opposite to the root is not crossed by those at its ends' far sides. */
    assert_int_equal(quality.hops_over_max, 1);
    assert_int_equal(quality.pairs, 20);
    assert_true(quality.hops_sum > quality.hops_least_sum);
    double before = quality.bandwidth_mean;
    for (uint32_t at = 1; at < 5; at++)
        routes_row(&routes, at)[6] = PORT_NONE;
    quality_measure(&network, &routes, &options, &quality);
    assert_int_equal(quality.pairs, 16);
    assert_true(quality.bandwidth_mean < before);
    routes_release(&routes);
    network_release(&network);
}

/* A random graph with many equal paths: poor balance shows as load. */
static void loads_are_balanced_over_equal_paths(void **state)
{
    struct network network;
    struct routes routes;
    struct verify_report report;
    struct err err;
    struct engine_options allow = {.allow_cycles = true};
    const char *const words[] = {"switches=60", "ports=14", "degree=8"};
    build_kind(&network, "jellyfish", words, 3, 0, 1);
    assert_int_equal(engine_minhop.compute(&network, &allow, &routes, &err), 0);
    verify_routes(&network, &routes, &(struct verify_options){0}, &report);
    assert_true(report.load_max * report.channels < report.load_sum * 6 / 5);
    verify_report_release(&report);
    routes_release(&routes);
    network_release(&network);
}

static void figures_do_not_depend_on_threads(void **state)
{
    struct network network;
    struct routes routes;
    struct quality alone, together;
    struct quality_options options = {.seed = 7, .pairings = 50, .shifts = 50};
    build_kind(&network, "irregular", (const char *const[]){"switches=24", "ports=6"}, 2, 0, 1);
    compute(&network, &(struct engine_options){0}, &routes);
    quality_measure(&network, &routes, &options, &alone);
    options.workers = &backwards;
    quality_measure(&network, &routes, &options, &together);
    assert_memory_equal(&alone, &together, sizeof alone);
    options.seed = 8;
    quality_measure(&network, &routes, &options, &together);
    assert_true(alone.bandwidth_mean != together.bandwidth_mean);
    routes_release(&routes);
    network_release(&network);
}

static unsigned on_port(const struct network *network, const struct routes *routes, uint8_t port)
{
    unsigned count = 0;
    for (uint32_t i = network->first_terminal[1]; i < network->first_terminal[2]; i++)
        count +=
            routes_port(routes, 0, network->terminals.items[network->terminals_at[i]].lid) == port;
    return count;
}

static void a_port_of_weight_two_gets_half_as_much(void **state)
{
    struct network network;
    struct routes routes;
    struct port_weights weights;
    struct err err;
    build_pair(&network, 6, 2);
    assert_int_equal(
        port_weights_read(&weights, from_text("w", "# slow\n0x1 2 2\n0x99 1 5\n", &err)), 0);
    compute(&network, &(struct engine_options){.weights = &weights}, &routes);
    assert_int_equal(on_port(&network, &routes, 1), 4);
    assert_int_equal(on_port(&network, &routes, 2), 2);
    routes_release(&routes);
    port_weights_release(&weights);
    network_release(&network);
}

static void listed_hosts_come_first_in_their_order(void **state)
{
    struct network network;
    struct routes routes;
    struct guid_list list;
    struct err err;
    build_pair(&network, 6, 2);
    /* Hosts of the second switch are 0x16 to 0x1b. Without a list 0x17 and 0x19 share a link. */
    assert_int_equal(
        guid_list_read(&list, from_text("l", "0x17\n0x19 # and\n\n0x18\n0x1a\n", &err)), 0);
    compute(&network, &(struct engine_options){.first = &list}, &routes);
    uint8_t first = routes_port(&routes, 0, 17), second = routes_port(&routes, 0, 19);
    assert_int_not_equal(first, second);
    assert_int_equal(routes_port(&routes, 0, 18), first);
    assert_int_equal(routes_port(&routes, 0, 20), second);
    assert_int_equal(on_port(&network, &routes, 1), 3);
    routes_release(&routes);
    guid_list_release(&list);
    network_release(&network);
}

static void a_seed_reorders_equal_paths_and_keeps_the_balance(void **state)
{
    struct network network;
    struct routes plain, scattered;
    struct verify_report a, b;
    build_kind(&network, "clos", (const char *const[]){"m=4", "n=4", "r=6"}, 3, 0, 1);
    compute(&network, &(struct engine_options){0}, &plain);
    compute(&network, &(struct engine_options){.scatter = 5}, &scattered);
    assert_true(routes_compare(&plain, &scattered).entries > 0);
    verify_routes(&network, &scattered, &(struct verify_options){0}, &a);
    verify_routes(&network, &plain, &(struct verify_options){0}, &b);
    assert_true(verify_passes(&a));
    assert_int_equal(a.load_sum, b.load_sum);
    for (uint32_t at = 0; at < network.switches.count; at++) {
        if (!network_terminal_count(&network, at))
            continue;
        for (uint32_t e = network.first_edge[at]; e < network.first_edge[at + 1]; e++) {
            uint32_t channel = network.switches.items[at].first_port + network.edges[e].port;
            assert_int_equal(a.load[channel], b.load[channel]); /* up, all are alike */
        }
    }
    verify_report_release(&a);
    verify_report_release(&b);
    routes_release(&plain);
    routes_release(&scattered);
    network_release(&network);
}

static void bad_hints_are_errors_with_their_line(void **state)
{
    static const char *const guids[] = {"0x1\n12\n", "0x1\n0x\n", "0x1\n0x2 0x3\n", "0x1\n0x2x\n"};
    static const char *const weights[] = {"0x1 1 1\n0x1 1\n", "0x1 1 1\n0x1 0 1\n",
                                          "0x1 1 1\n0x1 1 0\n", "0x1 1 1\n1 1 1 1\n"};
    for (size_t i = 0; i < 4; i++) {
        struct guid_list list;
        struct port_weights some;
        struct err err = {0};
        assert_int_equal(guid_list_read(&list, from_text("file", guids[i], &err)), -EINVAL);
        assert_int_equal(err.line, 2);
        assert_int_equal(port_weights_read(&some, from_text("file", weights[i], &err)), -EINVAL);
        assert_int_equal(err.line, 2);
        assert_string_equal(err.file, "file");
    }
}

/* Two ports of an adapter can be named by its GUID. */
static void lists_name_ports_or_adapters(void **state)
{
    struct network network;
    struct guid_list list;
    struct err err;
    size_t count;
    build_pair(&network, 2, 1);
    network.terminals.items[0].node_guid = network.terminals.items[3].node_guid = 0x500;
    assert_int_equal(guid_list_read(&list, from_text("l", "0x12\n0x500\n0x12\n0x77\n", &err)), 0);
    uint32_t *found = guid_list_terminals(&list, &network, &count);
    assert_int_equal(count, 3);
    assert_int_equal(found[0], 2);
    assert_int_equal(found[1], 0);
    assert_int_equal(found[2], 3);
    mem_free(found);
    guid_list_release(&list);
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_link_is_shared_by_all_its_flows),
        cmocka_unit_test(enough_links_give_full_bandwidth),
        cmocka_unit_test(detours_and_losses_are_counted),
        cmocka_unit_test(loads_are_balanced_over_equal_paths),
        cmocka_unit_test(figures_do_not_depend_on_threads),
        cmocka_unit_test(a_port_of_weight_two_gets_half_as_much),
        cmocka_unit_test(listed_hosts_come_first_in_their_order),
        cmocka_unit_test(a_seed_reorders_equal_paths_and_keeps_the_balance),
        cmocka_unit_test(bad_hints_are_errors_with_their_line),
        cmocka_unit_test(lists_name_ports_or_adapters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
