/* Files of a manager that gives each port its own M_Key, in OpenSM's formats. Only their owner may
 * read them.
 *
 *   guid2mkey   "0x0002c90300001234 0x0123456789abcdef": the M_Key of a port, for tools
 *   neighbors   "0x0002c90300001234:1 0x0002c90300005678:0": the two ports of a link
 *
 * With these links a restarted manager selects the key of a node that is not discovered yet. */
#ifndef WEFT_HOST_FILES_PORT_KEY_FILES_H
#define WEFT_HOST_FILES_PORT_KEY_FILES_H

#include "base/text.h"
#include "sm/sm.h"

#define PORT_KEYS_FILE  "guid2mkey"
#define NEIGHBOURS_FILE "neighbors"

void port_keys_print(const struct sm *sm, struct text *out);
void neighbours_print(const struct sm *sm, struct text *out);
/* Passes the links of the file to the manager. Skips invalid lines: the manager then finds the node
 * when its lease has expired. */
void neighbours_read(struct sm *sm, const char *content);

#endif
