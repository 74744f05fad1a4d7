#include "experiment/measure/stoppage.h"

#include "base/time.h"

#include <assert.h>

static void span_update(struct stoppage_span *span, uint64_t now, bool on)
{
    if (span->on) {
        uint64_t length = now - span->since;
        if (length > span->longest)
            span->longest = length;
        if (!on)
            span->total += length;
    } else if (on) {
        span->since = now;
    }
    span->on = on;
}

static void update(struct stoppage *stoppage, uint64_t now)
{
    assert(stoppage->closed <= stoppage->senders);
    span_update(&stoppage->any, now, stoppage->closed > 0);
    span_update(&stoppage->all, now, stoppage->closed > 0 && stoppage->closed == stoppage->senders);
}

static void advance(struct stoppage *stoppage, uint64_t now)
{
    stoppage->sender_ps += (double)stoppage->closed * (double)(now - stoppage->at);
    stoppage->at = now;
}

void stoppage_begin(struct stoppage *stoppage, uint64_t now, uint32_t senders, uint32_t closed)
{
    if (stoppage->counting)
        advance(stoppage, now);
    stoppage->counting = true;
    stoppage->at = now;
    stoppage->senders = senders;
    stoppage->closed = closed;
    update(stoppage, now);
}

void stoppage_change(struct stoppage *stoppage, uint64_t now, bool opened)
{
    if (!stoppage->counting)
        return;
    advance(stoppage, now);
    if (!opened)
        stoppage->closed++;
    else if (stoppage->closed)
        stoppage->closed--;
    update(stoppage, now);
}

struct stoppage_figures stoppage_figures(const struct stoppage *stoppage, uint64_t now)
{
    struct stoppage copy = *stoppage;
    if (copy.counting) {
        advance(&copy, now);
        copy.closed = 0;
        update(&copy, now);
    }
    return (struct stoppage_figures){
        .any = time_seconds(copy.any.total),
        .any_longest = time_seconds(copy.any.longest),
        .all = time_seconds(copy.all.total),
        .all_longest = time_seconds(copy.all.longest),
        .mean = copy.senders ? copy.sender_ps / 1e12 / copy.senders : 0,
    };
}
