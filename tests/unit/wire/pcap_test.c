/* Captures: bytes, checksums, and decoding by tshark. */
#include "slow_crc.h"
#include "tshark.h"

#include "base/text.h"
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

/* The file header has a section, an interface with the name "a>b", a speed and a resolution, and
 * the end of options. A record has the header of its block and that of ERF. */
enum {
    SECTION = 28,
    INTERFACE = 16 + 8 + 12 + 8 + 4 + 4,
    FILE_HEADER = SECTION + INTERFACE,
    RECORD_HEADER = 28 + 16,
    PACKET = MAD_BYTES + PACKET_OVERHEAD_BYTES,
    RECORD_END = 2 + 4, /* padding and length */
};

static char path[64];

static int make_path(void **state)
{
    snprintf(path, sizeof path, "/tmp/weft-pcap-test-XXXXXX");
    int descriptor = mkstemp(path);
    return descriptor < 0 ? -1 : close(descriptor);
}

static int remove_path(void **state)
{
    return unlink(path);
}

static void make_mad(uint8_t mad[MAD_BYTES], unsigned class, unsigned method, unsigned attribute)
{
    memset(mad, 0, MAD_BYTES);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, class);
    wire_set(mad, MAD_CLASS_VERSION, class == CLASS_SUBN_ADM ? 2 : 1);
    wire_set(mad, MAD_METHOD, method);
    wire_set(mad, MAD_TID, 0x1122334455667788);
    wire_set(mad, MAD_ATTRIBUTE_ID, attribute);
}

static void write_one(const struct pcap_packet *packet, uint64_t time_ps)
{
    struct pcap *pcap;
    assert_int_equal(pcap_open(&pcap, path, NULL), 0);
    assert_int_equal(pcap_add_interface(pcap, "a>b", 8000000000), 0);
    assert_int_equal(pcap_write(pcap, 0, time_ps, packet), 0);
    assert_int_equal(pcap_close(pcap), 0);
}

static struct text read_back(void)
{
    struct text bytes = {0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(text_read(&bytes, file, 1 << 20), 0);
    fclose(file);
    return bytes;
}

static void a_packet_has_all_its_headers(void **state)
{
    uint8_t mad[MAD_BYTES];
    make_mad(mad, CLASS_PERFORMANCE, METHOD_GET, ATTRIBUTE_PORT_COUNTERS);
    struct pcap_packet packet = {packet_header_of_mad(mad, 5, 9, 3), mad, sizeof mad};
    write_one(&packet, UINT64_C(7000000123456));
    struct text file = read_back();
    assert_int_equal(file.length, FILE_HEADER + RECORD_HEADER + PACKET + RECORD_END);
    assert_memory_equal(file.data, "\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\1\0\0\0", 16);
    assert_memory_equal(file.data + SECTION + 8, "\xc5\0\0\0", 4);
    assert_memory_equal(file.data + SECTION + 16, "\2\0\3\0a>b\0\x8\0\x8\0", 12);
    /* the packet is of interface 0, at 7 s 123 ns = 0x1a13b867b ns */
    assert_memory_equal(file.data + FILE_HEADER + 8, "\0\0\0\0\1\0\0\0\x7b\x86\x3b\xa1", 12);
    const uint8_t *lrh = (const uint8_t *)file.data + FILE_HEADER + RECORD_HEADER;
    assert_int_equal(wire_get(lrh, LRH_SLID), 5);
    assert_int_equal(wire_get(lrh, LRH_DLID), 9);
    assert_int_equal(wire_get(lrh, LRH_SL), 3);
    assert_int_equal(wire_get(lrh, LRH_VL), 0);
    assert_int_equal(wire_get(lrh, LRH_PACKET_WORDS) * 4, PACKET - 2);
    assert_int_equal(wire_get(lrh + 8, BTH_P_KEY), 0xffff);
    assert_int_equal(wire_get(lrh + 8, BTH_DEST_QP), 1);
    assert_int_equal(wire_get(lrh + 20, DETH_SRC_QP), 1);
    assert_int_equal(wire_get(lrh + 20, DETH_Q_KEY), 0x80010000);
    assert_memory_equal(lrh + 28, mad, sizeof mad);
    text_release(&file);
}

static void smps_travel_on_vl_15_between_qp0s(void **state)
{
    uint8_t mad[MAD_BYTES];
    make_mad(mad, CLASS_SUBN_DIRECTED, METHOD_GET, ATTRIBUTE_NODE_INFO);
    struct packet_header header = packet_header_of_mad(mad, LID_PERMISSIVE, LID_PERMISSIVE, 0);
    assert_int_equal(header.vl, 15);
    assert_int_equal(header.src_qp, 0);
    assert_int_equal(header.dest_qp, 0);
    assert_int_equal(header.q_key, 0);
}

static uint32_t little_endian(const uint8_t *bytes, unsigned count)
{
    uint32_t value = 0;
    for (unsigned i = count; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

static void check_crcs(uint8_t *packet, size_t bytes, bool global)
{
    assert_int_equal(little_endian(packet + bytes - 2, 2), slow_crc(packet, bytes - 2, 0x100B, 16));
    if (global) {
        memset(packet, 0xff, 8);
        packet[8] |= 0x0f;
        memset(packet + 9, 0xff, 3);
        packet[15] = 0xff;
    }
    packet[0] |= 0xf0;
    packet[(global ? 48 : 8) + 4] = 0xff;
    assert_int_equal(little_endian(packet + bytes - 6, 4),
                     slow_crc(packet, bytes - 6, 0x04C11DB7, 32));
}

static void both_checksums_are_right(void **state)
{
    uint8_t mad[MAD_BYTES];
    make_mad(mad, CLASS_SUBN_ADM, METHOD_GET, ATTRIBUTE_PATH_RECORD);
    struct pcap_packet packet = {packet_header_of_mad(mad, 5, 9, 3), mad, sizeof mad};
    for (int global = 0; global < 2; global++) {
        packet.header.global = global;
        memset(packet.header.sgid, 0x5a, 16);
        write_one(&packet, 0);
        struct text file = read_back();
        size_t start = FILE_HEADER + RECORD_HEADER;
        assert_int_equal(file.length - start - RECORD_END,
                         PACKET + (global ? PACKET_GRH_BYTES : 0));
        check_crcs((uint8_t *)file.data + start, file.length - start - RECORD_END, global);
        text_release(&file);
    }
}

static void odd_payloads_are_padded_to_words(void **state)
{
    uint8_t mad[MAD_BYTES];
    make_mad(mad, CLASS_PERFORMANCE, METHOD_GET, ATTRIBUTE_PORT_COUNTERS);
    struct pcap_packet packet = {packet_header_of_mad(mad, 5, 9, 3), mad, 253};
    write_one(&packet, 0);
    struct text file = read_back();
    const uint8_t *lrh = (const uint8_t *)file.data + FILE_HEADER + RECORD_HEADER;
    assert_int_equal(file.length, FILE_HEADER + RECORD_HEADER + PACKET + RECORD_END);
    assert_int_equal(wire_get(lrh + 8, BTH_PAD_COUNT), 3);
    text_release(&file);
}

static void oversized_payloads_are_refused(void **state)
{
    static const uint8_t payload[PACKET_MAX_PAYLOAD + 1];
    struct pcap_packet packet = {.payload = payload, .length = sizeof payload};
    struct pcap *pcap;
    assert_int_equal(pcap_open(&pcap, path, NULL), 0);
    assert_int_equal(pcap_add_interface(pcap, "a>b", 1), 0);
    assert_int_equal(pcap_write(pcap, 0, 0, &packet), -EMSGSIZE);
    packet.length--;
    assert_int_equal(pcap_write(pcap, 0, 0, &packet), 0);
    assert_int_equal(pcap_close(pcap), 0);
}

static void an_unwritable_file_is_a_clear_error(void **state)
{
    struct pcap *pcap = NULL;
    struct err err = {0};
    assert_int_equal(pcap_open(&pcap, "/nonexistent/x.pcap", &err), -ENOENT);
    assert_null(pcap);
    assert_string_equal(err.file, "/nonexistent/x.pcap");
    assert_non_null(strstr(err.message, "No such file"));
}

static void a_full_disk_is_reported_by_close(void **state)
{
    uint8_t mad[MAD_BYTES];
    make_mad(mad, CLASS_SUBN_LID, METHOD_GET, ATTRIBUTE_NODE_INFO);
    struct pcap_packet packet = {packet_header_of_mad(mad, 1, 2, 0), mad, sizeof mad};
    struct pcap *pcap;
    if (access("/dev/full", W_OK))
        skip();
    assert_int_equal(pcap_open(&pcap, "/dev/full", NULL), 0);
    pcap_add_interface(pcap, "a>b", 1);
    pcap_write(pcap, 0, 0, &packet);
    assert_int_equal(pcap_close(pcap), -ENOSPC);
}

/* Every attribute of the table in a MAD of its class, requests and responses, with and without GRH.
 */
static unsigned write_everything(void)
{
    static const unsigned classes[][2] = {{WIRE_CLASS_SMP, CLASS_SUBN_LID},
                                          {WIRE_CLASS_SMP, CLASS_SUBN_DIRECTED},
                                          {WIRE_CLASS_SA, CLASS_SUBN_ADM},
                                          {WIRE_CLASS_PERFORMANCE, CLASS_PERFORMANCE},
                                          {WIRE_CLASS_COMMON, CLASS_SUBN_ADM}};
    struct pcap *pcap;
    unsigned written = 0;
    assert_int_equal(pcap_open(&pcap, path, NULL), 0);
    assert_int_equal(pcap_add_interface(pcap, "S0:1>H0:1", 1000000000), 0);
    assert_int_equal(pcap_add_interface(pcap, "H0:1>S0:1", 1000000000), 1);
    for (unsigned i = 0; i < sizeof classes / sizeof *classes; i++)
        for (unsigned attribute = 0; attribute < WIRE_ATTRIBUTE_COUNT; attribute++) {
            if (wire_attributes[attribute].class != classes[i][0])
                continue;
            for (unsigned response = 0; response < 2; response++, written++) {
                uint8_t mad[MAD_BYTES];
                make_mad(mad, classes[i][1], response ? METHOD_GET_RESP : METHOD_GET,
                         wire_attributes[attribute].id);
                struct pcap_packet packet = {packet_header_of_mad(mad, 5, 9, 3), mad, sizeof mad};
                packet.header.global = !mad_is_smp(mad) && attribute % 2;
                assert_int_equal(
                    pcap_write(pcap, written % 2, written * UINT64_C(1000000), &packet), 0);
            }
        }
    assert_int_equal(pcap_close(pcap), 0);
    return written;
}

static unsigned count_lines(const struct text *text)
{
    unsigned lines = 0;
    for (size_t i = 0; i < text->length; i++)
        lines += text->data[i] == '\n';
    return lines;
}

static void tshark_decodes_every_packet(void **state)
{
    if (system("tshark --version >/dev/null 2>&1") != 0)
        skip();
    unsigned written = write_everything();
    struct text malformed = run_tshark(path, "-Y '_ws.malformed || !infiniband.mad'");
    assert_string_equal(malformed.data, "");
    text_release(&malformed);
    struct text tids = run_tshark(path, "-T fields -e infiniband.mad.transactionid");
    assert_int_equal(count_lines(&tids), written);
    assert_non_null(strstr(tids.data, "0x1122334455667788"));
    text_release(&tids);
    struct text times = run_tshark(path, "-Y frame.number==3 -T fields -e frame.time_epoch");
    assert_string_equal(times.data, "0.000002000\n");
    text_release(&times);
    struct text names = run_tshark(path, "-c 2 -T fields -e frame.interface_name");
    assert_string_equal(names.data, "S0:1>H0:1\nH0:1>S0:1\n");
    text_release(&names);
    struct text smps =
        run_tshark(path, "-Y 'infiniband.lrh.vl == 15 && infiniband.bth.destqp == 0 && "
                         "infiniband.mad.mgmtclass == 0x81 && "
                         "infiniband.mad.attributeid == 0x11' -T fields -e frame.number");
    assert_int_equal(count_lines(&smps), 2);
    text_release(&smps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_has_all_its_headers),
        cmocka_unit_test(smps_travel_on_vl_15_between_qp0s),
        cmocka_unit_test(both_checksums_are_right),
        cmocka_unit_test(odd_payloads_are_padded_to_words),
        cmocka_unit_test(oversized_payloads_are_refused),
        cmocka_unit_test(an_unwritable_file_is_a_clear_error),
        cmocka_unit_test(a_full_disk_is_reported_by_close),
        cmocka_unit_test(tshark_decodes_every_packet),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
