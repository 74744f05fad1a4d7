#include "experiment/run/flows.h"

#include "experiment/measure/metrics.h"
#include "experiment/run/setup.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLOWS_MOST = 256 };
static const char prefix[] = "traffic.";

bool flows_is_setting(const char *setting)
{
    return strncmp(setting, prefix, sizeof prefix - 1) == 0;
}

/* ---- settings ---- */

/* One "traffic.[N.]KEY=VALUE"; those about another flow are passed over. */
static int apply_setting(struct traffic_spec *traffic_spec, size_t number, const char *setting,
                         struct arena *arena, struct cursor *cursor)
{
    const char *key = setting + sizeof prefix - 1, *equals = strchr(key, '=');
    if (!equals)
        return err_set(cursor->err, EINVAL, "expected %sKEY=VALUE", prefix);
    char *end;
    unsigned long meant = strtoul(key, &end, 10);
    if (end > key && *end == '.') {
        if (meant != number)
            return 0;
        key = end + 1;
    }
    struct word name = {arena_strndup(arena, key, (size_t)(equals - key)), 0, 0};
    struct word value = {equals + 1, 0, 0};
    return traffic_spec_set(traffic_spec, &name, &value, cursor);
}

static int apply_settings(struct traffic_spec *traffic_spec, size_t number, struct setup *setup,
                          const struct setup_options *options, struct err *err)
{
    for (size_t i = 0; i < options->setting_count; i++) {
        struct err reason = {0};
        struct cursor cursor = scenario_cursor(setup->scenario, &reason);
        if (flows_is_setting(options->settings[i]) &&
            apply_setting(traffic_spec, number, options->settings[i], &setup->scenario->arena,
                          &cursor) < 0)
            return err_set(err, EINVAL, "--set %.120s: %.300s", options->settings[i],
                           reason.message);
    }
    return 0;
}

/* A setting for a flow that is not there would pass unnoticed. */
static int check_numbers(const struct setup *setup, const struct setup_options *options,
                         struct err *err)
{
    for (size_t i = 0; i < options->setting_count; i++) {
        const char *setting = options->settings[i];
        if (!flows_is_setting(setting))
            continue;
        char *end;
        unsigned long number = strtoul(setting + sizeof prefix - 1, &end, 10);
        bool given = end > setting + sizeof prefix - 1;
        if (setup->flows.count == 0 || (given && (number == 0 || number > setup->flows.count)))
            return err_set(err, EINVAL, "--set %.120s: there are %zu 'traffic' statements", setting,
                           setup->flows.count);
    }
    return 0;
}

/* ---- binding ---- */

int flows_bind(struct setup *setup, const struct setup_options *options, struct err *err)
{
    struct scenario *scenario = setup->scenario;
    struct cursor cursor = scenario_cursor(scenario, err);
    char file[4096];
    snprintf(file, sizeof file, "%s", scenario->file);
    const char **machines;
    size_t machine_count = machines_names(setup, &machines);
    struct traffic_spec_world world = {&setup->topology, &setup->options, dirname(file), machines,
                                       machine_count};
    int status = 0;
    for (size_t i = 0; i < scenario->statements.count && status == 0; i++) {
        const struct statement *statement = &scenario->statements.items[i];
        if (statement->kind != STATEMENT_TRAFFIC)
            continue;
        struct traffic_spec traffic_spec = *statement->traffic_spec;
        struct flow flow = {.stopped = traffic_spec.stopped};
        status = setup->flows.count < FLOWS_MOST
                     ? 0
                     : word_error(&cursor, &statement->word, "more than %d traffics", FLOWS_MOST);
        if (status == 0)
            status = apply_settings(&traffic_spec, setup->flows.count + 1, setup, options, err);
        if (status == 0)
            status = traffic_spec_bind(&traffic_spec, &world, &cursor, &flow.traffic);
        if (status == 0)
            vec_push(&setup->flows, flow);
    }
    mem_free(machines);
    return status ? status : check_numbers(setup, options, err);
}

void flows_release(struct setup *setup)
{
    for (size_t i = 0; i < setup->flows.count; i++)
        traffic_release(&setup->flows.items[i].traffic);
    vec_release(&setup->flows);
}

/* ---- running ---- */

static void start(struct setup *setup, struct flow *flow)
{
    flow->number = fabric_add_traffic(setup->fabric, &flow->traffic);
    flow->running = true;
    metrics_add_traffic(setup->metrics, &flow->traffic, flow->traffic.start_ps);
}

void flows_begin(struct setup *setup)
{
    for (size_t i = 0; i < setup->flows.count; i++)
        if (!setup->flows.items[i].stopped)
            start(setup, &setup->flows.items[i]);
}

int flows_start(struct setup *setup, uint64_t number, struct err *err)
{
    struct flow *flow = &setup->flows.items[number - 1];
    uint64_t now = sim_now(setup->sim);
    if (flow->running)
        return err_set(err, EALREADY, "traffic %u is running already", (unsigned)number);
    if (flow->traffic.stop_ps <= now)
        return err_set(err, EINVAL, "traffic %u was to stop before this", (unsigned)number);
    flow->traffic.start_ps = now;
    start(setup, flow);
    return 0;
}

int flows_stop(struct setup *setup, uint64_t number, struct err *err)
{
    struct flow *flow = &setup->flows.items[number - 1];
    if (!flow->running)
        return err_set(err, ESRCH, "traffic %u is not running", (unsigned)number);
    fabric_stop_traffic(setup->fabric, flow->number);
    flow->running = false;
    return 0;
}
