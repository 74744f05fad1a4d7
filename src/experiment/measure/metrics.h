/* What a run measures by itself, and the collectors that a scenario asks for.
 *
 * Every run with traffic has the same figures (weft-scenario(5) lists them): rates and latencies of
 * the measuring window, and what became of all packets. They can be published at any time, as of
 * then. Latencies are those of packets that arrive during the window, whenever they were made. */
#ifndef WEFT_EXPERIMENT_MEASURE_METRICS_H
#define WEFT_EXPERIMENT_MEASURE_METRICS_H

#include "experiment/measure/run_record.h"
#include "experiment/scenario/collect.h"
#include "fabric/data.h"
#include "fabric/options.h"

struct metrics;

/* Figures go to the story's results. The window may be without beginning or end (TIME_NEVER): then
 * it begins with the first traffic, and ends with the run. */
struct metrics *metrics_new(struct fabric *fabric, const struct fabric_options *options,
                            struct run_record *record, uint64_t from, uint64_t to);
void metrics_free(struct metrics *metrics);
void metrics_collect(struct metrics *metrics, const struct collection *collection);
/* A traffic was given to the fabric; it starts at that time. */
void metrics_add_traffic(struct metrics *metrics, const struct traffic *traffic, uint64_t start);

/* The next time at which something must be looked at; never earlier than now. Looking changes
 * nothing: a run is the same whether anybody looks or not. */
uint64_t metrics_next(const struct metrics *metrics);
void metrics_look(struct metrics *metrics, uint64_t now);

/* What the fabric's data_observer reports. */
void metrics_delivered(struct metrics *metrics, uint64_t now, const struct packet_view *packet);
void metrics_lost(struct metrics *metrics, uint64_t now, enum loss cause, uint32_t port);
void metrics_gate(struct metrics *metrics, uint64_t now, uint32_t port, bool open);
void metrics_sent_smp(struct metrics *metrics, uint64_t now, uint32_t node, unsigned method);
/* What machines do (machines.c): of a level its new value, of what is counted so many more, else
 * one more value. */
void metrics_tell(struct metrics *metrics, uint64_t now, enum measure what, uint64_t value);
bool metrics_has_traffic(const struct metrics *metrics);
bool metrics_saw_deadlock(const struct metrics *metrics);

/* Brings the results up to date: what every run with traffic has, and what statements collect. */
void metrics_publish_traffic(struct metrics *metrics, uint64_t now);
void metrics_publish_collected(struct metrics *metrics, uint64_t now);

#endif
