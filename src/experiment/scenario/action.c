#include "experiment/scenario/action.h"

#include "base/parse.h"
#include "experiment/scenario/names.h"

#include <arpa/inet.h>
#include <string.h>

/* Words that the grammar takes where a node can be. */
static const char word_attribute[] = "attribute", word_auto[] = "auto";

bool action_word_is_node(const char *word)
{
    return strcmp(word, word_attribute) != 0 && strcmp(word, word_auto) != 0;
}

static void take_node(struct action *action, struct cursor *cursor)
{
    cursor_take(cursor, "a node", &action->node_word);
}

static void take_port(struct action *action, struct cursor *cursor)
{
    take_node(action, cursor);
    cursor_take(cursor, "a port's number", &action->port_word);
}

/* ---- verbs ---- */

static void read_fail(struct action *action, struct cursor *cursor)
{
    static const char *const what[] = {"link", "switch", "node"};
    unsigned index;
    cursor_take_choice(cursor, "thing to fail", what, 3, &index);
    if (index == 0) {
        take_port(action, cursor);
    } else {
        action->kind = action->kind == ACTION_FAIL_LINK ? ACTION_FAIL_NODE : ACTION_RESTORE_NODE;
        action->must_be_switch = index == 1;
        take_node(action, cursor);
    }
}

/* drop PERCENT [NODE PORT] [attribute NAME] */
static void read_drop(struct action *action, struct cursor *cursor)
{
    struct word word;
    cursor_take_percent(cursor, &action->value);
    if (!cursor_is_done(cursor) && strcmp(cursor_next(cursor).text, word_attribute) != 0)
        take_port(action, cursor);
    if (cursor_is_done(cursor))
        return;
    cursor_take_exact(cursor, word_attribute);
    cursor_take(cursor, "an SMP attribute such as PortInfo", &word);
    read_attribute(cursor, &word, word.text, &action->attribute);
}

static void read_slow(struct action *action, struct cursor *cursor)
{
    take_node(action, cursor);
    cursor_take_time(cursor, &action->value);
}

static void read_duplicate(struct action *action, struct cursor *cursor)
{
    take_node(action, cursor);
    cursor_take(cursor, "a GUID, or the node that has it", &action->guid_word);
}

/* bit-errors NODE PORT N[/s] */
static void read_bit_errors(struct action *action, struct cursor *cursor)
{
    struct word word;
    char number[24];
    take_port(action, cursor);
    if (cursor_take(cursor, "a number, or a rate such as 5/s", &word) < 0)
        return;
    size_t length = strlen(word.text);
    action->per_second = length > 2 && strcmp(word.text + length - 2, "/s") == 0;
    snprintf(number, sizeof number, "%.*s", (int)(length - (action->per_second ? 2 : 0)),
             word.text);
    if (length >= sizeof number ||
        !parse_bounded(number, action->per_second ? 0 : 1, UINT32_MAX, &action->value))
        word_error(cursor, &word, "'%.40s': expected a number, or a rate such as 5/s", word.text);
}

static void read_manager(struct action *action, struct cursor *cursor)
{
    cursor_take_exact(cursor, "sm");
    take_node(action, cursor);
}

/* join NODE MGID, leave NODE MGID; an MGID is written like an IPv6 address */
static void read_join(struct action *action, struct cursor *cursor)
{
    struct word word;
    take_node(action, cursor);
    if (cursor_take(cursor, "a multicast GID such as ff12:401b:ffff::1", &word) == 0 &&
        (inet_pton(AF_INET6, word.text, action->mgid) != 1 || action->mgid[0] != 0xFF))
        word_error(cursor, &word, "'%.80s' is no multicast GID: expected ff12:401b:ffff::1",
                   word.text);
}

/* configure sm NODE KEY VALUE */
static void read_configure(struct action *action, struct cursor *cursor)
{
    read_manager(action, cursor);
    cursor_take(cursor, "a setting of a manager", &action->key_word);
    cursor_take(cursor, "its value", &action->value_word);
}

/* start and stop: a manager, or a traffic by its number */
static void read_start(struct action *action, struct cursor *cursor)
{
    static const char *const what[] = {"sm", "traffic"};
    unsigned index;
    cursor_take_choice(cursor, "thing to start or stop", what, 2, &index);
    if (index == 0) {
        take_node(action, cursor);
    } else {
        bool stop = action->kind == ACTION_STOP_MANAGER;
        action->kind = stop ? ACTION_STOP_TRAFFIC : ACTION_START_TRAFFIC;
        action->value_word = cursor_next(cursor);
        cursor_take_number(cursor, "a traffic's number", 1, UINT32_MAX, &action->value);
    }
}

/* ---- virtual machines ---- */

static const char *const modes[] = {[VSWITCH_BALANCED] = "balanced", [VSWITCH_MINIMAL] = "minimal"};

static void take_mode(struct action *action, struct cursor *cursor)
{
    unsigned mode;
    cursor_take_choice(cursor, "mode of a move", modes, 2, &mode);
    action->machine.mode = (enum vswitch_mode)mode;
}

static void take_place(struct action *action, struct cursor *cursor)
{
    if (!cursor_accept(cursor, word_auto))
        cursor_take(cursor, "a hypervisor, or 'auto'", &action->node_word);
}

/* boots R | moves R | per minute | keep N | for T | until T | balanced | minimal */
static void read_churn_part(struct action *action, struct cursor *cursor)
{
    static const char *const parts[] = {"boots", "moves", "per",      "keep",
                                        "for",   "until", "balanced", "minimal"};
    struct machine_action *churn = &action->machine;
    unsigned part;
    cursor_take_choice(cursor, "part of a churn", parts, 8, &part);
    switch (part) {
    case 0: cursor_take_decimal(cursor, "boots a minute", 1e9, &churn->boots); break;
    case 1: cursor_take_decimal(cursor, "moves a minute", 1e9, &churn->moves); break;
    case 2: cursor_take_exact(cursor, "minute"); break;
    case 3: cursor_take_number(cursor, "a number of machines", 1, 49151, &churn->keep); break;
    case 4:
    case 5:
        churn->absolute = part == 5;
        cursor_take_time(cursor, &churn->until);
        break;
    default: churn->mode = part == 6 ? VSWITCH_BALANCED : VSWITCH_MINIMAL;
    }
}

static void read_churn(struct action *action, struct cursor *cursor)
{
    struct word word = cursor->words[cursor->at - 1];
    while (!cursor_is_done(cursor))
        read_churn_part(action, cursor);
    if (action->machine.boots <= 0)
        word_error(cursor, &word, "a churn needs 'boots N'");
    if (action->machine.until == 0)
        word_error(cursor, &word, "no end: expected 'for TIME' or 'until TIME'");
}

static void read_machine(struct action *action, struct cursor *cursor)
{
    static const char *const what[] = {"start", "stop", "migrate", "smp", "churn"};
    static const enum action_kind kinds[] = {ACTION_START_MACHINE, ACTION_STOP_MACHINE,
                                             ACTION_MOVE_MACHINE, ACTION_MACHINE_SMP, ACTION_CHURN};
    unsigned index;
    cursor_take_choice(cursor, "thing to do with machines", what, 5, &index);
    action->kind = kinds[index];
    if (action->kind == ACTION_CHURN) {
        read_churn(action, cursor);
        return;
    }
    cursor_take(cursor, "a machine's name", &action->machine.name_word);
    if (action->kind == ACTION_START_MACHINE && cursor_accept(cursor, "at"))
        take_place(action, cursor);
    if (action->kind != ACTION_MOVE_MACHINE)
        return;
    cursor_take_exact(cursor, "to");
    take_place(action, cursor);
    if (!cursor_is_done(cursor))
        take_mode(action, cursor);
}

static const struct {
    const char *name;
    enum action_kind kind; /* the words that follow can change it */
    void (*read)(struct action *action, struct cursor *cursor);
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
    {"join", ACTION_JOIN, read_join},
    {"leave", ACTION_LEAVE, read_join},
    {"configure", ACTION_CONFIGURE, read_configure},
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

void action_read(struct action *action, struct cursor *cursor)
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
        if (action->when == ACTION_AT)
            moment_take(cursor, &action->time);
        else
            cursor_take_time(cursor, &action->time.ps);
        if (cursor_accept(cursor, "within"))
            cursor_take_time(cursor, &action->within);
    }
    cursor_take_choice(cursor, "action", names, action_verbs(names), &verb);
    action->kind = verbs[verb].kind;
    verbs[verb].read(action, cursor);
}

/* ---- names of the fabric ---- */

int action_bind(struct action *action, const struct topology *topology, struct cursor *cursor)
{
    const char *guid = action->guid_word.text;
    uint32_t other;
    int status = 0;
    if (action->node_word.text)
        status = bind_node(&action->node_word, topology, cursor, &action->node);
    if (status == 0 && action->must_be_switch &&
        topology->nodes.items[action->node].kind != NODE_SWITCH)
        return word_error(cursor, &action->node_word,
                          "'%.80s' is no switch: 'node' allows any node", action->node_word.text);
    if (status == 0 && action->port_word.text)
        status = bind_port(&action->port_word, action->node, topology, cursor, &action->port);
    if (status == 0 && action->port != TOPOLOGY_NONE &&
        topology->ports.items[action->port].peer == TOPOLOGY_NONE)
        return word_error(cursor, &action->port_word, "nothing is connected to port %s of '%.80s'",
                          action->port_word.text, node_label(topology, action->node));
    if (status || !guid)
        return status;
    if (topology_find(topology, guid) == TOPOLOGY_NONE && parse_number(guid, &action->value) &&
        action->value)
        return 0;
    status = bind_node(&action->guid_word, topology, cursor, &other);
    if (status == 0)
        action->value = topology->nodes.items[other].guid;
    return status;
}
