/* A collector: one `collect` statement during a run. One that is divided by a key of packets has a
 * collector for each value of the key.
 *
 * The metrics report packets, losses, SMPs and levels to it and sample it at the times that
 * collector_next() returns. It ends as a series or a figure of the results. Series cover the whole
 * run, single figures the measuring window, unless the statement says otherwise. */
#ifndef WEFT_EXPERIMENT_MEASURE_COLLECTOR_H
#define WEFT_EXPERIMENT_MEASURE_COLLECTOR_H

#include "base/map.h"
#include "experiment/measure/results.h"
#include "experiment/measure/statistics.h"
#include "experiment/scenario/collect.h"
#include "fabric/data.h"

/* With so many points a series is thinned to half of them, and the step between samples doubles. */
enum { SERIES_POINTS = 1 << 20 };

/* What collectors know of the fabric and its packets; the same for all. */
struct collect_world {
    struct fabric *fabric;
    const uint8_t *data_vls;               /* number of data VLs, by node */
    const struct traffic *const *traffics; /* by statement */
    size_t traffic_count;
    VEC(uint32_t) statements; /* by the fabric's number of a traffic: its statement */
};

struct collector {
    const struct collection *collection;
    const struct measure_info *info;
    const struct collect_world *world;
    struct fabric *fabric;
    struct results *results;
    VEC(struct collector *) parts; /* of a divided collector */
    struct map part_of;            /* by value of the key */
    struct collection own;         /* of a part: the statement's, limited to one value */
    const char *group, *label;     /* "latency by sl", and of a part: the value */
    bool listed;                   /* it is among the collected results */
    size_t series;
    uint64_t from, to; /* TIME_NEVER: not known yet */
    bool begun, ended;
    uint64_t begun_at, ended_at, next; /* next: sample */
    uint64_t step;                     /* between samples; 0: none */
    unsigned samples;                  /* of a bucket that is the mean of several samples */
    uint64_t count, level;             /* as reported */
    uint64_t base, last, final;        /* values at the start, at the last sample and at the end */
    uint64_t latest;                   /* value of the last packet */
    bool fresh;                        /* a packet has come since the last sample */
    double sum;                        /* over the packets of a bucket */
    uint64_t summed;
    struct value_distribution values;
};

/* The values of each key for one packet. */
struct packet_keys {
    uint32_t values[PACKET_KEYS];
};

static inline bool collector_is_divided(const struct collector *collector)
{
    return collector->collection->by != PACKET_KEYS;
}

/* division.c: makes the parts that are known before the run, and finds the part for a packet. */
void division_make(struct collector *collector);
struct collector *division_part(struct collector *collector, const struct packet_keys *keys);

void collector_init(struct collector *collector, const struct collection *collection,
                    const struct collect_world *world, struct results *results);
void collector_release(struct collector *collector);
/* Applies the measuring window to single figures without times of their own. */
void collector_set_window(struct collector *collector, uint64_t from, uint64_t to);
/* The subnet settled: for times that count from there. */
void collector_set_settled(struct collector *collector, uint64_t settled);

uint64_t collector_next(const struct collector *collector); /* or TIME_NEVER */
void collector_sample(struct collector *collector, uint64_t now);

void collector_delivered(struct collector *collector, uint64_t now,
                         const struct packet_view *packet, const struct packet_keys *keys);
void collector_lost(struct collector *collector, uint64_t now, enum loss cause, uint32_t port,
                    const struct packet_keys *keys);
void collector_sent_smp(struct collector *collector, uint64_t now, uint32_t node, unsigned method);
/* A new level, an increment of a counter, or one more value. */
void collector_report(struct collector *collector, uint64_t now, enum measure what, uint64_t value);

/* Sets the figure from the values so far. */
void collector_publish(struct collector *collector, uint64_t now);

#endif
