/* weft: the table of commands, and the help. */
#include "cli/command.h"
#include "cli/version.h"

#include "base/parse.h"

#include <stdio.h>
#include <string.h>

static const struct command *const commands[] = {
    &command_topo,      &command_route,  &command_verify, &command_sm,
    &command_sim,       &command_whatif, &command_sweep,  &command_report,
    &command_reproduce, &command_fabric, &command_ctl,    &command_live};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_help(FILE *out)
{
    fputs("weft: an InfiniBand subnet manager and the fabric simulator that tests it\n\n"
          "usage: weft COMMAND [ARGUMENT ...]\n\n",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n'weft COMMAND --help' explains a command; see also weft(1).\n", out);
}

static bool has_help_option(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        (strcmp(argv[1], "help") == 0 && argc == 2)) {
        print_help(stdout);
        return EXIT_HOLDS;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("weft " WEFT_VERSION "%s%s%s\n", *weft_commit ? " (commit " : "", weft_commit,
               *weft_commit ? ")" : "");
        return EXIT_HOLDS;
    }
    bool help = strcmp(argv[1], "help") == 0;
    const char *name = help ? argv[2] : argv[1];
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, name) != 0)
            continue;
        if (help || has_help_option(argc - 1, argv + 1)) {
            command_print_help(commands[i], stdout);
            return EXIT_HOLDS;
        }
        return command_run(commands[i], argc - 1, argv + 1);
    }
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i]->name;
    const char *near = nearest_word(name, names, COMMAND_COUNT);
    fprintf(stderr, "weft: no command '%s'%s%s%s ('weft --help' lists them)\n", name,
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return EXIT_USAGE;
}
