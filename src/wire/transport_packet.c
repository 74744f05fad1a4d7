/* The headers of transport packets as bytes, and their two CRCs.
 *
 * Both CRCs take the least significant bit of a byte first (7.8). The invariant one covers the
 * fields that switches and routers do not change, with the others replaced by ones; the variant one
 * covers everything before it. Polynomials 0x04C11DB7 and 0x100B, reversed; tables for four bits at
 * a time. */
#include "wire/transport_packet.h"

#include "wire/member.h"

#include <errno.h>

enum {
    ICRC_BYTES = 4,
    VCRC_BYTES = 2,
    NEXT_IS_BTH = 2, /* LRH.LNH */
    NEXT_IS_GRH = 3,
    GRH_NEXT_IS_BTH = 0x1B,
    IP_VERSION = 6,
};

static const uint32_t icrc_table[16] = {
    0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
    0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
};
static const uint16_t vcrc_table[16] = {
    0x0000, 0x1A01, 0x3402, 0x2E03, 0x6804, 0x7205, 0x5C06, 0x4607,
    0xD008, 0xCA09, 0xE40A, 0xFE0B, 0xB80C, 0xA20D, 0x8C0E, 0x960F,
};

#define SEND_PARTS  (PART_SEND | PART_PAYLOAD)
#define WRITE_PARTS (PART_WRITE | PART_PAYLOAD)
#define READ_PARTS  (PART_READ | PART_RESPONSE | PART_PAYLOAD)

const uint16_t transport_parts[TRANSPORT_OPERATIONS] = {
    [OP_SEND_FIRST] = SEND_PARTS | PART_FIRST,
    [OP_SEND_MIDDLE] = SEND_PARTS | PART_MIDDLE,
    [OP_SEND_LAST] = SEND_PARTS | PART_LAST,
    [OP_SEND_LAST_IMMEDIATE] = SEND_PARTS | PART_LAST | PART_IMMEDIATE,
    [OP_SEND_LAST_INVALIDATE] = SEND_PARTS | PART_LAST | PART_INVALIDATE,
    [OP_SEND_ONLY] = SEND_PARTS | PART_ONLY,
    [OP_SEND_ONLY_IMMEDIATE] = SEND_PARTS | PART_ONLY | PART_IMMEDIATE,
    [OP_SEND_ONLY_INVALIDATE] = SEND_PARTS | PART_ONLY | PART_INVALIDATE,
    [OP_WRITE_FIRST] = WRITE_PARTS | PART_FIRST | PART_RETH,
    [OP_WRITE_MIDDLE] = WRITE_PARTS | PART_MIDDLE,
    [OP_WRITE_LAST] = WRITE_PARTS | PART_LAST,
    [OP_WRITE_LAST_IMMEDIATE] = WRITE_PARTS | PART_LAST | PART_IMMEDIATE,
    [OP_WRITE_ONLY] = WRITE_PARTS | PART_ONLY | PART_RETH,
    [OP_WRITE_ONLY_IMMEDIATE] = WRITE_PARTS | PART_ONLY | PART_RETH | PART_IMMEDIATE,
    [OP_READ_REQUEST] = PART_READ | PART_ONLY | PART_RETH,
    [OP_READ_RESPONSE_FIRST] = READ_PARTS | PART_FIRST | PART_AETH,
    [OP_READ_RESPONSE_MIDDLE] = READ_PARTS | PART_MIDDLE,
    [OP_READ_RESPONSE_LAST] = READ_PARTS | PART_LAST | PART_AETH,
    [OP_READ_RESPONSE_ONLY] = READ_PARTS | PART_ONLY | PART_AETH,
    [OP_ACKNOWLEDGE] = PART_RESPONSE | PART_ONLY | PART_AETH,
    [OP_ATOMIC_ACKNOWLEDGE] = PART_RESPONSE | PART_ONLY | PART_AETH | PART_ATOMIC_ACK_ETH,
    [OP_COMPARE_SWAP] = PART_ONLY | PART_ATOMIC_ETH,
    [OP_FETCH_ADD] = PART_ONLY | PART_ATOMIC_ETH,
};

/* 9.2.1, table 38: UC has SEND and WRITE without invalidate, UD has SEND only. */
unsigned transport_parts_of(uint8_t opcode)
{
    unsigned operation = transport_operation_of(opcode), parts = transport_parts[operation];
    switch (transport_service_of(opcode)) {
    case TRANSPORT_RC: return parts;
    case TRANSPORT_UC: return operation < OP_READ_REQUEST ? parts : 0;
    case TRANSPORT_UD:
        return operation == OP_SEND_ONLY || operation == OP_SEND_ONLY_IMMEDIATE ? parts : 0;
    default: return 0;
    }
}

static uint32_t icrc_add(uint32_t crc, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ icrc_table[crc & 15];
        crc = crc >> 4 ^ icrc_table[crc & 15];
    }
    return crc;
}

static uint16_t vcrc_of(const uint8_t *bytes, size_t count)
{
    uint16_t crc = 0xffff;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = (uint16_t)(crc >> 4 ^ vcrc_table[crc & 15]);
        crc = (uint16_t)(crc >> 4 ^ vcrc_table[crc & 15]);
    }
    return (uint16_t)~crc;
}

/* 7.8.1: with a global route header the whole LRH may change on the way, else only its VL. */
static uint32_t icrc_of(const uint8_t *packet, size_t bytes, bool global)
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
    return ~icrc_add(icrc_add(UINT32_MAX, headers, masked), packet + masked, bytes - masked);
}

static uint32_t little_endian(const uint8_t *bytes, unsigned count)
{
    uint32_t value = 0;
    for (unsigned i = count; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

/* Between BTH and payload. */
static unsigned extended_bytes(uint8_t opcode)
{
    unsigned parts = transport_parts_of(opcode);
    return (transport_service_of(opcode) == TRANSPORT_UD ? WIRE_BYTES_DETH : 0) +
           (parts & PART_RETH ? WIRE_BYTES_RETH : 0) +
           (parts & PART_ATOMIC_ETH ? WIRE_BYTES_ATOMIC_ETH : 0) +
           (parts & PART_AETH ? WIRE_BYTES_AETH : 0) +
           (parts & PART_ATOMIC_ACK_ETH ? WIRE_BYTES_ATOMIC_ACK_ETH : 0) +
           (parts & PART_IMMEDIATE ? WIRE_BYTES_IMM_DT : 0) +
           (parts & PART_INVALIDATE ? WIRE_BYTES_IETH : 0);
}

unsigned transport_packet_bytes(const struct transport_packet *packet)
{
    return WIRE_BYTES_LRH + (packet->global ? WIRE_BYTES_GRH : 0) + WIRE_BYTES_BTH +
           extended_bytes(packet->opcode) + (packet->payload.bytes + 3) / 4 * 4 + ICRC_BYTES +
           VCRC_BYTES;
}

#define MEMBER(field, member) WIRE_MEMBER(field, struct transport_packet, member)

static const struct wire_member members[] = {
    MEMBER(LRH_SL, sl),
    MEMBER(LRH_DLID, dlid),
    MEMBER(LRH_SLID, slid),
    MEMBER(GRH_TRAFFIC_CLASS, route.traffic_class),
    MEMBER(GRH_FLOW_LABEL, route.flow_label),
    MEMBER(GRH_HOP_LIMIT, route.hop_limit),
    MEMBER(GRH_SGID, route.sgid),
    MEMBER(GRH_DGID, route.dgid),
    MEMBER(BTH_OPCODE, opcode),
    MEMBER(BTH_SOLICITED_EVENT, solicited),
    MEMBER(BTH_MIGRATION_STATE, migrated),
    MEMBER(BTH_P_KEY, p_key),
    MEMBER(BTH_DEST_QP, dest_qp),
    MEMBER(BTH_ACKNOWLEDGE_REQUEST, acknowledge),
    MEMBER(BTH_PSN, psn),
    MEMBER(DETH_Q_KEY, q_key),
    MEMBER(DETH_SRC_QP, src_qp),
    MEMBER(RETH_ADDRESS, address),
    MEMBER(RETH_R_KEY, r_key),
    MEMBER(RETH_DMA_BYTES, dma_bytes),
    MEMBER(ATOMIC_ETH_ADDRESS, address),
    MEMBER(ATOMIC_ETH_R_KEY, r_key),
    MEMBER(ATOMIC_ETH_SWAP_OR_ADD, swap_or_add),
    MEMBER(ATOMIC_ETH_COMPARE, compare),
    MEMBER(AETH_SYNDROME, syndrome),
    MEMBER(AETH_MSN, msn),
    MEMBER(ATOMIC_ACK_ETH_ORIGINAL, original),
    MEMBER(IMM_DT_DATA, immediate),
    MEMBER(IETH_R_KEY, immediate),
};

static void put_header(enum wire_attribute header, const struct transport_packet *packet,
                       uint8_t *at)
{
    wire_put_members(members, sizeof members / sizeof *members, header, packet, at);
}

static void get_header(enum wire_attribute header, struct transport_packet *packet,
                       const uint8_t *at)
{
    wire_get_members(members, sizeof members / sizeof *members, header, packet, at);
}

/* The extended headers in the order of figure 9-5; returns how many an opcode has. */
static unsigned list_extended(uint8_t opcode, enum wire_attribute headers[7])
{
    static const struct {
        uint16_t part;
        uint8_t header;
    } order[] = {{PART_RETH, WIRE_RETH},        {PART_ATOMIC_ETH, WIRE_ATOMIC_ETH},
                 {PART_AETH, WIRE_AETH},        {PART_ATOMIC_ACK_ETH, WIRE_ATOMIC_ACK_ETH},
                 {PART_IMMEDIATE, WIRE_IMM_DT}, {PART_INVALIDATE, WIRE_IETH}};
    unsigned parts = transport_parts_of(opcode), count = 0;
    if (transport_service_of(opcode) == TRANSPORT_UD)
        headers[count++] = WIRE_DETH;
    for (unsigned i = 0; i < sizeof order / sizeof *order; i++)
        if (parts & order[i].part)
            headers[count++] = order[i].header;
    return count;
}

size_t transport_packet_encode(const struct transport_packet *packet, uint8_t vl,
                               const uint8_t *payload, uint8_t *bytes)
{
    size_t whole = transport_packet_bytes(packet), pad = -packet->payload.bytes % 4;
    size_t headers = WIRE_BYTES_LRH + (packet->global ? WIRE_BYTES_GRH : 0);
    enum wire_attribute list[7];
    unsigned extended = list_extended(packet->opcode, list);
    assert(packet->payload.bytes <= TRANSPORT_MTU_MAX);
    memset(bytes, 0, headers + WIRE_BYTES_BTH + extended_bytes(packet->opcode));
    wire_set(bytes, LRH_VL, vl);
    wire_set(bytes, LRH_NEXT_HEADER, packet->global ? NEXT_IS_GRH : NEXT_IS_BTH);
    wire_set(bytes, LRH_PACKET_WORDS, (whole - VCRC_BYTES) / 4);
    put_header(WIRE_LRH, packet, bytes);
    if (packet->global) {
        uint8_t *grh = bytes + WIRE_BYTES_LRH;
        wire_set(grh, GRH_IP_VERSION, IP_VERSION);
        wire_set(grh, GRH_PAYLOAD_BYTES, whole - headers - VCRC_BYTES);
        wire_set(grh, GRH_NEXT_HEADER, GRH_NEXT_IS_BTH);
        put_header(WIRE_GRH, packet, grh);
    }
    put_header(WIRE_BTH, packet, bytes + headers);
    wire_set(bytes + headers, BTH_PAD_COUNT, pad);
    uint8_t *at = bytes + headers + WIRE_BYTES_BTH;
    for (unsigned i = 0; i < extended; at += wire_attributes[list[i++]].bytes)
        put_header(list[i], packet, at);
    if (payload && packet->payload.bytes)
        memcpy(at, payload, packet->payload.bytes);
    else
        memset(at, 0, packet->payload.bytes);
    memset(at + packet->payload.bytes, 0, pad);
    at += packet->payload.bytes + pad;
    wire_put_little_endian(at, icrc_of(bytes, (size_t)(at - bytes), packet->global), ICRC_BYTES);
    at += ICRC_BYTES;
    wire_put_little_endian(at, vcrc_of(bytes, (size_t)(at - bytes)), VCRC_BYTES);
    assert(at + VCRC_BYTES == bytes + whole);
    return whole;
}

int transport_packet_decode(struct transport_packet *packet, uint8_t *vl, const uint8_t *bytes,
                            size_t count, const uint8_t **payload)
{
    enum { LEAST = WIRE_BYTES_LRH + WIRE_BYTES_BTH + ICRC_BYTES + VCRC_BYTES };
    enum wire_attribute list[7];
    memset(packet, 0, sizeof *packet);
    if (count < LEAST || wire_get(bytes, LRH_PACKET_WORDS) * 4 + VCRC_BYTES != count)
        return -EPROTO;
    uint64_t next = wire_get(bytes, LRH_NEXT_HEADER);
    packet->global = next == NEXT_IS_GRH;
    size_t headers = WIRE_BYTES_LRH + (packet->global ? WIRE_BYTES_GRH : 0);
    if ((next != NEXT_IS_GRH && next != NEXT_IS_BTH) || count < LEAST - WIRE_BYTES_LRH + headers ||
        (packet->global &&
         (wire_get(bytes + WIRE_BYTES_LRH, GRH_NEXT_HEADER) != GRH_NEXT_IS_BTH ||
          wire_get(bytes + WIRE_BYTES_LRH, GRH_PAYLOAD_BYTES) != count - headers - VCRC_BYTES)))
        return -EPROTO;
    get_header(WIRE_BTH, packet, bytes + headers);
    size_t around =
        headers + WIRE_BYTES_BTH + extended_bytes(packet->opcode) + ICRC_BYTES + VCRC_BYTES;
    size_t pad = wire_get(bytes + headers, BTH_PAD_COUNT);
    if (!transport_parts_of(packet->opcode) || count < around + pad ||
        count - around - pad > TRANSPORT_MTU_MAX ||
        vcrc_of(bytes, count - VCRC_BYTES) != little_endian(bytes + count - VCRC_BYTES, 2) ||
        icrc_of(bytes, count - VCRC_BYTES - ICRC_BYTES, packet->global) !=
            little_endian(bytes + count - VCRC_BYTES - ICRC_BYTES, ICRC_BYTES))
        return -EPROTO;
    *vl = (uint8_t)wire_get(bytes, LRH_VL);
    get_header(WIRE_LRH, packet, bytes);
    if (packet->global)
        get_header(WIRE_GRH, packet, bytes + WIRE_BYTES_LRH);
    const uint8_t *at = bytes + headers + WIRE_BYTES_BTH;
    unsigned extended = list_extended(packet->opcode, list);
    for (unsigned i = 0; i < extended; at += wire_attributes[list[i++]].bytes)
        get_header(list[i], packet, at);
    *payload = at;
    packet->payload.bytes = (uint32_t)(count - around - pad);
    return 0;
}
