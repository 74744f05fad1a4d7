#include "reproduce/claims.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const outcome_names[] = {"unknown", "holds", "differs"};
const char *const claim_preset_names[CLAIM_PRESETS] = {"paper", "today"};

const struct claim *claim_at(size_t index)
{
    static const struct claim *const papers[] = {claims_000, claims_001, claims_002, claims_004};
    for (size_t i = 0; i < sizeof papers / sizeof papers[0]; i++)
        for (const struct claim *claim = papers[i]; claim->name; claim++)
            if (index-- == 0)
                return claim;
    return NULL;
}

struct finding claim_evaluate(const struct claim *claim, const struct evidence *evidence,
                              enum claim_preset preset)
{
    assert(preset < CLAIM_PRESETS);
    struct finding finding = {.measured = "not measured"};
    claim->measure(
        &(struct claim_case){evidence, claim_preset_names[preset], claim->detail, &finding});
    return finding;
}

enum { WHERE_BYTES = 256 };

struct evidence_summary claim_summary(const struct claim_case *c, const char *figure,
                                      const char *where, ...)
{
    char all[WHERE_BYTES];
    int length = snprintf(all, sizeof all, "preset=%s ", c->preset);
    va_list arguments;
    va_start(arguments, where);
    vsnprintf(all + length, sizeof all - (size_t)length, where, arguments);
    va_end(arguments);
    return evidence_summarize(c->evidence, all, figure);
}

size_t claim_values(const struct claim_case *c, const char *parameter, const char ***values,
                    const char *where)
{
    char all[WHERE_BYTES];
    snprintf(all, sizeof all, "preset=%s %s", c->preset, where);
    return evidence_values(c->evidence, all, parameter, values);
}

struct claim_range claim_over_sizes(const struct claim_case *c,
                                    double (*value_of)(const struct claim_case *c, const char *size,
                                                       const void *context),
                                    const void *context)
{
    struct claim_range range = {
        .least = NAN, .most = NAN, .mean = NAN, .first = NAN, .last = NAN, .rising = true};
    const char **sizes;
    double sum = 0;
    range.count = claim_values(c, "switches", &sizes, "");
    for (size_t i = 0; i < range.count; i++) {
        double value = value_of(c, sizes[i], context);
        range.least = fmin(range.least, value); /* ignores NaN */
        range.most = fmax(range.most, value);
        range.first = i == 0 ? value : range.first;
        range.rising &= i == 0 || value > range.last;
        range.last = value;
        range.above += value > 1.02;
        sum += value;
        range.mean = sum / (double)(i + 1);
    }
    mem_free(sizes);
    return range;
}

double claim_figure_of_size(const struct claim_case *c, const char *size, const void *figure)
{
    return claim_mean(c, figure, "switches=%s", size);
}

struct ratio {
    const char *figure, *over, *under;
};

static double ratio_of_size(const struct claim_case *c, const char *size, const void *context)
{
    const struct ratio *ratio = context;
    double over = claim_mean(c, ratio->figure, "switches=%s %s", size, ratio->over);
    double under = claim_mean(c, ratio->figure, "switches=%s %s", size, ratio->under);
    return over == 0 && under == 0 ? 1 : over / under;
}

struct claim_range claim_compare(const struct claim_case *c, const char *figure, const char *over,
                                 const char *under)
{
    return claim_over_sizes(c, ratio_of_size, &(struct ratio){figure, over, under});
}

void claim_finds(const struct claim_case *c, bool holds, const char *format, ...)
{
    struct finding *finding = c->finding;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->measured, sizeof finding->measured, format, arguments);
    va_end(arguments);
    finding->outcome = holds ? OUTCOME_HOLDS : OUTCOME_DIFFERS;
    /* printf() writes NaN as "nan": a value was not measured. */
    if (strstr(finding->measured, "nan"))
        *finding = (struct finding){.measured = "not measured"};
}

bool claim_near(double measured, double value, double share)
{
    return fabs(measured - value) <= share * fabs(value);
}

void claim_measure_bounds(const struct claim_case *c)
{
    const struct claim_bounds *bounds = c->detail;
    double value = claim_mean(c, bounds->figure, CLAIM_ALL);
    bool holds = value > bounds->above && value < bounds->below;
    if (bounds->is_time)
        claim_finds(c, holds, "%.3g ms", value * 1e3);
    else
        claim_finds(c, holds, "%.0f", value);
}
