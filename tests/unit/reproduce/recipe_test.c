/* Recipes: statements of the file `figure`, and errors with line and column. */
#include "reproduce/recipe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/weft-recipe-XXXXXX";
static char folder[128];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(top))
        return -1;
    snprintf(folder, sizeof folder, "%s/123-fig04", top);
    return mkdir(folder, 0777);
}

static int remove_folder(void **state)
{
    char path[256];
    (void)state;
    snprintf(path, sizeof path, "%s/figure", folder);
    unlink(path);
    rmdir(folder);
    return rmdir(top);
}

static void write_figure(const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/figure", folder);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void statements_of_a_recipe_are_parsed(void **state)
{
    struct recipe recipe;
    struct err err = {0};
    (void)state;
    write_figure("title \"Lanes # and more\"  # a remark\n"
                 "sweep lanes.sweep quick rate=1,2 vls=2\n"
                 "sweep ../007-fig01/other.sweep as change=removal\n"
                 "compute something\n"
                 "plot latency lines \"Latency\" x accepted y latency.mean by vls where vls=1,2\n"
                 "plot run time \"Over time\" y smps lost from 1s to 2s\n"
                 "label vls VL\n"
                 "point latency 5e8 2e-6\n"
                 "point latency 6e8 -3 \"paper, two VLs\"\n"
                 "claim stop \"traffic stands still\" paper \"about 5 ms\" at \"3.2\" unit ms "
                 "from 4 below 6 because \"one digit\"\n"
                 "  measure stop[rate=1]\n"
                 "table half switches 8=4 16=8 *=20\n"
                 "let part = accepted / offered\n"
                 "claim more \"more\" check paper more at x above -1.5e1 because order\n"
                 "measure range(runs: part)\n"
                 "claim set set fitted paper 1 at x from 1 because set\n"
                 "measure $half\n"
                 "claim new new result paper 1 at x from 1 because new\n"
                 "measure 1 explain \"{part}\"\n");
    assert_int_equal(recipe_read(&recipe, folder, &err), 0);
    assert_string_equal(recipe.name, "123-fig04");
    assert_string_equal(recipe.title, "Lanes # and more");
    assert_int_equal(recipe.sweeps.count, 2);
    assert_int_equal(recipe.sweeps.items[0].quick.count, 2);
    assert_string_equal(recipe.sweeps.items[1].as.items[0].values[0], "removal");
    assert_string_equal(recipe.computations.items[0], "something");
    assert_int_equal(recipe.plots.count, 2);
    assert_string_equal(recipe.plots.items[0].by, "vls");
    assert_int_equal(recipe.plots.items[0].where.items[0].count, 2);
    assert_int_equal(recipe.plots.items[1].y_count, 2);
    assert_string_equal(recipe_label(&recipe, "vls"), "VL");
    assert_string_equal(recipe_label(&recipe, "rate"), "rate");
    assert_int_equal(recipe.points.count, 2);
    assert_string_equal(recipe.points.items[0].text, "paper");
    assert_true(recipe.points.items[1].y == -3);
    assert_string_equal(recipe_table_find(&recipe.tables.items[0], "16"), "8");
    assert_string_equal(recipe_table_find(&recipe.tables.items[0], "64"), "20");
    assert_int_equal(recipe.claims.count, 4);
    const struct claim *stop = &recipe.claims.items[0], *more = &recipe.claims.items[1];
    assert_string_equal(stop->experiment, "123-fig04");
    assert_string_equal(stop->paper, "about 5 ms");
    assert_string_equal(stop->place, "3.2");
    assert_string_equal(stop->why, "one digit");
    assert_true(stop->low.value == 4 && !stop->low.excluded);
    assert_true(stop->high.value == 6 && stop->high.excluded);
    assert_true(stop->unit->factor == 1e-3);
    assert_int_equal(stop->line, 10);
    assert_int_equal(stop->kind, CLAIM_RESULT); /* the default */
    assert_int_equal(more->kind, CLAIM_CHECK);
    assert_string_equal(more->paper, "more");
    assert_int_equal(recipe.claims.items[2].kind, CLAIM_FITTED);
    assert_int_equal(recipe.claims.items[3].kind, CLAIM_RESULT);
    assert_true(more->low.value == -15 && more->low.excluded && isnan(more->high.value));
    assert_true(more->unit->factor == 1 && !*more->unit->name);
    recipe_release(&recipe);
}

static void experiments_that_share_a_sweep_share_its_store(void **state)
{
    struct recipe recipe;
    struct err err = {0};
    (void)state;
    write_figure("title x\nsweep own.sweep\nsweep ../007-fig01/other.sweep\n");
    assert_int_equal(recipe_read(&recipe, folder, &err), 0);
    assert_string_equal(recipe.sweeps.items[0].store, "123-fig04-own");
    assert_string_equal(recipe.sweeps.items[1].store, "007-fig01-other");
    recipe_release(&recipe);
}

static void wrong_recipes_are_refused_with_line_and_column(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
    } cases[] = {{"", 0},
                 {"sweep a.sweep\n", 0},
                 {"title a\ntitle b\n", 2},
                 {"title a b\n", 1},
                 {"titel a\n", 1},
                 {"title a\nsweep\n", 2},
                 {"title a\nsweep b.sweep quick\n", 2},
                 {"title a\nsweep b.sweep as x\n", 2},
                 {"title a\nsweep b.sweep with x=1\n", 2},
                 {"title a\n\nplot p pie \"P\" x a y b\n", 3},
                 {"title a\nplot p lines \"P\" x a\n", 2},
                 {"title a\nplot p lines \"P\" y a\n", 2},
                 {"title a\nplot p lines \"P\" x a y b where c\n", 2},
                 {"title a\nplot p time \"P\" y a from soon\n", 2},
                 {"title a\nplot p lines \"P\" x a y 1 2 3 4 5 6 7 8 9\n", 2},
                 {"title a\nlabel b\n", 2},
                 {"title a\npoint p 1 2\n", 2},
                 {"title a\nplot p lines \"P\" x a y b\npoint p 1 much\n", 3},
                 {"title a\nplot p time \"P\" y b\npoint p 1 2\n", 3},
                 {"title a\nclaim c t paper v at 1 from 1\n", 2},
                 {"title a\nclaim c t paper v at 1 because w\n", 2},
                 {"title a\nclaim c t paper v from 1 because w\n", 2},
                 {"title a\nclaim c t at 1 from 1 because w\n", 2},
                 {"title a\nclaim c t fited paper v at 1 from 1 because w\n", 2},
                 {"title a\nclaim c t fitted at 1 from 1 because w\n", 2},
                 {"title a\nclaim c t check fitted paper v at 1 from 1 because w\n", 2},
                 {"title a\nclaim c t paper v at 1 from x because w\n", 2},
                 {"title a\nclaim c t paper v at 1 from 1 above 2 because w\n", 2},
                 {"title a\nclaim c t paper v at 1 from 2 to 1 because w\n", 2},
                 {"title a\nclaim c t paper v at 1 from 2 below 2 because w\n", 2},
                 {"title a\nclaim c t paper v at 1 unit msec from 1 because w\n", 2},
                 {"title a\nclaim c t paper v at 1 from 1 because w x\n", 2},
                 {"title a\nclaim c t paper v at 1 from 1 because w\n"
                  "claim c t paper v at 1 from 1 because w\n",
                  3},
                 {"title a\n\nclaim c t paper v at 1 from 1 because w\n", 3}, /* no measure */
                 {"title a\nmeasure 1\n", 2},
                 {"title a\nclaim c t paper v at 1 from 1 because w\nmeasure 1\nmeasure 1\n", 4},
                 {"title a\ntable t\n", 2},
                 {"title a\ntable t switches\n", 2},
                 {"title a\ntable t switches 8\n", 2},
                 {"title a\nlet x 1\n", 2},
                 {"title a\nlet x =\n", 2},
                 {"title a\nlet if = 1\n", 2},
                 {"title a\nlet 2x = 1\n", 2},
                 {"title a\nlet x = 1\nlet x = 2\n", 3}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct recipe recipe;
        struct err err = {0};
        write_figure(cases[i].text);
        if (recipe_read(&recipe, folder, &err) == 0)
            fail_msg("accepted: %s", cases[i].text);
        assert_int_equal(err.line, cases[i].line);
        assert_true(strstr(err.file, "figure") != NULL);
        assert_true(err.message[0] != 0);
    }
}

static void folders_without_a_figure_are_skipped(void **state)
{
    struct recipes recipes = {0};
    struct err err = {0};
    char other[256];
    (void)state;
    snprintf(other, sizeof other, "%s/notes", top);
    mkdir(other, 0777);
    write_figure("title x\n");
    assert_int_equal(recipes_read(&recipes, top, &err), 0);
    assert_int_equal(recipes.count, 1);
    recipes_release(&recipes);
    assert_true(recipes_read(&recipes, other, &err) < 0);
    rmdir(other);
}

static bool fits(const char *text, const struct result_parameter *parameters, size_t count)
{
    struct conditions conditions = {0};
    struct arena arena = {0};
    conditions_parse(&conditions, text, &arena);
    bool fit = conditions_fit(&conditions, parameters, count, false);
    conditions_release(&conditions);
    arena_release(&arena);
    return fit;
}

static void all_conditions_must_hold_with_any_of_their_values(void **state)
{
    const struct result_parameter run[] = {{"switches", "16"}, {"engine", "pira+fera"}};
    (void)state;
    assert_true(fits("", run, 2));
    assert_true(fits("switches=8,16 engine=pira*", run, 2));
    assert_false(fits("switches=8,16 engine=fera", run, 2));
    assert_false(fits("switches=1", run, 2));
    assert_false(fits("hosts=7", run, 2));
}

static void quick_conditions_ignore_missing_parameters(void **state)
{
    const struct result_parameter run[] = {{"switches", "16"}};
    struct conditions conditions = {0};
    struct arena arena = {0};
    (void)state;
    conditions_parse(&conditions, "switches=16 rate=5", &arena);
    assert_true(conditions_fit(&conditions, run, 1, true));
    assert_false(conditions_fit(&conditions, run, 1, false));
    assert_false(conditions_add(&conditions, "rate", &arena));
    assert_false(conditions_add(&conditions, "rate=", &arena));
    assert_false(conditions_add(&conditions, "rate=1,,2", &arena));
    conditions_release(&conditions);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_of_a_recipe_are_parsed),
        cmocka_unit_test(experiments_that_share_a_sweep_share_its_store),
        cmocka_unit_test(wrong_recipes_are_refused_with_line_and_column),
        cmocka_unit_test(folders_without_a_figure_are_skipped),
        cmocka_unit_test(all_conditions_must_hold_with_any_of_their_values),
        cmocka_unit_test(quick_conditions_ignore_missing_parameters),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
