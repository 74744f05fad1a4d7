/* Addresses kept over restarts, in OpenSM's guid2lid format: one port a line, its GUID and its
 * first and last LID ("0x0002c90300001234 0x0001 0x0001"), all in hexadecimal. Files of OpenSM are
 * read as they are, and the other way round.
 *
 * The directory belongs to one manager: it is locked while the store is open. */
#ifndef WEFT_HOST_DAEMON_STORE_H
#define WEFT_HOST_DAEMON_STORE_H

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "sm/sm.h"

struct store {
    const char *directory;
    int lock;
    VEC(struct sm_fact) facts;
    struct map by_guid; /* → index into facts */
};

/* Makes the directory if need be, locks it and reads what is there. A line that makes no sense is
 * an error that names it: addresses are not to be lost in silence. */
int store_open(struct store *store, const char *directory, struct err *err);
void store_close(struct store *store);
void store_add(struct store *store, const struct sm_fact *fact);
/* The whole file; the caller's to free. */
void store_print(const struct store *store, struct text *out);

/* Writes all of it. 0 or -errno. */
int store_write_all(int fd, const struct text *content);
/* A whole file of the directory; empty if there is none. 0 or -errno. */
int store_read(const char *directory, const char *name, struct text *content);
/* Out of the way, but not lost: NAME becomes NAME.bad. */
int store_set_aside(const char *directory, const char *name);
/* Replaces a file so that readers, and a power cut, find the old one or the new one. 0 or -errno.
 */
int store_replace(const char *directory, const char *name, const struct text *content);

#endif
