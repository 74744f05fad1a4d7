/* Reads the two kinds of files that ibdmchk reads into struct vl_map, each in both of its forms:
 *
 *   path SL:  "0x<node guid> <dlid> <sl>", or blocks "Channel Adapter 0x<port guid>, ..." (or
 *             "Switch") followed by "0x<dlid> : <sl>" lines
 *   SL2VL:    "0x<node guid> <in> <out> 0x01 0x23 ..." (eight bytes, four bits for each SL), or
 *             blocks as above followed by "<in> <out> : <vl0> ... <vl15>" lines
 *
 * OpenSM's plugin that writes opensm-path-records.dump adds " : <mtu> : <rate>" to the lines of the
 * second form, and writes "0x<dlid> : UNREACHABLE" where there is no path. Lines of any other form
 * are comments, as they are to ibdmchk; a file without any entry is an error. */
#ifndef WEFT_ROUTING_FILES_VL_MAP_READ_H
#define WEFT_ROUTING_FILES_VL_MAP_READ_H

#include "base/line_reader.h"
#include "routing/model/vl_map.h"

int vl_map_read_path_sl(struct vl_map *map, struct line_reader *lines);
int vl_map_read_sl2vl(struct vl_map *map, struct line_reader *lines);

#endif
