/* The table of kinds of problems: its order, and the manual, which describes the same kinds. */
#include "base/text.h"
#include "subnet/problems.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Letters and digits alone, so that markup and line breaks do not matter. */
static void put_letters(struct text *out, const char *line)
{
    for (const char *at = line; *at; at++)
        if (*at == '\\' && at[1] == 'f' && at[2])
            at += 2;
        else if (isalnum((unsigned char)*at))
            text_putc(out, *at);
}

/* The part of a manual about `problems`: macros are removed, a name is on a line of its own. */
static void read_part(const char *path, struct text *out)
{
    char line[1024];
    bool inside = false;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (strcmp(line, ".B problems\n") == 0)
            inside = true;
        if (strcmp(line, ".B topology\n") == 0)
            inside = false;
        if (!inside)
            continue;
        if (strncmp(line, ".TP", 3) == 0)
            text_putc(out, '\n');
        else
            put_letters(out, line[0] == '.' ? line + 1 + strcspn(line, " \n") : line);
    }
    fclose(file);
}

/* Does a line of the manual begin with the name, and have the advice? */
static bool entry_has(const char *manual, const char *name, const char *advice)
{
    const char *at = manual && name && advice ? strstr(manual, name) : NULL;
    const char *found = at ? strstr(at, advice) : NULL;
    return found && !memchr(at + 1, '\n', (size_t)(found - at - 1));
}

static void the_manual_has_each_kind_with_its_advice(void **state)
{
    struct text manual = {0};
    read_part(*state, &manual);
    for (unsigned i = 0; i < PROBLEM_KINDS; i++) {
        struct text name = {0}, advice = {0};
        text_putc(&name, '\n');
        put_letters(&name, problem_infos[i].name);
        put_letters(&advice, problem_infos[i].advice);
        if (!entry_has(manual.data, name.data, advice.data))
            fail_msg("weft-ctl(1) has no entry '%s' with the advice '%s'", problem_infos[i].name,
                     problem_infos[i].advice);
        text_release(&name);
        text_release(&advice);
    }
    text_release(&manual);
}

static void the_most_serious_kinds_come_first(void **state)
{
    for (unsigned i = 1; i < PROBLEM_KINDS; i++)
        assert_true(problem_infos[i].severity >= problem_infos[i - 1].severity);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(the_manual_has_each_kind_with_its_advice, argv[1]),
        cmocka_unit_test(the_most_serious_kinds_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
