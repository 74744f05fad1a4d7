/* One question to a running fabric or manager. */
#ifndef WEFT_CLI_CTL_H
#define WEFT_CLI_CTL_H

#include "base/err.h"
#include "base/text.h"

/* Sends the words to the socket (NULL: the usual one); its text comes back in `out`. Returns the
 * server's result, in *result, and 0; or -errno if there was no answer. */
int ctl_ask(const char *path, const char *const *words, size_t count, bool json, struct text *out,
            int *result, struct err *err);

/* What a server says, for a terminal: of control characters only ends of lines and tabs pass. */
void ctl_print(FILE *to, const struct text *text);
void ctl_complain(const struct text *text); /* the same, as an error */

/* weft ctl vm … */
struct ctl_machine_options {
    const char *path, *place, *mode, *patience;
    bool json, no_wait;
};
int ctl_machines(const struct ctl_machine_options *options, int argc, char **argv);

#endif
