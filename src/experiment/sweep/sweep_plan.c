/* The plan depends only on the file of the sweep, so that the tasks of a cluster need no
 * coordination. */
#include "experiment/sweep/sweep_plan.h"

#include "base/map.h"
#include "base/parse.h"

#include <assert.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

uint64_t sweep_seed(uint64_t seed, uint32_t repetition)
{
    if (repetition <= 1)
        return seed;
    return hash_mix(hash_mix(seed) + repetition * 0x9e3779b97f4a7c15u) >> 1;
}

/* ---- choosing ---- */

enum { VALUE_BYTES = 256 };
static const char repetition_name[] = "repetition";

struct filter {
    VEC(struct result_parameter) patterns;
    struct arena arena;
};

static int read_filter(struct filter *filter, const struct sweep *sweep, const char *only,
                       struct err *err)
{
    struct result_parameter parameters[SWEEP_MOST_PARAMETERS];
    const char *names[SWEEP_MOST_PARAMETERS];
    sweep_parameters(sweep, 0, parameters);
    for (size_t i = 0; i < sweep->parameter_count; i++)
        names[i] = parameters[i].name;
    while (only && *only) {
        size_t blanks = strspn(only, " "), name = strcspn(only + blanks, "= ");
        const char *value = only + blanks + name + 1;
        if (!only[blanks])
            break;
        if (only[blanks + name] != '=')
            return err_set(err, EINVAL, "'%.80s': expected NAME=PATTERN", only + blanks);
        bool quoted = *value == '"';
        size_t length = strcspn(value + quoted, quoted ? "\"" : " ");
        struct result_parameter pattern = {arena_strndup(&filter->arena, only + blanks, name),
                                           arena_strndup(&filter->arena, value + quoted, length)};
        vec_push(&filter->patterns, pattern);
        if (strcmp(pattern.name, repetition_name) != 0 &&
            !result_parameter(parameters, sweep->parameter_count, pattern.name)) {
            const char *near = nearest_word(pattern.name, names, sweep->parameter_count);
            return err_set(err, EINVAL, "'%.80s' is not varied by %.160s%s%.80s%s", pattern.name,
                           sweep->file, near ? "; did you mean '" : "", near ? near : "",
                           near ? "'?" : "");
        }
        only = value + quoted + length + (quoted && value[quoted + length]);
    }
    return 0;
}

/* Whether a value matches a pattern, or one of its parts between commas. */
static bool matches_pattern(const char *pattern, const char *value)
{
    char part[VALUE_BYTES];
    bool found = fnmatch(pattern, value, 0) == 0;
    for (size_t length; !found && *pattern; pattern += length + (pattern[length] == ',')) {
        length = strcspn(pattern, ",");
        snprintf(part, sizeof part, "%.*s", (int)length, pattern);
        found = fnmatch(part, value, 0) == 0;
    }
    return found;
}

/* Parameters without a pattern fit. */
static bool matches_filter(const struct filter *filter, const struct result_parameter *parameters,
                           size_t count)
{
    for (size_t i = 0; i < filter->patterns.count; i++) {
        const struct result_parameter *pattern = &filter->patterns.items[i];
        const char *value = result_parameter(parameters, count, pattern->name);
        if (value && !matches_pattern(pattern->value, value))
            return false;
    }
    return true;
}

/* ---- making ---- */

int sweep_plan_make(struct sweep_plan *plan, const struct sweep *sweep,
                    const struct sweep_choice *choice, struct err *err)
{
    assert(choice->tasks == 0 || (choice->task >= 1 && choice->task <= choice->tasks));
    struct result_parameter parameters[SWEEP_MOST_PARAMETERS];
    size_t points = sweep_point_count(sweep);
    struct filter filter = {0};
    struct text name = {0};
    char repetition[16];
    *plan = (struct sweep_plan){0};
    if (points * sweep->repeat > SWEEP_MOST_RUNS)
        return err_at(err, EINVAL, sweep->file, 0,
                      "%zu points, %" PRIu64 " times each: more than %d runs", points,
                      sweep->repeat, SWEEP_MOST_RUNS);
    int status = read_filter(&filter, sweep, choice->only, err);
    for (size_t point = 0; point < points && status == 0; point++) {
        sweep_parameters(sweep, point, parameters);
        if (!matches_filter(&filter, parameters, sweep->parameter_count))
            continue;
        text_clear(&name);
        result_point(parameters, sweep->parameter_count, &name);
        struct sweep_run run = {.point = point, .name = arena_strdup(&plan->arena, name.data)};
        for (uint32_t i = 1; i <= sweep->repeat; i++) {
            uint64_t number = point * sweep->repeat + i - 1;
            run.repetition = i;
            run.seed = sweep_seed(sweep->seed, i);
            snprintf(repetition, sizeof repetition, "%" PRIu32, i);
            if (!matches_filter(&filter, &(struct result_parameter){repetition_name, repetition},
                                1))
                continue;
            if (!choice->tasks || number % choice->tasks == choice->task - 1)
                vec_push(&plan->runs, run);
        }
    }
    if (status == 0 && plan->runs.count == 0 && !choice->tasks)
        status =
            err_set(err, EINVAL, "no point of %.160s fits '%.160s'", sweep->file, choice->only);
    text_release(&name);
    vec_release(&filter.patterns);
    arena_release(&filter.arena);
    if (status)
        sweep_plan_release(plan);
    return status;
}

void sweep_plan_release(struct sweep_plan *plan)
{
    vec_release(&plan->runs);
    arena_release(&plan->arena);
}

/* ---- comparing ---- */

static int mark_runs(struct sweep_plan *plan, const struct result_runs *found, const char *store,
                     struct err *err)
{
    struct name_map index = {0}; /* by "REPETITION POINT" */
    struct arena arena = {0};
    int status = 0;
    for (size_t i = 0; i < plan->runs.count; i++) {
        const struct sweep_run *run = &plan->runs.items[i];
        name_map_add(&index, arena_printf(&arena, "%" PRIu32 " %s", run->repetition, run->name),
                     (uint32_t)i);
    }
    for (size_t i = 0; i < found->items.count && status == 0; i++) {
        const struct result_run *run = &found->items.items[i];
        uint32_t at = name_map_get(
            &index, arena_printf(&arena, "%" PRIu32 " %s", run->repetition, run->point));
        struct sweep_run *planned = at == MAP_NONE ? NULL : &plan->runs.items[at];
        if (planned && run->seed != planned->seed) {
            status = err_at(err, EINVAL, store, 0,
                            "'%.100s', repetition %" PRIu32 ", was run with seed %" PRIu64
                            ", and is now to be run with seed %" PRIu64
                            ": name another store, or the same seed",
                            run->point, run->repetition, run->seed, planned->seed);
        } else if (planned && planned->state != SWEEP_DONE) { /* else found in another store */
            planned->state = run->failed ? SWEEP_FAILED : SWEEP_DONE;
            planned->broken = run->checks_failed > 0;
            planned->error = arena_strdup(&plan->arena, run->error);
        }
    }
    name_map_release(&index);
    arena_release(&arena);
    return status;
}

int sweep_plan_compare(struct sweep_plan *plan, const struct sweep *sweep, const char *path,
                       struct err *err)
{
    struct result_store *store;
    struct result_runs runs;
    struct arena arena = {0};
    const char *other, *own = sweep->template;
    if (access(path, F_OK) < 0 && errno == ENOENT)
        return 0;
    /* Opened for writing, so that a store that a killed process left incomplete is completed. */
    int status = result_store_open(&store, path, RESULT_STORE_WRITE, err);
    if (status)
        return status;
    status = result_store_find_other_template(store, own, &arena, &other, err);
    if (status == 0 && other) {
        unsigned line = 1; /* of the first difference */
        for (size_t i = 0; own[i] && own[i] == other[i]; i++)
            line += own[i] == '\n';
        status = err_at(err, EINVAL, sweep->scenario, line,
                        "differs from the scenario of the runs in %.200s: name another store, or "
                        "move that one away",
                        path);
    }
    if (status == 0)
        status = result_store_read_runs(store, &runs, err);
    if (status == 0) {
        status = mark_runs(plan, &runs, path, err);
        result_runs_release(&runs);
    }
    result_store_close(store);
    arena_release(&arena);
    return status;
}
