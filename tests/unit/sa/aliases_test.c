/* Alias GUIDs: Set and Delete of GUIDInfoRecord, and GIDs that have them. */
#include "subnet/trust.h"
#include "test.h"

enum { LID, BLOCK, FIRST = 4 }; /* components */

static int open_assigning(void **state)
{
    struct sa_config config;
    sa_config_init(&config);
    config.assigned_guid = 0x42;
    config.port_aliases = 4;
    return open_shape(state, &(struct sa_world_shape){.kind = "figure1", .config = &config});
}

static uint8_t *request(struct sa_world *world, unsigned method, const char *host, unsigned block)
{
    uint8_t *record = world_query(world, method, ATTRIBUTE_GUID_INFO_RECORD, BIT(LID) | BIT(BLOCK));
    wire_set(record, GUID_INFO_RECORD_LID, world_lid(world, host));
    wire_set(record, GUID_INFO_RECORD_BLOCK, block);
    world->from = world_lid(world, host);
    return record;
}

static void select_place(struct sa_world *world, unsigned place, uint64_t guid)
{
    uint8_t *guids = world->query + SA_DATA_OFFSET + GUID_INFO_RECORD_AT_GUID_INFO;
    wire_set(world->query, SA_COMPONENT_MASK,
             wire_get(world->query, SA_COMPONENT_MASK) | BIT(FIRST + place));
    wire_set_at(guids, GUID_INFO_GUID, place, guid);
}

static uint64_t answered(const struct sa_world *world, unsigned place)
{
    return wire_get_at(world_record(world, 0) + GUID_INFO_RECORD_AT_GUID_INFO, GUID_INFO_GUID,
                       place);
}

static uint64_t set(struct sa_world *world, const char *host, unsigned place, uint64_t guid)
{
    request(world, METHOD_SET, host, 0);
    select_place(world, place, guid);
    assert_int_equal(world_send(world), STATUS_OK);
    return answered(world, place);
}

static void free_place(struct sa_world *world, const char *host, unsigned place)
{
    request(world, METHOD_DELETE, host, 0);
    select_place(world, place, 0);
    assert_int_equal(world_send(world), STATUS_OK);
}

static uint64_t read_place(struct sa_world *world, const char *host, unsigned place)
{
    request(world, METHOD_GET, host, 0);
    assert_int_equal(world_send(world), STATUS_OK);
    return answered(world, place);
}

/* ---- adding and removing ---- */

static void the_sa_assigns_guids_with_the_configured_byte(void **state)
{
    struct sa_world *world = *state;
    request(world, METHOD_SET, "H11", 0);
    select_place(world, 1, 0);
    select_place(world, 7, 0);
    assert_int_equal(world_send(world), STATUS_OK);
    uint64_t first = answered(world, 1), second = answered(world, 7);
    assert_int_equal(answered(world, 0), world_guid(world, "H11"));
    assert_int_equal(answered(world, 2), 0);
    assert_int_equal(first >> 24, 0x0014054200);
    assert_int_equal(second >> 24, 0x0014054200);
    assert_int_not_equal(first, second);
    assert_int_equal(read_place(world, "H11", 7), second);
    /* A repeated request, and a place that was freed meanwhile, get the same GUID. */
    assert_int_equal(set(world, "H11", 1, 0), first);
    free_place(world, "H11", 1);
    assert_int_equal(answered(world, 1), 0);
    assert_int_equal(answered(world, 7), second);
    assert_int_equal(read_place(world, "H11", 1), 0);
    assert_int_equal(set(world, "H11", 1, 0), first);
    /* Unless another port has taken it. */
    free_place(world, "H11", 1);
    assert_int_equal(set(world, "H12", 1, first), first);
    assert_int_not_equal(set(world, "H11", 1, 0), first);
    assert_int_equal(read_place(world, "H11", 1) >> 24, 0x0014054200);
}

static void queries_find_a_block_by_a_guid(void **state)
{
    struct sa_world *world = *state;
    set(world, "H11", 3, 0xA1);
    world_query(world, METHOD_GET_TABLE, ATTRIBUTE_GUID_INFO_RECORD, 0);
    select_place(world, 3, 0xA1);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(world_record_count(world), 1);
    assert_int_equal(wire_get(world_record(world, 0), GUID_INFO_RECORD_LID),
                     world_lid(world, "H11"));
}

static void a_guid_has_one_place_in_the_subnet(void **state)
{
    struct sa_world *world = *state;
    uint64_t away = world_guid(world, world_last_host(world));
    assert_int_equal(set(world, "H11", 1, 0xA1), 0xA1);
    assert_int_equal(set(world, "H12", 1, 0xA1), 0);
    assert_int_equal(set(world, "H11", 2, 0xA1), 0);
    assert_int_equal(set(world, "H11", 2, world_guid(world, "H12")), 0);
    assert_int_equal(set(world, "H11", 2, world_guid(world, "H11")), 0);
    assert_int_equal(set(world, "H11", 2, UINT64_MAX), 0);
    world_miss_hosts(world, 1);
    assert_int_equal(set(world, "H11", 2, away), 0);
    /* What is not accepted changes nothing. */
    assert_int_equal(set(world, "H11", 1, world_guid(world, "H12")), 0);
    assert_int_equal(read_place(world, "H11", 1), 0xA1);
    assert_int_equal(read_place(world, "H11", 2), 0);
    assert_int_equal(read_place(world, "H12", 1), 0);
    /* A GUID can be replaced, and is free then. */
    assert_int_equal(set(world, "H11", 1, 0xA2), 0xA2);
    assert_int_equal(set(world, "H12", 1, 0xA1), 0xA1);
}

static void a_request_needs_lid_block_and_a_place_of_the_table(void **state)
{
    struct sa_world *world = *state;
    uint8_t *record = request(world, METHOD_SET, "H11", 0);
    wire_set(world->query, SA_COMPONENT_MASK, BIT(BLOCK) | BIT(FIRST + 1));
    assert_int_equal(world_send(world), STATUS_SA_TOO_FEW_COMPONENTS);
    wire_set(world->query, SA_COMPONENT_MASK, BIT(LID) | BIT(FIRST + 1));
    assert_int_equal(world_send(world), STATUS_SA_TOO_FEW_COMPONENTS);
    wire_set(world->query, SA_COMPONENT_MASK, BIT(LID) | BIT(BLOCK) | BIT(FIRST + 1));
    wire_set(record, GUID_INFO_RECORD_LID, 0xBFFF);
    assert_int_equal(world_send(world), STATUS_SA_NO_RECORDS);
    for (unsigned i = 0; i < 2; i++) { /* the port's own GUID */
        request(world, i ? METHOD_SET : METHOD_DELETE, "H11", 0);
        select_place(world, 0, 5);
        select_place(world, 1, 5);
        assert_int_equal(world_send(world), STATUS_SA_BAD_REQUEST);
    }
    request(world, METHOD_SET, "H11", 1);
    select_place(world, 0, 5);
    assert_int_equal(world_send(world), STATUS_SA_NO_RECORDS); /* GUIDCap is 8 */
    wire_set(world_port(world, "H11", 1)->info, PORT_INFO_GUID_CAP, 16);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(answered(world, 0), 5);
    assert_int_equal(read_place(world, "H11", 1), 0);
}

static void only_the_port_itself_and_trusted_clients_change_its_guids(void **state)
{
    struct sa_world *world = *state;
    set(world, "H11", 1, 0xA1);
    for (unsigned i = 0; i < 2; i++) {
        request(world, i ? METHOD_SET : METHOD_DELETE, "H11", 0);
        select_place(world, 1, 0xA2);
        select_place(world, 2, 0xA3);
        world->from = world_lid(world, "H12");
        assert_int_equal(world_send(world), STATUS_SA_DENIED);
        assert_int_equal(read_place(world, "H11", 1), 0xA1);
        assert_int_equal(read_place(world, "H11", 2), 0);
    }
    request(world, METHOD_SET, "H11", 0);
    select_place(world, 1, 0xA2);
    world->from = world_lid(world, "H12");
    wire_set(world->query, SA_SM_KEY, KEY_WELL_KNOWN);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(read_place(world, "H11", 1), 0xA2);
}

static void a_port_gets_as_many_as_its_limit(void **state)
{
    struct sa_world *world = *state;
    request(world, METHOD_SET, "H11", 0);
    for (unsigned place = 1; place <= 6; place++)
        select_place(world, place, 0);
    assert_int_equal(world_send(world), STATUS_OK);
    for (unsigned place = 1; place <= 6; place++)
        assert_int_equal(answered(world, place) != 0, place <= 4);
    assert_int_equal(set(world, "H11", 4, 0xA4), 0xA4);
    assert_int_equal(set(world, "H11", 5, 0xA5), 0);
    free_place(world, "H11", 1);
    assert_int_equal(set(world, "H11", 5, 0xA5), 0xA5);
    assert_int_equal(set(world, "H12", 5, 0xB5), 0xB5);
}

/* ---- GIDs with an alias GUID ---- */

static void paths_of_an_alias_are_those_of_its_port(void **state)
{
    enum { DGID = 2, SGID = 3 };
    struct sa_world *world = *state;
    uint8_t *path =
        world_query(world, METHOD_GET, ATTRIBUTE_PATH_RECORD, BIT(DGID) | BIT(SGID) | BIT(12));
    set_gid(wire_bytes(path, PATH_RECORD_SGID), PREFIX, 0xA1);
    set_gid(wire_bytes(path, PATH_RECORD_DGID), PREFIX, world_guid(world, "H12"));
    wire_set(path, PATH_RECORD_NUMB_PATH, 1);
    uint8_t query[MAD_BYTES];
    memcpy(query, world->query, sizeof query);
    assert_int_equal(world_send(world), STATUS_SA_BAD_GID);
    set(world, "H11", 1, 0xA1);
    memcpy(world->query, query, sizeof query);
    assert_int_equal(world_send(world), STATUS_OK);
    const uint8_t *record = world_record(world, 0);
    assert_int_equal(wire_get(record, PATH_RECORD_SLID), world_lid(world, "H11"));
    assert_int_equal(wire_get(record, PATH_RECORD_DLID), world_lid(world, "H12"));
    /* The GIDs are those of the query: a virtual function knows its own GID only. */
    assert_memory_equal(wire_bytes_const(record, PATH_RECORD_SGID),
                        wire_bytes_const(path, PATH_RECORD_SGID), 16);
    assert_memory_equal(wire_bytes_const(record, PATH_RECORD_DGID),
                        wire_bytes_const(path, PATH_RECORD_DGID), 16);

    uint8_t *multi =
        world_query(world, METHOD_GET_MULTI, ATTRIBUTE_MULTI_PATH_RECORD, BIT(19) | BIT(20));
    wire_set(multi, MULTI_PATH_RECORD_SGID_COUNT, 1);
    wire_set(multi, MULTI_PATH_RECORD_DGID_COUNT, 2);
    set_gid(multi + WIRE_BYTES_MULTI_PATH_RECORD, PREFIX, world_guid(world, "H12"));
    set_gid(multi + WIRE_BYTES_MULTI_PATH_RECORD + 16, PREFIX, 0xA1);
    set_gid(multi + WIRE_BYTES_MULTI_PATH_RECORD + 32, PREFIX, world_guid(world, "H11"));
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(world_record_count(world), 2);
    for (unsigned i = 0; i < 2; i++) {
        const uint8_t *dgid = wire_bytes_const(world_record(world, i), PATH_RECORD_DGID);
        assert_int_equal(wire_get(world_record(world, i), PATH_RECORD_DLID),
                         world_lid(world, "H11"));
        assert_int_equal(wire_get_bits(dgid, 64, 64), i ? world_guid(world, "H11") : 0xA1);
    }
}

static void a_query_may_come_from_the_alias_gid(void **state)
{
    struct sa_world *world = *state;
    set(world, "H11", 1, 0xA1);
    for (unsigned i = 0; i < 2; i++) {
        struct sa_message message = {
            .address = {.lid = world_lid(world, i ? "H12" : "H11"), .qp = 1, .has_gid = true},
            .data = world->query,
            .bytes = MAD_BYTES};
        struct sa_counts counts;
        world_query(world, METHOD_GET, ATTRIBUTE_CLASS_PORT_INFO, 0);
        set_gid(message.address.gid, PREFIX, 0xA1);
        sa_receive(world->sa, world->now, &message);
        sa_counts(world->sa, &counts);
        assert_int_equal(counts.spoofed, i);
    }
}

static unsigned join(struct sa_world *world, unsigned group, const char *from, uint64_t guid)
{
    uint8_t *record =
        world_query(world, METHOD_SET, ATTRIBUTE_MC_MEMBER_RECORD,
                    BIT(0) | BIT(1) | BIT(2) | BIT(6) | BIT(7) | BIT(12) | BIT(13) | BIT(16));
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_MGID), UINT64_C(0xFF12A01C00000000), group);
    set_gid(wire_bytes(record, MC_MEMBER_RECORD_PORT_GID), PREFIX, guid);
    wire_set(record, MC_MEMBER_RECORD_P_KEY, 0xFFFF);
    wire_set(record, MC_MEMBER_RECORD_Q_KEY, 0x1234);
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, JOIN_FULL);
    world->from = world_lid(world, from);
    return world_send(world);
}

static unsigned offer(struct sa_world *world, const char *from, uint64_t guid)
{
    uint8_t *record =
        world_query(world, METHOD_SET, ATTRIBUTE_SERVICE_RECORD, BIT(0) | BIT(1) | BIT(4));
    wire_set(record, SERVICE_RECORD_ID, 7);
    set_gid(wire_bytes(record, SERVICE_RECORD_GID), PREFIX, guid);
    wire_set(record, SERVICE_RECORD_LEASE, UINT32_MAX);
    world->from = world_lid(world, from);
    return world_send(world);
}

static struct sa_counts counts_of(const struct sa_world *world)
{
    struct sa_counts counts;
    sa_counts(world->sa, &counts);
    return counts;
}

static void an_alias_has_services_and_memberships_until_it_is_removed(void **state)
{
    struct sa_world *world = *state;
    uint32_t groups = counts_of(world).groups;
    set(world, "H11", 1, 0xA1);
    assert_int_equal(offer(world, "H12", 0xA1), STATUS_SA_DENIED);
    assert_int_equal(offer(world, "H11", 0xA1), STATUS_OK);
    assert_int_equal(offer(world, "H11", 0xA2), STATUS_SA_DENIED);
    assert_int_equal(join(world, 1, "H11", 0xA1), STATUS_OK);
    assert_int_equal(join(world, 1, "H11", world_guid(world, "H11")), STATUS_OK);
    assert_int_equal(join(world, 2, "H11", 0xA1), STATUS_OK);
    assert_int_equal(counts_of(world).groups, groups + 2);
    /* It joined itself: another port cannot remove it, and its port is charged. */
    uint8_t mgid[16];
    set_gid(mgid, UINT64_C(0xFF12A01C00000000), 1);
    const struct group *group = groups_find(sa_groups(world->sa), mgid);
    assert_false(group_find_member(group, 0xA1)->proxy);
    assert_int_equal(groups_of_port(sa_groups(world->sa), world_guid(world, "H11")), 3);
    assert_int_equal(groups_of_port(sa_groups(world->sa), 0xA1), 0);
    free_place(world, "H11", 1);
    assert_null(group_find_member(group, 0xA1));
    assert_int_equal(counts_of(world).groups, groups + 1);
    assert_int_equal(counts_of(world).services, 0);
    assert_int_equal(groups_of_port(sa_groups(world->sa), world_guid(world, "H11")), 1);
}

/* ---- ports that leave and come ---- */

static void an_absent_port_loses_its_aliases_after_a_minute(void **state)
{
    struct sa_world *world = *state;
    const char *name = world_last_host(world);
    uint64_t guid = 0;
    set(world, name, 1, 0xA1);
    world_miss_hosts(world, 1);
    world->now += 59 * NS_PER_S;
    sa_expire(world->sa, world->now);
    assert_int_equal(alias_guids_port(sa_alias_guids(world->sa), 0xA1), world_guid(world, name));
    uint64_t generation = sa_fabric_generation(world->sa);
    world->now += NS_PER_S;
    assert_true(sa_deadline(world->sa) <= world->now);
    sa_expire(world->sa, world->now);
    assert_int_equal(alias_guids_port(sa_alias_guids(world->sa), 0xA1), 0);
    assert_true(sa_fabric_generation(world->sa) > generation);
    assert_false(sa_next_reregistration(world->sa, &guid));
    world_miss_hosts(world, 0);
    assert_true(sa_next_reregistration(world->sa, &guid));
    assert_int_equal(guid, world_guid(world, name));
}

static void a_port_that_comes_keeps_its_guid(void **state)
{
    struct sa_world *world = *state;
    struct subnet_port *port = world_port(world, "H12", 1);
    uint32_t terminal = world->network.owner[port->lid];
    set(world, "H11", 1, 0xA1);
    set(world, "H11", 2, 0xA2);
    port->guid = world->network.terminals.items[terminal].guid = 0xA1;
    world->subnet->generation++;
    world_update_view(world);
    assert_int_equal(read_place(world, "H11", 1), 0);
    assert_int_equal(read_place(world, "H11", 2), 0xA2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN(open_assigning, the_sa_assigns_guids_with_the_configured_byte),
        TEST(queries_find_a_block_by_a_guid),
        TEST(a_guid_has_one_place_in_the_subnet),
        TEST(a_request_needs_lid_block_and_a_place_of_the_table),
        TEST(only_the_port_itself_and_trusted_clients_change_its_guids),
        TEST_IN(open_assigning, a_port_gets_as_many_as_its_limit),
        TEST(paths_of_an_alias_are_those_of_its_port),
        TEST(a_query_may_come_from_the_alias_gid),
        TEST(an_alias_has_services_and_memberships_until_it_is_removed),
        TEST(an_absent_port_loses_its_aliases_after_a_minute),
        TEST(a_port_that_comes_keeps_its_guid),
    };
    return RUN(tests);
}
