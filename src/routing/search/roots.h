/* Which switches are the roots of up*-down* routing. */
#ifndef WEFT_ROUTING_SEARCH_ROOTS_H
#define WEFT_ROUTING_SEARCH_ROOTS_H

#include "routing/engine/engine.h"

struct roots {
    VEC(uint32_t) switches;
    char note[160]; /* how they were chosen */
    uint64_t operations;
};

/* ROOT_DEFAULT means `fallback`. -ENOENT if no switch has one of the listed GUIDs. */
int roots_choose(struct roots *roots, const struct network *network,
                 const struct engine_options *options, enum root_choice fallback, struct err *err);
void roots_release(struct roots *roots);

/* The switches that have one of the listed GUIDs, each once, in the order of the list; `switches`
 * has room for all. Returns their number. */
uint32_t roots_find_listed(const struct network *network, const struct engine_options *options,
                           uint32_t *switches);
int roots_refuse_list(const struct engine_options *options, struct err *err); /* -ENOENT */
/* Whether there are any. */
bool roots_are_there(const struct network *network, const struct engine_options *options);
/* By switch: the ranks of a tree's stages, or from the roots; NULL: no such roots. */
uint32_t *roots_ranks(const struct network *network, const struct engine_options *options);

#endif
