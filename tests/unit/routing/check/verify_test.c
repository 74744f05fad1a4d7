/* The checker must find what is wrong, in tables that were made wrong on purpose. */
#include "networks.h"

#include "routing/check/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

struct fixture {
    struct network network;
    struct routes routes;
    struct verify_report report;
};

static int set_up(void **state)
{
    struct fixture *fixture = mem_zalloc(1, sizeof *fixture);
    struct engine_options options = {0};
    struct err err;
    build_figure1(&fixture->network);
    *state = fixture;
    return engine_fera.compute(&fixture->network, &options, &fixture->routes, &err);
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    verify_report_release(&fixture->report);
    routes_release(&fixture->routes);
    network_release(&fixture->network);
    mem_free(fixture);
    return 0;
}

static uint32_t switch_with_lid(const struct fixture *fixture, unsigned lid)
{
    return fixture->network.owner[lid] & ~NETWORK_SWITCH;
}

static uint8_t *entry(struct fixture *fixture, unsigned at_lid, unsigned lid)
{
    return &routes_row(&fixture->routes, switch_with_lid(fixture, at_lid))[lid];
}

static const struct verify_report *check(struct fixture *fixture)
{
    struct verify_options options = {.roots = &fixture->network.manager, .root_count = 1};
    verify_report_release(&fixture->report);
    verify_routes(&fixture->network, &fixture->routes, &options, &fixture->report);
    return &fixture->report;
}

static void correct_tables_pass(void **state)
{
    const struct verify_report *report = check(*state);
    assert_true(verify_passes(report));
    assert_int_equal(report->pairs, 42);
    assert_int_equal(report->down_up, 0);
    assert_int_equal(report->findings.count, 0);
    assert_int_equal(report->hops_max, 5);
    assert_int_equal(report->channels, 18);
}

/* Every pair crosses (hops - 1) links between switches. */
static void loads_add_up_to_the_links_crossed(void **state)
{
    const struct verify_report *report = check(*state);
    assert_int_equal(report->load_sum, report->hops_sum - report->pairs);
}

static void a_missing_entry_is_found_for_all_its_sources(void **state)
{
    struct fixture *fixture = *state;
    *entry(fixture, 3, 13) = PORT_NONE; /* the path to host 13, behind switch 8, from all but 8 */
    const struct verify_report *report = check(fixture);
    assert_false(verify_delivers(report));
    /* Six hosts and seven switches cannot reach host 13 any more. */
    assert_int_equal(report->undelivered, 6 + 7);
    assert_int_equal(report->switch_undelivered, 0);
    assert_int_equal(report->loops, 0);
    assert_non_null(strstr(report->findings.items[0], "LID 13"));
    assert_non_null(strstr(report->findings.items[0], "'S3' has no entry"));
}

static void an_entry_to_the_wrong_host_does_not_deliver(void **state)
{
    struct fixture *fixture = *state;
    *entry(fixture, 8, 8) = 2; /* the switch's own LID, to its host */
    assert_true(check(fixture)->switch_undelivered > 0);
    *entry(fixture, 8, 8) = 0;
    *entry(fixture, 8, 13) = 0; /* the host's LID, to the switch itself */
    assert_true(check(fixture)->undelivered > 0);
    *entry(fixture, 8, 13) = 4; /* no cable there */
    assert_true(check(fixture)->undelivered > 0);
    *entry(fixture, 8, 13) = 200; /* no such port */
    assert_true(check(fixture)->undelivered > 0);
}

static void a_loop_is_found_and_written_out(void **state)
{
    struct fixture *fixture = *state;
    *entry(fixture, 1, 13) = 1; /* to switch 2, which sends host 13 back to 1 */
    const struct verify_report *report = check(fixture);
    assert_true(report->loops >= 2);
    assert_false(verify_delivers(report));
    bool found = false;
    for (size_t i = 0; i < report->findings.count; i++)
        found |= strstr(report->findings.items[i], "loop: LID 13") != NULL;
    assert_true(found);
    assert_true(report->cycle.count >= 2); /* a loop is also a cycle of channels */
}

static void a_down_up_transition_is_counted(void **state)
{
    struct fixture *fixture = *state;
    /* 2 to 6 is down, 6 to 3 is up: delivered, but not legal. */
    *entry(fixture, 2, 13) = 3;
    const struct verify_report *report = check(fixture);
    assert_true(verify_delivers(report));
    assert_true(report->down_up > 0);
}

static void a_cycle_is_a_closed_path_of_channels(void **state)
{
    struct network network;
    struct routes routes;
    struct verify_report report;
    struct engine_options options = {.allow_cycles = true};
    struct err err;
    build_ring(&network, 6);
    assert_int_equal(engine_minhop.compute(&network, &options, &routes, &err), 0);
    verify_routes(&network, &routes, &(struct verify_options){0}, &report);
    assert_true(verify_delivers(&report));
    assert_int_equal(report.cycle.count, 6);
    for (size_t i = 0; i < 6; i++) {
        const struct verify_channel *channel = &report.cycle.items[i];
        uint32_t port = network.switches.items[channel->at].first_port + channel->port;
        assert_int_equal(network.ports.items[port].peer & ~NETWORK_SWITCH,
                         report.cycle.items[(i + 1) % 6].at);
    }
    verify_report_release(&report);
    routes_release(&routes);
    network_release(&network);
}

static void the_report_does_not_depend_on_threads(void **state)
{
    struct fixture *fixture = *state;
    *entry(fixture, 3, 13) = PORT_NONE;
    *entry(fixture, 1, 14) = 1;
    const struct verify_report *alone = check(fixture);
    struct verify_options options = {
        .roots = &fixture->network.manager, .root_count = 1, .workers = &backwards};
    struct verify_report report;
    verify_routes(&fixture->network, &fixture->routes, &options, &report);
    assert_int_equal(report.undelivered, alone->undelivered);
    assert_int_equal(report.loops, alone->loops);
    assert_int_equal(report.hops_sum, alone->hops_sum);
    assert_int_equal(report.dependencies, alone->dependencies);
    assert_int_equal(report.down_up, alone->down_up);
    assert_memory_equal(report.load, alone->load,
                        fixture->network.ports.count * sizeof *report.load);
    assert_int_equal(report.findings.count, alone->findings.count);
    for (size_t i = 0; i < report.findings.count; i++)
        assert_string_equal(report.findings.items[i], alone->findings.items[i]);
    verify_report_release(&report);
}

/* With renaming, a pair is checked by the LID that its source uses. */
static void renamed_pairs_are_checked_by_their_own_lid(void **state)
{
    struct network network;
    struct routes routes;
    struct verify_report report;
    struct engine_options options = {0};
    struct err err;
    struct draft draft;
    bool broken = false;
    for (uint64_t seed = 0; seed < 50 && !broken; seed++) {
        draft_random(&draft, seed, 32);
        draft_build(&draft, 4, &network);
        assert_int_equal(engine_dr.compute(&network, &options, &routes, &err), 0);
        for (uint32_t source = 0; source < network.terminals.count && !broken; source++) {
            for (uint32_t target = 0; target < network.terminals.count && !broken; target++) {
                uint16_t dlid = path_lookup(&routes, &network, source, target).dlid;
                if (dlid == network.terminals.items[target].lid)
                    continue;
                verify_routes(&network, &routes, &(struct verify_options){0}, &report);
                assert_true(verify_passes(&report));
                verify_report_release(&report);
                routes_row(&routes, network.terminals.items[source].at)[dlid] = PORT_NONE;
                verify_routes(&network, &routes, &(struct verify_options){0}, &report);
                assert_true(report.undelivered > 0);
                verify_report_release(&report);
                broken = true;
            }
        }
        routes_release(&routes);
        network_release(&network);
        draft_release(&draft);
    }
    assert_true(broken);
}

/* A network with LIDs in several blocks of tables. */
static void no_lid_is_skipped(void **state)
{
    struct network network;
    struct routes routes;
    struct err err;
    build_kind(&network, "kary", (const char *const[]){"k=3", "n=4"}, 2, 0, 1);
    assert_true(network.top_lid > 2 * ROUTES_BLOCK);
    assert_int_equal(engine_updn.compute(&network, &(struct engine_options){0}, &routes, &err), 0);
    for (uint32_t lid = 1; lid <= network.top_lid; lid++) {
        struct verify_report report;
        uint32_t at = network.owner[lid] == NETWORK_SWITCH ? 1 : 0; /* not the owner's */
        uint8_t *entry = routes_row(&routes, at) + lid, port = *entry;
        *entry = PORT_NONE;
        verify_routes(&network, &routes, &(struct verify_options){0}, &report);
        if (verify_delivers(&report))
            fail_msg("nobody misses LID %u", lid);
        verify_report_release(&report);
        *entry = port;
    }
    routes_release(&routes);
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_lid_is_skipped),
        cmocka_unit_test_setup_teardown(correct_tables_pass, set_up, tear_down),
        cmocka_unit_test_setup_teardown(loads_add_up_to_the_links_crossed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_missing_entry_is_found_for_all_its_sources, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_entry_to_the_wrong_host_does_not_deliver, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_loop_is_found_and_written_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_down_up_transition_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_report_does_not_depend_on_threads, set_up, tear_down),
        cmocka_unit_test(a_cycle_is_a_closed_path_of_channels),
        cmocka_unit_test(renamed_pairs_are_checked_by_their_own_lid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
