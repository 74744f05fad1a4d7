/* What was acknowledged about a virtual machine holds, whatever fails afterwards. */
#include "vswitch_world.h"

#include "vswitch/internal.h"

#include <string.h>

struct kept {
    struct world world;
    struct sm_config config;
    unsigned manager;
};

static void begin(struct kept *kept, bool dynamic)
{
    world_open(&kept->world, "today", "kary 2 3 vfs=3");
    kept->config = default_config();
    kept->config.dynamic_lids = dynamic;
    kept->manager = settle(&kept->world, host(&kept->world, "H0"), &kept->config);
}

static void rest(struct kept *kept)
{
    struct sim *sim = kept->world.sim;
    for (unsigned i = 0; i < 2; i++) { /* what is carried out again begins when all is quiet */
        run_for(&kept->world, 15 * TIME_S);
        assert_true(sim_run_until_settled(sim, kept->manager, sim_now(sim) + 60 * TIME_S));
    }
}

static void cut(struct kept *kept, const char *place, bool up)
{
    struct err err = {0};
    char name[32];
    snprintf(name, sizeof name, "%s-vswitch", place);
    uint32_t node = topology_find(&kept->world.topology, name);
    uint32_t uplink = topology_port_index(&kept->world.topology, node, VSWITCH_UPLINK);
    assert_int_equal(fabric_set_link(kept->world.fabric, uplink, up, &err), 0);
}

static void power(struct kept *kept, const char *place, bool up)
{
    struct err err = {0};
    char name[32];
    snprintf(name, sizeof name, "%s-vswitch", place);
    fabric_set_node(kept->world.fabric, topology_find(&kept->world.topology, name), up, &err);
}

static void restart_manager(struct kept *kept)
{
    sim_kill_manager(kept->world.sim, kept->manager);
    kept->manager = sim_add_manager(kept->world.sim, host(&kept->world, "H0"), &kept->config);
    assert_true(sim_run_until_settled(kept->world.sim, kept->manager,
                                      sim_now(kept->world.sim) + 60 * TIME_S));
}

static unsigned list(const struct kept *kept, unsigned *removed)
{
    struct vswitch_vm machine;
    unsigned count = 0;
    *removed = 0;
    for (uint32_t cursor = 0;
         vswitch_next_vm(sim_machines(kept->world.sim, kept->manager), &cursor, &machine); count++)
        *removed += machine.removed;
    return count;
}

static unsigned start(struct kept *kept, const char *name, const char *place)
{
    return must(&kept->world, kept->manager, VSWITCH_CREATE, name, place, VSWITCH_BALANCED).lid;
}

/* ---- removed ---- */

static void remove_while_cut_off(bool dynamic, bool restarts)
{
    struct kept kept;
    unsigned removed = 0;
    begin(&kept, dynamic);
    start(&kept, "alpha", "H3");
    cut(&kept, "H3", false);
    rest(&kept);
    struct vswitch_result result =
        must(&kept.world, kept.manager, VSWITCH_DESTROY, "alpha", NULL, VSWITCH_BALANCED);
    assert_string_equal(result.text, "removed when H3 returns");
    assert_int_equal(list(&kept, &removed), 1);
    assert_int_equal(removed, 1);
    if (restarts)
        restart_manager(&kept);
    cut(&kept, "H3", true);
    rest(&kept);
    assert_int_equal(places_of(&kept.world, vswitch_guid("alpha")), 0);
    assert_int_equal(list(&kept, &removed), 0);
    check_world(&kept.world, kept.manager);
    world_close(&kept.world);
}

static void a_machine_removed_while_it_is_cut_off_stays_removed(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        remove_while_cut_off(i & 1, i & 2);
}

/* It left a place that was cut off, and is removed at the new one. */
static void a_removed_machine_runs_at_no_former_place(void **state)
{
    (void)state;
    for (unsigned dynamic = 0; dynamic < 2; dynamic++) {
        struct kept kept;
        unsigned removed;
        begin(&kept, dynamic);
        start(&kept, "alpha", "H3");
        cut(&kept, "H3", false);
        rest(&kept);
        must(&kept.world, kept.manager, VSWITCH_MIGRATE, "alpha", "H6", VSWITCH_BALANCED);
        must(&kept.world, kept.manager, VSWITCH_DESTROY, "alpha", NULL, VSWITCH_BALANCED);
        restart_manager(&kept);
        cut(&kept, "H3", true);
        rest(&kept);
        assert_int_equal(places_of(&kept.world, vswitch_guid("alpha")), 0);
        assert_int_equal(list(&kept, &removed), 0);
        world_close(&kept.world);
    }
}

static void a_machine_that_is_started_again_is_not_removed(void **state)
{
    (void)state;
    for (unsigned dynamic = 0; dynamic < 2; dynamic++) {
        struct kept kept;
        begin(&kept, dynamic);
        start(&kept, "alpha", "H3");
        cut(&kept, "H3", false);
        rest(&kept);
        must(&kept.world, kept.manager, VSWITCH_DESTROY, "alpha", NULL, VSWITCH_BALANCED);
        unsigned lid = start(&kept, "alpha", "H5");
        cut(&kept, "H3", true);
        rest(&kept);
        assert_true(is_at(&kept.world, kept.manager, "alpha", "H5", lid));
        check_world(&kept.world, kept.manager);
        world_close(&kept.world);
    }
}

/* Two hypervisors report it to a manager that knows neither. One lets it go, and its function gets
 * a LID before it has a GUID. */
static void a_new_manager_finds_a_machine_at_two_places(void **state)
{
    (void)state;
    for (unsigned dynamic = 0; dynamic < 2; dynamic++) {
        struct kept kept;
        begin(&kept, dynamic);
        start(&kept, "alpha", "H3");
        cut(&kept, "H3", false);
        rest(&kept);
        unsigned lid =
            must(&kept.world, kept.manager, VSWITCH_MIGRATE, "alpha", "H6", VSWITCH_BALANCED).lid;
        sim_kill_manager(kept.world.sim, kept.manager);
        cut(&kept, "H3", true);
        kept.manager = sim_add_manager(kept.world.sim, host(&kept.world, "H0"), &kept.config);
        rest(&kept);
        assert_int_equal(places_of(&kept.world, vswitch_guid("alpha")), 1);
        if (dynamic)
            assert_true(is_at(&kept.world, kept.manager, "alpha", "H6", lid));
        check_world(&kept.world, kept.manager);
        world_close(&kept.world);
    }
}

/* ---- started again ---- */

static void restart_adapter(bool dynamic, bool restarts)
{
    struct kept kept;
    unsigned removed;
    struct vswitch_vm machine;
    begin(&kept, dynamic);
    start(&kept, "other", "H3");
    start(&kept, "alpha", "H5");
    unsigned lid =
        must(&kept.world, kept.manager, VSWITCH_MIGRATE, "alpha", "H3", VSWITCH_BALANCED).lid;
    const uint64_t decisions = sim_machines(kept.world.sim, kept.manager)->wanted->decisions;
    assert_true(decisions >= 3);
    power(&kept, "H3", false);
    rest(&kept);
    if (restarts)
        restart_manager(&kept);
    assert_int_equal(list(&kept, &removed), 2);
    assert_int_equal(removed, 0);
    assert_true(vswitch_find_vm(sim_machines(kept.world.sim, kept.manager), vswitch_guid("alpha"),
                                &machine));
    assert_false(machine.reachable);
    assert_string_equal(machine.hypervisor, "H3");
    assert_int_equal(places_of(&kept.world, vswitch_guid("alpha")), 0);
    power(&kept, "H3", true);
    rest(&kept);
    assert_int_equal(places_of(&kept.world, vswitch_guid("alpha")), 1);
    assert_int_equal(places_of(&kept.world, vswitch_guid("other")), 1);
    assert_int_equal(sim_machines(kept.world.sim, kept.manager)->wanted->decisions, decisions);
    check_world(&kept.world, kept.manager);
    if (!restarts || dynamic) /* prepopulated LIDs belong to functions */
        assert_true(is_at(&kept.world, kept.manager, "alpha", "H3", lid));
    world_close(&kept.world);
}

static void a_machine_runs_again_after_its_adapter_restarted(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        restart_adapter(i & 1, i & 2);
}

/* ---- names ---- */

static void the_next_manager_knows_long_names(void **state)
{
    static const char name[] = "a name of more bytes than the forty of VirtualFunction";
    struct kept kept;
    struct vswitch_vm machine;
    (void)state;
    begin(&kept, false);
    start(&kept, name, "H3");
    restart_manager(&kept);
    assert_true(
        vswitch_find_vm(sim_machines(kept.world.sim, kept.manager), vswitch_guid(name), &machine));
    assert_string_equal(machine.name, name);
    world_close(&kept.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_machine_removed_while_it_is_cut_off_stays_removed),
        cmocka_unit_test(a_removed_machine_runs_at_no_former_place),
        cmocka_unit_test(a_machine_that_is_started_again_is_not_removed),
        cmocka_unit_test(a_new_manager_finds_a_machine_at_two_places),
        cmocka_unit_test(a_machine_runs_again_after_its_adapter_restarted),
        cmocka_unit_test(the_next_manager_knows_long_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
