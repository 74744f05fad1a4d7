/* Escapes text for HTML, XHTML and SVG. */
#ifndef WEFT_EXPERIMENT_CHART_MARKUP_H
#define WEFT_EXPERIMENT_CHART_MARKUP_H

#include "base/text.h"

/* Appends escaped text, for elements and attributes. The five special characters of XML become
 * references; invalid UTF-8 and characters that XML forbids become U+FFFD. */
void markup_put(struct text *out, const char *text);
/* The same, with an ellipsis in the middle of texts of more than `most` characters. */
void markup_put_short(struct text *out, const char *text, size_t most);
/* The length in characters. */
size_t markup_length(const char *text);

#endif
