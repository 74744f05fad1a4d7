/* Width and speed of a link, from the PortInfo of its ends. */
#ifndef WEFT_SUBNET_LINK_RATE_H
#define WEFT_SUBNET_LINK_RATE_H

#include "wire/mad.h"

#include <stdbool.h>

/* In ascending order. FDR10 is a vendor's speed, which PortInfo reports as QDR. */
enum link_rate_speed {
    LINK_SDR,
    LINK_DDR,
    LINK_QDR,
    LINK_FDR10,
    LINK_FDR,
    LINK_EDR,
    LINK_HDR,
    LINK_NDR,
    LINK_XDR,
    LINK_SPEEDS,
};

struct link_rate {
    uint8_t width; /* number of physical lanes: 1, 2, 4, 8 or 12; 0: unknown */
    uint8_t speed; /* enum link_rate_speed */
};

struct link_rate link_rate_active(const uint8_t *port_info);
/* The best rate that both ends support. */
struct link_rate link_rate_possible(const uint8_t *near, const uint8_t *far);

struct link_rate_text {
    char text[16]; /* "4X HDR" */
};
struct link_rate_text link_rate_print(struct link_rate rate);

#endif
