/* RC: operations, recovery, each NAK, limits. */
#include "toy.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct toy toy;
static struct toy_end ends[2];

static void begin_with(const struct toy_pair *pair, struct transport_config *given)
{
    struct transport_config config;
    transport_config_init(&config);
    if (given)
        config = *given;
    config.accesses = true;
    toy_init(&toy, 2, &config, 1);
    toy_connect(&toy, ends, pair);
    for (uint32_t i = 0; i < pair->region_bytes; i++)
        ends[0].region.bytes[i] = (uint8_t)(i * 7 + i / 251);
}

static void begin(void)
{
    begin_with(&toy_pair_default, NULL);
}

static void end(void)
{
    toy_release(&toy);
    toy_end_release(&ends[0]);
    toy_end_release(&ends[1]);
}

static void expect(const struct toy_end *at, uint64_t id, unsigned status, unsigned operation)
{
    struct transport_completion completion = toy_poll(&toy, at);
    assert_int_equal(completion.status, status);
    assert_int_equal(completion.id, id);
    assert_int_equal(completion.operation, operation);
}

static void expect_nothing(const struct toy_end *at)
{
    assert_int_equal(toy_poll(&toy, at).status, 255);
}

static struct transport_qp_view view_of(const struct toy_end *at)
{
    struct transport_qp_view view;
    assert_int_equal(transport_query_qp(toy.adapters[at->adapter], at->qp, &view), 0);
    return view;
}

static const struct transport_counters *counters_of(unsigned adapter)
{
    return transport_counters(toy.adapters[adapter]);
}

/* ---- filters ---- */

struct drop {
    unsigned from, operation, skip, count; /* operation 99: any */
    uint64_t seen;
};
static bool drop_some(struct toy *at, unsigned from, struct transport_packet *packet)
{
    struct drop *drop = at->context;
    if (from != drop->from ||
        (drop->operation != 99 && transport_operation_of(packet->opcode) != drop->operation))
        return true;
    uint64_t index = drop->seen++;
    return index < drop->skip || index >= drop->skip + drop->count;
}

static unsigned sent_packets(unsigned adapter, unsigned operation)
{
    unsigned count = 0;
    for (size_t i = 0; i < toy.trace.count; i++)
        count += toy.trace.items[i].sent && toy.trace.items[i].adapter == adapter &&
                 transport_operation_of(toy.trace.items[i].packet.opcode) == operation;
    return count;
}

/* ---- operations ---- */

static void messages_of_every_length_arrive(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, 1, 3, 1023, 1024, 1025, 2048, 5000, 20000};
    begin();
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(ends[1].region.bytes, 0, 1 << 16);
        assert_int_equal(toy_receive(&toy, &ends[1], 100 + i, 64, 30000), 0);
        assert_int_equal(toy_send(&toy, &ends[0], WORK_SEND, i, 8, lengths[i], 0, NULL), 0);
        toy_run(&toy, TIME_NEVER);
        expect(&ends[0], i, STATUS_SUCCESS, WORK_SEND);
        struct transport_completion got = toy_poll(&toy, &ends[1]);
        assert_int_equal(got.status, STATUS_SUCCESS);
        assert_int_equal(got.id, 100 + i);
        assert_int_equal(got.bytes, lengths[i]);
        assert_false(got.has_immediate);
        assert_memory_equal(ends[1].region.bytes + 64, ends[0].region.bytes + 8, lengths[i]);
        assert_int_equal(ends[1].region.bytes[64 + lengths[i]], 0);
    }
    assert_int_equal(counters_of(0)->timeouts, 0);
    end();
}

static void writes_and_reads_move_memory(void **state)
{
    (void)state;
    begin();
    toy_send(&toy, &ends[0], WORK_WRITE, 1, 0, 5000, 1000, &ends[1]);
    toy_run(&toy, TIME_NEVER);
    expect(&ends[0], 1, STATUS_SUCCESS, WORK_WRITE);
    expect_nothing(&ends[1]);
    assert_memory_equal(ends[1].region.bytes + 1000, ends[0].region.bytes, 5000);
    toy_send(&toy, &ends[0], WORK_READ, 2, 30000, 4999, 1001, &ends[1]);
    toy_run(&toy, TIME_NEVER);
    expect(&ends[0], 2, STATUS_SUCCESS, WORK_READ);
    assert_memory_equal(ends[0].region.bytes + 30000, ends[0].region.bytes + 1, 4999);
    end();
}

static void immediates_and_invalidation_reach_the_receiver(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 3; i++)
        toy_receive(&toy, &ends[1], i, 0, 4096);
    toy_send(&toy, &ends[0], WORK_SEND_IMMEDIATE, 7, 0, 3000, 0, NULL);
    toy_send(&toy, &ends[0], WORK_WRITE_IMMEDIATE, 8, 0, 3000, 64, &ends[1]);
    toy_run(&toy, TIME_NEVER);
    struct transport_completion got = toy_poll(&toy, &ends[1]);
    assert_true(got.has_immediate);
    assert_int_equal(got.immediate, 7);
    got = toy_poll(&toy, &ends[1]);
    assert_int_equal(got.operation, WORK_RECEIVE_WRITE_IMMEDIATE);
    assert_int_equal(got.immediate, 8);
    assert_int_equal(got.bytes, 3000);
    struct transport_work work = {.operation = WORK_SEND_INVALIDATE, .immediate = ends[1].key};
    transport_post_send(toy.adapters[0], ends[0].qp, &work);
    toy_run(&toy, TIME_NEVER);
    got = toy_poll(&toy, &ends[1]);
    assert_true(got.invalidated);
    assert_int_equal(got.immediate, ends[1].key);
    while (toy_poll(&toy, &ends[0]).status != 255)
        ;
    toy_send(&toy, &ends[0], WORK_WRITE, 9, 0, 1, 0, &ends[1]); /* the key is no R_Key any more */
    toy_run(&toy, TIME_NEVER);
    expect(&ends[0], 9, STATUS_REMOTE_ACCESS, WORK_WRITE);
    end();
}

static void post_atomic(unsigned operation, uint64_t id, uint64_t value, uint64_t compare)
{
    struct transport_segment segment = {ends[0].region.start + 8 * id, 8, ends[0].key};
    struct transport_work work = {
        .id = id,
        .memory = (uintptr_t)(ends[0].region.bytes + 8 * id),
        .operation = (uint8_t)operation,
        .segment_count = 1,
        .segments = &segment,
        .r_key = ends[1].key,
        .address = ends[1].region.start + 16,
        .swap_or_add = value,
        .compare = compare,
    };
    assert_int_equal(transport_post_send(toy.adapters[0], ends[0].qp, &work), 0);
}

static uint64_t word(const struct toy_end *at, unsigned offset)
{
    uint64_t value;
    memcpy(&value, at->region.bytes + offset, 8);
    return value;
}

static void atomics_happen_once_even_if_the_answer_is_lost(void **state)
{
    (void)state;
    begin();
    struct drop drop = {.from = 1, .operation = OP_ATOMIC_ACKNOWLEDGE, .count = 2};
    toy.filter = drop_some;
    toy.context = &drop;
    post_atomic(WORK_FETCH_ADD, 1, 5, 0);
    post_atomic(WORK_FETCH_ADD, 2, 7, 0);
    post_atomic(WORK_COMPARE_SWAP, 3, 100, 12);
    post_atomic(WORK_COMPARE_SWAP, 4, 200, 12);
    toy_run(&toy, TIME_NEVER);
    for (unsigned i = 1; i <= 4; i++)
        expect(&ends[0], i, STATUS_SUCCESS, i < 3 ? WORK_FETCH_ADD : WORK_COMPARE_SWAP);
    assert_int_equal(word(&ends[0], 8), 0);
    assert_int_equal(word(&ends[0], 16), 5);
    assert_int_equal(word(&ends[0], 24), 12);
    assert_int_equal(word(&ends[0], 32), 100);
    assert_int_equal(word(&ends[1], 16), 100);
    assert_int_equal(toy.atomics, 4);
    assert_true(counters_of(1)->duplicates > 0);
    end();
}

/* ---- recovery ---- */

static void a_gap_is_refused_once_and_sent_again_from_there(void **state)
{
    (void)state;
    begin();
    struct drop drop = {.from = 0, .operation = OP_SEND_MIDDLE, .skip = 1, .count = 1};
    toy.filter = drop_some;
    toy.context = &drop;
    toy_receive(&toy, &ends[1], 1, 0, 20000);
    toy_send(&toy, &ends[0], WORK_SEND, 2, 0, 10240, 0, NULL);
    toy_run(&toy, TIME_NEVER);
    expect(&ends[0], 2, STATUS_SUCCESS, WORK_SEND);
    expect(&ends[1], 1, STATUS_SUCCESS, WORK_RECEIVE);
    assert_memory_equal(ends[1].region.bytes, ends[0].region.bytes, 10240);
    assert_int_equal(counters_of(1)->sequence_naks, 1);
    assert_int_equal(counters_of(0)->sequence_naks_received, 1);
    assert_int_equal(counters_of(0)->timeouts, 0);
    assert_int_equal(counters_of(0)->resent_packets, 8); /* packets 2 to 9 of ten */
    end();
}

static uint64_t time_of_send(unsigned nth)
{
    for (size_t i = 0; i < toy.trace.count; i++)
        if (toy.trace.items[i].sent && toy.trace.items[i].adapter == 0 && nth-- == 0)
            return toy.trace.items[i].time;
    return TIME_NEVER;
}

static void a_time_out_is_4096_ns_times_a_power_of_two(void **state)
{
    (void)state;
    struct toy_pair pair = toy_pair_default;
    struct drop drop = {.from = 0, .operation = 99, .count = 3};
    pair.timeout = 5;
    begin_with(&pair, NULL);
    toy.filter = drop_some;
    toy.context = &drop;
    toy_receive(&toy, &ends[1], 1, 0, 100);
    toy_send(&toy, &ends[0], WORK_SEND, 2, 0, 100, 0, NULL);
    toy_run(&toy, TIME_NEVER);
    expect(&ends[0], 2, STATUS_SUCCESS, WORK_SEND);
    for (unsigned i = 1; i <= 3; i++)
        assert_int_equal(time_of_send(i) - time_of_send(i - 1), 4096 * 32 * TIME_NS);
    assert_int_equal(view_of(&ends[0]).timeouts, 3);
    assert_int_equal(transport_timeout_ps(0), TIME_NEVER);
    assert_int_equal(transport_timeout_ps(14), 67108864 * TIME_NS);
    end();
}

static void exhausted_retries_break_the_connection(void **state)
{
    (void)state;
    struct toy_pair pair = toy_pair_default;
    struct drop drop = {.from = 0, .operation = 99, .count = UINT32_MAX};
    pair.retry_count = 3;
    begin_with(&pair, NULL);
    toy.filter = drop_some;
    toy.context = &drop;
    toy_receive(&toy, &ends[0], 9, 0, 100);
    for (unsigned i = 0; i < 3; i++)
        toy_send(&toy, &ends[0], WORK_SEND, i, 0, 100, 0, NULL);
    toy_run(&toy, TIME_NEVER);
    assert_int_equal(toy.now, 4 * transport_timeout_ps(8));
    expect(&ends[0], 0, STATUS_RETRY_EXCEEDED, WORK_SEND);
    expect(&ends[0], 1, STATUS_FLUSHED, WORK_SEND);
    expect(&ends[0], 2, STATUS_FLUSHED, WORK_SEND);
    expect(&ends[0], 9, STATUS_FLUSHED, WORK_RECEIVE);
    assert_int_equal(view_of(&ends[0]).attributes.state, STATE_ERROR);
    toy_send(&toy, &ends[0], WORK_SEND, 3, 0, 100, 0, NULL);
    toy_receive(&toy, &ends[0], 4, 0, 100);
    expect(&ends[0], 3, STATUS_FLUSHED, WORK_SEND);
    expect(&ends[0], 4, STATUS_FLUSHED, WORK_RECEIVE);
    end();
}

static bool drop_first_of_each(struct toy *at, unsigned from, struct transport_packet *packet)
{
    uint32_t *next = at->context; /* PSNs before it have been sent once */
    if (from != 0 || packet->psn < *next)
        return true;
    *next = packet->psn + 1;
    return false;
}

static void progress_restores_all_retries(void **state)
{
    (void)state;
    struct toy_pair pair = toy_pair_default;
    uint32_t next = pair.psn[0];
    pair.retry_count = 1;
    begin_with(&pair, NULL);
    toy.filter = drop_first_of_each;
    toy.context = &next;
    for (unsigned i = 0; i < 5; i++) {
        toy_send(&toy, &ends[0], WORK_WRITE, i, 0, 100, 0, &ends[1]);
        toy_run(&toy, TIME_NEVER);
        expect(&ends[0], i, STATUS_SUCCESS, WORK_WRITE);
    }
    assert_int_equal(view_of(&ends[0]).timeouts, 5);
    end();
}

static void a_receiver_that_is_not_ready_is_asked_again_after_its_timer(void **state)
{
    (void)state;
    struct toy_pair pair = toy_pair_default;
    pair.rnr_timer = 12; /* 640 us */
    begin_with(&pair, NULL);
    toy_send(&toy, &ends[0], WORK_SEND, 2, 0, 3000, 0, NULL);
    toy_run(&toy, 300 * TIME_US);
    assert_int_equal(counters_of(1)->rnr_naks, 1);
    expect_nothing(&ends[0]);
    unsigned before = sent_packets(0, OP_SEND_FIRST);
    toy_receive(&toy, &ends[1], 1, 0, 3000);
    toy_run(&toy, 600 * TIME_US);
    assert_int_equal(sent_packets(0, OP_SEND_FIRST), before);
    toy_run(&toy, TIME_NEVER);
    expect(&ends[0], 2, STATUS_SUCCESS, WORK_SEND);
    expect(&ends[1], 1, STATUS_SUCCESS, WORK_RECEIVE);
    /* first packet, its flight, the NAK, its flight, the delay */
    uint64_t flights = (8 + 12 + 1024 + 6 + 30) * toy.ps_per_byte + 2 * toy.latency_ps;
    uint64_t again = TIME_NEVER;
    for (size_t i = 1; i < toy.trace.count; i++)
        if (toy.trace.items[i].sent && toy.trace.items[i].time > 300 * TIME_US) {
            again = toy.trace.items[i].time;
            break;
        }
    assert_int_equal(again, flights + 640 * TIME_US);
    end();
}

static void rnr_retries_are_counted(void **state)
{
    (void)state;
    struct toy_pair pair = toy_pair_default;
    pair.rnr_retry = 2;
    begin_with(&pair, NULL);
    toy_send(&toy, &ends[0], WORK_SEND, 2, 0, 10, 0, NULL);
    toy_run(&toy, TIME_NEVER);
    expect(&ends[0], 2, STATUS_RNR_RETRY_EXCEEDED, WORK_SEND);
    assert_int_equal(counters_of(1)->rnr_naks, 3);
    end();
}

static void rnr_delays_are_those_of_the_specification(void **state)
{
    (void)state;
    static const double ms[32] = {655.36, 0.01,  0.02,  0.03,   0.04,   0.06,   0.08,   0.12,
                                  0.16,   0.24,  0.32,  0.48,   0.64,   0.96,   1.28,   1.92,
                                  2.56,   3.84,  5.12,  7.68,   10.24,  15.36,  20.48,  30.72,
                                  40.96,  61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52};
    for (unsigned code = 0; code < 32; code++)
        assert_int_equal(transport_rnr_ps(code), (uint64_t)(ms[code] * 1000 + 0.5) * TIME_US);
}

static void a_missing_read_response_is_requested_from_there(void **state)
{
    (void)state;
    begin();
    struct drop drop = {.from = 1, .operation = OP_READ_RESPONSE_MIDDLE, .skip = 3, .count = 1};
    toy.filter = drop_some;
    toy.context = &drop;
    toy_send(&toy, &ends[1], WORK_WRITE, 0, 0, 0, 0, &ends[0]);
    toy_run(&toy, TIME_NEVER);
    for (unsigned i = 0; i < 10240; i++)
        ends[1].region.bytes[i] = (uint8_t)(i * 3);
    toy_send(&toy, &ends[0], WORK_READ, 1, 20000, 10240, 0, &ends[1]);
    toy_run(&toy, TIME_NEVER);
    expect(&ends[0], 1, STATUS_SUCCESS, WORK_READ);
    assert_memory_equal(ends[0].region.bytes + 20000, ends[1].region.bytes, 10240);
    assert_int_equal(sent_packets(0, OP_READ_REQUEST), 2);
    assert_int_equal(counters_of(0)->timeouts, 0);
    for (size_t i = 0, found = 0; i < toy.trace.count; i++) {
        const struct transport_packet *packet = &toy.trace.items[i].packet;
        if (toy.trace.items[i].sent && packet->opcode == OP_READ_REQUEST && found++ == 1) {
            assert_int_equal(packet->psn, 104);
            assert_int_equal(packet->address, ends[1].region.start + 4 * 1024);
            assert_int_equal(packet->dma_bytes, 6 * 1024);
        }
    }
    end();
}

/* ---- what is refused ---- */

static void refused(unsigned operation, uint32_t bytes, uint32_t key, uint64_t address,
                    unsigned status, unsigned event)
{
    struct transport_segment segment = {ends[0].region.start, bytes, ends[0].key};
    struct transport_work work = {
        .id = 5,
        .memory = (uintptr_t)ends[0].region.bytes,
        .operation = (uint8_t)operation,
        .segment_count = 1,
        .segments = &segment,
        .r_key = key,
        .address = address,
    };
    uint64_t places = toy.places;
    assert_int_equal(transport_post_send(toy.adapters[0], ends[0].qp, &work), 0);
    toy_run(&toy, TIME_NEVER);
    expect(&ends[0], 5, status, operation);
    assert_int_equal(toy.places, places);
    assert_int_equal(view_of(&ends[0]).attributes.state, STATE_ERROR);
    assert_int_equal(view_of(&ends[1]).attributes.state, STATE_ERROR);
    assert_true(toy_had_event(&toy, 1, event));
    assert_int_equal(counters_of(0)->timeouts, 0);
    end();
}

static void wrong_keys_and_ranges_are_access_errors(void **state)
{
    (void)state;
    static const uint8_t operations[] = {WORK_WRITE, WORK_READ, WORK_FETCH_ADD, WORK_COMPARE_SWAP};
    for (unsigned i = 0; i < 4; i++) {
        begin();
        refused(operations[i], 8, ends[1].key + 1, 0x10000, STATUS_REMOTE_ACCESS, EVENT_QP_ACCESS);
        begin();
        refused(operations[i], 8, ends[1].key + 256, 0x10000, STATUS_REMOTE_ACCESS,
                EVENT_QP_ACCESS);
        begin();
        refused(operations[i], 8, ends[1].key, 0x10000 - 8, STATUS_REMOTE_ACCESS, EVENT_QP_ACCESS);
        begin();
        refused(operations[i], 8, ends[1].key, 0x20000, STATUS_REMOTE_ACCESS, EVENT_QP_ACCESS);
        begin();
        refused(operations[i], 8, ends[1].key, UINT64_MAX - 7, STATUS_REMOTE_ACCESS,
                EVENT_QP_ACCESS);
    }
    begin();
    refused(WORK_WRITE, 9, ends[1].key, 0x20000 - 8, STATUS_REMOTE_ACCESS, EVENT_QP_ACCESS);
}

static void a_region_of_another_domain_is_an_access_error(void **state)
{
    (void)state;
    begin();
    struct transport_region region = {transport_add_domain(toy.adapters[1]), 15, 0x10000, 4096,
                                      (uintptr_t)&ends[1].region};
    uint32_t key;
    assert_int_equal(transport_add_region(toy.adapters[1], &region, &key), 0);
    refused(WORK_WRITE, 8, key, 0x10000, STATUS_REMOTE_ACCESS, EVENT_QP_ACCESS);
}

static void a_region_without_the_right_is_an_access_error(void **state)
{
    (void)state;
    static const uint8_t operations[] = {WORK_WRITE, WORK_READ, WORK_FETCH_ADD};
    static const uint8_t rights[] = {13, 11, 7};
    for (unsigned i = 0; i < 3; i++) {
        begin();
        struct transport_region region = {ends[1].domain, rights[i], 0x10000, 4096,
                                          (uintptr_t)&ends[1].region};
        uint32_t key;
        assert_int_equal(transport_add_region(toy.adapters[1], &region, &key), 0);
        refused(operations[i], 8, key, 0x10000, STATUS_REMOTE_ACCESS, EVENT_QP_ACCESS);
    }
}

static void what_the_qp_does_not_grant_is_an_invalid_request(void **state)
{
    (void)state;
    static const uint8_t operations[] = {WORK_WRITE, WORK_READ, WORK_FETCH_ADD};
    static const uint8_t access[] = {13, 11, 7};
    for (unsigned i = 0; i < 3; i++) {
        struct toy_pair pair = toy_pair_default;
        pair.access = access[i];
        begin_with(&pair, NULL);
        refused(operations[i], 8, ends[1].key, 0x10000, STATUS_REMOTE_INVALID_REQUEST,
                EVENT_QP_INVALID_REQUEST);
    }
    begin();
    refused(WORK_FETCH_ADD, 8, ends[1].key, 0x10004, STATUS_REMOTE_INVALID_REQUEST,
            EVENT_QP_INVALID_REQUEST);
}

static void a_message_longer_than_its_receive_is_an_invalid_request(void **state)
{
    (void)state;
    begin();
    toy_receive(&toy, &ends[1], 1, 0, 2000);
    toy_receive(&toy, &ends[1], 2, 0, 2000);
    toy_send(&toy, &ends[0], WORK_SEND, 3, 0, 2001, 0, NULL);
    toy_run(&toy, TIME_NEVER);
    expect(&ends[0], 3, STATUS_REMOTE_INVALID_REQUEST, WORK_SEND);
    expect(&ends[1], 1, STATUS_LOCAL_LENGTH, WORK_RECEIVE);
    expect(&ends[1], 2, STATUS_FLUSHED, WORK_RECEIVE);
    end();
}

static void a_bad_local_key_is_an_error_in_its_turn(void **state)
{
    (void)state;
    begin();
    struct transport_segment segment = {ends[0].region.start, 8, ends[0].key + 1};
    struct transport_work work = {
        .id = 2, .operation = WORK_SEND, .segment_count = 1, .segments = &segment};
    toy_receive(&toy, &ends[1], 1, 0, 2000);
    toy_send(&toy, &ends[0], WORK_SEND, 1, 0, 2000, 0, NULL);
    transport_post_send(toy.adapters[0], ends[0].qp, &work);
    toy_send(&toy, &ends[0], WORK_SEND, 3, 0, 2000, 0, NULL);
    toy_run(&toy, TIME_NEVER);
    expect(&ends[0], 1, STATUS_SUCCESS, WORK_SEND);
    expect(&ends[0], 2, STATUS_LOCAL_PROTECTION, WORK_SEND);
    expect(&ends[0], 3, STATUS_FLUSHED, WORK_SEND);
    end();
    begin();
    struct transport_receive_work receive = {1, 0, 1, &segment}; /* and that of a receive request */
    transport_post_receive(toy.adapters[1], ends[1].qp, &receive);
    toy_send(&toy, &ends[0], WORK_SEND, 1, 0, 8, 0, NULL);
    toy_run(&toy, TIME_NEVER);
    expect(&ends[1], 1, STATUS_LOCAL_PROTECTION, WORK_RECEIVE);
    expect(&ends[0], 1, STATUS_REMOTE_OPERATION, WORK_SEND);
    end();
}

static void too_many_reads_are_an_invalid_request(void **state)
{
    (void)state;
    begin();
    struct transport_qp_attributes more = {.reads = 5};
    struct transport_qp_attributes change = {.state = STATE_SQD};
    assert_int_equal(
        transport_modify_qp(toy.adapters[0], 0, ends[0].qp, &change, ATTRIBUTE_STATE, NULL), 0);
    assert_int_equal(
        transport_modify_qp(toy.adapters[0], 0, ends[0].qp, &more, ATTRIBUTE_READS, NULL), 0);
    change.state = STATE_RTS;
    assert_int_equal(
        transport_modify_qp(toy.adapters[0], 0, ends[0].qp, &change, ATTRIBUTE_STATE, NULL), 0);
    for (unsigned i = 0; i < 5; i++)
        toy_send(&toy, &ends[0], WORK_READ, i, 0, 8000, 0, &ends[1]);
    toy_run(&toy, TIME_NEVER);
    for (unsigned i = 0; i < 4; i++)
        expect(&ends[0], i, STATUS_SUCCESS, WORK_READ);
    expect(&ends[0], 4, STATUS_REMOTE_INVALID_REQUEST, WORK_READ);
    end();
}

/* ---- limits ---- */

static unsigned most_outstanding_reads(void)
{
    unsigned now = 0, most = 0;
    for (size_t i = 0; i < toy.trace.count; i++) {
        const struct toy_trace *item = &toy.trace.items[i];
        unsigned operation = transport_operation_of(item->packet.opcode);
        if (item->adapter == 0 && item->sent && operation == OP_READ_REQUEST)
            most = ++now > most ? now : most;
        if (item->adapter == 0 && !item->sent &&
            (operation == OP_READ_RESPONSE_LAST || operation == OP_READ_RESPONSE_ONLY))
            now--;
    }
    return most;
}

static void reads_wait_for_the_limit(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(toy_send(&toy, &ends[0], WORK_READ, i, 0, 100 + 300 * i, 0, &ends[1]), 0);
    toy_run(&toy, TIME_NEVER);
    for (unsigned i = 0; i < 20; i++)
        expect(&ends[0], i, STATUS_SUCCESS, WORK_READ);
    assert_int_equal(most_outstanding_reads(), 4);
    end();
}

static void a_fence_waits_for_reads(void **state)
{
    (void)state;
    begin();
    struct transport_work work = {.id = 2, .operation = WORK_WRITE, .flags = WORK_FENCE};
    toy_send(&toy, &ends[0], WORK_READ, 1, 0, 8000, 0, &ends[1]);
    transport_post_send(toy.adapters[0], ends[0].qp, &work);
    toy_run(&toy, TIME_NEVER);
    bool answered = false;
    for (size_t i = 0; i < toy.trace.count; i++) {
        const struct toy_trace *item = &toy.trace.items[i];
        if (item->adapter == 0 && !item->sent)
            answered |= transport_operation_of(item->packet.opcode) == OP_READ_RESPONSE_LAST;
        if (item->adapter == 0 && item->sent &&
            transport_operation_of(item->packet.opcode) == OP_WRITE_ONLY)
            assert_true(answered);
    }
    assert_true(answered);
    end();
}

static void the_window_and_requests_for_acknowledgement_are_as_configured(void **state)
{
    (void)state;
    struct transport_config config;
    transport_config_init(&config);
    config.window = 16;
    config.packets_per_acknowledge = 5;
    struct toy_pair pair = toy_pair_default;
    pair.mtu = 256;
    begin_with(&pair, &config);
    toy.latency_ps = 20 * TIME_US;
    toy_send(&toy, &ends[0], WORK_WRITE, 1, 0, 60000, 0, &ends[1]);
    toy_run(&toy, TIME_NEVER);
    expect(&ends[0], 1, STATUS_SUCCESS, WORK_WRITE);
    int32_t most = 0, unasked = 0;
    uint32_t next = 100;
    for (size_t i = 0; i < toy.trace.count; i++) {
        const struct toy_trace *item = &toy.trace.items[i];
        if (item->adapter)
            continue;
        if (!item->sent) {
            next = item->packet.psn + 1;
            continue;
        }
        int32_t out = transport_psn_distance(item->packet.psn + 1, next);
        most = out > most ? out : most;
        unasked = item->packet.acknowledge ? 0 : unasked + 1;
        assert_true(unasked < 5);
    }
    assert_int_equal(most, 16);
    end();
}

static void acknowledgements_that_wait_for_the_link_are_one(void **state)
{
    (void)state;
    begin();
    toy.stopped[1] = false;
    for (unsigned i = 0; i < 10; i++) {
        toy_receive(&toy, &ends[1], i, 0, 100);
        toy_send(&toy, &ends[0], WORK_SEND, i, 0, 10, 0, NULL);
    }
    toy.free_at[1] = 50 * TIME_US; /* the link of the responder is busy */
    toy_run(&toy, TIME_NEVER);
    for (unsigned i = 0; i < 10; i++)
        expect(&ends[0], i, STATUS_SUCCESS, WORK_SEND);
    assert_int_equal(sent_packets(1, OP_ACKNOWLEDGE), 1);
    end();
}

static void credits_limit_what_is_sent(void **state)
{
    (void)state;
    struct toy_pair pair = toy_pair_default;
    pair.credits = true;
    begin_with(&pair, NULL);
    toy.latency_ps = 50 * TIME_US;
    for (unsigned i = 0; i < 3; i++)
        toy_receive(&toy, &ends[1], i, 0, 100);
    for (unsigned i = 0; i < 8; i++)
        toy_send(&toy, &ends[0], WORK_SEND, i, 0, 10, 0, NULL);
    toy_run(&toy, 90 * TIME_US);
    assert_int_equal(sent_packets(0, OP_SEND_ONLY), 1); /* no credits are known: one may be sent */
    toy_run(&toy, 140 * TIME_US);
    assert_int_equal(sent_packets(0, OP_SEND_ONLY), 1 + 3); /* two credits, and one more */
    for (unsigned i = 3; i < 8; i++)
        toy_receive(&toy, &ends[1], i, 0, 100);
    toy_run(&toy, TIME_NEVER);
    for (unsigned i = 0; i < 8; i++)
        expect(&ends[0], i, STATUS_SUCCESS, WORK_SEND);
    assert_int_equal(counters_of(1)->rnr_naks, 0);
    end();
}

static void credit_codes_are_those_of_the_specification(void **state)
{
    (void)state;
    static const uint32_t counts[31] = {0,    1,    2,    3,     4,     6,     8,    12,
                                        16,   24,   32,   48,    64,    96,    128,  192,
                                        256,  384,  512,  768,   1024,  1536,  2048, 3072,
                                        4096, 6144, 8192, 12288, 16384, 24576, 32768};
    for (unsigned code = 0; code < 31; code++) {
        assert_int_equal(transport_credits(code), counts[code]);
        assert_int_equal(transport_credit_code(counts[code]), code);
        if (counts[code] > 4)
            assert_int_equal(transport_credit_code(counts[code] - 1), code - 1);
    }
    assert_int_equal(transport_credit_code(1000000), 30);
}

static bool lose_last(struct toy *of, unsigned from, struct transport_packet *packet)
{
    (void)of, (void)from;
    return packet->opcode != OP_SEND_LAST;
}

static void a_shared_receive_queue_serves_and_reports_its_limit(void **state)
{
    (void)state;
    struct transport_config config;
    transport_config_init(&config);
    config.accesses = true;
    toy_init(&toy, 2, &config, 1);
    uint32_t domain = transport_add_domain(toy.adapters[1]);
    struct toy_pair pair = toy_pair_default;
    assert_int_equal(transport_add_srq(toy.adapters[1], domain, 10, &pair.srq), 0);
    toy_connect(&toy, ends, &pair);
    struct transport_segment segment = {ends[1].region.start, 100, ends[1].key};
    for (unsigned i = 0; i < 10; i++) {
        struct transport_receive_work work = {i, (uintptr_t)ends[1].region.bytes, 1, &segment};
        assert_int_equal(transport_post_shared(toy.adapters[1], pair.srq, &work), 0);
    }
    struct transport_receive_work more = {0};
    assert_int_equal(transport_post_shared(toy.adapters[1], pair.srq, &more), -ENOMEM);
    assert_int_equal(transport_set_srq_limit(toy.adapters[1], pair.srq, 5), 0);
    for (unsigned i = 0; i < 5; i++)
        toy_send(&toy, &ends[0], WORK_SEND, i, 0, 10, 0, NULL);
    toy_run(&toy, TIME_NEVER);
    assert_false(toy_had_event(&toy, 1, EVENT_SRQ_LIMIT));
    toy_send(&toy, &ends[0], WORK_SEND, 5, 0, 10, 0, NULL);
    toy_run(&toy, TIME_NEVER);
    assert_true(toy_had_event(&toy, 1, EVENT_SRQ_LIMIT));
    for (unsigned i = 0; i < 6; i++)
        expect(&ends[1], i, STATUS_SUCCESS, WORK_RECEIVE);
    end();
}

static void what_a_reset_queue_pair_had_taken_is_the_next_shared_request(void **state)
{
    (void)state;
    struct transport_config config;
    transport_config_init(&config);
    config.accesses = true;
    toy_init(&toy, 2, &config, 1);
    uint32_t domain = transport_add_domain(toy.adapters[1]);
    struct toy_pair pair = toy_pair_default;
    assert_int_equal(transport_add_srq(toy.adapters[1], domain, 2, &pair.srq), 0);
    toy_connect(&toy, ends, &pair);
    struct transport_segment segment = {ends[1].region.start, 2000, ends[1].key};
    for (unsigned i = 0; i < 2; i++) {
        struct transport_receive_work work = {i, (uintptr_t)ends[1].region.bytes, 1, &segment};
        assert_int_equal(transport_post_shared(toy.adapters[1], pair.srq, &work), 0);
    }
    /* Half of a message has arrived. */
    toy.filter = lose_last;
    toy_send(&toy, &ends[0], WORK_SEND, 9, 0, 2000, 0, NULL);
    toy_run(&toy, toy.now + 20 * TIME_US);
    toy.filter = NULL;
    struct transport_qp_attributes reset = {.state = STATE_RESET};
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(transport_modify_qp(toy.adapters[i], toy.now, ends[i].qp, &reset,
                                             ATTRIBUTE_STATE, NULL),
                         0);
    struct transport_receive_work more = {0};
    assert_int_equal(transport_post_shared(toy.adapters[1], pair.srq, &more), -ENOMEM);
    for (unsigned i = 0; i < 2; i++)
        toy_bring(&toy, &ends[i], &ends[!i], &pair, i, STATE_RTS);
    for (unsigned i = 0; i < 2; i++)
        toy_send(&toy, &ends[0], WORK_SEND, i, 0, 10, 0, NULL);
    toy_run(&toy, TIME_NEVER);
    for (unsigned i = 0; i < 2; i++)
        expect(&ends[1], i, STATUS_SUCCESS, WORK_RECEIVE);
    end();
}

static void a_queue_drains_before_it_says_so(void **state)
{
    (void)state;
    begin();
    struct transport_qp_attributes drain = {.state = STATE_SQD, .drain_event = true};
    toy_send(&toy, &ends[0], WORK_WRITE, 1, 0, 20000, 0, &ends[1]);
    toy_run(&toy, TIME_US);
    toy_send(&toy, &ends[0], WORK_WRITE, 2, 0, 20000, 0, &ends[1]);
    assert_int_equal(transport_modify_qp(toy.adapters[0], 0, ends[0].qp, &drain,
                                         ATTRIBUTE_STATE | ATTRIBUTE_DRAIN_EVENT, NULL),
                     0);
    assert_true(view_of(&ends[0]).draining);
    toy_run(&toy, TIME_NEVER);
    expect(&ends[0], 1, STATUS_SUCCESS, WORK_WRITE);
    expect_nothing(&ends[0]);
    assert_true(toy_had_event(&toy, 0, EVENT_SEND_QUEUE_DRAINED));
    drain.state = STATE_RTS;
    assert_int_equal(
        transport_modify_qp(toy.adapters[0], 0, ends[0].qp, &drain, ATTRIBUTE_STATE, NULL), 0);
    toy_run(&toy, TIME_NEVER);
    expect(&ends[0], 2, STATUS_SUCCESS, WORK_WRITE);
    end();
}

static void a_wrong_p_key_is_dropped_and_reported(void **state)
{
    (void)state;
    begin();
    transport_set_p_key(toy.adapters[0], 1, 0, 0x8123);
    toy_receive(&toy, &ends[1], 1, 0, 100);
    toy_send(&toy, &ends[0], WORK_SEND, 1, 0, 10, 0, NULL);
    toy_run(&toy, 2 * TIME_MS);
    assert_true(counters_of(1)->p_key_violations >= 1);
    assert_int_equal(toy.violations[1].items[0].key, 0x8123);
    assert_int_equal(toy.violations[1].items[0].slid, TOY_LID);
    assert_int_equal(toy.violations[1].items[0].dest_qp, ends[1].qp);
    assert_false(toy.violations[1].items[0].q_key);
    transport_set_p_key(toy.adapters[0], 1, 0,
                        0x7FFF); /* a limited member may speak to a full one */
    toy_run(&toy, TIME_NEVER);
    expect(&ends[0], 1, STATUS_SUCCESS, WORK_SEND);
    end();
}

static void a_full_completion_queue_fails_the_qp(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 4097; i++) {
        toy_send(&toy, &ends[0], WORK_WRITE, i, 0, 0, 0, &ends[1]);
        if (i % 32 == 0)
            toy_run(&toy, TIME_NEVER);
    }
    toy_run(&toy, TIME_NEVER);
    assert_true(toy_had_event(&toy, 0, EVENT_CQ_ERROR));
    assert_int_equal(view_of(&ends[0]).attributes.state, STATE_ERROR);
    end();
}

static void a_completion_queue_changes_its_size(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 20; i++)
        toy_send(&toy, &ends[0], WORK_WRITE, i, 0, 0, 0, &ends[1]);
    toy_run(&toy, TIME_NEVER);
    assert_int_equal(transport_resize_cq(toy.adapters[0], ends[0].cq, 19), -EINVAL);
    assert_int_equal(transport_resize_cq(toy.adapters[0], ends[0].cq, 20), 0);
    for (unsigned i = 0; i < 20; i++)
        expect(&ends[0], i, STATUS_SUCCESS, WORK_WRITE);
    expect_nothing(&ends[0]);
    end();
}

static void completion_events_come_once_and_for_what_was_armed(void **state)
{
    (void)state;
    begin();
    transport_arm_cq(toy.adapters[1], ends[1].cq, true);
    for (unsigned i = 0; i < 3; i++)
        toy_receive(&toy, &ends[1], i, 0, 100);
    toy_send(&toy, &ends[0], WORK_SEND, 1, 0, 10, 0, NULL);
    toy_run(&toy, TIME_NEVER);
    assert_false(toy_had_event(&toy, 1, EVENT_COMPLETION));
    for (unsigned i = 0; i < 2; i++) {
        struct transport_work work = {.operation = WORK_SEND, .flags = WORK_SOLICITED};
        transport_post_send(toy.adapters[0], ends[0].qp, &work);
    }
    toy_run(&toy, TIME_NEVER);
    unsigned count = 0;
    for (size_t i = 0; i < toy.events[1].count; i++)
        count += toy.events[1].items[i].kind == EVENT_COMPLETION;
    assert_int_equal(count, 1);
    end();
}

static void two_gibibytes_fit_the_window(void **state)
{
    (void)state;
    struct transport_config config;
    transport_config_init(&config);
    toy_init(&toy, 2, &config, 1);
    struct toy_pair pair = toy_pair_default;
    pair.region_bytes = 64;
    pair.mtu = 256;
    toy_connect(&toy, ends, &pair);
    toy.traces = false;
    struct transport_region region = {ends[0].domain, 15, 0, UINT64_C(1) << 32, 0};
    uint32_t key;
    assert_int_equal(transport_add_region(toy.adapters[0], &region, &key), 0);
    region.domain = ends[1].domain;
    uint32_t remote;
    assert_int_equal(transport_add_region(toy.adapters[1], &region, &remote), 0);
    struct transport_segment segment = {0, TRANSPORT_MESSAGE_MAX, key};
    struct transport_work work = {
        .id = 1, .operation = WORK_READ, .segment_count = 1, .segments = &segment, .r_key = remote};
    transport_post_send(toy.adapters[0], ends[0].qp, &work);
    struct transport_packet packet;
    assert_true(transport_next_packet(toy.adapters[0], 0, 1, 1, &packet));
    assert_int_equal(packet.dma_bytes, TRANSPORT_MESSAGE_MAX);
    struct transport_qp_view view = view_of(&ends[0]);
    assert_int_equal((view.next_psn - view.unacknowledged_psn) & TRANSPORT_PSN_MASK,
                     TRANSPORT_WINDOW);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_every_length_arrive),
        cmocka_unit_test(writes_and_reads_move_memory),
        cmocka_unit_test(immediates_and_invalidation_reach_the_receiver),
        cmocka_unit_test(atomics_happen_once_even_if_the_answer_is_lost),
        cmocka_unit_test(a_gap_is_refused_once_and_sent_again_from_there),
        cmocka_unit_test(a_time_out_is_4096_ns_times_a_power_of_two),
        cmocka_unit_test(exhausted_retries_break_the_connection),
        cmocka_unit_test(progress_restores_all_retries),
        cmocka_unit_test(a_receiver_that_is_not_ready_is_asked_again_after_its_timer),
        cmocka_unit_test(rnr_retries_are_counted),
        cmocka_unit_test(rnr_delays_are_those_of_the_specification),
        cmocka_unit_test(a_missing_read_response_is_requested_from_there),
        cmocka_unit_test(wrong_keys_and_ranges_are_access_errors),
        cmocka_unit_test(a_region_of_another_domain_is_an_access_error),
        cmocka_unit_test(a_region_without_the_right_is_an_access_error),
        cmocka_unit_test(what_the_qp_does_not_grant_is_an_invalid_request),
        cmocka_unit_test(a_message_longer_than_its_receive_is_an_invalid_request),
        cmocka_unit_test(a_bad_local_key_is_an_error_in_its_turn),
        cmocka_unit_test(too_many_reads_are_an_invalid_request),
        cmocka_unit_test(reads_wait_for_the_limit),
        cmocka_unit_test(a_fence_waits_for_reads),
        cmocka_unit_test(the_window_and_requests_for_acknowledgement_are_as_configured),
        cmocka_unit_test(acknowledgements_that_wait_for_the_link_are_one),
        cmocka_unit_test(credits_limit_what_is_sent),
        cmocka_unit_test(credit_codes_are_those_of_the_specification),
        cmocka_unit_test(a_shared_receive_queue_serves_and_reports_its_limit),
        cmocka_unit_test(what_a_reset_queue_pair_had_taken_is_the_next_shared_request),
        cmocka_unit_test(a_queue_drains_before_it_says_so),
        cmocka_unit_test(a_wrong_p_key_is_dropped_and_reported),
        cmocka_unit_test(a_full_completion_queue_fails_the_qp),
        cmocka_unit_test(a_completion_queue_changes_its_size),
        cmocka_unit_test(completion_events_come_once_and_for_what_was_armed),
        cmocka_unit_test(two_gibibytes_fit_the_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
