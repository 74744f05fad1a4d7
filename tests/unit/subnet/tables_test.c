/* Tests for the room of the tables of a switch. */
#include "subnet/subnet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { NONE = 0xFF };

static struct subnet_tables *add_switch(struct subnet *subnet)
{
    subnet_init(subnet);
    uint32_t node = subnet_add_node(subnet, 0x10, SUBNET_SWITCH, 4);
    return subnet->nodes.items[node].tables;
}

static void a_new_switch_has_room_for_one_block(void **state)
{
    struct subnet subnet;
    const struct subnet_tables *tables = add_switch(&subnet);
    assert_int_equal(tables->length, LFT_BLOCK);
    for (unsigned lid = 0; lid < LFT_BLOCK; lid++)
        assert_int_equal(tables->wanted[lid], NONE);
    for (unsigned lid = 0; lid < LFT_ENTRIES; lid++)
        assert_int_equal(subnet_actual_port(tables, lid), 0);
    subnet_release(&subnet);
}

static void tables_keep_their_entries_as_they_grow(void **state)
{
    struct subnet subnet;
    struct subnet_tables *tables = add_switch(&subnet);
    memset(tables->actual, 3, LFT_BLOCK);
    memset(tables->wanted, 4, LFT_BLOCK);
    subnet_extend_tables(tables, 1001);
    assert_int_equal(tables->length, 1024); /* whole blocks */
    for (unsigned lid = 0; lid < tables->length; lid++) {
        assert_int_equal(subnet_actual_port(tables, lid), lid < LFT_BLOCK ? 3 : 0);
        assert_int_equal(tables->wanted[lid], lid < LFT_BLOCK ? 4 : NONE);
    }
    const uint8_t *before = tables->actual;
    subnet_extend_tables(tables, 1024);
    assert_ptr_equal(tables->actual, before);
    assert_int_equal(tables->length, 1024);
    subnet_release(&subnet);
}

static void tables_grow_up_to_the_last_unicast_lid(void **state)
{
    struct subnet subnet;
    struct subnet_tables *tables = add_switch(&subnet);
    unsigned growths = 0, before = tables->length;
    for (unsigned end = 1; end <= LFT_ENTRIES; end++, before = tables->length) {
        subnet_extend_tables(tables, end);
        assert_true(tables->length >= end);
        growths += tables->length != before;
    }
    assert_int_equal(tables->length, LFT_ENTRIES);
    assert_int_equal(growths, 10); /* 64 entries, doubled each time, and the rest */
    assert_int_equal(tables->wanted[LFT_ENTRIES - 1], NONE);
    assert_int_equal(subnet_actual_port(tables, LFT_ENTRIES), 0);
    subnet_release(&subnet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_switch_has_room_for_one_block),
        cmocka_unit_test(tables_keep_their_entries_as_they_grow),
        cmocka_unit_test(tables_grow_up_to_the_last_unicast_lid),
    };
    return cmocka_run_group_tests_name("subnet_tables", tests, NULL, NULL);
}
