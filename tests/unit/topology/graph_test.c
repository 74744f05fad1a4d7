#include "support.h"

#include "topology/analysis/summary.h"

static void edges_are_in_port_order_and_lead_back(void **state)
{
    struct topology t;
    struct graph g;
    must_generate(&t, "irregular 40 ports=6 hosts=30 parallel=1", 4);
    graph_init(&g, &t);
    assert_int_equal(g.switch_count, 40);
    assert_int_equal(g.host_count, 30);
    for (uint32_t i = 0; i < g.switch_count; i++) {
        assert_int_equal(g.switch_of[g.node[i]], i);
        for (uint32_t e = g.first_edge[i]; e < g.first_edge[i + 1]; e++) {
            uint32_t port = topology_port_index(&t, g.node[i], g.port[e]);
            uint32_t peer = topology_port_index(&t, g.node[g.neighbour[e]], g.peer_port[e]);
            assert_int_equal(t.ports.items[port].peer, peer);
            if (e > g.first_edge[i])
                assert_true(g.port[e] > g.port[e - 1]);
        }
        for (uint32_t h = g.first_host[i]; h < g.first_host[i + 1]; h++)
            assert_int_equal(t.ports.items[g.host[h]].peer,
                             topology_port_index(&t, g.node[i], g.host_port[h]));
    }
    graph_release(&g);
    topology_release(&t);
}

static void adapters_with_several_ports_are_attached_to_each_of_their_switches(void **state)
{
    struct topology t;
    struct graph g;
    must_read(&t, "Switch 4 \"a\"\n[1] \"h\"[1]\n[2] \"b\"[2]\n[3] \"a\"[4]\n[4] \"a\"[3]\n"
                  "Hca 2 \"h\"\nSwitch 4 \"b\"\n[1] \"h\"[2]\nHca 1 \"x\"\n[1] \"y\"[1]\n"
                  "Hca 1 \"y\"\n");
    graph_init(&g, &t);
    assert_int_equal(g.host_count, 2);
    assert_int_equal(g.edge_count, 2); /* neither a-a nor x-y */
    assert_int_equal(g.host[g.first_host[0]], topology_port_index(&t, 1, 1));
    assert_int_equal(g.host[g.first_host[1]], topology_port_index(&t, 1, 2));
    graph_release(&g);
    topology_release(&t);
}

struct expected {
    const char *words, *kind;
    uint32_t diameter, bisection, levels;
};

static void check_summary(const struct expected *expected)
{
    struct topology t;
    struct graph g;
    struct topology_summary s;
    must_generate(&t, expected->words, 2);
    graph_init(&g, &t);
    topology_summarise(&t, &g, &s);
    if (strcmp(s.kind, expected->kind) != 0 || s.diameter != expected->diameter ||
        s.bisection != expected->bisection || s.level_count != expected->levels)
        fail_msg("%s: %s, diameter %u, bisection %u, %u levels", expected->words, s.kind,
                 s.diameter, s.bisection, s.level_count);
    assert_true(s.diameter_is_exact);
    assert_int_equal(s.parts, 1);
    graph_release(&g);
    topology_release(&t);
}

static void networks_are_recognised_and_measured(void **state)
{
    static const struct expected cases[] = {
        {"ring 6", "ring", 3, 2, 1},
        {"mesh 9", "line", 8, 1, 1},
        {"torus 4x4", "hypercube of 4 dimensions, torus 4x4", 4, 8, 1},
        {"torus 4x5x6", "torus 4x5x6", 7, 40, 1},
        {"torus 5x5 parallel=3", "torus 5x5, every link 3-fold", 4, 36, 1},
        {"mesh 4x4", "mesh 4x4", 6, 4, 1},
        {"mesh 3x4x6", "mesh 3x4x6", 10, 12, 1},
        {"hypercube 6", "hypercube of 6 dimensions, torus 4x4x4", 6, 32, 1},
        {"hypercube 5", "hypercube of 5 dimensions, torus 2x4x4", 5, 16, 1},
        {"hyperx 4x4", "HyperX 4x4", 2, 16, 1},
        {"hyperx 6", "full mesh", 1, 9, 1},
        {"dragonfly 2 4 2", "dragonfly of 9 groups of 4", 3, 20, 1},
        {"clos 3 1 4", "fat tree XGFT(2; 1,4; 1,3), folded Clos (3,1,4)", 2, 6, 2},
        {"kary 4 3", "fat tree XGFT(3; 4,4,4; 1,4,4), 4-ary 3-tree", 4, 32, 3},
        {"fattree 648", "fat tree XGFT(2; 18,36; 1,18), folded Clos (18,18,36)", 2, 324, 2},
        {"fattree m=6,2,2 w=1,1,1", "tree of 3 levels", 4, 1, 3},
        {"irregular 1 hosts=2", "single switch", 0, 0, 1},
        {"figure1", "irregular", 4, 2, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_summary(&cases[i]);
}

static void random_networks_are_not_taken_for_regular_ones(void **state)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct topology t;
        struct graph g;
        char kind[160];
        must_generate(&t, "jellyfish 64 ports=8 degree=6", seed);
        graph_init(&g, &t);
        topology_recognise(&g, kind, sizeof kind);
        assert_string_equal(kind, "regular of degree 6, jellyfish-like");
        graph_release(&g);
        topology_release(&t);
    }
}

static void components_and_unlinked_nodes_are_counted(void **state)
{
    struct topology t;
    struct graph g;
    struct topology_summary s;
    must_read(&t, "Switch 4 \"a\"\n[1] \"b\"[1]\n[2] \"b\"[2]\n[3] \"a\"[4]\nSwitch 4 \"b\"\n"
                  "Switch 4 \"c\"\n[1] \"r\"[1]\nRt 1 \"r\"\nHca 1 \"x\"\n[1] \"y\"[1]\n"
                  "Hca 1 \"y\"\nHca 1 \"z\"\n");
    graph_init(&g, &t);
    topology_summarise(&t, &g, &s);
    assert_int_equal(s.switches, 3);
    assert_int_equal(s.adapters, 3);
    assert_int_equal(s.routers, 1);
    assert_int_equal(s.switch_links, 2);
    assert_int_equal(s.parallel_links, 1);
    assert_int_equal(s.host_links, 1);
    assert_int_equal(s.other_links, 2);
    assert_int_equal(s.free_ports, 0 + 2 + 3);
    assert_int_equal(s.loose_nodes, 1);
    assert_int_equal(s.parts, 2);
    assert_string_equal(s.kind, "separate parts, every link 2-fold");
    graph_release(&g);
    topology_release(&t);
}

static void a_fabric_without_switches_is_summarised_too(void **state)
{
    struct topology t;
    struct graph g;
    struct topology_summary s;
    must_read(&t, "Hca 1 \"x\"\n[1] \"y\"[1]\nHca 1 \"y\"\n");
    graph_init(&g, &t);
    topology_summarise(&t, &g, &s);
    assert_string_equal(s.kind, "no switches");
    assert_int_equal(s.other_links, 1);
    graph_release(&g);
    topology_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_are_in_port_order_and_lead_back),
        cmocka_unit_test(adapters_with_several_ports_are_attached_to_each_of_their_switches),
        cmocka_unit_test(networks_are_recognised_and_measured),
        cmocka_unit_test(random_networks_are_not_taken_for_regular_ones),
        cmocka_unit_test(components_and_unlinked_nodes_are_counted),
        cmocka_unit_test(a_fabric_without_switches_is_summarised_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
