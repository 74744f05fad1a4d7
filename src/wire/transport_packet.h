/* Packets of the transport services, decoded: every header that precedes the payload (chapters 7 to
 * 9).
 *
 * `struct transport_packet` is what `src/transport` makes and takes and what a simulated link
 * carries. It names its payload and does not contain it: whoever moves the packet decides whether
 * bytes travel with it. transport_packet_encode() makes the bytes on the wire with both CRCs, for
 * captures, and transport_packet_decode() reads them.
 *
 * Reliable datagrams and raw datagrams are not known here: no adapter has ever had them. */
#ifndef WEFT_WIRE_TRANSPORT_PACKET_H
#define WEFT_WIRE_TRANSPORT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The upper three bits of an opcode (9.2.1), and the QP's type of service. */
enum transport_service {
    TRANSPORT_RC = 0, /* reliable connection */
    TRANSPORT_UC = 1, /* unreliable connection */
    TRANSPORT_UD = 3, /* unreliable datagram */
};

/* The lower five bits. */
enum transport_operation {
    OP_SEND_FIRST = 0,
    OP_SEND_MIDDLE,
    OP_SEND_LAST,
    OP_SEND_LAST_IMMEDIATE,
    OP_SEND_ONLY,
    OP_SEND_ONLY_IMMEDIATE,
    OP_WRITE_FIRST,
    OP_WRITE_MIDDLE,
    OP_WRITE_LAST,
    OP_WRITE_LAST_IMMEDIATE,
    OP_WRITE_ONLY,
    OP_WRITE_ONLY_IMMEDIATE,
    OP_READ_REQUEST,
    OP_READ_RESPONSE_FIRST,
    OP_READ_RESPONSE_MIDDLE,
    OP_READ_RESPONSE_LAST,
    OP_READ_RESPONSE_ONLY,
    OP_ACKNOWLEDGE,
    OP_ATOMIC_ACKNOWLEDGE,
    OP_COMPARE_SWAP,
    OP_FETCH_ADD,
    OP_SEND_LAST_INVALIDATE = 22,
    OP_SEND_ONLY_INVALIDATE = 23,
    TRANSPORT_OPERATIONS = 32,
};

/* What a packet of an operation is and has; 0: there is no such operation. */
enum transport_part {
    PART_SEND = 1,
    PART_WRITE = 2,
    PART_RESPONSE = 4, /* to the requester: READ responses and acknowledgements */
    PART_FIRST = 8,    /* begins a message, of which more follows */
    PART_MIDDLE = 16,
    PART_LAST = 32, /* ends a message that an earlier packet began */
    PART_ONLY = 64,
    PART_RETH = 128,
    PART_ATOMIC_ETH = 256,
    PART_AETH = 512,
    PART_ATOMIC_ACK_ETH = 1024,
    PART_IMMEDIATE = 2048,
    PART_INVALIDATE = 4096,
    PART_PAYLOAD = 8192,
    PART_READ = 16384,
};
extern const uint16_t transport_parts[TRANSPORT_OPERATIONS];

#define TRANSPORT_OPCODE(service, operation) ((uint8_t)((service) << 5 | (operation)))
static inline unsigned transport_operation_of(uint8_t opcode)
{
    return opcode & 0x1F;
}
static inline unsigned transport_service_of(uint8_t opcode)
{
    return opcode >> 5;
}
/* The parts of a packet; 0: this service has no such operation. */
unsigned transport_parts_of(uint8_t opcode);

/* Kinds of syndrome (bits 7-5), and the values of a NAK (9.7.5.1.1). */
enum transport_syndrome {
    SYNDROME_ACK = 0x00,     /* | credit code */
    SYNDROME_RNR_NAK = 0x20, /* | timer code */
    SYNDROME_NAK = 0x60,     /* | enum transport_nak */
    SYNDROME_KIND = 0xE0,
    SYNDROME_VALUE = 0x1F,
};
enum transport_nak {
    NAK_SEQUENCE = 0,
    NAK_INVALID_REQUEST = 1,
    NAK_REMOTE_ACCESS = 2,
    NAK_REMOTE_OPERATIONAL = 3,
};
enum { CREDITS_UNLIMITED = 0x1F };

enum {
    TRANSPORT_PSN_MASK = 0xFFFFFF,
    TRANSPORT_QP_MASK = 0xFFFFFF,
    TRANSPORT_MULTICAST_QP = 0xFFFFFF,
    TRANSPORT_WINDOW = 1 << 23, /* PSNs that may be outstanding: half of them */
    TRANSPORT_MTU_MAX = 4096,
    TRANSPORT_OVERHEAD_MAX = 8 + 40 + 12 + 28 + 4 + 4 + 2, /* all headers and both CRCs */
};
#define TRANSPORT_MESSAGE_MAX (UINT32_C(1) << 31)

/* How far PSN `a` is ahead of `b`: -2^23 … 2^23-1. Also for MSNs, which have 24 bits, too. */
static inline int32_t transport_psn_distance(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << 8) >> 8;
}

/* The bytes of a packet, by name. The core copies this from where the bytes lie to the packet. */
enum payload_source {
    PAYLOAD_NONE,
    PAYLOAD_WORK,   /* `memory` of a work request; `offset` from the beginning of its message */
    PAYLOAD_REGION, /* `memory` of a region; `offset` is a virtual address in it */
};
struct transport_payload {
    uint64_t memory, offset;
    uint32_t bytes;
    uint32_t source : 8; /* enum payload_source */
    uint32_t qp : 24;    /* whose packet it is, at its sender */
};

struct transport_global_route { /* GRH */
    uint8_t sgid[16], dgid[16];
    uint32_t flow_label;
    uint8_t traffic_class, hop_limit;
};

struct transport_packet {
    /* LRH. The owner of the link chooses the VL. */
    uint16_t slid, dlid;
    uint8_t sl;
    bool global; /* `route` is sent as GRH */
    /* BTH */
    uint8_t opcode;
    bool solicited;
    bool migrated; /* MigReq, the M bit */
    bool acknowledge;
    uint16_t p_key;
    uint32_t dest_qp, psn;
    /* DETH */
    uint32_t q_key, src_qp;
    /* RETH, AtomicETH */
    uint32_t r_key, dma_bytes;
    uint64_t address, swap_or_add, compare;
    /* AETH, AtomicAckETH */
    uint32_t msn;
    uint8_t syndrome;
    uint64_t original;
    uint32_t immediate; /* ImmDt, or the R_Key of IETH */
    struct transport_payload payload;
    struct transport_global_route route;
};

/* From LRH to VCRC. */
unsigned transport_packet_bytes(const struct transport_packet *packet);

/* Writes the packet to `bytes`, which has room for TRANSPORT_OVERHEAD_MAX and the payload rounded
 * up to words. `payload` NULL: zeros. Returns transport_packet_bytes(). */
size_t transport_packet_encode(const struct transport_packet *packet, uint8_t vl,
                               const uint8_t *payload, uint8_t *bytes);
/* Reads a packet and checks its lengths and CRCs. 0, or -EPROTO with the packet undefined. The
 * payload's `bytes` are counted; *payload is where they are. */
int transport_packet_decode(struct transport_packet *packet, uint8_t *vl, const uint8_t *bytes,
                            size_t count, const uint8_t **payload);

#endif
