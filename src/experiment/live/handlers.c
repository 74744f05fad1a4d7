/* The routes of the API (docs/api/openapi.yaml). All handlers run in the thread of the session. */
#include "experiment/live/control.h"
#include "experiment/live/engine_view.h"
#include "experiment/live/live.h"

#include "base/parse.h"
#include "base/time.h"
#include "routing/engine/engine.h"
#include "wire/pcap.h"

#include <errno.h>
#include <unistd.h>

/* ---- reading ---- */

static const char *engine_name(size_t index)
{
    return engine_at(index) ? engine_at(index)->name : NULL;
}

static void write_info(void *context, struct text *out)
{
    const struct live *live = context;
    const struct setup *setup = live_session_setup(&live->session);
    const char *name = strrchr(live->options.name, '/');
    const struct api_info info = {
        .what = "live",
        .name = name ? name + 1 : live->options.name,
        .version = live->options.version,
        .seed = &setup->record->seed,
        .generation = live->session.generation,
        .capabilities = {"time",        "links",
                         "switches",    "managers",
                         "path",        "tables",
                         "history",     "seek",
                         "deadlock",    "whatif",
                         "engine",      "partitions",
                         "scenario",    "pcap",
                         "traffic",     "groups",
                         "cabling",     "faults",
                         "reroute",     "memberships",
                         "connections", setup->machines.hypervisors.count ? "vms" : NULL},
        .engine = engine_name,
    };
    api_info_write(&info, out);
}

static void get_path(void *context, const struct http_request *request,
                     struct http_response *response)
{
    static const char *const names[] = {"from", "to"};
    const struct live *live = context;
    uint64_t nodes = live_session_setup(&live->session)->topology.nodes.count, ends[2];
    if (api_two_numbers(request, response, names, nodes, ends))
        watch_put_path(&live->watch, (uint32_t)ends[0], (uint32_t)ends[1], &response->body);
}

static void write_versions(void *context, struct text *out)
{
    const struct live *live = context;
    api_versions_write(&live->watch.versions, out);
}

static void get_comparison(void *context, const struct http_request *request,
                           struct http_response *response)
{
    const struct live *live = context;
    api_versions_answer_now(&live->watch.versions, &live_session_setup(&live->session)->topology,
                            &live->watch.view.links, request, response);
}

static void write_partitions(void *context, struct text *out)
{
    const struct live *live = context;
    const struct setup *setup = live_session_setup(&live->session);
    size_t manager = watch_choose_manager(&live->watch);
    const struct manager_page page = watch_page(&live->watch, manager);
    manager_page_put_partitions(
        &page, page.sm ? &setup->instances.items[manager]->config.partitions : NULL, out);
}

static void write_groups(void *context, struct text *out)
{
    const struct live *live = context;
    const struct manager_page page = watch_page(&live->watch, watch_choose_manager(&live->watch));
    manager_page_put_groups(&page, live_session_setup(&live->session)->groups, out);
}

static void write_connections(void *context, struct text *out)
{
    enum { CONNECTIONS_SHOWN = 200 };
    const struct live *live = context;
    const struct setup *setup = live_session_setup(&live->session);
    struct record record = record_to(out, true, false);
    record_begin(&record, NULL);
    record_number(&record, "total", NULL, setup->connections.started.count);
    connections_put(setup, "connections", CONNECTIONS_SHOWN, &record);
    record_end(&record);
}

static void write_cabling(void *context, struct text *out)
{
    const struct live *live = context;
    const struct topology *plan = live->options.plan;
    const struct manager_page page = watch_page(&live->watch, watch_choose_manager(&live->watch));
    manager_page_put_cabling(&page, plan ? plan : page.topology,
                             plan ? "the plan" : "the network as it began", out);
}

/* ---- exports ---- */

static void get_scenario(void *context, const struct http_request *request,
                         struct http_response *response)
{
    const struct live *live = context;
    response->type = API_PLAIN;
    live_session_export(&live->session, request->trusted, &response->body);
}

static void write_network(void *context, struct text *out)
{
    const struct live *live = context;
    topology_write_ibnetdiscover(&live_session_setup(&live->session)->topology, out);
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

static int set_running(struct live *live, const struct action_request *request, struct err *err)
{
    (void)err;
    live_run(live, request->get(request->context, "do")[0] == 'r');
    return 0;
}

static int step(struct live *live, const struct action_request *request, struct err *err)
{
    uint64_t ns = 10000;
    if (request->get(request->context, "ns") &&
        control_number(request, "ns", 3600 * NS_PER_S, &ns, err) < 0)
        return -EINVAL;
    live_run(live, false);
    live_advance(live, live_session_now(&live->session) + time_ns_to_ps(ns));
    return 0;
}

static int run_to_event(struct live *live, const struct action_request *request, struct err *err)
{
    (void)request;
    (void)err;
    live_run(live, true);
    live->until_event = live->running;
    live->events_mark = live->session.current->record.events.count;
    return 0;
}

static int set_pace(struct live *live, const struct action_request *request, struct err *err)
{
    const char *text = request->get(request->context, "value"), *rest;
    double pace = 0;
    if (!text || !parse_decimal(text, &pace, &rest) || *rest || pace < 1e-9 || pace > 1000)
        return err_set(err, EINVAL, "value: expected virtual seconds for one second, 1e-9 to 1000");
    live_set_pace(live, pace);
    return 0;
}

static int seek(struct live *live, const struct action_request *request, struct err *err)
{
    uint64_t ns;
    int status = control_number(request, "t", time_ns_floor(TIME_LONGEST), &ns, err);
    return status ? status : live_seek(live, time_ns_to_ps(ns), err);
}

static int restart(struct live *live, const struct action_request *request, struct err *err)
{
    bool given = request->get(request->context, "seed") != NULL;
    uint64_t seed;
    if (given && control_number(request, "seed", UINT64_MAX, &seed, err) < 0)
        return -EINVAL;
    return live_restart(live, given ? &seed : NULL, err);
}

static const struct time_action {
    const char *name;
    int (*run)(struct live *live, const struct action_request *request, struct err *err);
} time_actions[] = {
    {"pause", set_running}, {"run", set_running}, {"step", step},       {"next", run_to_event},
    {"pace", set_pace},     {"seek", seek},       {"restart", restart}, {0}};

static void post_action(void *context, const struct http_request *request,
                        struct http_response *response)
{
    struct live *live = context;
    const struct action_request parameters =
        api_action(request, &live_session_setup(&live->session)->topology, &live->watch.view.links);
    const char *name = http_parameter(request, "do");
    const struct time_action *of_time = time_actions;
    struct json json = {.out = &response->body};
    struct control_actions actions = {0};
    struct err err = {0};
    while (of_time->name && name && strcmp(of_time->name, name) != 0)
        of_time++;
    int status = !name           ? err_set(&err, EINVAL, "'do' is missing")
                 : of_time->name ? of_time->run(live, &parameters, &err)
                                 : control_read(&live->watch, &parameters, &actions, &err);
    if (status == 0) {
        json_begin_object(&json, NULL);
        json_begin_array(&json, "statements");
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

size_t live_add_routes(struct live *live)
{
    static const struct http_route table[] = {
        {.path = "/api/v1/info", .write = write_info},
        {.path = "/api/v1/path", .handler = get_path},
        {.path = "/api/v1/tables/versions", .write = write_versions},
        {.path = "/api/v1/tables/compare", .handler = get_comparison},
        {.path = "/api/v1/partitions", .write = write_partitions},
        {.path = "/api/v1/groups", .write = write_groups},
        {.path = "/api/v1/connections", .write = write_connections},
        {.path = "/api/v1/cabling", .write = write_cabling},
        {.path = "/api/v1/export/scenario", .handler = get_scenario},
        /* a replay of the whole session */
        {.path = "/api/v1/export/pcap", .handler = get_capture, .changes = true},
        {.path = "/api/v1/export/topology", .write = write_network, .type = API_PLAIN},
        {.method = "POST", .path = "/api/v1/actions", .handler = post_action},
        {.method = "POST", .path = "/api/v1/whatif", .handler = post_whatif},
    };
    size_t count = api_add_table(table, sizeof table / sizeof *table, live, live->routes);
    return count + api_add_routes(&live->publisher, live->routes + count, LIVE_ROUTES - count);
}
