/* The parameters of a request: a query or a form, NAME=VALUE pairs joined by "&" and
 * percent-encoded (application/x-www-form-urlencoded). */
#ifndef WEFT_HOST_HTTP_FIELDS_H
#define WEFT_HOST_HTTP_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

enum { HTTP_FIELDS_MOST = 64 };

struct http_fields {
    struct http_field {
        const char *name, *value;
    } items[HTTP_FIELDS_MOST];
    size_t count;
};

/* Adds the pairs in `text`, which it decodes in place; the fields point into it. Returns false if
 * the text is malformed, contains an encoded NUL, or has too many pairs. */
bool http_fields_add(struct http_fields *fields, char *text);
const char *http_fields_get(const struct http_fields *fields, const char *name);

/* Decodes %XX in place, and "+" as a blank in forms. Returns false for a malformed or a NUL byte.
 */
bool http_decode(char *text, bool form);

#endif
