/* The reliable multi-packet protocol: messages longer than one MAD, in 256-byte packets.
 *
 * Each message has one sender and one receiver object, with neither clock nor socket: pass in the
 * MADs that arrive and the time, pull MADs out until none is left, and call again at the deadline.
 * A message is one byte array: the header of its first MAD (56 bytes in subnet administration),
 * then all data. */
#ifndef WEFT_WIRE_RMPP_H
#define WEFT_WIRE_RMPP_H

#include "wire/mad.h"

#include <stddef.h>

/* 13.6.2.2; a STOP carries RESOURCES, an ABORT one of the others. */
enum rmpp_status {
    RMPP_STATUS_OK = 0,
    RMPP_STATUS_RESOURCES = 1,
    RMPP_STATUS_TOO_LONG = 118,  /* total transaction time */
    RMPP_STATUS_BAD_LAST = 119,  /* Last flag and PayloadLength do not go together */
    RMPP_STATUS_BAD_FIRST = 120, /* First flag and SegmentNumber do not go together */
    RMPP_STATUS_BAD_TYPE = 121,  /* unknown RMPPType */
    RMPP_STATUS_WINDOW_TOO_SMALL = 122,
    RMPP_STATUS_SEGMENT_TOO_BIG = 123,
    RMPP_STATUS_BAD_STATUS = 124,
    RMPP_STATUS_BAD_VERSION = 125,
    RMPP_STATUS_TOO_MANY_RETRIES = 126,
    RMPP_STATUS_UNSPECIFIED = 127,
};

enum rmpp_state {
    RMPP_OPEN,
    RMPP_DONE,   /* everything is acknowledged or received */
    RMPP_FAILED, /* see the status; pull the last MAD, then free */
    RMPP_OVER,   /* a finished receiver whose linger time is over */
};

struct rmpp_options {
    /* of senders */
    uint64_t acknowledge_timeout_ps;
    unsigned retries; /* without progress in between */
    /* of receivers */
    unsigned window;    /* segments between acknowledgements: 1 to RMPP_WINDOW_MAX */
    size_t message_max; /* longer messages are stopped */
    uint64_t idle_timeout_ps;
    uint64_t linger_ps; /* how long a finished receiver answers duplicates */
};
enum { RMPP_WINDOW_MAX = 64 };
/* The values of the Linux kernel, and messages of up to 64 MiB. */
extern const struct rmpp_options rmpp_defaults;

/* The part of each MAD before its data. */
unsigned rmpp_header_bytes(unsigned class);

struct rmpp_sender;
/* Copies the message; -EINVAL if it is shorter than the header of its class, -EMSGSIZE if its
 * length overflows the protocol's counters. */
int rmpp_sender_create(struct rmpp_sender **sender, const uint8_t *message, size_t bytes,
                       const struct rmpp_options *options);
void rmpp_sender_free(struct rmpp_sender *sender);
/* Takes an ACK, STOP or ABORT of this transaction; false for any other MAD. */
bool rmpp_sender_receive(struct rmpp_sender *sender, uint64_t now, const uint8_t mad[MAD_BYTES]);
bool rmpp_sender_next(struct rmpp_sender *sender, uint64_t now, uint8_t mad[MAD_BYTES]);
/* TIME_NEVER while a MAD can be pulled, and after the end. */
uint64_t rmpp_sender_deadline(const struct rmpp_sender *sender);
void rmpp_sender_expire(struct rmpp_sender *sender, uint64_t now);
enum rmpp_state rmpp_sender_state(const struct rmpp_sender *sender);
enum rmpp_status rmpp_sender_status(const struct rmpp_sender *sender);

struct rmpp_receiver;
/* Accepts the first segment of any transaction; later ones must belong to the same. */
struct rmpp_receiver *rmpp_receiver_create(const struct rmpp_options *options);
void rmpp_receiver_free(struct rmpp_receiver *receiver);
/* Takes a segment or the sender's ABORT; false for a MAD of another transaction. */
bool rmpp_receiver_receive(struct rmpp_receiver *receiver, uint64_t now,
                           const uint8_t mad[MAD_BYTES]);
bool rmpp_receiver_next(struct rmpp_receiver *receiver, uint64_t now, uint8_t mad[MAD_BYTES]);
uint64_t rmpp_receiver_deadline(const struct rmpp_receiver *receiver);
void rmpp_receiver_expire(struct rmpp_receiver *receiver, uint64_t now);
enum rmpp_state rmpp_receiver_state(const struct rmpp_receiver *receiver);
/* The whole message in state DONE or OVER, else NULL. The receiver owns it. */
const uint8_t *rmpp_receiver_message(const struct rmpp_receiver *receiver, size_t *bytes);

#endif
