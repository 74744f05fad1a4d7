/* PathRecord and QoS: policy, partitions, VLs; SL-to-VL and arbitration records. */
#include "test.h"

#include <stdio.h>

enum { SERVICE_MSB = 0, SERVICE_LSB, DGID, SGID };
enum { REVERSIBLE = 11, NUMB_PATH, P_KEY, QOS_CLASS, SL };

static struct qos policy;

static int open_policy(void **state, const struct sa_world_shape *shape, const char *text)
{
    struct err err = {0}, refusal;
    char *copy = mem_strdup(text);
    qos_init(&policy);
    if (qos_read(&policy, from_text("policy", copy, &err)))
        fail_msg("%s", err.message);
    mem_free(copy);
    policy.on = true;
    open_shape(state, shape);
    struct sa_world *world = *state;
    world->view.qos = &policy;
    qos_make_layout(&policy, 16, &world->view.layout, &refusal); /* the engine uses eight */
    world_update_view(world);
    return 0;
}

static const char text[] = "level default sl 0\n"
                           "level storage sl 2 priority high\n"
                           "level bulk sl 1\n"
                           "group some name H4 guid 0xabcdef\n"
                           "match service 0x5000-0x5fff level storage\n"
                           "match class 3 level storage\n"
                           "match with some level bulk\n";

static int open_levels(void **state)
{
    return open_policy(state, &(struct sa_world_shape){.kind = "figure1"}, text);
}

static int open_ring(void **state)
{
    return open_policy(state,
                       &(struct sa_world_shape){.kind = "ring",
                                                .words = {"switches=6", "hosts=1"},
                                                .engine = &engine_dfsssp},
                       "level default sl 0\nlevel other sl 1\nmatch service 7 level other\n");
}

static int close_policy(void **state)
{
    qos_release(&policy);
    return close_world(state);
}

static uint8_t *between(struct sa_world *world, const char *from, const char *to, uint64_t more)
{
    uint8_t *path =
        world_query(world, METHOD_GET, ATTRIBUTE_PATH_RECORD, BIT(SGID) | BIT(DGID) | more);
    set_gid(wire_bytes(path, PATH_RECORD_SGID), PREFIX, world_guid(world, from));
    set_gid(wire_bytes(path, PATH_RECORD_DGID), PREFIX, world_guid(world, to));
    return path;
}

static unsigned answered_sl(struct sa_world *world)
{
    assert_int_equal(world_send(world), STATUS_OK);
    return (unsigned)wire_get(world_record(world, 0), PATH_RECORD_SL);
}

static void the_policy_determines_the_sl_of_paths(void **state)
{
    struct sa_world *world = *state;
    between(world, "H7", "H12", 0);
    assert_int_equal(answered_sl(world), 0);
    between(world, "H4", "H12", 0);
    assert_int_equal(answered_sl(world), 1);
    between(world, "H12", "H4", 0);
    assert_int_equal(answered_sl(world), 1);
    uint8_t *path = between(world, "H4", "H12", BIT(SERVICE_MSB) | BIT(SERVICE_LSB));
    wire_set(path, PATH_RECORD_SERVICE_ID, 0x5123);
    assert_int_equal(answered_sl(world), 2);
    path = between(world, "H7", "H12", BIT(SERVICE_MSB) | BIT(SERVICE_LSB));
    wire_set(path, PATH_RECORD_SERVICE_ID, 0x6000);
    assert_int_equal(answered_sl(world), 0);
    path = between(world, "H7", "H12", BIT(QOS_CLASS));
    wire_set(path, PATH_RECORD_QOS_CLASS, 3);
    assert_int_equal(answered_sl(world), 2);
    assert_int_equal(wire_get(world_record(world, 0), PATH_RECORD_QOS_CLASS), 3);
}

static void partitions_have_their_own_sls(void **state)
{
    struct sa_world *world = *state;
    qos_add_partition(&policy, 0x7FFF, 2);
    between(world, "H7", "H12", 0);
    assert_int_equal(answered_sl(world), 2);
    between(world, "H7", "H4", 0); /* a rule overrides it */
    assert_int_equal(answered_sl(world), 1);
}

static void a_requested_sl_is_returned_if_it_is_valid(void **state)
{
    struct sa_world *world = *state;
    uint8_t *path = between(world, "H7", "H12", BIT(SL));
    wire_set(path, PATH_RECORD_SL, 2);
    assert_int_equal(answered_sl(world), 2);
    path = between(world, "H7", "H12", BIT(SL));
    wire_set(path, PATH_RECORD_SL, 3); /* the routes do not use a second VL */
    assert_int_equal(world_send(world), STATUS_SA_NO_RECORDS);
}

/* On a ring the engine uses several VLs: the SL encodes VL and level. */
static void the_sl_encodes_vl_and_level(void **state)
{
    struct sa_world *world = *state;
    unsigned lanes = 0;
    for (unsigned from = 0; from < 6; from++)
        for (unsigned to = 0; to < 6; to++) {
            char a[8], b[8];
            snprintf(a, sizeof a, "H%u", from);
            snprintf(b, sizeof b, "H%u", to);
            between(world, a, b, 0);
            unsigned plain = answered_sl(world);
            uint8_t *path = between(world, a, b, BIT(SERVICE_MSB) | BIT(SERVICE_LSB));
            wire_set(path, PATH_RECORD_SERVICE_ID, 7);
            assert_int_equal(answered_sl(world), plain + 1);
            assert_int_equal(plain % 2, 0);
            lanes |= 1u << plain / 2;
            path = between(world, a, b, BIT(SL));
            wire_set(path, PATH_RECORD_SL, (plain + 2) & 15); /* another VL */
            assert_int_equal(world_send(world), STATUS_SA_NO_RECORDS);
        }
    assert_true(lanes & (lanes - 1));
}

/* Connection managers always request reversible paths. */
static void reversible_paths_are_returned_whatever_the_vls(void **state)
{
    struct sa_world *world = *state;
    uint8_t *path = between(world, "H0", "H3", BIT(REVERSIBLE));
    wire_set(path, PATH_RECORD_REVERSIBLE, 1);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_true(wire_get(world_record(world, 0), PATH_RECORD_REVERSIBLE));
}

static void a_level_can_lower_mtu_rate_and_life(void **state)
{
    struct sa_world *world = *state;
    policy.levels.items[policy.fallback].mtu = 3;
    policy.levels.items[policy.fallback].rate = 2;
    policy.levels.items[policy.fallback].life = 9;
    between(world, "H7", "H12", 0);
    answered_sl(world);
    assert_int_equal(wire_get(world_record(world, 0), PATH_RECORD_MTU), 3);
    assert_int_equal(wire_get(world_record(world, 0), PATH_RECORD_RATE), 2);
    assert_int_equal(wire_get(world_record(world, 0), PATH_RECORD_PACKET_LIFE_TIME), 9);
}

/* Sends a query with a selector and its value. Returns the status. */
static unsigned query_with_selector(struct sa_world *world, unsigned bit,
                                    enum wire_field selector_field, unsigned selector,
                                    enum wire_field field, unsigned value)
{
    uint8_t *path = between(world, "H7", "H12", BIT(bit) | BIT(bit + 1));
    wire_set(path, selector_field, selector);
    wire_set(path, field, value);
    return world_send(world);
}

/* The limits are those of a_level_can_lower_mtu_rate_and_life(); the links allow more. */
static void selectors_apply_after_the_level(void **state)
{
    static const struct {
        unsigned bit;
        enum wire_field selector, field;
        unsigned limit; /* of the level */
        unsigned below; /* expected value if less is requested; 0: none */
    } kinds[] = {
        {16, PATH_RECORD_MTU_SELECTOR, PATH_RECORD_MTU, 3, 2},
        {18, PATH_RECORD_RATE_SELECTOR, PATH_RECORD_RATE, 2, 0},
        {20, PATH_RECORD_PACKET_LIFE_TIME_SELECTOR, PATH_RECORD_PACKET_LIFE_TIME, 9, 8},
    };
    enum { GREATER, LESS, EXACTLY };
    struct sa_world *world = *state;
    policy.levels.items[policy.fallback].mtu = 3;
    policy.levels.items[policy.fallback].rate = 2;
    policy.levels.items[policy.fallback].life = 9;
    for (unsigned i = 0; i < 3; i++) {
        unsigned bit = kinds[i].bit, limit = kinds[i].limit;
        enum wire_field selector = kinds[i].selector, field = kinds[i].field;
        assert_int_equal(query_with_selector(world, bit, selector, GREATER, field, limit),
                         STATUS_SA_NO_RECORDS);
        assert_int_equal(query_with_selector(world, bit, selector, EXACTLY, field, limit + 1),
                         STATUS_SA_NO_RECORDS);
        assert_int_equal(query_with_selector(world, bit, selector, EXACTLY, field, limit),
                         STATUS_OK);
        assert_int_equal(wire_get(world_record(world, 0), field), limit);
        unsigned status = query_with_selector(world, bit, selector, LESS, field, limit);
        assert_int_equal(status, kinds[i].below ? STATUS_OK : STATUS_SA_NO_RECORDS);
        if (kinds[i].below)
            assert_int_equal(wire_get(world_record(world, 0), field), kinds[i].below);
    }
}

static void records_show_confirmed_tables(void **state)
{
    struct sa_world *world = *state;
    struct blocks *blocks = &world->subnet->blocks;
    uint32_t port = (uint32_t)(world_port(world, "H4", 1) - world->subnet->ports.items);
    uint8_t map[BLOCK_BYTES] = {0x01, 0x23}, other[BLOCK_BYTES] = {0x02, 0x80};
    blocks_want(blocks, port, BLOCK_SL2VL, 0, map);
    blocks_set_actual(blocks, blocks_take(blocks), map);
    blocks_want(blocks, port, BLOCK_ARBITRATION, 3, other);
    blocks_set_actual(blocks, blocks_take(blocks), other);
    uint8_t *query = world_query(world, METHOD_GET_TABLE, ATTRIBUTE_SL2VL_TABLE_RECORD, BIT(0));
    wire_set(query, SL2VL_TABLE_RECORD_LID, world_lid(world, "H4"));
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(world_record_count(world), 1);
    assert_memory_equal(world_record(world, 0) + SL2VL_TABLE_RECORD_AT_SL2VL_TABLE, map, 8);
    query = world_query(world, METHOD_GET_TABLE, ATTRIBUTE_VL_ARBITRATION_TABLE_RECORD, BIT(0));
    wire_set(query, VL_ARBITRATION_TABLE_RECORD_LID, world_lid(world, "H4"));
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(world_record_count(world), 4);
    const uint8_t *high = world_record(world, 2);
    assert_int_equal(wire_get(high, VL_ARBITRATION_TABLE_RECORD_BLOCK), 3);
    assert_memory_equal(high + VL_ARBITRATION_TABLE_RECORD_AT_VL_ARBITRATION_TABLE, other, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_policy_determines_the_sl_of_paths, open_levels,
                                        close_policy),
        cmocka_unit_test_setup_teardown(partitions_have_their_own_sls, open_levels, close_policy),
        cmocka_unit_test_setup_teardown(a_requested_sl_is_returned_if_it_is_valid, open_levels,
                                        close_policy),
        cmocka_unit_test_setup_teardown(the_sl_encodes_vl_and_level, open_ring, close_policy),
        cmocka_unit_test_setup_teardown(reversible_paths_are_returned_whatever_the_vls, open_ring,
                                        close_policy),
        cmocka_unit_test_setup_teardown(a_level_can_lower_mtu_rate_and_life, open_levels,
                                        close_policy),
        cmocka_unit_test_setup_teardown(selectors_apply_after_the_level, open_levels, close_policy),
        cmocka_unit_test_setup_teardown(records_show_confirmed_tables, open_levels, close_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
