/* Prints values so that reading them gives the same bits: a session that is exported and repeated
 * has the same trace. */
#include "console/exact.h"

#include "base/parse.h"
#include "base/rng.h"
#include "base/time.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void exact_print_time(uint64_t ps, struct text *out)
{
    static const struct {
        uint64_t ps;
        const char *name;
    } units[] = {{TIME_S, "s"}, {TIME_MS, "ms"}, {TIME_US, "us"}, {TIME_NS, "ns"}};
    for (unsigned i = 0; i < 4; i++)
        if (ps % units[i].ps == 0) {
            text_printf(out, "%" PRIu64 "%s", ps / units[i].ps, units[i].name);
            return;
        }
    text_printf(out, "%" PRIu64 ".%06" PRIu64 "us", ps / TIME_US, ps % TIME_US);
}

/* Words have millionths of a percent. */
static void write_percent(uint64_t parts, char word[32])
{
    uint64_t millionths = (parts * 100000000 + RNG_CERTAIN / 2) / RNG_CERTAIN;
    char fraction[8];
    int length = snprintf(fraction, sizeof fraction, "%06" PRIu64, millionths % 1000000);
    while (length > 0 && fraction[length - 1] == '0')
        fraction[--length] = 0;
    snprintf(word, 32, "%" PRIu64 "%s%s%%", millionths / 1000000, length ? "." : "", fraction);
}

void exact_print_percent(uint64_t parts, struct text *out)
{
    char word[32];
    write_percent(parts, word);
    text_puts(out, word);
}

void exact_print_decimal(double value, struct text *out)
{
    enum { DIGITS_SHORT = 15, DIGITS_ENOUGH = 17 };
    char word[32];
    for (int digits = DIGITS_SHORT; digits <= DIGITS_ENOUGH; digits++) {
        snprintf(word, sizeof word, "%.*g", digits, value);
        if (strtod(word, NULL) == value)
            break;
    }
    text_puts(out, word);
}

void exact_print_share(double share, struct text *out)
{
    double parts = share * (double)RNG_CERTAIN;
    char word[32];
    uint64_t read;
    if (share > 0 && share <= 1 && parts == floor(parts)) {
        write_percent((uint64_t)parts, word);
        if (parse_percent(word, &read) && read == (uint64_t)parts) {
            text_puts(out, word);
            return;
        }
    }
    exact_print_decimal(share, out);
}
