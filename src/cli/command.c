/* The frame of the commands: options, help, messages, progress. */
#include "cli/command.h"

#include "base/file.h"
#include "base/line_reader.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/time.h"
#include "topology/topology.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NAME_BYTES = 64 };

static const struct command *running;
static int given_count; /* the command line before options are taken from it */
static char **given_words;

int command_usage(const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "weft %s: ", running->name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " (see 'weft %s --help')\n", running->name);
    return EXIT_USAGE;
}

int command_error(const struct err *err)
{
    char text[1024];
    struct text shown = {0};
    text_put_shown(&shown, err_text(err, text, sizeof text));
    fprintf(stderr, "weft %s: %s\n", running->name, shown.data ? shown.data : "");
    text_release(&shown);
    return EXIT_USAGE;
}

void command_put_line(struct text *out)
{
    text_puts(out, "weft");
    for (int i = 0; i < given_count; i++) {
        text_putc(out, ' ');
        text_put_shell_word(out, given_words[i]);
    }
}

/* ---- options ---- */

static bool is_shown_only(const struct option_spec *spec)
{
    return !spec->flag && !spec->value && !spec->values && !spec->number;
}

/* "--seed" of "--seed N" */
static const char *option_name(const struct option_spec *spec, char name[NAME_BYTES])
{
    const char *dashes = strstr(spec->usage, "--");
    assert(dashes);
    snprintf(name, NAME_BYTES, "%.*s", (int)strcspn(dashes, " "), dashes);
    return name;
}

/* Returns the option that an argument names, or NULL. `value` is the value in the same argument;
 * NULL: it is the next argument. */
static const struct option_spec *find_option(const char *argument, const char **value)
{
    char name[NAME_BYTES];
    bool is_long = argument[1] == '-';
    size_t length = is_long ? strcspn(argument, "=") : 2;
    *value = argument[length] ? argument + length + is_long : NULL;
    for (const struct option_spec *spec = running->options; spec->usage; spec++) {
        if (is_shown_only(spec))
            continue;
        option_name(spec, name);
        if (is_long ? strlen(name) == length && strncmp(name, argument, length) == 0
                    : spec->usage[1] == argument[1])
            return spec;
    }
    return NULL;
}

/* Names the option that was probably meant. */
static int refuse_option(const char *argument)
{
    enum { OPTIONS_MOST = 64 };
    char given[NAME_BYTES], room[OPTIONS_MOST][NAME_BYTES];
    const char *names[OPTIONS_MOST], *near = NULL;
    size_t count = 0;
    for (const struct option_spec *spec = running->options; spec->usage; spec++)
        if (!is_shown_only(spec) && count < OPTIONS_MOST) {
            names[count] = option_name(spec, room[count]) + 2;
            count++;
        }
    snprintf(given, sizeof given, "%.*s", (int)strcspn(argument, "="), argument);
    if (argument[1] == '-')
        near = nearest_word(given + 2, names, count);
    command_usage("unknown option '%s'%s%s%s", argument, near ? "; did you mean '--" : "",
                  near ? near : "", near ? "'?" : "");
    return -1;
}

static int take_value(const struct option_spec *spec, const char *value)
{
    if (spec->values)
        vec_push(spec->values, value);
    if (spec->value)
        *spec->value = value;
    if (!spec->number ||
        parse_bounded(value, spec->low, spec->high ? spec->high : UINT64_MAX, spec->number))
        return 0;
    char name[NAME_BYTES];
    option_name(spec, name);
    if (!spec->high)
        return command_usage("%s %s: expected a whole number", name, value);
    return command_usage("%s %s: expected %llu to %llu", name, value, (unsigned long long)spec->low,
                         (unsigned long long)spec->high);
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
static int take_option(int argc, char **argv, int at)
{
    char name[NAME_BYTES];
    const char *value;
    const struct option_spec *spec = find_option(argv[at], &value);
    if (!spec)
        return refuse_option(argv[at]);
    if (spec->flag) {
        if (value)
            return command_usage("option '%s' takes no value", option_name(spec, name)), -1;
        *spec->flag = true;
        return 1;
    }
    if (spec->many) {
        int taken = 1;
        if (value)
            take_value(spec, value);
        for (; at + taken < argc && strncmp(argv[at + taken], "--", 2) != 0; taken++)
            take_value(spec, argv[at + taken]);
        return taken;
    }
    if (!value && spec->standard && (at + 1 >= argc || !looks_like_address(argv[at + 1])))
        value = spec->standard;
    if (!value && at + 1 >= argc)
        return command_usage("option '%s' needs a value", option_name(spec, name)), -1;
    if (take_value(spec, value ? value : argv[at + 1]))
        return -1;
    return value ? 1 : 2;
}

/* Removes the options from argv, but not "--". Returns the new argc, or -1 after a message. */
static int take_options(int argc, char **argv)
{
    int kept = 0;
    const char *value;
    for (int at = 0, taken; at < argc; at += taken) {
        const char *argument = argv[at];
        bool is_option = strncmp(argument, "--", 2) == 0 ||
                         (*argument == '-' && argument[1] && find_option(argument, &value));
        taken = 1;
        if (strcmp(argument, "--") == 0) {
            while (at < argc)
                argv[kept++] = argv[at++];
            break;
        }
        if (!is_option)
            argv[kept++] = argv[at];
        else if ((taken = take_option(argc, argv, at)) < 0)
            return -1;
    }
    argv[kept] = NULL;
    return kept;
}

void command_print_help(const struct command *command, FILE *out)
{
    struct text text = {0};
    text_puts(&text, command->usage);
    for (const struct option_spec *spec = command->options; spec->usage; spec++) {
        if (!spec->help)
            continue;
        if (!*spec->usage) {
            text_printf(&text, "\n%s%s", spec->help, *spec->help ? "\n" : "");
            continue;
        }
        int width = (int)command->column - 2 - (int)strlen(spec->usage);
        text_printf(&text, "  %s", spec->usage);
        if (width >= 2)
            text_printf(&text, "%*s", width, "");
        else
            text_printf(&text, "\n%*s", (int)command->column, "");
        text_put_wrapped(&text, command->column, "%s", spec->help);
    }
    text_puts(&text, command->more);
    fputs(text.data, out);
    text_release(&text);
    if (command->print_more)
        command->print_more(out);
}

/* ---- running ---- */

int command_run(const struct command *command, int argc, char **argv)
{
    struct err err = {0};
    int status = EXIT_USAGE;
    running = command;
    given_count = argc;
    given_words = mem_alloc(((size_t)argc + 1) * sizeof *given_words);
    memcpy(given_words, argv, ((size_t)argc + 1) * sizeof *given_words);
    argc = take_options(argc, argv);
    if (argc >= 0 && argc < 2 && command->operand)
        command_usage("expected %s", command->operand);
    else if (argc > 2 && command->operand)
        command_usage("'%s' is one argument too many", argv[2]);
    else if (argc >= 0)
        status = command->run(argc, argv, &err);
    fflush(stdout);
    for (const struct option_spec *spec = command->options; spec->usage; spec++)
        if (spec->values)
            vec_release(spec->values);
    mem_free(given_words);
    return status < 0 ? command_error(&err) : status;
}

/* ---- functions of several commands ---- */

int command_read_topology(const char *path, struct topology *topology, struct err *err)
{
    int status = topology_read(topology, from_file(path, err));
    if (status == 0 && topology->warning)
        fprintf(stderr, "weft %s: warning: %s\n", running->name, topology->warning);
    return status;
}

int command_write(const char *path, struct text *text, struct err *err)
{
    int status = file_write(path, text, err);
    text_release(text);
    return status;
}

int command_print(struct text *text)
{
    struct err err;
    return command_write("-", text, &err) ? command_error(&err) : EXIT_HOLDS;
}

int command_find_self(const char **path, struct arena *arena, struct err *err)
{
    char buffer[4096] = "";
    if (readlink("/proc/self/exe", buffer, sizeof buffer - 1) < 0)
        return err_set(err, errno, "/proc/self/exe: %s", strerror(errno));
    *path = arena_strdup(arena, buffer);
    return 0;
}

const char *command_find_experiments(struct arena *arena)
{
    const char *program = "";
    struct err ignored;
    command_find_self(&program, arena, &ignored);
    size_t length = strlen(program);
    for (int up = 0; up < 2; up++) {
        while (length && program[length - 1] != '/')
            length--;
        const char *path = arena_printf(arena, "%.*sexperiments", (int)length, program);
        if (length && access(path, R_OK) == 0)
            return path;
        length -= length > 0;
    }
    return WEFT_EXPERIMENTS_PATH;
}

unsigned count_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (unsigned)count : 1;
}

double clock_seconds(void)
{
    return (double)time_monotonic_ns() / NS_PER_S;
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
