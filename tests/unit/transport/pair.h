/* Two connected ends, for tests of RC. */
#ifndef WEFT_TESTS_TRANSPORT_PAIR_H
#define WEFT_TESTS_TRANSPORT_PAIR_H

#include "toy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

extern struct toy toy;
extern struct toy_end ends[2];

void begin_with(const struct toy_pair *pair, struct transport_config *given);
void begin(void);
void finish(void);

/* The next completion. */
void expect(const struct toy_end *at, uint64_t id, unsigned status, unsigned operation);
void expect_nothing(const struct toy_end *at);
/* The first end posts a request (see toy_send()), which completes. */
void send_one(unsigned operation, uint64_t id, uint32_t offset, uint32_t bytes,
              uint32_t remote_offset, const struct toy_end *remote);
struct transport_qp_view view_of(const struct toy_end *at);
const struct transport_counters *counters_of(unsigned adapter);

struct drop {
    unsigned from, operation, skip, count; /* operation 99: any */
    uint64_t seen;
};
/* From now on, packets from an end get lost: so many of an operation, behind some that do not. */
void lose(struct drop *drop);
unsigned sent_packets(unsigned adapter, unsigned operation);

#endif
