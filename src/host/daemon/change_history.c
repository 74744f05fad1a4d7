#include "host/daemon/change_history.h"

static struct api_change *last_change(struct change_history *history)
{
    return &history->items[(history->count - 1) % CHANGES_KEPT];
}

static void set_costs(struct api_change *change, const struct change_costs *from,
                      const struct change_costs *to)
{
    change->gets = to->gets - from->gets;
    change->sets = to->sets - from->sets;
    change->blocks = to->blocks - from->blocks;
    change->draining_ns = to->drained_ns - from->drained_ns;
}

void change_history_begin(struct change_history *history, uint64_t now_ns, const char *cause,
                          const struct change_costs *costs)
{
    if (history->open)
        return;
    struct api_change *change = &history->items[history->count % CHANGES_KEPT];
    mem_free((char *)(uintptr_t)change->cause);
    *change = (struct api_change){
        .id = history->count++,
        .cause = mem_strdup(cause),
        .fault = API_NONE, /* a manager of hardware sees only its report */
        .begin = now_ns,
        .routing = API_NONE,
        .routed = API_NONE,
        .end = API_NONE,
    };
    history->open = true;
    history->before = *costs;
}

void change_history_compute(struct change_history *history, uint64_t now_ns, bool begins)
{
    if (!history->open)
        return;
    struct api_change *change = last_change(history);
    if (change->routing == API_NONE) /* also if the computation began before the change */
        change->routing = begins ? now_ns : change->begin;
    if (!begins)
        change->routed = now_ns;
}

void change_history_end(struct change_history *history, uint64_t now_ns, bool finished,
                        const struct change_costs *costs)
{
    if (!history->open)
        return;
    struct api_change *change = last_change(history);
    change->end = now_ns;
    change->finished = finished;
    set_costs(change, &history->before, costs);
    history->open = false;
}

uint64_t change_history_open(const struct change_history *history)
{
    return history->open ? history->count - 1 : API_NONE;
}

const char *change_history_last_cause(const struct change_history *history)
{
    return history->count ? history->items[(history->count - 1) % CHANGES_KEPT].cause : "";
}

void change_history_write(const struct change_history *history, const struct change_costs *costs,
                          struct record *record)
{
    uint64_t first = history->count > CHANGES_KEPT ? history->count - CHANGES_KEPT : 0;
    record_begin_list(record, NULL);
    for (uint64_t i = first; i < history->count; i++) {
        struct api_change change = history->items[i % CHANGES_KEPT];
        if (history->open && i + 1 == history->count)
            set_costs(&change, &history->before, costs);
        api_change_put(&change, record);
    }
    record_end_list(record);
}

void change_history_release(struct change_history *history)
{
    for (unsigned i = 0; i < CHANGES_KEPT; i++)
        mem_free((char *)(uintptr_t)history->items[i].cause);
    *history = (struct change_history){0};
}
