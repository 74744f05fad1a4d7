/* Limits of rates. The caller passes the time, in any unit; an object of zeros is ready for use.
 *
 * A window counts events: it begins with its first event and ends after a given time. A flow spaces
 * units evenly, with a burst after a pause (the generic cell rate algorithm, ITU-T I.371): each
 * unit costs time, and is admitted when the cost of those before it has passed. A list in the log
 * has LOG_LIST lines, and one with the number of the others. */
#ifndef WEFT_BASE_RATE_LIMIT_H
#define WEFT_BASE_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct rate_window {
    uint64_t since; /* its first event */
    uint64_t last;
    uint32_t count; /* 0: there is no window */
};

/* When the window ends. */
static inline uint64_t rate_window_end(const struct rate_window *window, uint64_t length)
{
    return window->since + length;
}

static inline bool rate_window_is_over(const struct rate_window *window, uint64_t now,
                                       uint64_t length)
{
    return !window->count || now >= rate_window_end(window, length);
}

/* Counts an event, in a new window if the last one is over. Returns its number in the window: the
 * caller admits those up to its limit. */
static inline uint32_t rate_window_add(struct rate_window *window, uint64_t now, uint64_t length)
{
    if (rate_window_is_over(window, now, length))
        *window = (struct rate_window){.since = now};
    window->last = now;
    window->count += window->count < UINT32_MAX;
    return window->count;
}

struct rate_flow {
    int64_t next; /* the time of the next unit */
    bool used;    /* there was one */
};

static inline bool rate_flow_is_open(const struct rate_flow *flow, uint64_t now)
{
    return flow->next <= (int64_t)now;
}

/* When the flow is open. */
static inline uint64_t rate_flow_next(const struct rate_flow *flow)
{
    return flow->next > 0 ? (uint64_t)flow->next : 0;
}

/* The time until the cost of all units so far has passed. */
static inline uint64_t rate_flow_backlog(const struct rate_flow *flow, uint64_t now)
{
    return flow->next > (int64_t)now ? (uint64_t)flow->next - now : 0;
}

/* Adds a unit. After a pause, units up to `burst` (in time) follow without a wait. */
static inline void rate_flow_add(struct rate_flow *flow, uint64_t now, uint64_t cost,
                                 uint64_t burst)
{
    int64_t earliest = (int64_t)now - (int64_t)burst;
    flow->next = (flow->used && flow->next > earliest ? flow->next : earliest) + (int64_t)cost;
    flow->used = true;
}

enum { LOG_LIST = 20 };

/* Counts an item of a list; false: it gets no line. */
static inline bool log_list_take(uint32_t *items)
{
    *items += *items < UINT32_MAX;
    return *items <= LOG_LIST;
}

static inline uint32_t log_list_others(uint32_t items)
{
    return items > LOG_LIST ? items - LOG_LIST : 0;
}

#endif
