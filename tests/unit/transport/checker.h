/* Checks a capture of a connection against the rules of the transport, without the transport.
 *
 * The checker sees what a person with an analyser at both adapters sees: packets with their times,
 * and the parameters that connection management exchanged. It shares no code with `src/transport`
 * but the struct of the headers. From the packets that reached the responder it derives which
 * messages were received, in which order, and holds every packet of both ends against that. */
#ifndef WEFT_TESTS_TRANSPORT_CHECKER_H
#define WEFT_TESTS_TRANSPORT_CHECKER_H

#include "base/mem.h"
#include "wire/transport_packet.h"

enum { CHECKER_REGIONS = 4, CHECKER_READS = 16 };

struct checker_region { /* memory of the responder that the requester may use */
    uint32_t key;
    uint64_t start, bytes;
    bool write, read, atomic;
};

/* One direction of a connection: requests of one end, and what the other answers. */
struct checker_flow {
    uint32_t mtu, first_psn, window, reads;
    uint64_t timeout_ps;           /* UINT64_MAX: none */
    unsigned retries, rnr_retries; /* 7: for ever (RNR) */
    uint16_t alternate;            /* DLID of the requester's alternate path; 0: none */
    struct checker_region regions[CHECKER_REGIONS];
};

enum { CHECKER_SEND, CHECKER_WRITE, CHECKER_READ, CHECKER_ATOMIC };
struct checker_message {
    uint8_t kind;
    bool immediate;
    uint32_t data, bytes;        /* data: the immediate */
    uint32_t first_psn, end_psn; /* end: the PSN after it */
};
struct checker_messages {
    VEC(struct checker_message) items;
};

enum checker_point { CHECKER_REQUESTER, CHECKER_RESPONDER };

/* An open capture of one direction. */
struct checker;
struct checker *checker_new(const struct checker_flow *flow, uint8_t service);
void checker_free(struct checker *checker);
/* The next packet at one of the two ends; requests and responses of this direction only. False: a
 * rule is broken, and checker_error() says which. */
bool checker_add(struct checker *checker, uint64_t time, enum checker_point at, bool sent,
                 const struct transport_packet *packet);
const char *checker_error(const struct checker *checker);
/* Messages that the responder has received as a whole and in order. */
const struct checker_messages *checker_received(const struct checker *checker);
/* How many of them the requester knows to be received. */
size_t checker_acknowledged(const struct checker *checker);
/* The retries are used up at this time, or may be: then the requester fails, or moves. */
bool checker_exhausted(struct checker *checker, uint64_t time);
/* Both ends are alive and nothing is under way: everything must be acknowledged. */
bool checker_finish(struct checker *checker);
/* The responder answered with a NAK that ends the connection. */
bool checker_was_refused(const struct checker *checker);

#endif
