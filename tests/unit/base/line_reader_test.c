/* Lines, words with file, line and column, and error messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/line_reader.h"
#include "base/rng.h"
#include "base/time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct line {
    struct arena arena;
    struct line_reader reader;
    struct cursor cursor;
    struct err err;
};

static int start(struct line *line, const char *text)
{
    *line = (struct line){0};
    line->reader = *from_text("file", text, &line->err);
    line->reader.arena = &line->arena;
    line->reader.number = 6;
    line_reader_next(&line->reader, &line->cursor);
    return line->reader.status;
}

static void finish(struct line *line)
{
    while (line_reader_next_line(&line->reader)) {
    }
    arena_release(&line->arena);
}

static void a_line_is_words_between_blanks(void **state)
{
    struct line line;
    assert_int_equal(start(&line, "  fail\tlink S1 2\r"), 0);
    assert_int_equal(line.cursor.count, 4);
    assert_string_equal(line.cursor.words[0].text, "fail");
    assert_string_equal(line.cursor.words[3].text, "2");
    finish(&line);
}

static void words_have_line_and_column(void **state)
{
    struct line line;
    assert_int_equal(start(&line, "  run 5s"), 0);
    assert_int_equal(line.cursor.words[0].line, 7);
    assert_int_equal(line.cursor.words[0].column, 3);
    assert_int_equal(line.cursor.words[1].column, 7);
    finish(&line);
}

static void quotes_hold_blanks_and_hashes_together(void **state)
{
    struct line line;
    assert_int_equal(start(&line, "check event \"a # b\" # c"), 0);
    assert_int_equal(line.cursor.count, 3);
    assert_string_equal(line.cursor.words[2].text, "a # b");
    finish(&line);
}

static void a_comment_ends_a_line(void **state)
{
    struct line line;
    assert_int_equal(start(&line, "run 5s# fast"), 0);
    assert_int_equal(line.cursor.count, 2);
    assert_string_equal(line.cursor.words[1].text, "5s");
    finish(&line);
    assert_int_equal(start(&line, "# run 5s"), 0);
    assert_int_equal(line.cursor.count, 0);
    finish(&line);
}

static void invalid_lines_are_refused(void **state)
{
    struct line line;
    char many[WORDS_PER_LINE * 2 + 3];
    assert_int_equal(start(&line, "check event \"open"), -EINVAL);
    assert_int_equal(line.err.column, 13);
    finish(&line);
    assert_int_equal(start(&line, "run \001"), -EINVAL);
    assert_int_equal(line.err.column, 5);
    finish(&line);
    for (size_t i = 0; i < sizeof many - 1; i++)
        many[i] = i % 2 ? ' ' : 'x';
    many[sizeof many - 1] = 0;
    assert_int_equal(start(&line, many), -EINVAL);
    finish(&line);
}

static void errors_have_the_position_and_the_nearest_word(void **state)
{
    static const char *const names[] = {"reachable", "discovered"};
    struct line line;
    unsigned index;
    char text[1024];
    assert_int_equal(start(&line, "check raechable"), 0);
    line.cursor.at = 1;
    assert_int_equal(cursor_take_choice(&line.cursor, "check", names, 2, &index), -EINVAL);
    assert_string_equal(err_text(&line.err, text, sizeof text),
                        "file:7:7: 'raechable' is not a check: expected reachable or discovered; "
                        "did you mean 'reachable'?");
    finish(&line);
}

static void far_words_are_not_suggested(void **state)
{
    static const char *const names[] = {"reachable", "discovered"};
    struct line line;
    unsigned index;
    assert_int_equal(start(&line, "bananas"), 0);
    assert_int_equal(cursor_take_choice(&line.cursor, "check", names, 2, &index), -EINVAL);
    assert_null(strstr(line.err.message, "did you mean"));
    finish(&line);
}

static void a_missing_word_is_reported_at_the_end_of_the_line(void **state)
{
    struct line line;
    uint64_t time;
    assert_int_equal(start(&line, "run  # later"), 0);
    line.cursor.at = 1;
    assert_int_equal(cursor_take_time(&line.cursor, &time), -EINVAL);
    assert_int_equal(line.err.column, 4);
    assert_non_null(strstr(line.err.message, "expected a time"));
    finish(&line);
}

static void times_need_their_unit(void **state)
{
    struct line line;
    uint64_t time = 0;
    assert_int_equal(start(&line, "60.1s 5ms 5 20000000s"), 0);
    assert_int_equal(cursor_take_time(&line.cursor, &time), 0);
    assert_int_equal(time, 60 * TIME_S + 100 * TIME_MS);
    assert_int_equal(cursor_take_time(&line.cursor, &time), 0);
    assert_int_equal(time, 5 * TIME_MS);
    assert_int_equal(cursor_take_time(&line.cursor, &time), -EINVAL);
    line.cursor.status = 0;
    assert_int_equal(cursor_take_time(&line.cursor, &time), -EINVAL);
    finish(&line);
}

static void percentages_are_0_to_100(void **state)
{
    struct line line;
    uint64_t parts = 1;
    assert_int_equal(start(&line, "0% 100% 12.5% 101% 5 % -1%"), 0);
    assert_int_equal(cursor_take_percent(&line.cursor, &parts), 0);
    assert_int_equal(parts, 0);
    assert_int_equal(cursor_take_percent(&line.cursor, &parts), 0);
    assert_int_equal(parts, RNG_CERTAIN);
    assert_int_equal(cursor_take_percent(&line.cursor, &parts), 0);
    assert_int_equal(parts, RNG_CERTAIN / 8);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(cursor_take_percent(&line.cursor, &parts), -EINVAL);
        line.cursor.status = 0;
    }
    finish(&line);
}

static void too_many_words_are_refused(void **state)
{
    struct line line;
    assert_int_equal(start(&line, "run 5s 6s"), 0);
    line.cursor.at = 2;
    assert_int_equal(cursor_take_end(&line.cursor), -EINVAL);
    assert_int_equal(line.err.column, 8);
    line.cursor.status = 0;
    line.cursor.at = 3;
    assert_int_equal(cursor_take_end(&line.cursor), 0);
    finish(&line);
}

static void after_an_error_nothing_more_is_taken(void **state)
{
    static const char *const names[] = {"a", "b"};
    struct line line;
    struct word word;
    uint64_t number = 7;
    unsigned index = 7;
    assert_int_equal(start(&line, "run x b c"), 0);
    line.cursor.at = 1;
    assert_int_equal(cursor_take_number(&line.cursor, "a number", 1, 9, &number), -EINVAL);
    assert_int_equal(number, 0);
    assert_true(cursor_is_done(&line.cursor));
    assert_false(cursor_accept(&line.cursor, "b"));
    assert_int_equal(cursor_take_choice(&line.cursor, "letter", names, 2, &index), -EINVAL);
    assert_int_equal(index, 0);
    assert_int_equal(cursor_take(&line.cursor, "a word", &word), -EINVAL);
    assert_string_equal(word.text, "");
    assert_int_equal(cursor_take_end(&line.cursor), -EINVAL);
    assert_int_equal(line.err.column, 5);
    finish(&line);
}

/* Lines without words are skipped but counted; the last one needs no end. */
static void a_text_is_read_line_by_line(void **state)
{
    static const char text[] = "one\n\n  # two\n\r\nthree 3 \"x\"y\nfour";
    struct line_reader reader = {.file = "file", .text = text, .length = sizeof text - 1};
    struct cursor cursor;
    assert_true(line_reader_next(&reader, &cursor));
    assert_int_equal(reader.number, 1);
    assert_string_equal(cursor.words[0].text, "one");
    assert_true(line_reader_next(&reader, &cursor));
    assert_int_equal(reader.number, 5);
    assert_int_equal(cursor.count, 4);
    assert_string_equal(cursor.words[2].text, "x");
    assert_string_equal(cursor.words[3].text, "y");
    assert_true(line_reader_next(&reader, &cursor));
    assert_int_equal(cursor.words[0].line, 6);
    assert_false(line_reader_next(&reader, &cursor));
    assert_int_equal(reader.status, 0);
}

static void reading_ends_with_the_first_error(void **state)
{
    static const char text[] = "one\n\"two\nthree";
    struct err err = {0};
    struct line_reader reader = {
        .file = "file", .text = text, .length = sizeof text - 1, .err = &err};
    struct cursor cursor;
    assert_true(line_reader_next(&reader, &cursor));
    assert_false(line_reader_next(&reader, &cursor));
    assert_int_equal(reader.status, -EINVAL);
    assert_int_equal(err.line, 2);
    assert_false(line_reader_next(&reader, &cursor));
}

static void a_line_can_be_read_as_it_is(void **state)
{
    static const char text[] = "a : b\n\n# c";
    struct err err = {0};
    struct line_reader reader = {
        .file = "file", .text = text, .length = sizeof text - 1, .err = &err};
    assert_true(line_reader_next_line(&reader));
    assert_string_equal(reader.copy, "a : b");
    assert_true(line_reader_next_line(&reader));
    assert_string_equal(reader.copy, "");
    assert_true(line_reader_next_line(&reader));
    assert_string_equal(reader.copy, "# c");
    assert_int_equal(line_reader_error(&reader, "no %s", "sense"), -EINVAL);
    assert_int_equal(err.line, 3);
    assert_string_equal(err.message, "no sense");
    assert_false(line_reader_next_line(&reader));
}

static void a_line_may_be_long(void **state)
{
    enum { BYTES = 100000 };
    char text[BYTES + 2];
    memset(text, 'x', sizeof text);
    text[BYTES] = '\n';
    struct line_reader reader = {.file = "file", .text = text, .length = sizeof text};
    assert_true(line_reader_next_line(&reader));
    assert_int_equal(strlen(reader.copy), BYTES);
    assert_true(line_reader_next_line(&reader));
    assert_string_equal(reader.copy, "x");
    assert_false(line_reader_next_line(&reader));
}

static void a_file_that_is_not_there_has_no_lines(void **state)
{
    struct err err = {0};
    struct line_reader *reader = from_file("/nowhere/at/all", &err);
    assert_false(line_reader_next_line(reader));
    assert_int_equal(reader->status, -ENOENT);
    assert_string_equal(err.file, "/nowhere/at/all");
    assert_false(line_reader_next_line(reader));
}

static void a_compressed_file_is_refused_with_a_hint(void **state)
{
    char path[] = "/tmp/weft-line-reader-XXXXXX";
    struct err err = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, "\x1f\x8b\x08\0", 4) == 4);
    close(fd);
    struct line_reader *reader = from_file(path, &err);
    assert_false(line_reader_next_line(reader));
    assert_non_null(strstr(err.message, "compressed"));
    unlink(path);
}

static void an_error_without_a_file_gets_the_current_line(void **state)
{
    struct err err = {0};
    struct line_reader *reader = from_text("file", "a\r\nb", &err);
    assert_true(line_reader_next_line(reader));
    assert_int_equal(reader->line_length, 1);
    assert_int_equal(line_reader_take(reader, 0), 0);
    assert_true(line_reader_next_line(reader));
    assert_int_equal(line_reader_take(reader, err_set(&err, ERANGE, "too much")), -ERANGE);
    assert_string_equal(err.file, "file");
    assert_int_equal(err.line, 2);
    assert_string_equal(err.message, "too much");
    assert_false(line_reader_next_line(reader));
    line_reader_take(reader, err_at(&err, EIO, "other", 7, "broken"));
    assert_string_equal(err.file, "other");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_words_between_blanks),
        cmocka_unit_test(words_have_line_and_column),
        cmocka_unit_test(quotes_hold_blanks_and_hashes_together),
        cmocka_unit_test(a_comment_ends_a_line),
        cmocka_unit_test(invalid_lines_are_refused),
        cmocka_unit_test(errors_have_the_position_and_the_nearest_word),
        cmocka_unit_test(far_words_are_not_suggested),
        cmocka_unit_test(a_missing_word_is_reported_at_the_end_of_the_line),
        cmocka_unit_test(times_need_their_unit),
        cmocka_unit_test(percentages_are_0_to_100),
        cmocka_unit_test(too_many_words_are_refused),
        cmocka_unit_test(after_an_error_nothing_more_is_taken),
        cmocka_unit_test(a_text_is_read_line_by_line),
        cmocka_unit_test(reading_ends_with_the_first_error),
        cmocka_unit_test(a_line_can_be_read_as_it_is),
        cmocka_unit_test(a_line_may_be_long),
        cmocka_unit_test(a_file_that_is_not_there_has_no_lines),
        cmocka_unit_test(a_compressed_file_is_refused_with_a_hint),
        cmocka_unit_test(an_error_without_a_file_gets_the_current_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
