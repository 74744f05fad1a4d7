/* Reads what the sweeps of an experiment measured, and summarises it over networks. */
#include "reproduce/evidence.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---- reading ---- */

enum { OWN_PARAMETERS = 2 }; /* repetition, whole */

/* The parameters of the run, those that the recipe adds to all runs of the sweep, and
 * "repetition". */
static void copy_parameters(struct evidence *evidence, struct observation *observation,
                            const struct result_run *run, const struct conditions *as)
{
    size_t count = run->parameter_count + as->count;
    struct result_parameter *copy =
        arena_alloc(&evidence->arena, (count + OWN_PARAMETERS) * sizeof *copy);
    for (size_t i = 0; i < run->parameter_count; i++)
        copy[i] =
            (struct result_parameter){arena_strdup(&evidence->arena, run->parameters[i].name),
                                      arena_strdup(&evidence->arena, run->parameters[i].value)};
    for (size_t i = 0; i < as->count; i++)
        copy[run->parameter_count + i] =
            (struct result_parameter){arena_strdup(&evidence->arena, as->items[i].name),
                                      arena_strdup(&evidence->arena, as->items[i].values[0])};
    copy[count++] = (struct result_parameter){
        "repetition", arena_printf(&evidence->arena, "%" PRIu32, run->repetition)};
    observation->parameters = copy;
    observation->parameter_count = count;
    observation->network = arena_printf(&evidence->arena, "%s#%" PRIu32,
                                        observation_value(observation, "seed"), run->repetition);
}

/* Adds the parameter "whole": whether all switches that are on are connected with the manager,
 * at the end and when a switch was added. */
static void add_wholeness(struct observation *observation)
{
    double cut_off = results_value(&observation->results, "cut-off.switches");
    double before = results_value(&observation->results, "cut-off.before");
    struct result_parameter *parameters = (struct result_parameter *)observation->parameters;
    parameters[observation->parameter_count++] =
        (struct result_parameter){"whole", cut_off > 0 || before > 0 ? "no" : "yes"};
}

static int read_run(struct evidence *evidence, struct result_store *store,
                    const struct result_run *run, const struct recipe_sweep *sweep, bool quick,
                    struct err *err)
{
    struct observation observation = {0};
    copy_parameters(evidence, &observation, run, &sweep->as);
    if (quick &&
        !conditions_fit(&sweep->quick, observation.parameters, observation.parameter_count, true))
        return 0;
    if (run->failed) {
        evidence->failed++;
        return 0;
    }
    evidence->broken += run->checks_failed > 0;
    int status = result_store_read_results(store, run->id, &observation.results, err);
    if (status) {
        results_release(&observation.results);
        return status;
    }
    derive_figures(&observation);
    add_wholeness(&observation);
    vec_push(&evidence->items, observation);
    return 0;
}

static int read_store(struct evidence *evidence, const struct recipe_sweep *sweep, const char *path,
                      bool quick, struct err *err)
{
    struct result_store *store;
    struct result_runs runs;
    if (access(path, F_OK) != 0)
        return 0;
    int status = result_store_open(&store, path, RESULT_STORE_READ, err);
    if (status)
        return status;
    status = result_store_read_runs(store, &runs, err);
    if (status == 0) {
        for (size_t i = 0; i < runs.items.count && status == 0; i++) {
            const struct result_run *run = &runs.items.items[i];
            status = read_run(evidence, store, run, sweep, quick, err);
        }
        result_runs_release(&runs);
    }
    result_store_close(store);
    return status;
}

int evidence_read(struct evidence *evidence, const struct recipe *recipe, const char *folder,
                  bool quick, struct err *err)
{
    int status = 0;
    *evidence = (struct evidence){0};
    for (size_t i = 0; i < recipe->sweeps.count && status == 0; i++) {
        const struct recipe_sweep *sweep = &recipe->sweeps.items[i];
        const char *path = arena_printf(&evidence->arena, "%s/%s.db", folder, sweep->store);
        status = read_store(evidence, sweep, path, quick, err);
    }
    if (status)
        evidence_release(evidence);
    return status;
}

void evidence_release(struct evidence *evidence)
{
    for (size_t i = 0; i < evidence->items.count; i++)
        results_release(&evidence->items.items[i].results);
    vec_release(&evidence->items);
    arena_release(&evidence->arena);
}

struct observation *evidence_add(struct evidence *evidence, const char *parameters)
{
    struct conditions parsed = {0};
    struct observation observation = {0};
    conditions_parse(&parsed, parameters, &evidence->arena);
    copy_parameters(evidence, &observation, &(struct result_run){.repetition = 1}, &parsed);
    conditions_release(&parsed);
    vec_push(&evidence->items, observation);
    return &evidence->items.items[evidence->items.count - 1];
}

/* ---- one observation ---- */

const char *observation_value(const struct observation *observation, const char *parameter)
{
    const char *value =
        result_parameter(observation->parameters, observation->parameter_count, parameter);
    return value ? value : "";
}

double observation_figure(const struct observation *observation, const char *figure)
{
    return results_value(&observation->results, figure);
}

bool observation_is_saturated(const struct observation *observation)
{
    return observation_figure(observation, "saturated") > 0.5 ||
           observation_figure(observation, "steady") < 0.5;
}

/* ---- many ---- */

bool observation_matches(const struct observation *observation, const struct conditions *where,
                         const char *network)
{
    return (!network || strcmp(observation->network, network) == 0) &&
           conditions_fit(where, observation->parameters, observation->parameter_count, false);
}

/* The sum of the values of one network. */
struct network_sum {
    const char *network;
    double sum;
    size_t count;
};

struct quantity_mean evidence_mean(const struct evidence *evidence, const struct conditions *where,
                                   const char *network, const char *figure)
{
    VEC(struct network_sum) sums = {0};
    VEC(double) means = {0};
    for (size_t i = 0; i < evidence->items.count; i++) {
        const struct observation *observation = &evidence->items.items[i];
        double value = observation_matches(observation, where, network)
                           ? observation_figure(observation, figure)
                           : NAN;
        if (isnan(value))
            continue;
        size_t n = 0;
        while (n < sums.count && strcmp(sums.items[n].network, observation->network) != 0)
            n++;
        struct network_sum *sum = vec_at(&sums, n);
        sum->network = observation->network;
        sum->sum += value;
        sum->count++;
    }
    for (size_t n = 0; n < sums.count; n++)
        vec_push(&means, sums.items[n].sum / (double)sums.items[n].count);
    struct quantity_mean mean = quantity_mean(means.items, means.count);
    vec_release(&sums);
    vec_release(&means);
    return mean;
}

size_t evidence_networks(const struct evidence *evidence, const char ***networks)
{
    VEC(const char *) found = {0};
    for (size_t i = 0; i < evidence->items.count; i++)
        vec_push(&found, evidence->items.items[i].network);
    *networks = found.items;
    return result_sort_values(found.items, found.count);
}

size_t evidence_values(const struct evidence *evidence, const struct conditions *where,
                       const char *parameter, const char ***values)
{
    VEC(const char *) found = {0};
    for (size_t i = 0; i < evidence->items.count; i++) {
        const char *value = observation_value(&evidence->items.items[i], parameter);
        if (*value && observation_matches(&evidence->items.items[i], where, NULL))
            vec_push(&found, value);
    }
    *values = found.items;
    return result_sort_values(found.items, found.count);
}
