/* The manager's configuration: every key is checked, errors name the line, a reload keeps fixed
 * keys. */
#include "host/manager/config.h"
#include "test.h"

#include "base/time.h"

#include <errno.h>

struct fixture {
    struct config config;
    struct err err;
    char path[64];
};

static int make(void **state)
{
    struct fixture *fixture = mem_zalloc(1, sizeof *fixture);
    config_init(&fixture->config);
    make_path(fixture->path);
    *state = fixture;
    return 0;
}

static int end(void **state)
{
    struct fixture *fixture = *state;
    config_release(&fixture->config);
    unlink(fixture->path);
    mem_free(fixture);
    return 0;
}

static int read_text(struct fixture *fixture, const char *text)
{
    write_file(fixture->path, text);
    return config_read(&fixture->config, fixture->path, &fixture->err);
}

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
    assert_true(f->config.json);
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
        {"routing_engine updn\n", 1, "OpenSM's 'routing_engine' is 'engine' here"},
        {"root_guid_file roots\n", 1, "OpenSM's 'root_guid_file' is 'root_file' here"},
        {"max_op_vls 5\n", 1, "OpenSM's 'max_op_vls' is not supported: remove it"},
        {"sweep soon\n", 1, "expected a time"},
        {"sweep 0s\n", 1, "expected a time"},
        {"sweep 1ns\n", 1, "sweep: '1ns': expected at least 10ms: a sweep queries every switch"},
        {"poll 1us\n", 1, "poll: '1us': expected at least 1ms: "},
        {"timeout 1ns\n", 1, "timeout: '1ns': expected at least 100us: "},
        {"drain 1ns\n", 1, "drain: '1ns': expected at least 1us: "},
        {"engine fastest\n", 1, "expected one of"},
        {"engine ftree,updm\n", 1, "did you mean 'updn'?: expected one of fera, "},
        {"engine ftree,\n", 1, "there is no engine ''"},
        {"engine ftree,dr\n", 1, "dr cannot be one of several: it gives ports several LIDs"},
        {"engine pira+fera,updn\n", 1, "pira+fera cannot be one of several: it is a pair"},
        {"json maybe\n", 1, "expected yes or no"},
        {"root middle\n", 1, "expected one of default, manager, centre, detect"},
        {"root 0x1 zzz\n", 1, "expected a GUID"},
        {"root ,\n", 1, "expected one of default, manager, centre, detect"},
        {"guid 0\n", 1, "expected a GUID"},
        {"m_key 0x10000000000000000\n", 1, "expected a 64-bit number"},
        {"order sideways\n", 1, "expected one of propagation, breadth, depth"},
        {"max_vls 16\n", 1, "max_vls: '16': expected a number from 1 to 15"},
        {"scatter many\n", 1, "scatter: 'many': expected a number"},
        {"root_file /dev/null\n", 1, "root_file: '/dev/null' names no switch"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        f->err = (struct err){0};
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
    assert_int_equal(read_text(f, "qos_policy_file /nowhere/policy\nqos FALSE\n"), 0);
    assert_int_equal(config_finish(&f->config, &f->err), 0);
    assert_null(f->config.sm.qos);
    assert_int_equal(read_text(f, "\nqos_policy_file /nowhere/policy\nqos TRUE\n"), 0);
    assert_int_equal(config_finish(&f->config, &f->err), -ENOENT);
    assert_string_equal(f->err.file, f->path);
    assert_int_equal(f->err.line, 2);
    assert_non_null(strstr(f->err.message, "qos_policy_file: /nowhere/policy: No such file"));
    assert_int_equal(config_set(&f->config, "qos_policy", "none", &f->err), 0);
    assert_int_equal(config_finish(&f->config, &f->err), 0);
}

static void flags_can_have_the_values_of_opensm(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "json TRUE\nhold False\nrepair no\nreversible Yes\n"), 0);
    assert_true(f->config.json);
    assert_false(f->config.sm.hold);
    assert_false(f->config.sm.repair);
    assert_true(f->config.sm.engine_options.reversible);
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

struct told {
    unsigned live, fixed;
    char last[64];
};

static void note(void *context, const char *key, const char *from, const char *to, bool live)
{
    struct told *told = context;
    (*(live ? &told->live : &told->fixed))++;
    snprintf(told->last, sizeof told->last, "%s %s %s", key, from, to);
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

static void the_manual_has_the_names_of_opensm(void **state)
{
    struct fixture *f = *state;
    struct text page;
    char theirs[64], ours[64], part[160];
    unsigned seen = 0;
    read_manual(&page);
    char *line = strstr(page.data, "\n.SH COMING FROM OPENSM\n");
    assert_non_null(line);
    line = strstr(line, "\n.nf\n") + strlen("\n.nf\n");
    for (; line[0] == ' '; line = strchr(line, '\n') + 1, seen++) {
        assert_int_equal(sscanf(line, " %63s %63s", theirs, ours), 2);
        assert_int_equal(config_set(&f->config, theirs, "1", &f->err), -EINVAL);
        snprintf(part, sizeof part, "OpenSM's '%s' is '%s' here", theirs, ours);
        if (!strstr(f->err.message, part))
            fail_msg("'%s' is not in '%s'", part, f->err.message);
        assert_non_null(in_manual(&page, ours));
    }
    assert_true(seen > 20);
    text_release(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_set_keys, make, end),
        cmocka_unit_test_setup_teardown(an_error_names_file_and_line, make, end),
        cmocka_unit_test_setup_teardown(partitions_are_read_from_their_file, make, end),
        cmocka_unit_test_setup_teardown(an_error_in_a_file_of_user_routes_names_that_file, make,
                                        end),
        cmocka_unit_test_setup_teardown(an_error_about_a_file_names_its_key, make, end),
        cmocka_unit_test_setup_teardown(a_missing_policy_is_an_error_only_if_qos_is_on, make, end),
        cmocka_unit_test_setup_teardown(flags_can_have_the_values_of_opensm, make, end),
        cmocka_unit_test_setup_teardown(hints_about_the_fabric_are_passed_to_the_engine, make, end),
        cmocka_unit_test_setup_teardown(a_reload_keeps_the_keys_that_the_manual_names, make, end),
        cmocka_unit_test_setup_teardown(a_missing_file_is_an_error, make, end),
        cmocka_unit_test_setup_teardown(renaming_engines_get_several_lids_per_port, make, end),
        cmocka_unit_test_setup_teardown(a_list_of_engines_is_kept_in_order, make, end),
        cmocka_unit_test_setup_teardown(a_reload_reports_changes_and_keeps_fixed_keys, make, end),
        cmocka_unit_test_setup_teardown(a_reload_refuses_an_engine_that_needs_a_larger_lmc, make,
                                        end),
        cmocka_unit_test(every_key_is_in_the_manual),
        cmocka_unit_test_setup_teardown(the_manual_names_keys_that_take_a_restart, make, end),
        cmocka_unit_test_setup_teardown(the_manual_has_the_names_of_opensm, make, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
