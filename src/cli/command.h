/* The command table and what all commands share.
 *
 * A command is one file with one `struct command`. Exit status: 0 done, 1 what was checked does not
 * hold, 2 bad usage or bad input. Messages for people go to standard error, results to standard
 * output. */
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
    const char *summary; /* one line for `weft --help` */
    const char *help;    /* the whole of `weft NAME --help`: usage, options, examples … */
    void (*print_more)(FILE *out);     /* … and what is known only when it runs; or NULL */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name */
};

extern const struct command command_topo, command_fabric, command_ctl, command_sm, command_route,
    command_verify, command_report, command_reproduce, command_sim, command_sweep;

/* "weft topo: message" on standard error, with a hint at --help; returns EXIT_USAGE. */
int command_usage(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints a `struct err`; returns EXIT_USAGE. */
int command_error(const char *command, const struct err *err);

/* Options. `--name value` and `--name=value` both work, and `-n value` and `-nvalue` for those with
 * a letter, anywhere among the arguments; what is not an option stays in argv, in order. "--" ends
 * the options and stays too. */
struct option_values { /* of an option that may be given more than once; see base/mem.h's VEC */
    const char **items;
    size_t count, capacity;
};
struct option_spec {
    const char *name;             /* without the dashes */
    char letter;                  /* 0: none */
    bool *flag;                   /* of an option without a value, or NULL */
    const char **value;           /* where a value goes, or NULL */
    struct option_values *values; /* where each value goes, if there can be several */
    uint64_t *number;             /* where a whole number goes, decimal or 0x…, in [low, high] */
    uint64_t low, high;           /* high: 0 if there is no limit */
};
/* Removes the options from argv and returns the new argc, or -1 after printing what is wrong. */
int command_options(const char *command, int argc, char **argv, const struct option_spec *specs);

/* Writes a text to a file ("-": standard output) and releases it. 0 or -errno. */
int command_write(const char *path, struct text *text, struct err *err);
/* Writes a result to standard output and releases it. An exit status. */
int command_print(const char *command, struct text *text);
/* How many processors this process may use. */
unsigned count_processors(void);
double clock_seconds(void); /* since some moment */
/* A line on a terminal (standard error) that tells how far things are, and is written over. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void);

#endif
