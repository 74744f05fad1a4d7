/* pcapng files of InfiniBand packets (draft-ietf-opsawg-pcapng).
 *
 * A file is one section. Each direction of a link is an interface with a name and a speed; its
 * description block precedes its first packet. Every packet is as on the wire, from the local route
 * header to the variant CRC (`transport_packet_encode()`), inside an ERF record
 * (docs/decisions/001-captures-are-erf.md). Numbers in the headers of pcapng are little-endian on
 * every machine, so that the same run gives the same file. */
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
};

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

/* A management packet is an unreliable datagram with one MAD. */
static struct transport_packet datagram_of(const struct packet_header *header, uint32_t psn,
                                           size_t length)
{
    struct transport_packet packet = {
        .slid = header->slid,
        .dlid = header->dlid,
        .sl = header->sl,
        .global = header->global,
        .opcode = TRANSPORT_OPCODE(TRANSPORT_UD, OP_SEND_ONLY),
        .p_key = header->p_key,
        .dest_qp = header->dest_qp,
        .psn = psn & TRANSPORT_PSN_MASK,
        .q_key = header->q_key,
        .src_qp = header->src_qp,
        .payload.bytes = (uint32_t)length,
        .route.hop_limit = 0xff,
    };
    memcpy(packet.route.sgid, header->sgid, sizeof packet.route.sgid);
    memcpy(packet.route.dgid, header->dgid, sizeof packet.route.dgid);
    return packet;
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
    wire_put_little_endian(frame, type, 4);
    wire_put_little_endian(frame + 4, count + padding + BLOCK_FRAME_BYTES, 4);
    memcpy(frame + 8, frame + 4, 4);
    write_bytes(pcap, frame, 8);
    write_bytes(pcap, body, count);
    write_bytes(pcap, zeros, padding);
    return write_bytes(pcap, frame + 8, 4);
}

static int write_section(struct pcap *pcap)
{
    uint8_t body[16] = {0};
    wire_put_little_endian(body, BYTE_ORDER_MAGIC, 4);
    wire_put_little_endian(body + 4, 1, 2);          /* version 1.0 */
    wire_put_little_endian(body + 8, UINT64_MAX, 8); /* the length of the section is not known */
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
    wire_put_little_endian(at, code, 2);
    wire_put_little_endian(at + 2, bytes, 2);
    memcpy(at + 4, value, bytes);
    memset(at + 4 + bytes, 0, -bytes % 4);
    return at + 4 + bytes + -bytes % 4;
}

uint32_t pcap_add_interface(struct pcap *pcap, const char *name, uint64_t bits_per_second)
{
    uint8_t body[8 + 4 * (OPTION_BYTES_MAX + 8)] = {0}, *at = body + 8, speed[8];
    uint8_t resolution = NANOSECONDS;
    wire_put_little_endian(body, LINK_TYPE_ERF, 2);
    wire_put_little_endian(body + 4, SNAP_BYTES, 4);
    wire_put_little_endian(speed, bits_per_second, 8);
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
    wire_put_little_endian(header, interface, 4);
    wire_put_little_endian(header + 4, nanoseconds >> 32, 4);
    wire_put_little_endian(header + 8, nanoseconds, 4);
    wire_put_little_endian(header + 12, bytes, 4);
    wire_put_little_endian(header + 16, bytes, 4);
    wire_put_little_endian(
        erf, (nanoseconds % nanoseconds_per_second << 32) / nanoseconds_per_second, 4);
    wire_put_little_endian(erf + 4, nanoseconds / nanoseconds_per_second, 4);
    erf[8] = ERF_TYPE_INFINIBAND;
    erf[9] = ERF_FLAG_VARYING_LENGTH;
    wire_set_bits(erf, 80, 16, bytes);
    wire_set_bits(erf, 112, 16, packet_bytes);
}

int pcap_write(struct pcap *pcap, uint32_t interface, uint64_t time_ps,
               const struct pcap_packet *packet)
{
    if (packet->length > PACKET_MAX_PAYLOAD)
        return -EMSGSIZE;
    struct transport_packet datagram = datagram_of(&packet->header, pcap->packets, packet->length);
    return pcap_write_transport(pcap, interface, time_ps, &datagram, packet->header.vl,
                                packet->payload);
}

int pcap_write_transport(struct pcap *pcap, uint32_t interface, uint64_t time_ps,
                         const struct transport_packet *packet, uint8_t vl, const uint8_t *payload)
{
    enum { HEADERS = PACKET_HEADER_BYTES + ERF_HEADER_BYTES };
    uint8_t body[HEADERS + TRANSPORT_OVERHEAD_MAX + PACKET_MAX_PAYLOAD];
    assert(interface < pcap->interfaces);
    if (packet->payload.bytes > PACKET_MAX_PAYLOAD)
        return -EMSGSIZE;
    size_t count = transport_packet_encode(packet, vl, payload, body + HEADERS);
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
