#include "host/api/api.h"

#include "base/parse.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- answers ---- */

void api_refuse(struct http_response *response, unsigned status, const char *message)
{
    struct json json = {.out = &response->body};
    text_clear(&response->body);
    response->status = status;
    response->type = NULL;
    json_begin_object(&json, NULL);
    json_string(&json, "error", message);
    json_end_object(&json);
}

void api_accept(struct http_response *response, const char *statement, uint64_t t_ns)
{
    struct json json = {.out = &response->body};
    json_begin_object(&json, NULL);
    json_begin_array(&json, "statements");
    json_string(&json, NULL, statement);
    json_end_array(&json);
    json_unsigned(&json, "t", t_ns);
    json_end_object(&json);
}

struct http_route api_route(const char *method, const char *path, http_handler *handler,
                            void *context)
{
    return (struct http_route){.method = method,
                               .path = path,
                               .changes = strcmp(method, "POST") == 0,
                               .in_loop = true,
                               .handler = handler,
                               .context = context};
}

int api_number(const struct http_request *request, const char *name, uint64_t end, uint64_t *value,
               struct err *err)
{
    return parse_parameter(http_parameter(request, name), name, end, value, err);
}

static void get_topology(void *context, const struct http_request *request,
                         struct http_response *response)
{
    const struct api_publisher *publisher = context;
    (void)request;
    if (publisher->refresh)
        publisher->refresh(publisher->context);
    text_append(&response->body, publisher->topology.data, publisher->topology.length);
}

static void get_state(void *context, const struct http_request *request,
                      struct http_response *response)
{
    const struct api_publisher *publisher = context;
    (void)request;
    if (publisher->refresh)
        publisher->refresh(publisher->context);
    api_tick_write(&publisher->sent, NULL, &publisher->log, true, &response->body);
}

static void get_history(void *context, const struct http_request *request,
                        struct http_response *response)
{
    const struct api_publisher *publisher = context;
    (void)request;
    api_history_write(&publisher->history, &response->body);
}

static void get_sample(void *context, const struct http_request *request,
                       struct http_response *response)
{
    const struct api_publisher *publisher = context;
    struct err err = {0};
    uint64_t t;
    if (api_number(request, "t", UINT64_MAX, &t, &err) < 0) {
        api_refuse(response, 400, err.message);
        return;
    }
    const struct api_tick *tick = api_history_at(&publisher->history, t);
    if (tick)
        api_tick_write(tick, NULL, &publisher->log, false, &response->body);
    else
        api_refuse(response, 404, "no history yet");
}

size_t api_add_routes(struct api_publisher *publisher, struct http_route *routes, size_t room)
{
    static const struct {
        const char *path;
        http_handler *handler;
    } handlers[] = {
        {"/api/v1/topology", get_topology},  {"/api/v1/state", get_state},
        {"/api/v1/export/state", get_state}, {"/api/v1/history", get_history},
        {"/api/v1/history/at", get_sample},
    };
    size_t count = 0;
    for (unsigned i = 0; i < sizeof handlers / sizeof handlers[0] && count < room; i++)
        routes[count++] = (struct http_route){.method = "GET",
                                              .path = handlers[i].path,
                                              .in_loop = true,
                                              .handler = handlers[i].handler,
                                              .context = publisher};
    if (count < room)
        routes[count++] = (struct http_route){
            .method = "GET", .path = "/api/v1/events", .stream = publisher->stream};
    return count + api_add_pages(routes + count, room - count);
}

/* ---- ticks ---- */

void api_publisher_begin(struct api_publisher *publisher, const struct topology *topology,
                         const struct api_links *links, uint64_t generation)
{
    uint64_t seq = publisher->tick.seq;
    char data[64];
    snprintf(data, sizeof data, "{\"generation\":%" PRIu64 "}", generation);
    if (publisher->stream)
        http_stream_publish(publisher->stream, "reset", data, false);
    else
        publisher->stream = http_stream_new();
    api_tick_release(&publisher->tick);
    api_tick_release(&publisher->sent);
    api_tick_init(&publisher->tick, (uint32_t)topology->nodes.count, links->count);
    api_tick_init(&publisher->sent, (uint32_t)topology->nodes.count, links->count);
    publisher->tick.seq = seq;
    text_clear(&publisher->topology);
    api_topology_write(topology, links, generation, &publisher->topology);
}

void api_publisher_release(struct api_publisher *publisher)
{
    http_stream_free(publisher->stream);
    api_history_release(&publisher->history);
    api_tick_release(&publisher->tick);
    api_tick_release(&publisher->sent);
    api_log_release(&publisher->log);
    text_release(&publisher->topology);
    *publisher = (struct api_publisher){0};
}

void api_publish(struct api_publisher *publisher)
{
    struct api_tick *tick = &publisher->tick;
    struct text text = {0};
    tick->seq++;
    tick->log_end = api_log_end(&publisher->log);
    if (http_stream_subscribers(publisher->stream)) {
        api_tick_write(tick, &publisher->sent, &publisher->log, true, &text);
        text.data[text.length - 1] = 0; /* without the line end */
        http_stream_publish(publisher->stream, "tick", text.data, false);
        text_release(&text);
    }
    const struct api_history *history = &publisher->history;
    if (!history->items.count || history->items.items[history->items.count - 1].t_ns < tick->t_ns)
        api_history_add(&publisher->history, tick);
    api_tick_copy(&publisher->sent, tick);
}
