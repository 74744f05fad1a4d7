/* Files read and written as a whole. */
#ifndef WEFT_BASE_FILE_H
#define WEFT_BASE_FILE_H

#include "base/err.h"
#include "base/text.h"

/* "-" is standard input or output. A byte order mark (UTF-8) is skipped. The text is
 * NUL-terminated; the caller releases it, after an error as well. */
int file_read(const char *path, size_t limit, struct text *text, struct err *err);
int file_write(const char *path, const struct text *text, struct err *err);
/* An error if others than its owner have access to the file: it holds a secret. */
int file_check_private(const char *path, struct err *err);

#endif
