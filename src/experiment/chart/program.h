/* Other programs, run on a text. */
#ifndef WEFT_EXPERIMENT_CHART_PROGRAM_H
#define WEFT_EXPERIMENT_CHART_PROGRAM_H

#include "base/err.h"
#include "base/text.h"

/* Runs a program (found in PATH) with `input` as its standard input, and appends what it prints to
 * `output`, at most `limit` bytes. `package` is named when the program is not there: "gnuplot is
 * not installed; it is in the Debian package gnuplot-nox", -ENOENT. A program that fails is an
 * error with the first line of what it said. */
int program_run(const char *const *argv, const char *package, const struct text *input,
                size_t limit, struct text *output, struct err *err);

#endif
