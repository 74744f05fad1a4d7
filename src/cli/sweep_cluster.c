/* weft sweep on a cluster: submits the job array, and merges the stores of its tasks. */
#include "base/mem.h"
#include "base/record.h"
#include "cli/sweep.h"
#include "experiment/sweep/sweep_slurm.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEFAULT_TASKS = 64 };

/* ---- the array ---- */

static int absolute(const char *path, struct arena *arena, const char **out, struct err *err)
{
    char found[PATH_MAX];
    *out = realpath(path, found) ? arena_strdup(arena, found) : NULL;
    return *out ? 0 : err_at(err, errno, path, 0, "%s", strerror(errno));
}

static int submit_script(const char *script, struct err *err)
{
    char *const arguments[] = {"sbatch", (char *)script, NULL};
    pid_t pid;
    int ended;
    fflush(stdout);
    int status = posix_spawnp(&pid, "sbatch", NULL, NULL, arguments, environ);
    if (status)
        return err_set(err, status, "sbatch cannot be started: %s; the script is %.300s",
                       strerror(status), script);
    while (waitpid(pid, &ended, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0)
        return err_set(err, EIO, "sbatch refused %.300s", script);
    return 0;
}

static void print_submission(const struct sweep_arguments *given, const struct slurm_job *job,
                             size_t missing, const char *script, const char *store)
{
    struct text out = {0}, merge = {0};
    struct record record = record_to(&out, given->json, true);
    slurm_write_merge(job, store, &merge);
    record_text(&record, "%zu runs in %llu tasks: ", missing, (unsigned long long)job->tasks);
    record_begin(&record, NULL);
    record_string(&record, "script", "%s", script);
    record_number(&record, "tasks", NULL, job->tasks);
    record_number(&record, "missing", NULL, missing);
    record_flag(&record, "submitted", NULL, !given->write_only);
    record_string(&record, "merge", "\nwhen all tasks have ended: %s", merge.data);
    record_end(&record);
    text_putc(&out, '\n');
    command_print(&out);
    text_release(&merge);
}

/* An array whose tasks have no run would only wait in the queue. */
static int print_nothing_left(const struct sweep_arguments *given, size_t runs, size_t failed)
{
    struct text out = {0};
    struct record record = record_to(&out, given->json, true);
    record_begin(&record, NULL);
    record_text(&record, "nothing to submit: ");
    record_string(&record, "store", "%s", given->store);
    record_text(&record, " has all %zu runs", runs);
    record_number(&record, "tasks", NULL, 0);
    record_number(&record, "missing", NULL, 0);
    record_number(&record, "failed",
                  failed ? ", of which %llu failed (--retry repeats them)" : NULL, failed);
    record_flag(&record, "submitted", NULL, false);
    record_end(&record);
    text_putc(&out, '\n');
    command_print(&out);
    return failed ? EXIT_FAILS : EXIT_HOLDS;
}

/* Makes the folder of the array. Paths are absolute, since tasks run in other directories. */
static int find_paths(struct slurm_job *job, const struct sweep_arguments *given,
                      const char **store, struct arena *arena, struct err *err)
{
    const char *dot = strrchr(given->file, '.');
    int length = dot && !strchr(dot, '/') ? (int)(dot - given->file) : (int)strlen(given->file);
    const char *folder = given->folder; /* load.sweep → load.slurm */
    *store = given->store;
    if (!folder)
        folder = arena_printf(arena, "%.*s.slurm", length, given->file);
    if (mkdir(folder, 0777) < 0 && errno != EEXIST)
        return err_at(err, errno, folder, 0, "%s", strerror(errno));
    int status = absolute("/proc/self/exe", arena, &job->program, err);
    if (status == 0)
        status = absolute(given->file, arena, &job->sweep, err);
    if (status == 0)
        status = absolute(folder, arena, &job->folder, err);
    if (status == 0 && given->store[0] != '/') { /* it may not exist yet */
        const char *here;
        status = absolute(".", arena, &here, err);
        *store = arena_printf(arena, "%s/%s", here ? here : "", given->store);
    }
    return status;
}

int sweep_submit(const struct sweep_arguments *given, const struct sweep *sweep,
                 const struct sweep_plan *plan, struct err *err)
{
    struct arena arena = {0};
    struct text script = {0};
    uint64_t runs = sweep_point_count(sweep) * sweep->repeat;
    uint64_t tasks = runs < DEFAULT_TASKS ? runs : DEFAULT_TASKS;
    const char *store = NULL, *path;
    size_t missing = 0, failed = 0;
    for (size_t i = 0; i < plan->runs.count; i++) {
        missing += plan->runs.items[i].state == SWEEP_MISSING;
        failed += plan->runs.items[i].state == SWEEP_FAILED;
    }
    if (missing + (given->retry ? failed : 0) == 0)
        return print_nothing_left(given, plan->runs.count, failed);
    missing += given->retry ? failed : 0;
    struct slurm_job job = {.only = given->only,
                            .retry = given->retry,
                            .seed = sweep->seed,
                            .repeat = sweep->repeat,
                            .tasks = given->tasks ? given->tasks : tasks,
                            .options = given->sbatch};
    while (given->sbatch[job.option_count])
        job.option_count++;
    int status = find_paths(&job, given, &store, &arena, err);
    if (status == 0) {
        job.store = access(store, F_OK) == 0 ? store : NULL;
        path = arena_printf(&arena, "%s/array.sh", job.folder);
        slurm_write_script(&job, &script);
        status = command_write(path, &script, err);
        if (status == 0 && !given->write_only)
            status = submit_script(path, err);
        if (status == 0)
            print_submission(given, &job, missing, path, store);
    }
    arena_release(&arena);
    return status;
}

/* ---- the stores ---- */

int sweep_merge(const struct sweep_arguments *given, int count, char **stores, struct err *err)
{
    struct text out = {0};
    struct result_store *store;
    size_t added = 0, more = 0;
    if (!given->output)
        return command_usage("merge: expected -o STORE");
    if (count < 1)
        return command_usage("merge: expected the stores to merge");
    for (int i = 0; i < count; i++) { /* all are checked before the output is created */
        int status = result_store_open(&store, stores[i], RESULT_STORE_READ, err);
        result_store_close(store);
        if (status)
            return status;
    }
    int status = result_store_open(&store, given->output, RESULT_STORE_WRITE, err);
    for (int i = 0; i < count && status == 0; i++) {
        struct stat one, two;
        if (stat(stores[i], &one) == 0 && stat(given->output, &two) == 0 &&
            one.st_ino == two.st_ino && one.st_dev == two.st_dev)
            continue; /* the output itself */
        status = result_store_merge(store, stores[i], &more, err);
        added += more;
    }
    result_store_close(store);
    if (status)
        return status;
    struct record record = record_to(&out, given->json, true);
    record_begin(&record, NULL);
    record_text(&record, "%zu runs added to ", added);
    record_string(&record, "store", "%s", given->output);
    record_number(&record, "stores", NULL, (uint64_t)count);
    record_number(&record, "added", NULL, added);
    record_end(&record);
    text_putc(&out, '\n');
    return command_print(&out);
}
