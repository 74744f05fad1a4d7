/* Claims are evaluated from evidence; without evidence they are unknown. */
#include "reproduce/claims.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct claim *find(const char *experiment, const char *name)
{
    const struct claim *claim;
    for (size_t i = 0; (claim = claim_at(i)); i++)
        if (strcmp(claim->experiment, experiment) == 0 && strcmp(claim->name, name) == 0)
            return claim;
    fail_msg("no claim %s/%s", experiment, name);
    return NULL;
}

static void claims_have_unique_names_and_all_texts(void **state)
{
    const struct claim *claim, *other;
    (void)state;
    for (size_t i = 0; (claim = claim_at(i)); i++) {
        assert_non_null(claim->experiment);
        assert_true(claim->text && *claim->text && claim->paper && *claim->paper);
        assert_non_null(claim->measure);
        for (size_t j = 0; j < i && (other = claim_at(j)); j++)
            assert_false(strcmp(claim->experiment, other->experiment) == 0 &&
                         strcmp(claim->name, other->name) == 0);
    }
}

/* Claims about LID limits and the size of a grid need no run. */
static void without_evidence_nothing_holds(void **state)
{
    struct evidence evidence = {0};
    const struct claim *claim;
    (void)state;
    for (size_t i = 0; (claim = claim_at(i)); i++)
        for (unsigned p = 0; p < CLAIM_PRESETS; p++) {
            struct finding finding = claim_evaluate(claim, &evidence, (enum claim_preset)p);
            if (finding.outcome == OUTCOME_HOLDS && strcmp(claim->name, "limits") != 0)
                fail_msg("%s/%s holds without evidence: %s", claim->experiment, claim->name,
                         finding.measured);
        }
}

static enum outcome bandwidth_at(double bits)
{
    struct evidence evidence = {0};
    results_set(&evidence_add(&evidence, "preset=paper rate=1")->results, "accepted.bits", bits,
                "bits/s");
    enum outcome outcome =
        claim_evaluate(find("001-fig06", "bandwidth"), &evidence, PRESET_PAPER).outcome;
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
    (void)state;
    results_set(&evidence_add(&evidence, "preset=today")->results, "fault.distribute.smps", 360,
                "SMPs");
    results_set(&evidence_add(&evidence, "preset=paper")->results, "fault.distribute.smps", 361,
                "SMPs");
    finding = claim_evaluate(find("001-fig26", "distribution-smps"), &evidence, PRESET_PAPER);
    assert_int_equal(finding.outcome, OUTCOME_DIFFERS);
    assert_string_equal(finding.measured, "361");
    finding = claim_evaluate(find("001-fig26", "distribution-smps"), &evidence, PRESET_TODAY);
    assert_int_equal(finding.outcome, OUTCOME_HOLDS);
    evidence_release(&evidence);
}

static void add_sizes(struct evidence *evidence, double ratio)
{
    static const char *const sizes[] = {"8", "16", "32"};
    for (unsigned i = 0; i < 3; i++) {
        char where[64];
        struct observation *one;
        snprintf(where, sizeof where, "preset=paper switches=%s change=removal", sizes[i]);
        one = evidence_add(evidence, where);
        results_set(&one->results, "fault.time", 1, "s");
        snprintf(where, sizeof where, "preset=paper switches=%s change=addition", sizes[i]);
        one = evidence_add(evidence, where);
        results_set(&one->results, "fault.time", i == 1 ? ratio : 2, "s");
    }
}

static void one_differing_size_fails_the_claim(void **state)
{
    struct evidence right = {0}, wrong = {0};
    const struct claim *claim = find("000-fig07", "addition");
    (void)state;
    add_sizes(&right, 1.1);
    add_sizes(&wrong, 0.9);
    assert_int_equal(claim_evaluate(claim, &right, PRESET_PAPER).outcome, OUTCOME_HOLDS);
    assert_int_equal(claim_evaluate(claim, &wrong, PRESET_PAPER).outcome, OUTCOME_DIFFERS);
    evidence_release(&right);
    evidence_release(&wrong);
}

static void nan_means_not_measured(void **state)
{
    struct finding finding = {0};
    (void)state;
    claim_finds(&(struct claim_case){.finding = &finding}, true, "%.1f %%", NAN);
    assert_int_equal(finding.outcome, OUTCOME_UNKNOWN);
    assert_string_equal(finding.measured, "not measured");
}

/* ---- expectations ---- */

static int read_expected(struct expectations *expectations, const char *text, struct err *err)
{
    char path[] = "/tmp/weft-expected-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    close(descriptor);
    int status = expectations_read(expectations, path, err);
    unlink(path);
    return status;
}

static void claims_without_expectation_must_hold(void **state)
{
    struct expectations expectations;
    struct err err = {0};
    const struct claim *claim = find("001-fig22", "grid");
    (void)state;
    assert_int_equal(read_expected(&expectations,
                                   "# remark\n\n"
                                   "001-fig22/grid paper differs quick \"only some of it\"\n"
                                   "001-fig22/grid today unknown \"never\"\n",
                                   &err),
                     0);
    assert_string_equal(expectation_find(&expectations, claim, PRESET_PAPER, true)->reason,
                        "only some of it");
    assert_null(expectation_find(&expectations, claim, PRESET_PAPER, false));
    assert_int_equal(expectation_find(&expectations, claim, PRESET_TODAY, false)->outcome,
                     OUTCOME_UNKNOWN);
    assert_null(
        expectation_find(&expectations, find("001-fig06", "bandwidth"), PRESET_PAPER, true));
    expectations_release(&expectations);
}

static void expectations_of_unknown_claims_are_refused(void **state)
{
    static const char *const cases[] = {
        "001-fig22/gird paper differs \"x\"\n",  "001-fig22 paper differs \"x\"\n",
        "001-fig22/grid papers differs \"x\"\n", "001-fig22/grid paper fails \"x\"\n",
        "001-fig22/grid paper differs\n",        "001-fig22/grid paper differs \"x\" y\n"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct expectations expectations;
        struct err err = {0};
        assert_true(read_expected(&expectations, cases[i], &err) < 0);
        assert_int_equal(err.line, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_have_unique_names_and_all_texts),
        cmocka_unit_test(without_evidence_nothing_holds),
        cmocka_unit_test(a_rate_above_the_link_rate_fails_the_claim),
        cmocka_unit_test(a_claim_uses_observations_of_its_preset),
        cmocka_unit_test(one_differing_size_fails_the_claim),
        cmocka_unit_test(nan_means_not_measured),
        cmocka_unit_test(claims_without_expectation_must_hold),
        cmocka_unit_test(expectations_of_unknown_claims_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
