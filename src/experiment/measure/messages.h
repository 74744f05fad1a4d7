/* Messages of several packets: their latency, and how many arrived as a whole.
 *
 * The latency of a message is the time from when its sender made it until its last packet arrives.
 * The packets of a message have the same traffic, source, destination and time. A message with a
 * lost packet is lost. */
#ifndef WEFT_EXPERIMENT_MEASURE_MESSAGES_H
#define WEFT_EXPERIMENT_MEASURE_MESSAGES_H

#include "base/map.h"
#include "base/pool.h"
#include "experiment/measure/statistics.h"
#include "fabric/data.h"

struct open_message {
    uint32_t next; /* of the pool */
    uint32_t ended_bytes;
    bool lost;
};

struct messages {
    bool seen; /* there are messages */
    uint64_t delivered, lost;
    struct value_distribution latency; /* of messages that end in the measuring window */
    struct map open;                   /* from a hash of what packets of a message have in common */
    POOL(struct open_message) pool;
};

/* A packet of a message is delivered or lost. */
void messages_ended(struct messages *messages, uint64_t now, const struct packet_view *packet,
                    bool lost, bool in_window);
void messages_release(struct messages *messages);

#endif
