/* PathRecord: paths of the engine, MTU and rate, selectors and components. */
#include "test.h"

#include <stdio.h>

enum { DGID = 2, SGID, DLID, SLID, REVERSIBLE = 11, NUMB_PATH, P_KEY, SL = 15, MTU_SELECTOR, MTU };
enum { RATE_SELECTOR = 18, RATE, LIFE_SELECTOR, LIFE };

static int open_ranges(void **state)
{
    return open_shape(state, &(struct sa_world_shape){.kind = "figure1", .lmc = 2});
}

static int open_renamed(void **state)
{
    return open_shape(state,
                      &(struct sa_world_shape){.kind = "irregular",
                                               .words = {"switches=32", "hosts=40", "ports=8"},
                                               .engine = &engine_dr,
                                               .lmc = 3});
}

static const uint64_t other_prefix = UINT64_C(0xFEC0000000000001);

static int open_prefix(void **state)
{
    struct sa_config config;
    sa_config_init(&config);
    config.prefix = other_prefix;
    return open_shape(state, &(struct sa_world_shape){.kind = "figure1", .config = &config});
}

/* A query for the path between two hosts, by their GIDs. */
static uint8_t *between(struct sa_world *world, unsigned method, const char *from, const char *to,
                        uint64_t more)
{
    uint8_t *path = world_query(world, method, ATTRIBUTE_PATH_RECORD, BIT(SGID) | BIT(DGID) | more);
    set_gid(wire_bytes(path, PATH_RECORD_SGID), PREFIX, world_guid(world, from));
    set_gid(wire_bytes(path, PATH_RECORD_DGID), PREFIX, world_guid(world, to));
    return path;
}

static void a_path_has_the_lids_of_its_ends(void **state)
{
    struct sa_world *world = *state;
    between(world, METHOD_GET, "H4", "H15", 0);
    assert_int_equal(world_send(world), STATUS_OK);
    const uint8_t *path = world_record(world, 0);
    assert_int_equal(wire_get(path, PATH_RECORD_SLID), world_lid(world, "H4"));
    assert_int_equal(wire_get(path, PATH_RECORD_DLID), world_lid(world, "H15"));
    assert_int_equal(wire_get(path, PATH_RECORD_MTU), 5);
    assert_int_equal(wire_get(path, PATH_RECORD_RATE), 3);
    assert_int_equal(wire_get(path, PATH_RECORD_P_KEY), 0xFFFF);
    assert_int_equal(wire_get(path, PATH_RECORD_PACKET_LIFE_TIME), 18);
    assert_true(wire_get(path, PATH_RECORD_REVERSIBLE));
    assert_int_equal(wire_get(world->answer.data, MAD_METHOD), METHOD_GET_RESP);
    assert_int_equal(wire_get(world->answer.data, MAD_TID), 0x1234);
    assert_int_equal(world->answer.bytes, MAD_BYTES);
}

static void mtu_and_rate_are_the_minimum_of_the_links(void **state)
{
    struct sa_world *world = *state;
    /* H15's cable runs at 1X, and its switch can do 2048 bytes only. */
    struct subnet_port *end = world_port(world, "H15", 1);
    struct subnet_port *other = &world->subnet->ports.items[end->peer];
    wire_set(end->info, PORT_INFO_LINK_WIDTH_ACTIVE, 1);
    wire_set(other->info, PORT_INFO_LINK_WIDTH_ACTIVE, 1);
    wire_set(other->info, PORT_INFO_MTU_CAP, 4);
    world_update_view(world);
    between(world, METHOD_GET, "H4", "H15", 0);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(wire_get(world_record(world, 0), PATH_RECORD_MTU), 4);
    assert_int_equal(wire_get(world_record(world, 0), PATH_RECORD_RATE), 2);
    between(world, METHOD_GET, "H15", "H4", 0);
    world_send(world);
    assert_int_equal(wire_get(world_record(world, 0), PATH_RECORD_RATE), 2);
    between(world, METHOD_GET, "H4", "H12", 0);
    world_send(world);
    assert_int_equal(wire_get(world_record(world, 0), PATH_RECORD_RATE), 3);
}

static unsigned rate_with_link(struct sa_world *world, unsigned width, unsigned ext, unsigned ext2)
{
    for (uint32_t i = 0; i < world->subnet->ports.count; i++) {
        struct subnet_port *port = &world->subnet->ports.items[i];
        if (port->peer == SUBNET_NONE)
            continue;
        wire_set(port->info, PORT_INFO_LINK_WIDTH_ACTIVE, width);
        wire_set(port->info, PORT_INFO_LINK_SPEED_ACTIVE, 4);
        wire_set(port->info, PORT_INFO_LINK_SPEED_EXT_ACTIVE, ext);
        wire_set(port->info, PORT_INFO_LINK_SPEED_EXT2_ACTIVE, ext2);
    }
    world_update_view(world);
    between(world, METHOD_GET, "H4", "H12", 0);
    assert_int_equal(world_send(world), STATUS_OK);
    return (unsigned)wire_get(world_record(world, 0), PATH_RECORD_RATE);
}

static void ndr_and_xdr_of_every_width_have_a_rate(void **state)
{
    struct sa_world *world = *state;
    enum { X1 = 1, X4 = 2, X8 = 4, X12 = 8, X2 = 16, NDR = 8, XDR = 1 };
    assert_int_equal(rate_with_link(world, X1, NDR, 0), 16);
    assert_int_equal(rate_with_link(world, X2, NDR, 0), 17);
    assert_int_equal(rate_with_link(world, X4, NDR, 0), 21);
    assert_int_equal(rate_with_link(world, X12, NDR, 0), 24);
    assert_int_equal(rate_with_link(world, X1, 0, XDR), 17);
    assert_int_equal(rate_with_link(world, X2, 0, XDR), 21);
    assert_int_equal(rate_with_link(world, X4, 0, XDR), 23);
    assert_int_equal(rate_with_link(world, X8, 0, XDR), 25);
    assert_int_equal(rate_with_link(world, X12, 0, XDR), 25); /* the highest code */
    assert_int_equal(rate_with_link(world, X2, 1, 0), 19);    /* 28 Gb/s */
}

static unsigned select_mtu(struct sa_world *world, unsigned selector, unsigned value)
{
    uint8_t *path = between(world, METHOD_GET, "H4", "H15", BIT(MTU_SELECTOR) | BIT(MTU));
    wire_set(path, PATH_RECORD_MTU_SELECTOR, selector);
    wire_set(path, PATH_RECORD_MTU, value);
    return world_send(world) ? 0 : (unsigned)wire_get(world_record(world, 0), PATH_RECORD_MTU);
}

static void selectors_choose_the_mtu(void **state)
{
    struct sa_world *world = *state;
    assert_int_equal(select_mtu(world, 0, 4), 5); /* greater than 2048 */
    assert_int_equal(select_mtu(world, 0, 5), 0);
    assert_int_equal(select_mtu(world, 1, 4), 3); /* less than 2048 */
    assert_int_equal(select_mtu(world, 1, 1), 0);
    assert_int_equal(select_mtu(world, 2, 2), 2); /* exactly 512 */
    assert_int_equal(select_mtu(world, 2, 6), 0);
    assert_int_equal(select_mtu(world, 3, 1), 5); /* the largest */
}

static unsigned select_rate(struct sa_world *world, unsigned selector, unsigned value)
{
    uint8_t *path = between(world, METHOD_GET, "H4", "H15", BIT(RATE_SELECTOR) | BIT(RATE));
    wire_set(path, PATH_RECORD_RATE_SELECTOR, selector);
    wire_set(path, PATH_RECORD_RATE, value);
    return world_send(world) ? 0 : (unsigned)wire_get(world_record(world, 0), PATH_RECORD_RATE);
}

static void rates_are_compared_in_megabits(void **state)
{
    struct sa_world *world = *state;               /* all links have 10 Gb/s: code 3 */
    assert_int_equal(select_rate(world, 0, 5), 3); /* greater than 5 Gb/s, whose code is greater */
    assert_int_equal(select_rate(world, 0, 6), 0);
    assert_int_equal(select_rate(world, 1, 3), 5); /* the next below 10 is 5 */
    assert_int_equal(select_rate(world, 1, 6), 3);
    assert_int_equal(select_rate(world, 1, 2), 0);
    assert_int_equal(select_rate(world, 2, 3), 3);
    assert_int_equal(select_rate(world, 2, 2), 0);
    assert_int_equal(select_rate(world, 2, 63), 0); /* no such rate */
}

static void a_selector_without_its_value_is_ignored(void **state)
{
    struct sa_world *world = *state;
    uint8_t *path = between(world, METHOD_GET, "H4", "H15", BIT(MTU_SELECTOR));
    wire_set(path, PATH_RECORD_MTU_SELECTOR, 0);
    wire_set(path, PATH_RECORD_MTU, 5);
    assert_int_equal(world_send(world), STATUS_OK);
}

static void an_unknown_p_key_gives_no_path(void **state)
{
    struct sa_world *world = *state;
    wire_set(between(world, METHOD_GET, "H4", "H15", BIT(P_KEY)), PATH_RECORD_P_KEY, 0x8001);
    assert_int_equal(world_send(world), STATUS_SA_NO_RECORDS);
    wire_set(between(world, METHOD_GET, "H4", "H15", BIT(P_KEY)), PATH_RECORD_P_KEY, 0x7FFF);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(wire_get(world_record(world, 0), PATH_RECORD_P_KEY), 0x7FFF);
}

static void unknown_gids_give_an_invalid_gid_status(void **state)
{
    struct sa_world *world = *state;
    uint8_t *path = between(world, METHOD_GET, "H4", "H15", 0);
    set_gid(wire_bytes(path, PATH_RECORD_DGID), PREFIX, 0x999);
    assert_int_equal(world_send(world), STATUS_SA_BAD_GID);
    path = between(world, METHOD_GET, "H4", "H15", 0);
    set_gid(wire_bytes(path, PATH_RECORD_SGID), PREFIX + 1, world_guid(world, "H4"));
    assert_int_equal(world_send(world), STATUS_SA_BAD_GID);
    path = world_query(world, METHOD_GET, ATTRIBUTE_PATH_RECORD, BIT(SLID) | BIT(DLID));
    wire_set(path, PATH_RECORD_SLID, world_lid(world, "H4"));
    wire_set(path, PATH_RECORD_DLID, 0xB000);
    assert_int_equal(world_send(world), STATUS_SA_NO_RECORDS);
}

/* Queries may have the prefix of the subnet or the default prefix; answers have the former. */
static void gids_have_the_prefix_of_the_subnet(void **state)
{
    struct sa_world *world = *state;
    const uint64_t prefixes[] = {other_prefix, PREFIX};
    uint8_t expected[16];
    set_gid(expected, other_prefix, world_guid(world, "H15"));
    for (unsigned i = 0; i < 2; i++) {
        uint8_t *path = between(world, METHOD_GET, "H4", "H15", 0);
        set_gid(wire_bytes(path, PATH_RECORD_SGID), prefixes[i], world_guid(world, "H4"));
        set_gid(wire_bytes(path, PATH_RECORD_DGID), prefixes[i], world_guid(world, "H15"));
        assert_int_equal(world_send(world), STATUS_OK);
        assert_memory_equal(wire_bytes_const(world_record(world, 0), PATH_RECORD_DGID), expected,
                            16);
    }
    uint8_t *path = between(world, METHOD_GET, "H4", "H15", 0);
    set_gid(wire_bytes(path, PATH_RECORD_DGID), other_prefix + 1, world_guid(world, "H15"));
    assert_int_equal(world_send(world), STATUS_SA_BAD_GID);
}

static void a_lid_and_a_gid_of_different_ports_give_no_path(void **state)
{
    struct sa_world *world = *state;
    uint8_t *path = between(world, METHOD_GET, "H4", "H15", BIT(DLID));
    wire_set(path, PATH_RECORD_DLID, world_lid(world, "H12"));
    assert_int_equal(world_send(world), STATUS_SA_NO_RECORDS);
}

static void a_table_of_all_paths_has_every_pair_once(void **state)
{
    struct sa_world *world = *state;
    bool seen[16][16] = {{false}};
    world_query(world, METHOD_GET_TABLE, ATTRIBUTE_PATH_RECORD, 0);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(world_record_count(world), 15 * 15);
    assert_int_equal(wire_get(world->answer.data, RMPP_FLAGS), RMPP_FLAG_ACTIVE);
    for (unsigned i = 0; i < 15 * 15; i++) {
        const uint8_t *path = world_record(world, i);
        uint64_t from = wire_get(path, PATH_RECORD_SLID), to = wire_get(path, PATH_RECORD_DLID);
        assert_in_range(from, 1, 15);
        assert_in_range(to, 1, 15);
        assert_false(seen[from][to]);
        seen[from][to] = true;
        assert_true(wire_get(path, PATH_RECORD_PACKET_LIFE_TIME) == (from == to ? 0u : 18u));
    }
}

static void a_range_of_lids_gives_several_paths(void **state)
{
    struct sa_world *world = *state;
    bool seen[4][4] = {{false}};
    between(world, METHOD_GET_TABLE, "H4", "H15", 0);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(world_record_count(world), 16);
    for (unsigned i = 0; i < 16; i++) {
        const uint8_t *path = world_record(world, i);
        uint64_t from = wire_get(path, PATH_RECORD_SLID) - world_lid(world, "H4");
        uint64_t to = wire_get(path, PATH_RECORD_DLID) - world_lid(world, "H15");
        assert_true(from < 4 && to < 4 && !seen[from][to]);
        seen[from][to] = true;
        assert_int_equal(wire_get(path, PATH_RECORD_PREFERENCE), from == to ? 0 : 2);
    }
    wire_set(between(world, METHOD_GET_TABLE, "H4", "H15", BIT(NUMB_PATH)), PATH_RECORD_NUMB_PATH,
             3);
    world_send(world);
    assert_int_equal(world_record_count(world), 3);
    wire_set(between(world, METHOD_GET_TABLE, "H4", "H15", BIT(DLID)), PATH_RECORD_DLID,
             world_lid(world, "H15") + 2u);
    world_send(world);
    assert_int_equal(world_record_count(world), 4);
}

static int open_tree(void **state)
{
    return open_shape(state,
                      &(struct sa_world_shape){.kind = "kary", .words = {"k=3", "n=2"}, .lmc = 1});
}

/* The channels of a path, both directions as one. */
static void mark_channels(const struct sa_world *world, unsigned from, unsigned to, bool *channels)
{
    const struct network *network = &world->network;
    uint32_t at = network_switch_of(network, network_owner(network, from));
    uint32_t target = network_switch_of(network, network_owner(network, to));
    while (at != target) {
        unsigned port = routes_port(&world->routes, at, to);
        const struct network_port *link = network_link_at(network, at, port);
        uint32_t next = network_next(network, at, port);
        assert_non_null(link);
        uint32_t here = network->switches.items[at].first_port + port;
        uint32_t there = network->switches.items[next].first_port + link->peer_port;
        channels[here < there ? here : there] = true;
        at = next;
    }
}

static unsigned channels_shared(const struct sa_world *world, const uint8_t *a, const uint8_t *b)
{
    bool passed[2][1024] = {{false}};
    const uint8_t *paths[] = {a, b};
    unsigned shared = 0;
    assert_true(world->network.ports.count <= 1024);
    for (unsigned i = 0; i < 2; i++) {
        unsigned slid = (unsigned)wire_get(paths[i], PATH_RECORD_SLID);
        unsigned dlid = (unsigned)wire_get(paths[i], PATH_RECORD_DLID);
        mark_channels(world, slid, dlid, passed[i]);
        mark_channels(world, dlid, slid, passed[i]);
    }
    for (unsigned i = 0; i < 1024; i++)
        shared += passed[0][i] && passed[1][i];
    return shared;
}

/* A client that takes the first two records as primary and alternate path has the best two. */
static void the_first_two_paths_share_the_least(void **state)
{
    struct sa_world *world = *state;
    unsigned reordered = 0;
    for (unsigned host = 3; host < 9; host++) {
        char name[8];
        uint8_t records[4][WIRE_BYTES_PATH_RECORD];
        snprintf(name, sizeof name, "H%u", host);
        between(world, METHOD_GET_TABLE, "H0", name, 0);
        assert_int_equal(world_send(world), STATUS_OK);
        assert_int_equal(world_record_count(world), 4);
        for (unsigned i = 0; i < 4; i++)
            memcpy(records[i], world_record(world, i), WIRE_BYTES_PATH_RECORD);
        unsigned first = channels_shared(world, records[0], records[1]);
        for (unsigned i = 0; i < 4; i++)
            for (unsigned j = 0; j < i; j++)
                assert_true(first <= channels_shared(world, records[j], records[i]));
        reordered += wire_get(records[0], PATH_RECORD_SLID) != world_lid(world, "H0") ||
                     wire_get(records[0], PATH_RECORD_DLID) != world_lid(world, name);
        wire_set(between(world, METHOD_GET_TABLE, "H0", name, BIT(NUMB_PATH)),
                 PATH_RECORD_NUMB_PATH, 2);
        world_send(world);
        assert_int_equal(world_record_count(world), 2);
        for (unsigned i = 0; i < 2; i++)
            assert_memory_equal(world_record(world, i), records[i], WIRE_BYTES_PATH_RECORD);
    }
    print_message("%u of 6 answers have another path first\n", reordered);
    assert_true(reordered > 0);
}

/* Follows the tables by hand. */
static bool leads(const struct sa_world *world, uint64_t from_guid, uint64_t dlid, uint64_t to_guid)
{
    const struct network *network = &world->network;
    uint32_t at = 0;
    while (network->terminals.items[at].guid != from_guid)
        at++;
    at = network->terminals.items[at].at | NETWORK_SWITCH;
    for (unsigned hops = 0; at & NETWORK_SWITCH && hops < 20; hops++) {
        uint32_t index = at & ~NETWORK_SWITCH;
        unsigned port = routes_port(&world->routes, index, (uint32_t)dlid);
        if (port == PORT_NONE)
            return false;
        at = network->ports.items[network->switches.items[index].first_port + port].peer;
    }
    return !(at & NETWORK_SWITCH) && network->terminals.items[at].guid == to_guid;
}

static void renamed_destinations_have_the_engines_dlid_in_both_directions(void **state)
{
    struct sa_world *world = *state;
    unsigned renamed = 0;
    for (uint32_t i = 0; i < world->network.terminals.count; i++)
        for (uint32_t j = 0; j < world->network.terminals.count; j++) {
            struct path there = path_lookup(&world->routes, &world->network, i, j);
            struct path back = path_lookup(&world->routes, &world->network, j, i);
            uint64_t from = world->network.terminals.items[i].guid;
            uint64_t to = world->network.terminals.items[j].guid;
            uint8_t *path =
                world_query(world, METHOD_GET_TABLE, ATTRIBUTE_PATH_RECORD, BIT(SGID) | BIT(DGID));
            set_gid(wire_bytes(path, PATH_RECORD_SGID), PREFIX, from);
            set_gid(wire_bytes(path, PATH_RECORD_DGID), PREFIX, to);
            assert_int_equal(world_send(world), STATUS_OK);
            assert_int_equal(world_record_count(world), 1);
            const uint8_t *record = world_record(world, 0);
            assert_int_equal(wire_get(record, PATH_RECORD_DLID), there.dlid);
            assert_int_equal(wire_get(record, PATH_RECORD_SLID), back.dlid);
            assert_true(wire_get(record, PATH_RECORD_REVERSIBLE));
            assert_true(i == j || leads(world, from, there.dlid, to));
            renamed += there.dlid != world->network.terminals.items[j].lid;
        }
    assert_true(renamed > 0);
}

static void a_dlid_that_the_engine_did_not_choose_is_refused(void **state)
{
    struct sa_world *world = *state;
    const struct network_terminal *from = &world->network.terminals.items[0];
    const struct network_terminal *to = &world->network.terminals.items[1];
    unsigned chosen = path_lookup(&world->routes, &world->network, 0, 1).dlid, granted = 0;
    for (unsigned dlid = to->lid; dlid < to->lid + 8u; dlid++) {
        uint8_t *path =
            world_query(world, METHOD_GET, ATTRIBUTE_PATH_RECORD, BIT(SGID) | BIT(DLID));
        set_gid(wire_bytes(path, PATH_RECORD_SGID), PREFIX, from->guid);
        wire_set(path, PATH_RECORD_DLID, dlid);
        bool refused = world_send(world) == STATUS_SA_NO_RECORDS;
        assert_true(refused == (dlid != chosen));
        granted += !refused;
    }
    assert_int_equal(granted, 1);
}

static void a_link_failure_does_not_change_paths_in_force(void **state)
{
    struct sa_world *world = *state;
    struct subnet_port *end = world_port(world, "H15", 1);
    uint32_t index = (uint32_t)(end - world->subnet->ports.items);
    subnet_unlink(world->subnet, index);
    wire_set(end->info, PORT_INFO_LINK_WIDTH_ACTIVE, 0);
    sa_update_view(world->sa, world->now, &world->view); /* the same routes */
    between(world, METHOD_GET, "H4", "H15", 0);
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(wire_get(world_record(world, 0), PATH_RECORD_RATE), 3);
}

static void many_paths_are_found_with_one_multi_path_query(void **state)
{
    enum { SGIDS = 19, DGIDS = 20 };
    struct sa_world *world = *state;
    static const char *const names[] = {"H4", "H7", "H12", "H13", "H15"};
    uint8_t *query =
        world_query(world, METHOD_GET_MULTI, ATTRIBUTE_MULTI_PATH_RECORD, BIT(SGIDS) | BIT(DGIDS));
    wire_set(query, MULTI_PATH_RECORD_SGID_COUNT, 2);
    wire_set(query, MULTI_PATH_RECORD_DGID_COUNT, 3);
    for (unsigned i = 0; i < 5; i++)
        set_gid(query + WIRE_BYTES_MULTI_PATH_RECORD + 16u * i, PREFIX,
                world_guid(world, names[i]));
    assert_int_equal(world_send(world), STATUS_OK);
    assert_int_equal(wire_get(world->answer.data, MAD_ATTRIBUTE_ID), ATTRIBUTE_PATH_RECORD);
    assert_int_equal(wire_get(world->answer.data, MAD_METHOD), METHOD_GET_MULTI_RESP);
    assert_int_equal(world_record_count(world), 6);
    bool seen[16][16] = {{false}};
    for (unsigned i = 0; i < 6; i++) {
        uint64_t from = wire_get(world_record(world, i), PATH_RECORD_SLID);
        uint64_t to = wire_get(world_record(world, i), PATH_RECORD_DLID);
        assert_true(from == world_lid(world, "H4") || from == world_lid(world, "H7"));
        assert_true(to < 16 && !seen[from][to]);
        seen[from][to] = true;
    }
    /* The first two share no port. */
    const uint8_t *first = world_record(world, 0), *second = world_record(world, 1);
    assert_int_not_equal(wire_get(first, PATH_RECORD_SLID), wire_get(second, PATH_RECORD_SLID));
    assert_int_not_equal(wire_get(first, PATH_RECORD_DLID), wire_get(second, PATH_RECORD_DLID));
    wire_set(query, MULTI_PATH_RECORD_DGID_COUNT, 200); /* more than the message has */
    assert_int_equal(world_send(world), STATUS_SA_BAD_REQUEST);
}

static void a_trace_has_every_node_on_the_path(void **state)
{
    struct sa_world *world = *state;
    between(world, METHOD_GET_TRACE_TABLE, "H4", "H15", 0);
    assert_int_equal(world_send(world), STATUS_OK);
    unsigned count = world_record_count(world);
    assert_int_equal(wire_get(world->answer.data, MAD_ATTRIBUTE_ID), ATTRIBUTE_TRACE_RECORD);
    assert_true(count >= 3);
    assert_int_equal(wire_get(world_record(world, 0), TRACE_RECORD_NODE_TYPE), SUBNET_ADAPTER);
    assert_int_equal(wire_get(world_record(world, 0), TRACE_RECORD_EXIT_PORT), 1);
    assert_int_equal(wire_get(world_record(world, count - 1), TRACE_RECORD_ENTRY_PORT_ID),
                     world_guid(world, "H15"));
    for (unsigned i = 1; i + 1 < count; i++) {
        /* the exit port is connected to the next entry port */
        const uint8_t *here = world_record(world, i), *next = world_record(world, i + 1);
        uint32_t node = map_get(&world->subnet->by_guid, wire_get(here, TRACE_RECORD_NODE_ID));
        const struct subnet_port *out =
            subnet_port_at(world->subnet, node, (unsigned)wire_get(here, TRACE_RECORD_EXIT_PORT));
        const struct subnet_port *in = &world->subnet->ports.items[out->peer];
        assert_int_equal(wire_get(here, TRACE_RECORD_NODE_TYPE), SUBNET_SWITCH);
        assert_int_equal(world->subnet->nodes.items[in->node].guid,
                         wire_get(next, TRACE_RECORD_NODE_ID));
        assert_int_equal(in->number, wire_get(next, TRACE_RECORD_ENTRY_PORT));
    }
}

#define WITH(open, name) cmocka_unit_test_setup_teardown(name, open, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_path_has_the_lids_of_its_ends),
        TEST(mtu_and_rate_are_the_minimum_of_the_links),
        TEST(selectors_choose_the_mtu),
        TEST(ndr_and_xdr_of_every_width_have_a_rate),
        TEST(rates_are_compared_in_megabits),
        TEST(a_selector_without_its_value_is_ignored),
        TEST(an_unknown_p_key_gives_no_path),
        TEST(unknown_gids_give_an_invalid_gid_status),
        WITH(open_prefix, gids_have_the_prefix_of_the_subnet),
        TEST(a_lid_and_a_gid_of_different_ports_give_no_path),
        TEST(a_table_of_all_paths_has_every_pair_once),
        WITH(open_ranges, a_range_of_lids_gives_several_paths),
        WITH(open_tree, the_first_two_paths_share_the_least),
        WITH(open_renamed, renamed_destinations_have_the_engines_dlid_in_both_directions),
        WITH(open_renamed, a_dlid_that_the_engine_did_not_choose_is_refused),
        TEST(a_link_failure_does_not_change_paths_in_force),
        TEST(many_paths_are_found_with_one_multi_path_query),
        TEST(a_trace_has_every_node_on_the_path),
    };
    return RUN(tests);
}
