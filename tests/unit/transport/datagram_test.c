/* UD: datagrams, keys, multicast; UC: lost packets. */
#include "toy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct toy toy;
static struct toy_end ends[3];

static void begin(void)
{
    struct transport_config config;
    struct toy_pair pair = toy_pair_default;
    transport_config_init(&config);
    config.accesses = true;
    toy_init(&toy, 3, &config, 1);
    pair.service = TRANSPORT_UD;
    for (unsigned i = 0; i < 3; i++) {
        toy_end_init(&toy, &ends[i], i, &pair);
        toy_bring(&toy, &ends[i], NULL, &pair, i != 0, STATE_RTS);
    }
    for (unsigned i = 0; i < 4096; i++)
        ends[0].region.bytes[i] = (uint8_t)(i * 5);
}

static void finish(void)
{
    toy_release(&toy);
    for (unsigned i = 0; i < 3; i++)
        toy_end_release(&ends[i]);
}

static struct transport_path path_to(unsigned end)
{
    return (struct transport_path){.dlid = (uint16_t)(TOY_LID + end)};
}

static void send(const struct transport_path *path, uint32_t qp, uint32_t q_key, uint32_t bytes)
{
    struct transport_segment segment = {ends[0].region.start, bytes, ends[0].key};
    struct transport_work work = {
        .id = 9,
        .memory = (uintptr_t)ends[0].region.bytes,
        .operation = WORK_SEND_IMMEDIATE,
        .segment_count = 1,
        .segments = &segment,
        .immediate = 77,
        .path = path,
        .dest_qp = qp,
        .q_key = q_key,
    };
    assert_int_equal(transport_post_send(toy.adapters[0], ends[0].qp, &work), 0);
    toy_run(&toy, TIME_NEVER);
}

static const struct transport_counters *counters_of(unsigned adapter)
{
    return transport_counters(toy.adapters[adapter]);
}

static void a_datagram_names_its_sender(void **state)
{
    (void)state;
    begin();
    struct transport_path path = path_to(1);
    path.sl = 3;
    toy_receive(&toy, &ends[1], 5, 0, 1000);
    send(&path, ends[1].qp, 0x1234, 500);
    assert_int_equal(toy_poll(&toy, &ends[0]).status, STATUS_SUCCESS);
    struct transport_completion got = toy_poll(&toy, &ends[1]);
    assert_int_equal(got.status, STATUS_SUCCESS);
    assert_int_equal(got.id, 5);
    assert_int_equal(got.bytes, 540); /* with the room for a GRH */
    assert_int_equal(got.source_qp, ends[0].qp);
    assert_int_equal(got.slid, TOY_LID);
    assert_int_equal(got.sl, 3);
    assert_int_equal(got.immediate, 77);
    assert_false(got.global);
    assert_memory_equal(ends[1].region.bytes + 40, ends[0].region.bytes, 500);
    finish();
}

static void a_global_route_is_delivered_with_the_datagram(void **state)
{
    (void)state;
    begin();
    struct transport_path path = path_to(1);
    path.global = true;
    memset(path.route.sgid, 0xAA, 16);
    memset(path.route.dgid, 0xBB, 16);
    toy_receive(&toy, &ends[1], 5, 0, 1000);
    send(&path, ends[1].qp, 0x1234, 5);
    struct transport_completion got = toy_poll(&toy, &ends[1]);
    assert_true(got.global);
    assert_memory_equal(ends[1].region.bytes + 8, path.route.sgid, 16);
    assert_memory_equal(ends[1].region.bytes + 24, path.route.dgid, 16);
    assert_memory_equal(ends[1].region.bytes + 40, ends[0].region.bytes, 5);
    finish();
}

static void a_wrong_q_key_is_dropped_and_reported(void **state)
{
    (void)state;
    begin();
    struct transport_path path = path_to(1);
    toy_receive(&toy, &ends[1], 5, 0, 1000);
    send(&path, ends[1].qp, 0x1235, 5);
    assert_int_equal(toy_poll(&toy, &ends[1]).status, 255);
    assert_int_equal(counters_of(1)->q_key_violations, 1);
    const struct transport_violation *violation = &toy.violations[1].items[0];
    assert_true(violation->q_key);
    assert_int_equal(violation->key, 0x1235);
    assert_int_equal(violation->source_qp, ends[0].qp);
    assert_int_equal(violation->dest_qp, ends[1].qp);
    assert_int_equal(violation->slid, TOY_LID);
    assert_int_equal(violation->dlid, TOY_LID + 1);
    send(&path, ends[1].qp, 0x80000000, 5); /* the QP's own */
    assert_int_equal(toy_poll(&toy, &ends[1]).status, STATUS_SUCCESS);
    transport_set_p_key(toy.adapters[1], 1, 0, 0x9999);
    toy_receive(&toy, &ends[1], 5, 0, 1000);
    send(&path, ends[1].qp, 0x1234, 5);
    assert_int_equal(counters_of(1)->p_key_violations, 1);
    finish();
}

static void limited_members_do_not_speak_to_each_other(void **state)
{
    (void)state;
    static const struct {
        uint16_t from, to;
        bool passes;
    } cases[] = {{0xFFFF, 0x7FFF, true},
                 {0x7FFF, 0xFFFF, true},
                 {0x7FFF, 0x7FFF, false},
                 {0x8001, 0x8002, false},
                 {0, 0, false}};
    for (unsigned i = 0; i < 5; i++) {
        begin();
        struct transport_path path = path_to(1);
        transport_set_p_key(toy.adapters[0], 1, 0, cases[i].from);
        transport_set_p_key(toy.adapters[1], 1, 0, cases[i].to);
        toy_receive(&toy, &ends[1], 5, 0, 1000);
        send(&path, ends[1].qp, 0x1234, 5);
        assert_int_equal(toy_poll(&toy, &ends[1]).status, cases[i].passes ? STATUS_SUCCESS : 255);
        finish();
    }
}

static void what_finds_no_room_is_dropped(void **state)
{
    (void)state;
    begin();
    struct transport_path path = path_to(1);
    send(&path, ends[1].qp, 0x1234, 5);
    toy_receive(&toy, &ends[1], 5, 0, 44);
    send(&path, ends[1].qp, 0x1234, 5);
    assert_int_equal(counters_of(1)->no_receive, 2);
    send(&path, ends[1].qp, 0x1234, 4);
    assert_int_equal(toy_poll(&toy, &ends[1]).status, STATUS_SUCCESS);
    send(&path, 12345, 0x1234, 4);
    assert_int_equal(counters_of(1)->discarded, 1);
    finish();
}

static void a_datagram_longer_than_the_mtu_stops_the_send_queue(void **state)
{
    (void)state;
    begin();
    struct transport_path path = path_to(1);
    send(&path, ends[1].qp, 0x1234, 2049);
    struct transport_completion got;
    do
        got = toy_poll(&toy, &ends[0]);
    while (got.status == STATUS_SUCCESS);
    assert_int_equal(got.status, STATUS_LOCAL_LENGTH);
    send(&path, ends[1].qp, 0x1234, 5);
    assert_int_equal(toy_poll(&toy, &ends[0]).status, STATUS_FLUSHED);
    struct transport_qp_attributes back = {.state = STATE_RTS};
    assert_int_equal(
        transport_modify_qp(toy.adapters[0], 0, ends[0].qp, &back, ATTRIBUTE_STATE, NULL), 0);
    toy_receive(&toy, &ends[1], 5, 0, 1000);
    send(&path, ends[1].qp, 0x1234, 5);
    assert_int_equal(toy_poll(&toy, &ends[1]).status, STATUS_SUCCESS);
    finish();
}

static void multicast_reaches_the_members(void **state)
{
    (void)state;
    uint8_t mgid[16] = {0xFF, 0x12, 0xA0, 0x1B, 15};
    begin();
    struct transport_path path = {.dlid = 0xC001, .global = true};
    memcpy(path.route.dgid, mgid, 16);
    assert_int_equal(transport_attach(toy.adapters[1], ends[1].qp, mgid, 0xC001), 0);
    assert_int_not_equal(transport_attach(toy.adapters[1], ends[1].qp, mgid, 0xC001), 0);
    for (unsigned i = 1; i < 3; i++)
        for (unsigned n = 0; n < 2; n++)
            toy_receive(&toy, &ends[i], 5, 0, 1000);
    send(&path, TRANSPORT_MULTICAST_QP, 0x1234, 100);
    assert_int_equal(toy_poll(&toy, &ends[1]).status, STATUS_SUCCESS);
    assert_int_equal(toy_poll(&toy, &ends[2]).status, 255);
    assert_int_equal(transport_attach(toy.adapters[2], ends[2].qp, mgid, 0xC001), 0);
    assert_int_equal(transport_detach(toy.adapters[1], ends[1].qp, mgid, 0xC001), 0);
    send(&path, TRANSPORT_MULTICAST_QP, 0x1234, 100);
    assert_int_equal(toy_poll(&toy, &ends[1]).status, 255);
    assert_int_equal(toy_poll(&toy, &ends[2]).status, STATUS_SUCCESS);
    send(&path, TRANSPORT_MULTICAST_QP, 0x9999, 100); /* a wrong Q_Key is no violation here */
    assert_int_equal(toy_poll(&toy, &ends[2]).status, 255);
    assert_int_equal(counters_of(2)->q_key_violations, 0);
    finish();
}

static bool drop_third(struct toy *at, unsigned from, struct transport_packet *packet)
{
    unsigned *seen = at->context;
    (void)packet;
    return from != 0 || ++*seen != 3;
}

static void uc_loses_the_message_of_a_lost_packet(void **state)
{
    (void)state;
    struct transport_config config;
    struct toy_pair pair = toy_pair_default;
    unsigned seen = 0;
    transport_config_init(&config);
    config.accesses = true;
    toy_init(&toy, 2, &config, 1);
    pair.service = TRANSPORT_UC;
    toy_connect(&toy, ends, &pair);
    toy.filter = drop_third;
    toy.context = &seen;
    for (unsigned i = 0; i < 3; i++)
        toy_receive(&toy, &ends[1], i, 0, 5000);
    for (unsigned i = 0; i < 3; i++)
        toy_send(&toy, &ends[0], WORK_SEND_IMMEDIATE, 10 + i, 0, 2000, 0, NULL);
    toy_run(&toy, TIME_NEVER);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(toy_poll(&toy, &ends[0]).status, STATUS_SUCCESS);
    struct transport_completion got = toy_poll(&toy, &ends[1]);
    assert_int_equal(got.id, 0);
    assert_int_equal(got.immediate, 10);
    got = toy_poll(&toy, &ends[1]); /* of the third message, in the next receive request */
    assert_int_equal(got.id, 1);
    assert_int_equal(got.immediate, 12);
    assert_int_equal(toy_poll(&toy, &ends[1]).status, 255);
    toy_release(&toy);
    toy_end_release(&ends[0]);
    toy_end_release(&ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_datagram_names_its_sender),
        cmocka_unit_test(a_global_route_is_delivered_with_the_datagram),
        cmocka_unit_test(a_wrong_q_key_is_dropped_and_reported),
        cmocka_unit_test(limited_members_do_not_speak_to_each_other),
        cmocka_unit_test(what_finds_no_room_is_dropped),
        cmocka_unit_test(a_datagram_longer_than_the_mtu_stops_the_send_queue),
        cmocka_unit_test(multicast_reaches_the_members),
        cmocka_unit_test(uc_loses_the_message_of_a_lost_packet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
