/* Transactions: the window of outstanding SMPs, time-outs, retries and unexpected answers. */
#include "sm/policy.h"
#include "toy.h"

#include <string.h>

enum { RETRIES = 3 };

static struct toy *start(void **state, const char *links, uint32_t window)
{
    struct toy *toy = toy_open(state, links);
    struct sm_config config = toy_config();
    config.window = window;
    config.retries = RETRIES;
    toy_start_manager(toy, "H1", &config);
    return toy;
}

static struct sm_counts counts_of(const struct toy *toy)
{
    struct sm_counts counts;
    sm_counts(toy->sm, &counts);
    return counts;
}

/* The time at which the n-th SMP of this kind was sent. */
static uint64_t time_sent(const struct toy *toy, const char *node, unsigned attribute, unsigned n)
{
    for (size_t i = 0; i < toy->sent.count; i++)
        if (toy->sent.items[i].attribute == attribute && toy->sent.items[i].node &&
            strcmp(toy->sent.items[i].node->name, node) == 0 && n-- == 0)
            return toy->sent.items[i].at;
    fail_msg("too few SMPs of this kind were sent");
    return 0;
}

static void each_retry_has_twice_the_time_out(void **state)
{
    struct toy *toy = start(state, "S1-H1 S1-H2", 256);
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, "H2", ATTRIBUTE_NODE_DESCRIPTION, 0, 2});
    toy_settle(toy);
    assert_int_equal(toy_count(toy, "H2", ATTRIBUTE_NODE_DESCRIPTION, 0), 3);
    uint64_t first = time_sent(toy, "H2", ATTRIBUTE_NODE_DESCRIPTION, 0);
    assert_int_equal(time_sent(toy, "H2", ATTRIBUTE_NODE_DESCRIPTION, 1), first + TOY_TIMEOUT);
    assert_int_equal(time_sent(toy, "H2", ATTRIBUTE_NODE_DESCRIPTION, 2), first + 3 * TOY_TIMEOUT);
    assert_int_equal(counts_of(toy).timeouts, 2);
    assert_int_equal(counts_of(toy).gave_up, 0);
    toy_assert_up(toy);
}

static void a_request_fails_after_its_retries(void **state)
{
    struct toy *toy = start(state, "S1-H1 S1-H2", 256);
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, "H2", ATTRIBUTE_NODE_DESCRIPTION, 0, 1000});
    toy_settle(toy);
    assert_int_equal(toy_count(toy, "H2", ATTRIBUTE_NODE_DESCRIPTION, 0), RETRIES + 1);
    assert_int_equal(counts_of(toy).gave_up, 1);
    toy_assert_up(toy);
}

static void a_lost_answer_causes_one_retry(void **state)
{
    struct toy *toy = start(state, "S1-S2 S1-H1 S2-H2", 256);
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE_ANSWER, NULL, 0, METHOD_SET, 5});
    toy_settle(toy);
    assert_int_equal(counts_of(toy).timeouts, 5);
    assert_int_equal(counts_of(toy).sent, counts_of(toy).answered + 5);
    toy_assert_up(toy);
}

static void no_more_than_the_window_is_ever_outstanding(void **state)
{
    static const uint32_t windows[] = {1, 3, 8};
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        struct toy *toy = start(state, "S1-S2 S1-S3 S2-S3 S1-H1 S2-H2 S3-H3", windows[i]);
        toy_settle(toy);
        assert_int_equal(toy->most_outstanding, windows[i]);
        toy_assert_up(toy);
        toy_close(state);
    }
    start(state, "S1-H1", 1);
}

static void a_loss_halves_the_window_once_in_a_time_out(void **state)
{
    struct toy *toy = toy_open(state, "S1-H1");
    struct sm_policy policy = sm_policy_default;
    struct sm_config config = toy_config();
    policy.chases_losses = false; /* else a node that is late gets one request at a time */
    config.policy = &policy;
    config.window = 8;
    toy_start_manager(toy, "H1", &config);
    toy_run_until_sent(toy, "S1", ATTRIBUTE_PORT_INFO, METHOD_GET);
    assert_int_equal(toy_outstanding(toy, 0), 8); /* of 11 */
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, "S1", 0, 0, 8});
    toy_run(toy, TOY_TIMEOUT - TOY_LATENCY);
    toy_mark(toy);
    toy_run(toy, TOY_LATENCY); /* all eight time out at the same moment */
    toy_take_outputs(toy);
    assert_int_equal(counts_of(toy).timeouts, 8);
    assert_int_equal(toy_count(toy, NULL, 0, 0), 4);
    toy_settle(toy);
    toy_assert_up(toy);
}

/* A full sweep reads all ports of two switches. The requests to the mute one leave the window after
 * the first time-out. */
static void a_node_that_does_not_answer_delays_no_other(void **state)
{
    struct toy *toy = toy_open(state, "S1-H1 S1-S2 S1-S3 S2-H2 S2-H3 S2-H4 S2-H5");
    struct sm_config config = toy_config_sweeping(10 * TOY_S);
    config.full_every = 1;
    config.window = 4;
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    toy_node(toy, "S2")->mute = true;
    toy_mark(toy);
    toy_run_until_sent(toy, "S1", ATTRIBUTE_PORT_INFO, METHOD_GET); /* the sweep begins */
    toy_run(toy, TOY_TIMEOUT + 2 * TOY_MS);
    assert_int_equal(toy_count(toy, "S3", ATTRIBUTE_PORT_INFO, METHOD_GET), 1 + TOY_PORTS);
    toy_node(toy, "S2")->mute = false;
    toy_run(toy, 4 * TOY_S);
    toy_assert_up(toy);
}

static void duplicate_and_late_answers_are_ignored(void **state)
{
    struct toy *toy = start(state, "S1-S2 S1-H1 S2-H2", 256);
    toy_add_rule(toy, (struct toy_rule){TOY_REPEAT, NULL, 0, 0, 1000});
    toy_settle(toy);
    toy_run(toy, TOY_S);
    assert_int_equal(counts_of(toy).answered, counts_of(toy).sent);
    toy_assert_up(toy);
}

static void an_answer_after_the_time_out_is_used_once(void **state)
{
    struct toy *toy = start(state, "S1-S2 S1-H1 S2-H2", 256);
    toy_add_rule(toy, (struct toy_rule){TOY_DELAY, NULL, 0, METHOD_SET, 4});
    toy_settle(toy);
    toy_run(toy, TOY_S);
    assert_int_equal(counts_of(toy).timeouts, 4);
    assert_int_equal(counts_of(toy).answered, counts_of(toy).sent - 4);
    toy_assert_up(toy);
}

static void answer_to(struct toy *toy, uint64_t tid, unsigned attribute, uint32_t modifier)
{
    struct sm_message message = {.lid = LID_PERMISSIVE};
    wire_set(message.mad, MAD_CLASS, CLASS_SUBN_DIRECTED);
    wire_set(message.mad, MAD_METHOD, METHOD_GET_RESP);
    wire_set(message.mad, MAD_TID, tid);
    wire_set(message.mad, MAD_ATTRIBUTE_ID, attribute);
    wire_set(message.mad, MAD_ATTRIBUTE_MODIFIER, modifier);
    sm_receive(toy->sm, toy->now, &message);
}

/* The ports of S1 are read once more. */
static struct toy *reading_ports(void **state)
{
    struct toy *toy = toy_up(state, "S1-S2 S1-H1 S2-H2");
    toy_link(toy, "S1", "S2");
    toy_run_until_sent(toy, "S1", ATTRIBUTE_PORT_INFO, METHOD_GET);
    assert_true(toy_outstanding(toy, 0) > 4);
    return toy;
}

static void answers_to_earlier_requests_do_not_answer_later_ones(void **state)
{
    struct toy *toy = reading_ports(state);
    uint64_t answered = counts_of(toy).answered;
    for (size_t i = 0; i < toy->mark; i++)
        answer_to(toy, toy->sent.items[i].tid, toy->sent.items[i].attribute,
                  toy->sent.items[i].modifier);
    assert_int_equal(counts_of(toy).answered, answered);
    toy_settle(toy);
    toy_assert_up(toy);
}

static void answers_without_a_request_are_ignored(void **state)
{
    struct toy *toy = reading_ports(state);
    uint64_t answered = counts_of(toy).answered;
    const struct toy_sent last = toy->sent.items[toy->sent.count - 1];
    assert_int_equal(last.attribute, ATTRIBUTE_PORT_INFO);
    answer_to(toy, UINT32_MAX, last.attribute, last.modifier);
    answer_to(toy, 0x3FFFFF, last.attribute, last.modifier);
    answer_to(toy, last.tid, ATTRIBUTE_SWITCH_INFO, last.modifier);
    answer_to(toy, last.tid, last.attribute, last.modifier + 1);
    assert_int_equal(counts_of(toy).answered, answered);
    toy_settle(toy);
    toy_assert_up(toy);
}

static void requests_without_a_path_fail_at_once(void **state)
{
    struct toy *toy = toy_up(state, "S1-S2 S1-H1 S1-H3 S2-H2");
    toy_node(toy, "S2")->mute = true;
    toy_run_until_sent(toy, "S2", ATTRIBUTE_SWITCH_INFO, METHOD_GET); /* by a sweep */
    toy_cut(toy, "S1", "S2");
    toy_run(toy, TOY_TIMEOUT / 2);
    assert_int_equal(counts_of(toy).gave_up, 1);
    assert_int_equal(counts_of(toy).timeouts, 0);
    assert_true(sm_is_settled(toy->sm));
    assert_int_equal(toy_present(toy), 3);
}

/* A sweep's request to S4 is on its way through S2 when the link to S2 fails. */
static void requests_over_a_lost_link_are_sent_by_another_path_at_once(void **state)
{
    struct toy *toy = toy_up(state, "S1-S2 S1-S3 S2-S4 S3-S4 S1-H1 S4-H4");
    toy->traps = true;
    toy_mark(toy);
    toy_run_until_sent(toy, "S4", ATTRIBUTE_SWITCH_INFO, METHOD_GET);
    toy_cut(toy, "S1", "S2");
    toy_run(toy, TOY_TIMEOUT / 2);
    assert_int_equal(toy_count(toy, "S4", ATTRIBUTE_SWITCH_INFO, METHOD_GET), 2);
    assert_int_equal(counts_of(toy).timeouts, 0);
    assert_true(sm_deadline(toy->sm) > toy->now + TOY_TIMEOUT); /* nothing is outstanding */
    toy_assert_up(toy);
}

static void the_deadline_is_that_of_the_first_time_out(void **state)
{
    struct toy *toy = start(state, "S1-H1 S1-H2", 256);
    toy_take_outputs(toy);
    assert_int_equal(toy_outstanding(toy, 0), 1);
    assert_int_equal(sm_deadline(toy->sm), toy->now + TOY_TIMEOUT);
    sm_expire(toy->sm, toy->now + TOY_TIMEOUT - 1);
    assert_int_equal(counts_of(toy).timeouts, 0);
    sm_expire(toy->sm, toy->now + TOY_TIMEOUT);
    assert_int_equal(counts_of(toy).timeouts, 1);
}

/* A host sees the transaction IDs of requests to its own port, and can send answers to any request:
 * directed-route answers are not checked against their source. */
static void transaction_ids_do_not_follow_from_earlier_ones(void **state)
{
    enum { NEAR = 1 << 16, SHARE = 50 };
    struct toy *toy = toy_up(state, "S1-S2 S1-H1 S2-H2 S2-H3");
    unsigned near = 0, count = 0, low = 0;
    for (size_t i = 0; i < toy->sent.count; i++) {
        uint32_t id = (uint32_t)toy->sent.items[i].tid;
        low += (id & 0x3FFFFF) < NEAR; /* a small number in the lower part */
        for (size_t j = i > 64 ? i - 64 : 0; j < i; j++, count++) {
            uint32_t before = (uint32_t)toy->sent.items[j].tid;
            near += id - before < NEAR || before - id < NEAR || (id ^ before) < NEAR;
        }
    }
    assert_true(toy->sent.count > 50 && count > 1000);
    assert_true(near * SHARE < count);
    assert_true(low * (SHARE / 5) < toy->sent.count);
}

/* The salt differs in each run of a manager. */
static void transaction_ids_differ_in_each_run(void **state)
{
    uint64_t first[20];
    for (unsigned run = 0; run < 2; run++) {
        struct toy *toy = toy_open(state, "S1-H1 S1-H2");
        struct sm_config config = toy_config();
        config.salt = run + 1;
        toy_start_manager(toy, "H1", &config);
        toy_settle(toy);
        assert_true(toy->sent.count > 20);
        for (unsigned i = 0; i < 20; i++) {
            if (run)
                assert_true(toy->sent.items[i].tid != first[i]);
            first[i] = toy->sent.items[i].tid;
        }
        if (!run)
            toy_close(state);
    }
}

static void debug_lines_explain_requests_and_decisions(void **state)
{
    struct toy *toy = toy_open(state, "S1-H1 S1-H2");
    struct sm_config config = toy_config();
    config.debug = UINT32_MAX;
    toy_start_manager(toy, "H1", &config);
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, "H2", ATTRIBUTE_NODE_DESCRIPTION, 0, 1});
    toy_settle(toy);
    assert_true(toy_logged(toy, "Get(NodeInfo) modifier 0x0 to the own port by 0, TID 0x"));
    assert_true(toy_logged(toy, ": no answer to try 1 of "));
    assert_true(toy_logged(toy, "answered after 2 tries, status 0x0"));
    assert_true(toy_logged(toy, "new node, new link"));
    assert_true(toy_logged(toy, "discovering, discovered: master"));
    assert_true(toy_logged(toy, "a change begins: started"));
    assert_true(toy_logged(toy, "job 1: engine updn"));
    assert_true(toy_logged(toy, "0 ranges without a safe order, no tables to respect"));
}

static void only_the_named_parts_explain(void **state)
{
    struct toy *toy = toy_open(state, "S1-H1 S1-H2");
    struct sm_config config = toy_config();
    config.debug = 1u << PART_MASTERSHIP;
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    assert_true(toy_logged(toy, "discovering, discovered: master"));
    assert_false(toy_logged(toy, "NodeInfo"));
    assert_false(toy_logged(toy, "a change begins"));
    sm_set_debug(toy->sm, 1u << PART_TRANSACTIONS);
    toy_cut(toy, "S1", "H2");
    toy_settle(toy);
    assert_true(toy_logged(toy, "Set(SwitchInfo)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOY_TEST(each_retry_has_twice_the_time_out),
        TOY_TEST(a_request_fails_after_its_retries),
        TOY_TEST(a_lost_answer_causes_one_retry),
        TOY_TEST(no_more_than_the_window_is_ever_outstanding),
        TOY_TEST(a_loss_halves_the_window_once_in_a_time_out),
        TOY_TEST(a_node_that_does_not_answer_delays_no_other),
        TOY_TEST(duplicate_and_late_answers_are_ignored),
        TOY_TEST(an_answer_after_the_time_out_is_used_once),
        TOY_TEST(answers_to_earlier_requests_do_not_answer_later_ones),
        TOY_TEST(answers_without_a_request_are_ignored),
        TOY_TEST(transaction_ids_do_not_follow_from_earlier_ones),
        TOY_TEST(transaction_ids_differ_in_each_run),
        TOY_TEST(requests_without_a_path_fail_at_once),
        TOY_TEST(requests_over_a_lost_link_are_sent_by_another_path_at_once),
        TOY_TEST(the_deadline_is_that_of_the_first_time_out),
        TOY_TEST(debug_lines_explain_requests_and_decisions),
        TOY_TEST(only_the_named_parts_explain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
