#include "experiment/run/flows.h"

#include "experiment/measure/metrics.h"
#include "experiment/run/stage.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLOWS_MOST = 256 };

/* ---- settings ---- */

static const char prefix[] = "traffic";

bool flows_is_setting(const struct statement *statement)
{
    return statement->kind == STATEMENT_SET && statement->setting &&
           strncmp(statement->words[0].text, prefix, sizeof prefix - 1) == 0;
}

/* The flow that a setting is about; 0: all. */
static unsigned long flow_of(const struct statement *setting)
{
    const char *number = setting->words[0].text + sizeof prefix - 1;
    return *number ? strtoul(number + 1, NULL, 10) : 0;
}

static int apply_settings(struct demand *demand, size_t number, struct stage *stage,
                          struct err *err)
{
    int status = 0;
    for (size_t i = 0; i < stage->scenario->statements.count && status == 0; i++) {
        const struct statement *setting = &stage->scenario->statements.items[i];
        struct cursor cursor = statement_cursor(stage->scenario, setting, err);
        if (flows_is_setting(setting) && (flow_of(setting) == 0 || flow_of(setting) == number))
            status = demand_set(demand, &setting->words[1], &setting->words[2], &cursor);
    }
    return status;
}

/* A setting for a flow that is not there would pass unnoticed. */
static int check_numbers(const struct stage *stage, struct err *err)
{
    for (size_t i = 0; i < stage->scenario->statements.count; i++) {
        const struct statement *setting = &stage->scenario->statements.items[i];
        struct cursor cursor = statement_cursor(stage->scenario, setting, err);
        if (flows_is_setting(setting) &&
            (stage->flows.count == 0 || flow_of(setting) > stage->flows.count))
            return word_error(&cursor, &setting->words[0], "there are %zu 'traffic' statements",
                              stage->flows.count);
    }
    return 0;
}

/* ---- binding ---- */

int flows_bind(struct stage *stage, struct err *err)
{
    struct scenario *scenario = stage->scenario;
    struct cursor cursor = scenario_cursor(scenario, err);
    char file[4096];
    snprintf(file, sizeof file, "%s", scenario->file);
    const char **machines;
    size_t machine_count = machines_names(stage, &machines);
    struct demand_world world = {&stage->topology, &stage->options, dirname(file), machines,
                                 machine_count};
    int status = 0;
    for (size_t i = 0; i < scenario->statements.count && status == 0; i++) {
        const struct statement *statement = &scenario->statements.items[i];
        if (statement->kind != STATEMENT_TRAFFIC)
            continue;
        struct demand demand = *statement->demand;
        struct flow flow = {.stopped = demand.stopped};
        status = stage->flows.count < FLOWS_MOST
                     ? 0
                     : word_error(&cursor, &statement->word, "more than %d traffics", FLOWS_MOST);
        if (status == 0)
            status = apply_settings(&demand, stage->flows.count + 1, stage, err);
        if (status == 0)
            status = demand_bind(&demand, &world, &cursor, &flow.traffic);
        if (status == 0)
            vec_push(&stage->flows, flow);
    }
    mem_free(machines);
    return status ? status : check_numbers(stage, err);
}

void flows_release(struct stage *stage)
{
    for (size_t i = 0; i < stage->flows.count; i++)
        traffic_release(&stage->flows.items[i].traffic);
    vec_release(&stage->flows);
}

/* ---- running ---- */

static void start(struct stage *stage, struct flow *flow)
{
    flow->number = fabric_add_traffic(stage->fabric, &flow->traffic);
    flow->running = true;
    metrics_add_traffic(stage->metrics, &flow->traffic, flow->traffic.start_ps);
}

void flows_begin(struct stage *stage)
{
    for (size_t i = 0; i < stage->flows.count; i++)
        if (!stage->flows.items[i].stopped)
            start(stage, &stage->flows.items[i]);
}

int flows_start(struct stage *stage, uint64_t number, struct err *err)
{
    struct flow *flow = &stage->flows.items[number - 1];
    uint64_t now = sim_now(stage->sim);
    if (flow->running)
        return err_set(err, EALREADY, "traffic %u is running already", (unsigned)number);
    if (flow->traffic.stop_ps <= now)
        return err_set(err, EINVAL, "traffic %u was to stop before this", (unsigned)number);
    flow->traffic.start_ps = now;
    start(stage, flow);
    return 0;
}

int flows_stop(struct stage *stage, uint64_t number, struct err *err)
{
    struct flow *flow = &stage->flows.items[number - 1];
    if (!flow->running)
        return err_set(err, ESRCH, "traffic %u is not running", (unsigned)number);
    fabric_stop_traffic(stage->fabric, flow->number);
    flow->running = false;
    return 0;
}
