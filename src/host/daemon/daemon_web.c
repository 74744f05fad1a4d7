/* The live page of the daemon (`web` in weft-sm.conf(5)): the API of docs/api/openapi.yaml.
 *
 * Handlers run in the loop. The state is read only while somebody watches, at most twice a second
 * and in at most a twentieth of the time, so that the page costs a manager at work little. New
 * nodes and links are shown when the manager is idle, or after some seconds: to describe a large
 * subnet takes longer than a tick. The thread of the HTTP server sends. */
#include "host/daemon/daemon_internal.h"

#include "base/time.h"
#include "host/daemon/subnet_view.h"

#include <errno.h>
#include <math.h>

enum { PAUSE_FACTOR = 20 };
#define TICK_NS     (500 * NS_PER_MS)
#define DESCRIBE_NS (5 * NS_PER_S)

struct daemon_web {
    struct daemon *daemon;
    struct subnet_view view;
    struct api_publisher publisher;
    uint64_t start_ns, next_tick;
    uint64_t described_at;
};

static uint64_t now_of(const struct daemon_web *web)
{
    return daemon_clock_ns() - web->start_ns;
}

static void put_id(struct json *json, const char *key, uint32_t id)
{
    if (id == TOPOLOGY_NONE)
        json_null(json, key);
    else
        json_unsigned(json, key, id);
}

/* ---- sections ---- */

static void write_own(const struct daemon_web *web, uint32_t node, struct json *json)
{
    static const char *const states[] = {"not active", "discovering", "standby", "master"};
    const struct daemon *daemon = web->daemon;
    const struct subnet *subnet = sm_subnet(daemon->sm);
    struct sm_progress progress = sm_progress(daemon->sm);
    uint32_t present = 0;
    for (size_t i = 0; i < subnet->nodes.count; i++)
        present += subnet->nodes.items[i].present;
    json_begin_object(json, NULL);
    json_unsigned(json, "id", 0);
    json_unsigned(json, "node", node);
    json_string(json, "name", topology_label(&web->view.topology, node));
    json_string(json, "state", states[sm_state(daemon->sm)]);
    json_string(json, "phase", progress.phase);
    json_unsigned(json, "wave", progress.wave);
    json_unsigned(json, "waves", progress.waves);
    json_bool(json, "draining", progress.draining);
    json_unsigned(json, "priority", daemon->config->sm.priority);
    json_string(json, "engine", daemon->config->sm.engine->name);
    json_bool(json, "settled", sm_is_settled(daemon->sm));
    json_unsigned(json, "nodes", present);
    json_null(json, "change");
    json_end_object(json);
}

/* The node of the topology that a port of the subnet belongs to. */
static uint32_t node_of(const struct daemon_web *web, uint32_t port)
{
    const struct subnet *subnet = sm_subnet(web->daemon->sm);
    uint32_t node = map_get(&web->view.topology.by_guid,
                            subnet->nodes.items[subnet->ports.items[port].node].guid);
    return node == MAP_NONE ? TOPOLOGY_NONE : node;
}

/* This manager, then those that it knows, with the state of their last SMInfo. */
static void write_managers(struct daemon_web *web)
{
    static const char *const states[] = {"not active", "discovering", "standby", "master"};
    const struct subnet *subnet = sm_subnet(web->daemon->sm);
    struct json json = {.out = api_tick_section(&web->publisher.tick, API_MANAGERS)};
    uint64_t id = 1;
    json_begin_array(&json, NULL);
    if (subnet->own_port != SUBNET_NONE && subnet->own_port < subnet->ports.count &&
        node_of(web, subnet->own_port) != TOPOLOGY_NONE)
        write_own(web, node_of(web, subnet->own_port), &json);
    for (uint32_t i = 0; i < subnet->ports.count; i++) {
        const struct subnet_port *port = &subnet->ports.items[i];
        if (!port->manager || i == subnet->own_port || node_of(web, i) == TOPOLOGY_NONE)
            continue;
        json_begin_object(&json, NULL);
        json_unsigned(&json, "id", id++);
        json_unsigned(&json, "node", node_of(web, i));
        json_string(&json, "name", topology_label(&web->view.topology, node_of(web, i)));
        json_string(&json, "state", states[port->manager_state & 3]);
        json_string(&json, "phase", "idle");
        json_unsigned(&json, "priority", port->manager_priority);
        json_end_object(&json);
    }
    json_end_array(&json);
}

static void write_problems(struct daemon_web *web)
{
    const struct problems *problems = &web->daemon->problems.known;
    struct json json = {.out = api_tick_section(&web->publisher.tick, API_PROBLEMS)};
    json_begin_array(&json, NULL);
    for (size_t i = 0; i < problems->items.count; i++) {
        const struct problem *problem = &problems->items.items[i];
        struct api_place place = api_place_of(&web->view.places, problem->place);
        json_begin_object(&json, NULL);
        json_string(&json, "kind", problem_kind_name(problem->kind));
        json_string(&json, "place", problem->place);
        json_string(&json, "text", problem->text);
        json_unsigned(&json, "severity", problem->kind);
        json_null(&json, "since");
        put_id(&json, "node", place.node);
        put_id(&json, "link", place.link);
        json_end_object(&json);
    }
    json_end_array(&json);
}

/* ---- ticks ---- */

static void read_state(struct daemon_web *web)
{
    struct daemon *daemon = web->daemon;
    struct api_tick *tick = &web->publisher.tick;
    struct sm_counts counts;
    bool idle = strcmp(sm_progress(daemon->sm).phase, "idle") == 0;
    bool due = idle || !web->view.rows || daemon_clock_ns() >= web->described_at + DESCRIBE_NS;
    if (due && subnet_view_update(&web->view, sm_subnet(daemon->sm))) {
        web->described_at = daemon_clock_ns();
        api_history_forget(&web->publisher.history, 0);
        api_publisher_begin(&web->publisher, &web->view.topology, &web->view.links,
                            web->view.generation);
    }
    sm_counts(daemon->sm, &counts);
    tick->t_ns = now_of(web);
    tick->running = true;
    tick->pace = 1;
    tick->smps = counts.sent;
    subnet_view_read(&web->view, daemon->sm, daemon->perf, tick);
    write_managers(web);
    write_problems(web);
    api_publish(&web->publisher);
}

/* If it is time. */
static void publish(void *context)
{
    struct daemon_web *web = context;
    uint64_t begin = daemon_clock_ns();
    if (!web->daemon->sm || begin < web->next_tick)
        return;
    read_state(web);
    uint64_t end = daemon_clock_ns(), pause = PAUSE_FACTOR * (end - begin);
    web->next_tick = end + (pause > TICK_NS ? pause : TICK_NS);
}

uint64_t daemon_web_step(struct daemon *daemon, uint64_t now)
{
    struct daemon_web *web = daemon->web;
    if (!web || !http_stream_subscribers(web->publisher.stream))
        return TIME_NEVER;
    if (now >= web->next_tick)
        publish(web);
    return web->next_tick;
}

void daemon_web_event(struct daemon *daemon, const char *kind, const char *text)
{
    struct daemon_web *web = daemon->web;
    if (!web || !web->view.rows)
        return;
    bool alarm = strcmp(kind, "warning") == 0 || strcmp(kind, "error") == 0;
    struct api_event event = {.t_ns = now_of(web),
                              .kind = alarm ? "alarm" : "event",
                              .who = (char *)(uintptr_t)kind,
                              .text = (char *)(uintptr_t)text,
                              .node = api_place_in(&web->view.places, text)};
    api_log_add(&web->publisher.log, &event);
}

/* ---- requests ---- */

static void get_info(void *context, const struct http_request *request,
                     struct http_response *response)
{
    static const char *const capabilities[] = {"links", "managers", "path", "history"};
    struct daemon_web *web = context;
    struct json json = {.out = &response->body};
    (void)request;
    publish(web); /* the topology may be another one */
    json_begin_object(&json, NULL);
    json_string(&json, "what", "sm");
    json_string(&json, "version", WEFT_VERSION);
    json_string(&json, "name", "weft sm");
    json_unsigned(&json, "generation", web->view.generation);
    json_begin_array(&json, "capabilities");
    for (unsigned i = 0; i < sizeof capabilities / sizeof capabilities[0]; i++)
        json_string(&json, NULL, capabilities[i]);
    json_end_array(&json);
    json_begin_array(&json, "engines");
    json_end_array(&json);
    json_end_object(&json);
}

static void get_path(void *context, const struct http_request *request,
                     struct http_response *response)
{
    const struct daemon_web *web = context;
    uint64_t nodes = web->view.rows ? web->view.topology.nodes.count : 0, from, to;
    struct err err = {0};
    if (api_number(request, "from", nodes, &from, &err) < 0 ||
        api_number(request, "to", nodes, &to, &err) < 0)
        api_refuse(response, 400, err.message);
    else
        subnet_view_path(&web->view, web->daemon->sm, (uint32_t)from, (uint32_t)to,
                         &response->body);
}

/* Disables or enables the link: at end a, or at end b if that is the one at a switch. */
static int set_link(struct daemon_web *web, const struct http_request *request, bool enable,
                    struct text *said, struct err *err)
{
    const struct topology *topology = &web->view.topology;
    uint64_t link;
    int status = api_number(request, "link", web->view.links.count, &link, err);
    if (status)
        return status;
    uint32_t port = web->view.links.ports[link];
    uint32_t node = topology->ports.items[port].node;
    char guid[24];
    snprintf(guid, sizeof guid, "0x%016llx", (unsigned long long)topology->nodes.items[node].guid);
    unsigned number = topology_port_number(topology, port);
    text_printf(said, "%s %s port %u", enable ? "enable" : "disable",
                topology_label(topology, node), number);
    return sm_set_port(web->daemon->sm, daemon_clock_ns(), guid, number, enable, err);
}

static void post_action(void *context, const struct http_request *request,
                        struct http_response *response)
{
    struct daemon_web *web = context;
    const char *action = http_parameter(request, "do");
    struct text said = {0};
    struct err err = {0};
    int status;
    if (!web->daemon->sm || !action) {
        status = err_set(&err, EINVAL, "'do' is missing");
    } else if (strcmp(action, "reroute") == 0) {
        text_puts(&said, "reroute");
        sm_reroute(web->daemon->sm, daemon_clock_ns());
        status = 0;
    } else if (strcmp(action, "cut") == 0 || strcmp(action, "restore") == 0) {
        status = set_link(web, request, action[0] == 'r', &said, &err);
    } else {
        status = err_set(&err, EINVAL, "'%.40s' is no action of a manager", action);
    }
    if (status) {
        api_refuse(response, 400, err.message);
    } else {
        event_log_write(&web->daemon->log, "page", "%s", said.data);
        daemon_web_event(web->daemon, "page", said.data);
        api_accept(response, said.data, now_of(web));
    }
    text_release(&said);
}

/* ---- begin and end ---- */

size_t daemon_open_web(struct daemon *daemon, struct http_route *routes, size_t room)
{
    struct daemon_web *web = daemon->web = mem_zalloc(1, sizeof *web);
    web->daemon = daemon;
    web->start_ns = daemon_clock_ns();
    web->publisher.refresh = publish;
    web->publisher.context = web;
    struct topology none;
    struct api_links links = {0};
    topology_init(&none);
    api_publisher_begin(&web->publisher, &none, &links, 0); /* until the manager has a port */
    topology_release(&none);
    size_t count = 0;
    routes[count++] = api_route("GET", "/api/v1/info", get_info, web);
    routes[count++] = api_route("GET", "/api/v1/path", get_path, web);
    routes[count++] = api_route("POST", "/api/v1/actions", post_action, web);
    return count + api_add_routes(&web->publisher, routes + count, room - count);
}

void daemon_close_web(struct daemon *daemon)
{
    struct daemon_web *web = daemon->web;
    if (!web)
        return;
    api_publisher_release(&web->publisher);
    subnet_view_release(&web->view);
    mem_free(web);
    daemon->web = NULL;
}
