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

/* The words of a command of `weft ctl`: each ends with a NUL. */
struct command {
    struct text words, shown;
    uint32_t node; /* that it is about */
};

static void put_word(struct command *command, const char *word, const char *shown)
{
    text_printf(&command->shown, "%s%s", command->words.length ? " " : "", shown);
    text_puts(&command->words, word);
    text_putc(&command->words, 0);
}

static void put_text(struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put_text(struct command *command, const char *format, ...)
{
    char word[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(word, sizeof word, format, arguments);
    va_end(arguments);
    put_word(command, word, word);
}

/* By GUID: a description need not be unique. */
static void put_node_word(const struct topology *topology, uint32_t node, struct command *command)
{
    char guid[24];
    snprintf(guid, sizeof guid, "0x%016" PRIx64, topology->nodes.items[node].guid);
    put_word(command, guid, topology_label(topology, node));
    command->node = node;
}

static int put_node(const struct fabric_web *web, const struct http_request *request,
                    struct command *command, struct err *err)
{
    const struct topology *topology = topology_of(web);
    uint64_t node;
    int status = api_number(request, "node", topology->nodes.count, &node, err);
    if (status == 0)
        put_node_word(topology, (uint32_t)node, command);
    return status;
}

static int put_link(const struct fabric_web *web, const struct http_request *request,
                    struct command *command, struct err *err)
{
    const struct topology *topology = topology_of(web);
    uint64_t link;
    int status = api_number(request, "link", web->view.links.count, &link, err);
    if (status)
        return status;
    uint32_t port = web->view.links.ports[link];
    put_node_word(topology, topology->ports.items[port].node, command);
    put_text(command, "%u", topology_port_number(topology, port));
    return 0;
}

static const struct {
    const char *name, *verb, *more;
    bool of_link;
} actions[] = {
    {"cut", "link", "down", true},         {"restore", "link", "up", true},
    {"flap", "flap", NULL, true},          {"kill-node", "node", "down", false},
    {"restore-node", "node", "up", false}, {"mute", "agent", "mute", false},
    {"heal", "agent", "heal", false},      {"slow", "agent", "slow", false},
    {"lossy", "drop", NULL, true},         {"bit-errors", "errors", NULL, true},
};
enum { ACTIONS = sizeof actions / sizeof actions[0] };

static int put_command(const struct fabric_web *web, const struct http_request *request,
                       struct command *command, struct err *err)
{
    const char *name = http_parameter(request, "do"), *percent = http_parameter(request, "percent");
    double share;
    uint64_t number;
    const char *rest;
    unsigned i = 0;
    while (name && i < ACTIONS && strcmp(actions[i].name, name) != 0)
        i++;
    if (!name || i == ACTIONS)
        return err_set(err, EINVAL, "'%.40s' is no action", name ? name : "");
    put_text(command, "%s", actions[i].verb);
    if (actions[i].more)
        put_text(command, "%s", actions[i].more);
    if (strcmp(name, "lossy") == 0) {
        if (!percent || !parse_decimal(percent, &share, &rest) || *rest || share > 100)
            return err_set(err, EINVAL, "percent: expected a number from 0 to 100");
        put_text(command, "%.6f%%", share);
    }
    int status = actions[i].of_link ? put_link(web, request, command, err)
                                    : put_node(web, request, command, err);
    if (status == 0 && strcmp(name, "bit-errors") == 0) {
        status = api_number(request, "count", UINT32_MAX, &number, err);
        if (status == 0)
            put_text(command, "%" PRIu64, number);
    }
    if (status == 0 && strcmp(name, "slow") == 0) {
        status = api_number(request, "ns", 100 * NS_PER_S, &number, err);
        if (status == 0)
            put_text(command, "%" PRIu64 ".%06" PRIu64 "ms", number / NS_PER_MS,
                     number % NS_PER_MS);
    }
    return status;
}

static void log_action(struct fabric_web *web, const struct command *command)
{
    struct api_event event = {.t_ns = time_ns_floor(web->clients->now),
                              .kind = "action",
                              .who = (char *)(uintptr_t) "page",
                              .text = command->shown.data,
                              .node = command->node};
    api_log_add(&web->publisher.log, &event);
}

static void post_action(void *context, const struct http_request *request,
                        struct http_response *response)
{
    struct fabric_web *web = context;
    struct command command = {.node = TOPOLOGY_NONE};
    struct control_answer answer = {0};
    struct err err = {0};
    int status = put_command(web, request, &command, &err);
    if (status == 0) {
        text_putc(&command.words, 0);
        status = clients_control_run(web->clients, command.words.data, &answer);
        if (status)
            err_set(&err, EINVAL, "%.400s", answer.text.data);
    }
    if (status) {
        api_refuse(response, 400, err.message);
    } else {
        log_action(web, &command);
        publish(web);
        api_accept(response, command.shown.data, time_ns_floor(web->clients->now));
    }
    text_release(&command.words);
    text_release(&command.shown);
    control_answer_release(&answer);
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
