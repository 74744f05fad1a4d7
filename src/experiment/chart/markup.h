/* Escapes text for HTML and XHTML. */
#ifndef WEFT_EXPERIMENT_CHART_MARKUP_H
#define WEFT_EXPERIMENT_CHART_MARKUP_H

#include "base/text.h"

/* Appends escaped text, for elements and attributes. The five special characters of XML become
 * references; invalid UTF-8 and characters that XML forbids become U+FFFD. */
void markup_put(struct text *out, const char *text);

#endif
