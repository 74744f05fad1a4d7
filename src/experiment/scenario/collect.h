/* `collect` and `sample` statements: the measure, its place, and the form in which it is kept.
 *
 *   collect WHAT [of NODE[:PORT[:VL]]] [of KEY VALUE ...] [by KEY] [as HOW]
 *           [every T] [from T] [to T] [called NAME]
 *   every T sample WHAT [of PLACE] ...
 *
 * One table gives the kind, the unit and the possible places of each measure; the kind limits the
 * forms. Measures of packets can be limited to the packets of a traffic, SL, VL, sender or receiver
 * (the keys), or be divided by one of them. (SAN-2 2003, section V-B: any statistic as all values,
 * samples, buckets, or one figure.)
 */
#ifndef WEFT_EXPERIMENT_SCENARIO_COLLECT_H
#define WEFT_EXPERIMENT_SCENARIO_COLLECT_H

#include "base/line_reader.h"
#include "experiment/scenario/moment.h"
#include "topology/topology.h"

enum measure {
    MEASURE_LATENCY,
    MEASURE_NETWORK_LATENCY,
    MEASURE_HOPS,
    MEASURE_DELIVERED,
    MEASURE_THROUGHPUT,
    MEASURE_DELIVERED_BITS,
    MEASURE_DELIVERED_PAYLOAD,
    MEASURE_LOST,
    MEASURE_MADE,
    MEASURE_UNROUTABLE,
    MEASURE_RETRIED,
    MEASURE_WAITING,
    MEASURE_TRAVELLING,
    MEASURE_SENT,
    MEASURE_SENT_BITS,
    MEASURE_RECEIVED,
    MEASURE_RECEIVED_BITS,
    MEASURE_INPUT,
    MEASURE_OUTPUT,
    MEASURE_CREDITS,
    MEASURE_UTILISATION,
    MEASURE_OPEN,
    MEASURE_SMPS,
    MEASURE_MACHINES_RUNNING,
    MEASURE_MACHINES_WAITING,
    MEASURE_MACHINES_STARTS,
    MEASURE_MACHINES_STOPS,
    MEASURE_MACHINES_MOVES,
    MEASURE_MACHINES_FAILED,
    MEASURE_MACHINES_SMPS,
    MEASURE_MACHINES_TIME,
    MEASURE_MACHINES_PAUSE,
    MEASURES,
};
enum measure_kind {
    MEASURE_OF_PACKETS, /* one value for each delivered packet, or move of a machine */
    MEASURE_OF_EVENTS,  /* counts events, which are reported to it */
    MEASURE_LEVEL,      /* a level, whose changes are reported to it */
    MEASURE_COUNTER,    /* a counter that has to be sampled */
    MEASURE_GAUGE,      /* a level that has to be sampled */
};
enum { PLACE_FABRIC = 1, PLACE_NODE = 2, PLACE_PORT = 4, PLACE_VL = 8 };

/* What packets can be divided by. */
enum packet_key {
    PACKET_TRAFFIC, /* number of the statement, from 0 */
    PACKET_SL,
    PACKET_VL,     /* of the last link */
    PACKET_SENDER, /* ports */
    PACKET_RECEIVER,
    PACKET_KEYS,
};
extern const char *const packet_key_names[PACKET_KEYS];

struct measure_info {
    const char *name, *unit;
    enum measure_kind kind;
    unsigned places;
    double scale;  /* counted integers for one unit: 1e12 for picoseconds */
    unsigned keys; /* bits: the keys of its packets */
};
extern const struct measure_info measures[MEASURES];
/* Counters: over time, their rate is kept. */
static inline bool measure_counts(enum measure measure)
{
    return measures[measure].kind == MEASURE_OF_EVENTS || measures[measure].kind == MEASURE_COUNTER;
}

enum collect_how {
    COLLECT_ALL,
    COLLECT_SAMPLES,
    COLLECT_BUCKETS,
    COLLECT_TOTAL,
    COLLECT_MEAN,
    COLLECT_MIN,
    COLLECT_MAX,
    COLLECT_DEVIATION,
    COLLECT_INTERVAL,
    COLLECT_PERCENTILE,
    COLLECT_SUMMARY, /* several figures */
    COLLECT_HOWS,
};
static inline bool collect_is_series(enum collect_how how)
{
    return how <= COLLECT_BUCKETS;
}

#define COLLECT_ANY UINT32_MAX /* any cause, method or VL */

struct collection {
    enum measure what;
    uint32_t part; /* cause of losses, method of SMPs, or COLLECT_ANY */
    enum collect_how how;
    double percent;
    uint64_t every;         /* 0: needs no samples */
    struct moment from, to; /* TIME_NEVER: not given */
    const char *name;       /* name of the figure or series: WHAT[.PLACE][.HOW] by default */
    bool called;            /* the name was given */
    struct word word;       /* for errors: the statement, or the measure */
    struct word place_word; /* text NULL: the whole fabric */
    unsigned place;         /* set by collect_bind() */
    uint32_t node, port, vl;
    struct collect_limit {
        struct word word;     /* text NULL: all */
        uint32_t first, last; /* values of the key; set by collect_bind() */
    } limits[PACKET_KEYS];
    enum packet_key by; /* PACKET_KEYS: not divided */
};

/* The name of the part of a divided collection with one value of the key: "latency.sl.1.mean". */
const char *collect_name_part(const struct collection *collection, const char *value,
                              struct arena *arena);

/* "lost.no-route" */
enum { LOSS_NAME_BYTES = 48 };
const char *collect_loss_name(unsigned cause, char buffer[LOSS_NAME_BYTES]);

/* Reads what follows `collect`. */
void collect_read(struct collection *collection, struct cursor *cursor);
/* Reads TIME sample WHAT …; the arena owns the array. */
void collect_read_samples(struct collection **collections, size_t *count, struct cursor *cursor);
/* The cursor receives the error. */
int collect_bind(struct collection *collection, const struct topology *topology,
                 size_t traffic_count, struct cursor *cursor);

#endif
