/* Chooses SI prefix and decimals for figures in reports, and round steps for the axes of charts. */
#include "base/quantity.h"

#include "base/time.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- units ---- */

/* Symbols follow their prefix directly (ms), words after a blank (k packets). */
static const struct unit {
    const char *name, *shown;
    bool symbol;
    bool whole; /* a count: whole numbers keep their digits */
} units[] = {
    {.name = "s", .shown = "s", .symbol = true},
    {.name = "bits/s", .shown = "bit/s", .symbol = true},
    {.name = "bit/s", .shown = "bit/s", .symbol = true},
    {.name = "bytes/s", .shown = "B/s", .symbol = true},
    {.name = "bytes", .shown = "B", .symbol = true, .whole = true},
};

static struct unit unit_of(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(units[i].name, name) == 0)
            return units[i];
    bool rate = length > 2 && strcmp(name + length - 2, "/s") == 0;
    return (struct unit){.name = name, .shown = name, .whole = !rate};
}

static const struct prefix {
    double factor;
    const char *name;
} prefixes[] = {{1e-12, "p"}, {1e-9, "n"}, {1e-6, "µ"}, {1e-3, "m"}, {1, ""},
                {1e3, "k"},   {1e6, "M"},  {1e9, "G"},  {1e12, "T"}, {1e15, "P"}};
enum { PREFIXES = sizeof prefixes / sizeof prefixes[0], NO_PREFIX = 4 };

/* The largest prefix with a whole part once the value is rounded to three digits. Words have no
 * small prefixes (no millipackets), seconds no large ones. */
static unsigned prefix_of(double value, const struct unit *unit)
{
    unsigned first = unit->symbol ? 0 : NO_PREFIX;
    unsigned last = strcmp(unit->name, "s") == 0 ? NO_PREFIX : PREFIXES - 1, best = first;
    value = fabs(value);
    if (value == 0)
        return NO_PREFIX;
    for (unsigned i = first; i <= last; i++)
        if (value >= prefixes[i].factor * 0.9995)
            best = i;
    return best;
}

static void put_unit(char *buffer, size_t size, const char *prefix, const struct unit *unit)
{
    bool parted = !unit->symbol && unit->shown[0] && prefix[0];
    snprintf(buffer, size, "%s%s%.30s", prefix, parted ? " " : "", unit->shown);
}

/* ---- numbers ---- */

const char *quantity_number(double value, unsigned decimals, char buffer[QUANTITY_BYTES])
{
    assert(decimals < QUANTITY_BYTES / 2);
    char digits[QUANTITY_BYTES];
    if (!isfinite(value))
        return strcpy(buffer, isnan(value) ? "–" : value > 0 ? "∞" : "−∞");
    if (fabs(value) >= 1e15) {
        snprintf(buffer, QUANTITY_BYTES, "%.3g", value);
        return buffer;
    }
    snprintf(digits, sizeof digits, "%.*f", (int)decimals, fabs(value));
    size_t whole = strcspn(digits, "."), at = 0;
    bool zero = strspn(digits, "0.") == strlen(digits);
    if (value < 0 && !zero)
        at += (size_t)snprintf(buffer, QUANTITY_BYTES, "−");
    for (size_t i = 0; digits[i] && at + 2 < QUANTITY_BYTES; i++) {
        if (i > 0 && i < whole && (whole - i) % 3 == 0 && whole > 4)
            buffer[at++] = ',';
        buffer[at++] = digits[i];
    }
    buffer[at] = '\0';
    return buffer;
}

/* Decimals for three significant digits of a scaled number. */
static unsigned three_digits(double value)
{
    unsigned decimals = 2;
    value = fabs(value);
    if (value == 0)
        return 0;
    if (value >= 9.995)
        decimals = value >= 99.95 ? 0 : 1;
    for (; value < 0.9995 && decimals < 9; value *= 10)
        decimals++;
    return decimals;
}

const char *quantity_text(double value, const char *unit_name, char buffer[QUANTITY_BYTES])
{
    char number[QUANTITY_BYTES], shown[QUANTITY_BYTES];
    struct unit unit = unit_of(unit_name);
    unsigned prefix = NO_PREFIX;
    if (!isfinite(value))
        return quantity_number(value, 0, buffer);
    bool is_whole = value == floor(value) && fabs(value) < (unit.symbol ? 1e4 : 1e7);
    if (strcmp(unit_name, "share") == 0) {
        value *= 100;
        unit.shown = "%";
        is_whole = value == floor(value);
    } else if (!unit.whole || !is_whole) {
        prefix = prefix_of(value, &unit);
        value /= prefixes[prefix].factor;
        is_whole = false;
    }
    quantity_number(value, is_whole ? 0 : three_digits(value), number);
    put_unit(shown, sizeof shown, prefixes[prefix].name, &unit);
    bool parted = shown[0] && unit_name[0];
    snprintf(buffer, QUANTITY_BYTES, "%.24s%s%.36s", number, parted ? " " : "", shown);
    return buffer;
}

const char *quantity_moment(uint64_t ps, char buffer[QUANTITY_BYTES])
{
    char text[TIME_TEXT_BYTES];
    time_text(ps, text);
    size_t digits = strspn(text, "0123456789.");
    snprintf(buffer, QUANTITY_BYTES, "%.*s%s%s", (int)digits, text, digits ? " " : "",
             strcmp(text + digits, "us") == 0 ? "µs" : text + digits);
    return buffer;
}

bool quantity_is_symbol(const char *unit)
{
    return strcmp(unit, "share") == 0 || unit_of(unit).symbol;
}

/* ---- axes ---- */

struct quantity_scale quantity_scale(double most, const char *unit_name)
{
    struct quantity_scale scale = {.factor = 1};
    struct unit unit = unit_of(unit_name);
    if (strcmp(unit_name, "share") == 0) {
        strcpy(scale.name, "%");
        scale.factor = 0.01;
        return scale;
    }
    unsigned prefix = isfinite(most) ? prefix_of(most, &unit) : NO_PREFIX;
    if (!unit.symbol && fabs(most) < (unit_name[0] ? 10000 : 1e7))
        prefix = NO_PREFIX; /* 2,500 is short enough */
    scale.factor = prefixes[prefix].factor;
    put_unit(scale.name, sizeof scale.name, prefixes[prefix].name, &unit);
    return scale;
}

const char *quantity_mean_on(const struct quantity_scale *scale, double mean, double half_width,
                             char buffer[QUANTITY_BYTES])
{
    char one[QUANTITY_BYTES], other[QUANTITY_BYTES];
    mean /= scale->factor;
    half_width /= scale->factor;
    unsigned decimals = mean == floor(mean) && fabs(mean) < 1e7 ? 0 : three_digits(mean);
    if (!isfinite(mean) || !isfinite(half_width))
        return quantity_number(mean, decimals, buffer);
    if (half_width > 0 && three_digits(half_width) > decimals)
        decimals++; /* so that the width is not 0 */
    snprintf(buffer, QUANTITY_BYTES, "%.28s ± %.28s", quantity_number(mean, decimals, one),
             quantity_number(half_width, decimals, other));
    return buffer;
}

static double power_of_ten(int exponent)
{
    double power = 1;
    for (; exponent > 0; exponent--)
        power *= 10;
    for (; exponent < 0; exponent++)
        power /= 10;
    return power;
}

/* 1, 2 or 5 times a power of ten. */
static double round_step(double span, unsigned wanted)
{
    double raw = span / (wanted ? wanted : 1);
    double power = power_of_ten((int)floor(log10(raw))), lead = raw / power;
    if (lead <= 1.0001)
        return power;
    if (lead <= 2.0001)
        return 2 * power;
    if (lead <= 5.0001)
        return 5 * power;
    return 10 * power;
}

double quantity_round_up(double value, unsigned wanted)
{
    if (!isfinite(value) || value <= 0)
        return 1;
    double step = round_step(value, wanted);
    return ceil(value / step - 1e-9) * step;
}
