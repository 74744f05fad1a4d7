/* Times in text, parsed and printed in integer arithmetic, and the monotonic clock. Numbers for
 * reports, rounded to three digits, come from quantity_text(). */
#include "base/time.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

uint64_t time_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static const struct {
    const char *name;
    uint64_t ps;
} units[] = {{"ps", TIME_PS}, {"ns", TIME_NS}, {"us", TIME_US}, {"ms", TIME_MS}, {"s", TIME_S}};
enum { UNITS = sizeof units / sizeof units[0] };

bool time_parse(const char *text, uint64_t *ps)
{
    uint64_t whole = 0, fraction = 0, scale = 1;
    if (!isdigit((unsigned char)*text))
        return false;
    for (; isdigit((unsigned char)*text) && whole <= TIME_LONGEST / 10; text++)
        whole = whole * 10 + (uint64_t)(*text - '0');
    if (*text == '.')
        for (text++; isdigit((unsigned char)*text) && scale < 1000000; text++, scale *= 10)
            fraction = fraction * 10 + (uint64_t)(*text - '0');
    for (unsigned i = 0; i < UNITS; i++)
        if (strcmp(text, units[i].name) == 0 && whole <= TIME_LONGEST / units[i].ps) {
            *ps = whole * units[i].ps + fraction * units[i].ps / scale;
            return true;
        }
    return false;
}

bool time_parse_ns(const char *text, uint64_t *ns)
{
    uint64_t ps;
    if (!time_parse(text, &ps))
        return false;
    *ns = time_ns_ceil(ps);
    return true;
}

const char *time_text(uint64_t ps, char buffer[TIME_TEXT_BYTES])
{
    unsigned unit = UNITS - 1;
    if (ps == TIME_NEVER || ps == 0) {
        strcpy(buffer, ps ? "never" : "0s");
        return buffer;
    }
    while (unit > 0 && ps < units[unit].ps)
        unit--;
    unsigned digits = unit == UNITS - 1 ? 6 : unit ? 3 : 0;
    uint64_t fraction = ps % units[unit].ps;
    int length =
        snprintf(buffer, TIME_TEXT_BYTES, "%llu", (unsigned long long)(ps / units[unit].ps));
    int end = length; /* after the last nonzero digit */
    for (unsigned i = 0; i < digits; i++) {
        fraction *= 10;
        buffer[length + 1 + (int)i] = (char)('0' + fraction / units[unit].ps);
        if (fraction >= units[unit].ps)
            end = length + 2 + (int)i;
        fraction %= units[unit].ps;
    }
    if (end > length)
        buffer[length] = '.';
    strcpy(buffer + end, units[unit].name);
    return buffer;
}
