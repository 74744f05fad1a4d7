/* A file that grows by what changed: each writing is a piece, and what was written is there even if
 * the process dies with the next instruction.
 *
 * The first piece is the whole, the others are changes to it; a reader takes them in order, up to
 * the first that is not complete. Nothing is synchronised with the disk, since what write(2) took
 * outlives the process; what must outlive the machine is written elsewhere, less often. */
#ifndef WEFT_HOST_DAEMON_JOURNAL_H
#define WEFT_HOST_DAEMON_JOURNAL_H

#include "base/text.h"

struct journal {
    const char *directory, *name; /* the owner's */
    int fd;                       /* -1: the next piece must be the whole */
    size_t bytes;
};
void journal_init(struct journal *journal, const char *directory, const char *name);
/* In the place of all that was there. 0 or -errno. */
int journal_begin(struct journal *journal, const struct text *whole);
/* On error what was written before is still there, and the next piece must be the whole. */
int journal_append(struct journal *journal, const struct text *changes);
void journal_close(struct journal *journal);
int journal_remove(struct journal *journal); /* 0 if there is none */

/* The next complete piece at *at, which moves on; NULL: there is no more. */
const char *journal_next(const struct text *content, size_t *at, size_t *bytes);

#endif
