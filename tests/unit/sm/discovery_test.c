/* Discovery of nodes and links in any topology, with nodes that do not answer. */
#include "toy.h"
#include "wire/link_rate.h"

#include <string.h>

static const char line[] = "S1-S2 S2-S3 S1-H1 S3-H2";

static struct toy *start(void **state, const char *links, const char *node,
                         const struct sm_config *config)
{
    struct toy *toy = toy_open(state, links);
    toy_start_manager(toy, node, config);
    return toy;
}

static void every_node_and_link_of_any_topology_is_found(void **state)
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

static void a_manager_may_run_on_a_switch(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = start(state, line, "S2", &config);
    toy_settle(toy);
    assert_int_equal(toy_present(toy), 5);
    toy_assert_up(toy);
}

static void every_order_of_discovery_finds_all_nodes(void **state)
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

/* ---- LIDs ---- */

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

/* From the switch with the lowest GUID on, S1, breadth first and in the order of ports. */
static void lids_depend_neither_on_the_manager_nor_on_the_order_of_discovery(void **state)
{
    static const char links[] = "S1-S2 S1-S3 S2-S3 S3-S4 S1-H1 S2-H2 S4-H3";
    static const char *const managers[] = {"H1", "H2", "H3", "S1", "S2", "S3", "S4"};
    static const char *const numbered[] = {"S1", "S2", "S3", "H1", "H2", "S4", "H3"};
    for (size_t i = 0; i < 7; i++)
        for (unsigned order = SM_ORDER_PROPAGATION; order <= SM_ORDER_DEPTH; order++) {
            struct sm_config config = toy_config();
            config.order = (enum sm_order)order;
            struct toy *toy = start(state, links, managers[i], &config);
            toy_settle(toy);
            for (unsigned lid = 1; lid <= 7; lid++)
                assert_int_equal(toy_lid(toy, numbered[lid - 1], numbered[lid - 1][0] == 'H'), lid);
            toy_close(state);
        }
    toy_up(state, links);
}

static void later_nodes_get_the_next_lids_in_the_same_order(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = toy_open(state, "S1-S2 S2-S3 S1-H1 S1-H2 S2-H3 S3-H4");
    toy->traps = true;
    toy_switch_off(toy, "H2");
    toy_switch_off(toy, "S3");
    toy_switch_off(toy, "H4");
    toy_start_manager(toy, "H3", &config);
    toy_settle(toy);
    assert_int_equal(toy_lid(toy, "H3", 1), 4); /* after S1, S2 and H1 */
    toy_switch_on(toy, "H4");
    toy_switch_on(toy, "S3");
    toy_switch_on(toy, "H2");
    sm_rediscover(toy->sm, toy->now);
    toy_settle(toy);
    assert_int_equal(toy_present(toy), 7);
    assert_int_equal(toy_lid(toy, "H3", 1), 4);
    assert_int_equal(toy_lid(toy, "H2", 1), 5);
    assert_int_equal(toy_lid(toy, "S3", 0), 6);
    assert_int_equal(toy_lid(toy, "H4", 1), 7);
}

static void lids_stay_after_a_rediscovery(void **state)
{
    unsigned lids[16] = {0};
    struct toy *toy = toy_up(state, line);
    note_lids(toy, lids);
    sm_rediscover(toy->sm, toy->now);
    toy_settle(toy);
    assert_lids(toy, lids);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_LINEAR_FORWARDING_TABLE, METHOD_SET), 0);
    toy_assert_up(toy);
}

static void a_new_manager_keeps_existing_lids(void **state)
{
    unsigned lids[16] = {0};
    struct sm_config config = toy_config();
    struct toy *toy = start(state, line, "H2", &config);
    toy_settle(toy);
    note_lids(toy, lids);
    toy_kill(toy, 0);
    toy_node(toy, "H2")->ports[1].info[23] = 0; /* the manager is gone */
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    assert_lids(toy, lids);
}

static void a_stored_lid_is_assigned_again(void **state)
{
    struct toy *toy = toy_open(state, line);
    struct sm_config config = toy_config();
    struct sm_lid_fact fact = {toy_node(toy, "H2")->guid + 1, 77, 0};
    unsigned manager = toy_add_manager(toy, "H1", &config);
    sm_restore_lid(toy->managers[manager].sm, &fact);
    sm_start(toy->managers[manager].sm, toy->now);
    toy_settle(toy);
    assert_int_equal(toy_lid(toy, "H2", 1), 77);
    toy_assert_up(toy);
}

/* S1 would get LID 1 and S2 LID 2. */
static void a_stored_lid_waits_for_its_absent_adapter(void **state)
{
    struct toy *toy = toy_open(state, line);
    struct sm_config config = toy_config();
    struct sm_lid_fact fact = {toy_node(toy, "H2")->guid + 1, 2, 0};
    toy_switch_off(toy, "H2");
    unsigned manager = toy_add_manager(toy, "H1", &config);
    sm_restore_lid(toy->managers[manager].sm, &fact);
    sm_start(toy->managers[manager].sm, toy->now);
    toy_settle(toy);
    assert_int_equal(toy_lid(toy, "S1", 0), 1);
    assert_int_equal(toy_lid(toy, "S2", 0), 3);
    toy_switch_on(toy, "H2");
    sm_rediscover(toy->sm, toy->now);
    toy_settle(toy);
    assert_int_equal(toy_lid(toy, "H2", 1), 2);
    toy_assert_up(toy);
}

static void stored_lids_of_absent_adapters_are_used_if_no_others_are_left(void **state)
{
    struct toy *toy = toy_open(state, line);
    struct sm_config config = toy_config();
    unsigned manager = toy_add_manager(toy, "H1", &config);
    for (unsigned lid = 1; lid <= LID_UNICAST_LAST; lid++)
        if (lid != 2)
            sm_restore_lid(toy->managers[manager].sm,
                           &(struct sm_lid_fact){0xabcd0000 + lid, (uint16_t)lid, 0});
    sm_start(toy->managers[manager].sm, toy->now);
    toy_settle(toy);
    assert_int_equal(toy_lid(toy, "S1", 0), 2);
    assert_int_equal(toy_lid(toy, "S2", 0), 1);
    assert_int_equal(toy_lid(toy, "S3", 0) + toy_lid(toy, "H1", 1) + toy_lid(toy, "H2", 1),
                     3 + 4 + 5);
    toy_assert_up(toy);
}

/* ---- changes during discovery ---- */

static void a_link_lost_during_discovery_does_not_affect_the_rest(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = start(state, line, "H1", &config);
    toy_run_until_sent(toy, "S3", ATTRIBUTE_PORT_INFO, METHOD_GET);
    toy_cut(toy, "S2", "S3");
    toy_settle(toy);
    assert_int_equal(toy_present(toy), 3);
    assert_false(toy_has_node(toy, "S3"));
    toy_link(toy, "S2", "S3");
    toy_settle(toy);
    assert_int_equal(toy_present(toy), 5);
    toy_assert_up(toy);
}

static void clear_changes(struct toy *toy)
{
    for (unsigned i = 0; i < toy->node_count; i++)
        wire_set(toy->nodes[i]->switch_info, SWITCH_INFO_PORT_STATE_CHANGE, 0);
}

/* A new manager reads port 3 of S1 before the link comes up. Another one arms both ends meanwhile,
 * and clears PortStateChange: nothing else tells the new manager that this port has changed. */
static void a_link_found_from_its_far_end_becomes_active(void **state)
{
    struct toy *toy = toy_up(state, "S1-S2 S2-S3 S1-S3 S1-H1 S3-H2");
    struct sm_config config = toy_config_sweeping(1000 * TOY_S);
    toy_kill(toy, 0);
    toy_cut(toy, "S1", "S3");
    clear_changes(toy);
    toy_restart(toy, 0, &config);
    toy_run_until_sent(toy, "S3", ATTRIBUTE_NODE_INFO, METHOD_GET);
    toy_link(toy, "S1", "S3");
    clear_changes(toy);
    for (unsigned i = 1; i <= TOY_PORTS; i++) {
        struct toy_port *port = &toy_node(toy, "S1")->ports[i];
        if (port->peer != toy_node(toy, "S3"))
            continue;
        wire_set(port->info, PORT_INFO_PORT_STATE, PORT_STATE_ARMED);
        wire_set(port->peer->ports[port->peer_port].info, PORT_INFO_PORT_STATE, PORT_STATE_ARMED);
    }
    toy_run(toy, 10 * TOY_S);
    toy_assert_up(toy);
}

static void an_adapter_keeps_its_lid_at_another_port(void **state)
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

static void a_new_node_is_found_by_a_trap_of_its_neighbor(void **state)
{
    struct toy *toy = toy_up(state, line);
    toy_switch_off(toy, "H2");
    toy_settle(toy);
    assert_false(toy_has_node(toy, "H2"));
    toy_mark(toy);
    toy_switch_on(toy, "H2");
    toy_settle(toy);
    assert_true(toy_has_node(toy, "H2"));
    assert_int_equal(toy_count(toy, "S1", ATTRIBUTE_PORT_INFO, METHOD_GET), 0);
    toy_assert_up(toy);
}

/* ---- faulty nodes ---- */

static void an_agent_that_does_not_answer_delays_no_other_node(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = start(state, line, "H1", &config);
    toy_node(toy, "H2")->mute = true;
    toy_settle(toy);
    assert_int_equal(toy_present(toy), 4);
    toy_node(toy, "H2")->mute = false;
    toy_run(toy, TOY_SWEEP + TOY_S);
    assert_true(toy_has_node(toy, "H2"));
    toy_assert_up(toy);
}

/* Sweeps are far apart. */
static void a_node_that_answers_again_is_found_within_seconds(void **state)
{
    struct sm_config config = toy_config_sweeping(1000 * TOY_S);
    struct toy *toy = start(state, "S1-S2 S2-S3 S1-H1 S3-H2", "H1", &config);
    for (unsigned i = 0; i < 3; i++) {
        static const char *const nodes[] = {"H2", "S3", "S1"};
        toy_settle(toy);
        toy_node(toy, nodes[i])->mute = true;
        sm_rediscover(toy->sm, toy->now);
        toy_run(toy, 30 * TOY_S);
        assert_false(toy_has_node(toy, nodes[i]));
        assert_true(sm_is_settled(toy->sm)); /* it does not wait for the node */
        toy_mark(toy);
        toy_run(toy, 30 * TOY_S);
        assert_in_range(toy_count(toy, NULL, 0, 0), 10, 100);
        toy_node(toy, nodes[i])->mute = false;
        toy_run(toy, 3 * TOY_S);
        toy_assert_up(toy);
    }
}

/* A new master has read a switch, which is switched off and on before the first Sets arrive: these
 * restore its LID and its top LID, so that it does not look like a switch that was reset. */
static void a_switch_that_was_reset_before_it_was_written_gets_its_table(void **state)
{
    struct toy *toy = toy_up(state, "S1-S2 S2-S3 S1-S3 S1-H1 S2-H4 S3-H2 S3-H3");
    struct sm_config config = toy_config_sweeping(1000 * TOY_S);
    uint8_t info[20];
    toy_kill(toy, 0);
    toy_cut(toy, "S1", "S2"); /* this link is Init for the new master: it stays reachable */
    toy_link(toy, "S1", "S2");
    toy_start_manager(toy, "H2", &config);
    toy_run_until_sent(toy, "S2", ATTRIBUTE_PORT_INFO, METHOD_SET);
    memcpy(info, toy_node(toy, "S2")->switch_info, sizeof info);
    toy_switch_off(toy, "S2");
    toy_switch_on(toy, "S2");
    memcpy(toy_node(toy, "S2")->switch_info, info, sizeof info);
    toy_run(toy, TOY_MS);
    assert_non_null(toy_trap(toy, "S3", 128));
    toy_run(toy, 10 * TOY_S);
    assert_true(toy_delivers(toy));
    assert_true(toy_is_active(toy));
}

/* The link is found from S3; all probes from S1 are lost. */
static void a_link_whose_probe_was_lost_becomes_active_within_seconds(void **state)
{
    struct sm_config config = toy_config_sweeping(1000 * TOY_S);
    struct toy *toy = start(state, line, "H1", &config);
    toy->traps = true;
    toy_settle(toy);
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, "S3", ATTRIBUTE_NODE_INFO, METHOD_GET, 4});
    toy_link(toy, "S1", "S3");
    toy_run(toy, 10 * TOY_S);
    toy_assert_up(toy);
}

static void a_corrected_duplicate_guid_is_noticed_within_seconds(void **state)
{
    for (unsigned i = 0; i < 2; i++) {
        struct sm_config config = toy_config_sweeping(1000 * TOY_S);
        struct toy *toy = start(state, "S1-S2 S1-H1 S1-H2 S2-H3", "H1", &config);
        uint64_t guids[] = {toy_node(toy, "H2")->guid, toy_node(toy, "H3")->guid};
        toy_node(toy, i ? "H3" : "H2")->guid = guids[!i];
        toy_settle(toy);
        assert_true(toy_logged(toy, "two nodes share the GUID"));
        toy_run(toy, 30 * TOY_S);
        assert_int_equal(toy_present(toy), 4);
        toy_node(toy, "H2")->guid = guids[0];
        toy_node(toy, "H3")->guid = guids[1];
        toy_run(toy, 5 * TOY_S);
        toy_assert_up(toy);
        assert_int_equal(toy_present(toy), 5);
        if (!i)
            toy_close(state);
    }
}

static void a_node_that_answers_node_info_only_is_ignored(void **state)
{
    struct sm_config config = toy_config_sweeping(TOY_S);
    struct toy *toy = start(state, line, "H1", &config);
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, "H2", ATTRIBUTE_PORT_INFO, 0, 1000});
    toy_settle(toy);
    assert_int_equal(toy_present(toy), 4);
    toy_run(toy, 60 * TOY_S);
    assert_true(toy_logged(toy, "does not answer some requests"));
    toy_mark(toy);
    toy_run(toy, 60 * TOY_S);
    assert_in_range(toy_count(toy, "H2", ATTRIBUTE_PORT_INFO, 0), 4,
                    16); /* most sweeps ignore it */
    memset(toy->rules, 0, sizeof toy->rules);
    toy_run(toy, 30 * TOY_S);
    assert_true(toy_has_node(toy, "H2"));
    toy_assert_up(toy);
}

static void the_second_of_two_nodes_with_one_guid_is_ignored(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = start(state, "S1-S2 S1-H1 S1-H2 S2-H3", "H1", &config);
    toy_node(toy, "H3")->guid = toy_node(toy, "H2")->guid;
    toy_settle(toy);
    assert_true(toy_logged(toy, "two nodes share the GUID"));
    assert_int_equal(toy_present(toy), 4);
    toy_mark(toy);
    toy_run(toy, 3 * TOY_SWEEP);
    assert_false(toy_logged(toy, "two nodes share the GUID")); /* logged before */
    toy_switch_off(toy, "H2");
    toy_run(toy, 2 * TOY_SWEEP);
    toy_assert_up(toy);
}

static void the_first_of_a_switch_and_an_adapter_with_one_guid_is_used(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = start(state, line, "H1", &config);
    toy_node(toy, "H2")->guid = toy_node(toy, "S1")->guid;
    toy_settle(toy);
    assert_true(toy_logged(toy, "two nodes share the GUID"));
    assert_int_equal(toy_present(toy), 4);
}

/* Probes through its ports are outstanding when it is removed: their answers must not add links. */
static void a_switch_that_refuses_temporarily_is_found_again(void **state)
{
    for (unsigned times = 1; times <= 6; times++) {
        struct toy *toy = toy_up(state, "S1-S2 S2-S3 S3-S4 S4-S1 S1-S3 S1-H1 S3-H3");
        toy_add_rule(toy, (struct toy_rule){TOY_REFUSE, "S3", ATTRIBUTE_LINEAR_FORWARDING_TABLE,
                                            METHOD_GET, times});
        sm_rediscover(toy->sm, toy->now);
        toy_run(toy, 10 * TOY_SWEEP);
        assert_int_equal(toy_present(toy), 6);
        toy_assert_up(toy);
        if (times < 6)
            toy_close(state);
    }
}

static void a_sweep_starts_discovery_if_the_own_node_did_not_answer(void **state)
{
    struct toy *toy = toy_up(state, line);
    toy_add_rule(toy, (struct toy_rule){TOY_REFUSE, "H1", ATTRIBUTE_NODE_INFO, METHOD_GET, 1});
    sm_rediscover(toy->sm, toy->now);
    toy_run(toy, TOY_S);
    assert_int_equal(toy_present(toy), 0);
    toy_run(toy, TOY_SWEEP);
    assert_int_equal(toy_present(toy), 5);
    toy_assert_up(toy);
}

static void an_invalid_node_info_is_ignored(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = start(state, line, "H1", &config);
    toy_node(toy, "H2")->port_count = 0;
    toy_settle(toy);
    assert_int_equal(toy_present(toy), 4);
    assert_true(toy_logged(toy, "invalid NodeInfo"));
}

static void a_refused_read_has_the_consequences_of_a_time_out(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = start(state, line, "H1", &config);
    toy_add_rule(toy, (struct toy_rule){TOY_REFUSE, "H2", ATTRIBUTE_PORT_INFO, METHOD_GET, 1000});
    toy_settle(toy);
    assert_true(toy_logged(toy, "refuses PortInfo"));
    assert_int_equal(toy_present(toy), 4);
}

/* ---- the policy of the papers ---- */

static struct toy *start_paper(void **state)
{
    struct sm_config config = toy_config();
    config.policy = &sm_policy_paper;
    config.alone = true;
    config.mode = SM_STATIC;
    config.order = SM_ORDER_BREADTH;
    config.engine = engine_find("fera");
    struct toy *toy = toy_open(state, "S1-S2 S1-S3 S2-H1 S3-H2");
    for (unsigned i = 0; i < toy->node_count; i++)
        toy->nodes[i]->lenient = true;
    toy->hold_jobs = true;
    toy_start_manager(toy, "S1", &config);
    return toy;
}

static void discovery_of_the_papers_reads_only_node_info_and_port_info(void **state)
{
    struct toy *toy = start_paper(state);
    toy_run(toy, TOY_S);
    assert_non_null(toy->job);
    unsigned all = toy_count(toy, NULL, 0, 0);
    unsigned node_infos = toy_count(toy, NULL, ATTRIBUTE_NODE_INFO, METHOD_GET);
    unsigned port_infos = toy_count(toy, NULL, ATTRIBUTE_PORT_INFO, METHOD_GET);
    unsigned addresses = toy_count(toy, NULL, ATTRIBUTE_PORT_INFO, METHOD_SET);
    assert_int_equal(all, node_infos + port_infos + addresses);
    assert_int_equal(addresses, 5);                        /* one for each node */
    assert_int_equal(port_infos, 3 * (TOY_PORTS + 1) + 2); /* every port of every switch */
    assert_int_equal(node_infos, 5);                       /* not back to the previous node */
}

static void discovery_of_the_papers_probes_one_node_at_a_time(void **state)
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

static void phases_of_the_papers_manager_do_not_overlap(void **state)
{
    struct toy *toy = start_paper(state);
    toy_run(toy, TOY_S);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_LINEAR_FORWARDING_TABLE, 0), 0);
    assert_int_equal(toy_outstanding(toy, 0), 0); /* LIDs are written before routes are computed */
    toy_mark(toy);
    toy_compute(toy);
    toy_settle(toy);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_LINEAR_FORWARDING_TABLE, METHOD_SET), 3 * 16);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_PORT_INFO, METHOD_SET), 3 * 2 * TOY_PORTS);
    assert_int_equal(toy_count(toy, NULL, 0, 0), 3 * (16 + 2 * TOY_PORTS));
    toy_assert_up(toy);
}

static unsigned known_rate(struct toy *toy, const char *node, unsigned port)
{
    const struct subnet *subnet = sm_subnet(toy->sm);
    uint32_t index = map_get(&subnet->by_guid, toy_node(toy, node)->guid);
    assert_int_not_equal(index, MAP_NONE);
    return link_rate(subnet->ports.items[subnet->nodes.items[index].first_port + port].info);
}

static unsigned with_bit_31(const struct toy *toy, unsigned method, bool set)
{
    unsigned count = 0;
    for (size_t i = toy->mark; i < toy->sent.count; i++)
        count += toy->sent.items[i].attribute == ATTRIBUTE_PORT_INFO &&
                 toy->sent.items[i].method == method &&
                 (toy->sent.items[i].modifier >> 31 != 0) == set;
    return count;
}

static struct toy *start_ndr(void **state, bool strict, bool refuses)
{
    struct sm_config config = toy_config();
    struct toy *toy = toy_open(state, line);
    toy_make_ndr(toy);
    for (unsigned i = 0; i < toy->node_count; i++) {
        toy->nodes[i]->strict_speeds = strict;
        toy->nodes[i]->refuses_bit_31 = refuses;
    }
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    toy_assert_up(toy);
    return toy;
}

static void speeds_that_strict_agents_hide_are_read_with_bit_31(void **state)
{
    struct toy *toy = start_ndr(state, true, false);
    assert_int_equal(known_rate(toy, "H1", 1), 400000);
    assert_int_equal(known_rate(toy, "S2", 1), 400000);
    assert_int_equal(known_rate(toy, "S2", 2), 400000);
    assert_int_equal(known_rate(toy, "H2", 1), 400000);
    assert_int_equal(with_bit_31(toy, METHOD_SET, false), 0);
    assert_true(with_bit_31(toy, METHOD_SET, true) > 0);
    toy_mark(toy);
    sm_rediscover(toy->sm, toy->now);
    toy_settle(toy);
    assert_int_equal(with_bit_31(toy, METHOD_GET, false), 0);
    assert_int_equal(known_rate(toy, "H2", 1), 400000);
}

static void ports_of_agents_that_hide_nothing_are_read_once(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = start(state, line, "H1", &config);
    toy_settle(toy);
    unsigned reads = toy_count(toy, NULL, ATTRIBUTE_PORT_INFO, METHOD_GET);
    toy_close(state);
    toy = start_ndr(state, false, false);
    assert_int_equal(known_rate(toy, "H2", 1), 400000);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_PORT_INFO, METHOD_GET), reads);
}

static void agents_that_refuse_bit_31_are_asked_without_it(void **state)
{
    struct toy *toy = start_ndr(state, false, true);
    assert_false(toy_logged(toy, "refuses"));
    sm_rediscover(toy->sm, toy->now);
    toy_settle(toy);
    toy_assert_up(toy);
    assert_int_equal(toy_present(toy), 5);
    assert_int_equal(known_rate(toy, "H2", 1), 400000);
    assert_false(toy_logged(toy, "refuses"));
}

static void agents_without_extended_speeds_never_see_bit_31(void **state)
{
    struct toy *toy = toy_up(state, line);
    sm_rediscover(toy->sm, toy->now);
    toy_settle(toy);
    assert_int_equal(with_bit_31(toy, METHOD_GET, true) + with_bit_31(toy, METHOD_SET, true), 0);
}

static void set_link(struct toy *toy, const char *node, enum wire_field field, unsigned value)
{
    wire_set(toy_node(toy, node)->ports[1].info, field, value);
}

static bool reports_slow_link(void **state, enum wire_field active, unsigned value)
{
    struct sm_config config = toy_config();
    struct toy *toy = toy_open(state, "S1-H1 S1-H2");
    toy_make_ndr(toy);
    for (unsigned port = 1; port <= 2; port++) /* of the switch and of both adapters */
        wire_set(toy_node(toy, "S1")->ports[port].info, PORT_INFO_LINK_WIDTH_SUPPORTED, 2 | 16);
    set_link(toy, "H1", PORT_INFO_LINK_WIDTH_SUPPORTED, 2 | 16);
    set_link(toy, "H2", PORT_INFO_LINK_WIDTH_SUPPORTED, 2 | 16);
    if (value) {
        set_link(toy, "H1", active, value);
        set_link(toy, "S1", active, value);
    }
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    bool reported = toy_logged(toy, "slow link: ");
    toy_close(state);
    return reported;
}

static void links_below_their_width_or_extended_speed_are_reported(void **state)
{
    assert_false(reports_slow_link(state, PORT_INFO_LINK_WIDTH_ACTIVE, 0)); /* 4X is above 2X */
    assert_true(reports_slow_link(state, PORT_INFO_LINK_WIDTH_ACTIVE, 16));
    assert_true(reports_slow_link(state, PORT_INFO_LINK_SPEED_EXT_ACTIVE, 4));
    *state = NULL;
}

/* A host chooses its node description: it must not begin lines of the log or control terminals. */
static void control_characters_of_descriptions_do_not_reach_the_log(void **state)
{
    static const char bad[] = "\x1b[\nH\x7f\x9b\xff";
    struct toy *toy = toy_open(state, "S1-H1 S1-H2");
    struct sm_config config = toy_config();
    memcpy(toy_node(toy, "H2")->name, bad, sizeof bad);
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    assert_true(toy_logged(toy, "?[?H???"));
    for (const char *at = toy->events.data; *at; at += text_utf8_length(at))
        assert_true(*at == '\n' || text_shown_length(at));
    assert_false(toy_logged(toy, "\nH"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOY_TEST(every_node_and_link_of_any_topology_is_found),
        TOY_TEST(a_manager_may_run_on_a_switch),
        TOY_TEST(every_order_of_discovery_finds_all_nodes),
        TOY_TEST(the_same_subnet_gets_the_same_lids),
        TOY_TEST(lids_depend_neither_on_the_manager_nor_on_the_order_of_discovery),
        TOY_TEST(later_nodes_get_the_next_lids_in_the_same_order),
        TOY_TEST(lids_stay_after_a_rediscovery),
        TOY_TEST(a_new_manager_keeps_existing_lids),
        TOY_TEST(a_stored_lid_is_assigned_again),
        TOY_TEST(a_stored_lid_waits_for_its_absent_adapter),
        TOY_TEST(stored_lids_of_absent_adapters_are_used_if_no_others_are_left),
        TOY_TEST(a_link_lost_during_discovery_does_not_affect_the_rest),
        TOY_TEST(a_link_found_from_its_far_end_becomes_active),
        TOY_TEST(an_adapter_keeps_its_lid_at_another_port),
        TOY_TEST(a_new_node_is_found_by_a_trap_of_its_neighbor),
        TOY_TEST(an_agent_that_does_not_answer_delays_no_other_node),
        TOY_TEST(a_node_that_answers_again_is_found_within_seconds),
        TOY_TEST(a_link_whose_probe_was_lost_becomes_active_within_seconds),
        TOY_TEST(a_switch_that_was_reset_before_it_was_written_gets_its_table),
        TOY_TEST(a_corrected_duplicate_guid_is_noticed_within_seconds),
        TOY_TEST(a_node_that_answers_node_info_only_is_ignored),
        TOY_TEST(the_second_of_two_nodes_with_one_guid_is_ignored),
        TOY_TEST(the_first_of_a_switch_and_an_adapter_with_one_guid_is_used),
        TOY_TEST(a_switch_that_refuses_temporarily_is_found_again),
        TOY_TEST(a_sweep_starts_discovery_if_the_own_node_did_not_answer),
        TOY_TEST(an_invalid_node_info_is_ignored),
        TOY_TEST(a_refused_read_has_the_consequences_of_a_time_out),
        TOY_TEST(speeds_that_strict_agents_hide_are_read_with_bit_31),
        TOY_TEST(ports_of_agents_that_hide_nothing_are_read_once),
        TOY_TEST(agents_that_refuse_bit_31_are_asked_without_it),
        TOY_TEST(agents_without_extended_speeds_never_see_bit_31),
        cmocka_unit_test(links_below_their_width_or_extended_speed_are_reported),
        TOY_TEST(discovery_of_the_papers_reads_only_node_info_and_port_info),
        TOY_TEST(discovery_of_the_papers_probes_one_node_at_a_time),
        TOY_TEST(phases_of_the_papers_manager_do_not_overlap),
        TOY_TEST(control_characters_of_descriptions_do_not_reach_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
