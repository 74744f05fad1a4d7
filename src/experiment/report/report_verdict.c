/* The verdict on a run in one sentence: checks, recovery time, losses. */
#include "experiment/report/report.h"

#include "base/quantity.h"
#include "base/time.h"
#include "experiment/report/report_timeline.h"

#include <math.h>
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

static size_t count_actions(const struct run_record *record, const struct run_record_event **first)
{
    size_t count = 0;
    for (size_t i = 0; i < record->events.count; i++) {
        if (record->events.items[i].kind != RUN_RECORD_ACTION)
            continue;
        if (count++ == 0)
            *first = &record->events.items[i];
    }
    return count;
}

static void put_actions(const struct report_run *report, struct text *out)
{
    const struct run_record_event *first = NULL;
    char time[QUANTITY_BYTES], at[QUANTITY_BYTES];
    size_t answered = 0, actions = count_actions(&report->record, &first);
    uint64_t healing = report_healing(report, &answered);
    quantity_text(time_seconds(healing), "s", time);
    if (actions == 1 && answered)
        text_printf(out, "; after “%s” at %s the subnet recovered within %s", first->text,
                    quantity_moment(first->time, at), time);
    else if (answered)
        text_printf(out, "; %zu actions, and the subnet recovered within %s of each", actions,
                    time);
    else if (actions)
        text_printf(out, "; %zu action%s that caused no change of a manager", actions,
                    actions == 1 ? "" : "s");
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

bool report_run_verdict(const struct report_run *report, struct text *out)
{
    size_t checks = report->record.checks.count;
    unsigned failures = run_record_failures(&report->record);
    if (report->run.failed) {
        text_printf(out, "The run failed: %s", report->run.error);
        return false;
    }
    if (checks == 0)
        text_puts(out, "Nothing was checked");
    else if (failures)
        text_printf(out, "%u of %zu checks %s", failures, checks, failures == 1 ? "fails" : "fail");
    else if (checks <= 2)
        text_puts(out, checks == 1 ? "The check holds" : "Both checks hold");
    else
        text_printf(out, "All %zu checks hold", checks);
    put_actions(report, out);
    put_losses(report, out);
    text_putc(out, '.');
    return failures == 0;
}
