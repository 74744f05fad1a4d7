/* Traces: played as written, sorted like the file, and refused by line. */
#include "fabric/traffic/traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Members are the ports 100, 101, … */
static struct traffic trace_of(uint32_t members)
{
    struct traffic traffic;
    traffic_init(&traffic, 256);
    traffic.pattern = PATTERN_TRACE;
    for (uint32_t i = 0; i < members; i++) {
        vec_push(&traffic.senders, 100 + i);
        vec_push(&traffic.receivers, 100 + i);
    }
    return traffic;
}

static void assert_sensible(const struct traffic *traffic)
{
    struct err err = {0};
    if (traffic_check(traffic, &err))
        fail_msg("%s", err.message);
}

struct trace_file {
    char path[64];
};
static struct trace_file write_trace(const char *text, size_t length)
{
    struct trace_file file = {"/tmp/weft-trace-XXXXXX"};
    int descriptor = mkstemp(file.path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, length), length);
    close(descriptor);
    return file;
}

static void a_trace_is_played_as_written(void **state)
{
    (void)state;
    static const char text[] = "# time sender receiver bytes\n"
                               "2us 1 0 300\n"
                               "\n"
                               "1us 1 2 100   # out of order\r\n"
                               "\t2us 1 2 200\n"
                               "0 0 1 4096\n"
                               "1234567890123ps 1 0 1\n"
                               "2us 1 0 400";
    static const struct traffic_packet expected[] = {{1 * TIME_US, 2, 100, 0, false},
                                                     {2 * TIME_US, 0, 300, 0, false},
                                                     {2 * TIME_US, 2, 200, 0, false},
                                                     {2 * TIME_US, 0, 400, 0, false},
                                                     {UINT64_C(1234567890123), 0, 1, 0, false}};
    struct traffic traffic = trace_of(3);
    struct trace_file file = write_trace(text, strlen(text));
    struct err err = {0};
    struct traffic_source source;
    if (traffic_read_trace(&traffic, file.path, &err))
        fail_msg("line %u: %s", err.line, err.message);
    unlink(file.path);
    traffic.start_ps = TIME_S;
    assert_sensible(&traffic);
    traffic_source_init(&source, &traffic, 1, 1, 1);
    for (unsigned i = 0; i < 5; i++) {
        struct traffic_packet packet = traffic_draw(&traffic, &source);
        assert_int_equal(packet.time, TIME_S + expected[i].time);
        assert_int_equal(packet.receiver, expected[i].receiver);
        assert_int_equal(packet.payload_bytes, expected[i].payload_bytes);
    }
    assert_true(traffic_draw(&traffic, &source).time == TIME_NEVER);
    traffic_source_init(&source, &traffic, 0, 1, 0);
    assert_int_equal(traffic_draw(&traffic, &source).payload_bytes, 4096);
    assert_true(traffic_draw(&traffic, &source).time == TIME_NEVER);
    traffic_source_init(&source, &traffic, 2, 1, 2); /* sends nothing */
    assert_true(traffic_draw(&traffic, &source).time == TIME_NEVER);
    traffic.stop_ps = TIME_S + 2 * TIME_US;
    traffic_source_init(&source, &traffic, 1, 1, 1);
    assert_int_equal(traffic_draw(&traffic, &source).payload_bytes, 100);
    assert_true(traffic_draw(&traffic, &source).time == TIME_NEVER);
    traffic_release(&traffic);
}

/* Packets are of 1, 2, … bytes in the file's order; times are few, so that many are equal. */
static void assert_sorts(unsigned packets)
{
    struct traffic traffic = trace_of(40);
    char *text = mem_alloc(packets * 40), *at = text;
    struct rng rng;
    rng_seed(&rng, 1, packets);
    for (unsigned i = 0; i < packets; i++)
        at += sprintf(at, "%uns %u 39 %u\n", (unsigned)rng_below(&rng, 10),
                      (unsigned)rng_below(&rng, 39), 1 + i);
    struct trace_file file = write_trace(text, (size_t)(at - text));
    assert_int_equal(traffic_read_trace(&traffic, file.path, NULL), 0);
    unlink(file.path);
    mem_free(text);
    assert_int_equal(traffic.trace.count, packets);
    assert_sensible(&traffic); /* sorted */
    for (unsigned i = 1; i < packets; i++) {
        const struct traffic_trace_entry *a = &traffic.trace.items[i - 1], *b = a + 1;
        if (a->sender == b->sender && a->time == b->time)
            assert_true(a->payload_bytes < b->payload_bytes);
    }
    traffic_release(&traffic);
}

static void long_traces_are_sorted(void **state)
{
    (void)state;
    assert_sorts(1);
    assert_sorts(3);
    assert_sorts(2000);
    assert_sorts(4096);
}

static void refused_trace(const char *text, size_t length, unsigned line, const char *part)
{
    struct traffic traffic = trace_of(3);
    struct traffic_trace_entry entry = {.time = 5, .receiver = 1, .payload_bytes = 64};
    struct trace_file file = write_trace(text, length);
    struct err err = {0};
    vec_push(&traffic.trace, entry);
    if (traffic_read_trace(&traffic, file.path, &err) >= 0)
        fail_msg("\"%s\" was accepted", text);
    unlink(file.path);
    if (!strstr(err.message, part))
        fail_msg("\"%s\" does not contain \"%s\"", err.message, part);
    assert_int_equal(err.line, line);
    assert_string_equal(err.file, file.path);
    assert_int_equal(traffic.trace.count, 1); /* as it was */
    assert_int_equal(traffic.trace.items[0].time, 5);
    traffic_release(&traffic);
}

static void bad_traces_are_refused_by_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned line;
        const char *part;
    } cases[] = {
        {"", 0, "no packet"},
        {"# nothing\n\n", 0, "no packet"},
        {"1us 0 1 64\n1us 0 1\n", 2, "the line ends here"},
        {"1us 0 1 64 7\n", 1, "unexpected '7' at the end of the line"},
        {"1 0 1 64\n", 1, "'1' is not a time"},
        {"us 0 1 64\n", 1, "'us' is not a time"},
        {"-1us 0 1 64\n", 1, "'-1us' is not a time"},
        {"9000000000000000000ps 0 1 64\n", 1, "time"},
        {"99999999999999999999999ps 0 1 64\n", 1, "time"},
        {"1us x 1 64\n", 1, "'x': expected the number of a sender"},
        {"1us 3 1 64\n", 1, "'3': expected the number of a sender"},
        {"1us 0 -1 64\n", 1, "'-1': expected the number of a receiver"},
        {"1us 0 18446744073709551617 64\n", 1, "receiver"},
        {"1us 0 3 64\n", 1, "'3': expected the number of a receiver"},
        {"\n\n1us 2 2 64\n", 3, "same port"},
        {"1us 0 1 0\n", 1, "'0': expected the size"},
        {"1us 0 1 4097\n", 1, "'4097': expected the size"},
        {"1us 0 1 64b\n", 1, "'64b': expected the size"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        refused_trace(cases[i].text, strlen(cases[i].text), cases[i].line, cases[i].part);
    refused_trace("1us 0 1 64\0", 11, 0, "NUL bytes");
}

static void files_that_cannot_be_read_are_refused(void **state)
{
    (void)state;
    struct traffic traffic = trace_of(3);
    static const char *const paths[] = {"/nonexistent/trace", "/tmp", "/dev/zero", "/dev/null"};
    for (unsigned i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct err err = {0};
        assert_true(traffic_read_trace(&traffic, paths[i], &err) < 0);
        assert_string_equal(err.file, paths[i]);
        assert_true(err.message[0] != '\0');
    }
    traffic_release(&traffic);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_is_played_as_written),
        cmocka_unit_test(long_traces_are_sorted),
        cmocka_unit_test(bad_traces_are_refused_by_line),
        cmocka_unit_test(files_that_cannot_be_read_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
