/* Traps: content, repetition and repression. */
#include "fixture.h"

enum { LID = 9, MANAGER = 3, INTERVAL_CODE = 10 };
#define INTERVAL (4096 * TIME_NS << INTERVAL_CODE)

static struct sma configured_switch(void)
{
    struct sma sma = a_switch();
    set_lids(&sma, 0, LID, MANAGER);
    assert_int_equal(set_port_field(&sma, 0, PORT_INFO_SUBNET_TIME_OUT, INTERVAL_CODE), STATUS_OK);
    return sma;
}

static struct sma configured_adapter(void)
{
    struct sma sma = an_adapter();
    set_lids(&sma, 1, LID, MANAGER);
    assert_int_equal(set_port_field(&sma, 1, PORT_INFO_SUBNET_TIME_OUT, INTERVAL_CODE), STATUS_OK);
    return sma;
}

static enum sma_verdict repress(struct sma *sma, const uint8_t *notice)
{
    uint8_t mad[MAD_BYTES];
    smp_fill(mad, METHOD_TRAP_REPRESS, ATTRIBUTE_NOTICE, 0);
    memcpy(mad + SMP_DATA_OFFSET, notice, SMP_DATA_BYTES);
    return sma_receive(sma, 0, 1, SENDER, mad);
}

/* Checks the header of the next trap and returns its details. */
static const uint8_t *details_of(struct sma *sma, unsigned number, unsigned type,
                                 struct sma_output *output)
{
    const uint8_t *notice = next_trap(sma, sma_deadline(sma), output);
    assert_int_equal(wire_get(notice, NOTICE_IS_GENERIC), 1);
    assert_int_equal(wire_get(notice, NOTICE_TYPE), type);
    assert_int_equal(wire_get(notice, NOTICE_PRODUCER_TYPE), sma->kind);
    assert_int_equal(wire_get(notice, NOTICE_TRAP_NUMBER), number);
    assert_int_equal(wire_get(notice, NOTICE_ISSUER_LID), LID);
    assert_int_equal(output->dlid, MANAGER);
    return notice + NOTICE_AT_DETAILS;
}

enum { URGENT = 1, SECURITY = 2, INFORMATION = 4 };

static void trap_128_has_the_lid_of_the_switch(void **state)
{
    struct sma sma = configured_switch();
    struct sma_output output;
    link_up(&sma, 3);
    const uint8_t *details = details_of(&sma, 128, URGENT, &output);
    assert_int_equal(wire_get(details, TRAP_LINK_STATE_LID), LID);
    assert_int_equal(output.port, 0);
    sma_release(&sma);
}

static void an_adapter_sends_no_trap_for_its_links(void **state)
{
    struct sma sma = configured_adapter();
    link_up(&sma, 1);
    sma_link_down(&sma, 1, PHYSICAL_POLLING);
    no_output(&sma, 0);
    sma_release(&sma);
}

static void traps_129_to_131_have_the_port(void **state)
{
    for (unsigned number = 129; number <= 131; number++) {
        struct sma sma = configured_switch();
        struct sma_output output;
        sma_report_threshold(&sma, 17, number);
        const uint8_t *details = details_of(&sma, number, URGENT, &output);
        assert_int_equal(wire_get(details, TRAP_LINK_INTEGRITY_LID), LID);
        assert_int_equal(wire_get(details, TRAP_LINK_INTEGRITY_PORT), 17);
        const uint64_t *total = sma.ports[17].counters.total;
        assert_int_equal(total[COUNTER_LOCAL_LINK_INTEGRITY_ERRORS], number == 129);
        assert_int_equal(total[COUNTER_EXCESSIVE_BUFFER_OVERRUN_ERRORS], number == 130);
        sma_release(&sma);
    }
}

static void trap_144_has_the_new_capability_mask(void **state)
{
    enum { IS_SM = 2 };
    struct sma sma = configured_adapter();
    struct sma_output output;
    uint64_t before = port_field(&sma, 1, PORT_INFO_CAPABILITY_MASK);
    sma_report_capability(&sma, 1, IS_SM, 0);
    assert_int_equal(port_field(&sma, 1, PORT_INFO_CAPABILITY_MASK), before | IS_SM);
    const uint8_t *details = details_of(&sma, 144, INFORMATION, &output);
    assert_int_equal(wire_get(details, TRAP_LOCAL_CHANGES_LID), LID);
    assert_int_equal(wire_get(details, TRAP_LOCAL_CHANGES_CAPABILITY_MASK), before | IS_SM);
    assert_int_equal(wire_get(details, TRAP_LOCAL_CHANGES_OTHER), 0);
    assert_int_equal(repress(&sma, details - NOTICE_AT_DETAILS), SMA_DROP);
    sma_report_capability(&sma, 1, IS_SM, 0); /* already set */
    no_output(&sma, TIME_S);
    sma_report_capability(&sma, 1, 0, IS_SM);
    assert_int_equal(port_field(&sma, 1, PORT_INFO_CAPABILITY_MASK), before);
    assert_int_equal(sma.trap_count, 1);
    sma_release(&sma);
}

static const struct sma_key_violation violation = {
    .slid = 21, .dlid = 22, .key = 0x8123, .sl = 3, .src_qp = 0x10, .dest_qp = 1};

static void traps_257_and_258_have_the_addresses_and_the_key(void **state)
{
    for (unsigned number = 257; number <= 258; number++) {
        struct sma sma = configured_adapter();
        struct sma_output output;
        if (number == 257)
            sma_report_p_key(&sma, 1, &violation);
        else
            sma_report_q_key(&sma, 1, &violation);
        const uint8_t *details = details_of(&sma, number, SECURITY, &output);
        assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_LID1), 21);
        assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_LID2), 22);
        assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_KEY), 0x8123);
        assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_SL), 3);
        assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_QP1), 0x10);
        assert_int_equal(wire_get(details, TRAP_BAD_P_KEY_QP2), 1);
        assert_int_equal(port_field(&sma, 1, PORT_INFO_P_KEY_VIOLATIONS), number == 257);
        assert_int_equal(port_field(&sma, 1, PORT_INFO_Q_KEY_VIOLATIONS), number == 258);
        sma_release(&sma);
    }
}

static void trap_259_also_has_the_port_of_the_switch(void **state)
{
    struct sma sma = configured_switch();
    struct sma_output output;
    sma_report_p_key(&sma, 6, &violation);
    const uint8_t *details = details_of(&sma, 259, SECURITY, &output);
    assert_int_equal(wire_get(details, TRAP_SWITCH_BAD_P_KEY_DATA_VALID), 0x3F);
    assert_int_equal(wire_get(details, TRAP_SWITCH_BAD_P_KEY_LID1), 21);
    assert_int_equal(wire_get(details, TRAP_SWITCH_BAD_P_KEY_LID2), 22);
    assert_int_equal(wire_get(details, TRAP_SWITCH_BAD_P_KEY_P_KEY), 0x8123);
    assert_int_equal(wire_get(details, TRAP_SWITCH_BAD_P_KEY_SL), 3);
    assert_int_equal(wire_get(details, TRAP_SWITCH_BAD_P_KEY_QP1), 0x10);
    assert_int_equal(wire_get(details, TRAP_SWITCH_BAD_P_KEY_QP2), 1);
    assert_int_equal(wire_get(details, TRAP_SWITCH_BAD_P_KEY_SWITCH_LID), LID);
    assert_int_equal(wire_get(details, TRAP_SWITCH_BAD_P_KEY_PORT), 6);
    sma_release(&sma);
}

static void a_wrong_p_key_at_port_0_of_a_switch_is_trap_257(void **state)
{
    struct sma sma = configured_switch();
    struct sma_output output;
    sma_report_p_key(&sma, 0, &violation);
    details_of(&sma, 257, SECURITY, &output);
    sma_release(&sma);
}

/* Repetition */

static void a_trap_is_repeated_at_the_interval_until_it_is_repressed(void **state)
{
    struct sma sma = configured_switch();
    struct sma_output first, again;
    uint64_t now = 7 * TIME_S;
    link_up(&sma, 3);
    next_trap(&sma, now, &first);
    for (unsigned i = 1; i <= 5; i++) {
        no_output(&sma, now);
        assert_int_equal(sma_deadline(&sma), now + INTERVAL);
        no_output(&sma, now + INTERVAL - 1);
        now += INTERVAL;
        next_trap(&sma, now, &again);
        assert_memory_equal(first.mad, again.mad, MAD_BYTES); /* the same TID, too */
    }
    assert_int_equal(repress(&sma, first.mad + SMP_DATA_OFFSET), SMA_DROP);
    assert_int_equal(sma_deadline(&sma), TIME_NEVER);
    no_output(&sma, now + 10 * INTERVAL);
    sma_release(&sma);
}

static void pending_traps_are_sent_round_robin(void **state)
{
    struct sma sma = configured_switch();
    struct sma_output output;
    uint64_t now = 0, tids[3];
    for (unsigned i = 0; i < 3; i++)
        sma_report_threshold(&sma, i + 1, 129);
    for (unsigned i = 0; i < 9; i++, now += INTERVAL) {
        const uint8_t *notice = next_trap(&sma, now, &output);
        uint64_t tid = wire_get(output.mad, MAD_TID);
        assert_int_equal(wire_get(notice + NOTICE_AT_DETAILS, TRAP_LINK_INTEGRITY_PORT), i % 3 + 1);
        if (i < 3)
            tids[i] = tid;
        else
            assert_int_equal(tid, tids[i % 3]);
    }
    assert_true(tids[0] != tids[1] && tids[1] != tids[2] && tids[0] != tids[2]);
    sma_release(&sma);
}

static void a_repress_ends_only_its_own_trap(void **state)
{
    struct sma sma = configured_switch();
    struct sma_output first, second;
    sma_report_threshold(&sma, 1, 129);
    sma_report_threshold(&sma, 2, 129);
    next_trap(&sma, 0, &first);
    uint8_t other[SMP_DATA_BYTES];
    memcpy(other, first.mad + SMP_DATA_OFFSET, sizeof other);
    wire_set(other + NOTICE_AT_DETAILS, TRAP_LINK_INTEGRITY_PORT, 5);
    repress(&sma, other); /* of a trap that is not pending */
    assert_int_equal(sma.trap_count, 2);
    repress(&sma, first.mad + SMP_DATA_OFFSET);
    assert_int_equal(sma.trap_count, 1);
    const uint8_t *notice = next_trap(&sma, INTERVAL, &second);
    assert_int_equal(wire_get(notice + NOTICE_AT_DETAILS, TRAP_LINK_INTEGRITY_PORT), 2);
    sma_release(&sma);
}

static void the_interval_holds_for_new_traps_after_a_repress(void **state)
{
    struct sma sma = configured_switch();
    struct sma_output output;
    link_up(&sma, 1);
    next_trap(&sma, 0, &output);
    repress(&sma, output.mad + SMP_DATA_OFFSET);
    link_up(&sma, 2);
    no_output(&sma, INTERVAL - 1);
    assert_int_equal(sma_deadline(&sma), INTERVAL);
    next_trap(&sma, INTERVAL, &output);
    sma_release(&sma);
}

static void a_trap_that_is_pending_is_not_raised_twice(void **state)
{
    struct sma sma = configured_switch();
    for (unsigned port = 1; port <= SWITCH_PORTS; port++)
        link_up(&sma, port);
    assert_int_equal(sma.trap_count, 1); /* trap 128 has the switch, not the port */
    sma_release(&sma);
}

static void pending_traps_are_bounded(void **state)
{
    struct sma sma = configured_switch();
    for (unsigned port = 1; port <= SWITCH_PORTS; port++) {
        sma_report_threshold(&sma, port, 129);
        sma_report_threshold(&sma, port, 130);
    }
    assert_in_range(sma.trap_count, 1, 16);
    sma_release(&sma);
}

static void no_trap_is_sent_without_lid_manager_or_capability(void **state)
{
    struct sma_options options = plain_options();
    struct sma sma;
    options.traps = false;
    make_switch(&sma, &options);
    set_lids(&sma, 0, LID, MANAGER);
    link_up(&sma, 1);
    no_output(&sma, 0);
    sma_release(&sma);

    sma = a_switch();
    link_up(&sma, 1);
    no_output(&sma, 0);
    set_lids(&sma, 0, LID, 0);
    link_up(&sma, 2);
    no_output(&sma, 0);
    sma_release(&sma);
}

static void a_trap_follows_the_manager_to_its_new_lid(void **state)
{
    struct sma sma = configured_switch();
    struct sma_output output;
    link_up(&sma, 1);
    next_trap(&sma, 0, &output);
    assert_int_equal(output.dlid, MANAGER);
    assert_int_equal(set_port_field(&sma, 0, PORT_INFO_MASTER_SM_LID, 77), STATUS_OK);
    assert_int_equal(set_port_field(&sma, 0, PORT_INFO_MASTER_SM_SL, 5), STATUS_OK);
    next_trap(&sma, INTERVAL, &output);
    assert_int_equal(output.dlid, 77);
    assert_int_equal(output.sl, 5);
    sma_release(&sma);
}

static void the_shortest_and_the_longest_interval_fit_the_clock(void **state)
{
    static const unsigned codes[] = {0, 31};
    for (unsigned i = 0; i < 2; i++) {
        struct sma sma = configured_switch();
        struct sma_output output;
        assert_int_equal(set_port_field(&sma, 0, PORT_INFO_SUBNET_TIME_OUT, codes[i]), STATUS_OK);
        link_up(&sma, 1);
        next_trap(&sma, 0, &output);
        assert_int_equal(sma_deadline(&sma), 4096 * TIME_NS << codes[i]);
        sma_release(&sma);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trap_128_has_the_lid_of_the_switch),
        cmocka_unit_test(an_adapter_sends_no_trap_for_its_links),
        cmocka_unit_test(traps_129_to_131_have_the_port),
        cmocka_unit_test(trap_144_has_the_new_capability_mask),
        cmocka_unit_test(traps_257_and_258_have_the_addresses_and_the_key),
        cmocka_unit_test(trap_259_also_has_the_port_of_the_switch),
        cmocka_unit_test(a_wrong_p_key_at_port_0_of_a_switch_is_trap_257),
        cmocka_unit_test(a_trap_is_repeated_at_the_interval_until_it_is_repressed),
        cmocka_unit_test(pending_traps_are_sent_round_robin),
        cmocka_unit_test(a_repress_ends_only_its_own_trap),
        cmocka_unit_test(the_interval_holds_for_new_traps_after_a_repress),
        cmocka_unit_test(a_trap_that_is_pending_is_not_raised_twice),
        cmocka_unit_test(pending_traps_are_bounded),
        cmocka_unit_test(no_trap_is_sent_without_lid_manager_or_capability),
        cmocka_unit_test(a_trap_follows_the_manager_to_its_new_lid),
        cmocka_unit_test(the_shortest_and_the_longest_interval_fit_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
