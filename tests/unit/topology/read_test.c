#include "support.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define DATA TEST_DATA_DIR "/topology/"

/* Reads text that must fail, and checks the line and a part of the message. */
static void assert_refused(const char *text, unsigned line, const char *part)
{
    struct topology topology;
    struct err err = {0};
    char message[1024];
    topology_init(&topology);
    topology_add_node(&topology, NODE_SWITCH, "old", 4, 0, NULL, NULL);
    assert_int_equal(topology_read(&topology, from_text("net", text, &err)), -EINVAL);
    err_text(&err, message, sizeof message);
    if (err.line != line || !strstr(message, part) || strcmp(err.file, "net") != 0)
        fail_msg("'%s' is not about line %u and '%s'", message, line, part);
    assert_int_equal(topology.nodes.count, 1);
    topology_release(&topology);
}

static void odd_dumps_are_read_in_full(void **state)
{
    struct topology t;
    must_read_file(&t, DATA "odd.dump");
    assert_int_equal(t.nodes.count, 6);
    const struct topology_node *core = &t.nodes.items[must_find(&t, "S-0002c9020040aa00")];
    assert_string_equal(core->description, "MF0;core-1:MQM8700/U1 \"rack #7\"");
    assert_true(core->enhanced_port0);
    assert_int_equal(core->vendor_id, 0x2c9);
    assert_int_equal(core->device_id, 0xd2f0);
    assert_int_equal(core->system_guid, 0x2c9020040aa03);
    assert_int_equal(port_of(&t, core->name, 0)->lid, 4);
    assert_int_equal(port_of(&t, core->name, 0)->guid, 0x2c9020040aa01);
    assert_string_equal(t.nodes.items[1].description, "leaf lid 9 4xSDR \"x\"");
    assert_int_equal(port_of(&t, t.nodes.items[1].name, 0)->lid, 5);
    assert_linked(&t, "node01 HCA-1", 1, core->name, 1);
    assert_linked(&t, "node01 HCA-1", 2, core->name, 2);
    assert_linked(&t, core->name, 3, "S-0002c9020040bb00", 36);
    assert_linked(&t, core->name, 4, "S-0002c9020040bb00", 35);
    assert_linked(&t, core->name, 5, "gateway é # 1", 1);
    assert_linked(&t, core->name, 7, "lone (scp)", 2);
    assert_int_equal(port_of(&t, core->name, 6)->peer, TOPOLOGY_NONE);
    assert_int_equal(t.nodes.items[must_find(&t, "gateway é # 1")].kind, NODE_ROUTER);
    topology_release(&t);
}

static void a_link_without_width_and_speed_is_4x_sdr(void **state)
{
    struct topology t;
    must_read(&t, "Hca 1 \"a\"\n[1] \"b\"[1]\n\nHca 1 \"b\"\n[1] \"a\"[1]\n");
    assert_int_equal(port_of(&t, "a", 1)->width, WIDTH_4X);
    assert_int_equal(port_of(&t, "a", 1)->speed, SPEED_SDR);
    topology_release(&t);
}

static void dumps_give_lids_speeds_and_port_guids(void **state)
{
    struct topology t;
    must_read_file(&t, DATA "odd.dump");
    const struct topology_port *port = port_of(&t, "node01 HCA-1", 1);
    assert_int_equal(port->lid, 1);
    assert_int_equal(port->lmc, 2);
    assert_int_equal(port->guid, 0x2c90300aaaa01);
    assert_int_equal(port->width, WIDTH_4X);
    assert_int_equal(port->speed, SPEED_HDR);
    assert_int_equal(port_of(&t, "node01 HCA-1", 2)->speed, SPEED_EDR);
    assert_int_equal(port_of(&t, "S-0002c9020040bb00", 35)->width, WIDTH_2X);
    assert_int_equal(port_of(&t, "S-0002c9020040bb00", 35)->speed, SPEED_NDR);
    assert_int_equal(port_of(&t, "gateway é # 1", 1)->width, WIDTH_12X);
    assert_int_equal(port_of(&t, "gateway é # 1", 1)->speed, SPEED_FDR10);
    assert_int_equal(port_of(&t, "lone (scp)", 2)->lid, 0);
    assert_int_equal(port_of(&t, "lone (scp)", 2)->guid, 0x2c90300dddd02);
    /* no sysimgguid line: the node's own; and its free port must not take a neighbour's GUID */
    assert_int_equal(t.nodes.items[must_find(&t, "lone (scp)")].system_guid, 0x2c90300dddd00);
    assert_int_not_equal(port_of(&t, "lone (scp)", 1)->guid, 0);
    assert_int_not_equal(port_of(&t, "lone (scp)", 1)->guid, 0x2c90300dddd01);
    topology_release(&t);
}

static void ibsim_nets_with_modules_and_aliases_are_read(void **state)
{
    struct topology t;
    must_read_file(&t, DATA "modules.net");
    assert_int_equal(t.nodes.count, 6);
    assert_linked(&t, "near#Switch1", 1, "near#Hca1", 1);
    assert_linked(&t, "near#Switch1", 2, "far#Switch1", 3);
    assert_linked(&t, "near#Switch1", 3, "far#Switch1", 4);
    assert_linked(&t, "near#Switch1", 5, "near#Hca2", 1);
    assert_linked(&t, "far#Switch1", 2, "far#Hca2", 1);
    assert_int_equal(port_of(&t, "near#Hca1", 1)->width, WIDTH_1X);
    assert_int_equal(port_of(&t, "near#Hca1", 1)->speed, SPEED_DDR);
    assert_int_equal(port_of(&t, "near#Hca2", 1)->width, WIDTH_4X);
    assert_int_equal(port_of(&t, "near#Hca2", 1)->speed, SPEED_EDR);
    assert_int_equal(port_of(&t, "far#Switch1", 3)->width, WIDTH_4X);
    assert_int_equal(port_of(&t, "far#Switch1", 3)->speed, SPEED_DDR);
    assert_int_equal(port_of(&t, "near#Switch1", 3)->length_mm, 3000);
    topology_release(&t);
}

static void ibsim_guids_count_on_from_the_last_one(void **state)
{
    struct topology t;
    must_read_file(&t, DATA "modules.net");
    const struct topology_node *nodes = t.nodes.items;
    assert_int_equal(nodes[must_find(&t, "near#Switch1")].guid, 0x200000);
    assert_int_equal(nodes[must_find(&t, "near#Hca1")].guid, 0x100000);
    assert_int_equal(nodes[must_find(&t, "near#Hca2")].guid, 0x100003);
    assert_int_equal(port_of(&t, "near#Hca2", 1)->guid, 0x100004);
    assert_int_equal(nodes[must_find(&t, "far#Switch1")].guid, 0x500);
    assert_int_equal(nodes[must_find(&t, "far#Hca1")].guid, 0x900);
    assert_int_equal(nodes[must_find(&t, "far#Hca2")].guid, 0x920);
    /* vendid applies to one node, devid to all following ones; a comment is a description */
    assert_int_equal(nodes[must_find(&t, "far#Switch1")].vendor_id, 0x8f1);
    assert_int_equal(nodes[must_find(&t, "far#Hca1")].vendor_id, 0);
    assert_int_equal(nodes[must_find(&t, "far#Hca2")].device_id, 0x11);
    assert_string_equal(nodes[must_find(&t, "far#Switch1")].description, "spare enclosure");
    assert_string_equal(nodes[must_find(&t, "far#Hca1")].description, "far#Hca1");
    topology_release(&t);
}

static void ibsims_own_examples_are_read(void **state)
{
    static const struct {
        const char *name;
        unsigned nodes, links;
    } nets[] = {
        {"net", 4, 4},
        {"net.1", 3, 2},
        {"net.2sw2path", 4, 4},
        {"net.2sw2path4hca", 6, 6},
        {"net.2sw2path4hca2port", 4, 6},
    };
    for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++) {
        char path[256];
        struct topology t;
        unsigned ends = 0;
        snprintf(path, sizeof path, "/usr/share/doc/ibsim-utils/net-examples/%s", nets[i].name);
        if (access(path, R_OK) != 0)
            skip();
        must_read_file(&t, path);
        for (size_t p = 0; p < t.ports.count; p++)
            ends += t.ports.items[p].peer != TOPOLOGY_NONE;
        assert_int_equal(t.nodes.count, nets[i].nodes);
        assert_int_equal(ends, 2 * nets[i].links);
        assert_survives_writing(&t);
        topology_release(&t);
    }
}

static void a_written_fabric_reads_back_the_same(void **state)
{
    static const char *const files[] = {DATA "odd.dump", DATA "modules.net"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct topology t;
        must_read_file(&t, files[i]);
        assert_survives_writing(&t);
        topology_release(&t);
    }
}

static void the_slower_end_decides(void **state)
{
    struct topology t;
    must_read(&t, "Switch 2 \"a\"\n[1] \"b\"[1] # \"b\" lid 1 4xEDR\n"
                  "Switch 2 \"b\"\r\n[1] \"a\"[1] # \"a\" lid 1 2xQDR\r\n");
    assert_int_equal(port_of(&t, "a", 1)->speed, SPEED_QDR);
    assert_int_equal(port_of(&t, "a", 1)->width, WIDTH_2X);
    topology_release(&t);
    assert_refused("Switch 2 \"a\"\n[1] \"b\"[1] w=1\nSwitch 2 \"b\"\n[1] \"a\"[1] w=2\n", 2,
                   "no width in common");
}

static void links_that_disagree_are_errors(void **state)
{
    assert_refused("Switch 4 \"a\"\n[1] \"b\"[2]\n\nSwitch 4 \"b\"\n[2] \"a\"[3]\n", 2,
                   "line 5 says that port 2 of \"b\" is linked to port 3 of \"a\"");
    assert_refused("Switch 4 \"a\"\n[1] \"c\"[1]\n[2] \"c\"[1]\nHca 1 \"c\"\n", 3,
                   "port 1 of \"c\" has a link already");
    assert_refused("Switch 4 \"a\"\n[1] \"a\"[1]\n", 2, "linked to itself");
    assert_refused("Switch 4 \"a\"\n[1] \"b\"[1]\n", 2, "no node \"b\"");
    assert_refused("Switch 4 \"a\"\n[1] \"b\"[5]\nSwitch 4 \"b\"\n", 2, "\"b\" has no port 5");
    assert_refused("Switch 4 \"a\"\n[1] \"b\"[1](99)\nHca 1 \"b\"\n[1](98) \"a\"[1]\n", 2,
                   "port GUID is 0x98, not 0x99");
}

static void a_dump_without_one_end_of_a_link_is_an_error(void **state)
{
    assert_refused("switchguid=0x1(1)\nSwitch 4 \"S-0000000000000001\"\n"
                   "[1] \"S-0000000000000002\"[2]\n"
                   "switchguid=0x2(2)\nSwitch 4 \"S-0000000000000002\"\n",
                   3, "other end, port 2 of \"S-0000000000000002\", is not listed");
}

static void duplicates_are_errors(void **state)
{
    assert_refused("Switch 4 \"a\"\n[1] \"b\"[1]\n[1] \"b\"[2]\nSwitch 4 \"b\"\n", 3,
                   "port 1 of \"a\" is listed in line 2");
    assert_refused("Switch 4 \"a\"\nSwitch 4 \"a\"\n", 2, "already a node \"a\"");
    assert_refused("switchguid=0x5\nSwitch 4 \"a\"\ncaguid=0x5\nCa 1 \"b\"\n", 4,
                   "GUID 0x0000000000000005 belongs to node \"a\"");
    assert_refused("Switch 4 \"a\"\nCa 2 \"b\"\n[1](7) \"a\"[1]\n[2](7) \"a\"[2]\n", 4,
                   "GUID 0x0000000000000007");
    assert_refused("Switch 4 \"a\"\nCa 1 \"b\"\n[1](7) \"a\"[1]\nCa 1 \"c\"\n[1](7) \"a\"[2]\n", 5,
                   "belongs to node \"b\"");
    assert_refused("Switch 4 \"a\"\n@[1] \"x\"\n@[2] \"x\"\n", 3, "alias \"x\" is taken");
}

static void errors_have_the_line(void **state)
{
    assert_refused("", 0, "no fabric in it");
    assert_refused("# nothing\n\n", 0, "no fabric in it");
    assert_refused("\nhello\n", 2, "expected Switch");
    assert_refused("Switch 255 \"a\"\n", 1, "number of ports from 1 to 254");
    assert_refused("Switch \"a\"\n", 1, "number of ports");
    assert_refused("Switch 4 a\n", 1, "name in quotes");
    assert_refused("Switch 4 \"a\n", 1, "name in quotes");
    assert_refused("Switch 4 \"a\" b\n", 1, "unexpected text");
    assert_refused("[1] \"a\"[1]\n", 1, "outside of a node's record");
    assert_refused("Switch 4 \"a\"\n[5] \"b\"[1]\n", 2, "ports 1 to 4");
    assert_refused("Switch 4 \"a\"\n[0] \"b\"[1]\n", 2, "ports 1 to 4");
    assert_refused("Switch 4 \"a\"\n[1 \"b\"[1]\n", 2, "port number as [N]");
    assert_refused("Switch 4 \"a\"\n[1] b[1]\n", 2, "peer's name");
    assert_refused("Switch 4 \"a\"\n[1] \"b\"[0]\n", 2, "peer's port is 0");
    assert_refused("Switch 4 \"a\"\n[1] \"b\"[x]\n", 2, "peer's port number");
    assert_refused("Switch 4 \"a\"\n[1] \"b\"[1] w=32\n", 2, "'w=32'");
    assert_refused("Switch 4 \"a\"\n[1] \"b\"[1] q=3\n", 2, "expected w=");
    assert_refused("Switch 4 \"a\"\n[1] \"b\"[1] length=0m\n", 2, "'length=0m'");
    assert_refused("switchguid=x\n", 1, "number");
    assert_refused("switchguid 5\n", 1, "expected '='");
    assert_refused("caguid=0\nCa 1 \"a\"\n", 2, "GUID cannot be 0");
    assert_refused("caguid=0x11112222333344445\n", 1, "number");
    assert_refused("vendid=0x1000000\n", 1, "up to 0xffffff");
    assert_refused("Switch 4 \"a\" # \"a\" base port 0 lid 49152 lmc 0\n", 1, "LID 49152");
    assert_refused("Switch 4 \"a\" # \"a\" base port 0 lid 2 lmc 8\n", 1, "LMC 8");
    assert_refused("include \"x\"\n", 1, "works in files only");
    assert_refused("do Link\n", 1, "ibsim's console");
}

static void a_list_of_nodes_is_refused_by_name(void **state)
{
    assert_refused("Switch\t : 0x0002c9020040aa00 ports 36 devid 0xd2f0 vendid 0x2c9 \"x\"\n", 1,
                   "ibnetdiscover -l");
}

static void binary_files_and_endless_lines_are_refused(void **state)
{
    struct topology t;
    struct err err;
    static char line[5000];
    topology_init(&t);
    assert_int_equal(topology_read(&t, from_bytes("net", "Switch\0", 7, &err)), -EINVAL);
    assert_non_null(strstr(err.message, "zero byte"));
    memset(line, 'x', sizeof line);
    assert_int_equal(topology_read(&t, from_bytes("net", line, sizeof line, &err)), -EINVAL);
    assert_non_null(strstr(err.message, "longer than"));
    assert_int_equal(topology_read(&t, from_file(DATA "absent.net", &err)), -ENOENT);
    assert_int_equal(topology_read(&t, from_file("/", &err)), -EISDIR);
    topology_release(&t);
}

static void includes_that_never_end_are_refused(void **state)
{
    char path[] = "/tmp/weft-read-test-XXXXXX", text[64];
    struct topology t;
    struct err err;
    int file = mkstemp(path);
    assert_true(file >= 0);
    int length = snprintf(text, sizeof text, "include \"%s\"\n", path);
    assert_int_equal(write(file, text, (size_t)length), length);
    close(file);
    topology_init(&t);
    assert_int_equal(topology_read(&t, from_file(path, &err)), -EINVAL);
    assert_non_null(strstr(err.message, "nested"));
    unlink(path);
    topology_release(&t);
}

static double seconds_since(clock_t start)
{
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static void a_tree_of_11664_hosts_takes_under_a_second_each_way(void **state)
{
    struct topology t, again;
    struct text text = {0};
    clock_t start = clock();
    must_generate(&t, "fattree 11664", 1);
    assert_true(seconds_since(start) < 1);
    start = clock();
    topology_write_ibnetdiscover(&t, &text);
    assert_true(seconds_since(start) < 1);
    start = clock();
    must_read(&again, text.data);
    assert_true(seconds_since(start) < 1);
    assert_same_fabric(&t, &again);
    text_release(&text);
    topology_release(&t);
    topology_release(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_dumps_are_read_in_full),
        cmocka_unit_test(a_link_without_width_and_speed_is_4x_sdr),
        cmocka_unit_test(dumps_give_lids_speeds_and_port_guids),
        cmocka_unit_test(ibsim_nets_with_modules_and_aliases_are_read),
        cmocka_unit_test(ibsim_guids_count_on_from_the_last_one),
        cmocka_unit_test(ibsims_own_examples_are_read),
        cmocka_unit_test(a_written_fabric_reads_back_the_same),
        cmocka_unit_test(the_slower_end_decides),
        cmocka_unit_test(links_that_disagree_are_errors),
        cmocka_unit_test(a_dump_without_one_end_of_a_link_is_an_error),
        cmocka_unit_test(duplicates_are_errors),
        cmocka_unit_test(errors_have_the_line),
        cmocka_unit_test(a_list_of_nodes_is_refused_by_name),
        cmocka_unit_test(binary_files_and_endless_lines_are_refused),
        cmocka_unit_test(includes_that_never_end_are_refused),
        cmocka_unit_test(a_tree_of_11664_hosts_takes_under_a_second_each_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
