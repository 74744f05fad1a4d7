/* The tables that the seeds print. */
#include "networks.h"

#include "routing/check/verify.h"
#include "routing/search/updown.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t switch_with_lid(const struct network *network, unsigned lid)
{
    assert_true(lid <= network->top_lid);
    uint32_t owner = network->owner[lid];
    assert_true(owner != NETWORK_NONE && (owner & NETWORK_SWITCH));
    return owner & ~NETWORK_SWITCH;
}

/* Links crossed from a switch to the owner of a LID. */
static unsigned count_hops(const struct network *network, const struct routes *routes, uint32_t at,
                           unsigned lid)
{
    unsigned hops = 0;
    for (;;) {
        uint8_t port = routes_port(routes, at, lid);
        assert_int_not_equal(port, PORT_NONE);
        if (port == 0) {
            assert_int_equal(network->owner[lid], NETWORK_SWITCH | at);
            return hops;
        }
        uint32_t peer = network->ports.items[network->switches.items[at].first_port + port].peer;
        assert_true(++hops < 32);
        if (!(peer & NETWORK_SWITCH)) {
            assert_int_equal(network->owner[lid], peer);
            return hops;
        }
        at = peer & ~NETWORK_SWITCH;
    }
}

static struct routes compute(const struct network *network, const char *engine)
{
    struct engine_options options = {.allow_cycles = true};
    struct routes routes;
    struct err err = {0};
    if (engine_find(engine)->compute(network, &options, &routes, &err))
        fail_msg("%s: %s", engine, err.message);
    return routes;
}

static char *next_line(char **text)
{
    char *line = *text, *end = strchrnul(line, '\n');
    *text = *end ? end + 1 : end;
    *end = '\0';
    return line;
}

static void lids_of_figure_1_are_those_printed(void **state)
{
    static const unsigned switches[] = {1, 2, 3, 5, 6, 8, 9, 10};
    struct network network;
    build_figure1(&network);
    assert_int_equal(network.top_lid, 15);
    assert_int_equal(network.switches.count, 8);
    assert_int_equal(network.terminals.count, 7);
    for (size_t i = 0; i < 8; i++)
        switch_with_lid(&network, switches[i]);
    assert_int_equal(network.manager, switch_with_lid(&network, 1));
    network_release(&network);
}

static void fera_matches_figure_6(void **state)
{
    struct network network;
    struct text text;
    unsigned entries = 0, at, lid, port, hops, sequence;
    build_figure1(&network);
    struct routes routes = compute(&network, "fera");
    golden_read("fig6.csv", &text);
    for (char *rest = text.data; *rest;) {
        const char *line = next_line(&rest);
        if (sscanf(line, "%u,%u,%u,%u,%u", &at, &lid, &port, &hops, &sequence) != 5)
            continue;
        uint32_t index = switch_with_lid(&network, at);
        assert_int_equal(routes_port(&routes, index, lid), port);
        assert_int_equal(count_hops(&network, &routes, index, lid), hops);
        entries++;
    }
    assert_int_equal(entries, 120);
    text_release(&text);
    routes_release(&routes);
    network_release(&network);
}

static void pira_matches_figure_8(void **state)
{
    struct network network;
    struct text text;
    unsigned entries = 0, defaults = 0, explicit_entries = 0, at, lid, port;
    build_figure1(&network);
    struct routes routes = compute(&network, "pira");
    golden_read("fig8.csv", &text);
    for (char *rest = text.data; *rest;) {
        const char *line = next_line(&rest);
        if (sscanf(line, "%u,default,%u", &at, &port) == 2) {
            assert_int_equal(routes.default_ports[switch_with_lid(&network, at)], port);
            defaults++;
        } else if (sscanf(line, "%u,%u,%u", &at, &lid, &port) == 3) {
            uint32_t index = switch_with_lid(&network, at);
            assert_true(routes_is_explicit(&routes, index, lid));
            assert_int_equal(routes_port(&routes, index, lid), port);
            entries++;
        }
    }
    assert_int_equal(entries, 50);
    assert_int_equal(defaults, 7);
    assert_int_equal(routes.default_ports[network.manager], PORT_NONE);
    for (uint32_t index = 0; index < 8; index++)
        for (lid = 0; lid <= network.top_lid; lid++)
            explicit_entries += routes_is_explicit(&routes, index, lid);
    assert_int_equal(explicit_entries, 50);
    text_release(&text);
    routes_release(&routes);
    network_release(&network);
}

static void pira_expands_to_the_linear_tables(void **state)
{
    struct network network;
    struct text text;
    unsigned entries = 0, at, lid, port, hops;
    build_figure1(&network);
    struct routes routes = compute(&network, "pira");
    golden_read("fig8_expanded_lft.csv", &text);
    for (char *rest = text.data; *rest;) {
        const char *line = next_line(&rest);
        if (sscanf(line, "%u,%u,%u,%u", &at, &lid, &port, &hops) != 4)
            continue;
        uint32_t index = switch_with_lid(&network, at);
        assert_int_equal(routes_port(&routes, index, lid), port);
        assert_int_equal(count_hops(&network, &routes, index, lid), hops);
        entries++;
    }
    assert_int_equal(entries, 120);
    text_release(&text);
    routes_release(&routes);
    network_release(&network);
}

static uint64_t hop_sum(const char *engine)
{
    struct network network;
    struct verify_report report;
    build_figure1(&network);
    struct routes routes = compute(&network, engine);
    verify_routes(&network, &routes, &(struct verify_options){0}, &report);
    uint64_t sum = report.table_hops_sum;
    assert_true(verify_passes(&report));
    verify_report_release(&report);
    routes_release(&routes);
    network_release(&network);
    return sum;
}

static void hops_of_figure_1_add_up_to_273_with_fera_and_277_with_pira(void **state)
{
    assert_int_equal(hop_sum("fera"), 273);
    assert_int_equal(hop_sum("pira"), 277);
}

/* TPDS 2006, section 2.2: from host 7 at switch 2 to host 14 at switch 9. */
static void the_illegal_route_of_figure_4_turns_up_at_switch_6(void **state)
{
    static const unsigned routes[2][4] = {{2, 1, 3, 9}, {2, 6, 3, 9}};
    struct network network;
    struct updown updown;
    build_figure1(&network);
    updown_init(&updown, &network, &network.manager, 1, TREE_BFS);
    for (unsigned r = 0; r < 2; r++) {
        unsigned turns_up_at = 0;
        for (unsigned i = 1; i < 3; i++) {
            uint32_t from = switch_with_lid(&network, routes[r][i - 1]);
            uint32_t at = switch_with_lid(&network, routes[r][i]);
            uint32_t to = switch_with_lid(&network, routes[r][i + 1]);
            if (!updown_is_up(&updown, from, at) && updown_is_up(&updown, at, to))
                turns_up_at = routes[r][i];
        }
        assert_int_equal(turns_up_at, r == 0 ? 0 : 6);
    }
    updown_release(&updown);
    network_release(&network);
}

/* TPDS 2006, Fig. 5 and 7: from a switch (LID 2), a host (LID 8) is 3 hops away by the up link to
 * the root and 4 hops by links that only lead down. */
static void fera_goes_down_where_renaming_takes_the_shorter_way_up(void **state)
{
    enum { SWITCHES = 5 };
    struct network network;
    network_init(&network);
    for (unsigned i = 0; i < SWITCHES; i++)
        network_add_switch(&network, 0x100 + i, (uint16_t)(1 + i), 0, 4);
    for (uint32_t i = 1; i < SWITCHES; i++)
        network_link(&network, 0, (uint8_t)i, i, 1); /* the root and the others */
    for (uint32_t i = 1; i + 1 < SWITCHES; i++)
        network_link(&network, i, 3, i + 1, 2); /* a chain of the others */
    network_add_terminal(&network, 0x200, 8, 1, SWITCHES - 1, 4);
    network_add_terminal(&network, 0x201, 10, 1, 1, 4);
    network.manager = 0;
    assert_int_equal(network_finish(&network), 0);
    struct routes fera = compute(&network, "fera"), dr = compute(&network, "dr");
    uint32_t at = switch_with_lid(&network, 2);
    assert_int_equal(routes_port(&fera, at, 8), 3);
    assert_int_equal(count_hops(&network, &fera, at, 8), 4);
    unsigned dlid = path_lookup(&dr, &network, 1, 0).dlid;
    assert_int_equal(routes_port(&dr, at, dlid), 1);
    assert_int_equal(count_hops(&network, &dr, at, dlid), 3);
    routes_release(&fera);
    routes_release(&dr);
    network_release(&network);
}

static void minhop_has_the_hops_of_the_thesis(void **state)
{
    struct network network;
    struct text text;
    unsigned entries = 0, guid, at, lid, port, hops;
    build_thesis(&network);
    struct routes routes = compute(&network, "minhop");
    golden_read("thesis_minhop.csv", &text);
    for (char *rest = text.data; *rest;) {
        const char *line = next_line(&rest);
        if (sscanf(line, "0x%x,%u,%u,%u,%u", &guid, &at, &lid, &port, &hops) != 5)
            continue;
        /* count_hops() follows our ports: with these hops they are minimal ones. */
        uint32_t index = switch_with_lid(&network, at);
        assert_int_equal(network.switches.items[index].guid, guid);
        assert_int_equal(count_hops(&network, &routes, index, lid), hops);
        /* The printed port must be one that leads a hop closer, or the network is not the seed's.
         */
        uint32_t peer = network.ports.items[network.switches.items[index].first_port + port].peer;
        if (hops > 0 && (peer & NETWORK_SWITCH))
            assert_int_equal(count_hops(&network, &routes, peer & ~NETWORK_SWITCH, lid), hops - 1);
        entries++;
    }
    assert_int_equal(entries, 60);
    text_release(&text);
    routes_release(&routes);
    network_release(&network);
}

/* ICPP 2003, Fig. 11: the middle switches of the Clos network are 2, 3 and 4. */
static void fera_uses_one_middle_switch_of_the_clos_network(void **state)
{
    const char *words[] = {"m=3", "n=1", "r=4"};
    struct network network;
    unsigned through[7] = {0};
    build_kind(&network, "clos", words, 3, 0, 1);
    struct routes routes = compute(&network, "fera");
    for (uint32_t i = 0; i < network.terminals.count; i++)
        for (uint32_t j = 0; j < network.terminals.count; j++) {
            uint32_t at = network.terminals.items[i].at;
            if (i == j)
                continue;
            uint8_t port = routes_port(&routes, at, network.terminals.items[j].lid);
            uint32_t peer = network.ports.items[network.switches.items[at].first_port + port].peer;
            through[network.switches.items[peer & ~NETWORK_SWITCH].guid - 100]++;
        }
    assert_int_equal(through[2], 12);
    assert_int_equal(through[3] + through[4], 0);
    routes_release(&routes);
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lids_of_figure_1_are_those_printed),
        cmocka_unit_test(fera_matches_figure_6),
        cmocka_unit_test(pira_matches_figure_8),
        cmocka_unit_test(pira_expands_to_the_linear_tables),
        cmocka_unit_test(hops_of_figure_1_add_up_to_273_with_fera_and_277_with_pira),
        cmocka_unit_test(the_illegal_route_of_figure_4_turns_up_at_switch_6),
        cmocka_unit_test(fera_goes_down_where_renaming_takes_the_shorter_way_up),
        cmocka_unit_test(minhop_has_the_hops_of_the_thesis),
        cmocka_unit_test(fera_uses_one_middle_switch_of_the_clos_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
