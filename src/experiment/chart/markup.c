#include "experiment/chart/markup.h"

/* The length of the UTF-8 character at `at`; 0 if it is invalid, or forbidden in XML. */
static unsigned character_bytes(const unsigned char *at)
{
    static const struct {
        unsigned char mask, lead, bytes;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 1, 0},
                 {0xe0, 0xc0, 2, 0x80},
                 {0xf0, 0xe0, 3, 0x800},
                 {0xf8, 0xf0, 4, 0x10000}};
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        if ((at[0] & forms[f].mask) != forms[f].lead)
            continue;
        uint32_t code = at[0] & (unsigned char)~forms[f].mask;
        for (unsigned i = 1; i < forms[f].bytes; i++) {
            if ((at[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (at[i] & 0x3f);
        }
        bool forbidden = code < forms[f].least || code > 0x10ffff ||
                         (code >= 0xd800 && code <= 0xdfff) || code == 0xfffe || code == 0xffff ||
                         (code < 0x20 && code != '\n' && code != '\t') ||
                         (code >= 0x7f && code < 0xa0);
        return forbidden ? 0 : forms[f].bytes;
    }
    return 0;
}

static void put_character(struct text *out, const char *at, unsigned bytes)
{
    static const char replacement[] = "\xef\xbf\xbd";
    if (bytes == 0)
        text_puts(out, replacement);
    else if (*at == '&')
        text_puts(out, "&amp;");
    else if (*at == '<')
        text_puts(out, "&lt;");
    else if (*at == '>')
        text_puts(out, "&gt;");
    else if (*at == '"')
        text_puts(out, "&quot;");
    else if (*at == '\'')
        text_puts(out, "&#39;");
    else
        text_append(out, at, bytes);
}

void markup_put(struct text *out, const char *text)
{
    for (unsigned bytes; *text; text += bytes ? bytes : 1) {
        bytes = character_bytes((const unsigned char *)text);
        put_character(out, text, bytes);
    }
}
