/* `connection` statements: what is refused, figures, and the sentence of the summary. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiment/run/run.h"

#include <errno.h>
#include <string.h>

#define NETWORK "topology ring 4 hosts=1\nsm S0\n"
#define LIDS    "topology ring 4 hosts=1\nset sm lmc 1\nsm S0\nrun until settled\n"
#define SETTLED NETWORK "run until settled\n"

static int run_text(const char *text, struct run_record *record, struct err *err)
{
    struct scenario scenario;
    int status = scenario_read_text(&scenario, "x.weft", text, strlen(text), err);
    if (status == 0) {
        status = run_scenario(&scenario, &(struct run_options){0}, record, err);
        scenario_release(&scenario);
    }
    return status;
}

static void assert_refused(const char *text, const char *expected)
{
    struct run_record record = {0};
    struct err err = {0};
    char message[1024];
    assert_int_equal(run_text(text, &record, &err), -EINVAL);
    err_text(&err, message, sizeof message);
    if (!strstr(message, expected))
        fail_msg("it is refused with: %s", message);
    run_record_release(&record);
}

static void wrong_statements_are_refused(void **state)
{
    (void)state;
    assert_refused(SETTLED "connection H0 H1\n", "expected to");
    assert_refused(SETTLED "connection H0 to H9\n", "'H9' is not a node");
    assert_refused(SETTLED "connection H0 to S1\n", "'S1' is not an adapter");
    assert_refused(SETTLED "connection H0 to H0\n", "a connection needs two ports");
    assert_refused(SETTLED "connection H0 to H1 service rd\n", "'rd' is not a service");
    assert_refused(SETTLED "connection H0 to H1 op read op read\n", "'op' is given twice");
    assert_refused(SETTLED "connection H0 to H1 saturated messages 3\n", "exclude each other");
    assert_refused(SETTLED "connection H0 to H1 service uc op read\n", "UC has no operation read");
    assert_refused(SETTLED "connection H0 to H1 service uc op fetch-add\n",
                   "UC has no atomic operations");
    assert_refused(SETTLED "connection H0 to H1 op compare-swap message 16\n",
                   "an atomic operation has 8 bytes");
    assert_refused(SETTLED "connection H0 to H1 service ud message 5000\n", "at most 4096 bytes");
    assert_refused(SETTLED "connection H0 to H1 retry 8\n", "'8'");
    assert_refused(SETTLED "connection H0 to H1 alternate none\n", "expected 'auto' or a LID");
    assert_refused(SETTLED "connection H0 to H1 alternate auto\n", "there is no such second path");
    assert_refused(LIDS "connection H0 to H1 alternate 9999\n", "there is no such second path");
    assert_refused(LIDS "connection H0 to H1 service uc alternate auto\n", "only RC");
    assert_refused(SETTLED "alternate 1 auto\n", "connection 1 has not begun");
    assert_refused(SETTLED "alternate 1 auto\nconnection H0 to H1\n", "has not begun");
    assert_refused(SETTLED "connection H0 to H1\nalternate 2 auto\n", "has not begun");
    assert_refused(NETWORK "connection H0 to H1\nrun until settled\n", "there is no path");
}

static double figure(const struct run_record *record, const char *name)
{
    return results_value(&record->results, name);
}

static void each_connection_and_all_have_figures(void **state)
{
    struct run_record record = {0};
    struct err err = {0};
    char message[1024];
    (void)state;
    if (run_text(SETTLED "connection H0 to H1 messages 10 message 1000\n"
                         "connection H2 to H0 messages 20 message 2000 op read\n"
                         "run for 1ms\ncheck connections = 2\ncheck connection.2.messages = 20\n",
                 &record, &err) != 0)
        fail_msg("%s", err_text(&err, message, sizeof message));
    assert_int_equal(run_record_failures(&record), 0);
    assert_true(figure(&record, "connection.1.messages") == 10);
    assert_true(figure(&record, "connections.messages") == 30);
    assert_true(figure(&record, "connections.broken") == 0);
    assert_true(figure(&record, "connections.stood-still") == 0);
    /* One message at a time, all with the same latency: goodput is size by latency. */
    double latency = figure(&record, "connection.1.latency.mean");
    double goodput = figure(&record, "connection.1.goodput");
    assert_true(latency > 0 && goodput / (8000 / latency) > 0.9999 &&
                goodput / (8000 / latency) < 1.0001);
    assert_true(figure(&record, "connection.1.latency.min") ==
                figure(&record, "connection.1.latency.max"));
    assert_int_equal(record.connections.count, 2);
    assert_string_equal(record.connections.items[1].operation, "read");
    run_record_release(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_statements_are_refused),
        cmocka_unit_test(each_connection_and_all_have_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
