/* The checker: see checker.h.
 *
 * PSNs become offsets from the first one. `requests` has what the requester sent with each of them,
 * and messages follow from that. Of the requester the checker knows, at any time, which PSN must be
 * next: after the previous one, or at the oldest unacknowledged one if there was a reason to go
 * back. Where the specification leaves a choice (a missing response may be requested again at once,
 * or after the time-out) both are accepted, until the next progress. */
#include "checker.h"

#include <stdarg.h>
#include <stdio.h>

struct request {
    uint32_t message, index; /* the index-th PSN of that message */
    struct transport_packet packet;
    bool answered;     /* READ, atomic: the response was sent */
    uint64_t original; /* of the atomic operation, as answered */
};

struct span {
    uint64_t first, end; /* offsets */
};

struct checker {
    struct checker_flow flow;
    uint8_t service;
    char error[256];
    VEC(struct request) requests;
    struct checker_messages messages, got; /* got: UC */
    VEC(struct span) spans;                /* of `messages` */

    /* Requester */
    uint64_t acknowledged, next, next_message; /* next_message: the first incomplete one */
    uint64_t deadline, silent_until;
    unsigned retries, rnr_retries;
    bool open;    /* the last message that was begun is not complete */
    bool loose;   /* it may have gone back */
    bool settles; /* the next request shows whether it has */
    bool dead;
    bool moved;  /* to the alternate path */
    bool unsure; /* there may have been more time-outs than `retries` since the last progress */

    /* Responder */
    uint64_t expected, last_acknowledged;
    bool gap, nak_sent, refuses, refused;
    bool inside; /* UC: the packets of a message so far are complete */
};

struct checker *checker_new(const struct checker_flow *flow, uint8_t service)
{
    struct checker *checker = mem_zalloc(1, sizeof *checker);
    checker->flow = *flow;
    checker->service = service;
    checker->deadline = UINT64_MAX;
    return checker;
}

void checker_free(struct checker *checker)
{
    vec_release(&checker->requests);
    vec_release(&checker->messages.items);
    vec_release(&checker->got.items);
    vec_release(&checker->spans);
    mem_free(checker);
}

const char *checker_error(const struct checker *checker)
{
    return checker->error;
}

__attribute__((format(printf, 2, 3))) static bool broken(struct checker *checker,
                                                         const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(checker->error, sizeof checker->error, format, arguments);
    va_end(arguments);
    return false;
}

/* The offset of a PSN that lies within 2^23 of another offset; negative if it lies before the
 * first. */
static int64_t near(const struct checker *checker, uint32_t psn, uint64_t reference)
{
    uint32_t at = (uint32_t)(checker->flow.first_psn + reference);
    return (int64_t)reference + ((int32_t)((psn - at) << 8) >> 8);
}

static bool between(unsigned value, unsigned first, unsigned last)
{
    return value >= first && value <= last;
}

/* ---- opcodes, written down a second time: chapter 9.2.1 ---- */

struct shape {
    bool send, write, read, atomic, response, begins, ends, immediate;
};

static struct shape shape_of(uint8_t opcode)
{
    unsigned code = opcode & 31;
    return (struct shape){
        .send = code <= 5 || code == 22 || code == 23,
        .write = between(code, 6, 11),
        .read = between(code, 12, 16),
        .atomic = between(code, 18, 20),
        .response = between(code, 13, 18),
        .begins = code == 0 || code == 4 || code == 5 || code == 6 || between(code, 10, 13) ||
                  between(code, 16, 20) || code == 23,
        .ends = between(code, 2, 5) || between(code, 8, 12) || code >= 15,
        .immediate = code == 3 || code == 5 || code == 9 || code == 11,
    };
}

static uint32_t psns_of(const struct checker *checker, const struct transport_packet *packet)
{
    uint32_t mtu = checker->flow.mtu;
    if (!shape_of(packet->opcode).read || packet->dma_bytes == 0)
        return 1;
    return (packet->dma_bytes + mtu - 1) / mtu;
}

/* The requester has sent all of it, and all before `offset` is acknowledged. */
static bool ends_before(const struct checker *checker, uint64_t message, uint64_t offset)
{
    bool is_open = checker->open && message + 1 == checker->spans.count;
    return !is_open && checker->spans.items[message].end <= offset;
}

/* ---- requests leave ---- */

static bool lengths_are_right(const struct checker *checker, const struct shape *shape,
                              const struct transport_packet *packet)
{
    uint32_t bytes = packet->payload.bytes;
    if (shape->read || shape->atomic)
        return bytes == 0;
    if (!shape->ends)
        return bytes == checker->flow.mtu;
    return bytes <= checker->flow.mtu && (bytes > 0 || shape->begins);
}

static bool begin_message(struct checker *checker, const struct shape *shape,
                          const struct transport_packet *packet, uint64_t offset)
{
    struct checker_message message = {
        .kind = (uint8_t)(shape->send    ? CHECKER_SEND
                          : shape->write ? CHECKER_WRITE
                          : shape->read  ? CHECKER_READ
                                         : CHECKER_ATOMIC),
        .bytes = shape->read ? packet->dma_bytes : 0,
        .first_psn = packet->psn,
    };
    if (checker->open)
        return broken(checker, "PSN %u begins a message inside another one", packet->psn);
    vec_push(&checker->messages.items, message);
    vec_push(&checker->spans, ((struct span){offset, offset}));
    return true;
}

static bool add_new(struct checker *checker, const struct shape *shape,
                    const struct transport_packet *packet, uint64_t offset)
{
    if (shape->begins && !begin_message(checker, shape, packet, offset))
        return false;
    if (!shape->begins && !checker->open)
        return broken(checker, "PSN %u continues no message", packet->psn);
    size_t last = checker->messages.items.count - 1;
    struct checker_message *message = &checker->messages.items.items[last];
    if ((message->kind == CHECKER_SEND) != shape->send)
        return broken(checker, "PSN %u changes the kind of its message", packet->psn);
    for (uint32_t i = 0; i < psns_of(checker, packet); i++) {
        struct request request = {
            .message = (uint32_t)last,
            .index = (uint32_t)(offset + i - checker->spans.items[last].first),
            .packet = *packet,
        };
        vec_push(&checker->requests, request);
    }
    if (!shape->read)
        message->bytes += packet->payload.bytes;
    if (shape->immediate) {
        message->immediate = true;
        message->data = packet->immediate;
    }
    checker->spans.items[last].end = checker->requests.count;
    message->end_psn = (packet->psn + psns_of(checker, packet)) & 0xFFFFFF;
    checker->open = !shape->ends;
    if (shape->write && shape->ends) {
        const struct transport_packet *first =
            &checker->requests.items[checker->spans.items[last].first].packet;
        if (first->dma_bytes != message->bytes)
            return broken(checker, "PSN %u: the WRITE has %u bytes and announced %u", packet->psn,
                          message->bytes, first->dma_bytes);
    }
    return true;
}

static bool same_again(struct checker *checker, const struct shape *shape,
                       const struct transport_packet *packet, uint64_t offset)
{
    const struct request *request = &checker->requests.items[offset];
    const struct transport_packet *first = &request->packet;
    uint32_t shift = shape->read ? request->index * checker->flow.mtu : 0;
    if (packet->opcode != first->opcode || packet->payload.bytes != first->payload.bytes ||
        packet->r_key != first->r_key || packet->address != first->address + shift ||
        packet->dma_bytes != first->dma_bytes - shift ||
        packet->swap_or_add != first->swap_or_add || packet->compare != first->compare ||
        packet->immediate != first->immediate || packet->solicited != first->solicited)
        return broken(checker, "PSN %u is not what was sent before", packet->psn);
    return true;
}

static bool is_response_kind(unsigned kind)
{
    return kind == CHECKER_READ || kind == CHECKER_ATOMIC;
}

static bool reads_within_limit(struct checker *checker, uint64_t offset)
{
    unsigned outstanding = 0;
    for (uint64_t i = checker->next_message; i < checker->messages.items.count; i++)
        outstanding += is_response_kind(checker->messages.items.items[i].kind) &&
                       checker->spans.items[i].first <= offset &&
                       checker->spans.items[i].end > checker->acknowledged;
    return outstanding <= checker->flow.reads ||
           broken(checker, "%u READs and atomics are outstanding", outstanding);
}

static void pass_time(struct checker *checker, uint64_t time)
{
    if (time < checker->deadline)
        return;
    checker->deadline = UINT64_MAX;
    checker->unsure |= checker->loose;
    if (checker->loose) /* the time-out may have begun later */
        return;
    checker->next = checker->acknowledged;
    checker->dead |= ++checker->retries > checker->flow.retries;
}

bool checker_exhausted(struct checker *checker, uint64_t time)
{
    pass_time(checker, time);
    return checker->retries > checker->flow.retries || checker->unsure;
}

static bool request_leaves(struct checker *checker, uint64_t time,
                           const struct transport_packet *packet)
{
    struct shape shape = shape_of(packet->opcode);
    bool reliable = checker->service == TRANSPORT_RC;
    pass_time(checker, time);
    int64_t offset = near(checker, packet->psn, checker->next);
    if (checker->flow.alternate && packet->dlid == checker->flow.alternate && !checker->moved) {
        checker->moved = true;
        checker->retries = 0; /* those of the alternate path */
        checker->loose |= checker->unsure;
        checker->dead = checker->unsure = false;
    }
    if (checker->dead)
        return broken(checker, "PSN %u after the connection has broken", packet->psn);
    if (offset < 0 || ((uint64_t)offset != checker->next &&
                       !(checker->loose && (uint64_t)offset == checker->acknowledged)))
        return broken(checker, "PSN %u (offset %lld) is sent where offset %llu was due",
                      packet->psn, (long long)offset, (unsigned long long)checker->next);
    if (time < checker->silent_until)
        return broken(checker, "PSN %u is sent while the RNR timer runs", packet->psn);
    if (!lengths_are_right(checker, &shape, packet))
        return broken(checker, "PSN %u has %u bytes", packet->psn, packet->payload.bytes);
    if (reliable && shape.ends && !packet->acknowledge)
        return broken(checker, "PSN %u ends a message without AckReq", packet->psn);
    bool known = (uint64_t)offset < checker->requests.count;
    if (!(known ? same_again : add_new)(checker, &shape, packet, (uint64_t)offset))
        return false;
    uint64_t end = (uint64_t)offset + 1;
    if (shape.read)
        end = checker->spans.items[checker->requests.items[offset].message].end;
    if (reliable && end - checker->acknowledged > 1 << 23)
        return broken(checker, "PSN %u leaves the window", packet->psn);
    if ((shape.read || shape.atomic) && !reads_within_limit(checker, (uint64_t)offset))
        return false;
    checker->next = end;
    checker->loose &= !checker->settles;
    checker->settles = false;
    if (!reliable)
        checker->acknowledged = end;
    else if (checker->deadline == UINT64_MAX && checker->flow.timeout_ps != UINT64_MAX)
        checker->deadline = time + checker->flow.timeout_ps;
    return true;
}

/* ---- responses arrive ---- */

static void progress(struct checker *checker, uint64_t time, uint64_t acknowledged)
{
    if (acknowledged == checker->acknowledged)
        return;
    checker->acknowledged = acknowledged;
    while (checker->next_message < checker->spans.count &&
           ends_before(checker, checker->next_message, acknowledged))
        checker->next_message++;
    checker->retries = checker->rnr_retries = 0;
    checker->unsure = false;
    if (checker->next < acknowledged)
        checker->next = acknowledged;
    if (time < checker->silent_until)
        return;
    checker->deadline = checker->next > acknowledged && checker->flow.timeout_ps != UINT64_MAX
                            ? time + checker->flow.timeout_ps
                            : UINT64_MAX;
}

/* Everything before `end` is acknowledged, up to a READ or an atomic. False: one of these as a
 * whole lies before it. */
static bool acknowledge(struct checker *checker, uint64_t time, uint64_t end)
{
    uint64_t upto = checker->acknowledged;
    bool complete = true;
    for (uint64_t i = checker->next_message; i < checker->spans.count; i++) {
        const struct span *span = &checker->spans.items[i];
        if (span->first >= end)
            break;
        if (is_response_kind(checker->messages.items.items[i].kind)) {
            complete = end < span->end;
            break;
        }
        uint64_t covered = end < span->end ? end : span->end;
        upto = covered > upto ? covered : upto;
    }
    progress(checker, time, upto);
    return complete;
}

static void go_back(struct checker *checker)
{
    checker->next = checker->acknowledged;
    checker->deadline = UINT64_MAX;
    checker->dead |= ++checker->retries > checker->flow.retries;
}

static bool nak_arrives(struct checker *checker, uint64_t time,
                        const struct transport_packet *packet)
{
    static const uint32_t units[32] = {65536, 1,    2,    3,     4,     6,     8,     12,
                                       16,    24,   32,   48,    64,    96,    128,   192,
                                       256,   384,  512,  768,   1024,  1536,  2048,  3072,
                                       4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};
    unsigned kind = packet->syndrome >> 5, value = packet->syndrome & 31;
    if (kind == 1 && time >= checker->silent_until) {
        if (checker->flow.rnr_retries != 7)
            checker->dead |= ++checker->rnr_retries > checker->flow.rnr_retries;
        checker->next = checker->acknowledged;
        checker->deadline = UINT64_MAX;
        checker->silent_until = time + units[value] * UINT64_C(10000000);
        checker->loose = false;
    } else if (kind == 3 && value == 0) {
        if (time >= checker->silent_until)
            go_back(checker);
    } else if (kind == 3) {
        checker->dead = true;
    }
    return true;
}

static bool response_arrives(struct checker *checker, uint64_t time,
                             const struct transport_packet *packet)
{
    pass_time(checker, time);
    struct shape shape = shape_of(packet->opcode);
    int64_t offset = near(checker, packet->psn, checker->acknowledged);
    if (checker->dead || offset < (int64_t)checker->acknowledged ||
        (uint64_t)offset >= checker->requests.count)
        return true;
    bool plain = !shape.read && !shape.atomic;
    uint64_t end = (uint64_t)offset + (plain && packet->syndrome >> 5 == 0);
    bool complete = acknowledge(checker, time, end);
    if (!plain && complete && (uint64_t)offset == checker->acknowledged) {
        progress(checker, time, (uint64_t)offset + 1);
        checker->settles = checker->loose;
    } else if (!complete || !plain) {
        checker->loose = checker->unsure = true;
        checker->settles = false;
    } else if (packet->syndrome >> 5) {
        return nak_arrives(checker, time, packet);
    }
    return true;
}

/* ---- requests arrive ---- */

static bool memory_allowed(const struct checker *checker, const struct transport_packet *packet,
                           const struct shape *shape)
{
    uint64_t bytes = shape->atomic ? 8 : packet->dma_bytes;
    if (bytes == 0)
        return true;
    for (unsigned i = 0; i < CHECKER_REGIONS; i++) {
        const struct checker_region *region = &checker->flow.regions[i];
        bool right = shape->atomic ? region->atomic : shape->read ? region->read : region->write;
        if (region->key == packet->r_key && region->bytes && right &&
            packet->address >= region->start && packet->address - region->start <= region->bytes &&
            bytes <= region->bytes - (packet->address - region->start))
            return true;
    }
    return false;
}

static void receive_unreliable(struct checker *checker, const struct shape *shape, uint64_t offset)
{
    if (offset < checker->expected)
        return;
    checker->inside = shape->begins || (checker->inside && offset == checker->expected);
    checker->expected = offset + 1;
    if (shape->ends && checker->inside) {
        vec_push(&checker->got.items,
                 checker->messages.items.items[checker->requests.items[offset].message]);
        checker->inside = false;
    }
}

static bool request_arrives(struct checker *checker, const struct transport_packet *packet)
{
    struct shape shape = shape_of(packet->opcode);
    int64_t offset = near(checker, packet->psn, checker->expected);
    if (offset < 0 || (uint64_t)offset >= checker->requests.count)
        return broken(checker, "PSN %u arrives and was never sent", packet->psn);
    if (!same_again(checker, &shape, packet, (uint64_t)offset))
        return false;
    if (checker->service != TRANSPORT_RC) {
        receive_unreliable(checker, &shape, (uint64_t)offset);
        return true;
    }
    if (checker->refuses)
        return true;
    if ((uint64_t)offset > checker->expected)
        checker->gap = true;
    if ((uint64_t)offset != checker->expected)
        return true;
    bool names_memory = shape.read || shape.atomic || (shape.write && shape.begins);
    if (names_memory && !memory_allowed(checker, packet, &shape)) {
        checker->refuses = true;
        return true;
    }
    checker->expected = shape.read
                            ? checker->spans.items[checker->requests.items[offset].message].end
                            : checker->expected + 1;
    checker->gap = checker->nak_sent = false;
    return true;
}

/* ---- responses leave ---- */

static uint32_t messages_before(const struct checker *checker, uint64_t end)
{
    uint32_t low = 0, high = (uint32_t)checker->spans.count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (ends_before(checker, middle, end))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool all_answered(struct checker *checker, uint64_t end)
{
    for (uint64_t at = checker->last_acknowledged; at < end; at++) {
        const struct request *request = &checker->requests.items[at];
        if (is_response_kind(checker->messages.items.items[request->message].kind) &&
            !request->answered)
            return broken(checker, "an acknowledgement overtakes the response of offset %llu",
                          (unsigned long long)at);
    }
    return true;
}

static bool acknowledgement_leaves(struct checker *checker, const struct transport_packet *packet,
                                   uint64_t end)
{
    if (end > checker->expected)
        return broken(checker, "PSN %u is acknowledged and has not arrived", packet->psn);
    if (end < checker->last_acknowledged)
        return broken(checker, "acknowledgements go back to PSN %u", packet->psn);
    if (!all_answered(checker, end))
        return false;
    checker->last_acknowledged = end;
    if (packet->msn != (messages_before(checker, end) & 0xFFFFFF))
        return broken(checker, "PSN %u is acknowledged with MSN %u instead of %u", packet->psn,
                      packet->msn, messages_before(checker, end));
    return true;
}

static bool needs_receive(const struct checker *checker, uint64_t offset)
{
    struct shape shape = shape_of(checker->requests.items[offset].packet.opcode);
    return (shape.send && shape.begins) || (shape.write && shape.immediate);
}

static bool nak_leaves(struct checker *checker, const struct transport_packet *packet,
                       uint64_t offset)
{
    unsigned kind = packet->syndrome >> 5, value = packet->syndrome & 31;
    if (kind == 1) {
        if (offset >= checker->expected || offset < checker->last_acknowledged ||
            !needs_receive(checker, offset))
            return broken(checker, "RNR NAK of PSN %u", packet->psn);
        checker->expected = offset;
        checker->nak_sent = true;
    } else if (kind == 3 && value == 0) {
        if (offset != checker->expected || !checker->gap || checker->nak_sent)
            return broken(checker, "sequence NAK of PSN %u without a gap, or once more",
                          packet->psn);
        checker->nak_sent = true;
    } else if (kind == 3 && value == 2) {
        if (offset != checker->expected || !checker->refuses)
            return broken(checker, "PSN %u is refused and was allowed", packet->psn);
        checker->refused = true;
    } else {
        return broken(checker, "syndrome %02x at PSN %u", packet->syndrome, packet->psn);
    }
    return true;
}

static bool answer_leaves(struct checker *checker, const struct transport_packet *packet,
                          const struct shape *shape, uint64_t offset)
{
    struct request *request = &checker->requests.items[offset];
    const struct checker_message *message = &checker->messages.items.items[request->message];
    uint32_t left = message->bytes - (shape->read ? request->index * checker->flow.mtu : 0);
    uint32_t bytes = shape->atomic ? 0 : left < checker->flow.mtu ? left : checker->flow.mtu;
    bool last = offset + 1 == checker->spans.items[request->message].end;
    if (message->kind != (shape->read ? CHECKER_READ : CHECKER_ATOMIC))
        return broken(checker, "PSN %u gets a response of another kind", packet->psn);
    if (offset >= checker->expected)
        return broken(checker, "PSN %u is answered and has not arrived", packet->psn);
    if (packet->payload.bytes != bytes || shape->ends != last)
        return broken(checker, "the response of PSN %u has %u bytes", packet->psn,
                      packet->payload.bytes);
    if (shape->read && bytes &&
        packet->payload.offset !=
            request->packet.address + (uint64_t)request->index * checker->flow.mtu)
        return broken(checker, "the response of PSN %u is from elsewhere", packet->psn);
    if (shape->atomic && request->answered && request->original != packet->original)
        return broken(checker, "the atomic of PSN %u has another result", packet->psn);
    request->answered = true;
    request->original = packet->original;
    return true;
}

static bool response_leaves(struct checker *checker, const struct transport_packet *packet)
{
    struct shape shape = shape_of(packet->opcode);
    int64_t offset = near(checker, packet->psn, checker->expected);
    if (checker->refused)
        return broken(checker, "a response after the last NAK");
    if (offset < 0 || (uint64_t)offset >= checker->requests.count)
        return broken(checker, "response to PSN %u, which was never sent", packet->psn);
    if (shape.read || shape.atomic)
        return answer_leaves(checker, packet, &shape, (uint64_t)offset);
    if (packet->syndrome >> 5 == 0)
        return acknowledgement_leaves(checker, packet, (uint64_t)offset + 1);
    return nak_leaves(checker, packet, (uint64_t)offset);
}

bool checker_add(struct checker *checker, uint64_t time, enum checker_point at, bool sent,
                 const struct transport_packet *packet)
{
    bool response = shape_of(packet->opcode).response;
    if (at == CHECKER_REQUESTER)
        return response ? sent || response_arrives(checker, time, packet)
                        : !sent || request_leaves(checker, time, packet);
    return response ? !sent || response_leaves(checker, packet)
                    : sent || request_arrives(checker, packet);
}

const struct checker_messages *checker_received(const struct checker *checker)
{
    struct checker *writable = (struct checker *)checker;
    if (checker->service != TRANSPORT_RC)
        return &checker->got;
    writable->got.items.count = 0;
    for (uint32_t i = 0; i < messages_before(checker, checker->expected); i++)
        vec_push(&writable->got.items, checker->messages.items.items[i]);
    return &checker->got;
}

size_t checker_acknowledged(const struct checker *checker)
{
    return messages_before(checker, checker->acknowledged);
}

bool checker_was_refused(const struct checker *checker)
{
    return checker->refused;
}

bool checker_finish(struct checker *checker)
{
    if (checker->dead || checker->service != TRANSPORT_RC)
        return true;
    if (checker->open || checker->acknowledged != checker->requests.count)
        return broken(checker, "%llu of %zu PSNs are acknowledged at the end",
                      (unsigned long long)checker->acknowledged, checker->requests.count);
    return true;
}
