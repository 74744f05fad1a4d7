/* Statistics in constant memory, compared with exact results and with the documented errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "experiment/measure/statistics.h"
#include "experiment/measure/steady.h"
#include "experiment/measure/stoppage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void assert_near(double value, double expected, double share)
{
    if (!(fabs(value - expected) <= fabs(expected) * share))
        fail_msg("%.12g is not within %g of %.12g", value, share, expected);
}

/* ---- summaries ---- */

static void a_summary_has_the_textbook_figures(void **state)
{
    static const uint64_t values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    struct summary summary = {0};
    (void)state;
    for (size_t i = 0; i < 8; i++)
        summary_add(&summary, values[i]);
    assert_int_equal(summary.count, 8);
    assert_int_equal(summary.min, 2);
    assert_int_equal(summary.max, 9);
    assert_near(summary.mean, 5, 1e-12);
    assert_near(summary_deviation(&summary), sqrt(32.0 / 7), 1e-12);
}

static void deviations_survive_large_offsets(void **state)
{
    struct summary summary = {0};
    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        summary_add(&summary, UINT64_C(1000000000000000) + i % 2);
    assert_near(summary_deviation(&summary), 0.50025, 1e-3);
}

/* ---- histograms ---- */

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void percentiles_are_within_a_tenth_of_a_percent(void **state)
{
    enum { COUNT = 20000 };
    static const double percents[] = {0.1, 1, 25, 50, 75, 90, 99, 99.9};
    uint64_t *values = mem_alloc(COUNT * sizeof *values);
    struct histogram histogram = {0};
    struct rng rng;
    (void)state;
    rng_seed(&rng, 5, 0);
    for (size_t i = 0; i < COUNT; i++) { /* of all magnitudes */
        uint64_t value = rng_next(&rng);
        values[i] = value >> rng_below(&rng, 60);
        histogram_add(&histogram, values[i]);
    }
    qsort(values, COUNT, sizeof *values, compare);
    for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
        size_t rank = (size_t)ceil(COUNT * percents[i] / 100);
        assert_near((double)histogram_percentile(&histogram, percents[i]), (double)values[rank - 1],
                    0.001);
    }
    assert_int_equal(histogram_percentile(&histogram, 0), values[0]);
    assert_int_equal(histogram_percentile(&histogram, 100), values[COUNT - 1]);
    mem_free(values);
    histogram_release(&histogram);
}

/* The medians of runs with other seeds differ by less than the width of a cell of one percent:
 * their interval must not be 0. */
static void percentiles_of_similar_runs_differ(void **state)
{
    enum { COUNT = 20001, RUNS = 5 };
    uint64_t *values = mem_alloc(COUNT * sizeof *values), before = 0;
    (void)state;
    for (unsigned run = 0; run < RUNS; run++) {
        struct histogram histogram = {0};
        struct rng rng;
        rng_seed(&rng, run, 0);
        for (size_t i = 0; i < COUNT; i++) {
            values[i] = 780000 + rng_below(&rng, 20000) + rng_below(&rng, 20000);
            histogram_add(&histogram, values[i]);
        }
        qsort(values, COUNT, sizeof *values, compare);
        uint64_t median = histogram_percentile(&histogram, 50);
        uint64_t exact = values[COUNT / 2];
        assert_near((double)median, (double)exact, 5e-5);
        assert_true(median != before);
        before = median;
        histogram_release(&histogram);
    }
    mem_free(values);
}

static void small_values_are_counted_exactly(void **state)
{
    struct histogram histogram = {0};
    (void)state;
    for (uint64_t i = 1; i <= 100; i++)
        histogram_add(&histogram, i);
    for (unsigned percent = 1; percent <= 100; percent++)
        assert_int_equal(histogram_percentile(&histogram, percent), percent);
    histogram_release(&histogram);
}

static void extreme_64_bit_values_fit(void **state)
{
    struct histogram histogram = {0};
    (void)state;
    assert_int_equal(histogram_percentile(&histogram, 50), 0);
    histogram_add(&histogram, 0);
    histogram_add(&histogram, UINT64_MAX);
    histogram_add(&histogram, UINT64_MAX - 1);
    assert_int_equal(histogram_percentile(&histogram, 1), 0);
    assert_near((double)histogram_percentile(&histogram, 60), 1.8446744073709552e19, 0.005);
    assert_true(histogram_percentile(&histogram, 100) == UINT64_MAX);
    histogram_release(&histogram);
}

/* ---- batches ---- */

static void batches_keep_the_mean_for_any_number_of_values(void **state)
{
    struct batches batches = {0};
    (void)state;
    for (unsigned i = 0; i < 64 * 1024; i++)
        batches_add(&batches, i);
    double mean = 0;
    for (size_t i = 0; i < batches.count; i++)
        mean += batches.means[i] / (double)batches.count;
    assert_int_equal(batches.count, 32);
    assert_int_equal(batches.size, 2048);
    assert_near(mean, 32767.5, 1e-12);
}

/* 95 of 100 intervals contain the true mean; 85 or fewer have a probability of about 1e-5. */
static void confidence_intervals_contain_the_mean_in_95_percent(void **state)
{
    unsigned hits = 0;
    (void)state;
    for (uint64_t run = 0; run < 100; run++) {
        struct batches batches = {0};
        struct rng rng;
        double sum = 0;
        rng_seed(&rng, 11, run);
        for (unsigned i = 0; i < 3200; i++) {
            double value = (double)rng_below(&rng, 1001);
            sum += value;
            batches_add(&batches, value);
        }
        hits += fabs(sum / 3200 - 500) <= batches_half_width(&batches);
    }
    assert_in_range(hits, 86, 99);
}

static void few_values_have_no_interval(void **state)
{
    struct batches batches = {0};
    (void)state;
    for (unsigned i = 0; i < 31; i++)
        batches_add(&batches, i);
    assert_true(isnan(batches_half_width(&batches)));
    batches_add(&batches, 31);
    assert_false(isnan(batches_half_width(&batches)));
}

static struct batches noise_with_slope(double slope)
{
    struct batches batches = {0};
    struct rng rng;
    rng_seed(&rng, 3, 0);
    for (unsigned i = 0; i < 10000; i++)
        batches_add(&batches, 1000 + slope * i + (double)rng_below(&rng, 500));
    return batches;
}

static void only_rising_values_have_a_trend(void **state)
{
    struct batches flat = noise_with_slope(0), rising = noise_with_slope(0.1);
    struct batches falling = noise_with_slope(-0.1), hardly = noise_with_slope(0.005);
    (void)state;
    assert_false(batches_have_trend(&flat, true));
    assert_true(batches_have_trend(&rising, false));
    assert_false(batches_have_trend(&falling, false));
    assert_true(batches_have_trend(&falling, true));
    assert_false(batches_have_trend(&hardly, true)); /* sure, but 4 % in all */
}

/* ---- buckets ---- */

static void buckets_widen_without_losing_values(void **state)
{
    struct buckets buckets;
    double sum = 0, other = 0;
    (void)state;
    buckets_init(&buckets, 1000, 10, 2);
    for (uint64_t i = 0; i < 100000; i++) {
        buckets_add(&buckets, 1000 + i, 0, 1);
        buckets_add(&buckets, 1000 + i, 1, 2);
    }
    buckets_add(&buckets, 5, 0, 1); /* before the beginning */
    for (size_t i = 0; i < buckets.count; i++) {
        sum += buckets_sum(&buckets, i, 0);
        other += buckets_sum(&buckets, i, 1);
    }
    assert_near(sum, 100001, 1e-12);
    assert_near(other, 200000, 1e-12);
    assert_int_equal(buckets.width, 320);
    assert_near(buckets_sum(&buckets, 0, 0), 321, 1e-12);
    assert_near(buckets_sum(&buckets, 7, 0), 320, 1e-12);
    buckets_release(&buckets);
}

/* ---- verdicts ---- */

static void verdicts_follow_the_documented_rules(void **state)
{
    struct batches flat = noise_with_slope(0), rising = noise_with_slope(0.1);
    struct steady_window window = {.made = 10000, .delivered = 9990, .latency = &flat};
    char text[STEADY_TEXT_BYTES];
    (void)state;
    assert_int_equal(steady_judge(&window), STEADY_YES);
    window.waiting_after = 200; /* 2 % */
    assert_int_equal(steady_judge(&window), STEADY_YES);
    window.waiting_after = 201;
    assert_int_equal(steady_judge(&window), STEADY_SATURATED);
    assert_non_null(strstr(steady_text(STEADY_SATURATED, &window, text), "201 wait"));
    window.waiting_before = 100;
    assert_int_equal(steady_judge(&window), STEADY_YES);
    window.latency = &rising;
    assert_int_equal(steady_judge(&window), STEADY_RISING);
    window.latency = &flat;
    window.always = true;
    assert_int_equal(steady_judge(&window), STEADY_SATURATED);
    window.delivered = 999;
    assert_int_equal(steady_judge(&window), STEADY_UNKNOWN);
    assert_non_null(strstr(steady_text(STEADY_UNKNOWN, &window, text), "unknown: 999"));
}

/* ---- stops ---- */

static void stopped_time_is_counted_for_any_and_for_all_senders(void **state)
{
    struct stoppage stoppage = {0};
    const uint64_t s = UINT64_C(1000000000000);
    (void)state;
    stoppage_change(&stoppage, 0, true); /* before counting starts */
    stoppage_begin(&stoppage, 10 * s, 2, 0);
    stoppage_change(&stoppage, 11 * s, false);
    stoppage_change(&stoppage, 12 * s, false);
    stoppage_change(&stoppage, 14 * s, true);
    stoppage_change(&stoppage, 15 * s, true);
    stoppage_change(&stoppage, 20 * s, false);
    struct stoppage_figures figures = stoppage_figures(&stoppage, 21 * s);
    assert_near(figures.any, 5, 1e-12);
    assert_near(figures.any_longest, 4, 1e-12);
    assert_near(figures.all, 2, 1e-12);
    assert_near(figures.all_longest, 2, 1e-12);
    assert_near(figures.mean, 3.5, 1e-12);
    figures = stoppage_figures(&stoppage, 30 * s); /* reading does not change the state */
    assert_near(figures.any_longest, 10, 1e-12);
    assert_near(figures.any, 14, 1e-12);
}

static void means_have_a_student_t_interval(void **state)
{
    (void)state;
    const double values[] = {1, NAN, 2, 3};
    struct quantity_mean mean = quantity_mean(values, 4);
    assert_int_equal(mean.count, 3);
    assert_true(fabs(mean.mean - 2) < 1e-12);
    assert_true(fabs(mean.half_width - 4.303 / sqrt(3)) < 1e-9);
    assert_true(isnan(quantity_mean(values, 1).half_width));
    assert_true(isnan(quantity_mean(values, 0).mean));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_summary_has_the_textbook_figures),
        cmocka_unit_test(deviations_survive_large_offsets),
        cmocka_unit_test(percentiles_are_within_a_tenth_of_a_percent),
        cmocka_unit_test(percentiles_of_similar_runs_differ),
        cmocka_unit_test(small_values_are_counted_exactly),
        cmocka_unit_test(extreme_64_bit_values_fit),
        cmocka_unit_test(batches_keep_the_mean_for_any_number_of_values),
        cmocka_unit_test(confidence_intervals_contain_the_mean_in_95_percent),
        cmocka_unit_test(few_values_have_no_interval),
        cmocka_unit_test(only_rising_values_have_a_trend),
        cmocka_unit_test(buckets_widen_without_losing_values),
        cmocka_unit_test(verdicts_follow_the_documented_rules),
        cmocka_unit_test(means_have_a_student_t_interval),
        cmocka_unit_test(stopped_time_is_counted_for_any_and_for_all_senders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
