/* The fabric's side of the live page: publishes ticks while somebody watches, and applies the
 * actions that the page posts. The routes that all pages have come from api_add_routes(). */
#include "host/server/fabric_web.h"

#include "base/parse.h"
#include "base/time.h"
#include "host/fabric_view/fabric_view.h"

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

static bool is_fault(const struct action_row *row)
{
    return row->effect != NULL;
}

static void write_info(void *context, struct text *out)
{
    const struct api_info info = {
        .what = "fabric",
        .name = "weft fabric",
        .version = WEFT_VERSION,
        .generation = 1,
        .capabilities = {"links", "faults", "switches", "path", "history"},
        .offers = is_fault,
    };
    (void)context;
    api_info_write(&info, out);
}

static void get_path(void *context, const struct http_request *request,
                     struct http_response *response)
{
    static const char *const names[] = {"from", "to"};
    const struct fabric_web *web = context;
    uint64_t ends[2];
    if (api_two_numbers(request, response, names, topology_of(web)->nodes.count, ends))
        path_view_write(&web->view, &web->publisher.tick, (uint32_t)ends[0], (uint32_t)ends[1],
                        NULL, NULL, &response->body);
}

static void write_network(void *context, struct text *out)
{
    topology_write_ibnetdiscover(topology_of(context), out);
}

/* ---- actions ---- */

static void post_action(void *context, const struct http_request *request,
                        struct http_response *response)
{
    struct fabric_web *web = context;
    const struct action_request parameters =
        api_action(request, topology_of(web), &web->view.links);
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
    const struct api_event event = {.t_ns = time_ns_floor(web->clients->now),
                                    .kind = "action",
                                    .who = "page",
                                    .text = line.data,
                                    .node = action_node(&action, topology_of(web))};
    api_log_add(&web->publisher.log, &event);
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
    api_publisher_begin(&web->publisher,
                        api_network_written(topology_of(web), &web->view.links, 1));
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
    static const struct http_route table[] = {
        {.path = "/api/v1/info", .write = write_info},
        {.path = "/api/v1/path", .handler = get_path},
        {.path = "/api/v1/export/topology", .write = write_network, .type = API_PLAIN},
        {.method = "POST", .path = "/api/v1/actions", .handler = post_action},
    };
    size_t count = api_add_table(table, sizeof table / sizeof *table, web, routes);
    return count + api_add_routes(&web->publisher, routes + count, room - count);
}
