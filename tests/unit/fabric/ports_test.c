/* Port states, commands of managers, and training of links. */
#include "fixture.h"

/* manager H - port 1 of switch S - port 2 - target T. */
struct trio {
    struct world world;
    uint32_t manager, middle, target;
};

static void trio_build(struct trio *trio)
{
    struct world *world = &trio->world;
    world_init(world);
    trio->manager = world_adapter(world, 1);
    trio->middle = world_switch(world, 4);
    trio->target = world_adapter(world, 1);
    world_link(world, trio->manager, 1, trio->middle, 1);
    world_link(world, trio->middle, 2, trio->target, 1);
}

static void trio_begin(struct trio *trio)
{
    trio_build(trio);
    world_begin(&trio->world, 1);
    world_find_paths(&trio->world, world_port(&trio->world, trio->manager, 1));
}

static void trio_bring_up(struct trio *trio)
{
    trio_build(trio);
    world_begin(&trio->world, 1);
    world_bring_up(&trio->world, world_port(&trio->world, trio->manager, 1));
}

static bool gmp_answers(struct trio *trio)
{
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery answer;
    mad_fill(mad, CLASS_PERFORMANCE, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0);
    return world_exchange(&trio->world, trio->world.manager, world_lid(&trio->world, trio->target),
                          mad, &answer) &&
           wire_get(answer.mad, MAD_TID) == wire_get(mad, MAD_TID);
}

static bool smp_answers(struct trio *trio)
{
    uint8_t mad[MAD_BYTES];
    struct fabric_delivery answer;
    mad_fill(mad, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    return world_exchange(&trio->world, trio->world.manager, world_lid(&trio->world, trio->target),
                          mad, &answer);
}

static void set_state(struct trio *trio, uint32_t node, unsigned port, unsigned state)
{
    assert_int_equal(world_set_port(&trio->world, world_path(&trio->world, node), port,
                                    PORT_INFO_PORT_STATE, state),
                     0);
}

static void links_start_in_init_and_other_ports_down(void **state)
{
    (void)state;
    struct trio trio;
    trio_begin(&trio);
    assert_int_equal(world_state(&trio.world, trio.middle, 0), PORT_STATE_ACTIVE);
    assert_int_equal(world_state(&trio.world, trio.middle, 1), PORT_STATE_INIT);
    assert_int_equal(world_physical(&trio.world, trio.middle, 1), PHYSICAL_LINK_UP);
    assert_int_equal(world_state(&trio.world, trio.middle, 3), PORT_STATE_DOWN);
    assert_int_equal(world_physical(&trio.world, trio.middle, 3), PHYSICAL_POLLING);
    assert_int_equal(world_totals(&trio.world).links_up, 2);
    world_end(&trio.world);
}

static void smps_pass_in_init_and_others_only_when_active(void **state)
{
    (void)state;
    struct trio trio;
    trio_bring_up(&trio);
    assert_true(gmp_answers(&trio));
    /* Down and up again: the link retrains and waits for the manager in Init. */
    set_state(&trio, trio.middle, 2, PORT_STATE_DOWN);
    world_settle(&trio.world);
    assert_int_equal(world_state(&trio.world, trio.middle, 2), PORT_STATE_INIT);
    assert_int_equal(world_state(&trio.world, trio.target, 1), PORT_STATE_INIT);
    assert_true(smp_answers(&trio));
    assert_false(gmp_answers(&trio));
    assert_int_equal(world_counter(&trio.world, trio.middle, 2, COUNTER_TRANSMIT_DISCARDS), 1);
    set_state(&trio, trio.middle, 2, PORT_STATE_ARMED);
    assert_true(smp_answers(&trio));
    assert_false(gmp_answers(&trio)); /* an armed port receives but does not send */
    world_end(&trio.world);
}

static void an_armed_port_becomes_active_with_the_first_data_packet(void **state)
{
    (void)state;
    struct trio trio;
    trio_bring_up(&trio);
    set_state(&trio, trio.middle, 2, PORT_STATE_DOWN);
    world_settle(&trio.world);
    set_state(&trio, trio.target, 1, PORT_STATE_ARMED);
    set_state(&trio, trio.middle, 2, PORT_STATE_ARMED);
    set_state(&trio, trio.middle, 2, PORT_STATE_ACTIVE);
    assert_int_equal(world_state(&trio.world, trio.target, 1), PORT_STATE_ARMED);
    assert_true(smp_answers(&trio)); /* VL15 does not count */
    assert_int_equal(world_state(&trio.world, trio.target, 1), PORT_STATE_ARMED);
    assert_true(gmp_answers(&trio));
    assert_int_equal(world_state(&trio.world, trio.target, 1), PORT_STATE_ACTIVE);
    world_end(&trio.world);
}

static void a_port_in_init_drops_data_packets(void **state)
{
    (void)state;
    struct trio trio;
    trio_bring_up(&trio);
    set_state(&trio, trio.middle, 2, PORT_STATE_DOWN);
    world_settle(&trio.world);
    set_state(&trio, trio.middle, 2, PORT_STATE_ARMED);
    set_state(&trio, trio.middle, 2, PORT_STATE_ACTIVE);
    assert_false(gmp_answers(&trio)); /* the target is in Init yet */
    assert_int_equal(world_state(&trio.world, trio.target, 1), PORT_STATE_INIT);
    world_end(&trio.world);
}

/* The papers close every port of the subnet with Sets to switches alone. */
static void a_port_is_closed_and_opened_with_its_peer(void **state)
{
    (void)state;
    struct trio trio;
    trio_build(&trio);
    trio.world.options.node.agent.port_init = trio.world.options.node.agent.port_follows = true;
    world_begin(&trio.world, 1);
    world_bring_up(&trio.world, world_port(&trio.world, trio.manager, 1));
    assert_int_equal(world_state(&trio.world, trio.target, 1), PORT_STATE_ACTIVE);
    set_state(&trio, trio.middle, 2, PORT_STATE_INIT);
    assert_int_equal(world_state(&trio.world, trio.target, 1), PORT_STATE_INIT);
    assert_true(smp_answers(&trio));
    assert_false(gmp_answers(&trio));
    set_state(&trio, trio.middle, 2, PORT_STATE_ACTIVE);
    assert_int_equal(world_state(&trio.world, trio.target, 1), PORT_STATE_ACTIVE);
    assert_true(gmp_answers(&trio));

    /* A port that its own manager closed stays closed. */
    set_state(&trio, trio.target, 1, PORT_STATE_INIT);
    set_state(&trio, trio.target, 1, PORT_STATE_INIT);
    set_state(&trio, trio.middle, 2, PORT_STATE_INIT);
    set_state(&trio, trio.middle, 2, PORT_STATE_ACTIVE);
    assert_int_equal(world_state(&trio.world, trio.target, 1), PORT_STATE_INIT);
    world_end(&trio.world);
}

static void the_response_to_set_down_leaves_before_the_link_goes_down(void **state)
{
    (void)state;
    struct trio trio;
    trio_bring_up(&trio);
    /* The link of the manager itself: it must receive the response all the same. */
    set_state(&trio, trio.middle, 1, PORT_STATE_DOWN);
    world_settle(&trio.world);
    assert_int_equal(world_state(&trio.world, trio.middle, 1), PORT_STATE_INIT);
    assert_int_equal(world_state(&trio.world, trio.manager, 1), PORT_STATE_INIT);
    world_end(&trio.world);
}

static void a_disabled_port_stays_down_until_it_is_set_to_polling(void **state)
{
    (void)state;
    struct trio trio;
    trio_bring_up(&trio);
    const struct path *path = world_path(&trio.world, trio.middle);
    assert_int_equal(
        world_set_port(&trio.world, path, 2, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_DISABLED), 0);
    world_settle(&trio.world);
    assert_int_equal(world_state(&trio.world, trio.middle, 2), PORT_STATE_DOWN);
    assert_int_equal(world_physical(&trio.world, trio.middle, 2), PHYSICAL_DISABLED);
    assert_int_equal(world_state(&trio.world, trio.target, 1), PORT_STATE_DOWN);
    assert_int_equal(world_physical(&trio.world, trio.target, 1), PHYSICAL_POLLING);
    assert_false(fabric_link_is_up(trio.world.fabric, world_port(&trio.world, trio.middle, 2)));
    assert_int_equal(world_totals(&trio.world).links_up, 1);
    assert_int_equal(world_totals(&trio.world).links_down, 1);
    assert_int_equal(
        world_set_port(&trio.world, path, 2, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_POLLING), 0);
    world_settle(&trio.world);
    assert_int_equal(world_state(&trio.world, trio.middle, 2), PORT_STATE_INIT);
    assert_int_equal(world_state(&trio.world, trio.target, 1), PORT_STATE_INIT);
    world_end(&trio.world);
}

/* Posts a Set of the physical state without waiting for the response. */
static void post_physical(struct trio *trio, unsigned port, unsigned physical)
{
    uint8_t mad[MAD_BYTES];
    const uint8_t *info =
        fabric_port_info(trio->world.fabric, world_port(&trio->world, trio->middle, port));
    mad_fill(mad, CLASS_SUBN_DIRECTED, METHOD_SET, ATTRIBUTE_PORT_INFO, port);
    mad_direct(mad, world_path(&trio->world, trio->middle));
    memcpy(mad + SMP_DATA_OFFSET, info, SMP_DATA_BYTES);
    wire_set(mad + SMP_DATA_OFFSET, PORT_INFO_PORT_STATE, PORT_STATE_NO_CHANGE);
    wire_set(mad + SMP_DATA_OFFSET, PORT_INFO_PORT_PHYSICAL_STATE, physical);
    struct packet_header header = header_to(&trio->world, mad, LID_PERMISSIVE);
    fabric_send(trio->world.fabric, trio->world.manager, &header, mad);
}

static void the_last_of_several_commands_wins(void **state)
{
    (void)state;
    static const unsigned commands[][2] = {{PHYSICAL_DISABLED, PHYSICAL_POLLING},
                                           {PHYSICAL_POLLING, PHYSICAL_DISABLED}};
    for (unsigned i = 0; i < 2; i++) {
        struct trio trio;
        trio_bring_up(&trio);
        post_physical(&trio, 2, commands[i][0]); /* the second arrives before the first acts */
        post_physical(&trio, 2, commands[i][1]);
        world_settle(&trio.world);
        bool up = commands[i][1] == PHYSICAL_POLLING;
        assert_int_equal(world_physical(&trio.world, trio.middle, 2),
                         up ? PHYSICAL_LINK_UP : PHYSICAL_DISABLED);
        assert_int_equal(world_state(&trio.world, trio.target, 1),
                         up ? PORT_STATE_INIT : PORT_STATE_DOWN);
        world_end(&trio.world);
    }
}

static void a_command_holds_though_the_link_is_lost_meanwhile(void **state)
{
    (void)state;
    struct trio trio;
    trio_bring_up(&trio);
    assert_int_equal(world_set_port(&trio.world, world_path(&trio.world, trio.middle), 2,
                                    PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_DISABLED),
                     0);
    assert_true(fabric_link_is_up(trio.world.fabric, world_port(&trio.world, trio.middle, 2)));
    fabric_flap_port(trio.world.fabric, world_port(&trio.world, trio.target, 1), NULL);
    world_settle(&trio.world);
    assert_int_equal(world_physical(&trio.world, trio.middle, 2), PHYSICAL_DISABLED);
    assert_int_equal(world_state(&trio.world, trio.middle, 2), PORT_STATE_DOWN);
    world_end(&trio.world);
}

static void a_command_does_not_outlive_its_node(void **state)
{
    (void)state;
    struct trio trio;
    trio_build(&trio);
    trio.world.options.training_ps = 0;
    world_begin(&trio.world, 1);
    world_bring_up(&trio.world, world_port(&trio.world, trio.manager, 1));
    assert_int_equal(world_set_port(&trio.world, world_path(&trio.world, trio.middle), 2,
                                    PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_DISABLED),
                     0);
    fabric_set_node(trio.world.fabric, trio.middle, false, NULL);
    fabric_set_node(trio.world.fabric, trio.middle, true, NULL);
    world_settle(&trio.world);
    assert_int_equal(world_state(&trio.world, trio.middle, 2), PORT_STATE_INIT);
    world_end(&trio.world);
}

static void a_sleeping_port_is_woken_by_a_polling_one(void **state)
{
    (void)state;
    struct trio trio;
    trio_bring_up(&trio);
    const struct path *path = world_path(&trio.world, trio.middle);
    assert_int_equal(
        world_set_port(&trio.world, path, 2, PORT_INFO_LINK_DOWN_DEFAULT_STATE, PHYSICAL_SLEEP), 0);
    set_state(&trio, trio.middle, 2, PORT_STATE_DOWN);
    world_settle(&trio.world);
    assert_int_equal(world_state(&trio.world, trio.middle, 2), PORT_STATE_INIT);
    world_end(&trio.world);
}

static void two_sleeping_ports_do_not_wake_each_other(void **state)
{
    (void)state;
    struct trio trio;
    trio_bring_up(&trio);
    assert_int_equal(world_set_port(&trio.world, world_path(&trio.world, trio.middle), 2,
                                    PORT_INFO_LINK_DOWN_DEFAULT_STATE, PHYSICAL_SLEEP),
                     0);
    assert_int_equal(world_set_port(&trio.world, world_path(&trio.world, trio.target), 1,
                                    PORT_INFO_LINK_DOWN_DEFAULT_STATE, PHYSICAL_SLEEP),
                     0);
    fabric_flap_port(trio.world.fabric, world_port(&trio.world, trio.target, 1), NULL);
    world_settle(&trio.world);
    assert_int_equal(world_physical(&trio.world, trio.middle, 2), PHYSICAL_SLEEP);
    assert_int_equal(world_physical(&trio.world, trio.target, 1), PHYSICAL_SLEEP);
    world_end(&trio.world);
}

/* Widths and speeds */

static void trio_fast(struct trio *trio, enum link_speed speed)
{
    trio_build(trio);
    for (unsigned i = 0; i < trio->world.topology.ports.count; i++)
        trio->world.topology.ports.items[i].speed = (uint8_t)speed;
    world_begin(&trio->world, 1);
    world_bring_up(&trio->world, world_port(&trio->world, trio->manager, 1));
}

static void a_link_trains_to_the_best_that_its_cable_offers(void **state)
{
    (void)state;
    static const struct {
        enum link_speed speed;
        unsigned supported, active, ext_supported, ext_active;
    } speeds[] = {{SPEED_SDR, 1, 1, 0, 0},  {SPEED_DDR, 3, 2, 0, 0}, {SPEED_QDR, 7, 4, 0, 0},
                  {SPEED_FDR, 7, 4, 1, 1},  {SPEED_EDR, 7, 4, 3, 2}, {SPEED_HDR, 7, 4, 7, 4},
                  {SPEED_NDR, 7, 4, 15, 8}, {SPEED_XDR, 7, 4, 15, 0}};
    for (unsigned i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
        struct trio trio;
        trio_fast(&trio, speeds[i].speed);
        const struct world *world = &trio.world;
        assert_int_equal(world_info(world, trio.middle, 1, PORT_INFO_LINK_WIDTH_ACTIVE), WIDTH_4X);
        assert_int_equal(world_info(world, trio.middle, 1, PORT_INFO_LINK_SPEED_SUPPORTED),
                         speeds[i].supported);
        assert_int_equal(world_info(world, trio.middle, 1, PORT_INFO_LINK_SPEED_ACTIVE),
                         speeds[i].active);
        assert_int_equal(world_info(world, trio.middle, 1, PORT_INFO_LINK_SPEED_EXT_SUPPORTED),
                         speeds[i].ext_supported);
        assert_int_equal(world_info(world, trio.middle, 1, PORT_INFO_LINK_SPEED_EXT_ACTIVE),
                         speeds[i].ext_active);
        assert_int_equal(world_info(world, trio.middle, 1, PORT_INFO_LINK_SPEED_EXT2_ACTIVE),
                         speeds[i].speed == SPEED_XDR);
        world_end(&trio.world);
    }
}

static void new_widths_and_speeds_take_effect_when_the_link_retrains(void **state)
{
    (void)state;
    struct trio trio;
    trio_fast(&trio, SPEED_NDR);
    struct world *world = &trio.world;
    const struct path *path = world_path(world, trio.middle);
    assert_int_equal(world_set_port(world, path, 2, PORT_INFO_LINK_WIDTH_ENABLED, WIDTH_1X), 0);
    assert_int_equal(world_set_port(world, path, 2, PORT_INFO_LINK_SPEED_EXT_ENABLED, 3), 0);
    world_settle(world);
    assert_int_equal(world_info(world, trio.target, 1, PORT_INFO_LINK_WIDTH_ACTIVE), WIDTH_4X);
    assert_int_equal(world_info(world, trio.target, 1, PORT_INFO_LINK_SPEED_EXT_ACTIVE), 8);
    set_state(&trio, trio.middle, 2, PORT_STATE_DOWN);
    world_settle(world);
    for (unsigned i = 0; i < 2; i++) { /* both ends agree */
        uint32_t node = i ? trio.target : trio.middle;
        unsigned port = i ? 1 : 2;
        assert_int_equal(world_info(world, node, port, PORT_INFO_LINK_WIDTH_ACTIVE), WIDTH_1X);
        assert_int_equal(world_info(world, node, port, PORT_INFO_LINK_SPEED_EXT_ACTIVE), 2);
    }
    assert_int_equal(world_set_port(world, path, 2, PORT_INFO_LINK_SPEED_EXT_ENABLED, 30), 0);
    assert_int_equal(world_set_port(world, path, 2, PORT_INFO_LINK_SPEED_ENABLED, 3), 0);
    set_state(&trio, trio.middle, 2, PORT_STATE_DOWN);
    world_settle(world);
    assert_int_equal(world_info(world, trio.target, 1, PORT_INFO_LINK_SPEED_EXT_ACTIVE), 0);
    assert_int_equal(world_info(world, trio.target, 1, PORT_INFO_LINK_SPEED_ACTIVE), 2);
    world_end(world);
}

static void ends_without_a_common_setting_keep_polling(void **state)
{
    (void)state;
    struct trio trio;
    trio_bring_up(&trio);
    struct world *world = &trio.world;
    const struct path *path = world_path(world, trio.middle);
    assert_int_equal(world_set_port(world, world_path(world, trio.target), 1,
                                    PORT_INFO_LINK_WIDTH_ENABLED, WIDTH_1X),
                     0);
    assert_int_equal(world_set_port(world, path, 2, PORT_INFO_LINK_WIDTH_ENABLED, WIDTH_4X), 0);
    set_state(&trio, trio.middle, 2, PORT_STATE_DOWN);
    world_settle(world);
    assert_int_equal(world_state(world, trio.middle, 2), PORT_STATE_DOWN);
    assert_int_equal(world_physical(world, trio.middle, 2), PHYSICAL_POLLING);
    assert_int_equal(world_set_port(world, path, 2, PORT_INFO_LINK_WIDTH_ENABLED, 3), 0);
    world_settle(world);
    assert_int_equal(world_state(world, trio.middle, 2), PORT_STATE_INIT);
    assert_int_equal(world_info(world, trio.target, 1, PORT_INFO_LINK_WIDTH_ACTIVE), WIDTH_1X);
    world_end(world);
}

static unsigned fdr10_active(struct world *world, const struct path *path)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(world_ask(world, path, METHOD_GET, ATTRIBUTE_MELLANOX_PORT_INFO, 1, data), 0);
    return (unsigned)wire_get(data, MELLANOX_PORT_INFO_LINK_SPEED_ACTIVE);
}

static void fdr10_can_be_lowered_and_restored(void **state)
{
    (void)state;
    struct trio trio;
    trio_fast(&trio, SPEED_FDR10);
    struct world *world = &trio.world;
    const struct path *path = world_path(world, trio.middle);
    assert_int_equal(fdr10_active(world, path), 1);
    assert_int_equal(world_info(world, trio.middle, 1, PORT_INFO_LINK_SPEED_ACTIVE), 4);
    assert_int_equal(world_set_port(world, path, 1, PORT_INFO_LINK_SPEED_ENABLED, 1), 0);
    set_state(&trio, trio.middle, 1, PORT_STATE_DOWN);
    world_settle(world);
    assert_int_equal(fdr10_active(world, path), 0);
    assert_int_equal(world_info(world, trio.middle, 1, PORT_INFO_LINK_SPEED_ACTIVE), 1);
    assert_int_equal(world_set_port(world, path, 1, PORT_INFO_LINK_SPEED_ENABLED, 15), 0);
    set_state(&trio, trio.middle, 1, PORT_STATE_DOWN);
    world_settle(world);
    assert_int_equal(fdr10_active(world, path), 1);
    world_end(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_start_in_init_and_other_ports_down),
        cmocka_unit_test(smps_pass_in_init_and_others_only_when_active),
        cmocka_unit_test(an_armed_port_becomes_active_with_the_first_data_packet),
        cmocka_unit_test(a_port_in_init_drops_data_packets),
        cmocka_unit_test(a_port_is_closed_and_opened_with_its_peer),
        cmocka_unit_test(the_response_to_set_down_leaves_before_the_link_goes_down),
        cmocka_unit_test(a_disabled_port_stays_down_until_it_is_set_to_polling),
        cmocka_unit_test(the_last_of_several_commands_wins),
        cmocka_unit_test(a_command_holds_though_the_link_is_lost_meanwhile),
        cmocka_unit_test(a_command_does_not_outlive_its_node),
        cmocka_unit_test(a_sleeping_port_is_woken_by_a_polling_one),
        cmocka_unit_test(two_sleeping_ports_do_not_wake_each_other),
        cmocka_unit_test(a_link_trains_to_the_best_that_its_cable_offers),
        cmocka_unit_test(new_widths_and_speeds_take_effect_when_the_link_retrains),
        cmocka_unit_test(ends_without_a_common_setting_keep_polling),
        cmocka_unit_test(fdr10_can_be_lowered_and_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
