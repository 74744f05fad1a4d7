/* The reader of line-based text, for all file formats with one statement per line.
 *
 * A line is words separated by whitespace. "Double quotes" keep whitespace (and '#') inside a word,
 * '#' starts a comment. A `struct line_reader` walks over the lines of a text; a `struct cursor`
 * walks over the words of one line. Each cursor_take function takes and converts the next word. If
 * it fails, the error has file, line and column, the expected word and, for a choice of words, the
 * nearest one. After the first error of a line a cursor takes nothing more: words are empty,
 * numbers 0, and every function returns that error. A statement can therefore be read without
 * checks up to cursor_take_end(), which returns the status of the line.
 *
 *     while (line_reader_next(reader, &cursor))
 *         reader->status = read_statement(&cursor);
 *     return reader->status;
 *
 * The caller of a parser selects the source: from_file(path, err) or from_text(name, string, err).
 * The reader frees its memory after the last line, so all lines must be read, as above. Formats
 * that do not consist of words use line_reader_next_line(). */
#ifndef WEFT_BASE_LINE_READER_H
#define WEFT_BASE_LINE_READER_H

#include "base/err.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/text.h"

#include <string.h>

enum { WORDS_PER_LINE = 512 /* at most */ };

struct word {
    const char *text; /* NULL: no word */
    unsigned line, column;
};

struct cursor {
    const char *file;
    struct err *err;
    struct arena *arena; /* of the reader, or NULL */
    const struct word *words;
    unsigned count, at;
    struct word end; /* where the line ends */
    int status;      /* the first error, or 0 */
};

/* ---- lines ---- */

struct line_reader {
    const char *file;    /* for errors */
    const char *text;    /* where the next line begins */
    size_t length;       /* bytes that are left of the text */
    bool is_file;        /* the text is still to be read from `file`; "-" is standard input */
    size_t limit;        /* bytes of a file, at most; 0: 64 MiB */
    struct arena *arena; /* owns the words; NULL: they are valid until the next line is read */
    struct err *err;
    int status;       /* negative after an error: no more lines are read */
    unsigned number;  /* of the current line, counted from 1 */
    const char *line; /* the current line as written, without "\n" or "\r\n" */
    size_t line_length;
    char *copy; /* the current line, NUL-terminated; may be written to */
    struct text buffer, content;
    struct word words[WORDS_PER_LINE]; /* of the current line */
};

#define from_file(path, error)                                                                     \
    (&(struct line_reader){.file = (path), .is_file = true, .err = (error)})
#define from_text(name, string, error) from_bytes(name, string, strlen(string), error)
#define from_bytes(name, bytes, count, error)                                                      \
    (&(struct line_reader){.file = (name), .text = (bytes), .length = (count), .err = (error)})

/* Reads the next line with words and splits it. False at the end of the text, or after an error
 * (reader->status). */
bool line_reader_next(struct line_reader *reader, struct cursor *cursor);
/* Reads the next line, empty ones and comments included. */
bool line_reader_next_line(struct line_reader *reader);
/* Sets the error and the reader's status: "FILE:LINE: message"; -EINVAL. */
int line_reader_error(struct line_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Sets the reader's status. An error without a file gets the current file and line. */
int line_reader_take(struct line_reader *reader, int status);

/* ---- errors about words ---- */

/* "FILE:LINE:COLUMN: message", unless there was an error before; -EINVAL. */
int word_error(struct cursor *cursor, const struct word *word, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "'WORD' is not a WHAT: expected A, B or C; did you mean 'B'?" `names` may be NULL. */
int word_unknown(struct cursor *cursor, const struct word *word, const char *what,
                 const char *const *names, size_t count);

/* ---- the words of a line ---- */

/* Takes the next word if it equals `text`. */
bool cursor_accept(struct cursor *cursor, const char *text);
bool cursor_is_done(const struct cursor *cursor);
/* The next word, which is not taken; the end of the line if there is none. */
struct word cursor_next(const struct cursor *cursor);

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

#endif
