/* QoS: readers of policies, choice of levels, maps and arbitration tables. */
#include "subnet/qos.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct qos policy_of(const char *text)
{
    struct qos qos;
    struct err err = {0};
    char *copy = mem_strdup(text);
    qos_init(&qos);
    if (qos_read(&qos, from_text("policy", copy, &err)))
        fail_msg("line %u: %s", err.line, err.message);
    mem_free(copy);
    qos.on = true;
    return qos;
}

static const char storage_policy[] =
    "# storage goes first\n"
    "level default sl 0 weight 1\n"
    "level storage sl 2 priority high limit 80% weight 64\n"
    "level bulk sl 1 weight 3\n"
    "group servers guid 0x10-0x1f 0x30 name \"oss *\" type router\n"
    "match pkey 0x8005 level storage\n"
    "match service 0x1060000-0x106ffff to servers level storage\n"
    "match class 7,9-11 level bulk\n"
    "match with servers level bulk # the rest\n";

static uint8_t sl_of(const struct qos *qos, const struct qos_request *request)
{
    struct qos_layout layout;
    struct err refusal;
    uint8_t sl;
    qos_make_layout(qos, 8, &layout, &refusal);
    qos_resolve(qos, &layout, request, 0, &sl);
    return sl;
}

static void the_first_match_applies(void **state)
{
    struct qos qos = policy_of(storage_policy);
    uint64_t servers = 1;
    const struct {
        struct qos_request request;
        uint8_t sl;
    } cases[] = {
        {{.has_p_key = true, .p_key = 0xFFFF}, 0},
        {{.has_p_key = true, .p_key = 0x0005}, 2},
        {{.has_p_key = true, .p_key = 0x8005, .destination_groups = servers}, 2},
        {{.has_p_key = true, .p_key = 0x8006, .destination_groups = servers}, 1},
        {{.source_groups = servers}, 1},
        {{.has_service = true, .service = 0x1060001, .destination_groups = servers}, 2},
        {{.has_service = true, .service = 0x1060001, .source_groups = servers}, 1},
        {{.has_service = true, .service = 0x1060001}, 0},
        {{.has_service = true, .service = 0x1070000, .destination_groups = servers}, 1},
        {{.has_class = true, .class = 10}, 1},
        {{.has_class = true, .class = 8}, 0},
        {{.class = 7}, 0}, /* has_class is false */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (sl_of(&qos, &cases[i].request) != cases[i].sl)
            fail_msg("case %zu has service level %u", i, sl_of(&qos, &cases[i].request));
    qos_release(&qos);
}

static void groups_are_by_guid_name_and_type(void **state)
{
    struct qos qos = policy_of(storage_policy);
    assert_int_equal(qos_groups_of(&qos, &(struct qos_endpoint){.port_guid = 0x10}), 1);
    assert_int_equal(qos_groups_of(&qos, &(struct qos_endpoint){.port_guid = 0x1f}), 1);
    assert_int_equal(qos_groups_of(&qos, &(struct qos_endpoint){.port_guid = 0x20}), 0);
    assert_int_equal(qos_groups_of(&qos, &(struct qos_endpoint){.port_guid = 0x30}), 1);
    assert_int_equal(qos_groups_of(&qos, &(struct qos_endpoint){.type = 3}), 1);
    assert_int_equal(qos_groups_of(&qos, &(struct qos_endpoint){.type = 1}), 0);
    assert_int_equal(qos_groups_of(&qos, &(struct qos_endpoint){.description = "oss 12"}), 1);
    assert_int_equal(qos_groups_of(&qos, &(struct qos_endpoint){.description = "oss12"}), 0);
    qos_release(&qos);
}

static void the_sl_of_a_partition_applies_if_no_rule_matches(void **state)
{
    struct qos qos = policy_of(storage_policy);
    qos_add_partition(&qos, 9, 1);
    qos_add_partition(&qos, 5, 1);
    qos_add_partition(&qos, 7, 6); /* no level has this SL */
    assert_int_equal(sl_of(&qos, &(struct qos_request){.has_p_key = true, .p_key = 0x8009}), 1);
    assert_int_equal(sl_of(&qos, &(struct qos_request){.has_p_key = true, .p_key = 0x8005}), 2);
    assert_int_equal(sl_of(&qos, &(struct qos_request){.has_p_key = true, .p_key = 0x8007}), 0);
    qos_release(&qos);
}

/* ---- levels and VLs ---- */

static unsigned vl(const uint8_t map[8], unsigned sl)
{
    return map[sl / 2] >> (sl % 2 ? 0 : 4) & 15;
}

/* On a link with enough VLs no two pairs of level and VL of the routes share a VL. */
static void every_level_has_its_own_vls_for_the_routes(void **state)
{
    struct qos qos = policy_of(storage_policy);
    struct err refusal;
    for (unsigned vls = 3; vls <= 15; vls++) {
        struct qos_layout layout;
        uint8_t map[8];
        unsigned seen = 0;
        qos_make_layout(&qos, vls, &layout, &refusal);
        assert_true(layout.levels);
        assert_int_equal(layout.vls, vls / 3);
        qos_make_map(&qos, &layout, &(struct qos_port){.vls = (uint8_t)vls}, map);
        for (unsigned level = 0; level < 3; level++)
            for (unsigned i = 0; i < layout.vls; i++) {
                uint8_t sl = qos_service_level(&layout, (uint8_t)level, (uint8_t)i);
                assert_true(sl < 16 && vl(map, sl) < vls);
                assert_false(seen >> vl(map, sl) & 1);
                assert_true(qos_allows(&layout, sl, (uint8_t)i));
                assert_false(qos_allows(&layout, sl, (uint8_t)(i + 1)));
                seen |= 1u << vl(map, sl);
            }
    }
    qos_release(&qos);
}

static void maps_do_not_depend_on_the_vls_of_routes(void **state)
{
    struct qos_layout layout;
    struct err refusal;
    uint8_t one[8], other[8];
    qos_make_layout(NULL, 8, &layout, &refusal);
    qos_make_map(NULL, &layout, &(struct qos_port){.vls = 8}, one);
    layout.used = 5;
    qos_make_map(NULL, &layout, &(struct qos_port){.vls = 8}, other);
    assert_memory_equal(one, other, sizeof one);
    for (unsigned sl = 0; sl < 16; sl++)
        assert_int_equal(vl(one, sl), sl % 8);
}

static void levels_without_enough_vls_are_refused(void **state)
{
    struct qos qos = policy_of(storage_policy);
    struct qos_layout layout;
    struct err refusal;
    qos_make_layout(&qos, 2, &layout, &refusal);
    assert_false(layout.levels);
    assert_int_equal(layout.vls, 2);
    assert_string_equal(refusal.message,
                        "3 QoS levels need 3 VLs, but a link between switches has 2: the levels "
                        "are not in force");
    qos_release(&qos);
}

/* On a link with too few VLs adjacent levels share a VL. */
static void high_priority_has_its_own_vl_on_a_link_with_few_vls(void **state)
{
    struct qos qos = policy_of(storage_policy);
    struct qos_layout layout;
    struct err refusal;
    struct qos_port port = {.vls = 2, .low_cap = 8, .high_cap = 8, .mtu = 4096};
    struct qos_list low, high;
    uint8_t map[8];
    qos_make_layout(&qos, 8, &layout, &refusal);
    qos_make_map(&qos, &layout, &port, map);
    assert_int_equal(vl(map, 0), vl(map, 1));
    assert_int_not_equal(vl(map, 0), vl(map, 2));
    qos_make_arbitration(&qos, &layout, &port, false, &low);
    qos_make_arbitration(&qos, &layout, &port, true, &high);
    assert_int_equal(low.count, 1);
    assert_int_equal(low.entries[0].vl, vl(map, 0));
    assert_int_equal(high.count, 1);
    assert_int_equal(high.entries[0].vl, vl(map, 2));
    qos_release(&qos);
}

/* ---- arbitration ---- */

static unsigned weight_of(const struct qos_list *list, unsigned vl)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < list->count; i++)
        sum += list->entries[i].vl == vl ? list->entries[i].weight : 0;
    return sum;
}

static void weights_keep_their_ratio_and_are_at_least_a_packet(void **state)
{
    struct qos qos = policy_of("level a sl 0 weight 1\nlevel b sl 1 weight 8\n");
    struct qos_layout layout;
    struct err refusal;
    struct qos_list list;
    qos_make_layout(&qos, 2, &layout, &refusal);
    struct qos_port port = {.vls = 2, .low_cap = 64, .high_cap = 64, .mtu = 4096};
    qos_make_arbitration(&qos, &layout, &port, false, &list);
    assert_int_equal(weight_of(&list, 0), 64);
    assert_int_equal(weight_of(&list, 1), 512);
    port.low_cap = 2; /* too few entries to split: the ratio is kept */
    qos_make_arbitration(&qos, &layout, &port, false, &list);
    assert_int_equal(list.count, 2);
    assert_int_equal(weight_of(&list, 1), 8 * weight_of(&list, 0));
    qos_release(&qos);
}

static void limits_are_percentages_of_the_link(void **state)
{
    static const struct {
        const char *policy;
        unsigned mtu, limit;
    } cases[] = {
        {"level a sl 1 priority high limit 80%\n", 4096, 4},
        {"level a sl 1 priority high limit 80%\n", 2048, 2},
        {"level a sl 1 priority high limit 50%\n", 4096, 1},
        {"level a sl 1 priority high limit 100%\n", 4096, 255},
        {"level a sl 1 priority high limit 99%\n", 4096, 99},
        {"level a sl 1 priority high\n", 4096, 9},
        {"level a sl 1\n", 4096, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qos qos = policy_of(cases[i].policy);
        struct qos_layout layout;
        struct err refusal;
        qos_make_layout(&qos, 8, &layout, &refusal);
        assert_int_equal(
            qos_high_limit(&qos, &layout, &(struct qos_port){.mtu = (uint16_t)cases[i].mtu}),
            cases[i].limit);
        qos_release(&qos);
    }
}

/* ---- OpenSM's options ---- */

static void options_of_a_class_override_those_of_all_ports(void **state)
{
    struct qos qos;
    struct err err;
    struct qos_layout layout;
    uint8_t map[8];
    struct qos_list list;
    qos_init(&qos);
    qos.on = true;
    assert_int_equal(qos_set_option(&qos, "sl2vl", "0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,15", &err), 0);
    assert_int_equal(qos_set_option(&qos, "ca_sl2vl", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", &err), 0);
    assert_int_equal(qos_set_option(&qos, "ca_vlarb_high", "1:200,3:10", &err), 0);
    assert_int_equal(qos_set_option(&qos, "ca_high_limit", "7", &err), 0);
    assert_int_equal(qos_set_option(&qos, "swe_vlarb_high", "(null)", &err), 0);
    qos_make_layout(&qos, 8, &layout, &err);
    assert_int_equal(layout.vls, 4); /* SL 4 maps to VL 0 again */
    assert_int_equal(qos_set_option(&qos, "swe_max_vls", "2", &err), 0);
    qos_make_layout(&qos, 8, &layout, &err);
    assert_int_equal(layout.vls, 2);
    qos.tables[QOS_SWITCH_EXTERNAL].max_vls = 0;
    struct qos_port adapter = {.class = QOS_ADAPTER, .vls = 2, .high_cap = 8, .low_cap = 8};
    struct qos_port external = {.class = QOS_SWITCH_EXTERNAL, .vls = 8, .high_cap = 8};
    qos_make_map(&qos, &layout, &adapter, map);
    assert_int_equal(vl(map, 0), 1);
    qos_make_map(&qos, &layout, &external, map);
    assert_int_equal(vl(map, 6), 2);
    assert_int_equal(vl(map, 15), 15);
    qos_make_arbitration(&qos, &layout, &adapter, true, &list);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.entries[1].vl, 1); /* VL 3 on a link with two VLs */
    assert_int_equal(qos_high_limit(&qos, &layout, &adapter), 7);
    assert_int_equal(qos_high_limit(&qos, &layout, &external), 0);
    qos_make_arbitration(&qos, &layout, &external, true, &list);
    assert_int_equal(list.entries[0].weight, 4);
    assert_int_equal(list.entries[1].weight, 0);
    qos_release(&qos);
}

static void bad_options_change_nothing(void **state)
{
    static const char *const bad[][2] = {
        {"sl2vl", "0,1,2"},     {"sl2vl", "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,16"},
        {"vlarb_high", "0"},    {"vlarb_low", "15:1"},
        {"vlarb_low", "0:256"}, {"high_limit", "256"},
        {"max_vls", "16"},      {"ca_max_vls", "many"},
        {"nothing", "1"},       {"sl2vl", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 7 0"},
    };
    struct qos qos, blank;
    qos_init(&qos);
    qos_init(&blank);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = {0};
        if (qos_set_option(&qos, bad[i][0], bad[i][1], &err) != -22 || !err.message[0])
            fail_msg("%s %s is taken", bad[i][0], bad[i][1]);
    }
    assert_memory_equal(&qos, &blank, sizeof qos);
}

/* ---- errors in policies ---- */

static void one_error_names_the_line_and_nothing_changes(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
    } bad[] = {
        {"level a\n", 1},
        {"level a sl 16\n", 1},
        {"level a sl 1\nlevel a sl 2\n", 2},
        {"level a sl 1\nlevel b sl 1\n", 2},
        {"level a sl 1 limit 60%\n", 1},
        {"level a sl 1 priority high limit 40%\n", 1},
        {"level a sl 1 priority high limit 60\n", 1},
        {"level a sl 1 priority high limit 60%\nlevel b sl 2 priority high limit 70%\n", 2},
        {"level a sl 1 weight 0\n", 1},
        {"level a sl 1 priority middle\n", 1},
        {"\n\nmatch pkey 1 level a\n", 3},
        {"level a sl 1\nmatch pkey 0x10000 level a\n", 2},
        {"level a sl 1\nmatch pkey 5-2 level a\n", 2},
        {"level a sl 1\nmatch from nobody level a\n", 2},
        {"level a sl 1\nmatch pkey 1\n", 2},
        {"level a sl 1\ngroup g colour red\n", 2},
        {"level a sl 1\ngroup g name \"oss\n", 2},
        {"levels a sl 1\n", 1},
        {"", 0},
        {"qos-levels\n qos-level\n name: a\n sl: 16\n", 4},
        {"qos-levels\n qos-level\n name: a\n end-qos-level\n", 4},
        {"qos-ulps\n sdp, port-num 70000 : 1\nend-qos-ulps\n", 2},
        {"qos-ulps\n tcp : 1\nend-qos-ulps\n", 2},
        {"qos-ulps\n sdp : 1\n", 3},
        {"qos-match-rules\n qos-match-rule\n qos-level-name: x\n", 3},
        {"port-groups\n qos-level\n", 2},
        {"port-groups\nend-qos-levels\n", 2},
    };
    struct qos qos = policy_of("level kept sl 3\n");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = {0};
        char *copy = mem_strdup(bad[i].text);
        int status = qos_read(&qos, from_text("policy", copy, &err));
        mem_free(copy);
        if (!status || !err.message[0] || err.line != bad[i].line)
            fail_msg("case %zu: status %d, line %u: %s", i, status, err.line, err.message);
        assert_int_equal(qos.levels.count, 2);
        assert_string_equal(qos.levels.items[0].name, "kept");
    }
    qos_release(&qos);
}

static void levels_and_tables_exclude_each_other(void **state)
{
    struct qos qos = policy_of("level a sl 3\n");
    struct err err = {0};
    assert_int_equal(qos_finish(&qos, &err), 0);
    assert_int_equal(qos_set_option(&qos, "high_limit", "3", &err), 0);
    assert_int_equal(qos_finish(&qos, &err), -22);
    qos_release(&qos);
}

/* ---- OpenSM's policy ---- */

static const char opensm_policy[] = "port-groups\n"
                                    "  port-group # storage targets\n"
                                    "    name: Storage\n"
                                    "    use: for SRP\n"
                                    "    port-guid: 0x10-0x12,0x20\n"
                                    "    port-name: vs1 HCA-1/P1, vs2 HCA-1/P1\n"
                                    "  end-port-group\n"
                                    "  port-group\n"
                                    "    name: Switches\n"
                                    "    node-type: SWITCH\n"
                                    "    pkey: 0x5\n"
                                    "  end-port-group\n"
                                    "end-port-groups\n"
                                    "qos-setup\n"
                                    "  vlarb-tables\n"
                                    "    vlarb-scope\n"
                                    "      vlarb-high: 0:255\n"
                                    "    end-vlarb-scope\n"
                                    "  end-vlarb-tables\n"
                                    "end-qos-setup\n"
                                    "qos-levels\n"
                                    "  qos-level\n"
                                    "    name: DEFAULT\n"
                                    "    sl: 1\n"
                                    "  end-qos-level\n"
                                    "  qos-level\n"
                                    "    name: Whole\n"
                                    "    sl: 4\n"
                                    "    mtu-limit: 4\n"
                                    "    rate-limit: 3\n"
                                    "    packet-life: 12\n"
                                    "    path-bits: 2,4\n"
                                    "  end-qos-level\n"
                                    "end-qos-levels\n"
                                    "qos-match-rules\n"
                                    "  qos-match-rule\n"
                                    "    qos-class: 7-9,11\n"
                                    "    destination: Storage\n"
                                    "    qos-level-name: Whole\n"
                                    "  end-qos-match-rule\n"
                                    "end-qos-match-rules\n"
                                    "qos-ulps\n"
                                    "  sdp, port-num 10000-20000 : 2\n"
                                    "  sdp : 3\n"
                                    "  rds : 5\n"
                                    "  ipoib, pkey 0x0001 : 6\n"
                                    "  ipoib : 7\n"
                                    "  any, service-id 0x6234 : 8\n"
                                    "  srp, target-port-guid 0x1234 : 9\n"
                                    "end-qos-ulps\n";

static void opensm_s_policy_is_read(void **state)
{
    struct qos qos = policy_of(opensm_policy);
    assert_int_equal(qos.warnings.count, 3);
    assert_false(qos.levels_first);
    uint64_t storage = qos_groups_of(&qos, &(struct qos_endpoint){.port_guid = 0x20});
    assert_int_equal(storage, 1);
    assert_int_equal(qos_groups_of(&qos, &(struct qos_endpoint){.description = "vs2 HCA-1"}), 1);
    assert_int_equal(qos_groups_of(&qos, &(struct qos_endpoint){.type = 2}), 2);
    const struct {
        struct qos_request request;
        uint8_t sl;
    } cases[] = {
        {{.has_p_key = true, .p_key = 0x8003}, 1},
        {{.has_class = true, .class = 8, .destination_groups = storage}, 4},
        {{.has_class = true, .class = 8, .source_groups = storage}, 1},
        {{.has_service = true, .service = 0x12710 /* port 10000 */}, 2},
        {{.has_service = true, .service = 0x10001}, 3},
        {{.has_service = true, .service = 0x10648CA}, 5},
        {{.has_p_key = true, .p_key = 0x8001}, 6},
        {{.has_p_key = true, .p_key = 0xFFFF}, 7},
        {{.has_service = true, .service = 0x6234}, 8},
        {{.target_guid = 0x1234}, 9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (sl_of(&qos, &cases[i].request) != cases[i].sl)
            fail_msg("case %zu has service level %u", i, sl_of(&qos, &cases[i].request));
    const struct qos_level *whole = &qos.levels.items[qos_find_level(&qos, "Whole")];
    assert_int_equal(whole->mtu, 4);
    assert_int_equal(whole->rate, 3);
    assert_int_equal(whole->life, 12);
    qos_release(&qos);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_match_applies),
        cmocka_unit_test(groups_are_by_guid_name_and_type),
        cmocka_unit_test(the_sl_of_a_partition_applies_if_no_rule_matches),
        cmocka_unit_test(every_level_has_its_own_vls_for_the_routes),
        cmocka_unit_test(maps_do_not_depend_on_the_vls_of_routes),
        cmocka_unit_test(levels_without_enough_vls_are_refused),
        cmocka_unit_test(high_priority_has_its_own_vl_on_a_link_with_few_vls),
        cmocka_unit_test(weights_keep_their_ratio_and_are_at_least_a_packet),
        cmocka_unit_test(limits_are_percentages_of_the_link),
        cmocka_unit_test(options_of_a_class_override_those_of_all_ports),
        cmocka_unit_test(bad_options_change_nothing),
        cmocka_unit_test(one_error_names_the_line_and_nothing_changes),
        cmocka_unit_test(levels_and_tables_exclude_each_other),
        cmocka_unit_test(opensm_s_policy_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
