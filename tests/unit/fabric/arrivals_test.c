/* Arrivals: tests of the distributions. Seeds are fixed; bounds are five standard deviations,
 * derived beside each (one false alarm in a million seeds). */
#include "fabric/traffic/traffic.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { DRAWS = 1 << 20 };

static void assert_near(const char *what, double measured, double expected, double deviation)
{
    if (!(fabs(measured - expected) <= 5 * deviation))
        fail_msg("%s: %g, not %g +- %g", what, measured, expected, 5 * deviation);
}

/* Of a chi-square statistic with this many degrees of freedom: mean f, variance 2 f; six
 * deviations, as it leans to the right. */
static void assert_fits(const uint64_t *counts, const double *expected, unsigned bins)
{
    double chi = 0, freedom = bins - 1;
    for (unsigned i = 0; i < bins; i++)
        chi += ((double)counts[i] - expected[i]) * ((double)counts[i] - expected[i]) / expected[i];
    if (chi > freedom + 6 * sqrt(2 * freedom))
        fail_msg("chi-square of %g with %g degrees of freedom", chi, freedom);
}

/* n draws of mean 1: the mean varies by 1/sqrt(n); the variance by sqrt((9 - 1)/n), since the
 * fourth central moment is 9; a correlation by 1/sqrt(n). */
static void exponential_times_have_their_mean_and_variance(void **state)
{
    (void)state;
    static const uint64_t means[] = {1000, 1000003, 4096 * TIME_NS, 1000 * TIME_S,
                                     TIME_LONGEST / 64};
    for (unsigned m = 0; m < sizeof means / sizeof means[0]; m++) {
        struct rng rng;
        rng_seed(&rng, 1, m);
        double sum = 0, squares = 0, products = 0, last = 1;
        for (unsigned i = 0; i < DRAWS; i++) {
            double x = (double)traffic_exponential(&rng, means[m]) / (double)means[m];
            sum += x;
            squares += (x - 1) * (x - 1);
            products += (x - 1) * (last - 1);
            last = x;
        }
        assert_near("mean", sum / DRAWS, 1, 1 / sqrt(DRAWS));
        assert_near("variance", squares / DRAWS, 1, sqrt(8.0 / DRAWS));
        assert_near("correlation", products / DRAWS, 0, 1 / sqrt(DRAWS));
    }
}

static void exponential_times_fill_equally_likely_bins_equally(void **state)
{
    (void)state;
    enum { BINS = 128 };
    uint64_t counts[BINS] = {0};
    double expected[BINS];
    struct rng rng;
    rng_seed(&rng, 2, 0);
    for (unsigned i = 0; i < DRAWS; i++) {
        double x = (double)traffic_exponential(&rng, TIME_S) / (double)TIME_S;
        unsigned bin = (unsigned)(BINS * -expm1(-x));
        counts[bin < BINS ? bin : BINS - 1]++;
    }
    for (unsigned i = 0; i < BINS; i++)
        expected[i] = (double)DRAWS / BINS;
    assert_fits(counts, expected, BINS);
}

static void the_exponential_tail_halves_and_halves_again(void **state)
{
    (void)state;
    enum { BINS = 16 }; /* the last holds everything beyond 15 ln 2: 32 draws of a million */
    uint64_t counts[BINS] = {0};
    double expected[BINS];
    struct rng rng;
    rng_seed(&rng, 3, 0);
    for (unsigned i = 0; i < DRAWS; i++) {
        double x = (double)traffic_exponential(&rng, TIME_S) / (double)TIME_S;
        unsigned bin = (unsigned)(x / log(2));
        counts[bin < BINS ? bin : BINS - 1]++;
    }
    for (unsigned i = 0; i < BINS; i++)
        expected[i] = ldexp(DRAWS, -(int)(i + 1 < BINS ? i + 1 : BINS - 1));
    assert_fits(counts, expected, BINS);
}

/* The same on any machine and with any compiler: simulations rest on it. */
static void a_seed_gives_the_same_times_everywhere(void **state)
{
    (void)state;
    static const uint64_t expected[] = {577840136, 1720089747, 212101917,
                                        190142618, 611540688,  2085143469};
    struct rng rng;
    rng_seed(&rng, 42, 7);
    for (unsigned i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_int_equal(traffic_exponential(&rng, TIME_MS), expected[i]);
    uint64_t hash = 0;
    for (unsigned i = 0; i < 100000; i++)
        hash = hash * 31 + traffic_exponential(&rng, TIME_S);
    assert_int_equal(hash, 0x34b9428445d7c323u);
}

static void no_mean_overflows(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 5, 0);
    unsigned cut = 0;
    for (unsigned i = 0; i < 100000; i++) {
        assert_int_equal(traffic_exponential(&rng, 0), 0);
        assert_true(traffic_exponential(&rng, 1000 * TIME_S) < 64000 * TIME_S);
        cut += traffic_exponential(&rng, UINT64_MAX) == UINT64_MAX;
    }
    /* More than the mean with probability 1/e. */
    assert_near("cut", cut / 100000.0, exp(-1), sqrt(exp(-1) * (1 - exp(-1)) / 100000));
}

static struct traffic traffic_of_two(enum traffic_arrival arrival, uint64_t interval_ps)
{
    struct traffic traffic;
    traffic_init(&traffic, 256);
    for (uint32_t i = 0; i < 2; i++) {
        vec_push(&traffic.senders, i);
        vec_push(&traffic.receivers, i);
    }
    traffic.arrival = arrival;
    traffic.interval_ps = interval_ps;
    traffic.start_ps = 5 * TIME_MS;
    if (traffic.arrival == ARRIVAL_EMPIRICAL) { /* half or one and a half of the mean */
        vec_push(&traffic.density, ((struct traffic_interval){1, UINT64_C(1) << 31}));
        vec_push(&traffic.density, ((struct traffic_interval){2, UINT64_C(3) << 31}));
    }
    return traffic;
}

static void assert_sensible(const struct traffic *traffic)
{
    struct err err = {0};
    if (traffic_check(traffic, &err))
        fail_msg("%s", err.message);
}

/* The count of `DRAWS` intervals, and the sum of their squares, in units of the mean. */
struct moments {
    double mean, variance;
};
static struct moments measure(const struct traffic *traffic, uint64_t seed)
{
    struct traffic_source source;
    traffic_source_init(&source, traffic, 0, seed, 0);
    uint64_t last = traffic_draw(traffic, &source).time;
    double sum = 0, squares = 0;
    assert_true(last >= traffic->start_ps);
    for (unsigned i = 0; i < DRAWS; i++) {
        uint64_t time = traffic_draw(traffic, &source).time;
        assert_true(time >= last);
        double x = (double)(time - last) / (double)traffic->interval_ps;
        sum += x;
        squares += (x - 1) * (x - 1);
        last = time;
    }
    return (struct moments){sum / DRAWS, squares / DRAWS};
}

static void poisson_senders_keep_their_rate(void **state)
{
    (void)state;
    struct traffic traffic = traffic_of_two(ARRIVAL_POISSON, 1300 * TIME_NS);
    assert_sensible(&traffic);
    struct moments moments = measure(&traffic, 1);
    assert_near("mean", moments.mean, 1, 1 / sqrt(DRAWS));
    assert_near("variance", moments.variance, 1, sqrt(8.0 / DRAWS));
    traffic_release(&traffic);
}

/* Uniform on 0 … 2: variance 1/3, fourth central moment 1/5. */
static void uniform_intervals_keep_their_rate(void **state)
{
    (void)state;
    struct traffic traffic = traffic_of_two(ARRIVAL_UNIFORM, 1300 * TIME_NS);
    assert_sensible(&traffic);
    struct moments moments = measure(&traffic, 1);
    assert_near("mean", moments.mean, 1, sqrt(1.0 / 3 / DRAWS));
    assert_near("variance", moments.variance, 1.0 / 3, sqrt((1.0 / 5 - 1.0 / 9) / DRAWS));
    traffic_release(&traffic);
    traffic = traffic_of_two(ARRIVAL_UNIFORM, 1); /* 0, 1 or 2 */
    moments = measure(&traffic, 1);
    assert_near("mean", moments.mean, 1, sqrt(2.0 / 3 / DRAWS));
    traffic_release(&traffic);
}

/* The mean of 1,000 phases uniform in one interval varies by 1/sqrt(12000) of it. */
static void constant_senders_differ_only_in_their_phase(void **state)
{
    (void)state;
    struct traffic traffic = traffic_of_two(ARRIVAL_CONSTANT, 1300 * TIME_NS);
    double sum = 0;
    assert_sensible(&traffic);
    for (uint64_t stream = 0; stream < 1000; stream++) {
        struct traffic_source source;
        traffic_source_init(&source, &traffic, 1, 1, stream);
        uint64_t first = traffic_draw(&traffic, &source).time;
        assert_in_range(first, traffic.start_ps, traffic.start_ps + traffic.interval_ps - 1);
        sum += (double)(first - traffic.start_ps) / (double)traffic.interval_ps;
        for (uint64_t i = 1; i < 10; i++)
            assert_int_equal(traffic_draw(&traffic, &source).time, first + i * traffic.interval_ps);
    }
    assert_near("phase", sum / 1000, 0.5, 1 / sqrt(12000));
    traffic_release(&traffic);
}

/* An interval is 0 with probability 1 - 1/B, else exponential of mean B: its variance is 2B - 1, so
 * that a mean of n varies by sqrt((2B - 1) / n). */
static void bursty_senders_keep_their_rate(void **state)
{
    (void)state;
    static const uint32_t bursts[] = {1, 2, 10, 100};
    for (unsigned i = 0; i < 4; i++) {
        struct traffic traffic = traffic_of_two(ARRIVAL_BURSTY, 1300 * TIME_NS);
        traffic.burst = bursts[i];
        assert_sensible(&traffic);
        struct moments moments = measure(&traffic, i);
        assert_near("mean", moments.mean, 1, sqrt((2.0 * bursts[i] - 1) / DRAWS));
        traffic_release(&traffic);
    }
}

static void a_burst_is_of_geometric_length_and_at_one_time(void **state)
{
    (void)state;
    enum { BURST = 4, BINS = 24, BURSTS = 100000 };
    struct traffic traffic = traffic_of_two(ARRIVAL_BURSTY, 1300 * TIME_NS);
    traffic.burst = BURST;
    struct traffic_source source;
    traffic_source_init(&source, &traffic, 0, 9, 0);
    uint64_t counts[BINS] = {0}, time = traffic_draw(&traffic, &source).time;
    double expected[BINS], pauses = 0, pauses_squared = 0;
    for (unsigned i = 0; i < BURSTS; i++) {
        unsigned length = 1;
        uint64_t next;
        while ((next = traffic_draw(&traffic, &source).time) == time)
            length++;
        double pause = (double)(next - time) / (double)(BURST * traffic.interval_ps);
        pauses += pause;
        pauses_squared += (pause - 1) * (pause - 1);
        time = next;
        counts[length < BINS ? length - 1 : BINS - 1]++;
    }
    for (unsigned i = 0; i < BINS; i++)
        expected[i] = BURSTS * pow(1 - 1.0 / BURST, i) * (i + 1 < BINS ? 1.0 / BURST : 1);
    assert_fits(counts, expected, BINS);
    assert_near("pause", pauses / BURSTS, 1, 1 / sqrt(BURSTS));
    assert_near("its variance", pauses_squared / BURSTS, 1, sqrt(8.0 / BURSTS));
    traffic_release(&traffic);
}

static void times_of_saturated_senders_stay_at_the_start(void **state)
{
    (void)state;
    struct traffic traffic = traffic_of_two(ARRIVAL_SATURATED, 0);
    struct traffic_source source;
    assert_sensible(&traffic);
    traffic_source_init(&source, &traffic, 0, 1, 0);
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(traffic_draw(&traffic, &source).time, traffic.start_ps);
    traffic_release(&traffic);
}

static void nothing_is_made_from_the_stop_on(void **state)
{
    (void)state;
    for (unsigned arrival = 0; arrival < ARRIVAL_SATURATED; arrival++) {
        struct traffic traffic = traffic_of_two((enum traffic_arrival)arrival, TIME_US);
        traffic.stop_ps = traffic.start_ps + TIME_MS;
        struct traffic_source source;
        struct traffic_packet packet;
        unsigned made = 0;
        assert_sensible(&traffic);
        traffic_source_init(&source, &traffic, 0, 1, 0);
        while ((packet = traffic_draw(&traffic, &source)).time != TIME_NEVER) {
            assert_in_range(packet.time, traffic.start_ps, traffic.stop_ps - 1);
            made++;
        }
        assert_in_range(made, 800, 1200);
        assert_int_equal(packet.receiver, TRAFFIC_NONE);
        assert_true(traffic_draw(&traffic, &source).time == TIME_NEVER);
        traffic_release(&traffic);
    }
}

static void the_longest_times_end_in_never(void **state)
{
    (void)state;
    for (unsigned arrival = 0; arrival < ARRIVAL_SATURATED; arrival++) {
        struct traffic traffic = traffic_of_two((enum traffic_arrival)arrival, TIME_LONGEST);
        struct traffic_source source;
        traffic.start_ps = TIME_LONGEST;
        assert_sensible(&traffic);
        traffic_source_init(&source, &traffic, 0, 1, 0);
        uint64_t last = 0;
        for (unsigned i = 0; i < 100; i++) {
            uint64_t time = traffic_draw(&traffic, &source).time;
            assert_true(time >= last);
            last = time;
        }
        assert_true(last == TIME_NEVER);
        traffic_release(&traffic);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_times_have_their_mean_and_variance),
        cmocka_unit_test(exponential_times_fill_equally_likely_bins_equally),
        cmocka_unit_test(the_exponential_tail_halves_and_halves_again),
        cmocka_unit_test(a_seed_gives_the_same_times_everywhere),
        cmocka_unit_test(no_mean_overflows),
        cmocka_unit_test(poisson_senders_keep_their_rate),
        cmocka_unit_test(uniform_intervals_keep_their_rate),
        cmocka_unit_test(constant_senders_differ_only_in_their_phase),
        cmocka_unit_test(bursty_senders_keep_their_rate),
        cmocka_unit_test(a_burst_is_of_geometric_length_and_at_one_time),
        cmocka_unit_test(times_of_saturated_senders_stay_at_the_start),
        cmocka_unit_test(nothing_is_made_from_the_stop_on),
        cmocka_unit_test(the_longest_times_end_in_never),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
