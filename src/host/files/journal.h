/* A journal: a file to which changes are appended in pieces.
 *
 * The first piece is the whole state, each further one has changes. A reader applies them in order,
 * up to the first piece that is incomplete or does not match its checksum. Data that was written
 * survives the end of the process, but not always a crash of the machine: there is no fsync(2), and
 * any part of the file may be missing afterwards. */
#ifndef WEFT_HOST_FILES_JOURNAL_H
#define WEFT_HOST_FILES_JOURNAL_H

#include "base/text.h"

struct journal {
    const char *directory, *name; /* owned by the caller */
    int fd;                       /* -1: the next piece must be the whole state */
    size_t bytes;
};
void journal_init(struct journal *journal, const char *directory, const char *name);
/* Replaces the journal by one with this first piece. 0 or -errno. */
int journal_begin(struct journal *journal, const struct text *whole);
/* After an error the earlier pieces remain, and journal_begin() must follow. */
int journal_append(struct journal *journal, const struct text *changes);
void journal_close(struct journal *journal);
/* Synchronizes the file with the disk. */
int journal_sync(const struct journal *journal);
int journal_remove(struct journal *journal); /* 0 also if there is no file */

/* Returns the next complete piece at *at and advances *at; NULL: no further piece. */
const char *journal_next(const struct text *content, size_t *at, size_t *bytes);

#endif
