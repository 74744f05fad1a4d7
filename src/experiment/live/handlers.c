/* The routes of the API (docs/api/openapi.yaml). All handlers run in the thread of the session. */
#include "experiment/live/cabling_view.h"
#include "experiment/live/control.h"
#include "experiment/live/engine_view.h"
#include "experiment/live/live.h"
#include "experiment/live/memberships.h"
#include "experiment/live/path.h"

#include "base/parse.h"
#include "base/time.h"
#include "routing/engine/engine.h"
#include "wire/pcap.h"

#include <errno.h>
#include <unistd.h>

static const char *get_parameter(void *context, const char *name)
{
    return http_parameter(context, name);
}

static struct control_parameters parameters_of(const struct http_request *request)
{
    return (struct control_parameters){(void *)(uintptr_t)request, get_parameter};
}

/* ---- reading ---- */

static void get_info(void *context, const struct http_request *request,
                     struct http_response *response)
{
    static const char *const capabilities[] = {
        "time",    "links",    "switches", "managers", "path",       "tables",     "history",
        "seek",    "deadlock", "whatif",   "engine",   "partitions", "scenario",   "pcap",
        "traffic", "groups",   "cabling",  "faults",   "reroute",    "memberships"};
    const struct live *live = context;
    const struct setup *setup = live_session_setup(&live->session);
    struct json json = {.out = &response->body};
    (void)request;
    json_begin_object(&json, NULL);
    json_string(&json, "what", "live");
    json_string(&json, "version", live->options.version);
    const char *name = strrchr(live->options.name, '/');
    json_string(&json, "name", name ? name + 1 : live->options.name);
    json_unsigned(&json, "seed", setup->record->seed);
    json_unsigned(&json, "generation", live->session.generation);
    json_begin_array(&json, "capabilities");
    for (unsigned i = 0; i < sizeof capabilities / sizeof capabilities[0]; i++)
        json_string(&json, NULL, capabilities[i]);
    if (setup->machines.hypervisors.count)
        json_string(&json, NULL, "vms");
    json_end_array(&json);
    action_list((1U << OWNERS) - 1, "actions", &json);
    json_begin_array(&json, "engines");
    for (size_t i = 0; engine_at(i); i++)
        json_string(&json, NULL, engine_at(i)->name);
    json_end_array(&json);
    json_end_object(&json);
}

static void get_path(void *context, const struct http_request *request,
                     struct http_response *response)
{
    const struct live *live = context;
    struct control_parameters parameters = parameters_of(request);
    uint64_t nodes = live_session_setup(&live->session)->topology.nodes.count, from, to;
    struct err err = {0};
    if (control_number(&parameters, "from", nodes, &from, &err) < 0 ||
        control_number(&parameters, "to", nodes, &to, &err) < 0)
        api_refuse(response, 400, err.message);
    else
        path_write(&live->watch, (uint32_t)from, (uint32_t)to, &response->body);
}

static void get_versions(void *context, const struct http_request *request,
                         struct http_response *response)
{
    const struct live *live = context;
    (void)request;
    struct record record = record_to(&response->body, true, false);
    record_begin(&record, NULL);
    versions_put(&live->versions, "versions", &record);
    record_end(&record);
}

static void get_comparison(void *context, const struct http_request *request,
                           struct http_response *response)
{
    const struct live *live = context;
    struct control_parameters parameters = parameters_of(request);
    struct err err = {0};
    uint64_t a, b;
    if (control_number(&parameters, "a", UINT32_MAX, &a, &err) < 0 ||
        control_number(&parameters, "b", UINT32_MAX, &b, &err) < 0) {
        api_refuse(response, 400, err.message);
    } else if (versions_compare(&live->versions, &live->watch, a, b, &response->body, &err) < 0) {
        api_refuse(response, 404, err.message);
    }
}

static void get_partitions(void *context, const struct http_request *request,
                           struct http_response *response)
{
    const struct live *live = context;
    (void)request;
    memberships_write_partitions(&live->watch, &response->body);
}

static void get_groups(void *context, const struct http_request *request,
                       struct http_response *response)
{
    const struct live *live = context;
    (void)request;
    memberships_write_groups(&live->watch, &response->body);
}

static void get_cabling(void *context, const struct http_request *request,
                        struct http_response *response)
{
    const struct live *live = context;
    (void)request;
    cabling_write(&live->watch, live->options.plan, &response->body);
}

/* ---- exports ---- */

static void get_scenario(void *context, const struct http_request *request,
                         struct http_response *response)
{
    const struct live *live = context;
    (void)request;
    response->type = "text/plain; charset=utf-8";
    live_session_export(&live->session, &response->body);
}

static void get_network(void *context, const struct http_request *request,
                        struct http_response *response)
{
    const struct live *live = context;
    (void)request;
    response->type = "text/plain; charset=utf-8";
    topology_write_ibnetdiscover(&live_session_setup(&live->session)->topology, &response->body);
}

static int capture(const struct live *live, const char *path, struct text *out, struct err *err)
{
    enum { CAPTURE_MOST = 512 << 20 };
    struct pcap *pcap;
    int status = pcap_open(&pcap, path, err);
    if (status)
        return status;
    status = live_session_capture(&live->session, pcap, err);
    int closed = pcap_close(pcap);
    FILE *file = status == 0 && closed == 0 ? fopen(path, "re") : NULL;
    if (!file)
        return status ? status : err_set(err, EIO, "the capture cannot be written");
    status = text_read(out, file, CAPTURE_MOST);
    fclose(file);
    return status ? err_set(err, EFBIG, "the capture is too large") : 0;
}

static void get_capture(void *context, const struct http_request *request,
                        struct http_response *response)
{
    const struct live *live = context;
    char path[] = "/tmp/weft-live-XXXXXX";
    struct err err = {0};
    int fd = mkstemp(path);
    (void)request;
    if (fd < 0) {
        err_set(&err, EIO, "no temporary file");
        api_refuse(response, 503, err.message);
        return;
    }
    close(fd);
    response->type = "application/vnd.tcpdump.pcap";
    if (capture(live, path, &response->body, &err) < 0) {
        response->type = NULL;
        api_refuse(response, 503, err.message);
    }
    unlink(path);
}

/* ---- changes ---- */

static int parse_pace(const struct control_parameters *parameters, double *pace, struct err *err)
{
    const char *text = parameters->get(parameters->context, "value"), *rest;
    *pace = 0;
    if (text && parse_decimal(text, pace, &rest) && !*rest && *pace >= 1e-9 && *pace <= 1000)
        return 0;
    return err_set(err, EINVAL, "value: expected virtual seconds for one second, 1e-9 to 1000");
}

static int step(struct live *live, const struct control_parameters *parameters, struct err *err)
{
    uint64_t ns = 10000;
    if (parameters->get(parameters->context, "ns") &&
        control_number(parameters, "ns", 3600 * NS_PER_S, &ns, err) < 0)
        return -EINVAL;
    live_run(live, false);
    live_advance(live, live_session_now(&live->session) + time_ns_to_ps(ns));
    return 0;
}

/* Actions on time. -ENOENT: the action is none of these. */
static int control_time(struct live *live, const struct control_parameters *parameters,
                        struct err *err)
{
    const char *action = parameters->get(parameters->context, "do");
    uint64_t number;
    double pace;
    if (!action)
        return err_set(err, EINVAL, "'do' is missing");
    if (strcmp(action, "pause") == 0 || strcmp(action, "run") == 0) {
        live_run(live, action[0] == 'r');
        return 0;
    }
    if (strcmp(action, "step") == 0)
        return step(live, parameters, err);
    if (strcmp(action, "next") == 0) {
        live_run(live, true);
        live->until_event = live->running;
        live->events_mark = live->session.current->record.events.count;
        return 0;
    }
    if (strcmp(action, "pace") == 0) {
        int status = parse_pace(parameters, &pace, err);
        if (status == 0)
            live_set_pace(live, pace);
        return status;
    }
    if (strcmp(action, "seek") == 0) {
        int status = control_number(parameters, "t", time_ns_floor(TIME_LONGEST), &number, err);
        return status ? status : live_seek(live, time_ns_to_ps(number), err);
    }
    if (strcmp(action, "restart") == 0) {
        bool given = parameters->get(parameters->context, "seed") != NULL;
        if (given && control_number(parameters, "seed", UINT64_MAX, &number, err) < 0)
            return -EINVAL;
        return live_restart(live, given ? &number : NULL, err);
    }
    return -ENOENT;
}

static void post_action(void *context, const struct http_request *request,
                        struct http_response *response)
{
    struct live *live = context;
    struct control_parameters parameters = parameters_of(request);
    struct json json = {.out = &response->body};
    struct control_actions actions = {0};
    struct err err = {0};
    int status = control_time(live, &parameters, &err);
    bool of_time = status != -ENOENT;
    if (!of_time)
        status = control_read(&live->watch, &parameters, &actions, &err);
    if (status == 0) {
        json_begin_object(&json, NULL);
        json_begin_array(&json, "statements");
        if (!of_time)
            status = live_apply(live, actions.items, actions.count, &json, &err);
        json_end_array(&json);
        json_unsigned(&json, "t", time_ns_floor(live_session_now(&live->session)));
        json_end_object(&json);
        if (live->dirty)
            live_refresh(live);
    }
    if (status)
        api_refuse(response, status == -EPERM ? 409 : 400, err.message);
    control_actions_release(&actions);
}

static void post_whatif(void *context, const struct http_request *request,
                        struct http_response *response)
{
    const struct live *live = context;
    const char *name = http_parameter(request, "engine");
    struct err err = {0};
    if (engine_view_write(&live->watch, name ? name : "", &response->body, &err) < 0)
        api_refuse(response, 400, err.message);
}

/* ---- routes ---- */

static void add_route(struct live *live, const char *method, const char *path,
                      http_handler *handler)
{
    live->routes[live->route_count++] = (struct http_route){.method = method,
                                                            .path = path,
                                                            .changes = method[0] == 'P',
                                                            .in_loop = true,
                                                            .handler = handler,
                                                            .context = live};
}

void live_add_routes(struct live *live)
{
    add_route(live, "GET", "/api/v1/info", get_info);
    add_route(live, "GET", "/api/v1/path", get_path);
    add_route(live, "GET", "/api/v1/tables/versions", get_versions);
    add_route(live, "GET", "/api/v1/tables/compare", get_comparison);
    add_route(live, "GET", "/api/v1/partitions", get_partitions);
    add_route(live, "GET", "/api/v1/groups", get_groups);
    add_route(live, "GET", "/api/v1/cabling", get_cabling);
    add_route(live, "GET", "/api/v1/export/scenario", get_scenario);
    add_route(live, "GET", "/api/v1/export/pcap", get_capture);
    live->routes[live->route_count - 1].changes = true; /* a replay of the whole session */
    add_route(live, "GET", "/api/v1/export/topology", get_network);
    add_route(live, "POST", "/api/v1/actions", post_action);
    add_route(live, "POST", "/api/v1/whatif", post_whatif);
    live->route_count += api_add_routes(&live->publisher, live->routes + live->route_count,
                                        LIVE_ROUTES - live->route_count);
}
