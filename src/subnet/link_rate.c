#include "subnet/link_rate.h"

#include "wire/codec.h"

#include <stdio.h>

/* Widths by bit of LinkWidthActive and LinkWidthSupported. */
static const uint8_t widths[] = {1, 4, 8, 12, 2};
enum { WIDTHS = sizeof widths };

static uint8_t widest(uint64_t mask)
{
    uint8_t best = 0;
    for (unsigned bit = 0; bit < WIDTHS; bit++)
        if (mask >> bit & 1 && widths[bit] > best)
            best = widths[bit];
    return best;
}

/* A mask of enum link_rate_speed. */
static unsigned speeds(uint64_t base, uint64_t extended, uint64_t extended2)
{
    return (unsigned)(base & 7) | (unsigned)(extended & 15) << LINK_FDR |
           (unsigned)(extended2 & 1) << LINK_XDR;
}

static uint8_t fastest(unsigned mask)
{
    return mask ? (uint8_t)(31 - __builtin_clz(mask)) : LINK_SDR;
}

struct link_rate link_rate_active(const uint8_t *info)
{
    return (struct link_rate){
        .width = widest(wire_get(info, PORT_INFO_LINK_WIDTH_ACTIVE)),
        .speed = fastest(speeds(wire_get(info, PORT_INFO_LINK_SPEED_ACTIVE),
                                wire_get(info, PORT_INFO_LINK_SPEED_EXT_ACTIVE),
                                wire_get(info, PORT_INFO_LINK_SPEED_EXT2_ACTIVE))),
    };
}

static unsigned speeds_supported(const uint8_t *info)
{
    return speeds(wire_get(info, PORT_INFO_LINK_SPEED_SUPPORTED),
                  wire_get(info, PORT_INFO_LINK_SPEED_EXT_SUPPORTED),
                  wire_get(info, PORT_INFO_LINK_SPEED_EXT2_SUPPORTED));
}

struct link_rate link_rate_possible(const uint8_t *near, const uint8_t *far)
{
    return (struct link_rate){
        .width = widest(wire_get(near, PORT_INFO_LINK_WIDTH_SUPPORTED) &
                        wire_get(far, PORT_INFO_LINK_WIDTH_SUPPORTED)),
        .speed = fastest(speeds_supported(near) & speeds_supported(far)),
    };
}

struct link_rate_text link_rate_print(struct link_rate rate)
{
    static const char *const names[LINK_SPEEDS] = {"SDR", "DDR", "QDR", "FDR10", "FDR",
                                                   "EDR", "HDR", "NDR", "XDR"};
    struct link_rate_text result;
    snprintf(result.text, sizeof result.text, "%uX %s", rate.width, names[rate.speed]);
    return result;
}
