/* Failover in a fat tree of 5,832 hosts, in virtual time. */
#include "sim_world.h"

/* The copy takes three seconds at most. It reads each block of tables once, each port of a switch,
 * and a few attributes of each node. */
static void copy_subnet(struct world *world, unsigned standby, unsigned switches, unsigned hosts)
{
    while (sm_state(sim_manager(world->sim, standby)) != SM_STANDBY)
        assert_true(sim_step(world->sim, 60 * TIME_S));
    const struct sm_counts before = counts_of(world, standby);
    uint64_t begin = sim_now(world->sim);
    while (!sm_has_copy(sim_manager(world->sim, standby)))
        assert_true(sim_step(world->sim, 60 * TIME_S));
    const struct sm_counts after = counts_of(world, standby);
    unsigned blocks = (switches + hosts) / 64 + 1, ports = 37;
    assert_true(after.sent - before.sent <= switches * (blocks + ports + 4) + hosts * 7);
    assert_true(sim_now(world->sim) - begin <= 3 * TIME_S);
}

static void a_fat_tree_of_5832_hosts_is_taken_over_within_a_second(void **state)
{
    const unsigned switches = 972, hosts = 5832;
    struct world *world = world_for(state, "today", "fattree 5832");
    struct sm_config config = default_config();
    config.priority = 2;
    unsigned master = settle(world, host(world, "H0"), &config);
    config.priority = 1;
    unsigned standby = sim_add_manager(world->sim, host(world, "H1"), &config);
    copy_subnet(world, standby, switches, hosts);
    const struct sm_counts before = counts_of(world, standby);
    uint64_t death = sim_now(world->sim);
    sim_kill_manager(world->sim, master);
    assert_true(sim_run_until_settled(world->sim, standby, death + 1 * TIME_S));
    const struct sm_counts after = counts_of(world, standby);
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
