/* Words of a scenario, each with its place, and what is taken from them.
 *
 * A line is words between blanks; "double quotes" hold blanks together, '#' starts a remark. A
 * cursor walks over one line's words; each of its functions takes what it says, or fills the error
 * with the place, what was expected there and, where there is a choice of words, the nearest one.
 */
#ifndef WEFT_EXPERIMENT_WORDS_H
#define WEFT_EXPERIMENT_WORDS_H

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum { WORDS_PER_LINE = 64 };

struct word {
    const char *text; /* NULL: there is none */
    unsigned line, column;
};

struct cursor {
    const char *file;
    struct err *err;
    struct word words[WORDS_PER_LINE];
    unsigned count, at;
    struct word end; /* where the line ends */
};

/* Splits a line (without its end). Texts are copied to the arena. */
int cursor_start(struct cursor *cursor, const char *file, unsigned line, const char *text,
                 size_t length, struct arena *arena, struct err *err);

/* "FILE:LINE:COLUMN: message"; -EINVAL. */
int word_error(const struct cursor *cursor, const struct word *word, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "'WORD' is no WHAT: expected A, B or C; did you mean 'B'?" `names` may be NULL. */
int word_unknown(const struct cursor *cursor, const struct word *word, const char *what,
                 const char *const *names, size_t count);

/* The next word, if it is this one. */
bool cursor_accept(struct cursor *cursor, const char *text);
bool cursor_is_done(const struct cursor *cursor);

/* 0, or an error when the next word is missing or is something else. */
int cursor_take(struct cursor *cursor, const char *what, struct word *word);
int cursor_take_exact(struct cursor *cursor, const char *text);
int cursor_take_choice(struct cursor *cursor, const char *what, const char *const *names,
                       size_t count, unsigned *index);
int cursor_take_time(struct cursor *cursor, uint64_t *ps);
int cursor_take_number(struct cursor *cursor, const char *what, uint64_t low, uint64_t high,
                       uint64_t *number);
int cursor_take_percent(struct cursor *cursor, uint64_t *parts); /* of 2^32 */
int cursor_take_end(struct cursor *cursor);

/* A number from above 0 up to `high`, decimals allowed ("20e3", "0.75"). */
int cursor_take_decimal(struct cursor *cursor, const char *what, double high, double *value);

/* A decimal or 0x… number; false if the text is anything else. */
bool parse_number(const char *text, uint64_t *number);
/* Digits, a point, an exponent: "0.5", "20e3"; no sign. What stands behind it (a unit, or "") goes
 * to `rest`. */
bool parse_decimal(const char *text, double *value, const char **rest);
bool parse_percent(const char *text, uint64_t *parts); /* "5%", in parts of 2^32 */

#endif
