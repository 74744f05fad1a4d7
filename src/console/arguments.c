/* The arguments of actions: read from words, read from a request, printed as words. */
#include "console/internal.h"

#include "base/rng.h"
#include "base/time.h"
#include "console/names.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

/* Words that the grammar takes where a node can be. */
static const char word_attribute[] = "attribute", word_auto[] = "auto";

bool action_word_is_node(const char *word)
{
    return strcmp(word, word_attribute) != 0 && strcmp(word, word_auto) != 0;
}

/* ---- nodes and ports ---- */

static void read_node(struct action *action, struct cursor *cursor)
{
    cursor_take(cursor, "a node", &action->node_word);
}

static int request_node(struct action *action, const struct action_request *request,
                        const char *text, struct err *err)
{
    uint64_t node;
    int status = parse_parameter(text, "node", request->topology->nodes.count, &node, err);
    action->node = status ? TOPOLOGY_NONE : (uint32_t)node;
    return status;
}

static int request_manager(struct action *action, const struct action_request *request,
                           const char *text, struct err *err)
{
    uint64_t manager;
    int status = parse_parameter(text, "manager", request->manager_count, &manager, err);
    action->node = status ? TOPOLOGY_NONE : request->managers[manager];
    return status;
}

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

static void print_node(const struct action *action, const struct topology *topology,
                       struct text *out)
{
    text_putc(out, ' ');
    action_print_node(topology, action->node, out);
}

static void read_port(struct action *action, struct cursor *cursor)
{
    read_node(action, cursor);
    cursor_take(cursor, "a port's number", &action->port_word);
}

static void read_any_port(struct action *action, struct cursor *cursor)
{
    if (!cursor_is_done(cursor) && strcmp(cursor_next(cursor).text, word_attribute) != 0)
        read_port(action, cursor);
}

static int request_port(struct action *action, const struct action_request *request,
                        const char *text, struct err *err)
{
    uint64_t link;
    int status = parse_parameter(text, "link", request->link_count, &link, err);
    action->port = status ? TOPOLOGY_NONE : request->link_ports[link];
    return status;
}

static void print_port(const struct action *action, const struct topology *topology,
                       struct text *out)
{
    if (action->port == TOPOLOGY_NONE)
        return;
    text_putc(out, ' ');
    action_print_node(topology, topology->ports.items[action->port].node, out);
    text_printf(out, " %u", topology_port_number(topology, action->port));
}

/* ---- amounts ---- */

static void read_percent(struct action *action, struct cursor *cursor)
{
    cursor_take_percent(cursor, &action->value);
}

static int request_percent(struct action *action, const struct action_request *request,
                           const char *text, struct err *err)
{
    const char *rest;
    double percent;
    (void)request;
    if (!text || !parse_decimal(text, &percent, &rest) || *rest || percent < 0 || percent > 100)
        return err_set(err, EINVAL, "percent: expected a number from 0 to 100");
    uint64_t millionths = (uint64_t)(percent * 1e6 + 0.5); /* as words have them */
    action->value = (millionths * RNG_CERTAIN + 50000000) / 100000000;
    return 0;
}

/* Millionths of a percent are what words have. */
static void print_percent(const struct action *action, const struct topology *topology,
                          struct text *out)
{
    uint64_t millionths = (action->value * 100000000 + RNG_CERTAIN / 2) / RNG_CERTAIN;
    char fraction[8];
    (void)topology;
    int length = snprintf(fraction, sizeof fraction, "%06" PRIu64, millionths % 1000000);
    while (length > 0 && fraction[length - 1] == '0')
        fraction[--length] = 0;
    text_printf(out, " %" PRIu64 "%s%s%%", millionths / 1000000, length ? "." : "", fraction);
}

static void read_attribute_argument(struct action *action, struct cursor *cursor)
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

static int request_attribute(struct action *action, const struct action_request *request,
                             const char *text, struct err *err)
{
    struct word word = {.text = text};
    struct cursor cursor = {.file = "", .err = err};
    (void)request;
    return read_attribute(&cursor, &word, text, &action->attribute);
}

static void print_attribute(const struct action *action, const struct topology *topology,
                            struct text *out)
{
    (void)topology;
    if (action->attribute)
        text_printf(out, " %s 0x%x", word_attribute, action->attribute);
}

static void read_time(struct action *action, struct cursor *cursor)
{
    cursor_take_time(cursor, &action->value);
}

static int request_time(struct action *action, const struct action_request *request,
                        const char *text, struct err *err)
{
    uint64_t ns;
    (void)request;
    int status = parse_parameter(text, "ns", 100 * NS_PER_S, &ns, err);
    action->value = time_ns_to_ps(ns);
    return status;
}

/* Exactly, in the largest unit of which it is a multiple. */
static void put_time(uint64_t ps, struct text *out)
{
    static const struct {
        uint64_t ps;
        const char *name;
    } units[] = {{TIME_S, "s"}, {TIME_MS, "ms"}, {TIME_US, "us"}, {TIME_NS, "ns"}};
    for (unsigned i = 0; i < 4; i++)
        if (ps % units[i].ps == 0) {
            text_printf(out, " %" PRIu64 "%s", ps / units[i].ps, units[i].name);
            return;
        }
    text_printf(out, " %" PRIu64 ".%06" PRIu64 "us", ps / TIME_US, ps % TIME_US);
}

static void print_time(const struct action *action, const struct topology *topology,
                       struct text *out)
{
    (void)topology;
    put_time(action->value, out);
}

static void read_guid(struct action *action, struct cursor *cursor)
{
    cursor_take(cursor, "a GUID, or the node that has it", &action->value_word);
}

static int request_guid(struct action *action, const struct action_request *request,
                        const char *text, struct err *err)
{
    (void)request;
    return text && parse_number(text, &action->value) && action->value
               ? 0
               : err_set(err, EINVAL, "guid: expected a GUID such as 0x1234");
}

static void print_guid(const struct action *action, const struct topology *topology,
                       struct text *out)
{
    (void)topology;
    text_printf(out, " 0x%016" PRIx64, action->value);
}

/* N or N/s */
static bool parse_errors(struct action *action, const char *text)
{
    char number[24];
    size_t length = strlen(text);
    action->per_second = length > 2 && strcmp(text + length - 2, "/s") == 0;
    snprintf(number, sizeof number, "%.*s", (int)(length - (action->per_second ? 2 : 0)), text);
    return length < sizeof number &&
           parse_bounded(number, action->per_second ? 0 : 1, UINT32_MAX, &action->value);
}

static void read_errors(struct action *action, struct cursor *cursor)
{
    struct word word;
    if (cursor_take(cursor, "a number, or a rate such as 5/s", &word) == 0 &&
        !parse_errors(action, word.text))
        word_error(cursor, &word, "'%.40s': expected a number, or a rate such as 5/s", word.text);
}

static int request_errors(struct action *action, const struct action_request *request,
                          const char *text, struct err *err)
{
    (void)request;
    return text && parse_errors(action, text)
               ? 0
               : err_set(err, EINVAL, "count: expected a number, or a rate such as 5/s");
}

static void print_errors(const struct action *action, const struct topology *topology,
                         struct text *out)
{
    (void)topology;
    text_printf(out, " %" PRIu64 "%s", action->value, action->per_second ? "/s" : "");
}

static void read_traffic(struct action *action, struct cursor *cursor)
{
    action->value_word = cursor_next(cursor);
    cursor_take_number(cursor, "a traffic's number", 1, UINT32_MAX, &action->value);
}

static int request_traffic(struct action *action, const struct action_request *request,
                           const char *text, struct err *err)
{
    (void)request;
    return parse_parameter(text, "flow", UINT32_MAX, &action->value, err);
}

static void print_number(const struct action *action, const struct topology *topology,
                         struct text *out)
{
    (void)topology;
    text_printf(out, " %" PRIu64, action->value);
}

/* ---- virtual machines ---- */

/* A text as one word of a statement: in quotes if need be. */
static void put_word(const char *word, struct text *out)
{
    bool plain = *word != 0;
    for (const char *c = word; *c; c++)
        plain &= isalnum((unsigned char)*c) || strchr("_-.+,:/=", *c) != NULL;
    text_printf(out, plain ? " %s" : " \"%s\"", word);
}

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

static void read_machine(struct action *action, struct cursor *cursor)
{
    cursor_take(cursor, "a machine's name", &action->machine.name);
}

static int request_machine(struct action *action, const struct action_request *request,
                           const char *text, struct err *err)
{
    (void)request;
    action->machine.name = (struct word){.text = text};
    return action_check_word(text, "name", err);
}

static void print_machine(const struct action *action, const struct topology *topology,
                          struct text *out)
{
    (void)topology;
    put_word(action->machine.name.text, out);
}

static void take_place(struct action *action, struct cursor *cursor)
{
    struct word word = cursor_next(cursor);
    if (cursor_accept(cursor, word_auto))
        action->keyword = word;
    else
        cursor_take(cursor, "a hypervisor, or 'auto'", &action->node_word);
}

static void read_at(struct action *action, struct cursor *cursor)
{
    if (cursor_accept(cursor, "at"))
        take_place(action, cursor);
}

static void read_to(struct action *action, struct cursor *cursor)
{
    if (cursor_accept(cursor, "to"))
        take_place(action, cursor);
}

static void put_place(const struct action *action, const struct topology *topology,
                      const char *word, struct text *out)
{
    text_printf(out, " %s ", word);
    if (action->node == TOPOLOGY_NONE)
        text_puts(out, word_auto);
    else
        action_print_node(topology, action->node, out);
}

static void print_at(const struct action *action, const struct topology *topology, struct text *out)
{
    put_place(action, topology, "at", out);
}

static void print_to(const struct action *action, const struct topology *topology, struct text *out)
{
    put_place(action, topology, "to", out);
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

static int request_mode(struct action *action, const struct action_request *request,
                        const char *text, struct err *err)
{
    (void)request;
    action->machine.minimal = strcmp(text, modes[1]) == 0;
    return action->machine.minimal || strcmp(text, modes[0]) == 0
               ? 0
               : err_set(err, EINVAL, "mode: expected balanced or minimal");
}

static void print_mode(const struct action *action, const struct topology *topology,
                       struct text *out)
{
    (void)topology;
    if (action->machine.minimal)
        text_printf(out, " %s", modes[1]);
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

static int request_churn(struct action *action, const struct action_request *request,
                         const char *text, struct err *err)
{
    (void)action;
    (void)request;
    (void)text;
    return err_set(err, EINVAL, "a churn is a statement: use 'statement'");
}

static void print_churn(const struct action *action, const struct topology *topology,
                        struct text *out)
{
    const struct machine_action *churn = &action->machine;
    (void)topology;
    text_printf(out, " boots %.17g", churn->boots);
    if (churn->moves > 0)
        text_printf(out, " moves %.17g", churn->moves);
    text_puts(out, " per minute");
    if (churn->keep)
        text_printf(out, " keep %" PRIu64, churn->keep);
    text_puts(out, churn->absolute ? " until" : " for");
    put_time(churn->until, out);
    text_printf(out, " %s", modes[churn->minimal]);
}

/* ---- multicast groups and managers ---- */

/* Written like an IPv6 address. */
static bool parse_mgid(struct action *action, const char *text)
{
    return inet_pton(AF_INET6, text, action->mgid) == 1 && action->mgid[0] == 0xFF;
}

static void read_mgid(struct action *action, struct cursor *cursor)
{
    struct word word;
    if (cursor_take(cursor, "a multicast GID such as ff12:401b:ffff::1", &word) == 0 &&
        !parse_mgid(action, word.text))
        word_error(cursor, &word, "'%.80s' is not a multicast GID: expected ff12:401b:ffff::1",
                   word.text);
}

static int request_mgid(struct action *action, const struct action_request *request,
                        const char *text, struct err *err)
{
    (void)request;
    if (text && parse_mgid(action, text))
        return 0;
    return err_set(err, EINVAL, "mgid: expected a multicast GID such as ff12:401b:ffff::1");
}

static void print_mgid(const struct action *action, const struct topology *topology,
                       struct text *out)
{
    char text[INET6_ADDRSTRLEN];
    (void)topology;
    text_printf(out, " %s", inet_ntop(AF_INET6, action->mgid, text, sizeof text));
}

static void read_setting(struct action *action, struct cursor *cursor)
{
    cursor_take(cursor, "a setting of a manager", &action->key);
    cursor_take(cursor, "its value", &action->text);
}

/* An alias may have set the key, which then is the name of the parameter. */
static int request_setting(struct action *action, const struct action_request *request,
                           const char *text, struct err *err)
{
    const char *value = action->key.text ? action->key.text : "value";
    if (!action->key.text)
        action->key.text = text;
    action->text.text = request->get(request->context, value);
    int status = action_check_word(action->key.text, "key", err);
    return status ? status : action_check_word(action->text.text, value, err);
}

static void print_setting(const struct action *action, const struct topology *topology,
                          struct text *out)
{
    (void)topology;
    put_word(action->key.text, out);
    put_word(action->text.text, out);
}

const struct argument_row argument_rows[] = {
    [ARGUMENT_PORT] = {"NODE PORT", "link", read_port, request_port, print_port, false},
    [ARGUMENT_ANY_PORT] = {"[NODE PORT]", "link", read_any_port, request_port, print_port, true},
    [ARGUMENT_NODE] = {"NODE", "node", read_node, request_node, print_node, false},
    [ARGUMENT_SWITCH] = {"NODE", "node", read_node, request_node, print_node, false},
    [ARGUMENT_MANAGER] = {"NODE", "manager", read_node, request_manager, print_node, false},
    [ARGUMENT_PERCENT] = {"PERCENT", "percent", read_percent, request_percent, print_percent,
                          false},
    [ARGUMENT_ATTRIBUTE] = {"[attribute NAME]", "attribute", read_attribute_argument,
                            request_attribute, print_attribute, true},
    [ARGUMENT_TIME] = {"TIME", "ns", read_time, request_time, print_time, false},
    [ARGUMENT_GUID] = {"GUID|NODE", "guid", read_guid, request_guid, print_guid, false},
    [ARGUMENT_ERRORS] = {"COUNT[/s]", "count", read_errors, request_errors, print_errors, false},
    [ARGUMENT_TRAFFIC] = {"NUMBER", "flow", read_traffic, request_traffic, print_number, false},
    [ARGUMENT_MACHINE] = {"NAME", "name", read_machine, request_machine, print_machine, false},
    [ARGUMENT_AT] = {"[at HYPERVISOR|auto]", "node", read_at, request_node, print_at, true},
    [ARGUMENT_TO] = {"[to HYPERVISOR|auto]", "node", read_to, request_node, print_to, true},
    [ARGUMENT_MODE] = {"[balanced|minimal]", "mode", read_mode, request_mode, print_mode, true},
    [ARGUMENT_CHURN] = {"boots N [moves N] [per minute] [keep N] for|until TIME", "boots",
                        read_churn, request_churn, print_churn, false},
    [ARGUMENT_MGID] = {"MGID", "mgid", read_mgid, request_mgid, print_mgid, false},
    [ARGUMENT_SETTING] = {"KEY VALUE", "key", read_setting, request_setting, print_setting, false},
};

/* ---- requests ---- */

int action_read_request(struct action *action, const struct action_request *request,
                        struct err *err)
{
    const char *name = request->get(request->context, "do");
    const struct action_alias *alias;
    int status = 0;
    *action = (struct action){.node = TOPOLOGY_NONE, .port = TOPOLOGY_NONE};
    if (!name)
        return err_set(err, EINVAL, "'do' is missing");
    action->kind = action_find(name, &alias);
    if (action->kind == ACTION_KINDS)
        return err_set(err, ENOENT, "'%.40s' is not an action", name);
    if (alias)
        action->key.text = alias->argument;
    for (const enum argument *at = action_row(action)->arguments; *at && status == 0; at++) {
        const struct argument_row *argument = &argument_rows[*at];
        const char *text = request->get(request->context, argument->parameter);
        if (text || !argument->optional)
            status = argument->request(action, request, text, err);
    }
    return status;
}

void action_list(unsigned owners, const char *key, struct json *json)
{
    static const char *const states[] = {"any", "present", "failed", "up", "faulty"};
    json_begin_array(json, key);
    for (unsigned kind = 0; kind < ACTION_KINDS; kind++) {
        const struct action_row *row = &action_rows[kind];
        struct text usage = {0};
        if (!(owners & 1U << row->owner))
            continue;
        json_begin_object(json, NULL);
        json_string(json, "do", row->words.all);
        action_print_usage(row, &usage);
        json_string(json, "usage", usage.data);
        text_release(&usage);
        json_begin_array(json, "arguments");
        for (const enum argument *at = row->arguments; *at; at++)
            json_string(json, NULL, argument_rows[*at].parameter);
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
    return status;
}
