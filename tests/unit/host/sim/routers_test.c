/* Managers of several subnets learn from routers which subnets there are, and answer queries. */
#include "routed_world.h"

#include <string.h>

/* The node name of the router whose port a path leads to. */
static const char *router_of(const struct routed *routed, uint32_t from, const uint8_t *path)
{
    const struct topology *topology = &routed->world.topology;
    uint64_t prefix = routed_field(routed, from, PORT_INFO_GID_PREFIX);
    for (uint32_t i = 0; i < topology->ports.count; i++)
        if (topology->nodes.items[topology->ports.items[i].node].kind == NODE_ROUTER &&
            topology->ports.items[i].peer != TOPOLOGY_NONE &&
            routed_field(routed, i, PORT_INFO_GID_PREFIX) == prefix &&
            routed_field(routed, i, PORT_INFO_LID) == wire_get(path, PATH_RECORD_DLID))
            return topology->nodes.items[topology->ports.items[i].node].description;
    return "none";
}

static void paths_lead_to_routers(void **state)
{
    (void)state;
    struct routed routed;
    unsigned by_first = 0, pairs = 0;
    routed_open(&routed, 2, JOIN_STAR, 2, NULL);
    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; j < 4; j++)
            for (unsigned way = 0; way < 2; way++) {
                uint32_t from = routed_host(&routed, way, i), to = routed_host(&routed, 1 - way, j);
                const uint8_t *path = routed_path(&routed, from, to);
                assert_non_null(path);
                const char *router = router_of(&routed, from, path);
                assert_int_equal(router[0], 'R');
                by_first += strcmp(router, "R0") == 0;
                pairs++;
                assert_int_equal(wire_get(path, PATH_RECORD_HOP_LIMIT), ROUTER_HOP_LIMIT);
                assert_int_equal(wire_get(path, PATH_RECORD_SLID),
                                 routed_field(&routed, from, PORT_INFO_LID));
                assert_int_equal(wire_get_bits(wire_bytes_const(path, PATH_RECORD_DGID), 0, 64),
                                 PREFIX(1 - way));
            }
    assert_in_range(by_first, pairs / 4, pairs - pairs / 4); /* both carry flows */
    const uint8_t *local =
        routed_path(&routed, routed_host(&routed, 0, 1), routed_host(&routed, 0, 2));
    assert_int_equal(wire_get(local, PATH_RECORD_HOP_LIMIT), 0);
    routed_close(&routed);
}

static void set_gid(const struct routed *routed, uint8_t *gid, uint32_t port)
{
    wire_set_bits(gid, 0, 64, routed_field(routed, port, PORT_INFO_GID_PREFIX));
    wire_set_bits(gid, 64, 64, fabric_port_guid(routed->world.fabric, port, 0));
}

/* From one host to one of its subnet and two of the other one. */
static void a_multi_path_query_crosses_routers(void **state)
{
    enum { SGIDS = 19, DGIDS = 20, DESTINATIONS = 3 };
    (void)state;
    struct routed routed;
    uint8_t mad[MAD_BYTES] = {0}, *query = mad + SA_DATA_OFFSET;
    uint8_t *gids = query + WIRE_BYTES_MULTI_PATH_RECORD;
    unsigned far = 0, near = 0;
    routed_open(&routed, 2, JOIN_STAR, 2, NULL);
    uint32_t from = routed_host(&routed, 0, 1);
    const uint32_t to[DESTINATIONS] = {routed_host(&routed, 1, 1), routed_host(&routed, 0, 2),
                                       routed_host(&routed, 1, 2)};
    wire_set(mad, MAD_METHOD, METHOD_GET_MULTI);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_MULTI_PATH_RECORD);
    wire_set(mad, SA_COMPONENT_MASK, 1 << SGIDS | 1 << DGIDS);
    wire_set(query, MULTI_PATH_RECORD_SGID_COUNT, 1);
    wire_set(query, MULTI_PATH_RECORD_DGID_COUNT, DESTINATIONS);
    set_gid(&routed, gids, from);
    for (unsigned i = 0; i < DESTINATIONS; i++)
        set_gid(&routed, gids + 16 * (i + 1), to[i]);
    uint32_t number = sim_clients_send(routed.clients, from, mad);
    assert_true(sim_clients_run(routed.clients, sim_now(routed.world.sim) + 10 * TIME_S));
    const struct sim_query *answer = sim_clients_query(routed.clients, number);
    assert_int_equal(answer->state, SIM_ANSWERED);
    assert_int_equal(answer->status, 0);
    size_t size = 8 * wire_get(answer->answer, SA_ATTRIBUTE_OFFSET);
    assert_int_equal(size, WIRE_BYTES_PATH_RECORD);
    for (size_t at = SA_DATA_OFFSET; at + size <= answer->bytes; at += size) {
        const uint8_t *path = answer->answer + at;
        uint64_t prefix = wire_get_bits(wire_bytes_const(path, PATH_RECORD_DGID), 0, 64);
        bool crosses = prefix == PREFIX(1);
        assert_int_equal(wire_get(path, PATH_RECORD_SLID),
                         routed_field(&routed, from, PORT_INFO_LID));
        assert_int_equal(wire_get(path, PATH_RECORD_HOP_LIMIT), crosses ? ROUTER_HOP_LIMIT : 0);
        assert_int_equal(router_of(&routed, from, path)[0] == 'R', crosses);
        far += crosses;
        near += prefix == PREFIX(0);
    }
    assert_int_equal(near, 1);
    assert_true(far >= 2); /* equal routers are paths of their own */
    routed_close(&routed);
}

static void fail_router(struct routed *routed, const char *name)
{
    struct err err;
    uint32_t node = topology_find(&routed->world.topology, name);
    assert_int_equal(fabric_set_node(routed->world.fabric, node, false, &err), 0);
}

static void a_failed_router_is_left_out(void **state)
{
    (void)state;
    struct routed routed;
    routed_open(&routed, 2, JOIN_STAR, 2, NULL);
    fail_router(&routed, "R0");
    run_for(&routed.world, 2 * TIME_S);
    for (unsigned j = 0; j < 4; j++) {
        uint32_t from = routed_host(&routed, 0, 1);
        const uint8_t *path = routed_path(&routed, from, routed_host(&routed, 1, j));
        assert_non_null(path);
        assert_string_equal(router_of(&routed, from, path), "R1");
    }
    fail_router(&routed, "R1");
    run_for(&routed.world, 2 * TIME_S);
    assert_null(routed_path(&routed, routed_host(&routed, 0, 1), routed_host(&routed, 1, 1)));
    assert_non_null(routed_path(&routed, routed_host(&routed, 0, 1), routed_host(&routed, 0, 2)));
    routed_close(&routed);
}

/* The far port of a router closes: the manager on this side learns that from the router. */
static void a_closed_port_behind_a_router_is_noticed(void **state)
{
    (void)state;
    struct routed routed;
    struct err err = {0};
    routed_open(&routed, 2, JOIN_STAR, 2, NULL);
    uint32_t far =
        topology_port_index(&routed.world.topology, topology_find(&routed.world.topology, "R1"), 2);
    assert_int_equal(fabric_set_link(routed.world.fabric, far, false, &err), 0);
    run_for(&routed.world, 20 * TIME_MS);
    for (unsigned j = 0; j < 4; j++) {
        uint32_t from = routed_host(&routed, 0, 1);
        const uint8_t *path = routed_path(&routed, from, routed_host(&routed, 1, j));
        assert_non_null(path);
        assert_string_equal(router_of(&routed, from, path), "R0");
    }
    routed_close(&routed);
}

struct counted {
    unsigned reads;
};

static void count_reads(void *context, uint64_t now, unsigned manager,
                        const struct sm_message *message)
{
    struct counted *counted = context;
    (void)now;
    counted->reads += manager == 0 && wire_get(message->mad, MAD_METHOD) == METHOD_GET &&
                      wire_get(message->mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_ROUTER_INFO;
}

/* A host of the other subnet writes the next-hop table of the router's port there. */
static void write_next_hop(struct routed *routed, uint64_t prefix, bool first)
{
    uint32_t router = topology_find(&routed->world.topology, "R0");
    uint32_t far = topology_port_index(&routed->world.topology, router, 2);
    uint32_t from = routed_host(routed, 1, 1);
    struct packet_header header = {.dlid = (uint16_t)routed_field(routed, far, PORT_INFO_LID)};
    uint8_t mad[MAD_BYTES] = {0};
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_LID);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, METHOD_SET);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_ROUTER_NEXT_HOP_TABLE);
    wire_set_at(mad + SMP_DATA_OFFSET, ROUTER_NEXT_HOP_TABLE_PREFIX, 0, prefix);
    wire_set_at(mad + SMP_DATA_OFFSET, ROUTER_NEXT_HOP_TABLE_WEIGHT, 0, 1);
    fabric_send(routed->world.fabric, from, &header, mad);
    if (!first)
        return;
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_ROUTER_INFO);
    memset(mad + SMP_DATA_OFFSET, 0, SMP_DATA_BYTES);
    wire_set(mad + SMP_DATA_OFFSET, ROUTER_INFO_NEXT_HOP_TOP, 1);
    fabric_send(routed->world.fabric, from, &header, mad);
}

/* Its tables differ at every reading. */
static void a_router_that_alternates_is_read_at_intervals(void **state)
{
    (void)state;
    struct routed routed;
    struct counted counted = {0};
    struct problems problems = {0};
    bool listed = false;
    routed_open(&routed, 2, JOIN_STAR, 1, NULL);
    sim_kill_manager(routed.world.sim, routed.managers[1]); /* it would correct the table */
    run_for(&routed.world, 990 * TIME_MS);                  /* nearly until the next regular turn */
    sim_set_listener(routed.world.sim,
                     &(struct sim_listener){.context = &counted, .sent = count_reads});
    for (unsigned i = 0; i < 2000; i++) {
        write_next_hop(&routed, PREFIX(10 + i % 100), i == 0);
        run_for(&routed.world, 17 * TIME_US);
    }
    /* 40 ms: two ports at each turn, of which one at most is a regular one. */
    assert_in_range(counted.reads, 20, 2 * (1 + 16 + 1));
    sm_problems(sim_manager(routed.world.sim, routed.managers[0]), sim_now_ns(routed.world.sim),
                &problems);
    for (size_t i = 0; i < problems.items.count; i++)
        listed |= problems.items.items[i].kind == PROBLEM_UNSTEADY_ROUTER;
    assert_true(listed);
    problems_release(&problems);
    sim_set_listener(routed.world.sim, &(struct sim_listener){0});
    routed_close(&routed);
}

static void subnets_behind_subnets_are_learnt(void **state)
{
    (void)state;
    struct routed routed;
    routed_open(&routed, 4, JOIN_CHAIN, 1, NULL);
    run_for(&routed.world, 3 * TIME_S);
    for (unsigned to = 1; to < 4; to++) {
        uint32_t from = routed_host(&routed, 0, 1);
        const uint8_t *path = routed_path(&routed, from, routed_host(&routed, to, 2));
        assert_non_null(path);
        assert_string_equal(router_of(&routed, from, path), "R0");
        assert_non_null(routed_path(&routed, routed_host(&routed, to, 2), from));
    }
    routed_close(&routed);
}

/* Three routers in a ring: the direct one is used, and without it the way round. */
static void a_ring_has_a_second_way(void **state)
{
    (void)state;
    struct routed routed;
    routed_open(&routed, 3, JOIN_RING, 1, NULL);
    uint32_t from = routed_host(&routed, 0, 1), to = routed_host(&routed, 1, 1);
    const uint8_t *path = routed_path(&routed, from, to);
    assert_non_null(path);
    assert_string_equal(router_of(&routed, from, path), "R0");
    fail_router(&routed, "R0");
    run_for(&routed.world, 3 * TIME_S);
    path = routed_path(&routed, from, to);
    assert_non_null(path);
    assert_string_equal(router_of(&routed, from, path), "R2");
    /* Without the second subnet's last router, the distance grows until the subnet is far. */
    fail_router(&routed, "R1");
    run_for(&routed.world, 20 * TIME_S);
    assert_null(routed_path(&routed, from, to));
    routed_close(&routed);
}

static void rules_come_first(void **state)
{
    (void)state;
    struct routed routed;
    struct prefix_rules rules;
    char text[128];
    struct err err = {0};
    /* The ports of the second router have the GUIDs after its own. */
    snprintf(text, sizeof text, "fec0000000000002 0x300004\nfec0000000000001 0x300005\n");
    assert_int_equal(prefix_rules_read(&rules, from_text("rules", text, &err)), 0);
    routed_open(&routed, 2, JOIN_STAR, 2, &rules);
    for (unsigned i = 0; i < 4; i++)
        for (unsigned way = 0; way < 2; way++) {
            uint32_t from = routed_host(&routed, way, i);
            const uint8_t *path = routed_path(&routed, from, routed_host(&routed, 1 - way, 3 - i));
            assert_non_null(path);
            assert_string_equal(router_of(&routed, from, path), "R1");
        }
    routed_close(&routed);
    prefix_rules_release(&rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_lead_to_routers),
        cmocka_unit_test(a_multi_path_query_crosses_routers),
        cmocka_unit_test(a_failed_router_is_left_out),
        cmocka_unit_test(a_closed_port_behind_a_router_is_noticed),
        cmocka_unit_test(a_router_that_alternates_is_read_at_intervals),
        cmocka_unit_test(subnets_behind_subnets_are_learnt),
        cmocka_unit_test(a_ring_has_a_second_way),
        cmocka_unit_test(rules_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
