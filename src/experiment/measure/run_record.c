#include "experiment/measure/run_record.h"

#include <stdarg.h>
#include <stdio.h>

const char *const run_record_kind_names[RUN_RECORD_KINDS] = {"action", "event", "alarm", "check"};

const char *const phase_names[PHASE_KINDS] = {"detect", "discover", "compute", "distribute"};

void run_record_release(struct run_record *run_record)
{
    vec_release(&run_record->events);
    vec_release(&run_record->changes);
    vec_release(&run_record->checks);
    vec_release(&run_record->machines);
    results_release(&run_record->results);
    arena_release(&run_record->arena);
    *run_record = (struct run_record){0};
}

void run_record_tell(struct run_record *run_record, enum run_record_kind kind, uint64_t time,
                     const char *who, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    struct run_record_event event = {kind, time, who, arena_strdup(&run_record->arena, line)};
    vec_push(&run_record->events, event);
    if (run_record->tell)
        run_record->tell(run_record->context, &event);
}

uint64_t run_record_routing(const struct run_record_change *change)
{
    if (!change->routed)
        return change->end;
    return change->routing ? change->routing : change->routed;
}

bool run_record_phase(const struct run_record_change *change, enum phase_kind kind, uint64_t *from,
                      uint64_t *to)
{
    uint64_t routing = run_record_routing(change);
    const uint64_t limits[PHASE_KINDS + 1] = {change->tied ? change->fault : change->begin,
                                              change->begin, routing, routing + change->computing,
                                              change->end};
    *from = limits[kind];
    *to = limits[kind + 1];
    return *to > *from;
}

unsigned run_record_failures(const struct run_record *run_record)
{
    unsigned failures = 0;
    for (size_t i = 0; i < run_record->checks.count; i++)
        failures += !run_record->checks.items[i].holds;
    return failures;
}
