/* Actions: what one does to a fabric, its traffic, its multicast groups, its virtual machines and
 * its managers. One vocabulary (actions.def) for scenarios, `weft ctl`, `weft whatif` and the API.
 *
 *   action.c     the table of actions; applying them to a fabric
 *   arguments.c  the arguments: read from words, read from a request, printed
 *   words.c      the words: read, printed, and the older words of `weft ctl` and the API
 *   names.c      names of nodes, ports and attributes
 *   pace.c       how often a connection sends
 *   exact.c      times, shares and numbers: printed so that the same value is read
 *
 * An action is read from words, which may happen before its fabric exists, and then bound to the
 * fabric: names become numbers. A request of the API has numbers from the start. */
#ifndef WEFT_CONSOLE_ACTION_H
#define WEFT_CONSOLE_ACTION_H

#include "base/control_command.h"
#include "base/line_reader.h"
#include "console/pace.h"
#include "fabric/fabric.h"
#include "topology/topology.h"

enum action_kind {
#define FAULT(kind, words, arguments, flags, effect, lasting, page) ACTION_##kind,
#define ACTION(kind, words, arguments, owner, flags, page)          ACTION_##kind,
#include "console/actions.def"
    ACTION_KINDS
};

/* Who applies it. */
enum action_owner {
    OWNER_FABRIC,
    OWNER_TRAFFIC,
    OWNER_MACHINES,
    OWNER_GROUPS,
    OWNER_CONNECTIONS,
    OWNER_MANAGERS,
    OWNERS
};

enum action_flags {
    ACTION_DETECTED = 1, /* a manager has to detect it */
    ACTION_BREAKS = 2,   /* paths through its port or node fail */
    ACTION_TRAINS = 4,   /* links train afterwards */
};

/* The state of a link or node in which the page offers an action. */
enum action_state {
    STATE_ANY,
    STATE_PRESENT, /* not cut, not off */
    STATE_FAILED,  /* cut, off */
    STATE_UP,      /* without a fault */
    STATE_FAULTY,  /* lossy; slow or mute */
};

/* How the map shows the link or node of a fault that lasts. */
enum fault_state {
    FAULT_HIDDEN,
    FAULT_CUT, /* links */
    FAULT_LOSSY,
    FAULT_BIT_ERRORS,
    FAULT_DOWN, /* nodes */
    FAULT_MUTE,
    FAULT_SLOW,
    FAULT_DEGRADED, /* either */
    FAULT_STATES
};

enum argument {
    ARGUMENT_END,
    ARGUMENT_PORT,      /* port: NODE PORT */
    ARGUMENT_ANY_PORT,  /* port, or none: all links */
    ARGUMENT_NODE,      /* node */
    ARGUMENT_SWITCH,    /* node */
    ARGUMENT_MANAGER,   /* node */
    ARGUMENT_PERCENT,   /* value: parts of 2^32 */
    ARGUMENT_ATTRIBUTE, /* attribute, or 0: all */
    ARGUMENT_TIME,      /* value: picoseconds */
    ARGUMENT_GUID,      /* value */
    ARGUMENT_PEER,      /* value: a node */
    ARGUMENT_PACE,      /* pace */
    ARGUMENT_ERRORS,    /* value, per_second */
    ARGUMENT_TRAFFIC,   /* value: a traffic's number */
    ARGUMENT_MACHINE,   /* machine.name */
    ARGUMENT_AT,        /* node, or none: the manager chooses */
    ARGUMENT_TO,
    ARGUMENT_MODE,  /* machine.minimal */
    ARGUMENT_CHURN, /* machine */
    ARGUMENT_MGID,  /* mgid */
    ARGUMENT_KEY,   /* key */
    ARGUMENT_VALUE, /* text */
};
enum { ARGUMENTS_MOST = 3 };

/* Parameters of actions on virtual machines. */
struct machine_action {
    struct word name;
    bool minimal;
    double boots, moves; /* a minute */
    uint64_t keep;       /* limit of running machines; 0: none */
    uint64_t until;      /* a duration, or with `absolute` a time of the run */
    bool absolute;
};

struct action {
    enum action_kind kind;
    uint32_t node, port; /* set by action_bind(), or by a request; TOPOLOGY_NONE: none */
    uint64_t value;
    unsigned attribute;
    bool per_second; /* ARGUMENT_ERRORS: a rate of the cable */
    struct machine_action machine;
    struct pace pace;
    uint8_t mgid[16];
    struct word key, text; /* of a setting of a manager */
    /* As written, for action_bind() and for errors; text NULL: not given. */
    struct word first, node_word, port_word, value_word;
    struct word keyword; /* taken where a node could be */
};

struct action_row {
    struct {
        const char *all, *first, *second; /* "fail link", "fail", "link"; second NULL: one word */
    } words;
    enum argument arguments[ARGUMENTS_MOST + 1];
    enum action_owner owner;
    unsigned flags;
    int (*effect)(struct fabric *fabric, const struct fabric_fault *fault, struct err *err);
    struct {
        const char *sets; /* NULL: it does not last */
        bool ends;
        enum fault_state state;
    } lasting;
    struct {
        const char *label, *done; /* NULL: the page does not offer it */
        enum action_state state;
        uint64_t value;
        const char *undo;
    } page;
};

extern const struct action_row action_rows[ACTION_KINDS];

static inline const struct action_row *action_row(const struct action *action)
{
    return &action_rows[action->kind];
}

static inline bool action_has(const struct action *action, enum action_flags flag)
{
    return (action_rows[action->kind].flags & flag) != 0;
}

/* The node that it is about, or TOPOLOGY_NONE. */
static inline uint32_t action_node(const struct action *action, const struct topology *topology)
{
    return action->port == TOPOLOGY_NONE ? action->node : topology->ports.items[action->port].node;
}

/* ---- words.c ---- */

/* Fills in the first words of all actions; returns their number. */
enum { ACTION_VERBS = ACTION_KINDS };
size_t action_verbs(const char *names[ACTION_VERBS]);
/* Reads the words of weft-scenario(5), without a time. */
void action_read(struct action *action, struct cursor *cursor);
/* Whether words that a server receives are an action rather than one of its commands. */
bool action_is_meant(control_tables tables, const char *const *words, unsigned count);
/* Writes the words of an action for older words of `weft ctl` (aliases), copies all others; returns
 * their number. */
enum { ACTION_WORDS = 32 };
unsigned action_replace_alias(const char *const *words, unsigned count,
                              const char *line[ACTION_WORDS]);
/* Reads all words, with aliases. 0, or an error that needs no file and line. `topology` NULL: the
 * action is not bound. */
int action_read_words(struct action *action, const char *const *words, unsigned count,
                      const struct topology *topology, struct err *err);
/* Reads a line of text, without aliases. The action owns its texts (action_release()). */
int action_read_line(struct action *action, const char *line, const struct topology *topology,
                     struct err *err);
/* The words with the arguments: a statement of a scenario. Nodes go by their GUID if their name
 * could be read as something else. */
void action_print(const struct action *action, const struct topology *topology, struct text *out);
/* "drop PERCENT [NODE PORT] [attribute NAME]" */
void action_print_usage(const struct action_row *row, struct text *out);

/* ---- arguments.c ---- */

/* A request by names and numbers, and what the numbers count. */
struct action_request {
    void *context;
    const char *(*get)(void *context, const char *name); /* NULL: not given */
    const struct topology *topology;
    const uint32_t *link_ports; /* end a of each link */
    size_t link_count;
    const uint32_t *managers; /* nodes */
    size_t manager_count;
};
/* "do" names the action; the other parameters are its arguments. The action is bound.
 * -ENOENT: there is no such action. */
int action_read_request(struct action *action, const struct action_request *request,
                        struct err *err);
/* -EINVAL if a text of a request is missing, or could not be one word of a statement. */
int action_check_word(const char *word, const char *name, struct err *err);
/* Lists the actions that a server offers (NULL: all), for pages. */
void action_list(bool (*offers)(const struct action_row *row), struct json *json);

/* Names to numbers; the cursor receives the error. Checks numbers, too. */
int action_bind(struct action *action, const struct topology *topology, struct cursor *cursor);
/* Whether this word can be the name of a node wherever an action has a node. */
bool action_word_is_node(const char *word);
/* A node as one word of a statement. */
void action_print_node(const struct topology *topology, uint32_t node, struct text *out);

/* ---- action.c ---- */

/* Applies an action on a fabric at once; traps and time-outs follow from that. -ENOTSUP: it needs
 * more than a fabric. */
int action_apply(struct fabric *fabric, const struct action *action, struct err *err);
/* The action that caused a fault which lasts. */
struct action action_of_fault(const struct fabric_fault *fault);
/* A bound action that owns its texts. */
struct action action_copy(const struct action *action);
void action_release(struct action *action);

#endif
