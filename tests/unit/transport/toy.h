/* A toy wire between adapters: it loses, delays, duplicates and reorders packets, and moves their
 * bytes.
 *
 * Each adapter sends one packet after the other; a packet takes its length times `ps_per_byte`,
 * then `latency_ps`. Every packet that leaves or reaches an adapter is in the trace. Work requests
 * and regions use plain memory: the `memory` of a request is the address of its first byte, that of
 * a region a `struct toy_region`. */
#ifndef WEFT_TESTS_TRANSPORT_TOY_H
#define WEFT_TESTS_TRANSPORT_TOY_H

#include "base/mem.h"
#include "base/rng.h"
#include "transport/transport.h"

enum { TOY_ADAPTERS = 4, TOY_LID = 10 /* of the first adapter */ };

struct toy_region {
    uint8_t *bytes;
    uint64_t start, count;
};

struct toy_trace { /* one packet at one end of the wire */
    uint64_t time;
    uint8_t adapter;
    bool sent; /* else received */
    struct transport_packet packet;
};

struct toy_flight {
    uint64_t time, order;
    uint8_t from, to;
    struct transport_packet packet;
    uint8_t *bytes;
};

struct toy {
    unsigned count;
    struct transport *adapters[TOY_ADAPTERS];
    bool stopped[TOY_ADAPTERS]; /* sends and receives nothing, and its timers stand still */
    uint64_t free_at[TOY_ADAPTERS];
    uint64_t now, ps_per_byte, latency_ps, jitter_ps;
    uint64_t loss, duplicates, reorder; /* parts of RNG_CERTAIN */
    bool lose_requests_only;
    struct rng rng;
    VEC(struct toy_flight) flights;
    uint64_t order;
    VEC(struct toy_trace) trace;
    bool traces;
    VEC(struct transport_event) events[TOY_ADAPTERS];
    VEC(struct transport_violation) violations[TOY_ADAPTERS];
    uint64_t places; /* accesses executed */
    uint64_t atomics;
    /* Called for each packet before it flies; false loses it. */
    bool (*filter)(struct toy *toy, unsigned from, struct transport_packet *packet);
    void *context;
};

void toy_init(struct toy *toy, unsigned count, const struct transport_config *config,
              uint64_t seed);
void toy_release(struct toy *toy);
/* Runs until nothing is left to do or until the time. */
void toy_run(struct toy *toy, uint64_t until);
/* Events, accesses and violations of an adapter; toy_run() calls it. */
void toy_drain(struct toy *toy, unsigned adapter);

/* A QP with its own CQ, in a domain with a region of the adapter. */
struct toy_end {
    unsigned adapter;
    uint32_t domain, cq, qp, key;
    struct toy_region region;
};
struct toy_pair {
    uint8_t service;
    bool credits;
    uint16_t mtu;
    uint32_t psn[2]; /* of the first request of either end */
    uint8_t timeout, retry_count, rnr_retry, rnr_timer, reads, access;
    uint32_t requests, region_bytes;
    uint32_t srq; /* of the second end; TRANSPORT_NONE */
};
extern const struct toy_pair toy_pair_default;
void toy_end_init(struct toy *toy, struct toy_end *end, unsigned adapter,
                  const struct toy_pair *pair);
void toy_end_release(struct toy_end *end);
/* Two ends, brought to RTS. */
void toy_connect(struct toy *toy, struct toy_end ends[2], const struct toy_pair *pair);
/* Brings a QP with a peer to a state; asserts. */
void toy_bring(struct toy *toy, const struct toy_end *end, const struct toy_end *peer,
               const struct toy_pair *pair, unsigned which, unsigned state);

/* Post one segment of an end's region, from `offset` on. */
int toy_send(struct toy *toy, struct toy_end *end, unsigned operation, uint64_t id, uint32_t offset,
             uint32_t bytes, uint32_t remote_offset, const struct toy_end *remote);
int toy_receive(struct toy *toy, struct toy_end *end, uint64_t id, uint32_t offset, uint32_t bytes);
/* The next completion of an end; status 255: none. */
struct transport_completion toy_poll(struct toy *toy, const struct toy_end *end);
bool toy_had_event(const struct toy *toy, unsigned adapter, unsigned kind);

#endif
