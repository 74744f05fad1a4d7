/* The queue of the SA under load: limits, BUSY, fairness, turns. */
#include "test.h"

enum { CLIENT_LIMIT = 8, QUEUE_LIMIT = 20, TURN = 100 };

static int open_limited(void **state)
{
    struct sa_config config;
    sa_config_init(&config);
    config.client_limit = CLIENT_LIMIT;
    config.queue_limit = QUEUE_LIMIT;
    config.turn_work = TURN;
    return open_shape(state, &(struct sa_world_shape){.kind = "figure1", .config = &config});
}

static void send(struct sa_world *world, uint16_t from, uint64_t tid)
{
    world_query(world, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0);
    wire_set(world->query, MAD_TID, tid);
    struct sa_message message = {
        .address = {.lid = from, .qp = 1}, .data = world->query, .bytes = MAD_BYTES};
    sa_receive(world->sa, world->now, &message);
}

static void a_client_beyond_its_limit_gets_busy(void **state)
{
    struct sa_world *world = *state;
    struct sa_message answer;
    unsigned answered = 0, busy = 0;
    for (unsigned i = 0; i < 12; i++)
        send(world, 1, i);
    send(world, 2, 100);
    while (sa_deadline(world->sa) == 0) {
        sa_expire(world->sa, world->now);
        while (sa_next_output(world->sa, world->now, &answer)) {
            bool refused = wire_get(answer.data, MAD_STATUS) == STATUS_BUSY;
            assert_true(refused == (answer.address.lid == 1 &&
                                    wire_get(answer.data, MAD_TID) >= CLIENT_LIMIT));
            busy += refused;
            answered += !refused;
        }
    }
    assert_int_equal(answered, CLIENT_LIMIT + 1);
    assert_int_equal(busy, 4);
}

/* Records that do not match count for the budget, too. */
static void a_turn_ends_when_its_budget_is_spent(void **state)
{
    struct sa_world *world = *state;
    struct sa_message answer;
    unsigned turns = 0, answered = 0;
    for (unsigned i = 0; i < QUEUE_LIMIT; i++) {
        uint8_t *record = world_query(world, METHOD_GET, ATTRIBUTE_NODE_RECORD, BIT(9));
        wire_set(record + NODE_RECORD_AT_NODE_INFO, NODE_INFO_PORT_GUID, world_guid(world, "H4"));
        struct sa_message message = {.address = {.lid = (uint16_t)(1 + i % 15), .qp = 1},
                                     .data = world->query,
                                     .bytes = MAD_BYTES};
        sa_receive(world->sa, world->now, &message);
    }
    for (; sa_deadline(world->sa) == 0; turns++) {
        sa_expire(world->sa, world->now);
        while (sa_next_output(world->sa, world->now, &answer))
            answered++;
    }
    assert_int_equal(answered, QUEUE_LIMIT);
    assert_true(turns >= QUEUE_LIMIT * 15 / TURN); /* 15 nodes */
}

static void beyond_all_limits_queries_are_dropped(void **state)
{
    struct sa_world *world = *state;
    struct sa_message answer;
    struct sa_counts counts;
    for (unsigned i = 0; i < 100000; i++)
        send(world, (uint16_t)(1 + i % 15), i);
    sa_counts(world->sa, &counts);
    assert_int_equal(counts.waiting, QUEUE_LIMIT);
    assert_int_equal(counts.busy, QUEUE_LIMIT);
    assert_int_equal(counts.dropped, 100000 - 2 * QUEUE_LIMIT);
    unsigned answered = 0, refused = 0;
    while (sa_deadline(world->sa) == 0) {
        sa_expire(world->sa, world->now);
        while (sa_next_output(world->sa, world->now, &answer))
            (*(wire_get(answer.data, MAD_STATUS) ? &refused : &answered))++;
    }
    /* All queued queries are answered, and some of the others with BUSY. */
    assert_int_equal(answered, QUEUE_LIMIT);
    assert_true(refused > 0 && refused <= QUEUE_LIMIT);
    sa_counts(world->sa, &counts);
    assert_int_equal(counts.dropped, 100000 - QUEUE_LIMIT - refused);
}

static void busy_answers_take_at_most_half_of_a_turn(void **state)
{
    struct sa_world *world = *state;
    struct sa_message answer;
    for (unsigned i = 0; i < 1000; i++)
        send(world, (uint16_t)(1 + i % 15), i);
    unsigned answered = 0, refused = 0;
    sa_expire(world->sa, world->now);
    while (sa_next_output(world->sa, world->now, &answer))
        (*(wire_get(answer.data, MAD_STATUS) ? &refused : &answered))++;
    assert_true(refused > 0 && answered > 0);
    assert_true(refused <= answered + answered / 2 + 2 || answered == QUEUE_LIMIT);
}

static void clients_are_served_round_robin(void **state)
{
    struct sa_world *world = *state;
    struct sa_message answer;
    static const uint16_t expected[] = {1, 2, 3, 1, 3, 1, 1, 1};
    for (unsigned i = 0; i < 5; i++)
        send(world, 1, i);
    send(world, 2, 0);
    send(world, 3, 0);
    send(world, 3, 1);
    sa_expire(world->sa, world->now);
    for (unsigned i = 0; i < 8; i++) {
        assert_true(sa_next_output(world->sa, world->now, &answer));
        assert_int_equal(answer.address.lid, expected[i]);
    }
    assert_false(sa_next_output(world->sa, world->now, &answer));
}

static void a_client_with_new_queries_waits_for_all_others(void **state)
{
    struct sa_world *world = *state;
    struct sa_message answer;
    static const uint16_t expected[] = {2, 3, 1, 2, 3};
    for (uint16_t lid = 1; lid <= 3; lid++)
        send(world, lid, 0);
    sa_expire(world->sa, world->now);
    sa_next_output(world->sa, world->now, &answer);
    assert_int_equal(answer.address.lid, 1);
    for (uint16_t lid = 1; lid <= 3; lid++)
        send(world, lid, 1);
    for (unsigned i = 0; i < 5; i++) {
        assert_true(sa_next_output(world->sa, world->now, &answer));
        assert_int_equal(answer.address.lid, expected[i]);
    }
}

static void a_long_table_takes_several_turns_and_does_not_delay_others(void **state)
{
    struct sa_world *world = *state;
    struct sa_message answer;
    world_query(world, METHOD_GET_TABLE, ATTRIBUTE_PATH_RECORD, 0); /* 225 pairs */
    struct sa_message message = {
        .address = {.lid = 1, .qp = 1}, .data = world->query, .bytes = MAD_BYTES};
    sa_receive(world->sa, world->now, &message);
    unsigned turns = 0;
    for (bool done = false; !done; turns++) {
        send(world, 2, turns);
        sa_expire(world->sa, world->now);
        bool other = false;
        while (sa_next_output(world->sa, world->now, &answer)) {
            other |= answer.address.lid == 2;
            done |= answer.address.lid == 1;
        }
        assert_true(other);
        assert_true(turns < 10);
    }
    assert_in_range(turns, 3, 4);
}

static void a_long_table_is_of_one_state_of_the_routes(void **state)
{
    struct sa_world *world = *state;
    struct sa_message answer;
    world_query(world, METHOD_GET_TABLE, ATTRIBUTE_PATH_RECORD, 0);
    struct sa_message message = {
        .address = {.lid = 1, .qp = 1}, .data = world->query, .bytes = MAD_BYTES};
    sa_receive(world->sa, world->now, &message);
    sa_expire(world->sa, world->now);
    assert_false(sa_next_output(world->sa, world->now, &answer));
    world_miss_hosts(world, 1); /* new routes */
    for (unsigned turns = 0; turns < 10; turns++) {
        sa_expire(world->sa, world->now);
        if (sa_next_output(world->sa, world->now, &answer))
            break;
    }
    world->answer = answer;
    assert_int_equal(world_record_count(world), 14 * 14);
}

static void too_many_long_tables_are_refused(void **state)
{
    struct sa_world *world = *state;
    struct sa_message answer;
    unsigned busy = 0;
    world_query(world, METHOD_GET_TABLE, ATTRIBUTE_PATH_RECORD, 0);
    for (uint16_t lid = 1; lid <= 10; lid++) {
        struct sa_message message = {
            .address = {.lid = lid, .qp = 1}, .data = world->query, .bytes = MAD_BYTES};
        sa_receive(world->sa, world->now, &message);
    }
    sa_expire(world->sa, world->now);
    while (sa_next_output(world->sa, world->now, &answer))
        busy += wire_get(answer.data, MAD_STATUS) == STATUS_BUSY;
    assert_int_equal(busy, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN(open_limited, a_client_beyond_its_limit_gets_busy),
        TEST_IN(open_limited, a_turn_ends_when_its_budget_is_spent),
        TEST_IN(open_limited, beyond_all_limits_queries_are_dropped),
        TEST_IN(open_limited, busy_answers_take_at_most_half_of_a_turn),
        TEST_IN(open_limited, clients_are_served_round_robin),
        TEST_IN(open_limited, a_client_with_new_queries_waits_for_all_others),
        TEST_IN(open_limited, a_long_table_takes_several_turns_and_does_not_delay_others),
        TEST_IN(open_limited, a_long_table_is_of_one_state_of_the_routes),
        TEST_IN(open_limited, too_many_long_tables_are_refused),
    };
    return RUN(tests);
}
