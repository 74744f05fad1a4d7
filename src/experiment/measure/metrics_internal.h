/* Shared by metrics.c, which counts, and metrics_figures.c, which publishes. */
#ifndef WEFT_EXPERIMENT_MEASURE_METRICS_INTERNAL_H
#define WEFT_EXPERIMENT_MEASURE_METRICS_INTERNAL_H

#include "experiment/measure/collector.h"
#include "experiment/measure/messages.h"
#include "experiment/measure/metrics.h"
#include "experiment/measure/recovery.h"
#include "experiment/measure/steady.h"
#include "experiment/measure/stoppage.h"

enum {
    TIMELINE_DELIVERED,
    TIMELINE_BITS,
    TIMELINE_LATENCY, /* ps, summed over packets */
    TIMELINE_LOST,    /* one for each cause */
    TIMELINE_COLUMNS = TIMELINE_LOST + LOSS_CAUSES,
};

struct metrics_window {
    uint64_t from, to;
    bool given, begun, ended;
    uint64_t begun_at, ended_at;
    struct data_totals before, after;
};

struct metrics {
    struct fabric *fabric;
    struct run_record *record;
    VEC(struct collector) collectors;
    struct collect_world world; /* of the collectors */
    uint8_t *data_vls;          /* number of data VLs, by node */
    /* traffic */
    bool any, always; /* there is traffic; some of it has saturated arrivals */
    uint64_t start;   /* start of the first traffic */
    uint32_t senders;
    bool *sends, *open, *barred; /* by port; barred: closed by the switch at the other end */
    uint32_t open_ports;
    struct stoppage stoppage;
    struct recovery recovery;
    /* in the window */
    struct metrics_window window;
    struct value_distribution latency, network;
    struct summary hops;
    struct buckets timeline;
    struct messages messages;
    /* the end of a steady run */
    struct {
        double share;              /* wanted; 0: the run does not end by this rule */
        uint64_t next;             /* interval */
        uint64_t count, judged_at; /* intervals so far, and at the next judgement */
        uint64_t bytes;            /* delivered before the present interval */
        struct batches throughput; /* bytes delivered in each interval */
        bool reached;
    } steady;
    /* deadlocks */
    uint64_t next_watch, deadlocks;
};

/* What a verdict about the window needs. */
struct steady_window metrics_steady_window(const struct metrics *metrics,
                                           const struct data_totals *after);
/* With saturated sources the latency since a packet was made has no meaning, but the latency inside
 * the fabric can be steady. */
bool metrics_window_is_steady(const struct metrics *metrics, enum steady_verdict verdict);

#endif
