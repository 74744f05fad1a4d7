/* User routes over an engine's tables. */
#include "networks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

/* Two switches with two links and one host each. */
static void build_pair(struct network *network)
{
    network_init(network);
    for (unsigned at = 0; at < 2; at++) {
        network_add_switch(network, 0xA0 + at, (uint16_t)(1 + at), 0, 4);
        network_add_terminal(network, 0xB0 + at, (uint16_t)(3 + at), 0, at, 4);
    }
    network_link(network, 0, 1, 1, 1);
    network_link(network, 0, 2, 1, 2);
    assert_int_equal(network_finish(network), 0);
}

static void entries_replace_those_of_the_engine(void **state)
{
    struct network network;
    struct user_routes user;
    struct routes routes;
    struct err err = {0};
    build_pair(&network);
    assert_int_equal(user_routes_read(&user, from_text("user",
                                                       "# host 4 from the first switch\n"
                                                       "0xa0 4 2   # by GUID\n"
                                                       "\n"
                                                       "2 0x3 2\n" /* by LID */
                                                       "0x77 4 1\n" /* not there now */,
                                                       &err)),
                     0);
    assert_int_equal(user.entries.count, 3);
    struct engine_options options = {.user = &user};
    assert_int_equal(engine_fera.compute(&network, &options, &routes, &err), 0);
    assert_int_equal(routes_port(&routes, 0, 4), 2);
    assert_int_equal(routes_port(&routes, 1, 3), 2);
    assert_int_equal(routes_port(&routes, 0, 2), 1);
    routes_release(&routes);
    user_routes_release(&user);
    network_release(&network);
}

static void entries_that_break_delivery_are_refused(void **state)
{
    static const struct {
        const char *text;
        int error;
    } cases[] = {
        {"0xa0 4 4\n", -EHOSTUNREACH}, /* to the wrong host */
        {"0xa0 4 3\n", -EHOSTUNREACH}, /* no cable */
        {"0xa1 4 1\n", -EHOSTUNREACH}, /* back to the other switch: a loop */
    };
    struct network network;
    build_pair(&network);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct user_routes user;
        struct routes routes;
        struct err err = {0};
        assert_int_equal(user_routes_read(&user, from_text("user", cases[i].text, &err)), 0);
        struct engine_options options = {.user = &user};
        assert_int_equal(engine_fera.compute(&network, &options, &routes, &err), cases[i].error);
        assert_null(routes.ports);
        assert_true(strlen(err.message) > 0);
        user_routes_release(&user);
    }
    network_release(&network);
}

static void entries_that_close_a_cycle_are_refused(void **state)
{
    struct network network;
    struct user_routes user;
    struct routes routes;
    struct err err = {0};
    struct text text = {0};
    build_ring(&network, 5);
    /* Everybody sends to the host two switches on, clockwise. */
    for (unsigned at = 0; at < 5; at++) {
        text_printf(&text, "%u %u 1\n", at + 1, 6 + (at + 2) % 5);
        text_printf(&text, "%u %u 1\n", at + 1, 6 + (at + 1) % 5);
    }
    assert_int_equal(user_routes_read(&user, from_text("user", text.data, &err)), 0);
    struct engine_options options = {.user = &user};
    assert_int_equal(engine_fera.compute(&network, &options, &routes, &err), -EDEADLK);
    assert_non_null(strstr(err.message, "'ring0' port 1"));
    user_routes_release(&user);
    text_release(&text);
    network_release(&network);
}

static void seeded_entries_count_as_load(void **state)
{
    struct network network;
    struct user_routes user;
    struct routes routes;
    struct err err = {0};
    network_init(&network);
    network_add_switch(&network, 0xA0, 1, 0, 4);
    network_add_switch(&network, 0xA1, 2, 0, 8);
    network_add_terminal(&network, 0xB0, 3, 0, 0, 4);
    for (unsigned i = 0; i < 4; i++)
        network_add_terminal(&network, 0xC0 + i, (uint16_t)(4 + i), 0, 1, 4 + i);
    network_link(&network, 0, 1, 1, 1);
    network_link(&network, 0, 2, 1, 2);
    assert_int_equal(network_finish(&network), 0);
    assert_int_equal(user_routes_read(&user, from_text("user", "0xa0 4 1\n0xa0 5 1\n", &err)), 0);
    struct engine_options options = {.user = &user, .seed_balance = true};
    assert_int_equal(engine_updn.compute(&network, &options, &routes, &err), 0);
    /* Two on port 1 by hand: the engine puts the other two on port 2. */
    assert_int_equal(routes_port(&routes, 0, 4), 1);
    assert_int_equal(routes_port(&routes, 0, 5), 1);
    unsigned on_port_2 = 0;
    for (unsigned lid = 6; lid < 8; lid++)
        on_port_2 += routes_port(&routes, 0, lid) == 2;
    assert_int_equal(on_port_2, 2);
    routes_release(&routes);
    user_routes_release(&user);
    network_release(&network);
}

static void bad_lines_are_errors_with_their_number(void **state)
{
    static const char *const bad[] = {
        "\nhello\n",         "\n0xa0 4\n",     "\n0xa0 4 1 2\n", "\n0 4 1\n",     "\n0xa0 0 1\n",
        "\n0xa0 0xC000 1\n", "\n0xa0 4 255\n", "\n99999 4 1\n",  "\n0xa0 4 1x\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct user_routes user;
        struct err err = {0};
        assert_true(user_routes_read(&user, from_text("user", bad[i], &err)) < 0);
        assert_int_equal(err.line, 2);
        assert_string_equal(err.file, "user");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_replace_those_of_the_engine),
        cmocka_unit_test(entries_that_break_delivery_are_refused),
        cmocka_unit_test(entries_that_close_a_cycle_are_refused),
        cmocka_unit_test(seeded_entries_count_as_load),
        cmocka_unit_test(bad_lines_are_errors_with_their_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
