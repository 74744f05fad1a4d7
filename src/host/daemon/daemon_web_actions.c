/* Actions on the page become commands of `weft ctl`, which refuse them for the same reasons. */
#include "host/daemon/daemon_web.h"

#include "base/time.h"
#include "host/socket/protocol.h"

#include <errno.h>

enum { WORDS = 8, GUID_ROOM = 24, NUMBER_ROOM = 8 };

/* The words of a command, and the texts that some of them point to. */
struct action {
    const char *words[WORDS + 1]; /* the rest NULL */
    unsigned count;
    char guid[GUID_ROOM], number[NUMBER_ROOM];
    uint64_t node; /* the GUID of the node that it is about; 0: none */
};

static void put_word(struct action *action, const char *word)
{
    action->words[action->count++] = word;
}

/* By GUID: a description need not be unique. */
static void put_node(const struct daemon_web *web, uint32_t node, struct action *action)
{
    action->node = web->view.topology.nodes.items[node].guid;
    snprintf(action->guid, sizeof action->guid, "0x%016llx", (unsigned long long)action->node);
    put_word(action, action->guid);
}

/* "port disable|enable NODE PORT" at end a of the link; the manager chooses the end at a switch. */
static int make_link_action(const struct daemon_web *web, const struct http_request *request,
                            bool enable, struct action *action, struct text *said, struct err *err)
{
    const struct topology *topology = &web->view.topology;
    uint64_t link;
    int status = api_number(request, "link", web->view.links.count, &link, err);
    if (status)
        return status;
    uint32_t port = web->view.links.ports[link], node = topology->ports.items[port].node;
    put_word(action, "port");
    put_word(action, enable ? "enable" : "disable");
    put_node(web, node, action);
    snprintf(action->number, sizeof action->number, "%u", topology_port_number(topology, port));
    put_word(action, action->number);
    text_printf(said, "%s %s port %s", action->words[1], topology_label(topology, node),
                action->number);
    return 0;
}

/* "vm create NAME [on NODE]", "vm migrate NAME [to NODE]", "vm destroy NAME" */
static int make_machine_action(const struct daemon_web *web, const struct http_request *request,
                               const char *verb, const char *place, struct action *action,
                               struct text *said, struct err *err)
{
    const char *name = http_parameter(request, "name");
    uint64_t node;
    if (!name || !*name)
        return err_set(err, EINVAL, "'name' is missing");
    put_word(action, "vm");
    put_word(action, verb);
    put_word(action, name);
    text_printf(said, "vm %s %.64s", verb, name);
    if (!place || !http_parameter(request, "node"))
        return 0;
    int status = api_number(request, "node", web->view.topology.nodes.count, &node, err);
    if (status)
        return status;
    put_word(action, place);
    put_node(web, (uint32_t)node, action);
    text_printf(said, " %s %s", place, topology_label(&web->view.topology, (uint32_t)node));
    return 0;
}

static const char *const single_words[] = {"reroute", "sweep", "handover"};

static int make_action(const struct daemon_web *web, const struct http_request *request,
                       struct action *action, struct text *said, struct err *err)
{
    const char *name = http_parameter(request, "do");
    if (!name)
        return err_set(err, EINVAL, "'do' is missing");
    for (unsigned i = 0; i < sizeof single_words / sizeof *single_words; i++)
        if (strcmp(name, single_words[i]) == 0) {
            put_word(action, name);
            text_puts(said, name);
            return 0;
        }
    if (strcmp(name, "cut") == 0 || strcmp(name, "restore") == 0)
        return make_link_action(web, request, name[0] == 'r', action, said, err);
    if (strcmp(name, "vm-start") == 0)
        return make_machine_action(web, request, "create", "on", action, said, err);
    if (strcmp(name, "vm-move") == 0)
        return make_machine_action(web, request, "migrate", "to", action, said, err);
    if (strcmp(name, "vm-stop") == 0)
        return make_machine_action(web, request, "destroy", NULL, action, said, err);
    return err_set(err, EINVAL, "'%.40s' is no action of a manager", name);
}

void daemon_web_act(void *context, const struct http_request *request,
                    struct http_response *response)
{
    struct daemon_web *web = context;
    struct manager_access access = daemon_access(web->daemon);
    struct action action = {0};
    struct control_answer answer = {0};
    struct text said = {0};
    int client = -1;
    struct err err = {0};
    int status = make_action(web, request, &action, &said, &err);
    if (status == 0) {
        status = manager_command_run(&access, daemon_clock_ns(), action.words, action.count,
                                     &answer, &client);
        if (status < 0)
            err_set(&err, -status, "%.400s", answer.text.length ? answer.text.data : "refused");
    }
    if (status < 0) {
        api_refuse(response, status == -EINVAL ? 400 : 409, err.message);
    } else { /* CTL_PENDING: the next ticks show the end of it */
        const struct event_record record = {
            .event = "page", .text = said.data, .guid = action.node};
        event_log_write(&web->daemon->log, "page", "%s", said.data);
        daemon_web_event(web->daemon, &record);
        api_accept(response, said.data, daemon_web_now(web));
    }
    text_release(&said);
    control_answer_release(&answer);
}
