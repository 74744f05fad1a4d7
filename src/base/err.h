/* One error type for everything a person must read.
 *
 * Functions return 0 or a negative errno; where a person has to be told why, they also take a
 * `struct err` and fill it. An error that stems from a file names the file and the line, so that
 * an editor can jump there. */
#ifndef WEFT_BASE_ERR_H
#define WEFT_BASE_ERR_H

#include <stddef.h>

struct err {
    char file[256];  /* "" when the error is not about a file */
    unsigned line;   /* 0 when it is about the file as a whole */
    unsigned column; /* 0 when it is about the line as a whole */
    char message[512];
};

/* All fill *err (which may be NULL) and return -code. */
int err_set(struct err *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int err_at(struct err *err, int code, const char *file, unsigned line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
int err_at_column(struct err *err, int code, const char *file, unsigned line, unsigned column,
                  const char *format, ...) __attribute__((format(printf, 6, 7)));

/* "file:line:column: message" in `buffer`; returns buffer. */
const char *err_text(const struct err *err, char *buffer, size_t size);

#endif
