/* Includes of all tests in this folder. */
#ifndef WEFT_TESTS_SA_TEST_H
#define WEFT_TESTS_SA_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sa_world.h"

#include <string.h>

#define PREFIX              UINT64_C(0xFE80000000000000)
#define BIT(number)         (UINT64_C(1) << (number))
#define TEST(name)          TEST_IN(open_world, name)
#define RUN(tests)          cmocka_run_group_tests(tests, NULL, NULL)
#define TEST_IN(open, name) cmocka_unit_test_setup_teardown(name, open, close_world)

static inline int open_shape(void **state, const struct sa_world_shape *shape)
{
    struct sa_world *world = mem_zalloc(1, sizeof *world);
    world_open(world, shape);
    *state = world;
    return 0;
}

static inline int open_world(void **state)
{
    return open_shape(state, &(struct sa_world_shape){.kind = "figure1"});
}

static inline int close_world(void **state)
{
    world_close(*state);
    mem_free(*state);
    return 0;
}

static inline void set_gid(uint8_t *gid, uint64_t prefix, uint64_t guid)
{
    wire_set_bits(gid, 0, 64, prefix);
    wire_set_bits(gid, 64, 64, guid);
}

#endif
