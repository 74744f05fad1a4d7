/* General service agents: device management of targets, samples of counters, and classes that a
 * node has no agent for. */
#include "fixture.h"

#include "wire/redirect.h"

static unsigned ask(struct sma *sma, uint64_t now, unsigned class, unsigned method,
                    unsigned attribute, uint32_t modifier, uint8_t data[GMP_DATA_BYTES])
{
    uint8_t mad[MAD_BYTES];
    smp_fill(mad, method, attribute, modifier);
    wire_set(mad, MAD_CLASS, class);
    memcpy(mad + GMP_DATA_OFFSET, data, GMP_DATA_BYTES);
    assert_int_equal(sma_receive(sma, now, 1, SENDER, mad), SMA_REPLY);
    assert_int_equal(wire_get(mad, MAD_METHOD), METHOD_GET_RESP);
    memcpy(data, mad + GMP_DATA_OFFSET, GMP_DATA_BYTES);
    return (unsigned)wire_get(mad, MAD_STATUS);
}

static unsigned read_device(struct sma *sma, unsigned attribute, uint32_t modifier,
                            uint8_t data[GMP_DATA_BYTES])
{
    memset(data, 0xAA, GMP_DATA_BYTES);
    return ask(sma, 0, CLASS_DEVICE, METHOD_GET, attribute, modifier, data);
}

static struct sma a_target(unsigned controllers, unsigned services)
{
    struct sma sma;
    struct sma_options options = plain_options();
    options.io_controllers = (uint8_t)controllers;
    options.io_services = (uint8_t)services;
    make_adapter(&sma, 1, &options);
    return sma;
}

static void a_target_lists_its_controllers(void **state)
{
    struct sma sma = a_target(3, 1);
    uint8_t data[GMP_DATA_BYTES];
    assert_int_equal(read_device(&sma, ATTRIBUTE_IO_UNIT_INFO, 0, data), STATUS_OK);
    assert_int_equal(wire_get(data, IO_UNIT_INFO_MAX_CONTROLLERS), 3);
    for (unsigned slot = 1; slot <= 4; slot++)
        assert_int_equal(wire_get_at(data, IO_UNIT_INFO_CONTROLLER, slot - 1), slot < 4 ? 1 : 0xF);
    assert_int_not_equal(port_field(&sma, 1, PORT_INFO_CAPABILITY_MASK) & 1 << 19, 0);
    sma_release(&sma);
}

static void profiles_have_guids_of_their_own(void **state)
{
    struct sma sma = a_target(2, 7);
    uint8_t data[GMP_DATA_BYTES];
    uint64_t first = 0;
    for (unsigned slot = 1; slot <= 2; slot++) {
        assert_int_equal(read_device(&sma, ATTRIBUTE_IO_CONTROLLER_PROFILE, slot, data), STATUS_OK);
        assert_int_not_equal(wire_get(data, IO_CONTROLLER_PROFILE_GUID), first);
        first = wire_get(data, IO_CONTROLLER_PROFILE_GUID);
        assert_int_equal(wire_get(data, IO_CONTROLLER_PROFILE_VENDOR_ID), 0x2c9);
        assert_int_equal(wire_get(data, IO_CONTROLLER_PROFILE_IO_CLASS), 0x0100);
        assert_int_equal(wire_get(data, IO_CONTROLLER_PROFILE_SERVICE_ENTRIES), 7);
    }
    assert_int_equal(read_device(&sma, ATTRIBUTE_IO_CONTROLLER_PROFILE, 0, data), STATUS_BAD_VALUE);
    assert_int_equal(read_device(&sma, ATTRIBUTE_IO_CONTROLLER_PROFILE, 3, data), 0x0100);
    assert_int_equal(read_device(&sma, ATTRIBUTE_IO_CONTROLLER_PROFILE, 257, data),
                     STATUS_BAD_VALUE);
    sma_release(&sma);
}

static void services_are_read_four_at_a_time(void **state)
{
    struct sma sma = a_target(1, 7);
    uint8_t data[GMP_DATA_BYTES];
    assert_int_equal(read_device(&sma, ATTRIBUTE_SERVICE_ENTRIES, 1 << 16 | 6 << 8 | 4, data),
                     STATUS_OK);
    for (unsigned i = 0; i < 4; i++) {
        const char *name = (const char *)data + i * WIRE_BYTES_SERVICE_ENTRY;
        char expected[40];
        uint64_t target = wire_get(data + i * WIRE_BYTES_SERVICE_ENTRY, SERVICE_ENTRY_ID);
        snprintf(expected, sizeof expected, "SRP.T10:%016llX", (unsigned long long)target);
        assert_string_equal(name, i < 3 ? expected : "");
    }
    static const uint32_t wrong[] = {0 << 16 | 3 << 8 | 0, 1 << 16 | 4 << 8 | 0,
                                     1 << 16 | 7 << 8 | 4, 1 << 16 | 1 << 8 | 2};
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(read_device(&sma, ATTRIBUTE_SERVICE_ENTRIES, wrong[i], data),
                         STATUS_BAD_VALUE);
    sma_release(&sma);
}

static void every_class_has_a_class_port_info(void **state)
{
    struct sma sma = a_target(1, 1);
    static const unsigned classes[] = {CLASS_PERFORMANCE, CLASS_DEVICE};
    for (unsigned i = 0; i < 2; i++) {
        uint8_t data[GMP_DATA_BYTES] = {0};
        assert_int_equal(ask(&sma, 0, classes[i], METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0, data),
                         STATUS_OK);
        assert_int_equal(wire_get(data, CLASS_PORT_INFO_BASE_VERSION), 1);
        assert_int_equal(wire_get(data, CLASS_PORT_INFO_CLASS_VERSION), 1);
        assert_int_equal(wire_get(data, CLASS_PORT_INFO_RESP_TIME_VALUE), 18);
        assert_int_equal(ask(&sma, 0, classes[i], METHOD_SET, ATTRIBUTE_CLASS_PORT_INFO, 0, data),
                         STATUS_BAD_ATTRIBUTE);
        assert_int_equal(ask(&sma, 0, classes[i], METHOD_GET, 0x7777, 0, data),
                         STATUS_BAD_ATTRIBUTE);
    }
    sma_release(&sma);
}

static unsigned ask_port(struct sma *sma, unsigned port, unsigned attribute, unsigned select,
                         uint8_t mad[MAD_BYTES])
{
    smp_fill(mad, METHOD_GET, attribute, 0);
    wire_set(mad, MAD_CLASS, CLASS_PERFORMANCE);
    wire_set(mad + GMP_DATA_OFFSET, PORT_COUNTERS_PORT_SELECT, select);
    assert_int_equal(sma_receive(sma, 0, port, SENDER, mad), SMA_REPLY);
    return (unsigned)wire_get(mad, MAD_STATUS);
}

static void a_port_redirects_to_the_service_port(void **state)
{
    struct sma sma;
    struct sma_options options = plain_options();
    struct redirect_trail trail;
    struct redirect first = redirect_to(22, 0);
    uint8_t mad[MAD_BYTES];
    options.service_port = 1;
    make_adapter(&sma, 2, &options);
    sma_count(&sma, 2, COUNTER_SYMBOL_ERRORS, 3);
    assert_int_equal(ask_port(&sma, 2, ATTRIBUTE_PORT_COUNTERS, 2, mad), STATUS_OK); /* no LID */
    set_lids(&sma, 1, 11, 1);
    set_lids(&sma, 2, 22, 1);
    assert_int_equal(ask_port(&sma, 2, ATTRIBUTE_PORT_COUNTERS, 2, mad), STATUS_REDIRECT);
    redirect_begin(&trail, &first);
    assert_int_equal(redirect_follow(&trail, mad, MAD_BYTES, GMP_DATA_OFFSET, NULL), 0);
    assert_int_equal(redirect_target(&trail)->lid, 11);
    assert_int_equal(ask_port(&sma, 2, ATTRIBUTE_CLASS_PORT_INFO, 0, mad), STATUS_OK);
    assert_int_equal(wire_get(mad + GMP_DATA_OFFSET, CLASS_PORT_INFO_REDIRECT_LID), 11);
    assert_int_equal(ask_port(&sma, 1, ATTRIBUTE_CLASS_PORT_INFO, 0, mad), STATUS_OK);
    assert_int_equal(wire_get(mad + GMP_DATA_OFFSET, CLASS_PORT_INFO_REDIRECT_LID), 0);
    assert_int_equal(ask_port(&sma, 1, ATTRIBUTE_PORT_COUNTERS, 2, mad), STATUS_OK);
    assert_int_equal(wire_get(mad + GMP_DATA_OFFSET, PORT_COUNTERS_SYMBOL_ERRORS), 3);
    sma_release(&sma);
}

/* The owner of the node answers what no agent handles (tests/unit/fabric). */
static void other_classes_and_nodes_have_no_agent(void **state)
{
    struct sma plain = an_adapter(), target = a_target(1, 1), other = a_switch();
    uint8_t mad[MAD_BYTES];
    smp_fill(mad, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0);
    wire_set(mad, MAD_CLASS, CLASS_DEVICE);
    assert_true(sma_handles(&target, mad));
    assert_false(sma_handles(&plain, mad));
    assert_false(sma_handles(&other, mad));
    wire_set(mad, MAD_CLASS, CLASS_BOARD);
    assert_false(sma_handles(&target, mad));
    assert_int_equal(sma_receive(&target, 0, 1, SENDER, mad), SMA_PASS);
    sma_release(&plain);
    sma_release(&target);
    sma_release(&other);
}

static uint64_t control(struct sma *sma, uint64_t now, enum wire_field field)
{
    uint8_t data[GMP_DATA_BYTES] = {0};
    assert_int_equal(
        ask(sma, now, CLASS_PERFORMANCE, METHOD_GET, ATTRIBUTE_PORT_SAMPLES_CONTROL, 0, data),
        STATUS_OK);
    return wire_get(data, field);
}

static unsigned sample(struct sma *sma, uint64_t now, unsigned port, unsigned tag, unsigned last)
{
    uint8_t data[GMP_DATA_BYTES] = {0};
    wire_set(data, PORT_SAMPLES_CONTROL_PORT_SELECT, port);
    wire_set(data, PORT_SAMPLES_CONTROL_SAMPLE_START, 250);     /* 1 us at SDR */
    wire_set(data, PORT_SAMPLES_CONTROL_SAMPLE_INTERVAL, 2500); /* 10 us */
    wire_set(data, PORT_SAMPLES_CONTROL_TAG, tag);
    wire_set_at(data, PORT_SAMPLES_CONTROL_COUNTER_SELECT, 0, 1); /* PortXmitData */
    wire_set_at(data, PORT_SAMPLES_CONTROL_COUNTER_SELECT, 14, last);
    return ask(sma, now, CLASS_PERFORMANCE, METHOD_SET, ATTRIBUTE_PORT_SAMPLES_CONTROL, 0, data);
}

static uint64_t result(struct sma *sma, uint64_t now, enum wire_field field, unsigned index)
{
    uint8_t data[GMP_DATA_BYTES] = {0};
    assert_int_equal(
        ask(sma, now, CLASS_PERFORMANCE, METHOD_GET, ATTRIBUTE_PORT_SAMPLES_RESULT, 0, data),
        STATUS_OK);
    return wire_get_at(data, field, index);
}

static void a_sample_counts_its_interval_only(void **state)
{
    struct sma sma = a_switch();
    sma_count(&sma, 5, COUNTER_TRANSMIT_DATA, 1000);
    assert_int_equal(sample(&sma, 0, 5, 42, 4), STATUS_OK);
    assert_int_equal(control(&sma, 0, PORT_SAMPLES_CONTROL_SAMPLE_STATUS), 1);
    assert_int_equal(sma_deadline(&sma), 1 * TIME_US);
    sma_count(&sma, 5, COUNTER_TRANSMIT_DATA, 100);
    sma_expire(&sma, 1 * TIME_US);
    assert_int_equal(control(&sma, TIME_US, PORT_SAMPLES_CONTROL_SAMPLE_STATUS), 2);
    assert_int_equal(sma_deadline(&sma), 11 * TIME_US);
    sma_count(&sma, 5, COUNTER_TRANSMIT_DATA, 10);
    sma_count(&sma, 5, COUNTER_RECEIVE_PACKETS, 3);
    sma_count(&sma, 6, COUNTER_TRANSMIT_DATA, 7);
    assert_int_equal(result(&sma, 2 * TIME_US, PORT_SAMPLES_RESULT_SAMPLE_STATUS, 0), 2);
    sma_expire(&sma, 11 * TIME_US);
    sma_count(&sma, 5, COUNTER_TRANSMIT_DATA, 1);
    assert_int_equal(sma_deadline(&sma), TIME_NEVER);
    assert_int_equal(result(&sma, 12 * TIME_US, PORT_SAMPLES_RESULT_SAMPLE_STATUS, 0), 0);
    assert_int_equal(result(&sma, 12 * TIME_US, PORT_SAMPLES_RESULT_TAG, 0), 42);
    assert_int_equal(result(&sma, 12 * TIME_US, PORT_SAMPLES_RESULT_COUNTER, 0), 10);
    assert_int_equal(result(&sma, 12 * TIME_US, PORT_SAMPLES_RESULT_COUNTER, 1), 0);
    assert_int_equal(result(&sma, 12 * TIME_US, PORT_SAMPLES_RESULT_COUNTER, 14), 3);
    sma_release(&sma);
}

static void a_pending_sample_is_not_replaced(void **state)
{
    struct sma sma = a_switch();
    assert_int_equal(sample(&sma, 0, 5, 1, 0), STATUS_OK);
    assert_int_equal(sample(&sma, 2 * TIME_US, 6, 2, 0), STATUS_OK);
    assert_int_equal(control(&sma, 2 * TIME_US, PORT_SAMPLES_CONTROL_TAG), 1);
    assert_int_equal(control(&sma, 2 * TIME_US, PORT_SAMPLES_CONTROL_PORT_SELECT), 5);
    assert_int_equal(sample(&sma, 20 * TIME_US, 6, 3, 0), STATUS_OK);
    assert_int_equal(control(&sma, 20 * TIME_US, PORT_SAMPLES_CONTROL_TAG), 3);
    sma_release(&sma);
}

static void wrong_samples_change_nothing(void **state)
{
    struct sma sma = a_switch();
    uint8_t data[GMP_DATA_BYTES] = {0};
    assert_int_equal(sample(&sma, 0, 5, 1, 6), STATUS_BAD_VALUE); /* no such quantity */
    assert_int_equal(sample(&sma, 0, SWITCH_PORTS + 1, 1, 5), STATUS_BAD_VALUE);
    assert_int_equal(
        ask(&sma, 0, CLASS_PERFORMANCE, METHOD_SET, ATTRIBUTE_PORT_SAMPLES_RESULT, 0, data),
        STATUS_BAD_ATTRIBUTE);
    assert_int_equal(control(&sma, 0, PORT_SAMPLES_CONTROL_SAMPLE_STATUS), 0);
    assert_int_equal(sma_deadline(&sma), TIME_NEVER);
    sma_release(&sma);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_target_lists_its_controllers),
        cmocka_unit_test(profiles_have_guids_of_their_own),
        cmocka_unit_test(services_are_read_four_at_a_time),
        cmocka_unit_test(every_class_has_a_class_port_info),
        cmocka_unit_test(a_port_redirects_to_the_service_port),
        cmocka_unit_test(other_classes_and_nodes_have_no_agent),
        cmocka_unit_test(a_sample_counts_its_interval_only),
        cmocka_unit_test(a_pending_sample_is_not_replaced),
        cmocka_unit_test(wrong_samples_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
