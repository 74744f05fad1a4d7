/* The restricted Damerau-Levenshtein distance (a letter is swapped once at most), in three rows of
 * the table. Words above LONGEST letters match nothing. */
#include "base/nearest.h"

#include <assert.h>
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

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
