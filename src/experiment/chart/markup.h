/* Text from anywhere, made fit for HTML, XHTML and SVG. */
#ifndef WEFT_EXPERIMENT_CHART_MARKUP_H
#define WEFT_EXPERIMENT_CHART_MARKUP_H

#include "base/text.h"

/* Appends a text so that it can be nothing but text, in elements and in attributes: the five
 * characters of XML become references; what is no UTF-8, and what XML forbids (control characters,
 * U+FFFE and U+FFFF), becomes U+FFFD. */
void markup_put(struct text *out, const char *text);
/* The same, at most `most` characters of it, with an ellipsis where that cuts. */
void markup_put_short(struct text *out, const char *text, size_t most);
/* In characters, not bytes. */
size_t markup_length(const char *text);

#endif
