/* Configurations of OpenSM: which keys have an effect, what stands for the others, and what the
 * record of each line says. */
#include "fixture.h"

#include "base/time.h"

#include <errno.h>

static void flags_can_have_the_values_of_opensm(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "json TRUE\nhold False\nrepair no\nreversible Yes\n"), 0);
    assert_true(f->config.log.json);
    assert_false(f->config.sm.quiesce);
    assert_false(f->config.sm.repair);
    assert_true(f->config.sm.engine_options.reversible);
}

static void log_flags_of_opensm_are_levels_of_parts(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *flags, *levels;
    } cases[] = {
        {"log_flags 0x01\n", "error"},
        {"log_flags 0x03\n", "info"},
        {"log_flags 0x43\n", "info,routing:debug,distribution:debug"},
        {"log_flags 0xff\n", "debug"},
        {"log_level sa:debug\n", "info,sa:debug"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text text = {0};
        assert_int_equal(read_text(f, cases[i].flags), 0);
        log_levels_print(&f->config.log.levels, &text);
        assert_string_equal(text.data, cases[i].levels);
        assert_int_equal(f->config.sm.debug, log_levels_debug_mask(&f->config.log.levels));
        text_release(&text);
    }
}

static void unknown_keys_and_engines_of_a_file_are_warnings(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "standalone FALSE\nrouting_engine fastest,ftree\npriority 5\n"),
                     0);
    assert_int_equal(f->config.lines.items[0].effect, CONFIG_UNKNOWN);
    assert_int_equal(f->config.lines.items[1].effect, CONFIG_PARTLY);
    assert_string_equal(f->config.lines.items[1].text,
                        "sets engine ftree,updn; weft has no engine 'fastest'");
    assert_string_equal(f->config.sm.engine->name, "ftree");
    assert_int_equal(f->config.sm.priority, 5);
}

static void all_errors_of_a_file_are_reported(void **state)
{
    struct fixture *f = *state;
    f->config.strict = true;
    assert_int_equal(read_text(f, "colour red\npriority 5\npriority 16\nsm_priority x\n"), -EINVAL);
    assert_int_equal(f->config.errors.count, 3);
    assert_int_equal(f->config.errors.items[0].line, 1);
    assert_int_equal(f->config.errors.items[1].line, 3);
    assert_int_equal(f->config.errors.items[2].line, 4);
    assert_int_equal(f->err.line, 4);
    assert_int_equal(f->config.sm.priority, 5);
}

static const struct config_line *line_of(const struct config *config, unsigned number)
{
    for (size_t i = 0; i < config->lines.count; i++)
        if (config->lines.items[i].line == number)
            return &config->lines.items[i];
    fail_msg("line %u was not recorded", number);
    return NULL;
}

static void keys_of_opensm_set_those_of_weft(void **state)
{
    struct fixture *f = *state;
    const struct sm_config *sm = &f->config.sm;
    assert_int_equal(read_text(f, "sm_priority 0x0e\n"
                                  "sweep_interval 3\n"
                                  "transaction_timeout 500\n"
                                  "routing_engine \"ftree, ar_updn\"\n"
                                  "max_wire_smps 256\n"
                                  "no_partition_enforcement TRUE\n"
                                  "polling_retry_number 7\n"
                                  "packet_life_time 0x14\n"
                                  "force_heavy_sweep FALSE\n"
                                  "root_guid_file\n"
                                  "cn_guid_file /nowhere/at/all\n"
                                  "virt_enabled 2\n"
                                  "daemon TRUE\n"
                                  "console off\n"),
                     0);
    assert_int_equal(config_finish(&f->config, &f->err), 0);
    assert_int_equal(sm->priority, 14);
    assert_true(sm->sweep_ns == 3 * NS_PER_S && sm->timeout_ns == 500 * NS_PER_MS);
    assert_ptr_equal(sm->engine, &engine_ftree);
    assert_int_equal(sm->others.count, 1);
    assert_ptr_equal(sm->others.items[0], &engine_updn);
    assert_int_equal(sm->window, 256);
    assert_int_equal(sm->part_enforce, SM_ENFORCE_NOT);
    assert_true(sm->poll_ns == 10 * NS_PER_S && sm->poll_retries == 7);
    assert_int_equal(sm->life_time, 18);
    assert_string_equal(line_of(&f->config, 1)->text, "sets priority 0x0e");
    assert_int_equal(line_of(&f->config, 4)->effect, CONFIG_PARTLY);
    assert_int_equal(line_of(&f->config, 9)->effect, CONFIG_DEFAULT);
    assert_int_equal(line_of(&f->config, 10)->effect, CONFIG_DEFAULT);
    assert_int_equal(line_of(&f->config, 11)->effect, CONFIG_PARTLY);
    assert_int_equal(line_of(&f->config, 12)->effect, CONFIG_NO_EFFECT);
    assert_false(line_of(&f->config, 13)->standard);
    assert_true(line_of(&f->config, 14)->standard);
}

static void a_line_has_no_effect_if_a_later_one_sets_the_same_key(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "lmc 1\nallowed_sm_guids 0x1\nsm_priority 3\nlmc 2\n"
                                  "ignore_other_sm TRUE\npriority 4\nlog_file stdout\n"
                                  "sweep 3s\nignore_other_sm FALSE\n"),
                     0);
    for (unsigned i = 1; i <= 9; i++)
        assert_int_equal(line_of(&f->config, i)->effect, i <= 3   ? CONFIG_NO_EFFECT
                                                         : i == 9 ? CONFIG_DEFAULT
                                                                  : CONFIG_IN_FORCE);
    assert_non_null(strstr(line_of(&f->config, 1)->text, ":4 sets 'lmc' again"));
    assert_non_null(strstr(line_of(&f->config, 2)->text, ":5 sets 'allowed_sm_guids' again"));
    assert_non_null(strstr(line_of(&f->config, 3)->text, ":6 sets 'priority' again"));
    assert_int_equal(f->config.sm.lmc, 2);
    assert_int_equal(config_set(&f->config, "lmc", "3", &f->err), 0); /* an option is not a line */
    assert_int_equal(line_of(&f->config, 4)->effect, CONFIG_IN_FORCE);
}

static void the_log_file_of_opensm_can_be_standard_output(void **state)
{
    static const char *const names[] = {"stdout", "-"};
    struct fixture *f = *state;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(config_set(&f->config, "log_file", "/var/log/x", &f->err), 0);
        assert_int_equal(config_set(&f->config, "log_file", names[i], &f->err), 0);
        assert_null(f->config.log.path);
    }
    assert_int_equal(config_set(&f->config, "log_file", "stderr", &f->err), 0);
    assert_string_equal(f->config.log.path, "/dev/stderr");
}

static void skipped_lines_of_a_plan_are_reported(void **state)
{
    struct fixture *f = *state;
    char plan[64], text[256];
    make_path(plan);
    write_file(plan, "ibwarn: [71] mad_rpc: time-out\n"
                     "switchguid=0x1(1)\n"
                     "Switch\t2 \"S-0000000000000001\"\t\t# \"one\" base port 0 lid 1 lmc 0\n"
                     "[1] \"S-0000000000000002\"[1] # 4xEDR\n"
                     "switchguid=0x2(2)\n"
                     "Switch\t2 \"S-0000000000000002\"\t\t# \"two\" base port 0 lid 2 lmc 0\n"
                     "[1] \"S-0000000000000001\"[1] # 4xEDR\n");
    snprintf(text, sizeof text, "topology_plan %s\n", plan);
    if (read_text(f, text) < 0)
        fail_msg("%s", f->err.message);
    assert_int_equal(line_of(&f->config, 1)->effect, CONFIG_PARTLY);
    assert_non_null(strstr(line_of(&f->config, 1)->text, "1 line is not part of the dump"));
    unlink(plan);
}

static void hints_of_opensm_with_errors_do_not_prevent_the_start(void **state)
{
    struct fixture *f = *state;
    char roots[64], text[256];
    make_path(roots);
    write_file(roots, "root_switches\n"); /* a port group of the vendor's manager */
    snprintf(text, sizeof text, "root_guid_file %s\npartition_config_file %s\n", roots, roots);
    assert_int_equal(read_text(f, text), -EINVAL); /* partitions protect ports */
    assert_int_equal(f->config.errors.count, 1);
    assert_int_equal(line_of(&f->config, 1)->effect, CONFIG_PARTLY);
    assert_non_null(strstr(line_of(&f->config, 1)->text, "expected a GUID"));
    assert_int_equal(line_of(&f->config, 2)->effect, CONFIG_ERROR);
    unlink(roots);
}

static void a_bad_file_of_names_does_not_prevent_the_start(void **state)
{
    struct fixture *f = *state;
    char names[64], text[256];
    make_path(names);
    write_file(names, "\x7f\n");
    for (unsigned i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%s %s\n", i ? "node_name_map_name" : "node_names", names);
        assert_int_equal(read_text(f, text), 0);
        assert_int_equal(line_of(&f->config, 1)->effect, CONFIG_PARTLY);
        assert_non_null(strstr(line_of(&f->config, 1)->text, "a control character"));
        config_release(&f->config);
        config_init(&f->config);
    }
    unlink(names);
    assert_int_equal(read_text(f, text), 0); /* there is none */
}

static void defaults_of_opensm_stand_for_those_of_weft(void **state)
{
    struct fixture *f = *state;
    struct config fresh;
    struct told told = {0};
    assert_int_equal(read_text(f, "max_wire_smps 4\npacket_life_time 0x12\nrouting_engine (null)\n"
                                  "sminfo_polling_timeout 10000\npolling_retry_number 4\n"
                                  "dump_files_dir /var/log/\nguid 0x0000000000000000\n"),
                     0);
    assert_int_equal(config_finish(&f->config, &f->err), 0);
    config_init(&fresh);
    config_compare(&f->config, &fresh, note, &told);
    assert_int_equal(told.live + told.fixed, 1); /* the text of guid */
    assert_true(f->config.port.guid == 0);
    config_release(&fresh);
}

static void routes_by_opensm_fall_back_to_updn(void **state)
{
    static const struct {
        const char *theirs, *ours;
    } lists[] = {
        {"minhop", "minhop,updn"},
        {"updn", "updn"},
        {"ftree,no_fallback", "ftree"},
        {"torus-2QoS", "dor,updn"},
        {"dnup,updn", "updn"},
        {"file", "updn"},
        {"ar_ftree,ar_updn", "ftree,updn"},
        {"dfsssp", "dfsssp,updn"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char expected[64];
        assert_int_equal(config_set(&f->config, "routing_engine", lists[i].theirs, &f->err), 0);
        snprintf(expected, sizeof expected, "sets engine %s", lists[i].ours);
        assert_true(strncmp(f->config.effect.text, expected, strlen(expected)) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONFIG_TEST(flags_can_have_the_values_of_opensm),
        CONFIG_TEST(log_flags_of_opensm_are_levels_of_parts),
        CONFIG_TEST(unknown_keys_and_engines_of_a_file_are_warnings),
        CONFIG_TEST(all_errors_of_a_file_are_reported),
        CONFIG_TEST(keys_of_opensm_set_those_of_weft),
        CONFIG_TEST(defaults_of_opensm_stand_for_those_of_weft),
        CONFIG_TEST(a_bad_file_of_names_does_not_prevent_the_start),
        CONFIG_TEST(a_line_has_no_effect_if_a_later_one_sets_the_same_key),
        CONFIG_TEST(the_log_file_of_opensm_can_be_standard_output),
        CONFIG_TEST(skipped_lines_of_a_plan_are_reported),
        CONFIG_TEST(hints_of_opensm_with_errors_do_not_prevent_the_start),
        CONFIG_TEST(routes_by_opensm_fall_back_to_updn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
