/* A story as text: for people, and as JSON for programs. */
#ifndef WEFT_EXPERIMENT_REPORT_STORY_TEXT_H
#define WEFT_EXPERIMENT_REPORT_STORY_TEXT_H

#include "experiment/measure/story.h"

/* For people: one event, wrapped at 80 columns; and what follows the last one. */
void story_write_event(const struct story_event *event, struct text *out);
void story_write_summary(const struct story *story, struct text *out);
/* Everything, as one object. */
void story_write_json(const struct story *story, struct text *out);

#endif
