/* Actions on a fabric and its managers: one table of verbs.
 *
 * Reading an action checks its words, binding it to a fabric looks up its nodes and ports; it is
 * applied at its time. */
#ifndef WEFT_EXPERIMENT_SCENARIO_ACTION_H
#define WEFT_EXPERIMENT_SCENARIO_ACTION_H

#include "base/line_reader.h"
#include "experiment/scenario/moment.h"
#include "topology/topology.h"
#include "vswitch/mode.h"

enum action_kind {
    ACTION_FAIL_LINK,
    ACTION_RESTORE_LINK,
    ACTION_FAIL_NODE,
    ACTION_RESTORE_NODE,
    ACTION_FLAP,
    ACTION_DROP,
    ACTION_SLOW,
    ACTION_MUTE,
    ACTION_HEAL,
    ACTION_DUPLICATE_GUID,
    ACTION_BIT_ERRORS,
    ACTION_START_TRAFFIC,
    ACTION_STOP_TRAFFIC,
    ACTION_START_MACHINE,
    ACTION_STOP_MACHINE,
    ACTION_MOVE_MACHINE,
    ACTION_MACHINE_SMP,
    ACTION_CHURN,
    ACTION_JOIN,
    ACTION_LEAVE,
    ACTION_KILL_MANAGER,
    ACTION_START_MANAGER,
    ACTION_STOP_MANAGER,
    ACTION_REROUTE,
    ACTION_CONFIGURE,
};

/* Parameters of actions on virtual machines. The target hypervisor is the node of the action, or
 * TOPOLOGY_NONE: the manager chooses. */
struct machine_action {
    struct word name_word;
    enum vswitch_mode mode;
    double boots, moves; /* a minute */
    uint64_t keep;       /* limit of running machines; 0: none */
    uint64_t until;      /* a duration, or with `absolute` a time of the run */
    bool absolute;
};

struct action {
    enum action_kind kind;
    enum { ACTION_NOW, ACTION_AT, ACTION_AFTER } when;
    struct moment time; /* ACTION_AFTER: a duration */
    uint64_t within;    /* drawn from [time, time + within) if it is not 0 */
    struct word when_word;
    struct word node_word, port_word, guid_word; /* text NULL: not given */
    struct word key_word;                        /* ACTION_CONFIGURE: value_word is its value */
    bool must_be_switch;
    bool per_second; /* ACTION_BIT_ERRORS: a rate of the cable */
    uint64_t value;  /* a time, parts of 2^32, a GUID, a count, a traffic's number */
    struct word value_word;
    unsigned attribute;
    struct machine_action machine;
    uint8_t mgid[16];    /* ACTION_JOIN, ACTION_LEAVE */
    uint32_t node, port; /* set by action_bind(); TOPOLOGY_NONE where not given */
};

/* Fills in the names of all verbs; returns their number. */
enum { ACTION_VERBS = 24 };
size_t action_verbs(const char *names[ACTION_VERBS]);

/* Whether this word can be the name of a node wherever a statement has a node: false if the grammar
 * has another meaning for it somewhere. Such a node goes by its GUID. */
bool action_word_is_node(const char *word);

/* Reads [at MOMENT | after TIME] VERB …. */
void action_read(struct action *action, struct cursor *cursor);
/* The cursor receives the error. */
int action_bind(struct action *action, const struct topology *topology, struct cursor *cursor);

#endif
