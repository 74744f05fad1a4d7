/* Width and speed of a link, as PortInfo codes them (14.2.5.6).
 *
 * Speeds have three sets of fields: SDR to QDR in LinkSpeed, FDR to NDR in LinkSpeedExt, XDR in
 * LinkSpeedExt2. These functions are the only code that combines them. FDR10 has no bit in
 * PortInfo and counts as QDR. */
#ifndef WEFT_WIRE_LINK_RATE_H
#define WEFT_WIRE_LINK_RATE_H

#include <stdint.h>

/* Bit 31 of PortInfo's AttributeModifier, SMSupportExtendedSpeeds. An agent may return zeros in
 * the extended fields if a Get lacks it. */
#define PORT_INFO_WITH_EXTENDED_SPEEDS (UINT32_C(1) << 31)

/* PortInfo.CapabilityMask of an end port: its node understands the extended fields and bit 31. */
enum { CAPABILITY_EXTENDED_SPEEDS = 1 << 14 };

/* MTUs as PortInfo, PathRecord and CM code them: 1 is 256 bytes, 5 is 4,096. Other codes count
 * as 1. */
static inline unsigned mtu_of_code(unsigned code)
{
    return code >= 1 && code <= 5 ? 128u << code : 256;
}
static inline unsigned mtu_code(unsigned bytes)
{
    unsigned code = 1;
    while (code < 5 && mtu_of_code(code) < bytes)
        code++;
    return code;
}

/* Rate of one lane, in Mb/s before line coding ("14" of FDR is 14,000); 0: no speed is active. */
uint32_t link_lane_rate(const uint8_t *port_info);
unsigned link_lanes(const uint8_t *port_info); /* 1, 2, 4, 8 or 12; 0: none is active */
/* Rate of the link, in Mb/s; 0: there is none. */
uint32_t link_rate(const uint8_t *port_info);
/* Rate of data on the link after line coding (8b/10b up to QDR, 64b/66b of FDR), in bits/s. */
uint64_t link_data_bits(const uint8_t *port_info);
/* The best that both ends of a link support. */
uint32_t link_best_lane_rate(const uint8_t *near, const uint8_t *far);
unsigned link_best_lanes(const uint8_t *near, const uint8_t *far);
uint32_t link_best_rate(const uint8_t *near, const uint8_t *far);

const char *link_lane_rate_name(uint32_t lane_rate); /* "HDR"; "?": none has this rate */

#endif
