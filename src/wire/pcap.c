/* pcapng files of InfiniBand packets (draft-ietf-opsawg-pcapng).
 *
 * A file is one section. Each direction of a link is an interface with a name and a speed; its
 * description block precedes its first packet. Every packet is as on the wire, from the local route
 * header to the variant CRC, inside an ERF record (docs/decisions/001-captures-are-erf.md). Both
 * CRCs are valid (7.8): the invariant one covers the fields that switches and routers do not
 * change, with the others replaced by ones; the variant one covers everything before it. Numbers in
 * the headers of pcapng are little-endian on every machine, so that the same run gives the same
 * file. All packets are unreliable datagrams. */
#include "wire/pcap.h"

#include "base/mem.h"
#include "base/time.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    LINK_TYPE_ERF = 197,
    ERF_TYPE_INFINIBAND = 21,
    ERF_FLAG_VARYING_LENGTH = 4,
    ERF_HEADER_BYTES = 16,
    SNAP_BYTES = 65535,
    ICRC_BYTES = 4,
    VCRC_BYTES = 2,
    HEADER_BYTES_MAX = WIRE_BYTES_LRH + WIRE_BYTES_GRH + WIRE_BYTES_BTH + WIRE_BYTES_DETH,
    PACKET_BYTES_MAX = HEADER_BYTES_MAX + PACKET_MAX_PAYLOAD + ICRC_BYTES + VCRC_BYTES,
    NEXT_IS_BTH = 2, /* LRH.LNH */
    NEXT_IS_GRH = 3,
    GRH_NEXT_IS_BTH = 0x1B,
    OPCODE_UD_SEND_ONLY = 0x64,
};
/* pcapng */
enum {
    BLOCK_INTERFACE = 1,
    BLOCK_PACKET = 6,
    BLOCK_FRAME_BYTES = 12, /* type, length, and the length again at the end */
    PACKET_HEADER_BYTES = 20,
    OPTION_NAME = 2,
    OPTION_SPEED = 8,
    OPTION_RESOLUTION = 9,
    OPTION_BYTES_MAX = 256,
    NANOSECONDS = 9, /* 10^-9 s */
};
#define BLOCK_SECTION    UINT32_C(0x0a0d0d0a)
#define BYTE_ORDER_MAGIC UINT32_C(0x1a2b3c4d)

struct pcap {
    FILE *file;
    int error; /* the first one, as a negative errno */
    uint32_t packets, interfaces;
    uint32_t icrc_table[256];
    uint16_t vcrc_table[256];
};

/* Both CRCs take the least significant bit first: polynomials 0x04C11DB7 and 0x100B, reversed. */
static void make_crc_tables(struct pcap *pcap)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t icrc = i, vcrc = i;
        for (unsigned bit = 0; bit < 8; bit++) {
            icrc = icrc >> 1 ^ (icrc & 1 ? UINT32_C(0xEDB88320) : 0);
            vcrc = vcrc >> 1 ^ (vcrc & 1 ? UINT32_C(0xD008) : 0);
        }
        pcap->icrc_table[i] = icrc;
        pcap->vcrc_table[i] = (uint16_t)vcrc;
    }
}

static uint32_t icrc_add(const struct pcap *pcap, uint32_t crc, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        crc = crc >> 8 ^ pcap->icrc_table[(crc ^ bytes[i]) & 0xff];
    return crc;
}

static uint16_t vcrc_of(const struct pcap *pcap, const uint8_t *bytes, size_t count)
{
    uint16_t crc = 0xffff;
    for (size_t i = 0; i < count; i++)
        crc = (uint16_t)(crc >> 8 ^ pcap->vcrc_table[(crc ^ bytes[i]) & 0xff]);
    return (uint16_t)~crc;
}

/* 7.8.1: with a global route header the whole LRH may change on the way, else only its VL. */
static uint32_t icrc_of(const struct pcap *pcap, const uint8_t *packet, size_t bytes, bool global)
{
    uint8_t headers[WIRE_BYTES_LRH + WIRE_BYTES_GRH + WIRE_BYTES_BTH];
    size_t before_bth = WIRE_BYTES_LRH + (global ? WIRE_BYTES_GRH : 0);
    size_t masked = before_bth + WIRE_BYTES_BTH;
    uint8_t *grh = headers + WIRE_BYTES_LRH;
    memcpy(headers, packet, masked);
    if (global) {
        memset(headers, 0xff, WIRE_BYTES_LRH);
        wire_set(grh, GRH_TRAFFIC_CLASS, 0xff);
        wire_set(grh, GRH_FLOW_LABEL, 0xfffff);
        wire_set(grh, GRH_HOP_LIMIT, 0xff);
    } else {
        wire_set(headers, LRH_VL, 0xf);
    }
    wire_set(headers + before_bth, BTH_RESERVED_VARIANT, 0xff);
    uint32_t crc = icrc_add(pcap, UINT32_MAX, headers, masked);
    return ~icrc_add(pcap, crc, packet + masked, bytes - masked);
}

static void put_little_endian(uint8_t *bytes, uint64_t value, unsigned count)
{
    for (unsigned i = 0; i < count; i++, value >>= 8)
        bytes[i] = (uint8_t)value;
}

struct packet_header packet_header_of_mad(const uint8_t *mad, uint16_t slid, uint16_t dlid,
                                          uint8_t sl)
{
    struct packet_header header = {.slid = slid, .dlid = dlid, .sl = sl, .p_key = P_KEY_DEFAULT};
    if (mad_is_smp(mad)) {
        header.vl = VL_MANAGEMENT;
    } else {
        header.src_qp = header.dest_qp = QP_GSI;
        header.q_key = Q_KEY_GSI;
    }
    return header;
}

/* Fills `bytes` with the packet as it is on the wire; returns its length. */
static size_t build_packet(const struct pcap *pcap, const struct pcap_packet *packet,
                           uint8_t bytes[PACKET_BYTES_MAX])
{
    assert(packet->length <= PACKET_MAX_PAYLOAD);
    const struct packet_header *header = &packet->header;
    size_t pad = -packet->length % 4;
    size_t transport = WIRE_BYTES_BTH + WIRE_BYTES_DETH + packet->length + pad + ICRC_BYTES;
    memset(bytes, 0, HEADER_BYTES_MAX);
    size_t at = WIRE_BYTES_LRH;
    if (header->global) {
        uint8_t *grh = bytes + at;
        wire_set(grh, GRH_IP_VERSION, 6);
        wire_set(grh, GRH_PAYLOAD_BYTES, transport);
        wire_set(grh, GRH_NEXT_HEADER, GRH_NEXT_IS_BTH);
        wire_set(grh, GRH_HOP_LIMIT, 0xff);
        memcpy(wire_bytes(grh, GRH_SGID), header->sgid, 16);
        memcpy(wire_bytes(grh, GRH_DGID), header->dgid, 16);
        at += WIRE_BYTES_GRH;
    }
    wire_set(bytes, LRH_VL, header->vl);
    wire_set(bytes, LRH_SL, header->sl);
    wire_set(bytes, LRH_NEXT_HEADER, header->global ? NEXT_IS_GRH : NEXT_IS_BTH);
    wire_set(bytes, LRH_DLID, header->dlid);
    wire_set(bytes, LRH_PACKET_WORDS, (at + transport) / 4);
    wire_set(bytes, LRH_SLID, header->slid);
    wire_set(bytes + at, BTH_OPCODE, OPCODE_UD_SEND_ONLY);
    wire_set(bytes + at, BTH_PAD_COUNT, pad);
    wire_set(bytes + at, BTH_P_KEY, header->p_key);
    wire_set(bytes + at, BTH_DEST_QP, header->dest_qp);
    wire_set(bytes + at, BTH_PSN, pcap->packets);
    at += WIRE_BYTES_BTH;
    wire_set(bytes + at, DETH_Q_KEY, header->q_key);
    wire_set(bytes + at, DETH_SRC_QP, header->src_qp);
    at += WIRE_BYTES_DETH;
    memcpy(bytes + at, packet->payload, packet->length);
    memset(bytes + at + packet->length, 0, pad);
    at += packet->length + pad;
    put_little_endian(bytes + at, icrc_of(pcap, bytes, at, header->global), ICRC_BYTES);
    at += ICRC_BYTES;
    put_little_endian(bytes + at, vcrc_of(pcap, bytes, at), VCRC_BYTES);
    assert(at + VCRC_BYTES <= PACKET_BYTES_MAX);
    return at + VCRC_BYTES;
}

static int write_bytes(struct pcap *pcap, const void *bytes, size_t count)
{
    if (!pcap->error && fwrite(bytes, 1, count, pcap->file) != count)
        pcap->error = errno ? -errno : -EIO;
    return pcap->error;
}

/* A block is its type and length, a body of whole words, and the length again. */
static int write_block(struct pcap *pcap, uint32_t type, const uint8_t *body, size_t count)
{
    static const uint8_t zeros[4];
    uint8_t frame[BLOCK_FRAME_BYTES];
    size_t padding = -count % 4;
    put_little_endian(frame, type, 4);
    put_little_endian(frame + 4, count + padding + BLOCK_FRAME_BYTES, 4);
    memcpy(frame + 8, frame + 4, 4);
    write_bytes(pcap, frame, 8);
    write_bytes(pcap, body, count);
    write_bytes(pcap, zeros, padding);
    return write_bytes(pcap, frame + 8, 4);
}

static int write_section(struct pcap *pcap)
{
    uint8_t body[16] = {0};
    put_little_endian(body, BYTE_ORDER_MAGIC, 4);
    put_little_endian(body + 4, 1, 2);          /* version 1.0 */
    put_little_endian(body + 8, UINT64_MAX, 8); /* the length of the section is not known */
    return write_block(pcap, BLOCK_SECTION, body, sizeof body);
}

int pcap_open(struct pcap **pcap, const char *path, struct err *err)
{
    FILE *file = fopen(path, "wbe");
    if (!file) {
        int code = errno;
        return err_at(err, code, path, 0, "cannot write a capture: %s", strerror(code));
    }
    struct pcap *opened = mem_zalloc(1, sizeof *opened);
    opened->file = file;
    make_crc_tables(opened);
    int result = write_section(opened);
    if (result) {
        pcap_close(opened);
        return err_at(err, -result, path, 0, "cannot write a capture: %s", strerror(-result));
    }
    *pcap = opened;
    return 0;
}

/* Returns where the next option goes. */
static uint8_t *put_option(uint8_t *at, unsigned code, const void *value, size_t bytes)
{
    put_little_endian(at, code, 2);
    put_little_endian(at + 2, bytes, 2);
    memcpy(at + 4, value, bytes);
    memset(at + 4 + bytes, 0, -bytes % 4);
    return at + 4 + bytes + -bytes % 4;
}

uint32_t pcap_add_interface(struct pcap *pcap, const char *name, uint64_t bits_per_second)
{
    uint8_t body[8 + 4 * (OPTION_BYTES_MAX + 8)] = {0}, *at = body + 8, speed[8];
    uint8_t resolution = NANOSECONDS;
    put_little_endian(body, LINK_TYPE_ERF, 2);
    put_little_endian(body + 4, SNAP_BYTES, 4);
    put_little_endian(speed, bits_per_second, 8);
    at = put_option(at, OPTION_NAME, name, strnlen(name, OPTION_BYTES_MAX));
    at = put_option(at, OPTION_SPEED, speed, sizeof speed);
    at = put_option(at, OPTION_RESOLUTION, &resolution, 1);
    at += 4; /* the end of options is four zeros */
    write_block(pcap, BLOCK_INTERFACE, body, (size_t)(at - body));
    return pcap->interfaces++;
}

/* The header of a packet block, and that of ERF, which counts time in units of 2^-32 s. The lengths
 * of ERF, unlike all other numbers here, are in network order. */
static void put_packet_headers(uint8_t *header, uint32_t interface, uint64_t time_ps,
                               size_t packet_bytes)
{
    uint8_t *erf = header + PACKET_HEADER_BYTES;
    uint64_t nanoseconds = time_ps / TIME_NS, nanoseconds_per_second = TIME_S / TIME_NS;
    uint32_t bytes = (uint32_t)packet_bytes + ERF_HEADER_BYTES;
    memset(header, 0, PACKET_HEADER_BYTES + ERF_HEADER_BYTES);
    put_little_endian(header, interface, 4);
    put_little_endian(header + 4, nanoseconds >> 32, 4);
    put_little_endian(header + 8, nanoseconds, 4);
    put_little_endian(header + 12, bytes, 4);
    put_little_endian(header + 16, bytes, 4);
    put_little_endian(erf, (nanoseconds % nanoseconds_per_second << 32) / nanoseconds_per_second,
                      4);
    put_little_endian(erf + 4, nanoseconds / nanoseconds_per_second, 4);
    erf[8] = ERF_TYPE_INFINIBAND;
    erf[9] = ERF_FLAG_VARYING_LENGTH;
    wire_set_bits(erf, 80, 16, bytes);
    wire_set_bits(erf, 112, 16, packet_bytes);
}

int pcap_write(struct pcap *pcap, uint32_t interface, uint64_t time_ps,
               const struct pcap_packet *packet)
{
    enum { HEADERS = PACKET_HEADER_BYTES + ERF_HEADER_BYTES };
    uint8_t body[HEADERS + PACKET_BYTES_MAX];
    assert(interface < pcap->interfaces);
    if (packet->length > PACKET_MAX_PAYLOAD)
        return -EMSGSIZE;
    size_t count = build_packet(pcap, packet, body + HEADERS);
    put_packet_headers(body, interface, time_ps, count);
    pcap->packets++;
    return write_block(pcap, BLOCK_PACKET, body, HEADERS + count);
}

int pcap_close(struct pcap *pcap)
{
    if (!pcap)
        return 0;
    int error = pcap->error;
    if (fclose(pcap->file) && !error)
        error = errno ? -errno : -EIO;
    mem_free(pcap);
    return error;
}
