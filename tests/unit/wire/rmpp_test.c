/* RMPP: the exact fields on the wire, and a sender and a receiver joined by a seeded network that
 * loses, repeats and reorders. Time is virtual. */
#include "base/mem.h"
#include "base/rng.h"
#include "base/time.h"
#include "wire/rmpp.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SHARE = MAD_BYTES - SA_DATA_OFFSET };

static uint8_t *make_message(size_t bytes, uint64_t seed)
{
    struct rng rng;
    uint8_t *message = mem_zalloc(bytes, 1);
    rng_seed(&rng, seed, 0);
    for (size_t i = MAD_HEADER_BYTES; i < bytes; i++)
        message[i] = (uint8_t)rng_next(&rng);
    wire_set(message, MAD_BASE_VERSION, 1);
    wire_set(message, MAD_CLASS, CLASS_SUBN_ADM);
    wire_set(message, MAD_CLASS_VERSION, 2);
    wire_set(message, MAD_METHOD, METHOD_GET_TABLE_RESP);
    wire_set(message, MAD_TID, 0x0000000a0000000b);
    wire_set(message, MAD_ATTRIBUTE_ID, ATTRIBUTE_NODE_RECORD);
    return message;
}

static struct rmpp_sender *make_sender(size_t bytes)
{
    struct rmpp_sender *sender;
    uint8_t *message = make_message(bytes, 1);
    assert_int_equal(rmpp_sender_create(&sender, message, bytes, &rmpp_defaults), 0);
    mem_free(message);
    return sender;
}

static void assert_segment(const uint8_t *mad, unsigned number, unsigned flags, unsigned payload)
{
    assert_int_equal(wire_get(mad, RMPP_VERSION), 1);
    assert_int_equal(wire_get(mad, RMPP_TYPE), RMPP_DATA);
    assert_int_equal(wire_get(mad, RMPP_FLAGS), flags);
    assert_int_equal(wire_get(mad, RMPP_STATUS), 0);
    assert_int_equal(wire_get(mad, RMPP_DATA1), number);
    assert_int_equal(wire_get(mad, RMPP_DATA2), payload);
}

static void make_reply(uint8_t *reply, const uint8_t *segment, enum rmpp_type type, unsigned status,
                       unsigned data1, unsigned data2)
{
    memset(reply, 0, MAD_BYTES);
    memcpy(reply, segment, SA_DATA_OFFSET);
    wire_set(reply, MAD_METHOD, wire_get(segment, MAD_METHOD) ^ METHOD_RESPONSE);
    wire_set(reply, RMPP_TYPE, type);
    wire_set(reply, RMPP_FLAGS, RMPP_FLAG_ACTIVE);
    wire_set(reply, RMPP_STATUS, status);
    wire_set(reply, RMPP_DATA1, data1);
    wire_set(reply, RMPP_DATA2, data2);
}

static void segments_carry_the_lengths_of_the_specification(void **state)
{
    uint8_t mad[MAD_BYTES], reply[MAD_BYTES];
    struct rmpp_sender *sender = make_sender(SA_DATA_OFFSET + 2 * SHARE + 10);
    assert_true(rmpp_sender_next(sender, 0, mad));
    assert_segment(mad, 1, 3, 3 * 220 - 190); /* three payloads of 220, minus the unused bytes */
    assert_false(rmpp_sender_next(sender, 0, mad)); /* the window starts with one segment */
    make_reply(reply, mad, RMPP_ACK, 0, 1, 65);
    assert_true(rmpp_sender_receive(sender, 0, reply));
    assert_true(rmpp_sender_next(sender, 0, mad));
    assert_segment(mad, 2, 1, 0);
    assert_true(rmpp_sender_next(sender, 0, mad));
    assert_segment(mad, 3, 5, 20 + 10); /* twenty bytes of SA header and ten of data */
    assert_false(rmpp_sender_next(sender, 0, mad));
    assert_int_equal(rmpp_sender_state(sender), RMPP_OPEN);
    make_reply(reply, mad, RMPP_ACK, 0, 3, 65);
    assert_true(rmpp_sender_receive(sender, 0, reply));
    assert_int_equal(rmpp_sender_state(sender), RMPP_DONE);
    rmpp_sender_free(sender);
}

static void a_message_without_data_is_one_segment(void **state)
{
    uint8_t mad[MAD_BYTES];
    struct rmpp_sender *sender = make_sender(SA_DATA_OFFSET);
    assert_true(rmpp_sender_next(sender, 0, mad));
    assert_segment(mad, 1, 7, 20);
    rmpp_sender_free(sender);
}

static void the_header_length_follows_the_class(void **state)
{
    assert_int_equal(rmpp_header_bytes(CLASS_SUBN_ADM), 56);
    assert_int_equal(rmpp_header_bytes(CLASS_VENDOR_RMPP_FIRST), 40);
    assert_int_equal(rmpp_header_bytes(CLASS_VENDOR_RMPP_LAST), 40);
    assert_int_equal(rmpp_header_bytes(CLASS_DEVICE), 64);
    assert_int_equal(rmpp_header_bytes(0x20), 36);
}

static void a_message_shorter_than_its_header_is_refused(void **state)
{
    struct rmpp_sender *sender;
    uint8_t *message = make_message(SA_DATA_OFFSET, 1);
    assert_int_equal(rmpp_sender_create(&sender, message, 0, &rmpp_defaults), -EINVAL);
    assert_int_equal(rmpp_sender_create(&sender, message, SA_DATA_OFFSET - 1, &rmpp_defaults),
                     -EINVAL);
    mem_free(message);
}

/* Feeds a receiver the segment and returns whether it answered. */
static bool feed(struct rmpp_receiver *receiver, const uint8_t *mad, uint8_t *reply)
{
    rmpp_receiver_receive(receiver, 0, mad);
    return rmpp_receiver_next(receiver, 0, reply);
}

static void make_segment(uint8_t *mad, unsigned number, unsigned flags, unsigned payload)
{
    uint8_t *message = make_message(MAD_BYTES, number);
    memcpy(mad, message, MAD_BYTES);
    mem_free(message);
    wire_set(mad, RMPP_VERSION, RMPP_THIS_VERSION);
    wire_set(mad, RMPP_TYPE, RMPP_DATA);
    wire_set(mad, RMPP_FLAGS, RMPP_FLAG_ACTIVE | flags);
    wire_set(mad, RMPP_STATUS, 0);
    wire_set(mad, RMPP_DATA1, number);
    wire_set(mad, RMPP_DATA2, payload);
}

static void acknowledgements_have_the_fields_that_the_kernel_expects(void **state)
{
    uint8_t mad[MAD_BYTES], ack[MAD_BYTES];
    struct rmpp_receiver *receiver = rmpp_receiver_create(&rmpp_defaults);
    make_segment(mad, 1, RMPP_FLAG_FIRST, 0);
    assert_true(feed(receiver, mad, ack));
    assert_int_equal(wire_get(ack, MAD_METHOD), METHOD_GET_TABLE);
    assert_int_equal(wire_get(ack, MAD_TID), wire_get(mad, MAD_TID));
    assert_int_equal(wire_get(ack, MAD_ATTRIBUTE_ID), ATTRIBUTE_NODE_RECORD);
    assert_int_equal(wire_get(ack, RMPP_TYPE), RMPP_ACK);
    assert_int_equal(wire_get(ack, RMPP_FLAGS), RMPP_FLAG_ACTIVE);
    assert_int_equal(wire_get(ack, RMPP_DATA1), 1);
    assert_int_equal(wire_get(ack, RMPP_DATA2), 65);
    for (unsigned i = 2; i <= 64; i++) { /* nothing until the window is full */
        make_segment(mad, i, 0, 0);
        assert_false(feed(receiver, mad, ack));
    }
    make_segment(mad, 65, 0, 0);
    assert_true(feed(receiver, mad, ack));
    assert_int_equal(wire_get(ack, RMPP_DATA1), 65);
    assert_int_equal(wire_get(ack, RMPP_DATA2), 129);
    make_segment(mad, 66, RMPP_FLAG_LAST, 220);
    assert_true(feed(receiver, mad, ack));
    assert_int_equal(wire_get(ack, RMPP_DATA1), 66);
    assert_int_equal(rmpp_receiver_state(receiver), RMPP_DONE);
    rmpp_receiver_free(receiver);
}

static void repeated_segments_are_acknowledged_again(void **state)
{
    uint8_t mad[MAD_BYTES], ack[MAD_BYTES];
    size_t bytes;
    struct rmpp_receiver *receiver = rmpp_receiver_create(&rmpp_defaults);
    make_segment(mad, 1, RMPP_FLAG_FIRST | RMPP_FLAG_LAST, 220);
    assert_true(feed(receiver, mad, ack));
    assert_non_null(rmpp_receiver_message(receiver, &bytes));
    assert_int_equal(bytes, MAD_BYTES);
    assert_true(feed(receiver, mad, ack)); /* as if the ACK had been lost */
    assert_int_equal(wire_get(ack, RMPP_DATA1), 1);
    assert_int_equal(rmpp_receiver_deadline(receiver), rmpp_defaults.linger_ps);
    rmpp_receiver_expire(receiver, rmpp_defaults.linger_ps);
    assert_int_equal(rmpp_receiver_state(receiver), RMPP_OVER);
    assert_false(feed(receiver, mad, ack));
    assert_non_null(rmpp_receiver_message(receiver, &bytes));
    rmpp_receiver_free(receiver);
}

/* The network between the two: a box of MADs under way, each with the time of its arrival. */
struct flight {
    uint64_t arrival;
    uint64_t order;
    bool to_sender;
    uint8_t mad[MAD_BYTES];
};
struct net {
    struct rng rng;
    uint64_t lose, repeat; /* parts of 2^32 */
    uint64_t delay_max;
    VEC(struct flight) flights;
    uint64_t order;
    unsigned segments_sent;
};

static void net_send(struct net *net, uint64_t now, bool to_sender, const uint8_t *mad)
{
    net->segments_sent += !to_sender;
    for (unsigned copies = rng_chance(&net->rng, net->repeat) ? 2 : 1; copies; copies--) {
        if (rng_chance(&net->rng, net->lose))
            continue;
        struct flight flight = {
            now + TIME_US + rng_below(&net->rng, net->delay_max + 1), net->order++, to_sender, {0}};
        memcpy(flight.mad, mad, MAD_BYTES);
        vec_push(&net->flights, flight);
    }
}

static size_t net_first(const struct net *net)
{
    size_t best = 0;
    for (size_t i = 1; i < net->flights.count; i++) {
        const struct flight *a = &net->flights.items[i], *b = &net->flights.items[best];
        if (a->arrival < b->arrival || (a->arrival == b->arrival && a->order < b->order))
            best = i;
    }
    return best;
}

static void pump(struct net *net, uint64_t now, struct rmpp_sender *sender,
                 struct rmpp_receiver *receiver)
{
    uint8_t mad[MAD_BYTES];
    while (rmpp_sender_next(sender, now, mad))
        net_send(net, now, false, mad);
    while (rmpp_receiver_next(receiver, now, mad))
        net_send(net, now, true, mad);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Runs both ends until the sender is no longer open and nothing is under way. */
static void run(struct net *net, struct rmpp_sender *sender, struct rmpp_receiver *receiver)
{
    uint64_t now = 0;
    for (;;) {
        pump(net, now, sender, receiver);
        if (rmpp_sender_state(sender) != RMPP_OPEN && !net->flights.count)
            break;
        size_t first = net_first(net);
        uint64_t arrival = net->flights.count ? net->flights.items[first].arrival : TIME_NEVER;
        uint64_t timer = least(rmpp_sender_deadline(sender), rmpp_receiver_deadline(receiver));
        assert_true(least(arrival, timer) != TIME_NEVER);
        if (timer < arrival) {
            now = timer;
            rmpp_sender_expire(sender, now);
            rmpp_receiver_expire(receiver, now);
            continue;
        }
        struct flight flight = net->flights.items[first];
        net->flights.items[first] = net->flights.items[--net->flights.count];
        now = flight.arrival;
        if (flight.to_sender)
            assert_true(rmpp_sender_receive(sender, now, flight.mad));
        else
            assert_true(rmpp_receiver_receive(receiver, now, flight.mad) ||
                        rmpp_receiver_deadline(receiver) == TIME_NEVER);
    }
    vec_release(&net->flights);
}

/* The RMPP header of the message is the first segment's; all else must arrive as it was sent. */
static void assert_arrived(const struct rmpp_receiver *receiver, const uint8_t *sent, size_t bytes)
{
    size_t got_bytes = 0;
    const uint8_t *got = rmpp_receiver_message(receiver, &got_bytes);
    assert_non_null(got);
    assert_int_equal(got_bytes, bytes);
    assert_memory_equal(got, sent, MAD_HEADER_BYTES);
    assert_memory_equal(got + WIRE_BYTES_RMPP, sent + WIRE_BYTES_RMPP, bytes - WIRE_BYTES_RMPP);
}

static unsigned transfer(size_t bytes, uint64_t seed, uint64_t lose, uint64_t repeat,
                         uint64_t delay_max)
{
    struct net net = {.lose = lose, .repeat = repeat, .delay_max = delay_max};
    struct rmpp_options options = rmpp_defaults;
    struct rmpp_sender *sender;
    uint8_t *message = make_message(bytes, seed);
    options.retries = 50;
    options.idle_timeout_ps = 200 * TIME_S;
    options.window = 1 + (unsigned)(seed % RMPP_WINDOW_MAX);
    struct rmpp_receiver *receiver = rmpp_receiver_create(&options);
    rng_seed(&net.rng, seed, 1);
    assert_int_equal(rmpp_sender_create(&sender, message, bytes, &options), 0);
    run(&net, sender, receiver);
    assert_int_equal(rmpp_sender_state(sender), RMPP_DONE);
    assert_arrived(receiver, message, bytes);
    rmpp_sender_free(sender);
    rmpp_receiver_free(receiver);
    mem_free(message);
    return net.segments_sent;
}

static void without_loss_every_segment_is_sent_once(void **state)
{
    static const unsigned segments[] = {1, 2, 3, 63, 64, 65, 66, 1000, 10000};
    for (size_t i = 0; i < sizeof segments / sizeof *segments; i++)
        for (unsigned cut = 0; cut < 3; cut++) {
            size_t bytes = SA_DATA_OFFSET + (size_t)segments[i] * SHARE - cut * 99;
            assert_int_equal(transfer(bytes, i, 0, 0, 0), segments[i]);
        }
}

static void every_length_arrives_whole(void **state)
{
    for (size_t data = 0; data <= 3 * SHARE + 1; data++)
        transfer(SA_DATA_OFFSET + data, data, 0, 0, 0);
}

static void loss_repetition_and_reordering_do_no_harm(void **state)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct rng rng;
        rng_seed(&rng, seed, 2);
        size_t data = rng_below(&rng, 100 * SHARE);
        transfer(SA_DATA_OFFSET + data, seed, rng_below(&rng, RNG_CERTAIN / 5),
                 rng_below(&rng, RNG_CERTAIN / 2), rng_below(&rng, 4 * TIME_S));
    }
    transfer(SA_DATA_OFFSET + (size_t)10000 * SHARE, 63, RNG_CERTAIN / 1000, RNG_CERTAIN / 100,
             TIME_MS);
}

static void a_silent_peer_ends_both_sides(void **state)
{
    uint8_t mad[MAD_BYTES], reply[MAD_BYTES];
    struct rmpp_sender *sender = make_sender(SA_DATA_OFFSET + 5 * SHARE);
    struct rmpp_receiver *receiver = rmpp_receiver_create(&rmpp_defaults);
    uint64_t now = 0;
    unsigned sent = 0;
    while (rmpp_sender_state(sender) == RMPP_OPEN) {
        while (rmpp_sender_next(sender, now, mad))
            sent++;
        now = rmpp_sender_deadline(sender);
        assert_true(now != TIME_NEVER);
        if (sent == 1)
            assert_true(feed(receiver, mad, reply)); /* and then the line is cut */
        rmpp_sender_expire(sender, now);
    }
    assert_int_equal(sent, 1 + rmpp_defaults.retries);
    assert_int_equal(rmpp_sender_status(sender), RMPP_STATUS_TOO_MANY_RETRIES);
    assert_true(rmpp_sender_next(sender, now, mad));
    assert_int_equal(wire_get(mad, RMPP_TYPE), RMPP_ABORT);
    assert_int_equal(wire_get(mad, RMPP_STATUS), RMPP_STATUS_TOO_MANY_RETRIES);
    assert_false(rmpp_sender_next(sender, now, mad));

    now = rmpp_receiver_deadline(receiver);
    assert_int_equal(now, rmpp_defaults.idle_timeout_ps);
    rmpp_receiver_expire(receiver, now);
    assert_int_equal(rmpp_receiver_state(receiver), RMPP_FAILED);
    assert_true(rmpp_receiver_next(receiver, now, mad));
    assert_int_equal(wire_get(mad, RMPP_TYPE), RMPP_ABORT);
    assert_int_equal(wire_get(mad, RMPP_STATUS), RMPP_STATUS_TOO_LONG);
    assert_false(rmpp_receiver_next(receiver, now, mad));
    assert_int_equal(rmpp_receiver_deadline(receiver), TIME_NEVER);
    rmpp_sender_free(sender);
    rmpp_receiver_free(receiver);
}

/* Each line: the reply to segment 1 of 3, the resulting status of the sender, whether it aborts. */
static void senders_check_replies_by_the_specification(void **state)
{
    static const struct {
        enum rmpp_type type;
        unsigned version, status, data1, data2;
        enum rmpp_state state;
        enum rmpp_status result;
        bool aborts;
    } cases[] = {
        {RMPP_ACK, 1, 0, 1, 9, RMPP_OPEN, RMPP_STATUS_OK, false},
        {RMPP_ACK, 1, 0, 0, 1, RMPP_OPEN, RMPP_STATUS_OK, false},
        {RMPP_ACK, 1, 5, 1, 9, RMPP_FAILED, RMPP_STATUS_BAD_STATUS, true},
        {RMPP_ACK, 1, 0, 1, 0, RMPP_FAILED, RMPP_STATUS_WINDOW_TOO_SMALL, true},
        {RMPP_ACK, 1, 0, 2, 9, RMPP_FAILED, RMPP_STATUS_SEGMENT_TOO_BIG, true},
        {RMPP_ACK, 1, 0, 77, 99, RMPP_FAILED, RMPP_STATUS_SEGMENT_TOO_BIG, true},
        {RMPP_ACK, 2, 0, 1, 9, RMPP_FAILED, RMPP_STATUS_BAD_VERSION, true},
        {RMPP_STOP, 1, 1, 0, 0, RMPP_FAILED, RMPP_STATUS_RESOURCES, false},
        {RMPP_STOP, 1, 9, 0, 0, RMPP_FAILED, RMPP_STATUS_BAD_STATUS, true},
        {RMPP_ABORT, 1, 123, 0, 0, RMPP_FAILED, RMPP_STATUS_SEGMENT_TOO_BIG, false},
        {RMPP_ABORT, 1, 0, 0, 0, RMPP_FAILED, RMPP_STATUS_UNSPECIFIED, false},
        {5, 1, 0, 0, 0, RMPP_FAILED, RMPP_STATUS_BAD_TYPE, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t mad[MAD_BYTES], reply[MAD_BYTES];
        struct rmpp_sender *sender = make_sender(SA_DATA_OFFSET + 3 * SHARE);
        assert_true(rmpp_sender_next(sender, 0, mad));
        make_reply(reply, mad, cases[i].type, cases[i].status, cases[i].data1, cases[i].data2);
        wire_set(reply, RMPP_VERSION, cases[i].version);
        assert_true(rmpp_sender_receive(sender, 0, reply));
        assert_int_equal(rmpp_sender_state(sender), cases[i].state);
        assert_int_equal(rmpp_sender_status(sender), cases[i].result);
        if (cases[i].state == RMPP_FAILED) {
            assert_int_equal(rmpp_sender_next(sender, 0, mad), cases[i].aborts);
            if (cases[i].aborts)
                assert_int_equal(wire_get(mad, RMPP_STATUS), cases[i].result);
        }
        rmpp_sender_free(sender);
    }
}

static void senders_leave_other_transactions_alone(void **state)
{
    uint8_t mad[MAD_BYTES], reply[MAD_BYTES];
    struct rmpp_sender *sender = make_sender(SA_DATA_OFFSET + 3 * SHARE);
    assert_true(rmpp_sender_next(sender, 0, mad));
    make_reply(reply, mad, RMPP_ABORT, 127, 0, 0);
    wire_set(reply, MAD_TID, 5);
    assert_false(rmpp_sender_receive(sender, 0, reply));
    make_reply(reply, mad, RMPP_ABORT, 127, 0, 0);
    wire_set(reply, MAD_METHOD, METHOD_GET_TABLE_RESP);
    assert_false(rmpp_sender_receive(sender, 0, reply));
    make_reply(reply, mad, RMPP_ABORT, 127, 0, 0);
    wire_set(reply, RMPP_FLAGS, 0);
    assert_false(rmpp_sender_receive(sender, 0, reply));
    assert_int_equal(rmpp_sender_state(sender), RMPP_OPEN);
    rmpp_sender_free(sender);
}

static void receivers_abort_on_invalid_segments(void **state)
{
    static const struct {
        unsigned number, flags, payload;
        enum rmpp_status result;
    } cases[] = {
        {1, 0, 0, RMPP_STATUS_BAD_FIRST},
        {2, RMPP_FLAG_FIRST, 0, RMPP_STATUS_BAD_FIRST},
        {0, RMPP_FLAG_FIRST, 0, RMPP_STATUS_BAD_FIRST},
        {1, RMPP_FLAG_FIRST | RMPP_FLAG_LAST, 221, RMPP_STATUS_BAD_LAST},
        {1, RMPP_FLAG_FIRST | RMPP_FLAG_LAST, 19, RMPP_STATUS_BAD_LAST},
        {1, RMPP_FLAG_FIRST, UINT32_MAX, RMPP_STATUS_RESOURCES},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t mad[MAD_BYTES], reply[MAD_BYTES];
        size_t bytes;
        struct rmpp_receiver *receiver = rmpp_receiver_create(&rmpp_defaults);
        make_segment(mad, cases[i].number, cases[i].flags, cases[i].payload);
        assert_true(feed(receiver, mad, reply));
        assert_int_equal(rmpp_receiver_state(receiver), RMPP_FAILED);
        assert_int_equal(wire_get(reply, RMPP_STATUS), cases[i].result);
        assert_int_equal(wire_get(reply, RMPP_TYPE),
                         cases[i].result == RMPP_STATUS_RESOURCES ? RMPP_STOP : RMPP_ABORT);
        assert_null(rmpp_receiver_message(receiver, &bytes));
        assert_false(feed(receiver, mad, reply)); /* once is enough */
        rmpp_receiver_free(receiver);
    }
}

static void a_last_segment_before_a_stored_one_is_an_error(void **state)
{
    uint8_t mad[MAD_BYTES], reply[MAD_BYTES];
    struct rmpp_receiver *receiver = rmpp_receiver_create(&rmpp_defaults);
    make_segment(mad, 1, RMPP_FLAG_FIRST, 0);
    assert_true(feed(receiver, mad, reply));
    make_segment(mad, 5, 0, 0);
    assert_false(feed(receiver, mad, reply));
    make_segment(mad, 4, RMPP_FLAG_LAST, 220);
    assert_true(feed(receiver, mad, reply));
    assert_int_equal(wire_get(reply, RMPP_STATUS), RMPP_STATUS_BAD_LAST);
    rmpp_receiver_free(receiver);
}

static void messages_beyond_the_limit_are_stopped(void **state)
{
    struct rmpp_options options = rmpp_defaults;
    options.message_max = SA_DATA_OFFSET + 2 * SHARE;
    for (unsigned announce = 0; announce < 2; announce++)
        for (size_t extra = 0; extra < 2; extra++) {
            uint8_t mad[MAD_BYTES], reply[MAD_BYTES];
            size_t bytes = options.message_max + extra;
            struct rmpp_sender *sender = make_sender(bytes);
            struct rmpp_receiver *receiver = rmpp_receiver_create(&options);
            while (rmpp_sender_next(sender, 0, mad)) {
                if (wire_get(mad, RMPP_DATA1) == 1 && !announce)
                    wire_set(mad, RMPP_DATA2, 0);
                rmpp_receiver_receive(receiver, 0, mad);
                while (rmpp_receiver_next(receiver, 0, reply))
                    rmpp_sender_receive(sender, 0, reply);
            }
            assert_int_equal(rmpp_sender_state(sender), extra ? RMPP_FAILED : RMPP_DONE);
            if (extra)
                assert_int_equal(rmpp_sender_status(sender), RMPP_STATUS_RESOURCES);
            rmpp_sender_free(sender);
            rmpp_receiver_free(receiver);
        }
}

static void random_garbage_neither_hangs_nor_overruns(void **state)
{
    struct rng rng;
    rng_seed(&rng, 11, 0);
    for (unsigned round = 0; round < 2000; round++) {
        uint8_t mad[MAD_BYTES], reply[MAD_BYTES];
        struct rmpp_sender *sender = make_sender(SA_DATA_OFFSET + 9 * SHARE);
        struct rmpp_receiver *receiver = rmpp_receiver_create(&rmpp_defaults);
        for (unsigned i = 0; i < 40; i++) {
            make_segment(mad, (unsigned)rng_below(&rng, 20), (unsigned)rng_below(&rng, 8),
                         (unsigned)rng_below(&rng, 300));
            if (rng_below(&rng, 4) == 0)
                mad[WIRE_BYTES_MAD + rng_below(&rng, 12)] = (uint8_t)rng_next(&rng);
            rmpp_receiver_receive(receiver, i, mad);
            wire_set(mad, MAD_METHOD, METHOD_GET_TABLE);
            wire_set(mad, RMPP_TYPE, rng_below(&rng, 6));
            rmpp_sender_receive(sender, i, mad);
            unsigned sent = 0;
            while (rmpp_sender_next(sender, i, reply))
                assert_true(++sent <= 9);
            while (rmpp_receiver_next(receiver, i, reply))
                assert_true(++sent <= 11);
        }
        size_t bytes;
        if (rmpp_receiver_message(receiver, &bytes))
            assert_true(bytes <= SA_DATA_OFFSET + 20 * SHARE);
        rmpp_sender_free(sender);
        rmpp_receiver_free(receiver);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_carry_the_lengths_of_the_specification),
        cmocka_unit_test(a_message_without_data_is_one_segment),
        cmocka_unit_test(the_header_length_follows_the_class),
        cmocka_unit_test(a_message_shorter_than_its_header_is_refused),
        cmocka_unit_test(acknowledgements_have_the_fields_that_the_kernel_expects),
        cmocka_unit_test(repeated_segments_are_acknowledged_again),
        cmocka_unit_test(without_loss_every_segment_is_sent_once),
        cmocka_unit_test(every_length_arrives_whole),
        cmocka_unit_test(loss_repetition_and_reordering_do_no_harm),
        cmocka_unit_test(a_silent_peer_ends_both_sides),
        cmocka_unit_test(senders_check_replies_by_the_specification),
        cmocka_unit_test(senders_leave_other_transactions_alone),
        cmocka_unit_test(receivers_abort_on_invalid_segments),
        cmocka_unit_test(a_last_segment_before_a_stored_one_is_an_error),
        cmocka_unit_test(messages_beyond_the_limit_are_stopped),
        cmocka_unit_test(random_garbage_neither_hangs_nor_overruns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
