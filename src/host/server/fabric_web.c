#include "host/server/fabric_web.h"

#include "base/parse.h"
#include "base/time.h"
#include "host/fabric_view/fabric_view.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define TICK_PS (250 * TIME_MS)

struct fabric_web {
    struct clients *clients;
    struct fabric_view view;
    struct api_publisher publisher;
    uint64_t next_tick;
};

static const struct topology *topology_of(const struct fabric_web *web)
{
    return fabric_topology(web->clients->fabric);
}

/* ---- ticks ---- */

static void publish(void *context)
{
    struct fabric_web *web = context;
    struct api_tick *tick = &web->publisher.tick;
    struct fabric *fabric = web->clients->fabric;
    bool has_data = web->clients->traffic_count > 0; /* then the network has a pace */
    uint64_t now = has_data ? fabric_network_time(fabric) : web->clients->now;
    uint64_t elapsed = now - web->view.time;
    fabric_view_read(&web->view, now, tick);
    if (has_data)
        fabric_view_read_traffic(&web->view, fabric, elapsed, &(struct fabric_latency){0}, tick);
    tick->running = true;
    const char *pace = web->clients->pace, *rest;
    if (!pace || !parse_decimal(pace, &tick->pace, &rest))
        tick->pace = pace && strcmp(pace, "real") == 0;
    api_publish(&web->publisher);
    web->next_tick = web->clients->now + TICK_PS;
}

uint64_t fabric_web_step(struct fabric_web *web)
{
    if (!http_stream_subscribers(web->publisher.stream))
        return TIME_NEVER;
    if (web->clients->now >= web->next_tick)
        publish(web);
    return web->next_tick;
}

/* ---- reading ---- */

static void get_info(void *context, const struct http_request *request,
                     struct http_response *response)
{
    static const char *const capabilities[] = {"links", "faults", "switches", "path", "history"};
    struct json json = {.out = &response->body};
    (void)context;
    (void)request;
    json_begin_object(&json, NULL);
    json_string(&json, "what", "fabric");
    json_string(&json, "version", WEFT_VERSION);
    json_string(&json, "name", "weft fabric");
    json_unsigned(&json, "generation", 1);
    json_begin_array(&json, "capabilities");
    for (unsigned i = 0; i < sizeof capabilities / sizeof capabilities[0]; i++)
        json_string(&json, NULL, capabilities[i]);
    json_end_array(&json);
    action_list(1U << OWNER_FABRIC, "actions", &json);
    json_begin_array(&json, "engines");
    json_end_array(&json);
    json_end_object(&json);
}

static void get_path(void *context, const struct http_request *request,
                     struct http_response *response)
{
    const struct fabric_web *web = context;
    const struct topology *topology = topology_of(web);
    uint64_t from, to;
    struct err err = {0};
    if (api_number(request, "from", topology->nodes.count, &from, &err) < 0 ||
        api_number(request, "to", topology->nodes.count, &to, &err) < 0) {
        api_refuse(response, 400, err.message);
        return;
    }
    uint32_t target = path_view_port(topology, (uint32_t)to);
    struct data_path path = {0};
    if (target != TOPOLOGY_NONE)
        path = path_view_by_lid(web->clients->fabric, target);
    path_view_write(&web->view, &web->publisher.tick, (uint32_t)from, (uint32_t)to, path,
                    &response->body);
}

static void get_network(void *context, const struct http_request *request,
                        struct http_response *response)
{
    const struct fabric_web *web = context;
    (void)request;
    response->type = "text/plain; charset=utf-8";
    topology_write_ibnetdiscover(topology_of(web), &response->body);
}

/* ---- actions ---- */

static const char *get_parameter(void *context, const char *name)
{
    return http_parameter(context, name);
}

static void log_action(struct fabric_web *web, const struct action *action, const char *text)
{
    struct api_event event = {.t_ns = time_ns_floor(web->clients->now),
                              .kind = "action",
                              .who = (char *)(uintptr_t) "page",
                              .text = (char *)(uintptr_t)text,
                              .node = action_node(action, topology_of(web))};
    api_log_add(&web->publisher.log, &event);
}

static void post_action(void *context, const struct http_request *request,
                        struct http_response *response)
{
    struct fabric_web *web = context;
    const struct action_request parameters = {.context = (void *)(uintptr_t)request,
                                              .get = get_parameter,
                                              .topology = topology_of(web),
                                              .link_ports = web->view.links.ports,
                                              .link_count = web->view.links.count};
    struct action action;
    struct text line = {0};
    struct err err = {0};
    int status = action_read_request(&action, &parameters, &err);
    if (status == 0)
        status = clients_apply(web->clients, &action, &err);
    if (status) {
        api_refuse(response, 400, err.message);
        return;
    }
    action_print(&action, topology_of(web), &line);
    log_action(web, &action, line.data);
    publish(web);
    api_accept(response, line.data, time_ns_floor(web->clients->now));
    text_release(&line);
}

/* ---- begin and end ---- */

struct fabric_web *fabric_web_new(struct clients *clients)
{
    struct fabric_web *web = mem_zalloc(1, sizeof *web);
    web->clients = clients;
    fabric_view_init(&web->view, clients->fabric);
    web->publisher.refresh = publish;
    web->publisher.context = web;
    api_publisher_begin(&web->publisher, topology_of(web), &web->view.links, 1);
    return web;
}

void fabric_web_free(struct fabric_web *web)
{
    if (!web)
        return;
    api_publisher_release(&web->publisher);
    fabric_view_release(&web->view);
    mem_free(web);
}

size_t fabric_web_add_routes(struct fabric_web *web, struct http_route *routes, size_t room)
{
    size_t count = 0;
    routes[count++] = api_route("GET", "/api/v1/info", get_info, web);
    routes[count++] = api_route("GET", "/api/v1/path", get_path, web);
    routes[count++] = api_route("GET", "/api/v1/export/topology", get_network, web);
    routes[count++] = api_route("POST", "/api/v1/actions", post_action, web);
    return count + api_add_routes(&web->publisher, routes + count, room - count);
}
