/* Files read as a whole: a pipe instead of a file makes nobody wait for its other end. */
#include "base/file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/weft-file-XXXXXX", path[64];

static int make_pipe(void **state)
{
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/pipe", directory);
    return mkfifo(path, 0600);
}

static int remove_pipe(void **state)
{
    return unlink(path) || rmdir(directory);
}

static void a_pipe_without_a_writer_is_an_error(void **state)
{
    struct text text;
    struct err err = {0};
    alarm(5);
    assert_int_equal(file_read(path, 100, &text, &err), -EPIPE);
    alarm(0);
    assert_non_null(strstr(err.message, "nobody writes to this pipe"));
    text_release(&text);
}

/* As of `weft route <(weft topo gen ...)`: the writer has the pipe open, but has not written yet.
 */
static void a_pipe_with_a_slow_writer_is_read_to_its_end(void **state)
{
    struct text text;
    struct err err = {0};
    int ends[2];
    char name[32];
    assert_int_equal(pipe(ends), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    if (fork() == 0) {
        usleep(20000);
        _exit(write(ends[1], "text", 4) != 4);
    }
    close(ends[1]);
    assert_int_equal(file_read(name, 100, &text, &err), 0);
    assert_string_equal(text.data, "text");
    close(ends[0]);
    text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipe_without_a_writer_is_an_error),
        cmocka_unit_test(a_pipe_with_a_slow_writer_is_read_to_its_end),
    };
    return cmocka_run_group_tests(tests, make_pipe, remove_pipe);
}
