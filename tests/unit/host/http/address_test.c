/* What the server parses itself: addresses, queries, Host and Origin. */
#include "host/http/address.h"
#include "host/http/fields.h"
#include "host/http/guard.h"
#include "test.h"

#include <arpa/inet.h>

static void addresses_are_read(void **state)
{
    static const struct {
        const char *text, *url;
    } good[] = {
        {"9090", "http://127.0.0.1:9090"},           {"localhost:1", "http://127.0.0.1:1"},
        {"10.1.2.3:65535", "http://10.1.2.3:65535"}, {"[::1]:80", "http://[::1]:80"},
        {"[fe80::1]:9090", "http://[fe80::1]:9090"}, {"*:9090", "http://[::]:9090"},
        {"0.0.0.0:0", "http://0.0.0.0:0"},           {"unix:/run/weft/http", "unix:/run/weft/http"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct http_address address;
        char url[160];
        assert_int_equal(http_address_parse(good[i].text, &address, NULL), 0);
        http_address_url(&address, -1, url, sizeof url);
        assert_string_equal(url, good[i].url);
    }
}

static void other_addresses_are_refused(void **state)
{
    static const char *const bad[] = {
        "",         ":",          "x",         "65536",     "-1",          "::1:80",
        "[::1]",    "[::1]80",    "[]:80",     "[:80",      "1.2.3:80",    "example.org:80",
        "1.2.3.4:", "unix:",      "unix:a",    "[::1]:80x", "1.2.3.4:+80", "[1.2.3.4:80",
        "9090 ",    "127.0.0.1:", "[::1%1]:1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct http_address address;
        struct err err = {0};
        assert_true(http_address_parse(bad[i], &address, &err) < 0);
        assert_true(err.message[0]);
    }
    char path[300] = "unix:/";
    struct http_address address;
    memset(path + 6, 'x', 200);
    assert_true(http_address_parse(path, &address, NULL) < 0);
}

static void queries_are_decoded(void **state)
{
    char text[] = "a=1&b=x%20y+z&c&&=e&d=%26%3D%e2%82%ac&a=2";
    struct http_fields fields = {0};
    (void)state;
    assert_true(http_fields_add(&fields, text));
    assert_string_equal(http_fields_get(&fields, "a"), "1");
    assert_string_equal(http_fields_get(&fields, "b"), "x y z");
    assert_string_equal(http_fields_get(&fields, "c"), "");
    assert_string_equal(http_fields_get(&fields, "d"), "&=\xe2\x82\xac");
    assert_string_equal(http_fields_get(&fields, ""), "e");
    assert_null(http_fields_get(&fields, "e"));
}

static void malformed_queries_are_refused(void **state)
{
    static const char *const bad[] = {"a=%", "a=%4", "a=%zz", "a=%00", "%=1", "a=%4"};
    char many[4 * HTTP_FIELDS_MOST + 8] = "";
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[16];
        struct http_fields fields = {0};
        strcpy(text, bad[i]);
        assert_false(http_fields_add(&fields, text));
    }
    for (size_t i = 0; i <= HTTP_FIELDS_MOST; i++)
        strcat(many, "a=1&");
    struct http_fields fields = {0};
    assert_false(http_fields_add(&fields, many));
}

static void only_own_hosts_are_accepted(void **state)
{
    static const char *const names[] = {"node7", NULL, "", "sm.example.org"};
    static const char *const good[] = {"localhost", "LOCALHOST:80",  "127.0.0.1:9",
                                       "[::1]:9",   "[::1]",         "10.0.0.1",
                                       "node7:1",   "sm.example.org"};
    static const char *const bad[] = {"",     "evil.org",         "localhost.evil.org", "[::1",
                                      "node", "node77",           "127.0.0.1.x",        "[::1]x",
                                      ":80",  "localhost:80@evil"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(http_guard_host(good[i], names, 4));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(http_guard_host(bad[i], names, 4));
    assert_false(http_guard_host(NULL, names, 4));
    assert_true(http_guard_origin(NULL, "localhost"));
    assert_true(http_guard_origin("http://localhost:80", "localhost:80"));
    assert_true(http_guard_origin("https://node7", "node7"));
    assert_false(http_guard_origin("null", "localhost"));
    assert_false(http_guard_origin("http://localhost:81", "localhost:80"));
    assert_false(http_guard_origin("http://evil.org", "localhost"));
    assert_false(http_guard_origin("http://localhost", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_read),
        cmocka_unit_test(other_addresses_are_refused),
        cmocka_unit_test(queries_are_decoded),
        cmocka_unit_test(malformed_queries_are_refused),
        cmocka_unit_test(only_own_hosts_are_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
