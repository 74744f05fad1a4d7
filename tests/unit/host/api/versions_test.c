/* Versions of tables: the newest are kept, and one that is gone is refused with the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/api/api.h"

#include <string.h>

static uint8_t table[] = {0xFF, 1, 2, 3};

static const uint8_t *table_of(const void *context, uint64_t guid, unsigned *top)
{
    (void)context;
    (void)guid;
    *top = sizeof table - 1;
    return table;
}

static void add(struct api_versions *versions, bool if_changed)
{
    const struct api_version about = {.engine = "updn", .cause = "a test"};
    api_versions_add(versions, &about, if_changed, table_of, NULL);
}

static void the_newest_versions_are_kept(void **unused)
{
    (void)unused;
    struct api_versions versions = {0};
    struct topology topology;
    struct api_links links;
    struct text out = {0};
    struct err err = {0};
    topology_init(&topology);
    api_links_init(&links, &topology);
    api_versions_add_switch(&versions, 1);
    for (unsigned i = 0; i < API_VERSIONS_MOST + 2; i++)
        add(&versions, false);
    assert_int_equal(versions.items.count, API_VERSIONS_MOST);
    assert_int_equal(api_versions_compare(&versions, &topology, &links, 3, 258, &out, &err), 0);
    assert_true(api_versions_compare(&versions, &topology, &links, 3, 2, &out, &err) < 0);
    assert_string_equal(err.message, "version 2 is not kept any more: the oldest is version 3");
    assert_true(api_versions_compare(&versions, &topology, &links, 259, 3, &out, &err) < 0);
    assert_string_equal(err.message, "there is no version 259");
    text_release(&out);
    api_links_release(&links);
    topology_release(&topology);
    api_versions_release(&versions);
}

static void a_version_may_be_added_only_if_it_differs(void **unused)
{
    (void)unused;
    struct api_versions versions = {0};
    api_versions_add_switch(&versions, 1);
    add(&versions, true);
    add(&versions, true);
    assert_int_equal(versions.items.count, 1);
    table[2] = 7;
    add(&versions, true);
    assert_int_equal(versions.items.count, 2);
    assert_int_equal(versions.items.items[1].id, 2);
    assert_int_equal(versions.items.items[1].changed, 1);
    api_versions_release(&versions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_versions_are_kept),
        cmocka_unit_test(a_version_may_be_added_only_if_it_differs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
