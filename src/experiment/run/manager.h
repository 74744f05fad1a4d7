/* The settings of a simulated manager: weft-sm.conf(5)'s keys as far as they mean anything here,
 * and one that only experiments need. */
#ifndef WEFT_EXPERIMENT_RUN_MANAGER_H
#define WEFT_EXPERIMENT_RUN_MANAGER_H

#include "base/line_reader.h"
#include "host/manager/config.h"

/* How the managers of the papers behave, or of today. */
void manager_preset(struct config *config, const char *preset);
/* One key; errors name the word that is to blame. */
int manager_set(struct config *config, const struct word *key, const struct word *value,
                struct cursor *cursor);
extern const char *const manager_keys[]; /* then NULL */

#endif
