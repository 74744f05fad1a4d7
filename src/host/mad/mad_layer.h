/* The kernel's MAD layer for programs on a simulated adapter: agents, transactions, time-outs.
 *
 * A program opens a port (a "file", after the kernel's descriptor), registers agents and sends and
 * receives MADs. Several files can share a port. The layer overwrites the upper half of the
 * transaction ID of each request with the agent's number, and delivers the answer by it.
 * Unsolicited MADs go to the agent that registered their class, version and method (and OUI). A
 * request with a time-out is repeated, and returned with ETIMEDOUT after the last retry. For agents
 * that registered with RMPP the layer splits and reassembles messages.
 *
 * The layer has no clock and no socket: callers pass the time and the fabric's deliveries, and take
 * received messages from the files. */
#ifndef WEFT_HOST_MAD_MAD_LAYER_H
#define WEFT_HOST_MAD_MAD_LAYER_H

#include "fabric/fabric.h"
#include "host/socket/protocol.h"

enum {
    /* Bytes of received messages that a file holds, apart from one message of any length. Further
       messages are dropped, as the kernel drops beyond 200,000 MADs. Requests that timed out are
       always kept, and count as outstanding until the program takes them. */
    FILE_QUEUE_BYTES = 32 * 1024 * 1024,
    /* Requests and traps from one LID that a file holds. The kernel has no such limit: a host that
       floods a manager faster than it reads fills the queue of all hosts. */
    FILE_SOURCE_MESSAGES = 1024,
    /* Outstanding requests of a file, at most. */
    FILE_REQUESTS = 16384,
};

struct mad_layer;
struct mad_file;

struct mad_layer *mad_layer_new(struct fabric *fabric);
void mad_layer_free(struct mad_layer *layer); /* closes all files */

struct mad_file *mad_file_open(struct mad_layer *layer, uint32_t port, void *owner);
void mad_file_close(struct mad_file *file);
void *mad_file_owner(const struct mad_file *file);
uint32_t mad_file_port(const struct mad_file *file);
/* Returns the agent's number in this file, or -errno as ib_register_mad_agent() does. */
int mad_file_register(struct mad_file *file, const struct registration *registration);
int mad_file_unregister(struct mad_file *file, uint32_t agent);
/* Returns 0, or -errno where write(2) on the device would fail; then nothing is sent. */
int mad_file_send(struct mad_file *file, uint64_t now, const struct mad_head *head,
                  const uint8_t *data, size_t bytes);
bool mad_file_is_full(const struct mad_file *file); /* FILE_REQUESTS are outstanding or returned */

/* A received message of head.length - sizeof head bytes. */
struct mad_received {
    struct mad_received *next;
    struct mad_head head;
    uint8_t data[];
};
/* The oldest message, valid until mad_file_taken(); NULL: none. */
const struct mad_received *mad_file_next(const struct mad_file *file);
void mad_file_taken(struct mad_file *file);
/* Returns each file once after it received messages; NULL: no further file. */
struct mad_file *mad_layer_next_ready(struct mad_layer *layer);

void mad_layer_deliver(struct mad_layer *layer, uint64_t now,
                       const struct fabric_delivery *delivery);
uint64_t mad_layer_deadline(const struct mad_layer *layer);
void mad_layer_expire(struct mad_layer *layer, uint64_t now);

struct mad_file_status {
    uint32_t agents, requests;
    uint64_t sent, received, timeouts, dropped, queued_bytes;
};
void mad_file_status(const struct mad_file *file, struct mad_file_status *status);

#endif
