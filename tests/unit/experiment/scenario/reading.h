/* Scenarios that are read from a text, or refused. */
#ifndef WEFT_TESTS_SCENARIO_READING_H
#define WEFT_TESTS_SCENARIO_READING_H

#include "experiment/scenario/scenario.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static inline struct scenario read_scenario(const char *text)
{
    struct scenario scenario;
    struct err err = {0};
    char message[1024];
    if (scenario_read_text(&scenario, "x.weft", text, strlen(text), &err) != 0)
        fail_msg("%s", err_text(&err, message, sizeof message));
    return scenario;
}

/* A text that is refused with this error. */
static inline void assert_refused(const char *text, const char *expected)
{
    struct scenario scenario;
    struct err err = {0};
    char message[1024];
    assert_int_equal(scenario_read_text(&scenario, "x.weft", text, strlen(text), &err), -EINVAL);
    err_text(&err, message, sizeof message);
    if (strncmp(message, expected, strlen(expected)) != 0)
        fail_msg("'%s' is refused with: %s", text, message);
}

#endif
