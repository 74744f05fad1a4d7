/* Traffic: senders, receivers, rates and times. It depends neither on links nor on simulated time.
 *
 * A traffic is a set of senders and receivers, a pattern that gives each packet its destination, an
 * arrival process that gives it its time, sizes and service levels. Each sender draws from a random
 * stream of its own, so that its packets depend only on the seed, not on the fabric or on other
 * senders. Packets that wait at a sender therefore need no memory: the next one is drawn when the
 * last one has left.
 *
 * Patterns (n members, numbered as listed) are the collectives of parallel programs and the usual
 * ones of papers on interconnection networks. If n is not a power of two, the bit patterns use the
 * next one. Members whose destination does not exist, or is their own port, send nothing. */
#ifndef WEFT_FABRIC_TRAFFIC_TRAFFIC_H
#define WEFT_FABRIC_TRAFFIC_TRAFFIC_H

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/time.h"

#include <stdbool.h>
#include <stdint.h>

enum traffic_pattern {
    PATTERN_UNIFORM,      /* any other active receiver, with equal probability */
    PATTERN_BIT_REVERSAL, /* the bits of the member's number, reversed */
    PATTERN_TRANSPOSE,    /* the bits rotated left by half their number */
    PATTERN_SHUFFLE,      /* the bits rotated left by one */
    PATTERN_HOT_SPOT,     /* receiver `hot` with probability `hot_parts`, else uniform */
    PATTERN_ALL_TO_ALL,   /* i+1, i+2, … in turn, as an all-to-all exchange does */
    PATTERN_SHIFT,        /* always i + `shift` */
    PATTERN_RING,         /* the next one of a ring: shift by one */
    PATTERN_GATHER,       /* all to receiver `hot` */
    PATTERN_TRACE,        /* from a file */
    PATTERN_PERMUTATION,  /* one receiver for each sender, from a file */
    PATTERN_MATRIX,       /* receivers with the probabilities of a row of a matrix, from a file */
    TRAFFIC_PATTERNS,
};
enum traffic_arrival {
    ARRIVAL_POISSON,   /* exponential intervals */
    ARRIVAL_CONSTANT,  /* equal intervals; each sender has a random phase */
    ARRIVAL_UNIFORM,   /* uniform intervals from 0 to twice the mean */
    ARRIVAL_BURSTY,    /* bursts of `burst` packets on average, back to back; pauses between */
    ARRIVAL_EMPIRICAL, /* intervals of a density, from a file */
    ARRIVAL_SATURATED, /* a packet is always ready */
    TRAFFIC_ARRIVALS,
};
extern const char *const traffic_pattern_names[TRAFFIC_PATTERNS]; /* "bit-reversal" … */
extern const char *const traffic_arrival_names[TRAFFIC_ARRIVALS];

enum { TRAFFIC_RANDOM_SL = 16, TRAFFIC_SIZES = 8, TRAFFIC_LARGEST_PAYLOAD = 4096 };
enum { TRAFFIC_LARGEST_MESSAGE = 1 << 30 };
#define TRAFFIC_NONE UINT32_MAX

struct traffic_size {
    uint32_t payload_bytes, weight;
};
struct traffic_trace_entry { /* sorted by sender, then time */
    uint64_t time;
    uint32_t sender, receiver, payload_bytes; /* sender and receiver: members */
    uint32_t order;                           /* position in the file, among equal times */
};

struct traffic_pair {          /* sorted by sender; of a permutation, one for each sender */
    uint32_t sender, receiver; /* members */
    uint64_t weight_until;     /* sum of the weights of this row up to and with this pair */
};

struct traffic_interval {  /* of an empirical density */
    uint64_t weight_until; /* sum of the weights up to and with this one */
    uint64_t ratio;        /* to the mean, times 2^32 */
};

struct traffic {
    enum traffic_pattern pattern;
    enum traffic_arrival arrival;
    uint64_t interval_ps;       /* mean time between two packets of one sender, the longest one */
    uint64_t start_ps, stop_ps; /* no packet is made before start_ps or from stop_ps on */
    uint32_t hot, shift, burst;
    uint64_t hot_parts; /* of 2^32 */
    struct traffic_size sizes[TRAFFIC_SIZES];
    unsigned size_count;
    /* A sender makes messages of this size, each in packets of sizes[0] bytes and one with the
     * rest, all for one receiver and with the time of the message. 0: single packets. */
    uint32_t message_bytes;
    uint8_t sl; /* or TRAFFIC_RANDOM_SL: 0 … 15 with equal probability */
    uint16_t p_key;
    uint8_t hop_limit; /* of packets to other subnets; 0: that of the path */
    uint64_t prefix;   /* of their DGID; 0: that of the receiver's port. Another one is forged */
    bool among_all;    /* uniform and hot spot: draw receivers without a path, too */
    uint64_t limit_ps_per_8_bytes; /* of a sender, to all receivers together; 0: no limit */
    bool ignores_path_rate;        /* no static rate control by the slowest link of a path */
    /* Reliable service: a lost packet is sent again after `retry_ps`, at most `retries` times.
     * Acknowledgements are not modelled. 0: lost packets are not sent again. */
    uint64_t retry_ps;
    uint32_t retries;
    uint8_t mgid[16]; /* of the group that is the only receiver; zeros: there is none */
    VEC(uint32_t) senders, receivers; /* end ports, as the fabric numbers them */
    VEC(uint64_t) intervals_ps;       /* by sender; empty: interval_ps for all */
    VEC(struct traffic_trace_entry) trace;
    VEC(struct traffic_interval) density; /* ARRIVAL_EMPIRICAL */
    VEC(struct traffic_pair) pairs;       /* PATTERN_PERMUTATION, PATTERN_MATRIX */
};

/* Uniform, Poisson, packets of one size, SL 0, without end. */
void traffic_init(struct traffic *traffic, uint32_t payload_bytes);
void traffic_copy(struct traffic *to, const struct traffic *from);
void traffic_release(struct traffic *traffic);
/* Rejects contradictions: no senders, a rate of 0, patterns over unequal sets, … */
int traffic_check(const struct traffic *traffic, struct err *err);
uint32_t traffic_largest_payload(const struct traffic *traffic);
/* Reads lines "TIME SENDER RECEIVER BYTES", such as "1.5us 0 3 256". Times count from the start of
 * the traffic; senders and receivers are indices in its lists, which must be filled before. Sorts;
 * packets of one sender and time stay in the order of the file. '#' begins a comment. */
int traffic_read_trace(struct traffic *traffic, const char *path, struct err *err);

/* Reads lines "INTERVAL WEIGHT", such as "12.5 3", for ARRIVAL_EMPIRICAL. The intervals have any
 * unit: their mean becomes that of the traffic. '#' begins a comment. */
int traffic_read_density(struct traffic *traffic, const char *path, struct err *err);

struct traffic_packet {
    uint64_t time;                    /* TIME_NEVER: no more */
    uint32_t receiver, payload_bytes; /* receiver: a member */
    uint8_t sl;
    bool continues; /* the message of the packet before it */
};
/* The state of one sender. */
struct traffic_source {
    struct rng rng;
    uint64_t time; /* time of the packet drawn last */
    uint32_t sender;
    uint32_t self;    /* index of the sender among the receivers, or TRAFFIC_NONE */
    uint32_t partner; /* the only receiver, if the pattern gives one */
    uint32_t turn;    /* next step of an all-to-all, next entry of a trace, first pair of a row */
    uint32_t row_end; /* the pair behind the row of a matrix */
    bool begun;       /* the first packet was drawn */
    uint32_t message_left;         /* bytes of the message that are still to be drawn */
    struct traffic_packet message; /* the packet drawn last of this message */
};
void traffic_source_init(struct traffic_source *source, const struct traffic *traffic,
                         uint32_t sender, uint64_t seed, uint64_t stream);
/* The next packet of this sender; never earlier than the one before. For ARRIVAL_SATURATED the
 * times stay at the start: the fabric takes the next packet whenever it can, and stops it. All
 * packets of a burst have the time of the first. The traffic must have passed its check. */
struct traffic_packet traffic_draw(const struct traffic *traffic, struct traffic_source *source);

/* Another receiver for a packet whose receiver has no path, from a random number: with all
 * receivers that have one, it is drawn uniformly. TRAFFIC_NONE: the packet keeps its receiver. */
uint32_t traffic_redraw(const struct traffic *traffic, const struct traffic_source *source,
                        const struct traffic_packet *packet, uint64_t random);

/* An exponentially distributed number with this mean, in integer arithmetic: the same draw gives
 * the same result everywhere. Saturates at UINT64_MAX. */
uint64_t traffic_exponential(struct rng *rng, uint64_t mean);

#endif
