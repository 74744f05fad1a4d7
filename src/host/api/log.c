/* The events that the page lists, with copies of their texts. A full log drops its older half;
 * numbers of events count on, so that a reader can tell which ones it lacks. */
#include "host/api/api.h"

static void release_events(struct api_log *log, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mem_free((char *)(uintptr_t)log->items.items[i].who);
        mem_free((char *)(uintptr_t)log->items.items[i].text);
    }
}

void api_log_add(struct api_log *log, const struct api_event *event)
{
    struct api_event copy = *event;
    copy.who = mem_strdup(event->who);
    copy.text = mem_strdup(event->text);
    if (log->items.count == API_LOG_MOST) { /* drops the older half */
        size_t half = API_LOG_MOST / 2;
        release_events(log, half);
        memmove(log->items.items, log->items.items + half, half * sizeof *log->items.items);
        log->items.count -= half;
        log->dropped += half;
    }
    vec_push(&log->items, copy);
}

void api_log_copy_shown(struct api_log *to, const struct api_log *from, uint64_t end)
{
    uint64_t first = end > API_LOG_SHOWN ? end - API_LOG_SHOWN : 0;
    first = first < from->dropped ? from->dropped : first;
    *to = (struct api_log){.dropped = first};
    for (uint64_t i = first; i < end; i++)
        api_log_add(to, &from->items.items[i - from->dropped]);
}

uint64_t api_log_end(const struct api_log *log)
{
    return log->dropped + log->items.count;
}

void api_log_release(struct api_log *log)
{
    release_events(log, log->items.count);
    vec_release(&log->items);
    log->dropped = 0;
}
