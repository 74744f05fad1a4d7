/* The reader of partitions.conf, the P_Keys of a port, and their indices in its table. */
#include "base/rng.h"
#include "subnet/partitions.h"
#include "subnet/subnet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct partition_port manager = {0x1, SUBNET_ADAPTER, true};

static void read_good(struct partitions *partitions, const char *text)
{
    struct err err = {0};
    if (partitions_read(partitions, from_text("file", text, &err)) != 0)
        fail_msg("%u: %s", err.line, err.message);
}

/* The keys of a port as hexadecimal words; the key of index 0 comes first. */
static void assert_keys(const char *text, struct partition_port port, const char *expected)
{
    struct partitions partitions;
    struct partition_keys keys = {0};
    char words[256] = "";
    read_good(&partitions, text);
    partitions_find_keys(&partitions, &port, &keys);
    if (keys.first)
        snprintf(words, sizeof words, "[%04x] ", keys.first);
    for (size_t i = 0; i < keys.keys.count; i++) {
        size_t length = strlen(words);
        snprintf(words + length, sizeof words - length, "%04x ", keys.keys.items[i]);
    }
    if (words[0])
        words[strlen(words) - 1] = 0;
    assert_string_equal(words, expected);
    partition_keys_release(&keys);
    partitions_release(&partitions);
}

static struct partition_port adapter(uint64_t guid)
{
    return (struct partition_port){guid, SUBNET_ADAPTER, false};
}

static void assert_error(const char *text, unsigned line, const char *part)
{
    struct partitions partitions;
    struct err err = {0};
    assert_int_not_equal(partitions_read(&partitions, from_text("file", text, &err)), 0);
    assert_string_equal(err.file, "file");
    if (err.line != line || !strstr(err.message, part))
        fail_msg("%u: %s", err.line, err.message);
    assert_null(partitions.all.items);
    assert_null(partitions.rules.items);
    assert_null(partitions.groups.items);
}

/* ---- keys ---- */

static void by_default_ports_are_limited_members_of_the_default_partition(void **state)
{
    assert_keys("", adapter(5), "7fff");
    assert_keys("", manager, "ffff");
    assert_keys("# nothing\n", (struct partition_port){9, SUBNET_SWITCH, false}, "7fff");
}

static void examples_of_the_manual_are_read(void **state)
{
    assert_keys("Default=0x7fff : ALL, SELF=full ;", adapter(5), "7fff");
    assert_keys("Default=0x7fff : ALL, SELF=full ;", manager, "ffff");
    assert_keys("Default=0x7fff : ALL, ALL_SWITCHES=full, SELF=full ;",
                (struct partition_port){9, SUBNET_SWITCH, false}, "ffff");
    static const char text[] = "Default=0x7fff,ipoib:ALL=full;\n"
                               "NewPartition , ipoib : 0x123456=full, 0x3456789034=limi,"
                               " 0x2134af2306 ;\n"
                               "YetAnotherOne = 0x300 : SELF=full ;\n"
                               "YetAnotherOne = 0x300 : ALL=limited ;\n"
                               "ShareIO = 0x80 , defmember=full : 0x123451, 0x123452;\n"
                               "# 0x123453, 0x123454 will be limited\n"
                               "ShareIO = 0x80 : 0x123453, 0x123454, 0x123455=full;\n"
                               "ShareIO = 0x80 : defmember=limited : 0x123456, 0x123457,"
                               " 0x123458=full;\n"
                               "ShareIO = 0x80 , defmember=full : 0x123459, 0x12345a;\n"
                               "ShareIO = 0x80 , defmember=full : 0x12345b, 0x12345c=limited,"
                               " 0x12345d;\n";
    assert_keys(text, adapter(0x123456), "ffff 8001 0300 0080");
    assert_keys(text, adapter(0x3456789034), "ffff 0001 0300");
    assert_keys(text, adapter(0x2134af2306), "ffff 0001 0300");
    assert_keys(text, adapter(0x123451), "ffff 0300 8080");
    assert_keys(text, adapter(0x123454), "ffff 0300 0080");
    assert_keys(text, adapter(0x123455), "ffff 0300 8080");
    assert_keys(text, adapter(0x123457), "ffff 0300 0080");
    assert_keys(text, adapter(0x123458), "ffff 0300 8080");
    assert_keys(text, adapter(0x12345c), "ffff 0300 0080");
    assert_keys(text, adapter(0x12345d), "ffff 0300 8080");
    assert_keys(text, manager, "ffff 0300");
}

static void the_last_rule_for_a_port_applies(void **state)
{
    assert_keys("A=1: 5=full; A=1: ALL=limited;", adapter(5), "7fff 0001");
    assert_keys("A=1: ALL=limited; A=1: 5=full;", adapter(5), "7fff 8001");
    assert_keys("A=1: ALL=limited, 5=full;", adapter(6), "7fff 0001");
}

static void rules_select_kinds_of_nodes(void **state)
{
    static const char text[] = "A=1: ALL_CAS; B=2: ALL_SWITCHES; C=3: ALL_ROUTERS; D=4: SELF;";
    assert_keys(text, adapter(5), "7fff 0001");
    assert_keys(text, (struct partition_port){5, SUBNET_SWITCH, false}, "7fff 0002");
    assert_keys(text, (struct partition_port){5, SUBNET_ROUTER, false}, "7fff 0003");
    assert_keys(text, (struct partition_port){5, SUBNET_SWITCH, true}, "ffff 0002 0004");
}

static void both_is_full_unless_both_are_allowed(void **state)
{
    struct partitions partitions;
    struct partition_keys keys = {0};
    struct partition_port port = adapter(5);
    assert_keys("A=1: 5=both;", port, "7fff 8001");
    assert_keys("A=1, defmember=both: 5;", port, "7fff 8001");
    read_good(&partitions, "A=1: 5=both; B=2: 5=both; B=2: 5=limited;");
    partitions.allow_both = true;
    partitions_find_keys(&partitions, &port, &keys);
    assert_int_equal(keys.keys.count, 4);
    assert_int_equal(keys.keys.items[1], 0x8001);
    assert_int_equal(keys.keys.items[2], 0x0001);
    assert_int_equal(keys.keys.items[3], 0x0002);
    partition_keys_release(&keys);
    partitions_release(&partitions);
}

static void the_manager_is_always_full_member_of_the_default_partition(void **state)
{
    assert_keys("Default=0x7fff: ALL=limited;", manager, "ffff");
    assert_keys("Default=0x7fff: 1=limited;", manager, "ffff");
}

static void the_last_partition_with_indx0_gets_index_0(void **state)
{
    assert_keys("A=1, indx0: ALL=full;", adapter(5), "[8001] 7fff 8001");
    assert_keys("A=1, indx0: ALL=full; B=2, indx0: ALL;", adapter(5), "[0002] 7fff 8001 0002");
    assert_keys("A=1, indx0: ALL=full; A=1: 5=full;", adapter(5), "7fff 8001");
    assert_keys("A=1, indx0: ALL=full; A=1: 6=full;", adapter(5), "[8001] 7fff 8001");
}

static void partitions_without_a_key_get_one(void **state)
{
    assert_keys("One: 5; Two=1: 5; Three: 5; One: 5=full;", adapter(5), "7fff 8002 0001 0003");
    assert_keys("0x20: 5=full; 33: 5=full; Last: 5;", adapter(5), "7fff 8020 8021 0001");
    assert_keys(": 5; : 5=full;", adapter(5), "7fff 0001 8002");
    assert_keys("Default: ALL=full;", adapter(5), "ffff");
    assert_keys("A=0x8020: 5;", adapter(5), "7fff 0020"); /* bit 15 is ignored */
}

static void blanks_newlines_and_comments_may_be_anywhere(void **state)
{
    assert_keys("\n A = 1 , defmember = full :\r\n  5 ,\n\n 6=limited # remark ; 7\n , ,\n 8\n;"
                "B=2:NONE;C=3:;",
                adapter(5), "7fff 8001");
    assert_keys("A=1:5=full\n6\n;", adapter(6), "7fff 0001");
    assert_keys("A b c=1:5;", adapter(5), "7fff 0001");
    assert_keys("A=1:010;", adapter(8), "7fff 0001"); /* octal, as in strtoul() */
}

/* ---- groups ---- */

static void groups_have_the_values_of_their_flags(void **state)
{
    struct partitions partitions;
    read_good(&partitions,
              "Default=0x7fff,ipoib:\n"
              " mgid=ff12:401b::0707,sl=1 # random IPv4 group\n"
              " mgid=ff12:601b::16    # MLDv2-capable routers\n"
              " mgid=ff12::1,sl=1,Q_Key=0xDEADBEEF,rate=3,mtu=2,TClass=7,FlowLabel=9,scope=5\n"
              " ALL=full;\n"
              "B=0x10,ipoib,rate=7,mtu=5,sl=3,Q_Key=4,TClass=8,scope=2,scope=8: ALL;\n");
    const struct partition_group *groups = partitions.groups.items;
    assert_int_equal(partitions.groups.count, 6);
    static const uint8_t broadcast[16] = {0xFF, 0x12, 0x40,        0x1B, 0xFF, 0xFF, 0,
                                          0,    0,    [12] = 0xFF, 0xFF, 0xFF, 0xFF};
    assert_memory_equal(groups[0].mgid, broadcast, 16);
    assert_int_equal(groups[0].mtu, 4);
    assert_int_equal(groups[0].rate, 3);
    assert_int_equal(groups[0].q_key, 0x0B1B);
    assert_int_equal(groups[0].scope, 2);
    static const uint8_t ip[16] = {0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF, [14] = 7, 7};
    assert_memory_equal(groups[1].mgid, ip, 16);
    assert_int_equal(groups[1].sl, 1);
    assert_int_equal(groups[1].q_key, 0x0B1B);
    assert_int_equal(groups[2].mgid[2], 0x60);
    static const uint8_t other[16] = {0xFF, 0x15, [15] = 1};
    assert_memory_equal(groups[3].mgid, other, 16);
    assert_int_equal(groups[3].q_key, 0xDEADBEEF);
    assert_int_equal(groups[3].mtu, 2);
    assert_int_equal(groups[3].traffic_class, 7);
    assert_int_equal(groups[3].flow_label, 9);
    assert_int_equal(groups[3].scope, 5);
    for (unsigned i = 4; i < 6; i++) {
        assert_int_equal(groups[i].mgid[1] & 0xF, i == 4 ? 2 : 8);
        assert_int_equal(groups[i].mgid[4] << 8 | groups[i].mgid[5], 0x8010);
        assert_int_equal(groups[i].rate, 7);
        assert_int_equal(groups[i].mtu, 5);
        assert_int_equal(groups[i].sl, 3);
        assert_int_equal(groups[i].q_key, 4);
        assert_int_equal(groups[i].traffic_class, 8);
        assert_int_equal(partitions.all.items[groups[i].partition].key, 0x10);
    }
    assert_int_equal(partitions.all.items[groups[4].partition].sl, 3);
    partitions_release(&partitions);
}

static void of_two_groups_with_one_mgid_the_first_is_kept(void **state)
{
    struct partitions partitions;
    read_good(&partitions, "A=1,ipoib,mtu=5: mgid=ff12:401b:8001::ffff:ffff,sl=7\n;"
                           "A=1,ipoib: mgid=ff12::9\nmgid=ff12::9,sl=2\n;");
    assert_int_equal(partitions.groups.count, 2);
    assert_int_equal(partitions.groups.items[0].mtu, 5);
    assert_int_equal(partitions.groups.items[0].sl, 0);
    assert_int_equal(partitions.groups.items[1].sl, 0);
    partitions_release(&partitions);
}

static void a_chosen_key_is_in_the_mgids_of_its_groups(void **state)
{
    struct partitions partitions;
    read_good(&partitions, "A,ipoib: mgid=ff12:401b::5\n ALL;");
    assert_int_equal(partitions.groups.items[0].mgid[4], 0x80);
    assert_int_equal(partitions.groups.items[0].mgid[5], 0x01);
    assert_int_equal(partitions.groups.items[1].mgid[5], 0x01);
    partitions_release(&partitions);
}

/* ---- errors ---- */

static void errors_name_their_line(void **state)
{
    assert_error("A=1: ALL;\nB", 2, "expected NAME=KEY");
    assert_error("A=1: ALL;\n\nB=x: ALL;", 3, "'x' is not a partition key");
    assert_error("B=0: ALL;", 1, "'0' is not a partition key");
    assert_error("B=0x8000: ALL;", 1, "not a partition key");
    assert_error("B=0x10000: ALL;", 1, "not a partition key");
    assert_error("A=1, mtu=6: ALL;", 1, "mtu=6: expected a number from 1 to 5");
    assert_error("A=1, mtu: ALL;", 1, "mtu=: expected");
    assert_error("A=1, sl=16: ALL;", 1, "sl=16");
    assert_error("A=1, colour=red: ALL;", 1, "'colour' is not a flag");
    assert_error("A=1, defmember=none: ALL;", 1, "'none' is not a membership");
    assert_error("A=1, : ALL;", 1, "'' is not a flag");
    assert_error("A=1:\n 5=ful1;", 2, "'ful1' is not a membership");
    assert_error("A=1:\n 5=;", 2, "'' is not a membership");
    assert_error("A=1:\n 5,\n everybody;", 3, "'everybody' is not a port");
    assert_error("A=1: 0;", 1, "'0' is not a port");
    assert_error("A=1: 0x12345678901234567;", 1, "is not a port");
    assert_error("A=1: ALL", 1, "missing ';'");
    assert_error("A=1: ALL\nB=2: ALL;", 1, "missing ';'");
    assert_error("A=1:\n 5,\n 6 # the last\n\n# B\nB=2,ipoib: ALL;", 3, "missing ';'");
    assert_error("A=1:\n 5,\n 6\n\n# no more\n", 3, "missing ';'");
    assert_error("A=1: ALL\nB: mgid=ff12::1;", 1, "missing ';'");
    assert_error("A=1: mgid=ff12::1\nB=2=full;", 2, "not a membership");
    assert_error("A=1:\n mgid=fe80::1\n;", 2, "'fe80::1' is not a multicast GID");
    assert_error("A=1: mgid;", 1, "'mgid' without a value");
    assert_error("A=1: mgid=ff12::1,ipoib\n;", 1, "'ipoib' is not a flag of a group");
    assert_error("A=1:\n\n mgid=ff12:401b:8002::1\n;", 3,
                 "has the key 0x8002, but its partition 0x8001");
    assert_error("A=1: mgid=ff12:401b::1,mtu=5\n;", 1, "rate and MTU of its partition");
    assert_error("A=1; B=2: ALL;", 1, "expected NAME=KEY");
    assert_error("A=1: indx0, sl=4\n: ALL;", 1, "expected ':'");
}

static void more_partitions_than_keys_is_an_error(void **state)
{
    struct text {
        char *data;
    } text = {mem_alloc(40000 * 3 + 1)};
    for (unsigned i = 0; i < 40000; i++)
        memcpy(text.data + (size_t)i * 3, ":;\n", 3);
    text.data[40000 * 3] = 0;
    assert_error(text.data, 40000, "more partitions than keys");
    mem_free(text.data);
}

static void a_missing_file_is_an_error(void **state)
{
    struct partitions partitions;
    struct err err = {0};
    assert_int_not_equal(
        partitions_read(&partitions, from_file("/nonexistent/partitions.conf", &err)), 0);
    assert_string_equal(err.file, "/nonexistent/partitions.conf");
    partitions_release(&partitions);
}

/* ---- places ---- */

static void assert_places(const char *text, uint64_t guid, const uint16_t before[4],
                          const uint16_t expected[4])
{
    struct partitions partitions;
    struct partition_keys keys = {0};
    struct partition_port port = adapter(guid);
    uint16_t table[4];
    read_good(&partitions, text);
    partitions.allow_both = true;
    partitions_find_keys(&partitions, &port, &keys);
    assert_true(partitions_place(&partitions, &keys, before, 4, table));
    assert_memory_equal(table, expected, sizeof table);
    partition_keys_release(&keys);
    partitions_release(&partitions);
}
#define KEYS(...) ((const uint16_t[4]){__VA_ARGS__})

static void a_key_keeps_its_index(void **state)
{
    assert_places("A=1: 5; B=2: 5;", 5, KEYS(0), KEYS(0x7FFF, 1, 2));
    assert_places("A=1: 5; B=2: 5;", 5, KEYS(0x7FFF, 2, 0, 1), KEYS(0x7FFF, 2, 0, 1));
    assert_places("A=1: 5; C=3: 5;", 5, KEYS(0x7FFF, 2, 0, 1), KEYS(0x7FFF, 3, 0, 1));
    assert_places("A=1: 5=full;", 5, KEYS(0xFFFF, 2, 0, 1), KEYS(0x7FFF, 0, 0, 0x8001));
    assert_places("", 5, KEYS(0, 0, 0x7FFF), KEYS(0x7FFF)); /* index 0 is always used */
    assert_places("A=1: 5;", 5, KEYS(9, 0, 0x7FFF), KEYS(0x7FFF, 1));
    assert_places("A=1: 5=both;", 5, KEYS(0x7FFF, 1, 0, 0x8001), KEYS(0x7FFF, 1, 0, 0x8001));
    assert_places("A=1: 5=full;", 5, KEYS(0x7FFF, 1, 0, 0x8001), KEYS(0x7FFF, 0, 0, 0x8001));
    assert_places("A=1: 5=both;", 5, KEYS(0x7FFF, 0, 1, 1), KEYS(0x7FFF, 0, 1, 0x8001));
}

static void a_key_with_indx0_gets_index_0(void **state)
{
    assert_places("A=1,indx0: 5;", 5, KEYS(0x7FFF, 0, 1), KEYS(1, 0x7FFF));
    assert_places("A=1,indx0: 5;", 5, KEYS(1, 0x7FFF), KEYS(1, 0x7FFF));
    assert_places("A=1: 5;", 5, KEYS(1, 0x7FFF), KEYS(1, 0x7FFF)); /* and stays there */
}

static void a_table_that_is_too_small_is_unchanged(void **state)
{
    struct partitions partitions;
    struct partition_keys keys = {0};
    struct partition_port port = adapter(5);
    uint16_t table[4] = {1, 2, 3, 4};
    read_good(&partitions, "A=1: 5; B=2: 5; C=3: 5; D=4: 5;");
    partitions_find_keys(&partitions, &port, &keys);
    assert_false(partitions_place(&partitions, &keys, KEYS(0), 4, table));
    assert_memory_equal(table, KEYS(1, 2, 3, 4), sizeof table);
    partition_keys_release(&keys);
    partitions_release(&partitions);
}

/* With any former table: all keys once, no others, and keys keep their index where possible. */
static void random_tables_keep_indices_where_possible(void **state)
{
    enum { ROOM = 16 };
    struct partitions partitions;
    struct partition_keys keys = {0};
    struct rng rng;
    rng_seed(&rng, 1, 0);
    for (unsigned trial = 0; trial < 2000; trial++) {
        char text[512] = "";
        for (unsigned i = 1; i < 9; i++)
            if (rng_below(&rng, 2))
                snprintf(text + strlen(text), sizeof text - strlen(text), "=%u%s:5=%s;", i,
                         rng_below(&rng, 10) ? "" : ",indx0", rng_below(&rng, 2) ? "full" : "lim");
        uint16_t before[ROOM], table[ROOM];
        for (unsigned i = 0; i < ROOM; i++)
            before[i] = (uint16_t)(rng_below(&rng, 2) ? rng_below(&rng, 12) : 0x7FFF) |
                        (uint16_t)(rng_below(&rng, 2) << 15);
        read_good(&partitions, text);
        struct partition_port port = adapter(5);
        partitions_find_keys(&partitions, &port, &keys);
        assert_true(partitions_place(&partitions, &keys, before, ROOM, table));
        size_t placed = 0;
        for (unsigned i = 0; i < ROOM; i++)
            placed += table[i] != 0;
        assert_int_equal(placed, keys.keys.count);
        assert_int_not_equal(table[0], 0);
        for (size_t k = 0; k < keys.keys.count; k++) {
            unsigned now = ROOM, was = ROOM, same = 0;
            for (unsigned i = 0; i < ROOM; i++) {
                now = table[i] == keys.keys.items[k] ? i : now;
                was = before[i] == keys.keys.items[k] ? i : was;
                same += before[i] == keys.keys.items[k];
            }
            assert_true(now < ROOM);
            if (same == 1 && was > 0 && now != was) /* only to fill index 0 */
                assert_int_equal(now, 0);
        }
        if (keys.first)
            assert_int_equal(table[0], keys.first);
        partitions_release(&partitions);
    }
    partition_keys_release(&keys);
}

static void many_ports_with_many_rules_are_fast(void **state)
{
    enum { PORTS = 20000 };
    struct partitions partitions;
    struct partition_keys keys = {0};
    char *text = mem_alloc(PORTS * 40), *at = text;
    for (unsigned i = 1; i <= PORTS; i++)
        at += sprintf(at, "=%u:0x%x=full,0x%x;\n", i, i, i % PORTS + 1);
    read_good(&partitions, text);
    for (unsigned i = 1; i <= PORTS; i++) {
        struct partition_port port = adapter(i);
        partitions_find_keys(&partitions, &port, &keys);
        assert_int_equal(keys.keys.count, 3);
    }
    partition_keys_release(&keys);
    partitions_release(&partitions);
    mem_free(text);
}

static void the_default_rules_make_every_port_a_full_member(void **state)
{
    struct partitions partitions;
    struct partition_keys keys = {0};
    struct partition_port port = adapter(5);
    partitions_make_default(&partitions);
    partitions_find_keys(&partitions, &port, &keys);
    assert_int_equal(keys.keys.count, 1);
    assert_int_equal(keys.keys.items[0], 0xFFFF);
    assert_int_equal(partitions.groups.count, 1);
    partition_keys_release(&keys);
    partitions_release(&partitions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_default_ports_are_limited_members_of_the_default_partition),
        cmocka_unit_test(examples_of_the_manual_are_read),
        cmocka_unit_test(the_last_rule_for_a_port_applies),
        cmocka_unit_test(rules_select_kinds_of_nodes),
        cmocka_unit_test(both_is_full_unless_both_are_allowed),
        cmocka_unit_test(the_manager_is_always_full_member_of_the_default_partition),
        cmocka_unit_test(the_last_partition_with_indx0_gets_index_0),
        cmocka_unit_test(partitions_without_a_key_get_one),
        cmocka_unit_test(blanks_newlines_and_comments_may_be_anywhere),
        cmocka_unit_test(groups_have_the_values_of_their_flags),
        cmocka_unit_test(of_two_groups_with_one_mgid_the_first_is_kept),
        cmocka_unit_test(a_chosen_key_is_in_the_mgids_of_its_groups),
        cmocka_unit_test(errors_name_their_line),
        cmocka_unit_test(more_partitions_than_keys_is_an_error),
        cmocka_unit_test(a_missing_file_is_an_error),
        cmocka_unit_test(a_key_keeps_its_index),
        cmocka_unit_test(a_key_with_indx0_gets_index_0),
        cmocka_unit_test(a_table_that_is_too_small_is_unchanged),
        cmocka_unit_test(random_tables_keep_indices_where_possible),
        cmocka_unit_test(many_ports_with_many_rules_are_fast),
        cmocka_unit_test(the_default_rules_make_every_port_a_full_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
