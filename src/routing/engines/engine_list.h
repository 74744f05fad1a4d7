/* Engines that are tried one after the other until one gives tables.
 *
 * A refusal names its reason, and the note of the tables says who refused and why: nothing falls
 * back in silence. Errors that are no refusals (bad roots, bad user routes) end the trying. */
#ifndef WEFT_ROUTING_ENGINES_ENGINE_LIST_H
#define WEFT_ROUTING_ENGINES_ENGINE_LIST_H

#include "routing/engine/engine.h"

enum { ENGINE_LIST_TOP = 16 };

struct engine_list {
    size_t count;
    const struct engine *items[ENGINE_LIST_TOP];
};

/* "ftree,updn": -EINVAL, with a hint, for a name that is none. */
int engine_list_parse(struct engine_list *list, const char *text, struct err *err);
/* "fera, pira, …": all there are. Returns the buffer, which ENGINE_NAMES bytes are enough for. */
enum { ENGINE_NAMES = 256 };
const char *engine_list_names(char buffer[ENGINE_NAMES]);
bool engine_list_same(const struct engine_list *a, const struct engine_list *b);
void engine_list_add(struct engine_list *list, const char *name); /* unless there is no such one */

/* Whether an error of an engine is its answer to the network, and not a mistake of the user's. */
bool engine_refused(int rc);

/* *chosen (may be NULL) is the engine whose tables these are. With leave_proof only the last
 * engine's tables are left unproved, since there is nothing to try after it. */
int engine_list_compute(const struct engine_list *list, const struct network *network,
                        const struct engine_options *options, struct routes *routes,
                        const struct engine **chosen, struct err *err);

#endif
