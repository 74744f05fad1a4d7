/* Puts the three sets of speed bits of a PortInfo into one mask, of which the highest bit is the
 * speed, and computes rates of links from it. */
#include "wire/link_rate.h"

#include "wire/codec.h"

/* By speed: SDR, DDR, QDR; FDR, EDR, HDR, NDR; XDR. */
static const uint32_t lane_rates[] = {2500, 5000, 10000, 14000, 25000, 50000, 100000, 200000};
static const char *const names[] = {"SDR", "DDR", "QDR", "FDR", "EDR", "HDR", "NDR", "XDR"};
enum { SPEEDS = sizeof lane_rates / sizeof *lane_rates, FIRST_EXT = 3, FIRST_EXT2 = 7 };

/* Bits of widths: that of 2X is the highest. */
enum { BIT_1X = 1, BIT_4X = 2, BIT_8X = 4, BIT_12X = 8, BIT_2X = 16 };

static uint32_t fastest(uint64_t speeds)
{
    for (unsigned i = SPEEDS; i-- > 0;)
        if (speeds >> i & 1)
            return lane_rates[i];
    return 0;
}

static inline unsigned widest(uint64_t widths)
{
    return widths & BIT_12X  ? 12
           : widths & BIT_8X ? 8
           : widths & BIT_4X ? 4
           : widths & BIT_2X ? 2
                             : (unsigned)(widths & BIT_1X);
}

/* One mask of all speeds, from the fields of its three sets. */
WIRE_INLINE uint64_t speeds_of(const uint8_t *info, enum wire_field base, enum wire_field ext,
                               enum wire_field ext2)
{
    return wire_get(info, base) | wire_get(info, ext) << FIRST_EXT |
           wire_get(info, ext2) << FIRST_EXT2;
}

uint32_t link_lane_rate(const uint8_t *info)
{
    return fastest(speeds_of(info, PORT_INFO_LINK_SPEED_ACTIVE, PORT_INFO_LINK_SPEED_EXT_ACTIVE,
                             PORT_INFO_LINK_SPEED_EXT2_ACTIVE));
}

unsigned link_lanes(const uint8_t *info)
{
    return widest(wire_get(info, PORT_INFO_LINK_WIDTH_ACTIVE));
}

uint32_t link_rate(const uint8_t *info)
{
    return link_lanes(info) * link_lane_rate(info);
}

uint64_t link_data_bits(const uint8_t *info)
{
    enum { QDR = 10000, FDR = 14000 };
    uint64_t lane = link_lane_rate(info), bits = lane * 1000000;
    return link_lanes(info) * (lane <= QDR   ? bits / 10 * 8
                               : lane == FDR ? UINT64_C(13636363636)
                                             : bits);
}

static uint64_t speeds_supported(const uint8_t *info)
{
    return speeds_of(info, PORT_INFO_LINK_SPEED_SUPPORTED, PORT_INFO_LINK_SPEED_EXT_SUPPORTED,
                     PORT_INFO_LINK_SPEED_EXT2_SUPPORTED);
}

uint32_t link_best_lane_rate(const uint8_t *near, const uint8_t *far)
{
    return fastest(speeds_supported(near) & speeds_supported(far));
}

unsigned link_best_lanes(const uint8_t *near, const uint8_t *far)
{
    return widest(wire_get(near, PORT_INFO_LINK_WIDTH_SUPPORTED) &
                  wire_get(far, PORT_INFO_LINK_WIDTH_SUPPORTED));
}

uint32_t link_best_rate(const uint8_t *near, const uint8_t *far)
{
    return link_best_lanes(near, far) * link_best_lane_rate(near, far);
}

const char *link_lane_rate_name(uint32_t lane_rate)
{
    for (unsigned i = 0; i < SPEEDS; i++)
        if (lane_rates[i] == lane_rate)
            return names[i];
    return "?";
}
