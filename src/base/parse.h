/* Numbers in text: each function returns false if the text is anything else. And the nearest word:
 * "did you mean 'reachable'?" */
#ifndef WEFT_BASE_PARSE_H
#define WEFT_BASE_PARSE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A decimal or 0x… number. */
bool parse_number(const char *text, uint64_t *number);
bool parse_bounded(const char *text, uint64_t low, uint64_t high, uint64_t *number);
/* Digits, a point, an exponent: "0.5", "20e3"; no sign. `rest` is the text behind it: a unit, or
 * "". */
bool parse_decimal(const char *text, double *value, const char **rest);
bool parse_percent(const char *text, uint64_t *parts); /* "5%", in parts of 2^32 */

/* A parameter of that name, a whole number below `end`; -EINVAL if it is missing (NULL) or anything
 * else. */
int parse_parameter(const char *text, const char *name, uint64_t end, uint64_t *value,
                    struct err *err);

/* The word with the least edit distance to `text` (a letter replaced, missing, added, or two
 * swapped), the first of several. NULL if the distance is more than a third of the letters of the
 * longer word. */
const char *nearest_word(const char *text, const char *const *words, size_t count);

#endif
