/* Checks that markup is well-formed, as far as weft writes it: nested tags, attributes in double
 * quotes, named references, CDATA sections, no control characters. */
#ifndef WEFT_TESTS_MARKUP_CHECK_H
#define WEFT_TESTS_MARKUP_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MARKUP_DEPTH = 64, MARKUP_NAME = 32 };

static inline const char *markup_check_reference(const char *at)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strncmp(at, known[i], strlen(known[i])) == 0)
            return at + strlen(known[i]);
    size_t length = strspn(at + 2, "0123456789abcdefx");
    return at[1] == '#' && length && at[2 + length] == ';' ? at + length + 3 : NULL;
}

/* The end of the attributes of a tag, at '/' or '>'; NULL if they are malformed. */
static inline const char *markup_check_attributes(const char *at)
{
    for (;;) {
        at += strspn(at, " \n");
        if (*at == '>' || *at == '/')
            return at;
        size_t name = strcspn(at, "= >\"'<");
        if (name == 0 || at[name] != '=' || at[name + 1] != '"')
            return NULL;
        at += name + 2;
        while (*at && *at != '"') {
            if (*at == '<')
                return NULL;
            at = *at == '&' ? markup_check_reference(at) : at + 1;
            if (!at)
                return NULL;
        }
        if (*at++ != '"')
            return NULL;
    }
}

static inline bool markup_complain(const char *what, const char *at)
{
    fprintf(stderr, "not well-formed: %s at: %.60s\n", what, at);
    return false;
}

static inline bool markup_is_well_formed(const char *text)
{
    char open[MARKUP_DEPTH][MARKUP_NAME];
    unsigned depth = 0;
    const char *at = text;
    if (strncmp(at, "<!DOCTYPE html>", 15) == 0)
        at += 15;
    while (*at) {
        const char *from = at;
        if (*at == '&') {
            if (!(at = markup_check_reference(at)))
                return markup_complain("reference", from);
        } else if (*at != '<') {
            if ((unsigned char)*at < 0x20 && *at != '\n' && *at != '\t')
                return markup_complain("control character", from);
            at++;
        } else if (strncmp(at, "<![CDATA[", 9) == 0) {
            if (!(at = strstr(at, "]]>")))
                return markup_complain("CDATA", from);
            at += 3;
        } else if (at[1] == '/') {
            size_t length = strcspn(at + 2, ">");
            if (depth == 0 || strlen(open[depth - 1]) != length ||
                strncmp(open[depth - 1], at + 2, length) != 0)
                return markup_complain("closing tag", from);
            depth--;
            at += length + 3;
        } else {
            size_t length = strcspn(at + 1, " />\n");
            if (length == 0 || length >= MARKUP_NAME || depth == MARKUP_DEPTH)
                return markup_complain("tag", from);
            snprintf(open[depth], MARKUP_NAME, "%.*s", (int)length, at + 1);
            at = markup_check_attributes(at + 1 + length);
            if (!at)
                return markup_complain("attributes", from);
            depth += *at == '>';
            at += *at == '/' ? 2 : 1;
            if (at[-1] != '>')
                return markup_complain("end of tag", from);
        }
    }
    return depth == 0 ? true : markup_complain("never closed", open[depth - 1]);
}

#endif
