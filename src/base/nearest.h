/* The nearest word: "did you mean 'reachable'?" */
#ifndef WEFT_BASE_NEAREST_H
#define WEFT_BASE_NEAREST_H

#include <stddef.h>

/* The word with the least edit distance to `text` (a letter replaced, missing, added, or two
 * swapped), the first of several. NULL if the distance is more than a third of the letters of the
 * longer word. */
const char *nearest_word(const char *text, const char *const *words, size_t count);

#endif
