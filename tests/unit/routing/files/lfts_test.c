/* OpenSM's dump of forwarding tables, read and written. */
#include "networks.h"

#include "routing/files/lfts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static void tables_are_read_back_as_they_were_written(void **state)
{
    struct network network;
    struct routes routes, again;
    struct engine_options options = {0};
    struct text text = {0};
    struct err err = {0};
    build_figure1(&network);
    assert_int_equal(engine_fera.compute(&network, &options, &routes, &err), 0);
    lfts_write(&routes, &network, &text);
    assert_non_null(strstr(text.data, "Unicast lids [0-15] of switch Lid 1 guid 0x"));
    assert_non_null(strstr(text.data, "0x000f 003 # Channel Adapter portguid 0x"));
    assert_non_null(strstr(text.data, "\n15 lids dumped\n"));
    assert_int_equal(lfts_read(&again, &network, from_text("lfts", text.data, &err)), 0);
    assert_int_equal(routes_compare(&routes, &again).entries, 0);
    text_release(&text);
    routes_release(&routes);
    routes_release(&again);
    network_release(&network);
}

static void dumps_of_opensm_and_dump_fts_are_read(void **state)
{
    char dump[] = "Unicast lids [0-6] of switch Lid 1 guid 0x00000000000000a0 ('s0'):\n"
                  "0x0001 000 # Switch portguid 0x00000000000000a0: 's0'\n"
                  "0x0002 001 # Channel Adapter portguid 0x0000000000100001: 'h0'\n"
                  "6 lids dumped\n"
                  "Unicast lids [0x0-0x6] of switch DR path slid 0; dlid 0; 0,1 guid 0xa1 (s1):\n"
                  "  Lid  Out   Destination\n"
                  "       Port     Info \n"
                  "0x0001 002 : (Switch portguid 0x00000000000000a0: 's0')\n"
                  "0x0003 255 : (path not found)\n"
                  "1 valid lids dumped \n";
    struct network network;
    struct routes routes;
    struct err err = {0};
    build_ring(&network, 3);
    assert_int_equal(lfts_read(&routes, &network, from_text("dump", dump, &err)), 0);
    assert_int_equal(routes_port(&routes, 0, 1), 0);
    assert_int_equal(routes_port(&routes, 0, 2), 1);
    assert_int_equal(routes_port(&routes, 0, 3), PORT_NONE);
    assert_int_equal(routes_port(&routes, 1, 1), 2);
    assert_int_equal(routes_port(&routes, 1, 3), PORT_NONE);
    assert_int_equal(routes_port(&routes, 2, 1), PORT_NONE);
    routes_release(&routes);
    network_release(&network);
}

static void bad_tables_are_errors_with_their_line(void **state)
{
    static const char *const bad[] = {
        "\n0x0001 001\n",
        "\nUnicast lids of switch 7:\n",
        "\nUnicast lids [0-6] of switch Lid 1 guid 0x99 ('x'):\n",
        "Unicast lids [0-6] of switch Lid 1 guid 0xa0 ('x'):\n0x0001 9\n",
        "Unicast lids [0-6] of switch Lid 1 guid 0xa0 ('x'):\n0x0001\n",
        "Unicast lids [0-6] of switch Lid 1 guid 0xa0 ('x'):\n0x0001 one\n",
        "Unicast lids [0-6] of switch Lid 1 guid 0xa0 ('x'):\n0xC000 1\n",
        "Unicast lids [0-6] of switch Lid 1 guid 0xa0 ('x'):\nUnicast lids of guid 0xa0\n",
    };
    struct network network;
    build_ring(&network, 3);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct routes routes;
        struct err err = {0};
        char text[160];
        snprintf(text, sizeof text, "%s", bad[i]);
        assert_true(lfts_read(&routes, &network, from_text("dump", text, &err)) < 0);
        assert_int_equal(err.line, 2);
        assert_null(routes.ports);
    }
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_read_back_as_they_were_written),
        cmocka_unit_test(dumps_of_opensm_and_dump_fts_are_read),
        cmocka_unit_test(bad_tables_are_errors_with_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
