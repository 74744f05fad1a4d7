/* Both sets of tables are checked and measured by the same functions as `weft route compare`, for
 * the network of the master. Nothing is written to switches. */
#include "experiment/live/engine_view.h"

#include "routing/check/quality.h"
#include "routing/check/verify.h"

#include <errno.h>
#include <math.h>

enum { PAIRINGS = 20, SEED = 1 }; /* as `weft route --compare --samples 20`, for the same figures */

struct engine_quality {
    const char *engine;
    const struct routes *routes; /* NULL: the engine refuses the network */
    struct err refusal;
    struct verify_report report;
    struct quality quality;
};

static void measure(const struct network *network, struct engine_quality *view)
{
    const struct verify_options options = {0};
    if (!view->routes)
        return;
    verify_routes(network, view->routes, &options, &view->report);
    quality_measure(network, view->routes,
                    &(struct quality_options){.pairings = PAIRINGS, .seed = SEED}, &view->quality);
}

/* Loads by direction of a link, 100 for the largest of both views. */
static void write_loads(const struct live_watch *watch, const struct network *network,
                        const struct engine_quality *view, uint64_t most, struct json *json)
{
    const struct topology *topology = &live_session_setup(watch->session)->topology;
    uint8_t *loads = mem_zalloc(2 * (size_t)watch->view.links.count + 1, 1);
    for (uint32_t i = 0; i < network->switches.count && view->report.load; i++) {
        const struct network_switch *at = &network->switches.items[i];
        uint32_t node = map_get(&topology->by_guid, at->guid);
        if (node == MAP_NONE)
            continue;
        for (unsigned number = 1; number <= at->port_count; number++) {
            uint32_t port = topology->nodes.items[node].first_port + number;
            uint32_t link = number <= topology->nodes.items[node].port_count
                                ? watch->view.links.of_port[port]
                                : TOPOLOGY_NONE;
            uint64_t load = view->report.load[at->first_port + number];
            if (link != TOPOLOGY_NONE && most)
                loads[2 * (size_t)link + api_link_direction(&watch->view.links, port)] =
                    (uint8_t)((100 * load + most - 1) / most);
        }
    }
    json_base64(json, "loads", loads, 2 * (size_t)watch->view.links.count);
    mem_free(loads);
}

static void write_view(const struct live_watch *watch, const struct network *network,
                       const char *key, const struct engine_quality *view,
                       const struct engine_quality *present, uint64_t most, struct json *json)
{
    json_begin_object(json, key);
    json_string(json, "engine", view->engine);
    if (!view->routes) {
        json_string(json, "error", view->refusal.message);
        json_end_object(json);
        return;
    }
    const struct verify_report *report = &view->report;
    json_null(json, "error");
    json_unsigned(json, "vls", view->routes->vls);
    json_unsigned(json, "longest", report->hops_max);
    json_double(json, "mean_hops",
                report->pairs ? (double)report->hops_sum / (double)report->pairs : NAN);
    json_unsigned(json, "max_load", report->load_max);
    json_double(json, "mean_load",
                report->channels ? (double)report->load_sum / (double)report->channels : NAN);
    json_double(json, "bisection", view->quality.bandwidth_mean);
    json_bool(json, "deadlock_free", report->cycle.count == 0);
    json_unsigned(json, "changed", routes_compare(present->routes, view->routes).entries);
    write_loads(watch, network, view, most, json);
    json_end_object(json);
}

/* The configuration of the first master with tables in force. */
static const struct config *find_master(const struct setup *setup, struct sm_paths *paths)
{
    for (size_t i = 0; i < setup->instances.count; i++) {
        const struct sm *sm = setup_manager(setup, i);
        *paths = sm ? sm_paths(sm) : (struct sm_paths){0};
        if (paths->network)
            return &setup->instances.items[i]->config;
    }
    return NULL;
}

int engine_view_write(const struct live_watch *watch, const char *name, struct text *out,
                      struct err *err)
{
    const struct engine *engine = engine_find(name);
    struct sm_paths paths;
    const struct config *config = find_master(live_session_setup(watch->session), &paths);
    struct routes routes = {0};
    if (!engine)
        return err_set(err, EINVAL, "'%.40s' is not an engine", name);
    if (!config)
        return err_set(err, EAGAIN, "no manager has tables in force");
    struct engine_options options = config->sm.engine_options;
    struct engine_quality present = {.engine = paths.routes->engine, .routes = paths.routes};
    struct engine_quality other = {.engine = engine->name};
    if (engine->compute(paths.network, &options, &routes, &other.refusal) == 0)
        other.routes = &routes;
    measure(paths.network, &present);
    measure(paths.network, &other);
    uint64_t most = present.report.load_max > other.report.load_max ? present.report.load_max
                                                                    : other.report.load_max;
    struct json json = {.out = out};
    json_begin_object(&json, NULL);
    write_view(watch, paths.network, "present", &present, &present, most, &json);
    write_view(watch, paths.network, "other", &other, &present, most, &json);
    json_end_object(&json);
    verify_report_release(&present.report);
    verify_report_release(&other.report);
    routes_release(&routes);
    return 0;
}
