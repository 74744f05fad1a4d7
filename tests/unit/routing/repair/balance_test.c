/* The balance of repaired tables: what a link or a switch carried is spread over all that is left.
 *
 * WEFT_FULL=1 takes the large trees with every engine. */
#include "effort.h"
#include "repair_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

/* The switch `level` levels above the last leaf. */
static uint32_t switch_at_level(const struct network *network, unsigned level)
{
    uint32_t at = network->terminals.items[network->terminals.count - 1].at;
    for (; level; level--)
        at = network->edges[network->first_edge[at + 1] - 1].to;
    return at;
}

/* All switches are alive, so indices are those of the draft. */
static void cut_last_link(struct world *world, uint32_t at)
{
    const struct network *network = world->network;
    const struct network_edge *edge = &network->edges[network->first_edge[at + 1] - 1];
    for (size_t i = 0; i < world->draft.links.count; i++) {
        struct draft_link *link = &world->draft.links.items[i];
        link->cut |= (link->a == at && link->a_port == edge->port) ||
                     (link->b == at && link->b_port == edge->port);
    }
}

static uint64_t highest_load(const struct network *network, const struct routes *routes)
{
    struct verify_report report;
    verify_routes(network, routes, &(struct verify_options){0}, &report);
    assert_true(verify_passes(&report));
    verify_report_release(&report);
    return report.load_max;
}

/* The loads that the repair has tracked are those that the full check counts, and so is the
 * imbalance by which the manager decides whether to compute all routes. */
static void assert_loads_known(const struct step *step)
{
    struct verify_report report;
    const struct network *network = step->network;
    verify_routes(network, &step->after, &(struct verify_options){0}, &report);
    for (size_t i = 0; i < network->ports.count; i++)
        if ((network->ports.items[i].peer ^ NETWORK_SWITCH) < network->switches.count)
            assert_int_equal(step->repair.state.load[i], report.load[i]);
    assert_int_equal(repair_imbalance(&step->repair),
                     report.load_max * 100 / step->repair.state.peak);
    verify_report_release(&report);
}

/* After the loss no link carries more than 1.25 times the most before it, nor 1.25 times the most
 * that a full computation gives. */
static void assert_balance_after_loss(struct world *world)
{
    struct step step;
    struct err err;
    struct routes full = {0};
    uint64_t before = world->state.peak;
    step_begin(&step, world);
    assert_true(step_repair(&step));
    assert_int_equal(step_check(&step, &err), 0);
    uint64_t now = highest_load(step.network, &step.after);
    uint64_t computed = compute(step.network, world->engine, &full)
                            ? highest_load(step.network, &full)
                            : before; /* minhop may refuse */
    if (now * 4 > before * 5 || now * 4 > computed * 5)
        fail_msg("%s, %zu hosts: %llu routes on a link, before %llu, computed %llu",
                 world->engine->name, world->network->terminals.count, (unsigned long long)now,
                 (unsigned long long)before, (unsigned long long)computed);
    assert_loads_known(&step);
    routes_release(&full);
    step_release(&step);
}

enum { LEAF_LINK, TOP_LINK, MIDDLE_SWITCH, TOP_SWITCH, LOSSES };

static void lose(struct world *world, unsigned loss)
{
    uint32_t leaf = switch_at_level(world->network, 0), middle = switch_at_level(world->network, 1);
    switch (loss) {
    case LEAF_LINK: cut_last_link(world, leaf); break;
    case TOP_LINK: cut_last_link(world, middle); break;
    case MIDDLE_SWITCH: world->draft.dead[middle] = true; break;
    case TOP_SWITCH: world->draft.dead[switch_at_level(world->network, 2)] = true; break;
    }
}

static void test_tree(const char *engine, const char *size, unsigned levels)
{
    for (unsigned loss = 0; loss < LOSSES; loss++) {
        struct world world;
        if (levels == 2 && (loss == TOP_LINK || loss == TOP_SWITCH))
            continue; /* its spines are in the middle */
        world_init_kind(&world, engine, "fattree", &size, 1, 1);
        lose(&world, loss);
        assert_balance_after_loss(&world);
        world_release(&world);
    }
}

static void lost_links_and_switches_leave_trees_balanced(void **state)
{
    const char *engines[] = {"ftree", "updn", "minhop"};
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        test_tree(engines[i], "size=324", 2);
        test_tree(engines[i], "size=648", 2);
        if (i == 0 || effort(1, 0, 0)) {
            test_tree(engines[i], "size=5832", 3);
            if (effort(1, 1, 0))
                test_tree(engines[i], "size=11664", 3);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_links_and_switches_leave_trees_balanced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
