/* The error type for messages that a person reads.
 *
 * Functions return 0 or a negative errno; those whose errors need an explanation also fill a
 * `struct err`. An error in a file has its name and line, so that an editor can jump there. */
#ifndef WEFT_BASE_ERR_H
#define WEFT_BASE_ERR_H

#include <stddef.h>

struct err {
    char file[256];  /* "" when the error is not about a file */
    unsigned line;   /* 0 when it is about the file as a whole */
    unsigned column; /* 0 when it is about the line as a whole */
    char message[512];
};

/* Each fills *err (which may be NULL) and returns -code. */
#define err_set(err, code, ...)            err_at_column(err, code, "", 0, 0, __VA_ARGS__)
#define err_at(err, code, file, line, ...) err_at_column(err, code, file, line, 0, __VA_ARGS__)
int err_at_column(struct err *err, int code, const char *file, unsigned line, unsigned column,
                  const char *format, ...) __attribute__((format(printf, 6, 7)));

/* "file:line:column: message" in `buffer`; returns buffer. */
const char *err_text(const struct err *err, char *buffer, size_t size);

#endif
