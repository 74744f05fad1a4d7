/* Growing strings, and the JSON that is written into them. */
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void text_grows_by_strings_bytes_and_formats(void **state)
{
    struct text text = {0};
    text_puts(&text, "lid ");
    text_printf(&text, "%u", 49151u);
    text_putc(&text, '!');
    text_append(&text, "\0z", 2);
    assert_int_equal(text.length, 12);
    assert_memory_equal(text.data, "lid 49151!\0z", 13);
    text_release(&text);
    assert_null(text.data);
}

static void formats_of_any_length_fit(void **state)
{
    struct text text = {0};
    size_t length = 0;
    for (int width = 0; width < 1000; width += 7) {
        text_printf(&text, "%*s", width, "");
        length += (size_t)width;
        assert_int_equal(text.length, length);
        assert_int_equal(strlen(text.data), length);
    }
    text_release(&text);
}

static void an_empty_format_still_gives_a_string(void **state)
{
    struct text text = {0};
    text_printf(&text, "%s", "");
    assert_string_equal(text.data, "");
    text_release(&text);
}

static void cleared_text_starts_again(void **state)
{
    struct text text = {0};
    text_clear(&text);
    text_puts(&text, "old");
    text_clear(&text);
    assert_string_equal(text.data, "");
    text_puts(&text, "new");
    assert_string_equal(text.data, "new");
    text_release(&text);
}

static FILE *file_of(size_t bytes)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    for (size_t i = 0; i < bytes; i++)
        fputc('a' + (int)(i % 26), file);
    rewind(file);
    return file;
}

static void a_file_is_read_whole_up_to_the_limit(void **state)
{
    enum { LIMIT = 200000 };
    static const size_t sizes[] = {0, 1, 65536, LIMIT, LIMIT + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        FILE *file = file_of(sizes[i]);
        struct text text = {0};
        int result = text_read(&text, file, LIMIT);
        assert_int_equal(result, sizes[i] > LIMIT ? -EFBIG : 0);
        if (!result) {
            assert_int_equal(text.length, sizes[i]);
            assert_int_equal(strlen(text.data), sizes[i]);
        }
        assert_true(text.length <= LIMIT);
        text_release(&text);
        fclose(file);
    }
}

static void a_directory_cannot_be_read(void **state)
{
    FILE *file = fopen("/", "r");
    assert_non_null(file);
    struct text text = {0};
    assert_int_equal(text_read(&text, file, 100), -EISDIR);
    text_release(&text);
    fclose(file);
}

/* JSON */

static void assert_json(struct text *text, const char *expected)
{
    assert_string_equal(text->data, expected);
    text_release(text);
}

static void write_sample(struct json *json)
{
    json_begin_object(json, NULL);
    json_string(json, "name", "leaf");
    json_begin_array(json, "ports");
    json_number(json, NULL, -1);
    json_begin_object(json, NULL);
    json_bool(json, "up", true);
    json_end_object(json);
    json_begin_array(json, NULL);
    json_end_array(json);
    json_end_array(json);
    json_begin_object(json, "empty");
    json_end_object(json);
    json_bool(json, "last", false);
    json_end_object(json);
}

static void the_writer_adds_commas_and_nesting(void **state)
{
    struct text text = {0};
    write_sample(&(struct json){.out = &text});
    assert_json(&text, "{\"name\":\"leaf\",\"ports\":[-1,{\"up\":true},[]],"
                       "\"empty\":{},\"last\":false}\n");
}

static void pretty_json_is_the_same_with_spaces(void **state)
{
    struct text text = {0};
    write_sample(&(struct json){.out = &text, .pretty = true});
    assert_json(&text, "{\n"
                       "  \"name\": \"leaf\",\n"
                       "  \"ports\": [\n"
                       "    -1,\n"
                       "    {\n"
                       "      \"up\": true\n"
                       "    },\n"
                       "    []\n"
                       "  ],\n"
                       "  \"empty\": {},\n"
                       "  \"last\": false\n"
                       "}\n");
}

static void numbers_keep_all_their_digits(void **state)
{
    struct text text = {0};
    struct json json = {.out = &text};
    json_begin_array(&json, NULL);
    json_number(&json, NULL, INT64_MIN);
    json_unsigned(&json, NULL, UINT64_MAX);
    json_double(&json, NULL, 0.25);
    json_double(&json, NULL, 1e300);
    json_end_array(&json);
    assert_json(&text, "[-9223372036854775808,18446744073709551615,0.25,1e+300]\n");
}

static void infinity_and_nan_are_null_in_json(void **state)
{
    struct text text = {0};
    struct json json = {.out = &text};
    json_begin_array(&json, NULL);
    json_double(&json, NULL, (double)INFINITY);
    json_double(&json, NULL, (double)-INFINITY);
    json_double(&json, NULL, (double)NAN);
    json_end_array(&json);
    assert_json(&text, "[null,null,null]\n");
}

static void odd_characters_are_escaped_in_keys_and_values(void **state)
{
    struct text text = {0};
    struct json json = {.out = &text};
    json_begin_object(&json, NULL);
    json_string(&json, "a\"b", "back\\slash \"quoted\"\n\t\x01\x1f/");
    json_stringf(&json, "f", "%c%d", '"', 5);
    json_stringf(&json, "none", "%s", "");
    json_end_object(&json);
    assert_json(&text, "{\"a\\\"b\":\"back\\\\slash \\\"quoted\\\"\\u000a\\u0009\\u0001\\u001f/\","
                       "\"f\":\"\\\"5\",\"none\":\"\"}\n");
}

static const char *const obeyed[] = {
    "\033",         "\x7f",         "\x80",         "\x9b",         "\xc2\x9b",
    "\xff",         "\xe2\x80",     "\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6",
    "\xe2\x81\xa9", "\xe2\x80\x8f", "\xd8\x9c",     "\xe2\x80\xa8", "\r"};

static void a_terminal_obeys_nothing_in_a_name(void **state)
{
    for (size_t i = 0; i < sizeof obeyed / sizeof *obeyed; i++) {
        struct text text = {0}, name = {0};
        text_printf(&name, "S%sé", obeyed[i]);
        text_put_shown(&text, name.data);
        assert_int_equal(text.data[1], '\\');
        assert_null(strstr(text.data, obeyed[i]));
        assert_non_null(strstr(text.data, "é"));
        text_make_shown(name.data);
        assert_int_equal(name.data[1], '?');
        for (const char *at = name.data; *at; at += text_shown_length(at))
            assert_true(text_shown_length(at) > 0);
        assert_non_null(strstr(name.data, "é"));
        text_clear(&text);
        text_put_markup(&text, obeyed[i]);
        assert_memory_equal(text.data, "\xef\xbf\xbd", 3);
        text_release(&text);
        text_release(&name);
    }
    struct text lines = {0};
    text_put_shown(&lines, "two\n\tlines\n");
    assert_string_equal(lines.data, "two\n\tlines\n");
    text_release(&lines);
}

static void utf8_passes_and_other_bytes_are_replaced(void **state)
{
    static const struct {
        const char *given, *written;
    } cases[] = {
        {"\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\x7f", "\\u007f"},
        {"\xc2\x9b"
         "2J",
         "\\u009b"
         "2J"}, /* CSI of C1 */
        {"\xe2\x80\xae"
         "lie\xe2\x81\xa9",
         "\\u202e"
         "lie\\u2069"},
        {"\xfc"
         "ber",
         "\\ufffd"
         "ber"},                                              /* Latin-1 */
        {"\xc3", "\\ufffd"},                                  /* cut short */
        {"\xe2\x82", "\\ufffd\\ufffd"},                       /* cut short */
        {"\xe2\x82x", "\\ufffd\\ufffdx"},                     /* broken off */
        {"\xc0\x80", "\\ufffd\\ufffd"},                       /* overlong */
        {"\xe0\x80\x80", "\\ufffd\\ufffd\\ufffd"},            /* overlong */
        {"\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd"},            /* a surrogate */
        {"\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"}, /* beyond U+10FFFF */
        {"\xff", "\\ufffd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text text = {0}, expected = {0};
        struct json json = {.out = &text};
        json_begin_array(&json, NULL);
        json_string(&json, NULL, cases[i].given);
        json_end_array(&json);
        text_printf(&expected, "[\"%s\"]\n", cases[i].written);
        assert_json(&text, expected.data);
        text_release(&expected);
    }
}

static void text_is_padded_by_its_display_width(void **state)
{
    struct text out = {0};
    text_put_padded(&out, "5 µs", 6, true);
    text_putc(&out, '|');
    text_put_padded(&out, "5 µs", 6, false);
    text_putc(&out, '|');
    text_put_padded(&out, "longer than that", 6, false);
    assert_string_equal(out.data, "  5 µs|5 µs  |longer than that");
    assert_int_equal(text_width("5 µs"), 4);
    text_release(&out);
}

static void lines_end_between_words(void **state)
{
    struct text out = {0};
    assert_int_equal(text_fit("one two", 5), 3);
    assert_int_equal(text_fit("one two", 7), 7);
    assert_int_equal(text_fit("µµµ µ", 3), 6);
    assert_int_equal(text_fit("abcdef", 4), 4);
    text_put_wrapped(&out, 76, "a %s ij", "bcdefgh");
    assert_string_equal(out.data, "a\n"
                                  "                                                            "
                                  "                bcdefgh\n"
                                  "                                                            "
                                  "                ij\n");
    text_release(&out);
}

static void long_names_lose_their_middle(void **state)
{
    static const struct {
        const char *name, *shown;
        size_t most;
    } cases[] = {{"node-0001", "node-0001", 9}, {"node-0001", "node…001", 8},
                 {"node-0001", "no…1", 4},      {"node-0001", "…", 1},
                 {"ééééé", "éé…é", 4},          {"\xff\xff\xff\xff", "\xff…\xff", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text text = {0};
        text_put_shortened(&text, cases[i].name, cases[i].most);
        assert_string_equal(text.data, cases[i].shown);
        text_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows_by_strings_bytes_and_formats),
        cmocka_unit_test(formats_of_any_length_fit),
        cmocka_unit_test(an_empty_format_still_gives_a_string),
        cmocka_unit_test(cleared_text_starts_again),
        cmocka_unit_test(a_file_is_read_whole_up_to_the_limit),
        cmocka_unit_test(a_directory_cannot_be_read),
        cmocka_unit_test(the_writer_adds_commas_and_nesting),
        cmocka_unit_test(pretty_json_is_the_same_with_spaces),
        cmocka_unit_test(numbers_keep_all_their_digits),
        cmocka_unit_test(infinity_and_nan_are_null_in_json),
        cmocka_unit_test(odd_characters_are_escaped_in_keys_and_values),
        cmocka_unit_test(a_terminal_obeys_nothing_in_a_name),
        cmocka_unit_test(utf8_passes_and_other_bytes_are_replaced),
        cmocka_unit_test(text_is_padded_by_its_display_width),
        cmocka_unit_test(long_names_lose_their_middle),
        cmocka_unit_test(lines_end_between_words),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
