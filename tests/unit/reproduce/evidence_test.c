/* Evidence: means over matching observations, and derived figures. */
#include "reproduce/evidence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

static void add(struct evidence *evidence, const char *parameters, const char *figure, double value)
{
    results_set(&evidence_add(evidence, parameters)->results, figure, value, "s");
}

struct summary_of {
    size_t count;
    double mean, half_width, sum;
};

static struct summary_of summarize(const struct evidence *evidence, const char *where,
                                   const char *network, const char *figure)
{
    struct conditions conditions = {0};
    struct arena arena = {0};
    conditions_parse(&conditions, where, &arena);
    struct quantity_mean mean = evidence_mean(evidence, &conditions, network, figure);
    struct summary_of all = {.mean = mean.mean, .half_width = mean.half_width};
    for (size_t i = 0; i < evidence->items.count; i++) {
        double value = observation_figure(&evidence->items.items[i], figure);
        if (!isnan(value) && observation_matches(&evidence->items.items[i], &conditions, network)) {
            all.count++;
            all.sum += value;
        }
    }
    conditions_release(&conditions);
    arena_release(&arena);
    return all;
}

static size_t sizes_where(const struct evidence *evidence, const char *where, const char ***values)
{
    struct conditions conditions = {0};
    struct arena arena = {0};
    conditions_parse(&conditions, where, &arena);
    size_t count = evidence_values(evidence, &conditions, "size", values);
    conditions_release(&conditions);
    arena_release(&arena);
    return count;
}

static void means_are_over_matching_observations_with_the_figure(void **state)
{
    struct evidence evidence = {0};
    (void)state;
    add(&evidence, "preset=paper switches=8 switch=1", "time", 1);
    add(&evidence, "preset=paper switches=8 switch=2", "time", 3);
    add(&evidence, "preset=paper switches=8 switch=3", "other", 100);
    add(&evidence, "preset=today switches=8 switch=1", "time", 50);
    struct summary_of summary = summarize(&evidence, "preset=paper switches=8", NULL, "time");
    assert_int_equal(summary.count, 2);
    assert_true(summary.mean == 2 && summary.sum == 4);
    assert_true(isnan(summarize(&evidence, "preset=paper switches=16", NULL, "time").mean));
    assert_true(isnan(summarize(&evidence, "", NULL, "never").mean));
    evidence_release(&evidence);
}

static void means_are_over_networks(void **state)
{
    struct evidence evidence = {0};
    (void)state;
    add(&evidence, "seed=1 switch=1", "time", 1);
    add(&evidence, "seed=1 switch=2", "time", 3); /* mean of this network: 2 */
    add(&evidence, "seed=2 switch=1", "time", 4);
    struct summary_of all = summarize(&evidence, "", NULL, "time");
    assert_int_equal(all.count, 3);
    assert_true(all.mean == 3 && all.sum == 8);
    assert_true(all.half_width > 12.7 && all.half_width < 12.8); /* t(1) = 12.71 */
    const char **networks;
    assert_int_equal(evidence_networks(&evidence, &networks), 2);
    struct summary_of one = summarize(&evidence, "", networks[0], "time");
    assert_true(one.mean == 2 && isnan(one.half_width));
    mem_free(networks);
    evidence_release(&evidence);
}

static void computations_follow_the_seed(void **state)
{
    struct recipe recipe = {.name = "x", .folder = "."};
    double changed[2];
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct evidence evidence = {0};
        struct err err = {0};
        assert_int_equal(compute_evidence(&evidence, "changed-entries", &recipe, 1 + i, &err), 0);
        changed[i] = summarize(&evidence, "", NULL, "entries.removal").sum;
        evidence_release(&evidence);
    }
    assert_true(changed[0] != changed[1]);
}

static void values_are_distinct_and_sorted_by_number(void **state)
{
    struct evidence evidence = {0};
    const char **values;
    (void)state;
    add(&evidence, "size=16", "x", 0);
    add(&evidence, "size=8", "x", 0);
    add(&evidence, "size=100", "x", 0);
    add(&evidence, "size=8", "x", 0);
    add(&evidence, "other=1", "x", 0);
    assert_int_equal(sizes_where(&evidence, "", &values), 3);
    assert_string_equal(values[0], "8");
    assert_string_equal(values[1], "16");
    assert_string_equal(values[2], "100");
    mem_free(values);
    assert_int_equal(sizes_where(&evidence, "size=1", &values), 0);
    mem_free(values);
    evidence_release(&evidence);
}

static void fault_figures_are_those_of_the_last_change_after_an_action(void **state)
{
    struct evidence evidence = {0};
    struct observation *observation = evidence_add(&evidence, "");
    struct results *results = &observation->results;
    (void)state;
    results_set(results, "change.1.time", 9, "s");
    results_set(results, "change.1.detect.time", 8, "s"); /* after an action */
    results_set(results, "change.2.time", 0.5, "s");
    results_set(results, "change.2.detect.time", 0.1, "s");
    results_set(results, "change.2.compute.time", 0.3, "s");
    results_set(results, "change.3.time", 0.2, "s"); /* after no action */
    size_t series = results_series(results, "change.2.updated", "share");
    results_add_point(results, series, 7, 1);
    derive_figures(observation);
    assert_true(observation_figure(observation, "fault.time") == 0.5);
    assert_true(observation_figure(observation, "fault.compute.time") == 0.3);
    assert_true(observation_figure(observation, "fault.changes") == 2);
    assert_true(observation_figure(observation, "fault.first.time") == 0.5);
    assert_int_equal(
        results_find_series(&(observation)->results, "fault.updated")->points.items[0].time, 7);
    evidence_release(&evidence);
}

static void first_routes_of_a_hybrid_are_the_provisional_ones(void **state)
{
    struct evidence evidence = {0};
    struct observation *observation = evidence_add(&evidence, "");
    (void)state;
    results_set(&observation->results, "change.1.time", 9, "s");
    results_set(&observation->results, "change.1.detect.time", 1, "s");
    results_set(&observation->results, "change.1.first.time", 2, "s");
    derive_figures(observation);
    assert_true(observation_figure(observation, "fault.time") == 9);
    assert_true(observation_figure(observation, "fault.first.time") == 2);
    evidence_release(&evidence);
}

static void missing_figures_derive_nothing(void **state)
{
    struct evidence evidence = {0};
    struct observation *observation = evidence_add(&evidence, "");
    (void)state;
    derive_figures(observation);
    assert_int_equal(observation->results.figures.count, 0);
    evidence_release(&evidence);
}

static void losses_and_offered_bits_are_derived(void **state)
{
    struct evidence evidence = {0};
    struct observation *observation = evidence_add(&evidence, "");
    struct results *results = &observation->results;
    (void)state;
    results_set(results, "made", 1000, "packets"); /* depends on the length of the run */
    results_set(results, "lost", 100, "packets");
    results_set(results, "lost.inactive-port", 30, "packets");
    results_set(results, "accepted", 10, "packets/s");
    results_set(results, "accepted.bits", 22560, "bits/s");
    results_set(results, "offered", 20, "packets/s");
    results_set(results, "offered.node", 5, "packets/s");
    derive_figures(observation);
    assert_true(observation_figure(observation, "lost.before") == 70);
    assert_true(observation_figure(observation, "lost.share") == 0.25); /* of 20 s */
    assert_true(observation_figure(observation, "offered.bits") == 45120);
    assert_true(observation_figure(observation, "offered.node.bits") == 11280);
    evidence_release(&evidence);
}

static void unsteady_runs_count_as_saturated(void **state)
{
    struct evidence evidence = {0};
    struct observation *observation = evidence_add(&evidence, "");
    (void)state;
    assert_false(observation_is_saturated(observation));
    results_set(&observation->results, "saturated", 0, "");
    results_set(&observation->results, "steady", 1, "");
    assert_false(observation_is_saturated(observation));
    results_set(&observation->results, "steady", 0, "");
    assert_true(observation_is_saturated(observation));
    evidence_release(&evidence);
}

static void missing_stores_are_empty(void **state)
{
    struct recipe recipe = {.name = "x", .folder = "."};
    struct evidence evidence;
    struct err err = {0};
    (void)state;
    vec_push(&recipe.sweeps, ((struct recipe_sweep){.path = "x.sweep", .store = "no-such-store"}));
    assert_int_equal(evidence_read(&evidence, &recipe, "/nowhere", false, &err), 0);
    assert_int_equal(evidence.items.count, 0);
    evidence_release(&evidence);
    vec_release(&recipe.sweeps);
}

static void a_removal_changes_fewer_entries_than_an_addition(void **state)
{
    struct recipe recipe = {.name = "x", .folder = "."};
    struct evidence evidence = {0};
    const char **networks;
    struct err err = {0};
    (void)state;
    assert_int_equal(compute_evidence(&evidence, "changed-entries", &recipe, 1, &err), 0);
    /* all switches but one of the published network and of ten of each size, for two presets */
    assert_int_equal(evidence.items.count, 2 * (7 + 10 * (15 + 23 + 31)));
    assert_int_equal(evidence_networks(&evidence, &networks), 10);
    mem_free(networks);
    /* Only the third switch of the published network cuts others off. */
    assert_int_equal(summarize(&evidence, "switches=8 whole=no", NULL, "entries.removal").count, 2);
    assert_int_equal(
        summarize(&evidence, "switches=8 switch=2 whole=no", NULL, "entries.removal").count, 2);
    double removal = summarize(&evidence, "preset=paper", NULL, "entries.removal").mean;
    double addition = summarize(&evidence, "preset=paper", NULL, "entries.addition").mean;
    assert_true(removal > 0 && removal < addition);
    assert_true(removal == summarize(&evidence, "preset=today", NULL, "entries.removal").mean);
    assert_true(compute_evidence(&evidence, "no-such-thing", &recipe, 1, &err) < 0);
    evidence_release(&evidence);
}

static void published_algorithms_are_timed(void **state)
{
    struct recipe recipe = {.name = "x", .folder = "."};
    struct evidence evidence = {0};
    struct err err = {0};
    (void)state;
    assert_int_equal(compute_evidence(&evidence, "published-times", &recipe, 1, &err), 0);
    /* three algorithms on ten networks of six sizes, for two presets */
    assert_int_equal(evidence.items.count, 2 * 3 * 10 * 6);
    for (size_t i = 0; i < evidence.items.count; i++)
        assert_true(observation_figure(&evidence.items.items[i], "cpu") > 0);
    const char *figure1 = "preset=paper switches=8 seed=2 engine=fera";
    assert_true(summarize(&evidence, figure1, NULL, "steps").mean == 15 * 25 + 7);
    double fera = summarize(&evidence, "switches=24 engine=fera", NULL, "cpu").mean;
    assert_true(fera > summarize(&evidence, "switches=24 engine=pira", NULL, "cpu").mean);
    assert_true(fera < summarize(&evidence, "switches=24 engine=dr", NULL, "cpu").mean);
    evidence_release(&evidence);
}

static double sum_of(struct evidence *evidence, const char *where, const char *figure)
{
    return summarize(evidence, where, NULL, figure).sum;
}

static void pira_explores_the_nodes_of_figure_1_in_the_order_of_figure_8(void **state)
{
    struct recipe recipe = {.name = "x", .folder = "."};
    struct evidence evidence = {0};
    struct err err = {0};
    (void)state;
    assert_int_equal(compute_evidence(&evidence, "pira-steps", &recipe, 1, &err), 0);
    assert_int_equal(evidence.items.count, 2 * 15);
    assert_true(sum_of(&evidence, "preset=paper step=10", "lid") == 10);
    /* One for each link, 9 of switches and 7 of hosts: its lower end has the upper in PREV. */
    assert_true(sum_of(&evidence, "preset=paper", "prev") == 9 + 7);
    assert_true(sum_of(&evidence, "preset=paper step=1", "prev") == 0); /* the sink */
    assert_true(sum_of(&evidence, "preset=paper step=6", "prev") == 2); /* below 2 and 3 */
    evidence_release(&evidence);
}

static void mixed_tables_are_safe_on_figure_1_only(void **state)
{
    struct recipe recipe = {.name = "x", .folder = "."};
    struct evidence evidence = {0};
    struct err err = {0};
    (void)state;
    assert_int_equal(compute_evidence(&evidence, "mixed-tables", &recipe, 1, &err), 0);
    assert_int_equal(evidence.items.count, 2 * (1 + 5 * 10));
    assert_true(sum_of(&evidence, "switches=8", "unsafe") == 0);
    assert_true(sum_of(&evidence, "preset=paper switches=64", "unsafe") > 5);
    assert_true(sum_of(&evidence, "preset=paper", "planned") == 51);
    evidence_release(&evidence);
}

static void routes_of_dr_and_pira_are_checked(void **state)
{
    struct recipe recipe = {.name = "x", .folder = "."};
    struct evidence evidence = {0};
    struct err err = {0};
    (void)state;
    assert_int_equal(compute_evidence(&evidence, "dr-routes", &recipe, 1, &err), 0);
    assert_true(sum_of(&evidence, "preset=paper", "passes") == 51);
    assert_true(sum_of(&evidence, "preset=paper", "longer") == 0);
    assert_true(sum_of(&evidence, "preset=paper", "differs") > 25);
    assert_int_equal(compute_evidence(&evidence, "pira-routes", &recipe, 1, &err), 0);
    assert_true(sum_of(&evidence, "preset=paper switches=8", "entries.pira") == 50);
    assert_true(sum_of(&evidence, "preset=paper switches=8", "entries.fera") == 120);
    assert_true(sum_of(&evidence, "preset=paper", "failures") == 0);
    evidence_release(&evidence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_are_over_matching_observations_with_the_figure),
        cmocka_unit_test(means_are_over_networks),
        cmocka_unit_test(computations_follow_the_seed),
        cmocka_unit_test(values_are_distinct_and_sorted_by_number),
        cmocka_unit_test(fault_figures_are_those_of_the_last_change_after_an_action),
        cmocka_unit_test(first_routes_of_a_hybrid_are_the_provisional_ones),
        cmocka_unit_test(missing_figures_derive_nothing),
        cmocka_unit_test(losses_and_offered_bits_are_derived),
        cmocka_unit_test(unsteady_runs_count_as_saturated),
        cmocka_unit_test(missing_stores_are_empty),
        cmocka_unit_test(a_removal_changes_fewer_entries_than_an_addition),
        cmocka_unit_test(published_algorithms_are_timed),
        cmocka_unit_test(pira_explores_the_nodes_of_figure_1_in_the_order_of_figure_8),
        cmocka_unit_test(mixed_tables_are_safe_on_figure_1_only),
        cmocka_unit_test(routes_of_dr_and_pira_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
