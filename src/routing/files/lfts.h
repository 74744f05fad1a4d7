/* OpenSM's dump of linear forwarding tables (opensm-lfts.dump; dump_fts prints nearly the same).
 *
 *   Unicast lids [0-6] of switch Lid 1 guid 0x0000000000200000 ('s0'):
 *   0x0001 000 # Switch portguid 0x0000000000200000: 's0'
 *   6 lids dumped
 *
 * Reading takes the GUID of each switch and the first two numbers of each entry; the rest of a line
 * and lines of any other form are ignored. */
#ifndef WEFT_ROUTING_FILES_LFTS_H
#define WEFT_ROUTING_FILES_LFTS_H

#include "base/line_reader.h"
#include "routing/model/routes.h"
#include "topology/topology.h"

/* Fills routes for the network. A switch or a port that the network lacks is an error; so are two
 * tables for one switch. Switches without a table and LIDs without an entry drop. */
int lfts_read(struct routes *routes, const struct network *network, struct line_reader *lines);
/* Gives the ports of the topology the LIDs that the dump names for them, with their LMC. LIDs in
 * the net file may be older, or of another manager. `count` receives the number of ports that got
 * another LID than the net file has; a dump without GUIDs changes nothing. A port that the topology
 * lacks, or a file without tables, is an error: the tables are not of this fabric. */
int lfts_read_lids(struct topology *topology, struct line_reader *lines, uint32_t *count);
void lfts_write(const struct routes *routes, const struct network *network, struct text *out);

#endif
