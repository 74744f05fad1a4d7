/* Update plans as text. */
#ifndef WEFT_ROUTING_FILES_UPDATE_PLAN_TEXT_H
#define WEFT_ROUTING_FILES_UPDATE_PLAN_TEXT_H

#include "base/line_reader.h"
#include "routing/model/update_plan.h"

/* One statement a line: "update <switch GUID> [<LID>[-<LID>]]", "wait" between waves, "drain"
 * between waves with a drain, and "hold <VL> ..." before the stuck updates. '#' starts a
 * comment. */
void update_plan_write(const struct update_plan *plan, const struct network *network,
                       struct text *out);
int update_plan_read(struct update_plan *plan, const struct network *network,
                     struct line_reader *lines);

#endif
