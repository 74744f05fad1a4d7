/* Every run is a child process that plays and puts what it found into the store itself, in one
 * transaction; the parent never has the store open while it forks (SQLite's connections must not
 * cross a fork), and adds only what failed. So it does not matter how many run at a time, in which
 * order they end, or when somebody pulls the plug. */
#include "experiment/sweep/sweep_run.h"

#include "experiment/sweep/children.h"
#include "experiment/sweep/sweep_play.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* How a child ends. */
enum { CHILD_HOLDS = 0, CHILD_BROKEN = 1, CHILD_REFUSED = 2, CHILD_NOT_KEPT = 3 };

struct task {
    const struct sweep *sweep;
    const struct sweep_run *run;
    const char *store;
};

struct conductor {
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

static int tell_error(const struct err *err, int status)
{
    char text[1024];
    fprintf(stderr, "%s\n", err_text(err, text, sizeof text));
    return status;
}

static int play_run(void *context)
{
    const struct task *task = context;
    struct run_record record = {0};
    struct text topology = {0};
    struct err err = {0};
    double start = children_clock();
    if (sweep_play(task->sweep, task->run, &record, &topology, &err) < 0)
        return tell_error(&err, CHILD_REFUSED);
    bool broken = run_record_failures(&record) > 0;
    if (sweep_keep(task->sweep, task->run, &record, &topology, NULL, children_clock() - start,
                   task->store, &err) < 0)
        return tell_error(&err, CHILD_NOT_KEPT);
    return broken ? CHILD_BROKEN : CHILD_HOLDS;
}

/* ---- rehearsal ---- */

/* A slip in a name or a value should not be found out hours later: each value that is about to be
 * used is tried once, without playing. */
static int rehearse_all(void *context)
{
    const struct conductor *conductor = context;
    const struct sweep *sweep = conductor->sweep;
    bool **seen = mem_zalloc(sweep->axes.count + 1, sizeof *seen);
    struct err err = {0};
    for (size_t axis = 0; axis < sweep->axes.count; axis++)
        seen[axis] = mem_zalloc(sweep->axes.items[axis].value_count, sizeof **seen);
    for (size_t i = 0; i < conductor->pending.count; i++) {
        const struct sweep_run *run = &conductor->plan->runs.items[conductor->pending.items[i]];
        bool is_new = i == 0;
        for (size_t axis = 0; axis < sweep->axes.count; axis++) {
            size_t value = sweep_value(sweep, run->point, axis);
            is_new |= !seen[axis][value];
            seen[axis][value] = true;
        }
        if (is_new && sweep_rehearse(sweep, run, &err) < 0)
            return tell_error(&err, CHILD_REFUSED);
    }
    return CHILD_HOLDS; /* a child: what is left is the system's to take back */
}

static int rehearse(struct conductor *conductor)
{
    struct child_end end;
    int status = children_start(conductor->children, 0, rehearse_all, conductor);
    if (status)
        return err_set(conductor->err, -status, "cannot start a process: %s", strerror(-status));
    while (!children_wait(conductor->children, 1000, &end))
        if (children_interrupted(conductor->children))
            return 0;
    if (end.exit_status != CHILD_REFUSED || strstr(end.said, "out of memory"))
        return 0; /* a crash is the business of the runs that meet it */
    end.said[strcspn(end.said, "\n")] = 0;
    bool setting = strncmp(end.said, "--set ", 6) == 0;
    return err_set(conductor->err, EINVAL, "%.400s%s", setting ? end.said + 6 : end.said,
                   setting ? " (nor does the scenario have such a placeholder)" : "");
}

/* ---- runs ---- */

static void report_progress(struct conductor *conductor)
{
    struct sweep_counts *counts = conductor->counts;
    size_t ended = counts->done + counts->failed;
    counts->running = children_running(conductor->children);
    counts->seconds = children_clock() - conductor->start;
    counts->left =
        ended ? counts->seconds * (double)(conductor->pending.count - ended) / (double)ended : -1;
    counts->interrupted = children_interrupted(conductor->children);
    if (conductor->options->progress)
        conductor->options->progress(conductor->options->context, counts);
}

static int start_next(struct conductor *conductor)
{
    size_t job = conductor->pending.items[conductor->started];
    struct task task = {conductor->sweep, &conductor->plan->runs.items[job],
                        conductor->options->store};
    int status = children_start(conductor->children, job, play_run, &task);
    if (status == -EAGAIN && children_running(conductor->children))
        return 0; /* so many processes the system does not give; fewer will do */
    if (status)
        return err_set(conductor->err, -status, "cannot start a process: %s", strerror(-status));
    conductor->started++;
    return 1;
}

static int end_run(struct conductor *conductor, const struct child_end *end)
{
    struct sweep_run *run = &conductor->plan->runs.items[end->job];
    char reason[1200];
    bool ended = !end->signal && !end->timed_out;
    if (ended && (end->exit_status == CHILD_HOLDS || end->exit_status == CHILD_BROKEN)) {
        run->state = SWEEP_DONE;
        run->broken = end->exit_status == CHILD_BROKEN;
        conductor->counts->done++;
        conductor->counts->broken += run->broken;
        return 0;
    }
    child_end_text(end, &conductor->limits, reason, sizeof reason);
    if (ended && end->exit_status == CHILD_NOT_KEPT)
        return err_set(conductor->err, EIO, "%.500s", reason);
    run->state = SWEEP_FAILED;
    run->error = arena_strdup(&conductor->plan->arena, reason);
    conductor->counts->failed++;
    if (conductor->options->failure)
        conductor->options->failure(conductor->options->context, run);
    return sweep_keep(conductor->sweep, run, NULL, NULL, reason, end->seconds,
                      conductor->options->store, conductor->err);
}

static int run_all(struct conductor *conductor)
{
    struct child_end end;
    int status = 0;
    report_progress(conductor);
    while (
        status == 0 && !children_interrupted(conductor->children) &&
        (conductor->started < conductor->pending.count || children_running(conductor->children))) {
        int more = 1;
        while (more == 1 && conductor->started < conductor->pending.count &&
               children_running(conductor->children) < conductor->options->jobs)
            more = start_next(conductor);
        status = more < 0 ? more : 0;
        if (status == 0 && children_wait(conductor->children, 1000, &end))
            status = end_run(conductor, &end);
        report_progress(conductor);
    }
    return status;
}

static void find_pending(struct conductor *conductor)
{
    struct sweep_counts *counts = conductor->counts;
    for (size_t i = 0; i < conductor->plan->runs.count; i++) {
        const struct sweep_run *run = &conductor->plan->runs.items[i];
        counts->there += run->state == SWEEP_DONE;
        counts->broken += run->broken;
        if (run->state == SWEEP_MISSING ||
            (run->state == SWEEP_FAILED && conductor->options->retry))
            vec_push(&conductor->pending, i);
        else
            counts->left_failed += run->state == SWEEP_FAILED;
    }
    counts->total = conductor->plan->runs.count;
}

int sweep_run_plan(const struct sweep *sweep, struct sweep_plan *plan,
                   const struct sweep_options *options, struct sweep_counts *counts,
                   struct err *err)
{
    struct conductor conductor = {.sweep = sweep,
                                  .plan = plan,
                                  .options = options,
                                  .counts = counts,
                                  .limits = {sweep->timeout, sweep->memory},
                                  .err = err};
    struct result_store *store;
    int status = 0;
    *counts = (struct sweep_counts){0};
    find_pending(&conductor);
    conductor.start = children_clock();
    conductor.children = children_new(&conductor.limits);
    if (conductor.pending.count)
        status = rehearse(&conductor);
    if (status == 0) { /* the file is made, or found to be no store, before the first run */
        status = result_store_open(&store, options->store, RESULT_STORE_WRITE, err);
        result_store_close(store);
    }
    if (status == 0)
        status = run_all(&conductor);
    counts->seconds = children_clock() - conductor.start;
    counts->interrupted = children_interrupted(conductor.children);
    children_free(conductor.children);
    vec_release(&conductor.pending);
    return status;
}
