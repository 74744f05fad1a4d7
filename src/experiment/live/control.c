/* Actions of the API on a session. Most are rows of console/actions.def, read from the numbers of a
 * request; a page has three more: a partition, a line of text, and the start of a manager that was
 * stopped. */
#include "experiment/live/control.h"

#include "base/parse.h"
#include "experiment/live/memberships.h"

#include <errno.h>

static const char *get(const struct control_parameters *parameters, const char *name)
{
    return parameters->get(parameters->context, name);
}

int control_number(const struct control_parameters *parameters, const char *name, uint64_t end,
                   uint64_t *value, struct err *err)
{
    return parse_parameter(get(parameters, name), name, end, value, err);
}

static uint32_t manager_node(const struct setup *setup, size_t instance)
{
    return setup->topology.ports.items[setup->places.items[instance].port].node;
}

void control_actions_release(struct control_actions *actions)
{
    for (size_t i = 0; i < actions->count; i++)
        action_release(&actions->items[i]);
    vec_release(actions);
}

/* The new rules for all managers. */
static int add_partition(const struct watch *watch, const struct control_parameters *parameters,
                         struct control_actions *out, struct err *err)
{
    const struct setup *setup = live_session_setup(watch->session);
    struct painted_partition partition = {.name = get(parameters, "name"),
                                          .full = get(parameters, "nodes"),
                                          .limited = get(parameters, "limited")};
    struct text rules = {0};
    uint64_t key;
    int status = control_number(parameters, "pkey", 0x7FFF, &key, err);
    if (status == 0 && key == 0)
        status = err_set(err, EINVAL, "pkey: expected 1 to 0x7ffe");
    if (status == 0)
        status = action_check_word(partition.name, "name", err);
    partition.key = (unsigned)key;
    if (status == 0)
        status = memberships_put_rules(watch, &partition, &rules, err);
    for (size_t i = 0; i < setup->places.count && status == 0; i++) {
        const struct action action = {.kind = ACTION_CONFIGURE,
                                      .node = manager_node(setup, i),
                                      .port = TOPOLOGY_NONE,
                                      .key = {.text = "partition_rules"},
                                      .text = {.text = rules.data}};
        vec_push(out, action_copy(&action));
    }
    text_release(&rules);
    return status;
}

static int add_statement(const struct watch *watch, const struct control_parameters *parameters,
                         struct control_actions *out, struct err *err)
{
    const char *text = get(parameters, "text");
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
    int (*add)(const struct watch *watch, const struct control_parameters *parameters,
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

int control_read(const struct watch *watch, const struct control_parameters *parameters,
                 struct control_actions *out, struct err *err)
{
    const struct setup *setup = live_session_setup(watch->session);
    const char *name = get(parameters, "do");
    struct action action;
    for (unsigned i = 0; name && i < sizeof of_session / sizeof of_session[0]; i++)
        if (strcmp(of_session[i].name, name) == 0)
            return of_session[i].add(watch, parameters, out, err);
    VEC(uint32_t) managers = {0};
    for (size_t i = 0; i < setup->places.count; i++)
        vec_push(&managers, manager_node(setup, i));
    const struct action_request request = {.context = parameters->context,
                                           .get = parameters->get,
                                           .topology = &setup->topology,
                                           .link_ports = watch->view.links.ports,
                                           .link_count = watch->view.links.count,
                                           .managers = managers.items,
                                           .manager_count = managers.count};
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
