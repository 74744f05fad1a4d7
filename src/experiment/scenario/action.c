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
    int status = take_node(action, cursor);
    return status ? status : cursor_take(cursor, "a port's number", &action->port_word);
}

/* ---- verbs ---- */

static int read_fail(struct action *action, struct cursor *cursor, bool restore)
{
    static const char *const what[] = {"link", "switch", "node"};
    unsigned index = 0;
    int status = cursor_take_choice(cursor, "thing to fail", what, 3, &index);
    if (status)
        return status;
    if (index == 0) {
        action->kind = restore ? ACTION_RESTORE_LINK : ACTION_FAIL_LINK;
        return take_port(action, cursor);
    }
    action->kind = restore ? ACTION_RESTORE_NODE : ACTION_FAIL_NODE;
    action->must_be_switch = index == 1;
    return take_node(action, cursor);
}

static int read_drop(struct action *action, struct cursor *cursor)
{
    int status = cursor_take_percent(cursor, &action->value);
    if (status == 0 && !cursor_is_done(cursor) && !cursor_accept(cursor, "attribute")) {
        status = take_port(action, cursor);
        if (status || cursor_is_done(cursor))
            return status;
        status = cursor_take_exact(cursor, "attribute");
    }
    if (status || strcmp(cursor->words[cursor->at - 1].text, "attribute") != 0)
        return status;
    struct word word;
    status = cursor_take(cursor, "an SMP attribute such as PortInfo", &word);
    return status ? status : read_attribute(cursor, &word, word.text, &action->attribute);
}

static int read_slow(struct action *action, struct cursor *cursor)
{
    int status = take_node(action, cursor);
    return status ? status : cursor_take_time(cursor, &action->value);
}

static int read_duplicate(struct action *action, struct cursor *cursor)
{
    int status = take_node(action, cursor);
    return status ? status
                  : cursor_take(cursor, "a GUID, or the node that has it", &action->guid_word);
}

static int read_bit_errors(struct action *action, struct cursor *cursor)
{
    int status = take_port(action, cursor);
    return status ? status : cursor_take_number(cursor, "a number", 1, UINT32_MAX, &action->value);
}

static int read_manager(struct action *action, struct cursor *cursor)
{
    int status = cursor_take_exact(cursor, "sm");
    return status ? status : take_node(action, cursor);
}

/* start and stop: a manager, or a traffic by its number */
static int read_start(struct action *action, struct cursor *cursor, bool stop)
{
    static const char *const what[] = {"sm", "traffic"};
    unsigned index = 0;
    int status = cursor_take_choice(cursor, "thing to start or stop", what, 2, &index);
    if (status || index == 0)
        return status ? status : take_node(action, cursor);
    action->kind = stop ? ACTION_STOP_TRAFFIC : ACTION_START_TRAFFIC;
    action->value_word = cursor_is_done(cursor) ? cursor->end : cursor->words[cursor->at];
    return cursor_take_number(cursor, "a traffic's number", 1, UINT32_MAX, &action->value);
}

/* ---- virtual machines ---- */

static const char *const modes[] = {[VSWITCH_BALANCED] = "balanced", [VSWITCH_MINIMAL] = "minimal"};

static int take_mode(struct action *action, struct cursor *cursor)
{
    unsigned mode = 0;
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
    unsigned part = 0;
    int status = cursor_take_choice(cursor, "part of a churn", parts, 8, &part);
    if (status)
        return status;
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
    int status = 0;
    while (status == 0 && !cursor_is_done(cursor))
        status = read_churn_part(action, cursor);
    if (status == 0 && action->machine.boots <= 0)
        return word_error(cursor, &word, "without 'boots N' there is nothing that could move");
    if (status == 0 && action->machine.until == 0)
        return word_error(cursor, &word, "how long? 'for TIME' or 'until TIME'");
    return status;
}

static int read_machine(struct action *action, struct cursor *cursor)
{
    static const char *const what[] = {"start", "stop", "migrate", "churn"};
    static const enum action_kind kinds[] = {ACTION_START_MACHINE, ACTION_STOP_MACHINE,
                                             ACTION_MOVE_MACHINE, ACTION_CHURN};
    unsigned index = 0;
    int status = cursor_take_choice(cursor, "thing to do with machines", what, 4, &index);
    if (status)
        return status;
    action->kind = kinds[index];
    if (action->kind == ACTION_CHURN)
        return read_churn(action, cursor);
    status = cursor_take(cursor, "a machine's name", &action->machine.name_word);
    if (status || action->kind == ACTION_STOP_MACHINE)
        return status;
    if (action->kind == ACTION_START_MACHINE)
        return cursor_accept(cursor, "at") ? take_place(action, cursor) : 0;
    status = cursor_take_exact(cursor, "to");
    if (status == 0)
        status = take_place(action, cursor);
    return status || cursor_is_done(cursor) ? status : take_mode(action, cursor);
}

static const char *const verbs[] = {"fail",  "restore", "flap",           "drop",       "slow",
                                    "mute",  "heal",    "duplicate-guid", "bit-errors", "kill",
                                    "start", "stop",    "reroute",        "vm"};
enum verb {
    FAIL,
    RESTORE,
    FLAP,
    DROP,
    SLOW,
    MUTE,
    HEAL,
    DUPLICATE,
    BITS,
    KILL,
    START,
    STOP,
    REROUTE,
    VM
};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

size_t action_verbs(const char *const **names)
{
    *names = verbs;
    return VERBS;
}

bool action_is_verb(const char *word)
{
    for (unsigned i = 0; i < VERBS; i++)
        if (strcmp(verbs[i], word) == 0)
            return true;
    return false;
}

static int read_verb(struct action *action, struct cursor *cursor)
{
    static const enum action_kind kinds[VERBS] = {
        [FLAP] = ACTION_FLAP,           [DROP] = ACTION_DROP,
        [SLOW] = ACTION_SLOW,           [MUTE] = ACTION_MUTE,
        [HEAL] = ACTION_HEAL,           [DUPLICATE] = ACTION_DUPLICATE_GUID,
        [BITS] = ACTION_BIT_ERRORS,     [KILL] = ACTION_KILL_MANAGER,
        [START] = ACTION_START_MANAGER, [STOP] = ACTION_STOP_MANAGER,
        [REROUTE] = ACTION_REROUTE,
    };
    unsigned verb = 0;
    int status = cursor_take_choice(cursor, "action", verbs, VERBS, &verb);
    if (status)
        return status;
    action->kind = kinds[verb];
    switch ((enum verb)verb) {
    case FAIL: return read_fail(action, cursor, false);
    case RESTORE: return read_fail(action, cursor, true);
    case FLAP: return take_port(action, cursor);
    case DROP: return read_drop(action, cursor);
    case SLOW: return read_slow(action, cursor);
    case DUPLICATE: return read_duplicate(action, cursor);
    case BITS: return read_bit_errors(action, cursor);
    case KILL: return read_manager(action, cursor);
    case VM: return read_machine(action, cursor);
    case START: return read_start(action, cursor, false);
    case STOP: return read_start(action, cursor, true);
    case MUTE:
    case HEAL:
    case REROUTE: break;
    }
    return take_node(action, cursor);
}

int action_read(struct action *action, struct cursor *cursor)
{
    *action = (struct action){.node = TOPOLOGY_NONE, .port = TOPOLOGY_NONE};
    int status = 0;
    if (cursor_accept(cursor, "at"))
        action->when = ACTION_AT;
    else if (cursor_accept(cursor, "after"))
        action->when = ACTION_AFTER;
    if (action->when != ACTION_NOW) {
        action->when_word = cursor_is_done(cursor) ? cursor->end : cursor->words[cursor->at];
        status = cursor_take_time(cursor, &action->time);
    }
    if (status == 0)
        status = read_verb(action, cursor);
    return status ? status : cursor_take_end(cursor);
}

/* ---- names of the fabric ---- */

static int bind_guid(struct action *action, const struct topology *topology,
                     const struct cursor *cursor)
{
    uint32_t other = topology_find(topology, action->guid_word.text);
    if (other != TOPOLOGY_NONE)
        action->value = topology->nodes.items[other].guid;
    else if (!parse_number(action->guid_word.text, &action->value) || action->value == 0)
        return bind_node(&action->guid_word, topology, cursor, &other);
    return 0;
}

int action_bind(struct action *action, const struct topology *topology, const struct cursor *cursor)
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
