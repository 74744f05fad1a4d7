/* The nearest word: "did you mean 'reachable'?" */
#ifndef WEFT_BASE_NEAREST_H
#define WEFT_BASE_NEAREST_H

#include <stddef.h>

/* Of `count` words the one that the fewest slips of the finger (a letter wrong, missing, too many,
 * or two swapped) lead to from `text`; the first of equals. NULL when none is so near that it may
 * be meant: a third of the letters or so. */
const char *nearest_word(const char *text, const char *const *words, size_t count);

#endif
