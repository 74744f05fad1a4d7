/* OpenSM's dump files from a small subnet: two switches, one adapter each. */
#include "host/files/dumps.h"
#include "test.h"

struct fixture {
    struct subnet subnet;
    struct dump_snapshot *snapshot;
    char *text;
    size_t length;
};

/* A switch with four ports, an adapter with one, their LIDs, all links active. */
static uint32_t add(struct subnet *subnet, uint64_t guid, unsigned kind, const char *name,
                    uint16_t lid)
{
    uint32_t node = subnet_add_node(subnet, guid, kind, kind == SUBNET_SWITCH ? 4 : 1);
    struct subnet_node *n = &subnet->nodes.items[node];
    snprintf(n->description, sizeof n->description, "%s", name);
    n->system_guid = guid;
    uint32_t end = n->first_port + (kind == SUBNET_SWITCH ? 0 : 1);
    subnet->ports.items[end].guid = guid + (kind == SUBNET_SWITCH ? 0 : 1);
    subnet_set_lid(subnet, end, lid, 0);
    for (unsigned i = 0; i <= n->port_count; i++) {
        uint8_t *info = subnet->ports.items[n->first_port + i].info;
        wire_set(info, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
        wire_set(info, PORT_INFO_LINK_WIDTH_ACTIVE, 2);
        wire_set(info, PORT_INFO_LINK_SPEED_ACTIVE, 4);
    }
    return node;
}

static void set_table(struct subnet *subnet, uint32_t node, const uint8_t ports[5])
{
    struct subnet_tables *tables = subnet->nodes.items[node].tables;
    memset(tables->actual, 0xFF, tables->length);
    memcpy(tables->actual, ports, 5);
    tables->known[0] = 1;
}

static int make(void **state)
{
    struct fixture *f = mem_zalloc(1, sizeof *f);
    subnet_init(&f->subnet);
    uint32_t h1 = add(&f->subnet, 0x10, SUBNET_ADAPTER, "H1", 1);
    uint32_t s1 = add(&f->subnet, 0x20, SUBNET_SWITCH, "S1", 2);
    uint32_t s2 = add(&f->subnet, 0x21, SUBNET_SWITCH, "S2", 3);
    uint32_t h2 = add(&f->subnet, 0x12, SUBNET_ADAPTER, "H2", 4);
    const struct subnet_node *nodes = f->subnet.nodes.items;
    subnet_link(&f->subnet, nodes[h1].first_port + 1, nodes[s1].first_port + 1);
    subnet_link(&f->subnet, nodes[s1].first_port + 2, nodes[s2].first_port + 3);
    subnet_link(&f->subnet, nodes[s2].first_port + 4, nodes[h2].first_port + 1);
    f->subnet.own_port = nodes[h1].first_port + 1;
    set_table(&f->subnet, s1, (uint8_t[]){0xFF, 1, 0, 2, 2});
    set_table(&f->subnet, s2, (uint8_t[]){0xFF, 3, 3, 0, 4});
    *state = f;
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;
    dump_snapshot_free(f->snapshot);
    free(f->text);
    subnet_release(&f->subnet);
    mem_free(f);
    return 0;
}

static const char *print(struct fixture *f, void (*function)(const struct dump_snapshot *, FILE *))
{
    f->snapshot = dump_snapshot_take(&f->subnet);
    FILE *out = open_memstream(&f->text, &f->length);
    function(f->snapshot, out);
    fclose(out);
    return f->text;
}

static void tables_are_printed_as_opensm_does(void **state)
{
    assert_string_equal(print(*state, dump_print_lfts),
                        "Unicast lids [0-4] of switch Lid 2 guid 0x0000000000000020 ('S1'):\n"
                        "0x0001 001 # Channel Adapter portguid 0x0000000000000011: 'H1'\n"
                        "0x0002 000 # Switch portguid 0x0000000000000020: 'S1'\n"
                        "0x0003 002 # Switch portguid 0x0000000000000021: 'S2'\n"
                        "0x0004 002 # Channel Adapter portguid 0x0000000000000013: 'H2'\n"
                        "4 lids dumped\n"
                        "Unicast lids [0-4] of switch Lid 3 guid 0x0000000000000021 ('S2'):\n"
                        "0x0001 003 # Channel Adapter portguid 0x0000000000000011: 'H1'\n"
                        "0x0002 003 # Switch portguid 0x0000000000000020: 'S1'\n"
                        "0x0003 000 # Switch portguid 0x0000000000000021: 'S2'\n"
                        "0x0004 004 # Channel Adapter portguid 0x0000000000000013: 'H2'\n"
                        "4 lids dumped\n");
}

static void links_are_printed_from_both_ends(void **state)
{
    const char *text = print(*state, dump_print_links);
    const char *first =
        "{ CA-SM Ports:01 SystemGUID:0000000000000010 NodeGUID:0000000000000010 "
        "PortGUID:0000000000000011 VenID:00000000 DevID:0000 Rev:00000000 {H1} LID:0001 PN:01 } "
        "{ SW Ports:04 SystemGUID:0000000000000020 NodeGUID:0000000000000020 "
        "PortGUID:0000000000000020 VenID:00000000 DevID:0000 Rev:00000000 {S1} LID:0002 PN:01 } "
        "PHY=4x LOG=ACT SPD=10\n";
    assert_memory_equal(text, first, strlen(first));
    unsigned lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 6);
    assert_non_null(strstr(text, "{S2} LID:0003 PN:03 } { SW Ports:04"));
}

static void routes_are_printed_with_their_hops(void **state)
{
    assert_string_equal(print(*state, dump_print_routes),
                        "dump_ucast_routes: Switch 0x0000000000000020\n"
                        "LID    : Port : Hops : Optimal\n"
                        "0x0001 : 001  : 01   : yes\n"
                        "0x0002 : 000  : 00   : yes\n"
                        "0x0003 : 002  : 01   : yes\n"
                        "0x0004 : 002  : 02   : yes\n"
                        "dump_ucast_routes: Switch 0x0000000000000021\n"
                        "LID    : Port : Hops : Optimal\n"
                        "0x0001 : 003  : 02   : yes\n"
                        "0x0002 : 003  : 01   : yes\n"
                        "0x0003 : 000  : 00   : yes\n"
                        "0x0004 : 004  : 01   : yes\n");
}

static void a_loop_or_a_hole_is_unreachable(void **state)
{
    struct fixture *f = *state;
    set_table(&f->subnet, 1,
              (uint8_t[]){0xFF, 2, 0, 2, 0xFF}); /* S1 forwards H1's LID back to S2 */
    const char *text = print(f, dump_print_routes);
    assert_non_null(strstr(text, "0x0001 : UNREACHABLE\n0x0002 : 000  : 00   : yes\n"));
    assert_non_null(strstr(text, "0x0004 : UNREACHABLE\ndump_ucast_routes"));
    assert_non_null(strstr(text, "0x0001 : UNREACHABLE\n0x0002 : 003  : 01"));
}

static void unconfirmed_entries_are_not_printed(void **state)
{
    struct fixture *f = *state;
    f->subnet.nodes.items[2].tables->known[0] = 0;
    const char *text = print(f, dump_print_lfts);
    assert_non_null(strstr(text, "('S2'):\n4 lids dumped\n"));
}

static void set_vl_cap(struct subnet *subnet, unsigned vl_cap)
{
    for (size_t i = 0; i < subnet->ports.count; i++)
        wire_set(subnet->ports.items[i].info, PORT_INFO_VL_CAP, vl_cap);
}

/* As in OpenSM, ports without a link are not printed. */
static void with_one_vl_all_sls_map_to_it(void **state)
{
#define HEADER                                                                                     \
    "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n"                                  \
    "#--------------------------------------------------------\n"
#define LANES  ": 0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0 \n"
#define FOOTER "#--------------------------------------------------------\n\n"
    struct fixture *f = *state;
    set_vl_cap(&f->subnet, 1);
    subnet_unlink(&f->subnet, f->subnet.nodes.items[3].first_port + 1);
    assert_string_equal(
        print(f, dump_print_sl2vl),
        "Channel Adapter 0x0000000000000011, base LID 1, \"H1\"\n" HEADER "0   0   " LANES FOOTER
        "Switch 0x0000000000000020, base LID 2, \"S1\"\n" HEADER "0   1   " LANES "1   1   " LANES
        "2   1   " LANES "3   1   " LANES "4   1   " LANES "0   2   " LANES "1   2   " LANES
        "2   2   " LANES "3   2   " LANES "4   2   " LANES FOOTER
        "Switch 0x0000000000000021, base LID 3, \"S2\"\n" HEADER "0   3   " LANES "1   3   " LANES
        "2   3   " LANES "3   3   " LANES "4   3   " LANES FOOTER);
}

static void unknown_sl2vl_tables_are_not_printed(void **state)
{
    struct fixture *f = *state;
    set_vl_cap(&f->subnet, 4);
    const char *text = print(f, dump_print_sl2vl);
    assert_non_null(strstr(text, HEADER "#port 3 has several VLs, its tables were not read\n"));
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        assert_false(*line >= '0' && *line <= '9');
    }
}

static void a_snapshot_does_not_change_with_the_subnet(void **state)
{
    struct fixture *f = *state;
    f->snapshot = dump_snapshot_take(&f->subnet);
    subnet_remove_node(&f->subnet, 2);
    f->subnet.nodes.items[1].tables->actual[4] = 3;
    FILE *out = open_memstream(&f->text, &f->length);
    dump_print_lfts(f->snapshot, out);
    fclose(out);
    assert_non_null(strstr(f->text, "('S2')"));
    assert_non_null(strstr(f->text, "0x0004 002 #"));
}

static void all_files_appear_in_the_directory(void **state)
{
    static const char *const names[] = {"opensm-lfts.dump", "opensm-subnet.lst", "opensm.fdbs",
                                        "opensm-sl2vl.dump", "opensm.mcfdbs"};
    struct fixture *f = *state;
    struct err err = {0};
    char directory[64], path[128];
    make_directory(directory);
    f->snapshot = dump_snapshot_take(&f->subnet);
    assert_int_equal(dump_write(f->snapshot, directory, &err), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(directory), 0); /* no temporary file is left */
    assert_true(dump_write(f->snapshot, "/nowhere/at/all", &err) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tables_are_printed_as_opensm_does, make, end),
        cmocka_unit_test_setup_teardown(links_are_printed_from_both_ends, make, end),
        cmocka_unit_test_setup_teardown(routes_are_printed_with_their_hops, make, end),
        cmocka_unit_test_setup_teardown(a_loop_or_a_hole_is_unreachable, make, end),
        cmocka_unit_test_setup_teardown(unconfirmed_entries_are_not_printed, make, end),
        cmocka_unit_test_setup_teardown(with_one_vl_all_sls_map_to_it, make, end),
        cmocka_unit_test_setup_teardown(unknown_sl2vl_tables_are_not_printed, make, end),
        cmocka_unit_test_setup_teardown(a_snapshot_does_not_change_with_the_subnet, make, end),
        cmocka_unit_test_setup_teardown(all_files_appear_in_the_directory, make, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
