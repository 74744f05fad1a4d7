/* The manager's configuration: every key is checked, errors name the line, a reload keeps fixed
 * keys. */
#include "fixture.h"

#include "base/time.h"

#include <errno.h>

static void lines_set_keys(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "# a remark\n"
                                  "engine fera # and another\n"
                                  "\tpriority\t 7  \r\n"
                                  "\n"
                                  "sweep 1.5s\n"
                                  "m_key 0x10\n"
                                  "root 0x10,0x20 0x30\n"
                                  "guid 0002c90300001234\n"
                                  "dump /var/dump dir\n"
                                  "json yes"),
                     0);
    assert_int_equal(config_finish(&f->config, &f->err), 0);
    assert_ptr_equal(f->config.sm.engine, &engine_fera);
    assert_int_equal(f->config.sm.priority, 7);
    assert_true(f->config.sm.sweep_ns == 1500 * NS_PER_MS);
    assert_true(f->config.sm.m_key == 16);
    assert_int_equal(f->config.sm.engine_options.root, ROOT_LIST);
    assert_int_equal(f->config.sm.engine_options.root_count, 3);
    assert_true(f->config.sm.engine_options.root_guids[2] == 0x30);
    assert_true(f->config.port.guid == 0x0002c90300001234);
    assert_string_equal(f->config.dump, "/var/dump dir");
    assert_true(f->config.log.json);
}

static void an_error_names_file_and_line(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
        const char *part;
    } wrong[] = {
        {"engine updn\npriority 16\n", 2, "priority: '16': expected a number from 0 to 15"},
        {"priority -1\n", 1, "expected a number"},
        {"priority\n", 1, "'priority' has no value"},
        {"\n\nsweeep 1s\n", 3, "there is no key 'sweeep'; did you mean 'sweep'?"},
        {"colour red\n", 1, "there is no key 'colour'; weft-sm.conf(5) has them all"},
        {"routing_engine fastest\n", 1, "there is no engine 'fastest'"},
        {"sm_priority 16\n", 1, "priority: '16': expected a number from 0 to 15"},
        {"sweep_interval soon\n", 1, "sweep_interval: 'soon': expected a number"},
        {"force_heavy_sweep 2\n", 1, "force_heavy_sweep: '2': expected TRUE or FALSE"},
        {"sweep soon\n", 1, "expected a time"},
        {"sweep 0s\n", 1, "expected a time"},
        {"sweep 1ns\n", 1, "sweep: '1ns': expected at least 10ms: a sweep queries every switch"},
        {"poll 1us\n", 1, "poll: '1us': expected at least 1ms: "},
        {"timeout 1ns\n", 1, "timeout: '1ns': expected at least 100us: "},
        {"drain 1ns\n", 1, "drain: '1ns': expected at least 1us: "},
        {"engine fastest\n", 1, "expected one of"},
        {"engine ftree,updm\n", 1, "did you mean 'updn'? (expected one of fera, "},
        {"engine ftree,\n", 1, "there is no engine ''"},
        {"engine ftree,dr\n", 1, "dr cannot be one of several: it gives ports several LIDs"},
        {"engine pira+fera,updn\n", 1, "pira+fera cannot be one of several: it is a pair"},
        {"json maybe\n", 1, "expected yes or no"},
        {"root middle\n", 1, "expected one of default, manager, centre, detect"},
        {"root 0x1 zzz\n", 1, "expected a GUID"},
        {"root ,\n", 1, "expected one of default, manager, centre, detect"},
        {"guid zero\n", 1, "expected a GUID"},
        {"m_key 0x10000000000000000\n", 1, "expected a 64-bit number"},
        {"order sideways\n", 1, "expected one of propagation, breadth, depth"},
        {"max_vls 16\n", 1, "max_vls: '16': expected a number from 1 to 15"},
        {"scatter many\n", 1, "scatter: 'many': expected a number"},
        {"root_file /dev/null\n", 1, "root_file: '/dev/null' names no switch"},
        {"subnet_prefix fe80::1\n", 1, "'fe80::1': expected a 64-bit number such as 0xfe80"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        f->err = (struct err){0};
        f->config.strict = true;
        assert_int_equal(read_text(f, wrong[i].text), -EINVAL);
        assert_string_equal(f->err.file, f->path);
        assert_int_equal(f->err.line, wrong[i].line);
        if (!strstr(f->err.message, wrong[i].part))
            fail_msg("'%s' is not in '%s'", wrong[i].part, f->err.message);
    }
}

static void an_error_in_a_file_of_user_routes_names_that_file(void **state)
{
    struct fixture *f = *state;
    char routes[64], text[128];
    make_path(routes);
    write_file(routes, "0x10 1 1\nnonsense\n");
    snprintf(text, sizeof text, "user_routes %s\n", routes);
    assert_int_equal(read_text(f, text), -EINVAL);
    assert_string_equal(f->err.file, routes);
    assert_int_equal(f->err.line, 2);
    unlink(routes);
}

static void an_error_about_a_file_names_its_key(void **state)
{
    static const char *const keys[] = {"user_routes", "partitions", "qos_policy",
                                       "root_file",   "first",      "weights"};
    struct fixture *f = *state;
    char other[64], text[128], who[256];
    make_path(other);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        write_file(other, "\nthis is nothing;\n");
        snprintf(text, sizeof text, "priority 1\n%s %s\n", keys[i], other);
        assert_int_equal(read_text(f, text), -EINVAL);
        assert_string_equal(f->err.file, other);
        assert_int_equal(f->err.line, 2);
        snprintf(who, sizeof who, "('%s' in %s:2 names this file)", keys[i], f->path);
        assert_non_null(strstr(f->err.message, who));
        assert_int_equal(config_set(&f->config, keys[i], other, &f->err), -EINVAL);
        snprintf(who, sizeof who, "('%s' names this file)", keys[i]);
        assert_non_null(strstr(f->err.message, who));
        unlink(other);
        if (strcmp(keys[i], "qos_policy") == 0)
            continue; /* it is an error only if QoS is on: see below */
        assert_int_equal(read_text(f, text), -ENOENT);
        assert_string_equal(f->err.file, f->path);
        assert_int_equal(f->err.line, 2);
        snprintf(who, sizeof who, "%s: %s: No such file", keys[i], other);
        assert_non_null(strstr(f->err.message, who));
    }
}

static void a_missing_policy_is_an_error_only_if_qos_is_on(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "qos_policy /nowhere/policy\nqos FALSE\n"), 0);
    assert_int_equal(config_finish(&f->config, &f->err), 0);
    assert_null(f->config.sm.qos);
    assert_int_equal(read_text(f, "\nqos_policy /nowhere/policy\nqos TRUE\n"), 0);
    assert_int_equal(config_finish(&f->config, &f->err), -ENOENT);
    assert_string_equal(f->err.file, f->path);
    assert_int_equal(f->err.line, 2);
    assert_non_null(strstr(f->err.message, "qos_policy: /nowhere/policy: No such file"));
    assert_int_equal(config_set(&f->config, "qos_policy", "none", &f->err), 0);
    assert_int_equal(config_finish(&f->config, &f->err), 0);
}

static void hints_about_the_fabric_are_passed_to_the_engine(void **state)
{
    struct fixture *f = *state;
    const struct engine_options *options = &f->config.sm.engine_options;
    char roots[64], first[64], weights[64], text[512];
    make_path(roots);
    make_path(first);
    make_path(weights);
    write_file(roots, "# the spines\n0x10\n0x20 # this one, too\n");
    write_file(first, "0x30\n");
    write_file(weights, "0x10 3 7\n");
    snprintf(text, sizeof text, "root_file %s\nfirst %s\nweights %s\nscatter 0x9\nmax_vls 4\n",
             roots, first, weights);
    assert_int_equal(read_text(f, text), 0);
    unlink(roots);
    unlink(first);
    unlink(weights);
    assert_int_equal(config_finish(&f->config, &f->err), 0);
    assert_int_equal(options->root, ROOT_LIST);
    assert_int_equal(options->root_count, 2);
    assert_true(options->root_guids[1] == 0x20);
    assert_int_equal(options->first->items.count, 1);
    assert_true(options->first->items.items[0] == 0x30);
    assert_int_equal(options->weights->items.count, 1);
    assert_int_equal(options->weights->items.items[0].weight, 7);
    assert_true(options->scatter == 9);
    assert_int_equal(options->max_vls, 4);
    assert_int_equal(config_set(&f->config, "root", "detect", &f->err), 0);
    assert_int_equal(config_finish(&f->config, &f->err), -EINVAL);
    assert_non_null(strstr(f->err.message, "root and root_file"));
    assert_int_equal(config_set(&f->config, "root_file", "none", &f->err), 0);
    assert_int_equal(config_set(&f->config, "first", "none", &f->err), 0);
    assert_int_equal(config_set(&f->config, "weights", "none", &f->err), 0);
    assert_int_equal(config_finish(&f->config, &f->err), 0);
    assert_int_equal(options->root, ROOT_DETECT);
    assert_null(options->first);
    assert_null(options->weights);
}

static void partitions_are_read_from_their_file(void **state)
{
    struct fixture *f = *state;
    char partitions[64], text[256];
    assert_int_equal(f->config.sm.part_enforce, SM_ENFORCE_BOTH);
    make_path(partitions);
    write_file(partitions, "Default=0x7fff: ALL=full;\nRed=1: 5=both;\n");
    snprintf(text, sizeof text, "partitions %s\npart_enforce out\nallow_both_pkeys yes\n",
             partitions);
    assert_int_equal(read_text(f, text), 0);
    assert_int_equal(config_finish(&f->config, &f->err), 0);
    assert_non_null(f->config.sm.partitions);
    assert_int_equal(f->config.sm.partitions->all.count, 2);
    assert_true(f->config.sm.partitions->allow_both);
    assert_int_equal(f->config.sm.part_enforce, SM_ENFORCE_OUT);
    write_file(partitions, "Default=0x7fff: ALL=full;\nRed=1: everybody;\n");
    assert_int_equal(read_text(f, text), -EINVAL);
    assert_string_equal(f->err.file, partitions);
    assert_int_equal(f->err.line, 2);
    struct text lines = {0}; /* of --check-config */
    char place[80];
    config_print_lines(&f->config, false, &lines);
    snprintf(place, sizeof place, ": error: %s:2: ", partitions);
    assert_non_null(strstr(lines.data, place));
    text_release(&lines);
    assert_int_equal(config_set(&f->config, "part_enforce", "maybe", &f->err), -EINVAL);
    assert_int_equal(config_set(&f->config, "partitions", "none", &f->err), 0);
    assert_int_equal(config_finish(&f->config, &f->err), 0);
    assert_null(f->config.sm.partitions);
    unlink(partitions);
}

static void a_missing_file_is_an_error(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(config_read(&f->config, "/nowhere/at/all", &f->err), -ENOENT);
}

static void renaming_engines_get_several_lids_per_port(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(config_set(&f->config, "engine", "dr", &f->err), 0);
    assert_int_equal(config_finish(&f->config, &f->err), 0);
    assert_int_equal(f->config.sm.lmc, 2);
    assert_int_equal(config_set(&f->config, "lmc", "0", &f->err), 0);
    assert_int_equal(config_finish(&f->config, &f->err), -EINVAL);
    assert_int_equal(config_set(&f->config, "lmc", "3", &f->err), 0);
    assert_int_equal(config_finish(&f->config, &f->err), 0);
}

static void a_list_of_engines_is_kept_in_order(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(config_set(&f->config, "engine", "ftree,dor,updn", &f->err), 0);
    assert_ptr_equal(f->config.sm.engine, &engine_ftree);
    assert_int_equal(f->config.sm.others.count, 2);
    assert_ptr_equal(f->config.sm.others.items[0], &engine_dor);
    assert_ptr_equal(f->config.sm.others.items[1], &engine_updn);
    assert_int_equal(config_set(&f->config, "engine", "nue", &f->err), 0);
    assert_int_equal(f->config.sm.others.count, 0);
}

static void a_reload_reports_changes_and_keeps_fixed_keys(void **state)
{
    struct fixture *f = *state;
    struct config fresh;
    struct told told = {0};
    assert_int_equal(read_text(f, "lmc 1\nca mlx5_0\nsweep 5s\nm_key 7\nstate /var/a\n"), 0);
    config_init(&fresh);
    assert_int_equal(config_set(&fresh, "sweep", "5s", &f->err), 0);
    assert_int_equal(config_set(&fresh, "lmc", "2", &f->err), 0);
    assert_int_equal(config_set(&fresh, "engine", "fera", &f->err), 0);
    config_compare(&f->config, &fresh, note, &told);
    assert_int_equal(told.live, 1);
    assert_int_equal(told.fixed, 4); /* lmc, ca, m_key, state */
    assert_string_equal(told.last, "engine updn fera");
    config_keep_fixed(&f->config, &fresh);
    assert_int_equal(fresh.sm.lmc, 1);
    assert_true(fresh.sm.m_key == 7);
    assert_string_equal(fresh.port.ca, "mlx5_0");
    assert_string_equal(fresh.state, "/var/a");
    assert_ptr_equal(fresh.sm.engine, &engine_fera);
    told = (struct told){0};
    config_compare(&f->config, &fresh, note, &told);
    assert_int_equal(told.fixed, 0);
    config_release(&fresh);
}

static void a_reload_keeps_the_keys_that_the_manual_names(void **state)
{
    struct fixture *f = *state;
    struct config fresh;
    assert_int_equal(read_text(f, "subnet_prefix 0xfec0000000000001\nvswitch_lids dynamic\n"), 0);
    config_init(&fresh);
    config_keep_fixed(&f->config, &fresh);
    assert_true(fresh.sm.subnet_prefix == 0xfec0000000000001);
    assert_true(fresh.sm.dynamic_lids);
    config_release(&fresh);
}

static void a_reload_refuses_an_engine_that_needs_a_larger_lmc(void **state)
{
    struct fixture *f = *state;
    struct config fresh;
    config_init(&fresh);
    assert_int_equal(config_set(&fresh, "engine", "dr", &f->err), 0);
    assert_int_equal(config_finish(&fresh, &f->err), 0);
    config_keep_fixed(&f->config, &fresh);
    assert_int_equal(config_finish(&fresh, &f->err), -EINVAL);
    config_release(&fresh);
}

static void read_manual(struct text *page)
{
    FILE *file = fopen(MANUAL, "r");
    *page = (struct text){0};
    assert_non_null(file);
    assert_int_equal(text_read(page, file, 1 << 20), 0);
    fclose(file);
}

/* The place of a key, alone or in a list; NULL: none. */
static const char *in_manual(const struct text *page, const char *key)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\n.BR %s \"", key);
    const char *found = strstr(page->data, pattern);
    snprintf(pattern, sizeof pattern, ", \" %s \" ", key);
    return found ? found + 1 : strstr(page->data, pattern);
}

static void every_key_is_in_the_manual(void **state)
{
    struct text page;
    (void)state;
    read_manual(&page);
    for (size_t i = 0; config_key(i); i++)
        if (!in_manual(&page, config_key(i)))
            fail_msg("'%s' is not in weft-sm.conf(5)", config_key(i));
    text_release(&page);
}

static void the_manual_names_keys_that_take_a_restart(void **state)
{
    struct fixture *f = *state;
    struct config fresh;
    struct text page;
    read_manual(&page);
    config_init(&fresh);
    for (size_t i = 0; config_key(i); i++) {
        struct told told = {0};
        fresh.values[i] = "something else";
        config_compare(&f->config, &fresh, note, &told);
        fresh.values[i] = NULL;
        const char *line = in_manual(&page, config_key(i));
        const char *mark = strstr(line, "(restart)");
        if ((mark && mark < strchr(line, '\n')) != (told.fixed == 1))
            fail_msg("'%s': whether it takes a restart", config_key(i));
    }
    config_release(&fresh);
    text_release(&page);
}

/* The block of lines is the output of `weft sm --list-opensm-keys`, indented. */
static void the_manual_has_the_keys_of_opensm(void **state)
{
    struct text page, keys = {0};
    (void)state;
    read_manual(&page);
    config_print_opensm_keys(&keys);
    char *line = strstr(page.data, "\n.SH COMING FROM OPENSM\n");
    assert_non_null(line);
    line = strstr(line, "\n.nf\n") + strlen("\n.nf\n");
    for (char *key = keys.data; *key; key += strcspn(key, "\n") + 1) {
        size_t length = strcspn(key, "\n");
        if (strncmp(line, "  ", 2) != 0 || strncmp(line + 2, key, length + 1) != 0)
            fail_msg("weft-sm.conf(5) lacks '%.*s': copy the output of --list-opensm-keys",
                     (int)length, key);
        line = strchr(line, '\n') + 1;
    }
    assert_true(strncmp(line, ".fi\n", 4) == 0);
    text_release(&keys);
    text_release(&page);
}

static void a_printed_configuration_is_the_same_when_read(void **state)
{
    struct fixture *f = *state;
    struct config again;
    struct text out = {0};
    struct told told = {0};
    assert_int_equal(read_text(f, "sm_priority 9\nrouting_engine ftree\nm_key 0x17\nlmc 1\n"
                                  "sweep_interval 0\nqos_ca_max_vls 4\nallowed_sm_guids (null)\n"),
                     0);
    assert_int_equal(config_finish(&f->config, &f->err), 0);
    config_print(&f->config, &out);
    write_file(f->path, out.data);
    config_init(&again);
    assert_int_equal(config_read(&again, f->path, &f->err), 0);
    assert_int_equal(config_finish(&again, &f->err), 0);
    config_compare(&f->config, &again, note, &told);
    assert_int_equal(told.live + told.fixed, 0);
    assert_int_equal(again.sm.priority, 9);
    assert_true(again.sm.sweep_ns == TIME_NEVER);
    text_release(&out);
    config_release(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONFIG_TEST(lines_set_keys),
        CONFIG_TEST(an_error_names_file_and_line),
        CONFIG_TEST(partitions_are_read_from_their_file),
        CONFIG_TEST(an_error_in_a_file_of_user_routes_names_that_file),
        CONFIG_TEST(an_error_about_a_file_names_its_key),
        CONFIG_TEST(a_missing_policy_is_an_error_only_if_qos_is_on),
        CONFIG_TEST(hints_about_the_fabric_are_passed_to_the_engine),
        CONFIG_TEST(a_reload_keeps_the_keys_that_the_manual_names),
        CONFIG_TEST(a_missing_file_is_an_error),
        CONFIG_TEST(renaming_engines_get_several_lids_per_port),
        CONFIG_TEST(a_list_of_engines_is_kept_in_order),
        CONFIG_TEST(a_reload_reports_changes_and_keeps_fixed_keys),
        CONFIG_TEST(a_reload_refuses_an_engine_that_needs_a_larger_lmc),
        cmocka_unit_test(every_key_is_in_the_manual),
        CONFIG_TEST(the_manual_names_keys_that_take_a_restart),
        cmocka_unit_test(the_manual_has_the_keys_of_opensm),
        CONFIG_TEST(a_printed_configuration_is_the_same_when_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
