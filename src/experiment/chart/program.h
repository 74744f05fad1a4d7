/* Runs other programs as filters. */
#ifndef WEFT_EXPERIMENT_CHART_PROGRAM_H
#define WEFT_EXPERIMENT_CHART_PROGRAM_H

#include "base/err.h"
#include "base/text.h"

/* Runs a program of PATH with `input` as standard input and appends its standard output, at most
 * `limit` bytes. If the program is missing, the error names `package`: "gnuplot is not installed;
 * it is in the Debian package gnuplot-nox", -ENOENT. If it fails, the error has the first line of
 * its standard error. */
int program_run(const char *const *argv, const char *package, const struct text *input,
                size_t limit, struct text *output, struct err *err);

#endif
