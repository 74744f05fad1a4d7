#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

static void err_fill(struct err *err, const char *file, unsigned line, unsigned column,
                     const char *format, va_list arguments)
{
    if (!err)
        return;
    snprintf(err->file, sizeof err->file, "%s", file);
    err->line = line;
    err->column = column;
    vsnprintf(err->message, sizeof err->message, format, arguments);
}

int err_set(struct err *err, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    err_fill(err, "", 0, 0, format, arguments);
    va_end(arguments);
    return -code;
}

int err_at(struct err *err, int code, const char *file, unsigned line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    err_fill(err, file, line, 0, format, arguments);
    va_end(arguments);
    return -code;
}

int err_at_column(struct err *err, int code, const char *file, unsigned line, unsigned column,
                  const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    err_fill(err, file, line, column, format, arguments);
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
