/* The reliable multi-packet protocol of section 13.6, sender and receiver.
 *
 * The rules are also those of the Linux kernel. Data is sent in segments 1, 2, 3 …, each a whole
 * MAD with a copy of the message's header. The first segment carries the total length of all
 * payloads (everything behind the RMPP header, class headers included), the last one the length of
 * its own payload, the others 0.
 *
 * A sender may send up to the last segment of the window, at first only segment 1. An ACK carries
 * the last segment received in order and a new window. It has the transaction ID of the data and
 * its method with the response bit inverted. A receiver acknowledges the first segment, the last
 * one, the end of each window, and duplicates, whose ACK may have been lost. It does not report
 * gaps: after a time-out the sender returns to the first segment that was not acknowledged. STOP
 * ends a transfer for lack of resources, ABORT for any other reason, both at once.
 *
 * A receiver stores segments of the current window in any order. It allocates memory only for
 * segments that have arrived. Double-sided transfers (GetMulti), whose response is segmented as
 * well, are not implemented. */
#include "wire/rmpp.h"

#include "base/mem.h"
#include "base/time.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { RMPP_PAYLOAD_BYTES = MAD_BYTES - WIRE_BYTES_RMPP };

const struct rmpp_options rmpp_defaults = {
    .acknowledge_timeout_ps = 2 * TIME_S,
    .retries = 3,
    .window = 64,
    .message_max = (size_t)64 << 20,
    .idle_timeout_ps = 40 * TIME_S,
    .linger_ps = 10 * TIME_S,
};

struct rmpp_sender {
    struct rmpp_options options;
    uint8_t *message;
    size_t bytes, header_bytes;
    uint32_t segments;
    uint32_t acknowledged; /* every segment up to this one */
    uint32_t window_last;
    uint32_t next; /* segment to send next */
    unsigned retries_left;
    uint64_t deadline;
    enum rmpp_state state;
    enum rmpp_status status;
    bool abort_pending;
};

struct rmpp_receiver {
    struct rmpp_options options;
    uint8_t *message;
    size_t capacity, bytes, header_bytes;
    uint32_t received; /* every segment up to this one; 0 before the first */
    uint32_t acknowledged;
    uint32_t window_last;
    uint32_t last;   /* segment with the Last flag, 0 while unknown */
    uint64_t beyond; /* bit i: segment received + 1 + i has arrived */
    uint64_t deadline;
    enum rmpp_state state;
    enum rmpp_status status;
    bool acknowledge_pending, end_pending; /* end: a STOP or ABORT */
};

unsigned rmpp_header_bytes(unsigned class)
{
    return mad_class_has_rmpp(class) ? mad_data_offset(class) : WIRE_BYTES_RMPP;
}

/* All MADs of a transaction have these fields in common, except for the response bit. */
static bool is_same_transaction(const uint8_t *header, const uint8_t *mad, unsigned method_change)
{
    return wire_get(header, MAD_CLASS) == wire_get(mad, MAD_CLASS) &&
           wire_get(header, MAD_CLASS_VERSION) == wire_get(mad, MAD_CLASS_VERSION) &&
           wire_get(header, MAD_TID) == wire_get(mad, MAD_TID) &&
           wire_get(header, MAD_METHOD) == (wire_get(mad, MAD_METHOD) ^ method_change);
}

static bool is_active(const uint8_t *mad)
{
    return wire_get(mad, RMPP_FLAGS) & RMPP_FLAG_ACTIVE;
}

static void set_rmpp_header(uint8_t *mad, enum rmpp_type type, unsigned flags,
                            enum rmpp_status status, uint32_t data1, uint32_t data2)
{
    wire_set(mad, RMPP_VERSION, RMPP_THIS_VERSION);
    wire_set(mad, RMPP_TYPE, type);
    wire_set(mad, RMPP_FLAGS, RMPP_FLAG_ACTIVE | flags);
    wire_set(mad, RMPP_STATUS, status);
    wire_set(mad, RMPP_DATA1, data1);
    wire_set(mad, RMPP_DATA2, data2);
}

/* STOP or ABORT, which differ in type and status only. */
static void set_end(uint8_t *mad, enum rmpp_status status)
{
    set_rmpp_header(mad, status == RMPP_STATUS_RESOURCES ? RMPP_STOP : RMPP_ABORT, 0, status, 0, 0);
}

int rmpp_sender_create(struct rmpp_sender **sender, const uint8_t *message, size_t bytes,
                       const struct rmpp_options *options)
{
    if (bytes < MAD_HEADER_BYTES)
        return -EINVAL;
    size_t header_bytes = rmpp_header_bytes((unsigned)wire_get(message, MAD_CLASS));
    if (bytes < header_bytes)
        return -EINVAL;
    size_t share = MAD_BYTES - header_bytes, data = bytes - header_bytes;
    size_t segments = data ? (data + share - 1) / share : 1;
    if (segments > UINT32_MAX / RMPP_PAYLOAD_BYTES)
        return -EMSGSIZE;
    struct rmpp_sender *created = mem_zalloc(1, sizeof *created);
    created->options = *options;
    created->message = mem_alloc(bytes);
    memcpy(created->message, message, bytes);
    created->bytes = bytes;
    created->header_bytes = header_bytes;
    created->segments = (uint32_t)segments;
    created->window_last = created->next = 1;
    created->retries_left = options->retries;
    created->deadline = TIME_NEVER;
    *sender = created;
    return 0;
}

void rmpp_sender_free(struct rmpp_sender *sender)
{
    if (!sender)
        return;
    mem_free(sender->message);
    mem_free(sender);
}

static void sender_end(struct rmpp_sender *sender, enum rmpp_status status, bool send_abort)
{
    assert(sender->state == RMPP_OPEN);
    sender->state = status ? RMPP_FAILED : RMPP_DONE;
    assert(status || sender->acknowledged == sender->segments);
    sender->status = status;
    sender->abort_pending = send_abort;
}

static void sender_take_acknowledge(struct rmpp_sender *sender, uint64_t now, const uint8_t *mad)
{
    uint32_t segment = (uint32_t)wire_get(mad, RMPP_DATA1);
    uint32_t window_last = (uint32_t)wire_get(mad, RMPP_DATA2);
    enum rmpp_status fault = RMPP_STATUS_OK;
    if (wire_get(mad, RMPP_STATUS))
        fault = RMPP_STATUS_BAD_STATUS;
    else if (window_last < segment)
        fault = RMPP_STATUS_WINDOW_TOO_SMALL;
    else if (segment > sender->segments || segment > sender->window_last)
        fault = RMPP_STATUS_SEGMENT_TOO_BIG;
    if (fault) {
        sender_end(sender, fault, true);
        return;
    }
    if (window_last < sender->window_last || segment < sender->acknowledged)
        return; /* older than an ACK that has arrived */
    if (segment > sender->acknowledged) {
        sender->acknowledged = segment;
        sender->retries_left = sender->options.retries;
        sender->deadline = now + sender->options.acknowledge_timeout_ps;
        if (sender->next <= segment) /* skips the segments that are now acknowledged */
            sender->next = segment + 1;
    }
    sender->window_last = window_last;
    if (sender->acknowledged == sender->segments)
        sender_end(sender, RMPP_STATUS_OK, false);
}

bool rmpp_sender_receive(struct rmpp_sender *sender, uint64_t now, const uint8_t mad[MAD_BYTES])
{
    unsigned type = (unsigned)wire_get(mad, RMPP_TYPE);
    enum rmpp_status peer_status = (enum rmpp_status)wire_get(mad, RMPP_STATUS);
    if (!is_same_transaction(sender->message, mad, METHOD_RESPONSE) || !is_active(mad) ||
        type == RMPP_DATA)
        return false;
    if (sender->state != RMPP_OPEN)
        return true;
    if (type == RMPP_ABORT) /* never answered, or two ends would abort each other without end */
        sender_end(sender, peer_status ? peer_status : RMPP_STATUS_UNSPECIFIED, false);
    else if (wire_get(mad, RMPP_VERSION) != RMPP_THIS_VERSION)
        sender_end(sender, RMPP_STATUS_BAD_VERSION, true);
    else if (type == RMPP_ACK)
        sender_take_acknowledge(sender, now, mad);
    else if (type != RMPP_STOP)
        sender_end(sender, RMPP_STATUS_BAD_TYPE, true);
    else if (peer_status != RMPP_STATUS_RESOURCES)
        sender_end(sender, RMPP_STATUS_BAD_STATUS, true);
    else
        sender_end(sender, peer_status, false);
    return true;
}

static void put_segment(const struct rmpp_sender *sender, uint32_t segment, uint8_t *mad)
{
    size_t share = MAD_BYTES - sender->header_bytes;
    size_t start = sender->header_bytes + (size_t)(segment - 1) * share;
    assert(segment >= 1 && segment <= sender->segments && start <= sender->bytes);
    size_t bytes = sender->bytes - start < share ? sender->bytes - start : share;
    uint32_t unused = (uint32_t)(sender->segments * share - (sender->bytes - sender->header_bytes));
    unsigned flags = 0;
    uint32_t payload = 0;
    if (segment == 1) {
        flags |= RMPP_FLAG_FIRST;
        payload = sender->segments * RMPP_PAYLOAD_BYTES - unused;
    }
    if (segment == sender->segments) {
        flags |= RMPP_FLAG_LAST;
        payload = RMPP_PAYLOAD_BYTES - unused;
    }
    memcpy(mad, sender->message, sender->header_bytes);
    memcpy(mad + sender->header_bytes, sender->message + start, bytes);
    memset(mad + sender->header_bytes + bytes, 0, share - bytes);
    set_rmpp_header(mad, RMPP_DATA, flags, RMPP_STATUS_OK, segment, payload);
}

static bool sender_may_send(const struct rmpp_sender *sender)
{
    return sender->state == RMPP_OPEN && sender->next <= sender->window_last &&
           sender->next <= sender->segments;
}

bool rmpp_sender_next(struct rmpp_sender *sender, uint64_t now, uint8_t mad[MAD_BYTES])
{
    if (sender->abort_pending) {
        memset(mad, 0, MAD_BYTES);
        memcpy(mad, sender->message, sender->header_bytes);
        set_end(mad, sender->status);
        sender->abort_pending = false;
        return true;
    }
    if (!sender_may_send(sender))
        return false;
    put_segment(sender, sender->next++, mad);
    sender->deadline = now + sender->options.acknowledge_timeout_ps;
    return true;
}

uint64_t rmpp_sender_deadline(const struct rmpp_sender *sender)
{
    return sender->state == RMPP_OPEN && !sender_may_send(sender) ? sender->deadline : TIME_NEVER;
}

void rmpp_sender_expire(struct rmpp_sender *sender, uint64_t now)
{
    if (now < rmpp_sender_deadline(sender))
        return;
    if (!sender->retries_left) {
        sender_end(sender, RMPP_STATUS_TOO_MANY_RETRIES, true);
        return;
    }
    sender->retries_left--;
    sender->next = sender->acknowledged + 1;
}

enum rmpp_state rmpp_sender_state(const struct rmpp_sender *sender)
{
    return sender->state;
}

enum rmpp_status rmpp_sender_status(const struct rmpp_sender *sender)
{
    return sender->status;
}

struct rmpp_receiver *rmpp_receiver_create(const struct rmpp_options *options)
{
    struct rmpp_receiver *receiver = mem_zalloc(1, sizeof *receiver);
    receiver->options = *options;
    if (!receiver->options.window)
        receiver->options.window = 1;
    if (receiver->options.window > RMPP_WINDOW_MAX)
        receiver->options.window = RMPP_WINDOW_MAX;
    receiver->window_last = 1;
    receiver->deadline = TIME_NEVER;
    return receiver;
}

void rmpp_receiver_free(struct rmpp_receiver *receiver)
{
    if (!receiver)
        return;
    mem_free(receiver->message);
    mem_free(receiver);
}

static void receiver_fail(struct rmpp_receiver *receiver, enum rmpp_status status, bool send_end)
{
    assert(receiver->state == RMPP_OPEN && status != RMPP_STATUS_OK);
    receiver->state = RMPP_FAILED;
    receiver->status = status;
    receiver->deadline = TIME_NEVER;
    receiver->acknowledge_pending = false;
    receiver->end_pending = send_end;
}

/* The least length of a message with this segment: by its number, by the payload of the Last
 * segment and by the total length in the First one (which may be 0: unknown). */
static uint64_t least_bytes(const uint8_t *mad)
{
    uint64_t header_bytes = rmpp_header_bytes((unsigned)wire_get(mad, MAD_CLASS));
    uint64_t share = MAD_BYTES - header_bytes, repeated = header_bytes - WIRE_BYTES_RMPP;
    uint64_t segment = wire_get(mad, RMPP_DATA1), payload = wire_get(mad, RMPP_DATA2);
    if (wire_get(mad, RMPP_FLAGS) & RMPP_FLAG_LAST)
        return header_bytes + (segment - 1) * share + payload - repeated;
    uint64_t announced = (payload + RMPP_PAYLOAD_BYTES - 1) / RMPP_PAYLOAD_BYTES;
    if (segment == 1 && announced)
        return header_bytes + payload - announced * repeated;
    return header_bytes + segment * share;
}

/* Returns the fault of a segment, or RMPP_STATUS_OK. */
static enum rmpp_status check_segment(const struct rmpp_receiver *receiver, const uint8_t *mad)
{
    size_t header_bytes = rmpp_header_bytes((unsigned)wire_get(mad, MAD_CLASS));
    uint64_t segment = wire_get(mad, RMPP_DATA1), payload = wire_get(mad, RMPP_DATA2);
    uint64_t flags = wire_get(mad, RMPP_FLAGS);
    bool first = flags & RMPP_FLAG_FIRST, last = flags & RMPP_FLAG_LAST;
    if (wire_get(mad, RMPP_STATUS))
        return RMPP_STATUS_BAD_STATUS;
    if (first != (segment == 1) || !segment)
        return RMPP_STATUS_BAD_FIRST;
    if (last && (payload > RMPP_PAYLOAD_BYTES || payload < header_bytes - WIRE_BYTES_RMPP))
        return RMPP_STATUS_BAD_LAST;
    if (receiver->last && last && segment != receiver->last)
        return RMPP_STATUS_BAD_LAST;
    if (least_bytes(mad) > receiver->options.message_max)
        return RMPP_STATUS_RESOURCES;
    return RMPP_STATUS_OK;
}

/* Stores a segment of the window and counts those without a gap; false for a duplicate. */
static bool receiver_store(struct rmpp_receiver *receiver, const uint8_t *mad)
{
    uint32_t segment = (uint32_t)wire_get(mad, RMPP_DATA1);
    assert(segment > receiver->received && segment - receiver->received <= RMPP_WINDOW_MAX);
    uint64_t bit = UINT64_C(1) << (segment - receiver->received - 1);
    if (receiver->beyond & bit)
        return false;
    size_t share = MAD_BYTES - receiver->header_bytes;
    size_t start = receiver->header_bytes + (size_t)(segment - 1) * share;
    receiver->message = mem_reserve(receiver->message, &receiver->capacity, start + share, 1);
    if (segment == 1)
        memcpy(receiver->message, mad, receiver->header_bytes);
    memcpy(receiver->message + start, mad + receiver->header_bytes, share);
    if (wire_get(mad, RMPP_FLAGS) & RMPP_FLAG_LAST) {
        receiver->last = segment;
        receiver->bytes =
            start + wire_get(mad, RMPP_DATA2) - (receiver->header_bytes - WIRE_BYTES_RMPP);
    }
    receiver->beyond |= bit;
    for (; receiver->beyond & 1; receiver->beyond >>= 1)
        receiver->received++;
    return true;
}

static void receiver_take_segment(struct rmpp_receiver *receiver, uint64_t now, const uint8_t *mad)
{
    assert(receiver->state == RMPP_OPEN && receiver->message);
    uint64_t segment = wire_get(mad, RMPP_DATA1);
    if (segment && segment <= receiver->acknowledged) {
        receiver->acknowledge_pending = true;
        return;
    }
    enum rmpp_status fault = check_segment(receiver, mad);
    if (fault) {
        receiver_fail(receiver, fault, true);
        return;
    }
    if (segment <= receiver->received || segment > receiver->window_last ||
        (receiver->last && segment > receiver->last))
        return;
    bool last = wire_get(mad, RMPP_FLAGS) & RMPP_FLAG_LAST;
    if (last && receiver->beyond >> (segment - receiver->received - 1) > 1) {
        receiver_fail(receiver, RMPP_STATUS_BAD_LAST, true); /* a later segment is here */
        return;
    }
    if (!receiver_store(receiver, mad))
        return;
    receiver->deadline = now + receiver->options.idle_timeout_ps;
    if (receiver->received == receiver->last) {
        receiver->state = RMPP_DONE;
        receiver->deadline = now + receiver->options.linger_ps;
        receiver->acknowledge_pending = true;
    } else if (receiver->received == receiver->window_last) {
        receiver->window_last += receiver->options.window;
        receiver->acknowledge_pending = true;
    }
}

bool rmpp_receiver_receive(struct rmpp_receiver *receiver, uint64_t now,
                           const uint8_t mad[MAD_BYTES])
{
    unsigned type = (unsigned)wire_get(mad, RMPP_TYPE);
    enum rmpp_status peer_status = (enum rmpp_status)wire_get(mad, RMPP_STATUS);
    bool starts = wire_get(mad, RMPP_DATA1) == 1 || wire_get(mad, RMPP_FLAGS) & RMPP_FLAG_FIRST;
    if (!is_active(mad) || type == RMPP_ACK || type == RMPP_STOP)
        return false;
    if (!receiver->message && (type != RMPP_DATA || !starts))
        return false;
    if (!receiver->message) { /* the first MAD opens the transaction; its header identifies it */
        receiver->header_bytes = rmpp_header_bytes((unsigned)wire_get(mad, MAD_CLASS));
        receiver->message = mem_reserve(NULL, &receiver->capacity, MAD_BYTES, 1);
        memcpy(receiver->message, mad, receiver->header_bytes);
    }
    if (!is_same_transaction(receiver->message, mad, 0))
        return false;
    if (receiver->state != RMPP_OPEN)
        receiver->acknowledge_pending |= /* the last ACK was lost */
            receiver->state == RMPP_DONE && type == RMPP_DATA;
    else if (type == RMPP_ABORT)
        receiver_fail(receiver, peer_status ? peer_status : RMPP_STATUS_UNSPECIFIED, false);
    else if (wire_get(mad, RMPP_VERSION) != RMPP_THIS_VERSION)
        receiver_fail(receiver, RMPP_STATUS_BAD_VERSION, true);
    else if (type != RMPP_DATA)
        receiver_fail(receiver, RMPP_STATUS_BAD_TYPE, true);
    else
        receiver_take_segment(receiver, now, mad);
    return true;
}

bool rmpp_receiver_next(struct rmpp_receiver *receiver, uint64_t now, uint8_t mad[MAD_BYTES])
{
    (void)now; /* ACKs are not repeated on a timer */
    if (!receiver->end_pending && !receiver->acknowledge_pending)
        return false;
    assert(receiver->message); /* a segment has arrived */
    memset(mad, 0, MAD_BYTES);
    memcpy(mad, receiver->message, receiver->header_bytes);
    wire_set(mad, MAD_METHOD, wire_get(mad, MAD_METHOD) ^ METHOD_RESPONSE);
    if (receiver->end_pending) {
        set_end(mad, receiver->status);
    } else {
        set_rmpp_header(mad, RMPP_ACK, 0, RMPP_STATUS_OK, receiver->received,
                        receiver->window_last);
        receiver->acknowledged = receiver->received;
    }
    receiver->end_pending = receiver->acknowledge_pending = false;
    return true;
}

uint64_t rmpp_receiver_deadline(const struct rmpp_receiver *receiver)
{
    return receiver->deadline;
}

void rmpp_receiver_expire(struct rmpp_receiver *receiver, uint64_t now)
{
    if (now < receiver->deadline)
        return;
    receiver->deadline = TIME_NEVER;
    if (receiver->state == RMPP_DONE)
        receiver->state = RMPP_OVER;
    else if (receiver->state == RMPP_OPEN)
        receiver_fail(receiver, RMPP_STATUS_TOO_LONG, true);
}

enum rmpp_state rmpp_receiver_state(const struct rmpp_receiver *receiver)
{
    return receiver->state;
}

const uint8_t *rmpp_receiver_message(const struct rmpp_receiver *receiver, size_t *bytes)
{
    if (receiver->state != RMPP_DONE && receiver->state != RMPP_OVER)
        return NULL;
    assert(receiver->received == receiver->last && receiver->bytes <= receiver->capacity);
    *bytes = receiver->bytes;
    return receiver->message;
}
