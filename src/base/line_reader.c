/* The lexer of line-based formats: splits a text into lines and these into words, converts words to
 * values, and makes the errors about them. What the words mean is left to the parser of each
 * format. */
#include "base/line_reader.h"

#include "base/file.h"
#include "base/parse.h"
#include "base/time.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* ---- lines ---- */

/* After the last line. Returns false. */
static bool finish_reading(struct line_reader *reader)
{
    text_release(&reader->content);
    text_release(&reader->buffer);
    reader->length = 0;
    return false;
}

bool line_reader_next_line(struct line_reader *reader)
{
    assert(reader->file && (reader->text || !reader->length));
    if (reader->is_file) {
        enum { LIMIT = 64 << 20 };
        size_t limit = reader->limit ? reader->limit : LIMIT;
        reader->status = file_read(reader->file, limit, &reader->content, reader->err);
        reader->is_file = false;
        if (strcmp(reader->file, "-") == 0)
            reader->file = "standard input";
        reader->text = reader->content.data;
        reader->length = reader->content.length;
    }
    if (reader->status || reader->length == 0)
        return finish_reading(reader);
    const char *newline = memchr(reader->text, '\n', reader->length);
    size_t length = newline ? (size_t)(newline - reader->text) : reader->length;
    reader->line = reader->text;
    reader->number++;
    reader->text += length + (newline != NULL);
    reader->length -= length + (newline != NULL);
    length -= length && reader->line[length - 1] == '\r';
    reader->line_length = length;
    text_clear(&reader->buffer);
    text_append(&reader->buffer, reader->line, length);
    reader->copy = reader->buffer.data;
    return true;
}

int line_reader_error(struct line_reader *reader, const char *format, ...)
{
    struct err reason = {0};
    text_print_arguments(reason.message, sizeof reason.message, format);
    reader->status =
        err_at(reader->err, EINVAL, reader->file, reader->number, "%s", reason.message);
    return reader->status;
}

int line_reader_take(struct line_reader *reader, int status)
{
    if (status && reader->err && !reader->err->file[0]) {
        struct err reason = *reader->err;
        err_at(reader->err, -status, reader->file, reader->number, "%s", reason.message);
    }
    reader->status = status;
    return status;
}

/* Takes the word at `*at` of the line. In the copy, a NUL replaces the character behind the
 * word. */
static int split_word(struct line_reader *reader, struct cursor *cursor, char *copy, size_t *at)
{
    const char *line = reader->line;
    size_t length = reader->line_length;
    assert(*at < length);
    bool quoted = line[*at] == '"';
    size_t start = *at + quoted, end = start;
    struct word word = {copy + start, cursor->end.line, (unsigned)*at + 1};
    while (end < length && (quoted ? line[end] != '"' : !strchr(" \t\r#\"", line[end])))
        end++;
    if (quoted && end == length)
        return word_error(cursor, &word, "these quotes do not end");
    if (cursor->count == WORDS_PER_LINE)
        return word_error(cursor, &word, "more than %d words in a line", WORDS_PER_LINE);
    copy[end] = 0;
    reader->words[cursor->count++] = word;
    *at = end + quoted;
    return 0;
}

static int split_line(struct line_reader *reader, struct cursor *cursor, char *copy)
{
    const char *line = reader->line;
    size_t length = reader->line_length, at = 0;
    int status = 0;
    *cursor = (struct cursor){.file = reader->file,
                              .err = reader->err,
                              .arena = reader->arena,
                              .words = reader->words,
                              .end = {.line = reader->number}};
    while (status == 0) {
        while (at < length && strchr(" \t\r", line[at]) && line[at])
            at++;
        if (at == length || line[at] == '#')
            break;
        cursor->end.column = (unsigned)at + 1;
        if ((unsigned char)line[at] < ' ' || line[at] == 127)
            return word_error(cursor, &cursor->end, "a control character (0x%02x)",
                              (unsigned char)line[at]);
        status = split_word(reader, cursor, copy, &at);
        cursor->end.column = (unsigned)at + 1;
    }
    return status;
}

bool line_reader_next(struct line_reader *reader, struct cursor *cursor)
{
    while (line_reader_next_line(reader)) {
        char *copy = reader->arena ? arena_strndup(reader->arena, reader->copy, reader->line_length)
                                   : reader->copy;
        reader->status = split_line(reader, cursor, copy);
        if (reader->status)
            return finish_reading(reader);
        if (cursor->count)
            return true;
    }
    return false;
}

/* ---- errors ---- */

int word_error(struct cursor *cursor, const struct word *word, const char *format, ...)
{
    struct err reason = {0};
    if (cursor->status)
        return cursor->status;
    text_print_arguments(reason.message, sizeof reason.message, format);
    cursor->status = err_at_column(cursor->err, EINVAL, cursor->file, word->line, word->column,
                                   "%s", reason.message);
    return cursor->status;
}

static void list_names(struct text *out, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_printf(out, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", names[i]);
}

int word_unknown(struct cursor *cursor, const struct word *word, const char *what,
                 const char *const *names, size_t count)
{
    enum { LISTED = 12 }; /* longer lists are not useful */
    struct text message = {0};
    const char *near = count ? nearest_word(word->text, names, count) : NULL;
    text_printf(&message, "'%.80s' is not %s %s", word->text, strchr("aeio", *what) ? "an" : "a",
                what);
    if (count && count <= LISTED) {
        text_puts(&message, ": expected ");
        list_names(&message, names, count);
    }
    if (near)
        text_printf(&message, "; did you mean '%.80s'?", near);
    int status = word_error(cursor, word, "%s", message.data);
    text_release(&message);
    return status;
}

/* ---- words ---- */

bool cursor_is_done(const struct cursor *cursor)
{
    assert(cursor->at <= cursor->count);
    return cursor->status || cursor->at == cursor->count;
}

struct word cursor_next(const struct cursor *cursor)
{
    return cursor_is_done(cursor) ? cursor->end : cursor->words[cursor->at];
}

bool cursor_accept(struct cursor *cursor, const char *text)
{
    if (cursor_is_done(cursor) || strcmp(cursor->words[cursor->at].text, text) != 0)
        return false;
    cursor->at++;
    return true;
}

int cursor_take(struct cursor *cursor, const char *what, struct word *word)
{
    if (cursor_is_done(cursor)) {
        *word = (struct word){"", cursor->end.line, cursor->end.column};
        return word_error(cursor, word, "the line ends here: expected %s", what);
    }
    *word = cursor->words[cursor->at++];
    return 0;
}

int cursor_take_exact(struct cursor *cursor, const char *text)
{
    struct word word;
    int status = cursor_take(cursor, text, &word);
    if (status == 0 && strcmp(word.text, text) != 0)
        return word_error(cursor, &word, "'%.80s': expected %s", word.text, text);
    return status;
}

int cursor_take_choice(struct cursor *cursor, const char *what, const char *const *names,
                       size_t count, unsigned *index)
{
    struct word word;
    *index = 0;
    if (cursor_is_done(cursor)) {
        struct text list = {0};
        list_names(&list, names, count);
        int status = word_error(cursor, &cursor->end, "the line ends here: expected %s", list.data);
        text_release(&list);
        return status;
    }
    word = cursor->words[cursor->at++];
    for (unsigned i = 0; i < count; i++)
        if (strcmp(word.text, names[i]) == 0) {
            *index = i;
            return 0;
        }
    return word_unknown(cursor, &word, what, names, count);
}

int cursor_take_time(struct cursor *cursor, uint64_t *ps)
{
    struct word word;
    int status = cursor_take(cursor, "a time such as 60.1s or 5ms", &word);
    *ps = 0;
    if (status == 0 && !time_parse(word.text, ps))
        return word_error(cursor, &word,
                          "'%.80s' is not a time: expected a number with ps, ns, us, ms or s, "
                          "such as 60.1s",
                          word.text);
    return status;
}

int cursor_take_number(struct cursor *cursor, const char *what, uint64_t low, uint64_t high,
                       uint64_t *number)
{
    struct word word;
    int status = cursor_take(cursor, what, &word);
    *number = 0;
    if (status == 0 && !parse_bounded(word.text, low, high, number))
        return word_error(cursor, &word, "'%.80s': expected %s from %llu to %llu", word.text, what,
                          (unsigned long long)low, (unsigned long long)high);
    return status;
}

int cursor_take_decimal(struct cursor *cursor, const char *what, double high, double *value)
{
    struct word word;
    const char *rest;
    int status = cursor_take(cursor, what, &word);
    *value = 0;
    if (status == 0 &&
        (!parse_decimal(word.text, value, &rest) || *rest || *value <= 0 || *value > high))
        return word_error(cursor, &word, "'%.80s': expected %s above 0 and up to %g", word.text,
                          what, high);
    return status;
}

int cursor_take_percent(struct cursor *cursor, uint64_t *parts)
{
    struct word word;
    int status = cursor_take(cursor, "a percentage such as 5% or 0.25%", &word);
    *parts = 0;
    if (status == 0 && !parse_percent(word.text, parts))
        return word_error(cursor, &word,
                          "'%.80s' is not a percentage: expected 0%% to 100%%, such as 0.25%%",
                          word.text);
    return status;
}

int cursor_take_end(struct cursor *cursor)
{
    if (cursor_is_done(cursor))
        return cursor->status;
    const struct word *word = &cursor->words[cursor->at];
    return word_error(cursor, word, "unexpected '%.80s' at the end of the line", word->text);
}
