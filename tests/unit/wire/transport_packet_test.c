/* Packets of the transport services: sizes, round trips, checksums, and decoding by tshark. */
#include "slow_crc.h"
#include "tshark.h"

#include "base/rng.h"
#include "base/text.h"
#include "wire/codec.h"
#include "wire/pcap.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct rng rng;

static uint64_t some(unsigned bits)
{
    return rng_next(&rng) >> (64 - bits);
}

/* Random values in all fields that the opcode has, 0 in the others. */
static struct transport_packet packet_of(uint8_t opcode, uint32_t payload, bool global)
{
    unsigned parts = transport_parts_of(opcode);
    struct transport_packet packet = {
        .slid = (uint16_t)some(15),
        .dlid = (uint16_t)some(15),
        .sl = (uint8_t)some(4),
        .global = global,
        .opcode = opcode,
        .solicited = some(1),
        .migrated = some(1),
        .acknowledge = some(1),
        .p_key = (uint16_t)some(16),
        .dest_qp = (uint32_t)some(24),
        .psn = (uint32_t)some(24),
        .payload.bytes = parts & PART_PAYLOAD ? payload : 0,
    };
    if (transport_service_of(opcode) == TRANSPORT_UD) {
        packet.q_key = (uint32_t)some(32);
        packet.src_qp = (uint32_t)some(24);
    }
    if (parts & (PART_RETH | PART_ATOMIC_ETH)) {
        packet.address = some(64);
        packet.r_key = (uint32_t)some(32);
    }
    if (parts & PART_RETH)
        packet.dma_bytes = (uint32_t)some(32);
    if (parts & PART_ATOMIC_ETH) {
        packet.swap_or_add = some(64);
        packet.compare = some(64);
    }
    if (parts & PART_AETH) {
        packet.syndrome = (uint8_t)some(8);
        packet.msn = (uint32_t)some(24);
    }
    if (parts & PART_ATOMIC_ACK_ETH)
        packet.original = some(64);
    if (parts & (PART_IMMEDIATE | PART_INVALIDATE))
        packet.immediate = (uint32_t)some(32);
    if (global) {
        packet.route.traffic_class = (uint8_t)some(8);
        packet.route.flow_label = (uint32_t)some(20);
        packet.route.hop_limit = (uint8_t)some(8);
        for (unsigned i = 0; i < 16; i++) {
            packet.route.sgid[i] = (uint8_t)some(8);
            packet.route.dgid[i] = (uint8_t)some(8);
        }
    }
    return packet;
}

static void sizes_are_those_of_the_specification(void **state)
{
    static const struct {
        uint8_t service, operation;
        uint32_t payload, bytes;
    } sizes[] = {
        {TRANSPORT_RC, OP_ACKNOWLEDGE, 0, 30},
        {TRANSPORT_RC, OP_SEND_ONLY, 0, 26},
        {TRANSPORT_RC, OP_SEND_MIDDLE, 4096, 4096 + 26},
        {TRANSPORT_RC, OP_SEND_ONLY, 1, 30}, /* padded to a word */
        {TRANSPORT_RC, OP_SEND_LAST_IMMEDIATE, 4, 34},
        {TRANSPORT_RC, OP_SEND_LAST_INVALIDATE, 4, 34},
        {TRANSPORT_RC, OP_WRITE_FIRST, 256, 256 + 42},
        {TRANSPORT_RC, OP_WRITE_MIDDLE, 256, 256 + 26},
        {TRANSPORT_RC, OP_WRITE_ONLY_IMMEDIATE, 0, 46},
        {TRANSPORT_RC, OP_READ_REQUEST, 0, 42},
        {TRANSPORT_RC, OP_READ_RESPONSE_FIRST, 256, 256 + 30},
        {TRANSPORT_RC, OP_READ_RESPONSE_MIDDLE, 256, 256 + 26},
        {TRANSPORT_RC, OP_COMPARE_SWAP, 0, 54},
        {TRANSPORT_RC, OP_FETCH_ADD, 0, 54},
        {TRANSPORT_RC, OP_ATOMIC_ACKNOWLEDGE, 0, 38},
        {TRANSPORT_UC, OP_WRITE_ONLY, 8, 50},
        {TRANSPORT_UD, OP_SEND_ONLY, 256, 290}, /* a MAD */
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct transport_packet packet = {
            .opcode = TRANSPORT_OPCODE(sizes[i].service, sizes[i].operation),
            .payload.bytes = sizes[i].payload};
        assert_int_equal(transport_packet_bytes(&packet), sizes[i].bytes);
        packet.global = true;
        assert_int_equal(transport_packet_bytes(&packet), sizes[i].bytes + 40);
    }
}

static void opcodes_are_known_for_their_services_only(void **state)
{
    unsigned known[8] = {0};
    for (unsigned opcode = 0; opcode < 256; opcode++)
        known[opcode >> 5] += transport_parts_of((uint8_t)opcode) != 0;
    assert_int_equal(known[TRANSPORT_RC], 23);
    assert_int_equal(known[TRANSPORT_UC], 12);
    assert_int_equal(known[TRANSPORT_UD], 2);
    assert_int_equal(known[2] + known[4] + known[5] + known[6] + known[7], 0);
}

static void every_packet_comes_back_and_every_bit_is_protected(void **state)
{
    static const uint32_t payloads[] = {0, 1, 2, 3, 4, 255, 256, 4096};
    uint8_t data[4096], bytes[4096 + TRANSPORT_OVERHEAD_MAX], again[sizeof bytes];
    const uint8_t *payload;
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)some(8);
    for (unsigned opcode = 0; opcode < 256; opcode++)
        for (unsigned i = 0; transport_parts_of((uint8_t)opcode) && i < 16; i++) {
            struct transport_packet packet = packet_of((uint8_t)opcode, payloads[i / 2], i % 2),
                                    back;
            uint8_t vl;
            size_t count = transport_packet_encode(&packet, 5, data, bytes);
            assert_int_equal(count, transport_packet_bytes(&packet));
            assert_int_equal(transport_packet_decode(&back, &vl, bytes, count, &payload), 0);
            assert_int_equal(vl, 5);
            assert_memory_equal(payload, data, packet.payload.bytes);
            assert_memory_equal(&back, &packet, sizeof back);
            assert_int_equal(transport_packet_encode(&back, vl, payload, again), count);
            assert_memory_equal(again, bytes, count);
            size_t bit = rng_below(&rng, count * 8);
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_int_equal(transport_packet_decode(&back, &vl, bytes, count, &payload), -EPROTO);
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_int_equal(transport_packet_decode(&back, &vl, bytes, count - 1, &payload),
                             -EPROTO);
        }
}

static void checksums_are_those_of_a_slow_calculation(void **state)
{
    uint8_t data[64] = {1, 2, 3}, bytes[sizeof data + TRANSPORT_OVERHEAD_MAX];
    /* CRC-32 of "123456789" is known: 0xCBF43926 */
    assert_int_equal(slow_crc((const uint8_t *)"123456789", 9, 0x04C11DB7, 32), 0xCBF43926);
    for (unsigned i = 0; i < 200; i++) {
        struct transport_packet packet = packet_of((uint8_t)(i % 21), i % 64, false);
        size_t count = transport_packet_encode(&packet, (uint8_t)some(4), data, bytes);
        uint32_t vcrc = bytes[count - 2] | (uint32_t)bytes[count - 1] << 8, icrc;
        memcpy(&icrc, bytes + count - 6, 4);
        assert_int_equal(vcrc, slow_crc(bytes, count - 2, 0x100B, 16));
        bytes[0] |= 0xF0;
        bytes[12] = 0xFF;
        assert_int_equal(le32toh(icrc), slow_crc(bytes, count - 6, 0x04C11DB7, 32));
    }
}

/* ---- tshark ---- */

static char path[64];

static void write_all(struct text *expected)
{
    struct pcap *pcap;
    uint8_t data[4096];
    memset(data, 0xEE, sizeof data);
    snprintf(path, sizeof path, "/tmp/weft-packet-test-XXXXXX");
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    assert_int_equal(pcap_open(&pcap, path, NULL), 0);
    assert_int_equal(pcap_add_interface(pcap, "a>b", 1000000000), 0);
    for (unsigned opcode = 0; opcode < 256; opcode++)
        for (unsigned i = 0; transport_parts_of((uint8_t)opcode) && i < 4; i++) {
            struct transport_packet packet = packet_of((uint8_t)opcode, 253 + i, i % 2);
            assert_int_equal(pcap_write_transport(pcap, 0, opcode, &packet, 1, data), 0);
            text_printf(expected, "%u\t%u\t%u\t%u\t%u\n", packet.opcode, packet.slid, packet.dlid,
                        packet.dest_qp, packet.psn);
        }
    assert_int_equal(pcap_close(pcap), 0);
}

static void tshark_decodes_every_packet(void **state)
{
    struct text expected = {0};
    if (system("tshark --version >/dev/null 2>&1") != 0)
        skip();
    write_all(&expected);
    struct text fields =
        run_tshark(path, "-T fields -e infiniband.bth.opcode -e infiniband.lrh.slid "
                         "-e infiniband.lrh.dlid -e infiniband.bth.destqp "
                         "-e infiniband.bth.psn");
    struct text decimal = {0};
    for (char *line = strtok(fields.data, "\n"); line; line = strtok(NULL, "\n")) {
        unsigned long long numbers[5] = {0};
        for (unsigned i = 0; i < 5; i++)
            numbers[i] = strtoull(line, &line, 0);
        text_printf(&decimal, "%llu\t%llu\t%llu\t%llu\t%llu\n", numbers[0], numbers[1], numbers[2],
                    numbers[3], numbers[4]);
    }
    assert_string_equal(decimal.data, expected.data);
    struct text complaints =
        run_tshark(path, "-Y '_ws.malformed || _ws.expert.severity >= 6291456'");
    assert_string_equal(complaints.data, "");
    unlink(path);
    text_release(&expected);
    text_release(&fields);
    text_release(&decimal);
    text_release(&complaints);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_the_specification),
        cmocka_unit_test(opcodes_are_known_for_their_services_only),
        cmocka_unit_test(every_packet_comes_back_and_every_bit_is_protected),
        cmocka_unit_test(checksums_are_those_of_a_slow_calculation),
        cmocka_unit_test(tshark_decodes_every_packet),
    };
    rng_seed(&rng, 1, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
