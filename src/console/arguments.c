/* The arguments of actions: read from words, read from a request, printed as words.
 *
 * A request gives nodes, links and managers by number. Its other parameters are read by the code
 * that reads words. */
#include "console/internal.h"

#include "base/rng.h"
#include "base/time.h"
#include "console/exact.h"
#include "console/names.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

/* Words that the grammar takes where a node can be. */
static const char word_attribute[] = "attribute", word_auto[] = "auto";

/* What a parameter is: a number of something, or the words of the argument. */
enum parameter_kind {
    WORDS,
    NAME, /* without special characters */
    PACE, /* two words, with a blank between them */
    NODES,
    LINKS,
    MANAGERS,
};

static const struct {
    const char *usage;
    const char *parameter; /* of a request; NULL: only a statement has it */
    enum parameter_kind kind;
    bool optional;       /* as a parameter */
    const char *keyword; /* the word before it */
    const char *unit;    /* of a parameter, which is a number */
} rows[] = {
    [ARGUMENT_PORT] = {"NODE PORT", "link", LINKS},
    [ARGUMENT_ANY_PORT] = {"[NODE PORT]", "link", LINKS, true},
    [ARGUMENT_NODE] = {"NODE", "node", NODES},
    [ARGUMENT_SWITCH] = {"NODE", "node", NODES},
    [ARGUMENT_MANAGER] = {"NODE", "manager", MANAGERS},
    [ARGUMENT_PERCENT] = {"PERCENT", "percent", .unit = "%"},
    [ARGUMENT_ATTRIBUTE] = {"[attribute NAME]", "attribute", WORDS, true, word_attribute},
    [ARGUMENT_TIME] = {"TIME", "ns", .unit = "ns"},
    [ARGUMENT_GUID] = {"GUID|NODE", "guid"},
    [ARGUMENT_PEER] = {"NODE", "peer", NODES},
    [ARGUMENT_PACE] = {"[every TIME|load SHARE|rate BYTES]", "pace", PACE, true},
    [ARGUMENT_ERRORS] = {"COUNT[/s]", "count"},
    [ARGUMENT_TRAFFIC] = {"NUMBER", "flow"},
    [ARGUMENT_MACHINE] = {"NAME", "name", NAME},
    [ARGUMENT_AT] = {"[at HYPERVISOR|auto]", "node", NODES, true, "at"},
    [ARGUMENT_TO] = {"[to HYPERVISOR|auto]", "node", NODES, true, "to"},
    [ARGUMENT_MODE] = {"[balanced|minimal]", "mode", WORDS, true},
    [ARGUMENT_CHURN] = {"boots N [moves N] [per minute] [keep N] for|until TIME", NULL},
    [ARGUMENT_MGID] = {"MGID", "mgid"},
    [ARGUMENT_KEY] = {"KEY", "key", NAME},
    [ARGUMENT_VALUE] = {"VALUE", "value", NAME},
};

void argument_print_usage(enum argument argument, struct text *out)
{
    text_printf(out, " %s", rows[argument].usage);
}

/* ---- words ---- */

bool action_word_is_node(const char *word)
{
    return strcmp(word, word_attribute) != 0 && strcmp(word, word_auto) != 0;
}

static void read_attribute_name(struct action *action, struct cursor *cursor)
{
    struct word word, keyword = cursor_next(cursor);
    if (cursor_is_done(cursor))
        return;
    cursor_take_exact(cursor, word_attribute);
    cursor_take(cursor, "an SMP attribute such as PortInfo", &word);
    if (isdigit((unsigned char)word.text[0]) && !action->node_word.text)
        action->keyword = keyword; /* or the node of that name, and its port */
    read_attribute(cursor, &word, word.text, &action->attribute);
}

/* N or N/s */
static void read_errors(struct action *action, struct cursor *cursor)
{
    struct word word;
    char number[24];
    cursor_take(cursor, "a number, or a rate such as 5/s", &word);
    size_t length = strlen(word.text);
    action->per_second = length > 2 && strcmp(word.text + length - 2, "/s") == 0;
    snprintf(number, sizeof number, "%.*s", (int)(length - (action->per_second ? 2 : 0)),
             word.text);
    if (length >= sizeof number ||
        !parse_bounded(number, action->per_second ? 0 : 1, UINT32_MAX, &action->value))
        word_error(cursor, &word, "'%.40s': expected a number, or a rate such as 5/s", word.text);
}

static void read_place(struct action *action, struct cursor *cursor, const char *preposition)
{
    if (!cursor_accept(cursor, preposition))
        return;
    struct word word = cursor_next(cursor);
    if (cursor_accept(cursor, word_auto))
        action->keyword = word;
    else
        cursor_take(cursor, "a hypervisor, or 'auto'", &action->node_word);
}

static const char *const modes[] = {"balanced", "minimal"};

static void read_mode(struct action *action, struct cursor *cursor)
{
    unsigned mode;
    if (cursor_is_done(cursor))
        return;
    cursor_take_choice(cursor, "mode of a move", modes, 2, &mode);
    action->machine.minimal = mode == 1;
}

/* boots R | moves R | per minute | keep N | for T | until T | balanced | minimal */
static void read_churn_part(struct machine_action *churn, struct cursor *cursor)
{
    static const char *const parts[] = {"boots", "moves", "per",      "keep",
                                        "for",   "until", "balanced", "minimal"};
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
    default: churn->minimal = part == 7;
    }
}

static void read_churn(struct action *action, struct cursor *cursor)
{
    struct word word = cursor->words[cursor->at - 1];
    while (!cursor_is_done(cursor))
        read_churn_part(&action->machine, cursor);
    if (action->machine.boots <= 0)
        word_error(cursor, &word, "a churn needs 'boots N'");
    if (action->machine.until == 0)
        word_error(cursor, &word, "no end: expected 'for TIME' or 'until TIME'");
}

/* Written like an IPv6 address. */
static void read_mgid(struct action *action, struct cursor *cursor)
{
    struct word word;
    cursor_take(cursor, "a multicast GID such as ff12:401b:ffff::1", &word);
    if (inet_pton(AF_INET6, word.text, action->mgid) != 1 || action->mgid[0] != 0xFF)
        word_error(cursor, &word, "'%.80s' is not a multicast GID: expected ff12:401b:ffff::1",
                   word.text);
}

void argument_read(enum argument argument, struct action *action, struct cursor *cursor)
{
    switch (argument) {
    case ARGUMENT_ANY_PORT:
        if (cursor_is_done(cursor) || strcmp(cursor_next(cursor).text, word_attribute) == 0)
            break;
        __attribute__((fallthrough));
    case ARGUMENT_PORT:
        cursor_take(cursor, "a node", &action->node_word);
        cursor_take(cursor, "a port's number", &action->port_word);
        break;
    case ARGUMENT_NODE:
    case ARGUMENT_SWITCH:
    case ARGUMENT_MANAGER: cursor_take(cursor, "a node", &action->node_word); break;
    case ARGUMENT_PERCENT: cursor_take_percent(cursor, &action->value); break;
    case ARGUMENT_ATTRIBUTE: read_attribute_name(action, cursor); break;
    case ARGUMENT_TIME: cursor_take_time(cursor, &action->value); break;
    case ARGUMENT_GUID:
        cursor_take(cursor, "a GUID, or the node that has it", &action->value_word);
        break;
    case ARGUMENT_PEER: cursor_take(cursor, "another node", &action->value_word); break;
    case ARGUMENT_PACE: pace_read(&action->pace, cursor); break;
    case ARGUMENT_ERRORS: read_errors(action, cursor); break;
    case ARGUMENT_TRAFFIC:
        action->value_word = cursor_next(cursor);
        cursor_take_number(cursor, "a traffic's number", 1, UINT32_MAX, &action->value);
        break;
    case ARGUMENT_MACHINE: cursor_take(cursor, "a machine's name", &action->machine.name); break;
    case ARGUMENT_AT:
    case ARGUMENT_TO: read_place(action, cursor, rows[argument].keyword); break;
    case ARGUMENT_MODE: read_mode(action, cursor); break;
    case ARGUMENT_CHURN: read_churn(action, cursor); break;
    case ARGUMENT_MGID: read_mgid(action, cursor); break;
    case ARGUMENT_KEY: cursor_take(cursor, "a setting of a manager", &action->key); break;
    case ARGUMENT_VALUE: cursor_take(cursor, "its value", &action->text); break;
    case ARGUMENT_END: break;
    }
}

/* ---- printing ---- */

/* A name that is one plain word, and of this node only; else the GUID. Whoever names a node must
 * not write a statement with it. */
void action_print_node(const struct topology *topology, uint32_t node, struct text *out)
{
    const char *label = topology_label(topology, node);
    bool plain =
        (isalnum((unsigned char)label[0]) || label[0] == '_') && action_word_is_node(label);
    for (const char *c = label; *c; c++)
        plain &= isalnum((unsigned char)*c) || strchr("_-./", *c) != NULL;
    if (plain && topology_find(topology, label) == node)
        text_puts(out, label);
    else
        text_printf(out, "0x%016" PRIx64, topology->nodes.items[node].guid);
}

/* A text as one word of a statement: in quotes if need be. */
static void print_word(const char *word, struct text *out)
{
    bool plain = *word != 0;
    for (const char *c = word; *c; c++)
        plain &= isalnum((unsigned char)*c) || strchr("_-.+,:/=", *c) != NULL;
    text_printf(out, plain ? "%s" : "\"%s\"", word);
}

static void print_churn(const struct machine_action *churn, struct text *out)
{
    text_puts(out, "boots ");
    exact_print_decimal(churn->boots, out);
    if (churn->moves > 0) {
        text_puts(out, " moves ");
        exact_print_decimal(churn->moves, out);
    }
    text_puts(out, " per minute");
    if (churn->keep)
        text_printf(out, " keep %" PRIu64, churn->keep);
    text_puts(out, churn->absolute ? " until " : " for ");
    exact_print_time(churn->until, out);
    text_printf(out, " %s", modes[churn->minimal]);
}

static bool is_default(enum argument argument, const struct action *action)
{
    return (argument == ARGUMENT_ANY_PORT && action->port == TOPOLOGY_NONE) ||
           (argument == ARGUMENT_ATTRIBUTE && !action->attribute) ||
           (argument == ARGUMENT_PACE && action->pace.kind == PACE_NONE) ||
           (argument == ARGUMENT_MODE && !action->machine.minimal);
}

void argument_print(enum argument argument, const struct action *action,
                    const struct topology *topology, struct text *out)
{
    char address[INET6_ADDRSTRLEN];
    if (is_default(argument, action))
        return;
    text_putc(out, ' ');
    if (rows[argument].keyword)
        text_printf(out, "%s ", rows[argument].keyword);
    switch (argument) {
    case ARGUMENT_PORT:
    case ARGUMENT_ANY_PORT:
        action_print_node(topology, topology->ports.items[action->port].node, out);
        text_printf(out, " %u", topology_port_number(topology, action->port));
        break;
    case ARGUMENT_NODE:
    case ARGUMENT_SWITCH:
    case ARGUMENT_MANAGER: action_print_node(topology, action->node, out); break;
    case ARGUMENT_AT:
    case ARGUMENT_TO:
        if (action->node == TOPOLOGY_NONE)
            text_puts(out, word_auto);
        else
            action_print_node(topology, action->node, out);
        break;
    case ARGUMENT_PERCENT: exact_print_percent(action->value, out); break;
    case ARGUMENT_ATTRIBUTE: text_printf(out, "0x%x", action->attribute); break;
    case ARGUMENT_TIME: exact_print_time(action->value, out); break;
    case ARGUMENT_GUID: text_printf(out, "0x%016" PRIx64, action->value); break;
    case ARGUMENT_PEER: action_print_node(topology, (uint32_t)action->value, out); break;
    case ARGUMENT_PACE: pace_print(&action->pace, out); break;
    case ARGUMENT_ERRORS:
        text_printf(out, "%" PRIu64 "%s", action->value, action->per_second ? "/s" : "");
        break;
    case ARGUMENT_TRAFFIC: text_printf(out, "%" PRIu64, action->value); break;
    case ARGUMENT_MACHINE: print_word(action->machine.name.text, out); break;
    case ARGUMENT_MODE: text_puts(out, modes[1]); break;
    case ARGUMENT_CHURN: print_churn(&action->machine, out); break;
    case ARGUMENT_MGID:
        text_puts(out, inet_ntop(AF_INET6, action->mgid, address, sizeof address));
        break;
    case ARGUMENT_KEY: print_word(action->key.text, out); break;
    case ARGUMENT_VALUE: print_word(action->text.text, out); break;
    case ARGUMENT_END: break;
    }
}

/* ---- requests ---- */

int action_check_word(const char *word, const char *name, struct err *err)
{
    if (!word || !word[0])
        return err_set(err, EINVAL, "'%s' is missing", name);
    if (strlen(word) > 64)
        return err_set(err, EINVAL, "'%s' is too long", name);
    for (const char *c = word; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-.+,", *c))
            return err_set(err, EINVAL, "%s: letters, digits, '_', '-', '.', '+' and ',' only",
                           name);
    return 0;
}

static int read_number(enum argument argument, struct action *action,
                       const struct action_request *request, const char *text, struct err *err)
{
    const size_t ends[] = {[NODES] = request->topology->nodes.count,
                           [LINKS] = request->link_count,
                           [MANAGERS] = request->manager_count};
    enum parameter_kind kind = rows[argument].kind;
    uint64_t number;
    int status = parse_parameter(text, rows[argument].parameter, ends[kind], &number, err);
    if (status == 0 && argument == ARGUMENT_PEER)
        action->value = number;
    else if (status == 0 && kind == LINKS)
        action->port = request->link_ports[number];
    else if (status == 0)
        action->node = kind == NODES ? (uint32_t)number : request->managers[number];
    return status;
}

/* An alias can name the setting; then that is also the name of the parameter with its value. */
static int read_parameter(enum argument argument, struct action *action,
                          const struct action_request *request, const struct action_alias *alias,
                          struct err *err)
{
    const char *name = rows[argument].parameter, *setting = alias ? alias->argument : NULL;
    if (!name)
        return err_set(err, EINVAL, "'%s' needs a statement", action_row(action)->words.all);
    if (argument == ARGUMENT_VALUE && setting)
        name = setting;
    const char *text =
        argument == ARGUMENT_KEY && setting ? setting : request->get(request->context, name);
    if (!text && rows[argument].optional)
        return 0;
    if (rows[argument].kind >= NODES)
        return read_number(argument, action, request, text, err);
    if (!text)
        return err_set(err, EINVAL, "'%s' is missing", name);
    if (rows[argument].kind == NAME && action_check_word(text, name, err))
        return -EINVAL;
    char number[40], first[40];
    struct word words[] = {{.text = rows[argument].keyword}, {.text = text}};
    struct cursor cursor = {.file = "", .err = err, .words = words, .count = 2};
    if (rows[argument].unit) {
        snprintf(number, sizeof number, "%.36s%s", text, rows[argument].unit);
        words[1].text = number;
    }
    cursor.at = !rows[argument].keyword;
    const char *blank = strchr(text, ' ');
    if (rows[argument].kind == PACE && blank) {
        snprintf(first, sizeof first, "%.*s", (int)(blank - text), text);
        words[0].text = first;
        words[1].text = blank + 1;
        cursor.at = 0;
    }
    argument_read(argument, action, &cursor);
    return cursor_take_end(&cursor);
}

int action_read_request(struct action *action, const struct action_request *request,
                        struct err *err)
{
    const char *name = request->get(request->context, "do");
    struct cursor cursor = {.file = "", .err = err};
    const struct action_alias *alias;
    int status = 0;
    *action = (struct action){.node = TOPOLOGY_NONE, .port = TOPOLOGY_NONE};
    if (!name)
        return err_set(err, EINVAL, "'do' is missing");
    action->kind = action_find(name, &alias);
    if (action->kind == ACTION_KINDS)
        return err_set(err, ENOENT, "'%.40s' is not an action", name);
    for (const enum argument *at = action_row(action)->arguments; *at && status == 0; at++)
        status = read_parameter(*at, action, request, alias, err);
    return status ? status : action_bind(action, request->topology, &cursor);
}

void action_list(bool (*offers)(const struct action_row *row), struct json *json)
{
    static const char *const states[] = {"any", "present", "failed", "up", "faulty"};
    json_begin_array(json, "actions");
    for (unsigned kind = 0; kind < ACTION_KINDS; kind++) {
        const struct action_row *row = &action_rows[kind];
        struct text usage = {0};
        if (offers && !offers(row))
            continue;
        json_begin_object(json, NULL);
        json_string(json, "do", row->words.all);
        action_print_usage(row, &usage);
        json_string(json, "usage", usage.data);
        text_release(&usage);
        json_begin_array(json, "arguments");
        for (const enum argument *at = row->arguments; *at && rows[*at].parameter; at++)
            json_string(json, NULL, rows[*at].parameter);
        json_end_array(json);
        json_bool(json, "fault", row->effect != NULL);
        if (row->page.label) {
            json_string(json, "label", row->page.label);
            json_string(json, "done", row->page.done);
            json_string(json, "state", states[row->page.state]);
            json_unsigned(json, "value", row->page.value);
        }
        if (row->page.undo)
            json_string(json, "undo", row->page.undo);
        json_end_object(json);
    }
    json_end_array(json);
}

/* ---- names of the fabric ---- */

static int bind_guid(struct action *action, const struct topology *topology, struct cursor *cursor)
{
    uint32_t other;
    const char *guid = action->value_word.text;
    if (topology_find(topology, guid) == TOPOLOGY_NONE && parse_number(guid, &action->value) &&
        action->value)
        return 0;
    int status = bind_node(&action->value_word, topology, cursor, &other);
    if (status == 0)
        action->value = topology->nodes.items[other].guid;
    return status;
}

int action_bind(struct action *action, const struct topology *topology, struct cursor *cursor)
{
    const enum argument *arguments = action_row(action)->arguments;
    int status = 0;
    if (action->keyword.text && topology_find(topology, action->keyword.text) != TOPOLOGY_NONE)
        return word_error(cursor, &action->keyword,
                          "'%s' is also a node: write its GUID, or other words",
                          action->keyword.text);
    if (action->node_word.text) {
        status = bind_node(&action->node_word, topology, cursor, &action->node);
        if (status == 0 && action->port_word.text) {
            status = bind_port(&action->port_word, action->node, topology, cursor, &action->port);
            action->node = TOPOLOGY_NONE;
        }
    }
    if (status == 0 && arguments[0] == ARGUMENT_SWITCH &&
        topology->nodes.items[action->node].kind != NODE_SWITCH)
        return word_error(cursor, &action->node_word,
                          "'%.80s' is not a switch: 'node' allows any node",
                          node_label(topology, action->node));
    if (status == 0 && action->port != TOPOLOGY_NONE &&
        topology->ports.items[action->port].peer == TOPOLOGY_NONE)
        return word_error(cursor, &action->port_word, "nothing is connected to port %u of '%.80s'",
                          topology_port_number(topology, action->port),
                          node_label(topology, topology->ports.items[action->port].node));
    if (status == 0 && arguments[1] == ARGUMENT_GUID && action->value_word.text)
        status = bind_guid(action, topology, cursor);
    if (status == 0 && arguments[1] == ARGUMENT_PEER && action->value_word.text) {
        uint32_t peer;
        status = bind_node(&action->value_word, topology, cursor, &peer);
        action->value = peer;
    }
    return status;
}
