/* A growing string, and JSON written into one. */
#ifndef WEFT_BASE_TEXT_H
#define WEFT_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct text {
    char *data; /* NUL-terminated once anything was appended */
    size_t length, capacity;
};

void text_append(struct text *text, const char *bytes, size_t count);
void text_puts(struct text *text, const char *string);
void text_putc(struct text *text, char c);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
/* For a function with variable arguments: appends those behind `format`, or prints them to a
 * buffer. */
#define text_put_arguments(text, format)                                                           \
    do {                                                                                           \
        va_list arguments_;                                                                        \
        va_start(arguments_, format);                                                              \
        text_vprintf(text, format, arguments_);                                                    \
        va_end(arguments_);                                                                        \
    } while (0)
#define text_print_arguments(buffer, size, format)                                                 \
    do {                                                                                           \
        va_list arguments_;                                                                        \
        va_start(arguments_, format);                                                              \
        vsnprintf(buffer, size, format, arguments_);                                               \
        va_end(arguments_);                                                                        \
    } while (0)
/* Reads the whole of a file; 0 or -errno (-EFBIG above `limit` bytes). */
int text_read(struct text *text, FILE *file, size_t limit);
/* The length of the UTF-8 sequence at `at`, which a NUL ends; 0 if it is invalid. */
size_t text_utf8_length(const char *at);
/* Names come from files and from the fabric, and may contain anything. The length of the character
 * at `at` if a terminal shows it; 0 for what a terminal obeys (control characters, and marks that
 * change the direction of text) and for invalid UTF-8. */
size_t text_shown_length_of_other(const char *at); /* than printable ASCII */
static inline bool text_is_plain(char c)
{
    return c >= ' ' && c < 0x7f;
}
static inline size_t text_shown_length(const char *at)
{
    return text_is_plain(*at) ? 1 : text_shown_length_of_other(at);
}
/* Replaces each character or byte that is not shown by "?", in place. */
void text_make_shown(char *string);
/* Escapes what is not shown, except line feeds and tabs: \x1b for a byte, \u202e for a character.
 */
void text_put_shown(struct text *text, const char *string);
/* For terminals: widths are in UTF-8 characters, not bytes. text_fit() returns how many bytes of a
 * string fit into a line of that width, cut between words where possible. */
size_t text_fit(const char *string, size_t width);
size_t text_width(const char *string);
/* Pads with blanks to that width, in front or behind. */
void text_put_padded(struct text *text, const char *string, size_t width, bool in_front);
/* At most `most` characters: longer names lose their middle, which an ellipsis replaces, since
 * names of hosts and switches often differ at the end. Invalid bytes count as one character each.
 */
void text_put_shortened(struct text *text, const char *string, size_t most);
/* Lines of at most 80 characters that begin at column `indent`, where the text ends now. Longer
 * words are not split. */
void text_put_wrapped(struct text *text, unsigned indent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Text of elements and attributes of HTML, XHTML and SVG. The special characters of XML become
 * references; what is not shown and characters that XML forbids become U+FFFD. */
void text_put_markup(struct text *text, const char *string);
/* A word for the shell, quoted if necessary. */
void text_put_shell_word(struct text *text, const char *word);
void text_clear(struct text *text);
void text_release(struct text *text);

/* JSON writer. It writes commas and indentation; keys are NULL inside arrays. */
struct json {
    struct text *out;
    unsigned depth;
    bool comma;  /* something was written at this depth */
    bool pretty; /* two-space indentation */
};
#define json_begin_object(json, key) json_open(json, key, '{')
#define json_begin_array(json, key)  json_open(json, key, '[')
#define json_end_object(json)        json_close(json, '}')
#define json_end_array(json)         json_close(json, ']')
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
void json_string(struct json *json, const char *key, const char *value); /* NULL: null */
void json_stringf(struct json *json, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void json_number(struct json *json, const char *key, int64_t value);
void json_unsigned(struct json *json, const char *key, uint64_t value);
void json_double(struct json *json, const char *key, double value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);
void json_base64(struct json *json, const char *key, const uint8_t *bytes, size_t count);
/* A value that is JSON already. */
void json_raw(struct json *json, const char *key, const char *value);

#endif
