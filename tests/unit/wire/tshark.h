/* What tshark says of a capture. */
#ifndef WEFT_TESTS_WIRE_TSHARK_H
#define WEFT_TESTS_WIRE_TSHARK_H

#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static inline struct text run_tshark(const char *path, const char *arguments)
{
    char command[512];
    struct text output = {0};
    snprintf(command, sizeof command, "tshark -r %s %s 2>/dev/null", path, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(text_read(&output, pipe, 1 << 20), 0);
    assert_int_equal(pclose(pipe), 0);
    return output;
}

#endif
