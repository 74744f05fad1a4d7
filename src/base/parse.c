#include "base/parse.h"

#include "base/rng.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool parse_number(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10);
    return isdigit((unsigned char)text[0]) && !*end && !errno;
}

bool parse_bounded(const char *text, uint64_t low, uint64_t high, uint64_t *number)
{
    return parse_number(text, number) && *number >= low && *number <= high;
}

bool parse_decimal(const char *text, double *value, const char **rest)
{
    const char *at = text;
    char *end;
    at += strspn(at, "0123456789");
    if (at == text)
        return false; /* strtod() accepts signs, blanks, "inf" and "nan" */
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return false;
    *value = strtod(text, &end);
    *rest = end;
    return *value <= DBL_MAX;
}

/* At most six decimals. */
bool parse_percent(const char *text, uint64_t *parts)
{
    uint64_t millionths = 0, scale = 1000000;
    const char *at = text;
    for (; isdigit((unsigned char)*at) && millionths <= 100; at++)
        millionths = millionths * 10 + (uint64_t)(*at - '0');
    millionths *= scale;
    if (at > text && *at == '.')
        for (at++; isdigit((unsigned char)*at) && scale > 1; at++) {
            scale /= 10;
            millionths += (uint64_t)(*at - '0') * scale;
        }
    *parts = (millionths * RNG_CERTAIN + 50000000) / 100000000;
    return at > text && strcmp(at, "%") == 0 && millionths <= 100000000;
}

int parse_parameter(const char *text, const char *name, uint64_t end, uint64_t *value,
                    struct err *err)
{
    *value = 0;
    if (!text)
        return err_set(err, EINVAL, "'%s' is missing", name);
    if (!isdigit((unsigned char)text[0]) || !parse_number(text, value) || *value >= end)
        return err_set(err, EINVAL, "%s=%.40s: expected a whole number below %" PRIu64, name, text,
                       end);
    return 0;
}
