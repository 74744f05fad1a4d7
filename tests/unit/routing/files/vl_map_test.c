/* VLs: files in ibdmchk's formats, and rings that they make safe. */
#include "networks.h"

#include "routing/check/verify.h"
#include "routing/files/vl_map_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

enum { RING = 6 };

struct fixture {
    struct network network;
    struct routes routes;
    struct vl_map lanes;
};

static int set_up(void **state)
{
    struct fixture *fixture = mem_zalloc(1, sizeof *fixture);
    struct engine_options options = {.allow_cycles = true};
    struct err err;
    build_ring(&fixture->network, RING);
    vl_map_init(&fixture->lanes, &fixture->network);
    *state = fixture;
    return engine_minhop.compute(&fixture->network, &options, &fixture->routes, &err);
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    vl_map_release(&fixture->lanes);
    routes_release(&fixture->routes);
    network_release(&fixture->network);
    mem_free(fixture);
    return 0;
}

static bool could_deadlock(const struct fixture *fixture)
{
    struct verify_options options = {.vl_map = &fixture->lanes};
    struct verify_report report;
    verify_routes(&fixture->network, &fixture->routes, &options, &report);
    bool cyclic = report.cycle.count > 0;
    assert_true(verify_delivers(&report));
    verify_report_release(&report);
    return cyclic;
}

/* Does the route from host `from` to host `to` use the link between the last switch and the first?
 */
static bool crosses_the_seam(const struct fixture *fixture, unsigned from, unsigned to)
{
    const struct network *network = &fixture->network;
    uint32_t at = from;
    while (at != to) {
        uint8_t port = routes_port(&fixture->routes, at, network->terminals.items[to].lid);
        uint32_t next = network->ports.items[network->switches.items[at].first_port + port].peer &
                        ~NETWORK_SWITCH;
        if ((at == 0 && next == RING - 1) || (at == RING - 1 && next == 0))
            return true;
        at = next;
    }
    return false;
}

/* Paths over the seam on a separate VL: then no VL has the whole ring. */
static void write_path_sl(const struct fixture *fixture, struct text *out)
{
    for (unsigned from = 0; from < RING; from++)
        for (unsigned to = 0; to < RING; to++)
            text_printf(out, "0x%llx %u %u\n",
                        (unsigned long long)fixture->network.terminals.items[from].guid,
                        fixture->network.terminals.items[to].lid,
                        crosses_the_seam(fixture, from, to) ? 1u : 0u);
}

static void a_ring_with_a_vl_for_the_seam_cannot_deadlock(void **state)
{
    struct fixture *fixture = *state;
    struct text text = {0};
    struct err err = {0};
    assert_true(could_deadlock(fixture));
    write_path_sl(fixture, &text);
    assert_int_equal(vl_map_read_path_sl(&fixture->lanes, from_text("psl", text.data, &err)), 0);
    assert_int_equal(fixture->lanes.count, 2);
    /* Switches as sources and destinations still use SL 0 around the whole ring. */
    for (unsigned at = 0; at < RING; at++)
        fixture->network.switches.items[at].lid = 0;
    for (unsigned lid = 1; lid <= RING; lid++)
        fixture->network.owner[lid] = NETWORK_NONE;
    struct verify_options options = {.vl_map = &fixture->lanes};
    struct verify_report report;
    verify_routes(&fixture->network, &fixture->routes, &options, &report);
    assert_int_equal(report.vls, 2);
    /* The switches' own packets to hosts, on SL 0, close the ring; give them the hosts' levels. */
    assert_true(report.cycle.count > 0);
    verify_report_release(&report);
    for (unsigned from = 0; from < RING; from++) {
        text_clear(&text);
        text_printf(&text, "Switch 0x%llx, base LID %u, \"ring\"\n",
                    (unsigned long long)fixture->network.switches.items[from].guid, from + 1);
        for (unsigned to = 0; to < RING; to++)
            text_printf(&text, "0x%04x : %u\n", fixture->network.terminals.items[to].lid,
                        crosses_the_seam(fixture, from, to) ? 1u : 0u);
        assert_int_equal(vl_map_read_path_sl(&fixture->lanes, from_text("psl", text.data, &err)),
                         0);
    }
    assert_false(could_deadlock(fixture));
    text_release(&text);
}

/* SL2VL tables can change the VL on the path. A change for one hop only does not open the ring: the
 * cycle continues over both VLs. */
static void a_cycle_over_several_vls_is_found(void **state)
{
    struct fixture *fixture = *state;
    struct text text = {0};
    struct err err = {0};
    struct verify_report report;
    unsigned on_lane_1 = 0;
    for (unsigned at = 0; at < RING; at++) {
        for (unsigned in = 0; in <= 4; in++) {
            for (unsigned out = 0; out <= 4; out++) {
                bool seam =
                    (at == 0 && in == 2 && out == 1) || (at == RING - 1 && in == 1 && out == 2);
                text_printf(&text, "0x%llx %u %u 0x%u1 0x11 0x11 0x11 0x11 0x11 0x11 0x11\n",
                            (unsigned long long)fixture->network.switches.items[at].guid, in, out,
                            seam ? 1u : 0u);
            }
        }
    }
    assert_int_equal(vl_map_read_sl2vl(&fixture->lanes, from_text("slvl", text.data, &err)), 0);
    assert_int_equal(vl_map_vl(&fixture->lanes, 0, 2, 1, 0), 1);
    assert_int_equal(vl_map_vl(&fixture->lanes, 0, 3, 1, 0), 0);
    struct verify_options options = {.vl_map = &fixture->lanes};
    verify_routes(&fixture->network, &fixture->routes, &options, &report);
    assert_int_equal(report.cycle.count, RING);
    for (size_t i = 0; i < report.cycle.count; i++)
        on_lane_1 += report.cycle.items[i].vl == 1;
    assert_int_equal(on_lane_1, 1);
    verify_report_release(&report);
    text_release(&text);
}

static void the_second_form_of_sl2vl_means_the_same(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    char text[] = "# remark\n"
                  "Switch 0x00000000000000a0, base LID 1, \"ring0\"\n"
                  "in out : 0 1 2\n"
                  "2 1 : 1 0 3 2 4 5 6 7 0 0 0 0 0 0 0 15\n";
    assert_int_equal(vl_map_read_sl2vl(&fixture->lanes, from_text("slvl", text, &err)), 0);
    assert_int_equal(vl_map_vl(&fixture->lanes, 0, 2, 1, 0), 1);
    assert_int_equal(vl_map_vl(&fixture->lanes, 0, 2, 1, 2), 3);
    assert_int_equal(vl_map_vl(&fixture->lanes, 0, 2, 1, 15), VL_MAP_DISCARD);
    assert_int_equal(vl_map_vl(&fixture->lanes, 1, 2, 1, 5), 5);
    assert_int_equal(fixture->lanes.count, 8);
}

static void packets_to_missing_ports_use_no_vl(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    char text[] = "0xa0 2 1 0x10 0x10 0x10 0x10 0x10 0x10 0x10 0x10\n";
    assert_int_equal(vl_map_read_sl2vl(&fixture->lanes, from_text("slvl", text, &err)), 0);
    assert_int_equal(vl_map_vl(&fixture->lanes, 0, 2, PORT_NONE, 0), VL_MAP_DISCARD);
    assert_int_equal(vl_map_vl(&fixture->lanes, 0, PORT_NONE, 1, 0), VL_MAP_DISCARD);
    struct verify_report report;
    routes_row(&fixture->routes, 0)[fixture->network.terminals.items[2].lid] = PORT_NONE;
    verify_routes(&fixture->network, &fixture->routes,
                  &(struct verify_options){.vl_map = &fixture->lanes}, &report);
    assert_false(verify_delivers(&report));
    verify_report_release(&report);
}

static void bad_lines_are_errors_with_their_number(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *text;
        bool sl2vl;
    } bad[] = {
        {"#\n0x1234567 3 1\n", false},
        {"#\n0xb0 3 16\n", false},
        {"#\n0x0003 : 1\n", false},
        {"#\n0xa0 9 1 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xe7\n", true},
        {"#\n0xa0 1 1 0x01 0x23\n", true},
        {"#\n0x77 1 1 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xe7\n", true},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[128];
        struct err err = {0};
        snprintf(text, sizeof text, "%s", bad[i].text);
        int rc = bad[i].sl2vl ? vl_map_read_sl2vl(&fixture->lanes, from_text("f", text, &err))
                              : vl_map_read_path_sl(&fixture->lanes, from_text("f", text, &err));
        assert_true(rc < 0);
        assert_int_equal(err.line, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_ring_with_a_vl_for_the_seam_cannot_deadlock, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_cycle_over_several_vls_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_second_form_of_sl2vl_means_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(packets_to_missing_ports_use_no_vl, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_lines_are_errors_with_their_number, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
