/* Measures: what expressions yield, and that every wrong one gives one clear error. */
#include "base/rng.h"
#include "reproduce/claims.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- an experiment of one claim ---- */

static char folder[] = "/tmp/weft-measure-XXXXXX";
static struct evidence evidence;

static const char *figure_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/figure", folder);
    return path;
}

/* Reads an experiment with these statements above its claim, and this measure. */
static int read_with(struct recipe *recipe, const char *above, const char *measure, struct err *err)
{
    remove(figure_path()); /* a new file is not flushed, unlike one that is overwritten */
    FILE *file = fopen(figure_path(), "we");
    assert_non_null(file);
    fprintf(file,
            "title x\n%sclaim c x paper x at x from 0 because x\n"
            "  measure %s\n",
            above, measure);
    fclose(file);
    return recipe_read(recipe, folder, err);
}

static struct measured measure_with(const char *above, const char *measure)
{
    struct recipe recipe;
    struct err err = {0};
    if (read_with(&recipe, above, measure, &err) != 0)
        fail_msg("%s: %u:%u: %s", measure, err.line, err.column, err.message);
    struct measured measured =
        measure_evaluate(&recipe.claims.items[0].measure, &evidence, "paper");
    recipe_release(&recipe);
    return measured;
}

static double value(const char *measure)
{
    struct measured measured = measure_with("", measure);
    assert_true(measured.least == measured.most || isnan(measured.least));
    return measured.least;
}

static void is_range(const char *measure, double least, double most)
{
    struct measured measured = measure_with("", measure);
    if (measured.least != least || measured.most != most)
        fail_msg("%s: %g to %g", measure, measured.least, measured.most);
}

static void explained(const char *measure, const char *text)
{
    assert_string_equal(measure_with("", measure).text, text);
}

static void add(const char *parameters, double time)
{
    results_set(&evidence_add(&evidence, parameters)->results, "time", time, "s");
}

/* Sizes 8, 16 and 64, two networks, two engines; another preset, and a run without the figure. */
static int make_evidence(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    add("preset=paper seed=1 engine=fera switches=8", 64);
    add("preset=paper seed=1 engine=fera switches=16", 256);
    add("preset=paper seed=1 engine=fera switches=64", 4096);
    add("preset=paper seed=1 engine=pira switches=8", 32);
    add("preset=paper seed=2 engine=fera switches=8", 192);
    add("preset=paper seed=2 engine=pira switches=8", 48);
    add("preset=paper seed=3 engine=pira switches=8", 40); /* no partner */
    add("preset=today seed=1 engine=fera switches=8", 1000);
    struct results *results = &evidence_add(&evidence, "preset=paper seed=1 kind=series")->results;
    results_set(results, "begin", 0.01, "s");
    size_t series = results_series(results, "smps", "SMPs");
    static const unsigned ms[] = {1, 10, 11, 30, 31};
    for (unsigned i = 0; i < 5; i++)
        results_add_point(results, series, ms[i] * UINT64_C(1000000000), i);
    return 0;
}

static int release_evidence(void **state)
{
    (void)state;
    evidence_release(&evidence);
    remove(figure_path());
    return remove(folder);
}

/* ---- values ---- */

static void operators_have_the_usual_precedence(void **state)
{
    (void)state;
    assert_true(value("1 + 2 * 3 ^ 2 - 4 / 2") == 17);
    assert_true(value("(1 + 2) * 3") == 9);
    assert_true(value("1 - 2 - 3") == -4);
    assert_true(value("1 + 1 = 2 and 3 > 2") == 1);
    assert_true(value("2 <= 1") == 0);
    assert_true(value("5 if 1 < 2") == 5);
    assert_true(isnan(value("5 if 1 > 2")));
    assert_true(value("5 if 1 > 2 else 6") == 6);
    assert_true(value("max(1, min(3, 2)) + abs(1 - 3) + floor(2.7)") == 6);
    assert_true(value("ratio(0, 0)") == 1);
    assert_true(isnan(value("never / 2 > 1"))); /* nothing was measured */
}

static void a_figure_is_the_mean_over_networks(void **state)
{
    (void)state;
    struct measured mean = measure_with("", "time[engine=fera switches=8]");
    assert_true(mean.least == 128 && fabs(mean.half_width - 12.706 * 64) < 1);
    assert_true(value("time[engine=pira]") == 40);
    assert_true(value("time[preset=today]") == 1000);
    assert_true(isnan(value("time[switches=7]")));
    assert_true(isnan(measure_with("", "time[switches=8] + 0").half_width));
}

static void the_innermost_condition_counts(void **state)
{
    (void)state;
    assert_true(value("(time[engine=pira] / time)[engine=fera switches=8]") == 40. / 128);
    assert_true(value("sum(switches: count(runs: time)[switches=*])[engine=fera]") == 12);
}

static void loops_go_over_sizes_networks_and_runs(void **state)
{
    (void)state;
    is_range("range(switches: time)[engine=fera]", 128, 4096);
    is_range("steps(switches: time)[engine=fera]", 2, 16);
    is_range("range(networks: time[engine=fera] / time[engine=pira])[switches=8]", 2, 4);
    is_range("range(runs: time)", 32, 4096);
    is_range("all(engine=fera,pira: time)[switches=8]", 40, 128);
    is_range("all(time[engine=fera switches=8], time[engine=pira])", 40, 128);
    assert_true(isnan(measure_with("", "all(engine=fera,dr: time)").least)); /* one is missing */
    is_range("range(engine=fera,dr: time)[switches=16]", 256, 256);
    assert_true(value("low(steps(switches: time)[engine=fera])") == 2);
    assert_true(value("first(switches: time)[engine=fera]") == 128);
    assert_true(value("last(switches: time)[engine=fera]") == 4096);
    assert_true(value("rises(switches: time)[engine=fera]") == 2);
    assert_true(value("count(switches networks: time)[engine=fera]") == 4);
    assert_true(value("sum(engine switches: $switches)") == 8 + 16 + 64 + 8);
    assert_true(value("share(switches: time > 200)[engine=fera]") == 2. / 3);
    assert_true(value("count(runs: never)") == 0);
    assert_true(isnan(value("sum(runs: never)")));
}

static void ratios_of_networks_have_a_confidence_interval(void **state)
{
    struct measured ratio =
        measure_with("", "mean(networks: (time[engine=fera] / time[engine=pira])[switches=8])");
    (void)state;
    assert_true(ratio.least == 3);
    assert_true(ratio.half_width > 12.7 && ratio.half_width < 12.8); /* t(1) = 12.71 */
    assert_true(isnan(measure_with("", "mean(switches: time)").half_width));
}

static void growth_has_a_power_and_ranks(void **state)
{
    static const char one[] = "let one = time[engine=fera repetition=1 seed=1]\n";
    (void)state;
    assert_true(fabs(measure_with(one, "power(switches: one)").least - 2) < 1e-9);
    assert_true(fabs(measure_with(one, "fit(switches: one)").least - 1) < 1e-9);
    assert_true(fabs(measure_with(one, "geometric(switches: one)").least - cbrt(64. * 256 * 4096)) <
                1e-6);
    assert_true(measure_with(one, "rank(switches: one)").least == 1);
    assert_true(measure_with(one, "rank(switches: 0 - one)").least == -1);
    assert_true(fabs(measure_with(one, "line(switches: one, 3 * one + 1)").least - 1) < 1e-9);
    assert_true(isnan(measure_with(one, "low(steps(switches: one)[switches=8])").least));
    struct measured law = measure_with(one, "power-law(switches: one)");
    assert_true(fabs(law.least - 2) < 1e-9);
    assert_string_equal(law.text, "R^2 1.000");
    law = measure_with(one, "power-law(switches: one if $switches > 8 else 1e6)");
    assert_true(law.least == 0 && strstr(law.text, "no power law, R^2 0."));
    /* Ranks 0.5, 2, 0.5 instead of 0, 1, 2. */
    assert_true(fabs(measure_with(one, "rank(switches: one if $switches = 16 else 1)").least -
                     (1 - 6 * 3.5 / 24)) < 1e-9);
}

static void tables_belong_to_the_values_of_a_parameter(void **state)
{
    static const char tables[] = "table half switches 8=4 16=8\n"
                                 "table code engine fera=1 *=2\n"
                                 "table other switches 8=16 16=64\n";
    (void)state;
    assert_true(measure_with(tables, "sum(switches=8,16: $half)").least == 12);
    assert_true(measure_with(tables, "sum(engine: $code)").least == 3);
    assert_true(isnan(measure_with(tables, "$half[switches=64]").least));
    struct measured next =
        measure_with(tables, "range(switches: time[switches=$other])[engine=fera]");
    assert_true(next.least == 256 && next.most == 4096);
    assert_true(measure_with(tables, "sum(runs: $half)").least > 12);
}

static void series_are_those_of_a_run(void **state)
{
    (void)state;
    assert_true(value("sum(runs: points(smps))") == 5);
    assert_true(value("sum(runs: points(smps, begin, begin + 1e-3))") == 2);
    assert_true(value("sum(runs: groups(smps, begin, 5e-3))") == 2);
    assert_true(value("sum(runs: begin(smps))") == 1e-3);
    assert_true(value("sum(runs: end(smps))") == 31e-3);
    assert_true(value("sum(runs: final(smps))") == 4);
    assert_true(value("sum(runs: onset(smps))") == 10e-3);
    assert_true(isnan(value("sum(runs: points(smps)[kind=other])")));
    assert_true(isnan(value("points(smps)"))); /* not inside a run */
}

static void explanations_have_values_in_braces(void **state)
{
    (void)state;
    explained("1 explain \"{1 / 3:.2f} of {1234567} and {2000:.3g} at 5 %\"",
              "0.33 of 1234567 and 2e+03 at 5 %");
    explained("1 explain \"{count(networks: time):network}, {1:run}\"", "3 networks, 1 run");
    explained("1 explain \"{list(switches: time)}; {list(switches=7: time)}\"", "69, 256, 4096; ");
    explained("1", "");
}

/* ---- errors ---- */

static void wrong_measures_are_refused_with_their_place(void **state)
{
    static const struct {
        const char *measure;
        unsigned column;
        const char *message;
    } cases[] = {
        {"", 10, "expected a figure, a number or a function, not 'the end'"},
        {"1 +", 14, "not 'the end'"},
        {"1 2", 13, "expected an operator, not '2'"},
        {"time)", 15, "expected an operator, not ')'"},
        {"(time", 16, "expected ')' after a term, not 'the end'"},
        {"* 2", 11, "not '* 2'"},
        {"$", 11, "not '$'"},
        {"time[engine]", 16, "'engine': expected NAME=VALUE"},
        {"time[engine=fera", 27, "expected ']' after conditions"},
        {"time[]", 16, "expected NAME=VALUE"},
        {"time[rate=$half]", 16, "there is no table 'half' above"},
        {"men(runs: time)", 11, "did you mean 'min'?"},
        {"mean(time)", 16, "mean(...) needs a loop"},
        {"mean(: time)", 16, "expected NAME or NAME=VALUE"},
        {"mean(a=: time)", 16, "expected NAME or NAME=VALUE"},
        {"line(runs: time)", 16, "takes 2 operands, not 1"},
        {"min(1, 2, 3)", 15, "takes 2 operands, not 3"},
        {"all(1, 2, 3, 4, 5)", 26, "too many operands"},
        {"begin(1)", 17, "begins with the name of a series"},
        {"range(runs: time) + 1", 32, "'+' after a range"},
        {"1 + range(runs: time)", 15, "low(...) and high(...) are the ends"},
        {"mean(runs: steps(rate: time))", 22, "low(...) and high(...) are the ends"},
        {"list(runs: time)", 11, "list(...) is for explanations"},
        {"1 explain", 20, "expected an explanation"},
        {"1 explain \"{\"", 23, "not 'the end'"},
        {"1 explain \"a {1\"", 26, "expected '}' after a value"},
        {"1 explain \"{1:}\"", 25, "expected a format as .2f or .3g, or a noun"},
        {"1 explain \"{range(runs: time)}\"", 40, "a range is shown as low(...) and high(...)"},
        {"1 explain \"{list(runs: time)[a=b]}\"", 39, "conditions belong inside list(...)"},
        {"1 explain \"a\" b", 25, "b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct recipe recipe;
        struct err err = {0};
        if (read_with(&recipe, "", cases[i].measure, &err) == 0)
            fail_msg("accepted: %s", cases[i].measure);
        if (err.line != 3 || err.column != cases[i].column ||
            !strstr(err.message, cases[i].message))
            fail_msg("%s: %u:%u: %s", cases[i].measure, err.line, err.column, err.message);
    }
}

static void deep_terms_are_refused(void **state)
{
    char deep[2048] = "";
    struct recipe recipe;
    struct err err = {0};
    (void)state;
    memset(deep, '(', sizeof deep - 1);
    assert_true(read_with(&recipe, "", deep, &err) < 0);
    assert_non_null(strstr(err.message, "more than 60 terms"));
}

/* Characters of a measure are replaced, removed and doubled. It is read and evaluated, or it is
 * refused with its line. */
static void any_text_is_read_or_refused(void **state)
{
    static const char *const seeds[] = {
        "all(fault=switch,link: range(switches: ratio(time[engine=dr], time))) explain "
        "\"{time:.2f}\"",
        "points(packets, begin(s), end(s)) if 1e3 * gap >= 1 else $half explain \"{list(runs: "
        "x)}\"",
        "power-law(rate networks: lost[rate=$half a=*] if least(runs: lost) > 0)[whole=yes]"};
    static const char used[] = "()[]{}:,.=$+-*/^<>\" 019aezif";
    struct rng rng;
    unsigned read = 0, refused = 0;
    (void)state;
    rng_seed(&rng, 1, 0);
    for (unsigned i = 0; i < 3000; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s", seeds[i % 3]);
        for (unsigned n = 0; n <= i % 4; n++) {
            size_t length = strlen(text), at = rng_below(&rng, length);
            unsigned how = (unsigned)rng_below(&rng, 3);
            if (how == 0)
                text[at] = used[rng_below(&rng, sizeof used - 1)];
            else if (how == 1)
                memmove(text + at, text + at + 1, length - at);
            else
                memmove(text + at + 1, text + at, length - at + 1);
        }
        struct recipe recipe;
        struct err err = {0};
        int status = read_with(&recipe, "table half switches 8=4\nlet gap = time\n", text, &err);
        if (status == 0) {
            measure_evaluate(&recipe.claims.items[0].measure, &evidence, "paper");
            recipe_release(&recipe);
            read++;
        } else {
            assert_int_equal(err.line, 5);
            assert_true(err.message[0] && !strchr(err.message, '\n'));
            refused++;
        }
    }
    assert_true(read > 100 && refused > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_have_the_usual_precedence),
        cmocka_unit_test(a_figure_is_the_mean_over_networks),
        cmocka_unit_test(the_innermost_condition_counts),
        cmocka_unit_test(loops_go_over_sizes_networks_and_runs),
        cmocka_unit_test(ratios_of_networks_have_a_confidence_interval),
        cmocka_unit_test(growth_has_a_power_and_ranks),
        cmocka_unit_test(tables_belong_to_the_values_of_a_parameter),
        cmocka_unit_test(series_are_those_of_a_run),
        cmocka_unit_test(explanations_have_values_in_braces),
        cmocka_unit_test(wrong_measures_are_refused_with_their_place),
        cmocka_unit_test(deep_terms_are_refused),
        cmocka_unit_test(any_text_is_read_or_refused),
    };
    return cmocka_run_group_tests(tests, make_evidence, release_evidence);
}
