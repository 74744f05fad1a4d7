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

static void make_topology(void *source, struct http_response *response)
{
    api_network_write(source, &response->body);
}

static void release_topology(void *source)
{
    api_network_release(source);
}

static void get_topology(void *context, const struct http_request *request,
                         struct http_response *response)
{
    struct api_publisher *publisher = context;
    (void)request;
    refresh(publisher);
    response->make = make_topology;
    response->release = release_topology;
    response->source = api_network_hold(publisher->network);
}

/* A tick, and the events that belong to it. */
struct state {
    struct api_tick tick;
    struct api_log log;
    bool live;
};

static void make_state(void *source, struct http_response *response)
{
    const struct state *state = source;
    api_tick_write(&state->tick, NULL, &state->log, state->live, &response->body);
}

static void release_state(void *source)
{
    struct state *state = source;
    api_tick_release(&state->tick);
    api_log_release(&state->log);
    mem_free(state);
}

static void answer_state(const struct api_publisher *publisher, const struct api_tick *tick,
                         bool live, struct http_response *response)
{
    struct state *state = mem_zalloc(1, sizeof *state);
    api_tick_init(&state->tick, tick->nodes_n, tick->links_n);
    api_tick_copy(&state->tick, tick);
    api_log_copy_shown(&state->log, &publisher->log, tick->log_end);
    state->live = live;
    response->make = make_state;
    response->release = release_state;
    response->source = state;
}

static void get_state(void *context, const struct http_request *request,
                      struct http_response *response)
{
    struct api_publisher *publisher = context;
    (void)request;
    refresh(publisher);
    answer_state(publisher, &publisher->sent, true, response);
}

static void get_history(void *context, const struct http_request *request,
                        struct http_response *response)
{
    const struct api_publisher *publisher = context;
    (void)request;
    api_history_answer(&publisher->history, response);
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
        answer_state(publisher, tick, false, response);
    else
        api_refuse(response, 404, "no history yet");
}

size_t api_add_routes(struct api_publisher *publisher, struct http_route *routes, size_t room)
{
    const struct http_route table[] = {
        {.path = "/api/v1/topology", .handler = get_topology},
        {.path = "/api/v1/state", .handler = get_state},
        {.path = "/api/v1/export/state", .handler = get_state},
        {.path = "/api/v1/history", .handler = get_history},
        {.path = "/api/v1/history/at", .handler = get_sample},
        {.path = "/api/v1/events", .stream = publisher->stream},
    };
    size_t count = api_add_table(table, sizeof table / sizeof *table, publisher, routes);
    return count + api_add_pages(routes + count, room - count);
}

/* ---- ticks ---- */

void api_publisher_begin(struct api_publisher *publisher, struct api_network *network)
{
    uint64_t seq = publisher->tick.seq;
    char data[64];
    snprintf(data, sizeof data, "{\"generation\":%" PRIu64 "}", api_network_generation(network));
    if (publisher->stream)
        http_stream_publish(publisher->stream, "reset", data);
    else
        publisher->stream = http_stream_new();
    api_tick_release(&publisher->tick);
    api_tick_release(&publisher->sent);
    api_network_init_tick(network, &publisher->tick);
    api_network_init_tick(network, &publisher->sent);
    publisher->tick.seq = seq;
    api_network_release(publisher->network);
    publisher->network = network;
}

void api_publisher_release(struct api_publisher *publisher)
{
    http_stream_free(publisher->stream);
    api_history_release(&publisher->history);
    api_tick_release(&publisher->tick);
    api_tick_release(&publisher->sent);
    api_log_release(&publisher->log);
    api_network_release(publisher->network);
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
