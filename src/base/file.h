/* Files read and written as a whole. */
#ifndef WEFT_BASE_FILE_H
#define WEFT_BASE_FILE_H

#include "base/err.h"
#include "base/text.h"

#include <stdio.h>

/* Opens a file to read it. It does not wait for somebody to open a pipe for writing: EPIPE. */
FILE *file_open(const char *path);
/* "-" is standard input or output. A byte order mark (UTF-8) is skipped. The text is
 * NUL-terminated; the caller releases it, after an error as well. */
int file_read(const char *path, size_t limit, struct text *text, struct err *err);
int file_write(const char *path, const struct text *text, struct err *err);
/* Writes a whole text to a descriptor. 0 or -errno. */
int file_write_all(int fd, const struct text *content);
/* Reads a secret: a regular file of this user or of root, to which nobody else has access. */
int file_read_private(const char *path, size_t limit, struct text *text, struct err *err);

#endif
