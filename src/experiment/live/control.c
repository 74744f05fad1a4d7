#include "experiment/live/control.h"

#include "base/parse.h"
#include "experiment/live/memberships.h"
#include "experiment/scenario/action.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

/* ---- parameters ---- */

static const char *get(const struct control_parameters *parameters, const char *name)
{
    return parameters->get(parameters->context, name);
}

int control_number(const struct control_parameters *parameters, const char *name, uint64_t end,
                   uint64_t *value, struct err *err)
{
    return api_parse_number(get(parameters, name), name, end, value, err);
}

/* A name as one word of the language. Whoever names a node must not write a statement with it: a
 * node goes by its GUID if its name has other signs, or is a word of the grammar or of another
 * node.
 */
static void put_node(const struct topology *topology, uint32_t node, struct text *out)
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

/* NODE PORT */
static void put_port(const struct topology *topology, uint32_t port, struct text *out)
{
    put_node(topology, topology->ports.items[port].node, out);
    text_printf(out, " %u", topology_port_number(topology, port));
}

static int put_node_parameter(const struct watch *watch,
                              const struct control_parameters *parameters, struct text *out,
                              struct err *err)
{
    const struct topology *topology = &live_session_setup(watch->session)->topology;
    uint64_t node;
    int status = control_number(parameters, "node", topology->nodes.count, &node, err);
    if (status == 0)
        put_node(topology, (uint32_t)node, out);
    return status;
}

/* End a of the link: NODE PORT. */
static int put_link_parameter(const struct watch *watch,
                              const struct control_parameters *parameters, struct text *out,
                              struct err *err)
{
    const struct topology *topology = &live_session_setup(watch->session)->topology;
    uint64_t link;
    int status = control_number(parameters, "link", watch->view.links.count, &link, err);
    if (status)
        return status;
    put_port(topology, watch->view.links.ports[link], out);
    return 0;
}

static void put_manager(const struct setup *setup, size_t instance, struct text *out)
{
    put_node(&setup->topology, setup->topology.ports.items[setup->places.items[instance].port].node,
             out);
}

static int put_manager_parameter(const struct watch *watch,
                                 const struct control_parameters *parameters, struct text *out,
                                 uint64_t *manager, struct err *err)
{
    const struct setup *setup = live_session_setup(watch->session);
    int status = control_number(parameters, "manager", setup->instances.count, manager, err);
    if (status == 0)
        put_manager(setup, (size_t)*manager, out);
    return status;
}

/* One word of letters, digits and a few signs. */
static int put_word(const char *word, const char *name, struct text *out, struct err *err)
{
    if (!word || !word[0])
        return err_set(err, EINVAL, "'%s' is missing", name);
    if (strlen(word) > 64)
        return err_set(err, EINVAL, "'%s' is too long", name);
    for (const char *c = word; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-.+,", *c))
            return err_set(err, EINVAL, "%s: letters, digits, '_', '-', '.', '+' and ',' only",
                           name);
    text_puts(out, word);
    return 0;
}

static int put_word_parameter(const struct control_parameters *parameters, const char *name,
                              struct text *out, struct err *err)
{
    return put_word(get(parameters, name), name, out, err);
}

/* ---- actions ---- */

/* Those that are a verb and a link, a node or a manager. */
static const struct {
    const char *name, *verb;
    enum { OF_LINK, OF_NODE, OF_MANAGER } of;
} simple[] = {
    {"cut", "fail link ", OF_LINK},
    {"restore", "restore link ", OF_LINK},
    {"flap", "flap ", OF_LINK},
    {"kill-node", "fail node ", OF_NODE},
    {"restore-node", "restore node ", OF_NODE},
    {"mute", "mute ", OF_NODE},
    {"heal", "heal ", OF_NODE},
    {"kill-manager", "kill sm ", OF_MANAGER},
    {"stop-manager", "stop sm ", OF_MANAGER},
    {"reroute", "reroute ", OF_MANAGER},
};

static int put_simple(const struct watch *watch, const struct control_parameters *parameters,
                      unsigned index, struct text *out, struct err *err)
{
    uint64_t manager;
    text_puts(out, simple[index].verb);
    switch (simple[index].of) {
    case OF_LINK: return put_link_parameter(watch, parameters, out, err);
    case OF_NODE: return put_node_parameter(watch, parameters, out, err);
    default: return put_manager_parameter(watch, parameters, out, &manager, err);
    }
}

static int put_lossy(const struct watch *watch, const struct control_parameters *parameters,
                     struct text *out, struct err *err)
{
    const char *text = get(parameters, "percent"), *rest;
    double percent;
    if (!text || !parse_decimal(text, &percent, &rest) || *rest || percent < 0 || percent > 100)
        return err_set(err, EINVAL, "percent: expected a number from 0 to 100");
    text_printf(out, "drop %.6f%% ", percent);
    return put_link_parameter(watch, parameters, out, err);
}

static int put_bit_errors(const struct watch *watch, const struct control_parameters *parameters,
                          struct text *out, struct err *err)
{
    uint64_t count;
    int status = control_number(parameters, "count", UINT32_MAX, &count, err);
    if (status)
        return status;
    text_puts(out, "bit-errors ");
    status = put_link_parameter(watch, parameters, out, err);
    text_printf(out, " %" PRIu64, count);
    return status;
}

static int put_slow(const struct watch *watch, const struct control_parameters *parameters,
                    struct text *out, struct err *err)
{
    uint64_t ns;
    int status = control_number(parameters, "ns", 100 * NS_PER_S, &ns, err);
    if (status)
        return status;
    text_puts(out, "slow ");
    status = put_node_parameter(watch, parameters, out, err);
    text_printf(out, " %" PRIu64 ".%06" PRIu64 "ms", ns / NS_PER_MS, ns % NS_PER_MS);
    return status;
}

/* A manager that was stopped still exists: it ends before it can start again. */
static int put_start_manager(const struct watch *watch, const struct control_parameters *parameters,
                             struct text *out, struct err *err)
{
    const struct setup *setup = live_session_setup(watch->session);
    struct text name = {0};
    uint64_t manager;
    int status = put_manager_parameter(watch, parameters, &name, &manager, err);
    if (status == 0) {
        const struct sm *sm = setup_manager(setup, (size_t)manager);
        if (sm && sm_state(sm) == SM_NOT_ACTIVE)
            text_printf(out, "kill sm %s\n", name.data);
        text_printf(out, "start sm %s", name.data);
    }
    text_release(&name);
    return status;
}

static int put_engine(const struct watch *watch, const struct control_parameters *parameters,
                      struct text *out, struct err *err)
{
    uint64_t manager;
    text_puts(out, "configure sm ");
    int status = put_manager_parameter(watch, parameters, out, &manager, err);
    text_puts(out, " engine ");
    return status ? status : put_word_parameter(parameters, "engine", out, err);
}

static int put_flow(const struct watch *watch, const struct control_parameters *parameters,
                    const char *verb, struct text *out, struct err *err)
{
    uint64_t flow;
    size_t count = live_session_setup(watch->session)->flows.count;
    int status = control_number(parameters, "flow", count + 1, &flow, err);
    if (status == 0)
        text_printf(out, "%s traffic %" PRIu64, verb, flow);
    return status;
}

static int put_machine(const struct watch *watch, const struct control_parameters *parameters,
                       const char *verb, const char *place, struct text *out, struct err *err)
{
    text_printf(out, "vm %s ", verb);
    int status = put_word_parameter(parameters, "name", out, err);
    if (status || !place)
        return status;
    text_printf(out, " %s ", place);
    if (get(parameters, "node"))
        return put_node_parameter(watch, parameters, out, err);
    text_puts(out, "auto");
    return 0;
}

/* The new rules for all managers. */
static int put_partition(const struct watch *watch, const struct control_parameters *parameters,
                         struct text *out, struct err *err)
{
    const struct setup *setup = live_session_setup(watch->session);
    struct painted_partition partition = {.full = get(parameters, "nodes"),
                                          .limited = get(parameters, "limited")};
    struct text name = {0}, rules = {0};
    uint64_t key;
    int status = control_number(parameters, "pkey", 0x7FFF, &key, err);
    if (status == 0 && key == 0)
        status = err_set(err, EINVAL, "pkey: expected 1 to 0x7ffe");
    if (status == 0)
        status = put_word_parameter(parameters, "name", &name, err);
    partition.key = (unsigned)key;
    partition.name = name.data;
    if (status == 0)
        status = memberships_put_rules(watch, &partition, &rules, err);
    for (size_t i = 0; i < setup->places.count && status == 0; i++) {
        text_puts(out, "configure sm ");
        put_manager(setup, i, out);
        text_printf(out, " partition_rules \"%s\"\n", rules.data);
    }
    text_release(&name);
    text_release(&rules);
    return status;
}

static int put_join(const struct watch *watch, const struct control_parameters *parameters,
                    const char *verb, struct text *out, struct err *err)
{
    const char *mgid = get(parameters, "mgid");
    uint8_t address[16];
    char plain[INET6_ADDRSTRLEN];
    if (!mgid || inet_pton(AF_INET6, mgid, address) != 1)
        return err_set(err, EINVAL, "mgid: expected a multicast GID such as ff12:401b:ffff::1");
    text_printf(out, "%s ", verb);
    int status = put_node_parameter(watch, parameters, out, err);
    text_printf(out, " %s", inet_ntop(AF_INET6, address, plain, sizeof plain));
    return status;
}

static int put_statement(const struct control_parameters *parameters, struct text *out,
                         struct err *err)
{
    const char *text = get(parameters, "text");
    if (!text || !text[0] || strlen(text) > 1000)
        return err_set(err, EINVAL, "text: expected one action");
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            return err_set(err, EINVAL, "text: expected one line");
    text_puts(out, text);
    return 0;
}

int control_statements(const struct watch *watch, const struct control_parameters *parameters,
                       struct text *out, struct err *err)
{
    const char *action = get(parameters, "do");
    if (!action)
        return err_set(err, EINVAL, "'do' is missing");
    for (unsigned i = 0; i < sizeof simple / sizeof simple[0]; i++)
        if (strcmp(simple[i].name, action) == 0)
            return put_simple(watch, parameters, i, out, err);
    if (strcmp(action, "lossy") == 0)
        return put_lossy(watch, parameters, out, err);
    if (strcmp(action, "bit-errors") == 0)
        return put_bit_errors(watch, parameters, out, err);
    if (strcmp(action, "slow") == 0)
        return put_slow(watch, parameters, out, err);
    if (strcmp(action, "start-manager") == 0)
        return put_start_manager(watch, parameters, out, err);
    if (strcmp(action, "engine") == 0)
        return put_engine(watch, parameters, out, err);
    if (strcmp(action, "start-traffic") == 0)
        return put_flow(watch, parameters, "start", out, err);
    if (strcmp(action, "stop-traffic") == 0)
        return put_flow(watch, parameters, "stop", out, err);
    if (strcmp(action, "vm-start") == 0)
        return put_machine(watch, parameters, "start", "at", out, err);
    if (strcmp(action, "vm-move") == 0)
        return put_machine(watch, parameters, "migrate", "to", out, err);
    if (strcmp(action, "vm-stop") == 0)
        return put_machine(watch, parameters, "stop", NULL, out, err);
    if (strcmp(action, "partition") == 0)
        return put_partition(watch, parameters, out, err);
    if (strcmp(action, "join") == 0 || strcmp(action, "leave") == 0)
        return put_join(watch, parameters, action, out, err);
    if (strcmp(action, "statement") == 0)
        return put_statement(parameters, out, err);
    return err_set(err, ENOENT, "'%.40s' is no action", action);
}

/* ---- commands of weft ctl ---- */

void control_put_fault(const struct topology *topology, const struct fabric_command *fault,
                       struct text *out)
{
    static const char *const verbs[] = {
        [FABRIC_LINK_DOWN] = "fail link",
        [FABRIC_LINK_UP] = "restore link",
        [FABRIC_TURN_OFF] = "fail node",
        [FABRIC_TURN_ON] = "restore node",
        [FABRIC_FLAP] = "flap",
        [FABRIC_DROP] = "drop",
        [FABRIC_SLOW_AGENT] = "slow",
        [FABRIC_MUTE_AGENT] = "mute",
        [FABRIC_HEAL_AGENT] = "heal",
        [FABRIC_GUID] = "duplicate-guid",
        [FABRIC_BIT_ERRORS] = "bit-errors",
        [FABRIC_BIT_ERROR_RATE] = "bit-errors",
    };
    text_printf(out, "%s ", verbs[fault->kind]);
    if (fault->kind == FABRIC_DROP)
        text_printf(out, "%s ", fault->amount);
    if (fault->node != TOPOLOGY_NONE)
        put_node(topology, fault->node, out);
    if (fault->port != TOPOLOGY_NONE)
        put_port(topology, fault->port, out);
    if (fault->attribute)
        text_printf(out, " attribute 0x%x", fault->attribute);
    if (fault->kind == FABRIC_SLOW_AGENT)
        text_printf(out, " %s", fault->amount);
    if (fault->kind == FABRIC_GUID)
        text_printf(out, " 0x%016" PRIx64, fault->value);
    if (fault->kind == FABRIC_BIT_ERRORS || fault->kind == FABRIC_BIT_ERROR_RATE)
        text_printf(out, " %" PRIu64 "%s", fault->value,
                    fault->kind == FABRIC_BIT_ERROR_RATE ? "/s" : "");
}

void control_put_reroute(const struct setup *setup, size_t instance, struct text *out)
{
    text_puts(out, "reroute ");
    put_manager(setup, instance, out);
}

/* "on HOST", "to HOST" and "mode MODE" */
static int put_vm_option(const struct topology *topology, const char *const option[2], bool creates,
                         struct text *place, const char **mode, struct err *err)
{
    bool is_mode = strcmp(option[0], "mode") == 0;
    if (!is_mode && strcmp(option[0], creates ? "on" : "to") != 0)
        return err_set(err, EINVAL, "'%.40s': expected '%s HOST' or 'mode MODE'", option[0],
                       creates ? "on" : "to");
    if (is_mode && strcmp(option[1], "balanced") != 0 && strcmp(option[1], "minimal") != 0)
        return err_set(err, EINVAL, "'%.40s': a mode is balanced or minimal", option[1]);
    if (is_mode) {
        *mode = option[1];
        return 0;
    }
    text_clear(place);
    uint32_t node = topology_find(topology, option[1]);
    if (strcmp(option[1], "auto") == 0 && node != TOPOLOGY_NONE)
        return err_set(err, EINVAL, "'auto' is also a node: write its GUID, or leave out '%s auto'",
                       option[0]);
    if (strcmp(option[1], "auto") == 0)
        text_puts(place, "auto");
    else if (node == TOPOLOGY_NONE)
        return err_set(err, EINVAL, "no single node is called '%.80s'", option[1]);
    else
        put_node(topology, node, place);
    return 0;
}

int control_put_vm(const struct topology *topology, const char *const *words, unsigned count,
                   struct text *out, struct err *err)
{
    const char *verb = count ? words[0] : "", *mode = NULL;
    bool creates = strcmp(verb, "create") == 0, migrates = strcmp(verb, "migrate") == 0;
    struct text place = {0};
    if ((!creates && !migrates && strcmp(verb, "destroy") != 0) || count < 2)
        return err_set(err, EINVAL,
                       "vm create, destroy, migrate or show need a name; vm list does not");
    if (count % 2 || (!creates && !migrates && count > 2))
        return err_set(err, EINVAL, "'%.40s' is one word too many, or needs a value",
                       words[count - 1]);
    text_printf(out, "vm %s ", creates ? "start" : migrates ? "migrate" : "stop");
    int status = put_word(words[1], "the name of a machine", out, err);
    text_puts(&place, "auto");
    for (unsigned i = 2; i < count && status == 0; i += 2)
        status = put_vm_option(topology, words + i, creates, &place, &mode, err);
    if (creates)
        text_printf(out, " at %s", place.data);
    if (migrates)
        text_printf(out, " to %s%s%s", place.data, mode ? " " : "", mode ? mode : "");
    text_release(&place);
    return status;
}
