/* Damerau and Levenshtein's distance in its restricted form (no letter takes part in two swaps),
 * three rows at a time. Words longer than a name ever is are near to nothing. */
#include "base/nearest.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

enum { LONGEST = 64, FAR = LONGEST * 2 };

static unsigned smallest(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned distance(const char *a, const char *b)
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
            row[j + 1] = smallest(last[j] + (x != y), smallest(last[j + 1], row[j]) + 1);
            if (i && j && x == tolower((unsigned char)b[j - 1]) &&
                y == tolower((unsigned char)a[i - 1]))
                row[j + 1] = smallest(row[j + 1], before[j - 1] + 1);
        }
    }
    return rows[i % 3][columns];
}

const char *nearest_word(const char *text, const char *const *words, size_t count)
{
    assert(text && (words || !count));
    const char *best = NULL;
    unsigned least = (unsigned)smallest((unsigned)strnlen(text, LONGEST), LONGEST) / 3 + 2;
    for (size_t i = 0; i < count; i++) {
        unsigned slips = distance(text, words[i]);
        if (slips < least && slips < strlen(words[i])) {
            best = words[i];
            least = slips;
        }
    }
    return best;
}
