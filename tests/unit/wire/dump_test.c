/* Dumps, diffs and one-line summaries as people read them. */
#include "wire/mad.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_has(const struct text *text, const char *line)
{
    if (!strstr(text->data, line))
        fail_msg("\"%s\" is not in:\n%s", line, text->data);
}

static void assert_lacks(const struct text *text, const char *line)
{
    if (strstr(text->data, line))
        fail_msg("\"%s\" is in:\n%s", line, text->data);
}

static void a_port_info_reads_like_smpquery(void **state)
{
    (void)state;
    uint8_t data[64] = {0};
    struct text out = {0};
    wire_set(data, PORT_INFO_LINK_WIDTH_ACTIVE, 2);
    wire_set(data, PORT_INFO_LINK_WIDTH_SUPPORTED, 3);
    wire_set(data, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    wire_set(data, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_LINK_UP);
    wire_set(data, PORT_INFO_LINK_SPEED_EXT_ACTIVE, 8);
    wire_set(data, PORT_INFO_LINK_SPEED_EXT2_ACTIVE, 1);
    wire_set(data, PORT_INFO_MTU_CAP, 5);
    wire_set(data, PORT_INFO_M_KEY, 0xabc);
    wire_dump(&out, WIRE_PORT_INFO, data);
    assert_has(&out, "LinkWidthActive:.................4X\n");
    assert_has(&out, "LinkWidthSupported:..............1X or 4X\n");
    assert_has(&out, "PortState:.......................Active\n");
    assert_has(&out, "PortPhysicalState:...............LinkUp\n");
    assert_has(&out, "LinkSpeedExtActive:..............106.25 Gb/s (NDR)\n");
    assert_has(&out, "LinkSpeedExtActive2:.............212.5 Gb/s (XDR)\n");
    assert_has(&out, "MTUCap:..........................4096\n");
    assert_has(&out, "M_Key:...........................0x0000000000000abc\n");
    text_release(&out);
}

/* The mlx5 driver reads the active XDR speed as (data[56] >> 4) & 6, where 2 means XDR. */
static void xdr_lies_where_the_kernel_looks_for_it(void **state)
{
    (void)state;
    uint8_t data[64] = {0};
    wire_set(data, PORT_INFO_LINK_SPEED_EXT2_ACTIVE, 1);
    assert_int_equal(data[56] >> 4 & 6, 2);
    wire_set(data, PORT_INFO_LINK_SPEED_EXT2_SUPPORTED, 3);
    wire_set(data, PORT_INFO_LINK_SPEED_EXT2_ENABLED, 7);
    assert_int_equal(data[56] >> 4 & 6, 2);
    assert_int_equal(data[56], 0x3f);
}

static void unknown_values_are_shown_as_numbers(void **state)
{
    (void)state;
    uint8_t data[64] = {0};
    struct text out = {0};
    wire_set(data, PORT_INFO_PORT_STATE, 9);
    wire_set(data, PORT_INFO_LINK_WIDTH_ACTIVE, 0x42);
    wire_dump(&out, WIRE_PORT_INFO, data);
    assert_has(&out, "PortState:.......................unknown (9)\n");
    assert_has(&out, "LinkWidthActive:.................4X or 0x40\n");
    text_release(&out);
}

static void a_description_cannot_smuggle_control_characters(void **state)
{
    (void)state;
    uint8_t data[64] = "leaf\n\x1b[2J";
    struct text out = {0};
    wire_dump(&out, WIRE_NODE_DESCRIPTION, data);
    assert_string_equal(out.data, "NodeString:......................leaf\\x0a\\x1b[2J\n");
    text_release(&out);
    memset(data, 'x', sizeof data); /* no terminator at all */
    wire_dump(&out, WIRE_NODE_DESCRIPTION, data);
    assert_int_equal(out.length, 33 + 64 + 1);
    text_release(&out);
}

static void tables_are_dumped_in_rows(void **state)
{
    (void)state;
    uint8_t data[64] = {0};
    struct text out = {0};
    wire_set_at(data, LINEAR_FORWARDING_TABLE_PORT, 17, 5);
    wire_dump(&out, WIRE_LINEAR_FORWARDING_TABLE, data);
    assert_has(&out, "Port[0]:.........................0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
                     "Port[16]:........................0 5 0");
    text_release(&out);
}

static void a_record_is_dumped_with_the_attribute_inside(void **state)
{
    (void)state;
    uint8_t record[WIRE_BYTES_NODE_RECORD] = {0};
    struct text out = {0};
    wire_set(record, NODE_RECORD_LID, 7);
    wire_set(record + NODE_RECORD_AT_NODE_INFO, NODE_INFO_NODE_TYPE, 2);
    memcpy(record + NODE_RECORD_AT_NODE_DESCRIPTION, "spine 3", 7);
    wire_dump(&out, WIRE_NODE_RECORD, record);
    assert_has(&out, "LID:.............................7\n");
    assert_has(&out, "NodeType:........................Switch\n");
    assert_has(&out, "NodeString:......................spine 3\n");
    text_release(&out);
}

static void a_diff_shows_old_and_new_and_nothing_else(void **state)
{
    (void)state;
    uint8_t before[WIRE_BYTES_PORT_INFO_RECORD] = {0}, after[WIRE_BYTES_PORT_INFO_RECORD] = {0};
    struct text out = {0};
    assert_int_equal(wire_diff(&out, WIRE_PORT_INFO_RECORD, before, after), 0);
    assert_int_equal(out.length, 0);
    wire_set(after, PORT_INFO_RECORD_PORT, 3);
    wire_set(after + PORT_INFO_RECORD_AT_PORT_INFO, PORT_INFO_PORT_STATE, PORT_STATE_ARMED);
    assert_int_equal(wire_diff(&out, WIRE_PORT_INFO_RECORD, before, after), 2);
    assert_string_equal(out.data, "PortNum: 0 -> 3\nPortState: No state change -> Armed\n");
    text_release(&out);
}

static void a_diff_of_tables_names_the_entries(void **state)
{
    (void)state;
    uint8_t before[64] = {0}, after[64] = {0};
    struct text out = {0};
    wire_set_at(after, MULTICAST_FORWARDING_TABLE_PORT_MASK, 31, 0x8001);
    assert_int_equal(wire_diff(&out, WIRE_MULTICAST_FORWARDING_TABLE, before, after), 1);
    assert_string_equal(out.data, "PortMask[31]: 0x0000 -> 0x8001\n");
    text_release(&out);
}

static void make_smp(uint8_t mad[MAD_BYTES], unsigned class, unsigned method, unsigned attribute)
{
    memset(mad, 0, MAD_BYTES);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, class);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, method);
    wire_set(mad, MAD_TID, 0x1234);
    wire_set(mad, MAD_ATTRIBUTE_ID, attribute);
}

static void a_summary_is_one_line(void **state)
{
    (void)state;
    uint8_t mad[MAD_BYTES];
    struct text out = {0};
    make_smp(mad, CLASS_SUBN_DIRECTED, METHOD_GET, ATTRIBUTE_NODE_INFO);
    wire_set(mad, SMP_HOP_POINTER, 2);
    wire_set(mad, SMP_HOP_COUNT, 3);
    mad_summary(&out, mad);
    assert_string_equal(out.data, "Get(NodeInfo) directed hop 2/3 tid 0x1234");
    text_clear(&out);

    wire_set(mad, SMP_DIRECTION, 1);
    wire_set(mad, SMP_STATUS, STATUS_BAD_VALUE);
    wire_set(mad, MAD_METHOD, METHOD_GET_RESP);
    mad_summary(&out, mad);
    assert_string_equal(out.data,
                        "GetResp(NodeInfo) directed back hop 2/3 status 0x001c tid 0x1234");
    text_clear(&out);

    make_smp(mad, CLASS_SUBN_LID, 0x55, 0xff91);
    wire_set(mad, MAD_ATTRIBUTE_MODIFIER, 9);
    mad_summary(&out, mad);
    assert_string_equal(out.data, "Method0x55(0xff91) lid-routed modifier 0x9 tid 0x1234");
    text_clear(&out);

    make_smp(mad, CLASS_SUBN_ADM, METHOD_GET_TABLE_RESP, WIRE_ID_NODE_RECORD);
    wire_set(mad, RMPP_FLAGS, RMPP_FLAG_ACTIVE);
    wire_set(mad, RMPP_TYPE, RMPP_DATA);
    wire_set(mad, RMPP_DATA1, 4);
    mad_summary(&out, mad);
    assert_string_equal(out.data,
                        "GetTableResp(NodeRecord) subnet administration rmpp DATA 4 tid 0x1234");
    text_release(&out);
}

static void the_class_decides_what_an_attribute_number_means(void **state)
{
    (void)state;
    assert_int_equal(mad_attribute_find(CLASS_SUBN_LID, 0x12), WIRE_SWITCH_INFO);
    assert_int_equal(mad_attribute_find(CLASS_SUBN_ADM, 0x12), WIRE_PORT_INFO_RECORD);
    assert_int_equal(mad_attribute_find(CLASS_PERFORMANCE, 0x12), WIRE_PORT_COUNTERS);
    assert_int_equal(mad_attribute_find(CLASS_PERFORMANCE, 0x01), WIRE_CLASS_PORT_INFO);
    assert_int_equal(mad_attribute_find(CLASS_CM, 0x10), WIRE_ATTRIBUTE_COUNT);
    assert_int_equal(wire_attribute_find(WIRE_CLASS_NOTICE, 128), WIRE_TRAP_LINK_STATE);
    assert_int_equal(wire_attribute_find(WIRE_CLASS_NOTICE, 2), WIRE_ATTRIBUTE_COUNT);
    assert_int_equal(wire_attribute_find(WIRE_CLASS_SMP, 0), WIRE_ATTRIBUTE_COUNT);
}

static void a_directed_smp_is_dumped_with_its_path(void **state)
{
    (void)state;
    uint8_t mad[MAD_BYTES];
    struct text out = {0};
    make_smp(mad, CLASS_SUBN_DIRECTED, METHOD_GET, ATTRIBUTE_NODE_DESCRIPTION);
    wire_set(mad, SMP_HOP_COUNT, 2);
    wire_set_at(mad, SMP_INITIAL_PATH, 1, 1);
    wire_set_at(mad, SMP_INITIAL_PATH, 2, 17);
    memcpy(mad + SMP_DATA_OFFSET, "node", 4);
    mad_dump(&out, mad, sizeof mad);
    assert_has(&out, "InitialPath: 1,17\n");
    assert_has(&out, "HopCount:........................2\n");
    assert_has(&out, "NodeString:......................node\n");
    text_release(&out);
}

static void a_trap_is_dumped_with_its_own_details(void **state)
{
    (void)state;
    uint8_t mad[MAD_BYTES];
    struct text out = {0};
    make_smp(mad, CLASS_SUBN_LID, METHOD_TRAP, ATTRIBUTE_NOTICE);
    uint8_t *notice = mad + SMP_DATA_OFFSET;
    wire_set(notice, NOTICE_IS_GENERIC, 1);
    wire_set(notice, NOTICE_TRAP_NUMBER, WIRE_ID_TRAP_LINK_INTEGRITY);
    wire_set(notice + NOTICE_AT_DETAILS, TRAP_LINK_INTEGRITY_LID, 12);
    wire_set(notice + NOTICE_AT_DETAILS, TRAP_LINK_INTEGRITY_PORT, 34);
    mad_dump(&out, mad, sizeof mad);
    assert_has(&out, "LIDADDR:.........................12\n");
    assert_has(&out, "PORTNO:..........................34\n");
    assert_lacks(&out, "DataDetails"); /* decoded instead */
    assert_lacks(&out, "IssuerGID");   /* an SMP has no room for it */
    text_release(&out);
}

static void a_table_is_dumped_record_by_record(void **state)
{
    (void)state;
    enum { RECORDS = 5 };
    uint8_t message[SA_DATA_OFFSET + RECORDS * WIRE_BYTES_NODE_RECORD] = {0};
    struct text out = {0};
    make_smp(message, CLASS_SUBN_ADM, METHOD_GET_TABLE_RESP, WIRE_ID_NODE_RECORD);
    wire_set(message, SA_ATTRIBUTE_OFFSET, WIRE_BYTES_NODE_RECORD / 8);
    for (unsigned i = 0; i < RECORDS; i++)
        wire_set(message + SA_DATA_OFFSET + i * WIRE_BYTES_NODE_RECORD, NODE_RECORD_LID, 100 + i);
    mad_dump(&out, message, sizeof message);
    assert_has(&out, "# NodeRecord 0\nLID:.............................100\n");
    assert_has(&out, "# NodeRecord 4\nLID:.............................104\n");
    assert_lacks(&out, "# NodeRecord 5");
    text_release(&out);
}

/* Under a sanitizer this also proves that nothing past the given length is read. */
static void any_truncation_is_dumped_without_reading_on(void **state)
{
    (void)state;
    static const unsigned classes[] = {
        CLASS_SUBN_LID, CLASS_SUBN_DIRECTED, CLASS_SUBN_ADM, CLASS_PERFORMANCE, CLASS_CM, 0x32};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        uint8_t whole[MAD_BYTES];
        make_smp(whole, classes[i], METHOD_GET_TABLE_RESP, 0x15);
        wire_set(whole, RMPP_FLAGS, 7);
        wire_set(whole, SA_ATTRIBUTE_OFFSET, 1);
        size_t before = 0;
        for (size_t length = 0; length <= MAD_BYTES; length++) {
            uint8_t *part = malloc(length);
            struct text out = {0};
            if (length)
                memcpy(part, whole, length);
            mad_dump(&out, part, length);
            if (length <= MAD_HEADER_BYTES)
                assert_true(out.length >= before);
            before = out.length;
            text_release(&out);
            free(part);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_port_info_reads_like_smpquery),
        cmocka_unit_test(xdr_lies_where_the_kernel_looks_for_it),
        cmocka_unit_test(unknown_values_are_shown_as_numbers),
        cmocka_unit_test(a_description_cannot_smuggle_control_characters),
        cmocka_unit_test(tables_are_dumped_in_rows),
        cmocka_unit_test(a_record_is_dumped_with_the_attribute_inside),
        cmocka_unit_test(a_diff_shows_old_and_new_and_nothing_else),
        cmocka_unit_test(a_diff_of_tables_names_the_entries),
        cmocka_unit_test(a_summary_is_one_line),
        cmocka_unit_test(the_class_decides_what_an_attribute_number_means),
        cmocka_unit_test(a_directed_smp_is_dumped_with_its_path),
        cmocka_unit_test(a_trap_is_dumped_with_its_own_details),
        cmocka_unit_test(a_table_is_dumped_record_by_record),
        cmocka_unit_test(any_truncation_is_dumped_without_reading_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
