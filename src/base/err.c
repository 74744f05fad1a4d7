/* Fills in an error and prints it in the form of compiler messages, without the parts of the place
 * that are unknown. Texts that are too long for the error are cut. */
#include "base/err.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

int err_at_column(struct err *err, int code, const char *file, unsigned line, unsigned column,
                  const char *format, ...)
{
    assert(code >= 0); /* an errno, not a negative status */
    va_list arguments;
    if (!err)
        return -code;
    snprintf(err->file, sizeof err->file, "%s", file);
    err->line = line;
    err->column = column;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return -code;
}

const char *err_text(const struct err *err, char *buffer, size_t size)
{
    if (!err->file[0])
        snprintf(buffer, size, "%s", err->message);
    else if (!err->line)
        snprintf(buffer, size, "%s: %s", err->file, err->message);
    else if (!err->column)
        snprintf(buffer, size, "%s:%u: %s", err->file, err->line, err->message);
    else
        snprintf(buffer, size, "%s:%u:%u: %s", err->file, err->line, err->column, err->message);
    return buffer;
}
