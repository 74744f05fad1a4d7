/* The ranking of ports and the balance of stages, on a tree of two leaf switches with two adapters
 * each and two switches above them. All links are 4X EDR: 12.5 GB/s. */
#include "perf/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { INTERVAL_S = 10, SWITCHES = 4, HOSTS = 4, LEAF0 = 0, LEAF1, TOP0, TOP1, HOST0 };
static const uint64_t link_words = UINT64_C(12500000000) / 4 * INTERVAL_S; /* in an interval */

struct tree {
    struct subnet subnet;
    struct perf *perf;
    uint64_t now;
    uint64_t counted[64][COUNTER_COUNT]; /* by port of the subnet; data in words */
};

static uint32_t port_of(const struct tree *tree, uint32_t node, unsigned number)
{
    return tree->subnet.nodes.items[node].first_port + number;
}

static void join(struct tree *tree, uint32_t a, unsigned port_a, uint32_t b, unsigned port_b)
{
    const uint32_t ports[] = {port_of(tree, a, port_a), port_of(tree, b, port_b)};
    subnet_link(&tree->subnet, ports[0], ports[1]);
    for (unsigned i = 0; i < 2; i++) {
        uint8_t *info = tree->subnet.ports.items[ports[i]].info;
        tree->subnet.ports.items[ports[i]].known = true;
        wire_set(info, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
        wire_set(info, PORT_INFO_LINK_WIDTH_ACTIVE, 2);     /* 4X */
        wire_set(info, PORT_INFO_LINK_SPEED_EXT_ACTIVE, 2); /* EDR */
    }
}

static struct tree *start(void **state)
{
    struct tree *tree = mem_zalloc(1, sizeof *tree);
    struct perf_config config;
    subnet_init(&tree->subnet);
    for (unsigned i = 0; i < SWITCHES + HOSTS; i++) {
        bool is_switch = i < SWITCHES;
        uint32_t node =
            subnet_add_node(&tree->subnet, 0x100 + i, is_switch ? SUBNET_SWITCH : SUBNET_ADAPTER,
                            is_switch ? 4 : 1);
        snprintf(tree->subnet.nodes.items[node].description,
                 sizeof tree->subnet.nodes.items[node].description, "%s%u",
                 i < TOP0       ? "leaf"
                 : i < SWITCHES ? "top"
                                : "host",
                 i < TOP0       ? i
                 : i < SWITCHES ? i - TOP0
                                : i - SWITCHES);
        tree->subnet.nodes.items[node].present = true;
        tree->subnet.ports.items[port_of(tree, node, is_switch ? 0 : 1)].lid = (uint16_t)(i + 1);
    }
    for (unsigned i = 0; i < HOSTS; i++)
        join(tree, HOST0 + i, 1, i / 2, 1 + i % 2);
    for (unsigned i = 0; i < 4; i++)
        join(tree, i / 2, 3 + i % 2, TOP0 + i % 2, 1 + i / 2);
    perf_config_init(&config);
    config.interval_ns = INTERVAL_S * NS_PER_S;
    tree->perf = perf_new(&config);
    tree->now = NS_PER_S;
    *state = tree;
    return tree;
}

static int finish(void **state)
{
    struct tree *tree = *state;
    perf_free(tree->perf);
    subnet_release(&tree->subnet);
    mem_free(tree);
    return 0;
}

static void answer(struct tree *tree, struct perf_request *request)
{
    uint8_t *mad = request->mad, *data = mad + GMP_DATA_OFFSET;
    uint64_t attribute = wire_get(mad, MAD_ATTRIBUTE_ID);
    wire_set(mad, MAD_METHOD, METHOD_GET_RESP);
    if (attribute == ATTRIBUTE_CLASS_PORT_INFO) {
        wire_set(data, CLASS_PORT_INFO_CAPABILITY_MASK, 1 << 9 | 1 << 12);
        wire_set(data, CLASS_PORT_INFO_CAPABILITY_MASK2, 1 << 1);
    } else if (attribute == ATTRIBUTE_PORT_COUNTERS_EXT) {
        unsigned number = (unsigned)wire_get(data, PORT_COUNTERS_EXT_PORT_SELECT);
        const uint64_t *counted = tree->counted[port_of(tree, request->to.lid - 1u, number)];
        for (unsigned i = 0; i < COUNTER_COUNT; i++)
            if (port_counter_infos[i].in[SET_EXTENDED].field != NO_COUNTER_FIELD)
                wire_set(data, port_counter_infos[i].in[SET_EXTENDED].field, counted[i]);
    } else {
        wire_set(mad, MAD_STATUS, STATUS_BAD_ATTRIBUTE);
    }
}

static void run(struct tree *tree, unsigned seconds)
{
    struct perf_request request;
    for (uint64_t end = tree->now + seconds * NS_PER_S;;) {
        while (perf_next_request(tree->perf, tree->now, &tree->subnet, &request)) {
            answer(tree, &request);
            perf_receive(tree->perf, tree->now, &tree->subnet, request.mad);
        }
        uint64_t next = perf_deadline(tree->perf);
        if (next > end) {
            tree->now = end;
            return;
        }
        tree->now = next;
    }
}

/* host0 sends 60 % of its link to host2 through top0; leaf1 waits for credits to host2; a link of
 * host3 is bad. */
static void make_load(struct tree *tree)
{
    const uint32_t path[] = {port_of(tree, HOST0, 1), port_of(tree, LEAF0, 3),
                             port_of(tree, TOP0, 2), port_of(tree, LEAF1, 1)};
    for (unsigned i = 0; i < 4; i++) {
        uint32_t peer = tree->subnet.ports.items[path[i]].peer;
        tree->counted[path[i]][COUNTER_TRANSMIT_DATA] += link_words / 10 * 6;
        tree->counted[peer][COUNTER_RECEIVE_DATA] += link_words / 10 * 6;
    }
    tree->counted[port_of(tree, LEAF1, 1)][COUNTER_TRANSMIT_WAIT] += link_words / 10 * 3;
    tree->counted[port_of(tree, LEAF1, 2)][COUNTER_SYMBOL_ERRORS] += 7;
    tree->counted[port_of(tree, HOST0 + 3, 1)][COUNTER_RECEIVE_ERRORS] += 9;
    tree->counted[port_of(tree, TOP1, 1)][COUNTER_TRANSMIT_DISCARDS] += 5;
    tree->counted[port_of(tree, TOP1, 2)][COUNTER_RECEIVE_SWITCH_RELAY_ERRORS] += 50;
}

static bool is_near(double value, double wanted)
{
    return value > wanted * 0.999 && value < wanted * 1.001;
}

static void ports_are_sorted_by_each_key(void **state)
{
    struct tree *tree = start(state);
    struct port_load rows[16];
    run(tree, 1);
    make_load(tree);
    run(tree, INTERVAL_S);
    assert_int_equal(ranking_make(tree->perf, &tree->subnet, tree->now, RANK_LOAD, false, rows, 16),
                     4);
    for (unsigned i = 0; i < 4; i++)
        assert_true(is_near(rows[i].load, 0.6) && is_near(rows[i].transmit, 7.5e9));
    assert_int_equal(ranking_make(tree->perf, &tree->subnet, tree->now, RANK_WAIT, false, rows, 16),
                     1);
    assert_int_equal(rows[0].port, port_of(tree, LEAF1, 1));
    assert_true(is_near(rows[0].wait, 0.3));
    assert_int_equal(
        ranking_make(tree->perf, &tree->subnet, tree->now, RANK_ERRORS, false, rows, 16), 2);
    assert_int_equal(rows[0].port, port_of(tree, HOST0 + 3, 1));
    assert_int_equal(rows[0].errors, 9);
    assert_int_equal(rows[1].errors, 7);
    assert_int_equal(
        ranking_make(tree->perf, &tree->subnet, tree->now, RANK_DISCARDS, false, rows, 16), 1);
    assert_int_equal(rows[0].port, port_of(tree, TOP1, 1));
}

static void a_short_list_has_the_first_ones(void **state)
{
    struct tree *tree = start(state);
    struct port_load rows[3];
    run(tree, 1);
    for (unsigned i = 0; i < HOSTS; i++)
        tree->counted[port_of(tree, HOST0 + i, 1)][COUNTER_TRANSMIT_DATA] =
            1000000 * (1 + i * 7 % 4);
    run(tree, INTERVAL_S);
    assert_int_equal(ranking_make(tree->perf, &tree->subnet, tree->now, RANK_LOAD, false, rows, 3),
                     3);
    assert_int_equal(rows[0].port, port_of(tree, HOST0 + 1, 1));
    assert_int_equal(rows[1].port, port_of(tree, HOST0 + 2, 1));
    assert_int_equal(rows[2].port, port_of(tree, HOST0 + 3, 1));
}

static void the_hour_remembers_what_the_interval_does_not(void **state)
{
    struct tree *tree = start(state);
    struct port_load rows[16];
    run(tree, 1);
    make_load(tree);
    run(tree, 6 * INTERVAL_S);
    assert_int_equal(
        ranking_make(tree->perf, &tree->subnet, tree->now, RANK_ERRORS, false, rows, 16), 0);
    assert_int_equal(
        ranking_make(tree->perf, &tree->subnet, tree->now, RANK_ERRORS, true, rows, 16), 2);
    assert_int_equal(ranking_make(tree->perf, &tree->subnet, tree->now, RANK_LOAD, true, rows, 16),
                     4);
    assert_true(is_near(rows[0].load, 0.1)); /* one of six intervals */
}

static void stages_show_how_evenly_links_are_loaded(void **state)
{
    struct tree *tree = start(state);
    struct stage stages[STAGES_MOST];
    double sent = 0;
    run(tree, 1);
    make_load(tree);
    run(tree, INTERVAL_S);
    assert_int_equal(ranking_stages(tree->perf, &tree->subnet, tree->now, false, stages, &sent), 4);
    assert_true(is_near(sent, 7.5e9));
    static const struct {
        unsigned from, to;
    } levels[] = {{0, 1}, {1, 0}, {1, 2}, {2, 1}};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(stages[i].from, levels[i].from);
        assert_int_equal(stages[i].to, levels[i].to);
        assert_int_equal(stages[i].links, 4);
        assert_true(is_near(stages[i].mean, 0.15) && is_near(stages[i].max, 0.6));
        assert_true(is_near(stage_imbalance(&stages[i]), 4)); /* one of four links has all */
    }
    assert_int_equal(stages[2].busiest, port_of(tree, LEAF0, 3));
}

static void ports_without_a_link_have_no_load(void **state)
{
    struct tree *tree = start(state);
    struct port_load load;
    run(tree, 1);
    make_load(tree);
    run(tree, INTERVAL_S);
    uint32_t port = port_of(tree, HOST0, 1);
    assert_true(port_load_of(tree->perf, &tree->subnet, tree->now, port, false, &load));
    subnet_unlink(&tree->subnet, port);
    assert_false(port_load_of(tree->perf, &tree->subnet, tree->now, port, false, &load));
}

static void hostile_names_do_not_break_the_report(void **state)
{
    struct tree *tree = start(state);
    struct text out = {0};
    memset(tree->subnet.nodes.items[LEAF1].description, 0xFF,
           sizeof tree->subnet.nodes.items[LEAF1].description - 1);
    snprintf(tree->subnet.nodes.items[TOP0].description, 65, "%%s%%n\"\033[2J\n");
    run(tree, 1);
    make_load(tree);
    run(tree, INTERVAL_S);
    for (unsigned json = 0; json < 2; json++) {
        struct counter_snapshot *snapshot =
            counter_snapshot_take(tree->perf, &tree->subnet, tree->now, SUBNET_NONE, 0);
        top_print(tree->perf, &tree->subnet, tree->now,
                  &(struct top_options){.key = RANK_LOAD, .rows = 16}, json, &out);
        counter_snapshot_print(snapshot, json, &out);
        counter_snapshot_free(snapshot);
        assert_non_null(strstr(out.data, "host0"));
        if (json) { /* no raw control character */
            for (size_t i = 0; i < out.length; i++)
                assert_true((unsigned char)out.data[i] >= ' ' || out.data[i] == '\n');
        }
        text_clear(&out);
    }
    text_release(&out);
}

#define TREE_TEST(claim) cmocka_unit_test_teardown(claim, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TREE_TEST(ports_are_sorted_by_each_key),
        TREE_TEST(a_short_list_has_the_first_ones),
        TREE_TEST(the_hour_remembers_what_the_interval_does_not),
        TREE_TEST(stages_show_how_evenly_links_are_loaded),
        TREE_TEST(ports_without_a_link_have_no_load),
        TREE_TEST(hostile_names_do_not_break_the_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
