/* The commands, and functions that all of them use.
 *
 * A command is one file with one `struct command`. Exit status: 0 success, 1 a check failed, 2 bad
 * usage or input. Messages go to standard error, results to standard output. */
#ifndef WEFT_CLI_COMMAND_H
#define WEFT_CLI_COMMAND_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { EXIT_HOLDS = 0, EXIT_FAILS = 1, EXIT_USAGE = 2 };

struct command {
    const char *name;
    const char *summary;               /* one line for `weft --help` */
    const char *help;                  /* text of `weft NAME --help`: usage, options, examples */
    void (*print_more)(FILE *out);     /* prints the generated part of the help; or NULL */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name */
};

extern const struct command command_topo, command_fabric, command_ctl, command_sm, command_route,
    command_verify, command_report, command_reproduce, command_sim, command_sweep, command_whatif,
    command_live;

/* "weft topo: message" on standard error, with a hint at --help; returns EXIT_USAGE. */
int command_usage(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints a `struct err`; returns EXIT_USAGE. */
int command_error(const char *command, const struct err *err);

/* Options have the forms `--name value` and `--name=value`, with a letter also `-n value` and
 * `-nvalue`, at any place among the arguments. "--" ends the options. The value of an option with a
 * `standard` is an address, [ADDRESS:]PORT, that may be missing: the next argument is the value
 * only if it looks like an address, or is "none". */
struct option_values { /* of an option that may be repeated; a VEC of base/mem.h */
    const char **items;
    size_t count, capacity;
};
struct option_spec {
    const char *name;             /* without the dashes */
    char letter;                  /* 0: none */
    bool *flag;                   /* set by an option without a value; or NULL */
    const char **value;           /* destination of the value, or NULL */
    struct option_values *values; /* destination of all values of a repeated option, or NULL */
    uint64_t *number;             /* destination of a whole number in [low, high], or NULL */
    uint64_t low, high;           /* high 0: no limit */
    const char *standard;         /* the value if none is given; NULL: it must be given */
};
/* Removes the options from argv, but not "--". Returns the new argc, or -1 after a message. */
int command_options(const char *command, int argc, char **argv, const struct option_spec *specs);

/* Reads a fabric, and prints a warning if lines of the file were skipped. 0 or -errno. */
struct topology;
int command_read_topology(const char *command, const char *path, struct topology *topology,
                          struct err *err);
/* Writes a text to a file ("-": standard output) and releases it. 0 or -errno. */
int command_write(const char *path, struct text *text, struct err *err);
/* Writes a text to standard output and releases it. Returns an exit status. */
int command_print(const char *command, struct text *text);
/* The number of processors that this process may use. */
unsigned count_processors(void);
double clock_seconds(void); /* monotonic */
/* A progress line on standard error, if that is a terminal. The next one overwrites it. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void);

#endif
