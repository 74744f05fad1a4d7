#include "reproduce/claims.h"

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
    struct finding finding = {.measured = "not measured"};
    claim->measure(evidence, claim_preset_names[preset], &finding);
    return finding;
}

const char *claim_where(char buffer[WHERE_BYTES], const char *preset, const char *format, ...)
{
    va_list arguments;
    int length = snprintf(buffer, WHERE_BYTES, "preset=%s ", preset);
    va_start(arguments, format);
    vsnprintf(buffer + length, (size_t)(WHERE_BYTES - length), format, arguments);
    va_end(arguments);
    return buffer;
}

const char *claim_all(char buffer[WHERE_BYTES], const char *preset)
{
    return claim_where(buffer, preset, "%s", "");
}

bool claim_preset_is(const struct observation *observation, const char *preset)
{
    return strcmp(observation_value(observation, "preset"), preset) == 0;
}

void finding_set(struct finding *finding, bool holds, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->measured, sizeof finding->measured, format, arguments);
    va_end(arguments);
    finding->outcome = holds ? OUTCOME_HOLDS : OUTCOME_DIFFERS;
    /* printf writes numbers that are none as "nan": nothing was measured there. */
    if (strstr(finding->measured, "nan"))
        *finding = (struct finding){.measured = "not measured"};
}

bool claim_near(double measured, double value, double share)
{
    return fabs(measured - value) <= share * fabs(value);
}
