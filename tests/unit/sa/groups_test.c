/* MCMemberRecord: groups are created, joined, left and looked up; members that are absent. */
#include "test.h"

enum { MGID, PORT_GID, Q_KEY, MLID, MTU_SELECTOR, MTU, TRAFFIC_CLASS, P_KEY, RATE_SELECTOR, RATE };
enum { SL = 12, FLOW_LABEL, HOP_LIMIT, SCOPE, JOIN_STATE, PROXY };
#define TO_JOIN (BIT(MGID) | BIT(PORT_GID) | BIT(JOIN_STATE))
#define TO_CREATE                                                                                  \
    (TO_JOIN | BIT(Q_KEY) | BIT(TRAFFIC_CLASS) | BIT(P_KEY) | BIT(FLOW_LABEL) | BIT(SL))

static const uint8_t group_a[16] = {0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF, [15] = 7};

/* A query from the port of the member. */
static uint8_t *member(struct sa_world *world, unsigned method, const char *host, unsigned states,
                       uint64_t mask)
{
    uint8_t *record = world_query(world, method, ATTRIBUTE_MC_MEMBER_RECORD, mask);
    memcpy(wire_bytes(record, MC_MEMBER_RECORD_MGID), group_a, sizeof group_a);
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_PORT_GID), PREFIX, world_guid(world, host));
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, states);
    wire_set(record, MC_MEMBER_RECORD_P_KEY, 0xFFFF);
    wire_set(record, MC_MEMBER_RECORD_Q_KEY, 0xABCD);
    world->from = world_lid(world, host);
    return record;
}

static unsigned make_group(struct sa_world *world, const char *host)
{
    member(world, METHOD_SET, host, JOIN_FULL, TO_CREATE);
    return world_send(world);
}

static const struct group *found(const struct sa_world *world)
{
    return groups_find(sa_groups(world->sa), group_a);
}

static void the_broadcast_group_exists_from_the_start(void **state)
{
    struct sa_world *world = *state;
    const struct groups *groups = sa_groups(world->sa);
    static const uint8_t broadcast[16] = {0xFF, 0x12,        0x40, 0x1B, 0xFF,
                                          0xFF, [12] = 0xFF, 0xFF, 0xFF, 0xFF};
    assert_int_equal(groups->all.count, 1);
    assert_memory_equal(groups->all.items[0]->mgid, broadcast, 16);
    assert_ptr_equal(groups_at(groups, 0xC000), groups->all.items[0]);
}

static void the_first_full_member_creates_a_group_and_the_last_removes_it(void **state)
{
    struct sa_world *world = *state;
    uint64_t before = sa_groups(world->sa)->generation;
    assert_int_equal(make_group(world, "H4"), STATUS_OK);
    const uint8_t *record = world_record(world, 0);
    assert_int_equal(wire_get(record, MC_MEMBER_RECORD_MLID), 0xC001);
    assert_int_equal(wire_get(record, MC_MEMBER_RECORD_MTU), 5);
    assert_int_equal(wire_get(record, MC_MEMBER_RECORD_RATE), 3);
    member(world, METHOD_SET, "H15", JOIN_NON_MEMBER, TO_JOIN);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(wire_get(world_record(world, 0), MC_MEMBER_RECORD_Q_KEY), 0xABCD);
    assert_int_equal(groups_at(sa_groups(world->sa), 0xC001)->members.count, 2);
    assert_true(sa_groups(world->sa)->generation > before);
    member(world, METHOD_DELETE, "H4", JOIN_FULL, TO_JOIN);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(wire_get(world->answer.data, MAD_METHOD), METHOD_DELETE_RESP);
    assert_null(found(world));
    assert_null(groups_at(sa_groups(world->sa), 0xC001));
}

static void a_group_is_not_created_without_the_required_components(void **state)
{
    struct sa_world *world = *state;
    member(world, METHOD_SET, "H4", JOIN_FULL, TO_CREATE & ~BIT(Q_KEY));
    assert_int_equal(world_send(world), STATUS_SA_TOO_FEW_COMPONENTS);
    member(world, METHOD_SET, "H4", JOIN_FULL, TO_CREATE & ~BIT(MGID));
    assert_int_equal(world_send(world), STATUS_SA_TOO_FEW_COMPONENTS);
    member(world, METHOD_SET, "H4", JOIN_NON_MEMBER, TO_CREATE);
    assert_int_equal(world_send(world), STATUS_SA_BAD_REQUEST);
    member(world, METHOD_SET, "H4", 0, TO_CREATE);
    assert_int_equal(world_send(world), STATUS_SA_BAD_REQUEST);
    *wire_bytes(member(world, METHOD_SET, "H4", JOIN_FULL, TO_CREATE), MC_MEMBER_RECORD_MGID) =
        0xFE;
    assert_int_equal(world_send(world), STATUS_SA_BAD_REQUEST);
    assert_int_equal(sa_groups(world->sa)->all.count, 1);
}

static void a_group_with_mgid_0_gets_an_mgid(void **state)
{
    struct sa_world *world = *state;
    uint8_t first[16];
    for (unsigned i = 0; i < 2; i++) {
        uint8_t *record = member(world, METHOD_SET, "H4", JOIN_FULL, TO_CREATE);
        memset(wire_bytes(record, MC_MEMBER_RECORD_MGID), 0, 16);
        assert_int_equal(world_send(world), STATUS_OK);
        const uint8_t *mgid = wire_bytes_const(world_record(world, 0), MC_MEMBER_RECORD_MGID);
        assert_int_equal(mgid[0], 0xFF);
        if (i)
            assert_memory_not_equal(mgid, first, 16);
        memcpy(first, mgid, 16);
    }
    assert_int_equal(sa_groups(world->sa)->all.count, 3);
}

static unsigned join_with_mtu(struct sa_world *world, unsigned selector, unsigned mtu)
{
    uint8_t *record =
        member(world, METHOD_SET, "H4", JOIN_FULL, TO_CREATE | BIT(MTU_SELECTOR) | BIT(MTU));
    wire_set(record, MC_MEMBER_RECORD_MTU_SELECTOR, selector);
    wire_set(record, MC_MEMBER_RECORD_MTU, mtu);
    if (world_send(world))
        return 0;
    unsigned got = (unsigned)wire_get(world_record(world, 0), MC_MEMBER_RECORD_MTU);
    member(world, METHOD_DELETE, "H4", JOIN_FULL, TO_JOIN);
    assert_int_equal(world_send(world), STATUS_OK);
    return got;
}

static void the_mtu_of_a_new_group_is_within_that_of_the_port(void **state)
{
    struct sa_world *world = *state;
    assert_int_equal(join_with_mtu(world, 0, 3), 5);
    assert_int_equal(join_with_mtu(world, 0, 5), 0);
    assert_int_equal(join_with_mtu(world, 1, 4), 3);
    assert_int_equal(join_with_mtu(world, 1, 1), 0);
    assert_int_equal(join_with_mtu(world, 2, 4), 4);
    assert_int_equal(join_with_mtu(world, 2, 6), 0);
    assert_int_equal(join_with_mtu(world, 3, 0), 5);
    assert_null(found(world));
}

static void a_port_that_is_too_slow_cannot_join(void **state)
{
    struct sa_world *world = *state;
    assert_int_equal(make_group(world, "H4"), STATUS_OK);
    wire_set(world_port(world, "H15", 1)->info, PORT_INFO_LINK_WIDTH_ACTIVE, 1);
    world_update_view(world);
    member(world, METHOD_SET, "H15", JOIN_FULL, TO_JOIN);
    assert_int_equal(world_send(world), STATUS_SA_BAD_REQUEST);
    assert_int_equal(found(world)->members.count, 1);
}

static void join_states_are_left_one_by_one(void **state)
{
    struct sa_world *world = *state;
    make_group(world, "H4");
    member(world, METHOD_SET, "H15", JOIN_FULL, TO_JOIN);
    world_send(world);
    member(world, METHOD_SET, "H15", JOIN_SEND_ONLY, TO_JOIN);
    world_send(world);
    assert_int_equal(wire_get(world_record(world, 0), MC_MEMBER_RECORD_JOIN_STATE), 5);
    member(world, METHOD_DELETE, "H15", JOIN_NON_MEMBER, TO_JOIN); /* it does not have this state */
    assert_int_equal(world_send(world), STATUS_SA_BAD_REQUEST);
    member(world, METHOD_DELETE, "H15", JOIN_FULL, TO_JOIN);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(wire_get(world_record(world, 0), MC_MEMBER_RECORD_JOIN_STATE), 4);
    const struct group_member *left = group_find_member(found(world), world_guid(world, "H15"));
    assert_non_null(left);
    assert_false(group_member_receives(left));
}

static void a_port_cannot_leave_for_another(void **state)
{
    struct sa_world *world = *state;
    make_group(world, "H4");
    member(world, METHOD_DELETE, "H4", JOIN_FULL, TO_JOIN);
    world->from = world_lid(world, "H15");
    assert_int_equal(world_send(world), STATUS_SA_BAD_REQUEST);
    assert_non_null(found(world));
    /* Another port may remove a proxy member. */
    member(world, METHOD_SET, "H12", JOIN_FULL, TO_JOIN);
    world->from = world_lid(world, "H15");
    assert_int_equal(world_send(world), STATUS_OK);
    assert_true(wire_get(world_record(world, 0), MC_MEMBER_RECORD_PROXY_JOIN));
    member(world, METHOD_DELETE, "H12", JOIN_FULL, TO_JOIN);
    world->from = world_lid(world, "H4");
    assert_int_equal(world_send(world), STATUS_OK);
}

/* A port that joins itself is a member of its own, even if another port had joined for it before.
 */
static void a_port_that_joins_after_a_proxy_leaves_only_itself(void **state)
{
    struct sa_world *world = *state;
    make_group(world, "H4");
    member(world, METHOD_SET, "H12", JOIN_FULL, TO_JOIN);
    world->from = world_lid(world, "H15");
    assert_int_equal(world_send(world), STATUS_OK);
    uint64_t before = sa_groups(world->sa)->generation;
    member(world, METHOD_SET, "H12", JOIN_FULL, TO_JOIN);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_false(wire_get(world_record(world, 0), MC_MEMBER_RECORD_PROXY_JOIN));
    assert_true(sa_groups(world->sa)->generation > before); /* it is saved */
    member(world, METHOD_DELETE, "H12", JOIN_FULL, TO_JOIN);
    world->from = world_lid(world, "H15");
    assert_int_equal(world_send(world), STATUS_SA_BAD_REQUEST);
    member(world, METHOD_SET, "H12", JOIN_SEND_ONLY, TO_JOIN); /* nor does it join any more */
    world->from = world_lid(world, "H15");
    assert_int_equal(world_send(world), STATUS_SA_BAD_REQUEST);
    assert_non_null(group_find_member(found(world), world_guid(world, "H12")));
}

static void members_are_visible_with_the_sm_key_only(void **state)
{
    struct sa_world *world = *state;
    make_group(world, "H4");
    member(world, METHOD_SET, "H15", JOIN_FULL, TO_JOIN);
    world_send(world);
    member(world, METHOD_GET_TABLE, "H4", 0, BIT(MGID));
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(world_record_count(world), 1);
    const uint8_t *gid = wire_bytes_const(world_record(world, 0), MC_MEMBER_RECORD_PORT_GID);
    assert_int_equal(wire_get_bits(gid, 64, 64), 0);
    wire_set(world->query, SA_SM_KEY, 1);
    world_send(world);
    assert_int_equal(world_record_count(world), 2);
    gid = wire_bytes_const(world_record(world, 1), MC_MEMBER_RECORD_PORT_GID);
    assert_int_equal(wire_get_bits(gid, 64, 64), world_guid(world, "H15"));
}

static void a_path_to_a_group_has_the_values_of_the_group(void **state)
{
    struct sa_world *world = *state;
    make_group(world, "H4");
    uint8_t *path = world_query(world, METHOD_GET, ATTRIBUTE_PATH_RECORD, BIT(2));
    memcpy(wire_bytes(path, PATH_RECORD_DGID), group_a, 16);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(wire_get(world_record(world, 0), PATH_RECORD_DLID), 0xC001);
    path[8] = 0xFF;
    path[9] = 0x15; /* another scope */
    assert_int_equal(world_send(world), STATUS_SA_NO_RECORDS);
}

static void a_member_that_is_absent_briefly_stays_in_the_group(void **state)
{
    struct sa_world *world = *state;
    const char *name = world_last_host(world);
    const char *other = strcmp(name, "H4") == 0 ? "H15" : "H4";
    make_group(world, other);
    member(world, METHOD_SET, name, JOIN_FULL, TO_JOIN);
    world_send(world);
    world_miss_hosts(world, 1);
    assert_int_equal(found(world)->members.count, 2);
    world->now += 30 * NS_PER_S;
    world_miss_hosts(world, 0);
    world->now += 40 * NS_PER_S;
    sa_expire(world->sa, world->now);
    assert_int_equal(found(world)->members.count, 2);
    world_miss_hosts(world, 1);
    assert_true(sa_deadline(world->sa) <= world->now + 60 * NS_PER_S);
    world->now += 61 * NS_PER_S;
    sa_expire(world->sa, world->now);
    assert_int_equal(found(world)->members.count, 1);
}

static void mlids_run_out_and_are_reused(void **state)
{
    struct sa_world *world = *state; /* switches with 1,024 entries */
    for (unsigned i = 1; i < 1024; i++) {
        uint8_t *record = member(world, METHOD_SET, "H4", JOIN_FULL, TO_CREATE);
        wire_set_bits(wire_bytes(record, MC_MEMBER_RECORD_MGID), 96, 32, i);
        wire_set(world->query, SA_SM_KEY, 1); /* the limits of ports are not those meant here */
        assert_int_equal(world_send(world), STATUS_OK);
    }
    assert_int_equal(wire_get(world_record(world, 0), MC_MEMBER_RECORD_MLID), 0xC3FF);
    uint8_t *record = member(world, METHOD_SET, "H4", JOIN_FULL, TO_CREATE);
    wire_set_bits(wire_bytes(record, MC_MEMBER_RECORD_MGID), 96, 32, 5000);
    wire_set(world->query, SA_SM_KEY, 1);
    assert_int_equal(world_send(world), STATUS_SA_NO_RESOURCES);
    record = member(world, METHOD_DELETE, "H4", JOIN_FULL, TO_JOIN);
    wire_set_bits(wire_bytes(record, MC_MEMBER_RECORD_MGID), 96, 32, 77);
    assert_int_equal(world_send(world), STATUS_OK);
    record = member(world, METHOD_SET, "H4", JOIN_FULL, TO_CREATE);
    wire_set_bits(wire_bytes(record, MC_MEMBER_RECORD_MGID), 96, 32, 5000);
    wire_set(world->query, SA_SM_KEY, 1);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(wire_get(world_record(world, 0), MC_MEMBER_RECORD_MLID), 0xC000 + 77);
}

/* A query for the group of an IPv6 address that ends in this number. */
static unsigned ask_about_address(struct sa_world *world, unsigned method, const char *host,
                                  unsigned address, uint64_t mask)
{
    uint8_t mgid[16] = {0xFF, 0x12, 0x60, 0x1B, 0xFF, 0xFF, [11] = 1, [12] = 0xFF};
    uint8_t *record = member(world, method, host, JOIN_FULL, mask);
    mgid[14] = (uint8_t)(address >> 8);
    mgid[15] = (uint8_t)address;
    memcpy(wire_bytes(record, MC_MEMBER_RECORD_MGID), mgid, sizeof mgid);
    unsigned status = world_send(world);
    if (status == STATUS_OK)
        assert_memory_equal(wire_bytes_const(world_record(world, 0), MC_MEMBER_RECORD_MGID), mgid,
                            sizeof mgid);
    return status;
}

static void consolidated_solicited_node_addresses_share_a_multicast_lid(void **state)
{
    struct sa_world *world = *state;
    struct sa_config config;
    world_close(world);
    sa_config_init(&config);
    config.consolidate_snm = true;
    world_open(world, &(struct sa_world_shape){.kind = "figure1", .config = &config});
    size_t before = sa_groups(world->sa)->all.count;
    assert_int_equal(ask_about_address(world, METHOD_SET, "H4", 0x1234, TO_CREATE), STATUS_OK);
    uint64_t mlid = wire_get(world_record(world, 0), MC_MEMBER_RECORD_MLID);
    assert_int_equal(ask_about_address(world, METHOD_SET, "H15", 0x5678, TO_CREATE), STATUS_OK);
    assert_true(wire_get(world_record(world, 0), MC_MEMBER_RECORD_MLID) == mlid);
    assert_int_equal(ask_about_address(world, METHOD_SET, "H4", 0x9abc, TO_JOIN), STATUS_OK);
    assert_int_equal(sa_groups(world->sa)->all.count, before + 1);
    const struct group *group = groups_at(sa_groups(world->sa), (unsigned)mlid);
    assert_int_equal(group->members.count, 2);
    /* H4 still uses another address. */
    assert_int_equal(ask_about_address(world, METHOD_DELETE, "H4", 0x9abc, TO_JOIN), STATUS_OK);
    assert_int_equal(group->members.count, 2);
    assert_int_equal(ask_about_address(world, METHOD_GET, "H4", 0x5678, BIT(MGID)), STATUS_OK);
    assert_true(wire_get(world_record(world, 0), MC_MEMBER_RECORD_MLID) == mlid);
    /* Other groups have their own multicast LIDs. */
    assert_int_equal(make_group(world, "H4"), STATUS_OK);
    assert_true(wire_get(world_record(world, 0), MC_MEMBER_RECORD_MLID) != mlid);
}

static void solicited_node_addresses_have_their_own_groups_by_default(void **state)
{
    struct sa_world *world = *state;
    size_t before = sa_groups(world->sa)->all.count;
    assert_int_equal(ask_about_address(world, METHOD_SET, "H4", 0x1234, TO_CREATE), STATUS_OK);
    assert_int_equal(ask_about_address(world, METHOD_SET, "H4", 0x5678, TO_CREATE), STATUS_OK);
    assert_int_equal(sa_groups(world->sa)->all.count, before + 2);
    assert_int_equal(ask_about_address(world, METHOD_DELETE, "H4", 0x1234, TO_JOIN), STATUS_OK);
    assert_int_equal(sa_groups(world->sa)->all.count, before + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_broadcast_group_exists_from_the_start),
        TEST(the_first_full_member_creates_a_group_and_the_last_removes_it),
        TEST(a_group_is_not_created_without_the_required_components),
        TEST(a_group_with_mgid_0_gets_an_mgid),
        TEST(the_mtu_of_a_new_group_is_within_that_of_the_port),
        TEST(a_port_that_is_too_slow_cannot_join),
        TEST(join_states_are_left_one_by_one),
        TEST(a_port_cannot_leave_for_another),
        TEST(a_port_that_joins_after_a_proxy_leaves_only_itself),
        TEST(members_are_visible_with_the_sm_key_only),
        TEST(a_path_to_a_group_has_the_values_of_the_group),
        TEST(a_member_that_is_absent_briefly_stays_in_the_group),
        TEST(mlids_run_out_and_are_reused),
        TEST(consolidated_solicited_node_addresses_share_a_multicast_lid),
        TEST(solicited_node_addresses_have_their_own_groups_by_default),
    };
    return RUN(tests);
}
