/* Names of figures and parameters in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiment/report/words.h"

static void names_of_figures_become_titles(void **state)
{
    static const char *const titles[][2] = {
        {"latency.p99", "latency, 99th percentile"},
        {"latency.p99.9", "latency, 99.9th percentile"},
        {"latency.p50", "median latency"},
        {"network-latency.mean", "mean network latency"},
        {"lost", "packets lost"},
        {"lost.dead-link", "packets lost: dead link"},
        {"lost.p_key", "packets lost: p key"},
        {"throughput.sl.2.total", "throughput of SL 2 in total"},
        {"latency.H9.sender.H0.p90", "latency H9 from H0, 90th percentile"},
        {"accepted", "accepted throughput"},
        {"traffic.load", "traffic load"},
        {"sm.engine", "manager engine"},
        {"change.2.time", "change 2 time"},
        {"total", "total"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        struct text words = {0};
        text_puts(&words, "");
        report_words(titles[i][0], &words);
        assert_string_equal(words.data, titles[i][1]);
        text_release(&words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_of_figures_become_titles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
