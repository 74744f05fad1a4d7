/* The states of both ends, message by message. */
#include "pair.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define CM_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

static struct pair pair;

static int begin(void **state)
{
    (void)state;
    pair_init(&pair, 1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    pair_release(&pair);
    return 0;
}

static struct cm_event expect(unsigned end, unsigned kind)
{
    struct cm_event event = {0};
    uint64_t limit = pair.now + TIME_S;
    while (!cm_next_event(pair.ends[end], &event))
        if (!pair_step(&pair, limit))
            fail_msg("no event %u at end %u", kind, end);
    assert_int_equal(event.kind, kind);
    return event;
}

static void settle(void)
{
    while (pair_step(&pair, pair.now + 50 * TIME_US))
        ;
}

/* A request arrives. */
static void request(uint32_t ids[2])
{
    cm_listen(pair.ends[1], SERVICE);
    ids[0] = pair_connect(&pair, 11);
    ids[1] = expect(1, CM_EVENT_REQUEST).id;
}

/* A connection up to the established state at both ends. */
static void establish(uint32_t ids[2])
{
    struct cm_message reply = {.qpn = 21, .starting_psn = 9};
    request(ids);
    assert_int_equal(cm_accept(pair.ends[1], pair.now, ids[1], &reply), 0);
    assert_int_equal(expect(0, CM_EVENT_REPLY).message.qpn, 21);
    assert_int_equal(cm_confirm(pair.ends[0], pair.now, ids[0]), 0);
    expect(1, CM_EVENT_ESTABLISHED);
}

static void a_connection_is_set_up_and_released(void **state)
{
    (void)state;
    uint32_t ids[2];
    establish(ids);
    assert_int_equal(cm_state(pair.ends[0], ids[0]), CM_ESTABLISHED);
    assert_int_equal(cm_state(pair.ends[1], ids[1]), CM_ESTABLISHED);
    assert_int_equal(cm_disconnect(pair.ends[1], pair.now, ids[1]), 0);
    expect(0, CM_EVENT_DISCONNECTED);
    uint64_t begun = pair.now;
    expect(1, CM_EVENT_DISCONNECTED);
    assert_int_equal(cm_state(pair.ends[0], ids[0]), CM_TIME_WAIT);
    expect(0, CM_EVENT_RELEASED);
    assert_true(pair.now - begun >= cm_time_ps(ACK_TIMEOUT));
    expect(1, CM_EVENT_RELEASED);
    assert_int_equal(cm_connections(pair.ends[0]) + cm_connections(pair.ends[1]), 0);
}

/* Each message of the set-up is lost once; it or its request is repeated, and no end sees an event
 * twice. */
static void lost_messages_are_repeated(void **state)
{
    (void)state;
    static const unsigned lost[][3] = {
        /* and how often it is sent: REP by its own time-out and for the repeated REQ */
        {0, ATTRIBUTE_CM_REQ, 2},
        {1, ATTRIBUTE_CM_REP, 3},
        {0, ATTRIBUTE_CM_RTU, 2}};
    for (unsigned i = 0; i < 3; i++) {
        uint32_t ids[2];
        begin(state);
        pair.lose[lost[i][0]][lost[i][1]] = 1;
        establish(ids);
        settle();
        struct cm_event event;
        assert_false(cm_next_event(pair.ends[0], &event));
        assert_false(cm_next_event(pair.ends[1], &event));
        assert_int_equal(pair.sent[lost[i][0]][lost[i][1]], lost[i][2]);
        assert_int_equal(cm_connections(pair.ends[1]), 1);
        end(state);
    }
}

static void a_silent_end_is_given_up(void **state)
{
    (void)state;
    pair.lose[0][ATTRIBUTE_CM_REQ] = 100;
    uint32_t id = pair_connect(&pair, 11);
    assert_int_equal(expect(0, CM_EVENT_UNREACHABLE).id, id);
    /* Six transmissions, each waited for: the response time and the packet's life both ways. */
    assert_true(pair.now == 6 * (cm_time_ps(8) + 2 * cm_time_ps(4)));
    assert_int_equal(pair.sent[0][ATTRIBUTE_CM_REQ], 6);
    assert_int_equal(pair.sent[0][ATTRIBUTE_CM_REJ], 1);
    assert_int_equal(cm_connections(pair.ends[0]), 0);
}

/* All REPs are lost: the active end gives up, and its REJ, which cannot know the ID of the passive
 * end, ends the connection there by the CA GUID. */
static void giving_up_ends_the_passive_half(void **state)
{
    (void)state;
    pair.lose[1][ATTRIBUTE_CM_REP] = 100;
    uint32_t ids[2];
    request(ids);
    cm_accept(pair.ends[1], pair.now, ids[1], &(struct cm_message){.qpn = 21});
    struct cm_event event;
    expect(0, CM_EVENT_UNREACHABLE);
    settle();
    while (cm_next_event(pair.ends[1], &event))
        assert_true(event.kind == CM_EVENT_REJECTED || event.kind == CM_EVENT_UNREACHABLE);
    assert_int_equal(cm_connections(pair.ends[1]), 0);
}

static void refusals_carry_their_reason(void **state)
{
    (void)state;
    pair_connect(&pair, 11); /* nobody listens */
    assert_int_equal(expect(0, CM_EVENT_REJECTED).message.reason, CM_INVALID_SERVICE_ID);
    cm_listen(pair.ends[1], SERVICE);
    assert_int_equal(cm_listen(pair.ends[1], SERVICE), -EEXIST);
    pair_connect(&pair, 11);
    uint32_t id = expect(1, CM_EVENT_REQUEST).id;
    struct cm_message because = {
        .reason = CM_CONSUMER, .information_bytes = 2, .information = "no", .private_data = "why"};
    assert_int_equal(cm_reject(pair.ends[1], pair.now, id, &because), 0);
    struct cm_event event = expect(0, CM_EVENT_REJECTED);
    assert_int_equal(event.message.reason, CM_CONSUMER);
    assert_int_equal(event.message.answers, CM_ANSWERS_REQ);
    assert_string_equal((char *)event.message.information, "no");
    assert_string_equal((char *)event.message.private_data, "why");
    assert_int_equal(cm_connections(pair.ends[0]) + cm_connections(pair.ends[1]), 0);
    assert_int_equal(cm_unlisten(pair.ends[1], SERVICE), 0);
    assert_int_equal(cm_unlisten(pair.ends[1], SERVICE), -ENOENT);
    struct cm_message datagram = {.service_id = SERVICE, .service = 2};
    cm_listen(pair.ends[1], SERVICE);
    cm_connect(pair.ends[0], pair.now, &datagram, &(struct cm_address){.lid = 2});
    assert_int_equal(expect(0, CM_EVENT_REJECTED).message.reason, CM_INVALID_SERVICE_TYPE);
}

static void a_table_that_is_full_refuses(void **state)
{
    (void)state;
    struct cm_config config;
    cm_free(pair.ends[1]);
    cm_config_init(&config);
    config.connections = 1;
    pair.ends[1] = cm_new(&config);
    cm_listen(pair.ends[1], SERVICE);
    pair_connect(&pair, 11);
    expect(1, CM_EVENT_REQUEST);
    pair_connect(&pair, 12);
    assert_int_equal(expect(0, CM_EVENT_REJECTED).message.reason, CM_NO_RESOURCES);
}

/* MRA replaces the repetitions of a request by one wait; a duplicate gets it again. */
static void an_announced_delay_is_waited_for(void **state)
{
    (void)state;
    uint32_t ids[2];
    request(ids);
    assert_int_equal(cm_delay(pair.ends[1], pair.now, ids[1], 12), 0);
    uint64_t until = pair.now + 10 * TIME_MS; /* of 17 ms */
    while (pair_step(&pair, until))
        ;
    assert_int_equal(cm_state(pair.ends[0], ids[0]), CM_REQ_DELAYED);
    assert_int_equal(pair.sent[0][ATTRIBUTE_CM_REQ], 1);
    assert_int_equal(cm_accept(pair.ends[1], pair.now, ids[1], &(struct cm_message){.qpn = 21}), 0);
    expect(0, CM_EVENT_REPLY);
    assert_int_equal(cm_delay(pair.ends[0], pair.now, ids[0], 12), 0);
    until = pair.now + 10 * TIME_MS;
    while (pair_step(&pair, until))
        ;
    assert_int_equal(cm_state(pair.ends[1], ids[1]), CM_REP_DELAYED);
    assert_int_equal(cm_confirm(pair.ends[0], pair.now, ids[0]), 0);
    expect(1, CM_EVENT_ESTABLISHED);
}

static void a_delay_that_passes_is_the_end(void **state)
{
    (void)state;
    uint32_t ids[2];
    request(ids);
    cm_delay(pair.ends[1], pair.now, ids[1], 12);
    expect(0, CM_EVENT_UNREACHABLE);
    assert_true(pair.now >= cm_time_ps(12) && pair.now <= cm_time_ps(12) + TIME_MS);
    expect(1, CM_EVENT_REJECTED);
}

/* The active end has forgotten a connection and asks again with the same QP. */
static void a_stale_connection_is_released_first(void **state)
{
    (void)state;
    struct cm_config config;
    uint32_t ids[2];
    establish(ids);
    cm_free(pair.ends[0]);
    cm_config_init(&config);
    config.ca_guid = 0xA0;
    config.first_id = 500;
    pair.ends[0] = cm_new(&config);
    pair_connect(&pair, 11);
    assert_int_equal(expect(0, CM_EVENT_REJECTED).message.reason, CM_STALE);
    expect(1, CM_EVENT_DISCONNECTED); /* its DREQ was answered by DREP for an unknown one */
    expect(1, CM_EVENT_RELEASED);
    pair_connect(&pair, 11);
    expect(1, CM_EVENT_REQUEST);
}

static void a_packet_may_come_before_ready_to_use(void **state)
{
    (void)state;
    uint32_t ids[2];
    request(ids);
    assert_int_equal(cm_established(pair.ends[1], pair.now, ids[1]), -EINVAL);
    cm_accept(pair.ends[1], pair.now, ids[1], &(struct cm_message){.qpn = 21});
    expect(0, CM_EVENT_REPLY);
    pair.lose[0][ATTRIBUTE_CM_RTU] = 100;
    cm_confirm(pair.ends[0], pair.now, ids[0]);
    assert_int_equal(cm_established(pair.ends[1], pair.now, ids[1]), 0);
    expect(1, CM_EVENT_ESTABLISHED);
    for (uint64_t limit = pair.now + TIME_S; pair_step(&pair, limit);)
        ;
    assert_int_equal(pair.sent[1][ATTRIBUTE_CM_REP], 1);
    assert_int_equal(cm_state(pair.ends[1], ids[1]), CM_ESTABLISHED);
}

static void alternate_paths_are_loaded_one_at_a_time(void **state)
{
    (void)state;
    uint32_t ids[2];
    struct cm_path path = {.local_lid = 3, .remote_lid = 4, .ack_timeout = 14};
    establish(ids);
    pair.lose[0][ATTRIBUTE_CM_LAP] = 1;
    pair.lose[1][ATTRIBUTE_CM_APR] = 1;
    assert_int_equal(cm_load_alternate(pair.ends[1], pair.now, ids[1], &path), -EINVAL);
    assert_int_equal(cm_load_alternate(pair.ends[0], pair.now, ids[0], &path), 0);
    assert_int_equal(cm_load_alternate(pair.ends[0], pair.now, ids[0], &path), -EINVAL);
    assert_int_equal(expect(1, CM_EVENT_ALTERNATE).message.alternate.remote_lid, 4);
    assert_int_equal(cm_answer_alternate(pair.ends[1], pair.now, ids[1], CM_LOADED), 0);
    assert_int_equal(expect(0, CM_EVENT_ALTERNATE_ANSWERED).message.status, CM_LOADED);
    assert_int_equal(pair.sent[0][ATTRIBUTE_CM_LAP], 3);
    assert_int_equal(pair.sent[1][ATTRIBUTE_CM_APR], 2);
    pair.lose[0][ATTRIBUTE_CM_LAP] = 100;
    cm_load_alternate(pair.ends[0], pair.now, ids[0], &path);
    assert_int_equal(expect(0, CM_EVENT_ALTERNATE_ANSWERED).message.kind, 0);
    assert_int_equal(cm_state(pair.ends[0], ids[0]), CM_ESTABLISHED);
}

static void datagram_services_are_resolved(void **state)
{
    (void)state;
    struct cm_message request = {.service_id = SERVICE, .p_key = 0xFFFF};
    struct cm_message answer = {.service_id = SERVICE, .qpn = 33, .q_key = 44};
    cm_resolve(pair.ends[0], pair.now, &request, &(struct cm_address){.lid = 2});
    assert_int_equal(expect(0, CM_EVENT_SERVICE).message.status, CM_RESOLVE_UNSUPPORTED);
    cm_listen(pair.ends[1], SERVICE);
    pair.lose[1][ATTRIBUTE_CM_SIDR_REP] = 1;
    cm_resolve(pair.ends[0], pair.now, &request, &(struct cm_address){.lid = 2});
    for (unsigned i = 0; i < 2; i++) {
        uint32_t id = expect(1, CM_EVENT_SERVICE_REQUEST).id;
        assert_int_equal(cm_answer_service(pair.ends[1], pair.now, id, &answer), 0);
    }
    struct cm_event event = expect(0, CM_EVENT_SERVICE);
    assert_int_equal(event.message.qpn, 33);
    assert_int_equal(event.message.q_key, 44);
    pair.lose[0][ATTRIBUTE_CM_SIDR_REQ] = 100;
    cm_resolve(pair.ends[0], pair.now, &request, &(struct cm_address){.lid = 2});
    expect(0, CM_EVENT_UNREACHABLE);
    assert_int_equal(cm_connections(pair.ends[0]) + cm_connections(pair.ends[1]), 0);
}

/* The active end has migrated: its messages go to the new address, and are answered at theirs. */
static void messages_follow_a_migrated_path(void **state)
{
    (void)state;
    struct cm_output output;
    uint32_t ids[2];
    establish(ids);
    settle();
    struct cm_address to = {.lid = 77, .port = 2};
    assert_int_equal(cm_readdress(pair.ends[0], 12345, &to), -EINVAL);
    assert_int_equal(cm_readdress(pair.ends[0], ids[0], &to), 0);
    struct cm_path path = {.local_lid = 3, .remote_lid = 4};
    assert_int_equal(cm_load_alternate(pair.ends[0], pair.now, ids[0], &path), 0);
    assert_true(cm_next_output(pair.ends[0], &output));
    assert_int_equal(output.to.lid, 77);
    assert_int_equal(output.to.port, 2);
    cm_receive(pair.ends[1], pair.now, output.mad, &(struct cm_address){.lid = 88, .port = 1});
    expect(1, CM_EVENT_ALTERNATE);
    assert_int_equal(cm_answer_alternate(pair.ends[1], pair.now, ids[1], CM_LOADED), 0);
    assert_true(cm_next_output(pair.ends[1], &output));
    assert_int_equal(output.to.lid, 88);
}

/* ---- many connections ---- */

enum { GUIDS = 20, IDS = 50 };

static void receive_requests(struct cm *cm, uint64_t now, uint32_t qpn_offset)
{
    for (unsigned guid = 1; guid <= GUIDS; guid++)
        for (unsigned id = 1; id <= IDS; id++) {
            uint8_t mad[MAD_BYTES];
            struct cm_message request = {.kind = ATTRIBUTE_CM_REQ,
                                         .tid = guid * IDS + id,
                                         .local_id = id,
                                         .service_id = SERVICE,
                                         .ca_guid = guid,
                                         .qpn = id + qpn_offset,
                                         .cm_retries = 1,
                                         .local_timeout = 1 + id % 7};
            cm_encode(&request, mad);
            cm_receive(cm, now, mad, &(struct cm_address){.lid = (uint16_t)guid});
        }
}

static unsigned count_events(struct cm *cm, unsigned kind, uint64_t now)
{
    unsigned count = 0;
    for (struct cm_event event; cm_next_event(cm, &event);) {
        assert_int_equal(event.kind, kind);
        if (kind == CM_EVENT_REQUEST)
            assert_int_equal(cm_accept(cm, now, event.id, &(struct cm_message){.qpn = 5}), 0);
        count++;
    }
    return count;
}

/* Other ends choose their IDs and QPs alike. */
static void equal_numbers_of_different_ends_are_kept_apart(void **state)
{
    struct cm_config config;
    struct cm_output output;
    uint64_t now = 0;
    (void)state;
    cm_config_init(&config);
    config.packet_life = 1;
    struct cm *cm = cm_new(&config);
    cm_listen(cm, SERVICE);
    for (unsigned turn = 0; turn < 3; turn++) {
        receive_requests(cm, now, 100);
        assert_int_equal(count_events(cm, CM_EVENT_REQUEST, now), GUIDS * IDS);
        receive_requests(cm, now, 100);
        assert_int_equal(count_events(cm, 0, now), 0);
        assert_int_equal(cm_counters(cm)->duplicates, (turn + 1) * GUIDS * IDS);
        receive_requests(cm, now, 200); /* the ID of another QP */
        assert_int_equal(count_events(cm, 0, now), 0);
        assert_int_equal(cm_counters(cm)->rejects_sent, (2 * turn + 1) * GUIDS * IDS);
        unsigned ended = 0;
        for (uint64_t deadline; (deadline = cm_deadline(cm)) != TIME_NEVER;) {
            assert_true(deadline > now);
            now = deadline;
            cm_expire(cm, now - 1);
            assert_int_equal(cm_deadline(cm), now);
            cm_expire(cm, now);
            ended += count_events(cm, CM_EVENT_UNREACHABLE, now);
        }
        assert_int_equal(ended, GUIDS * IDS);
        assert_int_equal(cm_connections(cm), 0);
        while (cm_next_output(cm, &output))
            ;
    }
    cm_free(cm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CM_TEST(a_connection_is_set_up_and_released),
        cmocka_unit_test(lost_messages_are_repeated),
        CM_TEST(a_silent_end_is_given_up),
        CM_TEST(giving_up_ends_the_passive_half),
        CM_TEST(refusals_carry_their_reason),
        CM_TEST(a_table_that_is_full_refuses),
        CM_TEST(an_announced_delay_is_waited_for),
        CM_TEST(a_delay_that_passes_is_the_end),
        CM_TEST(a_stale_connection_is_released_first),
        CM_TEST(a_packet_may_come_before_ready_to_use),
        CM_TEST(alternate_paths_are_loaded_one_at_a_time),
        CM_TEST(messages_follow_a_migrated_path),
        CM_TEST(datagram_services_are_resolved),
        cmocka_unit_test(equal_numbers_of_different_ends_are_kept_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
