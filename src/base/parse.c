/* Strict conversion of text to numbers: no sign or blank in front, and nothing behind but what the
 * function allows. Suggestions for misspelt words follow from the edit distance. */
#include "base/parse.h"

#include "base/rng.h"

#include <assert.h>
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

/* ---- the nearest word ---- */

/* The restricted Damerau-Levenshtein distance (a letter is swapped once at most), in three rows of
 * the table. Words above LONGEST letters match nothing. */
enum { LONGEST = 64, FAR = LONGEST * 2 };

static unsigned lesser(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned edit_distance(const char *a, const char *b)
{
    size_t columns = strlen(b);
    unsigned rows[3][LONGEST + 1];
    if (strlen(a) > LONGEST || columns > LONGEST)
        return FAR;
    for (size_t j = 0; j <= columns; j++)
        rows[0][j] = (unsigned)j;
    size_t i = 0;
    for (; a[i]; i++) {
        const unsigned *last = rows[i % 3], *before = rows[(i + 2) % 3];
        unsigned *row = rows[(i + 1) % 3];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < columns; j++) {
            int x = tolower((unsigned char)a[i]), y = tolower((unsigned char)b[j]);
            row[j + 1] = lesser(last[j] + (x != y), lesser(last[j + 1], row[j]) + 1);
            if (i && j && x == tolower((unsigned char)b[j - 1]) &&
                y == tolower((unsigned char)a[i - 1]))
                row[j + 1] = lesser(row[j + 1], before[j - 1] + 1);
        }
    }
    return rows[i % 3][columns];
}

/* One edit in three letters, and one in shorter words that have a letter in common. */
static bool is_near(unsigned edits, size_t a, size_t b)
{
    size_t longer = a > b ? a : b, shorter = a < b ? a : b;
    return edits <= (longer < 3 ? 1 : longer / 3) && edits < shorter;
}

const char *nearest_word(const char *text, const char *const *words, size_t count)
{
    assert(text && (words || !count));
    const char *best = NULL;
    size_t length = strlen(text);
    unsigned least = (unsigned)(length < LONGEST ? length : LONGEST) / 2 + 2;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(words[i]);
        if ((length < other ? other - length : length - other) >= least)
            continue; /* at least that many edits */
        unsigned edits = edit_distance(text, words[i]);
        if (edits < least && is_near(edits, length, other)) {
            best = words[i];
            least = edits;
        }
    }
    return best;
}
