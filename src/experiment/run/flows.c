/* Binds `traffic` statements with the settings that override them, rejects flows that can never
 * have a path, and starts and stops flows. The fabric makes their packets. */
#include "experiment/run/flows.h"

#include "experiment/measure/metrics.h"
#include "experiment/run/setup.h"
#include "fabric/data.h"

#include <assert.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLOWS_MOST = 256 };

static const char prefix[] = "traffic";

bool flows_is_setting(const struct statement *statement)
{
    return statement->kind == STATEMENT_SET && statement->setting &&
           strncmp(statement->words[0].text, prefix, sizeof prefix - 1) == 0;
}

/* The number of the flow that a setting applies to; 0: all. */
static unsigned long flow_number(const struct statement *setting)
{
    const char *number = setting->words[0].text + sizeof prefix - 1;
    return *number ? strtoul(number + 1, NULL, 10) : 0;
}

static int apply_settings(struct traffic_spec *spec, size_t number, struct setup *setup)
{
    int status = 0;
    for (size_t i = 0; i < setup->scenario->statements.count && status == 0; i++) {
        const struct statement *setting = &setup->scenario->statements.items[i];
        struct cursor cursor = setup_setting_cursor(setup, setting);
        if (flows_is_setting(setting) &&
            (flow_number(setting) == 0 || flow_number(setting) == number))
            status = traffic_spec_set(spec, &setting->words[1], &setting->words[2], &cursor);
    }
    return status;
}

/* A setting for a flow that does not exist is an error. */
static int check_flow_numbers(const struct setup *setup)
{
    for (size_t i = 0; i < setup->scenario->statements.count; i++) {
        const struct statement *setting = &setup->scenario->statements.items[i];
        struct cursor cursor = setup_setting_cursor(setup, setting);
        if (flows_is_setting(setting) &&
            (setup->flows.count == 0 || flow_number(setting) > setup->flows.count))
            return word_error(&cursor, &setting->words[0], "there are %zu 'traffic' statements",
                              setup->flows.count);
    }
    return 0;
}

int flows_bind(struct setup *setup)
{
    struct scenario *scenario = setup->scenario;
    char file[4096];
    snprintf(file, sizeof file, "%s", scenario->file);
    const char **machines;
    size_t machine_count = machines_names(setup, &machines);
    struct traffic_spec_world world = {&setup->topology, &setup->options, dirname(file),
                                       machines,         machine_count,   true};
    int status = 0;
    for (const struct statement *statement = NULL;
         status == 0 && (statement = scenario_next(scenario, STATEMENT_TRAFFIC, statement));) {
        struct traffic_spec spec = *statement->spec;
        struct flow flow = {.stopped = spec.stopped};
        status = setup->flows.count < FLOWS_MOST
                     ? 0
                     : word_error(&setup->cursor, &statement->word,
                                  "more than %d 'traffic' statements", FLOWS_MOST);
        if (status == 0)
            status = apply_settings(&spec, setup->flows.count + 1, setup);
        if (status == 0 && spec.start.settled) {
            flow.settled_run = setup_settled_run(setup, statement);
            status = flow.settled_run ? 0 : -EINVAL;
        }
        if (status == 0)
            status = traffic_spec_bind(&spec, &world, &setup->cursor, &flow.traffic);
        if (status == 0)
            vec_push(&setup->flows, flow);
    }
    mem_free(machines);
    return status ? status : check_flow_numbers(setup);
}

/* ---- traffic that can never flow ---- */

/* Whether the manager runs at some time: at the start, or after an action. */
static bool manager_ever_runs(const struct setup *setup, size_t instance)
{
    uint32_t node = setup->topology.ports.items[setup->places.items[instance].port].node;
    if (!setup->instances.items[instance]->stopped)
        return true;
    for (const struct statement *statement = NULL;
         (statement = scenario_next(setup->scenario, STATEMENT_ACTION, statement));)
        if (statement->action.kind == ACTION_START_MANAGER && statement->action.node == node)
            return true;
    return false;
}

/* Marks the nodes that are connected with a manager. Returns the number of managers that run. */
static size_t mark_managed(const struct setup *setup, bool *managed)
{
    const struct topology *topology = &setup->topology;
    VEC(uint32_t) queue = {0};
    size_t managers = 0;
    for (size_t i = 0; i < setup->places.count; i++)
        if (manager_ever_runs(setup, i)) {
            vec_push(&queue, topology->ports.items[setup->places.items[i].port].node);
            managers++;
        }
    while (queue.count > 0) {
        uint32_t node = queue.items[--queue.count];
        const struct topology_node *n = &topology->nodes.items[node];
        if (managed[node])
            continue;
        managed[node] = true;
        for (uint32_t port = n->first_port; port <= n->first_port + n->port_count; port++) {
            uint32_t peer = topology->ports.items[port].peer;
            if (peer != TOPOLOGY_NONE)
                vec_push(&queue, topology->ports.items[peer].node);
        }
    }
    vec_release(&queue);
    return managers;
}

/* Machines count as managed: a manager starts them. */
static bool has_managed_member(const struct setup *setup, const uint32_t *ports, size_t count,
                               const bool *managed)
{
    for (size_t i = 0; i < count; i++)
        if (ports[i] >= DATA_VM || managed[setup->topology.ports.items[ports[i]].node])
            return true;
    return false;
}

/* Ports carry data only after a manager has made them Active. */
int flows_check_managers(struct setup *setup)
{
    bool *managed = mem_zalloc(setup->topology.nodes.count + 1, sizeof *managed);
    size_t managers = mark_managed(setup, managed), flow = 0;
    int status = 0;
    for (const struct statement *statement = NULL;
         status == 0 &&
         (statement = scenario_next(setup->scenario, STATEMENT_TRAFFIC, statement));) {
        const struct traffic *traffic = &setup->flows.items[flow++].traffic;
        if (managers == 0)
            status = word_error(&setup->cursor, &statement->word, "no packet can ever flow: %s",
                                setup->places.count ? "no 'start sm' starts a stopped manager"
                                                    : "there is no subnet manager; add 'sm NODE'");
        else if (!has_managed_member(setup, traffic->senders.items, traffic->senders.count,
                                     managed) ||
                 !has_managed_member(setup, traffic->receivers.items, traffic->receivers.count,
                                     managed))
            status = word_error(&setup->cursor, &statement->word,
                                "no packet can ever flow: no cable connects the senders or the "
                                "receivers with a subnet manager");
    }
    mem_free(managed);
    return status;
}

void flows_release(struct setup *setup)
{
    for (size_t i = 0; i < setup->flows.count; i++)
        traffic_release(&setup->flows.items[i].traffic);
    vec_release(&setup->flows);
}

static void start_flow(struct setup *setup, struct flow *flow)
{
    flow->number = fabric_add_traffic(setup->fabric, &flow->traffic);
    flow->running = true;
    metrics_add_traffic(setup->metrics, &flow->traffic, flow->traffic.start_ps, flow->number,
                        (uint32_t)(flow - setup->flows.items));
}

void flows_begin(struct setup *setup)
{
    for (size_t i = 0; i < setup->flows.count; i++)
        if (!setup->flows.items[i].stopped && !setup->flows.items[i].settled_run)
            start_flow(setup, &setup->flows.items[i]);
}

void flows_settled(struct setup *setup, const struct statement *run)
{
    uint64_t now = sim_now(setup->sim);
    for (size_t i = 0; i < setup->flows.count; i++) {
        struct flow *flow = &setup->flows.items[i];
        if (flow->settled_run != run)
            continue;
        flow->settled_run = NULL;
        flow->traffic.start_ps += now;
        if (flow->traffic.stop_ps != TIME_NEVER)
            flow->traffic.stop_ps += now;
        start_flow(setup, flow);
    }
}

int flows_start(struct setup *setup, uint64_t number, struct err *err)
{
    assert(number >= 1 && number <= setup->flows.count);
    struct flow *flow = &setup->flows.items[number - 1];
    uint64_t now = sim_now(setup->sim);
    if (flow->running)
        return err_set(err, EALREADY, "traffic %u is running already", (unsigned)number);
    if (flow->settled_run)
        return err_set(err, EINVAL, "traffic %u starts by itself after 'run until settled'",
                       (unsigned)number);
    if (flow->traffic.stop_ps <= now)
        return err_set(err, EINVAL, "the stop time of traffic %u has passed", (unsigned)number);
    flow->traffic.start_ps = now;
    start_flow(setup, flow);
    return 0;
}

int flows_stop(struct setup *setup, uint64_t number, struct err *err)
{
    assert(number >= 1 && number <= setup->flows.count);
    struct flow *flow = &setup->flows.items[number - 1];
    if (!flow->running)
        return err_set(err, ESRCH, "traffic %u is not running", (unsigned)number);
    fabric_stop_traffic(setup->fabric, flow->number);
    flow->running = false;
    return 0;
}
