/* Management datagrams: sizes, numbers and common queries. */
#ifndef WEFT_WIRE_MAD_H
#define WEFT_WIRE_MAD_H

#include "wire/codec.h"

enum {
    MAD_BYTES = 256,
    MAD_HEADER_BYTES = 24,
    SMP_DATA_OFFSET = 64,
    SMP_DATA_BYTES = 64,
    SMP_MAX_HOPS = 63,
    SA_DATA_OFFSET = 56,
    SA_DATA_BYTES = 200,
    GMP_DATA_OFFSET = 64, /* performance, board and device management */
    GMP_DATA_BYTES = 192,
};

enum mad_class {
    CLASS_SUBN_LID = 0x01,
    CLASS_SUBN_ADM = 0x03,
    CLASS_PERFORMANCE = 0x04,
    CLASS_BOARD = 0x05,
    CLASS_DEVICE = 0x06,
    CLASS_CM = 0x07,
    CLASS_SNMP = 0x08,
    CLASS_DEVICE_ADM = 0x10,
    CLASS_BIS = 0x12,
    CLASS_VENDOR_RMPP_FIRST = 0x30, /* vendor classes with an OUI: 0x30 to 0x4f */
    CLASS_VENDOR_RMPP_LAST = 0x4f,
    CLASS_SUBN_DIRECTED = 0x81,
};

enum mad_method {
    METHOD_GET = 0x01,
    METHOD_SET = 0x02,
    METHOD_SEND = 0x03,
    METHOD_TRAP = 0x05,
    METHOD_REPORT = 0x06,
    METHOD_TRAP_REPRESS = 0x07,
    METHOD_GET_RESP = 0x81,
    METHOD_REPORT_RESP = 0x86,
    METHOD_RESPONSE = 0x80, /* the bit that marks a response */
    /* of subnet administration */
    METHOD_GET_TABLE = 0x12,
    METHOD_GET_TRACE_TABLE = 0x13,
    METHOD_GET_MULTI = 0x14,
    METHOD_DELETE = 0x15,
    METHOD_GET_TABLE_RESP = 0x92,
    METHOD_GET_MULTI_RESP = 0x94,
    METHOD_DELETE_RESP = 0x95,
};

enum mad_status {
    STATUS_OK = 0,
    STATUS_BUSY = 0x0001,
    STATUS_REDIRECT = 0x0002, /* redirection: redirect.h */
    STATUS_BAD_VERSION = 0x0004,
    STATUS_BAD_METHOD = 0x0008,
    STATUS_BAD_ATTRIBUTE = 0x000C, /* method and attribute do not match */
    STATUS_BAD_VALUE = 0x001C,
    /* class-specific bits of subnet administration */
    STATUS_SA_NO_RESOURCES = 0x0100,
    STATUS_SA_BAD_REQUEST = 0x0200,
    STATUS_SA_NO_RECORDS = 0x0300,
    STATUS_SA_TOO_MANY_RECORDS = 0x0400,
    STATUS_SA_BAD_GID = 0x0500,
    STATUS_SA_TOO_FEW_COMPONENTS = 0x0600,
    STATUS_SA_DENIED = 0x0700,
};

/* PortInfo.CapabilityMask2: speeds and widths beyond EDR and the classic ones (14.2.5.6). */
enum port_capability2 {
    CAPABILITY2_LINK_WIDTH_2X = 1u << 4,
    CAPABILITY2_HDR = 1u << 5,
    CAPABILITY2_NDR = 1u << 10,
    CAPABILITY2_EXTENDED_SPEEDS2 = 1u << 11,
    CAPABILITY2_XDR = 1u << 12,
};

/* RMPP header: types, flags and the version in use (13.6.2). */
enum rmpp_type { RMPP_NONE, RMPP_DATA, RMPP_ACK, RMPP_STOP, RMPP_ABORT };
enum rmpp_flag { RMPP_FLAG_ACTIVE = 1, RMPP_FLAG_FIRST = 2, RMPP_FLAG_LAST = 4 };
/* The default GID prefix, which is always valid within a subnet. */
#define GID_PREFIX_LOCAL UINT64_C(0xFE80000000000000)
/* Site-local prefixes, FEC0::/48 and a half-word for the subnet. */
#define GID_PREFIX_SITE      UINT64_C(0xFEC0000000000000)
#define GID_PREFIX_SITE_MASK UINT64_C(0xFFFFFFFFFFFF0000)
/* Routers and managers: no route through subnets crosses more than this. */
enum { ROUTER_WEIGHT_MOST = 15, ROUTER_NEXT_HOPS = 64, ROUTER_HOP_LIMIT = 64 };
/* The number by which flows are shared over equal routers: packets of a pair of GIDs stay in order,
 * and those of the other direction take the same routers (paths are reversible). */
static inline uint64_t router_flow(uint64_t one_guid, uint64_t other_guid)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < 2; i++) {
        uint64_t mixed = (i ? one_guid : other_guid) * UINT64_C(0x9E3779B97F4A7C15);
        sum += (mixed ^ mixed >> 32) * UINT64_C(0xD1342543DE82EF95);
    }
    return sum ^ sum >> 32;
}

enum { RMPP_THIS_VERSION = 1 };

enum lid_space {
    LID_UNICAST_LAST = 0xBFFF,
    LID_MULTICAST_FIRST = 0xC000,
    LID_MULTICAST_LAST = 0xFFFE,
    LID_PERMISSIVE = 0xFFFF,
};
static inline bool lid_is_multicast(uint64_t lid)
{
    return lid >= LID_MULTICAST_FIRST && lid <= LID_MULTICAST_LAST;
}

enum port_state {
    PORT_STATE_NO_CHANGE,
    PORT_STATE_DOWN,
    PORT_STATE_INIT,
    PORT_STATE_ARMED,
    PORT_STATE_ACTIVE,
};
enum physical_state {
    PHYSICAL_NO_CHANGE,
    PHYSICAL_SLEEP,
    PHYSICAL_POLLING,
    PHYSICAL_DISABLED,
    PHYSICAL_TRAINING,
    PHYSICAL_LINK_UP,
    PHYSICAL_RECOVERY,
};

static inline bool mad_is_smp(const uint8_t *mad)
{
    uint64_t class = wire_get(mad, MAD_CLASS);
    return class == CLASS_SUBN_LID || class == CLASS_SUBN_DIRECTED;
}

static inline bool mad_is_directed(const uint8_t *mad)
{
    return wire_get(mad, MAD_CLASS) == CLASS_SUBN_DIRECTED;
}

/* A response has the response bit, or is a TrapRepress. */
static inline bool mad_is_response(const uint8_t *mad)
{
    uint64_t method = wire_get(mad, MAD_METHOD);
    return (method & METHOD_RESPONSE) || method == METHOD_TRAP_REPRESS;
}

/* Classes whose MADs carry the header of the reliable multi-packet protocol. */
bool mad_class_has_rmpp(unsigned class);
/* Where a MAD of this class carries its attribute. */
unsigned mad_data_offset(unsigned class);
/* The attribute that a MAD of `class` with this AttributeID carries, or WIRE_ATTRIBUTE_COUNT. */
enum wire_attribute mad_attribute_find(unsigned class, unsigned id);
/* Makes a request of class SubnAdm, without transaction ID and component mask. */
void sa_request_begin(uint8_t mad[MAD_BYTES], unsigned method, unsigned attribute);

#endif
