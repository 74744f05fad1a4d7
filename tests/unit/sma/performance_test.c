/* The performance agent: two sets of counters over the same totals. */
#include "fixture.h"

enum { ALL_PORTS = 0xFF, ALL_COUNTERS = 0xFFFF };
enum { PERFORMANCE_BYTES = MAD_BYTES - GMP_DATA_OFFSET };

static unsigned perform(struct sma *sma, unsigned method, unsigned attribute,
                        uint8_t data[PERFORMANCE_BYTES])
{
    uint8_t mad[MAD_BYTES];
    smp_fill(mad, method, attribute, 0);
    wire_set(mad, MAD_CLASS, CLASS_PERFORMANCE);
    memcpy(mad + GMP_DATA_OFFSET, data, PERFORMANCE_BYTES);
    uint64_t tid = wire_get(mad, MAD_TID);
    assert_int_equal(sma_receive(sma, 0, 1, SENDER, mad), SMA_REPLY);
    assert_int_equal(wire_get(mad, MAD_METHOD), METHOD_GET_RESP);
    assert_int_equal(wire_get(mad, MAD_TID), tid);
    memcpy(data, mad + GMP_DATA_OFFSET, PERFORMANCE_BYTES);
    return (unsigned)wire_get(mad, MAD_STATUS);
}

static uint64_t basic(struct sma *sma, unsigned port, enum wire_field field)
{
    uint8_t data[PERFORMANCE_BYTES] = {0};
    wire_set(data, PORT_COUNTERS_PORT_SELECT, port);
    assert_int_equal(perform(sma, METHOD_GET, ATTRIBUTE_PORT_COUNTERS, data), STATUS_OK);
    assert_int_equal(wire_get(data, PORT_COUNTERS_PORT_SELECT), port);
    return wire_get(data, field);
}

static uint64_t extended(struct sma *sma, unsigned port, enum wire_field field)
{
    uint8_t data[PERFORMANCE_BYTES] = {0};
    wire_set(data, PORT_COUNTERS_EXT_PORT_SELECT, port);
    assert_int_equal(perform(sma, METHOD_GET, ATTRIBUTE_PORT_COUNTERS_EXT, data), STATUS_OK);
    return wire_get(data, field);
}

static void clear_basic(struct sma *sma, unsigned port, unsigned select, unsigned select2)
{
    uint8_t data[PERFORMANCE_BYTES] = {0};
    wire_set(data, PORT_COUNTERS_PORT_SELECT, port);
    wire_set(data, PORT_COUNTERS_COUNTER_SELECT, select);
    wire_set(data, PORT_COUNTERS_COUNTER_SELECT2, select2);
    assert_int_equal(perform(sma, METHOD_SET, ATTRIBUTE_PORT_COUNTERS, data), STATUS_OK);
}

static void clear_extended(struct sma *sma, unsigned port, unsigned select, unsigned select2)
{
    uint8_t data[PERFORMANCE_BYTES] = {0};
    wire_set(data, PORT_COUNTERS_EXT_PORT_SELECT, port);
    wire_set(data, PORT_COUNTERS_EXT_COUNTER_SELECT, select);
    wire_set(data, PORT_COUNTERS_EXT_COUNTER_SELECT2, select2);
    assert_int_equal(perform(sma, METHOD_SET, ATTRIBUTE_PORT_COUNTERS_EXT, data), STATUS_OK);
}

static void both_sets_show_what_was_counted(void **state)
{
    static const struct {
        enum port_counter counter;
        enum wire_field in_basic, in_extended;
    } shown[] = {
        {COUNTER_SYMBOL_ERRORS, PORT_COUNTERS_SYMBOL_ERRORS, PORT_COUNTERS_EXT_SYMBOL_ERRORS},
        {COUNTER_LINK_DOWNED, PORT_COUNTERS_LINK_DOWNED, PORT_COUNTERS_EXT_LINK_DOWNED},
        {COUNTER_TRANSMIT_DISCARDS, PORT_COUNTERS_TRANSMIT_DISCARDS,
         PORT_COUNTERS_EXT_TRANSMIT_DISCARDS},
        {COUNTER_VL15_DROPPED, PORT_COUNTERS_VL15_DROPPED, PORT_COUNTERS_EXT_VL15_DROPPED},
        {COUNTER_TRANSMIT_DATA, PORT_COUNTERS_TRANSMIT_DATA, PORT_COUNTERS_EXT_TRANSMIT_DATA},
        {COUNTER_RECEIVE_PACKETS, PORT_COUNTERS_RECEIVE_PACKETS, PORT_COUNTERS_EXT_RECEIVE_PACKETS},
        {COUNTER_TRANSMIT_WAIT, PORT_COUNTERS_TRANSMIT_WAIT, PORT_COUNTERS_EXT_TRANSMIT_WAIT},
        {COUNTER_QP1_DROPPED, PORT_COUNTERS_QP1_DROPPED, PORT_COUNTERS_EXT_QP1_DROPPED},
    };
    struct sma sma = a_switch();
    for (unsigned i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        sma_count(&sma, 4, shown[i].counter, i + 3);
        assert_int_equal(basic(&sma, 4, shown[i].in_basic), i + 3);
        assert_int_equal(extended(&sma, 4, shown[i].in_extended), i + 3);
        assert_int_equal(basic(&sma, 5, shown[i].in_basic), 0);
    }
    sma_count(&sma, 4, COUNTER_RECEIVE_MULTICAST_PACKETS, 2);
    assert_int_equal(extended(&sma, 4, PORT_COUNTERS_EXT_RECEIVE_MULTICAST_PACKETS), 2);
    sma_release(&sma);
}

static void clearing_one_set_leaves_the_other(void **state)
{
    struct sma sma = a_switch();
    sma_count(&sma, 1, COUNTER_TRANSMIT_PACKETS, 10);
    clear_basic(&sma, 1, ALL_COUNTERS, 0xFF);
    assert_int_equal(basic(&sma, 1, PORT_COUNTERS_TRANSMIT_PACKETS), 0);
    assert_int_equal(extended(&sma, 1, PORT_COUNTERS_EXT_TRANSMIT_PACKETS), 10);
    sma_count(&sma, 1, COUNTER_TRANSMIT_PACKETS, 5);
    clear_extended(&sma, 1, ALL_COUNTERS, UINT32_MAX);
    assert_int_equal(basic(&sma, 1, PORT_COUNTERS_TRANSMIT_PACKETS), 5);
    assert_int_equal(extended(&sma, 1, PORT_COUNTERS_EXT_TRANSMIT_PACKETS), 0);
    sma_release(&sma);
}

static void only_selected_counters_are_cleared(void **state)
{
    enum { SYMBOL_ERRORS = 1 << 0, RCV_PACKETS = 1 << 15, XMIT_WAIT = 1 << 0 };
    struct sma sma = a_switch();
    for (unsigned counter = 0; counter < COUNTER_COUNT; counter++)
        sma_count(&sma, 1, counter, 9);
    clear_basic(&sma, 1, SYMBOL_ERRORS | RCV_PACKETS, 0);
    assert_int_equal(basic(&sma, 1, PORT_COUNTERS_SYMBOL_ERRORS), 0);
    assert_int_equal(basic(&sma, 1, PORT_COUNTERS_RECEIVE_PACKETS), 0);
    assert_int_equal(basic(&sma, 1, PORT_COUNTERS_TRANSMIT_PACKETS), 9);
    assert_int_equal(basic(&sma, 1, PORT_COUNTERS_TRANSMIT_WAIT), 9);
    clear_basic(&sma, 1, 0, XMIT_WAIT);
    assert_int_equal(basic(&sma, 1, PORT_COUNTERS_TRANSMIT_WAIT), 0);
    assert_int_equal(basic(&sma, 1, PORT_COUNTERS_TRANSMIT_PACKETS), 9);
    clear_extended(&sma, 1, 1 << 7, 1 << 12);
    assert_int_equal(extended(&sma, 1, PORT_COUNTERS_EXT_RECEIVE_MULTICAST_PACKETS), 0);
    assert_int_equal(extended(&sma, 1, PORT_COUNTERS_EXT_TRANSMIT_WAIT), 0);
    assert_int_equal(extended(&sma, 1, PORT_COUNTERS_EXT_RECEIVE_UNICAST_PACKETS), 9);
    sma_release(&sma);
}

static void a_set_writes_the_value_it_carries(void **state)
{
    struct sma sma = a_switch();
    uint8_t data[PERFORMANCE_BYTES] = {0};
    wire_set(data, PORT_COUNTERS_PORT_SELECT, 1);
    wire_set(data, PORT_COUNTERS_COUNTER_SELECT, 1);
    wire_set(data, PORT_COUNTERS_SYMBOL_ERRORS, 100);
    assert_int_equal(perform(&sma, METHOD_SET, ATTRIBUTE_PORT_COUNTERS, data), STATUS_OK);
    assert_int_equal(wire_get(data, PORT_COUNTERS_SYMBOL_ERRORS), 100);
    sma_count(&sma, 1, COUNTER_SYMBOL_ERRORS, 1);
    assert_int_equal(basic(&sma, 1, PORT_COUNTERS_SYMBOL_ERRORS), 101);
    sma_release(&sma);
}

static void the_basic_set_saturates_and_the_extended_one_does_not(void **state)
{
    struct sma sma = a_switch();
    sma_count(&sma, 1, COUNTER_TRANSMIT_DATA, UINT32_MAX - UINT64_C(1));
    assert_int_equal(basic(&sma, 1, PORT_COUNTERS_TRANSMIT_DATA), UINT32_MAX - 1);
    sma_count(&sma, 1, COUNTER_TRANSMIT_DATA, 5);
    assert_int_equal(basic(&sma, 1, PORT_COUNTERS_TRANSMIT_DATA), UINT32_MAX);
    assert_int_equal(extended(&sma, 1, PORT_COUNTERS_EXT_TRANSMIT_DATA), UINT32_MAX + UINT64_C(4));
    sma_count(&sma, 1, COUNTER_LINK_DOWNED, 300);                    /* eight bits */
    sma_count(&sma, 1, COUNTER_EXCESSIVE_BUFFER_OVERRUN_ERRORS, 20); /* four bits */
    assert_int_equal(basic(&sma, 1, PORT_COUNTERS_LINK_DOWNED), 255);
    assert_int_equal(basic(&sma, 1, PORT_COUNTERS_EXCESSIVE_BUFFER_OVERRUN_ERRORS), 15);
    sma_release(&sma);
}

static void the_extended_set_wraps_at_64_bits(void **state)
{
    struct sma sma = a_switch();
    sma_count(&sma, 1, COUNTER_RECEIVE_DATA, UINT64_MAX);
    assert_int_equal(extended(&sma, 1, PORT_COUNTERS_EXT_RECEIVE_DATA), UINT64_MAX);
    sma_count(&sma, 1, COUNTER_RECEIVE_DATA, 3);
    assert_int_equal(extended(&sma, 1, PORT_COUNTERS_EXT_RECEIVE_DATA), 2);
    sma_release(&sma);
}

static void all_ports_are_summed_and_cleared_together(void **state)
{
    struct sma sma = a_switch();
    for (unsigned port = 0; port <= SWITCH_PORTS; port++)
        sma_count(&sma, port, COUNTER_RECEIVE_PACKETS, port + 1);
    unsigned sum = SWITCH_PORTS * (SWITCH_PORTS + 1) / 2 + SWITCH_PORTS; /* without port 0 */
    assert_int_equal(basic(&sma, ALL_PORTS, PORT_COUNTERS_RECEIVE_PACKETS), sum);
    assert_int_equal(extended(&sma, ALL_PORTS, PORT_COUNTERS_EXT_RECEIVE_PACKETS), sum);
    clear_basic(&sma, ALL_PORTS, ALL_COUNTERS, 0);
    assert_int_equal(basic(&sma, ALL_PORTS, PORT_COUNTERS_RECEIVE_PACKETS), 0);
    assert_int_equal(basic(&sma, SWITCH_PORTS, PORT_COUNTERS_RECEIVE_PACKETS), 0);
    assert_int_equal(basic(&sma, 0, PORT_COUNTERS_RECEIVE_PACKETS), 1);
    assert_int_equal(extended(&sma, ALL_PORTS, PORT_COUNTERS_EXT_RECEIVE_PACKETS), sum);
    sma_release(&sma);
}

static void unknown_ports_are_refused(void **state)
{
    struct sma switch_agent = a_switch(), adapter = an_adapter();
    uint8_t data[PERFORMANCE_BYTES] = {0};
    wire_set(data, PORT_COUNTERS_PORT_SELECT, SWITCH_PORTS + 1);
    assert_int_equal(perform(&switch_agent, METHOD_GET, ATTRIBUTE_PORT_COUNTERS, data),
                     STATUS_BAD_VALUE);
    assert_int_equal(perform(&switch_agent, METHOD_SET, ATTRIBUTE_PORT_COUNTERS, data),
                     STATUS_BAD_VALUE);
    wire_set(data, PORT_COUNTERS_PORT_SELECT, 3);
    assert_int_equal(perform(&adapter, METHOD_GET, ATTRIBUTE_PORT_COUNTERS, data),
                     STATUS_BAD_VALUE);
    sma_release(&switch_agent);
    sma_release(&adapter);
}

static void port_select_0_is_port_0_of_a_switch_or_the_input_port_of_an_adapter(void **state)
{
    struct sma switch_agent = a_switch(), adapter = an_adapter();
    sma_count(&switch_agent, 0, COUNTER_RECEIVE_PACKETS, 3);
    sma_count(&adapter, 1, COUNTER_RECEIVE_PACKETS, 4); /* perform() sends to port 1 */
    sma_count(&adapter, 2, COUNTER_RECEIVE_PACKETS, 5);
    assert_int_equal(basic(&switch_agent, 0, PORT_COUNTERS_RECEIVE_PACKETS), 3);
    assert_int_equal(basic(&adapter, 0, PORT_COUNTERS_RECEIVE_PACKETS), 4);
    sma_release(&switch_agent);
    sma_release(&adapter);
}

static void class_port_info_has_the_capabilities_of_the_agent(void **state)
{
    enum { ALL_PORT_SELECT = 1 << 8, EXTENDED_WIDTH = 1 << 9 };
    struct sma sma = an_adapter();
    uint8_t data[PERFORMANCE_BYTES] = {0};
    assert_int_equal(perform(&sma, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO, data), STATUS_OK);
    assert_int_equal(wire_get(data, CLASS_PORT_INFO_BASE_VERSION), 1);
    assert_int_equal(wire_get(data, CLASS_PORT_INFO_CLASS_VERSION), 1);
    uint64_t mask = wire_get(data, CLASS_PORT_INFO_CAPABILITY_MASK);
    assert_int_equal(mask & (ALL_PORT_SELECT | EXTENDED_WIDTH), ALL_PORT_SELECT | EXTENDED_WIDTH);
    assert_int_equal(wire_get(data, CLASS_PORT_INFO_RESP_TIME_VALUE), 18);
    sma_release(&sma);
}

static void unknown_performance_attributes_are_refused(void **state)
{
    struct sma sma = an_adapter();
    uint8_t data[PERFORMANCE_BYTES] = {0}, mad[MAD_BYTES];
    assert_int_equal(perform(&sma, METHOD_GET, 0x77, data), STATUS_BAD_ATTRIBUTE);
    assert_int_equal(perform(&sma, METHOD_REPORT, ATTRIBUTE_PORT_COUNTERS, data),
                     STATUS_BAD_METHOD);
    smp_fill(mad, METHOD_GET, ATTRIBUTE_PORT_COUNTERS, 0);
    wire_set(mad, MAD_CLASS, CLASS_PERFORMANCE);
    wire_set(mad, MAD_CLASS_VERSION, 2);
    assert_int_equal(sma_receive(&sma, 0, 1, SENDER, mad), SMA_REPLY);
    assert_int_equal(wire_get(mad, MAD_STATUS), STATUS_BAD_VERSION);
    sma_release(&sma);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sets_show_what_was_counted),
        cmocka_unit_test(clearing_one_set_leaves_the_other),
        cmocka_unit_test(only_selected_counters_are_cleared),
        cmocka_unit_test(a_set_writes_the_value_it_carries),
        cmocka_unit_test(the_basic_set_saturates_and_the_extended_one_does_not),
        cmocka_unit_test(the_extended_set_wraps_at_64_bits),
        cmocka_unit_test(all_ports_are_summed_and_cleared_together),
        cmocka_unit_test(unknown_ports_are_refused),
        cmocka_unit_test(port_select_0_is_port_0_of_a_switch_or_the_input_port_of_an_adapter),
        cmocka_unit_test(class_port_info_has_the_capabilities_of_the_agent),
        cmocka_unit_test(unknown_performance_attributes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
