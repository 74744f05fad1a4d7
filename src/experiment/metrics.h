/* What a run measures by itself, and the collectors that a scenario asks for.
 *
 * Every run with traffic has the same figures (weft-scenario(5) lists them): rates and latencies of
 * the measuring window, and what became of all packets. They can be published at any time, as of
 * then. Latencies are those of packets that arrive during the window, whenever they were made. */
#ifndef WEFT_EXPERIMENT_METRICS_H
#define WEFT_EXPERIMENT_METRICS_H

#include "experiment/collect.h"
#include "fabric/data.h"

struct stage;
struct metrics;

/* Watches the stage's fabric from now on. The window may be without beginning or end (TIME_NEVER):
 * then it begins with the first traffic, and ends with the run. */
struct metrics *metrics_new(struct stage *stage, uint64_t from, uint64_t to);
void metrics_free(struct metrics *metrics);
void metrics_collect(struct metrics *metrics, const struct collection *collection);
/* A traffic was given to the fabric; it starts at that time. */
void metrics_add_traffic(struct metrics *metrics, const struct traffic *traffic, uint64_t start);

/* The next time at which something must be looked at; never earlier than now. Looking changes
 * nothing: a run is the same whether anybody looks or not. */
uint64_t metrics_next(const struct metrics *metrics);
void metrics_look(struct metrics *metrics, uint64_t now);
void metrics_sent_smp(struct metrics *metrics, uint64_t now, uint32_t node, unsigned method);
/* What machines do (machines.c). */
void metrics_level(struct metrics *metrics, uint64_t now, enum measure what, uint64_t level);
void metrics_count(struct metrics *metrics, uint64_t now, enum measure what, uint64_t amount);
void metrics_value(struct metrics *metrics, uint64_t now, enum measure what, uint64_t value);
bool metrics_has_traffic(const struct metrics *metrics);
bool metrics_saw_deadlock(const struct metrics *metrics);

/* Brings the figures of the story's results up to date. */
void metrics_publish(struct metrics *metrics, uint64_t now);

/* "lost.no-route" */
enum { METRICS_NAME_BYTES = 48 };
const char *metrics_loss_name(unsigned cause, char buffer[METRICS_NAME_BYTES]);

#endif
