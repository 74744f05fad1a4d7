/* The M_Key: access by protection level, effects of a wrong key, and the lease (14.2.4). */
#include "fixture.h"

enum { LID = 5, MANAGER = 1 };
#define KEY   UINT64_C(0x1122334455667788)
#define WRONG UINT64_C(0x99)

/* An adapter with a key, a protection level and a lease period in seconds. */
static struct sma locked(unsigned level, unsigned lease_s)
{
    struct sma sma = an_adapter();
    uint8_t data[SMP_DATA_BYTES];
    set_lids(&sma, 1, LID, MANAGER);
    memcpy(data, sma.ports[1].info, sizeof data);
    wire_set(data, PORT_INFO_PORT_STATE, PORT_STATE_NO_CHANGE);
    wire_set(data, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_NO_CHANGE);
    wire_set(data, PORT_INFO_M_KEY, KEY);
    wire_set(data, PORT_INFO_M_KEY_PROTECT_BITS, level);
    wire_set(data, PORT_INFO_M_KEY_LEASE_PERIOD, lease_s);
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_PORT_INFO, 1, data), STATUS_OK);
    assert_int_equal(wire_get(data, PORT_INFO_M_KEY), KEY);
    return sma;
}

static bool answers(struct sma *sma, uint64_t now, uint64_t key, unsigned method)
{
    uint8_t data[SMP_DATA_BYTES];
    unsigned status;
    memcpy(data, sma->ports[1].info, sizeof data);
    wire_set(data, PORT_INFO_PORT_STATE, PORT_STATE_NO_CHANGE);
    wire_set(data, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_NO_CHANGE);
    return request(sma, now, 1, key, method, ATTRIBUTE_PORT_INFO, 1, data, &status);
}

static uint64_t key_shown(struct sma *sma, uint64_t key)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    unsigned status;
    assert_true(request(sma, 0, 1, key, METHOD_GET, ATTRIBUTE_PORT_INFO, 1, data, &status));
    assert_int_equal(status, STATUS_OK);
    return wire_get(data, PORT_INFO_M_KEY);
}

static uint64_t violations(const struct sma *sma)
{
    return port_field(sma, 1, PORT_INFO_M_KEY_VIOLATIONS);
}

static void without_an_m_key_every_request_is_accepted(void **state)
{
    struct sma sma = an_adapter();
    assert_int_equal(set_port_field(&sma, 1, PORT_INFO_M_KEY_PROTECT_BITS, 3), STATUS_OK);
    assert_true(answers(&sma, 0, 0, METHOD_GET));
    assert_true(answers(&sma, 0, WRONG, METHOD_SET));
    assert_int_equal(violations(&sma), 0);
    sma_release(&sma);
}

static void the_right_m_key_is_accepted_at_every_level(void **state)
{
    for (unsigned level = 0; level <= 3; level++) {
        struct sma sma = locked(level, 0);
        assert_true(answers(&sma, 0, KEY, METHOD_GET));
        assert_true(answers(&sma, 0, KEY, METHOD_SET));
        assert_int_equal(key_shown(&sma, KEY), KEY);
        assert_int_equal(violations(&sma), 0);
        sma_release(&sma);
    }
}

static void a_set_always_needs_the_key(void **state)
{
    for (unsigned level = 0; level <= 3; level++) {
        struct sma sma = locked(level, 0);
        uint8_t before[64];
        memcpy(before, sma.ports[1].info, sizeof before);
        wire_set(before, PORT_INFO_M_KEY_VIOLATIONS, 2);
        assert_false(answers(&sma, 0, WRONG, METHOD_SET));
        assert_false(answers(&sma, 0, 0, METHOD_SET));
        assert_memory_equal(before, sma.ports[1].info, sizeof before);
        sma_release(&sma);
    }
}

static void a_get_needs_the_key_from_level_2_on(void **state)
{
    for (unsigned level = 0; level <= 3; level++) {
        struct sma sma = locked(level, 0);
        assert_int_equal(answers(&sma, 0, WRONG, METHOD_GET), level < 2);
        assert_int_equal(violations(&sma), level < 2 ? 0 : 1);
        sma_release(&sma);
    }
}

static void level_1_hides_the_m_key_from_a_get_without_it(void **state)
{
    struct sma open = locked(0, 0), hidden = locked(1, 0);
    assert_int_equal(key_shown(&open, 0), KEY);
    assert_int_equal(key_shown(&hidden, 0), 0);
    assert_int_equal(key_shown(&hidden, WRONG), 0);
    assert_int_equal(key_shown(&hidden, KEY), KEY);
    assert_int_equal(port_field(&hidden, 1, PORT_INFO_M_KEY), KEY);
    sma_release(&open);
    sma_release(&hidden);
}

static void the_m_key_of_one_port_is_hidden_at_another(void **state)
{
    for (unsigned level = 1; level <= 3; level++) {
        struct sma sma = locked(level, 0);
        uint8_t data[SMP_DATA_BYTES] = {0};
        unsigned status;
        assert_true(request(&sma, 0, 2, 0, METHOD_GET, ATTRIBUTE_PORT_INFO, 1, data, &status));
        assert_int_equal(wire_get(data, PORT_INFO_M_KEY), 0);
        sma_release(&sma);
    }
}

static void the_m_key_protects_all_attributes(void **state)
{
    struct sma sma = locked(2, 0);
    uint8_t data[SMP_DATA_BYTES] = {0};
    unsigned status;
    assert_false(request(&sma, 0, 1, WRONG, METHOD_GET, ATTRIBUTE_NODE_INFO, 0, data, &status));
    assert_false(request(&sma, 0, 1, WRONG, METHOD_SET, ATTRIBUTE_P_KEY_TABLE, 0, data, &status));
    assert_true(request(&sma, 0, 1, KEY, METHOD_GET, ATTRIBUTE_NODE_INFO, 0, data, &status));
    sma_release(&sma);
}

static void the_m_key_of_port_0_protects_a_switch(void **state)
{
    struct sma sma = a_switch();
    uint8_t data[SMP_DATA_BYTES] = {0};
    unsigned status;
    assert_int_equal(set_port_field(&sma, 0, PORT_INFO_M_KEY, KEY), STATUS_OK);
    assert_false(
        request(&sma, 0, 3, 0, METHOD_SET, ATTRIBUTE_LINEAR_FORWARDING_TABLE, 0, data, &status));
    assert_int_equal(port_field(&sma, 0, PORT_INFO_M_KEY_VIOLATIONS), 1);
    assert_true(
        request(&sma, 0, 3, KEY, METHOD_SET, ATTRIBUTE_LINEAR_FORWARDING_TABLE, 0, data, &status));
    sma_release(&sma);
}

static void a_wrong_m_key_raises_trap_256_with_the_request(void **state)
{
    struct sma sma = locked(0, 0);
    uint8_t data[SMP_DATA_BYTES] = {0};
    unsigned status;
    struct sma_output output;
    assert_false(
        request(&sma, 0, 1, WRONG, METHOD_SET, ATTRIBUTE_P_KEY_TABLE, 0x10002, data, &status));
    const uint8_t *notice = next_trap(&sma, 0, &output);
    const uint8_t *details = notice + NOTICE_AT_DETAILS;
    assert_int_equal(output.dlid, MANAGER);
    assert_int_equal(wire_get(output.mad, SMP_M_KEY), KEY);
    assert_int_equal(wire_get(notice, NOTICE_TRAP_NUMBER), 256);
    assert_int_equal(wire_get(notice, NOTICE_TYPE), 2);
    assert_int_equal(wire_get(notice, NOTICE_ISSUER_LID), LID);
    assert_int_equal(wire_get(details, TRAP_BAD_M_KEY_LID), SENDER);
    assert_int_equal(wire_get(details, TRAP_BAD_M_KEY_METHOD), METHOD_SET);
    assert_int_equal(wire_get(details, TRAP_BAD_M_KEY_ATTRIBUTE_ID), ATTRIBUTE_P_KEY_TABLE);
    assert_int_equal(wire_get(details, TRAP_BAD_M_KEY_ATTRIBUTE_MODIFIER), 0x10002);
    assert_int_equal(wire_get(details, TRAP_BAD_M_KEY_M_KEY), WRONG);
    assert_int_equal(wire_get(details, TRAP_BAD_M_KEY_DIRECTED), 0);
    sma_release(&sma);
}

static void a_wrong_key_on_a_directed_route_reports_the_return_path(void **state)
{
    struct sma sma = locked(0, 0);
    for (unsigned hops = 3; hops <= 63; hops += 60) {
        uint8_t mad[MAD_BYTES];
        struct sma_output output;
        smp_fill(mad, METHOD_SET, ATTRIBUTE_PORT_INFO, 1);
        wire_set(mad, MAD_CLASS, CLASS_SUBN_DIRECTED);
        wire_set(mad, SMP_HOP_COUNT, hops);
        wire_set(mad, SMP_DR_SLID, LID_PERMISSIVE);
        for (unsigned i = 1; i <= hops; i++)
            wire_set_at(mad, SMP_RETURN_PATH, i, i + 100);
        assert_int_equal(sma_receive(&sma, 0, 1, SENDER, mad), SMA_DROP);
        const uint8_t *details = next_trap(&sma, sma_deadline(&sma), &output) + NOTICE_AT_DETAILS;
        if (hops == 63) /* the pending traps alternate */
            details = next_trap(&sma, sma_deadline(&sma), &output) + NOTICE_AT_DETAILS;
        assert_int_equal(wire_get(details, TRAP_BAD_M_KEY_DIRECTED), 1);
        assert_int_equal(wire_get(details, TRAP_BAD_M_KEY_DR_SLID), LID_PERMISSIVE);
        assert_int_equal(wire_get(details, TRAP_BAD_M_KEY_PATH_TRUNCATED), hops > 29);
        assert_int_equal(wire_get(details, TRAP_BAD_M_KEY_HOP_COUNT), hops);
        for (unsigned i = 1; i <= hops && i < 30; i++)
            assert_int_equal(wire_get_at(details, TRAP_BAD_M_KEY_RETURN_PATH, i), i + 100);
    }
    sma_release(&sma);
}

static void the_violation_counter_saturates(void **state)
{
    struct sma sma = locked(0, 0);
    wire_set(sma.ports[1].info, PORT_INFO_M_KEY_VIOLATIONS, 0xFFFE);
    for (unsigned i = 0; i < 3; i++)
        assert_false(answers(&sma, 0, WRONG, METHOD_SET));
    assert_int_equal(violations(&sma), 0xFFFF);
    sma_release(&sma);
}

static void a_violation_counter_is_only_cleared_by_zero(void **state)
{
    struct sma sma = an_adapter();
    wire_set(sma.ports[1].info, PORT_INFO_P_KEY_VIOLATIONS, 7);
    assert_int_equal(set_port_field(&sma, 1, PORT_INFO_P_KEY_VIOLATIONS, 3), STATUS_OK);
    assert_int_equal(port_field(&sma, 1, PORT_INFO_P_KEY_VIOLATIONS), 7);
    assert_int_equal(set_port_field(&sma, 1, PORT_INFO_P_KEY_VIOLATIONS, 0), STATUS_OK);
    assert_int_equal(port_field(&sma, 1, PORT_INFO_P_KEY_VIOLATIONS), 0);
    sma_release(&sma);
}

/* Leases. The trap of a violation is pulled first, so that the deadline is that of the lease. */

static void pull_trap_256(struct sma *sma, uint64_t now)
{
    struct sma_output output;
    uint8_t mad[MAD_BYTES];
    const uint8_t *notice = next_trap(sma, now, &output);
    assert_int_equal(wire_get(notice, NOTICE_TRAP_NUMBER), 256);
    smp_fill(mad, METHOD_TRAP_REPRESS, ATTRIBUTE_NOTICE, 0);
    memcpy(mad + SMP_DATA_OFFSET, notice, SMP_DATA_BYTES);
    wire_set(mad, SMP_M_KEY, KEY);
    uint64_t lease = sma->ports[1].lease_end;
    assert_int_equal(sma_receive(sma, now, 1, SENDER, mad), SMA_DROP);
    sma->ports[1].lease_end = lease; /* the repress was a valid access, too */
    assert_int_equal(sma->trap_count, 0);
}

static void a_violation_starts_the_lease_and_its_end_clears_the_level_not_the_key(void **state)
{
    struct sma sma = locked(2, 10);
    assert_int_equal(sma_deadline(&sma), TIME_NEVER);
    assert_false(answers(&sma, 3 * TIME_S, WRONG, METHOD_GET));
    pull_trap_256(&sma, 3 * TIME_S);
    assert_int_equal(sma_deadline(&sma), 13 * TIME_S);
    sma_expire(&sma, 13 * TIME_S - 1);
    assert_int_equal(port_field(&sma, 1, PORT_INFO_M_KEY_PROTECT_BITS), 2);
    sma_expire(&sma, 13 * TIME_S);
    assert_int_equal(port_field(&sma, 1, PORT_INFO_M_KEY_PROTECT_BITS), 0);
    assert_int_equal(port_field(&sma, 1, PORT_INFO_M_KEY), KEY);
    assert_int_equal(sma_deadline(&sma), TIME_NEVER);
    assert_int_equal(key_shown(&sma, 0), KEY); /* so that another manager can take over */
    sma_release(&sma);
}

static void further_violations_do_not_prolong_the_lease(void **state)
{
    struct sma sma = locked(2, 10);
    assert_false(answers(&sma, 3 * TIME_S, WRONG, METHOD_GET));
    assert_false(answers(&sma, 9 * TIME_S, WRONG, METHOD_GET));
    assert_int_equal(sma.ports[1].lease_end, 13 * TIME_S);
    sma_release(&sma);
}

static void a_valid_access_stops_the_lease(void **state)
{
    struct sma sma = locked(2, 10);
    assert_false(answers(&sma, 3 * TIME_S, WRONG, METHOD_GET));
    assert_true(answers(&sma, 5 * TIME_S, KEY, METHOD_GET));
    assert_int_equal(sma.ports[1].lease_end, TIME_NEVER);
    sma_expire(&sma, 100 * TIME_S);
    assert_int_equal(port_field(&sma, 1, PORT_INFO_M_KEY_PROTECT_BITS), 2);
    sma_release(&sma);
}

static void reading_without_the_key_does_not_stop_the_lease(void **state)
{
    struct sma sma = locked(1, 10);
    assert_false(answers(&sma, 3 * TIME_S, WRONG, METHOD_SET));
    assert_true(answers(&sma, 5 * TIME_S, 0, METHOD_GET));
    assert_int_equal(sma.ports[1].lease_end, 13 * TIME_S);
    sma_release(&sma);
}

static void a_lease_period_of_0_never_ends(void **state)
{
    struct sma sma = locked(3, 0);
    assert_false(answers(&sma, 3 * TIME_S, WRONG, METHOD_GET));
    assert_int_equal(sma.ports[1].lease_end, TIME_NEVER);
    sma_release(&sma);
}

static void a_repress_without_the_key_is_a_violation_and_represses_nothing(void **state)
{
    struct sma sma = locked(0, 0);
    struct sma_output output;
    uint8_t mad[MAD_BYTES];
    assert_false(answers(&sma, 0, WRONG, METHOD_SET));
    const uint8_t *notice = next_trap(&sma, 0, &output);
    smp_fill(mad, METHOD_TRAP_REPRESS, ATTRIBUTE_NOTICE, 0);
    memcpy(mad + SMP_DATA_OFFSET, notice, SMP_DATA_BYTES);
    assert_int_equal(sma_receive(&sma, 0, 1, SENDER, mad), SMA_DROP);
    assert_int_equal(violations(&sma), 2);
    assert_int_equal(sma.trap_count, 2); /* the first one and that of the repress */
    sma_release(&sma);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_an_m_key_every_request_is_accepted),
        cmocka_unit_test(the_right_m_key_is_accepted_at_every_level),
        cmocka_unit_test(a_set_always_needs_the_key),
        cmocka_unit_test(a_get_needs_the_key_from_level_2_on),
        cmocka_unit_test(level_1_hides_the_m_key_from_a_get_without_it),
        cmocka_unit_test(the_m_key_of_one_port_is_hidden_at_another),
        cmocka_unit_test(the_m_key_protects_all_attributes),
        cmocka_unit_test(the_m_key_of_port_0_protects_a_switch),
        cmocka_unit_test(a_wrong_m_key_raises_trap_256_with_the_request),
        cmocka_unit_test(a_wrong_key_on_a_directed_route_reports_the_return_path),
        cmocka_unit_test(the_violation_counter_saturates),
        cmocka_unit_test(a_violation_counter_is_only_cleared_by_zero),
        cmocka_unit_test(a_violation_starts_the_lease_and_its_end_clears_the_level_not_the_key),
        cmocka_unit_test(further_violations_do_not_prolong_the_lease),
        cmocka_unit_test(a_valid_access_stops_the_lease),
        cmocka_unit_test(reading_without_the_key_does_not_stop_the_lease),
        cmocka_unit_test(a_lease_period_of_0_never_ends),
        cmocka_unit_test(a_repress_without_the_key_is_a_violation_and_represses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
