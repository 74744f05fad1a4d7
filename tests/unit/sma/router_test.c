/* The agent of a router: adjacent subnets, next-hop tables, and the port for a prefix. */
#include "fixture.h"

enum { ROUTER = 3, PORTS = 3 };
#define SITE(n) (GID_PREFIX_SITE | (n))

static struct sma a_router(void)
{
    struct sma sma;
    struct sma_options options = plain_options();
    struct sma_identity identity = {
        .kind = ROUTER, .port_count = PORTS, .guid = 0x3000, .description = "router"};
    sma_init(&sma, &identity, &options);
    for (unsigned port = 1; port <= PORTS; port++) {
        uint8_t *info = sma_port(&sma, port)->info;
        wire_set(info, PORT_INFO_GID_PREFIX, SITE(port));
        wire_set(info, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
        wire_set(info, PORT_INFO_MASTER_SM_LID, 10 + port);
    }
    return sma;
}

static unsigned write_hop(struct sma *sma, unsigned port, uint32_t modifier, uint64_t prefix,
                          unsigned weight)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    wire_set_at(data, ROUTER_NEXT_HOP_TABLE_PREFIX, 0, prefix);
    wire_set_at(data, ROUTER_NEXT_HOP_TABLE_WEIGHT, 0, weight);
    unsigned status = set_through(sma, port, ATTRIBUTE_ROUTER_NEXT_HOP_TABLE, modifier, data);
    memset(data, 0, sizeof data);
    wire_set(data, ROUTER_INFO_NEXT_HOP_TOP, 1);
    if (!status)
        status = set_through(sma, port, ATTRIBUTE_ROUTER_INFO, 0, data);
    return status;
}

static void adjacent_subnets_are_those_of_the_other_ports(void **state)
{
    struct sma sma = a_router();
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(get_through(&sma, 2, ATTRIBUTE_ROUTER_INFO, 0, data), STATUS_OK);
    assert_int_equal(wire_get(data, ROUTER_INFO_ADJACENT_TOP), 2);
    assert_int_equal(get_through(&sma, 2, ATTRIBUTE_ADJACENT_SUBNETS_TABLE, 0, data), STATUS_OK);
    assert_int_equal(wire_get_at(data, ADJACENT_SUBNETS_TABLE_PREFIX, 0), 1);
    assert_int_equal(wire_get_at(data, ADJACENT_SUBNETS_TABLE_PREFIX, 1), 3);
    assert_int_equal(wire_get_at(data, ADJACENT_SUBNETS_TABLE_MASTER_SM_LID, 1), 13);
    assert_int_equal(wire_get_at(data, ADJACENT_SUBNETS_TABLE_PREFIX, 2), 0);
    sma_link_down(&sma, 3, PHYSICAL_POLLING);
    assert_int_equal(get_through(&sma, 2, ATTRIBUTE_ROUTER_INFO, 0, data), STATUS_OK);
    assert_int_equal(wire_get(data, ROUTER_INFO_ADJACENT_TOP), 1);
    sma_release(&sma);
}

static void each_port_is_written_from_its_own_subnet(void **state)
{
    struct sma sma = a_router();
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(write_hop(&sma, 1, 0, SITE(9), 2), STATUS_OK);
    assert_int_equal(write_hop(&sma, 1, 2u << 24, SITE(8), 2), STATUS_BAD_VALUE);
    assert_int_equal(write_hop(&sma, 1, ROUTER_NEXT_HOPS / 4, SITE(8), 2), STATUS_BAD_VALUE);
    assert_int_equal(get_through(&sma, 2, ATTRIBUTE_ROUTER_NEXT_HOP_TABLE, 1u << 24, data),
                     STATUS_OK);
    assert_int_equal(wire_get_at(data, ROUTER_NEXT_HOP_TABLE_PREFIX, 0), SITE(9));
    assert_int_equal(get_through(&sma, 2, ATTRIBUTE_ROUTER_INFO, 1, data), STATUS_OK);
    assert_int_equal(wire_get(data, ROUTER_INFO_NEXT_HOP_TOP), 1);
    assert_int_equal(get_through(&sma, 2, ATTRIBUTE_ROUTER_INFO, PORTS + 1, data),
                     STATUS_BAD_VALUE);
    wire_set(data, ROUTER_INFO_NEXT_HOP_TOP, ROUTER_NEXT_HOPS + 1);
    assert_int_equal(set_through(&sma, 2, ATTRIBUTE_ROUTER_INFO, 0, data), STATUS_BAD_VALUE);
    sma_release(&sma);
}

static void the_nearest_port_is_next(void **state)
{
    struct sma sma = a_router();
    struct sma_next_subnet next = sma_route_prefix(&sma, 1, SITE(2), 5);
    assert_int_equal(next.port, 2);
    assert_true(next.adjacent);
    next = sma_route_prefix(&sma, 2, SITE(2), 5);
    assert_int_equal(next.port, 0);
    assert_true(next.returns);
    next = sma_route_prefix(&sma, 1, SITE(9), 5);
    assert_true(!next.port && !next.returns);
    assert_int_equal(write_hop(&sma, 2, 0, SITE(9), 2), STATUS_OK);
    next = sma_route_prefix(&sma, 1, SITE(9), 5);
    assert_true(next.port == 2 && !next.adjacent);
    next = sma_route_prefix(&sma, 2, SITE(9), 5);
    assert_true(!next.port && next.returns);
    assert_int_equal(write_hop(&sma, 3, 0, SITE(9), 2), STATUS_OK);
    unsigned by_port[PORTS + 1] = {0};
    for (uint64_t flow = 0; flow < 10; flow++)
        by_port[sma_route_prefix(&sma, 1, SITE(9), flow).port]++;
    assert_true(by_port[2] == 5 && by_port[3] == 5);
    assert_int_equal(write_hop(&sma, 3, 0, SITE(9), 1), STATUS_OK);
    assert_int_equal(sma_route_prefix(&sma, 1, SITE(9), 0).port, 3);
    assert_int_equal(sma_route_prefix(&sma, 1, SITE(9), 1).port, 3);
    sma_release(&sma);
}

/* The byte offsets of the vendor's structures. */
static void the_layout_is_the_vendors(void **state)
{
    static const struct {
        enum wire_field field;
        unsigned byte, width, stride;
    } fields[] = {
        {ROUTER_INFO_CAPABILITY_MASK, 0, 32, 0},
        {ROUTER_INFO_NEXT_HOP_CAP, 4, 32, 0},
        {ROUTER_INFO_NEXT_HOP_TOP, 8, 32, 0},
        {ROUTER_INFO_ADJACENT_TOP, 14, 8, 0},
        {ROUTER_INFO_ADJACENT_CAP, 15, 8, 0},
        {ROUTER_NEXT_HOP_TABLE_PREFIX, 0, 64, 16},
        {ROUTER_NEXT_HOP_TABLE_WEIGHT, 8, 8, 16},
        {ROUTER_NEXT_HOP_TABLE_P_KEY, 10, 16, 16},
        {ADJACENT_SUBNETS_TABLE_P_KEY, 0, 16, 8},
        {ADJACENT_SUBNETS_TABLE_PREFIX, 2, 16, 8},
        {ADJACENT_SUBNETS_TABLE_MASTER_SM_LID, 6, 16, 8},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const struct wire_field_spec *spec = &wire_fields[fields[i].field];
        assert_int_equal(spec->offset, fields[i].byte * 8);
        assert_int_equal(spec->width, fields[i].width);
        assert_int_equal(spec->stride, fields[i].stride * 8);
    }
}

static void other_nodes_have_no_such_tables(void **state)
{
    struct sma adapter = an_adapter(), of_switch = a_switch();
    uint8_t data[SMP_DATA_BYTES] = {0};
    assert_int_equal(get_through(&adapter, 1, ATTRIBUTE_ROUTER_INFO, 0, data),
                     STATUS_BAD_ATTRIBUTE);
    assert_int_equal(get_through(&of_switch, 1, ATTRIBUTE_ROUTER_INFO, 0, data),
                     STATUS_BAD_ATTRIBUTE);
    sma_release(&adapter);
    sma_release(&of_switch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adjacent_subnets_are_those_of_the_other_ports),
        cmocka_unit_test(each_port_is_written_from_its_own_subnet),
        cmocka_unit_test(the_nearest_port_is_next),
        cmocka_unit_test(the_layout_is_the_vendors),
        cmocka_unit_test(other_nodes_have_no_such_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
