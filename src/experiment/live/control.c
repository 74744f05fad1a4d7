/* Actions of the API on a session. Most are rows of console/actions.def, read from the numbers of a
 * request; a page has three more: a partition, a line of text, and the start of a manager that was
 * stopped.
 *
 * A painted partition applies to all managers. Its members become limited members of the default
 * partition, so that they reach managers and nothing else there; adapters with a manager stay full
 * members. */
#include "experiment/live/control.h"

#include "base/parse.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static const char *get(const struct action_request *request, const char *name)
{
    return request->get(request->context, name);
}

int control_number(const struct action_request *request, const char *name, uint64_t end,
                   uint64_t *value, struct err *err)
{
    return parse_parameter(get(request, name), name, end, value, err);
}

void control_actions_release(struct control_actions *actions)
{
    for (size_t i = 0; i < actions->count; i++)
        action_release(&actions->items[i]);
    vec_release(actions);
}

/* ---- partitions ---- */

struct painting {
    const struct setup *setup;
    const struct partitions *names;
    struct page_members present; /* of all partitions */
    uint8_t *members, *painted; /* by node: of the rule that is written, and of the new partition */
};
enum { NOT_MEMBER, LIMITED_MEMBER, FULL_MEMBER };

/* Reads ids joined by commas. */
static int read_members(const struct painting *painting, const char *text, uint8_t membership,
                        struct err *err)
{
    const struct topology *topology = &painting->setup->topology;
    while (text && *text) {
        char *end;
        unsigned long long id = strtoull(text, &end, 10);
        if (!isdigit((unsigned char)*text) || (*end && *end != ',') ||
            id >= topology->nodes.count || topology->nodes.items[id].kind == NODE_SWITCH)
            return err_set(err, EINVAL, "expected ids of adapters, joined by commas: '%.40s'",
                           text);
        painting->painted[id] = membership;
        text = end + (*end == ',');
    }
    return 0;
}

/* Writes the name as a rule can have it, and the members by the GUIDs of their first ports with a
 * cable. */
static void put_rule(const struct painting *painting, const char *name, unsigned key,
                     const uint8_t *members, struct text *out)
{
    const struct topology *topology = &painting->setup->topology;
    bool plain = name[0] != 0 && strlen(name) < 64;
    const char *separator = "";
    for (const char *c = name; *c; c++)
        plain &= isalnum((unsigned char)*c) || *c == '_' || *c == '-';
    if (plain)
        text_printf(out, "%s=0x%04x: ", name, key);
    else
        text_printf(out, "p%04x=0x%04x: ", key, key);
    for (uint32_t node = 0; node < topology->nodes.count; node++) {
        bool listed = members[node] && topology->nodes.items[node].kind != NODE_SWITCH;
        uint32_t port = listed ? path_end_port(topology, node) : TOPOLOGY_NONE;
        if (port == TOPOLOGY_NONE)
            continue;
        text_printf(out, "%s0x%" PRIx64 "=%s", separator,
                    fabric_port_guid(painting->setup->fabric, port, 0),
                    members[node] == FULL_MEMBER ? "full" : "limited");
        separator = ", ";
    }
    text_puts(out, "; ");
}

/* Full members of the default partition are those of no other one, and adapters with a manager. */
static void put_default_rule(const struct painting *painting, unsigned key, struct text *out)
{
    const struct topology *topology = &painting->setup->topology;
    for (uint32_t node = 0; node < topology->nodes.count; node++)
        painting->members[node] = painting->painted[node] ? LIMITED_MEMBER : FULL_MEMBER;
    for (size_t i = 0; i < painting->present.items.count; i++) {
        const struct page_member *member = &painting->present.items.items[i];
        unsigned other = member->key & PARTITION_DEFAULT;
        if (other != PARTITION_DEFAULT && other != key)
            painting->members[member->node] = LIMITED_MEMBER;
    }
    for (size_t i = 0; i < painting->setup->places.count; i++)
        painting->members[watch_manager_node(painting->setup, i)] = FULL_MEMBER;
    put_rule(painting, "Default", PARTITION_DEFAULT, painting->members, out);
}

/* The other partitions stay as they are. */
static void put_other_rules(const struct painting *painting, unsigned key, struct text *out)
{
    const struct page_member *items = painting->present.items.items;
    size_t nodes = painting->setup->topology.nodes.count, count = painting->present.items.count;
    for (size_t i = 0; i < count;) {
        unsigned other = items[i].key & PARTITION_DEFAULT;
        memset(painting->members, NOT_MEMBER, nodes);
        for (; i < count && (items[i].key & PARTITION_DEFAULT) == other; i++)
            painting->members[items[i].node] =
                items[i].key & PARTITION_FULL ? FULL_MEMBER : LIMITED_MEMBER;
        if (other != key && other != PARTITION_DEFAULT)
            put_rule(painting, manager_page_partition_name(painting->names, other), other,
                     painting->members, out);
    }
}

/* The rules of all partitions with the one of the request, as `partition_rules` has them. */
static int put_rules(const struct live_watch *watch, const struct action_request *request,
                     unsigned key, struct text *out, struct err *err)
{
    const struct setup *setup = live_session_setup(watch->session);
    size_t nodes = setup->topology.nodes.count, manager = watch_choose_manager(watch);
    const struct manager_page page = watch_page(watch, manager);
    struct painting painting = {
        .setup = setup,
        .names = page.sm ? &setup->instances.items[manager]->config.partitions : NULL,
        .members = mem_zalloc(nodes + 1, 1),
        .painted = mem_zalloc(nodes + 1, 1)};
    int status = read_members(&painting, get(request, "limited"), LIMITED_MEMBER, err);
    if (status == 0)
        status = read_members(&painting, get(request, "nodes"), FULL_MEMBER, err);
    if (status == 0) {
        manager_page_find_members(&page, &painting.present);
        put_default_rule(&painting, key, out);
        put_rule(&painting, get(request, "name"), key, painting.painted, out);
        put_other_rules(&painting, key, out);
    }
    vec_release(&painting.present.items);
    mem_free(painting.members);
    mem_free(painting.painted);
    return status;
}

/* The new rules for all managers. */
static int add_partition(const struct live_watch *watch, const struct action_request *request,
                         struct control_actions *out, struct err *err)
{
    const struct setup *setup = live_session_setup(watch->session);
    struct text rules = {0};
    uint64_t key;
    int status = control_number(request, "pkey", PARTITION_DEFAULT, &key, err);
    if (status == 0 && key == 0)
        status = err_set(err, EINVAL, "pkey: expected 1 to 0x7ffe");
    if (status == 0)
        status = action_check_word(get(request, "name"), "name", err);
    if (status == 0)
        status = put_rules(watch, request, (unsigned)key, &rules, err);
    for (size_t i = 0; i < setup->places.count && status == 0; i++) {
        const struct action action = {.kind = ACTION_CONFIGURE,
                                      .node = watch_manager_node(setup, i),
                                      .port = TOPOLOGY_NONE,
                                      .key = {.text = "partition_rules"},
                                      .text = {.text = rules.data}};
        vec_push(out, action_copy(&action));
    }
    text_release(&rules);
    return status;
}

/* ---- actions ---- */

static int add_statement(const struct live_watch *watch, const struct action_request *request,
                         struct control_actions *out, struct err *err)
{
    const char *text = get(request, "text");
    struct action action;
    if (!text || !text[0] || strlen(text) > 1000)
        return err_set(err, EINVAL, "text: expected one action");
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            return err_set(err, EINVAL, "text: expected one line");
    int status =
        action_read_line(&action, text, &live_session_setup(watch->session)->topology, err);
    if (status == 0)
        vec_push(out, action);
    return status;
}

static const struct {
    const char *name;
    int (*add)(const struct live_watch *watch, const struct action_request *request,
               struct control_actions *out, struct err *err);
} of_session[] = {{"partition", add_partition}, {"statement", add_statement}};

/* A manager that was stopped still exists: it ends before it can start again. */
static bool is_stopped_manager(const struct setup *setup, const struct action *action)
{
    const struct sm *sm =
        action->kind == ACTION_START_MANAGER
            ? setup_manager(setup, (size_t)setup_find_instance(setup, action->node))
            : NULL;
    return sm && sm_state(sm) == SM_NOT_ACTIVE;
}

int control_read(const struct live_watch *watch, const struct action_request *given,
                 struct control_actions *out, struct err *err)
{
    const struct setup *setup = live_session_setup(watch->session);
    const char *name = get(given, "do");
    struct action_request request = *given;
    struct action action;
    for (unsigned i = 0; name && i < sizeof of_session / sizeof of_session[0]; i++)
        if (strcmp(of_session[i].name, name) == 0)
            return of_session[i].add(watch, given, out, err);
    VEC(uint32_t) managers = {0};
    for (size_t i = 0; i < setup->places.count; i++)
        vec_push(&managers, watch_manager_node(setup, i));
    request.topology = &setup->topology;
    request.link_ports = watch->view.links.ports;
    request.link_count = watch->view.links.count;
    request.managers = managers.items;
    request.manager_count = managers.count;
    int status = action_read_request(&action, &request, err);
    if (status == 0) {
        struct action stop = action;
        stop.kind = ACTION_KILL_MANAGER;
        if (is_stopped_manager(setup, &action))
            vec_push(out, action_copy(&stop));
        vec_push(out, action_copy(&action));
    }
    vec_release(&managers);
    return status;
}
