/* Random numbers: published values of the generator and its mixer, fixed values of the streams, so
 * that old runs stay reproducible, and properties of the helpers. */
#include "base/map.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Blackman and Vigna's reference code started from the state 1, 2, 3, 4. */
static void the_generator_is_xoshiro256_starstar(void **state)
{
    static const uint64_t expected[] = {
        11520u,
        0u,
        1509978240u,
        1215971899390074240u,
        1216172134540287360u,
        607988272756665600u,
        16172922978634559625u,
        8476171486693032832u,
        10595114339597558777u,
        2904607092377533576u,
    };
    struct rng rng = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(rng_next(&rng), expected[i]);
}

/* Vigna's reference code started from 1234567. */
static void the_mixer_is_that_of_splitmix64(void **state)
{
    static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u,
                                        9817491932198370423u, 4593380528125082431u,
                                        16408922859458223821u};
    uint64_t x = 1234567;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        x += 0x9e3779b97f4a7c15u;
        assert_int_equal(hash_mix(x), expected[i]);
    }
}

static void a_seed_gives_the_same_numbers_for_ever(void **state)
{
    static const struct {
        uint64_t seed, stream, numbers[3];
    } known[] = {
        {0, 0, {0xfc72158253f7415e, 0x1fdd9141b20d58b1, 0x01e47fb3be09449e}},
        {42, 7, {0xc9f6aa62aae562d1, 0x2aae73a94de7bc66, 0x9b2627d66ce7331d}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct rng rng;
        rng_seed(&rng, known[i].seed, known[i].stream);
        for (int at = 0; at < 3; at++)
            assert_int_equal(rng_next(&rng), known[i].numbers[at]);
    }
}

static void streams_and_seeds_do_not_share_numbers(void **state)
{
    struct map seen = {0};
    enum { SEEDS = 20, STREAMS = 50, NUMBERS = 100 };
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (uint64_t stream = 0; stream < STREAMS; stream++) {
            struct rng rng;
            rng_seed(&rng, seed, stream);
            for (int i = 0; i < NUMBERS; i++)
                map_add(&seen, rng_next(&rng), 0);
        }
    assert_int_equal(seen.count, SEEDS * STREAMS * NUMBERS);
    map_release(&seen);
}

/* Two streams agree in half of their bits, give or take: independent coins would stray from the
 * mean of 32,000 by more than 800 once in far more runs than there will be. */
static void neighbouring_streams_agree_in_half_of_their_bits(void **state)
{
    for (uint64_t stream = 0; stream < 20; stream++) {
        struct rng a, b;
        rng_seed(&a, 1, stream);
        rng_seed(&b, 1, stream + 1);
        int agree = 0;
        for (int i = 0; i < 1000; i++)
            agree += __builtin_popcountll(~(rng_next(&a) ^ rng_next(&b)));
        assert_in_range(agree, 31200, 32800);
    }
}

static void below_stays_below_and_reaches_everything(void **state)
{
    struct rng rng;
    rng_seed(&rng, 3, 0);
    for (uint64_t bound = 1; bound <= 40; bound++) {
        uint64_t seen = 0;
        for (int i = 0; i < 2000; i++) {
            uint64_t x = rng_below(&rng, bound);
            assert_true(x < bound);
            seen |= UINT64_C(1) << x;
        }
        assert_int_equal(seen, (UINT64_C(1) << bound) - 1);
    }
}

/* With this bound plain remainders would fall into the lower half twice as often. */
static void below_has_no_bias_for_huge_bounds(void **state)
{
    const uint64_t bound = UINT64_MAX / 4 * 3;
    struct rng rng;
    rng_seed(&rng, 4, 0);
    int low = 0;
    for (int i = 0; i < 30000; i++)
        low += rng_below(&rng, bound) < bound / 3;
    assert_in_range(low, 9500, 10500);
}

static void chance_goes_from_never_to_always(void **state)
{
    struct rng rng;
    rng_seed(&rng, 5, 0);
    int quarter = 0;
    for (int i = 0; i < 20000; i++) {
        assert_false(rng_chance(&rng, 0));
        assert_true(rng_chance(&rng, RNG_CERTAIN));
        quarter += rng_chance(&rng, RNG_CERTAIN / 4);
    }
    assert_in_range(quarter, 4600, 5400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_generator_is_xoshiro256_starstar),
        cmocka_unit_test(the_mixer_is_that_of_splitmix64),
        cmocka_unit_test(a_seed_gives_the_same_numbers_for_ever),
        cmocka_unit_test(streams_and_seeds_do_not_share_numbers),
        cmocka_unit_test(neighbouring_streams_agree_in_half_of_their_bits),
        cmocka_unit_test(below_stays_below_and_reaches_everything),
        cmocka_unit_test(below_has_no_bias_for_huge_bounds),
        cmocka_unit_test(chance_goes_from_never_to_always),
    };
    return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
