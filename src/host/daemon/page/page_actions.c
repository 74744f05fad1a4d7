/* Actions on the page of a manager: console/actions.def has them, this file applies those that a
 * manager can do itself. */
#include "host/daemon/page/page.h"

#include "base/time.h"
#include "host/manager_view/machine_control.h"

#include <errno.h>
#include <inttypes.h>

enum { GUID_ROOM = 24 };

/* By GUID: a description need not be unique. */
static const char *guid_text(const struct topology *topology, uint32_t node, char text[GUID_ROOM])
{
    snprintf(text, GUID_ROOM, "0x%016" PRIx64, topology->nodes.items[node].guid);
    return text;
}

/* Disables or enables the link; the manager chooses the end at a switch. */
static int set_link(const struct daemon_web *web, const struct manager_access *access,
                    const struct action *action, struct err *err)
{
    const struct topology *topology = daemon_web_topology(web);
    char guid[GUID_ROOM];
    if (sm_state(access->sm) != SM_MASTER)
        return err_set(err, EINVAL, "only the master can do that; this manager is not master");
    return sm_set_port(access->sm, time_monotonic_ns(),
                       guid_text(topology, topology->ports.items[action->port].node, guid),
                       topology_port_number(topology, action->port),
                       action->kind == ACTION_RESTORE_LINK, err);
}

static int act_on_machine(const struct daemon_web *web, const struct manager_access *access,
                          const struct action *wanted, struct err *err)
{
    const struct machine_access machines = {access->machines, access->sm};
    char guid[GUID_ROOM];
    struct control_answer answer = {0};
    struct action action = *wanted;
    if (action.node != TOPOLOGY_NONE)
        action.node_word.text = guid_text(daemon_web_topology(web), action.node, guid);
    int status = machine_control_apply(&machines, time_monotonic_ns(), &action, &answer, err);
    if (status < 0 && answer.text.length)
        err_set(err, -status, "%.400s", answer.text.data);
    control_answer_release(&answer);
    return status;
}

/* Commands of a master that have no arguments: reroute, sweep, handover. */
static bool is_command(const char *name)
{
    const struct control_command *row = control_find(manager_control_tables, &name, 1);
    return row && row->needs == CONTROL_MASTER && !row->most;
}

static int run_command(struct manager_access *access, const char *name, struct err *err)
{
    const char *words[] = {name, NULL};
    struct control_answer answer = {0};
    int client = -1;
    int status = manager_command_run(access, time_monotonic_ns(), words, 1, &answer, &client);
    if (status < 0)
        err_set(err, -status, "%.400s", answer.text.length ? answer.text.data : "refused");
    control_answer_release(&answer);
    return status;
}

bool daemon_web_offers(const struct action_row *row)
{
    return row == &action_rows[ACTION_FAIL_LINK] || row == &action_rows[ACTION_RESTORE_LINK] ||
           row->owner == OWNER_MACHINES;
}

/* *guid: the node that it is about; 0: none. */
static int act(const struct daemon_web *web, const struct http_request *request,
               struct text *description, uint64_t *guid, struct err *err)
{
    struct manager_access access = daemon_access(web->daemon);
    const char *name = http_parameter(request, "do");
    const struct action_request parameters =
        api_action(request, daemon_web_topology(web), api_network_links(web->network));
    struct action action;
    if (name && is_command(name)) {
        text_puts(description, name);
        return run_command(&access, name, err);
    }
    int status = action_read_request(&action, &parameters, err);
    if (status)
        return -EINVAL;
    if (!access.sm)
        return err_set(err, EINVAL, "the manager has no port yet: it waits for the first link");
    action_print(&action, daemon_web_topology(web), description);
    uint32_t node = action_node(&action, daemon_web_topology(web));
    if (node != TOPOLOGY_NONE)
        *guid = daemon_web_topology(web)->nodes.items[node].guid;
    if (!daemon_web_offers(action_row(&action)))
        return err_set(err, EINVAL, "'%.40s' is not an action of a manager", name);
    return action_row(&action)->owner == OWNER_MACHINES ? act_on_machine(web, &access, &action, err)
                                                        : set_link(web, &access, &action, err);
}

void daemon_web_act(void *context, const struct http_request *request,
                    struct http_response *response)
{
    struct daemon_web *web = context;
    struct text description = {0};
    struct err err = {0};
    uint64_t guid = 0;
    int status = act(web, request, &description, &guid, &err);
    if (status < 0) {
        api_refuse(response, status == -EINVAL ? 400 : 409, err.message);
    } else { /* CTL_PENDING: the next ticks show the end of it */
        const struct event_record record = {
            .event = "page", .text = description.data, .guid = guid};
        event_log_write(&web->daemon->log, "page", "%s", description.data);
        daemon_web_event(web->daemon, &record);
        api_accept(response, description.data, daemon_web_now(web));
    }
    text_release(&description);
}
