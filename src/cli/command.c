#include "cli/command.h"

#include "base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int command_usage(const char *command, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "weft %s: ", command);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " (see 'weft %s --help')\n", command);
    return EXIT_USAGE;
}

int command_error(const char *command, const struct err *err)
{
    char text[1024];
    fprintf(stderr, "weft %s: %s\n", command, err_text(err, text, sizeof text));
    return EXIT_USAGE;
}

static const struct option_spec *find_option(const struct option_spec *specs, const char *name,
                                             size_t length)
{
    for (; specs->name; specs++)
        if (strlen(specs->name) == length && strncmp(specs->name, name, length) == 0)
            return specs;
    return NULL;
}

/* Handles the option at argv[at]; returns how many arguments it took, or -1. */
static int take_option(const char *command, int argc, char **argv, int at,
                       const struct option_spec *specs)
{
    const char *name = argv[at] + 2;
    const char *equals = strchr(name, '=');
    const struct option_spec *spec =
        find_option(specs, name, equals ? (size_t)(equals - name) : strlen(name));
    if (!spec)
        return command_usage(command, "unknown option '%s'", argv[at]), -1;
    if (spec->flag) {
        if (equals)
            return command_usage(command, "option '--%s' takes no value", spec->name), -1;
        *spec->flag = true;
        return 1;
    }
    if (!equals && at + 1 >= argc)
        return command_usage(command, "option '--%s' needs a value", spec->name), -1;
    const char *value = equals ? equals + 1 : argv[at + 1];
    if (spec->values)
        vec_push(spec->values, value);
    else
        *spec->value = value;
    return equals ? 1 : 2;
}

int command_options(const char *command, int argc, char **argv, const struct option_spec *specs)
{
    int kept = 0;
    for (int at = 0; at < argc;) {
        if (strcmp(argv[at], "--") == 0) {
            while (at < argc)
                argv[kept++] = argv[at++];
            break;
        }
        if (strncmp(argv[at], "--", 2) != 0) {
            argv[kept++] = argv[at++];
            continue;
        }
        int taken = take_option(command, argc, argv, at, specs);
        if (taken < 0)
            return -1;
        at += taken;
    }
    argv[kept] = NULL;
    return kept;
}

bool parse_unsigned(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    unsigned long long parsed = strtoull(text, &end, text[0] == '0' && text[1] == 'x' ? 16 : 10);
    if (errno || *end || parsed < low || parsed > high)
        return false;
    *value = parsed;
    return true;
}
