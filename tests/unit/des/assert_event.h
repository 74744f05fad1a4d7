/* An event is the one that was scheduled. */
#ifndef WEFT_TESTS_DES_ASSERT_EVENT_H
#define WEFT_TESTS_DES_ASSERT_EVENT_H

#include "des/des.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static inline void assert_event(struct event event, struct event expected)
{
    assert_int_equal(event.b, expected.b);
    assert_int_equal(event.kind, expected.kind);
    assert_int_equal(event.a, expected.a);
}

#endif
