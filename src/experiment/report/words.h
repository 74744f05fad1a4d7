/* Names of figures and parameters in words. */
#ifndef WEFT_EXPERIMENT_REPORT_WORDS_H
#define WEFT_EXPERIMENT_REPORT_WORDS_H

#include "base/text.h"

void report_words(const char *name, struct text *out);

#endif
