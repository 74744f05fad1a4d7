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
extern const char *const manager_keys[]; /* then NULL */

#endif
