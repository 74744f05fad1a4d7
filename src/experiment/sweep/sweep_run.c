/* Each run is a child process that stores its results in one transaction. The parent never has the
 * store open while it forks, because SQLite connections must not cross a fork; it stores only
 * failures. Results therefore do not depend on the number of jobs, the order of their ends, or an
 * interruption. */
#include "experiment/sweep/sweep_run.h"

#include "experiment/sweep/children.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Exit status of a child. */
enum { CHILD_HOLDS = 0, CHILD_BROKEN = 1, CHILD_REFUSED = 2, CHILD_NOT_KEPT = 3 };

struct sweep_task {
    const struct sweep *sweep;
    const struct sweep_run *run;
    const char *store;
};

struct execution {
    const struct sweep *sweep;
    struct sweep_plan *plan;
    const struct sweep_options *options;
    struct sweep_counts *counts;
    struct children *children;
    struct child_limits limits;
    VEC(size_t) pending; /* indices of runs */
    size_t started;
    double start;
    struct err *err;
};

/* ---- in the child ---- */

static int print_error(const struct err *err, int status)
{
    char text[1024];
    fprintf(stderr, "%s\n", err_text(err, text, sizeof text));
    return status;
}

static int execute_run(void *context)
{
    const struct sweep_task *task = context;
    struct run_record record = {0};
    struct text topology = {0};
    struct err err = {0};
    double start = children_clock();
    if (sweep_play(task->sweep, task->run, &record, &topology, &err) < 0)
        return print_error(&err, CHILD_REFUSED);
    bool broken = run_record_failures(&record) > 0;
    if (sweep_keep(task->sweep, task->run, &record, &topology, NULL, children_clock() - start,
                   task->store, &err) < 0)
        return print_error(&err, CHILD_NOT_KEPT);
    return broken ? CHILD_BROKEN : CHILD_HOLDS;
}

/* ---- check before the first run ---- */

/* Sets up each value of each axis once, without running it, so that a wrong name or value is found
 * before the first run. */
static int check_all(void *context)
{
    const struct execution *execution = context;
    const struct sweep *sweep = execution->sweep;
    bool **seen = mem_zalloc(sweep->axes.count + 1, sizeof *seen);
    struct err err = {0};
    for (size_t axis = 0; axis < sweep->axes.count; axis++)
        seen[axis] = mem_zalloc(sweep->axes.items[axis].value_count, sizeof **seen);
    for (size_t i = 0; i < execution->pending.count; i++) {
        const struct sweep_run *run = &execution->plan->runs.items[execution->pending.items[i]];
        bool is_new = i == 0;
        for (size_t axis = 0; axis < sweep->axes.count; axis++) {
            size_t value = sweep_value(sweep, run->point, axis);
            is_new |= !seen[axis][value];
            seen[axis][value] = true;
        }
        if (is_new && sweep_check_run(sweep, run, &err) < 0)
            return print_error(&err, CHILD_REFUSED);
    }
    return CHILD_HOLDS; /* the process ends: nothing is freed */
}

static int check_runs(struct execution *execution)
{
    struct child_end end;
    int status = children_start(execution->children, 0, check_all, execution);
    if (status)
        return err_set(execution->err, -status, "cannot start a process: %s", strerror(-status));
    while (!children_wait(execution->children, 1000, &end))
        if (children_interrupted(execution->children))
            return 0;
    if (end.exit_status != CHILD_REFUSED || strstr(end.output, "out of memory"))
        return 0; /* a crash will be reported by the run that causes it */
    end.output[strcspn(end.output, "\n")] = 0;
    bool setting = strncmp(end.output, "--set ", 6) == 0;
    return err_set(execution->err, EINVAL, "%.400s%s", setting ? end.output + 6 : end.output,
                   setting ? " (nor does the scenario have such a placeholder)" : "");
}

/* ---- runs ---- */

static void report_progress(struct execution *execution)
{
    struct sweep_counts *counts = execution->counts;
    size_t ended = counts->done + counts->failed;
    counts->running = children_running(execution->children);
    counts->seconds = children_clock() - execution->start;
    counts->left =
        ended ? counts->seconds * (double)(execution->pending.count - ended) / (double)ended : -1;
    counts->interrupted = children_interrupted(execution->children);
    if (execution->options->progress)
        execution->options->progress(execution->options->context, counts);
}

static int end_run(struct execution *execution, const struct child_end *end)
{
    assert(end->job < execution->plan->runs.count);
    struct sweep_run *run = &execution->plan->runs.items[end->job];
    char reason[1200];
    bool ended = !end->signal && !end->timed_out;
    if (ended && (end->exit_status == CHILD_HOLDS || end->exit_status == CHILD_BROKEN)) {
        run->state = SWEEP_DONE;
        run->broken = end->exit_status == CHILD_BROKEN;
        execution->counts->done++;
        execution->counts->broken += run->broken;
        return 0;
    }
    child_end_text(end, &execution->limits, reason, sizeof reason);
    if (ended && end->exit_status == CHILD_NOT_KEPT)
        return err_set(execution->err, EIO, "%.500s", reason);
    run->state = SWEEP_FAILED;
    run->error = arena_strdup(&execution->plan->arena, reason);
    execution->counts->failed++;
    if (execution->options->failure)
        execution->options->failure(execution->options->context, run);
    return sweep_keep(execution->sweep, run, NULL, NULL, reason, end->seconds,
                      execution->options->store, execution->err);
}

static int run_all(struct execution *execution)
{
    const struct sweep_options *options = execution->options;
    struct children *children = execution->children;
    size_t count = execution->pending.count;
    struct child_end end;
    int status = 0;
    report_progress(execution);
    while (status == 0 && !children_interrupted(children) &&
           (execution->started < count || children_running(children))) {
        while (execution->started < count && children_running(children) < options->jobs) {
            size_t job = execution->pending.items[execution->started];
            struct sweep_task task = {execution->sweep, &execution->plan->runs.items[job],
                                      options->store};
            status = children_start(children, job, execute_run, &task);
            if (status)
                break;
            execution->started++;
        }
        if (status == -EAGAIN && children_running(children))
            status = 0; /* process limit reached: continue with fewer */
        if (status)
            return err_set(execution->err, -status, "cannot start a process: %s",
                           strerror(-status));
        if (children_wait(children, 1000, &end))
            status = end_run(execution, &end);
        report_progress(execution);
    }
    return status;
}

int sweep_run_plan(const struct sweep *sweep, struct sweep_plan *plan,
                   const struct sweep_options *options, struct sweep_counts *counts,
                   struct err *err)
{
    struct execution execution = {.sweep = sweep,
                                  .plan = plan,
                                  .options = options,
                                  .counts = counts,
                                  .limits = {sweep->timeout, sweep->memory},
                                  .err = err};
    struct result_store *store;
    int status = 0;
    *counts = (struct sweep_counts){.total = plan->runs.count};
    for (size_t i = 0; i < plan->runs.count; i++) {
        const struct sweep_run *run = &plan->runs.items[i];
        counts->there += run->state == SWEEP_DONE;
        counts->broken += run->broken;
        if (run->state == SWEEP_MISSING || (run->state == SWEEP_FAILED && options->retry))
            vec_push(&execution.pending, i);
        else
            counts->left_failed += run->state == SWEEP_FAILED;
    }
    execution.start = children_clock();
    execution.children = children_new(&execution.limits);
    if (execution.pending.count)
        status = check_runs(&execution);
    if (status == 0) { /* create the store, or fail, before the first run */
        status = result_store_open(&store, options->store, RESULT_STORE_WRITE, err);
        result_store_close(store);
    }
    if (status == 0)
        status = run_all(&execution);
    counts->seconds = children_clock() - execution.start;
    counts->interrupted = children_interrupted(execution.children);
    children_free(execution.children);
    vec_release(&execution.pending);
    return status;
}
