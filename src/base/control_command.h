/* The registry of commands that answer: `weft ctl status`, `counters`, `path` and so on.
 *
 * A module that answers commands has a table of them beside its code, which ends with an empty row:
 *
 *     const struct control_command perf_commands[] = {
 *         {"top", "[load|wait] [hour]", 0, 3, CONTROL_COUNTERS, "busiest and worst ports",
 * answer_top}, {0}};
 *
 * A server (`weft sm`, `weft fabric`, `weft live`) is a list of such tables. The help of `weft ctl`
 * and the completion of shells are made from the same lists. Commands that change something are
 * actions of weft-scenario(5), with a table of their own. */
#ifndef WEFT_BASE_CONTROL_COMMAND_H
#define WEFT_BASE_CONTROL_COMMAND_H

#include "base/err.h"
#include "base/record.h"

#include <stdbool.h>
#include <stdint.h>

/* What a command reads or changes. A server gives what it has with each call. */
enum control_need {
    CONTROL_FABRIC,   /* struct fabric_access */
    CONTROL_MANAGER,  /* struct manager_view */
    CONTROL_MACHINES, /* struct machine_access: the virtual machines of a manager */
    CONTROL_COUNTERS, /* struct perf_access: the counters that a master reads */
    CONTROL_PROCESS,  /* struct manager_access: the process of weft sm */
    CONTROL_DAEMON,   /* the same, if it has a port */
    CONTROL_MASTER,   /* the same, while it is master */
    CONTROL_SESSION,  /* of weft live */
    CONTROL_NEEDS
};

struct control_answer {
    bool json;
    struct text text; /* the answer, or the reason of a refusal */
    /* Data that is printed after the text, in another thread if there is one, because that takes
     * long; or NULL. */
    void *data;
    void (*print)(const void *data, bool json, struct text *out);
    void (*release)(void *data);
};

void control_answer_release(struct control_answer *answer);

struct control_call {
    void *subjects[CONTROL_NEEDS];      /* by enum control_need; NULL: there is none now */
    const char *missing[CONTROL_NEEDS]; /* and why */
    uint64_t now;
    struct control_answer *answer;
    int client; /* its connection; a command that keeps it sets -1 here */
    /* Set for the command that runs. */
    const struct control_command *command;
    void *subject;            /* what it needs */
    const char *const *words; /* those after its name; the rest NULL */
    unsigned count;
    struct err err; /* of a command that returns an error and prints no text */
};

/* The answer as fields, printed as text or as JSON. */
static inline struct record control_record(struct control_call *call)
{
    return record_to(&call->answer->text, call->answer->json, false);
}

struct control_command {
    const char *name;     /* one or two words, such as "vm list" */
    const char *usage;    /* the words that follow; "" if there are none */
    unsigned least, most; /* how many words follow */
    enum control_need needs;
    const char *help; /* one sentence without a full stop; NULL: not listed */
    /* 0, or 1 if the client shall ask again until the work is done, or -errno with the reason. */
    int (*run)(struct control_call *call);
};

/* Lists of tables end with NULL; in two tables with a command of the same name, the first counts.
 */
typedef const struct control_command *const control_tables[];

/* The command that these words begin with; NULL: there is none. */
const struct control_command *control_find(control_tables tables, const char *const *words,
                                           unsigned count);
/* Whether the command takes as many words; false if there is none (NULL). */
bool control_fits(const struct control_command *command, const char *const *words, unsigned count);
/* Runs it. Returns its result; the answer has the text, or the reason if the result is negative. */
int control_run(const struct control_command *command, struct control_call *call,
                const char *const *words, unsigned count);
/* Refuses words that no command has: -EINVAL with the forms that begin with the first word, or
 * -ENOSYS if there are none. The client then adds which server has the command. */
int control_refuse(const char *server, control_tables tables, struct control_call *call,
                   const char *const *words, unsigned count);
/* Whether a command has a name of which this is the first word. */
bool control_has_word(control_tables tables, const char *word);

#endif
