/* The log: its size is limited, levels and prefixes are those of the configuration. */
#include "host/files/event_log.h"
#include "test.h"

#include <sys/stat.h>

struct fixture {
    char path[64], old[72];
    struct event_log log;
};

static int make(void **state)
{
    struct fixture *fixture = mem_zalloc(1, sizeof *fixture);
    make_path(fixture->path);
    snprintf(fixture->old, sizeof fixture->old, "%s.1", fixture->path);
    *state = fixture;
    return 0;
}

static int end(void **state)
{
    struct fixture *fixture = *state;
    event_log_close(&fixture->log);
    unlink(fixture->path);
    unlink(fixture->old);
    mem_free(fixture);
    return 0;
}

static void open_log(struct fixture *f, struct log_options options)
{
    options.path = f->path;
    assert_int_equal(event_log_open(&f->log, &options, NULL), 0);
}

static uint64_t size_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static void read_log(struct fixture *f, struct text *content)
{
    fflush(f->log.file);
    FILE *file = fopen(f->path, "r");
    assert_non_null(file);
    *content = (struct text){0};
    assert_int_equal(text_read(content, file, 1 << 22), 0);
    fclose(file);
}

static void a_full_log_is_renamed_and_begins_again(void **state)
{
    struct fixture *f = *state;
    char long_text[1000] = "";
    memset(long_text, 'x', sizeof long_text - 1);
    write_file(f->path, "an old line\n");
    open_log(f, (struct log_options){.most_mib = 1});
    for (unsigned i = 0; i < 2500; i++) /* 2.5 MB */
        event_log_write(&f->log, "in", "%s", long_text);
    fflush(f->log.file);
    assert_in_range(size_of(f->old), 1 << 20, (1 << 20) + 2000);
    assert_in_range(size_of(f->path), 1000, 1 << 20);
}

static void a_level_of_errors_drops_other_events(void **state)
{
    struct fixture *f = *state;
    struct text content;
    struct log_levels only_errors = {0};
    assert_int_equal(log_levels_change(&only_errors, "error", NULL), 0);
    open_log(f, (struct log_options){.levels = only_errors, .prefix = "rack7"});
    event_log_write(&f->log, "in", "an adapter");
    event_log_write(&f->log, "warning", "a slow link");
    event_log_write(&f->log, "error", "no routes");
    read_log(f, &content);
    assert_null(strstr(content.data, "an adapter"));
    assert_non_null(strstr(content.data, "warning  a slow link"));
    assert_non_null(strstr(content.data, "error    no routes"));
    assert_true(strncmp(content.data, "rack7 2", 7) == 0);
    text_release(&content);
}

static void a_log_is_emptied_only_at_the_start(void **state)
{
    struct fixture *f = *state;
    struct text content;
    write_file(f->path, "an old line\n");
    open_log(f, (struct log_options){.restart = true});
    event_log_write(&f->log, "in", "an adapter");
    open_log(f, (struct log_options){.restart = true}); /* after SIGHUP */
    event_log_write(&f->log, "in", "another one");
    read_log(f, &content);
    assert_null(strstr(content.data, "an old line"));
    assert_non_null(strstr(content.data, "an adapter"));
    assert_non_null(strstr(content.data, "another one"));
    text_release(&content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_full_log_is_renamed_and_begins_again, make, end),
        cmocka_unit_test_setup_teardown(a_level_of_errors_drops_other_events, make, end),
        cmocka_unit_test_setup_teardown(a_log_is_emptied_only_at_the_start, make, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
