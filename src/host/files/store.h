/* Preserves LIDs over restarts, in OpenSM's guid2lid format: each line has the GUID of a port, its
 * first and its last LID ("0x0002c90300001234 0x0001 0x0001"), in hexadecimal. Either manager can
 * read the other's file.
 *
 * One manager uses a directory: it is locked while the store is open. */
#ifndef WEFT_HOST_FILES_STORE_H
#define WEFT_HOST_FILES_STORE_H

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "sm/sm.h"

struct store {
    const char *directory;
    int lock;
    VEC(struct sm_lid_fact) facts;
    struct map by_guid; /* → index into facts */
};

#define STORE_LIDS_FILE "guid2lid"

/* Creates the directory if needed and locks it. -EBUSY: another manager uses it. After any other
 * error, for example on a read-only file system, the store is open: files can be read, and
 * writing is tried. */
int store_open(struct store *store, const char *directory, struct err *err);
/* Reads the file. An error is about the first invalid line, or about the whole file; the LIDs of
 * all valid lines are added. 0 if there is no file. */
int store_read_lids(struct store *store, struct err *err);
void store_close(struct store *store);
void store_add(struct store *store, const struct sm_lid_fact *fact);
/* Prints the whole file. */
void store_print(const struct store *store, struct text *out);

/* Reads a file of the directory; empty if it does not exist. 0 or -errno. */
int store_read(const char *directory, const char *name, struct text *content);
/* Renames NAME to NAME.bad. */
int store_set_aside(const char *directory, const char *name);
/* Replaces a file atomically and durably; only the owner can read it. 0 or -errno. */
int store_replace(const char *directory, const char *name, const struct text *content);

/* Files of a manager that gives each port its own M_Key, in OpenSM's formats. Only their owner may
 * read them.
 *
 *   guid2mkey   "0x0002c90300001234 0x0123456789abcdef": the M_Key of a port, for tools
 *   neighbors   "0x0002c90300001234:1 0x0002c90300005678:0": the two ports of a link
 *
 * With these links a restarted manager selects the key of a node that is not discovered yet. */
#define PORT_KEYS_FILE  "guid2mkey"
#define NEIGHBOURS_FILE "neighbors"

void port_keys_print(const struct sm *sm, struct text *out);
void neighbours_print(const struct sm *sm, struct text *out);
/* Passes the links of the file to the manager. Skips invalid lines: the manager then finds the node
 * when its lease has expired. */
void neighbours_read(struct sm *sm, const char *content);

/* The links between switches, also lost ones, in the format of neighbors, by the GUIDs of the
 * switches: a restarted manager lists those that are not there as lost. */
#define LINKS_FILE "links"

void links_print(const struct subnet *subnet, struct text *out);
void links_read(struct sm *sm, const char *content); /* skips invalid lines */

#endif
