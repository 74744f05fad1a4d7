/* The commands of `weft ctl`: look at a running fabric and break it on purpose.
 *
 * One table of commands; each takes its words and writes text or JSON. Faults act on the fabric at
 * once; what they cause (traps, timeouts) comes by the usual ways. */
#include "base/parse.h"
#include "base/time.h"
#include "host/server/control_report.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

enum { WORDS = 12 };

struct words {
    const char *items[WORDS + 1]; /* the rest NULL */
    unsigned count;
};

typedef int (*control_command)(struct clients *clients, const struct words *words, struct err *err);

/* ---- what words mean ---- */

static int parse_node(const struct clients *clients, const char *word, uint32_t *node,
                      struct err *err)
{
    *node = topology_find(fabric_topology(clients->fabric), word);
    return *node == TOPOLOGY_NONE ? err_set(err, EINVAL, "no single node is called '%s'", word) : 0;
}

static int parse_port(const struct clients *clients, const char *node_word, const char *port_word,
                      uint32_t *port, struct err *err)
{
    const struct topology *topology = fabric_topology(clients->fabric);
    uint32_t node = TOPOLOGY_NONE;
    uint64_t number = 0;
    int result = parse_node(clients, node_word, &node, err);
    if (result < 0)
        return result;
    if (!parse_bounded(port_word, 0, 255, &number))
        return err_set(err, EINVAL, "'%s' is no port number", port_word);
    if (number > topology->nodes.items[node].port_count)
        return err_set(err, EINVAL, "%s has ports up to %u, not %s",
                       topology->nodes.items[node].name, topology->nodes.items[node].port_count,
                       port_word);
    *port = topology_port_index(topology, node, (unsigned)number);
    return 0;
}

static int parse_attribute(const char *word, unsigned *attribute, struct err *err)
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
        return err_set(err, EINVAL, "'%s' is no SMP attribute", word);
    *attribute = (unsigned)number;
    return 0;
}

static int parse_up(const char *word, bool *up, struct err *err)
{
    *up = strcmp(word, "up") == 0;
    if (*up || strcmp(word, "down") == 0)
        return 0;
    return err_set(err, EINVAL, "'%s' is neither 'up' nor 'down'", word);
}

/* ---- faults ---- */

static int control_link(struct clients *clients, const struct words *words, struct err *err)
{
    uint32_t port = TOPOLOGY_NONE;
    bool up = false;
    int result = parse_up(words->items[1], &up, err);
    if (result == 0)
        result = parse_port(clients, words->items[2], words->items[3], &port, err);
    return result < 0 ? result : fabric_set_link(clients->fabric, port, up, err);
}

static int control_node(struct clients *clients, const struct words *words, struct err *err)
{
    uint32_t node = TOPOLOGY_NONE;
    bool up = false;
    int result = parse_up(words->items[1], &up, err);
    if (result == 0)
        result = parse_node(clients, words->items[2], &node, err);
    if (result < 0)
        return result;
    if (strcmp(words->items[0], "switch") == 0 &&
        fabric_topology(clients->fabric)->nodes.items[node].kind != NODE_SWITCH)
        return err_set(err, EINVAL, "'%s' is no switch; say 'node' to mean any", words->items[2]);
    return fabric_set_node(clients->fabric, node, up, err);
}

static int control_flap(struct clients *clients, const struct words *words, struct err *err)
{
    uint32_t port = TOPOLOGY_NONE;
    int result = parse_port(clients, words->items[1], words->items[2], &port, err);
    return result < 0 ? result : fabric_flap_port(clients->fabric, port, err);
}

static int control_drop(struct clients *clients, const struct words *words, struct err *err)
{
    uint32_t port = TOPOLOGY_NONE;
    unsigned attribute = 0, at = 2;
    uint64_t parts = 0;
    int result = 0;
    if (!parse_percent(words->items[1], &parts))
        return err_set(err, EINVAL, "'%s' is no percentage: write 5%% or 0.25%%", words->items[1]);
    if (words->items[at] && strcmp(words->items[at], "attribute") != 0) {
        if (!words->items[at + 1])
            return err_set(err, EINVAL, "which port of '%s'?", words->items[at]);
        result = parse_port(clients, words->items[at], words->items[at + 1], &port, err);
        at += 2;
    }
    if (result == 0 && words->items[at]) {
        if (strcmp(words->items[at], "attribute") != 0 || !words->items[at + 1])
            return err_set(err, EINVAL, "expected 'attribute NAME', not '%s'", words->items[at]);
        result = parse_attribute(words->items[at + 1], &attribute, err);
        at += 2;
    }
    if (result == 0 && words->items[at])
        return err_set(err, EINVAL, "'%s' is one word too many", words->items[at]);
    return result < 0 ? result : fabric_set_loss(clients->fabric, port, attribute, parts, err);
}

static int control_agent(struct clients *clients, const struct words *words, struct err *err)
{
    uint32_t node = TOPOLOGY_NONE;
    uint64_t delay = 0;
    const char *how = words->items[1];
    bool slow = strcmp(how, "slow") == 0, mute = strcmp(how, "mute") == 0;
    int result = parse_node(clients, words->items[2], &node, err);
    if (result < 0)
        return result;
    if (!slow && !mute && strcmp(how, "heal") != 0)
        return err_set(err, EINVAL, "agents can be 'slow', 'mute' or 'heal'ed, not '%s'", how);
    if (slow != (words->items[3] != NULL))
        return err_set(err, EINVAL, "'agent slow NODE' takes a time, such as 50ms; others none");
    if (slow && (!time_parse(words->items[3], &delay) || delay == 0))
        return err_set(err, EINVAL, "'%s' is no time: write 50ms or 2s", words->items[3]);
    return fabric_set_agent_delay(clients->fabric, node, mute ? TIME_NEVER : delay, err);
}

static int control_guid(struct clients *clients, const struct words *words, struct err *err)
{
    uint32_t node = TOPOLOGY_NONE;
    uint64_t guid = 0;
    int result = parse_node(clients, words->items[1], &node, err);
    if (result == 0 && !parse_number(words->items[2], &guid))
        return err_set(err, EINVAL, "'%s' is no GUID (0x…)", words->items[2]);
    return result < 0 ? result : fabric_set_guid(clients->fabric, node, guid, err);
}

static int control_errors(struct clients *clients, const struct words *words, struct err *err)
{
    uint32_t port = TOPOLOGY_NONE;
    uint64_t count = 0;
    int result = parse_port(clients, words->items[1], words->items[2], &port, err);
    if (result == 0 && !parse_bounded(words->items[3], 0, UINT32_MAX, &count))
        return err_set(err, EINVAL, "'%s' is no count", words->items[3]);
    return result < 0 ? result : fabric_add_bit_errors(clients->fabric, port, (unsigned)count, err);
}

static int control_stop(struct clients *clients, const struct words *words, struct err *err)
{
    (void)words;
    (void)err;
    clients->stop = true;
    return 0;
}

/* ---- reports ---- */

static int control_counters(struct clients *clients, const struct words *words, bool json,
                            struct text *out, struct err *err)
{
    struct counter_selection selection = {.node = TOPOLOGY_NONE, .port = TOPOLOGY_NONE};
    int result = 0;
    if (words->count >= 2)
        result = parse_node(clients, words->items[1], &selection.node, err);
    if (result == 0 && words->count == 3)
        result = parse_port(clients, words->items[1], words->items[2], &selection.port, err);
    if (result < 0)
        return result;
    report_counters(clients, &selection, json, out);
    return 0;
}

/* ---- the table ---- */

static const struct {
    const char *name;
    unsigned least, most; /* words, the name included */
    control_command run;  /* NULL: a report */
    const char *usage;
} commands[] = {
    {"status", 1, 1, NULL, "status"},
    {"counters", 1, 3, NULL, "counters [NODE [PORT]]"},
    {"link", 4, 4, control_link, "link down|up NODE PORT"},
    {"switch", 3, 3, control_node, "switch down|up NODE"},
    {"node", 3, 3, control_node, "node down|up NODE"},
    {"flap", 3, 3, control_flap, "flap NODE PORT"},
    {"drop", 2, 6, control_drop, "drop P% [NODE PORT] [attribute NAME|0x..]"},
    {"agent", 3, 4, control_agent, "agent slow|mute|heal NODE [TIME]"},
    {"guid", 3, 3, control_guid, "guid NODE GUID"},
    {"errors", 4, 4, control_errors, "errors NODE PORT COUNT"},
    {"stop", 1, 1, control_stop, "stop"},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int run_words(struct clients *clients, const struct words *words, bool json,
                     struct text *out, struct err *err)
{
    if (words->count == 0)
        return err_set(err, EINVAL, "no command");
    for (unsigned i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, words->items[0]) != 0)
            continue;
        if (words->count < commands[i].least || words->count > commands[i].most)
            return err_set(err, EINVAL, "usage: weft ctl %s", commands[i].usage);
        if (commands[i].run)
            return commands[i].run(clients, words, err);
        if (strcmp(commands[i].name, "counters") == 0)
            return control_counters(clients, words, json, out, err);
        report_status(clients, json, out);
        return 0;
    }
    return err_set(err, EINVAL, "no command '%s': 'weft ctl --help' lists them", words->items[0]);
}

/* Words each end with a NUL, the last with two. */
int control_run(struct clients *clients, const char *command, bool json, struct text *out)
{
    struct words words = {0};
    struct err err = {0};
    for (const char *at = command; *at && words.count < WORDS; at += strlen(at) + 1)
        words.items[words.count++] = at;
    int result = run_words(clients, &words, json, out, &err);
    if (result == 0)
        return 0;
    text_clear(out);
    text_puts(out, err.message);
    return -EINVAL;
}
