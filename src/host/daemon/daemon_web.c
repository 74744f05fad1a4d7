/* The live page of the daemon (`web` in weft-sm.conf(5)): the API of docs/api/openapi.yaml.
 *
 * Handlers run in the loop. The state is read only while somebody watches, at most twice a second
 * and in at most a twentieth of the time, so that the page costs a manager at work little. New
 * nodes and links are shown when the manager is idle, or after some seconds: to describe a large
 * subnet takes longer than a tick. The thread of the HTTP server sends. */
#include "host/daemon/daemon_web.h"

#include "base/time.h"
#include "host/daemon/subnet_members.h"
#include "host/manager_view/machine_control.h"

enum { PAUSE_FACTOR = 20 };
#define TICK_NS     (500 * NS_PER_MS)
#define DESCRIBE_NS (5 * NS_PER_S)

uint64_t daemon_web_now(const struct daemon_web *web)
{
    return daemon_clock_ns() - web->start_ns;
}

uint32_t daemon_web_node(const struct daemon_web *web, uint32_t row)
{
    const struct subnet *subnet = sm_subnet(web->daemon->sm);
    return api_node_of(&web->view.topology, subnet->nodes.items[row].guid);
}

/* ---- ticks ---- */

static void read_state(struct daemon_web *web)
{
    struct daemon *daemon = web->daemon;
    struct api_tick *tick = &web->publisher.tick;
    struct sm_counts counts;
    bool idle = sm_progress(daemon->sm).phase == SM_PHASE_IDLE;
    bool due = idle || !web->view.rows || daemon_clock_ns() >= web->described_at + DESCRIBE_NS;
    if (due && subnet_view_update(&web->view, sm_subnet(daemon->sm))) {
        web->described_at = daemon_clock_ns();
        api_history_forget(&web->publisher.history, 0);
        api_publisher_begin(&web->publisher, &web->view.topology, &web->view.links,
                            web->view.generation);
    }
    sm_counts(daemon->sm, &counts);
    tick->t_ns = daemon_web_now(web);
    tick->running = true;
    tick->pace = 1;
    tick->smps = counts.sent;
    subnet_view_read(&web->view, daemon->sm, daemon->perf, tick);
    daemon_web_write_sections(web);
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

/* ---- what happens ---- */

void daemon_web_event(struct daemon *daemon, const struct event_record *record)
{
    struct daemon_web *web = daemon->web;
    if (!web)
        return;
    bool alarm = strcmp(record->event, "warning") == 0 || strcmp(record->event, "error") == 0;
    struct api_event event = {.t_ns = daemon_web_now(web),
                              .kind = alarm ? "alarm" : "event",
                              .who = (char *)(uintptr_t)record->event,
                              .text = (char *)(uintptr_t)record->text,
                              .node = web->view.rows && record->guid
                                          ? api_node_of(&web->view.topology, record->guid)
                                          : TOPOLOGY_NONE};
    api_log_add(&web->publisher.log, &event);
}

static const uint8_t *table_of(const void *context, uint32_t row, unsigned *top)
{
    const struct subnet *subnet = context;
    const struct subnet_tables *tables = subnet->nodes.items[row].tables;
    *top = tables ? tables->wanted_top : 0;
    return tables && subnet->nodes.items[row].present ? tables->actual : NULL;
}

/* Keeps the tables that are now in all switches. */
static void keep_tables(struct daemon_web *web, const char *cause, bool if_changed)
{
    const struct subnet *subnet = sm_subnet(web->daemon->sm);
    uint32_t known = web->versions.switches.count
                         ? web->versions.switches.items[web->versions.switches.count - 1] + 1
                         : 0;
    for (uint32_t row = known; row < subnet->nodes.count; row++)
        if (subnet->nodes.items[row].kind == SUBNET_SWITCH && !subnet->nodes.items[row].vswitch)
            vec_push(&web->versions.switches, row);
    const struct sm_paths paths = sm_paths(web->daemon->sm);
    const struct api_version about = {
        .t_ns = daemon_web_now(web),
        .engine = paths.routes ? paths.routes->engine : web->daemon->config->sm.engine->name,
        .cause = (char *)(uintptr_t)cause,
    };
    api_versions_add(&web->versions, &about, if_changed, table_of, subnet);
}

/* A move of a virtual machine changes entries without a change of the subnet. */
static void note_machines(struct daemon_web *web)
{
    const struct vswitch *machines = web->daemon->machines;
    const struct vswitch_result *last = machines ? vswitch_last_result(machines) : NULL;
    struct text cause = {0};
    if (!last || last->ended_ns <= web->machines_seen)
        return;
    web->machines_seen = last->ended_ns;
    machine_control_put_cause(machines, last, &cause);
    keep_tables(web, cause.data, true);
    text_release(&cause);
}

uint64_t daemon_web_step(struct daemon *daemon, uint64_t now)
{
    struct daemon_web *web = daemon->web;
    if (web)
        note_machines(web);
    if (!web || !http_stream_subscribers(web->publisher.stream))
        return TIME_NEVER;
    if (now >= web->next_tick)
        publish(web);
    return web->next_tick;
}

void daemon_web_note(struct daemon *daemon, const struct sm_event *event)
{
    if (daemon->web && event->change && event->change->outcome == SM_FINISHED)
        keep_tables(daemon->web, event->change->text, false);
}

/* ---- requests ---- */

static void get_info(void *context, const struct http_request *request,
                     struct http_response *response)
{
    static const char *const capabilities[] = {"links",  "path",    "history", "tables",
                                               "groups", "reroute", "sweep",   "handover"};
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
    if (web->daemon->sm && sm_uses_partitions(web->daemon->sm))
        json_string(&json, NULL, "partitions");
    if (strncmp(web->publisher.tick.sections[API_HYPERVISORS].data, "[]", 2) != 0)
        json_string(&json, NULL, "vms");
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

static void get_versions(void *context, const struct http_request *request,
                         struct http_response *response)
{
    const struct daemon_web *web = context;
    (void)request;
    struct record record = record_to(&response->body, true, false);
    record_begin(&record, NULL);
    api_versions_put(&web->versions, "versions", &record);
    record_end(&record);
}

static void get_comparison(void *context, const struct http_request *request,
                           struct http_response *response)
{
    const struct daemon_web *web = context;
    struct err err = {0};
    uint64_t a, b;
    if (api_number(request, "a", UINT32_MAX, &a, &err) < 0 ||
        api_number(request, "b", UINT32_MAX, &b, &err) < 0) {
        api_refuse(response, 400, err.message);
        return;
    }
    size_t rows = web->versions.switches.count;
    uint32_t *nodes = mem_alloc((rows + 1) * sizeof *nodes);
    for (size_t i = 0; i < rows; i++)
        nodes[i] =
            web->view.rows ? daemon_web_node(web, web->versions.switches.items[i]) : TOPOLOGY_NONE;
    if (api_versions_compare(&web->versions, &web->view.topology, &web->view.links, nodes, a, b,
                             &response->body, &err) < 0)
        api_refuse(response, 404, err.message);
    mem_free(nodes);
}

static void get_groups(void *context, const struct http_request *request,
                       struct http_response *response)
{
    const struct daemon_web *web = context;
    (void)request;
    if (web->view.rows)
        subnet_members_write_groups(&web->view, sm_subnet(web->daemon->sm),
                                    sa_groups(web->daemon->sa), &response->body);
    else
        text_puts(&response->body, "{\"groups\":[]}\n");
}

static void get_partitions(void *context, const struct http_request *request,
                           struct http_response *response)
{
    const struct daemon_web *web = context;
    (void)request;
    if (web->view.rows)
        subnet_members_write_partitions(&web->view, sm_subnet(web->daemon->sm),
                                        web->daemon->config->sm.partitions, &response->body);
    else
        text_puts(&response->body, "{\"partitions\":[]}\n");
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
    routes[count++] = api_route("GET", "/api/v1/tables/versions", get_versions, web);
    routes[count++] = api_route("GET", "/api/v1/tables/compare", get_comparison, web);
    routes[count++] = api_route("GET", "/api/v1/groups", get_groups, web);
    routes[count++] = api_route("GET", "/api/v1/partitions", get_partitions, web);
    routes[count++] = api_route("POST", "/api/v1/actions", daemon_web_act, web);
    return count + api_add_routes(&web->publisher, routes + count, room - count);
}

void daemon_close_web(struct daemon *daemon)
{
    struct daemon_web *web = daemon->web;
    if (!web)
        return;
    api_publisher_release(&web->publisher);
    subnet_view_release(&web->view);
    api_versions_release(&web->versions);
    mem_free(web);
    daemon->web = NULL;
}
