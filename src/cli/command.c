#include "cli/command.h"

#include "base/file.h"
#include "base/line_reader.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "base/parse.h"
#include "topology/topology.h"

#include <assert.h>
#include <ctype.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

/* Returns the option that an argument names, or NULL. `value` is the value in the same argument;
 * NULL: it is the next argument. */
static const struct option_spec *find_option(const struct option_spec *specs, const char *argument,
                                             const char **value)
{
    bool is_long = argument[1] == '-';
    size_t length = strcspn(argument + 2, "=");
    *value = is_long ? argument + 2 + length : argument + 2;
    *value = **value ? *value + is_long : NULL;
    for (; specs->name; specs++)
        if (is_long
                ? strlen(specs->name) == length && strncmp(specs->name, argument + 2, length) == 0
                : specs->letter == argument[1])
            return specs;
    return NULL;
}

/* Names the option that was probably meant. */
static int refuse_option(const char *command, const struct option_spec *specs, const char *argument)
{
    enum { OPTIONS_MOST = 64 };
    const char *names[OPTIONS_MOST], *near = NULL;
    char name[64];
    size_t count = 0;
    for (; specs[count].name && count < OPTIONS_MOST; count++)
        names[count] = specs[count].name;
    if (argument[1] == '-') {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
        near = nearest_word(name, names, count);
    }
    command_usage(command, "unknown option '%s'%s%s%s", argument, near ? "; did you mean '--" : "",
                  near ? near : "", near ? "'?" : "");
    return -1;
}

static int take_value(const char *command, const struct option_spec *spec, const char *value)
{
    assert(spec->values || spec->value || spec->number);
    if (spec->values)
        vec_push(spec->values, value);
    if (spec->value)
        *spec->value = value;
    if (!spec->number)
        return 0;
    if (parse_bounded(value, spec->low, spec->high ? spec->high : UINT64_MAX, spec->number))
        return 0;
    if (!spec->high)
        return command_usage(command, "--%s %s: expected a whole number", spec->name, value);
    return command_usage(command, "--%s %s: expected %llu to %llu", spec->name, value,
                         (unsigned long long)spec->low, (unsigned long long)spec->high);
}

/* Whether an argument after an option with a `standard` is its value: "9933", "[::1]:80" and
 * "unix:/path" are, "324.net" and "./9933" are not. */
static bool looks_like_address(const char *argument)
{
    bool is_file = strpbrk(argument, "./") != NULL;
    return strcmp(argument, "none") == 0 || (*argument != '-' && strchr(argument, ':')) ||
           (isdigit((unsigned char)*argument) && !is_file);
}

/* Reads the option at argv[at]. Returns the number of arguments it consists of, or -1. */
static int take_option(const char *command, int argc, char **argv, int at,
                       const struct option_spec *specs)
{
    const char *value;
    const struct option_spec *spec = find_option(specs, argv[at], &value);
    if (!spec)
        return refuse_option(command, specs, argv[at]);
    if (spec->flag) {
        if (value)
            return command_usage(command, "option '--%s' takes no value", spec->name), -1;
        *spec->flag = true;
        return 1;
    }
    if (!value && spec->standard && (at + 1 >= argc || !looks_like_address(argv[at + 1])))
        value = spec->standard;
    if (!value && at + 1 >= argc)
        return command_usage(command, "option '--%s' needs a value", spec->name), -1;
    if (take_value(command, spec, value ? value : argv[at + 1]))
        return -1;
    return value ? 1 : 2;
}

static bool is_option(const struct option_spec *specs, const char *argument)
{
    const char *value;
    return strncmp(argument, "--", 2) == 0 ||
           (argument[0] == '-' && argument[1] && find_option(specs, argument, &value));
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
        if (!is_option(specs, argv[at])) {
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

int command_read_topology(const char *command, const char *path, struct topology *topology,
                          struct err *err)
{
    int status = topology_read(topology, from_file(path, err));
    if (status == 0 && topology->warning)
        fprintf(stderr, "weft %s: warning: %s\n", command, topology->warning);
    return status;
}

int command_write(const char *path, struct text *text, struct err *err)
{
    int status = file_write(path, text, err);
    text_release(text);
    return status;
}

int command_print(const char *command, struct text *text)
{
    struct err err;
    return command_write("-", text, &err) ? command_error(command, &err) : EXIT_HOLDS;
}

unsigned count_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (unsigned)count : 1;
}

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool progress_shown;

void progress_show(const char *format, ...)
{
    va_list arguments;
    if (!isatty(STDERR_FILENO))
        return;
    fflush(stdout);
    fputs("\r\033[K", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fflush(stderr);
    progress_shown = true;
}

void progress_clear(void)
{
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}
