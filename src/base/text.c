/* Appending to strings: formatting, UTF-8 widths for terminals, and escaping for markup, the shell
 * and JSON (RFC 8259). Invalid UTF-8 is replaced in markup and JSON, since names may come from the
 * wire. */
#include "base/text.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

static void text_reserve(struct text *text, size_t more)
{
    text->data = mem_reserve(text->data, &text->capacity, text->length + more + 1, 1);
}

void text_append(struct text *text, const char *bytes, size_t count)
{
    assert(bytes || !count);
    text_reserve(text, count);
    memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = '\0';
}

void text_puts(struct text *text, const char *string)
{
    text_append(text, string, strlen(string));
}

void text_putc(struct text *text, char c)
{
    text_append(text, &c, 1);
}

void text_vprintf(struct text *text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    text_reserve(text, 128);
    size_t room = text->capacity - text->length;
    int wanted = vsnprintf(text->data + text->length, room, format, arguments);
    assert(wanted >= 0);
    if (wanted >= 0 && (size_t)wanted >= room) {
        text_reserve(text, (size_t)wanted);
        vsnprintf(text->data + text->length, (size_t)wanted + 1, format, again);
    }
    va_end(again);
    if (wanted > 0)
        text->length += (size_t)wanted;
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(text, format, arguments);
    va_end(arguments);
}

int text_read(struct text *text, FILE *file, size_t limit)
{
    char chunk[65536];
    size_t got;
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0) {
        if (text->length + got > limit)
            return -EFBIG;
        text_append(text, chunk, got);
    }
    if (ferror(file))
        return errno ? -errno : -EIO;
    text_append(text, "", 0);
    return 0;
}

static bool starts_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80; /* not a continuation byte of UTF-8 */
}

/* RFC 3629: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
size_t text_utf8_length(const char *at)
{
    const unsigned char *s = (const unsigned char *)at;
    if (s[0] < 0x80)
        return 1;
    size_t length = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool bad = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
               (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f);
    return bad ? 0 : length;
}

/* The code point of a valid sequence of at most three bytes. */
static unsigned code_point(const char *at, size_t length)
{
    const unsigned char *s = (const unsigned char *)at;
    return length == 1   ? s[0]
           : length == 2 ? (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu)
                         : (s[0] & 0xfu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
}

size_t text_shown_length_of_other(const char *at)
{
    size_t length = text_utf8_length(at);
    if (length == 0 || length > 3)
        return length;
    unsigned code = code_point(at, length);
    bool obeyed = code < 0xa0 || code == 0x61c || code == 0x200e || code == 0x200f ||
                  (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return obeyed ? 0 : length;
}

void text_make_shown(char *string)
{
    while (text_is_plain(*string)) /* all of most names */
        string++;
    char *to = string;
    for (size_t length; *string; string += length) {
        length = text_shown_length(string);
        if (length) {
            memmove(to, string, length);
            to += length;
            continue;
        }
        *to++ = '?';
        length = text_utf8_length(string);
        length += !length;
    }
    *to = 0;
}

void text_put_shown(struct text *text, const char *string)
{
    for (size_t length; *string; string += length) {
        length = *string == '\n' || *string == '\t' ? 1 : text_shown_length(string);
        if (length) {
            text_append(text, string, length);
            continue;
        }
        length = text_utf8_length(string);
        if (length > 1)
            text_printf(text, "\\u%04x", code_point(string, length));
        else
            text_printf(text, "\\x%02x", (unsigned char)*string);
        length += !length;
    }
}

size_t text_width(const char *string)
{
    size_t width = 0;
    for (; *string; string++)
        width += starts_character(*string);
    return width;
}

size_t text_fit(const char *string, size_t width)
{
    size_t best = 0, at = 0, length = 0;
    for (; string[at]; at++) {
        if (string[at] == ' ')
            best = at;
        if (starts_character(string[at]) && length++ == width)
            return best ? best : at;
    }
    return at;
}

void text_put_padded(struct text *text, const char *string, size_t width, bool in_front)
{
    size_t own = text_width(string);
    int blanks = own < width ? (int)(width - own) : 0;
    text_printf(text, "%*s%s%*s", in_front ? blanks : 0, "", string, in_front ? 0 : blanks, "");
}

/* The number of bytes of the first `most` characters. */
static size_t skip_characters(const char *string, size_t most)
{
    size_t at = 0;
    for (size_t bytes; string[at] && most > 0; most--) {
        bytes = text_utf8_length(string + at);
        at += bytes ? bytes : 1;
    }
    return at;
}

void text_put_markup(struct text *text, const char *string)
{
    static const char special[] = "&<>\"'";
    static const char *const references[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t bytes; *string; string += bytes ? bytes : 1) {
        const char *reference = strchr(special, *string);
        bytes = text_utf8_length(string);
        bool forbidden = (!text_shown_length(string) && *string != '\n' && *string != '\t') ||
                         strncmp(string, "\xef\xbf\xbe", 3) == 0 ||
                         strncmp(string, "\xef\xbf\xbf", 3) == 0;
        if (forbidden)
            text_puts(text, "\xef\xbf\xbd");
        else if (reference)
            text_puts(text, references[reference - special]);
        else
            text_append(text, string, bytes);
    }
}

void text_put_shortened(struct text *text, const char *string, size_t most)
{
    assert(most > 0);
    size_t length = 0;
    for (size_t at = 0; string[at]; at += skip_characters(string + at, 1))
        length++;
    if (length <= most) {
        text_puts(text, string);
        return;
    }
    size_t tail = (most - 1) / 2;
    text_append(text, string, skip_characters(string, most - 1 - tail));
    text_puts(text, "…");
    text_puts(text, string + skip_characters(string, length - tail));
}

void text_put_wrapped(struct text *text, unsigned indent, const char *format, ...)
{
    enum { COLUMNS = 80 };
    assert(indent < COLUMNS);
    struct text all = {0};
    text_put_arguments(&all, format);
    for (const char *rest = all.data;;) {
        size_t bytes = text_fit(rest, COLUMNS - indent);
        if (rest[bytes] != ' ')
            bytes += strcspn(rest + bytes, " ");
        text_append(text, rest, bytes);
        text_putc(text, '\n');
        if (!rest[bytes])
            break;
        text_printf(text, "%*s", (int)indent, "");
        rest += bytes + 1;
    }
    text_release(&all);
}

void text_put_shell_word(struct text *text, const char *word)
{
    if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789_-+=.,:/@%")]) {
        text_puts(text, word);
        return;
    }
    text_putc(text, '\'');
    for (; *word; word++)
        if (*word == '\'')
            text_puts(text, "'\\''");
        else
            text_putc(text, *word);
    text_putc(text, '\'');
}

void text_clear(struct text *text)
{
    text->length = 0;
    if (text->data)
        text->data[0] = '\0';
}

void text_release(struct text *text)
{
    mem_free(text->data);
    *text = (struct text){0};
}

/* Bytes that are not UTF-8, which JSON forbids, become U+FFFD. What a terminal obeys is escaped,
 * because JSON gets to terminals, too. */
static void json_escape(struct text *out, const char *value)
{
    text_putc(out, '"');
    for (size_t length; *value; value += length ? length : 1) {
        unsigned char c = (unsigned char)*value;
        length = text_utf8_length(value);
        if (!length)
            text_puts(out, "\\ufffd");
        else if (c == '"' || c == '\\')
            text_printf(out, "\\%c", c);
        else if (!text_shown_length(value))
            text_printf(out, "\\u%04x", code_point(value, length));
        else
            text_append(out, value, length);
    }
    text_putc(out, '"');
}

/* Writes what precedes a value: comma, line break, key. */
static void json_lead(struct json *json, const char *key)
{
    if (json->comma)
        text_putc(json->out, ',');
    if (json->pretty && json->depth)
        text_printf(json->out, "\n%*s", (int)json->depth * 2, "");
    json->comma = true;
    if (key) {
        json_escape(json->out, key);
        text_puts(json->out, json->pretty ? ": " : ":");
    }
}

void json_open(struct json *json, const char *key, char bracket)
{
    json_lead(json, key);
    text_putc(json->out, bracket);
    json->depth++;
    json->comma = false;
}

void json_close(struct json *json, char bracket)
{
    bool filled = json->comma;
    assert(json->depth > 0);
    json->depth--;
    if (filled && json->pretty)
        text_printf(json->out, "\n%*s", (int)json->depth * 2, "");
    text_putc(json->out, bracket);
    json->comma = true;
    if (!json->depth)
        text_putc(json->out, '\n');
}

void json_string(struct json *json, const char *key, const char *value)
{
    json_lead(json, key);
    if (value)
        json_escape(json->out, value);
    else
        text_puts(json->out, "null");
}

void json_stringf(struct json *json, const char *key, const char *format, ...)
{
    struct text value = {0};
    text_put_arguments(&value, format);
    json_string(json, key, value.data);
    text_release(&value);
}

void json_number(struct json *json, const char *key, int64_t value)
{
    json_lead(json, key);
    text_printf(json->out, "%lld", (long long)value);
}

void json_unsigned(struct json *json, const char *key, uint64_t value)
{
    json_lead(json, key);
    text_printf(json->out, "%llu", (unsigned long long)value);
}

void json_double(struct json *json, const char *key, double value)
{
    json_lead(json, key);
    if (isfinite(value))
        text_printf(json->out, "%.9g", value);
    else
        text_puts(json->out, "null");
}

void json_bool(struct json *json, const char *key, bool value)
{
    json_lead(json, key);
    text_puts(json->out, value ? "true" : "false");
}

void json_null(struct json *json, const char *key)
{
    json_lead(json, key);
    text_puts(json->out, "null");
}

void json_base64(struct json *json, const char *key, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    json_lead(json, key);
    text_putc(json->out, '"');
    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        uint32_t bits = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                        (left > 2 ? bytes[i + 2] : 0);
        char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                        left > 1 ? digits[bits >> 6 & 63] : '=',
                        left > 2 ? digits[bits & 63] : '='};
        text_append(json->out, four, 4);
    }
    text_putc(json->out, '"');
}

void json_raw(struct json *json, const char *key, const char *value)
{
    size_t length = strlen(value);
    json_lead(json, key);
    text_append(json->out, value, length - (length && value[length - 1] == '\n'));
}
