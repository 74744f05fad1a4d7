/* cmocka, and temporary files. */
#ifndef WEFT_TESTS_HOST_TEST_H
#define WEFT_TESTS_HOST_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Creates an empty file with a unique name. */
static inline void make_path(char path[64])
{
    strcpy(path, "/tmp/weft-test-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
}

static inline void make_directory(char path[64])
{
    strcpy(path, "/tmp/weft-test-XXXXXX");
    assert_non_null(mkdtemp(path));
}

static inline void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

#endif
