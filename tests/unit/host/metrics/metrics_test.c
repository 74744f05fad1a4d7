/* The text of a scrape: escaping, bounded series, pieces, and agreement with weft-metrics(7). */
#include "base/file.h"
#include "base/time.h"
#include "host/metrics/format.h"
#include "host/metrics/manager_metrics.h"
#include "host/metrics/metrics_page.h"
#include "test.h"

#include <assert.h>
#include <errno.h>

static void hostile_names_are_escaped(void **state)
{
    static const struct {
        const char *name, *printed;
    } cases[] = {
        {"leaf 1", "x{n=\"leaf 1\"} 1\n"},
        {"a\"b\\c\nd", "x{n=\"a\\\"b\\\\c\\nd\"} 1\n"},
        {"<script>alert(1)</script>", "x{n=\"<script>alert(1)</script>\"} 1\n"},
        {"\xff\xc3(\xe2\x82", "x{n=\"\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\"} 1\n"},
        {"\xe2\x82\xac", "x{n=\"\xe2\x82\xac\"} 1\n"},
        {"\"} 1\nevil 2\n", "x{n=\"\\\"} 1\\nevil 2\\n\"} 1\n"},
        {"\\", "x{n=\"\\\\\"} 1\n"},
        {"", "x{n=\"\"} 1\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text out = {0};
        metric_begin(&out, "x");
        metric_label(&out, "n", cases[i].name);
        metric_end(&out, 1);
        assert_string_equal(out.data, cases[i].printed);
        text_release(&out);
    }
}

static void traps_make_a_bounded_number_of_series(void **state)
{
    static struct trap_counts counts;
    struct text out = {0};
    size_t lines = 0;
    (void)state;
    for (uint64_t guid = 1; guid <= 100000; guid++)
        trap_counts_add(&counts, guid, (uint8_t)(guid % 36), 128);
    trap_counts_add(&counts, 1, 1, 128);
    trap_counts_add(&counts, 200000, 0, 999);
    trap_counts_print(&counts, &out);
    for (const char *at = out.data; (at = strchr(at, '\n')); at++)
        lines++;
    assert_in_range(lines, TRAP_SERIES, TRAP_SERIES + TRAP_KINDS + 2);
    assert_non_null(strstr(out.data, "{guid=\"0x0000000000000001\",port=\"1\",trap=\"128\"} 2\n"));
    assert_non_null(strstr(out.data, "{guid=\"\",port=\"\",trap=\"128\"} 99744\n"));
    assert_non_null(strstr(out.data, "{guid=\"\",port=\"\",trap=\"other\"} 1\n"));
    text_release(&out);
}

static void durations_are_counted_by_bucket(void **state)
{
    struct duration_counts durations = {0};
    struct text out = {0};
    (void)state;
    duration_counts_add(&durations, 10 * NS_PER_US);
    duration_counts_add(&durations, 11 * NS_PER_US);
    duration_counts_add(&durations, 3 * NS_PER_S);
    duration_counts_print(&durations, "d_seconds", "Help.", &out);
    assert_non_null(strstr(out.data, "d_seconds_bucket{le=\"1e-05\"} 1\n"));
    assert_non_null(strstr(out.data, "d_seconds_bucket{le=\"2.5e-05\"} 2\n"));
    assert_non_null(strstr(out.data, "d_seconds_bucket{le=\"1\"} 2\n"));
    assert_non_null(strstr(out.data, "d_seconds_bucket{le=\"+Inf\"} 3\n"));
    assert_non_null(strstr(out.data, "d_seconds_sum 3.000021\nd_seconds_count 3\n"));
    text_release(&out);
}

/* A switch with two ports and an adapter. */
static struct port_metrics *make_ports(void)
{
    struct port_metrics *ports = port_metrics_new();
    vec_push(&ports->devices,
             ((struct metric_device){.guid = 0x10, .lid = 7, .is_switch = true, .name = "s\"1"}));
    vec_push(&ports->devices, ((struct metric_device){.guid = 0x20, .lid = 8, .name = "h"}));
    for (unsigned i = 0; i < 3; i++) {
        struct metric_port port = {.device = i / 2,
                                   .peer = i == 0 ? NO_METRIC_PORT : 3 - i,
                                   .number = (uint8_t)(i == 1 ? 2 : 1),
                                   .rate = i ? 12500000000u : 0,
                                   .known = i ? (UINT64_C(1) << COUNTER_COUNT) - 1 : 0};
        uint64_t *values = port_metrics_add_values(ports, &port);
        for (unsigned c = 0; c < COUNTER_COUNT; c++)
            values[c] = i == 1 ? UINT64_MAX - c : c;
        vec_push(&ports->ports, port);
    }
    ports->switches = ports->adapters = ports->links = 1;
    return ports;
}

static void print_manager(const void *summary, const struct port_metrics *ports, struct text *out)
{
    struct subnet_size size = {ports->switches, ports->adapters, ports->links};
    manager_metrics_print(summary, &size, out);
}

/* Reads what a scraper wants in pieces of `size` bytes. */
static void read_choice(const struct metrics_choice *choice, size_t size, struct text *out)
{
    struct manager_metrics *manager = mem_zalloc(1, sizeof *manager);
    manager->version = "1";
    char *buffer = malloc(size);
    struct metrics_page *page =
        metrics_page_new(choice, make_ports(), manager, print_manager, mem_free);
    for (size_t bytes; (bytes = metrics_page_generate(page, buffer, size));)
        text_append(out, buffer, bytes);
    metrics_page_free(page);
    free(buffer);
}

static void read_page(size_t size, struct text *out)
{
    read_choice(&(struct metrics_choice){0}, size, out);
}

/* Parameters, and the beginnings of the only names that are printed for them. */
static void a_scraper_gets_the_parts_that_it_wants(void **state)
{
    static const struct {
        const char *parameters[4]; /* names and values */
        const char *all, *has[2];  /* the beginning of all families; some of them */
    } cases[] = {
        {{"collect", "manager"}, "weft_", {"weft_build_info", "weft_subnet_links"}},
        {{"collect[]", "process", "collect[]", "manager"}, "", {"process_", "weft_subnet_links"}},
        {{"collect", "ports", "ports", "switches"},
         "infiniband_switch_",
         {"infiniband_switch_info"}},
        {{"collect", "adapters"},
         "infiniband_hca_",
         {"infiniband_hca_port_dli_mapping_errors_total"}},
        {{"names", "weft_subnet_*"}, "weft_subnet_", {"weft_subnet_links"}},
        {{"names", "infiniband_switch_info,weft_build_info"},
         "",
         {"infiniband_switch_info", "weft_build_info"}},
        {{"names", "nothing"}, "-", {NULL}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct metrics_choice choice = {0};
        struct text whole = {0}, out = {0};
        unsigned families = 0;
        for (unsigned p = 0; p < 4 && cases[i].parameters[p]; p += 2)
            assert_int_equal(metrics_choice_add(&choice, cases[i].parameters[p],
                                                cases[i].parameters[p + 1], NULL),
                             0);
        read_page(1 << 20, &whole);
        read_choice(&choice, 4096, &out);
        assert_true(out.length < whole.length);
        for (const char *at = out.data; at && (at = strstr(at, "# HELP ")); families++) {
            at += strlen("# HELP ");
            assert_int_equal(strncmp(at, cases[i].all, strlen(cases[i].all)), 0);
        }
        for (unsigned h = 0; h < 2 && cases[i].has[h]; h++)
            assert_true(out.data && strstr(out.data, cases[i].has[h]));
        assert_int_equal(families == 0, cases[i].has[0] == NULL);
        text_release(&whole);
        text_release(&out);
    }
}

static void wrong_parameters_of_a_scrape_are_refused(void **state)
{
    static const char *const wrong[][3] = {
        {"collect", "managers", "'managers' is not a part of the metrics: manager"},
        {"collect", "manager,,process", "'' is not a part"},
        {"ports", "manager", "'manager' is not a part of the metrics: switches or adapters"},
        {"name", "weft_*", "'name' is not a parameter of /metrics: collect, ports, names"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct metrics_choice choice = {0};
        struct err err = {0};
        assert_int_equal(metrics_choice_add(&choice, wrong[i][0], wrong[i][1], &err), -EINVAL);
        assert_non_null(strstr(err.message, wrong[i][2]));
    }
}

static void ports_are_printed_under_the_usual_names(void **state)
{
    struct text out = {0};
    (void)state;
    read_page(4096, &out);
    static const char *const lines[] = {
        "\ninfiniband_switch_info{guid=\"0x0000000000000010\",switch=\"s\\\"1\",lid=\"7\"} 1\n",
        "\ninfiniband_hca_info{guid=\"0x0000000000000020\",hca=\"h\",lid=\"8\"} 1\n",
        "\ninfiniband_switch_uplink_info{guid=\"0x0000000000000010\",port=\"2\",switch=\"s\\\"1\","
        "uplink=\"h\",uplink_guid=\"0x0000000000000020\",uplink_type=\"CA\",uplink_port=\"1\","
        "uplink_lid=\"8\"} 1\n",
        "\ninfiniband_hca_rate_bytes_per_second{guid=\"0x0000000000000020\"} 12500000000\n",
        "\ninfiniband_switch_port_transmit_data_bytes_total{guid=\"0x0000000000000010\",port=\"2\"}"
        " 18446744073709551615\n",
        "\ninfiniband_hca_port_dli_mapping_errors_total{guid=\"0x0000000000000020\",port=\"1\"} "
        "28\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(out.data, lines[i]))
            fail_msg("missing: %s", lines[i]);
    /* A port without counters and without a link has no sample. */
    assert_null(strstr(out.data, "guid=\"0x0000000000000010\",port=\"1\""));
    text_release(&out);
}

static void pieces_of_any_size_make_the_same_page(void **state)
{
    struct text whole = {0}, pieces = {0};
    (void)state;
    read_page(1 << 20, &whole);
    read_page(7, &pieces);
    const char *ports = strstr(whole.data, "# HELP infiniband");
    assert_string_equal(ports, strstr(pieces.data, "# HELP infiniband"));
    text_release(&whole);
    text_release(&pieces);
}

/* A header is printed once, wherever a block ends. */
static void blocks_of_any_size_make_the_same_page(void **state)
{
    struct port_metrics *ports = make_ports();
    struct text whole = {0}, blocks = {0}, block = {0};
    (void)state;
    port_metrics_print(ports, &(struct port_metrics_position){0}, &whole, 1 << 20);
    for (size_t enough = 1; enough < 1000; enough++) {
        struct port_metrics_position position = {0};
        text_clear(&blocks);
        for (bool more = true; more;) {
            text_clear(&block);
            more = port_metrics_print(ports, &position, &block, enough);
            text_append(&blocks, block.data, block.length);
        }
        assert_string_equal(whole.data, blocks.data);
    }
    text_release(&whole);
    text_release(&blocks);
    text_release(&block);
    port_metrics_release(ports);
}

/* The suffix of a port counter, or the whole name. */
static const char *listed_name(const char *name, char room[128])
{
    static const char *const prefixes[] = {"infiniband_switch_port_", "infiniband_hca_port_"};
    strcpy(room, name);
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(prefixes[i]);
        char *total = strstr(room, "_total");
        if (strncmp(name, prefixes[i], length) == 0 && total) {
            *total = 0;
            return room + length;
        }
    }
    return room;
}

static bool has_word(const char *text, const char *word)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++)
        if ((at == text || !strchr(letters, at[-1])) && !strchr(letters, at[length]))
            return true;
    return false;
}

static void the_manual_lists_all_metrics(void **state)
{
    struct text page = {0}, manual = {0};
    char name[128], room[128];
    (void)state;
    read_page(4096, &page);
    assert_int_equal(file_read(MANUAL, 1 << 20, &manual, NULL), 0);
    assert(page.data && manual.data);
    for (const char *at = page.data; (at = strstr(at, "# TYPE ")); at++) {
        assert_int_equal(sscanf(at, "# TYPE %127s", name), 1);
        if (!has_word(manual.data, listed_name(name, room)))
            fail_msg("weft-metrics(7) does not list %s", name);
    }
    for (const char *at = manual.data; (at = strstr(at, "\nweft_")); at++) {
        assert_int_equal(sscanf(at + 1, "%127[a-z_]", name), 1);
        if (strncmp(name, "weft_fabric_", 12) != 0 && !has_word(page.data, name))
            fail_msg("there is no metric %s", name);
    }
    text_release(&page);
    text_release(&manual);
}

/* "increase(infiniband_KIND_port_NAME_total[5m])" for each link error of counters.def, no other. */
static void the_recording_rules_sum_the_errors_of_a_link(void **state)
{
    static const char *const kinds[] = {"switch", "hca"};
    struct text rules = {0};
    (void)state;
    assert_int_equal(file_read(RULES, 1 << 20, &rules, NULL), 0);
    for (unsigned k = 0; k < 2; k++) {
        char record[100], name[200];
        unsigned terms = 0;
        snprintf(record, sizeof record, "guid_port:infiniband_%s_port_link_errors:", kinds[k]);
        char *rule = strstr(rules.data, record), *end = rule ? strstr(rule, "- record:") : NULL;
        char *text = end ? strndup(rule, (size_t)(end - rule)) : NULL;
        assert_non_null(text);
        for (unsigned i = 0; i < COUNTER_COUNT; i++) {
            const struct port_counter_info *info = &port_counter_infos[i];
            snprintf(name, sizeof name, "increase(infiniband_%s_port_%s_total[5m])", kinds[k],
                     info->metric);
            if ((text && strstr(text, name)) != (info->kind == COUNTER_KIND_LINK_ERROR))
                fail_msg("%s of the rules: %s", record, info->metric);
            terms += info->kind == COUNTER_KIND_LINK_ERROR;
        }
        for (char *at = text; (at = strstr(at, "increase(")); at++)
            terms--;
        assert_int_equal(terms, 0);
        free(text);
    }
    text_release(&rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_names_are_escaped),
        cmocka_unit_test(traps_make_a_bounded_number_of_series),
        cmocka_unit_test(durations_are_counted_by_bucket),
        cmocka_unit_test(a_scraper_gets_the_parts_that_it_wants),
        cmocka_unit_test(wrong_parameters_of_a_scrape_are_refused),
        cmocka_unit_test(ports_are_printed_under_the_usual_names),
        cmocka_unit_test(pieces_of_any_size_make_the_same_page),
        cmocka_unit_test(blocks_of_any_size_make_the_same_page),
        cmocka_unit_test(the_manual_lists_all_metrics),
        cmocka_unit_test(the_recording_rules_sum_the_errors_of_a_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
