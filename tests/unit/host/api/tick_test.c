/* Ticks, their differences and their history. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/api/api.h"

static bool has(const struct text *text, const char *part)
{
    return strstr(text->data, part) != NULL;
}

static void write_tick(const struct api_tick *tick, const struct api_tick *before,
                       const struct api_log *log, struct text *out)
{
    text_clear(out);
    api_tick_write(tick, before, log, true, out);
}

static void a_difference_has_only_what_changed(void **unused)
{
    (void)unused;
    struct api_log log = {0};
    struct api_tick tick, before;
    struct text text = {0};
    api_tick_init(&tick, 4, 3);
    api_tick_init(&before, 4, 3);
    tick.links[1] = API_LINK_CUT;
    write_tick(&tick, NULL, &log, &text);
    assert_true(has(&text, "\"full\":true") && has(&text, "\"links\":[[1,1]]"));
    assert_true(has(&text, "\"nodes\":[]") && has(&text, "\"load\":\"AAAAAAAA\""));
    api_tick_copy(&before, &tick);
    tick.seq++;
    write_tick(&tick, &before, &log, &text);
    assert_false(has(&text, "links") || has(&text, "load") || has(&text, "managers"));
    tick.links[1] = API_LINK_ACTIVE; /* back to 0 is a change, too */
    tick.load[5] = 100;
    text_puts(api_tick_section(&tick, API_VMS), "[1]");
    api_log_add(&log, &(struct api_event){.kind = "event", .who = "a", .text = "<b>\"", .node = 2});
    tick.log_end = api_log_end(&log);
    write_tick(&tick, &before, &log, &text);
    assert_true(has(&text, "\"links\":[[1,0]]") && has(&text, "\"load\":\"AAAAAABk\""));
    assert_true(has(&text, "\"vms\":[1]") && has(&text, "\"text\":\"<b>\\\"\""));
    assert_false(has(&text, "wait") || has(&text, "flows"));
    api_tick_release(&tick);
    api_tick_release(&before);
    api_log_release(&log);
    text_release(&text);
}

static void a_long_log_keeps_its_numbers(void **unused)
{
    (void)unused;
    struct api_log log = {0};
    struct api_tick tick;
    struct text text = {0};
    char name[32];
    api_tick_init(&tick, 0, 0);
    for (unsigned i = 0; i < API_LOG_MOST + 1; i++) {
        snprintf(name, sizeof name, "event %u.", i);
        api_log_add(&log, &(struct api_event){.kind = "event", .who = "", .text = name});
    }
    assert_int_equal(api_log_end(&log), API_LOG_MOST + 1);
    assert_true(log.items.count <= API_LOG_MOST);
    tick.log_end = api_log_end(&log);
    write_tick(&tick, NULL, &log, &text);
    assert_true(has(&text, "event 20000.") && has(&text, "event 19801."));
    assert_false(has(&text, "event 19800."));
    tick.log_end = 3; /* a sample from the time of events that are gone */
    write_tick(&tick, NULL, &log, &text);
    assert_true(has(&text, "\"events\":[]"));
    api_tick_release(&tick);
    api_log_release(&log);
    text_release(&text);
}

static void history_covers_all_of_the_time(void **unused)
{
    (void)unused;
    struct api_history history = {0};
    struct api_tick tick;
    api_tick_init(&tick, 2, 2);
    assert_null(api_history_at(&history, 5));
    for (uint64_t i = 1; i <= 3 * API_HISTORY_MOST; i++) {
        tick.t_ns = 10 * i;
        api_history_add(&history, &tick);
    }
    assert_in_range(history.items.count, API_HISTORY_MOST / 2, API_HISTORY_MOST);
    assert_int_equal(history.items.items[0].t_ns, 10);
    assert_int_equal(api_history_at(&history, UINT64_MAX)->t_ns, 30 * API_HISTORY_MOST);
    assert_true(api_history_at(&history, 500)->t_ns <= 500);
    api_history_forget(&history, 1000);
    assert_true(api_history_at(&history, UINT64_MAX)->t_ns < 1000);
    api_history_forget(&history, 0);
    history.limit_bytes = 20 * api_tick_bytes(&tick);
    for (uint64_t i = 0; i < 1000; i++) {
        tick.t_ns = i;
        api_history_add(&history, &tick);
        assert_true(history.bytes <= history.limit_bytes + api_tick_bytes(&tick));
    }
    api_history_release(&history);
    api_tick_release(&tick);
}

static void places_are_found_by_guid(void **unused)
{
    (void)unused;
    struct topology topology;
    struct api_links links;
    uint32_t a, b;
    topology_init(&topology);
    topology_add_node(&topology, NODE_SWITCH, "leaf1", 4, 0xa, &a, NULL);
    topology_add_node(&topology, NODE_SWITCH, "spine", 4, 0xb, &b, NULL);
    topology_link(&topology, topology_port_index(&topology, b, 2),
                  topology_port_index(&topology, a, 3), NULL);
    api_links_init(&links, &topology);
    assert_int_equal(api_node_of(&topology, 0xb), b);
    assert_int_equal(api_node_of(&topology, 0xc), TOPOLOGY_NONE);
    assert_int_equal(api_link_of(&topology, &links, 0xa, 3), 0);
    assert_int_equal(api_link_of(&topology, &links, 0xb, 1), TOPOLOGY_NONE);
    assert_int_equal(api_link_of(&topology, &links, 0xb, 99), TOPOLOGY_NONE);
    assert_int_equal(api_link_of(&topology, &links, 0xc, 3), TOPOLOGY_NONE);
    assert_int_equal(api_link_direction(&links, topology_port_index(&topology, b, 2)), 1);
    api_links_release(&links);
    topology_release(&topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_has_only_what_changed),
        cmocka_unit_test(a_long_log_keeps_its_numbers),
        cmocka_unit_test(history_covers_all_of_the_time),
        cmocka_unit_test(places_are_found_by_guid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
