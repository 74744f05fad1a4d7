/* Compares what is measured with the bounds of a claim. */
#include "reproduce/claims.h"

#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const outcome_names[OUTCOMES] = {"unknown", "holds", "differs", "either"};
const char *const claim_preset_names[CLAIM_PRESETS] = {"paper", "today"};

/* 0.006 is within "to 6 ms", whatever the rounding of the division. */
static const double slack = 1e-9;

/* "12,345", "4.92", "0.05": that many significant digits, without decimals from 1,000 up. */
static const char *number_text(double value, unsigned digits, char buffer[QUANTITY_BYTES])
{
    int decimals = 0;
    if (value != 0 && fabs(value) < 999.5)
        decimals = (int)fmin(fmax(digits - 1 - floor(log10(fabs(value))), 0), 12);
    else if (fabs(value) < 1e6 && digits > 6)
        decimals = (int)digits - 6;
    quantity_number(value, (unsigned)decimals, buffer);
    size_t length = strlen(buffer);
    if (strchr(buffer, '.')) {
        while (buffer[length - 1] == '0')
            length--;
        length -= buffer[length - 1] == '.';
        buffer[length] = 0;
    }
    return buffer;
}

enum { DIGITS = 3, BOUND_DIGITS = 9 };

/* Three digits, or as many as it takes to tell the value from a bound: 1.0004 is "more than 1". */
static const char *value_text(const struct claim *claim, double value, char buffer[QUANTITY_BYTES])
{
    const double bounds[] = {claim->low.value, claim->high.value};
    unsigned digits = DIGITS;
    for (unsigned i = 0; i < 2; i++) {
        char bound[QUANTITY_BYTES];
        if (isnan(bounds[i]) || fabs(value - bounds[i]) <= slack * fabs(bounds[i]))
            continue;
        number_text(bounds[i], BOUND_DIGITS, bound);
        while (digits < BOUND_DIGITS && strcmp(number_text(value, digits, buffer), bound) == 0)
            digits++;
    }
    return number_text(value, digits, buffer);
}

static bool is_within(const struct claim *claim, double value)
{
    double shown = value / claim->unit->factor;
    double low = claim->low.value, high = claim->high.value; /* NaN: no bound */
    bool too_low = claim->low.excluded ? shown <= low : shown < low - slack * fabs(low);
    bool too_high = claim->high.excluded ? shown >= high : shown > high + slack * fabs(high);
    return !too_low && !too_high;
}

struct finding claim_judge(const struct claim *claim, const struct measured *measured)
{
    struct finding finding = {.measured = *measured, .shown = "not measured"};
    char least[QUANTITY_BYTES], most[QUANTITY_BYTES], half[QUANTITY_BYTES];
    double factor = claim->unit->factor;
    if (isnan(measured->least) || isnan(measured->most))
        return finding;
    finding.outcome = is_within(claim, measured->least) && is_within(claim, measured->most)
                          ? OUTCOME_HOLDS
                          : OUTCOME_DIFFERS;
    value_text(claim, measured->least / factor, least);
    value_text(claim, measured->most / factor, most);
    bool range = strcmp(least, most) != 0, mean = !range && isfinite(measured->half_width);
    if (mean)
        number_text(measured->half_width / factor, 2, half);
    struct text shown = {0};
    text_puts(&shown, least);
    if (range || mean)
        text_printf(&shown, "%s%s", range ? " to " : " ± ", range ? most : half);
    if (claim->unit->name[0])
        text_printf(&shown, " %s", claim->unit->name);
    if (measured->text[0])
        text_printf(&shown, " (%s)", measured->text);
    snprintf(finding.shown, sizeof finding.shown, "%s", shown.data);
    text_release(&shown);
    return finding;
}

const char *claim_tolerance(const struct claim *claim, char buffer[TOLERANCE_BYTES])
{
    char low[QUANTITY_BYTES], high[QUANTITY_BYTES];
    bool has_low = !isnan(claim->low.value), has_high = !isnan(claim->high.value);
    const char *blank = claim->unit->name[0] ? " " : "", *unit = claim->unit->name;
    number_text(claim->low.value, BOUND_DIGITS, low);
    number_text(claim->high.value, BOUND_DIGITS, high);
    if (has_low && has_high && claim->low.value == claim->high.value)
        snprintf(buffer, TOLERANCE_BYTES, "exactly %s%s%s", low, blank, unit);
    else if (has_low && has_high)
        snprintf(buffer, TOLERANCE_BYTES, "%s %s %s %s%s%s",
                 claim->low.excluded ? "more than" : "from", low,
                 claim->high.excluded ? "to less than" : "to", high, blank, unit);
    else if (has_low)
        snprintf(buffer, TOLERANCE_BYTES, "%s %s%s%s",
                 claim->low.excluded ? "more than" : "at least", low, blank, unit);
    else
        snprintf(buffer, TOLERANCE_BYTES, "%s %s%s%s",
                 claim->high.excluded ? "less than" : "at most", high, blank, unit);
    return buffer;
}

struct finding claim_evaluate(const struct claim *claim, const struct evidence *evidence,
                              enum claim_preset preset)
{
    assert(preset < CLAIM_PRESETS);
    struct measured measured =
        measure_evaluate(&claim->measure, evidence, claim_preset_names[preset]);
    return claim_judge(claim, &measured);
}
