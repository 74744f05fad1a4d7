/* Shared libraries that few commands need. They are loaded when they are first used: loading one
 * with those that it needs takes most of the instructions of a short command. */
#ifndef WEFT_BASE_LIBRARY_H
#define WEFT_BASE_LIBRARY_H

#include "base/err.h"

#include <stddef.h>

struct library_function {
    const char *name;
    void **pointer;
};
/* Sets all pointers, or none if the library cannot be loaded or lacks a function. It stays loaded.
 */
int library_load(const char *file, const struct library_function *functions, size_t count,
                 struct err *err);

#endif
