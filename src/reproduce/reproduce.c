/* Runs the experiments of the papers: chooses them, runs their sweeps, evaluates their claims, and
 * writes plots and the page. */
#include "reproduce/reproduce.h"

#include "base/parse.h"
#include "experiment/chart/chart.h"
#include "experiment/report/report.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

const char reproduce_installed_path[] = WEFT_EXPERIMENTS_PATH;

/* ---- choice of experiments ---- */

/* A pattern, or the beginning of the name. Papers were once numbered: "000-fig07" still selects
 * "icpp03-fig07", "002" all of TPDS 2006. */
static bool matches_name(const char *pattern, const char *name)
{
    static const char *const papers[] = {"icpp03", "san03", "tpds06", "villar04", "cluster15"};
    if (fnmatch(pattern, name, 0) == 0 || strncmp(pattern, name, strlen(pattern)) == 0)
        return true;
    for (size_t i = 0; i < sizeof papers / sizeof papers[0]; i++) {
        const char alias[] = {'0', '0', (char)('0' + i), 0};
        size_t length = strlen(papers[i]);
        if (strncmp(pattern, alias, 3) == 0)
            return strncmp(name, papers[i], length) == 0 &&
                   strncmp(pattern + 3, name + length, strlen(pattern + 3)) == 0;
    }
    return false;
}

static int unknown_name_error(const struct recipes *recipes, const char *name, struct err *err)
{
    VEC(const char *) names = {0};
    for (size_t i = 0; i < recipes->count; i++)
        vec_push(&names, recipes->items[i].name);
    const char *near = nearest_word(name, names.items, names.count);
    vec_release(&names);
    return err_set(err, EINVAL, "there is no experiment '%.80s'%s%s%s (--list shows them)", name,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int reproduce_choose(const struct recipes *recipes, const char *const *names, size_t count,
                     bool *chosen, struct err *err)
{
    for (size_t i = 0; i < recipes->count; i++)
        chosen[i] = count == 0;
    for (size_t n = 0; n < count; n++) {
        size_t found = 0;
        for (size_t i = 0; i < recipes->count; i++)
            if (matches_name(names[n], recipes->items[i].name)) {
                chosen[i] = true;
                found++;
            }
        if (found == 0)
            return unknown_name_error(recipes, names[n], err);
    }
    return 0;
}

/* ---- runs ---- */

/* Removes runs that are not part of a quick run. */
static void keep_quick_runs(struct sweep_plan *plan, const struct sweep *sweep,
                            const struct conditions *quick)
{
    struct result_parameter parameters[SWEEP_MOST_PARAMETERS + 1];
    char repetition[16];
    size_t kept = 0;
    for (size_t i = 0; i < plan->runs.count; i++) {
        sweep_parameters(sweep, plan->runs.items[i].point, parameters);
        snprintf(repetition, sizeof repetition, "%" PRIu32, plan->runs.items[i].repetition);
        parameters[sweep->parameter_count] = (struct result_parameter){"repetition", repetition};
        if (conditions_fit(quick, parameters, sweep->parameter_count + 1, true))
            plan->runs.items[kept++] = plan->runs.items[i];
    }
    plan->runs.count = kept;
}

/* Experiments share sweeps; each sweep counts once. */
static void count_runs(struct reproduction *reproduction, const char *store,
                       const struct sweep_counts *counts)
{
    reproduction->interrupted |= counts->interrupted;
    reproduction->seconds += counts->seconds;
    reproduction->done += counts->done;
    for (size_t i = 0; i < reproduction->stores.count; i++)
        if (strcmp(reproduction->stores.items[i], store) == 0)
            return;
    vec_push(&reproduction->stores, store);
    reproduction->runs += counts->total;
    reproduction->there += counts->there;
    reproduction->failed += counts->failed + counts->left_failed;
    reproduction->broken += counts->broken;
}

static int run_sweep(const struct reproduce_options *options, struct reproduction *reproduction,
                     const struct recipe *recipe, const struct recipe_sweep *which, struct err *err)
{
    const char *store =
        arena_printf(&reproduction->arena, "%s/%s.db", reproduction->folder, which->store);
    struct sweep_options running = {.store = store,
                                    .jobs = (unsigned)options->jobs,
                                    .retry = options->retry,
                                    .progress = options->progress,
                                    .failure = options->failure,
                                    .context = options->context};
    struct sweep_counts counts = {0};
    struct sweep sweep;
    struct sweep_plan plan;
    int status = sweep_read(&sweep, from_file(which->path, err));
    if (status)
        return status;
    sweep.seed += options->seed - 1;
    if (options->begin)
        options->begin(options->context, recipe, which->path, &sweep);
    status = sweep_plan_make(&plan, &sweep, &(struct sweep_choice){0}, err);
    if (status == 0) {
        if (options->quick)
            keep_quick_runs(&plan, &sweep, &which->quick);
        status = sweep_plan_compare(&plan, &sweep, store, err);
        if (status == 0)
            status = sweep_run_plan(&sweep, &plan, &running, &counts, err);
        if (status == 0)
            count_runs(reproduction, store, &counts);
        sweep_plan_release(&plan);
    }
    sweep_release(&sweep);
    return status;
}

/* ---- evaluation ---- */

static void evaluate_claims(struct experiment *experiment, const struct evidence *evidence,
                            const struct expectations *expectations, bool quick)
{
    for (size_t i = 0; i < experiment->recipe->claims.count; i++) {
        const struct claim *claim = &experiment->recipe->claims.items[i];
        struct verdict verdict = {.claim = claim};
        for (unsigned p = 0; p < CLAIM_PRESETS; p++) {
            verdict.findings[p] = claim_evaluate(claim, evidence, (enum claim_preset)p);
            verdict.expected[p] =
                expectation_find(expectations, claim, (enum claim_preset)p, quick);
        }
        vec_push(&experiment->verdicts, verdict);
    }
}

/* A plot for each preset; one for all if the evidence has no presets. */
static void draw_plots(struct experiment *experiment, const struct evidence *evidence)
{
    const char **presets;
    size_t count = evidence_values(evidence, &(struct conditions){0}, "preset", &presets);
    for (size_t i = 0; i < experiment->recipe->plots.count; i++)
        for (unsigned p = 0; p < (count ? CLAIM_PRESETS : 1); p++) {
            struct picture picture = {.plot = &experiment->recipe->plots.items[i],
                                      .preset = count ? claim_preset_names[p] : NULL};
            draw_plot(experiment->recipe, picture.plot, evidence, picture.preset, &picture.charts);
            if (picture.charts.count)
                vec_push(&experiment->pictures, picture);
        }
    mem_free(presets);
}

static int evaluate_experiment(const struct reproduce_options *options,
                               struct reproduction *reproduction, const struct recipe *recipe,
                               struct err *err)
{
    struct experiment experiment = {.recipe = recipe};
    struct evidence evidence;
    int status = evidence_read(&evidence, recipe, reproduction->folder, options->quick, err);
    if (status)
        return status;
    for (size_t i = 0; i < recipe->computations.count && status == 0; i++)
        status =
            compute_evidence(&evidence, recipe->computations.items[i], recipe, options->seed, err);
    if (status == 0) {
        evaluate_claims(&experiment, &evidence, &reproduction->expectations, options->quick);
        draw_plots(&experiment, &evidence);
        experiment.observations = evidence.items.count;
        experiment.failed = evidence.failed;
        experiment.broken = evidence.broken;
        vec_push(&reproduction->experiments, experiment);
    }
    evidence_release(&evidence);
    return status;
}

/* ---- pictures on disk ---- */

static int write_picture(const struct reproduce_options *options, struct reproduction *reproduction,
                         const struct experiment *experiment, struct picture *picture,
                         struct err *err)
{
    static const char *const endings[] = {"svg", "png"};
    struct arena *arena = &reproduction->arena;
    const char *file =
        arena_printf(arena, "%s/%s%s%s", experiment->recipe->name, picture->plot->name,
                     picture->preset ? "-" : "", picture->preset ? picture->preset : "");
    int status = 0;
    for (unsigned i = 0; i < 2 && status == 0; i++)
        status = chart_gnuplot(picture->charts.items, picture->charts.count,
                               arena_printf(arena, "%s/%s.%s", options->out, file, endings[i]),
                               false, err);
    if (status == 0)
        picture->file = file;
    return status;
}

/* Without gnuplot only the page has pictures. */
static int write_pictures(const struct reproduce_options *options,
                          struct reproduction *reproduction, struct err *err)
{
    int status = 0;
    for (size_t e = 0; e < reproduction->experiments.count; e++) {
        struct experiment *experiment = &reproduction->experiments.items[e];
        if (experiment->pictures.count == 0)
            continue;
        status = run_folder_make(
            arena_printf(&reproduction->arena, "%s/%s", options->out, experiment->recipe->name),
            err);
        for (size_t i = 0; i < experiment->pictures.count && status == 0; i++)
            status = write_picture(options, reproduction, experiment,
                                   &experiment->pictures.items[i], err);
        if (status == -ENOENT) {
            if (options->note)
                options->note(options->context, err->message);
            return 0;
        }
        if (status)
            return status;
    }
    return 0;
}

/* ---- reproduction ---- */

static int read_inputs(const struct reproduce_options *options, struct reproduction *reproduction,
                       struct err *err)
{
    struct arena *arena = &reproduction->arena;
    const char *stores = arena_printf(arena, "%s/stores", options->out);
    int status = recipes_read(&reproduction->recipes, options->experiments, err);
    if (status == 0)
        status = papers_read(&reproduction->papers,
                             arena_printf(arena, "%s/papers", options->experiments), err);
    if (status == 0)
        status = expectations_read(&reproduction->expectations, &reproduction->recipes,
                                   arena_printf(arena, "%s/expected", options->experiments), err);
    if (status == 0)
        status = run_folder_make(options->out, err);
    if (status == 0)
        status = run_folder_make(stores, err);
    reproduction->folder = stores;
    if (status == 0 && options->seed != 1) { /* stores of different seeds are separate */
        reproduction->folder = arena_printf(arena, "%s/seed-%" PRIu64, stores, options->seed);
        status = run_folder_make(reproduction->folder, err);
    }
    return status;
}

static int run_all(const struct reproduce_options *options, struct reproduction *reproduction,
                   const bool *chosen, struct err *err)
{
    const struct recipes *recipes = &reproduction->recipes;
    int status = 0;
    for (size_t i = 0; i < recipes->count; i++)
        for (size_t s = 0; chosen[i] && s < recipes->items[i].sweeps.count; s++)
            if (status == 0 && !reproduction->interrupted)
                status = run_sweep(options, reproduction, &recipes->items[i],
                                   &recipes->items[i].sweeps.items[s], err);
    for (size_t i = 0; i < recipes->count; i++)
        if (chosen[i] && status == 0 && !reproduction->interrupted)
            status = evaluate_experiment(options, reproduction, &recipes->items[i], err);
    return status;
}

int reproduce(const struct reproduce_options *options, struct reproduction *reproduction,
              struct err *err)
{
    *reproduction = (struct reproduction){.quick = options->quick, .seed = options->seed};
    int status = read_inputs(options, reproduction, err);
    if (status)
        return status;
    bool *chosen = mem_zalloc(reproduction->recipes.count, sizeof *chosen);
    status =
        reproduce_choose(&reproduction->recipes, options->names, options->name_count, chosen, err);
    if (status == 0)
        status = run_all(options, reproduction, chosen, err);
    if (status == 0 && !reproduction->interrupted)
        status = write_pictures(options, reproduction, err);
    if (status == 0 && !reproduction->interrupted) {
        reproduction->page = arena_printf(&reproduction->arena, "%s/index.html", options->out);
        status = reproduction_write_page(reproduction, reproduction->page, err);
    }
    mem_free(chosen);
    return status;
}

void reproduction_release(struct reproduction *reproduction)
{
    for (size_t e = 0; e < reproduction->experiments.count; e++) {
        struct experiment *experiment = &reproduction->experiments.items[e];
        for (size_t i = 0; i < experiment->pictures.count; i++)
            charts_release(&experiment->pictures.items[i].charts);
        vec_release(&experiment->pictures);
        vec_release(&experiment->verdicts);
    }
    vec_release(&reproduction->experiments);
    vec_release(&reproduction->stores);
    recipes_release(&reproduction->recipes);
    papers_release(&reproduction->papers);
    expectations_release(&reproduction->expectations);
    arena_release(&reproduction->arena);
}

bool verdict_is_expected(const struct verdict *verdict, enum claim_preset preset)
{
    const struct expectation *expected = verdict->expected[preset];
    return (expected && expected->outcome == OUTCOME_EITHER) ||
           verdict->findings[preset].outcome == (expected ? expected->outcome : OUTCOME_HOLDS);
}
