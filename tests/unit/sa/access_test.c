/* Partitions in the SA: visibility of ports, P_Keys of paths, membership in groups, and the groups
 * of partitions. */
#include "test.h"

#include "subnet/partitions.h"

enum { SGID_BIT = 3, DGID_BIT = 2, P_KEY_BIT = 13, JOIN_BIT = 16 };

/* Sets the known P_Key table of a host. */
static void set_known_keys(struct sa_world *world, const char *host, uint16_t first,
                           uint16_t second)
{
    uint8_t block[BLOCK_BYTES] = {0};
    uint32_t port = (uint32_t)(world_port(world, host, 1) - world->subnet->ports.items);
    wire_set_at(block, P_KEY_TABLE_P_KEY, 0, first);
    wire_set_at(block, P_KEY_TABLE_P_KEY, 1, second);
    blocks_set_known(&world->subnet->blocks, port, BLOCK_PARTITIONS, 0, block);
}

/* H4 and H7 share a partition, H11 shares one with both, H15 with no host; all are limited members
 * of the default partition. */
static void make_partitions(struct sa_world *world)
{
    set_known_keys(world, "H4", 0x8001, 0x7FFF);
    set_known_keys(world, "H7", 0x7FFF, 0x8001);
    set_known_keys(world, "H11", 0x7FFF, 0x0001);
    set_known_keys(world, "H12", 0x7FFF, 0x0001);
    set_known_keys(world, "H15", 0x7FFF, 0x8002);
    sa_update_view(world->sa, world->now, &world->view);
}

static unsigned query_path(struct sa_world *world, const char *asker, const char *from,
                           const char *to, unsigned p_key, uint64_t sm_key)
{
    uint64_t mask = BIT(SGID_BIT) | BIT(DGID_BIT) | (p_key ? BIT(P_KEY_BIT) : 0);
    uint8_t *path = world_query(world, METHOD_GET, ATTRIBUTE_PATH_RECORD, mask);
    set_gid(wire_bytes(path, PATH_RECORD_SGID), PREFIX, world_guid(world, from));
    set_gid(wire_bytes(path, PATH_RECORD_DGID), PREFIX, world_guid(world, to));
    wire_set(path, PATH_RECORD_P_KEY, p_key);
    wire_set(world->query, SA_SM_KEY, sm_key);
    world->from = world_lid(world, asker);
    return world_send(world);
}

static unsigned key_of_path(struct sa_world *world, const char *from, const char *to)
{
    if (query_path(world, from, from, to, 0, 0) != STATUS_OK)
        return 0;
    return (unsigned)wire_get(world_record(world, 0), PATH_RECORD_P_KEY);
}

static void an_alias_guid_is_in_the_partitions_of_its_port(void **state)
{
    static const char *const hosts[] = {"H7", "H15"};
    struct sa_world *world = *state;
    make_partitions(world);
    for (unsigned i = 0; i < 2; i++) {
        uint8_t *record =
            world_query(world, METHOD_SET, ATTRIBUTE_GUID_INFO_RECORD, BIT(0) | BIT(1) | BIT(5));
        wire_set(record, GUID_INFO_RECORD_LID, world_lid(world, hosts[i]));
        wire_set_at(record + GUID_INFO_RECORD_AT_GUID_INFO, GUID_INFO_GUID, 1, 0xA0 + i);
        world->from = world_lid(world, hosts[i]);
        assert_int_equal(world_send(world), STATUS_OK);
        uint8_t *path =
            world_query(world, METHOD_GET, ATTRIBUTE_PATH_RECORD, BIT(SGID_BIT) | BIT(DGID_BIT));
        set_gid(wire_bytes(path, PATH_RECORD_SGID), PREFIX, world_guid(world, "H4"));
        set_gid(wire_bytes(path, PATH_RECORD_DGID), PREFIX, 0xA0 + i);
        world->from = world_lid(world, "H4");
        assert_int_equal(world_send(world), i ? STATUS_SA_NO_RECORDS : STATUS_OK);
        if (i == 0)
            assert_int_equal(wire_get(world_record(world, 0), PATH_RECORD_P_KEY), 0x8001);
    }
}

static void paths_have_the_sender_s_key_of_a_common_partition(void **state)
{
    struct sa_world *world = *state;
    assert_int_equal(key_of_path(world, "H4", "H15"), 0xFFFF); /* nothing is known yet */
    make_partitions(world);
    assert_int_equal(key_of_path(world, "H4", "H7"), 0x8001);
    assert_int_equal(key_of_path(world, "H4", "H11"), 0x8001);
    assert_int_equal(key_of_path(world, "H11", "H4"), 0x0001);
    assert_int_equal(key_of_path(world, "H11", "H12"), 0); /* two limited members */
    assert_int_equal(key_of_path(world, "H4", "H15"), 0);
    assert_int_equal(key_of_path(world, "H15", "H15"), 0x8002);
}

static void a_path_with_a_key_needs_both_ends_in_its_partition(void **state)
{
    struct sa_world *world = *state;
    make_partitions(world);
    assert_int_equal(query_path(world, "H4", "H4", "H7", 0x8001, 0), STATUS_OK);
    assert_int_equal(query_path(world, "H11", "H11", "H4", 0x8001, 0), STATUS_OK);
    assert_int_equal(query_path(world, "H4", "H4", "H7", 0xFFFF, 0), STATUS_SA_NO_RECORDS);
    assert_int_equal(query_path(world, "H4", "H4", "H7", 0x8002, 0), STATUS_SA_NO_RECORDS);
    assert_int_equal(query_path(world, "H4", "H4", "H7", 0x8000, 0), STATUS_SA_NO_RECORDS);
}

static void paths_need_a_common_partition_with_the_requester(void **state)
{
    struct sa_world *world = *state;
    make_partitions(world);
    assert_int_equal(query_path(world, "H15", "H4", "H7", 0, 0), STATUS_SA_NO_RECORDS);
    assert_int_equal(query_path(world, "H15", "H4", "H7", 0, 1), STATUS_OK); /* with the SM_Key */
    assert_int_equal(query_path(world, "H15", "H4", "H15", 0, 1), STATUS_SA_NO_RECORDS);
    assert_int_equal(query_path(world, "H11", "H4", "H7", 0, 0), STATUS_OK);
}

static unsigned trace(struct sa_world *world, const char *asker, const char *from, const char *to,
                      uint64_t sm_key)
{
    uint8_t *path = world_query(world, METHOD_GET_TRACE_TABLE, ATTRIBUTE_PATH_RECORD,
                                BIT(SGID_BIT) | BIT(DGID_BIT));
    set_gid(wire_bytes(path, PATH_RECORD_SGID), PREFIX, world_guid(world, from));
    set_gid(wire_bytes(path, PATH_RECORD_DGID), PREFIX, world_guid(world, to));
    wire_set(world->query, SA_SM_KEY, sm_key);
    world->from = world_lid(world, asker);
    return world_send(world);
}

static void traces_need_a_common_partition_with_the_requester(void **state)
{
    struct sa_world *world = *state;
    assert_int_equal(trace(world, "H15", "H4", "H7", 0), STATUS_OK); /* nothing is known yet */
    make_partitions(world);
    assert_int_equal(trace(world, "H15", "H4", "H7", 0), STATUS_SA_NO_RECORDS);
    assert_int_equal(trace(world, "H15", "H15", "H7", 0), STATUS_SA_NO_RECORDS);
    assert_int_equal(trace(world, "H15", "H4", "H15", 0), STATUS_SA_NO_RECORDS);
    assert_int_equal(trace(world, "H15", "H4", "H7", 1), STATUS_OK);
    assert_int_equal(trace(world, "H4", "H4", "H7", 0), STATUS_OK);
    assert_int_equal(trace(world, "H11", "H4", "H7", 0), STATUS_OK);
}

static unsigned seen_by(struct sa_world *world, const char *asker, unsigned attribute,
                        uint64_t sm_key)
{
    world_query(world, METHOD_GET_TABLE, attribute, 0);
    wire_set(world->query, SA_SM_KEY, sm_key);
    world->from = world_lid(world, asker);
    assert_int_equal(world_send(world), STATUS_OK);
    return world_record_count(world);
}

static void records_are_of_ports_that_share_a_partition(void **state)
{
    struct sa_world *world = *state;
    unsigned all = seen_by(world, "H4", ATTRIBUTE_NODE_RECORD, 0);
    make_partitions(world);
    /* Hosts without a known table are full members of the default partition. */
    assert_int_equal(seen_by(world, "H4", ATTRIBUTE_NODE_RECORD, 0), all - 1);  /* all but H15 */
    assert_int_equal(seen_by(world, "H11", ATTRIBUTE_NODE_RECORD, 0), all - 2); /* H12, H15 */
    assert_int_equal(seen_by(world, "H15", ATTRIBUTE_NODE_RECORD, 0), all - 4);
    assert_int_equal(seen_by(world, "H15", ATTRIBUTE_NODE_RECORD, 1), all);
    assert_int_equal(seen_by(world, "H15", ATTRIBUTE_GUID_INFO_RECORD, 0),
                     seen_by(world, "H15", ATTRIBUTE_GUID_INFO_RECORD, 1) - 4);
    /* Links, from either end. */
    assert_int_equal(seen_by(world, "H15", ATTRIBUTE_LINK_RECORD, 0),
                     seen_by(world, "H15", ATTRIBUTE_LINK_RECORD, 1) - 8);
}

/* An adapter's port has one map of service levels and four blocks of arbitration. */
static void tables_are_of_ports_that_share_a_partition(void **state)
{
    struct sa_world *world = *state;
    make_partitions(world);
    unsigned maps = seen_by(world, "H15", ATTRIBUTE_SL2VL_TABLE_RECORD, 1);
    unsigned blocks = seen_by(world, "H15", ATTRIBUTE_VL_ARBITRATION_TABLE_RECORD, 1);
    assert_int_equal(seen_by(world, "H15", ATTRIBUTE_SL2VL_TABLE_RECORD, 0), maps - 4);
    assert_int_equal(seen_by(world, "H15", ATTRIBUTE_VL_ARBITRATION_TABLE_RECORD, 0), blocks - 16);
    uint8_t *wanted = world_query(world, METHOD_GET_TABLE, ATTRIBUTE_SL2VL_TABLE_RECORD, BIT(0));
    wire_set(wanted, SL2VL_TABLE_RECORD_LID, world_lid(world, "H4"));
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(world_record_count(world), 0);
}

static void p_key_records_have_the_tables_of_ports(void **state)
{
    struct sa_world *world = *state;
    make_partitions(world);
    uint8_t *wanted = world_query(world, METHOD_GET_TABLE, ATTRIBUTE_P_KEY_TABLE_RECORD, BIT(0));
    wire_set(wanted, P_KEY_TABLE_RECORD_LID, world_lid(world, "H4"));
    wire_set(world->query, SA_SM_KEY, 1);
    assert_int_equal(world_send(world), STATUS_OK);
    const uint8_t *keys = world_record(world, 0) + P_KEY_TABLE_RECORD_AT_P_KEY_TABLE;
    assert_int_equal(wire_get_at(keys, P_KEY_TABLE_P_KEY, 0), 0x8001);
    assert_int_equal(wire_get_at(keys, P_KEY_TABLE_P_KEY, 1), 0x7FFF);
    assert_int_equal(wire_get_at(keys, P_KEY_TABLE_P_KEY, 2), 0);
}

static unsigned join(struct sa_world *world, const char *host, const uint8_t mgid[16])
{
    uint8_t *record =
        world_query(world, METHOD_SET, ATTRIBUTE_MC_MEMBER_RECORD, BIT(0) | BIT(1) | BIT(JOIN_BIT));
    memcpy(wire_bytes(record, MC_MEMBER_RECORD_MGID), mgid, 16);
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_PORT_GID), PREFIX, world_guid(world, host));
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, JOIN_FULL);
    world->from = world_lid(world, host);
    return world_send(world);
}

static const char rules[] = "Default=0x7fff: ALL;\n"
                            "Red=1, ipoib, mtu=2, rate=2, sl=3: mgid=ff12::77,Q_Key=9,scope=5\n ;\n"
                            "Nobody=5, ipoib: ;\n";
static const uint8_t broadcast_red[16] = {0xFF, 0x12,        0x40, 0x1B, 0x80,
                                          0x01, [12] = 0xFF, 0xFF, 0xFF, 0xFF};

static void partitions_create_their_groups(void **state)
{
    struct sa_world *world = *state;
    struct partitions partitions;
    struct err err = {0};
    const struct groups *groups = sa_groups(world->sa);
    assert_int_equal(partitions_read(&partitions, from_text("rules", rules, &err)), 0);
    sa_set_partitions(world->sa, &partitions);
    assert_int_equal(groups->all.count, 0); /* no partition has a member yet */
    make_partitions(world);
    assert_int_equal(groups->all.count, 2);
    const struct group *red = groups_find(groups, broadcast_red);
    assert_non_null(red);
    assert_int_equal(red->p_key, 0x8001);
    assert_int_equal(red->mtu, 2);
    assert_int_equal(red->rate, 2);
    assert_int_equal(red->sl, 3);
    assert_int_equal(red->q_key, 0x0B1B);
    assert_int_equal(red->hop_limit, 0);
    assert_true(red->permanent);
    static const uint8_t other[16] = {0xFF, 0x15, [15] = 0x77};
    assert_int_equal(groups_find(groups, other)->q_key, 9);
    assert_int_equal(groups_find(groups, other)->hop_limit, 0xFF);
    assert_int_equal(join(world, "H4", broadcast_red), STATUS_OK);
    assert_int_equal(join(world, "H11", broadcast_red), STATUS_OK); /* limited members may join */
    assert_int_equal(join(world, "H15", broadcast_red), STATUS_SA_BAD_REQUEST);
    assert_int_equal(seen_by(world, "H15", ATTRIBUTE_MC_MEMBER_RECORD, 0), 0);
    assert_int_equal(seen_by(world, "H4", ATTRIBUTE_MC_MEMBER_RECORD, 0), 2);
    sa_set_partitions(world->sa, NULL); /* back to the default partition */
    assert_int_equal(groups->all.count, 2);
    assert_false(groups_find(groups, broadcast_red)->permanent);
    assert_null(groups_find(groups, other));
    partitions_release(&partitions);
}

static unsigned create(struct sa_world *world, const char *host, const uint8_t mgid[16],
                       unsigned p_key)
{
    enum { Q_KEY_BIT = 2, CLASS_BIT = 6, KEY_BIT = 7, SL_BIT = 12, LABEL_BIT = 13 };
    uint8_t *record = world_query(world, METHOD_SET, ATTRIBUTE_MC_MEMBER_RECORD,
                                  BIT(0) | BIT(1) | BIT(Q_KEY_BIT) | BIT(CLASS_BIT) | BIT(KEY_BIT) |
                                      BIT(SL_BIT) | BIT(LABEL_BIT) | BIT(JOIN_BIT));
    memcpy(wire_bytes(record, MC_MEMBER_RECORD_MGID), mgid, 16);
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_PORT_GID), PREFIX, world_guid(world, host));
    wire_set(record, MC_MEMBER_RECORD_P_KEY, p_key);
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, JOIN_FULL);
    world->from = world_lid(world, host);
    return world_send(world);
}

/* Sets the wanted P_Key table of a host, and with `written` also the known one. */
static void want_keys(struct sa_world *world, const char *host, uint16_t first, uint16_t second,
                      bool written)
{
    uint8_t block[BLOCK_BYTES] = {0};
    struct blocks *blocks = &world->subnet->blocks;
    uint32_t port = (uint32_t)(world_port(world, host, 1) - world->subnet->ports.items);
    wire_set_at(block, P_KEY_TABLE_P_KEY, 0, first);
    wire_set_at(block, P_KEY_TABLE_P_KEY, 1, second);
    blocks_want(blocks, port, BLOCK_PARTITIONS, 0, block);
    uint32_t row = written ? blocks_take(blocks) : BLOCKS_NONE;
    if (row != BLOCKS_NONE)
        blocks_set_actual(blocks, row, block);
    sa_update_view(world->sa, world->now, &world->view);
}

static bool is_in(const struct sa_world *world, const uint8_t mgid[16], const char *host)
{
    const struct group *group = groups_find(sa_groups(world->sa), mgid);
    return group && group_find_member(group, world_guid(world, host));
}

static void members_that_lose_the_partition_leave_the_group(void **state)
{
    static const uint8_t mgid[16] = {0xFF, 0x12, 0x12, 0x34, 1};
    struct sa_world *world = *state;
    make_partitions(world);
    assert_int_equal(create(world, "H4", mgid, 0x8001), STATUS_OK);
    assert_int_equal(join(world, "H7", mgid), STATUS_OK);
    assert_int_equal(join(world, "H11", mgid), STATUS_OK);
    want_keys(world, "H7", 0x7FFF, 0x8001, true);
    want_keys(world, "H7", 0x7FFF, 0x0001, true); /* a limited member stays */
    assert_true(is_in(world, mgid, "H7"));
    want_keys(world, "H7", 0x7FFF, 0, false);     /* it still has the key */
    set_known_keys(world, "H15", 0x7FFF, 0x8003); /* triggers the check */
    sa_update_view(world->sa, world->now, &world->view);
    assert_true(is_in(world, mgid, "H7"));
    want_keys(world, "H7", 0x7FFF, 0, true);
    assert_false(is_in(world, mgid, "H7"));
    assert_true(is_in(world, mgid, "H4"));
    assert_true(is_in(world, mgid, "H11"));
    assert_int_equal(join(world, "H7", mgid), STATUS_SA_BAD_REQUEST);
    want_keys(world, "H11", 0x7FFF, 0, true);
    want_keys(world, "H4", 0x7FFF, 0x8002, true); /* the group is removed with its last member */
    assert_null(groups_find(sa_groups(world->sa), mgid));
}

/* After a restart of an adapter the key is wanted, but not written yet. */
static void members_stay_while_their_key_is_being_written(void **state)
{
    static const uint8_t mgid[16] = {0xFF, 0x12, 0x12, 0x34, 2};
    struct sa_world *world = *state;
    make_partitions(world);
    assert_int_equal(create(world, "H4", mgid, 0x8001), STATUS_OK);
    set_known_keys(world, "H4", 0xFFFF, 0); /* read, but not planned yet */
    sa_update_view(world->sa, world->now, &world->view);
    assert_true(is_in(world, mgid, "H4"));
    want_keys(world, "H4", 0x7FFF, 0x8001, false);
    assert_true(is_in(world, mgid, "H4"));
    set_known_keys(world, "H4", 0x7FFF, 0);
    sa_update_view(world->sa, world->now, &world->view);
    assert_true(is_in(world, mgid, "H4"));
}

/* Members of a partition find its services by the P_Key in the record, whether or not the client
 * that registered it set the bit of the component mask. */
static void a_service_of_a_partition_needs_its_key_with_and_without_the_component(void **state)
{
    struct sa_world *world = *state;
    make_partitions(world);
    for (unsigned given = 0; given < 2; given++) {
        uint8_t *record = world_query(world, METHOD_SET, ATTRIBUTE_SERVICE_RECORD,
                                      BIT(0) | BIT(1) | (given ? BIT(2) : 0));
        wire_set(record, SERVICE_RECORD_ID, 42);
        set_gid(wire_bytes(record, SERVICE_RECORD_GID), PREFIX, world_guid(world, "H15"));
        wire_set(record, SERVICE_RECORD_P_KEY, 0x8001); /* of H4 and H7 */
        world->from = world_lid(world, "H15");
        assert_int_equal(world_send(world), STATUS_SA_BAD_REQUEST);
    }
    wire_set(world_query(world, METHOD_GET, ATTRIBUTE_SERVICE_RECORD, BIT(0)), SERVICE_RECORD_ID,
             42);
    world->from = world_lid(world, "H4");
    assert_int_equal(world_send(world), STATUS_SA_NO_RECORDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_alias_guid_is_in_the_partitions_of_its_port),
        TEST(paths_have_the_sender_s_key_of_a_common_partition),
        TEST(a_path_with_a_key_needs_both_ends_in_its_partition),
        TEST(paths_need_a_common_partition_with_the_requester),
        TEST(traces_need_a_common_partition_with_the_requester),
        TEST(records_are_of_ports_that_share_a_partition),
        TEST(tables_are_of_ports_that_share_a_partition),
        TEST(p_key_records_have_the_tables_of_ports),
        TEST(a_service_of_a_partition_needs_its_key_with_and_without_the_component),
        TEST(partitions_create_their_groups),
        TEST(members_that_lose_the_partition_leave_the_group),
        TEST(members_stay_while_their_key_is_being_written),
    };
    return RUN(tests);
}
