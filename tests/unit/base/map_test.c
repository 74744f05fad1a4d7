/* The hash maps against plain arrays that hold the truth. Small tables and crowded keys, so that
 * runs meet, wrap around the end and are shifted back by removals. */
#include "base/map.h"

#include "base/mem.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void an_empty_map_holds_nothing(void **state)
{
    struct map map = {0};
    assert_int_equal(map_get(&map, 0), MAP_NONE);
    assert_int_equal(map_get(&map, UINT64_MAX), MAP_NONE);
    assert_false(map_remove(&map, 0));
    map_release(&map);
}

static void adding_keeps_the_first_value_and_setting_replaces_it(void **state)
{
    struct map map = {0};
    assert_int_equal(map_add(&map, 7, 1), 1);
    assert_int_equal(map_add(&map, 7, 2), 1);
    assert_int_equal(map_get(&map, 7), 1);
    map_set(&map, 7, 3);
    assert_int_equal(map_get(&map, 7), 3);
    assert_int_equal(map.count, 1);
    map_release(&map);
}

static void extreme_keys_and_values_are_ordinary(void **state)
{
    struct map map = {0};
    map_set(&map, 0, MAP_NONE - 1);
    map_set(&map, UINT64_MAX, 0);
    assert_int_equal(map_get(&map, 0), MAP_NONE - 1);
    assert_int_equal(map_get(&map, UINT64_MAX), 0);
    map_release(&map);
}

static void a_released_map_can_be_used_again(void **state)
{
    struct map map = {0};
    map_set(&map, 1, 1);
    map_release(&map);
    assert_int_equal(map_get(&map, 1), MAP_NONE);
    map_set(&map, 2, 2);
    assert_int_equal(map_get(&map, 2), 2);
    map_release(&map);
}

enum { KEYS = 4096 };

struct truth {
    struct map map;
    uint32_t values[KEYS]; /* MAP_NONE: absent */
    size_t count, keys;
};

static uint64_t spread(size_t index)
{
    return index * UINT64_C(0x1000); /* GUID-like: low bits all alike */
}

static void assert_same(const struct truth *truth)
{
    assert_int_equal(truth->map.count, truth->count);
    for (size_t i = 0; i < truth->keys; i++)
        assert_int_equal(map_get(&truth->map, spread(i)), truth->values[i]);
}

static void step(struct truth *truth, struct rng *rng, bool shrinking)
{
    size_t index = rng_below(rng, truth->keys);
    uint32_t *held = &truth->values[index], value = (uint32_t)rng_below(rng, 1000);
    bool there = *held != MAP_NONE;
    if (rng_below(rng, 4) < (shrinking ? 3 : 1)) {
        assert_int_equal(map_remove(&truth->map, spread(index)), there);
        truth->count -= there;
        *held = MAP_NONE;
        return;
    }
    truth->count += !there;
    if (rng_below(rng, 2)) {
        map_set(&truth->map, spread(index), value);
        *held = value;
    } else {
        *held = there ? *held : value;
        assert_int_equal(map_add(&truth->map, spread(index), value), *held);
    }
}

/* Grows and shrinks in turn, `rounds` times. */
static void compare_with_array(size_t keys, unsigned rounds, unsigned steps)
{
    struct truth *truth = mem_zalloc(1, sizeof *truth);
    struct rng rng;
    rng_seed(&rng, keys, rounds);
    truth->keys = keys;
    for (size_t i = 0; i < keys; i++)
        truth->values[i] = MAP_NONE;
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < steps; i++)
            step(truth, &rng, round % 2);
        assert_same(truth);
    }
    map_release(&truth->map);
    mem_free(truth);
}

static void a_full_small_map_agrees_with_an_array(void **state)
{
    for (size_t keys = 1; keys <= 24; keys++)
        compare_with_array(keys, 2000, 7);
}

static void a_large_map_agrees_with_an_array(void **state)
{
    compare_with_array(KEYS, 40, 5000);
}

static void names_are_compared_by_content(void **state)
{
    enum { NAMES = 5000, NAME_BYTES = 16 };
    char(*names)[NAME_BYTES] = mem_zalloc(NAMES, NAME_BYTES);
    struct name_map map = {0};
    assert_int_equal(name_map_get(&map, "S1"), MAP_NONE);
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(names[i], NAME_BYTES, "S%u", i);
        assert_int_equal(name_map_add(&map, names[i], i), i);
    }
    for (uint32_t i = 0; i < NAMES; i++) {
        char other[NAME_BYTES];
        memcpy(other, names[i], NAME_BYTES);
        assert_int_equal(name_map_get(&map, other), i);
        assert_int_equal(name_map_add(&map, other, i + 1), i);
    }
    assert_int_equal(map.count, NAMES);
    assert_int_equal(name_map_get(&map, "S5000"), MAP_NONE);
    assert_int_equal(name_map_get(&map, "s1"), MAP_NONE);
    assert_int_equal(name_map_get(&map, ""), MAP_NONE);
    assert_int_equal(name_map_add(&map, "", 9), 9);
    assert_int_equal(name_map_get(&map, ""), 9);
    name_map_release(&map);
    mem_free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_holds_nothing),
        cmocka_unit_test(adding_keeps_the_first_value_and_setting_replaces_it),
        cmocka_unit_test(extreme_keys_and_values_are_ordinary),
        cmocka_unit_test(a_released_map_can_be_used_again),
        cmocka_unit_test(a_full_small_map_agrees_with_an_array),
        cmocka_unit_test(a_large_map_agrees_with_an_array),
        cmocka_unit_test(names_are_compared_by_content),
    };
    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
