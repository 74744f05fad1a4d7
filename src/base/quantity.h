/* Numbers for people: three significant digits, an SI prefix, a unit; and scales for axes.
 * web/src/format.ts writes them in the same form.
 *
 * Units are those of results.h: "s", "bits/s", "bytes", "share", or a word such as "packets" and
 * "packets/s". Shares become percent; whole counts keep all their digits up to seven, bytes up to
 * four. Doubles suffice, since no simulation depends on these numbers. */
#ifndef WEFT_BASE_QUANTITY_H
#define WEFT_BASE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QUANTITY_BYTES = 64 };

/* "1.25 ms", "41.2 k packets/s", "75,123 packets", "0.05 %"; no number: an en dash. Returns
 * buffer. */
const char *quantity_text(double value, const char *unit, char buffer[QUANTITY_BYTES]);
/* A time of the run with all its digits: "60.1812 s". */
const char *quantity_moment(uint64_t ps, char buffer[QUANTITY_BYTES]);
/* Whether a unit follows its prefix directly: "ms", not "k packets". */
bool quantity_is_symbol(const char *unit);
/* The number without a unit, with `decimals`, a minus sign (U+2212) and commas. */
const char *quantity_number(double value, unsigned decimals, char buffer[QUANTITY_BYTES]);

/* How an axis shows values up to `most`: divided by `factor`, in the unit `name` ("ms"). */
struct quantity_scale {
    double factor;
    char name[QUANTITY_BYTES];
};
struct quantity_scale quantity_scale(double most, const char *unit);
/* "4.15 ± 0.27" on that scale, for columns whose heading has the unit. */
const char *quantity_mean_on(const struct quantity_scale *scale, double mean, double half_width,
                             char buffer[QUANTITY_BYTES]);

/* The next round number from `value` up, for the end of an axis that begins at 0 and has about
 * `wanted` ticks in steps of 1, 2 or 5 times a power of ten. */
double quantity_round_up(double value, unsigned wanted);

#endif
