/* The headers around a MAD: the fields of LRH, GRH, BTH and DETH that the simulator uses. */
#ifndef WEFT_WIRE_PACKET_H
#define WEFT_WIRE_PACKET_H

#include "wire/mad.h"

struct packet_header {
    uint16_t slid, dlid;
    uint8_t sl, vl;
    bool global; /* a GRH is present */
    uint16_t p_key;
    uint32_t src_qp, dest_qp, q_key;
    uint8_t sgid[16], dgid[16];
};

enum {
    QP_SMI = 0,
    QP_GSI = 1,
    VL_MANAGEMENT = 15,
    P_KEY_DEFAULT = 0xFFFF,
    /* Bytes on the wire around a 256-byte MAD: LRH 8, BTH 12, DETH 8, ICRC 4, VCRC 2. */
    PACKET_OVERHEAD_BYTES = 34,
    PACKET_GRH_BYTES = 40,
};
#define Q_KEY_GSI 0x80010000u

#endif
