/* One client against the others: work is charged, reports and answers are bounded, ports limited.
 */
#include "test.h"

enum { SERVICES = 65536, SERVICE_ID = 0, SERVICE_GID = 1, SERVICE_DATA8_2 = 9 };
enum { REPORTS = 1000 };

static uint8_t *service(struct sa_world *world, unsigned method, uint64_t id, uint64_t mask)
{
    uint8_t *record = world_query(world, method, ATTRIBUTE_SERVICE_RECORD, mask);
    const char *host = world->from == world_lid(world, "H15") ? "H15" : "H4";
    wire_set(record, SERVICE_RECORD_ID, id);
    set_gid(wire_bytes(record, SERVICE_RECORD_GID), PREFIX, world_guid(world, host));
    return record;
}

static unsigned announce(struct sa_world *world, uint64_t id, bool trusted)
{
    service(world, METHOD_SET, id, BIT(SERVICE_ID) | BIT(SERVICE_GID));
    wire_set(world->query, SA_SM_KEY, trusted);
    return world_send(world);
}

static void announce_many(struct sa_world *world)
{
    for (unsigned i = 0; i < SERVICES; i++)
        assert_int_equal(announce(world, i, true), STATUS_OK);
}

static void ask(struct sa_world *world, uint16_t from)
{
    struct sa_message message = {
        .address = {.lid = from, .qp = 1}, .data = world->query, .bytes = MAD_BYTES};
    sa_receive(world->sa, world->now, &message);
}

/* ---- work ---- */

static void a_scan_of_all_services_ends_the_turn_and_an_indexed_miss_does_not(void **state)
{
    struct sa_world *world = *state;
    struct sa_message answer;
    unsigned answers = 0;
    announce_many(world);
    wire_set_at(service(world, METHOD_GET, 0, BIT(SERVICE_DATA8_2)), SERVICE_RECORD_DATA8, 2, 1);
    ask(world, world->from);
    ask(world, world->from);
    sa_expire(world->sa, world->now);
    assert_true(sa_next_output(world->sa, world->now, &answer));
    assert_false(sa_next_output(world->sa, world->now, &answer));
    sa_expire(world->sa, world->now);
    assert_true(sa_next_output(world->sa, world->now, &answer));
    service(world, METHOD_GET, SERVICES, BIT(SERVICE_ID));
    for (unsigned i = 0; i < 200; i++)
        ask(world, world->from);
    sa_expire(world->sa, world->now);
    while (sa_next_output(world->sa, world->now, &answer))
        answers++;
    assert_int_equal(answers, 200);
}

static void a_client_that_asks_now_and_then_does_not_wait_for_scans_of_others(void **state)
{
    struct sa_world *world = *state;
    struct sa_message answer;
    uint16_t honest = world_lid(world, "H15");
    announce_many(world);
    wire_set_at(service(world, METHOD_GET, 0, BIT(SERVICE_DATA8_2)), SERVICE_RECORD_DATA8, 2, 1);
    for (unsigned i = 0; i < 50; i++)
        for (uint16_t lid = 1; lid <= 15; lid++)
            if (lid != honest)
                ask(world, lid);
    for (unsigned i = 0; i < 100; i++) {
        /* The others are served meanwhile, and each of them once at the beginning. */
        for (unsigned j = 0; j < (i ? i % 4 + 2 : 15); j++) {
            sa_expire(world->sa, world->now);
            while (sa_next_output(world->sa, world->now, &answer))
                continue;
        }
        uint8_t mad[MAD_BYTES];
        memcpy(mad, world->query, sizeof mad);
        world_query(world, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0);
        ask(world, honest);
        memcpy(world->query, mad, sizeof mad);
        sa_expire(world->sa, world->now);
        assert_true(sa_next_output(world->sa, world->now, &answer));
        assert_int_equal(answer.address.lid, honest);
    }
}

/* ---- reports ---- */

static void subscribe(struct sa_world *world, const char *host, unsigned trap, unsigned status)
{
    uint8_t *info = world_query(world, METHOD_SET, ATTRIBUTE_INFORM_INFO, 0);
    wire_set(info, INFORM_INFO_LID_RANGE_BEGIN, 0xFFFF);
    wire_set(info, INFORM_INFO_IS_GENERIC, 1);
    wire_set(info, INFORM_INFO_SUBSCRIBE, 1);
    wire_set(info, INFORM_INFO_TYPE, 0xFFFF);
    wire_set(info, INFORM_INFO_TRAP_NUMBER, trap);
    wire_set(info, INFORM_INFO_PRODUCER_TYPE, 0xFFFFFF);
    world->from = world_lid(world, host);
    assert_int_equal(world_send(world), status);
}

static void notify(struct sa_world *world)
{
    uint8_t notice[WIRE_BYTES_NOTICE] = {0};
    wire_set(notice, NOTICE_IS_GENERIC, 1);
    wire_set(notice, NOTICE_TYPE, 1);
    wire_set(notice, NOTICE_PRODUCER_TYPE, 1);
    wire_set(notice, NOTICE_TRAP_NUMBER, 128);
    wire_set(notice, NOTICE_ISSUER_LID, world_lid(world, "H12"));
    sa_notice(world->sa, world->now, notice);
}

static void a_subscriber_that_never_answers_delays_no_other(void **state)
{
    struct sa_world *world = *state;
    struct sa_message report;
    struct sa_counts counts;
    unsigned received = 0;
    subscribe(world, "H4", 128, STATUS_OK);
    subscribe(world, "H4", 0xFFFF, STATUS_OK);
    subscribe(world, "H15", 128, STATUS_OK);
    for (unsigned i = 0; i < REPORTS; i++)
        notify(world);
    while (sa_deadline(world->sa) <= world->now) {
        sa_expire(world->sa, world->now);
        while (sa_next_output(world->sa, world->now, &report)) {
            if (report.address.lid != world_lid(world, "H15"))
                continue; /* it does not answer */
            uint8_t mad[MAD_BYTES];
            memcpy(mad, report.data, MAD_BYTES);
            wire_set(mad, MAD_METHOD, METHOD_REPORT_RESP);
            struct sa_message response = {
                .address = report.address, .data = mad, .bytes = MAD_BYTES};
            sa_receive(world->sa, world->now, &response);
            received++;
        }
    }
    assert_int_equal(received, REPORTS);
    sa_counts(world->sa, &counts);
    assert_int_equal(counts.reports, REPORTS + 8); /* the window of the other one */
}

/* ---- limits of a port ---- */

static void a_port_has_at_most_32_services(void **state)
{
    struct sa_world *world = *state;
    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(announce(world, i, false), STATUS_OK);
    assert_int_equal(announce(world, 32, false), STATUS_SA_NO_RESOURCES);
    assert_int_equal(announce(world, 31, false), STATUS_OK); /* a renewal */
    assert_int_equal(announce(world, 32, true), STATUS_OK);
    service(world, METHOD_DELETE, 1, BIT(SERVICE_ID) | BIT(SERVICE_GID));
    assert_int_equal(world_send(world), STATUS_OK);
    service(world, METHOD_DELETE, 2, BIT(SERVICE_ID) | BIT(SERVICE_GID));
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(announce(world, 33, false), STATUS_OK);
    assert_int_equal(announce(world, 34, false), STATUS_SA_NO_RESOURCES);
    world->from = world_lid(world, "H15");
    assert_int_equal(announce(world, 34, false), STATUS_OK);
}

static void a_port_has_at_most_32_subscriptions(void **state)
{
    struct sa_world *world = *state;
    for (unsigned i = 0; i < 32; i++)
        subscribe(world, "H4", 1000 + i, STATUS_OK);
    subscribe(world, "H4", 1000, STATUS_OK); /* again */
    subscribe(world, "H4", 1032, STATUS_SA_NO_RESOURCES);
    subscribe(world, "H15", 1032, STATUS_OK);
}

/* `asker` joins for `host`. */
static unsigned join_for(struct sa_world *world, const char *asker, const char *host,
                         unsigned number)
{
    enum { MGID, PORT, Q_KEY, CLASS = 6, P_KEY, SL = 12, FLOW, STATE = 16 };
    uint8_t *record = world_query(world, METHOD_SET, ATTRIBUTE_MC_MEMBER_RECORD,
                                  BIT(MGID) | BIT(PORT) | BIT(Q_KEY) | BIT(CLASS) | BIT(P_KEY) |
                                      BIT(SL) | BIT(FLOW) | BIT(STATE));
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_MGID), UINT64_C(0xFF12A01C00000000), number + 1);
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_PORT_GID), PREFIX, world_guid(world, host));
    wire_set(record, MC_MEMBER_RECORD_P_KEY, 0xFFFF);
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, 1);
    world->from = world_lid(world, asker);
    return world_send(world);
}

static unsigned join(struct sa_world *world, const char *host, unsigned number)
{
    return join_for(world, host, host, number);
}

static void a_port_is_in_at_most_128_groups(void **state)
{
    struct sa_world *world = *state;
    for (unsigned i = 0; i < 128; i++)
        assert_int_equal(join(world, "H4", i), STATUS_OK);
    assert_int_equal(join(world, "H4", 128), STATUS_SA_NO_RESOURCES);
    assert_int_equal(join(world, "H4", 3), STATUS_OK); /* it is a member */
    assert_int_equal(join(world, "H15", 128), STATUS_OK);
    assert_int_equal(join(world, "H4", 128), STATUS_SA_NO_RESOURCES);
    struct sa_counts counts;
    sa_counts(world->sa, &counts);
    assert_int_equal(counts.groups, 130); /* with the broadcast group */
}

static void allow_many_groups(struct sa_world *world)
{
    struct sa_config config;
    sa_config_init(&config);
    config.port_groups = 0;
    config.port_mlids = 10000; /* but the switches have 1,024 */
    sa_free(world->sa);
    world->sa = sa_new(&config, world_guid(world, "H4"));
    world_update_view(world);
}

static void a_port_that_may_join_more_groups_still_takes_its_share_of_mlids_only(void **state)
{
    struct sa_world *world = *state;
    allow_many_groups(world);
    unsigned number = 0;
    while (join(world, "H4", number) == STATUS_OK)
        assert_true(++number < 1024);
    assert_int_equal(number, 256);
    assert_int_equal(join(world, "H15", number), STATUS_OK);
    assert_int_equal(join(world, "H4", number), STATUS_OK); /* this one is not its own */
}

static uint64_t sent_reports(struct sa_world *world)
{
    struct sa_counts counts;
    struct sa_message report;
    while (sa_next_output(world->sa, world->now, &report))
        continue;
    sa_counts(world->sa, &counts);
    return counts.reports;
}

static void a_join_that_is_refused_is_not_reported(void **state)
{
    struct sa_world *world = *state;
    for (unsigned i = 0; i < 128; i++) { /* H4 is in as many as it may be, but took no MLID */
        assert_int_equal(join(world, "H15", i), STATUS_OK);
        assert_int_equal(join(world, "H4", i), STATUS_OK);
    }
    subscribe(world, "H12", 66, STATUS_OK);
    subscribe(world, "H12", 67, STATUS_OK);
    assert_int_equal(join(world, "H4", 128), STATUS_SA_NO_RESOURCES);
    assert_int_equal(sent_reports(world), 0);
    assert_int_equal(join(world, "H7", 128), STATUS_OK);
    assert_int_equal(sent_reports(world), 1);
}

/* The disk does not answer. */
static void answers_that_wait_for_a_save_are_limited_by_port(void **state)
{
    struct sa_world *world = *state;
    sa_await_saves(world->sa, true);
    unsigned accepted = 0;
    world->from = world_lid(world, "H4");
    while (announce(world, accepted, true) == NO_ANSWER)
        assert_true(++accepted < 1000);
    assert_int_equal(accepted, 256);
    assert_int_equal(announce(world, accepted, true), STATUS_BUSY);
    world->from = world_lid(world, "H15");
    assert_int_equal(announce(world, accepted, true), NO_ANSWER);
    world->now += NS_PER_S; /* nobody waits longer than that for a disk */
    struct sa_message answer;
    while (sa_next_output(world->sa, world->now, &answer))
        assert_true(accepted-- > 0 || answer.address.lid == world_lid(world, "H15"));
    world->from = world_lid(world, "H4");
    assert_int_equal(announce(world, 1000, true), NO_ANSWER);
}

/* Otherwise one port takes all MLIDs, and others reach their limits without having joined. */
static void joins_for_another_port_count_for_the_port_that_asks(void **state)
{
    struct sa_world *world = *state;
    for (unsigned i = 0; i < 128; i++)
        assert_int_equal(join_for(world, "H15", i % 2 ? "H4" : "H7", i), STATUS_OK);
    assert_int_equal(join_for(world, "H15", "H4", 128), STATUS_SA_NO_RESOURCES);
    assert_int_equal(join_for(world, "H15", "H15", 128), STATUS_SA_NO_RESOURCES);
    for (unsigned i = 0; i < 127; i++)
        assert_int_equal(join(world, "H4", 200 + i), STATUS_OK);
    assert_int_equal(join(world, "H4", 1), STATUS_OK); /* now it counts for H4 itself */
    assert_int_equal(join(world, "H4", 128), STATUS_SA_NO_RESOURCES);
    assert_int_equal(join_for(world, "H15", "H7", 128), STATUS_OK);
    assert_int_equal(join_for(world, "H15", "H7", 129), STATUS_SA_NO_RESOURCES);
}

static void joins_for_other_ports_take_the_share_of_mlids_of_one_port(void **state)
{
    static const char *const others[] = {"H4", "H7", "H11", "H12"};
    struct sa_world *world = *state;
    allow_many_groups(world);
    unsigned number = 0;
    while (join_for(world, "H15", others[number % 4], number) == STATUS_OK)
        assert_true(++number < 1024);
    assert_int_equal(number, 256);
    assert_int_equal(join(world, "H4", number), STATUS_OK);
}

/* ---- bytes ---- */

static void the_bytes_of_long_answers_to_a_port_are_limited(void **state)
{
    struct sa_world *world = *state;
    struct sa_config config;
    sa_config_init(&config);
    config.client_bytes = 20000; /* the table has 15 records of 112 bytes */
    sa_free(world->sa);
    world->sa = sa_new(&config, world_guid(world, "H4"));
    world_update_view(world);
    unsigned answered = 0;
    world_query(world, METHOD_GET_TABLE, ATTRIBUTE_NODE_RECORD, 0);
    world->now += NS_PER_S;
    while (world_send(world) == STATUS_OK)
        assert_true(++answered < 20);
    assert_in_range(answered, 5, 15);
    assert_int_equal(wire_get(world->answer.data, MAD_STATUS), STATUS_BUSY);
    world->from = world_lid(world, "H15");
    assert_int_equal(world_send(world), STATUS_OK);
    world->from = world_lid(world, "H4");
    world->now += 8 * NS_PER_S;
    assert_int_equal(world_send(world), STATUS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_scan_of_all_services_ends_the_turn_and_an_indexed_miss_does_not),
        TEST(a_client_that_asks_now_and_then_does_not_wait_for_scans_of_others),
        TEST(a_subscriber_that_never_answers_delays_no_other),
        TEST(a_port_has_at_most_32_services),
        TEST(a_port_has_at_most_32_subscriptions),
        TEST(a_port_is_in_at_most_128_groups),
        TEST(a_port_that_may_join_more_groups_still_takes_its_share_of_mlids_only),
        TEST(a_join_that_is_refused_is_not_reported),
        TEST(answers_that_wait_for_a_save_are_limited_by_port),
        TEST(joins_for_another_port_count_for_the_port_that_asks),
        TEST(joins_for_other_ports_take_the_share_of_mlids_of_one_port),
        TEST(the_bytes_of_long_answers_to_a_port_are_limited),
    };
    return RUN(tests);
}
