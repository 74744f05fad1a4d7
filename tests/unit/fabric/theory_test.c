/* The yardsticks are measured before they measure anything: each against a second way to the same
 * number. */
#include "theory.h"

#include "fabric/traffic/traffic.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void assert_near(double measured, double expected, double tolerance)
{
    if (!(fabs(measured - expected) <= tolerance))
        fail_msg("%g, not %g", measured, expected);
}

/* Lindley's recursion for one queue: the waits of `count` packets after the first `count` / 10. */
static void wait_in_line(double load, double *waits, size_t count)
{
    const uint64_t service = 1000000;
    struct rng rng;
    rng_seed(&rng, 7, (uint64_t)(load * 100));
    uint64_t mean = (uint64_t)((double)service / load), backlog = 0;
    for (size_t i = 0; i < count + count / 10; i++) {
        uint64_t passed = traffic_exponential(&rng, mean);
        backlog = i && backlog + service > passed ? backlog + service - passed : 0;
        if (i >= count / 10)
            waits[i - count / 10] = (double)backlog;
    }
}

static void poisson_packets_wait_as_long_as_the_formula_says(void **state)
{
    (void)state;
    enum { PACKETS = 500000, BATCHES = 20 };
    double *waits = mem_zalloc(PACKETS, sizeof *waits);
    for (unsigned tenths = 1; tenths <= 9; tenths++) {
        double load = tenths / 10.0, theory = theory_md1_wait(load, 1000000);
        wait_in_line(load, waits, PACKETS);
        struct theory_interval interval = theory_batch_means(waits, PACKETS, BATCHES);
        if (!theory_holds(interval, theory))
            fail_msg("load %.1f: %.0f +- %.0f, not %.0f", load, interval.mean, interval.half_width,
                     theory);
        assert_true(interval.half_width < 0.1 * theory);
    }
    mem_free(waits);
}

static void the_formula_matches_the_textbook(void **state)
{
    (void)state;
    assert_near(theory_md1_wait(0, 100), 0, 0);
    assert_near(theory_md1_wait(0.5, 100), 50, 1e-9);
    assert_near(theory_md1_wait(0.9, 100), 450, 1e-9);
}

/* Two ports serve one or two packets a slot, each as often: a standard deviation of 0.25 a slot and
 * of 0.0005 over 300,000, and less with more ports. 0.002 is four of them. */
static void karols_table_is_what_a_slotted_switch_does(void **state)
{
    (void)state;
    for (unsigned ports = 2; ports <= 8; ports++) {
        double measured = theory_head_of_line_simulated(ports, true, 300000, ports);
        if (fabs(measured - theory_head_of_line_limit(ports)) > 0.002)
            fail_msg("%u ports: %.4f, not %.4f", ports, measured, theory_head_of_line_limit(ports));
    }
    assert_near(theory_head_of_line_limit(1), 1, 0);
    double many = theory_head_of_line_simulated(64, true, 20000, 1);
    assert_true(many > theory_head_of_line_limit(0) && many < theory_head_of_line_limit(8));
}

static void without_packets_to_the_own_port_the_limit_is_higher(void **state)
{
    (void)state;
    assert_near(theory_head_of_line_simulated(2, false, 1000, 1), 1, 0);
    double four = theory_head_of_line_simulated(4, false, 300000, 1);
    assert_true(four > theory_head_of_line_limit(4) + 0.01);
}

static void an_interval_is_as_wide_as_by_hand(void **state)
{
    (void)state;
    /* 1 … 10: mean 5.5, variance 55/6; t with 9 degrees of freedom is 2.262. */
    double ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    struct theory_interval interval = theory_confidence(ten, 10);
    assert_near(interval.mean, 5.5, 1e-12);
    assert_near(interval.half_width, 2.262 * sqrt(55.0 / 6 / 10), 1e-9);
    assert_true(theory_holds(interval, 7.6) && !theory_holds(interval, 7.7));
    assert_true(theory_holds(interval, 3.4) && !theory_holds(interval, 3.3));
}

static void batches_are_means_of_neighbours(void **state)
{
    (void)state;
    double values[23] = {1000, 1000, 1000};
    for (unsigned i = 0; i < 10; i++) {
        values[3 + 2 * i] = i + 0.75;
        values[4 + 2 * i] = i + 1.25;
    }
    struct theory_interval interval = theory_batch_means(values, 23, 10);
    assert_near(interval.mean, 5.5, 1e-12);
    assert_near(interval.half_width, 2.262 * sqrt(55.0 / 6 / 10), 1e-9);
}

/* Of 2,000 intervals 95 % hold the truth: 1,900 with a standard deviation of 9.7; four of these. */
static void nineteen_of_twenty_intervals_contain_the_mean(void **state)
{
    (void)state;
    for (unsigned count = THEORY_FEWEST_BATCHES; count <= THEORY_MOST_BATCHES; count += 10) {
        unsigned held = 0;
        struct rng rng;
        rng_seed(&rng, 3, count);
        for (unsigned i = 0; i < 2000; i++) {
            double means[THEORY_MOST_BATCHES];
            for (unsigned j = 0; j < count; j++) {
                means[j] = 0;
                for (unsigned k = 0; k < 12; k++)
                    means[j] += (double)rng_below(&rng, 1000001);
            }
            held += theory_holds(theory_confidence(means, count), 12 * 500000.0);
        }
        if (held < 1861 || held > 1939)
            fail_msg("%u of 2000 intervals over %u batches hold", held, count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_formula_matches_the_textbook),
        cmocka_unit_test(poisson_packets_wait_as_long_as_the_formula_says),
        cmocka_unit_test(karols_table_is_what_a_slotted_switch_does),
        cmocka_unit_test(without_packets_to_the_own_port_the_limit_is_higher),
        cmocka_unit_test(an_interval_is_as_wide_as_by_hand),
        cmocka_unit_test(batches_are_means_of_neighbours),
        cmocka_unit_test(nineteen_of_twenty_intervals_contain_the_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
