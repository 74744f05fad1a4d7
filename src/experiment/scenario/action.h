/* What a scenario can do to a fabric and its managers: one table of verbs.
 *
 * An action is read with the file (its words are checked at once), bound to a fabric (its nodes and
 * ports are looked up), and carried out at its time. */
#ifndef WEFT_EXPERIMENT_SCENARIO_ACTION_H
#define WEFT_EXPERIMENT_SCENARIO_ACTION_H

#include "base/line_reader.h"
#include "topology/topology.h"
#include "vswitch/columns.h"

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
    ACTION_CHURN,
    ACTION_KILL_MANAGER,
    ACTION_START_MANAGER,
    ACTION_STOP_MANAGER,
    ACTION_REROUTE,
};

/* What is said of virtual machines; where to is the action's node, or TOPOLOGY_NONE: auto. */
struct machine_action {
    struct word name_word;
    enum vswitch_mode mode;
    double boots, moves; /* a minute */
    uint64_t keep;       /* machines at a time; 0: as many as come */
    uint64_t until;      /* after so long, or at that time of the run */
    bool absolute;
};

struct action {
    enum action_kind kind;
    enum { ACTION_NOW, ACTION_AT, ACTION_AFTER } when;
    uint64_t time;
    struct word when_word;
    struct word node_word, port_word, guid_word; /* text NULL: not given */
    bool must_be_switch;
    uint64_t value; /* a time, parts of 2^32, a GUID, a count, a traffic's number */
    struct word value_word;
    unsigned attribute;
    struct machine_action machine;
    uint32_t node, port; /* once bound; TOPOLOGY_NONE where not given */
};

/* All verbs; how many. */
enum { ACTION_VERBS = 16 };
size_t action_verbs(const char *names[ACTION_VERBS]);

/* Reads [at TIME | after TIME] VERB …. */
void action_read(struct action *action, struct cursor *cursor);
/* The cursor only says where errors go. */
int action_bind(struct action *action, const struct topology *topology, struct cursor *cursor);

#endif
