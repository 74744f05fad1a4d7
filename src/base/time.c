#include "base/time.h"

#include <ctype.h>
#include <string.h>

bool time_parse(const char *text, uint64_t *ps)
{
    static const struct {
        const char *name;
        uint64_t ps;
    } units[] = {{"ps", TIME_PS}, {"ns", TIME_NS}, {"us", TIME_US}, {"ms", TIME_MS}, {"s", TIME_S}};
    uint64_t whole = 0, fraction = 0, scale = 1;
    if (!isdigit((unsigned char)*text))
        return false;
    for (; isdigit((unsigned char)*text) && whole < 10000000; text++)
        whole = whole * 10 + (uint64_t)(*text - '0');
    if (*text == '.')
        for (text++; isdigit((unsigned char)*text) && scale < 1000000; text++, scale *= 10)
            fraction = fraction * 10 + (uint64_t)(*text - '0');
    for (unsigned i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(text, units[i].name) == 0) {
            *ps = whole * units[i].ps + fraction * units[i].ps / scale;
            return true;
        }
    return false;
}
