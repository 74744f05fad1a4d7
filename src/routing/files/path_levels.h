/* Service levels of routes as files, in the format that vl_map_read.h reads ("path SL").
 *
 * Routes have one level for all terminals of a switch (and the switch itself) to a LID; a file has
 * one for each source. A file in which terminals of one switch differ is refused. */
#ifndef WEFT_ROUTING_FILES_PATH_LEVELS_H
#define WEFT_ROUTING_FILES_PATH_LEVELS_H

#include "base/line_reader.h"
#include "routing/model/routes.h"

/* Reads the levels into the routes. On error these do not change. */
int path_levels_read(struct routes *routes, const struct network *network,
                     struct line_reader *lines);
void path_levels_write(const struct routes *routes, const struct network *network,
                       struct text *out);

#endif
