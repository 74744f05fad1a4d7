/* The log: its size is limited, levels and prefixes are those of the configuration. */
#include "host/files/event_log.h"

#include "base/time.h"
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

/* A bad cable, another one, and events without a place. */
static void a_place_has_a_limited_number_of_lines(void **state)
{
    struct fixture *f = *state;
    struct text content;
    struct event_record bad = {.event = "trap", .text = "bad cable", .guid = 0x10, .port = 7};
    struct event_record other = {.event = "trap", .text = "other cable", .guid = 0x10, .port = 8};
    struct event_record nowhere = {.event = "state", .text = "nowhere"};
    unsigned lines[3] = {0};
    open_log(f, (struct log_options){0});
    for (unsigned i = 0; i < 134; i++) {
        event_log_put(&f->log, &bad);
        event_log_put(&f->log, &nowhere);
    }
    event_log_put(&f->log, &other);
    event_log_put_left_out(&f->log, time_monotonic_ns() + 301 * NS_PER_S);
    read_log(f, &content);
    for (const char *at = content.data; at && *at; at = strchr(at, '\n') + 1) {
        size_t length = strcspn(at, "\n");
        lines[0] += memmem(at, length, "bad cable", 9) != NULL;
        lines[1] += memmem(at, length, "other cable", 11) != NULL;
        lines[2] += memmem(at, length, "nowhere", 7) != NULL;
    }
    assert_int_equal(lines[0], LOG_PLACE_LINES);
    assert_int_equal(lines[1], 1);
    assert_int_equal(lines[2], 134);
    assert_non_null(strstr(content.data, "114 more lines about port 7 of 0x0000000000000010 were "
                                         "left out in 5 minutes"));
    text_release(&content);
}

static void lines_are_counted_by_time_kind_and_place(void **state)
{
    struct log_limit *limit = mem_zalloc(1, sizeof *limit);
    struct log_place ended;
    uint64_t now = NS_PER_S;
    (void)state;
    for (unsigned i = 0; i < 2 * LOG_PLACE_LINES; i++)
        assert_int_equal(log_limit_take(limit, now, "trap", 1, 2, &ended), i < LOG_PLACE_LINES);
    assert_true(log_limit_take(limit, now, "link", 1, 2, &ended));
    assert_true(log_limit_take(limit, now, "trap", 1, 3, &ended));
    assert_false(log_limit_next_ended(limit, now, &ended));
    assert_true(log_limit_take(limit, now + 300 * NS_PER_S, "trap", 1, 2, &ended));
    assert_int_equal(ended.lines.count, 2 * LOG_PLACE_LINES);
    assert_int_equal(ended.port, 2);
    assert_false(log_limit_next_ended(limit, now + 600 * NS_PER_S, &ended));
    mem_free(limit);
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
        cmocka_unit_test_setup_teardown(a_place_has_a_limited_number_of_lines, make, end),
        cmocka_unit_test_setup_teardown(lines_are_counted_by_time_kind_and_place, make, end),
        cmocka_unit_test_setup_teardown(a_full_log_is_renamed_and_begins_again, make, end),
        cmocka_unit_test_setup_teardown(a_level_of_errors_drops_other_events, make, end),
        cmocka_unit_test_setup_teardown(a_log_is_emptied_only_at_the_start, make, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
