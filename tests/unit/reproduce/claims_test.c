/* Claims: bounds decide, measures only measure; without evidence nothing holds. The claims and
 * measures are those of the project's experiments; measure_test.c tests the language. */
#include "reproduce/reproduce.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct recipes recipes;

static int read_experiments(void **state)
{
    struct err err = {0};
    (void)state;
    return recipes_read(&recipes, EXPERIMENTS, &err);
}

static int release_experiments(void **state)
{
    (void)state;
    recipes_release(&recipes);
    return 0;
}

static const struct claim *find(const char *name)
{
    const struct claim *claim = recipes_find_claim(&recipes, name);
    if (!claim)
        fail_msg("no claim %s", name);
    return claim;
}

/* ---- claims ---- */

static void without_evidence_nothing_holds(void **state)
{
    struct evidence evidence = {0};
    (void)state;
    for (size_t i = 0; i < recipes.count; i++)
        for (size_t c = 0; c < recipes.items[i].claims.count; c++)
            for (unsigned p = 0; p < CLAIM_PRESETS; p++) {
                const struct claim *claim = &recipes.items[i].claims.items[c];
                struct finding finding = claim_evaluate(claim, &evidence, (enum claim_preset)p);
                if (finding.outcome == OUTCOME_HOLDS)
                    fail_msg("%s/%s holds without evidence: %s", claim->experiment, claim->name,
                             finding.shown);
            }
}

/* ---- bounds and texts ---- */

static const struct claim_unit plain = {"", 1}, milliseconds = {"ms", 1e-3}, percent = {"%", 0.01};
#define NO_BOUND                                                                                   \
    {                                                                                              \
        .value = NAN                                                                               \
    }

static void bounds_are_inclusive_or_exclusive(void **state)
{
    const struct claim closed = {.unit = &milliseconds, .low = {4, false}, .high = {6, false}};
    const struct claim open = {.unit = &milliseconds, .low = {4, true}, .high = {6, true}};
    static const struct {
        double value;
        enum outcome closed, open;
    } cases[] = {
        {0.0039999, OUTCOME_DIFFERS, OUTCOME_DIFFERS}, {0.004, OUTCOME_HOLDS, OUTCOME_DIFFERS},
        {0.005, OUTCOME_HOLDS, OUTCOME_HOLDS},         {0.006, OUTCOME_HOLDS, OUTCOME_DIFFERS},
        {0.0060001, OUTCOME_DIFFERS, OUTCOME_DIFFERS}, {NAN, OUTCOME_UNKNOWN, OUTCOME_UNKNOWN}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct measured measured = measured_value(cases[i].value);
        assert_int_equal(claim_judge(&closed, &measured).outcome, cases[i].closed);
        assert_int_equal(claim_judge(&open, &measured).outcome, cases[i].open);
    }
}

static void both_ends_of_a_range_must_be_within_the_bounds(void **state)
{
    const struct claim claim = {.unit = &plain, .low = {1, true}, .high = NO_BOUND};
    struct measured inside = measured_range(1.5, 1.1), outside = measured_range(0.9, 5);
    (void)state;
    assert_int_equal(claim_judge(&claim, &inside).outcome, OUTCOME_HOLDS);
    assert_int_equal(claim_judge(&claim, &outside).outcome, OUTCOME_DIFFERS);
    struct measured half_known = measured_range(NAN, 5);
    assert_int_equal(claim_judge(&claim, &half_known).outcome, OUTCOME_UNKNOWN);
    assert_string_equal(claim_judge(&claim, &half_known).shown, "not measured");
}

static void shown(const char *expected, const struct claim_unit *unit, struct measured measured)
{
    const struct claim claim = {.unit = unit, .low = {1, true}, .high = NO_BOUND};
    assert_string_equal(claim_judge(&claim, &measured).shown, expected);
}

static void values_are_shown_with_unit_interval_and_explanation(void **state)
{
    (void)state;
    shown("12,346", &plain, measured_value(12345.6));
    shown("4.92 ms", &milliseconds, measured_value(0.0049234));
    shown("45 %", &percent, measured_value(0.45));
    shown("4.9 to 5.3 ms", &milliseconds, measured_range(0.0053, 0.0049));
    shown("4.92 ± 0.13 ms", &milliseconds,
          (struct measured){.least = 0.00492, .most = 0.00492, .half_width = 0.000134});
    shown("4.92 ms", &milliseconds, measured_value(0.00492));
    shown("0 ms (no port is closed)", &milliseconds,
          (struct measured){.half_width = NAN, .text = "no port is closed"});
    shown("1.0004", &plain, measured_value(1.0004)); /* "1" would look as if it did not hold */
    shown("1", &plain, measured_value(1));
}

static void tolerances_are_written_in_words(void **state)
{
    static const struct {
        struct claim claim;
        const char *words;
    } cases[] = {
        {{.unit = &milliseconds, .low = {4, false}, .high = {6, false}}, "from 4 to 6 ms"},
        {{.unit = &milliseconds, .low = {4, true}, .high = {6.25, true}},
         "more than 4 to less than 6.25 ms"},
        {{.unit = &plain, .low = {360, false}, .high = {360, false}}, "exactly 360"},
        {{.unit = &plain, .low = {75000, true}, .high = NO_BOUND}, "more than 75,000"},
        {{.unit = &plain, .low = {100, false}, .high = NO_BOUND}, "at least 100"},
        {{.unit = &percent, .low = NO_BOUND, .high = {2, true}}, "less than 2 %"},
        {{.unit = &percent, .low = NO_BOUND, .high = {100, false}}, "at most 100 %"},
    };
    char words[TOLERANCE_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(claim_tolerance(&cases[i].claim, words), cases[i].words);
}

static void the_list_of_claims_has_every_field_in_80_columns(void **state)
{
    struct text out = {0};
    bool *chosen = mem_zalloc(recipes.count, sizeof *chosen);
    (void)state;
    for (size_t i = 0; i < recipes.count; i++)
        chosen[i] = strcmp(recipes.items[i].name, "san03-fig26") == 0;
    claims_write_list(&recipes, chosen, false, &out);
    assert_non_null(strstr(
        out.data, "san03-fig26/distribution-smps: requests to distribute tables, each network\n"));
    assert_non_null(strstr(out.data, "paper: 360 (V-D, text on Fig. 26)"));
    assert_non_null(strstr(out.data, "holds: exactly 360 SMPs; 15 switches x (16 blocks"));
    assert_non_null(
        strstr(out.data, "san03-fig26/detection: time until a sweep finds the change [fitted]\n"));
    assert_null(strstr(out.data, "san03-fig27"));
    for (const char *line = out.data; *line; line = strchr(line, '\n') + 1)
        assert_true(strcspn(line, "\n") <= 80);
    text_clear(&out);
    claims_write_list(&recipes, chosen, true, &out);
    assert_non_null(strstr(out.data, "\"place\": \"V-D, text on Fig. 26\""));
    assert_non_null(strstr(out.data, "\"tolerance\": \"exactly 360 SMPs\""));
    assert_non_null(strstr(out.data, "\"kind\": \"fitted\""));
    text_release(&out);
    mem_free(chosen);
}

/* ---- measures ---- */

static enum outcome bandwidth_at(double bits)
{
    struct evidence evidence = {0};
    results_set(&evidence_add(&evidence, "preset=paper rate=1")->results, "accepted.bits", bits,
                "bits/s");
    enum outcome outcome =
        claim_evaluate(find("san03-fig06/bandwidth"), &evidence, PRESET_PAPER).outcome;
    evidence_release(&evidence);
    return outcome;
}

static void a_rate_above_the_link_rate_fails_the_claim(void **state)
{
    (void)state;
    assert_int_equal(bandwidth_at(1.99e9), OUTCOME_HOLDS);
    assert_int_equal(bandwidth_at(2.05e9), OUTCOME_DIFFERS);
}

static void a_claim_uses_observations_of_its_preset(void **state)
{
    struct evidence evidence = {0};
    struct finding finding;
    const struct claim *claim = find("san03-fig26/distribution-smps");
    (void)state;
    results_set(&evidence_add(&evidence, "preset=today rate=2000 whole=yes")->results,
                "fault.distribute.smps", 360, "SMPs");
    results_set(&evidence_add(&evidence, "preset=paper rate=2000 whole=yes")->results,
                "fault.distribute.smps", 361, "SMPs");
    results_set(&evidence_add(&evidence, "preset=paper rate=2000 whole=no")->results,
                "fault.distribute.smps", 336, "SMPs"); /* a part was cut off */
    finding = claim_evaluate(claim, &evidence, PRESET_PAPER);
    assert_int_equal(finding.outcome, OUTCOME_DIFFERS);
    assert_int_equal(strncmp(finding.shown, "361 SMPs (", strlen("361 SMPs (")), 0);
    finding = claim_evaluate(claim, &evidence, PRESET_TODAY);
    assert_int_equal(finding.outcome, OUTCOME_HOLDS);
    evidence_release(&evidence);
}

static void add_load(struct evidence *evidence, const char *rate, double offered, double accepted)
{
    char where[64];
    snprintf(where, sizeof where, "preset=paper rate=%s", rate);
    struct results *results = &evidence_add(evidence, where)->results;
    results_set(results, "offered", offered, "packets/s");
    results_set(results, "accepted", accepted, "packets/s");
    results_set(results, "offered.node.bits", strtod(rate, NULL), "bits/s");
}

static void the_knee_lies_between_two_loads(void **state)
{
    struct evidence evidence = {0};
    const struct claim *knee = find("san03-fig06/knee"), *delivery = find("san03-fig06/delivery");
    (void)state;
    add_load(&evidence, "100e6", 3, 3);
    add_load(&evidence, "320e6", 10, 10);
    assert_int_equal(claim_evaluate(knee, &evidence, PRESET_PAPER).outcome, OUTCOME_UNKNOWN);
    add_load(&evidence, "340e6", 11, 10);
    assert_int_equal(claim_evaluate(knee, &evidence, PRESET_PAPER).outcome, OUTCOME_HOLDS);
    assert_int_equal(claim_evaluate(delivery, &evidence, PRESET_PAPER).outcome, OUTCOME_HOLDS);
    add_load(&evidence, "200e6", 6, 5); /* a load below the knee that does not pass */
    assert_int_equal(claim_evaluate(knee, &evidence, PRESET_PAPER).outcome, OUTCOME_DIFFERS);
    assert_int_equal(claim_evaluate(delivery, &evidence, PRESET_PAPER).outcome, OUTCOME_DIFFERS);
    evidence_release(&evidence);
}

/* Tables are updated from 61.000 to 61.004 s; a packet arrives at that time. */
static enum outcome gap_with_packet_at(uint64_t ps)
{
    struct evidence evidence = {0};
    struct results *results = &evidence_add(&evidence, "preset=paper rate=2000 whole=yes")->results;
    size_t updated = results_series(results, "fault.updated", "share");
    results_add_point(results, updated, UINT64_C(61000000000000), 0.5);
    results_add_point(results, updated, UINT64_C(61004000000000), 1);
    results_add_point(results, results_series(results, "packets", "s"), ps, 3e-6);
    enum outcome outcome = claim_evaluate(find("san03-fig26/gap"), &evidence, PRESET_PAPER).outcome;
    evidence_release(&evidence);
    return outcome;
}

static void a_packet_in_the_gap_fails_the_claim(void **state)
{
    (void)state;
    assert_int_equal(gap_with_packet_at(UINT64_C(60999000000000)), OUTCOME_HOLDS);
    assert_int_equal(gap_with_packet_at(UINT64_C(61001000000000)), OUTCOME_DIFFERS);
}

static void losses_must_be_proportional_to_the_load(void **state)
{
    static const double powers[] = {1, 2};
    static const char *const rates[] = {"500", "1000", "4000"};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct evidence evidence = {0};
        for (unsigned r = 0; r < 3; r++) {
            char where[64];
            snprintf(where, sizeof where, "preset=paper rate=%s whole=yes", rates[r]);
            results_set(&evidence_add(&evidence, where)->results, "lost",
                        pow(strtod(rates[r], NULL), powers[i]), "packets");
        }
        assert_int_equal(claim_evaluate(find("san03-fig26/load"), &evidence, PRESET_PAPER).outcome,
                         powers[i] == 1 ? OUTCOME_HOLDS : OUTCOME_DIFFERS);
        evidence_release(&evidence);
    }
}

static void add_change(struct evidence *evidence, const char *size, const char *rest, double time)
{
    char parameters[96];
    snprintf(parameters, sizeof parameters, "preset=paper rate=41250 switches=%s %s", size, rest);
    results_set(&evidence_add(evidence, parameters)->results, "fault.time", time, "s");
}

/* A change that cuts switches off does not count. */
static void add_sizes(struct evidence *evidence, double ratio)
{
    static const char *const sizes[] = {"8", "16", "32"};
    for (unsigned i = 0; i < 3; i++) {
        add_change(evidence, sizes[i], "change=removal whole=yes", 1);
        add_change(evidence, sizes[i], "change=removal whole=no", 100);
        add_change(evidence, sizes[i], "change=addition whole=yes", i == 1 ? ratio : 2);
    }
}

static void one_differing_size_fails_the_claim(void **state)
{
    struct evidence right = {0}, wrong = {0};
    const struct claim *claim = find("icpp03-fig07/addition");
    (void)state;
    add_sizes(&right, 1.1);
    add_sizes(&wrong, 0.9);
    assert_int_equal(claim_evaluate(claim, &right, PRESET_PAPER).outcome, OUTCOME_HOLDS);
    assert_int_equal(claim_evaluate(claim, &wrong, PRESET_PAPER).outcome, OUTCOME_DIFFERS);
    evidence_release(&right);
    evidence_release(&wrong);
}

/* The latencies of the smallest and the largest message over three switches, with 4X SDR links. */
static void judge_latencies(double smallest, double largest, enum outcome expected)
{
    struct evidence evidence = {0};
    static const char *const claims[] = {"villar04-perf/latency", "villar04-perf/slope"};
    results_set(&evidence_add(&evidence, "preset=today test=perf width=4x speed=SDR to=H8 bytes=2")
                     ->results,
                "send_lat.typical", smallest, "s");
    results_set(
        &evidence_add(&evidence, "preset=today test=perf width=4x speed=SDR to=H8 bytes=4096")
             ->results,
        "send_lat.typical", largest, "s");
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(claim_evaluate(find(claims[i]), &evidence, PRESET_TODAY).outcome,
                         expected);
    evidence_release(&evidence);
}

static void store_and_forward_fails_the_claims_on_latency(void **state)
{
    (void)state;
    /* header 20 ns, look-up 100 ns and cable 10 ns for each switch; cable, and the packet */
    judge_latencies(428e-9, 4522e-9, OUTCOME_HOLDS);
    judge_latencies(452e-9, 16828e-9, OUTCOME_DIFFERS);
}

/* SMPs at these times in ms; the change was detected at 10 ms and its last 4 ms are distribution.
 */
static enum outcome judge_steps(const char *name, const unsigned *times, size_t count)
{
    struct evidence evidence = {0};
    struct results *results = &evidence_add(&evidence, "preset=paper")->results;
    size_t series = results_series(results, "smps", "SMPs");
    for (size_t i = 0; i < count; i++)
        results_add_point(results, series, times[i] * 1000000000ull, (double)i);
    results_set(results, "fault.begin", 0.01, "s");
    results_set(results, "fault.time", 0.024, "s");
    results_set(results, "fault.distribute.time", 0.004, "s");
    enum outcome outcome = claim_evaluate(find(name), &evidence, PRESET_PAPER).outcome;
    evidence_release(&evidence);
    return outcome;
}

static void steps_of_smps_are_counted(void **state)
{
    static const unsigned right[] = {1, 10, 11, 30, 31, 31, 33},
                          joined[] = {10, 14, 18, 22, 26, 30};
    (void)state;
    assert_int_equal(judge_steps("icpp03-fig12/steps", right, 7), OUTCOME_HOLDS);
    assert_int_equal(judge_steps("icpp03-fig12/distribution", right, 7), OUTCOME_HOLDS);
    assert_int_equal(judge_steps("icpp03-fig12/steps", joined, 6), OUTCOME_DIFFERS);
    assert_int_equal(judge_steps("icpp03-fig12/distribution", joined, 6), OUTCOME_DIFFERS);
}

/* ---- expectations ---- */

static int read_expected(struct expectations *expectations, const char *text, struct err *err)
{
    char path[] = "/tmp/weft-expected-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    close(descriptor);
    int status = expectations_read(expectations, &recipes, path, err);
    unlink(path);
    return status;
}

static void claims_without_expectation_must_hold(void **state)
{
    struct expectations expectations;
    struct err err = {0};
    const struct claim *claim = find("san03-fig22/grid");
    (void)state;
    assert_int_equal(read_expected(&expectations,
                                   "# remark\n\n"
                                   "san03-fig22/grid paper differs quick \"only some of it\"\n"
                                   "san03-fig22/grid today unknown \"never\"\n",
                                   &err),
                     0);
    assert_string_equal(expectation_find(&expectations, claim, PRESET_PAPER, true)->reason,
                        "only some of it");
    assert_null(expectation_find(&expectations, claim, PRESET_PAPER, false));
    assert_int_equal(expectation_find(&expectations, claim, PRESET_TODAY, false)->outcome,
                     OUTCOME_UNKNOWN);
    assert_null(expectation_find(&expectations, find("san03-fig06/bandwidth"), PRESET_PAPER, true));
    expectations_release(&expectations);
}

static void expectations_of_unknown_claims_are_refused(void **state)
{
    static const char *const cases[] = {
        "san03-fig22/gird paper differs \"x\"\n",  "san03-fig22 paper differs \"x\"\n",
        "san03-fig22/grid papers differs \"x\"\n", "san03-fig22/grid paper fails \"x\"\n",
        "san03-fig22/grid paper differs\n",        "san03-fig22/grid paper differs \"x\" y\n"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct expectations expectations;
        struct err err = {0};
        assert_true(read_expected(&expectations, cases[i], &err) < 0);
        assert_int_equal(err.line, 1);
    }
}

/* ---- papers ---- */

static void every_experiment_belongs_to_a_paper(void **state)
{
    struct papers papers;
    struct err err = {0};
    (void)state;
    assert_int_equal(papers_read(&papers, EXPERIMENTS "/papers", &err), 0);
    for (size_t i = 0; i < recipes.count; i++)
        if (!papers_find(&papers, recipes.items[i].name))
            fail_msg("%s belongs to no paper", recipes.items[i].name);
    assert_string_equal(papers_find(&papers, "vswitch")->key, "cluster15");
    assert_null(papers_find(&papers, "999-fig01"));
    papers_release(&papers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_evidence_nothing_holds),
        cmocka_unit_test(bounds_are_inclusive_or_exclusive),
        cmocka_unit_test(both_ends_of_a_range_must_be_within_the_bounds),
        cmocka_unit_test(values_are_shown_with_unit_interval_and_explanation),
        cmocka_unit_test(tolerances_are_written_in_words),
        cmocka_unit_test(the_list_of_claims_has_every_field_in_80_columns),
        cmocka_unit_test(a_rate_above_the_link_rate_fails_the_claim),
        cmocka_unit_test(a_claim_uses_observations_of_its_preset),
        cmocka_unit_test(the_knee_lies_between_two_loads),
        cmocka_unit_test(a_packet_in_the_gap_fails_the_claim),
        cmocka_unit_test(losses_must_be_proportional_to_the_load),
        cmocka_unit_test(one_differing_size_fails_the_claim),
        cmocka_unit_test(store_and_forward_fails_the_claims_on_latency),
        cmocka_unit_test(steps_of_smps_are_counted),
        cmocka_unit_test(claims_without_expectation_must_hold),
        cmocka_unit_test(expectations_of_unknown_claims_are_refused),
        cmocka_unit_test(every_experiment_belongs_to_a_paper),
    };
    return cmocka_run_group_tests(tests, read_experiments, release_experiments);
}
