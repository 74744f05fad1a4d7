/* OpenSM's dump of linear forwarding tables (opensm-lfts.dump; dump_fts prints nearly the same).
 *
 *   Unicast lids [0-6] of switch Lid 1 guid 0x0000000000200000 ('s0'):
 *   0x0001 000 # Switch portguid 0x0000000000200000: 's0'
 *   6 lids dumped
 *
 * Lines of PIRa's tables that follow the default port of the switch end with ", by the default
 * port".
 *
 * Reading takes the GUID of each switch and the first two numbers of each entry; the rest of a line
 * and lines of any other form are ignored. */
#ifndef WEFT_ROUTING_FILES_LFTS_H
#define WEFT_ROUTING_FILES_LFTS_H

#include "base/line_reader.h"
#include "routing/model/routes.h"

/* Fills routes for the network. A switch or a port that the network lacks is an error; so are two
 * tables for one switch. Switches without a table and LIDs without an entry drop. */
int lfts_read(struct routes *routes, const struct network *network, struct line_reader *lines);
/* The GUIDs of the ports that the dump names: `guids` has NETWORK_TOP_LID + 1 elements and receives
 * the GUID for each LID, or 0. A file without tables is an error. */
int lfts_read_owners(uint64_t *guids, struct line_reader *lines);
void lfts_write(const struct routes *routes, const struct network *network, struct text *out);

#endif
