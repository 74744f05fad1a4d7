/* Networks joined by routers, and the subnets of the result. */
#include "support.h"
#include "topology/analysis/subnets.h"
#include "topology/generators/join.h"

#include <string.h>

static void count_subnets(const struct topology *topology, uint32_t expected)
{
    struct graph graph;
    uint32_t *subnet_of = mem_alloc((topology->ports.count + 1) * sizeof *subnet_of);
    graph_init(&graph, topology);
    assert_int_equal(topology_subnets(topology, &graph, subnet_of), expected);
    for (uint32_t i = 0; i < topology->ports.count; i++) {
        uint32_t peer = topology->ports.items[i].peer;
        if (peer != TOPOLOGY_NONE)
            assert_int_equal(subnet_of[i], subnet_of[peer]);
    }
    graph_release(&graph);
    mem_free(subnet_of);
}

static uint32_t routers_of(const struct topology *topology)
{
    uint32_t routers = 0;
    for (uint32_t i = 0; i < topology->nodes.count; i++)
        routers += topology->nodes.items[i].kind == NODE_ROUTER;
    return routers;
}

/* Each router has its ports in different subnets, and no subnet reaches another without one. */
static void test_shapes(void **state)
{
    static const struct {
        enum join_shape shape;
        unsigned routers, ports;
    } cases[] = {{JOIN_STAR, 2, 3}, {JOIN_CHAIN, 4, 2}, {JOIN_RING, 6, 2}};
    struct topology parts[3], joined;
    must_generate(&parts[0], "irregular 16 ports=8", 1);
    must_generate(&parts[1], "clos m=2 n=1 r=3", 1); /* without a free port */
    must_generate(&parts[2], "irregular 4 ports=8", 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct err err = {0};
        topology_init(&joined);
        assert_int_not_equal(topology_join(&joined, parts, 3, cases[i].shape, 2, &err), 0);
        assert_non_null(strstr(err.message, "no switch of part 2 has a free port"));
        assert_int_equal(joined.nodes.count, 0);
    }
    topology_release(&parts[1]);
    must_generate(&parts[1], "irregular 9 ports=9", 2);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct err err = {0};
        topology_init(&joined);
        if (topology_join(&joined, parts, 3, cases[i].shape, 2, &err))
            fail_msg("%s", err.message);
        assert_int_equal(routers_of(&joined), cases[i].routers);
        assert_int_equal(joined.nodes.items[joined.nodes.count - 1].port_count, cases[i].ports);
        count_subnets(&joined, 3);
        topology_release(&joined);
    }
    for (size_t i = 0; i < 3; i++)
        topology_release(&parts[i]);
}

/* Equal parts: the second gets new GUIDs and names, and the text of the result can be read back. */
static void test_same_parts(void **state)
{
    struct topology parts[2], joined, again;
    struct err err;
    struct text text = {0}, repeated = {0};
    must_generate(&parts[0], "irregular 6 ports=8", 1);
    must_generate(&parts[1], "irregular 6 ports=8", 1);
    topology_init(&joined);
    assert_int_equal(topology_join(&joined, parts, 2, JOIN_STAR, 1, &err), 0);
    assert_int_equal(joined.nodes.items[0].guid, parts[0].nodes.items[0].guid);
    assert_int_equal(joined.nodes.items[0].description[0], 'a');
    assert_int_equal(joined.nodes.items[parts[0].nodes.count].description[0], 'b');
    topology_write_ibnetdiscover(&joined, &text);
    must_read(&again, text.data);
    topology_write_ibnetdiscover(&again, &repeated);
    assert_string_equal(text.data, repeated.data);
    count_subnets(&again, 2);
    text_release(&text);
    text_release(&repeated);
    topology_release(&again);
    topology_release(&joined);
    topology_release(&parts[0]);
    topology_release(&parts[1]);
}

static void test_refused(void **state)
{
    struct topology parts[2], joined;
    enum join_shape shape;
    struct err err;
    must_generate(&parts[0], "irregular 6 ports=8", 1);
    must_generate(&parts[1], "irregular 6 ports=8", 1);
    topology_init(&joined);
    assert_int_not_equal(topology_join(&joined, parts, 1, JOIN_STAR, 1, &err), 0);
    assert_int_not_equal(topology_join(&joined, parts, 2, JOIN_RING, 1, &err), 0);
    assert_int_not_equal(topology_join(&joined, parts, 2, JOIN_STAR, JOIN_ROUTERS, &err), 0);
    assert_int_equal(joined.nodes.count, 0);
    assert_false(join_shape_parse("line", &shape));
    topology_release(&joined);
    topology_release(&parts[0]);
    topology_release(&parts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_same_parts),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
