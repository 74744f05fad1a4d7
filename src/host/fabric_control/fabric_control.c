/* Faults: a table of their commands, each read into a struct. fabric_report.c has the reports. */
#include "host/fabric_control/fabric_control.h"

#include "base/parse.h"
#include "base/time.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

/* One command. */
struct call {
    const struct fabric_access *access;
    const struct topology *topology;
    const char *const *words; /* the rest NULL */
    unsigned count;
    struct err *err;
};

/* ---- arguments ---- */

static int parse_node(const struct call *call, unsigned at, uint32_t *node)
{
    assert(at < call->count);
    *node = topology_find(call->topology, call->words[at]);
    if (*node != TOPOLOGY_NONE)
        return 0;
    return err_set(call->err, EINVAL, "no single node is called '%s'", call->words[at]);
}

/* Two words: a node and a port number. */
static int parse_port(const struct call *call, unsigned at, uint32_t *port)
{
    uint32_t node = TOPOLOGY_NONE;
    uint64_t number = 0;
    assert(at + 1 < call->count);
    int result = parse_node(call, at, &node);
    if (result < 0)
        return result;
    const char *word = call->words[at + 1];
    const struct topology_node *found = &call->topology->nodes.items[node];
    if (!parse_bounded(word, 0, 255, &number))
        return err_set(call->err, EINVAL, "'%s' is no port number", word);
    if (number > found->port_count)
        return err_set(call->err, EINVAL, "%s has ports up to %u, not %s", found->name,
                       found->port_count, word);
    *port = topology_port_index(call->topology, node, (unsigned)number);
    return 0;
}

static int parse_attribute(const struct call *call, const char *word, unsigned *attribute)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < WIRE_ATTRIBUTE_COUNT; i++)
        if ((wire_attributes[i].class == WIRE_CLASS_SMP ||
             wire_attributes[i].class == WIRE_CLASS_COMMON) &&
            strcasecmp(wire_attributes[i].name, word) == 0) {
            *attribute = wire_attributes[i].id;
            return 0;
        }
    if (!parse_bounded(word, 0, 0xffff, &number))
        return err_set(call->err, EINVAL, "'%s' is no SMP attribute", word);
    *attribute = (unsigned)number;
    return 0;
}

static int parse_up(const struct call *call, bool *up)
{
    *up = strcmp(call->words[1], "up") == 0;
    if (*up || strcmp(call->words[1], "down") == 0)
        return 0;
    return err_set(call->err, EINVAL, "'%s' is neither 'up' nor 'down'", call->words[1]);
}

/* ---- faults ---- */

static int control_link(struct call *call, struct fabric_command *command)
{
    bool up = false;
    int result = parse_up(call, &up);
    command->kind = up ? FABRIC_LINK_UP : FABRIC_LINK_DOWN;
    return result < 0 ? result : parse_port(call, 2, &command->port);
}

static int control_node(struct call *call, struct fabric_command *command)
{
    bool up = false;
    int result = parse_up(call, &up);
    command->kind = up ? FABRIC_TURN_ON : FABRIC_TURN_OFF;
    if (result == 0)
        result = parse_node(call, 2, &command->node);
    if (result == 0 && strcmp(call->words[0], "switch") == 0 &&
        call->topology->nodes.items[command->node].kind != NODE_SWITCH)
        return err_set(call->err, EINVAL, "'%s' is no switch; use 'node' for any node",
                       call->words[2]);
    return result;
}

static int control_flap(struct call *call, struct fabric_command *command)
{
    command->kind = FABRIC_FLAP;
    return parse_port(call, 1, &command->port);
}

/* "drop 5% attribute 2" on a fabric with a node of this name: losses of one port, or of all? */
static bool is_port_of_attribute(const struct call *call)
{
    uint32_t node = topology_find(call->topology, call->words[2]);
    uint64_t number;
    return node != TOPOLOGY_NONE && call->count == 4 &&
           parse_bounded(call->words[3], 0, call->topology->nodes.items[node].port_count, &number);
}

static int control_drop(struct call *call, struct fabric_command *command)
{
    const char *const *words = call->words;
    unsigned at = 2;
    int result = 0;
    command->kind = FABRIC_DROP;
    command->amount = words[1];
    if (!parse_percent(words[1], &command->value))
        return err_set(call->err, EINVAL, "'%s' is no percentage: write 5%% or 0.25%%", words[1]);
    if (words[at] && strcmp(words[at], "attribute") == 0 && is_port_of_attribute(call))
        return err_set(call->err, EINVAL,
                       "'attribute' is also a node: write its GUID, or the attribute's name");
    if (words[at] && strcmp(words[at], "attribute") != 0) {
        if (!words[at + 1])
            return err_set(call->err, EINVAL, "which port of '%s'?", words[at]);
        result = parse_port(call, at, &command->port);
        at += 2;
    }
    if (result == 0 && words[at]) {
        if (strcmp(words[at], "attribute") != 0 || !words[at + 1])
            return err_set(call->err, EINVAL, "expected 'attribute NAME', not '%s'", words[at]);
        result = parse_attribute(call, words[at + 1], &command->attribute);
        at += 2;
    }
    if (result == 0 && words[at])
        return err_set(call->err, EINVAL, "'%s' is one word too many", words[at]);
    return result;
}

static int control_agent(struct call *call, struct fabric_command *command)
{
    const char *how = call->words[1], *time = call->words[3];
    bool slow = strcmp(how, "slow") == 0, mute = strcmp(how, "mute") == 0;
    int result = parse_node(call, 2, &command->node);
    if (result < 0)
        return result;
    if (!slow && !mute && strcmp(how, "heal") != 0)
        return err_set(call->err, EINVAL, "agents can be 'slow', 'mute' or 'heal'ed, not '%s'",
                       how);
    if (slow != (time != NULL))
        return err_set(call->err, EINVAL,
                       "'agent slow NODE' takes a time, such as 50ms; others none");
    if (slow && (!time_parse(time, &command->value) || command->value == 0))
        return err_set(call->err, EINVAL, "'%s' is no time: write 50ms or 2s", time);
    command->kind = slow ? FABRIC_SLOW_AGENT : mute ? FABRIC_MUTE_AGENT : FABRIC_HEAL_AGENT;
    command->amount = time;
    return 0;
}

static int control_guid(struct call *call, struct fabric_command *command)
{
    int result = parse_node(call, 1, &command->node);
    command->kind = FABRIC_GUID;
    if (result == 0 && !parse_number(call->words[2], &command->value))
        return err_set(call->err, EINVAL, "'%s' is no GUID (0x…)", call->words[2]);
    return result;
}

static int control_errors(struct call *call, struct fabric_command *command)
{
    char number[24];
    int result = parse_port(call, 1, &command->port);
    snprintf(number, sizeof number, "%s", call->words[3]);
    char *unit = strstr(number, "/s");
    bool rate = unit && !unit[2];
    if (rate)
        *unit = 0;
    command->kind = rate ? FABRIC_BIT_ERROR_RATE : FABRIC_BIT_ERRORS;
    if (result == 0 && !parse_bounded(number, 0, UINT32_MAX, &command->value))
        return err_set(call->err, EINVAL, "'%s': expected a count or a rate, such as 100 or 5/s",
                       call->words[3]);
    return result;
}

int fabric_command_apply(struct fabric *fabric, const struct fabric_command *command,
                         struct err *err)
{
    uint32_t node = command->node, port = command->port;
    uint64_t value = command->value;
    switch (command->kind) {
    case FABRIC_LINK_DOWN: return fabric_set_link(fabric, port, false, err);
    case FABRIC_LINK_UP: return fabric_set_link(fabric, port, true, err);
    case FABRIC_TURN_OFF: return fabric_set_node(fabric, node, false, err);
    case FABRIC_TURN_ON: return fabric_set_node(fabric, node, true, err);
    case FABRIC_FLAP: return fabric_flap_port(fabric, port, err);
    case FABRIC_DROP: return fabric_set_loss(fabric, port, command->attribute, value, err);
    case FABRIC_SLOW_AGENT: return fabric_set_agent_delay(fabric, node, value, err);
    case FABRIC_MUTE_AGENT: return fabric_set_agent_delay(fabric, node, TIME_NEVER, err);
    case FABRIC_HEAL_AGENT: return fabric_set_agent_delay(fabric, node, 0, err);
    case FABRIC_GUID: return fabric_set_guid(fabric, node, value, err);
    case FABRIC_BIT_ERRORS: return fabric_add_bit_errors(fabric, port, (unsigned)value, err);
    case FABRIC_BIT_ERROR_RATE:
        return fabric_set_bit_error_rate(fabric, port, (unsigned)value, err);
    }
    return 0;
}

static int control_traffic(struct call *call)
{
    const struct fabric_access *access = call->access;
    bool start = strcmp(call->words[1], "start") == 0;
    if (!start && strcmp(call->words[1], "stop") != 0)
        return err_set(call->err, EINVAL, "'%s' is neither 'start' nor 'stop'", call->words[1]);
    if (!access->set_traffic)
        return err_set(call->err, ENOTSUP, "the scenario decides when traffic starts and stops");
    return access->set_traffic(access->context, start, call->err);
}

/* ---- the table of faults ---- */

static const struct {
    const char *name;
    unsigned least, most; /* number of words, with the name */
    int (*run)(struct call *call);
    int (*read_fault)(struct call *call, struct fabric_command *command);
    const char *usage;
} commands[] = {
    {"link", 4, 4, NULL, control_link, "link down|up NODE PORT"},
    {"switch", 3, 3, NULL, control_node, "switch down|up NODE"},
    {"node", 3, 3, NULL, control_node, "node down|up NODE"},
    {"flap", 3, 3, NULL, control_flap, "flap NODE PORT"},
    {"drop", 2, 6, NULL, control_drop, "drop P% [NODE PORT] [attribute NAME|0x..]"},
    {"agent", 3, 4, NULL, control_agent, "agent slow|mute|heal NODE [TIME]"},
    {"guid", 3, 3, NULL, control_guid, "guid NODE GUID"},
    {"errors", 4, 4, NULL, control_errors, "errors NODE PORT COUNT[/s]"},
    {"traffic", 2, 2, control_traffic, NULL, "traffic start|stop"},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static unsigned find_command(const char *name)
{
    unsigned i = 0;
    while (i < COMMANDS && strcmp(commands[i].name, name) != 0)
        i++;
    return i;
}

bool fabric_control_has(const char *name)
{
    return find_command(name) < COMMANDS;
}

static int run_command(struct call *call, unsigned index)
{
    struct fabric_command fault = {.node = TOPOLOGY_NONE, .port = TOPOLOGY_NONE};
    if (commands[index].run)
        return commands[index].run(call);
    int result = commands[index].read_fault(call, &fault);
    return result < 0 ? result : call->access->apply(call->access->context, &fault, call->err);
}

int fabric_control_run(const struct fabric_access *access, const char *const *words, unsigned count,
                       struct text *out)
{
    struct err err = {0};
    struct call call = {.access = access,
                        .topology = fabric_topology(access->fabric),
                        .words = words,
                        .count = count,
                        .err = &err};
    unsigned i = find_command(words[0]);
    int result = count < commands[i].least || count > commands[i].most
                     ? err_set(&err, EINVAL, "usage: weft ctl %s", commands[i].usage)
                     : run_command(&call, i);
    if (result < 0)
        text_puts(out, err.message);
    return result < 0 ? -EINVAL : 0;
}
