/* Runs programs that draw, such as gnuplot and rsvg-convert. */
#ifndef WEFT_EXPERIMENT_CHART_PROGRAM_H
#define WEFT_EXPERIMENT_CHART_PROGRAM_H

#include "base/err.h"
#include "base/text.h"

/* Passes a text to a program and appends what it prints. The error of a program that is not
 * installed names the Debian package; that of one that fails has its first line on standard error.
 */
int program_filter(const char *const argv[], const char *package, const struct text *input,
                   struct text *output, struct err *err);

#endif
