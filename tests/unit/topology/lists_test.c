/* Other dumps than ibnetdiscover's plain output, and lines that are not part of a dump. The files
 * mixed.* are output of infiniband-diags and OpenSM on a weft fabric of mixed.net. */
#include "support.h"

#include "topology/analysis/diff.h"

#include <errno.h>
#include <stdlib.h>

#define DATA TEST_DATA_DIR "/topology/mixed."

static void assert_refused(const char *text, unsigned line, const char *part)
{
    struct topology topology;
    struct err err = {0};
    topology_init(&topology);
    assert_int_equal(topology_read(&topology, from_text("net", text, &err)), -EINVAL);
    if (err.line != line || !strstr(err.message, part))
        fail_msg("'%s' (line %u) is not about line %u and '%s'", err.message, err.line, line, part);
    topology_release(&topology);
}

/* Same nodes, links, widths and speeds. */
static void assert_same(const struct topology *plan, const struct topology *actual)
{
    struct topology_diff diff;
    struct text text = {0};
    topology_diff(&diff, plan, actual);
    for (size_t i = 0; i < diff.items.count; i++)
        topology_diff_print(&diff, &diff.items.items[i], &text);
    if (diff.items.count)
        fail_msg("%zu differences: %s", diff.items.count, text.data);
    topology_diff_release(&diff);
}

static void every_list_of_ports_describes_the_same_fabric(void **state)
{
    static const char *const files[] = {
        DATA "dump", DATA "ports", DATA "linkinfo", DATA "linkinfo-line", DATA "linkinfo-switches",
        DATA "lst"};
    struct topology plan;
    must_read_file(&plan, DATA "net");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct topology t;
        must_read_file(&t, files[i]);
        assert_int_equal(t.nodes.count, plan.nodes.count);
        assert_same(&plan, &t);
        assert_int_equal(port_of(&t, "spine", 1)->width, WIDTH_12X);
        assert_int_equal(port_of(&t, "spine", 1)->speed, SPEED_EDR);
        assert_int_equal(port_of(&t, "spine", 0)->lid, 3);
        assert_null(t.warning);
        topology_release(&t);
    }
    topology_release(&plan);
}

static void lists_give_guids_and_lids_of_adapter_ports(void **state)
{
    static const char *const files[] = {DATA "ports", DATA "linkinfo", DATA "linkinfo-line",
                                        DATA "lst"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct topology t;
        must_read_file(&t, files[i]);
        assert_int_equal(port_of(&t, "h5", 2)->guid, 0x10000a);
        assert_int_equal(port_of(&t, "h5", 2)->lid, 16);
        assert_int_equal(t.nodes.items[must_find(&t, "h5")].guid, 0x100008);
        topology_release(&t);
    }
}

static void two_ports_of_an_adapter_are_one_node(void **state)
{
    struct topology t;
    must_read(&t,
              "CA  5  2 0x0000000000000012 4x EDR - SW  1  2 0x00000000000000a0 ( 'h' - 's' )\n"
              "CA  4  1 0x0000000000000011 4x EDR - SW  1  1 0x00000000000000a0 ( 'h' - 's' )\n"
              "CA  6  1 0x0000000000000021 4x EDR - SW  1  3 0x00000000000000a0 ( 'h' - 's' )\n"
              "SW  1  3 0x00000000000000a0 4x EDR - CA  6  1 0x0000000000000021 ( 's' - 'h' )\n"
              "SW  1  2 0x00000000000000a0 4x EDR - CA  5  2 0x0000000000000012 ( 's' - 'h' )\n"
              "SW  1  1 0x00000000000000a0 4x EDR - CA  4  1 0x0000000000000011 ( 's' - 'h' )\n");
    assert_int_equal(t.nodes.count, 3);
    uint32_t first = topology_find(&t, "0x10"), second = topology_find(&t, "0x20");
    assert_true(first != TOPOLOGY_NONE && second != TOPOLOGY_NONE);
    assert_int_equal(t.nodes.items[first].port_count, 2);
    assert_int_equal(t.nodes.items[second].port_count, 1);
    topology_release(&t);
}

static void descriptions_may_hold_the_marks_of_the_format(void **state)
{
    struct topology t;
    must_read(&t, "Switch: 0x00000000000000a0 a \"(b)\" ==>: c::\n"
                  "   1    1[  ] ==( 4X   10.0 Gbps Active/  LinkUp)==>   2  1[  ] \"h\" (x\" ( )\n"
                  "CA: h\" (x:\n"
                  "   0x0000000000000011   2    1[  ] ==( 4X   10.0 Gbps Active/  LinkUp)==>   1  "
                  "1[  ] \"a \"(b)\" ==>: c:\" ( Could be 14.0625 Gbps)\n");
    assert_int_equal(t.nodes.count, 2);
    assert_string_equal(t.nodes.items[0].description, "a \"(b)\" ==>: c:");
    assert_string_equal(t.nodes.items[1].description, "h\" (x");
    topology_release(&t);
    must_read(&t, "{ SW Ports:08 SystemGUID:01 NodeGUID:01 PortGUID:01 VenID:000000 DevID:0000 "
                  "Rev:00000000 {a} LID:b } {} LID:0001 PN:0A } { SW Ports:24 SystemGUID:02 "
                  "NodeGUID:02 PortGUID:02 VenID:000000 DevID:0000 Rev:00000000 {b} LID:0002 PN:01 "
                  "} PHY=4x LOG=ACT SPD=25\n"
                  "{ SW Ports:24 SystemGUID:02 NodeGUID:02 PortGUID:02 VenID:000000 DevID:0000 "
                  "Rev:00000000 {b} LID:0002 PN:01 } { SW Ports:08 SystemGUID:01 NodeGUID:01 "
                  "PortGUID:01 VenID:000000 DevID:0000 Rev:00000000 {a} LID:b } {} LID:0001 PN:0A "
                  "} PHY=4x LOG=ACT SPD=25\n");
    assert_string_equal(t.nodes.items[0].description, "a} LID:b } {");
    assert_int_equal(t.nodes.items[1].port_count, 36);
    topology_release(&t);
}

static void peers_without_lids_are_found_by_description(void **state)
{
    struct topology t;
    static const char lines[] =
        "Switch: 0x00000000000000a0 a:\n"
        "   0    1[  ] ==( 4X   10.0 Gbps   Init/  LinkUp)==>   0  1[  ] \"b\" ( )\n"
        "Switch: 0x00000000000000b0 b:\n"
        "   0    1[  ] ==( 4X   10.0 Gbps   Init/  LinkUp)==>   0  1[  ] \"a\" ( )\n";
    must_read(&t, lines);
    assert_linked(&t, "a", 1, "b", 1);
    topology_release(&t);
    char *same = strdup(lines);
    for (char *c = same; *c; c++)
        *c = *c == 'b' && (c[1] == '"' || c[1] == ':') ? 'a' : *c;
    assert_refused(same, 2, "several nodes are named \"a\"");
    free(same);
}

static void lists_that_were_cut_are_refused(void **state)
{
    static const char line[] =
        "SW  1  1 0x00000000000000a0 4x EDR - SW  2  1 0x00000000000000b0 ( 'a' - 'b' )\n";
    assert_refused(line, 1, "port 1 of \"b\", is not listed");
    char two[512];
    snprintf(two, sizeof two, "%s%s", line, line);
    assert_refused(two, 2, "is listed in line 1 already");
    snprintf(two, sizeof two, "%sSW  2  1 0x00000000000000b0 4x EDR   'b'\n", line);
    assert_refused(two, 1, "port 1 of \"b\", is not listed there");
    snprintf(two, sizeof two, "%.47s\n", line);
    assert_refused(two, 1, "kind, LID, port and GUID");
    assert_refused("SW  1  1 0x00000000000000a0 4x EDR   'b'\n", 0, "no port of this list");
}

#define DUMP_A "switchguid=0x1(1)\nSwitch 4 \"S-0000000000000001\"\n"
#define DUMP_B "switchguid=0x2(2)\nSwitch 4 \"S-0000000000000002\"\n"
#define NOISE                                                                                      \
    "ibwarn: [4711] mad_rpc: _do_madrpc failed; dport (DR path slid 65535; dlid 65535; 0,1)\n"

static void noise_in_a_dump_is_skipped_with_a_warning(void **state)
{
    struct topology t;
    must_read(&t,
              "[root@n1 ~]# ibnetdiscover\n" DUMP_A NOISE "[1] \"S-0000000000000002\"[2]\n" NOISE
              "src/query_smp.c:228; umad (DR path slid 0; dlid 0; 0,1 Attr 0x11:0) bad status "
              "110; Connection timed out\n" DUMP_B "[2] \"S-0000000000000001\"[1]\n" NOISE);
    assert_linked(&t, "S-0000000000000001", 1, "S-0000000000000002", 2);
    assert_non_null(t.warning);
    assert_non_null(strstr(t.warning, "net: 5 lines"));
    assert_non_null(strstr(t.warning, "lines 1, 4, 6, 7, 11;"));
    topology_release(&t);
    must_read(&t, NOISE "SW  1  1 0x00000000000000a0 4x EDR - CA  2  1 0x11 ( 'a' - 'b' )\n" NOISE);
    assert_non_null(strstr(t.warning, "lines 1, 3;"));
    topology_release(&t);
}

static void noise_does_not_hide_a_damaged_line(void **state)
{
    /* a lost line, and a line that the noise interrupted */
    assert_refused(DUMP_A NOISE DUMP_B "[2] \"S-0000000000000001\"[1]\n", 6, "is not listed");
    assert_refused(DUMP_A "[1] \"S-000000000" NOISE DUMP_B "[2] \"S-0000000000000001\"[1]\n", 3,
                   "peer's name");
}

static void unknown_lines_of_a_net_file_are_errors(void **state)
{
    assert_refused("Switch 4 \"a\"\n" NOISE "[1] \"b\"[1]\nHca 1 \"b\"\n", 2, "expected Switch");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_list_of_ports_describes_the_same_fabric),
        cmocka_unit_test(lists_give_guids_and_lids_of_adapter_ports),
        cmocka_unit_test(two_ports_of_an_adapter_are_one_node),
        cmocka_unit_test(descriptions_may_hold_the_marks_of_the_format),
        cmocka_unit_test(peers_without_lids_are_found_by_description),
        cmocka_unit_test(lists_that_were_cut_are_refused),
        cmocka_unit_test(noise_in_a_dump_is_skipped_with_a_warning),
        cmocka_unit_test(noise_does_not_hide_a_damaged_line),
        cmocka_unit_test(unknown_lines_of_a_net_file_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
