/* Updates of layered routes: every VL stays free of cycles, in every state of the update, while VLs
 * are held, and when sources change to new service levels.
 *
 * WEFT_FULL=1 takes all random networks and all links; otherwise a slice of them. */
#include "effort.h"
#include "networks.h"

#include "routing/check/transition.h"
#include "routing/files/path_levels.h"
#include "routing/files/update_plan_text.h"
#include "routing/update/make_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const engines[] = {"dfsssp", "lash", "nue"};
enum { ENGINES = 3, NOWHERE = 15 };

static uint64_t step(uint64_t otherwise)
{
    return effort(1, otherwise, otherwise);
}

static struct routes compute_with(const struct network *network, const char *engine, unsigned vls)
{
    struct engine_options options = {.max_vls = (uint8_t)vls};
    struct routes routes;
    struct err err = {0};
    if (engine_find(engine)->compute(network, &options, &routes, &err))
        fail_msg("%s: %s", engine, err.message);
    return routes;
}

static struct routes compute(const struct network *network, const char *engine)
{
    return compute_with(network, engine, 0);
}

/* Cuts one link between switches; false if there are not so many. */
static bool cut_link(struct network *network, uint64_t number)
{
    for (uint32_t at = 0; at < network->switches.count; at++)
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            const struct network_edge *edge = &network->edges[e];
            if (edge->to < at || number-- > 0)
                continue;
            uint32_t near = network->switches.items[at].first_port + edge->port;
            uint32_t far = network->switches.items[edge->to].first_port + edge->to_port;
            network->ports.items[near].peer = network->ports.items[far].peer = NETWORK_NONE;
            network_finish(network);
            return true;
        }
    return false;
}

static bool is_safe(const struct network *network, const struct routes *before,
                    const struct routes *after, const struct update_plan *plan)
{
    struct transition_report report;
    verify_transition(network, before, after, plan, &report);
    bool safe = report.safe;
    assert_int_equal(safe, report.cycle.cycle.count == 0);
    assert_int_equal(report.left_out, 0);
    transition_report_release(&report);
    return safe;
}

/* ---- states of an update, checked by the check of plain routes, without the plan ---- */

static void apply(const struct table_update *update, const struct routes *after,
                  struct routes *mixed)
{
    uint32_t end = (uint32_t)update->first_lid + update->lid_count;
    for (uint32_t lid = update->first_lid; lid < end && lid < mixed->stride; lid++)
        routes_row(mixed, update->at)[lid] = routes_port(after, update->at, lid);
}

static bool sends(const struct network *network, const struct routes *mixed, uint32_t at,
                  uint32_t lid)
{
    bool to_switch =
        network->owner[lid] == NETWORK_NONE || (network->owner[lid] & NETWORK_SWITCH) != 0;
    return mixed->service_levels[(size_t)at * mixed->stride + lid] != NOWHERE &&
           (!to_switch || network_terminal_count(network, at) > 0);
}

/* Entries that no packets use do not count: those between switches without terminals, and of held
 * VLs. They may lead into loops, which the check would count as a cycle. */
static void assert_no_cycle(const struct network *network, const struct routes *mixed)
{
    struct routes used = *mixed;
    struct verify_report report;
    used.ports = mem_alloc((size_t)mixed->switch_count * mixed->stride);
    memset(used.ports, PORT_NONE, (size_t)mixed->switch_count * mixed->stride);
    for (uint32_t lid = 1; lid <= network->top_lid; lid++)
        for (uint32_t from = 0; from < mixed->switch_count; from++) {
            uint32_t at = from, peer = NETWORK_SWITCH;
            while (sends(network, mixed, from, lid) && (peer & NETWORK_SWITCH) &&
                   routes_port(&used, at, lid) == PORT_NONE) {
                const struct network_switch *node = &network->switches.items[at];
                uint8_t port = routes_port(mixed, at, lid);
                routes_row(&used, at)[lid] = port;
                peer = port == 0 || port > node->port_count
                           ? 0
                           : network->ports.items[node->first_port + port].peer;
                if (peer == NETWORK_NONE)
                    peer = 0;
                at = peer & ~NETWORK_SWITCH;
            }
        }
    verify_routes(network, &used, &(struct verify_options){0}, &report);
    if (report.cycle.count || report.loops)
        fail_msg("%s", report.findings.items[0]);
    verify_report_release(&report);
    mem_free(used.ports);
}

/* Old tables with the service levels that sources have. */
static void copy_old(struct routes *mixed, const struct network *network,
                     const struct routes *before)
{
    routes_init(mixed, network, "mixed");
    mixed->vls = before->vls;
    mixed->service_levels = mem_zalloc((size_t)mixed->switch_count * mixed->stride, 1);
    for (uint32_t at = 0; at < mixed->switch_count; at++)
        for (uint32_t lid = 0; lid < mixed->stride && lid < before->stride; lid++) {
            routes_row(mixed, at)[lid] = routes_port(before, at, lid);
            if (before->service_levels)
                mixed->service_levels[(size_t)at * mixed->stride + lid] =
                    before->service_levels[(size_t)at * before->stride + lid];
        }
}

/* Packets of held VLs are gone: they get a VL that does not exist. */
static void hold_vls(struct routes *mixed, uint16_t vls)
{
    for (size_t i = 0; i < (size_t)mixed->switch_count * mixed->stride; i++)
        if (vls >> mixed->service_levels[i] & 1)
            mixed->service_levels[i] = NOWHERE;
}

static void check_states(const struct network *network, const struct routes *before,
                         const struct routes *after, const struct update_plan *plan)
{
    struct routes mixed;
    struct rng rng;
    rng_seed(&rng, plan->updates.count, 0);
    copy_old(&mixed, network, before);
    for (size_t wave = 0; wave < plan->waves.count; wave++) {
        const struct update_wave *item = &plan->waves.items[wave];
        for (uint32_t i = item->first; i < item->first + item->count; i++) {
            apply(&plan->updates.items[i], after, &mixed);
            if (rng_below(&rng, item->count) == 0)
                assert_no_cycle(network, &mixed); /* in the middle of a wave */
        }
        assert_no_cycle(network, &mixed);
    }
    if (plan->stuck_vls)
        assert_true(routes_longest(&mixed, network) <= plan->stuck_hops);
    hold_vls(&mixed, plan->stuck_vls);
    for (size_t i = plan->stuck.count; i-- > 0;) {
        apply(&plan->stuck.items[i], after, &mixed);
        if (i == 0 || rng_below(&rng, plan->stuck.count) == 0)
            assert_no_cycle(network, &mixed);
    }
    assert_int_equal(routes_compare(&mixed, after).entries, 0);
    routes_release(&mixed);
}

/* ---- plans ---- */

/* Sums over many updates. */
struct outcome {
    unsigned plans, holds, vls, drained_last, with_drains, unsafe_without_drains;
    unsigned with_first, unsafe_without_first;
    uint64_t changed, stuck;
};

/* Every VL that is held must be held. */
static void check_lanes(const struct network *network, const struct routes *before,
                        const struct routes *after, struct update_plan *plan)
{
    uint16_t vls = plan->stuck_vls;
    for (unsigned vl = 0; vl < 16; vl++) {
        if (!(vls >> vl & 1))
            continue;
        plan->stuck_vls = vls & (uint16_t) ~(1u << vl);
        assert_false(is_safe(network, before, after, plan));
    }
    plan->stuck_vls = vls;
}

/* A last drain, before new service levels, is necessary, too. */
static void check_drains(const struct network *network, const struct routes *before,
                         const struct routes *after, struct update_plan *plan,
                         struct outcome *outcome)
{
    size_t waves = plan->waves.count;
    if (waves && plan->waves.items[waves - 1].count == 0) {
        outcome->drained_last++;
        assert_true(plan->waves.items[waves - 1].drain);
        assert_int_equal(plan->stuck_vls, 0);
        plan->waves.count--;
        assert_false(is_safe(network, before, after, plan));
        plan->waves.count++;
    }
    if (!update_plan_drains(plan))
        return;
    outcome->with_drains++;
    for (size_t i = 0; i < waves; i++)
        plan->waves.items[i].drain = false;
    outcome->unsafe_without_drains += !is_safe(network, before, after, plan);
}

/* First levels are right for old tables, and the plan needs them. */
static void check_first(const struct network *network, const struct routes *before,
                        const struct routes *after, struct update_plan *plan,
                        struct outcome *outcome)
{
    uint8_t *first = plan->first_levels;
    struct routes middle = *before;
    struct verify_report report;
    if (!first)
        return;
    middle.service_levels = first;
    verify_routes(network, &middle, &(struct verify_options){0}, &report);
    assert_int_equal(report.cycle.count, 0);
    verify_report_release(&report);
    assert_true(plan->first_hops >= routes_longest(before, network));
    outcome->with_first++;
    plan->first_levels = NULL;
    outcome->unsafe_without_first += !is_safe(network, before, after, plan);
    plan->first_levels = first;
}

static void check_plan(const struct network *network, const struct routes *before,
                       const struct routes *after, struct update_plan *plan,
                       struct outcome *outcome)
{
    struct routes middle = *before;
    if (plan->first_levels)
        middle.service_levels = plan->first_levels;
    assert_true(is_safe(network, before, after, plan));
    assert_true(plan->stuck_vls || !plan->stuck.count);
    check_first(network, before, after, plan, outcome);
    check_states(network, &middle, after, plan);
    check_lanes(network, before, after, plan);
    outcome->plans++;
    outcome->holds += plan->stuck_vls != 0;
    outcome->vls += (unsigned)__builtin_popcount(plan->stuck_vls);
    outcome->changed += routes_compare(before, after).entries;
    for (size_t i = 0; i < plan->stuck.count; i++)
        outcome->stuck += plan->stuck.items[i].lid_count;
    check_drains(network, before, after, plan, outcome);
}

static void assert_proved(const struct network *network, const struct routes *routes)
{
    struct verify_report report;
    verify_routes(network, routes, &(struct verify_options){.reversible = routes->reversible},
                  &report);
    assert_true(verify_passes(&report));
    verify_report_release(&report);
}

/* All tables computed again, with the engine's service levels, with old ones where possible, and
 * with first levels. */
struct outcomes {
    struct outcome own, kept, moved_first;
};

static void check_update(const struct network *whole, const struct network *broken,
                         const char *engine, struct outcomes *outcomes)
{
    struct routes before = compute(whole, engine), after = compute(broken, engine);
    struct routes again = compute(broken, engine);
    struct update_plan plan;
    update_plan_make(&plan, broken, &before, &after);
    check_plan(broken, &before, &after, &plan, &outcomes->own);
    update_plan_release(&plan);
    update_plan_keep_levels(broken, &before, &after);
    assert_proved(broken, &after);
    update_plan_make(&plan, broken, &before, &after);
    check_plan(broken, &before, &after, &plan, &outcomes->kept);
    update_plan_release(&plan);
    update_plan_make_with_levels(&plan, broken, &before, &again);
    assert_proved(broken, &again);
    assert_int_equal(again.vls, after.vls);
    check_plan(broken, &before, &again, &plan, &outcomes->moved_first);
    update_plan_release(&plan);
    routes_release(&before);
    routes_release(&after);
    routes_release(&again);
}

static void lose_links(const char *kind, const char *word, const char *engine, uint64_t stride,
                       struct outcomes *outcomes)
{
    struct network whole;
    bool cut = true;
    build_kind(&whole, kind, &word, 1, 0, 1);
    for (uint64_t link = 0; cut; link += stride) {
        struct network broken;
        build_kind(&broken, kind, &word, 1, 0, 1);
        cut = cut_link(&broken, link);
        if (cut)
            check_update(&whole, &broken, engine, outcomes);
        network_release(&broken);
    }
    network_release(&whole);
}

static void traffic_of_a_torus_that_lost_a_link_continues_on_some_vls(void **state)
{
    for (size_t k = 0; k < ENGINES; k++) {
        struct outcomes all = {0};
        lose_links("torus", "dims=5x5", engines[k], step(4), &all);
        assert_true(all.kept.plans >= 12);
        assert_true(all.kept.vls * 4 < all.kept.plans * 8 * 3); /* of eight, for each */
        assert_true(all.kept.vls * 6 < all.own.vls * 5);
        assert_true(all.kept.stuck * 5 < all.kept.changed);
    }
}

static void traffic_continues_on_nearly_all_vls_if_levels_change_first(void **state)
{
    for (size_t k = 0; k < ENGINES; k++) {
        struct outcomes all = {0};
        lose_links("torus", "dims=5x5", engines[k], step(11), &all);
        assert_true(all.kept.holds * 3 >= all.kept.plans * 2);
        assert_true(all.moved_first.vls * 10 <= all.kept.vls);
        assert_true(all.moved_first.with_first > 0);
        assert_int_equal(all.moved_first.unsafe_without_first, all.moved_first.with_first);
    }
}

static void a_small_torus_seldom_needs_a_hold(void **state)
{
    for (size_t k = 0; k < ENGINES; k++) {
        struct outcomes all = {0};
        lose_links("torus", "dims=4x4", engines[k], step(3), &all);
        assert_true(all.kept.plans >= 10);
        assert_true(all.kept.holds * 2 <= all.kept.plans);
        assert_int_equal(all.moved_first.holds, 0);
    }
}

static void a_ring_that_lost_a_link_never_needs_a_hold(void **state)
{
    static const char *const sizes[] = {"switches=5", "switches=6", "switches=9"};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < ENGINES; k++) {
            struct outcomes all = {0};
            lose_links("ring", sizes[i], engines[k], 1, &all);
            assert_int_equal(all.kept.holds + all.moved_first.holds, 0);
        }
}

static void an_irregular_network_is_held_on_fewer_vls(void **state)
{
    struct outcomes all = {0};
    lose_links("irregular", "switches=48", "dfsssp", step(13), &all);
    assert_true(all.kept.plans >= 5);
    assert_true(all.moved_first.vls * 2 < all.kept.vls);
}

static void every_vl_is_safe_on_random_networks_after_failures(void **state)
{
    struct outcomes all = {0};
    for (uint64_t seed = 1; seed < 400; seed += effort(1, 3, 10)) {
        struct draft draft;
        struct network whole, broken;
        draft_random(&draft, seed, 32);
        draft_build(&draft, 0, &whole);
        draft_break(&draft, seed, 1 + (unsigned)(seed % 2), (unsigned)(seed % 3 == 0));
        draft_build(&draft, 0, &broken);
        for (size_t k = 0; k < ENGINES; k++)
            check_update(&whole, &broken, engines[k], &all);
        network_release(&whole);
        network_release(&broken);
        draft_release(&draft);
    }
    print_message("%u plans: %u holds of %u lanes with the engines' levels, %u of %u with old "
                  "ones, %u of %u if some change first\n",
                  all.kept.plans, all.own.holds, all.own.vls, all.kept.holds, all.kept.vls,
                  all.moved_first.holds, all.moved_first.vls);
    assert_true(all.kept.vls < all.own.vls && all.kept.holds < all.own.holds);
    assert_true(all.moved_first.vls < all.kept.vls && all.moved_first.holds < all.kept.holds);
    assert_true(all.kept.drained_last + all.own.drained_last > 0);
    assert_true(all.kept.with_drains > 0);
    /* The planner may take a packet to be where it cannot be; but that is rare. */
    assert_true(all.kept.unsafe_without_drains * 50 >= all.kept.with_drains * 49);
    assert_true(all.moved_first.with_first > 0);
}

/* The same tables, each with levels that are right, but not both at once: sources have to stop in
 * between, though there is nothing to write. */
static void levels_that_change_on_a_ring_need_a_hold(void **state)
{
    struct network network;
    struct update_plan nothing = {0}, plan;
    struct transition_report report;
    build_ring(&network, 7);
    struct routes before = compute_with(&network, "dfsssp", 2);
    struct routes after = compute_with(&network, "dfsssp", 2);
    assert_int_equal(before.vls, 2);
    assert_true(is_safe(&network, &before, &after, &nothing));
    for (size_t i = 0; i < (size_t)after.switch_count * after.stride; i++)
        after.service_levels[i] = (uint8_t)(1 - before.service_levels[i]);
    verify_transition(&network, &before, &after, &nothing, &report);
    assert_false(report.safe);
    assert_int_equal(report.when, TRANSITION_LEVELS);
    assert_non_null(strstr(report.cycle.findings.items[0], "when service levels change"));
    transition_report_release(&report);
    update_plan_make(&plan, &network, &before, &after);
    assert_int_equal(plan.updates.count + plan.stuck.count + plan.waves.count, 0);
    assert_int_equal(plan.stuck_vls, 3);
    assert_int_equal(plan.stuck_hops, 4);
    assert_true(is_safe(&network, &before, &after, &plan));
    update_plan_release(&plan);
    assert_true(update_plan_keep_levels(&network, &before, &after));
    assert_true(is_safe(&network, &before, &after, &nothing));
    /* A hold does not help if the new levels themselves are wrong. */
    nothing.stuck_vls = 3;
    memset(after.service_levels, 0, (size_t)after.switch_count * after.stride);
    assert_false(is_safe(&network, &before, &after, &nothing));
    routes_release(&before);
    routes_release(&after);
    network_release(&network);
}

/* The same, if they are to change first. */
static void first_levels_that_close_a_cycle_are_found(void **state)
{
    struct network network;
    struct update_plan plan = {0};
    struct transition_report report;
    build_ring(&network, 7);
    struct routes before = compute_with(&network, "dfsssp", 2);
    size_t cells = (size_t)before.switch_count * before.stride;
    plan.first_levels = mem_alloc(cells);
    memcpy(plan.first_levels, before.service_levels, cells);
    assert_true(is_safe(&network, &before, &before, &plan));
    for (size_t i = 0; i < cells; i++)
        plan.first_levels[i] = (uint8_t)(1 - before.service_levels[i]);
    verify_transition(&network, &before, &before, &plan, &report);
    assert_false(report.safe);
    assert_int_equal(report.when, TRANSITION_FIRST);
    assert_non_null(strstr(report.cycle.findings.items[0], "when first service levels"));
    transition_report_release(&report);
    update_plan_release(&plan);
    routes_release(&before);
    network_release(&network);
}

/* All old levels on one VL: as if there were no others. */
static void a_plan_from_one_vl_is_the_plan_without_levels(void **state)
{
    struct network network;
    struct update_plan with, without;
    struct text first = {0}, second = {0};
    build_counterexample(&network);
    struct routes before = compute(&network, "pira"), after = compute(&network, "fera");
    update_plan_make(&without, &network, &before, &after);
    before.service_levels = mem_zalloc((size_t)before.switch_count * before.stride, 1);
    update_plan_make(&with, &network, &before, &after);
    update_plan_write(&with, &network, &first);
    update_plan_write(&without, &network, &second);
    assert_string_equal(first.data, second.data);
    assert_int_equal(with.operations, without.operations);
    text_release(&first);
    text_release(&second);
    update_plan_release(&with);
    update_plan_release(&without);
    routes_release(&before);
    routes_release(&after);
    network_release(&network);
}

/* From one VL to several all old packets are on VL 0; if their VL is unknown, it may be any. */
static void without_old_levels_all_vls_that_may_be_in_use_are_held(void **state)
{
    const char *dims = "dims=5x5";
    struct network network;
    build_kind(&network, "torus", &dims, 1, 0, 1);
    struct routes before = compute(&network, "updn"), after = compute(&network, "dfsssp");
    assert_null(before.service_levels);
    for (unsigned vls = 1; vls <= 15; vls += 7) {
        struct update_plan plan;
        before.vls = (uint8_t)vls;
        update_plan_make(&plan, &network, &before, &after);
        assert_int_equal(plan.stuck_vls, (1u << vls) - 1);
        assert_true(is_safe(&network, &before, &after, &plan));
        check_lanes(&network, &before, &after, &plan);
        update_plan_release(&plan);
    }
    routes_release(&before);
    routes_release(&after);
    network_release(&network);
}

/* From several VLs to one, and back. */
static void routes_may_change_from_many_vls_to_one(void **state)
{
    const char *dims = "dims=4x4";
    struct outcome outcome = {0};
    struct network network;
    struct update_plan plan;
    build_kind(&network, "torus", &dims, 1, 0, 1);
    struct routes many = compute(&network, "dfsssp"), one = compute(&network, "updn");
    assert_true(many.vls > 1 && !one.service_levels);
    update_plan_make_with_levels(&plan, &network, &many, &one);
    check_plan(&network, &many, &one, &plan, &outcome);
    update_plan_release(&plan);
    assert_false(update_plan_keep_levels(&network, &many, &one));
    assert_int_equal(outcome.plans, 1);
    routes_release(&many);
    routes_release(&one);
    network_release(&network);
}

static void service_levels_are_read_back_as_they_were_written(void **state)
{
    const char *words[] = {"dims=3x4", "hosts=2"};
    struct network network;
    struct text text = {0};
    struct err err = {0};
    build_kind(&network, "torus", words, 2, 0, 1);
    struct routes routes = compute(&network, "lash"), again = compute(&network, "updn");
    path_levels_write(&routes, &network, &text);
    assert_int_equal(path_levels_read(&again, &network, from_text("levels", text.data, &err)), 0);
    assert_int_equal(again.vls, routes.vls);
    for (uint32_t at = 0; at < routes.switch_count; at++)
        for (uint32_t lid = 1; lid <= network.top_lid; lid++)
            assert_int_equal(again.service_levels[(size_t)at * again.stride + lid],
                             routes.service_levels[(size_t)at * routes.stride + lid]);
    char uneven[64];
    snprintf(uneven, sizeof uneven, "0x%llx 5 3\n",
             (unsigned long long)network.terminals.items[0].node_guid);
    uint8_t *held = again.service_levels;
    assert_true(path_levels_read(&again, &network, from_text("uneven", uneven, &err)) < 0);
    assert_string_equal(err.file, "uneven");
    assert_non_null(strstr(err.message, "different service levels"));
    assert_ptr_equal(again.service_levels, held);
    text_release(&text);
    routes_release(&routes);
    routes_release(&again);
    network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traffic_of_a_torus_that_lost_a_link_continues_on_some_vls),
        cmocka_unit_test(traffic_continues_on_nearly_all_vls_if_levels_change_first),
        cmocka_unit_test(a_small_torus_seldom_needs_a_hold),
        cmocka_unit_test(a_ring_that_lost_a_link_never_needs_a_hold),
        cmocka_unit_test(an_irregular_network_is_held_on_fewer_vls),
        cmocka_unit_test(every_vl_is_safe_on_random_networks_after_failures),
        cmocka_unit_test(levels_that_change_on_a_ring_need_a_hold),
        cmocka_unit_test(first_levels_that_close_a_cycle_are_found),
        cmocka_unit_test(a_plan_from_one_vl_is_the_plan_without_levels),
        cmocka_unit_test(without_old_levels_all_vls_that_may_be_in_use_are_held),
        cmocka_unit_test(routes_may_change_from_many_vls_to_one),
        cmocka_unit_test(service_levels_are_read_back_as_they_were_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
