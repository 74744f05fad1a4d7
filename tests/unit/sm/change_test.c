/* The record of each change: cause, times, costs and outcome. */
#include "toy.h"

static const char ring[] = "S1-S2 S2-S3 S3-S4 S4-S1 S1-H1 S2-H2 S3-H3 S4-H4";

static struct sm_change last_change(const struct toy *toy)
{
    struct sm_change change;
    assert_true(sm_change_at(toy->sm, 0, &change));
    return change;
}

static void a_change_has_cause_times_and_costs(void **state)
{
    struct toy *toy = toy_up(state, ring);
    uint64_t number = last_change(toy).number, begin = toy->now;
    toy_cut(toy, "S1", "S2");
    toy_run_until_sent(toy, NULL, ATTRIBUTE_LINEAR_FORWARDING_TABLE, METHOD_SET);
    struct sm_change change = last_change(toy);
    assert_int_equal(change.outcome, SM_UNDER_WAY);
    assert_int_equal(change.end, 0);
    assert_true(change.requests.gets > 0); /* counted while it is under way */
    toy_settle(toy);
    change = last_change(toy);
    assert_int_equal(change.number, number + 1);
    assert_true(change.cause.kind == SM_CAUSE_TRAP || change.cause.kind == SM_CAUSE_SWEEP);
    assert_int_equal(sm_subnet(toy->sm)->ports.items[change.cause.at].number, 0);
    assert_int_equal(change.outcome, SM_FINISHED);
    assert_true(begin <= change.begin && change.begin < change.routing);
    assert_true(change.routing <= change.routed && change.routed < change.end);
    assert_int_equal(change.computing, change.routed - change.routing);
    assert_int_equal(change.requests.gets + change.requests.sets, change.requests.sent);
    assert_true(change.requests.tables > 0 && change.waves > 0);
    assert_null(change.refusal);
}

static void requests_have_causes_of_their_own(void **state)
{
    struct toy *toy = toy_up(state, ring);
    sm_reroute(toy->sm, toy->now);
    toy_settle(toy);
    assert_int_equal(last_change(toy).cause.kind, SM_CAUSE_REROUTE);
    assert_int_equal(last_change(toy).outcome, SM_FINISHED);
    assert_int_equal(last_change(toy).requests.tables, 0); /* the tables stay */
    sm_rediscover(toy->sm, toy->now);
    toy_settle(toy);
    assert_int_equal(last_change(toy).cause.kind, SM_CAUSE_REDISCOVERY);
    assert_string_equal(last_change(toy).text, "rediscovery requested");
}

static void refused_routes_end_a_change_without_routes(void **state)
{
    struct toy *toy = toy_up(state, ring);
    struct sm_totals totals;
    toy->refuse_jobs = true;
    sm_reroute(toy->sm, toy->now);
    toy_settle(toy);
    struct sm_change change = last_change(toy);
    assert_int_equal(change.outcome, SM_NO_ROUTES);
    assert_string_equal(change.refusal, "the toy refuses");
    assert_true(change.end > 0);
    sm_totals(toy->sm, &totals);
    assert_int_equal(totals.failed_changes, 1);
    toy->refuse_jobs = false;
    sm_reroute(toy->sm, toy->now);
    toy_settle(toy);
    assert_int_equal(last_change(toy).number, change.number + 1);
    assert_int_equal(last_change(toy).outcome, SM_FINISHED);
}

static void a_manager_that_finds_a_master_abandons_its_change(void **state)
{
    struct toy *toy = toy_up(state, ring);
    struct sm_config config = toy_config();
    struct sm_change change;
    unsigned second = toy_start_manager(toy, "H2", &config);
    toy_settle(toy);
    assert_int_equal(sm_state(toy->managers[second].sm), SM_STANDBY);
    assert_true(sm_change_at(toy->managers[second].sm, 0, &change));
    assert_int_equal(change.outcome, SM_ABANDONED);
    assert_int_equal(change.cause.kind, SM_CAUSE_MASTERSHIP);
    assert_string_equal(change.text, "started");
    assert_false(sm_change_at(toy->managers[second].sm, 1, &change));
}

static void the_newest_changes_are_kept(void **state)
{
    struct toy *toy = toy_up(state, "S1-H1 S1-H2");
    struct sm_change change;
    for (unsigned i = 0; i < SM_CHANGES_KEPT + 5; i++) {
        sm_reroute(toy->sm, toy->now);
        toy_settle(toy);
    }
    uint64_t last = last_change(toy).number;
    assert_true(sm_change_at(toy->sm, SM_CHANGES_KEPT - 1, &change));
    assert_int_equal(change.number, last - (SM_CHANGES_KEPT - 1));
    assert_string_equal(change.text, "reroute requested");
    assert_false(sm_change_at(toy->sm, SM_CHANGES_KEPT, &change));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOY_TEST(a_change_has_cause_times_and_costs),
        TOY_TEST(requests_have_causes_of_their_own),
        TOY_TEST(refused_routes_end_a_change_without_routes),
        TOY_TEST(a_manager_that_finds_a_master_abandons_its_change),
        TOY_TEST(the_newest_changes_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
