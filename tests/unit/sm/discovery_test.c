/* Discovery: who is there and how it is connected, whatever the subnet looks like and whoever keeps
 * silent. */
#include "toy.h"

#include <string.h>

static const char line[] = "S1-S2 S2-S3 S1-H1 S3-H2";

static struct toy *start(void **state, const char *links, const char *seat,
                         const struct sm_config *config)
{
    struct toy *toy = toy_open(state, links);
    toy_seat(toy, seat, config);
    return toy;
}

static void every_node_and_link_is_found_whatever_the_shape(void **state)
{
    static const struct {
        const char *links;
        unsigned nodes;
    } shapes[] = {
        {line, 5},
        {"S1-S2 S2-S3 S3-S4 S4-S1 S1-H1 S2-H2 S3-H3 S4-H4", 8},              /* ring */
        {"S1-S2 S1-S3 S2-S4 S2-S5 S3-S6 S3-S7 S4-H1 S5-H2 S6-H3 S7-H4", 11}, /* tree */
        {"S1-S2 S1-S2 S1-S2 S1-H1 S2-H2", 4},                                /* parallel links */
        {"S1-S2 S1-H1 S2-H1 S1-H2 S2-H2", 4},                                /* two ports each */
        {"S1-H1", 2},
        {"H1-H2", 2}, /* back to back */
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct toy *toy = toy_up(state, shapes[i].links);
        assert_int_equal(toy_present(toy), shapes[i].nodes);
        toy_assert_up(toy);
        if (i + 1 < sizeof shapes / sizeof shapes[0])
            toy_close(state);
    }
}

static void a_manager_may_sit_in_a_switch(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = start(state, line, "S2", &config);
    toy_settle(toy);
    assert_int_equal(toy_present(toy), 5);
    toy_assert_up(toy);
}

static void every_order_of_discovery_finds_everyone(void **state)
{
    for (unsigned order = SM_ORDER_PROPAGATION; order <= SM_ORDER_DEPTH; order++) {
        struct sm_config config = toy_config();
        config.order = (enum sm_order)order;
        struct toy *toy = start(state, "S1-S2 S1-S3 S2-S3 S3-S4 S1-H1 S2-H2 S4-H3", "H1", &config);
        toy_settle(toy);
        assert_int_equal(toy_present(toy), 7);
        toy_assert_up(toy);
        if (order != SM_ORDER_DEPTH)
            toy_close(state);
    }
}

/* ---- addresses ---- */

static void note_lids(struct toy *toy, unsigned lids[16])
{
    for (unsigned i = 0; i < toy->node_count; i++)
        lids[i] = toy_lid(toy, toy->nodes[i]->name, !toy->nodes[i]->is_switch);
}

static void assert_lids(struct toy *toy, const unsigned lids[16])
{
    unsigned now[16] = {0};
    note_lids(toy, now);
    for (unsigned i = 0; i < toy->node_count; i++)
        assert_int_equal(now[i], lids[i]);
}

static void the_same_subnet_gets_the_same_lids(void **state)
{
    unsigned lids[16] = {0};
    struct toy *toy = toy_up(state, line);
    note_lids(toy, lids);
    toy_close(state);
    toy = toy_up(state, line);
    assert_lids(toy, lids);
}

static void lids_stay_when_everything_is_looked_at_again(void **state)
{
    unsigned lids[16] = {0};
    struct toy *toy = toy_up(state, line);
    note_lids(toy, lids);
    sm_look_again(toy->sm, toy->now);
    toy_settle(toy);
    assert_lids(toy, lids);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_LINEAR_FORWARDING_TABLE, METHOD_SET), 0);
    toy_assert_up(toy);
}

static void the_next_manager_keeps_the_lids_that_it_finds(void **state)
{
    unsigned lids[16] = {0};
    struct sm_config config = toy_config();
    struct toy *toy = start(state, line, "H2", &config);
    toy_settle(toy);
    note_lids(toy, lids);
    toy_kill(toy, 0);
    toy_node(toy, "H2")->ports[1].info[23] = 0; /* no manager there any more */
    toy_seat(toy, "H1", &config);
    toy_settle(toy);
    assert_lids(toy, lids);
}

static void a_lid_that_was_written_down_is_given_again(void **state)
{
    struct toy *toy = toy_open(state, line);
    struct sm_config config = toy_config();
    struct sm_fact fact = {toy_node(toy, "H2")->guid + 1, 77, 0};
    unsigned seat = toy_place(toy, "H1", &config);
    sm_remember(toy->managers[seat].sm, &fact);
    sm_start(toy->managers[seat].sm, toy->now);
    toy_settle(toy);
    assert_int_equal(toy_lid(toy, "H2", 1), 77);
    toy_assert_up(toy);
}

/* ---- change while it looks ---- */

static void a_link_cut_during_discovery_leaves_the_rest(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = start(state, line, "H1", &config);
    toy_run_until_sent(toy, "S3", ATTRIBUTE_PORT_INFO, METHOD_GET);
    toy_cut(toy, "S2", "S3");
    toy_settle(toy);
    assert_int_equal(toy_present(toy), 3);
    assert_false(toy_knows(toy, "S3"));
    toy_link(toy, "S2", "S3");
    toy_settle(toy);
    assert_int_equal(toy_present(toy), 5);
    toy_assert_up(toy);
}

static void a_cable_that_moves_takes_its_lid_along(void **state)
{
    struct toy *toy = toy_up(state, line);
    unsigned lid = toy_lid(toy, "H2", 1);
    toy_pull(toy, "H2", 1);
    toy_link(toy, "S1", "H2");
    toy_settle(toy);
    assert_int_equal(toy_lid(toy, "H2", 1), lid);
    assert_int_equal(toy_present(toy), 5);
    toy_assert_up(toy);
}

static void a_new_node_is_found_by_the_trap_of_its_neighbour(void **state)
{
    struct toy *toy = toy_up(state, line);
    toy_switch_off(toy, "H2");
    toy_settle(toy);
    assert_false(toy_knows(toy, "H2"));
    toy_mark(toy);
    toy_switch_on(toy, "H2");
    toy_settle(toy);
    assert_true(toy_knows(toy, "H2"));
    assert_int_equal(toy_count(toy, "S1", ATTRIBUTE_PORT_INFO, METHOD_GET), 0);
    toy_assert_up(toy);
}

/* ---- nodes that are not sound ---- */

static void a_mute_agent_keeps_nobody_waiting_and_is_taken_in_when_it_talks(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = start(state, line, "H1", &config);
    toy_node(toy, "H2")->mute = true;
    toy_settle(toy);
    assert_int_equal(toy_present(toy), 4);
    toy_node(toy, "H2")->mute = false;
    toy_run(toy, TOY_SWEEP + TOY_S);
    assert_true(toy_knows(toy, "H2"));
    toy_assert_up(toy);
}

static void who_tells_its_name_but_not_its_ports_is_left_out(void **state)
{
    struct sm_config config = toy_config_sweeping(TOY_S);
    struct toy *toy = start(state, line, "H1", &config);
    toy_meddle(toy, (struct toy_rule){TOY_LOSE, "H2", ATTRIBUTE_PORT_INFO, 0, 1000});
    toy_settle(toy);
    assert_int_equal(toy_present(toy), 4);
    assert_true(toy_heard(toy, "leaves requests unanswered"));
    toy_run(toy, 60 * TOY_S);
    toy_mark(toy);
    toy_run(toy, 60 * TOY_S);
    assert_in_range(toy_count(toy, "H2", ATTRIBUTE_PORT_INFO, 0), 4, 16); /* left alone for long */
    memset(toy->rules, 0, sizeof toy->rules);
    toy_run(toy, 30 * TOY_S);
    assert_true(toy_knows(toy, "H2"));
    toy_assert_up(toy);
}

static void of_two_nodes_with_one_guid_the_second_is_left_out(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = start(state, "S1-S2 S1-H1 S1-H2 S2-H3", "H1", &config);
    toy_node(toy, "H3")->guid = toy_node(toy, "H2")->guid;
    toy_settle(toy);
    assert_true(toy_heard(toy, "two nodes share the GUID"));
    assert_int_equal(toy_present(toy), 4);
    toy_mark(toy);
    toy_run(toy, 3 * TOY_SWEEP);
    assert_false(toy_heard(toy, "two nodes share the GUID")); /* that was said */
    toy_switch_off(toy, "H2");
    toy_run(toy, 2 * TOY_SWEEP);
    toy_assert_up(toy);
}

static void a_guid_that_is_a_switch_and_an_adapter_is_taken_for_the_first(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = start(state, line, "H1", &config);
    toy_node(toy, "H2")->guid = toy_node(toy, "S1")->guid;
    toy_settle(toy);
    assert_true(toy_heard(toy, "two nodes share the GUID"));
    assert_int_equal(toy_present(toy), 4);
}

/* Questions go through its ports when it is taken for gone: their answers must not tie it in. */
static void a_switch_that_refuses_for_a_while_is_taken_back(void **state)
{
    for (unsigned times = 1; times <= 6; times++) {
        struct toy *toy = toy_up(state, "S1-S2 S2-S3 S3-S4 S4-S1 S1-S3 S1-H1 S3-H3");
        toy_meddle(toy, (struct toy_rule){TOY_REFUSE, "S3", ATTRIBUTE_LINEAR_FORWARDING_TABLE,
                                          METHOD_GET, times});
        sm_look_again(toy->sm, toy->now);
        toy_run(toy, 10 * TOY_SWEEP);
        assert_int_equal(toy_present(toy), 6);
        toy_assert_up(toy);
        if (times < 6)
            toy_close(state);
    }
}

static void a_manager_that_did_not_find_itself_looks_again_at_the_next_sweep(void **state)
{
    struct toy *toy = toy_up(state, line);
    toy_meddle(toy, (struct toy_rule){TOY_REFUSE, "H1", ATTRIBUTE_NODE_INFO, METHOD_GET, 1});
    sm_look_again(toy->sm, toy->now);
    toy_run(toy, TOY_S);
    assert_int_equal(toy_present(toy), 0);
    toy_run(toy, TOY_SWEEP);
    assert_int_equal(toy_present(toy), 5);
    toy_assert_up(toy);
}

static void an_impossible_node_info_is_ignored(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = start(state, line, "H1", &config);
    toy_node(toy, "H2")->port_count = 0;
    toy_settle(toy);
    assert_int_equal(toy_present(toy), 4);
    assert_true(toy_heard(toy, "invalid NodeInfo"));
}

static void a_refused_question_is_as_good_as_no_answer(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = start(state, line, "H1", &config);
    toy_meddle(toy, (struct toy_rule){TOY_REFUSE, "H2", ATTRIBUTE_PORT_INFO, METHOD_GET, 1000});
    toy_settle(toy);
    assert_true(toy_heard(toy, "refuses PortInfo"));
    assert_int_equal(toy_present(toy), 4);
}

/* ---- the papers' way ---- */

static struct toy *start_paper(void **state)
{
    struct sm_config config = toy_config();
    config.policy = &sm_policy_paper;
    config.mode = SM_STATIC;
    config.order = SM_ORDER_BREADTH;
    config.engine = engine_find("fera");
    struct toy *toy = toy_open(state, "S1-S2 S1-S3 S2-H1 S3-H2");
    for (unsigned i = 0; i < toy->node_count; i++)
        toy->nodes[i]->lenient = true;
    toy->hold_jobs = true;
    toy_seat(toy, "S1", &config);
    return toy;
}

static void the_papers_discovery_reads_node_info_and_port_info_alone(void **state)
{
    struct toy *toy = start_paper(state);
    toy_run(toy, TOY_S);
    assert_non_null(toy->job);
    unsigned all = toy_count(toy, NULL, 0, 0);
    unsigned node_infos = toy_count(toy, NULL, ATTRIBUTE_NODE_INFO, METHOD_GET);
    unsigned port_infos = toy_count(toy, NULL, ATTRIBUTE_PORT_INFO, METHOD_GET);
    unsigned addresses = toy_count(toy, NULL, ATTRIBUTE_PORT_INFO, METHOD_SET);
    assert_int_equal(all, node_infos + port_infos + addresses);
    assert_int_equal(addresses, 5);                        /* one a node */
    assert_int_equal(port_infos, 3 * (TOY_PORTS + 1) + 2); /* every port of every switch */
    assert_int_equal(node_infos, 5);                       /* not back to where it came from */
}

static void the_papers_ask_for_one_node_after_the_other(void **state)
{
    struct toy *toy = start_paper(state);
    uint64_t last = 0;
    toy_run(toy, TOY_S);
    for (size_t i = 0; i < toy->sent.count; i++)
        if (toy->sent.items[i].attribute == ATTRIBUTE_NODE_INFO) {
            assert_true(toy->sent.items[i].at >= last + TOY_LATENCY);
            last = toy->sent.items[i].at;
        }
}

static void the_papers_discovery_comes_before_routes_and_these_before_tables(void **state)
{
    struct toy *toy = start_paper(state);
    toy_run(toy, TOY_S);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_LINEAR_FORWARDING_TABLE, 0), 0);
    assert_int_equal(toy_outstanding(toy, 0), 0); /* addresses are out before routes are computed */
    toy_mark(toy);
    toy_compute(toy);
    toy_settle(toy);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_LINEAR_FORWARDING_TABLE, METHOD_SET), 3 * 16);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_PORT_INFO, METHOD_SET), 3 * 2 * TOY_PORTS);
    assert_int_equal(toy_count(toy, NULL, 0, 0), 3 * (16 + 2 * TOY_PORTS));
    toy_assert_up(toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOY_TEST(every_node_and_link_is_found_whatever_the_shape),
        TOY_TEST(a_manager_may_sit_in_a_switch),
        TOY_TEST(every_order_of_discovery_finds_everyone),
        TOY_TEST(the_same_subnet_gets_the_same_lids),
        TOY_TEST(lids_stay_when_everything_is_looked_at_again),
        TOY_TEST(the_next_manager_keeps_the_lids_that_it_finds),
        TOY_TEST(a_lid_that_was_written_down_is_given_again),
        TOY_TEST(a_link_cut_during_discovery_leaves_the_rest),
        TOY_TEST(a_cable_that_moves_takes_its_lid_along),
        TOY_TEST(a_new_node_is_found_by_the_trap_of_its_neighbour),
        TOY_TEST(a_mute_agent_keeps_nobody_waiting_and_is_taken_in_when_it_talks),
        TOY_TEST(who_tells_its_name_but_not_its_ports_is_left_out),
        TOY_TEST(of_two_nodes_with_one_guid_the_second_is_left_out),
        TOY_TEST(a_guid_that_is_a_switch_and_an_adapter_is_taken_for_the_first),
        TOY_TEST(a_switch_that_refuses_for_a_while_is_taken_back),
        TOY_TEST(a_manager_that_did_not_find_itself_looks_again_at_the_next_sweep),
        TOY_TEST(an_impossible_node_info_is_ignored),
        TOY_TEST(a_refused_question_is_as_good_as_no_answer),
        TOY_TEST(the_papers_discovery_reads_node_info_and_port_info_alone),
        TOY_TEST(the_papers_ask_for_one_node_after_the_other),
        TOY_TEST(the_papers_discovery_comes_before_routes_and_these_before_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
