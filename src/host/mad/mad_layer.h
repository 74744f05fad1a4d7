/* What the kernel's MAD layer is to programs with a real adapter: agents, transactions, time-outs.
 *
 * A program opens a port (a "file", as its descriptor is one to the kernel), registers agents on it
 * and sends and receives MADs. Several files can share a port: an answer finds its way back by the
 * upper half of the transaction id, which is the agent's own and overwritten in each request; what
 * comes unasked goes to the one agent that registered its class, version and method (and OUI). A
 * request with a time-out is repeated and at last handed back with ETIMEDOUT. Messages of agents
 * that asked for RMPP travel in segments of 256 bytes.
 *
 * Like the protocol cores it owns no clock and no socket: it is told the time, sends into the
 * fabric, is fed the fabric's deliveries, and keeps what programs have to read until it is taken.
 */
#ifndef WEFT_HOST_MAD_MAD_LAYER_H
#define WEFT_HOST_MAD_MAD_LAYER_H

#include "fabric/fabric.h"
#include "host/socket/protocol.h"

enum {
    /* A file whose reader is asleep holds this much, and at least one message; what arrives beyond
     * is dropped, as the kernel drops beyond its 200,000 MADs. Time-outs are always kept. */
    FILE_QUEUE_BYTES = 32 * 1024 * 1024,
    /* Requests that wait for an answer; a file with so many takes no more until some are done. */
    FILE_REQUESTS = 16384,
};

struct mad_layer;
struct mad_file;

struct mad_layer *mad_layer_new(struct fabric *fabric);
void mad_layer_free(struct mad_layer *layer); /* and all files */

struct mad_file *mad_file_open(struct mad_layer *layer, uint32_t port, void *owner);
void mad_file_close(struct mad_file *file);
void *mad_file_owner(const struct mad_file *file);
/* The agent's number in this file, or -errno as ib_register_mad_agent() has it. */
int mad_file_register(struct mad_file *file, const struct registration *registration);
int mad_file_unregister(struct mad_file *file, uint32_t agent);
/* 0, or -errno where write(2) on the device would fail; nothing is sent then. */
int mad_file_send(struct mad_file *file, uint64_t now, const struct mad_head *head,
                  const uint8_t *data, size_t bytes);
bool mad_file_is_full(const struct mad_file *file); /* must not be sent more for now */

/* A message for a program; `head.length` says how long it is. */
struct mad_received {
    struct mad_received *next;
    struct mad_head head;
    uint8_t data[];
};
/* The oldest message, which stays until mad_file_taken(); NULL if there is none. */
const struct mad_received *mad_file_next(const struct mad_file *file);
void mad_file_taken(struct mad_file *file);
/* Files with messages that were not returned since they got one; NULL when there is no other. */
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
