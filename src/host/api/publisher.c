/* Distributes the ticks of a server: as differences to the subscribers of its event stream, and
 * complete to clients that request the state and to the history. Filling a tick is left to the
 * owner. */
#include "host/api/api.h"

#include <inttypes.h>

/* ---- routes ---- */

static void refresh(struct api_publisher *publisher)
{
    if (publisher->refresh)
        publisher->refresh(publisher->context);
}

static void write_topology(void *context, struct text *out)
{
    struct api_publisher *publisher = context;
    refresh(publisher);
    text_append(out, publisher->topology.data, publisher->topology.length);
}

static void write_state(void *context, struct text *out)
{
    struct api_publisher *publisher = context;
    refresh(publisher);
    api_tick_write(&publisher->sent, NULL, &publisher->log, true, out);
}

static void write_history(void *context, struct text *out)
{
    const struct api_publisher *publisher = context;
    api_history_write(&publisher->history, out);
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
    const struct http_route table[] = {
        {.path = "/api/v1/topology", .write = write_topology},
        {.path = "/api/v1/state", .write = write_state},
        {.path = "/api/v1/export/state", .write = write_state},
        {.path = "/api/v1/history", .write = write_history},
        {.path = "/api/v1/history/at", .handler = get_sample},
        {.path = "/api/v1/events", .stream = publisher->stream},
    };
    size_t count = api_add_table(table, sizeof table / sizeof *table, publisher, routes);
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
        http_stream_publish(publisher->stream, "reset", data);
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
        http_stream_publish(publisher->stream, "tick", text.data);
        text_release(&text);
    }
    const struct api_history *history = &publisher->history;
    if (!history->items.count || history->items.items[history->items.count - 1].t_ns < tick->t_ns)
        api_history_add(&publisher->history, tick);
    api_tick_copy(&publisher->sent, tick);
}
