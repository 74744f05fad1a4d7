/* Settings of a simulated manager: keys of weft-sm.conf(5), and `paper`. */
#ifndef WEFT_EXPERIMENT_RUN_MANAGER_H
#define WEFT_EXPERIMENT_RUN_MANAGER_H

#include "base/line_reader.h"
#include "host/manager/config.h"

/* Applies the preset "paper" or "today". */
void manager_preset(struct config *config, const char *preset);
/* Sets one key. The error names the wrong word. */
int manager_set(struct config *config, const struct word *key, const struct word *value,
                struct cursor *cursor);
/* Completes a configuration (config_finish()), and refuses levels of service for the papers'
 * manager, which programs none. */
int manager_finish(struct config *config, struct err *err);
/* Whether this setting can change while the manager runs. */
bool manager_key_is_live(const char *key);
/* Sets one key of a running manager and completes the configuration; on error it is as before. */
int manager_reset(struct config *config, const struct word *key, const struct word *value,
                  struct cursor *cursor);

#endif
