/* Repair of tables after a change, against the independent checks and against engines that compute
 * from scratch; and the check of repairs, against repairs that are wrong.
 *
 * WEFT_FULL=1 takes all seeds; otherwise a slice of them. */
#include "effort.h"
#include "repair_world.h"

#include "routing/check/transition.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static uint64_t count_seeds(uint64_t some, uint64_t all)
{
    return effort(all, some, some);
}

struct tally {
    unsigned steps, repaired;
    uint64_t changed, broken, engine_changed;
};

/* Only entries that wait for a drain, or for an entry that does, are written after one. */
static void assert_no_needless_drain(const struct step *step)
{
    const struct repair *repair = &step->repair;
    bool *waits = mem_zalloc(repair->entries.count + 1, sizeof *waits), more = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < repair->waits.count; i++) {
            const struct update_wait *wait = &repair->waits.items[i];
            if (!waits[wait->entry] && (wait->drain || waits[wait->first]))
                waits[wait->entry] = more = true;
        }
    }
    size_t early = 0, first = 0;
    for (size_t i = 0; i < repair->entries.count; i++)
        early += !waits[i];
    for (; first < step->plan.waves.count && !step->plan.waves.items[first].drain; first++)
        early -= step->plan.waves.items[first].count;
    assert_int_equal(early, 0);
    mem_free(waits);
}

/* All that must hold of a repair. */
static void assert_right(const struct world *world, struct step *step)
{
    struct err err;
    if (step_check(step, &err))
        fail_msg("%s: %s", world->engine->name, err.message);
    assert_true(tables_hold(step->network, &step->after, &step->change.graph));
    assert_no_needless_drain(step);
    assert_int_equal(step->repair.entries.count, routes_compare(&step->held, &step->after).entries);
    if (world->routes.service_levels)
        return;
    struct transition_report transition;
    verify_transition(step->network, &step->before, &step->after, &step->plan, &transition);
    if (!transition.safe)
        fail_msg("%s: %s", world->engine->name, transition.cycle.findings.items[0]);
    transition_report_release(&transition);
}

/* Links and switches are lost and restored, one after the other; repaired tables are repaired
 * again. It ends when no repair is possible and the engine refuses, too. */
static void play(struct world *world, unsigned steps, struct tally *tally)
{
    bool going = true;
    for (unsigned i = 0; i < steps && going; i++) {
        struct step step;
        struct routes full = {0};
        world_change(world);
        step_begin(&step, world);
        bool repaired = step_repair(&step), computed = compute(step.network, world->engine, &full);
        tally->steps++;
        tally->repaired += repaired;
        if (repaired) {
            assert_right(world, &step);
            tally->changed += step.repair.entries.count;
            tally->broken += count_broken(step.network, &step.before);
            if (computed)
                tally->engine_changed += routes_compare(&step.held, &full).entries;
            routes_release(&full);
        } else {
            routes_release(&step.after);
            step.after = full;
        }
        going = repaired || computed;
        if (going)
            step_end(&step, world, repaired);
        else
            step_release(&step);
    }
    world_release(world);
}

static void assert_good(const struct tally *tally)
{
    assert_true(tally->repaired * 10 >= tally->steps * 8);
    assert_true(tally->changed * 10 <= tally->broken * 12);
    assert_true(tally->changed * 3 < tally->engine_changed);
}

static void repaired_tables_pass_every_check(void **state)
{
    const char *names[] = {"fera", "pira", "updn", "dr", "nue", "dfsssp", "lash"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct tally tally = {0};
        for (uint64_t seed = 1; seed <= count_seeds(6, 100); seed++) {
            struct world world;
            world_init(&world, names[i], seed, 40);
            play(&world, 60, &tally);
        }
        assert_good(&tally);
    }
}

static void repaired_trees_pass_every_check(void **state)
{
    const char *names[] = {"ftree", "updn", "minhop"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct tally tally = {0};
        for (uint64_t seed = 1; seed <= count_seeds(3, 40); seed++) {
            struct world world;
            world_init_tree(&world, names[i], seed % 2 ? "k=3" : "k=4", seed);
            play(&world, 20, &tally);
        }
        assert_true(tally.repaired * 10 >= tally.steps * 8);
        assert_true(tally.changed * 10 <= tally.broken * 12);
    }
}

/* ---- what the check refuses ---- */

static void wrong_repairs_do_not_pass(void **state)
{
    struct err err;
    unsigned tried = 0, passed = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct world world;
        struct step step;
        world_init(&world, "updn", seed, 40);
        for (unsigned i = 0; i < 4; i++)
            world_change(&world);
        step_begin(&step, &world);
        if (step_repair(&step) && step.repair.entries.count) {
            size_t spoilt = rng_below(&world.rng, step.repair.entries.count);
            struct table_change *entry = &step.repair.entries.items[spoilt];
            entry->after = entry->before;
            routes_row(&step.after, entry->at)[entry->lid] = entry->before;
            tried++;
            passed += step_check(&step, &err) == 0;
        }
        step_release(&step);
        world_release(&world);
    }
    assert_true(tried > 10);
    assert_true(passed * 4 < tried); /* some entries only moved aside for others */
}

/* Every order of updates that passes this check also passes the check of whole updates. */
static void plans_in_another_order_pass_only_if_they_are_safe(void **state)
{
    unsigned tried = 0, refused = 0;
    for (uint64_t seed = 1; seed <= count_seeds(120, 600); seed++) {
        struct world world;
        struct step step;
        struct err err;
        world_init(&world, seed % 2 ? "updn" : "pira", seed, 24);
        for (unsigned i = 0; i < 3; i++)
            world_change(&world);
        step_begin(&step, &world);
        if (step_repair(&step) && step.plan.waves.count > 1) {
            struct update_wave *waves = step.plan.waves.items, first = waves[0];
            bool drain = waves[1].drain;
            waves[0] = (struct update_wave){waves[1].first, waves[1].count, false, 0};
            waves[1] = (struct update_wave){first.first, first.count, drain, 0};
            struct transition_report transition;
            verify_transition(step.network, &step.before, &step.after, &step.plan, &transition);
            int status = step_check(&step, &err);
            assert_true(status == 0 || status == -EDEADLK);
            assert_true(status || transition.safe);
            tried++;
            refused += status != 0;
            transition_report_release(&transition);
            step.plan.updates.count = step.plan.waves.count = 0; /* and if it leaves all out */
            assert_int_equal(step_check(&step, &err), -EINVAL);
        }
        step_release(&step);
        world_release(&world);
    }
    assert_true(tried > 5 && refused > 5);
}

/* ---- what a repair keeps ---- */

/* The switches of the cycle that the repair reports are linked, each to the next. */
static void assert_is_cycle(const struct network *network, const struct repair *repair)
{
    size_t count = repair->cycle.count;
    assert_true(count > 1);
    for (size_t i = 0; i < count; i++) {
        uint32_t at = repair->cycle.items[i], to = repair->cycle.items[(i + 1) % count];
        uint32_t e = network->first_edge[at];
        while (e < network->first_edge[at + 1] && network->edges[e].to != to)
            e++;
        assert_true(e < network->first_edge[at + 1]);
    }
}

/* Where some entries have no acyclic choice, the others are repaired without a drain. */
static void a_partial_repair_leaves_only_what_has_no_choice(void **state)
{
    unsigned partial = 0;
    for (uint64_t seed = 1; seed <= count_seeds(150, 600); seed++) {
        struct world world;
        struct step step;
        struct err err;
        struct transition_report transition;
        world_init(&world, seed % 2 ? "updn" : "fera", seed, 24);
        for (unsigned i = 0; i < 3; i++)
            world_change(&world);
        step_begin(&step, &world);
        step.repair.allow_partial = true;
        if (step_repair(&step) && step.repair.left) {
            repair_leave_drains(&step.repair, &step.after, &step.plan);
            assert_int_equal(update_plan_drains(&step.plan), 0);
            assert_int_equal(step.repair.entries.count,
                             routes_compare(&step.held, &step.after).entries);
            step.change.allow_partial = true;
            assert_int_equal(step_check(&step, &err), 0);
            verify_transition(step.network, &step.before, &step.after, &step.plan, &transition);
            assert_true(transition.safe);
            transition_report_release(&transition);
            assert_true(count_broken(step.network, &step.after) <
                        count_broken(step.network, &step.before));
            step.change.allow_partial = false;
            assert_int_equal(step_check(&step, &err), -EHOSTUNREACH);
            assert_is_cycle(step.network, &step.repair);
            partial++;
        }
        step_release(&step);
        world_release(&world);
    }
    assert_true(partial > 2);
}

/* After one loss engines that promise shortest routes have them no longer than after computing. */
static void repaired_routes_stay_as_short_as_possible(void **state)
{
    const char *names[] = {"dfsssp", "lash"};
    unsigned compared = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct world world;
        struct step step;
        world_init(&world, names[seed % 2], seed, 30);
        bool back = world_change(&world);
        step_begin(&step, &world);
        if (!back && step_repair(&step)) {
            struct verify_report own, fresh;
            struct routes full;
            assert_true(compute(step.network, world.engine, &full));
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

/* Loses the switch above the last host's, which has no hosts; returns the last host's switch. */
static uint32_t lose_middle_switch(struct world *world)
{
    uint32_t leaf = world->draft.hosts.items[world->draft.hosts.count - 1].at;
    const struct network *network = world->network;
    uint32_t at = world->index[leaf];
    uint32_t middle = network->edges[network->first_edge[at + 1] - 1].to;
    for (uint32_t i = 0; i < world->draft.switches; i++)
        world->draft.dead[i] = world->index[i] == middle;
    return leaf;
}

static void a_lost_middle_switch_costs_the_broken_entries_only(void **state)
{
    const char *names[] = {"ftree", "updn", "minhop"};
    for (unsigned i = 0; i < 3; i++) {
        struct world world;
        struct step step;
        world_init_tree(&world, names[i], "k=6", 1);
        lose_middle_switch(&world);
        step_begin(&step, &world);
        assert_true(step_repair(&step));
        assert_right(&world, &step);
        /* Some entries keep their port, because another entry changes; few entries change for
         * that. */
        assert_true(step.repair.entries.count * 100 <=
                    count_broken(step.network, &step.before) * 105);
        step_release(&step);
        world_release(&world);
    }
}

/* Routes through the lost switch are balanced over all the others. */
static void routes_through_a_lost_switch_are_balanced_over_the_others(void **state)
{
    const char *names[] = {"ftree", "updn", "minhop"};
    for (unsigned i = 0; i < 3; i++) {
        struct world world;
        struct step step;
        world_init_tree(&world, names[i], "k=12", 1);
        uint32_t leaf = lose_middle_switch(&world);
        step_begin(&step, &world);
        assert_true(step_repair(&step));
        const struct network *network = step.network;
        uint32_t at = step.index[leaf];
        unsigned moved[256] = {0}, least = UINT_MAX, most = 0;
        for (size_t e = 0; e < step.repair.entries.count; e++) {
            const struct table_change *entry = &step.repair.entries.items[e];
            moved[entry->after] +=
                entry->at == at && !(network->owner[entry->lid] & NETWORK_SWITCH);
        }
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            unsigned count = moved[network->edges[e].port];
            least = count < least ? count : least;
            most = count > most ? count : most;
        }
        assert_true(most >= 10 && most <= least + 3);
        step_release(&step);
        world_release(&world);
    }
}

/* ---- entries that are not those that were checked ---- */

/* Two cables are exchanged at a switch, and so are its entries; then all other entries are still
 * correct, but none of the paths was checked. */
static void the_check_covers_unchanged_entries_that_lead_elsewhere(void **state)
{
    const char *names[] = {"ftree", "updn", "minhop"};
    for (unsigned i = 0; i < 3; i++) {
        struct world world;
        struct step step;
        struct err err;
        world_init_tree(&world, names[i], "k=6", 1);
        struct draft_link *links = world.draft.links.items;
        uint32_t at = links[0].a;
        assert_int_equal(links[1].a, at);
        uint8_t one = links[0].a_port, two = links[1].a_port;
        links[0].a_port = two;
        links[1].a_port = one;
        step_begin(&step, &world);
        struct update_wave wave = {0};
        for (uint32_t lid = 1; lid <= step.network->top_lid; lid++) {
            uint8_t *entry = routes_row(&step.after, step.index[at]) + lid, before = *entry;
            if (before != one && before != two)
                continue;
            *entry = before == one ? two : one;
            struct table_change change = {step.index[at], (uint16_t)lid, before, *entry};
            vec_push(&step.repair.entries, change);
            vec_push(&step.plan.updates, ((struct table_update){change.at, change.lid, 1}));
            wave.count++;
        }
        vec_push(&step.plan.waves, wave);
        assert_true(wave.count > 0);
        assert_int_equal(step_check(&step, &err), 0);
        assert_true(tables_hold(step.network, &step.after, &step.change.graph));
        step_release(&step);
        world_release(&world);
    }
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
        if (*entry != before && tables_hold(network, &world->routes, NULL))
            return lid;
        *entry = before;
    }
    return 0;
}

static void entries_changed_by_others_are_checked(void **state)
{
    struct err err;
    unsigned unseen = 0, repaired = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct world world;
        struct step step;
        world_init(&world, "updn", seed, 30);
        uint16_t lid = edit_entry(&world);
        if (lid)
            unseen += !tables_hold(world.network, &world.routes, &world.checked);
        world_change(&world);
        step_begin(&step, &world);
        step.repair.lids.count = 0; /* new LIDs have no routes here */
        if (lid && step.known && lid <= step.network->top_lid &&
            step.network->owner[lid] != NETWORK_NONE) {
            step.repair.live = mem_zalloc(BITSET_WORDS(NETWORK_TOP_LID + 1u), sizeof(uint64_t));
            bitset_add(step.repair.live, lid);
            vec_push(&step.repair.lids, lid);
            vec_push(&step.change.lids, lid);
            if (step_repair(&step) && tables_hold(step.network, &step.after, NULL)) {
                assert_int_equal(step_check(&step, &err), 0);
                assert_true(tables_hold(step.network, &step.after, &step.change.graph));
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
    unsigned counted = 0;
    bool repaired = true;
    world_init(&world, engine, seed, 24);
    for (unsigned i = 0; i < 8 && repaired; i++) {
        struct step step;
        struct err err;
        world_change(&world);
        step_begin(&step, &world);
        repaired = step_repair(&step) && step_check(&step, &err) == 0;
        if (!repaired) {
            step_release(&step);
            continue;
        }
        assert_true(tables_hold(step.network, &step.after, &step.change.graph));
        counted += world.unwritten.count > 0;
        world.unwritten.count = 0;
        for (size_t k = 0; k < step.repair.entries.count; k++)
            if (rng_below(&world.rng, 2))
                vec_push(&world.unwritten, step.repair.entries.items[k]);
        repaired = step.repair.state.known;
        step_end(&step, &world, true);
    }
    world_release(&world);
    return counted;
}

static void entries_that_are_not_written_yet_are_checked(void **state)
{
    const char *names[] = {"updn", "fera", "pira", "dfsssp"};
    unsigned counted = 0;
    for (uint64_t seed = 1; seed <= count_seeds(200, 2000); seed++)
        counted += play_hastily(names[seed % 4], seed);
    assert_true(counted > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repaired_tables_pass_every_check),
        cmocka_unit_test(repaired_trees_pass_every_check),
        cmocka_unit_test(wrong_repairs_do_not_pass),
        cmocka_unit_test(plans_in_another_order_pass_only_if_they_are_safe),
        cmocka_unit_test(a_partial_repair_leaves_only_what_has_no_choice),
        cmocka_unit_test(repaired_routes_stay_as_short_as_possible),
        cmocka_unit_test(a_lost_middle_switch_costs_the_broken_entries_only),
        cmocka_unit_test(routes_through_a_lost_switch_are_balanced_over_the_others),
        cmocka_unit_test(the_check_covers_unchanged_entries_that_lead_elsewhere),
        cmocka_unit_test(entries_changed_by_others_are_checked),
        cmocka_unit_test(entries_that_are_not_written_yet_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
