/* Two ends of communication management and the wire between them, which loses, delays, duplicates
 * and reorders messages. */
#ifndef WEFT_TESTS_CM_PAIR_H
#define WEFT_TESTS_CM_PAIR_H

#include "base/mem.h"
#include "base/rng.h"
#include "base/time.h"
#include "cm/cm.h"

enum { SERVICE = 0x1000, ACK_TIMEOUT = 14 };

struct flight {
    uint64_t time;
    unsigned to;
    uint8_t mad[MAD_BYTES];
};
struct pair {
    struct cm *ends[2];
    uint64_t now, latency, jitter;
    uint64_t loss, duplicates; /* parts of RNG_CERTAIN */
    struct rng rng;
    VEC(struct flight) flights;
    unsigned sent[2][32]; /* by end and kind */
    unsigned lose[2][32]; /* so many messages of this kind are lost */
};

static inline void pair_init(struct pair *pair, uint64_t seed)
{
    *pair = (struct pair){.latency = 10 * TIME_US};
    rng_seed(&pair->rng, seed, 0);
    for (unsigned i = 0; i < 2; i++) {
        struct cm_config config;
        cm_config_init(&config);
        config.ca_guid = 0xA0 + i;
        config.first_id = 100 * (i + 1);
        config.response = 8; /* 1 ms */
        config.packet_life = 4;
        config.cm_retries = 5;
        pair->ends[i] = cm_new(&config);
    }
}

static inline void pair_release(struct pair *pair)
{
    cm_free(pair->ends[0]);
    cm_free(pair->ends[1]);
    vec_release(&pair->flights);
}

static inline void pair_collect(struct pair *pair)
{
    struct cm_output output;
    for (unsigned end = 0; end < 2; end++)
        while (cm_next_output(pair->ends[end], &output)) {
            unsigned kind = (unsigned)wire_get(output.mad, MAD_ATTRIBUTE_ID) & 31;
            unsigned copies = 1 + rng_chance(&pair->rng, pair->duplicates);
            pair->sent[end][kind]++;
            if (pair->lose[end][kind]) {
                pair->lose[end][kind]--;
                continue;
            }
            for (unsigned i = 0; i < copies; i++) {
                struct flight flight = {.time = pair->now + pair->latency, .to = !end};
                flight.time += pair->jitter ? rng_below(&pair->rng, pair->jitter) : 0;
                memcpy(flight.mad, output.mad, MAD_BYTES);
                if (!rng_chance(&pair->rng, pair->loss))
                    vec_push(&pair->flights, flight);
            }
        }
}

/* Goes to the next arrival or deadline until the limit. False: nothing happens before it. */
static inline bool pair_step(struct pair *pair, uint64_t limit)
{
    size_t first = SIZE_MAX;
    pair_collect(pair);
    uint64_t next = limit;
    for (size_t i = 0; i < pair->flights.count; i++)
        if (pair->flights.items[i].time < next) {
            next = pair->flights.items[i].time;
            first = i;
        }
    for (unsigned end = 0; end < 2; end++)
        if (cm_deadline(pair->ends[end]) < next) {
            next = cm_deadline(pair->ends[end]);
            first = SIZE_MAX;
        }
    if (next >= limit) {
        pair->now = limit > pair->now ? limit : pair->now;
        return false;
    }
    pair->now = next > pair->now ? next : pair->now;
    if (first == SIZE_MAX) {
        cm_expire(pair->ends[0], pair->now);
        cm_expire(pair->ends[1], pair->now);
    } else {
        struct flight flight = pair->flights.items[first];
        struct cm_address from = {.lid = (uint16_t)(1 + !flight.to)};
        vec_remove(&pair->flights, first);
        cm_receive(pair->ends[flight.to], pair->now, flight.mad, &from);
    }
    pair_collect(pair);
    return true;
}

static inline uint32_t pair_connect(struct pair *pair, uint32_t qpn)
{
    struct cm_message request = {
        .service_id = SERVICE,
        .qpn = qpn,
        .starting_psn = 7,
        .p_key = 0xFFFF,
        .mtu = 5,
        .primary = {
            .local_lid = 1, .remote_lid = 2, .subnet_local = 1, .ack_timeout = ACK_TIMEOUT}};
    return cm_connect(pair->ends[0], pair->now, &request, &(struct cm_address){.lid = 2});
}

#endif
