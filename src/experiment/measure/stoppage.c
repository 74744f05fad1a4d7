/* Sums stopped time at each opening or closing of a sender's port. Figures are computed on a copy,
 * so that they can be read while traffic is still stopped. */
#include "experiment/measure/stoppage.h"

#include "base/time.h"

#include <assert.h>

static void update_span(struct stoppage_span *span, uint64_t now, bool on)
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

static void update_spans(struct stoppage *stoppage, uint64_t now)
{
    assert(stoppage->closed <= stoppage->senders);
    update_span(&stoppage->any, now, stoppage->closed > 0);
    update_span(&stoppage->all, now, stoppage->closed > 0 && stoppage->closed == stoppage->senders);
}

static void advance_mean(struct stoppage *stoppage, uint64_t now)
{
    stoppage->sender_ps += (double)stoppage->closed * (double)(now - stoppage->at);
    stoppage->at = now;
}

void stoppage_begin(struct stoppage *stoppage, uint64_t now, uint32_t senders, uint32_t closed)
{
    if (stoppage->counting)
        advance_mean(stoppage, now);
    stoppage->counting = true;
    stoppage->at = now;
    stoppage->senders = senders;
    stoppage->closed = closed;
    update_spans(stoppage, now);
}

void stoppage_change(struct stoppage *stoppage, uint64_t now, bool opened)
{
    if (!stoppage->counting)
        return;
    advance_mean(stoppage, now);
    if (!opened)
        stoppage->closed++;
    else if (stoppage->closed)
        stoppage->closed--;
    update_spans(stoppage, now);
}

struct stoppage_figures stoppage_figures(const struct stoppage *stoppage, uint64_t now)
{
    struct stoppage copy = *stoppage;
    if (copy.counting) {
        advance_mean(&copy, now);
        copy.closed = 0;
        update_spans(&copy, now);
    }
    return (struct stoppage_figures){
        .any = time_seconds(copy.any.total),
        .any_longest = time_seconds(copy.any.longest),
        .all = time_seconds(copy.all.total),
        .all_longest = time_seconds(copy.all.longest),
        .mean = copy.senders ? copy.sender_ps / 1e12 / copy.senders : 0,
    };
}
