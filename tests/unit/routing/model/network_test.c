/* Networks from topologies, and their limits. */
#include "networks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

static int read_network(const char *text, struct network *network, struct err *err)
{
    struct topology topology;
    topology_init(&topology);
    int rc = topology_read(&topology, from_text("net", text, err));
    if (rc)
        fail_msg("%s", err->message);
    rc = network_from_topology(network, &topology, err);
    topology_release(&topology);
    return rc;
}

/* The lowest switch, then its ports in order, then those of the switches behind them. Switches and
 * terminals are in the order of LIDs. */
static void lids_follow_the_ports_from_the_switch_with_the_lowest_guid(void **state)
{
    static const char *const nets[] = {
        "switchguid=0x9\nSwitch 4 \"b\"\n\n"
        "caguid=0x1\nHca 2 \"m\"\n[1] \"a\"[3]\n[2] \"b\"[3]\n\n"
        "switchguid=0x5\nSwitch 4 \"a\"\n[1] \"b\"[1]\n[2] \"h\"[1]\n\n"
        "caguid=0x6\nHca 1 \"h\"\n",
        "caguid=0x6\nHca 1 \"h\"\n\n"
        "switchguid=0x5\nSwitch 4 \"a\"\n[1] \"b\"[1]\n[2] \"h\"[1]\n\n"
        "switchguid=0x9\nSwitch 4 \"b\"\n\n"
        "caguid=0x1\nHca 2 \"m\"\n[1] \"a\"[3]\n[2] \"b\"[3]\n"};
    for (size_t i = 0; i < 2; i++) {
        struct network network;
        struct err err = {0};
        assert_int_equal(read_network(nets[i], &network, &err), 0);
        assert_int_equal(network.switches.count, 2);
        assert_int_equal(network.switches.items[0].guid, 5); /* a */
        assert_int_equal(network.switches.items[0].lid, 1);
        assert_int_equal(network.switches.items[1].lid, 2); /* b, port 1 of a */
        assert_int_equal(network.terminals.count, 3);
        assert_int_equal(network.terminals.items[0].lid, 3); /* h, port 2 of a */
        assert_int_equal(network.terminals.items[1].lid, 4); /* m port 1, port 3 of a */
        assert_int_equal(network.terminals.items[2].lid, 5); /* m port 2, port 3 of b */
        assert_int_equal(network.manager, i == 0);           /* the first node: b; h at a */
        assert_int_equal(network.owner[5], 2);
        network_release(&network);
    }
}

static void lids_of_the_file_are_kept_and_the_others_fit_around_them(void **state)
{
    static const char net[] =
        "switchguid=0x10(10)\nSwitch 4 \"S-0000000000000010\" # \"a\" base port 0 lid 1 lmc 0\n"
        "[1] \"H-0000000000000020\"[1](21) # \"h\" lid 8 4xSDR\n"
        "[2] \"S-0000000000000030\"[1] # \"b\" lid 0 4xSDR\n\n"
        "switchguid=0x30(30)\nSwitch 4 \"S-0000000000000030\" # \"b\" base port 0 lid 0 lmc 0\n"
        "[1] \"S-0000000000000010\"[2] # \"a\" lid 1 4xSDR\n\n"
        "caguid=0x20\nCa 1 \"H-0000000000000020\" # \"h\"\n"
        "[1](21) \"S-0000000000000010\"[1] # lid 8 lmc 3 \"a\" lid 1 4xSDR\n";
    struct network network;
    struct err err = {0};
    assert_int_equal(read_network(net, &network, &err), 0);
    assert_int_equal(network.switches.items[0].lid, 1);
    assert_int_equal(network.switches.items[1].lid, 2);
    assert_int_equal(network.terminals.items[0].lid, 8);
    assert_int_equal(network.terminals.items[0].lmc, 3);
    assert_int_equal(network.top_lid, 15);
    for (unsigned lid = 8; lid < 16; lid++)
        assert_int_equal(network.owner[lid], 0);
    network_release(&network);
}

static void overlapping_lids_are_an_error_that_names_the_port(void **state)
{
    static const char net[] =
        "switchguid=0x10(10)\nSwitch 4 \"S-0000000000000010\" # \"a\" base port 0 lid 9 lmc 0\n"
        "[1] \"H-0000000000000020\"[1](21) # \"h\" lid 8 4xSDR\n\n"
        "caguid=0x20\nCa 1 \"H-0000000000000020\" # \"h\"\n"
        "[1](21) \"S-0000000000000010\"[1] # lid 8 lmc 1 \"a\" lid 9 4xSDR\n";
    struct network network;
    struct err err = {0};
    assert_int_equal(read_network(net, &network, &err), -EEXIST);
    assert_non_null(strstr(err.message, "'h'"));
    assert_non_null(strstr(err.message, "LID 9"));
}

static void lids_that_run_out_are_an_error(void **state)
{
    struct topology topology;
    struct network network;
    struct err err = {0};
    topology_init(&topology);
    assert_int_equal(
        topology_generate(&topology, "fattree", (const char *const[]){"648"}, 1, 1, &err), 0);
    assert_int_equal(network_from_topology_lmc(&network, &topology, 7, &err), -ENOSPC);
    assert_non_null(strstr(err.message, "LMC 7"));
    assert_int_equal(network_from_topology_lmc(&network, &topology, 6, &err), 0);
    assert_int_equal(network.terminals.items[0].lid % 64, 0);
    network_release(&network);
    topology_release(&topology);
}

static void a_port_takes_one_cable(void **state)
{
    struct network network;
    network_init(&network);
    assert_int_equal(network_add_switch(&network, 1, 1, 0, 2), 0);
    assert_int_equal(network_add_switch(&network, 2, 2, 0, 2), 1);
    assert_int_equal(network_link(&network, 0, 1, 1, 1), 0);
    assert_int_equal(network_link(&network, 0, 1, 1, 2), -EBUSY);
    assert_int_equal(network_link(&network, 0, 0, 1, 2), -EINVAL);
    assert_int_equal(network_link(&network, 0, 2, 1, 3), -EINVAL);
    assert_int_equal(network_link(&network, 0, 2, 0, 2), -EINVAL);
    assert_int_equal(network_link(&network, 0, 2, 7, 1), -EINVAL);
    assert_int_equal(network_add_terminal(&network, 3, 3, 0, 0, 1), NETWORK_NONE);
    assert_int_equal(network_add_terminal(&network, 3, 3, 0, 0, 2), 0);
    assert_int_equal(network_finish(&network), 0);
    assert_int_equal(network.first_edge[2], 2);
    network_release(&network);
}

static void a_duplicate_lid_stays_with_the_first_owner(void **state)
{
    struct network network;
    network_init(&network);
    network_add_switch(&network, 1, 4, 0, 4);
    network_add_terminal(&network, 2, 4, 0, 0, 1);      /* the switch's */
    network_add_terminal(&network, 3, 8, 2, 0, 2);      /* 8 to 11 */
    network_add_terminal(&network, 4, 11, 0, 0, 3);     /* one of them */
    network_add_terminal(&network, 5, 0xBFFF, 1, 0, 4); /* beyond the end */
    assert_int_equal(network_finish(&network), -EEXIST);
    assert_int_equal(network.owner[4], NETWORK_SWITCH);
    assert_int_equal(network.terminals.items[0].lid, 0);
    assert_int_equal(network.owner[11], 1);
    assert_int_equal(network.terminals.items[2].lid, 0);
    assert_int_equal(network.terminals.items[3].lid, 0);
    network_release(&network);
}

static bool leads_to_even(const void *context, uint32_t at, uint32_t to)
{
    (void)context, (void)at;
    return to % 2 == 0;
}

/* A distance is the least of the neighbours' and one more; `even`: over even switches only. */
static void check_distances(const struct network *network, uint32_t from, const uint32_t *distance,
                            bool even)
{
    for (uint32_t at = 0; at < network->switches.count; at++) {
        uint32_t least = at == from ? 0 : NETWORK_NONE;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint32_t other = distance[network->edges[e].to];
            if (at != from && (!even || at % 2 == 0) && other != NETWORK_NONE && other + 1 < least)
                least = other + 1;
        }
        assert_int_equal(distance[at], least);
    }
}

static void searches_find_the_nearest_first(void **state)
{
    uint32_t distance[30], queue[30], part[30];
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct network network;
        build_odd(&network, seed, 30);
        uint32_t switches = (uint32_t)network.switches.count;
        uint32_t parts = network_parts(&network, part);
        for (uint32_t from = 0; from < switches; from++) {
            uint32_t count = network_distances(&network, from, distance, queue), met = 0;
            check_distances(&network, from, distance, false);
            for (uint32_t at = 0; at < switches; at++) {
                assert_int_equal(distance[at] != NETWORK_NONE, part[at] == part[from]);
                met += distance[at] != NETWORK_NONE;
            }
            assert_int_equal(count, met);
            for (uint32_t i = 1; i < count; i++)
                assert_true(distance[queue[i - 1]] <= distance[queue[i]]);
            network_distances_if(&network, from, distance, queue, leads_to_even, NULL);
            check_distances(&network, from, distance, true);
            assert_true(part[from] < parts);
        }
        network_release(&network);
    }
}

/* The papers' manager does not read node descriptions. */
static void a_node_without_a_name_is_called_by_its_guid(void **state)
{
    struct network network;
    struct err err = {0};
    char label[NETWORK_LABEL_BYTES];
    (void)state;
    assert_int_equal(read_network("switchguid=0x5\nSwitch 4 \"a\"\n", &network, &err), 0);
    network_name(&network, NETWORK_SWITCH | 0, "spine");
    assert_string_equal(network_label(&network, NETWORK_SWITCH | 0, label), "'spine'");
    network_name(&network, NETWORK_SWITCH | 0, "");
    assert_string_equal(network_label(&network, NETWORK_SWITCH | 0, label),
                        "switch 0x0000000000000005");
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lids_follow_the_ports_from_the_switch_with_the_lowest_guid),
        cmocka_unit_test(lids_of_the_file_are_kept_and_the_others_fit_around_them),
        cmocka_unit_test(overlapping_lids_are_an_error_that_names_the_port),
        cmocka_unit_test(lids_that_run_out_are_an_error),
        cmocka_unit_test(a_port_takes_one_cable),
        cmocka_unit_test(a_duplicate_lid_stays_with_the_first_owner),
        cmocka_unit_test(searches_find_the_nearest_first),
        cmocka_unit_test(a_node_without_a_name_is_called_by_its_guid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
