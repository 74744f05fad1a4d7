/* Messages of communication management on the wire. */
#include "base/rng.h"
#include "cm/message.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const unsigned kinds[] = {
    ATTRIBUTE_CM_REQ, ATTRIBUTE_CM_MRA,      ATTRIBUTE_CM_REJ,      ATTRIBUTE_CM_REP,
    ATTRIBUTE_CM_RTU, ATTRIBUTE_CM_DREQ,     ATTRIBUTE_CM_DREP,     ATTRIBUTE_CM_LAP,
    ATTRIBUTE_CM_APR, ATTRIBUTE_CM_SIDR_REQ, ATTRIBUTE_CM_SIDR_REP,
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Bytes of a MAD whose bits have no name (reserved, EE contexts, vendor IDs) are lost; all others
 * come back. */
static void every_message_survives_decoding_and_encoding(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 3, 0);
    for (unsigned round = 0; round < 200; round++)
        for (unsigned i = 0; i < KINDS; i++) {
            uint8_t mad[MAD_BYTES], once[MAD_BYTES], twice[MAD_BYTES];
            struct cm_message message;
            cm_encode(&(struct cm_message){.kind = (uint16_t)kinds[i]}, mad);
            for (unsigned at = MAD_HEADER_BYTES; at < MAD_BYTES; at++)
                mad[at] = (uint8_t)rng_next(&rng);
            if (cm_decode(&message, mad)) {
                assert_true(message.information_bytes > CM_INFORMATION_BYTES);
                continue;
            }
            cm_encode(&message, once);
            assert_int_equal(cm_decode(&message, once), 0);
            cm_encode(&message, twice);
            assert_memory_equal(once, twice, MAD_BYTES);
            unsigned differ = 0;
            for (unsigned at = MAD_HEADER_BYTES; at < MAD_BYTES; at++)
                differ += once[at] != mad[at];
            assert_true(differ <= 24);
            unsigned last = cm_private_data_bytes(kinds[i]);
            assert_memory_equal(mad + MAD_BYTES - last, message.private_data, last);
        }
}

/* Tables 106, 110 and 115: positions that were read from the specification, not from cm.def. */
static void fields_are_where_the_specification_has_them(void **state)
{
    (void)state;
    uint8_t mad[MAD_BYTES];
    const uint8_t *data = mad + MAD_HEADER_BYTES;
    struct cm_message message = {.kind = ATTRIBUTE_CM_REQ,
                                 .local_id = 0x01020304,
                                 .service_id = 0x1122334455667788,
                                 .qpn = 0xABCDEF,
                                 .service = 1,
                                 .retry_count = 7,
                                 .local_timeout = 18,
                                 .mtu = 5,
                                 .rnr_retry = 6,
                                 .cm_retries = 15,
                                 .srq = 1,
                                 .primary = {.local_lid = 0x0A0B, .sl = 9, .ack_timeout = 20},
                                 .alternate = {.remote_lid = 0x0C0D, .ack_timeout = 21}};
    cm_encode(&message, mad);
    assert_int_equal(mad[1], 7);
    assert_int_equal(mad[2], 2);
    assert_int_equal(mad[3], 3);
    assert_int_equal(mad[17], 0x10);
    assert_memory_equal(data, "\1\2\3\4", 4);
    assert_int_equal(data[8], 0x11);
    assert_memory_equal(data + 32, "\xAB\xCD\xEF", 3);
    assert_int_equal(data[43] >> 1 & 3, 1);
    assert_int_equal(data[47], 18 << 3 | 7);
    assert_int_equal(data[50], 5 << 4 | 6);
    assert_int_equal(data[51], 15 << 4 | 8);
    assert_memory_equal(data + 52, "\x0A\x0B", 2);
    assert_int_equal(data[94] >> 4, 9);
    assert_int_equal(data[95] >> 3, 20);
    assert_memory_equal(data + 98, "\x0C\x0D", 2);
    assert_int_equal(data[139] >> 3, 21);
    message = (struct cm_message){
        .kind = ATTRIBUTE_CM_REP, .qpn = 0x123456, .ack_delay = 3, .failover = 2};
    cm_encode(&message, mad);
    assert_memory_equal(data + 12, "\x12\x34\x56", 3);
    assert_int_equal(data[26], 3 << 3 | 2 << 1);
    message = (struct cm_message){.kind = ATTRIBUTE_CM_LAP,
                                  .remote_qpn = 0x123456,
                                  .alternate = {.local_lid = 0x0A0B, .hop_limit = 64, .rate = 3}};
    cm_encode(&message, mad);
    assert_memory_equal(data + 12, "\x12\x34\x56", 3);
    assert_memory_equal(data + 20, "\x0A\x0B", 2);
    assert_int_equal(data[60], 64);
    assert_int_equal(data[61], 3);
}

static void other_mads_are_refused(void **state)
{
    (void)state;
    struct cm_message message = {.kind = ATTRIBUTE_CM_REJ, .information_bytes = 72};
    uint8_t mad[MAD_BYTES];
    static const struct {
        unsigned byte, value;
    } wrong[] = {{0, 2},     {1, 3},     {2, 1},  {3, 1},
                 {17, 0x0F}, {17, 0x1B}, {16, 1}, {24 + 9, 73 << 1}};
    cm_encode(&message, mad);
    assert_int_equal(cm_decode(&message, mad), 0);
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint8_t was = mad[wrong[i].byte];
        mad[wrong[i].byte] = (uint8_t)wrong[i].value;
        assert_int_equal(cm_decode(&message, mad), -EPROTO);
        mad[wrong[i].byte] = was;
    }
}

static void names_and_sizes_are_those_of_the_kinds(void **state)
{
    (void)state;
    assert_string_equal(cm_message_name(ATTRIBUTE_CM_REQ), "REQ");
    assert_string_equal(cm_message_name(0x42), "?");
    assert_int_equal(cm_private_data_bytes(ATTRIBUTE_CM_REQ), 92);
    assert_int_equal(cm_private_data_bytes(ATTRIBUTE_CM_REP), 196);
    assert_int_equal(cm_private_data_bytes(ATTRIBUTE_CM_RTU), 224);
    assert_int_equal(cm_private_data_bytes(ATTRIBUTE_CM_SIDR_REP), 136);
    assert_string_equal(cm_reason_text(CM_INVALID_SERVICE_ID), "invalid service ID");
    assert_string_equal(cm_reason_text(2), "unknown reason");
    assert_true(cm_time_ps(14) == UINT64_C(67108864000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_survives_decoding_and_encoding),
        cmocka_unit_test(fields_are_where_the_specification_has_them),
        cmocka_unit_test(other_mads_are_refused),
        cmocka_unit_test(names_and_sizes_are_those_of_the_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
