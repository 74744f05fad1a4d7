#include "experiment/measure/story.h"

#include <stdarg.h>
#include <stdio.h>

const char *const story_kind_names[STORY_KINDS] = {"action", "event", "alarm", "check"};

void story_release(struct story *story)
{
    vec_release(&story->events);
    vec_release(&story->changes);
    vec_release(&story->checks);
    vec_release(&story->machines);
    results_release(&story->results);
    arena_release(&story->arena);
    *story = (struct story){0};
}

void story_tell(struct story *story, enum story_kind kind, uint64_t time, const char *who,
                const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    struct story_event event = {kind, time, who, arena_strdup(&story->arena, line)};
    vec_push(&story->events, event);
    if (story->tell)
        story->tell(story->context, &event);
}

uint64_t story_routing(const struct story_change *change)
{
    if (!change->routed)
        return change->end;
    return change->routing ? change->routing : change->routed;
}

unsigned story_failures(const struct story *story)
{
    unsigned failures = 0;
    for (size_t i = 0; i < story->checks.count; i++)
        failures += !story->checks.items[i].holds;
    return failures;
}
