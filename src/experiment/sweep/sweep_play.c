/* Executes one run: the scenario with its parameters is read and run as by `weft sim`, so that a
 * run of a sweep and its repetition are identical. */
#include "experiment/sweep/sweep_run.h"

#include "experiment/run/run.h"

#include <fnmatch.h>
#include <inttypes.h>

static int read_scenario(struct scenario *scenario, const struct sweep *sweep,
                         const struct sweep_run *run, struct err *err)
{
    struct text text = {0};
    const char **settings;
    sweep_render(sweep, run->point, &text);
    int status = scenario_read_text(scenario, sweep->scenario, text.data, text.length, err);
    text_release(&text);
    if (status)
        return status;
    size_t count = sweep_settings(sweep, run->point, &settings, &scenario->arena);
    for (size_t i = 0; i < count; i++)
        scenario_override(scenario, settings[i], err);
    scenario_override_seed(scenario, run->seed);
    return 0;
}

int sweep_play(const struct sweep *sweep, const struct sweep_run *run, struct run_record *record,
               struct text *topology, struct err *err)
{
    struct scenario scenario;
    int status = read_scenario(&scenario, sweep, run, err);
    if (status)
        return status;
    status = run_scenario(&scenario, &(struct run_options){.topology = topology}, record, err);
    scenario_release(&scenario);
    return status;
}

int sweep_check_run(const struct sweep *sweep, const struct sweep_run *run, struct err *err)
{
    struct scenario scenario;
    struct run_record record = {0};
    struct setup setup;
    int status = read_scenario(&scenario, sweep, run, err);
    if (status)
        return status;
    status = setup_build(&setup, &scenario, &record, err);
    if (status == 0)
        setup_release(&setup);
    run_record_release(&record);
    scenario_release(&scenario);
    return status;
}

/* Without placeholders it is a `weft sim` command. */
void sweep_replay_command(const struct sweep *sweep, const struct sweep_run *run, struct text *out)
{
    struct arena arena = {0};
    const char **settings;
    size_t count = sweep_settings(sweep, run->point, &settings, &arena);
    if (count == sweep->parameter_count) {
        text_puts(out, "weft sim ");
        text_put_shell_word(out, sweep->scenario);
        for (size_t i = 0; i < count; i++) {
            text_puts(out, " --set ");
            text_put_shell_word(out, settings[i]);
        }
        text_printf(out, " --seed %" PRIu64, run->seed);
    } else {
        text_puts(out, "weft sweep ");
        text_put_shell_word(out, sweep->file);
        text_puts(out, " --replay ");
        text_put_shell_word(out, run->name);
        text_printf(out, " --repetition %" PRIu32 " --seed %" PRIu64, run->repetition, sweep->seed);
    }
    arena_release(&arena);
}

static bool matches_any(const char *name, const struct name_patterns *patterns)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (fnmatch(patterns->items[i], name, 0) == 0)
            return true;
    return false;
}

/* The results that the sweep keeps. */
static void choose_results(const struct sweep *sweep, const struct results *results,
                           struct results *chosen)
{
    for (size_t i = 0; i < results->figures.count; i++) {
        const struct figure *figure = &results->figures.items[i];
        if (sweep->figures.count == 0 || matches_any(figure->name, &sweep->figures))
            results_set(chosen, figure->name, figure->value, figure->unit);
    }
    for (size_t i = 0; i < results->series.count; i++) {
        const struct series *series = &results->series.items[i];
        if (!matches_any(series->name, &sweep->series))
            continue;
        size_t copy = results_series(chosen, series->name, series->unit);
        for (size_t j = 0; j < series->points.count; j++)
            results_add_point(chosen, copy, series->points.items[j].time,
                              series->points.items[j].value);
    }
}

int sweep_keep(const struct sweep *sweep, const struct sweep_run *run,
               const struct run_record *record, const struct text *topology, const char *reason,
               double seconds, const char *path, struct err *err)
{
    struct result_parameter parameters[SWEEP_MOST_PARAMETERS];
    struct result_store *store;
    struct results chosen = {0};
    struct text scenario = {0}, replay = {0};
    sweep_parameters(sweep, run->point, parameters);
    sweep_render(sweep, run->point, &scenario);
    sweep_replay_command(sweep, run, &replay);
    struct result_run row = {.point = run->name,
                             .parameters = parameters,
                             .parameter_count = sweep->parameter_count,
                             .repetition = run->repetition,
                             .seed = run->seed,
                             .error = reason,
                             .replay = replay.data,
                             .name = sweep->scenario,
                             .scenario = scenario.data,
                             .template = sweep->template,
                             .topology = topology ? topology->data : NULL,
                             .wall_s = seconds};
    int status = result_store_open(&store, path, RESULT_STORE_WRITE, err);
    if (status == 0) {
        if (record)
            choose_results(sweep, &record->results, &chosen);
        status = result_store_add(store, &row, record, &chosen, err);
        result_store_close(store);
    }
    results_release(&chosen);
    text_release(&scenario);
    text_release(&replay);
    return status;
}
