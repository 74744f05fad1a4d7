/* Adds events to the record and tells its listener about each; splits a change into its steps;
 * counts failed checks. Changes are recorded by change_log.c. */
#include "experiment/measure/run_record.h"

#include <assert.h>
#include <stdio.h>

const char *const run_record_kind_names[RUN_RECORD_KINDS] = {"action", "event", "alarm", "check"};

void run_record_release(struct run_record *record)
{
    vec_release(&record->events);
    vec_release(&record->changes);
    vec_release(&record->checks);
    vec_release(&record->machines);
    vec_release(&record->connections);
    results_release(&record->results);
    arena_release(&record->arena);
    *record = (struct run_record){0};
}

void run_record_add_event_at(struct run_record *record, enum run_record_kind kind, uint64_t time,
                             uint32_t node, const char *who, const char *format, ...)
{
    struct run_record_event event = {kind, time, node, who, NULL, false};
    char line[512];
    text_print_arguments(line, sizeof line, format);
    event.text = arena_strdup(&record->arena, line);
    vec_push(&record->events, event);
    if (record->tell)
        record->tell(record->context, &event);
}

uint64_t run_record_routing(const struct run_record_change *change)
{
    if (!change->routed)
        return change->end;
    return change->routing ? change->routing : change->routed;
}

bool run_record_step(const struct run_record_change *change, enum sm_step kind, uint64_t *from,
                     uint64_t *to)
{
    assert(kind < SM_STEPS && change->begin <= change->end);
    uint64_t routing = run_record_routing(change);
    const uint64_t limits[SM_STEPS + 1] = {change->tied ? change->fault : change->begin,
                                           change->begin, routing, routing + change->computing,
                                           change->end};
    *from = limits[kind];
    *to = limits[kind + 1];
    return *to > *from;
}

unsigned run_record_failures(const struct run_record *record)
{
    unsigned failures = 0;
    for (size_t i = 0; i < record->checks.count; i++)
        failures += !record->checks.items[i].holds;
    return failures;
}
