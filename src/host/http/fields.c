/* Splits and percent-decodes queries and forms in place, without allocation. Bad encodings are
 * refused, as is an encoded NUL, which would cut a value short. */
#include "host/http/fields.h"

#include <string.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool http_decode(char *text, bool form)
{
    char *out = text;
    for (const char *at = text; *at; at++) {
        if (*at == '%') {
            int high = hex_digit(at[1]), low = high < 0 ? -1 : hex_digit(at[2]);
            if (low < 0 || (high == 0 && low == 0))
                return false;
            *out++ = (char)(high << 4 | low);
            at += 2;
        } else {
            *out++ = form && *at == '+' ? ' ' : *at;
        }
    }
    *out = 0;
    return true;
}

bool http_fields_add(struct http_fields *fields, char *text)
{
    char *rest = text, *pair;
    while ((pair = strsep(&rest, "&"))) {
        char *value = pair, *name = strsep(&value, "=");
        if (!*pair && !value)
            continue;
        if (!value)
            value = strchr(name, 0);
        if (fields->count == HTTP_FIELDS_MOST || !http_decode(name, true) ||
            !http_decode(value, true))
            return false;
        fields->items[fields->count++] = (struct http_field){name, value};
    }
    return true;
}

const char *http_fields_get(const struct http_fields *fields, const char *name)
{
    for (size_t i = 0; i < fields->count; i++)
        if (strcmp(fields->items[i].name, name) == 0)
            return fields->items[i].value;
    return NULL;
}
