/* Updates that keep traffic going, and their independent check.
 *
 * WEFT_FULL=1 takes all random networks; otherwise a slice of them. */
#include "effort.h"
#include "networks.h"

#include "routing/check/transition.h"
#include "routing/files/update_plan_text.h"
#include "routing/update/make_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

enum { NETWORKS = 200 };

static uint64_t step_through_seeds(void)
{
    return effort(1, 9, 9);
}

static struct routes compute(const struct network *network, const char *engine)
{
    struct engine_options options = {0};
    struct routes routes;
    struct err err = {0};
    if (engine_find(engine)->compute(network, &options, &routes, &err))
        fail_msg("%s: %s", engine, err.message);
    return routes;
}

static void add_wave(struct update_plan *plan, bool drain)
{
    vec_push(&plan->waves,
             ((struct update_wave){.first = (uint32_t)plan->updates.count, .drain = drain}));
}

static void add_whole_switch(struct update_plan *plan, uint32_t at)
{
    vec_push(&plan->updates, ((struct table_update){.at = at, .lid_count = 0xC000}));
    plan->waves.items[plan->waves.count - 1].count++;
}

static bool is_safe(const struct network *network, const struct routes *before,
                    const struct routes *after, const struct update_plan *plan)
{
    struct transition_report report;
    verify_transition(network, before, after, plan, &report);
    bool safe = report.safe;
    assert_int_equal(safe, report.cycle.cycle.count == 0);
    transition_report_release(&report);
    return safe;
}

/* All at once, as OpenSM does it. */
static bool naive_is_safe(const struct network *network, const struct routes *before,
                          const struct routes *after)
{
    struct update_plan plan = {0};
    add_wave(&plan, false);
    for (uint32_t at = 0; at < network->switches.count; at++)
        add_whole_switch(&plan, at);
    bool safe = is_safe(network, before, after, &plan);
    update_plan_release(&plan);
    return safe;
}

/* The mixed tables, followed from `at`: does the packet arrive within as many hops as there are
 * switches? */
static bool walk_arrives(const struct network *network, const struct routes *before,
                         const struct routes *after, const bool *updated, uint32_t at, unsigned lid)
{
    for (size_t hops = 0; hops <= network->switches.count; hops++) {
        uint8_t port = routes_port(updated[at] ? after : before, at, lid);
        if (port == 0)
            return true;
        uint32_t peer = network->ports.items[network->switches.items[at].first_port + port].peer;
        if (!(peer & NETWORK_SWITCH))
            return true;
        at = peer & ~NETWORK_SWITCH;
    }
    return false;
}

static void updating_one_parent_first_loops_on_the_counterexample(void **state)
{
    struct network network;
    struct text text;
    long dlid, first;
    bool updated[6] = {0};
    build_counterexample(&network);
    golden_read("mixed_counterexample.json", &text);
    assert_int_equal(golden_numbers(text.data, "dlid", &dlid, 1), 1);
    assert_int_equal(golden_numbers(text.data, "updated_switch", &first, 1), 1);
    struct routes pira = compute(&network, "pira"), fera = compute(&network, "fera");
    uint32_t at = network.owner[first] & ~NETWORK_SWITCH;
    updated[at] = true;
    assert_false(walk_arrives(&network, &pira, &fera, updated, at, (unsigned)dlid));

    struct update_plan plan = {0};
    struct transition_report report;
    add_wave(&plan, false);
    add_whole_switch(&plan, at);
    verify_transition(&network, &pira, &fera, &plan, &report);
    assert_false(report.safe);
    assert_int_equal(report.wave, 0);
    assert_true(report.left_out > 0);
    assert_non_null(strstr(report.cycle.findings.items[0], "during wave 1"));
    transition_report_release(&report);
    update_plan_release(&plan);
    assert_false(naive_is_safe(&network, &pira, &fera));
    text_release(&text);
    routes_release(&pira);
    routes_release(&fera);
    network_release(&network);
}

/* S0-S1-S2, a host at S2, and S0-S2 unless it is cut. The route from S1 led over S0; now S0 sends
 * to S1 and S1 to S2, all at once. So S0 may send packets of S1 back to it. */
static bool turning_back_is_safe(bool cut, bool discards)
{
    enum { HOST_LID = 4 };
    static const uint8_t old_ports[] = {2, 1, 3}, new_ports[] = {1, 2, 3};
    struct network network;
    struct routes before, after;
    struct update_plan plan = {.relies_on_discards = discards};
    network_init(&network);
    for (uint16_t i = 0; i < 3; i++)
        network_add_switch(&network, i + 1u, (uint16_t)(i + 1), 0, 3);
    network_link(&network, 0, 1, 1, 1);
    network_link(&network, 1, 2, 2, 1);
    if (!cut)
        network_link(&network, 0, 2, 2, 2);
    network_add_terminal(&network, 16, HOST_LID, 0, 2, 3);
    network_finish(&network);
    routes_init(&before, &network, "old");
    routes_init(&after, &network, "new");
    add_wave(&plan, false);
    for (uint32_t at = 0; at < 3; at++) {
        routes_set(&before, at, HOST_LID, old_ports[at]);
        routes_set(&after, at, HOST_LID, new_ports[at]);
        add_whole_switch(&plan, at);
    }
    bool safe = is_safe(&network, &before, &after, &plan);
    update_plan_release(&plan);
    routes_release(&before);
    routes_release(&after);
    network_release(&network);
    return safe;
}

static void only_packets_that_were_lost_anyway_may_be_sent_back(void **state)
{
    assert_false(turning_back_is_safe(true, false));
    assert_true(turning_back_is_safe(true, true));
    assert_false(turning_back_is_safe(false, false));
    assert_false(turning_back_is_safe(false, true));
}

static void the_counterexample_has_a_safe_order_without_a_drain(void **state)
{
    struct network network;
    struct update_plan plan;
    bool updated[6] = {0};
    build_counterexample(&network);
    struct routes pira = compute(&network, "pira"), fera = compute(&network, "fera");
    update_plan_make(&plan, &network, &pira, &fera);
    assert_int_equal(plan.stuck.count, 0);
    assert_int_equal(update_plan_drains(&plan), 0);
    assert_true(plan.waves.count > 1);
    assert_true(is_safe(&network, &pira, &fera, &plan));
    for (size_t i = 0; i < plan.updates.count; i++) {
        updated[plan.updates.items[i].at] = true;
        for (uint32_t at = 0; at < 6; at++)
            for (unsigned lid = 1; lid <= network.top_lid; lid++)
                assert_true(walk_arrives(&network, &pira, &fera, updated, at, lid));
    }
    update_plan_release(&plan);
    routes_release(&pira);
    routes_release(&fera);
    network_release(&network);
}

static void children_first_is_all_that_pira_to_fera_needs(void **state)
{
    unsigned naive_failures = 0;
    for (uint64_t seed = 0; seed < NETWORKS; seed += step_through_seeds()) {
        struct draft draft;
        struct network network;
        struct update_plan plan;
        struct transition_report report;
        draft_random(&draft, seed, 64);
        draft_build(&draft, 0, &network);
        struct routes pira = compute(&network, "pira"), fera = compute(&network, "fera");
        update_plan_make(&plan, &network, &pira, &fera);
        verify_transition(&network, &pira, &fera, &plan, &report);
        assert_int_equal(plan.stuck.count, 0);
        assert_int_equal(update_plan_drains(&plan), 0);
        assert_true(report.safe);
        assert_int_equal(report.left_out, 0);
        assert_int_equal(report.holes, 0);
        naive_failures += !naive_is_safe(&network, &pira, &fera);
        transition_report_release(&report);
        update_plan_release(&plan);
        routes_release(&pira);
        routes_release(&fera);
        network_release(&network);
        draft_release(&draft);
    }
    assert_true(naive_failures > 0);
}

/* The state when all waves before `wave` are acknowledged, as one set of tables. */
static void apply_waves(const struct update_plan *plan, size_t waves, const struct routes *after,
                        struct routes *mixed)
{
    for (size_t wave = 0; wave < waves; wave++) {
        const struct update_wave *item = &plan->waves.items[wave];
        for (uint32_t i = item->first; i < item->first + item->count; i++) {
            const struct table_update *update = &plan->updates.items[i];
            for (uint32_t lid = update->first_lid;
                 lid < (uint32_t)update->first_lid + update->lid_count && lid < mixed->stride;
                 lid++)
                routes_row(mixed, update->at)[lid] = routes_port(after, update->at, lid);
        }
    }
}

/* After a failure: every plan passes the check, and the tables between two waves can never
 * deadlock, whatever the planner and the check of transitions believe. */
static void check_plan(uint64_t seed, const char *from, const char *to, unsigned *unfinished)
{
    struct draft draft;
    struct network whole, broken;
    struct update_plan plan;
    draft_random(&draft, seed, 48);
    draft_build(&draft, 0, &whole);
    draft_break(&draft, seed, 1 + (unsigned)(seed % 2), (unsigned)(seed % 3 == 0));
    draft_build(&draft, 0, &broken);
    struct routes before = compute(&whole, from), after = compute(&broken, to);
    update_plan_make(&plan, &broken, &before, &after);
    assert_true(is_safe(&broken, &before, &after, &plan));
    *unfinished += plan.stuck.count > 0;
    for (size_t waves = 0; waves <= plan.waves.count; waves++) {
        struct routes mixed;
        struct verify_report report;
        routes_init(&mixed, &broken, "mixed");
        for (uint32_t at = 0; at < mixed.switch_count; at++)
            for (uint32_t lid = 0; lid < mixed.stride; lid++)
                routes_row(&mixed, at)[lid] = routes_port(&before, at, lid);
        apply_waves(&plan, waves, &after, &mixed);
        verify_routes(&broken, &mixed, &(struct verify_options){0}, &report);
        assert_int_equal(report.cycle.count, 0);
        assert_int_equal(report.loops, 0);
        if (waves == plan.waves.count && plan.stuck.count == 0)
            assert_true(verify_passes(&report));
        verify_report_release(&report);
        routes_release(&mixed);
    }
    update_plan_release(&plan);
    routes_release(&before);
    routes_release(&after);
    network_release(&whole);
    network_release(&broken);
    draft_release(&draft);
}

static void every_state_of_every_plan_is_safe_after_failures(void **state)
{
    unsigned unfinished = 0, plans = 0;
    for (uint64_t seed = 1; seed < NETWORKS; seed += step_through_seeds()) {
        check_plan(seed, "fera", "fera", &unfinished);
        check_plan(seed, "fera", "pira", &unfinished);
        check_plan(seed, "pira", "fera", &unfinished);
        check_plan(seed, "updn", "updn", &unfinished);
        plans += 4;
    }
    /* A safe order need not exist; but it is rare that there is none. */
    assert_true(unfinished * 5 < plans);
}

static void a_cycle_in_the_old_tables_is_reported_as_stuck(void **state)
{
    struct network network;
    struct routes ring, tree;
    struct engine_options allow = {.allow_cycles = true};
    struct update_plan plan;
    struct err err;
    build_ring(&network, 6);
    assert_int_equal(engine_minhop.compute(&network, &allow, &ring, &err), 0);
    tree = compute(&network, "fera");
    update_plan_make(&plan, &network, &ring, &tree);
    assert_int_equal(plan.updates.count, 0);
    assert_true(plan.stuck.count > 0);
    assert_int_equal(plan.stuck_vls, 1);
    assert_true(plan.stuck_hops >= 4); /* half of the ring, and the first switch */
    update_plan_release(&plan);
    routes_release(&ring);
    routes_release(&tree);
    network_release(&network);
}

/* From FERa back to PIRa packets in flight matter: the same waves without their drains are not
 * safe. */
static void a_plan_has_no_unnecessary_drains(void **state)
{
    unsigned with_drains = 0, unsafe_without = 0;
    for (uint64_t seed = 0; seed < 24; seed++) {
        struct draft draft;
        struct network network;
        struct update_plan plan;
        draft_random(&draft, seed, 48);
        draft_build(&draft, 0, &network);
        struct routes fera = compute(&network, "fera"), pira = compute(&network, "pira");
        update_plan_make(&plan, &network, &fera, &pira);
        assert_true(is_safe(&network, &fera, &pira, &plan));
        if (update_plan_drains(&plan)) {
            with_drains++;
            for (size_t i = 0; i < plan.waves.count; i++)
                plan.waves.items[i].drain = false;
            unsafe_without += !is_safe(&network, &fera, &pira, &plan);
        }
        update_plan_release(&plan);
        routes_release(&fera);
        routes_release(&pira);
        network_release(&network);
        draft_release(&draft);
    }
    assert_true(with_drains > 0);
    assert_int_equal(unsafe_without, with_drains);
}

static void plans_are_read_back_as_they_were_written(void **state)
{
    static const char written[] = "update 0x00000000000000a0 0-63\n"
                                  "update 0x00000000000000a1 7\n"
                                  "wait\n"
                                  "update 0x00000000000000a2 64-127\n"
                                  "drain\n"
                                  "update 0x00000000000000a3 0\n";
    struct network network;
    struct update_plan plan;
    struct err err = {0};
    struct text text = {0};
    build_ring(&network, 6);
    assert_int_equal(update_plan_read(&plan, &network, from_text("plan", written, &err)), 0);
    assert_int_equal(plan.waves.count, 3);
    assert_int_equal(plan.updates.count, 4);
    assert_false(plan.waves.items[1].drain);
    assert_true(plan.waves.items[2].drain);
    update_plan_write(&plan, &network, &text);
    assert_string_equal(text.data, written);
    update_plan_release(&plan);
    text_release(&text);
    assert_int_equal(update_plan_read(&plan, &network,
                                      from_text("plan", "# all of it\nupdate 0xa0 # now\n", &err)),
                     0);
    assert_int_equal(plan.updates.items[0].lid_count, 0xC000);
    update_plan_release(&plan);
    network_release(&network);
}

static void a_plan_may_end_with_a_hold_or_a_drain(void **state)
{
    static const char *const written[] = {
        "update 0x00000000000000a0 0-63\n"
        "hold 0 2 15\n"
        "update 0x00000000000000a1 7\n",
        "hold 3\n",
        "update 0x00000000000000a0 0-63\n"
        "drain\n",
    };
    const struct {
        size_t waves, updates, stuck;
        uint16_t vls;
    } wanted[] = {{1, 1, 1, 0x8005}, {0, 0, 0, 8}, {2, 1, 0, 0}};
    struct network network;
    build_ring(&network, 6);
    for (size_t i = 0; i < 3; i++) {
        struct update_plan plan;
        struct err err = {0};
        struct text text = {0};
        assert_int_equal(update_plan_read(&plan, &network, from_text("plan", written[i], &err)), 0);
        assert_int_equal(plan.waves.count, wanted[i].waves);
        assert_int_equal(plan.updates.count, wanted[i].updates);
        assert_int_equal(plan.stuck.count, wanted[i].stuck);
        assert_int_equal(plan.stuck_vls, wanted[i].vls);
        update_plan_write(&plan, &network, &text);
        assert_string_equal(text.data, written[i]);
        text_release(&text);
        update_plan_release(&plan);
    }
    network_release(&network);
}

static void a_bad_plan_is_an_error_with_its_line(void **state)
{
    static const char *const bad[] = {
        "wait\nupdate 0x1\n",      "wait\nupdate a0\n",         "wait\nupdate 0xa0 x\n",
        "wait\nupdate 0xa0 9-3\n", "wait\nupdate 0xa0 1 2\n",   "wait\nstop\n",
        "wait\nwait for it\n",     "wait\nupdate 0xa0 99999\n", "wait\nhold\n",
        "wait\nhold 16\n",         "wait\nhold 1,2\n",          "wait\nhold one\n",
        "hold 1\ndrain\n",         "hold 1\nhold 2\n",
    };
    struct network network;
    build_ring(&network, 6);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct update_plan plan;
        struct err err = {0};
        assert_true(update_plan_read(&plan, &network, from_text("plan", bad[i], &err)) < 0);
        assert_string_equal(err.file, "plan");
        assert_int_equal(err.line, 2);
        assert_int_equal(plan.updates.count, 0);
    }
    network_release(&network);
}

/* An old entry that leads over a cable from a switch to itself: packets loop there. */
static void an_entry_that_leads_back_to_its_switch_is_a_cycle(void **state)
{
    struct network network;
    struct update_plan plan;
    network_init(&network);
    network_add_switch(&network, 0x10, 1, 0, 4);
    network_add_switch(&network, 0x11, 2, 0, 4);
    network_link(&network, 0, 1, 1, 1);
    network_link(&network, 0, 2, 0, 3);
    network_add_terminal(&network, 0x20, 3, 0, 0, 4);
    network_add_terminal(&network, 0x21, 4, 0, 1, 4);
    network_finish(&network);
    struct routes before = compute(&network, "updn"), after = compute(&network, "updn");
    update_plan_make(&plan, &network, &before, &after);
    assert_int_equal(plan.stuck_vls, 0);
    update_plan_release(&plan);
    routes_set(&before, 0, 4, 2);
    update_plan_make(&plan, &network, &before, &after);
    assert_int_equal(plan.stuck_vls, 1);
    assert_int_equal(plan.stuck.count, 1);
    update_plan_release(&plan);
    routes_release(&before);
    routes_release(&after);
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updating_one_parent_first_loops_on_the_counterexample),
        cmocka_unit_test(only_packets_that_were_lost_anyway_may_be_sent_back),
        cmocka_unit_test(the_counterexample_has_a_safe_order_without_a_drain),
        cmocka_unit_test(children_first_is_all_that_pira_to_fera_needs),
        cmocka_unit_test(every_state_of_every_plan_is_safe_after_failures),
        cmocka_unit_test(a_cycle_in_the_old_tables_is_reported_as_stuck),
        cmocka_unit_test(an_entry_that_leads_back_to_its_switch_is_a_cycle),
        cmocka_unit_test(a_plan_has_no_unnecessary_drains),
        cmocka_unit_test(plans_are_read_back_as_they_were_written),
        cmocka_unit_test(a_plan_may_end_with_a_hold_or_a_drain),
        cmocka_unit_test(a_bad_plan_is_an_error_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
