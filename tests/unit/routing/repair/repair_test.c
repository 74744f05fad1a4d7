/* Repair of tables after a change, against the independent checks and against engines that compute
 * from scratch.
 *
 * WEFT_FULL=1 takes all seeds; otherwise a slice of them. */
#include "repair_world.h"

#include "routing/check/transition.h"
#include "routing/check/verify.h"
#include "routing/repair/verify_change.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

struct tally {
    unsigned steps, repaired;
    uint64_t changed, broken, engine_changed;
};

/* All that must hold of a repair; false if its updates would wait for each other. */
static bool check_repair(struct world *world, struct step *step, struct tally *tally)
{
    struct err err;
    uint64_t operations = 0;
    struct verify_report report;
    struct order_plan plan;
    if (verify_change(step->network, &step->after, &step->repair, NULL, &step->graph, &operations,
                      &err))
        fail_msg("%s: %s", world->engine->name, err.message);
    verify_routes(step->network, &step->after, &(struct verify_options){0}, &report);
    if (!verify_holds(&report))
        fail_msg("%s: %s", world->engine->name, report.findings.items[0]);
    verify_report_release(&report);
    assert_int_equal(step->repair.entries.count, routes_compare(&step->held, &step->after).entries);
    tally->changed += step->repair.entries.count;
    tally->broken += count_broken(step->network, &step->before);
    bool planned = repair_plan(&step->repair, &step->after, &plan);
    if (planned && !world->routes.service_levels) {
        struct transition_report transition;
        verify_transition(step->network, &step->before, &step->after, &plan, &transition);
        if (!transition.safe)
            fail_msg("%s: %s", world->engine->name, transition.cycle.findings.items[0]);
        transition_report_release(&transition);
    }
    order_release(&plan);
    return planned;
}

static void play(const char *engine, uint64_t seed, unsigned steps, struct tally *tally)
{
    struct world world;
    struct err err;
    world_init(&world, engine, seed, 40);
    for (unsigned i = 0; i < steps; i++) {
        struct step step;
        world_change(&world);
        world_begin_step(&world, &step);
        bool repaired = step.known &&
                        repair_tables(&step.repair, step.network, &step.after, NULL, &err) == 0 &&
                        check_repair(&world, &step, tally);
        struct routes full = compute_routes(step.network, world.engine);
        tally->engine_changed += repaired ? routes_compare(&step.held, &full).entries : 0;
        tally->steps++;
        tally->repaired += repaired;
        if (repaired) {
            routes_release(&full);
        } else {
            routes_release(&step.after);
            step.after = full;
        }
        world_end_step(&world, &step, repaired);
    }
    world_release(&world);
}

/* Links and switches go and come, one after the other; what was repaired is repaired again. */
static void repaired_tables_pass_every_check(void **state)
{
    const char *names[] = {"fera", "pira", "updn", "dr", "nue", "dfsssp", "lash"};
    uint64_t seeds = getenv("WEFT_FULL") ? 100 : 6;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct tally tally = {0};
        for (uint64_t seed = 1; seed <= seeds; seed++)
            play(names[i], seed, 60, &tally);
        assert_true(tally.repaired * 10 >= tally.steps * 8);
        assert_true(tally.changed * 10 <= tally.broken * 12);
        assert_true(tally.changed * 3 < tally.engine_changed);
    }
}

static void spoilt_repairs_do_not_pass(void **state)
{
    struct err err;
    unsigned tried = 0, passed = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct world world;
        struct step step;
        uint64_t operations = 0;
        world_init(&world, "updn", seed, 40);
        for (unsigned i = 0; i < 4; i++)
            world_change(&world);
        world_begin_step(&world, &step);
        if (repair_tables(&step.repair, step.network, &step.after, NULL, &err) == 0 &&
            step.repair.entries.count) {
            size_t spoilt = rng_below(&world.rng, step.repair.entries.count);
            struct repair_entry *entry = &step.repair.entries.items[spoilt];
            entry->after = entry->before;
            routes_row(&step.after, entry->at)[entry->lid] = entry->before;
            tried++;
            passed += verify_change(step.network, &step.after, &step.repair, NULL, &step.graph,
                                    &operations, &err) == 0;
        }
        step_release(&step);
        world_release(&world);
    }
    assert_true(tried > 10);
    assert_true(passed * 4 < tried); /* some entries only moved aside for others */
}

static void an_order_that_does_not_fit_does_not_pass(void **state)
{
    struct world world;
    struct step step;
    struct err err;
    uint64_t operations = 0;
    (void)state;
    world_init(&world, "updn", 3, 40);
    world_change(&world);
    world_begin_step(&world, &step);
    assert_int_equal(repair_tables(&step.repair, step.network, &step.after, NULL, &err), 0);
    struct standing *standing = &step.repair.standing;
    uint32_t nodes = standing->graph.first_node[step.network->switches.count];
    for (uint32_t i = 0; i < nodes; i++)
        standing->label[i] = -standing->label[i];
    assert_int_not_equal(verify_change(step.network, &step.after, &step.repair, NULL, &step.graph,
                                       &operations, &err),
                         0);
    step_release(&step);
    world_release(&world);
}

/* After one loss engines that promise shortest routes have them no longer than after computing. */
static void routes_stay_as_short_as_they_can_be(void **state)
{
    const char *names[] = {"dfsssp", "lash"};
    struct err err;
    unsigned compared = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct world world;
        struct step step;
        world_init(&world, names[seed % 2], seed, 30);
        bool back = world_change(&world);
        world_begin_step(&world, &step);
        if (!back && step.known &&
            repair_tables(&step.repair, step.network, &step.after, NULL, &err) == 0) {
            struct verify_report own, fresh;
            struct routes full = compute_routes(step.network, world.engine);
            verify_routes(step.network, &step.after, &(struct verify_options){0}, &own);
            verify_routes(step.network, &full, &(struct verify_options){0}, &fresh);
            assert_true(own.hops_sum <= fresh.hops_sum);
            compared++;
            verify_report_release(&own);
            verify_report_release(&fresh);
            routes_release(&full);
        }
        step_release(&step);
        world_release(&world);
    }
    assert_true(compared > 20);
}

/* Whether every dependency of tables that hold is in both graphs. */
static bool are_in(const struct network *network, const struct routes *routes,
                   const struct dependency_graph *one, const struct dependency_graph *other)
{
    struct dependency_graph graph;
    struct verify_report report;
    bool all = true;
    verify_routes(network, routes, &(struct verify_options){.keep = &graph}, &report);
    assert_true(verify_holds(&report));
    for (size_t i = 0; i < graph.first_word[network->switches.count]; i++)
        all &= !(graph.bits[i] & ~(one->bits[i] & other->bits[i]));
    verify_report_release(&report);
    dependency_release(&graph);
    return all;
}

static bool tables_hold(const struct network *network, const struct routes *routes)
{
    struct verify_report report;
    verify_routes(network, routes, &(struct verify_options){0}, &report);
    bool holds = verify_holds(&report);
    verify_report_release(&report);
    return holds;
}

/* Somebody changes an entry; the tables stay right. Returns its LID, or 0. */
static uint16_t edit_entry(struct world *world)
{
    const struct network *network = world->network;
    for (unsigned tries = 0; tries < 20 && network->terminals.count; tries++) {
        uint16_t lid =
            network->terminals.items[rng_below(&world->rng, network->terminals.count)].lid;
        uint32_t at = (uint32_t)rng_below(&world->rng, network->switches.count);
        uint32_t edges = network->first_edge[at + 1] - network->first_edge[at];
        if (edges == 0)
            continue;
        uint8_t *entry = routes_row(&world->routes, at) + lid, before = *entry;
        *entry = network->edges[network->first_edge[at] + rng_below(&world->rng, edges)].port;
        if (*entry != before && tables_hold(network, &world->routes))
            return lid;
        *entry = before;
    }
    return 0;
}

static void entries_that_others_changed_are_counted(void **state)
{
    struct err err;
    unsigned unseen = 0, repaired = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct world world;
        struct step step;
        uint64_t operations = 0;
        world_init(&world, "updn", seed, 30);
        uint16_t lid = edit_entry(&world);
        if (lid)
            unseen += !are_in(world.network, &world.routes, &world.graph, &world.graph);
        world_change(&world);
        world_begin_step(&world, &step);
        step.repair.lids.count = 0; /* new ones go without routes here */
        if (lid && step.known && lid <= step.network->top_lid &&
            step.network->owner[lid] != NETWORK_NONE) {
            step.repair.live = mem_zalloc(BITSET_WORDS(NETWORK_TOP_LID + 1u), sizeof(uint64_t));
            bitset_add(step.repair.live, lid);
            vec_push(&step.repair.lids, lid);
            if (repair_tables(&step.repair, step.network, &step.after, NULL, &err) == 0 &&
                tables_hold(step.network, &step.after)) {
                assert_int_equal(verify_change(step.network, &step.after, &step.repair, NULL,
                                               &step.graph, &operations, &err),
                                 0);
                assert_true(
                    are_in(step.network, &step.after, &step.repair.standing.graph, &step.graph));
                repaired++;
            }
        }
        step_release(&step);
        world_release(&world);
    }
    assert_true(unseen > 10 && repaired > 20);
}

/* Further changes while some of the updates for the last one are not there yet. */
static unsigned play_hastily(const char *engine, uint64_t seed)
{
    struct world world;
    struct err err;
    unsigned counted = 0;
    bool repaired = true;
    world_init(&world, engine, seed, 24);
    for (unsigned i = 0; i < 8 && repaired; i++) {
        struct step step;
        uint64_t operations = 0;
        world_change(&world);
        world_begin_step(&world, &step);
        repaired = step.known &&
                   repair_tables(&step.repair, step.network, &step.after, NULL, &err) == 0 &&
                   verify_change(step.network, &step.after, &step.repair, NULL, &step.graph,
                                 &operations, &err) == 0;
        if (!repaired) {
            step_release(&step);
            continue;
        }
        assert_true(tables_hold(step.network, &step.after));
        assert_true(are_in(step.network, &step.after, &step.graph, &step.graph));
        counted += world.unwritten.count > 0;
        world.unwritten.count = 0;
        for (size_t k = 0; k < step.repair.entries.count; k++)
            if (rng_below(&world.rng, 2))
                vec_push(&world.unwritten, step.repair.entries.items[k]);
        repaired = step.repair.standing.known;
        world_end_step(&world, &step, true);
    }
    world_release(&world);
    return counted;
}

static void entries_that_are_not_written_yet_are_counted(void **state)
{
    const char *names[] = {"updn", "fera", "pira", "dfsssp"};
    unsigned counted = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++)
        counted += play_hastily(names[seed % 4], seed);
    assert_true(counted > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repaired_tables_pass_every_check),
        cmocka_unit_test(spoilt_repairs_do_not_pass),
        cmocka_unit_test(an_order_that_does_not_fit_does_not_pass),
        cmocka_unit_test(routes_stay_as_short_as_they_can_be),
        cmocka_unit_test(entries_that_others_changed_are_counted),
        cmocka_unit_test(entries_that_are_not_written_yet_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
