/* A collector: one `collect` statement at work.
 *
 * It is told of packets, losses, SMPs and levels, or looks by itself at the times that it asks for,
 * and ends as a series or a figure of the run's results. Series cover the whole run, single figures
 * the measuring window, unless the statement says otherwise. */
#ifndef WEFT_EXPERIMENT_MEASURE_COLLECTOR_H
#define WEFT_EXPERIMENT_MEASURE_COLLECTOR_H

#include "experiment/measure/results.h"
#include "experiment/measure/statistics.h"
#include "experiment/scenario/collect.h"
#include "fabric/data.h"

enum { SERIES_POINTS = 1 << 20 }; /* what follows is left out */

struct collector {
    const struct collection *collection;
    const struct measure_info *info;
    struct fabric *fabric;
    const uint8_t *lanes; /* data lanes, by node */
    struct results *results;
    size_t series;
    uint64_t from, to; /* from TIME_NEVER: not known yet */
    bool begun, ended, full;
    uint64_t begun_at, ended_at, next; /* next: look */
    uint64_t step;                     /* between looks; 0: none */
    unsigned looks;                    /* of a bucket that is the mean of several: so far */
    uint64_t count, level;             /* told */
    uint64_t base, last, final; /* readings: at the beginning, at the last look, at the end */
    uint64_t latest;            /* value of a packet … */
    bool fresh;                 /* … that has come since the last look */
    double sum;                 /* of a bucket */
    uint64_t summed;
    struct summary summary;
    struct histogram histogram;
    struct batches batches;
};

void collector_init(struct collector *collector, const struct collection *collection,
                    struct fabric *fabric, const uint8_t *lanes, struct results *results);
void collector_release(struct collector *collector);
/* Single figures without times of their own: the measuring window, as far as it is known. */
void collector_set_window(struct collector *collector, uint64_t from, uint64_t to);

uint64_t collector_next(const struct collector *collector); /* when it wants to look; or never */
void collector_look(struct collector *collector, uint64_t now);

void collector_delivered(struct collector *collector, uint64_t now,
                         const struct packet_view *packet);
void collector_lost(struct collector *collector, uint64_t now, enum loss cause, uint32_t port);
void collector_sent_smp(struct collector *collector, uint64_t now, uint32_t node, unsigned method);
/* Of a level its new value, of what is counted so many more, else one more value. */
void collector_tell(struct collector *collector, uint64_t now, enum measure what, uint64_t value);

/* Sets the figure to what it is by now. */
void collector_publish(struct collector *collector, uint64_t now);

#endif
