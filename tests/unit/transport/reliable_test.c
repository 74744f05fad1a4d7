/* RC: operations, recovery, each NAK, limits. */
#include "pair.h"

#include <errno.h>
#include <stdlib.h>

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
    finish();
}

static void writes_and_reads_move_memory(void **state)
{
    (void)state;
    begin();
    send_one(WORK_WRITE, 1, 0, 5000, 1000, &ends[1]);
    expect_nothing(&ends[1]);
    assert_memory_equal(ends[1].region.bytes + 1000, ends[0].region.bytes, 5000);
    send_one(WORK_READ, 2, 30000, 4999, 1001, &ends[1]);
    assert_memory_equal(ends[0].region.bytes + 30000, ends[0].region.bytes + 1, 4999);
    finish();
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
    finish();
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
    lose(&drop);
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
    finish();
}

/* ---- recovery ---- */

static void a_gap_is_refused_once_and_sent_again_from_there(void **state)
{
    (void)state;
    begin();
    struct drop drop = {.from = 0, .operation = OP_SEND_MIDDLE, .skip = 1, .count = 1};
    lose(&drop);
    toy_receive(&toy, &ends[1], 1, 0, 20000);
    send_one(WORK_SEND, 2, 0, 10240, 0, NULL);
    expect(&ends[1], 1, STATUS_SUCCESS, WORK_RECEIVE);
    assert_memory_equal(ends[1].region.bytes, ends[0].region.bytes, 10240);
    assert_int_equal(counters_of(1)->sequence_naks, 1);
    assert_int_equal(counters_of(0)->sequence_naks_received, 1);
    assert_int_equal(counters_of(0)->timeouts, 0);
    assert_int_equal(counters_of(0)->resent_packets, 8); /* packets 2 to 9 of ten */
    finish();
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
    lose(&drop);
    toy_receive(&toy, &ends[1], 1, 0, 100);
    send_one(WORK_SEND, 2, 0, 100, 0, NULL);
    for (unsigned i = 1; i <= 3; i++)
        assert_int_equal(time_of_send(i) - time_of_send(i - 1), 4096 * 32 * TIME_NS);
    assert_int_equal(view_of(&ends[0]).timeouts, 3);
    assert_int_equal(transport_timeout_ps(0), TIME_NEVER);
    assert_int_equal(transport_timeout_ps(14), 67108864 * TIME_NS);
    finish();
}

static void exhausted_retries_break_the_connection(void **state)
{
    (void)state;
    struct toy_pair pair = toy_pair_default;
    struct drop drop = {.from = 0, .operation = 99, .count = UINT32_MAX};
    pair.retry_count = 3;
    begin_with(&pair, NULL);
    lose(&drop);
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
    finish();
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
        send_one(WORK_WRITE, i, 0, 100, 0, &ends[1]);
    }
    assert_int_equal(view_of(&ends[0]).timeouts, 5);
    finish();
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
    finish();
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
    finish();
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
    lose(&drop);
    toy_send(&toy, &ends[1], WORK_WRITE, 0, 0, 0, 0, &ends[0]);
    toy_run(&toy, TIME_NEVER);
    for (unsigned i = 0; i < 10240; i++)
        ends[1].region.bytes[i] = (uint8_t)(i * 3);
    send_one(WORK_READ, 1, 20000, 10240, 0, &ends[1]);
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
    finish();
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
    finish();
}

static void wrong_keys_and_ranges_are_access_errors(void **state)
{
    (void)state;
    static const uint8_t operations[] = {WORK_WRITE, WORK_READ, WORK_FETCH_ADD, WORK_COMPARE_SWAP};
    static const struct {
        uint32_t key; /* added to the right one */
        uint64_t address;
    } wrong[] = {{1, 0x10000}, {256, 0x10000}, {0, 0x10000 - 8}, {0, 0x20000}, {0, UINT64_MAX - 7}};
    for (unsigned i = 0; i < 4 * 5; i++) {
        begin();
        refused(operations[i / 5], 8, ends[1].key + wrong[i % 5].key, wrong[i % 5].address,
                STATUS_REMOTE_ACCESS, EVENT_QP_ACCESS);
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
    finish();
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
    finish();
    begin();
    struct transport_receive_work receive = {1, 0, 1, &segment}; /* and that of a receive request */
    transport_post_receive(toy.adapters[1], ends[1].qp, &receive);
    toy_send(&toy, &ends[0], WORK_SEND, 1, 0, 8, 0, NULL);
    toy_run(&toy, TIME_NEVER);
    expect(&ends[1], 1, STATUS_LOCAL_PROTECTION, WORK_RECEIVE);
    expect(&ends[0], 1, STATUS_REMOTE_OPERATION, WORK_SEND);
    finish();
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
    finish();
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
