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
    struct distribution latency, network;
    struct summary hops;
    struct buckets timeline;
    struct messages messages;
    /* deadlocks */
    uint64_t next_watch, deadlocks;
};

#endif
