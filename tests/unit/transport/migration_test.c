/* Automatic path migration: two ports, a primary and an alternate path. */
#include "pair.h"
#include "path_checker.h"

static bool cut; /* the wire between the first ports */

static bool cut_first(struct toy *at, unsigned from, struct transport_packet *packet)
{
    (void)at;
    (void)from;
    return !cut || packet->dlid >= 100;
}

static int arm_one(unsigned which)
{
    struct transport_qp_attributes attributes = {
        .alternate = {.dlid = (uint16_t)(TOY_LID + 100 + !which), .port = 2, .timeout = 9},
        .migration = MIGRATION_REARM,
    };
    return transport_modify_qp(toy.adapters[which], toy.now, ends[which].qp, &attributes,
                               ATTRIBUTE_ALTERNATE | ATTRIBUTE_MIGRATION, NULL);
}

static void begin_migration(void)
{
    struct transport_config config;
    struct toy_pair pair = toy_pair_default;
    transport_config_init(&config);
    config.accesses = true;
    config.ports = 2;
    pair.retry_count = 2;
    toy_init(&toy, 2, &config, 1);
    toy_connect(&toy, ends, &pair);
    toy.filter = cut_first;
    cut = false;
    for (unsigned i = 0; i < 30; i++)
        toy_receive(&toy, &ends[1], i, 0, 100);
}

static void exchange(unsigned status)
{
    assert_int_equal(toy_send(&toy, &ends[0], WORK_SEND, 1, 0, 50, 0, NULL), 0);
    toy_run(&toy, TIME_NEVER);
    assert_int_equal(toy_poll(&toy, &ends[0]).status, status);
}

static void arm(void)
{
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(arm_one(i), 0);
        assert_int_equal(view_of(&ends[i]).attributes.migration, MIGRATION_REARM);
    }
    exchange(STATUS_SUCCESS);
    exchange(STATUS_SUCCESS);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(view_of(&ends[i]).attributes.migration, MIGRATION_ARMED);
}

static void one_end_alone_stays_in_rearm(void **state)
{
    (void)state;
    begin_migration();
    assert_int_equal(arm_one(0), 0);
    exchange(STATUS_SUCCESS);
    assert_int_equal(view_of(&ends[0]).attributes.migration, MIGRATION_REARM);
    cut = true;
    exchange(STATUS_RETRY_EXCEEDED);
    finish();
}

static void exhausted_retries_move_both_ends(void **state)
{
    (void)state;
    begin_migration();
    arm();
    cut = true;
    uint64_t before = toy.now;
    exchange(STATUS_SUCCESS);
    uint64_t took = view_of(&ends[0]).progress_ps - before;
    assert_true(took >= 3 * transport_timeout_ps(8) && took < 4 * transport_timeout_ps(8));
    for (unsigned i = 0; i < 2; i++) {
        struct transport_qp_view view = view_of(&ends[i]);
        assert_int_equal(view.attributes.migration, MIGRATION_MIGRATED);
        assert_int_equal(view.attributes.port, 2);
        assert_int_equal(view.attributes.path.dlid, TOY_LID + 100 + !i);
        assert_int_equal(view.attributes.timeout, 9);
        assert_int_equal(view.migrations, 1);
        assert_true(toy_had_event(&toy, i, EVENT_MIGRATED));
        assert_int_equal(view.attributes.state, STATE_RTS);
    }
    exchange(STATUS_SUCCESS);
    finish();
}

static void migrated_packets_carry_the_bit(void **state)
{
    (void)state;
    begin_migration();
    exchange(STATUS_SUCCESS);
    assert_true(toy.trace.items[0].packet.migrated);
    arm();
    size_t armed = toy.trace.count;
    exchange(STATUS_SUCCESS);
    assert_false(toy.trace.items[armed].packet.migrated);
    cut = true;
    exchange(STATUS_SUCCESS);
    assert_true(toy.trace.items[toy.trace.count - 1].packet.migrated);
    finish();
}

static void a_local_link_that_goes_down_moves_at_once(void **state)
{
    (void)state;
    begin_migration();
    arm();
    uint64_t before = toy.now;
    transport_set_port(toy.adapters[0], 1, &(struct transport_port){.lid = TOY_LID});
    toy_drain(&toy, 0);
    assert_true(toy_had_event(&toy, 0, EVENT_MIGRATED));
    exchange(STATUS_SUCCESS);
    assert_true(view_of(&ends[0]).progress_ps - before < 100 * TIME_US);
    assert_int_equal(view_of(&ends[1]).attributes.port, 2);
    finish();
}

static void the_owner_can_ask_for_it_and_arm_again(void **state)
{
    (void)state;
    begin_migration();
    arm();
    struct transport_qp_attributes move = {.migration = MIGRATION_MIGRATED};
    assert_int_equal(
        transport_modify_qp(toy.adapters[1], toy.now, ends[1].qp, &move, ATTRIBUTE_MIGRATION, NULL),
        0);
    assert_int_equal(view_of(&ends[1]).attributes.port, 2);
    toy_receive(&toy, &ends[0], 1, 0, 100);
    toy_send(&toy, &ends[1], WORK_SEND, 5, 0, 10, 0, NULL);
    toy_run(&toy, TIME_NEVER);
    assert_int_equal(view_of(&ends[0]).attributes.port, 2);
    for (unsigned i = 0; i < 2; i++) { /* back to the first ports */
        struct transport_qp_attributes attributes = {
            .alternate = {.dlid = (uint16_t)(TOY_LID + !i), .port = 1, .timeout = 9},
            .migration = MIGRATION_REARM,
        };
        assert_int_equal(transport_modify_qp(toy.adapters[i], toy.now, ends[i].qp, &attributes,
                                             ATTRIBUTE_ALTERNATE | ATTRIBUTE_MIGRATION, NULL),
                         0);
    }
    while (toy_poll(&toy, &ends[0]).status != 255)
        ;
    exchange(STATUS_SUCCESS);
    exchange(STATUS_SUCCESS);
    assert_int_equal(view_of(&ends[0]).attributes.migration, MIGRATION_ARMED);
    move.migration = MIGRATION_MIGRATED;
    transport_modify_qp(toy.adapters[0], toy.now, ends[0].qp, &move, ATTRIBUTE_MIGRATION, NULL);
    exchange(STATUS_SUCCESS);
    assert_int_equal(view_of(&ends[1]).attributes.port, 1);
    finish();
}

static bool from_elsewhere(struct toy *at, unsigned from, struct transport_packet *packet)
{
    (void)at;
    packet->slid += from == 0;
    return true;
}

static void packets_of_another_source_are_dropped(void **state)
{
    (void)state;
    begin_migration();
    toy.filter = from_elsewhere;
    exchange(STATUS_RETRY_EXCEEDED);
    assert_int_equal(transport_counters(toy.adapters[1])->discarded, 3);
    finish();
}

enum fault { NO_FAULT, FLIPPED_BIT, OTHER_PATH, FAULTS };

/* Shows the packets of one end from the arming on, the chosen one with a fault. */
static const char *error_in_trace(unsigned end, size_t from, size_t chosen, enum fault fault,
                                  size_t reason)
{
    struct path_checker checker = {.path = (uint16_t)(TOY_LID + !end)};
    for (size_t i = 0; i < toy.trace.count && !checker.error; i++) {
        const struct toy_trace *item = &toy.trace.items[i];
        struct transport_packet packet = item->packet;
        if (i == from)
            path_checker_load(&checker, (uint16_t)(TOY_LID + 100 + !end));
        if (item->adapter != end)
            continue;
        if (i == chosen && fault == FLIPPED_BIT)
            packet.migrated = !packet.migrated;
        if (i == chosen && fault == OTHER_PATH)
            packet.dlid = (uint16_t)(packet.dlid < 100 ? packet.dlid + 100 : packet.dlid - 100);
        path_checker_add(&checker, item->sent, &packet, i >= reason);
    }
    return checker.error;
}

static void the_checker_finds_wrong_bits_and_paths(void **state)
{
    (void)state;
    begin_migration();
    exchange(STATUS_SUCCESS);
    size_t loaded = toy.trace.count, moved = 0;
    arm();
    exchange(STATUS_SUCCESS);
    cut = true;
    exchange(STATUS_SUCCESS);
    exchange(STATUS_SUCCESS);
    while (toy.trace.items[moved].packet.dlid < 100)
        moved++;
    assert_null(error_in_trace(0, loaded, 0, NO_FAULT, moved));
    assert_null(error_in_trace(1, loaded, 0, NO_FAULT, toy.trace.count));
    assert_non_null(error_in_trace(0, loaded, 0, NO_FAULT, moved + 1));
    for (unsigned fault = FLIPPED_BIT; fault < FAULTS; fault++)
        for (size_t i = 0; i < toy.trace.count; i++)
            if (toy.trace.items[i].sent)
                assert_non_null(
                    error_in_trace(toy.trace.items[i].adapter, loaded, i, fault, moved));
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_end_alone_stays_in_rearm),
        cmocka_unit_test(exhausted_retries_move_both_ends),
        cmocka_unit_test(migrated_packets_carry_the_bit),
        cmocka_unit_test(a_local_link_that_goes_down_moves_at_once),
        cmocka_unit_test(the_owner_can_ask_for_it_and_arm_again),
        cmocka_unit_test(packets_of_another_source_are_dropped),
        cmocka_unit_test(the_checker_finds_wrong_bits_and_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
