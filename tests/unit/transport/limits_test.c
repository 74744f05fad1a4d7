/* RC: READs, window, credits, and the limits of receive and completion queues. */
#include "pair.h"

#include <errno.h>
#include <stdlib.h>

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
    finish();
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
    finish();
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
    send_one(WORK_WRITE, 1, 0, 60000, 0, &ends[1]);
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
    finish();
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
    finish();
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
    finish();
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

/* The second end takes its requests from an SRQ, which is full of requests of so many bytes. */
static struct toy_pair begin_shared(uint32_t requests, uint32_t bytes)
{
    struct transport_config config;
    struct toy_pair pair = toy_pair_default;
    transport_config_init(&config);
    config.accesses = true;
    toy_init(&toy, 2, &config, 1);
    uint32_t domain = transport_add_domain(toy.adapters[1]);
    assert_int_equal(transport_add_srq(toy.adapters[1], domain, requests, &pair.srq), 0);
    toy_connect(&toy, ends, &pair);
    struct transport_segment segment = {ends[1].region.start, bytes, ends[1].key};
    for (unsigned i = 0; i < requests; i++) {
        struct transport_receive_work work = {i, (uintptr_t)ends[1].region.bytes, 1, &segment};
        assert_int_equal(transport_post_shared(toy.adapters[1], pair.srq, &work), 0);
    }
    return pair;
}

static void a_shared_receive_queue_serves_and_reports_its_limit(void **state)
{
    (void)state;
    struct toy_pair pair = begin_shared(10, 100);
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
    finish();
}

static void what_a_reset_queue_pair_had_taken_is_the_next_shared_request(void **state)
{
    (void)state;
    struct toy_pair pair = begin_shared(2, 2000);
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
    finish();
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
    finish();
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
    finish();
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
    finish();
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
    finish();
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
    finish();
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
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
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
