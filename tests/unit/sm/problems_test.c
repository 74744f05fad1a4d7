/* Faults in the log and in the list of problems: each is named with its place, and is listed only
 * as long as it lasts. */
#include "toy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char line[] = "S1-S2 S1-H1 S1-H2 S2-H3";

/* Every third sweep reads all nodes. */
static struct toy *up_with_full_sweeps(void **state)
{
    struct sm_config config = toy_config();
    config.full_every = 3;
    return toy_up_with(state, line, config);
}

/* The link at this switch port goes down and trains again. */
static void flap(struct toy *toy, const char *name, unsigned port)
{
    struct toy_node *node = toy_node(toy, name), *peer = node->ports[port].peer;
    wire_set(node->ports[port].info, PORT_INFO_PORT_STATE, PORT_STATE_INIT);
    wire_set(peer->ports[node->ports[port].peer_port].info, PORT_INFO_PORT_STATE, PORT_STATE_INIT);
    toy_trap(toy, name, 128);
    toy_settle(toy);
    toy_run(toy, TOY_S);
}

static void refused_routes_are_a_problem_of_the_manager_s_node(void **state)
{
    struct toy *toy = up_with_full_sweeps(state);
    toy->refuse_jobs = true;
    toy_link(toy, "S1", "S2");
    toy_settle(toy);
    assert_string_equal(toy_problem(toy, PROBLEM_NO_ROUTES), "H1: the toy refuses");
    assert_int_equal(toy_count_problems(toy), 1);
    toy->refuse_jobs = false;
    sm_reroute(toy->sm, toy->now);
    toy_settle(toy);
    assert_int_equal(toy_count_problems(toy), 0);
}

static void a_subnet_without_faults_has_no_problems(void **state)
{
    struct toy *toy = up_with_full_sweeps(state);
    assert_int_equal(toy_count_problems(toy), 0);
    toy_run(toy, 10 * TOY_SWEEP);
    assert_int_equal(toy_count_problems(toy), 0);
}

static void a_lost_link_is_logged_with_both_ends(void **state)
{
    struct toy *toy = toy_up(state, "S1-S2 S2-S3 S3-S1 S1-H1 S2-H2");
    toy_cut(toy, "S1", "S2");
    toy_settle(toy);
    assert_true(toy_logged(toy, "link down: S1 port 1 <-> S2 port 1") ||
                toy_logged(toy, "link down: S2 port 1 <-> S1 port 1"));
    assert_true(toy_logged(toy, "Link state change"));
    assert_string_equal(toy_problem(toy, PROBLEM_NODE_GONE), "");
}

static void a_link_that_flaps_is_counted_and_listed_for_ten_minutes(void **state)
{
    struct toy *toy = toy_up(state, line);
    flap(toy, "S2", 2);
    assert_int_equal(toy_count_problems(toy), 0);
    flap(toy, "S2", 2);
    flap(toy, "S2", 2);
    assert_true(toy_logged(toy, "S2 port 2 <-> H3 port 1 (3rd time in 10 min)"));
    assert_string_equal(toy_problem(toy, PROBLEM_FLAPPING_LINK),
                        "S2 port 2 <-> H3 port 1: the link went down 3 times in 10 min");
    toy_run(toy, 601 * TOY_S);
    assert_int_equal(toy_count_problems(toy), 0);
}

/* Nodes have the same description of 64 bytes: their names are the longest ones. */
static const char long_name[] = "a-leaf-in-row-17-of-the-second-room-0123456789-0123456789-012345";

static struct toy *up_with_long_names(void **state, const char *links)
{
    struct sm_config config = toy_config();
    struct toy *toy = toy_open(state, links);
    assert_int_equal(strlen(long_name), 64);
    strcpy(toy_node(toy, "S2")->description, long_name);
    strcpy(toy_node(toy, "H2")->description, long_name);
    strcpy(toy_node(toy, "H3")->description, long_name);
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    toy_mark(toy);
    return toy;
}

static void the_longest_names_are_whole_in_logs_and_problems(void **state)
{
    struct toy *toy = up_with_long_names(state, line);
    const struct toy_node *near = toy_node(toy, "S2"), *far = toy_node(toy, "H3");
    char at[128], link[256], text[1024];
    snprintf(at, sizeof at, "%s (0x%016llx) port 2", long_name, (unsigned long long)near->guid);
    snprintf(link, sizeof link, "%s <-> %s (0x%016llx) port 1", at, long_name,
             (unsigned long long)far->guid);
    struct sm_link_errors errors = {
        .port = sm_subnet(toy->sm)
                    ->nodes.items[map_get(&sm_subnet(toy->sm)->by_guid, near->guid)]
                    .first_port +
                2,
        .what = "packets that an earlier hop marked as bad",
        .count = UINT64_MAX,
        .period_ns = UINT64_C(600000) * TOY_S,
        .limit = UINT32_MAX};
    snprintf(text, sizeof text, "%s counted %llu %s in 600000 s (limit: %u a minute)", at,
             (unsigned long long)errors.count, errors.what, errors.limit);
    sm_note_error_rate(toy->sm, toy->now, &errors);
    toy_run(toy, TOY_S);
    assert_true(toy_logged(toy, "bad cable: "));
    assert_true(toy_logged(toy, link));
    assert_true(toy_logged(toy, text));
    const char *problem = toy_problem(toy, PROBLEM_BAD_CABLE);
    assert_int_equal(strncmp(problem, link, strlen(link)), 0);
    assert_non_null(strstr(problem, text));
}

/* The summary of a change names a node that is missing, with its place, and the cause. */
static void the_longest_names_are_whole_in_the_summary_of_a_change(void **state)
{
    struct toy *toy = up_with_long_names(state, line);
    char text[512];
    toy_node(toy, "H3")->mute = true;
    flap(toy, "S2", 2);
    toy_run(toy, 10 * TOY_S);
    toy_settle(toy);
    snprintf(text, sizeof text,
             "subnet up, except for 1 problem (%s (0x%016llx): its link is up (%s (0x%016llx) "
             "port 2), but it does not answer SMPs): 2 switches",
             long_name, (unsigned long long)toy_node(toy, "H3")->guid, long_name,
             (unsigned long long)toy_node(toy, "S2")->guid);
    assert_true(toy_logged(toy, text));
    assert_true(toy_logged(toy, " port settings"));
}

/* Both switches report the loss of a link between them. */
static void a_loss_that_both_ends_report_is_one_loss(void **state)
{
    struct toy *toy = toy_up(state, "S1-S2 S2-S3 S3-S1 S1-H1 S2-H2");
    for (unsigned i = 0; i < 3; i++) {
        wire_set(toy_node(toy, "S2")->ports[2].info, PORT_INFO_PORT_STATE, PORT_STATE_INIT);
        wire_set(toy_node(toy, "S3")->ports[1].info, PORT_INFO_PORT_STATE, PORT_STATE_INIT);
        toy_trap(toy, "S2", 128);
        toy_settle(toy);
        toy_trap(toy, "S3", 128);
        toy_settle(toy);
        toy_run(toy, TOY_S);
    }
    assert_true(toy_logged(toy, "(3rd time in 10 min)"));
    assert_false(toy_logged(toy, "(4th time in 10 min)"));
    assert_non_null(strstr(toy_problem(toy, PROBLEM_FLAPPING_LINK), "went down 3 times in 10 min"));
    toy_assert_up(toy);
}

static void a_node_that_does_not_answer_is_listed_until_it_does(void **state)
{
    struct toy *toy = up_with_full_sweeps(state);
    toy_node(toy, "H3")->mute = true;
    toy_run(toy, 7 * TOY_SWEEP);
    assert_true(toy_logged(toy, "adapter H3 does not answer behind S2 port 2"));
    assert_string_equal(toy_problem(toy, PROBLEM_DEAD_AGENT),
                        "H3: its link is up (S2 port 2), but it does not answer SMPs");
    assert_int_equal(toy_count_problems(toy), 1);
    toy_node(toy, "H3")->mute = false;
    toy_run(toy, 7 * TOY_SWEEP);
    assert_int_equal(toy_count_problems(toy), 0);
}

static void a_host_that_is_cut_off_is_listed_with_its_port(void **state)
{
    struct toy *toy = toy_up(state, line);
    toy_cut(toy, "S2", "H3");
    toy_settle(toy);
    assert_true(toy_logged(toy, "\"H3\" left the subnet (S2 port 2)"));
    assert_string_equal(toy_problem(toy, PROBLEM_HOST_GONE), "H3: its link is down (S2 port 2)");
    assert_int_equal(toy_count_problems(toy), 1);
    toy_link(toy, "S2", "H3");
    toy_settle(toy);
    assert_int_equal(toy_count_problems(toy), 0);
}

/* S2 has three hosts, and links to S1 and S3. */
static const char two_ways[] = "S1-S3 S1-H1 S2-S1 S2-S3 S2-H2 S2-H3 S2-H4 S3-H5";

static struct toy *up_with_two_ways(void **state)
{
    struct sm_config config = toy_config();
    config.full_every = 3;
    struct toy *toy = toy_up_with(state, two_ways, config);
    assert_int_equal(toy_count_problems(toy), 0);
    return toy;
}

/* The switch at the other end may report the loss of the link a second later. */
static void a_cut_cable_is_no_dead_agent(void **state)
{
    struct toy *toy = up_with_two_ways(state);
    toy_cut(toy, "S1", "S3");
    toy_trap(toy, "S1", 128);
    toy_run(toy, TOY_MS);
    assert_true(toy_logged(toy, "link down: "));
    assert_false(toy_logged(toy, "except for"));
    toy_run(toy, 7 * TOY_SWEEP);
    assert_string_equal(toy_problem(toy, PROBLEM_LOST_LINK),
                        "S1 port 1 <-> S3 port 1: the link is down; both ends answer by other "
                        "paths");
    assert_int_equal(toy_count_problems(toy), 1);
}

static void a_lost_link_is_listed_until_it_returns(void **state)
{
    struct toy *toy = up_with_two_ways(state);
    toy_cut(toy, "S1", "S3");
    toy_run(toy, 2 * TOY_SWEEP);
    assert_int_equal(toy_count_problems(toy), 1);
    toy_link(toy, "S1", "S3");
    toy_run(toy, 2 * TOY_SWEEP);
    assert_int_equal(toy_count_problems(toy), 0);
}

/* The next manager has the links of the last run. */
static void a_lost_link_is_listed_after_a_restart(void **state)
{
    struct toy *toy = up_with_two_ways(state);
    uint64_t s1 = toy_node(toy, "S1")->guid, s3 = toy_node(toy, "S3")->guid;
    const struct sm_neighbour links[] = {
        {.guid = s1, .peer_guid = s3, .number = 1, .peer_number = 1},  /* is cut now */
        {.guid = s1, .peer_guid = s3, .number = 2, .peer_number = 99}, /* no such port */
        {.guid = s1, .peer_guid = 0x1234, .number = 1, .peer_number = 1},
    };
    toy_cut(toy, "S1", "S3");
    toy_kill(toy, 0);
    struct sm_config config = toy_config();
    config.full_every = 3;
    unsigned again = toy_add_manager(toy, "H1", &config);
    toy->sm = toy->managers[again].sm;
    for (unsigned i = 0; i < 3; i++)
        sm_restore_link(toy->sm, &links[i]);
    sm_start(toy->sm, toy->now);
    toy_run(toy, 7 * TOY_SWEEP);
    assert_int_equal(toy_count_problems(toy), 1);
    assert_string_equal(toy_problem(toy, PROBLEM_LOST_LINK),
                        "S1 port 1 <-> S3 port 1: the link is down; both ends answer by other "
                        "paths");
    toy_link(toy, "S1", "S3");
    toy_run(toy, 2 * TOY_SWEEP);
    assert_int_equal(toy_count_problems(toy), 0);
}

/* The first free ports of S1 and S3 are those of the cut cable. */
static void a_cable_that_was_moved_is_not_lost(void **state)
{
    struct toy *toy = up_with_two_ways(state);
    toy_cut(toy, "S1", "S3");
    toy_run(toy, 2 * TOY_SWEEP);
    toy_link(toy, "S1", "S2");
    toy_run(toy, 2 * TOY_SWEEP);
    assert_int_equal(toy_count_problems(toy), 0);
}

static void a_link_that_loses_smps_is_listed_until_it_loses_none(void **state)
{
    struct toy *toy = up_with_two_ways(state);
    toy_node(toy, "H5")->loses_every = 5;
    toy_run(toy, 20 * TOY_SWEEP);
    assert_string_equal(toy_problem(toy, PROBLEM_LOSSY_LINK),
                        "S3 port 3 <-> H5 port 1: of 30 SMPs that were sent over it, 6 were not "
                        "answered");
    assert_int_equal(toy_count_problems(toy), 1);
    toy_node(toy, "H5")->loses_every = 0;
    toy_run(toy, 3 * TOY_SWEEP);
    assert_int_equal(toy_count_problems(toy), 0);
}

/* S2 and S4 are lost over the first link; S4 has another link, over which it was not tried yet. */
static void nodes_lost_over_a_bad_link_are_no_dead_agents(void **state)
{
    struct toy *toy = toy_up(state, "S1-S2 S1-S3 S2-S4 S3-S4 S1-H1 S4-H2");
    uint32_t s2 = map_get(&sm_subnet(toy->sm)->by_guid, toy_node(toy, "S2")->guid);
    struct sm_link_errors errors = {.port = sm_subnet(toy->sm)->nodes.items[s2].first_port + 1,
                                    .count = 100,
                                    .what = "symbol errors",
                                    .period_ns = 10 * TOY_S,
                                    .limit = 60};
    sm_note_error_rate(toy->sm, toy->now, &errors);
    toy_mark(toy);
    toy_node(toy, "S2")->mute = toy_node(toy, "S4")->mute = true;
    for (unsigned i = 0; i < 300 && !toy_logged(toy, "\"S4\" is out of reach"); i++)
        toy_run(toy, TOY_SWEEP / 10);
    assert_true(toy_logged(toy, "\"S4\" is out of reach"));
    assert_string_equal(toy_problem(toy, PROBLEM_DEAD_AGENT), "");
    assert_int_equal(toy_count_problems(toy), 1);
    toy_node(toy, "S2")->mute = false;
    toy_run(toy, 60 * TOY_SWEEP); /* it does not answer over the other link either */
    assert_non_null(strstr(toy_problem(toy, PROBLEM_DEAD_AGENT), "S4: its links are up"));
}

static void one_lost_smp_is_no_lossy_link(void **state)
{
    struct toy *toy = up_with_two_ways(state);
    toy_add_rule(toy, (struct toy_rule){.fault = TOY_LOSE, .node = "S3", .times = 1});
    toy_run(toy, 7 * TOY_SWEEP);
    assert_int_equal(toy_count_problems(toy), 0);
}

/* Its answers are in time, or a repetition is under way when the first one arrives. */
static void an_agent_that_answers_late_is_listed(void **state)
{
    static const uint64_t delays[] = {60 * TOY_MS, 150 * TOY_MS};
    struct toy *toy = up_with_two_ways(state);
    for (unsigned i = 0; i < 2; i++) {
        char expected[128];
        toy_node(toy, "S2")->delay = delays[i];
        toy_run(toy, 7 * TOY_SWEEP);
        snprintf(expected, sizeof expected, "S2: its agent takes %u ms or more to answer an SMP",
                 (unsigned)(delays[i] / TOY_MS));
        assert_string_equal(toy_problem(toy, PROBLEM_SLOW_AGENT), expected);
        assert_int_equal(toy_count_problems(toy), 1);
        toy_node(toy, "S2")->delay = 0;
        toy_run(toy, 7 * TOY_SWEEP);
        assert_int_equal(toy_count_problems(toy), 0);
    }
}

static int clear(struct toy *toy, const char *name, unsigned port)
{
    struct err err = {0};
    return sm_clear_problems(toy->sm, toy->now, name, port, &err);
}

static void a_standby_that_ended_is_listed_until_it_is_cleared(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = up_with_two_ways(state);
    unsigned standby = toy_start_manager(toy, "H5", &config);
    toy_run(toy, 7 * TOY_SWEEP);
    assert_int_equal(toy_count_problems(toy), 0);
    toy_kill(toy, standby);
    toy_run(toy, 7 * TOY_SWEEP);
    assert_string_equal(toy_problem(toy, PROBLEM_STANDBY_GONE),
                        "S3 port 3 <-> H5 port 1: the manager at H5 port 1 has ended");
    assert_int_equal(toy_count_problems(toy), 1);
    assert_int_equal(clear(toy, "H5", 0), 0);
    toy_run(toy, 7 * TOY_SWEEP);
    assert_int_equal(toy_count_problems(toy), 0);
}

static void an_intended_removal_is_cleared(void **state)
{
    struct toy *toy = up_with_two_ways(state);
    assert_int_equal(clear(toy, "S1", 0), -EINVAL);
    toy_cut(toy, "S1", "S3");
    toy_cut(toy, "S3", "H5");
    toy_run(toy, 2 * TOY_SWEEP);
    assert_int_equal(toy_count_problems(toy), 2);
    assert_int_equal(clear(toy, "S3", 3), 0); /* the link of H5 */
    assert_string_equal(toy_problem(toy, PROBLEM_HOST_GONE), "");
    assert_int_equal(clear(toy, "S3", 1), 0);
    assert_int_equal(toy_count_problems(toy), 0);
    assert_int_equal(clear(toy, "S4", 0), -EINVAL);
    assert_int_equal(clear(toy, "S3", 9), -EINVAL);
    toy_cut(toy, "S2", "S1");
    toy_cut(toy, "S2", "S3");
    toy_run(toy, 2 * TOY_SWEEP);
    assert_non_null(strstr(toy_problem(toy, PROBLEM_NODE_GONE), "4 nodes behind it"));
    assert_int_equal(clear(toy, "S2", 0), 0);
    assert_int_equal(toy_count_problems(toy), 0);
    toy_run(toy, 7 * TOY_SWEEP);
    assert_int_equal(toy_count_problems(toy), 0);
}

static void a_switch_that_does_not_answer_is_one_problem(void **state)
{
    struct toy *toy = up_with_two_ways(state);
    toy_node(toy, "S2")->mute = true;
    toy_run(toy, 7 * TOY_SWEEP);
    assert_string_equal(toy_problem(toy, PROBLEM_DEAD_AGENT),
                        "S2: its links are up (S1 port 3, S3 port 2), but it does not answer SMPs; "
                        "3 nodes behind it are "
                        "out of reach, but packets may still pass: H2, H3, H4");
    assert_int_equal(toy_count_problems(toy), 1);
    toy_node(toy, "S2")->mute = false;
    toy_run(toy, 7 * TOY_SWEEP);
    assert_int_equal(toy_count_problems(toy), 0);
}

static void a_switch_without_links_is_one_problem(void **state)
{
    struct toy *toy = up_with_two_ways(state);
    toy_cut(toy, "S2", "S1");
    toy_cut(toy, "S2", "S3");
    toy_run(toy, 7 * TOY_SWEEP);
    assert_string_equal(toy_problem(toy, PROBLEM_NODE_GONE),
                        "S2: its links are down (S1 port 3, S3 port 2); 3 nodes behind it are cut "
                        "off: H2, H3, H4");
    assert_int_equal(toy_count_problems(toy), 1);
}

static void a_node_that_takes_the_guid_of_another_is_named(void **state)
{
    struct toy *toy = up_with_full_sweeps(state);
    unsigned long long was = toy_node(toy, "H3")->guid, guid = toy_node(toy, "H2")->guid;
    char expected[512];
    toy_node(toy, "H3")->guid = guid;
    toy_run(toy, 7 * TOY_SWEEP);
    snprintf(expected, sizeof expected,
             "S2 port 2 <-> H3 port 1: H3 has the GUID 0x%016llx of H2 (S1 port 3 <-> H2 port 1), "
             "and changed its GUID: it was 0x%016llx; H3 is left out, H2 keeps the GUID",
             guid, was);
    assert_string_equal(toy_problem(toy, PROBLEM_DUPLICATE_GUID), expected);
    assert_int_equal(toy_count_problems(toy), 1);
}

/* The node that takes the GUID is nearer to the manager, so that it is found first when discovery
 * starts again. */
static void a_guid_stays_with_the_node_that_had_it(void **state)
{
    struct toy *toy = up_with_full_sweeps(state);
    unsigned long long was = toy_node(toy, "H2")->guid, guid = toy_node(toy, "H3")->guid;
    char expected[512];
    toy_node(toy, "H2")->guid = guid;
    toy_run(toy, 7 * TOY_SWEEP);
    snprintf(expected, sizeof expected,
             "S1 port 3 <-> H2 port 1: H2 has the GUID 0x%016llx of H3 (S2 port 2 <-> H3 port 1), "
             "and changed its GUID: it was 0x%016llx; H2 is left out, H3 keeps the GUID",
             guid, was);
    assert_string_equal(toy_problem(toy, PROBLEM_DUPLICATE_GUID), expected);
    assert_int_equal(toy_count_problems(toy), 1);
    assert_false(toy_logged(toy, "link up")); /* no link has changed */
    toy_node(toy, "H2")->guid = was;
    toy_run(toy, 7 * TOY_SWEEP);
    assert_int_equal(toy_count_problems(toy), 0);
    assert_true(toy_has_node(toy, "H2"));
    toy_node(toy, "H2")->guid = guid; /* if the other node leaves, the GUID is free */
    toy_run(toy, 7 * TOY_SWEEP);
    toy_cut(toy, "S2", "H3");
    toy_run(toy, 7 * TOY_SWEEP);
    assert_string_equal(toy_problem(toy, PROBLEM_DUPLICATE_GUID), "");
}

/* Its links are up, and what is behind it keeps its tables. */
static void nodes_behind_a_mute_switch_are_not_called_gone(void **state)
{
    struct toy *toy = toy_up(state, "S1-S2 S1-H1 S2-H2 S2-H3 S2-H4");
    toy_mark(toy);
    toy_node(toy, "S2")->mute = true;
    toy_run(toy, 40 * TOY_SWEEP);
    assert_string_equal(toy_problem(toy, PROBLEM_DEAD_AGENT),
                        "S2: its link is up (S1 port 1), but it does not answer SMPs; 3 nodes "
                        "behind it are out of reach, but packets may still pass: H2, H3, H4");
    assert_int_equal(toy_count_problems(toy), 1);
    assert_true(toy_logged(toy, "\"H3\" is out of reach (S2 port 3)"));
    assert_false(toy_logged(toy, "left the subnet"));
    toy_node(toy, "S2")->mute = false;
    toy_run(toy, 40 * TOY_SWEEP);
    assert_int_equal(toy_count_problems(toy), 0);
    assert_true(toy_logged(toy, "switch S2 is back"));
    assert_false(toy_logged(toy, "link up"));
}

static void links_between_switches_that_restart_do_not_flap(void **state)
{
    static const char *const restarted[] = {"S2", "S3", "S2", "S3"};
    struct toy *toy = toy_up(state, "S1-S2 S1-S3 S1-S4 S2-S3 S2-S4 S1-H1");
    for (unsigned i = 0; i < 4; i++) {
        toy_switch_off(toy, restarted[i]);
        toy_run(toy, 2 * TOY_SWEEP);
        assert_non_null(strstr(toy_problem(toy, PROBLEM_NODE_GONE), restarted[i]));
        assert_int_equal(toy_count_problems(toy), 1);
        toy_switch_on(toy, restarted[i]);
        toy_run(toy, 2 * TOY_SWEEP);
        assert_int_equal(toy_count_problems(toy), 0);
    }
}

static void two_nodes_with_one_guid_are_named_with_both_places(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = toy_open(state, line);
    toy_node(toy, "H3")->guid = toy_node(toy, "H2")->guid;
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    assert_true(toy_logged(toy, "one is at S1 port 3 <-> H2 port 1, the second at S2 port 2"));
    assert_non_null(strstr(toy_problem(toy, PROBLEM_DUPLICATE_GUID), "S2 port 2: the node behind"));
    assert_non_null(strstr(toy_problem(toy, PROBLEM_DUPLICATE_GUID), "S1 port 3 <-> H2 port 1"));
}

static void a_full_sweep_finds_a_node_that_changed_its_guid(void **state)
{
    struct toy *toy = up_with_full_sweeps(state);
    toy_node(toy, "H3")->guid = 0x777700;
    toy_run(toy, 7 * TOY_SWEEP);
    assert_true(toy_logged(toy, "GUID change: S2 port 2 <-> H3 port 1 has the GUID "
                                "0x0000000000777700 now"));
    assert_false(toy_logged(toy, "<-> 0x")); /* a link to a node whose name is not read yet */
    assert_true(toy_has_node(toy, "H3"));
    toy_assert_up(toy);
}

static void the_sender_of_a_bad_m_key_is_found_by_its_directed_route(void **state)
{
    struct toy *toy = toy_up(state, line);
    uint8_t *details = wire_bytes(toy_trap(toy, "S1", 256), NOTICE_DATA);
    wire_set(details, TRAP_BAD_M_KEY_METHOD, METHOD_SET);
    wire_set(details, TRAP_BAD_M_KEY_ATTRIBUTE_ID, ATTRIBUTE_PORT_INFO);
    wire_set(details, TRAP_BAD_M_KEY_M_KEY, 0x77);
    wire_set(details, TRAP_BAD_M_KEY_DIRECTED, 1);
    wire_set(details, TRAP_BAD_M_KEY_HOP_COUNT, 2);
    wire_set_at(details, TRAP_BAD_M_KEY_RETURN_PATH, 1, 2); /* arrival at S2 */
    wire_set_at(details, TRAP_BAD_M_KEY_RETURN_PATH, 2, 1); /* arrival at S1 */
    toy_settle(toy);
    toy_run(toy, TOY_S);
    assert_true(toy_logged(toy, "Set(PortInfo 0x15) from S2 port 2 <-> "
                                "H3 port 1"));
}
static void a_switch_that_refuses_its_table_is_listed(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = toy_open(state, line);
    toy_add_rule(toy, (struct toy_rule){TOY_REFUSE, "S2", ATTRIBUTE_LINEAR_FORWARDING_TABLE,
                                        METHOD_SET, 1000});
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    assert_string_equal(toy_problem(toy, PROBLEM_REFUSED_TABLE),
                        "S2: the switch refuses 1 block of its forwarding table: it lacks routes");
    memset(toy->rules, 0, sizeof toy->rules);
    toy_run(toy, 3 * TOY_SWEEP);
    assert_int_equal(toy_count_problems(toy), 0);
}

static void a_second_master_is_listed(void **state)
{
    struct toy *toy = toy_up(state, line);
    toy_claim_manager(toy, "H3", 0, SM_MASTER);
    toy_trap(toy, "H3", 144);
    toy_run(toy, 2 * TOY_SWEEP);
    assert_string_equal(toy_problem(toy, PROBLEM_FOREIGN_MANAGER),
                        "S2 port 2 <-> H3 port 1: a second SM is master, too (priority 0; this "
                        "manager's is 0)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOY_TEST(a_subnet_without_faults_has_no_problems),
        TOY_TEST(a_lost_link_is_logged_with_both_ends),
        TOY_TEST(a_link_that_flaps_is_counted_and_listed_for_ten_minutes),
        TOY_TEST(the_longest_names_are_whole_in_logs_and_problems),
        TOY_TEST(the_longest_names_are_whole_in_the_summary_of_a_change),
        TOY_TEST(a_loss_that_both_ends_report_is_one_loss),
        TOY_TEST(a_node_that_does_not_answer_is_listed_until_it_does),
        TOY_TEST(a_host_that_is_cut_off_is_listed_with_its_port),
        TOY_TEST(a_cut_cable_is_no_dead_agent),
        TOY_TEST(a_lost_link_is_listed_until_it_returns),
        TOY_TEST(a_lost_link_is_listed_after_a_restart),
        TOY_TEST(a_cable_that_was_moved_is_not_lost),
        TOY_TEST(an_intended_removal_is_cleared),
        TOY_TEST(a_guid_stays_with_the_node_that_had_it),
        TOY_TEST(nodes_behind_a_mute_switch_are_not_called_gone),
        TOY_TEST(links_between_switches_that_restart_do_not_flap),
        TOY_TEST(a_standby_that_ended_is_listed_until_it_is_cleared),
        TOY_TEST(a_link_that_loses_smps_is_listed_until_it_loses_none),
        TOY_TEST(nodes_lost_over_a_bad_link_are_no_dead_agents),
        TOY_TEST(one_lost_smp_is_no_lossy_link),
        TOY_TEST(an_agent_that_answers_late_is_listed),
        TOY_TEST(a_switch_that_does_not_answer_is_one_problem),
        TOY_TEST(a_switch_without_links_is_one_problem),
        TOY_TEST(a_node_that_takes_the_guid_of_another_is_named),
        TOY_TEST(two_nodes_with_one_guid_are_named_with_both_places),
        TOY_TEST(a_full_sweep_finds_a_node_that_changed_its_guid),
        TOY_TEST(the_sender_of_a_bad_m_key_is_found_by_its_directed_route),
        TOY_TEST(a_switch_that_refuses_its_table_is_listed),
        TOY_TEST(refused_routes_are_a_problem_of_the_manager_s_node),
        TOY_TEST(a_second_master_is_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
