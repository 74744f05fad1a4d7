/* The changes that a manager shows. */
#include "host/daemon/change_history.h"
#include "test.h"

static const char *written(const struct change_history *history, const struct change_costs *costs,
                           struct text *text)
{
    struct record record = record_to(text, true, false);
    text_clear(text);
    change_history_write(history, costs, &record);
    return text->data;
}

static bool has(const char *text, const char *part)
{
    if (!strstr(text, part))
        print_error("no %s in %s\n", part, text);
    return strstr(text, part) != NULL;
}

static void a_change_has_its_times_and_costs(void **state)
{
    struct change_history history = {0};
    struct text text = {0};
    struct change_costs costs = {.gets = 100, .sets = 50, .blocks = 20, .drained_ns = 7};
    (void)state;
    change_history_begin(&history, 1000, "a link is down", &costs);
    change_history_begin(&history, 1500, "another one", &costs);
    assert_int_equal(change_history_open(&history), 0);
    costs.gets += 4;
    const char *now = written(&history, &costs, &text);
    assert_true(has(now, "\"cause\":\"a link is down\"") && has(now, "\"begin\":1000"));
    assert_true(has(now, "\"routing\":null") && has(now, "\"end\":null") && has(now, "\"gets\":4"));
    change_history_compute(&history, 2000, true);
    change_history_compute(&history, 2500, false);
    change_history_compute(&history, 2600, true); /* a second computation */
    change_history_compute(&history, 3000, false);
    costs.sets += 3;
    costs.blocks += 2;
    costs.drained_ns += 90;
    change_history_end(&history, 4000, true, &costs);
    costs.gets += 1000; /* these belong to no change */
    change_history_compute(&history, 5000, true);
    now = written(&history, &costs, &text);
    assert_true(has(now, "\"routing\":2000") && has(now, "\"routed\":3000"));
    assert_true(has(now, "\"end\":4000") && has(now, "\"finished\":true"));
    assert_true(has(now, "\"gets\":4,\"sets\":3,\"blocks\":2,\"draining\":90"));
    assert_true(change_history_open(&history) == API_NONE);
    change_history_release(&history);
    text_release(&text);
}

static void a_computation_may_be_older_than_its_change(void **state)
{
    struct change_history history = {0};
    struct change_costs costs = {0};
    struct text text = {0};
    (void)state;
    change_history_begin(&history, 1000, "a link is down", &costs);
    change_history_compute(&history, 2000, false);
    change_history_end(&history, 3000, false, &costs);
    const char *now = written(&history, &costs, &text);
    assert_true(has(now, "\"routing\":1000,\"routed\":2000") && has(now, "\"finished\":false"));
    change_history_release(&history);
    text_release(&text);
}

static void the_last_changes_are_kept(void **state)
{
    struct change_history history = {0};
    struct change_costs costs = {0};
    struct text text = {0};
    char cause[32];
    (void)state;
    for (unsigned i = 0; i < CHANGES_KEPT + 10; i++) {
        snprintf(cause, sizeof cause, "cause %u!", i);
        change_history_begin(&history, i, cause, &costs);
        change_history_end(&history, i, true, &costs);
    }
    assert_string_equal(change_history_last_cause(&history), "cause 59!");
    const char *now = written(&history, &costs, &text);
    assert_true(has(now, "[{\"id\":10,") && has(now, "cause 10!") && has(now, "cause 59!"));
    assert_null(strstr(now, "cause 9!"));
    change_history_release(&history);
    text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_has_its_times_and_costs),
        cmocka_unit_test(a_computation_may_be_older_than_its_change),
        cmocka_unit_test(the_last_changes_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
