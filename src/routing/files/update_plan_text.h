/* Plans of updates as text. */
#ifndef WEFT_ROUTING_FILES_UPDATE_PLAN_TEXT_H
#define WEFT_ROUTING_FILES_UPDATE_PLAN_TEXT_H

#include "base/line_reader.h"
#include "routing/model/update_plan.h"

/* As text: one statement a line, "update <switch GUID> [<LID>[-<LID>]]", "wait" between waves and
 * "drain" between waves with one, and "hold <lane> ..." before the updates that are stuck. '#'
 * starts a remark. */
void update_plan_write(const struct update_plan *plan, const struct network *network,
                       struct text *out);
int update_plan_read(struct update_plan *plan, const struct network *network,
                     struct line_reader *lines);

#endif
