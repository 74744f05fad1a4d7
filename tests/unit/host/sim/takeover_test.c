/* Failover in a fat tree of 5,832 hosts, in virtual time. */
#include "sim_world.h"

static void a_fat_tree_of_5832_hosts_is_taken_over_within_a_second(void **state)
{
    struct world *world = world_for(state, "today", "fattree 5832");
    struct sm_config config = default_config();
    config.priority = 2;
    unsigned master = settle(world, host(world, "H0"), &config);
    config.priority = 1;
    unsigned standby = sim_add_manager(world->sim, host(world, "H1"), &config);
    while (!sm_has_copy(sim_manager(world->sim, standby)))
        assert_true(sim_step(world->sim, 60 * TIME_S));
    const struct sm_counts before = counts_of(world, standby);
    uint64_t death = sim_now(world->sim);
    sim_kill_manager(world->sim, master);
    assert_true(sim_run_until_settled(world->sim, standby, death + 1 * TIME_S));
    const struct sm_counts after = counts_of(world, standby);
    const unsigned switches = 972, hosts = 5832;
    assert_int_equal(after.tables, before.tables);
    assert_int_equal(after.port_info_set - before.port_info_set, switches + hosts);
    assert_int_equal(after.switch_info - before.switch_info, switches);
    assert_true(after.sent - before.sent < switches + hosts + switches + 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(a_fat_tree_of_5832_hosts_is_taken_over_within_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
