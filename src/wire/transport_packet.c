/* The headers of transport packets as bytes, and their two CRCs.
 *
 * Both CRCs take the least significant bit of a byte first (7.8). The invariant one covers the
 * fields that switches and routers do not change, with the others replaced by ones; the variant one
 * covers everything before it. Polynomials 0x04C11DB7 and 0x100B, reversed; tables for four bits at
 * a time. */
#include "wire/transport_packet.h"

#include "wire/codec.h"

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

static const char *const operation_names[TRANSPORT_OPERATIONS] = {
    "SEND first",
    "SEND middle",
    "SEND last",
    "SEND last with immediate",
    "SEND only",
    "SEND only with immediate",
    "RDMA WRITE first",
    "RDMA WRITE middle",
    "RDMA WRITE last",
    "RDMA WRITE last with immediate",
    "RDMA WRITE only",
    "RDMA WRITE only with immediate",
    "RDMA READ request",
    "RDMA READ response first",
    "RDMA READ response middle",
    "RDMA READ response last",
    "RDMA READ response only",
    "Acknowledge",
    "ATOMIC acknowledge",
    "CmpSwap",
    "FetchAdd",
    [OP_SEND_LAST_INVALIDATE] = "SEND last with invalidate",
    [OP_SEND_ONLY_INVALIDATE] = "SEND only with invalidate",
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

const char *transport_opcode_name(uint8_t opcode)
{
    return transport_parts_of(opcode) ? operation_names[transport_operation_of(opcode)] : "unknown";
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

static void put_little_endian(uint8_t *bytes, uint32_t value, unsigned count)
{
    for (unsigned i = 0; i < count; i++, value >>= 8)
        bytes[i] = (uint8_t)value;
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

static void put_route(uint8_t *grh, const struct transport_global_route *route, size_t payload)
{
    wire_set(grh, GRH_IP_VERSION, IP_VERSION);
    wire_set(grh, GRH_TRAFFIC_CLASS, route->traffic_class);
    wire_set(grh, GRH_FLOW_LABEL, route->flow_label);
    wire_set(grh, GRH_PAYLOAD_BYTES, payload);
    wire_set(grh, GRH_NEXT_HEADER, GRH_NEXT_IS_BTH);
    wire_set(grh, GRH_HOP_LIMIT, route->hop_limit);
    memcpy(wire_bytes(grh, GRH_SGID), route->sgid, 16);
    memcpy(wire_bytes(grh, GRH_DGID), route->dgid, 16);
}

static void get_route(const uint8_t *grh, struct transport_global_route *route)
{
    route->traffic_class = (uint8_t)wire_get(grh, GRH_TRAFFIC_CLASS);
    route->flow_label = (uint32_t)wire_get(grh, GRH_FLOW_LABEL);
    route->hop_limit = (uint8_t)wire_get(grh, GRH_HOP_LIMIT);
    memcpy(route->sgid, wire_bytes_const(grh, GRH_SGID), 16);
    memcpy(route->dgid, wire_bytes_const(grh, GRH_DGID), 16);
}

static void put_base(uint8_t *bth, const struct transport_packet *packet)
{
    wire_set(bth, BTH_OPCODE, packet->opcode);
    wire_set(bth, BTH_SOLICITED_EVENT, packet->solicited);
    wire_set(bth, BTH_MIGRATION_STATE, packet->migrated);
    wire_set(bth, BTH_PAD_COUNT, -packet->payload.bytes % 4);
    wire_set(bth, BTH_P_KEY, packet->p_key);
    wire_set(bth, BTH_DEST_QP, packet->dest_qp);
    wire_set(bth, BTH_ACKNOWLEDGE_REQUEST, packet->acknowledge);
    wire_set(bth, BTH_PSN, packet->psn);
}

static void get_base(const uint8_t *bth, struct transport_packet *packet)
{
    packet->opcode = (uint8_t)wire_get(bth, BTH_OPCODE);
    packet->solicited = wire_get(bth, BTH_SOLICITED_EVENT);
    packet->migrated = wire_get(bth, BTH_MIGRATION_STATE);
    packet->p_key = (uint16_t)wire_get(bth, BTH_P_KEY);
    packet->dest_qp = (uint32_t)wire_get(bth, BTH_DEST_QP);
    packet->acknowledge = wire_get(bth, BTH_ACKNOWLEDGE_REQUEST);
    packet->psn = (uint32_t)wire_get(bth, BTH_PSN);
}

/* The extended headers in the order of figure 9-5; returns where the payload begins. */
static uint8_t *put_extended(uint8_t *at, const struct transport_packet *packet)
{
    unsigned parts = transport_parts_of(packet->opcode);
    if (transport_service_of(packet->opcode) == TRANSPORT_UD) {
        wire_set(at, DETH_Q_KEY, packet->q_key);
        wire_set(at, DETH_SRC_QP, packet->src_qp);
        at += WIRE_BYTES_DETH;
    }
    if (parts & PART_RETH) {
        wire_set(at, RETH_ADDRESS, packet->address);
        wire_set(at, RETH_R_KEY, packet->r_key);
        wire_set(at, RETH_DMA_BYTES, packet->dma_bytes);
        at += WIRE_BYTES_RETH;
    }
    if (parts & PART_ATOMIC_ETH) {
        wire_set(at, ATOMIC_ETH_ADDRESS, packet->address);
        wire_set(at, ATOMIC_ETH_R_KEY, packet->r_key);
        wire_set(at, ATOMIC_ETH_SWAP_OR_ADD, packet->swap_or_add);
        wire_set(at, ATOMIC_ETH_COMPARE, packet->compare);
        at += WIRE_BYTES_ATOMIC_ETH;
    }
    if (parts & PART_AETH) {
        wire_set(at, AETH_SYNDROME, packet->syndrome);
        wire_set(at, AETH_MSN, packet->msn);
        at += WIRE_BYTES_AETH;
    }
    if (parts & PART_ATOMIC_ACK_ETH) {
        wire_set(at, ATOMIC_ACK_ETH_ORIGINAL, packet->original);
        at += WIRE_BYTES_ATOMIC_ACK_ETH;
    }
    if (parts & PART_IMMEDIATE) {
        wire_set(at, IMM_DT_DATA, packet->immediate);
        at += WIRE_BYTES_IMM_DT;
    }
    if (parts & PART_INVALIDATE) {
        wire_set(at, IETH_R_KEY, packet->immediate);
        at += WIRE_BYTES_IETH;
    }
    return at;
}

static const uint8_t *get_extended(const uint8_t *at, struct transport_packet *packet)
{
    unsigned parts = transport_parts_of(packet->opcode);
    if (transport_service_of(packet->opcode) == TRANSPORT_UD) {
        packet->q_key = (uint32_t)wire_get(at, DETH_Q_KEY);
        packet->src_qp = (uint32_t)wire_get(at, DETH_SRC_QP);
        at += WIRE_BYTES_DETH;
    }
    if (parts & PART_RETH) {
        packet->address = wire_get(at, RETH_ADDRESS);
        packet->r_key = (uint32_t)wire_get(at, RETH_R_KEY);
        packet->dma_bytes = (uint32_t)wire_get(at, RETH_DMA_BYTES);
        at += WIRE_BYTES_RETH;
    }
    if (parts & PART_ATOMIC_ETH) {
        packet->address = wire_get(at, ATOMIC_ETH_ADDRESS);
        packet->r_key = (uint32_t)wire_get(at, ATOMIC_ETH_R_KEY);
        packet->swap_or_add = wire_get(at, ATOMIC_ETH_SWAP_OR_ADD);
        packet->compare = wire_get(at, ATOMIC_ETH_COMPARE);
        at += WIRE_BYTES_ATOMIC_ETH;
    }
    if (parts & PART_AETH) {
        packet->syndrome = (uint8_t)wire_get(at, AETH_SYNDROME);
        packet->msn = (uint32_t)wire_get(at, AETH_MSN);
        at += WIRE_BYTES_AETH;
    }
    if (parts & PART_ATOMIC_ACK_ETH) {
        packet->original = wire_get(at, ATOMIC_ACK_ETH_ORIGINAL);
        at += WIRE_BYTES_ATOMIC_ACK_ETH;
    }
    if (parts & PART_IMMEDIATE) {
        packet->immediate = (uint32_t)wire_get(at, IMM_DT_DATA);
        at += WIRE_BYTES_IMM_DT;
    }
    if (parts & PART_INVALIDATE) {
        packet->immediate = (uint32_t)wire_get(at, IETH_R_KEY);
        at += WIRE_BYTES_IETH;
    }
    return at;
}

size_t transport_packet_encode(const struct transport_packet *packet, uint8_t vl,
                               const uint8_t *payload, uint8_t *bytes)
{
    size_t whole = transport_packet_bytes(packet), pad = -packet->payload.bytes % 4;
    size_t headers = WIRE_BYTES_LRH + (packet->global ? WIRE_BYTES_GRH : 0);
    assert(packet->payload.bytes <= TRANSPORT_MTU_MAX);
    memset(bytes, 0, headers + WIRE_BYTES_BTH + extended_bytes(packet->opcode));
    wire_set(bytes, LRH_VL, vl);
    wire_set(bytes, LRH_SL, packet->sl);
    wire_set(bytes, LRH_NEXT_HEADER, packet->global ? NEXT_IS_GRH : NEXT_IS_BTH);
    wire_set(bytes, LRH_DLID, packet->dlid);
    wire_set(bytes, LRH_PACKET_WORDS, (whole - VCRC_BYTES) / 4);
    wire_set(bytes, LRH_SLID, packet->slid);
    if (packet->global)
        put_route(bytes + WIRE_BYTES_LRH, &packet->route, whole - headers - VCRC_BYTES);
    put_base(bytes + headers, packet);
    uint8_t *at = put_extended(bytes + headers + WIRE_BYTES_BTH, packet);
    if (payload && packet->payload.bytes)
        memcpy(at, payload, packet->payload.bytes);
    else
        memset(at, 0, packet->payload.bytes);
    memset(at + packet->payload.bytes, 0, pad);
    at += packet->payload.bytes + pad;
    put_little_endian(at, icrc_of(bytes, (size_t)(at - bytes), packet->global), ICRC_BYTES);
    at += ICRC_BYTES;
    put_little_endian(at, vcrc_of(bytes, (size_t)(at - bytes)), VCRC_BYTES);
    assert(at + VCRC_BYTES == bytes + whole);
    return whole;
}

int transport_packet_decode(struct transport_packet *packet, uint8_t *vl, const uint8_t *bytes,
                            size_t count, const uint8_t **payload)
{
    enum { LEAST = WIRE_BYTES_LRH + WIRE_BYTES_BTH + ICRC_BYTES + VCRC_BYTES };
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
    get_base(bytes + headers, packet);
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
    packet->sl = (uint8_t)wire_get(bytes, LRH_SL);
    packet->dlid = (uint16_t)wire_get(bytes, LRH_DLID);
    packet->slid = (uint16_t)wire_get(bytes, LRH_SLID);
    if (packet->global)
        get_route(bytes + WIRE_BYTES_LRH, &packet->route);
    *payload = get_extended(bytes + headers + WIRE_BYTES_BTH, packet);
    packet->payload.bytes = (uint32_t)(count - around - pad);
    return 0;
}
