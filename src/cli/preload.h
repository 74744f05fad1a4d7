/* The preload library, which attaches programs to a simulated fabric.
 *
 * Without it, or in a program that ignores LD_PRELOAD, a command of `weft fabric` would run on the
 * InfiniBand devices of the machine. So a command starts in two steps. The first step looks at the
 * library and at the program: those that ignore LD_PRELOAD are refused. The second step is this
 * program again, with the library: preload_start() tests that the library is loaded and that the
 * server answers it, and only then executes the command. */
#ifndef WEFT_CLI_PRELOAD_H
#define WEFT_CLI_PRELOAD_H

#include "base/err.h"

#include <stddef.h>

/* The path of the library: WEFT_PRELOAD, in the build directory, or installed. */
void preload_find(char *path, size_t size);
/* An error if the library is missing, or if the program `name`, searched in PATH, ignores
 * LD_PRELOAD. A program that is not found is not an error: its execution fails. */
int preload_check(const char *library, const char *name, struct err *err);

/* The option of the second step; the command follows "--". */
#define PRELOAD_STEP "--preloaded"
/* Executes the command; returns only if that fails, with the exit status. */
int preload_start(char **command);

#endif
