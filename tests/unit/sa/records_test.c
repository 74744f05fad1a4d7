/* Records about ports, component masks, and requests that are not answered. */
#include "test.h"

static unsigned table(struct sa_world *world, unsigned attribute)
{
    world_query(world, METHOD_GET_TABLE, attribute, 0);
    assert_int_equal(world_send(world), STATUS_OK);
    return world_record_count(world);
}

static void tables_have_a_record_for_every_item(void **state)
{
    struct sa_world *world = *state; /* 8 switches of 4 ports, 7 hosts, 16 links */
    assert_int_equal(table(world, ATTRIBUTE_NODE_RECORD), 15);
    assert_int_equal(table(world, ATTRIBUTE_PORT_INFO_RECORD), 8 * 5 + 7);
    assert_int_equal(table(world, ATTRIBUTE_SWITCH_INFO_RECORD), 8);
    assert_int_equal(table(world, ATTRIBUTE_LINK_RECORD), 2 * 16);
    assert_int_equal(table(world, ATTRIBUTE_LINEAR_FORWARDING_TABLE_RECORD), 8);
    assert_int_equal(table(world, ATTRIBUTE_SM_INFO_RECORD), 1);
    assert_int_equal(table(world, ATTRIBUTE_GUID_INFO_RECORD), 15);
    assert_int_equal(table(world, ATTRIBUTE_MULTICAST_FORWARDING_TABLE_RECORD), 0);
    assert_int_equal(table(world, ATTRIBUTE_SERVICE_RECORD), 0);
    assert_int_equal(table(world, ATTRIBUTE_INFORM_INFO_RECORD), 0);
}

static void other_managers_are_listed_with_their_last_sm_info(void **state)
{
    struct sa_world *world = *state;
    struct subnet_port *port = world_port(world, "H15", 1);
    port->manager = true;
    port->manager_priority = 3;
    port->manager_state = 2;
    port->manager_act_count = 148;
    uint8_t *record = world_query(world, METHOD_GET, ATTRIBUTE_SM_INFO_RECORD, BIT(0));
    wire_set(record, SM_INFO_RECORD_LID, world_lid(world, "H15"));
    assert_int_equal(world_send(world), STATUS_OK);
    const uint8_t *info = world_record(world, 0) + SM_INFO_RECORD_AT_SM_INFO;
    assert_int_equal(wire_get(info, SM_INFO_PRIORITY), 3);
    assert_int_equal(wire_get(info, SM_INFO_STATE), 2);
    assert_int_equal(wire_get(info, SM_INFO_ACT_COUNT), 148);
    port->manager = false;
}

static void confirm_masks(struct sa_world *world, const char *name, unsigned block, unsigned entry,
                          unsigned mask)
{
    uint8_t data[BLOCK_BYTES] = {0};
    uint32_t port = (uint32_t)(world_port(world, name, 0) - world->subnet->ports.items);
    wire_set_at(data, MULTICAST_FORWARDING_TABLE_PORT_MASK, entry, mask);
    blocks_set_known(&world->subnet->blocks, port, BLOCK_MULTICAST, block, data);
}

/* Confirmed multicast blocks are returned up to the last one that is not empty. */
static void multicast_tables_are_queried_by_switch_and_block(void **state)
{
    struct sa_world *world = *state;
    confirm_masks(world, "S1", 0, 3, 0x6);
    confirm_masks(world, "S1", 1, 0, 0x8);
    confirm_masks(world, "S2", 0, 3, 0x10);
    confirm_masks(world, "S3", 0, 3, 0); /* empty */
    assert_int_equal(table(world, ATTRIBUTE_MULTICAST_FORWARDING_TABLE_RECORD), 3);
    uint8_t *record = world_query(world, METHOD_GET_TABLE,
                                  ATTRIBUTE_MULTICAST_FORWARDING_TABLE_RECORD, BIT(0) | BIT(3));
    wire_set(record, MULTICAST_FORWARDING_TABLE_RECORD_LID, world_port(world, "S1", 0)->lid);
    wire_set(record, MULTICAST_FORWARDING_TABLE_RECORD_BLOCK, 1);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(world_record_count(world), 1);
    const uint8_t *found = world_record(world, 0);
    assert_int_equal(wire_get(found, MULTICAST_FORWARDING_TABLE_RECORD_LID),
                     world_port(world, "S1", 0)->lid);
    assert_int_equal(wire_get(found, MULTICAST_FORWARDING_TABLE_RECORD_BLOCK), 1);
    assert_int_equal(
        wire_get_at(found + MULTICAST_FORWARDING_TABLE_RECORD_AT_MULTICAST_FORWARDING_TABLE,
                    MULTICAST_FORWARDING_TABLE_PORT_MASK, 0),
        0x8);
    record =
        world_query(world, METHOD_GET_TABLE, ATTRIBUTE_MULTICAST_FORWARDING_TABLE_RECORD, BIT(1));
    wire_set(record, MULTICAST_FORWARDING_TABLE_RECORD_POSITION, 1); /* ports from 16 on */
    world_send(world);
    assert_int_equal(world_record_count(world), 0);
}

static void a_node_is_found_by_every_component(void **state)
{
    struct sa_world *world = *state;
    uint8_t *node = world_query(world, METHOD_GET, ATTRIBUTE_NODE_RECORD, BIT(8));
    wire_set(node + NODE_RECORD_AT_NODE_INFO, NODE_INFO_PORT_GUID, world_guid(world, "H15"));
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(wire_get(world_record(world, 0), NODE_RECORD_LID), world_lid(world, "H15"));
    node = world_query(world, METHOD_GET, ATTRIBUTE_NODE_RECORD, BIT(14));
    memcpy(node + NODE_RECORD_AT_NODE_DESCRIPTION, "H12", 3);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(wire_get(world_record(world, 0), NODE_RECORD_LID), world_lid(world, "H12"));
    node = world_query(world, METHOD_GET_TABLE, ATTRIBUTE_NODE_RECORD, BIT(4));
    wire_set(node + NODE_RECORD_AT_NODE_INFO, NODE_INFO_NODE_TYPE, SUBNET_SWITCH);
    world_send(world);
    assert_int_equal(world_record_count(world), 8);
    /* no port has both */
    node = world_query(world, METHOD_GET, ATTRIBUTE_NODE_RECORD, BIT(4) | BIT(8));
    wire_set(node + NODE_RECORD_AT_NODE_INFO, NODE_INFO_NODE_TYPE, SUBNET_SWITCH);
    wire_set(node + NODE_RECORD_AT_NODE_INFO, NODE_INFO_PORT_GUID, world_guid(world, "H15"));
    assert_int_equal(world_send(world), STATUS_SA_NO_RECORDS);
}

static void get_needs_exactly_one_record(void **state)
{
    struct sa_world *world = *state;
    world_query(world, METHOD_GET, ATTRIBUTE_NODE_RECORD, 0);
    assert_int_equal(world_send(world), STATUS_SA_TOO_MANY_RECORDS);
    wire_set(world_query(world, METHOD_GET, ATTRIBUTE_NODE_RECORD, BIT(0)), NODE_RECORD_LID,
             0x4000);
    assert_int_equal(world_send(world), STATUS_SA_NO_RECORDS);
    wire_set(world_query(world, METHOD_GET_TABLE, ATTRIBUTE_NODE_RECORD, BIT(0)), NODE_RECORD_LID,
             0x4000);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(world_record_count(world), 0);
}

/* Also if a query asks for ports with this M_Key. */
static void m_keys_are_visible_with_a_secret_sa_key_only(void **state)
{
    struct sa_world *world = *state;
    wire_set(world_query(world, METHOD_GET, ATTRIBUTE_PORT_INFO_RECORD, BIT(0)),
             PORT_INFO_RECORD_LID, world_lid(world, "H4"));
    assert_int_equal(world_send(world), STATUS_OK);
    const uint8_t *info = world_record(world, 0) + PORT_INFO_RECORD_AT_PORT_INFO;
    assert_int_equal(wire_get(info, PORT_INFO_M_KEY), 0);
    wire_set(world->query, SA_SM_KEY, 1);
    assert_int_equal(world_send(world), STATUS_OK);
    info = world_record(world, 0) + PORT_INFO_RECORD_AT_PORT_INFO;
    assert_int_equal(wire_get(info, PORT_INFO_M_KEY), 0); /* everybody knows this key */
    assert_int_equal(wire_get(world->answer.data, SA_SM_KEY), 0);
    world_query(world, METHOD_GET_TABLE, ATTRIBUTE_P_KEY_TABLE_RECORD, 0);
    assert_int_equal(world_send(world), STATUS_SA_BAD_REQUEST);
    uint8_t *port = world_query(world, METHOD_GET_TABLE, ATTRIBUTE_PORT_INFO_RECORD, BIT(3));
    wire_set(port + PORT_INFO_RECORD_AT_PORT_INFO, PORT_INFO_M_KEY, 0x1234);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(world_record_count(world), 0);
}

static void a_secret_sa_key_shows_m_keys(void **state)
{
    const uint64_t key = UINT64_C(0x5ec2e7a11ce0b0b5);
    struct sa_world world = {0};
    struct sa_config config;
    sa_config_init(&config);
    config.key = key;
    world_open(&world, &(struct sa_world_shape){.kind = "figure1", .config = &config});
    wire_set(world_query(&world, METHOD_GET, ATTRIBUTE_PORT_INFO_RECORD, BIT(0)),
             PORT_INFO_RECORD_LID, world_lid(&world, "H4"));
    wire_set(world.query, SA_SM_KEY, 1);
    assert_int_equal(world_send(&world), NO_ANSWER);
    wire_set(world.query, SA_SM_KEY, key);
    assert_int_equal(world_send(&world), STATUS_OK);
    const uint8_t *info = world_record(&world, 0) + PORT_INFO_RECORD_AT_PORT_INFO;
    assert_int_equal(wire_get(info, PORT_INFO_M_KEY), 0x1234);
    assert_int_equal(wire_get(world.answer.data, SA_SM_KEY), 0);
    world_close(&world);
}

static void ports_are_found_by_capability_bits(void **state)
{
    struct sa_world *world = *state;
    wire_set(world_port(world, "H15", 1)->info, PORT_INFO_CAPABILITY_MASK, 0x6);
    wire_set(world_port(world, "H12", 1)->info, PORT_INFO_CAPABILITY_MASK, 0x2);
    uint8_t *port = world_query(world, METHOD_GET_TABLE, ATTRIBUTE_PORT_INFO_RECORD, BIT(7));
    wire_set(port + PORT_INFO_RECORD_AT_PORT_INFO, PORT_INFO_CAPABILITY_MASK, 0x2);
    world_send(world);
    assert_int_equal(world_record_count(world), 1);
    wire_set(world->query, MAD_ATTRIBUTE_MODIFIER, UINT32_C(0x80000000));
    world_send(world);
    assert_int_equal(world_record_count(world), 2);
}

static void unknown_lids_and_wrong_keys_are_not_answered(void **state)
{
    struct sa_world *world = *state;
    world_query(world, METHOD_GET_TABLE, ATTRIBUTE_NODE_RECORD, 0);
    world->from = 0x1234;
    assert_int_equal(world_send(world), NO_ANSWER);
    world->from = 1;
    wire_set(world->query, SA_SM_KEY, 7);
    assert_int_equal(world_send(world), NO_ANSWER);
    wire_set(world->query, SA_SM_KEY, 0);
    assert_int_equal(world_send(world), STATUS_OK);
}

static void unsupported_methods_and_attributes_are_refused(void **state)
{
    struct sa_world *world = *state;
    world_query(world, METHOD_SET, ATTRIBUTE_NODE_RECORD, 0);
    assert_int_equal(world_send(world), STATUS_BAD_ATTRIBUTE);
    assert_int_equal(wire_get(world->answer.data, MAD_METHOD), METHOD_GET_RESP);
    world_query(world, METHOD_GET, 0x7777, 0);
    assert_int_equal(world_send(world), STATUS_BAD_ATTRIBUTE);
    world_query(world, 0x44, ATTRIBUTE_NODE_RECORD, 0);
    assert_int_equal(world_send(world), STATUS_BAD_METHOD);
    world_query(world, METHOD_GET, ATTRIBUTE_NODE_RECORD, 0);
    wire_set(world->query, MAD_CLASS_VERSION, 1);
    assert_int_equal(world_send(world), STATUS_BAD_VERSION);
    world_query(world, METHOD_GET_RESP, ATTRIBUTE_NODE_RECORD, 0); /* a response is not a query */
    assert_int_equal(world_send(world), NO_ANSWER);
}

static void without_routes_nothing_is_answered(void **state)
{
    struct sa_world *world = *state;
    struct sa_view none = {.subnet = world->subnet};
    sa_update_view(world->sa, world->now, &none);
    world_query(world, METHOD_GET_TABLE, ATTRIBUTE_NODE_RECORD, 0);
    assert_int_equal(world_send(world), NO_ANSWER);
    world_update_view(world);
    assert_int_equal(world_send(world), STATUS_OK);
}

static void an_answer_beyond_the_limit_is_refused_and_not_grown(void **state)
{
    struct sa_world *world = *state;
    struct sa_config config;
    sa_config_init(&config);
    config.answer_limit = 4096;
    sa_free(world->sa);
    world->sa = sa_new(&config, world_guid(world, "H4"));
    world_update_view(world);
    assert_int_equal(table(world, ATTRIBUTE_NODE_RECORD), 15);
    world_query(world, METHOD_GET_TABLE, ATTRIBUTE_PATH_RECORD, 0);
    assert_int_equal(world_send(world), STATUS_SA_NO_RESOURCES);
    world_query(world, METHOD_GET_TABLE, ATTRIBUTE_SL2VL_TABLE_RECORD, 0);
    assert_int_equal(world_send(world), STATUS_OK); /* 207 * 16 bytes */
    world_query(world, METHOD_GET_TABLE, ATTRIBUTE_VL_ARBITRATION_TABLE_RECORD, 0);
    assert_int_equal(world_send(world), STATUS_SA_NO_RESOURCES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tables_have_a_record_for_every_item),
        TEST(other_managers_are_listed_with_their_last_sm_info),
        TEST(multicast_tables_are_queried_by_switch_and_block),
        TEST(a_node_is_found_by_every_component),
        TEST(get_needs_exactly_one_record),
        TEST(m_keys_are_visible_with_a_secret_sa_key_only),
        TEST(a_secret_sa_key_shows_m_keys),
        TEST(ports_are_found_by_capability_bits),
        TEST(unknown_lids_and_wrong_keys_are_not_answered),
        TEST(unsupported_methods_and_attributes_are_refused),
        TEST(without_routes_nothing_is_answered),
        TEST(an_answer_beyond_the_limit_is_refused_and_not_grown),
    };
    return RUN(tests);
}
