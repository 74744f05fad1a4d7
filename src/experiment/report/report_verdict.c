/* The verdict on a run: first everything that is still wrong, then checks, recovery time and how
 * much of it was drains, losses, throughput before and after. It is positive only if nothing is
 * wrong. */
#include "experiment/report/report.h"

#include "base/quantity.h"
#include "base/time.h"
#include "experiment/report/report_timeline.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

double report_lost(const struct report_run *report)
{
    double sum = NAN;
    for (size_t i = 0; i < report->results.figures.count; i++) {
        const struct figure *figure = &report->results.figures.items[i];
        if (strncmp(figure->name, "lost.", 5) == 0 && strcmp(figure->name, "lost.total") != 0 &&
            strcmp(figure->unit, "packets") == 0 && isfinite(figure->value))
            sum = (isfinite(sum) ? sum : 0) + figure->value;
    }
    return isfinite(sum) ? sum : results_value(&report->results, "lost");
}

uint64_t report_healing(const struct report_run *report, size_t *answered)
{
    uint64_t longest = 0;
    for (size_t i = 0; i < report->record.changes.count; i++) {
        const struct run_record_change *change = &report->record.changes.items[i];
        const struct run_record_event *cause = timeline_cause(&report->record, i);
        if (!cause || !change->finished)
            continue;
        ++*answered;
        if (change->end - cause->time > longest)
            longest = change->end - cause->time;
    }
    return longest;
}

static void put_actions(const struct report_run *report, struct text *out)
{
    const struct run_record *record = &report->record;
    const struct run_record_event *first = NULL;
    char time[QUANTITY_BYTES], at[QUANTITY_BYTES];
    size_t answered = 0, actions = 0;
    double drains = 0; /* in all changes that actions caused */
    for (size_t i = 0; i < record->events.count; i++)
        if (record->events.items[i].kind == RUN_RECORD_ACTION && actions++ == 0)
            first = &record->events.items[i];
    for (size_t i = 0; i < record->changes.count; i++) {
        snprintf(time, sizeof time, "change.%zu.drain.time", i + 1);
        double spent = results_value(&report->results, time);
        if (timeline_cause(record, i) && isfinite(spent))
            drains += spent;
    }
    uint64_t healing = report_healing(report, &answered);
    quantity_text(time_seconds(healing), "s", time);
    if (actions == 1 && answered)
        text_printf(out, "; after “%s” at %s the subnet recovered within %s of simulated time",
                    first->text, quantity_moment(first->time, at), time);
    else if (answered)
        text_printf(out,
                    "; %zu actions, and the subnet recovered within %s of simulated time of each",
                    actions, time);
    else if (actions)
        text_printf(out, "; %zu action%s that caused no change of a manager", actions,
                    actions == 1 ? "" : "s");
    if (answered && drains > 0)
        text_printf(out, ", %s of it waiting for drains", quantity_text(drains, "s", time));
}

static void put_losses(const struct report_run *report, struct text *out)
{
    double lost = report_lost(report), made = results_value(&report->results, "made");
    char number[QUANTITY_BYTES], of[QUANTITY_BYTES], share[QUANTITY_BYTES];
    if (!isfinite(lost))
        return;
    if (lost == 0) {
        text_puts(out, "; no packet was lost");
        return;
    }
    text_printf(out, "; %s", quantity_text(lost, "", number));
    if (made > 0)
        text_printf(out, " of %s packets were lost (%s)", quantity_text(made, "", of),
                    quantity_text(lost / made, "share", share));
    else
        text_puts(out, lost == 1 ? " packet was lost" : " packets were lost");
}

static double figure_of(const struct report_run *report, const char *name)
{
    double value = results_value(&report->results, name);
    return isfinite(value) ? value : 0;
}

/* Adds a problem to those that the sentence begins with. */
static void put_problem(struct text *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_puts(out, out->length ? ", " : "");
    text_vprintf(out, format, arguments);
    va_end(arguments);
}

static void put_cut_off(const struct report_run *report, struct text *problems)
{
    double switches = figure_of(report, "cut-off.switches");
    double adapters = figure_of(report, "cut-off.adapters");
    struct text nodes = {0};
    if (switches > 0)
        text_printf(&nodes, "%.0f switch%s%s", switches, switches == 1 ? "" : "es",
                    adapters > 0 ? " and " : "");
    if (adapters > 0)
        text_printf(&nodes, "%.0f adapter%s", adapters, adapters == 1 ? "" : "s");
    if (nodes.length)
        put_problem(problems, "%s %s cut off from the manager", nodes.data,
                    switches + adapters == 1 ? "is" : "are");
    text_release(&nodes);
}

/* How long connections stood still; a broken one stays broken. */
static void put_connections(const struct report_run *report, struct text *out,
                            struct text *problems)
{
    double stood_still = figure_of(report, "connections.stood-still");
    double broken = figure_of(report, "connections.broken");
    double refused = figure_of(report, "connections.refused");
    double waited = figure_of(report, "connections.waited");
    char time[QUANTITY_BYTES];
    if (figure_of(report, "connections") == 0)
        return;
    if (refused > 0)
        put_problem(problems, "%.0f connection%s not set up", refused,
                    refused == 1 ? " was" : "s were");
    if (stood_still > 0)
        text_printf(out, "; %.0f connection%s stood still for %s at most, ", stood_still,
                    stood_still == 1 ? "" : "s",
                    quantity_text(figure_of(report, "connections.outage"), "s", time));
    if (stood_still > 0 && broken == 0)
        text_puts(out, "none broke");
    else if (stood_still > 0)
        text_printf(out, "%.0f broke", broken);
    if (waited > 0)
        text_printf(out, "; %.0f%s connection%s waited for %s at most without a loss", waited,
                    stood_still > 0 ? " other" : "", waited == 1 ? "" : "s",
                    quantity_text(figure_of(report, "connections.wait"), "s", time));
    if (stood_still + waited == 0)
        text_puts(out, "; no connection stood still");
    if (broken > 0)
        put_problem(problems, "%.0f connection%s broken", broken, broken == 1 ? " is" : "s are");
}

/* The rates before the first fault and after the last change; a problem if the rate is lower. */
static void put_recovery(const struct report_run *report, struct text *out, struct text *problems)
{
    enum { SIGMAS = 3 };
    static const double recovered = 0.95;
    char text[QUANTITY_BYTES], share[QUANTITY_BYTES];
    double before = results_value(&report->results, "recovery.before");
    double after = results_value(&report->results, "recovery.after");
    if (!isfinite(before))
        return;
    text_printf(out, "; %s before", quantity_text(before, "packets/s", text));
    if (!isfinite(after)) {
        put_problem(problems, "the time after the change is too short to see the traffic recover");
        return;
    }
    text_printf(out, ", %s after", quantity_text(after, "packets/s", text));
    /* A count of packets varies by its square root. */
    double time = results_value(&report->results, "recovery.time");
    if (after + SIGMAS * sqrt(after / time) < recovered * before)
        put_problem(problems, "traffic is at %s of what it was",
                    quantity_text(after / before, "share", share));
}

/* What is still wrong at the end of the run. */
static void put_problems(const struct report_run *report, struct text *problems)
{
    const struct run_record *record = &report->record;
    char text[QUANTITY_BYTES];
    put_cut_off(report, problems);
    double deadlocks = figure_of(report, "deadlocks");
    if (deadlocks > 0)
        put_problem(problems, "%s deadlock%s formed", quantity_text(deadlocks, "", text),
                    deadlocks == 1 ? "" : "s");
    double pathless = figure_of(report, "unroutable");
    double lost = figure_of(report, "recovery.lost");
    if (pathless > 0)
        put_problem(problems, "%s packet%s had no path", quantity_text(pathless, "", text),
                    pathless == 1 ? "" : "s");
    if (lost > 0)
        put_problem(problems, "%s packet%s lost after the last change",
                    quantity_text(lost, "", text), lost == 1 ? " was" : "s were");
    if (figure_of(report, "saturated") > 0)
        put_problem(problems, "the fabric is saturated");
    /* Changes that were abandoned and that no later change made up for. A standby abandons its
     * change, and the next master repeats that of one that died. */
    size_t unfinished = 0;
    uint64_t last = 0; /* end of the last finished change */
    for (size_t i = 0; i < record->changes.count; i++)
        if (record->changes.items[i].finished && record->changes.items[i].end > last)
            last = record->changes.items[i].end;
    for (size_t i = 0; i < record->changes.count; i++)
        unfinished += !record->changes.items[i].finished && record->changes.items[i].begin >= last;
    if (unfinished)
        put_problem(problems, "%zu change%s not finished", unfinished,
                    unfinished == 1 ? " is" : "s are");
}

bool report_run_verdict(const struct report_run *report, struct text *out)
{
    struct text problems = {0}, rest = {0};
    if (report->run.failed) {
        text_printf(out, "The run failed: %s", report->run.error);
        return false;
    }
    bool partial = figure_of(report, "partial") > 0;
    if (partial)
        text_puts(out, "The run was interrupted, its results are partial. ");
    size_t checks = report->record.checks.count;
    unsigned failures = run_record_failures(&report->record);
    if (failures)
        put_problem(&problems, "%u of %zu checks %s", failures, checks,
                    failures == 1 ? "fails" : "fail");
    if (checks == 0)
        text_puts(&rest, "Nothing was checked");
    else if (failures)
        text_printf(&rest, "%zu of %zu checks hold", checks - failures, checks);
    else if (checks <= 2)
        text_puts(&rest, checks == 1 ? "The check holds" : "Both checks hold");
    else
        text_printf(&rest, "All %zu checks hold", checks);
    put_actions(report, &rest);
    put_losses(report, &rest);
    put_connections(report, &rest, &problems);
    put_recovery(report, &rest, &problems);
    put_problems(report, &problems);
    bool good = problems.length == 0 && !partial;
    if (problems.length)
        text_printf(out, "Problems remain: %s. ", problems.data);
    text_printf(out, "%s.", rest.data);
    text_release(&problems);
    text_release(&rest);
    return good;
}
