/* The output of `weft sweep`: a progress line, and a summary or JSON at the end. */
#include "base/text.h"
#include "cli/sweep.h"
#include "experiment/sweep/sweep_play.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_INTERRUPTED = 130 };

static const char *const states[] = {
    [SWEEP_MISSING] = "missing", [SWEEP_DONE] = "done", [SWEEP_FAILED] = "failed"};

/* "12.3s", "3m 20s", "1h 05m". */
static const char *seconds_text(double seconds, char *buffer, size_t size)
{
    unsigned long whole = (unsigned long)(seconds + 0.5);
    if (seconds < 59.95)
        snprintf(buffer, size, "%.1fs", seconds);
    else if (whole < 3600)
        snprintf(buffer, size, "%lum %02lus", whole / 60, whole % 60);
    else
        snprintf(buffer, size, "%luh %02lum", whole / 3600, whole % 3600 / 60);
    return buffer;
}

/* ---- progress ---- */

void sweep_show_progress(void *context, const struct sweep_counts *counts)
{
    char left[32];
    bool known = counts->left >= 0 && counts->running;
    (void)context;
    progress_show(
        "%zu/%zu done, %zu failed, %zu running%s%s%s", counts->there + counts->done, counts->total,
        counts->failed + counts->left_failed, counts->running, known ? ", " : "",
        known ? seconds_text(ceil(counts->left), left, sizeof left) : "", known ? " left" : "");
}

void sweep_show_failure(void *context, const struct sweep_run *run)
{
    const struct sweep_report *report = context;
    struct text command = {0};
    sweep_replay_command(report->sweep, run, &command);
    progress_clear();
    fprintf(stderr, "failed: %s%srepetition %" PRIu32 ": %s\n  again: %s\n", run->name,
            *run->name ? ", " : "", run->repetition, run->error, command.data);
    text_release(&command);
}

/* ---- at the end ---- */

static void put_sweep_run(const struct sweep *sweep, const struct sweep_run *run, struct json *json)
{
    struct text command = {0};
    sweep_replay_command(sweep, run, &command);
    json_begin_object(json, NULL);
    json_string(json, "point", run->name);
    json_unsigned(json, "repetition", run->repetition);
    json_unsigned(json, "seed", run->seed);
    json_string(json, "state", states[run->state]);
    if (run->state == SWEEP_FAILED)
        json_string(json, "error", run->error);
    json_string(json, "replay", command.data);
    json_end_object(json);
    text_release(&command);
}

static void print_sweep_json(struct sweep_report *report, const struct sweep_counts *counts)
{
    struct text out = {0};
    struct json json = {.out = &out, .pretty = true};
    json_begin_object(&json, NULL);
    json_string(&json, "sweep", report->sweep->file);
    json_string(&json, "store", report->arguments->store);
    json_unsigned(&json, "runs", counts->total);
    json_unsigned(&json, "there", counts->there);
    json_unsigned(&json, "done", counts->done);
    json_unsigned(&json, "failed", counts->failed);
    json_unsigned(&json, "failed_earlier", counts->left_failed);
    json_unsigned(&json, "checks_do_not_hold", counts->broken);
    json_double(&json, "wall_s", counts->seconds);
    json_bool(&json, "interrupted", counts->interrupted);
    json_begin_array(&json, "failures");
    for (size_t i = 0; i < report->plan->runs.count; i++)
        if (report->plan->runs.items[i].state == SWEEP_FAILED)
            put_sweep_run(report->sweep, &report->plan->runs.items[i], &json);
    json_end_array(&json);
    json_end_object(&json);
    text_putc(&out, '\n');
    command_print("sweep", &out);
}

static void print_sweep_summary(const struct sweep_report *report,
                                const struct sweep_counts *counts)
{
    char took[32];
    size_t failed = counts->failed + counts->left_failed;
    printf("%zu run%s: %zu done", counts->total, counts->total == 1 ? "" : "s", counts->done);
    if (counts->there)
        printf(", %zu there already", counts->there);
    if (failed)
        printf(", %zu failed", failed);
    if (counts->left_failed)
        printf(" (%zu of them earlier: --retry runs them again)", counts->left_failed);
    if (counts->broken)
        printf("; checks failed in %zu", counts->broken);
    printf("; %s; %s\n", seconds_text(counts->seconds, took, sizeof took),
           report->arguments->store);
    if (counts->interrupted)
        printf("interrupted: %zu of %zu runs are done; the same command continues\n",
               counts->there + counts->done, counts->total);
}

int sweep_show_end(struct sweep_report *report, const struct sweep_counts *counts)
{
    progress_clear();
    if (report->arguments->json)
        print_sweep_json(report, counts);
    else
        print_sweep_summary(report, counts);
    if (counts->interrupted)
        return EXIT_INTERRUPTED;
    return counts->failed || counts->left_failed || counts->broken ? EXIT_FAILS : EXIT_HOLDS;
}

/* ---- the list ---- */

void sweep_show_list(const struct sweep_arguments *arguments, const struct sweep *sweep,
                     const struct sweep_plan *plan)
{
    struct text out = {0};
    struct json json = {.out = &out, .pretty = true};
    if (arguments->json)
        json_begin_array(&json, NULL);
    else
        text_printf(&out, "%-8s %4s %20s  %s\n", "state", "rep.", "seed", "point");
    for (size_t i = 0; i < plan->runs.count; i++) {
        const struct sweep_run *run = &plan->runs.items[i];
        if (arguments->json)
            put_sweep_run(sweep, run, &json);
        else
            text_printf(&out, "%-8s %4" PRIu32 " %20" PRIu64 "  %s\n", states[run->state],
                        run->repetition, run->seed, run->name);
        if (!arguments->json && run->state == SWEEP_FAILED)
            text_printf(&out, "%36s%s\n", "", run->error);
    }
    if (arguments->json) {
        json_end_array(&json);
        text_putc(&out, '\n');
    }
    command_print("sweep", &out);
}
