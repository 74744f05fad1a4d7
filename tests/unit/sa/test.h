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

#define PREFIX      UINT64_C(0xFE80000000000000)
#define BIT(number) (UINT64_C(1) << (number))
#define TEST(name)  cmocka_unit_test_setup_teardown(name, open_world, close_world)
#define RUN(tests)  cmocka_run_group_tests(tests, NULL, NULL)

static inline void set_gid(uint8_t *gid, uint64_t prefix, uint64_t guid)
{
    wire_set_bits(gid, 0, 64, prefix);
    wire_set_bits(gid, 64, 64, guid);
}

#endif
