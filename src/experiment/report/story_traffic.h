/* The part of a run's summary that is about traffic, and the pictures of its changes. */
#ifndef WEFT_EXPERIMENT_REPORT_STORY_TRAFFIC_H
#define WEFT_EXPERIMENT_REPORT_STORY_TRAFFIC_H

#include "experiment/measure/story.h"

/* The phases of each change as bars, with the traffic's curves below them. */
void story_write_pictures(const struct story *story, struct text *out);
/* Rates, latencies, what became of all packets, and whether it was steady; nothing without
 * traffic. */
void story_write_traffic(const struct story *story, struct text *out);

#endif
