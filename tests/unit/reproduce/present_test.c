/* The table of claims: 80 columns, reasons, and unexpected outcomes. */
#include "reproduce/reproduce.h"

#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

static const struct claim claim = {
    .experiment = "san03-fig26",
    .name = "bottleneck",
    .text = "a claim with a good many words, more than fit into one line of its column",
    .paper = "most of the time that there is",
    .place = "V-D",
    .why = "more than half",
    .unit = &(const struct claim_unit){"%", 0.01},
    .low = {50, true},
    .high = {.value = NAN},
};
static const struct expectation expectation = {
    .claim = &claim,
    .preset = PRESET_TODAY,
    .outcome = OUTCOME_DIFFERS,
    .reason = "a reason with so many words that it needs more than one line in a table of eighty "
              "columns, or so one would think",
};
static const struct recipe recipe = {.name = "san03-fig26", .title = "A title", .folder = "."};

static struct reproduction make(enum outcome paper, enum outcome today)
{
    struct reproduction reproduction = {0};
    struct experiment experiment = {.recipe = &recipe};
    struct verdict verdict = {
        .claim = &claim,
        .findings = {{.outcome = paper, .shown = "12.5 µs to 13.5 µs"},
                     {.outcome = today, .shown = "never"}},
        .expected = {NULL, &expectation},
    };
    vec_push(&experiment.verdicts, verdict);
    vec_push(&reproduction.experiments, experiment);
    return reproduction;
}

static void the_table_keeps_to_80_columns(void **state)
{
    struct reproduction reproduction = make(OUTCOME_HOLDS, OUTCOME_DIFFERS);
    struct text out = {0};
    (void)state;
    reproduction_write_table(&reproduction, &out);
    for (char *line = out.data, *next; *line; line = next) {
        next = strchr(line, '\n');
        assert_non_null(next);
        *next++ = 0;
        assert_true(text_width(line) <= 80);
    }
    text_release(&out);
    reproduction_release(&reproduction);
}

static void claims_that_do_not_hold_have_their_reason(void **state)
{
    struct reproduction reproduction = make(OUTCOME_HOLDS, OUTCOME_DIFFERS);
    struct text out = {0};
    (void)state;
    reproduction_write_table(&reproduction, &out);
    assert_non_null(strstr(out.data, "today: a reason with so many words"));
    assert_non_null(strstr(out.data, "1 claims. Results of the papers: 1 of 1 hold with preset "));
    assert_null(strstr(out.data, "[result]"));
    assert_null(strstr(out.data, "fitted values")); /* there are none */
    assert_null(strstr(out.data, "unexpected"));
    assert_int_equal(reproduction_count(&reproduction).unexpected, 0);
    text_release(&out);
    reproduction_release(&reproduction);
}

static void shared_reasons_are_written_once(void **state)
{
    struct reproduction reproduction = make(OUTCOME_HOLDS, OUTCOME_DIFFERS);
    struct text out = {0};
    (void)state;
    struct verdict again = reproduction.experiments.items[0].verdicts.items[0];
    vec_push(&reproduction.experiments.items[0].verdicts, again);
    reproduction_write_table(&reproduction, &out);
    char *told = strstr(out.data, "a reason with so many words");
    assert_non_null(told);
    assert_null(strstr(told + 1, "a reason with so many words"));
    assert_non_null(strstr(out.data, "today, 2 claims: a reason"));
    text_release(&out);
    reproduction_release(&reproduction);
}

/* Three claims of different kinds: a result that holds with preset paper, a fitted value that holds
 * with both, a check that holds with none. */
static struct reproduction make_kinds(void)
{
    static struct claim fitted, check;
    struct reproduction reproduction = make(OUTCOME_HOLDS, OUTCOME_DIFFERS);
    struct experiment *experiment = &reproduction.experiments.items[0];
    struct verdict verdict = experiment->verdicts.items[0];
    fitted = check = claim;
    fitted.kind = CLAIM_FITTED;
    check.kind = CLAIM_CHECK;
    verdict.claim = &fitted;
    verdict.findings[PRESET_TODAY].outcome = OUTCOME_HOLDS;
    vec_push(&experiment->verdicts, verdict);
    verdict.claim = &check;
    verdict.findings[PRESET_PAPER].outcome = OUTCOME_UNKNOWN;
    verdict.findings[PRESET_TODAY].outcome = OUTCOME_DIFFERS;
    vec_push(&experiment->verdicts, verdict);
    return reproduction;
}

static void claims_are_counted_by_kind(void **state)
{
    struct reproduction reproduction = make_kinds();
    struct text out = {0};
    (void)state;
    reproduction_write_table(&reproduction, &out);
    for (char *c = out.data; *c; c++)
        if (*c == '\n')
            *c = ' ';
    assert_non_null(strstr(out.data, "[fitted]"));
    assert_non_null(strstr(out.data, "[check]"));
    assert_non_null(strstr(out.data,
                           "3 claims. Results of the papers: 1 of 1 hold with preset paper, 0 with "
                           "today; fitted values: 1 of 1 hold with preset paper, 1 with today; "
                           "checks: 0 of 1 hold with preset paper, 0 with today."));
    text_release(&out);
    reproduction_release(&reproduction);
}

static void json_has_the_kind_of_claims(void **state)
{
    struct reproduction reproduction = make_kinds();
    struct text out = {0};
    (void)state;
    reproduction_write_json(&reproduction, &out);
    const char *kinds = strstr(out.data, "\"kinds\"");
    assert_non_null(kinds);
    const char *fitted = strstr(kinds, "\"fitted\": {");
    assert_non_null(fitted);
    assert_non_null(strstr(fitted, "\"hold_with_preset_today\": 1"));
    assert_non_null(strstr(out.data, "\"kind\": \"result\""));
    assert_non_null(strstr(out.data, "\"kind\": \"check\""));
    text_release(&out);
    reproduction_release(&reproduction);
}

static void unexpected_outcomes_are_named(void **state)
{
    struct reproduction worse = make(OUTCOME_DIFFERS, OUTCOME_DIFFERS);
    struct reproduction better = make(OUTCOME_HOLDS, OUTCOME_HOLDS);
    struct reproduction lost = make(OUTCOME_UNKNOWN, OUTCOME_DIFFERS);
    struct text out = {0};
    (void)state;
    assert_int_equal(reproduction_count(&worse).unexpected, 1);
    assert_int_equal(reproduction_count(&better).unexpected, 1);
    assert_int_equal(reproduction_count(&lost).unexpected, 1);
    reproduction_write_table(&worse, &out);
    assert_non_null(strstr(out.data, "unexpected: san03-fig26/bottleneck with preset paper"));
    text_release(&out);
    reproduction_release(&worse);
    reproduction_release(&better);
    reproduction_release(&lost);
}

static void sentence_is(const char *expected, enum outcome paper, enum outcome today)
{
    struct reproduction reproduction = make(paper, today);
    struct experiment *experiment = &reproduction.experiments.items[0];
    struct verdict second = experiment->verdicts.items[0];
    struct text out = {0};
    second.findings[PRESET_PAPER].outcome = OUTCOME_HOLDS;
    if (paper != OUTCOME_UNKNOWN)
        vec_push(&experiment->verdicts, second);
    experiment_write_sentence(experiment, &out);
    if (!strstr(out.data, expected))
        fail_msg("%s", out.data);
    text_release(&out);
    reproduction_release(&reproduction);
}

static void a_sentence_says_whether_a_reader_would_recognise_the_figure(void **state)
{
    (void)state;
    sentence_is("Both claims hold with preset paper: a reader would recognise the figure.",
                OUTCOME_HOLDS, OUTCOME_DIFFERS);
    sentence_is("1 of 2 claims hold with preset paper: a reader would recognise the figure in "
                "part; not: a claim with a good many words, more than fit into one line of its "
                "column (12.5 µs to 13.5 µs).",
                OUTCOME_DIFFERS, OUTCOME_DIFFERS);
    /* not run with preset paper */
    sentence_is("The claim holds with preset today: a reader would recognise the figure.",
                OUTCOME_UNKNOWN, OUTCOME_HOLDS);
    sentence_is("0 of 1 claims hold with preset today: a reader would not recognise the figure; "
                "not: a claim with a good many words, more than fit into one line of its column "
                "(never: a reason with",
                OUTCOME_UNKNOWN, OUTCOME_DIFFERS);
}

static void names_select_by_pattern_and_prefix(void **state)
{
    struct recipes recipes = {0};
    struct err err = {0};
    bool chosen[3];
    (void)state;
    vec_push(&recipes, ((struct recipe){.name = "icpp03-fig06"}));
    vec_push(&recipes, ((struct recipe){.name = "san03-fig06"}));
    vec_push(&recipes, ((struct recipe){.name = "san03-fig23"}));
    assert_int_equal(reproduce_choose(&recipes, NULL, 0, chosen, &err), 0);
    assert_true(chosen[0] && chosen[1] && chosen[2]);
    assert_int_equal(reproduce_choose(&recipes, (const char *const[]){"san"}, 1, chosen, &err), 0);
    assert_true(!chosen[0] && chosen[1] && chosen[2]);
    assert_int_equal(reproduce_choose(&recipes, (const char *const[]){"001"}, 1, chosen, &err), 0);
    assert_true(!chosen[0] && chosen[1] && chosen[2]); /* the old number of the paper */
    assert_int_equal(
        reproduce_choose(&recipes, (const char *const[]){"001-fig23"}, 1, chosen, &err), 0);
    assert_true(!chosen[0] && !chosen[1] && chosen[2]);
    assert_int_equal(reproduce_choose(&recipes, (const char *const[]){"*06"}, 1, chosen, &err), 0);
    assert_true(chosen[0] && chosen[1] && !chosen[2]);
    assert_true(reproduce_choose(&recipes, (const char *const[]){"san03-fig24"}, 1, chosen, &err) <
                0);
    assert_non_null(strstr(err.message, "san03-fig23")); /* the nearest */
    vec_release(&recipes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_keeps_to_80_columns),
        cmocka_unit_test(claims_that_do_not_hold_have_their_reason),
        cmocka_unit_test(shared_reasons_are_written_once),
        cmocka_unit_test(claims_are_counted_by_kind),
        cmocka_unit_test(json_has_the_kind_of_claims),
        cmocka_unit_test(unexpected_outcomes_are_named),
        cmocka_unit_test(a_sentence_says_whether_a_reader_would_recognise_the_figure),
        cmocka_unit_test(names_select_by_pattern_and_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
