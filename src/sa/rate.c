/* Rates of links (15.2.5.16): the rate of a port, and the order of rates.
 *
 * The codes are not in the order of the rates. The table has the rate of each code in Mb/s. */
#include "sa/internal.h"

static const uint32_t megabits[RATE_COUNT] = {
    [2] = 2500,    [3] = 10000,   [4] = 30000,   [5] = 5000,    [6] = 20000,   [7] = 40000,
    [8] = 60000,   [9] = 80000,   [10] = 120000, [11] = 14000,  [12] = 56000,  [13] = 112000,
    [14] = 168000, [15] = 25000,  [16] = 100000, [17] = 200000, [18] = 300000, [19] = 28000,
    [20] = 50000,  [21] = 400000, [22] = 600000, [23] = 800000, [24] = 1200000};

/* By speed (SDR, DDR, QDR, FDR, EDR, HDR, NDR) and by bit of the width (1X, 4X, 8X, 12X, 2X). */
enum { SPEEDS = 7, WIDTHS = 5, FIRST_EXTENDED = 3 };
static const uint8_t codes[SPEEDS][WIDTHS] = {
    {2, 3, 6, 4, 5},      {5, 6, 7, 8, 3},      {3, 7, 9, 10, 6},     {11, 12, 13, 14, 19},
    {15, 16, 17, 18, 20}, {20, 17, 21, 22, 16}, {16, 21, 23, 24, 17},
};

static unsigned highest_bit(uint64_t value)
{
    unsigned bit = 0;
    while (value >>= 1)
        bit++;
    return bit;
}

/* A port without link width or speed, such as port 0 of a switch, has the lowest rate. */
uint8_t rate_of_port(const uint8_t *port_info)
{
    uint64_t width = wire_get(port_info, PORT_INFO_LINK_WIDTH_ACTIVE);
    uint64_t speed = wire_get(port_info, PORT_INFO_LINK_SPEED_ACTIVE);
    uint64_t extended = wire_get(port_info, PORT_INFO_LINK_SPEED_EXT_ACTIVE);
    unsigned column = highest_bit(width), row = highest_bit(speed);
    if (extended)
        row = FIRST_EXTENDED + highest_bit(extended);
    if (!width || (!speed && !extended) || column >= WIDTHS || row >= SPEEDS)
        return RATE_LOWEST;
    return codes[row][column];
}

unsigned rate_order(unsigned code)
{
    return code < RATE_COUNT ? megabits[code] : 0;
}

uint8_t rate_below(unsigned code)
{
    uint8_t below = 0;
    for (unsigned other = RATE_LOWEST; other < RATE_COUNT; other++)
        if (megabits[other] < rate_order(code) && megabits[other] > rate_order(below))
            below = (uint8_t)other;
    return below;
}
