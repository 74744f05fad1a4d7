/* The record of a run as text and as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time.h"
#include "experiment/report/run_text.h"

#include <string.h>

static struct run_record make_story(void)
{
    struct run_record record = {
        .file = "x.weft", .seed = 3, .end = 2 * TIME_S, .hash = 0xabc, .switches = 2};
    run_record_add_event(&record, RUN_RECORD_ACTION, 60 * TIME_S + 100 * TIME_MS, "scenario",
                         "fail switch %s", "S15");
    run_record_add_event(
        &record, RUN_RECORD_ALARM, 61 * TIME_S, "a name that is longer than the column for it",
        "a long text that must go on in the next line because a terminal has only eighty "
        "columns, and perhaps even in the one after that");
    struct run_record_change change = {.who = "S1",
                                       .cause = "a cause",
                                       .begin = TIME_S,
                                       .routing = TIME_S + TIME_MS,
                                       .computing = 500 * TIME_US,
                                       .routed = TIME_S + 1500 * TIME_US,
                                       .end = TIME_S + 4 * TIME_MS,
                                       .gets = 100,
                                       .sets = 50,
                                       .blocks = 8,
                                       .finished = true,
                                       .tied = true,
                                       .fault = TIME_S - TIME_MS};
    vec_push(&record.changes, change);
    vec_push(&record.checks, ((struct run_record_check){"check active", 4, TIME_S, true, ""}));
    vec_push(&record.checks,
             ((struct run_record_check){"check smps all == 0", 5, TIME_S, false, "150"}));
    return record;
}

static bool has(const struct text *text, const char *part)
{
    return text->data && strstr(text->data, part);
}

static void assert_fits(const struct text *text)
{
    for (const char *line = text->data ? text->data : ""; *line;) {
        size_t length = strcspn(line, "\n"), columns = 0;
        for (size_t i = 0; i < length; i++)
            columns += ((unsigned char)line[i] & 0xC0) != 0x80;
        if (columns > 80)
            fail_msg("%zu columns: %.*s", columns, (int)length, line);
        line += length + (line[length] != 0);
    }
}

static void events_fit_into_eighty_columns(void **state)
{
    struct run_record record = make_story();
    struct text out = {0};
    (void)state;
    for (size_t i = 0; i < record.events.count; i++)
        run_record_write_event(&record.events.items[i], &out);
    assert_fits(&out);
    assert_true(has(&out, "       60.1s > scenario     fail switch S15\n"));
    assert_true(has(&out, " one after that\n"));
    text_release(&out);
    run_record_release(&record);
}

static void collected_figures_are_in_the_summary(void **state)
{
    struct run_record record = make_story();
    struct results *results = &record.results;
    struct text out = {0};
    (void)state;
    results_set(results, "latency.H9.p99", 1.25e-6, "s");
    vec_push(&results->collected, ((struct collected){.name = "latency.H9.p99"}));
    static const char *const labels[] = {"0", "1", "a node with a long name"};
    for (unsigned i = 0; i < 3; i++) {
        const char *name = arena_printf(&results->arena, "throughput.sl.%s", labels[i]);
        results_set(results, arena_printf(&results->arena, "%s.mean", name), 5e6, "packets/s");
        results_set(results, arena_printf(&results->arena, "%s.total", name), 1234, "packets");
        vec_push(&results->collected, ((struct collected){.name = name,
                                                          .group = "throughput by sl",
                                                          .label = labels[i],
                                                          .form = COLLECTED_RATE}));
    }
    for (unsigned i = 0; i < 50; i++) {
        const char *name = arena_printf(&results->arena, "latency.sender.H%u", i);
        results_set(results, arena_printf(&results->arena, "%s.mean", name), 1e-6 * i, "s");
        vec_push(&results->collected, ((struct collected){.name = name,
                                                          .group = "latency by sender",
                                                          .label = name + 15,
                                                          .form = COLLECTED_DISTRIBUTION}));
    }
    run_record_write_summary(&record, &out);
    assert_fits(&out);
    assert_true(
        has(&out, "collected\n  latency.H9.p99                                   1.25 µs\n"));
    assert_true(has(&out, "throughput by sl\n                   rate      total\n"
                          "  0           5.00 M packets/s      1234 packets\n"));
    assert_true(has(&out, "  a node with a long name\n"
                          "              5.00 M packets/s      1234 packets\n"));
    assert_true(has(&out, "  H39           39.0 µs          -"));
    assert_false(has(&out, "  H40 "));
    assert_true(has(&out, "  and 10 more in JSON and CSV\n"));
    text_release(&out);
    run_record_release(&record);
}

static void the_summary_has_changes_checks_and_the_trace(void **state)
{
    struct run_record record = make_story();
    struct text out = {0};
    (void)state;
    run_record_write_summary(&record, &out);
    assert_fits(&out);
    assert_true(has(&out,
                    "          1s        4ms        1ms      500us      2.5ms    100     50      "
                    "8\n             S1: a cause\n"));
    assert_true(has(&out, "ok     check active\n"));
    assert_true(has(&out, "FAILED check smps all == 0 (150)\n"));
    assert_true(has(&out, "2 checks, 1 failed; seed 3, trace 0000000000000abc\n"));
    assert_int_equal(run_record_failures(&record), 1);
    text_release(&out);
    run_record_release(&record);
}

static void count_alarms(void *context, const struct run_record_event *event)
{
    *(unsigned *)context += event->kind == RUN_RECORD_ALARM && strcmp(event->text, "3 left") == 0;
}

static void listeners_receive_events_in_order(void **state)
{
    unsigned alarms = 0;
    struct run_record record = {.tell = count_alarms, .context = &alarms};
    (void)state;
    run_record_add_event(&record, RUN_RECORD_EVENT, 0, "S1", "3 left");
    assert_int_equal(alarms, 0);
    run_record_add_event(&record, RUN_RECORD_ALARM, 0, "S1", "%d left", 3);
    assert_int_equal(alarms, 1);
    assert_int_equal(record.events.count, 2);
    run_record_release(&record);
}

static void json_has_all_data(void **state)
{
    struct run_record record = make_story();
    struct text out = {0};
    (void)state;
    run_record_write_json(&record, &out);
    assert_true(has(&out, "\"trace_hash\": \"0000000000000abc\""));
    assert_true(has(&out, "\"failed\": 1"));
    assert_true(has(&out, "\"fault_ps\": 999000000000"));
    assert_true(has(&out, "\"routing_ps\": 1001000000000"));
    assert_true(has(&out, "\"computing_ps\": 500000000"));
    assert_true(has(&out, "\"routed_ps\": 1001500000000"));
    text_release(&out);
    run_record_release(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_fit_into_eighty_columns),
        cmocka_unit_test(collected_figures_are_in_the_summary),
        cmocka_unit_test(the_summary_has_changes_checks_and_the_trace),
        cmocka_unit_test(listeners_receive_events_in_order),
        cmocka_unit_test(json_has_all_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
