/* The part of a story's summary that is about virtual machines. */
#ifndef WEFT_EXPERIMENT_STORY_MACHINES_H
#define WEFT_EXPERIMENT_STORY_MACHINES_H

#include "experiment/story.h"

/* Nothing, if there were none. */
void story_write_machines(const struct story *story, struct text *out);

#endif
