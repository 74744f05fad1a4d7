/* Parts of `weft ctl`: the client of control sockets, what it knows of the servers' commands, and
 * the live view of `top`. */
#ifndef WEFT_CLI_CTL_H
#define WEFT_CLI_CTL_H

#include "base/control_command.h"
#include "base/mem.h"
#include "cli/command.h"

/* Sockets to try, in this order. */
enum { CTL_PATHS_MOST = 4, CTL_PATH_ROOM = 256 };
struct ctl_sockets {
    char paths[CTL_PATHS_MOST][CTL_PATH_ROOM];
    unsigned count;
};

/* Commands of a manager go to its default socket, or to that of the system's manager; other
 * commands go to the socket of the fabric. 'status' and 'counters' are commands of both: they go to
 * the fabric if there is one, unless they are for the `manager`. */
void ctl_choose_sockets(struct ctl_sockets *sockets, const char *given,
                        const struct option_values *words, bool manager);
/* Sends the words to the first socket with a server. Returns 0 with the server's result and text,
 * or -errno if there was no answer. The text of a command that does not end is written to `stream`
 * as it arrives (else NULL); `out` is a refusal then. */
int ctl_send(const struct ctl_sockets *sockets, const struct option_values *words, bool json,
             FILE *stream, struct text *out, int *result, struct err *err);

/* Prints an answer like that, with one newline at its end. */
void ctl_print_answer(FILE *to, struct text *text);

/* ctl_commands.c: what the registries of the servers (base/control_command.h) say. */

/* Prints all actions. */
void ctl_print_actions(FILE *to);
/* The lines of the help, but not of commands that other tables have, which may be NULL. */
void ctl_print_commands(FILE *to, control_tables tables, control_tables but, control_tables nor);
/* "; 'weft sm' has it", after the refusal of a server that does not have the command. */
void ctl_add_servers(struct text *out, const struct option_values *words);
/* Whether a manager has the command, and whether a fabric has one of the same name. */
bool ctl_is_manager_command(const struct option_values *words, bool *common);

/* Whether `top` can be live: input and output are a terminal. */
bool ctl_top_can_be_live(void);
/* Shows the answer to 'top' and renews it every interval, until the user ends it. */
int ctl_top(const struct ctl_sockets *sockets, const struct option_values *words,
            uint64_t interval_ns, struct err *err);

#endif
