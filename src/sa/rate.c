/* Rates of links (15.2.5.16): the rate of a port, and the order of rates.
 *
 * The codes are not in the order of the rates. The table has the rate of each code in Mb/s. */
#include "sa/internal.h"
#include "wire/link_rate.h"

static const uint32_t megabits[RATE_COUNT] = {
    [2] = 2500,    [3] = 10000,   [4] = 30000,   [5] = 5000,    [6] = 20000,    [7] = 40000,
    [8] = 60000,   [9] = 80000,   [10] = 120000, [11] = 14000,  [12] = 56000,   [13] = 112000,
    [14] = 168000, [15] = 25000,  [16] = 100000, [17] = 200000, [18] = 300000,  [19] = 28000,
    [20] = 50000,  [21] = 400000, [22] = 600000, [23] = 800000, [24] = 1200000, [25] = 1600000};

/* The highest rate that the link reaches: 12X XDR has no code of its own. A port without link width
 * or speed, such as port 0 of a switch, has the lowest rate. */
uint8_t rate_of_port(const uint8_t *port_info)
{
    uint32_t rate = link_rate(port_info);
    uint8_t best = RATE_LOWEST;
    for (unsigned code = RATE_LOWEST; code < RATE_COUNT && megabits[best] != rate; code++)
        if (megabits[code] <= rate && megabits[code] > megabits[best])
            best = (uint8_t)code;
    return best;
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
