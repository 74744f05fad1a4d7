#include "experiment/scenario/action.h"

#include "base/time.h"
#include "experiment/scenario/names.h"
#include "wire/mad.h"

#include <string.h>

/* ---- pieces ---- */

static int take_node(struct action *action, struct cursor *cursor)
{
    return cursor_take(cursor, "a node", &action->node_word);
}

static int take_port(struct action *action, struct cursor *cursor)
{
    take_node(action, cursor);
    return cursor_take(cursor, "a port's number", &action->port_word);
}

/* ---- verbs ---- */

static int read_fail(struct action *action, struct cursor *cursor)
{
    bool restore = action->kind == ACTION_RESTORE_LINK;
    static const char *const what[] = {"link", "switch", "node"};
    unsigned index;
    cursor_take_choice(cursor, "thing to fail", what, 3, &index);
    if (index == 0) {
        action->kind = restore ? ACTION_RESTORE_LINK : ACTION_FAIL_LINK;
        return take_port(action, cursor);
    }
    action->kind = restore ? ACTION_RESTORE_NODE : ACTION_FAIL_NODE;
    action->must_be_switch = index == 1;
    return take_node(action, cursor);
}

/* drop PERCENT [NODE PORT] [attribute NAME] */
static int read_drop(struct action *action, struct cursor *cursor)
{
    struct word word;
    cursor_take_percent(cursor, &action->value);
    if (!cursor_is_done(cursor) && !cursor_accept(cursor, "attribute")) {
        take_port(action, cursor);
        if (cursor_is_done(cursor))
            return cursor->status;
        cursor_take_exact(cursor, "attribute");
    }
    if (cursor->status || strcmp(cursor->words[cursor->at - 1].text, "attribute") != 0)
        return cursor->status;
    cursor_take(cursor, "an SMP attribute such as PortInfo", &word);
    return read_attribute(cursor, &word, word.text, &action->attribute);
}

static int read_slow(struct action *action, struct cursor *cursor)
{
    take_node(action, cursor);
    return cursor_take_time(cursor, &action->value);
}

static int read_duplicate(struct action *action, struct cursor *cursor)
{
    take_node(action, cursor);
    return cursor_take(cursor, "a GUID, or the node that has it", &action->guid_word);
}

static int read_bit_errors(struct action *action, struct cursor *cursor)
{
    take_port(action, cursor);
    return cursor_take_number(cursor, "a number", 1, UINT32_MAX, &action->value);
}

static int read_manager(struct action *action, struct cursor *cursor)
{
    cursor_take_exact(cursor, "sm");
    return take_node(action, cursor);
}

/* start and stop: a manager, or a traffic by its number */
static int read_start(struct action *action, struct cursor *cursor)
{
    bool stop = action->kind == ACTION_STOP_MANAGER;
    static const char *const what[] = {"sm", "traffic"};
    unsigned index;
    cursor_take_choice(cursor, "thing to start or stop", what, 2, &index);
    if (index == 0)
        return take_node(action, cursor);
    action->kind = stop ? ACTION_STOP_TRAFFIC : ACTION_START_TRAFFIC;
    action->value_word = cursor_next(cursor);
    return cursor_take_number(cursor, "a traffic's number", 1, UINT32_MAX, &action->value);
}

/* ---- virtual machines ---- */

static const char *const modes[] = {[VSWITCH_BALANCED] = "balanced", [VSWITCH_MINIMAL] = "minimal"};

static int take_mode(struct action *action, struct cursor *cursor)
{
    unsigned mode;
    int status = cursor_take_choice(cursor, "mode of a move", modes, 2, &mode);
    action->machine.mode = (enum vswitch_mode)mode;
    return status;
}

static int take_place(struct action *action, struct cursor *cursor)
{
    return cursor_accept(cursor, "auto")
               ? 0
               : cursor_take(cursor, "a hypervisor, or 'auto'", &action->node_word);
}

/* boots R | moves R | per minute | keep N | for T | until T | balanced | minimal */
static int read_churn_part(struct action *action, struct cursor *cursor)
{
    static const char *const parts[] = {"boots", "moves", "per",      "keep",
                                        "for",   "until", "balanced", "minimal"};
    struct machine_action *churn = &action->machine;
    unsigned part;
    cursor_take_choice(cursor, "part of a churn", parts, 8, &part);
    switch (part) {
    case 0: return cursor_take_decimal(cursor, "boots a minute", 1e9, &churn->boots);
    case 1: return cursor_take_decimal(cursor, "moves a minute", 1e9, &churn->moves);
    case 2: return cursor_take_exact(cursor, "minute");
    case 3: return cursor_take_number(cursor, "a number of machines", 1, 49151, &churn->keep);
    case 4:
    case 5: churn->absolute = part == 5; return cursor_take_time(cursor, &churn->until);
    default: cursor->at--; return take_mode(action, cursor);
    }
}

static int read_churn(struct action *action, struct cursor *cursor)
{
    struct word word = cursor->words[cursor->at - 1];
    while (!cursor_is_done(cursor))
        read_churn_part(action, cursor);
    if (action->machine.boots <= 0)
        return word_error(cursor, &word, "without 'boots N' there is nothing that could move");
    if (action->machine.until == 0)
        return word_error(cursor, &word, "how long? 'for TIME' or 'until TIME'");
    return cursor->status;
}

static int read_machine(struct action *action, struct cursor *cursor)
{
    static const char *const what[] = {"start", "stop", "migrate", "churn"};
    static const enum action_kind kinds[] = {ACTION_START_MACHINE, ACTION_STOP_MACHINE,
                                             ACTION_MOVE_MACHINE, ACTION_CHURN};
    unsigned index;
    cursor_take_choice(cursor, "thing to do with machines", what, 4, &index);
    action->kind = kinds[index];
    if (action->kind == ACTION_CHURN)
        return read_churn(action, cursor);
    cursor_take(cursor, "a machine's name", &action->machine.name_word);
    if (action->kind == ACTION_STOP_MACHINE)
        return cursor->status;
    if (action->kind == ACTION_START_MACHINE)
        return cursor_accept(cursor, "at") ? take_place(action, cursor) : cursor->status;
    cursor_take_exact(cursor, "to");
    take_place(action, cursor);
    return cursor_is_done(cursor) ? cursor->status : take_mode(action, cursor);
}

static const struct {
    const char *name;
    enum action_kind kind; /* unless the words that follow say another */
    int (*read)(struct action *action, struct cursor *cursor);
} verbs[] = {
    {"fail", ACTION_FAIL_LINK, read_fail},
    {"restore", ACTION_RESTORE_LINK, read_fail},
    {"flap", ACTION_FLAP, take_port},
    {"drop", ACTION_DROP, read_drop},
    {"slow", ACTION_SLOW, read_slow},
    {"mute", ACTION_MUTE, take_node},
    {"heal", ACTION_HEAL, take_node},
    {"duplicate-guid", ACTION_DUPLICATE_GUID, read_duplicate},
    {"bit-errors", ACTION_BIT_ERRORS, read_bit_errors},
    {"kill", ACTION_KILL_MANAGER, read_manager},
    {"start", ACTION_START_MANAGER, read_start},
    {"stop", ACTION_STOP_MANAGER, read_start},
    {"reroute", ACTION_REROUTE, take_node},
    {"vm", ACTION_START_MACHINE, read_machine},
};
enum { VERBS = sizeof verbs / sizeof verbs[0] };
_Static_assert((int)VERBS <= (int)ACTION_VERBS, "room for the names of all verbs");

size_t action_verbs(const char *names[ACTION_VERBS])
{
    for (unsigned i = 0; i < VERBS; i++)
        names[i] = verbs[i].name;
    return VERBS;
}

int action_read(struct action *action, struct cursor *cursor)
{
    const char *names[ACTION_VERBS];
    unsigned verb;
    *action = (struct action){.node = TOPOLOGY_NONE, .port = TOPOLOGY_NONE};
    if (cursor_accept(cursor, "at"))
        action->when = ACTION_AT;
    else if (cursor_accept(cursor, "after"))
        action->when = ACTION_AFTER;
    if (action->when != ACTION_NOW) {
        action->when_word = cursor_next(cursor);
        cursor_take_time(cursor, &action->time);
    }
    cursor_take_choice(cursor, "action", names, action_verbs(names), &verb);
    action->kind = verbs[verb].kind;
    verbs[verb].read(action, cursor);
    return cursor_take_end(cursor);
}

/* ---- names of the fabric ---- */

static int bind_guid(struct action *action, const struct topology *topology, struct cursor *cursor)
{
    uint32_t other = topology_find(topology, action->guid_word.text);
    if (other != TOPOLOGY_NONE)
        action->value = topology->nodes.items[other].guid;
    else if (!parse_number(action->guid_word.text, &action->value) || action->value == 0)
        return bind_node(&action->guid_word, topology, cursor, &other);
    return 0;
}

int action_bind(struct action *action, const struct topology *topology, struct cursor *cursor)
{
    int status = 0;
    if (action->node_word.text)
        status = bind_node(&action->node_word, topology, cursor, &action->node);
    if (status == 0 && action->must_be_switch &&
        topology->nodes.items[action->node].kind != NODE_SWITCH)
        return word_error(cursor, &action->node_word,
                          "'%.80s' is no switch: say 'node' to mean any", action->node_word.text);
    if (status == 0 && action->port_word.text)
        status = bind_port(&action->port_word, action->node, topology, cursor, &action->port);
    if (status == 0 && action->port != TOPOLOGY_NONE &&
        topology->ports.items[action->port].peer == TOPOLOGY_NONE)
        return word_error(cursor, &action->port_word, "nothing is connected to port %s of '%.80s'",
                          action->port_word.text, node_label(topology, action->node));
    if (status == 0 && action->guid_word.text)
        status = bind_guid(action, topology, cursor);
    return status;
}
