/* The slots of outstanding requests. A slot reads one port, with one request at a time. Its index
 * is part of the transaction ID of the request; each transmission has a new ID. Sent slots are a
 * list by the time of sending, which is also the order of their time-outs. */
#ifndef WEFT_PERF_SLOTS_H
#define WEFT_PERF_SLOTS_H

#include "base/mem.h"
#include "wire/redirect.h"

#define NO_SLOT UINT32_MAX
enum { SLOTS_MOST = 1 << 12 };

struct slot {
    uint32_t transaction;
    uint32_t port;         /* of the subnet */
    uint32_t older, newer; /* sent slots, or NO_SLOT */
    uint8_t step, tries;   /* the attribute to read; transmissions of this request */
    bool begun;            /* the reading of the port: the first values have arrived */
    bool sent;
    uint64_t until; /* time-out, if it is sent */
    struct redirect_trail trail;
};

struct slots {
    VEC(struct slot) items;
    VEC(uint32_t) free, unsent;
    uint32_t oldest, newest; /* sent slots, or NO_SLOT */
    uint32_t occupied;
    uint32_t transaction; /* the last one */
};

void slots_init(struct slots *slots, uint32_t transaction);
void slots_release(struct slots *slots);

/* Occupies a slot whose request is to be sent. Valid until the next call. */
struct slot *slots_take(struct slots *slots, uint32_t port, unsigned step);
void slots_free(struct slots *slots, uint32_t index);
/* Marks the slot that was returned or taken last as sent, with a new transaction ID. */
struct slot *slots_send(struct slots *slots, uint64_t until);
/* A sent slot has another request to send. */
void slots_return(struct slots *slots, uint32_t index);
/* The sent slot with this transaction ID, or NO_SLOT. */
uint32_t slots_find(const struct slots *slots, uint32_t transaction);
uint64_t slots_deadline(const struct slots *slots); /* the next time-out */

#endif
