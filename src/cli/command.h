/* The commands, and functions that all of them use.
 *
 * A command is one file with one `struct command`. Exit status: 0 success, 1 a check failed, 2 bad
 * usage or input. Messages go to standard error, results to standard output.
 *
 * Its options are one table, from which the command line is read and --help is printed. The
 * completion of shells is made from the help (tools/completion). */
#ifndef WEFT_CLI_COMMAND_H
#define WEFT_CLI_COMMAND_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { EXIT_HOLDS = 0, EXIT_FAILS = 1, EXIT_USAGE = 2 };

struct arena;

struct option_values { /* of an option that may be repeated; a VEC of base/mem.h */
    const char **items;
    size_t count, capacity;
};

/* Options have the forms `--name value` and `--name=value`, with a letter also `-n value` and
 * `-nvalue`, at any place among the arguments. "--" ends the options. The value of an option with a
 * `standard` is an address, [ADDRESS:]PORT, that may be missing: the next argument is the value
 * only if it looks like an address, or is "none". */
struct option_spec {
    const char *usage; /* "--seed N", "-j, --jobs N"; "": a heading between the options */
    const char *help;  /* NULL: not shown */
    /* Where the value goes, and what it may be. A row without any of these is only shown. */
    bool *flag; /* set by an option without a value */
    const char **value;
    struct option_values *values; /* all values of a repeated option */
    uint64_t *number;             /* a whole number in [low, high] */
    uint64_t low, high;           /* high 0: no limit */
    const char *standard;         /* the value if none is given; NULL: it must be given */
    bool many;                    /* all arguments up to the next option are values */
};

struct command {
    const char *name;
    const char *summary;               /* one line for `weft --help` */
    const char *usage;                 /* the beginning of `weft NAME --help` */
    unsigned column;                   /* where the help of options begins */
    const struct option_spec *options; /* end with {0} */
    const char *more;                  /* the end of the help: exit status, examples */
    void (*print_more)(FILE *out);     /* prints the generated part of the help; or NULL */
    const char *operand;               /* the only argument beside options: "a scenario"; or NULL */
    /* argv[0] is the command's name; options are removed, but not "--". Returns an exit status, or
     * -errno with the error to print. */
    int (*run)(int argc, char **argv, struct err *err);
};

extern const struct command command_topo, command_fabric, command_ctl, command_sm, command_route,
    command_verify, command_report, command_reproduce, command_sim, command_sweep, command_whatif,
    command_live;

void command_print_help(const struct command *command, FILE *out);
/* Reads the options and runs the command. Returns an exit status. */
int command_run(const struct command *command, int argc, char **argv);
/* The command as it was typed, for a shell. */
void command_put_line(struct text *out);

/* "weft topo: message" on standard error, with a hint at --help; returns EXIT_USAGE. */
int command_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints a `struct err`; returns EXIT_USAGE. */
int command_error(const struct err *err);

/* Reads a fabric, and prints a warning if lines of the file were skipped. 0 or -errno. */
struct topology;
int command_read_topology(const char *path, struct topology *topology, struct err *err);
/* Writes a text to a file ("-": standard output) and releases it. 0 or -errno. */
int command_write(const char *path, struct text *text, struct err *err);
/* Writes a text to standard output and releases it. Returns an exit status. */
int command_print(struct text *text);
/* The path of this program. */
int command_find_self(const char **path, struct arena *arena, struct err *err);
/* The folder experiments/ beside this program (build/weft), or the installed one; never that of the
 * present directory, which may be anybody's. */
const char *command_find_experiments(struct arena *arena);
/* The number of processors that this process may use. */
unsigned count_processors(void);
double clock_seconds(void); /* monotonic */
/* A progress line on standard error, if that is a terminal. The next one overwrites it. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void);

#endif
