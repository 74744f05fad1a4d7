/* A list of engines, tried in order until one has tables.
 *
 * The note of the tables names the engines that refused, with their reasons. Other errors (bad
 * roots, bad user routes) end the list. */
#ifndef WEFT_ROUTING_ENGINES_ENGINE_FALLBACK_H
#define WEFT_ROUTING_ENGINES_ENGINE_FALLBACK_H

#include "routing/engine/engine.h"

/* "ftree,updn": -EINVAL, with a suggestion, for an unknown name. */
int engine_list_parse(struct engine_list *list, const char *text, struct err *err);
/* All names: "fera, pira, …". Returns the buffer. */
enum { ENGINE_NAMES = 256 };
const char *engine_list_names(char buffer[ENGINE_NAMES]);
bool engine_list_same(const struct engine_list *a, const struct engine_list *b);
void engine_list_add(struct engine_list *list, const char *name); /* ignores an unknown name */

/* Whether an error is a refusal of the network by an engine, not a mistake of the user. */
bool engine_refused(int rc);

/* *chosen (may be NULL) is the engine of the tables. caller_verifies applies to the last engine of
 * the list only. */
int engine_list_compute(const struct engine_list *list, const struct network *network,
                        const struct engine_options *options, struct routes *routes,
                        const struct engine **chosen, struct err *err);

#endif
