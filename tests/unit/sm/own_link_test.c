/* The link of the manager's own port goes down and comes up. */
#include "managers.h"

#include <string.h>

static struct sm_config polling_own_link(unsigned priority)
{
    struct sm_config config = with_priority(priority);
    config.link_poll_ns = 100 * TOY_MS;
    return config;
}

static struct toy *up_polling(void **state)
{
    struct toy *toy = toy_up_with(state, star, polling_own_link(5));
    toy_assert_up(toy);
    return toy;
}

static unsigned sent_to_others(struct toy *toy)
{
    return toy_count(toy, NULL, 0, 0) - toy_count(toy, "H1", 0, 0);
}

static void the_loss_of_the_own_link_removes_no_node(void **state)
{
    struct toy *toy = up_polling(state);
    unsigned nodes = toy_present(toy);
    uint64_t job = sm_paths(toy->sm).job;
    toy_cut(toy, "S1", "H1");
    toy_run(toy, 110 * TOY_MS);
    assert_true(toy_logged(toy, "own port is down"));
    assert_true(sm_own_link_is_down(toy->sm));
    toy_mark(toy);
    toy_run(toy, 300 * TOY_S); /* several sweeps */
    assert_int_equal(toy_present(toy), nodes);
    assert_int_equal(sm_state(toy->sm), SM_MASTER);
    assert_false(sm_is_settled(toy->sm));
    assert_true(toy_has_tables(toy));
    assert_true(sm_paths(toy->sm).job == job);
    assert_int_equal(sent_to_others(toy), 0);
    assert_false(toy_logged(toy, "")); /* one line is enough */
}

static void after_the_loss_of_the_own_link_only_changes_are_written(void **state)
{
    struct toy *toy = up_polling(state);
    toy_cut(toy, "S1", "H1");
    toy_run(toy, 10 * TOY_S);
    toy_mark(toy);
    toy_link(toy, "S1", "H1");
    toy_run(toy, 200 * TOY_MS);
    toy_settle(toy);
    toy_assert_up(toy);
    assert_true(toy_logged(toy, "own port is up"));
    assert_false(toy_logged(toy, "left the subnet"));
    assert_false(toy_logged(toy, "joined the subnet"));
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_LINEAR_FORWARDING_TABLE, METHOD_SET), 0);
    /* Both ends of the link that was down become Armed and Active. */
    assert_in_range(toy_count(toy, NULL, ATTRIBUTE_PORT_INFO, METHOD_SET), 2, 4);
}

static void a_change_while_the_own_link_is_down_is_found_afterwards(void **state)
{
    struct toy *toy = up_polling(state);
    toy_cut(toy, "S1", "H1");
    toy_run(toy, 10 * TOY_S);
    toy_switch_off(toy, "H3");
    toy_run(toy, TOY_S);
    toy_link(toy, "S1", "H1");
    toy_run(toy, 200 * TOY_MS);
    toy_settle(toy);
    toy_assert_up(toy);
    assert_false(toy_has_node(toy, "H3"));
    assert_true(toy_logged(toy, "\"H3\" left the subnet"));
}

static void a_short_loss_of_the_own_link_removes_no_node(void **state)
{
    struct toy *toy = up_polling(state);
    toy_cut(toy, "S1", "H1");
    toy_link(toy, "S1", "H1");
    toy_run(toy, 200 * TOY_MS);
    toy_settle(toy);
    toy_assert_up(toy);
    assert_false(toy_logged(toy, "left the subnet"));
}

static void a_manager_waits_for_its_own_link_at_the_start(void **state)
{
    struct sm_config config = polling_own_link(5);
    struct toy *toy = toy_open(state, star);
    toy_cut(toy, "S1", "H1");
    toy_start_manager(toy, "H1", &config);
    toy_run(toy, TOY_S);
    assert_true(toy_logged(toy, "own port is down"));
    toy_mark(toy);
    toy_run(toy, 100 * TOY_S);
    assert_false(toy_logged(toy, ""));
    assert_int_equal(sm_state(toy->sm), SM_DISCOVERING);
    toy_link(toy, "S1", "H1");
    toy_run(toy, 200 * TOY_MS);
    toy_settle(toy);
    assert_int_equal(sm_state(toy->sm), SM_MASTER);
    toy_assert_up(toy);
}

static void a_standby_without_its_own_link_stays_standby(void **state)
{
    struct sm_config config = polling_own_link(3);
    struct toy *toy = up_polling(state);
    unsigned standby = toy_start_manager(toy, "H2", &config);
    toy_run(toy, 250 * TOY_S); /* until a sweep of the master has found it */
    const struct sm *second = toy->managers[standby].sm;
    assert_int_equal(sm_state(second), SM_STANDBY);
    toy_pull(toy, "H2", 1);
    toy_run(toy, 30 * TOY_S);
    assert_true(sm_own_link_is_down(second));
    assert_int_equal(sm_state(second), SM_STANDBY);
    toy_link(toy, "S1", "H2");
    toy_run(toy, 250 * TOY_S);
    assert_false(sm_own_link_is_down(second));
    assert_int_equal(sm_state(second), SM_STANDBY);
    assert_int_equal(sm_state(toy->sm), SM_MASTER);
    toy_assert_up(toy);
}

static void a_master_whose_link_returns_finds_its_successor(void **state)
{
    struct sm_config config = polling_own_link(3);
    struct toy *toy = up_polling(state);
    unsigned standby = toy_start_manager(toy, "H2", &config);
    toy_run(toy, 250 * TOY_S);
    const struct sm *second = toy->managers[standby].sm;
    toy_cut(toy, "S1", "H1");
    toy_run(toy, 30 * TOY_S);
    assert_int_equal(sm_state(second), SM_MASTER);
    toy_link(toy, "S1", "H1");
    toy_run(toy, 250 * TOY_S);
    assert_int_equal((sm_state(second) == SM_MASTER) + (sm_state(toy->sm) == SM_MASTER), 1);
    assert_true(toy_delivers(toy) && toy_is_active(toy));
}

static void a_manager_without_its_own_link_stops_at_once(void **state)
{
    struct sm_config config = polling_own_link(3);
    struct toy *toy = up_polling(state);
    toy_start_manager(toy, "H2", &config);
    toy_run(toy, 250 * TOY_S);
    toy_cut(toy, "S1", "H1");
    toy_run(toy, TOY_S);
    sm_stop(toy->sm, toy->now);
    assert_int_equal(sm_state(toy->sm), SM_NOT_ACTIVE);
    assert_true(sm_deadline(toy->sm) == TOY_NEVER);
}

/* The first master was killed, and the second has none of its registrations. */

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOY_TEST(the_loss_of_the_own_link_removes_no_node),
        TOY_TEST(after_the_loss_of_the_own_link_only_changes_are_written),
        TOY_TEST(a_change_while_the_own_link_is_down_is_found_afterwards),
        TOY_TEST(a_short_loss_of_the_own_link_removes_no_node),
        TOY_TEST(a_manager_waits_for_its_own_link_at_the_start),
        TOY_TEST(a_standby_without_its_own_link_stays_standby),
        TOY_TEST(a_master_whose_link_returns_finds_its_successor),
        TOY_TEST(a_manager_without_its_own_link_stops_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
