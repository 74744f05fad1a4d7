/* The counters of a port, made from counters.def.
 *
 * A counter can be in several attributes: PortCounters has narrow fields that stop at their largest
 * value; PortCountersExtended has fields of 64 bits; PortRcvErrorDetails and PortXmitDiscardDetails
 * are optional. */
#ifndef WEFT_WIRE_COUNTERS_H
#define WEFT_WIRE_COUNTERS_H

#include "wire/codec.h"

#include <stdint.h>

enum port_counter {
#define COUNTER(symbol, kind, name, metric, meaning, unit, where, bit, extended) COUNTER_##symbol,
#include "wire/counters.def"
    COUNTER_COUNT
};

enum counter_kind {
    COUNTER_KIND_TRAFFIC,
    COUNTER_KIND_LINK_ERROR,   /* the link caused it: their sum is the errors of a link */
    COUNTER_KIND_PACKET_ERROR, /* the packet, its sender or an earlier hop caused it */
    COUNTER_KIND_DISCARD,
    COUNTER_KIND_DETAIL, /* a part of an error that another counter has, too */
};

/* Attributes that have counters. */
enum counter_set { SET_BASIC, SET_EXTENDED, SET_ERROR_DETAILS, SET_DISCARD_DETAILS, COUNTER_SETS };

/* ClassPortInfo.CapabilityMask and CapabilityMask2 (16.1.3.1): the counters that an agent has.
 * Simulated agents have all. */
enum {
    COUNTERS_EXTENDED = 1 << 9,
    COUNTERS_EXTENDED_NO_IETF = 1 << 10, /* without unicast and multicast counters */
    COUNTERS_XMIT_WAIT = 1 << 12,
    COUNTERS_QP1_DROPPED = 1 << 15,
    COUNTERS_ALL = COUNTERS_EXTENDED | COUNTERS_XMIT_WAIT | COUNTERS_QP1_DROPPED,
    COUNTERS2_EXTENDED_ERRORS = 1 << 1,
    COUNTERS2_ALL = COUNTERS2_EXTENDED_ERRORS,
};

enum { NO_COUNTER_FIELD = UINT16_MAX };

struct port_counter_info {
    const char *name;    /* as in the specification: "PortXmitData" */
    const char *metric;  /* "transmit_data_bytes": infiniband_hca_port_…_total */
    const char *meaning; /* "bytes sent" */
    uint8_t kind;        /* enum counter_kind */
    uint8_t unit;        /* bytes in one unit of a data counter, else 1 */
    struct {
        uint16_t field;     /* enum wire_field, or NO_COUNTER_FIELD */
        uint8_t select_bit; /* of CounterSelect; from 16 on of CounterSelect2 */
    } in[COUNTER_SETS];
};
extern const struct port_counter_info port_counter_infos[COUNTER_COUNT];

/* The errors of a link, wherever they are shown: the counters of kind LINK_ERROR at both ends, by
 * counter; NULL: those of an end are not known, or not meant. At most UINT32_MAX. */
uint32_t port_counters_link_errors(const uint64_t *one, const uint64_t *other);

#endif
