/* What every run measures, and the collectors of its scenario.
 *
 * Every run with traffic has the same figures (weft-scenario(5) lists them): rates and latencies of
 * the measuring window, and totals of all packets. They can be published at any time. Latencies are
 * those of packets that arrive during the window, whenever they were sent. */
#ifndef WEFT_EXPERIMENT_MEASURE_METRICS_H
#define WEFT_EXPERIMENT_MEASURE_METRICS_H

#include "experiment/measure/run_record.h"
#include "experiment/scenario/collect.h"
#include "fabric/data.h"
#include "fabric/options.h"

struct metrics;

/* Figures go to the results of the record. */
struct metrics *metrics_new(struct fabric *fabric, const struct fabric_options *options,
                            struct run_record *record);
/* All traffics that can be added later, by statement, before the first metrics_collect(). The array
 * must outlive the metrics. */
void metrics_know_traffic(struct metrics *metrics, const struct traffic *const *traffics,
                          size_t count);
/* Without this call the window begins with the first traffic and ends with the run. TIME_NEVER: a
 * later call gives the time. */
void metrics_set_window(struct metrics *metrics, uint64_t from, uint64_t to);
void metrics_free(struct metrics *metrics);
void metrics_collect(struct metrics *metrics, const struct collection *collection);
/* The subnet settled: for a collection whose times count from there. False: it would end before it
 * begins. */
bool metrics_set_settled(struct metrics *metrics, const struct collection *collection,
                         uint64_t settled);
/* Called when traffic of a statement (from 0) is added to the fabric, which gave it `number`; it
 * starts at that time. */
void metrics_add_traffic(struct metrics *metrics, const struct traffic *traffic, uint64_t start,
                         unsigned number, uint32_t statement);

/* The next time to call metrics_update(). Collecting statistics does not change the simulation. */
uint64_t metrics_next(const struct metrics *metrics);
void metrics_update(struct metrics *metrics, uint64_t now);

/* Reports of the data_observer of the fabric. */
void metrics_delivered(struct metrics *metrics, uint64_t now, const struct packet_view *packet);
void metrics_lost(struct metrics *metrics, uint64_t now, const struct packet_view *packet,
                  enum loss cause, uint32_t port);
void metrics_port_changed(struct metrics *metrics, uint64_t now, uint32_t port, bool open);
void metrics_sent_smp(struct metrics *metrics, uint64_t now, uint32_t node, unsigned method);
/* Reports of machines.c: a new level, an increment of a counter, or one more value. */
void metrics_report(struct metrics *metrics, uint64_t now, enum measure what, uint64_t value);
/* A fault, and the end of a change (recovery.h). */
void metrics_fault(struct metrics *metrics, uint64_t now);
void metrics_settled(struct metrics *metrics, uint64_t now);
bool metrics_has_traffic(const struct metrics *metrics);
bool metrics_saw_deadlock(const struct metrics *metrics);
/* For a run that ends when its figures are known: whether the window is steady, and the 95 %
 * confidence intervals of the mean latency and of the throughput are within this share of them. */
void metrics_stop_when_steady(struct metrics *metrics, double share);
bool metrics_is_steady(const struct metrics *metrics);

/* Updates the results: figures of traffic, and figures of `collect` statements. */
void metrics_publish_traffic(struct metrics *metrics, uint64_t now);
void metrics_publish_collected(struct metrics *metrics, uint64_t now);

#endif
