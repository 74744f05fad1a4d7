/* Which MADs an agent answers, and with what status it refuses the rest. */
#include "fixture.h"

static void node_info_has_the_guids_and_the_input_port(void **state)
{
    struct sma sma = an_adapter();
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(get_through(&sma, 2, ATTRIBUTE_NODE_INFO, 0, data), STATUS_OK);
    assert_int_equal(wire_get(data, NODE_INFO_BASE_VERSION), 1);
    assert_int_equal(wire_get(data, NODE_INFO_CLASS_VERSION), 1);
    assert_int_equal(wire_get(data, NODE_INFO_NODE_TYPE), ADAPTER);
    assert_int_equal(wire_get(data, NODE_INFO_NUM_PORTS), 2);
    assert_int_equal(wire_get(data, NODE_INFO_NODE_GUID), ADAPTER_GUID);
    assert_int_equal(wire_get(data, NODE_INFO_PORT_GUID), ADAPTER_GUID + 2);
    assert_int_equal(wire_get(data, NODE_INFO_LOCAL_PORT_NUM), 2);
    assert_int_equal(wire_get(data, NODE_INFO_PARTITION_CAP), 64);
    assert_int_equal(wire_get(data, NODE_INFO_VENDOR_ID), 0x2c9);
    assert_int_equal(wire_get(data, NODE_INFO_DEVICE_ID), 0x1234);
    sma_release(&sma);
}

static void a_switch_returns_the_guid_of_port_0_at_every_port(void **state)
{
    struct sma sma = a_switch();
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(get_through(&sma, 7, ATTRIBUTE_NODE_INFO, 0, data), STATUS_OK);
    assert_int_equal(wire_get(data, NODE_INFO_NODE_TYPE), SWITCH);
    assert_int_equal(wire_get(data, NODE_INFO_PORT_GUID), SWITCH_GUID);
    assert_int_equal(wire_get(data, NODE_INFO_LOCAL_PORT_NUM), 7);
    sma_release(&sma);
}

static void a_description_of_64_bytes_needs_no_terminator(void **state)
{
    static const char longest[] =
        "0123456789012345678901234567890123456789012345678901234567890123 and more";
    const struct sma_options options = plain_options();
    for (unsigned i = 0; i < 2; i++) {
        struct sma sma;
        uint8_t data[SMP_DATA_BYTES] = {0};
        sma_init(&sma,
                 &(struct sma_identity){
                     .kind = 1, .port_count = 1, .guid = 1, .description = i ? "short" : longest},
                 &options);
        assert_int_equal(get_through(&sma, 1, ATTRIBUTE_NODE_DESCRIPTION, 0, data), STATUS_OK);
        assert_memory_equal(data, i ? "short" : longest, i ? sizeof "short" : 64);
        assert_int_equal(data[63], i ? 0 : '3');
        sma_release(&sma);
    }
}

static void unknown_attributes_are_refused(void **state)
{
    struct sma sma = an_adapter();
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(get_through(&sma, 1, 0x13, 0, data), STATUS_BAD_ATTRIBUTE);
    assert_int_equal(set_through(&sma, 1, 0xFFFF, 0, data), STATUS_BAD_ATTRIBUTE);
    assert_int_equal(get_through(&sma, 1, ATTRIBUTE_NOTICE, 0, data), STATUS_BAD_ATTRIBUTE);
    sma_release(&sma);
}

static void read_only_attributes_cannot_be_set(void **state)
{
    struct sma sma = a_switch();
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_NODE_INFO, 0, data), STATUS_BAD_ATTRIBUTE);
    assert_int_equal(set_through(&sma, 1, ATTRIBUTE_NODE_DESCRIPTION, 0, data),
                     STATUS_BAD_ATTRIBUTE);
    sma_release(&sma);
}

static void adapters_have_no_switch_attributes(void **state)
{
    static const unsigned of_switches[] = {ATTRIBUTE_SWITCH_INFO, ATTRIBUTE_LINEAR_FORWARDING_TABLE,
                                           ATTRIBUTE_RANDOM_FORWARDING_TABLE,
                                           ATTRIBUTE_MULTICAST_FORWARDING_TABLE};
    struct sma sma = an_adapter();
    uint8_t data[SMP_DATA_BYTES] = {0};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(get_through(&sma, 1, of_switches[i], 0, data), STATUS_BAD_ATTRIBUTE);
        assert_int_equal(set_through(&sma, 1, of_switches[i], 0, data), STATUS_BAD_ATTRIBUTE);
    }
    sma_release(&sma);
}

static void unknown_methods_are_refused(void **state)
{
    static const unsigned methods[] = {0, METHOD_SEND, METHOD_REPORT, METHOD_GET_TABLE, 0x7F};
    struct sma sma = a_switch();
    for (unsigned i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        uint8_t data[SMP_DATA_BYTES] = {0};
        unsigned status;
        assert_true(request(&sma, 0, 1, 0, methods[i], ATTRIBUTE_NODE_INFO, 0, data, &status));
        assert_int_equal(status, STATUS_BAD_METHOD);
    }
    sma_release(&sma);
}

static void other_versions_are_refused(void **state)
{
    struct sma sma = a_switch();
    uint8_t mad[MAD_BYTES];
    smp_fill(mad, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    wire_set(mad, MAD_BASE_VERSION, 2);
    assert_int_equal(sma_receive(&sma, 0, 1, SENDER, mad), SMA_REPLY);
    assert_int_equal(wire_get(mad, MAD_STATUS), STATUS_BAD_VERSION);
    smp_fill(mad, METHOD_GET, ATTRIBUTE_NODE_INFO, 0);
    wire_set(mad, MAD_CLASS_VERSION, 2);
    assert_int_equal(sma_receive(&sma, 0, 1, SENDER, mad), SMA_REPLY);
    assert_int_equal(wire_get(mad, MAD_STATUS), STATUS_BAD_VERSION);
    sma_release(&sma);
}

static void responses_and_sm_info_are_passed_on(void **state)
{
    static const struct {
        unsigned class, method, attribute;
    } passed[] = {
        {CLASS_SUBN_LID, METHOD_GET_RESP, ATTRIBUTE_NODE_INFO},
        {CLASS_SUBN_LID, METHOD_TRAP, ATTRIBUTE_NOTICE},
        {CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_SM_INFO},
        {CLASS_SUBN_DIRECTED, METHOD_SET, ATTRIBUTE_SM_INFO},
        {CLASS_SUBN_ADM, METHOD_GET, ATTRIBUTE_NODE_INFO},
        {CLASS_PERFORMANCE, METHOD_GET_RESP, ATTRIBUTE_PORT_COUNTERS},
        {CLASS_CM, METHOD_SEND, 0x10},
    };
    struct sma sma = an_adapter();
    for (unsigned i = 0; i < sizeof passed / sizeof passed[0]; i++) {
        uint8_t mad[MAD_BYTES], before[MAD_BYTES];
        smp_fill(mad, passed[i].method, passed[i].attribute, 0);
        wire_set(mad, MAD_CLASS, passed[i].class);
        memcpy(before, mad, sizeof mad);
        assert_int_equal(sma_receive(&sma, 0, 1, SENDER, mad), SMA_PASS);
        assert_memory_equal(mad, before, sizeof mad);
    }
    sma_release(&sma);
}

static void responses_to_directed_requests_have_the_direction_bit(void **state)
{
    struct sma sma = an_adapter();
    uint8_t mad[MAD_BYTES];
    smp_fill(mad, METHOD_GET, ATTRIBUTE_SWITCH_INFO, 0);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_DIRECTED);
    assert_int_equal(sma_receive(&sma, 0, 1, SENDER, mad), SMA_REPLY);
    assert_int_equal(wire_get(mad, SMP_DIRECTION), 1);
    assert_int_equal(wire_get(mad, SMP_STATUS), STATUS_BAD_ATTRIBUTE);
    assert_int_equal(wire_get(mad, MAD_STATUS), 0x8000 | STATUS_BAD_ATTRIBUTE);
    sma_release(&sma);
}

static void a_response_has_zeros_after_a_short_attribute(void **state)
{
    struct sma sma = a_switch();
    uint8_t data[SMP_DATA_BYTES];
    memset(data, 0xA5, sizeof data);
    assert_int_equal(get_through(&sma, 1, ATTRIBUTE_SWITCH_INFO, 0, data), STATUS_OK);
    for (unsigned i = WIRE_BYTES_SWITCH_INFO; i < sizeof data; i++)
        assert_int_equal(data[i], 0);
    sma_release(&sma);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(node_info_has_the_guids_and_the_input_port),
        cmocka_unit_test(a_switch_returns_the_guid_of_port_0_at_every_port),
        cmocka_unit_test(a_description_of_64_bytes_needs_no_terminator),
        cmocka_unit_test(unknown_attributes_are_refused),
        cmocka_unit_test(read_only_attributes_cannot_be_set),
        cmocka_unit_test(adapters_have_no_switch_attributes),
        cmocka_unit_test(unknown_methods_are_refused),
        cmocka_unit_test(other_versions_are_refused),
        cmocka_unit_test(responses_and_sm_info_are_passed_on),
        cmocka_unit_test(responses_to_directed_requests_have_the_direction_bit),
        cmocka_unit_test(a_response_has_zeros_after_a_short_attribute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
