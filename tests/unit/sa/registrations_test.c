/* Services with leases, subscriptions, and reports. */
#include "test.h"

/* ---- services ---- */

enum { SERVICE_ID, SERVICE_GID, SERVICE_P_KEY, SERVICE_LEASE = 4, SERVICE_KEY, SERVICE_NAME };
enum { SERVICE_DATA8_2 = 9 };

static uint8_t *service(struct sa_world *world, unsigned method, uint64_t id, uint64_t mask)
{
    uint8_t *record = world_query(world, method, ATTRIBUTE_SERVICE_RECORD, mask);
    wire_set(record, SERVICE_RECORD_ID, id);
    set_gid(wire_bytes(record, SERVICE_RECORD_GID), PREFIX, world_guid(world, "H4"));
    memset(wire_bytes(record, SERVICE_RECORD_KEY), 0x5A, 16);
    memcpy(wire_bytes(record, SERVICE_RECORD_NAME), "storage", 7);
    wire_set_at(record, SERVICE_RECORD_DATA8, 2, 99);
    world->from = world_lid(world, "H4");
    return record;
}

static void a_service_is_registered_found_and_removed(void **state)
{
    struct sa_world *world = *state;
    service(world, METHOD_SET, 42, BIT(SERVICE_ID) | BIT(SERVICE_GID));
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(wire_get(world_record(world, 0), SERVICE_RECORD_LEASE), UINT32_MAX);
    service(world, METHOD_GET, 0, BIT(SERVICE_NAME));
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(wire_get(world_record(world, 0), SERVICE_RECORD_ID), 42);
    assert_int_equal(wire_get(world_record(world, 0), SERVICE_RECORD_KEY), 0); /* untrusted */
    service(world, METHOD_GET, 0, BIT(SERVICE_DATA8_2));
    assert_int_equal(world_send(world), STATUS_OK);
    wire_set_at(service(world, METHOD_GET, 0, BIT(SERVICE_DATA8_2)), SERVICE_RECORD_DATA8, 2, 1);
    assert_int_equal(world_send(world), STATUS_SA_NO_RECORDS);
    service(world, METHOD_DELETE, 42, BIT(SERVICE_ID) | BIT(SERVICE_GID));
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(world_send(world), STATUS_SA_NO_RECORDS);
}

static void a_service_needs_an_id_and_a_gid(void **state)
{
    struct sa_world *world = *state;
    service(world, METHOD_SET, 42, BIT(SERVICE_ID));
    assert_int_equal(world_send(world), STATUS_SA_BAD_REQUEST);
    wire_set(
        service(world, METHOD_SET, 42, BIT(SERVICE_ID) | BIT(SERVICE_GID) | BIT(SERVICE_P_KEY)),
        SERVICE_RECORD_P_KEY, 0x8001);
    assert_int_equal(world_send(world), STATUS_SA_BAD_REQUEST);
}

static void a_port_registers_and_deletes_its_own_services_only(void **state)
{
    struct sa_world *world = *state;
    const uint64_t mask = BIT(SERVICE_ID) | BIT(SERVICE_GID);
    service(world, METHOD_SET, 42, mask);
    world->from = world_lid(world, "H7");
    assert_int_equal(world_send(world), STATUS_SA_DENIED);
    wire_set(world->query, SA_SM_KEY, 1); /* a trusted client registers for others */
    assert_int_equal(world_send(world), STATUS_OK);
    service(world, METHOD_DELETE, 42, mask);
    world->from = world_lid(world, "H7");
    assert_int_equal(world_send(world), STATUS_SA_DENIED);
    world->from = world_lid(world, "H4");
    assert_int_equal(world_send(world), STATUS_OK);
}

static void a_service_with_a_key_is_changed_with_that_key_only(void **state)
{
    struct sa_world *world = *state;
    const uint64_t mask = BIT(SERVICE_ID) | BIT(SERVICE_GID), with_key = mask | BIT(SERVICE_KEY);
    service(world, METHOD_SET, 42, with_key);
    assert_int_equal(world_send(world), STATUS_OK);
    for (unsigned i = 0; i < 2; i++) {
        unsigned method = i ? METHOD_DELETE : METHOD_SET;
        if (method == METHOD_SET) {
            service(world, method, 42, mask);
            assert_int_equal(world_send(world), STATUS_SA_DENIED);
        }
        wire_set_at(service(world, method, 42, with_key), SERVICE_RECORD_KEY, 15, 0x5B);
        assert_int_equal(world_send(world), STATUS_SA_DENIED);
        service(world, method, 42, with_key);
        assert_int_equal(world_send(world), STATUS_OK);
    }
}

static void a_query_with_the_gid_of_another_port_is_dropped(void **state)
{
    struct sa_world *world = *state;
    struct sa_counts counts;
    for (unsigned i = 0; i < 3; i++) {
        world_query(world, METHOD_GET_TABLE, ATTRIBUTE_NODE_RECORD, 0);
        struct sa_message message = {.address = {.lid = world_lid(world, "H4"), .has_gid = true},
                                     .data = world->query,
                                     .bytes = MAD_BYTES};
        set_gid(message.address.gid, i == 2 ? 0x1234 : PREFIX, world_guid(world, i ? "H7" : "H4"));
        sa_receive(world->sa, world->now, &message);
        sa_counts(world->sa, &counts);
        assert_int_equal(counts.spoofed, i > 0); /* the last one is from another subnet */
    }
}

static void announce_for(struct sa_world *world, uint64_t id, uint32_t seconds)
{
    wire_set(
        service(world, METHOD_SET, id, BIT(SERVICE_ID) | BIT(SERVICE_GID) | BIT(SERVICE_LEASE)),
        SERVICE_RECORD_LEASE, seconds);
    assert_int_equal(world_send(world), STATUS_OK);
}

static unsigned services(struct sa_world *world)
{
    struct sa_counts counts;
    sa_counts(world->sa, &counts);
    return counts.services;
}

static void leases_end_unless_they_are_renewed(void **state)
{
    struct sa_world *world = *state;
    announce_for(world, 1, 10);
    announce_for(world, 2, 20);
    announce_for(world, 3, UINT32_MAX);
    assert_int_equal(sa_deadline(world->sa), world->now + 10 * NS_PER_S);
    world->now += 9 * NS_PER_S;
    announce_for(world, 1, 10);
    world->now += 2 * NS_PER_S;
    sa_expire(world->sa, world->now);
    assert_int_equal(services(world), 3);
    world->now += 10 * NS_PER_S;
    sa_expire(world->sa, world->now);
    assert_int_equal(services(world), 1);
    assert_int_equal(sa_deadline(world->sa), TIME_NEVER);
}

/* The longest lease that ends lasts for 136 years. */
static void long_leases_end_in_time_and_the_longest_never(void **state)
{
    const uint64_t longest = (UINT32_MAX - 1) * NS_PER_S;
    struct sa_world *world = *state;
    announce_for(world, 1, UINT32_MAX);
    announce_for(world, 2, UINT32_MAX - 1);
    announce_for(world, 3, 18446745); /* 213 days */
    assert_int_equal(sa_deadline(world->sa), world->now + 18446745 * NS_PER_S);
    world->now += 18446745 * NS_PER_S;
    sa_expire(world->sa, world->now);
    assert_int_equal(services(world), 2);
    assert_int_equal(sa_deadline(world->sa), world->now + longest - 18446745 * NS_PER_S);
    world->now += longest;
    sa_expire(world->sa, world->now);
    assert_int_equal(services(world), 1);
    assert_int_equal(sa_deadline(world->sa), TIME_NEVER);
}

/* ---- subscriptions ---- */

static uint8_t *inform(struct sa_world *world, const char *host, unsigned trap, bool subscribe)
{
    uint8_t *info = world_query(world, METHOD_SET, ATTRIBUTE_INFORM_INFO, 0);
    wire_set(info, INFORM_INFO_LID_RANGE_BEGIN, 0xFFFF);
    wire_set(info, INFORM_INFO_IS_GENERIC, 1);
    wire_set(info, INFORM_INFO_SUBSCRIBE, subscribe);
    wire_set(info, INFORM_INFO_TYPE, 0xFFFF);
    wire_set(info, INFORM_INFO_TRAP_NUMBER, trap);
    wire_set(info, INFORM_INFO_PRODUCER_TYPE, 0xFFFFFF);
    world->from = world_lid(world, host);
    return info;
}

static void send_notice(struct sa_world *world, unsigned trap, const char *issuer)
{
    uint8_t notice[WIRE_BYTES_NOTICE] = {0};
    wire_set(notice, NOTICE_IS_GENERIC, 1);
    wire_set(notice, NOTICE_TYPE, 1);
    wire_set(notice, NOTICE_PRODUCER_TYPE, 1);
    wire_set(notice, NOTICE_TRAP_NUMBER, trap);
    wire_set(notice, NOTICE_ISSUER_LID, world_lid(world, issuer));
    sa_notice(world->sa, world->now, notice);
}

/* The next report that is sent. False if there is none. */
static bool next_report(struct sa_world *world, struct sa_message *report)
{
    sa_expire(world->sa, world->now);
    if (!sa_next_output(world->sa, world->now, report))
        return false;
    assert_int_equal(wire_get(report->data, MAD_METHOD), METHOD_REPORT);
    assert_int_equal(wire_get(report->data, MAD_ATTRIBUTE_ID), ATTRIBUTE_NOTICE);
    return true;
}

static void confirm(struct sa_world *world, const struct sa_message *report, uint16_t from)
{
    uint8_t mad[MAD_BYTES];
    memcpy(mad, report->data, MAD_BYTES);
    wire_set(mad, MAD_METHOD, METHOD_REPORT_RESP);
    wire_set(mad, MAD_TID,
             wire_get(mad, MAD_TID) | UINT64_C(5) << 32); /* the half that the kernel uses */
    struct sa_message answer = {.address = {.lid = from, .qp = 1}, .data = mad, .bytes = MAD_BYTES};
    sa_receive(world->sa, world->now, &answer);
}

static void subscribers_get_the_notices_they_selected(void **state)
{
    struct sa_world *world = *state;
    struct sa_message report;
    inform(world, "H4", 128, true);
    assert_int_equal(world_send(world), STATUS_OK);
    inform(world, "H15", 144, true);
    assert_int_equal(world_send(world), STATUS_OK);
    send_notice(world, 144, "H12");
    assert_true(next_report(world, &report));
    assert_int_equal(report.address.lid, world_lid(world, "H15"));
    const uint8_t *notice = report.data + SA_DATA_OFFSET;
    const uint8_t *gid = wire_bytes_const(notice, NOTICE_ISSUER_GID);
    assert_int_equal(wire_get(notice, NOTICE_TRAP_NUMBER), 144);
    assert_int_equal(wire_get_bits(gid, 64, 64), world_guid(world, "H12"));
    confirm(world, &report, report.address.lid);
    assert_false(next_report(world, &report));
    assert_int_equal(sa_deadline(world->sa), TIME_NEVER);
}

static void a_report_is_repeated_until_the_answer_or_the_last_retry(void **state)
{
    struct sa_world *world = *state;
    struct sa_message report;
    inform(world, "H4", 0xFFFF, true);
    world_send(world);
    send_notice(world, 128, "H12");
    for (unsigned sent = 0; sent < 4; sent++) { /* and three retries */
        assert_true(next_report(world, &report));
        assert_false(next_report(world, &report));
        assert_int_equal(sa_deadline(world->sa), world->now + NS_PER_S);
        world->now += NS_PER_S;
    }
    assert_false(next_report(world, &report));
    struct sa_counts counts;
    sa_counts(world->sa, &counts);
    assert_int_equal(counts.reports, 4);
    assert_int_equal(counts.reports_lost, 1);
    assert_int_equal(counts.subscriptions, 1);
}

static void a_response_from_another_lid_is_ignored(void **state)
{
    struct sa_world *world = *state;
    struct sa_message report;
    inform(world, "H4", 0xFFFF, true);
    world_send(world);
    send_notice(world, 128, "H12");
    assert_true(next_report(world, &report));
    confirm(world, &report, world_lid(world, "H15"));
    world->now += NS_PER_S;
    assert_true(next_report(world, &report));
}

static void no_reports_follow_an_unsubscription(void **state)
{
    struct sa_world *world = *state;
    struct sa_message report;
    inform(world, "H4", 128, true);
    world_send(world);
    assert_int_equal(world_send(world), STATUS_OK); /* a second time: no change */
    inform(world, "H15", 128, false);
    assert_int_equal(world_send(world), STATUS_SA_BAD_REQUEST); /* it never subscribed */
    assert_int_equal(wire_get(world->answer.data + SA_DATA_OFFSET, INFORM_INFO_SUBSCRIBE), 0);
    inform(world, "H4", 128, false);
    assert_int_equal(world_send(world), STATUS_OK);
    send_notice(world, 128, "H12");
    assert_false(next_report(world, &report));
}

static void subscriptions_can_be_looked_up(void **state)
{
    struct sa_world *world = *state;
    inform(world, "H4", 128, true);
    world_send(world);
    inform(world, "H15", 64, true);
    world_send(world);
    uint8_t *record = world_query(world, METHOD_GET, ATTRIBUTE_INFORM_INFO_RECORD, BIT(0));
    set_gid(wire_bytes(record, INFORM_INFO_RECORD_SUBSCRIBER_GID), PREFIX,
            world_guid(world, "H15"));
    assert_int_equal(world_send(world), STATUS_OK);
    const uint8_t *info = world_record(world, 0) + INFORM_INFO_RECORD_AT_INFORM_INFO;
    assert_int_equal(wire_get(info, INFORM_INFO_TRAP_NUMBER), 64);
}

static void a_host_that_leaves_and_returns_is_reported(void **state)
{
    struct sa_world *world = *state;
    struct sa_message report;
    struct network_terminal *last =
        &world->network.terminals.items[world->network.terminals.count - 1];
    uint64_t guid = last->guid;
    inform(world, "H4", 0xFFFF, true);
    world_send(world);
    for (unsigned trap = 65; trap >= 64; trap--) {
        world_miss_hosts(world, trap == 65);
        assert_true(next_report(world, &report));
        const uint8_t *notice = report.data + SA_DATA_OFFSET;
        assert_int_equal(wire_get(notice, NOTICE_TRAP_NUMBER), trap);
        assert_int_equal(wire_get(notice, NOTICE_ISSUER_LID),
                         world->subnet->ports.items[world->subnet->own_port].lid);
        assert_int_equal(
            wire_get_bits(wire_bytes_const(notice + NOTICE_AT_DETAILS, TRAP_GID_IN_SERVICE_GID), 64,
                          64),
            guid);
        confirm(world, &report, report.address.lid);
        assert_false(next_report(world, &report));
    }
}

static void pending_reports_are_limited(void **state)
{
    struct sa_world *world = *state;
    struct sa_config config;
    struct sa_counts counts;
    struct sa_message report;
    sa_config_init(&config);
    config.report_limit = 200;
    sa_free(world->sa);
    world->sa = sa_new(&config, world_guid(world, "H4"));
    world_update_view(world);
    inform(world, "H15", 0xFFFF, true);
    world_send(world);
    for (unsigned i = 0; i < 1000; i++)
        send_notice(world, 128, "H12");
    unsigned sent = 0;
    while (next_report(world, &report))
        sent++;
    assert_int_equal(sent, 8); /* the window of a port */
    sa_counts(world->sa, &counts);
    assert_int_equal(counts.reports_lost, 800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_service_is_registered_found_and_removed),
        TEST(a_service_needs_an_id_and_a_gid),
        TEST(a_port_registers_and_deletes_its_own_services_only),
        TEST(a_service_with_a_key_is_changed_with_that_key_only),
        TEST(a_query_with_the_gid_of_another_port_is_dropped),
        TEST(leases_end_unless_they_are_renewed),
        TEST(long_leases_end_in_time_and_the_longest_never),
        TEST(subscribers_get_the_notices_they_selected),
        TEST(a_report_is_repeated_until_the_answer_or_the_last_retry),
        TEST(a_response_from_another_lid_is_ignored),
        TEST(no_reports_follow_an_unsubscription),
        TEST(subscriptions_can_be_looked_up),
        TEST(a_host_that_leaves_and_returns_is_reported),
        TEST(pending_reports_are_limited),
    };
    return RUN(tests);
}
